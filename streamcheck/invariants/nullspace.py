"""Linear relations between columns of numbers: a1·x1 + … + an·xn + c = 0 in every row."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

Number = int | Fraction
MOST_ROWS = 200  # looked at; what these do not refute is refuted by induction, or holds (heuristic)


def relations(columns: Sequence[Sequence[Number]]) -> list[list[int]]:
    """A basis of the relations, each as its factors and the constant, without common divisors."""
    if not columns:
        return []
    length = len(columns[0])
    picked = range(0, length, max(1, length // MOST_ROWS))
    rows = [[Fraction(column[i]) for column in columns] + [Fraction(1)] for i in picked]
    return [_whole(vector) for vector in _kernel(rows)]


def _kernel(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """A basis of the vectors that every row is orthogonal to, by elimination."""
    width = len(rows[0])
    pivots: dict[int, list[Fraction]] = {}  # column: the row that leads there, reduced
    for row in rows:
        for column, pivot in pivots.items():
            if row[column]:
                row = _less(row, pivot, row[column])
        lead = next((i for i, a in enumerate(row) if a), None)
        if lead is not None:
            row = [a / row[lead] for a in row]
            pivots = {c: _less(p, row, p[lead]) if p[lead] else p for c, p in pivots.items()}
            pivots[lead] = row
    basis = []
    for free in range(width):
        if free not in pivots:
            vector = [Fraction(0)] * width
            vector[free] = Fraction(1)
            for column, pivot in pivots.items():
                vector[column] = -pivot[free]
            basis.append(vector)
    return basis


def _less(row: list[Fraction], pivot: list[Fraction], times: Fraction) -> list[Fraction]:
    return [a - times * b for a, b in zip(row, pivot, strict=True)]


def _whole(vector: list[Fraction]) -> list[int]:
    scale = lcm(*(a.denominator for a in vector))
    numbers = [int(a * scale) for a in vector]
    common = gcd(*numbers)
    return [a // common for a in numbers]
