"""Predicate abstraction: the examples of [TUM], refinement, random automata against explicit search."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest
from judging import large_blocks, sliced
from program_search import random_automaton, shortest
from test_programs import decide

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, constant, substitute, term, variable
from streamcheck.core.types import BOOL, INT, machine
from streamcheck.engines.cfa import concrete_reach
from streamcheck.engines.cfa.base import Inconclusive, Safe, Unsafe
from streamcheck.engines.cfa.concrete_reach import ConcreteReach, Reachable
from streamcheck.engines.cfa.images import CartesianAbstraction, alpha, post
from streamcheck.engines.cfa.options import PredicateReachOptions
from streamcheck.engines.cfa.predicate_reach import PredicateReach
from streamcheck.engines.cfa.refutation import Feasible, Spurious, feasibility
from streamcheck.engines.protocol import Task
from streamcheck.problem.automaton import Automaton, Edge, Error
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.smt.interpolate import atoms
from streamcheck.smt.solver import Solver
from streamcheck.transform.views import views

pc, x, y, z = (variable(name, INT) for name in ("pc", "x", "y", "z"))


def n(value):
    return constant(INT, value)


def plus(a, b):
    return term("add", a, n(b))


def le(a, b):
    return term("le", a, b)


def ge(a, b):
    return term("ge", a, b)


def eq(a, b):
    return term("eq", a, b)


def equivalent(a, b):
    return follows(a, b) and follows(b, a)


def follows(a, b):
    solver = Solver()
    solver.add(a, negation(b))
    return solver.check() is False


def automaton(edges, variables=(x, y, z), entry="l1", error="l5"):
    names = tuple(dict.fromkeys([entry, *(name for e in edges for name in (e.source, e.target)), error]))
    return Automaton("p", tuple(variables), names, entry, (Error(error, "ok", None),), tuple(edges))


def search(engine, program, predicates=(), rounds=3000, **options):
    system = TransitionSystem("s", (), (), (), (), ())
    configured = engine(PredicateReachOptions(**options)) if options else engine()
    going = configured.search(program, Task(system, program=program, predicates=tuple(predicates)))
    for _ in range(rounds):
        try:
            next(going)
        except StopIteration as end:
            return end.value
    return Inconclusive("stopped by the test")


# [TUM]: assume(y >= z); while (x < y) x++; assert(x >= z);


def program():
    return automaton(
        [
            Edge("l1", "l2", ge(y, z)),
            Edge("l2", "l2", le(plus(x, 1), y), ((x, plus(x, 1)),)),
            Edge("l2", "l3", ge(x, y)),
            Edge("l3", "l4", ge(x, z)),
            Edge("l3", "l5", le(plus(x, 1), z)),
        ]
    )


def at(location):
    return eq(pc, n(int(location[1])))


def relation(edge):
    """The transition as in [TUM], with the location in a variable."""
    moved = ((pc, n(int(edge.target[1]))), *edge.updates)
    return Edge("l1", "l1", conjunction(at(edge.source), edge.guard), moved)


R1, R2, R3, R4, R5 = (relation(edge) for edge in program().edges)
RS = (R1, R2, R3, R4, R5)


def same_conjuncts(a, b):
    """Equivalent, and as simple: the same conjuncts, each in its normal form."""
    return equivalent(a, b) and set(map(normal, conjuncts(a))) == set(map(normal, conjuncts(b)))


def normal(literal):
    (atom,) = atoms([literal])
    return atom, follows(literal, atom)


def without_implied(given):
    return Reachable().without_implied(given)


def test_example_1_the_post_condition_and_its_two_fold_application():
    once = without_implied(post(conjunction(at("l2"), ge(y, z)), R2))
    assert same_conjuncts(once, conjunction(at("l2"), ge(y, z), le(x, y)))
    assert same_conjuncts(without_implied(post(once, R2)), once)


def test_the_post_condition_distributes_over_disjunctions():
    a, b = conjunction(at("l2"), ge(y, z)), conjunction(at("l3"), ge(x, n(3)))
    for each in RS:
        assert equivalent(post(disjunction(a, b), each), disjunction(post(a, each), post(b, each)))


def test_example_2_the_iterates():
    steps = [at("l1")]
    for _ in range(3):
        steps.append(disjunction(*(post(steps[-1], each) for each in RS)))
    expected = [
        conjunction(at("l2"), ge(y, z)),
        disjunction(conjunction(at("l2"), ge(y, z), le(x, y)), conjunction(at("l3"), ge(y, z), ge(x, y))),
        disjunction(
            conjunction(at("l2"), ge(y, z), le(x, y)),
            conjunction(at("l3"), ge(y, z), eq(x, y)),
            conjunction(at("l4"), ge(y, z), ge(x, y)),
        ),
    ]
    assert all(equivalent(a, b) for a, b in zip(steps[1:], expected, strict=True))


def strongest():
    said = {"l1": TRUE, "l2": ge(y, z), "l3": conjunction(ge(y, z), ge(x, y))}
    return said | {"l4": said["l3"]}


def test_example_2_the_fixpoint():
    answer = search(ConcreteReach, program())
    assert isinstance(answer, Safe) and set(answer.invariants) == set(strongest())
    for location, expected in strongest().items():
        found = answer.invariants[location]
        assert found is TRUE if expected is TRUE else same_conjuncts(found, expected)


def inductive(given):
    """φ_init ⊨ φ and post(φ, ρ_R) ⊨ φ."""
    return follows(at("l1"), given) and all(follows(post(given, each), given) for each in RS)


def whole(said):
    return disjunction(*(conjunction(at(location), t) for location, t in said.items()))


def test_example_3_inductive_invariants():
    exact, weaker, weakest = whole(strongest()), whole(strongest() | {"l4": TRUE}), TRUE
    assert inductive(exact) and inductive(weaker) and inductive(weakest)
    assert follows(exact, weaker) and not follows(weaker, exact)
    assert follows(conjunction(weaker, at("l5")), FALSE) and not follows(conjunction(weakest, at("l5")), FALSE)
    assert not inductive(whole(strongest() | {"l3": eq(x, y)}))


def test_example_4_each_application_has_new_states():
    here = known = conjunction(at("l2"), le(x, z))
    for i in range(1, 5):
        here = without_implied(post(here, R2))
        assert same_conjuncts(here, conjunction(at("l2"), le(plus(x, -i), z), le(x, y)))
        assert not follows(here, known)
        known = disjunction(known, here)


def test_example_4_as_a_program_does_not_end(monkeypatch):
    monkeypatch.setattr(concrete_reach, "MOST_IMAGES", 30)
    answer = search(ConcreteReach, automaton([Edge("l1", "l2", le(x, z)), program().edges[1]]))
    assert isinstance(answer, Inconclusive) and "30" in answer.reason


LOCATIONS = [at(f"l{i}") for i in range(1, 6)]


def test_example_5_the_abstraction_function():
    given = conjunction(at("l2"), ge(y, z), le(plus(x, 1), y))
    table = {p: follows(given, p) for p in [*LOCATIONS, ge(y, z), ge(x, y)]}
    assert list(table.values()) == [False, True, False, False, False, True, False]
    assert alpha(given, table) is conjunction(at("l2"), ge(y, z))
    assert alpha(given, []) is TRUE
    assert alpha(at("l5"), LOCATIONS[:3]) is TRUE


def test_example_6_abstract_reachability_with_the_location_among_the_predicates():
    predicates = [*LOCATIONS, ge(y, z), ge(x, y)]
    abstraction = CartesianAbstraction()

    def leading(state):
        found = {i: abstraction.post_sharp(state, each, predicates) for i, each in enumerate(RS, 1)}
        for i, each in enumerate(RS, 1):
            exact = alpha(post(conjunction(*state), each), [FALSE, *predicates])
            assert exact is FALSE if found[i] is None else exact is conjunction(*found[i])
        return {i: state for i, state in found.items() if state is not None}

    first = (at("l1"),)
    second, third = (at("l2"), ge(y, z)), (at("l3"), ge(y, z), ge(x, y))
    fourth = (at("l4"), ge(y, z), ge(x, y))
    assert alpha(at("l1"), predicates) is at("l1")
    assert leading(first) == {1: second}
    assert leading(second) == {2: second, 3: third}  # the first of these is known already
    assert leading(third) == {4: fourth}  # ρ5 gives false
    assert leading(fourth) == {}


def test_example_6_by_the_engine():
    answer = search(PredicateReach, program(), [ge(y, z), ge(x, y)], refine=False)
    assert isinstance(answer, Safe)
    expected = strongest()
    assert answer.invariants == expected


def test_too_few_predicates_leave_it_open_and_refinement_finds_others():
    answer = search(PredicateReach, program(), [ge(x, y)], refine=False)
    assert isinstance(answer, Inconclusive) and "predicates" in answer.reason
    for given in ([], [ge(x, y)]):
        answer = search(PredicateReach, program(), given)
        assert isinstance(answer, Safe)
        check_invariants(program(), answer, (-1, 0, 1, 2))


# Refinement


def gt(a, b):
    return term("gt", a, b)


def lt(a, b):
    return term("lt", a, b)


def ne(a, b):
    return term("ne", a, b)


i, m, s, lock, old, new = (variable(name, INT) for name in ("i", "m", "s", "L", "o", "n"))


def lock_process():
    """L = 0; do { assert(L == 0); L = 1; o = n; if (*) { L = 0; n = n + 1; } } while (n != o);"""
    return [
        Edge("l1", "l2", updates=((lock, n(0)),)),
        Edge("l2", "l5", ne(lock, n(0))),
        Edge("l2", "l3", eq(lock, n(0)), ((lock, n(1)), (old, new))),
        Edge("l3", "l4", updates=((lock, n(0)), (new, plus(new, 1)))),
        Edge("l3", "l4"),
        Edge("l4", "l2", ne(new, old)),
        Edge("l4", "l6", eq(new, old)),
    ]


def counting(limit, wrong, begin=None):
    return [
        begin or Edge("l1", "l2", updates=((i, n(0)),)),
        Edge("l2", "l2", lt(i, limit), ((i, plus(i, 1)),)),
        Edge("l2", "l3", ge(i, limit)),
        Edge("l3", "l5", wrong),
    ]


def two_counters():
    both = ((i, plus(i, 1)), (s, plus(s, 1)))
    begin = Edge("l1", "l2", updates=((i, n(0)), (s, n(0))))
    return [begin, Edge("l2", "l2", lt(i, m), both), Edge("l2", "l3", ge(i, m)), Edge("l3", "l5", ne(s, i))]


def one_phase_after_another():
    """First x grows alone, then both do; y stays 0 in the first phase."""
    return [
        Edge("l1", "l2", updates=((x, n(0)), (y, n(0)))),
        Edge("l2", "l2", lt(x, n(100)), ((x, plus(x, 1)),)),
        Edge("l2", "l3", conjunction(ge(x, n(100)), eq(y, n(0)))),
        Edge("l2", "l5", ne(y, n(0))),
        Edge("l3", "l3", updates=((x, plus(x, 1)), (y, plus(y, 1)))),
        Edge("l3", "l5", lt(y, n(0))),
        Edge("l3", "l5", lt(x, n(100))),
    ]


PROGRAMS = {
    "the lock": (lock_process(), (lock, old, new), True),
    "a counter with a bound": (counting(n(1000), ne(i, n(1000))), (i,), True),
    "a counter with an unknown bound": (counting(m, gt(i, m), Edge("l1", "l2", le(i, m))), (i, m), True),
    "a counter that is wrong at its end": (counting(n(6), eq(i, n(6))), (i,), False),
    "two counters": (two_counters(), (i, s, m), True),
    "two phases": (one_phase_after_another(), (x, y), True),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_refinement_finds_the_predicates(name):
    edges, variables, safe = PROGRAMS[name]
    given = automaton(edges, variables)
    answer = search(PredicateReach, given, rounds=200)
    assert isinstance(answer, Safe if safe else Unsafe)
    if safe:
        check_invariants(given, answer, (-1, 0, 1, 2, 999, 1000))
    else:
        check_path(given, answer)


def test_a_path_through_the_loop_twice_with_a_product():
    """[Tegzes, example 12]: only with x >= 1 can x * y exceed 20."""
    any_y = variable("any y", INT)
    edges = [
        Edge("a", "b", updates=((x, n(0)),)),
        Edge("b", "c", updates=((y, any_y),), choices=(any_y,)),
        Edge("c", "d", updates=((y, term("mul", x, y)),)),
        Edge("d", "b", updates=((x, plus(x, 1)),)),
        Edge("d", "f", gt(y, n(20))),
    ]
    given = automaton(edges, (x, y), "a", "f")
    answer = search(PredicateReach, given, rounds=200)
    assert isinstance(answer, Unsafe) and [e.source for e in answer.path] == list("abcdbcd")
    check_path(given, answer)
    short = feasibility(given, [*edges[:3], edges[4]], None)
    assert isinstance(short, Spurious)


def locks(many, broken=None):
    """Each lock is taken if its condition is set, and then found taken, if it is not broken."""
    conditions = [variable(f"p{j}", INT) for j in range(many)]
    taken = [variable(f"lk{j}", INT) for j in range(many)]
    edges = [Edge("in", "h"), Edge("h", "0", updates=tuple((v, n(0)) for v in taken))]
    for j, (p, v) in enumerate(zip(conditions, taken, strict=True)):
        edges.append(Edge(f"{j}", f"{j + 1}", ne(p, n(0)), ((v, n(2 if j == broken else 1)),)))
        edges.append(Edge(f"{j}", f"{j + 1}", eq(p, n(0))))
    for j, (p, v) in enumerate(zip(conditions, taken, strict=True), many):
        after = "h" if j == 2 * many - 1 else f"{j + 1}"
        edges.append(Edge(f"{j}", "bad", conjunction(ne(p, n(0)), ne(v, n(1)))))
        edges.append(Edge(f"{j}", after, conjunction(ne(p, n(0)), eq(v, n(1))), ((v, n(0)),)))
        edges.append(Edge(f"{j}", after, eq(p, n(0))))
    return automaton(edges, (*conditions, *taken), "in", "bad")


@pytest.mark.parametrize("blocks", [True, False])
@pytest.mark.parametrize("broken", [False, True])
def test_locks_with_and_without_large_blocks(blocks, broken):
    many = 15 if blocks else 4
    given = locks(many, many - 1 if broken else None)
    given = large_blocks(sliced(given)) if blocks else given
    answer = search(PredicateReach, given, rounds=2 if blocks else 2000)
    if broken:
        check_path(given, answer)
    else:
        assert isinstance(answer, Safe) and "bad" not in answer.invariants


# By brute force


def values_of(var, numbers):
    if var.type is BOOL:
        return (False, True)
    return numbers if var.type is INT else range(var.type.low, var.type.high + 1)


def assignments(variables, numbers):
    for row in product(*(values_of(v, numbers) for v in variables)):
        yield dict(zip(variables, row, strict=True))


def check_invariants(given, answer, numbers):
    said = {name: answer.invariants.get(name, FALSE) for name in given.locations}
    assert all(said[e.location] is FALSE for e in given.errors)
    for values in assignments(given.variables, numbers):
        assert Evaluation(values).of(said[given.entry]) is True
    for edge in given.edges:
        for values in assignments((*given.variables, *edge.choices), numbers):
            here = Evaluation(values)
            if here.of(said[edge.source]) and here.of(edge.guard):
                after = {v: here.of(edge.update.get(v, v)) for v in given.variables}
                assert Evaluation(after).of(said[edge.target]) is True, edge


def check_path(given, answer):
    assert answer.path[0].source == given.entry and answer.path[-1].target in given.bad
    assert all(a.target == b.source for a, b in zip(answer.path, answer.path[1:], strict=False))
    assert feasibility(given, answer.path, None) == Feasible()


def reaches_error(given, numbers):
    seen, stack = set(), [(given.entry, tuple(v.values())) for v in assignments(given.variables, numbers)]
    while stack:
        here = stack.pop()
        if here in seen:
            continue
        seen.add(here)
        location, row = here
        if location in given.bad:
            return True
        for edge in given.edges_from[location]:
            for chosen in assignments(edge.choices, numbers):
                values = Evaluation(dict(zip(given.variables, row, strict=True)) | chosen)
                if values.of(edge.guard):
                    stack.append((edge.target, tuple(values.of(edge.update.get(v, v)) for v in given.variables)))
    return False


WORD2, INT3 = machine(2, signed=False), machine(3, signed=True)


class Random:
    """Small automata over one type of number, and a Bool."""

    def __init__(self, seed, kind):
        self.random, self.kind = random.Random(seed), kind
        self.numbers = [variable("a", kind), variable("b", kind)]
        self.flag = variable("f", BOOL)
        self.choices = 0

    def number(self, leaves, depth=2):
        if depth == 0 or self.random.random() < 0.4:
            if self.random.random() < 0.3:
                return constant(self.kind, self.random.randrange(0, 3))
            return self.random.choice(leaves)
        op = self.random.choice(["add", "sub", "mux"])
        a, b = self.number(leaves, depth - 1), self.number(leaves, depth - 1)
        return term("mux", self.condition(leaves, 0), a, b) if op == "mux" else term(op, a, b)

    def condition(self, leaves, depth=1):
        if self.random.random() < 0.15:
            return self.flag if self.random.random() < 0.5 else negation(self.flag)
        op = self.random.choice(["lt", "le", "eq", "ne"])
        return term(op, self.number(leaves, depth), self.number(leaves, depth))

    def edge(self, source, target):
        chosen, guard, leaves = [], TRUE, list(self.numbers)
        if self.random.random() < 0.3:
            self.choices += 1
            chosen = [variable(f"c{self.choices}", self.kind)]
            leaves += chosen
        if self.random.random() < 0.7:
            guard = self.condition(leaves)
        updates = [(v, self.bounded(self.number(leaves))) for v in self.numbers if self.random.random() < 0.5]
        if self.random.random() < 0.3:
            updates.append((self.flag, self.condition(leaves)))
        if self.kind is INT:
            guard = conjunction(guard, *(conjunction(ge(c, n(0)), le(c, n(2))) for c in chosen))
        return Edge(source, target, guard, tuple(updates), tuple(chosen))

    def bounded(self, number):
        return term("mod", number, n(3)) if self.kind is INT else number

    def automaton(self):
        names = ["q0", "q1", "q2", "q3"]
        variables = (*self.numbers, self.flag)
        limits = [conjunction(ge(v, n(0)), le(v, n(2))) for v in self.numbers] if self.kind is INT else []
        edges = [Edge("in", "q0", conjunction(*limits), ((self.numbers[0], constant(self.kind, 0)),))]
        for name in names:
            for _ in range(self.random.choice([1, 2])):
                edges.append(self.edge(name, self.random.choice(names)))
        source = self.random.choice(names[1:])
        edges.append(self.edge(source, "bad"))
        return automaton(edges, variables, "in", "bad")


@pytest.mark.parametrize("kind", [INT, WORD2, INT3], ids=str)
@pytest.mark.parametrize("engine", [PredicateReach, ConcreteReach])
def test_random_automata_agree_with_explicit_search(engine, kind):
    decided = {True: 0, False: 0}
    slow = engine is ConcreteReach and kind is not INT  # its formulas list values there
    for seed in range(10 if slow else 40):
        given = Random(seed, kind).automaton()
        answer = search(engine, given, rounds=60)
        if isinstance(answer, Inconclusive):
            continue
        expected = reaches_error(given, range(3))
        assert isinstance(answer, Unsafe) == expected, seed
        decided[expected] += 1
        if expected:
            check_path(given, answer)
        else:
            check_invariants(given, answer, range(-1, 4))
    if not slow:
        assert min(decided.values()) >= 5, decided


def test_the_abstract_post_is_alpha_after_post():
    """(7), on random edges: found without post, it is what α makes of post."""
    for seed in range(25):
        one = Random(seed, INT)
        edge = one.edge("q", "r")
        state, *predicates = (conjunction(one.condition(one.numbers), TRUE) for _ in range(8))
        exact = post(state, edge)
        found = CartesianAbstraction().post_sharp((state,), edge, predicates)
        if found is None:
            assert follows(exact, FALSE)
        else:
            assert found == tuple(p for p in predicates if follows(exact, p)), seed


@pytest.mark.parametrize("kind", [INT, WORD2], ids=str)
def test_what_refutes_a_path_is_an_interpolant(kind):
    refuted = 0
    for seed in range(60):
        given = Random(seed, kind).automaton()
        chosen, path, here = random.Random(seed), [], given.entry
        for _ in range(6):
            if not given.edges_from[here]:
                break
            path.append(chosen.choice(given.edges_from[here]))
            here = path[-1].target
        found = feasibility(given, path, None)
        if not isinstance(found, Spurious):
            continue
        said = next(found.refinements())
        if said:
            refuted += 1
            is_interpolant(found, said)
    assert refuted >= 5


def is_interpolant(refuted, said):
    assert said[0] is TRUE and follows(conjunction(said[-1], refuted.edges[-1].guard), FALSE)
    for edge, before, after in zip(refuted.edges, said, said[1:], strict=False):
        assert follows(conjunction(before, edge.guard), substitute([after], edge.update)[after])


# From certificates and traces of the system


@pytest.mark.parametrize("engine", ["predicate-reach", "concrete-reach"])
@pytest.mark.parametrize("wrong", [lt(x, n(1)), ge(x, n(1))], ids=["safe", "unsafe"])
def test_a_guard_may_read_what_makes_no_difference(engine, wrong):
    """Both branches do the same, so the reduced system has no y; the automaton's guards still read it."""
    edges = [Edge("l1", "l2", gt(y, n(0)), ((x, n(1)),)), Edge("l1", "l2", le(y, n(0)), ((x, n(1)),))]
    given = automaton([*edges, Edge("l2", "l5", wrong)], (x, y))
    given = replace(given, errors=(Error("l5", "safe", None),))
    (model,) = views(given, blocks=False)
    assert y not in {s.var for s in model.system.state}
    assert isinstance(decide(given, (engine,), model), Proved if wrong.op == "lt" else Falsified)


def test_exact_states_through_the_whole_command():
    answers = []
    for seed in range(12):
        given = random_automaton(random.Random(seed), type=WORD2)
        for model in views(given):
            verdict = decide(given, ("concrete-reach",), model)
            assert verdict is None or isinstance(verdict, Falsified) == (shortest(given) is not None)
            answers.append(verdict)
    assert sum(a is not None for a in answers) >= 4
