"""Intervals: least and greatest values of integer terms, as far as their shape gives them."""

from __future__ import annotations

from streamcheck.core.term import Term, walk
from streamcheck.core.types import BOOL, MachineType

Interval = tuple[int, int]
UNBOUNDED: Interval = (-(1 << 256), 1 << 256)  # beyond any constant of a program


class Bounds:
    """Each term is looked at once."""

    def __init__(self) -> None:
        self._known: dict[Term, Interval] = {}
        self._done: set[Term] = set()

    def of(self, x: Term) -> Interval:
        for node in walk([x], self._done):
            if node.type.is_integer:
                full = (node.type.low, node.type.high) if isinstance(node.type, MachineType) else UNBOUNDED
                low, high = self._by_operator(node) or full
                self._known[node] = (low, high) if full[0] <= low and high <= full[1] else full
        return self._known[x]

    def _by_operator(self, x: Term) -> Interval | None:
        """The interval if nothing wraps around, else one that is not inside of the type."""
        known = [self._known.get(a) for a in x.args]
        match x.op, known:
            case "const", _:
                return int(x.payload), int(x.payload)
            case "cast", _ if x.args[0].type is BOOL:
                return 0, 1
            case "cast", [(low, high)]:
                return low, high
            case "mux", [_, (a, b), (c, d)]:
                return min(a, c), max(b, d)
            case (("add" | "sub" | "mul"), [(_, _) as a, (_, _) as b]):
                return exact_interval(x.op, a, b)
            case "rem", [(low, high), _] if x.args[1].is_const and x.args[1].payload:
                most = abs(x.args[1].payload) - 1
                return max(low, -most) if low < 0 else 0, min(high, most) if high > 0 else 0
            case "bitand", [(_, _) as a, (_, _) as b]:
                highs = [high for low, high in (a, b) if low >= 0]
                return (0, min(highs)) if highs else None
        return None


def exact_interval(op: str, a: Interval, b: Interval) -> Interval:
    """The exact results of add, sub or mul on all values of two intervals."""
    match op:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)
