"""The C of the monitors in specs/gallery, measured.

    python tests/bench/gallery.py

state is the size of the struct, text that of the code for a Cortex-M4 (clang -Os), instructions those of a step on
x86-64 (gcc -O2, callgrind, without the handlers), the mean over 500 steps with random inputs; lines those of the spec.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from c_harness import build, externs_of, packed, run, unit_of, write
from random_specs import random_rows

from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load

GALLERY = sorted(Path("specs/gallery").glob("*.py"))
STEPS = 500
ARM = "clang --target=thumbv7em-none-eabi -mcpu=cortex-m4 -mfloat-abi=soft -ffreestanding -std=c99 -Os -I.".split()
STRING = """\
#include <stddef.h>
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);
"""


def main() -> None:
    print(f"{'monitor':18} {'lines':>5} {'props':>5} {'state':>6} {'text':>6} {'instr.':>7}")
    for path in GALLERY:
        spec = next(s for s in load(str(path)) if s.name == path.stem)
        lines = sum(bool(line.strip()) and not line.startswith("#") for line in path.read_text().splitlines())
        with tempfile.TemporaryDirectory() as temporary:
            figures = measured(spec, Path(temporary))
        claims = len(flatten(spec).properties)
        print(f"{path.stem:18} {lines:5} {claims:5} {figures[0]:6} {figures[1]:6} {figures[2]:7.0f}")


def measured(spec, folder):
    """Bytes of state, bytes of text, instructions of a step."""
    unit = unit_of(spec)
    write(folder, unit)
    program = build(folder, unit)
    (folder / "string.h").write_text(STRING)
    run([*ARM, "-c", f"{unit.base}.c", "-o", "arm.o"], folder)
    sections = run(["objdump", "-h", "arm.o"], folder)
    text = sum(int(n, 16) for n in re.findall(r"^\s*\d+ \.(?:text|rodata)\S*\s+([0-9a-f]+)", sections, re.M))
    (folder / "size.c").write_text(f'#include "{unit.base}.h"\nchar size_of_state[sizeof({unit.base}_state)];\n')
    run(["gcc", "-std=c99", "-fno-common", "-c", "size.c", "-o", "size.o"], folder)
    state = int(re.search(r"^\S+ (\S+) \w size_of_state$", run(["nm", "-S", "size.o"], folder), re.M)[1], 16)
    return state, text, instructions(unit, program, folder)


def instructions(unit, program, folder):
    externs = externs_of(unit)
    every = [i for i in unit.specification.inputs if i.extern]
    rows = [[row[every.index(i)] for i in externs] for row in random_rows(1, unit.specification, STEPS)]
    (folder / "rows").write_bytes(b"".join(b"x" + packed(externs, row) for row in rows))
    handlers = [unit.c_name("trigger", t.name) for t in unit.specification.triggers]
    toggles = [f"--toggle-collect={name}" for name in (f"{unit.base}_step", *handlers)]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind", *toggles, str(program), "rows"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1]) / STEPS


if __name__ == "__main__":
    main()
