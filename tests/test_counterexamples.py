"""Counterexamples as people see them: the names, the rows and steps that may be asked for, files that replay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).parent / "streamcheck"
QUANTIFIED = """
from streamcheck import *
x, y = extern("x", Word8), extern("y", Word8)
n = stream(Word16, lambda n: [1] ++ (n * n * 3 + cast(Word16, x)))
spec = Spec("s")
spec.prop("first", forall(Word8, lambda v: implies(x == v, v < 200)))
spec.prop("second", forall(Word8, lambda v: implies(x == v, v < 201)))
spec.prop("wide", forall(Word16, lambda v: v < 300))
spec.prop("twice", forall(Word8, lambda v: x != v) | forall(Word8, lambda v: y != v))
spec.prop("taken", forall(Word8, lambda y: x != y))
spec.prop("open", forall(Word16, lambda v: implies(n == v, v != 7)))
spec.exists("some", exists(Word8, lambda v: (x == v) & (v > 5)))
"""


def run(folder, *args):
    environment = {"PATH": "/usr/bin:/bin", "STREAMCHECK_NO_CACHE": "1"}
    return subprocess.run([COMMAND, *map(str, args)], cwd=folder, env=environment, capture_output=True, text=True)


def rows_of(text):
    """The rows of the tables by title, then by name."""
    found, rows = {}, {}
    for line in text.splitlines():
        if line.startswith("  ") and line[2] != " ":
            rows = found[line.split()[1]] = {}
        elif line.startswith("      "):
            name, *cells = line.split()
            rows[name] = cells
    return found


@pytest.fixture(scope="module")
def quantified(tmp_path_factory):
    folder = tmp_path_factory.mktemp("quantified")
    (folder / "s.py").write_text(QUANTIFIED)
    return folder


def test_the_constant_of_a_forall_has_the_name_of_its_parameter(quantified):
    done = run(quantified, "explain", "s.py", "--timeout", 6)
    tables = rows_of(done.stdout)
    assert all("v" in tables[name] for name in ("first", "second", "wide", "some", "open")), done.stdout
    assert {"v", "v_2", "x", "y"} <= tables["twice"].keys() and "y_2" in tables["taken"]
    assert all("v_2" not in rows for name, rows in tables.items() if name != "twice")
    assert "= implies(x == v, v < 201)" in done.stdout
    assert "v = 201" in done.stdout and "v_2 = 0" in done.stdout


def test_the_json_has_only_the_constants_of_the_property(quantified):
    done = run(quantified, "prove", "s.py", "--json", "--prop", "second", "--prop", "wide", "--prop", "open", "--timeout", 8)
    for row in json.loads(done.stdout)["properties"]:
        run_of = row.get("counterexample") or row["not_inductive"]
        assert "v" in run_of["steps"][0]["streams"]
        assert not any(name.startswith("v_") for name in run_of["steps"][0]["streams"])


def test_the_names_survive_the_spec_as_json(quantified):
    (quantified / "s.json").write_text(run(quantified, "show", "s.py", "--as", "json").stdout)
    tables = rows_of(run(quantified, "prove", "s.json", "--prop", "second", "--full").stdout)
    assert tables["second"]["v"] == ["201"]
