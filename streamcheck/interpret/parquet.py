"""Recorded inputs in Parquet files, by pyarrow (`streamcheck[parquet]`)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import count
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.core.types import assemble, part_names
from streamcheck.interpret.data import DataColumns, RecordedRows, row_values


def read_parquet(path: str, columns: DataColumns) -> RecordedRows:
    """The rows of a file, a batch at a time."""
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise SpecError(f"{path}: Parquet needs pyarrow", write="pip install 'streamcheck[parquet]'") from None
    try:
        file = parquet.ParquetFile(path)
    except FileNotFoundError:
        raise SpecError(f"{path}: no such file") from None
    except Exception as why:  # pyarrow has no class of its own for files that are none
        raise SpecError(f"{path}: not a Parquet file ({why})") from None
    names = [str(name) for name in file.schema_arrow.names]
    kept = columns.kept(names, path)
    parts = [name for v in columns.needed for name, _ in part_names(str(v.payload), v.type)]
    for name in names:
        columns.check(name, parts, kept, f"{path}: column")
    for v in columns.needed:
        missing = [n for n, _ in part_names(str(v.payload), v.type) if n not in names]
        if v.payload not in names and missing and v not in columns.optional:
            raise SpecError(f"{path}: no column for {', '.join(missing)}")
    spread = [v for v in columns.needed if v.payload not in names and v not in columns.optional]
    return RecordedRows(tuple(names), kept, _rows(file, path, columns, kept, spread))


def _rows(
    file: Any, path: str, columns: DataColumns, kept: tuple[str, ...], spread: list[Term]
) -> Iterator[tuple[Any, ...]]:
    """`spread` are inputs with a column for each part."""
    read = [str(v.payload) for v in columns.needed if v not in spread]
    read += [name for v in spread for name, _ in part_names(str(v.payload), v.type)]
    read = [name for name in dict.fromkeys([*read, *kept]) if name in file.schema_arrow.names]
    numbers = count(1)
    for batch in file.iter_batches(columns=read):
        for row in batch.to_pylist():
            for v in spread:
                row[v.payload] = assemble(v.type, iter([row[n] for n, _ in part_names(str(v.payload), v.type)]))
            exact = {n: Fraction(value) if isinstance(value, Decimal) else value for n, value in row.items()}
            yield row_values(exact, columns, kept, f"{path}: row {next(numbers)}")
