"""Rules for the text of generated files, beyond its meaning as C: for the parts that a preprocessor reads.

A file has only these directives: a guard around the whole of a header and around types, `extern "C"` for C++, includes,
and the checks of what the proof assumes of the compiler. The checks must be there. Every name of the library has its
header, included before, and no other name can be a macro (`core.c_names`): a macro that this proof does not see would
change the meaning.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from streamcheck.c.arithmetic import FUNCTIONS
from streamcheck.c.kinds import PORTABLE_CONSTANTS, PORTABLE_TYPEDEFS
from streamcheck.c.lines import without_comments
from streamcheck.c.literals import CONSTANT_MACROS
from streamcheck.c.syntax import form, where_of
from streamcheck.core.c_names import KEYWORDS, member_name
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

GUARD = re.compile(r"#ifndef (STREAMCHECK_\w+_H)\n#define \1\n(?!#endif)")
CPP = ('#ifdef __cplusplus\nextern "C" {\n#endif\n', "#ifdef __cplusplus\n}\n#endif\n")
INT_CHECK = "#if INT_MAX != 2147483647\n#error\n#endif\n"
FLOAT_CHECKS = (
    "#if !defined(FLT_EVAL_METHOD) || (FLT_EVAL_METHOD != 0)\n#error\n#endif\n",
    "#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__)\n#error\n#endif\n",
    "#if defined(__NO_SIGNED_ZEROS__) || (defined(__FINITE_MATH_ONLY__) && (__FINITE_MATH_ONLY__ != 0))\n"
    "#error\n#endif\n",
    "#if defined(__clang__) || !defined(__GNUC__)\n#pragma STDC FP_CONTRACT OFF\n#else\n"
    '#pragma GCC optimize ("fp-contract=off")\n#endif\n',
)
TABLE = "#ifndef SC_TABLE\n#define SC_TABLE\n#endif\n"  # where users may say in which section tables are
TABLE_LINE = re.compile(r"static const (struct )?\w+ \w+(\[\d+\])* SC_TABLE = \{\n")
INCLUDE = re.compile(r'#include (?:<(\w+\.h)>|"(\w+\.h)")\n')
MATHEMATICS = frozenset([*FUNCTIONS, *(f"{name}f" for name in FUNCTIONS), "INFINITY", "NAN"])
HOMES = (
    dict.fromkeys(MATHEMATICS, "math.h") | {"offsetof": "stddef.h"} | dict.fromkeys(("memcpy", "memset"), "string.h")
)
HOMES |= {"INT_MAX": "limits.h", "INT_MIN": "limits.h"}
HOMES |= dict.fromkeys(("bool", "true", "false"), "stdbool.h")
HOMES |= dict.fromkeys({*PORTABLE_TYPEDEFS, *PORTABLE_CONSTANTS, *CONSTANT_MACROS} - {*HOMES, "size_t"}, "stdint.h")
MACROS = {"bool", "true", "false", "INFINITY", "NAN", "INT_MAX", "INT_MIN", *PORTABLE_CONSTANTS, *CONSTANT_MACROS}
STORAGE = re.compile(r"\b(extern|static|typedef|auto|register)\b")  # the parser loses some of them elsewhere
TAGGED = frozenset(("Struct", "Union", "Enum"))
DECLARE = frozenset(("Decl", "Typedef", "TypeDecl", "Struct", "Union", "Enum", "Enumerator", "Label"))
CONTROL = re.compile(
    r"[^\n\t -~\x80-\U0010ffff]"
)  # clang ends a line, and so a comment, at a carriage return; gcc does not
WORD = re.compile(r"[A-Za-z_]\w*|\.?[0-9][\w.]*")
FLOATING = re.compile(r"0[xX]\w*[.pP]|(?!0[xX])([0-9]*\.|[0-9]+[eE])")  # a number that is a double without saying so


def check_text(base: str, files: Mapping[str, str]) -> None:
    """SpecError if the files could mean something else to a compiler than to the proof."""
    Reader(files).read(f"{base}.c", f"{base}.h")


def check_names(nodes: Sequence[Any]) -> None:
    """SpecError if a declared name means something else to a compiler than to the proof, or does not compile."""
    everything = list(_below(nodes))
    _check_macros(everything)
    _check_types(everything, {*PORTABLE_TYPEDEFS, *(node.name for node in nodes if form(node) == "Typedef")})
    _check_order(nodes)


def _check_macros(everything: Iterable[Any]) -> None:
    """No declared name is a macro of a header: the parser takes `float bool` for a float called bool."""
    for node in everything:
        for name in (getattr(node, "name", None), getattr(node, "declname", None)):
            if form(node) in DECLARE and name in MACROS:
                raise SpecError(f"{name} is a macro, and declared", where_of(node))


def _check_types(everything: Iterable[Any], types: Collection[str]) -> None:
    """No tag or constant of an enum is defined twice. No variable has the name of a type, which it would hide, in the
    rest of a list of parameters, too."""
    defined: dict[tuple[bool, str], Any] = {}
    fields: set[int] = set()  # which hide nothing
    for node in everything:
        is_constant = form(node) == "Enumerator"
        members = form(node) in TAGGED and node.name and (getattr(node, "decls", None) or getattr(node, "values", None))
        if (is_constant or members) and defined.setdefault((is_constant, node.name), node) is not node:
            raise SpecError(f"{node.name} is defined twice", where_of(node))
        if form(node) == "Struct":
            fields |= {id(field) for field in node.decls or ()}
        if form(node) == "Decl" and node.name in types and id(node) not in fields:
            raise SpecError(f"{node.name} is a type, and declared again", where_of(node))


def _check_order(nodes: Iterable[Any]) -> None:
    """No function names something at file scope that is declared after it."""
    declared: set[str | None] = set()
    used: set[str] = set()
    for node in nodes:
        for name in {getattr(getattr(node, "decl", node), "name", None), *_names([node], "Enumerator")}:
            if name in used and name not in declared:
                raise SpecError(f"{name} is declared after it is used", where_of(node))
            declared.add(name)
        if form(node) == "FuncDef":
            used |= _names([node.body], "ID") - _names([node], "Decl")


def _below(nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes and all below them, each after the one it is in."""
    pending = list(nodes)
    while pending:
        node = pending.pop()
        yield node
        pending += [child for _, child in node.children()]


def _names(nodes: Iterable[Any], shape: str) -> set[str]:
    """The names of the nodes of a form, at or below these."""
    return {node.name for node in _below(nodes) if form(node) == shape and node.name}


class Reader:
    def __init__(self, files: Mapping[str, str]) -> None:
        self.files = files
        self.included: set[str] = set()
        self.checks: set[str] = set()
        self.has_floats = False
        self.may_be_macros: set[str] = set()
        self.has_code = False  # of the source itself: a pragma holds for what comes after it

    def read(self, source: str, header: str) -> None:
        if header not in self.files or not self._plain(source).startswith(f'#include "{header}"\n'):
            raise SpecError(f"{source} does not begin with its header", Location(source, 1))
        self._file(source)
        missing = {INT_CHECK, *(FLOAT_CHECKS if self.has_floats else ())} - self.checks
        if missing:
            wanted = min(missing).split("\n")[0]
            raise SpecError(f"{source} does not check what the proof assumes: {wanted}", Location(source, 1))

    def _plain(self, file: str) -> str:
        """The text without comments, blank lines and the messages of #error."""
        if CONTROL.search(self.files[file]):
            raise SpecError("a control character", Location(file, 1))
        text = without_comments(self.files[file], file)
        text = re.sub(r'^#error "[^"\n]*"$', "#error", text, flags=re.M)
        return "".join(f"{line.rstrip()}\n" for line in text.split("\n") if line.strip())

    def _file(self, file: str) -> None:
        text = self._plain(file)
        if file.endswith(".h") and (not GUARD.match(text) or not text.endswith("#endif\n")):
            raise SpecError("the header has no guard", Location(file, 1))
        at, depth, cpp = 0, 0, 0
        while at < len(text):
            end = text.index("\n", at) + 1
            line = text[at:end]
            if "#" not in line:
                self._code(file, line)
                self.has_code |= file.endswith(".c")
                at = end
                continue
            check = next((c for c in (INT_CHECK, *FLOAT_CHECKS) if text.startswith(c, at)), None)
            include, guard = INCLUDE.match(text, at), GUARD.match(text, at)
            if cpp < 2 and file.endswith(".h") and text.startswith(CPP[cpp], at):
                at += len(CPP[cpp])
                cpp += 1
            elif check is not None and not depth and not self.has_code and self._has_home(check):
                self.checks.add(check)
                at += len(check)
            elif text.startswith(TABLE, at) and file.endswith(".c") and not depth and not self.has_code:
                self.may_be_macros.add("SC_TABLE")
                at += len(TABLE)
            elif include:
                self._include(file, include)
                at = include.end()
            elif guard:
                depth += 1
                at = guard.end()
            elif line == "#endif\n" and depth:
                depth -= 1
                at = end
            else:
                raise SpecError(f"a directive that is not expected here: {line.strip()}", Location(file, 1))
        if depth or cpp == 1:
            raise SpecError("a directive is not closed", Location(file, 1))

    def _has_home(self, check: str) -> bool:
        return ("limits.h" if check == INT_CHECK else "float.h") in self.included

    def _include(self, file: str, include: re.Match[str]) -> None:
        if include[1]:
            self.included.add(include[1])
        elif include[2] not in self.files or include[2] == file:
            raise SpecError(f"{include[2]} is not one of the files", Location(file, 1))
        else:
            self._file(include[2])

    def _code(self, file: str, line: str) -> None:
        if "SC_TABLE" in line and not TABLE_LINE.fullmatch(line):
            raise SpecError("SC_TABLE is for constants alone, which may be in read-only memory", Location(file, 1))
        misplaced = STORAGE.search(line, re.match(r"\s*(\w+ )?", line).end())  # type: ignore[union-attr]
        if misplaced:
            raise SpecError(f"{misplaced[0]} is not at the beginning of a line", Location(file, 1))
        for word in WORD.findall(line):
            home = HOMES.get(word)
            self.has_floats |= word in ("float", "double") or word in MATHEMATICS or bool(FLOATING.match(word))
            if home is not None and home not in self.included:
                raise SpecError(f"{word} is used without <{home}>", Location(file, 1))
            if home is None and not self._is_plain(word) and word not in self.may_be_macros:
                raise SpecError(f"{word} may be a macro", Location(file, 1))

    def _is_plain(self, word: str) -> bool:
        return word[0] in ".0123456789" or word in KEYWORDS or word.startswith("sc_") or member_name(word) == word
