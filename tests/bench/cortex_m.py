"""Worst-case instructions and stack of a step of every example on a Cortex-M4 under qemu, beside the computed bounds.

    python tests/bench/cortex_m.py [STEPS [SPEC.py …]]

Each step runs on random inputs (500 of them, extreme values favoured), with empty handlers, compiled by clang -O2. A
spec that computes with doubles runs on a Cortex-M7, which has instructions for them. Specs with functions of math.h
need a library for the board and are left out, with a word.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from cortex_m import measure
from random_specs import random_rows

from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load

EXAMPLES = [path for path in sorted(Path("specs").rglob("*.py")) if not path.name.startswith("_")]


def units(paths):
    """The specs of these files that compile, and have handlers."""
    for path in paths:
        for spec in load(str(path)):
            equations = flatten(spec)
            try:
                if equations.triggers:
                    yield f"{path}::{equations.name}", generate(equations, CodeOptions())
            except SpecError as why:
                print(f"{path}::{equations.name}: {why.message}", flush=True)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print(f"{'spec':60} core  instructions  operations  stack  locals   text  state", flush=True)
    for name, unit in units(map(Path, sys.argv[2:]) if len(sys.argv) > 2 else EXAMPLES):
        rows = random_rows(1, unit.code.specification, steps)
        with tempfile.TemporaryDirectory() as folder:
            found = measure(unit.code, Path(folder), rows)
        if found is None:
            print(f"{name:60} calls functions of math.h", flush=True)
            continue
        figures = unit.figures
        numbers = f"{found.instructions:>12}  {figures.operations:>10}  {found.stack:>5}  {figures.locals:>6}"
        print(f"{name:60} {found.core:>4}  {numbers}  {found.text:>5}  {figures.state:>5}", flush=True)


if __name__ == "__main__":
    main()
