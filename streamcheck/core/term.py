"""Terms: immutable, typed, interned expressions over variables. Identity is equality.

Building a term that exists gives the one that exists, so a shared subexpression is one node wherever it was
written, and a term doubled two hundred times has two hundred nodes. Nothing here recurses: terms may be a hundred
thousand operations deep, so walks keep their own stack.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from streamcheck.core.operators import OPERATORS, Signature, TypeRule
from streamcheck.core.types import (
    BOOL,
    ArrayType,
    StructType,
    Type,
    Value,
    belongs,
    float_text,
)


class Term:
    """`op` is a row of the operator table, or "const" (payload: its value), or "var" (payload: its name)."""

    __slots__ = ("args", "op", "payload", "type")
    op: Final[str]
    args: Final[tuple[Term, ...]]
    type: Final[Type]
    payload: Final[Any]

    def __init__(self, op: str, args: tuple[Term, ...], type: Type, payload: Any) -> None:
        self.op = op
        self.args = args
        self.type = type
        self.payload = payload

    @property
    def signature(self) -> Signature:
        return Signature(tuple(a.type for a in self.args), self.type, self.payload)

    @property
    def is_const(self) -> bool:
        return self.op == "const"

    def __repr__(self) -> str:
        return f"<{self.op} {self.type}{'' if self.payload is None else f' {self.payload}'}>"


_ARITIES = {row.name: row.arity for row in OPERATORS.values()}

# The only mutable global of the project. Entries live as long as the process: a worker's terms die with it.
_interned: dict[tuple[object, ...], Term] = {}


def variable(name: str, type: Type) -> Term:
    key = ("var", name, type)
    node = _interned.get(key)
    if node is None:
        node = _interned[key] = Term("var", (), type, name)
    return node


def constant(type: Type, value: Value) -> Term:
    """A constant. Arrays and structs become `array` and `struct` terms over scalar constants."""
    match type, value:
        case ArrayType(), tuple():
            return term("array", *(constant(type.element, v) for v in value), payload=type)
        case StructType(), tuple():
            parts = (constant(t, v) for (_, t), v in zip(type.fields, value, strict=True))
            return term("struct", *parts, payload=type)
    value = belongs(type, value)
    # As keys, -0.0 and 0.0 differ, and NaN equals itself.
    key = ("const", value.hex() if isinstance(value, float) else value, type)
    node = _interned.get(key)
    if node is None:
        node = _interned[key] = Term("const", (), type, value)
    return node


def uniform(type: Type, value: Value) -> Term:
    """A constant whose elements are all the same scalar: of a long array a term of one operand."""
    if not isinstance(type, ArrayType):
        return constant(type, value)
    element = uniform(type.element, value)
    return term("array", *((element,) if type.length > MOST_LISTED else (element,) * type.length), payload=type)


MOST_LISTED = 64
TRUE = constant(BOOL, True)
FALSE = constant(BOOL, False)


def term(op: str, *args: Term, payload: Any = None) -> Term:
    """The application of an operator. The type follows from its rule; `cast`, `array` and `struct` carry theirs
    as payload."""
    key = (op, payload, *args)
    node = _interned.get(key)
    if node is None:
        result = OPERATORS[op].rule(tuple(a.type for a in args), payload)
        if _ARITIES[op] not in (None, len(args)):
            raise TypeRule(f"{len(args)} operands, but {op} has {_ARITIES[op]}")
        node = _interned[key] = Term(op, args, result, payload)
    return node


def walk(roots: Iterable[Term], done: set[Term] | None = None) -> Iterator[Term]:
    """Every node below the roots once, arguments before what uses them. A walk that continues an earlier
    one shares its set `done`."""
    done = set() if done is None else done
    for root in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in done:
                stack.pop()
                continue
            pending = [a for a in node.args if a not in done]
            if pending:
                stack.extend(reversed(pending))
            else:
                done.add(stack.pop())
                yield node


def walk_cone(roots: Iterable[Term], nexts_of: Mapping[Term, Iterable[Term]]) -> Iterator[Term]:
    """Every node of the cone of influence of the roots once: the walk goes on below the next values of each state
    variable that it finds. `nexts_of` maps a state variable to the values that it may take next."""
    done: set[Term] = set()
    pending = list(roots)
    while pending:
        state: list[Term] = []
        for node in walk(pending, done):
            if node in nexts_of:
                state.append(node)
            yield node
        pending = [after for var in state for after in nexts_of[var]]


def cone(roots: Iterable[Term], next_of: Mapping[Term, Term]) -> set[Term]:
    """The cone of influence of the roots: every term that they depend on, at this step or through earlier ones.
    `next_of` maps a state variable to its next value."""
    return set(walk_cone(roots, {var: (after,) for var, after in next_of.items()}))


def fold(
    roots: Iterable[Term], step: Callable[[Term, list[Any]], Any], results: dict[Term, Any] | None = None
) -> dict[Term, Any]:
    """The results of `step(node, results of its arguments)` for every node below the roots, added to `results` if
    given: what is there is not looked at again."""
    results = {} if results is None else results
    for root in roots:
        stack = [root]
        while stack:
            node = stack[-1]
            if node in results:
                stack.pop()
                continue
            pending = [a for a in node.args if a not in results]
            if pending:
                stack.extend(reversed(pending))
            else:
                results[stack.pop()] = step(node, [results[a] for a in node.args])
    return results


def variables(roots: Iterable[Term]) -> list[Term]:
    return [node for node in walk(roots) if node.op == "var"]


def rebuild(node: Term, args: Iterable[Term]) -> Term:
    """The same operation on other arguments."""
    args = tuple(args)
    return node if args == node.args else term(node.op, *args, payload=node.payload)


def substitute(roots: Iterable[Term], replacement: Mapping[Term, Term]) -> dict[Term, Term]:
    """Every node below the roots with the replacements made in it, all at once."""
    return fold(roots, lambda node, args: replacement.get(node) or rebuild(node, args))


def plain(value: Value) -> Any:
    """A value for JSON: fractions, NaN and infinities as text."""
    match value:
        case tuple():
            return [plain(v) for v in value]
        case Fraction():
            return str(value)
        case float() if not math.isfinite(value):
            return float_text(value)
    return value
