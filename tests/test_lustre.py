"""Lustre read and run: what each construct means, mistakes and what is not supported named with their lines."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
import time
from fractions import Fraction
from pathlib import Path

import pytest
from lustre_runs import node, ran, read, verdicts

from streamcheck import SpecError
from streamcheck.encode.to_system import to_system
from streamcheck.formats.lustre.read import read_lustre
from streamcheck.formats.lustre.write import write_lustre
from streamcheck.formats.vmt_write import write_vmt
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target
from streamcheck.run.source import read as read_file

COMMAND = str(Path(sys.executable).parent / "streamcheck")


def value(tmp_path, expression, type="int", **options):
    """What a constant expression is at the first step."""
    text = node(f"y = {expression};", inputs="", outputs=f"y: {type}", **options)
    return ran(tmp_path, text, 1)["y"][0]


# Operators


@pytest.mark.parametrize(
    ("expression", "type", "expected"),
    [
        ("1 + 2 * 3 - 4", "int", 3),
        ("7 div 2", "int", 3),
        ("(-7) div 2", "int", -4),
        ("(-7) mod 2", "int", 1),
        ("7 div (-2)", "int", -3),
        ("(-7) div (-2)", "int", 4),
        ("7 mod (-2)", "int", 1),
        ("(-7) mod (-2)", "int", 1),
        ("-7 mod 2", "int", -1),  # -(7 mod 2)
        ("1.5 / 2.0 + 0.25", "real", Fraction(1)),
        ("1e1 - 2.5E-1", "real", Fraction(39, 4)),
        ("int 2.7", "int", 2),
        ("int (-2.7)", "int", -3),
        ("real 3 / 2.0", "real", Fraction(3, 2)),
        ("not true or true", "bool", True),
        ("not (true or true)", "bool", False),
        ("true or false and false", "bool", True),
        ("true xor true", "bool", False),
        ("true => false => false", "bool", True),
        ("1 < 2 and 2 <= 2 and 3 >= 3 and not (3 > 4) and 1 <> 2", "bool", True),
        ("not 1 = 2 => false", "bool", None),
        ("if 1 < 2 then 3 else 4 + 5", "int", 3),
        ("1 + if false then 3 else 4 + 5", "int", 10),
        ("if false then 1 else if true then 2 else 3", "int", 2),
        ("false or else true and then true", "bool", True),
        ("0x1F", "int", 31),
    ],
)
def test_operators_and_their_precedence(tmp_path, expression, type, expected):
    if expected is None:  # `not` binds tighter than `=`
        with pytest.raises(SpecError, match="bool"):
            value(tmp_path, expression, type)
    else:
        assert value(tmp_path, expression, type) == expected


@pytest.mark.parametrize(
    ("expression", "type", "expected"),
    [
        ("(uint8 200) + (uint8 100)", "uint8", 44),
        ("(int8 100) + (int8 100)", "int8", -56),
        ("uint8 256", "uint8", 0),
        ("int16 32768", "int16", -32768),
        ("int8 100 + 100", "int8", -56),  # the conversion reaches over the sum
        ("(int32 -7) div (int32 2)", "int32", -3),
        ("(int32 -7) mod (int32 2)", "int32", -1),
        ("(uint8 7) div (uint8 0)", "uint8", 255),
        ("(int8 7) div (int8 0)", "int8", -1),
        ("(int8 -7) div (int8 0)", "int8", 1),
        ("(int8 -128) div (int8 -1)", "int8", -128),
        ("(uint8 7) mod (uint8 0)", "uint8", 7),
        ("(uint8 12) && (uint8 10)", "uint8", 8),
        ("(uint8 12) || (uint8 10)", "uint8", 14),
        ("!(uint8 0)", "uint8", 255),
        ("(int8 -1) lsh (uint8 1)", "int8", -2),
        ("(int8 -8) rsh (uint8 1)", "int8", -4),
        ("(uint8 128) rsh (uint8 7)", "uint8", 1),
        ("(uint8 1) lsh (uint8 9)", "uint8", 0),
        ("int (uint8 200)", "int", 200),
        ("int16 (int8 -5)", "int16", -5),
        ("uint8 (uint16 300)", "uint8", 44),
        ("(uint8 3) < (uint8 200)", "bool", True),
        ("(int8 3) < (int8 -56)", "bool", False),
    ],
)
def test_machine_integers(tmp_path, expression, type, expected):
    assert value(tmp_path, expression, type) == expected


def test_integers_have_no_bound(tmp_path):
    text = node("y = 1 -> 3 * pre y;", inputs="")
    assert ran(tmp_path, text, 60)["y"][-1] == 3**59


# Time


def test_pre_arrow_and_fby(tmp_path):
    body = """
      count = 0 -> pre count + 1;
      sum = x + (0 -> pre sum);
      late = 7 -> pre (8 -> pre x);
      before = 7 fby x;
      twice = fby(x, 2, 9);
      start = x -> pre start;
    """
    names = ["count", "sum", "late", "before", "twice", "start"]
    text = node(body, inputs="x: int", outputs=f"{', '.join(names)}: int")
    assert ran(tmp_path, text, x=[5, 1, 4, 2]) == {
        "count": [0, 1, 2, 3],
        "sum": [5, 6, 10, 12],
        "late": [7, 8, 5, 1],
        "before": [7, 5, 1, 4],
        "twice": [9, 9, 5, 1],
        "start": [5, 5, 5, 5],
    }


def test_tuples_and_several_returns(tmp_path):
    swap = "node swap(a, b: int) returns (c, d: int); let c = b; d = a; tel"
    body = """
      (p, q) = (0, 1) -> pre (q, p + q);
      r, s = if b then swap(p, q) else (p, q);
      t = (p, q) = (r, s);
      u, v = swap(swap(p, q));
    """
    text = node(body, inputs="b: bool", outputs="p, q, r, s: int; t: bool; u, v: int", before=swap)
    found = ran(tmp_path, text, b=[False, True, True, False])
    assert found["p"] == [0, 1, 1, 2] and found["q"] == [1, 1, 2, 3]
    assert found["r"] == [0, 1, 2, 2] and found["s"] == [1, 1, 1, 3]
    assert found["t"] == [True, True, False, True]
    assert found["u"] == found["p"] and found["v"] == found["q"]


def test_outputs_of_a_call_may_depend_on_each_other_through_the_caller(tmp_path):
    both = "node both(a, b: int) returns (c, d: int); let c = a + 1; d = b * 10; tel"
    text = node("p, q = both(x, p);", inputs="x: int", outputs="p, q: int", before=both)
    assert ran(tmp_path, text, x=[1, 2]) == {"p": [2, 3], "q": [20, 30]}


def test_instances_have_state_of_their_own(tmp_path):
    count = "node count(c: bool) returns (n: int); let n = (0 -> pre n) + (if c then 1 else 0); tel"
    text = node("y = count(b); z = count(not b);", inputs="b: bool", outputs="y, z: int", before=count)
    assert ran(tmp_path, text, b=[True, True, False, True]) == {"y": [1, 2, 2, 3], "z": [0, 0, 1, 1]}


SUM = "node sum(i: int) returns (s, n: int); let s = i + (0 -> pre s); n = 1 -> pre n + 1; tel\n"


def test_condact_and_activate_hold_what_was(tmp_path):
    body = """
      s, n = condact(b, sum(x), -1, -2);
      t, m = (activate sum every b initial default -1, -2)(x);
      d = condact(b, one(x), x);
    """
    before = SUM + "node one(i: int) returns (o: int); let o = i -> pre i; tel"
    text = node(body, outputs="s, n, t, m, d: int", before=before)
    found = ran(tmp_path, text, x=[1, 2, 3, 4, 5], b=[False, True, False, True, False])
    assert found["s"] == [-1, 2, 2, 6, 6] and found["n"] == [-2, 1, 1, 2, 2]
    assert found["t"] == found["s"] and found["m"] == found["n"]
    assert found["d"] == [1, 2, 2, 2, 2]  # the default of the first step is kept; a node's `pre` skips what it slept


def test_restart_begins_anew(tmp_path):
    counter = "node counter(const max: int) returns (t: int); let t = 0 -> if pre t = max then 0 else pre t + 1; tel"
    text = node("c = (restart counter every r)(3);", inputs="r: bool", outputs="c: int", before=counter)
    resets = [False, False, False, False, True, False, False, True, True, False]
    assert ran(tmp_path, text, r=resets)["c"] == [0, 1, 2, 3, 0, 1, 2, 0, 0, 1]


def test_restart_inside_activate_is_sampled_by_the_clock(tmp_path):
    body = """
      y, n = (activate (restart sum every r) every b initial default 0, 0)(x);
      z, m = (activate sum every b initial default 0, 0 restart every r)(x);
    """
    text = node(body, inputs="x: int; b, r: bool", outputs="y, n, z, m: int", before=SUM)
    found = ran(
        tmp_path,
        text,
        x=[1] * 6,
        b=[True, True, False, True, True, True],
        r=[False, False, True, False, True, False],
    )
    assert found["y"] == [1, 2, 2, 3, 1, 2] and found["z"] == found["y"]


def test_restart_reaches_what_sleeps_inside(tmp_path):
    inner = "node inner(i: int; c: bool) returns (o: int); var n: int; let o, n = condact(c, sum(i), 0, 0); tel"
    text = node("y = (restart inner every r)(x, b);", inputs="x: int; b, r: bool", before=SUM + inner)
    found = ran(
        tmp_path, text, x=[1] * 6, b=[True, True, False, True, False, True], r=[False, False, True, False, True, True]
    )
    assert found["y"] == [1, 2, 0, 1, 0, 1]


def test_restart_reaches_the_first_step_of_what_sleeps_inside(tmp_path):
    before = "node kept(i: int) returns (o: int); let o = i -> pre o; tel\n"
    before += "node inner(i: int; c: bool) returns (o: int); let o = condact(c, kept(i), 0); tel"
    text = node("y = (restart inner every r)(x, b);", inputs="x: int; b, r: bool", before=before)
    found = ran(tmp_path, text, x=[5, 6, 7, 8], b=[True, True, False, True], r=[False, False, True, False])
    assert found["y"] == [5, 5, 0, 8]


def test_a_first_value_after_a_restart_is_any_value_again(tmp_path):
    late = "node late(i: int) returns (o: int); let o = pre i; tel"
    claims = "--%PROPERTY true -> r or y = pre x;\n--%PROPERTY true -> y = pre x;"
    text = node("y = (restart late every r)(x);", inputs="x: int; r: bool", before=late, claims=claims)
    assert verdicts(tmp_path, text) == {"true -> r or y = pre x": "proved", "true -> y = pre x": "falsified"}
    assert len(read(tmp_path, text).warnings) == 1
    guarded = text.replace("o = pre i", "o = 0 -> pre i + 1")
    assert read(tmp_path, guarded).warnings == () and all(i.extern for i in read(tmp_path, guarded).inputs)


def test_merge_over_bool_and_enum(tmp_path):
    before = "type mode = enum { idle, run, stop };" + SUM
    body = """
      m = if x > 5 then run else if x < 0 then stop else idle;
      y = merge(b; x when b; -1 when not b);
      z = merge m (idle -> 0) (stop -> x) (run -> 10 * x);
      s, n = merge(b; (activate sum every b)(x); (0, 0) when not b);
    """
    text = node(body, outputs="y, z, s, n: int", local="m: mode", before=before)
    found = ran(tmp_path, text, x=[6, -2, 3], b=[True, False, True])
    assert found["y"] == [6, -1, 3] and found["z"] == [60, -2, 0]
    assert found["s"] == [6, 0, 9] and found["n"] == [1, 0, 2]


def test_a_branch_of_a_merge_is_on_the_clock_that_chooses_it(tmp_path):
    before = "type mode = enum { idle, run };" + SUM
    text = node(
        "m = if b then run else idle; y = merge m (idle -> 0 when idle(m)) (run -> x when run(m));",
        outputs="y: int",
        local="m: mode",
        before=before,
    )
    assert ran(tmp_path, text, x=[4, 5], b=[True, False])["y"] == [4, 0]
    for wrong in (
        "y = merge(b; x when not b; 0 when b);",
        "y = merge(b; (activate one every x > 3)(x); 0);",
    ):
        with pytest.raises(SpecError, match="on another clock than that of `true`"):
            read(tmp_path, node(wrong, before="node one(i: int) returns (o: int); let o = i; tel"))


def test_many_clocks_are_read_soon(tmp_path):
    late = "node late(i: int) returns (o: int); let o = 0 -> pre i + 1; tel\n"
    calls = "\n".join(f"v{i} = condact(b{i}, late(v{i + 1}), v{i + 1} - 1);" for i in range(60)) + "\nv60 = x;\ny = v0;"
    inputs = "x: int; " + ", ".join(f"b{i}" for i in range(60)) + ": bool"
    local = ", ".join(f"v{i}" for i in range(61)) + ": int"
    began = time.monotonic()
    equations = read(tmp_path, node(calls, inputs=inputs, local=local, before=late))
    assert time.monotonic() - began < 5 and len(equations.cells) >= 180


# Data


def test_constants_enums_records_and_aliases(tmp_path):
    before = """
      type color = enum { red, green };
      type count = int;
      type point = struct { x, y: count; c: color };
      const origin: point = point { x = 0; y = 0; c = red };
      const two = 2; three: int = two + 1;
    """
    body = """
      p = origin -> point { x = (pre p).x + x; y = two * three; c = if (pre p).c = red then green else red };
      y = p.x + p.y;
      z = p.c = green;
      same = p = origin;
    """
    text = node(body, inputs="x: int", outputs="p: point; y: int; z, same: bool", before=before)
    found = ran(tmp_path, text, x=[1, 2, 3])
    assert found["p"] == [(0, 0, 0), (2, 6, 1), (5, 6, 0)]
    assert found["y"] == [0, 8, 11] and found["z"] == [False, True, False] and found["same"] == [True, False, False]


def test_arrays(tmp_path):
    body = """
      a = [x, x + 1, x + 2];
      c = 0^n;
      d = a[1 := 9; 2 := a[0]];
      w[i] = if i = 0 then x else (-1 -> pre w[i - 1]);
      m[i][j] = if i = j then 1 else a[i] * j;
      y = a[0] + d[1] + d[2] + m[1][1] + m[2][1];
      e = a[x];
      same = a = [x, x + 1, x + 2];
    """
    text = node(
        body,
        inputs="x: int",
        outputs="a, c, d: int^n; w: int^n; m: int^2^n; y, e: int; same: bool",
        before="const n: int = 3;",
    )
    found = ran(tmp_path, text, x=[1, 2, 0])
    assert found["a"][0] == (1, 2, 3) and found["c"][0] == (0, 0, 0) and found["d"][0] == (1, 9, 1)
    assert found["w"] == [(1, -1, -1), (2, 1, -1), (0, 2, 1)]
    assert found["m"][1] == ((1, 2), (0, 1), (0, 4))
    assert found["y"][0] == 1 + 9 + 1 + 1 + 3
    assert found["e"] == [2, 4, 0] and found["same"] == [True] * 3


def test_a_node_may_take_the_size_of_an_array(tmp_path):
    sum = """
      node sum(const n: int; a: int^n) returns (s: int);
      var c: int^n;
      let c[i] = if i = 0 then a[0] else a[i] + c[i - 1]; s = c[n - 1]; tel
    """
    text = node("y = sum(4, [x, 2, 3, 4]);", inputs="x: int", before=sum)
    assert ran(tmp_path, text, x=[1, 10])["y"] == [10, 19]


def test_functions_and_global_constants(tmp_path):
    before = "const k: int = 3; function scaled(a: int) returns (r: int); let r = k * a; tel"
    assert ran(tmp_path, node("y = scaled(x);", inputs="x: int", before=before), x=[1, 2])["y"] == [3, 6]


# Proofs: claims, assumptions, what is free


def test_properties_of_every_kind(tmp_path):
    body = "y = 0 -> if pre y = 5 then 0 else pre y + 1;"
    claims = """
      --%PROPERTY y <= 5;
      --%PROPERTY "named" y < 5;
      (*%PROPERTY y >= 0; *)
      --!PROPERTY : y <> 9;
      check y <> 7;
      check "if" y <> 3 provided b;
      check reachable y = 4;
      check reachable "late" y = 4 from 5 within 9;
      check reachable "not so soon" y = 4 within 3;
      check reachable "at" y = 2 at 8;
    """
    found = verdicts(tmp_path, node(body, inputs="b: bool", claims=claims))
    assert found == {
        "y <= 5": "proved",
        "named": "falsified",
        "y >= 0": "proved",
        "y <> 9": "proved",
        "y <> 7": "proved",
        "if": "falsified",
        "y = 4": "proved",
        "late": "falsified",  # 4, then 10: not from 5 to 9
        "not so soon": "falsified",
        "at": "proved",
    }


def test_asserts_of_every_instance_are_assumed(tmp_path):
    small = "node small(i: int) returns (o: int); let assert i < 3; o = i; tel"
    claims = "--%PROPERTY y < 3;\n--%PROPERTY z < 3;"
    body = "y = small(x); z = condact(b, small(w), 0);"
    text = node(body, inputs="x, w: int; b: bool", outputs="y, z: int", before=small, claims=claims)
    assert verdicts(tmp_path, text) == {"y < 3": "proved", "z < 3": "proved"}
    text = text.replace("y < 3;", "w < 3;")
    assert verdicts(tmp_path, text)["w < 3"] == "falsified"  # asserted only where the clock is true


def test_properties_of_instances_carry_their_path(tmp_path):
    small = "node small(i: int) returns (o: int); let o = i; --%PROPERTY o < 3;\ntel"
    body = "y = small(x);\nz = condact(x < 3, small(x), 0);"
    found = verdicts(tmp_path, node(body, inputs="x: int", outputs="y, z: int", before=small))
    assert found == {"small[l6c5].o < 3": "falsified", "small[l7c5].o < 3": "proved"}


def test_an_undefined_first_value_is_any_value_and_told(tmp_path):
    text = node("y = pre x;\nz = 0 -> pre (y + 1);", inputs="x: int", outputs="y, z: int", claims="--%PROPERTY y < 3;")
    equations = read(tmp_path, text)
    assert [w for w in equations.warnings if "spec.lus:5" in w and "may have any" in w]
    assert sum(c.free for c in equations.cells) == 1
    assert verdicts(tmp_path, text) == {"y < 3": "falsified"}
    assert verdicts(tmp_path, text.replace("y < 3", "true -> y < 3 or pre x >= 3")) == {
        "true -> y < 3 or pre x >= 3": "proved"
    }
    guarded = node("y = pre x;\nz = 0 -> y + 1;", inputs="x: int", outputs="z: int", local="y: int")
    assert read(tmp_path, guarded).warnings == () and not any(c.free for c in read(tmp_path, guarded).cells)


def test_one_pre_is_one_unknown_first_value(tmp_path):
    claims = "--%PROPERTY y = z;\n--%PROPERTY y = w;"
    text = node("y = pre x; z = pre x; w = pre (x + 0);", inputs="x: int", outputs="y, z, w: int", claims=claims)
    assert verdicts(tmp_path, text) == {"y = z": "proved", "y = w": "falsified"}


def test_what_nobody_defines_is_any_value(tmp_path):
    before = "node imported far(i: int) returns (o: int);"
    claims = "--%PROPERTY y < 3;\n--%PROPERTY z < 3;\n--%PROPERTY d = d;\n--%PROPERTY d = 0 or b;"
    body = "z = far(x); d = 7 div (if b then 0 else 10);"
    text = node(body, inputs="x: int; b: bool", outputs="y, z, d: int", before=before, claims=claims)
    equations = read(tmp_path, text)
    assert any("y has no equation" in w for w in equations.warnings)
    assert any("far is imported: it gives any value" in w for w in equations.warnings)
    assert any("division by what may be zero" in w for w in equations.warnings)
    assert verdicts(tmp_path, text) == {
        "y < 3": "falsified",
        "z < 3": "falsified",
        "d = d": "proved",
        "d = 0 or b": "proved",
    }


def test_an_index_out_of_range_gives_any_value(tmp_path):
    claims = "--%PROPERTY a[x] = 0;\n--%PROPERTY x >= 0 and x < 2 => a[x] = 0;"
    text = node("a = [0, 0];", inputs="x: int", outputs="a: int^2", claims=claims)
    assert verdicts(tmp_path, text) == {"a[x] = 0": "falsified", "x >= 0 and x < 2 => a[x] = 0": "proved"}


def test_subranges_are_assumed_of_inputs_and_claimed_of_the_rest(tmp_path):
    before = """
      type small = subrange [0, 9] of int;
      node half(i: small) returns (o: subrange [0, 4] of int); let o = i div 2; tel
    """
    body = "y = half(x); z = x + 1;"
    text = node(body, inputs="x: small", outputs="y: int; z: small", before=before, claims="--%PROPERTY y < 5;")
    assert verdicts(tmp_path, text) == {
        "y < 5": "proved",
        "z is in its range": "falsified",
        "half[l8c5].i is in its range": "proved",
        "half[l8c5].o is in its range": "proved",
    }


def test_free_constants_are_the_same_at_every_step(tmp_path):
    claims = "--%PROPERTY true -> y = pre y;\n--%PROPERTY y < 3;"
    text = node("y = n;", inputs="", before="const n: int;", claims=claims)
    assert verdicts(tmp_path, text) == {"true -> y = pre y": "proved", "y < 3": "falsified"}


def test_a_free_constant_may_have_the_name_of_an_input_and_a_range(tmp_path):
    before = "const n: subrange [1, 5] of int;\nnode shown(i: int) returns (o: int); let o = n + i; tel"
    text = node("y = shown(n);", inputs="n: int", before=before, claims="--%PROPERTY y > n;\n--%PROPERTY y <= n + 4;")
    assert verdicts(tmp_path, text) == {"y > n": "proved", "y <= n + 4": "falsified"}
    local = "node top(x: int) returns (y: int); const k: subrange [0, 3] of int; let y = k; --%PROPERTY y < 3;\ntel"
    assert verdicts(tmp_path, local) == {"y < 3": "falsified"}
    assert verdicts(tmp_path, local.replace("y < 3", "y < 4")) == {"y < 4": "proved"}


CONTRACT = """
node count(trigger: bool; top: int) returns (n: int);
(*@contract
  var once: bool = trigger or (false -> pre once);
  const least: int = 0;
  assume "top is positive" top > 0;
  guarantee n >= least;
  mode still (require not once; ensure n = 0;);
  mode counting (require not ::still; ensure "positive" n > 0;);
*)
let n = (if trigger then 1 else 0) + (0 -> pre n); tel
"""


def test_contracts_of_the_main_node(tmp_path):
    assert verdicts(tmp_path, CONTRACT) == {
        "guarantee n >= least": "proved",
        "still: ensure n = 0": "proved",
        "counting: ensure positive": "proved",
        "some mode is active": "proved",
    }
    assert [a.name for a in read(tmp_path, CONTRACT).assumptions] == ["assume top is positive"]
    wrong = CONTRACT.replace("n > 0;)", "n > 1;)").replace('"positive" ', "")
    assert verdicts(tmp_path, wrong)["counting: ensure n > 1"] == "falsified"


def test_contracts_of_a_called_node_are_obligations(tmp_path):
    text = node("y = count(b, x);", before=CONTRACT, claims="--%PROPERTY y >= 0;")
    found = verdicts(tmp_path, text)
    assert found["y >= 0"] == "proved"
    assert found["count[l16c5].assume top is positive"] == "falsified"
    assert found["count[l16c5].guarantee n >= least"] == "proved"
    assert any("the contract of count is checked, and its body is used" in w for w in read(tmp_path, text).warnings)


def test_an_imported_node_is_what_its_contract_says(tmp_path):
    imported = """
      node imported clamp(i, hi: int) returns (o: int);
      con
        assume hi >= 0;
        guarantee o <= hi;
        mode low (require i <= hi; ensure o = i;);
      noc;
    """
    claims = "--%PROPERTY y <= 9;\n--%PROPERTY x <= 9 => y = x;"
    text = node("y = clamp(x, 9);", inputs="x: int", before=imported, claims=claims)
    found = verdicts(tmp_path, text)
    assert found["y <= 9"] == "proved" and found["x <= 9 => y = x"] == "proved"
    assert "clamp[l12c5].assume hi >= 0" in found
    broken = verdicts(tmp_path, text.replace("clamp(x, 9)", "clamp(x, x)"))
    assert broken["clamp[l12c5].assume hi >= 0"] == "falsified"
    assert broken["y <= 9"] == "falsified"


def test_contract_nodes_are_imported(tmp_path):
    text = """
      contract positive(i: int) returns (o: int);
      let
        assume i > 0;
        guarantee o > 0;
        mode big (require i > 9; ensure o > 9;);
      tel
      node top(x: int) returns (y: int);
      con
        import positive(x + 1) returns (y);
        guarantee "big" ::positive::big => y > 8;
      noc
      let y = x + 1; tel
    """
    assert verdicts(tmp_path, text) == {
        "guarantee big": "proved",
        "positive[l10c9].guarantee o > 0": "proved",
        "positive[l10c9].big: ensure o > 9": "proved",
        "positive[l10c9].some mode is active": "falsified",
    }


def test_main_nodes(tmp_path):
    path = tmp_path / "several.lus"
    a = "node a(x: int) returns (y: int); let y = x; --%PROPERTY y > 0;\ntel\n"
    b = "node b(x: int) returns (y: int); let y = x; --%PROPERTY y < 0;\ntel\n"
    path.write_text(a + b)
    assert [e.name for e in read_lustre(str(path))] == ["a", "b"]
    assert [e.name for e in read_lustre(str(path), "b")] == ["b"]
    path.write_text(a.replace("tel", "--%MAIN;\ntel") + b)
    assert [e.name for e in read_lustre(str(path))] == ["a"]
    path.write_text(a + b.replace("y = x", "y = a(x)"))
    assert [e.name for e in read_lustre(str(path))] == ["b"]
    with pytest.raises(SpecError, match="no node c, it has a, b"):
        read_lustre(str(path), "c")


# The commands


def command(*args, **options):
    done = subprocess.run([COMMAND, *map(str, args)], capture_output=True, text=True, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr


def test_run_reads_inputs_and_shows_outputs(tmp_path):
    path = tmp_path / "spec.lus"
    path.write_text(node("y = x + (0 -> pre y); z = pre x;", inputs="x: int; b: bool", outputs="y, z: int"))
    (tmp_path / "in.csv").write_text("x,b\n1,true\n2,false\n5,true\n")
    status, out, err = command("run", path, "--input", tmp_path / "in.csv")
    assert status == 0 and [row.split() for row in out.splitlines()] == [
        ["step", "y", "z"], ["0", "1", "0"], ["1", "3", "1"], ["2", "8", "2"],
    ]  # fmt: skip
    assert "spec.lus:5: `pre` has no value at the first step: it may have any" in err
    assert command("run", path)[0] == 2
    path.write_text(node("z = 0 -> pre z + 1;", inputs="", outputs="y, z: int"))
    status, out, err = command("run", path, "--steps", 3, "--format", "csv")
    assert out == "step,y,z\n0,0,0\n1,0,1\n2,0,2\n" and "y has no equation" in err


def test_a_run_says_nothing_of_claims_that_rest_on_what_nobody_defined(tmp_path):
    path = tmp_path / "spec.lus"
    body = "y = pre x; z = x; w = w2;"
    claims = "--%PROPERTY y <> 0;\n--%PROPERTY z <> 0;\n--%PROPERTY w <> 0;"
    path.write_text(node(body, inputs="x: int", outputs="y, z, w: int", local="w2: int", claims=claims))
    (tmp_path / "in.csv").write_text("x\n0\n")
    status, _, err = command("run", path, "--input", tmp_path / "in.csv")
    assert status == 0 and "z <> 0 is false" in err and "y <> 0" not in err and "w <> 0" not in err
    assert "w2 may have any value; this run takes its type's default" in err
    shown = command("show", path)[1]
    assert "[any] ++ x" in shown


def test_counterexamples_speak_of_the_users_variables_and_instances(tmp_path):
    count = "node count(c: bool) returns (n: int);\nlet n = (0 -> pre n) + (if c then 1 else 0); tel"
    path = tmp_path / "spec.lus"
    path.write_text(node("m = count(b) + 1;\ny = m;", inputs="b: bool", local="m: int", before=count,
                         claims="--%PROPERTY y < 3;"))  # fmt: skip
    status, out, _ = command("prove", path, "--json", "--certificates", tmp_path)
    (result,) = json.loads(out)["properties"]
    steps = result["counterexample"]["steps"]
    assert status == 1 and result["name"] == "y < 3" and [s["inputs"] for s in steps] == [{"b": True}] * 2
    assert [s["streams"]["count[l6c5].n"] for s in steps] == [1, 2] and [s["streams"]["m"] for s in steps] == [2, 3]
    assert command("check", result["certificate"])[0] == 0
    shown = command("prove", path)[1]
    assert "count[l6c5].n" in shown and "first step" not in shown


def test_a_free_first_value_is_in_the_counterexample_and_replays(tmp_path):
    path = tmp_path / "spec.lus"
    path.write_text(node("y = pre x;", inputs="x: int", claims="--%PROPERTY y <> 41;"))
    status, out, _ = command("prove", path, "--json", "--certificates", tmp_path)
    answer = json.loads(out)
    (result,) = answer["properties"]
    assert status == 1 and result["k"] == 0 and result["counterexample"]["steps"][0]["streams"]["y"] == 41
    assert any("may have any" in w for w in answer["warnings"])
    assert command("check", result["certificate"])[0] == 0
    assert "41" in command("prove", path)[1]
    back = tmp_path / "spec.json"
    back.write_text(command("show", path, "--as", "json")[1])
    again = json.loads(command("prove", back, "--json")[1])
    assert again["properties"][0]["verdict"] == "falsified" and again["warnings"] == answer["warnings"]


# Mistakes


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("y = x +;", 5, "an expression is due, and this is `;`"),
        ("y = x\ntel", 6, "`;` is due, and this is `tel`"),
        ("y = z;", 5, "there is no z here"),
        ("y = x + 1.0;", 5, "int and real are different types"),
        ("y = true;", 5, "y is declared int, and this is bool"),
        ("y = x;\ny = 2;", 6, "y has a second equation"),
        ("y = 1; tel node other(x: int) returns (x: int); let x = 1;", 5, "x is declared a second time"),
        ("x = 2;", 5, "x is no output or local variable here"),
        ("y = nothing(x);", 5, "there is no node nothing"),
        ("y = if x then 1 else 2;", 5, "the condition is not bool"),
        ("y = x / 2;", 5, "whole numbers have `div`"),
        ("y = x + (uint8 1);", 5, "int and uint8 are different types"),
        ("y = x and b;", 5, "it is for bool, not int"),
        ("y = 1 -> pre b;", 5, "differ in type"),
        ("y = forall (i: int) i > 0;", 5, "quantifiers are not supported"),
        ("y = current x;", 5, "`current` is not supported"),
        ("y = x when b;", 5, "`when` is supported as a branch of a merge only"),
        ("y = any { i: int | i > 0 };", 5, "`any` is not supported"),
        ("if b then y = 1; else y = 2; fi", 5, "`if` blocks are not supported"),
        ("frame (y) let tel", 5, "`frame` blocks are not supported"),
        ("y = [1, 2][0..1];", 5, "array slices are not supported"),
        ("y = [1, 2][7];", 5, "index 7 of an array with 2 elements"),
        ("y = #(b, b);", 5, "`#` is not supported"),
        ("y = (1, 2);", 5, "1 values are due, and this gives 2"),
    ],
)
def test_mistakes_are_named_with_their_line(tmp_path, body, line, said):
    with pytest.raises(SpecError, match=re.escape(said)) as caught:
        read(tmp_path, node(body))
    assert caught.value.where.line == line


def test_a_loop_is_shown(tmp_path):
    with pytest.raises(SpecError, match="y depends on its own present value") as caught:
        read(tmp_path, node("y = z + 1;\nz = 0 -> if b then y else x;", local="z: int"))
    assert "z is read here" in str(caught.value) and caught.value.where.line == 5


def test_a_node_that_calls_itself_is_an_error(tmp_path):
    with pytest.raises(SpecError, match="calls itself"):
        read(tmp_path, "node f(x: int) returns (y: int); let y = f(x); --%MAIN;\ntel")


def test_comments_are_no_code(tmp_path):
    body = "y = 1 -- 2 (* \n + (* no * ) + 5 *) 2 /* + 3 */; -- --%PROPERTY y > 100;"
    assert ran(tmp_path, node(body, inputs=""), 1)["y"] == [3]


def test_words_of_later_versions_may_be_names(tmp_path):
    names = ["check", "every", "restart", "activate", "map", "any", "type", "of", "frame", "mode", "initial", "current"]
    body = "\n".join(f"{a} = 0 -> (pre {b} + 1);" for a, b in zip(names, [*names[1:], names[0]], strict=True))
    body += "y = (restart + check) * (if map > any then map else every);"
    text = node(body, inputs="x: int", local=f"{', '.join(names)}: int")
    assert ran(tmp_path, text, x=[0, 0, 0])["y"] == [0, 2, 8]


def test_deep_and_large_texts_are_read(tmp_path):
    n = 20_000
    deep = "(" * n + "x" + " + 1)" * n
    chain = "\n".join(f"v{i} = v{i + 1} + 1;" for i in range(n)) + f"\nv{n} = x;"
    local = ", ".join(f"v{i}" for i in range(n + 1)) + ": int"
    choices = " ".join(f"if x = {i} then {i} else" for i in range(n)) + " 0"
    text = node(f"y = {deep};\n{chain}\nw = v0; z = {choices};", inputs="x: int", outputs="y, w, z: int", local=local)
    assert ran(tmp_path, text, x=[3, 4]) == {"y": [n + 3, n + 4], "w": [n + 3, n + 4], "z": [3, 4]}


def test_equal_registers_are_one_and_constant_ones_none(tmp_path):
    body = "y = 0 -> pre x; z = 0 -> pre x; w = 0 -> pre w; v = if true -> pre b then pre x else 3;"
    equations = read(tmp_path, node(body, outputs="y, z, w, v: int"))
    assert len([c for c in equations.cells if c.name.startswith("pre x")]) <= 2
    assert not [c for c in equations.cells if c.name.startswith("pre w")]


# The set of the field, where it is there

SHARED = Path("../shared/bench/lustre")
needs_the_set = pytest.mark.skipif(not SHARED.is_dir(), reason=f"there is no {SHARED}")


@needs_the_set
def test_every_problem_of_the_set_is_read():
    files = sorted(SHARED.rglob("*.lus"))
    assert len(files) > 400
    for file in files:
        (equations,) = read_lustre(str(file))
        assert equations.properties and equations.name


@needs_the_set
def test_answers_on_the_set_are_the_known_ones():
    known = json.loads((SHARED / "expected.json").read_text())
    names = random.Random(5).sample(sorted(name for name, answer in known.items() if answer), 12)
    decided = 0
    for name in names:
        (equations,) = read_lustre(str(SHARED / name))
        (result,) = prove(equations, Settings(timeout=2.0, jobs=1)).results
        assert result.verdict in ("unknown", known[name]), name
        decided += result.verdict != "unknown"
    assert decided >= 4


@needs_the_set
def test_problems_of_the_set_keep_their_answers_as_lustre_and_as_vmt(tmp_path):
    for name in ("Int/memory2/SYNAPSE_2.lus", "Int/misc/ticket3i_3.lus", "Int32/memory2/MOESI_2_e7_2607.lus"):
        (equations,) = read_file(Target(str(SHARED / name), None))
        answers = [r.verdict for r in prove(equations, Settings(timeout=20.0, jobs=1)).results]
        assert answers and "unknown" not in answers
        for kind, write in (("lus", write_lustre), ("vmt", write_vmt)):
            path = tmp_path / f"again.{kind}"
            path.write_text(write(to_system(equations)))
            (again,) = read_file(Target(str(path), None))
            assert [r.verdict for r in prove(again, Settings(timeout=20.0, jobs=1)).results] == answers
