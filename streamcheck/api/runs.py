"""Runs of the interpreter from Python: over samples, rows and data frames; an iterator over the steps, a timeline in
notebooks, a DataFrame."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, islice, repeat
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from streamcheck.api.arguments import check_arguments
from streamcheck.api.extras import require_pandas
from streamcheck.api.wording import speak_python
from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import closest, did_you_mean
from streamcheck.core.location import here
from streamcheck.interpret.step import Step

if TYPE_CHECKING:
    from streamcheck.core.term import Term
    from streamcheck.core.types import Value
    from streamcheck.deliver.feeds import Feed
    from streamcheck.interpret.data import DataColumns, NamedRows
    from streamcheck.interpret.python_code import Plan
    from streamcheck.problem.specification import Specification
    from streamcheck.report.page.run import RecordedSteps
    from streamcheck.report.steps import RunColumns

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


@dataclass(frozen=True, slots=True)
class RunWishes:
    """The options of a run: columns of the data that are shown too, only the steps at which a claim is false, an error
    in the end if there are any, and compiled code in place of the interpreter."""

    keep: tuple[str, ...] = ()
    ignore_extra: bool = False
    violations: bool = False
    fail: bool = False
    native: bool = False
    html: str | None = None  # a file for the page of the run
    plot: str | None = None  # a file for its picture


class InterpretedRun(Iterator[Step]):
    """The steps of a run, each computed when it is asked for."""

    def __init__(self, planned: Plan, feed: Feed, steps: int | None, wishes: RunWishes, data: str = "") -> None:
        """`data`: the name of the data, which must have so many steps."""
        from streamcheck.deliver.feeds import Violations, first_notes

        self._planned = planned
        self._wishes = wishes
        self._kept = feed.kept
        self._recorded = self._recorder() if wishes.html is not None or wishes.plot is not None else None
        if self._recorded is not None:
            feed = replace(feed, rows=self._recorded.inputs(feed.rows))
        self._steps = self._run(_steps(planned, feed, steps, wishes), steps if data else None, data)
        self._ahead: deque[Step] = deque()  # computed for a picture, and not taken yet
        self._failure: SpecError | None = None  # of the step after these
        self._taken = 0
        self._false = Violations(planned)
        self._notes = list(first_notes(planned, feed.columns))

    def _run(self, steps: Iterator[Step], wanted: int | None, data: str) -> Iterator[Step]:
        """The steps that are shown. What is false is noted."""
        from streamcheck.deliver.feeds import require_steps
        from streamcheck.interpret.chunks import chunk_of

        done, broken = 0, []
        for step in steps:
            done += 1
            is_violation = bool(step.broken or step.unmet)
            if is_violation:
                notes = self._false.add(chunk_of(self._planned, [step], [tuple(step.kept.values())]))
                broken += notes
                self._notes += notes
            if is_violation or not self._wishes.violations:
                if self._recorded is not None:
                    self._recorded.add(chunk_of(self._planned, [step], [tuple(step.kept.values())]))
                yield step
        self._notes += self._false.totals()
        self._write_pictures(data)
        require_steps(done, wanted, data)
        if self._wishes.fail and broken:
            raise SpecError("; ".join(broken))

    def _write_pictures(self, data: str) -> None:
        if self._recorded is not None and self._wishes.html is not None:
            self._recorded.page(data or self._planned.specification.name).write(self._wishes.html)
        if self._recorded is not None and self._wishes.plot is not None:
            from streamcheck.report.plot import write_plot

            write_plot([self._recorded.timeline()], self._wishes.plot)

    def _recorder(self) -> RecordedSteps:
        from streamcheck.report.page.run import RecordedSteps

        return RecordedSteps(self._planned, self._columns())

    def __next__(self) -> Step:
        if not self._ahead and self._failure is not None:
            raise self._failure
        step = self._ahead.popleft() if self._ahead else self._next()
        self._taken = step.step + 1
        return step

    def _next(self) -> Step:
        try:
            return next(self._steps)
        except SpecError as mistake:
            speak_python(mistake)
            raise

    @property
    def notes(self) -> list[str]:
        """Notes, as of the command, on the steps computed so far: which properties and assumptions are false, and when
        at first."""
        return list(self._notes)

    @property
    def ok(self) -> bool:
        """True if no property and no assumption is false at a step computed so far."""
        return not self._false

    def __str__(self) -> str:
        """The next steps as the command prints them, its notes, and why there are no more if that is an error. They can
        still be taken."""
        from streamcheck.interpret.chunks import chunk_of
        from streamcheck.report.steps import table

        steps = self._look_ahead()
        chunk = chunk_of(self._planned, steps, [tuple(step.kept.values()) for step in steps])
        lines = [*table(self._columns(), iter([chunk]), live=False), *(f"note: {note}" for note in self._notes)]
        return "\n".join([*lines, *([] if self._failure is None else [f"error: {self._failure}"])])

    def __repr__(self) -> str:
        return f"<run of {self._planned.specification.name}; the next step is {self._taken}>"

    @check_arguments
    def to_pandas(self) -> Any:
        """The steps that are left as a DataFrame; needs pandas. A trigger's column has its arguments, or None; there is
        a column for each observer, and one for each property and assumption."""
        pandas = require_pandas()
        columns = self._columns()
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

    def _columns(self) -> RunColumns:
        from streamcheck.report.steps import RunColumns

        return RunColumns.of(self._planned, self._kept)

    def _look_ahead(self) -> list[Step]:
        try:
            while len(self._ahead) < MOST_SHOWN:
                self._ahead.append(self._next())
        except StopIteration:
            pass
        except SpecError as failure:
            self._failure = failure
        return list(self._ahead)


def _steps(planned: Plan, feed: Feed, steps: int | None, wishes: RunWishes) -> Iterator[Step]:
    """The run step by step."""
    from streamcheck.deliver.feeds import chunks_of_run
    from streamcheck.interpret.chunks import interpret_steps, steps_of

    if not wishes.native:
        return interpret_steps(planned, islice(feed.rows, steps), feed.kept)
    chunks = chunks_of_run(planned, feed, steps, native=True)
    return chain.from_iterable(steps_of(planned, chunk, feed.kept) for chunk in chunks)


def start_run(source: RunSource, steps: int | None, inputs: RunInputs, wishes: RunWishes) -> InterpretedRun:
    """The run on these inputs: values by name and then step, or rows, else samples."""
    from streamcheck.deliver.feeds import Feed, keep_needs_data, open_feed
    from streamcheck.interpret.data import DataColumns
    from streamcheck.interpret.python_code import plan

    planned = plan(source.specification)
    if inputs is None or isinstance(inputs, Mapping):
        if wishes.keep:
            raise keep_needs_data(f"keep=[{wishes.keep[0]!r}]", "inputs=…, rows or a log")
        given = dict(inputs or {})
        if not wishes.ignore_extra:
            _check_names(source.specification, given)
        return InterpretedRun(planned, Feed(_sampled_rows(source, planned, given, steps)), None, wishes)
    columns = DataColumns.of(planned, wishes.keep, ignore_extra=wishes.ignore_extra)
    if isinstance(inputs, str | PathLike):
        path = fspath(inputs)
        return InterpretedRun(planned, open_feed(path, columns, native=wishes.native), steps, wishes, path)
    feed = _frame_feed(inputs, columns) if hasattr(inputs, "to_dict") else _mapped_feed(inputs, columns)
    return InterpretedRun(planned, feed, steps, wishes, "inputs=…")


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


def _frame_feed(frame: Any, columns: DataColumns) -> Feed:
    """The rows of a DataFrame, whose columns are checked at once."""
    from streamcheck.deliver.feeds import Feed
    from streamcheck.interpret.data import NamedRows

    names = tuple(str(name) for name in frame.columns)
    form = NamedRows.of(names, "the DataFrame", columns)
    records = frame.set_axis(list(names), axis="columns").to_dict("records")
    rows = (form.values(row, f"row {i} of the DataFrame") for i, row in enumerate(records))
    return Feed(rows, names, form.kept)


def _mapped_feed(rows: Iterable[Any], columns: DataColumns) -> Feed:
    """The rows of an iterable. The first has the columns that are kept."""
    from streamcheck.deliver.feeds import Feed

    source = iter(rows)
    first = list(islice(source, 1))
    if not first:
        return Feed(iter(()))
    form = _form_of(first[0], 0, columns)
    return Feed(_mapped_rows(chain(first, source), form), form.names, form.kept)


def _mapped_rows(rows: Iterable[Any], form: NamedRows) -> Iterator[tuple[Value, ...]]:
    """The values of rows. Their columns are checked whenever they are not those of the row before; the first row's are
    kept."""
    kept = form.kept
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping) or form.names != tuple(row):
            form = replace(_form_of(row, i, form.columns), kept=kept)
        yield form.values(row, _row_name(i))


def _form_of(row: Any, number: int, columns: DataColumns) -> NamedRows:
    """How a row becomes values. SpecError if it is none of the spec's."""
    from streamcheck.interpret.data import NamedRows

    where = _row_name(number)
    if not isinstance(row, Mapping) or not all(isinstance(name, str) for name in row):
        raise SpecError(f"{where}: expected a dictionary of inputs and their values, found {row!r}")
    return NamedRows.of(tuple(row), where, columns)


def _row_name(number: int) -> str:
    return f"row {number} of the inputs"
