"""Claim directed reachability, lifted to the locations of an automaton.

Decides: what has an invariant for each location that is a conjunction of clauses over conditions that come up on the
way from the error backwards; and, from the other end, paths to the error.

Papers: the thesis (Werner, "Property Directed Reachability in Ultimate"), chapter 4, after Lange, Neuhäußer and Noll,
"IC3 software model checking on control flow automata" (2015); [EMB11] as in `ic3.cooper_ic3`.

Ingredients:
    a sequence of frames for each location       `local_frames.LocalFrames`         [thesis, Alg. 2, l. 3-5, 8-9]
    obligations (t, l, i), lowest level first    `Obligation`, `_block`             [Alg. 2, l. 11-13]
    weakest preconditions as new obligations     `preimages.Preimages`              [4.2, phase 2; 4.4]
    one cube of its normal form at a time        `_preceding`                       [4.4, "Disjunctive Normal Form"]
    the global fixpoint                          `_fixpoint`                        [Alg. 2, l. 16-20]
    what an edge or a frame says already         `LocalFrames.seen_blocked`         [4.4, "Syntactical Analysis"]
    cores that shrink a cube and name its level  `LocalFrames.blocked`, `_shrunk`   [3.4, "Generalization of States"]
    propagation                                  `_propagate`                       [chapter 3, phase 3; ours here]

Vocabulary: F[i, l] = `LocalFrames` at level i; (t, l, i) = `Obligation`; k = `top`; T of l' -> l = the guard and the
updates of an edge.

Departures, where the thesis leaves something open:
  - An obligation at the entry is met whatever its level: every state is initial there. (The thesis would block it,
    where l0 has no predecessor, and so declare `l0 -> lE` alone unreachable.)
  - A frame is strengthened when *no* edge into l leads into t; the thesis has it after each predecessor in turn.
  - The loop of Alg. 2, l. 16-20 compares level 0 with level -1 and answers in its first turn. Here: some i >= 1 with
    F[i-1, l] = F[i, l] for *all* l; lemmas are kept at their highest level, so that is a level where none is kept.
  - The obligation for lE itself, (true, lE, k + 1), stands for the initial ones: its predecessors are these.
  - An obligation stays until it is blocked, so it may come with a part of its precondition at a time: the cube of the
    normal form in which the model is. That never builds the whole form, and no cube that frames exclude anyway.

Every obligation is a set of states each of which has a run along the edges of its chain to the error, so one at the
entry is a feasible path. The other way round, nothing is added to a frame but what the solver, or the looks of edge and
frame, said no state of the frames one level lower leads to.

Options, each of which is on unless it is `False`; without all of them the search is the thesis' own, step by step:
    "cubes"      obligations are cubes, not formulas
    "tighten"    lemmas shrunk by cores and by leaving out literals, kept at the level that the core reaches
    "split"      equalities as two inequalities while a cube shrinks
    "inductive"  a loop at a single location is asked about from outside the cube
    "turns"      a level is a turn of a loop, not an edge
    "propagate"  lemmas are moved to the next level where they hold
    "forward"    what is blocked is to be blocked at the next level too [EMB11, Fig. 6]

Limits: invariants over sums of counters are learned one bound at a time; bit-vectors that an edge chooses take the
values that models have.
"""

from __future__ import annotations

import heapq
from collections import ChainMap
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import ClassVar, TypeAlias

from streamcheck.core.evaluate import Evaluation, is_unknown_function
from streamcheck.core.term import TRUE, Term, walk
from streamcheck.core.types import Value
from streamcheck.engines.cfa.base import Answer, Open, ProgramEngine, Safe, Unsafe
from streamcheck.engines.cfa.local_frames import Blocked, Lemma, LocalFrames
from streamcheck.engines.cfa.preimages import NoState, Preimages, same_state
from streamcheck.engines.ic3.cubes import Cube, rejoined, split, strongest
from streamcheck.engines.ic3.frames import FOR_EVER, GaveUp
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.automaton import Automaton, Edge

BEYOND = 24  # levels past 6·k that obligations are followed (heuristic)
TURN = 16  # obligations between two signs of life
MOST_DROPS = 30  # literals tried without, per lemma (heuristic)
NO_STATE = "the solver's model is no state (an irrational value?)"
BY_NAME_ONLY = "functions of math.h are known by name only"
Values: TypeAlias = Mapping[Term, Value]


@dataclass(slots=True)
class Obligation:
    """(t, l, i): block `cube` at `location` up to `level`. Every state of the cube has a step along `edge` into the
    successor's. `values` are a state of the cube.

    The first `passed` edges into the location are known to lead nowhere into the cube, which took the literals `needed`
    and holds up to `highest`; frames only get stronger, so this is not asked again.
    """

    cube: Cube
    location: str
    level: int
    values: Values | None = None
    edge: Edge | None = None
    successor: Obligation | None = None
    depth: int = 0  # edges to the error
    turns: int = 0  # levels to it
    passed: int = 0
    needed: set[Term] = field(default_factory=set)
    highest: int = FOR_EVER
    asked: bool = False

    def at(self, level: int) -> Obligation:
        return replace(self, level=level, passed=0, needed=set(), highest=FOR_EVER, asked=False)

    def path(self) -> list[Edge]:
        edges: list[Edge] = []
        one: Obligation | None = self
        while one is not None and one.edge is not None:
            edges.append(one.edge)
            one = one.successor
        return edges


class Queue:
    """Obligations, lowest level first; of one level what is fewest levels from the error, and there what is most edges
    from it, which is what the others wait for."""

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, int, int, Obligation]] = []
        self.numbers = count()

    def push(self, one: Obligation) -> None:
        heapq.heappush(self.heap, (one.level, one.turns, -one.depth, -next(self.numbers), one))

    def pop(self) -> Obligation:
        return heapq.heappop(self.heap)[-1]

    def __bool__(self) -> bool:
        return bool(self.heap)


class LiftedPdr(ProgramEngine):
    name: ClassVar[str] = "lifted-pdr"

    def search(self, program: Automaton, problem: Task) -> Generator[Progress, None, Answer]:
        """[Alg. 2]"""
        if any(is_unknown_function(node) for node in walk(root for edge in program.edges for root in edge.roots())):
            return Open(BY_NAME_ONLY)
        self.program, self.options = program, problem.options
        self.error = program.errors[0].location
        if program.entry == self.error:  # l. 2
            return Unsafe(())
        self.frames = LocalFrames(program, problem.patience, turns=self._on("turns"))  # l. 3-5
        try:
            return (yield from self._levels())
        except GaveUp as gave_up:
            return Open(str(gave_up))
        except NoState:
            return Open(NO_STATE)

    def _on(self, name: str) -> bool:
        return self.options.get(name, True)

    def _levels(self) -> Generator[Progress, None, Answer]:
        for top in count(0 if self._on("turns") else 1):  # l. 7-10; every frame begins as `true`
            yield Progress(top)
            path = yield from self._block(top)
            if path is not None:
                return Unsafe(path)  # l. 14-15
            if self._on("propagate"):
                self._propagate(top)
            level = self._fixpoint(top)  # l. 16-20
            if level is not None:
                return Safe(self._invariants(level))
        raise AssertionError("levels end nowhere")

    # Obligations

    def _block(self, top: int) -> Generator[Progress, None, list[Edge] | None]:
        """[Alg. 2, l. 11-15; EMB11, Fig. 6]: a path to the error, or None once everything is blocked."""
        queue = Queue()
        queue.push(Obligation((), self.error, top if self._on("turns") else top + 1))
        for handled in count(1):
            if not queue:
                return None
            if handled % TURN == 0:
                yield Progress(top)
            one = queue.pop()
            if one.location == self.program.entry:
                return one.path()
            if self.frames.excludes(one.location, one.cube, one.level):
                self._again(queue, one, one.level + 1, top)
                continue
            found = self._preceding(one)
            if found is not None:
                self.met(found)
                queue.push(one)
                queue.push(found)
            else:
                level = self._strengthen(one)
                self._again(queue, one, level + 1, top)
        return None

    def met(self, one: Obligation) -> None:
        """A new obligation. For whoever wants to watch."""

    def _again(self, queue: Queue, one: Obligation, level: int, top: int) -> None:
        """The same states have to be blocked at the next level too. Where there are infinitely many states, following
        that without end never comes back to the other ones: what is much further than k levels from the error waits
        (required)."""
        if level <= top and level + one.turns <= 6 * top + BEYOND and self._on("forward"):
            queue.push(one.at(level))

    def _preceding(self, one: Obligation) -> Obligation | None:
        """States before one of the edges into the location from which it leads into the cube; None: there are none."""
        edges = self.frames.entering[one.location]
        while one.passed < len(edges):
            before = edges[one.passed]
            blocked = self.frames.seen_blocked(before, one.cube, one.level)
            if blocked is None:
                guessed = self._guessed(before, one)
                if guessed is not None:
                    return self._before(one, before, guessed, one.values)
                blocked = self._blocked(before, one.cube, one.level)
            if blocked is None:
                model = self.frames.model()
                return self._before(one, before, model, model)
            one.needed.update(blocked.needed)
            one.highest = min(one.highest, blocked.level)
            one.asked |= blocked.asked
            one.passed += 1
        return None

    def _blocked(self, before: Preimages, cube: Cube, level: int) -> Blocked | None:
        return self.frames.blocked(before, cube, level, inductive=self._on("inductive"))

    def _guessed(self, before: Preimages, one: Obligation) -> Values | None:
        """The values that lead on from the obligation, where they also lead into it along the edge: often they differ
        in nothing that matters, and the solver need not be asked."""
        if one.values is None or not self._on("cubes"):
            return None
        values = ChainMap(same_state(before.edge, one.values), one.values)  # type: ignore[arg-type]
        evaluation = Evaluation(values)
        if not all(evaluation.of(root) is True for root in before.changed(one.cube)):
            return None
        return values if self.frames.admits(before.edge.source, one.level - before.cost, values) else None

    def _before(self, one: Obligation, before: Preimages, chosen: Values, values: Values | None) -> Obligation:
        """The weakest precondition, or the cube of it that the values (and choices) are in."""
        if self._on("cubes"):
            cube = before.plain(one.cube)
            cube = before.cube(one.cube, chosen) if cube is None else cube
            cube = strongest(cube)
        else:
            formula = before.formula(one.cube)
            cube = before.cube(one.cube, chosen) if formula is None else (formula,)
        cube = tuple(c for c in cube if c is not TRUE)
        place, level = before.edge.source, one.level - before.cost
        return Obligation(cube, place, level, values, before.edge, one, one.depth + 1, one.turns + before.cost)

    # Lemmas

    def _strengthen(self, one: Obligation) -> int:
        """F[j, l] excludes the cube for all j <= i; how far it does."""
        cube, level = one.cube, one.level
        if self._on("tighten"):
            cube = tuple(c for c in cube if c in one.needed)
            cube, level = self._shrunk(cube, level, one.highest, one.location) if one.asked else (cube, one.highest)
            cube = rejoined(cube)
        self.frames.add(Lemma(one.location, cube, level))
        return level

    def _shrunk(self, cube: Cube, level: int, highest: int, location: str) -> tuple[Cube, int]:
        """Literal by literal: what is not needed goes [3.4; EMB11, sec. V]."""
        cube = split(cube) if self._on("split") else cube
        for literal in cube[:MOST_DROPS]:
            if literal in cube:
                found = self._apart(tuple(c for c in cube if c is not literal), level, location)
                if found is not None:
                    cube, highest = found
        return cube, highest

    def _apart(self, cube: Cube, level: int, location: str) -> tuple[Cube, int] | None:
        """A smaller cube still and how far it can be excluded, where it can be up to the level."""
        needed, highest = set[Term](), FOR_EVER
        for before in self.frames.entering[location]:
            blocked = self._blocked(before, cube, level)
            if blocked is None:
                return None
            needed.update(blocked.needed)
            highest = min(highest, blocked.level)
        return tuple(c for c in cube if c in needed), highest

    def _propagate(self, top: int) -> None:
        """Lemmas move as high as they hold [chapter 3, phase 3]."""
        for level in range(top + 1):
            for one in self.frames.at(level):
                if one not in self.frames.kept[one.location]:
                    continue  # a stronger one took its place
                found = self._apart(one.cube, level + 1, one.location)
                if found is not None:
                    self.frames.raise_to(one, *found)

    # The end

    def _fixpoint(self, top: int) -> int | None:
        """[Alg. 2, l. 16-20]: a level i with F[i, l] = F[i + 1, l] everywhere; or the lemmas without a level exclude
        the error by themselves."""
        if self.frames.excludes(self.error, (), FOR_EVER):
            return FOR_EVER
        return next((level for level in range(top + 1) if self.frames.is_fixpoint(level)), None)

    def _invariants(self, level: int) -> dict[str, Term]:
        names = [name for name in self.program.locations if name != self.error and level >= self.frames.first[name]]
        return {name: self.frames.frame(name, level) for name in names}
