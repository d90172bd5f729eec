"""A suite's results: lines as they come, a table at the end, and one JSON object."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamcheck import __version__
from streamcheck.core.types import plural

WORDS = ("proved", "bounded", "falsified", "unknown")
MOST_NAMED = 40  # properties of a kind that are named at the end
KINDS = {
    "broken": "was proved, is not any more",
    "flaky": "is decided at times only",
    "slower": "took much longer",
    "fixed": "is proved now",
    "new": "was not there",
}


@dataclass(frozen=True, slots=True)
class SpecRow:
    """A spec of a suite: `properties` are those of `prove --json`; `open` have none yet."""

    file: str
    name: str
    properties: Sequence[Mapping[str, Any]]
    open: Sequence[str]
    seconds: float
    status: int
    warnings: Sequence[str] = ()
    alarms: Sequence[str] = ()
    error: str = ""

    @property
    def title(self) -> str:
        return f"{self.file}::{self.name}"

    def count(self, verdict: str) -> int:
        own = [row for row in self.properties if row["verdict"] == verdict]
        return len(own) + (len(self.open) if verdict == "unknown" else 0)


@dataclass(frozen=True, slots=True)
class ChangeRow:
    kind: str
    name: str
    verdict: str
    before: str
    seconds: float
    seconds_before: float
    nights: int = 0  # of a flaky one
    decided: int = 0


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """A whole suite."""

    specs: Sequence[SpecRow]
    errors: Mapping[str, str]  # by file
    seconds: float
    changes: Sequence[ChangeRow] = ()
    stopped: int = 0
    files: int = 0
    notes: Sequence[str] = field(default=())

    @property
    def status(self) -> int:
        """As of `prove`: 4 an alarm, 130 or 143 stopped, 1 something falsified, 2 a file that is wrong, 3 something
        unknown, 5 something bounded, else 0."""
        found = {spec.status for spec in self.specs} | ({2} if self.errors else set())
        found |= {2 for spec in self.specs if spec.error}
        return next((s for s in (4, self.stopped, 1, 2, 3, 5) if s and s in {*found, self.stopped}), 0)

    def total(self, verdict: str) -> int:
        return sum(spec.count(verdict) for spec in self.specs)


def spec_line(spec: SpecRow) -> str:
    """One spec, after a turn."""
    counts = ", ".join(f"{n} {word}" for word in WORDS if (n := spec.count(word)))
    return f"  {spec.title}  {counts or 'no property'}, {spec.seconds:.1f} s"


def suite_table(suite: SuiteResult) -> Iterator[str]:
    """The summary: specs with something that is not proved first."""
    shown = [s for s in suite.specs if s.count("proved") + s.count("bounded") < len(s.properties) + len(s.open)]
    shown += [s for s in suite.specs if s not in shown]
    wide = max((len(s.title) for s in shown), default=4)
    columns = [word for word in WORDS if suite.total(word)]
    yield f"{'spec':{wide}}  " + "  ".join(f"{word:>9}" for word in columns) + f"  {'seconds':>9}"
    for spec in shown:
        counts = "  ".join(f"{spec.count(word) or '':>9}" for word in columns)
        yield f"{spec.title:{wide}}  {counts}  {spec.seconds:9.1f}"
    for file, why in suite.errors.items():
        yield f"error: {file}: {why}"
    for spec in suite.specs:
        if spec.error:
            yield f"error: {spec.title}: {spec.error}"
        yield from (f"warning: {spec.title}: {text}" for text in spec.warnings)
    yield from _changes(suite.changes)
    counts = ", ".join(f"{suite.total(word)} {word}" for word in columns) or "no property"
    yield f"{plural(len(suite.specs), 'spec')} of {plural(suite.files, 'file')}: {counts}; {suite.seconds:.1f} s"


def _changes(changes: Iterable[ChangeRow]) -> Iterator[str]:
    rows = list(changes)
    for kind, words in KINDS.items():
        own = [row for row in rows if row.kind == kind]
        if kind == "new" and len(own) == len(rows):
            continue  # the first night
        for row in own[:MOST_NAMED]:
            times = f", {row.seconds_before:.1f} s then, {row.seconds:.1f} s now" if kind == "slower" else ""
            was = f"{row.before} then, {row.verdict} now" if row.before else row.verdict
            if kind == "flaky":
                was = f"in {row.decided} of {row.nights} nights with the same files and engines, {row.verdict} now"
            yield f"{kind}: {row.name} {words} ({was}{times})"
        if len(own) > MOST_NAMED:
            yield f"{kind}: and {len(own) - MOST_NAMED} more"


def suite_json(suite: SuiteResult) -> dict[str, Any]:
    """The object of `prove --suite --json`."""
    return {
        "tool": "streamcheck",
        "version": __version__,
        "seconds": round(suite.seconds, 3),
        "status": suite.status,
        "totals": {word: suite.total(word) for word in WORDS},
        "specs": [
            {
                "file": spec.file,
                "spec": spec.name,
                "seconds": round(spec.seconds, 3),
                "status": spec.status,
                "properties": list(spec.properties),
                "open": list(spec.open),
                "warnings": list(spec.warnings),
                "alarms": list(spec.alarms),
                "error": spec.error or None,
            }
            for spec in suite.specs
        ],
        "errors": [{"file": file, "error": why} for file, why in suite.errors.items()],
        "changes": [
            {"kind": c.kind, "property": c.name, "verdict": c.verdict, "before": c.before or None}
            for c in suite.changes
        ],
    }
