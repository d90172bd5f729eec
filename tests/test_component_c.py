"""The C of components: one struct and one function each, the same answers as the interpreter, and a proof that notices
if a call is not what it should be."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import pytest
from c_harness import build, compare, have, unit_of, write
from random_components import with_components
from random_specs import random_rows

from streamcheck import *
from streamcheck.codegen.rust import rust_crate
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.lang.flatten import flatten
from streamcheck.run.source import Target, read
from streamcheck.validate.bisimulation import validate

OPTIONS = [
    CodeOptions(observers=True),
    CodeOptions(copilot=True),
    CodeOptions(observers=True, pack=True),
    CodeOptions(handlers="table", optimize="speed"),
    CodeOptions(copilot=True, observers=True, prefix="fsw_"),
]
COMMAND = str(Path(sys.executable).parent / "streamcheck")
BUILDS = [("gcc", ("-O0",)), ("gcc", ("-O3",)), ("clang", ("-O2",))]
SANITIZE = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")

needs_gcc = pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 5, 8, 9, 12, 13, 17, 21, 25])
def test_random_components_are_proved(seed):
    assert validate(generate(with_components(seed), OPTIONS[seed % 5]).code).failures == ()


@needs_gcc
@pytest.mark.parametrize("seed", range(5))
def test_random_components_run_as_interpreted(seed, tmp_path):
    equations = with_components(seed)
    unit = generate(equations, OPTIONS[seed]).code
    assert "_step(" in unit.files[f"{unit.base}.c"].replace(f"{unit.base}_step(", "")
    write(tmp_path / "c", unit)
    chosen = [("gcc", SANITIZE), BUILDS[seed % 3] if have("clang") else BUILDS[seed % 2]]
    for compiler, flags in chosen:
        compare(tmp_path / "c", build(tmp_path / "c", unit, compiler, flags), unit, random_rows(seed, equations, 300))


class Both(NamedTuple):
    sum: Word8
    late: Word8


@component
def adder(a: Word8, b: Word8) -> Both:
    return Both(a + b, [1, 2] + +b)


x, y = extern("x", Word8), extern("y", Word8)


def source_of(spec, **options):
    unit = unit_of(spec, **options)
    return unit.files[f"{unit.base}.c"], unit


def adders(count):
    spec, at = Spec("adders"), x
    for _ in range(count):
        made = adder(at, at)
        at = made.sum + made.late + y
    spec.observer("last", at)
    return spec


def test_code_grows_by_calls_and_not_by_bodies():
    (two, _), (nine, unit) = (source_of(adders(n), observers=True) for n in (2, 9))
    assert two.count("(a + b)") == nine.count("(a + b)") == 1
    assert [source.count("adder_step(&state->adder") for source in (two, nine)] == [2, 9]
    assert len(nine.splitlines()) <= len(two.splitlines()) + 7 * 5
    header = unit.files["adders.h"]
    assert header.count("struct adders_adder_state {") == 1 and "struct adders_adder_state adder_9;" in header
    assert "adder_step(&state->adder_9, " in nine and validate(unit).is_proved


def planted(source, wrong, right):
    assert source.count(right) == 1, right
    return source.replace(right, wrong)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("adder_step(&state->adder_2, ", "adder_step(&state->adder, "),
        ("&adder_out);\n", "&adder_out);\n    adder_step(&state->adder, x, y, &adder_out);\n"),
        ("adder_2_out.sum + adder_2_out.late", "adder_2_out.sum + adder_out.late"),
        ("out->sum = sum;", "out->sum = a;"),
        ("adder_init(&state->adder_2);", "adder_init(&state->adder);"),
        ("state->late_1 = b;", "state->late_1 = sum;"),
        ("out->late = state->late;", "out->late = state->late_1;"),
    ],
)  # fmt: skip
def test_a_wrong_call_is_refused(right, wrong):
    spec = adders(2)
    spec.name = "wrong"
    source, unit = source_of(spec, observers=True)
    assert validate(unit).is_proved
    files = {**unit.files, "wrong.c": planted(source, wrong, right)}
    assert not validate(replace(unit, files=files)).is_proved


def test_the_order_of_calls_is_that_of_their_needs():
    source, unit = source_of(adders(2), observers=True)
    lines = source.splitlines()
    first, second = (next(line for line in lines if f"step(&state->{n}, " in line) for n in ("adder", "adder_2"))
    swapped = source.replace(first, "later").replace(second, first).replace("later", second)
    assert not validate(replace(unit, files={**unit.files, "adders.c": swapped})).is_proved


@component
def cross(p: Word8, q: Word8) -> Both:
    return Both(adder(p, 1).late, adder(q, 2).late + q)


def test_an_instance_that_needs_its_own_output_stands_in_place():
    @stream(Word8)
    def back():
        return made.sum

    made = cross(x, back)
    spec = Spec("cross_over")
    spec.observer("late", made.late)
    spec.observer("restarted", reset(y == 0, lambda: adder(x, y).late))
    spec.observer("plain", cross(y, x).late)
    source, unit = source_of(spec, observers=True)
    assert "cross_step(&state->cross_2, " in source and "cross_step(&state->cross, " not in source
    assert "adder_step(&state->cross_adder, " in source
    assert re.search(r"instances in place, .*: cross, adder$", unit.files["cross_over.h"], re.M)
    assert validate(unit).is_proved


def test_instances_that_feed_themselves_a_step_later_are_calls():
    @stream(Word8)
    def turn():
        return [3] + +made.sum

    made = adder(turn, x)
    spec = Spec("ring")
    spec.observer("turn", turn + made.late)
    source, unit = source_of(spec, observers=True)
    assert "adder_step(&state->adder, state->turn, x, &adder_out);" in source
    assert validate(unit).is_proved


def test_equal_calls_are_one():
    spec = Spec("twins")
    spec.observer("sum", adder(x, y).late + adder(x, y).late)
    source, unit = source_of(spec, observers=True)
    assert source.count("&state->adder") == 2  # NAME_init and one call
    assert validate(unit).is_proved


class Mode(Enum):
    OFF = 1
    ON = 2


@struct
class Point:
    x: Float
    cells: Array(Word16, 3)


class Moved(NamedTuple):
    point: Point
    path: Array(Word16, 3)
    mode: EnumOf(Mode)


@component
def double(state: Point, out: Array(Word16, 3), long: EnumOf(Mode)) -> Moved:
    """Names that C has another meaning for, values of all kinds, and a delay that is a ring."""
    last = stream(Point, lambda p: [(0.5, (1, 2, 3))] + +p.set(x=p.x + state.x))
    kept = [Mode.ON] * 20 + +long
    return Moved(last.set(cells=out.set(1, last.cells[0])), state.cells, kept)


def test_values_of_all_kinds_and_names_with_meanings(tmp_path):
    at, path, mode = extern("at", Point), extern("path", Array(Word16, 3)), extern("mode", EnumOf(Mode))
    one = double(at, path, mode)
    two = double(one.point, one.path, one.mode)
    spec = Spec("int_")
    spec.trigger("moved", two.mode == Mode.OFF, {"path": two.path, "point": two.point})
    equations = flatten(spec)
    for options in OPTIONS:
        unit = generate(equations, options).code
        assert validate(unit).failures == ()
        write(tmp_path / unit.base, unit)
        if have("gcc"):
            program = build(tmp_path / unit.base, unit, "gcc", SANITIZE)
            compare(tmp_path / unit.base, program, unit, random_rows(1, equations, 100))


def test_lustre_nodes_with_contracts_are_functions(tmp_path):
    (tmp_path / "count.lus").write_text(
        """
        node count(up: bool) returns (n: int8);
        (*@contract guarantee "any" n <= (int8 127); *)
        let n = (if up then (int8 1) else (int8 0)) + ((int8 0) -> pre n); tel
        node top(a, b: bool) returns (n: int8; ok: bool);
        let n = count(a) + count(b); ok = (condact(a, count(b), (int8 0))) >= n; tel
        """
    )
    (equations,) = read(Target.parse(str(tmp_path / "count.lus")))
    unit = generate(equations, CodeOptions(observers=True)).code
    source = unit.files["top.c"]
    assert len(re.findall(r"= count_step\(&state->count_\w+, [ab]\);", source)) == 2
    assert validate(unit).is_proved


def test_the_trace_has_the_names_of_instances(tmp_path):
    file = tmp_path / "drive.py"
    file.write_text(
        "from streamcheck import *\n"
        "@component\n"
        "def slow(wish: Word8) -> Word8:\n"
        "    last = stream(Word8, lambda n: [0] ++ minimum(wish, n + 1))\n"
        "    return last\n"
        'a = slow(extern("a", Word8))\n'
        'spec = Spec("drive")\n'
        'spec.trigger("go", slow(a) > 3)\n'
        'spec.prop("small", a <= 255)\n'
    )
    out = tmp_path / "out"
    subprocess.run([COMMAND, "compile", str(file), "-o", str(out), "--with", "trace"], check=True)
    trace = json.loads((out / "drive.trace.json").read_text())
    streams = {row["text"]: set(row["streams"]) for row in trace["statements"]}
    stored = next(found for text, found in streams.items() if text.startswith("state->last = "))
    assert stored == {"slow.last", "slow_2.last"}
    assert streams["slow_init(&state->slow_2);"] == {"slow_2.last"}
    assert streams["const uint8_t slow_2_out = slow_step(&state->slow_2, slow_out);"] == {"slow_2.last"}


def test_rust_has_the_same_equations():
    equations = with_components(3)
    crate = rust_crate(generate(equations, CodeOptions(observers=True)).code, "1")
    bare = replace(equations, instances=(), components=())
    assert crate == rust_crate(generate(bare, CodeOptions(observers=True)).code, "1")
