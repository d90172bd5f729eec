"""Frame blocks of Lustre: what nothing defines keeps its value."""

from __future__ import annotations

import re

import pytest
from lustre_runs import node, ran, read, verdicts

from streamcheck import SpecError

COUNT = "node count() returns (n: int); let n = 0 -> pre n + 1; tel"


def test_what_nothing_defines_keeps_its_value(tmp_path):
    body = """
      frame (y, z, v, w)
        z = 100; v = 7; w = 5;
      let
        if b then y = x; else z = 2 * x; fi
        w = 0 -> pre count();
      tel
    """
    text = node(body, outputs="y, z, v, w: int", before=COUNT)
    found = ran(tmp_path, text, x=[1, 2, 3, 4], b=[True, False, True, False])
    assert found == {"y": [1, 1, 3, 3], "z": [100, 4, 4, 8], "v": [7] * 4, "w": [0, 0, 1, 2]}


def test_last_is_the_value_one_step_before_whatever_was_chosen(tmp_path):
    body = """
      frame (y, z)
        y = 10; z = 0;
      let
        when b then y = last y + 1; z = 1 -> pre z + 1; end
      tel
    """
    b = [False, True, False, False, True]
    found = ran(tmp_path, node(body, outputs="y, z: int"), x=[0] * 5, b=b)
    assert found == {"y": [10, 11, 11, 11, 12], "z": [0, 1, 1, 1, 2]}  # `pre z`: when it was last chosen


def test_a_case_that_is_left_out_keeps_all(tmp_path):
    body = "frame (y) y = 3; let cond | x > 2: y = x; | x > 0: y = last y + last z; end tel z = 2 * y;"
    found = ran(tmp_path, node(body, outputs="y, z: int"), x=[0, 5, 1, 0], b=[True] * 4)
    assert found == {"y": [3, 5, 15, 15], "z": [6, 10, 30, 30]}


def test_without_an_initial_value_the_first_is_any(tmp_path):
    text = node("frame (y) let if b then y = 4; fi tel", claims='check "P" b -> true; check "Q" y = 4 or not b;')
    assert verdicts(tmp_path, text) == {"P": "falsified", "Q": "proved"}
    text = node("frame (y) let if b then y = 4; fi tel", claims='check "P" y = 4;')
    assert verdicts(tmp_path, text) == {"P": "falsified"}


def test_elements_of_arrays_keep_their_values(tmp_path):
    body = """
      frame (a)
        a[i] = if i = 0 then 1 else 2 * a[i - 1];
      let
        if b then a[i] = if i = 0 then x else a[i - 1] + 1; fi
      tel
      y = a[2];
    """
    found = ran(tmp_path, node(body, local="a: int^3"), x=[9, 5, 0], b=[False, True, False])
    assert found == {"y": [4, 7, 7]}


def test_a_tuple_in_one_branch_and_a_part_of_it_in_another(tmp_path):
    two = "node two(x: int) returns (p, q: int); let p = x; q = 2 * x; tel"
    body = """
      frame (y, z, v, w)
        (y, z) = two(7); v, w = (1, 2);
      let
        if b then (y, z) = two(x); v = 3; else y = 0; v, w = (x, x); fi
      tel
    """
    found = ran(tmp_path, node(body, outputs="y, z, v, w: int", before=two), x=[1, 2, 3], b=[False, True, False])
    assert found == {"y": [0, 2, 0], "z": [14, 4, 4], "v": [1, 3, 3], "w": [1, 1, 3]}


def test_the_condition_of_a_block_is_evaluated_once(tmp_path):
    text = (
        "node imported coin() returns (b: bool);\n"
        "node top() returns (y, z: int);\n"
        'let if coin() then y = 1; z = 1; else y = 2; z = 2; fi check "agree" y = z; check "one" y = 1; tel'
    )
    assert verdicts(tmp_path, text) == {"agree": "proved", "one": "falsified"}


def test_ranges_are_claimed_of_the_variables_alone(tmp_path):
    outputs = "y: subrange [0, 5] of int"
    text = node("frame (y) y = 9; let y = if b then (last y) mod 5 else 0; tel", outputs=outputs)
    assert verdicts(tmp_path, text) == {"y is in its range": "proved"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("y = 0; frame (z) let v = 1; tel", "v is defined in the frame, and is not in its list of variables"),
        ("frame (y) y = 0; let y = last x; tel", "x is not an output or local variable here"),
        ("frame (y) y = 0; let y = last q; tel", "q is not an output or local variable here"),
        ("frame (y) y = true; let y = last y + 1; tel z = 0; v = 0;", "expected int, found bool"),
        ("frame (y) y = 0; let y = 1; y = 2; tel z = 0; v = 0;", "y has two equations"),
        ("y = last y;", "`last` is only in the body of a `frame`"),
    ],
)
def test_refusals(tmp_path, body, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        read(tmp_path, node(body, local="z, v: int"))
