"""Automata as equations and in large blocks, their engines and certificates: against explicit search, and [Penelle]."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from judging import large_blocks, sliced
from program_search import EXAMPLE_12, LOCK, S2, W2, automaton, random_automaton, reachable, shortest

from streamcheck.certify.check import Checker
from streamcheck.certify.locations import check_blocks, check_locations
from streamcheck.certify.replay import replay_path
from streamcheck.core.conjuncts import decider, exclusive
from streamcheck.core.simplify import conjunction, disjunction, implication, negation
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import BOOL
from streamcheck.engines.cfa.dfs_bmc import explore
from streamcheck.engines.protocol import Task
from streamcheck.problem.automaton import Automaton, Edge, Error
from streamcheck.problem.problem import claim_named
from streamcheck.problem.result import Inconsistent
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Falsified, LocationInvariants, Proved
from streamcheck.run.registry import build
from streamcheck.run.workers import Turns
from streamcheck.transform.automaton_system import AutomatonSystem, specification_of
from streamcheck.transform.views import views


def decide(cfa, engines, model, rounds=80):
    """The first verdict on the automaton's claim, checked or replayed as the command does."""
    found = []

    def tell(_, event):
        if isinstance(event, Proved | Falsified):
            found.append(event)

    problem = Task(model.system, program=model.automaton)
    turns = Turns(lambda: build(engines), problem)
    for _ in range(rounds):
        if found or turns.round(tell) or not turns.running:
            break
    if not found:
        return None
    (verdict, *_) = found
    if isinstance(verdict, Proved):
        assert Checker(cfa).check("safe", model.back(verdict.certificate)) is None
        return verdict
    shown = replay_path(cfa, claim_named(cfa, "safe"), model.back(verdict.trace))
    assert not isinstance(shown, str | Inconsistent), shown
    path = shown.statements
    assert path[0].edge.source == cfa.entry and path[-1].edge.target in cfa.bad
    return verdict


ENGINES = [("bmc", "k-induction"), ("bmc", "completeness"), ("ic3",), ("spacer",), ("predicates",)]
ENGINES += [("predicates-path",), ("dfs-bmc",), ("dfs-bmc-backward",), ("global-bmc",), ("global-bmc-backward",)]
ENGINES += [("lifted-pdr",), ("predicate-reach",), ("acceleration",), ("unwinding",)]


@pytest.mark.parametrize("engines", ENGINES, ids="+".join)
def test_engines_agree_with_explicit_search(engines):
    decided = 0
    for seed in range(40):
        rng = random.Random(seed)
        cfa = random_automaton(rng, type=rng.choice([W2, S2]))
        truth = shortest(cfa)
        for model in views(cfa, blocks=seed % 2 == 0):
            verdict = decide(cfa, engines, model)
            if verdict is not None:
                decided += 1
                assert isinstance(verdict, Falsified) == (truth is not None), (seed, model.model, verdict)
    # engines that find violations, but no proofs (or hardly any)
    one_sided = "bmc" in engines[0] or engines[0] in ("acceleration", "unwinding")
    assert decided > (20 if one_sided else 40)


@pytest.mark.parametrize("seed", range(120))
def test_slicing_and_large_blocks_keep_the_error(seed):
    rng = random.Random(seed)
    cfa = random_automaton(rng, locations=rng.randint(3, 7), type=W2)
    truth = shortest(cfa)
    smaller = sliced(cfa)
    assert shortest(smaller) == truth
    blocks = large_blocks(smaller)
    assert (shortest(blocks) is None) == (truth is None)
    assert len(blocks.edges) <= len(smaller.edges)


@pytest.mark.parametrize("seed", range(60))
def test_blocks_are_shown_to_do_all_that_the_statements_do(seed):
    """And blocks that leave something out are not."""
    rng = random.Random(500 + seed)
    cfa = random_automaton(rng, locations=rng.randint(3, 6))
    smaller = sliced(cfa)
    blocks = large_blocks(smaller) if seed % 2 else smaller
    found = check_blocks(cfa, blocks)
    assert found is None or found.undecided
    before = reachable(blocks)
    for edge in blocks.edges:
        others = tuple(e for e in blocks.edges if e is not edge)
        narrower = [term("and", edge.guard, term("ne", v, constant(W2, 1))) for v in blocks.variables]
        for fewer in (others, *((*others, replace(edge, guard=guard)) for guard in narrower)):
            less = replace(blocks, edges=fewer)
            if set(reachable(less)) != set(before) and shortest(less) is None and shortest(blocks) is not None:
                assert check_blocks(cfa, less) is not None


def test_branches_become_one_edge_of_the_size_of_the_code():
    lines, here = ["q0 -> l0: skip"], 0
    for i in range(40):
        lines += [f"l{i} -> a{i}: x{i} != 0", f"l{i} -> b{i}: x{i} == 0", f"a{i} -> l{i + 1}: y{i} := 1"]
        lines += [f"b{i} -> l{i + 1}: y{i} := 0"]
        here = i + 1
    lines += [f"l{here} -> bad: y0 > y1", f"l{here} -> l0: y0 <= y1"]
    blocks = large_blocks(sliced(automaton("q0", "bad", *lines)))
    assert set(blocks.locations) == {"q0", "l0", "bad"}
    assert specification_of(blocks).size < 100


def outcome(cfa, bound, direction):
    search = explore(cfa, bound, direction)
    while True:
        try:
            next(search)
        except StopIteration as end:
            return end.value


def test_the_lock_is_exhausted_backward_beyond_three_and_never_forward():
    for bound in range(12):
        assert outcome(LOCK, bound, "forward") == "not exhausted"
        assert outcome(LOCK, bound, "backward") == ("exhausted" if bound > 3 else "not exhausted")


@pytest.mark.parametrize("search", ["dfs-bmc", "global-bmc"])
def test_the_lock_as_engines_see_it(search):
    """Backward the bound 4 is exhausted, which the checker accepts as a proof; forward there is no end."""
    (model,) = views(LOCK, blocks=False)
    proof = decide(LOCK, (f"{search}-backward",), model)
    assert (proof.certificate.kind, proof.certificate.k) == ("compressed", 5 if search == "dfs-bmc" else 4)
    assert decide(LOCK, (search,), model, rounds=12) is None


@pytest.mark.parametrize("engine", ["dfs-bmc", "global-bmc"])
def test_programs_that_end_are_exhausted_forward(engine):
    cfa = automaton("q0", "bad", "q0 -> q1: x := 0", "q1 -> q2: x := x + 1", "q2 -> bad: x > 1", "q2 -> q3: x <= 1")
    proof = decide(cfa, (engine,), views(cfa, blocks=False)[0])
    assert isinstance(proof, Proved) and proof.certificate.kind == "complete"


def test_the_three_answers():
    ends = automaton("q0", "bad", "q0 -> q1: x := 1", "q1 -> bad: x == 2")
    assert outcome(ends, 1, "forward") == "not exhausted" and outcome(ends, 2, "forward") == "exhausted"
    for direction in ("forward", "backward"):
        path = outcome(EXAMPLE_12, 7, direction)
        assert [e.text for e in path] == [
            "x := 0", "havoc y", "y := x * y", "x := x + 1", "havoc y", "y := x * y", "y > 20",
        ]  # fmt: skip
        assert outcome(EXAMPLE_12, 6, direction) == "not exhausted"


@pytest.mark.parametrize("engine", ["dfs-bmc", "global-bmc", "bmc", "ic3", "predicates"])
def test_example_12_comes_back_as_its_path(engine):
    (model,) = views(EXAMPLE_12)
    assert isinstance(decide(EXAMPLE_12, (engine,), model, rounds=300), Falsified)


@pytest.mark.parametrize("engine", ["bmc", "dfs-bmc", "global-bmc-backward", "lifted-pdr", "predicate-reach"])
def test_edges_that_differ_in_what_they_write_only(engine):
    cfa = automaton("q0", "bad", "q0 -> q1: x := 1", "q0 -> q1: x := 2", "q1 -> bad: x == 2", "q1 -> bad: x == 3")
    cfa = replace(cfa, edges=tuple(replace(e, text="a statement") for e in cfa.edges))
    for blocks in (True, False):
        assert isinstance(decide(cfa, (engine,), views(cfa, blocks=blocks)[0]), Falsified)


def test_an_unreachable_error_without_edges_is_proved():
    cfa = automaton("q0", "bad", "q0 -> q1: x := 1", "q1 -> bad: x == x + 1")
    for engine in ("dfs-bmc", "global-bmc-backward", "ic3"):
        assert isinstance(decide(cfa, (engine,), views(cfa)[0]), Proved)


# Certificates at locations

COUNT = automaton("q0", "bad", "q0 -> q1: x := 0", "q1 -> q2: x < 5", "q2 -> q1: x := x + 1", "q1 -> bad: x > 5")
X = variable("x", COUNT.variables[0].type)


def at_most(n):
    return term("le", X, constant(X.type, n))


def test_invariants_of_locations_are_judged_edge_by_edge():
    assert check_locations(COUNT, "bad", {"q0": TRUE, "q1": at_most(5), "q2": at_most(4)}) is None
    assert check_locations(COUNT, "bad", {"q1": at_most(5)}) is None  # q2 is followed through
    for wrong in ({}, {"q1": at_most(6)}, {"q1": at_most(4)}, {"q1": FALSE}, {"q1": at_most(5), "q2": at_most(5)}):
        assert check_locations(COUNT, "bad", wrong) is not None, wrong
    assert "q1" in check_locations(COUNT, "bad", {"q1": TRUE}).why


@pytest.mark.parametrize("seed", range(30))
def test_weaker_and_stronger_certificates_are_told_apart(seed):
    """An invariant is accepted just when brute force over all configurations accepts it."""
    from program_search import successors, values

    from streamcheck.core.evaluate import value_of

    rng = random.Random(1000 + seed)
    cfa = random_automaton(rng, locations=3)
    x, y = cfa.variables
    for _ in range(8):
        wish = {
            q: term(rng.choice(["le", "ge", "ne", "eq"]), rng.choice([x, y]), constant(W2, rng.randint(0, 3)))
            for q in cfa.locations
            if q != "bad"
        }
        wish["q0"] = TRUE
        states = [(a, b) for a in values(W2) for b in values(W2)]
        good = {(q, s) for q in wish for s in states if value_of(wish[q], dict(zip((x, y), s, strict=True)))}
        leads = {"bad"}
        for _ in cfa.locations:
            leads |= {e.source for e in cfa.edges if e.target in leads}
        inductive = all(
            (target, after) in good
            for q, s in good
            if q in leads
            for _, target, after in successors(cfa, q, s)
            if target in leads
        )
        assert (check_locations(cfa, "bad", wish) is None) == inductive, (seed, wish)


FOLDS = automaton(  # where x is 0, two edges of the loop between u and v fold away, and one leads on to the error
    "s", "bad",
    "s -> t: x := 0", "t -> u: skip", "t -> v: x == 1", "u -> v: skip", "v -> u: x == 1", "v -> bad: skip",
)  # fmt: skip


def test_paths_through_loops_without_invariants_are_not_forgotten():
    assert check_locations(FOLDS, "bad", {"s": TRUE}) is not None
    nothing = replace(FOLDS, locations=("s", "bad"), edges=(), lines={}, loops=frozenset())
    assert check_blocks(FOLDS, nothing) is not None
    assert check_blocks(FOLDS, large_blocks(sliced(FOLDS))) is None


def test_a_program_that_begins_in_the_error_has_no_proof():
    empty = Automaton("empty", (), ("bad",), "bad", (Error("bad", "safe", None),), ())
    assert check_locations(empty, "bad", {}) is not None
    assert check_blocks(empty, empty) is not None


def test_invariants_say_nothing_of_what_is_chosen_next():
    """inv(y, c) with one c for the step and the state after it would pass: each step has a choice of its own."""
    y, c = variable("y", BOOL), variable("coin", BOOL)
    edges = (
        Edge("s", "l", updates=((y, FALSE),)),
        Edge("l", "l", negation(c), ((y, TRUE),), (c,)),
        Edge("l", "bad", conjunction(y, c), (), (c,)),
    )
    cfa = Automaton("p", (y,), ("s", "l", "bad"), "s", (Error("bad", "safe", None),), edges)
    assert shortest(cfa) == 3
    assert check_locations(cfa, "bad", {"s": TRUE, "l": negation(conjunction(y, c))}) is not None
    whole = implication(cfa.at("l"), negation(conjunction(y, c)))
    evidence = AutomatonSystem(cfa).back(Certificate("inductive", 1, (whole,)))
    assert isinstance(evidence, BlockCertificate) and Checker(cfa).check("safe", evidence) is not None


def test_blocks_have_the_errors_of_the_source_by_name():
    errors = (Error("bad", "one", None), Error("q2", "two", None))
    edges = (Edge("q0", "bad", at_most(3)),)
    cfa = Automaton("p", (X,), ("q0", "q2", "bad"), "q0", errors, edges)
    assert check_blocks(cfa, cfa) is None
    swapped = (Error("bad", "two", None), Error("q2", "one", None))
    assert check_blocks(cfa, replace(cfa, errors=swapped)) is not None
    with pytest.raises(ValueError, match="two claims of one name"):
        replace(cfa, errors=(errors[0], replace(errors[1], name="one")))


def test_a_certificate_of_the_system_says_what_holds_at_each_location():
    (model,) = views(COUNT)
    verdict = decide(COUNT, ("ic3",), model)
    evidence = model.back(verdict.certificate)
    assert isinstance(evidence, LocationInvariants) and check_locations(COUNT, "bad", dict(evidence.at)) is None
    assert set(dict(evidence.at)) == set(model.automaton.locations) - {"bad"}


def test_a_path_that_is_no_run_of_the_program_is_refused():
    claim = claim_named(COUNT, "safe")

    def replayed(*edges, x=0):
        return replay_path(COUNT, claim, EdgePath({"x": x}, tuple((number, {}) for number in edges)))

    assert replayed(1) == "x < 5 does not begin at q0"
    assert replayed(0, 3) == "the condition of x > 5 is false"
    assert replayed(0, 1) == "it ends at q2"
    assert "not a value of its type" in replayed(0, x="zero")


# Large programs


def test_many_checks_in_a_row_end_a_block_and_keep_the_answer():
    """Every edge to an error denies those before it: without an end, blocks would grow with the square of the code."""
    lines = []
    for i in range(250):
        lines += [f"l{i} -> l{i + 1}: x <= y + {i}", f"l{i} -> o{i}: x > y + {i}"]
        lines += [f"o{i} -> o{i}: x := x + 1", f"o{i} -> bad: x > y + 9"]
    cfa = automaton("l0", "bad", *lines, "l250 -> bad: x > y")
    blocks = large_blocks(sliced(cfa))
    assert sum(q.startswith("l") for q in blocks.locations) == 3
    assert all(len(edges) <= 102 for edges in blocks.edges_from.values())
    assert isinstance(decide(cfa, ("bmc",), views(cfa)[0]), Falsified)


def test_guards_that_contradict_each_other_need_no_choice():
    rng = random.Random(7)
    for _ in range(200):
        parts = [term(rng.choice(["lt", "ge", "eq", "ne"]), X, constant(X.type, rng.randint(0, 2))) for _ in range(4)]
        guards = [
            conjunction(*(rng.choice([p, negation(p), disjunction(p, parts[0])]) for p in rng.sample(parts, 2)))
            for _ in range(3)
        ]
        pairs = [(a, b) for i, a in enumerate(guards) for b in guards[i + 1 :]]
        assert exclusive(guards) == all(decider(a, b) is not None for a, b in pairs), guards
