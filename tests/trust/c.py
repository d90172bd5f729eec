"""Generated C against the evaluator: random specs, and each operator at each type, by each compiler at hand, without
optimisation and with much, as 32-bit code, and on a Cortex-M7 under qemu.

A program has several specs. Of one program in four each is compiled by itself, and the Cortex-M has these; those of the
others are included in one file, which takes the compilers a fifth of the time.
"""

import re
import subprocess
import tempfile
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from c_harness import driver, expected, have, packed_rows, run
from operator_cases import cases
from random_specs import NOT_EXACT, random_equations, random_rows
from trust import board
from trust.figure import Figure
from trust.figures import first_difference
from trust.values import any_value

from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.term import term, variable
from streamcheck.problem.specification import Input, Named, Specification

STEPS = 1_000
IN_A_UNIT = 12  # operators
IN_A_PROGRAM = 16  # units
APART = 4  # of so many programs one has each unit by itself
STATIC = re.compile(r"^static [^=(\[;]*?\b(\w+)(?=\s*(?:\[|\(|=|;|SC_TABLE))", re.M)
BUILDS = (
    ("gcc", ("-O0",)),
    ("gcc", ("-O3",)),
    ("clang", ("-O0",)),
    ("clang", ("-O3",)),
    ("gcc", ("-m32", "-msse2", "-mfpmath=sse", "-O2")),
)
OPTIONS = (CodeOptions(observers=True), CodeOptions(observers=True, pack=True))
MAIN = """
int main(void)
{{
    static int (*const programs[])(int, char **) = {{ {programs} }};
    char name[] = "rows_00";
    char *given[2] = {{ name, name }};
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {{
        name[5] = (char)('0' + i / 10u);
        name[6] = (char)('0' + i % 10u);
        printf("# %02x\\n", i);
        if (programs[i](2, given)) {{ return 2; }}
    }}
    return 0;
}}
"""


class Unit(NamedTuple):
    """What is compiled, the inputs of its steps, and the lines that its driver is to print."""

    name: str
    code: object
    rows: list
    wanted: list


def c(count, seed):
    """So many random specs, and for each eighth some operators, each by every compiler."""
    figure = Figure("generated C against the evaluator")
    builds = [b for b in BUILDS if have(b[0]) and ("-m32" not in b[1] or has_32_bits())]
    if not builds:
        figure.tried["units, since there is no C compiler"] += 0
        return figure
    numbers = [(n, "spec") for n in range(seed, seed + count)]  # operators may need what the Cortex-M has not
    numbers += [(n, "operators") for n, _ in numbers if n % 8 == 3]
    for turn, begin in enumerate(range(0, len(numbers), IN_A_PROGRAM)):
        units = [unit_at(figure, *number) for number in numbers[begin : begin + IN_A_PROGRAM]]
        units = [unit for unit in units if unit is not None]
        with tempfile.TemporaryDirectory() as folder:
            write_program(Path(folder), units, apart=turn % APART == 0)
            for compiler, flags in builds if units else ():
                how = (f"by {compiler} {flags[0]}", f"{compiler} {' '.join(flags)}")
                judge(figure, *how, units, partial(built_and_run, Path(folder), compiler, flags))
            if units and turn % APART == 0 and have("clang", "ld.lld", "qemu-system-arm"):
                optimize = ("-O0", "-O3")[turn // APART % 2]
                how = (f"on a Cortex-M7, {optimize}", f"Cortex-M7 {optimize}")
                judge(figure, *how, units, partial(board.output, Path(folder), len(units), optimize))
    return figure


def unit_at(figure, number, kind):
    """None if already the interpreter is wrong."""
    if kind == "operators":
        equations, rng = operators_at(number), Random(number)
        rows = [tuple(any_value(rng, i.type) for i in equations.inputs) for _ in range(STEPS)]
    else:
        equations = random_equations(number)
        rows = random_rows(number, equations, STEPS)
    figure.tried["units of operators" if kind == "operators" else "random specs"] += 1
    wrong = first_difference(equations, rows)
    if wrong is not None:
        figure.wrong.append(f"seed {number}, interpreter: {wrong}")
        return None
    code = generate(equations, OPTIONS[number // 2 % 2]).code
    return Unit(f"seed {number}, {kind}", code, rows, expected(equations, rows, observers=True))


def write_program(folder, units, apart=True):
    """The units, and one file with all drivers. Handlers of one name are told apart by macros; so are static names,
    unless each unit is a file of its own."""
    drivers = []
    for at, (_, code, rows, _) in enumerate(units):
        for name, content in code.files.items():
            (folder / name).write_text(content)
        handlers = [code.c_name("trigger", trigger.name) for trigger in code.specification.triggers]
        renamed = defined(handlers, at)
        static = [] if apart else [*dict.fromkeys(STATIC.findall(code.files[f"{code.base}.c"]))]
        undefined = "".join(f"#undef {name}\n" for name in (*handlers, *static))
        with (folder / (f"unit_{at}.c" if apart else "unit_0.c")).open("w" if apart or not at else "a") as file:
            file.write(f'{renamed}{defined(static, f"in_{at}")}#include "{code.base}.c"\n{undefined}')
        (folder / f"rows_{at:02}").write_bytes(packed_rows(code, rows))
        own = [*handlers, "main", "mine"]
        drivers += [defined([name for name in own if name not in handlers], at)]
        drivers += [renamed, driver(code, copilot=False), *(f"#undef {name}\n" for name in own)]
    programs = ", ".join(f"main_{at}" for at in range(len(units)))
    (folder / "drivers.c").write_text("".join(drivers) + MAIN.format(programs=programs))


def defined(names, at):
    return "".join(f"#define {name} {name}_{at}\n" for name in names)


def built_and_run(folder, compiler, flags):
    sources = sorted(path.name for path in folder.glob("unit_*.c"))
    run([compiler, *flags, "-c", *sources], folder)
    run([compiler, "-std=c99", *flags, "-O0", "-c", "drivers.c"], folder)
    run([compiler, *flags, *(f"{Path(name).stem}.o" for name in sources), "drivers.o", "-o", "program", "-lm"], folder)
    return run(["./program"], folder)


def judge(figure, how, where, units, output):
    """Compare what a program of these units prints with what the interpreter has."""
    try:
        shown = output()
    except (AssertionError, subprocess.SubprocessError) as why:
        figure.wrong.append(f"{where}: {', '.join(unit.name for unit in units)}: {str(why)[:300]}")
        return
    if shown is None:
        figure.tried["units not built for the Cortex-M, whose compiler's library is missing"] += len(units)
        return
    parts = shown.split("# ")[1:]
    figure.tried[f"steps {how}"] += STEPS * len(units)
    if len(parts) != len(units):
        last = units[len(parts) - 1].name if parts else "none"
        figure.wrong.append(f"{where}: {len(parts)} of {len(units)} units, the last is {last}: {shown[-100:]}")
    for unit, part in zip(units, parts, strict=False):
        if (wrong := other_line(part.splitlines()[1:], unit.wanted)) is not None:
            figure.wrong.append(f"{unit.name}, {where}: {wrong}")


def other_line(got, wanted):
    """The first line that is not the interpreter's; None if there is none."""
    for at, (a, b) in enumerate(zip(got, wanted, strict=False)):
        if a != b:
            return f"line {at}: {a}, interpreter {b}"
    return None if len(got) == len(wanted) else f"{len(got)} lines, not {len(wanted)}"


def operators_at(number):
    """A spec that shows some operators, each of inputs of its own."""
    rng = Random(number)
    every = [case for case in cases() if case[0] not in {"same", *NOT_EXACT} and not has_numbers(case)]
    inputs, shown = [], []
    for at, (name, types, payload) in enumerate(rng.sample(every, IN_A_UNIT)):
        operands = [variable(f"v{at}_{i}", t) for i, t in enumerate(types)]
        inputs += [Input(v.payload, v.type, True, "", "", None) for v in operands]
        shown.append(Named(f"o{at}", term(name, *operands, payload=payload), None))
    return Specification(f"operators_{number}", tuple(inputs), (), (), (), (), tuple(shown), (), (), None)


def has_numbers(case):
    """True if C has no type for an operand or the result: Int and Real."""
    name, types, payload = case
    given = [*types, payload] if name == "cast" else types
    return any(getattr(t, "kind", "") in ("integer", "real") for t in given)


def has_32_bits():
    program = b"#include <string.h>\nint main(void) { return sizeof(void *) != 4; }"
    done = subprocess.run(["gcc", "-m32", "-xc", "-", "-o", "/dev/null"], input=program, capture_output=True)
    return done.returncode == 0
