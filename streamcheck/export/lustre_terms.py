"""The operations of terms as Lustre text for Kind 2, each with exactly the same meaning.

If Kind 2 lacks an operation or leaves a case undefined (division by zero, oversized shifts), the text spells out our
definition. Operands are texts already, in parentheses if they need them; a text may repeat an operand, because large
operands have names.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.core.types import EnumType, MachineType, Type, Value

INFIX = {
    "and": "and",
    "or": "or",
    "xor": "xor",
    "implies": "=>",
    "eq": "=",
    "same": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "add": "+",
    "sub": "-",
    "mul": "*",
    "bitand": "&&",
    "bitor": "||",
}
PREFIX = {"not": "not ", "neg": "- ", "bitnot": "!"}
STANDARD = (8, 16, 32, 64)


def type_name(type: Type, enums: dict[Type, str]) -> str:
    match type:
        case MachineType(width=w, signed=signed) if w in STANDARD:
            return f"{'' if signed else 'u'}int{w}"
        case MachineType(width=w, signed=signed):
            return f"{'s' if signed else 'u'}int<{w}>"
        case EnumType():
            return enums[type]
    if type.kind not in ("bool", "integer", "real"):
        raise SpecError(f"{type} cannot be written in Lustre", write="--as json, which has everything")
    return {"bool": "bool", "integer": "int", "real": "real"}[type.kind]


def conversion(type: MachineType, text: str) -> str:
    if type.width not in STANDARD:
        raise SpecError(f"{type}: only machine integers of 8, 16, 32 and 64 bits can be written in Lustre")
    return f"({'' if type.signed else 'u'}int{type.width} {text})"


def literal(type: Type, value: Value, members: dict[tuple[Type, Value], str]) -> str:
    match type:
        case MachineType():
            return conversion(type, str(value) if int(value) >= 0 else f"({value})")  # type: ignore[arg-type]
        case EnumType():
            return members[(type, value)]
    if isinstance(value, bool):
        return "true" if value else "false"
    if type.kind == "real":
        exact = Fraction(value)  # type: ignore[arg-type]
        above = f"{abs(exact.numerator)}.0"
        text = above if exact.denominator == 1 else f"({above} / {exact.denominator}.0)"
        return text if exact >= 0 else f"(- {text})"
    return str(value) if int(value) >= 0 else f"({value})"  # type: ignore[arg-type]


def operation(node: Term, texts: Sequence[str], members: dict[tuple[Type, Value], str]) -> str:
    op = node.op
    if op in INFIX:
        return f"({texts[0]} {INFIX[op]} {texts[1]})"
    if op in PREFIX:
        return f"({PREFIX[op]}{texts[0]})"
    if op == "mux":
        return f"(if {texts[0]} then {texts[1]} else {texts[2]})"
    type = node.args[0].type
    zero = "" if type.kind not in ("unsigned", "signed", "integer", "real") else literal(type, 0, members)
    match op:
        case "abs":
            return texts[0] if type.kind == "unsigned" else _if(f"{texts[0]} < {zero}", f"- {texts[0]}", texts[0])
        case "min":
            return _if(f"{texts[1]} < {texts[0]}", texts[1], texts[0])
        case "max":
            return _if(f"{texts[0]} < {texts[1]}", texts[1], texts[0])
        case "div":
            return _if(f"{texts[1]} = 0.0", "0.0", f"{texts[0]} / {texts[1]}")
        case "floordiv" | "mod" | "quot" | "rem":
            return _division(op, type, texts[0], texts[1], zero)
        case "bitxor":
            return f"(({texts[0]} || {texts[1]}) && !({texts[0]} && {texts[1]}))"
        case "shl" | "shr":
            return _shift(node, texts[0], texts[1], zero, members)
        case "cast":
            return _cast(node.args[0], node.type, texts[0], members)
    raise SpecError(f"`{op}` on {type} cannot be written in Lustre", write="--as json, which has everything")


def _if(condition: str, then: str, otherwise: str) -> str:
    return f"(if {condition} then {then} else {otherwise})"


def _division(op: str, type: Type, a: str, b: str, zero: str) -> str:
    if type.kind == "integer":
        return _integer_division(op, a, b)
    quotient = f"{a} div {b}"  # truncates
    if type.kind == "unsigned":
        return _if(f"{b} = {zero}", zero, quotient) if op in ("floordiv", "quot") else _if(
            f"{b} = {zero}", a, f"{a} mod {b}"
        )  # fmt: skip
    remainder = f"({a} - {b} * ({quotient}))"
    uneven = f"{remainder} <> {zero} and (({remainder} < {zero}) xor ({b} < {zero}))"
    match op:
        case "quot":
            return _if(f"{b} = {zero}", zero, quotient)
        case "rem":
            return _if(f"{b} = {zero}", a, remainder)
        case "floordiv":
            one = zero.replace(" 0)", " 1)")
            return _if(f"{b} = {zero}", zero, _if(uneven, f"({quotient}) - {one}", quotient))
    return _if(f"{b} = {zero}", a, _if(uneven, f"{remainder} + {b}", remainder))


def _integer_division(op: str, a: str, b: str) -> str:
    """From `div` and `mod` whose remainder is never negative."""
    if b.isdigit() and b != "0" and op in ("floordiv", "mod"):
        return f"({a} {'div' if op == 'floordiv' else 'mod'} {b})"
    match op:
        case "floordiv":
            result = _if(f"{b} > 0", f"{a} div {b}", f"(- {a}) div (- {b})")
        case "mod":
            result = _if(f"{b} > 0", f"{a} mod {b}", f"- ((- {a}) mod (- {b}))")
        case "quot":
            result = _if(f"{a} >= 0", f"{a} div {b}", f"- ((- {a}) div {b})")
        case _:
            result = _if(f"{a} >= 0", f"{a} mod {b}", f"- ((- {a}) mod {b})")
    return _if(f"{b} = 0", "0" if op in ("floordiv", "quot") else a, result)


def _shift(node: Term, a: str, b: str, zero: str, members: dict[tuple[Type, Value], str]) -> str:
    """The amount as unsigned of the same width; an oversized one shifts everything out."""
    type, amount = node.args[0].type, node.args[1].type
    assert isinstance(type, MachineType)
    word = "lsh" if node.op == "shl" else "rsh"
    out = zero if node.op == "shl" or not type.signed else _if(f"{a} < {zero}", literal(type, -1, members), zero)
    unsigned = f"uint{type.width}"
    if type.width not in STANDARD:
        raise SpecError(f"{type}: only machine integers of 8, 16, 32 and 64 bits can be written in Lustre")
    if isinstance(amount, MachineType) and not amount.signed and amount.width <= type.width:
        return f"({a} {word} ({unsigned} {b}))" if amount.width < type.width else f"({a} {word} {b})"
    whole = f"(int {b})" if isinstance(amount, MachineType) else b
    return _if(f"0 <= {whole} and {whole} < {type.width}", f"{a} {word} ({unsigned} {whole})", out)


def _cast(source: Term, target: Type, a: str, members: dict[tuple[Type, Value], str]) -> str:
    type = source.type
    if type is target:
        return a
    if target.kind == "bool":
        number = a if type.kind == "real" else _whole(type, a, members)
        return f"({number} <> {'0.0' if type.kind == 'real' else '0'})"
    if type.kind == "bool":
        return _if(a, literal(target, 1, members), literal(target, 0, members))
    if isinstance(target, MachineType):
        if isinstance(type, MachineType) and type.signed == target.signed:
            return conversion(target, a)
        return conversion(target, _whole(type, a, members))
    whole = _whole(type, a, members)
    if target.kind == "integer":
        return whole
    return a if type.kind == "real" else f"(real {whole})"


def _whole(type: Type, a: str, members: dict[tuple[Type, Value], str]) -> str:
    """The value as `int`, reals truncated."""
    match type:
        case MachineType():
            return f"(int {a})"
        case EnumType():
            *others, last = type.codes
            text = str(last) if last >= 0 else f"({last})"
            for code in reversed(others):
                text = _if(f"{a} = {members[(type, code)]}", str(code) if code >= 0 else f"({code})", text)
            return text
    if type.kind == "real":
        return _if(f"{a} < 0.0", f"- (int (- {a}))", f"int {a}")
    return a
