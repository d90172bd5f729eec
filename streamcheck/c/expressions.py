"""Evaluation of C expressions to terms. What a program does beyond reading is left to the room that executes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, assert_never

from streamcheck.c import effects, kinds, pointers, static
from streamcheck.c.arithmetic import (
    FUNCTIONS,
    Arithmetic,
    CValue,
    Dialect,
    SideCondition,
    Unsupported,
    conditional_value,
)
from streamcheck.c.declarations import (
    ANONYMOUS,
    Address,
    CResult,
    Declarations,
    Function,
    NameScope,
    PointerVariable,
    Typedef,
    Updated,
    standard_names,
)
from streamcheck.c.kinds import AnyKind, Array, Floating, FunctionType, Incomplete, Integer, Opaque, Pointer, Struct
from streamcheck.c.literals import CONSTANT_MACROS, character, decimal_literal, whole_literal
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.models import LP64, DataModel
from streamcheck.c.pointers import AddressRules
from streamcheck.c.syntax import called_name, form, is_first_or_second, text_of, where_of
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import conjunction, disjunction, either, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant

LONGEST_MESSAGE = 800  # characters: it may show an expression of any length


def field_of(whole: Lvalue, name: str) -> Lvalue | None:
    """The field of a struct or union, also if it is one of a member without a name (6.7.2.1)."""
    assert isinstance(whole.kind, Struct)
    kind = whole.kind.field(name)
    if kind is not None:
        return whole.field(name, kind)
    inner = ((n, k) for n, k in whole.kind.fields if n.startswith(ANONYMOUS) and isinstance(k, Struct))
    return next((part for n, k in inner if (part := field_of(whole.field(n, k), name)) is not None), None)


class Evaluator:
    """Evaluates constant expressions. Whoever executes programs overrides what goes beyond: objects, effects, calls.

    `scope` holds the names that are visible, `premises` the conditions under which the operand at hand is
    evaluated, `where` the line."""

    def __init__(self, file: str, dialect: Dialect, model: DataModel = LP64) -> None:
        self.model = model
        self._at: Any = Location(file, 1)  # or the node that is being evaluated
        self.arithmetic = Arithmetic(dialect, self._oblige, model)
        self.declarations = Declarations(dialect, self.constant, self.arithmetic.number, model)
        self.standard = NameScope(None, dict(standard_names(dialect, model)))
        self.scope = self.standard
        self.premises: list[Term] = []
        self.is_portable = dialect is Dialect.PORTABLE
        self.addresses: AddressRules | None = None
        self._constants_only = False
        self._caller: Any = None  # while a model of the library is evaluated: the call

    # What a room that executes programs provides

    def oblige(self, condition: SideCondition, premise: Term, holds: Term) -> None:
        """Under the premise, the condition must hold."""
        raise Unsupported(condition.failure)

    def read_scalar(self, lvalue: Lvalue) -> CValue | Address:
        raise Unsupported(f"{lvalue.object.name} is not constant")

    def assign(self, node: Any, *assignments: tuple[Lvalue, CResult]) -> None:
        """The assignments of an expression, all at once."""
        raise Unsupported("an assignment is not constant")

    def temporary(self, kind: Integer | Floating | Pointer) -> Lvalue:
        raise Unsupported("an assignment is not constant")

    def call(self, node: Any) -> CResult:
        raise Unsupported("a call is not constant")

    def result_kind(self, node: Any) -> AnyKind:
        """The kind of the result of a call."""
        raise Unsupported("a call is not constant")

    def in_order(
        self, node: Any, first: Callable[[], CResult], following: Any, second: Callable[[], CResult]
    ) -> tuple[CResult, CResult]:
        """Two operands whose order C leaves open: `first` of `node`, then `second` of `following`."""
        return first(), second()

    def require_alive(self, target: Lvalue) -> None:
        """A pointer to the target is used: the object must not have ended."""

    def note_target(self, pointer: PointerVariable, target: Lvalue) -> None:
        """The pointer now points to the target."""

    # Lines and messages

    @property
    def where(self) -> Location:
        return self._at if isinstance(self._at, Location) else where_of(self._at)

    @where.setter
    def where(self, line: Location) -> None:
        self._at = line

    def _oblige(self, condition: SideCondition, holds: Term) -> None:
        premise = conjunction(*self.premises)
        if holds is TRUE or premise is FALSE:
            return
        if not self._constants_only:
            self.oblige(condition, premise, holds)
        elif self.arithmetic.dialect is Dialect.PORTABLE or condition is SideCondition.DIVISION:
            # gcc and clang evaluate other constants modulo 2^w
            raise Unsupported(f"a constant expression is undefined: {condition.failure}")

    def text(self, node: Any) -> str:
        return text_of(node)

    def error(self, message: str, node: Any) -> SpecError:
        half = LONGEST_MESSAGE // 2
        text = message if len(message) <= LONGEST_MESSAGE else f"{message[:half]} … {message[-half:]}"
        return SpecError(text, self.place_of(node))

    def place_of(self, node: Any) -> Location:
        """The line of a node. In a model of a library's function it is the line of the call."""
        return where_of(node if self._caller is None else self._caller)

    @contextmanager
    def at(self, node: Any) -> Iterator[None]:
        """A context in which messages and effects have the node's line."""
        before, self._at = self._at, self._caller or node
        try:
            yield
        except (Unsupported, TypeRule) as why:
            raise SpecError(str(why), self.place_of(node)) from None
        finally:
            self._at = before

    @contextmanager
    def suppose(self, premise: Term) -> Iterator[None]:
        self.premises.append(premise)
        try:
            yield
        finally:
            self.premises.pop()

    @contextmanager
    def within_model(self, call: Any, scope: NameScope) -> Iterator[None]:
        """A context in which an expression of the library is evaluated, in a scope of its own, at the line of the
        call."""
        before = self.scope, self._caller
        self.scope, self._caller = scope, self._caller or call
        try:
            yield
        finally:
            self.scope, self._caller = before

    # Values

    def constant(self, node: Any) -> int:
        """The value of a constant expression (6.6)."""
        if effects.level(node, self.scope):
            raise self.error(f"{self.text(node)} is not constant", node)
        before, self._constants_only = self._constants_only, True
        try:
            value = self.scalar(node)
        finally:
            self._constants_only = before
        if not value.term.is_const or not isinstance(value.kind, Integer):
            raise self.error(f"{self.text(node)} is not constant", node)
        return int(value.term.payload)

    def scalar(self, node: Any) -> CValue:
        value = self.value(node)
        if not isinstance(value, CValue):
            raise self.error(f"{self.text(node)} is not a number", node)
        return value

    def value(self, node: Any) -> CResult:
        method: Callable[[Any], CResult] | None = getattr(self, f"_{form(node)}", None)
        if method is None:
            message = f"{self.text(node)}: an expression of this form ({form(node)}) is not supported"
            raise self.error(message, node)
        before, self._at = self._at, self._caller or node
        try:
            return method(node)
        except (Unsupported, TypeRule) as why:
            raise SpecError(str(why), self.place_of(node)) from None
        finally:
            self._at = before

    def read(self, lvalue: Lvalue) -> CResult:
        """The value of a scalar. Arrays and structs stay lvalues until they are assigned."""
        self._refuse_unstorable(lvalue.kind)
        return lvalue if isinstance(lvalue.kind, Array | Struct) else self.read_scalar(lvalue)

    def _refuse_unstorable(self, kind: AnyKind) -> None:
        unknown = isinstance(kind, Pointer) and self.addresses is None
        if unknown or isinstance(kind, Opaque | Incomplete | FunctionType):
            self.arithmetic.type_of(kind)  # raises the reason

    def truth(self, node: Any) -> Term:
        """The condition that an expression is not zero."""
        if form(node) == "Constant" and node.type == "string":
            return TRUE  # assert(… && "the reason")
        value = self.value(node)
        if pointers.is_pointer(value):
            return pointers.not_null(value, self)
        if not isinstance(value, CValue):
            raise self.error(f"{self.text(node)} is not a number", node)
        return self.arithmetic.truth(value)

    # Forms of expressions, by pycparser's names

    def _ID(self, node: Any) -> CResult:
        meaning = self.scope.meaning(node.name)
        match meaning:
            case CValue():
                return meaning
            case Lvalue():
                return self.read(meaning)
            case PointerVariable():
                return pointers.value_of(meaning, self, node)
            case Function() if self.addresses is not None:
                return self.addresses.of_function(node.name, node)
            case Function():
                raise self.error(f"{node.name} is a function: pointers to functions are not supported", node)
            case Typedef():
                raise self.error(f"{node.name} is a type", node)
            case Opaque():
                raise self.error(f"{node.name}: {meaning.reason}", node)
            case None:
                raise self.error(f"{node.name} is not declared", node)
        assert_never(meaning)

    def _Constant(self, node: Any) -> CResult:
        text, portable = node.value, self.arithmetic.dialect is Dialect.PORTABLE
        if text.startswith("'"):
            code = character(text, signed=self.model.char_signed)
            if code is not None and not (portable and code < 0):
                return self.arithmetic.number(self.model.INT, code)
        elif node.type in ("float", "double", "long double"):
            decimal = decimal_literal(text, self.model)
            if text[-1] in "lL":
                raise self.error("long double is not supported", node)
            if decimal is not None:
                return CValue(decimal[1], constant(self.arithmetic.type_of(decimal[1]), decimal[0]))
            raise self.error(f"no {node.type} holds the literal {text}; write INFINITY, of math.h", node)
        else:
            whole = whole_literal(text, self.model)
            if whole is not None and not (portable and text[-1] in "lL"):
                return self.arithmetic.number(whole[1], whole[0])
        if text.startswith('"'):
            where = "as an initialiser and in calls of string.h"
            raise self.error(f"the string {text} is supported {where} only; write char t[] = {text};", node)
        raise self.error(f"the literal {text} is not supported", node)

    def _BinaryOp(self, node: Any) -> CResult:
        if node.op in ("&&", "||"):
            return self.logical_expression(node)
        left, right = self.in_order(
            node.left, lambda: self.value(node.left), node.right, lambda: self.value(node.right)
        )
        if isinstance(left, CValue) and isinstance(right, CValue):
            return self.arithmetic.binary(node.op, left, right)
        if any(isinstance(side, Lvalue) and isinstance(side.kind, Struct) for side in (left, right)):
            raise self.error(f"{self.text(node)}: {node.op} takes no structs; write it for their fields", node)
        return pointers.binary(node.op, left, right, self)

    def logical_expression(self, node: Any) -> CValue:
        """&& and || (6.5.13, 6.5.14)."""
        left = self.truth(node.left)
        with self.suppose(left if node.op == "&&" else negation(left)):
            right = self.truth(node.right)
        return self.arithmetic.of_truth(conjunction(left, right) if node.op == "&&" else disjunction(left, right))

    def _UnaryOp(self, node: Any) -> CResult:
        match node.op:
            case "p++" | "p--" | "++" | "--":
                return self.step(node, keep=True)
            case "sizeof":
                return self.size_of(node)
            case "_Alignof":
                return self.arithmetic.number(self.model.size, self._alignment_of(node))
            case "*":
                value = self.value(node.expr)
                if isinstance(value, Address) and isinstance(value.kind.target, FunctionType):
                    return value  # a function stands for a pointer to it (6.3.2.1)
                return self.read(pointers.dereference(value, self, node))
            case "&":
                return self._address(node)
            case "!":
                return self.arithmetic.of_truth(negation(self.truth(node.expr)))
        return self.arithmetic.unary(node.op, self.scalar(node.expr))

    def _address(self, node: Any) -> CResult:
        """&x. &a[i] and &*p are a + i and p: no element is read (6.5.3.2)."""
        inner = node.expr
        if form(inner) == "UnaryOp" and inner.op == "*":
            value = self.value(inner.expr)
            return value if isinstance(value, Address) else pointers.pointee_of(value, self, node)
        if form(inner) == "ID" and isinstance(self.scope.meaning(inner.name), Function):
            return self.value(inner)
        if form(inner) == "ArrayRef" and not isinstance(static.kind_of(self, inner), Array):
            array, index = self._array_and_index(inner)
            return pointers.move(array, index, "+", self)
        lvalue = self.lvalue(inner)
        if isinstance(lvalue, PointerVariable):
            pointers.refuse(lvalue, "pointers to pointers are not supported", self, node)
        return pointers.address(lvalue, self)

    def size_of(self, node: Any) -> CValue:
        if self.arithmetic.dialect is Dialect.PORTABLE:
            raise Unsupported("sizes depend on the compiler")
        kind, count = static.kind_of(self, node.expr), self.arithmetic.number(self.model.size, 1)
        while isinstance(kind, Array) and kinds.has_run_time_length(kind):  # the program has evaluated its lengths
            length: Term = constant(self.arithmetic.type_of(kinds.LONG), kind.length)
            each = self.arithmetic.convert(CValue(kinds.LONG, kind.count or length), self.model.size)
            count, kind = self.arithmetic.binary("*", count, each), kind.element
        return self.arithmetic.binary("*", count, self.arithmetic.number(self.model.size, self.model.size_of(kind)))

    def _alignment_of(self, node: Any) -> int:
        if self.arithmetic.dialect is Dialect.PORTABLE:
            raise Unsupported("sizes depend on the compiler")
        return self.declarations.alignment_of(node.expr, self.scope)

    def _TernaryOp(self, node: Any) -> CResult:
        if is_first_or_second(node):
            return self.first_or_second(node)
        return self.conditional_expression(node)

    def first_or_second(self, node: Any) -> CValue:
        """a ?: b, with a evaluated once."""
        first = self.scalar(node.cond)
        with self.suppose(negation(self.arithmetic.truth(first))):
            second = self.scalar(node.iffalse)
        kind = self.model.common(first.kind, second.kind)
        chosen = (self.arithmetic.convert(value, kind) for value in (first, second))
        return conditional_value(self.arithmetic.truth(first), *chosen)

    def pointer_kind(self, a: CResult, b: CResult, node: Any) -> Pointer:
        """The type of `?:` of two pointers (6.5.15): that of the other one if one of them is null or to void."""
        assert self.addresses is not None
        known = [self.addresses.of(side, node).kind for side in (a, b) if not isinstance(side, CValue)]
        return next((kind for kind in known if kind.target != kinds.VOID), known[0])

    def conditional_expression(self, node: Any) -> CValue | Address:
        """?: (6.5.15)."""
        condition = self.truth(node.cond)
        with self.suppose(condition):
            a = self.value(node.iftrue)
        with self.suppose(negation(condition)):
            b = self.value(node.iffalse)
        if self.addresses is not None and (pointers.is_pointer(a) or pointers.is_pointer(b)):
            target = self.pointer_kind(a, b, node)
            chosen = [self.addresses.of(side, node, target).term for side in (a, b)]
            return Address(target, either(condition, *chosen))
        if not isinstance(a, CValue) or not isinstance(b, CValue):
            raise self.error(f"{self.text(node)} is not a number", node)
        kind = self.model.common(a.kind, b.kind)
        return conditional_value(condition, self.arithmetic.convert(a, kind), self.arithmetic.convert(b, kind))

    def _Cast(self, node: Any) -> CResult:
        kind = self.declarations.kind_of(node.to_type, self.scope)
        value = self.value(node.expr)
        if kind == kinds.VOID:
            return None
        if isinstance(kind, Pointer):
            return pointers.cast(value, kind, self, node)
        if not isinstance(value, CValue):
            raise self.error(f"{self.text(node)}: {self.text(node.expr)} is not a number", node)
        return self.arithmetic.convert(value, kind)

    def _Compound(self, node: Any) -> CResult:
        raise self.error("statements in an expression, ({ … }), are not supported here; write a function", node)

    def _ExprList(self, node: Any) -> CResult:
        raise self.error(f"{self.text(node)}: the operator , is not supported", node)

    def _ArrayRef(self, node: Any) -> CResult:
        return self.read(self._element(node))

    def _StructRef(self, node: Any) -> CResult:
        return self.read(self._field(node))

    def _FuncCall(self, node: Any) -> CResult:
        name = called_name(node)
        arguments = list(node.args.exprs) if node.args else []
        meaning = self.scope.meaning(name)
        if name == "offsetof" and meaning is None:
            return self.arithmetic.number(self.model.size, self._offset_of(node))
        if name in CONSTANT_MACROS and meaning is None and len(arguments) == 1 and form(arguments[0]) == "Constant":
            whole = self._of_constant_macro(name, arguments[0].value)
            if whole is not None:
                return self.arithmetic.number(whole[1], whole[0])
        if self.is_library_function(name) and not (isinstance(meaning, Function) and meaning.body is not None):
            return self.arithmetic.function(name, [self.scalar(a) for a in arguments])
        return self.call(node)

    def _of_constant_macro(self, name: str, text: str) -> tuple[int, Integer] | None:
        """`UINT64_C(1)` and the like, with the type that values of `uint_least64_t` are promoted to (7.18.4)."""
        value = whole_literal(text + ("ull" if name.startswith("U") else "ll"), self.model)
        kind = self.model.typedefs[CONSTANT_MACROS[name]]
        assert isinstance(kind, Integer)
        kind = self.model.promote(kind)
        return (value[0], kind) if value is not None and value[0] <= kind.high else None

    def _offset_of(self, node: Any) -> int:
        """The distance of a field from the beginning of its struct, in bytes (7.17)."""
        if self.arithmetic.dialect is Dialect.PORTABLE:
            raise Unsupported("sizes depend on the compiler")
        whole, part = node.args.exprs
        steps = []
        while form(part) != "ID":
            steps.append(part)
            part = part.name
        kind, at = self._offset_in(self.declarations.kind_of(whole, self.scope), part.name, node)
        for step in reversed(steps):
            if form(step) == "ArrayRef" and isinstance(kind, Array):
                kind = kind.element
                at += self.constant(step.subscript) * self.model.size_of(kind)
            else:
                kind, inner = self._offset_in(kind, getattr(getattr(step, "field", None), "name", "[]"), node)
                at += inner
        return at

    def _offset_in(self, kind: AnyKind, name: str, node: Any) -> tuple[AnyKind, int]:
        self.model.alignment(kind)  # raises if the layout is not known
        fields = self.model.offsets(kind) if isinstance(kind, Struct) else ()
        for field, inner, at in fields:
            if field == name:
                return inner, at
        raise self.error(f"{self.text(node)}: {kind} has no field {name}", node)

    def is_library_function(self, name: str) -> bool:
        """The function is one of math.h, and terms express it."""
        return name in FUNCTIONS or name.removesuffix("f") in FUNCTIONS

    # Lvalues and assignments

    def lvalue(self, node: Any) -> Lvalue | PointerVariable:
        """The lvalue that an expression on the left of an assignment designates."""
        with self.at(node):
            self._refuse_temporary(node)
            match form(node):
                case "ID":
                    meaning = self.scope.meaning(node.name)
                    if isinstance(meaning, Lvalue | PointerVariable):
                        return meaning
                    if isinstance(meaning, Opaque):
                        raise self.error(f"{node.name}: {meaning.reason}", node)
                case "ArrayRef":
                    return self._element(node)
                case "StructRef":
                    return self._field(node)
                case "UnaryOp" if node.op == "*":
                    return pointers.dereference(self.value(node.expr), self, node)
        raise self.error(f"{self.text(node)} is not a variable", node)

    def _refuse_temporary(self, node: Any) -> None:
        """Error if the node is a part of the value of an expression, which is no object that lasts (6.5.2.2)."""
        whole = node
        while form(whole) == "ArrayRef" or (form(whole) == "StructRef" and whole.type == "."):
            whole = whole.name
        if form(whole) in ("FuncCall", "Assignment", "ExprList", "TernaryOp", "Compound") and whole is not node:
            kind = static.kind_of(self, whole)
            if isinstance(kind, Struct):
                raise self.error(f"{self.text(node)} is a part of a value, not of a variable; write a variable", node)

    def _array_and_index(self, node: Any) -> tuple[CResult, CValue]:
        array, index = self.in_order(
            node.name, lambda: self.value(node.name), node.subscript, lambda: self.value(node.subscript)
        )
        if isinstance(array, CValue):
            array, index = index, array  # 3[a] is a[3]
        if not isinstance(index, CValue) or not isinstance(index.kind, Integer):
            raise self.error(f"{self.text(node.subscript)} is not an index", node)
        return array, index

    def _element(self, node: Any) -> Lvalue:
        array, index = self._array_and_index(node)
        if isinstance(array, Lvalue) and isinstance(array.kind, Array):
            return self.element(array, self.arithmetic.promote(index))
        return pointers.element_at(array, index, self, node)

    def element(self, array: Lvalue, index: CValue) -> Lvalue:
        """a[i], with the index in bounds."""
        assert isinstance(array.kind, Array)
        return array.element(self.arithmetic.require_element(index, array.kind))

    def _field(self, node: Any) -> Lvalue:
        whole = self.value(node.name)
        if node.type == "->":
            whole = pointers.dereference(whole, self, node)
            if isinstance(whole.kind, Incomplete):
                whole = replace(whole, kind=self.declarations.complete(whole.kind))
        if isinstance(whole, Lvalue) and isinstance(whole.kind, Struct):
            part = field_of(whole, node.field.name)
            if part is not None:
                return part
        kind = whole.kind if isinstance(whole, Lvalue | CValue) else kinds.VOID
        raise self.error(f"{self.text(node)}: {kind} has no field {node.field.name}", node)

    def _Assignment(self, node: Any) -> CResult:  # 6.5.16
        self.refuse_two_changes(node)
        meaning = self.scope.meaning(node.lvalue.name) if form(node.lvalue) == "ID" else None
        if isinstance(meaning, PointerVariable):
            return pointers.assign(meaning, node, self)
        left, new = self.in_order(node.lvalue, lambda: self._target(node), node.rvalue, lambda: self.value(node.rvalue))
        if isinstance(left, Updated) and isinstance(left.before, Address) and node.op in ("+=", "-="):
            if not isinstance(new, CValue) or not isinstance(new.kind, Integer):
                raise self.error(f"{self.text(node)}: not a number", node)
            new = pointers.move(left.before, new, node.op[0], self)
            left = left.lvalue
        if isinstance(left, Updated):
            if not isinstance(left.before, CValue) or not isinstance(new, CValue):
                raise self.error(f"{self.text(node)}: one side is not a number", node)
            new = self.arithmetic.binary(node.op[:-1], left.before, new)
            left = left.lvalue
        assert isinstance(left, Lvalue)
        self.assign(node, (left, new))
        return self.value_assigned(left)

    def _target(self, node: Any) -> CResult:
        """The lvalue that an assignment changes, with its value if that is used."""
        target = self.lvalue(node.lvalue)
        assert isinstance(target, Lvalue)
        return target if node.op == "=" else Updated(target, self.read(target))

    def refuse_two_changes(self, node: Any) -> None:
        """Error if an assignment and its right side change one variable, in no order that C defines."""
        name = getattr(node.lvalue, "name", None)
        if isinstance(name, str) and name in effects.names_changed(node.rvalue):
            why = f"it changes {name} twice, and C does not define in which order"
            raise self.error(f"{self.text(node)}: {why}; write two statements", node)

    def value_assigned(self, lvalue: Lvalue) -> CResult:
        """The value of an assignment to the lvalue."""
        return self.read(lvalue)

    def step(self, node: Any, *, keep: bool) -> CResult:
        """++ and -- (6.5.2.4, 6.5.3.1). `keep`: the value is used."""
        target = self.lvalue(node.expr)
        if isinstance(target, PointerVariable):
            return pointers.step(target, node, self)
        old, one = self.read(target), self.arithmetic.number(self.model.INT, 1)
        if not isinstance(old, CValue | Address):
            raise self.error(f"{self.text(node)}: not a number", node)
        new: CResult
        if isinstance(old, Address):
            new = pointers.move(old, one, node.op[-1], self)
        else:
            new = self.arithmetic.binary(node.op[-1], old, one)
        if not keep or not node.op.startswith("p"):
            self.assign(node, (target, new))
            return self.value_assigned(target) if keep else None
        before = self.temporary(old.kind)
        self.assign(node, (before, old), (target, new))
        return self.read_scalar(before)

    def value_for(self, kind: AnyKind, new: CResult, node: Any) -> CValue | Address | Lvalue:
        """The value as an object of this kind stores it (6.5.16.1): converted, or a struct to be copied."""
        self._refuse_unstorable(kind)
        if isinstance(kind, Pointer) and self.addresses is not None:
            given = self.addresses.of(new, node, kind if pointers.is_null(new) else None)
            if kinds.VOID not in (kind.target, given.kind.target) and not self.declarations.are_same(kind, given.kind):
                message = f"{self.text(node)}: a pointer to {given.kind.target} is used as one to {kind.target}"
                raise self.error(message, node)
            return self.addresses.of(given, node, kind)
        if isinstance(kind, Struct):
            if not isinstance(new, Lvalue) or new.kind != kind:
                raise self.error(f"{self.text(node)}: the two sides have different types", node)
            return new
        if not isinstance(new, CValue):
            raise self.error(f"{self.text(node)}: the right side is not a number", node)
        return self.arithmetic.convert(new, kind)

    def refuse_constant(self, lvalue: Lvalue, node: Any) -> None:
        if lvalue.is_constant:
            raise self.error(f"{self.text(node)}: it is const", node)
