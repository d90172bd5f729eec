"""Continued lines and comments (5.1.1.2, phases 2 and 3), as gcc reads them."""

from __future__ import annotations

import random
import re
import subprocess

import pytest
from c_harness import have
from test_minic import claims, ends, read

from streamcheck.c.macros import tokens_of
from streamcheck.c.preprocess import preprocess

__all__ = ["read"]

PROGRAM = r"""#define A 1 /* x y */ + 2
#define F(x, y) x ## y + #x
#define EMPTY
#if A == 3 && defined(EMPTY)
int a1 = A; int b2 += 0x1F >> 3 ... 'a' '\n' "x", "a\"b", L"w" 1.5e+3 1e-5f a->b; c++ + ++d; // one
/* two */ int F(foo, bar) = __LINE__; x <<= 3; y = x /2; z = x/ /*three*/ 4;
#else
int nothing;
#endif
int tail = __LINE__; a&&b; a||b; !x != y; s = "// not", "/* nor */"; F(a b, c) ;
char q = '"'; char r = '\''; t = "a\\"; EMPTY u = A__LINE__ + __LINE__;
#undef A
int A = __LINE__ ;
"""


def tokens(text):
    return [t.text for t in tokens_of(re.sub(r"(?m)^# \d+ .*$", "", text)) if t.text != "\n"]


@pytest.mark.skipif(not have("gcc"), reason="gcc is not installed")
@pytest.mark.parametrize("seed", range(25))
def test_continued_lines_are_those_of_gcc(tmp_path, seed):
    """The program means the same with a backslash and a newline anywhere, but for the lines."""
    choose, text = random.Random(seed), PROGRAM
    for _ in range(choose.randint(1, 6)):
        at = choose.randrange(len(text))
        if text[at - 1] != "\\":  # an escape of a newline
            text = text[:at] + choose.choice(["\\\n", "\\\n\\\n", "\\ \n"]) + text[at:]
    path = tmp_path / "a.c"
    path.write_text(text)
    expected = subprocess.run(["gcc", "-E", "-P", "-w", path], capture_output=True, text=True, check=True)
    assert tokens(preprocess(str(path)).text) == tokens(expected.stdout)


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ('char t[] = "ab\\\nc"; r = sizeof t * 1000 + t[2];', 4099),
        ('char t[] = "a" "b\\\nc"; r = t[2];', 99),
        ("int lo\\\nng1 = 1\\\n2; r = lo\\\nng1;", 12),
        ("r = 3; r +\\\n= 4;", 7),
        ("r = '\\\\\nn';", 10),
        ("r = 1; // not a \\\n r = 2;", 1),
        ("r = 1; /\\\n/ not a \\\n r = 2;\n r += 2;", 3),
        ("r = 1; /\\\n* r = 2; *\\\n/ r += 3;", 4),
        ("r = sizeof(TEXT(a\\\nb));", 3),
        ("r = sizeof(TEXT(a \\\n  b));", 4),
        ("r = TWELVE;", 12),
        ("r = LONG;", 5),
        ('r = sizeof("\\x41" "1");', 3),
        ('char t[] = "\\1" "01"; r = t[0] * 100 + t[1];', 148),
        ('char t[] = "\\0" "1"; r = strlen(t);', 0),
    ],
)
def test_a_backslash_and_a_newline_vanish(read, statement, value):
    macros = "#define TEXT(x) #x\n#define TWELVE 1\\\n2\n#define LO\\\nNG 2 /* a\n comment */ + 3\nint r;\n"
    assert ends(read(f"{macros}int main(void) {{ {statement}\n}}\n")) == value


def test_the_lines_of_continued_lines_stay(read):
    text = "int r, lo\\\nng1;\n#define CHECK(x) \\\n  assert(x)\nint main(void) {\n"
    text += (
        "  assert(r \\\n    == 0); assert(lo\\\nng1 == 0); assert(r);\n  CHECK(r == 1);\n /* a\n b */ assert(r); }\n"
    )
    assert claims(read(text)) == [f"assert, line {line}" for line in (6, 7, 8, 9, 11)]
