"""z3's values as ours, and its expressions as terms: each operation at several widths against z3's own answer."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest
import z3
from operator_cases import MODE

from streamcheck.core.evaluate import value_of
from streamcheck.core.term import constant, term, variable, variables
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, INT, REAL, machine
from streamcheck.smt.rows import eliminate_quantifiers
from streamcheck.smt.solver import Solver, read
from streamcheck.smt.terms import Terms, Untranslatable, solver_variable
from streamcheck.smt.translate import literal

FLOATS = [0.0, -0.0, 1.5, -2.25, math.inf, -math.inf, 2.0**-149, -(2.0**-126), 3.4028234663852886e38, 16777216.0]
VALUES = {
    BOOL: [False, True],
    INT: [0, -1, 10**30],
    REAL: [Fraction(0), Fraction(-7, 3), Fraction(10**20)],
    MODE: [0, 3, -1],
    **{machine(w, signed=False): [0, 1, 1 << (w - 1), (1 << w) - 1] for w in (8, 16, 32, 64)},
    **{machine(w, signed=True): [0, -1, -1 << (w - 1), (1 << (w - 1)) - 1] for w in (8, 16, 32, 64)},
    FLOAT: FLOATS,
    DOUBLE: [*FLOATS, 5e-324, 0.1, -1.7976931348623157e308],
}


@pytest.mark.parametrize("type", VALUES, ids=str)
def test_values_come_back(type):
    for value in VALUES[type]:
        found = read(type, z3.simplify(literal(type, value)))
        assert found == value and found.__class__ is value.__class__ and str(found) == str(value)
        solver = Solver(None)
        var = variable("v", type)
        solver.add(term("same", var, constant(type, value)))
        assert solver.check() is True and str(solver.model()[var]) == str(value) == str(solver.values([var])[var])


def test_values_that_z3_leaves_open_or_only_describes():
    for type in (FLOAT, DOUBLE):
        assert math.isnan(read(type, z3.fpNaN(z3.FPSort(type.exponent, type.significand))))
    assert (
        read(INT, z3.Int("n")) == 0 and read(BOOL, z3.Bool("p")) is False and read(FLOAT, z3.FP("f", z3.Float32())) == 0
    )
    solver = z3.Solver()
    root = z3.Real("root")
    solver.add(root * root == 2, root > 0)
    solver.check()
    assert abs(read(REAL, solver.model()[root]) ** 2 - 2) < Fraction(1, 10**15)


WIDTHS = (1, 5, 8, 13, 16, 33, 64)
ON_BITS = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "neg": lambda a, b: -a,
    "not": lambda a, b: ~a, "&": lambda a, b: a & b, "|": lambda a, b: a | b, "^": lambda a, b: a ^ b,
    "sum of three": lambda a, b: z3.BitVecRef(z3.Z3_mk_bvadd(a.ctx_ref(), (a + b).as_ast(), a.as_ast())),
    "ite": lambda a, b: z3.If(a == b, a, ~b),
    "<=": lambda a, b: z3.ULE(a, b), "<": lambda a, b: z3.ULT(a, b), ">=": lambda a, b: z3.UGE(a, b),
    ">": lambda a, b: z3.UGT(a, b), "signed <=": lambda a, b: a <= b, "signed <": lambda a, b: a < b,
    "signed >=": lambda a, b: a >= b, "signed >": lambda a, b: a > b, "==": lambda a, b: a == b,
    "distinct": lambda a, b: z3.Distinct(a, b),
    "extract": lambda a, b: z3.Extract(max(a.size() - 2, 0), min(a.size() - 1, a.size() // 3), a),
    "low bits": lambda a, b: z3.Extract(a.size() // 2, 0, a),
    "high bits": lambda a, b: z3.Extract(a.size() - 1, a.size() // 2, a),
}  # fmt: skip
WIDENING = {
    "concat": lambda a, b: z3.Concat(a, b), "concat of three": lambda a, b: z3.Concat(a, b, a),
    "zero extension": lambda a, b: z3.ZeroExt(3, a),
}  # fmt: skip
NUMBERS = {
    "+": lambda a, b: a + b + a, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "neg": lambda a, b: -a,
    "<=": lambda a, b: a <= b, "<": lambda a, b: a < b, ">=": lambda a, b: a >= b, ">": lambda a, b: a > b,
    "==": lambda a, b: a == b, "distinct": lambda a, b: z3.Distinct(a, b), "ite": lambda a, b: z3.If(a < b, a, b - 7),
    "logic": lambda a, b: z3.And(z3.Or(a < b, z3.Not(a > 2)), z3.Implies(b > 0, a < 5), z3.Xor(a < 0, b < 0)),
    "constants": lambda a, b: z3.And(a < b, True) if z3.is_int(a) else z3.Or(a > b, False),
}  # fmt: skip


def compare(build, leaves, rows):
    """The term of an expression has z3's value at each of the rows."""
    names = [e for e, _ in leaves]
    expression = build(*names)
    found = Terms({e.get_id(): t for e, t in leaves}).term(expression)
    for row in rows:
        values = [z3.BitVecVal(v, e.size()) if z3.is_bv(e) else literal(t.type, v) for (e, t), v in row]
        known = z3.simplify(z3.substitute(expression, *zip(names, values, strict=True)))
        expected = known.as_long() if z3.is_bv(known) else read(found.type, known)
        assert value_of(found, {t: v for (_, t), v in row}) == expected, (str(expression), [v for _, v in row])


@pytest.mark.parametrize("width", WIDTHS)
def test_expressions_over_bits(width):
    rng, container = random.Random(width), machine(max(8, 1 << (width - 1).bit_length()), signed=False)
    leaves = [(z3.BitVec(n, width), variable(n, container)) for n in "ab"]
    corners = sorted({0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, *[rng.getrandbits(width)] * 2})
    rows = [list(zip(leaves, pair, strict=True)) for pair in itertools.product(corners, repeat=2)]
    for build in (*ON_BITS.values(), *(WIDENING.values() if width < 20 else ())):
        compare(build, leaves, rows)


@pytest.mark.parametrize("type", [INT, REAL], ids=str)
def test_expressions_over_numbers(type):
    make = {INT: z3.Int, REAL: z3.Real}[type]
    leaves = [(make(n), variable(n, type)) for n in "ab"]
    given = [Fraction(n) if type is REAL else n for n in (-7, -1, 0, 2, 5, 6)]
    rows = [list(zip(leaves, pair, strict=True)) for pair in itertools.product(given, repeat=2)]
    divisions = {INT: [lambda a, b: a / 3, lambda a, b: a % 4, lambda a, b: z3.ToReal(a)], REAL: [lambda a, b: a / -3]}
    for build in (*NUMBERS.values(), *divisions[type]):
        compare(build, leaves, rows)


def test_what_has_no_term():
    n, m, r, s = z3.Int("n"), z3.Int("m"), z3.Real("r"), z3.Real("s")
    b = z3.BitVec("b", 8)
    known = Terms({e.get_id(): variable(str(e), t) for e, t in ((n, INT), (m, INT), (r, REAL), (s, REAL))})
    known.built[b.get_id()] = variable("b", machine(8, signed=False))
    wide = z3.Concat(*[b] * 9)
    for expression in (n / m, n % m, n / -2, n % 0, n / 0, r / s, r / 0, z3.UDiv(b, b), z3.ToInt(r), b << b, wide):
        with pytest.raises(Untranslatable):
            known.term(expression)


def test_variables_as_the_solver_has_them():
    for type, value, bits in (
        (machine(8, signed=True), -1, 255), (machine(64, signed=True), -2, (1 << 64) - 2),
        (machine(16, signed=False), 7, 7), (MODE, -1, (1 << 32) - 1),
    ):  # fmt: skip
        var = variable("v", type)
        assert value_of(solver_variable(var), {var: value}) == bits
    for type in (INT, BOOL, REAL):
        assert solver_variable(variable("v", type)) is variable("v", type)


def test_quantifiers_over_operations_that_are_not_linear_go():
    """∃ x in 0 … 3, against each x."""
    x, y, z = (variable(name, INT) for name in "xyz")
    zero, three = constant(INT, 0), constant(INT, 3)
    inside = term("and", term("le", zero, x), term("le", x, three))
    difference = term("sub", x, y)
    for node in (
        term("min", x, y),
        term("max", x, y),
        term("abs", difference),
        term("mux", term("lt", x, y), x, term("neg", y)),
        *(term(op, difference, constant(INT, d)) for op in ("floordiv", "mod") for d in (2, -2, 3)),
    ):
        given = term("and", inside, term("eq", node, z))
        found = eliminate_quantifiers([x], given)
        assert x not in variables([found])
        for values in itertools.product(range(-3, 6), repeat=2):
            known = dict(zip((y, z), values, strict=True))
            assert value_of(found, known) == any(value_of(given, {**known, x: v}) for v in range(4)), (node, values)
