"""What a translation unit declares: types, enumeration constants, functions, file-scope objects; and literals."""

from __future__ import annotations

import re
from typing import Any

from streamcheck.core.floats import to_f32, to_f64
from streamcheck.core.term import Term, constant
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, Type, array_of, machine, struct_of
from streamcheck.validate.arithmetic import INT, LONG, ULONG, UNSIGNED, constants
from streamcheck.validate.memory import PointerType
from streamcheck.validate.reader import Refused

SCALARS: dict[str, Type] = {f"{u}int{w}_t": machine(w, signed=not u) for u in ("", "u") for w in (8, 16, 32, 64)}
SCALARS |= {"bool": BOOL, "_Bool": BOOL, "int": INT, "unsigned": UNSIGNED, "float": FLOAT, "double": DOUBLE}


class Declarations:
    def __init__(self, tree: Any) -> None:
        self.types: dict[str, Any] = dict(SCALARS)
        self.structs: dict[str, Type] = {}
        self.constants: dict[str, Term] = dict(constants())
        self.functions: dict[str, Any] = {}
        self.prototypes: dict[str, Any] = {}
        self.objects: list[Any] = []
        self._inside: dict[int, Any] = {}
        for node in tree.ext:
            self._declare(node)

    def _declare(self, node: Any) -> None:
        kind = node.__class__.__name__
        if kind == "Typedef":
            if node.name not in self.types and node.name != "size_t":
                self.types[node.name] = self.type_of(node.type, node.name)
        elif kind == "FuncDef":
            self.functions[node.decl.name] = node
            self._note_returns(node.body, node.decl)
        elif kind == "Decl" and node.type.__class__.__name__ == "FuncDecl":
            self.prototypes[node.name] = node
        elif kind == "Decl" and node.name is None:
            self.type_of(node.type)
        elif kind == "Decl":
            self.objects.append(node)
        else:
            raise Refused(f"{kind} at file scope")

    def _note_returns(self, node: Any, function: Any) -> None:
        if node.__class__.__name__ == "Return":
            self._inside[id(node)] = function
        for _, child in node.children():
            self._note_returns(child, function)

    def function_of(self, node: Any) -> Any:
        return self._inside[id(node)]

    def result(self, declaration: Any) -> Any:
        return self.type_of(declaration.type.type)

    def parameters(self, declaration: Any) -> list[tuple[str, Type]]:
        given = declaration.type.args
        if given is None:
            raise Refused("a function without a prototype")
        found = []
        for parameter in given.params:
            type = self.type_of(parameter.type, parameter=True)
            if type is not None:
                found.append((parameter.name, type))
        return found

    def type_of(self, node: Any, name: str = "", *, parameter: bool = False) -> Any:
        """The type of a declarator; None is void."""
        kind = node.__class__.__name__
        if kind in ("TypeDecl", "Typename"):
            return self.type_of(node.type, name)
        if kind == "IdentifierType":
            word = " ".join(node.names)
            if word == "void":
                return None
            if word not in self.types:
                raise Refused(f"the type {word}")
            return self.types[word]
        if kind == "PtrDecl":
            return PointerType(self.type_of(node.type), "const" in (node.type.quals or ()))
        if kind == "ArrayDecl":
            element = self.type_of(node.type)
            made = array_of(element, self._length(node.dim))
            return PointerType(made, _is_const(node)) if parameter else made
        if kind == "Struct":
            return self._struct(node, name)
        if kind == "Enum":
            for member in node.values.enumerators if node.values is not None else ():
                self.constants[member.name] = self._enumerator(member.value)
            return INT
        raise Refused(f"the declarator {kind}")

    def _struct(self, node: Any, name: str) -> Type:
        tag = node.name or name
        if node.decls is not None:
            fields = tuple((d.name, self.type_of(d.type)) for d in node.decls)
            self.structs[tag] = struct_of(tag, fields)
        if tag not in self.structs:
            raise Refused(f"struct {tag}, which is not defined")
        return self.structs[tag]

    def _length(self, node: Any) -> int:
        while node.__class__.__name__ == "Cast":
            node = node.expr
        return int(self.literal(node).payload)

    def _enumerator(self, node: Any) -> Term:
        if node.__class__.__name__ == "UnaryOp" and node.op == "-":
            return constant(INT, -int(self.literal(node.expr).payload))
        return constant(INT, int(self.literal(node).payload))

    def literal(self, node: Any) -> Term:
        """A literal, and its type (6.4.4)."""
        text = node.value.lower()
        if node.type in ("float", "double", "long double"):
            if text.endswith("l") or text.startswith("0x"):
                raise Refused(f"the literal {node.value}")
            exact = _fraction(text.removesuffix("f"))
            return constant(FLOAT, to_f32(exact)) if text.endswith("f") else constant(DOUBLE, to_f64(exact))
        match = re.fullmatch(r"(0x[0-9a-f]+|0|[1-9]\d*)(u?)", text)
        if match is None:
            raise Refused(f"the literal {node.value}")
        value, unsigned = int(match[1], 0), bool(match[2])
        decimal = not text.startswith("0x")
        for type in (INT, UNSIGNED, LONG, ULONG):
            if (
                type.low <= value <= type.high
                and (type.signed or unsigned or not decimal)
                and not (unsigned and type.signed)
            ):
                return constant(type, value)
        if decimal and value <= ULONG.high:
            return constant(ULONG, value)  # only as the operand of UINT64_C, which makes it unsigned
        raise Refused(f"the literal {node.value}")


def _fraction(text: str) -> Any:
    from fractions import Fraction

    return Fraction(text)


def _is_const(node: Any) -> bool:
    while node.__class__.__name__ == "ArrayDecl":
        node = node.type
    return "const" in (node.quals or ())
