"""What editors see: type checkers underline the marked mistakes and nothing else; completion shows public names."""

from __future__ import annotations

import pydoc
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import streamcheck

# Each line with a mistake says so; "in a lambda" is what mypy does not look into.
MISTAKES = """
from collections.abc import Callable
from streamcheck import *

a = extern("a", Word8)
b = extern("b", Int16)
ok = extern("ok", Bool)
f = extern("f", Double)
i = 3
n = stream(Word8, lambda n: [0] ++ (n + 1))
later = stream(Word8, lambda later, i=i: [0] ++ mux(ok, later + i, 0))
also = stream(Word8, lambda i=i: [0] ++ (later + i))
array = extern("array", Array(Word8, 3))


@stream(Int16)
def m() -> Int16:
    return [0] ++ (m + 1)


@struct
class Position:
    x: Int32
    y: Int32


def largest(s: Word8, t: Word8) -> Word8:
    return maximum(s, t, 3)


p = extern("p", Position)
q = Position(x=1, y=p.y)
total = Word8(0)
for s in (a, n):
    total = total + s
alarm = Bool(False)
alarm = signals.rose(ok) | alarm
moved = drop(0, Position(x=1, y=0)).set(x=3)
both = reset(ok, lambda: (n, ok))
spec = Spec("s")
spec.prop("p1", (a + 1 > 3) & ok)
spec.prop("p2", mux(ok, a, 0) == largest(n, Word8(4)))
spec.prop("p3", implies(ok, q.x < 4) | both[1])
spec.prop("p4", forall(Word8, lambda v: v + a == a + v))
spec.prop("p5", signals.rose(ok) | (array[0] == a))
spec.prop("p6", count_of(Word8, [ok, a > 3]) < 2)
spec.trigger("t", ok, {"a": a, "p": p})
spec.observer("c", cast(Int32, a) + p.x)
spec.exists("e", ~ok)
spec.prop("m1", a + b > 0)  # mistake
spec.prop("m2", a)  # mistake
spec.prop("m3", a + 1)  # mistake
spec.prop("m4", a == b)  # mistake
spec.prop("m5", mux(ok, a, b) == 0)  # mistake
spec.prop("m6", mux(a, b, b) == 0)  # mistake
spec.prop("m7", implies(a, ok))  # mistake
spec.assume("m8", f)  # mistake
spec.trigger("m9", a)  # mistake
spec.prop("m10", minimum(a, b) > 0)  # mistake
spec.prop("m11", pre(ok, a) > 0)  # mistake
spec.prop("m12", all_of([a, a]))  # mistake
spec.prop("m13", f * a > 1.0)  # mistake
spec.prop("m14", cast(Int16, a) + a > 0)  # mistake
spec.prop("m16", sqrt(f) < b)  # mistake
spec.prop("m17", q.x + a > 0)  # mistake
spec.prop("m18", q)  # mistake
spec.prop("m19", largest(a, b) > 0)  # mistake
spec.exists("m20", a ^ b)  # mistake
wrong = stream(Word8, lambda w: [0] ++ (w + b))  # mistake in a lambda
"""
SPECS = sorted(Path("specs").rglob("*.py"))


@pytest.fixture
def marked(tmp_path):
    """A file with mistakes, and the lines of all of them and of those outside lambdas."""
    path = tmp_path / "marked.py"
    path.write_text(MISTAKES)
    (tmp_path / "mypy.ini").write_text("[mypy]\n")
    lines = MISTAKES.splitlines()
    all_of_them = {i for i, line in enumerate(lines, 1) if "# mistake" in line}
    return path, all_of_them, {i for i in all_of_them if not lines[i - 1].endswith("lambda")}


def test_mypy_underlines_the_mistakes(marked):
    path, _, outside = marked
    command = [sys.executable, "-m", "mypy", "--config-file", path.with_name("mypy.ini"), path]
    done = subprocess.run(command, capture_output=True, text=True)
    found = {int(line) for line in re.findall(r"marked\.py:(\d+): error", done.stdout)}
    assert found == outside, done.stdout


@pytest.mark.skipif(shutil.which("pyright") is None, reason="needs pyright")
def test_pyright_underlines_the_mistakes_and_nothing_in_the_specs(marked):
    path, mistakes, _ = marked
    command = ["pyright", "--pythonpath", sys.executable, path]
    done = subprocess.run(command, capture_output=True, text=True)
    found = {int(line) for line in re.findall(r"marked\.py:(\d+):\d+ - error", done.stdout)}
    assert found == mistakes, done.stdout
    command = ["pyright", "--pythonpath", sys.executable, *SPECS]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_types_are_subscripts_at_run_time_too():
    from streamcheck import Bool, Stream, Word8, extern

    def same(s: Stream[Word8]) -> Bool:
        return s == s

    assert isinstance(same(extern("a", Word8)), Bool)


def test_completion_and_help_show_public_names():
    public = set(dir(streamcheck))
    assert {"Spec", "Word8", "extern", "load", "Results", "signals"} <= public
    assert public - {"__version__"} == {name for name in public if not name.startswith("_")}
    for name in public:
        assert getattr(streamcheck, name) is not None
    assert set(dir(streamcheck.signals)) == set(streamcheck.signals.__all__)
    plane = streamcheck.extern("array", streamcheck.Array(streamcheck.Word8, 2))
    for thing in (streamcheck.Spec("s"), plane, plane[0]):
        assert not [name for name in dir(thing) if name.startswith("_")]
    text = pydoc.render_doc(streamcheck, renderer=pydoc.plaintext)
    assert "debounce" not in text and "extern(name" in text
    assert not re.findall(r"\b_[a-z]\w*", text)


def test_completion_of_a_struct_shows_its_fields():
    from streamcheck import Int32, extern, struct

    position = struct(type("Position", (), {"__annotations__": {"x": Int32, "y": Int32}}))
    assert dir(extern("p", position)) == ["set", "x", "y"]
