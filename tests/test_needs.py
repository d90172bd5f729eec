"""Cores, cuts and coverage: what properties need, and what would break them."""

from __future__ import annotations

import inspect
import json
import re
import time
from dataclasses import replace
from importlib import import_module
from itertools import combinations
from pathlib import Path

import pytest
from click.testing import CliRunner

from streamcheck import *
from streamcheck import SpecError
from streamcheck.api.commands import Commands
from streamcheck.certify.check import Checker
from streamcheck.certify.replay import replay
from streamcheck.cli import cli
from streamcheck.lang.flatten import flatten
from streamcheck.problem.needs import Core, Cut
from streamcheck.problem.result import Replay
from streamcheck.problem.verdict import Certificate, Trace
from streamcheck.run.cores import CoreQuestions, proof_of_whole
from streamcheck.run.hitting import HittingSets
from streamcheck.run.prove import Settings, prove
from streamcheck.transform import weaken as weakening
from streamcheck.transform.weaken import elements_of, weaken

SOURCE = """
from streamcheck import *

left = extern("left", Word8)
right = extern("right", Word8)
lower = mux(left < right, left, right)
seen = stream(Word8, lambda s: [0] ++ maximum(s, lower))
extra = left + 1

spec = Spec("redundant")
spec.assume("left_small", left < 50)
spec.assume("right_small", right < 60)
spec.trigger("call", extra > 4)
spec.prop("kept", seen < 100)
spec.prop("false", left < 20)
spec.exists("reached", seen == 7)
"""


left, right = extern("left", Word8), extern("right", Word8)
lower = mux(left < right, left, right)
seen = stream(Word8, lambda s: [0] + +maximum(s, lower))

x = extern("x", Word8)
pair = Array(Word8, 2)([x & 3, 7])
held = stream(Array(Word8, 2), lambda h: [(0, 7)] + +pair)

n = stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, 0))
other = stream(Word8, lambda m: [0] + +(m + 1))


def redundant():
    spec = Spec("redundant")
    spec.assume("left_small", left < 50)
    spec.assume("right_small", right < 60)
    spec.observer("extra", left + 1)
    spec.prop("kept", seen < 100)
    spec.prop("lower_small", lower < 100)
    return spec


def names(elements):
    return frozenset(e.name for e in elements)


def brute_force(specification, claim):
    """All minimal cores and cuts, by a proof for each set of elements."""
    elements = elements_of(specification)
    holds = {}
    for size in range(len(elements) + 1):
        for freed in combinations(elements, size):
            weak = weaken(specification, claim, freed)
            (result,) = (r for r in prove(weak.specification, Settings(timeout=20)).results if r.name == claim.name)
            assert result.verdict in ("proved", "falsified")
            holds[names(freed)] = result.verdict == "proved"
    everything = names(elements)
    kept = [everything - freed for freed, good in holds.items() if good]
    cut = [freed for freed, good in holds.items() if not good]
    return {k for k in kept if not any(o < k for o in kept)}, {c for c in cut if not any(o < c for o in cut)}


def test_all_cores_and_cuts_are_those_of_every_subset():
    spec = redundant()
    specification = flatten(spec)
    cores, cuts = brute_force(specification, specification.properties[0])
    assert len(cores) == 2 and len(cuts) == 3
    needs = spec.why(props=["kept"], all_cores=True)["kept"]
    assert needs.complete and {names(c.elements) for c in needs.cores} == cores
    assert {names(c.elements) for c in needs.cuts} == cuts
    must = {e.name for e in elements_of(specification) if needs.need(e) == "must"}
    may = {e.name for e in elements_of(specification) if needs.need(e) == "may"}
    assert must == frozenset.intersection(*cores) and may == frozenset.union(*cores) - must


@pytest.mark.parametrize("minimal", [False, True])
def test_a_core_is_certified_on_the_weakened_spec(minimal):
    for needs in redundant().why(minimal=minimal):
        (core,) = needs.cores
        weak = core.weakened
        assert Checker(weak.specification).check(needs.claim.name, core.certificate) is None
        kept = names(core.elements)
        assert not kept & {i.name for i in weak.specification.inputs}
        assert {a.name for a in weak.specification.assumptions} <= kept
        assert core.minimal == minimal
        for element, cut in core.breaks.items():
            assert element in cut.elements and cut.run.steps[-1][cut.weakened.claim.term] is False


def accepted_as_free(specification, claim, core):
    """The same by the checker's own way to leave streams free."""
    dropped = {a.name for a in specification.assumptions} - names(core.elements)
    fewer = replace(specification, assumptions=tuple(a for a in specification.assumptions if a.name not in dropped))
    free = {str(t.payload) for t in core.weakened.free if t.op == "var"}
    free |= {w.name for w in specification.wires if w.term in core.weakened.free}
    proof = replace(proof_of_whole(core.weakened, core.certificate), free=tuple(sorted(free)))
    return proof.kind == "inductive" and Checker(fewer).check(claim.name, proof) is None


def test_the_checker_agrees_on_what_is_free():
    for needs in redundant().why(minimal=True):
        specification = flatten(redundant())
        assert accepted_as_free(specification, needs.claim, needs.cores[0])


def test_a_weakening_that_frees_no_wire_is_noticed(monkeypatch):
    """A planted fault: wires keep their equations, so cores are too small."""

    def faulty(specification, free):
        inputs, replacement = real(specification, free)
        return inputs, {t: v for t, v in replacement.items() if t is v}

    real = weakening._free_inputs
    monkeypatch.setattr(weakening, "_free_inputs", faulty)
    spec = redundant()
    (core,) = spec.why(props=["kept"], minimal=True)["kept"].cores
    assert "lower" not in names(core.elements)
    wire = next(e for e in elements_of(flatten(spec)) if e.name == "lower")
    core = replace(core, weakened=replace(core.weakened, free={**core.weakened.free, wire.terms[0]: wire.terms[0]}))
    assert not accepted_as_free(flatten(spec), flatten(spec).properties[0], core)


def test_the_runs_of_cuts_replay():
    answer = redundant().cuts(props=["kept"])
    needs = answer["kept"]
    assert needs.all_cuts and len(needs.cuts) == len(answer.runs("kept")) == 3
    assert [len(c.elements) for c in needs.cuts] == [1, 1, 2]  # the smallest first
    for cut in needs.cuts:
        specification, claim = cut.weakened.specification, cut.weakened.claim
        rows = tuple({i.name: step[i.var] for i in specification.inputs} for step in cut.run.steps)
        assert isinstance(replay(specification, claim, Trace({}, rows)), Replay)


def test_a_size_ends_the_search():
    needs = redundant().cuts(props=["kept"], most=1)["kept"]
    assert {len(c.elements) for c in needs.cuts} == {1} and needs.all_cuts and not needs.complete


def test_the_weakest_assumptions():
    needs = redundant().why(all_cores=True, over="assumptions")
    for each in needs:
        assert {names(c.elements) for c in each.cores} == {frozenset({"left_small"}), frozenset({"right_small"})}
    assert not needs.coverage_gaps


def test_only_chosen_elements_are_free():
    answer = redundant().cuts(only=["s*", "left_small"], props=["kept"])
    assert names(answer.elements) == {"seen", "left_small"}
    assert [names(c.elements) for c in answer["kept"].cuts] == [{"seen"}]
    with pytest.raises(SpecError, match='no equation or assumption named "sen"'):
        redundant().why(only=["sen"])


def test_arrays_structs_and_enums_are_freed_as_a_whole():
    spec = Spec("arrays")
    spec.prop("small", held[0] < 4)
    spec.prop("last", pair[1] == 7)
    answer = spec.why(minimal=True)
    assert names(answer["small"].cores[0].elements) == {"held", "pair"}
    assert names(answer["last"].cores[0].elements) == {"pair"}
    assert all(needs.cores[0].minimal for needs in answer)


def test_a_state_that_is_never_reached_has_a_core():
    spec = Spec("unreachable")
    spec.exists("never", (n == 200) & (other == 3))
    spec.exists("once", n == 3)
    answer = spec.why(minimal=True)
    assert names(answer["never"].cores[0].elements) == {"n"} and answer["never"].verdict == "falsified"
    assert not answer["once"].cores and answer["once"].reason == "a run reaches it: there is nothing to prove"
    assert names(answer.coverage_gaps) == {"other"}


def test_answers_are_monotone():
    specification = flatten(redundant())
    claim, elements = specification.properties[0], elements_of(specification)
    (result, *_) = prove(specification, Settings(timeout=20)).results
    assert isinstance(result.proof, Certificate)
    questions = CoreQuestions(specification, claim, elements, result.proof, Settings(), time.monotonic() + 20)
    core = questions.first_core()
    assert questions.ask(frozenset(elements)) is core
    cut = questions.ask(frozenset())
    assert isinstance(cut, Cut) and isinstance(core, Core)
    questions.deadline = 0.0
    assert questions.ask(frozenset(elements)) is core and questions.ask(frozenset()) is cut
    unknown = frozenset(core.elements[1:])
    assert questions.ask(unknown) is None and questions.open == {unknown}


def test_hitting_sets_come_in_order_of_size():
    sets = HittingSets(4)
    assert sets.smallest() == frozenset()
    sets.must_hit([0, 1])
    sets.must_hit([2, 3])
    sets.exclude([0])
    found = []
    while (one := sets.smallest()) is not None:
        found.append(one)
        sets.exclude(one)
    assert found == [frozenset({1, 2}), frozenset({1, 3})] or found == [frozenset({1, 3}), frozenset({1, 2})]


# The command


def run(tmp_path, *args, source=SOURCE):
    path = tmp_path / "redundant.py"
    path.write_text(source)
    return CliRunner().invoke(cli, [args[0], str(path), *args[1:]], standalone_mode=False)


def test_why_shows_lines_and_coverage(tmp_path):
    shown = run(tmp_path, "why", "--minimal")
    assert shown.return_value == 1  # one is false
    assert "kept: holds by 3 of 5 elements, shown minimal" in shown.output
    assert "redundant.py:7   seen                [0] ++ maximum(seen, lower)" in shown.output
    assert "false: falsified, a run breaks it" in shown.output
    _, _, uncovered = shown.output.partition("this property hold")
    assert "extra" in uncovered and "seen" not in uncovered


def test_a_definition_shows_other_elements_by_name(tmp_path):
    """`w0` is not `w1`, whatever `w1` is: what `w1` stands for is no part of the core."""
    path = tmp_path / "twice.py"
    path.write_text(
        "from streamcheck import *\ni = extern('i', Bool)\nw1 = ~i\nw0 = ~w1\n"
        "spec = Spec('twice')\nspec.prop('p', w1 | w0)\n"
    )
    shown = CliRunner().invoke(cli, ["why", str(path)], standalone_mode=False).output
    assert re.search(r"twice.py:4 +w0 +~w1$", shown, re.M), shown


def test_why_and_cuts_are_json(tmp_path):
    row = json.loads(run(tmp_path, "why", "--all", "--json", "--prop", "kept").output)
    kept, elements = row["properties"][0], row["elements"]
    assert kept["complete"] and {elements[i]["name"] for i in kept["must"]} == {"lower", "seen"}
    assert {elements[i]["name"] for i in row["uncovered"]} == {"extra"}
    assert next(e for e in elements if e["name"] == "seen")["where"]["line"] == 7
    row = json.loads(run(tmp_path, "cuts", "--json", "--prop", "kept").output)
    steps = row["properties"][0]["cuts"][0]["counterexample"]["steps"]
    assert steps[-1]["streams"]["kept"] is False


def test_cuts_shows_runs(tmp_path):
    shown = run(tmp_path, "cuts", "--prop", "kept", "--most", "1")
    assert shown.return_value == 0 and "kept: 2 minimal cuts" in shown.output
    assert "without seen a run breaks it" in shown.output and "kept  false" in shown.output
    assert "step" not in run(tmp_path, "cuts", "--prop", "kept", "--most", "1", "--quiet").output


def test_lustre_nodes_have_cores(tmp_path):
    path = tmp_path / "top.lus"
    path.write_text(
        "node top(x: int) returns (ok: bool);\nvar n, m: int;\nlet\n  n = 0 -> pre n + 1;\n"
        "  m = if x > 0 then n else 1;\n  ok = m >= 0;\n  --%PROPERTY ok;\ntel\n"
    )
    shown = CliRunner().invoke(cli, ["why", str(path), "--minimal"], standalone_mode=False)
    assert shown.return_value == 0 and "shown minimal" in shown.output and "n" in shown.output


@pytest.mark.parametrize("command", ["why", "cuts", "tests", "mutants"])
def test_every_option_is_a_parameter(command):
    options = {p.name for p in import_module(f"streamcheck.cli.{command}").command.params if p.expose_value}
    options -= {"file", "verbose", "as_json", "quiet", "full", "rows", "steps", "no_cache"}
    assert options <= set(inspect.signature(getattr(Commands, command)).parameters)


def test_the_page_shows_what_is_printed(tmp_path):
    """The order of cores of equal size, and the values in runs, are chosen freely."""
    page = Path("docs/questions.md").read_text()
    source = re.findall(r"^```python\n(.*?)^```$", page, re.S | re.M)[0]
    (tmp_path / "sensors.py").write_text(source)
    sessions = re.findall(r"^```console\n\$ streamcheck (.*?) sensors.py(.*?)\n(.*?)^```$", page, re.S | re.M)
    shown = {f"{command}{options}": text for command, options, text in sessions}
    done = CliRunner().invoke(cli, ["why", str(tmp_path / "sensors.py"), "--all"], standalone_mode=False)
    rows = [
        sorted(re.sub(r"core \d: |,", "", row).split() for row in text.splitlines())
        for text in (done.output, shown["why --all"])
    ]
    printed, expected = (sorted(map(sorted, row)) for row in rows)
    assert printed == expected
    done = CliRunner().invoke(cli, ["cuts", str(tmp_path / "sensors.py")], standalone_mode=False)
    heads = [
        {row for row in text.splitlines() if "without" in row or "cuts" in row} for text in (done.output, shown["cuts"])
    ]
    assert heads[0] == heads[1] and len(heads[0]) == 4


# One line in several instances


def kept(value):
    return [0] + +value


def test_a_delay_of_a_line_is_an_element_in_each_instance():
    a, b = extern("a", Word8), extern("b", Word8)
    spec = Spec("instances")
    spec.assume("small", a < 10)
    spec.prop("first", kept(a) < 10)
    spec.prop("any", kept(b) <= 255)
    spec.observer("second", kept(b))
    delays = [e for e in elements_of(flatten(spec)) if e.kind == "delay"]
    assert len(delays) == 2 and len({e.name for e in delays}) == 2 and len({e.where for e in delays}) == 1
    (core,) = spec.why(props=["first"], minimal=True, timeout=30)["first"].cores
    assert len([e for e in core.elements if e.kind == "delay"]) == 1


def test_a_delay_of_many_steps_is_one_element():
    spec = Spec("deep")
    spec.prop("old", ([0, 0, 0] + +extern("a", Word8)) >= 0)
    (element,) = [e for e in elements_of(flatten(spec)) if e.kind == "delay"]
    assert len(element.terms) == 3


def test_a_loop_makes_an_element_of_each_of_its_streams():
    held = [extern("a", Word8)]
    for _ in range(3):
        held.append(stream(Word8, lambda _, s=held[-1]: [0] + +s))
    spec = Spec("row")
    spec.assume("small", held[0] < 10)
    spec.observer("last", held[3])
    spec.prop("second", held[2] < 10)
    assert [len(e.terms) for e in elements_of(flatten(spec))] == [1, 1, 1, 1]
    (core,) = spec.why(minimal=True, timeout=30)["second"].cores
    assert len(core.elements) == 3  # not the third stream, which it does not read


@component
def limiter(wish: Word8) -> Word8:
    out = minimum(wish, 40)
    guarantee("limited", out <= 40)
    return out


def test_properties_of_the_spec_come_without_those_of_its_components():
    spec = Spec("drive")
    spec.prop("gentle", limiter(extern("wish", Word8)) <= 50)
    assert [needs.claim.name for needs in spec.why(timeout=30)] == ["gentle"]
    assert [needs.claim.name for needs in limiter.why(timeout=30)] == ["guarantee limited"]


def test_the_weakest_of_given_assumptions_are_marked():
    a, b = extern("a", Word8), extern("b", Word8)
    spec = Spec("choice")
    spec.assume("b low", b < 10)
    spec.assume("a low", a < 10)
    spec.assume("both low", (a < 10) & (b < 10))
    spec.assume("lower", (a < 5) & (b <= a) & pre(True, a < 5))
    spec.prop("sum", a + b < 20)
    (needs,) = spec.why(all_cores=True, over="assumptions", timeout=60).properties
    names = [{e.name for e in core.elements} for core in needs.cores]
    lower, both, each = (names.index(one) for one in ({"lower"}, {"both low"}, {"a low", "b low"}))
    assert set(needs.weaker) == {(both, lower), (each, lower)}, "both low says the same as the two"
    text = str(spec.why(all_cores=True, over="assumptions", timeout=60))
    assert f"both low  (weaker than core {lower + 1})" in text
    (mixed,) = spec.why(all_cores=True, timeout=60).properties
    assert not mixed.weaker
