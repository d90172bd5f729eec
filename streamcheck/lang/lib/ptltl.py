"""Past-time linear temporal logic (Copilot.Library.PTLTL): one cell each, over the whole past.

The meanings are the textbook's (Z. Manna, A. Pnueli: Temporal Verification of Reactive Systems: Safety,
1995): the past includes the present step, and before the first step there is nothing.

    >>> armed = extern("armed", Bool, [False, True, False, False])
    >>> safe = extern("safe", Bool, [True, True, True, False])
    >>> watched = ptltl.since(safe, armed)
    false  true  true  false
"""

from __future__ import annotations

from streamcheck.lang.build import pre
from streamcheck.lang.lib.parts import bool_stream, recur
from streamcheck.lang.stream import Operand, Stream
from streamcheck.lang.types import Bool

__all__ = ["always_been", "eventually_prev", "previous", "since"]


def previous(s: Operand) -> Stream:
    """True if `s` held one step ago; false at the first step.

    s                   0 1 1 0
    ptltl.previous(s)   0 0 1 1
    """
    return pre(False, bool_stream(s, "previous(s): s"))


def always_been(s: Operand) -> Stream:
    """True if `s` has held at every step so far, now included.

    s                      1 1 0 1
    ptltl.always_been(s)   1 1 0 0
    """
    now = bool_stream(s, "always_been(s): s")
    return recur(Bool, [True], lambda before: now & before)


def eventually_prev(s: Operand) -> Stream:
    """True if `s` has held at some step so far, now included.

    s                          0 1 0 0
    ptltl.eventually_prev(s)   0 1 1 1
    """
    now = bool_stream(s, "eventually_prev(s): s")
    return recur(Bool, [False], lambda before: now | before)


def since(p: Operand, q: Operand) -> Stream:
    """True if `q` held at some step so far, now included, and `p` at every step after that one, now
    included.

    (Copilot's differs: it is `always_been(implies(previous(eventually_prev(q)), p))`, true if `q` never
    held, and false at all later steps once `p` failed after the first `q`.)

        p                   0 0 1 1 0
        q                   0 1 0 0 0
        ptltl.since(p, q)   0 1 1 1 0
    """
    holds, begins = bool_stream(p, "since(p, q): p"), bool_stream(q, "since(p, q): q")
    return recur(Bool, [False], lambda before: begins | (holds & before))
