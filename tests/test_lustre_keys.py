"""Quantifiers together with data types, sets, maps and type parameters: the verdicts of Kind 2 3.0, or unknown."""

from __future__ import annotations

import pytest
from lustre_runs import read, verdicts

from streamcheck.core.errors import SpecError
from streamcheck.run.prove import Settings, prove

OPTION = "datatype Option<T> = None | Some (val: T);\n"
SHAPE = "datatype Shape = Circle (radius: int) | Box (width: int, height: int) | Point;\n"


def found(tmp_path, text):
    """The names of the checks with their verdicts."""
    return verdicts(tmp_path, text)


def top(inputs, *checks, before="", body=""):
    """A node with these checks, named by their numbers."""
    items = "".join(f' check "{i}" {check};' for i, check in enumerate(checks))
    return f"{before}node top({inputs}) returns (z: int);\nlet z = 0; {body}{items} tel"


def is_never(tmp_path, text, verdict):
    """True if no property has this verdict within a second."""
    results = prove(read(tmp_path, text), Settings(timeout=1.0, jobs=1)).results
    return all(r.verdict != verdict for r in results)


@pytest.mark.parametrize(
    ("check", "verdict"),
    [
        ("forall (k: int) k in s => k in s + t", "proved"),
        ("forall (k: int) k in s + t => k in s", "falsified"),
        ("forall (k: int) (true -> pre (k in s) => k in pre s)", "proved"),
        ("forall (k: int) (true -> k in pre s => k in s)", "falsified"),
        ("exists (k: int) k in {n}", "proved"),
        ("forall (k: int) k in {n} => k = n", "proved"),
        ("forall (k: int) 0 <= k and k < 3 => (k in s => k in s + {k})", "proved"),
        ("n in s => (exists (k: int) k in s)", "proved"),
        ("(forall (k: int) k in s) => n in s", "proved"),
        ("forall (k: int) k in s or not (k in s)", "proved"),
    ],
)
def test_a_quantified_key_never_changes(tmp_path, check, verdict):
    assert found(tmp_path, top("s, t: set<int>; n: int", check))["0"] == verdict


def test_a_quantifier_about_keys_gives_no_counterexample(tmp_path):
    """`exists k. k in s` is false for the empty set, but no trace has the whole set."""
    text = top("s: set<int>", "exists (k: int) k in s")
    assert is_never(tmp_path, text, "proved")
    assert is_never(tmp_path, text, "falsified")


def test_a_set_that_grows_has_each_key_that_it_had(tmp_path):
    text = (
        "node top(n: int) returns (r: set<int>); let r = {n} -> pre r + {n};"
        ' check "kept" forall (k: int) (true -> pre (k in r) => k in r);'
        ' check "all" forall (k: int) not (k in r); tel'
    )
    assert found(tmp_path, text) == {"kept": "proved", "all": "falsified"}


def test_contracts_may_quantify_over_the_keys_of_sets(tmp_path):
    before = (
        "node imported box(x: int) returns (s: set<int>);\n"
        "con guarantee x in s; guarantee forall (k: int) k in s => k = x; noc\n"
        "function imported full(s: set<int>) returns (r: bool);\n"
        "con guarantee r = (forall (k: int) k in s); noc\n"
    )
    checks = ["n in box(n)", "not (n + 1 in box(n))", "full(s) => n in s", "full(s) = (forall (k: int) k in s)",
              "(exists (k: int) not (k in s)) => not full(s)"]  # fmt: skip
    assert set(found(tmp_path, top("s: set<int>; n: int", *checks, before=before)).values()) == {"proved"}


def test_types_may_quantify_over_the_keys_of_maps(tmp_path):
    before = "type Big = subtype { m: map<int, int> | forall (k: int) k in m => m[k] > k };\n"
    assert found(tmp_path, top("m: Big; n: int", "n in m => m[n] > n", before=before)) == {"0": "proved"}
    assert is_never(tmp_path, top("m: Big; n: int", "m[n] > n", before=before), "proved")


def test_a_quantifier_whose_keys_were_at_earlier_steps_is_refused(tmp_path):
    text = top("s: set<int>", "exists (k: int) (false -> pre (k in s))")
    with pytest.raises(SpecError, match="over infinitely many values of k"):
        read(tmp_path, text)


def test_any_value_in_a_register_depends_on_the_quantified_variable(tmp_path):
    """No x is equal to a value that is another for each x."""
    text = top("n: int", "exists (x: int) x = (0 -> pre (any { t: int | t <> x }))")
    with pytest.raises(SpecError, match="over infinitely many values of x"):
        read(tmp_path, text)


def test_variables_of_patterns_hide_quantified_ones(tmp_path):
    checks = ["forall (r: int) match s with | Circle(r): s = Circle(r) | _: r = r end",
              "forall (q: int) match s with | Circle(r): r = q | _: true end",
              "forall (r: int) match s with | Circle(r): true | _: r = 0 end"]  # fmt: skip
    result = found(tmp_path, top("s: Shape", *checks, before=SHAPE))
    assert list(result.values()) == ["proved", "falsified", "falsified"]


def test_quantifiers_over_a_data_type_have_each_value_once(tmp_path):
    checks = ["exists (o: Option<bool>) o = p",
              "forall (o: Option<bool>) o = None@<bool> or o = Some(true) or o = Some(false)",
              "(forall (o: Option<bool>) o in s) => p in s", "p in s => (exists (o: Option<bool>) o in s)",
              "(exists (o: Option<bool>) o in s) => p in s", "forall (o: Option<bool>) o.val",
              "forall (o, q: Option<bool>) o = q"]  # fmt: skip
    result = found(tmp_path, top("p: Option<bool>; s: set<Option<bool>>", *checks, before=OPTION))
    assert list(result.values()) == ["proved"] * 4 + ["falsified"] * 3


def test_nothing_is_known_of_how_many_values_an_abstract_type_has(tmp_path):
    checks = ["exists (v: T) v = t", "forall (v: T) v = t"]
    assert list(found(tmp_path, top("t: T", *checks, before="type T;\n")).values()) == ["proved", "falsified"]
    with pytest.raises(SpecError, match="over infinitely many values of v"):
        read(tmp_path, top("t: T", "exists (v: T) v <> t", before="type T;\n"))


def test_recursive_functions_may_have_type_parameters_and_sets(tmp_path):
    text = (
        "function rec fill<T>(n: int; x: T; s: set<T>) returns (r: set<T>);\n"
        "con assume n >= 0; guarantee x in s => x in r; decreases n; noc\n"
        "let r = when n = 0 then s else fill(n - 1, x, s + {x}); tel\n"
        "node top(n: int; s: set<int>) returns (r: set<int>);\n"
        "let r = when n >= 0 then fill(n, 7, s) else s;\n"
        '  check "kept" 7 in s => 7 in r; check "put" n > 0 => 7 in r; tel\n'
    )
    assert set(found(tmp_path, text).values()) == {"proved"}
    wrong = text.replace("7 in s => 7 in r", "5 in s => 5 in r")  # true, and no counterexample of open calls is one
    result = prove(read(tmp_path, wrong), Settings(timeout=2.0, jobs=1)).results
    assert "falsified" not in {r.verdict for r in result}


def test_claims_of_types_in_recursive_functions_are_those_of_any_call(tmp_path):
    text = (
        "type Nat = subtype { x: int | x >= 0 };\n"
        "function rec down(n: int) returns (r: int);\n"
        "con assume n >= 0; guarantee r = 0; decreases n; noc\n"
        "let r = when n = 0 then 0 else (down(n - 1) : Nat); tel\n"
        "const C: subrange [0, 5] of int = 3;\n"
        'node top(n: int) returns (r: int); let r = when n >= 0 then down(n) else (0 : Nat); check "p" r = 0; tel\n'
    )
    assert set(found(tmp_path, text).values()) == {"proved"}


def test_functions_that_give_sets_give_the_same_one_each_time(tmp_path):
    """No counterexample may have two sets for the same input, also not steps later."""
    before = "function imported f(x: int) returns (s: set<int>);\n"
    for call in ("f(x)", "choose { t: set<int> | x in t }"):
        text = (
            f"{before}node top(x: int) returns (b: bool); let b = 5 in {call};\n"
            '  check "P" true -> true -> (pre pre (x = 1 and b) and x = 1 => b); tel\n'
        )
        assert is_never(tmp_path, text, "falsified")


def test_quantifiers_may_be_arguments_of_functions(tmp_path):
    before = "function imported f(b: bool) returns (r: bool);\n"
    checks = ["f(forall (x: int) x > n) = f(false)", "f(forall (x: int) x > n) = f(true)"]
    assert list(found(tmp_path, top("n: int", *checks, before=before)).values()) == ["proved", "falsified"]


def test_fields_of_another_constructor_are_not_equal_to_each_other(tmp_path):
    assert found(tmp_path, top("s: Shape", "Box?(s) or s.width = s.height", before=SHAPE))["0"] == "falsified"
