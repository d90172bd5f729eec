"""The findings about a text as the protocol has them: diagnostics, code lenses, inlay hints, hovers, definitions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from urllib.parse import quote

from lsprotocol import types as lsp

from streamcheck.lsp.documents import Finding, Findings, Key

PROVE, EXPLAIN, TRACE = "streamcheck.prove", "streamcheck.explain", "streamcheck.showTrace"
SEVERITIES = {"falsified": lsp.DiagnosticSeverity.Error, "unknown": lsp.DiagnosticSeverity.Warning}
MOST_LINES = 30  # of a run, in a diagnostic
MOST_INVARIANTS = 6
SOURCE = "streamcheck"
NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*")


class Shown:
    """One text, with the findings about it. `units` is the length of a string as the client counts it; positions that
    come in are in characters."""

    def __init__(
        self, uri: str, path: str, lines: Sequence[str], known: Findings, units: Callable[[str], int] = len
    ) -> None:
        self.uri, self.path, self.known, self.units = uri, path, known, units
        self.lines = [line.rstrip("\r\n") for line in lines]

    def diagnostics(self) -> Iterator[lsp.Diagnostic]:
        """The mistake, the warnings, and the properties that are falsified or unknown."""
        mistake = self.known.mistake
        if mistake is not None:
            yield self._diagnostic(mistake, mistake["text"], lsp.DiagnosticSeverity.Error)
        for warning in self.known.warnings:
            yield self._diagnostic(warning, warning["text"], lsp.DiagnosticSeverity.Warning)
        for key, verdict in self.known.verdicts.items():
            severity = SEVERITIES.get(verdict["verdict"])
            if severity is not None and key in self.known.properties:
                text = f"{verdict['word']}: {verdict['name']} ({verdict['how']})"
                more = verdict["lines"][1:]
                if len(more) > MOST_LINES:
                    more = [*more[:MOST_LINES], "      …"]
                yield self._diagnostic(self.known.properties[key], "\n".join([text, *more]), severity)

    def lenses(self) -> Iterator[lsp.CodeLens]:
        """Above each property: prove, explain, and its run if there is one."""
        for key, row in self._shown_properties():
            verdict = self.known.verdicts.get(key)
            arguments = [self.uri, *key]
            titles = {PROVE: f"prove {row['name']}", EXPLAIN: "explain"}
            if verdict is not None and verdict["has_run"]:
                titles[TRACE] = "show trace"
            for command, title in titles.items():
                yield lsp.CodeLens(self._range(row), lsp.Command(title, command, arguments=arguments))

    def hints(self, first: int, last: int) -> Iterator[lsp.InlayHint]:
        """Behind each property from one line to another: the verdict, or the work on it."""
        texts: dict[int, list[str]] = {}
        for key, row in self._shown_properties():
            text = self._state_of(key)
            at = self._range(row).end
            if text and first <= at.line <= last:
                texts.setdefault(at.line, []).append(text)
        for line, parts in texts.items():
            position = lsp.Position(line, self.units(self.lines[line]))
            label = "; ".join(dict.fromkeys(parts))
            yield lsp.InlayHint(position, label, padding_left=True)

    def hover(self, position: lsp.Position) -> lsp.Hover | None:
        """The type of a stream, its cost, and the invariants about it; of a property, its verdict; of a line of a
        program, its invariants."""
        word = self._word_at(position)
        parts = [self._about(row) for row in self.known.symbol(word)] if word else []
        for key in self.known.properties:
            if key[1] == word:
                parts.append(f"`{word}`: {self._state_of(key) or 'a property without a verdict'}")
        parts += _proved("at every step", self.known.invariants(word) if word else [])
        parts += _proved(f"at line {position.line + 1}", self.known.invariants_at(position.line + 1))
        if not parts:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(dict.fromkeys(parts))))

    def definitions(self, position: lsp.Position) -> Iterator[lsp.Location]:
        """The lines that define the stream."""
        word = self._word_at(position)
        seen = set()
        for row in self.known.symbol(word) if word else []:
            if row["file"] is not None and (row["file"], row["line"]) not in seen:
                seen.add((row["file"], row["line"]))
                if self._is_here(row):
                    yield lsp.Location(self.uri, self._range(row))
                else:
                    at = lsp.Position(row["line"] - 1, 0)
                    yield lsp.Location(uri_of(row["file"]), lsp.Range(at, at))

    def _shown_properties(self) -> Iterator[tuple[Key, Finding]]:
        """The user's own, and of those that operators imply the ones that are not proved."""
        for key, row in self.known.properties.items():
            verdict = self.known.verdicts.get(key)
            if self._is_here(row) and (not row["implied"] or (verdict and verdict["verdict"] in SEVERITIES)):
                yield key, row

    def _state_of(self, key: Key) -> str:
        verdict = self.known.verdicts.get(key)
        if verdict is not None:
            return f"{verdict['word']} ({verdict['how']})"
        if key in self.known.depths:
            depth = self.known.depths[key]
            return "proving …" if depth is None else f"proving … it holds up to step {depth}"
        return ""

    def _about(self, row: Finding) -> str:
        head = f"`{row['name']}: {row['type']}` ({row['kind']})"
        return "  \n".join([head, *row["about"]])

    def _word_at(self, position: lsp.Position) -> str | None:
        """The name below the position. In a dotted name, the part up to there."""
        line = self.lines[position.line] if position.line < len(self.lines) else ""
        for match in NAME.finditer(line):
            if match.start() <= position.character <= match.end():
                words = match.group()
                if self.known.symbol(words):
                    return words
                before = words[: position.character - match.start()].rpartition(".")[0]
                start = len(before) + 1 if before else 0
                return words[start:].partition(".")[0]
        return None

    def _diagnostic(self, row: Finding, text: str, severity: lsp.DiagnosticSeverity) -> lsp.Diagnostic:
        if row["file"] is not None and not self._is_here(row):
            text = f"{os.path.basename(row['file'])}:{row['line']}: {text}"
        return lsp.Diagnostic(self._range(row), text, severity=severity, source=SOURCE)

    def _is_here(self, row: Finding) -> bool:
        return row["file"] is not None and os.path.realpath(row["file"]) == os.path.realpath(self.path)

    def _range(self, row: Finding) -> lsp.Range:
        """The text of the line; the first line if the place is in another file."""
        number = row["line"] - 1 if row["line"] is not None and self._is_here(row) else 0
        number = max(0, min(number, len(self.lines) - 1))
        line = self.lines[number] if self.lines else ""
        begin = self.units(line[: len(line) - len(line.lstrip())])
        return lsp.Range(lsp.Position(number, begin), lsp.Position(number, self.units(line)))


def _proved(when: str, invariants: list[str]) -> list[str]:
    """The invariants as one part of a hover, if there are any."""
    if not invariants:
        return []
    more = ["…"] if len(invariants) > MOST_INVARIANTS else []
    text = "\n".join([*invariants[:MOST_INVARIANTS], *more])
    return [f"proved {when}:\n```text\n{text}\n```"]


def uri_of(path: str) -> str:
    return "file://" + quote(path)
