"""Walks automata of C programs with given inputs, makes random C programs, and runs them compiled: what the program
does and what its automaton does must be the same."""

from __future__ import annotations

import random
import re
import struct
import subprocess

from streamcheck.core.evaluate import value_of
from streamcheck.core.term import walk as walk_terms
from streamcheck.core.types import BoolType, MachineType, default

# What clang's sanitizer calls where an operation has no meaning: says which, and at what line.
SANITIZER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
typedef struct { const char *file; uint32_t line, column; } place;
typedef struct { uint16_t kind, info; char name[]; } type;
static void ends(const char *what, place *at) { printf("%s, line %u", what, at->line); fflush(stdout); _Exit(0); }
#define ALWAYS(name, what) void __ubsan_handle_##name##_abort(place *at) { ends(what, at); }
ALWAYS(add_overflow, "no overflow")
ALWAYS(sub_overflow, "no overflow")
ALWAYS(mul_overflow, "no overflow")
ALWAYS(negate_overflow, "no overflow")
ALWAYS(out_of_bounds, "index in bounds")
ALWAYS(float_cast_overflow, "conversion in range")
ALWAYS(vla_bound_not_positive, "an array has elements")
void __ubsan_handle_divrem_overflow_abort(place *at, uintptr_t a, uintptr_t b) {
    ends(b == 0 ? "no division by zero" : "no overflow", at);
}
typedef struct { place at; type *left, *right; } shift;
void __ubsan_handle_shift_out_of_bounds_abort(shift *s, uintptr_t a, uintptr_t b) {
    ends(b < (1u << (s->left->info >> 1)) ? "no overflow" : "shift in range", &s->at);
}
"""
CHECKED = "integer-divide-by-zero,signed-integer-overflow,shift,array-bounds,vla-bound,float-cast-overflow"


def fitted(type, number):
    """An input as the type of a choice has it, as C converts it."""
    if isinstance(type, BoolType):
        return number % 2 == 1
    return type.wrap(number) if isinstance(type, MachineType) else number


def bits_of_floats(edge, values):
    """The unknown bits as which an edge stores floats. Several floats are looked for from the first on."""
    found = {}
    for node in walk_terms([edge.guard]):
        if node.op == "same" and node.args[0].op == "float_of_bits" and node.args[0].args[0] in edge.choices:
            bits, value = node.args[0].args[0], value_of(node.args[1], values | found)
            found[bits] = int.from_bytes(struct.pack("<f" if bits.type.width == 32 else "<d", value), "little")
    return found


def walk(cfa, inputs, limit=20_000, initial=None):
    """Where a run with these inputs ends: (location, values of the variables). At most one edge is open at a time."""
    values = {v: default(v.type) for v in cfa.variables} | (initial or {})
    at, used = cfa.entry, 0
    for _ in range(limit):
        taken = []
        for edge in cfa.edges_from[at]:
            asked = [c for c in edge.choices if "()" in c.payload]
            chosen = {c: default(c.type) for c in edge.choices}
            chosen |= {c: fitted(c.type, inputs[(used + i) % len(inputs)]) for i, c in enumerate(asked)}
            chosen |= bits_of_floats(edge, values | chosen)
            if value_of(edge.guard, values | chosen):
                taken.append((edge, values | chosen, len(asked)))
        assert len(taken) <= 1, [edge.text for edge, _, _ in taken]
        if not taken:
            return at, values
        edge, before, count = taken[0]
        values = values | {v: value_of(new, before) for v, new in edge.updates}
        at, used = edge.target, used + count
    raise AssertionError("it does not end")


def shown(value):
    """As `printf("%lld")` shows it."""
    if isinstance(value, tuple):
        return " ".join(map(shown, value))
    return str((int(value) + (1 << 63)) % (1 << 64) - (1 << 63))


def outcome(cfa, inputs, names, limit=20_000):
    """`assert, line 4`, or the values of these variables at the end."""
    at, values = walk(cfa, inputs, limit)
    if at in cfa.bad:
        return at
    by_name = {v.payload: value for v, value in values.items()}
    return " ".join(shown(by_name[name]) for name in names)


# Compiled

HARNESS = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>
#include <stdbool.h>
#include <limits.h>
static long long inputs_[64]; static int count_, used_;
static long long next_(void) { return inputs_[used_++ % count_]; }
static void fail_(const char *what, int line) { printf("%s, line %d", what, line); fflush(stdout); _Exit(0); }
#define assert(x) ((x) ? (void)0 : fail_("assert", __LINE__))
#define __VERIFIER_assert(x) assert(x)
#define reach_error() fail_("reach_error", __LINE__)
#define __VERIFIER_nondet_int() ((int)next_())
#define __VERIFIER_nondet_uint() ((unsigned)next_())
#define __VERIFIER_nondet_char() ((char)next_())
#define __VERIFIER_nondet_uchar() ((unsigned char)next_())
#define __VERIFIER_nondet_short() ((short)next_())
#define __VERIFIER_nondet_ushort() ((unsigned short)next_())
#define __VERIFIER_nondet_long() ((long)next_())
#define __VERIFIER_nondet_ulong() ((unsigned long)next_())
#define __VERIFIER_nondet_bool() ((_Bool)(next_() & 1))
"""


RESERVED = set(
    "int unsigned long short char signed void const static enum struct return if else for while do switch case default"
    " break continue goto sizeof typedef inline volatile float double bool true false assert reach_error"
    " INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN"
    " size_t int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t".split()
)


def joined(programs):
    """One C file of many programs, each (text, names of its scalars and arrays): `./a.out N inputs…` runs one."""
    parts, cases = [HARNESS], []
    for i, (text, names) in enumerate(programs):
        own = sorted(set(re.findall(r"\b[A-Za-z]\w*", text)) - RESERVED)
        renames = "".join(f"#define {n} p{i}_{n}\n" for n in own)
        undo = "".join(f"#undef {n}\n" for n in own)
        prints = "".join(_printed(name, length) for name, length in names)
        body = f'{renames}#line 1 "p{i}.c"\n{text}\nvoid show_{i}(void) {{ p{i}_main(); {prints} }}\n{undo}'
        parts.append(body)
        cases.append(f"case {i}: show_{i}(); break;")
    parts.append(
        "int main(int n, char **v) { count_ = n - 2; for (int i = 2; i < n; i++) inputs_[i - 2] = atoll(v[i]);"
        " switch (atoi(v[1])) { " + " ".join(cases) + " } return 0; }"
    )
    return "\n".join(parts)


def _printed(name, length):
    if length:
        return f'for (int i_ = 0; i_ < {length}; i_++) printf("%lld ", (long long){name}[i_]);'
    return f'printf("%lld ", (long long){name});'


def compiled(folder, source):
    """(by clang, which finds where operations have no meaning; by gcc -O2)"""
    every, handlers = folder / "every.c", folder / "handlers.c"
    every.write_text(source)
    handlers.write_text(SANITIZER)
    checks = [f"-fsanitize={CHECKED}", f"-fno-sanitize-recover={CHECKED}"]
    build = ["clang", "-w", "-std=gnu11", "-O0", *checks, "-c", str(every), "-o", str(folder / "every.o")]
    subprocess.run(build, check=True)
    subprocess.run(["gcc", "-w", str(folder / "every.o"), str(handlers), "-o", str(folder / "checked")], check=True)
    subprocess.run(["gcc", "-w", "-std=gnu11", "-O2", str(every), "-o", str(folder / "fast")], check=True)
    return folder / "checked", folder / "fast"


def run(program, number, inputs):
    """What the compiled program prints: the claim that fails, or its variables at the end."""
    words = [str(program), str(number), *map(str, inputs)]
    return subprocess.run(words, capture_output=True, text=True, timeout=20, check=True).stdout.strip()


# Random programs

TYPES = {
    "int": "int",
    "unsigned": "uint",
    "long": "long",
    "unsigned long": "ulong",
    "short": "short",
    "unsigned char": "uchar",
    "signed char": "char",
    "uint16_t": "ushort",
    "_Bool": "bool",
}


class RandomProgram:
    """`text`, and `names`: its global variables as (name, length or 0)."""

    def __init__(self, seed, plain=False):
        self.random = random.Random(seed)
        self.kinds = {"int": "int"} if plain else TYPES
        self.plain = plain  # int only, and no operators on bits
        self.count = 0
        self.lines = []
        choose = self.random.choice
        self.scalars = [(f"g{i}", choose(list(self.kinds))) for i in range(4)]
        self.arrays = [(f"a{i}", choose(list(self.kinds)), choose([2, 3, 4])) for i in range(2)]
        self.spare = []
        self.callable = False
        self.names = [(n, 0) for n, _ in self.scalars] + [(n, k) for n, _, k in self.arrays]
        self.program()
        self.text = "\n".join(self.lines) + "\n"

    def put(self, line):
        self.lines.append(line)

    def one_in(self, n):
        return self.random.randrange(n) == 0

    def literal(self):
        plain = [str(self.random.randint(0, 9)), str(self.random.choice([1, 2, 7, 31, 32, 100, 255, 256, 1000]))]
        if self.plain:
            return self.random.choice([*plain, "(-3)", "INT_MAX"])
        special = ["2147483647", "4294967295u", "0x7fffffff", "0xffffffff", "3u", "5L", "0UL", "'a'", "'\\0'"]
        special += ["(-2147483647 - 1)", "INT_MAX", "UINT_MAX", "true", "B", "sizeof(int)", "9223372036854775807L"]
        return self.random.choice(plain * 8 + special)

    def expression(self, depth=3):
        r = self.random
        if depth == 0 or self.one_in(5):
            return r.choice([self.literal, self.name, self.name, self.element])()
        part = lambda: self.expression(depth - 1)
        amount = lambda: f"(short){part()}"
        amounts = [str(r.randint(0, 12))] * 3
        forms = [
            *[lambda: f"({part()} {r.choice('+ - *'.split())} {part()})"] * 3,
            *[lambda: f"({part()} {r.choice('/ %'.split())} {r.choice(['3', '7', '(-2)', '10', part()])})"] * 2,
            *[lambda: f"({part()} {r.choice('+ -'.split())} {r.randint(1, 9)})"] * 3,
            *[lambda: f"({part()} {r.choice('< <= > >= == !='.split())} {part()})"] * 3,
            *[lambda: f"({part()} {r.choice(['&&', '||'])} {part()})"] * 2,
            lambda: f"({part()} ? {part()} : {part()})",
            lambda: f"({r.choice('- ! +'.split())} {part()})",
            lambda: f"(({r.choice(list(self.kinds))}){part()})",
            self.nondet,
            self.effect,
            self.call,
        ]
        machine = [
            *[lambda: f"({part()} {r.choice('& | ^'.split())} {part()})"] * 3,
            lambda: f"({part()} {r.choice('/ %'.split())} {r.choice(['7u', '10L'])})",
            # Clang folds shifts of constants without a word, and looks at the low bits of wide amounts only.
            lambda: f"(({part()} ^ {self.name()}) {r.choice(['<<', '>>'])} {r.choice([*amounts, amount()])})",
            lambda: f"(~ {part()})",
            lambda: f"({r.choice(['d0', 'f0'])} {r.choice('< <= > >= == !='.split())} {part()})",
            lambda: f"(({r.choice(list(self.kinds))})({r.choice(['d0', 'f0 * d0'])} {r.choice('+-*/')} {part()}))",
        ]
        return r.choice(forms if self.plain else forms + machine)()

    def pure(self, depth=2):
        """Without effects."""
        spare, self.spare, callable, self.callable = self.spare, [], self.callable, False
        asks, self.nondet = self.nondet, self.name
        text = self.expression(depth)
        self.spare, self.callable, self.nondet = spare, callable, asks
        return text

    def name(self):
        return self.random.choice(self.scalars)[0]

    def element(self):
        if self.one_in(3):
            i, j = (self.random.choice([str(k), f"({self.name()} & {k})"]) for k in (1, 1))
            return self.random.choice([f"m[{i}][{j}]", f"st[{i}].a", f"st[{i}].b[{j}]", f"one.b[{i}]", "one.a", "h[1]"])
        name, _, length = self.random.choice(self.arrays)
        index = str(self.random.randrange(length))
        if self.one_in(2) and not self.plain:
            index = f"({self.name()} {self.random.choice([f'& {length // 2}', f'% {length}u'])})"
        if self.one_in(40):
            index = self.name()
        return f"{name}[{index}]"

    def nondet(self):
        """Once in an expression: the order of calls is the compiler's affair."""
        if not self.spare or self.spare[-1] != "nondet":
            return self.name()
        self.spare.pop()
        return f"__VERIFIER_nondet_{self.random.choice(list(self.kinds.values()))}()"

    def effect(self):
        """A side effect on a variable that the expression has nowhere else."""
        if not self.spare or self.spare[0] == "nondet":
            return self.name()
        name = self.spare.pop(0)
        op = self.random.choice(["{}++", "--{}", "{}--", "++{}", "({} += 3)", "({} = 7)"])
        return op.format(name)

    def call(self):
        if not self.callable:
            return self.name()
        self.callable = False
        text = f"{self.random.choice(['twice', 'sum'])}({self.pure(1)})"
        return self.random.choice([text, text, "tick()", "total(h, 3)", "first(st[1]).a"])

    def full(self):
        """A full expression, which may have effects."""
        self.spare = [n for n in ("e0", "e1") if self.one_in(2)] + ["nondet"] * self.one_in(2)
        self.callable = self.one_in(3)
        text = self.expression()
        self.spare, self.callable = [], False
        return text

    def target(self):
        return self.random.choice([self.name, self.name, self.element])()

    def statement(self, depth):
        r = self.random
        forms = [*[self.assignment] * 5, self.claim]
        if depth:
            forms += [self.branch, self.branch, self.loop, self.switch, self.block, self.do, self.jump, self.other]
        form = r.choice(forms)
        form(depth - 1) if form not in (self.assignment, self.claim) else form()

    def assignment(self):
        r = self.random
        op = r.choice("= = = = += -= *= /= %=".split() + ([] if self.plain else "&= |= ^= <<= >>=".split()))
        careful = {"/=": " | 1", "%=": " | 1", "<<=": " & 3", ">>=": " & 7"}.get(op, "")
        careful = "" if self.plain or self.one_in(5) else careful
        narrow = "(short)" if op in ("<<=", ">>=") else ""
        self.put(f"{self.target()} {op} {narrow}({self.full()}){careful};")

    def claim(self):
        self.put(f"assert({self.full()} || {self.pure()} != 3);" if self.one_in(2) else f"assert({self.pure()} + 9);")

    def other(self, depth):
        forms = [
            f"swap(&h[0], &h[{self.random.randrange(3)}]);",
            "st[1] = one;",
            "one = first(st[0]);",
            f"h[{self.random.randrange(3)}] = {self.full()};",
            f"{{ struct s t = {{ {self.pure()}, {{ {self.pure()} }} }}; one = t; }}",
            f"{{ int t[3] = {{ {self.pure()}, {self.pure()} }}; g0 = total(t, 2); }}",
            f"{{ int t = 0; while (g2 = {self.pure()}, t++ < 3) if (t == g1) break; }}",
        ]
        floats = [f"d0 = {self.full()};", f"f0 {self.random.choice('+-*/')}= {self.full()};"]
        self.put(self.random.choice(forms if self.plain else forms + floats))

    def body(self, depth):
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)

    def block(self, depth):
        self.put(f"{{ {self.random.choice(list(self.kinds))} w = {self.full()}, g0 = w;")  # which hides the global g0
        self.body(depth)
        self.put("g1 = g0; }")

    def branch(self, depth):
        self.put(f"if ({self.full()}) {{")
        self.body(depth)
        self.put("} else {")
        self.body(depth)
        self.put("}")

    def loop(self, depth):
        i = f"i{self.count}"
        self.count += 1
        self.put(f"for (int {i} = 0; {i} < {self.random.randint(1, 4)}; {i}++) {{")
        self.body(depth)
        if self.one_in(2):
            self.put(f"if ({self.pure()}) {self.random.choice(['break', 'continue'])};")
            self.body(0)
        self.put("}")

    def do(self, depth):
        i = f"i{self.count}"
        self.count += 1
        self.put(f"{{ unsigned char {i} = 3; do {{")
        self.body(depth)
        self.put(f"if ({self.pure()}) continue;")
        self.put(f"g2 = ! g2; }} while ({i}-- && {self.pure()}); }}")

    def switch(self, depth):
        self.put(f"switch ({self.full()}) {{")
        codes = self.random.sample([0, 1, 2, 3, 7, 255], 3)
        for code in codes:
            self.put(f"case {code}:")
            self.body(depth)
            if self.one_in(2):
                self.put("break;")
        if self.one_in(2):
            self.put("default:")
            self.body(depth)
        self.put("}")

    def jump(self, depth):
        label = f"L{self.count}"
        self.count += 1
        self.put(f"if ({self.pure()}) goto {label};")
        self.body(depth)
        self.put(f"{label}: g3 = {self.pure()};")

    def program(self):
        choose = self.random.choice
        self.put("enum colour { A, B = 5, C };")
        for name, type in self.scalars:
            self.put(f"{type} {name} = {self.random.randint(0, 5)};")
        for name, type, length in self.arrays:
            self.put(f"{type} {name}[{length}] = {{{self.random.randint(0, 200)}}};")
        for name in ("e0", "e1"):
            self.put(f"{choose(list(self.kinds))} {name} = {self.random.randint(0, 100)};")
        self.names += [("e0", 0), ("e1", 0)]
        types = list(self.kinds)
        self.put(f"struct s {{ {choose(types)} a; {choose(types)} b[2]; }} st[2] = {{ {{ 1, {{ 2, 3 }} }}, {{ 4 }} }};")
        self.put(f"struct s one; {choose(types)} m[2][2] = {{ {{ 1, 2 }}, 3, 4 }};")
        self.put("int h[3] = { 7, 8, 9 };")
        if not self.plain:
            self.put("double d0 = 2.5; float f0 = 0.1f; unsigned long digest = 1;")
        self.put("static void swap(int *p, int *q) { int t = *p; *p = *q; *q = t; }")
        self.put("int total(const int *p, int n) { int s = 0; while (n-- > 0) s += *p++; return s; }")
        self.put(f"{choose(types)} tick(void) {{ static {choose(types)} n = 3; return n++; }}")
        self.put("struct s first(struct s t) { t.b[1] = t.a; if (t.a > 3) return t; t.a = 9; return t; }")
        self.names += [("h", 3)] if self.plain else [("h", 3), ("digest", 0)]
        self.put(f"{choose(types)} twice({choose(types)} x) {{ return x + x; }}")
        self.put(f"static {choose(types)} sum({choose(types)} n)")
        self.put("{ int s = 0;")
        self.put("for (unsigned k = 0; k < 3; k++) { if (k == n) return s; s += a0[k % 2]; }")
        self.put("return s; }")
        self.put("int main(void) {")
        for _ in range(self.random.randint(5, 9)):
            self.statement(2)
        for part in (
            "one.a",
            "one.b[0]",
            "st[0].a",
            "st[1].a",
            "st[1].b[1]",
            "m[0][1]",
            "m[1][0]",
            "(d0 < 3)",
            "(f0 > 1)",
        ):
            if not self.plain:
                self.put(f"digest = digest * 31 + {part};")
        self.put("return 0; }")
