"""The inputs that a step reads: each once on every path, before the first handler is called.

An input is sampled into a local variable at the beginning. One that only arms of an `if` need is read there instead, so
a path that does not need it does not read it: in place if no path needs it twice, else into a local variable of the
arm. (Read in place outside of arms, it would only keep the pointer to the inputs alive for longer.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING

from streamcheck.codegen import text
from streamcheck.codegen.expression import PRIMARY, CExpression, element
from streamcheck.codegen.usage import constant_index, sampled_paths
from streamcheck.core.c_names import member_name
from streamcheck.core.operators import c_type
from streamcheck.core.term import Term, walk
from streamcheck.core.types import ArrayType, StructType, Type

if TYPE_CHECKING:
    from streamcheck.codegen.step import StepWriter

MOST_USES = 16  # of an input that is read in several places


@dataclass(slots=True)
class InputSampler:
    step: StepWriter
    sampled: dict[str, tuple[str, Type]] = field(default_factory=dict)  # local variables: the input, its type

    def sample(self) -> None:
        step = self.step
        names = step.names
        whole, leaves = sampled_paths(step.lowered)
        read = {*walk(step.lowered.all_roots()), *(t for terms in step.loops.arrays for t in terms)}
        for given in step.lowered.inputs:
            name = names.extern(given.name)
            source = name if names.copilot else f"{names.inputs}->{name}"
            place = CExpression(source, PRIMARY, c_type(given.type))
            if given.var in whole or (given.var in read and not text.is_composite(given.type)):
                self._sample_into_local(given.var, place, given.name)
            else:
                step.texts[given.var] = place
        for node in leaves:
            if node.op == "var" or node.args[0] in whole:
                continue
            part = self.part(node)
            if node in whole or not text.is_composite(node.type):
                self._sample_into_local(node, part, part.text.removeprefix(f"{names.inputs}->").replace("]", ""))
            else:
                step.texts[node] = part

    def _sample_into_local(self, node: Term, place: CExpression, wish: str) -> None:
        step = self.step
        name = step.names.fresh(wish + ("_now" if step.names.copilot and node.op == "var" else ""))
        step.declare(node.type, name, place, step.body)
        step.texts[node] = CExpression(name, PRIMARY, c_type(node.type))
        if not step.names.copilot and not isinstance(node.type, ArrayType):
            self.sampled[name] = place.text, node.type

    def part(self, node: Term) -> CExpression:
        """An element at a known index, or a field, of something that has a place."""
        place = self.step.texts[node.args[0]]
        if node.op == "field":
            assert isinstance(node.args[0].type, StructType)
            member = member_name(node.args[0].type.fields[node.payload][0])
            is_pointed_to = place.text.startswith("(*") and place.text.endswith(")")
            path = f"{place.text[2:-1]}->{member}" if is_pointed_to else f"{place.text}.{member}"
            return replace(place, text=path, type=c_type(node.type))
        index = constant_index(node)
        return element(place, CExpression(f"{index}", PRIMARY, "int32_t"), c_type(node.type))

    def read_late(self, lines: list[str]) -> list[str]:
        """The statements of the step, in which each input is read where it is needed."""
        handlers = [self.step.names.call(t.name)[0] for t in self.step.lowered.triggers]
        reads = late_reads(lines, self.sampled, handlers)
        for name in reads:
            self.step.locals.remove(self.sampled[name][1])
        written = []
        for number, line in enumerate(lines):
            if declared_name(line) in reads:
                continue
            for name in [name for name, read in reads.items() if number in read.in_place]:
                line = re.sub(_word(name), self.sampled[name][0], line)
            written.append(line)
            for name in [name for name, read in reads.items() if number in read.declared]:
                place, type = self.sampled[name]
                self.step.locals.append(type)
                margin = line[: len(line) - len(line.lstrip())] + text.INDENT
                written.append(f"{margin}const {text.declaration(type, name)} = {place};")
        return written


def declared_name(line: str) -> str:
    """The constant that a line declares, or an empty string."""
    found = re.match(r"\s*const (?:struct )?\w+ (\w+) = ", line)
    return found[1] if found else ""


def _word(name: str) -> str:
    """The pattern of a name that is no member."""
    return rf"(?<![\w.])(?<!->){re.escape(name)}\b"


@dataclass(frozen=True, slots=True)
class Arm:
    """Statements in braces: of an `if` that begins at the line `branch`; their own first line is `opened`."""

    branch: int
    opened: int


@dataclass(frozen=True, slots=True)
class Use:
    """A line that reads an input, and the arms that it is in, the outermost first."""

    line: int
    arms: tuple[Arm, ...]


@dataclass(slots=True)
class LateReads:
    """Where an input is read: in lines that need it, or into a local variable after lines that open an arm."""

    in_place: set[int] = field(default_factory=set)
    declared: set[int] = field(default_factory=set)


def late_reads(lines: Iterable[str], names: Iterable[str], handlers: Iterable[str]) -> dict[str, LateReads]:
    """For the local variables that hold an input which can be read later, and still once on every path at most."""
    late: dict[str, LateReads] = {}
    for name, uses in _uses(lines, names, handlers).items():
        reads = LateReads()
        if uses and all(use.arms for use in uses) and _settle(uses, 0, reads):
            late[name] = reads
    return late


def _settle(uses: list[Use], depth: int, reads: LateReads) -> bool:
    """Decides for uses in one arm, which is at this depth. False if they need a local variable outside of all arms."""
    if len(uses) <= MOST_USES and all(_exclude(a, b) for a, b in combinations(uses, 2)):
        reads.in_place.update(use.line for use in uses)
        return True
    inside = {use.arms[depth] for use in uses if len(use.arms) > depth}
    if len({arm.branch for arm in inside}) == 1 and all(len(use.arms) > depth for use in uses):
        return all(_settle([use for use in uses if use.arms[depth] == arm], depth + 1, reads) for arm in inside)
    if depth:
        reads.declared.add(uses[0].arms[depth - 1].opened)
    return depth > 0


def _exclude(a: Use, b: Use) -> bool:
    """True if no path goes through both."""
    differing = next(((x, y) for x, y in zip(a.arms, b.arms, strict=False) if x != y), None)
    return differing is not None and differing[0].branch == differing[1].branch


def _uses(lines: Iterable[str], names: Iterable[str], handlers: Iterable[str]) -> dict[str, list[Use]]:
    """The uses of each name. None if there is one in a loop, in a list, or beside or after a call of a handler."""
    uses: dict[str, list[Use]] = {name: [] for name in names}
    words = re.compile("|".join(f"{_word(name)}" for name in uses) or r"(?!)")
    calls = re.compile("|".join(rf"\b{re.escape(handler)}\(" for handler in handlers) or r"(?!)")
    arms: list[Arm] = []
    loops: list[bool] = []  # for each arm
    called = False
    for number, line in enumerate(lines):
        bare = line.strip()
        if bare.startswith("/*"):
            continue
        closed = arms.pop() if bare.startswith("}") else None
        if closed is not None:
            loops.pop()
        called = called or bool(calls.search(bare))
        is_loop = bare.startswith("for ")
        is_fixed = called or is_loop or any(loops) or not bare.endswith((";", "{", "}"))
        for name in words.findall(bare):
            if name in uses and name != declared_name(line):
                uses[name].append(Use(number, tuple(arms)))
                if is_fixed:
                    del uses[name]
        if bare.endswith("{"):
            continues = closed is not None and bare != "{"
            arms.append(Arm(closed.branch if closed is not None and continues else number, number))
            loops.append(is_loop)
    return uses
