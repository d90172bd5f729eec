"""Bounds on sums a1·x1 + … + an·xn with factors -1, 0 and 1 that all rows of numbers keep.

Counters that trade with each other (`idle` becomes `busy`, `free` becomes `used`) keep such a sum, or only ever lower
it, though each by itself takes any value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from streamcheck.invariants.nullspace import Number

MOST_ROWS = 120  # looked at (heuristic)
NEAR = 64  # further from zero, a bound is chance, or as large as what the type can hold (heuristic)

Factors = tuple[int, ...]


def least_sums(columns: Sequence[Sequence[Number]]) -> Iterator[tuple[Factors, Number]]:
    """The factors of sums, and the least value of each: where the rows' first half has that value too, and it is more
    than the bounds on two parts of the sum give together."""
    length = len(columns[0])
    rows = range(0, length, max(1, length // MOST_ROWS))
    picked = [[column[i] for i in rows] for column in columns]
    least: dict[Factors, Number] = {}
    for factors, totals in _totals(picked):
        bound: Number = min(totals)
        if min(totals[: len(totals) // 2 + 1]) == bound and -NEAR <= bound <= NEAR and bound != max(totals):
            least[factors] = bound
    for factors, bound in least.items():
        splits = ((least[a], least[b]) for a, b in _splits(factors) if a in least and b in least)
        if all(a + b < bound for a, b in splits):
            yield factors, bound


def _totals(columns: Sequence[Sequence[Number]]) -> Iterator[tuple[Factors, list[Number]]]:
    """Each choice of factors but zero alone, and the sums in every row."""
    sums: dict[Factors, list[Number]] = {(): [0] * len(columns[0])}
    for column in columns:
        sums = {
            (*factors, a): [t + a * x for t, x in zip(totals, column, strict=True)] if a else totals
            for (factors, totals), a in product(sums.items(), (0, 1, -1))
        }
    del sums[(0,) * len(columns)]
    yield from sums.items()


def _splits(factors: Factors) -> Iterator[tuple[Factors, Factors]]:
    """Each summand by itself, and the rest."""
    for i, a in enumerate(factors):
        if a and sum(map(abs, factors)) > 1:
            part = tuple(a if j == i else 0 for j in range(len(factors)))
            yield part, tuple(0 if j == i else b for j, b in enumerate(factors))
