"""Inductive validity cores [GGW16] and minimal cut sets of one property.

A question is a set of elements that are kept, the others free. Its answer is a certificate that the checker accepts on
the weakened specification (the set is a core), a replayed run (the others are a cut), or neither.

one core        elements go by halves, as long as the checker accepts what is left of the proof (`_without_needless`)
a minimal one   then one by one, each question asked of all engines: what a run breaks is needed (`minimal`) [GGW16]
all             the smallest set that hits all cores known is free next: a run makes it a minimal cut, a certificate
                leads to another core. When no set is left, all minimal cuts are known, and the sets that hit them all
                are all minimal cores [GWGH17; here by the duality of both, in order of size]

Answers are monotone: more than a core is a core, less than what a run breaks is broken."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from streamcheck.certify.check import Checker
from streamcheck.certify.solvers import warm_up
from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term, substitute, variables
from streamcheck.problem.claim import Claim
from streamcheck.problem.needs import Core, Cut, Element, Weakened
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.hitting import HittingSets
from streamcheck.run.prove import Settings, prove
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.transform.scalars import scalars
from streamcheck.transform.weaken import weaken

QUESTION = 5.0  # seconds, at most, for all engines on one question
KeptElements: TypeAlias = frozenset[Element]


@dataclass(slots=True)
class CoreQuestions:
    """The questions about one property that is proved, until a time."""

    specification: Specification
    claim: Claim
    elements: Sequence[Element]  # those that may be free; others are kept
    certificate: Certificate
    settings: Settings
    deadline: float
    broken: list[Cut] = field(default_factory=list)
    cores: list[Core] = field(default_factory=list)
    open: set[KeptElements] = field(default_factory=set)

    @property
    def left(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def first_core(self) -> Core | None:
        """The core of the proof that is known, else of another one. None if there is none in the time."""
        warm_up()
        everything = frozenset(self.elements)
        core = self._without_needless(everything, self.certificate)
        if core is None:
            asked = self.ask(everything)
            return asked if isinstance(asked, Core) else None
        self.cores.append(core)
        return core

    def minimal(self, core: Core) -> Core:
        """A part of the core that is minimal, as far as answers show it in the time."""
        breaks: dict[Element, Cut] = {}
        pending = list(core.elements)
        while pending:
            element = pending.pop(0)
            match self.ask(frozenset(core.elements) - {element}):
                case Core() as smaller:
                    core = smaller
                    pending = [e for e in pending if e in smaller.elements]
                case Cut() as cut:
                    breaks[element] = cut
        return replace(core, breaks={e: breaks[e] for e in core.elements if e in breaks})

    def ask(self, kept: KeptElements) -> Core | Cut | None:
        """A core of at most these elements; or the run that breaks the property with the others free; None if no engine
        answers in the time."""
        for core in self.cores:
            if kept.issuperset(core.elements):
                return core
        for cut in self.broken:
            if kept.isdisjoint(cut.elements):
                return cut
        seconds = min(QUESTION, self.left)
        if kept in self.open or not seconds:
            self.open.add(kept)
            return None
        weak = self._weaken(kept)
        verdicts = prove(weak.specification, replace(self.settings, timeout=seconds, props=(self.claim.name,)))
        (result,) = (r for r in verdicts.results if r.name == self.claim.name)
        if isinstance(result.proof, Certificate):
            own = Core(tuple(e for e in self.elements if e in kept), weak, result.proof)
            core = self._without_needless(kept, proof_of_whole(weak, result.proof)) or own
            self.cores.append(core)
            return core
        if result.run is not None:
            cut = Cut(tuple(e for e in self.elements if e not in kept), weak, result.run)
            self.broken.append(cut)
            return cut
        self.open.add(kept)
        return None

    def _weaken(self, kept: KeptElements) -> Weakened:
        return weaken(self.specification, self.claim, [e for e in self.elements if e not in kept])

    def _without_needless(self, kept: KeptElements, proof: Certificate) -> Core | None:
        """The core that is left when elements have gone by halves, quarters, … as long as the checker accepts the
        proof, which has terms of the whole specification. None if it does not even accept it with all of them."""

        def accepts(part: Sequence[Element]) -> bool:
            weak = self._weaken(frozenset(part))
            image = proof_of(weak, proof)
            return image is not None and Checker(weak.specification).check(self.claim.name, image) is None

        def work(send: Send) -> None:
            part = [e for e in self.elements if e in kept]
            if not accepts(part):
                send(None)
                return
            send(_numbers(self.elements, part))
            size = len(part)
            while size:
                i = 0
                while i < len(part):
                    rest = part[:i] + part[i + size :]
                    if accepts(rest):
                        part = rest
                        send(_numbers(self.elements, part))
                    else:
                        i += size
                size //= 2
            send(None)

        left: frozenset[Element] | None = None
        with Sandbox(work, seconds=self.left, doing="checking") as child:
            try:
                while (row := child.receive()) is not None:
                    left = frozenset(self.elements[i] for i in row)
            except SpecError:  # the time is over
                pass
        if left is None:
            return None
        weak = self._weaken(left)
        image = proof_of(weak, proof)
        assert image is not None
        return Core(tuple(e for e in self.elements if e in left), weak, image)


def _numbers(elements: Sequence[Element], part: Sequence[Element]) -> list[int]:
    return [i for i, e in enumerate(elements) if e in part]


def proof_of(weak: Weakened, proof: Certificate) -> Certificate | None:
    """A proof about the whole specification as one about the weakened one: without what speaks of variables that are
    not there. None if nothing is left. The checker judges it."""
    declared = {v for parts in scalars(weak.specification.variables()).values() for v in parts}
    image = _with_terms(proof, scalar_images(weak))
    invariants = tuple(t for t in image.invariants if declared.issuperset(variables([t])))
    equalities = tuple(t for t in image.equalities if declared.issuperset(variables([t])) and t.args[0].op == "var")
    return replace(image, invariants=invariants, equalities=equalities) if invariants else None


def proof_of_whole(weak: Weakened, proof: Certificate) -> Certificate:
    """The way back: in the proof, terms of the whole specification take the place of free inputs."""
    return _with_terms(proof, {v: t for t, v in scalar_images(weak).items()})


def scalar_images(weak: Weakened) -> dict[Term, Term]:
    """The free inputs by what they stand for, both as scalars: certificates have these."""
    parts = scalars([*weak.free, *weak.free.values()])
    pairs = ((t, v) for whole, var in weak.free.items() for t, v in zip(parts[whole], parts[var], strict=True))
    return {t: v for t, v in pairs if not t.is_const}


def _with_terms(proof: Certificate, replacement: Mapping[Term, Term]) -> Certificate:
    images = substitute([*proof.invariants, *proof.equalities], replacement)
    invariants = tuple(images[t] for t in proof.invariants)
    return replace(proof, invariants=invariants, equalities=tuple(images[t] for t in proof.equalities))


@dataclass(slots=True)
class Enumeration:
    """All minimal cuts and cores of a property, as far as its questions are answered in the time."""

    questions: CoreQuestions
    cuts: list[Cut] = field(default_factory=list)
    cores: list[Core] = field(default_factory=list)
    complete: bool = False  # these are all minimal cores
    all_cuts: bool = False  # all minimal cuts of the size that was asked for

    def run(self, *, most: int | None = None) -> None:
        """Find the minimal cuts, of at most so many elements, the smallest first; then the minimal cores, if all cuts
        are known."""
        elements = self.questions.elements
        sets, skipped = HittingSets(len(elements)), False
        for core in self.cores:
            sets.must_hit(_numbers(elements, core.elements))
        while (chosen := sets.smallest()) is not None and self.questions.left:
            if most is not None and len(chosen) > most:
                self.all_cuts = not skipped
                return
            match self.questions.ask(frozenset(e for i, e in enumerate(elements) if i not in chosen)):
                case Cut() as cut:
                    self.cuts.append(cut)
                    sets.exclude(chosen)
                case Core() as core:
                    self.cores.append(core)
                    sets.must_hit(_numbers(elements, core.elements))
                case None:
                    skipped = True
                    sets.exclude(chosen)
        self.all_cuts = chosen is None and not skipped
        if self.all_cuts:
            self._all_cores()

    def _all_cores(self) -> None:
        """The smallest sets that hit all minimal cuts: each is a core, which its own question confirms."""
        elements = self.questions.elements
        sets, found = HittingSets(len(elements)), []
        for cut in self.cuts:
            sets.must_hit(_numbers(elements, cut.elements))
        while (chosen := sets.smallest()) is not None:
            core = self.questions.ask(frozenset(elements[i] for i in chosen))
            if not isinstance(core, Core):
                return
            found.append(core)
            sets.exclude(chosen)
        self.cores, self.complete = found, True
