"""`streamcheck tests`: runs that cover branches and conditions."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from c_harness import have
from click.testing import CliRunner

from streamcheck import *
from streamcheck import SpecError, load
from streamcheck.certify.check import Checker
from streamcheck.certify.replay import run_of
from streamcheck.cli import cli
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import term, variable
from streamcheck.core.types import BOOL
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification import Input, Named, Specification
from streamcheck.problem.verdict import Trace
from streamcheck.run.prove import Settings
from streamcheck.run.suites import suite_of
from streamcheck.transform.decision_goals import decision_goals

SOURCE = """
from streamcheck import *

probe = extern("probe", Word8)
cooler = extern("cooler", Bool)
hot = probe > 250
since_hot = stream(Word8, lambda n: [0] ++ mux(hot, n + 1, 0))
alarm = hot & ~cooler & (since_hot > 40)
dead = mux(hot, mux(probe < 9, probe, 1), 2)

spec = Spec("engine")
spec.assume("cooler_helps", implies(cooler, probe != 251))
spec.trigger("shutoff", alarm, {"probe": probe})
spec.observer("dead", dead)
spec.exists("long", since_hot == 90)
spec.prop("free", implies(unknown(Bool), ~alarm))
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "engine.py"
    path.write_text(SOURCE)
    return load(path)


def test_what_is_covered_is_so_by_another_evaluator(spec, tmp_path):
    answer = spec.tests(tmp_path / "out", timeout=30)
    states = {g.goal.name: g.state for g in answer.goals}
    assert states["trigger shutoff fires"] == states["long"] == "covered"
    assert states["dead if … & probe < 9"] == "never"
    assert [name.partition(" ")[0] for name in states if states[name] == "not by inputs"] == ["free:"]
    assert "open" not in states.values() and len(answer.runs) <= 4
    specification = answer.specification
    for goal in answer.goals:
        if goal.run is not None:
            rows = tuple({v.payload: value for v, value in row.items()} for row in answer.runs[goal.run])
            steps = list(run_of(specification, Trace({}, rows[: goal.step + 1])))
            assert all(step[a.term] for step in steps for a in specification.assumptions)
            asked = replace(specification, properties=(goal.goal,))
            assert list(run_of(asked, Trace({}, rows[: goal.step + 1])))[-1][goal.goal.term] is True
    for goal in answer.goals:
        if goal.state == "never":
            asked = replace(specification, properties=(goal.goal,))
            assert goal.certificate and Checker(asked).check(goal.goal.name, goal.certificate) is None


def test_a_run_ends_with_a_goal_that_is_new(spec, tmp_path):
    answer = spec.tests(tmp_path / "out", timeout=30)
    last = {(g.run, g.step) for g in answer.goals if g.run is not None}
    assert all((i, len(rows) - 1) in last for i, rows in enumerate(answer.runs))


def test_the_files_are_read_and_their_tests_pass(spec, tmp_path):
    answer = spec.tests(tmp_path / "out", timeout=30)
    assert all(Path(path).exists() for path in answer.written)
    assert len(list(spec.run(inputs=tmp_path / "out" / "engine_run_1.csv"))) == len(answer.runs[0])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0 and f"{len(answer.runs)} passed" in done.stdout
    (tmp_path / "engine.py").write_text(SOURCE.replace("n + 1", "n + 2"))
    assert subprocess.run(command, capture_output=True).returncode == 1


@pytest.mark.skipif(not have("gcc"), reason="no gcc here")
def test_the_test_in_c_compares_the_monitor(spec, tmp_path):
    out = tmp_path / "out"
    answer = spec.tests(out, timeout=30)
    spec.compile(out, unproven=True, validate=False)
    build = ["gcc", "-std=c99", "engine_test.c", "engine.c", "-lm", "-o", "t"]
    assert subprocess.run(build, cwd=out).returncode == 0
    steps = sum(map(len, answer.runs))
    done = subprocess.run(["./t"], cwd=out, capture_output=True, text=True)
    assert done.stdout == f"engine: as interpreted (runs: {len(answer.runs)}, steps: {steps})\n"
    text = (out / "engine.c").read_text()
    assert "250" in text
    (out / "engine.c").write_text(text.replace("250", "251"))
    assert subprocess.run(build, cwd=out).returncode == 0
    assert subprocess.run(["./t"], cwd=out, capture_output=True).returncode != 0


def test_conditions_decide_where_the_truth_table_says_so():
    a, b, c = variables = [variable(name, BOOL) for name in "abc"]
    decision = term("and", a, term("or", b, term("not", c)))
    inputs = tuple(Input(str(v.payload), BOOL, True, "", "", None) for v in variables)
    observer = Named("p", decision, None)
    specification = Specification("s", inputs, (), (), (), (), (observer,), (), (), None)
    goals = {g.name: g.term for g in decision_goals(specification)}
    assert len(goals) == 6
    for row in product((False, True), repeat=3):
        values = dict(zip(variables, row, strict=True))
        for var in variables:
            other = {**values, var: not values[var]}
            decides = value_of(decision, values) != value_of(decision, other)
            name = f"p: {'' if values[var] else '~'}{var.payload} decides"
            opposite = f"p: {'~' if values[var] else ''}{var.payload} decides"
            assert value_of(goals[name], values) is decides and value_of(goals[opposite], values) is False


def test_a_spec_without_inputs_has_one_run():
    n = stream(Word8, lambda n: [0] + +mux(n < 30, n + 1, 0))
    spec = Spec("clock")
    spec.observer("n", n)
    suite = suite_of(flatten(spec), Settings(timeout=20))
    assert len(suite.runs) == 1 and suite.count("covered") == 2 and len(suite.runs[0]) == 31


def test_a_spec_without_triggers_has_no_test_in_c(tmp_path):
    path = tmp_path / "s.py"
    path.write_text(SOURCE.replace("spec.trigger", "# "))
    arguments = ["tests", str(path), "-o", str(tmp_path / "out"), "--json"]
    done = CliRunner().invoke(cli, arguments, standalone_mode=False)
    row = json.loads(done.stdout)
    assert done.return_value == 0 and not any(name.endswith(".c") for name in row["written"])
    assert {g["state"] for g in row["goals"]} == {"covered", "never", "not by inputs"}


def test_the_conditions_of_claims_are_no_goals(tmp_path):
    """They are true in every run, so half of them could never be covered; nor does the C compute them."""
    hot = extern("hot", Bool)
    spec = Spec("alarm")
    spec.trigger("warn", hot | pre(False, hot))
    spec.prop("later", requirement("whenever hot the alarm shall immediately satisfy hot | !hot"))
    owners = {g.name.partition(":")[0] for g in decision_goals(flatten(spec)) if g.name.endswith("decides")}
    assert owners == {"trigger warn"}


def test_an_output_of_an_unknown_has_no_expected_value(tmp_path):
    spec = Spec("guess")
    spec.observer("shown", mux(unknown(Bool), extern("x", Word8), 0))
    with pytest.raises(SpecError, match="observer shown depends on an unknown"):
        spec.tests(tmp_path)
