"""`check`: it can be stopped in the middle of a query, and no file makes it fail."""

from __future__ import annotations

import copy
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamcheck.core.errors import SpecError
from streamcheck.run.certificates import recheck
from streamcheck.run.limits import OutOfTime
from streamcheck.run.sandbox import Sandbox
from streamcheck.run.source import Target, read

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """
from streamcheck import *
a = extern("a", Word64)
n = stream(Word8, lambda n: [0] ++ mux((a < 5) & (n < 9), n + 1, 0))
h = a
for shift in (13, 29, 7, 31):
    h = h * (h ^ 0x9E3779B97F4A7C15) ^ (h >> shift) * (a + shift)
spec = Spec("s")
spec.prop("hard", h != 0xD1B54A32D192ED03)
spec.prop("easy", n < 10)
spec.prop("false", n < 3)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The certificates of the easy properties, and one for the hard one, of which nobody knows if it proves it."""
    folder = tmp_path_factory.mktemp("check")
    (folder / "s.py").write_text(SPEC)
    prove = [COMMAND, "prove", folder / "s.py", "--prop", "easy", "--prop", "false", "--certificates", folder]
    subprocess.run(prove, capture_output=True, check=False)
    row = json.loads((folder / "s.s.easy.json").read_text())
    (spec,) = read(Target(str(folder / "s.py"), None))
    from streamcheck.problem.certificate_json import certificate_to_plain
    from streamcheck.problem.verdict import Certificate

    hard = Certificate("inductive", 1, (spec.properties[0].term,))
    row |= {"property": "hard", **certificate_to_plain(hard)}
    (folder / "hard.json").write_text(json.dumps(row))
    return folder


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_it_stops_in_the_middle_of_a_query(files, number, status):
    command = subprocess.Popen(
        [COMMAND, "check", files / "hard.json", "-v"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    time.sleep(4)
    began = time.monotonic()
    command.send_signal(number)
    out, err = command.communicate(timeout=20)
    assert time.monotonic() - began < 0.5
    assert command.returncode == status and out == b"" and b"Traceback" not in err
    assert err.splitlines()[-1] in (b"error: interrupted", b"error: terminated") and b"click" not in err


def test_a_line_of_the_callers_is_not_the_users():
    """The frames below a sandbox are those of the process that it was forked from."""
    names = {"__name__": "streamcheck.endless"}
    exec("def work(send):\n    while True: pass", names)
    with Sandbox(names["work"], seconds=0.5, doing="looping") as child, pytest.raises(OutOfTime) as late:
        child.receive()
    assert late.value.where is None


def test_json_is_complete_when_it_is_stopped(files):
    command = subprocess.Popen(
        [COMMAND, "check", files / "s.s.easy.json", files / "hard.json", files / "s.s.false.json", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(5)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=20)
    rows = json.loads(out)
    assert [row["verdict"] for row in rows] == ["holds", "not decided", "not decided"] and err == b""
    assert command.returncode == 130 and rows[1]["why"] == "interrupted" and rows[0]["claim"] == "s easy proved"


def test_every_file_is_read_and_the_worst_counts(files, tmp_path):
    damaged, rejected = tmp_path / "damaged.json", files / "rejected.json"
    damaged.write_text("{")
    row = json.loads((files / "s.s.false.json").read_text())
    rejected.write_text(json.dumps(row | {"claim": "falsified", "property": "easy"}))
    easy = files / "s.s.easy.json"
    for paths, status, verdicts in (
        ([damaged, easy], 2, ["damaged", "holds"]),
        ([damaged, tmp_path / "absent.json", rejected, easy], 4, ["damaged", "damaged", "rejected", "holds"]),
        ([easy, damaged], 2, ["holds", "damaged"]),
    ):
        done = subprocess.run([COMMAND, "check", *paths], capture_output=True, text=True)
        assert done.returncode == status and len(done.stdout.splitlines()) == len(verdicts) - verdicts.count("damaged")
        assert done.stderr.count("error: ") == verdicts.count("damaged") and f"{damaged} is not JSON" in done.stderr
        as_json = subprocess.run([COMMAND, "check", *paths, "--json"], capture_output=True, text=True)
        assert as_json.returncode == status and as_json.stderr == ""
        assert [r["verdict"] for r in json.loads(as_json.stdout)] == verdicts


def test_a_timeout_leaves_it_undecided(files):
    began = time.monotonic()
    command = [COMMAND, "check", files / "s.s.easy.json", files / "hard.json", files / "s.s.false.json"]
    done = subprocess.run([*command, "--timeout", "3"], capture_output=True, text=True)
    first, second, third = done.stdout.splitlines()
    assert done.returncode == 3 and time.monotonic() - began < 8
    assert first == "s easy proved: holds" and second.startswith("s hard proved: not decided: ")
    assert "timed out" in second and "timed out" in third


VALUES = None, True, -1, 0, 1.5, 10**30, "", "x", [], {}, [[]], {"a": 1}, "proved", 1e308, ["const", 0, 5], [1, 2, 3]


def places(row, here=()):
    if here:
        yield here
    items = row.items() if isinstance(row, dict) else enumerate(row) if isinstance(row, list) else ()
    for key, value in items:
        yield from places(value, (*here, key))


def damage(row, rng):
    row = copy.deepcopy(row)
    *way, last = rng.choice([p for p in places(row) if p[0] not in ("file", "spec", "property")])
    inner = row
    for key in way:
        inner = inner[key]
    if isinstance(inner, dict) and rng.random() < 0.2:
        del inner[last]
    else:
        inner[last] = rng.choice(VALUES)
    return row


@pytest.mark.parametrize("name", ["s.s.easy.json", "s.s.false.json"])
def test_a_damaged_certificate_is_damaged_or_rejected(files, name):
    rng, answers, mistakes = random.Random(5), set(), []
    spec = subprocess.run([COMMAND, "show", files / "s.py", "--as", "json"], capture_output=True, check=True).stdout
    (files / "s.json").write_bytes(spec)  # read faster
    row = json.loads((files / name).read_text()) | {"file": "s.json"}
    for _ in range(60):
        (files / "damaged.json").write_text(json.dumps(damage(row, rng)))
        try:
            checked = recheck(str(files / "damaged.json"), 20.0)
            answers.add("holds" if checked.why is None else "rejected")
        except SpecError as error:
            mistakes.append(str(error))
    answers |= {"damaged"} if mistakes else set()
    assert all(any(word in m for word in ("damaged", "is not a", "a bound is")) for m in mistakes), mistakes
    assert not any("Traceback" in m for m in mistakes)
    assert {"damaged", "rejected"} <= answers


NOTHING = "", "{", "[1]", "null", "\x00", "[" * 100_000, '{"format": "streamcheck certificate 2"}'


@pytest.mark.parametrize("text", NOTHING, ids=range(len(NOTHING)))
def test_what_is_no_certificate_is_said_so(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    done = subprocess.run([COMMAND, "check", tmp_path / "bad.json"], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "bad.json" in done.stderr
