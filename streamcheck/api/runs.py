"""Runs of the interpreter from Python: over samples, rows and data frames; an iterator over the steps, a timeline in
notebooks, a DataFrame."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from itertools import islice, repeat
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from streamcheck.api.arguments import check_arguments
from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import closest, did_you_mean
from streamcheck.core.location import here
from streamcheck.interpret.step import Step

if TYPE_CHECKING:
    from streamcheck.core.term import Term
    from streamcheck.core.types import Value
    from streamcheck.interpret.data import DataColumns
    from streamcheck.interpret.python_code import Plan
    from streamcheck.problem.specification import Specification

DEFAULT_STEPS = 10  # of a run whose samples have no end
MOST_SHOWN = 200  # steps that a notebook shows

RunInputs: TypeAlias = Mapping[str, Any] | Iterable[Any] | PathLike[str] | None


class Samples(NamedTuple):
    """Rows of samples. `has_end`: some are a list, so that the run has an end of its own."""

    has_end: bool
    rows: Iterator[tuple[Value, ...]]


class RunSource(ABC):
    """The part of a spec or a file that a run takes."""

    specification: Specification

    @abstractmethod
    def samples(self, inputs: Sequence[Term]) -> Samples:
        """The samples of these inputs. SpecError if one has none."""


class InterpretedRun(Iterator[Step]):
    """The steps of a run, each computed when it is asked for."""

    def __init__(self, planned: Plan, rows: Iterator[tuple[Value, ...]]) -> None:
        from streamcheck.interpret.python_code import stepper

        self._planned = planned
        self._steps = stepper(planned)(rows)
        self._ahead: deque[Step] = deque()  # computed for a picture, and not taken yet
        self._failure: SpecError | None = None  # of the step after these
        self._taken = 0

    def __next__(self) -> Step:
        if not self._ahead and self._failure is not None:
            raise self._failure
        step = self._ahead.popleft() if self._ahead else next(self._steps)
        self._taken = step.step + 1
        return step

    def __str__(self) -> str:
        """The next steps as the command prints them, and why there are no more if that is an error. They can still be
        taken."""
        from streamcheck.interpret.chunks import chunk_of
        from streamcheck.report.steps import RunColumns, table

        steps = self._look_ahead()
        chunk = chunk_of(self._planned, steps, [()] * len(steps))
        lines = table(RunColumns.of(self._planned), iter([chunk]), live=False)
        return "\n".join([*lines, *([] if self._failure is None else [f"error: {self._failure}"])])

    def __repr__(self) -> str:
        return f"<run of {self._planned.specification.name}; the next step is {self._taken}>"

    @check_arguments
    def to_pandas(self) -> Any:
        """The steps that are left as a DataFrame; needs pandas. A trigger's column has its arguments, or None; there is
        a column for each observer, and one for each property and assumption."""
        from streamcheck.report.steps import RunColumns

        pandas = import_module("pandas")
        columns = RunColumns.of(self._planned)
        steps = list(self)
        rows = [columns.values(step) for step in steps]
        index = pandas.Index([step.step for step in steps], name="step")
        return pandas.DataFrame(rows, index=index, columns=columns.titles[1:])

    def _repr_html_(self) -> str:
        """The same as a timeline."""
        from streamcheck.report.timeline import run_of_steps

        steps = self._look_ahead()
        note = "" if self._failure is None else f"<pre>{html.escape(str(self._failure))}</pre>"
        return run_of_steps(self._planned.specification, steps) + note

    def _look_ahead(self) -> list[Step]:
        try:
            self._ahead.extend(islice(self._steps, max(0, MOST_SHOWN - len(self._ahead))))
        except SpecError as failure:
            self._failure = failure
        return list(self._ahead)


def start_run(source: RunSource, steps: int | None, inputs: RunInputs, *, ignore_extra: bool) -> InterpretedRun:
    """The run on these inputs: values by name and then step, or rows, else samples."""
    from streamcheck.interpret.data import DataColumns
    from streamcheck.interpret.python_code import plan

    planned = plan(source.specification)
    if inputs is None or isinstance(inputs, Mapping):
        given = dict(inputs or {})
        if not ignore_extra:
            _check_names(source.specification, given)
        return InterpretedRun(planned, _sampled_rows(source, planned, given, steps))
    columns = DataColumns.of(planned, ignore_extra=ignore_extra, leave_out="ignore_extra=True")
    if isinstance(inputs, str | PathLike):
        rows = _file_rows(fspath(inputs), columns)
    else:
        rows = _frame_rows(inputs, columns) if hasattr(inputs, "to_dict") else _mapped_rows(inputs, columns)
    return InterpretedRun(planned, islice(rows, steps))


def _sampled_rows(
    source: RunSource, planned: Plan, given: Mapping[str, Any], steps: int | None
) -> Iterator[tuple[Value, ...]]:
    """The rows of values that are given by name, and of samples for the other inputs."""
    from streamcheck.interpret.samples import given_values

    feeds = {v: given_values(v.payload, v.type, given[v.payload]) for v in planned.inputs if v.payload in given}
    others = [v for v in planned.inputs if v not in feeds]
    samples = source.samples(others) if others else Samples(False, repeat(()))
    has_end = samples.has_end or any(hasattr(given[v.payload], "__len__") for v in feeds)

    def rows() -> Iterator[tuple[Value, ...]]:
        for row in samples.rows:
            values = dict(zip(others, row, strict=True))
            yield tuple([values[v] if v in values else next(feeds[v]) for v in planned.inputs])

    if steps is None:
        return _until_the_end(rows()) if has_end else islice(rows(), DEFAULT_STEPS)
    return islice(rows(), steps)


def _until_the_end(rows: Iterator[tuple[Value, ...]]) -> Iterator[tuple[Value, ...]]:
    from streamcheck.interpret.samples import OutOfSamples

    with suppress(OutOfSamples):
        yield from rows


def _check_names(specification: Specification, given: Mapping[str, Any]) -> None:
    known = [i.name for i in specification.inputs]
    for name in given:
        if name not in known and name not in specification.unused:
            meant = did_you_mean(closest(str(name), known)) or f"; it has {', '.join(known)}"
            raise SpecError(f'{specification.name} has no input named "{name}"{meant}', here())


def _file_rows(path: str, columns: DataColumns) -> Iterator[tuple[Value, ...]]:
    """The rows of a log, whose header is checked at once."""
    from streamcheck.interpret.data import is_json_file, open_log, read_rows
    from streamcheck.interpret.parquet import read_parquet

    if path.endswith(".parquet"):
        recorded = read_parquet(path, columns)
    else:
        recorded = read_rows(open_log(path), path, columns, "json" if is_json_file(path) else "csv")
    return (row[: len(columns.needed)] for row in recorded.rows)


def _frame_rows(frame: Any, columns: DataColumns) -> Iterator[tuple[Value, ...]]:
    """The rows of a DataFrame, whose columns are checked at once."""
    from streamcheck.interpret.data import NamedRows

    form = NamedRows.of([str(name) for name in frame.columns], "the DataFrame", columns)
    records = frame.set_axis([str(name) for name in frame.columns], axis="columns").to_dict("records")
    width = len(columns.needed)  # behind them are texts that a run does not read
    return (form.values(row, f"row {i} of the DataFrame")[:width] for i, row in enumerate(records))


def _mapped_rows(rows: Iterable[Any], columns: DataColumns) -> Iterator[tuple[Value, ...]]:
    """The rows of an iterable. Their columns are checked whenever they are not those of the row before."""
    from streamcheck.interpret.data import NamedRows

    form = None
    for i, row in enumerate(rows):
        where = f"row {i} of the inputs"
        if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
            raise SpecError(f"{where}: expected a dictionary of inputs and their values, found {row!r}")
        if form is None or form.names != tuple(row):
            form = NamedRows.of(tuple(row), where, columns)
        yield form.values(row, where)[: len(columns.needed)]
