"""Files of statements without a function around them, as in courses: they are the body of one.

    x = 0;
    while (x < 10) { x = x + 1; }
    assert(x == 10);

What they do not declare is an `int` with any first value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamcheck.c.syntax import form, parse

FUNCTION = "program"  # not `main`: its global variables begin with any values


def bare_statements(text: str, path: str) -> list[Any]:
    """The declarations of a file that has the statements in a function, and declares their variables."""
    head, separator, rest = text.partition("\n") if text.startswith("# ") else ("", "", text)
    function = f"void {FUNCTION}(void) {{ {rest}\n}}"
    body = parse(f"{head}{separator}{function}", path)
    declared = {n.name for n in _nodes(body) if form(n) in ("Decl", "Enumerator")}
    called = {n.name.name for n in _nodes(body) if form(n) == "FuncCall" and form(n.name) == "ID"}
    used = dict.fromkeys(n.name for n in _nodes(body) if form(n) == "ID")
    names = [name for name in used if name not in declared and name not in called]
    return parse(f"{head}{separator}int {', '.join(names)}; {function}", path) if names else body


def _nodes(roots: list[Any]) -> Iterator[Any]:
    stack = roots[::-1]
    while stack:
        node = stack.pop()
        yield node
        stack += [child for _, child in reversed(node.children())]
