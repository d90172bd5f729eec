"""Faults planted in the proof by parts: what is assumed of components, and where their bodies lie."""

from __future__ import annotations

from dataclasses import replace

from planting import Fault, refused

from streamcheck import Spec, Word8, assume, component, extern, guarantee, minimum
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import OfContract
from streamcheck.run import compositional
from streamcheck.run.prove import Settings
from streamcheck.transform import cut


@component
def limited(x: Word8, y: Word8) -> Word8:
    assume("small", x < 50)
    n = [0] + +minimum(x, y)
    guarantee("smaller", n < 50)
    return n


def problem():
    """Both the assumption and the property are false."""
    spec = Spec("planted")
    spec.prop("p", limited(extern("x", Word8), extern("y", Word8)) < 50)
    return flatten(spec)


def components():
    for what, module, name, change in (
        ("guarantees hold without their assumptions", cut, "cut_out", unconditional),
        ("what is owed to a component is assumed", cut, "cut_out", owed_is_given),
        ("what a cell holds next is anything", cut, "cut_out", cells_are_inputs),
        ("claims are assumed that nothing proves", compositional, "_use_body", all_usable),
        ("a body lies where its inputs are others", compositional, "embedding_of", swapped),
        ("a proof of one claim is taken for another", compositional, "_claims_at", other_claim),
    ):
        yield Fault("parts", what, planter(module, name, change), by_parts)


def planter(module, name, change):
    def plant(p):
        original = getattr(module, name)
        p.set(compositional, name, change(original))

    return plant


def by_parts():
    verdicts = compositional.prove_by_parts(problem(), Settings(timeout=60, jobs=1))
    if verdicts.alarms:
        return refused("the checker", verdicts.alarms[0])
    wrong = [r.name for r in verdicts.results if r.name in ("p", "limited.assume small") and r.verdict == "proved"]
    return f"accepted: {wrong}" if wrong else "no effect"


def unconditional(original):
    def with_guarantees(specification, instances, lemmas, claims):
        found = original(specification, instances, lemmas, claims)
        own = {a.term for a in specification.assumptions}
        changed = [a if a.term in own else replace(a, term=a.term.args[-1]) for a in found.problem.assumptions]
        return replace(found, problem=replace(found.problem, assumptions=tuple(changed)))

    return with_guarantees


def owed_is_given(original):
    def with_more(specification, instances, lemmas, claims):
        claimed = [p for p in specification.properties if isinstance(p.origin, OfContract)]
        owed = {p.name for p in claimed if p.origin.role == "assumption"}
        return original(specification, instances, {*lemmas, *owed}, claims)

    return with_more


def cells_are_inputs(original):
    def frozen(specification, instances, lemmas, claims):
        found = original(specification, instances, lemmas, claims)
        cells = tuple(replace(c, next=c.var) for c in found.problem.cells)
        return replace(found, problem=replace(found.problem, cells=cells))

    return frozen


def all_usable(original):
    def use(level, instance, body, images):
        original(level, instance, body, images)
        origins = [OfContract(role, instance.name) for role in ("guarantee", "assumption")]
        level.usable |= {p.name for p in level.problem.properties if p.origin in origins}

    return use


def swapped(original):
    def elsewhere(body, whole, instance):
        images = original(body, whole, instance)
        if images is None:
            return None
        inputs = [i.var for i in body.inputs]
        return images | {inputs[0]: images[inputs[-1]], inputs[-1]: images[inputs[0]]}

    return elsewhere


def other_claim(original):
    def turned(problem, body, instance, *, own, images=None):
        found = original(problem, body, instance, own=own, images=images)
        return dict.fromkeys(found, f"{instance.name}.assume small") if own else found

    return turned
