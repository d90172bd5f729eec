"""The files of a suite: those that are named, those below folders, those that fit patterns."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence

from streamcheck.core.errors import SpecError
from streamcheck.run.source import KINDS

SKIPPED = ("__pycache__", "node_modules", "build", "dist")
NO_SPECS = ("test_", "conftest")  # how names of files begin that hold tests


def suite_files(names: Sequence[str]) -> list[str]:
    """The targets that the names stand for, each once: `FILE[::SPEC]`, folders, patterns."""
    found: dict[str, None] = {}
    for name in names:
        files = list(_files(name))
        if not files:
            raise SpecError(f"{name}: there is no spec", write=f"a folder or a pattern with {', '.join(KINDS)}")
        found |= dict.fromkeys(files)
    return list(found)


def _files(name: str) -> Iterator[str]:
    path, separator, _ = name.partition("::")
    if os.path.isdir(path):
        yield from _below(path)
    elif glob.has_magic(path) and not os.path.exists(path):
        for fitting in sorted(glob.glob(path, recursive=True)):
            if os.path.isdir(fitting):
                yield from _below(fitting)
            elif fitting.endswith(KINDS):
                yield fitting
    elif separator or os.path.exists(path):
        yield name


def _below(folder: str) -> Iterator[str]:
    """The files of specs below a folder, in order. A Python file is one if it imports streamcheck and makes a spec."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in SKIPPED)
        for file in sorted(files):
            path = os.path.join(place, file)
            if file.endswith(KINDS) and not file.endswith(".json") and _holds_spec(path):
                yield path


def _holds_spec(path: str) -> bool:
    if not path.endswith(".py"):
        return True
    if os.path.basename(path).startswith(NO_SPECS):
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return True  # which the one who reads it will report
    return "streamcheck" in text and "Spec(" in text
