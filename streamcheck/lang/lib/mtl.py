"""Metric temporal logic: past and future within bounds, by steps or by a clock (Copilot.Library.MTL).

    mtl.since(low, high, p, q)                   bounds in steps
    mtl.since(low, high, clock, distance, p, q)  bounds in the clock's unit, in Copilot's order of arguments

    low, high   the bounds, 0 <= low <= high
    clock       the time of each step: a stream of any integer type that never decreases
    distance    the least growth of the clock from one step to the next, at least 1
    p, q, s     Bool streams

A step is *within* the bounds if the time between it and now is at least `low` and at most `high`. Only
steps that exist count: if none is within the bounds, `since` and the `eventually` operators are false,
`trigger` and the `always` operators true. The `matching` operators are Copilot's: `p` counts at the step at which
`q` decides, too.

State of the past operators by steps, with apart = high - low + 2:

    low = 0     one counter, the smallest word that holds high + 1
    low > 0     `low` Bool cells and two counters (one for the `always` and `eventually` operators), or two counters for
                each of high // apart + 1 groups as below, whichever is smaller

The difference of two machine integers of w bits, taken modulo 2^w, is the true time between them for any
sign and size, so unsigned clocks are right from the first step on (Copilot's underflow there). The
past operators also take a clock that wraps around, as free-running timers do, provided no single step is
2^w long.

State of the past operators by a clock. Copilot keeps a cell of the clock and of each stream for every step that may
be within the bounds, high // distance of each. Here all rest on `since`, which keeps ages: how long ago
`q` held, in the smallest word that holds high + 1, which stands for longer ago or never. Ages grow with
the clock, and when `p` is false all become high + 1. Two times of `q` at most high - low + 1 apart make
`since` true without a gap between (the merging of intervals in [MN04]), so the steps at which `q` held fall into
groups, each as good as its first and last step. With apart = high - low + 2:

    low = 0             one age: the last time of `q` is the best
    distance < apart    two ages for each group, of which there are at most high // apart + 1 within `high`
    distance >= apart   one age for each step within `high`, at most high // distance + 1

and the clock's last value, which operators over the same clock share. `since(1, 100, …)` keeps 2 ages of
one byte. Only in the last case does the answer depend on `distance`; in the others a clock may also stand
still. If it does depend on it, `clock grows by at least DISTANCE` is an implied property of the spec: it is proved,
or the run that breaks it is shown. A clock of type Int must never decrease, which is implied likewise.

The future operators look ahead with `drop`: `high` steps far, by a clock high // distance steps, and the growth of the
clock is an implied property. Their streams *and the clock* must be known that far ahead: delayed (`ltl.late`), or
computed from cells alone. On an input `drop` is an error.

    >>> pressed = extern("pressed", Bool, [True, False, False, False])
    >>> lately = mtl.eventually_prev(0, 2, pressed)
    true  true  true  false
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, overload

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import MachineType
from streamcheck.lang.apply import literal
from streamcheck.lang.build import any_of, drop, mux, pre, then, unsafe_cast
from streamcheck.lang.lib.parts import WORDS, age_of, bool_stream, recur, require, run_of, whole_number, word_for
from streamcheck.lang.stream import Operand, Stream, append
from streamcheck.lang.types import Bool, Int

__all__ = [
    "always",
    "always_been",
    "eventually",
    "eventually_prev",
    "matching_release",
    "matching_since",
    "matching_trigger",
    "matching_until",
    "release",
    "since",
    "trigger",
    "until",
]

# The arguments


@dataclass(frozen=True, slots=True)
class StepBounds:
    """Bounds in steps."""

    low: int
    high: int


@dataclass(frozen=True, slots=True)
class ClockBounds:
    """Bounds in the unit of a clock."""

    low: int
    high: int
    clock: Stream
    distance: int

    def between(self, earlier: Stream, later: Stream) -> Stream:
        """The time from one step to a later one, in a type without a sign."""
        type, difference = self.clock._node.type, later - earlier
        if isinstance(type, MachineType) and type.signed:
            return unsafe_cast(WORDS[type.width], difference)
        return difference

    def with_requirement(self, answer: Stream, distance: int) -> Stream:
        """The answer, which is right if the clock grows by at least the distance."""
        grown = self.between(pre(0, self.clock), self.clock) >= distance
        name = f"clock grows by at least {distance}" if distance else "clock never decreases"
        return require(answer, then(True, grown), name)


class OverOne(Protocol):
    """An operator over one stream."""

    @overload
    def __call__(self, low: int, high: int, s: Operand) -> Stream: ...
    @overload
    def __call__(self, low: int, high: int, clock: Operand, distance: int, s: Operand) -> Stream: ...


class OverTwo(Protocol):
    """An operator over two streams."""

    @overload
    def __call__(self, low: int, high: int, p: Operand, q: Operand) -> Stream: ...
    @overload
    def __call__(self, low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream: ...


def _unary(meaning: Callable[[StepBounds | ClockBounds, Stream], Stream]) -> OverOne:
    operator: OverOne = _operator(meaning, ["s"])
    return operator


def _binary(meaning: Callable[[StepBounds | ClockBounds, Stream, Stream], Stream]) -> OverTwo:
    operator: OverTwo = _operator(meaning, ["p", "q"])
    return operator


def _operator(meaning: Callable[..., Stream], streams: list[str]) -> Any:
    """The operator that users call, by steps or by a clock, from its meaning over checked arguments."""
    name = meaning.__name__
    by_steps, by_clock = (_signature("low", "high", *clock, *streams) for clock in ((), ("clock", "distance")))

    def operator(*args: Any, **named: Any) -> Stream:
        timed = len(args) + len(named) > len(streams) + 2
        try:
            given = (by_clock if timed else by_steps).bind(*args, **named).arguments
        except TypeError:
            write = f"mtl.{name}{by_steps}, or mtl.{name}{by_clock}"
            raise SpecError(f"mtl.{name}: {len(args) + len(named)} arguments", here(), write=write) from None
        bounds = _bounds(f"mtl.{name}{by_clock if timed else by_steps}", given)
        return meaning(bounds, *(bool_stream(given[s], f"mtl.{name}: {s}") for s in streams))

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = meaning.__doc__
    operator.__signature__ = by_steps  # type: ignore[attr-defined]
    return operator


def _signature(*names: str) -> inspect.Signature:
    return inspect.Signature([inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in names])


def _bounds(call: str, given: dict[str, Any]) -> StepBounds | ClockBounds:
    low, high = given["low"], given["high"]
    whole_number(low, 0, f"{call}: low")
    whole_number(high, 0, f"{call}: high")
    if "clock" not in given:
        if low > high:
            raise SpecError(f"{call}: no step is at least {low} and at most {high} steps away", here())
        return StepBounds(low, high)
    clock, distance = given["clock"], given["distance"]
    if not isinstance(clock, Stream) or not clock._node.type.is_integer:
        found = f"a stream of {clock._node.type}" if isinstance(clock, Stream) else repr(clock)
        raise SpecError(f"{call}: the clock: expected a stream of integers, found {found}", here())
    whole_number(distance, 1, f"{call}: distance")
    if low > high:
        raise SpecError(f"{call}: no time is at least {low} and at most {high}", here())
    literal(clock._node.type, high)  # the bounds are in the clock's unit
    return ClockBounds(low, high, clock, distance)


# The operators


@_unary
def eventually_prev(bounds: StepBounds | ClockBounds, s: Stream) -> Stream:
    """True if `s` held at some step up to now within [low, high].

    s                              1 0 0 0 0 1
    mtl.eventually_prev(1, 3, s)   0 1 1 1 0 0
    """
    return _since(bounds, Bool(True), s)


@_unary
def always_been(bounds: StepBounds | ClockBounds, s: Stream) -> Stream:
    """True if `s` held at every step up to now within [low, high].

    s                          1 1 0 1 1 1
    mtl.always_been(0, 2, s)   1 1 0 0 0 1
    """
    return ~_since(bounds, Bool(True), ~s)


@_binary
def since(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """True if `q` held at some step up to now within [low, high], and `p` at every step after that one, now
    included.

        p                       0 1 1 1 1 0
        q                       1 0 0 0 0 0
        mtl.since(0, 3, p, q)   1 1 1 1 0 0
    """
    return _since(bounds, p, q)


@_binary
def trigger(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """True if at every step up to now within [low, high] `q` held or `p` held at some step after that one,
    now included: `~since(…, ~p, ~q)`.

        p                         0 0 1 0 0 0
        q                         1 1 1 0 0 1
        mtl.trigger(0, 2, p, q)   1 1 1 0 0 0
    """
    return ~_since(bounds, ~p, ~q)


@_unary
def eventually(bounds: StepBounds | ClockBounds, s: Stream) -> Stream:
    """True if `s` holds at some step from now on within [low, high].

    s                                           0 0 1 0 0 0
    mtl.eventually(1, 2, [False, False] ++ s)   0 0 1 1 0 0
    """
    return _until(bounds, Bool(True), s)


@_unary
def always(bounds: StepBounds | ClockBounds, s: Stream) -> Stream:
    """True if `s` holds at every step from now on within [low, high].

    s                               0 1 1 1 0 1
    mtl.always(0, 1, [True] ++ s)   0 0 1 1 0 0
    """
    return ~_until(bounds, Bool(True), ~s)


@_binary
def until(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """True if `q` holds at some step from now on within [low, high], and `p` at every step from now to just
    before that one.

        p                                                         1 1 1 0 0 0
        q                                                         0 0 0 1 0 0
        mtl.until(0, 2, [True, True] ++ p, [False, False] ++ q)   0 0 0 1 1 1
    """
    return _until(bounds, p, q)


@_binary
def release(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """True if at every step from now on within [low, high] `q` holds or `p` holds at some step from now to
    just before that one: `~until(…, ~p, ~q)`.

        p                                              0 0 1 0 0 0
        q                                              1 1 1 0 0 1
        mtl.release(0, 1, [False] ++ p, [True] ++ q)   1 1 1 1 0 0
    """
    return ~_until(bounds, ~p, ~q)


@_binary
def matching_since(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """`since`, but `p` must also hold at the step of `q`: `since(…, p, p & q)`.

    p                                0 1 1 1 0 1
    q                                1 1 0 0 0 1
    mtl.matching_since(0, 3, p, q)   0 1 1 1 0 1
    """
    return _since(bounds, p, p & q)


@_binary
def matching_trigger(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """`trigger`, but `p` at the step of `q` itself suffices: `trigger(…, p, p | q)`.

    p                                  0 0 1 0 0 0
    q                                  1 1 0 1 0 1
    mtl.matching_trigger(0, 1, p, q)   1 1 1 1 0 0
    """
    return ~_since(bounds, ~p, ~(p | q))


@_binary
def matching_until(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """`until`, but `p` must also hold at the step of `q`: `until(…, p, p & q)`.

    p                                                                  1 1 1 0 0 0
    q                                                                  0 0 1 0 0 0
    mtl.matching_until(0, 2, [True, True] ++ p, [False, False] ++ q)   0 0 1 1 1 0
    """
    return _until(bounds, p, p & q)


@_binary
def matching_release(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    """`release`, but `p` at the step of `q` itself suffices: `release(…, p, p | q)`.

    p                                                       0 0 1 0 0 0
    q                                                       1 1 1 0 0 1
    mtl.matching_release(0, 1, [False] ++ p, [True] ++ q)   1 1 1 1 0 0
    """
    return ~_until(bounds, ~p, ~(p | q))


# The past


def _since(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    match bounds:
        case StepBounds():
            return _since_by_steps(bounds, p, q)
        case ClockBounds():
            return _since_by_clock(bounds, p, q)


def _since_by_steps(bounds: StepBounds, p: Stream, q: Stream) -> Stream:
    """`since` of the step `low` steps ago, if `p` has held ever since; or groups, if they are smaller."""
    low, high = bounds.low, bounds.high
    gone, width = high + 1, high - low
    counts = low > 1 and p._node.op != "const"  # for how long p has held
    delays = low + (_bytes_for(width + 1) if width else 0) + (_bytes_for(low) if counts else 0)
    if 2 * (high // (width + 2) + 1) * _bytes_for(gone) < delays:
        return _by_groups(low, high, 1, q, word_for(gone), lambda age: mux(p & (age < gone), age + 1, gone))
    recent = age_of(q, width + 1, p) <= width if width else q
    if not low:
        return recent
    return (run_of(p, low) >= low if counts else p) & append([False] * low, recent)


def _bytes_for(highest: int) -> int:
    return next(width for width, word in WORDS.items() if word is word_for(highest)) // 8


def _since_by_clock(window: ClockBounds, p: Stream, q: Stream) -> Stream:
    low, gone = window.low, window.high + 1
    kind, grown = _growth(window, p)
    if low == 0:
        answer = recur(kind, [gone], lambda before: mux(q, 0, grown(before))) < gone
    else:
        answer = _by_groups(low, window.high, window.distance, q, kind, grown)
    depends = low > 0 and window.distance >= gone - low + 1
    if depends or not isinstance(window.clock._node.type, MachineType):
        return window.with_requirement(answer, window.distance if depends else 0)
    return answer


def _by_groups(
    low: int, high: int, distance: int, q: Stream, kind: type[Stream], grown: Callable[[Stream], Stream]
) -> Stream:
    """True if some group of steps at which `q` held reaches into the bounds. `grown` is an age one step later."""
    gone = high + 1

    def age(zero: Stream) -> Stream:
        return recur(kind, [gone], lambda before: mux(zero, 0, grown(before)))

    last = age(q)
    apart = gone - low + 1  # the least time from one group to the next
    single = distance >= apart  # every group is one step
    begins = q if single else q & (grown(pre(gone, last)) >= apart)

    def older(ages: list[Stream]) -> list[Stream]:
        for _ in range(high // max(apart, distance)):
            newer = pre(gone, ages[-1])
            ages.append(recur(kind, [gone], partial(_hand_on, begins, newer, grown)))
        return ages

    lasts = older([last])
    firsts = lasts if single else older([age(begins)])
    return any_of((first >= low) & (last < gone) for first, last in zip(firsts, lasts, strict=True))


def _hand_on(begins: Stream, newer: Stream, grown: Callable[[Stream], Stream], before: Stream) -> Stream:
    """The age in one place: that of the newer group if a group begins, else its own, grown."""
    return grown(mux(begins, newer, before))


def _growth(window: ClockBounds, p: Stream) -> tuple[type[Stream], Callable[[Stream], Stream]]:
    """The type of ages, and the function that increases them: at most to `high + 1`, and at once to it if `p` is
    false."""
    gone, type = window.high + 1, window.clock._node.type
    elapsed = window.between(pre(0, window.clock), window.clock)
    if isinstance(type, MachineType):
        kind = word_for(gone)
        near = p & (elapsed < gone) if gone < 1 << type.width else p
        step = mux(near, unsafe_cast(kind, elapsed), gone)
    else:
        # The first step has none before it, so the difference there may be negative; all ages are gone then.
        kind = Int
        step = mux(p & (elapsed >= 0) & (elapsed < gone), elapsed, gone)
    room = gone - step
    return kind, lambda age: mux(age < room, age + step, gone)


# The future


def _until(bounds: StepBounds | ClockBounds, p: Stream, q: Stream) -> Stream:
    low, high = bounds.low, bounds.high
    match bounds:
        case StepBounds():
            within: Sequence[Stream] = [Bool(k >= low) for k in range(high + 1)]
            far = within
        case ClockBounds():
            reach = range(high // bounds.distance + 1)
            elapsed = [bounds.between(bounds.clock, drop(k, bounds.clock)) for k in reach]
            within, far = [e >= low for e in elapsed], [e <= high for e in elapsed]
    result: Stream = Bool(False)
    for k in range(len(within) - 1, 0, -1):
        result = (drop(k, q) & within[k]) | (drop(k, p) & result)
        result = result if isinstance(bounds, StepBounds) else far[k] & result
    result = q | p & result if low == 0 else p & result
    return result if isinstance(bounds, StepBounds) else bounds.with_requirement(result, bounds.distance)
