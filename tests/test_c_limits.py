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


def test_messages_do_not_show_all_of_a_long_expression(tmp_path):
    message = refusal(tmp_path, f"struct S {{ int a; }} s; int main(void) {{ return s{' + s' * 2000}; }}")
    assert "known when the program is read" in message and len(message) < 2000


def test_what_is_too_deep_has_its_line(tmp_path):
    message = refusal(tmp_path, f"int main(void) {{\n return {'!' * 300_000}1; }}")
    assert message.startswith("a.c:2: expressions or statements are too deep within each other; divide them")


@pytest.mark.parametrize(
    ("declaration", "message"),
    [
        ("int x[1ULL << 62];", "x holds more than 2000000 numbers: int[4611686018427387904]; declare a smaller array"),
        ("struct { int a[2000]; } t[2000];", "t holds more than 2000000 numbers"),
        ("int f(void) { int y[] = {[1000000000] = 1}; }", "y holds more than 2000000 numbers: int[1000000001]"),
        ("int x" + "[1]" * 1000 + ";", "x has more than 100 dimensions"),
        ("double d = 1e99999999999999;", "no double holds the literal 1e99999999999999; write INFINITY, of math.h"),
        ("float d = 0x1p99999999999999f;", "no float holds the literal 0x1p99999999999999f; write INFINITY"),
        ('#include "/dev/zero"', '#include "/dev/zero": /dev/zero is a device, not a file'),
        ('#include "."', "is a directory, not a file"),
    ],
)
def test_what_is_too_large_is_refused_at_once(tmp_path, declaration, message):
    text = refusal(tmp_path, f"\n{declaration}\nint main(void) {{ return f(); }}\n")
    assert text.startswith("a.c:2: ") and message in text


@pytest.mark.parametrize("literal", ["1e-99999999999999", "0e99999999999999", "0x1p-99999999999999"])
def test_tiny_literals_are_zero(read, literal):
    assert ends(read(f"int r; int main(void) {{ double d = {literal}; r = d == 0; }}")) == 1


def test_large_objects_that_are_only_measured_are_no_limit(read):
    assert ends(read("int r; int main(void) { r = sizeof(int[1 << 30]) >> 32; }")) == 1


def test_long_names_are_read(read):
    name = "a" * 100_000
    assert ends(read(f"int r, {name} = 7; int main(void) {{ r = {name}; }}")) == 7


def test_straight_code_is_read_in_time_linear_in_its_length(read):
    def seconds(count):
        began = time.process_time()
        assert ends(read(f"int r; int main(void) {{ {'r = (r * 7 + 3) % 1000; ' * count} }}")) >= 0
        return time.process_time() - began

    seconds(10)
    assert seconds(1600) < 16 * seconds(200)
