"""Calls of memset, memcpy, strlen and the like, on arrays and variables whose size the text gives (7.21).

A function reads whole arrays and changes them on one edge, without a loop: every element has the value that it has
after the call. What C leaves undefined is a claim: bytes outside of the array, a string without its zero, and objects
that overlap.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from streamcheck.c import effects, kinds, pointers
from streamcheck.c.arithmetic import CValue, SideCondition
from streamcheck.c.declarations import CResult, Pointee
from streamcheck.c.initial import string
from streamcheck.c.kinds import (
    AnyKind,
    Array,
    Floating,
    FunctionType,
    Incomplete,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
)
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import form
from streamcheck.c.terms import recast
from streamcheck.core.simplify import conjunction, disjunction, either, negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import ArrayType, FloatType, array_of, plural
from streamcheck.frontends.minic.order import same_place
from streamcheck.frontends.minic.unions import union_part

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions

PARAMETERS = {
    "memset": 3,
    "memcpy": 3,
    "memmove": 3,
    "memcmp": 3,
    "strlen": 1,
    "strnlen": 2,
    "strcpy": 2,
    "strncpy": 3,
    "strcat": 2,
    "strncat": 3,
    "strcmp": 2,
    "strncmp": 3,
}
LENGTHS = ("strlen", "strnlen")
ORDERS = ("memcmp", "strcmp", "strncmp")


@dataclass(frozen=True, slots=True)
class Region:
    """The elements of an array from an offset on. A string literal has no lvalue."""

    lvalue: Lvalue | None
    array: Term
    length: int
    offset: Term
    element: Integer | Floating


class MemoryCalls:
    def __init__(self, expressions: Expressions) -> None:
        self.to = expressions

    def has(self, name: str) -> bool:
        return _plain(name) in PARAMETERS

    def result_kind(self, name: str) -> AnyKind | None:
        plain = _plain(name)
        if plain not in PARAMETERS:
            return None
        if plain in LENGTHS:
            return self.to.model.size
        if plain in ORDERS:
            return self.to.model.INT
        return Pointer(kinds.VOID if plain.startswith("mem") else self.to.model.CHAR)

    def call(self, name: str, arguments: list[Any], node: Any) -> CResult:
        plain, to = _plain(name), self.to
        if len(arguments) != PARAMETERS[plain]:
            raise to.error(f"{name} takes {plural(PARAMETERS[plain], 'argument')}, found {len(arguments)}", node)
        if any(effects.level(a, to.scope) == effects.ACTS for a in arguments):
            raise to.error(f"{to.text(node)}: side effects in an argument of {name}; assign the value first", node)
        match plain:
            case "memset":
                return self._memset(arguments, node)
            case "memcpy" | "memmove":
                return self._copy(arguments, node, apart=plain == "memcpy")
            case "strlen" | "strnlen":
                return self._length(arguments)
            case "memcmp" | "strcmp" | "strncmp":
                return self._order(plain, arguments, node)
        return self._string_copy(plain, arguments, node)

    # Arguments

    def _pointee(self, node: Any) -> Pointee:
        """The target of an argument, whatever its type: these functions see bytes."""
        while form(node) == "Cast" and isinstance(self.to.declarations.kind_of(node.to_type, self.to.scope), Pointer):
            node = node.expr
        pointee = pointers.pointee_of(self.to.value(node), self.to, node)
        self.to.require_alive(pointee.lvalue)
        if pointee.offset is not None and not pointers.is_in_array(pointee.lvalue, pointee.offset):
            text = self.to.text(node)
            raise self.to.error(f"{text}: a field of an element as bytes is not supported; assign it", node)
        return pointee

    def _region(self, node: Any) -> Region:
        to = self.to
        if form(node) == "Constant" and node.type == "string":
            codes = string(node, to)
            array = constant(array_of(to.type_of(self.to.model.CHAR), len(codes)), tuple(codes))
            return Region(None, array, len(codes), self._long(0), self.to.model.CHAR)
        return self._region_of(self._pointee(node), node)

    def _region_of(self, pointee: Pointee, node: Any) -> Region:
        lvalue, kind = pointee.lvalue, pointee.lvalue.kind
        if self.to.numbers.has(lvalue):
            text = self.to.text(node)
            raise self.to.error(f"{text}: bytes behind a pointer that is computed; write a loop", node)
        self.to.note(lvalue, writes=False, depth=1)
        if lvalue.object.volatile:
            raise self.to.error(f"{self.to.text(node)} is volatile", node)
        if isinstance(kind, Integer | Floating):
            value = self.to.read_scalar(lvalue).term
            array = term("array", value, payload=array_of(value.type, 1))
            return Region(lvalue, array, 1, self._long(0), kind)
        if not isinstance(kind, Array) or not isinstance(kind.element, Integer | Floating):
            raise self.to.error(f"{self.to.text(node)}: a part of {kind} as bytes is not supported", node)
        if kind.count is not None:
            message = f"{self.to.text(node)}: an array of variable length as bytes is not supported; write a loop"
            raise self.to.error(message, node)
        offset = pointee.offset.term if pointee.offset is not None else self._long(0)
        return Region(lvalue, self.to.storage.read(lvalue), kind.length, offset, kind.element)

    def _string(self, node: Any) -> Region:
        region = self._region(node)
        if not isinstance(region.element, Integer) or region.element.width != 8:
            raise self.to.error(f"{self.to.text(node)} is not an array of characters", node)
        return region

    def _long(self, value: int) -> Term:
        return self.to.arithmetic.number(kinds.LONG, value).term

    def _count(self, node: Any) -> Term:
        value = self.to.arithmetic.convert(self.to.scalar(node), self.to.model.size)
        return self.to.arithmetic.convert(value, kinds.LONG).term

    def _elements(self, count: Term, element: Integer | Floating, node: Any) -> Term:
        """A number of bytes as one of elements."""
        size = self.to.model.size_of(element)
        if size == 1:
            return count
        if not count.is_const or count.payload % size:
            message = (
                f"{self.to.text(node)}: the number of bytes must be a constant multiple of {size}, as for {element}"
            )
            raise self.to.error(message, node)
        return self._long(count.payload // size)

    # Elements

    def _element(self, region: Region, place: int) -> Term:
        """An element by its place in the array."""
        return simple_term("index", region.array, self._long(place))

    def _element_at(self, region: Region, place: Term) -> Term:
        if place.is_const:
            return (
                self._element(region, place.payload) if 0 <= place.payload < region.length else self._element(region, 0)
            )
        return simple_term("index", region.array, place)

    def _holds_in(self, region: Region, count: Term) -> Term:
        """The array has so many elements from the offset on."""
        zero, length = self._long(0), self._long(region.length)
        return conjunction(
            simple_term("ge", region.offset, zero),
            simple_term("le", region.offset, length),
            simple_term("ge", count, zero),
            simple_term("le", count, simple_term("sub", length, region.offset)),
        )

    def _require(self, holds: Term, condition: SideCondition = SideCondition.INDEX) -> None:
        self.to.arithmetic.oblige(condition, holds)

    def _write(self, region: Region, count: Term, value: Callable[[Term], Term], node: Any) -> None:
        """Gives the first `count` elements the values by their distance from the offset."""
        lvalue, to = region.lvalue, self.to
        if lvalue is None:
            raise to.error(f"{to.text(node)}: it changes a string literal", node)
        to.refuse_constant(lvalue, node)
        end = simple_term("add", region.offset, count)
        parts = []
        for place in range(region.length):
            at = self._long(place)
            inside = conjunction(simple_term("ge", at, region.offset), simple_term("lt", at, end))
            old = self._element(region, place)
            new = old if inside is FALSE else value(simple_term("sub", at, region.offset))
            parts.append(either(inside, new, old))
        new_array = term("array", *parts, payload=region.array.type)
        new = new_array if isinstance(lvalue.kind, Array) else parts[0]
        to.flow.step(to.where, to.text(node), to.storage.update(lvalue, new))
        to.note(lvalue, writes=True, depth=1)

    # Blocks of memory

    def _memset(self, arguments: list[Any], node: Any) -> CResult:
        to = self.to
        target, byte, count = arguments
        pointee = self._pointee(target)
        value = to.arithmetic.convert(to.scalar(byte), kinds.UCHAR)
        size = self._count(count)
        if self._is_whole(pointee, size):
            whole = pointee.lvalue
            to.refuse_constant(whole, node)
            parts = [(part, self._with_bytes(part.kind, value, node)) for part in whole.scalars()]
            to.flow.step(to.where, to.text(node), *to.storage.updates(parts))
            to.note(whole, writes=True, depth=1)
            return pointee
        region = self._region_of(pointee, target)
        elements = self._elements(size, region.element, count)
        filled = self._with_bytes(region.element, value, node)
        self._require(self._holds_in(region, elements))
        self._write(region, elements, lambda _: filled, node)
        return pointee

    def _is_whole(self, pointee: Pointee, size: Term) -> bool:
        """The bytes are those of a whole object."""
        at_start = pointee.offset is None or (pointee.offset.term.is_const and pointee.offset.term.payload == 0)
        return at_start and size.is_const and size.payload == self.to.model.size_of(pointee.lvalue.kind)

    def _with_bytes(self, kind: AnyKind, byte: CValue, node: Any) -> Term:
        """An object all of whose bytes are the same."""
        if isinstance(kind, Integer) and kind.width == 8:
            return self.to.arithmetic.convert(byte, kind).term
        if not byte.term.is_const:
            raise self.to.error(f"{self.to.text(node)}: the byte must be a constant to fill {kind}", node)
        return constant(self.to.type_of(kind), self._pattern(kind, byte.term.payload, node))

    def _pattern(self, kind: AnyKind, byte: int, node: Any) -> Any:
        match kind:
            case Array():
                return (self._pattern(kind.element, byte, node),) * kind.length
            case Floating():
                return struct.unpack("<f" if kind.width == 32 else "<d", bytes([byte]) * kind.bytes)[0]
            case Pointer() if byte == 0:
                return 0
            case Integer() if kind == kinds.BOOLEAN and byte <= 1:
                return bool(byte)
            case Integer() if kind != kinds.BOOLEAN:
                return int.from_bytes(bytes([byte]) * kind.bytes, "little", signed=kind.signed)
            case Struct() if kind.union:
                return int.from_bytes(bytes([byte]) * self.to.model.size_of(kind), "little")
            case Integer() | Void() | Struct() | Pointer() | Opaque() | FunctionType() | Incomplete():
                raise self.to.error(f"{self.to.text(node)}: {kind} cannot have these bytes", node)
        assert_never(kind)

    def _copy(self, arguments: list[Any], node: Any, *, apart: bool) -> CResult:
        to = self.to
        target, source, count = arguments
        pointee = self._pointee(target)
        size = self._count(count)
        if form(source) != "Constant":
            given = self._pointee(source)
            same = pointee.lvalue.kind == given.lvalue.kind
            if same and self._is_whole(pointee, size) and self._is_whole(given, size):
                to.refuse_constant(pointee.lvalue, node)
                if apart:
                    self._require(negation(self._are_same(pointee, given)), SideCondition.OVERLAP)
                pairs = zip(pointee.lvalue.scalars(), given.lvalue.scalars(), strict=True)
                values = [(new, to.storage.read(old)) for new, old in pairs]
                self._require_known_bits(pointee.lvalue, [value for _, value in values])
                to.flow.step(to.where, to.text(node), *to.storage.updates(values))
                to.note(given.lvalue, writes=False, depth=1)
                to.note(pointee.lvalue, writes=True, depth=1)
                return pointee
        into, out = self._region_of(pointee, target), self._region(source)
        if into.element != out.element and {
            self.to.model.size_of(into.element),
            self.to.model.size_of(out.element),
        } != {1}:
            raise to.error(f"{to.text(node)}: {out.element} cannot be copied to {into.element} by bytes", node)
        elements = self._elements(size, into.element, count)
        self._require(conjunction(self._holds_in(into, elements), self._holds_in(out, elements)))
        if apart:
            self._require_apart(into, out, elements)
        if into.lvalue is not None:
            self._require_known_bits(into.lvalue, [into.array])
        self._write(into, elements, self._from(out, into), node)
        return pointee

    def _require_known_bits(self, into: Lvalue, values: list[Term]) -> None:
        """Floats that are copied into a part of a union keep their bits, which are known of those that are no NaN."""
        for value in values if union_part(into, self.to.model) is not None else ():
            inner = value.type
            while isinstance(inner, ArrayType):
                inner = inner.element
            if not isinstance(inner, FloatType):
                continue
            holds = simple_term("eq", value, value) if inner is value.type else FALSE
            self.to.limit("copy of a NaN", "the bits of a NaN are known in a whole union only; copy the union", holds)

    def _from(self, out: Region, into: Region) -> Callable[[Term], Term]:
        """The values of a region, by the distance from its offset, as elements of another."""

        def value(distance: Term) -> Term:
            element = self._element_at(out, simple_term("add", out.offset, distance))
            return recast(element, self.to.type_of(into.element))

        return value

    def _are_same(self, a: Pointee, b: Pointee) -> Term:
        """Two objects of one type are the same one."""
        numbers, sides = self.to.numbers, (a.lvalue, b.lvalue)
        if not any(map(numbers.has, sides)):
            if a.lvalue.object is not b.lvalue.object:
                return FALSE
            return same_place(a.lvalue, b.lvalue, self.to.arithmetic)
        regions = self.to.memory_plan.regions
        if not all(numbers.has(side) or self.to.storage.keys.get(side.object) in regions for side in sides):
            return FALSE  # no pointer that is computed points there
        return simple_term("eq", *(numbers.of(Pointee(side), None).term for side in sides))

    def _require_apart(self, into: Region, out: Region, count: Term) -> None:
        if into.lvalue is None or out.lvalue is None or into.lvalue.object is not out.lvalue.object:
            return
        if (into.lvalue.fields, into.lvalue.indices) != (out.lvalue.fields, out.lvalue.indices):
            reason = "arrays are copied that may share bytes of a union"
            apart = negation(same_place(into.lvalue, out.lvalue, self.to.arithmetic))
            if into.lvalue.fields != out.lvalue.fields and apart is not TRUE:
                self.to.limit("copy within a union", reason, apart)
            return
        before = simple_term("le", simple_term("add", into.offset, count), out.offset)
        after = simple_term("le", simple_term("add", out.offset, count), into.offset)
        nothing = simple_term("eq", count, self._long(0))
        self._require(disjunction(before, after, nothing), SideCondition.OVERLAP)

    # Strings

    def _end(self, region: Region) -> tuple[Term, Term]:
        """The distance from the offset to the first zero, and whether there is one."""
        offset, zero = region.offset, constant(self.to.type_of(region.element), 0)
        first = offset.payload if offset.is_const else 0
        distance, ends = self._long(region.length), FALSE
        for place in range(region.length - 1, max(first, 0) - 1, -1):
            here = simple_term("eq", self._element(region, place), zero)
            if not offset.is_const:
                here = conjunction(here, simple_term("ge", self._long(place), offset))
            distance = either(here, simple_term("sub", self._long(place), offset), distance)
            ends = disjunction(here, ends)
        return distance, conjunction(ends, simple_term("ge", offset, self._long(0)))

    def _length(self, arguments: list[Any]) -> CValue:
        region = self._string(arguments[0])
        distance, ends = self._end(region)
        if len(arguments) == 2:
            limit = self._count(arguments[1])
            self._require(disjunction(ends, self._holds_in(region, limit)))
            distance = self._least(distance, limit)
        else:
            self._require(ends)
        return self.to.arithmetic.convert(CValue(kinds.LONG, distance), self.to.model.size)

    def _least(self, a: Term, limit: Term) -> Term:
        """The smaller number. A limit that is negative as a `long` is a large `size_t`."""
        smaller = conjunction(simple_term("ge", limit, self._long(0)), simple_term("lt", limit, a))
        return either(smaller, limit, a)

    def _string_copy(self, name: str, arguments: list[Any], node: Any) -> CResult:
        pointee = self._pointee(arguments[0])
        into, out = self._string(arguments[0]), self._string(arguments[1])
        length, ends = self._end(out)
        if name == "strncpy":
            count = self._count(arguments[2])
            self._require(conjunction(self._holds_in(into, count), disjunction(ends, self._holds_in(out, count))))
            self._require_apart(into, out, count)
            self._write(into, count, self._with_zeros(self._from(out, into), length, into), node)
            return pointee
        if name == "strncat":
            limit = self._count(arguments[2])
            self._require(disjunction(ends, self._holds_in(out, limit)))
            length = self._least(length, limit)
        else:
            self._require(ends)
        start = into
        if name in ("strcat", "strncat"):
            end, ended = self._end(into)
            self._require(ended)
            start = Region(into.lvalue, into.array, into.length, simple_term("add", into.offset, end), into.element)
        count = simple_term("add", length, self._long(1))
        self._require(self._holds_in(start, count))
        self._require_apart(start, out, count)
        self._write(start, count, self._with_zeros(self._from(out, start), length, into), node)
        return pointee

    def _with_zeros(self, value: Callable[[Term], Term], length: Term, into: Region) -> Callable[[Term], Term]:
        """The values up to a length, and then zeros."""
        zero = constant(self.to.type_of(into.element), 0)
        return lambda distance: either(simple_term("lt", distance, length), value(distance), zero)

    def _order(self, name: str, arguments: list[Any], node: Any) -> CValue:
        """The sign of the first difference of bytes. C gives the sign of the result only, not the number."""
        a, b = (self._region(x) if name == "memcmp" else self._string(x) for x in arguments[:2])
        text, limit = name != "memcmp", None
        if len(arguments) == 3:
            limit = self._count(arguments[2])
        if not text and limit is not None:
            one_byte = {self.to.model.size_of(a.element), self.to.model.size_of(b.element)} == {1}
            machine = a.element == b.element and not isinstance(a.element, Floating)
            if not one_byte and (not machine or self.to.arithmetic.mathematical):
                message = f"{self.to.text(node)}: {a.element} and {b.element} are not compared by bytes here"
                raise self.to.error(message, node)
            limit = self._elements(limit, a.element, arguments[2])
            self._require(conjunction(self._holds_in(a, limit), self._holds_in(b, limit)))
        less, greater, decided = FALSE, FALSE, FALSE
        for distance in range(min(a.length, b.length), -1, -1):
            k = self._long(distance)
            x, y = (self._element_at(r, simple_term("add", r.offset, k)) for r in (a, b))
            inside = conjunction(*(self._holds_in(r, self._long(distance + 1)) for r in (a, b)))
            beyond = FALSE if limit is None else negation(self._is_below(k, limit))
            ends = conjunction(self._is_zero(x, a), self._is_zero(y, b)) if text else FALSE
            lower, higher = self._bytes_less(x, y, a), self._bytes_less(y, x, a)
            stop = disjunction(beyond, ends)
            less = either(stop, FALSE, disjunction(lower, conjunction(negation(higher), less)))
            greater = either(stop, FALSE, disjunction(higher, conjunction(negation(lower), greater)))
            decided = disjunction(beyond, conjunction(inside, disjunction(ends, lower, higher, decided)))
        self._require(decided)
        return self._of_sign(less, greater, name)

    def _is_below(self, k: Term, limit: Term) -> Term:
        return disjunction(simple_term("lt", limit, self._long(0)), simple_term("lt", k, limit))

    def _is_zero(self, x: Term, region: Region) -> Term:
        return simple_term("eq", x, constant(self.to.type_of(region.element), 0))

    def _bytes_less(self, x: Term, y: Term, region: Region) -> Term:
        """The first bytes that differ, as they are stored, are in this order."""
        less = FALSE
        for byte in reversed(range(self.to.model.size_of(region.element))):
            low, high = (self._byte(v, byte) for v in (x, y))
            less = disjunction(simple_term("lt", low, high), conjunction(simple_term("eq", low, high), less))
        return less

    def _byte(self, x: Term, number: int) -> Term:
        shifted = x
        if number:
            shifted = simple_term("shr", x, constant(x.type, 8 * number))
        return recast(shifted, self.to.type_of(kinds.UCHAR))

    def _of_sign(self, less: Term, greater: Term, name: str) -> CValue:
        to, number = self.to, self.to.arithmetic.number
        size = to.unknown(name, self.to.model.INT)
        zero, one, minus = (number(self.to.model.INT, n).term for n in (0, 1, -1))
        below = either(simple_term("lt", size, zero), size, minus)
        above = either(simple_term("gt", size, zero), size, one)
        return CValue(self.to.model.INT, either(less, below, either(greater, above, zero)))


def _plain(name: str) -> str:
    return name.removeprefix("__builtin_")
