"""Quantifier elimination against z3's own, and cubes against what they are to imply."""

from __future__ import annotations

import random

import pytest
import z3

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, constant, term, variable, variables
from streamcheck.core.types import BOOL, INT, REAL, machine
from streamcheck.smt.box import bounding_box
from streamcheck.smt.implicant import cube
from streamcheck.smt.rows import NotLinear, eliminate_quantifiers
from streamcheck.smt.solver import Solver, read
from streamcheck.smt.translate import Translator

x, y, t = (variable(n, INT) for n in "xyt")


def number(value, kind=INT):
    return constant(kind, value)


def equivalent(a, b):
    solver = Solver()
    solver.add(term("xor", a, b))
    return solver.check() is False


class Formulas:
    """Random formulas over three numbers; `rich` ones also branch, divide and take remainders."""

    def __init__(self, seed, kind, rich):
        self.random, self.kind = random.Random(seed), kind
        self.vars = [variable(n, kind) for n in "xyz"]
        self.ops = ["add", "sub", "mul"] + (["mod"] if kind is INT else [])
        if rich:
            self.ops += ["mux", "min", "max", "abs"] + (["floordiv", "quot", "rem"] if kind is INT else [])

    def number(self, depth):
        pick = self.random
        if depth == 0 or pick.random() < 0.3:
            return pick.choice(self.vars) if pick.random() < 0.75 else number(pick.randint(-4, 4), self.kind)
        op = pick.choice(self.ops)
        if op == "mul":
            return term("mul", number(pick.randint(-3, 3), self.kind), self.number(depth - 1))
        if op == "mux":
            return term("mux", self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1))
        if op == "abs":
            return term("abs", self.number(depth - 1))
        if op in ("mod", "floordiv", "quot", "rem"):
            return term(op, self.number(depth - 1), number(pick.choice([2, 3, -2])))
        return term(op, self.number(depth - 1), self.number(depth - 1))

    def condition(self, depth=2):
        pick = self.random
        if depth == 0 or pick.random() < 0.3:
            op = pick.choice(["lt", "le", "gt", "eq", "ne", "ge"])
            return term(op, self.number(min(depth, 1)), self.number(min(depth, 1)))
        op = pick.choice(["and", "or", "not", "implies", "xor"])
        args = [self.condition(depth - 1) for _ in range(1 if op == "not" else 2)]
        return term(op, *args)


@pytest.mark.parametrize("kind", [INT, REAL], ids=str)
def test_exact_elimination_is_what_z3_says(kind):
    compared = 0
    for seed in range(120):
        given = Formulas(seed, kind, rich=False).condition()
        x = variable("x", kind)
        translator = Translator()
        quantified = z3.Exists([translator.expression(x)], translator.expression(given))
        theirs = z3.Tactic("qe")(quantified).as_expr()
        ours = eliminate_quantifiers([x], given)
        assert x not in variables([ours])
        solver = z3.Solver()
        solver.set("rlimit", 5_000_000)
        solver.add(theirs != translator.expression(ours))
        answer = solver.check()
        assert answer != z3.sat, (seed, given)
        compared += answer == z3.unsat
    assert compared > 110


@pytest.mark.parametrize("kind", [INT, REAL], ids=str)
@pytest.mark.parametrize("rich", [False, True])
def test_the_approximate_cube_contains_the_model_and_implies_the_exact_result(kind, rich):
    compared = 0
    for seed in range(150):
        given = Formulas(seed, kind, rich).condition()
        x = variable("x", kind)
        translator = Translator()
        body = translator.expression(given)
        solver = z3.Solver()
        solver.add(body)
        if solver.check() != z3.sat:
            continue
        model = solver.model()
        names = [variable(n, kind) for n in "xyz"]
        values = {v: read(kind, model.eval(translator.expression(v), model_completion=True)) for v in names}
        evaluation = Evaluation(values)
        kept = conjunction(*cube([given], evaluation, {x: None}))
        assert x not in variables([kept]) and evaluation.of(kept) is True, (seed, given)
        solver = z3.Solver()
        solver.set("rlimit", 5_000_000)
        solver.add(translator.expression(kept), z3.Not(z3.Exists([translator.expression(x)], body)))
        answer = solver.check()
        assert answer != z3.sat, (seed, given)
        compared += answer == z3.unsat
    assert compared > 100


def test_the_slides_first_example():
    given = term("and", term("lt", x, t), term("lt", t, y))
    assert equivalent(eliminate_quantifiers([t], given), term("gt", term("sub", y, x), number(1)))


def test_the_slides_second_example_without_its_slip():
    # ∃t. x >= 2t ∧ x <= 3t: the x >= 2 of [Laurent] loses x = 0 (with t = 0).
    double, triple = (term("mul", number(n), t) for n in (2, 3))
    result = eliminate_quantifiers([t], term("and", term("ge", x, double), term("le", x, triple)))
    assert equivalent(result, term("or", term("eq", x, number(0)), term("ge", x, number(2))))


def test_divisibility_and_equalities_fix_remainders():
    even = eliminate_quantifiers([t], term("eq", x, term("mul", number(2), t)))
    assert equivalent(even, term("eq", term("mod", x, number(2)), number(0)))
    both = term("and", term("eq", x, term("mul", number(2), t)), term("eq", y, term("mul", number(3), t)))
    sixth = eliminate_quantifiers([t], both)
    same = term("eq", term("mul", number(3), x), term("mul", number(2), y))
    assert equivalent(sixth, term("and", same, term("eq", term("mod", x, number(2)), number(0))))


def test_real_bounds_may_meet_only_where_neither_is_strict():
    a, b, m = (variable(n, REAL) for n in "abm")
    between = term("and", term("le", a, m), term("le", m, b))
    assert equivalent(eliminate_quantifiers([m], between), term("le", a, b))
    inside = term("and", term("lt", a, m), term("le", m, b))
    assert equivalent(eliminate_quantifiers([m], inside), term("lt", a, b))


def test_bools_go_by_both_values_and_products_do_not_go():
    b = variable("b", BOOL)
    given = term("and", term("implies", b, term("ge", x, number(3))), term("or", b, term("le", x, number(-1))))
    expected = term("or", term("ge", x, number(3)), term("le", x, number(-1)))
    assert equivalent(eliminate_quantifiers([b], given), expected)
    with pytest.raises(NotLinear):
        eliminate_quantifiers([t], term("eq", term("mul", t, t), x))


def test_a_bool_goes_from_below_comparisons_of_words_too():
    b, a, c = variable("b", BOOL), variable("a", machine(8, signed=False)), variable("c", machine(8, signed=False))
    chosen = term("mux", b, a, c)
    result = eliminate_quantifiers([b], term("lt", chosen, term("bitand", a, c)))
    assert set(variables([result])) == {a, c}
    assert equivalent(result, term("or", *(term("lt", x, term("bitand", a, c)) for x in (a, c))))
    assert eliminate_quantifiers([b], term("eq", chosen, a)) is TRUE


def test_a_product_with_an_input_is_taken_at_the_models_value():
    given = term("ge", term("mul", x, t), number(6))
    kept = conjunction(*cube([given], Evaluation({x: 3, t: 2}), {t: None}))
    assert equivalent(kept, term("ge", x, number(3)))


def test_the_box_of_a_triangle():
    sides = (term("ge", x, number(0)), term("ge", y, number(1)), term("le", term("add", x, y), number(5)))
    box = conjunction(*bounding_box(sides))
    bounds = [("ge", x, 0), ("le", x, 4), ("ge", y, 1), ("le", y, 5)]
    assert equivalent(box, conjunction(*(term(op, v, number(n)) for op, v, n in bounds)))
    assert bounding_box(sides[:2]) is None  # a box already
