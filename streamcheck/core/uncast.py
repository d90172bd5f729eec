"""Comparisons of machine integers that were taken to Int, back in their own type: `cast(Int, n) <= 20` is `n <= 20`.

Invariants over mathematical integers come back with such casts. What every value of the type meets is true.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from streamcheck.core.simplify import conjunction, disjunction, simplify
from streamcheck.core.term import FALSE, TRUE, Term, constant, fold, rebuild, term
from streamcheck.core.types import INT, EnumType, MachineType

MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne", "same": "same"}
EVERYWHERE: Mapping[str, Callable[[int, int, int], bool | None]] = {  # the truth for all values from low to high
    "lt": lambda low, high, c: high < c or (None if low < c else False),
    "le": lambda low, high, c: high <= c or (None if low <= c else False),
    "gt": lambda low, high, c: low > c or (None if high > c else False),
    "ge": lambda low, high, c: low >= c or (None if high >= c else False),
    "eq": lambda low, high, c: None if low <= c <= high else False,
    "ne": lambda low, high, c: None if low <= c <= high else True,
    "same": lambda low, high, c: None if low <= c <= high else False,
}


def without_casts(roots: Iterable[Term]) -> dict[Term, Term]:
    """Each root with the comparisons in it in the machine types of what they compare, simplified."""
    roots = list(roots)
    image = fold(roots, _rewrite)
    simple = simplify(image[root] for root in roots)
    return {root: simple[image[root]] for root in roots}


def _rewrite(node: Term, args: list[Term]) -> Term:
    if node.op == "mod" and (inner := _machine(args[0])) is not None and args[1].is_const:
        divisor = args[1].payload
        if isinstance(inner.type, MachineType) and 0 < divisor <= inner.type.high:
            return term("cast", term("mod", inner, constant(inner.type, divisor)), payload=INT)
    if node.op in MIRRORED:
        return _comparison(node.op, *args) or _comparison(MIRRORED[node.op], *reversed(args)) or rebuild(node, args)
    return rebuild(node, args)


def _comparison(op: str, a: Term, b: Term) -> Term | None:
    """The comparison of a cast integer with a constant, or with another of its type, if it is one."""
    left, right = _machine(a), _machine(b)
    if left is None:
        return None
    if right is not None and right.type is left.type and (op in ("eq", "ne", "same") or left.type.is_number):
        return term(op, left, right)
    if not b.is_const:
        return None
    if isinstance(left.type, EnumType):
        return _members(op, left, left.type, b.payload)
    assert isinstance(left.type, MachineType)
    truth = EVERYWHERE[op](left.type.low, left.type.high, b.payload)
    if truth is not None:
        return TRUE if truth else FALSE
    return term(op, left, constant(left.type, b.payload)) if left.type.low <= b.payload <= left.type.high else None


def _members(op: str, value: Term, type: EnumType, bound: int) -> Term:
    """The members whose codes meet the comparison."""
    fitting = [code for code in type.codes if EVERYWHERE[op](code, code, bound) is not False]
    if op in ("eq", "same"):
        fitting = [code for code in fitting if code == bound]
    if op == "ne":
        fitting = [code for code in type.codes if code != bound]
    if 2 * len(fitting) > len(type.codes):
        others = (term("ne", value, constant(type, code)) for code in type.codes if code not in fitting)
        return conjunction(*others)
    return disjunction(*(term("eq", value, constant(type, code)) for code in fitting))


def _machine(node: Term) -> Term | None:
    """The machine integer, or the member of an enum, whose value the term is, as an Int."""
    is_cast = node.op == "cast" and node.type is INT and isinstance(node.args[0].type, MachineType | EnumType)
    return node.args[0] if is_cast else None
