"""Number terms as rows of linear arithmetic, in two ways.

`Chosen`: under a model. If the term branches (a choice, a minimum, a quotient, a product of two variables) the
model's way is taken, and the condition for it is noted as a literal. [Laurent, "With approximate QE"]: an
approximation is made each time a disjunction is met.

`Exact`: for all values. A branching term becomes a fresh variable and a formula that defines it.

Nothing recurses over terms: they may be deep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from fractions import Fraction
from itertools import count
from typing import assert_never

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.meaning import meaning
from streamcheck.core.simplify import negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variable, variables
from streamcheck.core.types import INT, REAL
from streamcheck.smt.cooper import Formula, Junction, eliminate, formula_term, junction, negate
from streamcheck.smt.linear import Kind, Literal, Number, Row, literal, row_of, sum_term

ARITHMETIC = ("integer", "real")
LARGE_MODULUS = 64  # remainders by more are resolved by their quotient: machine integers wrap seldom (heuristic)


class NotLinear(Exception):
    """A term that linear arithmetic cannot express."""


def compare(op: str, a: Row, b: Row) -> Literal:
    match op:
        case "lt":
            return literal(Kind.POSITIVE, b.plus(a, -1))
        case "le":
            return literal(Kind.NONNEGATIVE, b.plus(a, -1))
        case "gt":
            return literal(Kind.POSITIVE, a.plus(b, -1))
        case "ge":
            return literal(Kind.NONNEGATIVE, a.plus(b, -1))
        case "eq" | "same":
            return literal(Kind.ZERO, a.plus(b, -1))
    return literal(Kind.NONZERO, a.plus(b, -1))


COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne", "same")


def is_comparison(node: Term) -> bool:
    """True if the node compares mathematical numbers."""
    return node.op in COMPARISONS and node.args[0].type.kind in ARITHMETIC


def _leaf(node: Term, args: list[Row]) -> Row:
    """The operation kept as it is, on its operands as sums."""
    kept = [sum_term(r, a.type) for r, a in zip(args, node.args, strict=False)]
    return row_of(term(node.op, *kept, *node.args[len(args) :], payload=node.payload))


class Rows:
    """The base of both ways: sums, differences, multiples."""

    def __init__(self) -> None:
        self.rows: dict[Term, Row] = {}

    def row(self, root: Term) -> Row:
        stack = [root]
        while stack:
            node = stack[-1]
            pending = [a for a in self.operands(node) if a not in self.rows]
            if pending:
                stack.extend(pending)
            else:
                stack.pop()
                if node not in self.rows:
                    self.rows[node] = self._make(node)
        return self.rows[root]

    def operands(self, node: Term) -> tuple[Term, ...]:
        match node.op:
            case "add" | "sub" | "neg" | "mul" | "min" | "max" | "abs":
                return node.args
            case "floordiv" | "mod" | "quot" | "rem" | "div":
                return node.args if node.args[1].is_const else ()
            case "cast" if node.args[0].type is INT and node.type is REAL:
                return node.args
        return ()

    def _make(self, node: Term) -> Row:
        rows = [self.rows[a] for a in self.operands(node)]
        match node.op, rows:
            case "const", _:
                return Row({}, node.payload)
            case "var", _:
                return row_of(node)
            case "add", [a, b]:
                return a.plus(b)
            case "sub", [a, b]:
                return a.plus(b, -1)
            case "neg", [a]:
                return a.times(-1)
            case "cast", [a]:
                return a
            case "mul", [a, b] if not a.of or not b.of:
                return a.times(b.constant) if not b.of else b.times(a.constant)
            case "div", [a, b] if b.constant:
                return a.times(1 / Fraction(b.constant))
            case "floordiv" | "mod" | "quot" | "rem", [a, b] if b.constant and not a.of:
                return Row({}, meaning(node)(a.constant, b.constant))  # type: ignore[arg-type]
        return self.special(node, rows)

    def special(self, node: Term, rows: list[Row]) -> Row:
        raise NotImplementedError


class Chosen(Rows):
    """Rows under a model. `literals` and `conditions` collect what the rows take for granted: the first are done, the
    others Bool terms true in the model that are still to be taken apart."""

    def __init__(self, evaluation: Evaluation, eliminated: Collection[Term]) -> None:
        super().__init__()
        self.evaluation = evaluation
        self.eliminated = eliminated
        self.literals: list[Literal] = []
        self.conditions: list[Term] = []
        self._kept: dict[Term, bool] = {}

    def number(self, node: Term) -> Number:
        return self.evaluation.of(node)  # type: ignore[return-value]

    def operands(self, node: Term) -> tuple[Term, ...]:
        if node.op == "mux":
            return (node.args[1 if self.evaluation.of(node.args[0]) else 2],)
        return super().operands(node)

    def special(self, node: Term, rows: list[Row]) -> Row:
        match node.op, rows:
            case "mux", [branch]:
                condition = node.args[0]
                self.conditions.append(condition if self.evaluation.of(condition) else negation(condition))
                return branch
            case (("min" | "max"), [a, b]):
                first = self.number(node.args[0]) == self.number(node)
                small, large = (a, b) if first == (node.op == "min") else (b, a)
                self.literals.append(compare("le", small, large))
                return a if first else b
            case "abs", [a]:
                negative = self.number(node.args[0]) < 0
                self.literals.append(compare("lt" if negative else "ge", a, Row({}, 0)))
                return a.times(-1) if negative else a
            case (("floordiv" | "mod" | "quot" | "rem"), [a, b]) if b.constant:
                return self._divide(node, a, int(b.constant))
            case "mul", [a, b]:
                return self._product(node, a, b)
            case "cast", _ if node.args[0].type.kind == "bool":
                self.conditions.append(self._truth(node.args[0]))
                return Row({}, self.number(node))
        return self._opaque(node)

    def _truth(self, condition: Term) -> Term:
        return condition if self.evaluation.of(condition) else negation(condition)

    def is_kept(self, row: Row) -> bool:
        return not any(leaf in self.eliminated for leaf in row.of)

    def _divide(self, node: Term, a: Row, divisor: int) -> Row:
        """A quotient or remainder by a literal: kept over variables that stay; a small remainder by divisibility; else
        the model's quotient q is taken, which bounds a - q·d."""
        remainder = node.op in ("mod", "rem")
        if self.is_kept(a) and abs(divisor) <= LARGE_MODULUS:
            return _leaf(node, [a])
        if node.op == "mod" and 0 < divisor <= LARGE_MODULUS:
            rest = self.number(node)
            self.literals.append(literal(Kind.DIVIDES, a.plus_constant(-rest), divisor))
            return Row({}, rest)
        value = int(self.number(node.args[0]))
        floored = node.op in ("floordiv", "mod")
        q = value // divisor if floored else abs(value) // abs(divisor) * (1 if (value < 0) == (divisor < 0) else -1)
        rest_row = a.plus_constant(-q * divisor)  # of a truncated quotient it has the sign of a, and so has q·d
        upward = divisor > 0 if floored else value >= 0
        low, high = (0, abs(divisor) - 1) if upward else (1 - abs(divisor), 0)
        self.literals += [compare("ge", rest_row, Row({}, low)), compare("le", rest_row, Row({}, high))]
        return rest_row if remainder else Row({}, q)

    def _product(self, node: Term, a: Row, b: Row) -> Row:
        """A product of two sums: kept over variables that stay; else one factor is taken at the model's value."""
        if self.is_kept(a) and self.is_kept(b):
            return _leaf(node, [a, b])
        fixed, other = (a, b) if not self.is_kept(a) else (b, a)
        value = self.number(node.args[0] if fixed is a else node.args[1])
        self.literals.append(literal(Kind.ZERO, fixed.plus_constant(-value)))
        return other.times(value)

    def _opaque(self, node: Term) -> Row:
        if not any(v in self.eliminated for v in variables([node])):
            return row_of(node)
        value = self.number(node)
        self.conditions.append(self.instantiate(term("eq", node, constant(node.type, value))))
        return Row({}, value)

    def instantiate(self, node: Term) -> Term:
        """The node with the model's values for the variables that go: true in the model if the node was."""
        replacement = {v: constant(v.type, self.evaluation.of(v)) for v in variables([node]) if v in self.eliminated}
        put = substitute([node], replacement)[node]
        return simplify([put])[put]


class Exact(Rows):
    """Rows for all values; `definitions` define the fresh variables."""

    def __init__(self) -> None:
        super().__init__()
        self.fresh: list[Term] = []
        self.definitions: list[Formula] = []
        self._numbers = count()

    def operands(self, node: Term) -> tuple[Term, ...]:
        return node.args[1:] if node.op == "mux" else super().operands(node)

    def special(self, node: Term, rows: list[Row]) -> Row:
        match node.op, rows:
            case "mux", [a, b]:
                return self._either(formula(node.args[0], self), node, a, b)
            case (("min" | "max"), [a, b]):
                return self._either(compare("le" if node.op == "min" else "ge", a, b), node, a, b)
            case "abs", [a]:
                return self._either(compare("ge", a, Row({}, 0)), node, a, a.times(-1))
            case (("floordiv" | "mod"), [a, b]) if b.constant:
                return self._divide(node.op, a, int(b.constant))
        raise NotLinear(node.op)

    def _variable(self, kind: Term) -> Row:
        made = variable(f"quantified {next(self._numbers)}", kind.type)
        self.fresh.append(made)
        return row_of(made)

    def _either(self, condition: Formula, node: Term, a: Row, b: Row) -> Row:
        result = self._variable(node)
        then = junction("and", [condition, compare("eq", result, a)])
        otherwise = junction("and", [negate(condition), compare("eq", result, b)])
        self.definitions.append(junction("or", [then, otherwise]))
        return result

    def _divide(self, op: str, a: Row, divisor: int) -> Row:
        quotient = self._variable(constant(INT, divisor))
        rest = a.plus(quotient, -divisor)
        low, high = (0, divisor - 1) if divisor > 0 else (divisor + 1, 0)
        self.definitions += [compare("ge", rest, Row({}, low)), compare("le", rest, Row({}, high))]
        return quotient if op == "floordiv" else rest


def formula(given: Term, rows: Exact) -> Formula:
    """A Bool term as a formula of literals."""
    build: Callable[[Term], Formula] = lambda t: formula(t, rows)  # noqa: E731
    if is_comparison(given):
        return compare(given.op, *(rows.row(x) for x in given.args))
    match given.op:
        case "not":
            return negate(build(given.args[0]))
        case "and" | "or":
            return junction(given.op, map(build, given.args))
        case "implies":
            a, b = map(build, given.args)
            return junction("or", [negate(a), b])
        case "mux":
            c, a, b = map(build, given.args)
            return junction("or", [junction("and", [c, a]), junction("and", [negate(c), b])])
        case "xor" | "eq" | "ne" | "same" if given.args[0].type.kind == "bool":
            a, b = map(build, given.args)
            differ = junction("or", [junction("and", [a, negate(b)]), junction("and", [negate(a), b])])
            return negate(differ) if given.op in ("eq", "same") else differ
    return given if given.is_const or given.op == "var" else _refuse(given)


def _refuse(given: Term) -> Formula:
    if any(v.type.kind in ARITHMETIC for v in variables([given])):
        raise NotLinear(given.op)
    return given


def eliminate_quantifiers(eliminated: Collection[Term], given: Term) -> Term:
    """A term without these variables that is equivalent to ∃ eliminated. given. NotLinear if there is none here."""
    rows = Exact()
    body = formula(given, rows)
    body = junction("and", [body, *rows.definitions])
    for x in [*rows.fresh, *eliminated]:
        if x.type.kind == "bool":
            body = junction("or", [_assign(body, x, TRUE), _assign(body, x, FALSE)])
        else:
            body = eliminate(x, body)
    return formula_term(body)


def _assign(given: Formula, x: Term, value: Term) -> Formula:
    match given:
        case Junction(op, parts):
            return junction(op, [_assign(p, x, value) for p in parts])
        case Term():
            put = substitute([given], {x: value})[given]  # below comparisons too
            return put if put is given else simplify([put])[put]
        case Literal():
            return given
    assert_never(given)
