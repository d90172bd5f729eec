"""C's preprocessor: comments, includes of files beside the source, macros, conditions.

The lines of the output are those of the input, so that messages name the user's; an included file is put between line
markers for the parser.

A file may test a macro that it does not define. In a whole program such a macro is what gcc and clang predefine on
64-bit Linux, or undefined. In a file for any compiler (`portable`) it is unknown: all branches are then kept out, and
may hold only directives, such as #error.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from streamcheck.c.arithmetic import Dialect
from streamcheck.c.expressions import Evaluator
from streamcheck.c.extensions import PlainC, without_extensions
from streamcheck.c.kinds import LONG
from streamcheck.c.lines import BACKSLASH, directives_and_text
from streamcheck.c.macros import NAME, Expansion, Macro, MacroError, parse_macro, tokens_of
from streamcheck.c.models import LP64, DataModel
from streamcheck.c.predefined import predefined_macros
from streamcheck.c.syntax import parse
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.unsaved import read_text

NAMES = re.compile(r"\b[A-Za-z_]\w*")
INTEGER = re.compile(r"((?:0[xX][0-9a-fA-F]+|0[bB][01]+|[0-9]+)[uU]?)[lL]*")
HEADERS = frozenset(f"<{name}.h>" for name in "stdbool stddef stdint limits float math string".split())
QUOTE = '"'
STANDARD_HEADERS = frozenset(
    f"<{name}.h>"
    for name in "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg"
    " stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath time unistd wchar wctype".split()
)
PRAGMAS = ("STDC FP_CONTRACT OFF", 'GCC optimize ("fp-contract=off")')  # every operation on floats is rounded
FILE_AND_LINE = re.compile(r"\b__(?:FILE|LINE)__\b")
# The macros that headers define, which a file may test.
_STDINT = (
    r"U?INT(?:(?:_LEAST|_FAST)?(?:8|16|32|64)|MAX|PTR)_(?:MIN|MAX|C|WIDTH)|(?:SIZE|PTRDIFF|SIG_ATOMIC|WCHAR)_M(?:AX|IN)"
)
HEADER_MACROS = {
    "limits.h": r"CHAR_BIT|(?:S?CHAR|SHRT|INT|LONG|LLONG)_M(?:IN|AX)|U(?:CHAR|SHRT|INT|LONG|LLONG)_MAX",
    "stdint.h": _STDINT,
    "inttypes.h": _STDINT,
    "float.h": r"(?:FLT|DBL|LDBL)_\w+|DECIMAL_DIG",
    "math.h": r"INFINITY|NAN|HUGE_VAL[FL]?|M_\w+|FP_\w+|isnan|isinf|isfinite|isnormal|signbit|fpclassify",
    "stdbool.h": "true|false|bool",
    "assert.h": "assert",
    "stddef.h": "NULL|offsetof",
    "stdlib.h": "NULL|EXIT_SUCCESS|EXIT_FAILURE|RAND_MAX",
    "stdio.h": "NULL|EOF|stdin|stdout|stderr",
    "string.h": "NULL",
    "time.h": "NULL|CLOCKS_PER_SEC",
    "errno.h": "errno|E[A-Z]+",
}
GUARD = re.compile(r"(STREAMCHECK_\w+_H|SC_TABLE)\Z")  # of generated C: not defined before
HEADER = re.compile(r'<[^>\n]+>|"[^"\n]+"')
HAS_INCLUDE = re.compile(r"""\b__has_include\s*\(\s*("[^"]*"|<[^>]*>)\s*\)""")
DEFINED = re.compile(r"\bdefined\s*(?:\(\s*(\w+)\s*\)|(\w+))")


@dataclass(slots=True)
class IfSection:
    """An open #if. `taken`: its current branch counts. `decided`: one of its branches did. `unknown`: that depends on
    the compiler."""

    taken: bool
    decided: bool
    unknown: bool = False


def read_file(path: str) -> str | None:
    """The text of a file. None if it does not exist."""
    if os.path.exists(path) and not os.path.isfile(path):
        raise SpecError(f"{path} is {'a directory' if os.path.isdir(path) else 'a device'}, not a file")
    try:
        return read_text(path, "utf-8-sig")
    except (FileNotFoundError, ValueError):  # no path has a character 0
        return None
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None


def preprocess(
    path: str, files: Callable[[str], str | None] = read_file, model: DataModel = LP64, *, portable: bool = False
) -> PlainC:
    """The text for the parser. In C for any compiler, extensions stay: the parser refuses them."""
    preprocessor = Preprocessor(files, model, portable=portable)
    text = "".join(preprocessor.file(path, ()))
    return PlainC(text) if portable else without_extensions(text)


class Preprocessor:
    def __init__(self, files: Callable[[str], str | None], model: DataModel = LP64, *, portable: bool) -> None:
        self.model = model
        self.files = files
        self.portable = portable
        self.macros: dict[str, Macro] = {} if portable else dict(predefined_macros(model))
        self.headers: set[str] = set()  # of the standard library, that are included
        self.here = Location("", 0)

    def file(self, path: str, within: tuple[str, ...]) -> Iterator[str]:
        text = self.files(path)
        if text is None:
            raise SpecError(f"{path}: No such file or directory", self.here if within else None)
        text = text.replace("\r\n", "\n")
        if self.portable and ("??" in text or BACKSLASH.search(text)):
            raise SpecError("trigraphs and continued lines are not supported", Location(path, 1))
        taken: list[IfSection] = []
        yield f'# 1 "{path}"\n'
        chunk: list[str] = []  # lines between directives: a macro's arguments may go over several
        for number, line, match in directives_and_text(text, path):
            if match is None:
                if line.strip() and any(c.unknown for c in taken):
                    message = f"code under a condition that depends on the compiler: {line.strip()}"
                    raise SpecError(message, Location(path, number))
                chunk.append(line if _is_taken(taken) else "\n" * line.count("\n"))
                continue
            yield from self._expand(path, number - _height(chunk), chunk)
            chunk = ["\n" * line.count("\n")]
            self.here = Location(path, number)
            if match[1] == "include" and _is_taken(taken):
                yield from self._include(path, self._header_name(match[2].strip()), (*within, path))
                yield f'# {number} "{path}"\n'
            else:
                self._directive(match[1], match[2].strip(), taken)
        if taken:
            raise SpecError("an #if without its #endif", self.here)
        yield from self._expand(path, text.count("\n") + 2 - _height(chunk), chunk)

    def _header_name(self, rest: str) -> str:
        """The header of an #include (6.10.2), which macros may give."""
        match = HEADER.match(rest)
        if match is None and not self.portable:
            try:
                match = HEADER.match(Expansion(self.macros, self.here.file, self.here.line).text(rest).strip())
            except MacroError as why:
                raise SpecError(str(why), self.here) from None
        if match is None:
            raise SpecError(f"#include {rest}: not the name of a header", self.here, write='<name.h> or "name.h"')
        return match[0]

    def _include(self, path: str, name: str, within: tuple[str, ...]) -> Iterator[str]:
        if not name.startswith('"'):
            if self.portable and name not in HEADERS:
                raise SpecError(f"{name} is not a supported header", self.here)
            self.headers.add(name.strip("<>"))
            return  # what the headers of the standard library define is known
        beside = os.path.join(os.path.dirname(path), name.strip('"'))
        try:
            known = self.files(beside) is not None
        except SpecError as why:
            raise SpecError(f"#include {name}: {why.message}", self.here) from None
        if not known and not self.portable and f"<{name.strip(QUOTE)}>" in STANDARD_HEADERS:
            return
        if not known:
            raise SpecError(f"{name} is not in the directory of the file that includes it", self.here)
        if beside in within:
            raise SpecError(f"{name} includes itself", self.here)
        yield from self.file(beside, within)

    def _directive(self, name: str, rest: str, taken: list[IfSection]) -> None:
        match name:
            case "if" | "ifdef" | "ifndef":
                holds = self._holds(name, rest) if _is_taken(taken) else False
                taken.append(IfSection(bool(holds), bool(holds), holds is None))
            case "elif" | "else" | "endif" if not taken:
                raise SpecError(f"an #{name} without an #if", self.here)
            case "elif" | "else":
                last = taken[-1]
                if last.unknown:
                    return
                open_ = _is_taken(taken[:-1]) and not last.decided
                holds = open_ and (name == "else" or self._holds("if", rest))
                last.taken, last.unknown = bool(holds), holds is None
                last.decided |= last.taken
            case "endif":
                taken.pop()
            case "error" if any(c.unknown for c in taken):
                pass  # the compiler may refuse the file
            case "define" | "undef" if any(c.unknown for c in taken):
                raise SpecError(f"#{name} under a condition that depends on the compiler", self.here)
            case _ if _is_taken(taken) or any(c.unknown for c in taken):
                self._command(name, rest)

    def _command(self, name: str, rest: str) -> None:
        match name:
            case "define":
                self._define(rest)
            case "undef":
                self.macros.pop(rest, None)
            case "error":
                raise SpecError(f"#error {rest}", self.here)
            case "pragma" if rest.startswith("pack") and not self.portable:
                raise SpecError("#pragma pack changes the layout of structs: not supported", self.here)
            case "pragma" if not self.portable or rest in PRAGMAS:
                pass
            case "" | "line" | "warning" if not self.portable:
                pass
            case _ if name.isdecimal() and not self.portable:
                pass  # where a compiler's preprocessor found the next lines
            case _:
                raise SpecError(f"unknown directive #{name}", self.here)

    def _define(self, rest: str) -> None:
        try:
            name, macro = parse_macro(rest.replace("\n", " "))
        except MacroError as why:
            raise SpecError(str(why), self.here) from None
        if self.portable and (macro.variadic or any(t.text in ("#", "##") for t in macro.body)):
            raise SpecError(f"the macro {name} is variadic or uses # or ##", self.here)
        if name == "NDEBUG":
            raise SpecError("NDEBUG leaves out every assert: not supported", self.here, write="a file without it")
        self.macros[name] = macro

    def _holds(self, name: str, rest: str) -> bool | None:
        """The truth of a condition. None if it depends on the compiler."""
        if name != "if":
            (macro, *_) = rest.split() or [""]
            known = not self.portable or not self._is_unknown(macro)
            return self._is_defined(macro) == (name == "ifdef") if known else None
        if self.portable and any(self._is_unknown(word) for word in NAMES.findall(rest)):
            return None
        if not self.portable:
            rest = HAS_INCLUDE.sub(lambda m: str(int(self._has_header(m[1]))), rest)
        tested = DEFINED.sub(lambda m: str(int(self._is_defined(m[1] or m[2]))), rest)
        try:
            text = Expansion(self.macros, self.here.file, self.here.line).text(tested)
            return _condition(" ".join(self._operand(t.text) for t in tokens_of(text)), self.here.file)
        except (SpecError, ValueError, MacroError):
            raise SpecError(f"the condition is not constant: #if {rest}", self.here) from None

    def _has_header(self, name: str) -> bool:
        """The answer to __has_include."""
        beside = os.path.join(os.path.dirname(self.here.file), name.strip('"<>'))
        if name.startswith('"') and self.files(beside) is not None:
            return True
        if f"<{name.strip(QUOTE)}>" in STANDARD_HEADERS or name in STANDARD_HEADERS:
            return True
        if name.startswith('"'):
            return False
        message = f"whether __has_include finds {name} depends on the machine"
        raise SpecError(message, self.here, write="1 or 0 instead")

    def _is_defined(self, name: str) -> bool:
        if name in self.macros:
            return True
        return not self.portable and (name == "__has_include" or self._is_in_headers(name))

    def _is_in_headers(self, name: str) -> bool:
        """A header that the file includes defines the macro."""
        return any(re.fullmatch(HEADER_MACROS[header], name) for header in self.headers & HEADER_MACROS.keys())

    def _operand(self, token: str) -> str:
        """A token of a condition as one of a constant expression. A name that is no macro is 0."""
        if NAME.match(token):
            known = self.model.constants.get(token) if self._is_in_headers(token) else None
            return _literal(known[0] if known else 0)
        whole = INTEGER.fullmatch(token)
        return f"{whole[1]}L" if whole else token

    def _is_unknown(self, name: str) -> bool:
        """True if the macro depends on the compiler. No compiler defines the guards of generated headers."""
        return name not in (*self.macros, "defined", "__cplusplus") and not GUARD.match(name)

    def _expand(self, path: str, first: int, chunk: list[str]) -> Iterator[str]:
        self.here = Location(path, first)
        text = "".join(chunk)
        if self.macros.keys().isdisjoint(NAMES.findall(text)) and not FILE_AND_LINE.search(text):
            yield text
            return
        expansion = Expansion(self.macros, path, first)
        try:
            yield expansion.text(text)
        except MacroError as why:
            raise SpecError(str(why), Location(path, expansion.line)) from None


def _is_taken(taken: list[IfSection]) -> bool:
    return all(c.taken for c in taken)


def _height(chunk: list[str]) -> int:
    return sum(line.count("\n") for line in chunk)


def _condition(text: str, path: str) -> bool:
    """The truth of the expression of an #if (6.10.1). Integers are intmax_t; names that are no macros are 0."""
    (declaration,) = parse(f"enum {{ value = ({text}) }};", path, ())
    return bool(Evaluator(path, Dialect.COMPILED).constant(declaration.type.values.enumerators[0].value))


def _literal(value: int) -> str:
    return f"{value}UL" if value > LONG.high else f"({value + 1}L - 1L)"
