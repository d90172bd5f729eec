"""Program automata as text: the grammar, division as SMT-LIB has it, messages, and writing."""

from __future__ import annotations

import random
from itertools import product

import pytest

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import BOOL, INT, REAL
from streamcheck.export.aut import write_aut
from streamcheck.frontends.aut import ZERO, quotient, read_aut, remainder
from streamcheck.problem.automaton import Automaton, Edge, Error

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
    zero, never = cfa.warnings
    assert "only if it does not divide by zero" in zero and "divides by zero, so no run takes it" in never


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
        ("A { initial q; final b; from s | skip --> b; }", ":1: no edge leads from the initial location q"),
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


# Automata that no file has: each edge becomes a path

B, C = variable("b", BOOL), variable("c", INT)
SMALL = range(-2, 3)


def successors(cfa, place, values, stops):
    """The next places of `stops`, with the values of x, y and b there. A choice is one of a few numbers."""
    found, todo = set(), [(place, values)]
    while todo:
        here, now = todo.pop()
        for edge in cfa.edges_from[here]:
            for chosen in product(SMALL, repeat=len(edge.choices)):
                known = {**now, **dict(zip(edge.choices, chosen, strict=True))}
                if value_of(edge.guard, known) is True:
                    after = {**now, **{v: value_of(t, known) for v, t in edge.updates}}
                    if edge.target in stops:
                        found.add((edge.target, *(int(after[v]) for v in after if v.payload in ("x", "y", "b"))))
                    else:
                        todo.append((edge.target, after))
    return found


def random_edge(rng):
    def number(depth):
        if not depth or rng.random() < 0.3:
            return rng.choice([X, Y, C, constant(INT, rng.randint(-2, 2))])
        match rng.choice(["sub", "mux", "mux", "quot", "rem"]):
            case "mux":
                return term("mux", truth(depth - 1), number(depth - 1), number(depth - 1))
            case "quot" | "rem" as op:
                return term(op, number(depth - 1), constant(INT, rng.choice([-2, 2])))
            case op:
                return term(op, number(depth - 1), number(depth - 1))

    def truth(depth):
        if not depth or rng.random() < 0.3:
            return rng.choice([B, term("lt", X, Y)])
        match rng.choice(["and", "or", "implies", "not", "eq", "ge", "ne", "mux"]):
            case "not":
                return term("not", truth(depth - 1))
            case "ge" | "ne" as op:
                return term(op, number(depth - 1), number(depth - 1))
            case "mux":
                return term("mux", truth(depth - 1), truth(depth - 1), truth(depth - 1))
            case op:
                return term(op, truth(depth - 1), truth(depth - 1))

    news = [(X, number(2)), (Y, number(2)), (B, truth(2))]
    updates = tuple(rng.sample(news, rng.randint(0, 3)))
    return Edge("q", rng.choice(["q", "r", "b1", "b2"]), rng.choice([TRUE, truth(2)]), updates, (C,))


@pytest.mark.parametrize("seed", range(40))
def test_every_edge_becomes_paths_that_mean_the_same(tmp_path, seed):
    rng = random.Random(seed)
    errors = (Error("b1", "one", None), Error("b2", "two", None))
    cfa = Automaton("a", (X, Y, B), ("q", "r", "b1", "b2"), "q", errors, (random_edge(rng), random_edge(rng)))
    again = read(tmp_path, write_aut(cfa))
    assert again.errors[0].location == "b1"
    others = dict.fromkeys(again.variables, 0)
    for x, y, b in product(SMALL, SMALL, (False, True)):
        wanted = {("b1" if p == "b2" else p, *v) for p, *v in successors(cfa, "q", {X: x, Y: y, B: b}, cfa.locations)}
        values = {**others, X: x, Y: y, variable("b", INT): int(b)}
        assert successors(again, "q", values, ("q", "r", "b1")) == wanted


def test_a_claim_that_nothing_can_break_is_read_back(tmp_path):
    cfa = Automaton("a", (X,), ("q", "b"), "q", (Error("b", "b", None),), (Edge("q", "q", updates=((X, THREE),)),))
    assert [value_of(e.guard, {}) for e in read(tmp_path, write_aut(cfa)).edges if e.target == "b"] == [False]


def test_what_an_aut_file_cannot_say():
    def written(*edges, variables=(X, Y), claims="b"):
        errors = tuple(Error(place, place, None) for place in claims)
        return write_aut(Automaton("a", variables, ("q", "b"), "q", errors, edges))

    with pytest.raises(SpecError, match="cannot be written"):
        written(Edge("q", "b", updates=((X, term("quot", X, Y)),), text="x = x / y"))
    assert "| x := " in written(Edge("q", "b", term("ne", Y, ZERO), ((X, term("quot", X, Y)),)))
    with pytest.raises(SpecError, match="cannot be written"):
        written(Edge("q", "b", updates=((X, term("max", X, Y)),)))
    with pytest.raises(SpecError, match=r"expected Int in an \.aut file, found Real"):
        written(variables=(variable("r", REAL),))
    with pytest.raises(SpecError, match="this automaton has none"):
        written(claims="")
    assert "| x < 0 --> b;" in written(Edge("q", "b", term("lt", X, ZERO)))
