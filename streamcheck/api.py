"""`Spec` as users have it: the declarations of `lang.spec` and what can be done with them from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import Value
from streamcheck.interpret.step import Step
from streamcheck.lang.spec import SpecBase

if TYPE_CHECKING:
    from streamcheck.deliver.deliver import CompileResult
    from streamcheck.problem.places import Handlers
    from streamcheck.problem.result import Verdicts


class Spec(SpecBase):
    """Triggers, observers, properties and assumptions over streams."""

    def prove(
        self,
        *,
        timeout: float = 60.0,
        jobs: int | None = None,
        engines: Sequence[str] = (),
        props: Sequence[str] = (),
        options: Mapping[str, bool | int | str] | None = None,
        bound: int | None = None,
    ) -> Verdicts:
        """Decide every property, as `streamcheck prove` does.

        Returns `Verdicts`; its `results` hold a `Result` for each property, in order. `options` sets options of
        engines, as in `{"ic3.tighten": False}`; `streamcheck engines` lists them. With a `bound`, only runs of at most
        so many steps count, and what is proved of them is `bounded`.
        """
        from streamcheck.lang.flatten import flatten
        from streamcheck.problem.specification_json import from_plain, to_plain
        from streamcheck.run.prove import Settings, prove
        from streamcheck.run.strategy import processors

        specification = from_plain(to_plain(flatten(self)))  # as the command has them: no Python class in a type
        settings = Settings(timeout, jobs or processors(), engines, props, options=options or {}, bound=bound)
        return prove(specification, settings)

    def compile(
        self,
        directory: str,
        *,
        abi: Literal["context", "copilot"] = "context",
        handlers: Handlers = "functions",
        prefix: str = "",
        assumptions: bool = False,
        observers: bool = False,
        optimize: Literal["size", "speed"] = "size",
        pack: bool = False,
        extras: Sequence[str] = (),
        narrow: bool = False,
        strict_math: bool = False,
        measure_math: bool = False,
        unproven: bool = False,
        validate: bool = True,
        timeout: float = 60.0,
        jobs: int | None = None,
    ) -> CompileResult:
        """C99 in this directory, as `streamcheck compile` writes it. Nothing is written unless the result is `ready`:
        `verdicts` says which property stood in the way, `outcome` whether the C is proved equal to the spec.
        `extras` are what `--with` takes."""
        from streamcheck.codegen.unit import CodeOptions
        from streamcheck.deliver.deliver import CompileRequest, compile_spec, write
        from streamcheck.lang.flatten import flatten
        from streamcheck.problem.specification_json import from_plain, to_plain
        from streamcheck.run.prove import Settings
        from streamcheck.run.strategy import processors

        specification = from_plain(to_plain(flatten(self)))
        options = CodeOptions(abi == "copilot", observers, handlers, prefix, assumptions, optimize, pack)
        settings = Settings(timeout, jobs or processors())
        samples = self._samples() if "test" in extras else []
        request = CompileRequest(
            options, unproven, validate, narrow, strict_math, measure_math, tuple(extras), samples, settings
        )
        result = compile_spec(specification, request)
        if result.ready:
            write(result, directory)
        return result

    def _samples(self, most: int = 1000) -> list[dict[str, Value]]:
        """The inputs of the run on the samples by name, so many steps at most; none if an input has no samples."""
        from streamcheck.interpret.python_code import plan
        from streamcheck.interpret.samples import OutOfSamples, rows
        from streamcheck.lang.elaborate import elaborate
        from streamcheck.lang.flatten import Flattening

        elaborated = elaborate(self)
        read = plan(Flattening(elaborated).specification()).inputs
        samples = {e.name: e.samples for e in elaborated.externs}
        if any(samples[v.payload] is None for v in read):
            return []
        found: list[dict[str, Value]] = []
        sized = any(hasattr(samples[v.payload], "__len__") for v in read)
        try:
            for row in rows([(v.payload, v.type, None) for v in read], samples, most if sized else min(most, 20)):
                found.append({v.payload: value for v, value in zip(read, row, strict=True)})
        except OutOfSamples:
            pass
        return found

    def run(self, steps: int, inputs: Mapping[str, Any] | None = None) -> Iterator[Step]:
        """Interpret: the steps with their triggers and observers. `inputs` (name to list, iterator or function of
        the step) go before the samples of the externs."""
        from streamcheck.interpret.python_code import plan, stepper
        from streamcheck.interpret.samples import rows
        from streamcheck.lang.elaborate import elaborate
        from streamcheck.lang.flatten import Flattening

        if not isinstance(steps, int) or steps < 0:
            raise SpecError(f"run(steps): expected an integer of at least 0, found {steps!r}", here())
        elaborated = elaborate(self)
        specification = Flattening(elaborated).specification()
        planned = plan(specification)
        known = {i.name: i for i in specification.inputs}
        for name in inputs or ():
            if name not in known:
                raise SpecError(f'{self.name} has no input named "{name}"', here())
        samples = {e.name: e.samples for e in elaborated.externs} | dict(inputs or {})
        read = [(known[v.payload].name, v.type, known[v.payload].where) for v in planned.inputs]
        return stepper(planned)(rows(read, samples, steps))
