"""The part that specs and files have in common: they can be proved and compiled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.problem.places import Handlers
from streamcheck.problem.problem import Problem

if TYPE_CHECKING:
    from streamcheck.api.results import Results
    from streamcheck.api.stages import Stage
    from streamcheck.core.types import Value
    from streamcheck.deliver.deliver import CompileResult

Abi: TypeAlias = Literal["context", "copilot"]
Optimization: TypeAlias = Literal["size", "speed"]
TraceFormat: TypeAlias = Literal["csv", "json", "vcd", "html"]
EXPLANATION = 0.05  # the share of the time


class Commands(ABC):
    """`prove`, `compile` and `show`, with the options that the command has."""

    @abstractmethod
    def _problem(self) -> Problem:
        """The spec or the program, as the command has it."""

    @abstractmethod
    def _file(self) -> str:
        """The file that it is from."""

    def _samples(self) -> list[dict[str, Value]]:
        """The inputs of the run on the samples; none if there are none."""
        return []

    def prove(
        self,
        *,
        timeout: float = 60.0,
        jobs: int | None = None,
        engines: Sequence[str] = (),
        props: Sequence[str] = (),
        options: Mapping[str, bool | int | str] | None = None,
        bound: int | None = None,
        memory: int | None = None,
        blocks: bool = True,
        deterministic: bool = False,
        strict: bool = False,
        cache: str | None = None,
        certificates: str | None = None,
        traces: Sequence[tuple[TraceFormat, str]] = (),
        witness: str | None = None,
    ) -> Results:
        """Decide every property, as `streamcheck prove` does.

        `options` sets options of engines, as in `{"ic3.tighten": False}`; `streamcheck engines` lists them. With a
        `bound`, only runs of at most so many steps count, and what is proved of them is `bounded`. `memory` is in MB.
        `strict` results with warnings are not `ok`.
        Evidence is kept in the folder `cache`, if one is named, and checked again before it counts. `certificates` is a
        folder for the evidence, which `streamcheck.check` checks; `traces` are formats, each with a folder for the
        runs; `witness` a file for the SV-COMP witness of a C program.
        """
        from streamcheck.api.results import Results
        from streamcheck.run.cache import Cache
        from streamcheck.run.memory import MEGABYTE
        from streamcheck.run.prove import Settings, prove
        from streamcheck.run.strategy import processors

        for shape, _ in traces:
            _check_choice("prove", "traces", shape, TraceFormat)
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
            None if cache is None else Cache(cache),
        )
        verdicts = prove(self._problem(), settings)
        if certificates is not None:
            from streamcheck.run.certificates import save

            save(verdicts, self._file(), certificates)
        if traces:
            from streamcheck.report.trace_folder import write_traces

            for shape, folder in traces:
                write_traces(verdicts, self._file(), shape, folder)
        if witness is not None:
            from streamcheck.report.witness import write_witness

            write_witness(verdicts, self._file(), witness)
        return Results.of(verdicts)

    def show(self, stage: Stage = "equations", *, blocks: bool = True, steps: int = 10) -> str:
        """The text that `streamcheck show --as STAGE` prints. `blocks` is for programs as graphs, `steps` for smt2."""
        from streamcheck.api.stages import Stage, stage_text

        _check_choice("show", "stage", stage, Stage)

        return stage_text(self._problem(), stage, blocks=blocks, steps=steps)

    def compile(
        self,
        directory: str,
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
        timeout: float = 60.0,
        jobs: int | None = None,
        options: Mapping[str, bool | int | str] | None = None,
        cache: str | None = None,
    ) -> CompileResult:
        """C99 in this directory, as `streamcheck compile` writes it. Nothing is written unless the result is `ready`:
        `verdicts` says which property stood in the way, `outcome` whether the C is proved equal to the spec.
        `extras` are what `--with` takes; `options` and `cache` are as of `prove`."""
        from streamcheck.api.results import require_specification
        from streamcheck.codegen.unit import CodeOptions
        from streamcheck.deliver.deliver import CompileRequest, compile_spec, write
        from streamcheck.run.cache import Cache
        from streamcheck.run.prove import Settings
        from streamcheck.run.strategy import processors

        for name, given, allowed in (
            ("abi", abi, Abi),
            ("handlers", handlers, Handlers),
            ("optimize", optimize, Optimization),
        ):
            _check_choice("compile", name, given, allowed)
        code = CodeOptions(abi == "copilot", observers, handlers, prefix, assumptions, optimize, pack)
        kept = None if cache is None else Cache(cache)
        settings = Settings(timeout, jobs or processors(), options=options or {}, cache=kept)
        samples = self._samples() if "test" in extras else []
        request = CompileRequest(
            code, unproven, validate, narrow, strict_math, measure_math, tuple(extras), samples, settings
        )
        result = compile_spec(require_specification(self._problem()), request)
        if result.ready:
            write(result, directory)
        return result


def _check_choice(command: str, name: str, given: object, allowed: Any) -> None:
    """SpecError if the argument is none of those that its type allows."""
    if given not in get_args(allowed):
        choices = ", ".join(map(repr, get_args(allowed)))
        raise SpecError(f"{command}({name}=…): expected one of {choices}; found {given!r}", here())
