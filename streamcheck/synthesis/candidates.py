"""Terms that a variable may be given, read off the conditions on it.

From `x + 2 <= o` comes `x + 2`, from `3 * o = y` comes `y / 3`; of whole numbers the neighbours too, of Reals the
middle of two. Choices are entered on both sides. Heuristic: whether a candidate will do is decided by the solver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from streamcheck.core.simplify import simple_term
from streamcheck.core.term import Term, constant, variables, walk
from streamcheck.core.types import EnumType

COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
MOST = 40  # candidates of a variable
PAIRS = 6  # terms of which middles are taken


def candidates(unknown: Term, conditions: Iterable[Term], known: Iterable[Term]) -> list[Term]:
    """Terms over known variables, those that bound the unknown first, then constants."""
    usable = bounds_of(unknown, conditions, known)
    whole = unknown.type.is_integer
    steps = [simple_term(op, t, constant(t.type, 1)) for t in usable for op in ("add", "sub") if t.type.is_number]
    middles = []
    if unknown.type.kind == "real":
        half = constant(unknown.type, 2)
        middles = [simple_term("div", simple_term("add", a, b), half) for a, b in combinations(usable[:PAIRS], 2)]
    found = [*usable, *middles, *(steps if whole or unknown.type.kind == "real" else ())]
    return list(dict.fromkeys([*found[:MOST], *_constants(unknown)]))


def bounds_of(unknown: Term, conditions: Iterable[Term], known: Iterable[Term]) -> list[Term]:
    """The terms over known variables with which the conditions compare the unknown."""
    allowed = set(known)
    return [t for t in dict.fromkeys(_bounds(unknown, conditions)) if allowed.issuperset(variables([t]))]


def _constants(unknown: Term) -> list[Term]:
    if unknown.type.kind == "bool":
        return [constant(unknown.type, False), constant(unknown.type, True)]
    if isinstance(unknown.type, EnumType):
        return [constant(unknown.type, code) for code in unknown.type.codes]
    return [constant(unknown.type, 0)]


def atoms(conditions: Iterable[Term]) -> Iterator[Term]:
    """The comparisons in the conditions."""
    return (node for node in walk(conditions) if node.op in COMPARISONS)


def _bounds(unknown: Term, conditions: Iterable[Term]) -> Iterator[Term]:
    for atom in atoms(conditions):
        for side, other in (atom.args, atom.args[::-1]):
            if side.type is unknown.type and unknown not in variables([other]):
                yield from _values_at(unknown, side, other)


def _values_at(unknown: Term, side: Term, other: Term) -> Iterator[Term]:
    """The values of the unknown at which the side is equal to the other one."""
    stack = [(side, other)]
    while stack:
        side, other = stack.pop()
        if side is unknown:
            yield other
            continue
        inside = [unknown in variables([a]) for a in side.args]
        match side.op, inside:
            case "add", [True, False]:
                stack.append((side.args[0], simple_term("sub", other, side.args[1])))
            case "add", [False, True]:
                stack.append((side.args[1], simple_term("sub", other, side.args[0])))
            case "sub", [True, False]:
                stack.append((side.args[0], simple_term("add", other, side.args[1])))
            case "sub", [False, True]:
                stack.append((side.args[1], simple_term("sub", side.args[0], other)))
            case "neg", [True]:
                stack.append((side.args[0], simple_term("neg", other)))
            case "mul", [True, False] if _is_factor(side.args[1]):
                stack.append((side.args[0], _quotient(other, side.args[1])))
            case "mul", [False, True] if _is_factor(side.args[0]):
                stack.append((side.args[1], _quotient(other, side.args[0])))
            case "mux", [False, *_]:
                stack.extend((a, other) for a in side.args[1:])


def _is_factor(side: Term) -> bool:
    return side.is_const and side.payload != 0 and side.type.kind in ("integer", "real")


def _quotient(other: Term, factor: Term) -> Term:
    return simple_term("div" if factor.type.kind == "real" else "floordiv", other, factor)
