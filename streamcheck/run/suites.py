"""Few runs that cover the goals of a specification: random ones first, then those that the engines find.

What a run covers is computed by the interpreter. The runs are chosen greedily, the one with most goals that no other
has first, each cut after the last step that covers a new goal."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.core.types import Value, assemble, part_names
from streamcheck.engines.random_runs import Simulator
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.result import Result
from streamcheck.problem.specification import Named, Specification
from streamcheck.problem.test_suite import ExternRow, GoalState, SuiteOfRuns
from streamcheck.problem.verdict import Certificate
from streamcheck.run.prove import Settings, prove
from streamcheck.transform.coverage_goals import goals_of
from streamcheck.transform.decision_goals import decision_goals
from streamcheck.transform.scalar_system import always, to_system
from streamcheck.transform.weaken import equations_alone

RUNS = 40  # random ones
LENGTHS = (5, 20, 60)  # steps
CALM = (0.0, 0.5, 0.9, 1.0)  # how likely an input keeps its value


def suite_of(specification: Specification, settings: Settings) -> SuiteOfRuns:
    """The runs for all goals of the specification, as far as they are found in the time."""
    began = time.monotonic()
    specification = equations_alone(specification)
    _require_outputs_of_inputs(specification)
    goals = _all_goals(specification)
    interpreter = GoalInterpreter(specification, goals)
    inside = [g for g in goals if g in interpreter.decided]
    candidates = random_rows(specification)
    met = {goal for rows in candidates for _, goal in interpreter.goals_met(rows)}
    missing = [g for g in inside if g not in met]
    results = _answers(specification, missing, settings, began)
    for result in results.values():
        if result.run is not None and result.run.length == len(result.run.steps):
            externs = [i.var for i in specification.inputs if i.extern]
            candidates.append([{v: step[v] for v in externs} for step in result.run.steps])
    runs = _chosen_runs(interpreter, candidates)
    at: dict[Claim, tuple[int, int]] = {}
    for number, rows in enumerate(runs):
        for step, goal in interpreter.goals_met(rows):
            at.setdefault(goal, (number, step))
    states = tuple(_state(goal, interpreter, at, results) for goal in goals)
    return SuiteOfRuns(specification, tuple(runs), states, time.monotonic() - began)


def _require_outputs_of_inputs(specification: Specification) -> None:
    """SpecError if an output depends on an `unknown`: its value is not known from the inputs of a run."""
    free = {i.var for i in specification.inputs if not i.extern}
    outputs = [(f"trigger {t.name}", t.where, list(t.terms())) for t in specification.triggers]
    outputs += [(f"observer {o.name}", o.where, [o.term]) for o in specification.observers]
    for name, where, terms in outputs:
        if not free.isdisjoint(specification.needed_by(terms)):
            text = f"{name} depends on an unknown, so the inputs of a run do not give its value"
            raise SpecError(text, where, write="extern in place of unknown")


def _all_goals(specification: Specification) -> list[Claim]:
    """The goals, and what the user wants to be reachable, such as modes. Each term once."""
    wanted = [p for p in specification.properties if p.goal is Goal.REACHABLE]
    found: dict[Term, Claim] = {}
    for goal in (*wanted, *goals_of(specification), *decision_goals(specification)):
        found.setdefault(goal.term, goal)
    return list(found.values())


def _answers(
    specification: Specification, goals: Sequence[Claim], settings: Settings, began: float
) -> dict[Claim, Result]:
    """The answers of the engines on these goals."""
    if not goals:
        return {}
    left = max(0.0, settings.timeout - (time.monotonic() - began))
    alone = replace(specification, properties=tuple(goals))
    verdicts = prove(alone, replace(settings, timeout=left, promised=settings.timeout))
    return {result.prop: result for result in verdicts.results}


def random_rows(specification: Specification) -> list[list[ExternRow]]:
    """Runs on random inputs, which meet the assumptions as far as engines' simulation knows; always the same."""
    system = always(to_system(specification))
    simulator = Simulator(system)
    position = {v.payload: i for i, v in enumerate(system.inputs)}
    found: list[list[ExternRow]] = []
    for number in range(RUNS):
        steps = simulator.input_rows(LENGTHS[number % len(LENGTHS)], CALM[number % len(CALM)])
        rows = [_row(specification, position, step) for step in steps]
        if rows:
            found.append(rows)
    return found


def _row(specification: Specification, position: dict[object, int], scalars: tuple[Value, ...]) -> ExternRow:
    row: dict[Term, Value] = {}
    for given in specification.inputs:
        if given.extern:
            parts = (scalars[position[name]] for name, _ in part_names(given.name, given.type))
            row[given.var] = assemble(given.type, parts)
    return row


class GoalInterpreter:
    """The interpreter of a specification whose observers are goals."""

    def __init__(self, specification: Specification, goals: Sequence[Claim]) -> None:
        named = tuple(Named(f"goal {i}", g.term, g.where) for i, g in enumerate(goals))
        shown = replace(specification, triggers=(), observers=named, properties=(), wires=())
        opened = {*(c.var for c in shown.constants), *(i.var for i in shown.inputs if not i.extern)}
        opened |= {c.var for c in shown.cells if c.free}
        decided = [i for i, n in enumerate(named) if opened.isdisjoint(shown.needed_by([n.term]))]
        self.decided = {goals[i] for i in decided}
        self.plan = plan(replace(shown, observers=tuple(named[i] for i in decided)))
        self.goals = {named[i].name: goals[i] for i in decided}
        self.steps = stepper(self.plan)

    def goals_met(self, rows: Sequence[ExternRow]) -> list[tuple[int, Claim]]:
        """The goals that are met, each at its first step, as far as all assumptions are."""
        found: dict[str, int] = {}
        for step in self.steps(tuple(row[v] for v in self.plan.inputs) for row in rows):
            if step.unmet:
                break
            for name, value in step.observers.items():
                if value:
                    found.setdefault(name, step.step)
        return [(step, self.goals[name]) for name, step in found.items()]


def _chosen_runs(interpreter: GoalInterpreter, candidates: Sequence[Sequence[ExternRow]]) -> list[Sequence[ExternRow]]:
    """Greedily those with most goals that are not covered yet, of equal ones the shortest."""
    covers = [interpreter.goals_met(rows) for rows in candidates]
    done: set[Claim] = set()
    runs: list[Sequence[ExternRow]] = []
    while True:
        best, gain, length = 0, 0, 0
        for i, pairs in enumerate(covers):
            new = [step for step, goal in pairs if goal not in done]
            if new and (len(new), -max(new)) > (gain, -length):
                best, gain, length = i, len(new), max(new)
        if not gain:
            return runs
        runs.append(candidates[best][: length + 1])
        done.update(goal for step, goal in covers[best] if step <= length)


def _state(
    goal: Claim, interpreter: GoalInterpreter, at: dict[Claim, tuple[int, int]], results: dict[Claim, Result]
) -> GoalState:
    if goal in at:
        return GoalState(goal, "covered", *at[goal])
    if goal not in interpreter.decided:
        return GoalState(goal, "not by inputs")
    result = results[goal]
    if isinstance(result.evidence, Certificate):
        return GoalState(goal, "never", certificate=result.evidence)
    return GoalState(goal, "open", reason=result.reason or "the run that was found is too long, or not one of inputs")
