"""Expressions of C: to terms as long as they only read, to edges where they do something."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import choice, conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, variable
from streamcheck.core.types import BOOL
from streamcheck.frontends.minic import effects, kinds, pointers, static
from streamcheck.frontends.minic.arithmetic import Arithmetic, Unsupported, Value
from streamcheck.frontends.minic.flow import Flow, Option
from streamcheck.frontends.minic.kinds import Array, Floating, Integer, Kind, Pointer, Struct
from streamcheck.frontends.minic.places import Place, Target
from streamcheck.frontends.minic.scopes import Pair, PointerVariable, Result, Scope, Typedef, Types, where_of

if TYPE_CHECKING:
    from streamcheck.frontends.minic.calls import Calls


class Expressions:
    def __init__(self, flow: Flow, *, mathematical: bool) -> None:
        self.flow = flow
        self.where = Location(flow.file, 1)
        self.arithmetic = Arithmetic(mathematical=mathematical, oblige=self._oblige)
        self.types = Types(self.constant, self.arithmetic.number)
        self.scope = Scope(None, {name: Typedef(kind) for name, kind in kinds.TYPEDEFS.items()})
        for name, (number, kind) in kinds.CONSTANTS.items():
            self.scope.names[name] = self.arithmetic.number(kind if isinstance(kind, Integer) else kinds.INT, number)
        self.calls: Calls
        self._printer: Any = importlib.import_module("pycparser.c_generator").CGenerator()

    def _oblige(self, kind: str, holds: Term) -> None:
        self.flow.oblige(kind, holds, self.where)

    def text(self, node: Any) -> str:
        return " ".join(str(self._printer.visit(node)).split())

    def refused(self, message: str, node: Any) -> SpecError:
        return SpecError(message, where_of(node))

    @contextmanager
    def at(self, node: Any) -> Iterator[None]:
        """Whatever happens is at the node's line."""
        before, self.where = self.where, where_of(node)
        try:
            yield
        except (Unsupported, TypeRule) as why:
            raise SpecError(str(why), where_of(node)) from None
        finally:
            self.where = before

    # Values

    def constant(self, node: Any) -> int:
        """The value of an expression of constants."""
        if effects.level(node, self.scope):
            raise self.refused(f"{self.text(node)} is not constant", node)
        before = len(self.flow.checks)
        found = self.scalar(node)
        del self.flow.checks[before:]
        if not found.term.is_const or not isinstance(found.kind, Integer):
            raise self.refused(f"{self.text(node)} is not constant", node)
        return int(found.term.payload)

    def scalar(self, node: Any) -> Value:
        found = self.value(node)
        if not isinstance(found, Value):
            raise self.refused(f"{self.text(node)} is not a number", node)
        return found

    def value(self, node: Any) -> Result:
        form = node.__class__.__name__
        method: Callable[[Any], Result] | None = getattr(self, f"_{form}", None)
        if method is None:
            raise self.refused(f"{self.text(node)}: an expression of this form ({form}) is not read", node)
        with self.at(node):
            return method(node)

    def effect(self, node: Any) -> None:
        """The expression for what it does, its value unused."""
        where, form = where_of(node), node.__class__.__name__
        if form == "Cast" and self.types.of(node.to_type, self.scope) == kinds.VOID:
            self.effect(node.expr)
        elif form == "UnaryOp" and node.op in ("p++", "p--", "++", "--"):
            with self.at(node):
                self._step(node, keep=False)
        elif form == "ExprList":
            for part in node.exprs:
                self.effect(part)
        elif form == "TernaryOp" and effects.level(node, self.scope):
            yes, no, join = (self.flow.place() for _ in range(3))
            self.condition(node.cond, yes, no)
            for place, part in ((yes, node.iftrue), (no, node.iffalse)):
                self.flow.at = place
                self.effect(part)
                self.flow.step(where, "skip", to=join)
        else:
            self.value(node)
            self.flow.settle(where, self.text(node))

    def read(self, place: Place) -> Result:
        """What a place holds."""
        if isinstance(place.kind, Array | Struct):
            return place
        assert isinstance(place.kind, Integer | Floating)
        if place.object.volatile:
            name = self.calls.name_of(place)
            return Value(place.kind, self.unknown(name, place.kind))
        return Value(place.kind, place.read())

    def unknown(self, name: str, kind: Kind) -> Term:
        type = self.arithmetic.core(kind)
        limits = self.arithmetic.limits(kind, variable("?", type))
        return self.flow.choose(name, type, self.where, limits)

    def after(self, node: Any, first: Result, following: Any) -> Callable[[], Result]:
        """`first`, which `node` gave, still to be had once `following` has been evaluated."""
        if effects.level(following, self.scope) < effects.ACTS:
            return lambda: first
        held = self.flow.hold(pointers.terms_of(first), self.where, f"value = {self.text(node)}")
        return lambda: pointers.with_terms(first, held.release())

    def in_order(
        self, node: Any, first: Callable[[], Result], following: Any, second: Callable[[], Result]
    ) -> tuple[Result, Result]:
        """Two parts of an expression, left before right. C leaves their order open: where it matters, that is said."""
        start = len(self.flow.edges)
        a = first()
        middle = len(self.flow.edges)
        kept = self.after(node, a, following)
        b = second()
        terms = pointers.terms_of(b) + [check.holds for check in self.flow.checks]
        if self.flow.conflict(start, middle, pointers.terms_of(a), terms):
            self.flow.warn("parts of an expression change what others use, and C leaves their order open", self.where)
        return kept(), b

    # Conditions

    def condition(self, node: Any, yes: str, no: str) -> None:
        """Goes to one place or the other."""
        form, where = node.__class__.__name__, where_of(node)
        if form == "UnaryOp" and node.op == "!" and effects.level(node, self.scope) == effects.ACTS:
            self.condition(node.expr, no, yes)
        elif form == "BinaryOp" and node.op in ("&&", "||") and effects.level(node.right, self.scope):
            middle = self.flow.place()
            self.condition(node.left, *((middle, no) if node.op == "&&" else (yes, middle)))
            self.flow.at = middle
            self.condition(node.right, yes, no)
        else:
            with self.at(node):
                holds = self.truth(node)
            text = self.text(node)
            opposite = text[1:] if form == "UnaryOp" and node.op == "!" else f"!({text})"
            self.flow.branch([Option(yes, holds, (), text), Option(no, negation(holds), (), opposite)], where)

    def truth(self, node: Any) -> Term:
        if node.__class__.__name__ == "Constant" and node.type == "string":
            return TRUE  # assert(… && "what it is about")
        found = self.value(node)
        if isinstance(found, Target) or (isinstance(found, Place) and isinstance(found.kind, Array)):
            return pointers.not_null(found, self)
        if not isinstance(found, Value):
            raise self.refused(f"{self.text(node)} is not a number", node)
        return self.arithmetic.truth(found)

    @contextmanager
    def _given(self, premise: Term) -> Iterator[None]:
        self.flow.premises.append(premise)
        try:
            yield
        finally:
            self.flow.premises.pop()

    def _logical(self, node: Any) -> Result:
        if effects.level(node.right, self.scope):
            return self._decided(node)
        left = self.truth(node.left)
        with self._given(left if node.op == "&&" else negation(left)):
            right = self.truth(node.right)
        joined = conjunction(left, right) if node.op == "&&" else disjunction(left, right)
        return self.arithmetic.of_truth(joined)

    def _decided(self, node: Any) -> Result:
        """A condition with effects, its value kept in a variable."""
        yes, no, join = (self.flow.place() for _ in range(3))
        result = self.flow.temporary(BOOL, self.where)
        text = self.text(node)
        self.condition(node, yes, no)
        for place, value in ((yes, TRUE), (no, FALSE)):
            self.flow.at = place
            self.flow.step(self.where, text if value is TRUE else f"!({text})", (result, value), to=join)
        return self.arithmetic.of_truth(result)

    # Forms of expressions, by pycparser's names

    def _ID(self, node: Any) -> Result:
        found = self.scope.find(node.name)
        match found:
            case Value():
                return found
            case Place():
                return self.read(found)
            case PointerVariable():
                return pointers.value_of(found, self, node)
        raise self.refused(f"{node.name} is not declared", node)

    def _Constant(self, node: Any) -> Result:
        text = node.value
        if text.startswith("'"):
            code = kinds.character(text)
            if code is not None:
                return self.arithmetic.number(kinds.INT, code)
        elif node.type in ("float", "double", "long double"):
            return self._decimal(node)
        else:
            whole = kinds.whole_literal(text)
            if whole is not None:
                return self.arithmetic.number(whole[1], whole[0])
        raise self.refused(f"the literal {text} is not read", node)

    def _decimal(self, node: Any) -> Value:
        from fractions import Fraction

        from streamcheck.core.floats import to_f32

        text = node.value
        if text[-1] in "lL":
            raise self.refused("long double is not read", node)
        kind = kinds.FLOAT if text[-1] in "fF" and not text.lower().startswith("0x") else kinds.DOUBLE
        digits = text.rstrip("fF") if kind == kinds.FLOAT else text
        number = float.fromhex(digits) if digits.lower().startswith("0x") else float(digits)
        if kind == kinds.FLOAT:
            number = to_f32(Fraction(digits))
        return Value(kind, constant(self.arithmetic.core(kind), number))

    def _BinaryOp(self, node: Any) -> Result:
        if node.op in ("&&", "||"):
            return self._logical(node)
        left, right = self.in_order(
            node.left, lambda: self.value(node.left), node.right, lambda: self.value(node.right)
        )
        if isinstance(left, Value) and isinstance(right, Value):
            return self.arithmetic.binary(node.op, left, right)
        return pointers.binary(node.op, left, right, self)

    def _UnaryOp(self, node: Any) -> Result:
        match node.op:
            case "p++" | "p--" | "++" | "--":
                return self._step(node, keep=True)
            case "sizeof":
                return self.arithmetic.number(kinds.ULONG, kinds.size_of(static.type_of(self, node.expr)))
            case "*":
                return self.read(pointers.pointed(self.value(node.expr), self, node))
            case "&":
                place = self.place(node.expr)
                if not isinstance(place, Place):
                    raise self.refused("pointers to pointers are not read", node)
                return pointers.address(place, self)
            case "!":
                return self.arithmetic.of_truth(negation(self.truth(node.expr)))
        return self.arithmetic.unary(node.op, self.scalar(node.expr))

    def _TernaryOp(self, node: Any) -> Result:
        if any(effects.level(part, self.scope) for part in (node.iftrue, node.iffalse)):
            return self._chosen(node)
        condition = self.truth(node.cond)
        with self._given(condition):
            a = self.value(node.iftrue)
        with self._given(negation(condition)):
            b = self.value(node.iffalse)
        if not isinstance(a, Value) or not isinstance(b, Value):
            raise self.refused(f"{self.text(node)} is not a number", node)
        with self._given(condition):
            a = self.arithmetic.converted(a, kinds.common(a.kind, b.kind))
        with self._given(negation(condition)):
            b = self.arithmetic.converted(b, kinds.common(a.kind, b.kind))
        return Value(a.kind, choice(condition, a.term, b.term))

    def _chosen(self, node: Any) -> Result:
        """A conditional expression with effects, its value kept in a variable."""
        kind = static.type_of(self, node)
        yes, no, join = (self.flow.place() for _ in range(3))
        result = self.flow.temporary(self.arithmetic.core(kind), self.where)
        self.condition(node.cond, yes, no)
        for place, part in ((yes, node.iftrue), (no, node.iffalse)):
            self.flow.at = place
            value = self.arithmetic.converted(self.scalar(part), kind)
            self.flow.step(self.where, f"value = {self.text(part)}", (result, value.term), to=join)
        assert isinstance(kind, Integer | Floating)
        return Value(kind, result)

    def _Cast(self, node: Any) -> Result:
        kind = self.types.of(node.to_type, self.scope)
        value = self.value(node.expr)
        if kind == kinds.VOID:
            return None
        if isinstance(kind, Pointer):
            return pointers.cast(value, kind, self, node)
        if not isinstance(value, Value):
            raise self.refused(f"{self.text(node)}: {self.text(node.expr)} is not a number", node)
        return self.arithmetic.converted(value, kind)

    def _ExprList(self, node: Any) -> Result:
        for part in node.exprs[:-1]:
            self.effect(part)
        return self.value(node.exprs[-1])

    def _ArrayRef(self, node: Any) -> Result:
        return self.read(self._element(node))

    def _StructRef(self, node: Any) -> Result:
        return self.read(self._field(node))

    def _FuncCall(self, node: Any) -> Result:
        return self.calls.call(node)

    # Places and assignment

    def place(self, node: Any) -> Place | PointerVariable:
        """What an expression on the left of an assignment names."""
        with self.at(node):
            match node.__class__.__name__:
                case "ID":
                    found = self.scope.find(node.name)
                    if isinstance(found, Place | PointerVariable):
                        return found
                case "ArrayRef":
                    return self._element(node)
                case "StructRef":
                    return self._field(node)
                case "UnaryOp" if node.op == "*":
                    return pointers.pointed(self.value(node.expr), self, node)
        raise self.refused(f"{self.text(node)} is not a variable", node)

    def _element(self, node: Any) -> Place:
        array, index = self.in_order(
            node.name, lambda: self.value(node.name), node.subscript, lambda: self.value(node.subscript)
        )
        if isinstance(array, Value):
            array, index = index, array  # 3[a] is a[3]
        if not isinstance(index, Value) or not isinstance(index.kind, Integer):
            raise self.refused(f"{self.text(node.subscript)} is not an index", node)
        if isinstance(array, Place) and isinstance(array.kind, Array):
            return array.element(self.arithmetic.index(self.arithmetic.promoted(index), array.kind.length))
        return pointers.pointed(pointers.moved(array, index, "+", self), self, node)

    def _field(self, node: Any) -> Place:
        whole = self.value(node.name)
        if node.type == "->":
            whole = pointers.pointed(whole, self, node)
        kind = (
            whole.kind.field(node.field.name) if isinstance(whole, Place) and isinstance(whole.kind, Struct) else None
        )
        if kind is None or not isinstance(whole, Place):
            raise self.refused(f"{self.text(node)}: there is no field {node.field.name}", node)
        return whole.field(node.field.name, kind)

    def _Assignment(self, node: Any) -> Result:
        there = self.place(node.lvalue)
        if isinstance(there, PointerVariable):
            return pointers.assign(there, node, self)
        plain, text = node.op == "=", self.text(node)
        left, new = self.in_order(
            node.lvalue,
            lambda: there if plain else Pair(there, self.read(there)),
            node.rvalue,
            lambda: self.value(node.rvalue),
        )
        if isinstance(left, Pair):
            if not isinstance(left.value, Value) or not isinstance(new, Value):
                raise self.refused(f"{text}: one side is not a number", node)
            new = self.arithmetic.binary(node.op[:-1], left.value, new)
            left = left.place
        assert isinstance(left, Place)
        self.store(left, new, text)
        return self._stored(left)

    def _stored(self, place: Place) -> Result:
        """What was put there, which even of a volatile variable is known."""
        if isinstance(place.kind, Integer | Floating):
            return Value(place.kind, place.read())
        return place

    def store(self, place: Place, new: Result, text: str) -> None:
        """place := new, which is one edge."""
        if place.object.constant:
            raise SpecError(f"{text}: it is const", self.where)
        self.flow.step(self.where, text, *self.updates(place, new, text))

    def updates(self, place: Place, new: Result, text: str) -> tuple[tuple[Term, Term], ...]:
        if isinstance(place.kind, Struct):
            if not isinstance(new, Place) or new.kind != place.kind:
                raise SpecError(f"{text}: the two sides have different types", self.where)
            pairs = zip(place.scalars(), new.scalars(), strict=True)
            return tuple(to.written(source.read()) for to, source in pairs)
        if not isinstance(new, Value):
            raise SpecError(f"{text}: the right side is not a number", self.where)
        return (place.written(self.arithmetic.converted(new, place.kind).term),)

    def _step(self, node: Any, *, keep: bool) -> Result:
        """++ and --."""
        place, op = self.place(node.expr), node.op[-1]
        if isinstance(place, PointerVariable):
            return pointers.step(place, node, self)
        old = self.read(place)
        if not isinstance(old, Value):
            raise self.refused(f"{self.text(node)}: not a number", node)
        new = self.arithmetic.binary(op, old, self.arithmetic.number(kinds.INT, 1))
        if not keep or not node.op.startswith("p"):
            self.store(place, new, self.text(node))
            return self._stored(place) if keep else None
        before = self.flow.temporary(old.term.type, self.where)
        if place.object.constant:
            raise self.refused(f"{self.text(node)}: it is const", node)
        self.flow.step(self.where, self.text(node), (before, old.term), *self.updates(place, new, self.text(node)))
        return Value(old.kind, before)
