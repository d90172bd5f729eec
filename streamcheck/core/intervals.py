"""Interval arithmetic: the least and the greatest value of an integer term, as far as its operators imply them.

`exact_interval` is about exact results, before they wrap around: congruent modulo 2^w to what machine integers hold.
`within` gives the interval of the values: the same one if nothing wraps around, moved if everything wraps around
equally often, else that of the type. Intervals of Int may be unbounded: a bound is an int, or infinite.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

from streamcheck.core.term import Term, walk
from streamcheck.core.types import BOOL, EnumType, MachineType, Type

Interval: TypeAlias = tuple[float, float]
UNBOUNDED: Interval = (-math.inf, math.inf)
LARGEST_SHIFT = 1024  # a shift to the left by more is unbounded


def exact_interval(op: str, *operands: Interval) -> Interval:
    """The least interval, or nearly, of the exact results of an operator on all values of its operands; of `mux`, of
    both branches. Unbounded if the operator has no rule."""
    rule = RULES.get(op)
    return UNBOUNDED if rule is None else rule(*operands)


def interval_of_type(type: Type) -> Interval:
    match type:
        case MachineType():
            return type.low, type.high
        case EnumType():
            return min(type.codes), max(type.codes)
    return (0, 1) if type is BOOL else UNBOUNDED


def is_inside(inner: Interval, outer: Interval) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def is_bounded(interval: Interval) -> bool:
    return _is_finite(interval[0]) and _is_finite(interval[1])


def hull(a: Interval, b: Interval) -> Interval:
    """The least interval with both inside."""
    return min(a[0], b[0]), max(a[1], b[1])


def intersection(a: Interval, b: Interval) -> Interval:
    """The values in both. If there are none, `a`: an interval is never empty."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def wraps(exact: Interval, type: MachineType) -> tuple[int, int] | None:
    """The times that the least and the greatest number wrap around (negative: downwards). None if unbounded."""
    if not is_bounded(exact):
        return None
    first, last = ((int(bound) - type.low) >> type.width for bound in exact)
    return first, last


def within(exact: Interval, type: Type) -> Interval:
    """The values of exact results in a type, in which they may wrap around."""
    if not isinstance(type, MachineType):
        return exact if is_inside(exact, interval_of_type(type)) else interval_of_type(type)
    times = wraps(exact, type)
    if times is None or times[0] != times[1]:
        return type.low, type.high
    return exact[0] - (times[0] << type.width), exact[1] - (times[0] << type.width)


def decide(op: str, a: Interval, b: Interval) -> bool | None:
    """The value of a comparison if it is the same for all values of its operands, else None."""
    match op:
        case "lt":
            return True if a[1] < b[0] else False if a[0] >= b[1] else None
        case "gt":
            return decide("lt", b, a)
        case "eq":
            return False if a[1] < b[0] or b[1] < a[0] else True if a[0] == a[1] == b[0] == b[1] else None
        case "le" | "ge" | "ne":
            opposite = decide({"le": "gt", "ge": "lt", "ne": "eq"}[op], a, b)
            return None if opposite is None else not opposite
    return None


class Intervals:
    """The intervals of terms. `known`: those of some terms by other knowledge. Each term is looked at once."""

    def __init__(self, known: Mapping[Term, Interval] | None = None) -> None:
        self._known = dict(known or {})
        self._done: set[Term] = set()

    def of(self, root: Term) -> Interval:
        for node in walk([root], self._done):
            if node.type.is_integer and node not in self._known:
                self._known[node] = self._interval(node)
        return self._known[root]

    def _interval(self, node: Term) -> Interval:
        if node.is_const:
            return node.payload, node.payload
        operands = [self._known.get(a) or interval_of_type(a.type) for a in node.args]
        if node.op == "cast":
            return within(operands[0], node.type)
        if node.op == "mux":
            operands = operands[1:]
        return within(exact_interval(node.op, *operands), node.type)


# The arithmetic of bounds: Python's of integers, with infinities


def _is_finite(bound: float) -> bool:
    return abs(bound) != math.inf


def _plus(a: float, b: float) -> float:
    if _is_finite(a):
        return a + b if _is_finite(b) else b
    return a


def _times(a: float, b: float) -> float:
    if a == 0 or b == 0:
        return 0
    if _is_finite(a) and _is_finite(b):
        return a * b
    return math.inf if (a > 0) == (b > 0) else -math.inf


def _floor(a: float, b: float) -> float:
    """a // b for b other than 0."""
    same_sign = (a > 0) == (b > 0)
    if not _is_finite(b):
        return 0 if a == 0 or same_sign else -1
    if not _is_finite(a):
        return math.inf if same_sign else -math.inf
    return a // b


def _truncate(a: float, b: float) -> float:
    """a / b without its fraction, for b other than 0."""
    quotient = _floor(abs(a), abs(b))
    return quotient if (a >= 0) == (b > 0) else -quotient


# Operators


def _add(a: Interval, b: Interval) -> Interval:
    return _plus(a[0], b[0]), _plus(a[1], b[1])


def _neg(a: Interval) -> Interval:
    return -a[1], -a[0]


def _sub(a: Interval, b: Interval) -> Interval:
    return _add(a, _neg(b))


def _mul(a: Interval, b: Interval) -> Interval:
    corners = [_times(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _abs(a: Interval) -> Interval:
    ends = sorted(map(abs, a))
    return (0 if a[0] <= 0 <= a[1] else ends[0]), ends[1]


def _min(a: Interval, b: Interval) -> Interval:
    return min(a[0], b[0]), min(a[1], b[1])


def _max(a: Interval, b: Interval) -> Interval:
    return max(a[0], b[0]), max(a[1], b[1])


def _quotient(divide: Callable[[float, float], float]) -> Callable[[Interval, Interval], Interval]:
    """The rule of a division that is monotone in both operands, if these do not change their signs. By 0 it gives 0."""

    def rule(a: Interval, b: Interval) -> Interval:
        divisors = [d for d in (*b, 1, -1) if d != 0 and b[0] <= d <= b[1]]
        corners = [divide(x, y) for x in a for y in divisors]
        corners += [0] if b[0] <= 0 <= b[1] or a[0] <= 0 <= a[1] else []
        return min(corners), max(corners)

    return rule


def _mod(a: Interval, b: Interval) -> Interval:
    """The remainder has the divisor's sign. By 0 it is the dividend."""
    if a[0] >= 0 and a[1] < b[0]:
        return a
    low = 0 if b[0] >= 0 else b[0] + 1 if a[1] > 0 else max(a[0], b[0] + 1)
    high = 0 if b[1] <= 0 else b[1] - 1 if a[0] < 0 else min(a[1], b[1] - 1)
    return hull((low, high), a) if b[0] <= 0 <= b[1] else (low, high)


def _rem(a: Interval, b: Interval) -> Interval:
    """The remainder has the dividend's sign. By 0 it is the dividend."""
    if _abs(a)[1] < _abs(b)[0]:
        return a
    most = _abs(b)[1] - 1
    low = 0 if a[0] >= 0 else max(a[0], -most)
    high = 0 if a[1] <= 0 else min(a[1], most)
    return hull((low, high), a) if b[0] <= 0 <= b[1] else (low, high)


def _bitnot(a: Interval) -> Interval:
    return _sub((-1, -1), a)


def _bitand(a: Interval, b: Interval) -> Interval:
    highs = [high for low, high in (a, b) if low >= 0]
    return (0, min(highs)) if highs else UNBOUNDED


def _bitor(a: Interval, b: Interval) -> Interval:
    return (max(a[0], b[0]), _ones(a, b)) if min(a[0], b[0]) >= 0 else UNBOUNDED


def _bitxor(a: Interval, b: Interval) -> Interval:
    return (0, _ones(a, b)) if min(a[0], b[0]) >= 0 else UNBOUNDED


def _ones(a: Interval, b: Interval) -> float:
    """The greatest number that is as long as one of two intervals' in binary."""
    most = max(a[1], b[1])
    return (1 << int(most).bit_length()) - 1 if _is_finite(most) else most


def _shl(a: Interval, b: Interval) -> Interval:
    """By a negative amount it gives 0. By the width or more the exact result is 0 modulo 2^w."""
    if b[1] > LARGEST_SHIFT:
        return UNBOUNDED
    shifted = _mul(a, (1 << int(max(0, b[0])), 1 << int(max(0, b[1]))))
    return hull(shifted, (0, 0)) if b[0] < 0 else shifted


def _shr(a: Interval, b: Interval) -> Interval:
    """A negative amount shifts everything out, like one of the width or more."""
    amounts = (max(0, b[0]), LARGEST_SHIFT if b[0] < 0 else min(b[1], LARGEST_SHIFT))
    least, most = (1 << int(min(amount, LARGEST_SHIFT)) for amount in amounts)
    corners = [_floor(x, y) for x in a for y in (least, most)]
    return min(corners), max(corners)


RULES: Mapping[str, Callable[..., Interval]] = {
    "add": _add,
    "sub": _sub,
    "neg": _neg,
    "mul": _mul,
    "abs": _abs,
    "min": _min,
    "max": _max,
    "mux": hull,
    "floordiv": _quotient(_floor),
    "quot": _quotient(_truncate),
    "mod": _mod,
    "rem": _rem,
    "bitnot": _bitnot,
    "bitand": _bitand,
    "bitor": _bitor,
    "bitxor": _bitxor,
    "shl": _shl,
    "shr": _shr,
}
