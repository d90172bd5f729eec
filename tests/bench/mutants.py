"""Mutants of the C of fifty monitors: each that behaves in another way must be refused.

    python tests/bench/mutants.py [MUTANTS PER MONITOR [FIRST [LAST]]]

A mutant has one change, of eleven kinds, in one of the files. Those that the proof accepts are compiled by gcc at -O0,
at -O3 and with sanitizers, and by clang with its traps for undefined behaviour, and compared with the interpreter over
300 random steps. Prints each that differs, and a table; exits with 1 if there is one.
"""

from __future__ import annotations

import difflib
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from c_mutants import BUILDS, KINDS, mutants, trusted_builds, verdict
from random_loops import random_loops
from random_specs import random_equations
from test_codegen import ALL, OPTIONS

from streamcheck.codegen.unit import CodeOptions, generate

MONITORS, LOOPS, EACH = 50, 10, 126
FORMS = [CodeOptions(handlers="table"), CodeOptions(handlers="context", observers=True, prefix="fsw_")]
FORMS.append(CodeOptions(pack=True))


def subjects():
    """The specs that compile, in their ABIs in turn, then random ones, then random ones with loops."""
    for i, param in enumerate(ALL):
        yield generate(param.values[0], OPTIONS[2 + i % 2]).code
    for seed in range(MONITORS - LOOPS - len(ALL)):
        yield generate(random_equations(seed), [*OPTIONS, *FORMS][seed % 7]).code
    for seed in range(LOOPS):
        yield generate(random_loops(seed), OPTIONS[seed % 4]).code


def changed_lines(before, after):
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), n=0, lineterm="")
    return [line[:120] for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]


def main():
    each, first, last = (*map(int, sys.argv[1:]), *(EACH, 0, MONITORS)[len(sys.argv) - 1 :])
    began, table, escaped = time.process_time(), {kind.__name__: Counter() for kind in KINDS}, 0
    for number, code in list(enumerate(subjects()))[first:last]:
        with tempfile.TemporaryDirectory() as folder:
            builds = trusted_builds(code, number, Path(folder) / "c")
        for kind, file, text in mutants(code, random.Random(number), each):
            with tempfile.TemporaryDirectory() as folder:
                found = verdict(code, number, file, text, Path(folder) / "c", builds)
            word = found if found in ("refused", "same") else "escaped"
            table[kind][word] += 1
            if word == "escaped":
                escaped += 1
                lines = changed_lines(code.files[file], text)
                print(f"{number} {code.base}: {kind}, {file}: {lines}: {found}", flush=True)
        for compiler, flags in [b for b in BUILDS if b not in builds]:
            print(f"  not compared under {compiler} {flags[0]}, which the C itself does not pass", flush=True)
        done = sum(sum(row.values()) for row in table.values())
        print(f"# {number} {code.base}: {done} mutants, {escaped} escaped", flush=True)
    print(f"{'':14}{'mutants':>9}{'refused':>9}{'the same':>9}{'escaped':>9}")
    for kind, row in [*table.items(), ("all", sum(table.values(), Counter()))]:
        print(f"{kind:14}{sum(row.values()):9}{row['refused']:9}{row['same']:9}{row['escaped']:9}")
    print(f"{time.process_time() - began:.0f} s of processor time")
    return 1 if escaped else 0


if __name__ == "__main__":
    sys.exit(main())
