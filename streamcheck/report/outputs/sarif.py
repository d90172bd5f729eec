"""Verdicts as SARIF 2.1.0 [SARIF]: a falsified property is a result on its line, with its run as a code flow: the lines
whose values change, step by step."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from streamcheck import __version__
from streamcheck.core.location import Location
from streamcheck.problem.automaton import Automaton, Executed
from streamcheck.problem.result import PathReplay, Replay, Result
from streamcheck.problem.specification import Specification
from streamcheck.report.outputs.proved_file import ProvedFile, relative
from streamcheck.report.page.signals import RunTimeline, run_timeline_of
from streamcheck.report.program import path_rows
from streamcheck.report.values import as_text
from streamcheck.report.verdicts import how_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
RULES = {
    "falsified": ("error", "A run breaks the property."),
    "unknown": ("warning", "The property has no verdict."),
    "warning": ("warning", "The spec may not say what is meant."),
    "contradiction": ("error", "Two parts of streamcheck disagree."),
}
PLACEHOLDER = re.compile(r"\{(\d+)\}")  # that arguments of the message would replace [SARIF, 3.11.5]
LINK = re.compile(r"\[(?=[^\[\]]*\]\()")  # the begin of an embedded link [SARIF, 3.11.6]
MOST_FLOW = 2000  # places of a code flow: the last ones are kept


def sarif_text(proved: Sequence[ProvedFile]) -> str:
    files = dict.fromkeys(relative(one.file) for one in proved)
    run = {
        "tool": {"driver": {"name": "streamcheck", "version": __version__, "rules": [_rule(name) for name in RULES]}},
        "columnKind": "unicodeCodePoints",
        "artifacts": [{"location": {"uri": _uri(file)}} for file in files],
        "results": [row for one in proved for row in _results(one)],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(name: str) -> dict[str, Any]:
    level, text = RULES[name]
    return {"id": name, "shortDescription": {"text": text}, "defaultConfiguration": {"level": level}}


def _results(one: ProvedFile) -> Iterator[dict[str, Any]]:
    verdicts = one.verdicts
    for result in verdicts.results:
        if result.verdict in RULES:
            row = _row(one, result.verdict, result.name, one.title(result), result.prop.where)
            flow = list(_flow(one, result))[-MOST_FLOW:]
            if flow:
                row["codeFlows"] = [{"threadFlows": [{"locations": flow}]}]
            yield row
    for alarm in verdicts.alarms:
        yield _row(one, "contradiction", "", alarm, None)
    for warning in verdicts.warnings:
        yield _row(one, "warning", warning, warning, None) | {"level": "error" if verdicts.strict else "warning"}


def _row(one: ProvedFile, rule: str, key: str, text: str, where: Location | None) -> dict[str, Any]:
    fingerprint = sha256("\0".join([one.verdicts.problem.name, rule, key]).encode()).hexdigest()
    return {
        "ruleId": rule,
        "ruleIndex": list(RULES).index(rule),
        "level": RULES[rule][0],
        "message": _message(text),
        "locations": [_location(*one.place(where))],
        "partialFingerprints": {"streamcheck/v1": fingerprint},
    }


def _flow(one: ProvedFile, result: Result) -> Iterator[dict[str, Any]]:
    problem = one.verdicts.problem
    match problem, result.replay:
        case Specification(), Replay() as run:
            yield from _run_flow(one, result, run_timeline_of(problem, result.prop, run))
        case Automaton(), PathReplay() as path:
            yield from _path_flow(one, path)


def _run_flow(one: ProvedFile, result: Result, run: RunTimeline) -> Iterator[dict[str, Any]]:
    """At each step the lines whose values are new, then the property."""
    rows = [s for s in run.signals if s.matters and not s.claim and s.where is not None]
    for i, number in enumerate(run.numbers):
        state = {s.name: _message(s.texts[i]) for s in rows}
        for signal in rows:
            if i == 0 or signal.texts[i] != signal.texts[i - 1]:
                text = f"step {number}: {signal.name} = {signal.texts[i]}"
                yield _step(one.place(signal.where), text, number, state, "important")
    last = run.numbers[-1]
    how = how_text(result, machine=one.verdicts.machine, bound=one.verdicts.bound)
    yield _step(one.place(result.prop.where), f"step {last}: {result.name} ({how})", last, {}, "essential")


def _path_flow(one: ProvedFile, path: PathReplay) -> Iterator[dict[str, Any]]:
    for row in path_rows(path):
        where = row.step.edge.where if isinstance(row.step, Executed) else None
        values = ", ".join(f"{name} = {as_text(v.type, value)}" for name, v, value in row.changes)
        if where is not None:
            text = f"{row.text}: {values}" if values else row.text
            yield _step(one.place(where), text, row.number, {}, "important")


def _step(place: tuple[str, int], text: str, number: int, state: dict[str, Any], importance: str) -> dict[str, Any]:
    row: dict[str, Any] = {"location": _location(*place) | {"message": _message(text)}, "importance": importance}
    row["executionOrder"] = number + 1  # from 1 on
    return row | ({"state": state} if state else {})


def _message(text: str) -> dict[str, str]:
    """The text, which names and values can make neither a template nor a link."""
    return {"text": LINK.sub(r"\\[", PLACEHOLDER.sub(r"{{\1}}", text))}


def _location(file: str, line: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": line}}}


def _uri(path: str) -> str:
    """The path as a relative reference, or an absolute one with its scheme."""
    text = quote(path.replace(os.sep, "/"))
    return f"file://{text}" if os.path.isabs(path) else text
