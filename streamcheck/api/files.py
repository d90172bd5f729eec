"""Files of every kind from Python: what the command does with them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from streamcheck.api.arguments import Duration, PathText, check_arguments
from streamcheck.api.commands import Commands
from streamcheck.api.results import require_specification
from streamcheck.api.runs import RunSource, Samples
from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import plural
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Specification

if TYPE_CHECKING:
    from streamcheck.core.term import Term
    from streamcheck.core.types import Value
    from streamcheck.run.certificates import Rechecked
    from streamcheck.run.sampler import Sampler


@check_arguments
def load(
    path: PathText,
    *,
    integers: Literal["c", "math"] = "c",
    data_model: str = "LP64",
    linked: Sequence[PathText] = (),
    predicates: Sequence[str] = (),
    expressions: Sequence[str] = (),
    sandbox: bool = False,
) -> LoadedSpec:
    """The spec or program in a file, `FILE` or `FILE::SPEC`: Python, Lustre, C, an automaton, VMT-LIB, BTOR2 or JSON.

    `integers`, `data_model`, `linked` and `predicates` are for programs, as `--int`, `--data-model`, `--link` and
    `--predicate`. `expressions` are more observers of a
    spec in Python, as `--eval`. In a `sandbox`, the spec's Python can do nothing but read, as with `--sandbox`.
    """
    loaded = load_all(
        path,
        integers=integers,
        data_model=data_model,
        linked=linked,
        predicates=predicates,
        expressions=expressions,
        sandbox=sandbox,
    )
    if len(loaded) > 1:
        calls = " or ".join(f'load("{spec.path}::{spec.name}")' for spec in loaded)
        raise SpecError(f"{loaded[0].path} holds several specs", here(), write=f"{calls}; load_all has all of them")
    return loaded[0]


@check_arguments
def load_all(
    path: PathText,
    *,
    integers: Literal["c", "math"] = "c",
    data_model: str = "LP64",
    linked: Sequence[PathText] = (),
    predicates: Sequence[str] = (),
    expressions: Sequence[str] = (),
    sandbox: bool = False,
) -> list[LoadedSpec]:
    """All specs in a file, in their order. The options are as of `load`."""
    from streamcheck.run.source import SourceOptions, Target, read

    target = Target.parse(os.fspath(path), confined=sandbox)
    others = tuple(os.fspath(other) for other in linked)
    reading = SourceOptions(integers, tuple(predicates), tuple(expressions), data_model, others)
    return [LoadedSpec(problem, target.path, reading.expressions, sandbox) for problem in read(target, reading=reading)]


@check_arguments
def check(
    certificate: PathText,
    *,
    timeout: Duration | None = None,
    proofs: PathText | None = None,
    proof_checker: str | None = None,
    whole: bool = False,
    sandbox: bool = False,
) -> Rechecked:
    """Check a saved certificate again, from the spec alone, as `streamcheck check` does: `ok`, or the reason `why`.

    `proofs` is a folder for the proof of each condition, which the command `proof_checker` checks. A proof by parts is
    judged as one proof of the `whole`, too, if that is asked for. In a `sandbox`, the spec's Python can do nothing but
    read."""
    from streamcheck.run.certificates import recheck
    from streamcheck.run.proofs import ProofFolder

    folder = ProofFolder.at(None if proofs is None else os.fspath(proofs), proof_checker)
    if whole:
        from streamcheck.run.whole_proofs import recheck_whole

        return recheck_whole(os.fspath(certificate), timeout, folder, confined=sandbox)
    return recheck(os.fspath(certificate), timeout, folder, confined=sandbox)


@dataclass(frozen=True, slots=True, repr=False)
class LoadedSpec(Commands):
    """One spec or program."""

    problem: Problem
    path: str
    expressions: tuple[str, ...] = ()  # that were added to its observers
    sandbox: bool = False  # as it was loaded

    @property
    def name(self) -> str:
        """The name of the spec, or of the program's file."""
        return self.problem.name

    @property
    def properties(self) -> list[str]:
        """The names of the properties, those too that operators imply."""
        return [p.name for p in self.problem.properties]

    def _repr_html_(self) -> str | None:
        """The dependency graph of a spec; a program has none."""
        from streamcheck.report.graph_svg import graph_svg

        return graph_svg(self.problem) if isinstance(self.problem, Specification) else None

    def __str__(self) -> str:
        return self.show()

    def __repr__(self) -> str:
        return f"<{self.name}: {plural(len(self.properties), 'property')}>"

    def _problem(self) -> Problem:
        return self.problem

    def _file(self) -> str:
        return self.path

    def _run_source(self, expressions: tuple[str, ...]) -> RunSource:
        return FileSource(self, expressions)

    def _samples(self, most: int = 1000) -> list[dict[str, Value]]:
        from streamcheck.run.sampler import sampled_rows
        from streamcheck.run.source import Target

        return sampled_rows(Target(self.path, self.name, self.sandbox), most)


class FileSource(RunSource):
    """The equations of a spec as they were loaded, with more observers. Expressions and samples are computed by its
    file, which is loaded once more."""

    def __init__(self, spec: LoadedSpec, expressions: tuple[str, ...]) -> None:
        self.spec = spec
        self.expressions = (*spec.expressions, *expressions)
        self.specification = require_specification(spec.problem)
        if expressions:
            with self._sampler(spec.expressions, frozenset()) as sampler:
                self._require_unchanged(sampler)
            with self._sampler(self.expressions, frozenset()) as sampler:
                self.specification = sampler.specification

    def samples(self, inputs: Sequence[Term]) -> Samples:
        rows = self._rows(inputs)
        return Samples(next(rows), rows)

    def _rows(self, inputs: Sequence[Term]) -> Iterator[Any]:
        """First whether the samples have an end, then their rows. The file's process ends with this generator."""
        with self._sampler(self.expressions, frozenset(str(v.payload) for v in inputs)) as sampler:
            self._require_unchanged(sampler)
            missing = sampler.without_samples(inputs)
            if missing:
                names = ", ".join(missing)
                raise SpecError(f"no values for {names}", here(), write=f'run(inputs={{"{missing[0]}": [1, 2, 3]}})')
            yield sampler.sized
            yield from sampler.rows(inputs)

    def _sampler(self, expressions: tuple[str, ...], wanted: frozenset[str]) -> Sampler:
        from streamcheck.run.sampler import Sampler
        from streamcheck.run.source import Target

        return Sampler(Target(self.spec.path, self.spec.name, self.spec.sandbox), expressions, wanted)

    def _require_unchanged(self, sampler: Sampler) -> None:
        """SpecError if the file has other equations now."""
        if _equations(sampler.specification) != _equations(self.specification):
            raise SpecError(f"{self.spec.path} is not as it was when it was loaded", here(), write="load it again")


def _equations(specification: Specification) -> Specification:
    """The part that the steps of a run depend on."""
    return replace(specification, where=None, warnings=(), properties=(), wires=())
