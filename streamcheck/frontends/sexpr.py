"""SMT-LIB text to nested lists, which remember where they began."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

TOKEN = re.compile(r'(?:\s+|;[^\n]*)*(\(|\)|\|[^|]*\||"(?:[^"]|"")*"|[^\s()|";]+|\Z|.)', re.DOTALL)


class Word(str):
    """An atom; `at` is where it stands."""

    __slots__ = ("at",)
    at: int


class Form(list["Form | Word"]):
    """A list; `at` is where it begins."""

    __slots__ = ("at",)
    at: int


SExpr: TypeAlias = "Form | Word"


class Source:
    """The forms of one file."""

    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self.lines = [0, *(m.end() for m in re.finditer("\n", text))]
        self.forms = self._read()

    def where(self, form: SExpr) -> Location:
        return Location(self.file, bisect_right(self.lines, form.at))

    def error(self, form: SExpr, message: str) -> SpecError:
        return SpecError(message, self.where(form))

    def _read(self) -> Form:
        top = Form()
        top.at = 0
        stack = [top]
        for found in TOKEN.finditer(self.text):
            token, at = found[1], found.start(1)
            if token == "(":
                inner = Form()
                inner.at = at
                stack[-1].append(inner)
                stack.append(inner)
            elif token == ")":
                if len(stack) == 1:
                    raise self.error(_word(token, at), "a closing bracket too many")
                stack.pop()
            elif token:
                stack[-1].append(_word(token[1:-1] if token[0] == "|" and len(token) > 1 else token, at))
        if len(stack) > 1:
            raise self.error(stack[-1], "this bracket is not closed")
        return top


def _word(text: str, at: int) -> Word:
    word = Word(text)
    word.at = at
    return word
