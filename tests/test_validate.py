"""The proof of the C: it holds for what is generated, and a bug of any kind breaks it.

Bugs are planted twice over: by hand, one of each kind that a code generator is apt to have, and at random, where a
mutant that is called proved must run as the interpreter says."""

from __future__ import annotations

import enum
import random
import re
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from c_harness import build, compare, have, unit_of, write
from c_mutants import SANITIZE, mutants, verdict
from random_specs import random_equations, random_rows

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import machine
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load
from streamcheck.problem.places import Place
from streamcheck.validate.bisimulation import validate
from streamcheck.validate.discharge import Prover

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
    "a missing cast": (r"\(uint8_t\)\((count_now \+ 250u)\) > 100u", r"\1 > 100u"),
    "a comparison with its end": (r"a < b", "a <= b"),
    "a negated condition": (r"if \(up && a < b\)", "if (!up && a < b)"),
    "an index off by one": (r"word < 3u \? word : 3u", "word < 3u ? word + 1u : 3u"),
    "an index out of the array": (r"word < 3u \? word : 3u", "word < 4u ? word : 4u"),
    "no clamp": (r"cells\[word < 3u \? word : 3u\]", "cells[word]"),
    "a ring too short": (r"(_at < )8u", r"\g<1>7u"),
    "a ring too long": (r"(_at < )8u", r"\g<1>9u"),
    "a ring read at another place": (r"(late_now = state->late\[)state->late_at", r"\g<1>0"),
    "a ring that stands still": (r"\n    state->late_at = [^\n]*", ""),
    "commit before sample": (r"(void subject_step\([^)]*\)\n\{)", r"\1\n    state->count = inputs->up;"),
    "commit before triggers": (r"(const bool up = inputs->up;)", r"\1\n    state->hashed = 0u;"),
    "a commit left out": (r"\n    state->kept = [^\n]*", ""),
    "a commit twice": (r"(\n    state->hashed = \(uint16_t\)[^\n]*)", r"\1\1"),
    "a wrong initial value": (r"state->count = 3u;", "state->count = 2u;"),
    "an initial value left out": (r"\n    state->kept = 1;", ""),
    "an observer left out": (r"\n    state->observed.total = fourth_part;", ""),
    "a call left out": (r"\n        fourth\([^\n]*", ""),
    "a call twice": (r"(\n        fourth\([^\n]*)", r"\1\1"),
    "a call too early": (r"(\n\s*if \(up && a < b)", "\n    fourth(a, 0u, 0u, 0);\\1"),
    "arguments swapped": (r"first\((.*), (count_now)\)", r"first(\2, \1)"),
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
    "an uninitialised number": (
        r"const int8_t fourth_part = ([^;]*);",
        r"uint8_t u;\nint8_t fourth_part = (int8_t)(\1 + (u - u));",
    ),
    "code that compilers leave out": (r"(\n    state->kept = [^\n]*)", r"\n#ifndef __STDC__\1\n#endif"),
    "a typedef of its own": (r'(#include "subject.h")', r"typedef unsigned short uint8_t;\n\1"),
    "fast mathematics": (r"fp-contract=off", "fast-math"),
    "a function that others may replace": (r"void subject_step", "__attribute__((weak)) void subject_step"),
    "an uninitialised variable": (r"const int8_t fourth_part = [^;]*;", "int8_t fourth_part;"),
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


HOLES = {  # file, pattern, replacement, and what the proof says
    "no check of int": (".c", r"#if INT_MAX(?s:.*?)#endif\n", "", "does not check what the proof assumes"),
    "no check of floats": (".c", r"#if !defined\(FLT(?s:.*?)#endif\n", "", "does not check what the proof assumes"),
    "no pragma": (".c", r"#if defined\(__clang__(?s:.*?)#endif\n", "", "does not check what the proof assumes"),
    "contraction": (".c", r"FP_CONTRACT OFF", "FP_CONTRACT ON", "a directive that is not expected here"),
    "a header left out": (".c", r"#include <string.h>\n", "", "is used without <string.h>"),
    "no guard": (".h", r"#ifndef STREAMCHECK_subject_H\n#define \w+\n", "", "no guard"),
    "C++ linkage": (".h", r'extern "C"', 'extern "C++"', "a directive that is not expected here"),
    "a macro": (".h", r"(typedef struct \{)", r"#define count kept\n\1", "a directive that is not expected here"),
    "a name that may be a macro": (".c", r"\bfourth_part\b", "CHAR_BIT", "CHAR_BIT may be a macro"),
    "a macro that names a parameter": (".h", r"(void \w+\(\w+ )\w+([,)])", r"\1bool\2", "bool is a macro"),
    "an object that comes later": (
        ".c",
        r"(void subject_init)",
        r"static uint8_t early(void)\n{\n    return one;\n}\nstatic const uint8_t one = 1u;\n\1",
        "one is declared after it is used",
    ),
    "a function that comes later": (
        ".c",
        r"(void subject_init)",
        r"static uint8_t early(void)\n{\n    return one();\n}\nstatic uint8_t one(void)\n{\n    return 1u;\n}\n\1",
        "one is declared after it is used",
    ),
    "a struct twice": (".h", r"(struct subject_observers \{[^}]*\};\n)", r"\1\1", "defined twice"),
    "a constant twice": (".h", r"(struct subject_observers )", r"enum { one = 1 };\nenum { one = 1 };\n\1", "one is"),
    "an argument that may be written": (".h", r"const uint8_t cells", "uint8_t cells", "is not const"),
    "a parameter called as a type": (".h", r"(void third\(\w+ )\w+,", r"\1uint8_t,", "uint8_t is a type"),
    "a parameter called as the state": (".h", r"(void third\(\w+ )\w+,", r"\1subject_state,", "state is a type"),
    "a second declaration": (".c", r"(\n    const bool up = [^\n]*)", r"\1\1", "up is declared twice"),
    "a parameter declared again": (".c", r"(    const bool up)", r"    const bool state = up;\n\1", "declared twice"),
    "a constant field": (".h", r"    uint8_t count;", "    const uint8_t count;", "has a qualifier"),
    "a field twice": (".h", r"(    uint8_t count;)", r"\1\n\1", "have one name"),
    "a handler that is static": (".h", r"void third\(", "static void third(", "third is not declared as a handler"),
    "a handler with a result": (".h", r"void third\(", "int third(", "third is not declared as a handler"),
    "a parameter of another type": (".h", r"void third\(uint8_t", "void third(uint16_t", "third has another type"),
    "a restricted pointer": (".h", r"subject_state \*state, ", "subject_state *restrict state, ", "restrict"),
    "void twice": (".h", r"subject_init\(", "subject_init(void, ", "void must be"),
    "an input left out": (".h", r"    bool up;\n", "", "up"),
    "nonsense not reached": (".c", r"(\n    const bool up)", r"\n    if (false) {\n        no();\n    }\1", "unknown"),
    "nonsense not called": (".c", r"(void subject_init)", r"static bool lost(void)\n{\n    return a;\n}\n\1", "lost"),
    "another size": (".c", r"sizeof\((\w+)\)", r"sizeof(\1, \1)", "a memcpy of another size"),
    "a parameter that is extern": (".h", r"void third\(uint8_t \w+", "void third(uint8_t extern", "extern is not at"),
    "a comment that clang ends": (
        ".c",
        r"(\n    const bool up)",
        "\n    // a comment\r state->count = 7u;\\1",
        "a control character",
    ),
    "an inline step": (".c", r"void subject_step", "inline void subject_step", "subject_step is inline"),
}


@pytest.mark.parametrize("kind", HOLES)
def test_what_the_proof_must_not_take_on_trust(code, kind):
    ending, pattern, replacement, message = HOLES[kind]
    name = f"subject{ending}"
    text, count = re.subn(pattern, replacement, re.sub(r" */\*.*?\*/", "", code.files[name]))
    assert count, f"nothing to change:\n{text}"
    outcome = validate(replace(code, files={**code.files, name: text}))
    assert not outcome.is_proved and message in "; ".join(outcome.failures)


def test_a_static_step_is_no_step(code):
    files = {name: re.sub(r"void subject_step", "static void subject_step", text) for name, text in code.files.items()}
    (failure,) = validate(replace(code, files=files)).failures
    assert "subject_step is not a function for other files" in failure


def test_a_step_takes_inputs_that_are_const(code):
    """A caller may have no others."""
    files = {name: text.replace("const subject_inputs *", "subject_inputs *") for name, text in code.files.items()}
    (failure,) = validate(replace(code, files=files)).failures
    assert "subject_step has other parameters" in failure


@pytest.fixture(scope="module", params=[False, True], ids=["context", "copilot"])
def modes(request):
    """C whose interface has more than its step uses: an enum that is tested, a struct that is only handed on."""

    class Mode(enum.Enum):
        OFF = 0
        ON = 2

    @struct
    class Point:
        x: Int16
        y: Int16

    mode, point = extern("mode", EnumOf(Mode)), extern("point", Point)
    steps = stream(Word8, lambda n: [0] + +(n + 1))
    spec = Spec("modes")
    spec.trigger("on", mode == Mode.ON, {"mode": mode, "point": point})
    spec.trigger("late", steps > 9)
    spec.observer("steps", steps)
    found = unit_of(spec, copilot=request.param, observers=True)
    assert validate(found).is_proved
    return found


@pytest.mark.parametrize(
    ("pattern", "replacement", "message"),
    [
        (r"    if \(!modes_inputs_valid\((inputs)?\)\) \{\n        return;\n    \}\n", "", "impossible enum"),
        (r"    return valid;", "    return true;", "modes_inputs_valid"),
        (r"    return valid;", "    return false;", "modes_inputs_valid"),
        (r"Mode_OFF = 0", "Mode_OFF = 1", "the constant Mode_OFF is not 0"),
        (r"    int16_t x;\n    int16_t y;", "    int16_t y;\n    int16_t x;", "has another type"),
        (r"    int16_t y;", "    int32_t y;", "has another type"),
    ],
)
def test_the_interface_is_the_spec_s(modes, pattern, replacement, message):
    files = {name: re.sub(pattern, replacement, re.sub(r" */\*.*?\*/", "", text)) for name, text in modes.files.items()}
    assert any(re.search(pattern, text) for text in modes.files.values())
    outcome = validate(replace(modes, files=files))
    assert not outcome.is_proved and message in "; ".join(outcome.failures)


def test_many_streams_in_one_cone_and_a_long_delay():
    """Linear: twelve times the streams take less than forty times as long, in processor time."""
    x = extern("x", Word32)

    def alike(count):
        parts = [stream(Word32, lambda s, i=i: [i] + +(s + x + i)) for i in range(count)]
        while len(parts) > 1:
            parts = [a ^ b for a, b in zip(parts[::2], parts[1::2], strict=False)] + parts[len(parts) // 2 * 2 :]
        return parts[0]

    def unlike(count):
        """Each adds the one before, in one of four ways that no loop has in turn."""
        last = x
        for i in range(count):
            way = (i * 7 if i % 5 else i // 5) % 4
            last = stream(Word32, lambda s, b=last, w=way, i=i: [i] + +[s + b, s ^ b, s * 3 - b, (s | b) + 1][w])
        return last

    def seconds(kind, count):
        total = kind(count)
        spec = Spec("many")
        spec.trigger("t", total > 5, total)
        code, times = unit_of(spec), []
        for _ in range(3 if count < 1000 else 1):
            began = time.process_time()
            assert validate(code).is_proved
            times.append(time.process_time() - began)
        return max(times)

    for kind in (alike, unlike):
        assert any(seconds(kind, 1800) < 40 * seconds(kind, 150) for _ in range(3))  # other work on the machine counts
    spec = Spec("late")
    spec.trigger("t", ([0] * 5_000 + +x) > 5)
    assert validate(unit_of(spec)).is_proved


def test_budgets_are_work_and_not_time():
    """A question that needs much work stays open with a small budget, whatever time there is."""
    a, b = (variable(name, machine(16, signed=False)) for name in "ab")
    wide = machine(32, signed=False)
    product = term("mul", *(term("cast", x, payload=wide) for x in (a, b)))
    odd = [term("eq", term("bitand", term("shr", product, constant(wide, 0)), constant(wide, 1)), constant(wide, 1))]
    both = [term("eq", term("bitand", x, constant(x.type, 1)), constant(x.type, 1)) for x in (a, b)]
    claim = term("eq", odd[0], term("and", *both))
    prime = term("ne", product, constant(wide, 65537 * 65521 % (1 << 32) | 1))
    assert Prover(TRUE).valid([claim]) == [True]
    assert Prover(TRUE, work=1).valid([prime]) == [False]


def test_the_c_may_compute_with_a_twin_of_what_the_equations_compute_with():
    """`least(x)` is -minimum(x, 7) for all x; remainders of the one are hard to compare with those of the other."""

    def least(x):
        return -minimum(-minimum(x, 7) // 7, minimum(x, 7))

    x = extern("x", Word32)
    spec = Spec("twins")
    spec.observer("shown", least(x) % ([9] + +least(x)))
    assert validate(generate(flatten(spec), CodeOptions(observers=True)).code, work=20_000).is_proved


def test_the_observers_are_defined_as_declared(modes):
    if not modes.copilot:
        return
    text = modes.files["modes.c"].replace("struct modes_observers modes", "struct modes_observers *modes")
    assert not validate(replace(modes, files={**modes.files, "modes.c": text})).is_proved


@pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
@pytest.mark.parametrize("seed", range(4))
def test_mutants_of_all_kinds(seed, tmp_path):
    """A sample; tests/bench/mutants.py does five thousand."""
    found = Counter()
    code = generate(random_equations(seed), OPTIONS[seed]).code
    for kind, file, text in mutants(code, random.Random(seed), 27):
        result = verdict(code, seed, file, text, tmp_path / "c", [("gcc", SANITIZE)])
        assert result in ("refused", "same"), f"{kind} in {file}: {result}\n{text}"
        found[result] += 1
    assert found["refused"] > 9


def test_an_object_that_no_machine_holds_is_refused_at_once():
    """A slip in the length of a table would otherwise fill the memory with its zeros."""
    x = extern("x", Word8)
    spec = Spec("table")
    spec.trigger("t", True, [Array(Word8, 4)([3, 1, 4, 1])[x % 4]])
    code = generate(flatten(spec), CodeOptions()).code
    text = re.sub(r"t_table\[4\]", "t_table[4000000000]", code.files["table.c"])
    assert text != code.files["table.c"]
    outcome = validate(replace(code, files={**code.files, "table.c": text}))
    assert not outcome.is_proved and "4000000000 values" in outcome.failures[0]


def test_the_relation_is_not_trusted(code):
    wrong = dict(code.places)
    wrong["late"], wrong["late_1"] = wrong["late_1"], wrong["late"]
    assert not validate(replace(code, places=wrong)).is_proved
    assert not validate(replace(code, places={**code.places, "count": (Place("kept"),)})).is_proved
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


def test_a_clamped_index_is_no_puzzle_for_the_solver():
    """Below a square root it took minutes to see that (d < 1 ? d : 1) == 0 is d == 0."""
    x, d = extern("x", Double), extern("d", Word16)
    spec = Spec("clamped")
    spec.trigger("t", True, [maximum(Double(2.0**64), sqrt(Array(Double, 2)([x, 2.0**64])[d]))])
    code = generate(flatten(spec), CodeOptions()).code
    assert validate(code, work=20_000).is_proved
    for wrong in ("d < 1u ? 1u : d", "d < 1u ? d : 0u"):
        text = code.files["clamped.c"].replace("d < 1u ? d : 1u", wrong)
        assert text != code.files["clamped.c"]
        assert not validate(replace(code, files={**code.files, "clamped.c": text}), work=20_000).is_proved
