"""Runs with what the interpreter says of them, for the unit test in C (`--with test`): the samples of the spec, every
counterexample and witness, and random inputs if there are no samples."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamcheck.codegen.interface import Data
from streamcheck.codegen.text import initial_text
from streamcheck.core.errors import SpecError
from streamcheck.core.term import constant
from streamcheck.core.types import (
    ArrayType,
    EnumType,
    FloatType,
    MachineType,
    StructType,
    Type,
    Value,
    belongs,
    default,
)
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.interpret.step import Step
from streamcheck.problem.claim import Goal
from streamcheck.problem.places import Code
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.validate.discharge import any_value

RANDOM_STEPS = 20
LONGEST_TEXT = 4000  # characters of a string that every compiler takes

Row = Mapping[str, Value]  # the inputs of a step by name


@dataclass(frozen=True, slots=True)
class TestRun:
    about: str
    rows: tuple[Row, ...]


def runs_to_replay(verdicts: Verdicts, samples: Sequence[Row], specification: Specification) -> list[TestRun]:
    """The runs, each with what it shows. `specification`: the one that was compiled."""
    runs = [TestRun("samples", tuple(samples))] if samples else [random_run(specification)]
    return [*runs, *runs_of_results(verdicts, verdicts.results)]


def runs_of_results(verdicts: Verdicts, results: Sequence[Result]) -> Iterator[TestRun]:
    """The counterexamples and witnesses of these results."""
    assert isinstance(verdicts.problem, Specification)
    names = {i.var: i.name for i in verdicts.problem.inputs}
    for result in results:
        if result.run is None or result.run.length > len(result.run.steps):
            continue  # one with missing steps is too long for a test
        kind = "witness of" if result.prop.goal is Goal.REACHABLE else "counterexample to"
        rows = tuple({names[v]: step[v] for v in names if v in step} for step in result.run.steps)
        yield TestRun(f"{kind} {result.name}", rows)


def random_run(specification: Specification) -> TestRun:
    """A run on random inputs, always the same for a spec."""
    rng = random.Random(1)
    rows = [{i.name: _random(rng, i.type) for i in specification.inputs} for _ in range(RANDOM_STEPS)]
    return TestRun("random inputs", tuple(rows))


def _random(rng: random.Random, type: Type) -> Value:
    match type:
        case ArrayType():
            return tuple(_random(rng, type.element) for _ in range(type.length))
        case StructType():
            return tuple(_random(rng, t) for _, t in type.fields)
    return any_value(rng, type)


def replay_data(code: Code, runs: Sequence[TestRun], externs: Sequence[str]) -> Data:
    """Data for the template of the test, beyond the interface. `externs`: those of the interface, in order."""
    made = [_run_data(code, run, i, externs) for i, run in enumerate(runs)]
    texts = [step["wanted"] for run in made for step in run["steps"]]
    if any(len(text) > LONGEST_TEXT for text in texts):
        raise SpecError(
            f"a step of {code.specification.name} shows more than a test in C can hold", write="no --with test"
        )
    types = [a.type for t in code.specification.triggers for _, a in t.args]
    types += [o.term.type for o in code.specification.observers] if code.observers else []
    return {
        "runs": made,
        "run_count": len(made),
        "step_count": sum(len(run["steps"]) for run in made),
        "log_size": 2 * max((len(text) for text in texts), default=0) + 200,
        "logs_float": any(_has_float(t, 32) for t in types),
        "logs_double": any(_has_float(t, 64) for t in types),
    }


def _has_float(type: Type, width: int) -> bool:
    match type:
        case ArrayType():
            return _has_float(type.element, width)
        case StructType():
            return any(_has_float(t, width) for _, t in type.fields)
    return isinstance(type, FloatType) and type.width == width


def _run_data(code: Code, run: TestRun, index: int, externs: Sequence[str]) -> Data:
    planned = plan(code.specification)
    types = {i.name: i.type for i in code.specification.inputs}
    rows = [{name: _value(types[name], row.get(name)) for name in types} for row in run.rows]
    steps = stepper(planned)(tuple(row[v.payload] for v in planned.inputs) for row in rows)
    made = [
        {"row": _initialiser(row, types, externs), "wanted": _log(code, step)}
        for row, step in zip(rows, steps, strict=True)
    ]
    about = "".join(c if c.isprintable() and c not in '"\\%*/?' else " " for c in run.about)
    return {"about": about, "table": f"sc_run_{index}", "index": index, "count": len(made), "steps": made}


def _value(type: Type, value: Value | None) -> Value:
    if value is None:
        return default(type)
    return type.wrap(int(value)) if isinstance(type, MachineType) else value  # type: ignore[arg-type]


def _initialiser(row: Row, types: Mapping[str, Type], externs: Sequence[str]) -> str:
    if not externs:
        return ""
    return f"{{{', '.join(initial_text(constant(types[name], row[name])) for name in externs)}}}, "


def _log(code: Code, step: Step) -> str:
    """The text that the C makes of a step."""
    shown = [
        f"{trigger.name}{_bits([a.type for _, a in trigger.args], step.triggers[trigger.name])}; "
        for trigger in code.specification.triggers
        if trigger.name in step.triggers
    ]
    if code.observers:
        for observer in code.specification.observers:
            shown.append(f"{observer.name} ={_bits([observer.term.type], [step.observers[observer.name]])}; ")
    return "".join(shown)


def _bits(types: Sequence[Type], values: Sequence[Any]) -> str:
    parts = (
        part for type, value in zip(types, values, strict=True) for part in _scalar_bits(type, belongs(type, value))
    )
    return "".join(f" {part}" for part in parts)


def _scalar_bits(type: Type, value: Any) -> Iterator[str]:
    match type:
        case ArrayType():
            for part in value:
                yield from _scalar_bits(type.element, part)
        case StructType():
            for (_, t), part in zip(type.fields, value, strict=True):
                yield from _scalar_bits(t, part)
        case FloatType(width=width):
            whole = int.from_bytes(struct.pack("<f" if width == 32 else "<d", value), "little")
            yield "nan" if value != value else f"{whole:x}"
        case MachineType(width=width):
            yield f"{value % (1 << width):x}"
        case EnumType():
            yield f"{value % (1 << 32):x}"
        case _:
            yield str(int(value))
