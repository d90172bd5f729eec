"""Cubes from models: the literals that make the terms true, with variables eliminated.

[Tegzes, section 3.1.2.4, "Generalize predecessors"], without the solver: instead of asking for each variable whether
its value matters, the terms are walked under the model, and only what they need is kept. [Laurent, "With approximate
QE"]: the variables that a step chooses are then eliminated one by one, each time keeping the disjunct that holds in
the model.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import negation
from streamcheck.core.term import TRUE, Term, variables
from streamcheck.smt.cooper import project
from streamcheck.smt.linear import Literal, distinct, to_term
from streamcheck.smt.rows import Chosen, compare, is_comparison


def cube(roots: Iterable[Term], evaluation: Evaluation, eliminated: Collection[Term]) -> list[Term]:
    """Literals without the eliminated variables that hold in the model, and imply that some values of these make every
    root true. The roots hold in the model."""
    implicant = Implicant(evaluation, eliminated)
    for root in roots:
        implicant.require(root)
    return implicant.literals()


class Implicant:
    """The literals that make roots true in a model."""

    def __init__(self, evaluation: Evaluation, eliminated: Collection[Term]) -> None:
        self.evaluation = evaluation
        self.eliminated = eliminated
        self.rows = Chosen(evaluation, eliminated)
        self.linear: list[Literal] = []
        self.others: dict[Term, None] = {}
        self._done: set[tuple[Term, bool]] = set()

    def require(self, root: Term) -> None:
        """Literals that make the root true."""
        stack = [(root, True)]
        while stack:
            node, wanted = stack.pop()
            if (node, wanted) not in self._done:
                self._done.add((node, wanted))
                stack.extend(self._reasons(node, wanted))
                stack.extend((condition, True) for condition in self.rows.conditions)
                self.rows.conditions.clear()

    def _reasons(self, node: Term, wanted: bool) -> list[tuple[Term, bool]]:
        """The operands whose truth values suffice; a literal is noted instead."""
        match node.op:
            case "const":
                return []
            case "not":
                return [(node.args[0], not wanted)]
            case "and" | "or":
                if wanted == (node.op == "and"):
                    return [(a, wanted) for a in node.args]
                return [(self._one(node.args, wanted), wanted)]
            case "implies":
                a, b = node.args
                if not wanted:
                    return [(a, True), (b, False)]
                return [(a, False)] if self.evaluation.of(a) is False else [(b, True)]
            case "mux":
                condition, a, b = node.args
                holds = bool(self.evaluation.of(condition))
                return [(condition, holds), (a if holds else b, wanted)]
            case "xor" | "eq" | "ne" | "same" if node.args[0].type.kind == "bool":
                return [(a, bool(self.evaluation.of(a))) for a in node.args]
        self._literal(node, wanted)
        return []

    def _one(self, args: tuple[Term, ...], wanted: bool) -> Term:
        """An operand that decides: one already taken if there is, else the first."""
        deciding = [a for a in args if self.evaluation.of(a) is wanted]
        return next((a for a in deciding if (a, wanted) in self._done), deciding[0])

    def _literal(self, node: Term, wanted: bool) -> None:
        if is_comparison(node):
            a, b = (self.rows.row(x) for x in node.args)
            given = compare(node.op, a, b)
            self.linear.append(given if wanted else given.opposite())
        elif node.op == "var" and node in self.eliminated:
            return  # there is a value that does
        else:
            self.others[self.rows.instantiate(node if wanted else negation(node))] = None

    def linear_literals(self) -> list[Literal]:
        """Those of linear arithmetic, about the eliminated variables too."""
        return distinct([*self.rows.literals, *self.linear])

    def literals(self) -> list[Term]:
        """The cube, the variables eliminated."""
        left = self.linear_literals()
        for x in self.eliminated:
            if x.type.kind in ("integer", "real"):
                left = project(x, left, self.evaluation.of)
        others = [t for t in self.others if t is not TRUE]
        assert not any(v in self.eliminated for v in variables(others))
        return list(dict.fromkeys([*map(to_term, left), *others]))
