"""Translates z3 expressions back to terms, for the answers of Spacer.

Int, Real and Bool have their operators. A bit-vector of any width up to 64 becomes a term of the next unsigned
machine type whose higher bits are zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import reduce

import z3  # type: ignore[import-untyped]

from streamcheck.core.simplify import choice, conjunction, disjunction, implication, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import INT, REAL, EnumType, MachineType, machine

WIDTHS = (8, 16, 32, 64)


class Untranslatable(Exception):
    """An expression that has no term."""


class Terms:
    """Expressions over given leaves (their ids to terms) as terms."""

    def __init__(self, leaves: Mapping[int, Term]) -> None:
        self.built: dict[int, Term] = dict(leaves)
        self._alive: list[z3.ExprRef] = []  # an id is only good while its expression lives

    def term(self, root: z3.ExprRef) -> Term:
        stack = [root]
        while stack:
            node = stack[-1]
            if node.get_id() in self.built:
                stack.pop()
                continue
            pending = [a for a in node.children() if a.get_id() not in self.built]
            if pending:
                stack.extend(pending)
            else:
                stack.pop()
                self._alive.append(node)
                self.built[node.get_id()] = self._build(node, [self.built[a.get_id()] for a in node.children()])
        return self.built[root.get_id()]

    def _build(self, node: z3.ExprRef, args: list[Term]) -> Term:
        if z3.is_true(node) or z3.is_false(node):
            return TRUE if z3.is_true(node) else FALSE
        if z3.is_int_value(node):
            return constant(INT, node.as_long())
        if z3.is_rational_value(node):
            return constant(REAL, Fraction(node.numerator_as_long(), node.denominator_as_long()))
        if z3.is_bv_value(node):
            return constant(_container(node.size()), node.as_long())
        kind = node.decl().kind()
        if z3.is_bv(node):
            return _bits(node, kind, args)
        if kind in LOGIC:
            return LOGIC[kind](args)
        if kind in (z3.Z3_OP_EQ, z3.Z3_OP_DISTINCT) and len(args) == 2:
            equal = term("same", *args)
            return equal if kind == z3.Z3_OP_EQ else negation(equal)
        if kind in COMPARISONS:
            return _compare(COMPARISONS[kind], args, node.arg(0))
        if kind in ARITHMETIC:
            return ARITHMETIC[kind](args)
        raise Untranslatable(node.decl().name())


def _container(width: int) -> MachineType:
    for each in WIDTHS:
        if width <= each:
            return machine(each, signed=False)
    raise Untranslatable(f"a bit-vector of {width} bits")


def solver_variable(var: Term) -> Term:
    """A variable as the bit-vector it is for the solver."""
    if isinstance(var.type, MachineType):
        return _cast(_cast(var, machine(var.type.width, signed=False)), _container(var.type.width))
    if isinstance(var.type, EnumType):
        return term("cast", var, payload=machine(32, signed=False))
    return var


def _left(op: str) -> Callable[[list[Term]], Term]:
    return lambda args: reduce(lambda a, b: term(op, a, b), args)


def _divide(op: str) -> Callable[[list[Term]], Term]:
    def build(args: list[Term]) -> Term:
        if not args[1].is_const or args[1].payload <= 0:
            raise Untranslatable(op)  # SMT-LIB rounds differently there
        return term(op, *args)

    return build


def _ratio(args: list[Term]) -> Term:
    if not args[1].is_const or not args[1].payload:
        raise Untranslatable("/")
    return term("div", *args)


LOGIC: dict[int, Callable[[list[Term]], Term]] = {
    z3.Z3_OP_NOT: lambda args: negation(args[0]),
    z3.Z3_OP_AND: lambda args: conjunction(*args),
    z3.Z3_OP_OR: lambda args: disjunction(*args),
    z3.Z3_OP_IMPLIES: lambda args: implication(*args),
    z3.Z3_OP_XOR: _left("xor"),
    z3.Z3_OP_ITE: lambda args: choice(*args),
}
COMPARISONS = {
    z3.Z3_OP_LE: "le",
    z3.Z3_OP_GE: "ge",
    z3.Z3_OP_LT: "lt",
    z3.Z3_OP_GT: "gt",
    z3.Z3_OP_ULEQ: "le",
    z3.Z3_OP_UGEQ: "ge",
    z3.Z3_OP_ULT: "lt",
    z3.Z3_OP_UGT: "gt",
    z3.Z3_OP_SLEQ: "sle",
    z3.Z3_OP_SGEQ: "sge",
    z3.Z3_OP_SLT: "slt",
    z3.Z3_OP_SGT: "sgt",
}
ARITHMETIC: dict[int, Callable[[list[Term]], Term]] = {
    z3.Z3_OP_ADD: _left("add"),
    z3.Z3_OP_MUL: _left("mul"),
    z3.Z3_OP_SUB: _left("sub"),
    z3.Z3_OP_UMINUS: lambda args: term("neg", args[0]),
    z3.Z3_OP_TO_REAL: lambda args: term("cast", args[0], payload=REAL),
    z3.Z3_OP_IDIV: _divide("floordiv"),
    z3.Z3_OP_MOD: _divide("mod"),
    z3.Z3_OP_DIV: _ratio,
}


# Bit-vectors


def _compare(op: str, args: list[Term], operand: z3.ExprRef) -> Term:
    if op[0] != "s":
        return term(op, *args)
    half = constant(args[0].type, 1 << (operand.size() - 1))  # flipping the sign bit orders signed numbers as unsigned
    return term(op[1:], *(term("bitxor", a, half) for a in args))


def _mask(value: Term, width: int) -> Term:
    assert isinstance(value.type, MachineType)
    if width == value.type.width:
        return value
    return term("bitand", value, constant(value.type, (1 << width) - 1))


def _shift(value: Term, op: str, amount: int) -> Term:
    return value if not amount else term(op, value, constant(value.type, amount))


def _cast(value: Term, target: MachineType) -> Term:
    return value if value.type is target else term("cast", value, payload=target)


def _bits(node: z3.ExprRef, kind: int, args: list[Term]) -> Term:
    width = node.size()
    target = _container(width)
    match kind:
        case z3.Z3_OP_EXTRACT:
            _, low = node.params()
            return _mask(_cast(_shift(args[0], "shr", low), target), width)
        case z3.Z3_OP_CONCAT:
            total, used = constant(target, 0), 0
            for part, a in zip(reversed(node.children()), reversed(args), strict=True):
                total = term("bitor", total, _shift(_cast(a, target), "shl", used))
                used += part.size()
            return total
        case z3.Z3_OP_ZERO_EXT:
            return _cast(args[0], target)
        case z3.Z3_OP_ITE:
            return choice(*args)
    op = BITS.get(kind)
    if op is None:
        raise Untranslatable(node.decl().name())
    if len(args) == 1:
        return _mask(term(op, args[0]), width)
    return _mask(_left(op)(args), width)


BITS = {
    z3.Z3_OP_BADD: "add",
    z3.Z3_OP_BSUB: "sub",
    z3.Z3_OP_BMUL: "mul",
    z3.Z3_OP_BNEG: "neg",
    z3.Z3_OP_BNOT: "bitnot",
    z3.Z3_OP_BAND: "bitand",
    z3.Z3_OP_BOR: "bitor",
    z3.Z3_OP_BXOR: "bitxor",
}
