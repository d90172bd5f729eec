"""Recorded inputs: CSV and JSON lines, read row by row as they come.

A CSV column is an extern; a struct or an array has one column for each scalar in it (`pos.x`, `cells.0`). Booleans
are true or false, enums their members' names, Real also as 1/3. A JSON line is an object of externs. Every error
names its row and column.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.core.types import (
    ArrayType,
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


def read_rows(
    file: Iterable[str],
    origin: str,
    *,
    json_lines: bool,
    needed: Sequence[Term],
    known: Iterable[str],
    optional: Iterable[Term] = (),
    ignore_extra: bool = False,
) -> Iterator[tuple[Value, ...]]:
    """The rows of the needed inputs. Other columns must be known inputs, unless they are ignored. An optional input
    that the data lacks has its type's default value."""
    reader = _json_rows if json_lines else _csv_rows
    try:
        yield from reader(file, origin, needed, None if ignore_extra else list(known), set(optional))
    except UnicodeDecodeError as why:
        raise SpecError(f"{origin}: not UTF-8 text ({why.reason})") from None
    except csv.Error as why:
        raise SpecError(f"{origin}: not CSV ({why})") from None


# CSV


def _csv_rows(
    file: Iterable[str], origin: str, needed: Sequence[Term], known: list[str] | None, optional: set[Term]
) -> Iterator[tuple[Value, ...]]:
    lines = csv.reader(file)
    header = [column.strip().removeprefix("\ufeff") for column in next(lines, [])]
    if not header:
        raise SpecError(f"{origin}:1: no header: the first row names the inputs, {', '.join(known or ())}")
    absent = {v for v in optional if not any(n in header for n, _ in _columns(v))}
    _check_header(header, origin, [v for v in needed if v not in absent], known)
    width = len(header)
    readers = [_default_of(v.type) if v in absent else _columns_reader(v, header) for v in needed]
    for row in lines:
        where = f"{origin}:{lines.line_num}"
        if not row or row == [""]:
            continue
        if len(row) != width:
            raise SpecError(
                f"{where}: this row has {plural(len(row), 'value')}, the header has {plural(width, 'column')}"
            )
        try:
            yield tuple(read(row) for read in readers)
        except _BadColumn as bad:
            raise SpecError(f"{where}: column {bad.column}: {bad.why}") from None


def _default_of(type: Type) -> Callable[[list[str]], Value]:
    value = default(type)
    return lambda _: value


def _columns_reader(var: Term, header: list[str]) -> Callable[[list[str]], Value]:
    return _column_reader(var.type, [header.index(n) for n, _ in _columns(var)], header)


def _columns(var: Term) -> list[tuple[str, Type]]:
    return list(part_names(var.payload, var.type))


def _check_header(header: list[str], origin: str, needed: Sequence[Term], known: list[str] | None) -> None:
    required = [name for v in needed for name, _ in _columns(v)]
    allowed = {*required, *(known or ())}
    for i, column in enumerate(header):
        if header.index(column) != i:
            raise SpecError(f"{origin}:1: column {column} appears twice")
        if known is not None and column not in allowed and column.split(".")[0] not in known:
            raise SpecError(_unknown(f"{origin}:1: column {column!r}", column, sorted(allowed)))
    missing = [name for name in required if name not in header]
    if missing:
        raise SpecError(f"{origin}:1: no column for {', '.join(missing)}")


def _unknown(what: str, name: str, allowed: list[str]) -> str:
    close = difflib.get_close_matches(name, allowed, n=1)
    hint = f"; is {close[0]!r} meant?" if close else f"; the inputs are {', '.join(allowed)}"
    return f"{what} is not an input of this spec{hint} (--ignore-extra leaves it out)"


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


def _json_rows(
    file: Iterable[str], origin: str, needed: Sequence[Term], known: list[str] | None, optional: set[Term]
) -> Iterator[tuple[Value, ...]]:
    for number, line in enumerate(file, 1):
        where = f"{origin}:{number}"
        if not line.strip():
            continue
        try:
            row = json.loads(line, parse_float=ExactDecimal)
        except (ValueError, RecursionError) as why:
            raise SpecError(f"{where}: not a JSON object: {why}") from None
        if not isinstance(row, dict):
            raise SpecError(f"{where}: not a JSON object")
        for key in row:
            if known is not None and key not in known:
                raise SpecError(_unknown(f"{where}: {key!r}", key, known))
        given = {v.payload: default(v.type) for v in optional} | row
        yield tuple(_json_value(given, v, where) for v in needed)


class ExactDecimal(float):
    """A decimal with its text: `Real` takes it exactly."""

    def __new__(cls, text: str) -> ExactDecimal:
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str

    def __repr__(self) -> str:
        return self.text


def _json_value(row: dict[str, Any], var: Term, where: str) -> Value:
    if var.payload not in row:
        raise SpecError(f"{where}: no value for {var.payload}")
    value = row[var.payload]
    try:
        if isinstance(value, str) and var.type.kind in ("float", "real"):
            return belongs(var.type, _scalar(var.type, value))
        return belongs(var.type, value)
    except Misfit as why:
        raise SpecError(f"{where}: column {var.payload}: {why}") from None
