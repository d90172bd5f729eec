"""Generated C against the evaluator: random specs, and each operator at each type, by each compiler at hand, without
optimisation and with much, as 32-bit code, and on a Cortex-M7 under qemu."""

import subprocess
import tempfile
from pathlib import Path
from random import Random

from c_harness import build, compare, have, write
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
BUILDS = (
    ("gcc", ("-O0",)),
    ("gcc", ("-O3",)),
    ("clang", ("-O0",)),
    ("clang", ("-O3",)),
    ("gcc", ("-m32", "-msse2", "-mfpmath=sse", "-O2")),
)
OPTIONS = (CodeOptions(observers=True), CodeOptions(observers=True, pack=True))


def c(count, seed):
    """So many units of C, each by every compiler."""
    figure = Figure("generated C against the evaluator")
    builds = [b for b in BUILDS if have(b[0]) and ("-m32" not in b[1] or has_32_bits())]
    if not builds:
        figure.tried["units, since there is no C compiler"] += 0
    for number in range(seed, seed + count if builds else seed):
        equations = operators_at(number) if number % 2 else random_equations(number)
        rows = random_rows(number, equations, STEPS)
        if number % 2:
            rng = Random(number)
            rows = [tuple(any_value(rng, i.type) for i in equations.inputs) for _ in range(STEPS)]
        figure.tried["units of operators" if number % 2 else "random specs"] += 1
        wrong = first_difference(equations, rows)
        if wrong is not None:
            figure.wrong.append(f"seed {number}, interpreter: {wrong}")
            continue
        unit = generate(equations, OPTIONS[number // 2 % 2]).code
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), unit)
            for compiler, flags in builds:
                figure.tried[f"steps by {compiler} {flags[0]}"] += STEPS
                try:
                    compare(Path(folder), build(Path(folder), unit, compiler, flags, ()), unit, rows)
                except (AssertionError, subprocess.SubprocessError) as why:
                    figure.wrong.append(f"seed {number}, {compiler} {' '.join(flags)}: {str(why)[:300]}")
            if have("clang", "ld.lld", "qemu-system-arm"):
                on_a_board(figure, number, Path(folder), unit, rows)
    return figure


def on_a_board(figure, number, folder, unit, rows):
    optimize = ("-O0", "-O3")[number // 4 % 2]
    try:
        wrong = board.first_difference(folder, unit, rows, optimize)
    except (AssertionError, subprocess.SubprocessError) as why:
        wrong = str(why)[:300]
    if wrong == "not built":
        figure.tried["units not built for the Cortex-M, whose compiler's library is missing"] += 1
        return
    figure.tried[f"steps on a Cortex-M7, {optimize}"] += STEPS
    if wrong is not None:
        figure.wrong.append(f"seed {number}, Cortex-M7 {optimize}: {wrong}")


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
