"""The bytes of unions (6.5.2.3, 6.2.6.1), little-endian as on all supported targets.

A union is one word with all its bytes. A part of it is read by shifting the word, and written by replacing its bits;
the bytes that a member does not have keep their values, as gcc and clang keep them.

A float is read as the operator `float_of_bits`, a function. Its inverse is none: a NaN has many representations, and C
does not say which one is stored. So a float is written as unknown bits of which it is the value.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamcheck.c.arithmetic import Unsupported
from streamcheck.c.kinds import BOOLEAN, AnyKind, Array, Floating, Integer, Struct
from streamcheck.c.lvalues import Fields, Lvalue
from streamcheck.c.models import DataModel
from streamcheck.c.terms import recast, truth
from streamcheck.core.simplify import either, simple_term
from streamcheck.core.term import Term, constant, term
from streamcheck.core.types import ArrayType, FloatType, MachineType, machine

if TYPE_CHECKING:
    from streamcheck.core.types import Type


@dataclass(frozen=True, slots=True)
class UnionPart:
    """A part of a union: the fields and indices that lead to the union, the number of its bytes, the distance of the
    part from its beginning, in bytes, and the part's kind."""

    fields: Fields
    indices: tuple[Term, ...]
    bytes: int
    offset: Term
    kind: AnyKind


def union_part(lvalue: Lvalue, model: DataModel) -> UnionPart | None:
    """None if the lvalue is not in a union, or is one."""
    kind, fields, indices = lvalue.object.kind, list(lvalue.fields), list(lvalue.indices)
    found: tuple[Fields, tuple[Term, ...], int] | None = None
    offset = constant(machine(64, signed=False), 0)
    while fields or (indices and isinstance(kind, Array)):
        if isinstance(kind, Struct):
            if kind.union and found is None:
                done = len(lvalue.fields) - len(fields), len(lvalue.indices) - len(indices)
                found = lvalue.fields[: done[0]], lvalue.indices[: done[1]], model.size_of(kind)
            name = fields.pop(0)
            if found is not None:
                offset = _sum(offset, next(at for n, _, at in model.offsets(kind) if n == name))
            kind = kind.kind_of(name)
        else:
            assert isinstance(kind, Array)
            kind = kind.element
            if not indices:  # a field of all elements of an array of structs
                if found is not None:
                    raise Unsupported("an array of structs in a union, as a whole; write a loop over its elements")
                continue
            index = indices.pop(0)
            if found is not None:
                size = constant(offset.type, model.size_of(kind))
                offset = simple_term("add", offset, simple_term("mul", recast(index, offset.type), size))
    return None if found is None else UnionPart(*found, offset, lvalue.kind)


def _sum(offset: Term, number: int) -> Term:
    return simple_term("add", offset, constant(offset.type, number)) if number else offset


def read_part(word: Term, part: UnionPart, type: Type, model: DataModel) -> Term:
    """The value of a part, from the union's word."""
    if isinstance(part.kind, Array):
        assert isinstance(type, ArrayType)
        return term("array", *(read_part(word, p, type.element, model) for p in elements(part, model)), payload=type)
    kind = _scalar(part.kind)
    bits = recast(_shift("shr", word, part.offset), machine(8 * model.size_of(kind), signed=False))
    if isinstance(kind, Floating):
        return simple_term("float_of_bits", bits)
    return truth(bits) if kind == BOOLEAN else recast(bits, type)


def with_part(word: Term, part: UnionPart, new: Term, model: DataModel, bits_of: Callable[[Term], Term]) -> Term:
    """The union's word with another value of a part. `bits_of`: the bits of a float."""
    if isinstance(part.kind, Array):
        for i, element in enumerate(elements(part, model)):
            value = simple_term("index", new, constant(machine(64, signed=False), i))
            word = with_part(word, element, value, model, bits_of)
        return word
    kind = _scalar(part.kind)
    width = 8 * model.size_of(kind)
    if isinstance(kind, Floating):
        bits = bits_of(new)
    elif kind == BOOLEAN:
        bits = either(new, *(constant(machine(width, signed=False), n) for n in (1, 0)))
    else:
        bits = recast(new, machine(width, signed=False))
    if bits.type is word.type:
        return bits
    mask = _shift("shl", constant(word.type, (1 << width) - 1), part.offset)
    kept = simple_term("bitand", word, simple_term("bitnot", mask))
    return simple_term("bitor", kept, _shift("shl", recast(bits, word.type), part.offset))


def elements(part: UnionPart, model: DataModel) -> Sequence[UnionPart]:
    assert isinstance(part.kind, Array)
    size, kind = model.size_of(part.kind.element), part.kind.element
    offsets = (_sum(part.offset, i * size) for i in range(part.kind.length))
    return [UnionPart(part.fields, part.indices, part.bytes, offset, kind) for offset in offsets]


def representation(value: Term) -> Term | None:
    """The bits of a float that is known here, and no NaN."""
    assert isinstance(value.type, FloatType)
    if not value.is_const or value.payload != value.payload:
        return None
    bits = struct.pack("<f" if value.type.width == 32 else "<d", value.payload)
    return constant(machine(value.type.width, signed=False), int.from_bytes(bits, "little"))


def _scalar(kind: AnyKind) -> Integer | Floating:
    if not isinstance(kind, Integer | Floating):
        raise Unsupported(f"{kind} in a union: only its integers and floats are supported")
    return kind


def _shift(op: str, word: Term, offset: Term) -> Term:
    assert isinstance(word.type, MachineType)
    if offset.is_const and offset.payload == 0:
        return word
    amount = simple_term("mul", offset, constant(offset.type, 8))
    return simple_term(op, word, recast(amount, word.type))
