"""The rows of the operator table.

A row gives an operator its type rule and its meaning three times: as Python, as SMT-LIB and as C. The three
meanings are texts over the operands `a`, `b`, `c`, one for each kind of type if they differ; `{…}` stands for
facts of the type (`{w}` its width, `{zero}` its SMT zero, `{T}` its C name …). Interpreter, engines and code
generator only put the texts together, so for them a new operator is a new row. The checker has meanings of its own,
independent of the row: in `certify/evaluate.py` for values, in `certify/bitwise.py` for solvers. The tests compare all
of them. `docs/architecture.md` has the recipe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from streamcheck.core.c_names import c_name
from streamcheck.core.types import ArrayType, BoolType, EnumType, FloatType, MachineType, StructType, Type


class TypeRule(Exception):
    """The operands' types do not fit; the message names types that would."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The types at one use of an operator, and its payload (a field's position)."""

    args: tuple[Type, ...]
    result: Type
    payload: object = None


Form: TypeAlias = str | Callable[[Signature], str]
Column: TypeAlias = Form | Mapping[str, Form]
Rule: TypeAlias = Callable[[tuple[Type, ...], object], Type]


@dataclass(frozen=True, slots=True)
class Operator:
    """One row. `smt` or `c` is None if the operator is expanded before (arrays, structs)."""

    name: str
    shown: str  # how the user writes it, over `a`, `b`, `c`
    rule: Rule
    python: Column
    smt: Column | None
    c: Column | None
    wraps: bool = False  # the Python meaning is a mathematical result, to be wrapped around to the result's type
    requires: str = ""  # the implied property of each use: the condition under which the result is the expected one
    mirrored: str = ""  # of a comparison: the operator with `a` and `b` exchanged
    c_function: Callable[[str], str] | None = None  # the definition of `sc_NAME_t`, if the C form calls it, for `t`

    @property
    def arity(self) -> int | None:
        """The number of operands. None for arrays and structs, which have as many as their type says."""
        return len(set(re.findall(r"\b[abc]\b", self.shown))) or None

    @property
    def is_comparison(self) -> bool:
        return bool(self.mirrored)

    def python_form(self, signature: Signature) -> str:
        text = _choose(self.python, signature)
        return _wrap(text, signature.result) if self.wraps else text

    def smt_form(self, signature: Signature) -> str:
        if self.smt is None:
            raise TypeError(f"{self.name} has no SMT form: it is expanded first")
        return _choose(self.smt, signature)

    def c_form(self, signature: Signature) -> str:
        if self.c is None:
            raise TypeError(f"{self.name} has no C expression: it is a statement")
        return _choose(self.c, signature)


def fill(form: str, operands: Mapping[str, str]) -> str:
    """The form with its operands `a`, `b`, `c` put in."""
    return re.sub(r"\b[abc]\b", lambda m: operands[m.group()], form)


def _choose(column: Column, signature: Signature) -> str:
    if isinstance(column, Mapping):
        kind = signature.args[0].kind
        column = column[kind] if kind in column else column["*"]
    text = column if isinstance(column, str) else column(signature)
    return text.format_map(facts(signature.args[0])) if "{" in text else text


def _wrap(text: str, result: Type) -> str:
    match result:
        case MachineType(width=width, signed=False):
            return f"({text}) & {(1 << width) - 1}"
        case MachineType(width=width):
            half = 1 << (width - 1)
            return f"(({text}) + {half} & {2 * half - 1}) - {half}"
        case FloatType(width=32):
            return f"f32({text})"
    return text


C_SCALARS = {"Bool": "bool", "Float": "float", "Double": "double"}


def c_type(type: Type) -> str:
    match type:
        case MachineType(width=width, signed=signed):
            return f"{'' if signed else 'u'}int{width}_t"
        case EnumType():
            return "int32_t"
        case StructType():
            return f"struct {c_name(type.name)}"
    return C_SCALARS.get(str(type), "")


def facts(type: Type) -> Mapping[str, object]:
    """The values of the braces in a form, for the type of its first operand."""
    match type:
        case MachineType(width=w, signed=signed):
            return {
                "w": w,
                "low": type.low,
                "high": type.high,
                "zero": f"(_ bv0 {w})",
                "min": f"(_ bv{1 << (w - 1)} {w})",
                "max": f"(_ bv{(1 << (w - 1)) - 1} {w})",
                "s": "s" if signed else "u",
                "T": c_type(type),
                "t": f"{'i' if signed else 'u'}{w}",
                "P": "uint64_t" if w == 64 else "uint32_t",
                "fp": "11 53" if w == 64 else "8 24",
            }
        case FloatType(width=w):
            return {"w": w, "T": c_type(type), "f": "f" if w == 32 else ""}
        case ArrayType(length=n):
            return {"n": n, "last": n - 1}
        case BoolType() | EnumType():
            return {"T": c_type(type)}
    return {}


# Type rules, combined by the rows.


def common_type(args: tuple[Type, ...]) -> Type:
    """The type of the operands, which must all have the same one."""
    if any(t is not args[0] for t in args):
        raise TypeRule(" and ".join(map(str, args)) + " are different types")
    return args[0]


def require(type: Type, kinds: str, what: str) -> Type:
    if type.kind not in kinds.split():
        raise TypeRule(f"expected {what}, found {type}")
    return type
