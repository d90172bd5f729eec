"""Work that grows with a spec grows in proportion. Counted in calls, terms and bytes: the same on every machine."""

from __future__ import annotations

import sys

from streamcheck import *
from streamcheck.engines.protocol import Invariants, Progress, Settled, Task, TrueUpTo
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import Certificate, Proved
from streamcheck.run import workers
from streamcheck.run.concerned import Concerned
from streamcheck.run.registry import build
from streamcheck.transform.reduce import clusters
from streamcheck.transform.views import views


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
