"""Python's exceptions in the user's code, explained: the line, the user's words, and what to write instead."""

from __future__ import annotations

import ast
import builtins
import re
import sys
import traceback
from dataclasses import dataclass
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import closest, did_you_mean
from streamcheck.core.location import PACKAGE, Location, is_ours
from streamcheck.core.worded import WordedError
from streamcheck.lang import build, syntax
from streamcheck.lang.calls import argument_error, call_error
from streamcheck.lang.spec import SpecBase
from streamcheck.lang.stream import Stream, StreamType
from streamcheck.lang.syntax import function_error


def translate_error(error: Exception) -> SpecError:
    """The SpecError for a Python exception of the user's code: an explanation if the slip is known, else a traceback of
    the user's frames alone."""
    place = _CodePlace.of(error)
    slip = None
    match error:
        case TypeError():
            slip = _append_slip(error.__traceback__) or _function_slip(place) or _call_slip(error, place)
        case NameError():
            slip = _self_slip(error) or _name_slip(error, place)
        case AttributeError():
            slip = _attribute_slip(error, place)
        case ImportError():
            slip = _import_slip(error, place)
    if slip is None and place is not None and place.is_inside_ours:
        slip = _argument_slip(error, place)
    if slip is not None:
        return slip
    frames = [(tb.tb_frame, tb.tb_lineno) for tb in _user_tracebacks(error.__traceback__)]
    summary = traceback.StackSummary.extract(iter(frames))
    text = "".join(traceback.format_list(summary) + traceback.format_exception_only(error)).rstrip()
    suggestion = _python_suggestion(error, text)
    brief = "".join(traceback.format_exception_only(error)).rstrip() + suggestion
    return WordedError(f"the spec raised an exception\n{text}{suggestion}", brief, innermost_line(error.__traceback__))


def _user_tracebacks(tb: TracebackType | None) -> list[TracebackType]:
    tracebacks = []
    while tb is not None:
        if not is_ours(tb.tb_frame) and not tb.tb_frame.f_code.co_filename.startswith("<frozen"):
            tracebacks.append(tb)
        tb = tb.tb_next
    return tracebacks


def innermost_line(tb: TracebackType | None) -> Location | None:
    """The innermost line of the user's that an exception passed."""
    tracebacks = _user_tracebacks(tb)
    if not tracebacks:
        return None
    return Location(tracebacks[-1].tb_frame.f_code.co_filename, tracebacks[-1].tb_lineno)


@dataclass(frozen=True, slots=True)
class _CodePlace:
    """The innermost expression of the user's that an exception passed. `is_inside_ours`: it was raised in a function of
    this package that the expression calls."""

    frame: FrameType
    where: Location
    source: syntax.SourceText | None
    node: ast.AST | None
    is_inside_ours: bool

    @staticmethod
    def of(error: Exception) -> _CodePlace | None:
        tracebacks = _user_tracebacks(error.__traceback__)
        if not tracebacks:
            return None
        innermost = tracebacks[-1]
        frame = innermost.tb_frame
        found = syntax.expression_at(frame.f_code, innermost.tb_lasti)
        source, node = found if found is not None else (None, None)
        after = innermost.tb_next
        inside = after is not None and is_ours(after.tb_frame)
        return _CodePlace(frame, Location(frame.f_code.co_filename, innermost.tb_lineno), source, node, inside)

    def segment(self, node: ast.AST) -> str:
        return self.source.segment(node) if self.source is not None else ""

    def value_of(self, node: ast.expr) -> Any:
        """The meaning of a name, or of an attribute of a module or a spec, else None. Nothing is evaluated."""
        match node:
            case ast.Name(id=name):
                for names in (self.frame.f_locals, self.frame.f_globals, vars(builtins)):
                    if name in names:
                        return names[name]
            case ast.Attribute(value=value, attr=attribute):
                owner = self.value_of(value)
                if isinstance(owner, ModuleType | SpecBase):
                    return getattr(owner, attribute, None)
        return None

    def call(self) -> tuple[str, Any] | None:
        """The function that the expression calls, as it is written; None if that is not one of this package."""
        if not isinstance(self.node, ast.Call):
            return None
        function = self.value_of(self.node.func)
        if not callable(function) or isinstance(function, Stream | StreamType):
            return None
        if not str(getattr(function, "__module__", "")).startswith(PACKAGE + "."):
            return None
        return self.segment(self.node.func), function


# Calls


def _call_slip(error: TypeError, place: _CodePlace | None) -> SpecError | None:
    """Too few or too many arguments, or one of another name; a stream that is called."""
    if place is None:
        return None
    if isinstance(place.node, ast.Call) and "object is not callable" in str(error):
        return _called_stream(place, place.node)
    called = place.call()
    if called is None or place.is_inside_ours or not isinstance(place.node, ast.Call):
        return None
    return call_error(error, *called, len(place.node.args), place.where)


def _called_stream(place: _CodePlace, call: ast.Call) -> SpecError | None:
    if not isinstance(place.value_of(call.func), Stream):
        return None
    name = place.segment(call.func)
    earlier = f", or pre(init, {name}) for its value one step earlier" if call.args else ""
    return SpecError(f"`{name}` is a stream: it is not called", place.where, write=name + earlier)


def _argument_slip(error: Exception, place: _CodePlace) -> SpecError | None:
    """An argument that a function of this package cannot use, and that it does not check itself."""
    called = place.call()
    if called is None:
        return None
    return argument_error(error, *called, place.where)


def _function_slip(place: _CodePlace | None) -> SpecError | None:
    """`m < 3` for a function `m`, above which `@stream(T)` is missing."""
    match place.node if place is not None else None:
        case ast.BinOp(left=left, right=right):
            operands = [left, right]
        case ast.Compare(left=left, comparators=comparators):
            operands = [left, *comparators]
        case ast.UnaryOp(operand=operand):
            operands = [operand]
        case _:
            return None
    assert place is not None
    for operand in operands:
        while isinstance(operand, ast.UnaryOp):
            operand = operand.operand
        value = place.value_of(operand)
        if isinstance(value, FunctionType):
            return function_error(value, place.where)
    return None


# Names


TYPES = (  # how other languages call a type, and its name here
    (r"u_?int_?(8|16|32|64)(_t)?|u(8|16|32|64)|word_?(8|16|32|64)|unsigned(8|16|32|64)", "Word"),
    (r"s?int_?(8|16|32|64)(_t)?|[is](8|16|32|64)|signed(8|16|32|64)", "Int"),
)
OTHER_FUNCTIONS = {  # how others call a function of the library
    "once": "eventually_prev",
    "historically": "always_been",
    "globally": "always",
    "finally_": "eventually",
    "rising": "rose",
    "falling": "fell",
    "average": "mean",
}
OTHER_TYPES = {
    "boolean": "Bool",
    "byte": "Word8",
    "integer": "Int",
    "rational": "Real",
    "f32": "Float",
    "float32": "Float",
    "single": "Float",
    "f64": "Double",
    "float64": "Double",
}


def _type_meant(name: str) -> str:
    """The type that has this name in another language; empty if there is none."""
    for pattern, family in TYPES:
        if re.fullmatch(pattern, name, re.IGNORECASE):
            return family + "".join(c for c in name if c.isdigit())
    return OTHER_TYPES.get(name.lower(), "")


def _name_slip(error: NameError, place: _CodePlace | None) -> SpecError | None:
    name = error.name
    if place is None or name is None or isinstance(error, UnboundLocalError):
        return None
    meant = _type_meant(name)
    if meant:
        family = "unsigned types are Word8, Word16, Word32, Word64" if meant.startswith("Word") else f"it is {meant}"
        return SpecError(f"name '{name}' is not defined: {family}", place.where, write=meant)
    names = [*place.frame.f_locals, *place.frame.f_globals, *vars(builtins)]
    close = closest(name, names)
    if not close and hasattr(build, name):
        return SpecError(f"name '{name}' is not defined", place.where, write="from streamcheck import *")
    return SpecError(f"name '{name}' is not defined{did_you_mean(close)}", place.where)


def _attribute_slip(error: AttributeError, place: _CodePlace | None) -> SpecError | None:
    """A method that a spec does not have, a function that a module of the library does not have."""
    owner, name = error.obj, error.name
    if place is None or name is None:
        return None
    if isinstance(owner, SpecBase):
        methods = [n for n in dir(owner) if callable(getattr(owner, n))]
        return SpecError(f"a Spec has no `{name}`{did_you_mean(closest(name, methods))}", place.where)
    if isinstance(owner, ModuleType) and owner.__name__.startswith(PACKAGE):
        public = list(getattr(owner, "__all__", ())) or [n for n in vars(owner) if not n.startswith("_")]
        close = OTHER_FUNCTIONS.get(name, "")
        close = close if close in public else closest(name, public, 0.7)
        shown = owner.__name__.rpartition(".")[2]
        listed = "" if close else f"; it has {', '.join(sorted(public))}"
        return SpecError(f"{shown} has no `{name}`{did_you_mean(close) or listed}", place.where)
    return None


def _import_slip(error: ImportError, place: _CodePlace | None) -> SpecError | None:
    """`from streamcheck import implise`."""
    match = re.match(r"cannot import name '(\w+)'", str(error))
    if place is None or match is None or error.name is None or error.name.partition(".")[0] != PACKAGE:
        return None
    meant = _type_meant(match[1]) or closest(match[1], dir(sys.modules[error.name]))
    return SpecError(f"{error.name} has no `{match[1]}`{did_you_mean(meant)}", place.where)


def _python_suggestion(error: Exception, text: str) -> str:
    """The suggestion for an attribute of the user's own objects, which Python 3.11 makes for the terminal alone."""
    if not isinstance(error, AttributeError) or error.name is None or "Did you mean" in text:
        return ""
    return did_you_mean(closest(error.name, dir(error.obj)))


# Syntax


SYMBOLS = (  # of other languages, and what is written here
    (r"&&", "{} & {}"),
    (r"\|\|", "{} | {}"),
    (r"==?>|->", "implies({}, {})"),
    (r"\?", "mux({}, {}, …)"),
    (r"!(?!=)", "~{1}"),
)


def syntax_error(error: SyntaxError) -> SpecError:
    """The error for code that Python cannot parse."""
    where = Location(error.filename or "?", error.lineno or 0)
    write = ""
    text = error.text or ""
    for pattern, form in SYMBOLS if error.msg == "invalid syntax" else ():
        found = re.search(pattern, text)
        if found is not None:
            write = form.format(_operand(text[: found.start()][::-1], ")(")[::-1], _operand(text[found.end() :], "()"))
            break
    return SpecError(f"Python cannot read this: {error.msg}", where, write=write)


def _operand(text: str, brackets: str) -> str:
    """The name, the brackets or the call at the beginning of a text, which may be read from its end."""
    text = text.strip()
    depth = 0
    for i, c in enumerate(text):
        depth += (c == brackets[0]) - (c == brackets[1])
        is_more = c.isalnum() or c in "_.~!" or depth > 0 or (c == brackets[1] and depth == 0)
        if depth < 0 or not is_more:
            return text[:i].replace("!", "~") or "…"
    return text.replace("!", "~") or "…"


# `++`


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
            where = innermost_line(error.__traceback__)
            return SpecError(
                f"`{name}` is used in its own definition, before Python has defined it", where, write=write
            )
    return None
