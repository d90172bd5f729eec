"""Verdicts as annotations of GitHub: lines on standard output that its runners show at the lines of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from streamcheck.report.outputs.proved_file import ProvedFile

LEVELS = {"falsified": "error", "unknown": "warning"}


def github_text(proved: Sequence[ProvedFile]) -> str:
    return "".join(f"{line}\n" for one in proved for line in _lines(one))


def _lines(one: ProvedFile) -> Iterator[str]:
    verdicts = one.verdicts
    for result in verdicts.results:
        if result.verdict in LEVELS:
            text = f"{one.title(result)}\n{one.details(result)}".rstrip()
            title = f"{verdicts.problem.name}: {result.name}"
            yield _command(LEVELS[result.verdict], *one.place(result.prop.where), title, text)
    for alarm in verdicts.alarms:
        yield _command("error", *one.place(None), verdicts.problem.name, f"ALARM: {alarm}")
    for warning in verdicts.warnings:
        yield _command("error" if verdicts.strict else "warning", *one.place(None), verdicts.problem.name, warning)


def _command(level: str, file: str, line: int, title: str, text: str) -> str:
    return f"::{level} file={_property(file)},line={line},title={_property(title)}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
