"""Claims about infinite runs: against a search for lassos, replay, certificates, planted faults."""

from __future__ import annotations

import itertools
import json
import random
from dataclasses import replace

import pytest
from test_command import streamcheck

import streamcheck as sc
from streamcheck import *
from streamcheck import SpecError
from streamcheck.certify.check import Checker
from streamcheck.certify.replay import replay
from streamcheck.core.evaluate import evaluate
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import Goal
from streamcheck.problem.problem import claim_named
from streamcheck.problem.result import Replay
from streamcheck.problem.verdict import Certificate, Trace
from streamcheck.run import liveness
from streamcheck.run.cache import Cache
from streamcheck.run.prove import Settings, prove
from streamcheck.transform.liveness import NO_LASSO, monitored_claim, with_monitors

WAITING = """
from streamcheck import *
req, go = extern("req", Bool), extern("go", Bool)
busy = stream(Bool, lambda b: [False] ++ mux(b, ~go, req))
spec = Spec("waiting")
spec.trigger("start", req)
spec.fair("go comes", go)
spec.responds("served", busy, ~busy)
spec.eventually("idle again", busy & pre(False, busy))
spec.prop("calm", implies(busy, pre(False, req | busy)))
"""


def waiting(fair=True):
    req, go = extern("req", Bool), extern("go", Bool)
    busy = stream(Bool, lambda b: [False] + +mux(b, ~go, req))
    spec = Spec("waiting")
    if fair:
        spec.fair("go comes", go)
    spec.responds("served", busy, ~busy)
    return spec


def test_fairness_decides():
    (served,) = waiting().prove(timeout=30)
    words = {"k-liveness": "k-liveness, k = ", "no lasso": "no run comes back to a state"}
    assert served.proved and words[served.kind] in str(served)
    (starved,) = waiting(fair=False).prove(timeout=30)
    assert starved.verdict == "falsified" and starved.run.loop == len(starved.run.steps) - 1
    assert "is repeated forever" in str(starved) and not starved.counterexample["served"][-1]


def test_what_each_kind_of_claim_means():
    """On the one run of a spec without inputs, 0 1 2 3 4 3 4 3 4 …"""
    n = stream(Word8, lambda n: [0] + +mux(n == 4, 3, n + 1))
    spec = Spec("one_run")
    spec.observer("n", n)
    spec.eventually("passes 2", n == 2)
    spec.eventually("gets to 5", n == 5)
    spec.infinitely_often("4 again", n == 4)
    spec.infinitely_often("2 again", n == 2)
    spec.until("small until 3", n < 3, n == 3)
    spec.until("smaller until 3", n < 2, n == 3)
    spec.until("never 5", n < 9, n == 5)
    spec.until("at once", n == 7, n == 0)
    spec.responds("1 then 3", n == 1, n == 3)
    spec.responds("3 then 2", n == 3, n == 2)
    spec.responds("itself", n == 4, n == 4)
    spec.responds("nothing asked", n == 9, n == 8)
    results = spec.prove(timeout=120)
    good = {"passes 2", "4 again", "small until 3", "at once", "1 then 3", "itself", "nothing asked"}
    assert {r.name for r in results.proved} == good and len(results.falsified) == len(results) - len(good)
    for result in results.falsified:
        values = result.counterexample["n"]
        assert values[result.run.loop :] in ([3, 4], [4, 3])


def test_a_number_that_grows_is_no_lasso_and_no_proof():
    """`n` never comes back to a state, and 5 comes only once: that there is no lasso proves nothing."""
    n = stream(Int, lambda n: [0] + +(n + 1))
    spec = Spec("growing")
    spec.infinitely_often("5 again", n == 5)
    (result,) = spec.prove(timeout=6)
    assert result.verdict == "unknown"
    flat = flatten(spec)
    assert not with_monitors(flat, flat.properties[0]).is_finite
    with pytest.raises(SpecError, match="proves nothing of a state with Int or Real"):
        monitored_claim(flat, flat.properties[0], NO_LASSO)
    up = Spec("up")
    up.eventually("gets to 5", n == 5)  # and of the same system, a bound is a proof
    (result,) = up.prove(timeout=30)
    assert result.proved and result.kind == "k-liveness" and result.k >= 5


def test_runs_that_end_do_not_count():
    """The assumption ends every run on which `stuck` is true for three steps: no infinite run has it forever."""
    stuck = extern("stuck", Bool)
    row = stream(Word8, lambda n: mux(stuck, ([0] + +n) + 1, 0))
    spec = Spec("ends")
    spec.assume("not for long", row < 3)
    spec.infinitely_often("free again", ~stuck)
    assert spec.prove(timeout=30).ok
    never = Spec("never")
    never.assume("ends", row + 1 < 3)
    never.fair("impossible", row == 7)
    never.infinitely_often("anything", row == 9)
    results = never.prove(timeout=30)
    assert results.ok and any("no infinite run is known" in w for w in results.warnings)


def test_certificates_are_judged_again_and_forged_ones_refused(tmp_path):
    file = tmp_path / "waiting.py"
    file.write_text(WAITING)
    done = streamcheck("prove", str(file), "--certificates", str(tmp_path / "saved"), "--no-cache", "--timeout", "40")
    assert done.returncode == 1 and "repeated forever" in done.stdout
    saved = {json.loads(p.read_text())["property"]: p for p in (tmp_path / "saved").glob("*.json")}
    assert streamcheck("check", *map(str, saved.values())).returncode == 0
    served, idle = (json.loads(saved[name].read_text()) for name in ("served", "idle again"))
    for number, forged in enumerate(
        (
            served | {"property": "idle again"},  # another claim
            served | {"property": "calm"},  # a claim about steps
            {key: value for key, value in served.items() if key != "infinite"},
            served | {"infinite": "0 rounds"},
            served | {"infinite": "no such thing"},
            served | {"claim": "falsified", "constants": {}, "inputs": [{"req": True}]},
            served | {"bound": 3},
            idle | {"loop": 99},
            idle | {"property": "served"},
            {key: value for key, value in idle.items() if key != "loop"},
            idle | {"inputs": [{"req": True, "go": False}] * len(idle["inputs"])},
        )
    ):
        path = tmp_path / "saved" / f"forged_{number}.json"
        path.write_text(json.dumps(forged))
        assert streamcheck("check", str(path)).returncode in (2, 4), number


def test_a_proof_that_something_recurs_does_not_prove_that_it_stays(tmp_path):
    """The same term in both claims."""
    (tmp_path / "tick.py").write_text(
        "from streamcheck import *\ntick = stream(Bool, lambda tick: [True] ++ ~tick)\nspec = Spec('s')\n"
        "spec.prop('stays', tick)\nspec.infinitely_often('recurs', tick)\n"
    )
    done = streamcheck("prove", str(tmp_path / "tick.py"), "--certificates", str(tmp_path / "saved"), "--no-cache")
    (saved,) = (p for p in (tmp_path / "saved").glob("*.json") if json.loads(p.read_text())["property"] == "recurs")
    assert done.returncode == 1 and streamcheck("check", str(saved)).returncode == 0
    saved.write_text(json.dumps(json.loads(saved.read_text()) | {"property": "stays"}))
    done = streamcheck("check", str(saved))
    assert done.returncode == 2 and "stays is not about infinite runs" in done.stderr


def small_system(seed):
    """A spec with a few Bools, and claims and fairness about them."""
    rng = random.Random(seed)
    inputs = [extern(f"i{k}", Bool) for k in range(2)]
    cells = []
    for _ in range(rng.randint(1, 3)):
        a, b = (rng.choice([*inputs, *cells]) for _ in range(2))
        kind = rng.randrange(4)
        start = rng.random() < 0.5
        rule = {
            0: lambda c, a=a, b=b: mux(a, ~c, c & b),
            1: lambda c, a=a, b=b: (c | a) & ~b,
            2: lambda c, a=a, b=b: mux(c, a, ~b),
            3: lambda c, a=a, b=b: (c ^ a) | b,
        }[kind]
        cells.append(stream(Bool, lambda c, rule=rule, start=start: [start] + +rule(c)))

    def condition():
        a, b = (rng.choice([*inputs, *cells, ~cells[-1]]) for _ in range(2))
        return rng.choice((a, a & b, a | b, ~a, a ^ b))

    spec = Spec(f"small_{seed}")
    spec.infinitely_often("again", condition())
    spec.responds("answer", condition(), condition())
    spec.eventually("once", condition())
    spec.until("until", condition(), condition())
    if rng.random() < 0.6:
        spec.fair("f", condition())
    if rng.random() < 0.3:
        spec.fair("g", condition())
    if rng.random() < 0.4:
        spec.assume("a", condition() | condition())
    return spec


def breaks(flat, claim):
    """True if some lasso breaks the claim: a strongly connected part of the states, without steps at which the claim's
    term is true, in which each fairness condition is true at some step."""
    names = [i.var for i in flat.inputs]
    start = tuple(evaluate([c.initial], {})[c.initial] for c in flat.cells)
    steps, seen, stack = {}, {start}, [start]
    while stack:
        state = stack.pop()
        steps[state] = []
        for row in itertools.product((False, True), repeat=len(names)):
            given = dict(zip([c.var for c in flat.cells], state, strict=True)) | dict(zip(names, row, strict=True))
            roots = [*(c.next for c in flat.cells), claim.term, *(c.term for c in (*flat.assumptions, *flat.fairness))]
            values = evaluate(roots, given)
            if not all(values[a.term] for a in flat.assumptions):
                continue
            after = tuple(values[c.next] for c in flat.cells)
            fair = frozenset(f.name for f in flat.fairness if values[f.term])
            steps[state].append((after, values[claim.term], fair))
            if after not in seen:
                seen.add(after)
                stack.append(after)
    dry = {s: [(t, f) for t, good, f in rows if not good] for s, rows in steps.items()}

    def reachable(state):
        found, work = set(), [t for t, _ in dry[state]]
        while work:
            t = work.pop()
            if t not in found:
                found.add(t)
                work += [u for u, _ in dry[t]]
        return found

    below = {s: reachable(s) for s in dry}
    for s in dry:
        if s in below[s]:
            part = {t for t in below[s] if s in below[t]}
            met = {f for t in part for u, fs in dry[t] if u in part for f in fs}
            if met >= {f.name for f in flat.fairness}:
                return True
    return False


@pytest.mark.parametrize("seed", range(6))
def test_verdicts_agree_with_a_search_for_lassos(seed):
    spec = small_system(seed)
    flat = flatten(spec)
    for result in spec.prove(timeout=60):
        expected = "falsified" if breaks(flat, claim_named(flat, result.name)) else "proved"
        assert result.verdict == expected, (seed, result.name, result.reason)


def test_the_replay_of_a_lasso_refuses_what_is_none():
    spec = waiting(fair=False)
    flat = flatten(spec)
    (claim,) = flat.properties
    asking = ({"req": True, "go": False},) * 3
    assert isinstance(replay(flat, claim, Trace({}, asking, loop=2)), Replay)
    assert "is not what it was" in replay(flat, claim, Trace({}, asking, loop=0))  # `busy` was false then
    assert "it ends" in replay(flat, claim, Trace({}, asking))
    served = (*asking, {"req": False, "go": True})
    assert isinstance(replay(flat, claim, Trace({}, served, loop=0)), str)
    fair = flatten(waiting())
    assert "go comes is false at every step" in replay(fair, claim, Trace({}, asking, loop=2))
    always = replace(claim, goal=Goal.ALWAYS)
    assert "goes on forever" in replay(flat, always, Trace({}, asking, loop=2))


def test_a_proof_about_steps_proves_nothing_of_infinite_runs():
    go = extern("go", Bool)
    spec = Spec("s")
    spec.infinitely_often("p", go | ~go)
    flat = flatten(spec)
    assert Checker(flat).check("p", Certificate("inductive", 1, (flat.properties[0].term,))) is not None


def test_planted_faults_are_refused(monkeypatch):
    """The monitors are rebuilt by the checker, the lasso is replayed on the spec: engines and the way back may lie."""
    real = liveness.lasso_of

    def from_the_beginning(monitored, trace):
        return replace(real(monitored, trace), loop=0)

    monkeypatch.setattr(liveness, "lasso_of", from_the_beginning)
    results = waiting(fair=False).prove(timeout=30)
    assert results["served"].verdict == "unknown" and "is no violation" in results["served"].reason
    assert results.status == 4 and "does not replay" in results.alarms[0]


def test_monitors_that_lie_are_not_those_of_the_checker(monkeypatch, tmp_path):
    """`check` makes the monitors from the spec: a proof about others is refused."""
    real = liveness.with_monitors

    def without_counting(specification, claim):
        made = real(specification, claim)
        cells = (replace(c, next=c.initial) if c.name == "rounds" else c for c in made.specification.cells)
        return replace(made, specification=replace(made.specification, cells=tuple(cells)))

    monkeypatch.setattr(liveness, "with_monitors", without_counting)
    file = tmp_path / "starving.py"
    file.write_text(WAITING.replace('spec.fair("go comes", go)', ""))
    results = sc.load(str(file)).prove(timeout=30, props=["served"], certificates=str(tmp_path / "saved"))
    assert results["served"].proved  # so the lie has an effect
    (saved,) = (tmp_path / "saved").glob("*.json")
    assert not sc.check(str(saved)).ok


def test_other_forms_refuse_or_keep_the_claims(tmp_path):
    file = tmp_path / "waiting.py"
    file.write_text(WAITING)
    for form in ("lustre", "vmt", "chc", "smt2"):
        done = streamcheck("show", str(file), "--as", form)
        assert done.returncode == 2 and "is about infinite runs" in done.stderr
    text = streamcheck("show", str(file)).stdout
    assert "infinitely often served = " in text and "fair go comes = go" in text
    (tmp_path / "w.json").write_text(streamcheck("show", str(file), "--as", "json").stdout)
    done = streamcheck("prove", str(tmp_path / "w.json"), "--prop", "served", "--no-cache", "--timeout", "40")
    assert done.returncode == 0, done.stdout
    done = streamcheck("prove", str(file), "--bound", "3")
    assert done.returncode == 2 and "is about infinite runs" in done.stderr
    (tmp_path / "log.csv").write_text("req,go\ntrue,false\ntrue,false\n")
    run = streamcheck("run", str(file), "--input", str(tmp_path / "log.csv"), "--fail")
    assert run.returncode == 0 and "served" not in run.stdout + run.stderr
    out = tmp_path / "out"
    done = streamcheck("compile", str(file), "-o", str(out), "--unproven", "--no-cache", "--timeout", "40")
    assert done.returncode == 0, done.stdout + done.stderr
    header = (out / "waiting.h").read_text()
    assert "infinite runs that are fair (the C does not check it): served" in header
    assert "NOT PROVED: idle again (falsified: a run that goes on forever breaks it)" in header
    explained = streamcheck("explain", str(file), "--prop", "served", "--no-cache", "--timeout", "40").stdout
    bound = "without it; a round is a part of the run that ends as soon as go comes is true"
    assert bound in explained or "no run comes back to a state fairly without it" in explained


def test_a_lasso_in_every_format(tmp_path):
    results = waiting(fair=False).prove(timeout=30, traces=[(f, str(tmp_path)) for f in ("csv", "json", "html", "vcd")])
    (starved,) = results
    texts = {path.suffix: path.read_text() for path in tmp_path.iterdir()}
    assert json.loads(texts[".json"])["loop"] == starved.run.loop
    assert "repeated forever" in texts[".html"] and "repeated forever" in texts[".vcd"]
    assert results.to_json()["properties"][0]["counterexample"]["loop"] == starved.run.loop


@pytest.mark.parametrize("command", [("why",), ("cuts",), ("realizable",)])
def test_what_asks_about_steps_refuses_them(command, tmp_path):
    file = tmp_path / "choice.py"
    file.write_text(
        "from streamcheck import *\nout = unknown(Bool)\nspec = Spec('s')\n"
        "spec.prop('p', out | ~out)\nspec.infinitely_often('again', out)\n"
    )
    named = () if command[0] == "realizable" else ("--prop", "again")
    done = streamcheck(*command, str(file), *named)
    assert done.returncode in (2, 3) and "is about infinite runs" in done.stdout + done.stderr


def test_evidence_is_kept_and_checked_again(tmp_path):
    specification = flatten(two_claims())
    first, second = (
        prove(specification, Settings(timeout=60, jobs=1, cache=Cache(str(tmp_path / "cache")))) for _ in range(2)
    )
    assert [r.verdict for r in first.results] == ["proved", "falsified"] and not any(r.kept for r in first.results)
    assert [r.verdict for r in second.results] == ["proved", "falsified"] and all(r.kept for r in second.results)
    for path in (tmp_path / "cache").glob("*.json"):
        path.write_text(path.read_text().replace("true", "false"))
    third = prove(specification, Settings(timeout=60, jobs=1, cache=Cache(str(tmp_path / "cache"))))
    assert [r.verdict for r in third.results] == ["proved", "falsified"] and not third.alarms


def two_claims():
    req, go = extern("req", Bool), extern("go", Bool)
    busy = stream(Bool, lambda b: [False] + +mux(b, ~go, req))
    spec = Spec("two")
    spec.fair("go comes", go)
    spec.responds("served", busy, ~busy)
    spec.infinitely_often("used", busy)
    return spec
