"""A requirement as text to its five parts [GPMS21, Section 3]:

    scope  condition  component shall  timing  satisfy response

    In cruise mode, when speed > limit, the controller shall within 3 ticks satisfy brake.

The expressions in it are read to trees; names get their streams later (`expressions`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.lang.requirements.words import UNITS, Words


@dataclass(frozen=True, slots=True)
class Expression:
    """`op` is a sign, or `name`, `number`, `call`, `true`, `false` or `negative`."""

    op: str
    args: tuple[Expression, ...] = ()
    text: str = ""


class Scope(Enum):
    """The intervals of a run in which a requirement counts, by its mode. Of the last three, the response must not be
    satisfied elsewhere."""

    ALL = "null"
    IN = "in"
    NOT_IN = "notin"
    BEFORE = "before"
    AFTER = "after"
    ONLY_IN = "onlyIn"
    ONLY_BEFORE = "onlyBefore"
    ONLY_AFTER = "onlyAfter"


class Condition(Enum):
    """The trigger of the response: the start of each interval, a condition that becomes true, one that is true."""

    NONE = "null"
    BECOMES = "regular"
    HOLDS = "holding"


class Timing(Enum):
    IMMEDIATELY = "immediately"
    NEXT = "next"
    FINALLY = "finally"
    ALWAYS = "always"
    EVENTUALLY = "eventually"
    NEVER = "never"
    WITHIN = "within"
    FOR = "for"
    AFTER = "after"
    UNTIL = "until"
    BEFORE = "before"


@dataclass(frozen=True, slots=True)
class Sentence:
    scope: Scope
    mode: Expression | None
    condition: Condition
    trigger: Expression | None
    component: str
    timing: Timing
    duration: int  # of within, for and after, in steps
    stop: Expression | None  # of until and before
    response: Expression


QUALIFIERS = ("upon", "whenever", "when", "unless", "where", "if")
INSIDE = {"": Scope.IN, "only": Scope.ONLY_IN}
BEFORE = {"": Scope.BEFORE, "only": Scope.ONLY_BEFORE}
AFTER = {"": Scope.AFTER, "only": Scope.ONLY_AFTER}
TIMEPOINTS = {"first": Timing.IMMEDIATELY, "same": Timing.IMMEDIATELY, "next": Timing.NEXT, "last": Timing.FINALLY}


def read_sentence(text: str, step: Fraction | None = None) -> Sentence:
    """SpecError, with the place in the text, if it is no requirement. `step` is the length of a step in seconds."""
    words = Words(text, step)
    scope, mode = _scope(words)
    words.has_taken(",")
    condition, trigger = _condition(words)
    component = _component(words)
    if words.is_next("with") or (words.is_next(",") and "probability" in text.lower()):
        words.refuse("a requirement without a probability")
    timing, duration, stop = _when(words)
    words.require("satisfy")
    response = expression(words)
    if words.next.kind != "end":
        words.refuse("an operator, or the end")
    return Sentence(scope, mode, condition, trigger, component, timing, duration, stop, response)


def _scope(words: Words) -> tuple[Scope, Expression | None]:
    start = words.position
    only = words.has_taken("only")
    excluded = "" if only else words.has_taken("except", "unless")
    qualified = words.has_taken("when", "if") if excluded != "unless" else ""
    excluded = excluded or (words.has_taken("not") if qualified and not only else "")
    if words.has_taken("in", "during"):
        return (Scope.NOT_IN if excluded else INSIDE[only]), _mode_name(words)
    if not qualified and excluded != "unless" and words.has_taken("while"):
        return (Scope.NOT_IN if excluded else INSIDE[only]), expression(words)
    if not qualified and not excluded and words.is_next("after", "before"):
        return (AFTER if words.take().text == "after" else BEFORE)[only], _mode(words)
    if only or excluded == "except":
        words.refuse("`in`, `during` or `while`" if excluded else "`in`, `during`, `while`, `before` or `after`")
    words.return_to(start)
    return Scope.ALL, None


def _mode(words: Words) -> Expression:
    """A mode or a condition."""
    start = words.position
    if words.next.kind == "name":
        words.take()
        is_mode = words.is_next("mode")
        words.return_to(start)
        if not is_mode:
            return expression(words)
    return _mode_name(words) if words.is_next("mode") or words.next.kind == "name" else expression(words)


def _mode_name(words: Words) -> Expression:
    before = words.has_taken("mode")
    name = words.name("the name of a mode")
    if not before:
        words.has_taken("mode")
    return Expression("name", text=name)


def _condition(words: Words) -> tuple[Condition, Expression | None]:
    """The condition, and what it is about. Several are joined; all of them are `whenever`, or none is."""
    words.has_taken("and")
    trigger: Expression | None = None
    holding = True
    while True:
        start = words.position
        words.has_taken(",")
        joint = words.has_taken("and", "or") if trigger is not None else ""
        qualifier = words.has_taken(*QUALIFIERS)
        if not qualifier:
            words.return_to(start)
            words.has_taken(",")
            break
        negated = qualifier == "unless"
        holding = holding and qualifier == "whenever"
        part = expression(words)
        if words.has_taken("is"):
            negated ^= words.require("true", "false") == "false"
        part = Expression("!", (part,)) if negated else part
        trigger = part if trigger is None else Expression("|" if joint == "or" else "&", (trigger, part))
    if trigger is None:
        return Condition.NONE, None
    return (Condition.HOLDS if holding else Condition.BECOMES), trigger


def _component(words: Words) -> str:
    first = words.has_taken("shall")
    words.has_taken("the")
    name = words.name("the component, and `shall`" if not first else "the component")
    if not first:
        words.require("shall")
    return name


def _when(words: Words) -> tuple[Timing, int, Expression | None]:
    words.has_taken(",")
    word = words.has_taken("at", "initially", *(t.value for t in Timing))
    timing, duration, stop = Timing.EVENTUALLY, 0, None
    match word:
        case "":
            pass
        case "initially":
            timing = Timing.IMMEDIATELY
        case "at":
            words.require("the")
            timing = TIMEPOINTS[words.require(*TIMEPOINTS)]
            words.require("timepoint")
        case "until" | "before":
            timing, stop = Timing(word), expression(words)
        case "within" | "for" | "after":
            timing, duration = Timing(word), _duration(words)
        case _:
            timing = Timing(word)
    words.has_taken(",")
    return timing, duration, stop


def _duration(words: Words) -> int:
    """The steps of `3 ticks`, or of a time if the length of a step is known."""
    if words.next.kind != "number":
        words.refuse("a whole number of ticks")
    number = Fraction(words.take().text)
    if words.is_next("tick", "ticks") and number.denominator == 1:
        words.take()
        return int(number)
    if not words.is_next(*UNITS) or words.step is None:
        write = 'requirement("…", step="10 milliseconds"), if a step has a length'
        words.refuse("`ticks`, after a whole number", write=write)
    steps = number * UNITS[words.next.text] / words.step
    if steps.denominator != 1:
        words.refuse(f"a whole number of steps, of which each takes {float(words.step):g} s")
    words.take()
    return int(steps)


def seconds_of(text: str) -> Fraction:
    """The seconds of a time such as `10 milliseconds`."""
    words = Words(text)
    if words.next.kind == "number":
        number = Fraction(words.take().text)
        if number > 0 and words.is_next(*UNITS):
            seconds = number * UNITS[words.take().text]
            if words.next.kind == "end":
                return seconds
    raise SpecError(f"requirement: step is a time, found {text!r}", here(), write='step="10 milliseconds"')


# Expressions, by the strength with which operators bind. Implications and comparisons do not chain: (a => b) => c and
# a => (b => c) differ.

SAME = {"->": "=>", "<->": "<=>", "~": "!"}
IMPLICATION, NEGATION, SIGN = 1, 4, 7
STRENGTH = {
    **dict.fromkeys(("=>", "->", "<=>", "<->"), IMPLICATION),
    **dict.fromkeys(("|", "xor"), 2),
    "&": 3,
    **dict.fromkeys(("<", "<=", ">", ">=", "=", "!="), NEGATION),
    **dict.fromkeys(("+", "-"), 5),
    **dict.fromkeys(("*", "/", "mod"), 6),
    "^": SIGN,
}
UNCHAINED = {IMPLICATION: "(a => b) => c, or a => (b => c)", NEGATION: "a < b & b < c"}


def expression(words: Words, least: int = IMPLICATION) -> Expression:
    """The longest expression whose operators bind at least so."""
    left = _operand(words)
    while (strength := STRENGTH.get(words.next.text, 0)) >= least and words.is_next(words.next.text):
        sign = words.take().text
        left = Expression(SAME.get(sign, sign), (left, expression(words, strength + 1)))
        if strength in UNCHAINED and STRENGTH.get(words.next.text, 0) == strength:
            words.refuse("another operator, or the end", write=UNCHAINED[strength])
    return left


def _operand(words: Words) -> Expression:
    if words.has_taken("!", "~"):
        return Expression("!", (expression(words, NEGATION),))
    if words.has_taken("-"):
        return Expression("negative", (expression(words, SIGN),))
    if words.has_taken("if"):
        condition = expression(words)
        words.require("then")
        return Expression("=>", (condition, expression(words)))
    if words.has_taken("at"):
        return _occurrence(words)
    if words.has_taken("("):
        inner = expression(words)
        words.require(")")
        return inner
    if constant := words.has_taken("true", "false"):
        return Expression(constant)
    if words.next.kind == "number":
        return Expression("number", text=words.take().text)
    name = words.name("an expression")
    return _call(words, name) if words.has_taken("(") else Expression("name", text=name)


def _occurrence(words: Words) -> Expression:
    words.require("the")
    if words.is_next("next"):
        words.refuse("`previous`: what comes later is not known yet")
    for text in ("previous", "occurrence", "of"):
        words.require(text)
    of = expression(words)
    words.require(",")
    return Expression("call", (of, expression(words)), "prevOcc")


def _call(words: Words, name: str) -> Expression:
    args = []
    while not words.is_next(")"):
        args.append(expression(words))
        if not words.has_taken(","):
            break
    words.require(")")
    return Expression("call", tuple(args), name)
