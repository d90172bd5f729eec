"""Rows: conversions between types, and the functions of floats.

`cast` is one row for `cast` and `unsafe_cast`: the language accepts the first only if no value is lost.
`float_of_bits` is the float that IEEE 754 stores as these bits. It is for unions in C; specs have no form for it.
Conversions of Int and Real to floats, and the functions below `floor`, are unknown to the solvers: their SMT form
is the name of an uninterpreted function.
"""

from __future__ import annotations

from streamcheck.core.operators.table import Operator, Signature, TypeRule, c_type, common_type, require
from streamcheck.core.types import DOUBLE, FLOAT, FloatType, MachineType, Type, machine

FROM = "bool unsigned signed float integer real enum"


def _cast(args: tuple[Type, ...], target: object) -> Type:
    require(args[0], FROM, "a Bool, a number or an enum")
    assert isinstance(target, Type)
    if target.kind not in "bool unsigned signed float integer real".split():
        raise TypeRule(f"a conversion to {target} is not supported")
    return target


def _python(s: Signature) -> str:
    source, target = s.args[0], s.result
    match target:
        case MachineType():
            if isinstance(source, FloatType):
                return f"to_machine(a, {target.low}, {target.high})"
            if isinstance(source, MachineType) and target.low <= source.low and source.high <= target.high:
                return "a"
            half = -target.low
            return f"(int(a) + {half} & {(1 << target.width) - 1}) - {half}"
        case FloatType(width=width):
            if isinstance(source, FloatType):
                return "f32(a)" if width < source.width else "a"
            return f"to_f{width}({'a' if source.kind == 'real' else 'int(a)'})"
    if target.kind == "bool":
        return "a != 0"
    if source.kind == "float":
        return "to_integer(a)" if target.kind == "integer" else "to_real(a)"
    return "int(a)" if target.kind == "integer" else "Fraction(a)"


def fp_literal(value: int, type: FloatType) -> str:
    """A whole number as a float. (bitwuzla reads no negative decimal here, so the sign is an operation on floats.)"""
    text = f"((_ to_fp {type.exponent} {type.significand}) RNE {abs(value)}.0)"
    return f"(fp.neg {text})" if value < 0 else text


def _smt(s: Signature) -> str:
    source, target = s.args[0], s.result
    if source is target:
        return "a"
    if target.kind == "bool":
        zero = {"float": "(fp.isZero a)", "integer": "(= a 0)", "real": "(= a 0.0)", "enum": "(= a (_ bv0 32))"}
        return f"(not {zero.get(source.kind, '(= a {zero})')})"
    if source.kind == "bool":
        return f"(ite a {_numeral(1, target)} {_numeral(0, target)})"
    match target:
        case MachineType():
            return _smt_to_machine(source, target)
        case FloatType():
            return _smt_to_float(source, target)
    return _smt_to_mathematical(source, target)


def _numeral(value: int, type: Type) -> str:
    match type:
        case MachineType(width=w):
            return f"(_ bv{value} {w})"
        case FloatType():
            return fp_literal(value, type)
    return str(value) if type.kind == "integer" else f"{value}.0"


def _smt_to_machine(source: Type, target: MachineType) -> str:
    w = target.width
    match source:
        case MachineType(width=v, signed=signed):
            if v >= w:
                return f"((_ extract {w - 1} 0) a)" if v > w else "a"
            return f"((_ {'sign' if signed else 'zero'}_extend {w - v}) a)"
        case FloatType():
            low, high = (f"(_ bv{n % (1 << w)} {w})" for n in (target.low, target.high))
            convert = f"((_ fp.to_{'s' if target.signed else 'u'}bv {w}) RTZ a)"
            return (
                f"(ite (fp.isNaN a) (_ bv0 {w}) (ite (fp.leq a {fp_literal(target.low, source)}) {low}"
                f" (ite (fp.geq a {fp_literal(target.high + 1, source)}) {high} {convert})))"
            )
    if source.kind == "enum":
        return _smt_to_machine(MachineType(32, True), target)
    whole = "a" if source.kind == "integer" else "(ite (>= a 0.0) (to_int a) (- (to_int (- a))))"
    return f"((_ int_to_bv {w}) {whole})"


def _smt_to_float(source: Type, target: FloatType) -> str:
    to_fp = f"{target.exponent} {target.significand}"
    match source:
        case MachineType(signed=signed):
            return f"((_ to_fp{'' if signed else '_unsigned'} {to_fp}) RNE a)"
        case FloatType():
            return f"((_ to_fp {to_fp}) RNE a)"
    if source.kind == "enum":
        return f"((_ to_fp {to_fp}) RNE a)"
    return f"({source}_to_{target} a)"


def _smt_to_mathematical(source: Type, target: Type) -> str:
    whole = target.kind == "integer"
    match source.kind:
        case "unsigned":
            text = "(ubv_to_int a)"
        case "signed" | "enum":
            text = "(sbv_to_int a)"
        case "float":
            exact = "(ite (or (fp.isNaN a) (fp.isInfinite a)) 0.0 (fp.to_real a))"
            return f"(let ((r! {exact})) {_truncation('r!')})" if whole else exact
        case "real":
            return _truncation("a") if whole else "a"
        case _:
            text = "a"
    return text if whole else f"(to_real {text})"


def _truncation(r: str) -> str:
    return f"(ite (>= {r} 0.0) (to_int {r}) (- (to_int (- {r}))))"


def _c(s: Signature) -> str:
    source, target = s.args[0], s.result
    if target.kind == "bool":
        return "a != 0"
    if source.kind == "bool":
        one = {"unsigned": "1u", "signed": "1"}.get(target.kind, "1.0f" if target is FLOAT else "1.0")
        return f"a ? {one} : {one.replace('1', '0', 1)}"
    if isinstance(target, MachineType):
        t = f"{'i' if target.signed else 'u'}{target.width}"
        if isinstance(source, FloatType):
            return f"sc_{t}_of_f{source.width}(a)"
        if target.signed:
            keeps = isinstance(source, MachineType) and target.low <= source.low and source.high <= target.high
            wide = "uint64_t" if target.width == 64 else "uint32_t"
            return f"({c_type(target)})a" if keeps else f"sc_{t}(({wide})a)"
    return f"({c_type(target)})a"


def _of_bits(args: tuple[Type, ...], _: object) -> Type:
    floats = {machine(type.width, signed=False): type for type in (FLOAT, DOUBLE)}
    return floats.get(args[0]) or require(args[0], "", "Word32 or Word64")  # type: ignore[call-overload]


def _float(args: tuple[Type, ...], _: object) -> Type:
    return require(common_type(args), "float", "Float or Double")


def _function(name: str, *operands: str, smt: str | None = None) -> Operator:
    """A function of math.h: computed in binary64 and rounded; C calls the one of the type's own width."""
    listed = ", ".join(operands)
    unknown = {"float": lambda s: f"({name}_{s.args[0]} {' '.join(operands)})"}
    return Operator(
        name,
        f"{name}({listed})",
        _float,
        f"{name}({listed})",
        {"float": smt} if smt else unknown,
        f"{name}{{f}}({listed})",
        wraps=True,
    )


ROWS = (
    Operator("cast", "cast(a)", _cast, _python, _smt, _c, requires="cast in range"),
    Operator("float_of_bits", "float_of_bits(a)", _of_bits, "float_of_bits(a, {w})", "((_ to_fp {fp}) a)", None),
    _function("sqrt", "a", smt="(fp.sqrt RNE a)"),
    _function("ceil", "a", smt="(fp.roundToIntegral RTP a)"),
    _function("floor", "a", smt="(fp.roundToIntegral RTN a)"),
    *(_function(f, "a") for f in "sin cos tan asin acos atan sinh cosh tanh exp log".split()),
    _function("atan2", "a", "b"),
    Operator(
        "pow",
        "a ** b",
        _float,
        "power(a, b)",
        {"float": lambda s: f"(pow_{s.args[0]} a b)"},
        "pow{f}(a, b)",
        wraps=True,
    ),
)
