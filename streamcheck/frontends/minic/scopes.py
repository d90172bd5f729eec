"""What names mean, block by block: variables, constants of enums, typedefs, structs, and the types of declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.frontends.minic import kinds
from streamcheck.frontends.minic.arithmetic import Value
from streamcheck.frontends.minic.kinds import Array, Kind, Pointer, Struct
from streamcheck.frontends.minic.places import Place, Target


@dataclass(frozen=True, slots=True)
class Typedef:
    kind: Kind


@dataclass(slots=True)
class PointerVariable:
    """A pointer: what it points into is known as the program is read, only how far may change as it runs."""

    name: str
    kind: Pointer
    moving: Callable[[], Place]  # the variable for `offset`, made when it is needed
    target: Target | None = None
    offset: Place | None = None  # the variable with how far it is, for one that the program changes
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Function:
    name: str
    result: Kind
    parameters: tuple[tuple[str, Kind], ...]
    body: Any  # None: declared only
    where: Location
    static: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """A place and what it held, both wanted later."""

    place: Place
    value: Result


Result: TypeAlias = Value | Place | Target | Pair | None  # None: of a call of a void function
Meaning: TypeAlias = Place | Value | Typedef | Function | PointerVariable


@dataclass(slots=True)
class Scope:
    outer: Scope | None = None
    names: dict[str, Meaning] = field(default_factory=dict)
    tags: dict[str, Kind] = field(default_factory=dict)

    def find(self, name: str) -> Meaning | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def tag(self, name: str) -> Kind | None:
        scope: Scope | None = self
        while scope is not None:
            if name in scope.tags:
                return scope.tags[name]
            scope = scope.outer
        return None


class Types:
    """The types that declarations write, in a scope. `constant` evaluates sizes and the codes of enums."""

    def __init__(self, constant: Callable[[Any], int], number: Callable[[kinds.Integer, int], Value]) -> None:
        self.constant = constant
        self.number = number

    def of(self, node: Any, scope: Scope) -> Kind:
        """The type of a declaration, a parameter or a type name."""
        match node.__class__.__name__:
            case "Decl" | "Typename" | "Typedef" | "TypeDecl":
                return self.of(node.type, scope)
            case "IdentifierType":
                return self._words(node, scope)
            case "Enum":
                return self._enum(node, scope)
            case "Struct":
                return self._struct(node, scope)
            case "ArrayDecl":
                return self._array(node, scope)
            case "PtrDecl":
                if node.type.__class__.__name__ == "FuncDecl":
                    raise SpecError("pointers to functions are not read", where_of(node))
                return Pointer(self._pointed(node.type, scope))
            case "Union":
                raise SpecError("unions are not read", where_of(node))
        raise SpecError(f"a declaration of this form ({node.__class__.__name__}) is not read", where_of(node))

    def _pointed(self, node: Any, scope: Scope) -> Kind:
        inner: Any = getattr(node, "type", None)
        if inner.__class__.__name__ == "Struct" and inner.name and inner.decls is None and not scope.tag(inner.name):
            return kinds.VOID  # a struct nobody has defined: only pointers to it can be had
        refuse_volatile(node)
        return self.of(node, scope)

    def _words(self, node: Any, scope: Scope) -> Kind:
        names = list(node.names)
        if len(names) == 1:
            found = scope.find(names[0])
            if isinstance(found, Typedef):
                return found.kind
        kind = kinds.BASES.get(" ".join(sorted(names)))
        if kind is None:
            raise SpecError(f"the type {' '.join(names)} is not read", where_of(node))
        return kind

    def _array(self, node: Any, scope: Scope) -> Kind:
        element = self.of(node.type, scope)
        if node.dim is None:
            return Pointer(element)  # of a parameter; a variable takes its length from its initialiser
        try:
            length = self.constant(node.dim)
        except SpecError:
            raise SpecError("an array needs a size that is a constant", where_of(node)) from None
        if length <= 0:
            raise SpecError(f"an array of {length} elements", where_of(node))
        return Array(element, length)

    def signature(self, decl: Any, body: Any, scope: Scope) -> Function:
        parameters = []
        for parameter in decl.type.args.params if decl.type.args else ():
            if parameter.__class__.__name__ == "EllipsisParam":
                if body is not None:
                    raise SpecError(f"{decl.name} takes any number of arguments", where_of(decl))
                continue
            kind = self.of(parameter, scope)
            if kind == kinds.VOID:
                continue
            if isinstance(kind, Array):
                kind = Pointer(kind.element)
            parameters.append((getattr(parameter, "name", None) or "", kind))
        result = self.of(decl.type.type, scope)
        return Function(decl.name, result, tuple(parameters), body, where_of(decl), "static" in decl.storage)

    def _enum(self, node: Any, scope: Scope) -> Kind:
        """gcc and clang compute with unsigned int where no member is negative."""
        if node.values is None:
            found = scope.tag(node.name)
            if found is None:
                raise SpecError(f"the enum {node.name} is not defined", where_of(node))
            return found
        code, least = -1, 0
        for member in node.values.enumerators:
            code = code + 1 if member.value is None else self.constant(member.value)
            if not kinds.INT.low <= code <= kinds.INT.high:
                raise SpecError(f"{member.name} does not fit int", where_of(member))
            least = min(least, code)
            scope.names[member.name] = self.number(kinds.INT, code)
        kind: Kind = kinds.UINT if least >= 0 else kinds.INT
        if node.name:
            scope.tags[node.name] = kind
        return kind

    def _struct(self, node: Any, scope: Scope) -> Kind:
        if node.decls is None:
            found = scope.tag(node.name)
            if found is None:
                raise SpecError(f"the struct {node.name} is not defined", where_of(node))
            return found
        kind = Struct(node.name or "", tuple(self._fields(node, scope)))
        if node.name:
            scope.tags[node.name] = kind
        return kind

    def _fields(self, node: Any, scope: Scope) -> Iterator[tuple[str, Kind]]:
        for decl in node.decls:
            if getattr(decl, "bitsize", None) is not None:
                raise SpecError("bit-fields are not read", where_of(decl))
            if decl.name is None:
                raise SpecError("a field without a name is not read", where_of(decl))
            refuse_volatile(decl)
            yield decl.name, self.of(decl, scope)


def refuse_volatile(node: Any) -> None:
    """Only whole variables are said to be volatile."""
    inner = node
    while inner is not None:
        if "volatile" in (getattr(inner, "quals", None) or ()):
            raise SpecError("volatile is read on variables only, not on fields or behind pointers", where_of(node))
        inner = getattr(inner, "type", None)


def where_of(node: Any) -> Location:
    """The line of a node: its own, or the first below it."""
    stack = [node]
    while stack:
        current = stack.pop()
        coord = getattr(current, "coord", None)
        if coord is not None and coord.line:
            return Location(str(coord.file), int(coord.line))
        stack.extend(child for _, child in reversed(current.children()))
    return Location("", 0)
