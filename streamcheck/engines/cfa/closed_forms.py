"""Closed forms of loops: many rounds of one branch of a loop as a single edge.

[KLW13] and [BIK10], for edges over Int. A branch is a conjunction of literals; under it the variables are updated by
polynomials. With i rounds done,

    x' = x + q          x(i) = x + Σ q(j) over j < i           if the values of q are known as a polynomial of j
    x' = r              x(i) = r(i - 1)                        if x is r(-1) at the beginning: it is after a round
    literal a < b       true in all rounds if it is in the first and the last one, and b - a only grows or only falls

Polynomials are sums f(i) = t_0 + t_1·i + t_2·C(i, 2) + … of terms t_k over the values at the beginning: Σ f(j) over
j < i has the terms 0, t_0, t_1, …

The edge has fewer runs than the loop: branches that alternate, doubling and conditions that begin and end the same but
change in between are left out. So it serves to find violations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from math import comb
from typing import TypeAlias

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import choice, conjunction, disjunction, negation, simple_term, simplify
from streamcheck.core.term import Term, constant, term, variable, variables
from streamcheck.core.types import INT
from streamcheck.problem.automaton import Edge
from streamcheck.smt.implicant import cube
from streamcheck.smt.linear import sum_term, to_term
from streamcheck.smt.rows import COMPARISONS, Chosen
from streamcheck.smt.solver import Solver

ClosedForm: TypeAlias = tuple[Term, ...]  # t_0, t_1, …
ZERO, ONE, TWO = (constant(INT, n) for n in range(3))
DEGREE = 3
MOST_BRANCHES = 6  # of an edge (heuristic)


class NoForm(Exception):
    """A value in the course of the rounds that has no closed form here."""


@dataclass(frozen=True, slots=True)
class LoopBranch:
    """One way through an edge: literals, and the updates under these."""

    literals: tuple[Term, ...]
    updates: Mapping[Term, Term]


@dataclass(frozen=True, slots=True)
class ManyRounds:
    """An edge that does as much as `rounds` (at least 2) rounds of another one. The values of `open` are not known."""

    edge: Edge
    rounds: Term
    open: frozenset[Term]


def branches(edge: Edge, patience: int | None) -> Iterator[LoopBranch]:
    """Ways through the edge that different states take."""
    solver = Solver(patience)
    solver.add(edge.guard)
    for _ in range(MOST_BRANCHES):
        # guard ∧ ¬(conditions of the branches so far)
        if not solver.check():
            return
        evaluation = Evaluation(solver.model())
        rows = Chosen(evaluation, ())
        updates = {v: _branch_value(t, rows) for v, t in edge.updates}
        roots = [*rows.conditions, *map(to_term, rows.literals)]
        conditions = cube(roots, evaluation, ())
        yield LoopBranch(tuple(dict.fromkeys([*cube([edge.guard], evaluation, ()), *conditions])), updates)
        solver.add(negation(conjunction(*conditions)))


def _branch_value(new: Term, rows: Chosen) -> Term:
    """The value that an update has in the model's branch."""
    if new.type is INT:
        return sum_term(rows.row(new), INT)
    while new.op == "mux":
        condition, a, b = new.args
        holds = bool(rows.evaluation.of(condition))
        rows.conditions.append(condition if holds else negation(condition))
        new = a if holds else b
    if new.type.kind == "bool" and new.op not in ("const", "var"):
        value = constant(new.type, rows.evaluation.of(new))
        rows.conditions.append(term("eq", new, value))
        return value
    return new


def accelerate(edge: Edge, branch: LoopBranch, kept: frozenset[Term], name: str) -> ManyRounds | None:
    """The branch so many times as the choice of this name says. None if a literal has no closed form, or one of these
    variables."""
    forms = _Forms(edge, branch, kept)
    if not kept.isdisjoint(branch.updates.keys() - forms.of.keys()):
        return None
    rounds = variable(name, INT)
    try:
        conditions = [c for literal in branch.literals for c in forms.always(literal, rounds)]  # adds to `at_first`
    except NoForm:
        return None
    guard = conjunction(term("ge", rounds, TWO), *forms.at_first, *conditions)
    updates = tuple((v, _at(forms.of[v], rounds)) for v in branch.updates if v in forms.of)
    simple = simplify([guard, *(t for _, t in updates)])
    text = f"rounds of {edge.text}"
    changed = tuple((v, simple[t]) for v, t in updates)
    many = Edge(edge.source, edge.target, simple[guard], changed, (*edge.choices, rounds), text, edge.where)
    return ManyRounds(many, rounds, frozenset(branch.updates) - forms.of.keys())


class _Forms:
    """The closed forms of variables and terms. `at_first` are conditions on the beginning that they need."""

    def __init__(self, edge: Edge, branch: LoopBranch, kept: frozenset[Term]) -> None:
        self.kept = kept
        self.of: dict[Term, ClosedForm] = {}
        self.at_first: list[Term] = []
        self.updates = branch.updates
        constants = {*variables([edge.guard, *edge.update, *edge.update.values()])} - branch.updates.keys()
        self.of.update((v, (v,)) for v in constants)
        waiting = [v for v, t in branch.updates.items() if t is not v]
        self.of.update((v, (v,)) for v in branch.updates if v not in waiting)
        changed = True
        while changed:
            changed = False
            for v in list(waiting):
                try:
                    self.of[v] = self._solve(v, branch.updates[v])
                except NoForm:
                    continue
                waiting.remove(v)
                changed = True

    def _solve(self, v: Term, new: Term) -> ClosedForm:
        if v not in variables([new]):
            if v not in self.kept:
                raise NoForm  # its first value would be a condition
            now = self.form(new)
            before = self._earlier(now) if v.type is INT else now
            self.at_first.append(term("same", v, before[0]))
            return before
        growth = self.form(_without(new, v))
        return (v, *growth)

    def _earlier(self, form: ClosedForm) -> ClosedForm:
        """f(i - 1)."""
        result: list[Term] = []
        for t in reversed(form):
            result.append(simple_term("sub", t, result[-1]) if result else t)
        return tuple(reversed(result))

    def form(self, node: Term) -> ClosedForm:
        """The form of a term over variables that have one. NoForm if there is none."""
        if node in self.of:
            return self.of[node]
        if node.op == "const":
            return (node,)
        if node.op == "var":
            raise NoForm
        if node.type is INT and node.op in ("add", "sub", "neg", "mul"):
            args = [self.form(a) for a in node.args]
            return _product(*args) if node.op == "mul" else _sum(node.op, *args)
        if node.op in ("mod", "rem", "floordiv", "quot") and node.args[1].is_const:
            return self._quotient(node)
        if all(len(self.form(v)) == 1 and self.form(v)[0] is v for v in variables([node])):
            return (node,)
        raise NoForm

    def _quotient(self, node: Term) -> ClosedForm:
        """A quotient or remainder of what grows by multiples of the divisor."""
        a, by = self.form(node.args[0]), node.args[1]
        if by.payload <= 0 or not all(t.is_const and t.payload % by.payload == 0 for t in a[1:]):
            raise NoForm
        if node.op in ("rem", "quot"):  # these round towards zero
            if any(t.payload < 0 for t in a[1:]):
                raise NoForm
            self.at_first.append(term("ge", a[0], ZERO))
        first = simple_term(node.op, a[0], by)
        return (
            (first,) if node.op in ("mod", "rem") else (first, *(constant(INT, t.payload // by.payload) for t in a[1:]))
        )

    def always(self, literal: Term, rounds: Term) -> Iterator[Term]:
        """Conditions under which the literal is true in all rounds."""
        if literal.op not in COMPARISONS or literal.args[0].type is not INT:
            if not all(self.form(v) == (v,) or self.form(v)[0].is_const for v in variables([literal])):
                raise NoForm
            yield literal
            return
        a, b = map(self.form, literal.args)
        difference = _trim(_sum("sub", a, b))
        last = simple_term("sub", rounds, ONE)
        match literal.op:
            case "eq" | "same":
                yield from (term("eq", t, ZERO) for t in difference)
            case "ne":
                yield disjunction(*(conjunction(*_between(op, difference, last)) for op in ("lt", "gt")))
            case op:
                yield from _between(op, difference, last)


def _between(op: str, form: ClosedForm, last: Term) -> Iterator[Term]:
    """Conditions under which `form op 0` holds from round 0 to the last: at both ends, and no turn in between."""
    yield term(op, form[0], ZERO)
    if len(form) > 1:
        yield term(op, _at(form, last), ZERO)
    if len(form) > 2:
        yield disjunction(*(conjunction(*(term(sign, t, ZERO) for t in form[1:])) for sign in ("ge", "le")))


def _without(new: Term, v: Term) -> Term:
    """new - v, if the variable is a summand and occurs nowhere else."""
    rest = _rest(new, v)
    if rest is None or v in variables([rest]):
        raise NoForm
    return rest


def _rest(new: Term, v: Term) -> Term | None:
    if new is v:
        return ZERO
    if new.op in ("add", "sub"):
        a, b = new.args
        left = _rest(a, v)
        if left is not None:
            return simple_term(new.op, left, b)
        right = _rest(b, v) if new.op == "add" else None
        return None if right is None else simple_term("add", a, right)
    return None


# Forms


def _trim(form: ClosedForm) -> ClosedForm:
    while len(form) > 1 and form[-1] is ZERO:
        form = form[:-1]
    return form


def _sum(op: str, *args: ClosedForm) -> ClosedForm:
    return _trim(tuple(_add(op, *parts) for parts in zip_longest(*args, fillvalue=ZERO)))


def _add(op: str, a: Term, b: Term | None = None) -> Term:
    if b is None:
        return simple_term(op, a)
    if b is ZERO:
        return a
    return b if a is ZERO and op == "add" else ZERO if a is b and op == "sub" else simple_term(op, a, b)


def _product(a: ClosedForm, b: ClosedForm) -> ClosedForm:
    """By C(i, j)·C(i, k) = Σ C(m, j)·C(j, m - k)·C(i, m) over m from max(j, k) to j + k."""
    size = len(a) + len(b) - 1
    if size > DEGREE + 1:
        raise NoForm
    result = [ZERO] * size
    for j, x in enumerate(a):
        for k, y in enumerate(b):
            for m in range(max(j, k), j + k + 1):
                part = _times(_times(x, y), constant(INT, comb(m, j) * comb(j, m - k)))
                result[m] = _add("add", result[m], part)
    return _trim(tuple(result))


def _times(a: Term, b: Term) -> Term:
    """The product; of a choice between constants, the choice of products."""
    if a is ZERO or b is ZERO:
        return ZERO
    if a is ONE or b is ONE:
        return b if a is ONE else a
    for x, y in ((a, b), (b, a)):
        if x.op == "mux" and x.args[1].is_const and x.args[2].is_const:
            return choice(x.args[0], _times(x.args[1], y), _times(x.args[2], y))
    return simple_term("mul", a, b)


def _at(form: ClosedForm, i: Term) -> Term:
    """f(i)."""
    total = form[0]
    binomial: Term = ONE
    for k, t in enumerate(form[1:], 1):
        binomial = _times(binomial, _add("sub", i, constant(INT, k - 1)))
        whole = binomial if k == 1 else term("floordiv", binomial, constant(INT, [1, 1, 2, 6, 24][k]))
        total = _add("add", total, _times(t, whole))
    return total
