"""Specs with thousands of properties: the work for one event does not grow with their number. Counted, not timed."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from streamcheck import *
from streamcheck.cli.live import Live
from streamcheck.core.term import term, variable
from streamcheck.core.types import BOOL
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate, Proved, Unknown
from streamcheck.run import director, kept
from streamcheck.run.cache import MOST_HELD, Cache
from streamcheck.run.checks import Checks, Proof
from streamcheck.run.decision import Decision
from streamcheck.run.explain import NO_TIME, Explainer
from streamcheck.run.longer_runs import SHORTEN, LongerRuns
from streamcheck.run.prove import Settings, _watcher, prove
from streamcheck.transform.induction import with_any_start


def spec_of(count):
    n = stream(Word8, lambda n: [0] + +mux(n < 100, n + 1, n))
    spec = Spec("many")
    for i in range(count):
        spec.prop(f"p{i}", n != 3 if i % 7 == 0 else n <= 100 + i % 90)
    return flatten(spec)


def proofs(count):
    evidence = Certificate("inductive", 1, (variable("a", BOOL),))
    return [Proof(None, "engine", Proved(f"p{i}", evidence), evidence, SimpleNamespace()) for i in range(count)]


@pytest.fixture
def looked(monkeypatch):
    """The number of proofs whose prices have been looked at."""
    count, price = [0], Proof.price.fget

    def counted(proof):
        count[0] += 1
        return price(proof)

    monkeypatch.setattr(Proof, "price", property(counted))
    return count


class Silent:
    """A checker's process that never answers."""

    def __init__(self):
        self.channel = SimpleNamespace(post=lambda record: None)

    def processor_time(self):
        return 0.0

    def end(self):
        pass


def filled(count):
    queue = Checks(Silent, 1, [])
    queue.begin(None)
    for one in proofs(count):
        queue.add(one)
    return queue


def test_proofs_of_one_certificate_have_one_place_in_the_queue(looked):
    spent = []
    for count in (20, 400):
        queue = filled(count)
        looked[0] = 0
        (checker,) = queue.checkers
        checker.proof = None
        queue.dispatch()
        spent.append(looked[0])
        assert checker.proof is not None and queue.busy == 1
    assert spent[0] == spent[1] <= 2


def test_a_property_that_is_dropped_has_no_proofs_left():
    queue = filled(10)
    assert [*queue.proofs_of("p5")]
    for i in range(10):
        queue.drop(f"p{i}")
        assert i == 0 or not [*queue.proofs_of(f"p{i}")], i
    assert queue.busy == 1 and [p.proved.prop for p in queue.proofs_of("p0")] == ["p0"]  # its check is that of all


def test_violations_are_not_looked_at_before_their_time():
    class Known(dict):
        asked = 0

        def get(self, *args):
            Known.asked += 1
            return dict.get(self, *args)

    runs = LongerRuns(Known(), for_ever=False)
    for i in range(100):
        runs.add(Decision(f"p{i}", "falsified", seconds=1.0 + i, k=5))
    assert not [*runs.due(2 + SHORTEN - 0.1)] and Known.asked == 0
    assert [d.name for d in runs.due_of("p7", 0.0)] == [] and Known.asked == 1
    runs.true_up_to["p7"] = 4
    assert [(d.name, d.shortest) for d in runs.due_of("p7", 0.0)] == [("p7", True)]
    assert [(d.name, d.shortest) for d in runs.due(4 + SHORTEN)] == [("p0", False), ("p1", False)]
    assert not [*runs.due(5 + SHORTEN)] and len(runs.decisions) == 97
    longer = Decision("p9", "falsified", seconds=0.0, k=9)
    runs.add(longer)
    assert runs.decisions["p9"].k == 5
    assert [*LongerRuns({}, {"p9"}, for_ever=True, decisions={"p9": longer}).due_of("p9", 0.0)]
    assert not [*LongerRuns({}, for_ever=True, decisions={"p": longer}).due(1e9)]


def test_a_fact_is_written_once_for_all_workers(monkeypatch):
    written = []
    monkeypatch.setattr(director, "event_to_plain", lambda fact: written.append(fact) or {"settled": fact.prop})
    posted = []
    channel = SimpleNamespace(post_encoded=posted.append)
    listeners = [SimpleNamespace(child=SimpleNamespace(alive=True, channel=channel), posted=0) for _ in range(5)]
    one = director.Director(problem := spec_of(2), (), 1.0, 1)
    one._tell(listeners, director.Settled("p0"))
    assert len(posted) == 5 and len(written) == 1 and all(w.posted == 1 for w in listeners)
    one._tell([], director.Settled("p0"))
    assert len(written) == 1 and problem.properties


def test_each_decision_is_heard_once_and_no_other_claim_is_looked_at():
    problem = spec_of(30)
    heard = []
    audience = SimpleNamespace(hear=lambda result: heard.append(result.name), watch=lambda _: None)
    state = SimpleNamespace(decisions={}, elapsed=0.0, timeout=1.0, rejected={})
    look = _watcher(audience, problem, problem, None, SimpleNamespace(look=lambda _: None), (1.0, 1.0))
    look(state)
    for names in (["p8", "p2", "the first vacuity test"], ["p5"], []):
        state.decisions |= {name: Decision(name, "unknown", unknown=Unknown(name, "no time")) for name in names}
        look(state)
    assert heard == ["p2", "p8", "p5"]


def test_results_are_shown_in_order_or_after_a_while(monkeypatch):
    live, shown = Live.__new__(Live), []
    live._claims, live._fallen, live.hold = dict.fromkeys("abcd"), {}, 2.0

    def show(result):
        del live._claims[result]
        shown.append(result)

    live._show_result = show
    live._fallen = {"c": ("c", 0.0), "a": ("a", 1.0), "d": ("d", 1.5)}
    live._show_fallen(1.9)
    assert shown == ["a"]
    live._show_fallen(2.1)
    assert shown == ["a", "c"]  # b is open, and d came later
    live._fallen["b"] = "b", 2.1
    live._show_fallen(2.1)
    assert shown == ["a", "c", "b", "d"] and not live._fallen


def test_explanations_without_lemmas_need_no_cones(monkeypatch):
    verdicts = prove(spec_of(40), Settings(timeout=0.0))
    assert {r.verdict for r in verdicts.results} == {"unknown"}
    monkeypatch.setattr(Specification, "needed_by", lambda *_: pytest.fail("a cone"))
    explained = Explainer(verdicts.problem, Settings(timeout=0.0), 0.0, []).explain(list(verdicts.results))
    assert {r.explanation.missing for r in explained} == {NO_TIME}


def test_the_cells_of_many_steps_have_short_names():
    """A name is found at once, and not by trying all that others have."""
    claims = [f"p{i}" for i in range(1000)]
    whole = spec_of(1000)
    lemma = term("le", whole.cells[0].var, whole.cells[0].var)
    anywhere = with_any_start(whole, claims, 2, [lemma] * 500)
    names = [c.name for c in anywhere.cells]
    assert len(names) == len(set(names)) == 2 * 1000 + len(whole.cells) and max(map(len, names)) < 12
    assert len({a.name for a in anywhere.assumptions}) == 500


def test_saving_ends_soon_after_the_time_limit(monkeypatch):
    monkeypatch.setattr(kept, "LATE", 0.0)
    saved = []
    keeper = kept.Keeper.__new__(kept.Keeper)
    keeper._keys = {f"p{i}": f"key {i}" for i in range(5)}
    keeper.cache = SimpleNamespace(shortest=set(), add_claim=lambda key, row: saved.append(key), trim=lambda: None)
    keeper.cache.add_proof = lambda row: "digest"
    keeper._names = SimpleNamespace(to_kept=lambda certificate: certificate)
    decisions = [Decision(p.proved.prop, "proved", "k-induction", "bits", found=p.proved) for p in proofs(5)]
    keeper.save(decisions, time.monotonic() - 1)
    assert not saved
    keeper.save(decisions, time.monotonic() + 1000)
    assert saved == [f"key {i}" for i in range(5)]


def test_a_hundred_properties_are_decided():
    problem = spec_of(100)
    results = prove(problem, Settings(timeout=120.0)).results
    assert [r.verdict for r in results] == ["falsified" if i % 7 == 0 else "proved" for i in range(100)]
    assert all(r.run is not None if r.verdict == "falsified" else r.proof is not None for r in results)


def test_a_cache_holds_so_many_certificates_and_reads_the_others_again(tmp_path):
    cache = Cache(str(tmp_path / "kept"))
    digests = [cache.add_proof({"number": i}) for i in range(MOST_HELD + 200)]
    assert len(cache._proofs) == MOST_HELD and digests[0] not in cache._proofs
    assert [cache.proof(digests[i]) for i in (0, 150, -1)] == [{"number": i} for i in (0, 150, MOST_HELD + 199)]
    assert len(cache._proofs) == MOST_HELD
