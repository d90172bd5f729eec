"""Sums, extremes and means over a window of n steps, the present one first (Copilot.Library.Statistics).

The window looks ahead with `drop`, as Copilot's does: now and the next n - 1 steps. The stream must be
known that far ahead; on an input `drop` is an error. For the *last* n steps of an input, now included,
delay it by n - 1 values that stand for the time before the first step: `mean(3, [0, 0] ++ x)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import MachineType
from streamcheck.lang.build import cast, drop, maximum, minimum, unsafe_cast
from streamcheck.lang.lib.parts import WORDS, Operands, elements_of, of_one_type, whole_number
from streamcheck.lang.stream import Operand, Stream
from streamcheck.lang.types import Int8, Int16, Int32, Int64

INTS: dict[int, type[Stream]] = {8: Int8, 16: Int16, 32: Int32, 64: Int64}


def max(n: int, s: Operand) -> Stream:
    """The largest of the `n` values. Among floats a NaN is as in `maximum`, from left to right."""
    return reduce(maximum, _window(n, s, "max"))


def min(n: int, s: Operand) -> Stream:
    """The smallest of the `n` values. Among floats a NaN is as in `minimum`, from left to right."""
    return reduce(minimum, _window(n, s, "min"))


def sum(n: int, s: Operand) -> Stream:
    """The sum of the `n` values, in the stream's type: machine integers wrap around (`sum(n, cast(Word32,
    s))` has room), floats round after each addition, from left to right."""
    return _total(_window(n, s, "sum"))


def mean(n: int, s: Operand) -> Stream:
    """The mean of the `n` values, in the stream's type. Of integers: the exact mean rounded down, as `//`
    does; it never overflows, because the sum is taken in a wider type, or in parts if there is none. Of
    Float and Double: `sum(n, s) / n`, which may overflow to infinity. Of Real: exact. (Copilot's is for
    floats only.)"""
    return _mean(_window(n, s, "mean"))


def mean_now(xs: Operands) -> Stream:
    """The mean of the present values of several streams of one type, with the types of `mean`.
    (Copilot's sum wraps around.)"""
    return _mean([_number(x, "mean_now") for x in of_one_type(elements_of(xs, "mean_now"), "mean_now")])


def _window(n: int, s: Operand, name: str) -> list[Stream]:
    (stream,) = of_one_type([s], f"{name}(n, s)")
    _number(stream, f"{name}(n, s)")
    return [drop(i, stream) for i in range(whole_number(n, 1, f"{name}(n, s): n"))]


def _number(stream: Stream, what: str) -> Stream:
    if not stream._node.type.is_number:
        raise SpecError(f"{what}: expected a stream of numbers, found a stream of {stream._node.type}", here())
    return stream


def _total(values: list[Stream]) -> Stream:
    add: Callable[[Stream, Stream], Stream] = lambda a, b: a + b  # noqa: E731
    return reduce(add, values)


def _mean(values: list[Stream]) -> Stream:
    type, n = values[0]._node.type, len(values)
    if not isinstance(type, MachineType):
        return _total(values) // n if type.is_integer else _total(values) / n
    classes = INTS if type.signed else WORDS
    for width, wide in classes.items():
        if n << type.width <= 1 << width:  # n times the type's range
            return unsafe_cast(classes[type.width], _total([cast(wide, v) for v in values]) // n)
    # x = n * (x // n) + x % n, so the mean is the sum of the quotients and the mean of the remainders.
    return _total([v // n for v in values]) + _total([v % n for v in values]) // n
