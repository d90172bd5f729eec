"""The operators for solvers of bit-vectors, floats and mathematical numbers, written for the checker alone.

Machine integers are bit-vectors. `Bitwise` leaves Int and Real to the solver; `WideBitwise` is for certificates that
speak of machine integers as whole numbers, `cast(Int, x)`: every Int there is bounded by what it is computed from, so
it is a bit-vector wide enough never to overflow.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from fractions import Fraction

from streamcheck.core.term import Term
from streamcheck.core.types import EnumType, FloatType, MachineType, Type, Value


class Unrenderable(Exception):
    """A term that has no form in a rendering."""


LOGICAL = {"not": "not", "and": "and", "or": "or", "xor": "xor", "implies": "=>", "mux": "ite", "same": "="}
UNKNOWN = frozenset("sin cos tan asin acos atan sinh cosh tanh exp log atan2 pow".split())


def unknown_function(node: Term) -> str | None:
    """The name of an operation that is uninterpreted to solvers. None for any other."""
    if node.op in UNKNOWN:
        return f"{node.op}_{node.type}"
    if node.op == "cast" and isinstance(node.type, FloatType) and node.args[0].type.kind in ("integer", "real"):
        return f"{node.args[0].type}_to_{node.type}"
    return None


def machine_of(type: Type) -> MachineType:
    """The bits that hold a machine integer, or an enum's codes."""
    return type if isinstance(type, MachineType) else MachineType(32, True)


def code_of(node: Term) -> int:
    """The number behind a constant of a machine type or an enum. Unrenderable if its type does not hold it."""
    type, code = machine_of(node.type), int(node.payload)
    if not type.low <= code <= type.high:
        raise Unrenderable(f"{code} as a member of {node.type}")
    return code


def number(value: Value) -> str:
    """An exact number as SMT-LIB text."""
    exact = Fraction(value)  # type: ignore[arg-type]
    text = str(abs(exact.numerator)) if exact.denominator == 1 else f"(/ {abs(exact.numerator)} {exact.denominator})"
    return f"(- {text})" if exact < 0 else text


class Bitwise:
    """Terms as SMT-LIB text. A method gets a node and the names of its operands."""

    def sort(self, node: Term) -> str:
        return self.sort_of_type(node.type)

    def sort_of_type(self, type: Type) -> str:
        match type:
            case MachineType() | EnumType():
                return f"(_ BitVec {machine_of(type).width})"
            case FloatType():
                return f"(_ FloatingPoint {type.exponent} {type.significand})"
        return {"bool": "Bool", "integer": "Int", "real": "Real"}[type.kind]

    def range_of(self, node: Term, name: str) -> str | None:
        """A condition that every value of the variable's type meets; None if its sort implies it."""
        return None

    def constant(self, node: Term) -> str:
        match node.type:
            case MachineType() | EnumType():
                return bits(code_of(node), machine_of(node.type).width)
            case FloatType():
                return _float_bits(node.type, float(node.payload))
        if isinstance(node.payload, bool):
            return "true" if node.payload else "false"
        return number(node.payload) if node.type.kind == "integer" else _real(node.payload)

    def application(self, node: Term, operands: Sequence[str]) -> str:
        unknown = unknown_function(node)
        if unknown is not None:
            return f"({unknown} {' '.join(operands)})"
        if node.op in LOGICAL:
            return f"({LOGICAL[node.op]} {' '.join(operands)})"
        operand = node.args[0].type
        if node.op == "cast":
            return self.cast(node, operands[0])
        if node.op in ("eq", "ne"):
            equal = "fp.eq" if isinstance(operand, FloatType) else "="
            text = f"({equal} {operands[0]} {operands[1]})"
            return text if node.op == "eq" else f"(not {text})"
        if isinstance(operand, MachineType):
            return self.machine(node, operand, operands)
        return _of_floats(node.op, operands) if isinstance(operand, FloatType) else self.exact(node, operands)

    def machine(self, node: Term, type: MachineType, operands: Sequence[str]) -> str:
        if node.op in ("shl", "shr"):
            return self._shift(node, type, *operands)
        if isinstance(node.type, FloatType):  # float_of_bits
            return f"((_ to_fp {node.type.exponent} {node.type.significand}) {operands[0]})"
        return machine_text(node.op, type, *operands)

    def _shift(self, node: Term, type: MachineType, a: str, b: str) -> str:
        w, amount = type.width, node.args[1].type
        if isinstance(amount, MachineType):
            v = amount.width
            fits = "true" if 2**v <= w else f"(bvult {b} {bits(w, v)})"
            if amount.signed:
                fits = f"(and {fits} (bvsge {b} {bits(0, v)}))"
            resized = f"((_ extract {w - 1} 0) {b})" if v > w else f"((_ zero_extend {w - v}) {b})"
        else:
            fits, resized = f"(and (>= {b} 0) (< {b} {w}))", f"((_ int_to_bv {w}) {b})"
        if node.op == "shl":
            return f"(ite {fits} (bvshl {a} {resized}) {bits(0, w)})"
        if type.signed:
            return f"(ite {fits} (bvashr {a} {resized}) (bvashr {a} {bits(w - 1, w)}))"
        return f"(ite {fits} (bvlshr {a} {resized}) {bits(0, w)})"

    def exact(self, node: Term, operands: Sequence[str]) -> str:
        return exact_text(node.op, node.args[0].type.kind == "real", *operands)

    # Conversions

    def cast(self, node: Term, a: str) -> str:
        source, target = node.args[0].type, node.type
        if source is target:
            return a
        if target.kind == "bool":
            return f"(not (fp.isZero {a}))" if isinstance(source, FloatType) else f"(not (= {a} {self.zero(source)}))"
        if source.kind == "bool":
            return f"(ite {a} {self.one(target)} {self.zero(target)})"
        match source:
            case MachineType() | EnumType():
                return self.from_machine(node, machine_of(source), a)
            case FloatType():
                return _from_float(a, source, target)
        return self.from_exact(a, source, target)

    def zero(self, type: Type) -> str:
        match type:
            case MachineType() | EnumType():
                return bits(0, machine_of(type).width)
            case FloatType():
                return _float_bits(type, 0.0)
        return "0" if type.kind == "integer" else "0.0"

    def one(self, type: Type) -> str:
        match type:
            case MachineType():
                return bits(1, type.width)
            case FloatType():
                return _float_bits(type, 1.0)
        return "1" if type.kind == "integer" else "1.0"

    def from_machine(self, node: Term, source: MachineType, a: str) -> str:
        match node.type:
            case MachineType(width=w):
                return extension(a, source, w)
            case FloatType() as float_type:
                convert = "to_fp" if source.signed else "to_fp_unsigned"
                return f"((_ {convert} {float_type.exponent} {float_type.significand}) RNE {a})"
        whole = f"({'sbv' if source.signed else 'ubv'}_to_int {a})"
        return whole if node.type.kind == "integer" else f"(to_real {whole})"

    def from_exact(self, a: str, source: Type, target: Type) -> str:
        whole = a if source.kind == "integer" else _truncate(a)
        match target:
            case MachineType(width=w):
                return f"((_ int_to_bv {w}) {whole})"
        if target.kind == "integer":
            return whole
        return a if source.kind == "real" else f"(to_real {a})"


def bits(value: int, width: int) -> str:
    return f"(_ bv{value % (1 << width)} {width})"


def extension(a: str, source: MachineType, width: int) -> str:
    """The low bits, or as many more as keep the number."""
    if source.width == width:
        return a
    if source.width > width:
        return f"((_ extract {width - 1} 0) {a})"
    return f"((_ {'sign' if source.signed else 'zero'}_extend {width - source.width}) {a})"


def machine_text(op: str, type: MachineType, a: str, b: str = "") -> str:
    """An operation on bit-vectors of one width."""
    w, signed = type.width, type.signed
    zero, sign = bits(0, w), "s" if signed else "u"
    match op:
        case "add" | "sub" | "mul" | "neg":
            return f"(bv{op} {a} {b})".replace(" )", ")")
        case "bitnot":
            return f"(bvnot {a})"
        case "bitand" | "bitor" | "bitxor":
            return f"(bv{op.removeprefix('bit')} {a} {b})"
        case "lt" | "le" | "gt" | "ge":
            return f"(bv{sign}{op} {a} {b})"
        case "min":
            return f"(ite (bv{sign}le {a} {b}) {a} {b})"
        case "max":
            return f"(ite (bv{sign}ge {a} {b}) {a} {b})"
        case "abs":
            return f"(ite (bvsge {a} {zero}) {a} (bvneg {a}))" if signed else a
        case "mod":
            return f"(bvsmod {a} {b})" if signed else f"(bvurem {a} {b})"
        case "rem":
            return f"(bvsrem {a} {b})" if signed else f"(bvurem {a} {b})"
        case "quot" | "floordiv" if not signed:
            return f"(ite (= {b} {zero}) {zero} (bvudiv {a} {b}))"
        case "quot":
            return f"(ite (= {b} {zero}) {zero} (bvsdiv {a} {b}))"
        case "floordiv":  # the quotient toward zero, and one less if something is left and the signs differ
            inexact = f"(distinct (bvsrem {a} {b}) {zero})"
            signs = f"(distinct (bvslt {a} {zero}) (bvslt {b} {zero}))"
            lower = f"(bvsub (bvsdiv {a} {b}) {bits(1, w)})"
            return f"(ite (= {b} {zero}) {zero} (ite (and {inexact} {signs}) {lower} (bvsdiv {a} {b})))"
    raise Unrenderable(f"{op} on {type}")


def exact_text(op: str, real: bool, a: str, b: str = "") -> str:
    """An operation on mathematical numbers. SMT-LIB's `div` and `mod` leave a remainder that is not negative."""
    match op:
        case "add" | "sub" | "mul":
            return f"({ {'add': '+', 'sub': '-', 'mul': '*'}[op] } {a} {b})"
        case "lt" | "le" | "gt" | "ge":
            return f"({ {'lt': '<', 'le': '<=', 'gt': '>', 'ge': '>='}[op] } {a} {b})"
        case "neg":
            return f"(- {a})"
        case "abs":
            return f"(ite (>= {a} {'0.0' if real else '0'}) {a} (- {a}))"
        case "min":
            return f"(ite (<= {a} {b}) {a} {b})"
        case "max":
            return f"(ite (>= {a} {b}) {a} {b})"
        case "div":
            return f"(ite (= {b} 0.0) 0.0 (/ {a} {b}))"
        case "floordiv":
            return f"(ite (= {b} 0) 0 (ite (< {b} 0) (div (- {a}) (- {b})) (div {a} {b})))"
        case "mod":
            return f"(ite (= {b} 0) {a} (ite (< {b} 0) (- (mod (- {a}) (- {b}))) (mod {a} {b})))"
        case "quot":
            return f"(ite (= {b} 0) 0 (ite (< {a} 0) (- (div (- {a}) {b})) (div {a} {b})))"
        case "rem":
            return f"(ite (= {b} 0) {a} (ite (< {a} 0) (- (mod (- {a}) {b})) (mod {a} {b})))"
    raise Unrenderable(f"{op} on a mathematical number")


# Floats

_FLOAT_OPERATIONS = {
    "add": "fp.add RNE",
    "sub": "fp.sub RNE",
    "mul": "fp.mul RNE",
    "div": "fp.div RNE",
    "sqrt": "fp.sqrt RNE",
    "ceil": "fp.roundToIntegral RTP",
    "floor": "fp.roundToIntegral RTN",
    "neg": "fp.neg",
    "abs": "fp.abs",
    "lt": "fp.lt",
    "le": "fp.leq",
    "gt": "fp.gt",
    "ge": "fp.geq",
}


def _of_floats(op: str, operands: Sequence[str]) -> str:
    if op in ("min", "max"):
        a, b = operands
        return f"(ite (fp.{'lt' if op == 'min' else 'gt'} {b} {a}) {b} {a})"
    if op not in _FLOAT_OPERATIONS:
        raise Unrenderable(f"{op} on floats")
    return f"({_FLOAT_OPERATIONS[op]} {' '.join(operands)})"


def _float_bits(type: FloatType, value: float) -> str:
    if value != value:
        return f"(_ NaN {type.exponent} {type.significand})"
    code = int.from_bytes(struct.pack(">f" if type.width == 32 else ">d", value), "big")
    digits = f"{code:0{type.width}b}"
    return f"(fp #b{digits[0]} #b{digits[1 : type.exponent + 1]} #b{digits[type.exponent + 1 :]})"


def _from_float(a: str, source: FloatType, target: Type) -> str:
    match target:
        case FloatType():
            return f"((_ to_fp {target.exponent} {target.significand}) RNE {a})"
        case MachineType(width=w, low=low, high=high):
            if w >= 2 ** (source.exponent - 1):
                raise Unrenderable(f"{source} to {target}")  # whose bounds are no floats
            convert = f"((_ fp.to_{'s' if target.signed else 'u'}bv {w}) RTZ {a})"
            too_low = f"(fp.leq {a} {_float_bits(source, float(low))})"
            too_high = f"(fp.geq {a} {_float_bits(source, float(high + 1))})"
            inside = f"(ite {too_low} {bits(low, w)} (ite {too_high} {bits(high, w)} {convert}))"
            return f"(ite (fp.isNaN {a}) {bits(0, w)} {inside})"
    exact = f"(ite (or (fp.isNaN {a}) (fp.isInfinite {a})) 0.0 (fp.to_real {a}))"
    return exact if target.kind == "real" else _truncate(exact)


def _truncate(a: str) -> str:
    return f"(ite (< {a} 0.0) (- (to_int (- {a}))) (to_int {a}))"


def _real(value: Value) -> str:
    exact = Fraction(value)  # type: ignore[arg-type]
    text = f"(/ {abs(exact.numerator)}.0 {exact.denominator}.0)"
    return f"(- {text})" if exact < 0 else text


# Whole numbers as wide bit-vectors


class WideBitwise(Bitwise):
    """`Bitwise`, with every Int as a bit-vector of its own width. Unrenderable if an Int has no bounds."""

    def __init__(self) -> None:
        self._bounds: dict[Term, tuple[int, int]] = {}

    def sort(self, node: Term) -> str:
        if node.type.kind == "integer":
            return f"(_ BitVec {self.width(node)})"
        if node.type.kind == "real":
            raise Unrenderable("a Real")
        return self.sort_of_type(node.type)

    def width(self, node: Term) -> int:
        width = max(bound.bit_length() for bound in self.bounds(node)) + 1
        if width > MOST_BITS:
            raise Unrenderable("a number of too many bits")
        return width

    def bounds(self, node: Term) -> tuple[int, int]:
        if node not in self._bounds:
            self._bounds[node] = self._bounds_of(node)
        return self._bounds[node]

    def _bounds_of(self, node: Term) -> tuple[int, int]:
        """Operands come first everywhere, so this does not recurse deeply."""
        if node.op == "const":
            return node.payload, node.payload
        if node.op == "var":
            raise Unrenderable("an Int without bounds")
        if node.op == "cast":
            return self._bounds_of_cast(node.args[0])
        operands = [self.bounds(a) for a in node.args if a.type.kind == "integer"]
        (p, q), (r, s) = operands[0], operands[-1]
        match node.op:
            case "add":
                return p + r, q + s
            case "sub":
                return p - s, q - r
            case "neg":
                return -q, -p
            case "mul":
                corners = [x * y for x in (p, q) for y in (r, s)]
                return min(corners), max(corners)
            case "min" | "max" | "mux":
                return min(p, r), max(q, s)
        largest = max(map(abs, (p, q, r, s)))  # no quotient or remainder is larger than both operands
        return -largest, largest

    def _bounds_of_cast(self, source: Term) -> tuple[int, int]:
        match source.type:
            case MachineType() | EnumType():
                type = machine_of(source.type)
                return type.low, type.high
        if source.type.kind == "integer":
            return self.bounds(source)
        if source.type.kind == "bool":
            return 0, 1
        raise Unrenderable(f"a whole number from {source.type}")

    def constant(self, node: Term) -> str:
        return bits(node.payload, self.width(node)) if node.type.kind == "integer" else super().constant(node)

    def application(self, node: Term, operands: Sequence[str]) -> str:
        wide = [a.type.kind == "integer" for a in node.args]
        if not any(wide) and node.type.kind != "integer":
            return super().application(node, operands)
        if node.op in ("shl", "shr") or unknown_function(node) is not None:
            raise Unrenderable(f"{node.op} with an Int")
        width = max(self.width(t) for t in (node, *node.args) if t.type.kind == "integer") + 1
        type = MachineType(width, True)
        extended = [
            self._extend(name, a, width) if is_wide else name
            for name, a, is_wide in zip(operands, node.args, wide, strict=True)
        ]
        if node.op == "cast":
            return self._cast_wide(node, operands[0])
        if node.op in (*LOGICAL, "eq", "ne"):
            text = super().application(node, extended)
        else:
            text = machine_text(node.op, type, *extended)
        return text if node.type.kind != "integer" else extension(text, type, self.width(node))

    def _extend(self, name: str, node: Term, width: int) -> str:
        return extension(name, MachineType(self.width(node), True), width)

    def _cast_wide(self, node: Term, a: str) -> str:
        source = node.args[0]
        if source.type.kind == "bool":
            return f"(ite {a} {bits(1, self.width(node))} {bits(0, self.width(node))})"
        own = machine_of(source.type) if source.type.kind != "integer" else MachineType(self.width(source), True)
        match node.type:
            case MachineType(width=w):
                return extension(a, own, w)
        if node.type.kind == "bool":
            return f"(not (= {a} {bits(0, own.width)}))"
        if node.type.kind != "integer":
            raise Unrenderable(f"Int to {node.type}")
        return extension(a, own, self.width(node))


MOST_BITS = 600
