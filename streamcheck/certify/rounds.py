"""Many rounds of a loop at once, exactly, by induction over their number.

In rounds that all follow the same edges with the same choices, a counter grows by the same number each time, a sum of
counters by another one more: their values are polynomials of the number of the round. Written as Newton did,

    f(i) = a_0 + a_1·i + a_2·C(i, 2) + a_3·C(i, 3) + …        a_k is the k-th difference of f(0), f(1), …

such a series has integer factors, its shift f(i + 1) has the factors a_k + a_k+1, and if all factors but the first
have one sign it only grows or only falls. The first rounds are executed, and suggest a series for each variable. These
are right, and the conditions of all edges true in each of n rounds, if

    f(0) is the value at the beginning
    f(i + 1) is what the edges make of f(i), and their conditions are true of f(i), for every i below n

The second is computed with series in place of values: `over` knows the operations on them that it can decide for all
i below n, wrap-around included, and knows nothing of all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import comb
from typing import Any, TypeAlias

from streamcheck.certify.evaluate import apply
from streamcheck.core.floats import identical
from streamcheck.core.term import Term, walk
from streamcheck.core.types import MachineType, Type, Value
from streamcheck.problem.automaton import Edge

Series: TypeAlias = tuple[Any, ...]  # a_0, a_1, …; the last one is not zero unless it is the only one
KnownValues: TypeAlias = Mapping[Term, Value]  # values of variables; of those that are missing, nothing is known
TakenEdge: TypeAlias = tuple[Edge, Mapping[Term, Value]]  # with its choices

DEGREE = 4  # of a series at most


def follow(step: TakenEdge, values: KnownValues) -> KnownValues | str:
    """The values after an edge, or the reason why it is not taken."""
    edge, chosen = step
    results = over(edge.roots(), {v: (value,) for v, value in {**values, **chosen}.items()}, 1)
    if results[edge.guard] is None:
        return f"the condition of {edge.text} depends on values that many rounds leave open"
    if results[edge.guard] != (True,):
        return f"the condition of {edge.text} is false"
    after = dict(values)
    for v, new in edge.updates:
        result = results[new]
        after.pop(v, None)
        if result is not None:
            after[v] = result[0]
    return after


def repeat(steps: Sequence[TakenEdge], values: KnownValues, times: int) -> KnownValues | str:
    """The values after so many rounds of the steps, or the reason why they are not known to be taken."""
    samples = [values]
    for _ in range(min(times, DEGREE + 2)):
        for step in steps:
            after = follow(step, values)
            if isinstance(after, str):
                return after
            values = after
        samples.append(values)
    if len(samples) == times + 1:
        return values
    series = {v: found for v in samples[0] if (found := _series_of(samples, v)) is not None}
    while True:
        doubt, after_round = _round(steps, series, times)
        right = {v: form for v, form in series.items() if _is_same(after_round.get(v), _next_series(form))}
        if len(right) == len(series):
            return doubt or {v: _at(form, times) for v, form in series.items()}
        series = right


def _round(
    steps: Sequence[TakenEdge], series: Mapping[Term, Series], times: int
) -> tuple[str, Mapping[Term, Series | None]]:
    """A condition that is not known to be true in each round, if there is one, and what a round makes of the series."""
    doubt = ""
    now: dict[Term, Series | None] = dict(series)
    for edge, chosen in steps:
        results = over(edge.roots(), {**now, **{c: (value,) for c, value in chosen.items()}}, times)
        if results[edge.guard] != (True,):
            doubt = f"the condition of {edge.text} is not known to be true in each of {times} rounds"
        now.update({v: results[new] for v, new in edge.updates})
    return doubt, now


def over(roots: Iterable[Term], given: Mapping[Term, Series | None], times: int) -> dict[Term, Series | None]:
    """The series of every node below the roots in so many rounds, None where it is not known."""
    results: dict[Term, Series | None] = {}
    for node in walk(roots):
        if node.op == "const":
            results[node] = (node.payload,)
        elif node.op == "var":
            results[node] = given.get(node)
        else:
            results[node] = _result(node, [results[a] for a in node.args], times)
    return results


def _result(node: Term, args: list[Series | None], times: int) -> Series | None:
    decided = _result_of_some(node.op, args)
    if decided is not None:
        return decided
    known = [a for a in args if a is not None]
    if len(known) < len(args):
        return None
    if all(len(a) == 1 for a in known):
        return (apply(node, [a[0] for a in known]),)
    if node.op == "cast":
        return _cast(known[0], node.args[0].type, node.type, times)
    if node.op in ("lt", "le", "gt", "ge", "eq", "ne", "same"):
        return _compare(node.op, known[0], known[1], times)
    if node.op == "mux":
        return known[1] if _is_same(known[1], known[2]) else None
    exact = _arithmetic(node, known, times)
    return None if exact is None else _in_type(exact, node.type, times)


def _result_of_some(op: str, args: list[Series | None]) -> Series | None:
    """The result that some operands give, whatever the others are."""
    match op:
        case "and" if (False,) in args:
            return (False,)
        case "or" if (True,) in args:
            return (True,)
        case "implies" if args[0] == (False,) or args[1] == (True,):
            return (True,)
        case "mux" if args[0] is not None and len(args[0]) == 1:
            return args[1] if args[0][0] else args[2]
    return None


def _arithmetic(node: Term, args: list[Series], times: int) -> Series | None:
    """The exact result, before it is brought into the type."""
    a, *others = args
    b = others[0] if others else (0,)
    match node.op:
        case "add":
            return _plus(a, b)
        case "sub":
            return _plus(a, b, -1)
        case "neg":
            return _plus((0,), a, -1)
        case "bitnot" if isinstance(node.type, MachineType):
            return _plus((-1,), a, -1)
        case "mul":
            return _product(a, b)
        case "floordiv" | "mod" | "quot" | "rem" if len(b) == 1 and b[0] > 0:
            if node.op in ("quot", "rem") and _bounds(a, times)[0] < 0:
                return None  # these round towards zero
            return _quotient(a, b[0], times)[node.op in ("mod", "rem")]
        case "bitand" if isinstance(node.type, MachineType):
            return next((_quotient(x, m[0] + 1, times)[1] for x, m in ((a, b), (b, a)) if _is_mask(m)), None)
        case "shl" | "shr" if isinstance(node.type, MachineType) and len(b) == 1 and 0 <= b[0] < node.type.width:
            return _product(a, (2 ** b[0],)) if node.op == "shl" else _quotient(a, 2 ** b[0], times)[0]
        case "abs":
            low, high = _bounds(a, times)
            return a if low >= 0 else _plus((0,), a, -1) if high <= 0 else None
        case "min" | "max":
            low, high = _bounds(_plus(a, b, -1), times)
            least, most = (a, b) if high <= 0 else (b, a)
            return None if low < 0 < high else least if node.op == "min" else most
    return None


def _is_mask(a: Series) -> bool:
    return len(a) == 1 and a[0] >= 0 and a[0] & (a[0] + 1) == 0


def _quotient(a: Series, by: int, times: int) -> tuple[Series | None, Series | None]:
    """Quotient and remainder, rounded down."""
    if all(factor % by == 0 for factor in a[1:]):
        return tuple(factor // by for factor in a), (a[0] % by,)
    low, high = _bounds(a, times)
    quotient = low // by
    return ((quotient,), _plus(a, (quotient * by,), -1)) if high // by == quotient else (None, None)


def _cast(a: Series, source: Type, target: Type, times: int) -> Series | None:
    if target.kind == "bool":
        return _compare("ne", a, (0,), times)
    whole = source.kind in ("integer", "signed", "unsigned") and target.kind in ("integer", "signed", "unsigned")
    return _in_type(a, target, times) if whole else None


def _compare(op: str, a: Series, b: Series, times: int) -> Series | None:
    difference = _plus(a, b, -1)
    low, high = _bounds(difference, times)
    match op:
        case "lt" | "ge":
            return (op == "lt",) if high < 0 else (op == "ge",) if low >= 0 else None
        case "le" | "gt":
            return (op == "le",) if high <= 0 else (op == "gt",) if low > 0 else None
    if difference == (0,):
        return (op != "ne",)
    never = low > 0 or high < 0 or (len(difference) == 2 and difference[0] % difference[1] != 0)
    return (op == "ne",) if never else None


def _in_type(a: Series, type: Type, times: int) -> Series | None:
    """The series in the type that is congruent to an exact one. None if it wraps around on the way."""
    if not isinstance(type, MachineType):
        return a
    period = type.high - type.low + 1
    low, high = ((bound - type.low) // period for bound in _bounds(a, times))
    return _plus(a, (low * period,), -1) if low == high else None


# Series


def _bounds(a: Series, times: int) -> tuple[Any, Any]:
    """Bounds on the values in so many rounds: the least and the greatest one, of what only grows or only falls."""
    ends = [(factor * comb(times - 1, k)) for k, factor in enumerate(a)]
    return a[0] + sum(e for e in ends[1:] if e < 0), a[0] + sum(e for e in ends[1:] if e > 0)


def _at(a: Series, i: int) -> Any:
    return a[0] if len(a) == 1 else sum(factor * comb(i, k) for k, factor in enumerate(a))


def _next_series(a: Series) -> Series:
    """f(i + 1)."""
    return (*(x + y for x, y in pairwise(a)), a[-1])


def _plus(a: Series, b: Series, sign: int = 1) -> Series:
    size = max(len(a), len(b))
    padded = ((*s, *(0,) * (size - len(s))) for s in (a, b))
    return _trim([x + sign * y for x, y in zip(*padded, strict=True)])


def _product(a: Series, b: Series) -> Series:
    return _series_through([_at(a, i) * _at(b, i) for i in range(len(a) + len(b) - 1)])


def _series_through(values: Sequence[Any]) -> Series:
    """The series of least degree through these values: their differences."""
    factors, row = [], list(values)
    while row:
        factors.append(row[0])
        row = [y - x for x, y in pairwise(row)]
    return _trim(factors)


def _trim(factors: list[Any]) -> Series:
    while len(factors) > 1 and not factors[-1]:
        factors.pop()
    return tuple(factors)


def _series_of(samples: Sequence[KnownValues], v: Term) -> Series | None:
    """The series that the values suggest."""
    values = [sample[v] for sample in samples if v in sample]
    if len(values) < len(samples):
        return None
    if v.type.kind in ("integer", "signed", "unsigned", "real"):
        found = _series_through(values)
        return found if len(found) <= DEGREE + 1 else None
    return (values[0],) if all(identical(value, values[0]) for value in values) else None


def _is_same(a: Series | None, b: Series) -> bool:
    return a is not None and len(a) == len(b) and all(identical(x, y) for x, y in zip(a, b, strict=True))
