"""`--assumptions`: the C says if every assumption has been true so far, and that is proved too."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from c_harness import WARNINGS, have, run, unit_of
from random_specs import random_equations

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.deliver.deliver import CompileRequest, compile_spec
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import Claim
from streamcheck.run.prove import Settings
from streamcheck.validate.bisimulation import validate


def tank():
    level, rate = extern("level", Word8), extern("rate", Int8)
    spec = Spec("tank")
    spec.trigger("high", level > 200, {"level": level})
    spec.assume("slow", (rate >= -3) & (rate <= 3))
    spec.assume("no jump", (level <= pre(0, level) + 5) | (pre(0, level) > 250))
    return spec


USER = """\
#include "tank.h"
#include <stdio.h>
HANDLER
int main(void)
{
    static const int rows[][2] = {{5, 1}, {8, -3}, {9, 3}, {9, 4}, {9, 0}};
    OBJECTS
    BEGIN
    for (unsigned i = 0; i < 5; i++) {
        STEP
        printf("%d", tank_assumptions_hold(GIVEN));
    }
    BEGIN
    printf(" %d\\n", tank_assumptions_hold(GIVEN));
    return 0;
}
"""


@pytest.mark.skipif(not have("gcc"), reason="no gcc here")
def test_it_stays_false_once_an_assumption_is_false(tmp_path):
    code = unit_of(tank(), assumptions=True)
    outcome = validate(code)
    assert outcome.is_proved, outcome.failures
    words = {
        "HANDLER": "void high(uint8_t level) { (void)level; }",
        "OBJECTS": "tank_state state; tank_inputs inputs;",
        "BEGIN": "tank_init(&state);",
        "STEP": "inputs.level = (uint8_t)rows[i][0]; inputs.rate = (int8_t)rows[i][1]; tank_step(&state, &inputs);",
        "GIVEN": "&state",
    }
    text = USER
    for word, meaning in words.items():
        text = text.replace(word, meaning)
    for name, content in {**code.files, "main.c": text}.items():
        (tmp_path / name).write_text(content)
    run(["gcc", *WARNINGS, "tank.c", "main.c", "-o", "tank"], tmp_path)
    assert run(["./tank"], tmp_path) == "11100 1\n"


@pytest.mark.parametrize("seed", range(16))
def test_random_assumptions_are_proved(seed):
    equations = random_equations(seed)
    conditions = [t.guard for t in equations.triggers] + [
        o.term for o in equations.observers if str(o.term.type) == "Bool"
    ]
    claims = tuple(Claim(f"a{i}", condition) for i, condition in enumerate(conditions))
    form = {"copilot": seed % 2 == 1, "handlers": ("functions", "table")[seed % 4 == 2]}
    unit = generate(replace(equations, assumptions=claims), CodeOptions(assumptions=True, **form))
    outcome = validate(unit.code)
    assert outcome.is_proved, outcome.failures


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"rate <= 3", "rate <= 4"),
        (r"return state->assumptions_held;", "return true;"),
        (r"return state->assumptions_held;", "return !state->assumptions_held;"),
        (r"state->assumptions_held = true;", "state->assumptions_held = false;"),
        (r"state->assumptions_held && ", ""),
        (r"(return state->assumptions_held;)", r"high(3u); \1"),
    ],
)
def test_a_planted_fault_is_refused(old, new):
    code = unit_of(tank(), assumptions=True)
    text = re.sub(old, new, code.files["tank.c"])
    assert text != code.files["tank.c"]
    assert not validate(replace(code, files={**code.files, "tank.c": text})).is_proved


def test_the_cell_is_checked_against_the_assumptions():
    """The proof does not rely on how the code generator defined the cell."""
    code = unit_of(tank(), assumptions=True)
    fewer = replace(code.specification, assumptions=code.specification.assumptions[:1])
    assert "the assumptions in assumptions_held" in validate(replace(code, specification=fewer)).failures[0]


def test_what_cannot_be_checked_is_refused():
    spec = tank()
    spec.assume("some", extern("n", Int) > 0)
    with pytest.raises(SpecError, match="Int, which has no size"):
        unit_of(spec, assumptions=True)
    request = CompileRequest(CodeOptions(assumptions=True), narrow=True, settings=Settings(5.0, 1))
    with pytest.raises(SpecError, match="before its range is known"):
        compile_spec(flatten(spec), request)
    plain = Spec("plain")
    plain.trigger("t", extern("x", Bool))
    with pytest.raises(SpecError, match="no assumption to check"):
        unit_of(plain, assumptions=True)
