"""The effects of a call of a function without a body, which may call back functions of the file.

It may call every function that other files can name or whose address is used, in any state and with any arguments. So
what such a function changes, and what it claims, is not known after the call. (`main` is not called back, and neither
are the functions of assertions.) Each of them is read as if it were the function to be proved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from streamcheck.c.syntax import form


@dataclass(frozen=True, slots=True)
class CallbackEffect:
    """`claims`: the names of what may fail in the function. None if they are not known. `change`: what it may change
    that outlives it, if there is any."""

    claims: frozenset[str] | None = frozenset()
    change: str | None = None


@dataclass
class Callbacks:
    """`offered`: the functions that others may call. `read` gives the effect of one of them. `proved`: the function
    whose claims are proved for any call of it."""

    offered: Sequence[str] = ()
    read: Callable[[str], CallbackEffect] = field(default=lambda _: CallbackEffect())
    proved: str = ""

    @cached_property
    def effects(self) -> dict[str, CallbackEffect]:
        return {name: self.read(name) for name in self.offered}

    def change(self) -> tuple[str, str] | None:
        """A function that may be called back, and what may change then. None if there is none."""
        return next(((name, e.change) for name, e in self.effects.items() if e.change is not None), None)

    def claims(self) -> dict[str, frozenset[str] | None]:
        """By function that may be called back, the names of what may fail then, if there is any."""
        return {name: e.claims for name, e in self.effects.items() if e.claims != frozenset() and name != self.proved}


def offered_functions(nodes: Sequence[Any]) -> list[str]:
    """The functions of a file that others may call back."""
    used = {name for n in nodes for name in _names_in(n)}
    bodies = [n.decl for n in nodes if form(n) == "FuncDef"]
    return [d.name for d in bodies if d.name != "main" and ("static" not in d.storage or d.name in used)]


def nodes_in(root: Any) -> Iterator[Any]:
    """The node, and those in it."""
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for _, child in node.children()]


def _names_in(root: Any) -> Iterator[str]:
    """The names that are used as values, not as functions that are called."""
    for node in nodes_in(root):
        called = node.name if form(node) == "FuncCall" else None
        yield from (child.name for _, child in node.children() if form(child) == "ID" and child is not called)
