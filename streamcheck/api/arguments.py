"""The arguments of public functions: what does not fit is reported in the user's words, with the user's line.

A parameter's annotation says which values it takes: `timeout: Duration` refuses a negative number.
"""

from __future__ import annotations

import inspect
import os
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, wraps
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    runtime_checkable,
)

from streamcheck.api.wording import speak_python
from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import closest, did_you_mean
from streamcheck.core.location import here

P = ParamSpec("P")
R = TypeVar("R")


LIKENESS = 0.75  # of names of options, which are short: `predicates` is not like `certificates`
NAMES_OF_THE_COMMAND = {  # and Python's
    "data": "inputs",
    "eval": "expressions",
    "input": "inputs",
    "int": "integers",
    "no_blocks": "blocks",
    "no_cache": "cache",
    "no_validate": "validate",
    "o": "directory",
    "output": "directory",
    "set": "options",
    "with": "extras",
}
ELSEWHERE = {  # the places of options that a function does not have
    "predicates": 'load("lock.c", predicates=["x <= 3"]), for programs',
    "predicate": 'load("lock.c", predicates=["x <= 3"]), for programs',
    "integers": 'load("lock.c", integers="math"), for programs',
    "int": 'load("lock.c", integers="math"), for programs',
    "expressions": 'spec.observer("name", stream), or load("spec.py", expressions=["x - pre(0, x)"])',
    "eval": 'spec.observer("name", stream), or load("spec.py", expressions=["x - pre(0, x)"])',
    "sandbox": 'load("spec.py", sandbox=True)',
    "json": "to_json() of the results",
    "full": 'results["name"].counterexample.table(full=True)',
    "rows": 'results["name"].counterexample.table(rows=["x"])',
    "quiet": "repr(results), or a loop over the results",
    "verbose": "logging.basicConfig(level=logging.INFO)",
    "log": 'logging.basicConfig(filename="prove.log", level=logging.INFO)',
}


@dataclass(frozen=True, slots=True)
class AtLeast:
    """The least number that an argument may be."""

    least: int


@runtime_checkable
class Workers(Protocol):
    """An executor, or a client of Dask."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any: ...


@runtime_checkable
class DaskCluster(Protocol):
    scheduler_address: str


PathText: TypeAlias = str | os.PathLike[str]
Duration: TypeAlias = Annotated[float, AtLeast(0)]
Count: TypeAlias = Annotated[int, AtLeast(1)]
CountFromZero: TypeAlias = Annotated[int, AtLeast(0)]


def check_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; SpecError if a call does not fit its parameters. Of every SpecError, the traceback shows where
    the user's program called the function, not what went on inside."""

    @wraps(function)
    def check_and_call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            _check(function, args, kwargs)
            return function(*args, **kwargs)
        except SpecError as mistake:
            speak_python(mistake)
            raise mistake.with_traceback(None) from None

    return check_and_call


def _check(function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    name = function.__name__
    signature, annotations = _parameters(function)
    for option in kwargs:
        if option not in signature.parameters:
            raise _unknown_option(name, option, signature)
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError as why:
        raise SpecError(f"{name}: {why}", here(), write=_call_text(name, signature)) from None
    for parameter, value in given.items():
        annotation = annotations[parameter]
        if signature.parameters[parameter].kind is inspect.Parameter.VAR_POSITIONAL:
            wrong = [v for v in value if not _fits(v, annotation)]
            if wrong:
                message = f"{name}(*{parameter}): expected {_words(annotation)} each; found {_short(wrong[0])}"
                raise SpecError(message, here(), write=_call_text(name, signature))
        elif parameter != "self" and not _fits(value, annotation):
            message = f"{name}({parameter}=…): expected {_words(annotation)}; found {_short(value)}"
            if isinstance(value, str):
                write = _call_with_list(name, parameter, value, annotation)
            else:  # at another's place, if it has no name
                others = [p for p in annotations if p not in given and _fits(value, annotations[p])]
                write = f"{name}({others[0]}=…)" if parameter not in kwargs and len(others) == 1 else ""
            raise SpecError(message, here(), write=write)


def _unknown_option(name: str, option: str, signature: inspect.Signature) -> SpecError:
    """The error for an option that the function does not have: a name like it, or the place that has it."""
    names = [p for p in signature.parameters if p != "self"]
    meant = NAMES_OF_THE_COMMAND.get(option, option)
    if meant not in names:
        meant = closest(option, names, LIKENESS)
    message = f"{name}: unknown option '{option}'{did_you_mean(meant)}"
    if meant:
        return SpecError(message, here())
    return SpecError(message, here(), write=ELSEWHERE.get(option) or _call_text(name, signature))


def _call_with_list(name: str, parameter: str, value: str, annotation: Any) -> str:
    """A list of one string, if it is for that."""
    is_list = get_origin(annotation) is Sequence and _fits([value], annotation)
    return f"{name}({parameter}=[{value!r}])" if is_list else ""


@cache
def _parameters(function: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """The signature, and the meaning of each annotation. That of the result may name what is not loaded yet."""
    signature = inspect.signature(function)
    names = function.__globals__
    annotations = {
        p.name: Any if p.annotation is p.empty else eval(p.annotation, names) for p in signature.parameters.values()
    }
    return signature, annotations


def _call_text(name: str, signature: inspect.Signature) -> str:
    """A call as the documentation writes it, without the types."""
    parameters = [p.replace(annotation=p.empty) for p in signature.parameters.values() if p.name != "self"]
    return name + str(inspect.Signature(parameters))


def _short(value: object) -> str:
    """The value on one line, without the middle if it is long."""
    return " ".join(reprlib.repr(value).split())


def _fits(value: Any, annotation: Any) -> bool:
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation is Any:
        return True
    if origin in (Union, UnionType):
        return any(_fits(value, a) for a in args)
    if origin is Literal:
        return isinstance(value, str) and value in args
    if origin is Annotated:
        return _fits(value, args[0]) and value >= args[1].least
    if origin is tuple:
        return isinstance(value, tuple | list) and len(value) == len(args) and all(map(_fits, value, args))
    if origin is Sequence:
        return isinstance(value, Sequence) and not isinstance(value, str) and all(_fits(v, args[0]) for v in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_fits(k, args[0]) and _fits(v, args[1]) for k, v in value.items())
    if annotation in (int, float):
        return isinstance(value, int | annotation) and not isinstance(value, bool)
    return isinstance(value, origin or annotation)


SINGLE = {int: "an integer", float: "a number", bool: "True or False", str: "a string", NoneType: "None"}
SEVERAL = {str: "strings", Any: "values"}


def _words(annotation: Any) -> str:
    """The values that fit, in words."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation in SINGLE:
        return SINGLE[annotation]
    if origin in (Union, UnionType):
        has_paths = os.PathLike[str] in args
        return " or ".join(_words(a) for a in args if not (has_paths and a is str))
    if origin is Literal:
        return f"one of {', '.join(map(repr, args))}"
    if origin is Annotated:
        return f"{SINGLE[args[0]]} of at least {args[1].least}"
    if origin is tuple:
        return f"a tuple of {' and '.join(map(_words, args))}"
    if origin is Sequence:
        return f"a list of {SEVERAL[args[0]]}" if args[0] in SEVERAL else f"a list, each {_words(args[0])}"
    if origin is Mapping:
        return "a dictionary"
    if annotation in (Workers, DaskCluster):
        return "an executor" if annotation is Workers else "a cluster of Dask"
    return "a path" if origin is os.PathLike else "rows"
