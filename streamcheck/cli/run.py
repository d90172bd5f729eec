"""`streamcheck run FILE`: the interpreter at the command line."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

import click

from streamcheck.cli.options import plot_option, require_other_files, sandbox_option, target_of
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.core.types import Value
from streamcheck.deliver.feeds import (
    Feed,
    Violations,
    chunks_of_run,
    first_notes,
    keep_needs_data,
    open_feed,
    origin_of,
    require_steps,
)
from streamcheck.interpret.chunks import Chunk
from streamcheck.interpret.data import DataColumns
from streamcheck.interpret.python_code import Plan, plan
from streamcheck.interpret.samples import OutOfSamples
from streamcheck.report.steps import RunColumns, csv_lines, json_lines, table
from streamcheck.report.wave import wave_lines
from streamcheck.run.sampler import Sampler

DEFAULT_STEPS = 10
VIOLATED = 1
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
@click.option("--html", metavar="FILE", help="Write the run as a page with a timeline too.")
@plot_option("run")
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
    html: str | None,
    plot: str | None,
) -> int:
    """Interpret a spec: at each step its triggers, with their arguments, its observers, and its properties.

    Inputs come from --input (the first row of a CSV file names the externs; each JSON line is an object; Parquet needs
    pyarrow), else from the samples in the spec. Columns called time, timestamp, date or datetime are kept. Without
    --steps a run ends with its input, with the shortest list of samples, or else after 10 steps. Violations are printed
    to standard error; the exit status is 0 all the same, or 1 with --fail.
    """
    require_other_files([target_of(file).path, *([] if data is None else [data])], [html, plot])
    with Sampler(target_of(file), expressions) as sampler:
        planned = plan(sampler.specification)
        if data is not None:
            feed = open_feed(data, DataColumns.of(planned, keep, ignore_extra=ignore_extra), native=native)
        else:
            if keep:
                raise keep_needs_data(f"--keep {keep[0]}", "--input data.csv")
            feed = Feed(_sample_rows(sampler, planned, steps))
            steps = None
        columns = RunColumns.of(planned, feed.kept)
        recorded = None
        if html is not None or plot is not None:
            from streamcheck.report.page.run import RecordedSteps

            recorded = RecordedSteps(planned, columns)
            feed = replace(feed, rows=recorded.inputs(feed.rows))
        ran = chunks_of_run(planned, feed, steps, native=native)
        if data is not None:
            ran = _require_rows(ran, data, steps)
        _show_notes(first_notes(planned, feed.columns))
        false = Violations(planned)
        ran = _with_notes(ran, false)
        if violations:
            ran = (chunk.violations() for chunk in ran)
        ran = ran if recorded is None else recorded.chunks(ran)
        lines = {
            "table": lambda: table(columns, ran, live=feed.live),
            "wave": lambda: wave_lines(columns, ran),
            "csv": lambda: csv_lines(columns, ran),
            "json": lambda: json_lines(columns, planned, ran),
        }[shape]()
        emit(lines, flush=feed.live or sys.stdout.isatty())
        if html is not None and recorded is not None:
            recorded.page(file).write(html)
        if plot is not None and recorded is not None:
            from streamcheck.report.plot import write_plot

            write_plot([recorded.timeline()], plot)
    return VIOLATED if fail and false else 0


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


def _with_notes(chunks: Iterator[Chunk], violations: Violations) -> Iterator[Chunk]:
    """The chunks unchanged. Notes report what is false at first, and in the end how often it was."""
    for chunk in chunks:
        _show_notes(violations.add(chunk))
        yield chunk
    _show_notes(violations.totals())


def _show_notes(notes: Iterable[str]) -> None:
    for note in notes:
        click.echo(f"note: {note}", err=True)


def _require_rows(ran: Iterator[Chunk], data: str, steps: int | None) -> Iterator[Chunk]:
    """The same; SpecError at the end if the data have fewer rows."""
    done = 0
    for chunk in ran:
        done += len(chunk.steps)
        yield chunk
    require_steps(done, steps, origin_of(data))
