"""C files of statements without a function around them."""

from __future__ import annotations

import pytest

from streamcheck.core.errors import SpecError
from streamcheck.export.aut import write_aut
from streamcheck.frontends.aut import read_aut
from streamcheck.frontends.minic.read import read_c
from streamcheck.run.prove import Settings, prove


def automaton(tmp_path, text, integers="math"):
    path = tmp_path / "program.c"
    path.write_text(text)
    return read_c(str(path), integers)[0]


def verdicts(problem):
    return [r.verdict for r in prove(problem, Settings(timeout=20.0, jobs=1)).results]


def test_statements_are_a_program(tmp_path):
    text = "skip;\nx = 0;\ny = x;\nwhile (x < 4) {\n  x = x + 1; y = y + 1;\n}\nassert(x == y);\nassert(z == 0);\n"
    found = automaton(tmp_path, text)
    assert [e.name for e in found.errors] == ["assert, line 7", "assert, line 8"]
    assert verdicts(found) == ["proved", "falsified"]  # z begins with any value


@pytest.mark.parametrize("integers", ["c", "math"])
def test_declarations_and_headers_among_them(tmp_path, integers):
    head = "#include <assert.h>\n#define LIMIT 3\nenum e { low = 2 };\nshort s = low;"
    found = automaton(tmp_path, f"{head}\nif (s < LIMIT) s = s + n; else s = 9;\nassert(n != 0 || s == 2);\n", integers)
    assert sorted(str(v.payload) for v in found.variables if v.payload in ("n", "s", "low")) == ["n", "s"]
    assert verdicts(found)[0] == "proved" if integers == "math" else "proved" in verdicts(found)


def test_they_can_be_written_as_an_automaton(tmp_path):
    path = tmp_path / "written.aut"
    path.write_text(write_aut(automaton(tmp_path, "x = 7;\ny = x % 4;\nassert(y == 3);\nassert(x > y);")))
    assert verdicts(read_aut(str(path))) == ["proved"]


@pytest.mark.parametrize(
    ("text", "line"),
    [("int x = 0;\nx = 1;\nwhile (x < 3 {\n}\n", 3), ("int f(void) { return 1; }\nint g(void) {\n}\n}\n", 4)],
)
def test_the_message_is_about_the_first_mistake(tmp_path, text, line):
    with pytest.raises(SpecError) as caught:
        automaton(tmp_path, text)
    assert caught.value.where.line == line
