"""`prove --reachable`: branches, premises, triggers and assumptions; `provided`."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

import streamcheck as sc
from streamcheck import *
from streamcheck import SpecError
from streamcheck.cli import cli
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import TRUE, term, variable
from streamcheck.core.types import BOOL
from streamcheck.lang.flatten import flatten
from streamcheck.transform.coverage_goals import goals_of, reach_conditions

x = extern("x", Word8)
low = x < 10
step = mux(low, x, mux(x < 5, Word8(2), 3))
count = stream(Word8, lambda c: [0] + +mux(c < 3, c + 1, 0))
above = implies(x > 200, ~low)

SOURCE = """
from streamcheck import *

x = extern("x", Word8)
low = x < 10
step = mux(low, x, mux(x < 5, Word8(2), 3))

spec = Spec("goals")
spec.assume("small", x < 100)
spec.assume("smaller", x < 50)
spec.trigger("call", x == 7)
spec.trigger("silent", x == 60)
spec.observer("step", step)
spec.prop("above", implies(x > 200, ~low))
"""


def goals():
    spec = Spec("goals")
    spec.assume("small", x < 100)
    spec.assume("smaller", x < 50)
    spec.trigger("call", x == 7)
    spec.trigger("silent", x == 60)
    spec.observer("step", step)
    spec.prop("above", above)
    return spec


def test_each_goal_is_reached_or_proved_unreachable():
    results = goals().prove(reachable=True, timeout=30)
    verdicts = {r.name: r.verdict for r in results}
    assert verdicts == {
        "above": "proved",
        "trigger call fires": "proved",
        "trigger silent fires": "falsified",
        "step if low": "proved",
        "step if ~low": "proved",
        "step if … & x < 5": "falsified",  # inside the other branch
        "step if … & x >= 5": "proved",
        "above: premise x > 200": "falsified",
        "assumption small restricts": "falsified",  # the other one says more
        "assumption smaller restricts": "proved",
    }
    assert all(r.certificate is not None for r in results if r.verdict == "falsified")
    assert results["trigger call fires"].witness["x"] == [7]
    assert results["assumption smaller restricts"].witness["x"][-1] in range(50, 100)
    assert not results.ok


def test_goals_are_asked_only_if_wanted():
    assert [r.name for r in goals().prove(timeout=20)] == ["above"]
    results = goals().prove(reachable=True, props=["trigger*"], timeout=20)
    assert [r.name for r in results] == ["trigger call fires", "trigger silent fires"]


def test_a_delay_has_branches_of_its_own():
    spec = Spec("delays")
    spec.observer("count", count)
    names = {goal.name for goal in goals_of(flatten(spec))}
    assert names == {"count if count < 3", "count if count >= 3"}


def test_branches_that_macros_decide_are_left_out():
    spec = Spec("macros")
    spec.observer("one", mux(Word8(1) == 1, x, 0))
    assert goals_of(flatten(spec)) == ()


def test_a_shared_node_is_used_on_any_of_its_ways():
    a, b, c = (variable(name, BOOL) for name in "abc")
    shared = term("mux", c, a, b)
    whole = term("mux", a, shared, term("mux", b, shared, c))
    reached = reach_conditions(whole, set())
    assert reached[whole] is TRUE
    values = [(p, q) for p in (False, True) for q in (False, True)]
    for p, q in values:
        assert value_of(reached[shared], {a: p, b: q, c: True}) is (p or q)


def test_provided_holds_where_its_condition_does():
    spec = Spec("provided")
    spec.prop("low", x < 5, provided=x < 3)
    spec.prop("never", x < 5, provided=x * 2 == 3)
    spec.prop("wrong", x < 5, provided=x < 9)
    verdicts = {r.name: r.verdict for r in spec.prove(timeout=20)}
    assert verdicts == {
        "low": "proved",
        "condition of low": "proved",
        "never": "proved",
        "condition of never": "falsified",
        "wrong": "falsified",
        "condition of wrong": "proved",
    }


def test_provided_takes_a_stream():
    spec = Spec("provided")
    with pytest.raises(SpecError, match="expected a Bool stream, found Python's True"):
        spec.prop("low", x < 5, provided=True)
    with pytest.raises(SpecError, match="expected a Bool stream, found Word8"):
        spec.prop("low", x < 5, provided=x)


def test_the_command_saves_and_checks_goals(tmp_path):
    path = tmp_path / "goals.py"
    path.write_text(SOURCE)
    saved = tmp_path / "saved"
    arguments = ["prove", str(path), "--reachable", "--json", "--certificates", str(saved)]
    shown = CliRunner().invoke(cli, arguments, standalone_mode=False)
    assert shown.return_value == 1
    rows = {row["name"]: row for row in json.loads(shown.output)["properties"]}
    assert rows["trigger call fires"]["implied"] and rows["trigger call fires"]["witness"]["length"] == 1
    for row in rows.values():
        assert sc.check(row["certificate"]).ok, row
    path.write_text(SOURCE.replace("x < 50", "x < 70"))
    assert not sc.check(rows["trigger silent fires"]["certificate"]).ok


def test_the_command_prints_every_goal(tmp_path):
    path = tmp_path / "goals.py"
    path.write_text(SOURCE)
    shown = CliRunner().invoke(cli, ["prove", str(path), "--reachable"], standalone_mode=False).output
    assert "never      assumption small restricts" in shown and "reachable  step if low" in shown
    assert "step  " not in shown.replace("step if", "")  # no tables of runs


def test_programs_have_no_goals(tmp_path):
    path = tmp_path / "p.c"
    path.write_text("void reach_error(void); int main(void) { return 0; }\n")
    with pytest.raises(SpecError, match="`reachable=True` is for specs"):
        sc.load(str(path)).prove(reachable=True)


@component
def chooser(a: Word8, b: Word8) -> Word8:
    assume("small", a < 100)
    out = maximum(a, b)
    contract_mode("far", require=a > 120, ensure=out > 120)
    contract_mode("big", require=(a > 60) & (a <= 120), ensure=out > 60)
    contract_mode("rest", require=a <= 60, ensure=out >= a)
    return out


def test_modes_of_components_are_goals():
    spec = Spec("modes")
    spec.prop("p", chooser(extern("a", Word8) % 50, extern("b", Word8)) >= 0)
    verdicts = {r.name: r.verdict for r in spec.prove(reachable=True, timeout=60)}
    found = {name: verdict for name, verdict in verdicts.items() if name.endswith("is active") and "mode " in name}
    assert found == {
        "chooser.mode far is active": "falsified",
        "chooser.mode big is active": "falsified",
        "chooser.mode rest is active": "proved",
        "chooser.some mode is active": "proved",
    }
    alone = {r.name: r.verdict for r in chooser.prove(reachable=True, timeout=60)}
    assert alone["mode far is active"] == "falsified" and alone["mode big is active"] == "proved"
    assert "assumption assume small restricts" in alone
