"""The ways to an implementation, and the other questions about a contract, against searches of all states."""

from __future__ import annotations

import random
import subprocess
import sys
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from test_realizable import BOOLS, balance, component_wins, random_game

from streamcheck import *
from streamcheck.api.files import load
from streamcheck.core.evaluate import evaluate
from streamcheck.core.simplify import conjunction, disjunction, instantiate
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, INT, REAL
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Input, Specification
from streamcheck.run import realizable as asking
from streamcheck.smt.witness import witness
from streamcheck.synthesis.induction import InductiveSynthesis
from streamcheck.synthesis.solve import GivenUp, Lost, Synthesis, Won
from streamcheck.transform.contract_questions import environment_of, joint
from streamcheck.transform.realization import game_of

COMMAND = Path(sys.executable).parent / "streamcheck"


@struct
class Point:
    x: Int
    y: Int


# k-induction


def test_k_induction_wins_no_game_that_is_lost():
    won = 0
    for seed in range(40):
        specification = random_game(seed)
        try:
            InductiveSynthesis(game_of(specification)).solve()
        except GivenUp:
            continue
        won += 1
        assert component_wins(specification), seed
    assert won > 8


def remembering() -> Spec:
    """The output has to be the product of two inputs, which the state has twice: the second copy is written later."""
    x, o = extern("x", Int), unknown(Int)
    first = stream(Int, lambda n: [0] + +x)
    second = stream(Int, lambda n: [0] + +(x * 3 - 2 * x))
    spec = Spec("remembering")
    spec.prop("one", o > first)
    spec.prop("two", o < second + 2)
    return spec


def test_an_implementation_by_k_induction_is_proved(monkeypatch):
    def nothing(self):
        raise GivenUp("not asked")

    monkeypatch.setattr(Synthesis, "solve", nothing)
    result = remembering().realizable(timeout=30)
    assert result.verdict == "realizable" and result.answer.way == "k-induction, k = 1", str(result)
    assert "by k-induction, k = 1" in str(result)
    assert all(r.verdict == "proved" for r in result.answer.proof.results)


def test_choices_that_need_foresight_have_no_answer_by_k_induction():
    with pytest.raises(GivenUp, match="may lead to a state in which none do"):
        InductiveSynthesis(game_of(balance(5)._problem())).solve()


# Quantifier elimination


def random_condition(chance: random.Random, xs: list, type_):
    """A combination of comparisons of sums."""

    def number(*values):
        chosen = chance.choice(values)
        return constant(type_, Fraction(chosen) if type_ is REAL else chosen)

    def total():
        return term("add", *(term("mul", number(1, 2, -3), v) for v in chance.sample(xs, 2)))

    def literal():
        bound = term("add", chance.choice(xs), number(*range(-4, 5)))
        return term(chance.choice(("lt", "le", "ge", "eq", "ne")), total(), bound)

    return conjunction(*(disjunction(literal(), literal()) for _ in range(3)))


@pytest.mark.parametrize("type_", [INT, REAL], ids=str)
def test_terms_for_variables_are_found_in_finitely_many_rounds(type_):
    """Outputs as terms that do for all inputs, or inputs for which there are none: z3 says the same."""
    import z3

    from streamcheck.smt.translate import Translator

    chance, verdicts = random.Random(5), []
    for number in range(20):
        i, j, o, p = xs = [variable(name, type_) for name in "ijop"]
        claims = [Claim("c", random_condition(chance, xs, type_))]
        given = Specification(
            "game",
            tuple(Input(str(v.payload), type_, v in (i, j), "", "", None) for v in xs),
            (), (), (), (), (), tuple(claims), (), None,
        )  # fmt: skip
        outcome = Synthesis(game_of(given), 40, patience=0).solve()
        t = Translator()
        i, j, o, p = (t.expression(v) for v in xs)
        solver = z3.Solver()
        solver.set("timeout", 10_000)
        solver.add(z3.ForAll([i, j], z3.Exists([o, p], t.expression(claims[0].term))))
        assert solver.check() == (z3.sat if isinstance(outcome, Won) else z3.unsat), number
        verdicts.append(type(outcome))
    assert min(verdicts.count(Won), verdicts.count(Lost)) > 1


def test_a_witness_is_over_the_other_variables():
    x, y, o = (variable(name, INT) for name in "xyo")
    two_o = term("mul", constant(INT, 2), o)
    root = term("and", term("le", x, two_o), term("lt", two_o, term("add", x, constant(INT, 2))))
    found = witness(root, {x: 7, y: 0, o: 4}, [o])
    assert found is not None
    for value in range(1, 20, 2):  # 7 and all that have its remainder
        put = instantiate([root], found)[root]
        assert evaluate([put], {x: value, y: 0})[put], value


# Arrays and structs


def test_outputs_may_be_structs_and_arrays(tmp_path):
    p, q = extern("p", Point), unknown(Point)
    a, o = extern("a", Array(Int8, 2)), unknown(Array(Int8, 2))
    spec = Spec("points")
    spec.prop("above", (q.x > p.x) & (q.y < q.x))
    spec.prop("slow", q.y <= pre(0, q.y) + 1)
    spec.prop("ordered", (o[0] <= o[1]) & (o[0] <= a[1]) & (o[1] >= a[0]))
    path = tmp_path / "made.py"
    result = spec.realizable(timeout=60, output=str(path))
    assert result.verdict == "realizable", str(result)
    made = load(path)
    assert list(made.properties) == list(spec.properties)
    assert all(r.verdict == "proved" for r in made.prove(timeout=60))


def test_a_run_of_structs_shows_their_parts():
    p, q = extern("p", Point), unknown(Point)
    spec = Spec("points")
    spec.prop("between", (p.x < q.x) & (q.x < p.y))
    result = spec.realizable(timeout=60)
    assert result.verdict == "unrealizable" and set(result.steps[-1]) == {"p.x", "p.y"}
    assert result.steps[-1]["p.y"] <= result.steps[-1]["p.x"] + 1


# The other questions


def moves_of(s: Specification):
    """For each state and inputs that meet the assumptions: the outputs that keep the guarantees, as next states."""
    cells = [c.var for c in s.cells]
    inputs, outputs = ([i.var for i in s.inputs if i.extern is kind] for kind in (True, False))
    roots = [*(p.term for p in s.properties), *(a.term for a in s.assumptions), *(c.next for c in s.cells)]
    found = {}
    for state in product(BOOLS, repeat=len(cells)):
        found[state] = []
        for given in product(BOOLS, repeat=len(inputs)):
            after, meets = [], True
            for chosen in product(BOOLS, repeat=len(outputs)):
                at = evaluate(roots, dict(zip([*cells, *inputs, *outputs], [*state, *given, *chosen], strict=True)))
                meets = all(at[a.term] for a in s.assumptions)
                if all(at[p.term] for p in s.properties):
                    after.append(tuple(at[c.next] for c in s.cells))
            if meets:
                found[state].append(after)
    return found


def greatest(moves, stays):
    region = set(moves)
    while (kept := {state for state in region if stays(moves[state], region)}) != region:
        region = kept
    return region


def starts_of(s):
    return product(*(BOOLS if c.free else (c.initial.payload,) for c in s.cells))


def test_the_environment_of_random_games():
    verdicts = []
    for seed in range(60):
        s = random_game(seed)
        region = greatest(moves_of(s), lambda moves, region: any(set(after) <= region for after in moves))
        expected = all(start in region for start in starts_of(s))
        outcome = Synthesis(game_of(environment_of(s))).solve()
        assert isinstance(outcome, Won) == expected, seed
        verdicts.append(expected)
    assert min(verdicts.count(True), verdicts.count(False)) > 3


def test_what_can_be_kept_together_in_random_games():
    verdicts = []
    for seed in range(60):
        s = random_game(seed)
        region = greatest(moves_of(s), lambda moves, region: any(set(after) & region for after in moves))
        expected = any(start in region for start in starts_of(s))
        outcome = Synthesis(game_of(joint(s))).solve()
        assert isinstance(outcome, Won) == expected, seed
        verdicts.append(expected)
    assert min(verdicts.count(True), verdicts.count(False)) > 3


def test_the_answers_say_so():
    x, o = extern("x", Int), unknown(Int)
    spec = Spec("cornered")
    spec.assume("above", x > pre(0, o))
    spec.assume("small", x < 10)
    spec.prop("follows", o >= x)
    answer = spec.realizable(timeout=60).answer
    assert answer.verdict == "realizable" and answer.environment is not None
    assert answer.environment.verdict == "unrealizable" and set(answer.environment.conflict) == {"above", "small"}
    *earlier, last = answer.environment.run
    names = {str(v.payload): v for v in earlier[0]}
    before = 0
    for step in earlier:
        assert before < step[names["x"]] < 10
        before = next(value for v, value in step.items() if v is not names["x"])
    assert before >= 9 and not last
    sat, unsat = Spec("sat"), Spec("unsat")
    sat.prop("equal", (o == 3) & (o > x))
    unsat.prop("both", (o < x) & (o > x))
    assert sat.realizable(timeout=60).answer.together.verdict == "realizable"
    answer = unsat.realizable(timeout=60)
    assert answer.answer.together.verdict == "unrealizable" and "unsatisfiable both cannot be kept" in str(answer)


def test_what_promises_nothing_is_realizable_with_a_warning():
    spec = Spec("nothing")
    spec.observer("o", unknown(Int))
    result = spec.realizable(timeout=10)
    assert result.verdict == "realizable" and "it guarantees nothing" in str(result)


def test_the_command_fails_if_no_environment_meets_the_assumptions(tmp_path):
    (tmp_path / "cornered.py").write_text("""\
from streamcheck import *
x, o = extern("x", Bool), unknown(Bool)
spec = Spec("cornered")
spec.assume("both", x & ~pre(False, o))
spec.prop("any", o | ~o | x)
spec.prop("set", o | ~x)
""")
    done = subprocess.run([COMMAND, "realizable", "cornered.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "  environment   both cannot be kept" in done.stdout, done.stdout + done.stderr


def test_outputs_of_the_environment_stand_in_their_step():
    x, o = variable("x", BOOL), variable("o", BOOL)
    inputs = (Input("x", BOOL, True, "", "", None), Input("o", BOOL, False, "", "", None))
    given = Specification("s", inputs, (), (), (), (), (), (), (), None)
    run = ({x: True, o: False}, {x: False, o: True})
    assert asking._in_step(given, run) == ({x: True, o: True}, {x: False})
