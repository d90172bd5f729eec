"""The functions users call: externs, delays, choice, conversions, quantifiers, and functions for Lustre users."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.core.types import BOOL, ArrayType, Type, plural, widens
from streamcheck.lang.apply import apply, literal
from streamcheck.lang.node import Extern, Node, current_restart, is_constant, restart_context
from streamcheck.lang.stream import (
    BoolOperand,
    Operand,
    PythonValue,
    Stream,
    T,
    append,
    binary,
    make,
    node_of,
    nodes_of_one_type,
    unary,
)
from streamcheck.lang.types import core_type

if TYPE_CHECKING:
    from streamcheck.lang.types import Bool

R = TypeVar("R")


@overload
def extern(name: str, type: type[Stream[T]], samples: Any = None, *, doc: str = "", unit: str = "") -> Stream[T]: ...
@overload
def extern(name: str, type: type[Any], samples: Any = None, *, doc: str = "", unit: str = "") -> Stream: ...
def extern(name: str, type: type[Any], samples: Any = None, *, doc: str = "", unit: str = "") -> Stream:
    """An input from the environment. The interpreter reads `samples` (a list, an iterator, or a function of the step);
    `doc` and `unit` are shown in traces, reports and the C header."""
    if not isinstance(name, str) or not name:
        raise SpecError(f"extern: expected a name, found {name!r}", here(), write='extern("x", Word8)')
    core = core_type(type, f'extern("{name}", T)')
    where = here()
    return make(Node("extern", (), core, Extern(name, core, samples, doc, unit, where), where=where))


@overload
def unknown(type: type[Stream[T]]) -> Stream[T]: ...
@overload
def unknown(type: type[Any]) -> Stream: ...
def unknown(type: type[Any]) -> Stream:
    """An unconstrained stream that is not an input of the C. Each call makes a new one."""
    return make(Node("unknown", (), core_type(type, "unknown(T)"), where=here()))


@overload
def drop(count: int, stream: Stream[T]) -> Stream[T]: ...
@overload
def drop(count: int, stream: Operand) -> Stream: ...
def drop(count: int, stream: Operand) -> Stream:
    """The stream without its first `count` values."""
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise SpecError(f"drop(n, s): expected n to be an integer of at least 0, found {count!r}", here())
    node = node_of(stream)
    return make(Node("drop", (node,), node.type, count, where=here()) if count else node)


@overload
def mux(condition: BoolOperand, then: PythonValue, otherwise: PythonValue) -> Stream: ...
@overload
def mux(condition: BoolOperand, then: Operand[T], otherwise: Operand[T]) -> Stream[T]: ...
def mux(condition: Operand, then: Operand, otherwise: Operand) -> Stream:
    """`then` if `condition` is true, else `otherwise`."""
    a, b = nodes_of_one_type(then, otherwise)
    return make(apply("mux", node_of(condition, BOOL), a, b))


def implies(a: BoolOperand, b: BoolOperand) -> Bool:
    """False if `a` is true and `b` is false, else true."""
    return make(apply("implies", node_of(a, BOOL), node_of(b, BOOL)))


def case(conditions: Sequence[BoolOperand], values: Sequence[Operand[T]]) -> Stream[T]:
    """The value of the first condition that is true; the last value, of which there is one more, if none is."""
    for given in (conditions, values):
        if not isinstance(given, list | tuple):
            found = "a stream" if isinstance(given, Stream) else repr(given)
            message = f"case: expected a list of conditions and a list of values, found {found}"
            raise SpecError(message, here(), write="case([c, d], [if_c, if_d, otherwise])")
    if len(values) != len(conditions) + 1:
        message = f"case: {plural(len(conditions), 'condition')} and {plural(len(values), 'value')}"
        raise SpecError(message, here(), write="case([c, d], [if_c, if_d, otherwise])")
    *nodes, result = nodes_of_one_type(*values)
    for condition, node in zip(reversed(conditions), reversed(nodes), strict=True):
        result = apply("mux", node_of(condition, BOOL), node, result)
    return make(result)


def minimum(a: Operand[T], b: Operand[T], *more: Operand[T]) -> Stream[T]:
    result = binary("min", a, b)
    for other in more:
        result = binary("min", result, other)
    return result


def maximum(a: Operand[T], b: Operand[T], *more: Operand[T]) -> Stream[T]:
    result = binary("max", a, b)
    for other in more:
        result = binary("max", result, other)
    return result


def quot(a: Operand[T], b: Operand[T]) -> Stream[T]:
    """Division that truncates toward zero, as C's `/`. By zero: 0."""
    return binary("quot", a, b)


def rem(a: Operand[T], b: Operand[T]) -> Stream[T]:
    """The remainder of `quot`, with the sign of `a`, as C's `%`. By zero: `a`."""
    return binary("rem", a, b)


class RealFunction(Protocol):
    """A function of math.h."""

    def __call__(self, x: Stream[T]) -> Stream[T]: ...


def _function(name: str) -> RealFunction:
    def function(x: Stream[T]) -> Stream[T]:
        if not isinstance(x, Stream):
            raise SpecError(f"{name}({x!r}): a literal has no type here", here(), write=f"{name}(Double({x!r}))")
        return unary(name, x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`{name}` of math.h at each step, of Float or Double."
    return function


sqrt, ceil, floor = _function("sqrt"), _function("ceil"), _function("floor")
sin, cos, tan = _function("sin"), _function("cos"), _function("tan")
asin, acos, atan = _function("asin"), _function("acos"), _function("atan")
sinh, cosh, tanh = _function("sinh"), _function("cosh"), _function("tanh")
exp, log = _function("exp"), _function("log")


def atan2(y: Operand[T], x: Operand[T]) -> Stream[T]:
    """`atan2` of math.h at each step, of Float or Double."""
    return binary("atan2", y, x)


def cast(type: type[Stream[T]], stream: Stream) -> Stream[T]:
    """Conversion to a type that holds every value of the stream's own."""
    target, node = core_type(type, "cast(T, s)"), _node_to_convert(stream, "cast")
    if not widens(node.type, target):
        raise SpecError(
            f"cast({target}, …) of {node.type}: not every {node.type} is a {target}",
            here(),
            write=f"unsafe_cast({target}, …), if losing values is meant",
        )
    return make(_cast(node, target))


def unsafe_cast(type: type[Stream[T]], stream: Stream) -> Stream[T]:
    """Conversion as in C: integers wrap around, floats truncate to integers (a value out of range saturates, NaN
    becomes 0, and either violates an implied property), others round to nearest."""
    return make(_cast(_node_to_convert(stream, "unsafe_cast"), core_type(type, "unsafe_cast(T, s)")))


def _node_to_convert(stream: object, name: str) -> Node:
    if not isinstance(stream, Stream):
        raise SpecError(f"{name}(T, s): expected a stream, found {stream!r}", here(), write=f"T({stream!r})")
    return stream._node


def _cast(node: Node, target: Type) -> Node:
    return node if node.type is target else apply("cast", node, payload=target)


def _quantify(quantifier: str, type: type[Any], body: Callable[[Stream], Operand]) -> Bool:
    core = core_type(type, f"{quantifier}(T, lambda v: …)")
    if not callable(body):
        raise SpecError(f"{quantifier}(T, f) needs a function of the unknown constant", here())
    code = getattr(body, "__code__", None)
    name = code.co_varnames[0] if code is not None and code.co_argcount else "v"
    bound = Node("bound", (), core, name, where=here())
    inside = node_of(body(make(bound)), BOOL)
    if inside.type is not BOOL:
        raise SpecError(f"{quantifier}: the body: expected Bool, found {inside.type}", here())
    return make(Node(quantifier, (bound, inside), BOOL, where=here()))


@overload
def forall(type: type[Stream[T]], body: Callable[[Stream[T]], BoolOperand]) -> Bool: ...
@overload
def forall(type: type[Any], body: Callable[[Stream], BoolOperand]) -> Bool: ...
def forall(type: type[Any], body: Callable[[Stream], BoolOperand]) -> Bool:
    """`body` holds for every constant of this type, the same at every step. Inside `prop` only."""
    return _quantify("forall", type, body)


@overload
def exists(type: type[Stream[T]], body: Callable[[Stream[T]], BoolOperand]) -> Bool: ...
@overload
def exists(type: type[Any], body: Callable[[Stream], BoolOperand]) -> Bool: ...
def exists(type: type[Any], body: Callable[[Stream], BoolOperand]) -> Bool:
    """`body` holds for some constant of this type, the same at every step. Inside `spec.exists` only."""
    return _quantify("exists", type, body)


@overload
def pre(init: PythonValue, stream: Stream[T]) -> Stream[T]: ...
@overload
def pre(init: Stream[T], stream: Operand[T]) -> Stream[T]: ...
def pre(init: Operand, stream: Operand) -> Stream:
    """The stream delayed by one step, `init` first: `[init] ++ stream`."""
    if isinstance(init, Stream) and not is_constant(init._node):
        swapped = not isinstance(stream, Stream)
        write = f"pre({stream!r}, s)" if swapped else "then(a, pre(init, b)), for a at the first step, then b delayed"
        message = "pre(init, stream): the first argument is the value at the first step, a constant"
        raise SpecError(message, here(), write=write)
    if not isinstance(stream, Stream):
        stream = make(node_of(stream, init._node.type if isinstance(init, Stream) else None))
    return append([init], stream)


def then(a: Operand[T], b: Operand[T]) -> Stream[T]:
    """`a` at the first step, `b` at all later ones (Lustre's `->`)."""
    return mux(first, a, b)


class First(Stream):
    """`first` belongs to the innermost `reset` around its use, so each use makes a new node."""

    __slots__ = ()

    @property
    def _node(self) -> Node:  # type: ignore[override]
        return append([True], make(literal(BOOL, False)))._node


first: Bool = object.__new__(First)


def reset(condition: BoolOperand, piece: Callable[[], R]) -> R:
    """The dataflow that `piece()` builds, restarted at each step at which the condition is true: every `++` inside
    yields its listed values from that step on. Streams defined outside are not affected."""
    if not callable(piece):
        raise SpecError("reset(c, f) needs a function that builds the dataflow", here(), write="reset(c, lambda: …)")
    node = node_of(condition, BOOL)
    if node.type is not BOOL:
        raise SpecError(f"reset(c, f): the condition: expected Bool, found {node.type}", here())
    outer = current_restart.get()
    combined = node if outer is None else apply("or", outer, node)
    with restart_context(combined):
        built: R = _settle_first(piece())
    if isinstance(built, Stream) and _is_from_outside(built._node, outer):
        raise SpecError(
            "this reset returns a stream defined outside, which the reset does not affect",
            here(),
            write="def counter(): return stream(Int, lambda n: [0] ++ (n + 1)), and reset(c, counter)",
        )
    return built


def _is_from_outside(node: Node, outer: Node | None) -> bool:
    """True for a named stream defined before the reset whose body is not evaluated yet: it belongs outside."""
    return node.op == "ref" and node.payload.restart is outer and node.payload.body is None


def _settle_first(built: Any) -> Any:
    """`first`, alone or in a tuple, means the first step of this reset, not of the place that uses the result."""
    if type(built) in (list, tuple):
        return type(built)(map(_settle_first, built))
    return make(built._node) if built is first else built


def _operands(bools: object, name: str) -> list[Node]:
    if isinstance(bools, Stream) and not isinstance(bools._node.type, ArrayType):
        raise SpecError(f"{name}: expected a list of Bool streams, found one stream", here(), write=f"{name}([…])")
    if isinstance(bools, Stream | Iterable):
        nodes = [node_of(b, BOOL) for b in bools]
    else:
        raise SpecError(f"{name}: expected a list of Bool streams, found {bools!r}", here())
    for node in nodes:
        if node.type is not BOOL:
            raise SpecError(f"{name}: expected Bool streams, found {node.type}", here())
    return nodes


def all_of(bools: Iterable[BoolOperand]) -> Bool:
    """True if every one is true; of none, true."""
    return _junction("and", _operands(bools, "all_of"), empty=True)


def any_of(bools: Iterable[BoolOperand]) -> Bool:
    """True if one is true; of none, false."""
    return _junction("or", _operands(bools, "any_of"), empty=False)


def _junction(op: str, nodes: list[Node], *, empty: bool) -> Stream:
    if not nodes:
        return make(literal(BOOL, empty))
    result = nodes[0]
    for node in nodes[1:]:
        result = apply(op, result, node)
    return make(result)


def count_of(type: type[Stream[T]], bools: Iterable[BoolOperand]) -> Stream[T]:
    """The number of true ones, as a number of this type."""
    core, nodes = core_type(type, "count_of(T, bools)"), _operands(bools, "count_of")
    if not core.is_number:
        raise SpecError(f"count_of: expected a type of numbers, found {core}", here())
    total = literal(core, 0)
    literal(core, len(nodes))  # the count must fit its type
    one, zero = literal(core, 1), literal(core, 0)
    for i, node in enumerate(nodes):
        term = apply("mux", node, one, zero)
        total = apply("add", total, term) if i else term
    return make(total)


def constant_of(type: Type, value: bool | int | float | Fraction) -> Stream:
    """A constant of a core type (for the library; users call the type)."""
    return make(literal(type, value))
