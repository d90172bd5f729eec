"""Terms to z3 expressions, through the SMT column of the operator table.

Machine integers and enums are bit-vectors, Int and Real themselves, floats IEEE 754. A form is parsed once for each
operator and its types, and then built by z3 functions of the same SMT-LIB names. Operations without an SMT-LIB name
(`sin`, `Real_to_Float`) are uninterpreted functions.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, TypeAlias

import z3  # type: ignore[import-untyped]

from streamcheck.core.huge import is_product
from streamcheck.core.operators import OPERATORS, Signature
from streamcheck.core.term import Term, walk
from streamcheck.core.types import BOOL, EnumType, FloatType, MachineType, Type, Value

FEW_JUNCTIONS = 100  # (heuristic)
SExpr: TypeAlias = "str | list[SExpr]"


def sort(type: Type) -> z3.SortRef:
    match type:
        case MachineType(width=w):
            return z3.BitVecSort(w)
        case EnumType():
            return z3.BitVecSort(32)
        case FloatType():
            return z3.FPSort(type.exponent, type.significand)
    return {"bool": z3.BoolSort, "integer": z3.IntSort, "real": z3.RealSort}[type.kind]()


def literal(type: Type, value: Value) -> z3.ExprRef:
    match type:
        case MachineType(width=w):
            return z3.BitVecVal(value, w)
        case EnumType():
            return z3.BitVecVal(value, 32)
        case FloatType():
            return z3.FPVal(value, sort(type))
        case _ if isinstance(value, Fraction):
            return z3.RealVal(f"{value.numerator}/{value.denominator}")
    return z3.BoolVal(value) if isinstance(value, bool) else z3.IntVal(value)


class Translator:
    """Terms to expressions, each once."""

    def __init__(self) -> None:
        self.built: dict[Term, z3.ExprRef] = {}
        self.has_bits = False  # machine integers or floats
        self.has_products = False  # products or quotients of two variables, over numbers without bounds
        self._done: set[Term] = set()

    def expression(self, root: Term) -> z3.ExprRef:
        if root not in self.built:
            nodes = list(walk([root], self._done))
            inner = _inner_junctions(nodes, root)
            self._done -= inner  # they have no expression of their own
            for node in nodes:
                if node not in inner:
                    self.built[node] = self._build(node)
        return self.built[root]

    def _operands(self, node: Term) -> list[z3.ExprRef]:
        """Of a chain of `and` or of `or`, all members: z3 takes quadratic time and memory to find them itself."""
        found: list[z3.ExprRef] = []
        stack = list(reversed(node.args))
        while stack:
            arg = stack.pop()
            if arg in self.built:
                found.append(self.built[arg])
            else:
                stack.extend(reversed(arg.args))
        return found

    def _build(self, node: Term) -> z3.ExprRef:
        self.has_bits |= node.type.kind in ("unsigned", "signed", "float")
        self.has_products |= node.type.kind in ("integer", "real") and is_product(node)
        if node.op == "const":
            return literal(node.type, node.payload)
        if node.op == "var":
            return z3.Const(node.payload, sort(node.type))
        if _is_junction(node):
            operands = self._operands(node)
            return z3.And(operands) if node.op == "and" else z3.Or(operands)
        build = builder(node.op, tuple(a.type for a in node.args), node.type, node.payload)
        return build(dict(zip("abc", [self.built[a] for a in node.args], strict=False)))


def _is_junction(node: Term) -> bool:
    return node.op in ("and", "or") and node.type is BOOL


def _inner_junctions(nodes: Sequence[Term], root: Term) -> set[Term]:
    """Those among the nodes that only one other uses, of the same operator; none if they are few: z3's luck depends on
    the form of a query, so small ones keep theirs."""
    uses: dict[Term, list[Term]] = {}
    for node in nodes:
        for arg in node.args:
            if _is_junction(arg):
                uses.setdefault(arg, []).append(node)
    own = set(nodes)
    found = {a for a, those in uses.items() if len(those) == 1 and those[0].op == a.op and a in own and a is not root}
    return found if len(found) > FEW_JUNCTIONS else set()


Builder: TypeAlias = Callable[[Mapping[str, Any]], Any]


@cache
def builder(op: str, args: tuple[Type, ...], result: Type, payload: object) -> Builder:
    form = OPERATORS[op].smt_form(Signature(args, result, payload))
    return _builder(_parse(form), result)


def _parse(text: str) -> SExpr:
    stack: list[list[SExpr]] = [[]]
    for token in re.findall(r"[()]|[^\s()]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            done = stack.pop()
            stack[-1].append(done)
        else:
            stack[-1].append(token)
    return stack[0][0]


def _builder(form: SExpr, result: Type) -> Builder:
    match form:
        case str():
            return _atom(form)
        case ["_", str(bv), str(width)] if bv.startswith("bv"):
            value = z3.BitVecVal(int(bv[2:]), int(width))
            return lambda scope: value
        case ["let", [*pairs], body]:
            names = [(str(p[0]), _builder(p[1], result)) for p in pairs]
            inner = _builder(body, result)
            return lambda scope: inner({**scope, **{name: build(scope) for name, build in names}})
        case [["_", str(name), *indices], *args]:
            return _application(_apply_indexed(name, [int(str(i)) for i in indices]), args, result)
        case [str(name), *args]:
            function = FUNCTIONS.get(name) or _unknown(name, result)
            return _application(function, args, result)
    raise AssertionError(form)


def _atom(token: str) -> Builder:
    if token in ("RNE", "RTZ", "RTP", "RTN"):
        mode = getattr(z3, token)()
        return lambda scope: mode
    if re.fullmatch(r"\d+", token):
        whole = z3.IntVal(token)
        return lambda scope: whole
    if re.fullmatch(r"\d+\.\d+", token):
        decimal = z3.RealVal(token)
        return lambda scope: decimal
    return lambda scope: scope[token]


def _application(function: Callable[..., Any], args: list[SExpr], result: Type) -> Builder:
    builders = [_builder(a, result) for a in args]
    return lambda scope: function(*[build(scope) for build in builders])


def _unknown(name: str, result: Type) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        return z3.Function(name, *(a.sort() for a in args), sort(result))(*args)

    return function


def _apply_indexed(name: str, indices: list[int]) -> Callable[..., Any]:
    match name:
        case "extract":
            return lambda a: z3.Extract(indices[0], indices[1], a)
        case "zero_extend":
            return lambda a: z3.ZeroExt(indices[0], a)
        case "sign_extend":
            return lambda a: z3.SignExt(indices[0], a)
        case "int_to_bv":
            return lambda a: z3.Int2BV(a, indices[0])
        case "fp.to_sbv":
            return lambda mode, a: z3.fpToSBV(mode, a, z3.BitVecSort(indices[0]))
        case "fp.to_ubv":
            return lambda mode, a: z3.fpToUBV(mode, a, z3.BitVecSort(indices[0]))
        case "to_fp":
            return lambda *args: _to_fp(*args, z3.FPSort(*indices))
        case "to_fp_unsigned":
            return lambda mode, a: z3.fpUnsignedToFP(mode, a, z3.FPSort(*indices))
    raise AssertionError(name)


def _to_fp(*args: Any) -> z3.ExprRef:
    """A conversion of a number, with its rounding mode before it, or of bits."""
    if len(args) == 2:
        return z3.fpBVToFP(*args)
    mode, a, target = args
    if z3.is_fp(a):
        return z3.fpFPToFP(mode, a, target)
    return z3.fpSignedToFP(mode, a, target) if z3.is_bv(a) else z3.fpRealToFP(mode, a, target)


# z3's own `And`, `==` … first look at what kinds of things they are given, which takes ten times as long as building.
# The operands of the commonest operators are of the same sort here, and go to the library as they are.


def _direct(make: Callable[..., Any], result: type) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        ctx = args[0].ctx
        return result(make(ctx.ref(), *(a.ast for a in args)), ctx)

    return function


def _gather(make: Callable[..., Any], result: type) -> Callable[..., Any]:
    def function(*args: Any) -> Any:
        ctx = args[0].ctx
        return result(make(ctx.ref(), len(args), (z3.Ast * len(args))(*(a.ast for a in args))), ctx)

    return function


def _minus(a: Any, *rest: Any) -> Any:
    return _subtraction(a, *rest) if rest else -a


def _choice(condition: Any, a: Any, b: Any) -> Any:
    for result in (z3.BoolRef, z3.ArithRef):
        if isinstance(a, result):
            return result(z3.Z3_mk_ite(a.ctx.ref(), condition.ast, a.ast, b.ast), a.ctx)
    return z3.If(condition, a, b)


_subtraction = _gather(z3.Z3_mk_sub, z3.ArithRef)

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "not": _direct(z3.Z3_mk_not, z3.BoolRef),
    "and": _gather(z3.Z3_mk_and, z3.BoolRef),
    "or": _gather(z3.Z3_mk_or, z3.BoolRef),
    "xor": z3.Xor,
    "=>": _direct(z3.Z3_mk_implies, z3.BoolRef),
    "ite": _choice,
    "=": _direct(z3.Z3_mk_eq, z3.BoolRef),
    "<": _direct(z3.Z3_mk_lt, z3.BoolRef),
    "<=": _direct(z3.Z3_mk_le, z3.BoolRef),
    ">": _direct(z3.Z3_mk_gt, z3.BoolRef),
    ">=": _direct(z3.Z3_mk_ge, z3.BoolRef),
    "+": _gather(z3.Z3_mk_add, z3.ArithRef),
    "-": _minus,
    "*": _gather(z3.Z3_mk_mul, z3.ArithRef),
    "/": operator.truediv,
    "div": operator.truediv,  # of Int: z3 divides integers as SMT-LIB does
    "mod": operator.mod,
    "to_real": z3.ToReal,
    "to_int": z3.ToInt,
    "bvadd": operator.add,
    "bvsub": operator.sub,
    "bvmul": operator.mul,
    "bvneg": operator.neg,
    "bvnot": operator.invert,
    "bvand": operator.and_,
    "bvor": operator.or_,
    "bvxor": operator.xor,
    "bvshl": operator.lshift,
    "bvashr": operator.rshift,
    "bvlshr": z3.LShR,
    "bvudiv": z3.UDiv,
    "bvurem": z3.URem,
    "bvsdiv": operator.truediv,
    "bvsrem": z3.SRem,
    "bvsmod": operator.mod,
    "bvult": z3.ULT,
    "bvule": z3.ULE,
    "bvugt": z3.UGT,
    "bvuge": z3.UGE,
    "bvslt": operator.lt,
    "bvsle": operator.le,
    "bvsgt": operator.gt,
    "bvsge": operator.ge,
    "ubv_to_int": z3.BV2Int,
    "sbv_to_int": lambda a: z3.BV2Int(a, is_signed=True),
    "fp.add": z3.fpAdd,
    "fp.sub": z3.fpSub,
    "fp.mul": z3.fpMul,
    "fp.div": z3.fpDiv,
    "fp.neg": z3.fpNeg,
    "fp.abs": z3.fpAbs,
    "fp.sqrt": z3.fpSqrt,
    "fp.roundToIntegral": z3.fpRoundToIntegral,
    "fp.eq": z3.fpEQ,
    "fp.lt": z3.fpLT,
    "fp.leq": z3.fpLEQ,
    "fp.gt": z3.fpGT,
    "fp.geq": z3.fpGEQ,
    "fp.isNaN": z3.fpIsNaN,
    "fp.isInfinite": z3.fpIsInf,
    "fp.isZero": z3.fpIsZero,
    "fp.to_real": z3.fpToReal,
}
