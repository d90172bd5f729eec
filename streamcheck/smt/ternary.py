"""Simulation with three values: true, false, unknown.

[Werner, section 3.4]: an unknown operand leaves a conjunction false if the other one is false, and so on.
What stays known when a variable becomes unknown does not depend on it.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from streamcheck.core.meaning import meaning
from streamcheck.core.term import Term, walk
from streamcheck.core.types import Value

Known: TypeAlias = "Value | None"  # None: unknown


class Ternary:
    """The values of all nodes below the roots, kept up to date while variables become unknown. One change looks at what
    depends on it alone."""

    def __init__(self, roots: Iterable[Term], values: Mapping[Term, Value]) -> None:
        self.roots = list(roots)
        self.order: dict[Term, int] = {node: i for i, node in enumerate(walk(self.roots))}
        self.nodes = list(self.order)
        self.users: dict[Term, list[int]] = {}
        self.values: dict[Term, Known] = {}
        for i, node in enumerate(self.nodes):
            for a in node.args:
                self.users.setdefault(a, []).append(i)
            self.values[node] = values[node] if node.op == "var" else self._of(node)

    def _of(self, node: Term) -> Known:
        return node.payload if node.is_const else partial_value(node, [self.values[a] for a in node.args])

    def forget(self, var: Term) -> bool:
        """The variable becomes unknown, if every root keeps its value. True if it did."""
        if var not in self.order:
            return True
        before = {var: self.values[var]}
        self.values[var] = None
        waiting = list(self.users.get(var, ()))
        heapq.heapify(waiting)
        while waiting:
            node = self.nodes[heapq.heappop(waiting)]
            value = self._of(node)
            if node not in before and value is not self.values[node]:
                before[node], self.values[node] = self.values[node], value
                for user in self.users.get(node, ()):
                    heapq.heappush(waiting, user)
        if all(root not in before for root in self.roots):
            return True
        self.values.update(before)
        return False


def partial_value(node: Term, args: list[Known]) -> Known:
    """The value of an operation whose operands may be unknown."""
    match node.op, args:
        case ("and", [a, b]) if a is False or b is False:
            return False
        case ("or", [a, b]) if a is True or b is True:
            return True
        case ("implies", [a, b]) if a is False or b is True:
            return True
        case ("mux", [c, a, b]) if c is not None:
            return a if c else b
        case ("mux", [_, a, b]) if a == b:
            return a
    if any(a is None for a in args):
        return None
    return meaning(node)(*args)


def needed_variables(roots: Iterable[Term], values: Mapping[Term, Value], variables: Iterable[Term]) -> list[Term]:
    """The variables whose values, with those of everything else, keep the roots at their values."""
    simulation = Ternary(roots, values)
    return [v for v in variables if not simulation.forget(v)]
