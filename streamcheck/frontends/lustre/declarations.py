"""Declared types, constants, and the type of an expression before its value is known.

A register needs its type before what it holds can be read (that may depend on the register), so types are found from
declarations alone: along one path down the expression, because most operations have the type of their first operand.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from streamcheck.core.errors import SpecError
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import TRUE, Term, constant, term, variable, variables
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
    plural,
    struct_of,
)
from streamcheck.frontends.lustre.containers import Containers
from streamcheck.frontends.lustre.datatypes import constraints_of, field_type, has_constructor, is_union, union_of
from streamcheck.frontends.lustre.scopes import Context, LazyDefinition, LustreScope, Shape, TypeCondition
from streamcheck.frontends.lustre.syntax import (
    CasePattern,
    ConstantText,
    ExpressionText,
    LustreFile,
    NodeText,
    TypeText,
    name_expression,
)
from streamcheck.frontends.lustre.type_arguments import abstract_shape, applied_name, infer
from streamcheck.frontends.lustre.variables import Variables
from streamcheck.frontends.lustre.walks import subexpressions
from streamcheck.frontends.operations import compare, struct_part

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
        self.containers = Containers(variables, self.globals, self.free_constants)
        self.ascriptions: dict[tuple[int, LustreScope], tuple[Shape, Term, int]] = {}
        self._named: dict[tuple[str, tuple[Shape, ...]], Shape] = {}
        self._naming: list[str] = []

    def declare_globals(self) -> None:
        """The file's enums, whose members are constants, and its constants."""
        for name, text in self.file.types.items():
            if text.kind == "enum":
                self.named_shape(name, text.at)
            elif text.kind == "abstract":
                self._named[name, ()] = abstract_shape(name)
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

    def named_shape(self, name: str, at: int, arguments: tuple[Shape, ...] = ()) -> Shape:
        """The type of that name, with these arguments of its parameters."""
        if (name, arguments) not in self._named:
            text, parameters = self.file.types.get(name), self.file.parameters.get(name, ())
            if text is None:
                raise self.tokens.error(at, f"type {name} is not declared")
            if len(arguments) != len(parameters):
                message = f"type {name} has {plural(len(parameters), 'parameter')}, and {len(arguments)} are given"
                raise self.tokens.error(at, message, write=f"{name}<{', '.join(parameters)}>" if parameters else name)
            if name in self._naming:
                raise self._contains_itself(name, text)
            self._naming.append(name)
            own = LustreScope(
                "", self.globals.context, self.globals, types=dict(zip(parameters, arguments, strict=True))
            )
            self._named[name, arguments] = self.shape(text, own, applied_name(name, arguments))
            self._naming.pop()
        return self._named[name, arguments]

    def _contains_itself(self, name: str, text: TypeText) -> SpecError:
        if text.kind != "union":
            return self.tokens.error(text.at, f"type {name} contains itself")
        message = f"data type {name} contains itself: values of any depth are not supported"
        return self.tokens.error(text.at, message, write="a type for each depth, the innermost without the field")

    def shape(self, text: TypeText, scope: LustreScope, name: str = "") -> Shape:
        scalar = SCALAR.get(text.kind)
        if scalar is not None:
            return scalar
        match text.kind:
            case "machine":
                width, signed = text.value
                return Shape(machine(width, signed=signed))
            case "name":
                return scope.type_argument(text.value) or self.named_shape(text.value, text.at)
            case "applied":
                generic, arguments = text.value
                return self.named_shape(generic, text.at, tuple(self.shape(t, scope) for t in arguments))
            case "tuple":
                return self._tuple([self.shape(t, scope) for t in text.value])
            case "union":
                return self._union(text, scope, name)
            case "set" | "map":
                return self._container(text, [self.shape(t, scope) for t in text.value])
            case "subrange":
                if not self._are_declared(text.value, scope):  # variables of the node, which are not read yet
                    return Shape(INT, conditions=(_between(text, scope),))
                low, high = (None if e is None else self.term(e, scope, INT) for e in text.value)
                fixed = low is not None and high is not None and low.is_const and high.is_const
                if fixed and low.payload > high.payload:  # type: ignore[union-attr]
                    raise self.tokens.error(text.at, "this subrange is empty")
                return Shape(INT, low, high)
            case "array":
                element, size = text.value
                inner = self.shape(element, scope)
                length = self.term(size, scope, INT)
                if any(self.containers.moves(v) for v in variables([length])):
                    raise self.tokens.error(size.at, "the size of an array must be a constant", write="const n: int;")
                if not length.is_const:
                    return Shape(self.containers.array(inner.type, length), parts=(SCALAR["int"], inner))
                if length.payload < 1:
                    raise self.tokens.error(size.at, "the size of an array must be at least 1")
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

    def _are_declared(self, bounds: Iterable[ExpressionText | None], scope: LustreScope) -> bool:
        parts = (part for e in bounds if e is not None for part in subexpressions(e))
        return all(part.op != "name" or scope.owner(part.value) is not None for part in parts)

    def _tuple(self, parts: list[Shape]) -> Shape:
        fields = tuple((f"item{i}", p.type) for i, p in enumerate(parts))
        return Shape(struct_of(applied_name("tuple", parts), fields, "tuple"), parts=tuple(parts))

    def _container(self, text: TypeText, parts: list[Shape]) -> Shape:
        try:
            type = self.containers.type(text.kind, parts[0].type, parts[1].type if len(parts) > 1 else None)
        except TypeRule as why:
            raise self.tokens.error(text.at, str(why)) from None
        return Shape(type, parts=tuple(parts))

    def _union(self, text: TypeText, scope: LustreScope, name: str) -> Shape:
        shapes = {c.name: {field: self.shape(t, scope) for field, t in c.fields} for c in text.value}
        fields = [(c, tuple((field, s.type) for field, s in own.items())) for c, own in shapes.items()]
        type = union_of(name, fields)
        payloads = dict(type.fields)
        parts = [Shape(payloads[c], parts=tuple(own.values())) for c, own in shapes.items() if own]
        return Shape(type, parts=(Shape(type.fields[0][1]), *parts))

    def _enum(self, text: TypeText, name: str) -> Shape:
        type = enum_of(name or "enum", tuple((member, i) for i, member in enumerate(text.value)))
        for member, code in type.members:
            if member in self.globals.values and name:
                raise self.tokens.error(text.at, f"{member} is a member of two enums")
            self.globals.values[member] = constant(type, code)
        return Shape(type)

    def lengths(self, shape: Shape, count: int, at: int) -> list[int]:
        """The lengths of an array of arrays, outermost first, of those that have a value."""
        lengths: list[int] = []
        type = shape.type
        for _ in range(count):
            if self.containers.is_array(type):
                type = self.containers.element_of(type)
            elif isinstance(type, ArrayType):
                lengths.append(type.length)
                type = type.element
            else:
                raise self.tokens.error(at, f"too many indices: it is {shape.type}")
        if isinstance(type, ArrayType) or self.containers.is_array(type):
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
        if self.containers.is_container(shape.type) and any(p.is_bounded for p in shape.parts):

            def at_key(*values: Term | None) -> Term:
                given = zip(shape.parts, values, strict=False)
                return conjunction(*(c for p, v in given if v is not None for c in self._conditions(p, v, scope)))

            yield self.containers.all_meet(value, at_key)
        elif isinstance(shape.type, ArrayType):
            for i in range(shape.type.length):
                yield from self._conditions(shape.parts[0], term("index", value, constant(INT, i)), scope)
        elif isinstance(shape.type, StructType) and shape.type.form == "union":
            for (constructor, _), part in zip(shape.type.fields[1:], shape.parts[1:], strict=True):
                payload = struct_part(value, shape.type.position(constructor))
                within = conjunction(*self._conditions(part, payload, scope))
                yield disjunction(negation(has_constructor(value, constructor)), within)
        elif isinstance(shape.type, StructType) and not self.containers.is_container(shape.type):
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
                case "arrow" | "pre" | "when" | "current":
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
            if op in ALIKE or op in ("arrow", "pre", "when", "current", "update"):
                e = e.args[0]
            elif op in ("if", "lazy", "merge"):
                e = e.args[1]
            elif op == "index":
                position = e.args[1]
                path.append(int(position.value) if position.op == "number" and position.value.isdigit() else 0)
                e = e.args[0]
            elif op == "field":
                path.append(e.value)
                e = e.args[0]
            elif op == "tuple":
                return [t for a in e.args for t in self.types_of(a, scope)]
            elif op == "call":
                return [self._part_type(t, path, e.at) for t in self._output_types(e, scope)]
            elif op == "match":
                (type,) = self.types_of(e.args[0], scope)
                scope, e = self._pattern_scope(e.value[0], type, scope), e.args[1]
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
                length = self.term(e.args[1], scope, INT)
                return array_of(element, length.payload) if length.is_const else self.containers.array(element, length)
            case "bits":
                high, low = e.value
                return machine(max(high - low + 1, 1), signed=False)
            case "concat":
                widths = [t.width for a in e.args for t in self.types_of(a, scope) if isinstance(t, MachineType)]
                return machine(max(sum(widths), 1), signed=False)
            case "record":
                return self.record_type(e, scope, [self.types_of(a, scope)[0] for a in e.args])
            case "construct":
                return self.union_type(e, scope, [self.types_of(a, scope)[0] for a in e.args])
            case "test" | "in":
                return BOOL
            case "set" | "map":
                return self.container_type(e, scope, [self.types_of(a, scope)[0] for a in e.args[:2]])
            case "ascribe":
                return self.shape(e.value, scope).type
            case "tuple value":
                return self.tuple_type([self.types_of(a, scope)[0] for a in e.args])
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
        signature = LustreScope("", self.globals.context, self.globals)
        signature.types = self.type_arguments(node, e.value.types, e.args, scope, e.at)
        if len(e.args) == len(node.inputs):
            for v, value in zip(node.inputs, e.args, strict=True):
                if v.constant:
                    signature.definitions[v.name] = LazyDefinition((v.name,), value, scope, value.at)
        return [self.shape(v.type, signature).type for v in node.outputs]

    def _pattern_scope(self, pattern: CasePattern, type: Type, scope: LustreScope) -> LustreScope:
        """A scope in which the variables of the pattern have their types."""
        _, names = constraints_of(pattern, variable("matched", type), self.file.constructors)
        return LustreScope(scope.path, scope.context, scope, scope.node, names)

    # Type arguments

    def type_arguments(
        self,
        node: NodeText,
        types: tuple[TypeText, ...],
        values: Iterable[ExpressionText],
        scope: LustreScope,
        at: int,
    ) -> dict[str, Shape]:
        """The arguments of the node's type parameters: those of the call, or those that its values must have."""
        if not node.parameters and not types:
            return {}
        if types:
            self._require_count(node.name, node.parameters, types, at)
            return {p: self.shape(t, scope) for p, t in zip(node.parameters, types, strict=True)}
        given = [t for value in values for t in self.types_of(value, scope)]
        inferred = infer(
            self.file, node.parameters, zip((v.type for v in node.inputs), given, strict=False), self.containers.types
        )
        return self._all_found(node.name, node.parameters, inferred, at)

    def _require_count(self, name: str, parameters: tuple[str, ...], types: tuple[TypeText, ...], at: int) -> None:
        if len(types) != len(parameters):
            text = f"{name} has {plural(len(parameters), 'type parameter')}, and {len(types)} are given"
            raise self.tokens.error(at, text)

    def _all_found(self, name: str, parameters: tuple[str, ...], found: dict[str, Type], at: int) -> dict[str, Shape]:
        for p in parameters:
            if p not in found:
                text = f"the type {p} of {name} does not follow from what is given here"
                raise self.tokens.error(at, text, write=f"{name}@<{', '.join(parameters)}>, with types")
        return {p: Shape(found[p]) for p in parameters}

    def _type_with_arguments(
        self, name: str, types: tuple[TypeText, ...], pairs: list[tuple[TypeText, Type]], scope: LustreScope, at: int
    ) -> Type:
        """The type of that name, with arguments that are given or follow."""
        parameters = self.file.parameters.get(name, ())
        if types or not parameters:
            return self.named_shape(name, at, tuple(self.shape(t, scope) for t in types)).type
        found = self._all_found(name, parameters, infer(self.file, parameters, pairs, self.containers.types), at)
        return self.named_shape(name, at, tuple(found.values())).type

    def union_type(self, e: ExpressionText, scope: LustreScope, given: list[Type]) -> Type:
        """The type of a value with a constructor, whose fields have these types."""
        name, types = e.value
        union = self.file.constructors[name]
        fields = next(c.fields for c in self.file.types[union].value if c.name == name)
        pairs = [(text, type) for (_, text), type in zip(fields, given, strict=False)]
        return self._type_with_arguments(union, types, pairs, scope, e.at)

    def record_type(self, e: ExpressionText, scope: LustreScope, given: list[Type]) -> Type:
        """The type of a record, whose fields have these types."""
        text, names = e.value
        name, types = text.value if text.kind == "applied" else (text.value, ())
        declared = self.file.types.get(name)
        fields = dict(declared.value) if declared is not None and declared.kind == "record" else {}
        pairs = [(fields[n], type) for n, type in zip(names, given, strict=False) if n in fields]
        return self._type_with_arguments(name, types, pairs, scope, e.at)

    def container_type(self, e: ExpressionText, scope: LustreScope, given: list[Type]) -> Type:
        """The type of a literal set or map, whose first key and value have these types."""
        if e.value:
            return self.shape(TypeText(e.op, e.value, e.at), scope).type
        if not given:
            raise self.tokens.error(e.at, f"what this {e.op} holds is not known", write="{}@<int>, map[]@<int, bool>")
        return self.containers.type(e.op, given[0], given[1] if e.op == "map" else None)

    def tuple_type(self, types: list[Type]) -> Type:
        return self._tuple([Shape(t) for t in types]).type

    def _part_type(self, type: Type, path: list[int | str], at: int) -> Type:
        for step in reversed(path):
            if isinstance(step, int) and isinstance(type, ArrayType):
                type = type.element
            elif isinstance(step, int) and (held := self.containers.types.get(type, (None, None))[1]) is not None:
                type = held
            elif (
                isinstance(step, int)
                and isinstance(type, StructType)
                and type.form == "tuple"
                and step < len(type.fields)
            ):
                type = type.fields[step][1]
            elif isinstance(step, str) and is_union(type):
                type = field_type(type, step)
            elif isinstance(step, str) and isinstance(type, StructType) and step in dict(type.fields):
                type = dict(type.fields)[step]
            else:
                raise self.tokens.error(at, f"{type} has no {'element' if isinstance(step, int) else 'field'} {step}")
        return type


def _between(subrange: TypeText, scope: LustreScope) -> TypeCondition:
    """That a value is in the subrange, where it is asked."""
    low, high = subrange.value
    at = subrange.at
    own = name_expression(f"value {at}", at)
    parts = [] if low is None else [ExpressionText("le", (low, own), None, at)]
    parts += [] if high is None else [ExpressionText("le", (own, high), None, at)]
    whole = parts[0] if len(parts) == 1 else ExpressionText("and", tuple(parts), None, at)
    return TypeCondition(own.value, whole, scope)


def type_of_number(text: str) -> Type:
    if text.startswith("0x"):
        return REAL if "." in text or "p" in text else INT
    return INT if text.isdigit() else REAL
