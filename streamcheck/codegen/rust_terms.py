"""Terms as Rust expressions, with the meaning of the operator table: integers wrap around, floats are IEEE 754, every
operation has a value.

Rust's `as` between integers takes the low bits, and from a float it truncates and saturates, NaN becoming 0: as `cast`
does. What Rust would panic at (a division by zero, a shift too far, an index out of range) goes through a function.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.core.types import ArrayType, EnumType, FloatType, MachineType, StructType, Type, Value

KEYWORDS = frozenset(
    "as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move "
    "mut pub ref return self Self static struct super trait true type unsafe use where while abstract become box do "
    "final gen macro override priv try typeof union unsized virtual yield bool char str usize isize core".split()
)
INFIX = {"and": "&&", "or": "||", "xor": "!=", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
INFIX |= {"bitand": "&", "bitor": "|", "bitxor": "^", "div": "/"}
SUMS = {"add": ("+", "wrapping_add"), "sub": ("-", "wrapping_sub"), "mul": ("*", "wrapping_mul")}
DIVISIONS = ("floordiv", "mod", "quot", "rem")


def rust_name(name: str) -> str:
    """The user's name in Rust."""
    return f"{name}_" if name in KEYWORDS or name == "_" else name


def rust_type(type: Type) -> str:
    match type:
        case MachineType(width=width, signed=signed):
            return f"{'i' if signed else 'u'}{width}"
        case FloatType(width=width):
            return f"f{width}"
        case ArrayType():
            return f"[{rust_type(type.element)}; {type.length}]"
        case StructType() | EnumType():
            return rust_name(type.name)
    return "bool"


def rust_constant(type: Type, value: Value) -> str:
    match type, value:
        case MachineType(), int():
            name = rust_type(type)
            return f"{name}::MIN" if value == type.low and type.signed else f"{value}{name}"
        case FloatType(), float():
            if math.isfinite(value):
                return f"{value!r}{rust_type(type)}"
            return f"{rust_type(type)}::{'NAN' if value != value else 'INFINITY' if value > 0 else 'NEG_INFINITY'}"
        case EnumType(), int():
            return f"{rust_name(type.name)}::{rust_name(type.member(value))}"
    return str(value).lower()


class RustTerms:
    """Expressions for applications of operators. `helpers`: the functions that they call."""

    def __init__(self) -> None:
        self.helpers: dict[str, str] = {}  # definitions by name

    def application(self, node: Term, args: list[str]) -> str:
        op, kind = node.op, node.args[0].type.kind if node.args else ""
        if op in SUMS:
            return f"({args[0]} {SUMS[op][0]} {args[1]})" if kind == "float" else f"{args[0]}.{SUMS[op][1]}({args[1]})"
        if op in INFIX:
            return f"({args[0]} {INFIX[op]} {args[1]})"
        if op in DIVISIONS or op in ("shl", "shr", "min", "max"):
            return self._function(node, args)
        method: Callable[[Term, list[str]], str] | None = getattr(self, f"_{op}", None)
        if method is None:
            raise SpecError(f"the Rust crate has no `{op}`, whose last bit no standard promises", write="the C alone")
        return method(node, args)

    def _not(self, node: Term, args: list[str]) -> str:
        return f"!{args[0]}"

    _bitnot = _not

    def _implies(self, node: Term, args: list[str]) -> str:
        return f"(!{args[0]} || {args[1]})"

    def _mux(self, node: Term, args: list[str]) -> str:
        return f"(if {args[0]} {{ {args[1]} }} else {{ {args[2]} }})"

    def _neg(self, node: Term, args: list[str]) -> str:
        return f"(-{args[0]})" if node.type.kind == "float" else f"{args[0]}.wrapping_neg()"

    def _abs(self, node: Term, args: list[str]) -> str:
        match node.type:
            case FloatType(width=width):
                return f"f{width}::from_bits({args[0]}.to_bits() & {(1 << (width - 1)) - 1:#x})"
            case MachineType(signed=True):
                return f"{args[0]}.wrapping_abs()"
        return args[0]

    def _cast(self, node: Term, args: list[str]) -> str:
        source, target = node.args[0].type, node.type
        if source is target:
            return args[0]
        if isinstance(source, EnumType):
            args = [f"({args[0]} as i32)"]
        if target.kind == "bool":
            zero = "0.0" if isinstance(source, FloatType) else "0"
            return f"({args[0]} != {zero})"
        if source.kind == "bool" and isinstance(target, FloatType):
            return f"(if {args[0]} {{ 1.0 }} else {{ 0.0 }})"
        return f"({args[0]} as {rust_type(target)})"

    def _array(self, node: Term, args: list[str]) -> str:
        return f"[{', '.join(args)}]"

    def _struct(self, node: Term, args: list[str]) -> str:
        assert isinstance(node.type, StructType)
        fields = (f"{rust_name(name)}: {a}" for (name, _), a in zip(node.type.fields, args, strict=True))
        return f"{rust_type(node.type)} {{ {', '.join(fields)} }}"

    def _field(self, node: Term, args: list[str]) -> str:
        assert isinstance(node.args[0].type, StructType)
        return f"{args[0]}.{rust_name(node.args[0].type.fields[node.payload][0])}"

    def _with_field(self, node: Term, args: list[str]) -> str:
        assert isinstance(node.type, StructType)
        return (
            f"{{ let mut whole = {args[0]}; whole.{rust_name(node.type.fields[node.payload][0])} = {args[1]}; whole }}"
        )

    def _index(self, node: Term, args: list[str]) -> str:
        return f"{args[0]}[{self._clamp(node, args[1])}]"

    def _update(self, node: Term, args: list[str]) -> str:
        return f"{{ let mut whole = {args[0]}; whole[{self._clamp(node, args[1])}] = {args[2]}; whole }}"

    def _clamp(self, node: Term, index: str) -> str:
        """The nearest valid index."""
        array, type = node.args[0].type, node.args[1].type
        assert isinstance(array, ArrayType) and isinstance(type, MachineType)
        wide = "i64" if type.signed else "u64"
        below = "if index < 0 { 0 } else " if type.signed else ""
        line = f"{below}if index > last {{ last as usize }} else {{ index as usize }}"
        self._define(f"clamp_{wide}", f"index: {wide}, last: {wide}", "usize", line)
        return f"clamp_{wide}({index} as {wide}, {array.length - 1})"

    def _sqrt(self, node: Term, args: list[str]) -> str:
        return self._call_rounding(node, args, "sqrt")

    def _floor(self, node: Term, args: list[str]) -> str:
        return self._call_rounding(node, args, "floor")

    def _ceil(self, node: Term, args: list[str]) -> str:
        return self._call_rounding(node, args, "ceil")

    def _call_rounding(self, node: Term, args: list[str], name: str) -> str:
        """A function of floats that `core` does not have: written here, exactly rounded."""
        t = rust_type(node.type)
        if name == "sqrt":
            self._define(f"sqrt_{t}", f"x: {t}", t, *_sqrt_lines(node.type))
        else:
            self._define(f"{name}_{t}", f"x: {t}", t, *_whole_lines(node.type, name))
        return f"{name}_{t}({args[0]})"

    def _function(self, node: Term, args: list[str]) -> str:
        t, op = rust_type(node.args[0].type), node.op
        if op in ("shl", "shr"):
            self._define(f"{op}_{t}", f"a: {t}, n: u64", t, _shift_line(node))
            return f"{op}_{t}({args[0]}, {args[1]} as u64)"
        if op in ("min", "max"):
            order = "b < a" if op == "min" else "a < b"
            self._define(f"{op}_{t}", f"a: {t}, b: {t}", t, f"if {order} {{ b }} else {{ a }}")
        else:
            self._define(f"{op}_{t}", f"a: {t}, b: {t}", t, *_division_lines(node))
        return f"{op}_{t}({args[0]}, {args[1]})"

    def _define(self, name: str, parameters: str, result: str, *lines: str) -> None:
        body = "".join(f"    {line}\n" for line in lines)
        self.helpers[name] = f"fn {name}({parameters}) -> {result} {{\n{body}}}\n"


def _shift_line(node: Term) -> str:
    type = node.type
    assert isinstance(type, MachineType)
    if node.op == "shr" and type.signed:
        return f"a >> (if n < {type.width} {{ n }} else {{ {type.width - 1} }})"
    return f"if n < {type.width} {{ a {'<<' if node.op == 'shl' else '>>'} n }} else {{ 0 }}"


def _division_lines(node: Term) -> list[str]:
    signed = node.type.kind == "signed"
    name = "div" if node.op in ("floordiv", "quot") else "rem"
    lines = [f"if b == 0 {{ return {'0' if name == 'div' else 'a'}; }}"]
    if node.op in ("quot", "rem") or not signed:
        return [*lines, f"a.wrapping_{name}(b)"]
    lines.append("let remainder = a.wrapping_rem(b);")
    lines.append("let below = remainder != 0 && (remainder < 0) != (b < 0);")
    if name == "div":
        return [*lines, "let quotient = a.wrapping_div(b);", "if below { quotient - 1 } else { quotient }"]
    return [*lines, "if below { remainder + b } else { remainder }"]


def _whole_lines(type: Type, name: str) -> list[str]:
    """floor and ceil: a float of at least 2^(p-1) is whole; others fit an i64."""
    assert isinstance(type, FloatType)
    t, significand = rust_type(type), type.significand
    magnitude, sign = (1 << (type.width - 1)) - 1, 1 << (type.width - 1)
    order, by = ("whole > x", "- 1.0") if name == "floor" else ("whole < x", "+ 1.0")
    return [
        f"let size = {t}::from_bits(x.to_bits() & {magnitude:#x});",
        f"if !(size < {float(1 << (significand - 1))!r}) {{ return x; }}",
        f"let whole = x as i64 as {t};",
        f"let moved = if {order} {{ whole {by} }} else {{ whole }};",
        f"{t}::from_bits((moved.to_bits() & {magnitude:#x}) | (x.to_bits() & {sign:#x}))",
    ]


def _sqrt_lines(type: Type) -> list[str]:
    """The square root by integers. x is m * 2^e, e even and m so large that the root of m has two bits more than a
    significand; the last bits and the remainder decide how it is rounded. No root is subnormal."""
    assert isinstance(type, FloatType)
    t, fraction = rust_type(type), type.significand - 1
    bias, wide = (1 << (type.exponent - 1)) - 1, "u64" if type.width == 32 else "u128"
    shift = fraction + 4 + fraction % 2
    return [
        f"if x == 0.0 || !(x < {t}::INFINITY) {{ return x; }}",
        f"if x < 0.0 {{ return {t}::NAN; }}",
        f"let stored = (x.to_bits() >> {fraction}) as i32;",
        f"let low = (x.to_bits() & {(1 << fraction) - 1:#x}) as {wide};",
        f"let mut m = if stored == 0 {{ low }} else {{ low | {1 << fraction:#x} }};",
        f"let mut e = (if stored == 0 {{ 1 }} else {{ stored }}) - {bias + fraction};",
        f"while m < {1 << fraction:#x} {{ m <<= 1; e -= 1; }}",
        "if e % 2 != 0 { m <<= 1; e -= 1; }",
        f"let mut rest = m << {shift};",
        f"let mut root: {wide} = 0;",
        f"let mut bit: {wide} = 1 << {(fraction + 2 + shift) // 2 * 2};",
        "while bit > rest { bit >>= 2; }",
        "while bit != 0 {",
        "    if rest >= root + bit { rest -= root + bit; root = (root >> 1) + bit; } else { root >>= 1; }",
        "    bit >>= 2;",
        "}",
        f"let dropped = {wide}::BITS - root.leading_zeros() - {fraction + 1};",
        f"let half: {wide} = 1 << (dropped - 1);",
        "let tail = root & ((half << 1) - 1);",
        "root >>= dropped;",
        "if tail > half || (tail == half && (rest != 0 || root & 1 == 1)) { root += 1; }",
        f"let exponent = (e - {shift}) / 2 + dropped as i32 + {bias + fraction - 1};",
        f"{t}::from_bits(((exponent as u{type.width}) << {fraction}) + root as u{type.width})",
    ]
