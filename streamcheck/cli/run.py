"""`streamcheck run FILE`: the interpreter at the command line."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import islice
from typing import TextIO

import click

from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.core.types import Value
from streamcheck.interpret.data import read_rows
from streamcheck.interpret.python_code import Plan, plan, stepper
from streamcheck.interpret.samples import OutOfSamples
from streamcheck.interpret.step import Step
from streamcheck.report.steps import csv_lines, json_lines, table
from streamcheck.report.wave import wave_lines
from streamcheck.run.source import Sampler, Target

DEFAULT_STEPS = 10
VIOLATED = 1
FORMATS = ("table", "wave", "csv", "json")


@click.command(name="run", short_help="Interpret a spec.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option("--steps", type=click.IntRange(min=0), help="Number of steps (default: until the input ends).")
@click.option("--input", "data", metavar="DATA", help="CSV or JSON lines (.json, .jsonl), or - for standard input.")
@click.option("--format", "shape", type=click.Choice([*FORMATS]), default="table", show_default=True)
@click.option("--ignore-extra", is_flag=True, help="Leave out columns that are no input of the spec.")
@click.option("--violations", is_flag=True, help="Show only the steps at which a property or an assumption is false.")
@click.option("--fail", is_flag=True, help="Exit with status 1 if a property or an assumption is false at some step.")
def command(
    file: str, steps: int | None, data: str | None, shape: str, ignore_extra: bool, violations: bool, fail: bool
) -> int:
    """Interpret a spec: at each step its triggers, with their arguments, and its observers.

    Inputs come from --input (the first row of a CSV file names the externs; each JSON line is an object), else from
    the samples in the spec. Without --steps a run ends with its input, with the shortest list of samples, or else after
    10 steps. Violations are printed to standard error; the exit status is 0 all the same, or 1 with --fail.
    """
    with ExitStack() as stack:
        sampler = stack.enter_context(Sampler(Target.parse(file)))
        specification = sampler.specification
        planned = plan(specification)
        live = False
        if data is not None:
            source = stack.enter_context(_open(data))
            live = not stat.S_ISREG(os.fstat(source.fileno()).st_mode)
            rows = _recorded_rows(source, data, planned, steps, ignore_extra=ignore_extra)
        else:
            rows = _sample_rows(sampler, planned, steps)
        for warning in specification.warnings:
            click.echo(f"note: {warning}", err=True)
        for name in [i.name for i in specification.inputs if not i.extern and i.var in planned.inputs]:
            click.echo(
                f"note: {name} may have any value; this run uses its type's default if the input has none", err=True
            )
        if not specification.triggers and not specification.observers:
            click.echo(f"note: {specification.name} has no trigger and no observer to show", err=True)
        times: Counter[str] = Counter()
        ran = _with_notes(stepper(planned)(rows), times)
        if violations:
            ran = (step for step in ran if step.broken or step.unmet)
        lines = {
            "table": lambda: table(specification, ran, live=live),
            "wave": lambda: wave_lines(specification, ran),
            "csv": lambda: csv_lines(specification, ran),
            "json": lambda: json_lines(specification, ran),
        }[shape]()
        emit(lines, flush=live or sys.stdout.isatty())
    return VIOLATED if fail and times else 0


def _open(data: str) -> TextIO:
    if data == "-":
        return os.fdopen(os.dup(0), encoding="utf-8", newline="")
    try:
        return open(data, encoding="utf-8-sig", newline="")
    except OSError as why:
        raise SpecError(f"{data}: {why.strerror}") from None


def _recorded_rows(
    source: TextIO, data: str, planned: Plan, steps: int | None, *, ignore_extra: bool
) -> Iterator[tuple[Value, ...]]:
    origin = "standard input" if data == "-" else data
    lines: Iterator[str] = iter(source.readline, "")
    is_json = data.endswith((".json", ".jsonl"))
    if data == "-":  # a JSON object begins with a brace
        first = next((line for line in lines if line.strip()), "")
        is_json = first.lstrip().startswith("{")
        lines = _chain(first, lines)
    known = [i.name for i in planned.specification.inputs]
    unknown = [i.var for i in planned.specification.inputs if not i.extern]
    rows = read_rows(
        lines,
        origin,
        json_lines=is_json,
        needed=planned.inputs,
        known=known,
        optional=unknown,
        ignore_extra=ignore_extra,
    )
    if steps is None:
        return rows
    return _first_rows(rows, steps, origin)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _first_rows(rows: Iterator[tuple[Value, ...]], steps: int, origin: str) -> Iterator[tuple[Value, ...]]:
    done = 0
    for row in islice(rows, steps):
        yield row
        done += 1
    if done < steps:
        raise SpecError(f"{origin} has {done} rows, but --steps is {steps}")


def _sample_rows(sampler: Sampler, planned: Plan, steps: int | None) -> Iterator[tuple[Value, ...]]:
    unsampled = [v.payload for v in planned.inputs if v.payload not in sampler.sampled]
    if unsampled and sampler.needs_data(planned):
        raise SpecError(
            f"no values for {', '.join(unsampled)}",
            write=f'--input data.csv, or samples=[…] in the spec: extern("{unsampled[0]}", …, samples=[…])',
        )
    if steps is not None:
        yield from islice(sampler.rows(), steps)
        return
    try:
        yield from sampler.rows() if sampler.sized else islice(sampler.rows(), DEFAULT_STEPS)
    except OutOfSamples:
        return


def _with_notes(steps: Iterator[Step], times: Counter[str]) -> Iterator[Step]:
    """The steps unchanged. A note reports the first step at which a property or an assumption is false, and in the
    end the number of such steps, which `times` counts. Once an assumption is false, properties no longer count."""
    assumed = True
    for step in steps:
        assumed = assumed and not step.unmet
        violated = [f"assumption {name}" for name in step.unmet]
        violated += [f"property {name}" for name in step.broken] if assumed else []
        for claim in violated:
            if claim not in times:
                click.echo(f"note: {claim} is false at step {step.step}", err=True)
            times[claim] += 1
        yield step
    for claim, number in times.items():
        if number > 1:
            click.echo(f"note: {claim} was false at {number} steps", err=True)
