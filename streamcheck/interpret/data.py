"""Recorded inputs: CSV, JSON lines and Parquet, read row by row as they come.

A column is an extern; in CSV and Parquet a struct or an array may have one for each scalar in it (`pos.x`, `cells.0`).
Booleans are true or false, enums their members' names, Real also as 1/3. A JSON line is an object of externs. Every
error names its row and column. Columns that are no inputs may be kept as text, for the output: those of `KEPT` are.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from typing import Any, Literal, TextIO, TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import closest
from streamcheck.core.term import Term
from streamcheck.core.types import (
    ArrayType,
    MachineType,
    Misfit,
    StructType,
    Type,
    Value,
    assemble,
    belongs,
    default,
    part_names,
    plural,
)
from streamcheck.interpret.log_text import LogText
from streamcheck.interpret.python_code import Plan

STEP = "step"  # a column with the number of the row, which is not read
KEPT = ("time", "timestamp", "date", "datetime")  # in any case
SEPARATORS = (";", "\t", "|")
DataForm: TypeAlias = Literal["csv", "json"]


@dataclass(frozen=True, slots=True)
class DataColumns:
    """The columns that a run reads, and those that it may find beside them. `optional` inputs that the data lacks have
    their types' default values; `unused` externs are declared, and nothing reads them."""

    needed: Sequence[Term]
    known: Sequence[str]
    optional: frozenset[Term] = frozenset()
    unused: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    ignore_extra: bool = False

    @staticmethod
    def of(planned: Plan, keep: tuple[str, ...] = (), *, ignore_extra: bool) -> DataColumns:
        """The columns for a run of the plan."""
        inputs = planned.specification.inputs
        optional = frozenset(i.var for i in inputs if not i.extern)
        names, unused = [i.name for i in inputs], planned.specification.unused
        return DataColumns(planned.inputs, names, optional, unused, keep, ignore_extra)

    def kept(self, names: Sequence[str], origin: str) -> tuple[str, ...]:
        """The columns of these names that are kept."""
        for name in self.keep:
            if name not in names:
                raise SpecError(f"{origin}: no column {name!r} to keep; there are {', '.join(names)}")
        inputs = {*self.known, *self.unused}
        return tuple(n for n in names if n in self.keep or (n.lower() in KEPT and n not in inputs))

    def check(self, name: str, names: Sequence[str], kept: Iterable[str], where: str) -> None:
        """Refuse a column that is no input. `names` are those of the inputs' columns."""
        inputs = {*self.known, *self.unused}
        if self.ignore_extra or name == STEP or name in {*kept, *inputs, *names} or name.split(".")[0] in inputs:
            return
        allowed = sorted({*names, *self.known})
        close = closest(name, allowed)
        there_are = f"the inputs are {', '.join(allowed)}" if allowed else "it has none"
        hint = f"; is {close!r} meant?" if close else f"; {there_are}"
        raise SpecError(f"{where} {name!r} is not an input of this spec{hint} (--ignore-extra leaves it out)")


@dataclass(frozen=True, slots=True)
class RecordedRows:
    """The values of the needed inputs in each row, then the texts of the columns that are kept. `columns` are those of
    the data, as far as its beginning says."""

    columns: tuple[str, ...]
    kept: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def open_log(path: str) -> TextIO:
    """The file as text. SpecError if it cannot be opened."""
    try:
        return open(path, encoding="utf-8-sig", newline="")
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None


def is_json_file(path: str) -> bool:
    return path.endswith((".json", ".jsonl"))


def read_rows(file: Iterable[str], origin: str, columns: DataColumns, form: DataForm) -> RecordedRows:
    """The rows of a text file, which is read as far as the kept columns ask for."""
    try:
        recorded = _json_rows(file, origin, columns) if form == "json" else _csv_rows(file, origin, columns)
    except (UnicodeDecodeError, csv.Error) as why:
        raise not_text(origin, why) from None
    return RecordedRows(recorded.columns, recorded.kept, _as_text(recorded.rows, origin))


def _as_text(rows: Iterator[tuple[Any, ...]], origin: str) -> Iterator[tuple[Any, ...]]:
    try:
        yield from rows
    except (UnicodeDecodeError, csv.Error) as why:
        raise not_text(origin, why) from None


def not_text(origin: str, why: UnicodeDecodeError | csv.Error) -> SpecError:
    """The error for a file that is no text, or no CSV."""
    if isinstance(why, UnicodeDecodeError):
        return SpecError(f"{origin}: not UTF-8 text ({why.reason})")
    return SpecError(f"{origin}: not CSV ({why})")


# CSV


@dataclass(frozen=True, slots=True)
class CsvForm:
    """How the rows of a CSV file become values: by its header. `absent` are optional inputs without a column."""

    origin: str
    header: tuple[str, ...]
    kept: tuple[str, ...]
    absent: frozenset[Term]
    readers: Sequence[Callable[[list[str]], Any]]

    def rows(self, lines: Any, before: int = 0) -> Iterator[tuple[Any, ...]]:
        """The values of the rows of a `csv.reader` that begins after so many lines of the file."""
        width, readers = len(self.header), self.readers
        for row in lines:
            if len(row) != width:
                if not row or row == [""]:
                    continue
                where, values = f"{self.origin}:{before + lines.line_num}", plural(len(row), "value")
                raise SpecError(f"{where}: this row has {values}, the header has {plural(width, 'column')}")
            try:
                yield tuple([read(row) for read in readers])
            except _BadColumn as bad:
                raise SpecError(f"{self.origin}:{before + lines.line_num}: column {bad.column}: {bad.why}") from None


def _csv_form(lines: Iterator[list[str]], origin: str, columns: DataColumns) -> CsvForm:
    """The form of a file, whose header is read."""
    header = [column.strip().removeprefix("\ufeff") for column in next(lines, [])]
    if not header:
        names = ", ".join(columns.known) or f"or is `{STEP}` if there are none"
        raise SpecError(f"{origin}:1: no header: the first row names the inputs, {names}")
    absent = frozenset(v for v in columns.optional if not any(n in header for n, _ in _columns(v)))
    kept = columns.kept(header, f"{origin}:1")
    _check_header(header, origin, [v for v in columns.needed if v not in absent], columns, kept)
    readers: list[Callable[[list[str]], Any]]
    readers = [_default_of(v.type) if v in absent else _columns_reader(v, header) for v in columns.needed]
    readers += [_text_reader(header.index(name)) for name in kept]
    return CsvForm(origin, tuple(header), kept, absent, readers)


def read_form(text: LogText, origin: str, columns: DataColumns) -> CsvForm:
    """The form of a text that is read no further than its header."""
    try:
        return _csv_form(csv.reader(text), origin, columns)
    except (UnicodeDecodeError, csv.Error) as why:
        raise not_text(origin, why) from None


def _csv_rows(file: Iterable[str], origin: str, columns: DataColumns) -> RecordedRows:
    lines = csv.reader(file)
    form = _csv_form(lines, origin, columns)
    return RecordedRows(form.header, form.kept, form.rows(lines))


def _text_reader(position: int) -> Callable[[list[str]], str]:
    return lambda row: row[position]


def _default_of(type: Type) -> Callable[[list[str]], Value]:
    value = default(type)
    return lambda _: value


def _columns_reader(var: Term, header: list[str]) -> Callable[[list[str]], Value]:
    return _column_reader(var.type, [header.index(n) for n, _ in _columns(var)], header)


def _columns(var: Term) -> list[tuple[str, Type]]:
    return list(part_names(var.payload, var.type))


def _check_header(
    header: list[str], origin: str, needed: Sequence[Term], columns: DataColumns, kept: tuple[str, ...]
) -> None:
    required = [name for v in needed for name, _ in _columns(v)]
    if len(header) == 1 and header[0] not in required:
        for separator in SEPARATORS:
            if {part.strip() for part in header[0].split(separator)}.intersection(required):
                raise SpecError(f"{origin}:1: the values are separated by {separator!r}; CSV has commas")
    for i, column in enumerate(header):
        if header.index(column) != i:
            raise SpecError(f"{origin}:1: column {column} appears twice")
        columns.check(column, required, kept, f"{origin}:1: column")
    missing = [name for name in required if name not in header]
    if missing:
        raise SpecError(f"{origin}:1: no column for {', '.join(missing)}")


class _BadColumn(Exception):
    def __init__(self, column: str, why: str) -> None:
        super().__init__(why)
        self.column, self.why = column, why


def _column_reader(type: Type, positions: list[int], header: list[str]) -> Callable[[list[str]], Value]:
    if isinstance(type, ArrayType | StructType):
        parts = [t for _, t in part_names("", type)]

        def composite(row: list[str]) -> Value:
            scalars = [_parse(t, row[i], header[i]) for t, i in zip(parts, positions, strict=True)]
            return assemble(type, iter(scalars))

        return composite
    position, name = positions[0], header[positions[0]]
    if isinstance(type, MachineType):
        low, high = type.low, type.high

        def machine(row: list[str]) -> Value:
            text = row[position]
            try:
                value = int(text)
            except ValueError:
                return _parse(type, text, name)
            return value if low <= value <= high else _parse(type, text, name)

        return machine
    if type.kind == "bool":
        plain = {"true": True, "false": False, "1": True, "0": False}

        def boolean(row: list[str]) -> Value:
            value = plain.get(row[position])
            return _parse(type, row[position], name) if value is None else value

        return boolean
    return lambda row: _parse(type, row[position], name)


def _parse(type: Type, text: str, column: str) -> Value:
    try:
        return belongs(type, _scalar(type, text.strip()))
    except Misfit as why:
        raise _BadColumn(column, str(why)) from None


def _scalar(type: Type, text: str) -> Any:
    if not text:
        raise Misfit(f"empty; a {type} is needed")
    if type.kind == "bool":
        truth = {"true": True, "false": False, "1": True, "0": False}.get(text.lower())
        if truth is None:
            raise Misfit(f"{text!r} is not a Bool: true or false")
        return truth
    if type.kind == "enum":
        return text.rsplit(".", 1)[-1]
    try:
        if type.is_integer:
            return int(text)
        if type.kind == "real" and abs(int((re.search(r"[eE]([+-]?[0-9]+)$", text) or ["", "0"])[1])) > 9999:
            raise Misfit(f"the exponent of {text!r} is too large (at most 9999)")
        return Fraction(text) if type.kind == "real" else float(text)
    except (ValueError, ZeroDivisionError):
        raise Misfit(f"{text!r} is not a {type}") from None


# JSON lines


def _json_rows(file: Iterable[str], origin: str, columns: DataColumns) -> RecordedRows:
    rows = _json_objects(file, origin)
    first = next(rows, None)
    names = tuple(first[1]) if first else ()
    kept = columns.kept(names, origin) if first else ()
    known = list(columns.known)

    def values() -> Iterator[tuple[Any, ...]]:
        for where, row in chain([first] if first else [], rows):
            for key in row:
                columns.check(key, known, kept, f"{where}:")
            yield row_values(row, columns, kept, where)

    return RecordedRows(names, kept, values())


def _json_objects(file: Iterable[str], origin: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects, each with its line."""
    for number, line in enumerate(file, 1):
        where = f"{origin}:{number}"
        if not line.strip():
            continue
        if number == 1 and line.strip() == "{":
            yield from _recorded_run(line + "".join(file), origin)
            return
        try:
            row = json.loads(line, parse_float=ExactDecimal)
        except (ValueError, RecursionError) as why:
            raise SpecError(f"{where}: not a JSON object: {why}") from None
        if not isinstance(row, dict):
            raise SpecError(f"{where}: not a JSON object")
        yield where, row


def _recorded_run(text: str, origin: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The inputs at each step of a run that `prove --trace json` wrote."""
    try:
        whole = json.loads(text, parse_float=ExactDecimal)
        inputs = {name: whole["rows"][name] for name in whole["inputs"]}
        steps = [{name: values[i] for name, values in inputs.items()} for i in range(whole["length"])]
    except (ValueError, RecursionError, LookupError, TypeError):
        raise SpecError(f"{origin}: neither JSON lines nor a run that `prove --trace json` wrote") from None
    yield from ((f"{origin}: step {i}", row) for i, row in enumerate(steps))


def row_values(row: Mapping[str, Any], columns: DataColumns, kept: Iterable[str], where: str) -> tuple[Any, ...]:
    """The values of the inputs by name, and the texts that are kept."""
    given = {str(v.payload): default(v.type) for v in columns.optional} | dict(row)
    return (*(_json_value(given, v, where) for v in columns.needed), *(_kept_text(row.get(n)) for n in kept))


@dataclass(frozen=True, slots=True)
class NamedRows:
    """Rows with a value for each of these names. `spread` are the inputs with a column for each of their parts."""

    names: tuple[str, ...]
    columns: DataColumns
    kept: tuple[str, ...]
    spread: tuple[Term, ...]

    @staticmethod
    def of(names: Sequence[str], origin: str, columns: DataColumns) -> NamedRows:
        """SpecError if a name is no input, or an input has no column."""
        kept = columns.kept(names, origin)
        parts = [name for v in columns.needed for name, _ in _columns(v)]
        for name in names:
            columns.check(name, parts, kept, f"{origin}: column")
        spread = tuple(v for v in columns.needed if v.payload not in names and v not in columns.optional)
        for v in spread:
            missing = [name for name, _ in _columns(v) if name not in names]
            if missing:
                raise SpecError(f"{origin}: no column for {', '.join(missing)}")
        return NamedRows(tuple(names), columns, kept, spread)

    def columns_read(self) -> list[str]:
        """The columns that a run reads."""
        read = [str(v.payload) for v in self.columns.needed if v not in self.spread]
        read += [name for v in self.spread for name, _ in _columns(v)]
        return [name for name in dict.fromkeys([*read, *self.kept]) if name in self.names]

    def values(self, row: Mapping[str, Any], where: str) -> tuple[Any, ...]:
        """The values of the inputs, then the texts that are kept."""
        whole = {v.payload: assemble(v.type, iter([row[name] for name, _ in _columns(v)])) for v in self.spread}
        return row_values({**row, **whole}, self.columns, self.kept, where)


def _kept_text(value: object) -> str:
    return "" if value is None else str(value)


class ExactDecimal(float):
    """A decimal with its text: `Real` takes it exactly."""

    def __new__(cls, text: str) -> ExactDecimal:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def _json_value(row: Mapping[str, Any], var: Term, where: str) -> Value:
    if var.payload not in row:
        raise SpecError(f"{where}: no value for {var.payload}")
    value = row[var.payload]
    try:
        if isinstance(value, str) and var.type.kind in ("float", "real"):
            return belongs(var.type, _scalar(var.type, value))
        return belongs(var.type, value)
    except Misfit as why:
        raise SpecError(f"{where}: column {var.payload}: {why}") from None
