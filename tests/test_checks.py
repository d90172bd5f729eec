"""Proofs on their way to the checker: the order, budgets, and what becomes of checks that do not end."""

from __future__ import annotations

import os
import select
import time
from functools import partial
from types import SimpleNamespace

import pytest

from streamcheck.certify import judge
from streamcheck.certify.runs import Runs
from streamcheck.core.term import term, variable
from streamcheck.core.types import BOOL, INT
from streamcheck.problem.verdict import Certificate, Proved
from streamcheck.run import checks
from streamcheck.run.checks import Checks, Proof
from streamcheck.run.child import Child

VIEW, WORKER = SimpleNamespace(), SimpleNamespace()


def proof(prop, kind="inductive", k=1, size=1):
    certificate = Certificate(kind, k, tuple(variable(f"{prop}{i}", BOOL) for i in range(size)))
    return Proof(VIEW, "engine", Proved(prop, certificate), certificate, WORKER)


def serve(channel):
    """A checker that never comes back from a property called "slow", takes a fifth of a second of its processor for
    "lasting", dies of "deadly", and refuses "wrong"."""
    while True:
        request = channel.receive(None)
        began = time.process_time()
        while request["prop"].startswith("lasting") and time.process_time() - began < 0.2:
            pass
        while request["prop"].startswith("slow"):
            pass
        if request["prop"] == "deadly":
            os._exit(3)
        wrong = request["prop"] == "wrong"
        reason = {"why": "no", "undecided": False} if wrong else {}
        channel.send({"id": request["id"], "accepted": not wrong, **reason})


@pytest.fixture
def made(monkeypatch):
    monkeypatch.setattr(checks, "BUDGETS", (0.05, 0.1, 100.0))
    deaths, running = [], []

    def make(most):
        running.append(Checks(lambda: Child(serve), most, deaths))
        running[-1].begin(None)
        return running[-1]

    yield make, deaths
    for one in running:
        for checker in one.checkers:
            checker.child.end()


def outcomes(queue, number, seconds=10.0):
    """The first answers, in order."""
    answers, until = [], time.monotonic() + seconds
    while len(answers) < number and time.monotonic() < until:
        ends = {c.child.channel.read: c for c in queue.checkers}
        for fd in select.select(list(ends), [], [], 0.01)[0]:
            answers += queue.answers(ends[fd])
        queue.dispatch()
    return [(a.proof.proved.prop, a.rejected) for a in answers]


def test_the_cheapest_proof_is_checked_first(made):
    queue = made[0](1)
    queue.add(proof("first"))  # the checker is free
    for one in (proof("compressed", "compressed"), proof("deep", k=6), proof("large", size=9), proof("small", size=2)):
        queue.add(one)
    assert [prop for prop, _ in outcomes(queue, 5)] == ["first", "small", "large", "deep", "compressed"]
    assert not queue.are_pending


def test_a_check_that_lasts_gives_way_and_is_tried_again(made):
    make, deaths = made
    queue = make(1)
    slow = proof("slow")
    queue.add(slow)
    for name in "abc":
        queue.add(proof(name))
    assert [prop for prop, _ in outcomes(queue, 3)] == ["a", "b", "c"]
    assert slow.tries == 1 and queue.are_pending and list(queue.proofs_of("slow")) == [slow] and not deaths
    queue.drop("slow")
    queue.add(proof("d"))
    assert outcomes(queue, 1) == [("d", None)]


def test_a_check_that_gave_way_goes_on_where_it_was(made):
    queue = made[0](1)
    lasting = [proof(f"lasting {i}") for i in range(3)]
    for one in (*lasting, proof("quick", k=2)):
        queue.add(one)
    done = outcomes(queue, 4)
    assert done[0] == ("quick", None) and sorted(done[1:]) == [(f"lasting {i}", None) for i in range(3)]
    assert all(p.tries and not p.spent for p in lasting)  # no check began again
    assert len(queue.checkers) == 1


def test_of_many_checks_that_give_way_only_some_are_kept(made, monkeypatch):
    monkeypatch.setattr(checks, "MOST_PAUSED", 1)
    queue = made[0](1)
    for name in ("slow a", "slow b", "slow c", "quick"):
        queue.add(proof(name))
    assert outcomes(queue, 1) == [("quick", None)]
    assert sum(c.paused for c in queue.checkers) <= 1 and len(queue.checkers) <= 2
    for name in ("slow a", "slow b", "slow c"):
        queue.add(proof(f"after {name}"))
        queue.drop(name)
    assert len(outcomes(queue, 3)) == 3 and not queue.are_pending


def test_another_checker_starts_beside_a_slow_one(made, monkeypatch):
    monkeypatch.setattr(checks, "BUDGETS", (100.0,))
    queue = made[0](2)
    queue.add(proof("slow"))
    time.sleep(2 * checks.SLOW)
    queue.add(proof("a"))
    assert outcomes(queue, 1) == [("a", None)] and len(queue.checkers) == 2


def test_evidence_of_several_properties_is_checked_by_one_checker(made, monkeypatch):
    monkeypatch.setattr(checks, "SLOW", 0.0)
    queue = made[0](3)
    shared = proof("a")
    others = [Proof(VIEW, "engine", Proved(n, shared.proved.certificate), shared.evidence, WORKER) for n in "bc"]
    for one in (shared, *others, proof("d")):
        queue.add(one)
    assert sorted(outcomes(queue, 4)) == [(name, None) for name in "abcd"]
    assert sum(id(shared.evidence) in c.known for c in queue.checkers) == 1


def test_of_several_free_checkers_the_one_that_has_judged_the_evidence_is_asked_again(made, monkeypatch):
    monkeypatch.setattr(checks, "SLOW", 0.0)
    queue = made[0](2)
    first, second = proof("lasting"), proof("b")
    for one in (first, second):
        queue.add(one)
    assert len(outcomes(queue, 2)) == 2 and [id(first.evidence) in c.known for c in queue.checkers] == [True, False]
    for one in (first, second):
        queue.add(Proof(VIEW, "engine", Proved("other", one.evidence), one.evidence, WORKER))
        assert outcomes(queue, 1) == [("other", None)]
    assert [len(c.known) for c in queue.checkers] == [1, 1]


def test_other_properties_of_the_same_evidence_do_not_end_its_check(made):
    queue = made[0](1)
    slow = proof("slow")
    queue.add(slow)
    queue.add(Proof(VIEW, "engine", Proved("b", slow.proved.certificate), slow.evidence, WORKER))
    assert outcomes(queue, 1, seconds=0.5) == [] and slow.tries == 0  # nothing else waits
    queue.add(proof("c"))
    assert outcomes(queue, 1) == [("c", None)]
    assert slow.tries == 1 and all(p.tries == 1 for p in queue.proofs_of("b"))


def test_what_is_proved_needs_no_other_proof(made):
    queue = made[0](1)
    queue.add(proof("a"))
    queue.add(proof("b", k=2))
    queue.add(proof("c"))
    queue.drop("b")
    assert [prop for prop, _ in outcomes(queue, 2)] == ["a", "c"] and not queue.are_pending


def test_a_check_that_lasts_ends_once_another_proof_is_accepted(made):
    queue = made[0](2)
    slow = proof("slow")
    queue.add(slow)
    (checker,) = queue.checkers
    queue.drop("slow")
    assert queue.checkers == [checker] and queue.are_pending  # it may be done in a moment
    until = time.monotonic() + 10
    while checker.time_used < checks.BUDGETS[0] and time.monotonic() < until:
        time.sleep(0.01)
    other = Proof(VIEW, "engine", Proved("other", slow.evidence), slow.evidence, WORKER)
    queue.add(other)
    queue.drop("slow")
    assert queue.checkers == [checker]  # for the other property
    queue.drop("other")
    queue.drop("slow")
    assert not queue.checkers and not queue.are_pending and queue.processor_time() >= checks.BUDGETS[0]
    queue.add(proof("a"))
    assert outcomes(queue, 1) == [("a", None)]


def test_a_checker_that_dies_leaves_its_proof_undecided_and_others_go_on(made):
    make, deaths = made
    queue = make(1)
    queue.add(proof("deadly"))
    queue.add(proof("wrong"))
    queue.add(proof("fine", k=2))
    assert outcomes(queue, 3) == [("deadly", "the checker died"), ("wrong", "no"), ("fine", None)]
    (death,) = deaths
    assert death.startswith("the checker died (")


def test_cheap_proofs():
    assert proof("a").is_cheap and proof("a", k=3, size=100).is_cheap
    assert not any(p.is_cheap for p in (proof("a", "compressed"), proof("a", k=4), proof("a", size=101)))


def test_a_checker_that_was_ended_since_it_was_heard_has_no_answers(made):
    """Two answer at once, and the first answer makes the check of the second needless."""
    make, deaths = made
    queue = make(2)
    for each in (proof("slow", k=1), proof("slow", k=2), proof("fine")):
        queue.add(each)
    queue.dispatch()
    busy = next(c for c in queue.checkers if c.proof is not None)
    queue.drop("slow")
    assert busy not in queue.checkers
    assert list(queue.answers(busy)) == [] and deaths == []


def test_how_a_child_ended_is_known_though_its_channel_ended_first():
    def work(channel):
        os.close(channel.read)
        os.close(channel.write)
        time.sleep(0.1)  # what the system may need to take the process down
        os._exit(3)

    child = Child(work)
    select.select([child.channel.read], [], [], 5.0)
    assert child.end(silent=True) == "ended with status 3"


# A condition that is too much for the solvers is judged in parts.


def judged_in_parts(monkeypatch, *answers):
    """What becomes of a condition that no quick attempt decides and whose parts have these answers by the second
    solver; and who was asked."""
    asked = []

    def attempts(runs, query, prover):
        def answer(solver, value):
            asked.append((query, solver))
            return value

        value = None if query == "whole" else answers[int(query)]
        for solver, seconds, said in (("first", 0.5, None), ("second", 0.5, value), ("patient", 300.0, True)):
            yield judge.Attempt(solver, partial(answer, solver, said), seconds)

    monkeypatch.setattr(judge, "_attempts", attempts)
    parts = [str(i) for i in range(len(answers))]
    return judge.judge("the step case", None, "whole", "z3", parts), asked


def test_a_condition_that_no_quick_attempt_decides_is_judged_in_parts(monkeypatch):
    rejected, asked = judged_in_parts(monkeypatch, True, True, True)
    assert rejected is None
    assert asked[:2] == [("whole", "first"), ("whole", "second")]
    assert asked[2:4] == [("0", "first"), ("0", "second")]
    assert asked[4:] == [("1", "second"), ("2", "second")]  # the solver that decided goes first


def test_a_long_attempt_of_the_solver_that_decided_before_waits_for_short_ones_of_others(monkeypatch):
    asked = []

    def attempts(runs, query, prover):
        def answer(name, value):
            asked.append((query, name))
            return value

        yield judge.Attempt("first", partial(answer, "first", query == "0" or None), 0.5)
        yield judge.Attempt("second", partial(answer, "second", True if query in ("1", "2") else None), 0.5)
        yield judge.Attempt("first", partial(answer, "first, for minutes", True), 300.0)

    monkeypatch.setattr(judge, "_attempts", attempts)
    assert judge.judge("the step case", None, "whole", "z3", ["0", "1", "2"]) is None
    assert asked[2:] == [("0", "first"), ("1", "first"), ("1", "second"), ("2", "second")]


def test_one_part_that_does_not_hold_refutes_the_condition(monkeypatch):
    rejected, asked = judged_in_parts(monkeypatch, True, False, True)
    assert not rejected.undecided and "part 2 of 3" in rejected.why
    assert ("2", "second") not in asked


def test_a_condition_of_one_part_has_all_attempts(monkeypatch):
    rejected, asked = judged_in_parts(monkeypatch, True)
    assert rejected is None and asked == [("whole", "first"), ("whole", "second"), ("whole", "patient")]


def test_parts_are_judged_in_lots_and_one_by_one_where_a_lot_is_undecided(monkeypatch):
    asked = []

    def attempts(runs, query, prover):
        asked.append(query)
        is_patient = query in ("whole", "lot 1")
        yield judge.Attempt("quick", lambda: None if is_patient else True, 0.5)
        yield judge.Attempt("patient", lambda: True, 300.0)

    monkeypatch.setattr(judge, "_attempts", attempts)
    parts = [str(i) for i in range(2 * judge.LOT + 1)]
    assert judge.judge("the step case", None, "whole", "z3", parts, ["lot 0", "lot 1", "lot 2"]) is None
    one_by_one = parts[judge.LOT : 2 * judge.LOT]
    assert asked == ["whole", "lot 0", "lot 1", *one_by_one, "lot 2"]


def test_a_lot_that_does_not_hold_refutes_nothing_by_itself(monkeypatch):
    """Each of its parts is asked: the message names the one."""

    def attempts(runs, query, prover):
        yield judge.Attempt("quick", lambda: {"whole": None, "lot 0": False, "3": False}.get(query, True), 0.5)

    monkeypatch.setattr(judge, "_attempts", attempts)
    parts = [str(i) for i in range(2 * judge.LOT)]
    rejected = judge.judge("the step case", None, "whole", "z3", parts, ["lot 0", "lot 1"])
    assert not rejected.undecided and "part 4 of 32" in rejected.why


def test_a_property_is_worked_on_again_once_each_of_its_proofs_has_been_checked_for_long(made, monkeypatch):
    monkeypatch.setattr(checks, "LONG", 0.02)
    make, _ = made
    queue = make(1)
    slow, waiting = proof("slow"), proof("waiting")
    queue.add(slow)
    queue.add(Proof(VIEW, "engine", Proved("same", slow.evidence), slow.evidence, WORKER))
    queue.add(waiting)
    until = time.monotonic() + 10
    while queue.checkers[0].time_used < 0.03 and time.monotonic() < until:
        time.sleep(0.01)
    assert queue.slow({"slow", "same", "waiting"}) == {"slow", "same"}  # of the same evidence
    queue.add(proof("slow", size=2))
    assert not queue.slow({"slow"})  # another proof of it may be quick


def test_a_check_may_last_as_long_as_it_took_to_find_the_proof(made, monkeypatch):
    monkeypatch.setattr(checks, "LONG", 0.02)
    monkeypatch.setattr(checks, "MOST_PAUSED", 0)
    make, _ = made
    queue = make(1)
    dear = proof("slow")
    dear.cost = 0.2
    queue.add(dear)
    queue.add(proof("slow waits"))  # so that tries end at their budgets
    until = time.monotonic() + 10
    while dear.spent == 0.0 and time.monotonic() < until:
        queue.dispatch()
        time.sleep(0.01)
    assert dear.tries == 1 and 0.02 < dear.spent < 0.2
    assert not queue.slow({"slow"})
    dear.spent = 0.21
    assert queue.slow({"slow"})


def test_limits_of_solvers_are_their_work_not_the_clock(monkeypatch):
    monkeypatch.setattr(judge, "AT_NUMBERS", (({}, 0.25), (judge.SAT_DECIDES, 1.0)))
    given = []

    def cvc5(text, seconds, options, work):
        given.append((seconds, work, options))

    monkeypatch.setattr(judge, "cvc5", cvc5)
    whole = variable("whole", INT)
    runs = Runs((), (whole,), (), ())

    def query(script):
        script.start(initial=False)
        script.require(script.symbol(term("lt", whole, whole), 0))

    assert judge.judge("the condition", runs, query, "z3").undecided
    assert [(work, options) for _, work, options in given] == [(62_500, {}), (250_000, judge.SAT_DECIDES)]
    assert all(seconds > 4 * work / judge.RATE for seconds, work, _ in given)
