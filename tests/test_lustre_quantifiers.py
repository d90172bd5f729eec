"""Quantifiers of Lustre: the verdicts are those of Kind 2 3.0."""

from __future__ import annotations

import pytest
from lustre_runs import node, read, verdicts

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import apply, conjunction, disjunction, negation
from streamcheck.core.term import Term, constant, term, variable
from streamcheck.core.types import BOOL, INT, REAL
from streamcheck.frontends.lustre.elimination import some_value, some_value_or_all
from streamcheck.run.prove import Settings, prove

F = (
    "transparent function F(inp: int) returns (out: int)\n"
    "con assume inp > 0; guarantee out > 5; noc let out = inp + 1; tel\n"
)


def of(tmp_path, claim, **given):
    (verdict,) = verdicts(tmp_path, node(f'y = x; check "P" {claim};', **given)).values()
    return verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("forall (i: bool; c: bool) i and c => c", "proved"),
        ("forall (i: subrange [0, 3] of int) a[i] = i", "proved"),
        ("forall (i: int) 0 <= i and i < 4 => a[i] = i", "proved"),
        ("forall (i: int) 0 <= i => i < 4 => a[i] = i", "proved"),
        ("exists (i: int) i >= 0 and i < 4 and a[i] = 3", "proved"),
        ("exists (i: int) i >= 0 and i < 4 and a[i] = 4", "falsified"),
        ("forall (i, j: int | 0 <= j and j < 4) 0 <= i and i < j => a[i] < a[j]", "error"),
        ("forall (i: int; j: int | 0 <= j and j < 4) 0 <= i and i < j => a[i] < a[j]", "proved"),
        ("forall (e: E) exists (f: E) e <> f", "proved"),
        ("forall (p: P) p.g or p.e = A or p.e = B", "proved"),
        ("true -> forall (i: int) 0 <= i and i < 4 => pre a[i] = i", "proved"),
    ],
)
def test_quantifiers_over_finitely_many_values_are_expanded(tmp_path, claim, verdict):
    types = "type E = enum { A, B }; type P = struct { e: E; g: bool };"
    text = node(f'y = x; a[i] = i; check "P" {claim};', before=types, local="a: int^4")
    if verdict == "error":
        with pytest.raises(SpecError, match="of one variable"):
            read(tmp_path, text)
        return
    specification = read(tmp_path, text)
    assert specification.constants == ()
    (result,) = prove(specification, Settings(timeout=20.0, jobs=1)).results
    assert result.verdict == verdict


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        ("forall (i: int) i > x => i >= x + 1", "proved"),
        ("forall (i: int) i > x => i >= x + 2", "falsified"),
        ("not exists (i: int) i * i < 0", "proved"),
        ("forall (k: int) (exists (j: int) k = j * j) => k >= 0", "proved"),
        ("forall (i: int | i > 5) exists (j: int) j < i and j > x", "falsified"),
        ("forall (i: int | i > x) exists (j: int) j <= i and j > x", "proved"),
        ("forall (r: real) exists (q: real) q > r and q < r + 0.001", "proved"),
        ("exists (i: int) i > x", "proved"),
        ("forall (i: int) (i > x) = (i > y)", "proved"),
        ("forall (i: int) if b then i < x or i >= x else i < x or i > x", "falsified"),
        ("true -> (forall (i: int) pre (x < i) = (pre x < i))", "proved"),
        ("forall (x: int) exists (x: int | x > 3) x > 2", "proved"),
        ("reachable exists (i: int) i * i = 49 and x = i", "proved"),
    ],
)
def test_quantifiers_over_infinitely_many_values_are_removed_exactly(tmp_path, claim, verdict):
    text = node("y = x;", claims=f"check {claim};")
    assert list(verdicts(tmp_path, text).values()) == [verdict]


def test_a_counterexample_shows_the_value(tmp_path):
    specification = read(tmp_path, node("y = x;", claims='check "P" forall (i: int) i = x => i < 7;'))
    (result,) = prove(specification, Settings(timeout=20.0, jobs=1)).results
    assert result.verdict == "falsified"
    (quantified,) = specification.constants
    assert specification.labels[quantified.var] == "i"
    assert result.evidence.constants[quantified.name] >= 7


@pytest.mark.parametrize(
    ("assumption", "verdict"),
    [
        ("exists (i: int) x = 2 * i", "proved"),
        ("exists (i: int) x = 2 * i + 1", "falsified"),
        ("forall (i: int) i * i >= 0", "error"),
        ("forall (i: int) i >= x => i > 3", "falsified"),
        ("forall (i: int) i = x => i mod 2 = 0", "proved"),
    ],
)
def test_quantifiers_in_assumptions(tmp_path, assumption, verdict):
    text = node("y = x;", claims=f'assert {assumption}; check "even" x mod 2 = 0;')
    if verdict == "error":
        with pytest.raises(SpecError, match="`forall` over infinitely many values of i cannot be decided"):
            read(tmp_path, text)
    else:
        assert verdicts(tmp_path, text) == {"even": verdict}


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [("i > 0 => F(i) > i", "falsified"), ("i > 10 => F(i) > i", "falsified"), ("i > 10 ==> F(i) > i", "proved")],
)
def test_a_call_in_the_operand_is_one_for_every_value(tmp_path, claim, verdict):
    found = verdicts(tmp_path, node("y = x;", before=F, claims=f'check "P" forall (i: int) {claim};'))
    assert found.pop("P") == "proved"
    assert set(found.values()) == {verdict} and len(found) == 2


def test_the_condition_of_the_variable_guards_the_calls(tmp_path):
    found = verdicts(tmp_path, node("y = x;", before=F, claims='check "P" forall (i: int | i > 4) F(i) > i;'))
    assert set(found.values()) == {"proved"} and len(found) == 3


def test_what_holds_of_a_constant_is_known_of_it(tmp_path):
    text = "const C: subtype { x: int | exists (i: int) i + x = 0 and i > 0 };" + node('y = x; check "P" C < 0;')
    assert verdicts(tmp_path, text) == {"P": "proved"}


def test_a_quantifier_over_an_imported_function(tmp_path):
    before = "function imported f(x: int) returns (y: int); con guarantee y > x; noc"
    assert of(tmp_path, "forall (i: int) f(i) >= i + 1", before=before) == "proved"
    assert of(tmp_path, "forall (i: int) f(i) > i + 1", before=before) == "falsified"
    with pytest.raises(SpecError, match="`exists` over infinitely many"):
        of(tmp_path, "exists (i: int) f(i) > 3", before=before)


def test_a_quantifier_in_a_register_is_eliminated(tmp_path):
    local = "z: bool"
    text = node(
        "y = x; z = forall (i: int) i > x => i > 0;", local=local, claims='check "P" true -> pre z = (pre x >= 0);'
    )
    assert verdicts(tmp_path, text) == {"P": "proved"}


def test_a_register_that_depends_on_an_outer_variable_is_seen(tmp_path):
    text = node(
        "y = x; z = exists (i: int) exists (j: int) (0 -> pre (i + x)) > j and i = 3 and x = j + 9;", local="z: bool"
    )
    with pytest.raises(SpecError, match="`exists` over infinitely many values of i"):
        read(tmp_path, text.replace("--%MAIN", 'check "P" z;\n--%MAIN'))


def test_the_words_of_a_refusal(tmp_path):
    with pytest.raises(SpecError) as caught:
        read(tmp_path, node('y = x; check "P" exists (i: int) i * x = 6;'))
    assert "`exists` over infinitely many values of i cannot be decided here" in str(caught.value)
    assert caught.value.where.line == 5


def values(x: Term, low: int, high: int):
    return [constant(x.type, v) for v in range(low, high + 1)]


def test_elimination_against_enumeration():
    """∃x and ∀x of formulas whose bounds are small, for all small values of the other variable."""
    from random import Random

    from streamcheck.core.simplify import simplify
    from streamcheck.core.term import substitute

    random = Random(4)
    x, y = variable("x", INT), variable("y", INT)

    def atom():
        side = apply(random.choice(["add", "sub"]), x, random.choice([y, constant(INT, random.randint(-2, 2))]))
        return term(random.choice(["lt", "le", "gt", "ge", "eq", "ne"]), side, constant(INT, random.randint(-2, 2)))

    def formula(depth):
        if depth == 0:
            return atom()
        a, b = formula(depth - 1), formula(depth - 1)
        return random.choice([conjunction(a, b), disjunction(a, b), negation(a), term("mux", a, b, negation(b))])

    def value_of(t, assignment):
        replaced = substitute([t], assignment)[t]
        return simplify([replaced])[replaced].payload

    for _ in range(60):
        body, is_universal = formula(3), random.random() < 0.5
        without = some_value_or_all(x, body, is_universal=is_universal)
        assert without is not None
        for v in values(y, -3, 3):
            each = [value_of(body, {x: u, y: v}) for u in values(x, -12, 12)]
            assert value_of(without, {y: v}) == (all(each) if is_universal else any(each))


def test_elimination_over_the_reals_and_what_it_leaves():
    r, s, x, b = variable("r", REAL), variable("s", REAL), variable("x", INT), variable("b", BOOL)
    between = conjunction(term("lt", s, r), term("lt", apply("mul", constant(REAL, 2), r), s))
    assert some_value(r, between) is not None
    assert some_value(x, term("eq", apply("mul", x, x), constant(INT, 4))) is None
    assert some_value(x, term("lt", apply("mul", constant(INT, 2), x), constant(INT, 4))) is None
    assert some_value(b, conjunction(b, term("lt", x, constant(INT, 3)))) is term("lt", x, constant(INT, 3))


OPEN = """
node top(c: bool; x: int) returns (y, z, w, v: int);
let
  y = any { v: int | v > x };
  z = when c then any { v: int | v > 5 and c } else 0;
  w = choose { v: int | v > x };
  v = merge(c; any { u: int | c and u > 3 }; 1);
  check "any" y > x;
  check "branch" c => z > 5;
  check "unchosen branch" c;
  check "any changes" true -> x = pre x => y = pre y;
  check "choose does not" true -> x = pre x => w = pre w;
  check "merge" c => v > 3;
  check "no more" y < x + 10;
tel
"""


def test_any_and_choose_meet_their_conditions(tmp_path):
    false = {"unchosen branch", "any changes", "no more"}
    found = verdicts(tmp_path, OPEN)
    assert len(found) == 7
    assert {name for name, verdict in found.items() if verdict == "falsified"} == false
    assert {name for name, verdict in found.items() if verdict == "proved"} == found.keys() - false


def test_any_of_a_type_with_a_condition_and_memory(tmp_path):
    text = """
    type Grows = subtype { n: int | true -> n > pre n };
    node top(b: bool) returns (o: subtype { n: Grows | true -> n - pre n <= 3 });
    let o = any@<Grows>; check "P" true -> o > pre o; tel"""
    assert verdicts(tmp_path, text) == {"P": "proved", "o is of its type": "falsified"}


def test_a_choose_is_the_same_function_in_each_instance(tmp_path):
    text = """
    function f(x: int) returns (y: int); let y = choose { v: int | v > x }; tel
    node top(a, b: int) returns (y, z: int);
    let y = f(a); z = f(b); check "P" a = b => y = z; check "Q" y = z; tel"""
    assert verdicts(tmp_path, text) == {"P": "proved", "Q": "falsified"}


def test_the_condition_of_an_any_may_have_calls(tmp_path):
    text = """
    node rising(x: int) returns (r: bool); let r = true -> x > pre x; tel
    node top(b: bool) returns (y: int);
    let y = any { v: int | rising(v) }; check "P" true -> y > pre y; tel"""
    assert verdicts(tmp_path, text) == {"P": "proved"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("function f(x: int) returns (y: int); let y = any@<int>; tel", "function f has `any` in it"),
        (node("y = choose { v: int | v > pre x };"), "the condition of `choose` has `pre` in it"),
        (node("y = any { v: int | v > z };"), "z is not declared"),
        ("const c: int = choose@<int>;" + node("y = c;"), "constant c has `any` or `choose` in it"),
        (node("y = any { v: int | v + 1 };"), "expected bool, found int"),
        (node("y = any { v: int | v > y };"), "y depends on its own present value"),
    ],
)
def test_mistakes_in_any_and_choose(tmp_path, text, said):
    with pytest.raises(SpecError, match=said):
        read(tmp_path, text)


def test_calls_are_claimed_outside_of_the_bounds_of_a_guard(tmp_path):
    """Also where the operand itself is true for every value."""
    before = "function h(i: int) returns (o: int);\ncon assume i >= 0; noc let o = i; tel\n"
    for claim in ("0 <= i and i < 3 => h(i) >= 0", "i >= 0 => h(i) >= 0"):
        found = verdicts(tmp_path, node("y = x;", before=before, claims=f'check "P" forall (i: int) {claim};'))
        assert found.pop("P") == "proved" and "falsified" in found.values()


def test_a_value_is_not_chosen_outside_of_the_type_of_the_variable(tmp_path):
    """For i > x no value is between, so a promise for it would leave no run."""
    values = "i: subtype { v: subrange [1, 3] of int | v <= x }"
    claims = f'check "P" forall ({values}) any {{ v: int | 0 <= v and v <= x - i }} >= 0; check "Q" x >= 1;'
    assert verdicts(tmp_path, node("y = x;", claims=claims)) == {"P": "proved", "Q": "falsified"}


def test_choose_is_a_function_of_the_names_in_the_type_too(tmp_path):
    text = node(
        "z = choose { v: subtype { w: int | w = x } | true }; y = x;",
        local="z: int",
        claims='check "P" z = x; check "same" true -> x = pre x;',
    )
    found = verdicts(tmp_path, text)
    assert found["P"] == "proved" and found["same"] == "falsified"


def test_choose_in_a_node_with_type_parameters(tmp_path):
    before = "node k<A>(x, z: A) returns (y: A); let y = choose { v: A | v = x or v = z }; tel\n"
    claims = 'check "same" k@<int>(x, 3) = k@<int>(x, 3); check "first" k@<bool>(b, true) = b;'
    assert verdicts(tmp_path, node("y = x;", before=before, claims=claims)) == {"same": "proved", "first": "falsified"}
