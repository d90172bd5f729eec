"""The meaning of a requirement's template: a Bool stream, true as long as the run so far satisfies it [GPMS21].

A scope cuts the run into intervals. In each interval, each trigger asks for a response, from its own step p on; up to
the end of the interval, or to now if it has not ended:

    immediately   r at p                           within n   r at one of p … p + n, if the interval has them all
    next          r at p + 1, if it is inside      for n      r at all of p … p + n that are inside
    always        r from p on                      after n    not r at p … p + n, and r at p + n + 1, if inside
    never         not r from p on                  until s    r from p on, up to the step before the first s
    eventually    r at some step from p on         before s   if there is an s, r at an earlier step from p on
    finally       r at the last step

Of an `only` scope, the intervals are those outside it, and the response must not be satisfied there: `always` becomes
`eventually not`, `within n` becomes `for n … not`, and so on.

Each is computed with a few cells. Most are violated at one step and stay so . `eventually` and `finally`
depend on where the interval ends: they are judged now, and at the last step of each earlier interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from streamcheck.lang.build import implies, mux
from streamcheck.lang.lib.parts import age_of, recur, run_of, word_for
from streamcheck.lang.lib.ptltl import always_been, eventually_prev, previous, since
from streamcheck.lang.requirements.expressions import ago
from streamcheck.lang.requirements.sentence import Condition, Scope, Timing
from streamcheck.lang.stream import Stream
from streamcheck.lang.types import Bool

ONLY = (Scope.ONLY_IN, Scope.ONLY_BEFORE, Scope.ONLY_AFTER)


def active(scope: Scope, mode: Stream | None) -> Stream:
    """True inside the intervals, which are the longest runs of such steps."""
    if mode is None:
        return Bool(True)
    match scope:
        case Scope.ALL:
            return Bool(True)
        case Scope.IN:
            return mode
        case Scope.NOT_IN | Scope.ONLY_IN:
            return ~mode
        case Scope.BEFORE:
            return always_been(~mode)
        case Scope.ONLY_BEFORE:
            return eventually_prev(mode)
        case Scope.AFTER:
            return eventually_prev(previous(mode) & ~mode)
        case Scope.ONLY_AFTER:
            return always_been(~(previous(mode) & ~mode))
    assert_never(scope)


def begins(inside: Stream) -> Stream:
    """True at the first step of each interval."""
    return inside & ~previous(inside)


@dataclass(frozen=True, slots=True)
class Parts:
    """The streams of one requirement."""

    scope: Scope
    inside: Stream
    condition: Condition
    trigger: Stream  # the condition itself; true if there is none
    response: Stream
    duration: int
    stop: Stream

    def meaning(self, timing: Timing) -> Stream:
        """True as long as the requirement is satisfied."""
        if timing is Timing.EVENTUALLY and self.scope not in ONLY:
            return self._judged_at_end(~self._is_unanswered(self.response))
        if timing is Timing.ALWAYS and self.scope in ONLY:
            return self._judged_at_end(~self._is_unanswered(~self.response))
        if timing is Timing.NEVER and self.scope in ONLY:
            return self._judged_at_end(~self._is_unanswered(self.response))
        if timing is Timing.FINALLY:
            wanted = ~self.response if self.scope in ONLY else self.response
            return self._judged_at_end(implies(self._is_triggered, wanted))
        negated = self.scope in ONLY
        return always_been(~(self._failure_of_only(timing) if negated else self._failure(timing, self.response)))

    @property
    def _fires(self) -> Stream:
        """True at the step of each trigger."""
        begin = begins(self.inside)
        match self.condition:
            case Condition.NONE:
                return begin
            case Condition.BECOMES:
                return self.inside & self.trigger & (begin | ~previous(self.trigger))
            case Condition.HOLDS:
                return self.inside & self.trigger
        assert_never(self.condition)

    @property
    def _is_triggered(self) -> Stream:
        """True from the first trigger of an interval on."""
        return self.inside if self.condition is Condition.NONE else since(self.inside, self._fires)

    def _is_unanswered(self, wanted: Stream) -> Stream:
        """True inside an interval if there was a trigger, and `wanted` has not held since the last one."""
        fires, waiting = self._fires, self.inside & ~wanted
        return recur(Bool, [False], lambda before: waiting & (fires | before))

    def _judged_at_end(self, satisfied: Stream) -> Stream:
        """`satisfied` holds now, if this step is inside an interval, and held at the last step of each earlier one."""
        ended = previous(self.inside) & ~self.inside
        return always_been(implies(ended, previous(satisfied))) & implies(self.inside, satisfied)

    def _failure(self, timing: Timing, wanted: Stream) -> Stream:
        """True at a step at which a response is missing, or comes where there must be none."""
        inside, fires, n = self.inside, self._fires, self.duration
        match timing:
            case Timing.IMMEDIATELY:
                return fires & ~wanted
            case Timing.NEXT:
                return inside & previous(fires) & ~wanted
            case Timing.ALWAYS:
                return self._is_triggered & ~wanted
            case Timing.NEVER:
                return self._is_triggered & wanted
            case Timing.UNTIL:
                running = recur(Bool, [False], lambda before: inside & ~self.stop & (fires | before))
                return running & ~wanted
            case Timing.BEFORE:
                kept = previous(~wanted & ~self.stop)
                missing = recur(Bool, [False], lambda before: inside & (fires | (before & kept)))
                return self.stop & missing
            case Timing.FOR:
                return self._interruption(wanted, n)
            case Timing.WITHIN:
                return self._is_late(wanted, n)
            case Timing.AFTER:
                return self._interruption(~wanted, n) | self._is_late(wanted, n + 1)
        raise AssertionError(timing)

    def _interruption(self, wanted: Stream, n: int) -> Stream:
        return self.inside & (age_of(self._fires, n + 1, self.inside) <= n) & ~wanted

    def _is_late(self, wanted: Stream, n: int) -> Stream:
        """True if `wanted` has not held at a trigger n steps ago or more, nor since. Counts from the oldest such one,
        as n + 1 at the step at which it is late."""
        waiting, fires, count = self.inside & ~wanted, self._fires, word_for(n + 2)

        def after(before: Stream) -> Stream:
            return mux(waiting, mux(before > 0, mux(before <= n, before + 1, n + 1), mux(fires, count(1), count(0))), 0)

        return recur(count, [0], after) == n + 1

    def _failure_of_only(self, timing: Timing) -> Stream:
        """The same if the response must not be satisfied."""
        unwanted = ~self.response
        match timing:
            case Timing.EVENTUALLY:
                return self._failure(Timing.ALWAYS, unwanted)
            case Timing.UNTIL:
                return self._failure(Timing.BEFORE, unwanted)
            case Timing.BEFORE:
                return self._failure(Timing.UNTIL, unwanted)
            case Timing.FOR:
                return self._failure(Timing.WITHIN, unwanted)
            case Timing.WITHIN:
                return self._failure(Timing.FOR, unwanted)
            case Timing.AFTER:
                return self._came_after()
        return self._failure(timing, unwanted)

    def _came_after(self) -> Stream:
        """True if a response comes exactly n + 1 steps after a trigger, and none came before."""
        n = self.duration
        silent = run_of(self.inside & ~self.response, n + 1) > n
        return self.inside & self.response & previous(silent) & ago(self._fires, n + 1, False)
