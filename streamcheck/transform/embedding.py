"""Where the body of a component lies in a specification with an instance of it.

Both come from the same function, so the terms of the body are those of the specification, with other terms in place of
its inputs and other cells in place of its cells. A body that was changed when it was used, by a reset around the
call, by a front end that merges cells, has no embedding: then the instance is no part of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.term import TRUE, Term, constant, variables
from streamcheck.core.types import default
from streamcheck.problem.claim import OfContract
from streamcheck.problem.specification import Cell, ComponentInstance, Specification

Images = dict[Term, Term]


class Embedder:
    """Finds where bodies lie in one specification."""

    def __init__(self, whole: Specification) -> None:
        self.whole = whole
        self._cells = {c.var: c for c in whole.cells}
        self._constants = {c.var for c in whole.constants}
        self._claims = {p.name: p.term for p in whole.properties}
        self._instances = {i.name: i for i in whole.instances}

    def images(self, body: Specification, instance: ComponentInstance) -> Images | None:
        """The terms of the whole that the variables of the body stand for; None if there are none."""
        if instance.assumes is not TRUE and instance.held is TRUE:
            return None  # a function without memory: its guarantees have no history of assumptions
        images = self._match(body, list(self._pairs(body, instance)))
        if images is None:
            return None
        if not all(c.var in images and self._constants.issuperset(variables([images[c.var]])) for c in body.constants):
            return None
        for unused in body.inputs:
            images.setdefault(unused.var, constant(unused.type, default(unused.type)))
        return images

    def _match(self, body: Specification, pairs: list[tuple[Term, Term]]) -> Images | None:
        cells, chosen = {c.var: c for c in body.cells}, set(body.choices())
        images: Images = {}
        stack = pairs[::-1]
        seen: set[tuple[Term, Term]] = set()
        while stack:
            ours, theirs = stack.pop()
            if (ours, theirs) in seen:
                continue
            seen.add((ours, theirs))
            if ours in images:
                if images[ours] is not theirs:
                    return None
            elif ours in chosen:
                if ours.type is not theirs.type:
                    return None
                images[ours] = theirs
            elif ours in cells:
                if theirs not in self._cells or not _is_same_cell(cells[ours], self._cells[theirs]):
                    return None
                images[ours] = theirs
                stack.append((cells[ours].next, self._cells[theirs].next))
            elif not _is_same_operation(ours, theirs):
                return None
            else:
                stack.extend(zip(ours.args, theirs.args, strict=True))
        return images

    def _pairs(self, body: Specification, instance: ComponentInstance) -> Iterator[tuple[Term, Term]]:
        """Terms of the body with those of the instance: its inputs, its outputs, what it assumes, the claims inside."""
        own = next((i for i in body.instances if not i.name), None)
        if own is None:
            return
        for mine, its in ((own.inputs, instance.inputs), (own.outputs, instance.outputs), (own.modes, instance.modes)):
            there = {n.name: n.term for n in its}
            yield from ((n.term, there[n.name]) for n in mine if n.name in there)
        for a in body.assumptions:
            owed = self._claims.get(f"{instance.name}.{a.name}")
            if owed is not None:
                yield a.term, owed
        for p in body.properties:
            claim = self._claims.get(f"{instance.name}.{p.name}")
            if claim is not None and isinstance(p.origin, OfContract):
                yield p.term, claim if p.origin.instance else promise_of(claim, instance)
        for i in body.instances:
            other = self._instances.get(f"{instance.name}.{i.name}") if i.name else None
            if other is not None:
                yield i.assumes, other.assumes
                yield i.held, other.held


def _is_same_cell(ours: Cell, theirs: Cell) -> bool:
    return ours.initial is theirs.initial and ours.free == theirs.free


def _is_same_operation(ours: Term, theirs: Term) -> bool:
    same = ours.op == theirs.op and ours.payload == theirs.payload and ours.type is theirs.type
    return same and len(ours.args) == len(theirs.args)


def promise_of(claim: Term, instance: ComponentInstance) -> Term:
    """The right side of a claim that holds under the instance's assumptions, or the claim."""
    if instance.held.op == "var" and claim.op == "implies" and instance.held in conjuncts(claim.args[0]):
        return claim.args[1]
    return claim
