"""`streamcheck mutants`: small changes of a spec, and whether its properties notice them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from streamcheck import *
from streamcheck.cli import cli
from streamcheck.core.evaluate import evaluate
from streamcheck.lang.flatten import flatten
from streamcheck.run.prove import Settings, prove
from streamcheck.transform.mutate import SAME_OUTPUTS, mutations_of, side_by_side

x = extern("x", Word8)
small = x < 10
count = stream(Word8, lambda c: [0] + +mux(small & (c < 3), c + 1, c))
twice = count + count
unseen = x + 1

SOURCE = """
from streamcheck import *

x = extern("x", Word8)
small = x < 10
count = stream(Word8, lambda c: [0] ++ mux(small & (c < 3), c + 1, c))

spec = Spec("counts")
spec.trigger("full", count == 3)
spec.prop("at_most_3", count <= 3)
"""


def counts():
    spec = Spec("counts")
    spec.assume("not_9", x != 9)
    spec.trigger("full", count == 3, {"count": count})
    spec.observer("twice", twice)
    spec.prop("at_most_3", count <= 3)
    spec.prop("even", twice % 2 == 0)
    return spec


@pytest.fixture(scope="module")
def found():
    return {(m.mutation.owner, m.mutation.before, m.mutation.after): m for m in counts().mutants(timeout=60)}


def test_each_mutant_has_an_outcome_with_its_evidence(found):
    assert {m.outcome for m in found.values()} == {"noticed", "not noticed", "equivalent"}
    noticed = found["count", "3", "4"]
    assert noticed.outcome == "noticed" and noticed.prop == "at_most_3"
    assert found["count", "count < 3", "count <= 3"].prop == "at_most_3"
    missed = found["small", "x < 10", "x <= 10"]
    assert missed.outcome == "not noticed" and missed.run.steps[0][x_of(missed)] == 10
    assert found["small", "10", "9"].outcome == "equivalent"  # x is never 9
    assert found["assume not_9", "x != 9", "true"].outcome == "not noticed"
    assert found["trigger full", "count == 3", "count != 3"].outcome == "not noticed"
    assert not any(owner == "unseen" for owner, _, _ in found)


def x_of(mutant):
    return next(i.var for i in mutant.both.inputs if i.name == "x")


def test_the_run_of_a_mutant_shows_another_output_and_breaks_nothing(found):
    for mutant in found.values():
        if mutant.outcome == "not noticed" and mutant.run is not None:
            last, properties = mutant.run.steps[-1], mutant.both.properties
            values = evaluate([p.term for p in properties], {v: last[v] for v in mutant.both.variables()})
            assert [p.name for p in properties if values[p.term] is False] == [SAME_OUTPUTS]
            assert all(step[a.term] for step in mutant.run.steps for a in mutant.both.assumptions)


def test_the_spec_beside_itself_has_the_same_outputs():
    specification = flatten(counts())
    both = side_by_side(specification, specification, lambda _: True)
    assert both.cells == specification.cells  # all are shared
    assert {r.verdict for r in prove(both, Settings(timeout=20)).results} == {"proved"}


def test_only_what_a_change_reaches_is_copied():
    specification = flatten(counts())
    by_change = {(m.owner, m.before, m.after): m.mutated for m in mutations_of(specification)}
    both = side_by_side(specification, by_change["count", "3", "4"], lambda _: True)
    assert {c.name for c in both.cells} == {"count", "count'"}
    both = side_by_side(specification, by_change["trigger full", "count == 3", "count != 3"], lambda _: True)
    assert {c.name for c in both.cells} == {"count"}


def test_the_command_shows_lines_and_json(tmp_path):
    path = tmp_path / "counts.py"
    path.write_text(SOURCE)
    shown = CliRunner().invoke(cli, ["mutants", str(path)], standalone_mode=False)
    assert shown.return_value == 0
    assert "counts.py:5  small: x < 10 → x <= 10: not noticed, another output at step" in shown.output
    assert "count'" in shown.output and "noticed by at_most_3" in shown.output
    quiet = CliRunner().invoke(cli, ["mutants", str(path), "--json"], standalone_mode=False)
    rows = json.loads(quiet.output)["mutants"]
    missed = next(r for r in rows if r["after"] == "x <= 10")
    assert missed["where"]["line"] == 5 and missed["run"]["steps"][-1]["inputs"]["x"] == 10


def test_without_outputs_named_streams_are_compared():
    spec = Spec("silent")
    spec.prop("at_most_3", count <= 3)
    outcomes = {(m.mutation.before, m.mutation.after): m.outcome for m in spec.mutants(timeout=60)}
    assert outcomes["x < 10", "x <= 10"] == "not noticed" and outcomes["3", "4"] == "noticed"


def test_a_property_that_is_not_proved_notices_nothing():
    spec = Spec("wrong")
    spec.observer("small", small)
    spec.prop("never_small", ~small)
    answer = spec.mutants(timeout=20)
    assert answer.left_out == ("never_small",) and not answer.count("noticed") and answer.count("not noticed")


def outcomes_of(spec):
    return {(m.mutation.owner, m.mutation.before, m.mutation.after): m.outcome for m in spec.mutants(timeout=60)}


def test_outputs_of_structs_are_compared_bit_by_bit():
    """-0.0 is not 0.0, and NaN is NaN, inside of a struct, too."""

    @struct
    class Pair:
        value: Float
        low: Bool

    zero = mux(x < 5, Float(0.0), Float(-0.0))
    nan = Float(0.0) / Float(0.0) * mux(x < 7, Float(1.0), Float(2.0))
    spec = Spec("pairs")
    spec.observer("zeros", Pair(value=zero, low=x < 9))
    spec.trigger("nans", x < 9, {"nan": Pair(value=nan, low=x < 9)})
    outcomes = {(before, after): outcome for (_, before, after), outcome in outcomes_of(spec).items()}
    assert outcomes["mux(x < 5, 0.0, -0.0)", "mux(x < 5, -0.0, 0.0)"] == "not noticed"
    assert outcomes["x < 7", "x <= 7"] == "equivalent"


def test_outputs_without_a_name_are_changed_too():
    spec = Spec("bare")
    spec.observer("next", x + 1)
    spec.trigger("go", small, {"x": x + 2})
    outcomes = outcomes_of(spec)
    assert outcomes["observer next", "1", "2"] == outcomes["trigger go", "x + 2", "x - 2"] == "not noticed"


def test_a_changed_call_of_a_function_is_not_the_same_call(tmp_path):
    """`f(a + 1)` and `f(a + 2)` are two values of the function, which the outputs of one call do not tell."""
    path = tmp_path / "calls.lus"
    path.write_text(
        "function imported f(x: int) returns (y: int);\n"
        "node main(a: int) returns (o: int; ok: bool);\nvar s: int;\n"
        "let s = a + 1; o = f(s) * 2; ok = o = 2 * f(s); --%PROPERTY ok;\ntel\n"
    )
    shown = CliRunner().invoke(cli, ["mutants", str(path), "--quiet", "--json"], standalone_mode=False)
    rows = {(m["before"], m["after"]): m for m in json.loads(shown.output)["mutants"]}
    assert rows["1", "2"]["outcome"] == "open" and "a call of an imported function" in rows["1", "2"]["reason"]
    assert rows["2", "3"]["outcome"] in ("noticed", "not noticed")
    assert not any("is a function" in m["owner"] or " before" in m["owner"] for m in rows.values())


RAMP = """
from streamcheck import *

@component
def ramp(x: Word8) -> Word8:
    assume("small", x < 200)

    @stream(Word8)
    def heat():
        last = [0] ++ heat
        return minimum(x, last + 9)

    guarantee("limited", heat <= x)
    return heat
"""


def test_a_delay_changes_with_its_stream(tmp_path):
    """The next value of `[0] ++ heat` is heat's equation: one expression, not two."""
    path = tmp_path / "ramp.py"
    path.write_text(RAMP)
    done = CliRunner().invoke(cli, ["mutants", str(path), "--json"], standalone_mode=False)
    found = {(row["owner"], row["before"], row["after"]) for row in json.loads(done.output)["mutants"]}
    assert {owner for owner, before, after in found if (before, after) == ("9", "8")} == {"heat"}
    assert ("assume small", "x < 200", "true") in found
