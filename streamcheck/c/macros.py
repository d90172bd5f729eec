"""Macros of C's preprocessor (6.10.3), as gcc expands them.

Tokens are read from a stack of contexts: the text, and on it the bodies of the macros that are being expanded. A macro
whose body is on the stack is disabled, and a name that is met while its macro is disabled is never expanded, not even
later (6.10.3.4). Arguments are expanded on their own before they are put into the body, except beside `#` and `##`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

PIECE = re.compile(
    r"""(?:u8|[uUL])?(?:"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*') | [A-Za-z_$][\w$]* | \.?[0-9](?:[eEpP][+-]|[\w.])*
      | \n | [^\S\n]+ | <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\| | \#\#
      | [-+*/%&|^]= | . """,
    re.X | re.S,
)
NAME = re.compile(r"[A-Za-z_$][\w$]*\Z")
VARIABLE = "__VA_ARGS__"


@dataclass(frozen=True, slots=True)
class MacroToken:
    """`space`: white space comes before it. `painted`: never expanded. `made`: from the body of a macro."""

    text: str
    space: bool = False
    painted: bool = False
    made: bool = False


PASTE, NOTHING = MacroToken("##"), MacroToken("")  # the operator in a body, and an empty argument beside it


@dataclass(frozen=True, slots=True)
class Macro:
    """`parameters`: None if it takes no parentheses. `variadic`: the last one stands for all further arguments."""

    parameters: tuple[str, ...] | None
    body: tuple[MacroToken, ...]
    variadic: bool = False


@dataclass(slots=True)
class MacroContext:
    tokens: list[MacroToken]
    macro: str | None
    at: int = 0


@dataclass(slots=True)
class Argument:
    """`expanded`: once it has been needed."""

    tokens: list[MacroToken]
    expanded: list[MacroToken] | None = field(default=None)


class MacroError(Exception):
    """A macro is defined or used wrongly."""


def tokens_of(text: str) -> list[MacroToken]:
    tokens: list[MacroToken] = []
    space = False
    for piece in PIECE.findall(text):
        if piece != "\n" and piece.isspace():
            space = True
            continue
        tokens.append(MacroToken(piece, space))
        space = False
    return tokens


def parse_macro(text: str) -> tuple[str, Macro]:
    """The name and the macro of a `#define`."""
    match = re.match(r"([A-Za-z_$][\w$]*)(\(([^)]*)\))?(.*)", text, re.S)
    if match is None:
        raise MacroError(f"not a macro definition: {text}")
    body = tuple(replace(t, made=True) for t in tokens_of(match[4].strip()) if t.text != "\n")
    if not match[2]:
        return match[1], Macro(None, _with_pastes(match[1], body))
    names = [p.strip() for p in match[3].split(",")] if match[3].strip() else []
    variadic = bool(names) and names[-1].endswith("...")
    if variadic:
        names[-1] = names[-1].removesuffix("...").strip() or VARIABLE
    if not all(NAME.match(p) for p in names) or len(set(names)) < len(names):
        raise MacroError(f"the parameters of the macro {match[1]} are not names: ({match[3]})")
    for t, following in zip(body, [*body[1:], NOTHING], strict=False):
        if t.text == "#" and following.text not in names:
            raise MacroError(f"the macro {match[1]}: # comes before {following.text or 'the end'}, not a parameter")
        if t.text == "__VA_OPT__":
            raise MacroError(f"the macro {match[1]} uses __VA_OPT__, which is not supported; write , ## __VA_ARGS__")
    return match[1], Macro(tuple(names), _with_pastes(match[1], body), variadic)


def _with_pastes(name: str, body: tuple[MacroToken, ...]) -> tuple[MacroToken, ...]:
    if body and "##" in (body[0].text, body[-1].text):
        raise MacroError(f"the macro {name}: ## at an end of its body")
    return tuple(PASTE if t.text == "##" else t for t in body)


class Expansion:
    """The tokens of a text with its macros expanded. `line`: that of the token being read."""

    def __init__(self, macros: Mapping[str, Macro], file: str, line: int) -> None:
        self.macros = macros
        self.file = file
        self.line = line
        self.stack: list[MacroContext] = []
        self.floor = 0  # contexts below it are not read: an argument is expanded on its own
        self.disabled: set[str] = set()
        self.waiting = 0  # lines that the arguments of the present macro went over

    def text(self, text: str) -> str:
        """The expanded text, with as many lines."""
        pieces: list[str] = []
        before = MacroToken("\n")
        for token in self._expand(tokens_of(text)):
            if not token.made and self.waiting:
                pieces.append("\n" * self.waiting)
                self.waiting = 0
            if token.text == "\n":
                self.line += 1
            apart = token.space or ((token.made or before.made) and token.text != "\n")
            pieces.append(" " + token.text if apart else token.text)
            before = token
        return "".join(pieces) + "\n" * self.waiting

    def _expand(self, tokens: list[MacroToken]) -> Iterator[MacroToken]:
        self.stack.append(MacroContext(tokens, None))
        outer, self.floor = self.floor, len(self.stack)
        while (token := self._next()) is not None:
            macro = None if token.painted else self.macros.get(token.text)
            if macro is None:
                yield self._place(token)
            elif token.text in self.disabled:
                yield replace(token, painted=True)
            elif macro.parameters is None:
                self._begin(token, macro, {})
            else:
                arguments = self._arguments(token.text, macro)
                if arguments is None:
                    yield token
                else:
                    self._begin(token, macro, arguments)
        self.floor = outer
        self.stack.pop()

    def _place(self, token: MacroToken) -> MacroToken:
        """The token, or the place that it stands for (6.10.8)."""
        if token.text == "__LINE__":
            return replace(token, text=str(self.line), made=True)
        if token.text == "__FILE__":
            name = re.sub(r'[\\"]', r"\\\g<0>", self.file)
            return replace(token, text=f'"{name}"', made=True)
        return token

    def _next(self) -> MacroToken | None:
        """The next token. The bodies that have ended go, and their macros are enabled again."""
        while True:
            context = self.stack[-1]
            if context.at < len(context.tokens):
                context.at += 1
                return context.tokens[context.at - 1]
            if len(self.stack) == self.floor:
                return None
            self._end(self.stack.pop())

    def _end(self, context: MacroContext) -> None:
        if context.macro is not None:
            self.disabled.discard(context.macro)

    def _begin(self, token: MacroToken, macro: Macro, arguments: dict[str, Argument]) -> None:
        body = self._paste(token.text, self._body(macro, arguments))
        if body:
            body[0] = replace(body[0], space=token.space)
        self.stack.append(MacroContext(body, token.text))
        self.disabled.add(token.text)

    # Arguments

    def _arguments(self, name: str, macro: Macro) -> dict[str, Argument] | None:
        """The arguments by parameter. None if no parenthesis comes next."""
        passed: list[MacroToken] = []
        while (token := self._next()) is not None and token.text == "\n":
            passed.append(token)
        if token is None or token.text != "(":
            rest = passed if token is None else [*passed, token]
            if rest:
                self.stack.append(MacroContext(rest, None))
            return None
        self._pass_lines(len(passed))
        assert macro.parameters is not None
        wanted = macro.parameters
        parts = self._parts(name, len(wanted) - 1 if macro.variadic else None)
        if not wanted and len(parts) == 1 and not parts[0]:
            return {}
        if macro.variadic and len(parts) == len(wanted) - 1:
            parts.append([])
        if len(parts) != len(wanted):
            raise MacroError(f"the macro {name} takes {len(wanted)} arguments, found {len(parts)}")
        return {p: Argument(part) for p, part in zip(wanted, parts, strict=True)}

    def _pass_lines(self, count: int) -> None:
        self.waiting += count
        self.line += count

    def _parts(self, name: str, last: int | None) -> list[list[MacroToken]]:
        """The arguments up to the closing parenthesis. `last`: the number of the one that has commas."""
        parts: list[list[MacroToken]] = [[]]
        depth, space, first = 0, False, self.line
        while (token := self._next()) is not None:
            if token.text == "\n":
                self._pass_lines(1)
                space = True
                continue
            if token.text == ")" and not depth:
                return parts
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.text == "," and not depth and len(parts) - 1 != last:
                parts.append([])
                continue
            painted = token.painted or token.text in self.disabled
            parts[-1].append(replace(token, space=token.space or space, painted=painted, made=True))
            space = False
        self.line = first
        raise MacroError(f"the arguments of the macro {name} are not closed")

    # Bodies

    def _body(self, macro: Macro, arguments: dict[str, Argument]) -> list[MacroToken]:
        """The body with the arguments in it, before `##` is applied."""
        result: list[MacroToken] = []
        body = macro.body
        at = 0
        while at < len(body):
            token = body[at]
            following = body[at + 1] if at + 1 < len(body) else NOTHING
            if token.text == "#" and macro.parameters is not None:
                result.append(MacroToken(_string_of(arguments[following.text].tokens), token.space, made=True))
                at += 2
                continue
            argument = None if token is PASTE else arguments.get(token.text)
            if argument is None:
                result.append(token)
            elif following is PASTE or (result and result[-1] is PASTE):
                self._put_raw(token, argument, macro, result)
            else:
                inner = self._expand_argument(argument)
                result += [replace(t, space=token.space) if i == 0 else t for i, t in enumerate(inner)]
            at += 1
        return result

    def _put_raw(self, token: MacroToken, argument: Argument, macro: Macro, result: list[MacroToken]) -> None:
        """An argument beside `##`. After a comma, one for further arguments is only left out with it if it is empty."""
        assert macro.parameters is not None
        rest = macro.variadic and token.text == macro.parameters[-1]
        if rest and len(result) > 1 and result[-1] is PASTE and result[-2].text == ",":
            result.pop()
            if not argument.tokens:
                result[-1] = NOTHING
        raw = argument.tokens or [NOTHING]
        result += [replace(t, space=token.space) if i == 0 and t is not NOTHING else t for i, t in enumerate(raw)]

    def _expand_argument(self, argument: Argument) -> list[MacroToken]:
        if argument.expanded is None:
            argument.expanded = list(self._expand(argument.tokens))
        return argument.expanded

    def _paste(self, name: str, tokens: list[MacroToken]) -> list[MacroToken]:
        result: list[MacroToken] = []
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token is PASTE and result:
                at += 1
                left, right = result.pop(), tokens[at]
                joined = left.text + right.text
                if joined and [joined] != PIECE.findall(joined):
                    raise MacroError(f"the macro {name}: {left.text} ## {right.text} is not one token")
                token = MacroToken(joined, left.space, made=True) if left.text and right.text else _first(left, right)
            result.append(token)
            at += 1
        return [t for t in result if t.text]


def _first(left: MacroToken, right: MacroToken) -> MacroToken:
    return left if left.text else right


def _string_of(tokens: list[MacroToken]) -> str:
    """The argument of `#` as a string (6.10.3.2)."""
    pieces = []
    for i, token in enumerate(tokens):
        text = token.text
        if text[-1:] in ("'", '"') and len(text) > 1:
            text = re.sub(r'[\\"]', r"\\\g<0>", text)
        pieces.append(" " + text if token.space and i else text)
    return f'"{"".join(pieces)}"'
