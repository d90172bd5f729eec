"""Loops unwound, all paths at once [CKL04, section 3].

    unwinding         round n holds, for each location, the condition for being there and the variables' values as
                      terms, chosen where paths meet. A path that comes to a location that the others have left in
                      this round goes on in the next one
    P                 the condition for being at the error, round by round: satisfiable, and the model is a path
    unwinding         no path goes on in another round: because nothing is left after simplification, or because what
    assertions        is left is unsatisfiable. Then every path has been followed

Constants are folded on the way, so a loop with a known number of rounds ends by itself, and what is left is one
formula without a program counter: the size of the code times its rounds, whatever the number of paths.

Departure: instead of renaming by static single assignment, values are terms over the values at the beginning and
copies of the choices, one for each round.

A proof says only how many rounds there are. The checker unwinds the statements itself: they come round as often as the
blocks, if each loop is entered at one location, in the statements too [HU72] (`transform.reducible`).

Limits: it proves nothing if the number of rounds has no bound, or one beyond `MOST_NODES`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import ClassVar, TypeAlias

from streamcheck.core.simplify import choice, conjunction, disjunction, instantiate, negation
from streamcheck.core.term import FALSE, TRUE, Term, variable, walk
from streamcheck.core.types import BOOL
from streamcheck.engines.cfa.base import Answer, Inconclusive, Unsafe, Unwound, event_of, restrict
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.protocol import PROGRAMS_ONLY, Event, Inbox, Progress, Task
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Certificate, Proved, Unknown
from streamcheck.smt.solver import Solver
from streamcheck.transform.reducible import is_reducible, locations_in_order

MOST_NODES = 2_000_000  # of the edges that are followed, in all rounds together (heuristic)
MOST_ROUNDS = 9_999  # the checker reads certificates of 10,000 at most
EVERY = 8  # rounds up to which each is asked if a path goes on; later ever fewer are

PathsAt: TypeAlias = dict[str, tuple[Term, dict[Term, Term]]]  # the condition for being there, and the values


class Unwinding:
    name: ClassVar[str] = "unwinding"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        """All claims on the same paths."""
        claims = []
        for claim in problem.system.properties:
            if claim.term is TRUE:  # the program never moves, and begins elsewhere
                yield Proved(claim.name, Certificate("inductive", 1, (TRUE,)))
            else:
                claims.append(claim)
        program = restrict(problem, claims, whole=True)  # the checker follows loops to errors that blocks exclude
        if program is None:
            yield from (Unknown(claim.name, PROGRAMS_ONLY) for claim in claims)
        elif program.entry in program.bad or not is_reducible(program):
            yield from (Unknown(claim.name, "a loop is entered at several locations") for claim in claims)
        else:
            yield from _ClaimSearch(problem, program, claims).run(inbox)


class _ClaimSearch:
    def __init__(self, problem: Task, program: Automaton, claims: Sequence[Claim]) -> None:
        self.problem, self.program = problem, program
        names = {claim.name: claim for claim in claims}
        self.open = {e.location: names[e.name] for e in program.errors}  # by the locations of their errors
        self.rounds, self.solver = PathRounds(program), Solver(problem.patience)

    def run(self, inbox: Inbox) -> Iterator[Event]:
        asked = 0
        for n in count(1):
            wrong = self.rounds.next()
            decided = decided_properties(inbox())
            self.open = {error: claim for error, claim in self.open.items() if claim.name not in decided}
            yield from self._violations(wrong)
            if self.rounds.here and (n <= EVERY or n >= 1.25 * asked):
                asked = n
                if self.solver.check(disjunction(*(there for there, _ in self.rounds.here.values()))) is False:
                    self.rounds.here.clear()
            if not self.rounds.here:
                yield from self._events(Unwound(n + 1))
            elif self.rounds.nodes > MOST_NODES or n >= MOST_ROUNDS:
                yield from self._events(Inconclusive(f"its loops go round more often than {n} times"))
            if not self.open:
                return
            yield Progress(n)

    def _violations(self, wrong: Mapping[str, Term]) -> Iterator[Event]:
        """Violations in this round. All at once; if that is too much for the solver, one by one."""
        lots = [[error for error in wrong if error in self.open]]
        while lots:
            lot = lots.pop()
            goal = disjunction(*(wrong[error] for error in lot))
            answer = False if goal is FALSE else self.solver.check(goal)
            if answer:
                path = self.rounds.path(self.solver)
                yield from self._events(Unsafe(path), path[-1].target)
                lots.append([error for error in lot if error in self.open])
            elif answer is None and len(lot) > 1:
                lots += [[error] for error in lot]
            elif answer is None:
                yield from self._events(Inconclusive(self.solver.reason), *lot)

    def _events(self, answer: Answer, *errors: str) -> Iterator[Event]:
        """The answer for these errors, or for all that are open."""
        for error in errors or [*self.open]:
            yield event_of(self.problem, self.program, self.open.pop(error), answer)


@dataclass(slots=True)
class PathRounds:
    """The paths of a program, round by round. `here` is what the next round begins with."""

    program: Automaton
    here: PathsAt = field(default_factory=dict)
    number: int = 0
    nodes: int = 0  # of the edges that were followed
    sizes: Mapping[Edge, int] = field(default_factory=dict)
    takes: dict[tuple[int, Edge], Term] = field(default_factory=dict)  # the edge is the one taken in that round
    again: dict[tuple[int, Edge], int] = field(default_factory=dict)  # the round that its target belongs to
    order: Sequence[str] = ()
    places: Mapping[str, int] = field(default_factory=dict)  # in that order

    def __post_init__(self) -> None:
        self.here[self.program.entry] = TRUE, {v: v for v in self.program.variables}
        self.order = locations_in_order(self.program)
        self.sizes = {edge: sum(1 for _ in walk(edge.roots())) for edge in self.program.edges}
        self.places = {location: place for place, location in enumerate(self.order)}

    def next(self) -> dict[str, Term]:
        """Follow the next round; the conditions for the errors in it."""
        here: PathsAt = self.here
        again: PathsAt = {}
        wrong: dict[str, Term] = {}
        self.number += 1
        for place, location in enumerate(self.order):
            if location not in here:
                continue
            there, before = here[location]
            for edge, taken in self._ways(location):
                images = instantiate(edge.roots(), before | self._copies(edge))
                self.nodes += self.sizes[edge]
                arrives = conjunction(there, taken, images[edge.guard])
                if arrives is FALSE:
                    continue
                if edge.target in self.program.bad:
                    wrong[edge.target] = disjunction(wrong.get(edge.target, FALSE), arrives)
                    continue
                after = {**before, **{v: images[t] for v, t in edge.updates}}
                reached = here if self.places[edge.target] > place else again
                if edge.target in reached:
                    known, values = reached[edge.target]
                    after = {v: choice(arrives, after[v], values[v]) for v in values}
                    arrives = disjunction(known, arrives)
                reached[edge.target] = arrives, after
                self.again[self.number, edge] = self.number + (reached is again)
        self.here = again
        return wrong

    def _ways(self, location: str) -> Iterator[tuple[Edge, Term]]:
        """The edges that leave a location, each with the condition that it is the one taken."""
        edges = self.program.edges_from[location]
        others = TRUE
        for i, edge in enumerate(edges):
            chosen = TRUE if i == len(edges) - 1 else variable(f"{location} takes {i} in round {self.number}", BOOL)
            self.takes[self.number, edge] = chosen
            yield edge, conjunction(others, chosen)
            others = conjunction(others, negation(chosen))

    def _copies(self, edge: Edge) -> dict[Term, Term]:
        return {c: variable(f"{c.payload} in round {self.number}", c.type) for c in edge.choices}

    def path(self, solver: Solver) -> Sequence[Edge]:
        """The path to the error that the solver's model takes."""
        model, path = solver.model(), list[Edge]()
        here, number = self.program.entry, 1
        while here not in self.program.bad:
            edges = self.program.edges_from[here]
            taken = next(e for e in edges if model[self.takes[number, e]] is True)
            path.append(taken)
            here, number = taken.target, self.again.get((number, taken), number)
        return path
