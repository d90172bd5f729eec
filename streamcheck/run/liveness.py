"""Claims about infinite runs: decided by engines that know single steps only (`transform.liveness`).

For each claim its specification gets monitors, and all engines work on the claims about these: a bound on the rounds
without the good thing is a proof [CS12], a run that comes back to a state a violation [BAS02]. The first of these ends
the work. Bounds too small are refuted, which decides nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamcheck.certify.replay import replay
from streamcheck.core.term import FALSE
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay, Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Trace, Unknown
from streamcheck.run.decision import Decision
from streamcheck.run.director import Director
from streamcheck.run.kept import Keeper, Offers
from streamcheck.run.registry import options_from
from streamcheck.run.stop import Stopped
from streamcheck.transform.liveness import BOUNDS, NO_LASSO, Monitored, lasso_of, name_of_bound, with_monitors
from streamcheck.transform.views import views

if TYPE_CHECKING:
    from streamcheck.run.prove import Settings


DOUBT = 4.0  # seconds at most for finding some run that counts
QUICK = 3.0  # seconds of each of several claims, before the open ones share what is left (heuristic)


@dataclass(slots=True)
class InfiniteRuns:
    """Decides claims about infinite runs of a specification until a point in time."""

    specification: Specification
    settings: Settings
    end: float  # by time.monotonic
    hear: Callable[[Result], None]
    stopped: Stopped | None = None
    alarms: list[str] = field(default_factory=list)

    def results(self, claims: Sequence[Claim]) -> list[Result]:
        """Each claim has a short time first, so that easy ones do not wait for hard ones; the open ones share the
        rest."""
        found: dict[str, Result] = {}
        if len(claims) > 1:
            for claim in claims:
                result = self._result(claim, min(QUICK, self._left / len(claims)))
                if result.verdict != "unknown":
                    found[claim.name] = result
                    self.hear(result)
        pending = [c for c in claims if c.name not in found]
        for i, claim in enumerate(pending):
            found[claim.name] = self._result(claim, self._left / (len(pending) - i))
            self.hear(found[claim.name])
        return [found[c.name] for c in claims]

    @property
    def _left(self) -> float:
        return max(0.0, self.end - time.monotonic())

    def doubts(self, results: Sequence[Result]) -> list[str]:
        """A warning if a proof may be about no run at all."""
        specification = self.specification
        given = specification.assumptions or specification.fairness
        if not given or self.stopped or not any(r.verdict == "proved" for r in results):
            return []
        if any(r.verdict == "falsified" for r in results):
            return []  # a run that meets all of them
        monitored = with_monitors(specification, Claim("an infinite run", FALSE))
        seconds = max(0.0, min(DOUBT, self.end - time.monotonic()))
        found = self._director(monitored, seconds)[0].run().get(NO_LASSO)
        if found is not None and found.verdict == "falsified":
            return []
        return ["no infinite run is known that meets the assumptions and is fair: a proof may be about none"]

    def _result(self, claim: Claim, seconds: float) -> Result:
        began = time.monotonic()
        monitored = with_monitors(self.specification, claim)
        director, keeper = self._director(monitored, seconds)
        decisions = director.run() if not self.stopped else {}
        if keeper is not None:
            keeper.save(decisions.values(), began + seconds)
        self.stopped = self.stopped or director.stopped
        self.alarms += [f"{claim.name}: {alarm}" for alarm in director.alarms]
        taken = time.monotonic() - began
        lasso = decisions.get(NO_LASSO)
        if lasso is not None and lasso.verdict == "falsified":
            return self._violation(claim, monitored, lasso, taken)
        proof = _proof_among(decisions, monitored)
        if proof is None:
            return _open_result(claim, director, decisions, taken)
        k = None if proof.name == NO_LASSO else next(k for k in BOUNDS if name_of_bound(k) == proof.name)
        return _result_of(claim, proof, taken, k, "no lasso" if k is None else "k-liveness")

    def _director(self, monitored: Monitored, seconds: float) -> tuple[Director, Keeper | None]:
        """The director for the claims about the monitors, and the keeper of what is decided, if there is a cache."""
        settings, problem, cache = self.settings, monitored.specification, self.settings.cache_in_use
        models = views(problem)
        keeper = None if cache is None else Keeper(cache, problem, models, blocks=settings.blocks)

        def end_early(director: Director) -> None:
            lasso = director.decisions.get(NO_LASSO)
            if _proof_among(director.decisions, monitored) or (lasso is not None and lasso.verdict == "falsified"):
                director.timeout = 0.0

        director = Director(
            problem,
            models,
            seconds,
            settings.jobs,
            settings.engines,
            settings.memory,
            settings.deterministic,
            options_from(settings.options),
            watch=end_early,
            promised=settings.promised or settings.timeout,
            offers=keeper.offers if keeper else Offers,
        )
        return director, keeper

    def _violation(self, claim: Claim, monitored: Monitored, found: Decision, seconds: float) -> Result:
        assert isinstance(found.evidence, Trace)
        lasso = lasso_of(monitored, found.evidence)
        shown = replay(self.specification, claim, lasso)
        if not isinstance(shown, Replay):
            why = shown if isinstance(shown, str) else shown.reason
            if isinstance(shown, str):
                self.alarms.append(f"{claim.name}: a lasso of {found.engine} does not replay: {why}")
            return _unknown_result(
                claim, Unknown(claim.name, f"a lasso of {found.engine} is no violation: {why}"), seconds
            )
        result = _result_of(claim, found, seconds, len(lasso.inputs) - 1, "")
        return replace(result, evidence=lasso, replay=shown, verdict="falsified")


def _proof_among(decisions: dict[str, Decision], monitored: Monitored) -> Decision | None:
    """The proof of the least bound, or that there is no lasso if that is one."""
    names = [*map(name_of_bound, BOUNDS), *([NO_LASSO] if monitored.is_finite else [])]
    return next((d for n in names if (d := decisions.get(n)) is not None and d.verdict == "proved"), None)


def _open_result(claim: Claim, director: Director, decisions: dict[str, Decision], seconds: float) -> Result:
    known = decisions.get(NO_LASSO)
    if known is None or known.unknown is None:
        reason = "no lasso breaks it, but its state has Int or Real: a number may grow forever"
        return _unknown_result(claim, Unknown(claim.name, reason), seconds)
    bounds = [k for k in BOUNDS if (d := decisions.get(name_of_bound(k))) is not None and d.verdict == "falsified"]
    more = f"; some run has more than {max(bounds)} rounds without it" if bounds else ""
    return _unknown_result(claim, replace(known.unknown, prop=claim.name, reason=known.unknown.reason + more), seconds)


def _unknown_result(claim: Claim, unknown: Unknown, seconds: float) -> Result:
    return Result(claim, "unknown", "", "", seconds, unknown, None, None, None, "", shortest=True)


def _result_of(claim: Claim, found: Decision, seconds: float, k: int | None, kind: str) -> Result:
    return Result(
        claim,
        "proved",
        found.engine,
        found.model,
        seconds,
        None,
        found.evidence,
        found.replay,
        k,
        kind,
        found.shortest,
        kept=found.kept,
    )
