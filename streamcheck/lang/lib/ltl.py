"""Linear temporal logic over the present and the next n steps (Copilot.Library.LTL).

These look ahead with `drop`, so their arguments must be known ahead: delayed streams, such as
`[True, True] ++ s` for n up to 2, or streams computed from cells alone. On an input `drop` is an error; `late` gives
the verdict later instead, and `ltl3` as soon as it is known. The past-time operators of `ptltl` and `mtl` often
express the same, a little later, and need no delay.

    >>> asked = extern("asked", Bool, [True, False, True, False, False])
    >>> given = extern("given", Bool, [False, True, False, False, False])
    >>> kept = ltl.late(1, lambda a, g: implies(a, ltl.eventually(1, g)), asked, given)
    true  true  true  false  true
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import plural
from streamcheck.lang.build import all_of, any_of, drop, implies
from streamcheck.lang.lib.parts import bool_stream, run_of, whole_number
from streamcheck.lang.stream import Operand, Stream, append
from streamcheck.lang.types import Bool

__all__ = ["always", "eventually", "late", "next", "release", "until"]


def next(s: Operand) -> Stream:
    """True if `s` holds at the next step: `drop(1, s)`.

    s                        1 0 1 1
    ltl.next([False] ++ s)   1 0 1 1
    """
    return drop(1, bool_stream(s, "next(s): s"))


def always(n: int, s: Operand) -> Stream:
    """True if `s` holds now and at each of the next `n` steps.

    s                            1 1 1 0 1
    ltl.always(1, [True] ++ s)   1 1 1 0 0
    """
    return all_of(_ahead(n, s, "always(n, s)", "s"))


def eventually(n: int, s: Operand) -> Stream:
    """True if `s` holds now or at one of the next `n` steps.

    s                                 0 0 1 0 0
    ltl.eventually(1, [False] ++ s)   0 0 1 1 0
    """
    return any_of(_ahead(n, s, "eventually(n, s)", "s"))


def until(n: int, p: Operand, q: Operand) -> Stream:
    """True if `q` holds now or at one of the next `n` steps, and `p` at every step from now to just before
    that one.

        p                                         1 1 0 0 1
        q                                         0 0 1 0 0
        ltl.until(1, [True] ++ p, [False] ++ q)   0 0 1 1 0
    """
    call = "until(n, p, q)"
    holds, ends = _ahead(n, p, call, "p"), _ahead(n, q, call, "q")
    result = ends.pop()
    for now, end in zip(holds[-2::-1], reversed(ends), strict=True):
        result = end | (now & result)
    return result


def release(n: int, p: Operand, q: Operand) -> Stream:
    """True if `q` holds now and at each of the next `n` steps, up to and including the first at which `p` holds:
    `~until(n, ~p, ~q)`.

        p                                           0 1 0 0 0
        q                                           1 1 0 1 1
        ltl.release(1, [False] ++ p, [True] ++ q)   1 1 1 0 1
    """
    call = "release(n, p, q)"
    frees, holds = _ahead(n, p, call, "p"), _ahead(n, q, call, "q")
    result = holds.pop()
    for free, now in zip(frees[-2::-1], reversed(holds), strict=True):
        result = now & (free | result)
    return result


def late(n: int, formula: Callable[..., Operand], *streams: Operand) -> Stream:
    """The value of the formula `n` steps ago, which may look up to `n` steps ahead; true at the first `n` steps, before
    which there is nothing. `formula` is a function of the Bool streams. `n` cells for each, and a counter.

        s                                                   0 1 0 0 1
        ltl.late(2, lambda s: ltl.eventually(2, s), s)   1 1 1 1 1
    """
    count = whole_number(n, 0, "late(n, formula, …): n")
    if not callable(formula) or isinstance(formula, Stream):
        write = f"ltl.late({count}, lambda s: ltl.eventually({count}, s), s)"
        raise SpecError(
            "late(n, formula, …): the formula is a function of the streams that follow", here(), write=write
        )
    known = [bool_stream(s, "late(n, formula, …): a stream") for s in streams]
    shifted = [append([False] * count, s) if count else s for s in known]
    try:
        inspect.signature(formula).bind(*shifted)
    except TypeError:
        names = ", ".join(inspect.signature(formula).parameters)
        message = f"late(n, formula, …): {plural(len(streams), 'stream')} for a formula of ({names})"
        raise SpecError(message, here(), write="a stream for each parameter") from None
    verdict = bool_stream(formula(*shifted), "late(n, formula, …): the formula")
    return implies(run_of(Bool(True), count + 1) > count, verdict) if count else verdict


def _ahead(n: int, s: Operand, call: str, name: str) -> list[Stream]:
    """`s` now and at each of the next `n` steps."""
    stream = bool_stream(s, f"{call}: {name}")
    return [drop(i, stream) for i in range(whole_number(n, 0, f"{call}: n") + 1)]
