"""The semantics of C: what gcc and clang compute, normal forms that keep every value, and the portable dialect."""

from __future__ import annotations

import random
import subprocess

import pytest
from c_harness import have
from minic_runs import walk

from streamcheck.c.arithmetic import CValue, Dialect, SideCondition
from streamcheck.c.declarations import Typedef
from streamcheck.c.expressions import Evaluator
from streamcheck.c.kinds import BOOLEAN, DOUBLE, FLOAT, INT, LONG, SHORT, UCHAR, UINT, ULONG
from streamcheck.c.literals import character, decimal_literal, whole_literal
from streamcheck.c.models import LP64
from streamcheck.c.preprocess import preprocess
from streamcheck.c.syntax import parse
from streamcheck.c.terms import comparison, division, recast, truth
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.intervals import Intervals
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, MachineType, machine
from streamcheck.frontends.minic.read import read_c

# Programs on which the two readers that this room replaced, or one of them and the compilers, differed.
PROGRAMS = {
    "int main(void) { double y = sqrt(0.25); r = (int)(y * 4.0); }": 2,
    "int main(void) { r = (int)(fabs(-2.5) + floor(-0.5f) + ceilf(0.5f)); }": 2,
    "\n#if INT_MAX > 40000 && __CHAR_BIT__ == 8\nint main(void) { r = 1; }\n#else\nint r2 = r;\n#endif\n": 1,
    "\n#if -1 > 0u && ~0 < 0 && (7 ^ 2) % 3 == 2 && 1 << 40 > 1\nint main(void) { r = 3; }\n#endif\n": 3,
    "// a comment \\\nint wrong(\nint main(void) { r = 4; }": 4,
    "\n#ifndef __STDC__\nint main(void) { r = 1; }\n#else\nint main(void) { r = 2; }\n#endif\n": 2,
    "int main(void) { r = UINT64_C(18446744073709551615) > 0 && UINT32_C(4000000000) > 0 && -1 < INT64_C(5); }": 1,
    "int main(void) { float f = 0x1.8p1f; r = (int)(f + 0x.8p1 + 0x2p-1 + 1.f + .5); }": 6,
    "int main(void) { int a[3] = {0}, *p = a; r = sizeof(1 + p) * 10 + sizeof(p - p) + sizeof(a); }": 100,
    "int main(void) { int y = 2; const int *q = &y; int *w = (int *)q; *w = 3; r = y; }": 3,
    "int main(void) { unsigned char c = 200; r = (c << 1) + (unsigned char)(c << 1) + ~c; }": 343,
    "int main(void) { _Bool b = 0.5; r = b * 10 + (_Bool)256 + !0.5; }": 11,
    "enum e { A, B }; int main(void) { enum e x = A; r = (x - 1 < 0) + 10 * (A - 1 < 0); }": 10,
    "int main(void) { long long m = 3000000000; r = (-1 < 1u) * 100 + (m > 4000000000u) * 10 + (-1L < 1u); }": 1,
    "int main(void) { struct { int a[2]; char c; } x = {{1, 2}, 3}, y; y = x; x.a[0] = 9; r = y.a[0] + y.c; }": 4,
    "int main(void) { r = (int)(float)16777217 - 16777216 + (3 / 2 * 2.0f == 2.0) * 10; }": 10,
    "int main(void) { double n = NAN; r = (n == n) + (n != n) * 10 + (n < 1) * 100 + !n * 1000; }": 10,
    "int main(void) { double n = -INFINITY; r = (n < -1e308) + ((float)1e300 == INFINITY) * 10; }": 11,
    "int main(void) { r = (int8_t)200 + (-7 >> 1) + (-7 / 2) + (-7 % 2); }": -64,
    "int main(void) { r = 'a' + '\\377' + '\\'' + 0777 + 0b11; }": 97 - 1 + 39 + 511 + 3,
    'char t[] = "a\'b"; int main(void) { r = sizeof t * 100 + t[1]; }': 439,
}


def result(text, folder):
    path = folder / "a.c"
    path.write_text("#include <math.h>\n#include <limits.h>\n#include <stdint.h>\nint r;\n" + text)
    cfa, _ = read_c(str(path), "c")
    at, values = walk(cfa, [0])
    return at if at in cfa.bad else next(value for v, value in values.items() if v.payload == "r")


@pytest.mark.parametrize(("text", "value"), PROGRAMS.items())
def test_what_compilers_compute(text, value, tmp_path):
    assert result(text, tmp_path) == value
    for compiler in filter(have, ("gcc", "clang")):
        includes = "".join(f"#include <{h}.h>\n" for h in ("math", "limits", "stdint", "stdio"))
        main = 'int main(void) { run(); printf("%d", r); }'
        source = f"{includes}int r;\n#define main run\n{text}\n#undef main\n{main}\n"
        (tmp_path / "b.c").write_text(source)
        subprocess.run([compiler, "-w", "-std=gnu11", "b.c", "-o", "b", "-lm"], cwd=tmp_path, check=True)
        assert subprocess.run(["./b"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout == str(value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("struct s { int x, y; } a[2]; int main(void) { int *p = &a[0].x; p++; r = *p; }", "to a single variable"),
        ("int main(void) { float f = 1e39f; }", "no float holds the literal 1e39f"),
        ("int main(void) { int y; const int *q = &y; *q = 3; }", "*q = 3: it is const"),
        ("struct s { int x; }; struct s { long x; }; int main(void) { }", "the struct s is defined twice"),
    ],
)
def test_what_is_refused(text, message, tmp_path):
    with pytest.raises(SpecError) as why:
        result(text, tmp_path)
    assert message in why.value.message


def test_literals():
    assert whole_literal("2147483648") == (1 << 31, LONG) and whole_literal("0x80000000") == (1 << 31, UINT)
    assert whole_literal("1lu") == (1, ULONG) and whole_literal("010") == (8, INT) and whole_literal("0") == (0, INT)
    for wrong in ("08", "1lul", "5ulu", "1f", "18446744073709551615", "0x1ffffffffffffffff"):
        assert whole_literal(wrong) is None
    assert decimal_literal("0.1f") == (float.fromhex("0x1.99999ap-4"), FLOAT)
    assert decimal_literal("0.1") == (0.1, DOUBLE) and decimal_literal("1e39f") is None
    assert decimal_literal("0x1.fp1") == (3.875, DOUBLE) and decimal_literal("0x1p-2F") == (0.25, FLOAT)
    assert decimal_literal("1e400") is None and decimal_literal("1.0L") is None
    assert [character(t) for t in ("'a'", "'\\0'", "'\\xff'", "'\\n'", "'ab'")] == [97, 0, -1, 10, None]


# Normal forms

TYPES = [machine(w, signed=s) for w in (8, 16, 32, 64) for s in (False, True)]


def random_term(rng, type, depth, names):
    """A term of the type over variables of any."""
    if depth == 0 or rng.random() < 0.1:
        if rng.random() < 0.3:
            return constant(type, rng.choice([type.low, type.high, 0, 1, rng.randint(type.low, type.high)]))
        return names.setdefault((type, rng.randrange(2)), variable(f"v{len(names)}", type))
    form = rng.randrange(6)
    if form == 0:
        other = rng.choice(TYPES)
        return term("cast", random_term(rng, other, depth - 1, names), payload=type)
    if form == 1:
        return term("cast", random_condition(rng, depth - 1, names), payload=type)
    if form == 2:
        args = [random_term(rng, type, depth - 1, names) for _ in range(2)]
        return term("mux", random_condition(rng, depth - 1, names), *args)
    args = [random_term(rng, type, depth - 1, names) for _ in range(2)]
    return term(rng.choice("add sub mul bitand bitor bitxor quot rem".split()), *args)


def random_condition(rng, depth, names):
    type = rng.choice(TYPES)
    args = [random_term(rng, type, depth, names) for _ in range(2)]
    return term(rng.choice("eq ne lt le gt ge".split()), *args)


def values_of(rng, names):
    pick = lambda t: rng.choice([t.low, t.high, 0, 1, rng.randint(-3, 3), rng.randint(t.low, t.high)])
    return {v: t.wrap(pick(t)) for (t, _), v in names.items()}


@pytest.mark.parametrize("seed", range(150))
def test_normal_forms_keep_every_value(seed):
    rng, names = random.Random(seed), {}
    type, narrow, op = rng.choice(TYPES), rng.choice(TYPES), rng.choice("eq ne lt le gt ge".split())
    a, b = (random_term(rng, type, 3, names) for _ in range(2))
    wide = machine(64, signed=True)
    x, y = (term("cast", random_term(rng, narrow, 2, names), payload=wide) for _ in range(2))
    y = constant(wide, rng.randint(-300, 300)) if seed % 3 == 0 else y
    pairs = [
        *((recast(a, to), term("cast", a, payload=to)) for to in TYPES),
        (truth(a), term("ne", a, constant(type, 0))),
        (comparison(op, a, b), term(op, a, b)),
        (comparison(op, x, y), term(op, x, y)),
        (division("quot", x, y), term("quot", x, y)),
        (division("rem", x, y), term("rem", x, y)),
    ]
    bounds = Intervals()
    for _ in range(20):
        values = values_of(rng, names)
        for normal, plain in pairs:
            assert normal.type is plain.type and value_of(normal, values) == value_of(plain, values)
            if isinstance(normal.type, MachineType):
                low, high = bounds.of(normal)
                assert low <= value_of(normal, values) <= high


# Dialects


class Expression(Evaluator):
    """Evaluates expressions over the variables a to f, and collects side conditions."""

    KINDS = {"a": INT, "b": SHORT, "c": UCHAR, "d": ULONG, "e": LONG, "f": FLOAT, "t": BOOLEAN, "u": UINT}

    def __init__(self, dialect):
        super().__init__("a.c", dialect)
        self.conditions = []
        for name, kind in self.KINDS.items():
            self.scope.names[name] = CValue(kind, variable(name, self.arithmetic.type_of(kind)))
        if dialect is Dialect.PORTABLE:
            self.scope.names |= {name: Typedef(kind) for name, kind in LP64.typedefs.items()}

    def oblige(self, condition, premise, holds):
        self.conditions.append((condition, term("implies", premise, holds)))

    def evaluate(self, text):
        (function,) = parse(f"int f(void) {{ return {text}; }}", "a.c")
        return self.scalar(function.body.block_items[0].expr)


def random_expression(rng, depth):
    if depth == 0:
        return rng.choice([*"abcdetu", "1", "7", "255", "-1", "4000000000u", "3u", "0"])
    left, right = random_expression(rng, depth - 1), random_expression(rng, depth - 1)
    casts = ["int8_t", "uint8_t", "int16_t", "uint32_t", "int64_t", "uint64_t", "bool", "int"]
    return rng.choice(
        [
            f"({left} {rng.choice('+ - * / % & | ^ < <= > >= == != && ||'.split())} {right})",
            f"({left} {rng.choice(['<<', '>>'])} {rng.choice(['1', '3', 'c', '31'])})",
            f"(({rng.choice(casts)}){left})",
            f"({rng.choice('- ~ ! +'.split())} {left})",
            f"({left} ? {right} : {left})",
        ]
    )


@pytest.mark.parametrize("seed", range(100))
def test_portable_c_is_a_stricter_dialect(seed):
    """Where the portable side conditions hold, so do the others, and the values are the same."""
    rng = random.Random(seed)
    text = random_expression(rng, 4)
    compiled, portable = Expression(Dialect.COMPILED), Expression(Dialect.PORTABLE)
    one, other = compiled.evaluate(text), portable.evaluate(text)
    assert one.kind == other.kind
    for _ in range(30):
        given = {}
        for name, kind in Expression.KINDS.items():
            var = variable(name, compiled.arithmetic.type_of(kind))
            if isinstance(var.type, MachineType):
                given[var] = var.type.wrap(rng.choice([0, 1, -1, rng.randint(-300, 300), rng.getrandbits(64)]))
            else:
                given[var] = rng.random() < 0.5 if var.type is BOOL else 1.5
        if all(value_of(holds, given) for _, holds in portable.conditions):
            assert all(value_of(holds, given) for _, holds in compiled.conditions), text
            assert value_of(one.term, given) == value_of(other.term, given), text


@pytest.mark.parametrize(
    ("text", "condition", "bad", "good"),
    [
        ("(int8_t)a", SideCondition.CONVERSION, 128, 127),
        ("(int)(a + 2147483648u)", SideCondition.CONVERSION, 0, -1),
        ("(a & 255) >> 1 | a >> 1", SideCondition.SHIFT, -1, 8),
        ("a * a", SideCondition.OVERFLOW, 1 << 16, 46340),
        ("(int64_t)a * e", SideCondition.OVERFLOW, 1 << 20, 1),
        ("a << 3", SideCondition.OVERFLOW, 1 << 28, 1 << 27),
        ("(uint8_t)(f * a)", SideCondition.CONVERSION, 171, 170),
    ],
)
def test_side_conditions_of_portable_c(text, condition, bad, good):
    to = Expression(Dialect.PORTABLE)
    to.evaluate(text)
    given = {variable("e", machine(64, signed=True)): 1 << 43, variable("f", to.arithmetic.type_of(FLOAT)): 1.5}
    for number, wanted in ((bad, False), (good, True)):
        given[variable("a", machine(32, signed=True))] = number
        assert all(value_of(holds, given) for c, holds in to.conditions if c is condition) == wanted


@pytest.mark.parametrize("text", [*"(char)a|(long)a|sizeof(a)|(enum { A })a|5L|LONG_MAX".split("|"), "'\\xff'"])
def test_portable_c_knows_no_sizes_of_the_compiler(text):
    with pytest.raises(SpecError, match=r"not supported|depends? on the compiler|not declared"):
        Expression(Dialect.PORTABLE).evaluate(text)
    Expression(Dialect.COMPILED).evaluate(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#ifdef DEBUG\nint x;\n#endif\n", "code under a condition that depends on the compiler: int x;"),
        ("#ifdef DEBUG\n#else\nint x;\n#endif\n", "code under a condition"),
        ("#if __GNUC__ > 4\n#if 1\nint x;\n#endif\n#endif\n", "code under a condition"),
        ("#ifndef __STDC__\nint x;\n#endif\n", "code under a condition"),
        ("#if INT_MAX > 9\n#define x y\n#endif\n", "#define under a condition that depends on the compiler"),
        ('#pragma GCC optimize ("fast-math")\n', "unknown directive #pragma"),
        ("#if 1\n#pragma pack(1)\n#endif\n", "unknown directive #pragma"),
        ("#include <other.h>\n", "<other.h> is not a supported header"),
        ('#include "other.h"\n', '"other.h" is not in the directory of the file that includes it'),
        ('char *x = "??/";\n', "trigraphs and continued lines are not supported"),
        ("#line 7\n", "unknown directive #line"),
    ],
)
def test_portable_files_do_not_depend_on_the_compiler(text, message):
    with pytest.raises(SpecError) as why:
        preprocess("a.c", {"a.c": text}.get, portable=True)
    assert message in why.value.message


def test_checks_may_depend_on_the_compiler():
    checks = '#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#else\n#error "no"\n#endif\n'
    text = f'#include "a.h"\n#include <stdint.h>\n{checks}#ifdef __cplusplus\n}}\n#endif\nint x;\n'
    files = {"a.c": text, "a.h": "#ifndef STREAMCHECK_A_H\n#define STREAMCHECK_A_H\nint y;\n#endif\n"}
    left = preprocess("a.c", files.get, portable=True).text.split("\n")
    assert [line for line in left if line and not line.startswith("#")] == ["int y;", "int x;"]
