"""The models of C's standard library: against the real one, on corner and random values and in random programs."""

from __future__ import annotations

import json
import math
import random
import struct
import subprocess

import pytest
from c_harness import have
from minic_runs import walk

from streamcheck.c import kinds, library
from streamcheck.c.arithmetic import CValue
from streamcheck.c.kinds import FLOATING_CONSTANTS
from streamcheck.core.evaluate import value_of
from streamcheck.core.floats import f32
from streamcheck.core.term import variable
from streamcheck.frontends.minic.expressions import Expressions
from streamcheck.frontends.minic.flow import Flow
from streamcheck.frontends.minic.library_calls import value_of_model
from streamcheck.frontends.minic.read import read_c
from streamcheck.problem.problem import problem_from_plain, problem_to_plain

needs_gcc = pytest.mark.skipif(not have("gcc"), reason="gcc is not here")

FLOATS = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999999999999994, 1.0, -1.0, 3.7, -3.2, 1e-310, 5e-324, -1e-40]
FLOATS += [1e300, -1e300, 4503599627370495.5, 4503599627370497.5, 8388607.5, 2147483647.5, 9.3e18, 1.17549435e-38]
FLOATS += [float("inf"), float("-inf"), float("nan"), 2.2250738585072014e-308, 1.7976931348623157e308]
INTS = [0, 1, -1, 2, 47, 48, 57, 58, 65, 90, 91, 97, 122, 123, 127, 128, 255, 2**31 - 1, -(2**31), -77, 2**63 - 1]
# Functions whose value is a truth value: any number but zero means true.
TRUTHS = {"isnan", "isinf", "isfinite", "isnormal", "signbit"}
EXPECTED = {"nan", "inf", "huge_val", "expect", "rand", "random", "getchar"}  # without arguments, or of compilers


def models():
    """Every model with arguments: (name in C, model)."""
    for name in sorted(library._models()):
        if name.removesuffix("f") not in EXPECTED and name not in EXPECTED and not name.startswith("ones_of_"):
            builtin = "__builtin_" if name in library._COMPILERS else ""
            yield builtin + name, library._models()[name]


def term_of(model):
    """The model's value as a term over its parameters, the choices in it, and its side conditions."""
    flow = Flow("library", "library.c")
    to = Expressions(flow, mathematical=False)
    given = [CValue(kind, variable(name, to.type_of(kind))) for name, kind in model.parameters]
    value = value_of_model(model, model.name, given, model.value, to)
    return value.term, [v.term for v in given], [c.term for c in flow.choices], [c.holds for c in flow.checks]


def bits(kind, value):
    """The value as the C program prints it."""
    if isinstance(kind, kinds.Integer):
        return str(int(value))
    code = (
        struct.unpack("<I", struct.pack("<f", value))
        if kind.width == 32
        else struct.unpack("<Q", struct.pack("<d", value))
    )
    return "nan" if math.isnan(value) else f"{code[0]:x}"


def literal(kind, value):
    if isinstance(kind, kinds.Integer):
        return f"({kind})({value}LL)" if value != -(2**63) else "LONG_MIN"
    if math.isnan(value):
        return "NAN"
    return (
        f"({kind})INFINITY"
        if value == math.inf
        else f"-({kind})INFINITY"
        if math.isinf(value)
        else f"({kind}){value.hex()}"
    )


def arguments(model, seed):
    """Corner and random values, of the parameters' kinds."""
    r = random.Random(seed)

    def value(kind):
        if isinstance(kind, kinds.Floating):
            x = r.choice([r.choice(FLOATS), r.choice(FLOATS), r.uniform(-9, 9), struct.unpack("<d", r.randbytes(8))[0]])
            return f32(x) if kind.width == 32 else x
        x = r.choice([*INTS, r.randint(-1, 255), r.randint(-(2**62), 2**62)])
        return max(kind.low, min(kind.high, x))

    return [[value(kind) for _, kind in model.parameters] for _ in range(300)]


PRINTERS = r"""
#include <math.h>
#include <stdlib.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <limits.h>
#include <inttypes.h>
static void show_f(float x) { unsigned u; memcpy(&u, &x, 4); x != x ? puts("nan") : printf("%x\n", u); }
static void show_d(double x) { unsigned long u; memcpy(&u, &x, 8); x != x ? puts("nan") : printf("%lx\n", u); }
static void show_i(long x) { printf("%ld\n", x); }
"""


@needs_gcc
def test_models_have_the_values_of_the_real_library(tmp_path):
    """Where the standard leaves the value open, the real one is among those of the model."""
    lines, cases = [], []
    for number, (name, model) in enumerate(models()):
        term, parameters, choices, conditions = term_of(model)
        show = "show_i" if isinstance(model.result, kinds.Integer) else f"show_{model.result.name[0]}"
        called = name.removesuffix("f") if name.removesuffix("f") in library.GENERIC else name
        for values in arguments(model, number):
            given = dict(zip(parameters, values, strict=True))
            if not all(value_of(c, given) for c in conditions):
                continue  # undefined
            allowed = {bits(model.result, value_of(term, given | dict.fromkeys(choices, n))) for n in (0, 1, -1, 5)}
            cases.append((name, model, values, allowed))
            given_text = ", ".join(literal(kind, v) for (_, kind), v in zip(model.parameters, values, strict=True))
            lines.append(f"  {show}({called}({given_text}));")
    source = tmp_path / "library.c"
    source.write_text(PRINTERS + "int main(void) {\n" + "\n".join(lines) + "\nreturn 0; }\n")
    subprocess.run(
        ["gcc", "-w", "-O0", "-fno-builtin", str(source), "-lm", "-o", str(tmp_path / "library")], check=True
    )
    printed = subprocess.run([tmp_path / "library"], capture_output=True, text=True, check=True).stdout.split()
    assert len(printed) == len(cases) > 10_000
    for found, (name, model, values, allowed) in zip(printed, cases, strict=True):
        if name.removesuffix("f") in TRUTHS or (model.is_character and name.startswith("is")):
            assert (found != "0") in {a != "0" for a in allowed}, (name, values, found)
            if not (name.startswith("signbit") and math.isnan(values[0])):
                assert len({a != "0" for a in allowed}) == 1, (name, values)
        else:
            assert found in allowed, (name, values, found, allowed)
        is_open = (name.startswith(("fmax", "fmin")) and values == [0, 0]) or name.startswith("copysign")
        assert len(allowed) == 1 or is_open or model.chooses, (name, values, allowed)


@pytest.fixture
def read(tmp_path):
    def reader(text, integers="c"):
        path = tmp_path / "a.c"
        path.write_text(text)
        return read_c(str(path), integers)

    return reader


def ends(cfa, *inputs):
    at, values = walk(cfa, list(inputs) or [0])
    return at if at in cfa.bad else next(value for v, value in values.items() if v.payload == "r")


@pytest.mark.parametrize(
    ("call", "result"),
    [
        ("fabs(-2.5) == 2.5 && fabsf(-2.5f) == 2.5f", 1),
        ("__builtin_fabs(-3.0) * 10", 30),
        ("isnan(NAN) && !isnan(1.0f) && isinf(INFINITY) && __builtin_isinf_sign(-INFINITY)", 1),
        ('__builtin_inf() > DBL_MAX && __builtin_nan("") != 0 && HUGE_VAL == INFINITY', 1),
        ("fpclassify(0.0) == FP_ZERO && fpclassify(1e-40f) == FP_SUBNORMAL && fpclassify(1e-40) == FP_NORMAL", 1),
        ("isunordered(1.0, NAN) + isgreater(2.0f, 1.0)", 2),
        ("1 / copysign(0.0, -1.0) < 0 && signbit(-0.0)", 1),
        ("abs(-3) + labs(-4L) + llabs(-5LL)", 12),
        ("isdigit('7') && !isdigit('a') && isspace(' ') && toupper('q') == 'Q'", 1),
        ("rand() >= 0 && rand() <= RAND_MAX", 1),
        ("__builtin_expect(5, 1)", 5),
        ("lround(-2.5) + lrint(2.5)", -1),
        ("FLT_MANT_DIG + DBL_MAX_EXP + FLT_RADIX", 1050),
    ],
)
def test_calls_of_the_library(read, call, result):
    cfa, warnings = read(f"int r;\nint main(void) {{ r = {call}; return 0; }}\n")
    assert ends(cfa) == result and not warnings


def test_what_the_library_leaves_undefined_is_a_claim(read):
    cases = [
        ("r = abs(nondet_int());", [-(2**31)], "no overflow, line 2"),
        ("r = isalpha(nondet_int());", [256], "argument in range, line 2"),
        ("r = isalpha(nondet_int());", [-1], 0),
        ("r = lround(nondet_int() * 1e10);", [2**31 - 1], "conversion in range, line 2"),
        ("if (nondet_int()) __builtin_unreachable();", [1], "unreachable code, line 2"),
    ]
    for body, inputs, result in cases:
        cfa, _ = read(f"int r;\nint main(void) {{ {body} return 0; }}\n")
        assert ends(cfa, *inputs) == result, body


def test_bodies_of_the_file_are_executed_as_written(read):
    """Whatever their names are."""
    program = "int r; int nondet_int(void); void reach_error(void);\n"
    cases = [
        ("void assert(int c) { if (!c) r++; }", "assert(0);", 1),
        ("void __VERIFIER_assert(int bad) { if (bad) reach_error(); }", "__VERIFIER_assert(1);", "assert, line 3"),
        ("void __VERIFIER_assert(int bad) { if (bad) reach_error(); }", "__VERIFIER_assert(0);", 0),
        ("void __VERIFIER_assume(int c) { r = c; }", "__VERIFIER_assume(0);", 0),
        ("void assume_abort_if_not(int c) { if (c) abort(); }", "assume_abort_if_not(0); r = 5;", 5),
        ("int abs(int x) { return x + 1; }", "r = abs(-5);", -4),
        ("double fabs(double x) { return x; }", "r = fabs(-5.0);", -5),
        ("unsigned long strlen(const char *s) { return 9; }", 'char t[] = "ab"; r = strlen(t);', 9),
        ("void abort(void) { r = 4; }", "abort(); r++;", 5),
        ("void exit(int c) { r = c; }", "exit(3); r++;", 4),
        ("void reach_error(void) { r = 7; }", "reach_error();", 7),
        ("int __VERIFIER_nondet_int(void) { return 6; }", "r = __VERIFIER_nondet_int();", 6),
    ]
    for before, body, result in cases:
        cfa, _ = read(f"{program}{before}\nint main(void) {{ {body} return 0; }}\n")
        assert ends(cfa) == result, before


def test_a_body_that_only_reports_is_the_error_itself(read):
    """`reach_error` that returns, exits or calls another report: its call is what must not happen."""
    for body in ("", "abort();", "assert(0);", '__assert_fail("0", "a.c", 3, "reach_error");', 'printf("no");'):
        cfa, _ = read(f"int r;\nvoid reach_error(void) {{ {body} }}\nint main(void) {{\n reach_error();\n}}\n")
        assert ends(cfa) == "reach_error, line 4", body


def test_assertions_are_named_for_the_line_of_their_call(read):
    text = (
        "void reach_error(void);\nvoid __VERIFIER_assert(int c) {\n if (!c) {\n ERROR: reach_error();\n }\n}\n"
        "int main(void) {\n __VERIFIER_assert(nondet_int());\n __VERIFIER_assert(nondet_int() > 1);\n}\n"
    )
    cfa, _ = read(text)
    assert [e.name for e in cfa.errors] == ["assert, line 8", "assert, line 9"]


# What is not modelled


def limits(cfa):
    return {e.name: (e.limit.reason, e.limit.hidden) for e in cfa.errors if e.limit is not None}


def test_calls_that_are_not_modelled_end_the_model(read):
    cases = [
        ("", "double x = sin(1.0);", "no call of sin, line 3", "sin is a function of the standard library without"),
        ("double exp(double);", "double x = exp(1.0);", "no call of exp, line 3", "exp is a function of the standard"),
        ("", "frob(3);", "no call of frob, line 3", "frob is not declared"),
        ("", "int x = __builtin_clz(3);", "no call of __builtin_clz, line 3", "is not declared"),
        ("int fabs(int);", "int x = fabs(1);", "no call of fabs, line 3", "fabs is not declared as in the standard"),
        ("int g; int f(void);", "f();", "no call of f, line 3", "f has no body and may change g"),
        ("int f(int *);", "int x; f(&x);", "no call of f, line 3", "f has no body and is passed an object"),
        ("int f(int n) { return n ? f(n - 1) : 0; }", "f(nondet_int());", "no call of f, line 1", "f calls itself"),
    ]
    in_f = ("no overflow, line 1", "no call of f, line 1")  # a call that is not read gets to them too
    for before, body, name, reason in cases:
        cfa, _ = read(f"{before} int main(void) {{\n\n {body}\n assert(nondet_int());\n}}\n")
        ((found, (why, hidden)),) = limits(cfa).items()
        assert (found, hidden) == (name, (*(in_f if "calls itself" in reason else ()), "assert, line 4")), body
        assert reason in why, body


def test_what_comes_after_two_ends_of_the_model_is_hidden(read):
    """The second end is after the first, and no run of the automaton gets there."""
    cfa, _ = read("int main(void) {\n frob();\n grob();\n frob();\n assert(nondet_int());\n}\n")
    why, hidden = limits(cfa)["no call of frob, line 2"]
    assert why == "frob is not declared" and "assert, line 5" in hidden


def test_the_ends_of_a_model_are_kept_as_json(read):
    cfa, _ = read("int main(void) {\n frob();\n assert(nondet_int());\n}\n")
    again = problem_from_plain(json.loads(json.dumps(problem_to_plain(cfa))))
    hidden = ("assert, line 3",)
    assert again.errors == cfa.errors and limits(again) == {"no call of frob, line 2": ("frob is not declared", hidden)}


def test_what_cannot_happen_after_a_call_is_not_hidden_by_it(read):
    cfa, _ = read(
        "int main(void) {\n assert(nondet_int());\n if (nondet_int()) { frob(); assert(nondet_int()); }\n"
        " assert(nondet_int());\n}\n"
    )
    assert limits(cfa)["no call of frob, line 3"][1] == ("assert, line 3", "assert, line 4")


def test_a_function_of_another_file_cannot_change_what_it_cannot_name(read):
    """It returns any value then, with a warning."""
    cfa, warnings = read("static int g; int f(void); int main(void) { g = 1; int x = f(); assert(g == 1); }\n")
    assert not limits(cfa) and warnings == (
        "a.c:1: f has no body: it is assumed to return any value and to change nothing",
    )


# Memory


def memory_program(seed):
    """A program of calls on small arrays whose arguments are constants or inputs, all of them in range of an int."""
    r = random.Random(seed)
    number = lambda: r.choice([str(r.randint(0, 4)), "n", "(n & 3)", "(n & 7)"])
    place = lambda name: r.choice([name, name, f"{name} + {r.randint(0, 3)}", f"&{name}[n & 3]"])
    text = lambda: r.choice([place("a"), place("b"), place("a"), '"ab"', '"x"', '""'])
    target = lambda: place(r.choice("ab"))
    byte = lambda: r.choice(["0", "'x'", "'y'", "n", "200"])
    forms = [
        lambda: f"memset({target()}, {byte()}, {number()});",
        lambda: f"memset(w, {r.choice(['0', '255', '1'])}, {r.choice(['4', '8', 'sizeof w'])});",
        lambda: "memset(&one, 0, sizeof one);",
        lambda: "memcpy(&one, &other, sizeof one);",
        lambda: f"memcpy(w + {r.randint(0, 1)}, v, {r.choice(['4', '8'])});",
        lambda: f"{r.choice(['memcpy', 'memmove', 'memmove'])}({target()}, {text()}, {number()});",
        lambda: f"g = g * 3 + (int)strlen({text()});",
        lambda: f"g = g * 3 + (int)strnlen({text()}, {number()});",
        lambda: f"strcpy({target()}, {text()});",
        lambda: f"strcat({target()}, {text()});",
        lambda: f"strncpy({target()}, {text()}, {number()});",
        lambda: f"strncat({target()}, {text()}, {number()});",
        lambda: f"g = g * 3 + sign(strcmp({text()}, {text()}));",
        lambda: f"g = g * 3 + sign(strncmp({text()}, {text()}, {number()}));",
        lambda: f"g = g * 3 + sign(memcmp({place('a')}, {place('b')}, {number()}));",
        lambda: "g = g * 3 + sign(memcmp(w, v, sizeof v));",
        lambda: f"a[{r.randint(0, 5)}] = {byte()};",
        lambda: f"v[{r.randint(0, 1)}] = n * 1000;",
    ]
    lines = [f"  n = nondet_int(); {r.choice(forms)()}" for _ in range(r.randint(2, 6))]
    return MEMORY + "int main(void) {\n" + "\n".join(lines) + "\n}\n"


MEMORY = """#include <string.h>
struct pair { int x; char t[3]; };
char a[6] = "abc"; char b[8] = "abx"; int w[3] = {1, 2, 3}; int v[2] = {1, 2}; int n; long g;
struct pair one = { 1, "ab" }, other = { 7, "xy" };
int nondet_int(void);
int sign(int x) { return x < 0 ? -1 : x > 0; }
"""
NAMES = ("a", "b", "w", "v", "g", "one.x", "one.t")


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory):
    """Runs a random program as gcc's sanitizers see it: the variables at the end, or None if it is undefined."""
    folder = tmp_path_factory.mktemp("memory")
    shown = [f"show({name}, sizeof {name} / {size});" for name, size in (("a", 1), ("b", 1), ("w", 4), ("v", 4))]
    parts = ["#include <stdio.h>\n#include <stdlib.h>\n", MEMORY, "static int inputs[8], used;"]
    parts.append("int nondet_int(void) { return inputs[used++ % 8]; }")
    parts.append('#define show(x, k) for (unsigned i = 0; i < k; i++) printf("%d ", x[i])')
    for seed in range(COUNT):
        body = memory_program(seed).removeprefix(MEMORY).replace("int main", f"void main_{seed}")
        parts.append(body)
    cases = " ".join(f"case {seed}: main_{seed}(); break;" for seed in range(COUNT))
    parts.append(
        "int main(int k, char **s) { for (int i = 2; i < k; i++) inputs[i - 2] = atoi(s[i]);"
        f" switch (atoi(s[1])) {{ {cases} }} {' '.join(shown)}"
        ' printf("%ld %d ", g, one.x); show(one.t, 3); return 0; }'
    )
    source = folder / "memory.c"
    source.write_text("\n".join(parts))
    checks = ["-fsanitize=address", "-fno-builtin", "-fno-sanitize-recover=all"]
    command = ["gcc", "-w", "-O0", "-g0", *checks, str(source), "-o", str(folder / "memory")]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("gcc has no address sanitizer here")

    def run(seed, inputs):
        done = subprocess.run([folder / "memory", str(seed), *map(str, inputs)], capture_output=True, text=True)
        return done.stdout.split() if done.returncode == 0 else None

    return run


COUNT = 60


@needs_gcc
def test_memory_functions_do_what_the_real_ones_do(tmp_path, sanitized):
    """The values at the end are the same. A run that the sanitizer stops has failed a claim of ours; the other way
    round, a read or write that the sanitizer cannot see may be undefined (within an object, or next to it)."""
    stopped = finished = 0
    for seed in range(COUNT):
        path = tmp_path / "memory.c"
        path.write_text(memory_program(seed))
        cfa, _ = read_c(str(path), "c")
        for k in range(3):
            r = random.Random(10 * seed + k)
            inputs = [r.choice([0, 1, 2, 3, r.randint(0, 9), r.randint(-3, 200)]) for _ in range(8)]
            at, values = walk(cfa, inputs)
            real = sanitized(seed, inputs)
            if at in cfa.bad:
                stopped += 1
                continue
            finished += 1
            by_name = {v.payload: value for v, value in values.items()}
            flat = [
                x for name in NAMES for x in (by_name[name] if isinstance(by_name[name], tuple) else [by_name[name]])
            ]
            assert real == [str(int(x)) for x in flat], (seed, inputs, path.read_text())
    assert finished > 60 and stopped > 20


@pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
def test_floating_constants_are_those_of_gcc(tmp_path):
    shown = "".join(f'printf("%a\\n", (double){name});' for name in FLOATING_CONSTANTS)
    text = f"#include <float.h>\n#include <math.h>\n#include <stdio.h>\nint main(void) {{ {shown} return 0; }}\n"
    (tmp_path / "a.c").write_text(text)
    subprocess.run(["gcc", "-std=gnu11", "a.c", "-o", "a"], cwd=tmp_path, check=True)
    found = subprocess.run(["./a"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    assert [*map(float.fromhex, found)] == [value for value, _ in FLOATING_CONSTANTS.values()]
