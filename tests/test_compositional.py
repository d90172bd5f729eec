"""Proofs by parts: composed certificates and their forgeries, contracts that say too little, Lustre, files."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from lustre_runs import read

from streamcheck import (
    Array,
    Bool,
    Spec,
    SpecError,
    Word8,
    assume,
    check,
    component,
    extern,
    guarantee,
    implies,
    minimum,
    mux,
    pre,
    stream,
)
from streamcheck.certify.check import Checker
from streamcheck.certify.composition import Conclusions, Unfounded, check_composition, proved_by
from streamcheck.core.term import constant, term
from streamcheck.core.types import INT, array_of, enum_of
from streamcheck.lang.flatten import flatten
from streamcheck.problem.composition import Composition, Embedding, ProofPart
from streamcheck.problem.composition_json import composition_from_plain, composition_to_plain
from streamcheck.problem.specification import Input, Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.compositional import prove_by_parts
from streamcheck.run.prove import Nobody, Settings
from streamcheck.transform.whole_proof import NotInductive, whole_proof

SETTINGS = Settings(timeout=60, jobs=1)


@component
def held(x: Word8, keep: Bool) -> Word8:
    assume("small", x < 50)
    value = stream(Word8, lambda v: mux(keep, [0] + +v, x))
    guarantee("small", value < 50)
    return value


@component
def twice(x: Word8, keep: Bool) -> Word8:
    assume("small", x < 40)
    inner = held(held(x + 1, keep) // 2, ~keep)
    guarantee("small", inner < 60)
    return inner


def whole(limit=40):
    x, keep = extern("x", Word8), extern("keep", Bool)
    spec = Spec("nested")
    spec.prop("low", twice(minimum(x, limit - 1), keep) < 60)
    return flatten(spec)


@pytest.fixture(scope="module")
def proved():
    return prove_by_parts(whole(), SETTINGS)


def test_each_component_is_proved_once_and_every_claim_by_parts(proved):
    assert {r.verdict for r in proved.results} == {"proved"} and not proved.alarms
    assert all(r.composition is not None for r in proved.results)
    text = "\n".join(proved.parts)
    assert "component held (2 instances): 1 of 1 claim" in text
    assert "component twice (1 instance): 3 of 3 claims" in text and "the body of" not in text
    (composition,) = {id(r.composition): r.composition for r in proved.results}.values()
    parts = [p for p in composition.parts if p.problem.name == "twice"]
    assert all("held" not in c.name or "assumptions" in c.name for p in parts for c in p.problem.cells), "cut out"
    assert check_composition(whole(), composition, "low") is None


def composition_of(verdicts) -> Composition:
    return verdicts.results[0].composition


def test_compositions_survive_json(proved):
    composition = composition_of(proved)
    again = composition_from_plain(json.loads(json.dumps(composition_to_plain(composition))))
    assert proved_by(whole(), again) == {p.name for p in whole().properties}


def test_parts_that_use_what_is_not_yet_proved_are_refused(proved):
    """Circular or missing: the spec's part before its component's, or without it."""
    parts = composition_of(proved).parts
    for forged in (parts[::-1], parts[1:], parts[-1:]):
        with pytest.raises(Unfounded):
            proved_by(whole(), Composition(forged))


def test_a_part_of_another_spec_is_refused(proved):
    """There the assumption of the outer component does not hold, and nothing may say so."""
    wider = whole(limit=200)
    rejected = check_composition(wider, composition_of(proved), "twice.assume small")
    assert rejected is not None
    results = {r.name: r for r in prove_by_parts(wider, SETTINGS).results}
    assert results["twice.assume small"].verdict == "falsified"
    assert results["twice.guarantee small"].verdict == "proved"
    assert results["twice.held.guarantee small"].verdict == "proved"


def test_a_certificate_that_proves_nothing_is_refused(proved):
    first, *others = composition_of(proved).parts
    empty = {name: Certificate("inductive", 1, ()) for name in first.proofs}
    rejected = check_composition(whole(), Composition((replace(first, proofs=empty), *others)), "low")
    assert rejected is not None and "part held" in rejected.why


def mutated(part, change):
    return replace(part, embeddings=tuple(change(e) for e in part.embeddings))


def test_embeddings_that_do_not_fit_are_refused(proved):
    problem, parts = whole(), composition_of(proved).parts
    (keep,) = [i.var for i in problem.inputs if i.name == "keep"]
    for number, part in enumerate(parts):
        for embedding in part.embeddings:
            for name, image in embedding.images.items():
                others = [v for v in problem.variables() if v.type is image.type and v is not image]
                for other in others[:2]:
                    forged = replace(embedding, images={**embedding.images, name: other})
                    conclusions = Conclusions(problem)
                    for earlier in parts[:number]:
                        for known in earlier.embeddings:
                            conclusions.add(earlier, known)
                    before = set(conclusions.proved)
                    try:
                        conclusions.add(part, forged)
                    except Unfounded:
                        continue
                    # An input of a part may stand for anything, as long as the claims come out the same.
                    assert conclusions.proved - before <= {q for _, q in embedding.claims}
                    assert name in {str(i.var.payload) for i in part.problem.inputs}
    assert keep is not None


def test_a_type_without_values_proves_nothing():
    """Nothing can be an input of the part, so its runs are none, and all claims hold in them."""
    spec = Spec("any")
    spec.prop("p", extern("x", Bool))
    problem = flatten(spec)
    (claim,) = problem.properties
    nothing = enum_of("Nothing", ())
    image = term("index", term("array", payload=array_of(nothing, 0)), constant(INT, 0))
    for type_, stands_for in (
        (nothing, image),
        (array_of(nothing, 1), term("array", image, payload=array_of(nothing, 1))),
    ):
        more = (*problem.inputs, Input("z", type_, True, "", "", None))
        images = {**{str(v.payload): v for v in problem.variables()}, "z": stands_for}
        part = ProofPart(
            replace(problem, inputs=more),
            {"p": Certificate("inductive", 1, (claim.term,))},
            (Embedding(images, (("p", "p"),)),),
        )
        rejected = check_composition(problem, Composition((part,)), "p")
        assert rejected is not None and "no type of the whole" in rejected.why


@component
def pause(on: Bool) -> Bool:
    assume("not twice", ~(on & pre(False, on)))
    guarantee("same", implies(on, on))
    return on


def test_memory_that_only_an_assumption_has_lies_in_the_whole():
    on = extern("on", Bool)
    spec = Spec("pauses")
    spec.prop("same", implies(pause(on), on))
    verdicts = prove_by_parts(flatten(spec), SETTINGS)
    assert not verdicts.alarms
    (result,) = [r for r in verdicts.results if r.name == "pause.guarantee same"]
    assert result.verdict == "proved" and result.composition is not None


@component
def latch(on: Bool) -> Bool:
    out = stream(Bool, lambda o: ([False] + +o) | on)
    guarantee("follows", implies(on, out))
    return out


def test_a_contract_that_says_too_little_is_named_and_mended():
    on = extern("on", Bool)
    spec = Spec("mend")
    lit = latch(on)
    spec.prop("lasts", implies(pre(False, lit), lit))
    results = spec.prove(compositional=True, timeout=60)
    assert [r.verdict for r in results] == ["proved", "proved"]
    text = "\n".join(prove_by_parts(flatten(spec), SETTINGS).parts)
    assert "the body of latch was used: its contract allows too much for lasts" in text
    assert 'to add to latch: guarantee("…", implies(pre(False, out), out))' in text


def test_a_violation_is_a_run_of_the_whole():
    on = extern("on", Bool)
    spec = Spec("broken")
    spec.prop("never", ~latch(on))
    (result, _) = prove_by_parts(flatten(spec), SETTINGS).results
    assert result.verdict == "falsified" and result.run is not None
    assert result.composition is None and result.k == 0


LUSTRE = """
node counter(x: int; r: bool) returns (n: int);
(*@contract
  var last: int = 0 -> pre n;
  assume "small" x >= 0 and x <= 10;
  guarantee "grows" n <= last + 10;
  mode reset (require r; ensure n = 0;);
  mode count (require not r; ensure n >= last;);
*)
let n = if r then 0 else (0 -> pre n) + x; tel
node top(x: int; r: bool) returns (n: int);
(*@contract assume x >= 0 and x <= 5; guarantee "up" n <= (0 -> pre n) + 10; *)
let n = counter(x + 1, r); tel
"""


def test_nodes_of_lustre_with_contracts_are_components(tmp_path):
    problem = read(tmp_path, LUSTRE, "top")
    assert isinstance(problem, Specification)
    assert [i.component for i in problem.instances] == ["counter", "top"] or problem.instances[0].name == ""
    assert [c.name for c in problem.components] == ["counter"]
    verdicts = prove_by_parts(problem, SETTINGS)
    composed = {r.name.rpartition("]")[2] for r in verdicts.results if r.composition is not None}
    assert {"guarantee up", ".guarantee grows", ".assume small", ".reset: ensure n = 0"} <= composed
    assert not verdicts.alarms


def test_the_parts_make_one_proof_of_the_whole(proved):
    """Its certificate has all claims, with no part cut out and no rule of proofs by parts."""
    composition = composition_of(proved)
    certificate = whole_proof(whole(), composition)
    checker = Checker(whole())
    assert all(checker.check(p.name, certificate) is None for p in whole().properties)
    assert len(certificate.invariants) >= len(whole().properties)


def test_a_proof_of_the_whole_is_judged_on_the_whole(proved):
    """What is forged in the parts is noticed there too: another spec, missing invariants."""
    composition = composition_of(proved)
    with pytest.raises(NotInductive):
        whole_proof(whole(limit=200), composition)
    certificate = whole_proof(whole(), composition)
    (small,) = [p.invariant for p in whole().properties if p.name == "twice.held.guarantee small"]
    assert small in certificate.invariants
    assert Checker(whole()).check("twice.held.guarantee small", replace(certificate, invariants=())) is not None


def test_a_part_that_is_proved_by_all_its_states_has_no_place_in_a_proof_by_induction(proved):
    first, *others = composition_of(proved).parts
    seen = {name: replace(proof, kind="complete") for name, proof in first.proofs.items()}
    with pytest.raises(NotInductive):
        whole_proof(whole(), Composition((replace(first, proofs=seen), *others)))


@component
def sum_of(values: Array(Word8, 2)) -> Word8:
    assume("small", (values[0] < 10) & (values[1] < 10))
    total = stream(Word8, lambda t: [0] + +mux(t > 50, 0, t + values[0] + values[1]))
    guarantee("bounded", total < 70)
    return total


def test_arrays_and_several_steps_are_parts_of_it():
    x = extern("x", Word8)
    spec = Spec("sums")
    one = sum_of(Array(Word8, 2)([minimum(x, 9), pre(0, minimum(x, 5))]))
    spec.prop("low", one < 70)
    spec.prop("twice", sum_of(Array(Word8, 2)([one // 8, 3])) < 80)
    problem = flatten(spec)
    verdicts = prove_by_parts(problem, SETTINGS)
    assert {r.verdict for r in verdicts.results} == {"proved"} and not verdicts.alarms
    certificate, checker = whole_proof(problem, composition_of(verdicts)), Checker(problem)
    assert all(checker.check(p.name, certificate) is None for p in problem.properties)


def test_saved_proofs_by_parts_are_checked_from_the_spec_alone(tmp_path):
    file = tmp_path / "mend.py"
    file.write_text(
        "from streamcheck import *\n\n\n@component\ndef low(x: Word8) -> Word8:\n    out = minimum(x, 9)\n"
        '    guarantee("low", out < 10)\n    return out\n\n\nspec = Spec("s")\n'
        'spec.prop("p", low(extern("x", Word8)) < 20)\n'
    )
    from streamcheck import load

    results = load(file).prove(compositional=True, certificates=tmp_path / "saved", timeout=60)
    assert [r.verdict for r in results] == ["proved", "proved"]
    saved = sorted((tmp_path / "saved").iterdir())
    assert all('"composition"' in f.read_text() and check(f).ok for f in saved)
    assert all(check(f, whole=True, proofs=tmp_path / "proofs").ok for f in saved)
    assert any("proofs" in check(f, whole=True, proofs=tmp_path / "proofs").proofs for f in saved)
    file.write_text(file.read_text().replace("minimum(x, 9)", "minimum(x, 8)"))
    assert not check(saved[0]).ok, "another body"
    damaged = json.loads(saved[0].read_text())
    damaged["composition"]["parts"][0]["embeddings"] = 3
    saved[0].write_text(json.dumps(damaged))
    with pytest.raises(SpecError, match="damaged"):
        check(saved[0])


def test_checking_says_what_proofs_by_parts_do_not_have(tmp_path):
    from streamcheck import load

    file, program = tmp_path / "s.py", tmp_path / "p.c"
    file.write_text(
        "from streamcheck import *\n\n\n@component\ndef same(x: Bool) -> Bool:\n"
        '    guarantee("same", implies(x, x))\n    return x\n\n\nspec = Spec("s")\n'
        'on = extern("on", Bool)\nspec.prop("p", implies(same(on), on))\n'
    )
    program.write_text("int main(void) { int i = 0; __VERIFIER_assert(i == 0); return 0; }\n")
    load(file).prove(compositional=True, certificates=tmp_path / "parts", timeout=60)
    load(program).prove(certificates=tmp_path / "program", timeout=60)
    part, of_program = (next((tmp_path / folder).iterdir()) for folder in ("parts", "program"))
    assert check(part, proofs=tmp_path / "proofs").proofs == "no proofs of proofs by parts"
    forged = json.loads(of_program.read_text()) | {"composition": json.loads(part.read_text())["composition"]}
    of_program.write_text(json.dumps(forged))
    rejected = check(of_program)
    assert not rejected.ok and "programs do not have" in rejected.why


class Listener(Nobody):
    def __init__(self):
        self.heard = []

    def begin(self, problem, *, machine, bound):
        self.heard.append("begin")

    def hear(self, result):
        self.heard.append(result.name)


def test_claims_are_told_as_soon_as_a_part_proves_them():
    listener = Listener()
    verdicts = prove_by_parts(whole(), SETTINGS, listener)
    begin, first, *others = listener.heard
    assert begin == "begin" and sorted([first, *others]) == sorted(r.name for r in verdicts.results)
    assert first.startswith("twice.held") and others.index("twice.guarantee small") < others.index("low")


def test_claims_about_infinite_runs_are_decided_on_the_whole():
    on = extern("on", Bool)
    spec = Spec("endless")
    lit = latch(on)
    spec.prop("follows", implies(on, lit))
    spec.responds("lit", on, lit)
    spec.infinitely_often("dark", ~lit)
    listener = Listener()
    verdicts = prove_by_parts(flatten(spec), SETTINGS, listener)
    assert {r.name: r.verdict for r in verdicts.results} == {
        "latch.guarantee follows": "proved",
        "follows": "proved",
        "lit": "proved",
        "dark": "falsified",
    }
    assert listener.heard.count("begin") == 1 and len(listener.heard) == 5
    composed = {r.name for r in verdicts.results if r.composition is not None}
    assert composed == {"latch.guarantee follows", "follows"} and verdicts.parts
    (alone,) = prove_by_parts(flatten(spec), replace(SETTINGS, props=["dark"])).results
    assert alone.verdict == "falsified"


def test_bounds_and_programs_have_no_proofs_by_parts():
    with pytest.raises(SpecError, match="exclude each other"):
        prove_by_parts(whole(), replace(SETTINGS, bound=3))
