"""Metric temporal logic: past and future within bounds of a clock (Copilot.Library.MTL).

Arguments, in Copilot's order:

    low, high   the bounds, 0 <= low <= high, in the clock's unit
    clock       the time of each step: a stream of any integer type that never decreases
    distance    the least growth of the clock from one step to the next, at least 1
    p, q, s     Bool streams

A step is *within* the bounds if the time between it and now is at least `low` and at most `high`. Only
steps that exist count: if none is within the bounds, `since` and the `eventually` operators are false,
`trigger` and the `always` operators true.

The difference of two machine integers of w bits, taken modulo 2^w, is the true time between them for any
sign and size, so unsigned clocks are right from the first step on (Copilot's underflow there). The
past operators also take a clock that wraps around, as free-running timers do, provided no single step is
2^w long.

State of the past operators. Copilot keeps a cell of the clock and of each stream for every step that may
be within the bounds, high // distance of each. Here all rest on `since`, which keeps ages: how long ago
`q` held, in the smallest word that holds high + 1, which stands for longer ago or never. Ages grow with
the clock, and when `p` is false all become high + 1. Two times of `q` at most high - low + 1 apart make
`since` true without a gap between (the merging of intervals in [MN04]), so the steps at which `q` held fall into
groups, each as good as its first and last step. With apart = high - low + 2:

    low = 0             one age: the last time of `q` is the best
    distance < apart    two ages for each group, of which there are at most high // apart + 1 within `high`
    distance >= apart   one age for each step within `high`, at most high // distance + 1

and the clock's last value, which operators over the same clock share. `since(1, 100, …)` keeps 2 ages of
one byte. Only in the last case does the state depend on `distance`; in the others a clock may also stand
still.

The future operators look ahead with `drop`, high // distance steps far. Their streams *and the clock* must
be known that far ahead: delayed, or computed from cells alone. On an input `drop` is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import MachineType
from streamcheck.lang.apply import literal
from streamcheck.lang.build import any_of, drop, mux, pre, unsafe_cast
from streamcheck.lang.lib.parts import WORDS, bool_stream, recur, whole_number, word_for
from streamcheck.lang.stream import Operand, Stream
from streamcheck.lang.types import Bool, Int


def eventually_prev(low: int, high: int, clock: Operand, distance: int, s: Operand) -> Stream:
    """True if `s` held at some step up to now within [low, high]."""
    window = _window("eventually_prev", low, high, clock, distance)
    return _since(window, Bool(True), window.bool_stream("s", s))


def always_been(low: int, high: int, clock: Operand, distance: int, s: Operand) -> Stream:
    """True if `s` held at every step up to now within [low, high]."""
    window = _window("always_been", low, high, clock, distance)
    return ~_since(window, Bool(True), ~window.bool_stream("s", s))


def since(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """True if `q` held at some step up to now within [low, high], and `p` at every step after that one, now
    included."""
    window = _window("since", low, high, clock, distance)
    return _since(window, window.bool_stream("p", p), window.bool_stream("q", q))


def trigger(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """True if at every step up to now within [low, high] `q` held or `p` held at some step after that one,
    now included: `~since(…, ~p, ~q)`."""
    window = _window("trigger", low, high, clock, distance)
    return ~_since(window, ~window.bool_stream("p", p), ~window.bool_stream("q", q))


def eventually(low: int, high: int, clock: Operand, distance: int, s: Operand) -> Stream:
    """True if `s` holds at some step from now on within [low, high]."""
    window = _window("eventually", low, high, clock, distance)
    return _until(window, Bool(True), window.bool_stream("s", s))


def always(low: int, high: int, clock: Operand, distance: int, s: Operand) -> Stream:
    """True if `s` holds at every step from now on within [low, high]."""
    window = _window("always", low, high, clock, distance)
    return ~_until(window, Bool(True), ~window.bool_stream("s", s))


def until(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """True if `q` holds at some step from now on within [low, high], and `p` at every step from now to just
    before that one."""
    window = _window("until", low, high, clock, distance)
    return _until(window, window.bool_stream("p", p), window.bool_stream("q", q))


def release(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """True if at every step from now on within [low, high] `q` holds or `p` holds at some step from now to
    just before that one: `~until(…, ~p, ~q)`."""
    window = _window("release", low, high, clock, distance)
    return ~_until(window, ~window.bool_stream("p", p), ~window.bool_stream("q", q))


# Copilot's matching variants: `p` counts at the step at which `q` decides, too.


def matching_since(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """`since`, but `p` must also hold at the step of `q`: `since(…, p, p & q)`."""
    window = _window("matching_since", low, high, clock, distance)
    holds = window.bool_stream("p", p)
    return _since(window, holds, holds & window.bool_stream("q", q))


def matching_trigger(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """`trigger`, but `p` at the step of `q` itself suffices: `trigger(…, p, p | q)`."""
    window = _window("matching_trigger", low, high, clock, distance)
    frees = window.bool_stream("p", p)
    return ~_since(window, ~frees, ~(frees | window.bool_stream("q", q)))


def matching_until(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """`until`, but `p` must also hold at the step of `q`: `until(…, p, p & q)`."""
    window = _window("matching_until", low, high, clock, distance)
    holds = window.bool_stream("p", p)
    return _until(window, holds, holds & window.bool_stream("q", q))


def matching_release(low: int, high: int, clock: Operand, distance: int, p: Operand, q: Operand) -> Stream:
    """`release`, but `p` at the step of `q` itself suffices: `release(…, p, p | q)`."""
    window = _window("matching_release", low, high, clock, distance)
    frees = window.bool_stream("p", p)
    return ~_until(window, ~frees, ~(frees | window.bool_stream("q", q)))


# The arguments


@dataclass(frozen=True, slots=True)
class Window:
    """The checked arguments that all operators share."""

    call: str
    low: int
    high: int
    clock: Stream
    distance: int

    def bool_stream(self, name: str, operand: Operand) -> Stream:
        return bool_stream(operand, f"mtl.{self.call}: {name}")

    def between(self, earlier: Stream, later: Stream) -> Stream:
        """The time from one step to a later one, in a type without a sign."""
        type, difference = self.clock._node.type, later - earlier
        if isinstance(type, MachineType) and type.signed:
            return unsafe_cast(WORDS[type.width], difference)
        return difference


def _window(call: str, low: int, high: int, clock: Operand, distance: int) -> Window:
    name = f"mtl.{call}(low, high, clock, distance, …)"
    if not isinstance(clock, Stream) or not clock._node.type.is_integer:
        given = f"a stream of {clock._node.type}" if isinstance(clock, Stream) else repr(clock)
        raise SpecError(f"{name}: the clock: expected a stream of integers, found {given}", here())
    whole_number(low, 0, f"{name}: low")
    whole_number(high, 0, f"{name}: high")
    whole_number(distance, 1, f"{name}: distance")
    if low > high:
        raise SpecError(f"{name}: no time is at least {low} and at most {high}", here())
    literal(clock._node.type, high)  # the bounds are in the clock's unit
    return Window(call, low, high, clock, distance)


# The past


def _since(window: Window, p: Stream, q: Stream) -> Stream:
    low, gone = window.low, window.high + 1
    kind, grown = _growth(window, p)

    def age(zero: Stream) -> Stream:
        return recur(kind, [gone], lambda before: mux(zero, 0, grown(before)))

    last = age(q)
    if low == 0:
        return last < gone
    apart = gone - low + 1  # the least time from one group to the next
    single = window.distance >= apart  # every group is one step
    begins = q if single else q & (grown(pre(gone, last)) >= apart)

    def older(ages: list[Stream]) -> list[Stream]:
        for _ in range(window.high // max(apart, window.distance)):
            newer = pre(gone, ages[-1])
            ages.append(recur(kind, [gone], partial(_hand_on, begins, newer, grown)))
        return ages

    lasts = older([last])
    firsts = lasts if single else older([age(begins)])
    return any_of((first >= low) & (last < gone) for first, last in zip(firsts, lasts, strict=True))


def _hand_on(begins: Stream, newer: Stream, grown: Callable[[Stream], Stream], before: Stream) -> Stream:
    """The age in one place: that of the newer group if a group begins, else its own, grown."""
    return grown(mux(begins, newer, before))


def _growth(window: Window, p: Stream) -> tuple[type[Stream], Callable[[Stream], Stream]]:
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


def _until(window: Window, p: Stream, q: Stream) -> Stream:
    low, high = window.low, window.high
    result = Bool(False)
    for k in range(high // window.distance, 0, -1):
        elapsed = window.between(window.clock, drop(k, window.clock))
        result = (elapsed <= high) & ((elapsed >= low) & drop(k, q) | drop(k, p) & result)
    return q | p & result if low == 0 else p & result
