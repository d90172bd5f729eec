"""C's operators on scalars, as terms (ISO/IEC 9899:1999; the sections are named where they are used).

An `int` has 32 bits, two's complement. A value is a term of the core type that has the same values as its C type; an
operation also yields what must hold for it to have a meaning, as demands: no signed overflow, no shift by the width,
no conversion that the standard leaves open.

The constructors simplify by identities that hold for all values: constants, conversions of conversions, arithmetic
modulo 2^w seen through a truncation, comparisons of widened values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

from streamcheck.core.evaluate import meaning
from streamcheck.core.simplify import choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, EnumType, FloatType, MachineType, Type, machine
from streamcheck.validate.reader import Refused

INT, UNSIGNED = machine(32, signed=True), machine(32, signed=False)
LONG, ULONG = machine(64, signed=True), machine(64, signed=False)
Demand = Callable[[Term, str], None]  # what must hold, and why


def make(op: str, *args: Term, payload: object = None) -> Term:
    made = term(op, *args, payload=payload)
    if args and all(a.is_const for a in args):
        return constant(made.type, meaning(made)(*[a.payload for a in args]))
    return made


def either(condition: Term, a: Term, b: Term) -> Term:
    if a.type is BOOL:
        if a is FALSE:
            return conjunction(negation(condition), b)
        if b is FALSE:
            return conjunction(condition, a)
        if a is TRUE:
            return disjunction(condition, b)
        if b is TRUE:
            return disjunction(negation(condition), a)
    return choice(condition, a, b)


# Conversions (6.3.1)


def converted(x: Term, to: Type, demand: Demand) -> Term:
    """The value of `x` converted to a type as by assignment or a cast."""
    source = x.type
    if source is to:
        return x
    if to is BOOL:  # 6.3.1.2
        return truth(x)
    if isinstance(source, FloatType) and isinstance(to, MachineType):  # 6.3.1.4
        demand(_fits(x, source, to), f"a {source} fits {to} when it is converted")
        return make("cast", x, payload=to)
    if isinstance(source, MachineType) and isinstance(to, MachineType) and to.signed:  # 6.3.1.3
        low, high = interval(x)
        if low < to.low or high > to.high:
            demand(_within(x, to), f"a value fits {to} when it is converted")
    return recast(x, to)


DEPTH = 30  # how far simplifications look into a term


def recast(x: Term, to: Type, depth: int = 0) -> Term:
    """A conversion whose result is taken modulo 2^w where it does not fit."""
    if x.type is to:
        return x
    return make("cast", x, payload=to) if depth > DEPTH else _recast(x, to, depth + 1)


@cache
def _recast(x: Term, to: Type, depth: int) -> Term:
    if x.op == "cast" and isinstance(to, MachineType) and isinstance(x.type, MachineType):
        inner = x.args[0]
        if isinstance(inner.type, MachineType | EnumType) or inner.type is BOOL:
            narrower = to.width <= x.type.width
            if narrower or (isinstance(inner.type, MachineType) and _holds(x.type, inner.type)) or inner.type is BOOL:
                return recast(inner, to, depth)
    if isinstance(to, MachineType) and isinstance(x.type, MachineType) and to.width <= x.type.width:
        if x.op in ("add", "sub", "mul", "bitand", "bitor", "bitxor"):
            return make(x.op, recast(x.args[0], to, depth), recast(x.args[1], to, depth))
        if x.op in ("neg", "bitnot"):
            return make(x.op, recast(x.args[0], to, depth))
    if x.op == "mux" and isinstance(x.type, MachineType) and isinstance(to, MachineType):
        return either(x.args[0], recast(x.args[1], to, depth), recast(x.args[2], to, depth))
    return make("cast", x, payload=to)


def _holds(wide: MachineType, narrow: MachineType) -> bool:
    return wide.low <= narrow.low and narrow.high <= wide.high


def _fits(x: Term, source: FloatType, to: MachineType) -> Term:
    """Truncated toward zero, a value of the type: above low - 1 and below high + 1."""
    # Both bounds are powers of two or zero less one; low - 1 may round to low in the float type, and then low is in.
    high = constant(source, float(to.high + 1))
    below = make("lt", x, high)
    exact = Fraction(float(to.low) - 1.0) == to.low - 1 and (source.width == 64 or to.width < 24)
    low = constant(source, float(to.low) - 1.0 if exact else float(to.low))
    return conjunction(make("gt" if exact else "ge", x, low), below)


def _within(x: Term, to: MachineType) -> Term:
    assert isinstance(x.type, MachineType)
    parts = []
    if x.type.high > to.high:
        parts.append(make("le", x, constant(x.type, to.high)))
    if x.type.low < to.low:
        parts.append(make("ge", x, constant(x.type, to.low)))
    return conjunction(*parts)


def truth(x: Term) -> Term:
    """`x != 0`."""
    if x.type is BOOL:
        return x
    if x.op == "cast" and x.args[0].type is BOOL:
        return x.args[0]
    if x.op == "mux":
        return either(x.args[0], truth(x.args[1]), truth(x.args[2]))
    return make("ne", x, constant(x.type, 0.0 if isinstance(x.type, FloatType) else 0))


def promoted(x: Term) -> Term:
    """The integer promotions (6.3.1.1): what is narrower than int becomes an int."""
    if x.type is BOOL or (isinstance(x.type, MachineType) and x.type.width < 32):
        return recast(x, INT)
    return x


def common(a: Term, b: Term) -> Type:
    """The usual arithmetic conversions (6.3.1.8), of promoted operands."""
    for wide in (DOUBLE, FLOAT, ULONG, LONG, UNSIGNED):
        if wide in (a.type, b.type):
            return wide
    return INT


# Operators (6.5)


def binary(op: str, a: Term, b: Term, demand: Demand) -> Term:
    a, b = promoted(a), promoted(b)
    if op in ("<<", ">>"):
        return _shifted(op, a, b, demand)
    type = common(a, b)
    a, b = recast(a, type), recast(b, type)
    if op in COMPARISONS:
        return recast(_compared(COMPARISONS[op], a, b), INT)
    if op in ("/", "%"):
        return _divided(op, a, b, demand)
    if isinstance(type, FloatType) and op in ("&", "|", "^"):
        raise Refused(f"{op} on floats")
    result = make(ARITHMETIC[op], a, b)
    if op in "+-*" and type in (INT, LONG):
        _no_overflow(op, a, b, demand)
    return result


COMPARISONS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}
ARITHMETIC = {"+": "add", "-": "sub", "*": "mul", "&": "bitand", "|": "bitor", "^": "bitxor"}


def unary(op: str, x: Term, demand: Demand) -> Term:
    if op == "!":
        return recast(negation(truth(x)), INT)
    x = promoted(x)
    if op == "+":
        return x
    if op == "~" and isinstance(x.type, MachineType):
        return make("bitnot", x)
    if op != "-":
        raise Refused(f"the operator {op}")
    if x.type in (INT, LONG) and interval(x)[0] <= x.type.low:
        demand(make("ne", x, constant(x.type, x.type.low)), "the negation does not overflow")
    return make("neg", x)


def _compared(op: str, a: Term, b: Term) -> Term:
    """A comparison, at the narrow type where both sides are widened from it."""
    narrow = _widened_from(a) or _widened_from(b)
    if narrow is not None:
        sides = [_narrowed(x, narrow) for x in (a, b)]
        if sides[0] is not None and sides[1] is not None:
            a, b = sides[0], sides[1]
    if a.type is BOOL:
        return a if (op == "ne") == (b is FALSE) and b.is_const else _boolean(op, a, b)
    return make(op, a, b)


def _boolean(op: str, a: Term, b: Term) -> Term:
    if op not in ("eq", "ne"):
        return make(op, recast(a, INT), recast(b, INT))
    if b.is_const:
        return negation(a)
    return make(op, a, b)


def _widened_from(x: Term) -> Type | None:
    if x.op != "cast":
        return None
    inner = x.args[0].type
    if inner is BOOL or isinstance(inner, EnumType):
        return inner
    if isinstance(inner, MachineType) and isinstance(x.type, MachineType) and _holds(x.type, inner):
        return inner
    return None


def _narrowed(x: Term, to: Type) -> Term | None:
    if x.op == "cast" and x.args[0].type is to and _widened_from(x) is to:
        return x.args[0]
    if not x.is_const:
        return None
    if to is BOOL and x.payload in (0, 1):
        return TRUE if x.payload else FALSE
    if isinstance(to, EnumType):
        return constant(to, x.payload) if x.payload in to.codes else None
    return constant(to, x.payload) if isinstance(to, MachineType) and to.low <= x.payload <= to.high else None


def _shifted(op: str, a: Term, b: Term, demand: Demand) -> Term:  # 6.5.7
    assert isinstance(a.type, MachineType) and isinstance(b.type, MachineType)
    low, high = interval(b)
    if low < 0 or high >= a.type.width:
        parts = [make("lt", b, constant(b.type, a.type.width))]
        if b.type.signed:
            parts.append(make("ge", b, constant(b.type, 0)))
        demand(conjunction(*parts), "the shift is by less than the width")
    if a.type.signed:
        if op == "<<":
            raise Refused("a left shift of a signed value")
        if interval(a)[0] < 0:
            demand(make("ge", a, constant(a.type, 0)), "what is shifted right is not negative")
    return make("shl" if op == "<<" else "shr", a, b)


def _divided(op: str, a: Term, b: Term, demand: Demand) -> Term:  # 6.5.5
    if isinstance(a.type, FloatType):
        if op == "%":
            raise Refused("% on floats")
        return make("div", a, b)
    assert isinstance(a.type, MachineType)
    zero = constant(a.type, 0)
    demand(make("ne", b, zero), "the divisor is not zero")
    name = "quot" if op == "/" else "rem"
    if a.type.signed and interval(a)[0] <= a.type.low:
        fits = disjunction(make("ne", a, constant(a.type, a.type.low)), make("ne", b, constant(a.type, -1)))
        demand(fits, "the quotient fits")
    narrow = _widened_from(a)
    if narrow is not None and isinstance(narrow, MachineType) and not b.is_const:
        x, y = _narrowed(a, narrow), _narrowed(b, narrow)
        if x is not None and y is not None:
            return _narrow_division(name, a, x, y)
    return make(name, a, b)


def _narrow_division(name: str, wide: Term, x: Term, y: Term) -> Term:
    """Division of widened values is division at their own width, but for the quotient by -1, which may not fit."""
    inside = recast(make(name, x, y), wide.type)
    if x.type.kind == "unsigned" or name == "rem":
        return inside
    return either(make("eq", y, constant(y.type, -1)), make("neg", wide), inside)


def _no_overflow(op: str, a: Term, b: Term, demand: Demand) -> None:
    assert isinstance(a.type, MachineType)
    corners = [_exactly(op, x, y) for x in interval(a) for y in interval(b)]
    if min(corners) >= a.type.low and max(corners) <= a.type.high:
        return
    if a.type is LONG:
        demand(_long_fits(op, a, b), f"{op} does not overflow")
        return
    result = make(ARITHMETIC[op], recast(a, LONG), recast(b, LONG))
    demand(_within(result, a.type), f"{op} does not overflow")


def _exactly(op: str, x: int, y: int) -> int:
    return x + y if op == "+" else x - y if op == "-" else x * y


def _long_fits(op: str, a: Term, b: Term) -> Term:
    """No wider type: by the signs (a sum overflows where both sides have one sign and the result the other)."""
    if op == "*":
        raise Refused("a product of signed 64-bit values")
    zero = constant(LONG, 0)
    negative = [make("lt", x, zero) for x in (a, b, make(ARITHMETIC[op], a, b))]
    alike = make("eq" if op == "+" else "ne", negative[0], negative[1])
    return disjunction(negation(alike), make("eq", negative[2], negative[0]))


@cache
def interval(x: Term, depth: int = 0) -> tuple[int, int]:
    """Bounds that the shape of a term gives its value."""
    assert isinstance(x.type, MachineType)
    if x.is_const:
        return x.payload, x.payload
    if depth < DEPTH:
        if x.op == "cast":
            inner = x.args[0].type
            if inner is BOOL:
                return 0, 1
            if isinstance(inner, MachineType) and _holds(x.type, inner):
                return interval(x.args[0], depth + 1)
        found = _interval_of(x, depth + 1)
        if found is not None:
            return found
    return x.type.low, x.type.high


def _interval_of(x: Term, depth: int) -> tuple[int, int] | None:
    assert isinstance(x.type, MachineType)
    if x.op == "mux":
        (a, b), (c, d) = interval(x.args[1], depth), interval(x.args[2], depth)
        return min(a, c), max(b, d)
    if x.op in ("add", "sub", "mul"):
        op = {"add": "+", "sub": "-", "mul": "*"}[x.op]
        corners = [_exactly(op, a, b) for a in interval(x.args[0], depth) for b in interval(x.args[1], depth)]
        if x.type.low <= min(corners) and max(corners) <= x.type.high:
            return min(corners), max(corners)
    if x.op == "bitand":
        highs = [high for low, high in (interval(a, depth) for a in x.args) if low >= 0]
        if highs:
            return 0, min(highs)
    return None


FUNCTIONS = {
    f + suffix: (("abs" if f == "fabs" else f), type)
    for f in "fabs sqrt ceil floor sin cos tan asin acos atan sinh cosh tanh exp log atan2 pow".split()
    for suffix, type in (("", DOUBLE), ("f", FLOAT))
}


def library(name: str, args: list[Term], demand: Demand) -> Term:
    """A function of math.h: IEEE 754 gives those up to floor; the others are only equal to themselves."""
    op, type = FUNCTIONS[name]
    return make(op, *(converted(a, type, demand) for a in args))


def constants() -> Iterator[tuple[str, Term]]:
    """The names of stdint.h, stdbool.h and math.h that stand for values."""
    yield from (("true", constant(INT, 1)), ("false", constant(INT, 0)))
    yield from (("INFINITY", constant(FLOAT, float("inf"))), ("NAN", constant(FLOAT, float("nan"))))
    for width in (8, 16, 32, 64):
        signed, unsigned = machine(width, signed=True), machine(width, signed=False)
        type = LONG if width == 64 else INT
        yield f"INT{width}_MIN", constant(type, signed.low)
        yield f"INT{width}_MAX", constant(type, signed.high)
        wide = {64: ULONG, 32: UNSIGNED}.get(width, INT)
        yield f"UINT{width}_MAX", constant(wide, unsigned.high)
