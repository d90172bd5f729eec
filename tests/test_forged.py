"""Forged certificates: none of them proves a false claim, and none of them stops the checker."""

from __future__ import annotations

from dataclasses import replace

import pytest
from automata import automaton
from tiny import judged_by_tiny

from streamcheck import Array, Bool, Int, Spec, Word8, extern, forall, implies, mux, stream
from streamcheck.certify import checker
from streamcheck.certify.check import Checker
from streamcheck.certify.logic import replace_and_fold
from streamcheck.core.errors import SpecError
from streamcheck.core.operators.table import TypeRule
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import INT
from streamcheck.lang.flatten import flatten
from streamcheck.problem.automaton import Edge, Error
from streamcheck.problem.certificate_json import proof_from_plain
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.problem.verdict import BlockCertificate, Certificate, LocationInvariants


def problem(claim):
    still = stream(Int, lambda m: [0] + +m)
    n = stream(Word8, lambda n: [0] + +(n + 1))
    spec = Spec("s")
    spec.observer("still", still)
    spec.prop("p", claim(n))
    return flatten(spec)


def whole_number_of(specification):
    return next(c.name for c in specification.cells if c.initial.type is INT)


def judged(specification, **row):
    """The answer to a certificate with these fields. The spec has one claim, p. The tiny checker proves no more."""
    whole = {"kind": "inductive", "k": 1, "invariants": [], "equalities": [], "free": [], **row}
    by_tiny = judged_by_tiny(to_plain(specification), "p", whole)
    try:
        rejected = Checker(specification).check("p", proof_from_plain(whole))
    except TypeRule:
        assert by_tiny == "damaged"
        raise
    assert not (by_tiny == "proved" and rejected is not None and rejected.why.endswith("does not hold"))
    return rejected


def cases(caplog):
    return [word for r in caplog.records for word, found, _ in [r.getMessage().partition(" case")] if found]


def test_the_base_case_suffices_if_every_state_is_initial(caplog):
    x = extern("x", Word8)
    caplog.set_level("INFO", "streamcheck.certify.judge")
    for ahead, why in ((1, None), (2, "base case does not hold")):
        spec = Spec("s")
        spec.prop("p", forall(Word8, lambda c, ahead=ahead: implies(x == c, x + 1 == c + ahead)))
        specification = flatten(spec)
        (claim,) = specification.properties
        for kind, k in (("inductive", 1), ("inductive", 3), ("compressed", 2)):
            caplog.clear()
            rejected = Checker(specification).check("p", Certificate(kind, k, (claim.term,)))
            assert (rejected and rejected.why) == why
            assert cases(caplog) == ["base"]


def test_a_first_value_makes_a_step_case(caplog):
    caplog.set_level("INFO", "streamcheck.certify.judge")
    specification = problem(lambda n: n < 5)
    claim = next(p for p in specification.properties if p.name == "p")
    rejected = Checker(specification).check("p", Certificate("inductive", 1, (claim.term,)))
    assert rejected.why == "step case does not hold"
    assert cases(caplog) == ["base", "step"]


def test_the_type_rules_count_operands():
    """`implies(true, true, false)` is false to solvers, and folding does not see the third operand."""
    for row in (["implies", 0, 0, 1], ["same", 0, 0, 1], ["and", 0], ["and"], ["not", 0, 1], ["eq", 0]):
        terms = [["const", 0, True], ["const", 0, False], row]
        with pytest.raises(TypeRule, match="operand"):
            judged(problem(lambda n: n < 5), types=["Bool"], terms=terms, invariants=[2])


def test_an_enum_with_codes_of_more_bits_is_no_two_numbers():
    """By bits, the codes 0 and 2^32 are equal; to the folding they are not."""
    types = [{"enum": "E", "members": [["A", 0], ["B", 2**32]]}]
    terms = [["const", 0, 0], ["const", 0, 2**32], ["ne", 0, 1]]
    assert judged(problem(lambda n: n < 5), types=types, terms=terms, invariants=[2]) is not None


def test_one_bit_with_a_sign_is_minus_one_over_int_too():
    """The whole number makes the first condition one over Int; the others are bits."""
    specification = problem(lambda n: n < 5)
    terms = [["var", 0, whole_number_of(specification)], ["const", 0, 0], ["same", 0, 1]]
    terms += [["const", 2, True], ["cast", 1, 3], ["const", 1, 0], ["le", 4, 5]]
    rejected = judged(specification, types=["Int", "Int1", "Bool"], terms=terms, equalities=[2], invariants=[6])
    assert rejected is not None and not rejected.undecided


@pytest.mark.parametrize("k", [1.5, float("inf"), float("nan"), True, 10**9])
def test_a_strange_number_of_steps_is_refused(k):
    rejected = judged(problem(lambda n: n >= 0), k=k, types=["Bool"], terms=[["const", 0, True]], invariants=[0])
    assert "k is" in rejected.why


@pytest.mark.parametrize(
    ("types", "terms"),
    [
        (["Bool", {"array": 0, "length": 2}], [["const", 0, True], ["array", 1, 0, 0], ["eq", 1, 1]]),
        (["Bool", {"struct": "S", "fields": [["x", 0]]}], [["const", 0, True], ["struct", 1, 0], ["field", 0, 1]]),
        (["Word60000"], [["const", 0, 1], ["const", 0, 2], ["lt", 0, 1]]),
        (["Float", "Word128"], [["const", 0, 1.0], ["cast", 1, 0], ["ne", 1, 1]]),
        (["Real"], [["const", 0, "1e999999"], ["const", 0, 1], ["lt", 1, 0]]),
    ],
)
def test_what_has_no_rendering_is_refused(types, terms):
    assert judged(problem(lambda n: n >= 0), types=types, terms=terms, invariants=[2]) is not None


def test_something_free_without_a_name_is_refused():
    assert judged(problem(lambda n: n >= 0), types=[], terms=[], free=[["x"]]) is not None


def test_a_refused_term_is_refused_again():
    specification = problem(lambda n: n >= 0)
    of_p = Checker(specification)
    row = {"types": ["Word60000"], "terms": [["const", 0, 1], ["lt", 0, 0]], "k": 1, "kind": "inductive"}
    proof = proof_from_plain({**row, "invariants": [1], "equalities": [], "free": []})
    assert [of_p.check("p", proof).why for _ in range(2)] == ["const of type Word60000"] * 2


def test_folding_stops_at_numbers_of_very_many_digits():
    power = constant(INT, 3)
    for _ in range(60):  # 3^(2^60)
        power = term("mul", power, power)
    assert not replace_and_fold([power], {})[power].is_const


def test_lots_that_leave_out_an_invariant_prove_nothing(monkeypatch):
    """What divides the invariants is not trusted: a lot that it forgets sends the checker back to the whole."""
    specification = problem(lambda n: n < 5)
    claim = next(p for p in specification.properties if p.name == "p")
    still = term("eq", variable(whole_number_of(specification), INT), constant(INT, 0))
    monkeypatch.setattr(checker, "independent_lots", lambda runs, invariants: [(still,), (TRUE,)])
    rejected = Checker(specification).check("p", Certificate("inductive", 1, (claim.term, still)))
    assert rejected.why.endswith("does not hold") and not rejected.undecided


@pytest.fixture
def questions(monkeypatch):
    """What the checker asks its solvers about, in order."""
    found = []
    judge = checker.judge
    monkeypatch.setattr(checker, "judge", lambda what, *rest: found.append(what) or judge(what, *rest))
    return found


def counting_to_nine():
    """A counter below ten, and a value that is only taken from the input when the counter begins anew."""
    up = extern("up", Word8)
    n = stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, 0))
    taken = stream(Word8, lambda taken: [0] + +mux(n < 9, taken, up))
    spec = Spec("s")
    spec.prop("below", n <= 9)
    spec.prop("far", n <= 20)
    spec.prop("wrong", taken <= 9)
    problem = flatten(spec)
    return problem, *(p.term for p in problem.properties if not p.is_implied)


def test_invariants_that_a_certificate_has_shown_are_not_asked_about_again(questions):
    problem, below, far, _ = counting_to_nine()
    one = Checker(problem)
    assert one.check("below", Certificate("inductive", 1, (below,))) is None
    questions.clear()
    assert one.check("far", Certificate("inductive", 1, (below, far))) is None
    assert questions == ["base case", "step case"]  # for `far`
    questions.clear()
    assert one.check("far", Certificate("inductive", 2, (far, below))) is None and not questions  # nothing is left
    assert one.check("far", Certificate("compressed", 1, (below, far))) is None and questions  # of plain induction only


def test_a_certificate_that_needs_what_another_has_shown_is_rejected():
    """It would be rejected alone, when it is checked again from its file."""
    go = extern("go", Bool)
    n = stream(Word8, lambda n: [1] + +mux(go, n + 2, n))
    spec = Spec("s")
    spec.prop("never", n != 4)
    problem = flatten(spec)
    (never,) = (p.term for p in problem.properties if not p.is_implied)
    (cell,) = problem.cells
    one_bit = term("bitand", cell.var, constant(cell.var.type, 1))
    odd = term("ne", one_bit, constant(cell.var.type, 0))
    one = Checker(problem)
    assert one.check("never", Certificate("inductive", 1, (odd, never))) is None
    assert one.check("never", Certificate("inductive", 1, (never,))) is not None
    assert one.check("never", Certificate("inductive", 1, (never, odd))) is None


@pytest.mark.parametrize("kind", ["inductive", "compressed", "complete", "ended"])
def test_what_a_rejected_certificate_claims_is_not_known(kind):
    problem, below, far, wrong = counting_to_nine()
    one = Checker(problem)
    for invariants in ((wrong,), (below, wrong), (far, below, wrong)):
        assert one.check("wrong", Certificate(kind, 1, invariants)) is not None
    assert one.check("wrong", Certificate("inductive", 1, (wrong,))) is not None
    assert one.check("below", Certificate("inductive", 1, (below,))) is None
    assert one.check("wrong", Certificate("inductive", 1, (below, wrong))) is not None
    assert one.check("far", Certificate("inductive", 1, (below,))) is None
    assert one.check("wrong", Certificate("inductive", 2, (below, far, wrong))) is not None


# Automata

UNSAFE = automaton("l0 -> l1: x := 0\n l1 -> lE: [x == 0]")
STOPPED = replace(UNSAFE, edges=(Edge("l0", "lE", FALSE),), locations=("l0", "lE"))
CLOSED = Certificate("inductive", 1, (term("eq", STOPPED.place, STOPPED.code("l0")),))


@pytest.mark.parametrize(
    "blocks",
    [
        STOPPED,
        replace(STOPPED, edges=(Edge("l0", "lE", FALSE, choices=(FALSE,)),)),  # in the simulation it is also true
        replace(STOPPED, edges=(Edge("l0", "lE", FALSE, text=["no text"]),)),
        replace(STOPPED, errors=(*STOPPED.errors, Error("l0", "other", None)), edges=()),
        replace(STOPPED, locations=("l0", "lE", "lF"), errors=(*STOPPED.errors, Error("lF", "other", None))),
    ],
)
def test_blocks_that_leave_runs_out_are_refused(blocks):
    assert Checker(UNSAFE).check("safe", BlockCertificate(blocks, CLOSED)) is not None


@pytest.mark.parametrize("at", [(), (("l0", TRUE),), (("lE", FALSE),), (("nowhere", FALSE),), ((["l0"], TRUE),)])
def test_invariants_of_other_locations_prove_nothing(at):
    assert Checker(UNSAFE).check("safe", LocationInvariants(at)) is not None


# Problems


def test_two_claims_of_one_name_are_an_error():
    data = to_plain(problem(lambda n: n >= 0))
    data["properties"] *= 2
    with pytest.raises(SpecError, match="two claims of one name"):
        from_plain(data)


def test_a_variable_with_the_name_of_a_part_is_an_error():
    spec = Spec("s")
    spec.prop("p", extern("a", Array(Word8, 2))[0] == extern("a.0", Word8))
    with pytest.raises(SpecError, match=r"`a\.0`"):
        flatten(spec)
