"""Lemma tightening: from a blocked cube to a smaller one, whose negation says more.

Slides, "Lemma tightening": with J1 the literals of B in the unsatisfiable core of I ∧ B, and J2 those in the core of
F[i-1] ∧ ¬B ∧ T ∧ B', the lemma is the negation of the cube of *all* literals in J1 or J2. (The slide prints the
disjunction of the two cubes, which is unsound: with I: x = y = 0, T: x' = x + 1, y' = 1 - y, F: x >= 0 and B: x < 0 ∧
y = 1 it would exclude y = 1, which is reached.)

Ingredients, each of which an option switches off:

    "tighten"  the two cores; then every literal left is tried without [EMB11, sec. V; IC3ref `mic`]
    "split"    equalities as two inequalities before, rejoined after (slides, "A naive patch")
    "box"      the axis-aligned bounding box of the cube tried in its place (slides, "A more general and powerful idea")
    "widen"    a bound moved as far as the initial states allow (ours: in `x <= -7` of a counter from 0 the 7 is chance)
    "push"     a new lemma tried at the next frames at once

Everything here rests on one question, `Frames.reaches`; nothing is kept that it did not answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from streamcheck.core.term import Term, constant, term
from streamcheck.engines.ic3.cubes import Cube, is_bound, rejoined, split, strongest
from streamcheck.engines.ic3.frames import FOR_EVER, Frames
from streamcheck.smt.box import bounding_box

MOST_DROPS = 30  # literals tried without, per lemma (heuristic)


@dataclass(frozen=True, slots=True)
class Tightening:
    frames: Frames
    options: Mapping[str, bool]

    def on(self, name: str) -> bool:
        return self.options.get(name, True)

    def prepared(self, cube: Cube) -> Cube:
        return strongest(split(cube)) if self.on("split") else cube

    def lemma(self, cube: Cube, context: Cube, level: int) -> tuple[Cube, int]:
        """The cube to exclude and the frame it holds in, after `reaches(cube, level - 1)` said no."""
        if not self.on("tighten"):
            return cube, level
        shrunk, highest = self.after_core(cube)
        if self.on("box"):
            shrunk, highest = self._box(cube, context, level) or (shrunk, highest)
        shrunk, highest = self._dropped(shrunk, level, highest)
        if self.on("widen"):
            shrunk, highest = self._widened(shrunk, level, highest)
        return rejoined(shrunk), highest

    def after_core(self, cube: Cube) -> tuple[Cube, int]:
        """J1 ∪ J2, and the frame the core reaches."""
        needed, highest = self.frames.core(cube)
        return self.apart(cube, needed), highest

    def apart(self, cube: Cube, needed: Cube) -> Cube:
        """`needed`, with literals of the cube that keep it from the initial states (J1)."""
        excluding = self.frames.excluding(cube)
        if excluding:
            return needed if set(excluding) & set(needed) else (*needed, excluding[0])
        if not self.frames.is_initial(needed):
            return needed
        for literal in cube:  # initial values alone do not tell: take literals until the cube is apart
            if literal not in needed:
                needed = (*needed, literal)
                if not self.frames.is_initial(needed):
                    break
        return needed

    def _try(self, cube: Cube, level: int) -> tuple[Cube, int] | None:
        """A smaller cube still, where this one can be excluded from F[level]."""
        # F[i-1] ∧ ¬c ∧ A ∧ T ∧ c'
        if not cube or self.frames.is_initial(cube) or self.frames.reaches(cube, level - 1):
            return None
        return self.after_core(cube)

    def _box(self, cube: Cube, context: Cube, level: int) -> tuple[Cube, int] | None:
        box = bounding_box((*cube, *context))
        return None if box is None else self._try(box, level)

    def _dropped(self, cube: Cube, level: int, highest: int) -> tuple[Cube, int]:
        """Literal by literal: what is not needed goes."""
        for literal in cube[:MOST_DROPS]:
            if literal in cube and len(cube) > 1:
                found = self._try(tuple(c for c in cube if c is not literal), level)
                if found is not None:
                    cube, highest = found
        return cube, highest

    def _widened(self, cube: Cube, level: int, highest: int) -> tuple[Cube, int]:
        """Bounds moved to where the initial states begin."""
        for literal in cube:
            wider = self._wider(literal)
            if wider is not None and literal in cube:
                found = self._try(tuple(wider if c is literal else c for c in cube), level)
                if found is not None:
                    cube, highest = found
        return cube, highest

    def _wider(self, literal: Term) -> Term | None:
        if not is_bound(literal):
            return None
        total, bound = literal.args
        start = self.frames.initial_value(total)
        if start is None or total.type.kind != "integer":
            return None
        edge = start + 1 if literal.op == "ge" else start - 1  # type: ignore[operator]
        further = edge < bound.payload if literal.op == "ge" else edge > bound.payload
        return term(literal.op, total, constant(total.type, edge)) if further else None

    def pushed(
        self, cube: Cube, level: int, top: int, stop: Callable[[int], bool] = lambda _: False
    ) -> tuple[Cube, int]:
        """The cube, perhaps smaller, at the highest frame up to `top` + 1 where it can be excluded."""
        while level <= top and level < FOR_EVER and self.on("push"):
            # F[i] ∧ ¬c ∧ A ∧ T ∧ c'
            if self.frames.reaches(cube, level):
                break
            if self.on("tighten"):
                cube, level = self.after_core(cube)
            else:
                level += 1
        return cube, level
