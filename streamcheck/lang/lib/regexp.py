"""Regular expressions over the past (Copilot.Library.RegExp): whether the steps so far match a pattern.

A pattern is text; its names stand for Bool streams, `.` for any step:

    a b     a step with a, then one with b      a | b       either
    a*      any number                          a+, a?      at least one; none or one
    a{3}    three                               a{2,5}      two to five          ( )   grouping

Streams of different names may hold at the same step, so a step may be read in several ways; one that matches suffices.
The steps from the first to now must match: `.* a b` asks only that they end with a, b. In `reset(c, lambda:
regexp.matches(…))` the first step is the last one at which `c` held.

State: one Bool cell for each name and `.` in the pattern, copies that `{…}` makes included, and one for the first step
(the position automaton [Glu61]); no step takes longer than another.

    >>> door = extern("door", Bool, [True, False, False, True, False])
    >>> shut = extern("shut", Bool, [False, True, True, False, True])
    >>> cycle = regexp.matches("(door shut+)+", {"door": door, "shut": shut})
    false  true  true  false  true
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.lang.build import any_of, first
from streamcheck.lang.lib.parts import bool_stream
from streamcheck.lang.node import Node, StreamDefinition
from streamcheck.lang.stream import Operand, Stream, append, make
from streamcheck.lang.types import Bool

__all__ = ["matches"]

TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*|\.)|\{(\d+)(?:(,)(\d+))?\}|([()|*+?]))")
MOST = 10_000  # positions


def matches(pattern: str, streams: Mapping[str, Operand]) -> Stream:
    """True if the steps from the first to now match the pattern, in which each name is that of a Bool stream.

    a                                             1 1 0 0 1
    b                                             0 0 1 0 0
    regexp.matches(".* a+ b", {"a": a, "b": b})   0 0 1 0 0
    """
    if not isinstance(pattern, str):
        raise SpecError(f"regexp.matches: expected a pattern as text, found {pattern!r}", here())
    if not isinstance(streams, Mapping):
        write = 'regexp.matches("a b*", {"a": a, "b": b})'
        raise SpecError(f"regexp.matches: expected a dict of streams, found {streams!r}", here(), write=write)
    reader = PatternReader(pattern)
    whole = reader.alternatives()
    if reader.rest():
        raise reader.mistake("expected the end")
    letters = {name: bool_stream(s, f"regexp.matches: {name}") for name, s in streams.items()}
    letters["."] = Bool(True)
    for name in reader.names:
        if name not in letters:
            known = ", ".join(sorted(streams)) or "none"
            raise SpecError(f"regexp.matches: the pattern has the name {name}; the streams are {known}", here())
    for name in streams:
        if name not in reader.names:
            raise SpecError(f"regexp.matches: no {name} in the pattern {pattern!r}", here())
    return _automaton(whole, reader.names, reader.follow, letters)


def _automaton(whole: Part, names: list[str], follow: list[set[int]], letters: Mapping[str, Stream]) -> Stream:
    """The positions that the last step may have been read at, each as a Bool stream; those at the end match."""
    where = here()
    definitions = [StreamDefinition("", Bool(True)._node.type, lambda: None, where) for _ in names]
    for definition in definitions:
        definition.stream = make(Node("ref", (), definition.type, definition, where=where))
    before = [append([False], definition.stream) for definition in definitions]
    begins = make(first._node)
    reached: list[list[Stream]] = [[] for _ in names]
    for i, after in enumerate(follow):
        for number in after:
            reached[number].append(before[i])
    for number, (name, definition) in enumerate(zip(names, definitions, strict=True)):
        if number in whole.first:
            reached[number].append(begins)
        definition.body = (letters[name] & any_of(reached[number]))._node
    return any_of([definitions[i].stream for i in sorted(whole.last)])


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a pattern: the positions at which it can begin and end, and whether it matches nothing at all."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


NOTHING = Part(frozenset(), frozenset(), True)


class PatternReader:
    """Reads a pattern. Each name gets a position; `follow` has the positions that may come next."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.names: list[str] = []
        self.follow: list[set[int]] = []

    def alternatives(self) -> Part:
        parts = [self._sequence()]
        while self._skip("|"):
            parts.append(self._sequence())
        ends = [(p.first, p.last) for p in parts]
        return Part(
            frozenset().union(*(f for f, _ in ends)),
            frozenset().union(*(last for _, last in ends)),
            any(p.empty for p in parts),
        )

    def rest(self) -> str:
        return self.pattern[self.at :].strip()

    def mistake(self, message: str) -> SpecError:
        rest = self.rest()
        found = f"found {rest!r}" if rest else "it ends"
        return SpecError(f"regexp.matches: the pattern {self.pattern!r}: {message}, {found}", here())

    def _sequence(self) -> Part:
        result = NOTHING
        while self.rest() and self.rest()[0] not in "|)":
            result = self._join(result, self._repetition())
        return result

    def _repetition(self) -> Part:
        begin = self.at
        part = self._atom()
        while True:
            match = TOKEN.match(self.pattern, self.at)
            if match is None or (match[5] is None and match[2] is None) or match[5] in ("(", ")", "|"):
                return part
            self.at = match.end()
            part = self._many(part, match, begin)

    def _many(self, part: Part, match: re.Match[str], begin: int) -> Part:
        if match[5] == "?":
            return Part(part.first, part.last, True)
        if match[5] in ("*", "+"):
            self._link(part, part)
            return Part(part.first, part.last, part.empty or match[5] == "*")
        least, most = int(match[2]), int(match[4] or match[2])
        if least > most or not most:
            raise self.mistake(f"{match[0].strip()} repeats nothing")
        copies = [part, *(self._copy(begin, match.start()) for _ in range(most - 1))]
        result = NOTHING  # a{2,4} is a a (a (a)?)?, so that each copy has one that follows
        for number in range(most - 1, -1, -1):
            result = self._join(copies[number], result)
            if number >= least:
                result = Part(result.first, result.last, True)
        return result

    def _copy(self, begin: int, end: int) -> Part:
        """The same text read again, with positions of its own."""
        inner = PatternReader(self.pattern[begin:end])
        part = inner.alternatives()
        shift = len(self.names)
        self.names += inner.names
        self.follow += [{shift + i for i in after} for after in inner.follow]
        self._check_size()
        return Part(frozenset(shift + i for i in part.first), frozenset(shift + i for i in part.last), part.empty)

    def _atom(self) -> Part:
        match = TOKEN.match(self.pattern, self.at)
        if match is not None and match[5] == "(":
            self.at = match.end()
            part = self.alternatives()
            if not self._skip(")"):
                raise self.mistake("expected `)`")
            return part
        if match is None or match[1] is None:
            raise self.mistake("expected a name, `.` or `(`")
        self.at = match.end()
        self.names.append(match[1])
        self.follow.append(set())
        self._check_size()
        here_only = frozenset([len(self.names) - 1])
        return Part(here_only, here_only, False)

    def _check_size(self) -> None:
        if len(self.names) > MOST:
            raise SpecError(f"regexp.matches: the pattern has more than {MOST} positions", here())

    def _skip(self, symbol: str) -> bool:
        if not self.rest().startswith(symbol):
            return False
        self.at = self.pattern.index(symbol, self.at) + 1
        return True

    def _join(self, a: Part, b: Part) -> Part:
        self._link(a, b)
        return Part(
            a.first | b.first if a.empty else a.first,
            a.last | b.last if b.empty else b.last,
            a.empty and b.empty,
        )

    def _link(self, a: Part, b: Part) -> None:
        for i in a.last:
            self.follow[i] |= b.first
