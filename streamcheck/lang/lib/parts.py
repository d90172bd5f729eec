"""Shared by the library's modules: recursion, words that are wide enough, and checks of arguments.

Library code runs when the user calls it, never later, so every node and every mistake has the user's line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import BOOL, ArrayType, Type
from streamcheck.lang.build import mux
from streamcheck.lang.node import Node, Requirement, StreamDefinition
from streamcheck.lang.stream import Operand, Stream, append, make, node_of, nodes_of_one_type
from streamcheck.lang.types import Int8, Int16, Int32, Int64, Word8, Word16, Word32, Word64, core_type
from streamcheck.problem.claim import Goal

Operands: TypeAlias = "Sequence[Operand] | Stream"

WORDS: dict[int, type[Stream]] = {8: Word8, 16: Word16, 32: Word32, 64: Word64}
INTS: dict[int, type[Stream]] = {8: Int8, 16: Int16, 32: Int32, 64: Int64}


def recur(kind: type[Stream] | Type, initial: list[Operand], step: Callable[[Stream], Stream]) -> Stream:
    """The stream `x` with `x = step(initial ++ x)`: a cell for each initial value.

    `@stream` evaluates its body too late: the nodes made then would have the line of `spec.run(…)`."""
    where = here()
    type = kind if isinstance(kind, Type) else core_type(kind, "recur")
    definition = StreamDefinition("", type, step, where)
    definition.stream = again = make(Node("ref", (), definition.type, definition, where=where))
    definition.body = step(append(initial, again))._node
    assert definition.body.type is definition.type
    return again


def require(value: Stream, condition: Stream, name: str, goal: Goal = Goal.ALWAYS) -> Stream:
    """The value itself, with the implied property `file:line name`: where the value matters, the condition holds
    always, or at some step of some run."""
    node = value._node
    return make(Node("require", (node, condition._node), node.type, Requirement(name, goal), where=here()))


def age_of(s: Stream, most: int, kept: Stream | None = None) -> Stream:
    """How many steps ago `s` last held, at most `most`, which also stands for never. If `kept` is false, all before
    is forgotten."""

    def after(before: Stream) -> Stream:
        younger = before < most
        return mux(s, 0, mux(younger if kept is None else younger & kept, before + 1, most))

    return recur(word_for(most), [most], after)


def run_of(s: Stream, most: int) -> Stream:
    """For how many steps in a row `s` has held, now included, at most `most`."""
    return recur(word_for(most), [0], lambda before: mux(s, mux(before < most, before + 1, most), 0))


def word_for(highest: int) -> type[Stream]:
    """The smallest word that holds 0 to `highest`."""
    for width, word in WORDS.items():
        if highest < 1 << width:
            return word
    raise SpecError(f"no Word type holds {highest}", here())


def bool_stream(operand: Operand, what: str) -> Stream:
    """A Bool stream, `True` and `False` included."""
    if not isinstance(operand, Stream | bool):
        raise SpecError(f"{what}: expected a Bool stream, found {operand!r}", here())
    node = node_of(operand, BOOL)
    if node.type is not BOOL:
        raise SpecError(f"{what}: expected Bool, found {node.type}", here())
    return make(node)


def elements_of(operands: object, what: str) -> list[Operand]:
    """The elements of a list, or of an array stream: at least one."""
    if isinstance(operands, Stream) and not isinstance(operands._node.type, ArrayType):
        raise SpecError(f"{what}: expected a list of streams, found one of {operands._node.type}", here())
    if not isinstance(operands, Iterable) or isinstance(operands, str | dict):
        raise SpecError(f"{what}: expected a list of streams, found {operands!r}", here())
    elements = list(operands)
    if not elements:
        raise SpecError(f"{what} of an empty list", here())
    return elements


def of_one_type(operands: list[Operand], what: str) -> list[Stream]:
    """Streams that all have one type; literals take it."""
    nodes = nodes_of_one_type(*operands)
    for node in nodes:
        if node.type is not nodes[0].type:
            raise SpecError(f"{what} of different types, {nodes[0].type} and {node.type}", here())
    return [make(node) for node in nodes]


def whole_number(value: object, least: int, what: str) -> int:
    """A Python int, at least `least`."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        given = f"a stream of {value._node.type}" if isinstance(value, Stream) else repr(value)
        raise SpecError(f"{what}: expected an integer of at least {least}, found {given}", here())
    return value
