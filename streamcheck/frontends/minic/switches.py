"""The cases of a switch (6.8.4.2)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from streamcheck.c.arithmetic import CValue
from streamcheck.c.extensions import RANGE
from streamcheck.c.kinds import AnyKind
from streamcheck.c.syntax import called_name, form
from streamcheck.c.terms import comparison
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions


def cases_of(node: Any) -> Iterator[Any]:
    """The cases of a switch, not of those within it."""
    if node is None or form(node) == "Switch":
        return
    if form(node) in ("Case", "Default"):
        yield node
    for _, child in node.children():
        yield from cases_of(child)


def refuse_repeated(cases: list[Any], kind: AnyKind, to: Expressions) -> None:
    """Error if two cases of a switch have one value, or if it has two defaults (6.8.4.2)."""
    defaults = [case for case in cases if form(case) == "Default"]
    if len(defaults) > 1:
        raise to.error("a second default in one switch", defaults[1])
    ranges = ((*(int(bound.payload) for bound in _codes(c, kind, to)), c) for c in cases if form(c) == "Case")
    ordered = sorted(((low, high, i, case) for i, (low, high, case) in enumerate(ranges) if low <= high))
    for (_, end, i, one), (begin, _, j, other) in pairwise(ordered):
        if begin <= end:
            raise to.error(f"two cases of one switch have the value {begin}", one if i > j else other)


def guard_of(case: Any, value: CValue, to: Expressions) -> Term:
    """The condition of a case: one value, or a range of them."""
    low, high = _codes(case, value.kind, to)
    if low is high:
        return comparison("eq", value.term, low)
    return conjunction(comparison("ge", value.term, low), comparison("le", value.term, high))


def _codes(case: Any, kind: AnyKind, to: Expressions) -> tuple[Term, Term]:
    """The first and the last value of a case."""
    if form(case.expr) == "FuncCall" and called_name(case.expr) == RANGE:
        low, high = (_code(bound, kind, to) for bound in case.expr.args.exprs)
        return low, high
    code = _code(case.expr, kind, to)
    return code, code


def _code(node: Any, kind: AnyKind, to: Expressions) -> Term:
    to.constant(node)
    return to.arithmetic.convert(to.scalar(node), kind).term
