"""Every idea that a source compares can be switched off, and helps somewhere: counts with and without it, no clocks."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from counts import decide

from streamcheck.engines.protocol import Falsified, Proved
from streamcheck.run.source import Target, read
from streamcheck.transform.views import views

sys.path.append(str(Path(__file__).parent / "bench"))
from generators import cluttered, locks


def problem(directory, text, suffix=".py", blocks=True):
    """The view that engines have of a file with this text."""
    path = directory / f"problem{suffix}"
    path.write_text(text)
    (found,) = read(Target.parse(str(path)))
    return views(found, blocks=blocks)[0]


@pytest.fixture(scope="module")
def three_locks(tmp_path_factory):
    return problem(tmp_path_factory.mktemp("locks"), locks(3), ".c", blocks=False)


@pytest.mark.parametrize(("engine", "refinements"), [("predicates", 3), ("predicates-path", 6)])
def test_locks_need_two_predicates_each(three_locks, engine, refinements):
    """One path is refuted at a time, or all of a length: half as many refinements."""
    found, counts = decide(three_locks, (engine,))
    assert all(isinstance(verdict, Proved) for verdict in found.values()) and len(found) == 1
    assert (counts.predicates, counts.refinements) == (6, refinements)


@pytest.mark.parametrize("engine", ["predicates", "predicates-path"])
def test_what_a_step_does_not_depend_on_stays_out_of_abstract_states(three_locks, engine):
    _, with_it = decide(three_locks, (engine,))
    found, without = decide(three_locks, (engine,), generalize=False)
    assert found and with_it.lemmas < without.lemmas / 2 and with_it.queries < without.queries


@pytest.mark.parametrize("engine", ["predicates", "predicates-path"])
def test_the_location_as_a_variable_takes_more_queries(three_locks, engine):
    _, located = decide(three_locks, (engine,))
    found, variable = decide(three_locks, (engine,), locations=False)
    assert found and 5 * located.queries < variable.queries and located.predicates < variable.predicates


def test_a_broken_lock_is_found_by_both_strategies(tmp_path):
    broken = locks(3).replace("held1 = 1", "held1 = 2")
    view = problem(tmp_path, broken, ".c", blocks=False)
    for engine in ("predicates", "predicates-path"):
        found, _ = decide(view, (engine,))
        assert [type(verdict) for verdict in found.values()] == [Falsified]


def test_blocks_leave_nothing_to_refine(tmp_path):
    found, counts = decide(problem(tmp_path, locks(3), ".c", blocks=True), ("predicates",))
    assert found and counts.refinements == 0


HEAD = "from streamcheck import *\ng = extern('g', Bool)\nspec = Spec('s')\n"
LATE = "x = stream(Int, lambda x: [0] ++ mux(x >= 12, x, x + 1))\nspec.prop('ok', x < 12)"
SUMS = """
i = extern('i', Int)
spec.assume('given', i >= 0)
s = stream(Int, lambda s: [0] ++ (s + i))
t = stream(Int, lambda t: [0] ++ (t + s))
spec.prop('ok', t >= 0)
"""
NEVER = "x = stream(Int, lambda x: [1] ++ mux(x == 0, Int(0), x + 1))\nspec.prop('ok', x != 0)"
DOUBLED = """
x = stream(Int, lambda x: [0] ++ (x + x))
y = stream(Int, lambda y: [3] ++ mux(g, x + 3, x))
spec.prop('ok', (x != -4) | (y != y))
"""
RESET = """
x = stream(Int, lambda x: [3] ++ mux(g, x + 1, x))
y = stream(Int, lambda y: [1] ++ mux(x > 6, 0, x + 1))
spec.prop('ok', y >= -5)
"""
MODES = """
m = stream(Int, lambda m: [0] ++ mux(m == 0, mux(g, Int(1), 0), mux(m == 1, mux(g, Int(2), 0),
                                     mux(m == 2, Int(3), mux(m == 4, Int(5), 0)))))
spec.prop('ok', m != 5)
"""
CHOSEN = """
i = extern('i', Int)
x = stream(Int, lambda x: [0] ++ mux((i > x) & (i < x + 4), 2 * i, x + 2))
y = stream(Int, lambda y: [0] ++ x)
spec.prop('ok', x + y >= 0)
"""
APART = """
x = stream(Int, lambda x: [0] ++ mux(g, x + 3, x))
y = stream(Int, lambda y: [0] ++ (x + 2))
spec.prop('ok', y >= -3)
"""
CASES = [
    ("ic3", SUMS, {}, {"tighten": False}),
    ("ic3", NEVER, {}, {"split": False}),
    ("ic3", SUMS, {}, {"box": False}),
    ("ic3", DOUBLED, {}, {"widen": False}),
    ("ic3", RESET, {}, {"inductive": False}),
    ("ic3", RESET, {}, {"push": False}),
    ("ic3", MODES, {"push": False}, {"push": False, "propagate": False}),
    ("ic3", LATE, {}, {"forward": False}),
    ("ic3", LATE, {}, {"predecessors": "values"}),
    ("ic3", APART, {}, {"predecessors": "ternary"}),
]


@pytest.mark.parametrize(("engine", "body", "on", "off"), CASES, ids=range(len(CASES)))
def test_an_idea_of_ic3_saves_queries(tmp_path, engine, body, on, off):
    """Without it nothing is decided, or only with more queries."""
    view = problem(tmp_path, HEAD + body)
    found, counts = decide(view, (engine,), rounds=25, **on)
    assert len(found) == 1
    others, more = decide(view, (engine,), rounds=25, **off)
    assert not others or counts.queries < more.queries


def test_exact_elimination_decides_what_a_model_guides_to(tmp_path):
    view = problem(tmp_path, HEAD + CHOSEN)
    verdicts = [decide(view, ("ic3",), predecessors=way)[0] for way in ("implicant", "exact")]
    assert [[type(v) for v in found.values()] for found in verdicts] == [[Proved], [Proved]]


@pytest.mark.parametrize("idea", ["cubes", "tighten", "turns"])
def test_an_idea_of_lifted_pdr_saves_queries(three_locks, idea):
    found, counts = decide(three_locks, ("lifted-pdr",))
    others, more = decide(three_locks, ("lifted-pdr",), **{idea: False})
    assert found and others and 2 * counts.queries < more.queries


WHOLE = """
extern int nondet(void);
extern void assert(int);
int main(void) {{
{}
  return 0;
}}
"""
BY_THREE = """
  int x = 0;
  while (x < 90) x = x + 3;
  assert(x == 90);
"""
SWAPS = """
  int x = 1, y = 2, t;
  while (nondet()) { t = x; x = y; y = t; }
  assert(x + y == 3);
  assert(x != y);
"""
ROUND = """
  int x = 0, y = 0;
  while (x < 40) { x = x + 1; y = y + 1; if (y == 4) y = 0; }
  assert(y < 4);
  assert(y >= 0);
"""


@pytest.mark.parametrize(
    ("idea", "body", "blocks"),
    [
        ("inductive", ROUND, True),
        ("propagate", SWAPS, True),
        ("forward", BY_THREE, False),
        ("forward", ROUND, True),
    ],
)
def test_an_idea_of_lifted_pdr_helps_somewhere(tmp_path, idea, body, blocks):
    """With it more is proved in the same number of turns, or with fewer queries."""
    view = problem(tmp_path, WHOLE.format(body), ".c", blocks=blocks)
    found, counts = decide(view, ("lifted-pdr",), rounds=25)
    others, more = decide(view, ("lifted-pdr",), rounds=25, **{idea: False})
    assert found and (len(others) < len(found) or counts.queries < more.queries)


def test_one_solver_does_less_work_than_many(tmp_path):
    view = problem(tmp_path, HEAD + LATE)
    _, kept = decide(view, ("ic3",))
    found, renewed = decide(view, ("ic3",), incremental=False)
    assert found and 5 * kept.solvers < renewed.solvers and kept.work < renewed.work


def test_structural_abstraction_leaves_the_clutter_alone(tmp_path):
    """IC3 on everything has models of all products; on the abstract system it has none. Work is the solver's own."""
    view = problem(tmp_path, cluttered(4))
    found, counts = decide(view, ("structural",))
    (verdict,) = found.values()
    assert isinstance(verdict, Proved) and counts.refinements == 1 and verdict.certificate.free == ("n3",)
    _, whole = decide(view, ("ic3",))
    assert 10 * counts.work < whole.work


@pytest.mark.parametrize("proof", ["ic3", "induction"])
def test_structural_abstraction_keeps_what_matters(tmp_path, proof):
    text = HEAD + "a = stream(Int, lambda a: [1] ++ a)\nb = a + 1\nc = stream(Int, lambda c: [0] ++ (c + b))\n"
    view = problem(tmp_path, text + "spec.prop('good', c != -1)\nspec.prop('bad', c < 6)")
    found, counts = decide(view, ("structural",), rounds=60, proof=proof)
    assert isinstance(found["bad"], Falsified) and counts.refinements >= 2
