"""`@stream(T)`: named streams whose bodies are evaluated once, when a spec first reaches them."""

from __future__ import annotations

import ast
import builtins
import dis
import linecache
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, cast, overload

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, here
from streamcheck.core.types import Type
from streamcheck.lang import syntax
from streamcheck.lang.node import Node, StreamDefinition, call_context, current_call, current_restart, restart_context
from streamcheck.lang.stream import Appended, Operand, Stream, T, make, node_of
from streamcheck.lang.types import core_type


@overload
def stream(type: type[Stream[T]]) -> Callable[[Callable[..., Any]], Stream[T]]: ...
@overload
def stream(type: type[Stream[T]], function: Callable[[Stream[T]], Operand[T]]) -> Stream[T]: ...
@overload
def stream(type: type[Stream[T]], function: Callable[..., Any]) -> Stream[T]: ...
@overload
def stream(type: type[Any]) -> Callable[[Callable[..., Any]], Stream]: ...
@overload
def stream(type: type[Any], function: Callable[..., Any]) -> Stream: ...
def stream(type: type[Any], function: Callable[..., Any] | None = None) -> Any:
    """Name a stream by a function that returns it.

    The body may mention the stream itself and streams defined further down. A function with one parameter
    receives the stream itself; parameters with defaults keep them. Use as a decorator, `@stream(Word8)`, or as
    `stream(Word8, lambda n: [0] ++ (n + 1))`.
    """
    if isinstance(type, FunctionType):
        raise SpecError("@stream needs the type of the stream", here(), write=f"@stream(Word8) over {type.__name__}")
    core = core_type(type, "@stream(T)")
    if function is not None:
        return _define(core, function)
    return lambda decorated: _define(core, decorated)


def _define(type: Type, function: Callable[..., Any]) -> Stream:
    if not isinstance(function, FunctionType):
        raise SpecError(f"@stream(T): expected a function, found {function!r}", here())
    code = function.__code__
    required = code.co_argcount - len(function.__defaults__ or ())
    if required > 1 or code.co_kwonlyargcount > len(function.__kwdefaults__ or {}):
        raise SpecError(
            f"`{function.__name__}` has {required} parameters: at most one, which receives the stream itself",
            here(),
            write="parameters with defaults, (i=i)",
        )
    name = "" if function.__name__ == "<lambda>" else function.__name__
    where = line_of(code)
    names, call = _meanings(function, name), current_call.get()
    definition = StreamDefinition(name, type, function, where, names, current_restart.get(), call)
    definition.stream = make(Node("ref", (), type, definition, where=where))
    return cast(Stream, definition.stream)


def line_of(code: CodeType) -> Location:
    """The line of the `def`, below its decorators."""
    line = code.co_firstlineno
    while linecache.getline(code.co_filename, line).lstrip().startswith("@"):
        line += 1
    return Location(code.co_filename, line)


def force(definition: StreamDefinition) -> Node:
    """The node of the body, which the first call evaluates."""
    if definition.body is None:
        _check_names(definition)
        function = cast(FunctionType, definition.function)
        takes_itself = function.__code__.co_argcount > len(function.__defaults__ or ())
        with restart_context(definition.restart), call_context(definition.call):
            result = function(*[definition.stream] if takes_itself else [])
        definition.body = _body(definition, result)
    return definition.body


def _body(definition: StreamDefinition, result: object) -> Node:
    name = f"`{definition.name}`" if definition.name else "the stream"
    if result is None:
        raise SpecError(f"the body of {name} returns nothing", definition.where, write="return …")
    if isinstance(result, list):
        raise SpecError(f"the body of {name} is a Python list", definition.where, write=f"{result!r} ++ s")
    if isinstance(result, Appended):
        raise SpecError(f"the body of {name} has `++` without a list before it", definition.where, write="[0] ++ s")
    try:
        body = node_of(result, definition.type)
    except SpecError as error:  # a literal: its line has already run
        raise SpecError(f"the body of {name}: {error.message}", definition.where) from None
    if body.type is not definition.type:
        raise SpecError(
            f"{name} is declared {definition.type}, but its body is {body.type}",
            definition.where,
            also=(("the body", body.where),),
        )
    return body


# The loop-variable slip: a name in a body has one value when the body is defined and another when it is evaluated.


@lru_cache(maxsize=1024)
def _outer_names(code: CodeType) -> tuple[str, ...]:
    """The names a body reads from outside itself."""
    names = dict.fromkeys(code.co_freevars)
    for inner in _codes(code):
        for instruction in dis.get_instructions(inner):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                names[instruction.argval] = None
    return tuple(names)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _meanings(function: FunctionType, own_name: str = "") -> dict[str, Any]:
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    meanings = {}
    for name in _outer_names(function.__code__):
        if name == own_name:
            continue
        if name in cells:
            try:
                meanings[name] = cells[name].cell_contents
            except ValueError:
                continue
        elif name in function.__globals__:
            meanings[name] = function.__globals__[name]
        elif hasattr(builtins, name):
            meanings[name] = getattr(builtins, name)
    return meanings


def _check_names(definition: StreamDefinition) -> None:
    function = cast(FunctionType, definition.function)
    now = _meanings(function)
    own = now.get(definition.name, definition.stream)
    if own is not definition.stream and own is not function:
        parameter = f"def {definition.name}({definition.name}), whose parameter is the stream itself"
        raise _rebound_error(definition, definition.name, parameter)
    for name, meant in definition.bound_names.items():
        if name in now and not _is_same(now[name], meant):
            parameters = ", ".join([*_parameters(function), f"{name}={name}"])
            keeper = f"def {definition.name}({parameters})" if definition.name else f"lambda {parameters}: …"
            raise _rebound_error(definition, name, f"{keeper}, which keeps the value of this line")
    _check_siblings(definition, now)


def _parameters(function: FunctionType) -> list[str]:
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    defaults = len(function.__defaults__ or ())
    return [n if i < len(names) - defaults else f"{n}={n}" for i, n in enumerate(names)]


def _is_same(a: object, b: object) -> bool:
    return a is b or (isinstance(a, int | float | str) and type(a) is type(b) and a == b)


def _check_siblings(definition: StreamDefinition, now: dict[str, Any]) -> None:
    """Refuse a name that is bound only after the definition, in the same loop: every iteration binds it again, so the
    body of an earlier iteration would read the stream of the last one. Such a stream is recognised by its own bound
    names: under this definition's name it has the stream of another iteration, with the same code."""
    source = syntax.source_of(definition.where.file)
    turning = set() if source is None else {name for name, _ in syntax.loop_targets(source)}
    again = set[str]()
    if source is not None and _is_redefined(definition):
        again = {name for name, _ in syntax.bindings(syntax.enclosing_loop(source, definition.where.line))}
    for name, value in now.items():
        if name in definition.bound_names or name == definition.name or not isinstance(value, Stream):
            continue
        if name in turning and name in cast(FunctionType, definition.function).__globals__:
            raise _rebound_error(
                definition, name, "another name: this loop variable has the value of the last iteration"
            )
        if name in again:
            raise _rebound_error(definition, name, "a function that makes one iteration's streams, called in the loop")
        if value._node.op == "ref":
            mine = value._node.payload.bound_names.get(definition.name, definition.stream)
            if isinstance(mine, Stream) and mine is not definition.stream and _is_sibling(mine, definition):
                raise _rebound_error(
                    definition, name, "a function that makes one iteration's streams, called in the loop"
                )


def _is_redefined(definition: StreamDefinition) -> bool:
    """True if a later iteration of the loop has defined this stream again."""
    latest = cast(FunctionType, definition.function).__globals__.get(definition.name)
    return isinstance(latest, Stream) and latest is not definition.stream and _is_sibling(latest, definition)


def _is_sibling(stream: Stream, definition: StreamDefinition) -> bool:
    node = stream._node
    return node.op == "ref" and node.payload.function.__code__ is definition.function.__code__


def _rebound_error(definition: StreamDefinition, name: str, remedy: str) -> SpecError:
    file, where = definition.where.file, definition.where
    source = syntax.source_of(file)
    again: Location | None = None
    if source is not None:
        where = Location(file, _reading_line(source, definition, name))
        lines = [line for bound, line in syntax.bindings(source.tree.body) if bound == name]
        lines = lines or [line for bound, line in syntax.bindings(list(ast.walk(source.tree))) if bound == name]
        later = [line for line in lines if line > where.line] or lines
        again = Location(file, later[-1]) if later else None
    body = f"the body of `{definition.name}`" if definition.name else "the body of this stream"
    return SpecError(
        f"{body} reads `{name}`, which was bound again later",
        where,
        also=((f"`{name}` is bound here", again),),
        write=remedy,
    )


def _reading_line(source: syntax.SourceText, definition: StreamDefinition, name: str) -> int:
    code = cast(FunctionType, definition.function).__code__
    last = max((line for _, _, line in code.co_lines() if line is not None), default=definition.where.line)
    lines = [
        node.lineno
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Name) and node.id == name and definition.where.line <= node.lineno <= last
    ]
    return max(lines, default=definition.where.line)  # the last: a default of the same name comes before the body
