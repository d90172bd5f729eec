"""Loops in the generated C: what becomes one, that it computes what the interpreter does, and that a wrong one is not
proved."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from c_harness import WARNINGS, build, compare, have, run, unit_of, write
from random_loops import random_loops
from random_specs import random_rows
from test_codegen import OPTIONS, SANITIZE

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import constant
from streamcheck.lang.flatten import flatten
from streamcheck.validate.bisimulation import validate
from streamcheck.validate.ring_walk import WORD, index_after, is_moved

SEEDS = range(24)
needs_gcc = pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
needs_clang = pytest.mark.skipif(not have("clang"), reason="no clang on this machine")


@pytest.mark.parametrize("seed", SEEDS)
def test_random_loops_are_proved(seed):
    outcome = validate(generate(random_loops(seed), OPTIONS[seed % 4]).code)
    assert outcome.is_proved, outcome.failures


@needs_gcc
@pytest.mark.parametrize("seed", SEEDS)
def test_random_loops_run_as_interpreted(seed, tmp_path):
    equations = random_loops(seed)
    unit = generate(equations, OPTIONS[seed % 4]).code
    write(tmp_path / "c", unit)
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", SANITIZE), unit, random_rows(seed, equations, 300))


@needs_clang
@pytest.mark.parametrize("seed", SEEDS[::4])
def test_random_loops_under_clang(seed, tmp_path):
    equations = random_loops(seed)
    unit = generate(equations, OPTIONS[seed % 4]).code
    write(tmp_path / "c", unit)
    compare(tmp_path / "c", build(tmp_path / "c", unit, "clang", ("-O2",)), unit, random_rows(seed, equations, 300))


def step_of(code):
    text = re.sub(r"/\*.*?\*/\n?", "", code.files[f"{code.base}.c"])
    return text[text.index("_step(") :]


def loops_of(spec, **options):
    return step_of(unit_of(spec, **options)).count("for (")


def watchdogs(limits):
    silent = Word8(0)
    for i, limit in enumerate(limits):
        beat = extern(f"beat{i}", Bool)
        age = stream(Word8, lambda n, beat=beat: mux(beat, 0, mux(pre(3, n) < 200, pre(3, n) + 1, pre(3, n))))
        silent = silent + mux(age >= limit, Word8(1), 0)
    spec = Spec("watchdogs")
    spec.trigger("dead", silent > 0, {"count": silent})
    return spec


def test_inputs_that_follow_each_other_are_checked_to_have_no_padding():
    """A loop reads them by their distance, which only a check in the file makes right."""
    code = unit_of(watchdogs([100] * 10))
    text = code.files["watchdogs.c"]
    (check,) = re.findall(r"^typedef char \w+\[.*\n", text, re.M)
    assert "beat9) == (offsetof(watchdogs_inputs, beat0) + (9u * sizeof(bool)))" in check
    wrong = ["", check.replace("9u", "8u"), check.replace("beat9", "beat8"), check.replace("== ", ">= ")]
    wrong += [check.replace("sizeof(bool)", "sizeof(uint8_t)"), check.replace("? 1 : -1", "? 1 : 1")]
    assert validate(code).is_proved
    for other in wrong:
        assert other != check
        assert not validate(replace(code, files={**code.files, "watchdogs.c": text.replace(check, other)})).is_proved


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("+ offsetof", "- offsetof"),
        (") + (i * sizeof(bool))", ") - (i * sizeof(bool))"),
        ("(i * sizeof(bool))", "(i + sizeof(bool))"),
        ("(i * sizeof(bool))", "(i * alignof(bool))"),
        ("(i * sizeof(bool))", "(i * sizeof(uint16_t))"),
        ("offsetof(watchdogs_inputs, beat0) + (i", "offsetof(watchdogs_inputs, beat1) + (i"),
        ("(const uint8_t *)inputs", "(const uint16_t *)inputs"),
    ],
)
def test_members_at_another_distance_are_refused(right, wrong):
    code = unit_of(watchdogs([100] * 10))
    text = code.files["watchdogs.c"]
    (read,) = re.findall(r"^.*const bool beat = .*\n", text, re.M)
    assert right in read
    other = text.replace(read, read.replace(right, wrong))
    assert not validate(replace(code, files={**code.files, "watchdogs.c": other})).is_proved


def test_where_an_index_of_a_ring_is_after_some_steps():
    """A rule that no solver is asked for."""
    for length, index in ((n, i) for n in range(1, 6) for i in range(n)):
        at = constant(WORD, index)
        for distance in range(length):
            after = (index + distance) % length
            assert value_of(index_after(at, distance, length), {}) == after
            assert [value_of(is_moved(constant(WORD, i), at, distance, length), {}) for i in range(length + 1)] == [
                i == after for i in range(length + 1)
            ]


def test_watchdogs_are_one_loop_with_their_state_in_one_array():
    code = unit_of(watchdogs([100] * 10))
    assert step_of(code).count("for (") == 1 and "table" not in step_of(code)
    assert re.search(r"uint8_t \w+\[10\];", code.files["watchdogs.h"])


def test_constants_that_differ_are_a_table():
    code = unit_of(watchdogs([10 * i for i in range(1, 9)]))
    assert re.search(r"static const uint8_t table\[8\] SC_TABLE = \{\s*10u, 20u, 30u", code.files["watchdogs.c"])
    assert validate(code).is_proved


@needs_gcc
def test_tables_are_where_the_user_wants_them(tmp_path):
    code = unit_of(watchdogs([10 * i for i in range(1, 9)]))
    write(tmp_path / "c", code)
    where = '-DSC_TABLE=__attribute__((section(".flash")))'
    run(["gcc", *WARNINGS, where, "-c", "watchdogs.c", "-o", "tables.o"], tmp_path / "c")
    assert ".flash" in run(["objdump", "-h", "tables.o"], tmp_path / "c")
    for wrong in ("#define SC_TABLE volatile", "#define SC_TABLE\n#define table beat"):
        text = code.files["watchdogs.c"].replace("#define SC_TABLE", wrong)
        assert not validate(replace(code, files={**code.files, "watchdogs.c": text})).is_proved


def test_speed_needs_no_loops():
    assert loops_of(watchdogs([100] * 10), optimize="speed") == 0


def window(fold):
    spec = Spec("window")
    spec.trigger("shown", True, fold([0] * 20 + +extern("x", Int16)))
    return spec


def test_windows_and_votes_are_loops():
    votes = [extern(f"p{i}", Word32) for i in range(9)]
    most = voting.majority(votes)
    spec = Spec("votes")
    spec.trigger("vote", voting.has_majority(most, votes), most)
    assert loops_of(spec) == 2
    assert loops_of(window(lambda late: statistics.max(10, late))) == 1


def test_few_equal_streams_are_no_loop():
    assert loops_of(watchdogs([100] * 3)) == 0


def test_different_streams_are_no_loop():
    cells = extern("cells", Array(Int16, 5))
    spec = Spec("different")
    spec.trigger("all", (cells[0] > 1) & (cells[1] < 2) & (cells[2] == 3) & (cells[3] + 1 > 4) & (cells[4] != 5))
    assert loops_of(spec) == 0


def test_state_that_a_call_reads_is_changed_after_or_kept():
    ages = [stream(Int16, lambda n, i=i: [i] + +(n + extern("x", Array(Int16, 5))[i])) for i in range(5)]
    spec = Spec("read")
    spec.trigger("first", ages[0] > 3, [ages[0], ages[4]])
    spec.trigger("all", True, [ages[0] + ages[1] + ages[2] + ages[3] + ages[4]])
    assert validate(unit_of(spec, copilot=True)).is_proved


def test_ten_thousand_cells_are_proved():
    total = Word32(0)
    given = extern("x", Array(Word32, 10_000))
    for i in range(10_000):
        total = total + stream(Word32, lambda n, i=i: [0] + +(n ^ given[i]))
    spec = Spec("many")
    spec.trigger("t", True, total)
    code = unit_of(spec)
    assert step_of(code).count("for (") == 1 and len(step_of(code)) < 600
    outcome = validate(code)
    assert outcome.is_proved, outcome.failures


WRONG = {
    "one round less": (r"i < 8u", "i < 7u"),
    "one round more": (r"i < 8u", "i < 9u"),
    "from the second on": (r"i = 0u", "i = 1u"),
    "two at a time": (r"i\+\+", "i += 2u"),
    "downwards": (r"i\+\+", "i--"),
    "another start of the sum": (r"folded = 0u", "folded = 1u"),
    "another input": (r"\(i \* sizeof", "(0u * sizeof"),
    "another size": (r"sizeof\(bool\)", "sizeof(uint8_t)"),
    "bytes of something else": (r"\(const uint8_t \*\)inputs", "(const uint8_t *)state"),
    "the state of another": (r"(dead_state)\[i\] < 200u", r"\1[7u - i] < 200u"),
    "stored elsewhere": (r"(dead_state)\[i\] = ", r"\1[0] = "),
    "not stored": (r"\n        state->dead_state\[i\] = [^\n]*", ""),
    "stored before it is read": (r"(i\+\+\) \{)", r"\1\n        state->dead_state[i] = 0u;"),
    "another table entry": (r"30u, 40u", "30u, 41u"),
    "table entries exchanged": (r"30u, 40u", "40u, 30u"),
    "another entry of the table": (r"table\[i\]", "table[i ^ 1u]"),
    "from another input on": (r"watchdogs_inputs, beat0", "watchdogs_inputs, beat1"),
    "a loop twice": (r"(for \(uint32_t i = 0u; i < 8u.*?\n    \})", r"\1\n    \1"),
    "left early": (r"(i\+\+\) \{)", r"\1\n        if (i == 6u) {\n            return;\n        }"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_loop_is_refused(kind):
    code = unit_of(watchdogs([10 * i for i in range(1, 9)]))
    assert validate(code).is_proved
    text = re.sub(r"/\*.*?\*/\n?", "", code.files["watchdogs.c"])
    before, after = text.split("void watchdogs_step")
    if "table" in WRONG[kind][0] or "30u" in WRONG[kind][0]:
        changed = re.sub(WRONG[kind][0], WRONG[kind][1], text, count=1, flags=re.S)
    else:
        changed = before + "void watchdogs_step" + re.sub(*WRONG[kind], after, count=1, flags=re.S)
    assert changed != text
    outcome = validate(replace(code, files={**code.files, "watchdogs.c": changed}), work=20_000)
    assert not outcome.is_proved and outcome.failures


WRONG_WALKS = {
    "one less": (r"i < 8u", "i < 7u"),
    "one more": (r"i < 8u", "i < 9u"),
    "after the oldest": (r"(i = state->\w+)", r"\1 + 1u"),
    "the first twice": (r"i = 0u", "i = 1u"),
    "without the last": (r"i < (state->\w+)", r"i + 1u < \1"),
    "with the oldest again": (r"i < (state->\w+)", r"i <= \1"),
    "two at a time": (r"i\+\+", "i += 2u"),
    "another body": (r"folded \+ state->\w+\[i\]", "folded + state->x_before[0]"),
    "the counter changes": (r"(i\+\+\) \{)", r"\1\n        i = i;\n        i++;"),
    "only the first part": (r"for \(uint32_t i = 0u.*?\n    \}", ""),
    "the other order": (r"(    for .*?\n    \})\n(    for .*?\n    \})", r"\2\n\1"),
    "the bound changes": (r"(i\+\+\) \{)", r"\1\n        state->x_before_at = 0u;"),
    "another start": (r"folded = -0.0f", "folded = 0.0f"),
    "a counter that begins as itself": (
        r"for \(uint32_t i = (state->\w+)(.*)i < state->\w+",
        r"uint32_t i = \1;\n    for (uint32_t i = i\2i < i",
    ),
}


@pytest.mark.parametrize("kind", WRONG_WALKS)
def test_a_wrong_walk_along_a_delay_is_refused(kind):
    spec = Spec("walk")
    spec.trigger("shown", True, statistics.sum(9, [0.5] * 8 + +extern("x", Float)))
    code = unit_of(spec)
    assert validate(code).is_proved and step_of(code).count("for (") == 2
    text = re.sub(r"/\*.*?\*/\n?", "", code.files["walk.c"])
    before, after = text.split("void walk_step")
    changed = before + "void walk_step" + re.sub(*WRONG_WALKS[kind], after, count=1, flags=re.S)
    assert changed != text
    outcome = validate(replace(code, files={**code.files, "walk.c": changed}), work=20_000)
    assert not outcome.is_proved and outcome.failures


def extreme_of(type, n, best, first=0):
    spec = Spec("window")
    value = best(n, [first, *[0] * (n - 2)] + +extern("x", type))
    spec.trigger("shown", extern("on", Bool), value)
    spec.observer("value", value)
    return spec


def test_a_fold_that_begins_with_minus_zero_is_the_same_term():
    """No solver is asked about a tree of 33 additions and products of floats."""
    f = extern("f", Double)
    spec = Spec("varied")
    spec.trigger("t", True, [statistics.variance(33, [0.5] * 32 + +f)])
    outcome = validate(unit_of(spec))
    assert outcome.is_proved and outcome.questions < 2


EXTREMES = [(Int8, 17, statistics.max), (Word16, 40, statistics.min), (Int32, 33, statistics.min)]
EXTREMES += [(Int64, 100, statistics.max)]


@needs_gcc
@pytest.mark.parametrize(("type", "n", "best"), EXTREMES)
@pytest.mark.parametrize("copilot", [False, True])
def test_extremes_of_windows_run_as_interpreted(type, n, best, copilot, tmp_path):
    unit = unit_of(extreme_of(type, n, best, first=-9 if type is Int8 else 9), copilot=copilot, observers=True)
    assert "_push(" in unit.files["window.c"]
    outcome = validate(unit)
    assert outcome.is_proved, outcome.failures
    write(tmp_path / "c", unit)
    rows = random_rows(3, unit.specification, 400)
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", SANITIZE), unit, rows)


def test_a_window_that_something_else_reads_is_a_delay():
    late = [0] * 19 + +extern("x", Int16)
    spec = Spec("both")
    spec.trigger("shown", True, [statistics.max(20, late), late])
    assert "_push(" not in unit_of(spec).files["both.c"]


WRONG_WINDOWS = {
    "another comparison": (r"oldest < ", "oldest > "),
    "without the recent ones": (r"return oldest[^;]*;", "return oldest;"),
    "the recent ones alone": (r"return oldest[^;]*;", "return state->x_before_recent;"),
    "not the oldest": (r"oldest = (\S+)\[[^]]*\]", r"oldest = \1[0]"),
    "the new value elsewhere": (r"\[state->x_before_at\] = newest", "[0] = newest"),
    "the new value not recent": (r"\n    state->x_before_recent = [^\n]*", ""),
    "one later": (r"x_before_at < 18u", "x_before_at < 17u"),
    "not cleared": (r"\n        state->x_before_recent = [^\n]*", ""),
    "cleared to zero": (r"(        state->x_before_recent = )-32768", r"\g<1>0"),
    "the last two left out": (r"i = 18u", "i = 17u"),
    "the first left out": (r"i > 0u", "i > 1u"),
    "the smaller of two": (r"(\[i - 1u\]) < ", r"\1 > "),
    "another neighbour": (r"x_before\[i\] :", "x_before[18u] :"),
    "pushed twice": (r"(\n    x_before_push\([^\n]*)", r"\1\1"),
    "pushed before it is read": (r"(\n    const int16_t \w+ = x_before_largest)", r"\n    x_before_push(state, x);\1"),
    "not pushed": (r"\n    x_before_push\([^\n]*", ""),
    "pushed sometimes": (r"\n    (x_before_push\([^\n]*)", r"\n    if (on) {\n        \1\n    }"),
    "another value": (r"x_before_push\(state, x\)", "x_before_push(state, 1)"),
    "read besides": (r"(\n    x_before_push)", r"\n    state->x_before[0] = 0;\1"),
    "a wrong start": (r"( *)(\(void\)memset\([^\n]*)", r"\1\2\n\1state->x_before[7] = 1;"),
    "functions that others may replace": (r"static (int16_t x_before_largest)", r"\1"),
    "a wrong first index": (r"( *)(\(void\)memset\([^\n]*)", r"\1\2\n\1state->x_before_at = 1u;"),
}


def test_windows_share_nothing():
    a, b = ([0] * 19 + +extern(name, Int16) for name in "ab")
    spec = Spec("two")
    spec.trigger("shown", True, [statistics.max(20, a), statistics.max(20, b)])
    code = unit_of(spec)
    assert validate(code).is_proved
    first = next(p for (p,) in code.places.values() if p.window)
    for changed in (replace(first, variable="b_before"), first):
        places = {n: (replace(changed, position=p.position),) for n, (p,) in code.places.items()}
        assert not validate(replace(code, places=places)).is_proved


@pytest.mark.parametrize("kind", WRONG_WINDOWS)
def test_a_wrong_window_is_refused(kind):
    code = unit_of(extreme_of(Int16, 20, statistics.max))
    assert validate(code).is_proved
    text = re.sub(r"/\*.*?\*/\n?", "", code.files["window.c"])
    changed = re.sub(*WRONG_WINDOWS[kind], text, count=1, flags=re.S)
    assert changed != text
    outcome = validate(replace(code, files={**code.files, "window.c": changed}), work=20_000)
    assert not outcome.is_proved and outcome.failures


def test_a_cell_outside_of_its_array_is_refused():
    code = unit_of(watchdogs([100] * 8))
    places = {name: (replace(p, element=p.element + 1),) for name, (p,) in code.places.items()}
    assert not validate(replace(code, places=places)).is_proved


@needs_gcc
def test_a_sum_of_floats_is_rounded_as_interpreted(tmp_path):
    mean = statistics.mean(9, [-0.0] * 8 + +extern("x", Float))
    spec = Spec("sums")
    spec.trigger("shown", True, mean)
    unit = generate(flatten(spec), CodeOptions()).code
    assert "for (" in step_of(unit) and validate(unit).is_proved
    write(tmp_path / "c", unit)
    rows = [(x,) for x in [-0.0] * 12 + [2.0**99, 1.0, -(2.0**99), 0.125, 16777216.0, 1.0, 1.0, -16777216.0] * 4]
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", ("-O3",)), unit, rows)


def fence(guard):
    x = extern("x", Int32)
    outside = stream(Bool, lambda o: [False] + +mux(o, ~((x >= 5) & (x <= 95)), (x < 0) | (x > 100)))
    spec = Spec("fence")
    spec.trigger("enter", ~outside & ((x < 0) | (x > 100)), {"x": x})
    spec.trigger("leave", guard(outside, x), {"was": outside})
    spec.observer("outside", outside)
    return spec


@needs_gcc
@pytest.mark.parametrize("copilot", [False, True])
def test_a_bool_that_changes_with_the_calls_has_one_test(copilot, tmp_path):
    unit = unit_of(fence(lambda o, x: o & ((x >= 5) & (x <= 95))), copilot=copilot, observers=True)
    text = unit.files["fence.c"]
    assert re.search(r"if \(!\w+_now\) \{\n +if \(x\w* < 0 ", text)
    assert validate(unit).is_proved
    write(tmp_path / "c", unit)
    rows = [(x,) for x in [50, 101, 99, 4, 5, 0, -1, 7, 100, 95, 96, 101, 96, 95]]
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", SANITIZE), unit, rows)
    for wrong in (re.sub(r"= true;", "= false;", text), re.sub(r">= 5 ", "> 5 ", text)):
        assert wrong != text and not validate(replace(unit, files={**unit.files, "fence.c": wrong})).is_proved


def test_a_choice_of_two_simple_conditions_is_one_test():
    value = extern("value", Word8)
    on = stream(Bool, lambda on: [False] + +mux(on, value != 0, value == 255))
    spec = Spec("debounce")
    spec.trigger("pressed", ~on & (value == 255))
    spec.trigger("released", on & (value == 0))
    unit = unit_of(spec)
    text = unit.files["debounce.c"]
    assert re.search(r"if \(\w+_now \? value == 0u : value == 255u\) \{", text) and validate(unit).is_proved
    wrong = re.sub(r"= !(\w+_now;)", r"= \1", text)
    assert wrong != text and not validate(replace(unit, files={**unit.files, "debounce.c": wrong})).is_proved


def test_a_bool_that_changes_without_a_call_has_no_such_test():
    unit = unit_of(fence(lambda o, x: o & (x == 7)))
    assert not re.search(r"if \(\w+ \? ", unit.files["fence.c"]) and validate(unit).is_proved
