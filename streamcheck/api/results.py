"""The results of a proof as Python has them: questions to ask, text as the command prints it, tables for notebooks."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

from streamcheck.api.arguments import CountFromZero, Duration, PathText, check_arguments
from streamcheck.api.extras import require_pandas
from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.term import Term
from streamcheck.core.types import plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import PathReplay, Replay, Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate, ProofEvidence

if TYPE_CHECKING:
    from streamcheck.lang.stream import Stream
    from streamcheck.report.trace import TraceOptions

ShownSteps: TypeAlias = tuple[CountFromZero, CountFromZero]  # the first and the last


@dataclass(frozen=True, slots=True, repr=False)
class RecordedRun:
    """A counterexample or a witness, step by step, by the names of the table: inputs, streams, the property."""

    specification: Specification
    claim: Claim
    replay: Replay

    def __len__(self) -> int:
        return self.replay.length

    @property
    def names(self) -> list[str]:
        """The rows, in the order of the table."""
        return [name for name, _ in self._rows()]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """For each step the values by name: Python's own, lists for arrays, dictionaries for structs. A very long run
        has only the steps at the ends of those parts that are computed at once, numbered by `step_numbers`."""
        from streamcheck.report.values import as_json

        rows = list(self._rows())
        return [{name: as_json(node.type, values[node]) for name, node in rows} for values in self.replay.steps]

    def __getitem__(self, name: str) -> list[Any]:
        """The values of one row."""
        if name not in self.names:
            raise KeyError(f"{name!r}; there are {', '.join(self.names)}")
        return [step[name] for step in self.steps]

    @property
    def step_numbers(self) -> list[int]:
        """The numbers of the `steps`, from 0."""
        return list(self.replay.numbers)

    @check_arguments
    def table(self, *, full: bool = False, rows: Sequence[str] = (), steps: ShownSteps | None = None) -> str:
        """The table as the command prints it: with all rows and steps if `full`, else with the `rows` of these names (*
        matches anything) and the `steps` from the first to the last, if they are given."""
        from streamcheck.report.trace import trace_table

        options = trace_options(self.specification, full, rows, steps)
        return "\n".join(trace_table(self.specification, self.claim, self.replay, options))

    @check_arguments
    def to_csv(self) -> str:
        """The inputs as CSV, which `streamcheck run --input` replays."""
        from streamcheck.report.trace_files import csv_text

        return csv_text(self.specification, self.replay)

    @check_arguments
    def to_pandas(self) -> Any:
        """A DataFrame with a row for each step; needs pandas."""
        pandas = require_pandas()
        index = pandas.Index(self.step_numbers, name="step")
        return pandas.DataFrame(self.steps, columns=self.names, index=index)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<run of {plural(len(self), 'step')} for {self.claim.name}>"

    def _repr_html_(self) -> str:
        from streamcheck.report.timeline import run_timeline

        return run_timeline(self.specification, self.claim, self.replay)

    def _rows(self) -> Iterator[tuple[str, Any]]:
        from streamcheck.report.trace import TraceOptions, rows_of

        return rows_of(self.specification, self.claim, self.replay, TraceOptions(full=True))


@dataclass(frozen=True, slots=True, repr=False)
class RecordedPath:
    """A counterexample of a program, statement by statement."""

    program: Automaton
    claim: Claim
    path: PathReplay

    def __len__(self) -> int:
        return self.path.length

    @property
    def names(self) -> list[str]:
        """The variables that matter at the beginning, then those that are written, in this order."""
        from streamcheck.report.path_files import HEAD, path_columns
        from streamcheck.report.values import as_json

        return next(path_columns(self.path, as_json, None))[len(HEAD) :]

    @property
    def steps(self) -> list[dict[str, Any]]:
        """For each statement its `line`, its text as `statement`, and in `values` the variables that it writes.
        Rounds of a loop that are repeated are one step, with the `times`."""
        from streamcheck.report.program import path_json

        return path_json(self.path)

    @check_arguments
    def table(self, *, full: bool = False, rows: Sequence[str] = (), steps: ShownSteps | None = None) -> str:
        """The table as the command prints it: with all statements if `full`, else with the variables of these `rows` (*
        matches anything) and the statements that have these numbers, the first and the last, if they are given."""
        from streamcheck.report.program import path_table

        return "\n".join(path_table(self.path, trace_options(self.program, full, rows, steps)))

    @check_arguments
    def to_csv(self) -> str:
        """A row for each statement, with a column for each variable; empty where its value is not known."""
        from streamcheck.report.path_files import path_csv

        return path_csv(self.path)

    @check_arguments
    def to_pandas(self) -> Any:
        """A DataFrame with a row for each statement, and a column for each variable; needs pandas."""
        from streamcheck.report.path_files import path_columns
        from streamcheck.report.values import as_json

        pandas = require_pandas()
        columns, *rows = path_columns(self.path, as_json, None)
        return pandas.DataFrame(rows, columns=columns, dtype=object)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"<run of {plural(len(self), 'statement')} for {self.claim.name}>"

    def _repr_html_(self) -> str:
        from streamcheck.report.path_files import path_html_table

        return path_html_table(self.path)


@dataclass(frozen=True, slots=True, repr=False)
class PropertyResult(Result):
    """The result of one property."""

    verdicts: Verdicts | None = None  # that it is among
    namespace: Mapping[str, Any] | None = None  # of the spec's module, if that is in this program

    @property
    def problem(self) -> Problem:
        """The problem that the property is of."""
        assert self.verdicts is not None
        return self.verdicts.problem

    @property
    def ok(self) -> bool:
        """True if the property is proved (or holds within the bound that was asked about)."""
        return self.verdict in ("proved", "bounded")

    @property
    def proved(self) -> bool:
        """True if the property is proved for all runs."""
        return self.verdict == "proved"

    @property
    def counterexample(self) -> RecordedRun | RecordedPath | None:
        """The run that breaks the property, if one does."""
        if self.path is not None:
            assert isinstance(self.problem, Automaton)
            return RecordedPath(self.problem, self.prop, self.path)
        return self._run() if self.verdict == "falsified" else None

    @property
    def witness(self) -> RecordedRun | None:
        """The run that reaches the property, of a reachable one."""
        return self._run() if self.prop.goal is Goal.REACHABLE and self.verdict == "proved" else None

    @property
    def not_inductive(self) -> RecordedRun | None:
        """Of an unknown property: a run from a state that perhaps no run reaches, whose last step breaks it."""
        fails = None if self.explanation is None else self.explanation.fails
        problem = self.problem
        return None if fails is None or isinstance(problem, Automaton) else RecordedRun(problem, self.prop, fails)

    @property
    def invariants(self) -> list[str]:
        """The invariants of the proof as text in the spec's syntax; of an unknown property, the lemmas about it. Of a
        program, those of lines in C: `line 7: i <= n`."""
        from streamcheck.api.streams import whole_terms
        from streamcheck.report.paste import python_text
        from streamcheck.report.program import invariants_json
        from streamcheck.run.small_conditions import small_conditions

        problem = self.problem
        if isinstance(problem, Automaton):
            rows = invariants_json(problem, small_conditions(self.at_locations or {}))
            return [f"line {row['line']}: {row['invariant']}" for row in rows]
        return [python_text(problem, t) for t in whole_terms(problem, self._invariants())]

    @property
    def invariant_streams(self) -> list[Stream]:
        """The same as streams over those of the spec, which must be one of this program: `spec.prop("lemma", s)`."""
        from streamcheck.api.streams import streams_of

        problem = self.problem
        if self.namespace is None or isinstance(problem, Automaton):
            message = f"{problem.name} is of a file: its streams are not in this program, so invariants are text only"
            raise SpecError(message, here(), write="invariants")
        return streams_of(problem, self._invariants(), self.namespace)

    @property
    def certificate(self) -> ProofEvidence | None:
        """The evidence of the proof, or None."""
        return self.proof

    @check_arguments
    def explain(
        self,
        seconds: Duration = 10.0,
        *,
        full: bool = False,
        rows: Sequence[str] = (),
        steps: ShownSteps | None = None,
    ) -> str:
        """Why: the verdict as the command prints it, then the causes of a violation, or the invariant of a proof, which
        may take so long to be made small, as properties to paste. The other options are for the run and the causes, as
        of its `table`."""
        from streamcheck.api.explanation import Explaining

        results = self.verdicts.results if self.verdicts is not None else []
        options = trace_options(self.problem, full, rows, steps)
        return "\n".join([*self._lines(options), *Explaining(self.problem, seconds, results, options).lines(self)])

    def _invariants(self) -> tuple[Term, ...]:
        terms = self.evidence.invariants if isinstance(self.evidence, Certificate) else ()
        return (*terms, *(self.explanation.lemmas if self.explanation is not None else ()))

    def _run(self) -> RecordedRun | None:
        problem = self.problem
        return None if self.run is None or isinstance(problem, Automaton) else RecordedRun(problem, self.prop, self.run)

    def _lines(self, trace: TraceOptions) -> Iterator[str]:
        from streamcheck.report.verdicts import Report

        assert self.verdicts is not None
        return Report(self.problem, self.verdicts.machine, self.verdicts.bound, trace=trace).result(self)

    def __str__(self) -> str:
        return "\n".join(self._lines(trace_options(self.problem)))

    def __repr__(self) -> str:
        return f"<{self.name}: {self.verdict}{': ' + self.reason if self.reason else ''}>"

    def _repr_html_(self) -> str:
        """The line of the verdict, then the run, if there is one."""
        line, *more = str(self).splitlines()
        run = self.counterexample or self.witness
        picture = f"<pre>{html.escape(chr(10).join(more))}</pre>" if run is None and more else ""
        return f"<pre>{html.escape(line)}</pre>{picture if run is None else run._repr_html_()}"


@dataclass(frozen=True, slots=True, repr=False)
class Results(Verdicts):
    """The results of one proof, in the order of the properties, by number or by name."""

    results: list[PropertyResult]  # type: ignore[assignment]
    file: str = ""  # of the spec or the program
    saved: Mapping[str, str] = field(default_factory=dict)  # files of certificates by property

    @staticmethod
    def of(verdicts: Verdicts, namespace: Mapping[str, Any] | None, file: str, saved: Mapping[str, str]) -> Results:
        given = {f.name: getattr(verdicts, f.name) for f in fields(Verdicts)}
        results = [_with_problem(r, verdicts, namespace) for r in verdicts.results]
        return Results(**given | {"results": results}, file=file, saved=saved)

    @property
    def ok(self) -> bool:
        """True if every property is proved (or holds within the bound that was asked about)."""
        return self.status in (0, 5)

    @property
    def proved(self) -> list[PropertyResult]:
        return [r for r in self.results if r.proved]

    @property
    def bounded(self) -> list[PropertyResult]:
        return [r for r in self.results if r.verdict == "bounded"]

    @property
    def falsified(self) -> list[PropertyResult]:
        return [r for r in self.results if r.verdict == "falsified"]

    @property
    def unknown(self) -> list[PropertyResult]:
        return [r for r in self.results if r.verdict == "unknown"]

    def __iter__(self) -> Iterator[PropertyResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, key: int | str) -> PropertyResult:
        if isinstance(key, int):
            return self.results[key]
        for result in self.results:
            if result.name == key:
                return result
        raise KeyError(f"{key!r}; there are {', '.join(r.name for r in self.results)}")

    @check_arguments
    def to_json(self, file: PathText | None = None) -> dict[str, Any]:
        """The object that `streamcheck prove --json` prints; `file` stands in for the name of the spec's own."""
        from streamcheck.report.verdicts_json import verdicts_json

        return verdicts_json(self, self.file if file is None else os.fspath(file), dict(self.saved))

    def __str__(self) -> str:
        from streamcheck.report.verdicts import report

        return "\n".join(report(self, trace=trace_options(self.problem)))

    def __repr__(self) -> str:
        counts = [f"{len(rows)} {word}" for word, rows in self._by_word().items() if rows]
        return f"<{self.problem.name}: {', '.join(counts) or 'no properties'}>"

    def _repr_html_(self) -> str:
        from streamcheck.report.trace_files import html_results

        return html_results(self)

    def _by_word(self) -> dict[str, list[PropertyResult]]:
        words = {"proved": self.proved, "bounded": self.bounded, "falsified": self.falsified}
        return words | {"unknown": self.unknown}


def _with_problem(result: Result, verdicts: Verdicts, namespace: Mapping[str, Any] | None) -> PropertyResult:
    given = {f.name: getattr(result, f.name) for f in fields(Result)}
    return PropertyResult(**given, verdicts=verdicts, namespace=namespace)


def trace_options(
    problem: Problem, full: bool = False, rows: Sequence[str] = (), steps: ShownSteps | None = None
) -> TraceOptions:
    """The part of runs that is shown, with Python's words. SpecError if there is no such row."""
    from streamcheck.core.option_words import PYTHON
    from streamcheck.report.trace import TraceOptions, require_rows

    require_rows([problem], rows, PYTHON)
    if steps is not None and steps[0] > steps[1]:
        raise SpecError(f"steps={tuple(steps)}: the first step is behind the last", write=f"steps={steps[::-1]}")
    return TraceOptions(full, tuple(rows), None if steps is None else (steps[0], steps[1]), words=PYTHON)


def require_specification(problem: Problem) -> Specification:
    """SpecError if the problem is a program."""
    if isinstance(problem, Automaton):
        raise SpecError(f"{problem.name} is a program; it can be proved, explained and shown, and nothing else")
    return problem
