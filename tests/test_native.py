"""Runs by compiled code (`run --native`): the interpreter's output, of which it checks a sample of the steps."""

from __future__ import annotations

import csv
import io
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from c_harness import have
from random_specs import random_equations, random_rows

from streamcheck import Int32, Spec, Word8, Word16, extern, mux, statistics, stream
from streamcheck.core.errors import SpecError
from streamcheck.deliver import machine as machine_module
from streamcheck.deliver import native
from streamcheck.deliver.machine import NativeMonitor
from streamcheck.deliver.native import CompiledCodeDiffers, CsvBatches, RowBatches, run_natively
from streamcheck.deliver.native_code import native_code
from streamcheck.interpret.chunks import interpret
from streamcheck.interpret.data import DataColumns, read_form, read_rows
from streamcheck.interpret.log_text import LogText
from streamcheck.interpret.python_code import plan
from streamcheck.lang.flatten import flatten
from streamcheck.run.source import Target, read_specs

COMMAND = str(Path(sys.executable).parent / "streamcheck")
pytestmark = pytest.mark.skipif(not (have("cc") or have("gcc") or have("clang")), reason="needs a C compiler")

SPEC = """\
from streamcheck import *
import enum
class Mode(enum.Enum):
    OFF = 3
    ON = 7
@struct
class Pos:
    lat: Double
    cells: Array(Int16, 2)
mv, beat, temp = extern("mv", Word16), extern("beat", Bool), extern("temp", Float)
mode, pos, far = extern("mode", EnumOf(Mode)), extern("pos", Pos), extern("far", Int64)
low = stream(Bool, lambda u: [False] ++ mux(mv < 3300, True, mux(mv > 3500, False, u)))
before = pre(Pos(lat=0.0, cells=[1, 2]), pos)
warm = stream(Double, lambda w: [20.0] ++ (w + (cast(Double, temp) - w) * 0.25))
spec = Spec("mon")
spec.trigger("shed", low & ~beat, {"mv": mv, "mode": mode, "pos": before, "warm": warm})
spec.trigger("row", beat)
spec.observer("low", low)
spec.observer("before", before)
spec.observer("mode", pre(Mode.ON, mode))
spec.observer("far", pre(-9, far) // 3)
spec.observer("tan", sin(warm) + cast(Double, tan(temp)))
spec.assume("lively", beat | ~low)
spec.prop("charged", mv > 3000)
spec.prop("low", ~low)
"""
HEADER = "time,far,mv,beat,temp,note,mode,pos.lat,pos.cells.0,pos.cells.1"


def rows(count, seed=0):
    rng = random.Random(seed)
    for i in range(count):
        numbers = [rng.uniform(-50, 50), rng.random() * 10 ** rng.randint(-300, 300), rng.randint(-3, 3) / 8]
        yield ",".join(
            [
                f"10:{i}",
                str(rng.choice([rng.randint(-(2**63), 2**63 - 1), rng.randint(-9, 9)])),
                str(rng.choice([3000, rng.randint(3200, 3600), rng.randint(0, 65535)])),
                rng.choice(["true", "false", "True", "0", "1"]),
                str(rng.choice([numbers[0], round(numbers[0], 2), 0, "1e3"])),
                rng.choice(["x", ""]),
                rng.choice(["ON", "OFF"]),
                str(rng.choice(numbers)),
                *(str(rng.randint(-32768, 32767)) for _ in range(2)),
            ]
        )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mon.py").write_text(SPEC)
    (tmp_path / "log.csv").write_text("\n".join([HEADER, *rows(3000)]) + "\n")
    return tmp_path


def run(folder, *options, stdin=None):
    command = [COMMAND, "run", "mon.py", *map(str, options)]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, cwd=folder)
    return done.stdout, done.stderr, done.returncode


def both(folder, *options, stdin=None):
    """The output of a run, which is the same natively."""
    slow = run(folder, *options, stdin=stdin)
    assert run(folder, *options, "--native", stdin=stdin) == slow
    return slow


@pytest.mark.parametrize("shape", ["csv", "json", "table", "wave"])
def test_the_output_is_that_of_the_interpreter(folder, shape):
    out, err, status = both(folder, "--input", "log.csv", "--ignore-extra", "--keep", "note", "--format", shape)
    assert status == 0 and "property charged is false at step" in err and len(out) > 4000
    out, _, status = both(folder, "--input", "log.csv", "--ignore-extra", "--violations", "--fail", "--format", shape)
    assert status == 1 and out


def test_every_form_of_data(folder):
    options = ("--ignore-extra", "--format", "csv")
    plain = both(folder, "--input", "log.csv", *options)[0]
    text = (folder / "log.csv").read_text()
    assert both(folder, "--input", "-", *options, stdin=text)[0] == plain
    assert len(plain.splitlines()) == 3001
    lines = []
    for row in csv.DictReader(io.StringIO(text)):
        beat = "true" if row["beat"] in ("true", "True", "1") else "false"
        pos = f'{{"lat": {float(row["pos.lat"])}, "cells": [{row["pos.cells.0"]}, {row["pos.cells.1"]}]}}'
        lines.append(
            f'{{"time": "{row["time"]}", "mv": {row["mv"]}, "beat": {beat}, "temp": {float(row["temp"])}, '
            f'"mode": "{row["mode"]}", "far": {row["far"]}, "pos": {pos}}}'
        )
    (folder / "log.jsonl").write_text("\n".join(lines) + "\n")
    assert both(folder, "--input", "log.jsonl", *options)[0] == plain
    assert both(folder, "--input", "-", *options, stdin="\n".join(lines))[0] == plain
    both(folder, "--input", "log.csv", "--steps", 7, *options)
    out, err, status = both(folder, "--input", "log.csv", "--steps", 3001, *options)
    assert status == 2 and "log.csv has 3000 rows, but --steps is 3001" in err and out == plain


ODD = [
    HEADER + "\r\n" + "\r\n".join(rows(40)) + "\r\n",  # as Windows writes it
    "\ufeff" + HEADER + "\n\n" + "\n\n".join(rows(40)),  # a mark, empty lines, no newline at the end
    HEADER + "\n" + "\n".join(line.replace(",x,", ',"a ""quoted"", text\nof two lines",') for line in rows(40)) + "\n",
    HEADER + "\n" + "\n".join(line.replace(",x,", ",größer,").replace(",ON,", ", Mode.ON ,") for line in rows(40)),
    HEADER + "\n" + "\n".join(line.replace(",1e3,", ",1_000.0,").replace(",0,", ",+0,") for line in rows(40)),
    HEADER + "\n" + "\n".join(line.replace(",1e3,", ",inf,").replace(",0,x", ",nan,x") for line in rows(40)),
    HEADER + "\n" + "\n".join(line.replace(",1e3,", ",1e400,").replace(",0,x", ",-1e39,x") for line in rows(40)),
    HEADER + "\n" + "\n".join(line.replace(",0,", ",00000000000000000000000000001,") for line in rows(40)),
    HEADER + "\r" + "\r".join(rows(40)) + "\r",
    HEADER + "\n" + "\r".join(rows(40)) + "\r\n" + "\n".join(rows(40)),
    HEADER,
    "",
    "a\n1\n",
]


@pytest.mark.parametrize("text", ODD)
def test_rows_that_are_not_plain_are_read_by_the_rules_of_csv(folder, text):
    (folder / "odd.csv").write_bytes(text.encode())
    both(folder, "--input", "odd.csv", "--ignore-extra", "--keep", "note", "--format", "csv")


@pytest.mark.parametrize(
    ("place", "text", "complaint"),
    [
        (2, "65536", "log.csv:2502: column mv: 65536 does not fit Word16"),
        (2, "-1", "column mv: -1 does not fit Word16"),
        (1, "9223372036854775808", "column far: 9223372036854775808 does not fit Int64"),
        (1, "-9223372036854775809", "column far"),
        (1, "-", "column far: '-' is not a Int64"),
        (1, "", "column far: empty"),
        (3, "yes", "column beat: 'yes' is not a Bool"),
        (4, ".", "column temp: '.' is not a Float"),
        (4, "1e", "column temp"),
        (4, "0x10", "column temp: '0x10' is not a Float"),
        (6, "AUTO", "column mode: 'AUTO' is not a member of Mode"),
        (9, "1,2", "log.csv:2502: this row has 11 values, the header has 10 columns"),
        (9, '"1', "column pos.cells.1"),
    ],
)
def test_a_row_that_is_wrong_ends_the_run_after_the_rows_before_it(folder, place, text, complaint):
    lines = (folder / "log.csv").read_text().splitlines()
    values = lines[2501].split(",")
    lines[2501] = ",".join([*values[:place], text, *values[place + 1 :]])
    (folder / "log.csv").write_text("\n".join(lines) + "\n")
    out, err, status = both(folder, "--input", "log.csv", "--ignore-extra", "--format", "csv")
    assert status == 2 and complaint in err and len(out.splitlines()) == 2501


TOKENS = {
    "low": ["0", "-128", "127", "128", "-129", "-0", "+5", " 7", "07", "1_0", "", "x", "5.0", "1e2", "٣"],
    "high": ["0", str(2**64 - 1), str(2**64), "9" * 19, "1" + "0" * 19, "9" * 25, "-1", "0" * 30 + "1", "--1", "1-"],
    "flag": ["true", "false", "True", "FALSE", "1", "0", "yes", "tru", "true ", "2", ""],
    "single": ["0.1", "-0.0", "1e39", "-3.5e38", "3.5e38", "nan", "inf", ".5", "5.", ".", "1e", "1e-50"],
    "double": [
        "0.1",
        "123456789.123456789",
        "9007199254740993",
        "1e-400",
        "1.7976931348623159e308",
        "4.9e-324",
        "1e23",
    ],
    "mode": ["ON", "OFF", "Mode.ON", " ON", "on", "3", "", "O"],
}
TOKENS["double"] += [
    "-" + "9" * 16,
    "0." + "3" * 40,
    "1E+5",
    "1e+",
    "0x1p3",
    "1_0.5",
    "2.2250738585072011e-308",
    "infinity",
]
READ = """\
from streamcheck import *
import enum
class Mode(enum.Enum):
    OFF = 3
    ON = 7
spec = Spec("all")
types = {"low": Int8, "high": Word64, "flag": Bool, "single": Float, "double": Double, "mode": EnumOf(Mode)}
for name, type in types.items():
    spec.observer("o_" + name, extern(name, type))
"""


def random_log(rng):
    """A log in which about one value in a hundred is odd, with every kind of end of a line."""
    lines = [",".join(["note", *TOKENS])]
    for _ in range(rng.randint(0, 40)):
        values = [rng.choice(["", "a b", '"q,""x"', "é"] if rng.random() < 0.1 else ["plain"])]
        values += [rng.choice(tokens if rng.random() < 0.05 else tokens[:2]) for tokens in TOKENS.values()]
        lines.append(",".join(values[: None if rng.random() < 0.995 else 3]))
        if rng.random() < 0.05:
            lines.append("")
    return "".join(line + rng.choice(["\n"] * 9 + ["\r\n", "\r"]) for line in lines[:-1]) + lines[-1]


def test_the_reader_of_rows_is_that_of_the_interpreter(tmp_path):
    (tmp_path / "all.py").write_text(READ)
    planned = plan(read_specs(Target.parse(str(tmp_path / "all.py")))[0])
    columns = DataColumns(planned.inputs, [*TOKENS], keep=("note",))
    machine, rng, plain, odd = NativeMonitor(planned), random.Random(0), 0, 0
    for _ in range(400):
        text = random_log(rng)
        size = rng.randint(1, 300)
        data = text.encode()
        blocks = iter([*(data[i : i + size] for i in range(0, len(data), size))])
        log = LogText(lambda blocks=blocks: next(blocks, b""))
        native_rows, native_error = [], None
        batches = CsvBatches(log, read_form(log, "log", columns), live=False)
        while True:
            most = rng.randint(1, 9)
            batch = batches.batch(machine, most, again=bool(rng.randint(0, 1)))
            parts = [*machine.read_inputs(batch.count), *batch.kept]
            native_rows += zip(*parts, strict=True)
            native_error = native_error or batch.failed
            if batch.failed is not None or not batch.count:
                break
        wanted, error = [], None
        try:
            wanted.extend(read_rows(io.StringIO(text, newline=""), "log", columns, "csv").rows)
        except SpecError as why:
            error = why
        assert list(map(repr, native_rows)) == list(map(repr, wanted)), text
        assert str(native_error) == str(error), text
        plain, odd = plain + len(wanted), odd + (error is not None)
    assert plain > 1500 and 100 < odd < 390


def test_what_is_not_utf8(folder):
    text = (folder / "log.csv").read_bytes()
    (folder / "log.csv").write_bytes(text.replace(b"\n10:2000,", b"\n10:\xff,"))
    out, err, status = run(folder, "--input", "log.csv", "--ignore-extra", "--format", "csv", "--native")
    assert status == 2 and "log.csv: not UTF-8 text" in err and len(out.splitlines()) == 2001


def test_a_live_log_is_shown_row_by_row(folder):
    with subprocess.Popen(
        [COMMAND, "run", "mon.py", "--input", "-", "--native", "--ignore-extra", "--format", "csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
    ) as process:
        for i, line in enumerate([HEADER, *rows(20)]):
            process.stdin.write(line[:5])
            process.stdin.flush()
            process.stdin.write(line[5:] + "\n")
            process.stdin.flush()
            if i:
                shown = process.stdout.readline()
                assert shown.startswith(f"{i - 1},") or (i == 1 and process.stdout.readline().startswith("0,"))
        process.stdin.close()
        assert process.stdout.read() == "" and process.wait() == 0


def test_a_spec_without_c_is_refused(folder):
    (folder / "mon.py").write_text(
        'from streamcheck import *\nx = extern("x", Int, samples=[1])\ns = Spec("s")\ns.observer("y", x)\n'
    )
    out, err, status = run(folder, "--native")
    assert (out, status) == ("", 2) and "`x` is Int, which has no size in C" in err
    assert "without --native" in err and "no trigger" not in err


def test_a_claim_without_c_is_named(folder):
    (folder / "mon.py").write_text(
        'from streamcheck import *\nx = extern("x", Word8, samples=[1])\ns = Spec("s")\ns.observer("y", x)\n'
        's.prop("fine", x < 9)\ns.prop("wide", cast(Int, x) * 3 < 500)\ns.assume("low", cast(Int, x) + 1 < 200)\n'
    )
    out, err, status = run(folder, "--native")
    assert (out, status) == ("", 2) and "property wide needs it, no trigger or observer does" in err
    assert "assumption low needs it" in err and "property fine" not in err


# Chunks


def chunks_of(ran):
    """The columns of a run, whatever its chunks are."""
    shown = []
    for c in ran:
        masked = [
            [[v if f else None for v, f in zip(a, fired, strict=True)] for a in args]
            for fired, args in zip(c.fired, c.args, strict=True)
        ]
        columns = [
            c.steps,
            *c.fired,
            *(a for args in masked for a in args),
            *c.observers,
            *c.properties,
            *c.assumptions,
        ]
        shown += zip(*map(list, columns), strict=True)
    return list(map(repr, shown))


def compare(specification, given, monkeypatch=None):
    planned = plan(specification)
    wanted = chunks_of(interpret(planned, iter(given), live=False))
    assert chunks_of(run_natively(planned, RowBatches(iter(given), live=False), None)) == wanted
    assert len(wanted) == len(given)


@pytest.mark.parametrize("seed", range(25))
def test_random_specs_run_alike(seed, monkeypatch):
    monkeypatch.setattr(native, "MOST", 16)  # a check after every few steps, from the state of the C
    specification = random_equations(seed)
    planned = plan(specification)
    position = {i.var: at for at, i in enumerate(i for i in specification.inputs if i.extern)}
    given = [tuple(row[position[v]] for v in planned.inputs) for row in random_rows(seed, specification, 300)]
    monkeypatch.setattr(native, "CHECKED_FIRST", 10)
    compare(specification, given)


def delays():
    """Rings, a window, batches of cells, a long list of equal streams."""
    x = stream(Int32, lambda _: [*range(40)] + +extern("x", Int32))
    y = extern("y", Int32)
    spec = Spec("delays")
    spec.observer("greatest", statistics.max(20, stream(Int32, lambda _: [0] * 20 + +y)))
    spec.observer("sum", statistics.sum(30, x))
    spec.observer("late", x)
    spec.prop("small", statistics.min(17, x) < 900)
    ages = [stream(Word8, lambda n, i=i: [0] + +mux(y == i, 0, mux(n < 200, n + 1, n))) for i in range(12)]
    for i, age in enumerate(ages):
        spec.trigger(f"old{i}", age > 20 + i, {"age": age})
    return flatten(spec)


def test_the_state_of_delays_and_windows_is_read(monkeypatch):
    monkeypatch.setattr(native, "MOST", 16)
    monkeypatch.setattr(native, "CHECKED_FIRST", 7)
    rng = random.Random(0)
    code = native_code(plan(delays()))
    assert not all(code.exact) and max(c.length for group in code.state for c in group) >= 30
    compare(delays(), [(rng.randint(0, 1000 if i % 100 < 50 else 20), rng.randint(0, 99)) for i in range(1500)])


def counter():
    x = extern("x", Word16)
    total = stream(Word16, lambda n: [7] + +(n + x))
    spec = Spec("counter")
    spec.trigger("big", total > 60000, {"x": x})
    spec.observer("total", total)
    spec.prop("odd", total != 12345)
    return flatten(spec)


FAULTS = [  # C that is replaced, and in which steps the difference is found first
    (
        "(uint16_t)(state->trigger_0_state + x)",
        "(uint16_t)(state->trigger_0_state | x)",
        "0 to ",
    ),
    ("60000u", "60001u", ""),
    ("sc_arg0[sc_now] = ", "sc_arg0[sc_now] = 1 + ", ""),
    ("sc_shown0[sc_now] = ", "sc_shown0[sc_now] = (state.trigger_0_state > 50000) + ", ""),
    ("state->trigger_0_state = 7u", "state->trigger_0_state = 8u", "0 to "),
    ("sc_kept0[i] = ", "sc_kept0[i] = 1 + ", "0 to "),
    ("12345u", "12346u", ""),
]


@pytest.mark.parametrize(("old", "new", "steps"), FAULTS)
def test_a_difference_ends_the_run(old, new, steps, monkeypatch):
    made = machine_module.native_code

    def faulty(planned):
        code = made(planned)
        files = {name: text.replace(old, new) for name, text in code.files.items()}
        assert files != code.files, code.files["monitor.c"] + code.files["run.c"]
        return replace(code, files=files)

    monkeypatch.setattr(machine_module, "native_code", faulty)
    monkeypatch.setattr(native, "MOST", 64)
    given = [(1,)] * 200_000
    planned, shown = plan(counter()), 0
    wanted = chunks_of(interpret(planned, iter(given), live=False))
    with pytest.raises(CompiledCodeDiffers) as caught:
        for chunk in run_natively(planned, RowBatches(iter(given), live=False), None):
            if chunk.steps[0] == 0:
                assert chunks_of([chunk]) == wanted[: len(chunk.steps)]  # checked steps are shown if they are right
            shown += len(chunk.steps)
    assert steps in str(caught.value) and shown < len(given)
    assert shown == 0 or not steps


def test_a_wrong_reader_of_rows_is_found(folder, monkeypatch):
    text = (Path(native.__file__).parent / "sources" / "rows.c").read_text()
    assert "value * 10u + digit" in text
    monkeypatch.setattr(Path, "read_text", lambda self, **_: text.replace("value * 10u + digit", "value * 8u + digit"))
    planned = plan(counter())
    log = LogText(iter([b"x\n12\n", b"34\n", b""]).__next__)
    form = read_form(log, "log.csv", DataColumns(planned.inputs, ["x"]))
    with pytest.raises(CompiledCodeDiffers, match="an input as read"):
        list(run_natively(planned, CsvBatches(log, form, live=False), None))


def test_no_compiler_is_a_message(monkeypatch):
    monkeypatch.setattr(machine_module, "compiler", lambda: None)
    with pytest.raises(SpecError, match="--native needs a C compiler"):
        list(run_natively(plan(counter()), RowBatches(iter([]), live=False), None))


def test_memory_stays_flat(folder):
    """Four times the log takes no more memory."""
    script = (
        "import resource, sys, os\nfrom streamcheck.cli import cli\n"
        "sys.stdout = open(os.devnull, 'w')\n"
        "cli.main(sys.argv[1:], standalone_mode=False)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)\n"
    )
    used = []
    lines = list(rows(20_000))
    for times in (2, 8):
        with open(folder / "long.csv", "w") as out:
            out.write(HEADER + "\n")
            for _ in range(times):
                out.writelines(line + "\n" for line in lines)
        options = ["run", "mon.py", "--native", "--input", "long.csv", "--ignore-extra", "--violations"]
        done = subprocess.run([sys.executable, "-c", script, *options], capture_output=True, text=True, cwd=folder)
        used.append(int(done.stderr.splitlines()[-1]))
    assert used[1] < 1.1 * used[0], used


LIBRARY = """\
from streamcheck import *
x = extern("x", Word8, samples=lambda i: i * 7 % 251)
y = extern("y", Int32, samples=lambda i: i * i - 50)
clk = stream(Word32, lambda t: [0] ++ (t + 3))
spec = Spec("lib")
spec.observer("sum", checked.add(x, x))
spec.observer("mean", statistics.mean(5, [0] * 5 ++ y))
spec.observer("var", statistics.variance(5, [0.0] * 5 ++ cast(Double, y)))
spec.observer("seen", mtl.eventually_prev(2, 50, clk, 3, x > 200))
spec.observer("sat", saturating.add(x, x))
spec.observer("cast", checked.cast(Word8, y))
spec.observer("q", y // cast(Int32, x))
spec.prop("wide", cast(Int64, x) + cast(Int64, y) < 500)
"""


def test_the_library_and_the_notes_on_implied_properties(folder):
    (folder / "mon.py").write_text(LIBRARY)
    out, err, status = both(folder, "--steps", 3000, "--format", "csv")
    assert status == 0 and len(out.splitlines()) == 3001
    assert "note: property mon.py:11 cast in range was false at 2990 steps" in err.splitlines()
    assert "note: property mon.py:12 no division by zero was false at 12 steps" in err.splitlines()
