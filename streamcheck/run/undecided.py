"""The state of the properties that are still open: how far they hold, and why engines stopped working on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamcheck.engines.protocol import UNSUPPORTED
from streamcheck.problem.verdict import Unknown

FINISHED = "nothing is left to try"
WAITING = "waiting for facts from other engines"
UNCHECKED = "it has a proof, which was not checked in time"
NOBODY = "no engine decided it"


def _distance(reason: str) -> int:
    """A number that is less for engines that are nearer to an answer."""
    return 3 if reason in UNSUPPORTED else 2 if reason == FINISHED else 1 if reason == WAITING else 0


@dataclass(slots=True)
class Undecided:
    """Engines' names include their integer model here, if there are several."""

    true_up_to: dict[str, int] = field(default_factory=dict)
    _stopped: dict[str, dict[str, str]] = field(default_factory=dict)  # property: engine: reason
    _unchecked: dict[str, str] = field(default_factory=dict)  # property: why a verdict on it was rejected

    def holds_up_to(self, prop: str, step: int) -> None:
        self.true_up_to[prop] = max(step, self.true_up_to.get(prop, -1))

    def add_reason(self, props: Iterable[str], engine: str, reason: str) -> None:
        """The engine works on these no more. Its first reason is kept."""
        for prop in props:
            self._stopped.setdefault(prop, {}).setdefault(engine, reason)

    def add_unchecked(self, prop: str, engine: str, why: str) -> None:
        self._unchecked[prop] = f"{engine} has a proof that could not be checked: {why}"

    def verdict(self, prop: str, running: Iterable[str], ended: str, provers: Iterable[str] = ()) -> Unknown:
        """The verdict if the run ends here. `ended` is what ended it, if the engines did not; the proofs of the
        `provers` have not been judged yet."""
        unchecked = dict.fromkeys(provers, UNCHECKED)
        stopped = {engine: why for engine, why in self._stopped.get(prop, {}).items() if engine not in unchecked}
        reasons = unchecked | dict(sorted(stopped.items(), key=lambda row: _distance(row[1])))
        words = [self._unchecked.get(prop) or ended]
        if unchecked:
            have = "have proofs, which were" if len(unchecked) > 1 else "has a proof, which was"
            words.append(f"{' and '.join(unchecked)} {have} not checked in time")
        reason = "; ".join(filter(None, words))
        if not reason:
            telling = (f"{engine}: {why}" for engine, why in reasons.items() if why not in (FINISHED, WAITING))
            reason = next(telling, NOBODY)
        left = tuple(dict.fromkeys(engine for engine in running if engine not in reasons))
        return Unknown(prop, reason, self.true_up_to.get(prop), reasons, left, tuple(unchecked))
