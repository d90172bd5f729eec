"""Whole C programs: random ones do what compiled ones do, and those of others are read, or refused for a reason."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from c_harness import have
from minic_runs import RandomProgram, compiled, joined, outcome, run

from streamcheck.core.errors import SpecError
from streamcheck.core.types import BOOL, MachineType
from streamcheck.frontends.minic.read import read_c

BENCH = Path("../shared/bench/c")


# Random programs against compilers


def inputs(seed):
    r = random.Random(seed)
    small = lambda: r.choice([0, 1, 2, 3, 5, 7, -1, r.randint(-9, 9)])
    large = lambda: r.choice([r.randint(-(2**31), 2**31 - 1), r.randint(-(2**63), 2**63 - 1)])
    return [r.choice([small, small, large])() for _ in range(20)]


def compare(folder, integers, programs, runs, seed):
    """How each run ends, counted by kind, having ended the same way everywhere."""
    checked, fast = compiled(folder, joined([(p.text, p.names) for p in programs]))
    counted = dict.fromkeys(("end", "no overflow", "no division by zero", "index in bounds"), 0)
    for i, program in enumerate(programs):
        path = folder / f"p{i}.c"
        path.write_text(program.text)
        cfa, _ = read_c(str(path), integers)
        for k in range(runs):
            given = inputs(seed + 1000 * i + k)
            if integers == "math":
                given = [n % 2**32 - 2**31 for n in given]
            wanted = run(checked, i, given)
            kind = wanted.split(", line")[0] if "line" in wanted else "end"
            counted[kind] = counted.get(kind, 0) + 1
            if integers == "math" and kind == "no overflow":
                continue  # there the two part
            found = outcome(cfa, given, [name for name, _ in program.names])
            if kind not in ("end", "assert") and found.split(", ")[-1] == wanted.split(", ")[-1]:
                continue  # of several obligations of a line, C does not say which comes first
            assert found == wanted, f"{path} {given}"
            if kind == "end":
                assert run(fast, i, given) == wanted, f"{path} {given}"
    return counted


@pytest.mark.skipif(not have("gcc", "clang"), reason="gcc and clang are not here")
@pytest.mark.parametrize(("integers", "seed"), [("c", 0), ("c", 40), ("math", 0)])
def test_random_programs_do_what_compiled_ones_do(tmp_path, integers, seed):
    programs = [RandomProgram(seed + i, plain=integers == "math") for i in range(30)]
    counted = compare(tmp_path, integers, programs, 4, seed)
    assert min(counted.values()) > 0, counted


# Programs of others

REFUSED = {"loops/bubble_sort_false.c": "node is not a number"}  # a pointer as an unsigned int, and back
WITHOUT_ASSERTIONS = ("loops/bubble_sort_true.c",)
FOR_MACHINES = {
    "loop-invariants/bin-suffix-5_true.c",
    "loops/lu.cmp_true.c",
    "loops/ludcmp_false.c",
    "loops/string_false.c",
}


@pytest.mark.skipif(not BENCH.exists(), reason="the benchmark programs are not here")
@pytest.mark.parametrize("integers", ["c", "math"])
def test_programs_of_others_are_read_or_refused(integers):
    refused = {}
    for name in json.loads((BENCH / "expected.json").read_text()):
        try:
            cfa, _ = read_c(str(BENCH / name), integers)
        except SpecError as why:
            refused[name] = str(why)
            continue
        assert any(not e.implied for e in cfa.errors) or name in WITHOUT_ASSERTIONS, name
        assert all(isinstance(v.type, MachineType) != (integers == "math") or v.type is BOOL or v.type.kind in
                   ("array", "float") for v in cfa.variables), name  # fmt: skip
    for name, why in REFUSED.items():
        assert why in refused.pop(name)
    for name in FOR_MACHINES if integers == "math" else ():
        assert "--int c" in refused.pop(name)
    assert not refused
