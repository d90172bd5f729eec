"""Instances of a property that reads an element of an array: one for each element.

An element that an index chooses is a choice from state variables:

    a[i]  =  mux(i <= 0, a.0, mux(i == 1, a.1, … a.n))

`instances_of(P)` has P with each a.j for a[i], and with j for i: an instance of P about one variable. Together they
imply P for an index in range, and proving them takes no case split over the index. Elements that one index chooses from
several arrays are taken at the same j.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from streamcheck.core.simplify import instantiate
from streamcheck.core.term import TRUE, Term, constant, fold, substitute, variable, walk

MOST_PAIRS = 1600  # instances of a claim about elements at indexes of their own


@dataclass(frozen=True, slots=True)
class ElementRead:
    """A choice from state variables."""

    node: Term
    index: Term | None  # None if something else than the value of one term decides which
    elements: tuple[tuple[Term, int], ...]  # and for which value of the index


@dataclass(frozen=True, slots=True)
class ElementInstances:
    """The instances of a claim, those left out that are plainly true. `suffice`: the claim holds in every state in
    which they hold; else that depends on the index, which the claim reads too."""

    terms: tuple[Term, ...] = ()
    suffice: bool = False


def instances_of(claim: Term, state: Collection[Term], most: int) -> ElementInstances:
    """The claim with the elements of arrays for what is read of them; none if there would be more than `most`."""
    groups: dict[tuple[Term, int], list[ElementRead]] = {}
    for read in _reads(claim, state):
        groups.setdefault((read.index or read.node, len(read.elements)), []).append(read)
    if not groups or math.prod(length for _, length in groups) > (most if len(groups) == 1 else MOST_PAIRS):
        return ElementInstances()
    reads = [read for group in groups.values() for read in group]
    places = {read.node: variable(f"element {i}", read.node.type) for i, read in enumerate(reads)}
    pattern = substitute([claim], places)[claim]
    suffice = {group[0].index for group in groups.values()}.isdisjoint(walk([pattern]))
    pending = [pattern]
    for (_, length), group in groups.items():
        pending = [_at(j, group, places, each) for each in pending for j in range(length)]
    return ElementInstances(tuple(t for t in dict.fromkeys(pending) if t is not TRUE), suffice)


def _at(j: int, group: list[ElementRead], places: dict[Term, Term], claim: Term) -> Term:
    replacement = {places[read.node]: read.elements[j][0] for read in group}
    index = group[0].index
    if index is not None:
        replacement[index] = constant(index.type, group[0].elements[j][1])
    return instantiate([claim], replacement)[claim]


def _reads(claim: Term, state: Collection[Term]) -> Iterator[ElementRead]:
    """The largest choices from several state variables below the claim."""

    def is_choice(node: Term, args: list[bool]) -> bool:
        return node in state or (node.op == "mux" and args[1] and args[2])

    choices = fold([claim], is_choice)
    pending, seen = [claim], set[Term]()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "mux" and choices[node]:
            yield _read(node)
        else:
            pending += node.args


def _read(node: Term) -> ElementRead:
    """mux(i <= 0, a.0, mux(i == 1, a.1, … a.n)), or any other choice."""
    indexes, found, rest = set[Term](), list[tuple[Term, int]](), node
    while rest.op == "mux":
        condition, element, after = rest.args
        if condition.op not in ("eq", "le", "ge") or not condition.args[1].is_const or element.op == "mux":
            return ElementRead(node, None, tuple((leaf, 0) for leaf in leaves(node)))
        indexes.add(condition.args[0])
        found.append((element, int(condition.args[1].payload)))
        rest = after
    index = indexes.pop() if len(indexes) == 1 else None
    return ElementRead(node, index, (*found, (rest, found[-1][1] + 1)))


def leaves(value: Term) -> Iterator[Term]:
    """The terms that a choice chooses from."""
    pending, seen = [value], set[Term]()
    while pending:
        node = pending.pop()
        if node not in seen:
            seen.add(node)
            if node.op == "mux":
                pending += node.args[1:]
            else:
                yield node
