"""Calls of the language's functions: what Python says of wrong arguments, in the user's words, in sessions too."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import wraps
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, here, is_ours
from streamcheck.core.types import plural

P = ParamSpec("P")
R = TypeVar("R")
PYTHONS = (SpecError, RecursionError, MemoryError, OSError)  # errors that stay as they are


def in_users_words(function: Callable[P, R], shown: str = "") -> Callable[P, R]:
    """The same function; SpecError if a call does not fit its parameters, or if it cannot use an argument. `shown` is
    its name as users write it."""
    name = shown or function.__name__

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except PYTHONS:
            raise
        except Exception as error:
            mistake = _mistake(error, name, function, len(args))
            if mistake is None:
                raise
            raise mistake from None

    return call


def _mistake(error: Exception, shown: str, function: Callable[..., Any], count: int) -> SpecError | None:
    """The error for a call of the function, whose frame the traceback begins with. None if code of the user's failed
    that the function calls."""
    inside = None if error.__traceback__ is None else error.__traceback__.tb_next
    if inside is None:
        return call_error(error, shown, function, count - _has_self(function), here())
    return None if _has_user_frames(inside) else argument_error(error, shown, function, here())


def _has_self(function: Callable[..., Any]) -> bool:
    return "self" in inspect.signature(function).parameters


def _has_user_frames(tb: TracebackType | None) -> bool:
    while tb is not None:
        if not is_ours(tb.tb_frame) and not tb.tb_frame.f_code.co_filename.startswith("<frozen"):
            return True
        tb = tb.tb_next
    return False


def call_error(
    error: Exception, shown: str, function: Callable[..., Any], count: int, where: Location
) -> SpecError | None:
    """The error for too few or too many arguments, or one of another name. None if Python's is about something else."""
    match = re.match(r"[\w.<>]+\(\) (missing|takes|got) ", str(error))
    if match is None:
        return None
    message = f"{shown}() {str(error).partition('() ')[2]}"
    if match[1] == "takes":  # Python counts the `self` of a method
        most = sum(p.kind is not p.KEYWORD_ONLY for p in _parameters(function))
        message = f"{shown}() takes {plural(most, 'argument')} at most, found {count}"
    return SpecError(message, where, write=_signature(shown, function))


def argument_error(error: Exception, shown: str, function: Callable[..., Any], where: Location) -> SpecError:
    """The error for an argument that the function cannot use, and that it does not check itself."""
    reason = " ".join(str(error).split())
    message = f"{shown}: it cannot be called with these arguments ({type(error).__name__}: {reason})"
    return SpecError(message, where, write=_signature(shown, function))


def _signature(shown: str, function: Callable[..., Any]) -> str:
    """A call as the function's documentation writes it, without the types."""
    return shown + str(inspect.Signature([p.replace(annotation=p.empty) for p in _parameters(function)]))


def _parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    return [p for p in inspect.signature(function).parameters.values() if p.name != "self"]
