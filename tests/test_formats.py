"""Other tools' languages: what is written means the same to whoever reads it, and what is read means what it says.

Random finite systems are judged by explicit search before and after a round trip, so that no engine has a say.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
import z3
from finite import W8, Explicit, systems
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lustre_runs import read as read_text

from streamcheck import SpecError
from streamcheck.certify.replay import run_of
from streamcheck.core.evaluate import evaluate
from streamcheck.core.smtlib import symbols
from streamcheck.core.term import constant, term, variable, walk
from streamcheck.core.types import BOOL, FLOAT, INT, REAL, enum_of, machine
from streamcheck.export.chc import write_chc
from streamcheck.export.lustre import write_lustre
from streamcheck.export.smt2 import write_smt2
from streamcheck.export.vmt import write_vmt
from streamcheck.frontends.lustre.read import read_lustre
from streamcheck.frontends.vmt import read_vmt
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.transition import State, TransitionSystem
from streamcheck.problem.verdict import Trace
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target, read
from streamcheck.transform.scalar_system import to_system

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPECS = sorted(str(p) for p in Path("specs").glob("*.py"))
RANDOM = settings(
    max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
WRITERS = {"lus": write_lustre, "vmt": write_vmt}


def again(system, kind, folder):
    """The system written and read."""
    path = folder / f"spec.{kind}"
    path.write_text(WRITERS[kind](system))
    (equations,) = read(Target(str(path), None))
    return to_system(equations)


# Round trips


@pytest.mark.parametrize("kind", WRITERS)
@RANDOM
@given(st.data())
def test_a_round_trip_keeps_every_verdict_and_its_step(kind, tmp_path, data):
    system = data.draw(systems(data.draw(st.sampled_from([INT, W8]))))
    back = again(system, kind, tmp_path)
    assert [p.name for p in back.properties] == [p.name for p in system.properties]
    before, after = Explicit(system), Explicit(back)
    for claim, other in zip(system.properties, back.properties, strict=True):
        assert before.shortest_violation(claim) == after.shortest_violation(other)


def proved(equations, timeout=20, bound=None):
    settings = Settings(timeout=timeout, jobs=1, bound=bound)
    return {r.name: r.verdict for r in prove(equations, settings).results}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("path", SPECS)
def test_round_trips_of_the_specs(kind, path, tmp_path):
    for equations in read(Target(path, None)):
        equations = equations.about_steps()  # the rest has no form there, and `show` refuses it
        if not equations.properties:
            continue
        written = tmp_path / f"spec.{kind}"
        written.write_text(WRITERS[kind](to_system(equations)))
        (back,) = read(Target(str(written), None))
        bound = 3 if Path(path).stem in ("cooker", "sums", "uptime") else None  # which one job does not decide in 10 s
        assert proved(back, 10, bound) == proved(equations, 10, bound)


EVERY_OPERATION = [
    *(("abs", "neg"), ("min", "max"), ("floordiv", "mod"), ("quot", "rem"), ("shl", "shr"), ("bitand", "bitor")),
    *(("bitxor", "bitnot"), ("add", "sub"), ("mul", "lt"), ("le", "ge"), ("gt", "eq"), ("ne", "same")),
]
UNARY = {"abs", "neg", "bitnot"}


@pytest.mark.parametrize("kind", WRITERS)
@pytest.mark.parametrize("type", [INT, machine(8, signed=False), machine(8, signed=True)], ids=str)
def test_operations_keep_their_meaning(kind, type, tmp_path):
    """Each operation at the corners of its type, division by zero and oversized shifts among them."""
    a, b = variable("a", type), variable("r", type)
    ops = [op for pair in EVERY_OPERATION for op in pair if type is not INT or not op.startswith(("sh", "bit"))]
    results = [term(op, a) if op in UNARY else term(op, a, b) for op in ops]
    results.append(term("mux", term("lt", a, b), a, b))
    corners = [0, 1, 2, 3, 7, 8, 9, 100] + ([-1, -2, -7, -8, -9] if type.kind != "unsigned" else [255])
    corners += [127, -128] if type.kind == "signed" else []
    claims = []
    for i, (x, y) in enumerate((x, y) for x in corners for y in corners):
        row = [constant(type, x), constant(type, y)]
        here = term("and", term("eq", a, row[0]), term("eq", b, row[1]))
        for n, r in enumerate(results):
            value = evaluate([r], {a: x, b: y})[r]
            claims.append(Claim(f"{i} {n}", term("implies", here, term("eq", r, constant(r.type, value))), None))
    back = again(TransitionSystem("operations", (), (a, b), (), (), tuple(claims)), kind, tmp_path)
    roots = [p.term for p in back.properties]
    named = {v.payload: v for v in back.inputs}
    for x in corners:
        for y in corners:
            given = dict.fromkeys(back.inputs, 0) | {named["a"]: x % 256 if kind == "vmt" and type is not INT else x}
            given[named["r"]] = y % 256 if kind == "vmt" and type is not INT else y
            values = evaluate(roots, given)
            assert all(values[r] for r in roots), (x, y, [p.name for p in back.properties if not values[p.term]][:3])


CASTS = [BOOL, machine(8, signed=True), machine(8, signed=False), machine(16, signed=True), machine(16, signed=False)]


@pytest.mark.parametrize("source", [*CASTS, INT, REAL], ids=str)
def test_conversions_keep_their_meaning(source, tmp_path):
    samples = {"bool": [False, True], "real": [Fraction(-7, 2), Fraction(0), Fraction(300), Fraction(5, 2)]}
    corners = (0, 1, -1, 127, 128, 255, -128, 300, 40000)
    values = samples.get(source.kind) or [v for v in corners if _fits(source, v)]
    a = variable("a", source)
    results = [term("cast", a, payload=t) for t in (*CASTS, INT, REAL) if t is not source]
    props = []
    for i, value in enumerate(values):
        given = evaluate(results, {a: value})
        here = term("eq", a, constant(source, value))
        for r in results:
            claim = term("implies", here, term("eq", r, constant(r.type, given[r])))
            props.append(Claim(f"{i} {r.type}", claim, None))
    back = again(TransitionSystem("casts", (), (a,), (), (), tuple(props)), "lus", tmp_path)
    for value in values:
        found = evaluate([p.term for p in back.properties], dict.fromkeys(back.inputs, value))
        assert all(found[p.term] for p in back.properties)


def _fits(type, value):
    return type is INT or type.low <= value <= type.high


def test_enums_reachable_properties_free_starts_and_awkward_names(tmp_path):
    color = enum_of("Color", (("red", 3), ("green", 5)))
    paint, node, old = variable("node", color), variable("pos.x", BOOL), variable("let", INT)
    claims = (
        Claim('it is "red"', term("eq", paint, constant(color, 3)), None, Goal.REACHABLE),
        Claim("never odd", term("eq", term("mod", old, constant(INT, 2)), constant(INT, 0)), None),
    )
    state = (
        State(paint, constant(color, 5), term("mux", node, constant(color, 3), paint)),
        State(old, None, old),
    )
    system = TransitionSystem("and", state, (node,), (), (), claims)
    for kind in WRITERS:
        path = tmp_path / f"spec.{kind}"
        path.write_text(WRITERS[kind](system))
        (equations,) = read(Target(str(path), None))
        found = proved(equations)
        assert found.pop("never odd") == "falsified"
        assert found in ({"it is 'red'": "proved"}, {'never it is "red"': "falsified"})
    lines = write_lustre(system).splitlines()
    assert lines[0] == "type Color = enum { Color_red, Color_green };" and lines[1].startswith(
        "node and_2 (pos_x: bool;"
    )


def test_floats_are_no_lustre():
    x = variable("x", FLOAT)
    system = TransitionSystem("f", (), (x,), (), (), (Claim("p", term("lt", x, x), None),))
    with pytest.raises(SpecError, match="floats cannot be written in Lustre"):
        write_lustre(system)
    assert "FloatingPoint 8 24" in write_vmt(system) and "FloatingPoint 8 24" in write_smt2(system, 1)


# Solvers' answers


def answers_of_z3(script):
    context = z3.Context()
    return z3.Z3_eval_smtlib2_string(context.ref(), script).split("\n")


def answers_of_cvc5(script):
    import cvc5

    solver = cvc5.Solver(cvc5.TermManager())
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, "(set-option :incremental true)\n" + script, "script")
    symbol_manager, answers = parser.getSymbolManager(), []
    while not (command := parser.nextCommand()).isNull():
        answers += [line for line in command.invoke(solver, symbol_manager).splitlines() if line]
    return answers


def is_linear(system):
    """Products of whole numbers may keep a solver for ever."""
    return not any(node.op == "mul" and node.type is INT for node in walk(system.roots()))


@pytest.mark.parametrize("ask", [answers_of_z3, answers_of_cvc5])
@settings(RANDOM, max_examples=25)
@given(st.data())
def test_the_k_step_queries_are_satisfiable_where_search_finds_a_violation(ask, data):
    steps = 4
    system = data.draw(systems(data.draw(st.sampled_from([INT, W8]))))
    assume(is_linear(system))
    lines = [line for line in ask(write_smt2(system, steps)) if line]
    answer = {name.strip('"'): said for name, said in zip(lines[::2], lines[1::2], strict=True)}
    graph = Explicit(system)
    for claim in system.properties:
        broken = graph.shortest_violation(claim)
        sat = [i for i in range(steps + 1) if answer[f"{claim.name}, step {i}"] == "sat"]
        assert (sat[0] if sat else None) == (broken if broken is not None and broken <= steps else None)
        if answer[f"{claim.name}, induction step, k = {steps}"] == "unsat" and not sat:
            assert broken is None


@settings(RANDOM, max_examples=25)
@given(st.data())
def test_horn_clauses_are_satisfiable_where_every_property_holds(data):
    system = data.draw(systems())
    assume(is_linear(system))
    graph = Explicit(system)
    holds = all(graph.shortest_violation(claim) is None for claim in system.properties)
    answer = [line for line in answers_of_z3("(set-option :timeout 5000)\n" + write_chc(system)) if line]
    assert answer in (["sat" if holds else "unsat"], ["unknown"])


def test_horn_clauses_of_known_answers():
    x = variable("x", INT)
    state = (State(x, constant(INT, 0), term("mod", term("add", x, constant(INT, 1)), constant(INT, 5))),)
    for limit, said in ((5, "sat"), (4, "unsat")):
        claim = Claim("small", term("lt", x, constant(INT, limit)), None)
        assert answers_of_z3(write_chc(TransitionSystem("t", state, (), (), (), (claim,))))[0] == said


def test_symbols_are_different_and_none_of_smt_libs():
    chosen = symbols(["x", "and", "assert", "a b", "a|b", "a!b", "div", "q!", ".t0", "_.t0", "bv8", "", "_"])
    assert len(set(chosen.values())) == len(chosen)
    assert chosen["x"] == "x" and chosen["a b"] == "|a b|" and chosen["and"] == "_and"
    script = "\n".join(f"(declare-const {s} Int)" for s in chosen.values()) + "\n(check-sat)"
    assert answers_of_z3(script)[0] == "sat"


# The command


def test_show_writes_each_language(tmp_path):
    path = tmp_path / "count.lus"
    path.write_text("node top(b: bool) returns (n: int); let n = 0 -> pre n + 1; --%PROPERTY n >= 0;\ntel")
    begins = {"lustre": "node top (b: bool)", "vmt": "(declare-fun", "chc": "(set-logic HORN)", "smt2": "; the runs"}
    for kind, start in begins.items():
        done = subprocess.run([COMMAND, "show", path, "--as", kind], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith(start), done.stderr
    done = subprocess.run([COMMAND, "show", path, "--as", "smt2", "--steps", "2"], capture_output=True, text=True)
    assert done.stdout.count("(check-sat)") == 4  # three steps and induction
    for kind in ("vmt", "lus"):
        written = tmp_path / f"again.{kind}"
        language = "lustre" if kind == "lus" else kind
        shown = subprocess.run([COMMAND, "show", path, "--as", language], capture_output=True, text=True).stdout
        written.write_text(shown)
        done = subprocess.run([COMMAND, "prove", written, "--json"], capture_output=True, text=True)
        assert json.loads(done.stdout)["properties"][0]["verdict"] == "proved"


# VMT-LIB


def vmt(tmp_path, text):
    path = tmp_path / "spec.vmt"
    path.write_text(text)
    return read_vmt(str(path))


RELATION = """
(set-logic ALL)
(declare-fun x () Int) (declare-fun |x'| () Int)
(define-fun .sv0 () Int (! x :next |x'|))
(define-fun .init () Bool (! (and (>= x 0) (< x 2)) :init true))
(define-fun .trans () Bool (! (let ((up (= |x'| (+ x 1)))) (or up (and (= |x'| x) (> x 3)))) :trans true))
(define-fun low () Bool (! (< x 7) :invar-property 0))
(define-fun positive () Bool (! (>= x 0) :invar-property 1))
"""


def test_a_transition_relation_is_met_at_every_step(tmp_path):
    equations = vmt(tmp_path, RELATION)
    results = {r.name: r for r in prove(equations, Settings(timeout=20, jobs=1)).results}
    assert results["low"].verdict == "falsified" and results["low"].k == 6
    assert results["positive"].verdict == "proved"
    (x,) = [c.var for c in equations.cells if c.name == "x"]
    assert [step[x] for step in results["low"].replay.steps] == [1, 2, 3, 4, 5, 6, 7]


def test_a_state_without_successor_counts(tmp_path):
    text = RELATION.replace("(or up (and", "(and (< x 1) (or up (and")
    text = text.replace("(> x 3)))) :trans", "(> x 3))))) :trans").replace("(< x 7)", "(< x 1)")
    (result, _) = prove(vmt(tmp_path, text), Settings(timeout=20, jobs=1)).results
    assert result.verdict == "falsified" and result.k == 0  # x = 1 has no successor, and is initial


def test_a_division_by_zero_has_one_value_for_each_dividend(tmp_path):
    text = """
      (declare-fun x () Int) (declare-fun |x'| () Int) (define-fun .x () Int (! x :next |x'|))
      (define-fun .i () Bool (! (= x (div 5 0)) :init true))
      (define-fun .t () Bool (! (= |x'| (div 5 (- x x))) :trans true))
      (define-fun same () Bool (! (= x (div 5 0)) :invar-property 0))
      (define-fun nine () Bool (! (= x 9) :invar-property 1))
    """
    same, nine = prove(vmt(tmp_path, text), Settings(timeout=40, jobs=1, engines=("bmc",))).results
    assert nine.verdict == "falsified"
    assert same.verdict == "unknown" and "it gives intdiv by zero two values" in str(same.unknown.reasons)


def test_functional_transitions_need_no_conditions(tmp_path):
    text = RELATION.replace("(let ((up (= |x'| (+ x 1)))) (or up (and (= |x'| x) (> x 3))))", "(= (+ x 1) |x'|)")
    text = text.replace("(and (>= x 0) (< x 2))", "(= x 1)")
    equations = vmt(tmp_path, text)
    (cell,) = equations.cells
    assert not equations.assumptions and cell.initial.payload == 1 and cell.next.op == "add" and not equations.inputs


STATE = "(declare-fun x () Int) (declare-fun n () Int) (declare-fun m () Int)\n(declare-fun b () Bool)\n"
STEP = "(define-fun .x () Int (! x :next n))\n"


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("(declare-fun x () Int\n", 1, "not closed"),
        ("(declare-fun x () Int))", 1, "unmatched closing bracket"),
        ("\n(declare-fun f (Int) Int)", 2, "f is an uninterpreted function"),
        ("(declare-fun x () (Array Int Int))", 1, "arrays are not supported; use a variable for each element"),
        ("(declare-fun x () Float32)", 1, "the sort Float32 is not supported; Bool, Int, Real and (_ BitVec n) are"),
        ("(declare-sort S 0)", 1, "sorts of the file's own are not supported"),
        ("(declare-fun x () Int)\n(declare-fun x () Int)", 2, "x is defined twice"),
        ("(define-fun p () Int true)", 1, "p is declared Int, and its value is Bool"),
        ("(define-fun f ((x Int)) Bool (> x 0))\n(define-fun p () Bool (f true))", 2, "f takes Int, not Bool"),
        ("(define-fun f ((x Int)) Bool x)\n(define-fun p () Bool (f 1))", 2, "f is declared Bool, and its value"),
        ("(define-fun p () Bool (! y :invar-property 0))", 1, "y is not declared"),
        ("(define-fun p () Bool (! true :live-property 0))", 1, "liveness is not supported"),
        ("(define-fun p () Bool (+ true 1))", 1, "Bool and Int are different types"),
        ("(define-fun p () Bool (foo true))", 1, "`foo` is not supported here"),
        ("(define-fun p () Bool (forall ((x Int)) true))", 1, "quantifiers are not supported"),
        ("(assert true)\n(assert false)", 2, "nothing is asserted in VMT-LIB but `true`"),
        ("(define-fun p () Bool (! true :initial true))", 1, "`:initial` is not known; do you mean `:init`?"),
        ("(define-fun p () Bool (! true :invar true))", 1, "the annotation `:invar` is not known"),
        ("(define-fun p () Bool (! true :init 0))", 1, "`:init` is followed by true or false, not by 0"),
        ("(define-fun p () Bool (not (! true :init true)))", 1, "`:init` belongs to the top of a definition"),
        (STATE + "(define-fun .x () Int (! (+ x 1) :next n))", 3, "`:next` names a declared variable"),
        (STATE + "(define-fun .x () Int (! x :next b))", 3, "x is Int, and its next value Bool"),
        (STATE + STEP + "(define-fun .y () Int (! m :next n))", 4, "m or n is in another `:next` already"),
        (STATE + STEP + "(define-fun p () Bool (! (= n 0) :init true))", 4, "the initial condition speaks of n"),
        (STATE + STEP + "(define-fun p () Bool (! (= n 0) :invar-property 0))", 4, "a property speaks of n"),
        (STATE + STEP + "(define-fun p () Bool (! (= x 0) :invar-property 0))", None, "annotated with `:init` or"),
        ("(declare-fun x () Int)\n(define-fun p () Int (let ((y)) y))", 2, "this is not well formed"),
        (f"(declare-fun x () (_ BitVec {10**30}))", 1, "a bit-vector has 1 to 65536 bits, not 1000"),
        (f"(define-fun p () Bool (= (_ bv1 {10**30}) 0))", 1, "a bit-vector has 1 to 65536 bits, not 1000"),
    ],
)
def test_mistakes_in_vmt_are_named_with_their_line(tmp_path, text, line, said):
    with pytest.raises(SpecError, match=re.escape(said)) as caught:
        vmt(tmp_path, text)
    assert (caught.value.where and caught.value.where.line) == line


def test_annotations_without_a_value_and_with_false(tmp_path):
    """Tools write `:init` without the value that SMT-LIB asks for; `:init false` is no initial condition."""
    terms = "(define-fun .i () Bool (! (= x 0) :init ))\n(define-fun .t () Bool (! (= n (+ x 1)) :trans ))\n"
    off = "(define-fun .j () Bool (! (= x 1) :init false))\n"
    claims = "(define-fun low () Bool (! (< x 2) :invar-property))\n(assert true)\n"
    (low,) = prove(vmt(tmp_path, STATE + STEP + terms + off + claims), Settings(timeout=20, jobs=1)).results
    assert (low.verdict, low.k) == ("falsified", 2)


def test_deep_terms_are_read(tmp_path):
    n = 20_000
    deep = "(+ 1 " * n + "x" + ")" * n
    text = f"(declare-fun x () Int)\n(define-fun p () Bool (! (> {deep} x) :invar-property 0))"
    lets = "(let ((y (+ y 1))) " * 500 + "y" + ")" * 500
    text += f"\n(define-fun y () Int x)\n(define-fun q () Bool (! (> {lets} x) :invar-property 1))"
    equations = vmt(tmp_path, text)
    assert len(equations.properties) == 2
    (values,) = run_of(equations, Trace({}, ({"x": 3},)))
    assert all(values[p.term] for p in equations.properties)


def test_lustre_that_is_written_is_lustre_that_was_read(tmp_path):
    """Instances, clocks, arrays and records, all the way round."""
    text = """
      type pair = struct { l, r: int };
      node sum(i: int) returns (s: int); let s = i + (0 -> pre s); tel
      node top(x: subrange [0, 3] of int; b: bool) returns (p: pair; y: int);
      var a: int^2;
      let
        a = [x, 0] -> pre [a[1], x];
        y = condact(b, (restart sum every x = 3)(x), 0);
        p = pair { l = a[0] + a[1]; r = y };
        --%PROPERTY p.l <= 6;
        --%PROPERTY p.l <= 3;
        --%PROPERTY p.r >= 0;
        --%MAIN;
      tel
    """
    equations = read_text(tmp_path, text)
    path = tmp_path / "again.lus"
    path.write_text(write_lustre(to_system(equations)))
    assert proved(read_lustre(str(path))[0]) == proved(equations)
    assert proved(equations)["p.l <= 3"] == "falsified" and proved(equations)["p.r >= 0"] == "proved"
