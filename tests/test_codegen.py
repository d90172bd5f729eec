"""The generated C: the same answers as the interpreter, bit by bit, under every compiler that is there; warnings as
errors; sanitizers; the shapes the C is promised to have; names; and the answers Copilot gets wrong."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from c_harness import WARNINGS, build, compare, expected, have, run, unit_of, write
from random_specs import random_equations, random_rows

from streamcheck import *
from streamcheck.codegen.text import comment
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.core.term import term
from streamcheck.core.types import machine
from streamcheck.deliver.templates import wrap
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load
from streamcheck.validate.bisimulation import validate

OPTIONS = [
    CodeOptions(),
    CodeOptions(copilot=True),
    CodeOptions(observers=True),
    CodeOptions(copilot=True, observers=True),
]
SPECS = sorted(Path("specs").rglob("*.py"))
SANITIZE = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
SEEDS = range(24)

needs_gcc = pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
needs_clang = pytest.mark.skipif(not have("clang"), reason="no clang on this machine")


def compilable():
    for path in SPECS:
        for spec in load(str(path)):
            equations = flatten(spec)
            kinds = {i.type.kind for i in equations.inputs} | {c.initial.type.kind for c in equations.cells}
            if (equations.triggers or equations.observers) and not kinds & {"integer", "real"}:
                yield pytest.param(equations, id=f"{path.stem}")


ALL = list(compilable())


def test_most_specs_compile():
    assert len(ALL) >= 12


@needs_gcc
@pytest.mark.parametrize("equations", ALL)
def test_specs_run_as_interpreted(equations, tmp_path):
    rows = random_rows(7, equations, 1000)
    for options in OPTIONS[2 * (not equations.triggers) :][:2]:
        unit = generate(equations, options).code
        folder = tmp_path / f"{options.copilot}{options.observers}"
        write(folder, unit)
        for flags in [("-O0",), ("-O3",), SANITIZE]:
            compare(folder, build(folder, unit, "gcc", flags), unit, rows)


@needs_clang
@pytest.mark.parametrize("equations", ALL)
def test_specs_under_clang(equations, tmp_path):
    unit = generate(equations, CodeOptions(observers=True)).code
    write(tmp_path / "c", unit)
    compare(tmp_path / "c", build(tmp_path / "c", unit, "clang", ("-O2",)), unit, random_rows(8, equations, 300))


@needs_gcc
@pytest.mark.parametrize("seed", SEEDS)
def test_random_equations_run_as_interpreted(seed, tmp_path):
    """A sample; tests/bench/random_c.py does five hundred, with both compilers."""
    equations = random_equations(seed)
    unit = generate(equations, OPTIONS[seed % 4]).code
    write(tmp_path / "c", unit)
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", SANITIZE), unit, random_rows(seed, equations, 1000))


# Answers on which Copilot's interpreter and C differ (../shared/bench/monitors/README.md)

i32, w8, w32, i64 = extern("i", Int32), extern("w", Word8), extern("u", Word32), extern("l", Int64)
cells = extern("cells", Array(Word16, 3))
DISAGREEMENTS = {
    "floor_mod": i32 % 3,
    "floor_div": i32 // 3,
    "wrapped_difference": (w8 - 5) > 100,
    "complement": ~w8 > 100,
    "wrapped_sum": w8 + w8 < 200,
    "wrapped_product": (w8 * 2) // 4 == 36,
    "shifted_out": (w8 << 1) >> 1,
    "shift_by_much": w32 << w8,
    "shift_sign": i32 >> w8,
    "overflow": i32 + 1,
    "abs_of_smallest": abs(i32),
    "shift_of_negative": i32 << 1,
    "index": cells[w8],
    "smallest": i64 == -(2**63),
    "since": ptltl.since(w8 > 5, w8 > 250),
}


@needs_gcc
def test_answers_that_disagree_elsewhere(tmp_path):
    spec = Spec("disagreements")
    for name, stream_ in DISAGREEMENTS.items():
        spec.observer(name, stream_)
    spec.trigger("always", True, Int64(-(2**63)))
    unit = unit_of(spec, observers=True)
    write(tmp_path / "c", unit)
    corners = [-7, 7, -(2**31), 2**31 - 1, -1, 0]
    order = [i.name for i in unit.specification.inputs]
    values = {"i": corners, "w": [1, 0, 200, 255, 32, 31], "u": [0, 1, 2**32 - 1, 5, 9, 2**31]}
    values |= {"l": [-(2**63), 2**63 - 1, 0, -1, 1, 5], "cells": [(1, 2, 3), (65535, 0, 9)] * 3}
    rows = [tuple(values[name][k] for name in order) for k in range(6)]
    for flags in [("-O0",), ("-O3",), SANITIZE]:
        compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", flags), unit, rows)
    seen = dict(line[1:].split() for line in expected(unit.specification, rows, True)[:16] if line[0] == "=")
    assert seen["floor_mod"] == "02000000"  # -7 % 3 is 2
    assert seen["wrapped_difference"] == "01" and seen["complement"] == "01"


def test_metric_operators_with_an_unsigned_clock_do_not_underflow(tmp_path):
    clock = stream(Word8, lambda t: [0] + +(t + 1))
    spec = Spec("early")
    spec.observer("recently", mtl.eventually_prev(2, 5, clock, 1, extern("p", Bool)))
    rows = [(True,)] * 3
    assert [s.observers["recently"] for s in spec.run(3, {"p": [True] * 3})] == [False, False, True]
    if have("gcc"):
        unit = unit_of(spec, observers=True)
        write(tmp_path / "c", unit)
        compare(tmp_path / "c", build(tmp_path / "c", unit), unit, rows)


# The shapes that are promised


def source_of(spec, **options):
    unit = unit_of(spec, **options)
    return unit.files[f"{unit.specification.name}.c"], unit.files[f"{unit.specification.name}.h"]


def nested(depth):
    x = extern("x", Word32)
    for _ in range(depth):
        x = x * x + 1
    spec = Spec("nested")
    spec.trigger("t", True, x)
    return spec


def test_code_is_linear_in_the_shared_graph():
    sizes = [len(source_of(nested(depth), optimize="speed")[0]) for depth in (16, 32, 64)]
    assert sizes[0] < 3_000
    assert sizes[2] - sizes[1] < 2.2 * (sizes[1] - sizes[0])
    assert source_of(nested(16), optimize="speed")[0].count("* t_part_15") == 1
    assert len(source_of(nested(64))[0]) < 1_500  # a loop


@pytest.mark.parametrize(
    ("length", "index"), [(10, "uint8_t"), (256, "uint8_t"), (257, "uint16_t"), (65_537, "uint32_t")]
)
def test_a_long_delay_is_a_ring_with_the_smallest_index(length, index):
    spec = Spec("delayed")
    spec.trigger("t", True, [0] * length + +extern("x", Word16))
    code, header = source_of(spec)
    assert re.search(rf"uint16_t \w+\[{length}\];", header) and re.search(rf"    {index} \w+_at;", header)
    assert "%" not in re.sub(r"/\*.*?\*/", "", code)


def test_one_next_value_may_read_several_rings(tmp_path):
    """A ring is read by its index and its array: two reads of one piece of state."""
    given = [extern(name, Word16) for name in ("left", "right")]
    sums = []
    for x in given:
        oldest = [0] * 16 + +x
        sums.append(stream(Word32, lambda s, x=x, oldest=oldest: [0] + +(s + cast(Word32, x) - cast(Word32, oldest))))
    both = stream(Word16, lambda s: [0] + +(([1] * 9 + +given[0]) ^ ([2] * 9 + +given[1]) ^ s))
    spec = Spec("averages")
    spec.trigger("differ", sums[0] > sums[1] + 64, [*sums, both])
    unit = unit_of(spec)
    assert validate(unit).is_proved
    if have("gcc"):
        write(tmp_path / "c", unit)
        rows = random_rows(3, unit.specification, 300)
        compare(tmp_path / "c", build(tmp_path / "c", unit), unit, rows)


def test_a_next_value_that_waits_for_others_may_read_what_a_call_reads_too(tmp_path):
    """Each of three cells reads the next one, round and round; the call reads one of them, too."""
    x = extern("x", Word16)
    late = stream(Word16, lambda _: [2, 5] + +(product & x))
    product = [1] + +(late * x)
    spec = Spec("waits")
    spec.trigger("s", x > 9, product)
    spec.trigger("t", x > 9, late)
    unit = unit_of(spec)
    assert validate(unit).is_proved
    if have("gcc"):
        write(tmp_path / "c", unit)
        rows = random_rows(3, unit.specification, 100)
        compare(tmp_path / "c", build(tmp_path / "c", unit), unit, rows)


def test_short_delays_are_plain_variables_and_unread_cells_do_not_exist():
    x = extern("x", Word8)
    twice = [1, 2] + +x
    unread = [7] + +(x + 1)
    spec = Spec("plain")
    spec.trigger("t", True, twice)
    spec.observer("unread", unread)
    code, header = source_of(spec)
    state = header[header.index("typedef struct {") : header.index("plain_state;")]
    assert state.count("uint8_t") == 2 and "unread" not in state
    assert "[" not in re.sub(r"/\*.*?\*/", "", code)
    assert "unread" in source_of(spec, observers=True)[1]


def test_no_parentheses_or_casts_that_nobody_needs():
    a, b = extern("a", Word32), extern("b", Word32)
    p, q = extern("p", Bool), extern("q", Bool)
    spec = Spec("brief")
    spec.trigger("sum", (a + b + 1 > 5) & p | ~q, a * b)
    code, _ = source_of(spec)
    assert "if ((a + b + 1u > 5u && p) || !q) {" in code
    assert "sum(a * b);" in code


@pytest.mark.parametrize("optimize", ["size", "speed"])
def test_a_step_has_no_heap_no_recursion_and_loops_of_a_fixed_number_of_rounds(optimize):
    for param in ALL:
        code = generate(param.values[0], CodeOptions(observers=True, optimize=optimize)).code
        text = re.sub(r"/\*.*?\*/", "", code.files[f"{code.specification.name}.c"])
        step = text[text.index(f"void {code.specification.name}_step(") :]
        assert not re.search(r"\b(while|do|goto|malloc|free)\b", step)
        counted = re.findall(r"for \(uint32_t (\w+) = 0u; \1 < \d+u; \1\+\+\)", step)
        assert step.count("for (") == len(counted) and (optimize == "size" or not counted)
        assert step.count(f"{code.specification.name}_step(") == 1


def test_users_names_and_lines_are_there():
    code, header = source_of(load("specs/engine_monitor.py")[0])
    assert "const bool maj = " in code and "/* engine_monitor.py:12 ok = implies(" in code
    assert "uint8_t tmp_probe_1; /**< temperature probe, in °C */" in header


@pytest.mark.parametrize("nasty", ["a */ b", "// c", "??/", "/* d", "back\\"])
def test_comments_cannot_be_left(nasty):
    inner = comment(nasty)[2:-2]
    assert not any(mark in inner for mark in ("*/", "/*", "//", "??", "\\"))


# The interface


@needs_gcc
def test_several_instances_in_one_program(tmp_path):
    n = stream(Word8, lambda n: [0] + +(n + extern("by", Word8)))
    spec = Spec("count")
    spec.trigger("shown", True, {"value": n})
    unit = unit_of(spec)
    (tmp_path / "count.c").write_text(unit.files["count.c"])
    (tmp_path / "count.h").write_text(unit.files["count.h"])
    (tmp_path / "main.c").write_text("""\
#include "count.h"
#include "count.h"
#include <stdio.h>
void shown(uint8_t value) { (void)printf("%d ", value); }
int main(void)
{
    count_state a, b;
    const count_inputs one = {1u}, five = {5u};
    count_init(&a);
    count_init(&b);
    for (int i = 0; i < 3; i++) {
        count_step(&a, &one);
        count_step(&b, &five);
    }
    return 0;
}
""")
    run(["gcc", *WARNINGS, "count.c", "main.c", "-o", "main"], tmp_path)
    assert run([tmp_path / "main"], tmp_path) == "0 0 1 5 2 10 "


@needs_gcc
@pytest.mark.parametrize("copilot", [False, True])
def test_the_example_builds_with_one_line(copilot, tmp_path):
    equations = flatten(load("specs/monitors/mixed.py")[0])
    unit = generate(equations, CodeOptions(copilot, observers=True))
    files = {**unit.code.files, **wrap("example", unit.interface, {})}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    line = re.search(r"Build and run: (cc .*) && ", files["main.c"])[1]
    subprocess.run(line.replace("cc ", "gcc -Wall -Wextra -Werror ", 1).split(), cwd=tmp_path, check=True)
    assert "posfast\n" not in run([tmp_path / "a.out"], tmp_path)


@pytest.mark.skipif(not have("g++"), reason="no g++ on this machine")
def test_headers_serve_cpp(tmp_path):
    unit = generate(flatten(load("specs/monitors/mixed.py")[0]), CodeOptions()).code
    (tmp_path / "mixed.h").write_text(unit.files["mixed.h"])
    (tmp_path / "use.cpp").write_text('#include "mixed.h"\nint main() { mixed_state s; mixed_init(&s); }\n')
    run(["g++", "-c", "-Wall", "-Werror", "use.cpp"], tmp_path)


def named(spec_name="fine", extern_name="x", trigger="t", parameter="a", observer="o", copilot=False):
    x = extern(extern_name, Word8)
    spec = Spec(spec_name)
    spec.trigger(trigger, x > 5, {parameter: x})
    spec.observer(observer, x)
    return generate(flatten(spec), CodeOptions(copilot, observers=True)).code


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"extern_name": "a-b"}, "not an identifier in C"),
        ({"parameter": "a-b"}, "not an identifier in C"),
        ({"observer": "hot air"}, "not an identifier in C"),
        ({"spec_name": "my spec"}, "not an identifier in C"),
        ({"trigger": "x", "copilot": True}, "both be `x`"),
    ],
)
def test_names_that_c_cannot_have(given, says):
    with pytest.raises(SpecError, match=re.escape(says)) as error:
        named(**given)
    assert error.value.where is not None


@needs_gcc
@pytest.mark.parametrize(
    "given",
    [
        {"trigger": "step"},
        {"trigger": "step", "copilot": True},
        {"trigger": "fine_step"},
        {"trigger": "x"},
        {"trigger": "state"},
        {"trigger": "inputs"},
        {"extern_name": "state"},
        {"extern_name": "step", "copilot": True},
        {"parameter": "x"},
        {"observer": "observed"},
    ],
)
def test_names_that_only_look_dangerous(given, tmp_path):
    unit = named(**given)
    write(tmp_path / "c", unit)
    compare(tmp_path / "c", build(tmp_path / "c", unit), unit, [(3,), (9,)])


@needs_gcc
def test_stream_names_that_c_has_taken(tmp_path):
    double = stream(Word8, lambda n: [0] + +(n + 1))
    memcpy = double * 2 + double
    state = memcpy ^ double
    spec = Spec("taken")
    spec.trigger("t", state > 3, [memcpy, state])
    unit = unit_of(spec)
    write(tmp_path / "c", unit)
    compare(tmp_path / "c", build(tmp_path / "c", unit), unit, [()] * 20)


def test_what_has_no_size_in_c_is_named_with_its_line(tmp_path):
    (tmp_path / "sizes.py").write_text("""\
from streamcheck import *
n = stream(Int, lambda n: [0] ++ (n + 1))
spec = Spec("sizes")
spec.trigger("t", n > 5)
""")
    with pytest.raises(SpecError, match="`n` is Int") as error:
        unit_of(load(str(tmp_path / "sizes.py"))[0])
    assert error.value.where.line == 2 and "--narrow" in error.value.write
    loose = Spec("loose")
    loose.trigger("t", unknown(Bool))
    with pytest.raises(SpecError, match="not an input of it"):
        unit_of(loose)


def test_widths_of_other_languages_have_no_type_in_c():
    spec = Spec("narrow")
    spec.observer("low", extern("x", Word8))
    equations = flatten(spec)
    (low,) = equations.observers
    three = replace(low, term=term("cast", low.term, payload=machine(3, signed=False)))
    with pytest.raises(SpecError, match="Word3 has no type in C"):
        generate(replace(equations, observers=(three,)), CodeOptions(observers=True))


def test_an_extern_that_only_properties_read_is_no_input():
    n = extern("n", Int)
    spec = Spec("proofs")
    spec.trigger("t", extern("x", Word8) > 5)
    spec.prop("any", n * n >= 0)
    code, header = source_of(spec)
    assert "uint8_t x;" in header and not re.search(r"\bn\b", code)


@needs_gcc
def test_impossible_enums_are_turned_away(tmp_path):
    import enum

    class Mode(enum.Enum):
        OFF = 0
        ON = 2

    mode = extern("mode", EnumOf(Mode))
    n = stream(Word8, lambda n: [0] + +(n + 1))
    spec = Spec("modes")
    spec.trigger("on", mode == Mode.ON, n)
    unit = unit_of(spec)
    for name, text in unit.files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "main.c").write_text("""\
#include "modes.h"
#include <stdio.h>
void on(uint8_t n) { (void)printf("%d ", n); }
int main(void)
{
    static const int32_t given[5] = {Mode_ON, 1, -5, Mode_ON, Mode_OFF};
    modes_state state;
    modes_init(&state);
    for (int i = 0; i < 5; i++) {
        const modes_inputs inputs = {given[i]};
        (void)printf("%d:", modes_inputs_valid(&inputs));
        modes_step(&state, &inputs);
    }
    return 0;
}
""")
    run(["gcc", *WARNINGS, "modes.c", "main.c", "-o", "main"], tmp_path)
    assert run([tmp_path / "main"], tmp_path) == "1:0 0:0:1:1 1:"


# Other targets, floats, MISRA


FLOATS = "a", "b", "c"


def products():
    a, b, c = (extern(name, Double) for name in FLOATS)
    spec = Spec("products")
    spec.trigger("t", True, a * b + c)
    return spec


@needs_gcc
def test_floats_are_not_contracted(tmp_path):
    unit = unit_of(products())
    write(tmp_path / "c", unit)
    for compiler in [c for c in ("gcc", "clang") if have(c)]:
        for dialect in ("-std=c99", "-std=gnu99"):
            run([compiler, dialect, "-O3", "-mfma", "-S", "products.c", "-o", "products.s"], tmp_path / "c")
            assert "vfmadd" not in (tmp_path / "c" / "products.s").read_text()


@needs_gcc
@pytest.mark.parametrize(
    "flag", "-ffast-math -mfpmath=387 -ffinite-math-only -fno-signed-zeros -freciprocal-math".split()
)
def test_flags_that_change_floats_are_refused(flag, tmp_path):
    unit = unit_of(products())
    write(tmp_path / "c", unit)
    done = subprocess.run(["gcc", "-std=c99", flag, "-c", "products.c"], cwd=tmp_path / "c", capture_output=True)
    assert done.returncode != 0 and b"#error" in done.stderr


def thirty_two_bits():
    if not have("gcc"):
        return False
    program = "#include <string.h>\nint main(void) { return sizeof(void *) != 4; }"
    done = subprocess.run(["gcc", "-m32", "-xc", "-", "-o", "/dev/null"], input=program.encode(), capture_output=True)
    return done.returncode == 0


@pytest.mark.skipif(not thirty_two_bits(), reason="no 32-bit C library on this machine (gcc-multilib)")
@pytest.mark.parametrize("seed", range(100, 106))
def test_a_32_bit_target(seed, tmp_path):
    equations = random_equations(seed)
    unit = generate(equations, CodeOptions()).code
    write(tmp_path / "c", unit)
    program = build(tmp_path / "c", unit, "gcc", ("-m32", "-msse2", "-mfpmath=sse", "-O2"))
    compare(tmp_path / "c", program, unit, random_rows(seed, equations, 300))


DEVIATIONS = {"2.3", "2.4", "5.8", "8.7", "8.9", "10.4", "10.6", "10.8", "12.1", "15.5"}  # docs/c.md says why
LIMITS = ["-DFLT_EVAL_METHOD=0", "-DINT_MAX=2147483647", "-DUINT64_C(x)=x##ULL", "-DINT64_C(x)=x##LL"]
# What cppcheck does not know without the standard headers.
LIMITS += ["-Dbool=_Bool", "-DINT64_MIN=(-9223372036854775807LL-1LL)"]


@pytest.mark.skipif(not have("cppcheck"), reason="no cppcheck on this machine")
def test_misra(tmp_path):
    monitors = [flatten(load(str(path))[0]) for path in sorted(Path("specs/monitors").glob("*.py"))]
    reported = []
    for i, equations in enumerate([*monitors, *map(random_equations, range(6))]):
        for name, text in generate(equations, CodeOptions(copilot=i % 2 == 1)).code.files.items():
            (tmp_path / name).write_text(text)
        command = ["cppcheck", "--std=c99", "--addon=misra", "--enable=style", "--quiet", *LIMITS]
        done = subprocess.run(
            [*command, "--suppress=missingIncludeSystem", f"{equations.name}.c"],
            cwd=tmp_path, capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        reported += [line for line in done.stderr.splitlines() if "misra-c2012" in line]
    if not reported:
        pytest.skip("this cppcheck has no MISRA addon")
    assert not [line for line in reported if re.search(r"2012-([\d.]+)\]", line)[1] not in DEVIATIONS]
