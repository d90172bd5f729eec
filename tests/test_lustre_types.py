"""Data types, tuples, type parameters, abstract types, ascriptions, sets, maps: with the verdicts of Kind 2 3.0."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner
from lustre_runs import verdicts

from streamcheck.cli import cli
from streamcheck.core.errors import SpecError

OPTION = "datatype Option<T> = None | Some (val: T);\n"
SHAPE = "datatype Shape = Circle (radius: int) | Box (width: int, height: int) | Point;\n"
COUNT = "node count() returns (n: int); let n = 1 -> pre n + 1; tel\n"


def checked(tmp_path, inputs, checks, *, before="", local="", body=""):
    """The verdicts of these checks in a node with these inputs, in order."""
    items = "".join(f' check "{i}" {check};' for i, check in enumerate(checks))
    local = local and f"var {local};"
    text = f"{before}node top({inputs}) returns (z: int); {local}\nlet z = 0; {body}{items} tel"
    found = verdicts(tmp_path, text)
    return [found[str(i)] for i in range(len(checks))]


def refused(tmp_path, text):
    with pytest.raises(SpecError) as caught:
        verdicts(tmp_path, text)
    return caught.value.message


def test_data_types_are_equal_if_their_constructors_have_equal_fields(tmp_path):
    checks = ["a = a", "a = b", "a = Point or Circle?(a) or Box?(a)", "Circle(i) = Circle(j) => i = j",
              "Circle(i) <> Box(i, i)", "Box(i, j) = a => a.height = j",
              "a = b and Circle?(a) => a.radius = b.radius"]  # fmt: skip
    found = checked(tmp_path, "a, b: Shape; i, j: int", checks, before=SHAPE)
    assert found == ["proved", "falsified", "proved", "proved", "proved", "proved", "proved"]


def test_fields_of_another_constructor_do_not_make_values_different(tmp_path):
    """Also for functions: equal values give equal results."""
    before = SHAPE + "function imported f(s: Shape) returns (y: int);\n"
    checks = ["Point?(a) and Point?(b) => a = b", "Point?(a) and Point?(b) => f(a) = f(b)", "f(a) = f(b)"]
    assert checked(tmp_path, "a, b: Shape", checks, before=before) == ["proved", "proved", "falsified"]


def test_a_selector_of_another_constructor_has_any_value(tmp_path):
    checks = ["Circle?(a) ==> a.radius = a.radius", "a.radius = a.radius", "Point?(a) => a.radius = 0"]
    assert checked(tmp_path, "a: Shape", checks, before=SHAPE) == ["proved", "proved", "falsified"]


def test_patterns_may_be_nested_and_the_first_that_matches_counts(tmp_path):
    before = SHAPE + OPTION
    body = (
        "y = match o with | Some(Circle(r)): r | Some(Point): 1 | Some(s): (match s with "
        "| Box(w, _): w | _: 2 end) | _: 3 end;"
    )
    checks = ["o = None@<Shape> => y = 3", "o = Some(Point) => y = 1", "o = Some(Box(7, i)) => y = 7",
    "y <> 2 or i = i",
              "y <> 2", "Some?(o) => y <> 3"]  # fmt: skip
    found = checked(tmp_path, "o: Option<Shape>; i: int", checks, before=before, local="y: int", body=body)
    assert found == ["proved", "proved", "proved", "proved", "falsified", "falsified"]


def test_a_case_takes_steps_only_while_it_is_chosen(tmp_path):
    body = ("a = match o with | Some(x): count() | None: 0 end;"
            "b = match o with | Some(x): (0 -> pre x) | None: -1 end;")  # fmt: skip
    checks = ["Some?(o) and (false -> Some?(pre o)) => a = pre a + 1", "Some?(o) => a > 0",
              "Some?(o) and (false -> Some?(pre o)) => b = pre o.val",
              "Some?(o) and a > 1 => b = (0 -> pre b)"]  # fmt: skip
    found = checked(tmp_path, "o: Option<int>", checks, before=OPTION + COUNT, local="a, b: int", body=body)
    assert found == ["proved", "proved", "proved", "falsified"]


def test_a_variable_of_a_pattern_hides_others(tmp_path):
    body = "y = match o with | Some(y): y | None: i end;"
    checks = ["Some?(o) => y = o.val", "y = i"]
    assert checked(tmp_path, "o: Option<int>; i: int", checks, before=OPTION, local="y: int", body=body) == [
        "proved", "falsified"]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("match s with | Circle(r): r | Point: 0 end", "no case of this match is for Box(_, _)"),
        ("match s with | Circle(r): r | _: 0 | Point: 1 end", "never chosen"),
        ("match s with | Circle(r, q): r | _: 0 end", "Circle has 1 fields, and this pattern has 2"),
        ("match s with | Box(r, r): r | _: 0 end", "r is in the pattern twice"),
        ("match 3 with | Circle(r): r | _: 0 end", "`match` is about a value of a data type"),
        ("match s with | Some(r): r | _: 0 end", "Shape has no constructor Some"),
        ("match s with | Circle(r): true | _: 0 end", "are different types"),
        ("match (Point -> pre s) with | Circle(r): r | _: 0 end", "what is matched has memory"),
        ("s.depth", "no constructor of Shape has a field depth"),
        ("Circle(true).radius", "field radius of Circle: expected int, found bool"),
        ("if s = None then 1 else 0", "the type T of Option does not follow"),
        ("if Some?(s) then 1 else 0", "Shape has no constructor Some"),
    ],
)
def test_what_does_not_fit_a_data_type_is_refused(tmp_path, expression, message):
    text = f"{SHAPE}{OPTION}node top(s: Shape) returns (y: int);\nlet y = {expression}; tel"
    assert message in refused(tmp_path, text)


def test_a_data_type_that_contains_itself_is_refused(tmp_path):
    text = "datatype List = Nil | Cons (head: int, tail: List);\nnode top(l: List) returns (y: int); let y = 0; tel"
    assert "contains itself" in refused(tmp_path, text)


def test_fields_have_their_types_if_their_constructor_is_there(tmp_path):
    before = "type Pos = subtype { x: int | x > 0 };\ndatatype Event = Go (speed: Pos) | Stop;\n"
    text = before + (
        "node top(e: Event; n: int) returns (f: Event; y: int);\n"
        "let f = if n > 0 then Go(n) else Stop; y = match e with | Go(s): s | Stop: 1 end;\n"
        'check "P" y > 0; check "Q" e.speed > 0; tel'
    )
    assert verdicts(tmp_path, text) == {"P": "proved", "Q": "falsified", "f is of its type": "proved"}


def test_tuples(tmp_path):
    before = "type Pair<A; B> = [A, B];\n"
    body = "q = '(n, c)[1 := true]; t = '(p[1], p[0]);"
    checks = ["q[0] = n and q[1]", "t[1] = p[0]", "p = '(p[0], p[1])", "q = '(n, c)"]
    local = "q: [int, bool]; t: Pair<bool; int>"
    found = checked(tmp_path, "n: int; c: bool; p: Pair<int, bool>", checks, before=before, local=local, body=body)
    assert found == ["proved", "proved", "proved", "falsified"]
    text = "node top(p: [int, bool]; i: int) returns (y: int);\nlet y = p[{}]; tel"
    for index in ("2", "i"):
        assert "the index of a tuple of 2 values" in refused(tmp_path, text.format(index))


def test_type_parameters_of_nodes_types_and_contracts(tmp_path):
    before = OPTION + (
        "type Two<T> = struct { a: T; b: T };\n"
        'contract Same<T>(x: T) returns (y: T); let guarantee "same" y = x; tel\n'
        "node keep<T>(x: T) returns (y: T); let y = x -> pre x; tel\n"
        "node copy<T>(x: T) returns (y: T); (*@contract import Same@<T>(x) returns (y); *) let y = x; tel\n"
        "node left<T>(p: Two<T>; o: Option<T>) returns (y: T); let y = match o with | Some(v): v | None: p.a end; tel\n"
    )
    checks = ["true -> keep(n) = pre n", "true -> keep@<bool>(c) = pre c", "copy(n) = n", "copy(c) = c",
              "left(Two { a = n; b = n }, None@<int>) = n",
              "left@<bool>(Two@<bool> { a = c; b = c }, Some(not c)) = c"]  # fmt: skip
    found = checked(tmp_path, "n: int; c: bool", checks, before=before)
    assert found == ["proved"] * 5 + ["falsified"]


def test_a_node_with_type_parameters_is_checked_by_itself(tmp_path):
    text = 'node top<T>(x, y: T) returns (z: T);\nlet z = x -> pre y; check "P" z = x; check "Q" x = y or x <> y; tel'
    assert verdicts(tmp_path, text) == {"P": "falsified", "Q": "proved"}
    assert "expected numbers" in refused(tmp_path, "node top<T>(x: T) returns (z: T);\nlet z = x + x; tel")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("f@<int, bool>(1)", "f has 1 type parameter, and 2 are given"),
        ("g()", "the type T of g does not follow"),
        ("f@<bool>(1)", "expected bool, found int"),
        ("h@<int>(1)", "h has 0 type parameters, and 1 are given"),
    ],
)
def test_type_arguments_fit(tmp_path, expression, message):
    text = (
        "node f<T>(x: T) returns (y: T); let y = x; tel\n"
        "node imported g<T>() returns (y: T);\nnode h(x: int) returns (y: int); let y = x; tel\n"
        f"node top() returns (y: int);\nlet y = {expression}; tel"
    )
    assert message in refused(tmp_path, text)


def test_values_of_abstract_types_are_only_compared(tmp_path):
    checks = ["a = b or a <> b", "a = b", "a = b and b = c => a = c"]
    assert checked(tmp_path, "a, b, c: T", checks, before="type T;\n") == ["proved", "falsified", "proved"]
    for expression in ("a < b", "a.id > 0", "a = 3"):
        refused(tmp_path, f"type T;\nnode top(a, b: T) returns (y: bool);\nlet y = {expression}; tel")


def test_a_constant_input_of_the_main_node_is_constant(tmp_path):
    checks = ["true -> k = pre k", "true -> n = pre n", "k >= 0"]
    found = checked(tmp_path, "const k: subrange [0, *] of int; n: int", checks)
    assert found == ["proved", "falsified", "proved"]


def test_an_ascription_is_a_claim_where_it_is_evaluated(tmp_path):
    text = (
        "type Pos = subtype {{ x: int | x > 0 }};\nnode top(n: int) returns (y: "
        "int);\nlet y = {} n > 0 then (n: Pos) else 1; tel"
    )
    assert list(verdicts(tmp_path, text.format("when")).values()) == ["proved"]
    assert list(verdicts(tmp_path, text.format("if")).values()) == ["falsified"]
    assert "expected bool" in refused(tmp_path, "node top(n: int) returns (y: int);\nlet y = (n: bool); tel")


# Sets and maps

SETS = "s, t: set<int>; m: map<int, bool>; n, k: int"


def test_sets_and_maps_within_a_step(tmp_path):
    proved = [
        "n in s * t + {n}", "(k in s * t + {n} and k <> n) => k in s", "s + t = t + s",
        "s - t = s => not (3 in s and 3 in t)",
        "{1, 2} = {2, 1, 1}", "m[k] = m[k]", "k <> n => m[n := true][k] = m[k]", "s = t => (k in s) = (k in t)",
        "k in m => m = m[k := m[k]]", "{}@<int> = s - s", "not (3 in map[]@<int, int>)", "m - {k} = m => not (k in m)",
    ]  # fmt: skip
    falsified = ["k in s * t + {n} => k in s", "s * t = s", "{1, 2, k} = {2, 1, 1}", "m[n := true][k] = m[k]",
                 "not (s = t)", "s <> t or t <> s - {k}", "s + {k} = s", "m - s = m"]  # fmt: skip
    found = checked(tmp_path, SETS, [*proved, *falsified])
    assert found == ["proved"] * len(proved) + ["falsified"] * len(falsified)


def test_sets_and_maps_over_time(tmp_path):
    body = "r = {n} -> pre r + {n}; q = map[]@<int, int> -> (pre q)[n := k];"
    checks = ["n in r", "true -> pre n in r", "n = 5 => (true -> 5 in r)", "5 in r => (false -> pre (5 in r)) or n = 5",
              "not (5 in r)", "true -> q[n] = k", "true -> pre n = n => q[pre n] = k"]  # fmt: skip
    found = checked(tmp_path, SETS, checks, local="r: set<int>; q: map<int, int>", body=body)
    assert found == ["proved", "proved", "proved", "proved", "falsified", "proved", "proved"]


def test_no_counterexample_needs_what_is_not_kept_of_a_set(tmp_path):
    """`k in pre r` for an input k: the set is not kept, so the claim, which is true, is open."""
    checks = ["k in r => k >= 0"]
    body = "r = {if n > 0 then n else 0} -> pre r + {if n > 0 then n else 0};"
    items = f'check "P" {checks[0]};'
    text = f"node top({SETS}) returns (z: int); var r: set<int>;\nlet z = 0; {body} {items} tel"
    path = tmp_path / "spec.lus"
    path.write_text(text)
    output = CliRunner().invoke(cli, ["prove", str(path), "--timeout", "3"]).output
    assert "falsified" not in output and "unknown" in output


def test_keys_and_values_have_their_types(tmp_path):
    before = "type Nat = subtype { x: int | x >= 0 };\n"
    text = before + (
        "node top(a: map<Nat, Nat>; s: set<Nat>; k: int) returns (b: map<Nat, Nat>; c: set<Nat>);\n"
        'let b = a[k := 1]; c = s + {2}; check "P" k in a => k >= 0 and a[k] >= 0; check "Q" not (-1 in s); tel'
    )
    assert verdicts(tmp_path, text) == {
        "P": "proved", "Q": "proved", "b is of its type": "falsified", "c is of its type": "proved",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("true in s", "a key: expected int, found bool"), ("s[3] = 1", "a set has no values"), ("1 in 2",
        "expected a set or a map"),
        ("{} = s", "what this set holds is not known"), ("m + m = m",
        "`+` is an operation of sets"), ("s[3 := 4] = s", "a set has no values"),
        ("{s} = {s}", "no type of keys"),
    ],
)  # fmt: skip
def test_what_does_not_fit_a_set_is_refused(tmp_path, expression, message):
    text = f"node top({SETS}) returns (y: bool);\nlet y = {expression}; tel"
    assert message in refused(tmp_path, text)


# The other commands

AREA = (
    "datatype Shape = Circle (radius: int32) | Box (width: int32, height: int32) | Point;\n"
    "node top(s: Shape; n: int32) returns (a: int32; before: Shape; p: [int32, bool]);\n"
    "let a = match s with | Circle(r): (int32 3) * r * r | Box(w, h): w * h | Point: int32 0 end;\n"
    'before = Point -> pre s; p = \'(n, Point?(s)); check "never" before <> Circle(int32 4); tel'
)


def test_values_are_shown_with_their_constructors(tmp_path):
    (tmp_path / "area.lus").write_text(AREA)
    (tmp_path / "in.csv").write_text(
        "s.tag,s.Circle.radius,s.Box.width,s.Box.height,n\nCircle,2,0,0,1\nBox,0,3,4,2\nPoint,0,0,0,3\n"
    )
    shown = CliRunner().invoke(cli, ["run", str(tmp_path / "area.lus"), "--input", str(tmp_path / "in.csv")]).output
    rows = [re.split(r"\s{2,}", line.strip())[1:4] for line in shown.splitlines()[1:4]]
    assert rows == [["12", "Point", "(1, false)"], ["12", "Circle(2)", "(2, false)"], ["0", "Box(3, 4)", "(3, true)"]]
    trace = CliRunner().invoke(cli, ["prove", str(tmp_path / "area.lus")]).output
    assert "Circle(4)" in trace


def test_data_types_are_structs_with_a_tag_in_c_and_in_other_languages(tmp_path):
    (tmp_path / "area.lus").write_text(AREA)
    out = tmp_path / "out"
    done = CliRunner().invoke(cli, ["compile", str(tmp_path / "area.lus"), "-o", str(out), "--unproven", "--observers"])
    assert done.exit_code == 0, done.output
    header = (out / "top.h").read_text()
    assert "struct Shape_Circle Circle;" in header and "Shape_tag_Box = 1" in header
    assert "proved" in (out / "top.c").read_text()
    shown = CliRunner().invoke(cli, ["show", str(tmp_path / "area.lus"), "--as", "lustre"]).output
    assert list(verdicts(tmp_path, shown).values()) == ["falsified"]


def test_the_value_at_a_removed_key_is_the_one_before(tmp_path):
    text = (
        "node top(m, n: map<int, int>; k: int) returns (y: int);\nlet y = k;\n"
        'check "same" (m - {k})[k] = (m - {k})[k]; check "before" (m[k := 3] - {k})[k] = 3;\n'
        'check "two" (m - {k})[k] = (n - {k})[k]; check "equal" m - {k} = m[k := 3] - {k};\ntel\n'
    )
    found = verdicts(tmp_path, text)
    assert found == {"same": "proved", "before": "proved", "two": "falsified", "equal": "proved"}
