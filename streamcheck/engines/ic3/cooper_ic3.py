"""IC3 with predecessors generalised by Cooper's elimination.

Decides: invariants that are conjunctions of clauses over linear inequalities, Bools and whatever atoms the system
has; and, from the other end, short runs that break a property.

Papers: the slides, "The IC3 algorithm" to "Lemma tightening"; [EMB11] Eén, Mishchenko, Brayton, Efficient
Implementation of Property Directed Reachability; the thesis (Tegzes), sections 3.1.1.4, 3.1.2 and 4.3.

Ingredients:
    frames, each lemma at its highest            `frames.Frames`                [EMB11, sec. III]
    obligations, lowest frame first              `obligations.Queue`            [EMB11, Fig. 6]
    obligations pushed forward                   `_block`, last lines           [thesis, "pushing … forward"]
    the strengthened query                       `Frames.reaches`               [thesis, "Strengthen query"]
    what is already blocked, by its looks        `Frames.blocked`               [EMB11, sec. IV; thesis 4.3]
    cores that shrink a cube and name its frame  `generalize.Tightening`        [thesis, "Generalize blocked states"]
    lemmas that always hold                      `Frames.always`                [thesis 4.3, the frame ∞]
    predecessors generalised without the solver  `smt.implicant.cube`           [thesis, "Generalize predecessors"]
    propagation                                  `_propagate`                   [thesis, Alg. 3; EMB11, Fig. 9]

Vocabulary: F[i] = `Frames` at level i; N = `top`, how far a property is known to hold; B, c = `cube`; s, t =
`Obligation`; I = initial values; T = next-state functions, by substitution; A = assumptions.

Several properties share the frames: a lemma of F[i] is true whatever it was found for. Each property has an N of its
own and its own turn, so a hard one does not keep an easy one waiting; what is proved joins the invariants of the rest
(the mutual induction rule of the slides), and their certificates.

Departures: P is no part of the frames (it may speak of inputs, which are no state); a cube keeps what made P true in
the state it came from as `context`, for the bounding box.

Limits: invariants over sums of counters are learned one bound at a time; a model with irrational numbers ends it, and
what uses functions of math.h is not for it.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from streamcheck.core.evaluate import Evaluation, is_unknown_function
from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, variables, walk
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import FOR_EVER, Frames, GaveUp
from streamcheck.engines.ic3.generalize import Tightening
from streamcheck.engines.ic3.obligations import Obligation, Queue, replay
from streamcheck.engines.protocol import Event, Inbox, Invariants, Progress, Settled, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Unknown
from streamcheck.smt.implicant import cube as implicant

BEYOND = 24  # steps past 6·N that obligations are followed (heuristic)
TURN = 16  # obligations before another property, or another engine of the same worker, has its turn
NO_STATE = "the solver's model is no state (an irrational value?)"
BY_NAME_ONLY = "functions of math.h are known by name only"


class NoState(Exception):
    """A model that the values of the language do not express."""


@dataclass(slots=True)
class Spurious:
    """A chain of obligations from an initial state that no run follows (where cubes are abstract)."""

    first: Obligation


class Ic3:
    """The loop. What a predecessor looks like is `_predecessor`'s; what an unreal chain leads to is `_refine`'s."""

    name: ClassVar[str] = "ic3"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.system = problem.system
        if any(is_unknown_function(node) for node in walk(self.system.roots())):
            yield from (Unknown(p.name, BY_NAME_ONLY) for p in self.system.properties)
            return
        self.options = problem.options
        self.frames = Frames(self.system, problem.patience)
        self.tightening = Tightening(self.frames, problem.options)
        self.inputs = dict.fromkeys(self.system.inputs)
        self.open: dict[str, Claim] = {p.name: p for p in self.system.properties}
        self.depth_of_proofs = 1  # the k of the invariants that came from others
        self._told: set[Term] = set()
        self._prepare()
        attempts = {name: self._prove(claim) for name, claim in self.open.items()}
        while attempts:
            self._read(inbox)
            for name in list(attempts):
                if name not in self.open:
                    del attempts[name]
                    continue
                yield from self._turn(name, attempts)
            yield from self._tell()

    def _prepare(self) -> None:
        """Before the first query."""

    def _turn(self, name: str, attempts: dict[str, Iterator[Event]]) -> Iterator[Event]:
        """One property's next piece of work."""
        try:
            for event in attempts[name]:
                yield event
                if isinstance(event, Progress):
                    return
        except GaveUp as gave_up:
            yield Unknown(name, str(gave_up))
        except NoState:
            yield Unknown(name, NO_STATE)
        del attempts[name]
        self.open.pop(name, None)

    def _read(self, inbox: Inbox) -> None:
        known = {*self.frames.nexts, *self.inputs}
        for fact in inbox():
            match fact:
                case Proved(prop, certificate):
                    self.open.pop(prop, None)
                    self._assume(certificate, known)
                case Invariants(certificate):
                    self._assume(certificate, known)
                case Falsified(prop) | Settled(prop):
                    self.open.pop(prop, None)

    def _assume(self, certificate: Certificate, known: set[Term]) -> None:
        if certificate.kind == "inductive" and known.issuperset(variables(certificate.invariants)):
            self.depth_of_proofs = max(self.depth_of_proofs, certificate.k)
            self.frames.assume(certificate.invariants)

    def _tell(self) -> Iterator[Event]:
        """Lemmas that always hold, for the other engines."""
        new = [t for t in self.frames.invariant(FOR_EVER) if t not in self._told]
        if new:
            self._told.update(new)
            yield Invariants(self._certificate(FOR_EVER))

    def _certificate(self, level: int) -> Certificate:
        invariants = (*self.frames.invariant(level), *self.frames.invariants)
        return Certificate("inductive", self.depth_of_proofs, tuple(dict.fromkeys(invariants)))

    # One property

    def _prove(self, claim: Claim) -> Iterator[Event]:
        """[thesis, Alg. 1]; the slides' "strengthen" and "propagate" in turns."""
        wrong = negation(claim.term)
        for top in count():  # l. 1 is top = 0
            self.frames.reach(top)
            while self.frames.check(*self.frames.labels(top), wrong):  # l. 8: F[N] ∧ A ∧ ¬P
                bad = self._bad(wrong, top)
                outcome = yield from self._block(bad, top, claim)  # l. 11
                if outcome is not None:
                    falsified = yield from self._settle(outcome, claim, wrong)
                    if falsified:
                        return
                yield Progress(top)
            fixpoint = self._propagate(top)  # l. 17
            if fixpoint is not None:
                yield Proved(claim.name, self._certificate(fixpoint))  # l. 19
                return
            yield Progress(top)

    def _settle(self, chain: Spurious, claim: Claim, wrong: Term) -> Generator[Event, None, bool]:
        """What a chain from an initial state comes to: a run that breaks the property, or a refinement."""
        trace = replay(self.system, chain.first, wrong)
        if trace is not None:
            yield Falsified(claim.name, trace)
            return True
        yield from self._refine(chain.first, claim)
        return False

    def _refine(self, first: Obligation, claim: Claim) -> Iterator[Event]:
        """Never needed here: exact predecessors make real chains."""
        raise NoState

    def _block(self, bad: Obligation, top: int, claim: Claim) -> Generator[Event, None, Spurious | None]:
        """[thesis, Alg. 2; EMB11, Fig. 6]: a chain from an initial state, or None once everything is blocked."""
        queue = Queue()
        queue.push(bad)
        handled = 0
        while queue and claim.name in self.open:
            if handled % TURN == 0:
                yield Progress(top)
            handled += 1
            one = queue.pop()
            if one.level == 0 or self.frames.is_initial(one.cube):  # Alg. 2, l. 1
                return Spurious(one)
            if self.frames.blocked(one.cube, one.level):
                self._again(queue, one, one.level + 1, top)
            elif self.frames.reaches(one.cube, one.level - 1):  # l. 5
                queue.push(self._predecessor(one))  # l. 15
                queue.push(one)
            else:
                cube, level = self.tightening.lemma(one.cube, one.context, one.level)  # l. 20-23
                cube, level = self.tightening.pushed(cube, level, top)
                level = level if level >= FOR_EVER else min(level, top + 1)
                self.frames.add(cube, level)  # l. 24
                self._again(queue, one, level + 1, top)  # l. 25-26
        return None

    def _again(self, queue: Queue, one: Obligation, level: int, top: int) -> None:
        """The same states have to be blocked from the next frame too [thesis, "pushing proof obligations forward"].
        Where there are infinitely many states, following that without end never comes back to the other ones: what
        could only break the property much later than N steps waits (required)."""
        if level <= top and level + one.depth <= 6 * top + BEYOND and self.options.get("forward", True):
            queue.push(one.at(level))

    def _bad(self, wrong: Term, level: int) -> Obligation:
        """States in which some input breaks the property."""
        cube = self._cube([*self.frames.assumptions, wrong])
        return Obligation(level, cube, (), None)

    def _predecessor(self, one: Obligation) -> Obligation:
        """States of F[i-1] with a step into the cube: ∃ inputs. A ∧ c' [slides, approximate QE]."""
        images = [self.frames.image(c) for c in one.cube]
        evaluation = self._evaluation()
        cube = self._cube([*self.frames.assumptions, *images], evaluation)
        claims = [c.term for c in self.open.values() if evaluation.of(c.term) is True]
        context = implicant(claims, evaluation, self.inputs) if self.options.get("box", True) else []
        return Obligation(one.level - 1, cube, tuple(context), one, one.depth + 1)

    def _evaluation(self) -> Evaluation:
        return Evaluation(self.frames.solver.model())

    def _cube(self, roots: list[Term], evaluation: Evaluation | None = None) -> Cube:
        evaluation = evaluation or self._evaluation()
        if not all(evaluation.of(root) is True for root in roots):
            raise NoState
        return self.tightening.prepared(tuple(implicant(roots, evaluation, self.inputs)))

    # All frames

    def _propagate(self, top: int) -> int | None:
        """[thesis, Alg. 3]: lemmas move as high as they hold; the level of a frame equal to its successor."""
        for level in range(1, top + 1):
            for one in list(self.frames.kept[level]):
                if one not in self.frames.kept[level]:
                    continue  # subsumed meanwhile
                # F[i] ∧ A ∧ T ∧ c'
                if not self.frames.reaches(one.cube, level, strengthened=False):
                    cube, highest = self.tightening.after_core(one.cube)
                    self.frames.raise_to(one, cube, highest if highest >= FOR_EVER else min(highest, top + 1))
            if not self.frames.kept[level]:
                return level
        return None
