"""The language in a Python session: a wrong call has the words that the command prints for a file."""

from __future__ import annotations

import inspect
import re

import pytest

from streamcheck import *
from streamcheck import SpecError, public
from streamcheck.lang.load import load

CALLS = {
    "mux(b, x)": "mux() missing 1 required positional argument: 'otherwise'",
    "mux(b, x, x, x)": "mux() takes 3 arguments at most, found 4",
    "mux(cond=b)": "mux() got an unexpected keyword argument 'cond'",
    "Spec()": "Spec() missing 1 required positional argument: 'name'",
    "Spec('a', 'b')": "Spec() takes 1 argument at most, found 2",
    "spec.prop('p')": "spec.prop() missing 1 required positional argument: 'stream'",
    "spec.prop('p', b, b)": "spec.prop() takes 2 arguments at most, found 3",
    "spec.observer()": "spec.observer() missing 2 required positional arguments: 'name' and 'stream'",
    "extern('y')": "extern() missing 1 required positional argument: 'type'",
    "signals.debounce(b)": "signals.debounce() missing 1 required positional argument: 's'",
    "signals.debounce(3, b, nit=True)": "signals.debounce() got an unexpected keyword argument 'nit'",
    "Array(Word8)": "Array() missing 1 required positional argument: 'length'",
    "maximum()": "maximum() missing 2 required positional arguments: 'a' and 'b'",
}
LINES = "from streamcheck import *\nb, x = extern('b', Bool), extern('x', Word8)\nspec = Spec('s')\n"


@pytest.mark.parametrize("call", CALLS)
def test_a_wrong_call_has_the_same_words_as_in_a_file(call, tmp_path):
    path = tmp_path / "spec.py"
    path.write_text(LINES + call + "\n")
    with pytest.raises(SpecError) as in_file:
        load(str(path))
    with pytest.raises(SpecError) as in_session:
        exec(compile(path.read_text(), str(path), "exec"), {"__name__": "session"})
    assert in_file.value.message == in_session.value.message == CALLS[call]
    assert str(in_file.value) == str(in_session.value) and in_session.value.where.line == 4
    shown = re.match(r"[\w.]+", call)[0]
    assert in_session.value.write.startswith(f"{shown}(") and in_session.value.__suppress_context__


def test_errors_of_the_users_own_code_stay_as_they_are():
    def fails(_):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        forall(Word8, fails)
    with pytest.raises(RecursionError):
        forall(Word8, lambda v: forall(Word8, fails_again))


def fails_again(_):
    return forall(Word8, fails_again)


def test_functions_keep_their_names_and_parameters():
    for name in ("mux", "extern", "pre", "stream"):
        function = getattr(public, name)
        assert function.__name__ == name and function.__doc__ == function.__wrapped__.__doc__
        assert inspect.signature(function) == inspect.signature(function.__wrapped__)
    assert list(inspect.signature(Spec).parameters) == ["name"] and "fire" not in dir(signals)
    assert list(inspect.signature(signals.debounce).parameters) == ["n", "s", "init"]
