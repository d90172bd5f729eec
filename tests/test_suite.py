"""`prove --suite`: many files, one pool; what a crash, Ctrl-C and a wrong file leave, and what nights compare."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import jsonschema
import pytest

from streamcheck.core.errors import SpecError
from streamcheck.scale.history import History, NightVerdict
from streamcheck.scale.journal import Journal, source_of
from streamcheck.scale.targets import suite_files

HEAD = "from streamcheck import *\n"
EASY = (
    HEAD
    + """
n = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, 0))
spec = Spec("easy")
spec.prop("small", n < 10)
spec.prop("wrong", n < 5)
"""
)
HARD = (
    HEAD
    + """
a, b = extern("a", Word64), extern("b", Word64)
spec = Spec("hard")
small = (a > 1) & (b > 1) & (a < 0x100000000) & (b < 0x100000000)
spec.prop("never", implies(small, a * b != 3037000493 * 2654435761))
spec.prop("now", a == a)
"""
)
SCHEMA = json.loads(Path("docs/output.schema.json").read_text())


def command(folder, *args):
    return [sys.executable, "-m", "streamcheck", "prove", *args, "--suite"], {"cwd": folder, "text": True}


def run(folder, *args):
    words, how = command(folder, *args)
    return subprocess.run(words, capture_output=True, timeout=120, **how)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "specs" / "deep").mkdir(parents=True)
    (tmp_path / "specs" / "easy.py").write_text(EASY)
    (tmp_path / "specs" / "deep" / "other.py").write_text(EASY.replace("easy", "other").replace("< 5", "< 10"))
    (tmp_path / "specs" / "test_no.py").write_text(EASY)
    (tmp_path / "specs" / "helper.py").write_text("x = 1\n")
    return tmp_path


def test_a_folder(folder):
    done = run(folder, "specs")
    assert done.returncode == 1 and done.stderr == ""
    assert "  falsified  specs/easy.py::easy  wrong  bmc, step 5" in done.stdout.split("\n")
    assert "2 specs of 2 files: 3 proved, 1 falsified;" in done.stdout.splitlines()[-1]


def test_json_is_as_the_schema_says(folder):
    (folder / "specs" / "broken.py").write_text(HEAD + "Spec('x')\n1/0\n")
    done = run(folder, "specs", "--json", "--certificates", "kept")
    row = json.loads(done.stdout)
    reference = {"$schema": SCHEMA["$schema"], "$ref": "#/$defs/proved_suite", "$defs": SCHEMA["$defs"]}
    jsonschema.validate(row, reference)
    assert row["totals"] == {"proved": 3, "bounded": 0, "falsified": 1, "unknown": 0}
    assert [e["file"] for e in row["errors"]] == ["specs/broken.py"]  # and the others went on
    assert done.returncode == row["status"] == 1
    proved = [p for s in row["specs"] for p in s["properties"] if p["verdict"] == "proved"]
    for prop in proved:
        assert os.path.exists(folder / prop["certificate"])


def test_a_file_that_is_wrong_is_an_error_of_its_own(folder):
    (folder / "specs" / "easy.py").write_text(HEAD + "Spec('x')\nimport os; os._exit(0)\n")
    done = run(folder, "specs")
    assert done.returncode == 2 and "specs/easy.py" in done.stderr
    assert "1 spec of 2 files: 2 proved;" in done.stdout


def test_resume_after_a_kill(folder):
    (folder / "specs" / "hard.py").write_text(HARD)
    words, how = command(folder, "specs", "--timeout", "60")
    first = subprocess.Popen(words, stdout=subprocess.DEVNULL, **how)
    journal = folder / ".streamcheck" / "suite.jsonl"
    end = time.monotonic() + 60
    while not (journal.exists() and journal.read_text().count('"verdict"') >= 10):
        assert time.monotonic() < end and first.poll() is None
        time.sleep(0.05)
    first.kill()
    first.wait()
    with open(journal, "ab") as file:
        file.write(b'{"digest": "cut in the mid')
    done = run(folder, "specs", "--resume", "--timeout", "3", "--json")
    row = json.loads(done.stdout)
    assert "is cut or damaged from line" in done.stderr
    assert row["totals"]["proved"] == 4 and row["totals"]["falsified"] == 1 and row["totals"]["unknown"] == 1
    whole = Journal(str(journal), resume=True)
    whole.close()
    assert not whole.damaged
    names = [(r["spec"], r["property"]["name"]) for r in whole.rows if r["event"] == "verdict"]
    assert len(names) == len(set(names)) == 5  # no verdict twice


def test_an_edit_is_not_resumed(folder):
    assert run(folder, "specs").returncode == 1
    path = folder / "specs" / "easy.py"
    path.write_text(path.read_text().replace("n < 5", "n < 10"))
    done = run(folder, "specs", "--resume")
    assert done.returncode == 0 and "4 proved;" in done.stdout
    assert "specs/deep/other.py::other  2 proved" in done.stdout and "(journal)" in done.stdout


def test_ctrl_c_keeps_what_is_decided(folder):
    (folder / "specs" / "hard.py").write_text(HARD)
    words, how = command(folder, "specs", "--timeout", "60")
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    journal = folder / ".streamcheck" / "suite.jsonl"
    end = time.monotonic() + 60
    while not (journal.exists() and journal.read_text().count('"verdict"') >= 10):
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130 and "--resume" in err
    assert "4 proved, 1 falsified, 1 unknown" in out.splitlines()[-1]


def test_a_deadline_ends_the_suite(folder):
    (folder / "specs" / "hard.py").write_text(HARD)
    began = time.monotonic()
    done = run(folder, "specs", "--deadline", "8s")
    assert "1 unknown" in done.stdout.splitlines()[-1] and done.returncode == 1
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["specs", "--html", "x.html"], "--html is not for suites"),
        (["specs", "--deadline", "soon"], "'soon' is no time: write 90s, 30m or 8h"),
        (["specs", "--deadline", "0s"], "no time at all"),
        (["nowhere"], "nowhere: there is no spec"),
    ],
)
def test_mistakes(folder, args, message):
    done = run(folder, *args)
    assert done.returncode == 2 and message in done.stderr


def test_options_of_suites_alone(folder):
    words, how = command(folder, "specs/easy.py", "--resume")
    done = subprocess.run(words[:-1], capture_output=True, **how)
    assert done.returncode == 2 and "--deadline and --resume are for suites" in done.stderr


def test_the_manifest(folder):
    (folder / "pyproject.toml").write_text(
        '[tool.streamcheck]\ntargets = ["specs/*.py", "specs/deep"]\n[tool.streamcheck.specs."specs/easy.py"]\n'
        'prop = ["small"]\n'
    )
    (folder / "specs" / "test_no.py").unlink()
    (folder / "specs" / "helper.py").unlink()
    done = run(folder)
    assert done.returncode == 0 and "2 specs of 2 files: 3 proved;" in done.stdout


def test_files(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert suite_files(["specs"]) == ["specs/easy.py", "specs/deep/other.py"]
    assert suite_files(["specs/**/*r.py", "specs/easy.py::easy"]) == [
        "specs/deep/other.py", "specs/helper.py", "specs/easy.py::easy"]  # fmt: skip
    with pytest.raises(SpecError, match="there is no spec"):
        suite_files(["specs/*.lus"])


def test_a_line_that_was_changed_counts_no_more(tmp_path):
    path = str(tmp_path / "journal")
    journal = Journal(path, resume=False)
    for i in range(3):
        journal.add({"event": "error", "i": i})
    journal.close()
    lines = Path(path).read_text().splitlines(keepends=True)
    Path(path).write_text("".join([*lines[:2], lines[2].replace('"i": 1', '"i": 7'), *lines[3:]]))
    again = Journal(path, resume=True)
    again.close()
    assert again.damaged == 3 and [r.get("i") for r in again.rows] == [None, 0]
    Path(path).write_text("".join([lines[0], lines[2]]))  # one is left out
    left_out = Journal(path, resume=True)
    left_out.close()
    assert left_out.damaged == 2


def test_the_source_of_a_spec(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("import b\n")
    (tmp_path / "b.py").write_text("x = 1\n")
    before = source_of(str(path), {})
    assert source_of(str(path), {}) == before != source_of(str(path), {"bound": 3})
    (tmp_path / "b.py").write_text("x = 2\n")
    assert source_of(str(path), {}) != before


def night(history, verdict, seconds=1.0, source="a", name="p"):
    changes = history.add([NightVerdict("f.py", "s", name, source, verdict, seconds)], 1.0)
    return [c.kind for c in changes]


def test_nights(tmp_path):
    history = History(str(tmp_path / "h"))
    assert night(history, "falsified") == ["new"]
    assert night(history, "proved", source="b") == ["fixed"]
    assert night(history, "proved", seconds=9.0, source="b") == ["slower"]
    assert night(history, "unknown", source="b") == ["flaky"]
    assert night(history, "proved", source="b") == ["flaky"]
    assert night(history, "falsified", source="c") == ["broken"]
    assert night(history, "falsified", source="c") == []
    history.close()
    with sqlite3.connect(tmp_path / "h") as base:
        assert base.execute("select count(*) from runs").fetchone() == (7,)


def test_what_is_no_history(tmp_path):
    (tmp_path / "h").write_text("nothing of the kind, but long enough to be taken for a file of it" * 20)
    with pytest.raises(SpecError, match="is no history"):
        History(str(tmp_path / "h"))


VERDICT = {"name": "small", "verdict": "proved", "seconds": 0.1, "engine": "bmc", "k": 1}
ABOUT = {"file": "f", "source": "s", "spec": "easy"}


@pytest.mark.parametrize(
    "row",
    [
        {"event": "specs", "file": "f", "source": "s", "specs": {"easy": 0}},
        {"event": "specs", "file": "f", "source": "s", "specs": {"easy": [7]}},
        {"event": "specs", "file": {}, "source": "s", "specs": {}},
        {"event": "verdict", **ABOUT, "property": "small"},
        {"event": "verdict", **ABOUT, "property": {"name": "small"}},
        {"event": "verdict", **ABOUT, "property": {**VERDICT, "verdict": "right"}},
        {"event": "verdict", **ABOUT, "property": {**VERDICT, "engine": None}},
        {"event": "verdict", **ABOUT, "property": {**VERDICT, "k": "1"}},
        {"event": "turn", **ABOUT, "warnings": [7], "alarms": [], "status": 0, "seconds": 0.1},
        {"event": "turn", **ABOUT, "warnings": [], "alarms": [7], "status": 0, "seconds": 0.1},
        {"event": "turn", **ABOUT, "warnings": [], "alarms": [], "status": 6, "seconds": 0.1},
        {"event": "turn", **ABOUT, "warnings": [], "alarms": [], "status": 0, "seconds": None},
        {"event": "alarm", **ABOUT, "alarm": 7},
        {"event": "verdict", "property": VERDICT},
        {"event": "nothing", **ABOUT},
        [],
    ],
)
def test_a_line_of_another_form_counts_as_damaged(tmp_path, row):
    journal = Journal(str(tmp_path / "journal"), resume=False)
    journal.add({"event": "verdict", **ABOUT, "property": VERDICT})
    journal.add(row)
    journal.close()
    again = Journal(str(tmp_path / "journal"), resume=True)
    again.close()
    assert again.damaged == 3 and len(again.rows) == 2


def cut_after(folder, event, more=""):
    """Cut the journal after the last line with the event."""
    path = folder / ".streamcheck" / "suite.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if json.loads(line)["row"]["event"] == event)
    path.write_text("".join(lines[: last + 1]) + more)


def test_a_turn_that_was_cut_after_its_verdicts_has_their_status(folder):
    (folder / "specs" / "easy.py").write_text(EASY.replace("< 5", "< 10"))
    assert run(folder, "specs/easy.py").returncode == 0
    cut_after(folder, "verdict")
    done = run(folder, "specs/easy.py", "--resume")
    assert done.returncode == 0  # it was 3
    assert "warning: specs/easy.py::easy: the run that decided it was ended before its warnings" in done.stdout
    (folder / "specs" / "easy.py").write_text(EASY)
    assert run(folder, "specs/easy.py").returncode == 1
    cut_after(folder, "verdict")
    assert run(folder, "specs/easy.py", "--resume").returncode == 1


def test_an_alarm_outlives_a_crash(folder):
    run(folder, "specs/easy.py")
    cut_after(folder, "verdict")
    journal = Journal(str(folder / ".streamcheck" / "suite.jsonl"), resume=True)
    about = {key: journal.rows[-1][key] for key in ABOUT}
    journal.add({"event": "alarm", **about, "alarm": "two parts disagree"})
    journal.close()
    done = run(folder, "specs/easy.py", "--resume", "--json")
    row = json.loads(done.stdout)
    assert done.returncode == 4 and row["specs"][0]["alarms"] == ["two parts disagree"]


def test_a_property_that_the_file_has_not_is_not_waited_for(folder):
    run(folder, "specs/easy.py")
    path = folder / ".streamcheck" / "suite.jsonl"
    specs = json.loads(path.read_text().splitlines()[1])["row"]
    specs["specs"] = {"easy": ["small", "strange"]}
    journal = Journal(str(path), resume=False)
    journal.add(specs)
    journal.close()
    done = run(folder, "specs/easy.py", "--resume", "--json")
    assert done.returncode == 1 and json.loads(done.stdout)["totals"]["unknown"] == 0


@pytest.mark.parametrize(
    "statement",
    [
        "update verdicts set seconds = 'x'",
        "update verdicts set verdict = x'00ff'",
        "drop table runs; create table runs (x)",
        "alter table verdicts add column more",
        "create trigger t before insert on verdicts begin select raise(abort, 'no'); end",
    ],
)
def test_a_damaged_history_costs_no_verdict(folder, statement):
    assert run(folder, "specs/easy.py").returncode == 1
    with sqlite3.connect(folder / ".streamcheck" / "history.sqlite") as base:
        base.executescript(statement)
    done = run(folder, "specs/easy.py", "--resume")
    assert done.returncode == 1 and "1 proved, 1 falsified" in done.stdout.splitlines()[-1]
    assert "history.sqlite is damaged: " in done.stderr and "nothing is compared" in done.stderr


def test_a_file_that_is_no_history_costs_no_verdict(folder):
    (folder / ".streamcheck").mkdir()
    (folder / ".streamcheck" / "history.sqlite").write_text("nothing of the kind, but long enough for a file" * 30)
    done = run(folder, "specs/easy.py")
    assert done.returncode == 1 and "history.sqlite is no history of verdicts" in done.stderr
