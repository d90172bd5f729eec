"""Recursive functions and lemmas of Lustre. Where Kind 2 3.0 says that a property fails, because it does not look into
the calls, the verdict here is unknown, or that of the function itself."""

from __future__ import annotations

import pytest
from lustre_runs import ran, read, verdicts

from streamcheck.core.errors import SpecError

FACT = """
function rec fact(n: int) returns (f: int);
con guarantee "pos" f >= 1; decreases n; noc
let f = when n <= 1 then 1 else n * fact(n - 1); tel
"""
EVEN = """
type Nat = subrange [0, *] of int;
function rec even(n: Nat) returns (e: bool);
con decreases n; noc
let e = when n = 0 then true else odd(n - 1); tel
function rec odd(n: Nat) returns (o: bool);
con decreases n; noc
let o = when n = 0 then false else even(n - 1); tel
"""


def top(claims, before=FACT, inputs="k: int"):
    return f"{before}\nnode top({inputs}) returns (y: int);\nlet y = k;\n{claims}\ntel\n"


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("fact(5) = 120", "proved"),
        ("fact(5) = 121", "falsified"),
        ("fact(k) > 0", "proved"),
        ("k < 2 => fact(k) = 1", "proved"),
        ("k < 2 => fact(k) = 2", "falsified"),
        ("k = 2 => fact(k) = 2", "proved"),
        ("k = 6 => fact(k) = 24", "unknown"),
        ("reachable fact(k) = 0", "falsified"),
        ("reachable fact(k) = 6 and k < 9", "unknown"),
    ],
)
def test_calls_are_unfolded_and_then_have_their_contract(tmp_path, claim, verdict):
    found = verdicts(tmp_path, top(f"check {claim};"), timeout=4.0)
    assert found.pop("fact.guarantee pos") == "proved"
    assert found.pop("fact.fact[l4c37] decreases") == "proved"
    assert list(found.values()) == [verdict]


def test_a_contract_is_proved_by_induction(tmp_path):
    sum = """
    function rec sum(n: int) returns (m: int);
    con guarantee "even" (2 * m) mod 2 = 0 and (n >= 0 => 2 * m = n * (n + 1)); decreases n; noc
    let m = when n <= 0 then 0 else n + sum(n - 1); tel"""
    found = verdicts(tmp_path, sum)
    assert set(found.values()) == {"proved"} and len(found) == 2


def test_a_wrong_guarantee_proves_nothing(tmp_path):
    """It is wrong of n = 1 only, which the caller never asks for."""
    wrong = FACT.replace("f >= 1", "f = 1 or n > 2")
    found = verdicts(
        tmp_path,
        top('check "P" k > 2 => fact(k) > 0; check "Q" false;', wrong.replace("then 1", "then n")),
        timeout=8.0,
    )
    assert found["fact.guarantee pos"] == "falsified"
    assert found["P"] == "unknown"
    assert found["Q"] in ("unknown", "falsified")  # false in all runs, but a run found may have calls without a value


@pytest.mark.parametrize(
    "body", ["1 + loop(n)", "when n > 0 then loop(n + 1) else 0", "when n > 0 then 0 else loop(n - 1)"]
)
def test_a_measure_that_does_not_decrease(tmp_path, body):
    loop = f"function rec loop(n: int) returns (r: int); con decreases n; noc let r = {body}; tel"
    found = verdicts(tmp_path, top('check "P" loop(0) < 0; check "vacuous" 1 = 2;', loop), timeout=4.0)
    (decreases,) = (verdict for name, verdict in found.items() if "decreases" in name)
    assert decreases == "falsified"
    assert "proved" not in found.values()


def test_measures_of_several_values_and_calls_in_calls(tmp_path):
    ack = """
    function rec ack(m, n: int) returns (r: int);
    con assume m >= 0 and n >= 0; guarantee "nonneg" r >= 0; decreases m, n; noc
    let r = when m <= 0 then n + 1 else when n <= 0 then ack(m - 1, 1) else ack(m - 1, ack(m, n - 1)); tel"""
    found = verdicts(tmp_path, ack)
    assert set(found.values()) == {"proved"} and len(found) == 7
    found = verdicts(tmp_path, ack.replace("decreases m, n", "decreases n, m"), timeout=4.0)
    assert set(found.values()) != {"proved"}


def test_a_measure_in_the_wrong_order(tmp_path):
    """Every run that breaks it has its calls unfolded to the end."""
    up = """
    function rec up(m, n: int) returns (r: int);
    con assume 0 <= m and m <= 1 and n >= 0; decreases m, n; noc
    let r = when m <= 0 then n else up(m - 1, n + 1); tel"""
    assert set(verdicts(tmp_path, up).values()) == {"proved"}
    found = verdicts(tmp_path, up.replace("decreases m, n", "decreases n, m"))
    (measure,) = (v for name, v in found.items() if name.endswith("decreases"))
    assert measure == "falsified"


def test_functions_that_call_each_other_and_a_lemma_about_them(tmp_path):
    lemma = """
    lemma sums(a, b: Nat)
    con
      guarantee "odds" odd(a) and odd(b) ==> even(a + b);
      guarantee "both" even(a) and odd(b) ==> odd(a + b);
      decreases a;
    noc
    let when a > 0 then sums(a - 1, b); else auto; end tel"""
    found = verdicts(tmp_path, EVEN + lemma, timeout=240.0)
    assert set(found.values()) == {"proved"} and {"guarantee odds", "guarantee both"} < set(found)
    found = verdicts(tmp_path, EVEN + lemma.replace("==> odd(a + b)", "==> even(a + b)"), timeout=4.0)
    assert found["guarantee both"] != "proved" and found["guarantee odds"] != "proved"


def test_a_node_uses_a_lemma_as_a_statement(tmp_path):
    lemma = """
    lemma same(n: Nat)
    con guarantee "mod" even(n) = (n mod 2 = 0) and odd(n) = (n mod 2 = 1); decreases n; noc
    let when n > 0 then same(n - 1); end tel"""
    claim = 'check "P" even(k) = (k mod 2 = 0);'
    assert verdicts(tmp_path, top(claim, EVEN, "k: Nat"), timeout=4.0)["P"] == "unknown"
    assert verdicts(tmp_path, top(f"same(k); {claim}", EVEN + lemma, "k: Nat"))["P"] == "proved"


def test_a_lemma_that_rests_on_itself_proves_nothing(tmp_path):
    lemma = 'lemma bad(a: int) con guarantee "bogus" 1 = 0; decreases a; noc let bad(a); tel'
    found = verdicts(tmp_path, lemma, timeout=4.0)
    assert found == {"guarantee bogus": "falsified", "bad[l1c69] decreases": "falsified"}
    used = verdicts(tmp_path, top('bad(k); check "P" false;', lemma), timeout=4.0)
    assert used["P"] != "proved" and "falsified" in used.values()


def test_a_run_of_constants(tmp_path):
    text = FACT + "node top(b: bool) returns (y: int); let y = if b then fact(5) else fact(6); tel"
    assert ran(tmp_path, text, b=[True, False])["y"] == [120, 720]


@pytest.mark.parametrize(
    ("contract", "said"),
    [
        ("con guarantee r > 0; noc", "f is recursive and has no measure that decreases"),
        ("con decreases r; noc", "the measure of f has r in it, which is no input"),
        ("con var d: int = n; decreases d; noc", "the measure of f has d in it, which is no input"),
        ("con decreases f(n); noc", "the measure of f is no arithmetic"),
        ("con decreases n > 0; noc", "a measure is an integer, not bool"),
        ("", "f is recursive and has no measure"),
    ],
)
def test_mistakes_in_measures(tmp_path, contract, said):
    text = f"function rec f(n: int) returns (r: int); {contract} let r = when n > 0 then f(n - 1) else 0; tel"
    with pytest.raises(SpecError, match=said):
        read(tmp_path, text)


def test_recursion_without_rec(tmp_path):
    with pytest.raises(SpecError, match="f needs itself: f → f") as caught:
        read(tmp_path, "function f(n: int) returns (r: int); let r = f(n - 1); tel")
    assert "function rec" in caught.value.write


def test_measures_of_different_lengths(tmp_path):
    with pytest.raises(SpecError, match="their measures have different lengths"):
        read(
            tmp_path,
            EVEN.replace(
                "odd(n: Nat) returns (o: bool);\ncon decreases n", "odd(n: Nat) returns (o: bool);\ncon decreases n, n"
            ),
        )


def test_a_call_from_elsewhere_owes_the_assumption(tmp_path):
    before = FACT.replace('con guarantee "pos" f >= 1;', 'con assume n >= 0; guarantee "pos" f >= 1;')
    found = verdicts(tmp_path, top('check "P" k >= 0 => fact(k) >= 1;', before))
    (owed,) = (name for name in found if name.startswith("fact[") and name.endswith("is within its assumption"))
    assert found.pop(owed) == "falsified" and set(found.values()) == {"proved"}
    found = verdicts(tmp_path, top('check "P" k >= 0 ==> fact(k) >= 1;', before))
    assert set(found.values()) == {"proved"}
