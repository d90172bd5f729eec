"""`check`: it can be stopped in the middle of a query, and no file makes it fail."""

from __future__ import annotations

import copy
import json
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import streamcheck as sc
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
LOOP = """
extern void reach_error(void);
int main() { int i = 0, j = 0; while (i < 10) { i++; j += 2; }
if (j != 20) reach_error();
if (i == 10) reach_error();
}
"""
PYTHONS_WORDS = re.compile(
    r"Traceback|Error\b|not supported|unhashable|object|NoneType|'(str|int|list|dict|float|bool)'|subscriptable"
    r"|iterable|unpack|attribute|internal error|indices|out of range|\bNone\b|\bTrue\b|\bFalse\b|Fraction|<class"
    r"|literal|codec"
)


@pytest.fixture(scope="module")
def certificates(files):
    """Certificates by name: about a spec (as JSON, which is read faster) and about a program."""
    spec = subprocess.run([COMMAND, "show", files / "s.py", "--as", "json"], capture_output=True, check=True).stdout
    (files / "s.json").write_bytes(spec)
    (files / "loop.c").write_text(LOOP)
    subprocess.run([COMMAND, "prove", files / "loop.c", "--certificates", files], capture_output=True, check=False)
    read = {name: json.loads((files / f"s.s.{name}.json").read_text()) for name in ("easy", "false")}
    read = {name: row | {"file": "s.json"} for name, row in read.items()}
    programs = [json.loads(path.read_text()) for path in files.glob("loop.loop.reach_error*.json")]
    return read | {"blocks" if "blocks" in row else "path" if "edges" in row else "locations": row for row in programs}


def places(row, here=()):
    if here:
        yield here
    items = row.items() if isinstance(row, dict) else enumerate(row) if isinstance(row, list) else ()
    for key, value in items:
        yield from places(value, (*here, key))


def value_at(row, place):
    for key in place:
        row = row[key]
    return row


def with_value(row, place, *value):
    """The row with another value at this place, or without any."""
    row = copy.deepcopy(row)
    inner = value_at(row, place[:-1])
    if value:
        inner[place[-1]] = value[0]
    else:
        del inner[place[-1]]
    return row


def like(value):
    """Another value of the same type."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return "proved" if value == "falsified" else f"{value}x"
        case list():
            return value[:-1]
        case _:
            return {}


def damages(row):
    rng = random.Random(5)
    ways = [place for place in places(row) if place != ("file",)]
    yield from (with_value(row, place, like(value_at(row, place))) for place in rng.sample(ways, min(60, len(ways))))
    yield from (with_value(row, rng.choice(ways), rng.choice(VALUES)) for _ in range(100))
    yield from (with_value(row, rng.choice(ways)) for _ in range(15))


@pytest.mark.parametrize("name", ["easy", "false", "path", "other"])
def test_a_damaged_certificate_is_damaged_or_rejected(files, certificates, name):
    """Whatever is in its place: the words are not Python's, and say where the damage is."""
    answers, mistakes = set(), []
    row = certificates[name] if name != "other" else certificates.get("blocks") or certificates["locations"]
    for damaged in damages(row):
        (files / "damaged.json").write_text(json.dumps(damaged))
        try:
            checked = recheck(str(files / "damaged.json"), 20.0)
            answers.add(checked.verdict)
            assert not PYTHONS_WORDS.search(checked.why or ""), checked.why
        except SpecError as error:
            mistakes.append(str(error).replace(str(files), ""))
    place = r"damaged: (at [\w\[\]'. ,]+: |it has no `\w+`|k is |the number of rounds is )"
    known = re.compile(rf"{place}|is not a `|no longer has a property|has no spec named|no function")
    assert [m for m in mistakes if PYTHONS_WORDS.search(m) or not known.search(m)] == []
    assert len(mistakes) > 50 and {"rejected"} <= answers


@pytest.mark.parametrize(
    ("place", "value", "text"),
    [
        (["terms", 0], "x", 'at terms[0]: expected a list, found "x"'),
        (["terms", 0], [], "at terms[0]: expected the name of an operator, found []"),
        (["terms", 0, 0], [1], "at terms[0][0]: expected the name of an operator, found [1]"),
        (["k"], None, "at k: expected a whole number from 1 on, found null"),
        (["invariants"], {}, "at invariants: expected a list, found {}"),
        (["invariants", 0], 99, "at invariants[0]: expected the number of a term from 0 to "),
        (["kind"], "sure", 'at kind: expected "inductive" or "compressed" or "complete" or "ended", found "sure"'),
        (["claim"], 5, 'at claim: expected "proved" or "falsified", found 5'),
        (["bound"], -1, "at bound: expected a whole number from 1 on, found -1"),
        (["prover"], [], 'at prover: expected "z3" or "bitwuzla", found []'),
        (["free"], [[]], "at free[0]: expected a text, found []"),
    ],
)
def test_damage_is_named_with_its_place(files, certificates, place, value, text):
    (files / "damaged.json").write_text(json.dumps(with_value(certificates["easy"], place, value)))
    done = subprocess.run([COMMAND, "check", files / "damaged.json"], capture_output=True, text=True)
    assert done.returncode == 2 and done.stdout == "" and f"damaged.json: damaged: {text}" in done.stderr


def test_specs_and_folders_are_no_certificates(files):
    spec = files / "s.py"
    for path, text, write in (
        (spec, "is a spec or a program; `check` is for the evidence", f"streamcheck prove {spec} --certificates"),
        (files, "is a folder; give its files", str(files / "*.json")),
        (files / "s.json", "is not a `streamcheck certificate 2` file", "streamcheck prove FILE --certificates DIR"),
    ):
        done = subprocess.run([COMMAND, "check", path], capture_output=True, text=True)
        assert done.returncode == 2 and text in done.stderr and f"write: {write}" in done.stderr


NOTHING = "", "{", "[1]", "null", "\x00", "[" * 100_000, '{"format": "streamcheck certificate 2"}'


@pytest.mark.parametrize("text", NOTHING, ids=range(len(NOTHING)))
def test_what_is_no_certificate_is_said_so(tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    done = subprocess.run([COMMAND, "check", tmp_path / "bad.json"], capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "bad.json" in done.stderr


def test_python_shows_what_the_command_prints(files):
    for name, ok in (("s.s.easy.json", True), ("rejected.json", False)):
        row = json.loads((files / "s.s.false.json").read_text()) | {"property": "easy"}
        (files / "rejected.json").write_text(json.dumps(row))
        checked = sc.check(files / name)
        done = subprocess.run([COMMAND, "check", files / name], capture_output=True, text=True)
        assert f"{checked}\n" == done.stdout and checked.ok == ok and "claim=" not in repr(checked)
        assert repr(checked) == f"<{checked.claim}: {checked.verdict}>" and "\n" not in repr(checked)
    checked = sc.check(files / "s.s.easy.json", proofs=files / "proofs", sandbox=True)
    assert checked.ok and "proofs written" in str(checked) and len(list((files / "proofs").glob("*.cpc"))) > 0
    with pytest.raises(SpecError, match="proof_checker= is for the proofs that proofs= writes"):
        sc.check(files / "s.s.easy.json", proof_checker="true")
    with pytest.raises(SpecError, match="is a spec or a program") as refused:
        sc.check(files / "s.py")
    assert refused.value.where.file == __file__ and 'write: prove(certificates="certificates")' in str(refused.value)
