"""The variables of a file that a function without a body may change, by calling back functions of the file.

It may call every function that other files can name or whose address is used. So it may change what these functions,
and those that they call, assign to: static variables of the file and of the functions. (`main` is not called back.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcheck.c.syntax import form

STEPS = ("p++", "p--", "++", "--", "&")


@dataclass(frozen=True, slots=True)
class CallbackFunction:
    """`changes`: the static variables that it may change. `calls`: the names of the functions that it calls."""

    changes: frozenset[str]
    calls: frozenset[str]


@dataclass(slots=True)
class Callbacks:
    functions: dict[str, CallbackFunction] = field(default_factory=dict)
    offered: dict[str, None] = field(default_factory=dict)  # the functions that others may call

    def change(self) -> tuple[str, str] | None:
        """A function that may be called back, and a variable that may change then. None if there is none."""
        for name in self.offered:
            for reached in self._reached_from(name):
                changes = self.functions[reached].changes
                if changes:
                    return name, min(changes)
        return None

    def _reached_from(self, name: str) -> Iterator[str]:
        waiting, seen = [name], {name}
        while waiting:
            current = waiting.pop()
            yield current
            following = {f for f in self.functions[current].calls if f in self.functions} - seen
            waiting += following
            seen |= following


def callbacks_of(nodes: Sequence[Any]) -> Callbacks:
    """The functions of a file that others may call back."""
    statics = {n.name: n for n in nodes if form(n) == "Decl" and "static" in n.storage and _is_variable(n)}
    bodies = {n.decl.name: n for n in nodes if form(n) == "FuncDef"}
    found = Callbacks()
    used = {name for n in nodes for name in _names_in(n)}
    for name, node in bodies.items():
        own = {d.name: d for d in _declarations_in(node.body) if "static" in d.storage and _is_variable(d)}
        known = statics | own
        calls = {c.name.name for c in _nodes_in(node.body) if form(c) == "FuncCall" and form(c.name) == "ID"}
        found.functions[name] = CallbackFunction(frozenset(_changed_in(node.body, known)), frozenset(calls))
        if name != "main" and ("static" not in node.decl.storage or name in used):
            found.offered[name] = None
    return found


def _is_variable(decl: Any) -> bool:
    return decl.name is not None and form(decl.type) != "FuncDecl" and "const" not in decl.quals


def _nodes_in(root: Any) -> Iterator[Any]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for _, child in node.children()]


def _declarations_in(body: Any) -> Iterator[Any]:
    return (n for n in _nodes_in(body) if form(n) == "Decl")


def _names_in(root: Any) -> Iterator[str]:
    """The names that are used as values, not as functions that are called."""
    for node in _nodes_in(root):
        called = node.name if form(node) == "FuncCall" else None
        yield from (child.name for _, child in node.children() if form(child) == "ID" and child is not called)


def _changed_in(body: Any, known: dict[str, Any]) -> Iterator[str]:
    """The variables that are assigned to, whose address is taken, or that are used as arrays or pointers."""
    for node in _nodes_in(body):
        target: Any = None
        if form(node) == "Assignment":
            target = node.lvalue
        elif form(node) == "UnaryOp" and node.op in STEPS:
            target = node.expr
        while target is not None and form(target) in ("ArrayRef", "StructRef", "UnaryOp", "Cast"):
            target = getattr(target, "name", None) or getattr(target, "expr", None)
        if form(target) == "ID" and target.name in known:
            yield target.name
        for _, child in node.children():
            decays = form(child) == "ID" and child.name in known and form(node) not in ("ArrayRef", "StructRef")
            if decays and form(known[child.name].type) in ("ArrayDecl", "PtrDecl"):
                yield child.name
