"""Long choices as `if` statements, inputs read where they are needed, state cleared as a whole: the C and its proof."""

from __future__ import annotations

import enum
import random
import re
from dataclasses import replace

import pytest
from c_harness import build, compare, have, unit_of, write
from random_specs import random_rows
from test_codegen import SANITIZE

from streamcheck import *
from streamcheck.codegen.inputs import late_reads
from streamcheck.validate.bisimulation import validate

needs_gcc = pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")


class Mode(enum.Enum):
    OFF = 0
    IDLE = 1
    ACTIVE = 2
    HOLD = 3
    FAILED = 4


def machine():
    mode_type = EnumOf(Mode)
    ready, armed, fault, clear = (extern(name, Bool) for name in ("ready", "armed", "fault", "clear"))
    off, idle, active, hold, failed = (mode_type(m) for m in Mode)

    def after(mode):
        now = mux(mode == Mode.HOLD, mux(fault & ~clear, failed, mux(clear, active, hold)), mode)
        now = mux(mode == Mode.ACTIVE, mux(fault, hold, mux(armed, active, idle)), now)
        now = mux(mode == Mode.IDLE, mux(fault, failed, mux(armed, active, idle)), now)
        return mux(mode == Mode.OFF, mux(fault, failed, mux(ready, idle, off)), now)

    mode = stream(mode_type, lambda m: [Mode.OFF] + +after(m))
    spec = Spec("machine")
    spec.trigger("changed", after(mode) != mode, {"before": mode, "now": after(mode)})
    spec.observer("mode", mode)
    return spec


def work_in_arms():
    """Arms with work of their own, in which one choice stands in another; and work that two of them share."""
    k, x, y = extern("k", Word8), extern("x", Word32), extern("y", Word32)
    shared, inner = (x * y) ^ (y >> 3), y * y + x
    low = mux(k == 4, inner * inner, mux(k == 5, x + 9, mux(k == 6, (y * 3) & inner, shared)))
    chosen = mux(k == 0, x - y, mux(k == 1, (x + 1) * (x + 1), mux(k == 2, shared + x, mux(k < 9, low, Word32(0)))))
    total = stream(Word32, lambda n: [0] + +(n + chosen))
    spec = Spec("arms")
    spec.trigger("shown", total % 2 == 0, [total, chosen])
    return spec


def changed(unit, pattern, replacement):
    """The unit with one change in its C."""
    file = f"{unit.base}.c"
    text = re.sub(pattern, replacement, unit.files[file], count=1)
    assert text != unit.files[file]
    return replace(unit, files={**unit.files, file: text})


@needs_gcc
@pytest.mark.parametrize("copilot", [False, True])
@pytest.mark.parametrize("spec", [machine, work_in_arms])
def test_a_long_choice_is_an_if_statement(spec, copilot, tmp_path):
    unit = unit_of(spec(), copilot=copilot, observers=not copilot)
    assert unit.files[f"{unit.base}.c"].count("} else if (") >= 3
    assert validate(unit).is_proved
    write(tmp_path / "c", unit)
    rng, types = random.Random(1), [i.type for i in unit.specification.inputs]
    rows = [tuple(rng.random() < 0.4 if str(t) == "Bool" else rng.randrange(12) for t in types) for _ in range(300)]
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", SANITIZE), unit, rows)


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"Mode_IDLE : Mode_OFF", "Mode_OFF : Mode_IDLE"),
        (r"(\n +\} else if \([^\n]*)Mode_ACTIVE", r"\1Mode_IDLE"),
        (r"\n( +)\} else \{\n[^\n]*\n", r"\n\1} else {\n"),  # the last value is left out: it has none
        (r"\} else if", "} if"),
        (r"inputs->armed \?", "inputs->ready ?"),
    ],
)
def test_a_wrong_choice_is_refused(pattern, replacement):
    unit = unit_of(machine())
    assert validate(unit).is_proved and not validate(changed(unit, pattern, replacement)).is_proved


def test_what_only_one_arm_needs_is_computed_there():
    text = unit_of(work_in_arms()).files["arms.c"]
    body = text[text.index("arms_step(") :]
    first = re.search(r"^    if \(", body, re.M).start()
    assert "y * y" not in body[:first] and "y >> 3u" in body[:first]  # two arms share the second
    assert re.search(r"^ {8,}const uint32_t \w+ = .*\by \* .*\by\b", body, re.M)


def reads(*lines):
    return {
        name: (sorted(read.in_place), sorted(read.declared)) for name, read in late_reads(lines, ["a"], ["go"]).items()
    }


def test_an_input_that_only_arms_need_is_read_there_once_on_every_path():
    sample = "const bool a = inputs->a;"
    assert reads(sample, "s = a;") == {}
    assert reads(sample, "if (p) {", "s = a;", "}") == {"a": ([2], [])}
    assert reads(sample, "if (p) {", "s = a && a;", "}") == {"a": ([], [1])}
    assert reads(sample, "if (p) {", "s = a;", "t = a;", "}") == {"a": ([], [1])}
    assert reads(sample, "if (p) {", "s = a;", "}", "t = a;") == {}
    assert reads(sample, "if (p) {", "s = a;", "} else {", "t = a;", "}") == {"a": ([2, 4], [])}
    assert reads(sample, "if (p) {", "s = a ^ a;", "} else {", "t = a;", "}") == {"a": ([4], [1])}
    assert reads(sample, "if (p) {", "s = a;", "} else if (a) {", "t = 1u;", "}") == {}
    assert reads(sample, "if (p) {", "s = a;", "}", "if (q) {", "t = a;", "}") == {}
    assert reads(sample, "if (p) {", "for (uint32_t i = 0u; i < 4u; i++) {", "s = s + a;", "}", "}") == {}
    assert reads(sample, "s = x.a + y->a;", "if (p) {", "t = a;", "}") == {"a": ([3], [])}
    assert reads(sample, "if (p) {", "const bool b[2] = {", "a, p", "};", "}") == {}


def test_an_input_is_read_before_handlers_can_change_it():
    sample = "const bool a = inputs->a;"
    assert reads(sample, "go();", "if (p) {", "s = a;", "}") == {}
    assert reads(sample, "if (p) {", "go(a);", "}") == {}
    assert reads(sample, "if (p) {", "if (a) {", "go();", "}", "}") == {"a": ([2], [])}
    x, y = extern("x", Word8), extern("y", Word8)
    spec = Spec("late")
    spec.trigger("first", x > 3, [x])
    spec.trigger("second", y > 3)
    unit = unit_of(spec)
    assert "const uint8_t y = inputs->y;" in unit.files["late.c"] and validate(unit).is_proved
    assert not validate(changed(unit, r"if \(y > 3u\)", "if (inputs->y > 3u)")).is_proved


def window(first):
    """A delay whose values begin as `first`, and a counter that does not begin with zero."""
    x = extern("x", Float)
    n = stream(Word8, lambda n: [7] + +(n + 1))
    spec = Spec("window")
    spec.trigger("mean", n > 9, [statistics.mean(16, [first] * 15 + +x)])
    return spec


@pytest.mark.parametrize("handlers", ["functions", "context", "table"])
def test_state_of_zeros_is_cleared_as_a_whole(handlers):
    unit = unit_of(window(0.0), handlers=handlers, observers=True)
    text = unit.files["window.c"]
    body = text[text.index("window_init(") : text.index("void window_step")]
    assert "(void)memset(state, 0, sizeof(*state));" in body and "for (" not in body and "= 0u;" not in body
    assert "= 7u;" in body and validate(unit).is_proved
    for first in (-0.0, 1.0):  # not all bits of these are zero
        text = unit_of(window(first), handlers=handlers).files["window.c"]
        assert "memset" not in text
    wrong = [
        (r"memset\(state, 0,", "memset(state, 1,"),
        (r"sizeof\(\*state\)", "sizeof(state)"),
        (r"sizeof\(\*state\)", "sizeof(state->x_before)"),
        (r"sizeof\(\*state\)", "4u"),
        (r"memset\(state,", "memset(&state->x_before,"),
        (r" *\(void\)memset[^\n]*\n", ""),
        (r"( *\(void\)memset[^\n]*\n)(.*?)\}", r"\2\1}"),  # last: it undoes the rest
    ]
    for pattern, replacement in wrong:
        outcome = validate(changed(unit, f"(?s){pattern}", replacement))
        assert not outcome.is_proved, (pattern, replacement)


def test_an_enum_is_not_compared_with_itself():
    """Compilers warn of it."""
    mode = extern("mode", EnumOf(Mode))
    spec = Spec("same")
    spec.trigger("t", True, [mode == mode, mode != mode])
    unit = unit_of(spec)
    assert "t(true, false);" in unit.files["same.c"] and validate(unit).is_proved


def test_no_comparison_has_one_answer(tmp_path):
    """Compilers warn of it: two comparisons of one value with constants, and a mask that takes a bit away."""
    x, y, mode = extern("x", Int32), extern("y", Word32), extern("mode", EnumOf(Mode))
    sum, bit = x + 3, Word32(1) << y
    always = [(x != -7) | (x <= -7), (sum < 5) | (sum > 2), ~((y > 9) & (y == 9)), (bit & ~Word32(1)) != 1]
    always += [(y | 6) != 1, (mode != Mode.IDLE) | (mode != Mode.HOLD), (x > -2147483648) | (x < 0)]
    never = [(x == 4) & (x > 4), (y < 3) & (y >= 3), (bit & 6) == 8, (mode == Mode.IDLE) & (mode == Mode.HOLD)]
    open_ones = [(x != -7) | (x <= -8), (y < 4) & (y >= 3), (bit & 6) == 4, (y | 6) != 7, (x < 2) | (sum < 9)]
    spec = Spec("answers")
    spec.trigger("known", True, [*always, *never])
    spec.trigger("open", True, open_ones)
    unit = unit_of(spec)
    text = unit.files["answers.c"]
    assert f"known({', '.join(['true'] * len(always) + ['false'] * len(never))});" in text and validate(unit).is_proved
    assert not re.search(r"open_sc?\([^;]*\b(true|false)\b", text)
    write(tmp_path / "c", unit)
    for compiler in filter(have, ("gcc", "clang")):
        rows = random_rows(1, unit.specification, 200)
        compare(tmp_path / "c", build(tmp_path / "c", unit, compiler, ("-O1",)), unit, rows)


def test_a_division_by_minus_zero_runs_as_interpreted(tmp_path):
    """Written as a division, clang 14 computes it wrongly if the dividend was unsigned."""
    x, f = extern("x", Word32), extern("f", Double)
    spec = Spec("zero")
    spec.trigger("t", True, [unsafe_cast(Float, x) / Float(-0.0) < -182.25, f / -0.0, f / 0.0])
    unit = unit_of(spec)
    assert validate(unit).is_proved
    write(tmp_path / "c", unit)
    for compiler in filter(have, ("gcc", "clang")):
        rows = [(x, f) for x in (0, 1, 70_000) for f in (0.0, -0.0, 1.5, -1e-320, float("inf"), float("nan"))]
        compare(tmp_path / "c", build(tmp_path / "c", unit, compiler, ("-O3",)), unit, rows)
