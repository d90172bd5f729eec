"""Results in the formats of other programs: JUnit XML, SARIF, annotations of GitHub."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPEC = """from streamcheck import *

x = extern("x", Word8)
total = stream(Word8, lambda t: [0] ++ mux(x > 9, t + 1, t))
spec = Spec("counter")
spec.observer("total", total)
spec.prop("under, 100%: <three>", total < 3)
spec.prop("follows", implies(total > 0, pre(False, total > 0) | pre(False, x > 9)))
spec.prop("hard", total * total * total * total != 131)
spec.assume("never", x == x)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("outputs")
    (where / "counter.py").write_text(SPEC)
    formats = "--output junit r.xml --output sarif r.sarif --output json r.json --output github -"
    words = f"prove counter.py --no-cache --engine k-induction --engine bmc --timeout 20 {formats}"
    done = subprocess.run([COMMAND, *words.split()], cwd=where, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    (where / "out.txt").write_text(done.stdout)
    return where


def verdicts(folder):
    return {p["name"]: p["verdict"] for p in json.loads((folder / "r.json").read_text())["properties"]}


def test_junit_counts_and_shows_the_run(folder):
    suites = ElementTree.parse(folder / "r.xml").getroot()
    (suite,) = suites
    found = verdicts(folder)
    assert suite.get("name") == "counter.py::counter" and int(suite.get("tests")) == len(found)
    for element in (suites, suite):
        assert int(element.get("failures")) == list(found.values()).count("falsified") == 1
        assert int(element.get("errors")) == list(found.values()).count("unknown")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    failure = cases["under, 100%: <three>"].find("failure")
    assert "falsified: bmc, step 3" in failure.get("message") and "total" in failure.text
    assert cases["under, 100%: <three>"].get("line") == "7" and cases["follows"].find("failure") is None


def test_sarif_has_the_run_as_a_code_flow(folder):
    log = json.loads((folder / "r.sarif").read_text())
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    for row in run["results"]:
        assert rules[row["ruleIndex"]] == row["ruleId"] and row["level"] in ("error", "warning")
        assert row["message"]["text"]
        place = row["locations"][0]["physicalLocation"]
        assert place["artifactLocation"]["uri"] == "counter.py" and place["region"]["startLine"] >= 1
    (broken,) = [row for row in run["results"] if row["ruleId"] == "falsified"]
    assert broken["locations"][0]["physicalLocation"]["region"]["startLine"] == 7
    steps = broken["codeFlows"][0]["threadFlows"][0]["locations"]
    texts = [step["location"]["message"]["text"] for step in steps]
    lines = [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps]
    assert "step 1: total = 1" in texts and "step 3: total = 3" in texts
    assert lines[texts.index("step 1: total = 1")] == 4 and lines[-1] == 7 and steps[-1]["importance"] == "essential"
    assert steps[texts.index("step 2: total = 2")]["state"]["total"]["text"] == "2"
    orders = [step["executionOrder"] for step in steps]
    assert orders == sorted(orders) and orders[0] == 1


def test_fingerprints_stay_and_differ(folder):
    log = json.loads((folder / "r.sarif").read_text())
    marks = [row["partialFingerprints"]["streamcheck/v1"] for row in log["runs"][0]["results"]]
    assert len(set(marks)) == len(marks)
    again = "prove counter.py --no-cache --engine bmc --timeout 60 --prop under* --output sarif again.sarif --quiet"
    subprocess.run([COMMAND, *again.split()], cwd=folder, capture_output=True)
    (row,) = [
        r for r in json.loads((folder / "again.sarif").read_text())["runs"][0]["results"] if r["ruleId"] == "falsified"
    ]
    assert row["partialFingerprints"]["streamcheck/v1"] in marks


def test_annotations_are_escaped(folder):
    lines = [line for line in (folder / "out.txt").read_text().splitlines() if line.startswith("::")]
    assert lines and all(line.count("\n") == 0 for line in lines)
    (broken,) = [line for line in lines if line.startswith("::error")]
    head = "::error file=counter.py,line=7,title=counter%3A under%2C 100%25%3A <three>::"
    assert broken.startswith(head + "under, 100%25: <three> falsified") and "%0A" in broken
    assert not any("follows" in line.split("::")[1] for line in lines)


def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "counter.py").write_text(SPEC)
    words = "prove counter.py --prop follows --no-cache --output junit missing/r.xml"
    done = subprocess.run([COMMAND, *words.split()], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "missing/r.xml: No such file or directory" in done.stderr
    assert "proved     follows" in done.stdout
    assert "Traceback" not in done.stderr


def test_control_characters_are_no_xml(tmp_path):
    (tmp_path / "s.py").write_text(
        'from streamcheck import *\nx = extern("x", Bool)\nspec = Spec("s")\nspec.prop("p", x)  # \x0c <&>\n'
    )
    subprocess.run([COMMAND, *"prove s.py --no-cache --output junit r.xml".split()], cwd=tmp_path, capture_output=True)
    assert ElementTree.parse(tmp_path / "r.xml").getroot().get("failures") == "1"
