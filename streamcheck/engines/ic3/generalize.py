"""Generalisation: from a blocked cube to a smaller one, whose negation is stronger.

[Laurent, "Lemma tightening"]: with J1 the literals of B in the unsatisfiable core of I ∧ B, and J2 those in the core of
F[i-1] ∧ ¬B ∧ T ∧ B', the lemma is the negation of the cube of *all* literals in J1 or J2. ([Laurent] prints the
disjunction of the two cubes, which is unsound: with I: x = y = 0, T: x' = x + 1, y' = 1 - y, F: x >= 0 and B: x < 0 ∧
y = 1 it would exclude y = 1, which is reached.)

Ingredients, each of which an option switches off:

    "tighten"  the two cores; then every literal left is tried without [EMB11, sec. V; IC3ref `mic`; Werner,
               3.4, "Generalization of States"]
    "split"    equalities as two inequalities before, rejoined after [Laurent, "A naive patch"]
    "box"      the axis-aligned bounding box of the cube tried in its place [Laurent, "A more general … idea"]
    "widen"    a bound moved as far as the initial states allow (ours: in `x <= -7` of a counter from 0 the 7 is
               chance); that of a float to a number that the system speaks of, or its neighbour
    "push"     a new lemma tried at the next frames at once

Everything here rests on one question, `Generalization.exclusion`; no lemma is kept without its answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from streamcheck.core.term import FALSE, Term, constant, term
from streamcheck.engines.ic3.cubes import Cube, is_bound, rejoin, split
from streamcheck.engines.ic3.frames import Frames
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.options import PdrOptions
from streamcheck.engines.ic3.space import Exclusion
from streamcheck.smt.box import bounding_box

MOST_DROPS = 30  # literals tried without, per lemma (heuristic)


@dataclass(frozen=True, slots=True)
class Generalization:
    frames: Frames
    options: PdrOptions

    def exclusion(self, place: str, cube: Cube, level: int) -> Exclusion | None:
        """The reason why no transition leads into the cube at the place; None if one does."""
        exclusions = []
        for transition in self.frames.space.entering[place]:
            one = self.frames.syntactic_exclusion(transition, cube, level)
            one = one or self.frames.exclusion(transition, cube, level, inductive=self.options.inductive)
            if one is None:
                return None
            exclusions.append(one)
        return Exclusion.of_all(cube, exclusions)

    def lemma(self, one: Obligation) -> tuple[Cube, int]:
        """The cube to exclude, and the level up to which it is, if all transitions into the obligation are passed."""
        if not self.options.tighten:
            return one.cube, one.level
        blocked = one.exclusion
        cube, highest = self.after_core(one.place, one.cube, blocked), blocked.level
        if blocked.asked:
            if self.options.box:
                cube, highest = self._box(one) or (cube, highest)
            cube, highest = self._without_literals(one, split(cube) if self.options.split else cube, highest)
            if self.options.widen:
                cube, highest = self._widen(one, cube, highest)
        return rejoin(cube), highest

    def after_core(self, place: str, cube: Cube, exclusion: Exclusion) -> Cube:
        """J1 ∪ J2: the literals needed, with literals of the cube that keep it from the initial states (J1)."""
        needed = exclusion.needed
        if self.frames.space.initial[place] is FALSE:
            return needed
        excluding = self.frames.excluding_literals(cube)
        if excluding:
            return needed if set(excluding) & set(needed) else (*needed, excluding[0])
        if not self.frames.is_initial(place, needed):
            return needed
        for literal in cube:  # initial values alone do not show it: take literals until the cube is apart
            if literal not in needed:
                needed = (*needed, literal)
                if not self.frames.is_initial(place, needed):
                    break
        return needed

    def _try(self, place: str, cube: Cube, level: int) -> tuple[Cube, int] | None:
        """A still smaller cube, if this one can be excluded from F[level]."""
        if self.frames.is_initial(place, cube):
            return None
        exclusion = self.exclusion(place, cube, level)
        return None if exclusion is None else (self.after_core(place, cube, exclusion), exclusion.level)

    def _box(self, one: Obligation) -> tuple[Cube, int] | None:
        box = bounding_box((*one.cube, *one.context))
        return None if box is None else self._try(one.place, box, one.level)

    def _without_literals(self, one: Obligation, cube: Cube, highest: int) -> tuple[Cube, int]:
        """Literal by literal: drop what is not needed."""
        for literal in cube[:MOST_DROPS]:
            if literal in cube:
                smaller = self._try(one.place, tuple(c for c in cube if c is not literal), one.level)
                if smaller is not None:
                    cube, highest = smaller
        return cube, highest

    def _widen(self, one: Obligation, cube: Cube, highest: int) -> tuple[Cube, int]:
        """Widen bounds as far as the initial states allow."""
        for literal in cube:
            if literal in cube:
                cube, highest = self._widen_bound(one, cube, literal, highest)
        return cube, highest

    def _widen_bound(self, one: Obligation, cube: Cube, literal: Term, highest: int) -> tuple[Cube, int]:
        """The cube with the widest of the bounds that can take the literal's place, as a bisection finds it."""
        wider = self._wider(literal)
        low, high = 0, len(wider)
        while low < high and literal in cube:
            middle = (low + high) // 2
            larger = self._try(one.place, tuple(wider[middle] if c is literal else c for c in cube), one.level)
            if larger is None:
                low = middle + 1
            else:
                (cube, highest), literal, high = larger, wider[middle], middle
        return cube, highest

    def _wider(self, literal: Term) -> list[Term]:
        """Bounds that the literal implies, the widest first."""
        if not is_bound(literal):
            return []
        total, bound = literal.args
        start = self.frames.initial_value(total)
        rises = literal.op in ("ge", "gt")
        if total.type.kind == "float":
            marks = [m for m in self.frames.space.landmarks.get(total.type, ()) if _is_between(m, start, bound, rises)]
            op, order = ("ge", marks) if rises else ("le", marks[::-1])
            return [term(op, total, constant(total.type, m)) for m in order]
        if start is None or total.type.kind != "integer":
            return []
        edge = start + 1 if literal.op == "ge" else start - 1  # type: ignore[operator]
        return [term(literal.op, total, constant(total.type, edge))] if _is_between(edge, start, bound, rises) else []

    def push(self, place: str, cube: Cube, level: int, top: int) -> tuple[Cube, int]:
        """The cube, which may be smaller, at the highest frame up to `top` + 1 that can exclude it."""
        while level <= top and self.options.push:
            next_one = self.raise_level(place, cube, level)
            if next_one is None:
                break
            cube, level = next_one
        return cube, level

    def raise_level(self, place: str, cube: Cube, level: int) -> tuple[Cube, int] | None:
        """The cube of a lemma of F[level], which may be smaller, and a higher level at which it holds; None if it does
        not hold at the next level."""
        exclusion = self.exclusion(place, cube, level + 1)
        if exclusion is None:
            return None
        if not self.options.tighten:
            return cube, level + 1
        return self.after_core(place, cube, exclusion), exclusion.level


def _is_between(mark: Any, start: Any, bound: Term, rises: bool) -> bool:
    """True if a bound at the mark is wider than this one, and excludes the initial value, if there is one."""
    if rises:
        return bool(mark < bound.payload and (start is None or start < mark))
    return bool(mark > bound.payload and (start is None or start > mark))
