"""Sums, extremes and means over a window of n steps, the present one first (Copilot.Library.Statistics).

The window looks ahead with `drop`, as Copilot's does: now and the next n - 1 steps. The stream must be
known that far ahead; on an input `drop` is an error. For the *last* n steps of an input, now included,
delay it by n - 1 values that stand for the time before the first step: `mean(3, [0, 0] ++ x)`.

State and time, besides the n - 1 values that the delay keeps:

    sum, count, and mean of integers    one cell, one addition and one subtraction at each step, if the window begins
                                        with listed values, `[0, …] ++ x`, and n is at least 4: what comes is added,
                                        what goes is subtracted, which is exact for integers and Real. Up to n = 128,
                                        that this is the sum is an implied property, which other proofs then use.
    rate                                two values of the window
    all others                          no cell, n - 1 operations at each step (in the generated C, less for long
                                        windows of `min` and `max`): additions of floats round, so
                                        the sum of a window is another number than the sum that a cell would keep

    >>> x = extern("x", Word8, [1, 5, 3, 2])
    >>> highest = statistics.max(3, [0, 0] ++ x)
    1  5  5  5
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial, reduce

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import FloatType, MachineType
from streamcheck.lang.build import cast, drop, maximum, minimum, mux, unsafe_cast
from streamcheck.lang.lib.parts import (
    INTS,
    WORDS,
    Operands,
    bool_stream,
    elements_of,
    of_one_type,
    recur,
    require,
    whole_number,
    word_for,
)
from streamcheck.lang.node import current_restart
from streamcheck.lang.stream import Operand, Stream, append

__all__ = ["count", "max", "mean", "mean_now", "min", "rate", "sum", "variance"]

ROLLING = 4  # from this length on, a window's sum is kept
STATED = 128  # up to this length, that it is the sum is an implied property


def max(n: int, s: Operand) -> Stream:
    """The largest of the `n` values. Among floats a NaN is as in `maximum`, from left to right.

    x                             1 5 3 2 9
    statistics.max(2, [0] ++ x)   1 5 5 3 9
    """
    return reduce(maximum, _window(n, s, "max"))


def min(n: int, s: Operand) -> Stream:
    """The smallest of the `n` values. Among floats a NaN is as in `minimum`, from left to right.

    x                             4 5 3 2 9
    statistics.min(2, [7] ++ x)   4 4 3 2 2
    """
    return reduce(minimum, _window(n, s, "min"))


def sum(n: int, s: Operand) -> Stream:
    """The sum of the `n` values, in the stream's type: machine integers wrap around (`sum(n, cast(Word32,
    s))` has room), floats round after each addition, from left to right.

        x                                1 5 3  2  9
        statistics.sum(3, [0, 0] ++ x)   1 6 9 10 14
    """
    return _total(_window(n, s, "sum"))


def count(n: int, s: Operand) -> Stream:
    """At how many of the `n` steps the Bool stream holds, in the smallest word that holds `n`.

    s                                          1 1 0 1 1
    statistics.count(3, [False, False] ++ s)   1 2 2 2 2
    """
    whole_number(n, 1, "count(n, s): n")
    stream, word = bool_stream(s, "count(n, s): s"), word_for(n)
    return _total([drop(i, stream) for i in range(n)], lambda v: mux(v, word(1), word(0)))


def mean(n: int, s: Operand) -> Stream:
    """The mean of the `n` values, in the stream's type. Of integers: the exact mean rounded down, as `//`
    does; it never overflows, because the sum is taken in a wider type, or in parts if there is none. Of
    Float and Double: `sum(n, s) / n`, which may overflow to infinity. Of Real: exact. (Copilot's is for
    floats only.)

        x                              4 6 8 1 9
        statistics.mean(2, [4] ++ x)   4 5 7 4 5
    """
    return _mean(_window(n, s, "mean"))


def variance(n: int, s: Operand) -> Stream:
    """The mean of the squares of the distances from the mean, of Float, Double or Real. Among floats each operation
    rounds; the distances are taken before they are squared, so it is never negative.

        f                                    1.0 3.0 3.0 7.0
        statistics.variance(2, [1.0] ++ f)   0.0 1.0 0.0 4.0
    """
    values = _window(n, s, "variance")
    _fraction(values[0], "variance(n, s)")
    middle = _mean(values)
    return _mean([(v - middle) * (v - middle) for v in values])


def rate(n: int, s: Operand) -> Stream:
    """The change per step over the window, of Float, Double or Real: its last value minus its first, divided by
    `n - 1`.

        f                                     1.0 3.0 3.0 7.0
        statistics.rate(3, [1.0, 1.0] ++ f)   0.0 1.0 1.0 2.0
    """
    values = _window(n, s, "rate")
    whole_number(n, 2, "rate(n, s): n")
    _fraction(values[0], "rate(n, s)")
    return (values[-1] - values[0]) / (n - 1)


def mean_now(xs: Operands) -> Stream:
    """The mean of the present values of several streams of one type, with the types of `mean`.
    (Copilot's sum wraps around.)

        x                             4 6 8 255
        y                             6 6 2 253
        statistics.mean_now([x, y])   5 6 5 254
    """
    return _mean([_number(x, "mean_now") for x in of_one_type(elements_of(xs, "mean_now"), "mean_now")])


def _window(n: int, s: Operand, name: str) -> list[Stream]:
    (stream,) = of_one_type([s], f"{name}(n, s)")
    _number(stream, f"{name}(n, s)")
    return [drop(i, stream) for i in range(whole_number(n, 1, f"{name}(n, s): n"))]


def _number(stream: Stream, what: str) -> Stream:
    if not stream._node.type.is_number:
        raise SpecError(f"{what}: expected a stream of numbers, found a stream of {stream._node.type}", here())
    return stream


def _fraction(stream: Stream, what: str) -> None:
    type = stream._node.type
    if type.is_integer:
        message = f"{what}: expected Float, Double or Real, found {type}"
        raise SpecError(message, here(), write=f"cast({'Real' if type.kind == 'integer' else 'Double'}, s)")


def _total(values: list[Stream], convert: Callable[[Stream], Stream] = lambda v: v) -> Stream:
    """The sum of the values, each converted. If they are a window over a delay and sums are exact, it is kept."""
    folded = reduce(_plus, map(convert, values))
    if len(values) < ROLLING or isinstance(folded._node.type, FloatType) or not _is_window_of_delay(values):
        return folded
    *earlier, newest = values
    type, listed = folded._node.type, values[0]._node.payload[: len(earlier)]
    initial = reduce(operator.add, map(int, listed) if type.is_integer else listed)
    initial = type.wrap(initial) if isinstance(type, MachineType) else initial
    after = recur(type, [initial], lambda before: before + convert(newest) - convert(values[0]))
    before = append([initial], after)
    total = before + convert(newest)
    if len(values) > STATED:
        return total
    kept = before == reduce(_plus, map(convert, earlier))
    return require(total, kept, "the sum that is kept is that of the window")


def _is_window_of_delay(values: list[Stream]) -> bool:
    """True for s, drop(1, s), …, where `s` begins with enough listed values that no other `reset` restarts."""
    first = values[0]._node
    if first.op != "append" or len(first.payload) < len(values) - 1 or first.restart is not current_restart.get():
        return False
    ahead = [(v._node.op, v._node.payload, v._node.args) for v in values[1:]]
    return ahead == [("drop", i, (first,)) for i in range(1, len(values))]


def _plus(a: Stream, b: Stream) -> Stream:
    return a + b


def _mean(values: list[Stream]) -> Stream:
    type, n = values[0]._node.type, len(values)
    if not isinstance(type, MachineType):
        return _total(values) // n if type.is_integer else _total(values) / n
    classes = INTS if type.signed else WORDS
    for width, wide in classes.items():
        if n << type.width <= 1 << width:  # n times the type's range
            return unsafe_cast(classes[type.width], _total(values, partial(cast, wide)) // n)
    # x = n * (x // n) + x % n, so the mean is the sum of the quotients and the mean of the remainders.
    return _total([v // n for v in values]) + _total([v % n for v in values]) // n
