"""A project to begin with: a spec with its tests, C by CMake, and a file for continuous integration."""

from __future__ import annotations

import os
import re
from importlib.resources import files

from streamcheck.core.c_names import FUNCTIONS, HEADERS, KEYWORDS, OBJECTS, PREDEFINED
from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.deliver.templates import wrap


def write_project(directory: str, name: str) -> list[str]:
    """Write the files of a project, whose spec has this name. Returns their paths. SpecError if one is there."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name in KEYWORDS | FUNCTIONS | OBJECTS | HEADERS | PREDEFINED:
        raise SpecError(f"{name!r} is no name for a spec and its C", write="small letters and _, as in rate_limit")
    folder = str(files("streamcheck.deliver") / "project")
    made = wrap(folder, {"name": name, "camel": name}, {})
    texts = {
        os.path.join(directory, path.replace("dot-", ".").removesuffix(".in")): text for path, text in made.items()
    }
    there = [path for path in texts if os.path.exists(path)]
    if there:
        raise SpecError(f"{', '.join(there)}: already there, and nothing is written over")
    with refuse_unwritable(directory):
        for path in texts:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        write_whole(texts)
    return list(texts)


def name_for(directory: str) -> str:
    """A name after the folder."""
    name = re.sub(r"[^a-z0-9]+", "_", os.path.basename(os.path.abspath(directory)).lower()).strip("_")
    return name if re.match(r"[a-z]", name) else "monitor"
