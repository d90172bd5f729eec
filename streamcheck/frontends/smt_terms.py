"""SMT-LIB text to terms: Booleans, Int, Real and bit-vectors, with `let`. The stack is explicit, for deep terms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Any

from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import apply, choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant
from streamcheck.core.types import BOOL, INT, REAL, MachineType, Type
from streamcheck.frontends import bits
from streamcheck.frontends.operations import UnknownMaker, arithmetic, compare, convert, divide, equal, logic
from streamcheck.frontends.sexpr import LocatedSExpr, SExprFile, SList


@dataclass(frozen=True, slots=True)
class SmtMacro:
    """A function that the file defines."""

    parameters: list[tuple[str, Type]]
    result: Type
    body: LocatedSExpr


def sort(source: SExprFile, form: LocatedSExpr) -> Type:
    """The type of a sort."""
    match form:
        case "Bool":
            return BOOL
        case "Int":
            return INT
        case "Real":
            return REAL
        case ["_", "BitVec", width]:
            try:
                return bits.word_type(int(str(width)))
            except TypeRule as why:
                raise source.error(form, str(why)) from None
        case ["Array", *_]:
            raise source.error(form, "arrays are not supported; use a variable for each element")
    raise source.error(form, f"the sort {_text(form)} is not supported; Bool, Int, Real and (_ BitVec n) are")


def _text(form: LocatedSExpr) -> str:
    return f"({' '.join(map(_text, form))})" if isinstance(form, SList) else str(form)


class SmtTermReader:
    """Terms over `names`: constants and definitions met so far. `unknown` makes the value of an undefined result."""

    def __init__(self, source: SExprFile, names: Mapping[str, Term], unknown: UnknownMaker) -> None:
        self.source = source
        self.names = names
        self.unknown = unknown
        self.macros: dict[str, SmtMacro] = {}

    def term(self, root: LocatedSExpr, bound: dict[str, Term] | None = None) -> Term:
        results: list[Term] = []
        work: list[tuple[Any, Any, dict[str, Term]]] = [("read", root, bound or {})]
        while work:
            action, form, scope = work.pop()
            if action == "read":
                self._read(form, scope, work, results)
            elif action == "bind":  # the values of a let are there
                names = [str(pair[0]) for pair in form[1]]
                values = results[len(results) - len(names) :]
                del results[len(results) - len(names) :]
                work.append(("read", form[2], {**scope, **dict(zip(names, values, strict=True))}))
            else:
                count = len(form) - 1
                args = results[len(results) - count :]
                del results[len(results) - count :]
                results.append(self._apply(form, args))
        return results[0]

    def _read(self, form: LocatedSExpr, scope: dict[str, Term], work: list[Any], results: list[Term]) -> None:
        if not isinstance(form, SList):
            results.append(self._atom(form, scope))
        elif form and form[0] == "let" and len(form) == 3:
            work.append(("bind", form, scope))
            work.extend(("read", pair[1], scope) for pair in reversed(form[1]))
        elif form and form[0] == "!":
            raise self.source.error(form, f"the annotation `{form[2]}` belongs to the top of a definition")
        elif form and form[0] == "_":
            results.append(self._literal(form))
        elif not form or form[0] in ("forall", "exists"):
            raise self.source.error(form, "quantifiers are not supported" if form else "an empty term")
        else:
            work.append(("apply", form, scope))
            work.extend(("read", a, scope) for a in reversed(form[1:]))

    def _atom(self, form: LocatedSExpr, scope: dict[str, Term]) -> Term:
        text = str(form)
        meaning = scope.get(text) or self.names.get(text)
        if meaning is not None:
            return meaning
        if text in ("true", "false"):
            return TRUE if text == "true" else FALSE
        if text.isdigit():
            return constant(INT, int(text))
        if re.fullmatch(r"\d+\.\d+", text):
            return constant(REAL, Fraction(text))
        if text.startswith(("#b", "#x")):
            digits = text[2:]
            width = len(digits) * (1 if text[1] == "b" else 4)
            return bits.word(width, int(digits, 2 if text[1] == "b" else 16))
        raise self.source.error(form, f"{text} is not declared")

    def _literal(self, form: SList) -> Term:
        if len(form) == 3 and re.fullmatch(r"bv\d+", str(form[1])):
            return self._with_error_location(form, lambda: bits.word(int(str(form[2])), int(str(form[1])[2:])))
        raise self.source.error(form, "this is not supported")

    def _apply(self, form: SList, args: list[Term]) -> Term:
        head = form[0]
        if isinstance(head, SList):
            return self._with_error_location(form, lambda: _indexed_operation(head, args))
        if str(head) in self.macros:
            return self._call(form, self.macros[str(head)], args)
        return self._with_error_location(form, lambda: _operation(str(head), _promote(args), self.unknown))

    def _call(self, form: SList, macro: SmtMacro, args: list[Term]) -> Term:
        types = [type for _, type in macro.parameters]
        if [a.type for a in args] != types:
            given, wanted = (", ".join(map(str, kinds)) for kinds in ([a.type for a in args], types))
            raise self.source.error(form, f"{form[0]} takes {wanted}, not {given}")
        value = self.term(macro.body, {name: a for (name, _), a in zip(macro.parameters, args, strict=True)})
        if value.type is not macro.result:
            raise self.source.error(form, f"{form[0]} is declared {macro.result}, and its value is {value.type}")
        return value

    def _with_error_location(self, form: SList, build: Callable[[], Term]) -> Term:
        try:
            return build()
        except TypeRule as why:
            raise self.source.error(form, str(why)) from None
        except (KeyError, IndexError, ValueError, AssertionError):
            raise self.source.error(form, f"`{' '.join(map(str, form[:1]))}` is not supported here") from None


def _promote(args: list[Term]) -> list[Term]:
    """Integer literals become Real if another operand is Real."""
    if any(a.type is REAL for a in args):
        return [convert(REAL, a) if a.type is INT and a.is_const else a for a in args]
    return args


CHAINS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge"}
FOLDS = {"and": conjunction, "or": disjunction}


def _operation(op: str, args: list[Term], unknown: UnknownMaker) -> Term:
    if op in FOLDS:
        for a in args:
            logic("and", a, TRUE)  # both sides are Bool
        return FOLDS[op](*args)
    if op in CHAINS:
        return conjunction(*(compare(CHAINS[op], a, b) for a, b in pairwise(args)))
    if op == "=":
        return conjunction(*(equal(a, b) for a, b in pairwise(args)))
    if op == "distinct":
        return conjunction(*(equal(a, b, negated=True) for i, a in enumerate(args) for b in args[i + 1 :]))
    if op in ("+", "*", "-") and len(args) > 1:
        name = {"+": "add", "*": "mul", "-": "sub"}[op]
        return reduce(lambda a, b: arithmetic(name, a, b), args)
    if op == "ite":
        logic("and", args[0], TRUE)
        if args[1].type is not args[2].type:
            raise TypeRule(f"{args[1].type} and {args[2].type} are different types")
        return choice(*args)
    if op == "=>":
        return reduce(lambda b, a: logic("implies", a, b), args[-2::-1], args[-1])
    if op == "xor":
        return reduce(lambda a, b: logic("xor", a, b), args)
    return _one_or_two(op, args, unknown)


def _one_or_two(op: str, args: list[Term], unknown: UnknownMaker) -> Term:
    if op in ("div", "mod", "/"):
        name = {"div": "intdiv", "mod": "mod", "/": "div"}[op]
        if op == "/":
            args = [convert(REAL, a) for a in args]
        return reduce(lambda a, b: divide(name, a, b, unknown), args)
    a = args[0]
    match op:
        case "not":
            logic("and", a, TRUE)
            return negation(a)
        case "-":
            return apply("neg", a)
        case "abs":
            return apply("abs", a)
        case "to_real":
            return convert(REAL, a)
        case "to_int" | "bv2nat" | "ubv_to_int":
            return convert(INT, a)
        case "sbv_to_int":
            return convert(INT, bits.as_signed(a))
        case "concat":
            return reduce(bits.concat, args)
        case "bvneg":
            return apply("neg", a)
        case "bvnot":
            return apply("bitnot", a)
    if not op.startswith("bv") or any(not isinstance(x.type, MachineType) for x in args):
        raise KeyError(op)
    if any(x.type is not a.type for x in args):
        raise TypeRule("bit-vectors of different widths")
    return reduce(lambda x, y: bits.binary(op[2:], x, y), args)


def _indexed_operation(head: SList, args: list[Term]) -> Term:
    """`((_ extract 7 0) x)` and its like."""
    op, *numbers = [str(part) for part in head[1:]]
    n = [int(number) for number in numbers]
    (a,) = args
    match op:
        case "extract":
            return bits.extract(a, n[0], n[1])
        case "zero_extend":
            return bits.zero_extend(a, n[0])
        case "sign_extend":
            return bits.sign_extend(a, n[0])
        case "rotate_left":
            return bits.rotate_left(a, n[0])
        case "rotate_right":
            return bits.rotate_left(a, -n[0])
        case "repeat":
            return reduce(bits.concat, [a] * n[0])
        case "int2bv" | "int_to_bv":
            return convert(bits.word_type(n[0]), a)
    raise KeyError(op)
