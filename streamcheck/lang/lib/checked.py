"""Arithmetic on machine integers that must not wrap around: each use is an implied property, `no overflow`, which is
proved or shown to fail. The value is that of the operator, so the C is the same.

    >>> level = extern("level", Word8, [100, 200, 255])
    >>> raised = checked.add(mux(level < 155, level, 155), 100)
    200  255  255
"""

from __future__ import annotations

from typing import Any

from streamcheck.core.types import FloatType
from streamcheck.lang.build import unsafe_cast
from streamcheck.lang.lib.overflow import (
    cast_leaves,
    cast_target,
    difference_leaves,
    machine_operands,
    product_leaves,
    sum_leaves,
)
from streamcheck.lang.lib.parts import require
from streamcheck.lang.stream import Operand, Stream

__all__ = ["add", "cast", "mul", "sub"]


def add(a: Operand, b: Operand) -> Stream:
    """`a + b`, which must not leave the type.

    x                     100 120   2
    checked.add(x, 100)   200 220 102
    """
    type, (x, y) = machine_operands("checked.add", a, b)
    return _without_overflow(x + y, sum_leaves(type, x, y))


def sub(a: Operand, b: Operand) -> Stream:
    """`a - b`, which must not leave the type.

    x                   100 120 2
    checked.sub(x, 2)    98 118 0
    """
    type, (x, y) = machine_operands("checked.sub", a, b)
    return _without_overflow(x - y, difference_leaves(type, x, y))


def mul(a: Operand, b: Operand) -> Stream:
    """`a * b`, which must not leave the type.

    x                   100 120 2
    checked.mul(x, 2)   200 240 4
    """
    type, (x, y) = machine_operands("checked.mul", a, b)
    return _without_overflow(x * y, product_leaves(type, x, y))


def cast(type: type[Any], s: Stream) -> Stream:
    """`s` as a machine type that need not hold every value of its type, but must hold those that occur. Floats are
    truncated.

        x                       100 120 2
        checked.cast(Int8, x)   100 120 2
    """
    target = cast_target("checked.cast(T, s)", type, s)
    value = unsafe_cast(type, s)
    if isinstance(s._node.type, FloatType):
        return value  # `unsafe_cast` of a float has the implied property itself
    above, below = cast_leaves(target, s)
    return require(value, ~(above | below), "cast in range")


def _without_overflow(result: Stream, leaves: tuple[Stream, Stream]) -> Stream:
    above, below = leaves
    return require(result, ~(above | below), "no overflow")
