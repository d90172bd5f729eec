"""Verdicts for programs: the JSON object of `prove --json`."""

from __future__ import annotations

from typing import Any

from streamcheck import __version__
from streamcheck.core.term import Term
from streamcheck.problem.claim import Goal
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.program import invariants_json, path_json
from streamcheck.report.values import as_json
from streamcheck.report.verdicts import MODELS


def verdicts_json(verdicts: Verdicts, file: str, saved: dict[str, str]) -> dict[str, Any]:
    program = verdicts.equations.program
    return {
        "tool": "streamcheck",
        "version": __version__,
        "file": file,
        "spec": verdicts.equations.name,
        "seconds": round(verdicts.seconds, 3),
        "properties": [
            _result(verdicts.equations, r, saved.get(r.name), machine=verdicts.machine) for r in verdicts.results
        ],
        "warnings": verdicts.warnings,
    } | ({} if program is None else {"integers": program.integers})


def _result(equations: Specification, result: Result, saved: str | None, *, machine: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"name": result.name, "verdict": result.verdict, "seconds": round(result.seconds, 3)}
    if result.prop.is_implied:
        row["implied"] = True
    if result.verdict == "unknown":
        return row | {"reason": result.reason}
    row |= {"engine": result.engine, "k": result.k, "certificate": saved}
    if machine:
        row["model"] = MODELS[result.model]
    if result.invariants is not None and equations.program is not None:
        row["invariants"] = invariants_json(equations.program.source, result.invariants)
    if result.path is not None:
        row["counterexample"] = {"length": len(result.path), "shortest": result.shortest, "path": path_json(result)}
    elif result.replay is not None:
        key = "witness" if result.prop.goal is Goal.REACHABLE else "counterexample"
        steps = len(result.replay.steps)
        row[key] = {"length": steps, "shortest": result.shortest, "steps": _steps(equations, result)}
    return row


def _steps(equations: Specification, result: Result) -> list[dict[str, Any]]:
    assert result.replay is not None
    inputs = [(i.name, i.var) for i in equations.inputs]
    constants = [(c.name, c.var) for c in equations.constants]
    streams: dict[str, Term] = {}
    named = [(n.name, n.term) for n in (*equations.wires, *equations.observers)]
    cells = [(c.name, c.var) for c in equations.cells]
    claims = [(p.name, p.term) for p in equations.properties if not p.is_implied or p.name == result.name]
    for name, node in [*claims, *constants, *cells, *named]:
        streams.setdefault(name if streams.get(name, node) is node else f"{name} (stream)", node)
    return [
        {
            "inputs": {name: as_json(var.type, values[var]) for name, var in inputs},
            "streams": {name: as_json(node.type, values[node]) for name, node in streams.items()},
        }
        for values in result.replay.steps
    ]
