"""Spacer, z3's solver of Horn clauses, as one more engine.

Decides: what the IC3 of z3 decides, each property by itself. Papers: [KGC14]; [KVGG20] for "general".

Its answer is not trusted: a relation is tested (`_is_invariant`) before it becomes a certificate, which is checked
like any other; if it has no translation into terms, or is not an invariant, it is dropped. A derivation names the
states of a run, whose inputs are then found step by step.

A call of Spacer cannot be interrupted, and now and then it ends its process, so it has a worker of its own. The
properties get short turns first and longer ones later; each turn is a new start with the arguments of the relation in
the other order and another seed, which decides more problems than a longer turn does.

Limits: floats; functions known by name only.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from itertools import count
from typing import ClassVar, assert_never

from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, constant, term, walk
from streamcheck.core.types import Value
from streamcheck.engines.bmc import violation
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.ic3.cubes import Cube
from streamcheck.engines.ic3.frames import Frames, NoAnswer
from streamcheck.engines.ic3.system import STATES, replay, space_of_system
from streamcheck.engines.options import SpacerOptions
from streamcheck.engines.protocol import NO_FLOATS, Event, Inbox, Progress, Task
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Unknown
from streamcheck.smt.horn import Derivation, Horn, Relation
from streamcheck.smt.terms import Untranslatable

LOG = logging.getLogger(__name__)
FIRST_TURN = 2_000_000  # the solver's work, some second; each round of turns is four times as long
LONGER = 4
CHECKING = 20_000_000  # the work that one condition of its answer may take


class Spacer:
    name: ClassVar[str] = "spacer"

    def __init__(self, options: SpacerOptions | None = None) -> None:
        self.options = options or SpacerOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.system = problem.system
        claims = {p.name: p for p in self.system.properties}
        if any(node.type.kind == "float" for node in walk(self.system.roots())):
            yield from (Unknown(name, NO_FLOATS) for name in claims)
            return
        for turn in count(self.options.seed):
            for name, claim in list(claims.items()):
                for prop in decided_properties(inbox()):
                    claims.pop(prop, None)
                if name not in claims:
                    continue
                event = self._attempt(claim, turn)
                if event is not None:
                    yield event
                    del claims[name]
            if not claims:
                return
            yield Progress(turn)

    def _attempt(self, claim: Claim, turn: int) -> Event | None:
        LOG.info("%s: turn %d on %s", self.name, turn, claim.name)
        horn = Horn(self.system, claim.term, general=self.options.guidance, backwards=turn % 2 == 1, seed=turn)
        try:
            answer = horn.ask(FIRST_TURN * LONGER ** (turn - self.options.seed))
        except Untranslatable as what:
            return Unknown(claim.name, f"spacer's invariant has no translation ({what})")
        match answer:
            case None:
                return None
            case Relation(invariant):
                certificate = Certificate("inductive", 1, (invariant,))
                return Proved(claim.name, certificate) if self._is_invariant(invariant, claim) else None
            case Derivation(states):
                # z3 may have simplified the derivation away: then the run is looked for as deep as it went
                trace = replay(self.system, _cubes(states), negation(claim.term)) if states else None
                return (
                    Falsified(claim.name, trace)
                    if trace is not None
                    else violation(self.system, claim, horn.levels + 1)
                )
        assert_never(answer)

    def _is_invariant(self, invariant: Term, claim: Claim) -> bool:
        """True if the relation is an invariant: now and then Spacer is wrong (seen on a violation at step 1)."""
        frames = Frames(space_of_system(self.system), CHECKING)
        (step,) = frames.space.entering[STATES]
        wrong = (negation(invariant),)
        try:
            # I ∧ A ∧ ¬R,  R ∧ A ∧ T ∧ ¬R',  R ∧ A ∧ ¬P
            if frames.is_initial(STATES, wrong) or frames.exclusion(step, wrong, 2, inductive=True) is None:
                return False
            return not frames.check(invariant, negation(claim.term))
        except NoAnswer:
            return False


class SpacerLocal(Spacer):
    """The same engine, for a worker of its own with other options."""

    name: ClassVar[str] = "spacer-local"


def _cubes(states: tuple[dict[Term, Value], ...]) -> list[Cube]:
    """A cube for each state."""
    return [tuple(term("same", v, constant(v.type, value)) for v, value in state.items()) for state in states]
