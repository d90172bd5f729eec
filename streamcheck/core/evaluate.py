"""The meaning of a term under values for its variables: the Python column of the operator table, compiled."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any

from streamcheck.core.operators import HELPERS, OPERATORS, Signature, fill
from streamcheck.core.term import Term, walk
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


UNKNOWN_FUNCTION = re.compile(r"^\((\w+_(?:Float|Double))((?: [abc])+)\)$")


def unknown_function(node: Term) -> str | None:
    """The name of an uninterpreted function, if the node applies one (sin, log, …: solvers have no definition)."""
    row = OPERATORS.get(node.op)
    if row is None or row.smt is None:
        return None
    match = UNKNOWN_FUNCTION.match(row.smt_form(node.signature))
    return match[1] if match else None


def is_unknown_function(node: Term) -> bool:
    return unknown_function(node) is not None


class Evaluation:
    """The values of nodes under values of the variables, each computed once and only on demand. Of a choice, only the
    branch that is taken is evaluated."""

    def __init__(self, values: Mapping[Term, Value]) -> None:
        self.values = values
        self.results: dict[Term, Value] = {}

    def of(self, root: Term) -> Value:
        results = self.results
        stack = [] if root in results else [root]
        while stack:
            node = stack[-1]
            needed = node.args if node.op != "mux" else self._of_choice(node)
            pending = [a for a in needed if a not in results]
            if pending:
                stack.extend(pending)
                continue
            stack.pop()
            if node.op == "const":
                results[node] = node.payload
            elif node.op == "var":
                results[node] = self.values[node]
            elif node.op == "mux":
                results[node] = results[needed[1]]
            else:
                results[node] = meaning(node)(*[results[a] for a in node.args])
        return results[root]

    def _of_choice(self, node: Term) -> tuple[Term, ...]:
        condition = node.args[0]
        if condition not in self.results:
            return (condition,)
        return condition, node.args[1 if self.results[condition] else 2]


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
    return Evaluation(values).of(node)
