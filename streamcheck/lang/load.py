"""Loading a spec: run a Python module and collect the Spec objects at its top level.

Errors in the user's code are reported with the user's lines, without the frames of this package.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import ModuleType, TracebackType
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, is_ours
from streamcheck.core.types import plural
from streamcheck.lang import build, syntax
from streamcheck.lang.spec import SpecBase, record_specs


class LoadedSpecs(list[SpecBase]):
    """The specs of a module. `left_out` describes those that it made and that no name at its top level refers to."""

    left_out: tuple[str, ...] = ()


def load(path: str) -> LoadedSpecs:
    """The specs of a module, imported ones and those in lists and dictionaries included, each once, in the order of its
    names."""
    with record_specs() as made:
        module = _module(path)
    specs = LoadedSpecs(_specs_in(vars(module)))
    specs.left_out = tuple(_left_out(specs, made))
    if not specs:
        raise _no_spec_error(path, specs.left_out)
    names: dict[str, SpecBase] = {}
    for spec in specs:
        other = names.setdefault(spec.name, spec)
        if other is not spec:
            raise SpecError(f'a second Spec named "{spec.name}"', spec.where, also=(("the first", other.where),))
    return specs


def _specs_in(names: Mapping[str, Any]) -> dict[SpecBase, None]:
    """The specs that these names refer to, directly or in lists, tuples, sets and dictionaries."""
    specs: dict[SpecBase, None] = {}
    stack = [value for name, value in names.items() if name != "__builtins__"][::-1]
    seen: set[int] = set()
    while stack:
        value = stack.pop()
        if isinstance(value, SpecBase):
            specs[value] = None
        elif isinstance(value, list | tuple | set | frozenset | dict) and id(value) not in seen:
            seen.add(id(value))
            stack.extend(reversed(list(value.values() if isinstance(value, dict) else value)))
    return specs


def _left_out(specs: list[SpecBase], made: list[SpecBase]) -> Iterator[str]:
    """A line for each spec that declares anything and is not among the module's. Those at the top level of a module
    that it imports are no loss."""
    for spec in made:
        declared = bool(spec.properties or spec.witnesses or spec.assumptions or spec.triggers or spec.observers)
        if declared and spec not in specs and spec not in _specs_in(spec.namespace):
            count = plural(len(spec.properties) + len(spec.witnesses), "property")
            yield f'spec "{spec.name}" ({spec.where}, {count}) is left out: no name at top level refers to it'


def _no_spec_error(path: str, left_out: tuple[str, ...]) -> SpecError:
    """The error for a module without specs, which mentions those that were lost or never made."""
    source = syntax.source_of(os.path.abspath(path))
    lines = () if source is None or left_out else syntax.lines_of_calls(source, "Spec")
    also = tuple((f"`Spec(…)` in line {line}, which did not run", None) for line in lines)
    also += tuple((line, None) for line in left_out)
    return SpecError(f"{path} has no Spec at its top level", also=also, write='spec = Spec("name")')


def _module(path: str) -> ModuleType:
    path = os.path.abspath(path)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules:  # a spec named like a loaded module must not replace it
        name = f"spec {name}"
    module = ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    sys.path.insert(0, os.path.dirname(path))
    with in_user_terms(), open(path, "rb") as file:  # never a cached compilation of an older text
        exec(compile(file.read(), path, "exec"), vars(module))
    return module


@contextmanager
def in_user_terms() -> Iterator[None]:
    """Turn every exception of the user's code into a SpecError with the user's line."""
    try:
        yield
    except SpecError:
        raise
    except SyntaxError as error:
        raise _syntax_error(error) from None
    except SystemExit as error:
        raise SpecError(f"the spec called exit ({error.code}) while loading", _innermost(error.__traceback__)) from None
    except RecursionError as error:
        where = _innermost(error.__traceback__)
        raise SpecError("Python's recursion limit: a function calls itself without end", where) from None
    except MemoryError:
        raise
    except Exception as error:
        raise translate_error(error) from None


def _syntax_error(error: SyntaxError) -> SpecError:
    where = Location(error.filename or "?", error.lineno or 0)
    return SpecError(f"Python cannot read this: {error.msg}", where)


def translate_error(error: Exception) -> SpecError:
    """The SpecError for a Python exception of the user's code: an explanation if the slip is known, else a traceback of
    the user's frames alone."""
    frames = [(tb.tb_frame, tb.tb_lineno) for tb in _user_tracebacks(error.__traceback__)]
    slip = None
    if isinstance(error, TypeError):
        slip = _append_slip(error.__traceback__) or _call_slip(error)
    elif isinstance(error, NameError):
        slip = _self_slip(error)
    if slip is not None:
        return slip
    summary = traceback.StackSummary.extract(iter(frames))
    text = "".join(traceback.format_list(summary) + traceback.format_exception_only(error)).rstrip()
    return SpecError("the spec raised an exception\n" + text)


def _user_tracebacks(tb: TracebackType | None) -> list[TracebackType]:
    tracebacks = []
    while tb is not None:
        if not is_ours(tb.tb_frame) and not tb.tb_frame.f_code.co_filename.startswith("<frozen"):
            tracebacks.append(tb)
        tb = tb.tb_next
    return tracebacks


def _innermost(tb: TracebackType | None) -> Location | None:
    tracebacks = _user_tracebacks(tb)
    if not tracebacks:
        return None
    return Location(tracebacks[-1].tb_frame.f_code.co_filename, tracebacks[-1].tb_lineno)


def _append_slip(tb: TracebackType | None) -> SpecError | None:
    """`[0] ++ 5`, `[0] ++ [1] ++ n`, `1 + [0] ++ n`: Python raises before any method of a stream runs."""
    tracebacks = _user_tracebacks(tb)
    if not tracebacks:
        return None
    innermost = tracebacks[-1]
    here = syntax.expression_at(innermost.tb_frame.f_code, innermost.tb_lasti)
    if here is None:
        return None
    source, node = here
    around: ast.AST | None = node
    while isinstance(around, ast.BinOp | ast.UnaryOp):
        if syntax.is_append(around):
            assert isinstance(around, ast.BinOp) and isinstance(around.right, ast.UnaryOp)
            left, right = source.segment(around.left), source.segment(around.right.operand)
            where = Location(innermost.tb_frame.f_code.co_filename, innermost.tb_lineno)
            return _append_error(left, around.left, right, around.right.operand, where)
        around = source.parent.get(around)
    return None


def _call_slip(error: TypeError) -> SpecError | None:
    """`pre(x)`, `statistics.sum(x)`: a function of the language or of the library, called with too few or too many
    arguments."""
    match = re.match(r"(\w+)\(\) (missing|takes|got)", str(error))
    if match is None:
        return None
    name, function = match[1], getattr(build, match[1], None)
    if not callable(function):
        name, function = _library_function(match[1], error.__traceback__)
    if not callable(function):
        return None
    parameters = [str(p.replace(annotation=p.empty)) for p in inspect.signature(function).parameters.values()]
    return SpecError(str(error), _innermost(error.__traceback__), write=f"{name}({', '.join(parameters)})")


def _library_function(name: str, tb: TracebackType | None) -> tuple[str, Any]:
    """The function of the library's modules that the innermost line of the user's calls by this name, else None; and
    the name as it is written there."""
    tracebacks = _user_tracebacks(tb)
    here = syntax.expression_at(tracebacks[-1].tb_frame.f_code, tracebacks[-1].tb_lasti) if tracebacks else None
    match here[1] if here else None:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=module_name), attr=attribute)) if attribute == name:
            module = tracebacks[-1].tb_frame.f_globals.get(module_name)
            if isinstance(module, ModuleType) and module.__name__.startswith("streamcheck.lang.lib."):
                return f"{module_name}.{name}", getattr(module, name, None)
    return name, None


def _self_slip(error: NameError) -> SpecError | None:
    """`n = [0] ++ (n + 1)`: a stream that refers to itself needs `stream(T, …)`."""
    tracebacks = _user_tracebacks(error.__traceback__)
    here = syntax.expression_at(tracebacks[-1].tb_frame.f_code, tracebacks[-1].tb_lasti) if tracebacks else None
    if here is None:
        return None
    source, node = here
    statement: ast.AST | None = node
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = source.parent.get(statement)
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if name == error.name:
            write = f"{name} = stream(T, lambda {name}: {source.segment(value)})"
            where = _innermost(error.__traceback__)
            return SpecError(
                f"`{name}` is used in its own definition, before Python has defined it", where, write=write
            )
    return None


KINDS = {bool: "Bool", int: "Int", float: "Double"}


def _append_error(left: str, left_node: ast.expr, right: str, right_node: ast.expr, where: Location) -> SpecError:
    if isinstance(right_node, ast.List):
        return SpecError(
            f"`{left} ++ {right}`: the right side of ++ must be a stream, not a list",
            where,
            write="one list, [0, 1] ++ s, or [0] ++ ([1] ++ s)",
        )
    if isinstance(right_node, ast.Constant):
        return SpecError(
            f"`{left} ++ {right}`: the right side of ++ must be a stream, not a Python value",
            where,
            write=f"{left} ++ {KINDS.get(type(right_node.value), 'T')}({right}), with the type that is meant",
        )
    if isinstance(left_node, ast.BinOp) and syntax.is_append(left_node):
        return SpecError(
            "++ associates to the left; its right side must be a stream",
            where,
            write="one list, [0, 1] ++ s, or [0] ++ ([1] ++ s)",
        )
    if isinstance(left_node, ast.BinOp | ast.UnaryOp):
        return SpecError(
            f"the left side of ++ must be a list, not `{left}`: ++ binds like `+`",
            where,
            write="parentheses around […] ++ s",
        )
    return SpecError(
        f"`{left} ++ {right}`: ++ needs a list of values on its left and a stream on its right",
        where,
        write="[0] ++ s",
    )
