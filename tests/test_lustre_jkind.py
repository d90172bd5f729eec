"""What JKind writes otherwise than Kind 2: the verdicts are those of JKind 4."""

from __future__ import annotations

import pytest
from lustre_runs import ran, read, verdicts

from streamcheck.core.errors import SpecError


def test_types_of_arrays_in_brackets(tmp_path):
    text = """
    type row = int[2];
    node main(i: int) returns (a: row[3]; b: int; c: int);
    let
      a = [[1, 2], [3, 4], [5, 6]] -> (pre a)[1 := (pre a)[1][0 := i]];
      b = a[1][0];
      c = a[2][1];
    tel;"""
    found = ran(tmp_path, text, i=[7, 8])
    assert (found["b"], found["c"]) == ([3, 8], [6, 6])


def test_updates_of_records_in_braces(tmp_path):
    text = """
    type pair = struct { x: int; y: bool };
    node main(b: bool) returns (p: pair; q: int);
    let
      p = pair { x = 1; y = true } -> if b then (pre p){x := 10}{y := false} else p0{x := 20};
      p0 = pair { x = 5; y = true };
      q = p.x;
    tel;""".replace("let", "var p0: pair;\n    let", 1)
    found = ran(tmp_path, text, b=[True, True, False])
    assert found["q"] == [1, 10, 20]
    assert found["p"][1] == (10, False)


def test_names_with_exclamation_marks_points_and_brackets(tmp_path):
    text = """
    function st0.y(x: int) returns (y: int);
    node main(msg.buff[0], msg.buff[1]: int; msg.cmd!: int) returns (a!1: int);
    var buff!x~0: int;
    let
      a!1 = msg.buff[0] + 10 * msg.buff[1] + 100 * msg.cmd!;
      buff!x~0 = st0.y(a!1);
      --%PROPERTY ok;
      ok = buff!x~0 = st0.y(msg.buff[0] + 10 * msg.buff[1] + 100 * msg.cmd!);
    tel;""".replace("var ", "var ok: bool; ")
    assert verdicts(tmp_path, text) == {"ok": "proved"}
    specification = read(tmp_path, text)
    assert [i.name for i in specification.inputs][:3] == ["msg.buff[0]", "msg.buff[1]", "msg.cmd!"]


def test_a_compound_name_of_one_node_is_none_of_another(tmp_path):
    text = """
    type rec = struct { x: int };
    node f(msg.x: int) returns (y: int); let y = msg.x; tel;
    node main(msg: rec) returns (y: int); let y = f(msg.x) + 1; check "P" y = msg.x + 1; tel;"""
    assert verdicts(tmp_path, text) == {"P": "proved"}


def test_functions_without_a_body_are_uninterpreted(tmp_path):
    text = """
    function f(x: int) returns (y: int);
    const K = 20;
    function pair() returns (x, y: int);
    function none(x: int) returns ();
    node main() returns (ok, cex: bool);
    var count, u, v: int;
    let
      count = 1 + (0 -> pre count);
      assert f(count + 1) > f(count);
      ok = not (count = K and f(K) = K and f(1) = 2);
      --%PROPERTY ok;
      u, v = pair();
      cex = not (u = 5 and v = 6);
      --%PROPERTY cex;
    tel;"""
    assert verdicts(tmp_path, text)["cex"] == "falsified"
    assert read(tmp_path, text).calls


def test_a_function_with_a_contract_needs_a_body_or_to_be_imported(tmp_path):
    text = """
    function f(x: int) returns (y: int); con guarantee y > x; noc
    node main() returns (y: int); let y = f(1); tel"""
    with pytest.raises(SpecError, match="expected `var` or `let`"):
        read(tmp_path, text)


def test_an_index_out_of_range_is_the_last(tmp_path):
    text = """
    node main(i: int) returns (v: int);
    var A, B: int[3];
    let
      A = [10, 11, 12]; B = A[i := 7]; v = A[i];
      p1 = v >= 10 and v <= 12; --%PROPERTY p1;
      p2 = i > 2 or i < 0 => v = 12; --%PROPERTY p2;
      p3 = i < 0 or i > 2 => B = A; --%PROPERTY p3;
      p4 = i < 0 => v = 10; --%PROPERTY p4;
    tel;"""
    jkind = text.replace("int[3];", "int[3]; p1, p2, p3, p4: bool;")
    assert verdicts(tmp_path, jkind) == {"p1": "proved", "p2": "proved", "p3": "proved", "p4": "falsified"}
    kind2 = text.replace("int[3];", "int^3; p1, p2, p3, p4: bool;")
    assert verdicts(tmp_path, kind2) == {"p1": "falsified", "p2": "falsified", "p3": "proved", "p4": "falsified"}


def test_a_pre_without_a_first_value_is_in_the_range_of_its_variable(tmp_path):
    text = """
    node main(s: subrange [0, 1] of int) returns ();
    var r: subrange [0, 1] of int; ok!, no!, y: bool;
    let
      y = 0 <= pre s and pre s <= 1;
      r = pre r;
      ok! = 0 <= r and y;
      --%PROPERTY ok!;
      no! = pre s = 0;
      --%PROPERTY no!;
    tel;"""
    assert verdicts(tmp_path, text) == {"ok!": "proved", "no!": "falsified", "r is in its range": "proved"}
    found = verdicts(tmp_path, text.replace("!", ""))
    assert found == {"ok": "falsified", "no": "falsified", "r is in its range": "falsified"}
