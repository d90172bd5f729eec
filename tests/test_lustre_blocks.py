"""Blocks of equations in Lustre."""

from __future__ import annotations

import re

import pytest
from lustre_runs import node, ran, read, verdicts

from streamcheck import SpecError

COUNT = "node count() returns (n: int); let n = 1 -> pre n + 1; tel"


def test_branches_define_several_variables(tmp_path):
    body = """
      if x > 2 then y = 1; z = x;
      elsif x > 0 then z = -x; if b then y = 2; else y = 3; fi
      else y = 4; z = 0; fi
    """
    found = ran(tmp_path, node(body, outputs="y, z: int"), x=[3, 1, 2, 0], b=[True, True, False, True])
    assert found == {"y": [1, 2, 3, 4], "z": [3, -1, -2, 0]}


def test_both_branches_of_an_if_block_take_steps(tmp_path):
    strict = node("if b then y = count(); else y = -count(); fi", before=COUNT)
    lazy = node("when b then y = count(); else y = -count(); end", before=COUNT)
    steps = {"x": [0] * 4, "b": [True, False, False, True]}
    assert ran(tmp_path, strict, **steps)["y"] == [1, -2, -3, 4]
    assert ran(tmp_path, lazy, **steps)["y"] == [1, -1, -2, 2]


def test_the_first_case_that_holds_is_chosen(tmp_path):
    body = """
      cond
        | x > 2: y = 1;
        | x > 0: when b then y = 2; else y = 3; end
        otherwise: y = 4;
      end
    """
    assert ran(tmp_path, node(body), x=[3, 1, 2, 0], b=[True, True, False, True])["y"] == [1, 2, 3, 4]


def test_arrays_and_pairs(tmp_path):
    before = "node two(x: int) returns (a, b: int); let a = x; b = x + 1; tel"
    body = "if b then (p, q) = two(x); A[i] = i; else (p, q) = (7, 8); A[i] = x; fi y = p + 10 * q + 100 * A[1];"
    text = node(body, local="p, q: int; A: int^2", before=before)
    assert ran(tmp_path, text, x=[3, 4], b=[True, False])["y"] == [143, 487]


def test_an_assumption_is_owed_in_the_branch(tmp_path):
    before = "function imported root(x: int) returns (y: int); con assume x >= 0; noc"
    for block, verdict in (("when x >= 0 then y = root(x); else y = 0; end", "proved"),
                           ("if x >= 0 then y = root(x); else y = 0; fi", "falsified")):  # fmt: skip
        found = verdicts(tmp_path, node(block, before=before))
        assert [v for name, v in found.items() if "assume" in name] == [verdict]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("if b then y = 1;\nfi", "y has no equation in one of the branches"),
        ("when b then y = 1; else z = 2; y = 1;\nend", "z has no equation in one of the branches"),
        ("cond | b: y = 1; z = 1; | x > 0: y = 2; z = 1;\nend", "y has no equation in one of the branches"),
        ("if b then\ny = 1; y = 2; else y = 3; fi", "y has two equations in this branch"),
        (
            "when b then when pre b then y = 1; z = 1; else y = 2; z = 2; end else y = 3; z = 3; end",
            "an inner block of several variables has `pre` without `->`",
        ),
        ("if b then\nassert b; else y = 3; fi", "expected a name, found `assert`"),
        ("if b then when b then y = 1; else y = 2; end\nelse y = 3; fi", "nor these in `if` blocks"),
        ("cond | b: if b then y = 1; else y = 2; fi\notherwise: y = 3; end", "`if` blocks in `when`"),
        ("if b then\n() = 1; else () = 2; fi", "an equation in a block defines a variable"),
    ],
)
def test_refusals(tmp_path, block, message):
    with pytest.raises(SpecError, match=re.escape(message)):
        read(tmp_path, node(f"{block}\nz = 3;", outputs="y, z: int"))
