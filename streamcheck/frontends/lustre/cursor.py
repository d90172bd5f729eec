"""A cursor on tokens."""

from __future__ import annotations

from typing import NoReturn

from streamcheck.core.errors import SpecError
from streamcheck.core.notation import LUSTRE_RESERVED
from streamcheck.frontends.lustre.tokens import NAME_START, Tokens


def is_name(word: str) -> bool:
    """True if the word can be a name. Words of later versions (`check`, `every`, `map` …) are keywords only at places
    that accept them: older files have variables with these names."""
    return word[:1] in NAME_START and word not in LUSTRE_RESERVED


V6_OPERATORS = ("current", "nor")  # that are names in other files


class WrittenForV6(Exception):
    """Something was met that only Lustre V6 has."""


class Cursor:
    """A place in a file's tokens; `at` is the next token. The parsers of one file share a cursor."""

    def __init__(self, tokens: Tokens, *, is_v6: bool = False) -> None:
        self.is_v6 = is_v6
        self.tokens = tokens
        self.texts = tokens.texts
        self.at = 0
        self.compound: set[str] = set()  # the declared names of several tokens
        self.is_jkind = any("!" in name[1:] for name in tokens.texts if name[:1] in NAME_START)

    @property
    def word(self) -> str:
        """The text of the next token."""
        return self.texts[self.at]

    @property
    def after(self) -> str:
        """The text of the token after the next."""
        return self.texts[self.at + 1]

    def next(self) -> str:
        """The next token's text; the cursor moves on."""
        self.at += 1
        return self.texts[self.at - 1]

    def error(self, at: int, message: str, *, write: str = "") -> SpecError:
        return self.tokens.error(at, message, write=write)

    def fail(self, wanted: str) -> NoReturn:
        raise self.error(self.at, f"expected {wanted}, found {self.tokens.token_text(self.at)}")

    def expect(self, text: str) -> int:
        """Skip the token with this text; returns its position."""
        if not self.take(text):
            self.fail(f"`{text}`")
        return self.at - 1

    def take(self, text: str) -> bool:
        """Skip the next token if it has this text. True if it has."""
        if self.texts[self.at] == text:
            self.at += 1
            return True
        return False

    def name(self) -> str:
        if not is_name(self.word):
            self.fail("a name")
        return self.next()

    def new_name(self) -> str:
        """A name that is declared here. JKind writes those of flattened models as `msg.buff[0]`."""
        if self.is_v6 and self.word in V6_OPERATORS:
            text = f"{self.word} is an operator of Lustre V6, and this file has operators or clocks that only V6 has"
            raise self.error(self.at, text, write="another name")
        name = self.name()
        while True:
            if self.word == "." and is_name(self.after):
                self.next()
                name += f".{self.next()}"
            elif self.word == "[" and self.after.isdigit():
                self.next()
                name += f"[{self.next()}]"
                self.expect("]")
            else:
                break
        if "." in name or "[" in name:
            self.compound.add(name)
        return name

    def known_name(self) -> str:
        """The longest declared name that begins here; one token if no longer one is declared."""
        longest, at = self.name(), self.at
        spelled, ahead = longest, at
        while self.compound and self.texts[ahead] in (".", "["):
            part = 2 if self.texts[ahead] == "." else 3
            spelled += "".join(self.texts[ahead : ahead + part])
            ahead += part
            if spelled in self.compound:
                longest, at = spelled, ahead
        self.at = at
        return longest

    def names(self, separator: str = ",") -> list[str]:
        """One name or more."""
        names = [self.name()]
        while self.take(separator):
            names.append(self.name())
        return names

    def require_v6(self) -> None:
        """Have the file read again if it is read as one of Kind 2: only Lustre V6 has what comes next."""
        if not self.is_v6:
            raise WrittenForV6

    def string(self) -> str | None:
        """The contents of a string in one line, None if the next token is something else."""
        return " ".join(self.next().strip('"').split()) if self.word[:1] == '"' else None
