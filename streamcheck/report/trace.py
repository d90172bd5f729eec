"""A run as a table: a row for each name, a column for each step.

Shown are the rows that the property depends on, unless all are wanted. Equal steps in a row become one column, the
middle of a long run is left out, a wide struct has a row for each field, and a table that is wider than the terminal
continues below.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.option_words import COMMAND, OptionWords
from streamcheck.core.term import Term
from streamcheck.core.types import part_names, plural, scalar_parts
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification
from streamcheck.report.c_text import variable_text
from streamcheck.report.equations import QUOTES, term_text
from streamcheck.report.values import as_text

HEAD, TAIL = 2, 8  # shown columns of a long run: its beginning, and the steps before the violation
SHORTEST_TAIL = 3  # on a narrow terminal
WIDE, MOST_PARTS = 20, 12  # characters of a struct or an array, and parts that have rows of their own if it is wider
FEWEST_EQUAL = 4  # columns that become one, or rows
MOST_ROWS = 30  # of which none become one
FEWEST_CELLS = 20  # columns of a narrow terminal that a table may always have
INDENT = "      "
MOST_NAMES = 30  # of rows, in an error
MOST_GAPS = 3  # that are named
MARKS = "      * changed since the step before    ( ) = don't care"


TableRow: TypeAlias = tuple[str, list[str]]  # its name, and its value at each step


@dataclass(frozen=True, slots=True)
class TraceOptions:
    """`rows` are patterns of names, `steps` the first and the last; both None: what matters, and long runs cut. `also`
    are names that are shown in any case."""

    full: bool = False
    rows: tuple[str, ...] = ()
    steps: tuple[int, int] | None = None
    width: int | None = None  # of the terminal
    also: tuple[str, ...] = ()
    words: OptionWords = COMMAND  # of the options that notes mention


AS_USUAL = TraceOptions()


@dataclass(frozen=True, slots=True)
class StepRange:
    """Equal steps: one, or from `first` to `last`."""

    first: int
    last: int

    @property
    def title(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}…{self.last}"

    def by_numbers(self, run: Replay) -> StepRange:
        """The same by the steps' numbers, of places in the run."""
        return StepRange(run.numbers[self.first], run.numbers[self.last])


def row_names(problem: Problem) -> Iterator[str]:
    """The names that rows of runs may have, those of parts too."""
    if isinstance(problem, Automaton):
        for v in problem.variables:
            yield from (str(v.payload), *(variable_text(name) for name, _ in part_names(str(v.payload), v.type)))
        return
    for name, node in _all_rows(problem, problem.properties, unnamed=True):
        yield from (name, *(part for part, _ in part_names(name, node.type)))


def require_rows(problems: Sequence[Problem], patterns: Sequence[str], words: OptionWords = COMMAND) -> None:
    """SpecError if a pattern fits no row of any of the problems."""
    names = list(dict.fromkeys(name for problem in problems for name in row_names(problem))) if patterns else []
    for pattern in patterns:
        if not any(fits(name, pattern) for name in names):
            close = get_close_matches(pattern, names, 1)
            shown = ", ".join(name.strip(QUOTES) for name in names[:MOST_NAMES])
            hint = f"is {close[0].strip(QUOTES)!r} meant?" if close else f"there are {shown or 'none'}"
            more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES and not close else ""
            raise SpecError(f"{words.rows.format(pattern)}: no row of this name; {hint}{more}")


def fits(name: str, pattern: str) -> bool:
    """True if the pattern is the name, or matches it; `line 9` is the stream without a name that line 9 makes."""
    return pattern in (name, name.strip(QUOTES)) or fnmatchcase(name, pattern)


def trace_table(
    specification: Specification, claim: Claim, run: Replay, options: TraceOptions = AS_USUAL
) -> Iterator[str]:
    inputs, free = set(specification.choices()), {c.var for c in specification.cells if c.free}
    rows: list[TableRow] = []
    for name, node in rows_of(specification, claim, run, options):
        unused = [
            (node in inputs or (i == 0 and node in free)) and node.payload not in run.matters[i]
            for i in range(len(run.steps))
        ]
        rows += _texts(name, node, run, unused, options)
    first, last = options.steps or (0, 0)
    if first >= run.length:
        yield f"{INDENT}the run ends at step {run.length - 1}, before {options.words.steps.format(first, last)}"
        return
    if not rows:
        yield f"{INDENT}the run has no row called {' or '.join(options.rows)}"
        return
    rows = rows if options.full or options.rows else _fold_rows(rows)
    texts = [cells for _, cells in rows]
    table, hidden = [["step"]], 0
    for tail in range(TAIL, SHORTEST_TAIL - 1, -1):
        columns = _columns(texts, run, options, tail)
        hidden = len(run.steps) - sum(c.last - c.first + 1 for c in columns if c) if options.steps is None else 0
        table = [["step", *(c.by_numbers(run).title if c else "…" for c in columns)]]
        for name, cells in rows:
            table.append([_short(name, options.width), *(_cell(cells, c.first) if c else "" for c in columns)])
        if not hidden or sum(1 for _ in _pages(table, options.width)) == 1:
            break
    for number, page in enumerate(_pages(table, options.width)):
        yield from [""] * bool(number)
        yield from page
    yield MARKS + (f"    … = {plural(hidden, 'step')} more ({options.words.full})" if hidden else "")
    gaps = [i for i in range(len(run.steps)) if not run.follows(i)]
    for i in gaps[:MOST_GAPS]:
        begin, end = run.numbers[i - 1] + 1, run.numbers[i] - 1
        yield f"      steps {begin} to {end}, computed at once, go on as those before"
    if run.loop is not None:
        yield f"      {repeated_words(run)}"
    if len(gaps) > MOST_GAPS:
        yield f"      and so do {plural(len(gaps) - MOST_GAPS, 'later part')} of the run"


def repeated_words(run: Replay) -> str:
    """The steps that a lasso repeats."""
    last = run.length - 1
    return (
        f"step {last} is repeated forever" if run.loop == last else f"steps {run.loop} to {last} are repeated forever"
    )


def _fold_rows(rows: list[TableRow]) -> list[TableRow]:
    """Of a long table neighbours with the same values are one row."""
    if len(rows) <= MOST_ROWS:
        return rows
    folded: list[TableRow] = []
    for _, group in groupby(rows, lambda row: row[1]):
        same = list(group)
        if len(same) < FEWEST_EQUAL:
            folded += same
        else:
            folded.append((f"{same[0][0]} … {same[-1][0]}", same[0][1]))
    return folded


def _short(name: str, width: int | None) -> str:
    """The name, or its beginning if it would take more than half of the terminal."""
    room = None if width is None else max(FEWEST_CELLS, (width - len(INDENT)) // 2)
    return name if room is None or len(name) <= room else f"{name[: room - 1]}…"


def _texts(name: str, node: Term, run: Replay, unused: Sequence[bool], options: TraceOptions) -> Iterator[TableRow]:
    """The row of a stream as texts, those that may be any in parentheses; if they are wide, a row for each part. Of
    rows that are asked for, the parts that are."""
    whole = [as_text(node.type, values[node]) for values in run.steps]
    parts = list(enumerate(part_names(name, node.type)))
    if options.rows and name not in options.also and not any(fits(name, pattern) for pattern in options.rows):
        parts = [(i, (part, type)) for i, (part, type) in parts if any(fits(part, p) for p in options.rows)]
    elif max(map(len, whole)) <= WIDE or not 1 < len(parts) <= MOST_PARTS:
        yield name, [f"({text})" if free else text for text, free in zip(whole, unused, strict=True)]
        return
    scalars = [list(scalar_parts(values[node])) for values in run.steps]
    for i, (part, type) in parts:
        texts = (as_text(type, values[i]) for values in scalars)
        yield part, [f"({text})" if free else text for text, free in zip(texts, unused, strict=True)]


def rows_of(
    specification: Specification, claim: Claim, run: Replay, options: TraceOptions
) -> Iterator[tuple[str, Term]]:
    """Externs first, then the user's streams, then the property: those that the violation depends on, unless all are
    wanted. A term with several names is shown once. Names that two rows have get a word before them."""
    shown = run.causes & specification.needed_by([claim.term])
    first: dict[Term, str] = {}
    for name, node in _all_rows(specification, [claim], unnamed=bool(options.rows)):
        if node not in run.steps[-1]:
            continue  # not known after many rounds
        if options.full or options.rows or node in shown or node is claim.term or name in options.also:
            first.setdefault(node, name)
            if any(fits(name, pattern) for pattern in options.rows):
                first[node] = name
    for node, name in first.items():
        yield name, node


def _all_rows(specification: Specification, claims: Sequence[Claim], *, unnamed: bool) -> Iterator[tuple[str, Term]]:
    """Every row of tables for these claims; those of streams without names too, if they are wanted. A term may have
    several."""
    below = specification.needed_by([c.term for c in claims])
    rows: list[tuple[str, Term]] = [(i.name, i.var) for i in specification.inputs]
    rows += [(specification.labels[c.var], c.var) for c in specification.constants if c.var in below]
    rows += [
        (c.name if c.named else term_text(specification, c.var), c.var)
        for c in specification.cells
        if unnamed or c.free or c.named
    ]
    rows += [(w.name, w.term) for w in specification.wires]
    taken = {name for name, _ in rows}
    rows += [(_apart("observer", o.name, taken), o.term) for o in specification.observers]
    taken |= {name for name, _ in rows}
    yield from rows
    yield from ((_apart("prop", c.name, taken), c.term) for c in claims)


def _apart(kind: str, name: str, taken: set[str]) -> str:
    return f"{kind} {name}" if name in taken else name


def _cell(texts: Sequence[str], i: int) -> str:
    text = texts[i]
    if text.startswith("("):
        return text
    return f"{text}*" if i > 0 and text != texts[i - 1].strip("()") else f"{text} "


def _columns(texts: Sequence[Sequence[str]], run: Replay, options: TraceOptions, tail: int) -> list[StepRange | None]:
    """The steps that are shown, equal ones as one; None for those left out before the last columns, the `tail`, and for
    those that the run does not have."""
    first, last = options.steps or (0, run.length - 1)
    end = len(run.steps) - 1
    steps = list(zip(*texts, strict=True)) if texts else [()] * len(run.steps)
    columns: list[StepRange] = []
    for i in range(end + 1):
        if not first <= run.numbers[i] <= last:
            continue
        if columns and i < end and run.follows(i) and steps[i] == steps[columns[-1].first]:
            columns[-1] = StepRange(columns[-1].first, i)
        else:
            columns.append(StepRange(i, i))
    spread = [part for c in columns for part in _spread(c, run)]
    if options.full or options.steps or len(spread) <= HEAD + TAIL + 1:
        return spread
    rest = spread[-tail:]
    return [*spread[:HEAD], None, *(rest if rest[0] else rest[1:])]


def _spread(column: StepRange, run: Replay) -> list[StepRange | None]:
    """A few equal steps as a column each, after None if steps are missing before them."""
    missing = [] if run.follows(column.first) else [None]
    if column.last - column.first + 1 >= FEWEST_EQUAL:
        return [*missing, column]
    return [*missing, *(StepRange(i, i) for i in range(column.first, column.last + 1))]


def _pages(table: list[list[str]], width: int | None) -> Iterator[list[str]]:
    """The lines of the table; of a wide one part after part, each with the names."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    room = max(FEWEST_CELLS, width - len(INDENT) - widths[0]) if width else None
    begin = 1
    while begin < len(widths) or begin == 1:
        end, used = begin, 0
        while end < len(widths) and (room is None or end == begin or used + 2 + widths[end] <= room):
            used += 2 + widths[end]
            end += 1
        yield [_line(row, widths, begin, end) for row in table]
        begin = max(end, begin + 1)


def _line(row: list[str], widths: list[int], begin: int, end: int) -> str:
    cells = [c.rjust(w) for c, w in zip(row[begin:end], widths[begin:end], strict=True)]
    return (INDENT + "  ".join([row[0].ljust(widths[0]), *cells])).rstrip()
