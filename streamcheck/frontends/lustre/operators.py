"""Kind 2's operators as terms of ours.

`int` is unbounded; `div` and `mod` on it are SMT-LIB's (the remainder is never negative). Machine integers wrap, and
divide as bit-vectors do: truncating, with all ones for a quotient by zero. What Kind 2 leaves undefined (`int` and
`real` division by zero, an index out of range) is any value: `Anything` makes one for each such operation.

Constants fold as terms are made, so that what a file leaves open is all that the engines see.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from streamcheck.core.evaluate import meaning
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import BOOL, INT, REAL, ArrayType, MachineType, Type, machine

Anything = Callable[[str, Term, Term, Type], Term]  # (operation, its operands, the type of the result)


def folded(op: str, *args: Term) -> Term:
    made = term(op, *args)
    if all(a.is_const for a in args):
        return constant(made.type, meaning(made)(*[a.payload for a in args]))
    return made


def _need(type: Type, *kinds: str, what: str) -> None:
    if type.kind not in kinds:
        raise TypeRule(f"it is for {what}, not {type}")


def _same(a: Term, b: Term) -> None:
    if a.type is not b.type:
        raise TypeRule(f"{a.type} and {b.type} are different types")


def _boolean(*args: Term) -> None:
    for a in args:
        _need(a.type, "bool", what="bool")


def logic(op: str, a: Term, b: Term) -> Term:
    _boolean(a, b)
    if op == "and":
        return conjunction(a, b)
    if op == "or":
        return disjunction(a, b)
    if op == "implies":
        if a.is_const or b.is_const or a is b:
            return disjunction(negation(a), b)
        return term("implies", a, b)
    return equal(a, b, negated=True)


def equal(a: Term, b: Term, *, negated: bool = False) -> Term:
    _same(a, b)
    if a is b:
        return FALSE if negated else TRUE
    if a.type is BOOL and (a.is_const or b.is_const):
        literal, other = (a, b) if a.is_const else (b, a)
        return other if (literal is TRUE) != negated else negation(other)
    if a.is_const and b.is_const:
        return FALSE if not negated else TRUE  # interned: different terms of one scalar type are different values
    return term("ne" if negated else "eq", a, b)


def compare(op: str, a: Term, b: Term) -> Term:
    _same(a, b)
    _need(a.type, "unsigned", "signed", "integer", "real", what="numbers")
    if a is b:
        return TRUE if op in ("le", "ge") else FALSE
    return folded(op, a, b)


def arithmetic(op: str, a: Term, b: Term) -> Term:
    _same(a, b)
    _need(a.type, "unsigned", "signed", "integer", "real", what="numbers")
    if b.is_const and b.payload == 0 and op in ("add", "sub"):
        return a
    if a.is_const and a.payload == 0 and op == "add":
        return b
    if op == "mul" and (unit := next((y for x, y in ((a, b), (b, a)) if x.is_const and x.payload == 1), None)):
        return unit
    return folded(op, a, b)


def divide(op: str, a: Term, b: Term, anything: Anything) -> Term:
    """`div`, `mod` on integers, `/` on reals."""
    _same(a, b)
    if op == "div":
        _need(a.type, "real", what="real; whole numbers have `div`")
        return _guarded(op, a, b, anything, lambda: _quotient(a, b))
    _need(a.type, "unsigned", "signed", "integer", what="whole numbers; reals have `/`")
    if isinstance(a.type, MachineType):
        return _machine_division(op, a, b)
    return _guarded(op, a, b, anything, lambda: _euclidean(op, a, b))


def _guarded(op: str, a: Term, b: Term, anything: Anything, result: Callable[[], Term]) -> Term:
    if b.is_const and b.payload != 0:
        return result()
    free = anything(op, a, b, a.type)
    if b.is_const:
        return free
    return choice(equal(b, constant(b.type, 0)), free, result())


def _quotient(a: Term, b: Term) -> Term:
    """By a constant, a product: every solver knows that to be linear."""
    if b.is_const:
        return arithmetic("mul", a, constant(REAL, 1 / Fraction(b.payload)))
    return folded("div", a, b)


def _euclidean(op: str, a: Term, b: Term) -> Term:
    """a = b * div + mod with 0 <= mod < |b|, by the operators that floor."""
    positive = folded("floordiv" if op == "intdiv" else "mod", a, b)
    if b.is_const and b.payload > 0:
        if b.payload == 1:
            return a if op == "intdiv" else constant(INT, 0)
        return positive
    other = folded("neg", b)
    negative = folded("neg", folded("floordiv", a, other)) if op == "intdiv" else folded("mod", a, other)
    if b.is_const:
        return negative
    return choice(folded("gt", b, constant(INT, 0)), positive, negative)


def _machine_division(op: str, a: Term, b: Term) -> Term:
    """bvudiv, bvurem, bvsdiv, bvsrem: by zero, the quotient's bits are ones (1 for a negative dividend)."""
    assert isinstance(a.type, MachineType)
    if op == "mod":
        return folded("rem", a, b)
    quotient = folded("quot", a, b)
    zero = constant(a.type, 0)
    by_zero = constant(a.type, a.type.high if not a.type.signed else -1)
    if a.type.signed:
        by_zero = choice(folded("lt", a, zero), constant(a.type, a.type.wrap(1)), by_zero)
    return choice(equal(b, zero), by_zero, quotient)


def bits(op: str, a: Term, b: Term) -> Term:
    _same(a, b)
    _need(a.type, "unsigned", "signed", what="machine integers; Booleans have `and` and `or`")
    return folded(op, a, b)


def shift(op: str, a: Term, b: Term) -> Term:
    _need(a.type, "unsigned", "signed", what="machine integers")
    _need(b.type, "unsigned", "signed", what="machine integers")
    if isinstance(a.type, MachineType) and isinstance(b.type, MachineType) and a.type.width != b.type.width:
        raise TypeRule(f"{a.type} and {b.type} have different widths")
    if isinstance(b.type, MachineType) and b.type.signed:  # the amount's bits are read as unsigned
        b = folded_cast(machine(b.type.width, signed=False), b)
    return folded("shl" if op == "lsh" else "shr", a, b)


def folded_cast(target: Type, a: Term) -> Term:
    if a.type is target:
        return a
    made = term("cast", a, payload=target)
    return constant(target, meaning(made)(a.payload)) if a.is_const else made


def convert(target: Type, a: Term) -> Term:
    _need(a.type, "unsigned", "signed", "integer", "real", what="numbers")
    if target is INT and a.type is REAL:
        return floor(a)
    if a.type is REAL and target is not REAL:
        return folded_cast(target, floor(a))
    return folded_cast(target, a)


def floor(a: Term) -> Term:
    """SMT-LIB's to_int; `cast` truncates."""
    if a.is_const:
        value = Fraction(a.payload)
        return constant(INT, value.numerator // value.denominator)
    whole = folded_cast(INT, a)
    above = folded("lt", a, folded_cast(REAL, whole))
    return choice(above, folded("sub", whole, constant(INT, 1)), whole)


def element(array: Term, index: Term, anything: Anything) -> Term:
    if not isinstance(array.type, ArrayType):
        raise TypeRule(f"only arrays have elements, and this is {array.type}")
    _need(index.type, "integer", "unsigned", "signed", what="indices that are whole numbers")
    length = array.type.length
    if index.is_const:
        if not 0 <= index.payload < length:
            raise TypeRule(f"index {index.payload} of an array with {length} elements")
        return array.args[index.payload] if array.op == "array" else term("index", array, index)
    inside = _inside(index, length)
    found = term("index", array, index)
    return found if inside is TRUE else choice(inside, found, anything("index", array, index, array.type.element))


def updated(array: Term, index: Term, value: Term) -> Term:
    """An update out of range changes nothing."""
    if not isinstance(array.type, ArrayType):
        raise TypeRule(f"only arrays have elements, and this is {array.type}")
    _need(index.type, "integer", "unsigned", "signed", what="indices that are whole numbers")
    if value.type is not array.type.element:
        raise TypeRule(f"an element of {array.type} is {array.type.element}, and this is {value.type}")
    return choice(_inside(index, array.type.length), term("update", array, index, value), array)


def _inside(index: Term, length: int) -> Term:
    type = index.type
    low = TRUE if isinstance(type, MachineType) and not type.signed else folded("ge", index, constant(type, 0))
    if isinstance(type, MachineType) and type.high < length:
        return low
    return conjunction(low, folded("lt", index, constant(type, length)))


def without_zero(op: str, a: Term, b: Term, type: Type) -> Term:
    """For machine integers, whose division is defined everywhere."""
    raise AssertionError(op)
