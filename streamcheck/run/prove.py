"""Proving a spec: equations in, a result for each property out."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import islice
from typing import TYPE_CHECKING, Protocol, assert_never

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import mean_or_choose
from streamcheck.core.types import plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim, Goal, VacuityTest, Written
from streamcheck.problem.problem import Problem, with_properties
from streamcheck.problem.result import PathReplay, Replay, Result, Verdicts, Word
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import EdgePath, Trace, Unknown
from streamcheck.run.cache import Cache
from streamcheck.run.crew import Crew
from streamcheck.run.decision import Alarm, Decision
from streamcheck.run.director import LONGEST_GRACE, Director
from streamcheck.run.failing_states import FailingStates
from streamcheck.run.kept import Keeper, Offers
from streamcheck.run.limits import OutOfTime, time_limit
from streamcheck.run.model_ends import ends_before, is_final, within_model
from streamcheck.run.registry import options_from
from streamcheck.run.second_look import ENGINE, look_again, time_set_aside
from streamcheck.run.simplest import MOST_WORK, simplest_run
from streamcheck.run.simplest_path import MOST_STATEMENTS, simplest_path
from streamcheck.run.standby import Standby
from streamcheck.run.stop import Stopped
from streamcheck.run.strategy import check_names, processors
from streamcheck.transform.bound import with_bound
from streamcheck.transform.integers import has_machine_integers
from streamcheck.transform.vacuity import with_premise_tests, with_vacuity_tests
from streamcheck.transform.views import View, views

if TYPE_CHECKING:
    from streamcheck.engines.settings import Setting

__all__ = ["Alarm", "Audience", "Settings", "none_of", "prove"]
DISTANT = 1000  # workers: a crew has an order of its own
MANY = 20  # violations have less time each to be made simple
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits and the engines of a run."""

    timeout: float = 60.0
    promised: float | None = field(default=None, kw_only=True)  # the timeout that the user gave, if that is longer
    jobs: int = field(default_factory=processors)
    engines: Sequence[str] = ()
    props: Sequence[str] = ()
    memory: int | None = None  # bytes, for the workers together
    blocks: bool = True  # of programs: loop-free code as single steps
    deterministic: bool = False  # one worker for all engines: the same answers every time
    options: Mapping[str, Setting] = field(default_factory=dict)  # of engines, by "engine.option"
    bound: int | None = None  # of the runs, in steps
    explain: float = 0.0  # seconds, the last of the timeout, for explaining what has no verdict
    strict: bool = False  # warnings are errors, and vacuity tests have as much time as properties
    cache: Cache | None = None  # of evidence from earlier runs
    lemmas: bool = False  # some assumptions are proved elsewhere: no question if the assumptions end every run
    only_lemmas: bool = False  # all are: no question if there are runs
    crew: Crew | None = field(default=None, kw_only=True)  # workers on other machines

    @property
    def cache_in_use(self) -> Cache | None:
        """The cache, unless answers of certain engines are asked for."""
        return None if self.engines or self.options or self.deterministic else self.cache


class Audience(Protocol):
    """Those who hear of a proof while it goes on."""

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None:
        """The proof of these properties begins; `machine` and `bound` as in `Verdicts`."""

    def hear(self, result: Result) -> None:
        """This result is final."""

    def watch(self, director: Director) -> None:
        """Called every few hundredths of a second."""


class Nobody:
    """An audience that does not listen."""

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None: ...

    def hear(self, result: Result) -> None: ...

    def watch(self, director: Director) -> None: ...


NOBODY = Nobody()


def prove(
    problem: Problem, settings: Settings, audience: Audience = NOBODY, standby: Standby | None = None
) -> Verdicts:
    check_names(settings.engines)
    if not settings.blocks and isinstance(problem, Specification):
        raise SpecError(f"{problem.name}: --no-blocks is for programs (.c, .aut)")
    selected = select(problem, settings.props)
    if isinstance(selected, Specification) and any(p.is_about_infinite_runs for p in selected.properties):
        return with_infinite_runs(selected, settings, audience, standby, prove)
    chosen = _within_bound(selected, settings.bound)
    began = time.monotonic()
    try:
        with time_limit(settings.timeout, "encoding"):
            tested = _with_tests(chosen, settings)
            models = views(tested, blocks=settings.blocks)
    except OutOfTime:
        given = settings.promised or settings.timeout
        reason = f"timed out after {given:.3g} s, before the proof began"
        return _all_unknown(chosen, reason, time.monotonic() - began)
    except Stopped as signal:
        return none_of(chosen, signal.status)
    _log_size(problem, chosen, tested, models)
    machine = len(models) > 1 or has_machine_integers(models[0].system)
    audience.begin(chosen, machine=machine, bound=settings.bound)
    cache = settings.cache_in_use
    keeper = None if cache is None else Keeper(cache, tested, models, blocks=settings.blocks)
    seconds = max(0.0, began + settings.timeout - settings.explain - time.monotonic())
    beside = FailingStates(_to_explain(chosen, settings), seconds)
    is_second = settings.crew is None and (ENGINE in settings.engines or not settings.engines)
    aside = time_set_aside(tested, seconds) if is_second else 0.0
    director = Director(
        tested,
        models,
        seconds,
        settings.jobs if settings.crew is None else DISTANT,
        settings.engines,
        settings.memory if settings.crew is None else None,
        settings.deterministic,
        options_from(settings.options),
        promised=settings.promised or settings.timeout,
        thorough=settings.strict or (settings.lemmas and not chosen.properties),
        watch=_watcher(audience, tested, chosen, settings.bound, beside, (seconds, seconds - aside)),
        standby=standby if settings.crew is None else None,
        offers=keeper.offers if keeper else Offers,
        crew=settings.crew,
        grace=LONGEST_GRACE if settings.crew is None else settings.crew.grace,
    )
    with beside:
        decisions = director.run()
        _look_again(tested, settings, director, aside)
    if not director.stopped:
        _simplify(tested, chosen, director, chosen.properties)
    if keeper:
        keeper.save(decisions.values(), began + settings.timeout)
    results = within_model(chosen, [_result(p, decisions[p.name], settings.bound) for p in chosen.properties])
    end = began + settings.timeout
    results = _with_explanations(chosen, settings, director, beside, results, end)
    doubts = _doubts_of_ends(tested, settings, director, end)
    LOG.info("%s: finished after %.3f s", problem.name, director.elapsed)
    warnings = [
        *problem.warnings,
        *director.deaths,
        *_vacuous(tested, decisions),
        *doubts,
        *_undefined_operations(problem, decisions),
        *(_doubts(problem, tested, decisions) if settings.strict else ()),
    ]
    stopped = director.stopped.status if director.stopped else 0
    seconds, alarms = director.elapsed, director.alarms
    return Verdicts(chosen, results, seconds, warnings, machine, settings.bound, alarms, stopped, settings.strict)


def _look_again(tested: Problem, settings: Settings, director: Director, seconds: float) -> None:
    """Put violations into the decisions on claims of which only those were found that are none."""
    rejected = {n: k for n, k in director.rejected.items() if director.decisions[n].verdict == "unknown"}
    if not director.stopped:
        found, director.stopped = look_again(
            tested, rejected, seconds, settings.memory, deterministic=settings.deterministic
        )
        director.decisions |= {decision.name: replace(decision, seconds=director.elapsed) for decision in found}


def _log_size(problem: Problem, chosen: Problem, tested: Problem, models: Sequence[View]) -> None:
    LOG.info(
        "%s: %s (%d implied), %s; integer models: %s",
        problem.name,
        plural(len(chosen.properties), "property"),
        sum(p.is_implied for p in chosen.properties),
        plural(len(tested.properties) - len(chosen.properties), "vacuity test"),
        ", ".join(view.model for view in models),
    )


def about_steps_only(problem: Specification, names: Sequence[str], what: str) -> Specification:
    """The specification without claims about infinite runs. SpecError if a name asks for one."""
    chosen = select(problem, names).properties if names else ()
    for claim in chosen:
        if claim.is_about_infinite_runs:
            raise SpecError(f"{claim.name} is about infinite runs, and {what} is asked of steps", claim.where)
    return problem.about_steps()


def with_infinite_runs(
    selected: Specification,
    settings: Settings,
    audience: Audience,
    standby: Standby | None,
    prove_steps: Callable[[Problem, Settings, Audience, Standby | None], Verdicts],
) -> Verdicts:
    """The verdicts on a specification with claims about infinite runs: the others first, in half of the time."""
    from streamcheck.run.liveness import InfiniteRuns

    endless = [p for p in selected.properties if p.is_about_infinite_runs]
    if settings.bound is not None:
        raise SpecError(f"{endless[0].name} is about infinite runs, and --bound asks about runs of so many steps")
    end = time.monotonic() + settings.timeout
    steps = selected.about_steps()
    share = settings.timeout / 2 if steps.properties else 0.0
    first = replace(settings, props=(), timeout=share, promised=settings.promised or settings.timeout)
    hearing = Hearing(audience, selected)
    verdicts = prove_steps(steps, first, hearing, standby)
    runs = InfiniteRuns(selected, settings, end, hearing.hear if hearing.has_begun else NOBODY.hear)
    later = runs.results(endless) if not verdicts.stopped else []
    found = {r.name: r for r in (*verdicts.results, *later)}
    interrupted = Unknown("", "interrupted before the proof began")
    for claim in endless:
        found.setdefault(claim.name, _result(claim, Decision(claim.name, "unknown", unknown=interrupted), None))
    stopped = verdicts.stopped or (runs.stopped.status if runs.stopped else 0)
    return replace(
        verdicts,
        problem=selected,
        results=[found[p.name] for p in selected.properties],
        seconds=settings.timeout - (end - time.monotonic()),
        machine=verdicts.machine or any(result.model == "integers" for result in found.values()),
        warnings=[*verdicts.warnings, *runs.doubts(later)],
        alarms=[*verdicts.alarms, *runs.alarms],
        stopped=stopped,
    )


@dataclass(slots=True)
class Hearing:
    """The audience of proofs of some of the properties, which hears once that it begins."""

    audience: Audience
    whole: Problem  # with all of them
    has_begun: bool = False

    def begin(self, problem: Problem, *, machine: bool, bound: int | None) -> None:
        if self.has_begun:
            return
        self.has_begun = True
        self.audience.begin(self.whole, machine=machine, bound=bound)

    def hear(self, result: Result) -> None:
        self.audience.hear(result)

    def watch(self, director: Director) -> None:
        self.audience.watch(director)


def _with_explanations(
    chosen: Problem, settings: Settings, director: Director, beside: FailingStates, results: list[Result], end: float
) -> list[Result]:
    """The results, with what is known of those without a verdict; after a signal, what is known already."""
    if not isinstance(chosen, Specification) or not settings.explain:
        return results
    if all(result.verdict != "unknown" for result in results):
        return results
    from streamcheck.run.explain import Explainer, found_candidates, found_certificates, induction_depth

    seconds = 0.0 if director.stopped else min(settings.explain, end - time.monotonic())
    found, candidates = list(found_certificates(director)), found_candidates(director)
    explainer = Explainer(chosen, settings, seconds, found, candidates, induction_depth(director), beside)
    try:
        explained = explainer.explain(results)
    except Stopped as stopped:
        director.stopped = director.stopped or stopped
        return results
    if explainer.stopped:
        director.stopped = Stopped("stopped", explainer.stopped)
    return explained


def _to_explain(chosen: Problem, settings: Settings) -> Specification | None:
    """The problem, if states from which its properties fail are sought beside the engines: not if answers must be the
    same every time, nor if memory is limited."""
    wanted = settings.explain > 0 and not settings.deterministic and settings.memory is None
    return chosen if wanted and isinstance(chosen, Specification) else None


def _doubts_of_ends(tested: Problem, settings: Settings, director: Director, end: float) -> list[str]:
    """A warning if the assumptions may end every run."""
    decisions = director.decisions
    if settings.lemmas or not isinstance(tested, Specification) or director.stopped:
        return []
    if not _asks_for_ends(tested, decisions, settings):
        return []
    from streamcheck.run.endless import SECONDS, EndlessRun

    seconds = min(SECONDS, end - time.monotonic())
    search = EndlessRun(tested, _assumed_run(tested, decisions), seconds, settings.jobs, settings.deterministic)
    doubt = search.doubt()
    director.stopped = search.stopped
    return [doubt] if doubt else []


def _watcher(
    audience: Audience,
    tested: Problem,
    chosen: Problem,
    bound: int | None,
    beside: FailingStates,
    seconds: tuple[float, float],
) -> Callable[[Director], None]:
    """A function that tells the audience of each decision that is final, and of the progress. Of the two limits the
    second holds while something is open of which a counterexample was rejected: a second look follows."""
    places = {claim.name: i for i, claim in enumerate(chosen.properties)} if is_final(chosen) else {}
    known = 0  # decisions

    def look(director: Director) -> None:
        nonlocal known
        new = islice(reversed(director.decisions), len(director.decisions) - known)
        known = len(director.decisions)
        for place in sorted(places[name] for name in new if name in places):
            claim = chosen.properties[place]
            _simplify(tested, chosen, director, [claim])
            audience.hear(_result(claim, director.decisions[claim.name], bound))
        if director.rejected:
            director.timeout = seconds[not director.rejected.keys().isdisjoint(director.open_properties())]
        beside.look(director)
        audience.watch(director)

    return look


def _simplify(tested: Problem, chosen: Problem, director: Director, claims: Sequence[Claim]) -> None:
    """Put simpler runs into the decisions on these claims, as long as there is time. A kept one has been made simple
    before."""
    many = 1 + len(chosen.properties) // MANY
    for claim in claims:
        if director.elapsed >= director.timeout:
            return
        decision = director.decisions[claim.name]
        if decision.simplified or decision.kept:
            continue
        found: tuple[Trace | EdgePath, Replay | PathReplay] | None = None
        match tested, decision.replay, decision.evidence:
            case Specification(), Replay() as run, _ if run.length == len(run.steps):
                found = simplest_run(tested, claim, run, shorten=not decision.shortest, work=MOST_WORK // many)
            case Automaton(), PathReplay(), EdgePath() as path:
                found = simplest_path(tested, claim, path, MOST_STATEMENTS // many)
        decision.simplified = True
        if found is not None:
            decision.evidence, decision.replay = found
            if isinstance(found[0], Trace):
                decision.k = found[0].length - 1
                depth = director.depth_of(claim.name)
                decision.shortest |= depth is not None and depth >= decision.k - 1


def none_of(problem: Problem, stopped: int) -> Verdicts:
    """The verdicts on a problem whose proof a signal kept from beginning."""
    return replace(_all_unknown(problem, "interrupted before the proof began", 0.0), stopped=stopped)


def _all_unknown(problem: Problem, reason: str, seconds: float) -> Verdicts:
    """Every property unknown for the same reason."""
    results = [
        _result(p, Decision(p.name, "unknown", seconds=seconds, unknown=Unknown(p.name, reason)), None)
        for p in problem.properties
    ]
    return Verdicts(problem, results, seconds, list(problem.warnings), False)


def _within_bound(problem: Problem, steps: int | None) -> Problem:
    if steps is None:
        return problem
    if not isinstance(problem, Specification):
        raise SpecError(f"{problem.name}: `--bound` counts the steps of a spec, and this is a program")
    return with_bound(problem, steps)


def _with_tests(problem: Problem, settings: Settings) -> Problem:
    """The problem with its vacuity tests. Programs have none."""
    match problem:
        case Specification():
            if settings.only_lemmas:
                return with_premise_tests(problem)
            return (
                with_vacuity_tests(problem) if settings.bound is None else with_vacuity_tests(problem, settings.bound)
            )
        case Automaton():
            return problem
    assert_never(problem)


def select(problem: Problem, names: Sequence[str]) -> Problem:
    """The problem with the properties of these names, in which `*` stands for anything."""
    known = [p.name for p in problem.properties]
    chosen: set[str] = set()
    for name in names:
        fitting = [k for k in known if k == name or fnmatchcase(k, name)]
        if not fitting:
            others = mean_or_choose(name, known, "it has") if known else ", it has none"
            raise SpecError(f'{problem.name} has no property named "{name}"{others}')
        chosen.update(fitting)
    chosen |= ends_before(problem, chosen)
    return with_properties(problem, chosen) if names else problem


def _result(prop: Claim, decision: Decision, bound: int | None) -> Result:
    verdict = decision.verdict
    if bound is not None and verdict == "proved":
        verdict = "bounded"
    if prop.goal is Goal.REACHABLE:
        verdict = OPPOSITE[verdict]
    return Result(
        prop,
        verdict,
        decision.engine,
        decision.model,
        decision.seconds,
        decision.unknown,
        decision.evidence,
        decision.replay,
        None if decision.evidence is None else decision.k,
        decision.kind,
        decision.shortest,
        kept=decision.kept,
    )


# A certificate denies that a claim is reachable, a run shows it.
OPPOSITE: Mapping[Word, Word] = {
    "proved": "falsified",
    "falsified": "proved",
    "bounded": "bounded",
    "unknown": "unknown",
}


def _undefined_operations(problem: Problem, decisions: dict[str, Decision]) -> list[str]:
    """A C program means nothing after its first undefined operation, so proofs end there: also if nobody asked whether
    there is one."""
    match problem:
        case Specification():
            return []
        case Automaton():
            proved = {name for name, d in decisions.items() if d.verdict == "proved"}
            ends = {e.name for e in problem.errors if e.limit is not None}
            doubtful = [p.name for p in problem.properties if p.is_implied and p.name not in proved | ends]
            if not doubtful:
                return []
            first = doubtful[0] if doubtful[0] in decisions else f"{doubtful[0]} (not checked)"
            return [f"C does not define what happens after a failure of {first}: proofs hold up to there"]
    assert_never(problem)


def _vacuous(problem: Problem, decisions: dict[str, Decision]) -> list[str]:
    """Warnings for vacuity tests that were proved: the strongest about the assumptions, else one for each premise."""
    proved = [p for p in problem.properties if decisions[p.name].verdict == "proved"]
    tests = [p.origin for p in proved if isinstance(p.origin, VacuityTest)]
    lengths = [test.steps for test in tests if test.of is None]
    if 1 in lengths:
        return ["no run meets the assumptions, so the proofs are vacuous"]
    if lengths:
        return [f"no run meets the assumptions for {min(lengths)} steps: later steps were not checked"]
    return [f"{test.of} is true only because the left side of its `implies` never is" for test in tests]


def _asks_for_ends(specification: Specification, decisions: dict[str, Decision], settings: Settings) -> bool:
    """True if something is proved under assumptions, for all time, and runs of some steps may meet them."""
    lasting = [p for p in specification.properties if isinstance(p.origin, VacuityTest) and p.origin.of is None]
    proved = any(decisions[p.name].verdict == "proved" for p in specification.properties if not p.is_vacuity_test)
    ends = any(decisions[p.name].verdict == "proved" for p in lasting)
    return bool(specification.assumptions) and settings.bound is None and proved and not ends


def _assumed_run(specification: Specification, decisions: dict[str, Decision]) -> Replay | None:
    """A run that meets the assumptions, if a vacuity test has shown one; the longest."""
    tests = [p.name for p in specification.properties if isinstance(p.origin, VacuityTest) and p.origin.of is None]
    shown = [run for run in (decisions[name].replay for name in tests) if isinstance(run, Replay)]
    runs = [run for run in shown if run.length == len(run.steps)]
    return max(runs, key=lambda run: len(run.steps), default=None)


def _doubts(problem: Problem, tested: Problem, decisions: dict[str, Decision]) -> Iterator[str]:
    """Why the verdicts may say little, if strictly judged: no property, or a vacuity test without a verdict."""
    if not any(isinstance(p.origin, Written) for p in problem.properties) and isinstance(problem, Specification):
        yield "the spec has no property of its own"
    for claim in tested.properties:
        test = claim.origin
        if isinstance(test, VacuityTest) and decisions[claim.name].verdict == "unknown":
            steps = plural(test.steps, "step")
            open_question = f"the left side of the `implies` of {test.of} is ever true" if test.of else ""
            yield f"it is not known if {open_question or f'a run meets the assumptions for {steps}'}"
