"""Faults planted in the proof by parts: what is assumed of components, and where their bodies lie; and in their C."""

from __future__ import annotations

from dataclasses import replace

from planting import Fault, compiling, refused

from streamcheck import Spec, Word8, assume, component, extern, guarantee, minimum, stream
from streamcheck.codegen import call_writer, sharing
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import OfContract
from streamcheck.run import compositional, near_proofs
from streamcheck.run.prove import Settings
from streamcheck.transform import cut, embedding


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
    for what, owner, name, change in (
        ("guarantees hold without their assumptions", cut, "cut_out", unconditional),
        ("what is owed to a component is assumed", cut, "cut_out", owed_is_given),
        ("what a cell holds next is anything", cut, "cut_out", cells_are_inputs),
        ("claims are assumed that nothing proves", compositional, "_use_body", all_usable),
        ("a body lies where its inputs are others", embedding.Embedder, "images", swapped),
        ("a proof of one claim is taken for another", compositional, "_claims_at", other_claim),
    ):
        yield Fault("parts", what, planter(owner, name, change), by_parts)
    for what, change in (
        ("a part stands before what it needs", needs_nothing),
        ("a part stands where its variables are others", in_other_places),
    ):
        yield Fault("parts", what, planter(near_proofs, "near_parts", change), by_small_parts)


@component
def delayed(x: Word8, y: Word8) -> Word8:
    return stream(Word8, lambda n: [3] + +(n + x)) + y


def monitored():
    """Two instances of a component, one behind the other."""
    x, y = extern("x", Word8), extern("y", Word8)
    spec = Spec("planted")
    spec.trigger("alarm", delayed(delayed(x, 2), y) > 9)
    return flatten(spec)


def calls():
    for what, owner, name, change in (
        ("an instance steps the state of another", call_writer.CallWriter, "write", with_state_of_another),
        ("a component steps twice", call_writer.CallWriter, "write", twice),
        ("an instance returns the output of another", call_writer.CallWriter, "write", with_results_of_another),
        ("calls come before those that they need", call_writer.CallWriter, "write_all", in_reverse),
        ("arguments are in another order", sharing.SharedCall, "with_images", with_arguments_turned),
    ):
        yield Fault("components in C", what, planter(owner, name, change), compiling(monitored))


def with_state_of_another(original):
    def write(self, call):
        members, self.members = self.members, dict.fromkeys(self.members, next(iter(self.members.values())))
        original(self, call)
        self.members = members

    return write


def twice(original):
    def write(self, call):
        original(self, call)
        line = self.step.body.lines[-1]
        self.step.body.lines.append(f"(void){line.partition(' = ')[2]}")

    return write


def with_results_of_another(original):
    def write(self, call):
        original(self, call)
        self.step.texts[call.results[0]] = next(self.step.texts[r] for r in self.caller if r in self.step.texts)

    return write


def in_reverse(original):
    def write_all(self):
        before = len(self.step.body.lines)
        original(self)
        self.step.body.lines[before:] = reversed(self.step.body.lines[before:])

    return write_all


def with_arguments_turned(original):
    def with_images(self, image):
        found = original(self, image)
        return replace(found, args=found.args[::-1])

    return with_images


def planter(owner, name, change):
    def plant(p):
        p.set(compositional if owner is cut else owner, name, change(getattr(owner, name)))

    return plant


def by_parts():
    verdicts = compositional.prove_by_parts(problem(), Settings(timeout=60, jobs=1))
    if verdicts.alarms:
        return refused("the checker", verdicts.alarms[0])
    wrong = [r.name for r in verdicts.results if r.name in ("p", "limited.assume small") and r.verdict == "proved"]
    return f"accepted: {wrong}" if wrong else "no effect"


def by_small_parts():
    x = minimum(extern("x", Word8), 49)
    y = extern("y", Word8)
    for _ in range(compositional.MANY):
        x = limited(x, y)
    spec = Spec("chain")
    spec.prop("p", x < 50)
    verdicts = compositional.prove_by_parts(flatten(spec), Settings(timeout=60, jobs=1))
    return refused("the checker", verdicts.alarms[0]) if verdicts.alarms else "no effect"


def needs_nothing(original):
    def backwards(cutting, instances):
        return [(problem, replace(place, needs=())) for problem, place in original(cutting, instances)[::-1]]

    return backwards


def in_other_places(original):
    def elsewhere(cutting, instances):
        found = original(cutting, instances)
        turned = [dict(zip(p.images, [*p.images.values()][::-1], strict=True)) for _, p in found]
        return [(problem, replace(p, images=images)) for (problem, p), images in zip(found, turned, strict=True)]

    return elsewhere


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
    def elsewhere(self, body, instance):
        images = original(self, body, instance)
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
