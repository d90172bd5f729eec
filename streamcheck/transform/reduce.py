"""A smaller system with the same properties: constants, equal state, the cone of influence.

The way back: counterexamples mention inputs only, which keep their names. Proofs may have used that a state
variable is constant or equal to another; those equalities are inductive together with nothing else (that is how
they are found), and go into the certificate as invariants of their own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from streamcheck.core.simplify import simplify
from streamcheck.core.term import Term, substitute, term, variables, walk_cone
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import Definition, State, TransitionSystem
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Evidence, LocationInvariants, Trace

MOST_ROUNDS = 20  # of refinement; a partition that is not stable by then is rarely worth the wait (heuristic)
MOST_PARTS = 24  # narrow ones, the smallest first


class Reduction:
    """The reduced system. `equalities` are invariants of the whole one."""

    def __init__(self, system: TransitionSystem) -> None:
        smaller = _simplify(system, {})
        equalities: list[Term] = []
        while replacement := _constants(smaller) or _duplicates(smaller):
            equalities += [term("same", var, other) for var, other in replacement.items()]
            smaller = _simplify(smaller, replacement)
        self.problem: TransitionSystem = _restrict_to_cone(smaller)
        self.equalities = tuple(equalities)
        claims = zip(self.problem.properties, system.properties, strict=True)
        self._claims = {smaller.term: claim.term for smaller, claim in claims}

    def back(self, evidence: Evidence) -> Evidence:
        """A certificate with the equalities that it builds on; traces are the same."""
        match evidence:
            case Certificate():
                return self._certificate(evidence)
            case LocationInvariants() | BlockCertificate() | Trace() | EdgePath():
                return evidence
        assert_never(evidence)

    def _certificate(self, reduced: Certificate) -> Certificate:
        invariants = reduced.invariants
        if reduced.kind == "inductive":  # claims as they were written; the other kinds compare what these depend on
            invariants = tuple(self._claims.get(t, t) for t in invariants)
        return replace(reduced, invariants=invariants, equalities=(*self.equalities, *reduced.equalities))


class Restriction:
    """The system restricted to some of its properties and what they depend on: evidence about it is evidence about the
    whole."""

    def __init__(self, system: TransitionSystem, names: Collection[str]) -> None:
        chosen = tuple(p for p in system.properties if p.name in names)
        self.problem: TransitionSystem = _restrict_to_cone(replace(system, properties=chosen))

    def back(self, evidence: Evidence) -> Evidence:
        return evidence


def _simplify(system: TransitionSystem, replacement: dict[Term, Term]) -> TransitionSystem:
    roots = [*system.roots()]
    replaced = substitute(roots, replacement) if replacement else {r: r for r in roots}
    simple = simplify(replaced.values())

    def image(node: Term) -> Term:
        return simple[replaced[node]]

    return TransitionSystem(
        system.name,
        tuple(
            State(s.var, None if s.init is None else image(s.init), image(s.next))
            for s in system.state
            if s.var not in replacement
        ),
        system.inputs,
        tuple(Definition(d.name, image(d.term)) for d in system.definitions),
        tuple(replace(a, term=image(a.term)) for a in system.assumptions),
        tuple(replace(p, term=image(p.term)) for p in system.properties),
    )


def _constants(system: TransitionSystem) -> dict[Term, Term]:
    """State that keeps its initial value for ever."""
    return {s.var: s.init for s in system.state if s.init is not None and s.next in (s.init, s.var)}


def _duplicates(system: TransitionSystem) -> dict[Term, Term]:
    """State that always equals other state: the coarsest partition with equal initial values whose members' next
    values are equal when members of one class are taken for each other."""
    members = [s for s in system.state if s.init is not None]
    classes: dict[object, list[State]] = {}
    for s in members:
        classes.setdefault((s.var.type, s.init), []).append(s)
    for _ in range(MOST_ROUNDS):
        leader = {s.var: group[0].var for group in classes.values() for s in group}
        shared = {v: first for v, first in leader.items() if v is not first}
        if not shared:
            return {}
        images = simplify(substitute([s.next for s in members], shared).values())
        nexts = substitute([s.next for s in members], shared)
        finer: dict[object, list[State]] = {}
        for s in members:
            finer.setdefault((leader[s.var], images[nexts[s.next]]), []).append(s)
        if len(finer) == len(classes):
            return shared
        classes = finer
    return {}


def clusters(system: TransitionSystem, size: int = 1) -> list[TransitionSystem]:
    """The system split by properties that share no state: each part has the cone of its properties and of all
    assumptions. Properties of one part may help each other; those of different parts could only be in the way, also
    if they read the same inputs. Small parts are put together until they have so many properties."""
    nexts = {s.var: s.next for s in system.state}
    parts = _Parts()
    read: dict[Term, Term | None] = {}  # a state variable that the node depends on; all those it reads are in one part
    for node in walk_cone([claim.term for claim in system.properties], {var: (after,) for var, after in nexts.items()}):
        states = [state for a in node.args if (state := read[a]) is not None]
        read[node] = node if node in nexts else parts.join(states) if states else None
    for var, after in nexts.items():
        if var in read and (other := read[after]) is not None:
            parts.join([var, other])
    groups: dict[object, list[Claim]] = {}
    for i, claim in enumerate(system.properties):
        state = read[claim.term]
        groups.setdefault(i if state is None else parts.find(state), []).append(claim)
    lots: list[list[Claim]] = []
    for group in groups.values():
        if lots and len(lots[-1]) < size:
            lots[-1] += group
        else:
            lots.append(group)
    cones = _Cones(system)
    return [cones.part(tuple(lot)) for lot in lots]


def narrow_parts(system: TransitionSystem) -> list[TransitionSystem]:
    """For properties that depend on less than half of the state, the system without all else: also without assumptions
    that speak of anything else. Each part has more runs than the system: a proof of it is one of the system, and a
    violation is not. Properties of the same state are in one part; flags that inputs never move do not count."""
    nexts = {s.var: (s.next,) for s in system.state}
    moving = {s.var for s in system.state if not s.next.is_const}
    groups: dict[frozenset[Term], list[Claim]] = {}
    for claim in system.properties:
        groups.setdefault(frozenset(moving.intersection(walk_cone([claim.term], nexts))), []).append(claim)
    small = sorted((own for own in groups if 0 < 2 * len(own) <= len(moving)), key=len)[:MOST_PARTS]
    asked = system.assumptions if small else ()
    needs = [(a, {n for n in walk_cone([a.term], nexts) if n.op == "var"}) for a in asked]
    found = []
    for own in small:
        seen = set(walk_cone([claim.term for claim in groups[own]], nexts))
        assumed = tuple(a for a, need in needs if need <= seen)
        found.append(_restrict_to_cone(replace(system, assumptions=assumed, properties=tuple(groups[own]))))
    return found


def each_alone(system: TransitionSystem) -> list[TransitionSystem]:
    """The system split by properties, each with its cone and that of all assumptions."""
    return [_restrict_to_cone(replace(system, properties=(claim,))) for claim in system.properties]


class _Parts:
    """Union and find: each part by one of its members."""

    def __init__(self) -> None:
        self.parent: dict[Term, Term] = {}

    def find(self, member: Term) -> Term:
        while (above := self.parent.get(member, member)) is not member:
            self.parent[member] = member = self.parent.get(above, above)
        return member

    def join(self, members: Sequence[Term]) -> Term:
        first, *others = map(self.find, members)
        for other in others:
            self.parent[self.find(other)] = first
        return first


def _restrict_to_cone(system: TransitionSystem) -> TransitionSystem:
    """The system restricted to the cone of influence of properties and assumptions. The range or membership of a
    variable that is read nowhere else goes too."""
    return _Cones(system).part(system.properties)


class _Cones:
    """Parts of a system, each in time of its own size: what is not in the cone is not looked at."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.nexts = {s.var: (s.next,) for s in system.state}
        self.states = {s.var: i for i, s in enumerate(system.state)}
        self.inputs = {v: i for i, v in enumerate(system.inputs)}
        self.definitions = _by_term((d.term, i) for i, d in enumerate(system.definitions))
        self.assumptions = [i for i, a in enumerate(system.assumptions) if not a.is_range]
        ranges = ((i, a.term) for i, a in enumerate(system.assumptions) if a.is_range)
        self.ranges = _by_term((var, i) for i, claim in ranges for var in variables([claim]))

    def part(self, properties: tuple[Claim, ...]) -> TransitionSystem:
        system = self.system
        assumed = [system.assumptions[i] for i in self.assumptions]
        seen = set(walk_cone([c.term for c in (*properties, *assumed)], self.nexts))
        kept = {*self.assumptions, *(i for node in seen for i in self.ranges.get(node, ()))}
        named = sorted(i for node in seen for i in self.definitions.get(node, ()))
        return TransitionSystem(
            system.name,
            tuple(system.state[i] for i in sorted(self.states[v] for v in seen if v in self.states)),
            tuple(system.inputs[i] for i in sorted(self.inputs[v] for v in seen if v in self.inputs)),
            tuple(system.definitions[i] for i in named),
            tuple(system.assumptions[i] for i in sorted(kept)),
            properties,
        )


def _by_term(places: Iterable[tuple[Term, int]]) -> dict[Term, list[int]]:
    found: dict[Term, list[int]] = {}
    for node, place in places:
        found.setdefault(node, []).append(place)
    return found
