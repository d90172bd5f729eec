"""Rules and refusals of which a mutant lived: no other test saw the difference."""

from __future__ import annotations

import ctypes
import linecache
import math
import re
from dataclasses import replace
from random import Random
from types import SimpleNamespace

import pytest
import z3
from c_harness import unit_of
from judging import large_blocks, sliced
from pycparser.c_parser import CParser
from test_programs import FOLDS
from test_wrong_c import modes, window
from trust.evaluator import identical

from streamcheck import *
from streamcheck import SpecError
from streamcheck.c.terms import comparison
from streamcheck.certify.check import Rejected
from streamcheck.certify.evaluate import _power
from streamcheck.certify.large_arrays import replay_whole
from streamcheck.certify.locations import BlockChecker
from streamcheck.certify.lots import neighbourhoods
from streamcheck.certify.replay import inconsistency
from streamcheck.certify.runs import Register, Runs
from streamcheck.core.c_names import c_name
from streamcheck.core.code_lines import lines_of
from streamcheck.core.evaluate import Evaluation, evaluate, value_of
from streamcheck.core.operators import OPERATORS
from streamcheck.core.operators.table import TypeRule
from streamcheck.core.printer import as_notation
from streamcheck.core.smtlib import symbols
from streamcheck.core.term import FALSE, TRUE, constant, term, variable, variables
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, INT, array_of, machine, struct_of
from streamcheck.core.uncast import EVERYWHERE, without_casts
from streamcheck.core.unsaved import read_text, replace_text, unsaved_text
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.certificate_shape import _is_number
from streamcheck.problem.result import Inconsistent, PathReplay
from streamcheck.problem.specification import (
    Cell,
    Claim,
    ComponentInstance,
    FunctionCall,
    Input,
    Named,
    Specification,
)
from streamcheck.problem.verdict import Certificate, EdgePath
from streamcheck.smt.implicant import cube
from streamcheck.smt.rows import Exact, formula
from streamcheck.smt.terms import Terms
from streamcheck.smt.ternary import partial_value
from streamcheck.transform.automaton_integers import _bounds
from streamcheck.transform.block_paths import statements_of
from streamcheck.transform.cells import Read, _EdgeReads
from streamcheck.transform.cut import Cutting
from streamcheck.transform.embedding import _is_same_operation
from streamcheck.transform.liveness import _rounds
from streamcheck.transform.product import _require_same_types
from streamcheck.validate.bisimulation import validate
from streamcheck.validate.discharge import any_value
from streamcheck.validate.memory import _widens
from streamcheck.validate.packed_bits import KeptWord
from streamcheck.validate.ring_walk import count_of
from streamcheck.validate.rounds import alike_term

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


def rings():
    old = [0] * 12 + +extern("x", Int16)
    spec = Spec("rings")
    spec.trigger("shown", True, [sum((drop(i, old) for i in range(1, 12)), old)])
    return spec


def counted():
    n = stream(Word8, lambda n: [0] + +(n + 1))
    spec = Spec("window")
    spec.trigger("shown", n > 3, [statistics.max(16, [0] * 16 + +extern("x", Int16))])
    return spec


CHANGES = {
    "a walk from elsewhere": (rings, {}, r"i ([=<]) state->x_before_at", r"i \1 state->x_before_at / 2u", "line"),
    "a walk by another counter": (rings, {}, r"for \(uint32_t i", "for (int32_t i", "bound is not a constant"),
    "a window that is right at first": (
        counted,
        {"copilot": True},
        r"(x_before_push\(int16_t newest\)\n\{)",
        r"\1 if (shown_state != 0u) { x_before_recent = 9; }",
        "x_before_push does not leave the extremes",
    ),
    "a window that gets no number": (window, {}, r"_push\(state, x\w*\);", "_push(state, state);", "gets no number"),
    "a function of the library's name": (
        modes,
        {},
        r"(void modes_step\()([^)]*)(\)\n\{)",
        r"#include <string.h>\nstatic void memset(uint8_t n) { on(n); }\n\1\2\3 memset(1u);",
        "a call of on that is not",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_c_with_one_change_is_refused(name):
    spec, options, pattern, text, why = CHANGES[name]
    code = unit_of(spec(), **options)
    files = {file: re.sub(pattern, text, old) for file, old in code.files.items()}
    assert files != code.files and validate(code).is_proved
    outcome = validate(replace(code, files=files))
    assert not outcome.is_proved and re.search(why, outcome.failures[0]), outcome.failures


@pytest.mark.parametrize("head", ["static int i = 0", "const int i = 0", "int i", "int i = i", "int i = 0, j = 0"])
def test_a_counted_loop_has_a_counter_of_its_own(head):
    parse = lambda head: CParser().parse(f"void f(int n) {{ for ({head}; i < n; i++) {{ }} }}")
    good, other = (parse(h).ext[0].body.block_items[0] for h in ("int i = 0", head))
    assert count_of(good) is not None and count_of(other) is None


def test_an_invariant_is_asked_about_steps_of_what_it_reads():
    n, x = variable("n", WORD8), variable("x", WORD8)
    near = term("le", n, constant(WORD8, 9))
    runs = Runs((Register(n, constant(WORD8, 0), x), Register(x, None, x)), (), (), ())
    ((part, known, goal),) = neighbourhoods(runs, [near])
    assert (part.registers, part.inputs, known, goal) == (runs.registers[:1], (x,), (near,), near)


def test_a_run_with_rounds_is_not_replayed_without_them():
    n = variable("n", INT)
    automaton = Automaton("p", (n,), ("a", "b"), "a", (), (Edge("a", "a"), Edge("a", "b")))
    edges = ((0, {}), (1, {}))
    assert isinstance(replay_whole(automaton, "b", EdgePath({}, edges)), PathReplay)
    rounds = SimpleNamespace(edges=edges, initial={}, rounds=(object(),))
    assert isinstance(replay_whole(automaton, "b", rounds), Inconsistent)


def test_the_statements_of_a_block_leave_what_the_block_does():
    n = variable("n", INT)
    to = lambda value: Edge("a", "b", updates=((n, constant(INT, value)),))
    source = Automaton("p", (n,), ("a", "b"), "a", (), (to(1), to(2)))
    blocks = replace(source, edges=(to(2),))
    assert statements_of(source, blocks, EdgePath({}, ((0, {}),))).edges == ((1, {}),)


def test_an_element_is_one_of_an_array():
    with pytest.raises(TypeRule, match="expected an array"):
        OPERATORS["index"].rule((WORD8, WORD8), None)


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


@pytest.mark.parametrize("op", EVERYWHERE)
def test_a_comparison_that_always_has_one_truth_is_that(op):
    n = variable("n", WORD8)
    for bound in (-1, 0, 1, 254, 255, 256):
        given = term(op, term("cast", n, payload=INT), constant(INT, bound))
        truths = {value_of(given, {n: value}) for value in range(256)}
        found = without_casts([given])[given]
        assert {value_of(found, {n: value}) for value in (0, 1, 2, 254, 255)} <= truths
        assert (found in (TRUE, FALSE)) == (len(truths) == 1)


def test_constants_are_shown_as_they_are_written():
    position = struct_of("Pos", (("lat", FLOAT), ("ok", array_of(BOOL, 2))))
    assert as_notation(position, (0.5, (True, False))) == "Pos(lat=0.5, ok=[true, false])"


def test_lines_of_a_file_that_python_finds(tmp_path, monkeypatch):
    (tmp_path / "shown_lines.py").write_text("x = 1\n")
    (tmp_path / "secret").write_text("word\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert lines_of("shown_lines.py") == ["x = 1\n"] and lines_of(str(tmp_path / "missing.py")) == []
    assert lines_of("secret") == lines_of(str(tmp_path / "secret")) == []


def test_a_float_may_have_any_exponent(tmp_path):
    spec = Spec("s")
    spec.observer("seen", extern("f", Double))
    (tmp_path / "log.csv").write_text("f\n1e10000\n-1e-10000\n")
    seen = [step.observers["seen"] for step in spec.run(inputs=str(tmp_path / "log.csv"))]
    assert seen[0] == math.inf and identical(seen[1], -0.0)


def test_outputs_that_are_inputs_or_constants_stay_what_they_are():
    x, n = variable("x", BOOL), variable("n", BOOL)
    part = ComponentInstance(
        "c", "C", None, (), tuple(Named(str(i), t, None) for i, t in enumerate((TRUE, x, n))), TRUE, TRUE
    )
    made = Specification(
        "s", (Input("x", BOOL, False, "", "", None),), (), (Cell("n", FALSE, x, None),), (), (), (), (), (), None
    )
    assert list(Cutting(made, [part], [], []).outputs.values()) == [n]


def test_elements_of_one_array_agree_where_their_indexes_do():
    a, b = (variable(name, array_of(WORD8, 4)) for name in "ab")
    i, j, x, y, z = (variable(name, WORD8) for name in "ijxyz")
    reads = SimpleNamespace(found=[Read(a, (i,), x), Read(a, (j,), y), Read(b, (i,), z)])
    (agreement,) = _EdgeReads.agreements(reads)
    assert [value_of(agreement, {i: 1, j: k, x: 3, y: v}) for k in (1, 2) for v in (3, 4)] == [True, False, True, True]


def test_a_guard_bounds_whole_numbers():
    n, f, w = variable("n", INT), variable("f", DOUBLE), variable("w", WORD8)
    guard = TRUE
    for part in (
        term("le", constant(INT, 3), n),
        term("lt", n, constant(INT, 9)),
        term("lt", f, constant(DOUBLE, 2.0)),
        term("lt", w, constant(WORD8, 7)),
    ):
        guard = term("and", part, guard)
    assert _bounds(guard) == {n: (3, 8)}


def test_inputs_of_their_own_may_have_the_names_of_others():
    made = lambda type, extern: Specification(
        "s", (Input("x", type, extern, "", "", None),), (), (), (), (), (), (), (), None
    )
    _require_same_types(made(BOOL, True), made(WORD8, False))
    with pytest.raises(SpecError, match="input 'x'"):
        _require_same_types(made(BOOL, True), made(WORD8, True))


@pytest.mark.parametrize("values", [(1, 0), (2, 0), (0, 1), (1, 2)])
@pytest.mark.parametrize("op", ["eq", "ne", "lt", "ge"])
def test_a_choice_of_numbers_compares_as_it_is(op, values):
    c = variable("c", BOOL)
    chosen = term("mux", c, *(constant(machine(32, signed=True), value) for value in values))
    for bound in (0, 1, 2):
        for a, b in ((chosen, constant(chosen.type, bound)), (constant(chosen.type, bound), chosen)):
            for held in (False, True):
                assert value_of(comparison(op, a, b), {c: held}) == value_of(term(op, a, b), {c: held})


def test_a_text_in_an_editor_is_read_before_it_is_saved(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    assert unsaved_text(str(path)) is None and read_text(str(path)) == "x = 1\n"
    replace_text(str(path), "x = 2\n")
    try:
        assert unsaved_text(str(path)) == read_text(str(path)) == "x = 2\n" and path.read_text() == "x = 1\n"
    finally:
        linecache.clearcache()


def test_conditions_of_fairness_are_terms_of_the_spec():
    b = variable("b", BOOL)
    made = Specification("s", (Input("b", BOOL, False, "", "", None),), (), (), (), (), (), (), (), None)
    assert b in set(replace(made, fairness=(Named("often", b, None),)).roots())


@pytest.mark.parametrize("op", ["floordiv", "mod", "quot", "rem"])
@pytest.mark.parametrize("divisor", [-5, -2, 2, 5])
def test_what_stands_for_a_quotient_holds_in_the_model(op, divisor):
    """And for each other value of what is left, some value of the eliminated makes the root true."""
    x, y = variable("x", INT), variable("y", INT)
    sum_ = term("add", x, y)
    for value in range(-7, 8):
        node = term(op, sum_, constant(INT, divisor))
        result = value_of(node, {x: value, y: 0})
        root = term("eq", node, constant(INT, result))
        found = cube([root], Evaluation({x: value, y: 0}), [x])
        assert all(value_of(part, {x: value, y: 0}) is True for part in found)
        for other in range(-9, 10):
            if all(value_of(part, {y: other}) for part in found):
                assert any(value_of(root, {x: v, y: other}) for v in range(-40, 40))


@pytest.mark.parametrize("op", ["xor", "eq", "ne", "same"])
def test_an_eliminated_condition_is_in_no_cube(op):
    a, b = variable("a", BOOL), variable("b", BOOL)
    for values in ({a: x, b: y} for x in (False, True) for y in (False, True)):
        root = term(op, a, b)
        root = root if value_of(root, values) else term("not", root)
        found = cube([root], Evaluation(values), [a])
        assert variables(found) == [b] and all(value_of(part, values) for part in found)


def test_an_operand_that_decides_is_enough():
    a, b = variable("a", BOOL), variable("b", BOOL)
    for op, value, result in (("and", False, False), ("or", True, True)):
        node = term(op, a, b)
        assert partial_value(node, [value, None]) is partial_value(node, [None, value]) is result
        assert partial_value(node, [not value, None]) is None
    assert partial_value(term("implies", a, b), [False, None]) is partial_value(term("implies", a, b), [None, True])


def test_terms_that_are_alike_are_one_over_other_variables():
    a, b, v, other = (variable(name, WORD8) for name in ("a", "b", "v", "other"))
    known = {(a, b): v}
    plus = lambda x: term("add", x, constant(WORD8, 3))
    assert alike_term(plus(a), plus(b), dict(known)) is plus(v)
    assert alike_term(plus(a), term("sub", b, constant(WORD8, 3)), dict(known)) is None
    assert alike_term(plus(a), plus(other), dict(known)) is None
