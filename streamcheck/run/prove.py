"""Proving a spec: equations in, a result for each property out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Literal

from streamcheck.certify.locations import invariants_of
from streamcheck.certify.program_path import path_of
from streamcheck.certify.replay import Replay
from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.problem.automaton import Automaton, Executed
from streamcheck.problem.claim import Claim, Goal, VacuityTest
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate, Trace
from streamcheck.run.director import Alarm, Decision, Director
from streamcheck.run.problems import models
from streamcheck.run.standby import Standby
from streamcheck.run.strategy import check_names, processors
from streamcheck.transform.automata import in_integers, scalar
from streamcheck.transform.integers import has_machine_integers
from streamcheck.transform.vacuity import with_vacuity_tests

__all__ = ["Alarm", "Result", "Settings", "Verdicts", "prove"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How much may be spent, and by whom."""

    timeout: float = 60.0
    jobs: int = field(default_factory=processors)
    engines: Sequence[str] = ()
    props: Sequence[str] = ()
    memory: int | None = None  # bytes, for the workers together
    deterministic: bool = False  # one worker for all engines: the same answers every time


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one property. A `reachable` property that is proved has a witness in `trace` and `replay`; one
    that is falsified, a certificate that no run gets there."""

    prop: Claim
    verdict: Literal["proved", "falsified", "unknown"]
    engine: str
    model: str
    seconds: float
    reason: str
    certificate: Certificate | None
    trace: Trace | None
    replay: Replay | None
    shortest: bool  # of a run: whether every shorter one is known not to do
    path: Sequence[Executed] | None = None  # of a program's counterexample: its statements
    invariants: Mapping[str, Term] | None = None  # of a program's proof: what holds at each location, where that is why

    @property
    def name(self) -> str:
        return self.prop.name

    @property
    def k(self) -> int | None:
        """The step of the violation (or witness), counted from 0; the k of a proof."""
        if self.trace is not None:
            return self.trace.length - 1
        return None if self.certificate is None else self.certificate.k


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The results for one spec, in the order of its properties."""

    equations: Specification
    results: list[Result]
    seconds: float
    warnings: list[str]
    machine: bool  # whether there are machine integers, so that their model is worth a word

    @property
    def status(self) -> int:
        verdicts = {r.verdict for r in self.results}
        return 1 if "falsified" in verdicts else 3 if "unknown" in verdicts else 0


def prove(
    equations: Specification,
    settings: Settings,
    watch: Callable[[Director], None] = lambda _: None,
    standby: Standby | None = None,
) -> Verdicts:
    check_names(settings.engines)
    chosen = _selected(equations, settings.props)
    claims = with_vacuity_tests(chosen)
    modelled = models(claims)
    director = Director(
        claims,
        modelled,
        settings.timeout,
        settings.jobs,
        settings.engines,
        settings.memory,
        settings.deterministic,
        watch=watch,
        standby=standby,
    )
    decisions = director.run()
    of_program = _OfProgram(chosen)
    results = [of_program.completed(_result(p, decisions[p.name])) for p in chosen.properties]
    warnings = [*equations.warnings, *director.deaths, *_vacuous(claims, decisions), *_undefined(equations, decisions)]
    machine = len(modelled) > 1 or has_machine_integers(modelled[0].system)
    return Verdicts(chosen, results, director.elapsed, warnings, machine)


def _selected(equations: Specification, names: Sequence[str]) -> Specification:
    """The properties of these names, in which `*` stands for anything."""
    known = [p.name for p in equations.properties]
    chosen: set[str] = set()
    for name in names:
        fitting = [k for k in known if k == name or fnmatchcase(k, name)]
        if not fitting:
            raise SpecError(f'{equations.name} has no property named "{name}", it has {", ".join(known) or "none"}')
        chosen.update(fitting)
    if not names:
        return equations
    return replace(equations, properties=tuple(p for p in equations.properties if p.name in chosen))


def _result(prop: Claim, decision: Decision) -> Result:
    verdict: Any = decision.verdict
    if prop.goal is Goal.REACHABLE and verdict != "unknown":
        verdict = "falsified" if verdict == "proved" else "proved"
    return Result(
        prop,
        verdict,
        decision.engine,
        decision.model,
        decision.seconds,
        decision.reason,
        decision.certificate,
        decision.trace,
        decision.replay,
        decision.shortest,
    )


def _undefined(equations: Specification, decisions: dict[str, Decision]) -> list[str]:
    """A C program means nothing after its first undefined operation, so proofs end there: also where nobody asked
    whether there is one."""
    if equations.program is None:
        return []
    shown = {name for name, d in decisions.items() if d.verdict == "proved"}
    doubtful = [p.name for p in equations.properties if p.is_implied and p.name not in shown]
    if not doubtful:
        return []
    first = doubtful[0] if doubtful[0] in decisions else f"{doubtful[0]} (not looked at)"
    return [f"C does not say what happens after a failure of {first}: what is proved holds up to there"]


class _OfProgram:
    """Completes results with the path through the program that was found, or the invariants of its locations. Many
    properties may share one certificate."""

    def __init__(self, equations: Specification) -> None:
        self.program = equations.program
        self._invariants: dict[tuple[str, Certificate], Mapping[str, Term] | None] = {}

    def completed(self, result: Result) -> Result:
        program = self.program
        if program is None:
            return result
        if result.trace is not None and result.replay is not None:
            path = path_of(self._scalar_source, program.blocks, result.trace, result.replay.steps)
            if isinstance(path, str):
                raise Alarm(f"{result.name}: the counterexample of {result.engine} is no run of the program: {path}")
            return replace(result, path=path)
        if result.certificate is not None:
            key = result.model, result.certificate
            if key not in self._invariants:
                blocks = self._blocks_over_int if result.model == "integers" else program.blocks
                self._invariants[key] = invariants_of(blocks, result.certificate)
            return replace(result, invariants=self._invariants[key])
        return result

    @cached_property
    def _scalar_source(self) -> Automaton:
        assert self.program is not None
        return scalar(self.program.source)

    @cached_property
    def _blocks_over_int(self) -> Automaton:
        assert self.program is not None
        return in_integers(self.program.blocks)


def _vacuous(specification: Specification, decisions: dict[str, Decision]) -> list[str]:
    """Warnings for vacuity tests that were proved: the strongest about the assumptions, else one for each premise."""
    proved = [p for p in specification.properties if decisions[p.name].verdict == "proved"]
    tests = [p.origin for p in proved if isinstance(p.origin, VacuityTest)]
    lengths = [test.steps for test in tests if test.of is None]
    if 1 in lengths:
        return ["no run meets the assumptions, so nothing was shown"]
    if lengths:
        return [f"no run meets the assumptions for {min(lengths)} steps: what comes later was not looked at"]
    return [f"{test.of} is true only because the left side of its `implies` never is" for test in tests]
