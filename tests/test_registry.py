"""The engines' rows: checked by mypy, documented, tested, and every option valid and effective."""

from __future__ import annotations

import inspect
import json
import re
import sys
from pathlib import Path

import pytest
import test_bit_pdr
import test_cells
import test_engines
import test_predicates
import test_programs
from finite import systems
from hypothesis import given, settings
from test_command import streamcheck
from test_engines import QUIET, judge
from test_prove import spec_file
from test_prove import verdicts as answer_of

from streamcheck import *
from streamcheck.core.errors import SpecError
from streamcheck.engines.settings import options_of, setting_text
from streamcheck.run.registry import ENGINES, build, options_from
from streamcheck.transform.reduce import Reduction

__all__ = ["spec_file"]

OPTIONS = [(name, option) for name, row in ENGINES.items() for option in options_of(row.options)]


def test_every_engine_has_its_own_name_and_is_loaded_by_its_row():
    assert [engine.name for engine in build(list(ENGINES))] == list(ENGINES)
    for row in ENGINES.values():
        assert row.summary and all(need in ENGINES for need in row.needs)
        for start in (row.spec, row.program):
            assert start is None or not start.beside or start.beside in ENGINES


def test_the_work_of_every_engine_has_a_few_words():
    phrases = [row.work_at(12) for row in ENGINES.values()]
    assert len(set(phrases)) == len(phrases) and max(map(len, phrases)) <= 50
    assert not any(name in phrase for phrase in phrases for name in ENGINES if name not in ("predicates",))
    assert ENGINES["k-induction"].work_at(1) == "induction, 1 step"
    assert ENGINES["k-induction"].work_at(3) == "induction, 3 steps"
    assert ENGINES["pdr-bits"].work_at(2) == "clauses on bits, frame 2"
    assert ENGINES["bmc"].work_at(None) == "looking for short runs"
    text = streamcheck("engines", "bmc").stdout
    assert "    at work: looking for short runs, step N\n" in text


def test_the_documentation_has_every_engine():
    table = "".join(re.findall(r"^\| `.*$", Path("docs/command.md").read_text(), re.M))
    shown_there = set(re.findall(r"`([\w…-]+)`", table))
    backward = {name for name in ENGINES if name.endswith("-backward")}  # shown as `…-backward`
    assert set(ENGINES) - backward <= shown_there and "…-backward" in shown_there


def test_every_engine_is_tested_against_explicit_search():
    tested = {name for engines in (*test_engines.ENGINES, *test_programs.ENGINES) for name in engines}
    elsewhere = {"pdr-bits": test_bit_pdr.BitPdr, "concrete-reach": test_predicates.ConcreteReach}
    elsewhere["elements"] = test_cells.PassedElements
    assert set(ENGINES) <= tested | set(elsewhere)


def test_the_command_lists_them():
    text = streamcheck("engines").stdout
    assert all(f"    {name}.{option.name}={setting_text(option.default)} " in text for name, option in OPTIONS)
    rows = json.loads(streamcheck("engines", "--json").stdout)
    assert [row["name"] for row in rows] == list(ENGINES)
    (ic3,) = json.loads(streamcheck("engines", "ic3", "--json").stdout)
    assert {"name": "tighten", "default": True, "type": "bool"}.items() <= ic3["options"][0].items()
    assert "unknown engine 'nix'; choose from bmc, " in streamcheck("engines", "nix").stderr


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("nix.tighten=off", "unknown engine 'nix'; choose from bmc, k-induction, "),
        ("ic3.nix=off", "ic3 has no option 'nix'; its options are tighten, split, box, "),
        ("dfs-bmc.nix=off", "dfs-bmc has no options"),
        ("ic3.tighten=maybe", "ic3.tighten must be on or off (True or False), found maybe"),
        ("bmc.named=many", "bmc.named must be a whole number, at least 0, found many"),
        ("completeness.stride=0", "completeness.stride must be a whole number, at least 1, found 0"),
        ("predicates.refute=all", "predicates.refute must be all-paths or path, found all"),
        ("ic3.tighten", "--set ic3.tighten: write ENGINE.OPTION=VALUE"),
        ("ic3=off", "write ENGINE.OPTION"),
    ],
)
def test_a_wrong_setting_is_the_users_mistake(given, message):
    for command in (["prove", "specs/sums.py"], ["compile", "specs/sums.py", "-o", "nowhere"]):
        done = streamcheck(*command, "--set", given)
        assert done.returncode == 2 and message in done.stderr and not done.stdout
    assert not Path("nowhere").exists()


def test_options_from_python():
    n = stream(Int, lambda n: [0] + +mux(n == 3, 0, n + 1))
    spec = Spec("s")
    spec.prop("ok", n <= 3)
    for value in (False, "off"):
        (result,) = spec.prove(engines=["k-induction"], options={"k-induction.compression": value}).results
        assert result.verdict == "proved"
    with pytest.raises(SpecError, match=r"k-induction.compression must be on or off"):
        spec.prove(options={"k-induction.compression": 1})
    with pytest.raises(SpecError, match=r"bmc.named must be a whole number"):
        spec.prove(options={"bmc.named": True})


# 5 and 6 follow each other, are never reached, and lead to 7: only path compression tells that this ends.
CYCLE = """
go = extern("go", Bool)
s = stream(Int, lambda s: [0] ++ mux((s == 5) & go, 7, mux(s == 5, 6, mux(s == 6, Int(5), 0))))
spec = Spec("cycle")
spec.prop("ok", s != 7)
"""


@pytest.mark.parametrize("mode", [[], ["--deterministic"], ["--jobs", "1"]])
def test_settings_reach_the_workers(mode, spec_file):
    """The first worker, which is started early with the defaults, too."""
    path = spec_file(CYCLE)
    only = ["--engine", "bmc", "--engine", "k-induction", "--timeout", "5", *mode]
    status, answer = answer_of(path, *only)
    assert status == 0 and answer["properties"][0]["engine"] == "k-induction"
    status, answer = answer_of(path, *only, "--timeout", "2", "--set", "k-induction.compression=off")
    assert status == 3
    if not mode:
        _, answer = answer_of(path, "--set", "k-induction.compression=off")
        assert answer["properties"][0]["engine"] != "k-induction"


def _other(option):
    """A value that is not the default."""
    if isinstance(option.default, bool):
        return not option.default
    if isinstance(option.default, int):
        return option.default + 1
    return next(value for value in option.kind.values if value != option.default)


SYSTEMS = [(n, o) for n, o in OPTIONS if ENGINES[n].spec is not None or n in ("predicates-path", "pdr-bits")]


@pytest.mark.parametrize(("name", "option"), SYSTEMS, ids=lambda x: x if isinstance(x, str) else x.name)
def test_no_option_makes_an_engine_wrong(name, option):
    others = [] if name in ("ic3", "structural") else ["bmc"]

    @settings(max_examples=8, **QUIET)
    @given(systems())
    def run(system):
        reduced = Reduction(system)
        engines = tuple(dict.fromkeys([*others, name]))
        found, _ = test_engines.verdicts(reduced.problem, engines, rounds=25, options={option.name: _other(option)})
        judge(system, reduced.back, found, exact_length=name == "bmc")

    run()


def test_every_option_is_read_by_its_engine():
    """By its source: an option that nothing reads is a promise that nothing keeps."""
    source = "".join(
        path.read_text() for room in ("engines", "invariants") for path in Path("streamcheck", room).rglob("*.py")
    )
    source += inspect.getsource(sys.modules["streamcheck.run.registry"])
    for name, option in OPTIONS:
        field = option.name.replace("-", "_")
        assert re.search(rf"options\.{field}\b", source), f"{name}.{option.name}"


def test_configured_keeps_what_is_not_set():
    changed = options_from({"ic3.tighten": "off", "predicates.refute": "path"})
    assert changed["ic3"].tighten is False and changed["ic3"].box is True
    assert changed["predicates"] == ENGINES["predicates-path"].options


def test_an_engine_runs_with_those_it_needs_alone(tmp_path):
    """The line of a verdict names the engine that found it: the one that was asked for, or one that it needs."""
    path = tmp_path / "spec.py"
    counter = "n = stream(Word8, lambda n: [0] ++ mux(n < 5, n + 1, 0))\n"
    path.write_text(f"from streamcheck import *\n{counter}s = Spec('s')\ns.prop('p', n < 9)\ns.prop('q', n < 3)\n")
    for name in ("k-induction", "completeness", "bit-induction"):
        rows = json.loads(streamcheck("prove", path, "--engine", name, "--no-cache", "--json").stdout)["properties"]
        needed = ENGINES[name].needs
        assert rows[0]["engine"] == name and rows[1]["verdict"] == "falsified" and rows[1]["engine"] in needed
        assert f"runs together with {needed[0]}, whose facts it needs" in streamcheck("engines", name).stdout
        about = Path("docs/command.md").read_text().partition("`--engine` runs only the named engines")[2][:400]
        assert f"`{name}`" in about and f"`{needed[0]}`" in about
    assert {row.name for row in ENGINES.values() if row.needs} == {"k-induction", "completeness", "bit-induction"}
