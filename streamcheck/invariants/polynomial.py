"""Polynomial equalities between numbers of the state: the invariants of loops of sums and products.

Decides: with `n = [0] ++ (n + 1)`, `s = [0] ++ (s + n)` that 2·s = n·(n - 1), and its kind.

Two ways to candidates, both proved by induction before they are used:

    recurrences    v' = v + q, with q a polynomial of what is solved already, first a counter c' = c + d: with t the
                   number of steps, v(t) = v(0) + Σ q over the steps, a polynomial of t (sympy sums it); then t = (c -
                   c(0)) / d
    null spaces    of the values that monomials up to a degree take in states that random runs reach [SGHAN13]

A condition under which the whole loop moves, or begins anew, makes no difference to either: the branch that changes
the variable is used, and induction checks the result.

Limits: small degrees, few variables; wrapping machine integers break the equalities unless ranges rule the wrap out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import prod
from typing import Any, ClassVar

import sympy  # type: ignore[import-untyped]

from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import INT
from streamcheck.invariants.discovery import Discovery
from streamcheck.invariants.nullspace import relations
from streamcheck.invariants.options import PolynomialOptions
from streamcheck.problem.transition import State

MOST_NUMBERS = 8
DEGREES = {2: 4, 3: 2}  # by how many variables at once
STEPS = sympy.Symbol("t", integer=True, nonnegative=True)


class Polynomial(Discovery):
    name: ClassVar[str] = "polynomial"
    patience = 3_000_000

    def __init__(self, options: PolynomialOptions | None = None) -> None:
        self.options = options or PolynomialOptions()

    def survivors(self, candidates: list[Term]) -> list[Term]:
        return self.houdini.prove_each(candidates)

    def stages(self) -> Iterator[Iterable[Term]]:
        if self.options.recurrences:
            yield self._recurrences()
        if self.options.null_spaces:
            yield self.everywhere(self._null_spaces)

    def _numbers(self) -> list[Term]:
        def counts(s: State) -> bool:  # of a program, variables begin with any values
            return s.var.type.kind in ("integer", "real") and (s.init is not None or self.place is not None)

        numbers = [s.var for s in self.system.state if counts(s) and s.var is not self.place]
        return [v for v in numbers if len(set(self.columns.of[v])) > 3][:MOST_NUMBERS]

    # Recurrences

    def _recurrences(self) -> Iterator[Term]:
        numbers = {s.var: s for s in self.system.state if s.var in set(self._numbers()) and s.init is not None}
        symbols = {v: sympy.Symbol(f"x{i}") for i, v in enumerate(numbers)}
        growth = {v: _growth(v, s.next, s.init, symbols) for v, s in numbers.items()}
        solved: dict[Any, Any] = {}  # symbol: its closed form in the number of steps
        clock: tuple[Any, Any] | None = None  # a symbol, and the number of steps in terms of it
        changed = True
        while changed:
            changed = False
            for v, state in numbers.items():
                q, x = growth[v], symbols[v]
                if q is None or x in solved or not q.free_symbols <= solved.keys():
                    continue
                assert state.init is not None
                start = sympy.Rational(str(state.init.payload))
                total = sympy.summation(q.subs(solved), (STEPS, 0, STEPS - 1))
                solved[x] = sympy.expand(start + total)
                if clock is None and q.is_number and q != 0:
                    clock = x, (x - start) / q
                changed = True
        if clock is not None:
            back = {symbol: v for v, symbol in symbols.items()}
            for x, form in solved.items():
                if x != clock[0]:
                    yield from _equality(sympy.expand(x - form.subs(STEPS, clock[1])), back)

    # Null spaces

    def _null_spaces(self) -> Iterator[Term]:
        numbers = self._numbers()
        related: list[set[Term]] = []
        for size, degree in DEGREES.items():
            for group in combinations(numbers, size):
                if any(known <= set(group) for known in related):
                    continue
                for highest in range(1, degree + 1):
                    relations = list(self._relations(group, highest))
                    if relations:
                        related.append(set(group))
                        yield from relations
                        break

    def _relations(self, group: tuple[Term, ...], degree: int) -> Iterator[Term]:
        powers = [m for d in range(1, degree + 1) for m in combinations_with_replacement(range(len(group)), d)]
        columns = [self.columns.numbers(v) for v in group]
        if len(columns[0]) < 3 * len(powers):
            return
        values = [[prod(row[i] for i in m) for row in zip(*columns, strict=True)] for m in powers]
        symbols = [sympy.Symbol(f"x{i}") for i in range(len(group))]
        for relation in relations(values):
            total = sum((a * prod(symbols[i] for i in m) for a, m in zip(relation, powers, strict=False)), relation[-1])
            yield from _equality(sympy.expand(total), dict(zip(symbols, group, strict=True)))


def _growth(v: Term, after: Term, init: Term | None, symbols: dict[Term, Any]) -> Any:
    """after - v as a polynomial, on the branch that changes v. None if it is not a polynomial."""
    while after.op == "mux":
        _, a, b = after.args
        after = b if a in (v, init) else a
    polynomial = _expression(after, symbols)
    return None if polynomial is None else sympy.expand(polynomial - symbols[v])


def _expression(root: Term, symbols: dict[Term, Any]) -> Any:
    match root.op:
        case "const" if root.type.kind in ("integer", "real"):
            return sympy.Rational(str(root.payload))
        case "var":
            return symbols.get(root)
        case "add" | "sub" | "mul" | "neg":
            args = [_expression(a, symbols) for a in root.args]
            if any(a is None for a in args):
                return None
            if root.op == "neg":
                return -args[0]
            a, b = args
            return {"add": a + b, "sub": a - b, "mul": a * b}[root.op]
    return None


def _equality(polynomial: Any, variables: dict[Any, Term]) -> Iterator[Term]:
    """polynomial = 0 with whole factors, positive monomials on the left."""
    if not polynomial.free_symbols:
        return
    poly = sympy.Poly(polynomial, *sorted(polynomial.free_symbols, key=str))
    _, poly = poly.clear_denoms(convert=True)
    kind = variables[poly.gens[0]].type
    if any(variables[g].type is not kind for g in poly.gens):
        return
    sides: dict[bool, list[Term]] = {True: [], False: []}
    for exponents, a in poly.primitive()[1].terms():
        factors = [variables[g] for g, e in zip(poly.gens, exponents, strict=True) for _ in range(e)]
        sides[a > 0].append(_product(abs(int(a)), factors, kind))
    yield term("eq", *(_total(sides[positive], kind) for positive in (True, False)))


def _product(a: int, factors: list[Term], kind: Any) -> Term:
    if a != 1 or not factors:
        factors = [_number(a, kind), *factors]
    total = factors[0]
    for factor in factors[1:]:
        total = term("mul", total, factor)
    return total


def _total(parts: list[Term], kind: Any) -> Term:
    total = parts[0] if parts else _number(0, kind)
    for part in parts[1:]:
        total = term("add", total, part)
    return total


def _number(a: int, kind: Any) -> Term:
    return constant(kind, a if kind is INT else Fraction(a))
