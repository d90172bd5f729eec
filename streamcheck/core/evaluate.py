"""The meaning of a term under values for its variables: the Python column of the operator table, compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

from streamcheck.core.operators import HELPERS, OPERATORS, Signature, fill
from streamcheck.core.term import Term, walk
from streamcheck.core.types import Value

PARAMETERS = {"a": "a", "b": "b", "c": "c"}


def meaning(node: Term) -> Callable[..., Value]:
    """The Python function of one operator at the types of this node."""
    if node.op in ("array", "struct"):
        return _tuple_of
    return _meaning(node.op, *(a.type for a in node.args), result=node.type, payload=node.payload)


def _tuple_of(*values: Value) -> Value:
    return values


@cache
def _meaning(op: str, *types: Any, result: Any, payload: Any) -> Callable[..., Value]:
    form = OPERATORS[op].python_form(Signature(types, result, payload))
    parameters = ", ".join("abc"[: len(types)])
    function: Callable[..., Value] = eval(f"lambda {parameters}: {fill(form, PARAMETERS)}", dict(HELPERS))
    return function


UNKNOWN_FUNCTION = re.compile(r"^\((\w+_(?:Float|Double))((?: [abc])+)\)$")


def unknown_function(node: Term) -> str | None:
    """The name of the function that solvers know by name only, where the node applies one."""
    row = OPERATORS.get(node.op)
    if row is None or row.smt is None:
        return None
    found = UNKNOWN_FUNCTION.match(row.smt_form(node.signature))
    return found[1] if found else None


def is_unknown_function(node: Term) -> bool:
    return unknown_function(node) is not None


def evaluate(roots: Iterable[Term], values: Mapping[Term, Value]) -> dict[Term, Value]:
    """The value of every node below the roots."""
    results: dict[Term, Value] = {}
    for node in walk(roots):
        if node.op == "const":
            results[node] = node.payload
        elif node.op == "var":
            results[node] = values[node]
        else:
            results[node] = meaning(node)(*[results[a] for a in node.args])
    return results


def value_of(node: Term, values: Mapping[Term, Value]) -> Value:
    return evaluate([node], values)[node]
