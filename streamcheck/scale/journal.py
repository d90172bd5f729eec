"""The results of a suite so far, in a file that only grows: a line of JSON for each event, on the disk at once.

A line has the digest of itself and of the digest before it, so a line that was changed, left out or cut is found: what
comes before it counts, what comes after does not. A crash cuts at most the last line.

    {"digest": …, "row": {"event": "begin", "version": …}}
    {"digest": …, "row": {"event": "specs", "file": …, "source": …, "specs": {name: [property, …]}}}
    {"digest": …, "row": {"event": "verdict", "file": …, "source": …, "spec": …, "property": {…}}}
    {"digest": …, "row": {"event": "alarm", …, "alarm": …}}
    {"digest": …, "row": {"event": "turn", …, "warnings": […], "alarms": […], "status": …, "seconds": …}}
    {"digest": …, "row": {"event": "error", "file": …, "spec": …, "error": …}}

`source` is the digest of the files that the spec is read from, and of the options: a verdict counts for the same ones
only.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from streamcheck import __version__
from streamcheck.core.errors import SpecError
from streamcheck.run.folders import make_folders
from streamcheck.run.saves import files_of

EMPTY = ""
DECIDED = ("proved", "falsified", "bounded")
STATUSES = range(6)


class Journal:
    """The journal in a file, which goes on after the lines that are whole, or begins anew."""

    def __init__(self, path: str, *, resume: bool) -> None:
        self.path = path
        self.rows: list[dict[str, Any]] = []  # of the run that is resumed
        self.damaged = 0  # the line from which on nothing counts; 0: none
        self._last = EMPTY
        end = 0
        make_folders([os.path.dirname(path)])
        if resume:
            end = self._read()
        try:
            self._file = open(path, "r+b" if resume and os.path.exists(path) else "wb")  # noqa: SIM115
        except OSError as why:
            raise SpecError(f"{path}: {why.strerror}") from None
        self._file.truncate(end)
        self._file.seek(end)
        if not self.rows:
            self.add({"event": "begin", "version": __version__})

    def add(self, row: Mapping[str, Any]) -> None:
        """Write a line; when this returns, it is on the disk."""
        self._last = _digest(self._last, row)
        self._file.write(json.dumps({"digest": self._last, "row": row}).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()

    def _read(self) -> int:
        """Read the lines that are whole. Returns where the next one goes."""
        try:
            with open(self.path, "rb") as file:
                data = file.read()
        except FileNotFoundError:
            return 0
        except OSError as why:
            raise SpecError(f"{self.path}: {why.strerror}") from None
        end = 0
        for number, line in enumerate(data.splitlines(keepends=True), 1):
            row = _row_of(line, self._last)
            if row is None:
                self.damaged = number
                break
            if number == 1 and row.get("version") != __version__:
                found = row.get("version")
                raise SpecError(
                    f"{self.path} is of version {found}, this is {__version__}", write="begin anew: without this option"
                )
            self._last = _digest(self._last, row)
            self.rows.append(row)
            end += len(line)
        return end


def _row_of(line: bytes, before: str) -> dict[str, Any] | None:
    """The row of a line. None if it is damaged, or does not follow the line before."""
    try:
        found = json.loads(line)
        row = found["row"]
        whole = line.endswith(b"\n") and _is_event(row) and found["digest"] == _digest(before, row)
    except (ValueError, LookupError, TypeError, RecursionError):
        return None
    return row if whole else None


def _is_event(row: Any) -> bool:
    """True if it is one of the rows above."""
    match row:
        case {"event": "begin", "version": str()} | {"event": "error"}:
            return True
        case {"event": "specs", "file": str(), "source": str(), "specs": dict(specs)}:
            return all(isinstance(names, list) and _are_texts(names) for names in specs.values())
        case {"file": str(), "source": str(), "spec": str(), "event": event, **rest}:
            return _is_about_a_spec(event, rest)
    return False


def _is_about_a_spec(event: object, row: Mapping[Any, Any]) -> bool:
    match event, row:
        case "verdict", {"property": {"name": str(), "verdict": verdict, "seconds": int() | float(), **more}}:
            return verdict in DECIDED and isinstance(more.get("engine"), str) and isinstance(more.get("k"), int | None)
        case "turn", {"warnings": [*warnings], "alarms": [*alarms], "status": int(status), "seconds": int() | float()}:
            return _are_texts([*warnings, *alarms]) and status in STATUSES
        case "alarm", {"alarm": str()}:
            return True
    return False


def _are_texts(values: Sequence[object]) -> bool:
    return all(isinstance(value, str) for value in values)


def _digest(before: str, row: Mapping[str, Any]) -> str:
    text = before + json.dumps(row, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def source_of(path: str, options: Mapping[str, Any]) -> str:
    """The digest of the files that a spec is read from, and of what is asked of it."""
    digest = hashlib.blake2b(digest_size=16)
    for file in files_of(path):
        try:
            with open(file, "rb") as source:
                content = source.read()
        except OSError:
            content = b""
        digest.update(f"{os.path.relpath(file)}\0{len(content)}\0".encode() + content)
    digest.update(json.dumps(options, sort_keys=True, default=str).encode())
    return digest.hexdigest()
