"""Mutants of generated C: one change each, of any kind, in any file; the same for a seed.

A mutant that behaves in another way must not be proved. One that is proved is run: see tests/bench/mutants.py."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise

from c_harness import build, compare, have, write
from random_specs import random_rows

from streamcheck.validate.bisimulation import validate

OPERATORS = {
    "+": "-*", "-": "+", "*": "+", "/": "%*", "%": "/", "&": "|", "|": "&^", "^": "|", "<<": [">>"], ">>": ["<<"],
    "<": ["<=", ">"], "<=": ["<"], ">": [">=", "<"], ">=": [">"], "==": ["!=", ">="], "!=": ["=="],
    "&&": ["||", "&"], "||": ["&&", "|"],
}  # fmt: skip
TYPES = [f"{u}int{w}_t" for w in (8, 16, 32, 64) for u in ("", "u")] + ["bool", "float", "double", "int", "unsigned"]
TYPE = re.compile(rf"\b({'|'.join(TYPES)})\b")
NUMBER = re.compile(r"(?<![\w.])(\d+)(u?)(?![\w.])")
LINE_OF_CODE = re.compile(r"^ {4,}\S.*;$")
SANITIZE = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all")
TRAPS = ("-O1", "-fsanitize=undefined", "-fsanitize-trap=undefined")  # which need no library of the compiler's
BUILDS = [("gcc", ("-O0",)), ("gcc", ("-O3",)), ("gcc", SANITIZE), ("clang", TRAPS)]


def blanked(text):
    """The text with comments and strings blanked, of the same length."""
    return re.sub(r'/\*.*?\*/|"[^"\n]*"', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def at(text, start, end, new):
    return text[:start] + new + text[end:]


def operators(text, code, rng):
    for m in re.finditer(r"(?<=[\w)\]] )(<<|>>|&&|\|\||[<>=!]=|[-+*/%&|^<>])(?= [\w(!~-])", code):
        for new in OPERATORS[m[1]]:
            yield at(text, *m.span(), new)
    for m in re.finditer(r"!(?=[\w(])|(?<=[(,=] )-(?=\w)", code):
        yield at(text, *m.span(), "")


def constants(text, code, rng):
    for m in NUMBER.finditer(code):
        for value in {int(m[1]) + 1, max(0, int(m[1]) - 1), 0, 255, 256, 1 << 31} - {int(m[1])}:
            yield at(text, *m.span(), f"{value}{m[2]}")
    for m in re.finditer(r"(?<![\w.])\d+\.\d+f?", code):
        yield at(text, *m.span(), "1" + m[0])
        yield at(text, *m.span(), m[0].removesuffix("f") if m[0].endswith("f") else m[0] + "f")
    for m in re.finditer(r"\b(true|false)\b", code):
        yield at(text, *m.span(), "false" if m[1] == "true" else "true")
    for m in re.finditer(r"\bU?INT(\d+)_(MAX|MIN)\b", code):
        yield at(text, *m.span(), m[0].replace("MAX", "MIN") if "MAX" in m[0] else m[0].replace("MIN", "MAX"))


def indexes(text, code, rng):
    """Names and places: another element, member or variable."""
    for m in re.finditer(r"\[([^][]*)\]", code):
        for new in ("0", f"{m[1]} + 1", f"({m[1]}) % 2"):
            yield at(text, *m.span(1), new)
    for pattern in (r"\w+->\w+", r"(?<![\w>.])[a-z]\w*(?![\w(>.])", r"(?<=\.)[a-z]\w*"):
        places = list(re.finditer(pattern, code))
        words = sorted({m[0] for m in places})
        for m in places:
            new = rng.choice(words)
            if new != m[0]:
                yield at(text, *m.span(), new)


def order(text, code, rng):
    lines, plain = text.split("\n"), code.split("\n")
    for i, (a, b) in enumerate(pairwise(plain)):
        if a.strip() and b.strip() and a != b and a.rstrip()[-1] in ";," and b.rstrip()[-1] in ";,":
            yield "\n".join([*lines[:i], lines[i + 1], lines[i], *lines[i + 2 :]])
    statements = [i for i, line in enumerate(plain) if LINE_OF_CODE.match(line)]
    for i in statements:
        j = rng.choice(statements)
        moved = [line for k, line in enumerate(lines) if k != i]
        yield "\n".join([*moved[:j], lines[i], *moved[j:]])
    for m in re.finditer(r"\? ([^?:;()]+|\([^()]*\)) : ([^?:;(),]+|\([^()]*\))", code):
        yield at(text, *m.span(), f"? {m[2]} : {m[1]}")


def types(text, code, rng):
    for m in TYPE.finditer(code):
        yield at(text, *m.span(), rng.choice(TYPES))
    for m in re.finditer(r"\((?:u?int\d+_t|float|double|bool)\)", code):
        yield at(text, *m.span(), "")


def control(text, code, rng):
    lines, plain = text.split("\n"), code.split("\n")
    for i, line in enumerate(plain):
        if LINE_OF_CODE.match(line):
            yield "\n".join(lines[:i] + lines[i + 1 :])
            yield "\n".join(lines[: i + 1] + lines[i:])
            yield "\n".join([*lines[:i], "    return;", *lines[i:]])
            yield "\n".join([*lines[:i], f"    if ({rng.choice('01')}) {{", lines[i], "    }", *lines[i + 1 :]])
        if m := re.match(r"(\s*(?:\} else )?if \()(.*)(\) \{)$", line):
            for new in ("1", "0", f"!({m[2]})"):
                yield "\n".join([*lines[:i], m[1] + new + m[3], *lines[i + 1 :]])
        if "} else {" in line:
            yield "\n".join([*lines[:i], line.replace("} else {", "} {"), *lines[i + 1 :]])


def calls(text, code, rng):
    found = list(re.finditer(r"\b([a-z]\w*)\(([^()]*)\)", code))
    names = sorted({m[1] for m in found})
    for m in found:
        arguments = m[2].split(", ")
        yield at(text, *m.span(1), rng.choice(names))
        yield at(text, *m.span(2), ", ".join(reversed(arguments)))
        yield at(text, *m.span(2), ", ".join(arguments[1:]))
        yield at(text, *m.span(2), ", ".join([*arguments, arguments[0]]))


def preprocessor(text, code, rng):
    lines = text.split("\n")
    words = sorted(set(re.findall(r"\b[a-z]\w{2,}\b", code)))
    for i, line in enumerate(lines):
        if line.startswith("#"):
            yield "\n".join(lines[:i] + lines[i + 1 :])
            yield "\n".join([*lines[:i], line.replace("ndef", "def", 1), *lines[i + 1 :]])
            yield "\n".join([*lines[:i], line.replace("!", "", 1), *lines[i + 1 :]])
            yield "\n".join([*lines[:i], re.sub(r"\w+(?=\W*$)", "other", line), *lines[i + 1 :]])
        elif line.strip() and rng.random() < 0.4:
            for opening in ("#if 0", "#ifndef __STDC__", "#ifdef __cplusplus", "#ifndef STREAMCHECK_other_H"):
                yield "\n".join([*lines[:i], opening, line, "#endif", *lines[i + 1 :]])
            new = f"#define {rng.choice(words)} {rng.choice([*words, '0', '(1)'])}"
            pragma = rng.choice(["pack(1)", f"redefine_extname {words[0]} {words[-1]}", "STDC FP_CONTRACT ON"])
            yield "\n".join([*lines[:i], rng.choice([new, f"#pragma {pragma}", "#undef INT_MAX"]), *lines[i:]])


def declarations(text, code, rng):
    for m in re.finditer(r"\b(const|static|extern|inline) ", code):
        yield at(text, *m.span(), rng.choice(["", "volatile ", "static ", "const ", "extern ", "register "]))
    for m in re.finditer(r"^ *(?:\w+ )*\w+ \**(\w+)(\[\d+\])?;", code, re.M):
        yield at(text, m.end() - 1, m.end(), rng.choice([" : 1;", " : 3;", "[2];", " = 0;", ";"]))
        yield at(text, m.start(1), m.start(1), rng.choice(["*", "volatile ", "const "]))
    for m in re.finditer(r"( \w+) = [^;]*;", code):
        yield at(text, *m.span(), f"{m[1]};")
    for m in re.finditer(r"^(?:void|bool) (\w+)\(([^)]*)\)", code, re.M):
        parameters = m[2].split(", ")
        yield at(text, *m.span(2), ", ".join(reversed(parameters)))
        yield at(text, *m.span(2), ", ".join(parameters[1:]) or "void")
        yield at(text, m.start(), m.start(), rng.choice(["static ", "inline ", "__attribute__((weak)) ", "extern "]))
        yield at(text, m.start(), m.start() + 4, rng.choice(["int ", "bool", "uint8_t"]))
        yield at(text, *m.span(1), f"{m[1]}_2")


def loops(text, code, rng):
    """Bounds, index, step, what is repeated, the start of an accumulator, the cells of a table."""
    for m in re.finditer(r"for \((\w+) (\w+) = ([^;]*); \2 < ([^;]*); \2\+\+\) \{", code):
        type, i, start, bound = m.groups()
        heads = [f"{i} = {start}; {i} <= {bound}; {i}++", f"{i} = {start}; {i} < {bound}; {i} += 2u"]
        heads += [f"{i} = {start} + 1u; {i} < {bound}; {i}++", f"{i} = {start}; {i} < {bound} - 1u; {i}++"]
        heads += [f"{i} = {bound} - 1u; {i} < {bound}; {i}--", f"{i} = {start}; {i} < {bound}; "]
        for head in heads:
            yield at(text, *m.span(), f"for ({type} {head}) {{")
        end = code.index("\n" + " " * (m.start() - code.rindex("\n", 0, m.start()) - 1) + "}", m.end())
        for line in (f"{i} = {i} + 1u;", "return;", f"if ({i} == 2u) {{ return; }}"):
            yield at(text, end + 1, end + 1, line + "\n")
        yield at(text, m.start(), m.start(), text[m.start() : end + 6] + "\n")
        for n in re.finditer(rf"\[{i}( \+ \d+u)?\]", code[m.end() : end]):
            where = m.end() + n.start(), m.end() + n.end()
            for new in ("0", f"{i} + 1u", f"{i} ^ 1u", f"({i} + 1u) % {bound}"):
                yield at(text, *where, f"[{new}]")
    for m in re.finditer(r"^    \w+ (folded\w*) = ([^;]*);", code, re.M):
        yield at(text, *m.span(2), rng.choice(["0", "1", f"{m[2]} + 1"]))
    for m in re.finditer(r"(?<=[{ \n])([\w.]+), ([\w.]+)(?=[,}\n])", code):
        yield at(text, *m.span(), f"{m[2]}, {m[1]}")
    for m in re.finditer(r"offsetof\((\w+), (\w*?)(\d+)\)", code):
        yield at(text, *m.span(), f"offsetof({m[1]}, {m[2]}{int(m[3]) + 1})")


def readings(text, code, rng):
    """A place is read at two points of a block; if the values differ, something else is assigned."""
    lines, plain = text.split("\n"), code.split("\n")
    places = sorted({m[0] for m in re.finditer(r"\w+->\w+(?:\[[^][]*\])?|\bfolded\w*|\b[a-z]\w*\[[^][]+\]", code)})
    counters = re.findall(r"for \(\w+ (\w+) = ", code) or ["0"]
    for i, line in enumerate(plain):
        if not LINE_OF_CODE.match(line) or " = " not in line or not places:
            continue
        left, right = lines[i].rstrip(";").split(" = ", 1)
        indent = len(line) - len(line.lstrip())
        first = i
        while plain[first - 1].startswith(" " * indent) and rng.random() < 0.8:
            first -= 1
        k = rng.choice(counters)
        other = rng.choice(["0", "1", k, f"{k} ^ 1u", f"{k} == 0u ? 0u : {k} - 1u"])
        place = rng.choice(places)
        place = place if rng.random() < 0.5 else re.sub(r"\[.*\]", f"[{other}]", place)
        was, now = (f"{' ' * indent}const int64_t {name} = (int64_t)({place});" for name in ("was", "now"))
        new = f"{left} = (was == now) ? ({right}) : 0;"
        yield "\n".join([*lines[:first], was, *lines[first:i], now, new, *lines[i + 1 :]])


KINDS = (operators, constants, indexes, order, types, control, calls, preprocessor, declarations, loops, readings)


def mutants(code, rng, count):
    """Up to `count` different mutants of the files, as evenly of all kinds as there are: (kind, file, text)."""
    pools = []
    for kind in KINDS:
        pool = [(kind.__name__, f, new) for f, t in code.files.items() for new in kind(t, blanked(t), rng) if new != t]
        pool = list(dict.fromkeys(pool))
        rng.shuffle(pool)
        pools.append(pool)
    chosen = {}
    while len(chosen) < count and any(pools):
        for pool in pools:
            if pool and len(chosen) < count:
                kind, file, text = pool.pop()
                chosen.setdefault((file, text), kind)
    return [(kind, file, text) for (file, text), kind in chosen.items()]


def trusted_builds(code, seed, folder):
    """The builds under which the C itself runs as the interpreter says: the others have a fault of their compiler."""
    return [b for b in BUILDS if have(b[0]) and difference(code, code, seed, folder, b) is None]


def difference(code, changed, seed, folder, way):
    """What changed C does in another way than the spec, built in this way. None if nothing."""
    compiler, flags = way
    write(folder, code)  # with a driver for the interface that the spec has
    for name, text in changed.files.items():
        (folder / name).write_text(text)
    try:
        program = build(folder, changed, compiler, flags, warnings=["-std=c99", "-w"])
        compare(folder, program, changed, random_rows(seed, code.specification, 300))
    except AssertionError as why:
        lines = [line for line in str(why).splitlines() if "error" in line or "line" in line]
        return f"{compiler} {flags[0]}: {(lines or [str(why)[-300:]])[0]}"
    return None


def verdict(code, seed, file, text, folder, builds):
    """`refused`, `crashed`, `same` (proved, and runs the same), or what a mutant that is proved does in another way."""
    changed = replace(code, files={**code.files, file: text})
    try:
        if not validate(changed, work=20_000).is_proved:
            return "refused"
    except Exception as why:
        return f"crashed: {why!r}"
    wrong = (difference(code, changed, seed, folder, way) for way in builds)
    return next((found for found in wrong if found is not None), "same")
