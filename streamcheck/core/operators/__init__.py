"""The operator table: each operator's type rule, Python meaning, SMT form and C form, one row each."""

from __future__ import annotations

from fractions import Fraction
from types import MappingProxyType

from streamcheck.core import floats
from streamcheck.core.operators import arithmetic, composites, conversions, logic
from streamcheck.core.operators.table import Operator, Signature, TypeRule, c_type, fill
from streamcheck.core.types import Value

__all__ = ["HELPERS", "OPERATORS", "Operator", "Signature", "TypeRule", "c_type", "fill"]

OPERATORS = MappingProxyType(
    {row.name: row for rows in (logic, arithmetic, conversions, composites) for row in rows.ROWS}
)


def same(a: Value, b: Value) -> bool:
    """Equality element by element, so that a NaN inside differs from itself."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return all(map(same, a, b))
    return a == b


def replaced(a: tuple[Value, ...], i: int, value: Value) -> tuple[Value, ...]:
    return (*a[:i], value, *a[i + 1 :])


def quot(a: int, b: int) -> int:
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def rem(a: int, b: int) -> int:
    return a - b * quot(a, b) if b else a


# What the texts of the Python column may call.
HELPERS = MappingProxyType(
    {
        **{name: f for name, f in vars(floats).items() if callable(f) and not name.startswith("_")},
        **{f.__name__: f for f in (same, replaced, quot, rem, Fraction)},
        "inf": float("inf"),
        "nan": float("nan"),
    }
)
