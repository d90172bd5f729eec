"""Lustre read and run: what each construct means, mistakes and what is not supported named with their lines."""

from __future__ import annotations

import re
import time
from fractions import Fraction

import pytest
from lustre_runs import node, ran, read, verdicts

from streamcheck import SpecError


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


def test_a_branch_of_a_merge_for_a_member_of_another_enum_is_an_error(tmp_path):
    before = """
      type color = enum { red, green };
      type light = enum { on, off };
      node one(i: int) returns (o: int); let o = i; tel
    """
    for clock in ("red(c)", "on(c)"):
        body = f"y = merge c (on -> one(x) when {clock}) (off -> 3);"
        with pytest.raises(SpecError, match="color"):
            read(tmp_path, node(body, inputs="x: int; c: color", before=before))


def test_a_free_constant_may_be_bounded_by_another_constant(tmp_path):
    before = "const n: int = 3; const c: subrange [0, n] of int;"
    (assumption,) = read(tmp_path, node("y = c;", before=before)).assumptions
    assert assumption.name == "c is in its range"


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


# Mistakes


@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("y = x +;", 5, "expected an expression, found `;`"),
        ("y = x\ntel", 6, "expected `;`, found `tel`"),
        ("y = z;", 5, "z is not declared"),
        ("y = x + 1.0;", 5, "int and real are different types"),
        ("y = true;", 5, "y: expected int, found bool"),
        ("y = x;\ny = 2;", 6, "y has two equations"),
        ("y = 1; tel node other(x: int) returns (x: int); let x = 1;", 5, "x is declared twice"),
        ("x = 2;", 5, "x is not an output or local variable here"),
        ("y = nothing(x);", 5, "node nothing is not declared"),
        ("y = if x then 1 else 2;", 5, "the condition: expected bool, found int"),
        ("y = x / 2.0;", 5, "int and real are different types"),
        ("y = x + (uint8 1);", 5, "int and uint8 are different types"),
        ("y = x and b;", 5, "expected bool, found int"),
        ("y = 1 -> pre b;", 5, "differ in type"),
        ("y = if exists (i: int) i * i = x then 1 else 0;", 5, "over infinitely many values of i cannot be decided"),
        ("y = current x;", 5, "the operand of `current` is on the base clock"),
        ("y = x when b;", 5, "y = …: expected a flow on the base clock, found one on b"),
        ("y = any { i: int };", 5, "expected `|`"),
        ("if b then y = 1; fi", 5, "y has no equation in one of the branches"),
        ("frame (y) y = last x; let tel", 5, "`last` is only in the body of a `frame`"),
        ("y = [1, 2][0..1];", 5, "slices of arrays are not supported"),
        ("y = [1, 2][7];", 5, "index 7 is outside"),
        ("y = #(b, b);", 5, "y: expected int, found bool"),
        ("y = (1, 2);", 5, "expected 1 value, found 2"),
        ("y = int ((uint8 1)[8:0]);", 5, "has the bits 7 to 0, not 8 to 0"),
        ("y = int ((int8 1)[3:0]);", 5, "expected an unsigned machine integer, found int8"),
        ("y = int ((int8 1) ++ (uint8 1));", 5, "expected unsigned machine integers, found int8"),
        ("y = int (uint@<0> 1);", 5, "expected a width"),
        ("y = 0x;", 5, "expected `;`, found `x`"),
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
    with pytest.raises(SpecError, match="f needs itself: f → f"):
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


def test_any_of_a_subrange_is_in_it(tmp_path):
    text = "node top() returns (y: int); let y = any@<subrange [0, 7] of int>; "
    text += 'check "in" y >= 0 and y < 8; check "less" y < 7; tel'
    assert verdicts(tmp_path, text) == {"in": "proved", "less": "falsified"}


def test_bits_are_taken_out_of_words_and_put_together(tmp_path):
    body = "y = 7 / x; w = a ++ b[3:0] ++ b[7:4] ++ uint@<3> x;\n"
    body += "v = w[18:11] ++ w[10:7]; z = true -> pre (a ++ b)[7:0] = pre b;"
    text = node(body, inputs="a, b: uint8; x: int", outputs="y: int; w: uint<19>; v: uint<12>; z: bool")
    found = ran(tmp_path, text, a=[0xAB, 255], b=[0xCD, 1], x=[-2, 9])
    assert found["y"] == [-3, 0]
    assert found["w"] == [(0xABDC << 3) + 6, (0xFF10 << 3) + 1]
    assert found["v"] == [0xABD, 0xFF1]
    assert found["z"] == [True, True]


def test_an_element_outside_of_an_array_that_is_defined_by_elements_is_any(tmp_path):
    body = "p[i] = q[i + 1] + x; q[i] = i; y = p[1];"
    claims = 'check "inside" p[0] = 1 + x; check "outside" p[2] = 3 + x; check "one value" p[2] = q[3] + x;'
    found = verdicts(tmp_path, node(body, local="p, q: int^3", claims=claims))
    assert found == {"inside": "proved", "outside": "falsified", "one value": "proved"}
