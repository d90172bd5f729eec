"""The operators over mathematical integers, written for the checker alone: a remainder at every operation.

A machine integer is the Int of its value, and each operation that may leave the type's range is followed by

    unsigned   (mod t 2^w)              signed   (- (mod (+ t 2^(w-1)) 2^w) 2^(w-1))

No range is reasoned about, unlike in the model that the engines use. Operations on bits have no such form.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamcheck.certify.bitwise import Bitwise, Unrenderable, code_of, exact_text, machine_of, number
from streamcheck.core.term import Term
from streamcheck.core.types import INT, EnumType, FloatType, MachineType, Type


class Remainders(Bitwise):
    """`Bitwise`, with every machine integer as a mathematical one."""

    def sort_of_type(self, type: Type) -> str:
        return "Int" if isinstance(type, MachineType | EnumType) else super().sort_of_type(type)

    def range_of(self, node: Term, name: str) -> str | None:
        if not isinstance(node.type, MachineType | EnumType):
            return None
        type = machine_of(node.type)
        return f"(and (<= {number(type.low)} {name}) (<= {name} {number(type.high)}))"

    def constant(self, node: Term) -> str:
        if isinstance(node.type, MachineType | EnumType):
            return number(code_of(node))
        return super().constant(node)

    def machine(self, node: Term, type: MachineType, operands: Sequence[str]) -> str:
        a, b = operands[0], operands[-1]
        match node.op:
            case "lt" | "le" | "gt" | "ge" | "min" | "max":
                return exact_text(node.op, False, a, b)
            case "mod" | "rem":  # between zero and an operand
                return exact_text(node.op, False, a, b)
            case "bitnot":
                return wrap(f"(- (- {a}) 1)", type)
            case "bitand":
                return _mask(node, type, operands)
            case "shl" | "shr":
                return _shift(node, type, a)
            case "bitor" | "bitxor":
                raise Unrenderable(f"{node.op} over Int")
        return wrap(exact_text(node.op, False, *operands), type)

    def zero(self, type: Type) -> str:
        return "0" if isinstance(type, MachineType | EnumType) else super().zero(type)

    def one(self, type: Type) -> str:
        if isinstance(type, MachineType):
            return "1" if type.high else "(- 1)"  # a sign bit alone
        return super().one(type)

    def cast(self, node: Term, a: str) -> str:
        source, target = node.args[0].type, node.type
        machines = isinstance(source, MachineType | EnumType), isinstance(target, MachineType)
        if any(machines) and (isinstance(source, FloatType) or isinstance(target, FloatType)):
            raise Unrenderable(f"{source} to {target} over Int")
        return super().cast(node, a)

    def from_machine(self, node: Term, source: MachineType, a: str) -> str:
        match node.type:
            case MachineType() as target:
                keeps = target.low <= source.low and source.high <= target.high
                return a if keeps else wrap(a, target)
        return a if node.type.kind == "integer" else f"(to_real {a})"

    def from_exact(self, a: str, source: Type, target: Type) -> str:
        if isinstance(target, MachineType):
            whole = super().from_exact(a, source, INT) if source.kind == "real" else a
            return wrap(whole, target)
        return super().from_exact(a, source, target)


def wrap(text: str, type: MachineType) -> str:
    modulus, half = 1 << type.width, 1 << (type.width - 1)
    if not type.signed:
        return f"(mod {text} {modulus})"
    return f"(- (mod (+ {text} {half}) {modulus}) {half})"


def _mask(node: Term, type: MachineType, operands: Sequence[str]) -> str:
    """The low bits are a remainder."""
    for mask, other in zip(node.args, reversed(operands), strict=True):
        if mask.is_const and mask.payload >= 0 and mask.payload & (mask.payload + 1) == 0:
            return f"(mod {other} {mask.payload + 1})"
    raise Unrenderable("& over Int")


def _shift(node: Term, type: MachineType, a: str) -> str:
    amount = node.args[1]
    if not amount.is_const:
        raise Unrenderable("a shift by a variable amount over Int")
    inside = 0 <= amount.payload < type.width
    if node.op == "shl":
        return wrap(f"(* {1 << amount.payload} {a})", type) if inside else "0"
    return f"(div {a} {1 << (amount.payload if inside else type.width)})"
