"""Extensions of C that compilers have and the parser does not: attributes, assembler, ranges of cases, `a ?: b`.

The lines of the output are those of the input. What changes the meaning is kept in a form that can be parsed: a layout
is a pragma in its struct, a range of cases and the operand that `?:` leaves out are names that no program has.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

TOKEN = re.compile(
    r"""[A-Za-z_]\w* | \.?[0-9](?:[eEpP][+-]|[\w.])* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | \n
      | [^\S\n]+ | \.\.\. | . """,
    re.X | re.S,
)
MARKER = re.compile(r"\s+\d+\s+\"")  # of the parser, after its #: the line and "file"
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{1,2})(?![0-9a-fA-F])|([0-7]{1,3})|.)", re.S)
DROPPED = frozenset("__extension__ __inline __inline__ _Noreturn noreturn".split())
ATTRIBUTES = ("__attribute__", "__attribute", "_Alignas", "alignas")
MEANINGFUL = frozenset("vector_size cleanup alias constructor destructor scalar_storage_order".split())
MODES = {"QI": "char", "HI": "short", "SI": "int", "DI": "long long", "word": "long", "byte": "char", "pointer": "long"}
ASSEMBLERS = ("asm", "__asm", "__asm__")
RENAMED = {
    "__volatile__": "volatile",
    "__volatile": "volatile",
    "__const": "const",
    "__restrict": "restrict",
    "__restrict__": "restrict",
    "__signed__": "signed",
    "__signed": "signed",
    "__builtin_offsetof": "offsetof",
    "__alignof__": "_Alignof",
    "__alignof": "_Alignof",
    "alignof": "_Alignof",
}
REFUSED = dict.fromkeys(("typeof", "__typeof__", "__typeof", "__auto_type"), "write the type")
REFUSED |= {"_Generic": "write the expression for the type", "__label__": "write a label of the function"}
OF_TYPES = ("__builtin_types_compatible_p", "__builtin_va_arg", "va_arg")  # their arguments are types
RANGE, FIRST = "__case_range", "__first_operand"
LARGEST_ALIGNMENT = "16"
LAYOUT = "layout"


@dataclass(frozen=True, slots=True)
class PlainC:
    """`endless`: functions that do not return. `pure`: those that change nothing. `constant`: those of them that also
    read nothing but their arguments. `realigned`: types by the alignment that they are declared with, None if it is no
    number."""

    text: str
    endless: frozenset[str] = frozenset()
    pure: frozenset[str] = frozenset()
    constant: frozenset[str] = frozenset()
    realigned: Mapping[str, int | None] = field(default_factory=dict)


def without_extensions(text: str) -> PlainC:
    reader = _Extensions(text)
    reader.read()
    endless, pure, constant = (frozenset(names) for names in (reader.endless, reader.pure, reader.constant))
    return PlainC("".join(reader.pieces), endless, pure, constant, reader.realigned)


class _Extensions:
    def __init__(self, text: str) -> None:
        self.tokens = TOKEN.findall(text)
        self.at = 0
        self.file, self.line = "", 1
        self.pieces: list[str] = []
        self.endless: set[str] = set()
        self.pure: set[str] = set()
        self.constant: set[str] = set()
        self.realigned: dict[str, int | None] = {}
        self.declaration: list[str] = []  # since the last ; { or }
        self.words: set[str] = set()  # of its attributes
        self.alignment: tuple[int | None] | None = None  # of the declaration
        self.structs: list[bool] = []  # for each open brace, whether it is of a struct
        self.closed: int | None = None  # the piece of the last brace, if nothing but an attribute has come since
        self.waiting = ""  # the layout of the struct whose brace comes next

    def read(self) -> None:
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            self.at += 1
            if token == "#" and MARKER.match("".join(self.tokens[self.at : self.at + 4])):
                self.file, self.line = self.tokens[self.at + 3].strip('"'), int(self.tokens[self.at + 1]) - 1
            self.line += token == "\n"
            if token in ATTRIBUTES:
                self._attribute(token)
            elif token in ASSEMBLERS:
                self._assembler()
            elif (token in REFUSED and self._next() in ("(", token)) or token in ("__auto_type", "__label__"):
                raise SpecError(f"{token} is not supported", Location(self.file, self.line), write=REFUSED[token])
            elif token in ("&", "goto") and self._takes_label():
                message = "labels as values (&&label, goto *) are not supported"
                raise SpecError(message, Location(self.file, self.line), write="a switch")
            elif token == "_Pragma":
                self._pragma()
            elif token in OF_TYPES and self._next() == "(":
                self._skip(_after_parentheses(self.tokens, self.at), f"{token}()")
            else:
                self._plain(token)

    def _next(self) -> str:
        """The next token that is no white space."""
        return next((self.tokens[i] for i in range(self.at, len(self.tokens)) if self.tokens[i].strip()), "")

    def _takes_label(self) -> bool:
        """The token before this place begins &&label or goto *: a binary && comes after an operand."""
        if self.tokens[self.at - 1] == "goto":
            return self._next() == "*"
        if self.tokens[self.at : self.at + 1] != ["&"]:
            return False
        before = self.at - 2
        while before >= 0 and self.tokens[before].isspace():
            before -= 1
        return before >= 0 and (self.tokens[before] in ("return", *"=({[,;?:"))

    def _plain(self, token: str) -> None:
        if token == "case":
            self._mark_range()
        elif token[0] == '"' and self._next()[:1] == '"':
            token = ESCAPE.sub(_octal, token)
        elif token == "?" and self._next() == ":":
            token = f"? {FIRST} "
        elif token == "{":
            self.structs.append(self._is_struct())
            token += self.waiting
            self.waiting = ""
        elif token == "}" and self.structs:
            self.closed = len(self.pieces) if self.structs.pop() else None
        if token[0] in ";{}":
            self._end(token)
        else:
            self.declaration.append(token)
            self.closed = self.closed if token.isspace() else None
        self.pieces.append("" if token in DROPPED else RENAMED.get(token, token))
        if token in ("_Noreturn", "noreturn"):
            self.words.add("noreturn")

    def _end(self, token: str) -> None:
        """The end of a declaration, or the beginning of a body."""
        name = re.findall(r"\b(\w+)\s*\(", " ".join(self.declaration))[:1] if self.words else []
        if "noreturn" in self.words:
            self.endless.update(name)
        if not self.words.isdisjoint(("pure", "const")):
            self.pure.update(name)
        if "const" in self.words:
            self.constant.update(name)
        if token == ";" and self.alignment is not None and "typedef" in self.declaration:
            names = [t for t in self.declaration if t.isidentifier()]
            self.realigned[names[-1]] = self.alignment[0]
        self.words, self.alignment, self.declaration = set(), None, []

    def _is_struct(self) -> bool:
        last = [t for t in self.declaration if t.strip()][-2:]
        return bool(last) and (last[-1] in ("struct", "union") or last[0] in ("struct", "union"))

    def _skip(self, end: int, instead: str = "") -> None:
        lines = self.tokens[self.at : end].count("\n")
        self.line += lines
        self.pieces.append(instead + "\n" * lines)
        self.at = end

    # Attributes

    def _attribute(self, token: str) -> None:
        end = _after_parentheses(self.tokens, self.at)
        inside = self.tokens[self.at : end]
        words = {t.strip("_") for t in inside}
        where = Location(self.file, self.line)
        self._skip(end)
        self.words |= words & {"noreturn", "pure", "const"}
        mode = words & MODES.keys()
        if "mode" in words and mode:
            self._retype(MODES[min(mode)])
        elif not words.isdisjoint(MEANINGFUL):
            wrong = min(words & MEANINGFUL)
            raise SpecError(f"the attribute {wrong} changes the meaning of the program: not supported", where)
        if not token.startswith("__"):  # _Alignas: of a variable or a field, even after the fields of its struct
            self._layout_of_field()
        elif not words.isdisjoint(("packed", "aligned")):
            packed = "packed" if "packed" in words else ""
            self._layout(packed, _alignment(inside) if "aligned" in words else (1,))

    def _layout(self, packed: str, alignment: tuple[int | None]) -> None:
        """Puts the layout where it belongs: to the struct just closed or about to open, to the one of the field, or to
        the name of a typedef. That of a variable does not matter."""
        number = "?" if alignment[0] is None else str(alignment[0])
        marker = f' _Pragma("{LAYOUT} {packed or "as"} {number}") '
        if self.closed is not None:
            self.pieces[self.closed] = marker + self.pieces[self.closed]
        elif self._is_struct() and "{" in (self._next(), *self.tokens[self._place_after_name() :][:1]):
            self.waiting = marker
        elif not self._layout_of_field() and not packed:
            self.alignment = alignment

    def _layout_of_field(self) -> bool:
        """The struct that is open has another layout. False if none is."""
        is_open = bool(self.structs and self.structs[-1])
        for end in [i for i in range(self.at, len(self.tokens)) if is_open and self.tokens[i] == ";"][:1]:
            self.tokens[end] = f'; _Pragma("{LAYOUT} field ?") '
        return is_open

    def _place_after_name(self) -> int:
        """The place of the token after the next name."""
        places = [i for i in range(self.at, min(self.at + 8, len(self.tokens))) if self.tokens[i].strip()]
        return places[1] if len(places) > 1 else self.at

    def _retype(self, wanted: str) -> None:
        """Gives the present declaration the type of an attribute `mode`, instead of int."""
        first = max(len(self.pieces) - len(self.declaration) - 2, -1)
        for at in range(len(self.pieces) - 1, first, -1):
            if self.pieces[at] == "int":
                unsigned = "unsigned" in self.declaration
                self.pieces[at] = wanted if wanted != "char" or unsigned else "signed char"
                return

    # Other extensions

    def _assembler(self) -> None:
        end = _after_parentheses(self.tokens, _after_qualifiers(self.tokens, self.at))
        before = next((t for t in reversed(self.declaration) if t.strip()), ";")
        is_name = before == ")" or before.isidentifier()  # a name for the linker, not a statement
        self._skip(end, "" if is_name else "__asm__()")

    def _pragma(self) -> None:
        end = _after_parentheses(self.tokens, self.at)
        if any("pack" in t for t in self.tokens[self.at : end]):
            message = "#pragma pack changes the layout of structs: not supported"
            raise SpecError(message, Location(self.file, self.line))
        self._skip(end)

    def _mark_range(self) -> None:
        """`case a ... b:` becomes a call."""
        choices = 0
        dots = None
        for i in range(self.at, len(self.tokens)):
            token = self.tokens[i]
            if token == "...":
                dots = i
            if token == ":" and not choices:
                if dots is not None:
                    self.tokens[i] = "):"
                    self.tokens[dots] = ","
                    self.tokens.insert(self.at, f" {RANGE}(")
                return
            choices += {"?": 1, ":": -1}.get(token, 0)
            if token in (";", "{", "}"):
                return


def _octal(escape: re.Match[str]) -> str:
    """An escape of three digits, which a string that follows cannot continue."""
    code = int(escape[1], 16) if escape[1] else int(escape[2] or "0", 8)
    return f"\\{code:03o}" if escape[1] or escape[2] else escape[0]


def _number(tokens: Sequence[str]) -> tuple[int | None]:
    """The value of an alignment, if it is written as a number."""
    return (int(tokens[0], 0),) if len(tokens) == 1 and re.fullmatch(r"0x[0-9a-fA-F]+|[1-9]\d*", tokens[0]) else (None,)


def _alignment(tokens: Sequence[str]) -> tuple[int | None]:
    """The argument of `aligned`."""
    solid = [t for t in tokens if t.strip()]
    place = next(i for i, t in enumerate(solid) if t.strip("_") == "aligned")
    if solid[place + 1] != "(":
        return _number([LARGEST_ALIGNMENT])
    return _number(solid[place + 2 : _after_parentheses(solid, place + 1) - 1])


def _after_qualifiers(tokens: Sequence[str], at: int) -> int:
    while at < len(tokens) and (not tokens[at].strip() or tokens[at].strip("_") in ("volatile", "goto", "inline")):
        at += 1
    return at


def _after_parentheses(tokens: Sequence[str], at: int) -> int:
    depth = 0
    while at < len(tokens):
        depth += {"(": 1, ")": -1}.get(tokens[at], 0)
        at += 1
        if not depth and tokens[at - 1].strip():
            break
    return at
