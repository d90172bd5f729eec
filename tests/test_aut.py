"""Program automata as text: the grammar, division as SMT-LIB has it, messages, and writing."""

from __future__ import annotations

import pytest

from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import INT
from streamcheck.export.aut import write_aut
from streamcheck.frontends.aut import ZERO, quotient, read_aut, remainder
from streamcheck.problem.automaton import Automaton, Edge, Error, conjuncts

X, Y, Z = (variable(n, INT) for n in "xyz")
THREE = constant(INT, 3)


def read(tmp_path, text):
    path = tmp_path / "a.aut"
    path.write_text(text)
    return read_aut(str(path))


def body(tmp_path, commands, variables="x, y, z"):
    moves = "\n".join(f"| {c} --> r;" for c in commands)
    return read(tmp_path, f"A {{ var {variables}; initial q; final bad; from q {moves} from r | skip --> bad; }}")


LOCK = """\
# The lock of [Penelle], as it stands in its figure.
Lock_1
{
    var L, n, o;
    initial q_0;  final q_bad;
    from q_0 | L := 0 --> q_1;
    from q_1 | L == 0 --> q_2;
             | L != 0 --> q_bad;
    from q_2 | L := 1 --> q_3;
    from q_3 | o := n --> q_4;
    from q_4 | skip --> q_5;     # if (*)
             | skip --> q_6;
    from q_5 | L := 0 --> q_5';
    from q_5' | n := n + 1 --> q_6;
    from q_6 | n != o --> q_1;
             | n == o --> q_7;
}
"""


def test_an_automaton_is_read(tmp_path):
    cfa = read(tmp_path, LOCK)
    assert (cfa.name, cfa.entry, [e.name for e in cfa.errors]) == ("Lock_1", "q_0", ["q_bad"])
    assert [v.payload for v in cfa.variables] == ["L", "n", "o"] and all(v.type is INT for v in cfa.variables)
    assert cfa.locations == ("q_0", "q_1", "q_2", "q_3", "q_4", "q_5", "q_5'", "q_6", "q_bad", "q_7")
    first, second = cfa.edges_from["q_1"]
    assert (first.text, first.where.line, second.text, second.where.line) == ("L == 0", 7, "L != 0", 8)
    assert [e.guard for e in cfa.edges_from["q_4"]] == [TRUE, TRUE]
    n = variable("n", INT)
    assert cfa.edges_from["q_5'"][0].updates == ((n, term("add", n, constant(INT, 1))),)
    assert cfa.lines["q_5"].line == 13 and cfa.loops == {"q_1"}


def test_the_divisors_of_the_notes_are_not_zero(tmp_path):
    """side(x / (y + 3/z) + z / (3 - x)) of section 3.3."""
    edge = body(tmp_path, ["x := x / (y + 3 / z) + z / (3 - x)"]).edges[0]
    inner = term("add", Y, quotient(THREE, Z))
    sides = [term("ne", d, ZERO) for d in (inner, Z, term("sub", THREE, X))]
    assert conjuncts(edge.guard) == sides
    assert edge.updates == ((X, term("add", quotient(X, inner), quotient(Z, term("sub", THREE, X)))),)


def test_divisors_of_a_guard_and_of_a_remainder(tmp_path):
    cfa = body(tmp_path, ["x % y <= 1 / 2", "x := 1 / 0"])
    assert conjuncts(cfa.edges[0].guard)[0] is term("ne", Y, ZERO) and len(conjuncts(cfa.edges[0].guard)) == 2
    assert value_of(cfa.edges[1].guard, {}) is False


@pytest.mark.parametrize("a", [-7, -6, -1, 0, 1, 6, 7])
@pytest.mark.parametrize("b", [-7, -3, -1, 1, 3, 7])
def test_division_is_that_of_smtlib(a, b):
    """The remainder is the one from 0 to |b| - 1, whether the divisor is a constant or a variable."""
    r = next(r for r in range(abs(b)) if (a - r) % b == 0)
    for divisor in (Y, constant(INT, b)):
        values = {X: a, Y: b}
        assert value_of(quotient(X, divisor), values) == (a - r) // b
        assert value_of(remainder(X, divisor), values) == r


def test_precedence(tmp_path):
    cfa = body(tmp_path, ["x := 1 - 2 - 3 * -y", "x := -(1 + y) * 2", "x := -2"])
    values = {X: 0, Y: 5, Z: 0}
    assert [value_of(e.updates[0][1], values) for e in cfa.edges[:3]] == [14, -12, -2]


def test_conditions(tmp_path):
    """A negation reaches as far as a comparison does, a conjunction binds tighter than a disjunction."""
    guards = ["! x < 1 && y == 2 || z != 0", "!(x < 1 && (y == 2 || !(z != 0)))", "(x + 1) * 2 > 4 && -x < 0"]
    cfa = body(tmp_path, guards)
    for x in (0, 1, 2):
        for y in (1, 2):
            for z in (0, 1):
                known = {X: x, Y: y, Z: z}
                wanted = [(not x < 1 and y == 2) or z != 0, not (x < 1 and (y == 2 or z == 0)), x > 1]
                assert [value_of(e.guard, known) for e in cfa.edges[:3]] == wanted


@pytest.mark.parametrize("command", ["x := *", "havoc x"])
def test_any_value(tmp_path, command):
    edge, _ = body(tmp_path, [command, command]).edges[:2]
    ((target, chosen),) = edge.updates
    assert target is X and edge.choices == (chosen,) and chosen is not X
    cfa = body(tmp_path, [command, command])
    assert write_aut(cfa).count("x := *") == 2
    assert same(read(tmp_path, write_aut(cfa)), cfa)


def test_a_mark_at_the_beginning_deep_nesting_and_stray_locations(tmp_path):
    (tmp_path / "marked.aut").write_text("A { initial q; final b; from q | skip --> b; }", encoding="utf-8-sig")
    assert read_aut(str(tmp_path / "marked.aut")).name == "A"
    deep = 20_000
    cfa = body(tmp_path, ["x := " + "(" * deep + "x + 1" + ")" * deep, "x := " + "-(" * deep + "x" + ")" * deep])
    assert cfa.edges[0].updates == ((X, term("add", X, constant(INT, 1))),)
    lost = read(tmp_path, "A { initial q; final b; from q | skip --> lop; | skip --> b; from loop | skip --> b; }")
    assert lost.warnings == ("no edge leads to the location loop; do you mean lop?",)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("A { var x; initial q; from q | x := 1 --> q; }", ":1: no `final` location"),
        ("A { var x;\n initial q; final b;\n from q | y := 1 --> b; }", ":3: the variable y is not declared"),
        ("A { var x, y,\n x; initial q; final b; }", ":2: x is declared twice"),
        ("A { initial q;\n final b; final c; }", ":2: a second location of this kind"),
        ("A { var x; initial q; final b;\n from q | x := --> b; }", ":2: expected a variable, found -->"),
        ("A { var x; initial q; final b;\n from q\n | x + 1 --> b; }", ":3: expected a comparison, found -->"),
        ("A { var x; initial q; final b;\n from q | x < 1 --> b }", ":2: expected ;, found }"),
        ("A { var x;\n\n initial q; final b;", ":3: expected var, initial, final, from or }, found the end"),
        ("A { var x & y; }", ":1: & is unexpected here"),
        ("A { var x; initial q; final b;\n from q | x = 1 --> b; }", ":2: = is unexpected here: write == to compare"),
        ("A { var x; initial q; final b;\n from q | x <> 1 --> b; }", ":2: <> is unexpected here: write !="),
        ("// a lock\nA { initial q; final b; }", ":1: // is unexpected here: a comment begins with #"),
        ("A { initial q; final badd; from q | skip --> bad; }", ":1: no edge leads to the final location badd; do you"),
        ("A { initial q; final b;\n from q | skip --> c; }", ":1: no edge leads to the final location b"),
        ("A { var x; initial q; final b; from q | x := ((1) --> b; }", "expected ), found -->"),
        ("A { var x; initial q; final b; from q | x := (1)) --> b; }", ") closes nothing"),
        ("A { var x; initial q; final b; from q | x := 1 + x < 2 --> b; }", "expected a number"),
        ("A { var x; initial q; final b; from q | x && 2 < x --> b; }", "`&&` is for conditions"),
        ("A { var x; initial q; final b; from q | 1 < x < 3 --> b; }", "`<` is for numbers"),
        ("A { var x; initial q; final b; from q | ! x + 1 --> b; }", "`!` is for conditions"),
        ("A { initial q; final b; }\nB", ":2: unexpected B after the end of the automaton"),
    ],
)
def test_messages(tmp_path, text, message):
    with pytest.raises(SpecError) as error:
        read(tmp_path, text)
    assert message in str(error.value)


def test_what_leaves_the_final_location_is_not_kept(tmp_path):
    cfa = read(tmp_path, "A { initial q; final b; from q | skip --> b; from b | skip --> q; }")
    assert [(e.source, e.target) for e in cfa.edges] == [("q", "b")]


def same(a, b):
    key = lambda c: [(e.source, e.target, e.guard, e.updates) for e in c.edges]
    return (a.name, a.variables, a.locations, a.entry) == (b.name, b.variables, b.locations, b.entry) and key(a) == key(
        b
    )


def test_a_round_trip(tmp_path):
    commands = [
        "x := x / (y + 3 / z) + z / (3 - x)",
        "x % y != - z / 4",
        "x := y % -3 + x / -2",
        "x := -(y / 3)",
        "y * 2 >= z - -1",
        "skip",
        "y := 0 - y",
    ]
    for cfa in (read(tmp_path, LOCK), body(tmp_path, commands)):
        assert same(read(tmp_path, write_aut(cfa)), cfa)


def test_what_an_aut_file_cannot_say():
    def written(*edges, variables=(X,)):
        return write_aut(Automaton("a", variables, ("q", "b"), "q", (Error("b", "b", None),), edges))

    with pytest.raises(SpecError, match="cannot be written as one command"):
        written(Edge("q", "b", term("lt", X, ZERO), ((X, ZERO),)))
    with pytest.raises(SpecError, match="cannot be written as one command"):
        written(Edge("q", "b", updates=((X, ZERO), (Y, ZERO))), variables=(X, Y))
    with pytest.raises(SpecError, match="cannot be written as one command"):
        written(Edge("q", "b", term("lt", Y, ZERO), updates=((X, Y),), choices=(Y,)))
    assert "| x < 0 --> b;" in written(Edge("q", "b", term("lt", X, ZERO)))
