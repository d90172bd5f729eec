"""The prototypes that calls have: a function that is declared later, or without parameters, has none (6.5.2.2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcheck.c.syntax import form
from streamcheck.frontends.minic.callbacks import nodes_in


@dataclass(frozen=True, slots=True)
class Prototypes:
    """By function, the first declaration with parameters in the file and the functions that have one in a block.
    `bodies`: the places of the functions in the file."""

    first: dict[str, int] = field(default_factory=dict)
    inner: dict[str, set[str]] = field(default_factory=dict)
    bodies: dict[str, int] = field(default_factory=dict)

    def reaches(self, name: str, caller: str) -> bool:
        """A prototype of the function is known in the caller."""
        if caller in self.inner.get(name, ()):
            return True
        return name in self.first and self.first[name] <= self.bodies.get(caller, self.first[name])


def prototypes_of(nodes: Sequence[Any]) -> Prototypes:
    found = Prototypes()
    for place, node in enumerate(nodes):
        if form(node) == "FuncDef":
            found.bodies[node.decl.name] = place
            for name in _declared_in(node.body):
                found.inner.setdefault(name, set()).add(node.decl.name)
        decl = node.decl if form(node) == "FuncDef" else node
        if form(decl) == "Decl" and form(decl.type) == "FuncDecl" and decl.type.args is not None:
            found.first.setdefault(decl.name, place)
    return found


def _declared_in(body: Any) -> Iterator[str]:
    for node in nodes_in(body):
        if form(node) == "Decl" and form(node.type) == "FuncDecl" and node.type.args is not None:
            yield node.name
