"""Loops as C: `for` statements over arrays of the state, of the inputs, of constants, and over rings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamcheck.codegen import text
from streamcheck.codegen.block import Block, Commit, words_in
from streamcheck.codegen.expression import PRIMARY, SUM, CExpression, element
from streamcheck.codegen.families import Family
from streamcheck.codegen.loops import Loop
from streamcheck.codegen.lower import Ring
from streamcheck.core.operators import c_type
from streamcheck.core.term import Term
from streamcheck.core.types import array_of, machine

if TYPE_CHECKING:
    from streamcheck.codegen.step import StepWriter

COUNTER = machine(32, signed=False)
LONGEST_INVARIANT = 40  # characters of an expression that every round repeats


@dataclass(slots=True)
class LoopWriter:
    """Writes loops into the body of a step. `site` is that of the terms of all loops."""

    step: StepWriter
    site: int
    arrays: list[tuple[Term, ...]]
    gathered: dict[tuple[Term, ...], str] = field(default_factory=dict)

    def write_fold(self, loop: Loop) -> None:
        """The loop in the body; its result is the first accumulator."""
        assert loop.result is not None
        self.step.body.lines += self._lines(loop)
        self.step.texts[loop.result] = self.step.texts[loop.folds[0].hole]

    def commit(self, loop: Loop) -> Commit:
        """The replacement of the arrays that a loop changes."""
        states = [self.step.state_names[change.cells[0].name] for change in loop.changes]
        lines = self._lines(loop)
        return Commit(states[0], tuple(lines), frozenset(words_in(lines) & set(self.step.pieces())))

    def _lines(self, loop: Loop) -> list[str]:
        step, body = self.step, self.step.body
        for fold in loop.folds:
            self._accumulator(loop, fold.hole, step.expression(fold.initial, body, self.site))
        for term in loop.invariants:
            value = step.expression(term, body, self.site)
            if len(value.text) > LONGEST_INVARIANT and not text.is_composite(term.type):
                step.store(term, value, body)
        ring = self._ring_walked(loop)
        if ring is not None:
            return self._two_loops(loop, ring)
        counter = step.names.fresh("i")
        reads, advances = Block(), Block()
        for family in loop.families:
            self._place(family, counter, reads, advances)
        lines = self._round(loop, counter)
        head = f"for (uint32_t {counter} = 0u; {counter} < {loop.rounds}u; {counter}++) {{"
        return [head, *text.indent([*reads.lines, *lines, *advances.lines]), "}"]

    def _ring_walked(self, loop: Loop) -> Ring | None:
        """The ring whose elements are all that a loop reads by number: all of them, from the oldest on."""
        elements = [self.step.elements.get(family.terms[0]) for family in loop.families]
        ring = elements[0][0] if elements and elements[0] is not None else None
        if ring is None or loop.changes or any(e != (ring, 0) for e in elements):
            return None
        whole = loop.rounds == len(ring.cells) and all(f.step > 0 for f in loop.families)
        return ring if whole else None

    def _two_loops(self, loop: Loop, ring: Ring) -> list[str]:
        """From the oldest element to the end of the array, then from its beginning on."""
        step = self.step
        name, at = step.state_names[ring.name], step.state(step.indices[ring.name])
        counter = step.names.fresh("i")
        place = CExpression(step.state(name), PRIMARY, "", reads=frozenset([name]))
        for family in loop.families:
            index = CExpression(counter, PRIMARY, "uint32_t")
            step.texts[family.hole] = element(place, index, c_type(family.hole.type))
        lines = text.indent(self._round(loop, counter))
        return [
            f"for (uint32_t {counter} = {at}; {counter} < {loop.rounds}u; {counter}++) {{",
            *lines,
            "}",
            f"for (uint32_t {counter} = 0u; {counter} < {at}; {counter}++) {{",
            *lines,
            "}",
        ]

    def _accumulator(self, loop: Loop, hole: Term, initial: CExpression) -> None:
        step = self.step
        named = step.lowered.names.get(loop.result) if loop.result is not None and hole is loop.folds[0].hole else None
        name = step.names.fresh(named.name if named else "folded")
        step.note(named, step.body)
        step.declare_variable(hole.type, name, initial)
        step.texts[hole] = CExpression(name, PRIMARY, c_type(hole.type))

    def _round(self, loop: Loop, counter: str) -> list[str]:
        """The statements of a round. All values are computed before the first is replaced that another one reads."""
        step, block = self.step, Block()
        names = [step.state_names[change.cells[0].name] for change in loop.changes]
        targets = [
            (name, f"{step.state(name)}[{counter}]", c.after) for name, c in zip(names, loop.changes, strict=True)
        ]
        targets += [(step.texts[f.hole].text, step.texts[f.hole].text, f.after) for f in loop.folds]
        values = [step.expression(after, block, self.site) for _, _, after in targets]
        assignments = []
        for at, ((_, place, after), value) in enumerate(zip(targets, values, strict=True)):
            if words_in([value.text]) & {name for name, _, _ in targets[:at]}:  # it reads what is replaced by then
                value = step.store(after, value, block)
            kept = text.kept_type(after.type) if at < len(names) else after.type
            assignments.append(step.copy_statement(after.type, place, step.convert(value, kept).text))
        return [*block.lines, *assignments]

    # The values of holes

    def _place(self, family: Family, counter: str, reads: Block, advances: Block) -> None:
        """Makes the text of a hole, with statements at the beginning and at the end of a round."""
        step, first, type = self.step, family.terms[0], c_type(family.hole.type)
        if first in step.elements:
            self._ring_place(family, advances)
            return
        if is_run(family.terms, step.members):
            step.texts[family.hole] = self._member(family, counter, reads)
            return
        if first.op == "index":
            place, start = step.expression(first.args[0], step.body, self.site), int(first.args[1].payload)
        elif first in step.batch_places:
            name, start = step.batch_places[first]
            place = CExpression(step.state(name), PRIMARY, "", reads=frozenset([name]))
        else:
            array, start = self._array_of(family.terms)
            place = CExpression(array, PRIMARY, "")
        index = CExpression(counter, PRIMARY, "uint32_t")
        if start:
            index = CExpression(f"{counter} + {start}u", SUM, "uint32_t")
        step.texts[family.hole] = element(place, index, type)

    def _member(self, family: Family, counter: str, reads: Block) -> CExpression:
        """One of the members of the inputs that follow each other: C has no other way to it than its bytes."""
        step, names = self.step, self.step.names
        first = names.extern(family.terms[0].payload)
        name = names.fresh(re.sub(r"\d*$", "", first) or "member")
        step.locals.append(family.hole.type)
        type = c_type(family.hole.type)
        self._check_that_dense(type, first, names.extern(family.terms[-1].payload), len(family.terms) - 1)
        start = f"(const uint8_t *){names.inputs} + offsetof({names.spec}_inputs, {first})"
        reads.lines.append(f"const {type} {name} = *(const {type} *)({start} + ({counter} * sizeof({type})));")
        return CExpression(name, PRIMARY, c_type(family.hole.type))

    def _check_that_dense(self, type: str, first: str, last: str, distance: int) -> None:
        """The compiler must find no padding between these members of the inputs."""
        checks, names = self.step.checks, self.step.names
        if (first, last) not in checks:
            name, struct = names.fresh_at_file(f"{first}_dense"), f"{names.spec}_inputs"
            far = f"(offsetof({struct}, {first}) + ({distance}u * sizeof({type})))"
            checks[first, last] = f"typedef char {name}[(offsetof({struct}, {last}) == {far}) ? 1 : -1];"

    def _ring_place(self, family: Family, advances: Block) -> None:
        step = self.step
        ring, position = step.elements[family.terms[0]]
        name, last = step.state_names[ring.name], len(ring.cells) - 1
        at = step.names.fresh(f"{name}_each")
        step.declare_variable(COUNTER, at, step.ring_index(ring, position))
        array = CExpression(step.state(name), PRIMARY, "", reads=frozenset([name]))
        index = CExpression(at, PRIMARY, "uint32_t")
        step.texts[family.hole] = element(array, index, c_type(family.hole.type))
        if family.step > 0:
            advances.lines.append(f"{at} = ({at} == {last}u) ? 0u : ({at} + 1u);")
        else:
            advances.lines.append(f"{at} = ({at} == 0u) ? {last}u : ({at} - 1u);")

    def _array_of(self, terms: tuple[Term, ...]) -> tuple[str, int]:
        """An array with these values, and where they begin in it: of constants a table, of inputs a local variable."""
        step = self.step
        wanted = next(all_of for all_of in self.arrays if start_in(terms, all_of) is not None)
        if wanted not in self.gathered:
            type = array_of(wanted[0].type, len(wanted))
            if wanted[0].is_const:
                self.gathered[wanted] = step.add_table(type, [text.literal(t.type, t.payload).text for t in wanted])
            else:
                name = step.names.fresh(re.sub(r"\d*$", "", str(wanted[0].payload)) or "gathered")
                values = [step.convert(step.expression(t, step.body, self.site), t.type).text for t in wanted]
                step.locals.append(type)
                lines = text.braced_lines(values)
                step.body.lines += [f"const {text.declaration(type, name)} = {{", *lines, "};"]
                self.gathered[wanted] = name
        return self.gathered[wanted], start_in(terms, wanted) or 0


def arrays_to_gather(loops: Iterable[Loop], members: Sequence[Term]) -> list[tuple[Term, ...]]:
    """The values that loops read from arrays made for them, long ones first: they may contain others."""
    families = [f.terms for loop in loops for f in loop.families]
    wanted = [t for t in families if t[0].op in ("const", "var") and not is_run(t, members)]
    return sorted(dict.fromkeys(wanted), key=len, reverse=True)


def is_run(terms: tuple[Term, ...], members: Sequence[Term]) -> bool:
    """True if the terms are members of the inputs that follow each other."""
    return start_in(terms, members) is not None


def start_in(terms: tuple[Term, ...], others: Sequence[Term]) -> int | None:
    """Where the terms begin, one after the other, among others."""
    starts = (i for i, t in enumerate(others) if t is terms[0])
    return next((i for i in starts if tuple(others[i : i + len(terms)]) == terms), None)
