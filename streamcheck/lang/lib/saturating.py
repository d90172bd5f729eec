"""Arithmetic on machine integers that stops at the ends of the type instead of wrapping around.

>>> level = extern("level", Word8, [100, 200, 255])
>>> raised = saturating.add(level, 100)
200  255  255
"""

from __future__ import annotations

from typing import Any

from streamcheck.core.types import FloatType, MachineType
from streamcheck.lang.build import mux, unsafe_cast
from streamcheck.lang.lib.overflow import (
    cast_leaves,
    cast_target,
    difference_leaves,
    machine_operands,
    product_leaves,
    sum_leaves,
)
from streamcheck.lang.stream import Operand, Stream

__all__ = ["add", "cast", "mul", "sub"]


def add(a: Operand, b: Operand) -> Stream:
    """`a + b`, at most the largest and at least the smallest value of the type.

    x                        100 200 255
    saturating.add(x, 100)   200 255 255
    """
    type, (x, y) = machine_operands("saturating.add", a, b)
    return _limit(type, x + y, sum_leaves(type, x, y))


def sub(a: Operand, b: Operand) -> Stream:
    """`a - b`, at most the largest and at least the smallest value of the type.

    x                        100 200 255
    saturating.sub(x, 150)     0  50 105
    """
    type, (x, y) = machine_operands("saturating.sub", a, b)
    return _limit(type, x - y, difference_leaves(type, x, y))


def mul(a: Operand, b: Operand) -> Stream:
    """`a * b`, at most the largest and at least the smallest value of the type.

    x                       50 100 255
    saturating.mul(x, 2)   100 200 255
    """
    type, (x, y) = machine_operands("saturating.mul", a, b)
    return _limit(type, x * y, product_leaves(type, x, y))


def cast(type: type[Any], s: Stream) -> Stream:
    """The nearest value of the machine type: what is above becomes its largest, what is below its smallest value.
    Floats are truncated; NaN becomes 0.

        x                          50 128 255
        saturating.cast(Int8, x)   50 127 127
    """
    target = cast_target("saturating.cast(T, s)", type, s)
    if isinstance(s._node.type, FloatType):
        # Both ends are powers of two (or 0), so a float has them exactly.
        inside = mux(s >= float(target.low), unsafe_cast(type, s), mux(s < 0.0, type(target.low), 0))
        return mux(s >= float(target.high + 1), type(target.high), inside)
    return _limit(target, unsafe_cast(type, s), cast_leaves(target, s))


def _limit(type: MachineType, result: Stream, leaves: tuple[Stream, Stream]) -> Stream:
    above, below = leaves
    return mux(above, type.high, mux(below, type.low, result))
