"""Handlers that get a pointer of the user's, tables of handlers, and names with a prefix: what they do, and that their
proof is one."""

from __future__ import annotations

import enum
import re
from dataclasses import replace

import pytest
from c_harness import WARNINGS, build, compare, have, run, unit_of, write
from random_specs import random_equations, random_rows

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.validate.bisimulation import validate

FORMS = [
    {"handlers": "context"},
    {"handlers": "table"},
    {"handlers": "table", "prefix": "fsw_", "observers": True},
    {"copilot": True, "prefix": "fsw_", "observers": True},
]


def watch():
    level, high = extern("level", Word8), extern("high", Bool)
    count = stream(Word8, lambda n: [0] + +mux(high, n + 1, 0))
    spec = Spec("watch")
    spec.trigger("above", high & (level > 200), {"level": level, "user": count})
    spec.trigger("often", count > 3)
    return spec


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_form_is_proved_and_runs_as_interpreted(tmp_path, form):
    for seed in range(12):
        equations = random_equations(seed)
        unit = generate(equations, CodeOptions(**form)).code
        outcome = validate(unit)
        assert outcome.is_proved, (seed, outcome.failures)
        if have("gcc"):
            folder = tmp_path / str(seed)
            write(folder, unit)
            compare(folder, build(folder, unit), unit, random_rows(seed, equations, 40))


SHARED = """\
#include "watch.h"
#include <stdio.h>
struct line { const char *name; int calls; };
static void above(void *user, uint8_t level, uint8_t count)
{
    struct line *line = user;
    line->calls++;
    printf("%s above %d %d\\n", line->name, level, count);
}
static void often(void *user)
{
    printf("%s often\\n", ((struct line *)user)->name);
}
int main(void)
{
    static const watch_handlers handlers = {.above = above, .often = often};
    struct line lines[2] = {{"left", 0}, {"right", 0}};
    watch_state states[2];
    for (int i = 0; i < 2; i++) {
        watch_init(&states[i], &handlers, &lines[i]);
    }
    for (int step = 0; step < 5; step++) {
        for (int i = 0; i < 2; i++) {
            const watch_inputs inputs = {.level = (uint8_t)(200 + step), .high = i == 1};
            watch_step(&states[i], &inputs);
        }
    }
    printf("%d %d\\n", lines[0].calls, lines[1].calls);
    return 0;
}
"""


@pytest.mark.skipif(not have("gcc"), reason="no gcc here")
def test_many_instances_need_no_globals(tmp_path):
    unit = unit_of(watch(), handlers="table")
    for name, text in unit.files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "main.c").write_text(SHARED.replace("uint8_t count)", "uint8_t arg1)").replace(", count)", ", arg1)"))
    run(["gcc", *WARNINGS, "watch.c", "main.c", "-o", "watch"], tmp_path)
    assert run(["./watch"], tmp_path).splitlines() == [
        *(f"right above {200 + step} {step}" for step in range(1, 4)),
        "right above 204 4",
        "right often",
        "0 4",
    ]


def test_a_parameter_that_the_user_calls_user_has_another_name():
    header = unit_of(watch(), handlers="context").files["watch.h"]
    assert "void above(void *user, uint8_t level, uint8_t arg1);" in header


PLANTED = {
    "another handler": (r"handlers->often\(", "handlers->above(", "above called with"),
    "another user": (r"often\(state->user\)", "often(state)", "is not what often gets first"),
    "no user": (r"often\(state->user\)", "often()", "called with 0 arguments"),
    "a table of its own": (r"state->handlers->often\(", "often(", "something unknown"),
    "the user is not kept": (r"\n    state->user = user;", "", "does not keep its handlers and user"),
    "the table is not kept": (r"\n    state->handlers = handlers;", "", "does not keep its handlers and user"),
    "the user is kept under a condition": (
        r"state->user = user;",
        "if (state->above_state == 0u) { state->user = user; }",
        "has no value|not set once|another form|determinate",
    ),
    "the pointers are cleared": (
        r"(void watch_init[^}]*\n    state->user = user;)",
        r"#include <string.h>\n\1\n    (void)memset(state, 0, sizeof(*state));",
        "pointers are set to zero",
    ),
    "the user changes": (r"(\n    state->above_state = high)", r"\n    state->user = state;\1", "may not change"),
    "the state is the user": (r"state->user = user;", "state->user = state;", "different types"),
    "the state is replaced": (
        r"(\n    state->above_state = high)",
        r"\n    watch_state c; *state = c;\1",
        "with pointers",
    ),
    "parameters in another order": (
        r"const watch_handlers \*handlers, void \*user",
        "void *user, const watch_handlers *handlers",
        "other parameters",
    ),
    "members in another order": (
        r"(    void \(\*above\)[^\n]*\n)([^\n]*\n)(    void \(\*often\)[^\n]*\n)",
        r"\3\2\1",
        "does not have the handlers",
    ),
    "a handler that returns something": (r"void \(\*often\)", "bool (*often)", "often is not declared as a handler"),
    "a handler with another parameter": (
        r"uint8_t level, uint8_t arg1",
        "uint16_t level, uint8_t arg1",
        "another type",
    ),
    "a user that may not be changed": (r"\(\*often\)\(void \*user\)", "(*often)(const void *user)", "user's pointer"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_refused(name):
    code = unit_of(watch(), handlers="table")
    pattern, into, why = PLANTED[name]
    files = {file: re.sub(pattern, into, text) for file, text in code.files.items()}
    assert files != code.files, name
    outcome = validate(replace(code, files=files))
    assert not outcome.is_proved and re.search(why, outcome.failures[0]), outcome.failures


def test_the_form_of_the_handlers_is_part_of_what_is_proved():
    table, context = (unit_of(watch(), handlers=form) for form in ("table", "context"))
    for code, other in ((table, "context"), (context, "table"), (table, "functions"), (context, "functions")):
        assert not validate(replace(code, handlers=other)).is_proved


def test_what_does_not_fit_is_refused():
    with pytest.raises(SpecError, match="one instance"):
        unit_of(watch(), handlers="context", copilot=True)
    with pytest.raises(SpecError, match="no beginning of a name"):
        unit_of(watch(), prefix="9")
    quiet = Spec("quiet")
    quiet.observer("level", extern("level", Word8))
    with pytest.raises(SpecError, match="no trigger, so no handlers"):
        unit_of(quiet, handlers="table", observers=True)


@struct
class Pair:
    a: Word8
    b: Word8


class Mode(enum.Enum):
    IDLE = 0
    BUSY = 1


@pytest.mark.skipif(not have("gcc", "nm"), reason="no gcc here")
@pytest.mark.parametrize("copilot", [False, True])
def test_a_prefix_is_on_every_name_that_other_files_see(tmp_path, copilot):
    pair, mode = extern("pair", Pair), extern("mode", EnumOf(Mode))
    spec = Spec("modes")
    spec.trigger("seen", mode == Mode.BUSY, {"pair": pair, "mode": mode})
    unit = unit_of(spec, prefix="fsw_", copilot=copilot)
    assert validate(unit).is_proved, validate(unit).failures
    header = "".join(text for name, text in unit.files.items() if name.endswith(".h"))
    assert "struct fsw_Pair {" in header and "fsw_Mode_BUSY = 1" in header and "begins with fsw_" in header
    assert set(unit.files) >= {"fsw_modes.h", "fsw_modes.c"}
    for name, text in unit.files.items():
        (tmp_path / name).write_text(text)
    run(["gcc", *WARNINGS, "-c", "fsw_modes.c", "-o", "modes.o"], tmp_path)
    symbols = [line.split()[-1] for line in run(["nm", "-g", "modes.o"], tmp_path).splitlines()]
    assert symbols and all(s.startswith("fsw_") for s in symbols), symbols
