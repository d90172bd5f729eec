"""Verdicts as JUnit XML: a suite for each spec, a case for each property. A falsified property is a failure, one
without a verdict an error."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from streamcheck.problem.result import Result
from streamcheck.report.outputs.proved_file import ProvedFile

FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # in XML 1.0


def junit_text(proved: Sequence[ProvedFile]) -> str:
    return "\n".join(['<?xml version="1.0" encoding="UTF-8"?>', *_suites(proved), ""])


def _suites(proved: Sequence[ProvedFile]) -> Iterator[str]:
    results = [r for one in proved for r in one.verdicts.results]
    yield f"<testsuites{_counts(results, sum(len(one.verdicts.alarms) for one in proved))}>"
    for one in proved:
        verdicts = one.verdicts
        counts = _counts(verdicts.results, len(verdicts.alarms))
        name = _attribute(f"{one.file}::{verdicts.problem.name}")
        yield f'  <testsuite name={name}{counts} time="{verdicts.seconds:.3f}">'
        for result in verdicts.results:
            yield from _case(one, result)
        for alarm in verdicts.alarms:
            yield f'    <testcase classname={name} name="contradiction"><error message={_attribute(alarm)}/></testcase>'
        if verdicts.warnings:
            yield f"    <system-err>{_text(chr(10).join(f'warning: {w}' for w in verdicts.warnings))}</system-err>"
        yield "  </testsuite>"
    yield "</testsuites>"


def _counts(results: Sequence[Result], alarms: int) -> str:
    falsified, unknown = (sum(1 for r in results if r.verdict == word) for word in ("falsified", "unknown"))
    return f' tests="{len(results) + alarms}" failures="{falsified}" errors="{unknown + alarms}" skipped="0"'


def _case(one: ProvedFile, result: Result) -> Iterator[str]:
    file, line = one.place(result.prop.where)
    about = f"classname={_attribute(f'{one.file}::{one.verdicts.problem.name}')} name={_attribute(result.name)}"
    where = f'file={_attribute(file)} line="{line}" time="{result.seconds:.3f}"'
    tag = {"falsified": "failure", "unknown": "error"}.get(result.verdict)
    if tag is None:
        yield f"    <testcase {about} {where}><system-out>{_text(one.title(result))}</system-out></testcase>"
        return
    yield f"    <testcase {about} {where}>"
    kind, details = f'type="{result.verdict}" message={_attribute(one.title(result))}', _text(one.details(result))
    yield f"      <{tag} {kind}>{details}</{tag}>"
    yield "    </testcase>"


def _text(text: str) -> str:
    return escape(FORBIDDEN.sub("�", text))


def _attribute(text: str) -> str:
    return quoteattr(FORBIDDEN.sub("�", text))
