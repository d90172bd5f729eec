"""What keeps one property from costing another: clusters, queries one by one, and turns of the processors."""

from __future__ import annotations

import os
import sys
from collections import Counter
from itertools import count, islice
from typing import ClassVar

import pytest

from streamcheck import Bool, Int, Spec, Word8, extern, mux, stream
from streamcheck.certify.check import Checker
from streamcheck.core.term import constant, term, variable, walk
from streamcheck.core.types import machine
from streamcheck.engines.bmc import Bmc
from streamcheck.engines.kinduction import KInduction
from streamcheck.engines.options import BmcOptions
from streamcheck.engines.protocol import Progress, Task, TrueUpTo
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Unknown
from streamcheck.run import workers
from streamcheck.run.prove import Nobody, Settings, prove
from streamcheck.run.registry import build
from streamcheck.smt.solver import Solver
from streamcheck.smt.work import work_done
from streamcheck.transform.reduce import clusters
from streamcheck.transform.vacuity import with_vacuity_tests
from streamcheck.transform.views import views


class Weak(Solver):
    """A solver that gives up if it is asked about several properties together, and about what names `hard`."""

    def check(self, *assumed, share=1.0):
        goal = assumed[-1] if assumed else None
        names = {str(t.payload) for t in walk([goal])} if goal is not None else set()
        if goal is not None and (goal.op == "or" or any("hard" in name for name in names)):
            self.reason = "a query took too long"
            return None
        return super().check(*assumed)


class WeakBmc(Bmc):
    def new_solver(self, patience):
        return Weak(patience)


class Slow(Solver):
    """A solver that gives up on what names `hard` if it has less than four times the patience."""

    def check(self, *assumed, share=1.0):
        if share < 4 and any("hard" in str(t.payload) for t in walk(assumed[-1:])):
            self.reason = "a query took too long"
            return None
        return super().check(*assumed)


class SlowBmc(Bmc):
    def new_solver(self, patience):
        return Slow(patience)


class WeakInduction(KInduction):
    def new_solver(self, patience):
        return Weak(patience)


def counters():
    """Two counters of which each needs the other's bound, one that is too large, and a property for `Weak`."""
    up = extern("up", Bool)
    hard = extern("hard", Int)
    a = stream(Int, lambda a: [0] + +mux(up & (a < 5), a + 1, a))
    b = [0] + +a
    spec = Spec("s")
    spec.prop("delayed", b <= 5)
    spec.prop("bounded", a <= 5)
    spec.prop("wrong", a <= 1)
    spec.prop("hard", (a <= 5) | (hard * hard != 33))
    return views(flatten(spec))[0].system


def events_of(engine, system, number, facts=()):
    box, events = list(facts), []

    def inbox():
        taken = list(box)
        box.clear()
        return taken

    for event in engine.run(Task(system, patience=1_000_000), inbox):
        events.append(event)
        if len(events) == number:
            break
    return events


def test_a_hard_property_leaves_bounded_model_checking_to_the_others():
    events = events_of(WeakBmc(), counters(), 60)
    gave_up = {e.prop for e in events if isinstance(e, Unknown)}
    assert gave_up <= {"hard"}
    assert {e.prop for e in events if isinstance(e, TrueUpTo) and e.k >= 3} >= {"delayed", "bounded"}


def test_a_hard_property_does_not_hold_back_the_depth_of_easy_ones():
    """It is asked about again and again, with more patience, and the others go on meanwhile."""
    depths = {}
    run = WeakBmc().run(Task(counters(), patience=1_000_000), list)
    for event in run:
        if isinstance(event, TrueUpTo):
            depths[event.prop] = event.k
        if isinstance(event, Unknown):
            break
    assert event.prop == "hard" and depths["hard"] == 0
    assert depths["delayed"] >= len(Bmc.shares) - 2 and depths["bounded"] >= len(Bmc.shares) - 2


@pytest.mark.parametrize("named", [0, 1, 3])
def test_a_search_apart_asks_about_its_own_steps(named):
    """A run that breaks the hard property at step 6 and ends there: the assumptions of the later steps, to which the
    easy property's search has gone on, must not hide it. Flags have names of their own in each solver."""
    go, hard = extern("go", Bool), extern("hard", Word8)
    n = stream(Word8, lambda n: [0] + +mux(n < 6, n + 1, n))
    late = stream(Bool, lambda late: [False] + +(late | (n == 5) | (go & late)))
    spec = Spec("s")
    spec.prop("easy", (n <= 6) | go)
    spec.prop("reached", ~late | (hard * hard != 49))
    spec.assume("ends", ~([False] + +((hard * hard == 49) & late)))
    system = views(flatten(spec))[0].system
    events = []
    for event in SlowBmc(BmcOptions(named=named)).run(Task(system, patience=1_000_000), list):
        events.append(event)
        if sum(isinstance(e, TrueUpTo) and e.prop == "easy" for e in events) > 12:
            break
    (found,) = (e for e in events if isinstance(e, Falsified))
    assert found.prop == "reached" and found.trace.length == 7
    before = [e.k for e in events[: events.index(found)] if isinstance(e, TrueUpTo) and e.prop == "easy"]
    depths = [e.k for e in events if isinstance(e, TrueUpTo) and e.prop == "reached"]
    assert depths == list(range(6)) and max(before) > 6


def test_what_is_too_hard_together_is_proved_one_by_one():
    system = counters()
    known = [TrueUpTo(c.name, 5) for c in system.properties]
    proved = [e for e in events_of(WeakInduction(), system, 40, known) if isinstance(e, Proved)]
    assert {e.prop for e in proved} == {"delayed", "bounded"}
    sizes = {e.prop: len(e.certificate.invariants) for e in proved}
    assert sizes == {"delayed": 2, "bounded": 1}  # one stands on the other, neither on what failed


def test_a_proof_one_by_one_has_what_it_stands_on_and_nothing_else():
    """Four pairs in one cluster, in each of which two properties need each other: eight properties, two in a proof."""
    go, claims = extern("go", Bool), []
    total = stream(Int, lambda total: [0] + +mux(go, total, total))
    spec = Spec("pairs")
    for i in range(4):
        a = stream(Int, lambda a, i=i: [0] + +mux(go & (a < 5 + i), a + 1, a + total))
        b = [0] + +a
        claims += [(f"bounded {i}", (a <= 5 + i) & (total == 0)), (f"delayed {i}", b <= 5 + i)]
    for name, claim in claims:
        spec.prop(name, claim)
    system = views(flatten(spec))[0].system
    known = [TrueUpTo(c.name, 5) for c in system.properties]
    proved = [e for e in events_of(WeakInduction(), system, 100, known) if isinstance(e, Proved)]
    assert {e.prop for e in proved} == {name for name, _ in claims}
    assert all(len(e.certificate.invariants) <= 2 for e in proved)
    checker = Checker(flatten(spec))
    (view, *_) = views(flatten(spec))
    assert all(checker.check(e.prop, view.back(e.certificate)) is None for e in proved)


class Busy:
    """Works as much in every turn, without an end, and counts its turns."""

    turns: ClassVar[Counter[tuple[str, bool]]] = Counter()
    work = 0

    def __init__(self, name):
        self.name = name

    def run(self, problem, inbox):
        vacuity = all(p.is_vacuity_test for p in problem.system.properties)
        for depth in count():
            Busy.turns[self.name, vacuity] += 1
            Busy.work += 10_000_000
            yield Progress(min(depth, self.far))


@pytest.mark.parametrize(("far", "ratio"), [(2, 1), (9, 2)])
def test_induction_has_as_many_turns_as_bounded_model_checking_for_a_few_steps(far, ratio, monkeypatch):
    """Then half as many; and what only tests the properties' assumptions hardly any."""
    monkeypatch.setattr(workers, "work_counter", lambda: lambda: Busy.work)
    monkeypatch.setattr(Busy, "far", far, raising=False)
    Busy.turns.clear()
    spec, n = Spec("s"), stream(Int, lambda n: [0] + +(n + 1))
    spec.assume("early", n < 99)
    spec.prop("p", n >= 0)
    tested = with_vacuity_tests(flatten(spec))
    system = views(tested)[0].system
    turns = workers.Turns(lambda: [Busy("bmc"), Busy("k-induction")], Task(system))
    for _ in range(400):
        turns.round(lambda engine, event: None)
    bmc, induction = Busy.turns["bmc", False], Busy.turns["k-induction", False]
    assert bmc > 100 and ratio * 0.8 <= bmc / induction <= ratio * 1.3
    assert bmc / 20 <= Busy.turns["bmc", True] <= bmc / 5


def test_properties_are_apart_if_they_share_no_state():
    go, x = extern("go", Bool), extern("x", Word8)
    a, b, c = (stream(Word8, lambda n, i=i: [0] + +mux(go, n + i, n)) for i in (1, 2, 3))
    spec = Spec("s")
    spec.assume("slow", c < 100)
    spec.prop("a", a < 9)
    spec.prop("a too", a != 200)
    spec.prop("b", b < 9)
    spec.prop("input", x < 9)
    spec.prop("other input", x > 9)
    spec.prop("assumed", c < 200)
    spec.prop("assumed too", (c < 250) & (a < 250))
    parts = [{p.name for p in part.properties} for part in clusters(views(flatten(spec))[-1].system)]
    assert sorted(map(sorted, parts)) == [["a", "a too", "assumed", "assumed too"], ["b"], ["input"], ["other input"]]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_more_workers_run_than_there_are_processors():
    x, y, z = (extern(name, Int) for name in "xyz")
    n = stream(Int, lambda n: [1] + +mux(x > y, n + x * x, n + 1))
    spec = Spec("s")
    spec.prop("cubes", (x * x * x + y * y * y + z * z * z != 114) | (n < 3))  # nobody knows
    most, paused = 0, 0

    def watch(director):
        nonlocal most, paused
        busy = [w for w in director.workers if w.child.alive and not w.idle]
        started = [w for w in busy if director.elapsed - w.began > 0.5]  # one that has just begun cannot be paused yet
        most = max(most, sum(not w.paused for w in started))
        stopped = [w for w in busy if w.paused and _state(w.child.pid) == "T"]
        paused = max(paused, len(stopped))

    audience = Nobody()
    audience.watch = watch
    (result,) = prove(flatten(spec), Settings(timeout=6.0, jobs=2), audience).results
    assert result.verdict == "unknown" and most == 2 and paused >= 1


def _state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def test_paused_workers_end_with_the_run():
    def left():
        return [p for p in os.listdir("/proc") if p.isdigit() and _parent(p) == os.getpid() and _state(p) == "T"]

    assert not left()


def _parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return int(file.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


# The cost of many properties is linear: counted in solver's work and in calls, not by a clock.


def many(number, size, *, hard=False):
    """Properties of counters, so many of each counter; and one that nobody decides."""
    go, x, y = extern("go", Bool), extern("x", Int), extern("y", Int)
    spec = Spec("many")
    if hard:
        spec.prop("hard", x * x * x + y * y * y != 114)
    for i in range(number // size):
        n = stream(Int, lambda n, i=i: [0] + +mux(go & (n < 5 + i), n + 1, n))
        for j in range(size):
            spec.prop(f"{i}.{j}", n <= 5 + i + j)
    return flatten(spec)


def calls_of(function):
    """The number of calls of Python functions, and of values that generators made."""
    calls = 0

    def hear(frame, event, arg):
        nonlocal calls
        calls += event == "call"

    sys.setprofile(hear)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize("size", [1, 10])
def test_many_easy_properties_are_proved_in_the_first_turns_with_linear_work(size):
    def work(number, *, hard):
        system = views(many(number, size, hard=hard))[0].system
        turns = workers.Turns(lambda: build(("bmc", "k-induction")), Task(system, patience=500_000))
        began, proved = turns._work_done(), set()
        for _ in range(3 + 3 * number // size // workers.MOST_EARLY):  # clusters begin in groups
            turns.round(lambda _, event: proved.add(event.prop) if isinstance(event, Proved) else None)
        assert len(proved) == number
        return turns._work_done() - began

    few, lots = work(50, hard=False), work(200, hard=False)
    assert lots <= 6 * few
    assert work(200, hard=True) - lots <= 20 * 500_000  # what the hard one may cost does not grow with the others


def test_clusters_take_calls_in_proportion_to_their_number():
    small, large = (views(many(number, 1))[0].system for number in (50, 200))
    assert calls_of(lambda: clusters(large)) <= 6 * calls_of(lambda: clusters(small))


def test_a_check_goes_through_the_cone_of_its_certificate_and_not_through_the_specification():
    def check(number):
        problem = many(number, 1)
        checker, (view, *_) = Checker(problem), views(problem)
        claim = view.system.properties[0]
        proof = view.back(Certificate("inductive", 1, (claim.term,)))
        assert checker.check(claim.name, proof) is None  # what is loaded once is there
        again = Checker(problem)
        return calls_of(lambda: again.check(claim.name, proof))

    assert check(200) <= 2 * check(50)


class Asked(Solver):
    """A solver that remembers its patience at each query about a goal, and never answers one."""

    patiences: ClassVar[list[float]] = []

    def check(self, *assumed, share=1.0):
        Asked.patiences.append(self.patience * share)
        self.reason = "a query took too long"


class AskedInduction(KInduction):
    def new_solver(self, patience):
        return Asked(patience)


def test_the_first_query_of_induction_has_a_share_of_the_patience():
    """So other properties have their turns before a hard one has used all of it."""
    n = stream(Int, lambda n: [0] + +(n + 1))
    spec = Spec("one")
    spec.prop("hard", n >= 0)
    Asked.patiences.clear()
    (part,) = clusters(views(flatten(spec))[0].system)
    events = AskedInduction().run(Task(part, patience=800), list)
    depths = [event.depth for event in islice(events, 12) if isinstance(event, Progress)]
    assert depths == [1, 1, 1, 1] and Asked.patiences[::2] == [200, 400, 800, 1600]  # plain, then compressed


def test_work_on_bits_counts_more():
    """z3's own count is lower for them in the same time."""
    a, b = (variable(name, machine(16, signed=False)) for name in "ab")
    product = term("add", term("mul", term("floordiv", a, b), b), term("mod", a, b))
    solver, work = Solver(patience=4_000_000), work_done()
    assert solver.check(term("ne", product, a), term("ne", b, constant(b.type, 0))) is None
    assert 500_000 < work_done() - work < 2_000_000
