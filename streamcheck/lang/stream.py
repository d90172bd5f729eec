"""`Stream`: the values of the user's expressions, with Python's operators.

Every operator checks types immediately, at the user's line. Operations that Python evaluates itself (truth, length of
scalars, comparison chains) raise an error that names what to write instead.
"""

from __future__ import annotations

import difflib
import enum
from collections.abc import Iterator, Sequence
from fractions import Fraction
from types import FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NoReturn, Protocol, TypeAlias, cast

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.operators import OPERATORS, fill
from streamcheck.core.types import BOOL, ArrayType, StructType, Type, Value, machine, plural, without_numpy
from streamcheck.lang import syntax
from streamcheck.lang.apply import apply, enum_type, literal
from streamcheck.lang.node import Node, constant_value

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from streamcheck.lang.types import Bool

    T = TypeVar("T", default=Any)
else:
    from typing import TypeVar

    T = TypeVar("T")


class _Fields(Protocol):
    """An instance of a `@struct` class for type checkers; at run time it is a Stream."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


# The parameter of a stream stands for its type (`lang.types`); without one, it may have any type.
PythonValue: TypeAlias = "bool | int | float | Fraction | enum.Enum | _Fields"
Operand: TypeAlias = "Stream[T] | PythonValue"
BoolOperand: TypeAlias = "Bool | PythonValue"

COUNT = machine(64, signed=False)


class StreamType(type):
    """The class of type classes: a call makes a constant, `isinstance` tests a stream's type."""

    core: Type

    def __call__(cls, *args: object, **fields: object) -> Stream:
        if not isinstance(getattr(cls, "core", None), Type):
            raise SpecError("Stream is the class of all streams", here(), write="Word8(5), or another type")
        if isinstance(cls.core, StructType):
            return make(composite(cls.core, fields if fields else (list(args) if args else {})))
        if len(args) != 1 or fields:
            raise SpecError(f"{cls.core}(…) takes one value", here())
        (value,) = args
        if isinstance(value, Stream):
            message = f"{cls.core}(…) makes constants; its argument is a stream of {value._node.type}"
            raise SpecError(message, here(), write=f"cast({cls.core}, s), or unsafe_cast({cls.core}, s)")
        if isinstance(cls.core, ArrayType):
            return make(composite(cls.core, value))
        return make(literal(cls.core, value))

    def __instancecheck__(cls, instance: object) -> bool:
        own = cls.__dict__.get("core")
        stream = type.__instancecheck__(Stream, instance)
        return stream and (own is None or cast(Stream, instance)._node.type is own)

    def __repr__(cls) -> str:
        return str(cls.__dict__.get("core", "Stream"))


class Stream(Generic[T], metaclass=StreamType):
    """An infinite sequence of values of one type. Build streams with externs, constants, operators and `++`."""

    __slots__ = ("_node",)

    if TYPE_CHECKING:
        _node: Node

        # The descriptor pair lets a field of a @struct take any operand of its type.
        def __init__(self, value: Operand | Sequence[Operand]) -> None: ...
        def __get__(self, instance: object, owner: Any = None) -> Stream[T]: ...
        def __set__(self, instance: object, value: Operand[T]) -> None: ...

    __array_ufunc__ = None  # so that numpy leaves `numpy.int64(3) + s` to us

    # ++ and drop

    def __pos__(self) -> Appended[T]:
        return Appended(self)

    # arithmetic

    def __add__(self, other: Operand[T]) -> Stream[T]:
        return binary("add", self, other)

    def __radd__(self, other: PythonValue) -> Stream[T]:
        return binary("add", other, self)

    def __sub__(self, other: Operand[T]) -> Stream[T]:
        return binary("sub", self, other)

    def __rsub__(self, other: PythonValue) -> Stream[T]:
        return binary("sub", other, self)

    def __mul__(self, other: Operand[T]) -> Stream[T]:
        return binary("mul", self, other)

    def __rmul__(self, other: PythonValue) -> Stream[T]:
        return binary("mul", other, self)

    def __floordiv__(self, other: Operand[T]) -> Stream[T]:
        return binary("floordiv", self, other)

    def __rfloordiv__(self, other: PythonValue) -> Stream[T]:
        return binary("floordiv", other, self)

    def __mod__(self, other: Operand[T]) -> Stream[T]:
        return binary("mod", self, other)

    def __rmod__(self, other: PythonValue) -> Stream[T]:
        return binary("mod", other, self)

    def __truediv__(self, other: Operand[T]) -> Stream[T]:
        return binary("div", self, other)

    def __rtruediv__(self, other: PythonValue) -> Stream[T]:
        return binary("div", other, self)

    def __pow__(self, exponent: Operand) -> Stream[T]:
        return power(self, exponent)

    def __rpow__(self, base: PythonValue) -> Stream[T]:
        return power(base, self)

    def __lshift__(self, other: Operand) -> Stream[T]:
        return shift("shl", self, other)

    def __rlshift__(self, other: PythonValue) -> Stream:
        return shift("shl", other, self)

    def __rshift__(self, other: Operand) -> Stream[T]:
        return shift("shr", self, other)

    def __rrshift__(self, other: PythonValue) -> Stream:
        return shift("shr", other, self)

    def __neg__(self) -> Stream[T]:
        return unary("neg", self)

    def __abs__(self) -> Stream[T]:
        return unary("abs", self)

    # Booleans and bits

    def __and__(self, other: Operand[T]) -> Stream[T]:
        return logical("and", "bitand", self, other)

    def __rand__(self, other: PythonValue) -> Stream[T]:
        return logical("and", "bitand", other, self)

    def __or__(self, other: Operand[T]) -> Stream[T]:
        return logical("or", "bitor", self, other)

    def __ror__(self, other: PythonValue) -> Stream[T]:
        return logical("or", "bitor", other, self)

    def __xor__(self, other: Operand[T]) -> Stream[T]:
        return logical("xor", "bitxor", self, other)

    def __rxor__(self, other: PythonValue) -> Stream[T]:
        return logical("xor", "bitxor", other, self)

    def __invert__(self) -> Stream[T]:
        return unary("not" if self._node.type is BOOL else "bitnot", self)

    # comparisons

    def __eq__(self, other: Operand[T]) -> Bool:  # type: ignore[override]
        return compare("eq", self, other)

    def __ne__(self, other: Operand[T]) -> Bool:  # type: ignore[override]
        return compare("ne", self, other)

    def __lt__(self, other: Operand[T]) -> Bool:
        return compare("lt", self, other)

    def __le__(self, other: Operand[T]) -> Bool:
        return compare("le", self, other)

    def __gt__(self, other: Operand[T]) -> Bool:
        return compare("gt", self, other)

    def __ge__(self, other: Operand[T]) -> Bool:
        return compare("ge", self, other)

    __hash__ = object.__hash__

    # arrays and structs

    def __getitem__(self, index: Operand) -> Stream:
        return element(self, index)

    def __setitem__(self, index: Operand, value: Operand) -> NoReturn:
        raise SpecError("streams never change", here(), write="a.set(i, v), the array with one element replaced")

    def __getattr__(self, name: str) -> Stream:
        return field(self, name)

    def set(self, *index_and_value: Operand, **fields: Operand) -> Stream[T]:
        """An array with one element replaced, `a.set(i, v)`, or a struct with fields replaced, `s.set(x=v)`."""
        return update(self, index_and_value, fields)

    def __len__(self) -> int:
        return _array_type(self, "len").length

    def __iter__(self) -> Iterator[Stream]:
        return iter([element(self, i) for i in range(_array_type(self, "iteration").length)])

    # operations that Python evaluates itself

    def __bool__(self) -> NoReturn:
        why, instead = syntax.truth_slip()
        raise SpecError(f"a Stream is not a bool: it has a value at every step ({why})", here(), write=instead)

    def __contains__(self, item: Operand) -> NoReturn:
        raise SpecError("`in` needs a Python bool while the spec loads", here(), write="any_of(x == e for e in array)")

    def __int__(self) -> NoReturn:
        message = "a Stream is not a Python number: its value changes at every step"
        raise SpecError(message, here(), write=syntax.number_slip())

    __index__ = __float__ = __complex__ = __trunc__ = __round__ = __floor__ = __ceil__ = __int__

    def __setattr__(self, name: str, value: object) -> None:
        raise SpecError("streams never change", here(), write=f"s.set({name}=v), the struct with one field replaced")

    def __dir__(self) -> list[str]:
        """The fields of a struct, and what may be done with an array or a struct."""
        type = self._node.type
        fields = [name for name, _ in type.fields] if isinstance(type, StructType) else []
        return [*fields, "set"] if isinstance(type, ArrayType | StructType) else []

    def __repr__(self) -> str:
        where = self._node.where
        text = where.text if where.file.startswith("<") else ""  # of a stream that is in no file
        return f"<stream of {self._node.type}, {text or where}>"


class Appended(Generic[T]):
    """`+s` inside `[…] + (+s)`, which is how Python parses `[…] ++ s`."""

    __slots__ = ("stream",)

    def __init__(self, stream: Stream[T]) -> None:
        self.stream = stream

    def __radd__(self, values: list[Any]) -> Stream[T]:
        return append(values, self.stream)

    def _slip(self, *_: object) -> NoReturn:
        write = syntax.marker_slip() or "[0] ++ (k * 2)"
        raise SpecError("an operator is applied to a `[…] ++ s` without parentheses", here(), write=write)

    __mul__ = __rmul__ = __floordiv__ = __truediv__ = __mod__ = __matmul__ = _slip

    def __getattr__(self, name: str) -> NoReturn:
        raise append_error()


def append_error() -> SpecError:
    return SpecError("`++` needs a list of values on its left and a stream on its right", here(), write="[0] ++ s")


def make(node: Node) -> Stream:
    stream = object.__new__(Stream)
    object.__setattr__(stream, "_node", node)
    return stream


# Operands: a literal takes the type of the stream beside it.


def node_of(operand: object, like: Type | None = None) -> Node:
    """The node of an operand; a literal becomes a constant of type `like`."""
    operand = without_numpy(operand)
    if isinstance(operand, Stream):
        return operand._node
    if isinstance(operand, Appended):
        raise append_error()
    if isinstance(operand, type) and issubclass(operand, Stream):
        raise SpecError(f"{operand.__name__} is a type, not a stream", here())
    if isinstance(operand, FunctionType):
        raise syntax.function_error(operand, here())
    if isinstance(operand, tuple) and any(isinstance(part, Stream) for part in operand) and not _is_composite(like):
        raise _tuple_error(operand)
    if isinstance(operand, enum.Enum) and like is None:
        return literal(enum_type(operand.__class__), operand)
    if like is None:
        if isinstance(operand, list | tuple):
            write = f"Array(T, {len(operand)})([…])"
            raise SpecError("a Python list cannot be used as a stream", here(), write=write)
        suggestion = {bool: "Bool", int: "Int", float: "Double"}.get(type(operand), "T")
        write = f"{suggestion}({operand!r})" + ("" if isinstance(operand, bool) else ", or the type that is meant")
        raise SpecError(f"the type of {operand!r} is unknown: no stream stands beside it", here(), write=write)
    if _is_composite(like) and isinstance(operand, list | tuple | dict):
        return composite(cast("ArrayType | StructType", like), operand)
    return literal(like, operand)


def _is_composite(type: Type | None) -> bool:
    return isinstance(type, ArrayType | StructType)


def _tuple_error(parts: tuple[object, ...]) -> SpecError:
    """The error for `h = x > 3,`: a comma makes a tuple."""
    lines = [part._node.where for part in parts if isinstance(part, Stream)]
    if len(parts) == 1:
        message = "a tuple of one stream, not a stream: a comma at the end of its line makes it one"
        return SpecError(message, here(), also=(("the stream", lines[0]),), write="the line without the comma")
    return SpecError(f"a tuple of {len(parts)} values, not a stream", here(), write="one stream")


def nodes_of_one_type(*operands: object) -> list[Node]:
    """The nodes of operands that should share a type: literals follow the first stream."""
    like = next((o._node.type for o in operands if isinstance(o, Stream)), None)
    if like is None:
        like = next((enum_type(o.__class__) for o in operands if isinstance(o, enum.Enum)), None)
    return [node_of(o, like) for o in operands]


def unary(op: str, a: object) -> Stream:
    return make(apply(op, node_of(a)))


def binary(op: str, a: object, b: object) -> Stream:
    if isinstance(a, Appended) or isinstance(b, Appended):
        raise append_error()
    if any(isinstance(o, Stream) and o._node.type is BOOL for o in (a, b)):
        shown = fill(OPERATORS[op].shown, {"a": "…", "b": "Bool"})
        write = "count_of(T, bools) to count Booleans, cast(Word8, b) for one"
        raise SpecError(f"{shown}: expected numbers, found Bool", here(), write=write)
    left, right = nodes_of_one_type(a, b)
    return make(apply(op, left, right))


def logical(op: str, bits: str, a: object, b: object) -> Stream:
    left, right = nodes_of_one_type(a, b)
    return make(apply(op if left.type is BOOL or right.type is BOOL else bits, left, right))


def compare(op: str, a: object, b: object) -> Stream:
    left, right = nodes_of_one_type(a, b)
    if left.type is BOOL and any(n.op in ("and", "or", "xor") for n in (left, right)):
        slip = syntax.bitwise_slip()
        if slip is not None:
            symbol, read, meant = slip
            raise SpecError(
                f"`{symbol}` binds tighter than a comparison: Python reads {read}", here(), write=f"{meant}, or {read}"
            )
    return make(apply(op, left, right))


def shift(op: str, a: object, amount: object) -> Stream:
    amount = without_numpy(amount)
    if not isinstance(a, Stream):
        a = make(node_of(a, amount._node.type if isinstance(amount, Stream) else None))
    left = a._node
    if isinstance(amount, int) and not isinstance(amount, bool):
        if amount < 0:
            raise SpecError(f"a shift by {amount}: the amount must be at least 0", here())
        if left.type.kind == "integer":
            return make(apply("mul" if op == "shl" else "floordiv", left, literal(left.type, 1 << amount)))
    elif left.type.kind == "integer":
        raise SpecError("an Int can be shifted by a literal only", here(), write="cast it to a machine type first")
    return make(apply(op, left, node_of(amount, COUNT)))


def power(base: object, exponent: object) -> Stream:
    """Repeated multiplication if the exponent is a literal whole number (engines understand it), else `pow` of math.h
    on floats."""
    exponent = without_numpy(exponent)
    if isinstance(base, Stream) and _is_whole(exponent) and cast(int, exponent) >= 0:
        if not base._node.type.is_number:
            raise SpecError(f"{base._node.type} ** {exponent}: expected a number, found {base._node.type}", here())
        return make(_product(base._node, cast(int, exponent)))
    if _is_whole(exponent) and isinstance(base, Stream) and base._node.type.kind == "real":
        return make(apply("div", literal(base._node.type, 1), _product(base._node, -cast(int, exponent))))
    floats = any(isinstance(o, Stream) and o._node.type.kind == "float" for o in (base, exponent))
    left, right = nodes_of_one_type(base, exponent) if floats else (node_of(o, COUNT) for o in (base, 2))
    if left.type.kind != "float":
        raise SpecError(
            f"{left.type} ** …: the exponent is a literal whole number, at least 0 (others are for Float and Double)",
            here(),
        )
    return make(apply("pow", left, right))


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _product(base: Node, exponent: int) -> Node:
    if exponent == 0:
        return literal(base.type, 1)
    if exponent == 1:
        return base
    half = _product(base, exponent // 2)
    square = apply("mul", half, half)
    return apply("mul", square, base) if exponent % 2 else square


def append(values: object, stream: Stream[T]) -> Stream[T]:
    if not isinstance(values, list):
        raise append_error()
    if not values:
        raise SpecError("`[] ++ s`: the list before ++ needs at least one value", here(), write="s")
    node = stream._node
    listed = tuple(_initial(node.type, value) for value in values)
    return make(Node("append", (node,), node.type, listed, where=here()))


def _initial(type: Type, value: object) -> Value:
    if isinstance(value, list | tuple | dict) and isinstance(type, ArrayType | StructType):
        return constant_value(composite(type, value))
    node = node_of(value, type)
    if node.type is not type:
        raise SpecError(f"a value of type {node.type} before a stream of {type}", here())
    return constant_value(node)


def _array_type(stream: Stream, what: str) -> ArrayType:
    type = stream._node.type
    if not isinstance(type, ArrayType):
        message = f"{what} is for arrays; a stream of {type} has one value at each step and no end"
        raise SpecError(message, here(), write="pre(init, s) for earlier values, drop(n, s) for later ones")
    return type


class NoField(SpecError, AttributeError):
    """A missing field; an AttributeError because `hasattr` and `copy` expect one."""


def element(array: Stream, index: object) -> Stream:
    type, index = _array_type(array, "indexing"), without_numpy(index)
    if isinstance(index, slice):
        raise SpecError("arrays have no slices", here(), write="[a[i] for i in range(start, stop)]")
    if isinstance(index, int) and not isinstance(index, bool):
        _check_index(type, index)
    return make(apply("index", array._node, node_of(index, COUNT)))


def _check_index(type: ArrayType, index: int) -> None:
    if not 0 <= index < type.length:
        last = type.length - 1
        write = f"a[{type.length + index}]" if -type.length <= index < 0 else ""
        raise SpecError(f"index {index} is outside {type}, whose indices are 0 to {last}", here(), write=write)


def field(struct: Stream, name: str) -> Stream:
    type = struct._node.type
    names = [n for n, _ in type.fields] if isinstance(type, StructType) else []
    if name not in names:
        if name.startswith("_"):  # Python's own protocols and notebooks probe for such names
            raise AttributeError(name)
        if not isinstance(type, StructType):
            write = "pre(init, s) for the value one step earlier" if name.lower().startswith(("pr", "last")) else ""
            raise NoField(f"a stream of {type} has no field `{name}`", here(), write=write)
        close = difflib.get_close_matches(name, names, n=1)
        raise NoField(f"{type} has no field `{name}`, it has {', '.join(names)}", here(), write="".join(close))
    assert isinstance(type, StructType)
    return make(apply("field", struct._node, payload=type.position(name)))


def update(stream: Stream, index_and_value: tuple[object, ...], fields: dict[str, Any]) -> Stream:
    node = stream._node
    if isinstance(node.type, ArrayType) and len(index_and_value) == 2 and not fields:
        index, value = without_numpy(index_and_value[0]), index_and_value[1]
        if isinstance(index, int) and not isinstance(index, bool):
            _check_index(node.type, index)
        return make(apply("update", node, node_of(index, COUNT), node_of(value, node.type.element)))
    if isinstance(node.type, StructType) and fields and not index_and_value:
        for name, value in fields.items():
            if name not in dict(node.type.fields):
                names = ", ".join(n for n, _ in node.type.fields)
                raise SpecError(f"{node.type} has no field `{name}`, it has {names}", here())
            wanted = dict(node.type.fields)[name]
            node = apply("with_field", node, node_of(value, wanted), payload=node.type.position(name))
        return make(node)
    raise SpecError(
        f"`set` replaces part of an array or a struct, not of {node.type}"
        if not isinstance(node.type, ArrayType | StructType)
        else f"`set` on {node.type}",
        here(),
        write="a.set(i, v) on an array, s.set(field=v) on a struct",
    )


def composite(type: ArrayType | StructType, parts: object) -> Node:
    """An array or struct of streams and literals."""
    parts = without_numpy(parts)
    if isinstance(type, ArrayType):
        if isinstance(parts, Stream) or not isinstance(parts, Sequence) or isinstance(parts, str):
            raise SpecError(f"{type} is built from a list of {type.length} elements", here())
        if len(parts) != type.length:
            raise SpecError(f"{plural(len(parts), 'element')}, but {type} has {type.length}", here())
        return apply("array", *(node_of(p, type.element) for p in parts), payload=type)
    names = [name for name, _ in type.fields]
    if isinstance(parts, list | tuple) and len(parts) == len(names):
        parts = dict(zip(names, parts, strict=True))
    if not isinstance(parts, dict) or set(parts) != set(names):
        given = list(parts) if isinstance(parts, dict) else []
        missing, extra = [n for n in names if n not in given], [n for n in given if n not in names]
        wrong = [f"{', '.join(missing)} missing"] * bool(missing) + [f"{', '.join(extra)} unknown"] * bool(extra)
        raise SpecError(f"{type} has the fields {', '.join(names)}: {', '.join(wrong)}", here())
    return apply("struct", *(node_of(parts[name], t) for name, t in type.fields), payload=type)
