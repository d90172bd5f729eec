"""What Lustre means: the examples of docs/lustre.md, and declarations that are refused."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from lustre_runs import node, ran, read, verdicts

from streamcheck import SpecError
from streamcheck.frontends.lustre.read import read_lustre
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target
from streamcheck.run.source import read as read_file

EXAMPLES = re.findall(r"^```lustre\n(.*?)^```$", Path("docs/lustre.md").read_text(), re.S | re.M)


@pytest.mark.parametrize("text", EXAMPLES)
def test_the_examples_of_the_page_mean_what_they_say(tmp_path, text):
    """A comment at the end of a line has the verdicts of the claims of that line, or says that it is an error."""
    path = tmp_path / "example.lus"
    path.write_text(text)
    expected = {}
    for number, line in enumerate(text.splitlines(), 1):
        comment = re.search(r"  -- ((?:proved|falsified|error)(?:, \w+)*)$", line)
        if comment:
            expected[number] = comment[1].split(", ")
    assert expected
    if ["error"] in expected.values():
        with pytest.raises(SpecError) as caught:
            read_lustre(str(path))
        assert {caught.value.where.line: ["error"]} == expected
        return
    (specification,) = read_lustre(str(path))
    results = prove(specification, Settings(timeout=20.0, jobs=1)).results
    found = {}
    for claim, result in zip(specification.properties, results, strict=True):
        assert claim.name == result.name
        found.setdefault(claim.where.line, []).append(result.verdict)
    assert found == expected


def test_calls_in_nested_lazy_branches_keep_their_values(tmp_path):
    count = "node count() returns (n: int); let n = 1 -> pre n + 1; tel"
    body = "y = when b then (when c then count() else 10 * count()) else -count();"
    text = node(body, inputs="b, c: bool", before=count)
    found = ran(tmp_path, text, b=[True, True, False, True, True], c=[True, False, False, False, True])
    assert found["y"] == [1, 10, -1, 20, 2]


def test_a_restart_has_no_effect_while_an_instance_takes_no_step(tmp_path):
    """2026-11-20: what `pre x` held was lost if a restart came while the clock was false. Kind 2 proves the claim."""
    inner = "node moved(x: int; b: bool) returns (z: int); let z = (if b then x else pre x) + (x -> pre (z + 1)); tel"
    body = """
    n = 0 -> pre n + 1;
    x = if n = 0 then 1 else 0;
    w = (activate (restart moved every n <= 1) every (n = 0 or n = 5) initial default x)(x, n <= 1);
    check n = 5 => w = 4;
    check n = 5 => w = 3;"""
    text = node("y = true;" + body, inputs="d: bool", outputs="y: bool; n, x, w: int", before=inner)
    found = verdicts(tmp_path, text)
    assert found["n = 5 => w = 4"] == "proved" and found["n = 5 => w = 3"] == "falsified"


def test_the_assumption_of_a_call_in_a_branch_that_is_not_chosen_is_not_owed(tmp_path):
    root = "function root(i: int) returns (o: int); con assume i >= 0; guarantee o >= 0; noc let o = i; tel"
    for call, verdict in (("x >= 0 and then root(x) >= 0", "proved"), ("x >= 0 and root(x) >= 0", "falsified")):
        found = verdicts(tmp_path, node(f"y = {call};", inputs="x: int", outputs="y: bool", before=root))
        assert [v for name, v in found.items() if "assume" in name] == [verdict]
        assert [v for name, v in found.items() if "guarantee" in name] == ["proved"]


def test_ghosts_of_several_types_and_names_of_several_lines(tmp_path):
    contract = 'con var a: int, c: bool = (x, b); guarantee "of\n  two lines" c => a = y; noc'
    text = f"node top(x: int; b: bool) returns (y: int); {contract} let y = x; tel"
    assert verdicts(tmp_path, text) == {"guarantee of two lines": "proved"}


def test_records_are_updated(tmp_path):
    before = "type pair = struct { first: int; second: bool };"
    body = "p = pair { first = x; second = b }; q = p[first := 5]; y = q.first + (if q.second then 1 else 0);"
    assert ran(tmp_path, node(body, local="p, q: pair", before=before), x=[1, 2], b=[True, False])["y"] == [6, 5]
    with pytest.raises(SpecError, match="has no field third"):
        read(tmp_path, node(body.replace("first := 5", "third := 5"), local="p, q: pair", before=before))


def test_reals_may_be_hexadecimal_and_rounded_down(tmp_path):
    body = "y = floor(0x1.8p1 / 2.0); z = 0x.8 = 0.5;"
    found = ran(tmp_path, node(body, inputs="", outputs="y: int; z: bool"), 1)
    assert found == {"y": [1], "z": [True]}


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("function f(x: int) returns (y: int);\nlet y = 0 -> x; tel", 2, "functions have no memory"),
        ("node n() returns (y: int); let y = 1; tel\nfunction f() returns (y: int); let y = n(); tel", 2, "is a node"),
        ("node n(const k: int) returns (y: int); let y = k; tel\nnode m(x: int) returns (y: int); let y = n(x); tel", 2,
         "the value of `const k` of n has x in it"),
        ("contract C(x: int) returns (y: int);\nlet import C(x) returns (y); tel", 1, "needs itself"),
        ("node n() returns (y: int); let y = 4; tel\nconst a: int^(n());", 2, "the size of an array"),
        ("node imported f(x: int) returns (y: int);\nnode n() returns (y: int); let y = f(y); tel", 2, "its own"),
        ("node n(x: int) returns (y: int);\ncon guarantee y = z; noc var z: int; let z = x; y = z; tel", 2, "local"),
        ("node n() returns (y: int^2^2);\nlet y[i] = [1, 2]; tel", 2, "too few indices"),
        ("node n() returns (y: int);\nlet y, y = (1, 2); tel", 2, "twice"),
        ("type r = struct { a: int };\nconst c: r = r { b = 1 };\nnode n() returns (y: int); let y = 1; tel", 2, "r "),
        ("node n(x: bool) returns (y: bool);\nlet y = x and then pre x; tel", 2, "`and then` has `pre` in it"),
        ("node n(x: bool) returns (y: bool);\nlet y = (true -> x) or else x; tel", 2, "`or else` has `->` in it"),
        ("node m() returns (y: bool); let y = true; tel\nnode n(x: bool) returns (y: bool); let y = x ==> m(); tel", 2,
         "`==>` has a call of m in it, which is a node"),
        ("datatype t = A | B (x: t);\nnode n(x: t) returns (y: t); let y = x; tel", 1, "data type t contains itself"),
        ("function rec f(x: int) returns (y: int);\nlet y = f(x); tel", 1, "f is recursive and has no measure"),
        ("node n(x: int) returns (y: int);\nlet y = last x; tel", 2, "`last` is only in the body of a `frame`"),
        ("opaque node n(x: int) returns (y: int);\nlet y = x; tel", 1, "opaque and has no contract"),
    ],
)  # fmt: skip
def test_every_declaration_is_checked(tmp_path, text, line, message):
    path = tmp_path / "spec.lus"
    path.write_text(text)
    with pytest.raises(SpecError, match=re.escape(message)) as caught:
        read_lustre(str(path))
    assert caught.value.where.line == line


def test_a_file_of_imported_nodes_alone_has_no_properties(tmp_path):
    found = read(tmp_path, "node imported top(x: int) returns (y: int); con guarantee y > x; noc")
    assert found.name == "top" and not found.properties and len(found.assumptions) == 1


def test_reading_keeps_to_the_time_limit(tmp_path):
    path = tmp_path / "long.lus"
    sums = " ".join(f"v{i} = v{i + 1} + {i};" for i in range(60_000))
    names = ", ".join(f"v{i}" for i in range(60_001))
    path.write_text(node(f"y = v0; v60000 = x; {sums}", inputs="x: int", local=f"{names}: int"))
    began = time.monotonic()
    with pytest.raises(SpecError, match=r"timed out after 0\.1 s"):
        read_file(Target(str(path), None), 0.1)
    assert time.monotonic() - began < 3


def test_a_counterexample_that_gives_a_function_two_values_is_none(tmp_path):
    """x may be 1, 2, 1 with f(1) first 0 and then 1: no register remembers that."""
    body = """
      y = f(x); late = false -> pre (false -> true);
      check "again" late and x = (0 -> pre (0 -> pre x)) => y = (0 -> pre (0 -> pre y));
      check "other" y < 3;
    """
    before = "function imported f(x: int) returns (y: int);"
    text = node(body, inputs="x: int", local="late: bool", before=before)
    specification = read(tmp_path, text)
    results = {r.name: r for r in prove(specification, Settings(timeout=40.0, jobs=1, engines=("bmc",))).results}
    assert results["other"].verdict == "falsified"
    assert results["again"].verdict == "unknown"
    assert "it gives f two values for the same inputs, at steps" in str(results["again"].unknown.reasons)
    assert [c.function for c in from_plain(to_plain(specification)).calls] == ["f"] * len(specification.calls)


def test_a_division_by_zero_is_a_function_of_the_dividend(tmp_path):
    body = 'y = x / 0.0; check "same" true -> x = pre x => y = pre y;'
    text = node(body, "x: real", "y: real")
    (result,) = prove(read(tmp_path, text), Settings(timeout=40.0, jobs=1, engines=("bmc",))).results
    assert result.verdict == "unknown"
    assert "it gives div by zero two values for the same inputs, at steps 0 and 1" in str(result.unknown.reasons)
