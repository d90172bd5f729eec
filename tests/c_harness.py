"""Runs generated C on given inputs: a driver is generated beside it, reads the inputs as bytes and prints every call
and every observer as bits, which are compared with what the interpreter says."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess

from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.c_names import member_name
from streamcheck.core.types import EnumType, FloatType, MachineType, part_names
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.lang.flatten import flatten

WARNINGS = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror".split()


def have(*tools):
    return all(shutil.which(tool) for tool in tools)


def format_of(type):
    match type:
        case MachineType():
            return (
                {8: "b", 16: "h", 32: "i", 64: "q"}[type.width].upper()
                if not type.signed
                else "bhiq"[(type.width // 8).bit_length() - 1]
            )
        case FloatType():
            return "f" if type.width == 32 else "d"
        case EnumType():
            return "i"
    return "?"


def scalars(type, value):
    """The scalar parts of a value as the interpreter shows it."""
    if isinstance(value, tuple):
        types = [t for _, t in type.fields] if hasattr(type, "fields") else [type.element] * type.length
        for t, v in zip(types, value, strict=True):
            yield from scalars(t, v)
    elif isinstance(type, EnumType) and not isinstance(value, int):
        yield type, dict(type.members)[value if isinstance(value, str) else value.name]
    else:
        yield type, value


def bits(type, value):
    """As the driver prints it: all NaNs are one."""
    out = []
    for t, v in scalars(type, value):
        out.append("nan" if v != v else struct.pack("<" + format_of(t), v).hex())
    return " ".join(out)


def packed(equations, row):
    """One row of inputs, in the order of the externs that the plan reads."""
    out = b""
    for given, value in zip(equations, row, strict=True):
        out += b"".join(struct.pack("<" + format_of(t), v) for t, v in scalars(given.type, value))
    return out


def c_path(part):
    return "".join(f"[{p}]" if p.isdigit() else f".{member_name(p)}" for p in part.split(".")).removeprefix(".")


def externs_of(unit):
    """The externs of the interface: those that what is compiled rests on."""
    header = unit.files[f"{unit.base}.h"]
    named = [(i, unit.c_name("extern", i.name)) for i in unit.specification.inputs if i.extern]
    return [i for i, name in named if re.search(rf"[ *]{name}(\[|;)", header)]


def driver(unit, copilot):
    """Reads the inputs of each step from a file, prints what happens."""
    equations, name = unit.specification, unit.base
    header = unit.files[f"{name}.h"]
    lines = [f'#include "{name}.h"', "#include <stdio.h>", "#include <string.h>", ""]
    lines += [
        "#ifndef SHOW",
        "#define SHOW",
        "static void show(const void *p, unsigned n) { const unsigned char *b = p;",
        '  printf(" "); for (unsigned i = 0; i < n; i++) printf("%02x", b[i]); }',
        'static void show_float(float x) { if (x != x) printf(" nan"); else show(&x, 4); }',
        'static void show_double(double x) { if (x != x) printf(" nan"); else show(&x, 8); }',
        "#endif",
    ]
    handlers = {}
    for line in header.splitlines():
        for trigger in equations.triggers:
            called = unit.c_name("trigger", trigger.name)
            if line.strip().startswith((f"void {called}(", f"void (*{called})(")):
                handlers[trigger.name] = line.strip().rstrip(";").replace(f"(*{called})", called)
    lines += ["static int mine;"]
    for trigger in equations.triggers:
        signature = handlers[trigger.name]
        inner = signature[signature.index("(") + 1 : -1]
        names = [] if inner == "void" else [p.split("[")[0].split()[-1].lstrip("*") for p in inner.split(",")]
        shows = []
        if unit.handlers != "functions":
            assert names.pop(0) == "user"
            shows.append('if (user != &mine) printf("a wrong user");')
        for parameter, (_, arg) in zip(names, trigger.args, strict=True):
            root = f"(*{parameter})" if arg.type.kind == "struct" else parameter
            for part, t in part_names("", arg.type):
                shows.append(shown(root + c_path("x" + part)[1:], t))
        lines += [signature, "{", f'  printf("{trigger.name}");', *shows, '  printf("\\n");', "}"]
    externs = externs_of(unit)
    if copilot:
        lines += [
            line.removeprefix("extern ").split(";")[0] + ";"
            for line in header.splitlines()
            if line.startswith("extern ") and "_observed" not in line and '"C"' not in line
        ]
    lines += ["int main(int argc, char **argv) {", '  (void)argc; FILE *in = fopen(argv[1], "rb"); if (!in) return 1;']
    if not copilot:
        lines += [f"  static {name}_state state; " + (f"static {name}_inputs inputs;" if externs else "")]
        table = ", ".join(f".{c} = {c}" for c in (unit.c_name("trigger", t.name) for t in equations.triggers))
        given = {"functions": "", "context": ", &mine", "table": ", &table, &mine"}[unit.handlers]
        if unit.handlers == "table":
            lines.append(f"  static const {name}_handlers table = {{{table}}};")
        lines += ["  memset(&state, 0x5a, sizeof state);", f"  {name}_init(&state{given});"]
    lines += ["  char more;", "  while (fread(&more, 1, 1, in) == 1) {"]
    for given in externs:
        root = unit.c_name("extern", given.name)
        root = root if copilot else f"inputs.{root}"
        for part, _ in part_names("", given.type):
            place = root + c_path("x" + part)[1:]
            lines.append(f"    if (fread(&{place}, sizeof {place}, 1, in) != 1) return 2;")
    lines.append(f"    {unit.step}();" if copilot else f"    {name}_step(&state{', &inputs' if externs else ''});")
    if unit.observers:
        root = f"{name}_observed." if copilot else "state.observed."
        for o in equations.observers:
            lines.append(f'    printf("={o.name}");')
            for part, t in part_names("", o.term.type):
                place = root + unit.c_name("observer", o.name) + c_path("x" + part)[1:]
                lines.append("    " + shown(place, t))
            lines.append('    printf("\\n");')
    lines += ['    printf("-\\n");', "  }", "  return 0;", "}"]
    return "\n".join(lines) + "\n"


def shown(place, type):
    if isinstance(type, FloatType):
        return f"  show_{'float' if type.width == 32 else 'double'}({place});"
    return f"  show(&{place}, sizeof {place});"


def expected(equations, rows, observers):
    """What the driver is to print, by the interpreter."""
    planned = plan(equations)
    position = {i.name: at for at, i in enumerate(i for i in equations.inputs if i.extern)}
    chosen = [tuple(row[position[v.payload]] for v in planned.inputs) for row in rows]
    out = []
    for step in stepper(planned)(chosen):
        for trigger in equations.triggers:
            if trigger.name in step.triggers:
                given = step.triggers[trigger.name]
                parts = [bits(a.type, v) for (_, a), v in zip(trigger.args, given, strict=True)]
                out.append(" ".join([trigger.name, *parts]))
        if observers:
            out += [f"={o.name} {bits(o.term.type, step.observers[o.name])}" for o in equations.observers]
        out.append("-")
    return out


def write(folder, unit):
    folder.mkdir(exist_ok=True)
    for name, content in unit.files.items():
        (folder / name).write_text(content)
    (folder / "drive.c").write_text(driver(unit, unit.copilot))


def build(folder, unit, compiler="gcc", flags=("-O2",), warnings=WARNINGS):
    """The program of a unit and its driver."""
    name = unit.base
    program = folder / f"drive_{compiler}_{'_'.join(flags)}"
    object_file = folder / f"{program.name}.o"
    run([compiler, *warnings, *flags, "-c", f"{name}.c", "-o", object_file], folder)
    run([compiler, "-std=c99", *flags, "drive.c", object_file, "-o", program, "-lm"], folder)
    return program


def run(command, folder):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}"
    return done.stdout


def packed_rows(unit, rows):
    """What the driver reads."""
    every, externs = [i for i in unit.specification.inputs if i.extern], externs_of(unit)
    read = [at for at, i in enumerate(every) if i in externs]
    return b"".join(b"x" + packed(externs, [row[at] for at in read]) for row in rows)


def compare(folder, program, unit, rows):
    (folder / "rows").write_bytes(packed_rows(unit, rows))
    got = run([program, "rows"], folder).splitlines()
    wanted = expected(unit.specification, rows, unit.observers)
    for at, (a, b) in enumerate(zip(got, wanted, strict=False)):
        assert a == b, f"line {at}: C {a}, interpreter {b}"
    assert len(got) == len(wanted)


def unit_of(spec, **options):
    return generate(flatten(spec), CodeOptions(**options)).code
