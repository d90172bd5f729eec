"""Lustre text to tokens: one regular expression, and line numbers computed only if they are asked for.

Comments go, except those that carry meaning: `--%PROPERTY`, `--%MAIN`, `--%REALIZABLE`, `(*%PROPERTY … *)`,
`(*@contract … *)`. With a blank inside, as in `-- %PROPERTY`, they are comments, as they are to Kind 2.
A token is its text and where it starts; its first character determines its kind.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

TOKEN = re.compile(
    r"""
    (?: \s+
      | --(?![%!](?:PROPERTY|MAIN|REALIZABLE)\b) [^\n]*
      | // [^\n]*
      | \(\*(?!(?:@contract|[%!]PROPERTY|[%!]MAIN)\b) (?s:.*?) \*\)
      | /\*(?!(?:@contract|[%!]PROPERTY|[%!]MAIN)\b) (?s:.*?) \*/
    )*
    ( [A-Za-z_~][A-Za-z0-9_~]* (?: !+ [A-Za-z0-9_~]* )*+
    | 0x(?=\.?[0-9a-fA-F])[0-9a-fA-F]* (?: \.(?!\.)[0-9a-fA-F]* )? (?: p[+-]?\d+ )?
    | \.\d+ (?:[eE][+-]?\d+)?
    | \d+ (?: \.(?!\.)\d* (?:[eE][+-]?\d+)? | [eE][+-]?\d+ )?
    | --[%!](?:PROPERTY|MAIN|REALIZABLE)\b
    | (?:\(\*|/\*)(?:@contract|[%!](?:PROPERTY|MAIN))\b
    | "[^"]*"
    | ==> | -> | => | <= | >= | <> | := | :: | \.\. | && | \|\| | \*\) | \*/
    | \Z
    | . )
    """,
    re.VERBOSE,
)
ANNOTATION = re.compile(r"(--|\(\*|/\*)[%!@](PROPERTY|MAIN|REALIZABLE|contract)")
NAME_START = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_~")
DIGITS = frozenset("0123456789")
TYPES = re.compile(r"\b(?:Bool|Real|(Int|Word)(\d*))\b")
END = ""  # the text of the token after the last


def _lustre_name(type: re.Match[str]) -> str:
    """The Lustre name of a type."""
    if type[1] == "Word" and type[2]:
        return f"uint{type[2]}"
    return type[0].lower()


class Tokens:
    """The tokens of one file: `texts[i]` begins at `starts[i]`. The last is END, twice, so that one may look ahead."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.text = text
        self.texts: list[str] = []
        self.starts: list[int] = []
        add_text, add_start = self.texts.append, self.starts.append
        for match in TOKEN.finditer(text):
            word = match[1]
            add_start(match.start(1))
            if word and word[0] in "-(/" and (note := ANNOTATION.match(word)):
                word = f"{'--' if note[1] == '--' else '('}%{note[2]}"  # one spelling for each annotation
            elif word and word[0] == "." and word[1:2].isdigit():
                word = f"0{word}"
            add_text(word)
        if self.texts[-1] != END:
            add_text(END)
            add_start(len(text))
        add_text(END)
        add_start(len(text))
        self._lines: list[int] | None = None

    def line(self, token: int) -> int:
        if self._lines is None:
            self._lines = [0, *(m.end() for m in re.finditer("\n", self.text))]
        return bisect_right(self._lines, self.starts[token])

    def column(self, token: int) -> int:
        line = self.line(token)
        assert self._lines is not None
        return self.starts[token] - self._lines[line - 1] + 1

    def where(self, token: int) -> Location:
        return Location(self.file, self.line(token))

    def place(self, token: int) -> str:
        """The position as part of a name."""
        return f"[l{self.line(token)}c{self.column(token)}]"

    def error(self, token: int, message: str, *, write: str = "") -> SpecError:
        return SpecError(TYPES.sub(_lustre_name, message), self.where(token), write=write)

    def token_text(self, token: int) -> str:
        return f"`{self.texts[token]}`" if self.texts[token] else "the end of the file"

    def source(self, first: int, last: int) -> str:
        """The text from one token up to another, in one line."""
        return " ".join(self.text[self.starts[first] : self.starts[last]].split())
