"""The types as classes for users; a call makes a constant. `Word8(5)`, `Array(Word8, 3)([a, b, 0])`."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import SCALARS, StructType, Type, array_of, struct_of
from streamcheck.lang.apply import enum_type
from streamcheck.lang.stream import Operand, Stream, StreamType

T = TypeVar("T")


def _class_of(type_: Type) -> type[Stream]:
    made = StreamType(str(type_), (Stream,), {"__slots__": (), "core": type_, "__doc__": f"Streams of {type_}."})
    return cast("type[Stream]", made)


if TYPE_CHECKING:
    # To type checkers, each type is Stream with a parameter of its own, so that they know what goes together.
    class Kind:
        class Bool: ...

        class Int8: ...

        class Int16: ...

        class Int32: ...

        class Int64: ...

        class Word8: ...

        class Word16: ...

        class Word32: ...

        class Word64: ...

        class Float: ...

        class Double: ...

        class Int: ...

        class Real: ...

    Bool = Stream[Kind.Bool]
    Int8 = Stream[Kind.Int8]
    Int16 = Stream[Kind.Int16]
    Int32 = Stream[Kind.Int32]
    Int64 = Stream[Kind.Int64]
    Word8 = Stream[Kind.Word8]
    Word16 = Stream[Kind.Word16]
    Word32 = Stream[Kind.Word32]
    Word64 = Stream[Kind.Word64]
    Float = Stream[Kind.Float]
    Double = Stream[Kind.Double]
    Int = Stream[Kind.Int]
    Real = Stream[Kind.Real]
else:
    Bool, Float, Double, Int, Real = (_class_of(SCALARS[n]) for n in "Bool Float Double Int Real".split())
    Int8, Int16, Int32, Int64 = (_class_of(SCALARS[f"Int{w}"]) for w in (8, 16, 32, 64))
    Word8, Word16, Word32, Word64 = (_class_of(SCALARS[f"Word{w}"]) for w in (8, 16, 32, 64))


def core_type(type_: object, where: str) -> Type:
    """The core type of a type class. `where` names the caller in the error."""
    core = getattr(type_, "core", None) if isinstance(type_, type) else None
    if isinstance(core, Type):
        return core
    if isinstance(type_, type) and issubclass(type_, enum.Enum):
        raise SpecError(f"{where}: {type_.__name__} is an enum", here(), write=f"EnumOf({type_.__name__})")
    given = type_.__name__ if isinstance(type_, type) else repr(type_)
    raise SpecError(f"{where}: expected a type such as Word8 or Bool, found {given}", here(), write=_type_hint(type_))


def _type_hint(found: object) -> str:
    """The type, or the way to one, that may be meant by something else."""
    if isinstance(found, str):
        return found if found in SCALARS else ""
    if isinstance(found, type) and found in PYTHON_TYPES:
        return PYTHON_TYPES[found]
    if isinstance(found, type) and getattr(found, "__annotations__", None):
        return f"@struct above class {found.__name__}"
    return ""


PYTHON_TYPES = {
    bool: "Bool",
    int: "Int32, or another machine type; Int is mathematical",
    float: "Double, or Float; Real is mathematical",
    str: "EnumOf(E) of an enum.Enum class E: streams have no strings",
}


def Array(element: type[Any], length: int) -> type[Stream]:
    """The type of arrays of `length` elements."""
    core = core_type(element, "Array(T, n)")
    if not isinstance(length, int) or isinstance(length, bool) or length < 1:
        raise SpecError(f"Array(T, n): expected n to be an integer of at least 1, found {length!r}", here())
    return _array_class(core, length)


@cache
def _array_class(core: Type, length: int) -> type[Stream]:
    return _class_of(array_of(core, length))


def EnumOf(python: type[enum.Enum]) -> type[Stream]:
    """The type of the members of an enum.Enum class."""
    if not isinstance(python, type) or not issubclass(python, enum.Enum):
        raise SpecError(f"EnumOf(E): expected an enum.Enum class, found {python!r}", here())
    if not list(python):
        raise SpecError(f"{python.__name__} has no members", here())
    return _enum_class(python)


@cache
def _enum_class(python: type[enum.Enum]) -> type[Stream]:
    return _class_of(enum_type(python))


@dataclass_transform()
def struct(cls: type[T]) -> type[T]:
    """Make a struct type of a class with annotated fields: `Aircraft(altitude=s, speed=0)`, `s.altitude`."""
    import inspect
    import typing

    if not isinstance(cls, type):
        raise SpecError("@struct decorates a class", here())
    try:
        hints = typing.get_type_hints(cls)
    except NameError as why:
        raise SpecError(f"@struct {cls.__name__}: {why}", here()) from None
    if not hints:
        raise SpecError(f"@struct {cls.__name__} has no fields", here(), write="altitude: Int32")
    own = {name: hints[name] for name in inspect.get_annotations(cls)}
    for name in own:
        if any(name in base.__dict__ for base in Stream.__mro__):
            raise SpecError(f"a field cannot be called `{name}`: every stream has that attribute", here())
        if name in cls.__dict__:
            raise SpecError(
                f"field `{name}` has a default; fields of a @struct cannot have one", here(), write=f"{name}: T"
            )
    bases = [getattr(base, "core", None) for base in cls.__bases__]
    inherited = [field for base in bases if isinstance(base, StructType) for field in base.fields]
    fields = (*inherited, *((name, core_type(hint, f"field `{name}`")) for name, hint in own.items()))
    return cast("type[T]", _class_of(struct_of(cls.__name__, fields)))


def elements(value: Operand | Sequence[Operand]) -> list[Operand]:
    """The operands of a list-like argument, an array stream's elements included."""
    if isinstance(value, Stream):
        return list(value)
    return list(cast("Sequence[Operand]", value))
