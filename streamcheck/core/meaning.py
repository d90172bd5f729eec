"""The meaning of an operator: the Python column of the operator table, compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

from streamcheck.core.operators import HELPERS, OPERATORS, Signature, fill
from streamcheck.core.term import Term
from streamcheck.core.types import ArrayType, Value

PARAMETERS = {"a": "a", "b": "b", "c": "c"}


def meaning(node: Term) -> Callable[..., Value]:
    """The Python function of one operator at the types of this node."""
    if isinstance(node.type, ArrayType) and node.op == "array" and len(node.args) < node.type.length:
        return partial(_all_of, node.type.length)
    if node.op in ("array", "struct"):
        return _tuple_of
    return _meaning(node.op, *(a.type for a in node.args), result=node.type, payload=node.payload)


def _tuple_of(*values: Value) -> Value:
    return values


def _all_of(length: int, value: Value) -> Value:
    return (value,) * length


@cache
def _meaning(op: str, *types: Any, result: Any, payload: Any) -> Callable[..., Value]:
    form = OPERATORS[op].python_form(Signature(types, result, payload))
    parameters = ", ".join("abc"[: len(types)])
    function: Callable[..., Value] = eval(f"lambda {parameters}: {fill(form, PARAMETERS)}", dict(HELPERS))
    return function
