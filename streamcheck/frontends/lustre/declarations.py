"""Declared types, constants, and the type of an expression before its value is known.

A register needs its type before what it holds can be read (that may depend on the register), so types are found from
declarations alone: along one path down the expression, because most operations have the type of their first operand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term, constant, term, variable
from streamcheck.core.types import (
    BOOL,
    INT,
    REAL,
    ArrayType,
    MachineType,
    StructType,
    Type,
    array_of,
    enum_of,
    machine,
    struct_of,
)
from streamcheck.frontends.lustre.scopes import Context, LazyDefinition, LustreScope, Shape, TypeCondition
from streamcheck.frontends.lustre.syntax import ConstantText, ExpressionText, LustreFile, TypeText
from streamcheck.frontends.lustre.variables import Variables
from streamcheck.frontends.operations import compare

SCALAR = {"bool": Shape(BOOL), "int": Shape(INT), "real": Shape(REAL)}
TRUTHS = frozenset(
    ("forall", "exists", "bool", "not", "and", "or", "xor", "implies", "eq", "ne", "lt", "le", "gt", "ge", "mode")
)
ALIKE = frozenset(("add", "sub", "mul", "intdiv", "mod", "div", "neg", "bitand", "bitor", "bitnot", "lsh", "rsh"))


class Evaluate(Protocol):
    def __call__(self, e: ExpressionText, scope: LustreScope, type: Type | None = None) -> Term: ...


class LustreDeclarations:
    """The declared types and constants of a file. `term` evaluates an expression, which must have the given type."""

    def __init__(self, file: LustreFile, variables: Variables, term: Evaluate) -> None:
        self.file = file
        self.tokens = variables.tokens
        self.variables = variables
        self.term = term
        self.globals = LustreScope("", Context(TRUE), None)
        self.free_constants: list[tuple[Term, LustreScope, Shape, int]] = []
        self.ranged_constants: list[tuple[str, LustreScope, Shape, int]] = []  # with values
        self._named: dict[str, Shape] = {}
        self._naming: list[str] = []

    def declare_globals(self) -> None:
        """The file's enums, whose members are constants, and its constants."""
        for name, text in self.file.types.items():
            if text.kind == "enum":
                self.named_shape(name, text.at)
        self.declare_constants(self.globals, self.file.constants.values())

    def declare_constants(self, scope: LustreScope, constants: Iterable[ConstantText]) -> None:
        for c in constants:
            if c.type is not None:
                scope.shapes[c.name] = self.shape(c.type, scope)
            if c.value is not None:
                scope.definitions[c.name] = LazyDefinition((c.name,), c.value, scope, c.at)
                if c.type is not None and scope.shapes[c.name].is_bounded:
                    self.ranged_constants.append((c.name, scope, scope.shapes[c.name], c.at))
            else:
                shape = scope.shapes[c.name]
                var = variable(self.variables.fresh(scope.path + c.name), shape.type)
                self.free_constants.append((var, scope, shape, c.at))
                scope.values[c.name] = var

    def named_shape(self, name: str, at: int) -> Shape:
        """The type of that name."""
        if name not in self._named:
            text = self.file.types.get(name)
            if text is None:
                raise self.tokens.error(at, f"type {name} is not declared")
            if name in self._naming:
                raise self.tokens.error(text.at, f"type {name} contains itself")
            self._naming.append(name)
            self._named[name] = self.shape(text, self.globals, name)
            self._naming.pop()
        return self._named[name]

    def shape(self, text: TypeText, scope: LustreScope, name: str = "") -> Shape:
        scalar = SCALAR.get(text.kind)
        if scalar is not None:
            return scalar
        match text.kind:
            case "machine":
                width, signed = text.value
                return Shape(machine(width, signed=signed))
            case "name":
                return self.named_shape(text.value, text.at)
            case "subrange":
                low, high = (None if e is None else self.term(e, scope, INT) for e in text.value)
                fixed = low is not None and high is not None and low.is_const and high.is_const
                if fixed and low.payload > high.payload:  # type: ignore[union-attr]
                    raise self.tokens.error(text.at, "this subrange is empty")
                return Shape(INT, low, high)
            case "array":
                element, size = text.value
                inner = self.shape(element, scope)
                length = self.term(size, scope, INT)
                if not length.is_const or length.payload < 1:
                    message = "the size of an array must be a constant of at least 1 with a value"
                    raise self.tokens.error(size.at, message, write="const n: int = 3;")
                return Shape(array_of(inner.type, length.payload), parts=(inner,))
            case "record":
                parts = [(n, self.shape(t, scope)) for n, t in text.value]
                return Shape(struct_of(name or "record", tuple((n, p.type) for n, p in parts)),
                             parts=tuple(p for _, p in parts))  # fmt: skip
            case "enum":
                return self._enum(text, name)
            case "refinement":
                own, base, condition = text.value
                inner = self.shape(base, scope, name)
                return replace(inner, conditions=(*inner.conditions, TypeCondition(own, condition, scope)))
        raise AssertionError(text.kind)

    def _enum(self, text: TypeText, name: str) -> Shape:
        type = enum_of(name or "enum", tuple((member, i) for i, member in enumerate(text.value)))
        for member, code in type.members:
            if member in self.globals.values and name:
                raise self.tokens.error(text.at, f"{member} is a member of two enums")
            self.globals.values[member] = constant(type, code)
        return Shape(type)

    def lengths(self, shape: Shape, count: int, at: int) -> list[int]:
        """The lengths of an array of arrays, outermost first."""
        lengths: list[int] = []
        type = shape.type
        for _ in range(count):
            if not isinstance(type, ArrayType):
                raise self.tokens.error(at, f"too many indices: it is {shape.type}")
            lengths.append(type.length)
            type = type.element
        if isinstance(type, ArrayType):
            raise self.tokens.error(at, f"too few indices: each element would be {type}", write="an index for each `^`")
        return lengths

    def within(self, shape: Shape, value: Term, scope: LustreScope) -> Term:
        """True if the value, one of an instance, lies in the subranges and meets the conditions of its declared
        type."""
        return conjunction(*self._conditions(shape, value, scope))

    def _conditions(self, shape: Shape, value: Term, scope: LustreScope) -> Iterator[Term]:
        if shape.low is not None:
            yield compare("ge", value, shape.low)
        if shape.high is not None:
            yield compare("le", value, shape.high)
        if not shape.is_bounded:
            return
        if isinstance(shape.type, ArrayType):
            for i in range(shape.type.length):
                yield from self._conditions(shape.parts[0], term("index", value, constant(INT, i)), scope)
        elif isinstance(shape.type, StructType):
            for i, part in enumerate(shape.parts):
                yield from self._conditions(part, term("field", value, payload=i), scope)
        for condition in shape.conditions:
            own = LustreScope(scope.path, scope.context, condition.scope, None, {condition.name: value})
            own.shapes[condition.name] = shape
            yield self.term(condition.value, own, BOOL)

    # Types of expressions

    def arity(self, e: ExpressionText, scope: LustreScope) -> int:
        """The number of values of the expression."""
        while True:
            match e.op:
                case "tuple":
                    return sum(self.arity(a, scope) for a in e.args)
                case "call":
                    node = self.file.nodes.get(e.value.node)
                    return 1 if node is None else len(node.outputs)
                case "if" | "lazy":
                    e = e.args[1]
                case "arrow" | "pre" | "when":
                    e = e.args[0]
                case "merge":
                    e = e.args[1]
                case _:
                    return 1

    def types_of(self, e: ExpressionText, scope: LustreScope) -> list[Type]:
        """The types of the expression's values, from declarations alone."""
        path: list[int | str] = []  # the elements and fields that are taken out of the value of `e`
        while True:
            op = e.op
            if op in ("name", "bound"):
                return [self._part_type(self._type_of_name(e, scope), path, e.at)]
            if op in TRUTHS:
                return [BOOL]
            if op in ALIKE or op in ("arrow", "pre", "when", "update"):
                e = e.args[0]
            elif op in ("if", "lazy", "merge"):
                e = e.args[1]
            elif op == "index":
                path.append(0)
                e = e.args[0]
            elif op == "field":
                path.append(e.value)
                e = e.args[0]
            elif op == "tuple":
                return [t for a in e.args for t in self.types_of(a, scope)]
            elif op == "call":
                return [self._part_type(t, path, e.at) for t in self._output_types(e, scope)]
            else:
                return [self._part_type(self._type_of_leaf(e, scope), path, e.at)]

    def _type_of_name(self, e: ExpressionText, scope: LustreScope) -> Type:
        owner = scope.owner(e.value)
        if owner is None:
            raise self.tokens.error(e.at, f"{e.value} is not declared")
        declared = owner.shapes.get(e.value)
        if declared is not None:
            return declared.type
        return self.term(e, scope).type  # a constant without a type, a member of an enum, an index

    def _type_of_leaf(self, e: ExpressionText, scope: LustreScope) -> Type:
        match e.op:
            case "number":
                return type_of_number(e.value)
            case "to int":
                return INT
            case "to real":
                return REAL
            case "to machine":
                width, signed = e.value
                return machine(width, signed=signed)
            case "array":
                (element,) = self.types_of(e.args[0], scope)
                return array_of(element, len(e.args))
            case "power":
                (element,) = self.types_of(e.args[0], scope)
                return array_of(element, self.term(e.args[1], scope, INT).payload)
            case "bits":
                high, low = e.value
                return machine(max(high - low + 1, 1), signed=False)
            case "concat":
                widths = [t.width for a in e.args for t in self.types_of(a, scope) if isinstance(t, MachineType)]
                return machine(max(sum(widths), 1), signed=False)
            case "record":
                return self.named_shape(e.value[0], e.at).type
            case "any":
                return self.shape(e.value.type, scope).type
            case "output":
                position: int = e.value
                return self._output_types(e.args[0], scope)[position]
        raise AssertionError(e.op)

    def _output_types(self, e: ExpressionText, scope: LustreScope) -> list[Type]:
        node = self.file.nodes.get(e.value.node)
        if node is None:
            raise self.tokens.error(e.at, f"node {e.value.node} is not declared")
        return [self.shape(v.type, self.globals).type for v in node.outputs]

    def _part_type(self, type: Type, path: list[int | str], at: int) -> Type:
        for step in reversed(path):
            if isinstance(step, int) and isinstance(type, ArrayType):
                type = type.element
            elif isinstance(step, str) and isinstance(type, StructType) and step in dict(type.fields):
                type = dict(type.fields)[step]
            else:
                raise self.tokens.error(at, f"{type} has no {'element' if isinstance(step, int) else 'field'} {step}")
        return type


def type_of_number(text: str) -> Type:
    if text.startswith("0x"):
        return REAL if "." in text or "p" in text else INT
    return INT if text.isdigit() else REAL
