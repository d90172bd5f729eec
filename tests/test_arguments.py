"""Every public function, called with arguments that it cannot use: the user's line and words, never Python's exception
from inside."""

from __future__ import annotations

import inspect
import linecache
from itertools import count, product

import pytest

import streamcheck
import streamcheck.public as language
from streamcheck.core.errors import SpecError
from streamcheck.lang.load import in_user_terms

PREAMBLE = """\
from streamcheck import *
import enum
class E(enum.Enum):
    A = 0
x, b, f, a = extern("x", Word8), extern("b", Bool), extern("f", Float), extern("a", Array(Word8, 3))
spec = Spec("s")
"""
LINES = PREAMBLE.count("\n")
VALUES = ["x", "b", "a", "2", "-1", "None", '"s"', "[]", "[b]", "object()", "lambda v: v", "Word8", "E.A", "Spec"]
VALUES += ["mtl"]
NUMBERS = count()
OTHERS = ("partial", "SpecError", "Step")


def functions():
    for name, value in vars(language).items():
        if inspect.ismodule(value) and value.__name__.startswith("streamcheck.lang.lib."):
            yield from (
                (f"{name}.{n}", getattr(value, n)) for n in value.__all__ if not isinstance(getattr(value, n), type)
            )
        elif (
            callable(value)
            and not isinstance(value, streamcheck.Stream)
            and name not in ("partial", "SpecError", "Step")
        ):
            yield name, value
    for name in ("prop", "exists", "assume", "observer", "trigger"):
        yield f"spec.{name}", getattr(streamcheck.Spec, name)


def answer(call):
    """The error of a call. None if there is none."""
    path, text = f"/nowhere/arguments_{next(NUMBERS)}.py", f"{PREAMBLE}r = {call}\n"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    try:
        with in_user_terms():
            exec(compile(text, path, "exec"), {"__name__": "user"})
    except SpecError as error:
        return error
    return None


def calls(name, function):
    """With none, too few, too many and strange arguments."""
    kinds = [p.kind for p in inspect.signature(function).parameters.values()]
    most = sum(kind is inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds) - name.startswith("spec.")
    for length in range(most + 2):
        yield from (f"{name}({', '.join([value] * length)})" for value in VALUES[: 1 + length * 99])
        for value, other, place in product(VALUES, ("x", "2"), range(length if length <= most else 0)):
            yield f"{name}({', '.join([other] * place + [value] + [other] * (length - place - 1))})"
    yield f"{name}(nothing_of_this_name=3)"


NAMES = dict(functions())


def test_the_functions_are_those_of_the_language():
    assert {"extern", "mux", "pre", "stream", "Word8", "Array", "mtl.since", "signals.debounce", "spec.trigger"} <= set(
        NAMES
    )
    assert len(NAMES) > 100


@pytest.mark.parametrize("name", NAMES)
def test_arguments_that_do_not_fit(name):
    refused = 0
    for call in dict.fromkeys(calls(name, NAMES[name])):
        error = answer(call)
        if error is not None:
            refused += 1
            assert error.where is not None and error.where.line == LINES + 1, (call, str(error))
            assert error.where.file.startswith("/nowhere/"), (call, str(error))
            assert "raised an exception" not in error.message, (call, str(error))
    assert refused


@pytest.mark.parametrize(
    ("call", "write"),
    [
        ("mux(b, x)", "mux(condition, then, otherwise)"),
        ("signals.debounce(3)", "signals.debounce(n, s, init=False)"),
        ("spec.prop(b)", "spec.prop(name, stream, *, provided=None)"),
        ("spec.trigger('t')", "spec.trigger(name, guard, args=())"),
        ("extern('z', Word8, unit='m', nmae=3)", "extern(name, type, samples=None, *, doc='', unit='')"),
        ("voting.majority()", "voting.majority("),
    ],
)
def test_the_signature_is_shown(call, write):
    assert answer(call).write.startswith(write)
