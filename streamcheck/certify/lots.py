"""Invariants in lots that have no state in common, and each with what is near it.

A set of invariants is inductive if each lot is inductive by itself, whatever the lots are: soundness does not depend on
this module. One query about a thousand independent elements of an array takes a solver far longer than a few dozen
queries about 32 of them each.

Many invariants in a chain have all state in common. But each may follow from the few about those variables that its own
depend on a step later, whatever the others are: a thousand queries of a few lines each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from streamcheck.certify.runs import Runs
from streamcheck.core.term import Term, variables, walk

SIZE = 32  # invariants of a lot, if they do not depend on each other


def independent_lots(runs: Runs, invariants: Sequence[Term]) -> list[tuple[Term, ...]]:
    """The invariants; those in different lots have disjoint cones of influence among the registers."""
    registers = {r.var for r in runs.registers}
    same: dict[Term, Term] = {}

    def group(node: Term) -> Term:
        while (above := same.get(node)) is not None:
            same[node] = node = same.get(above, above)
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


def neighbourhoods(runs: Runs, invariants: Sequence[Term]) -> Iterator[tuple[Runs, tuple[Term, ...], Term]]:
    """For each invariant the steps of the registers that it reads, from any state, and the invariants about what these
    depend on."""
    about = {fact: set(variables([fact])) for fact in (*invariants, *runs.assumptions, *runs.members)}
    readers: dict[Term, list[Term]] = {}
    for fact, read in about.items():
        for var in read:
            readers.setdefault(var, []).append(fact)
    registers = {r.var: r for r in runs.registers}
    places = {fact: i for i, fact in enumerate(invariants)}
    assumptions, members = set(runs.assumptions), set(runs.members)
    for goal in places:
        moving = {v: registers[v] for v in about[goal] if v in registers}
        known = about[goal] | set(variables([r.next for r in moving.values()]))
        near = dict.fromkeys(fact for var in known for fact in readers.get(var, ()) if known >= about[fact])
        part = Runs(
            tuple(moving.values()),
            tuple(known - moving.keys()),
            tuple(fact for fact in near if fact in assumptions),
            tuple(fact for fact in near if fact in members),
        )
        yield part, tuple(sorted((f for f in near if f in places), key=lambda f: places[f])), goal
