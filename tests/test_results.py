"""The results as Python objects: what can be asked of them, what they print, and files of other kinds."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pandas
import pytest

import streamcheck as sc
from streamcheck import *
from streamcheck import SpecError

COMMAND = Path(sys.executable).parent / "streamcheck"
LUSTRE = """
node top(go: bool) returns (n: int);
let
  n = 0 -> if go then pre n + 1 else pre n;
  --%PROPERTY "small" n < 3;
  --%PROPERTY "natural" n >= 0;
tel
"""

PROGRAM = """
void reach_error(void);
int main(void) { int i = 0; while (i < 10) i++; if (i != 10) reach_error(); return 0; }
"""


@pytest.fixture(scope="module")
def results():
    go = extern("go", Bool)

    @stream(Word8)
    def n():
        return [0] + +mux(go & (n < 9), n + 1, n)

    spec = Spec("counting")
    spec.prop("small", n < 3)
    spec.prop("single", n <= 9)
    spec.exists("four", n == 4)
    return spec.prove()


def test_results_answer_questions(results):
    assert not results.ok and [r.name for r in results.proved] == ["single", "four"]
    assert [r.name for r in results.falsified] == ["small"] and results.unknown == []
    assert results["single"].ok and results[1] is results["single"] and len(results) == 3
    assert [r.name for r in results] == ["small", "single", "four"]
    with pytest.raises(KeyError, match="there are small, single, four"):
        results["smal"]


def test_a_counterexample_is_a_run(results):
    run = results["small"].counterexample
    assert len(run) == 4 and run["n"] == [0, 1, 2, 3] and run["small"] == [True, True, True, False]
    assert run.steps[3]["n"] == 3 and set(run.names) >= {"go", "n", "small"}
    assert str(run).splitlines()[0].split() == ["step", "0", "1", "2", "3"]
    rows = list(csv.DictReader(io.StringIO(run.to_csv())))
    assert [row["go"] for row in rows[:3]] == ["true"] * 3
    assert results["single"].counterexample is None and results["single"].witness is None
    assert results["four"].witness["n"][-1] == 4 and results["four"].counterexample is None


def test_a_run_is_a_data_frame(results):
    frame = results["small"].counterexample.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["n"].tolist() == [0, 1, 2, 3]
    assert frame.index.name == "step"


def test_a_proof_shows_its_invariants(results):
    proof = results["single"]
    assert proof.invariants and all(isinstance(text, str) for text in proof.invariants)
    assert proof.certificate.invariants and results["small"].certificate is None


def test_text_is_what_the_command_prints(tmp_path):
    path = tmp_path / "top.lus"
    path.write_text(LUSTRE)
    printed = subprocess.run([COMMAND, "prove", path], capture_output=True, text=True).stdout
    text = str(sc.load(str(path)).prove())
    assert [words(line) for line in text.splitlines()] == [words(line) for line in printed.splitlines()]
    assert "\n" not in repr(sc.load(str(path)).prove())


def words(line):
    """The words of a line, times and engines apart."""
    kept = line.split()
    return kept[:2] if kept[:1] in (["proved"], ["falsified"]) else kept


def test_reprs_are_one_line(results):
    assert repr(results) == "<counting: 2 proved, 1 falsified>"
    assert repr(results["small"]) == "<small: falsified>"
    assert repr(results["small"].counterexample) == "<run of 4 steps for small>"


def test_notebooks_show_tables(results):
    cells = Cells()
    cells.feed(results._repr_html_())
    assert {"small", "falsified", "single", "proved"} <= set(cells.texts)
    run = Cells()
    run.feed(results["small"].counterexample._repr_html_())
    assert {"0", "2", "go", "n", "small"} <= set(run.texts) and run.open == []


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.texts, self.open = [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts += [data.strip()] if data.strip() else []


def test_files_are_loaded_proved_run_and_compiled(tmp_path):
    path = tmp_path / "top.lus"
    path.write_text(LUSTRE)
    model = sc.load(str(path))
    assert model.properties == ["small", "natural"] and repr(model) == "<top: 2 properties>"
    answer = model.prove(props=["natural"], engines=["k-induction", "bmc"])
    assert answer.ok and len(answer) == 1
    rows = [{"go": True}, {"go": False}, {"go": True}]
    assert [step.observers["n"] for step in model.run(inputs=rows)] == [0, 0, 1]
    assert [step.observers["n"] for step in model.run(inputs=pandas.DataFrame(rows))] == [0, 0, 1]
    with pytest.raises(SpecError, match="row 1 of the inputs: no column for go"):
        list(model.run(inputs=[{"go": True}, {}]))
    assert "n" in str(model)


def test_programs_are_loaded_too(tmp_path):
    path = tmp_path / "loop.c"
    path.write_text(PROGRAM)
    program = sc.load(str(path))
    answer = program.prove()
    assert answer.ok and isinstance(answer[0].invariants, list)
    with pytest.raises(SpecError, match="is a program"):
        program.run(inputs=[])
    with pytest.raises(SpecError, match="is a program"):
        program.compile(str(tmp_path))


def test_bounds_and_limits_are_those_of_the_command():
    n = extern("n", Int8)
    spec = Spec("s")
    spec.prop("p", n * 0 == 0)
    assert spec.prove(bound=3)["p"].verdict == "bounded" and spec.prove(bound=3).ok
    assert spec.prove(deterministic=True, memory=2000).ok


def test_an_unknown_result_says_what_is_known():
    @stream(Word32)
    def x():
        return [1] + +(x * x + 12345)

    spec = Spec("s")
    spec.prop("p", x != 99)
    result = spec.prove(timeout=2, engines=["bmc"])["p"]
    assert result.verdict == "unknown" and result.reason and not result.ok
    assert result.depth is None or result.depth >= 0
    assert repr(result).startswith("<p: unknown: ")


def test_the_example_of_the_documentation_runs(capsys):
    text = Path("docs/command.md").read_text()
    section = text[text.index("\n## From Python\n") :]
    (example,) = re.findall(r"^```py\n(.*?)^```", section, re.S | re.M)
    exec(example, {})
    printed = capsys.readouterr().out
    assert "falsified" in printed and "step" in printed


def counter_of(go):
    @stream(Word8)
    def n():
        return [0] + +mux(go & (n < 9), n + 1, n)

    return n


def test_invariants_are_streams_too():
    """They hold in a spec of their own; unnamed delays, arrays and streams of functions are written out."""
    go = extern("go", Bool)
    cells = stream(Array(Word8, 2), lambda a: [[0, 0]] + +a.set(0, mux(a[0] < 9, a[0] + 1, a[0])))
    spec = Spec("s")
    spec.prop("counter", counter_of(go) != 77)
    spec.prop("array", cells[0] <= 9)
    spec.prop("delay", ([0, 0] + +mux(go, 3, Word8(1))) <= 3)
    again = Spec("again")
    for result in spec.prove():
        assert result.proved and len(result.invariant_streams) == len(result.invariants) > 0
        for i, invariant in enumerate(result.invariant_streams):
            again.prop(f"{result.name} {i}", invariant)
    assert again.prove().ok and len(again.properties) == 3


def test_streams_of_a_file_are_in_no_program(tmp_path):
    path = tmp_path / "top.lus"
    path.write_text(LUSTRE)
    result = sc.load(path).prove(props=["natural"])[0]
    assert result.invariants
    with pytest.raises(SpecError, match="top is of a file"):
        result.invariant_streams


def test_a_counterexample_of_a_program_is_a_run(tmp_path):
    path = tmp_path / "loop.c"
    path.write_text(PROGRAM.replace("i != 10", "i == 10"))
    result = sc.load(path).prove()["reach_error, line 3"]
    run = result.counterexample
    assert len(run) == len(run.steps) == 23 and run.names == ["i"]
    assert repr(run) == "<run of 23 statements for reach_error, line 3>"
    assert run.steps[2] == {"line": 3, "statement": "i++", "values": {"i": 1}} and run.table() in str(result)
    frame = run.to_pandas()
    assert frame["i"].dropna().drop_duplicates().tolist() == list(range(11)) and frame["i"].dtype == object
    assert [row["i"] for row in csv.DictReader(io.StringIO(run.to_csv()))][1:5] == ["0", "0", "1", "1"]
    assert "i++" in result._repr_html_() and "<table>" in run._repr_html_()


def test_each_result_is_shown_in_a_notebook(results):
    for name in ("small", "single", "four"):
        shown = Cells()
        shown.feed(results[name]._repr_html_())
        assert any(name in text for text in shown.texts) and shown.open == []
    assert "<svg" in results["small"]._repr_html_() and "<svg" not in results["single"]._repr_html_()
    assert [results[name].proved for name in ("small", "single", "four")] == [False, True, True]


def test_json_names_the_file_and_its_certificates(tmp_path):
    path = tmp_path / "spec.py"
    path.write_text("from streamcheck import *\nspec = Spec('s')\nspec.prop('p', extern('x', Word8) >= 0)\n")
    row = sc.load(path).prove(certificates=tmp_path / "saved").to_json()
    command = [COMMAND, "prove", path, "--certificates", tmp_path / "saved", "--json"]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    assert row["file"] == printed["file"] == str(path)
    assert row["properties"][0]["certificate"] == printed["properties"][0]["certificate"]
    assert Path(row["properties"][0]["certificate"]).exists()
    spec = Spec("here")
    spec.prop("p", extern("x", Word8) >= 0)
    assert spec.prove().to_json()["file"] == __file__ and spec.prove().to_json(file="other.py")["file"] == "other.py"
    spec.namespace = {}  # of a session
    assert spec.prove().to_json()["file"] == ""
    with pytest.raises(SpecError, match="certificates are checked against the file of a spec; it has none"):
        spec.prove(certificates=tmp_path)


def test_bounded_is_not_proved():
    spec = Spec("bounded")
    spec.prop("p", extern("x", Word8) >= 0)
    results = spec.prove(bound=3)
    assert results.ok and not results.proved and results.bounded[0].name == "p"
    assert repr(results) == "<bounded: 1 bounded>"


def test_without_pandas_the_extra_is_named(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    go = extern("go", Bool, samples=[True])
    spec = Spec("s")
    spec.observer("go", go)
    for table in (results["small"].counterexample, spec.run()):
        with pytest.raises(SpecError) as refused:
            table.to_pandas()
        assert "to_pandas needs pandas" in str(refused.value) and refused.value.where.file == __file__
        assert "write: pip install 'streamcheck[pandas]'" in str(refused.value)
