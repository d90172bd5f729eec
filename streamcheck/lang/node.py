"""Nodes: the graph that the user's expressions build, each node with its line.

A node is an operator of the table over other nodes, or one of these:

    const    payload: the value            extern   payload: Extern
    append   payload: the listed values    drop     payload: how many
    ref      payload: StreamDefinition     unknown  an unconstrained stream
    bound    a forall's or exists' constant, the same at every step
    forall   args: (bound, body)           exists   args: (bound, body)
    require  args: (value, condition), payload: Requirement; its value is the first
    output   args: (value,), payload: the call of a component, and the name of the output

Nodes are not interned: the same expression on two lines is two nodes, so each obligation keeps its line and the
conditions around it. Flattening turns nodes into terms, which are interned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, here
from streamcheck.core.meaning import meaning
from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import Type, Value
from streamcheck.problem.claim import Goal


class Node:
    """`restart` is the condition of the innermost `reset` around an append or a drop, else None."""

    __slots__ = ("args", "op", "payload", "restart", "type", "where")

    def __init__(self, op: str, args: tuple[Node, ...], type: Type, payload: Any = None, *, where: Location) -> None:
        self.op = op
        self.args = args
        self.type = type
        self.payload = payload
        self.where = where
        self.restart = current_restart.get() if op in ("append", "drop") else None

    def __repr__(self) -> str:
        return f"<{self.op} {self.type} at {self.where}>"


# The condition of the `reset` whose function is being evaluated.
current_restart: ContextVar[Node | None] = ContextVar("current_restart", default=None)


@contextmanager
def restart_context(condition: Node | None) -> Iterator[None]:
    token = current_restart.set(condition)
    try:
        yield
    finally:
        current_restart.reset(token)


# The call of a component whose function is being evaluated.
current_call: ContextVar[Any] = ContextVar("current_call", default=None)


@contextmanager
def call_context(call: Any) -> Iterator[None]:
    token = current_call.set(call)
    try:
        yield
    finally:
        current_call.reset(token)


@dataclass(frozen=True, slots=True)
class Extern:
    name: str
    type: Type
    samples: Any
    doc: str
    unit: str
    where: Location


@dataclass(frozen=True, slots=True)
class Requirement:
    """An implied property: its name, without the line, and if its condition must hold always or at some time."""

    name: str
    goal: Goal = Goal.ALWAYS


@dataclass(slots=True, eq=False)
class StreamDefinition:
    """A stream whose body is evaluated once, when first reached. `bound_names` are the values of the body's names at
    its definition."""

    name: str
    type: Type
    function: Callable[..., Any]
    where: Location
    bound_names: dict[str, Any] = field(default_factory=dict)
    restart: Node | None = None
    call: Any = None
    stream: Any = None
    body: Node | None = None


def below(roots: Iterable[Node]) -> Iterator[Node]:
    """Every node below the roots once, without entering definitions; arguments after their users."""
    seen: set[Node] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        stack.extend(node.args)
        if node.restart is not None and node.op == "append":
            stack.append(node.restart)


VARYING = frozenset("append drop ref unknown bound forall exists extern require output".split())


def is_constant(node: Node) -> bool:
    """True for an expression of constants."""
    return all(part.op not in VARYING for part in below([node]))


def constant_value(node: Node) -> Value:
    """The value of an expression of constants. SpecError if something in it is not a constant."""
    for part in below([node]):
        if part.op in VARYING:
            what = part.payload.name if part.op in ("extern", "ref") else f"`{part.op}`"
            raise SpecError(f"the values before ++ must be constants; {what} is not", here())
    done: dict[Node, Value] = {}
    stack = [node]
    while stack:
        part = stack[-1]
        pending = [a for a in part.args if a not in done]
        if pending:
            stack.extend(pending)
            continue
        stack.pop()
        if part.op == "const":
            done[part] = part.payload
        else:
            typed: Term = term(part.op, *(_placeholder(a, done[a]) for a in part.args), payload=part.payload)
            done[part] = meaning(typed)(*(done[a] for a in part.args))
    return done[node]


def _placeholder(node: Node, value: Value) -> Term:
    return constant(node.type, value)
