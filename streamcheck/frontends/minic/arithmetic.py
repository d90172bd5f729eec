"""What C's operators compute, as terms: conversions, promotions, and the conditions without which they mean nothing.

Machine integers are those of `core.types`, so unsigned arithmetic and conversions wrap by themselves. Where integers
are mathematical they are `Int`: nothing wraps and nothing overflows, and what only bits can say is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamcheck.core.evaluate import meaning
from streamcheck.core.simplify import choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import BOOL, INT, MachineType, Type, array_of, machine
from streamcheck.core.types import DOUBLE as CORE_DOUBLE
from streamcheck.core.types import FLOAT as CORE_FLOAT
from streamcheck.frontends.minic import kinds
from streamcheck.frontends.minic.kinds import BOOLEAN, Array, Floating, Integer, Kind

COMPARISONS = {"==": "eq", "!=": "ne", "<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
SUMS = {"+": "add", "-": "sub", "*": "mul"}
DIVISIONS = {"/": "quot", "%": "rem"}
BITS = {"&": "bitand", "|": "bitor", "^": "bitxor"}
Oblige = Callable[[str, Term], None]


class Unsupported(Exception):
    """No meaning here; the text says why, in the user's words."""


@dataclass(frozen=True, slots=True)
class Value:
    kind: Integer | Floating
    term: Term


def folded(op: str, *args: Term, payload: Any = None) -> Term:
    made = term(op, *args, payload=payload)
    if all(a.is_const for a in args):
        return constant(made.type, meaning(made)(*[a.payload for a in args]))
    return made


class Arithmetic:
    def __init__(self, *, mathematical: bool, oblige: Oblige) -> None:
        self.mathematical = mathematical
        self.oblige = oblige
        self._bounds: dict[Term, tuple[int, int] | None] = {}

    # Types

    def core(self, kind: Kind) -> Type:
        match kind:
            case Integer():
                if kind is BOOLEAN or kind == BOOLEAN:
                    return BOOL
                return INT if self.mathematical else machine(kind.width, signed=kind.signed)
            case Floating():
                if self.mathematical:
                    raise Unsupported(f"{kind} is for machine integers: --int c")
                return CORE_FLOAT if kind.width == 32 else CORE_DOUBLE
            case Array():
                return array_of(self.core(kind.element), kind.length)
        if isinstance(kind, kinds.Pointer):
            raise Unsupported("pointers in structs and arrays are not read")
        raise Unsupported(f"no variable is of type {kind}")

    def limits(self, kind: Kind, value: Term) -> Term:
        """What is known of any value of the type, beyond its type: the range, where integers are mathematical."""
        match kind:
            case Integer() if self.mathematical and kind != BOOLEAN and not (kind.signed and kind.width >= 32):
                low, high = constant(INT, kind.low), constant(INT, kind.high)
                return conjunction(folded("ge", value, low), folded("le", value, high))
            case Array():
                places = (constant(machine(32, signed=False), i) for i in range(kind.length))
                return conjunction(*(self.limits(kind.element, term("index", value, i)) for i in places))
        return TRUE

    # Values

    def number(self, kind: Integer, value: int) -> Value:
        if kind == BOOLEAN:
            return Value(kind, constant(BOOL, bool(value)))
        return Value(kind, constant(self.core(kind), value))

    def of_truth(self, holds: Term, kind: Integer = kinds.INT) -> Value:
        if kind == BOOLEAN:
            return Value(kind, holds)
        one, zero = (constant(self.core(kind), n) for n in (1, 0))
        return Value(kind, choice(holds, one, zero))

    def truth(self, value: Value) -> Term:
        """Whether it is not zero."""
        t = value.term
        if t.type is BOOL:
            return t
        as_bool = _as_truth(t)
        if as_bool is not None:
            return as_bool
        return folded("ne", t, constant(t.type, 0.0 if isinstance(value.kind, Floating) else 0))

    def converted(self, value: Value, kind: Kind) -> Value:
        if not isinstance(kind, Integer | Floating):
            raise Unsupported(f"a value of type {value.kind} where {kind} is wanted")
        if value.kind == kind:
            return value
        if kind == BOOLEAN:
            assert isinstance(kind, Integer)
            return self.of_truth(self.truth(value), kind)
        holds = value.term if value.term.type is BOOL else _as_truth(value.term)
        if holds is not None and isinstance(kind, Integer):
            return self.of_truth(holds, kind)
        target = self.core(kind)
        if value.term.type is target:
            return Value(kind, value.term)
        if isinstance(value.kind, Floating) and isinstance(kind, Integer):
            self._fits(value.term, kind)
        return Value(kind, folded("cast", value.term, payload=target))

    def _fits(self, x: Term, kind: Integer) -> None:
        """What is left of a float without its fraction fits an integer type."""
        below = float(kind.low - 1)
        low = constant(x.type, _rounded(x.type, below))
        exact = low.payload == kind.low - 1
        high = constant(x.type, _rounded(x.type, float(kind.high + 1)))
        self.oblige("conversion in range", conjunction(folded("gt" if exact else "ge", x, low), folded("lt", x, high)))

    def common(self, a: Value, b: Value) -> tuple[Value, Value]:
        kind = kinds.common(a.kind, b.kind)
        return self.converted(a, kind), self.converted(b, kind)

    def promoted(self, value: Value) -> Value:
        return self.converted(value, kinds.promoted(value.kind)) if isinstance(value.kind, Integer) else value

    # Operators

    def binary(self, op: str, a: Value, b: Value) -> Value:
        if op in ("<<", ">>"):
            return self._shift(op, self.promoted(a), self.promoted(b))
        if op in COMPARISONS:
            return self._compare(op, a, b)
        a, b = self.common(a, b)
        if op in SUMS:
            return self._sum(SUMS[op], a, b)
        if op in DIVISIONS:
            return self._division(op, a, b)
        if op in BITS:
            return self._bits(op, a, b)
        raise Unsupported(f"the operator {op} is not known")

    def unary(self, op: str, a: Value) -> Value:
        if op == "!":
            return self.of_truth(negation(self.truth(a)))
        a = self.promoted(a)
        if op == "+":
            return a
        if op == "-":
            if isinstance(a.kind, Integer) and self._overflows(a.kind):
                self.oblige("no overflow", self._outside(a.term, a.kind.low))
            return Value(a.kind, folded("neg", a.term))
        if op != "~" or isinstance(a.kind, Floating):
            raise Unsupported(f"the operator {op} is not for {a.kind}")
        if self.mathematical:
            return Value(a.kind, folded("sub", constant(INT, -1), a.term))
        return Value(a.kind, folded("bitnot", a.term))

    def _compare(self, op: str, a: Value, b: Value) -> Value:
        if op in ("==", "!="):
            for one, other in ((a, b), (b, a)):
                holds = one.term if one.term.type is BOOL else _as_truth(one.term)
                if holds is not None and other.term.is_const and other.term.payload in (0, 1):
                    return self.of_truth(holds if bool(other.term.payload) == (op == "==") else negation(holds))
        a, b = self.common(a, b)
        return self.of_truth(folded(COMPARISONS[op], a.term, b.term))

    def _sum(self, op: str, a: Value, b: Value) -> Value:
        if isinstance(a.kind, Integer) and self._overflows(a.kind):
            self.oblige("no overflow", self._stays(op, a.term, b.term, a.kind))
        return Value(a.kind, folded(op, a.term, b.term))

    def _division(self, op: str, a: Value, b: Value) -> Value:
        if isinstance(a.kind, Floating):
            if op == "%":
                raise Unsupported(f"% is not for {a.kind}")
            return Value(a.kind, folded("div", a.term, b.term))
        self.oblige("no division by zero", self._outside(b.term, 0))
        if self._overflows(a.kind):
            fine = disjunction(self._outside(a.term, a.kind.low), self._outside(b.term, -1))
            self.oblige("no overflow", fine)
        return Value(a.kind, folded(DIVISIONS[op], a.term, b.term))

    def _bits(self, op: str, a: Value, b: Value) -> Value:
        if isinstance(a.kind, Floating):
            raise Unsupported(f"{op} is not for {a.kind}")
        x, y = _as_truth(a.term), _as_truth(b.term)
        if x is not None and y is not None:
            joined = {"&": conjunction, "|": disjunction, "^": lambda p, q: folded("xor", p, q)}[op](x, y)
            return self.of_truth(joined, a.kind)
        if not self.mathematical:
            return Value(a.kind, folded(BITS[op], a.term, b.term))
        for value, mask in ((a.term, b.term), (b.term, a.term)):
            if op == "&" and mask.is_const and mask.payload >= 0 and mask.payload & (mask.payload + 1) == 0:
                return Value(a.kind, folded("mod", value, constant(INT, mask.payload + 1)))
        raise Unsupported(f"{op} is for machine integers: --int c")

    def _shift(self, op: str, a: Value, b: Value) -> Value:
        if isinstance(a.kind, Floating) or isinstance(b.kind, Floating):
            raise Unsupported(f"{op} is not for floating point")
        width, amount = a.kind.width, b.term
        self.oblige("shift in range", self._within(amount, 0, width - 1))
        if self.mathematical:
            if not amount.is_const:
                raise Unsupported(f"{op} by an amount that is not constant is for machine integers: --int c")
            factor = constant(INT, 1 << min(max(0, amount.payload), width))
            return Value(a.kind, folded("mul" if op == "<<" else "floordiv", a.term, factor))
        if op == "<<" and a.kind.signed:
            self.oblige("no overflow", self._shifts(a.term, amount, a.kind))
        return Value(a.kind, folded("shl" if op == "<<" else "shr", a.term, amount))

    # Conditions

    def _shifts(self, x: Term, amount: Term, kind: Integer) -> Term:
        """x << amount fits: x is not negative, and no bit is lost or becomes the sign."""
        least, most = self.bounds(x)
        if least >= 0 and most << max(0, min(self.bounds(amount)[1], kind.width)) <= kind.high:
            return TRUE
        fits = folded("le", x, folded("shr", constant(x.type, kind.high), amount))
        return conjunction(self._within(x, 0, kind.high), fits)

    def index(self, value: Value, length: int) -> Term:
        """The index of an array of this length, obliged to be in bounds."""
        self.oblige("index in bounds", self._within(value.term, 0, length - 1))
        return value.term

    def _overflows(self, kind: Integer) -> bool:
        return kind.signed and not self.mathematical

    def _outside(self, x: Term, value: int) -> Term:
        """x != value."""
        low, high = self.bounds(x)
        return TRUE if not low <= value <= high else folded("ne", x, constant(x.type, value))

    def _within(self, x: Term, low: int, high: int) -> Term:
        least, most = self.bounds(x)
        if x.is_const:
            return TRUE if low <= x.payload <= high else FALSE
        above = TRUE if least >= low else FALSE if most < low else folded("ge", x, constant(x.type, low))
        below = TRUE if most <= high else FALSE if least > high else folded("le", x, constant(x.type, high))
        return conjunction(above, below)

    def _stays(self, op: str, a: Term, b: Term, kind: Integer) -> Term:
        """The result of +, - or * fits the type. Where one side is constant, that bounds the other."""
        low, high = _combined(op, self.bounds(a), self.bounds(b))
        if kind.low <= low and high <= kind.high:
            return TRUE
        if b.is_const:
            return self._other_fits(op, a, b.payload, kind)
        if a.is_const and op in ("add", "mul"):
            return self._other_fits(op, b, a.payload, kind)
        if a.is_const:  # a - b
            return self._within(b, a.payload - kind.high, a.payload - kind.low)
        wide = machine(2 * kind.width if op == "mul" else kind.width + 1, signed=True)
        result = term(op, term("cast", a, payload=wide), term("cast", b, payload=wide))
        least, most = constant(wide, kind.low), constant(wide, kind.high)
        return conjunction(term("ge", result, least), term("le", result, most))

    def _other_fits(self, op: str, x: Term, c: int, kind: Integer) -> Term:
        if op == "add":
            return self._within(x, kind.low - c, kind.high - c)
        if op == "sub":
            return self._within(x, kind.low + c, kind.high + c)
        ends = sorted((kind.low, kind.high), reverse=c < 0)
        return self._within(x, -(-ends[0] // c), ends[1] // c)

    def bounds(self, x: Term) -> tuple[int, int]:
        """Least and greatest value, as far as the term's own shape says."""
        known = self._bounds.get(x)
        if known is None:
            known = self._bounds[x] = self._bounded(x)
        return known

    def _bounded(self, x: Term) -> tuple[int, int]:
        full = (x.type.low, x.type.high) if isinstance(x.type, MachineType) else (-_FAR, _FAR)
        found = full
        if x.is_const:
            return int(x.payload), int(x.payload)
        if x.op == "cast" and isinstance(x.args[0].type, MachineType):
            found = self.bounds(x.args[0])
        elif x.op == "mux" and x.type.is_integer:
            (a, b), (c, d) = self.bounds(x.args[1]), self.bounds(x.args[2])
            found = min(a, c), max(b, d)
        elif x.op in ("add", "sub", "mul") and x.type.is_integer:
            found = _combined(x.op, self.bounds(x.args[0]), self.bounds(x.args[1]))
        elif x.op == "rem" and x.args[1].is_const and x.args[1].payload:
            m = abs(x.args[1].payload) - 1
            low, high = self.bounds(x.args[0])
            found = max(low, -m) if low < 0 else 0, min(high, m) if high > 0 else 0
        elif x.op == "bitand":
            masks = [a.payload for a in x.args if a.is_const and a.payload >= 0]
            found = (0, min(masks)) if masks else full
        return found if full[0] <= found[0] and found[1] <= full[1] else full


_FAR = 1 << 256  # beyond any constant of a program


def _combined(op: str, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    match op:
        case "add":
            return a[0] + b[0], a[1] + b[1]
        case "sub":
            return a[0] - b[1], a[1] - b[0]
    ends = [x * y for x in a for y in b]
    return min(ends), max(ends)


def _as_truth(t: Term) -> Term | None:
    """The condition of a number that is 1 where it holds and 0 elsewhere."""
    if t.op != "mux" or not t.type.is_integer or not t.args[1].is_const or not t.args[2].is_const:
        return None
    return t.args[0] if (t.args[1].payload, t.args[2].payload) == (1, 0) else None


def _rounded(type: Type, value: float) -> float:
    from streamcheck.core.floats import f32

    return f32(value) if type is CORE_FLOAT else value
