"""A cursor on tokens."""

from __future__ import annotations

from typing import NoReturn

from streamcheck.frontends.lustre.tokens import NAME_START, Tokens

MACHINE = {f"{'' if signed else 'u'}int{w}": (w, signed) for w in (8, 16, 32, 64) for signed in (True, False)}
# Words of later versions (`check`, `every`, `map` …) may be names in older files: they count where they stand for that.
RESERVED = frozenset(
    "node function returns var let tel const if then else and or xor not true false pre fby div mod when condact"
    " merge assert forall exists".split()
) | frozenset(MACHINE)


class Cursor:
    """`at` is the next token."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.texts = tokens.texts
        self.at = 0

    def fail(self, wanted: str) -> NoReturn:
        raise self.tokens.error(self.at, f"{wanted} is due, and this is {self.tokens.shown(self.at)}")

    def expect(self, text: str) -> int:
        if self.texts[self.at] != text:
            self.fail(f"`{text}`")
        self.at += 1
        return self.at - 1

    def take(self, text: str) -> bool:
        if self.texts[self.at] == text:
            self.at += 1
            return True
        return False

    def name(self) -> str:
        word = self.texts[self.at]
        if word[:1] not in NAME_START or word in RESERVED or not word:
            self.fail("a name")
        self.at += 1
        return word

    def separated(self, separator: str = ",") -> list[str]:
        names = [self.name()]
        while self.take(separator):
            names.append(self.name())
        return names

    def string(self) -> str | None:
        word = self.texts[self.at]
        if word[:1] != '"':
            return None
        self.at += 1
        return word[1:-1]
