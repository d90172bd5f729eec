"""Transition systems for property directed reachability: their places, several properties, what others found.

All states are at one place, and every property has an error, which is reached from the states in which some input
breaks it. Several properties share the frames: a lemma of F[i] is true whatever it was found for. Each property has an
N of its own and its own turn, so a hard one does not keep an easy one waiting; what is proved joins the invariants of
the rest (the mutual induction rule of [Laurent]), and their certificates.

The guard of a step is A', as far as it is over the state alone; A itself is a fact of the space.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, TypeVar, assert_never

from streamcheck.core.evaluate import Evaluation, evaluate, is_unknown_function
from streamcheck.core.floats import neighbours
from streamcheck.core.simplify import conjunction, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variables, walk
from streamcheck.core.types import FloatType, Type, Value
from streamcheck.engines.cores import FEW, needed_for
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import Frames, NoAnswer
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.options import PdrOptions
from streamcheck.engines.ic3.pdr import NO_STATE, Fixpoint, Frontier, Pdr, Predecessors
from streamcheck.engines.ic3.space import FOR_EVER, NoState, StateSpace, Transition
from streamcheck.engines.options import Options
from streamcheck.engines.protocol import BY_NAME_ONLY, Event, Inbox, Invariants, Progress, Settled, Task, TrueUpTo
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Falsified, Proved, SolverFamily, Trace, Unknown
from streamcheck.smt.contract import AnySolver, NewSolver
from streamcheck.smt.solver import Solver

STATES = "states"
Own = TypeVar("Own", bound=Options)


class SystemStep(Transition):
    """The step of a system, or the violation of a property."""

    def __init__(self, system: TransitionSystem, target: str, guard: Term, update: Mapping[Term, Term]) -> None:
        super().__init__(STATES, target, guard, update, int(target == STATES))
        self._assumed = [a.term for a in system.assumptions]

    def roots(self, cube: Cube) -> list[Term]:
        """A ∧ c', or A ∧ ¬P. (A' follows from c', for c was made with A.)"""
        return [*self._assumed, *([] if self.target == STATES else [self.guard]), *map(self.image, cube)]


def space_of_system(system: TransitionSystem) -> StateSpace:
    """The system as places and transitions."""
    nexts = {s.var: s.next for s in system.state}
    assumed = [a.term for a in system.assumptions]
    of_state = conjunction(*(a for a in assumed if all(v in nexts for v in variables([a]))))
    guard = substitute([of_state], nexts)[of_state]
    entering = {STATES: (SystemStep(system, STATES, simplify([guard])[guard], nexts),)}
    entering |= {error_of(p): (SystemStep(system, error_of(p), negation(p.term), {}),) for p in system.properties}
    return StateSpace(
        entering,
        {STATES: initial_of(system), **{error_of(p): FALSE for p in system.properties}},
        {STATES: 1, **{error_of(p): 0 for p in system.properties}},
        frozenset(map(error_of, system.properties)),
        tuple(assumed),
        {s.var: s.init.payload for s in system.state if s.init is not None and s.init.is_const},
        landmarks_of(system),
    )


def landmarks_of(system: TransitionSystem) -> dict[Type, list[float]]:
    """The float constants of the system and their neighbours, in order."""
    found: dict[Type, set[float]] = {}
    for node in walk(system.roots()):
        if node.is_const and isinstance(node.type, FloatType) and math.isfinite(node.payload):
            found.setdefault(node.type, set()).update([node.payload, *neighbours(node.payload, node.type.width)])
    return {type: sorted(numbers) for type, numbers in found.items()}


def error_of(claim: Claim) -> str:
    return f"violation:{claim.name}"


def initial_of(system: TransitionSystem) -> Term:
    """I"""
    return conjunction(*(term("same", s.var, s.init) for s in system.state if s.init is not None))


class SystemEngine(ABC, Generic[Own]):
    """The base of the engines for transition systems: one search for each property, over common frames."""

    name: ClassVar[str]
    prover: ClassVar[SolverFamily] = "z3"

    def __init__(self, options: Own) -> None:
        self.options = options

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.system = problem.system
        if any(is_unknown_function(node) for node in walk(self.system.roots())):
            yield from (Unknown(p.name, BY_NAME_ONLY) for p in self.system.properties)
            return
        own, space = self.search_options(), space_of_system(self.system)
        self.frames = Frames(space, problem.patience, self.new_solver, incremental=own.incremental)
        self.open: dict[str, Claim] = {p.name: p for p in self.system.properties}
        self.depth_of_proofs = 1  # the k of the invariants that came from others
        self.deep: dict[Term, Certificate] = {}  # of those with a larger k than 1, the proof of all that stand together
        self._published: set[Term] = set()
        self.search = Pdr(self.name, self.frames, self.predecessors(), own)
        attempts = {name: self._prove(claim) for name, claim in self.open.items()}
        while attempts:
            self._read(inbox)
            for name in list(attempts):
                if name not in self.open:
                    del attempts[name]
                    continue
                yield from self._turn(name, attempts)
            yield from self._publish()

    def new_solver(self, patience: int | None) -> AnySolver:
        return Solver(patience)

    @abstractmethod
    def search_options(self) -> PdrOptions:
        """The options of the search, by the engine's own."""

    @abstractmethod
    def predecessors(self) -> Predecessors:
        """The strategy for predecessors."""

    def frontier(self, claim: Claim) -> Frontier:
        return Frontier(self.search, error_of(claim))

    def refine(self, first: Obligation, claim: Claim) -> Falsified | None:
        """Refine predecessors, so that the spurious chain does not come back; or find a violation on the way. Exact
        predecessors have no spurious chains: then the model was none."""
        raise NoState

    def _turn(self, name: str, attempts: dict[str, Iterator[Event]]) -> Iterator[Event]:
        """One property's next piece of work."""
        try:
            for event in attempts[name]:
                yield event
                if isinstance(event, Progress):
                    return
        except NoAnswer as reason:
            yield Unknown(name, str(reason))
        except NoState:
            yield Unknown(name, NO_STATE)
        del attempts[name]
        self.open.pop(name, None)

    def _prove(self, claim: Claim) -> Iterator[Event]:
        answer = yield from self.search.decide(self.frontier(claim), lambda first: self._witness(first, claim))
        match answer:
            case Fixpoint(level):
                yield Proved(claim.name, self._certificate_for(claim, level))
            case Falsified():
                yield answer
            case _:
                assert_never(answer)

    def _witness(self, first: Obligation, claim: Claim) -> Falsified | None:
        cubes = [one.cube for one in first.chain() if one.place == STATES]
        trace = replay(self.system, cubes, negation(claim.term), self.new_solver)
        return self.refine(first, claim) if trace is None else Falsified(claim.name, trace)

    # Facts of other engines, and facts for them

    def _read(self, inbox: Inbox) -> None:
        known = {*(s.var for s in self.system.state), *self.system.inputs}
        for fact in inbox():
            match fact:
                case Proved(prop, certificate):
                    self.open.pop(prop, None)
                    self.assume(certificate, known)
                case Invariants(certificate):
                    self.assume(certificate, known)
                case Falsified(prop) | Settled(prop):
                    self.open.pop(prop, None)
                case TrueUpTo():
                    pass
                case _:
                    assert_never(fact)

    def assume(self, certificate: Certificate, known: set[Term]) -> None:
        """Use invariants that others found."""
        if certificate.kind == "inductive" and known.issuperset(variables(certificate.invariants)):
            self.depth_of_proofs = max(self.depth_of_proofs, certificate.k)
            if certificate.k > 1:
                self.deep.update(dict.fromkeys(certificate.invariants, certificate))
            self.frames.assume(certificate.invariants)

    def _publish(self) -> Iterator[Event]:
        """Lemmas that always hold, for the other engines."""
        new = [t for t in self.frames.terms(STATES, FOR_EVER) if t not in self._published]
        if new:
            self._published.update(new)
            yield Invariants(self._certificate(FOR_EVER))

    def _certificate_for(self, claim: Claim, level: int) -> Certificate:
        """One without invariants that the claim does not need, if there are many."""
        whole = self._certificate(level)
        if len(whole.invariants) <= FEW:
            return whole
        patience = self.frames.patience
        groups = {t: list(c.invariants) for t, c in self.deep.items()}
        needed = needed_for(self.system, claim.term, whole.invariants, lambda: self.new_solver(patience), groups)
        depth = max((self.deep[t].k for t in needed if t in self.deep), default=1)
        return replace(whole, k=depth, invariants=tuple(needed) or (TRUE,))

    def _certificate(self, level: int) -> Certificate:
        invariants = (*self.frames.terms(STATES, level), *self.frames.invariants)
        return Certificate("inductive", self.depth_of_proofs, tuple(dict.fromkeys(invariants)), prover=self.prover)


def require_true(roots: Sequence[Term], evaluation: Evaluation) -> None:
    """Raise NoState if the model, read as values of the language, does not satisfy what the solver answered."""
    if not all(evaluation.of(root) is True for root in roots):
        raise NoState


# Counterexamples


def replay(
    system: TransitionSystem, cubes: Sequence[Cube], broken: Term, new_solver: NewSolver = Solver
) -> Trace | None:
    """A run through the cubes, from an initial state in the first to a state in which `broken` is true; None if there
    is none. State by state: with the state known, only the inputs of the step are asked for."""
    state = _start(system, cubes[0], new_solver(None))
    if state is None:
        return None
    constants = {s.var.payload: state[s.var] for s in system.state if s.init is None}
    inputs: list[dict[str, Value]] = []
    nexts = {s.var: s.next for s in system.state}
    images = [[substitute([c], nexts)[c] for c in cube] for cube in cubes[1:]]
    for goals in [*images, [broken]]:
        chosen = _inputs(system, state, goals, new_solver(None))
        if chosen is None:
            return None
        inputs.append({v.payload: chosen[v] for v in system.inputs})
        results = evaluate(nexts.values(), {**state, **chosen})
        state = {v: results[n] for v, n in nexts.items()}
    return Trace(constants, tuple(inputs))


def _start(system: TransitionSystem, cube: Cube, solver: AnySolver) -> dict[Term, Value] | None:
    # I ∧ A ∧ c
    solver.add(initial_of(system), *cube, *(a.term for a in system.assumptions))
    return solver.values([s.var for s in system.state]) if solver.check() else None


def _inputs(
    system: TransitionSystem, state: dict[Term, Value], goals: Sequence[Term], solver: AnySolver
) -> dict[Term, Value] | None:
    """Inputs that meet the assumptions in this state and make the goals true."""
    wanted = conjunction(*(a.term for a in system.assumptions), *goals)
    known = {v: constant(v.type, value) for v, value in state.items()}
    put = substitute([wanted], known)[wanted]
    simple = simplify([put])[put]
    # A ∧ goals, in this state
    solver.add(simple)
    if not solver.check():
        return None
    return solver.values(system.inputs)
