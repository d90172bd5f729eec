"""The part that specs and files have in common: they can be proved and compiled."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from streamcheck.api.arguments import (
    Count,
    CountFromZero,
    DaskCluster,
    Duration,
    PathText,
    Workers,
    check_arguments,
)
from streamcheck.api.questions import Questions
from streamcheck.api.runs import InterpretedRun, RunInputs, RunSource, RunWishes, start_run
from streamcheck.api.stages import Stage
from streamcheck.core.errors import SpecError
from streamcheck.problem.places import Handlers

if TYPE_CHECKING:
    from streamcheck.api.realizability import RealizabilityResult
    from streamcheck.api.results import Results
    from streamcheck.core.types import Value
    from streamcheck.deliver.deliver import CompileResult
    from streamcheck.problem.problem import Problem
    from streamcheck.problem.result import Verdicts
    from streamcheck.run.evidence_files import ComparedFiles
    from streamcheck.run.prove import Settings
    from streamcheck.run.ways import ProofMethod

Abi: TypeAlias = Literal["context", "copilot"]
Optimization: TypeAlias = Literal["size", "speed"]
TraceFormat: TypeAlias = Literal["csv", "json", "vcd", "html"]
ReportFormat: TypeAlias = Literal["json", "junit", "sarif", "github"]
EXPLANATION = 0.05  # the share of the time


class Commands(Questions):
    """`prove`, `run`, `compile` and `show`, with the options that the command has."""

    def _samples(self) -> list[dict[str, Value]]:
        """The inputs of the run on the samples; none if there are none."""
        return []

    def _namespace(self) -> Mapping[str, Any] | None:
        """The names of the spec's module, if that is in this program."""
        return None

    def _other_side(self) -> ComparedFiles | None:
        """The other spec, if this is a comparison."""
        return None

    @abstractmethod
    def _run_source(self, expressions: tuple[str, ...]) -> RunSource:
        """The equations that `run` interprets, with these observers, and their samples."""

    @check_arguments
    def prove(
        self,
        *,
        timeout: Duration = 60.0,
        jobs: Count | None = None,
        engines: Sequence[str] = (),
        props: Sequence[str] = (),
        options: Mapping[str, bool | int | str] | None = None,
        bound: Count | None = None,
        memory: Count | None = None,
        blocks: bool = True,
        deterministic: bool = False,
        strict: bool = False,
        compositional: bool = False,
        reachable: bool = False,
        cache: PathText | None = None,
        certificates: PathText | None = None,
        traces: Sequence[tuple[TraceFormat, PathText]] = (),
        witness: PathText | None = None,
        html: PathText | None = None,
        plot: PathText | None = None,
        reports: Sequence[tuple[ReportFormat, PathText]] = (),
        tests: PathText | None = None,
        on: str | Workers | DaskCluster | None = None,
    ) -> Results:
        """Decide every property, as `streamcheck prove` does.

        `options` sets options of engines, as in `{"ic3.tighten": False}`; `streamcheck engines` lists them. With a
        `bound`, only runs of at most so many steps count, and what is proved of them is `bounded`. `memory` is in MB.
        `strict` results with warnings are not `ok`. If `compositional`, each component is proved against its contract,
        once. With `reachable`, it is asked too if each branch, premise and trigger is reached by some run, and if each
        assumption excludes one.
        Evidence is kept in the folder `cache`, if one is named, and checked again before it counts. `certificates` is a
        folder for the evidence, which `streamcheck.check` checks; `traces` are formats, each with a folder for the
        runs; `witness` a file for the SV-COMP witness of a C program; `html` a file for the results as a page; `plot`
        one for the runs, if there are any, as SVG or PNG;
        `reports` are formats for other programs, each with a file; `tests` is a folder for the runs as tests.
        Workers of `on` search instead of this machine: the address of a Dask scheduler, its `Client` or `Cluster`, or
        any executor of `concurrent.futures`. What they find is checked here.
        """
        from streamcheck.api.results import Results
        from streamcheck.run.cache import Cache
        from streamcheck.run.memory import MEGABYTE
        from streamcheck.run.prove import Settings
        from streamcheck.run.strategy import processors
        from streamcheck.run.ways import way_of_proving

        file = self._file()
        self._make_folders(certificates, [cache, certificates, *(folder for _, folder in traces)])
        settings = Settings(
            timeout,
            jobs or processors(),
            engines,
            props,
            memory and memory * MEGABYTE,
            blocks,
            deterministic,
            options or {},
            bound,
            min(1.0, timeout * EXPLANATION),
            strict,
            None if cache is None else Cache(os.fspath(cache)),
        )
        decide = way_of_proving(compositional=compositional, reachable=reachable)
        verdicts = _prove_on(on, decide, self._problem(), settings)
        saved = _write_evidence(verdicts, file, certificates, traces, witness, self._other_side())
        _write_reports(verdicts, file, saved, html, reports, tests)
        if plot is not None:
            _write_plot(verdicts, os.fspath(plot))
        return Results.of(verdicts, self._namespace(), file if os.path.exists(file) else "", saved)

    def _make_folders(self, certificates: PathText | None, folders: Sequence[PathText | None]) -> None:
        from streamcheck.run.folders import make_folders

        if certificates is not None and not os.path.exists(self._file()):
            raise SpecError(f"{self._problem().name}: certificates are checked against the file of a spec; it has none")
        make_folders(os.fspath(folder) for folder in folders if folder is not None)

    @check_arguments
    def run(
        self,
        steps: CountFromZero | None = None,
        inputs: RunInputs = None,
        *,
        ignore_extra: bool = False,
        keep: Sequence[str] = (),
        expressions: Sequence[str] = (),
        violations: bool = False,
        fail: bool = False,
        native: bool = False,
        html: PathText | None = None,
        plot: PathText | None = None,
    ) -> InterpretedRun:
        """Interpret: the steps with their triggers and observers.

        `inputs` may be rows, a mapping of names to values for each step, a DataFrame, or the path of a log (CSV, JSON
        lines, Parquet): then the run ends with them, which must be as many as `steps`.
        It may map names to lists, iterators or functions of the step: the other inputs come from the samples of the
        externs, as all do without `inputs`; then the run ends with the shortest list, else after 10 steps. It ends
        after `steps` in any case. `ignore_extra` leaves out what is no input; `keep` are columns of the data that are
        shown too. `expressions` are more observers, in the words of the spec's module. With `violations` there are only
        the steps at which a property or an assumption is false; with `fail` such a run ends with an error. `native`
        compiles the spec with the C compiler of this machine, and reads the inputs in batches. `html` is a file for the
        run as a page, `plot` one for it as SVG or PNG, written at its end."""
        page, picture = (None if path is None else os.fspath(path) for path in (html, plot))
        wishes = RunWishes(tuple(keep), ignore_extra, violations, fail, native, page, picture)
        return start_run(self._run_source(tuple(expressions)), steps, inputs, wishes)

    @check_arguments
    def show(self, stage: Stage = "equations", *, blocks: bool = True, steps: CountFromZero = 10) -> str:
        """The text that `streamcheck show --as STAGE` prints. `blocks` is for programs as graphs, `steps` for smt2."""
        from streamcheck.api.stages import stage_text

        return stage_text(self._problem(), stage, blocks=blocks, steps=steps)

    @check_arguments
    def realizable(
        self, *, timeout: Duration = 60.0, jobs: Count | None = None, output: PathText | None = None
    ) -> RealizabilityResult:
        """Decide if some component keeps all properties for all inputs, as `streamcheck realizable` does: the outputs
        that it chooses are the `unknown`s. `output` is a file for the implementation."""
        from streamcheck.api.realizability import RealizabilityResult
        from streamcheck.api.results import require_specification
        from streamcheck.run.realizable import realizable

        answer = RealizabilityResult(realizable(require_specification(self._problem()), timeout, jobs))
        if output is not None:
            answer.write(os.fspath(output))
        return answer

    @check_arguments
    def compile(
        self,
        directory: PathText,
        *,
        abi: Abi = "context",
        handlers: Handlers = "functions",
        prefix: str = "",
        assumptions: bool = False,
        observers: bool = False,
        optimize: Optimization = "size",
        pack: bool = False,
        extras: Sequence[str] = (),
        narrow: bool = False,
        strict_math: bool = False,
        measure_math: bool = False,
        unproven: bool = False,
        validate: bool = True,
        timeout: Duration = 60.0,
        jobs: Count | None = None,
        options: Mapping[str, bool | int | str] | None = None,
        cache: PathText | None = None,
        html: PathText | None = None,
    ) -> CompileResult:
        """C99 in this directory, as `streamcheck compile` writes it. Nothing is written unless the result is `ready`:
        `verdicts` says which property stood in the way, `outcome` whether the C is proved equal to the spec.
        `extras` are what `--with` takes; `options` and `cache` are as of `prove`; `html` is a file for the verdicts and
        the C beside the spec as a page."""
        from streamcheck.api.results import require_specification
        from streamcheck.codegen.unit import CodeOptions
        from streamcheck.deliver.deliver import CompileRequest, compile_spec, write
        from streamcheck.run.cache import Cache
        from streamcheck.run.folders import make_folders
        from streamcheck.run.prove import Settings
        from streamcheck.run.strategy import processors

        code = CodeOptions(abi == "copilot", observers, handlers, prefix, assumptions, optimize, pack)
        make_folders([] if cache is None else [os.fspath(cache)])
        kept = None if cache is None else Cache(os.fspath(cache))
        settings = Settings(timeout, jobs or processors(), options=options or {}, cache=kept)
        samples = self._samples() if "test" in extras else []
        request = CompileRequest(
            code, unproven, validate, narrow, strict_math, measure_math, tuple(extras), samples, settings
        )
        result = compile_spec(require_specification(self._problem()), request)
        if result.ready:
            write(result, os.fspath(directory))
        if html is not None:
            from streamcheck.api.reports import code_page

            code_page([result], self._file()).write(os.fspath(html))
        return result


def _prove_on(on: object, decide: ProofMethod, problem: Problem, settings: Settings) -> Verdicts:
    if on is None:
        return decide(problem, settings)
    from dataclasses import replace

    from streamcheck.scale.crew import with_crew
    from streamcheck.scale.market import broker_on

    if settings.deterministic:
        raise SpecError("deterministic=True is for one worker of this machine", write="one of on and deterministic")
    broker = broker_on(on)
    notes: list[str] = []
    broker.note = notes.append
    try:
        verdicts = decide(problem, with_crew(settings, broker, problem.name))
        return replace(verdicts, warnings=[*verdicts.warnings, *notes])
    finally:
        broker.close()


def _write_plot(verdicts: Verdicts, path: str) -> None:
    from streamcheck.report.plot import runs_to_plot, write_plot

    runs = list(runs_to_plot([verdicts]))
    if runs:
        write_plot(runs, path)


def _write_reports(
    verdicts: Verdicts,
    file: str,
    saved: Mapping[str, str],
    html: PathText | None,
    reports: Sequence[tuple[ReportFormat, PathText]],
    tests: PathText | None,
) -> None:
    """Write the page, the results for other programs and the runs as tests, as far as they are asked for."""
    if html is not None or reports:
        from streamcheck.api.reports import write_results
        from streamcheck.report.outputs.proved_file import ProvedFile

        wanted = [(shape, os.fspath(path)) for shape, path in reports]
        write_results([ProvedFile(verdicts, file, saved)], None if html is None else os.fspath(html), wanted)
    if tests is not None:
        from streamcheck.api.run_tests import write_run_tests

        write_run_tests(verdicts, file, os.fspath(tests))


def _write_evidence(
    verdicts: Verdicts,
    file: str,
    certificates: PathText | None,
    traces: Sequence[tuple[TraceFormat, PathText]],
    witness: PathText | None,
    compared: ComparedFiles | None,
) -> Mapping[str, str]:
    """Write the files that are asked for. Returns those of certificates by property."""
    saved: Mapping[str, str] = {}
    if certificates is not None:
        from streamcheck.run.evidence_files import save

        saved = save(verdicts, file, os.fspath(certificates), compared)
    if traces:
        from streamcheck.report.trace_folder import write_traces

        for shape, folder in traces:
            write_traces(verdicts, file, shape, os.fspath(folder))
    if witness is not None:
        from streamcheck.report.witness import write_witness

        write_witness(verdicts, file, os.fspath(witness))
    return saved
