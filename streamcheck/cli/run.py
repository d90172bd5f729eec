"""`streamcheck run FILE`: the interpreter at the command line."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, TextIO

import click

from streamcheck.cli.options import sandbox_option, target_of
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.core.types import Value
from streamcheck.interpret.chunks import Chunk, interpret
from streamcheck.interpret.data import CsvForm, DataColumns, is_json_file, open_log, read_form, read_rows
from streamcheck.interpret.log_text import LogText
from streamcheck.interpret.python_code import Plan, plan
from streamcheck.interpret.samples import OutOfSamples
from streamcheck.report.steps import RunColumns, csv_lines, json_lines, table
from streamcheck.report.wave import wave_lines
from streamcheck.run.sampler import Sampler

DEFAULT_STEPS = 10
VIOLATED = 1
BLOCK = 1 << 20  # bytes of a log that are read at a time
FORMATS = ("table", "wave", "csv", "json")


@click.command(name="run", short_help="Interpret a spec.")
@click.argument("file", metavar="FILE[::SPEC]")
@click.option("--steps", type=click.IntRange(min=0), help="Number of steps (default: until the input ends).")
@click.option("--input", "data", metavar="DATA", help="CSV or JSON lines (.json, .jsonl), or - for standard input.")
@click.option("--format", "shape", type=click.Choice([*FORMATS]), default="table", show_default=True)
@click.option("--ignore-extra", is_flag=True, help="Leave out columns that are no input of the spec.")
@click.option(
    "--keep", multiple=True, metavar="COLUMN", help="Show this column of the data too, as it is (repeatable)."
)
@click.option("--eval", "expressions", multiple=True, metavar="EXPR", help="Show this stream too (repeatable).")
@click.option("--violations", is_flag=True, help="Show only the steps at which a property or an assumption is false.")
@click.option("--native", is_flag=True, help="Compile the monitor with the C compiler of this machine; check a sample.")
@click.option("--fail", is_flag=True, help="Exit with status 1 if a property or an assumption is false at some step.")
@sandbox_option
def command(
    file: str,
    steps: int | None,
    data: str | None,
    shape: str,
    ignore_extra: bool,
    keep: tuple[str, ...],
    expressions: tuple[str, ...],
    violations: bool,
    native: bool,
    fail: bool,
) -> int:
    """Interpret a spec: at each step its triggers, with their arguments, its observers, and its properties.

    Inputs come from --input (the first row of a CSV file names the externs; each JSON line is an object; Parquet needs
    pyarrow), else from the samples in the spec. Columns called time, timestamp, date or datetime are kept. Without
    --steps a run ends with its input, with the shortest list of samples, or else after 10 steps. Violations are printed
    to standard error; the exit status is 0 all the same, or 1 with --fail.
    """
    with ExitStack() as stack:
        sampler = stack.enter_context(Sampler(target_of(file), expressions))
        planned = plan(sampler.specification)
        if data is not None:
            wanted = DataColumns.of(planned, keep, ignore_extra=ignore_extra)
            feed = _data_feed(stack, data, wanted, native=native)
            unread = [name for name in planned.specification.unused if name in {c.split(".")[0] for c in feed.columns}]
        else:
            feed, unread = Feed(_sample_rows(sampler, planned, steps)), []
            steps = None
        live, kept = feed.live, feed.kept
        for note in _notes(sampler, planned, unread):
            click.echo(f"note: {note}", err=True)
        times: Counter[str] = Counter()
        ran = _chunks(planned, feed, steps, native=native)
        if data is not None and steps is not None:
            ran = _require_rows(ran, data, steps)
        ran = _with_notes(planned, ran, times)
        if violations:
            ran = (chunk.violations() for chunk in ran)
        columns = RunColumns.of(planned, kept)
        lines = {
            "table": lambda: table(columns, ran, live=live),
            "wave": lambda: wave_lines(columns, ran),
            "csv": lambda: csv_lines(columns, ran),
            "json": lambda: json_lines(columns, planned, ran),
        }[shape]()
        emit(lines, flush=live or sys.stdout.isatty())
    return VIOLATED if fail and times else 0


def _notes(sampler: Sampler, planned: Plan, unread: list[str]) -> Iterator[str]:
    specification = sampler.specification
    yield from specification.warnings
    for name in unread:
        yield f"{specification.name} does not use {name}, which the file declares: its values are not read"
    for given in specification.inputs:
        if not given.extern and given.var in planned.inputs:
            yield f"{given.name} may have any value; this run uses its type's default if the input has none"
    if not (specification.triggers or specification.observers or planned.properties or planned.assumptions):
        yield f"{specification.name} has no trigger, no observer and no property to show"


@dataclass(frozen=True, slots=True)
class Feed:
    """The input of a run: rows, or a CSV file that compiled code reads. `columns` are those of the data."""

    rows: Iterator[tuple[Any, ...]]
    columns: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    live: bool = False  # the data may still grow
    file: tuple[LogText, CsvForm] | None = None


def _data_feed(stack: ExitStack, data: str, columns: DataColumns, *, native: bool) -> Feed:
    if data.endswith(".parquet"):
        from streamcheck.interpret.parquet import read_parquet

        recorded = read_parquet(data, columns)
        return Feed(recorded.rows, recorded.columns, recorded.kept)
    source = stack.enter_context(_open(data))
    live = not stat.S_ISREG(os.fstat(source.fileno()).st_mode)
    is_json = is_json_file(data)
    if native and not is_json:
        text = LogText(lambda: os.read(source.fileno(), BLOCK))
        if not (data == "-" and text.begins_with("{")):
            form = read_form(text, _origin(data), columns)
            return Feed(iter(()), form.header, form.kept, live, (text, form))
        lines: Iterator[str] = text
        is_json = True
    else:
        lines = iter(source.readline, "") if live else source
    if data == "-" and not is_json:  # a JSON object begins with a brace
        first = next((line for line in lines if line.strip()), "")
        is_json = first.lstrip().startswith("{")
        lines = chain([first], lines)
    recorded = read_rows(lines, _origin(data), columns, "json" if is_json else "csv")
    return Feed(recorded.rows, recorded.columns, recorded.kept, live)


def _chunks(planned: Plan, feed: Feed, steps: int | None, *, native: bool) -> Iterator[Chunk]:
    """The run: so many steps, or as many as there are inputs."""
    if native:
        from streamcheck.deliver.native import CsvBatches, RowBatches, run_natively

        batches = CsvBatches(*feed.file, live=feed.live) if feed.file else RowBatches(feed.rows, live=feed.live)
        return run_natively(planned, batches, steps)
    return interpret(planned, islice(feed.rows, steps), live=feed.live)


def _require_rows(ran: Iterator[Chunk], data: str, steps: int) -> Iterator[Chunk]:
    """The same; SpecError at the end if the data have fewer rows."""
    done = 0
    for chunk in ran:
        done += len(chunk.steps)
        yield chunk
    if done < steps:
        raise SpecError(f"{_origin(data)} has {done} rows, but --steps is {steps}")


def _origin(data: str) -> str:
    return "standard input" if data == "-" else data


def _open(data: str) -> TextIO:
    if data == "-":
        return os.fdopen(os.dup(0), encoding="utf-8", newline="")
    return open_log(data)


def _sample_rows(sampler: Sampler, planned: Plan, steps: int | None) -> Iterator[tuple[Value, ...]]:
    unsampled = sampler.without_samples(planned.inputs)
    if unsampled:
        samples = f', or samples=[…] in the spec: extern("{unsampled[0]}", …, samples=[…])' * sampler.is_python
        raise SpecError(f"no values for {', '.join(unsampled)}", write=f"--input data.csv{samples}")
    if steps is not None:
        yield from islice(sampler.rows(planned.inputs), steps)
        return
    try:
        rows = sampler.rows(planned.inputs)
        yield from rows if sampler.sized else islice(rows, DEFAULT_STEPS)
    except OutOfSamples:
        return


def _with_notes(planned: Plan, chunks: Iterator[Chunk], times: Counter[str]) -> Iterator[Chunk]:
    """The chunks unchanged. A note reports the first step at which a property or an assumption is false, and in the
    end the number of such steps, which `times` counts. Once an assumption is false, properties no longer count."""
    assumed = True
    for chunk in chunks:
        count = len(chunk.steps)
        unmet = list(zip([f"assumption {name}" for name, _ in planned.assumptions], chunk.assumptions, strict=True))
        end = min([t.find(0) for _, t in unmet if 0 in t], default=count) if assumed else 0
        counted = [truth[:end] for truth in chunk.properties]
        broken = list(zip([f"property {name}" for name, _ in planned.properties], counted, strict=True))
        assumed = assumed and end == count
        first = [(t.find(0), claim) for claim, t in [*unmet, *broken] if 0 in t and claim not in times]
        for place, claim in sorted(first, key=lambda f: f[0]):
            when = "".join(f", {column[place]}" for column in chunk.kept if column[place])
            click.echo(f"note: {claim} is false at step {chunk.steps[place]}{when}", err=True)
        for claim, truth in [*unmet, *broken]:
            if 0 in truth:
                times[claim] += truth.count(0)
        yield chunk
    claims = [f"assumption {name}" for name, _ in planned.assumptions]
    claims += [f"property {name}" for name, _ in planned.properties]
    for claim in claims:
        if times[claim] > 1:
            click.echo(f"note: {claim} was false at {times[claim]} steps", err=True)
