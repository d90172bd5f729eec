"""The samples of a spec's externs, computed by its own process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, repeat
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term, plain
from streamcheck.core.types import Value, default
from streamcheck.core.wire import from_plain as value_from_plain
from streamcheck.interpret.python_code import plan
from streamcheck.interpret.samples import OutOfSamples, rows
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.run.source import (
    LOAD_SECONDS,
    Target,
    as_sent,
    check_file,
    no_expressions,
    no_such_spec,
    one,
    read_specs,
)

CHUNK = 2048
UNSIZED_STEPS = 20  # of a run whose samples have no end


class Sampler:
    """The equations of one spec, and its externs' samples, which the spec's own process computes in chunks."""

    def __init__(self, target: Target, expressions: Sequence[str] = (), wanted: frozenset[str] | None = None) -> None:
        """`expressions` are observers besides the spec's own. Samples are of the inputs that are `wanted`; None: of all
        that a run reads."""
        check_file(target.path)
        self.child: Sandbox | None = None
        self.sized = False
        if expressions and not target.path.endswith(".py"):
            raise no_expressions(target)
        if not target.path.endswith(".py"):
            self.specification, self.sampled = one(read_specs(target), target), set[str]()
            return
        work, doing = _sample(target, expressions, wanted), f"loading {target.path}"
        self.child = Sandbox(work, seconds=LOAD_SECONDS, doing=doing, confined_to=target.confined_to)
        try:
            loaded = self.child.receive()
            with as_sent(doing):
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
            specs = load(target.path, target.spec)
            specs_by_name = {s.name: s for s in specs}
            if target.spec is None and len(specs) > 1:
                choices = ", ".join(f"{target.path}::{name}" for name in specs_by_name)
                raise SpecError(f"{target.path} holds several specs", write=f"one of {choices}")
            if target.spec is not None and target.spec not in specs_by_name:
                raise no_such_spec(target, list(specs_by_name), specs.left_out)
            spec = specs_by_name[target.spec] if target.spec is not None else specs[0]
            if expressions:
                from streamcheck.lang.expressions import with_expressions

                spec = with_expressions(spec, expressions)
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
