"""C as pycparser parses it, and the lines and texts of its nodes."""

from __future__ import annotations

import importlib
import re
from collections.abc import Collection
from typing import Any

from streamcheck.c.extensions import FIRST, RANGE
from streamcheck.c.models import LP64
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

TYPEDEFS = tuple(LP64.typedefs)
LIBRARY = "the standard library"
# Types that are not supported, and may be declared.
OTHER_TYPES = "__builtin_va_list va_list _Float128 __float128 _Float64x _Float32 _Float64"
OTHER_TYPES += " jmp_buf sigjmp_buf FILE fpos_t div_t ldiv_t lldiv_t fenv_t fexcept_t mbstate_t max_align_t"


TOO_DEEP = "expressions or statements are too deep within each other; divide them"


def parse(text: str, path: str, typedefs: Collection[str] = TYPEDEFS) -> list[Any]:
    """The declarations and definitions of a preprocessed file. `typedefs`: the types of the headers it includes."""
    parser = importlib.import_module("pycparser.c_parser").CParser()
    known = [*typedefs, *OTHER_TYPES.split()] if typedefs else []
    prelude = f'# 1 "{LIBRARY}"\n' + "".join(f"typedef int {name};\n" for name in known)
    start = "" if text.startswith("# ") else f'# 1 "{path}"\n'
    try:
        tree = parser.parse(prelude + start + text, path)
    except RecursionError:
        raise SpecError(TOO_DEEP, _next_token(parser, path)[0]) from None
    except Exception as error:  # its errors have changed their class between versions
        match = re.match(r"(.*?):(\d+)(?::\d+)?: (.*)", str(error))
        if match is None:
            raise _error_at_token(parser, path, error) from None
        message = re.sub(r"^before: ", "a syntax error, or C that is not supported, before ", match[3])
        raise SpecError(message, Location(match[1], int(match[2]))) from None
    nodes: list[Any] = tree.ext[len(known) :]
    _qualify_by_typedefs(nodes)
    return nodes


def _qualify_by_typedefs(nodes: list[Any]) -> None:
    """Writes `const T` where T is a typedef of a type that is const."""
    waiting: list[tuple[Any, set[str]]] = []
    outermost: set[str] = set()  # the typedefs of such types
    waiting += ((node, outermost) for node in reversed(nodes))
    while waiting:
        node, known = waiting.pop()
        shape = form(node)
        if shape in ("Decl", "TypeDecl", "Typedef", "Typename") and "const" not in node.quals:
            base = node
            while hasattr(base, "type"):
                base = base.type
            if form(base) == "IdentifierType" and base.names[0] in known:
                node.quals = [*node.quals, "const"]
        if shape == "Typedef":
            known.discard(node.name)
            known.update([node.name] if _is_constant(node.type, known) else [])
        known = set(known) if shape in ("Compound", "FuncDef") else known
        waiting += ((child, known) for _, child in reversed(node.children()))


def _is_constant(node: Any, known: set[str]) -> bool:
    """The declared type, or that of the elements of the array, is const."""
    while form(node) == "ArrayDecl":
        node = node.type
    base: Any = getattr(node, "type", None)
    of_typedef = form(node) == "TypeDecl" and form(base) == "IdentifierType" and base.names[0] in known
    return of_typedef or "const" in (getattr(node, "quals", None) or ())


def _error_at_token(parser: Any, path: str, error: Exception) -> SpecError:
    """The message for an error of the parser that has no line: it is at the next token."""
    where, token = _next_token(parser, path)
    if not token:
        return SpecError(f"not C: {error}", where)
    return SpecError(f"a syntax error, or C that is not supported: an expression cannot begin with {token}", where)


def _next_token(parser: Any, path: str) -> tuple[Location, str]:
    """The token that the parser looked at last, and where it is. Empty if it is not known."""
    stream: Any = getattr(parser, "_tokens", None)
    read = [] if stream is None else stream._buffer
    token = read[min(stream._index, len(read) - 1)] if read else None
    if token is None:
        return Location(path, 1), ""
    return Location(token.filename or path, token.lineno), str(token.value)


def form(node: Any) -> str:
    """pycparser's name for a node: `BinaryOp`, `If` …"""
    return str(node.__class__.__name__)


def called_name(node: Any) -> str:
    """The name of the function that a call names; empty if an expression is called."""
    return str(node.name.name) if form(node.name) == "ID" else ""


def text_of(node: Any) -> str:
    """The text of a node, on one line."""
    printer = importlib.import_module("pycparser.c_generator").CGenerator()
    text = " ".join(str(printer.visit(node)).split())
    if FIRST in text or RANGE in text:
        text = re.sub(rf"{RANGE}\((.*?), (.*?)\)", r"\1 ... \2", text.replace(f"? {FIRST} :", "?:"))
    return text


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


def is_first_or_second(node: Any) -> bool:
    """The conditional expression is `a ?: b`."""
    return form(node.iftrue) == "ID" and node.iftrue.name == FIRST


def has_name(node: Any, name: str) -> bool:
    """The identifier occurs in the node."""
    if form(node) == "ID" and node.name == name:
        return True
    return any(has_name(child, name) for _, child in node.children())
