"""The meanings of names, block by block, and the kinds that declarations give."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, TypeAlias

from streamcheck.c import kinds
from streamcheck.c.arithmetic import Arithmetic, CValue, Dialect
from streamcheck.c.kinds import AnyKind, Array, FunctionType, Incomplete, Integer, Opaque, Pointer, Struct, Void
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.models import LP64, DataModel
from streamcheck.c.syntax import form, where_of
from streamcheck.core.errors import SpecError
from streamcheck.core.floats import f32
from streamcheck.core.location import Location
from streamcheck.core.term import Term, constant

ANONYMOUS = "member "  # a struct or union without a name in another one (6.7.2.1): its fields are those of the other
VOLATILE = "volatile is supported on variables only, not on fields or behind pointers"


@dataclass(frozen=True, slots=True)
class Typedef:
    kind: AnyKind


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    result: AnyKind
    parameters: tuple[tuple[str, AnyKind], ...]
    body: Any  # None: declared only
    where: Location
    static: bool = False
    restricted: frozenset[str] = frozenset()  # the parameters that are `restrict`
    constant: frozenset[str] = frozenset()  # those that are const


@dataclass(frozen=True, slots=True)
class Pointee:
    """The target of a pointer: an lvalue, or an element of the array that an lvalue designates. If it is not `sure`,
    the pointer may not have been assigned yet, and `offset` is then any value."""

    lvalue: Lvalue
    offset: CValue | None = None  # None: the lvalue itself
    sure: bool = True
    bytes: bool = field(default=False, compare=False)  # it is a pointer to void, which moves by bytes
    variable: PointerVariable | None = field(default=None, compare=False)  # that it is the value of

    @property
    def kind(self) -> AnyKind:
        kind = self.lvalue.kind
        return kind.element if self.offset is not None and isinstance(kind, Array) else kind


@dataclass(slots=True)
class PointerVariable:
    """A pointer. The array or variable it points into is known as the program is read; the offset may change as it
    runs."""

    name: str
    kind: Pointer
    moving: Callable[[], Lvalue]  # makes the variable for `offset`
    target: Pointee | None = None
    offset: Lvalue | None = None  # the variable of the offset, for a pointer that the program changes
    sure: bool = True
    key: Any = None  # of its declaration


@dataclass(frozen=True, slots=True)
class Updated:
    """The left side of a compound assignment: the lvalue, and its value before."""

    lvalue: Lvalue
    before: CResult


@dataclass(frozen=True, slots=True)
class Address:
    """The value of a pointer that the program computes: a number (`frontends.minic.addresses`). `moved`: it is this
    number and so many elements."""

    kind: Pointer
    term: Term
    moved: tuple[Term, Term] | None = None


CResult: TypeAlias = CValue | Lvalue | Pointee | Address | Updated | None  # None: the result of a void function
Meaning: TypeAlias = Lvalue | CValue | Typedef | Function | PointerVariable | Opaque


@dataclass(slots=True)
class NameScope:
    outer: NameScope | None = None
    names: dict[str, Meaning] = field(default_factory=dict)
    tags: dict[str, AnyKind] = field(default_factory=dict)
    levels: dict[Any, int] = field(default_factory=dict)  # the effects of expressions that were asked for

    def meaning(self, name: str) -> Meaning | None:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def tag(self, name: str) -> AnyKind | None:
        scope: NameScope | None = self
        while scope is not None:
            if name in scope.tags:
                return scope.tags[name]
            scope = scope.outer
        return None


@cache
def standard_names(dialect: Dialect, model: DataModel = LP64) -> Mapping[str, Meaning]:
    """The types and constants that the standard library defines, in this dialect."""
    arithmetic = Arithmetic(dialect, lambda *_: None, model)
    portable = dialect is Dialect.PORTABLE
    names: dict[str, Meaning] = {}
    for name, kind in model.typedefs.items():
        if not portable or name in kinds.PORTABLE_TYPEDEFS:
            names[name] = Typedef(kind)
    for name, (number, kind) in model.constants.items():
        if not portable or name in kinds.PORTABLE_CONSTANTS:
            names[name] = arithmetic.number(kind if isinstance(kind, Integer) else model.INT, number)
    if dialect is not Dialect.MATHEMATICAL:
        for name in ("INFINITY", "NAN"):  # 7.12
            names[name] = CValue(kinds.FLOAT, constant(arithmetic.type_of(kinds.FLOAT), float(name)))
    if dialect is Dialect.COMPILED:
        for name, (value, floating) in kinds.FLOATING_CONSTANTS.items():
            if floating == kinds.DOUBLE and model.DOUBLE.width == 32:
                value, floating = _single(name, value), model.DOUBLE
            names[name] = CValue(floating, constant(arithmetic.type_of(floating), value))
    return names


def _single(name: str, value: float) -> float:
    """The value of a constant of `double` where it has 32 bits: that of `float`."""
    return kinds.FLOATING_CONSTANTS[name.replace("DBL", "FLT")][0] if name.startswith("DBL") else f32(value)


class Declarations:
    """The kinds that declarations give, in a scope. `constant` evaluates sizes and the codes of enums."""

    def __init__(
        self,
        dialect: Dialect,
        constant: Callable[[Any], int],
        number: Callable[[Integer, int], CValue],
        model: DataModel = LP64,
    ) -> None:
        self.model = model
        self.portable = dialect is Dialect.PORTABLE
        self.realigned: Mapping[str, int | None] = {}  # types that are declared with an alignment
        self.constant = constant
        self.number = number
        self.completed: dict[Incomplete, Struct] = {}
        self.tags: list[Incomplete] = []

    def kind_of(self, node: Any, scope: NameScope) -> AnyKind:
        """The kind of a declaration, a parameter or a type name."""
        match form(node):
            case "Decl" if node.name is None and form(node.type) == "Enum":  # an enum without a variable
                return self._enum(node.type, scope)
            case "Decl" | "Typename" | "Typedef" | "TypeDecl":
                return self.kind_of(node.type, scope)
            case "IdentifierType":
                return self._with_names(node, scope)
            case "Enum":
                kind = self._enum(node, scope)
                if self.portable:
                    raise SpecError("the type of an enum depends on the compiler", where_of(node))
                return kind
            case "Struct":
                return self._struct(node, scope)
            case "ArrayDecl":
                return self._array(node, scope)
            case "PtrDecl":
                if form(node.type) == "FuncDecl":
                    return self._function_pointer(node, scope)
                if self.portable and node.quals:
                    raise SpecError(f"a pointer that is {node.quals[0]}", where_of(node))
                return Pointer(self._target_kind(node.type, scope), has_constant_elements(node.type))
            case "FuncDecl":
                return self._code(node, scope)
            case "Union" if self.portable:
                raise SpecError("unions are not supported", where_of(node))
            case "Union":
                return self._struct(node, scope)
        raise SpecError(f"a declaration of this form ({form(node)}) is not supported", where_of(node))

    def typedef_kind(self, node: Any, scope: NameScope) -> AnyKind:
        """The kind of a typedef. Only whole variables may be volatile."""
        base = getattr(getattr(node.type, "type", None), "names", [""])[0]
        if base in self.realigned:
            self.realigned = {**self.realigned, node.name: self.realigned[base]}
        return self._opaque(node.name, VOLATILE, node) if is_volatile(node) else self.kind_of(node, scope)

    def _opaque(self, name: str, reason: str, node: Any, size: int | None = None) -> Opaque:
        """A type that may be declared. In C for any compiler it may not."""
        if self.portable:
            raise SpecError(reason, where_of(node))
        return Opaque(name, reason, bytes=size)

    def _code(self, node: Any, scope: NameScope) -> AnyKind:
        """The type of a function."""
        if self.portable:
            raise SpecError("types of functions are not supported", where_of(node))
        if any(form(p) == "EllipsisParam" for p in (node.args.params if node.args else ())):
            return Opaque("a function", "pointers to variadic functions are not supported")
        result = self.kind_of(node.type, scope)
        if node.args is None:
            return FunctionType(result, None)
        return FunctionType(result, tuple(kind for _, kind in self._parameters("the type of a function", node, scope)))

    def _function_pointer(self, node: Any, scope: NameScope) -> AnyKind:
        """A pointer to a function: a struct may have one, with a signature that is known."""
        name, reason = "a function pointer", "pointers to functions are not supported"
        if not self.portable:
            return Pointer(self._code(node.type, scope))
        if node.type.args is None:
            raise SpecError("a pointer to a function without a prototype", where_of(node))
        result = self.kind_of(node.type.type, scope)
        return Opaque(name, reason, (result, tuple(self._parameters("a pointer", node.type, scope))))

    def _target_kind(self, node: Any, scope: NameScope) -> AnyKind:
        inner: Any = getattr(node, "type", None)
        if form(inner) in ("Struct", "Union") and inner.name and inner.decls is None and not scope.tag(inner.name):
            if self.portable:
                return kinds.VOID  # an incomplete struct: only pointers to it exist
            return self._declare_tag(inner, scope)
        if is_volatile(node):
            return self._opaque("volatile", VOLATILE, node)
        return self.kind_of(node, scope)

    def _with_names(self, node: Any, scope: NameScope) -> AnyKind:
        names = list(node.names)
        if len(names) == 1:
            meaning = scope.meaning(names[0])
            if isinstance(meaning, Typedef):
                return meaning.kind
        kind = self.model.bases.get(" ".join(sorted(names)))
        if kind is None or (self.portable and str(kind).removeprefix("unsigned ") not in kinds.PORTABLE):
            size = self.model.long_double_bytes if sorted(names) == ["double", "long"] else None
            return self._opaque(" ".join(names), f"the type {' '.join(names)} is not supported", node, size)
        return kind

    def _array(self, node: Any, scope: NameScope) -> AnyKind:
        element = self.kind_of(node.type, scope)
        if self.portable and node.dim_quals:
            raise SpecError(f"the size of an array is {node.dim_quals[0]}", where_of(node))
        if node.dim is None:
            return Pointer(element, has_constant_elements(node))  # a parameter's
        try:
            length = self.constant(node.dim)
        except SpecError:
            raise SpecError("the size of an array must be a constant", where_of(node)) from None
        if length <= 0:
            raise SpecError(f"an array cannot have {length} elements", where_of(node))
        return Array(element, length)

    def signature(self, decl: Any, body: Any, scope: NameScope) -> Function:
        params = decl.type.args.params if decl.type.args else ()
        if body is not None and any(form(p) == "EllipsisParam" for p in params):
            raise SpecError(f"{decl.name} is variadic, which is not supported", where_of(decl))
        parameters = list(self._parameters(decl.name, decl.type, scope))
        names = [name for name, _ in parameters if name]
        if len(set(names)) < len(names):
            raise SpecError(f"two parameters of {decl.name} have one name", where_of(decl))
        result = self.kind_of(decl.type.type, scope)
        restricted, constant = (
            frozenset(p.name for p in params if form(p) == "Decl" and qualifier in _qualifiers(p.type))
            for qualifier in ("restrict", "const")
        )
        static = "static" in decl.storage
        return Function(decl.name, result, tuple(parameters), body, where_of(decl), static, restricted, constant)

    def _parameters(self, function: str, node: Any, scope: NameScope) -> Iterator[tuple[str, AnyKind]]:
        params = node.args.params if node.args else ()
        for parameter in params:
            if form(parameter) == "EllipsisParam":
                if self.portable:
                    raise SpecError(f"{function} is variadic, which is not supported", where_of(node))
                continue
            kind = self._parameter_kind(parameter, scope)
            if set(getattr(parameter, "storage", None) or ()) - {"register"}:
                raise SpecError(f"a parameter of {function} is {parameter.storage[0]}", where_of(node))
            if kind == kinds.VOID:
                if len(params) > 1 or getattr(parameter, "name", None):
                    raise SpecError("void must be the only parameter", where_of(node))
                continue
            if isinstance(kind, Array):  # 6.7.5.3
                kind = Pointer(kind.element, has_constant_elements(parameter.type))
            if isinstance(kind, FunctionType):
                kind = Pointer(kind)
            yield getattr(parameter, "name", None) or "", kind

    def _parameter_kind(self, node: Any, scope: NameScope) -> AnyKind:
        """An array is a pointer to its elements: a length that is another parameter does not matter (6.7.5.3)."""
        array: Any = getattr(node, "type", None)
        if not self.portable and form(array) == "ArrayDecl" and form(array.dim) == "ID":
            return Pointer(self.kind_of(array.type, scope), has_constant_elements(array))
        return self.kind_of(node, scope)

    def _enum(self, node: Any, scope: NameScope) -> AnyKind:
        """Members are ints (6.7.2.2). The type itself is unsigned int for gcc and clang if no member is negative."""
        if node.values is None:
            known = scope.tag(node.name)
            if known is None:
                raise SpecError(f"the enum {node.name} is not defined", where_of(node))
            return known
        code = -1
        codes: dict[str, int] = {}
        for member in node.values.enumerators:
            code = code + 1 if member.value is None else self.constant(member.value)
            if self.portable and not self.model.INT.low <= code <= self.model.INT.high:
                raise SpecError(f"{member.name} does not fit int", where_of(member))
            codes[member.name] = code
            scope.names[member.name] = self.number(
                _kind_that_holds(
                    [code],
                    self.model.INT,
                    *self.model.enum_kinds(signed=True),
                    self.model.unsigned_of[self.model.LLONG],
                ),
                code,
            )
        signed = min(codes.values(), default=0) < 0
        kind = _kind_that_holds(codes.values(), *self.model.enum_kinds(signed=signed))
        for name, value in codes.items():  # gcc gives the type of the enum to those that do not fit int
            scope.names[name] = self.number(_kind_that_holds([value], self.model.INT, kind), value)
        if node.name:
            scope.tags[node.name] = kind
        return kind

    def _struct(self, node: Any, scope: NameScope) -> AnyKind:
        if node.decls is None:
            known = self.complete(scope.tag(node.name) or kinds.VOID)
            if isinstance(known, Incomplete) and not self.portable:
                return known
            defined = not isinstance(known, Void | Incomplete)
            return known if defined else self._opaque(f"struct {node.name}", f"{node.name} is not defined", node)
        if node.name and not self.portable and node.name not in scope.tags:
            self._declare_tag(node, scope)
        declared = scope.tags.get(node.name)
        fields, layout = tuple(self._fields(node, scope)), self._layout(node, scope)
        kind = Struct(node.name or "", fields, *layout, _constant_fields(node), form(node) == "Union")
        names = [name for name, _ in kind.fields if name]
        if len(set(names)) < len(names):
            raise SpecError(f"two fields of the struct {node.name or ''} have one name", where_of(node))
        if isinstance(declared, Incomplete):
            self.completed[declared] = kind
        elif scope.tags.get(node.name, kind) != kind:
            if self.portable or declared is None or not self._are_alike(declared, kind):
                raise SpecError(f"the struct {node.name} is defined twice", where_of(node))
            return declared  # of another file
        if node.name:
            scope.tags[node.name] = kind
        return kind

    def _declare_tag(self, node: Any, scope: NameScope) -> Incomplete:
        made = Incomplete(f"{'union' if form(node) == 'Union' else 'struct'} {node.name}", len(self.tags))
        self.tags.append(made)
        scope.tags[node.name] = made
        return made

    def complete(self, kind: AnyKind) -> AnyKind:
        """The kind that a declaration further on has given an incomplete one."""
        return self.completed.get(kind, kind) if isinstance(kind, Incomplete) else kind

    def are_same(self, a: AnyKind, b: AnyKind) -> bool:
        """Both are the same type, but for qualifiers. A function without a prototype is like any of its result."""
        a, b = self.complete(a), self.complete(b)
        if isinstance(a, Pointer) and isinstance(b, Pointer):
            return self.are_same(a.target, b.target)
        if isinstance(a, Array) and isinstance(b, Array):
            return a.length == b.length and a.count is b.count and self.are_same(a.element, b.element)
        if isinstance(a, FunctionType) and isinstance(b, FunctionType):
            if not self.are_same(a.result, b.result) or a.parameters is None or b.parameters is None:
                return self.are_same(a.result, b.result)
            same = len(a.parameters) == len(b.parameters)
            return same and all(map(self.are_same, a.parameters, b.parameters))
        return a == b

    def _are_alike(self, a: AnyKind, b: AnyKind) -> bool:
        """Two definitions have the same fields, which may be pointers to the type itself."""
        if isinstance(a, Array) and isinstance(b, Array) and a.length == b.length:
            return self._are_alike(a.element, b.element)
        if not isinstance(a, Struct) or not isinstance(b, Struct):
            return self.are_same(a, b)
        same = replace(a, fields=()) == replace(b, fields=()) and len(a.fields) == len(b.fields)
        pairs = zip(a.fields, b.fields, strict=False)
        return same and all(m == n and self._are_alike(x, y) for (m, x), (n, y) in pairs)

    def _layout(self, node: Any, scope: NameScope) -> tuple[bool, int | None]:
        """The layout that attributes give: true if the fields follow each other, and the alignment."""
        packed, aligned = False, 1
        for decl in node.decls:
            if form(decl) != "Pragma":
                if not self._is_aligned_by_its_type(decl, scope):
                    return packed, None
                continue
            _, what, number = decl.string.value.strip('"').split()
            packed |= what == "packed"
            if number == "?":
                return packed, None
            aligned = max(aligned, int(number))
        return packed, aligned

    def alignment_of(self, node: Any, scope: NameScope) -> int:
        """The alignment of a type name."""
        kind = self.kind_of(node, scope)
        if not self._is_aligned_by_its_type(node, scope):
            raise SpecError("an attribute changes the alignment of the type: it is not known", where_of(node))
        return self.model.alignment(kind)

    def _is_aligned_by_its_type(self, decl: Any, scope: NameScope) -> bool:
        """The field has the alignment of its kind: no typedef in it gives it another one."""
        inner = decl.type
        while form(inner) in ("ArrayDecl", "TypeDecl"):
            inner = inner.type
        name = inner.names[0] if form(inner) == "IdentifierType" else ""
        return name not in self.realigned or self.realigned[name] == self.model.alignment(self.kind_of(inner, scope))

    def _is_incomplete(self, decl: Any, scope: NameScope) -> bool:
        """The declared object would hold a struct that is not defined here."""
        inner = decl.type
        while form(inner) in ("ArrayDecl", "TypeDecl"):
            inner = inner.type
        if form(inner) not in ("Struct", "Union") or inner.decls is not None:
            return False
        known = scope.tag(inner.name)
        return known is None or isinstance(self.complete(known), Incomplete)

    def _fields(self, node: Any, scope: NameScope) -> Iterator[tuple[str, AnyKind]]:
        number = 1
        for decl in node.decls:
            if form(decl) == "Pragma":
                continue
            if decl.name is None and form(decl.type) in ("Struct", "Union") and not self.portable:
                yield f"{ANONYMOUS}{number}", self.kind_of(decl, scope)
                number += 1
            elif decl.name is None or getattr(decl, "bitsize", None) is not None:
                what = "fields without a name" if decl.name is None else "bit-fields"
                yield decl.name or "", self._opaque("a field", f"{what} are not supported", decl)
            elif self._is_incomplete(decl, scope):
                message = f"the field {decl.name} has a type that is not complete here; write a pointer to it"
                raise SpecError(message, where_of(decl))
            elif form(decl.type) == "ArrayDecl" and decl.type.dim is None:
                yield decl.name, self._opaque("a field", "arrays without a length in a struct are not supported", decl)
            elif is_volatile(decl):
                yield decl.name, self._opaque("a field", VOLATILE, decl)
            elif "restrict" in _qualifiers(decl.type):
                yield decl.name, self._opaque("a field", "restrict is supported on parameters only", decl)
            elif self.portable and (decl.storage or (decl.quals and form(decl.type) != "PtrDecl")):
                raise SpecError(f"the field {decl.name} has a qualifier", where_of(decl))
            else:
                yield decl.name, self.kind_of(decl, scope)


def _kind_that_holds(values: Collection[int], *choices: Integer) -> Integer:
    """The first of the kinds that holds all the values, or the last."""
    return next((k for k in choices if all(k.low <= v <= k.high for v in values)), choices[-1])


def _qualifiers(node: Any) -> Collection[str]:
    return getattr(node, "dim_quals", None) or getattr(node, "quals", None) or ()


def _constant_fields(node: Any) -> frozenset[str]:
    fields = [d for d in node.decls if form(d) == "Decl" and form(d.type) != "PtrDecl"]
    return frozenset(d.name for d in fields if has_constant_elements(d.type))


def has_constant_elements(node: Any) -> bool:
    """The declared type, or that of the elements of the array, is const."""
    while form(node) == "ArrayDecl":
        node = node.type
    return "const" in (getattr(node, "quals", None) or ())


def refuse_volatile(node: Any) -> None:
    """Only whole variables may be volatile."""
    if is_volatile(node):
        raise SpecError(VOLATILE, where_of(node))


def is_volatile(node: Any) -> bool:
    """The declared type, or a part of it, is volatile."""
    inner = node
    while inner is not None:
        if "volatile" in (getattr(inner, "quals", None) or ()):
            return True
        inner = getattr(inner, "type", None)
    return False
