"""The expressions of a requirement, as streams. Names mean what they mean where the requirement stands.

Conditions about the past [FRET] count from the start of the interval in which the requirement is active:

    persisted(n, p)      p held now and at the n steps before
    persisted(m, n, p)   p held at the steps from n to m ago
    occurred(n, p)       p held now or at one of the n steps before;  occurred(m, n, p): at one from n to m ago
    prevOcc(p, q)        at the last step before now at which p held, if there was one, q held too
    preBool(i, p), preInt(i, x), preReal(i, x)   the value one step ago, at the first step i
    FTP                  the first step of the run
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import BOOL, FloatType
from streamcheck.lang import build
from streamcheck.lang.lib import ptltl
from streamcheck.lang.lib.parts import age_of, bool_stream
from streamcheck.lang.requirements.sentence import Expression
from streamcheck.lang.stream import Stream, append, power

Evaluated: TypeAlias = "Stream | bool | int | Fraction | Any"
LATER = ("persists", "occurs", "nextOcc")


class Streams:
    """Expressions as streams. `begins` holds at the first step of each interval; None in a mode, which has none."""

    def __init__(self, names: Mapping[str, object], begins: Stream | None) -> None:
        self.names = names
        self.begins = begins

    def condition(self, e: Expression) -> Stream:
        value = self.value(e)
        if not isinstance(value, Stream | bool):
            raise SpecError(f"requirement: expected a Bool, found `{text_of(e)}`", here())
        if isinstance(value, Stream) and value._node.type is not BOOL:
            raise SpecError(f"requirement: expected a Bool, found `{text_of(e)}`, {value._node.type}", here())
        return bool_stream(value, "")

    def value(self, e: Expression) -> Evaluated:
        match e.op:
            case "true" | "false":
                return e.op == "true"
            case "number":
                number = Fraction(e.text)
                return int(number) if e.text.isdecimal() else number
            case "name":
                return self._meaning_of(e.text)
            case "call":
                return self._call(e)
            case "!":
                return ~self.condition(e.args[0])
            case "&" | "|" | "xor" | "=>" | "<=>":
                return _logical(e.op, *map(self.condition, e.args))
        return self._arithmetic(e)

    def _meaning_of(self, name: str) -> Evaluated:
        if name == "FTP" and name not in self.names:
            return build.first
        if name not in self.names:
            raise SpecError(
                f"requirement: no stream `{name}` here",
                here(),
                write=f'{name} = extern("{name}", Bool) above, or requirement("…", {{"{name}": …}})',
            )
        return self.names[name]

    def _arithmetic(self, e: Expression) -> Evaluated:
        values = [_operand(v) for v in map(self.value, e.args)]
        try:
            if e.op == "negative":
                return -values[0]
            return OPERATORS[e.op](*_beside(*values))
        except (TypeError, ZeroDivisionError) as why:
            raise SpecError(f"requirement: `{text_of(e)}`: {why}", here()) from None

    def _call(self, e: Expression) -> Evaluated:
        if e.text in self.names:
            function = self.names[e.text]
            if not callable(function):
                raise SpecError(f"requirement: `{e.text}` is no function", here())
            return function(*map(self.value, e.args))
        if e.text in LATER:
            raise SpecError(f"requirement: `{e.text}` is about later steps, which are not known yet", here())
        match e.text, len(e.args):
            case (("preBool" | "preInt" | "preReal"), 2):
                initial, delayed = _beside(*map(self.value, e.args))
                if not isinstance(delayed, Stream):
                    raise SpecError(f"requirement: expected a stream, found `{text_of(e.args[1])}`", here())
                return build.then(initial, build.pre(_any_value(delayed), delayed))
            case "persisted" | "occurred", 2 | 3:
                numbers = [self._count(a) for a in e.args[:-1]]
                least, most = (0, *numbers)[-2:]
                return self._window(e.text, least, most, self.condition(e.args[-1]))
            case "prevOcc", 2:
                return self._previous_occurrence(*map(self.condition, e.args))
            case (("absReal" | "absInt" | "abs"), 1):
                return abs(self.value(e.args[0]))
            case (("minReal" | "minInt"), 2):
                return build.minimum(*_beside(*map(self.value, e.args)))
            case (("maxReal" | "maxInt"), 2):
                return build.maximum(*_beside(*map(self.value, e.args)))
        raise SpecError(f"requirement: no function `{e.text}` of {len(e.args)} arguments here", here())

    def _count(self, e: Expression) -> int:
        number = self.value(e)
        if not isinstance(number, int) or isinstance(number, bool):
            raise SpecError(f"requirement: expected a number of steps, found `{text_of(e)}`", here())
        return number

    def _window(self, op: str, least: int, most: int, p: Stream) -> Stream:
        """p at all the steps from `least` to `most` ago, or at one of them. Steps before the interval are no steps; if
        there is one among them, p has not persisted. In a mode, steps before the run do not count."""
        if least > most:
            raise SpecError(f"requirement: `{op}`: from {least} to {most} steps ago", here())
        if op == "persisted":
            failed = age_of(~ago(p, least, True), most - least + 1) <= most - least
            return ~failed if self.begins is None or most == 0 else ~failed & (age_of(self.begins, most) >= most)
        if least == 0 or self.begins is None:
            kept = None if self.begins is None else ~self.begins
            return age_of(ago(p, least, False), most - least + 1, kept) <= most - least
        began = age_of(self.begins, most)
        return build.any_of([ago(p, n, False) & (began >= n) for n in range(least, most + 1)])

    def _previous_occurrence(self, p: Stream, q: Stream) -> Stream:
        if self.begins is None:
            return ptltl.previous(ptltl.since(~p, p & q))
        apart = ~self.begins & ~p
        agrees = build.implies(ptltl.since(apart, p), ptltl.since(apart, p & q))
        return self.begins | ptltl.previous(agrees)


def ago(p: Stream, steps: int, before: bool) -> Stream:
    """The value of p so many steps ago, and before the run this one."""
    return append([before] * steps, p) if steps else p


def _logical(op: str, a: Stream, b: Stream) -> Stream:
    match op:
        case "&":
            return a & b
        case "|":
            return a | b
        case "xor":
            return a ^ b
        case "=>":
            return build.implies(a, b)
    return a == b


def _operand(value: Evaluated) -> Evaluated:
    if isinstance(value, bool):
        return build.constant_of(BOOL, value)
    return value


def _beside(a: Evaluated, b: Evaluated) -> tuple[Evaluated, Evaluated]:
    """The two, a number in the form that the type of the stream beside it takes."""
    if isinstance(a, Stream) and isinstance(b, Fraction):
        return a, _number_beside(b, a)
    if isinstance(b, Stream) and isinstance(a, Fraction):
        return _number_beside(a, b), b
    return a, b


def _number_beside(number: Fraction, beside: Stream) -> int | float | Fraction:
    if isinstance(beside._node.type, FloatType):
        return float(number)
    return int(number) if number.denominator == 1 else number


def _any_value(stream: Stream) -> bool | int:
    """A value of the stream's type, for a step at which it does not count."""
    return False if stream._node.type is BOOL else 0


def _division(a: Evaluated, b: Evaluated) -> Evaluated:
    if isinstance(a, Stream) or isinstance(b, Stream):
        return a / b
    return Fraction(a) / Fraction(b)


OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _division,
    "mod": operator.mod,
    "^": lambda a, b: power(a, b) if isinstance(a, Stream) else a**b,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "=": operator.eq,
    "!=": operator.ne,
}


def text_of(e: Expression) -> str:
    """The expression as text, for messages."""
    match e.op:
        case "name" | "number":
            return e.text
        case "true" | "false":
            return e.op
        case "call":
            return f"{e.text}({', '.join(map(text_of, e.args))})"
        case "!" | "negative":
            return f"{'!' if e.op == '!' else '-'}{text_of(e.args[0])}"
    return f"({text_of(e.args[0])} {e.op} {text_of(e.args[1])})"
