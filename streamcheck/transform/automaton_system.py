"""An automaton as a transition system: the encoding of [Tegzes, section 3.3], in functional form.

    I = (at = entry)        T = ⋁ over edges (q, s, r):  at = q ∧ δ_s ∧ at' = r        P = (at ≠ error)

One cell holds the location of the program, and each variable is a cell that begins with any value. What an edge
chooses, and which of several open edges is taken, are inputs. If no edge is open the program stands still, which
reaches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from streamcheck.core.conjuncts import exclusive
from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import choice, conjunction, negation, simplify
from streamcheck.core.term import Term, constant, substitute, variable, variables
from streamcheck.core.types import BOOL, Value, default
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Specification
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Evidence, LocationInvariants, Trace
from streamcheck.transform.scalar_system import always, to_system

Selectors: TypeAlias = Mapping[str, tuple[Term, ...]]  # by location


class AutomatonSystem:
    """The transition system of an automaton over scalars; `ranges` are assumed of its variables."""

    def __init__(self, automaton: Automaton, ranges: Sequence[Claim] = ()) -> None:
        self.automaton = automaton
        system = always(to_system(specification_of(automaton)))
        self.problem: TransitionSystem = replace(system, assumptions=tuple(ranges))
        self._last: tuple[Certificate, Evidence] | None = None

    def back(self, evidence: Evidence) -> Evidence:
        """A certificate as invariants of locations if it speaks of one state, else as one about this automaton; a trace
        as a path. Properties proved together share a certificate, so the last one is remembered."""
        match evidence:
            case Certificate():
                if self._last is None or self._last[0] != evidence:
                    self._last = evidence, self._back(evidence)
                return self._last[1]
            case Trace():
                return self._path(evidence)
            case LocationInvariants() | BlockCertificate() | EdgePath():
                return evidence
        assert_never(evidence)

    def _back(self, certificate: Certificate) -> LocationInvariants | BlockCertificate:
        automaton = self.automaton
        if certificate.kind == "unwound":
            return LocationInvariants((), rounds=certificate.k)
        whole = conjunction(*certificate.invariants, *certificate.equalities)
        speaks_of_one_state = {automaton.place, *automaton.variables}.issuperset(variables([whole]))
        if certificate.kind != "inductive" or certificate.k != 1 or certificate.free or not speaks_of_one_state:
            return BlockCertificate(automaton, certificate)
        at = []
        for location in automaton.locations:
            if location not in automaton.bad:
                image = substitute([whole], {automaton.place: automaton.code(location)})[whole]
                at.append((location, simplify([image])[image]))
        return LocationInvariants(tuple(at))

    def _path(self, trace: Trace) -> EdgePath:
        """The edges that the system's run takes. Steps at which it stands still are left out."""
        automaton = self.automaton
        numbers = {id(e): i for i, e in enumerate(automaton.edges)}
        selectors = selectors_of(automaton)
        here = automaton.entry
        values: dict[Term, Value] = {
            v: trace.constants.get(str(v.payload), default(v.type)) for v in automaton.variables
        }
        edges: list[tuple[int, dict[str, Value]]] = []
        for given in trace.inputs:
            conditions = _taken_conditions(automaton, here, selectors)
            leaving = automaton.edges_from[here]
            chosen = {
                v: given.get(str(v.payload), default(v.type))
                for v in (*selectors[here], *(c for e in leaving for c in e.choices))
            }
            evaluation = Evaluation({**values, **chosen})
            edge = next((e for e, c in zip(leaving, conditions, strict=True) if evaluation.of(c) is True), None)
            if edge is not None:
                values.update({v: evaluation.of(t) for v, t in edge.updates})
                edges.append((numbers[id(edge)], {str(c.payload): chosen[c] for c in edge.choices}))
                here = edge.target
        return EdgePath(dict(trace.constants), tuple(edges))


def specification_of(automaton: Automaton) -> Specification:
    """The automaton as equations."""
    selectors = selectors_of(automaton)
    taken = {q: _taken_conditions(automaton, q, selectors) for q in automaton.locations}
    chosen = dict.fromkeys(v for e in automaton.edges for v in e.choices)
    inputs = [*chosen, *(v for q in automaton.locations for v in selectors[q])]
    cells = [
        Cell(
            str(automaton.place.payload),
            automaton.code(automaton.entry),
            _next_place(automaton, taken),
            None,
            named=False,
        )
    ]
    for v in automaton.variables:
        cells.append(
            Cell(str(v.payload), constant(v.type, default(v.type)), _next_value(automaton, taken, v), None, free=True)
        )
    return Specification(
        automaton.name,
        tuple(Input(str(v.payload), v.type, False, "", "", None) for v in inputs),
        (),
        tuple(cells),
        (),
        (),
        (),
        automaton.properties,
        (),
        None,
        automaton.warnings,
    )


def selectors_of(automaton: Automaton) -> Selectors:
    """Bool inputs of the transition system that choose among a location's edges, if several may be open at once: the
    first edge whose input is true and whose guard holds, else the last."""
    selectors: dict[str, tuple[Term, ...]] = {}
    for name, edges in automaton.edges_from.items():
        count = 0 if exclusive([e.guard for e in edges]) else len(edges) - 1
        selectors[name] = tuple(variable(f"take:{i}@{name}", BOOL) for i in range(count))
    return selectors


def _taken_conditions(automaton: Automaton, location: str, selectors: Selectors) -> list[Term]:
    """For each edge that leaves, the condition for taking it, given that no earlier one is."""
    edges = automaton.edges_from[location]
    chosen = [conjunction(s, e.guard) for s, e in zip(selectors[location], edges, strict=False)]
    return chosen + [e.guard for e in edges[len(chosen) :]]


def _next_place(automaton: Automaton, taken: dict[str, list[Term]]) -> Term:
    result = automaton.place
    for q in reversed(automaton.locations):
        if taken[q]:
            targets = [automaton.code(e.target) for e in automaton.edges_from[q]]
            result = choice(automaton.at(q), _first(taken[q], targets, automaton.place), result)
    return result


def _next_value(automaton: Automaton, taken: dict[str, list[Term]], v: Term) -> Term:
    result = v
    for q in reversed(automaton.locations):
        news = [e.update.get(v, v) for e in automaton.edges_from[q]]
        if any(new is not v for new in news):
            result = choice(automaton.at(q), _first(taken[q], news, v), result)
    return result


def _first(conditions: Sequence[Term], values: Sequence[Term], otherwise: Term) -> Term:
    """The value of the first condition that holds."""
    result = otherwise
    for i in reversed(range(len(values))):
        complete = i == len(values) - 1 and i and negation(conditions[i]) in conditions[:i]
        result = values[i] if complete else choice(conditions[i], values[i], result)
    return result
