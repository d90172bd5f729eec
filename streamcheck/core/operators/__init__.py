"""The operator table: one row for each operator, with its type rule, Python meaning, SMT form and C form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from streamcheck.core import floats
from streamcheck.core.operators import arithmetic, c_helpers, composites, conversions, logic
from streamcheck.core.operators.table import Operator, Signature, TypeRule, c_type, fill
from streamcheck.core.types import Value

__all__ = ["HELPERS", "OPERATORS", "Operator", "Signature", "TypeRule", "c_function", "c_type", "fill"]
__all__ += ["needed_functions"]

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {row.name: row for rows in (logic, arithmetic, conversions, composites) for row in rows.ROWS}
)


def c_function(name: str) -> str:
    """The definition of a `sc_…` function that C forms call. KeyError if no row defines it: an internal error."""
    parts = re.fullmatch(r"sc_(?:(\w+)_)?([iu]\d+)(?:_of_f(32|64))?", name)
    match parts and parts.groups():
        case (None, t, None):
            return c_helpers.signed_from_bits(t)
        case (None, t, f):
            return c_helpers.integer_of_float(t, int(f))
        case (op, t, None) if op in OPERATORS:
            definition = OPERATORS[op].c_function
            if definition is not None:
                return definition(t)
    raise KeyError(f"no row of the operator table defines the C function {name}")


def needed_functions(name: str) -> list[str]:
    """The other `sc_…` functions that this one calls."""
    return [other for other in c_helpers.called_functions(c_function(name)) if other != name]


def _check_c_forms() -> None:
    for row in OPERATORS.values():
        forms = row.c.values() if isinstance(row.c, Mapping) else [row.c]
        for form in forms:
            for name in c_helpers.called_functions(form.replace("{t}", "i8")) if isinstance(form, str) else ():
                c_function(name)


_check_c_forms()


def equal(a: Value, b: Value) -> bool:
    """Equality element by element, so that a NaN inside differs from itself."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return all(map(equal, a, b))
    return a == b


def with_element(a: tuple[Value, ...], i: int, value: Value) -> tuple[Value, ...]:
    return (*a[:i], value, *a[i + 1 :])


def quot(a: int, b: int) -> int:
    if b == 0:
        return 0
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


def rem(a: int, b: int) -> int:
    return a - b * quot(a, b) if b else a


# The functions that the Python column may call.
HELPERS = MappingProxyType(
    {
        **{name: f for name, f in vars(floats).items() if callable(f) and not name.startswith("_")},
        **{f.__name__: f for f in (equal, with_element, quot, rem, Fraction)},
        "inf": float("inf"),
        "nan": float("nan"),
    }
)
