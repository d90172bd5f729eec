"""Engines on bitwuzla: floats and machine integers, and who checks their proofs."""

from __future__ import annotations

import gc
import json
import math
import weakref
from dataclasses import replace
from pathlib import Path

import pytest
from test_command import streamcheck
from test_prove import spec_file, verdicts

from streamcheck.certify import judge
from streamcheck.certify.check import Checker
from streamcheck.certify.checker import SpecificationChecker, _conditions
from streamcheck.certify.solvers import bitwuzla, cvc5
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, INT, machine
from streamcheck.engines.protocol import Task, TrueUpTo
from streamcheck.problem.verdict import CHECKERS, Certificate, Proved
from streamcheck.run.registry import build
from streamcheck.run.source import Target, read
from streamcheck.run.strategy import portions
from streamcheck.run.workers import Turns
from streamcheck.smt.bit_solver import BitSolver, NoNumbers, is_expressible
from streamcheck.smt.work import work_done
from streamcheck.transform.views import views

__all__ = ["spec_file"]

I8 = machine(8, signed=True)

FLOATS = """
a, b = extern("a", Float), extern("b", Float)
low = stream(Float, lambda y: [0.0] ++ (y * 0.9 + a * 0.1))
spec = Spec("s")
spec.assume("range", (a >= -100.0) & (a <= 100.0) & (b >= -100.0) & (b <= 100.0))
spec.prop("filtered", (low <= 101.0) & (low >= -101.0))
spec.prop("mean", (a + b) / 2.0 <= 100.01)
spec.prop("associative", (a + 1.0) - 1.0 == a)
"""


def test_floats_are_decided_by_bitwuzla_and_checked_by_cvc5(spec_file, tmp_path, monkeypatch):
    path = spec_file(FLOATS)
    status, answer = verdicts(path, "--engine", "bit-induction", "--certificates", tmp_path)
    assert status == 1
    rows = {row["name"]: row for row in answer["properties"]}
    assert {name: row["verdict"] for name, row in rows.items()} == {
        "filtered": "proved",
        "mean": "proved",
        "associative": "falsified",
    }
    saved = rows["mean"]["certificate"]
    assert json.loads(Path(saved).read_text())["prover"] == "bitwuzla"
    assert streamcheck("check", saved).returncode == 0


MULTIPLES = """
step = extern("step", Bool)
n = stream(Word16, lambda n: [0] ++ mux(step, n + 4, n ^ 8))
spec = Spec("s")
spec.prop("p", n != 6)
"""

SLOPE = """
x = extern("x", Float)
y = stream(Float, lambda y: [0.0] ++ mux(x > y + 0.5, y + 0.5, mux(x >= y, x, y)))
spec = Spec("s")
spec.assume("x", (x >= -8.0) & (x <= 8.0))
spec.prop("range", (y >= 0.0) & (y <= 8.0))
spec.prop("slope", mux(x > y + 0.5, y + 0.5, mux(x >= y, x, y)) - y <= 0.6)
spec.prop("other", implies(x == 1.0, x * 2.0 == 2.0))
"""


def unavailable(*_):
    raise AssertionError("the solver that found the proof is asked to check it")


@pytest.mark.parametrize("kind", ["Float", "Word8", "Bool"])
def test_no_solver_checks_its_own_proof(spec_file, monkeypatch, kind):
    claim = {"Float": "implies(x >= 2, x > 1)", "Word8": "(x & 7) <= x", "Bool": "x | ~x"}[kind]
    path = spec_file(f'x = extern("x", {kind})\nspec = Spec("s")\nspec.prop("p", {claim})\n')
    (specification,) = read(Target(str(path), None))
    invariants = (specification.properties[0].term,)
    monkeypatch.setattr(judge, "bitwuzla", unavailable)
    checker = Checker(specification)
    assert checker.check("p", Certificate("inductive", 1, invariants, prover="bitwuzla")) is None
    rejected = checker.check("p", Certificate("inductive", 1, invariants))  # the first attempt is bitwuzla's
    assert rejected is None or "asked to check" in rejected.why


@pytest.mark.parametrize("prover", CHECKERS)
@pytest.mark.parametrize("kind", ["Float", "Word8", "Bool"])
def test_the_prover_is_in_no_attempt(spec_file, kind, prover):
    """Of an open query every attempt is made, each with more than the same solver had before."""
    claim = {"Float": "implies(x >= 2, x > 1)", "Word8": "(x & 7) <= x", "Bool": "x | ~x"}[kind]
    path = spec_file(f'x = extern("x", {kind})\nspec = Spec("s")\nspec.prop("p", {claim})\n')
    (specification,) = read(Target(str(path), None))
    checker = SpecificationChecker(specification)
    invariant = checker.reading.invariant(specification.properties[0])
    (condition,) = _conditions(checker.reading.runs.cone([invariant]), Certificate("inductive", 1, (invariant,)))
    attempts = list(judge._attempts(condition.runs, condition.query, prover))
    solvers = [attempt.solver for attempt in attempts]
    assert {solver.partition(",")[0] for solver in solvers} == set(CHECKERS[prover])
    for solver in set(solvers):
        budgets = [attempt.seconds for attempt in attempts if attempt.solver == solver]
        assert all(attempt is not None for attempt in budgets) and budgets == sorted(budgets)
    assert all(attempt.answer() is True for attempt in attempts[:2])


def test_float_queries_have_a_limit_on_work():
    """The same query with hardly any work is left open, by each solver."""
    text = "(set-logic ALL)(declare-const x Float32)(declare-const y Float32)" + (
        "(assert (fp.gt (fp.abs (fp.sub RNE (fp.div RNE (fp.mul RNE x y) y) x)) x))(assert (fp.gt x y))"
    )
    assert bitwuzla(text, None, 10) is None
    assert cvc5(text, None, {}, 1000) is None


def test_bits_are_checked_by_cvc5_all_at_once(spec_file):
    path = spec_file(MULTIPLES)
    status, answer = verdicts(path, "--engine", "pdr-bits")
    (row,) = answer["properties"]
    assert status == 0 and (row["prover"], row["checkers"]) == ("bitwuzla", ["cvc5"])
    assert "pdr-bits, k = 1, bit-vectors, checked by cvc5" in streamcheck("prove", path, "--engine", "pdr-bits").stdout


def test_certificates_have_only_the_lemmas_that_were_needed(spec_file, tmp_path):
    """`slope` needs the bound that `range` is, and nothing of the others."""
    path = spec_file(SLOPE)
    (specification,) = read(Target(str(path), None))
    system = next(view.system for view in views(specification) if view.model == "bits")
    proofs = {}
    turns = Turns(lambda: build(("bit-bmc", "bit-induction")), Task(system))

    def keep(_, event):
        if isinstance(event, Proved):
            proofs[event.prop] = event.certificate

    while turns.running and len(proofs) < 3:
        turns.round(keep)
    terms = {claim.name: claim.term for claim in specification.properties}
    assert terms["other"] not in proofs["slope"].invariants and terms["range"] in proofs["slope"].invariants
    assert len(proofs["range"].invariants) == len(proofs["other"].invariants) == 1
    checker = Checker(specification)
    assert all(checker.check(name, certificate) is None for name, certificate in proofs.items())


def test_models_have_every_kind_of_value():
    solver = BitSolver()
    f, d, i, b = variable("f", FLOAT), variable("d", DOUBLE), variable("i", I8), variable("b", BOOL)
    unused = variable("unused", I8)
    solver.add(term("lt", i, constant(I8, -100)), term("not", b))
    solver.add(term("ne", f, f), term("eq", d, constant(DOUBLE, -0.5)))
    assert solver.check() is True
    values = solver.values([f, d, i, b, unused])
    assert -128 <= values[i] < -100 and values[b] is False and values[d] == -0.5 and values[unused] == 0
    assert math.isnan(values[f])


def test_cores_name_what_was_needed():
    solver = BitSolver()
    p, q, x = variable("p", BOOL), variable("q", BOOL), variable("x", I8)
    solver.add_under(p, term("lt", x, constant(I8, 3)))
    solver.add_under(q, term("ge", x, constant(I8, 0)))
    large = term("gt", x, constant(I8, 9))
    assert solver.check(q, large) is True
    assert solver.check(p, q, large) is False
    core = set(solver.core([p, q, large]))
    assert {p, large} <= core
    assert solver.check(*core) is False


def test_patience_ends_a_query():
    solver = BitSolver(patience=1_000_000)
    x, y = variable("x", DOUBLE), variable("y", DOUBLE)
    for v in (x, y):
        solver.add(term("gt", v, constant(DOUBLE, 1.0)), term("lt", v, constant(DOUBLE, 1e9)))
    error = term("sub", term("div", term("mul", x, y), y), x)
    solver.add(term("ge", error, constant(DOUBLE, 1e-3)))
    assert solver.check() is None and solver.reason == "a query took too long"


def test_numbers_are_not_expressible(spec_file):
    with pytest.raises(NoNumbers):
        BitSolver().add(term("eq", variable("n", INT), constant(INT, 0)))
    assert not is_expressible([variable("n", INT)]) and is_expressible([variable("i", I8)])
    path = spec_file('n = stream(Int, lambda n: [0] ++ (n + 1))\nspec = Spec("s")\nspec.prop("p", n >= 0)\n')
    status, answer = verdicts(path, "--engine", "bit-bmc")
    assert status == 3 and "bitwuzla has no Int and Real" in str(answer["properties"][0]["reasons"])


def test_answers_of_bitwuzla_are_no_facts_for_engines_on_z3(spec_file):
    """Else bitwuzla could check a proof whose base case is its own answer."""
    counter = "n = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, n))"
    path = spec_file(counter + '\nspec = Spec("s")\nspec.prop("p", n < 10)\n')
    (specification,) = read(Target(str(path), None))
    system = next(view.system for view in views(specification) if view.model == "bits")
    turns = Turns(lambda: build(("bit-bmc", "k-induction")), Task(system))
    events = []
    for _ in range(30):
        turns.round(lambda engine, event: events.append((engine, event)))
    assert any(engine == "bit-bmc" and isinstance(event, TrueUpTo) for engine, event in events)
    assert not any(isinstance(event, Proved) for _, event in events)  # k-induction waits for a base case of its family


BESIDE_A_HARD_ONE = """
x, y = extern("x", Double), extern("y", Double)
i = extern("i", Int8)
spec = Spec("s")
spec.prop("hard", implies((x > 1.0) & (y > 1.0) & (x < 1e9) & (y < 1e9), (x * y) / y - x < 1e-3))
spec.prop("easy", implies(x >= 2.0, x > 1.0))
spec.prop("integers", implies(i > 3, i >= 4))
"""


def test_an_easy_property_of_floats_does_not_wait_for_a_hard_one(spec_file):
    view = views(read(Target(str(spec_file(BESIDE_A_HARD_ONE)), None))[0])[0]
    (floats,) = (part for part in portions([view]) if "hard" in part.claims)
    system = replace(view.system, properties=tuple(p for p in view.system.properties if p.name in floats.claims))
    patience, proved = 5_000_000, set()
    turns = Turns(lambda: build(("bit-bmc", "bit-induction")), Task(system, patience=patience))
    began = work_done()
    while "easy" not in proved:
        turns.round(lambda _, event: proved.add(event.prop) if isinstance(event, Proved) else None)
    assert 10_000 < work_done() - began < patience


def test_properties_of_floats_have_no_second_worker_over_the_other_integer_model(spec_file):
    models = views(read(Target(str(spec_file(BESIDE_A_HARD_ONE)), None))[0])
    assert len(models) == 2
    of = {name: portion.models for portion in portions(models) for name in portion.claims}
    assert of["easy"] == of["hard"] == (models[0],)
    assert of["integers"] == tuple(models)


@pytest.mark.parametrize("way", [("--jobs", "1"), ("--deterministic",)])
def test_floats_are_decided_in_one_process_too(spec_file, tmp_path, way):
    path = spec_file(FLOATS)
    answers, proofs = [], []
    for attempt in ("one", "two"):
        status, answer = verdicts(path, *way, "--certificates", tmp_path / attempt)
        assert status == 1
        certificates = {row["name"]: row.pop("certificate") for row in answer["properties"]}
        proofs.append({name: Path(saved).read_text() for name, saved in certificates.items()})
        answers.append([{key: value for key, value in row.items() if key != "seconds"} for row in answer["properties"]])
    assert [row["verdict"] for row in answers[0]] == ["proved", "proved", "falsified"]
    if way == ("--deterministic",):
        assert answers[0] == answers[1] and proofs[0] == proofs[1]


def test_a_solver_that_nobody_has_is_freed():
    word = variable("word", machine(32, signed=False))
    solver = BitSolver(1_000_000)
    solver.add(term("same", word, constant(word.type, 7)))
    assert solver.check() is True and solver.values([word]) == {word: 7}
    memory, terms = weakref.ref(solver), solver._terms
    solver.itself = solver  # a cycle, whose parts the collector frees in any order
    assert terms
    del solver
    gc.collect()
    assert memory() is None and not terms  # bitwuzla crashes if a term is freed after its solver
