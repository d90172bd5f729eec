"""Rules and refusals of which a mutant lived: no other test saw the difference."""

from __future__ import annotations

import ctypes
import math
from random import Random
from types import SimpleNamespace

import pytest
import z3
from judging import large_blocks, sliced
from test_programs import FOLDS
from trust.evaluator import identical

from streamcheck import *
from streamcheck import SpecError
from streamcheck.certify.check import Rejected
from streamcheck.certify.evaluate import _power
from streamcheck.certify.locations import BlockChecker
from streamcheck.certify.replay import inconsistency
from streamcheck.core.c_names import c_name
from streamcheck.core.evaluate import evaluate
from streamcheck.core.smtlib import symbols
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import BOOL, FLOAT, machine
from streamcheck.problem.certificate_shape import _is_number
from streamcheck.problem.specification import Cell, Claim, FunctionCall, Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.smt.rows import Exact, formula
from streamcheck.smt.terms import Terms
from streamcheck.transform.embedding import _is_same_operation
from streamcheck.transform.liveness import _rounds
from streamcheck.validate.discharge import any_value
from streamcheck.validate.memory import _widens
from streamcheck.validate.packed_bits import KeptWord

WORD8, WORD16, INT8 = machine(8, signed=False), machine(16, signed=False), machine(8, signed=True)


# Refusals: without them something false could be accepted


def test_a_certificate_about_blocks_names_an_error_of_theirs():
    checker = BlockChecker(FOLDS, large_blocks(sliced(FOLDS)))
    assert isinstance(checker.check("another", Certificate("inductive", 1, (TRUE,))), Rejected)


def test_a_function_gives_one_value_for_the_same_inputs_at_the_steps_that_call_it():
    tick, x, y = variable("tick", BOOL), variable("x", WORD8), variable("y", WORD8)
    calls = SimpleNamespace(calls=(FunctionCall("f", tick, (x,), (y,)),))
    steps = lambda *ticks: [{tick: t, x: 1, y: at} for at, t in enumerate(ticks)]
    matters = [{"y"}] * 2
    assert inconsistency(calls, steps(True, True), matters) is not None
    assert inconsistency(calls, steps(True, False), matters) is None
    assert inconsistency(calls, steps(False, False), matters) is None
    assert inconsistency(calls, steps(True, True), [{"y"}, set()]) is None


def test_a_specification_has_no_stray_variables():
    b, c = variable("b", BOOL), variable("c", BOOL)
    make = lambda read: Specification(
        "s", (), (), (Cell("b", FALSE, b, None),), (), (), (), (Claim("p", read, None),), (), None
    )
    make(b)
    with pytest.raises(ValueError, match="undeclared variables c"):
        make(c)


def test_a_certificate_comes_from_a_solver_of_engines():
    Certificate("inductive", 1, (TRUE,), prover="bitwuzla")
    with pytest.raises(ValueError, match="no engine uses 'cvc5'"):
        Certificate("inductive", 1, (TRUE,), prover="cvc5")


def test_the_operations_of_a_part_are_those_of_the_whole():
    x, y = variable("x", WORD8), variable("y", WORD8)
    ours = term("add", x, y)
    assert _is_same_operation(ours, term("add", y, x))
    assert not _is_same_operation(ours, term("sub", x, y))
    assert not _is_same_operation(ours, term("add", variable("a", INT8), variable("b", INT8)))
    assert not _is_same_operation(term("cast", x, payload=WORD16), term("cast", x, payload=INT8))


def test_a_wide_type_has_every_value_of_a_narrow_one():
    assert _widens(WORD8, WORD16) and _widens(WORD8, WORD8)
    assert not _widens(WORD16, WORD8) and not _widens(INT8, WORD16) and not _widens(WORD8, INT8)


def test_bits_of_cells_are_bits_of_their_variable():
    cells = lambda *bits: KeptWord({bit: Cell(f"c{bit}", FALSE, TRUE, None) for bit in bits})
    assert cells(7).term(WORD8, constant(WORD8, 0)).type is WORD8
    for word, type in ((cells(8), WORD8), (cells(0), INT8)):
        with pytest.raises(SpecError, match="bits of"):
            word.term(type, constant(type, 0))


def test_what_is_of_no_type_is_no_number():
    assert _is_number(WORD8, 255) and not _is_number(WORD8, 256) and not _is_number(BOOL, 1)


# Rules


@pytest.mark.parametrize(
    ("a", "b", "result"),
    [(-1e300, 3.0, -math.inf), (-1e300, 2.0, math.inf), (1e300, 3.0, math.inf), (-0.0, -3.0, -math.inf)],
)
def test_powers_beyond_the_largest_float(a, b, result):
    assert identical(_power(a, b), result)


def test_symbols_are_none_of_smtlib():
    given = ["and", "push", "bvx", ".a", "@a", "fp.x", "x"]
    assert list(symbols(given).values()) == ["_and", "_push", "_bvx", "_.a", "_@a", "_fp.x", "x"]


def test_names_in_c_are_no_functions_of_its_library():
    for name in ("printf", "malloc", "sqrtf", "strlen", "signal"):
        assert c_name(name) != name
    assert c_name("level") == "level"


@pytest.mark.parametrize("build", [lambda a, b: a * b, lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a & b])
@pytest.mark.parametrize("values", [(3, 5), (200, 201), (0, 7)])
def test_operations_on_bits_come_back_as_they_are(build, values):
    names, types = ("a", "b"), {name: variable(name, WORD8) for name in ("a", "b")}
    vectors = [z3.BitVec(name, 8) for name in names]
    found = Terms({v.get_id(): types[str(v)] for v in vectors}).term(build(*vectors))
    given = dict(zip(types.values(), values, strict=True))
    assert evaluate([found], given)[found] == z3.simplify(build(*(z3.BitVecVal(v, 8) for v in values))).as_long()


def test_a_constant_is_a_formula_of_itself():
    assert formula(TRUE, Exact()) is TRUE and formula(FALSE, Exact()) is FALSE


def test_a_round_is_complete_when_every_condition_was_met():
    f, g, good = (variable(name, BOOL) for name in "fgh")
    (count, *_), _ = _rounds([f, g], good, "rounds", ["seen f", "seen g"])
    base = {count.var: 0, good: False, variable("seen f", BOOL): False, variable("seen g", BOOL): False}
    after = lambda **met: evaluate([count.next], {**base, f: met["f"], g: met["g"]})[count.next]
    assert after(f=True, g=True) == 1 and after(f=True, g=False) == after(f=False, g=True) == 0


def test_random_floats_are_values_of_their_type():
    rng = Random(5)
    values = [any_value(rng, FLOAT) for _ in range(200)]
    assert all(math.isnan(v) or v == ctypes.c_float(v).value for v in values)


def test_a_column_that_is_not_asked_for_may_have_a_separator_in_its_name(tmp_path):
    spec = Spec("s")
    spec.observer("seen", extern("b", Bool))
    (tmp_path / "log.csv").write_text("b;x,b\n1,true\n")
    assert [step.observers["seen"] for step in spec.run(inputs=str(tmp_path / "log.csv"), ignore_extra=True)] == [True]
    (tmp_path / "log.csv").write_text("b;x\ntrue;1\n")
    with pytest.raises(SpecError, match="separated by ';'"):
        spec.run(inputs=str(tmp_path / "log.csv"), ignore_extra=True)
