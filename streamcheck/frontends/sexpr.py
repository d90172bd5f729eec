"""SMT-LIB text to nested lists and atoms, each with its place in the text."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

TOKEN = re.compile(r'(?:\s+|;[^\n]*)*(\(|\)|\|[^|]*\||"(?:[^"]|"")*"|[^\s()|";]+|\Z|.)', re.DOTALL)


class Atom(str):
    """An atom; `at` is its offset in the text."""

    __slots__ = ("at",)
    at: int


class SList(list["SList | Atom"]):
    """A list; `at` is the offset of its bracket."""

    __slots__ = ("at",)
    at: int


LocatedSExpr: TypeAlias = "SList | Atom"


class SExprFile:
    """The s-expressions of one file: `forms`."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.lines = [0, *(m.end() for m in re.finditer("\n", text))]
        self.forms = self._read()

    def where(self, form: LocatedSExpr) -> Location:
        return Location(self.file, bisect_right(self.lines, form.at))

    def error(self, form: LocatedSExpr, message: str) -> SpecError:
        return SpecError(message, self.where(form))

    def _read(self) -> SList:
        top = SList()
        top.at = 0
        stack = [top]
        for match in TOKEN.finditer(self.text):
            token, at = match[1], match.start(1)
            if token == "(":
                inner = SList()
                inner.at = at
                stack[-1].append(inner)
                stack.append(inner)
            elif token == ")":
                if len(stack) == 1:
                    raise self.error(_atom(token, at), "unmatched closing bracket")
                stack.pop()
            elif token:
                stack[-1].append(_atom(token[1:-1] if token[0] == "|" and len(token) > 1 else token, at))
        if len(stack) > 1:
            raise self.error(stack[-1], "this bracket is not closed")
        return top


def _atom(text: str, at: int) -> Atom:
    word = Atom(text)
    word.at = at
    return word
