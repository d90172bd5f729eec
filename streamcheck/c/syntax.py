"""C as pycparser parses it, and the lines and texts of its nodes."""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from typing import Any

from streamcheck.c import kinds
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

LIBRARY = "the standard library"
COMPILERS_TYPES = ("__builtin_va_list", "__int128_t", "__uint128_t", "_Float128", "__float128", "_Float64x")


def parse(text: str, path: str, typedefs: Collection[str] = kinds.TYPEDEFS) -> list[Any]:
    """The declarations and definitions of a preprocessed file. `typedefs`: the types of the headers it includes."""
    parser = importlib.import_module("pycparser.c_parser").CParser()
    known = [*typedefs, *COMPILERS_TYPES] if typedefs else []
    prelude = f'# 1 "{LIBRARY}"\n' + "".join(f"typedef int {name};\n" for name in known)
    start = "" if text.startswith("# ") else f'# 1 "{path}"\n'
    try:
        tree = parser.parse(prelude + start + text, path)
    except Exception as error:  # its errors have changed their class between versions
        match = re.match(r"(.*?):(\d+)(?::\d+)?: (.*)", str(error))
        if match is None:
            raise SpecError(f"not C: {error}", Location(path, 1)) from None
        message = re.sub(r"^before: ", "a syntax error, or C that is not supported, before ", match[3])
        raise SpecError(message, Location(match[1], int(match[2]))) from None
    return tree.ext[len(known) :]  # type: ignore[no-any-return]


def form(node: Any) -> str:
    """pycparser's name for a node: `BinaryOp`, `If` …"""
    return str(node.__class__.__name__)


def text_of(node: Any) -> str:
    """The text of a node, on one line."""
    printer = importlib.import_module("pycparser.c_generator").CGenerator()
    return " ".join(str(printer.visit(node)).split())


def where_of(node: Any) -> Location:
    """The line of a node: its own, or the first below it."""
    stack = [node]
    while stack:
        current = stack.pop()
        coord = getattr(current, "coord", None)
        if coord is not None and coord.line:
            return Location(str(coord.file), int(coord.line))
        stack.extend(child for _, child in reversed(current.children()))
    return Location("", 0)


def has_name(node: Any, name: str) -> bool:
    """The identifier occurs in the node."""
    if form(node) == "ID" and node.name == name:
        return True
    return any(has_name(child, name) for _, child in node.children())
