"""`streamcheck compile`: what it refuses, what it writes, what the header says; Int narrowed by proof."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from c_harness import build, compare, have, write
from random_specs import random_equations

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.core.types import INT
from streamcheck.deliver import last_bits
from streamcheck.deliver.last_bits import EXACT, measure_last_bits
from streamcheck.deliver.narrow import narrow as narrow_to_machine_types
from streamcheck.deliver.narrow import smallest
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load
from streamcheck.run.prove import Settings
from streamcheck.validate.discharge import Prover

COMMAND = str(Path(sys.executable).parent / "streamcheck")


def streamcheck(*args, cwd):
    return subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, cwd=cwd, timeout=100)


COUNTER = """\
from streamcheck import *
up = extern("up", Bool, doc="count on", unit="")
n = stream(Word8, lambda n: [0] ++ mux(up & (n < 9), n + 1, 0))
spec = Spec("counter")
spec.trigger("full", n == 9, {"count": n})
spec.assume("sometimes", up | (n < 9))
spec.prop("small", n <= 9)
"""


@pytest.fixture
def counter(tmp_path):
    (tmp_path / "counter.py").write_text(COUNTER)
    return tmp_path


def test_a_proved_spec_is_written_with_what_was_shown(counter):
    done = streamcheck("compile", "counter.py", "-o", "out/c", "--with", "example", cwd=counter)
    assert done.returncode == 0, done.stderr
    assert {p.name for p in (counter / "out" / "c").iterdir()} == {"counter.c", "counter.h", "main.c"}
    assert re.search(r"the C is proved equal to the spec: \d+ claims, \d+\.\d\d s", done.stdout)
    assert re.search(
        r"state: 1 byte; .*\n  stack of a step: at most \d+ .*\n  a step: at most \d+ operations", done.stdout
    )
    header = (counter / "out" / "c" / "counter.h").read_text()
    assert "proved for all inputs and all time: small" in header and "state: 1 byte" in header
    assert "read back and proved equal to the spec" in header
    assert 'assumed at every step: sometimes counter.py:6 spec.assume("sometimes"' in header
    assert "bool up; /**< count on */" in header and "void full(uint8_t count);" in header


KINDS = """\
from streamcheck import *
a, b, x = extern("a", Int32), extern("b", Int32), extern("x", Float)
cells = extern("cells", Array(Word8, 3))
spec = Spec("kinds")
spec.trigger("t", (a * b + a // b > 3) & (sqrt(x) * x < 2.0), cells.set(a, 3))
"""


def test_operations_are_counted_by_kind(tmp_path):
    (tmp_path / "kinds.py").write_text(KINDS)
    done = streamcheck("compile", "kinds.py", "-o", "out", "--unproven", "--json", cwd=tmp_path)
    figures = json.loads(done.stdout)["figures"]
    kinds = {"simple": 3, "by multiplication": 1, "by division": 1, "on floats": 2, "by math.h": 1}
    assert figures["operations_by_kind"] == kinds | {"on arrays and structs": 1}
    assert figures["operations"] == sum(figures["operations_by_kind"].values()) and figures["loop_rounds"] == 0
    line = "the operations: 3 simple, 1 by multiplication, 1 by division, 2 on floats, 1 by math.h, "
    assert line + "1 on arrays and structs" in (tmp_path / "out" / "kinds.h").read_text()


RANGES = """\
from streamcheck import *
level = extern("level", Word8, doc="of the tank", unit="cm")
rate = extern("rate", Float)
count = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, 0))
spec = Spec("tank")
spec.trigger("high", level > 90, {"level": level, "count": count, "rate": rate})
spec.trigger("never", level > 200)
spec.observer("count", count)
spec.assume("full", (level <= 120) & (rate > -1.5) & (rate < 1.5))
spec.prop("small", count < 10)
"""


@pytest.mark.parametrize("options", [(), ("--handlers", "table", "--prefix", "fsw_")], ids=str)
def test_the_header_is_documentation_with_units_and_ranges(tmp_path, options):
    (tmp_path / "tank.py").write_text(RANGES)
    done = streamcheck("compile", "tank.py", "-o", "out", "--observers", *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "out").glob("*.h")
    header = path.read_text()
    assert header.startswith("/** @file\n * ")
    assert "uint8_t level; /**< of the tank, in cm, at most 120 (assumed) */" in header
    assert "float rate; /**< above -1.5, below 1.5 (assumed) */" in header
    assert '/**< tank.py:8 spec.observer("count", count), below 10 (proved) */' in header
    assert " * @param level in cm, at most 120 (assumed)\n" in header
    assert " * @param count below 10 (proved)\n" in header
    assert set(re.findall(r"/\* .*", header)) <= {"/* defined by the user; they must not call the step function */"}


FLOATS = """\
from streamcheck import *
x = extern("x", Float)
spec = Spec("floats")
spec.trigger("high", sin(x) * x + 1.0 > 3.0, x)
spec.observer("wide", exp(cast(Double, x)))
spec.prop("always", (x > 1.0) | ~(x > 1.0))
spec.exists("some", x > 4.0)
"""


def test_the_header_says_what_is_trusted_and_what_is_only_possible(tmp_path):
    (tmp_path / "floats.py").write_text(FLOATS)
    done = streamcheck("compile", "floats.py", "-o", "out", "--observers", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "out" / "floats.h").read_text()
    assert "trusted, not proved: exp, sinf of math.h" in header and "compile with -ffp-contract=off" in header
    assert "proved for all inputs and all time: always\n" in header
    assert "shown to be possible, in at least one run: some\n" in header
    refused = streamcheck("compile", "floats.py", "-o", "strict", "--strict-math", cwd=tmp_path)
    assert refused.returncode == 2 and "sinf of math.h, whose last bit no standard promises" in refused.stderr
    assert "floats.py:3" in refused.stderr and not (tmp_path / "strict").exists()
    (tmp_path / "floats.py").write_text(FLOATS.replace("sin(x)", "sqrt(x)"))
    assert streamcheck("compile", "floats.py", "-o", "strict", "--strict-math", cwd=tmp_path).returncode == 0


def test_the_last_bits_of_math_h_are_measured_on_request(tmp_path):
    (tmp_path / "floats.py").write_text(FLOATS)
    done = streamcheck("compile", "floats.py", "-o", "out", "--observers", "--measure-math", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    header = (tmp_path / "out" / "floats.h").read_text()
    for text in (header, done.stdout):
        assert re.search(r"measured with .* on .*: exp: \d\.\d\d % of 10000 inputs not rounded correctly", text)
        assert re.search(r"measured with .* on .*: sinf: .* not as in runs of the spec", text)
    done = streamcheck("compile", "floats.py", "-o", "out", "--observers", "--measure-math", "--json", cwd=tmp_path)
    assert [f["function"] for f in json.loads(done.stdout)["math"]["functions"]] == ["exp", "sinf"]
    (tmp_path / "floats.py").write_text(FLOATS.replace("sin(x)", "sqrt(x)"))
    done = streamcheck("compile", "floats.py", "-o", "out", "--measure-math", cwd=tmp_path)
    assert "nothing to measure" in done.stdout


@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_exact_values_of_math_h_are_those_of_a_library_to_the_last_bit_or_two(name):
    for function in (name, name + "f"):
        (measured,) = measure_last_bits([function], inputs=300)
        assert measured.worst <= 2 and measured.rounded_wrongly < 150 and measured.inputs == 300
    assert measure_last_bits([name], inputs=300)[0].unlike_runs == 0  # Python calls the same function


def test_a_function_that_rounds_wrongly_is_counted(monkeypatch):
    monkeypatch.setattr(last_bits, "_library_function", lambda name, is_float, operands: lambda x: math.exp(x) * 1.5)
    (measured,) = measure_last_bits(["exp"], inputs=50)
    assert measured.rounded_wrongly == measured.unlike_runs == 50 and measured.worst > 1 << 50
    one_off = lambda name, is_float, operands: lambda x: math.nextafter(math.exp(x), math.inf)
    monkeypatch.setattr(last_bits, "_library_function", one_off)
    (measured,) = measure_last_bits(["exp"], inputs=50)
    assert (measured.rounded_wrongly, measured.worst) == (50, 1) and "100.00 % of 50 inputs" in measured.line()


@pytest.mark.skipif(not have("cc"), reason="no C compiler on this machine")
def test_the_files_are_compiled_once(counter):
    done = streamcheck("compile", "counter.py", "-o", "out", "--with", "example", cwd=counter)
    assert "compiled with no warnings: cc -std=c99" in done.stdout
    row = json.loads(streamcheck("compile", "counter.py", "-o", "out", "--json", cwd=counter).stdout)
    assert row["compilation"]["messages"] == [] and "-ffp-contract=off" in row["compilation"]["command"]


@pytest.mark.skipif(not have("cc"), reason="no C compiler on this machine")
def test_c_that_a_compiler_refuses_is_not_written(counter, monkeypatch):
    from streamcheck.deliver import deliver

    real = deliver.generate

    def broken(equations, options, proved=()):
        unit = real(equations, options, proved)
        return replace(unit, figures=replace(unit.figures, state=unit.figures.state - 1))

    monkeypatch.setattr(deliver, "generate", broken)
    (spec,) = load(str(counter / "counter.py"))
    result = spec.compile(str(counter / "out"))
    assert not result.ready and not result.compilation.is_accepted and "sizes.c" in result.compilation.messages[0]
    assert not (counter / "out").exists()


@pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
@pytest.mark.parametrize("observers", [False, True])
def test_the_bytes_of_state_are_sizeof(tmp_path, observers):
    for seed in range(12):
        unit = generate(random_equations(seed), CodeOptions(observers=observers))
        write(tmp_path / "c", unit.code)
        name = unit.code.base
        program = f'#include "{name}.h"\nchar size[sizeof({name}_state) == {unit.figures.state}u ? 1 : -1];\n'
        (tmp_path / "c" / "size.c").write_text(program)
        subprocess.run(["gcc", "-c", "size.c"], cwd=tmp_path / "c", check=True)


def test_the_same_spec_gives_the_same_files(counter):
    for folder in ("a", "b"):
        assert streamcheck("compile", "counter.py", "-o", folder, cwd=counter).returncode == 0
    for name in ("counter.c", "counter.h"):
        assert (counter / "a" / name).read_text() == (counter / "b" / name).read_text()


@pytest.mark.parametrize(("claim", "seconds", "status", "word"), [
    ("n <= 8", 60, 1, "falsified"),
    ("n <= 9", 0, 3, "unknown"),
])  # fmt: skip
def test_an_unproved_spec_is_refused_unless_told_otherwise(counter, claim, seconds, status, word):
    (counter / "bad.py").write_text(COUNTER + f'spec.prop("bad", {claim})\n')
    limit = ["--timeout", seconds]
    refused = streamcheck("compile", "bad.py", "-o", "out", *limit, cwd=counter)
    assert refused.returncode == status and "not compiled" in refused.stdout
    assert not (counter / "out").exists()
    told = streamcheck("compile", "bad.py", "-o", "out", "--unproven", *limit, cwd=counter)
    assert told.returncode == 0, told.stderr
    assert re.search(rf"NOT PROVED: bad \({word}", (counter / "out" / "counter.h").read_text())


def test_what_was_not_validated_says_so(counter):
    done = streamcheck("compile", "counter.py", "-o", "out", "--no-validate", cwd=counter)
    assert done.returncode == 0 and "NOT proved equal" in done.stdout
    header = (counter / "out" / "counter.h").read_text()
    assert "NOT PROVED EQUAL TO THE SPEC" in header and "read back" not in header


def test_json(counter):
    done = streamcheck("compile", "counter.py", "-o", "out", "--json", cwd=counter)
    row = json.loads(done.stdout)
    assert row["spec"] == "counter" and row["properties"][0]["verdict"] == "proved"
    assert row["files"] == ["out/counter.h", "out/counter.c"]
    assert row["validation"]["proved"] and row["validation"]["claims"] > 3
    assert row["figures"]["state_bytes"] == 1 and row["figures"]["operations"] > 3


def test_c_that_is_not_the_spec_is_not_written(counter, monkeypatch):
    """The wrong C of a broken printer, and a proof that does not come."""
    from streamcheck.deliver import deliver

    (spec,) = load(str(counter / "counter.py"))
    real = deliver.generate

    def broken(equations, options, proved=()):
        unit = real(equations, options, proved)
        unit.code.files["counter.c"] = unit.code.files["counter.c"].replace("< 9u", "< 8u")
        return unit

    monkeypatch.setattr(deliver, "generate", broken)
    result = spec.compile(str(counter / "out"))
    assert not result.ready and "next value of n" in result.outcome.failures
    assert not (counter / "out").exists()


def test_of_the_c_that_was_proved_only_a_comment_changes(counter, monkeypatch):
    from streamcheck.deliver import deliver

    units = []
    real = deliver.generate
    monkeypatch.setattr(deliver, "generate", lambda *given: units.append(real(*given)) or units[-1])
    (spec,) = load(str(counter / "counter.py"))
    result = spec.compile(str(counter / "out"))
    assert len(units) == 2  # before the proofs, and after them with the ranges that they give
    assert units[0].code.files["counter.c"] == units[1].code.files["counter.c"]
    unit = units[1]
    assert result.ready and result.unit.code.files["counter.c"] == unit.code.files["counter.c"]
    header, bare = (u.code.files["counter.h"].splitlines() for u in (result.unit, unit))
    remarks = [line for line in header if line not in bare]
    assert all(line.startswith(" *") for line in remarks) and f" * {deliver.VALIDATED}" in remarks
    assert [line for line in header if line in bare and line != " *"] == [line for line in bare if line != " *"]


def test_from_python(counter):
    (spec,) = load(str(counter / "counter.py"))
    result = spec.compile(str(counter / "out"), abi="copilot", observers=True)
    assert result.ready and result.outcome.is_proved
    assert {p.name for p in (counter / "out").iterdir()} == {"counter.c", "counter.h", "counter_types.h"}
    assert "void step(void);" in (counter / "out" / "counter.h").read_text()


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ('s = Spec("s")\ns.observer("o", Word8(1))', "--observers"),
        ('s = Spec("s")\ns.trigger("a b", True)', "not an identifier in C"),
        ('s = Spec("s")\ns.trigger("t", extern("n", Int) > 3)', "`n` is Int"),
    ],
)
def test_mistakes_are_told_before_anything_is_proved(tmp_path, spec, says):
    (tmp_path / "s.py").write_text("from streamcheck import *\n" + spec + "\n")
    done = streamcheck("compile", "s.py", "-o", "out", cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr and "s.py:" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be(counter):
    (counter / "file").write_text("")
    done = streamcheck("compile", "counter.py", "-o", "file/out", cwd=counter)
    assert done.returncode == 2 and "file/out" in done.stderr


# Narrowing

NARROW = """\
from streamcheck import *
x, up = extern("x", Int), extern("up", Bool)
n = stream(Int, lambda n: [0] ++ mux(up, minimum(n + 1, 1000), maximum(n - 1, -5)))
turns = stream(Int, lambda t: [0] ++ ((t + 3) % 7))
spec = Spec("narrow")
spec.assume("range", (x >= 0) & (x <= 100))
spec.trigger("high", ((x + n) // 2) ** 2 > 20000, [(x + n) // 2, n])
spec.trigger("odd", abs(x - 50) % 7 == turns, [-turns, x * n - turns, quot(n, -3), unsafe_cast(Word8, n)])
spec.prop("bounded", n <= 1000)
"""


@pytest.fixture
def narrow(tmp_path):
    (tmp_path / "narrow.py").write_text(NARROW)
    (spec,) = load(str(tmp_path / "narrow.py"))
    equations = flatten(spec)
    return equations, *narrow_to_machine_types(equations, [], Settings(20, 1))


def test_ranges_are_found_and_used(narrow):
    _, machine, told = narrow
    types = {c.name: str(c.initial.type) for c in machine.cells} | {i.name: str(i.type) for i in machine.inputs}
    assert types == {"n": "Int16", "turns": "Word8", "x": "Word8", "up": "Bool"}
    assert any("-5 … 1000: n" in line for line in told) and any("0 … 6: turns" in line for line in told)
    assert not any(node.type is INT for node in machine.roots())


@pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
def test_narrowed_c_says_what_the_unbounded_spec_says(narrow, tmp_path):
    import random

    equations, machine, _ = narrow
    code = generate(machine, CodeOptions()).code
    write(tmp_path / "c", code)
    rng = random.Random(5)
    order = [i.name for i in equations.inputs]
    draw = {"x": lambda: rng.choice((0, 1, 50, 99, 100, rng.randint(0, 100))), "up": lambda: rng.random() < 0.7}
    rows = [tuple(draw[name]() for name in order) for _ in range(4000)]
    program = build(tmp_path / "c", code, "gcc", ("-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all"))
    compare(tmp_path / "c", program, code, rows)
    of_ints = [s.triggers for s in zip_steps(equations, rows)]
    of_machine = [s.triggers for s in zip_steps(machine, rows)]
    assert of_ints == of_machine and sum("high" in t for t in of_ints) > 100 and sum("odd" in t for t in of_ints) > 100


def zip_steps(equations, rows):
    from streamcheck.interpret.python_code import plan, stepper

    planned = plan(equations)
    position = {i.name: at for at, i in enumerate(equations.inputs)}
    return stepper(planned)([tuple(row[position[v.payload]] for v in planned.inputs) for row in rows])


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ('n = stream(Int, lambda n: [0] ++ (n + 1))\ns.trigger("t", n > 3)', "no range of 64 bits was found for `n`"),
        ('x = extern("x", Int)\ns.trigger("t", x > 3)', 'spec.assume("range", (x >= 0)'),
        ('r = extern("r", Real)\ns.trigger("t", r > 3)', "`r` is a Real"),
    ],
)
def test_what_cannot_be_narrowed(tmp_path, body, says):
    (tmp_path / "s.py").write_text(f'from streamcheck import *\ns = Spec("s")\n{body}\n')
    done = streamcheck("compile", "s.py", "-o", "out", "--narrow", cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr and "s.py:3" in done.stderr


def test_the_smallest_type_for_a_range():
    assert [str(smallest(*r)) for r in [(0, 255), (-1, 127), (0, 256), (-129, 0), (0, 2**64 - 1)]] == [
        "Word8", "Int8", "Word16", "Int16", "Word64",
    ]  # fmt: skip
    with pytest.raises(OverflowError):
        smallest(-1, 2**63)


def test_nothing_asked_is_nothing_proved():
    from streamcheck.core.term import TRUE

    prover = Prover(TRUE)
    assert prover.valid([]) == [] and prover.valid([TRUE]) == [True] and prover.asked == 0


def test_wrong_names_are_spec_errors():
    spec = Spec("fine")
    spec.trigger("exit-now", True)
    with pytest.raises(SpecError):
        spec.compile("/nowhere")
