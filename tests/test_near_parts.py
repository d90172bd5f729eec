"""Proofs by parts of many instances: each claim with what is near it, the parts that are the same proved once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamcheck import Bool, Spec, Word8, assume, component, extern, guarantee, implies, minimum, mux, pre, stream
from streamcheck.certify.check import Checker
from streamcheck.certify.composition import Unfounded, check_composition, proved_by
from streamcheck.lang.flatten import flatten
from streamcheck.problem.composition import Composition
from streamcheck.run.compositional import prove_by_parts
from streamcheck.run.prove import Settings
from streamcheck.transform.cut import Cutting
from streamcheck.transform.near import near_parts
from streamcheck.transform.whole_proof import whole_proof

SETTINGS = Settings(timeout=60, jobs=1)
COUNT = 17


@component
def cell(x: Word8, y: Word8) -> Word8:
    assume("x is small", x <= 100)
    assume("y is small", y <= 100)
    last = stream(Word8, lambda v: [0] + +mux(y > 50, x, minimum(x, v + 1)))
    guarantee("small", last <= 100)
    return last


@component
def narrower(x: Word8) -> Word8:
    out = minimum(x, [7] + +x)
    guarantee("not more", out <= x)
    return out


def chain(limit=100):
    x, y = extern("x", Word8), extern("y", Word8)
    y, out = minimum(y, 100), minimum(x, limit)
    for _ in range(COUNT):
        out = cell(out, y)
    spec = Spec("chain")
    spec.prop("last", out <= 100)
    return flatten(spec)


def tree():
    """Leaves that are all different."""
    x = extern("x", Word8)
    level = [minimum(x, 80 + n) for n in range(COUNT)]
    while len(level) > 1:
        level = [cell(a, b) for a, b in zip(level[::2], level[1::2], strict=False)] + level[len(level) & ~1 :]
    spec = Spec("tree")
    spec.prop("root", level[0] <= 100)
    return flatten(spec)


def ring():
    x = extern("x", Word8)

    @stream(Word8)
    def out():
        value = mux(x > 100, [0] + +out, x)
        for _ in range(COUNT):
            value = cell(value, 3)
        return value

    spec = Spec("ring")
    spec.prop("last", out <= 100)
    return flatten(spec)


def parts_of(problem):
    claims = [p.name for p in problem.properties if "guarantee" not in p.name]
    lemmas = [p.name for p in problem.properties if "guarantee" in p.name]
    instances = {i.name: i for i in problem.instances if i.name}
    return near_parts(Cutting(problem, list(instances.values()), lemmas, claims), instances)


def test_most_parts_of_a_chain_are_the_same():
    order = parts_of(chain())
    assert len(order) == 2 * COUNT + 1, "each claim has a part"
    assert len({problem for problem, _ in order}) <= 7
    done = set()
    for _, place in order:
        assert done.issuperset(place.needs)
        done.add(place.claim)


def test_claims_that_need_each_other_have_no_small_parts():
    about_x = {place.claim for _, place in parts_of(ring()) if "x is small" in place.claim}
    assert not about_x


@pytest.mark.parametrize("make", [chain, tree, ring])
def test_each_claim_is_proved_by_a_small_part_or_with_the_others(make):
    problem = make()
    verdicts = prove_by_parts(problem, SETTINGS)
    assert {r.verdict for r in verdicts.results} == {"proved"} and not verdicts.alarms
    (composition,) = {id(r.composition): r.composition for r in verdicts.results}.values()
    assert proved_by(problem, composition) == {p.name for p in problem.properties}
    places = [len(part.embeddings) for part in composition.parts if any(about_x(e) for e in part.embeddings)]
    assert max(places) >= (1 if make is ring else 4)
    last = problem.properties[0].name
    assert check_composition(problem, composition, last) is None
    if make is tree:
        certificate = whole_proof(problem, composition)
        assert all(Checker(problem).check(p.name, certificate) is None for p in problem.properties[:3])


def about_x(embedding):
    return any("x is small" in claim for _, claim in embedding.claims)


def test_small_parts_that_come_too_early_or_prove_another_claim_are_refused():
    problem = chain()
    composition = prove_by_parts(problem, SETTINGS).results[0].composition
    parts = composition.parts
    for number, part in enumerate(parts):
        if len(part.embeddings) < 4 or not all(map(about_x, part.embeddings)):
            continue
        backwards = replace(part, embeddings=part.embeddings[::-1])
        first, second, *others = part.embeddings
        exchanged = replace(part, embeddings=(replace(first, claims=second.claims), second, *others))
        for forged in (backwards, exchanged):
            with pytest.raises(Unfounded):
                proved_by(problem, Composition((*parts[:number], forged, *parts[number + 1 :])))


def test_a_false_assumption_in_a_chain_is_found():
    results = {r.name: r for r in prove_by_parts(chain(limit=130), SETTINGS).results}
    broken = [name for name, r in results.items() if r.verdict == "falsified"]
    assert "cell.assume x is small" in broken and all("x is small" in name or name == "last" for name in broken)
    assert all(results[name].composition is None for name in broken)
    assert results["cell.assume y is small"].verdict == "proved"


def test_a_claim_that_needs_all_of_a_chain_is_proved_with_all_of_it():
    x = extern("x", Word8)
    out = x
    for _ in range(COUNT):
        out = narrower(out)
    spec = Spec("narrow")
    spec.prop("not more", out <= x)
    verdicts = prove_by_parts(flatten(spec), SETTINGS)
    assert {r.verdict for r in verdicts.results} == {"proved"}
    assert not any("the body of" in line for line in verdicts.parts)


def test_it_is_said_if_the_assumptions_of_a_chain_contradict_each_other():
    x, on = extern("x", Word8), extern("on", Bool)
    spec = Spec("contradiction")
    spec.assume("low", x < 10)
    spec.assume("high", x > 20)
    out = x
    for _ in range(COUNT):
        out = cell(out, 1)
    spec.prop("last", out <= 100)
    spec.prop("on", implies(on & pre(False, ~on) & on & ~on, out <= 100))
    verdicts = prove_by_parts(flatten(spec), SETTINGS)
    assert {r.verdict for r in verdicts.results} == {"proved"}
    assert any("no run meets the assumptions" in w for w in verdicts.warnings)
