"""From a file to equations: specs are loaded in a sandbox, JSON is read here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term, plain
from streamcheck.core.types import Value, default
from streamcheck.core.wire import from_plain as value_from_plain
from streamcheck.interpret.python_code import plan
from streamcheck.interpret.samples import OutOfSamples, rows
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.run.limits import time_limit
from streamcheck.run.memory import memory_limit
from streamcheck.run.sandbox import Sandbox, Send

if TYPE_CHECKING:
    from streamcheck.problem.problem import Problem

LOAD_SECONDS = 60.0  # no spec should need it; one that loops must not hang the command
CHUNK = 2048
UNSIZED_STEPS = 20  # of a run whose samples have no end
PROGRAMS = (".c", ".i", ".aut")
SYSTEMS = (".vmt", ".btor2", ".btor")
KINDS = (".py", *PROGRAMS, ".lus", *SYSTEMS, ".json")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The reading of code: with C's integers or mathematical ones; and conditions on its variables, for engines that
    build on predicates. Of a spec in Python: observers besides its own."""

    integers: Literal["c", "math"] = "c"
    predicates: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """`FILE` or `FILE::spec`."""

    path: str
    spec: str | None

    @staticmethod
    def parse(text: str) -> Target:
        path, separator, spec = text.partition("::")
        return Target(path, spec if separator else None)


AS_EVER = SourceOptions()


def read(
    target: Target, seconds: float | None = None, reading: SourceOptions = AS_EVER, memory: int | None = None
) -> Sequence[Problem]:
    """Every problem that the target names; loading may take so long (else `LOAD_SECONDS`) and so many bytes."""
    _check_file(target.path)
    doing = f"reading {target.path}"
    if reading.expressions and not target.path.endswith(".py"):
        raise _no_expressions(target)
    if target.path.endswith(PROGRAMS):
        from streamcheck.frontends.programs import read_program

        with time_limit(seconds, doing), memory_limit(memory, doing):
            return [read_program(target.path, target.spec, reading.integers, reading.predicates)]
    if (reading.integers, reading.predicates) != (AS_EVER.integers, AS_EVER.predicates):
        raise SpecError(f"{target.path}: integers (--int) and predicates (--predicate) are for programs (.c, .aut)")
    return _read_specifications(target, seconds, memory, reading.expressions)


def _no_expressions(target: Target) -> SpecError:
    return SpecError(f"{target.path}: expressions (--eval) are for specs in Python")


def read_specs(target: Target) -> list[Specification]:
    """The same if only specifications will do: programs can be proved and shown, nothing else."""
    _check_file(target.path)
    if target.path.endswith(PROGRAMS):
        raise SpecError(f"{target.path} is a program; only `prove`, `explain` and `show` support programs")
    return _read_specifications(target, None)


def _read_specifications(
    target: Target, seconds: float | None, memory: int | None = None, expressions: Sequence[str] = ()
) -> list[Specification]:
    doing = f"reading {target.path}"
    if target.path.endswith(".json"):
        with memory_limit(memory, doing):
            return _select(_read_json(target.path), target)
    if target.path.endswith((".lus", *SYSTEMS)):
        with time_limit(seconds, doing), memory_limit(memory, doing):
            lustre = target.path.endswith(".lus")
            return _read_lustre(target) if lustre else _select([_read_system(target.path)], target)
    limit = LOAD_SECONDS if seconds is None else min(seconds, LOAD_SECONDS)
    work = _loader(target.path, expressions)
    with Sandbox(work, seconds=limit, doing=f"loading {target.path}", memory=memory) as child:
        loaded = child.receive()
    specifications = [from_plain(row) for row in loaded["specs"]]
    if target.spec is not None:
        return _select(specifications, target, loaded["left out"])
    return _with_warnings(specifications, loaded["left out"])


def _with_warnings(specifications: list[Specification], left_out: Sequence[str]) -> list[Specification]:
    """The same; the last one has a warning for each spec that the file makes and that is not among them."""
    *others, last = specifications
    return [*others, replace(last, warnings=(*last.warnings, *left_out))]


def _check_file(path: str) -> None:
    if not os.path.isfile(path):
        raise SpecError(f"'{path}' is a directory; give a file" if os.path.isdir(path) else f"no such file: {path}")
    if not path.endswith(KINDS):
        kinds = "a Python file (.py), C (.c, .i), an automaton (.aut), Lustre (.lus), VMT-LIB (.vmt), BTOR2 (.btor2)"
        raise SpecError(
            f"{path}: unknown kind of file; a spec is {kinds}, or a specification written by `show --as json` (.json)"
        )


def _read_system(path: str) -> Specification:
    if path.endswith(".vmt"):
        from streamcheck.frontends.vmt import read_vmt

        return read_vmt(path)
    from streamcheck.frontends.btor2 import read_btor2

    return read_btor2(path)


def _read_lustre(target: Target) -> list[Specification]:
    from streamcheck.frontends.lustre.read import read_lustre

    return read_lustre(target.path, target.spec)


def _read_json(path: str) -> list[Specification]:
    with open(path, encoding="utf-8") as file:
        try:
            data = json.load(file)
        except (ValueError, RecursionError) as why:
            raise SpecError(f"{path} is not JSON: {why}") from None
    return [from_plain(row, path) for row in (data if isinstance(data, list) else [data])]


def _select(all_of_them: list[Specification], target: Target, left_out: Sequence[str] = ()) -> list[Specification]:
    if target.spec is None:
        return all_of_them
    chosen = [e for e in all_of_them if e.name == target.spec]
    if not chosen:
        raise _no_such_spec(target, [e.name for e in all_of_them], left_out)
    return chosen


def _no_such_spec(target: Target, names: Sequence[str], left_out: Sequence[str]) -> SpecError:
    message = f'{target.path} has no spec named "{target.spec}", it has {", ".join(names)}'
    return SpecError(message, also=tuple((line, None) for line in left_out))


P = TypeVar("P", Specification, "Problem")


def one(all_of_them: Sequence[P], target: Target) -> P:
    if len(all_of_them) > 1:
        choices = ", ".join(f"{target.path}::{e.name}" for e in all_of_them)
        raise SpecError(f"{target.path} holds several specs", write=f"one of {choices}")
    return all_of_them[0]


def _loader(path: str, expressions: Sequence[str]) -> Any:
    def work(send: Send) -> None:
        from streamcheck.lang.flatten import flatten
        from streamcheck.lang.load import in_user_terms, load

        with in_user_terms():
            specs = load(path)
            if expressions:
                from streamcheck.lang.expressions import flatten_with

                flat = [flatten_with(spec, expressions) for spec in specs]
            else:
                flat = [flatten(spec) for spec in specs]
            send({"specs": list(map(to_plain, flat)), "left out": specs.left_out})

    return work


class Sampler:
    """The equations of one spec, and its externs' samples, which the spec's own process computes in chunks."""

    def __init__(self, target: Target, expressions: Sequence[str] = (), wanted: frozenset[str] | None = None) -> None:
        """`expressions` are observers besides the spec's own. Samples are of the inputs that are `wanted`; None: of all
        that a run reads."""
        _check_file(target.path)
        self.child: Sandbox | None = None
        self.sized = False
        if expressions and not target.path.endswith(".py"):
            raise _no_expressions(target)
        if not target.path.endswith(".py"):
            self.specification, self.sampled = one(read_specs(target), target), set[str]()
            return
        self.child = Sandbox(_sample(target, expressions, wanted), seconds=LOAD_SECONDS, doing=f"loading {target.path}")
        try:
            loaded = self.child.receive()
            self.specification = from_plain(loaded["equations"])
            self.sampled = set(loaded["sampled"])
            self.sized = bool(loaded["sized"])  # some samples are a list, so the run has an end of its own
        except BaseException:
            self.child.close()
            raise

    def __enter__(self) -> Sampler:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child is not None:
            self.child.close()

    @property
    def is_python(self) -> bool:
        """True if the spec may have samples."""
        return self.child is not None

    def without_samples(self, inputs: Sequence[Term]) -> list[str]:
        """Of these inputs, those without samples. Equations have none, and need none for an unknown."""
        needed = {i.var for i in self.specification.inputs if i.extern or self.child is not None}
        return [v.payload for v in inputs if v in needed and v.payload not in self.sampled]

    def rows(self, inputs: Sequence[Term]) -> Iterator[tuple[Value, ...]]:
        """The rows of the inputs, which are those that are wanted; OutOfSamples after the last."""
        types = [v.type for v in inputs]
        if self.child is None:
            yield from repeat(tuple(map(default, types)))
        if not types:
            yield from repeat(())
        assert self.child is not None
        self.child.deadline = None  # samples may be a live feed
        while True:
            record = self.child.receive()
            if "end" in record:
                raise OutOfSamples(record["end"])
            yield from (tuple(map(value_from_plain, types, row)) for row in record["rows"])


def sampled_rows(target: Target, most: int) -> list[dict[str, Value]]:
    """The inputs of the run on a spec's samples by name, so many steps at most; none if an input has no samples."""
    with Sampler(target) as sampler:
        read = plan(sampler.specification).inputs
        if sampler.child is None or sampler.without_samples(read):
            return []
        found: list[dict[str, Value]] = []
        try:
            for row in islice(sampler.rows(read), most if sampler.sized else min(most, UNSIZED_STEPS)):
                found.append({v.payload: value for v, value in zip(read, row, strict=True)})
        except OutOfSamples:
            pass
        return found


def _sample(target: Target, expressions: Sequence[str], wanted: frozenset[str] | None) -> Any:
    def work(send: Send) -> None:
        from streamcheck.lang.elaborate import elaborate
        from streamcheck.lang.flatten import specification_of
        from streamcheck.lang.load import in_user_terms, load

        with in_user_terms():
            specs = load(target.path)
            specs_by_name = {s.name: s for s in specs}
            if target.spec is None and len(specs) > 1:
                choices = ", ".join(f"{target.path}::{name}" for name in specs_by_name)
                raise SpecError(f"{target.path} holds several specs", write=f"one of {choices}")
            if target.spec is not None and target.spec not in specs_by_name:
                raise _no_such_spec(target, list(specs_by_name), specs.left_out)
            spec = specs_by_name[target.spec] if target.spec is not None else specs[0]
            if expressions:
                from streamcheck.lang.expressions import add_expressions

                add_expressions(spec, expressions)
            elaborated = elaborate(spec)
            specification = specification_of(elaborated)
            if target.spec is None:
                specification = replace(specification, warnings=(*specification.warnings, *specs.left_out))
            samples = {e.name: e.samples for e in elaborated.externs if e.samples is not None}
            inputs = [v for v in plan(specification).inputs if wanted is None or v.payload in wanted]
            sized = any(hasattr(samples.get(v.payload), "__len__") for v in inputs)
            send({"equations": to_plain(specification), "sampled": list(samples), "sized": sized})
            by_name = {i.name: i for i in specification.inputs}
            read = [(v.payload, v.type, by_name[v.payload].where) for v in inputs]
            if read:
                _send_samples(rows(read, samples), send)

    return work


def _send_samples(rows: Iterator[tuple[Value, ...]], send: Send) -> None:
    """Small chunks first, so that the first steps come at once; what was sampled before an error is sent."""
    size = 16
    while True:
        chunk: list[Any] = []
        try:
            for row in islice(rows, size):
                chunk.append([plain(v) for v in row])
        except OutOfSamples as end:
            send({"rows": chunk})
            send({"end": str(end)})
            return
        except BaseException:
            send({"rows": chunk})
            raise
        send({"rows": chunk})
        size = min(2 * size, CHUNK)
