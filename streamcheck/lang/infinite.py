"""Claims about infinite runs as streams: each is true of a run if, and only if, its stream is true infinitely often."""

from __future__ import annotations

from streamcheck.core.types import BOOL
from streamcheck.lang.build import pre
from streamcheck.lang.lib.parts import recur
from streamcheck.lang.stream import Stream


def has_been(p: Stream) -> Stream:
    """True from the first step on at which `p` is: infinitely often if `p` is true at some step."""
    return recur(BOOL, [False], lambda before: before | p)


def is_over(p: Stream, q: Stream) -> Stream:
    """True from the first step on at which `q` is, if `p` was true at all steps before it; else never."""
    holds_on = recur(BOOL, [True], lambda before: before & (p | q))
    return recur(BOOL, [False], lambda before: before | (q & pre(True, holds_on)))


def is_quiet(p: Stream, q: Stream) -> Stream:
    """True if no `p` waits for its `q`: infinitely often if each has one, at the same step or later."""
    return ~recur(BOOL, [False], lambda before: (before | p) & ~q)
