"""Tasks of the software verification competition: files in YAML (format 2.0) that name a program, its data model and
properties with the verdicts that are expected.

    format_version: '2.0'
    input_files: 'sum.c'
    properties:
      - property_file: ../properties/unreach-call.prp
        expected_verdict: true
    options:
      language: C
      data_model: ILP32
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.unsaved import read_text

# By property, the claims of a program that it consists of, as patterns of their names.
PROPERTIES = {
    "unreach-call": ("assert, *", "reach_error, *", "error, *"),
    "no-overflow": ("no overflow, *",),
    "valid-memsafety": (
        "index in bounds, *",
        "pointer in bounds, *",
        "valid pointer, *",
        "no dangling pointer, *",
        "valid free, *",
    ),
}
LINE = re.compile(r"(\s*)(- +)?(?:([\w-]+)\s*:(?:\s+|$))?(.*)$")


@dataclass(frozen=True, slots=True)
class TaskProperty:
    name: str
    expected: bool | None  # None: no verdict is expected


@dataclass(frozen=True, slots=True)
class VerificationTask:
    files: tuple[str, ...]
    data_model: str
    properties: tuple[TaskProperty, ...]


def read_task(path: str) -> VerificationTask:
    """The task in a file. Its files are named from the folder of the file."""
    try:
        text = read_text(path)
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    files: list[str] = []
    properties: list[dict[str, str]] = []
    model, section = "", ""
    for number, line in enumerate(text.splitlines(), 1):
        bare = re.sub(r"(^|\s)#.*", "", line).rstrip()
        match = LINE.match(bare)
        if not bare or match is None:
            continue
        indent, item, key, value = match.groups()
        if key is not None and not indent and item is None:
            section = key
        if section == "format_version" and _plain(value) not in ("1.0", "1.1", "2.0"):
            raise SpecError(f"a task of format {_plain(value)}; 2.0 is supported", Location(path, number))
        if section == "input_files":
            files += _list_of(value)
        elif section == "properties" and key is not None and (indent or item):
            if item or not properties:
                properties.append({})
            properties[-1][key] = _plain(value)
        elif section == "options" and key in ("language", "data_model") and indent:
            model = _plain(value) if key == "data_model" else model
            if key == "language" and _plain(value) != "C":
                raise SpecError(f"a task in {_plain(value)}; only C is supported", Location(path, number))
    if not files:
        raise SpecError(f"{path} is no task: it has no input_files")
    folder = os.path.dirname(path)
    return VerificationTask(
        tuple(os.path.join(folder, f) for f in files), model or "LP64", tuple(_properties(properties, path))
    )


def _properties(rows: Sequence[dict[str, str]], path: str) -> list[TaskProperty]:
    found = []
    for row in rows:
        name = os.path.splitext(os.path.basename(row.get("property_file", "")))[0]
        verdict = row.get("expected_verdict", "").lower()
        if verdict not in ("", "true", "false"):
            raise SpecError(f"{path}: the verdict {verdict} of {name} is neither true nor false")
        found.append(TaskProperty(name, None if not verdict else verdict == "true"))
    return found


def _list_of(value: str) -> list[str]:
    inner = value.strip()
    parts = inner[1:-1].split(",") if inner.startswith("[") else [inner.removeprefix("- ")]
    return [_plain(part) for part in parts if part.strip()]


def _plain(value: str) -> str:
    return value.strip().strip("'\"")
