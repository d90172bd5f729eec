"""C that was changed by somebody who means harm: every change that a user could notice is refused."""

from __future__ import annotations

import enum
import re
from dataclasses import replace

import pytest
from c_harness import unit_of

from streamcheck import *
from streamcheck.validate.bisimulation import validate


class Mode(enum.Enum):
    OFF = 0
    ON = 1


@struct
class Pair:
    modes: Array(EnumOf(Mode), 2)
    numbers: Array(Word8, 2)


def dogs():
    late = Word8(0)
    for i in range(10):
        beat = extern(f"beat{i}", Bool)
        age = stream(Word8, lambda n, beat=beat: mux(beat, 0, mux(pre(3, n) < 200, pre(3, n) + 1, pre(3, n))))
        late = late + mux(age >= 10 + i, Word8(1), 0)
    spec = Spec("dogs")
    spec.trigger("dead", late > 0, {"count": late})
    return spec


def modes():
    m = extern("m", EnumOf(Mode))
    count = stream(Word8, lambda n: [0] + +mux(m == EnumOf(Mode)(Mode.ON), n + 1, n))
    spec = Spec("modes")
    spec.trigger("on", count > 3, [count])
    return spec


def window():
    x = extern("x", Int16)
    spec = Spec("window")
    spec.assume("low", x <= 100)
    spec.trigger("shown", True, [statistics.max(16, [0] * 16 + +x)])
    return spec


def refused(spec, pattern, text, **options):
    """The reason why the C with one change is refused; the C without it is proved."""
    code = unit_of(spec, **options)
    assert validate(code).is_proved
    name = f"{code.base}.c"
    changed = re.sub(pattern, text, code.files[name], count=1)
    assert changed != code.files[name]
    outcome = validate(replace(code, files={**code.files, name: changed}))
    assert not outcome.is_proved
    return outcome.failures[0]


def test_constants_of_enums_within_structs_and_arrays_have_their_values():
    """No step depends on the constants, whose numbers another unit may use."""
    numbers = extern("p", Pair).numbers
    spec = Spec("nested")
    spec.trigger("shown", numbers[0] > 3, [numbers[1]])
    code = unit_of(spec)
    header = code.files["nested.h"]
    name = re.search(r"(\w*ON\w*) = 1", header)
    assert name and validate(code).is_proved
    other = {**code.files, "nested.h": header.replace(name[0], f"{name[1]} = 7")}
    assert not validate(replace(code, files=other)).is_proved


def test_the_functions_that_others_call_are_there():
    code = unit_of(modes())
    other = {n: re.sub(r"\b(modes_)?step\(", "other_step(", text) for n, text in code.files.items()}
    assert not validate(replace(code, files=other)).is_proved


@pytest.mark.parametrize("copilot", [False, True])
@pytest.mark.parametrize("called", ["on(1u);", "{place} = 7u;"])
def test_the_test_of_enums_does_nothing_else(copilot, called):
    """Whether the step calls it or has the test itself."""
    place = "on_state" if copilot else "((modes_state *)inputs)->on_state"
    begin = r"\1    " + called.format(place=place) + r"\n"
    assert refused(modes(), r"(bool modes_inputs_valid\([^)]*\)\n\{\n)", begin, copilot=copilot)


@pytest.mark.parametrize("copilot", [False, True])
@pytest.mark.parametrize("function", [r"void (modes_)?step", "bool modes_inputs_valid"])
@pytest.mark.parametrize("text", ["const int32_t two = {m} * 1431655766;", "const bool is_on[2] = {{ false, true }};"])
def test_nothing_is_undefined_if_an_enum_is_impossible(copilot, function, text):
    """Before its test, a term of the enum is no bound on what the input holds."""
    m = "m" if copilot else "inputs->m"
    begin = text.format(m=m) + (f"\n    (void)is_on[{m}];" if "is_on" in text else "\n    (void)two;")
    told = refused(modes(), rf"(\n{function}\([^)]*\)\n\{{\n)", rf"\1    {begin}\n", copilot=copilot)
    assert told.startswith("defined: no overflow" if "two" in text else "defined: index in bounds")


def test_the_check_of_assumptions_pushes_nothing():
    push = r"\1    x_before_push((window_state *)state, 5);\n"
    assert refused(window(), r"(bool window_assumptions_hold\([^)]*\)\n\{\n)", push, assumptions=True)


def test_the_initialisation_reads_no_value_that_is_not_there():
    cleared, held = "(void)memset(state, 0, sizeof(*state));", "state->assumptions_held = "
    read = f"const bool was = ((uint32_t)state->assumptions_held & 2u) == 0u;\n    {cleared}\\1{held}was;"
    assert refused(window(), rf"(?s){re.escape(cleared)}(.*?){held}true;", read, assumptions=True)


def test_a_window_is_touched_by_its_functions_alone():
    """After a push its index is another; the proof does not know which."""
    code = unit_of(window()).files["window.c"]
    push = re.search(r"    (\w+)_push\(state, (\w+)\);\n", code)
    at, value = f"state->{push[1]}_at", re.search(r"shown\((\w+)\);", code)[1]
    told = refused(
        window(),
        rf"{re.escape(push[0])}((.|\n)*)shown\({value}\);",
        rf"    const uint8_t kept = {at};\n{push[0]}\1shown({at} != kept ? (int16_t)7 : {value});",
    )
    assert "a window is touched other than by its functions" in told


@pytest.mark.parametrize("copilot", [False, True])
def test_an_impossible_enum_is_not_pushed_into_a_window(copilot):
    x, on = extern("x", Int16), extern("m", EnumOf(Mode)) == Mode.ON
    spec = Spec("window")
    spec.trigger("shown", True, [statistics.max(16, [0] * 16 + +mux(on, x, Int16(0)))])
    told = refused(spec, r"    if \(!window_inputs_valid\(\w*\)\) \{\n        return;\n    \}\n", "", copilot=copilot)
    assert told == "a step with an impossible enum changes nothing"


@pytest.mark.parametrize("value", ["0.2 + 0.001", "2e-1 + 1e-3", "0x1.ap-3 - 0x3p-10", ".2f + 1E-3f"])
def test_floats_without_the_word_need_the_checks_of_floats(value):
    """Another compiler may round x * 0.2 in another way, so that the quotient is another."""
    x = extern("x", Word8)
    spec = Spec("fifth")
    spec.trigger("high", x // 5 > 3, [x // 5])
    quotient = r"(?s)static inline.*?\n}\n(.*)sc_floordiv_u8\(x, 5u\)"
    told = refused(spec, quotient, rf"\1(uint8_t)(x * {value})")
    assert "does not check what the proof assumes" in told


def test_the_functions_of_a_window_get_the_whole_state():
    told = refused(window(), r"_push\(state,", "_push(&state->x_before_recent,")
    assert "not called with the state" in told


def test_tables_alone_may_be_where_nothing_changes():
    told = refused(dogs(), r"(static uint8_t \w+\[10\]) =", r"\1 SC_TABLE =", copilot=True)
    assert "SC_TABLE" in told


def test_no_member_before_the_first_is_read():
    told = refused(dogs(), r"\(i \* sizeof\(bool\)\)", "((i == 8u ? -2 : (int32_t)i) * sizeof(bool))")
    assert "members of one type" in told


@pytest.mark.parametrize("test", ["state->user != 0", "state->user", "!(!state->user)"])
def test_the_pointer_of_the_user_may_be_null(test):
    told = refused(dogs(), r"if \((\w+ > 0u)\)", rf"if (\1 && {test})", handlers="context")
    assert "only passed on" in told
