"""Proving a spec: equations in, a result for each property out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from streamcheck.certify.locations import invariants_of
from streamcheck.certify.program_path import path_of
from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim, Goal, VacuityTest
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.director import Alarm, Decision, Director
from streamcheck.run.problems import models
from streamcheck.run.standby import Standby
from streamcheck.run.strategy import check_names, processors
from streamcheck.transform.automata import in_integers, scalar
from streamcheck.transform.integers import has_machine_integers
from streamcheck.transform.vacuity import with_vacuity_tests

__all__ = ["Alarm", "Settings", "prove"]


@dataclass(frozen=True, slots=True)
class Settings:
    """How much may be spent, and by whom."""

    timeout: float = 60.0
    jobs: int = field(default_factory=processors)
    engines: Sequence[str] = ()
    props: Sequence[str] = ()
    memory: int | None = None  # bytes, for the workers together
    deterministic: bool = False  # one worker for all engines: the same answers every time


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
