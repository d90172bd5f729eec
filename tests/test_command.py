"""The command as a user meets it: what it prints, its exit status, its errors, and what a hostile spec can do."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).parent / "streamcheck")


def streamcheck(*args, stdin=None, cwd=None, timeout=60):
    return subprocess.run(
        [COMMAND, *map(str, args)], input=stdin, capture_output=True, text=True, cwd=cwd, timeout=timeout
    )


@pytest.fixture
def spec(tmp_path):
    """Writes a spec and gives its path."""

    def write(text, name="spec.py"):
        path = tmp_path / name
        path.write_text("from streamcheck import *\n" + text)
        return path

    return write


WATCH = """
import enum
class Mode(enum.Enum):
    IDLE = 0
    RUN = 1
@struct
class Pos:
    lat: Float
    ok: Bool
x, m = extern("x", Word8), extern("mode", EnumOf(Mode))
pos, r = extern("pos", Pos), extern("r", Real)
spec = Spec("watch")
spec.trigger("high", x > 100, {"value": x, "pos": pos})
spec.observer("running", m == Mode.RUN)
spec.observer("mode", m)
spec.observer("double", r * 2)
spec.prop("small", x < 150)
"""
ROWS = "x,mode,pos.lat,pos.ok,r\n1,IDLE,0.5,true,1/3\n101,RUN,NaN,false,2\n200,RUN,1e40,1,0.1\n"


def test_help_is_quick():
    before = os.times()
    done = streamcheck("--help")
    after = os.times()
    assert done.returncode == 0 and "run" in done.stdout and "show" in done.stdout
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    assert spent < 0.3  # the target is 0.15 s on a quiet machine; tests/bench measures that


def modules_after(code):
    """The modules that are loaded once the code has been run."""
    code = f"import sys\n{code}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def test_starting_loads_neither_solver_nor_sympy():
    loaded = modules_after("import streamcheck.cli.prove")
    assert "streamcheck.run.standby" in loaded
    assert loaded.isdisjoint(("z3", "sympy", "cvc5", "bitwuzla", "pycparser"))
    assert loaded.isdisjoint(("streamcheck.engines.options", "streamcheck.lang", "streamcheck.frontends"))


def test_the_first_processes_load_what_they_need():
    worker = modules_after("import streamcheck.run.registry as r, streamcheck.run.strategy as s\nr.build(s.FIRST)")
    assert {"z3", "streamcheck.engines.options"} <= worker
    others = {f"streamcheck.{name}" for name in ("engines.settings", "engines.ic3", "engines.cfa", "invariants")}
    assert worker.isdisjoint({"cvc5", "bitwuzla", "sympy"} | others)
    checker = modules_after("import streamcheck.certify.check, streamcheck.certify.solvers as s\ns.warm_up()")
    assert {"cvc5", "bitwuzla"} <= checker
    assert checker.isdisjoint(("z3", "streamcheck.certify.locations"))


def test_run_prints_a_table(spec):
    done = streamcheck("run", spec(WATCH), "--input", "-", stdin=ROWS)
    assert done.returncode == 0
    assert done.stdout.split("\n")[0].split() == ["step", "high", "running", "mode", "double", "small"]
    rows = [line.split(maxsplit=1) for line in done.stdout.splitlines()[1:]]
    assert rows[0][1].split() == ["--", "false", "IDLE", "2/3", "true"]
    assert "(101, {lat=NaN, ok=false})" in rows[1][1] and "(200, {lat=Infinity, ok=true})" in rows[2][1]
    assert done.stderr == "note: property small is false at step 2\n"


def test_run_writes_csv_and_json(spec):
    path = spec(WATCH)
    text = streamcheck("run", path, "--input", "-", "--format", "csv", stdin=ROWS).stdout
    table = list(csv.DictReader(io.StringIO(text)))
    assert [row["high"] for row in table] == ["false", "true", "true"]
    assert [row["high.value"] for row in table] == ["", "101", "200"] and table[0]["double"] == "2/3"
    assert [row["small"] for row in table] == ["true", "true", "false"]
    lines = streamcheck("run", path, "--input", "-", "--format", "json", stdin=ROWS).stdout.splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows[0] == {"step": 0, "triggers": {}, "observers": {"running": False, "mode": "IDLE", "double": "2/3"}}
    assert rows[2]["triggers"] == {"high": {"value": 200, "pos": {"lat": "Infinity", "ok": True}}}
    assert rows[2]["broken"] == ["small"] and rows[1]["observers"]["double"] == 4


def test_a_property_with_the_name_of_an_assumption_is_a_property(spec):
    path = spec(
        'n = stream(Int, lambda n: [0] ++ (n + 1))\nspec = Spec("s")\nspec.observer("n", n)\n'
        'spec.prop("assumption of safety", n < 1)\nspec.prop("other", n < 2)\n'
    )
    done = streamcheck("run", path, "--steps", 4, "--format", "json")
    assert done.stderr.splitlines() == [
        "note: property assumption of safety is false at step 1",
        "note: property other is false at step 2",
        "note: property assumption of safety was false at 3 steps",
        "note: property other was false at 2 steps",
    ]
    assert json.loads(done.stdout.splitlines()[2])["broken"] == ["assumption of safety", "other"]


def test_counterexamples_show_every_stream_that_the_user_named(spec, tmp_path):
    path = spec(
        'load = extern("load", Bool)\n'
        "cell_voltage = stream(Word8, lambda v: [40] ++ mux(load, v - 10, v))\n"
        "pack_voltage = stream(Word8, lambda v: [40] ++ mux(load, v - 10, v + 0))\n"
        'spec = Spec("battery")\nspec.prop("charged", cell_voltage + pack_voltage > 40)\n'
    )
    done = streamcheck("prove", path)
    rows = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("      ")]
    assert {"load", "cell_voltage", "pack_voltage", "charged"} < set(rows), done.stdout
    unnamed = spec('spec = Spec("s")\nspec.prop("p", ~([False] ++ [False] ++ extern("x", Bool)))\n', "unnamed.py")
    assert "cell_" not in streamcheck("prove", unnamed).stdout
    (tmp_path / "speed.vmt").write_text(
        "(declare-fun |motor speed| () Int)\n(declare-fun |motor speed'| () Int)\n"
        "(define-fun sv0 () Int (! |motor speed| :next |motor speed'|))\n"
        "(define-fun init () Bool (! (= |motor speed| 0) :init true))\n"
        "(define-fun trans () Bool (! (= |motor speed'| (+ |motor speed| 1)) :trans true))\n"
        "(define-fun slow () Bool (! (< |motor speed| 3) :invar-property 0))\n"
    )
    assert "      motor speed" in streamcheck("prove", tmp_path / "speed.vmt").stdout


def test_run_reads_json_lines_and_files(spec, tmp_path):
    lines = '{"x": 7, "mode": "RUN", "pos": {"lat": 1, "ok": true}, "r": "1/2"}\n\n' * 2
    (tmp_path / "data.jsonl").write_text(lines)
    (tmp_path / "data.csv").write_text("\ufeff" + ROWS)
    path = spec(WATCH)
    for data in ("data.jsonl", "data.csv"):
        done = streamcheck("run", path, "--input", tmp_path / data, "--steps", 2)
        assert done.returncode == 0 and len(done.stdout.splitlines()) == 3
    assert streamcheck("run", path, "--input", "-", stdin=lines).stdout.count("RUN") == 2


BAD_DATA = [
    ("x,mode,pos.lat,pos.ok\n", "standard input:1: no column for r"),
    ("x,mod,pos.lat,pos.ok,r\n", "standard input:1: column 'mod' is not an input of this spec; is 'mode' meant?"),
    ("x,x,mode,pos.lat,pos.ok,r\n", "standard input:1: column x appears twice"),
    (ROWS + "300,RUN,1,1,1\n", "standard input:5: column x: 300 does not fit Word8, which holds 0 to 255"),
    (ROWS + "1.5,RUN,1,1,1\n", "standard input:5: column x: '1.5' is not a Word8"),
    (ROWS + "1,STOP,1,1,1\n", "standard input:5: column mode: 'STOP' is not a member of Mode: IDLE, RUN"),
    (ROWS + "1,RUN,1,maybe,1\n", "standard input:5: column pos.ok: 'maybe' is not a Bool: true or false"),
    (ROWS + "1,RUN,,true,1\n", "standard input:5: column pos.lat: empty; a Float is needed"),
    (ROWS + "1,RUN\n", "standard input:5: this row has 2 values, the header has 5 columns"),
    ("", "standard input:1: no header: the first row names the inputs, x, mode, pos, r"),
    ('{"x": 1, "mode": "RUN"}', "standard input:1: no value for pos"),
    ('{"y": 1}', "standard input:1: 'y' is not an input of this spec"),
    ('{"x": 1', "standard input:1: not a JSON object"),
]


@pytest.mark.parametrize(("data", "message"), BAD_DATA)
def test_bad_data_is_named_by_row_and_column(spec, data, message):
    done = streamcheck("run", spec(WATCH), "--input", "-", stdin=data)
    assert done.returncode == 2 and done.stderr.splitlines()[-1].startswith("error: " + message)


def test_steps_and_samples(spec):
    path = spec('x = extern("x", Word8, samples=[1, 2, 3])\ns = Spec("s")\ns.observer("x", x)\n')
    assert len(streamcheck("run", path).stdout.splitlines()) == 4
    assert len(streamcheck("run", path, "--steps", 2).stdout.splitlines()) == 3
    done = streamcheck("run", path, "--steps", 5)
    assert done.returncode == 2 and 'extern "x" has no sample for step 3' in done.stderr
    assert done.stdout.splitlines()[-1].split() == ["2", "3"]  # what could be shown was shown
    bare = spec('s = Spec("s")\ns.observer("x", extern("x", Word8))\n', "bare.py")
    done = streamcheck("run", bare)
    assert done.returncode == 2 and "no values for x" in done.stderr


def test_a_live_feed_is_answered_row_by_row(spec):
    path = spec('s = Spec("s")\ns.observer("twice", extern("x", Word8) * 2)\n')
    watch = subprocess.Popen(
        [COMMAND, "run", path, "--input", "-", "--format", "csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        watch.stdin.write("x\n")
        for value in (1, 2, 3):
            watch.stdin.write(f"{value}\n")
            watch.stdin.flush()
            if value == 1:
                assert watch.stdout.readline() == "step,twice\n"
            assert watch.stdout.readline() == f"{value - 1},{2 * value}\n"
        watch.stdin.close()
        assert watch.wait(10) == 0
    finally:
        watch.kill()
        watch.wait()


def test_several_specs_and_choosing_one(spec):
    path = spec('a, b = Spec("a"), Spec("b")\na.observer("o", Int(1))\nb.observer("o", Int(2))\nagain = a\n')
    done = streamcheck("run", path)
    assert done.returncode == 2 and f"{path}::a, {path}::b" in done.stderr
    assert streamcheck("run", f"{path}::b", "--steps", 1).stdout.split() == ["step", "o", "0", "2"]
    assert streamcheck("show", path).stdout.count("spec ") == 2
    done = streamcheck("show", f"{path}::c")
    assert done.returncode == 2 and 'has no spec named "c", it has a, b' in done.stderr


def test_imported_specs_count_and_the_folder_is_on_the_path(spec):
    spec('x = extern("x", Word8, samples=[5])\nshared = Spec("shared")\nshared.observer("x", x)\n', "common.py")
    path = spec('from common import shared, x\nown = Spec("own")\nown.observer("y", x + 1)\n')
    assert streamcheck("show", path).stdout.count("spec ") == 2


def test_json_stands_in_for_the_spec(spec, tmp_path):
    path = spec(WATCH)
    (tmp_path / "watch.json").write_text(streamcheck("show", path, "--as", "json").stdout)
    again = streamcheck("run", tmp_path / "watch.json", "--input", "-", stdin=ROWS)
    assert again.stdout == streamcheck("run", path, "--input", "-", stdin=ROWS).stdout
    (tmp_path / "broken.json").write_text("{")
    assert streamcheck("show", tmp_path / "broken.json").returncode == 2


@pytest.mark.parametrize("stage", ["equations", "system", "graph", "json"])
def test_show_prints_each_stage(stage):
    done = streamcheck("show", "specs/engine_monitor.py", "--as", stage)
    assert done.returncode == 0 and "tmp_probe_1" in done.stdout and done.stderr == ""


def test_usage_errors():
    assert streamcheck("rum").returncode == 2 and streamcheck("run").returncode == 2
    done = streamcheck("run", "nowhere.py")
    assert (done.returncode, done.stderr) == (2, "error: no such file: nowhere.py\n")
    assert streamcheck("show", "README.md").returncode == 2


@pytest.mark.parametrize("command", ["prove", "explain", "watch"])
def test_a_time_limit_is_a_number_of_seconds(command):
    for text, instead in [("10s", ": write 10"), ("nan", "")]:
        done = streamcheck(command, "specs/engine_monitor.py", "--timeout", text)
        assert done.returncode == 2 and done.stdout == ""
        assert f"'{text}' is not a number of seconds{instead}\n" in done.stderr


def test_a_reader_that_stops_reading_is_no_error(spec):
    path = spec('n = stream(Int, lambda n: [0] ++ (n + 1))\ns = Spec("s")\ns.observer("n", n)\n')
    piped = f"{COMMAND} run {path} --steps 300000 | head -2; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", piped], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == "" and len(done.stdout.splitlines()) == 2


# Hostile specs: what a spec prints or how it ends is never taken for an answer.

GOOD = 's = Spec("s")\ns.observer("one", Int(1))\n'


def test_what_a_spec_prints_goes_to_standard_error(spec):
    done = streamcheck("show", spec('print("forged"); import os; os.system("echo forged too")\n' + GOOD))
    assert done.returncode == 0 and done.stdout.startswith("spec s") and done.stderr == "forged\nforged too\n"


@pytest.mark.parametrize("ending", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.closerange(3, 99); os._exit(0)"])
def test_a_spec_that_ends_its_process(spec, ending):
    done = streamcheck("show", spec(GOOD + f"import os\n{ending}\n"))
    assert done.returncode == 2 and done.stdout == "" and "ended before it was done" in done.stderr


def test_a_spec_that_exits_politely(spec):
    done = streamcheck("show", spec(GOOD + "raise SystemExit(0)\n"))
    assert done.returncode == 2 and "called exit (0) while loading" in done.stderr


def test_a_spec_that_writes_into_every_channel(spec):
    noise = """
import os
for fd in range(3, 40):
    try:
        os.write(fd, b'{"value": []}' * 9)
    except OSError:
        pass
"""
    done = streamcheck("show", spec(noise + GOOD))
    assert done.returncode == 2 and done.stdout == "" and "channel that is not its own" in done.stderr


def test_a_spec_that_takes_for_ever_is_interrupted_and_leaves_nothing(spec, tmp_path):
    endless = """
import os, time
open("pid", "w").write(str(os.getpid()))
os.system("sleep 60 & echo $! > sleeper")
while True:
    time.sleep(1)
"""
    running = subprocess.Popen([COMMAND, "show", spec(endless)], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    pids = [wait_for_number(tmp_path / name) for name in ("pid", "sleeper")]
    running.send_signal(signal.SIGINT)
    text = running.stderr.read()
    assert running.wait(10) == 130 and text.startswith("error: interrupted while loading ")
    assert text.endswith(("spec.py:7\n    time.sleep(1)\n", "spec.py:6\n    while True:\n"))
    assert_gone(pids)


def test_a_killed_command_leaves_no_spec_behind(spec, tmp_path):
    endless = 'import os, time\nopen("pid", "w").write(str(os.getpid()))\nwhile True: time.sleep(1)\n'
    running = subprocess.Popen([COMMAND, "show", spec(endless)], cwd=tmp_path)
    pid = wait_for_number(tmp_path / "pid")
    running.kill()
    running.wait(10)
    assert_gone([pid])


def wait_for_number(path):
    for _ in range(300):
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.05)
    raise AssertionError(f"{path} was not written")


def assert_gone(pids):
    for _ in range(100):
        alive = [pid for pid in pids if is_alive(pid)]
        if not alive:
            return
        time.sleep(0.05)
    raise AssertionError(f"still there: {alive}")


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_limit_on_loading(spec, monkeypatch):
    from streamcheck import SpecError
    from streamcheck.run import source

    monkeypatch.setattr(source, "LOAD_SECONDS", 0.3)
    with pytest.raises(SpecError, match=r"timed out after 0.3 s"):
        source.read(source.Target.parse(str(spec("while True: pass\n"))))
