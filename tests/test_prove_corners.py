"""Corners of proofs, each of which was wrong once."""

from __future__ import annotations

import json

import pytest
from test_command import streamcheck
from test_prove import proved, spec_file, verdicts

from streamcheck import *
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import INT
from streamcheck.lang.flatten import flatten
from streamcheck.problem.certificate_json import FORMAT
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Specification
from streamcheck.problem.specification_json import to_plain

__all__ = ["spec_file"]


def forged(tmp_path, spec_text, prop, **evidence):
    (tmp_path / "spec.py").write_text("from streamcheck import *\n" + spec_text)
    data = {"format": FORMAT, "file": "spec.py", "spec": "s", "property": prop}
    (tmp_path / "forged.json").write_text(json.dumps({**data, **evidence}))
    return streamcheck("check", tmp_path / "forged.json")


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ('n = extern("n", Int)\ns = Spec("s")\ns.prop("p", 2 * n != 1)', 0.5),
        ('n = extern("n", Word8)\ns = Spec("s")\ns.prop("p", cast(Int, n) < 256)', 300),
        ('n = extern("n", Word8)\ns = Spec("s")\ns.prop("p", n >= 0)', -3),
        ('n = extern("n", Bool)\ns = Spec("s")\ns.prop("p", implies(n, n == Bool(True)))', 2),
        ('n = extern("n", Float)\ns = Spec("s")\ns.prop("p", (n != n) | (n * 1.0 == n))', 0.1),
        ('n = extern("n", Word8)\ns = Spec("s")\ns.prop("p", n >= 0)', "abc"),
    ],
)
def test_a_counterexample_with_values_of_no_type_is_refused(tmp_path, body, value):
    done = forged(tmp_path, body, "p", claim="falsified", constants={}, inputs=[{"n": value}])
    assert done.returncode in (2, 4) and "holds" not in done.stdout


def test_damaged_evidence_is_the_files_fault(tmp_path):
    body = 'n = extern("n", Word8)\ns = Spec("s")\ns.prop("p", n >= 0)'
    row = {"kind": "inductive", "k": 1, "equalities": [], "free": [], "types": ["Word8"], "invariants": [0]}
    for terms in ([["const", 0, 999]], [["add", 0, 0]], [["nonsense"]], []):
        done = forged(tmp_path, body, "p", claim="proved", terms=terms, **row)
        assert done.returncode == 2 and ": damaged: at " in done.stderr
    done = forged(tmp_path, body, "p", claim="proved ", constants={}, inputs=[{"n": 1}])
    assert done.returncode == 2
    loop = {"types": ["Word8"], "terms": [["var", 0, "n"], ["same", 0, 0]], "invariants": [], "free": []}
    done = forged(tmp_path, body, "p", claim="proved", kind="inductive", k=1, equalities=[1], **loop)
    assert done.returncode in (0, 2, 4)  # it ends


@pytest.mark.parametrize("row", [["and", 0, 1], ["not"], ["const", 0, "x"], ["cast", 0], [{}, 0], "var", 7])
def test_damaged_equations_are_the_files_fault(tmp_path, row):
    x = extern("x", Word8)
    spec = Spec("s")
    spec.prop("p", (x > 3) | (x < 4))
    plain = to_plain(flatten(spec))
    plain["terms"][2] = row
    (tmp_path / "s.json").write_text(json.dumps(plain))
    done = streamcheck("prove", tmp_path / "s.json")
    assert done.returncode == 2 and "s.json: damaged (" in done.stderr and "Traceback" not in done.stderr


def test_unrelated_state_does_not_disturb_a_completeness_proof():
    x = extern("x", Word8)
    a = stream(Word8, lambda a: [0] + +mux(a == 5, 0, a + 1))
    spec = Spec("s")
    spec.observer("last", pre(0, x))
    spec.prop("a", a != 77)
    spec.prop("other", stream(Word8, lambda n: [0] + +(n + 1)) >= 0)
    assert proved(spec)["a"].verdict == "proved"


def test_enum_state_through_the_python_interface():
    import enum

    class E(enum.Enum):
        A = 0
        B = 1
        C = 2

    b, x = extern("b", Bool), extern("x", Word8)
    s = stream(EnumOf(E), lambda s: [E.A] + +mux(b, E.B, s))
    spec = Spec("s")
    spec.prop("p", (s != E.C) & ((x ^ x) == 0))
    assert proved(spec)["p"].verdict == "proved"


def test_what_z3_cannot_make_a_run_of_is_unknown_and_no_alarm():
    x = extern("x", Real)
    spec = Spec("s")
    spec.prop("irrational", x * x != 2)
    result = proved(spec, timeout=3.0)["irrational"]
    assert result.verdict == "unknown" and "not a run" in result.reasons["bmc"]
    y = stream(Double, lambda y: [0.0] + +sin(y))
    spec = Spec("t")
    spec.prop("stays", y == 0.0)
    assert proved(spec, timeout=3.0)["stays"].verdict in ("proved", "unknown")


def test_a_hard_property_does_not_hide_an_easy_falsification():
    z, w = extern("z", Int), extern("w", Int)
    n = stream(Int, lambda n: [0] + +(n + 1))
    spec = Spec("s")
    spec.prop("hard", implies(w != 0, (z // w) * w + z % w == z))
    spec.prop("late", n != 30)
    assert proved(spec, timeout=12.0)["late"].verdict == "falsified"


def test_our_own_names_are_nobody_elses():
    x = extern("the step", Word8)
    spec = Spec("s")
    spec.assume("a", x < 100)
    spec.prop("some run lasts long enough", x < 101)
    spec.prop("some run triggers p", x < 50)
    spec.prop("p", implies(x > 3, x > 2))
    results = proved(spec)
    assert [r.verdict for r in results.values()] == ["proved", "falsified", "proved"]


def test_the_saved_files_of_different_properties_differ(spec_file, tmp_path):
    path = spec_file('x = extern("x", Word8)\ns = Spec("s")\ns.prop("a+", x >= 0)\ns.prop("a*", x < 5)\n')
    streamcheck("prove", path, "--certificates", tmp_path / "evidence")
    assert len(list((tmp_path / "evidence").iterdir())) == 2


def test_many_properties_are_all_decided():
    b = extern("b", Bool)
    spec = Spec("s")
    for i in range(60):
        n = stream(Word8, lambda n, i=i: [i] + +mux(b, n + 1, n))
        spec.prop(f"p{i}", n >= 0)
        spec.prop(f"q{i}", n != i + 3)
    verdicts = [r.verdict for r in spec.prove(timeout=40.0).results]
    assert verdicts == ["proved", "falsified"] * 60


def test_an_assumption_without_a_line_counts(tmp_path):
    """In a file of equations nothing has to have a line; only ranges of types may be left out, by their origin."""
    n, other = variable("n", INT), variable("other", INT)
    one, five, ten = (constant(INT, i) for i in (1, 5, 10))
    cells = (
        Cell("n", constant(INT, 0), term("add", n, one), None),
        Cell("other", constant(INT, 0), term("add", other, term("add", one, one)), None),
    )
    ends = Claim("ends", term("lt", n, five))
    small = Claim("small", term("lt", other, ten))
    specification = Specification("ends", (), (), cells, (), (), (), (small,), (ends,), None)
    path = tmp_path / "ends.json"
    path.write_text(json.dumps(to_plain(specification)))
    status, answer = verdicts(str(path))
    assert status == 0 and answer["properties"][0]["verdict"] == "proved"
    assert "assumptions for 10 steps" in answer["warnings"][0]
