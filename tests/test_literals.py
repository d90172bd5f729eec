"""C's constants and strings, one by one: values, types, and what is none (6.4.4, 6.4.5)."""

from __future__ import annotations

import ast
from types import SimpleNamespace

import pytest

from streamcheck.c.kinds import DOUBLE, FLOAT, INT, LLONG, LONG, UINT, ULLONG, ULONG
from streamcheck.c.literals import CONSTANT_MACROS, character, characters, decimal_literal, whole_literal
from streamcheck.c.models import LP64

ESCAPES = {"n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}


def test_characters():
    for letter, code in ESCAPES.items():
        assert character(f"'\\{letter}'") == code
    for code in range(32, 128):
        if chr(code) != "\\":
            assert character(f"'{chr(code)}'") == code
    for code in range(256):
        value = code - 256 if code > 127 else code
        assert character(f"'\\{code:o}'") == character(f"'\\{code:03o}'") == character(f"'\\x{code:x}'") == value
    for none in ("'ab'", "''", "'\\'", "'\\400'", "'\\777'", "'\\x100'", "'\\x'", "'\\8'", "'\\q'", "'é'", "'\\nn'"):
        assert character(none) is None, none


def test_strings():
    def codes(text):
        return characters(SimpleNamespace(value=text))

    assert codes('""') == [] and codes('"a\'b"') == [97, 39, 98] and codes('"\\1234\\x41g"') == [83, 52, 65, 103]
    assert codes('"\\0\\377\\n"') == [0, -1, 10] and codes('"a\nb"') == [97, 10, 98]
    assert codes('L"a"') is None and codes('u8"a"') is None and codes('"a\\qb"') is None and codes('"\\x141"') is None


KINDS = {  # the types of the largest values that fit into them
    "": {(1 << 31) - 1: INT, 1 << 31: LONG, (1 << 63) - 1: LONG, 1 << 63: None},
    "u": {(1 << 32) - 1: UINT, 1 << 32: ULONG, (1 << 64) - 1: ULONG, 1 << 64: None},
    "l": {0: LONG, (1 << 63) - 1: LONG, 1 << 63: None},
    "ul": {0: ULONG, (1 << 64) - 1: ULONG, 1 << 64: None},
    "ll": {0: LLONG, (1 << 63) - 1: LLONG, 1 << 63: None},
    "ull": {0: ULLONG, (1 << 64) - 1: ULLONG, 1 << 64: None},
}
MAY_BE_UNSIGNED = {  # octal, hexadecimal and binary
    "": {(1 << 31) - 1: INT, 1 << 31: UINT, (1 << 32) - 1: UINT, 1 << 32: LONG, 1 << 63: ULONG, 1 << 64: None},
    "l": {1 << 32: LONG, 1 << 63: ULONG, 1 << 64: None},
    "ll": {1 << 32: LLONG, 1 << 63: ULLONG, 1 << 64: None},
}


@pytest.mark.parametrize("suffix", KINDS)
def test_types_of_integers(suffix):
    for written in {suffix, suffix.upper(), suffix.replace("l", "L"), suffix.replace("u", "U")}:
        for value, kind in KINDS[suffix].items():
            assert whole_literal(f"{value}{written}") == (None if kind is None else (value, kind))
        for value, kind in {**KINDS[suffix], **MAY_BE_UNSIGNED.get(suffix, {})}.items():
            for text in (f"0{value:o}", f"0x{value:x}", f"0X{value:X}", f"0b{value:b}"):
                assert whole_literal(text + written) == (None if kind is None else (value, kind))
    reverse = {"ul": "lu", "ull": "llu"}.get(suffix, suffix)
    assert whole_literal(f"7{reverse}") == whole_literal(f"7{suffix}") is not None


def test_what_is_no_integer():
    for text in ("08", "09u", "0x", "1lul", "1lL", "1uu", "-1", "1.0", "1f", "", "0b2", "u", "1lll"):
        assert whole_literal(text) is None, text


def test_constants_of_stdint():
    found = {name: LP64.promote(LP64.typedefs[kind]) for name, kind in CONSTANT_MACROS.items()}
    assert found == {
        **dict.fromkeys(["INT8_C", "INT16_C", "INT32_C", "UINT8_C", "UINT16_C"], INT),
        "INT64_C": LONG, "INTMAX_C": LONG, "UINT32_C": UINT, "UINT64_C": ULONG, "UINTMAX_C": ULONG,
    }  # fmt: skip


@pytest.mark.parametrize(
    "text", ["1.5", ".5", "5.", "1e3", "1E-3", "1.7976931348623157e308", "5e-324", "0.1", "0e99999"]
)
def test_decimals_are_python_s(text):
    value = ast.literal_eval(text)
    assert decimal_literal(text) == (value, DOUBLE)
    assert decimal_literal(f"{text}l") is None


def test_decimals_at_the_ends():
    assert decimal_literal("1e309") is None and decimal_literal("1e-400") == (0.0, DOUBLE)
    assert decimal_literal("1e-99999999999") == (0.0, DOUBLE) and decimal_literal("1e99999999999") is None
    assert decimal_literal("0." + "0" * 4_000 + "1e4001") == (1.0, DOUBLE)
    assert decimal_literal("1" + "0" * 4_000 + "e-4000") == (1.0, DOUBLE)
    assert decimal_literal("1" + "0" * 4_200 + "e-4200f") == (1.0, FLOAT)
    assert decimal_literal("3.4028235e38f") == (float.fromhex("0x1.fffffep127"), FLOAT)
    assert decimal_literal("3.41e38f") is None and decimal_literal("1e-46F") == (0.0, FLOAT)
    assert decimal_literal("16777217f") == (16777216.0, FLOAT) and decimal_literal("16777217.") == (16777217.0, DOUBLE)


@pytest.mark.parametrize("text", ["0x1p0", "0x1.8p1", "0X.8P-1", "0x1.fffffffffffffp1023", "0xap+4", "0x0.1p-1074"])
def test_hexadecimal_floats_are_python_s(text):
    assert decimal_literal(text) == (float.fromhex(text), DOUBLE)
    assert decimal_literal(f"{text}l") is None


def test_suffixes_of_hexadecimal_floats():
    assert decimal_literal("0x1.000001p0f") == (1.0, FLOAT) and decimal_literal("0xfp0") == (15.0, DOUBLE)
    for none in ("0x1f", "0x1.8", "0x1p", "0x1p1024", "0xg.p1", "1p3"):
        assert decimal_literal(none) is None, none
