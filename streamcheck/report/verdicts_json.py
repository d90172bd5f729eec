"""Verdicts for programs: the JSON object of `prove --json`."""

from __future__ import annotations

from typing import Any

from streamcheck import __version__
from streamcheck.core.term import Term
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Replay, Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import CHECKERS, Unknown
from streamcheck.report.equations import term_text
from streamcheck.report.program import invariants_json, path_json
from streamcheck.report.values import as_json
from streamcheck.report.verdicts import MODELS


def verdicts_json(verdicts: Verdicts, file: str, saved: dict[str, str]) -> dict[str, Any]:
    problem = verdicts.problem
    row = {
        "tool": "streamcheck",
        "version": __version__,
        "file": file,
        "spec": problem.name,
        "seconds": round(verdicts.seconds, 3),
        "properties": [result_json(problem, r, saved.get(r.name), machine=verdicts.machine) for r in verdicts.results],
        "warnings": verdicts.warnings,
        "alarms": verdicts.alarms,
    }
    if verdicts.parts:
        row["parts"] = list(verdicts.parts)
    if verdicts.bound is not None:
        row["bound"] = verdicts.bound
    return row | ({"integers": problem.integers} if isinstance(problem, Automaton) else {})


def result_json(problem: Problem, result: Result, saved: str | None, *, machine: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"name": result.name, "verdict": result.verdict, "seconds": round(result.seconds, 3)}
    if result.prop.is_implied:
        row["implied"] = True
    if result.unknown is not None:
        return row | _unknown(problem, result, result.unknown)
    row |= {"engine": result.engine, "k": result.k, "certificate": saved}
    if result.kept:
        row["kept"] = True
    if result.composition is not None:
        row["composed"] = True
    if result.prop.is_about_infinite_runs and result.proof is not None:
        row["kind"] = result.kind
    if result.proof is not None:
        row |= {"prover": result.prover, "checkers": list(CHECKERS[result.prover])}
    if machine:
        row["model"] = MODELS[result.model]
    if result.at_locations is not None and isinstance(problem, Automaton):
        row["invariants"] = invariants_json(problem, result.at_locations)
    if result.path is not None:
        length = result.path.length
        row["counterexample"] = {"length": length, "shortest": result.shortest, "path": path_json(result.path)}
    elif result.run is not None and isinstance(problem, Specification):
        key = "witness" if result.prop.goal is Goal.REACHABLE else "counterexample"
        steps = steps_json(problem, result.prop, result.run)
        row[key] = {"length": result.run.length, "shortest": result.shortest, "steps": steps}
        if result.run.loop is not None:
            row[key]["loop"] = result.run.loop
    return row


def _unknown(problem: Problem, result: Result, why: Unknown) -> dict[str, Any]:
    row: dict[str, Any] = {
        "reason": why.reason,
        "depth": why.depth,
        "reasons": dict(why.reasons),
        "running": list(why.running),
    }
    if result.explanation is not None and isinstance(problem, Specification):
        known = result.explanation
        row |= {"not_inductive": None} | ({"missing": known.missing} if known.missing else {})
        if known.fails is not None:
            row["not_inductive"] = {
                "steps": steps_json(problem, result.prop, known.fails),
                "unreachable": known.unreachable,
                "not_before": known.not_before,
            }
        row["lemmas"] = [term_text(problem, t) for t in known.lemmas]
        row["candidates"] = [term_text(problem, t) for t in known.candidates]
    return row


def steps_json(specification: Specification, claim: Claim, run: Replay) -> list[dict[str, Any]]:
    """The inputs of each step by name, and the streams that the claim or an assumption depends on."""
    inputs = [(i.name, i.var) for i in specification.inputs]
    below = specification.needed_by(c.term for c in (claim, *specification.assumptions))
    constants = [(specification.labels[c.var], c.var) for c in specification.constants]
    streams: dict[str, Term] = {}
    named = [(n.name, n.term) for n in (*specification.wires, *specification.observers)]
    cells = [(c.name, c.var) for c in specification.cells]
    for name, node in [(claim.name, claim.term), *constants, *cells, *named]:
        if node in below:
            streams.setdefault(name if streams.get(name, node) is node else f"{name} (stream)", node)
    return [
        {
            "step": number,
            "inputs": {name: as_json(var.type, values[var]) for name, var in inputs},
            "streams": {name: as_json(node.type, values[node]) for name, node in streams.items() if node in values},
        }
        for number, values in zip(run.numbers, run.steps, strict=True)
    ]
