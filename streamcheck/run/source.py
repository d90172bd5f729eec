"""From a file to equations: specs are loaded in a sandbox, JSON is read here."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from streamcheck.core.errors import SpecError
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.run.limits import time_limit
from streamcheck.run.memory import memory_limit
from streamcheck.run.places import with_known_places, with_places_of
from streamcheck.run.sandbox import Sandbox, Send

if TYPE_CHECKING:
    from streamcheck.problem.problem import Problem

LOAD_SECONDS = 60.0  # no spec should need it; one that loops must not hang the command
PROGRAMS = (".c", ".i", ".aut")
SYSTEMS = (".vmt", ".btor2", ".btor")
KINDS = (".py", *PROGRAMS, ".lus", *SYSTEMS, ".json")


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The reading of code: with C's integers or mathematical ones; conditions on its variables, for engines that build
    on predicates; the sizes of C's types; further files of the program. Of a spec in Python: more observers, and if the
    bodies of components are of use: without them it can be proved, but neither by parts nor compiled."""

    integers: Literal["c", "math"] = "c"
    predicates: tuple[str, ...] = ()
    expressions: tuple[str, ...] = ()
    data_model: str = "LP64"
    linked: tuple[str, ...] = ()
    bodies: bool = True


@dataclass(frozen=True, slots=True)
class Target:
    """`FILE` or `FILE::spec`. Code of a `confined` one can do nothing but read."""

    path: str
    spec: str | None
    confined: bool = False

    @staticmethod
    def parse(text: str, *, confined: bool = False) -> Target:
        path, separator, spec = text.partition("::")
        return Target(path, spec if separator else None, confined)

    @property
    def confined_to(self) -> str | None:
        return self.path if self.confined else None


AS_EVER = SourceOptions()


def read(
    target: Target, seconds: float | None = None, reading: SourceOptions = AS_EVER, memory: int | None = None
) -> Sequence[Problem]:
    """Every problem that the target names; loading may take so long (else `LOAD_SECONDS`) and so many bytes."""
    check_file(target.path)
    doing = f"reading {target.path}"
    if reading.expressions and not target.path.endswith(".py"):
        raise no_expressions(target)
    if target.path.endswith(PROGRAMS):
        from streamcheck.frontends.programs import read_program

        with time_limit(seconds, doing), memory_limit(memory, doing):
            program = read_program(
                target.path, target.spec, reading.integers, reading.predicates, reading.data_model, reading.linked
            )
            return [program]
    for given, usual, option in (
        (reading.integers, AS_EVER.integers, "--int"),
        (reading.predicates, AS_EVER.predicates, "--predicate"),
        (reading.data_model, AS_EVER.data_model, "--data-model"),
        (reading.linked, AS_EVER.linked, "--link"),
    ):
        if given != usual:
            raise SpecError(f"{target.path}: {option} is for programs (.c, .aut)")
    return _read_specifications(target, seconds, memory, reading)


def no_expressions(target: Target) -> SpecError:
    return SpecError(f"{target.path}: --eval is for specs in Python")


def read_specs(target: Target) -> list[Specification]:
    """The same if only specifications will do: programs can be proved and shown, nothing else."""
    check_file(target.path)
    if target.path.endswith(PROGRAMS):
        raise SpecError(f"{target.path} is a program; only `prove`, `explain` and `show` support programs")
    return _read_specifications(target, None)


def _read_specifications(
    target: Target, seconds: float | None, memory: int | None = None, reading: SourceOptions = AS_EVER
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
    work, doing = _loader(target, reading), f"loading {target.path}"
    with Sandbox(work, seconds=limit, doing=doing, memory=memory, confined_to=target.confined_to) as child:
        loaded = child.receive()
    with as_sent(doing):
        rows = with_places_of(target.path, loaded["specs"]) if target.confined else loaded["specs"]
        specifications, left_out = [from_plain(row) for row in rows], list(map(str, loaded["left out"]))
    if target.spec is not None:
        return _select(specifications, target, left_out)
    return _with_warnings(specifications, left_out)


@contextmanager
def as_sent(doing: str) -> Iterator[None]:
    """SpecError if a record is of another shape: code of the spec made it."""
    try:
        yield
    except (LookupError, TypeError, ValueError) as why:
        raise SpecError(f"{doing}: what the spec's process sent is no specification ({why})") from None


def _with_warnings(specifications: list[Specification], left_out: Sequence[str]) -> list[Specification]:
    """The same; the last one has a warning for each spec that the file makes and that is not among them."""
    *others, last = specifications
    return [*others, replace(last, warnings=(*last.warnings, *left_out))]


def check_file(path: str) -> None:
    if not os.path.isfile(path):
        raise SpecError(f"'{path}' is a directory; give a file" if os.path.isdir(path) else f"no such file: {path}")
    if not path.endswith(KINDS):
        kinds = "a Python file (.py), C (.c, .i), an automaton (.aut), Lustre (.lus), VMT-LIB (.vmt), BTOR2 (.btor2)"
        raise SpecError(
            f"{path}: unknown kind of file; a spec is {kinds}, or a specification written by `show --as json` or FRET"
            " (.json)"
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
    if isinstance(data, dict) and "requirements" in data:
        from streamcheck.lang.requirements.export import read_export

        return read_export(path, data)
    rows = with_known_places(data if isinstance(data, list) else [data], [os.path.dirname(path), os.curdir])
    return [from_plain(row, path) for row in rows]


def _select(all_of_them: list[Specification], target: Target, left_out: Sequence[str] = ()) -> list[Specification]:
    if target.spec is None:
        return all_of_them
    chosen = [e for e in all_of_them if e.name == target.spec]
    if not chosen:
        raise no_such_spec(target, [e.name for e in all_of_them], left_out)
    return chosen


def no_such_spec(target: Target, names: Sequence[str], left_out: Sequence[str]) -> SpecError:
    message = f'{target.path} has no spec named "{target.spec}", it has {", ".join(names)}'
    return SpecError(message, also=tuple((line, None) for line in left_out))


P = TypeVar("P", Specification, "Problem")


def one(all_of_them: Sequence[P], target: Target) -> P:
    if len(all_of_them) > 1:
        choices = ", ".join(f"{target.path}::{e.name}" for e in all_of_them)
        raise SpecError(f"{target.path} holds several specs", write=f"one of {choices}")
    return all_of_them[0]


def _loader(target: Target, reading: SourceOptions) -> Any:
    def work(send: Send) -> None:
        from streamcheck.lang.flatten import flatten
        from streamcheck.lang.load import in_user_terms, load

        with in_user_terms():
            specs = load(target.path, target.spec)
            if reading.expressions:
                from streamcheck.lang.expressions import flatten_with

                flat = [flatten_with(spec, reading.expressions) for spec in specs]
            else:
                flat = [flatten(spec, bodies=reading.bodies) for spec in specs]
            send({"specs": list(map(to_plain, flat)), "left out": specs.left_out})

    return work
