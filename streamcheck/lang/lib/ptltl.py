"""Past-time linear temporal logic (Copilot.Library.PTLTL): one cell each, over the whole past.

The meanings are the textbook's (Z. Manna, A. Pnueli: Temporal Verification of Reactive Systems: Safety,
1995): the past includes the present step, and before the first step there is nothing.
"""

from __future__ import annotations

from streamcheck.lang.build import pre
from streamcheck.lang.lib.parts import bool_stream, recur
from streamcheck.lang.stream import Operand, Stream
from streamcheck.lang.types import Bool


def previous(s: Operand) -> Stream:
    """True if `s` held one step ago; false at the first step."""
    return pre(False, bool_stream(s, "previous(s): s"))


def always_been(s: Operand) -> Stream:
    """True if `s` has held at every step so far, now included."""
    now = bool_stream(s, "always_been(s): s")
    return recur(Bool, [True], lambda before: now & before)


def eventually_prev(s: Operand) -> Stream:
    """True if `s` has held at some step so far, now included."""
    now = bool_stream(s, "eventually_prev(s): s")
    return recur(Bool, [False], lambda before: now | before)


def since(p: Operand, q: Operand) -> Stream:
    """True if `q` held at some step so far, now included, and `p` at every step after that one, now
    included.

    (Copilot's differs: it is `always_been(implies(previous(eventually_prev(q)), p))`, true if `q` never
    held, and false at all later steps once `p` failed after the first `q`.)"""
    holds, begins = bool_stream(p, "since(p, q): p"), bool_stream(q, "since(p, q): q")
    return recur(Bool, [False], lambda before: begins | (holds & before))
