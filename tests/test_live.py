"""A proof while it goes on: on terminals of several widths, in a pipe, as events, and interrupted."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from importlib import import_module
from pathlib import Path

import jsonschema
import pyte
import pytest

COMMAND = Path(sys.executable).parent / "streamcheck"
SCHEMA = json.loads(Path("docs/events.schema.json").read_text())
SPEC = """
from streamcheck import *
n = extern("n", Word32)
@stream(Word64)
def x(): return [1] ++ ((x * x + cast(Word64, n % 5)) % 2305843009213693951)
@stream(Word8)
def t(): return [0] ++ mux((t < 100) & (n > 7), t + 1, 0)
spec = Spec("demo")
spec.prop("a property whose name is longer than most terminals are wide, and which no engine decides", x != 77777)
spec.prop("bounded", t <= 100)
spec.prop("never_two", t < 2)
"""


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "demo.py"
    path.write_text(SPEC)
    return path


def start(*args, **options):
    return subprocess.Popen([COMMAND, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)


def screens(columns, *args, narrower=None):
    """What a terminal of so many columns shows, each time something is written, and the exit status."""
    ours, theirs = pty.openpty()
    resize(theirs, columns)
    environment = os.environ | {"TERM": "xterm-256color", "COLUMNS": "80"}  # as a shell may export it
    command = subprocess.Popen([COMMAND, *map(str, args)], stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    screen = pyte.HistoryScreen(columns, 40, history=1000)
    stream = pyte.ByteStream(screen)
    shown = []
    while True:
        select.select([ours], [], [])
        try:
            data = os.read(ours, 1 << 16)
        except OSError:
            break
        if not data:
            break
        stream.feed(data)
        shown.append([line.rstrip() for line in screen.display if line.strip()])
    os.close(ours)
    return shown, command.wait()


def resize(terminal, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_progress_is_one_region_below_the_verdicts_and_leaves_nothing(columns, spec):
    shown, status = screens(columns, "prove", spec, "--timeout", 6)
    assert status == 1
    with_progress = [lines for lines in shown if any("properties open" in line for line in lines)]
    assert with_progress
    for lines in with_progress:
        assert sum("properties open" in line for line in lines) == 1, "\n".join(lines)
        assert sum("…" in line for line in lines if line.startswith("  … ")) <= 3
    depths = [line for lines in with_progress for line in lines if "true up to step" in line and "  … " in line]
    assert depths
    below = [line for lines in with_progress for line in lines if line.startswith("      ") and "step " not in line]
    work = " ".join(depths if columns == 200 else below)
    assert "induction" in work and re.search(r"(frame|round|step|steps,?) \d", work), work
    assert not any(re.search(rf"(?<!…)\b{name}\b", work) for name in ("bmc", "k-induction", "ic3", "spacer")), work
    assert not any("properties open" in line or line.startswith("  … ") for line in shown[-1])
    text = " ".join(line for lines in shown for line in lines)  # the report may be longer than the screen
    assert "proved" in text and "falsified" in text and "unknown" in text


def test_a_recorded_terminal_keeps_verdicts_and_one_region(monkeypatch):
    """The script that records what docs/terminal.md shows."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not there")
    monkeypatch.syspath_prepend("tests/bench")
    *during, (_, left) = import_module("terminal").record(60, seconds=4)
    assert [caption for caption, _ in during] == ["after 1 s"]
    for text in (during[0][1], left):
        assert all(len(line) <= 60 for line in text.splitlines())
    assert during[0][1].count(" of 4 properties open") == 1 and "open" not in left.split("unknown")[0]
    assert left.startswith("demo\n  proved     the timer is bounded  k-induction")
    assert "  falsified  never_three" in left
    assert left.count("  unknown    ") == 2
    assert left.count("not inductive: after 1 step") + left.count("no state has been found from which it fails") == 2


def test_colours_are_for_terminals_and_as_asked(spec, monkeypatch):
    prove = ["prove", spec, "--prop", "bounded"]
    assert b"\x1b[" not in start(*prove).communicate()[0]
    assert b"\x1b[32m" in start(*prove, "--color", "always").communicate()[0]
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[32m" in start(*prove, "--color", "always").communicate()[0]


def test_verdicts_come_one_by_one_in_a_pipe(spec):
    began = time.monotonic()
    command = start("prove", spec, "--timeout", 25, "--quiet")
    seen = []
    while len(seen) < 3:
        seen.append(command.stdout.readline().decode())
    waited = time.monotonic() - began
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=20)
    assert seen[0] == "demo\n" and waited < 25
    assert sorted(line.split()[:2] for line in seen[1:]) == [["falsified", "never_two"], ["proved", "bounded"]]
    assert command.returncode == 130 and b"unknown" in out and b"interrupted; true up to step" in out
    assert err == b""


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_decided_is_in_the_json_of_an_interrupted_command(number, status, spec):
    command = start("prove", spec, spec, "--timeout", 60, "--json")
    wait_for_verdicts(spec)
    command.send_signal(number)
    out, err = command.communicate(timeout=20)
    first, second = json.loads(out)
    verdicts = {p["name"]: p for p in first["properties"]}
    assert command.returncode == status and err == b""
    assert verdicts["bounded"]["verdict"] == "proved" and verdicts["never_two"]["verdict"] == "falsified"
    word = "interrupted" if number == signal.SIGINT else "terminated"
    assert [p["reason"] for p in verdicts.values() if p["verdict"] == "unknown"] == [word]
    assert {p["reason"] for p in second["properties"]} == {"interrupted before the proof began"}


def wait_for_verdicts(spec):
    """As long as another run of the same needs for two verdicts, and half as long again."""
    began = time.monotonic()
    command = start("prove", spec, "--timeout", 60, "--quiet")
    for _ in range(3):
        command.stdout.readline()
    command.kill()
    command.communicate()
    time.sleep(0.5 * (time.monotonic() - began) + 1)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_command_may_be_interrupted_at_any_moment(spec):
    for i in range(12):
        command = start("prove", spec, "--timeout", 60)
        while not answers(command.pid, signal.SIGTERM):  # until then Python itself starts
            time.sleep(0.001)
        time.sleep(0.04 * i)
        command.send_signal(signal.SIGINT)
        _, err = command.communicate(timeout=20)
        assert command.returncode == 130 and b"Traceback" not in err, err


def answers(pid, number):
    """True if the process has a handler for the signal."""
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["SigCgt"], 16) >> (number - 1) & 1


def test_events_follow_their_schema(spec, tmp_path):
    out, _ = start("prove", spec, "--timeout", 6, "--json-lines", "--certificates", tmp_path / "c").communicate()
    events = [json.loads(line) for line in out.splitlines()]
    for event in events:
        jsonschema.validate(event, SCHEMA)
    kinds = [event["event"] for event in events]
    assert kinds[0] == "begin" and kinds[-1] == "end" and kinds.count("verdict") == 3 and "progress" in kinds
    assert events[-1]["status"] == 1 and set(events[-1]["certificates"]) == {"bounded", "never_two"}
    verdicts = {e["property"]["name"]: e["property"]["verdict"] for e in events if e["event"] == "verdict"}
    assert list(verdicts.values()).count("unknown") == 1 and verdicts["never_two"] == "falsified"


def test_events_that_do_not_follow_the_schema_are_noticed():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"event": "verdict", "spec": "s"}, SCHEMA)


def test_the_exit_status_of_several_specs_is_that_of_the_worst(spec):
    fine = spec.with_name("fine.py")
    fine.write_text(SPEC.replace("t < 2", "t < 200"))
    done = [start("prove", *files, "--prop", "never_two", "--quiet") for files in ([fine], [fine, spec], [spec, fine])]
    for command in done:
        command.communicate()
    assert [command.returncode for command in done] == [0, 1, 1]


def test_long_lines_are_broken_between_words(tmp_path):
    path = tmp_path / "count.py"
    path.write_text(
        'from streamcheck import *\nx = extern("x", Bool)\n'
        "n = stream(Word32, lambda n: [0] ++ mux(x & (n < 41), n + 10, n))\n"
        'spec = Spec("count")\nspec.prop("never_more_than_fifty", n <= 50)\n'
    )
    for columns, count in ((50, 2), (60, 2), (120, 1)):
        shown, status = screens(columns, "prove", path, "--no-cache", "--engine", "k-induction", "--color", "always")
        title, first, *more = shown[-1]
        assert status == 0 and title == "count" and first.startswith("  proved     never_more_than_fifty  k-")
        assert len(more) == count - 1 and all(line.startswith("    ") for line in more)
        words = " ".join(" ".join([first, *more]).split())
        assert re.search(r" k-induction, k = 1, (wrapping integers|bit-vectors), [0-9.]+ s$", words)


def test_folding():
    from streamcheck.cli.output import fold

    line = "    \x1b[32mproved\x1b[0m   name  k-induction, k = 1"
    assert fold(line, 100) == line
    assert fold(line, 31).split("\n") == ["    \x1b[32mproved\x1b[0m   name  k-induction,", "      k = 1"]
    assert fold("  " + "9" * 50 + " ok", 20).split("\n") == ["  " + "9" * 50, "    ok"]
    assert fold("", 5) == "" and fold("   ", 2) == "   "
