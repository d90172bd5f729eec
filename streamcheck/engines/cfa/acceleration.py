"""Violations after many rounds of loops, computed instead of unrolled.

[KLW13]: an edge for many rounds of a loop is added to the program (`closed_forms`), with the number of rounds as a
choice; bounded model checking of that program finds violations after a million rounds at a depth of some edges. Each
edge stands for runs that the program has, so nothing is lost and nothing gained: the path is one of the program, with
the number of rounds that the model says, and the replay judges it.

    a loop at a location      each of its branches, many times
    two branches, in turns    the first once or many times, then the second: many times
    a loop through others     each way there and back, inner loops many times, with the same number of rounds each time

Limits: integers have to be mathematical, or machine integers over Int; branches have to have closed forms; nested loops
whose inner rounds are more than a thousand, or not always as many.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, permutations, product
from typing import ClassVar, TypeAlias

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, instantiate
from streamcheck.core.term import Term, substitute, variable, variables, walk
from streamcheck.core.types import MachineType, Value
from streamcheck.engines.cfa.base import Answer, Inconclusive, ProgramEngine, SymbolicPath, Violated
from streamcheck.engines.cfa.closed_forms import LoopBranch, accelerate, branches
from streamcheck.engines.cfa.global_bmc import StepFormula
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.verdict import EdgePath, Rounds
from streamcheck.smt.solver import Solver

MOST_LOOPS = 24  # edges that are added (heuristic)
MOST_DEPTH = 30  # edges of a path
MOST_NODES = 3_000  # of an edge: with arrays as scalars, each cell has a condition of its own
LONGEST_ROUND = 1_000  # edges of a round that is repeated


@dataclass(frozen=True, slots=True)
class Once:
    """An edge of the program by its number, and its choices by their names here."""

    number: int
    choices: Mapping[Term, Term]


@dataclass(frozen=True, slots=True)
class Again:
    """Steps, so many times in a row."""

    steps: tuple[Move, ...]
    rounds: Term


Move: TypeAlias = "Once | Again"


@dataclass(frozen=True, slots=True)
class Composite:
    """An edge that does as much as the steps. `open` are variables whose values it leaves open."""

    edge: Edge
    steps: tuple[Move, ...]
    open: frozenset[Term] = frozenset()


class Acceleration(ProgramEngine):
    name: ClassVar[str] = "acceleration"

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        whole = problem.program
        assert whole is not None
        if any(isinstance(node.type, MachineType) for e in program.edges for node in walk(e.roots())):
            return Inconclusive("its closed forms are over mathematical integers")
        places, kept = set(program.locations), frozenset(program.variables)
        numbered = [(i, e) for i, e in enumerate(whole.edges) if {e.source, e.target} <= places]
        ways = [Composite(e, (Once(i, {c: c for c in e.choices}),)) for i, e in numbered]
        loops = list[Composite]()
        for loop in Loops(ways, kept, problem.patience).all():
            loops.append(loop)
            yield Progress(0)
            if len(loops) == MOST_LOOPS:
                break
        if not loops:
            return Inconclusive("no loop has a closed form")
        ways += loops
        edges = [replace(w.edge, updates=tuple((v, t) for v, t in w.edge.updates if v in kept)) for w in ways]
        steps = StepFormula(replace(program, edges=tuple(edges)), "forward")
        (error,), solver = program.bad, Solver(problem.patience)
        solver.add(steps.is_at(program.entry, 0))
        for depth in range(1, MOST_DEPTH + 1):
            solver.add(steps.step(depth - 1))
            # (q_0 = entry) ∧ step(0) ∧ … ∧ step(depth - 1) ∧ (q_depth = error)
            answer = solver.check(steps.is_at(error, depth))
            if answer is None:
                return Inconclusive(solver.reason)
            if answer:
                return path_of(whole, [ways[edges.index(edge)] for edge in steps.path(solver, depth)])
            yield Progress(depth)
        return Inconclusive(f"no violation of at most {MOST_DEPTH} edges")


def path_of(whole: Automaton, ways: Sequence[Composite]) -> Violated | Inconclusive:
    """The path of the program along the ways, with rounds in numbers."""
    followed, solver = SymbolicPath(whole), Solver()
    for way in ways:
        solver.add(followed.follow(way.edge))
    if solver.check() is not True:
        return Inconclusive("its path has no run")
    values = Evaluation(solver.model())
    edges, rounds = list[tuple[int, dict[str, Value]]](), list[Rounds]()
    open_now: set[Term] = set()
    for i, way in enumerate(ways):
        value = _Choices(followed.chosen[i], values)
        open_now = (open_now - way.edge.update.keys()) | way.open
        begin = len(edges)
        step = way.steps[0]
        if len(way.steps) == 1 and isinstance(step, Again):
            edges += _edges_of(step.steps, value)
            after = {str(v.payload): values.of(t) for v, t in followed.frames[i + 1].items() if v not in open_now}
            rounds.append(Rounds(begin, len(edges), int(value(step.rounds)) - 1, after))  # type: ignore[arg-type]
        else:
            edges += _edges_of(way.steps, value)
    if len(edges) > LONGEST_ROUND * len(ways):
        return Inconclusive("an inner loop has too many rounds")
    return Violated(EdgePath({str(v.payload): values.of(v) for v in whole.variables}, tuple(edges), tuple(rounds)))


@dataclass(frozen=True, slots=True)
class _Choices:
    """The values of the choices of an edge on the path."""

    copies: Mapping[Term, Term]
    values: Evaluation

    def __call__(self, choice: Term) -> Value:
        return self.values.of(self.copies[choice])


def _edges_of(steps: Iterable[Move], value: Callable[[Term], Value]) -> Iterator[tuple[int, dict[str, Value]]]:
    """The edges one by one, those of inner loops too."""
    for step in steps:
        match step:
            case Once(number, choices):
                yield number, {str(c.payload): value(own) for c, own in choices.items()}
            case Again(inner, rounds):
                for _ in range(min(int(value(rounds)), LONGEST_ROUND + 1)):  # type: ignore[arg-type]
                    yield from _edges_of(inner, value)


class Loops:
    """The loops of a program that have closed forms, the simplest first."""

    def __init__(self, ways: Sequence[Composite], kept: frozenset[Term], patience: int | None) -> None:
        self.kept, self.patience = kept, patience
        self.ways: dict[tuple[str, str], list[Composite]] = {}
        for way in ways:
            if sum(1 for _ in walk(way.edge.roots())) <= MOST_NODES:
                self.ways.setdefault((way.edge.source, way.edge.target), []).append(way)
        self.places = list(dict.fromkeys(q for ends in self.ways for q in ends))
        self.inner: dict[str, list[Composite]] = {q: [] for q in self.places}  # many rounds at a location
        self.numbers = count()

    def all(self) -> Iterator[Composite]:
        for q in self.places:
            alone: list[tuple[Composite, list[Composite]]] = []  # each branch, once and many times
            for single, branch in (s for way in self.ways.get((q, q), ()) for s in self._singles(way)):
                alone.append((single, list(self._many(single, [branch]))))
                yield from alone[-1][1]
            for (once, many), (other, _) in permutations(alone, 2):
                for first in (once, *many):
                    yield from self._many(self._join([first, other]))
        for length in (2, 3):
            for places in permutations(self.places, length):
                if self.places.index(places[0]) == min(map(self.places.index, places)):
                    for parts in self._around(places):
                        yield from self._many(self._join(parts))

    def _singles(self, way: Composite) -> Iterator[tuple[Composite, LoopBranch]]:
        """The branches of a way, each as a way."""
        for branch in branches(way.edge, self.patience):
            guard = conjunction(*branch.literals)
            yield replace(way, edge=replace(way.edge, guard=guard, updates=tuple(branch.updates.items()))), branch

    def _around(self, places: Sequence[str]) -> Iterator[list[Composite]]:
        """The ways from each to the next and back to the first, with or without many rounds at those between."""
        first, *others = places
        hops = [self.ways.get(ends, []) for ends in zip(places, (*others, first), strict=True)]
        stays: list[list[list[Composite]]] = [[[], *([many] for many in self.inner[q])] for q in others]
        for direct, stayed in product(product(*hops), product(*stays)):
            rest = zip(stayed, direct[1:], strict=True)
            yield [direct[0], *(way for stay, hop in rest for way in (*stay, hop))]

    def _many(self, way: Composite, known: Sequence[LoopBranch] = ()) -> Iterator[Composite]:
        """Many rounds of a way that leads back to where it begins, in each of its branches."""
        for branch in known or branches(way.edge, self.patience):
            many = accelerate(way.edge, branch, self.kept, f"rounds:{next(self.numbers)}")
            if many is not None:
                found = Composite(many.edge, (Again(way.steps, many.rounds),), many.open | way.open)
                self.inner[way.edge.source].append(found)
                yield found

    def _join(self, ways: Sequence[Composite]) -> Composite:
        """One way that does what these do one after another."""
        edge, steps, unknown = None, list[Move](), frozenset[Term]()
        for way in map(self._rename, ways):
            steps += way.steps
            spoilt = (v for v, t in way.edge.updates if not unknown.isdisjoint(variables([t])))
            unknown = (unknown - way.edge.update.keys()) | way.open | frozenset(spoilt)
            edge = way.edge if edge is None else _sequence(edge, way.edge)
        assert edge is not None
        return Composite(edge, tuple(steps), unknown)

    def _rename(self, way: Composite) -> Composite:
        """The way with choices of its own."""
        number = next(self.numbers)
        names = {c: variable(f"{c.payload}:{number}", c.type) for c in way.edge.choices}
        images = substitute(way.edge.roots(), names)
        edge = replace(
            way.edge,
            guard=images[way.edge.guard],
            updates=tuple((v, images[t]) for v, t in way.edge.updates),
            choices=tuple(names.values()),
        )
        return replace(way, edge=edge, steps=tuple(_with_names(step, names) for step in way.steps))


def _with_names(step: Move, names: Mapping[Term, Term]) -> Move:
    match step:
        case Once(number, choices):
            return Once(number, {c: names.get(own, own) for c, own in choices.items()})
        case Again(steps, rounds):
            return Again(tuple(_with_names(inner, names) for inner in steps), names.get(rounds, rounds))


def _sequence(first: Edge, second: Edge) -> Edge:
    images = instantiate([*second.roots()], first.update)
    updates = {**first.update, **{v: images[t] for v, t in second.updates}}
    return Edge(
        first.source,
        second.target,
        conjunction(first.guard, images[second.guard]),
        tuple(updates.items()),
        (*first.choices, *second.choices),
        f"{first.text}; {second.text}",
        first.where,
    )
