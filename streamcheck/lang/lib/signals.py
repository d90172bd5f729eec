"""Edges, memory, filters and limits of signals. Before the first step every Bool was false and
every output had its `init`.

    >>> button = extern("button", Bool, [False, True, True, False, True])
    >>> lamp = signals.toggle(signals.rose(button))
    false  true  true  true  false
"""

from __future__ import annotations

from fractions import Fraction

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import MachineType, Type
from streamcheck.lang.apply import literal
from streamcheck.lang.build import maximum, minimum, mux, pre
from streamcheck.lang.lib.parts import age_of, bool_stream, recur, run_of, whole_number, word_for
from streamcheck.lang.stream import Operand, Stream, make, node_of
from streamcheck.lang.types import Bool

__all__ = [
    "debounce",
    "fell",
    "held_for",
    "hold",
    "hysteresis",
    "latch",
    "rate_limit",
    "rose",
    "since_when",
    "toggle",
]


def rose(s: Operand) -> Stream:
    """True at the steps at which `s` becomes true; at the first step, if it is true then.

    s                 0 1 1 0 1
    signals.rose(s)   0 1 0 0 1
    """
    now = bool_stream(s, "rose(s): s")
    return now & ~pre(False, now)


def fell(s: Operand) -> Stream:
    """True at the steps at which `s` becomes false; never at the first step.

    s                 0 1 1 0 1
    signals.fell(s)   0 0 0 1 0
    """
    now = bool_stream(s, "fell(s): s")
    return ~now & pre(False, now)


def hold(init: Operand, s: Operand, when: Operand) -> Stream:
    """The value of `s` at the last step at which `when` held, now included; `init` before there is one.

    x                          4 6 8 2 5
    when                       0 1 0 0 1
    signals.hold(0, x, when)   0 6 6 6 5
    """
    stream, keeps = make(node_of(s)), bool_stream(when, "hold(init, s, when): when")
    return recur(stream._node.type, [init], lambda before: mux(keeps, stream, before))


def latch(set: Operand, clear: Operand = False) -> Stream:
    """True from a step at which `set` holds up to just before one at which `clear` holds. If both hold, false
    (`ptltl.since(~clear, set)` is true then).

        set                         0 1 0 0 1
        clear                       0 0 0 1 1
        signals.latch(set, clear)   0 1 1 0 0
    """
    sets, clears = bool_stream(set, "latch(set, clear): set"), bool_stream(clear, "latch(set, clear): clear")
    return recur(Bool, [False], lambda before: ~clears & (sets | before))


def toggle(s: Operand, init: bool = False) -> Stream:
    """A Bool that changes at every step at which `s` holds.

    s                   0 1 0 1 1
    signals.toggle(s)   0 1 1 0 1
    """
    changes = bool_stream(s, "toggle(s): s")
    return recur(Bool, [init], lambda before: before ^ changes)


def held_for(n: int, s: Operand) -> Stream:
    """True if `s` has held at each of the last `n` steps, now included, all of which exist. One counter.
    (`mtl.always_been(0, n - 1, s)` does not ask that they exist.)

        s                        1 1 0 1 1 1
        signals.held_for(2, s)   0 1 0 0 1 1
    """
    now, count = bool_stream(s, "held_for(n, s): s"), whole_number(n, 1, "held_for(n, s): n")
    return run_of(now, count) >= count


def since_when(most: int, s: Operand) -> Stream:
    """How many steps ago `s` last held, at most `most`, which also stands for never: 0 if it holds now. The smallest
    word that holds `most`.

        s                          0 0 1 0 0 0
        signals.since_when(2, s)   2 2 0 1 2 2
    """
    now = bool_stream(s, "since_when(most, s): s")
    return age_of(now, whole_number(most, 1, "since_when(most, s): most"))


def debounce(n: int, s: Operand, init: bool = False) -> Stream:
    """`s` without changes that last less than `n` steps: it becomes `s` at the `n`-th step in a row at which it
    differs from it. A counter and a Bool.

        s                        1 0 1 1 0 1 0 0
        signals.debounce(2, s)   0 0 0 1 1 1 1 0
    """
    raw, count = bool_stream(s, "debounce(n, s): s"), whole_number(n, 1, "debounce(n, s): n")

    def after(was: Stream) -> Stream:
        differs = recur(word_for(count), [0], lambda k: mux(raw == was, 0, mux(k < count, k + 1, 1)))
        return mux(differs == count, raw, was)

    return recur(Bool, [init], after)


def hysteresis(low: Operand, high: Operand, s: Stream, init: bool = False) -> Stream:
    """True once `s` is above `high`, false once it is below `low`, and as before in between (and at NaN). The bounds
    are constants or streams; if `low` is above `high`, above `high` is true.

        x                             4 7 9 7 4 2 4
        signals.hysteresis(3, 8, x)   0 0 1 1 1 0 0
    """
    _numbers(s, "hysteresis(low, high, s)")
    return recur(Bool, [init], lambda before: mux(s > high, True, mux(s < low, False, before)))


def rate_limit(init: Operand, up: int | float | Fraction, down: int | float | Fraction, s: Stream) -> Stream:
    """A stream that follows `s`, by at most `up` upward and at most `down` downward at each step, from `init` on. It
    never passes `s` and never wraps around. At a NaN it stays.

        x                                5 5 5 0 0 0
        signals.rate_limit(0, 2, 4, x)   2 4 5 1 0 0
    """
    type = _numbers(s, "rate_limit(init, up, down, s)")
    for name, limit in (("up", up), ("down", down)):
        if not isinstance(limit, int | float | Fraction) or isinstance(limit, bool) or limit < 0:
            message = f"rate_limit(init, up, down, s): {name}: expected a number of at least 0, found {limit!r}"
            raise SpecError(message, here())
        literal(type, limit)

    def after(before: Stream) -> Stream:
        higher, lower = minimum(s, before + up), maximum(s, before - down)
        if isinstance(type, MachineType):  # where they would wrap around, `s` is nearer than that
            higher = mux(before > type.high - up, s, higher)
            lower = mux(before < type.low + down, s, lower)
        return mux(s > before, higher, mux(s < before, lower, before))

    return recur(type, [init], after)


def _numbers(s: Operand, what: str) -> Type:
    type = s._node.type if isinstance(s, Stream) else None
    if type is None or not type.is_number:
        found = repr(s) if type is None else f"a stream of {type}"
        raise SpecError(f"{what}: expected a stream of numbers, found {found}", here())
    return type
