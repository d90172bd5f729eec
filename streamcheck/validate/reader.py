"""The text of the generated files as a syntax tree.

The preprocessor is our own and knows what the generated files need: comments, includes of our own headers, header
guards, and checks that hold only directives. Anything else in a directive is refused, not guessed at. Includes of the
standard library stand for the names that `arithmetic` and `machine` know.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

PRELUDE = "".join(
    f"typedef int {name};\n"
    for name in [f"{u}int{w}_t" for u in ("", "u") for w in (8, 16, 32, 64)] + ["bool", "size_t"]
)
STANDARD = ("stdbool.h", "stdint.h", "limits.h", "float.h", "math.h", "string.h")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


class Refused(Exception):
    """C that this reader has no meaning for: nothing is shown about it."""


def parse(files: Mapping[str, str], main: str) -> Any:
    """The translation unit of `main`, with the headers it includes."""
    parser = importlib.import_module("pycparser.c_parser").CParser()
    text = "\n".join(_lines(files, main, set()))
    try:
        return parser.parse(PRELUDE + text, main)
    except Exception as error:  # its errors have changed their class between versions
        raise Refused(f"it does not parse: {error}") from error


def _lines(files: Mapping[str, str], name: str, defined: set[str]) -> Iterator[str]:
    if name not in files:
        raise Refused(f"it includes {name}, which was not generated")
    taken: list[bool] = []  # for each open conditional, whether its lines count
    checks = 0  # open conditionals that may hold directives only
    text = COMMENT.sub(lambda m: " " + "\n" * m[0].count("\n"), files[name])
    if "??" in text or "\\\n" in text:
        raise Refused("trigraphs and continued lines")
    for line in text.split("\n"):
        words = line.split()
        directive = words[0] if words and words[0].startswith("#") else ""
        if not directive:
            if checks and words:
                raise Refused(f"code under a condition: {line.strip()}")
            if all(taken):
                yield line
            continue
        if directive == "#ifndef":
            taken.append(words[1] not in defined)
        elif directive == "#ifdef" and words[1] == "__cplusplus":
            taken.append(False)
        elif directive == "#if":
            taken.append(True)
            checks += 1
        elif directive == "#endif":
            taken.pop()
            checks = min(checks, len(taken))
        elif directive == "#define" and len(words) == 2 and words[1].endswith("_H"):
            defined.add(words[1])
        elif directive == "#include" and all(taken):
            yield from _included(files, words[1], defined)
        elif directive not in ("#error", "#pragma", "#else") or not checks:
            raise Refused(f"the directive {line.strip()}")


def _included(files: Mapping[str, str], what: str, defined: set[str]) -> Iterator[str]:
    if what.startswith('"'):
        yield from _lines(files, what.strip('"'), defined)
    elif what.strip("<>") not in STANDARD:
        raise Refused(f"an include of {what}")
