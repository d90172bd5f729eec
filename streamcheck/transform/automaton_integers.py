"""An automaton over machine integers as one over Int, exactly, with every wrap-around spelled out (`integers`).

An update counts only if the guard holds: the bounds that it implies for a sum may show that it does not wrap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import assert_never

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.intervals import UNBOUNDED, Interval
from streamcheck.core.operators import OPERATORS
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, variables
from streamcheck.core.types import INT
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.claim import Claim, RangeOf
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Evidence, LocationInvariants, Trace
from streamcheck.transform.integers import Integers, MachineTerms


class AutomatonIntegers:
    """The automaton over Int. Inexpressible if an operation has no such form."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.problem: Automaton = in_integers(automaton)
        self.ranges: tuple[Claim, ...] = tuple(
            Claim(f"range of {v.payload}", part, origin=RangeOf(v))
            for part in conjuncts(ranges_of(automaton))
            for v in variables([part])
        )
        names = [automaton.place, *automaton.variables]
        images = [self.problem.place, *self.problem.variables]
        self._machine = MachineTerms(dict(zip(images, names, strict=True)))
        self._last: tuple[Evidence, Evidence] | None = None

    def back(self, evidence: Evidence) -> Evidence:
        """The same about the machine integers, an image over Int as `cast(Int, x)`. Paths are the same."""
        if self._last is None or self._last[0] is not evidence:
            self._last = evidence, self._back(evidence)
        return self._last[1]

    def _back(self, evidence: Evidence) -> Evidence:
        match evidence:
            case LocationInvariants(at):
                images = self._machine.images([invariant for _, invariant in at])
                return replace(evidence, at=tuple((q, images[invariant]) for q, invariant in at))
            case BlockCertificate(_, certificate):
                return BlockCertificate(self.automaton, self._machine.certificate(certificate))
            case Certificate() | Trace() | EdgePath():
                return evidence
        assert_never(evidence)


def in_integers(automaton: Automaton) -> Automaton:
    """The automaton over Int, which has the same runs if `ranges_of` it holds."""
    m = Integers()
    edges = tuple(_edge_in_integers(e, m) for e in automaton.edges)
    return replace(automaton, variables=tuple(m.value(v) for v in automaton.variables), edges=edges)


def terms_in_integers(terms: Iterable[Term]) -> tuple[Term, ...]:
    m = Integers()
    return tuple(m.value(t) for t in terms)


def ranges_of(automaton: Automaton) -> Term:
    """The condition, over Int, that every variable and every choice is in the range of its type."""
    m = Integers()
    typed = [*automaton.variables, *dict.fromkeys(c for e in automaton.edges for c in e.choices)]
    m.translate(typed)
    return conjunction(*(r.term for v in typed for r in m.ranges(v)))


def with_ranges_in_guards(automaton: Automaton, ranges: Iterable[Claim]) -> Automaton:
    """The automaton whose guards hold the ranges of the variables that each edge reads."""
    by_variable: dict[Term, list[Term]] = {}
    for claim in ranges:
        for v in variables([claim.term]):
            by_variable.setdefault(v, []).append(claim.term)
    return replace(automaton, edges=tuple(_with_ranges(e, by_variable) for e in automaton.edges))


def _with_ranges(edge: Edge, ranges: Mapping[Term, list[Term]]) -> Edge:
    read = (r for v in variables(edge.roots()) for r in ranges.get(v, ()))
    return replace(edge, guard=conjunction(edge.guard, *read))


def _edge_in_integers(edge: Edge, m: Integers) -> Edge:
    m.translate((edge.guard, *edge.choices))
    choices = tuple(m.value(c) for c in edge.choices)
    guard = m.value(edge.guard)
    inside = Integers(_bounds(guard))
    inside.translate(edge.roots())
    updates = tuple((m.value(v), inside.value(t)) for v, t in edge.updates)
    return replace(edge, guard=guard, updates=updates, choices=choices)


def _bounds(guard: Term) -> dict[Term, Interval]:
    """The bounds that the guard's conjuncts imply for Int terms."""
    bounds: dict[Term, Interval] = {}
    for part in conjuncts(guard):
        if part.op not in ("lt", "le", "gt", "ge", "eq") or part.args[0].type is not INT:
            continue
        (a, b), op = part.args, part.op
        if a.is_const:
            a, b, op = b, a, OPERATORS[op].mirrored
        if b.is_const:
            low, high = bounds.get(a, UNBOUNDED)
            bound = int(b.payload)
            if op in ("gt", "ge", "eq"):
                low = max(low, bound + (op == "gt"))
            if op in ("lt", "le", "eq"):
                high = min(high, bound - (op == "lt"))
            bounds[a] = low, high
    return bounds
