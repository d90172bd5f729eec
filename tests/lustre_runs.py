"""Lustre texts read and run, for tests: each output's values for given inputs."""

from __future__ import annotations

from streamcheck.certify.replay import run_of
from streamcheck.frontends.lustre.read import read_lustre
from streamcheck.problem.verdict import Trace
from streamcheck.run.prove import Settings, prove


def read(tmp_path, text, node=None):
    path = tmp_path / "spec.lus"
    path.write_text(text)
    (equations,) = read_lustre(str(path), node)
    return equations


def ran(tmp_path, text, steps=None, **inputs):
    """{output: its values} of the main node's run; inputs are lists, and what is unknown is its type's default."""
    equations = read(tmp_path, text)
    steps = steps if inputs == {} else min(map(len, inputs.values()))
    rows = [{name: values[i] for name, values in inputs.items()} for i in range(steps)]
    run = list(run_of(equations, Trace({}, tuple(rows))))
    return {o.name: [values[o.term] for values in run] for o in equations.observers}


def node(body, inputs="x: int; b: bool", outputs="y: int", local="", before="", claims=""):
    """A program of one node called top, and what comes before it."""
    declared = f"var {local};" if local else ""
    return f"{before}\nnode top({inputs}) returns ({outputs});\n{declared}\nlet\n{body}\n{claims}\n--%MAIN;\ntel\n"


def verdicts(tmp_path, text, node=None, timeout=20.0):
    """{property: its verdict}."""
    results = prove(read(tmp_path, text, node), Settings(timeout=timeout, jobs=1)).results
    return {r.name: r.verdict for r in results}
