"""The steps of runs as SMT-LIB text, in one of the checker's renderings.

Every node becomes one `define-fun` at every step it is needed at, so the text is as large as the graph. Symbols are
numbered: the user's names may hold anything.
"""

from __future__ import annotations

from collections.abc import Iterable

from streamcheck.certify.bitwise import Bitwise, unknown_function
from streamcheck.certify.runs import Runs
from streamcheck.core.term import Term, walk
from streamcheck.core.types import EnumType, FloatType, MachineType


class Script:
    """A growing script. `symbol(node, step)` is the name of a node at a step."""

    def __init__(self, runs: Runs, rendering: Bitwise) -> None:
        self.runs = runs
        self.rendering = rendering
        self.lines: list[str] = []
        self.has_numbers = False  # Int or Real sorts, which bitwuzla does not have
        self.has_machine_integers = False
        self.has_floats = False
        self._numbers: dict[Term, int] = {}
        self._written: dict[int, set[Term]] = {}
        self._functions: set[str] = set()

    @property
    def is_of_bits(self) -> bool:
        """True if it has bit-vectors and Bools, and nothing else."""
        return not (self.has_numbers or self.has_floats or self._functions)

    def text(self) -> str:
        return "\n".join(["(set-logic ALL)", *self.lines]) + "\n"

    def start(self, *, initial: bool) -> None:
        """Step 0: the initial values, or any state."""
        for r in self.runs.registers:
            if initial and r.initial is not None:
                self._define(r.var, 0, self._write(r.initial, 0))
            else:
                self._declare(r.var, 0)
        self._declare_inputs(0)

    def step(self, i: int) -> list[str]:
        """T[x_i-1, x_i]: the state of step i by the equations; the condition for the step to be one."""
        conditions = [] if self.runs.transition is None else [self._write(self.runs.transition, i - 1)]
        for r in self.runs.registers:
            self._define(r.var, i, self._write(r.next, i - 1))
        self._declare_inputs(i)
        return conditions

    def _declare_inputs(self, i: int) -> None:
        for v in self.runs.inputs:
            self._declare(v, i)

    def _declare(self, var: Term, i: int) -> None:
        name = self._name(var, i)
        self.lines.append(f"(declare-const {name} {self._sort(var)})")
        condition = self.rendering.range_of(var, name)
        if condition is not None:
            self.require(condition)

    def _define(self, node: Term, i: int, body: str) -> None:
        self.lines.append(f"(define-fun {self._name(node, i)} () {self._sort(node)} {body})")

    def _sort(self, node: Term) -> str:
        sort = self.rendering.sort(node)
        self.has_numbers = self.has_numbers or sort in ("Int", "Real")
        self.has_floats = self.has_floats or isinstance(node.type, FloatType)
        self.has_machine_integers = self.has_machine_integers or isinstance(node.type, MachineType | EnumType)
        return sort

    def symbol(self, root: Term, i: int) -> str:
        return self._write(root, i)

    def _write(self, root: Term, i: int) -> str:
        written = self._written.setdefault(i, set())
        for node in walk([root], written):
            if node.args:
                self._declare_function(node)
                operands = [self._name(a, i) for a in node.args]
                self._define(node, i, self.rendering.application(node, operands))
        return self._name(root, i)

    def _declare_function(self, node: Term) -> None:
        unknown = unknown_function(node)
        if unknown and unknown not in self._functions:
            self._functions.add(unknown)
            arguments = " ".join(self._sort(a) for a in node.args)
            self.lines.append(f"(declare-fun {unknown} ({arguments}) {self._sort(node)})")

    def _name(self, node: Term, i: int) -> str:
        if node.is_const:
            self._sort(node)
            return self.rendering.constant(node)
        return f"n{self._numbers.setdefault(node, len(self._numbers))}_{i}"

    def name_for(self, formula: str) -> str:
        """A symbol for the formula, so that what contains it often stays short."""
        name = f"f{len(self.lines)}"
        self.lines.append(f"(define-fun {name} () Bool {formula})")
        return name

    def require(self, formula: str) -> None:
        self.lines.append(f"(assert {formula})")


def conjunction(formulas: Iterable[str]) -> str:
    return _join("and", "true", list(formulas))


def disjunction(formulas: Iterable[str]) -> str:
    return _join("or", "false", list(formulas))


def _join(op: str, neutral: str, formulas: list[str]) -> str:
    if len(formulas) < 2:
        return formulas[0] if formulas else neutral
    return f"({op} {' '.join(formulas)})"
