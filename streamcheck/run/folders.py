"""Folders for results, made before the work begins: a mistake there should not wait for the proofs."""

from __future__ import annotations

import os
from collections.abc import Iterable

from streamcheck.core.errors import SpecError


def make_folders(paths: Iterable[str]) -> None:
    """Make these folders. SpecError if one cannot be made, or cannot be written."""
    for path in paths:
        if os.path.exists(path) and not os.path.isdir(path):
            raise SpecError(f"{path} is a file; give a folder")
        try:
            os.makedirs(path or ".", exist_ok=True)
        except OSError as why:
            raise SpecError(f"{path}: this folder cannot be made ({why.strerror})") from None
        if not os.access(path or ".", os.W_OK):
            raise SpecError(f"{path}: this folder cannot be written")
