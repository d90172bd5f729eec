"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping


def write_whole(texts: Mapping[str, str]) -> None:
    """Write all of these texts to their paths, or none of them if one cannot be written or this process is stopped.
    Something that is no file, such as /dev/stdout, is written as it is."""
    parts: dict[str, str] = {}
    try:
        for path, text in texts.items():
            target = os.path.realpath(path)
            if not os.path.isfile(target) and os.path.exists(target):
                _write(target, text)
            else:
                parts[target] = f"{target}.{os.getpid()}.part"
                _write(parts[target], text)
        for target, part in parts.items():
            os.replace(part, target)
    except BaseException:
        for part in parts.values():
            with contextlib.suppress(OSError):
                os.remove(part)
        raise


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write(text)
