"""When an operation on machine integers leaves their type. Shared by `saturating` and `checked`."""

from __future__ import annotations

from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import MachineType
from streamcheck.lang.build import cast, mux, unsafe_cast
from streamcheck.lang.lib.parts import INTS, WORDS, of_one_type
from streamcheck.lang.stream import Operand, Stream
from streamcheck.lang.types import Bool, Word64, core_type


def machine_operands(call: str, *operands: Operand) -> tuple[MachineType, list[Stream]]:
    """The machine type that all operands have, and the operands as streams."""
    streams = of_one_type(list(operands), call)
    type = streams[0]._node.type
    if not isinstance(type, MachineType):
        raise SpecError(f"{call}: expected machine integers, found {type}", here())
    return type, streams


def cast_target(call: str, type: type[Any], s: object) -> MachineType:
    """The machine type to which a stream of integers or floats is converted."""
    target = core_type(type, call)
    source = s._node.type if isinstance(s, Stream) else None
    if not isinstance(target, MachineType) or source is None or not (source.is_integer or source.kind == "float"):
        found = f"{target} and {repr(s) if source is None else f'a stream of {source}'}"
        raise SpecError(f"{call}: expected a machine type and a stream of integers or floats, found {found}", here())
    return target


def cast_leaves(target: MachineType, s: Stream) -> tuple[Stream, Stream]:
    """Conditions that an integer stream is above and below what the target holds."""
    own = s._node.type
    above = not isinstance(own, MachineType) or own.high > target.high
    below = not isinstance(own, MachineType) or own.low < target.low
    return (s > target.high if above else Bool(False)), (s < target.low if below else Bool(False))


def sum_leaves(type: MachineType, a: Stream, b: Stream) -> tuple[Stream, Stream]:
    """Conditions that a + b is above and below what the type holds."""
    if not type.signed:
        return a + b < a, Bool(False)
    return (b > 0) & (a > type.high - b), (b < 0) & (a < type.low - b)


def difference_leaves(type: MachineType, a: Stream, b: Stream) -> tuple[Stream, Stream]:
    """Conditions that a - b is above and below what the type holds."""
    if not type.signed:
        return Bool(False), a < b
    return (b < 0) & (a > type.high + b), (b > 0) & (a < type.low + b)


def product_leaves(type: MachineType, a: Stream, b: Stream) -> tuple[Stream, Stream]:
    """Conditions that a * b is above and below what the type holds: by limits for the other factor of a constant, by a
    type of twice the width, or by a division."""
    for factor, other in ((a, b), (b, a)):
        if factor._node.op == "const":
            return _multiple_leaves(type, other, factor._node.payload)
    if type.width < 64:
        wide = (INTS if type.signed else WORDS)[2 * type.width]
        product = cast(wide, a) * cast(wide, b)
        return product > type.high, product < type.low if type.signed else Bool(False)
    if not type.signed:
        return (b != 0) & (a > type.high // _nonzero(b)), Bool(False)
    negative = (a < 0) ^ (b < 0)
    limit = mux(negative, Word64(1 << 63), (1 << 63) - 1)
    large = (b != 0) & (_magnitude(a) > limit // _nonzero(_magnitude(b)))
    return large & ~negative, large & negative


def _multiple_leaves(type: MachineType, a: Stream, factor: int) -> tuple[Stream, Stream]:
    """Conditions that a * factor is above and below what the type holds."""
    if factor == 0:
        return Bool(False), Bool(False)
    if factor > 0:
        return _is_above(type, a, type.high // factor), _is_below(type, a, -(-type.low // factor))
    return _is_below(type, a, -(type.high // -factor)), _is_above(type, a, type.low // factor)


def _is_above(type: MachineType, a: Stream, limit: int) -> Stream:
    return a > limit if limit < type.high else Bool(False)


def _is_below(type: MachineType, a: Stream, limit: int) -> Stream:
    return a < limit if limit > type.low else Bool(False)


def _magnitude(a: Stream) -> Stream:
    return unsafe_cast(Word64, mux(a < 0, -a, a))


def _nonzero(b: Stream) -> Stream:
    return mux(b == 0, 1, b)
