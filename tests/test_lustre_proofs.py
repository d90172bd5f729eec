"""Lustre proved: what is claimed, assumed and free; the commands; the problems of the field, where they are there."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest
from lustre_runs import node, read, verdicts

from streamcheck import SpecError
from streamcheck.export.lustre import write_lustre
from streamcheck.export.vmt import write_vmt
from streamcheck.frontends.lustre.read import read_lustre
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target
from streamcheck.run.source import read as read_file
from streamcheck.transform.scalar_system import to_system

FAR = "node imported far() returns (o: int);"
COMMAND = str(Path(sys.executable).parent / "streamcheck")


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
        "condition of if": "proved",
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


def test_each_unguarded_pre_has_a_first_value_of_its_own(tmp_path):
    claims = "--%PROPERTY y = z;\n--%PROPERTY y = y;\n--%PROPERTY true -> y = z;\n--%PROPERTY true -> pre x = pre x;"
    text = node("y = pre x; z = pre x;", inputs="x: int", outputs="y, z: int", claims=claims)
    assert list(verdicts(tmp_path, text).values()) == ["falsified", "proved", "proved", "proved"]
    twice = "node late(i: int) returns (o: int); let o = pre i; tel"
    text = node("y = late(x) - late(x);", inputs="x: int", before=twice, claims="--%PROPERTY y = 0;")
    assert verdicts(tmp_path, text) == {"y = 0": "falsified"}


def test_what_nobody_defines_is_any_value(tmp_path):
    before = "node imported far(i: int) returns (o: int);"
    claims = "--%PROPERTY z < 3;\n--%PROPERTY d = d;\n--%PROPERTY d = 0 or b;"
    body = "z = far(x); d = 7 div (if b then 0 else 10);"
    text = node(body, inputs="x: int; b: bool", outputs="z, d: int", before=before, claims=claims)
    equations = read(tmp_path, text)
    assert any("far is imported: its outputs are any" in w for w in equations.warnings)
    assert any("division by what may be zero" in w for w in equations.warnings)
    assert verdicts(tmp_path, text) == {
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


def test_a_free_constant_may_have_a_range(tmp_path):
    before = "const n: subrange [1, 5] of int;\nnode shown(i: int) returns (o: int); let o = n + i; tel"
    text = node("y = shown(x);", inputs="x: int", before=before, claims="--%PROPERTY y > x;\n--%PROPERTY y <= x + 4;")
    assert verdicts(tmp_path, text) == {"y > x": "proved", "y <= x + 4": "falsified"}
    high = text.replace("const n: subrange [1, 5] of int;", "const m: int; const n: subrange [1, m] of int = 3;")
    assert verdicts(tmp_path, high) == {
        "y > x": "proved",
        "y <= x + 4": "proved",
        "n is in its range": "falsified",
    }
    fixed = text.replace("of int;", "of int = 3;", 1)
    assert verdicts(tmp_path, fixed)["n is in its range"] == "proved"
    with pytest.raises(SpecError, match="n is declared twice: it is a constant of the file"):
        read(tmp_path, text.replace("x: int", "x, n: int"))
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
        "still: reachable": "proved",
        "still: ensure n = 0": "proved",
        "counting: reachable": "proved",
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
    assert [c.name for c in read(tmp_path, text).components] == ["count"]


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


def test_the_modes_of_the_main_node_alone_have_to_cover_everything(tmp_path):
    """An imported node without an active mode is not impossible, and a called node is another file's concern."""
    contract = "(x: int) returns (y: int); con mode big (require x > 5; ensure y > 5;); noc"
    imported, defined = f"node imported n{contract}", f"node n{contract} let y = x; tel"
    for before in (imported, defined):
        found = verdicts(tmp_path, node("y = n(x);", inputs="x: int", before=before, claims='check "P" y <> 1;'))
        assert found["P"] == "falsified" and not any("some mode" in name for name in found)
    assert verdicts(tmp_path, defined)["some mode is active"] == "falsified"


def test_a_promise_about_outputs_that_nothing_reads_is_no_assumption(tmp_path):
    """No run keeps it, since it is about the input: if the call mattered, everything would be proved."""
    before = "node imported n(x: int) returns (y: int); con guarantee x > 0; guarantee y > 0; noc"
    text = node("y = x; z = n(x);", "x: int", local="z: int", before=before, claims='check "P" x > 0;')
    assert verdicts(tmp_path, text)["P"] == "falsified" and not read(tmp_path, text).assumptions
    assert verdicts(tmp_path, text.replace("y = x;", "y = z;").replace('"P" x > 0', '"P" y > 0'))["P"] == "proved"


def test_the_modes_of_imported_contracts_cover_it_together(tmp_path):
    text = """
      contract small(x: int) returns (y: int);
      let mode small (require x <= 0; ensure y <= 0;); tel
      node top(x: int) returns (y: int);
      con
        import small(x) returns (y);
        mode big (require x > 0; ensure y > 0;);
      noc
      let y = x; tel
    """
    assert verdicts(tmp_path, text)["some mode is active"] == "proved"


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
        "positive[l10c9].big: reachable": "proved",
        "positive[l10c9].big: ensure o > 9": "proved",
        "some mode is active": "falsified",
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
    with pytest.raises(SpecError, match="no node named c, it has a, b"):
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
    path.write_text(node("z = 0 -> pre z + 1; y = far();", inputs="", outputs="y, z: int", before=FAR))
    status, out, err = command("run", path, "--steps", 3, "--format", "csv")
    assert out == "step,y,z\n0,0,0\n1,0,1\n2,0,2\n" and "far is imported" in err


def test_a_run_says_nothing_of_claims_that_rest_on_what_nobody_defined(tmp_path):
    path = tmp_path / "spec.lus"
    body = "y = pre x; z = x; w = far();"
    claims = "--%PROPERTY y <> 0;\n--%PROPERTY z <> 0;\n--%PROPERTY w <> 0;"
    path.write_text(node(body, inputs="x: int", outputs="y, z, w: int", before=FAR, claims=claims))
    (tmp_path / "in.csv").write_text("x\n0\n")
    status, _, err = command("run", path, "--input", tmp_path / "in.csv")
    assert status == 0 and "z <> 0 is false" in err and "y <> 0" not in err and "w <> 0" not in err
    assert ".o may have any value; this run uses its type's default" in err
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


def test_any_is_a_value_of_its_own_at_each_place_and_step(tmp_path):
    text = """\
type light = enum { red, green };
node any_twice() returns (a, b: int);
let a = any@<int>; b = any@<int>; tel
node top(c: bool) returns (y: subrange [0, 7] of int; v: int^2; l: light);
var a, b, d: int;
let
  y = any@<int>;
  v = any@<int^2>;
  l = any@<light>;
  a, b = any_twice();
  d = any@<int>;
  check "itself" d = d;
  check "places" a = b;
  check "steps" true -> d = pre d;
  check "elements" v[0] = v[1];
  check "color" l = red or l = green;
  check "low" d < 50 provided d < 25;
tel
"""
    results = {r.name: r.verdict for r in prove(read(tmp_path, text), Settings(timeout=60, jobs=1)).results}
    assert results == {
        "itself": "proved", "places": "falsified", "steps": "falsified", "elements": "falsified", "color": "proved",
        "condition of low": "proved", "low": "proved", "y is in its range": "falsified",
    }  # fmt: skip


def test_the_subrange_of_what_an_equation_defines_is_a_claim(tmp_path):
    text = """\
node imported far(x: int) returns (y: int);
node imported near(x: int) returns (y: subrange [0, 7] of int);
node top(x: int) returns (y, z: subrange [0, 7] of int);
let y = far(x); z = near(x); tel
"""
    results = {r.name: r.verdict for r in prove(read(tmp_path, text), Settings(timeout=60, jobs=1)).results}
    assert results == {"y is in its range": "falsified", "z is in its range": "proved"}
