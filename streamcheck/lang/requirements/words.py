"""The words of a requirement, and a reader that takes them one by one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NoReturn

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here

KEYWORDS = frozenset(
    "after always and at before during eventually except false finally first for if immediately in initially is last "
    "mod mode never next not occurrence of only or previous same satisfy shall the then timepoint true unless until "
    "upon when whenever where while with within xor tick ticks microsecond microseconds millisecond milliseconds "
    "second seconds sec secs minute minutes hour hours".split()
)

SECONDS = {
    "microsecond": Fraction(1, 10**6),
    "millisecond": Fraction(1, 1000),
    "second": Fraction(1),
    "sec": Fraction(1),
    "minute": Fraction(60),
    "hour": Fraction(3600),
}
UNITS = {name + end: seconds for name, seconds in SECONDS.items() for end in ("", "s")}

TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
          |(?P<name>[A-Za-z][A-Za-z0-9_.%]*|"[^"]*")
          |(?P<sign><=>|<->|=>|->|<=|>=|!=|[<>=!~&|+\-*/^(),.]))""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class SentenceWord:
    kind: str  # number, name, sign, keyword or end
    text: str  # a keyword's in small letters
    at: int  # where it begins in the sentence


class Words:
    """The words of a sentence from left to right. Keywords may be in capital letters, names are as they are."""

    def __init__(self, sentence: str, step: Fraction | None = None) -> None:
        self.sentence = sentence
        self.step = step  # the seconds of a step, if they are known
        self._words = list(_words(sentence))
        self._next = 0

    @property
    def next(self) -> SentenceWord:
        return self._words[self._next]

    @property
    def position(self) -> int:
        """For `return_to`."""
        return self._next

    def return_to(self, position: int) -> None:
        self._next = position

    def take(self) -> SentenceWord:
        word = self.next
        if word.kind != "end":
            self._next += 1
        return word

    def is_next(self, *texts: str) -> bool:
        """If the next word is one of these keywords or signs."""
        return self.next.kind in ("keyword", "sign") and self.next.text in texts

    def has_taken(self, *texts: str) -> str:
        """The next word, taken, if it is one of these keywords or signs; else an empty text."""
        return self.take().text if self.is_next(*texts) else ""

    def require(self, *texts: str) -> str:
        if not self.is_next(*texts):
            self.refuse(" or ".join(f"`{text}`" for text in texts))
        return self.take().text

    def name(self, what: str) -> str:
        if self.next.kind != "name":
            self.refuse(what)
        return self.take().text.strip('"')

    def refuse(self, expected: str, *, write: str = "") -> NoReturn:
        """SpecError for the next word."""
        word = self.next
        found = "the end" if word.kind == "end" else f"`{word.text}`"
        before = " ".join(self.sentence[: word.at].split())
        place = f'after "…{before[-30:]}"' if len(before) > 30 else f'after "{before}"' if before else "at the start"
        raise SpecError(f"requirement: expected {expected} {place}, found {found}", here(), write=write)


def _words(sentence: str) -> list[SentenceWord]:
    words, at = [], 0
    text = sentence.rstrip()
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None:
            rest = text[at:].split()[0]
            raise SpecError(f"requirement: `{rest}` is no word or sign of a requirement", here())
        kind = match.lastgroup or ""
        found = match[kind]
        if kind == "name" and found.endswith(".") and match.end() == len(text):
            found = found.rstrip(".")  # the full stop
        if kind == "name" and found.lower() in KEYWORDS:
            kind, found = "keyword", found.lower()
        words.append(SentenceWord(kind, found, match.start(match.lastgroup or 0)))
        at = match.end()
    if words and (words[-1].kind, words[-1].text) == ("sign", "."):
        words.pop()
    return [*words, SentenceWord("end", "", len(text))]
