"""Large and deep C: it is read, or refused at once with a message that has its line."""

from __future__ import annotations

import time

import pytest
from test_minic import claims, ends, read

from streamcheck.core.errors import SpecError
from streamcheck.frontends.minic.read import read_c

__all__ = ["read"]


def refusal(tmp_path, text):
    """The message for a file, which comes at once."""
    (tmp_path / "a.c").write_text(text)
    began = time.process_time()
    with pytest.raises(SpecError) as error:
        read_c(str(tmp_path / "a.c"), "c")
    assert time.process_time() - began < 5
    return str(error.value).replace(str(tmp_path) + "/", "")


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("!" * 4001 + "1", 0),
        ("1" + " + 1" * 5000, 5001),
        ("(" * 3000 + "7" + ")" * 3000, 7),
        ("".join(f"r == {i + 1} ? {i} : " for i in range(2000)) + "3", 3),
    ],
    ids=["negations", "sum", "parentheses", "choices"],
)
def test_deep_expressions_are_read(read, expression, value):
    assert ends(read(f"int r; int main(void) {{ r = {expression}; return 0; }}")) == value


def test_a_long_sum_of_variables_is_read(read):
    program = read(f"int nondet_int(void); int main(void) {{ int x = nondet_int(), y = x{' + x' * 1500}; return y; }}")
    assert claims(program) == ["no overflow, line 1"]


def test_what_is_too_deep_has_its_line(tmp_path):
    message = refusal(tmp_path, f"int main(void) {{\n return {'!' * 300_000}1; }}")
    assert message.startswith("a.c:2: expressions or statements are too deep within each other; divide them")
