"""A sequence of frames for each location, in one incremental solver [thesis, section 4.2].

F[i, l] holds in every state in which a run is at l after at most i levels. Every edge is a level as in the thesis; or
only those that close a loop, so that what happens between two turns of a loop is one level, however long it is. F[i, l]
is `true` at the entry, `false` elsewhere while i < first(l), and a set of lemmas otherwise. Each lemma is kept once, at
the highest level where it is known to hold, so F[i, l] is what is kept at i, i + 1, …, ∞. What is kept at ∞ holds
without any level: from the lemmas at ∞ of the sources, every edge leads to those of its target.

Asserted in the solver, under the literal of a location and a level, each lemma kept there. An edge's guard and the
images of literals stand behind indicators, so that unsatisfiable cores speak of literals; there are no primed
variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, TRUE, Term, variable
from streamcheck.core.types import BOOL, Value
from streamcheck.engines.cfa.preimages import Literals, Preimages
from streamcheck.engines.ic3.cubes import Cube, Facts, lemma
from streamcheck.engines.ic3.frames import FOR_EVER, MOST_INDICATORS, GaveUp
from streamcheck.problem.automaton import HIDDEN, Automaton, Edge
from streamcheck.smt.solver import Solver

NEVER = FOR_EVER + 1  # the first level of a location that no path leads to


@dataclass(slots=True, eq=False)
class Lemma:
    """¬cube, which holds at the location up to frame `level`."""

    location: str
    cube: Cube
    level: int

    @property
    def term(self) -> Term:
        return lemma(self.cube)


@dataclass(frozen=True, slots=True)
class Blocked:
    """No step along an edge leads into the cube: these of its literals show it, up to this level of the target.
    `asked`: it took the solver, which may name more of them than it takes."""

    needed: Cube
    level: int
    asked: bool = False


class LocalFrames:
    def __init__(self, program: Automaton, patience: int | None, *, turns: bool) -> None:
        self.program = program
        self.patience = patience
        costs = _costs(program, turns=turns)
        self.first = _first(program, costs)
        self.kept: dict[str, dict[Lemma, None]] = {name: {} for name in program.locations}
        literals = Literals()
        self.entering = {
            name: tuple(Preimages(edge, literals, costs[edge]) for edge in edges)
            for name, edges in program.entering.items()
        }
        self.queries = 0
        self._renew()

    # The solver

    def _renew(self) -> None:
        self.solver = Solver(self.patience)
        for lemmas in self.kept.values():
            for one in lemmas:
                self.solver.add_under(_label(one.location, one.level), one.term)

    def _labels(self, location: str, level: int) -> list[Term]:
        """The literals under which F[level, location] stands."""
        levels = {one.level for one in self.kept[location] if one.level >= level}
        return [_label(location, i) for i in sorted(levels)]

    def _check(self, *assumed: Term) -> bool:
        if self.solver.size > MOST_INDICATORS:
            self._renew()
        self.queries += 1
        answer = self.solver.check(*assumed)
        if answer is None:
            raise GaveUp(self.solver.reason)
        return answer

    # Questions

    def blocked(self, before: Preimages, cube: Cube, level: int, *, inductive: bool) -> Blocked | None:
        """Whether no step along an edge leads from F[level - cost] into the cube at its target. None: one does, and
        `model` tells which. `inductive`: a loop at one location begins outside the cube."""
        seen = self.seen_blocked(before, cube, level)
        if seen is not None:
            return seen
        source = before.edge.source
        images = [before.image(c) for c in cube]
        labels = self._labels(source, level - before.cost)
        outside = [lemma(cube)] if inductive and source == before.edge.target else []
        # F[level-cost, source] ∧ (¬c) ∧ guard ∧ c[updates]
        if self._check(*labels, *outside, *(t for t in (before.guard, *images) if t is not TRUE)):
            return None
        needed = {*self.solver.core([*labels, *images])}
        levels = [one.level + before.cost for one in self.kept[source] if _label(source, one.level) in needed]
        return Blocked(tuple(c for c in cube if before.image(c) in needed), min([*levels, FOR_EVER]), asked=True)

    def seen_blocked(self, before: Preimages, cube: Cube, level: int) -> Blocked | None:
        """The same by looks alone [thesis, section 4.4, "Syntactical Analysis"]: the source is empty; the edge assumes
        the opposite of a literal; or a lemma of the source excludes what the edge and the cube say."""
        source = before.edge.source
        if level - before.cost < self.first[source]:
            return Blocked((), min(self.first[source] - 1 + before.cost, FOR_EVER))
        excluded = before.excluded(cube)
        if excluded is not None:
            return Blocked(excluded, FOR_EVER)
        lemmas = [one for one in self.kept[source] if one.level >= level - before.cost]
        if not lemmas:
            return None
        images = {c: before.literal(c) for c in cube}
        facts = Facts([*before.assumed, *(i for i in images.values() if i is not None)])
        for one in lemmas:
            if facts.imply_all(one.cube):
                missing = [c for c in one.cube if not before.facts.imply(c)]
                return Blocked(_reasons(missing, images), min(one.level + before.cost, FOR_EVER))
        return None

    def model(self) -> Mapping[Term, Value]:
        return self.solver.model()

    def admits(self, location: str, level: int, values: Mapping[Term, Value]) -> bool:
        """Whether a state is in F[level, location]."""
        if level < self.first[location]:
            return False
        evaluation = Evaluation(values)
        relevant = [one.cube for one in self.kept[location] if one.level >= level]
        return all(any(evaluation.of(c) is False for c in cube) for cube in relevant)

    def excludes(self, location: str, cube: Cube, level: int) -> bool:
        """Whether F[level, location] excludes the cube, by its looks."""
        if level < self.first[location]:
            return True
        lemmas = [one for one in self.kept[location] if one.level >= level]
        if not lemmas:
            return False
        facts = Facts(cube)
        return any(facts.imply_all(one.cube) for one in lemmas)

    # Lemmas

    def add(self, new: Lemma) -> None:
        """The lemma, in the place of weaker ones that reach no further."""
        kept = self.kept[new.location]
        for old in [old for old in kept if old.level <= new.level and Facts(old.cube).imply_all(new.cube)]:
            del kept[old]
        kept[new] = None
        self.solver.add_under(_label(new.location, new.level), new.term)

    def raise_to(self, one: Lemma, cube: Cube, level: int) -> None:
        """The lemma, perhaps stronger, at a higher level."""
        self.kept[one.location].pop(one, None)
        self.add(Lemma(one.location, cube, level))

    def at(self, level: int) -> Iterator[Lemma]:
        """The lemmas that reach this level and no further."""
        for lemmas in self.kept.values():
            yield from [one for one in lemmas if one.level == level]

    def is_fixpoint(self, level: int) -> bool:
        """F[level] = F[level + 1] at every location but the errors."""
        if any(first == level + 1 for name, first in self.first.items() if name not in self.program.bad):
            return False
        return next(self.at(level), None) is None

    def frame(self, location: str, level: int) -> Term:
        """F[level, location]"""
        if level < self.first[location]:
            return FALSE
        return conjunction(*(one.term for one in self.kept[location] if one.level >= level))


def _reasons(missing: Sequence[Term], images: Mapping[Term, Term | None]) -> Cube:
    """Literals whose images say what is missing."""
    found: dict[Term, None] = {}
    by_image = {image: c for c, image in images.items()}
    for wanted in missing:
        reason = by_image.get(wanted)
        if reason is None:
            reason = next(c for c, image in images.items() if image is not None and Facts((image,)).imply(wanted))
        found[reason] = None
    return tuple(found)


def _label(location: str, level: int) -> Term:
    return variable(f"{HIDDEN}{location} up to {'ever' if level == FOR_EVER else level}", BOOL)


def _costs(program: Automaton, *, turns: bool) -> dict[Edge, int]:
    """1 for every edge, or for those that lead back to a location on the way to them; the others form no circle."""
    if not turns:
        return dict.fromkeys(program.edges, 1)
    costs = dict.fromkeys(program.edges, 0)
    done, way = set[str](), {program.entry: iter(program.leaving[program.entry])}
    while way:
        at, edges = next(reversed(way.items()))
        for edge in edges:
            if edge.target in way:
                costs[edge] = 1
            elif edge.target not in done:
                way[edge.target] = iter(program.leaving[edge.target])
                break
        else:
            done.add(at)
            del way[at]
    return costs


def _first(program: Automaton, costs: Mapping[Edge, int]) -> dict[str, int]:
    """How many levels it takes to each location; where every edge is a level, only the entry is told apart [Alg. 2]."""
    if all(costs.values()):
        return {name: int(name != program.entry) for name in program.locations}
    first = dict.fromkeys(program.locations, NEVER)
    nearest, later = [program.entry], list[str]()
    level = 0
    while nearest:
        at = nearest.pop()
        if first[at] == NEVER:
            first[at] = level
            for edge in program.leaving[at]:
                (later if costs[edge] else nearest).append(edge.target)
        if not nearest:
            nearest, later, level = later, [], level + 1
    return first
