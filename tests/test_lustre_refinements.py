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
        ("node n() returns (b: bool); let b = true; tel\n"
         "node top(x: int | n()) returns (z: int); let z = x; tel", "has a call in it"),
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
