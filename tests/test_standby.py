"""Processes that were started early: what they are sent, that they work like any other, that none is left over."""

from __future__ import annotations

import json
import os
import time

import pytest

from streamcheck import *
from streamcheck.lang.flatten import flatten
from streamcheck.problem.system_json import system_from_plain, system_to_plain
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target, read
from streamcheck.run.standby import Standby
from streamcheck.transform.vacuity import with_vacuity_tests
from streamcheck.transform.views import views

SPECS = ["specs/engine_monitor.py", "specs/bit_counter.py", "specs/monitors/vote3.py", "specs/monitors/mixed.py"]


@pytest.mark.parametrize("path", SPECS)
def test_a_system_comes_back_from_plain_values(path):
    for equations in read(Target(path, None)):
        for model in views(with_vacuity_tests(equations)):
            system = model.system
            assert system_from_plain(json.loads(json.dumps(system_to_plain(system)))) == system


def two():
    """One property that holds and one that does not."""
    n = stream(Int, lambda n: [0] + +(n + 1))
    spec = Spec("two")
    spec.prop("holds", n >= 0)
    spec.prop("fails", n < 3)
    return flatten(spec)


def is_there(child):
    try:
        os.kill(child.pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_they_work_and_the_next_spec_has_its_own():
    with Standby() as standby:
        checker, worker = standby._checker, standby._worker
        first = prove(two(), Settings(timeout=20), standby=standby)
        assert standby._checker is standby._worker is None and not checker.alive and not worker.alive
        second = prove(two(), Settings(timeout=20), standby=standby)
    alone = prove(two(), Settings(timeout=20))
    told = [[(r.name, r.verdict, r.engine, r.k) for r in v.results] for v in (first, second, alone)]
    assert told[0] == told[1] == told[2] and [r[1] for r in told[0]] == ["proved", "falsified"]


def test_what_nobody_takes_is_ended():
    with Standby() as standby:
        children = standby._checker, standby._worker
        pids = [child.pid for child in children]
        assert all(map(is_there, children))
        answer = prove(two(), Settings(timeout=20, engines=["k-induction"]), standby=standby)
        assert "falsified" in {r.verdict for r in answer.results} and standby._worker is not None
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_system_larger_than_a_pipe_is_sent_without_waiting():
    counters = [stream(Int, lambda n, i=i: [i] + +(n + i)) for i in range(1500)]
    spec = Spec("many")
    spec.prop("grow", all_of([n >= 0 for n in counters]))
    equations = flatten(spec)
    system = views(with_vacuity_tests(equations))[0].system
    size = len(json.dumps(system_to_plain(system)))
    assert size > 2 * 65536
    with Standby() as standby:
        time.sleep(0.5)  # both wait for something to do
        answer = prove(equations, Settings(timeout=30), standby=standby)
    assert [r.verdict for r in answer.results] == ["proved"]
