"""Invariants in lots that have no state in common.

A set of invariants is inductive if each lot of them is inductive by itself, however they were sorted: nothing here need
be right. A query about a thousand elements of an array that do not depend on each other takes solvers far longer than
a few dozen queries about some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streamcheck.certify.runs import Runs
from streamcheck.core.term import Term, walk

SIZE = 32  # invariants of a lot, if they do not depend on each other


def independent_lots(runs: Runs, invariants: Sequence[Term]) -> list[tuple[Term, ...]]:
    """The invariants, apart if neither they nor what comes of their variables have a register in common."""
    registers = {r.var for r in runs.registers}
    same: dict[Term, Term] = {}

    def group(node: Term) -> Term:
        while node in same:
            node = same[node]
        return node

    below: dict[Term, Term | None] = {}  # a register, if there is one
    for node in walk([*(r.next for r in runs.registers), *invariants]):
        met = {group(one) for a in node.args if (one := below[a]) is not None}
        below[node] = node if node in registers else next(iter(met), None)
        same.update((other, one) for one in list(met)[:1] for other in met - {one})
    for r in runs.registers:
        one = below[r.next]
        if one is not None and group(one) is not group(r.var):
            same[group(one)] = group(r.var)
    lots: dict[Term | None, list[Term]] = {}
    for invariant in invariants:
        one = below[invariant]
        lots.setdefault(None if one is None else group(one), []).append(invariant)
    return _pack(lots.values())


def _pack(lots: Iterable[list[Term]]) -> list[tuple[Term, ...]]:
    packed: list[list[Term]] = [[]]
    for lot in lots:
        if packed[-1] and len(packed[-1]) + len(lot) > SIZE:
            packed.append([])
        packed[-1] += lot
    return [tuple(lot) for lot in packed]
