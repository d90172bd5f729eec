"""Random specs through every gate of the generated C: rings, groups, loops (every fifth), packed state (every third).

    python tests/bench/random_c.py [FIRST [LAST]]

For each: compiled without a warning by gcc and clang, run at -O0 and -O3, under gcc's UBSan and ASan and under clang's
traps for undefined behaviour, the same calls and observers as the interpreter over a thousand random steps (extreme
values favoured), no MISRA rule broken beyond the README's list, and the C proved equal to the spec. Prints what fails
and the times; exits with 1 if something does. The tests do the same for a sample.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from c_harness import build, compare, have, write
from c_mutants import TRAPS
from random_loops import random_loops
from random_specs import random_equations, random_rows
from test_codegen import DEVIATIONS, LIMITS, OPTIONS, SANITIZE

from streamcheck.codegen.unit import generate
from streamcheck.validate.bisimulation import validate

STEPS = 1_000


def gates(seed, folder):
    """What is wrong with one, and how long its proof took."""
    equations = random_loops(seed) if seed % 5 == 4 else random_equations(seed)
    code = generate(equations, replace(OPTIONS[seed % 4], pack=seed % 3 == 2)).code
    write(folder, code)
    rows = random_rows(seed, equations, STEPS)
    wrong = []
    for compiler in [c for c in ("gcc", "clang") if have(c)]:
        for flags in [("-O0",), ("-O3",), SANITIZE if compiler == "gcc" else TRAPS]:
            try:
                compare(folder, build(folder, code, compiler, flags), code, rows)
            except AssertionError as why:
                wrong.append(f"{compiler} {' '.join(flags)}: {str(why)[:800]}")
    if have("cppcheck"):
        wrong += misra(folder, equations.name)
    outcome = validate(code)
    if not outcome.is_proved:
        wrong.append(f"not proved: {'; '.join(outcome.failures)}")
    return wrong, outcome.seconds


def misra(folder, name):
    command = ["cppcheck", "--std=c99", "--addon=misra", "--enable=style", "--quiet", *LIMITS]
    done = subprocess.run([*command, f"{name}.c"], cwd=folder, capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if "misra-c2012" in line]
    return [line for line in lines if re.search(r"2012-([\d.]+)\]", line)[1] not in DEVIATIONS]


def main():
    first, last = (*map(int, sys.argv[1:]), *(0, 500)[len(sys.argv) - 1 :])
    began, failed, proofs = time.monotonic(), 0, []
    for seed in range(first, last):
        with tempfile.TemporaryDirectory() as temporary:
            try:
                wrong, seconds = gates(seed, Path(temporary) / "c")
                proofs.append(seconds)
            except Exception as crash:
                wrong = [repr(crash)]
        failed += bool(wrong)
        for line in wrong:
            print(f"seed {seed}: {line}", flush=True)
    print(f"{last - first} specs, {failed} with faults, {time.monotonic() - began:.0f} s")
    print(f"proofs of the C: median {median(proofs):.3f} s, longest {max(proofs):.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
