"""Lines of a C file without continuations and comments: translation phases 2 and 3 (5.1.1.2).

A backslash and a newline vanish wherever they are, within a name or a string, too. The lines of the tokens stay: the
newline comes back where the token ends. Until the directives have been read, `CONTINUED` stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

CONTINUED = "\x01"  # a newline that ends no directive
BACKSLASH = re.compile(r"\\[ \t\f\v]*\n")
COMMENT = re.compile(r"""/\*.*?\*/ | //(?:\\\n|[^\n])* | ("(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*')""", re.X | re.S)
DIRECTIVE = re.compile(r"\s*#\s*(\w*)\s*(.*)", re.S)
# A continuation within a token. Of these pairs of characters no token is made, nor of brackets and what is beside them.
WITHIN = re.compile(
    r"""(?<=[^\s(){}\[\],;\x01])
        (?! (?<=[\w$])\x01+[!%&*/<=>^|:?~] | (?<=[!%&*/<=>^|:?~])\x01+[\w$] | (?<=[^eEpP][+-])\x01+[A-Za-z_] )
        (\x01+) ([\w$]+ | [^\w$\s(){}\[\],;\x01]+)""",
    re.X,
)


def without_comments(text: str, newline: str = "\n") -> str:
    """The text with a blank for each comment, and the newlines in it after it."""

    def plain(match: re.Match[str]) -> str:
        continued = match[0].count(CONTINUED)
        if match[1]:
            return match[1].replace(CONTINUED, "") + CONTINUED * continued
        return " " + newline * (match[0].count("\n") + continued)

    return COMMENT.sub(plain, text)


def directives_and_text(text: str) -> Iterator[tuple[int, str, re.Match[str] | None]]:
    """Lines with their numbers and newlines; a directive that goes over several is one. Its match, if it is one."""
    number = 1
    for line in without_comments(_with_marks(text), CONTINUED).split("\n"):
        whole, height = line.replace(CONTINUED, ""), 1 + line.count(CONTINUED)
        match = DIRECTIVE.match(whole + "\n" * height)
        yield number, line.replace(CONTINUED, "\n") + "\n", match
        number += height


def _with_marks(text: str) -> str:
    """The text with marks for the backslashes at the ends of lines, each behind the token that it is in."""
    text = BACKSLASH.sub(CONTINUED, text.replace(CONTINUED, " "))
    at = text.find(CONTINUED)
    while at >= 0 and (match := WITHIN.search(text, at)):
        text = text[: match.start()] + match[2] + match[1] + text[match.end() :]
        at = match.start()
    return text
