"""Recorded inputs in Parquet files, by pyarrow (`streamcheck[parquet]`)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from itertools import count
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.interpret.data import DataColumns, NamedRows, RecordedRows


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
    form = NamedRows.of(names, path, columns)
    return RecordedRows(form.names, form.kept, _rows(file, path, form))


def _rows(file: Any, path: str, form: NamedRows) -> Iterator[tuple[Any, ...]]:
    numbers = count(1)
    for batch in file.iter_batches(columns=form.columns_read()):
        for row in batch.to_pylist():
            exact = {n: Fraction(value) if isinstance(value, Decimal) else value for n, value in row.items()}
            yield form.values(exact, f"{path}: row {next(numbers)}")
