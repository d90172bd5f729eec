"""Work that grows with a spec grows in proportion. Counted in calls, terms and bytes: the same on every machine."""

from __future__ import annotations

import gc
import sys
from itertools import pairwise

import pytest

from streamcheck import *
from streamcheck.certify import replay
from streamcheck.codegen import rewrite
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.core.garbage import without_collection
from streamcheck.core.simplify import negation
from streamcheck.core.term import term, variable
from streamcheck.core.types import BOOL
from streamcheck.engines.protocol import Invariants, Progress, Settled, Task, TrueUpTo
from streamcheck.lang import elaborate
from streamcheck.lang.flatten import flatten
from streamcheck.lang.load import load
from streamcheck.problem.automaton import Automaton, Edge, Error
from streamcheck.problem.result import Replay
from streamcheck.problem.verdict import Certificate, Proved, Trace
from streamcheck.run import kept, standby, workers
from streamcheck.run.concerned import Concerned
from streamcheck.run.prove import Settings, prove
from streamcheck.run.registry import build
from streamcheck.run.source import SourceOptions, Target, read
from streamcheck.smt.solver import Solver
from streamcheck.smt.translate import Translator
from streamcheck.transform.reduce import clusters
from streamcheck.transform.scalars import scalars
from streamcheck.transform.slicing import Slicing
from streamcheck.transform.vacuity import with_vacuity_tests
from streamcheck.transform.views import views
from streamcheck.validate import discharge
from streamcheck.validate.discharge import Equals, RandomValues


def counters(number):
    go, spec = extern("go", Bool), Spec("counters")
    for i in range(number):
        n = stream(Word16, lambda n, i=i: [0] + +mux(go & (n < 5 + i), n + 1, n))
        spec.prop(f"p{i}", n <= 5 + i)
    return views(flatten(spec))[0].system


def test_few_of_many_clusters_have_solvers_at_a_time():
    turns = workers.Turns(lambda: build(("bmc", "k-induction")), Task(counters(150)))
    proved, most = set(), 0
    while turns.running and len(proved) < 150:
        most = max(most, len(turns.running))
        turns.round(lambda _, event: proved.add(event.prop) if isinstance(event, Proved) else None)
    assert len(proved) == 150 and most <= 2 * 2 * workers.MOST_EARLY


def test_a_hard_cluster_keeps_no_other_one_waiting():
    """All are begun with once the first ones have had their share, also if none of them is decided."""

    class Busy:
        name = "bmc"
        begun = set()

        def run(self, problem, inbox):
            Busy.begun.add(problem.system.properties[0].name)
            while True:
                yield Progress(0)

    turns = workers.Turns(lambda: [Busy()], Task(counters(150)))
    for _ in range(60):
        turns.round(lambda _, event: None)
    assert len(Busy.begun) == 150


def latches(number):
    """Each cluster is decided by one step of induction, and the premise in it is true at step 300 at the earliest."""
    go, spec = extern("go", Bool), Spec("latches")
    for i in range(number):
        n = stream(Word16, lambda n, i=i: [0] + +mux(go & (n < 500 + i), n + 1, n))
        late = stream(Bool, lambda late, n=n: [False] + +(late | (n >= 300)))
        spec.prop(f"p{i}", implies(late, n <= 500 + i))
        spec.prop(f"q{i}", n <= 500 + i)
    return with_vacuity_tests(flatten(spec))


def test_vacuity_tests_that_are_left_keep_no_cluster_waiting():
    spec = latches(100)
    asked = {p.name for p in spec.properties if not p.is_vacuity_test}
    turns = workers.Turns(lambda: build(("bmc", "k-induction", "completeness")), Task(views(spec)[0].system))
    proved = set()
    for _ in range(2 + 100 // workers.MOST_EARLY):  # it was 28 rounds
        turns.round(lambda _, event: proved.add(event.prop) if isinstance(event, Proved) else None)
    assert proved >= asked


def test_a_run_that_makes_a_premise_true_is_replayed_over_its_part_alone(monkeypatch):
    spec = latches(30)
    test = next(p for p in spec.properties if p.is_vacuity_test)
    given = {"go": True}
    run = Trace({}, tuple(given for _ in range(302)))
    counted = []
    evaluated = replay.evaluate_nodes
    monkeypatch.setattr(
        replay, "evaluate_nodes", lambda nodes, values: counted.append(len(nodes)) or evaluated(nodes, values)
    )
    assert isinstance(kept.replay_of(spec, test, run), Replay)
    assert max(counted) < 20 < spec.size
    early = Trace({}, run.inputs[:301])
    assert kept.replay_of(spec, test, early) == "the property is true at the last step"
    stray = Trace({}, ({"stranger": True}, *run.inputs))
    assert kept.replay_of(spec, test, stray) == "the value of stranger is not a value of its type at step 0"


def test_a_fact_reaches_the_clusters_it_is_about_and_no_others():
    parts = clusters(counters(30))
    concerned = Concerned(parts)
    own = {p.name: i for i, part in enumerate(parts) for p in part.properties}
    (claim,) = parts[7].properties
    assert concerned.clusters(TrueUpTo(claim.name, 3)) == concerned.clusters(Settled(claim.name)) == [own[claim.name]]
    certificate = Certificate("inductive", 1, (claim.term,))
    assert concerned.clusters(Proved(claim.name, certificate)) == [7]
    assert concerned.clusters(Proved("of another worker", certificate)) == [7]
    assert concerned.clusters(Invariants(certificate)) == [7]
    assert concerned.clusters(Settled("of another worker")) == []
    shared = Certificate("inductive", 1, (parts[0].inputs[0],))
    assert concerned.clusters(Invariants(shared)) == list(range(30))


def chain(number):
    """A chain of instances, each of which has a contract."""

    @component
    def limiter(wish: Word8) -> Word8:
        assume("small", wish <= 100)
        out = minimum(wish, ([0] + +wish) + 1)
        guarantee("small", out <= 100)
        return out

    y = minimum(extern("x", Word8), 100)
    for _ in range(number):
        y = limiter(y)
    spec = Spec("chain")
    spec.observer("y", y)
    return spec


def test_a_chain_of_instances_takes_calls_in_proportion_to_its_length(monkeypatch):
    """Each has claims about all before it, so what looks below each claim is quadratic."""
    small, large = chain(30), chain(120)
    walked = nodes_walked(monkeypatch)
    few, many = walked(lambda: flatten(small)), walked(lambda: flatten(large))
    assert many <= 6 * few


NESTED = """from streamcheck import *

@component
def nested(n: int, wish: Word8) -> Word8:
    assume("small", wish <= 100)
    out = wish if n == 0 else minimum(nested(n - 1, wish), pre(0, wish))
    guarantee("small", out <= 100)
    return out

spec = Spec("deep")
spec.observer("out", nested({n}, minimum(extern("x", Word8), 100)))
"""


def test_components_far_inside_of_each_other(tmp_path, monkeypatch):
    """Deeper than Python's own limit of recursion. A proof of the whole needs no body by itself, each of which has
    all that is inside of it once more."""
    few, many = tmp_path / "few.py", tmp_path / "many.py"
    few.write_text(NESTED.format(n=100))
    many.write_text(NESTED.format(n=400))
    limit = sys.getrecursionlimit()
    (small,), (large,) = load(str(few)), load(str(many))
    walked = nodes_walked(monkeypatch)
    least, most = walked(lambda: flatten(small, bodies=False)), walked(lambda: flatten(large, bodies=False))
    assert most <= 6 * least and sys.getrecursionlimit() == limit
    (problem,) = read(Target(str(many), None), reading=SourceOptions(bodies=False))
    assert len(problem.instances) == 401 and not problem.components
    (whole,) = read(Target(str(few), None))
    assert len(whole.components) == 101


def test_a_function_that_calls_itself_without_end(tmp_path):
    path = tmp_path / "spec.py"
    path.write_text("from streamcheck import *\ndef f(x):\n    return min(map(f, [x + 1]))\nf(extern('x', Word8))\n")
    with pytest.raises(SpecError, match="a function calls itself without end"):
        read(Target(str(path), None))


def test_edges_of_a_program_take_no_copies_of_what_is_known(monkeypatch):
    """Of all terms before them, or of all locations."""

    class Known(dict):
        def __iter__(self):
            raise AssertionError("it is copied")

    xs = [variable(f"x{i}", BOOL) for i in range(3)]
    known = Known()
    for x in xs:
        assert scalars([negation(x)], known)[x] == [x]
    junctions = []

    class Places(set):
        def __and__(self, other):
            junctions.append(other)
            return Places(set.__and__(self, other))

    monkeypatch.setattr(Automaton, "reached_from", lambda self, places: Places(self.locations))
    locations = tuple(f"l{i}" for i in range(50))
    edges = tuple(Edge(a, b) for a, b in pairwise(locations))
    sliced = Slicing(Automaton("chain", (), locations, "l0", (Error("l49", "e", None),), edges)).problem
    assert sliced.locations == locations and len(junctions) == 1


def nodes_walked(monkeypatch):
    """A function that counts how often another one looks at the operands of a stream."""
    counted, original = [0], elaborate.children

    def children(node):
        counted[0] += 1
        return original(node)

    monkeypatch.setattr(elaborate, "children", children)

    def count(function):
        counted[0] = 0
        function()
        return counted[0]

    return count


@pytest.mark.parametrize("use", ["x", "y"])
def test_misplaced_quantifiers_are_found_wherever_they_are(use):
    x, spec = extern("x", Word8), Spec("s")
    whole = forall(Word8, lambda v: x + v >= 0)
    spec.prop("fine", implies(x == 3, whole))
    hidden = stream(Bool, lambda hidden: [True] + +(hidden & ~whole))
    spec.prop("wrong", hidden if use == "x" else implies(hidden, x == x))
    with pytest.raises(SpecError, match="forall at this position"):
        flatten(spec)


def test_a_condition_is_split_once_for_each_of_its_cases(monkeypatch):
    """A function of six conditions has 3^6 cases, and 6! orders to get to them."""
    calls, split = [], rewrite._Conditions._split
    monkeypatch.setattr(rewrite._Conditions, "_split", lambda *args: calls.append(1) or split(*args))
    x = [extern(f"x{i}", Bool) for i in range(6)]
    spec = Spec("cases")
    spec.observer("out", (x[0] | x[1]) & (x[2] | x[3]) & (x[4] | x[5]) & ~(x[0] & x[5]))
    generate(flatten(spec), CodeOptions(observers=True))
    assert 0 < len(calls) <= 3**6


def test_a_chain_of_one_junction_is_one_expression_of_the_solver():
    """In which nothing is there twice: a part that others use too stays one."""
    xs = [variable(f"x{i}", BOOL) for i in range(300)]
    long = xs[0]
    prefix = None
    for i, x in enumerate(xs[1:]):
        long = term("or", long, x)
        prefix = long if i == 99 else prefix
    translator = Translator()
    whole = translator.expression(long)
    assert whole.num_args() == 300 and len(translator.built) == 301
    again = Translator()
    both = again.expression(term("and", term("implies", xs[0], prefix), long))
    assert both.num_args() == 2 and both.arg(1).num_args() == 200  # the prefix, and 199 others
    assert again.expression(term("or", prefix, xs[299])).num_args() == 2
    doubled = xs[0]
    for i in range(60):
        doubled = term("or", term("or", doubled, xs[i]), term("or", doubled, xs[i + 60]))
    assert len(Translator().expression(doubled).sexpr()) < 10_000


def test_what_is_inside_a_junction_has_an_expression_when_it_is_asked_for():
    a, b, c = (variable(name, BOOL) for name in "abc")
    inner = term("and", a, b)
    solver = Solver()
    solver.add(term("and", inner, c))
    assert solver.check(negation(inner)) is False and solver.check(inner) is True


def test_large_problems_are_not_sent():
    """The process that has them in memory forks; small ones go to processes that have their solvers loaded."""
    xs = [variable(f"x{i}", BOOL) for i in range(standby.LARGE // 2)]
    assert not standby.is_large(xs)
    junctions = [term("and", a, b) for a, b in pairwise(xs)]
    assert standby.is_large([*junctions, *(term("or", a, b) for a, b in pairwise(xs))])


def test_a_large_problem_is_proved_by_forked_processes(monkeypatch):
    monkeypatch.setattr(standby, "LARGE", 5)
    sent = []
    monkeypatch.setattr(standby, "problem_to_plain", sent.append)
    spec, n = Spec("s"), stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, n))
    spec.prop("p", n <= 9)
    with standby.Standby() as ready:
        verdicts = prove(flatten(spec), Settings(timeout=30), standby=ready)
    assert [r.verdict for r in verdicts.results] == ["proved"] and not sent


@pytest.mark.parametrize("most", [1, 100_000])
def test_programs_are_sent_and_forked_too(most, tmp_path, monkeypatch):
    monkeypatch.setattr(standby, "LARGE", most)
    path = tmp_path / "p.c"
    path.write_text(
        "extern int __VERIFIER_nondet_int(void); extern void reach_error(void);\n"
        "int main(void) { int x = 0; while (__VERIFIER_nondet_int()) { if (x < 5) x = x + 1; }\n"
        "if (x > 9) reach_error(); return 0; }\n"
    )
    (program,) = read(Target(str(path), None))
    with standby.Standby() as ready:
        verdicts = prove(program, Settings(timeout=30), standby=ready)
    assert {r.verdict for r in verdicts.results} == {"proved"}


def test_nothing_is_collected_while_something_large_is_built():
    with without_collection():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_candidates_for_a_value_of_the_c_are_found_by_what_they_are_computed_from(monkeypatch):
    """Not among all terms that are always alike."""
    xs = [variable(f"x{i}", BOOL) for i in range(400)]
    alike = [term("or", x, negation(x)) for x in xs]  # always true
    equals = Equals(alike + xs, RandomValues({}), set())
    looked = []
    monkeypatch.setattr(discharge, "_is_over", lambda t, operands: looked.append(t) or bool(t.args))
    for x in xs:
        equals.settle(term("or", negation(x), x))
    assert len(looked) <= 10 * len(xs)
