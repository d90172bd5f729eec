"""Bounded future operators with three-valued verdicts: what is known now about the formula at the first step.

A verdict is PENDING until the steps so far decide it, then TRUE or FALSE for ever [BLS11]. Nothing looks ahead, so
streams may be inputs, and each operator keeps a counter and a verdict. In `reset(c, lambda: ltl3.…)` the first step
is the last one at which `c` held: each request begins anew.

    low, high   the bounds in steps, 0 <= low <= high
    p, q, s     Bool streams

    >>> asked = extern("asked", Bool, [True, False, False, True, False, False])
    >>> given = extern("given", Bool, [False, True, False, False, False, False])
    >>> kept = reset(asked, lambda: ltl3.eventually(0, 2, given))
    PENDING  TRUE  TRUE  PENDING  PENDING  FALSE
"""

from __future__ import annotations

import enum

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.lang.build import mux
from streamcheck.lang.lib.parts import bool_stream, recur, run_of, whole_number
from streamcheck.lang.stream import Operand, Stream
from streamcheck.lang.types import Bool, EnumOf

__all__ = ["Truth", "always", "eventually", "release", "until"]


class Truth(enum.Enum):
    """A verdict on a formula after the steps so far."""

    PENDING = 0
    TRUE = 1
    FALSE = 2


def eventually(low: int, high: int, s: Operand) -> Stream:
    """TRUE once `s` holds at a step from `low` to `high`, FALSE once it cannot any more.

    s                                    0       0    1    0
    ltl3.eventually(0, 3, s)   PENDING PENDING TRUE TRUE
    """
    return _until("eventually", low, high, Bool(True), bool_stream(s, "eventually(low, high, s): s"), yes=True)


def always(low: int, high: int, s: Operand) -> Stream:
    """FALSE once `s` is false at a step from `low` to `high`, TRUE after step `high`.

    s                                1       1    1    0
    ltl3.always(0, 2, s)   PENDING PENDING TRUE TRUE
    """
    return _until("always", low, high, Bool(True), ~bool_stream(s, "always(low, high, s): s"), yes=False)


def until(low: int, high: int, p: Operand, q: Operand) -> Stream:
    """TRUE once `q` holds at a step from `low` to `high`, if `p` held at every step before it; FALSE once that
    cannot be any more.

        p                                  1     0     0     0
        q                                  0     0     1     0
        ltl3.until(0, 3, p, q)   PENDING FALSE FALSE FALSE
    """
    before, ends = bool_stream(p, "until(low, high, p, q): p"), bool_stream(q, "until(low, high, p, q): q")
    return _until("until", low, high, before, ends, yes=True)


def release(low: int, high: int, p: Operand, q: Operand) -> Stream:
    """FALSE once `q` is false at a step from `low` to `high`, if `p` held at no step before it; TRUE once that
    cannot be any more.

        p                                    0       0    1    0
        q                                    1       1    1    0
        ltl3.release(0, 3, p, q)   PENDING PENDING TRUE TRUE
    """
    frees, holds = bool_stream(p, "release(low, high, p, q): p"), bool_stream(q, "release(low, high, p, q): q")
    return _until("release", low, high, ~frees, ~holds, yes=False)


def _until(name: str, low: int, high: int, p: Stream, q: Stream, *, yes: bool) -> Stream:
    """The verdict on `until`, or its opposite."""
    whole_number(low, 0, f"{name}: low")
    if whole_number(high, 0, f"{name}: high") < low:
        raise SpecError(f"{name}: no step is at least {low} and at most {high}", here())
    found, missed = (Truth.TRUE, Truth.FALSE) if yes else (Truth.FALSE, Truth.TRUE)
    steps = run_of(Bool(True), high + 1)  # this one included
    verdict = EnumOf(Truth)

    def after(before: Stream) -> Stream:
        last = steps > high
        now = mux(q & (steps > low), verdict(found), mux(last | ~p, missed, Truth.PENDING))
        return mux(before == Truth.PENDING, now, before)

    return recur(verdict, [Truth.PENDING], after)
