"""Macros expand as gcc's do."""

from __future__ import annotations

import subprocess

import pytest
from c_harness import have

from streamcheck.c.macros import tokens_of
from streamcheck.c.preprocess import preprocess
from streamcheck.core.errors import SpecError

CASES = """
#define x (x+1)
#define f(a) ((a)*2)
1: f(x) x f(f(x)) f
(x) f ((x))
#define p(a) a q
#define q(a) p(a)
2: p(2)(9) p(q)(3) q(p)(4)(5)
#define EMPTY
#define LPAREN (
#define RPAREN )
#define F(a, b) a + b
#define ELLIP_FUNC(...) __VA_ARGS__
3: ELLIP_FUNC(F, LPAREN, 'a', 'b', RPAREN); F EMPTY (1, 2) F(1 RPAREN, (3, 4))
#define str(a) #a
#define xstr(a) str(a)
4: str(x) xstr(x) str( "a\\n" '\\"'   b /* c */ d) xstr(f(1)) str() str((a , b))
#undef str
#define str(...) #__VA_ARGS__
5: str(a, b) str() str(  a  ) xstr(__LINE__ x)
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW "hello"
#define LOW LOW ", world"
6: glue(HIGH, LOW) xglue(HIGH, LOW) glue(1, 2) glue(, a) glue(a, ) glue(,) glue(+, +) glue(<, <=) glue(x, x)
#define hash_hash # ## #
#define mkstr(a) # a
#define in_between(a) mkstr(a)
#define join(c, d) in_between(c hash_hash d)
7: join(x, y)
#define t(x,y,z) x ## y ## z
8: t(1,2,3) t(,4,5) t(6,,7) t(8,9,) t(10,,) t(,11,) t(,,12) t(,,)
#define log(format, ...) print(format, ## __VA_ARGS__)
#define old(args...) g(0, ## args)
#define two(a, b...) h(a, b)
9: log("a") log("a", 1) log("a", x, f(2)) old() old(1, 2) two(1) two(1, 2, 3)
#define z z[0]
#define g f
#define r g(~
#define m(a) a(w)
#define w 0,1
#define tt(a) a
10: g(x+(3,4)-w) | r 5) & m
(f)^m(m); tt(tt(g)(0) + tt)(1); f(2 * (z+z))
#define NIL(xxx) xxx
#define G_0(arg) NIL(G_1)(arg)
#define G_1(arg) NIL(arg)
11: G_0(42)
#define OBSTRUCT(...) __VA_ARGS__ DEFER(EMPTY_)()
#define EMPTY_()
#define DEFER(id) id EMPTY_()
#define EXPAND(...) __VA_ARGS__
#define A() 123
12: DEFER(A)() EXPAND(DEFER(A)()) OBSTRUCT(A)()
#define foo foo a bar
#define bar foo 12
13: foo bar foo
#define CAT(a, b) CAT_(a, b)
#define CAT_(a, b) a ## b
#define AB BA
#define BA AB
14: CAT(A, B) CAT(CAT(A, B), C) CAT_(B, A) CAT(1, CAT(2, 3))
#define neg -1
15: -neg - neg+neg x-neg
#define self(a) self(a + a)
16: self(self(1)) self(x)
#define noargs() y
17: noargs() noargs noargs( ) (noargs)()
#define list X(a) X(b)
#define X(n) n = #n,
18: list
#define lines(a, b) a b
19: lines(1,
   2) lines
 (3,

 4) end
#define rec(a) a rec
20: rec(1)(2)(3)
#define h1(a) h2
#define h2(a) <a>
21: h1(1)(2) h1(h1)(3) tt(h1(1))(2) tt(h1)(1)(2)
#define va(a, ...) [a|__VA_ARGS__]
22: va(1) va(1,) va(1, 2, 3) va() va((1, 2), 3)
#define stringy(a, ...) #a #__VA_ARGS__
23: stringy(a b, c,d , e)
#define numbers(a) a.5 1e+a 0x##a
24: numbers(1) .x 1.x 0x1p-x
"""


def pieces(text):
    lines = [line for line in text.split("\n") if not line.startswith("#")]
    return [t.text for t in tokens_of("\n".join(lines)) if t.text != "\n"]


@pytest.mark.skipif(not have("gcc"), reason="gcc is not here")
@pytest.mark.parametrize("text", [CASES])
def test_macros_expand_as_those_of_gcc(tmp_path, text):
    path = tmp_path / "a.c"
    path.write_text(text)
    wanted = subprocess.run(["gcc", "-E", "-P", str(path)], capture_output=True, text=True, check=True).stdout
    found = preprocess(str(path)).text
    assert pieces(found) == pieces(wanted)
    assert found.count("\n") >= text.count("\n")


@pytest.mark.skipif(not have("gcc"), reason="gcc is not here")
def test_predefined_macros_are_those_of_gcc(tmp_path):
    path = tmp_path / "a.c"
    known = subprocess.run(["gcc", "-dM", "-E", "-xc", "/dev/null"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[1] for line in known.splitlines()]
    kinds = ("__INT", "__UINT", "__SIZE", "__CHAR", "__LONG", "__GNUC__", "__ORDER")
    tested = [n for n in names if n.startswith(kinds)]
    path.write_text("".join(f"{n.split('(')[0]}{'(1)' if '(' in n else ''}\n" for n in tested))
    wanted = subprocess.run(["gcc", "-E", "-P", str(path)], capture_output=True, text=True, check=True).stdout
    assert pieces(preprocess(str(path)).text) == pieces(wanted) and len(tested) > 90


@pytest.mark.parametrize(
    ("text", "is_taken"),
    [
        ("#include <limits.h>\n#ifdef INT_MAX", True),
        ("#ifdef INT_MAX", False),
        ("#include <stdint.h>\n#if defined(UINT64_MAX) && UINT64_MAX > 5 && !defined(INT_MAX)", True),
        ("#if true || INT_MAX", False),
        ("#include <stdbool.h>\n#if true", True),
        ("#if defined __GNUC__ && __GNUC__ >= 4 && !defined(_WIN32)", True),
        ("#if -1 > 0u && '\\377' < 0 && (2 || 1 / 0)", True),
    ],
)
def test_conditions_know_what_headers_define(tmp_path, text, is_taken):
    path = tmp_path / "a.c"
    path.write_text(f"{text}\nint taken;\n#endif\n")
    assert ("taken" in preprocess(str(path)).text) == is_taken


def test_a_file_and_its_lines(tmp_path):
    path = tmp_path / "a.c"
    path.write_text("#define F __FILE__\n\nF __LINE__\n")
    assert preprocess(str(path)).text.split("\n")[3].split() == [f'"{path}"', "3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n#define f(a) #b\n", "a.c:2: the macro f: # comes before b, not a parameter"),
        ("#define f(a) a ##\n", "a.c:1: the macro f: ## at an end of its body"),
        ("#define f(a, b) a ## b\n\nf(+, 1)\n", "a.c:3: the macro f: + ## 1 is not one token"),
        ("#define f(a, b) a\nf(1)\n", "a.c:2: the macro f takes 2 arguments, found 1"),
        ("#define f(a) a\n\nf(1\n", "a.c:3: the arguments of the macro f are not closed"),
        ("#define f(a, a) a\n", "a.c:1: the parameters of the macro f are not names: (a, a)"),
        ("#define f(...) __VA_OPT__(x)\n", "a.c:1: the macro f uses __VA_OPT__, which is not supported; write"),
    ],
)
def test_wrong_macros_are_refused(tmp_path, text, message):
    path = tmp_path / "a.c"
    path.write_text(text)
    with pytest.raises(SpecError) as error:
        preprocess(str(path))
    assert message in str(error.value)
