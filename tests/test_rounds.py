"""Loops of equal rounds are proved by one relation with an index; one wrong round is refused."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from c_harness import unit_of

from streamcheck import *
from streamcheck.validate.bisimulation import validate
from streamcheck.validate.execution import Execution


def cells(k):
    """Streams that a loop in Python makes, and their sum."""
    given, total = extern("x", Array(Word32, k)), Word32(0)
    for i in range(k):
        total = total + stream(Word32, lambda n, i=i: [0] + +(n ^ given[i]))
    spec = Spec("cells")
    spec.trigger("t", True, total)
    return spec


def watchdogs(k):
    """Inputs that follow each other, thresholds in a table, a count."""
    late = Word32(0)
    for i in range(k):
        beat = extern(f"beat{i}", Bool)
        age = stream(Word8, lambda n, beat=beat: mux(beat, 0, mux(pre(3, n) < 200, pre(3, n) + 1, pre(3, n))))
        late = late + mux(age >= 7 * i % 251, Word32(1), 0)
    spec = Spec("watchdogs")
    spec.trigger("dead", late > 0, {"count": late})
    return spec


def window(k):
    """All of a delay, in two loops."""
    spec = Spec("window")
    spec.trigger("shown", True, statistics.sum(k, [0.5] * (k - 1) + +extern("x", Float)))
    return spec


def part_of_a_delay(k):
    """An index that each round moves on."""
    late = [0.5] * (2 * k) + +extern("x", Float)
    spec = Spec("part")
    spec.trigger("shown", True, [statistics.sum(k, late), late])
    return spec


def largest(k):
    x = extern("x", Array(Int16, k))
    most = x[0]
    for i in range(1, k):
        most = mux(x[i] > most, x[i], most)
    spec = Spec("largest")
    spec.trigger("shown", most > 100, {"most": most})
    return spec


def pairs(k):
    """Two arrays of cells of which one reads the other, and signed arithmetic."""
    spec = Spec("pairs")
    ons, values, total = extern("ons", Array(Bool, k)), extern("values", Array(Int16, k)), Int16(0)
    for i in range(k):
        held = stream(Int16, lambda h, i=i: [0] + +mux(ons[i], values[i], h))
        total = maximum(total, stream(Int16, lambda n, h=held: [1] + +(n * 2 + h)) + held)
    spec.trigger("t", total > 5, total)
    return spec


KINDS = [cells, watchdogs, window, part_of_a_delay, largest, pairs]


@pytest.mark.parametrize("kind", KINDS)
def test_more_rounds_are_no_more_work_for_the_proof(kind, monkeypatch):
    """As many statements are executed, and as many questions asked, for 20 rounds as for 200."""
    executed, execute = [0], Execution.statement

    def statement(run, node):
        executed[-1] += 1
        execute(run, node)

    monkeypatch.setattr(Execution, "statement", statement)
    questions = set()
    for k in (20, 200):
        outcome = validate(unit_of(kind(k)))
        assert outcome.is_proved, outcome.failures
        questions.add(outcome.questions)
        executed.append(0)
    assert executed[0] == executed[1] > 0 and len(questions) == 1


def changed(kind, pattern, text, **options):
    """The outcome for the C of ten rounds with one change in the step."""
    code = unit_of(kind(10), **options)
    assert validate(code).is_proved
    name = f"{code.base}.c"
    source = re.sub(r"/\*.*?\*/\n?", "", code.files[name], flags=re.S)
    at = source.index("_step(")
    step = re.sub(pattern, text, source[at:], count=1, flags=re.S)
    assert step != source[at:]
    return replace(code, files={**code.files, name: source[:at] + step})


SUM, CELL = r"= (folded \+ state->t_state\[i\])", r"(state->t_state\[i\] = state->t_state\[i\])"
ROUND = r"(for \(uint32_t i = 0u; i < 10u; i\+\+\) \{)"
STORED = r"(        state->dead_state\[i\] = dead_part;)"
PART = r"(state->t_state\[i\] = state->t_state[^\n]*)\n        folded = t_part;"
BEFORE_AND_AFTER = (
    r"const uint32_t was = {place};\n        \1\n        const uint32_t now = {place};\n"
    r"        folded = t_part + (now - was);"
)
WRONG = {
    "one round less": (cells, "i < 10u", "i < 9u"),
    "one round more": (cells, "i < 10u", "i < 11u"),
    "from the second round on": (cells, "i = 0u", "i = 1u"),
    "the cell before": (cells, SUM, r"= folded + state->t_state[i == 0u ? 9u : i - 1u]"),
    "the cell after": (cells, SUM, r"= folded + state->t_state[i == 9u ? 0u : i + 1u]"),
    "the cell after, past the end": (cells, SUM, r"= folded + state->t_state[i + 1u]"),
    "the first cell": (cells, SUM, r"= folded + state->t_state[0]"),
    "another input": (cells, r"inputs->x\[i\]", "inputs->x[9u - i]"),
    "another operator in one round": (cells, SUM, r"= i == 5u ? folded - state->t_state[i] : \1"),
    "another cell in the last round": (cells, SUM, r"= folded + state->t_state[i == 9u ? 8u : i]"),
    "the counter is added": (cells, SUM, r"= \1 + i"),
    "the cell that the round before left": (cells, CELL, r"state->t_state[i] = state->t_state[i == 0u ? 0u : i - 1u]"),
    "the cell of the round to come": (cells, CELL, r"state->t_state[i == 9u ? 9u : i + 1u] = state->t_state[i]"),
    "all into one cell": (cells, CELL, r"state->t_state[3] = state->t_state[i]"),
    "one more cell": (cells, CELL, r"state->t_state[0] = 1u;\n        \1"),
    "one more cell after": (cells, CELL + r"([^\n]*)", r"\1\2\n        state->t_state[9] = 1u;"),
    "a cell changed and read": (cells, SUM, r"= folded + state->t_state[0] * 0u + state->t_state[9u - i]"),
    "a cell read before and after": (cells, PART, BEFORE_AND_AFTER.format(place="state->t_state[0]")),
    "a cell read twice on one path": (
        cells,
        PART,
        r"uint32_t was = state->t_state[2];\n        if (i > 1u) {\n            \1\n        } else {\n"
        r"            was = state->t_state[2];\n            \1\n        }\n"
        r"        folded = t_part + (state->t_state[2] - was);",
    ),
    "a variable set in some rounds": (
        cells,
        PART,
        r"uint32_t loose;\n        \1\n        if (i > 0u) {\n            loose = i;\n        }\n"
        r"        folded = t_part + (loose & 0u);",
    ),
    "a variable set in some rounds, kept": (
        cells,
        r"(    for \([^\n]*\n)(.*?)(        folded = )t_part;",
        r"    uint32_t loose;\n\1\2        if (t_part > 5u) {\n            loose = i;\n        }\n"
        r"\3t_part + (loose & 0u);",
    ),
    "the sum starts anew": (cells, ROUND, r"\1\n        folded = 0u;"),
    "the sum starts anew once": (cells, ROUND, r"\1\n        if (i == 7u) {\n            folded = 0u;\n        }"),
    "the sum of some": (
        cells,
        r"        folded = t_part;",
        "        if (t_part > 5u) {\n            folded = t_part;\n        }",
    ),
    "the sum of one path": (
        cells,
        r"        folded = t_part;",
        "        if (i != 4u) {\n            folded = t_part;\n        } else {\n            folded = 0u;\n        }",
    ),
    "left early": (cells, ROUND, r"\1\n        if (i == 6u) {\n            return;\n        }"),
    "broken off": (cells, ROUND, r"\1\n        if (i == 6u) {\n            break;\n        }"),
    "a round left out": (cells, ROUND, r"\1\n        if (i == 6u) {\n            continue;\n        }"),
    "the counter is changed": (cells, ROUND, r"\1\n        i = i + 1u;"),
    "a handler in each round": (cells, ROUND, r"\1\n        t(folded);"),
    "another counter inside": (cells, ROUND, r"\1\n        const uint32_t i = 0u;"),
    "the state of the round before": (watchdogs, STORED, r"        state->dead_state[i ^ 1u] = dead_part;"),
    "stored in some rounds": (watchdogs, STORED, "        if (beat) {\n    \\1\n        }"),
    "counted before it is stored": (watchdogs, r"dead_part >= table", "state->dead_state[9] >= table"),
    "the member after": (watchdogs, r"\(i \* sizeof\(bool\)\)", "((i + 1u) * sizeof(bool))"),
    "the member before": (watchdogs, r"\(i \* sizeof\(bool\)\)", "((i - 1u) * sizeof(bool))"),
    "the same member": (watchdogs, r"\(i \* sizeof\(bool\)\)", "((i / 2u) * sizeof(bool))"),
    "one entry of the table": (watchdogs, r"table\[i\]", "table[i == 8u ? 7u : i]"),
    "the ring not moved": (part_of_a_delay, r"(x_before_each) = \(x_before_each == 19u\) \? 0u : [^;]*;", r"\1 = \1;"),
    "the ring moved too far": (part_of_a_delay, r"(x_before_each) \+ 1u\);", r"\1 + 2u);"),
    "the ring wraps late": (part_of_a_delay, r"x_before_each == 19u", "x_before_each == 20u"),
    "the ring wraps early": (part_of_a_delay, r"x_before_each == 19u", "x_before_each == 18u"),
    "the ring wraps to the second": (part_of_a_delay, r"== 19u\) \? 0u", "== 19u) ? 1u"),
    "the ring from the next on": (part_of_a_delay, r"(uint32_t x_before_each = )[^;]*;", r"\1state->x_before_at + 1u;"),
    "the ring from the first on": (part_of_a_delay, r"(uint32_t x_before_each = )[^;]*;", r"\g<1>0u;"),
    "the ring moved in some rounds": (part_of_a_delay, r"(        x_before_each = )", r"        if (i < 3u)\n\1"),
    "another comparison": (largest, r"> folded \?", "< folded ?"),
    "the largest but one": (largest, r"\? inputs->x\[i \+ 1u\]", "? inputs->x[i]"),
    "the value of another pair": (pairs, r"state->t_state_2\[i\] = ", "state->t_state_2[0] = "),
    "the second of a pair first": (
        pairs,
        r"( +state->t_state\[i\] = [^\n]*\n)( +state->t_state_2\[i\] = [^\n]*\n)",
        r"\2\1",
    ),
}


RIGHT = {
    "a test in the round": (
        largest,
        r"folded = (inputs->x\[i \+ 1u\]) > folded \? [^;]*;",
        r"if (\1 > folded) {\n            folded = \1;\n        }",
    ),
    "two ways": (
        cells,
        r"        folded = t_part;",
        "        if (i < 3u) {\n            folded = t_part;\n        } else\n            folded = t_part;",
    ),
    "a cell is written in some rounds": (
        watchdogs,
        STORED,
        "        if (state->dead_state[i] != dead_part) {\n    \\1\n        }",
    ),
    "a statement that is never reached": (cells, ROUND, r"\1\n        if (0) {\n            folded = 3u;\n        }"),
    "another way round the ring": (
        part_of_a_delay,
        r"\(x_before_each == 19u\) \? 0u : \(x_before_each \+ 1u\)",
        "(x_before_each < 19u) ? (x_before_each + 1u) : 0u",
    ),
}


@pytest.mark.parametrize("change", RIGHT)
def test_a_round_that_is_written_in_another_way_is_proved(change):
    outcome = validate(changed(*RIGHT[change]))
    assert outcome.is_proved, outcome.failures


@pytest.mark.parametrize("change", WRONG)
def test_a_wrong_round_is_refused(change):
    outcome = validate(changed(*WRONG[change]), work=20_000)
    assert not outcome.is_proved and outcome.failures


def test_a_round_with_a_call_that_writes_inside_an_expression_is_refused():
    """The order of such writes and the reads beside them is not specified."""
    code = unit_of(cells(10))
    moved = (
        "static uint32_t moved(cells_state *state, const cells_inputs *inputs, uint32_t i)\n{\n"
        "    const uint32_t was = state->t_state[i];\n"
        "    state->t_state[i] = was ^ inputs->x[i];\n    return was;\n}\n\n"
    )
    text = code.files["cells.c"].replace("void cells_step(", f"{moved}void cells_step(")
    text = re.sub(r"folded \+ state->t_state\[i\];\n[^\n]*\n", "folded + moved(state, inputs, i);\n", text)
    assert text.count("moved(") == 2
    outcome = validate(replace(code, files={**code.files, "cells.c": text}))
    assert not outcome.is_proved and "side effect" in str(outcome.failures)
