"""Characters that are commands, not text: to terminals, to editors, to readers of a language with one line to a thing.

C0, C1, DEL             escape sequences, carriage returns, and ends of lines
U+2028, U+2029          ends of lines
U+202A … U+2069         text shown in another order than it has (Trojan Source)

A line of output that begins with `::`, or has `##[`, is a command to the machines that run GitHub's workflows.
"""

from __future__ import annotations

import re

COMMANDS = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
OF_RUNNERS = re.compile(r"^\s*(::)|(##\[)", re.M)
LINES = "\n\t"  # which a text of several lines has


def command_in(text: str, allowed: str = "") -> str | None:
    """The first such character in the text, as `U+001B`, or what makes a line of it a command to a machine. None if
    there is none but those allowed."""
    if not text.isprintable():  # of what is printable, nothing is such a character: names may be long
        found = next((c for c in COMMANDS.findall(text) if c not in allowed), None)
        if found is not None:
            return f"U+{ord(found):04X}"
    line = OF_RUNNERS.search(text) if "::" in text or "##[" in text else None
    return None if line is None else " ".join(line[line.lastindex or 0])


def visible(text: str) -> str:
    """The text with every such character but ends of lines and tabs as `\\x1b`."""
    return COMMANDS.sub(lambda c: c[0] if c[0] in LINES else repr(c[0])[1:-1], text)
