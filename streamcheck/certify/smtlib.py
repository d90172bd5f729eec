"""A system's steps as SMT-LIB text, for solvers that are not the engines'.

Every node becomes one `define-fun` at every step it is needed at, from the SMT column of the operator table, so the
text is as large as the graph. Symbols are numbered: the user's names may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from streamcheck.core.evaluate import unknown_function
from streamcheck.core.smtlib import application, literal, sort
from streamcheck.core.term import Term, walk
from streamcheck.problem.transition import TransitionSystem


class Script:
    """A growing script. `symbol(node, step)` is the name of a node at a step."""

    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.lines: list[str] = []
        self.kinds: set[str] = set()
        self._numbers: dict[Term, int] = {}
        self._written: dict[int, set[Term]] = {}
        self._functions: set[str] = set()
        self._inputs = set(system.inputs)

    def text(self) -> str:
        return "\n".join(["(set-logic ALL)", *self.lines]) + "\n"

    def _number(self, node: Term) -> int:
        return self._numbers.setdefault(node, len(self._numbers))

    def start(self, *, initial: bool) -> None:
        """Step 0: the initial values, or any state."""
        for s in self.system.state:
            name = f"n{self._number(s.var)}_0"
            self.kinds.add(s.var.type.kind)
            if initial and s.init is not None:
                self.lines.append(f"(define-fun {name} () {sort(s.var.type)} {self._write(s.init, 0)})")
            else:
                self.lines.append(f"(declare-const {name} {sort(s.var.type)})")
        self._inputs_at(0)

    def step(self, i: int) -> None:
        """T[x_i-1, x_i]: the state of step i by the equations."""
        for s in self.system.state:
            after = self._write(s.next, i - 1)
            self.lines.append(f"(define-fun n{self._number(s.var)}_{i} () {sort(s.var.type)} {after})")
        self._inputs_at(i)

    def _inputs_at(self, i: int) -> None:
        for v in self.system.inputs:
            self.kinds.add(v.type.kind)
            self.lines.append(f"(declare-const n{self._number(v)}_{i} {sort(v.type)})")

    def symbol(self, root: Term, i: int) -> str:
        return self._write(root, i)

    def _write(self, root: Term, i: int) -> str:
        written = self._written.setdefault(i, set())
        for node in walk([root], written):
            if node.args:
                self.lines.append(self._definition(node, i))
        return self._name(root, i)

    def _name(self, node: Term, i: int) -> str:
        return literal(node.type, node.payload) if node.is_const else f"n{self._number(node)}_{i}"

    def _definition(self, node: Term, i: int) -> str:
        self.kinds.update((node.type.kind, *(a.type.kind for a in node.args)))
        unknown = unknown_function(node)
        if unknown and unknown not in self._functions:
            self._functions.add(unknown)
            arguments = " ".join(sort(a.type) for a in node.args)
            self.lines.append(f"(declare-fun {unknown} ({arguments}) {sort(node.type)})")
        body = application(node, (self._name(a, i) for a in node.args))
        return f"(define-fun n{self._number(node)}_{i} () {sort(node.type)} {body})"

    def asserted(self, formula: str) -> None:
        self.lines.append(f"(assert {formula})")


def conjunction(formulas: Iterable[str]) -> str:
    return _joined("and", "true", list(formulas))


def disjunction(formulas: Iterable[str]) -> str:
    return _joined("or", "false", list(formulas))


def _joined(op: str, neutral: str, formulas: list[str]) -> str:
    if len(formulas) < 2:
        return formulas[0] if formulas else neutral
    return f"({op} {' '.join(formulas)})"
