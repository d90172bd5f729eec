"""Terms and types as flat tables of plain values, for pipes and files: nested pickles of deep terms overflow.

`TermWriter` numbers each type and term once; a reader rebuilds them in order, through the ordinary constructors, which
check them again.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from streamcheck.core.location import Location
from streamcheck.core.term import Term, constant, plain, term, variable, walk
from streamcheck.core.types import (
    MOST_BITS,
    SCALARS,
    ArrayType,
    EnumType,
    StructType,
    Type,
    Value,
    array_of,
    enum_of,
    machine,
    struct_of,
)

SPECIAL = frozenset(("const", "var", "cast", "array", "struct", "field", "with_field"))  # rows with more than arguments


class TermWriter:
    def __init__(self) -> None:
        self.types: list[Any] = []
        self.terms: list[list[Any]] = []
        self._type_numbers: dict[Type, int] = {}
        self._term_numbers: dict[Term, int] = {}
        self._done: set[Term] = set()

    def type(self, type_: Type) -> int:
        number = self._type_numbers.get(type_)
        if number is None:
            row = self._type_row(type_)
            number = self._type_numbers[type_] = len(self.types)
            self.types.append(row)
        return number

    def _type_row(self, type_: Type) -> Any:
        match type_:
            case ArrayType():
                return {"array": self.type(type_.element), "length": type_.length}
            case StructType():
                row = {"struct": type_.name, "fields": [[n, self.type(t)] for n, t in type_.fields]}
                return row if type_.form == "record" else row | {"form": type_.form}
            case EnumType():
                return {"enum": type_.name, "members": [list(m) for m in type_.members]}
        return str(type_)

    def term(self, root: Term) -> int:
        numbers = self._term_numbers
        if root in numbers:
            return numbers[root]
        for node in walk([root], self._done):
            args = [numbers[a] for a in node.args]
            numbers[node] = len(self.terms)
            self.terms.append(self._term_row(node, args) if node.op in SPECIAL else [node.op, *args])
        return numbers[root]

    def _term_row(self, node: Term, args: list[int]) -> list[Any]:
        match node.op:
            case "const":
                return ["const", self.type(node.type), plain(node.payload)]
            case "var":
                return ["var", self.type(node.type), node.payload]
            case "cast" | "array" | "struct":
                return [node.op, self.type(node.type), *args]
            case "field" | "with_field":
                return [node.op, node.payload, *args]
        raise ValueError(node.op)


class TermReader:
    def __init__(self, types: list[Any], terms: list[list[Any]]) -> None:
        self.types: list[Type] = []
        self.terms: list[Term] = []
        for row in types:
            self.add_type(row)
        for term_row in terms:
            self.add_term(term_row)

    def add_type(self, row: Any) -> None:
        self.types.append(self._type(row))

    def add_term(self, row: list[Any]) -> None:
        op = row[0]
        known = self.terms
        known.append(self._term(*row) if op in SPECIAL else term(op, *[known[i] for i in row[1:]]))

    def _type(self, row: Any) -> Type:
        if isinstance(row, str):
            return SCALARS.get(row) or _other_width(row)
        if "array" in row:
            return array_of(self.types[row["array"]], row["length"])
        if "struct" in row:
            fields = tuple((n, self.types[t]) for n, t in row["fields"])
            return struct_of(row["struct"], fields, row["form"]) if "form" in row else struct_of(row["struct"], fields)
        return enum_of(row["enum"], tuple((n, c) for n, c in row["members"]))

    def _term(self, op: str, *rest: Any) -> Term:
        match op:
            case "const":
                return constant(self.types[rest[0]], from_plain(self.types[rest[0]], rest[1]))
            case "var":
                return variable(rest[1], self.types[rest[0]])
            case "cast" | "array" | "struct":
                return term(op, *(self.terms[i] for i in rest[1:]), payload=self.types[rest[0]])
            case "field" | "with_field":
                return term(op, *(self.terms[i] for i in rest[1:]), payload=rest[0])
        raise ValueError(op)


def _other_width(row: str) -> Type:
    """A machine integer of a width that only files of other tools have."""
    match = re.fullmatch(r"(Int|Word)([1-9]\d*)", row)
    if match is None or int(match[2]) > MOST_BITS:
        raise KeyError(row)
    return machine(int(match[2]), signed=match[1] == "Int")


def from_plain(type_: Type, value: Any) -> Value:
    """The inverse of `term.plain`."""
    match type_:
        case ArrayType():
            return tuple(from_plain(type_.element, v) for v in value)
        case StructType():
            return tuple(from_plain(t, v) for (_, t), v in zip(type_.fields, value, strict=True))
    if isinstance(value, str) and type_.kind == "float":
        return float(value)
    if isinstance(value, str) and type_.kind == "real":
        return Fraction(value)
    result: Value = value
    return result


def location_row(where: Location | None) -> list[Any] | None:
    return None if where is None else [where.file, where.line]


def location(row: list[Any] | None) -> Location | None:
    return None if row is None else Location(row[0], row[1])
