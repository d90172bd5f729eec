"""Subranges and refinement types of Lustre: the verdicts are those of Kind 2 3.0."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from lustre_runs import verdicts

from streamcheck.cli import cli
from streamcheck.core.errors import SpecError

NAT = "type Nat = subtype { n: int | n >= 0 };\n"
RANGE = "type Nat = subrange [0, *] of int;\n"


def test_conditions_of_inputs_are_assumed_and_of_others_proved(tmp_path):
    text = NAT + (
        "node top(a: int; b: Nat) returns (z: Nat; w: int | w <= z + 1);\n"
        "var q: Nat;\n"
        'let z = b; w = a; q = b + 1; check "P" z >= 0; tel'
    )
    assert verdicts(tmp_path, text) == {
        "P": "proved", "z is of its type": "proved", "w is of its type": "falsified", "q is of its type": "proved",
    }  # fmt: skip


def test_conditions_of_base_types_parts_and_elements_count_too(tmp_path):
    text = NAT + (
        "type Small = subtype { n: Nat | n < 10 };\n"
        "type Pair = struct { f: Small; g: bool };\n"
        "const C: subtype { C: int | C > 5 };\n"
        "node top(a: Pair; b: Small^3) returns (z: int; w: Pair);\n"
        'let z = a.f + b[2] + C; w = Pair { f = a.f + 1; g = a.g }; check "P" z > 5 and z - C < 19; tel'
    )
    assert verdicts(tmp_path, text) == {"P": "proved", "w is of its type": "falsified"}


@pytest.mark.parametrize("type", [NAT, RANGE], ids=["condition", "range"])
def test_a_pre_without_a_first_value_has_any(tmp_path, type):
    text = type + 'node top(b: Nat) returns (z: int); let z = pre b; check "P" z >= 0; check "Q" true -> z >= 0; tel'
    assert verdicts(tmp_path, text) == {"P": "falsified", "Q": "proved"}


def test_conditions_have_memory_in_the_time_of_their_instance(tmp_path):
    text = (
        "type Grows = subtype { n: int | true -> n > pre n };\n"
        "node twice(x: Grows) returns (y: Grows); let y = 2 * x; tel\n"
        "node top(x: Grows; c: bool) returns (y: int);\n"
        'let y = (activate twice every c initial default 0)(x); check "P" true -> (c and pre c) => y > pre y; tel'
    )
    found = verdicts(tmp_path, text)
    assert set(found.values()) == {"proved"} and len(found) == 3


@pytest.mark.parametrize("type", [NAT, RANGE], ids=["condition", "range"])
@pytest.mark.parametrize("given", ["a", "if a > 0 then a else 0"])
def test_an_imported_node_keeps_its_promises_if_its_inputs_are_of_their_types(tmp_path, type, given):
    text = type + (
        "node imported m(a: Nat) returns (r: Nat; s: int);\n"
        "con guarantee s > 3; noc\n"
        f'node top(a: int) returns (z, w: int); let z, w = m({given}); check "P" z >= 0; check "Q" w > 3; tel'
    )
    found = verdicts(tmp_path, text)
    assert set(found.values()) == {"falsified" if given == "a" else "proved"} and len(found) == 3


def test_it_keeps_its_types_as_long_as_its_assumptions_hold(tmp_path):
    text = RANGE + (
        "node imported m(a: int) returns (r: Nat);\n"
        "con assume a > 5; var g: Nat = a - 1; noc\n"
        'node top(a: int) returns (z: int); let z = m(a); check "P" z >= 0; check "Q" a > 5 => z >= 0; tel'
    )
    found = verdicts(tmp_path, text.replace("m(a);", "m(if a > 5 then a else 6);"))
    assert set(found.values()) == {"proved"}
    found = verdicts(tmp_path, text)
    assert found.pop("Q") == "falsified"  # the assumption may have been broken before
    assert set(found.values()) == {"falsified"} and any("g is in its range" in name for name in found)


def test_conditions_call_nodes(tmp_path):
    text = (
        "function double(x: int) returns (y: int); let y = 2 * x; tel\n"
        "node least(x: int) returns (m: int); let m = x -> if x < pre m then x else pre m; tel\n"
        "type Even = subtype { n: int | double(n div 2) = n };\n"
        "node top(a: Even; b: int | b > least(b) - 1) returns (z: Even; w: int | least(w) >= 0);\n"
        'let z = a + 2; w = if a < 0 then -a else a + 1; check "P" a mod 2 = 0;\n'
        'check "Q" (a: Even) + 1 <> b or b > a; tel'
    )
    found = verdicts(tmp_path, text)
    assert {name for name, verdict in found.items() if verdict == "proved"} >= {"P", "Q", "z is of its type"}
    assert found["w is of its type"] == "proved" and set(found.values()) == {"proved"}
    found = verdicts(tmp_path, text.replace("a + 2", "a + 1").replace("else a + 1", "else a - 1"))
    assert found["z is of its type"] == found["w is of its type"] == "falsified" and found["P"] == "proved"


def test_what_the_nodes_of_conditions_claim_is_claimed(tmp_path):
    text = (
        'node root(x: int) returns (y: int); let y = x; check "R" x >= 0; tel\n'
        "node top(a: int) returns (z: int | root(z) > 3); let z = {}; tel"
    )
    assert set(verdicts(tmp_path, text.replace("{}", "5")).values()) == {"proved"}
    found = verdicts(tmp_path, text.replace("{}", "a"))
    assert list(found.values()) == ["falsified"] * 2 and any(name.endswith(".R") for name in found)


def test_a_condition_with_any_holds_for_every_value(tmp_path):
    text = "node top(a: int | a > any@<int>) returns (z: int | z > any { v: int | v < 3 }); let z = {}; tel"
    assert verdicts(tmp_path, text.replace("{}", "3")) == {"z is of its type": "proved"}
    assert verdicts(tmp_path, text.replace("{}", "1")) == {"z is of its type": "falsified"}
    assert verdicts(tmp_path, text.replace("{}", "a")) == {"z is of its type": "falsified"}


@pytest.mark.parametrize("type", ["subtype { n: int | f(n) > 3 }", "int"])
def test_an_imported_function_is_one_function_in_conditions_too(tmp_path, type):
    text = (
        "function imported f(x: int) returns (y: int);\n"
        f'node top(a, b: int) returns (z: int); let z = (a: {type}); check "P" a = b and f(b) > 3 => f(a) > 3; tel'
    )
    found = verdicts(tmp_path, text)
    assert found.pop("P") == "proved"
    assert list(found.values()) == (["falsified"] if "f(" in type else [])


def test_a_node_that_a_type_calls_is_no_main_node(tmp_path):
    text = (
        "type T = subtype { n: U | n < 9 };\ntype U = subtype { n: int | ok(n) };\n"
        'node ok(x: int) returns (b: bool); let b = x > 3; check "R" x > 5; tel\n'
        'node top(a: T) returns (z: int); let z = a; check "P" z > 3; tel'
    )
    found = verdicts(tmp_path, text)
    assert found.pop("P") == "proved" and list(found.values()) == ["falsified"]  # the one of the call


def test_bounds_are_variables(tmp_path):
    text = (
        "node top(x: subrange [0, 5] of int) returns (n: int; y: subrange [0, n] of int; z: subrange [n, *] of int);\n"
        'var l: subrange [*, n] of int; let n = 5 -> pre n + 1; y = x; l = n; z = n - 1; check "P" y <= 5; tel'
    )
    assert verdicts(tmp_path, text) == {
        "P": "proved", "y is of its type": "proved", "l is of its type": "proved", "z is of its type": "falsified",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("node top(x, y: int | x > 0) returns (z: int); let z = x; tel", "this condition is of one variable"),
        ("node top(x: int | x > l) returns (z: int); var l: int; let z = x; l = 3; tel", "depends on l"),
        ("node top(x: int | x < z) returns (z: int); let z = 3; tel", "the present value of an output"),
        ("node top(x: subtype { n: int | n > q }) returns (z: int); let z = x; tel", "q is not declared"),
        ("type T = subtype { n: int | n };\nnode top(x: int) returns (z: int); let z = x; tel", "expected bool"),
        ("type T = subtype { n: int };\nnode top(x: T) returns (z: int); let z = x; tel", "the condition of the type"),
        ("function f(x: int | true -> x > pre x) returns (z: int); let z = x; tel", "functions have no memory"),
        ("const c: int | c > pre c;\nnode top(x: int) returns (z: int); let z = c; tel", "changes from step to step"),
        ("node top(x: int | n(x)) returns (z: int); let z = x; tel", "node n is not declared"),
        ("node n() returns (b: bool); let b = true -> false; tel\n"
         "function top(x: int | n()) returns (z: int); let z = x; tel", "calls n, which is a node"),
        ("type T = subtype { n: int | f(n) };\n"
         "function f(x: T) returns (b: bool); let b = true; tel\n"
         "node top(x: int) returns (z: int); let z = x; tel", "f needs itself: f → f"),
        ("const c: int | f(c);\nfunction f(x: int) returns (b: bool); let b = true; tel\n"
         "node top(x: int) returns (z: int); let z = c; tel", "has a call of f in it"),
        ("type T = subtype { n: int | true -> n > pre n };\n"
         "function top(x: int) returns (z: bool); let z = exists (i: T) i = x; tel", "a type in function top has `->`"),
        ("node n(x: int) returns (b: bool); let b = true -> pre b; tel\n"
         "node top(x: int) returns (z: int); let z = choose { c: int | n(c) }; tel", "calls n, which is a node"),
        ("node top(x: subrange [0, l] of int) returns (z: int); var l: int; let z = x; l = 3; tel", "depends on l"),
        ("node top(x: int) returns (z: subrange [0, l] of int); let z = x; tel", "l is not declared"),
        ("function imported f(x: int) returns (y: int);\ntype T = subtype { n: int | f(n) > 0 };\n"
         "node top(s: set<T>; k: int) returns (z: bool); let z = k in s => f(k) > 0; check z; tel",
         "the type of what sets and maps hold calls a function without a definition"),
    ],
)  # fmt: skip
def test_mistakes(tmp_path, text, message):
    with pytest.raises(SpecError, match=message):
        verdicts(tmp_path, text)


@pytest.mark.parametrize(("given", "answer"), [("int", "unrealizable"), ("int | a < 5", "realizable")])
def test_the_types_of_outputs_are_to_be_realized(tmp_path, given, answer):
    path = tmp_path / "m.lus"
    path.write_text(f"node imported m(a: {given}) returns (r: int | r <= 5);\ncon guarantee r >= a; noc\n")
    done = CliRunner().invoke(cli, ["realizable", str(path), "--json", "--timeout", "20"], standalone_mode=False)
    assert [row["verdict"] for row in json.loads(done.stdout)] == [answer]


def test_choose_depends_on_the_bounds_in_its_type(tmp_path):
    text = (
        "node top(x: int) returns (a: int);\n(*@contract assume x > 0; *)\n"
        "let a = choose { v: subrange [0, x] of int | v > 0 };\n"
        'check "same" true -> a = pre a; check "met" a <= x; check "function" true -> x = pre x => a = pre a; tel'
    )
    assert verdicts(tmp_path, text) == {"same": "falsified", "met": "proved", "function": "proved"}
