"""Linear temporal logic over the present and the next n steps (Copilot.Library.LTL).

These look ahead with `drop`, so their arguments must be known ahead: delayed streams, such as
`[True, True] ++ s` for n up to 2, or streams computed from cells alone. On an input `drop` is an error. The
past-time operators of `ptltl` and `mtl` often express the same, a little later, and need no delay.
"""

from __future__ import annotations

from streamcheck.lang.build import all_of, any_of, drop
from streamcheck.lang.lib.parts import bool_stream, whole_number
from streamcheck.lang.stream import Operand, Stream


def next(s: Operand) -> Stream:
    """True if `s` holds at the next step: `drop(1, s)`."""
    return drop(1, bool_stream(s, "next(s): s"))


def always(n: int, s: Operand) -> Stream:
    """True if `s` holds now and at each of the next `n` steps."""
    return all_of(_ahead(n, s, "always(n, s)", "s"))


def eventually(n: int, s: Operand) -> Stream:
    """True if `s` holds now or at one of the next `n` steps."""
    return any_of(_ahead(n, s, "eventually(n, s)", "s"))


def until(n: int, p: Operand, q: Operand) -> Stream:
    """True if `q` holds now or at one of the next `n` steps, and `p` at every step from now to just before
    that one."""
    call = "until(n, p, q)"
    holds, ends = _ahead(n, p, call, "p"), _ahead(n, q, call, "q")
    result = ends.pop()
    for now, end in zip(holds[-2::-1], reversed(ends), strict=True):
        result = end | (now & result)
    return result


def release(n: int, p: Operand, q: Operand) -> Stream:
    """True if `q` holds now and at each of the next `n` steps, up to and including the first at which `p` holds:
    `~until(n, ~p, ~q)`."""
    call = "release(n, p, q)"
    frees, holds = _ahead(n, p, call, "p"), _ahead(n, q, call, "q")
    result = holds.pop()
    for free, now in zip(frees[-2::-1], reversed(holds), strict=True):
        result = now & (free | result)
    return result


def _ahead(n: int, s: Operand, call: str, name: str) -> list[Stream]:
    """`s` now and at each of the next `n` steps."""
    stream = bool_stream(s, f"{call}: {name}")
    return [drop(i, stream) for i in range(whole_number(n, 0, f"{call}: n") + 1)]
