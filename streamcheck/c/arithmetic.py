"""C's operators and conversions on scalars, as terms (ISO/IEC 9899:1999; each rule names its section).

The operands of an operation that the standard leaves undefined for some values must meet a side condition, which
goes to `oblige`. Machine integers are those of `core.types`: unsigned arithmetic and conversions wrap around.

Three dialects differ in what is known of integers:

    MATHEMATICAL    they are Int: nothing overflows or wraps around; operations on bits are not supported
    COMPILED        as gcc and clang compile C for 64-bit Linux: a conversion out of the range of a signed type wraps
                    around, and a negative number is shifted right arithmetically (both 6.3.1.3 and 6.5.7 leave to the
                    implementation)
    PORTABLE        any compiler whose int has 32 bits: what is left to the implementation is a side condition, or not
                    supported
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from streamcheck.c.kinds import (
    BOOLEAN,
    FLOAT,
    LONG,
    AnyKind,
    Array,
    Floating,
    FunctionType,
    Incomplete,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
    parts_without_values,
)
from streamcheck.c.models import LP64, DataModel
from streamcheck.c.terms import comparison, condition_of, division, number, recast, truth
from streamcheck.core.floats import f32
from streamcheck.core.intervals import Intervals, decide, exact_interval, is_inside
from streamcheck.core.simplify import choice, conjunction, disjunction, either, negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable
from streamcheck.core.types import BOOL, Type, array_of, machine
from streamcheck.core.types import DOUBLE as BINARY64
from streamcheck.core.types import FLOAT as BINARY32
from streamcheck.core.types import INT as MATHEMATICAL_INT

ADDRESS = machine(32, signed=False)  # of the numbers that stand for pointers (`frontends.minic.addresses`)
COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SUMS = {"+": "add", "-": "sub", "*": "mul"}
DIVISIONS = {"/": "quot", "%": "rem"}
BITS = {"&": "bitand", "|": "bitor", "^": "bitxor"}
EXACT_FUNCTIONS = {"fabs": "abs", "sqrt": "sqrt", "ceil": "ceil", "floor": "floor"}  # IEEE 754 gives their values
FUNCTIONS = EXACT_FUNCTIONS | {
    name: name for name in "sin cos tan asin acos atan sinh cosh tanh exp log atan2 pow".split()
}


class Dialect(Enum):
    MATHEMATICAL = "mathematical integers"
    COMPILED = "gcc and clang on 64-bit Linux"
    PORTABLE = "any compiler whose int has 32 bits"


class SideCondition(Enum):
    """The reason why an operation may be undefined: the claim that it is not, and its failure."""

    OVERFLOW = "no overflow", "overflow"
    DIVISION = "no division by zero", "division by zero"
    INDEX = "index in bounds", "index out of bounds"
    SHIFT = "shift in range", "shift out of range"
    CONVERSION = "conversion in range", "conversion out of range"
    ARGUMENT = "argument in range", "argument out of range"
    OVERLAP = "no overlap", "the objects overlap"
    POINTER = "pointer in bounds", "pointer out of bounds"
    SAME = "pointers into one object", "pointers into different objects"
    LENGTH = "an array has elements", "the length of an array is not positive"
    TARGET = "valid pointer", "the pointer is null, dangling or out of bounds"
    ALIVE = "no dangling pointer", "dangling pointer"
    FREE = "valid free", "what is freed has not been allocated, or is freed already"
    FUNCTION = "valid function pointer", "the pointer is null or points to no function of this type"
    ORDER = "no unordered effects", "effects in no order"
    REACHED = "unreachable code", "code that is said to be unreachable is reached"
    DETERMINATE = "no indeterminate value", "indeterminate value"
    RETURN = "a value is returned", "no value is returned"

    def __init__(self, claim: str, failure: str) -> None:
        self.claim = claim
        self.failure = failure


class Unsupported(Exception):
    """C that has no meaning here. The text gives the reason."""


@dataclass(frozen=True, slots=True)
class CValue:
    """A value of a scalar kind."""

    kind: Integer | Floating
    term: Term


class Arithmetic:
    def __init__(
        self, dialect: Dialect, oblige: Callable[[SideCondition, Term], None], model: DataModel = LP64
    ) -> None:
        self.model = model
        self.dialect = dialect
        self.mathematical = dialect is Dialect.MATHEMATICAL
        self.oblige = oblige
        self.intervals = Intervals()

    # Types

    def type_of(self, kind: AnyKind) -> Type:
        match kind:
            case Integer():
                if kind == BOOLEAN:
                    return BOOL
                return MATHEMATICAL_INT if self.mathematical else machine(kind.width, signed=kind.signed)
            case Floating():
                if self.mathematical:
                    raise Unsupported(f"{kind} needs machine integers; use --int c")
                return BINARY32 if kind.width == 32 else BINARY64
            case Array():
                return array_of(self.type_of(kind.element), kind.length)
            case Struct() if kind.union:
                if self.mathematical:
                    raise Unsupported(f"{kind} needs machine integers; use --int c")
                unknown = next(parts_without_values(kind), None)
                if unknown is not None:
                    raise Unsupported(f"{kind}: {unknown.reason}")
                return machine(8 * self.model.size_of(kind), signed=False)
            case Pointer() if self.dialect is not Dialect.PORTABLE:
                return ADDRESS
            case Pointer():
                raise Unsupported("pointers in structs and arrays are not supported")
            case Opaque():
                raise Unsupported(kind.reason)
            case Incomplete():
                raise Unsupported(f"{kind} is not defined")
            case Struct() | Void() | FunctionType():
                raise Unsupported(f"a variable cannot be of type {kind}")
        assert_never(kind)

    def limits(self, kind: AnyKind, value: Term) -> Term:
        """The range of a kind, if its type does not imply it: mathematical integers."""
        match kind:
            case Integer() if (
                self.mathematical and kind != BOOLEAN and not (kind.signed and kind.width >= self.model.INT.width)
            ):
                low, high = (constant(MATHEMATICAL_INT, n) for n in (kind.low, kind.high))
                return conjunction(simple_term("ge", value, low), simple_term("le", value, high))
            case Array() if self.mathematical and self._has_limits(kind.element):
                places = (constant(machine(32, signed=False), i) for i in range(kind.length))
                return conjunction(*(self.limits(kind.element, term("index", value, i)) for i in places))
            case _:
                return TRUE

    def _has_limits(self, kind: AnyKind) -> bool:
        return self.limits(kind, variable("?", self.type_of(kind))) is not TRUE

    # Values

    def number(self, kind: Integer | Floating, value: int) -> CValue:
        return CValue(kind, number(self.type_of(kind), value))

    def of_truth(self, holds: Term, kind: Integer | None = None) -> CValue:
        """1 if the condition holds, else 0: an int, or of this kind."""
        kind = kind or self.model.INT
        if kind == BOOLEAN:
            return CValue(kind, holds)
        if self.mathematical:
            one, zero = (constant(MATHEMATICAL_INT, n) for n in (1, 0))
            return CValue(kind, choice(holds, one, zero))
        return CValue(kind, recast(holds, self.type_of(kind)))

    def truth(self, value: CValue) -> Term:
        """value != 0."""
        return truth(value.term)

    # Conversions (6.3.1)

    def convert(self, value: CValue, kind: AnyKind) -> CValue:
        """The value converted as by an assignment or a cast."""
        if isinstance(kind, Opaque):
            raise Unsupported(kind.reason)
        if not isinstance(kind, Integer | Floating):
            raise Unsupported(f"expected {kind}, found {value.kind}")
        if value.kind == kind:
            return value
        if kind == BOOLEAN:  # 6.3.1.2
            return CValue(kind, self.truth(value))
        condition = condition_of(value.term)
        if condition is not None and isinstance(kind, Integer):
            return self.of_truth(condition, kind)
        type = self.type_of(kind)
        if isinstance(value.kind, Floating) and isinstance(kind, Integer):
            self.oblige(SideCondition.CONVERSION, _truncation_fits(value.term, kind))
        elif isinstance(kind, Integer) and kind.signed and self.dialect is Dialect.PORTABLE:  # 6.3.1.3
            self.oblige(SideCondition.CONVERSION, self._within(value.term, kind.low, kind.high))
        return CValue(kind, recast(value.term, type))

    def promote(self, value: CValue) -> CValue:
        return self.convert(value, self.model.promote(value.kind)) if isinstance(value.kind, Integer) else value

    # Operators (6.5)

    def binary(self, op: str, a: CValue, b: CValue) -> CValue:
        if op in ("<<", ">>"):
            return self._shift(op, self.promote(a), self.promote(b))
        kind = self.model.common(a.kind, b.kind)
        a, b = self.convert(a, kind), self.convert(b, kind)
        if op in COMPARISONS:
            return self.of_truth(comparison(COMPARISONS[op], a.term, b.term))
        if op in SUMS:
            if isinstance(kind, Integer):
                self._oblige_sum(SUMS[op], a.term, b.term, kind)
            return CValue(kind, simple_term(SUMS[op], a.term, b.term))
        if op in DIVISIONS:
            return self._division(op, a, b)
        if op in BITS:
            return self._bits(op, a, b)
        raise Unsupported(f"unknown operator {op}")

    def unary(self, op: str, a: CValue) -> CValue:
        if op == "!":
            return self.of_truth(negation(self.truth(a)))
        a = self.promote(a)
        if op == "+":
            return a
        if op == "-":
            if self._may_overflow(a.kind):
                self.oblige(SideCondition.OVERFLOW, self._differs(a.term, a.kind.low))  # type: ignore[union-attr]
            return CValue(a.kind, simple_term("neg", a.term))
        if op != "~" or isinstance(a.kind, Floating):
            raise Unsupported(f"{op}: expected a number, found {a.kind}")
        if self.mathematical:
            return CValue(a.kind, simple_term("sub", constant(MATHEMATICAL_INT, -1), a.term))
        return CValue(a.kind, simple_term("bitnot", a.term))

    def _division(self, op: str, a: CValue, b: CValue) -> CValue:  # 6.5.5
        if isinstance(a.kind, Floating):
            if op == "%":
                raise Unsupported(f"%: expected an integer, found {a.kind}")
            return CValue(a.kind, simple_term("div", a.term, b.term))
        self.oblige(SideCondition.DIVISION, self._differs(b.term, 0))
        if self._may_overflow(a.kind):
            fits = disjunction(self._differs(a.term, a.kind.low), self._differs(b.term, -1))
            self.oblige(SideCondition.OVERFLOW, fits)
        return CValue(a.kind, division(DIVISIONS[op], a.term, b.term))

    def _bits(self, op: str, a: CValue, b: CValue) -> CValue:  # 6.5.10 to 6.5.12
        if isinstance(a.kind, Floating):
            raise Unsupported(f"{op}: expected an integer, found {a.kind}")
        x, y = condition_of(a.term), condition_of(b.term)
        if x is not None and y is not None:
            joined = {"&": conjunction, "|": disjunction, "^": lambda p, q: simple_term("xor", p, q)}[op](x, y)
            return self.of_truth(joined, a.kind)
        if not self.mathematical:
            return CValue(a.kind, simple_term(BITS[op], a.term, b.term))
        for value, mask in ((a.term, b.term), (b.term, a.term)):
            if op == "&" and mask.is_const and mask.payload >= 0 and mask.payload & (mask.payload + 1) == 0:
                return CValue(a.kind, simple_term("mod", value, constant(MATHEMATICAL_INT, mask.payload + 1)))
        raise Unsupported(f"{op} needs machine integers; use --int c")

    def _shift(self, op: str, a: CValue, b: CValue) -> CValue:  # 6.5.7
        if isinstance(a.kind, Floating) or isinstance(b.kind, Floating):
            raise Unsupported(f"{op} is not defined for floating point")
        width, amount = a.kind.width, b.term
        self.oblige(SideCondition.SHIFT, self._within(amount, 0, width - 1))
        if self.mathematical:
            if not amount.is_const:
                raise Unsupported(f"{op} by a variable amount needs machine integers; use --int c")
            factor = constant(MATHEMATICAL_INT, 1 << min(max(0, amount.payload), width))
            return CValue(a.kind, simple_term("mul" if op == "<<" else "floordiv", a.term, factor))
        if op == "<<" and a.kind.signed:
            self.oblige(SideCondition.OVERFLOW, self._left_shift_fits(a.term, amount, a.kind))
        if op == ">>" and a.kind.signed and self.dialect is Dialect.PORTABLE:
            self.oblige(SideCondition.SHIFT, self._within(a.term, 0, a.kind.high))
        return CValue(a.kind, simple_term("shl" if op == "<<" else "shr", a.term, amount))

    def function(self, name: str, args: list[CValue]) -> CValue:
        """A function of math.h, by its name without the suffix f (7.12)."""
        kind: Floating = FLOAT if name not in FUNCTIONS else self.model.DOUBLE
        op = FUNCTIONS[name.removesuffix("f") if kind is FLOAT else name]
        if len(args) != (2 if op in ("atan2", "pow") else 1):
            raise Unsupported(f"{name} with {len(args)} arguments")
        return CValue(kind, simple_term(op, *(self.convert(a, kind).term for a in args)))

    def index(self, value: CValue, length: int, condition: SideCondition = SideCondition.INDEX) -> Term:
        """The index into an array of this length."""
        self.oblige(condition, self._within(value.term, 0, length - 1))
        return value.term

    def require_element(
        self, value: CValue, array: Array, condition: SideCondition = SideCondition.INDEX, *, end: bool = False
    ) -> Term:
        """The index of an element of this array, or of its end."""
        if array.count is None:
            self.oblige(condition, self._within(value.term, 0, array.length if end else array.length - 1))
        else:
            place = self.convert(value, LONG).term
            if isinstance(value.kind, Integer) and value.kind.high > LONG.high:
                self.require_range(condition, value, 0, LONG.high)
            below = comparison("le" if end else "lt", place, array.count)
            self.oblige(condition, conjunction(comparison("ge", place, number(place.type, 0)), below))
        return value.term

    def require_range(self, condition: SideCondition, value: CValue, low: int, high: int) -> None:
        """Obliges the value to be in the range."""
        self.oblige(condition, self._within(value.term, low, high))

    # Side conditions

    def _may_overflow(self, kind: Integer | Floating) -> bool:
        return isinstance(kind, Integer) and kind.signed and not self.mathematical

    def _oblige_sum(self, op: str, a: Term, b: Term, kind: Integer) -> None:
        if self._may_overflow(kind):
            self.oblige(SideCondition.OVERFLOW, self._sum_fits(op, a, b, kind))

    def _sum_fits(self, op: str, a: Term, b: Term, kind: Integer) -> Term:
        """The result of +, - or * fits the type. If one side is constant, that bounds the other."""
        if is_inside(exact_interval(op, self.intervals.of(a), self.intervals.of(b)), (kind.low, kind.high)):
            return TRUE
        if b.is_const:
            return self._other_fits(op, a, b.payload, kind)
        if a.is_const and op in ("add", "mul"):
            return self._other_fits(op, b, a.payload, kind)
        if a.is_const:  # a - b
            return self._within(b, a.payload - kind.high, a.payload - kind.low)
        wide = machine(2 * kind.width if op == "mul" else kind.width + 1, signed=True)
        result = simple_term(op, recast(a, wide), recast(b, wide))
        least, most = constant(wide, kind.low), constant(wide, kind.high)
        return conjunction(simple_term("ge", result, least), simple_term("le", result, most))

    def _other_fits(self, op: str, x: Term, c: int, kind: Integer) -> Term:
        if op == "add":
            return self._within(x, kind.low - c, kind.high - c)
        if op == "sub":
            return self._within(x, kind.low + c, kind.high + c)
        ends = sorted((kind.low, kind.high), reverse=c < 0)
        return self._within(x, -(-ends[0] // c), ends[1] // c)

    def _left_shift_fits(self, x: Term, amount: Term, kind: Integer) -> Term:
        """x is not negative, and no bit is lost or becomes the sign."""
        amounts = (0, max(0, min(self.intervals.of(amount)[1], kind.width)))
        if is_inside(exact_interval("shl", self.intervals.of(x), amounts), (0, kind.high)):
            return TRUE
        fits = simple_term("le", x, simple_term("shr", constant(x.type, kind.high), amount))
        return conjunction(self._within(x, 0, kind.high), fits)

    def _differs(self, x: Term, value: int) -> Term:
        return self._comparison_with("ne", x, value)

    def _within(self, x: Term, low: int, high: int) -> Term:
        return conjunction(self._comparison_with("ge", x, low), self._comparison_with("le", x, high))

    def _comparison_with(self, op: str, x: Term, value: int) -> Term:
        """A comparison with a number, which may be out of the range of the type."""
        known = decide(op, self.intervals.of(x), (value, value))
        if known is None:
            return comparison(op, x, constant(x.type, value))
        return TRUE if known else FALSE


def _truncation_fits(x: Term, kind: Integer) -> Term:  # 6.3.1.4
    """The condition that a float without its fraction fits the type: it is above low - 1 and below high + 1. Both are
    powers of two, or one less; if low - 1 is no float, low is."""

    def float_of(value: int) -> Term:
        return constant(x.type, f32(float(value)) if x.type is BINARY32 else float(value))

    below, above = float_of(kind.low - 1), float_of(kind.high + 1)
    exact = below.payload == kind.low - 1
    return conjunction(simple_term("gt" if exact else "ge", x, below), simple_term("lt", x, above))


def conditional_value(condition: Term, a: CValue, b: CValue) -> CValue:
    """`a` if the condition holds, else `b`, both of one kind."""
    return CValue(a.kind, either(condition, a.term, b.term))
