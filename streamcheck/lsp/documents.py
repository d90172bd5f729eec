"""An open text: what is known of it, and the analysis that runs for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Finding: TypeAlias = dict[str, Any]  # an answer of the analysis
Key: TypeAlias = tuple[str, str]  # the names of a spec and of its property

KINDS = (".py", ".lus", ".c", ".i", ".aut")
SPEC = re.compile(r"^\s*(?:from|import)\s+streamcheck\b", re.M)
MAKES = re.compile(r"\b(?:Spec|component|contract)\b")
CLAIMS = re.compile(r"\bassert\s*\(|\breach_error\s*\(|\b__VERIFIER_\w+")


def is_analysed(path: str, text: str) -> bool:
    """True if the text is a spec or a program with claims, and not just any Python or C."""
    if path.endswith(".py"):
        return SPEC.search(text) is not None and MAKES.search(text) is not None
    if path.endswith((".c", ".i")):
        return CLAIMS.search(text) is not None
    return path.endswith(KINDS)


@dataclass(slots=True)
class Findings:
    """The answers about one version of a text."""

    symbols: list[Finding] = field(default_factory=list)
    properties: dict[Key, Finding] = field(default_factory=dict)
    warnings: list[Finding] = field(default_factory=list)
    mistake: Finding | None = None
    verdicts: dict[Key, Finding] = field(default_factory=dict)
    depths: dict[Key, int | None] = field(default_factory=dict)  # of properties that are being proved

    def learn(self, row: Finding) -> None:
        """Take in an answer."""
        match row:
            case {"kind": "loaded"}:
                self.symbols, self.warnings, self.mistake = row["symbols"], list(row["warnings"]), None
                self.properties = {(p["spec"], p["name"]): p for p in row["properties"]}
            case {"kind": "mistake"}:
                self.mistake = row
            case {"kind": "warning"}:
                self.warnings.append(row)
            case {"kind": "progress", "spec": spec, "name": name, "depth": depth}:
                self.verdicts.pop((spec, name), None)
                self.depths[spec, name] = depth
            case {"kind": "verdict", "spec": spec, "name": name}:
                self.depths.pop((spec, name), None)
                self.verdicts[spec, name] = row

    def rest(self) -> None:
        """Nothing runs any more."""
        self.depths.clear()

    def symbol(self, word: str) -> list[Finding]:
        """The symbols of this name; else those of a list of this name."""
        exact = [row for row in self.symbols if row["name"] == word]
        if exact:
            return exact
        of_list = re.compile(rf"{re.escape(word)}_\d+")
        return [row for row in self.symbols if of_list.fullmatch(row["name"])]

    def invariants(self, word: str) -> list[str]:
        """The conditions that are proved to hold at every step, and that mention the name or its elements."""
        mentions = re.compile(rf"(?<![\w.]){re.escape(word)}(?:_\d+)?(?!\w)")
        return [text for text in self._proved(None) if mentions.search(text)]

    def invariants_at(self, line: int) -> list[str]:
        """The conditions that are proved to hold whenever a program is at the line."""
        return self._proved(line)

    def _proved(self, line: int | None) -> list[str]:
        rows = (row for verdict in self.verdicts.values() for row in verdict["invariants"])
        return list(dict.fromkeys(row["text"] for row in rows if row["line"] == line))
