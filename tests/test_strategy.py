"""Which engines run when: each alone from the command, all in turns, and what that does to the answers."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import pytest
from test_command import streamcheck
from test_prove import LATE, counter_equations, spec_file, verdicts

from streamcheck.engines.bmc import Bmc
from streamcheck.engines.protocol import Progress, Task, TrueUpTo
from streamcheck.run import workers
from streamcheck.run.child import HEAD, Child
from streamcheck.run.director import Director
from streamcheck.run.prove import Settings, prove
from streamcheck.run.registry import ENGINES, EngineEntry, build
from streamcheck.run.strategy import FIRST, QUICK, Lane, Schedule, again
from streamcheck.run.worker import Worker
from streamcheck.transform.views import views

__all__ = ["spec_file"]


def told(answer):
    """What an answer says, but for the time it took."""
    rows = [{key: value for key, value in row.items() if key != "seconds"} for row in answer["properties"]]
    return sorted(rows, key=lambda row: row["name"])


@pytest.mark.parametrize("name", ["sums", "growing_sum", "never_zero::unbounded", "period_counter"])
def test_deterministic_answers_are_the_same_every_time(name, tmp_path):
    stem, _, spec = name.partition("::")
    path = f"specs/{stem}.py" + (f"::{spec}" if spec else "")
    answers, proofs = [], []
    for attempt in ("one", "two"):
        _, answer = verdicts(path, "--deterministic", "--certificates", tmp_path / attempt)
        for row in answer["properties"]:
            proofs.append((attempt, row["name"], Path(row.pop("certificate")).read_text()))
        answers.append(told(answer))
    assert answers[0] == answers[1]
    assert [p[1:] for p in proofs if p[0] == "one"] == [p[1:] for p in proofs if p[0] == "two"]
    _, usual = verdicts(path)
    assert [row["verdict"] for row in told(usual)] == [row["verdict"] for row in answers[0]]


def test_one_processor_has_all_engines_too():
    status, answer = verdicts("specs/sums.py", "--jobs", "1")
    assert status == 0, answer


@pytest.mark.parametrize("engine", ["ic3", "predicates", "predicates-path", "spacer", "templates"])
def test_each_engine_from_the_command_with_a_certificate_that_check_accepts(engine, tmp_path):
    status, answer = verdicts("specs/growing_sum.py", "--engine", engine, "--certificates", tmp_path)
    assert status == 0 and {row["engine"] for row in answer["properties"]} == {engine}
    done = streamcheck("check", *(row["certificate"] for row in answer["properties"]))
    assert done.returncode == 0, done.stdout + done.stderr


def test_one_property_more_takes_nothing_from_the_others(spec_file):
    easy = """
x = stream(Int, lambda x: [1] ++ (1 + x))
y = stream(Int, lambda y: [1] ++ (x + y))
spec = Spec("s")
spec.prop("nonzero", x != 0)
spec.prop("positive", y >= 1)
"""
    hard = LATE.replace("x =", "z =").replace("x:", "z:").replace("* x", "* z").split("spec = ")[0]
    hard += easy + 'spec.prop("late", z != 5)\nspec.prop("cubes", x * x * x + y * y * y != 114 + z * z * z)\n'
    _, alone = verdicts(spec_file(easy))
    _, beside = verdicts(spec_file(hard), "--timeout", "10")
    assert {row["verdict"] for row in alone["properties"]} == {"proved"}
    rows = {row["name"]: row["verdict"] for row in beside["properties"]}
    assert rows["nonzero"] == rows["positive"] == "proved"


def test_a_deep_violation_is_shown_as_the_shortest_or_said_not_to_be(spec_file):
    path = spec_file('n = stream(Int, lambda n: [0] ++ (n + 1))\nspec = Spec("s")\nspec.prop("p", n != 30)\n')
    _, answer = verdicts(path, "--engine", "ic3")
    run = answer["properties"][0]["counterexample"]
    assert run["length"] == 31 and run["shortest"] is False  # nobody looked for a shorter one
    _, answer = verdicts(path, "--deterministic")
    assert answer["properties"][0]["counterexample"]["shortest"] is True


class OnlyBits:
    """Decides over bit-vectors what it only waits for over Int."""

    name = "liar"

    def run(self, problem, inbox):
        from streamcheck.engines.bmc import Bmc
        from streamcheck.engines.protocol import Waiting

        if any(s.var.type.kind == "integer" for s in problem.system.state):
            inbox()
            yield Waiting()
        else:
            yield from Bmc().run(problem, inbox)


def test_an_engine_that_waits_does_not_keep_the_other_model_from_its_turn(monkeypatch):
    monkeypatch.setitem(ENGINES, "liar", EngineEntry("liar", "waits over Int", "waiting", lambda _: OnlyBits()))
    answer = prove(counter_equations(), Settings(engines=["liar"], timeout=10))
    assert {r.name: (r.verdict, r.model) for r in answer.results}["ok"] == ("falsified", "bits")


class Listens:
    """Waits for ever, whatever it is told."""

    name = "liar"

    def run(self, problem, inbox):
        from streamcheck.engines.protocol import Waiting

        while True:
            inbox()
            yield Waiting()


def test_a_worker_is_idle_only_after_the_last_fact_that_was_posted(monkeypatch):
    """It says that it waits while a fact for it is on its way: it still has something to do."""
    monkeypatch.setitem(ENGINES, "liar", EngineEntry("liar", "waits", "waiting", lambda _: Listens()))
    problem = counter_equations()
    system, (lane,) = views(problem)[0], Schedule(views(problem), 1, ["liar"], deterministic=True).every
    director = Director(problem, views(problem), 10.0, 1)
    child = Child(lambda channel: workers.work(lambda: [Listens()], Task(system.system), channel, ()))
    try:
        assert child.channel.receive(5) == {"idle": 0}
        worker = Worker(1, lane, system, child, 0.0, 0.0, set())
        director._tell([worker], TrueUpTo("ok", 3))
        assert child.channel.receive(5) == {"idle": 1}
        for after, idle in ((0, False), (1, True)):
            child.channel._buffer += record_of(child, {"idle": after})
            director._drain(worker)
            assert worker.idle is idle
    finally:
        child.end()


class Clock:
    """A child that has used so much processor time."""

    alive = True

    def __init__(self, used):
        self.used = used

    def processor_time(self):
        return self.used


def test_further_workers_start_by_the_work_of_those_before_and_not_by_the_clock():
    """On a busy machine the clock would start all of them before the first has had its time."""
    problem = counter_equations()
    director = Director(problem, views(problem), 10.0, 2)
    director._plan = Schedule(views(problem), 2)
    (first,) = director._plan.waiting
    assert director._next_start() == first.after == 0.0 and first.engines == FIRST
    director._plan.waiting.pop(0)
    director._began -= 100  # long ago
    clock = Clock(2.0)
    worker = Worker(1, first, views(problem)[0], clock, 0.0, used_before=2.0, unsettled=set())
    director.workers.append(worker)
    assert director._next_start() > director.elapsed
    clock.used += 2 * QUICK
    assert director._next_start() == 0.0
    director._last_proof, director._work_then = director.elapsed, director._work()
    assert director._next_start() > director.elapsed  # proofs are coming in
    worker.idle, director._last_proof = True, director.elapsed - 2 * QUICK
    assert director._next_start() <= director.elapsed  # nobody works


def record_of(child, value):
    data = json.dumps(value).encode()
    return HEAD.pack(child.channel.token, len(data)) + data


def test_claims_that_are_open_again_wait_for_the_turns_of_their_engines():
    lanes = [Lane((name,), "integers", frozenset("abc"), after) for name, after in (("bmc", 0.0), ("ic3", 0.15))]
    waiting = [Lane(("spacer",), "integers", frozenset("abc"), 0.1)]
    first = again(waiting, [*lanes, *waiting], {"a"})
    assert [(lane.engines, lane.claims) for lane in first] == [
        (("bmc",), {"a"}), (("spacer",), set("abc")), (("ic3",), {"a"})
    ]  # fmt: skip
    second = again(first, [*lanes, *waiting], {"b", "z"})
    assert [set(lane.claims) for lane in second] == [set("ab"), set("abc"), set("ab")]


def test_bounded_model_checking_gets_a_process_of_its_own_where_there_are_two_processors():
    def engines(jobs):
        lanes = Schedule(views(counter_equations()), jobs).every
        return [lane.engines for lane in lanes if "bmc" in lane.engines and lane.model == lanes[0].model]

    assert engines(2) == [("bmc", "k-induction", "completeness"), ("bmc",)]
    assert ("bmc",) not in engines(1)


def test_the_first_worker_goes_on_without_an_engine_that_leaves():
    problem = Task(views(counter_equations())[0].system, patience=None)
    turns = workers.Turns(lambda: build(FIRST), problem)
    turns.leave("bmc")
    assert {one.row.name for one in turns.running} == {"k-induction", "completeness"}
    sent = []
    for _ in range(5):
        turns.round(lambda engine, event: sent.append(engine))
    assert "bmc" not in sent and "k-induction" in sent


def test_an_engine_may_leave_while_it_listens():
    class Ending:
        name = "bmc"

        def run(self, problem, inbox):
            yield Progress(0)
            inbox()

    problem, sent = Task(views(counter_equations())[0].system, patience=None), []
    turns = workers.Turns(lambda: [Ending()], problem, listen=lambda: turns.leave("bmc"))
    for _ in range(2):
        turns.round(lambda engine, event: sent.append(event))
    assert sent == [Progress(0)] and not turns.running


def test_bounded_model_checking_does_not_ask_again_what_is_known():
    """With the fact that a property holds up to a step, it is asserted and not asked about."""
    system = views(counter_equations())[0].system
    name = system.properties[0].name

    def events(facts):
        box = list(facts)

        def inbox():
            known = list(box)
            box.clear()
            return known

        run = Bmc().run(Task(system, patience=None), inbox)
        return list(islice((e for e in run if isinstance(e, TrueUpTo)), 3))

    assert [e.k for e in events([])] == [0, 1, 2]
    assert [e.k for e in events([TrueUpTo(name, 4)])] == [5, 6, 7]
