"""The proof of the C: it holds for what is generated, and a bug of any kind breaks it.

Bugs are planted twice over: by hand, one of each kind that a code generator is apt to have, and at random, where a
mutant that is called proved must run as the interpreter says."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from c_harness import build, compare, have, unit_of, write
from random_specs import random_equations, random_rows

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load
from streamcheck.problem.places import Place
from streamcheck.validate.bisimulation import validate

OPTIONS = [
    CodeOptions(),
    CodeOptions(copilot=True),
    CodeOptions(observers=True),
    CodeOptions(copilot=True, observers=True),
]
MONITORS = sorted(Path("specs/monitors").glob("*.py"))


@pytest.mark.parametrize("path", MONITORS, ids=lambda p: p.stem)
@pytest.mark.parametrize("options", OPTIONS, ids=lambda o: f"{'copilot' * o.copilot} {'observers' * o.observers}")
def test_the_monitors_are_proved(path, options):
    outcome = validate(generate(flatten(load(str(path))[0]), options).code)
    assert outcome.is_proved and outcome.claims > 0, outcome.failures


def test_an_array_of_the_state_is_copied_to_another():
    cells = extern("cells", Array(Word8, 4))
    once = [Array(Word8, 4)([1, 2, 3, 4])] + +cells
    code = unit_of_two_delays(once)
    assert "memcpy(state->" in code.files["copies.c"] and validate(code).is_proved
    text = re.sub(r"memcpy\((state->\w+), state->\w+,", r"memcpy(\1, \1,", code.files["copies.c"])
    (failure,) = validate(replace(code, files={**code.files, "copies.c": text})).failures
    assert "to where it reads" in failure


def unit_of_two_delays(once):
    spec = Spec("copies")
    spec.trigger("t", True, [once, [Array(Word8, 4)([5, 6, 7, 8])] + +once])
    return unit_of(spec)


@pytest.mark.parametrize("seed", range(60))
def test_random_equations_are_proved(seed):
    outcome = validate(generate(random_equations(seed), OPTIONS[seed % 4]).code)
    assert outcome.is_proved, outcome.failures


SUBJECT = """\
from streamcheck import *
a, b = extern("a", Int8), extern("b", Int8)
up, word, cells = extern("up", Bool), extern("word", Word16), extern("cells", Array(Word8, 4))
x, y = extern("x", Float), extern("y", Float)
count = stream(Word8, lambda n: [3] ++ mux(up, n + 1, n - 1))
kept = stream(Int8, lambda s: [1] ++ mux(up, a, s))
late = [0] * 9 ++ word
hashed = stream(Word16, lambda s: [7] ++ (s * 5 + word))
spec = Spec("subject")
spec.trigger("first", up & (a < b), [a // b, count])
spec.trigger("second", late > 5, [late, cells[word], cells])
spec.trigger("third", x * y + x > 2.0, [unsafe_cast(Word8, x), x + y])
spec.trigger("fourth", count + 250 > 100, [a + b, hashed, word << count, kept])
spec.observer("total", a + b)
"""


PLANTED = {
    "a swapped branch": (r"up \? (\S.*?) : (\S.*?)\)?;", r"up ? \2 : \1;"),
    "a missing cast": (r"\(uint8_t\)\((state->count \+ 250u)\) > 100u", r"\1 > 100u"),
    "a comparison with its end": (r"a < b", "a <= b"),
    "a negated condition": (r"if \(up && a < b\)", "if (!up && a < b)"),
    "an index off by one": (r"word < 3u \? word : 3u", "word < 3u ? word + 1u : 3u"),
    "an index out of the array": (r"word < 3u \? word : 3u", "word < 4u ? word : 4u"),
    "no clamp": (r"cells\[word < 3u \? word : 3u\]", "cells[word]"),
    "a ring too short": (r"(_at < )8u", r"\g<1>7u"),
    "a ring too long": (r"(_at < )8u", r"\g<1>9u"),
    "a ring read at another place": (r"(second\(state->late\[)state->late_at", r"\g<1>0"),
    "a ring that stands still": (r"\n    state->late_at = [^\n]*", ""),
    "commit before sample": (r"(void subject_step\([^)]*\)\n\{)", r"\1\n    state->count = inputs->up;"),
    "commit before triggers": (r"(const bool up = inputs->up;)", r"\1\n    state->hashed = 0u;"),
    "a commit left out": (r"\n    state->kept = [^\n]*", ""),
    "a commit twice": (r"(\n    state->hashed = \(uint16_t\)[^\n]*)", r"\1\1"),
    "a wrong initial value": (r"state->count = 3u;", "state->count = 2u;"),
    "an initial value left out": (r"\n    state->kept = 1;", ""),
    "an observer left out": (r"\n    state->observed.total = t1;", ""),
    "a call left out": (r"\n        fourth\([^\n]*", ""),
    "a call twice": (r"(\n        fourth\([^\n]*)", r"\1\1"),
    "a call too early": (r"(\n\s*if \(up && a < b)", "\n    fourth(a, 0u, 0u, 0);\\1"),
    "arguments swapped": (r"first\((.*), (state->count)\)", r"first(\2, \1)"),
    "truncating division": (r"(\(\(a / b\)) - [^;]*;", r"\1);"),
    "no test for zero": (r"if \(b == 0\) \{\n        return 0;\n    \}\n", ""),
    "no test for -1": (r"if \(b == -1\) \{\n[^}]*\}\n", ""),
    "signed overflow": (r"sc_i8\(\(uint32_t\)a \+ \(uint32_t\)b\)", "(int8_t)(a + b)"),
    "an unsafe shift": (r"if \(n < 16u\) \{\n        return ([^;]*;)\n    \}\n    return 0;", r"return \1"),
    "a return left out": (r"\n    return 0;\n\}", "\n}"),
    "a return of nothing": (r"return \(int8_t\)\(\(a / b\)[^;]*;", "return;"),
    "hidden state": (r"(\n    state->kept = )", "\n    static int8_t before = 1;\\1"),
    "an input read after a handler": (r"(fourth\([^\n]*)\bword\b", r"\1inputs->word"),
    "a float sum the other way": (r"x \* y \+ x", "x * (y + 1.0f)"),
    "an unsafe conversion of a float": (r"return \(x < 256\.0f\) \? \(uint8_t\)x : UINT8_MAX;", "return (uint8_t)x;"),
    "a return before a call": (r"(void subject_step\()([^)]*\)\n\{)", r"HELPER\1\2"),
    "an uninitialised condition": (r"(\n    state->kept = [^\n]*)", r"\n    bool u;\n    if (u) {\1\n} else {\1\n}"),
    "an uninitialised number": (r"const int8_t t1 = ([^;]*);", r"uint8_t u;\nint8_t t1 = (int8_t)(\1 + (u - u));"),
    "code that compilers leave out": (r"(\n    state->kept = [^\n]*)", r"\n#ifndef __STDC__\1\n#endif"),
    "a typedef of its own": (r'(#include "subject.h")', r"typedef unsigned short uint8_t;\n\1"),
    "fast mathematics": (r"fp-contract=off", "fast-math"),
    "a function that others may replace": (r"void subject_step", "__attribute__((weak)) void subject_step"),
    "an uninitialised variable": (r"const int8_t t1 = [^;]*;", "int8_t t1;"),
}


@pytest.fixture(scope="module")
def code(tmp_path_factory):
    """C with a place for each kind of bug."""
    path = tmp_path_factory.mktemp("subject") / "subject.py"
    path.write_text(SUBJECT)
    found = unit_of(load(str(path))[0], observers=True)
    assert validate(found).is_proved
    return found


def planted(code, pattern, replacement):
    text = re.sub(r"/\*.*?\*/\n?", "", code.files["subject.c"])
    changed, count = re.subn(pattern, replacement, text, count=1)
    if "HELPER" in changed:  # the step becomes a function that another one calls, but not always
        changed = changed.replace("HELPERvoid subject_step(", "static void inner(")
        parameters = re.search(r"void inner(\([^)]*\))", changed)[1]
        changed += f"\nvoid subject_step{parameters}\n{{\n    if (inputs->up) {{\n        return;\n    }}\n"
        changed += "    inner(state, inputs);\n}\n"
    if count == 0 or changed == text:
        return None
    return replace(code, files={**code.files, "subject.c": changed})


@pytest.mark.parametrize("kind", PLANTED)
def test_a_planted_bug_is_caught(code, kind):
    changed = planted(code, *PLANTED[kind])
    assert changed is not None, "the bug was not planted: the text has changed\n" + code.files["subject.c"]
    outcome = validate(changed, work=20_000)
    assert not outcome.is_proved and outcome.failures


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"uint8_t count;", "uint8_t count : 3;", "bit-fields are not supported"),
        (r"uint8_t count;", "volatile uint8_t count;", "volatile is supported on variables only"),
        (r"subject_init\(subject_state \*", "subject_init(const subject_inputs *", "declared with different types"),
    ],
)
def test_a_header_that_says_something_else(code, pattern, replacement, message):
    header, count = re.subn(pattern, replacement, code.files["subject.h"])
    assert count == 1
    (failure,) = validate(replace(code, files={**code.files, "subject.h": header})).failures
    assert message in failure


def test_the_relation_is_not_trusted(code):
    wrong = dict(code.places)
    wrong["late"], wrong["late_1"] = wrong["late_1"], wrong["late"]
    assert not validate(replace(code, places=wrong)).is_proved
    assert not validate(replace(code, places={**code.places, "count": Place("kept")})).is_proved
    assert not validate(replace(code, places={})).is_proved


@pytest.mark.parametrize(
    "strange",
    [
        "int counter = 0;",
        "static int twice(int x);\n",
        "#define count other\n",
        "#ifdef DEBUG\nint debug;\n#endif\n",
        "void other(void) { while (1) { } }",
    ],
)
def test_c_that_is_not_understood_is_not_proved(code, strange):
    text = code.files["subject.c"].replace("void subject_init", strange + "\nvoid subject_init", 1)
    text = text.replace("    const bool up", "    other();\n    const bool up", 1) if "other(void)" in strange else text
    outcome = validate(replace(code, files={**code.files, "subject.c": text}))
    assert not outcome.is_proved or "twice" in strange  # a declaration that nothing uses says nothing


def test_time_is_told(code):
    outcome = validate(code)
    assert 0 < outcome.seconds < 30 and outcome.questions > 0


# Mutants

SWAPS = {
    "+": "-", "-": "+", "*": "+", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
    "||": "&&", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<", "/": "%", "%": "/", "true": "false",
    "false": "true", "uint8_t": "uint16_t", "uint16_t": "uint8_t", "int8_t": "int16_t", "int16_t": "int8_t",
    "uint32_t": "uint64_t", "uint64_t": "uint32_t", "int32_t": "int64_t", "int64_t": "int32_t",
    "float": "double", "double": "float", "if": "if",
}  # fmt: skip
TOKENS = re.compile(r"/\*.*?\*/|\w+|<<|>>|[<>=!]=|&&|\|\||->|\S", re.S)


def mutant(rng, text):
    """The text with one token changed, one statement gone, or two exchanged."""
    head = text.index("\n", text.rindex("#")) if "#" in text else 0
    kind = rng.randrange(5)
    if kind < 3:
        found = [m for m in TOKENS.finditer(text, head) if m[0] in SWAPS or re.fullmatch(r"\d+u?", m[0])]
        if not found:
            return text
        at = rng.choice(found)
        new = SWAPS.get(at[0]) or re.sub(r"\d+", lambda d: str(int(d[0]) + rng.choice((1, -1, 2))), at[0])
        return text[: at.start()] + new + text[at.end() :]
    lines = text.split("\n")
    statements = [i for i, line in enumerate(lines) if line.endswith(";") and line.startswith("    ")] or [0]
    i = rng.choice(statements)
    if kind == 3:
        return "\n".join(lines[:i] + lines[i + 1 :])
    j = rng.choice(statements)
    lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


@pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
@pytest.mark.parametrize("seed", range(16))
def test_mutants_that_are_called_proved_run_the_same(seed, tmp_path):
    equations = random_equations(seed)
    code = generate(equations, OPTIONS[seed % 4]).code
    rng, name = random.Random(seed), f"{equations.name}.c"
    proved = 0
    for i in range(25):
        changed = replace(code, files={**code.files, name: mutant(rng, code.files[name])})
        if changed.files[name] == code.files[name] or not validate(changed, work=20_000).is_proved:
            continue
        proved += 1
        write(tmp_path / f"{i}", changed)
        sanitize = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
        program = build(tmp_path / f"{i}", changed, "gcc", sanitize, warnings=["-std=c99", "-w"])
        compare(tmp_path / f"{i}", program, changed, random_rows(seed, equations, 300))
    assert proved < 25
