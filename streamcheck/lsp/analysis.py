"""One text of an editor, loaded and perhaps proved, in a process of its own: `python -m streamcheck.lsp.analysis`.

The job is a line of JSON on standard input; the answers are lines of JSON on standard output, as they come:

    loaded      the symbols, the properties and the warnings of the specs
    mistake     the text cannot be loaded: a message, and its line
    progress    how far an open property is known to hold
    verdict     a property is decided, or has no verdict in the time
    explained   the explanation of a property, if the job asks for one

The text is loaded as `streamcheck` loads a file, in a sandbox, which is confined if the kernel can do that: a text that
is being typed may say anything. SIGTERM ends the process with all that it has started, and so does the end of the
server.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.unsaved import replace_text
from streamcheck.core.worded import brief, place_of
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.run.child import end_with_parent
from streamcheck.run.confine import require_confinement
from streamcheck.run.prove import Nobody, Settings, prove
from streamcheck.run.source import Target, read
from streamcheck.run.stop import Stopped, raise_on_signals

if TYPE_CHECKING:
    from streamcheck.run.director import Director

EVERY = 0.5  # seconds between rows of progress
EXPLANATION = 0.05  # the share of the time for what has no verdict
AT_A_LINE = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+): ")


@dataclass(frozen=True, slots=True)
class Job:
    """The text of a file, and the questions about it. `parent` is the process whose end ends this one."""

    path: str
    text: str
    parent: int
    proves: bool = False
    spec: str | None = None  # of several in the file
    props: tuple[str, ...] = ()  # else all
    explains: bool = False
    timeout: float = 60.0
    jobs: int | None = None

    def line(self) -> bytes:
        return json.dumps(asdict(self)).encode() + b"\n"


class Answers:
    """The answers, on what was standard output. From now on that is standard error: engines and specs may print."""

    def __init__(self) -> None:
        sys.stdout.flush()
        self._file = os.fdopen(os.dup(1), "wb", buffering=0)
        os.dup2(2, 1)

    def __enter__(self) -> Answers:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def put(self, kind: str, **fields: Any) -> None:
        data = json.dumps({"kind": kind} | fields).encode() + b"\n"
        while data:
            data = data[self._file.write(data) :]


def main() -> None:
    raise_on_signals()
    sys.set_int_max_str_digits(0)
    with Answers() as rows:
        _answer_safely(rows)


def _answer_safely(rows: Answers) -> None:
    """Answer the job, or put the mistake in its text."""
    try:
        job = Job(**json.loads(sys.stdin.buffer.readline()))
        end_with_parent(job.parent)
        replace_text(job.path, job.text)
        _answer(job, rows)
    except (Stopped, BrokenPipeError):
        return
    except SpecError as mistake:
        rows.put("mistake", text=brief(mistake), **_place(place_of(mistake) or _place_in(mistake.message)))
    except Exception:
        traceback.print_exc()
        text = "internal error in streamcheck (not in your spec); the editor's log has its lines"
        rows.put("mistake", text=text, file=None, line=None)


def _answer(job: Job, rows: Answers) -> None:
    problems = read(Target.parse(job.path, confined=_can_be_confined(job.path)), job.timeout)
    rows.put("loaded", **_overview(problems))
    if not job.proves:
        return
    from streamcheck.run.cache import Cache
    from streamcheck.run.strategy import processors

    for problem in problems:
        if job.spec in (None, problem.name):
            settings = Settings(
                job.timeout,
                job.jobs or processors(),
                props=job.props,
                explain=min(1.0, job.timeout * EXPLANATION),
                cache=Cache(),
            )
            teller = Teller(problem, rows, job.parent)
            verdicts = prove(problem, settings, teller)
            if verdicts.stopped:
                return
            teller.finish(verdicts)
            if job.explains:
                _explain(job, verdicts, rows)


def _can_be_confined(path: str) -> bool:
    """True if the kernel can confine the spec's Python; other languages execute nothing."""
    try:
        require_confinement()
    except SpecError:
        return False
    return path.endswith(".py")


def _overview(problems: Any) -> dict[str, Any]:
    from streamcheck.lsp.symbols import symbols_of

    symbols = [row | {"spec": problem.name} for problem in problems for row in symbols_of(problem)]
    properties = [
        {"spec": p.name, "name": c.name, "implied": c.is_implied, **_place(c.where or _start(p))}
        for p in problems
        for c in p.properties
    ]
    warnings = [{"text": text, **_place(_place_in(text) or _start(p))} for p in problems for text in p.warnings]
    return {"symbols": symbols, "properties": properties, "warnings": warnings}


def _start(problem: Problem) -> Location | None:
    """The line at which the spec is made."""
    return problem.where if isinstance(problem, Specification) else None


def _place(where: Location | None) -> dict[str, Any]:
    return {"file": None, "line": None} if where is None else {"file": os.path.abspath(where.file), "line": where.line}


def _place_in(text: str) -> Location | None:
    """The place that a message begins with."""
    match = AT_A_LINE.match(text)
    return None if match is None else Location(match["file"], int(match["line"]))


class Teller(Nobody):
    """The audience of a proof: a row for each verdict, and for progress."""

    def __init__(self, problem: Problem, rows: Answers, parent: int) -> None:
        from streamcheck.report.verdicts import Report

        self.problem, self.rows, self.parent = problem, rows, parent
        self.report = Report(problem, machine=False, bound=None)
        self.last = time.monotonic()
        self._told: set[str] = set()

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None:
        self.report.machine = machine
        for claim in problem.properties:
            self._progress(claim.name, None)

    def hear(self, result: Result) -> None:
        from streamcheck.report.verdicts import how_text, verdict_word

        self._told.add(result.name)
        self.rows.put(
            "verdict",
            spec=self.problem.name,
            name=result.name,
            verdict=result.verdict,
            word=verdict_word(result),
            how=how_text(result, machine=self.report.machine, bound=None),
            lines=[line.rstrip() for line in self.report.result(result)],
            has_run=result.replay is not None,
            invariants=list(_invariants(self.problem, result)),
        )

    def watch(self, director: Director) -> None:
        if os.getppid() != self.parent:  # where the kernel does not end this process then
            raise Stopped("the server has ended", 0)
        now = time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            for name in director.open_properties():
                self._progress(name, director.depth_of(name))

    def finish(self, verdicts: Verdicts) -> None:
        self.report.machine = verdicts.machine
        for result in verdicts.results:
            if result.name not in self._told:
                self.hear(result)
        notes = [*verdicts.warnings, *(f"ALARM: {alarm}" for alarm in verdicts.alarms)]
        known = set(self.problem.warnings)
        for text in notes:
            if text not in known:
                self.rows.put("warning", text=text, **_place(_place_in(text) or _start(self.problem)))

    def _progress(self, name: str, depth: int | None) -> None:
        self.rows.put("progress", spec=self.problem.name, name=name, depth=depth)


def _invariants(problem: Problem, result: Result) -> Iterator[dict[str, Any]]:
    """The invariants of a proof: conditions at every step, or at a line of a program."""
    from streamcheck.problem.verdict import BlockCertificate, Certificate

    if isinstance(problem, Automaton):
        from streamcheck.report.program import invariants_json
        from streamcheck.run.small_conditions import small_conditions
        from streamcheck.run.smallest_proof import location_proof

        at = result.at_locations or {}
        if isinstance(result.evidence, BlockCertificate):
            at = dict(location_proof(result.evidence).at)
        for row in invariants_json(problem, small_conditions(at)):
            yield {"line": row["line"], "text": row["invariant"]}
    elif isinstance(result.evidence, Certificate):
        from streamcheck.api.streams import whole_terms
        from streamcheck.report.equations import term_text

        for term in whole_terms(problem, result.evidence.invariants):
            yield {"line": None, "text": term_text(problem, term)}


def _explain(job: Job, verdicts: Verdicts, rows: Answers) -> None:
    from streamcheck.api.explanation import Explaining
    from streamcheck.report.verdicts import Report

    report = Report(verdicts.problem, verdicts.machine, None)
    explaining = Explaining(verdicts.problem, job.timeout * EXPLANATION, verdicts.results)
    for result in verdicts.results:
        lines = [*report.result(result), *explaining.lines(result)]
        rows.put("explained", spec=verdicts.problem.name, name=result.name, lines=[line.rstrip() for line in lines])


if __name__ == "__main__":
    main()
