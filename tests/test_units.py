"""Units of work: messages, answers, what runs them on this machine, and what is believed of an answer."""

from __future__ import annotations

import os
import re
import sys
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest
from cluster import below, processes, wait_until

from streamcheck import *
from streamcheck import load
from streamcheck.core.errors import SpecError
from streamcheck.engines.protocol import Task
from streamcheck.lang.flatten import flatten
from streamcheck.run.prove import Settings, prove
from streamcheck.scale.broker import Broker, Wanted
from streamcheck.scale.crew import with_crew
from streamcheck.scale.pools import Answered, ExecutorPool, LostUnit, PlaceCount
from streamcheck.scale.units import (
    FORMAT,
    MOST_PROBLEMS,
    Damaged,
    Recent,
    answer_of,
    compact,
    open_sealed,
    problem_message,
    seal,
)
from streamcheck.scale.work import HOSTS, run_unit
from streamcheck.transform.views import views

PAGE = Path(__file__).parents[1] / "docs" / "scale.md"

def small():
    n = stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, 0))
    spec = Spec("small")
    spec.prop("bounded", n < 10)
    spec.prop("wrong", n < 5)
    return spec


def verdicts(results):
    return {r.name: (r.verdict, r.k) for r in results}


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor(kind):
    before = below(os.getpid())
    with kind(2) as executor:
        there = small().prove(on=executor)
    assert verdicts(there) == verdicts(small().prove())
    wait_until(lambda: not below(os.getpid()) - before, 5)  # nothing is left running


def test_the_executor_of_the_page(monkeypatch):
    """That for ray in docs/scale.md, with a stand-in that has the four names of ray in it."""
    with ThreadPoolExecutor(2) as threads:

        def remote(*, max_retries):
            assert max_retries == 0  # the broker begins lost units again
            return lambda function: SimpleNamespace(remote=lambda *args: started(threads.submit(function, *args)))

        def started(future):
            return SimpleNamespace(future=lambda: future)

        ray = SimpleNamespace(remote=remote, cluster_resources=lambda: {"CPU": 2.0, "memory": 1e9})
        monkeypatch.setitem(sys.modules, "ray", ray)
        (text,) = re.findall(r"^```py\n(.*?)^```$", PAGE.read_text(), re.S | re.M)
        shown = {}
        exec(text, shown)
        executor = shown["RayExecutor"]()
        assert ExecutorPool(executor).messages() == [PlaceCount(2)]
        assert verdicts(small().prove(on=executor)) == verdicts(small().prove())


def test_programs_too(tmp_path):
    path = tmp_path / "loop.c"
    path.write_text(
        "extern void reach_error(void);\n"
        "int main(void) { int i = 0; while (i < 7) i++; if (i != 7) reach_error(); return 0; }\n"
    )
    with ThreadPoolExecutor(1) as executor:
        assert {r.name: r.verdict for r in load(path).prove(on=executor)} == {
            r.name: r.verdict for r in load(path).prove()
        }


def test_the_two_ways_exclude_each_other():
    with ThreadPoolExecutor(1) as executor, pytest.raises(SpecError, match="one worker of this machine"):
        small().prove(on=executor, deterministic=True)


class Answering:
    """An executor that does something to each answer."""

    def __init__(self, change):
        self.change, self.count = change, 0

    def submit(self, function, *args):
        self.count += 1
        future = Future()
        try:
            future.set_result(self.change(function(*args), self.count))
        except Exception as error:
            future.set_exception(error)
        return future


def prove_through(change, spec=None, seconds=20.0):
    broker = Broker(ExecutorPool(Answering(change)))
    broker.note = lambda text: None
    try:
        return prove(flatten(spec or small()), with_crew(Settings(seconds), broker, "small")), broker
    finally:
        broker.close()


def test_an_answer_that_was_cut_is_asked_for_again():
    found, broker = prove_through(lambda data, n: data[: len(data) // 2] if n == 1 else data)
    assert verdicts(found.results) == verdicts(small().prove()) and broker.lost == 1


def test_an_answer_that_was_changed_is_asked_for_again():
    found, broker = prove_through(lambda data, n: data[:30] + b"x" + data[31:] if n == 1 else data)
    assert verdicts(found.results) == verdicts(small().prove()) and broker.lost == 1


def test_a_unit_that_ends_its_workers_has_failed():
    def die(data, n):
        raise OSError("the worker died")

    found, _ = prove_through(die)
    assert {r.verdict for r in found.results} == {"unknown"}
    assert "its worker was lost 4 times" in str(found.results[0].reasons)


def test_no_proof_is_believed_as_sent():
    """A worker that says of everything that it is proved, with no more than the claim as invariant."""

    def lie(data, n):
        answer = answer_of(data)
        proofs = [row for row in answer["rows"] if "proved" in row]
        lies = [{**row, "prop": "wrong"} for row in proofs]
        return seal({**answer, "rows": lies})

    found, _ = prove_through(lie, seconds=4.0)
    assert {r.name: r.verdict for r in found.results}["wrong"] != "proved"


@pytest.mark.parametrize(
    "change",
    [
        {"rows": [7]},
        {"rows": [{"engine": "bmc", "proved": {}}]},
        {"rows": [{"engine": "bmc", "falsified": {}, "prop": []}]},
        {"spent": -1.0},
        {"spent": float("nan")},
        {"heard": -1},
    ],
)
def test_an_answer_of_another_form_is_asked_for_again(change):
    lie = lambda data, n: seal({**answer_of(data), **change}) if n == 1 else data
    found, broker = prove_through(lie)
    assert verdicts(found.results) == verdicts(small().prove()) and broker.lost == 1


@pytest.mark.parametrize("change", [{"prop": "another"}, {"engine": "another"}])
def test_a_proof_of_what_there_is_not_ends_no_checker(change, capfd):
    """It ended in a traceback of the checker, or of the command."""

    def lie(data, n):
        answer = answer_of(data)
        return seal({**answer, "rows": [{**row, **change} if "proved" in row else row for row in answer["rows"]]})

    found, _ = prove_through(lie, seconds=4.0)
    assert {r.name: r.verdict for r in found.results}["bounded"] == "unknown"
    assert "Traceback" not in capfd.readouterr().err


def test_no_violation_is_believed_as_sent():
    def lie(data, n):
        answer = answer_of(data)
        runs = [{**row, "prop": "bounded"} for row in answer["rows"] if "falsified" in row]
        return seal({**answer, "rows": runs})

    found, _ = prove_through(lie, seconds=4.0)
    assert {r.name: r.verdict for r in found.results}["bounded"] != "falsified"
    assert any("does not replay" in alarm for alarm in found.alarms)


def endless(name):
    """A problem, and a unit of it that no budget ends."""
    n, spec = stream(Int, lambda n: [0] + +(n + 1)), Spec(name)
    spec.prop(name, n < 10**9)
    row = {"format": FORMAT, "key": name, "engines": ["bmc"], "options": {}, "claims": [name], "patience": None,
           "known": [], "new": [], "facts": 0, "leave": [], "budget": 0.05, "memory": None}  # fmt: skip
    return problem_message(Task(views(flatten(spec))[0].system)), row


def test_units_of_many_specs_take_turns_on_a_host():
    """Each goes on where it was, and none is begun anew because another one was there meanwhile."""
    units = [endless(f"n{i}") for i in range(3)]
    solvers = []
    try:
        for _ in range(3):
            answers = [answer_of(run_unit(problem, seal(row))) for problem, row in units]
            assert [a["state"] for a in answers] == ["open"] * 3
            (host,) = {pid for pid, _, _, command in processes() if "scale.host" in command} & below(os.getpid()) - {
                child for pid in below(os.getpid()) for child in below(pid)
            }
            solvers.append(below(host))
        assert len(solvers[0]) == 3 and solvers[0] == solvers[1] == solvers[2]
    finally:
        HOSTS.end()


def test_a_host_has_the_problems_that_its_worker_thinks_it_has():
    """Also after more of them than it keeps: then the first one is sent again."""
    units = [endless(f"n{i}") for i in range(MOST_PROBLEMS + 2)]
    try:
        for problem, row in [*units, *units[:2], *units]:
            fresh = {**row, "key": f"{row['key']} {os.urandom(4).hex()}"}
            assert answer_of(run_unit(problem, seal(fresh)))["state"] == "open"
    finally:
        HOSTS.end()


def test_recent():
    recent = Recent()
    for i in range(MOST_PROBLEMS + 1):
        recent.use(str(i), i)
    assert "0" not in recent and recent.get("1") == 1
    recent.use("1", 1)
    recent.use("new", 0)
    assert "1" in recent and "2" not in recent


def test_messages():
    assert open_sealed(seal({"a": [1, 2]})) == {"a": [1, 2]}
    for data in (b"", b"x" * 40, seal(1)[:-1], seal(1) + b"x"):
        with pytest.raises(Damaged):
            open_sealed(data)
    with pytest.raises(Damaged):
        answer_of(seal({"state": "open"}))


def test_of_progress_the_last_counts():
    rows = [{"engine": "bmc", "depth": i} for i in range(5)]
    rows += [{"engine": "bmc", "true up to": i, "prop": "p"} for i in range(5)]
    rows += [{"engine": "bmc", "proved": {}, "prop": "q"}]
    assert compact(rows) == [rows[4], rows[9], rows[10]]


def test_another_version_is_refused():
    unit = seal({"key": "k", "format": "streamcheck 0.0.7 units 1"})
    answer = answer_of(run_unit(b"", unit))
    assert answer["state"] == "refused" and "the task is of streamcheck 0.0.7" in answer["why"]
    assert answer_of(run_unit(b"", b"no message"))["state"] == "failed"


class Silent:
    """A pool whose first workers do not answer."""

    def __init__(self, silent):
        self.silent, self.read, self.submitted, self.cancelled = silent, os.pipe()[0], [], []
        self.coming = [PlaceCount(1)]

    def submit(self, key, label, problem, unit, urgency):
        self.submitted.append(key)
        if len(self.submitted) > self.silent:
            rest = {"rows": [], "state": "ended", "spent": 0.1, "heard": 0, "why": ""}
            self.coming.append(Answered(key, seal({"format": "", "key": open_sealed(unit)["key"], **rest})))

    def cancel(self, key, *, overdue=False):
        self.cancelled.append((key, overdue))

    def messages(self):
        coming, self.coming = self.coming, []
        return coming

    def close(self): ...


def test_a_lease_ends():
    now = [0.0]
    pool = Silent(1)
    broker = Broker(pool, clock=lambda: now[0], lease=lambda budget: 10.0)
    broker.want(Wanted("k", "s", "bmc", 1, 0.0, "label", b"", {"key": "k"}))
    assert broker.pump() == [] and len(pool.submitted) == 1
    now[0] = 11.0
    broker.pump()
    assert pool.cancelled == [(pool.submitted[0], True)] and len(pool.submitted) == 2
    pool.coming.append(Answered(pool.submitted[0], b"too late"))
    assert [key for key, _ in broker.pump()] == ["k"]  # once
    assert broker.pump() == []
    broker.drop("k")


def test_what_waits_behind_others_is_not_late():
    now = [0.0]
    pool = Silent(9)
    broker = Broker(pool, clock=lambda: now[0], lease=lambda budget: 10.0)
    for key in "abc":
        broker.want(Wanted(key, key, "bmc", 1, 0.0, key, b"", {"key": key}))
    broker.pump()
    assert len(pool.submitted) == 3
    now[0] = 11.0
    broker.pump()
    assert len(pool.cancelled) == 1


def test_a_dropped_unit_leaves_its_place():
    """The next one's lease begins then, and only then."""
    now = [0.0]
    pool = Silent(9)
    broker = Broker(pool, clock=lambda: now[0], lease=lambda budget: 10.0)
    for key in "ab":
        broker.want(Wanted(key, key, "bmc", 1, 0.0, key, b"", {"key": key}))
    broker.pump()
    first, second = pool.submitted
    now[0] = 9.0
    broker.drop("a")
    broker.pump()
    now[0] = 18.0
    broker.pump()
    assert pool.cancelled == [(first, False)]
    now[0] = 20.0
    broker.pump()
    assert pool.cancelled == [(first, False), (second, True)]


def test_lost_units_come_again():
    pool = Silent(1)
    broker = Broker(pool)
    broker.want(Wanted("k", "s", "bmc", 1, 0.0, "label", b"", {"key": "k"}))
    broker.pump()
    pool.coming.append(LostUnit(pool.submitted[0], "gone", False))
    broker.pump()
    assert [key for key, _ in broker.pump()] == ["k"]
