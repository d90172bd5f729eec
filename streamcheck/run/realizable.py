"""Is there a component that keeps all guarantees, whatever the environment does?

A child process plays the game (`synthesis.solve`) and sends what it finds; if it takes longer, another one tries
k-induction (`synthesis.induction`). An answer is believed only after a proof, by the
ordinary engines and their checker: of the implementation, or of the environment's strategy (`transform.realization`).
A run that is shown is computed here, step by step, and at its end it is proved that no outputs are left.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from select import select
from typing import Any

from streamcheck.core.evaluate import evaluate
from streamcheck.core.term import Term, constant
from streamcheck.core.types import Value, part_names
from streamcheck.core.wire import TermReader, TermWriter
from streamcheck.problem.contract import contract_of
from streamcheck.problem.realizability import Realizability
from streamcheck.problem.specification import Specification
from streamcheck.run.child import Channel, Child, Ended, Forged
from streamcheck.run.prove import Settings, prove
from streamcheck.run.strategy import processors
from streamcheck.transform.contract_questions import environment_of, joint
from streamcheck.transform.realization import (
    ComponentMove,
    EnvironmentMove,
    Game,
    NoGame,
    counterstrategy,
    dead_end,
    game_of,
    implementation,
)
from streamcheck.transform.scalar_game import ScalarGame

SEARCH = 0.7  # the share of the time for the game; the rest is for the proof of its outcome
HEAD_START = 2.0  # seconds after which k-induction is tried too (heuristic)
FIXPOINT = "fixpoint"


@dataclass(frozen=True, slots=True)
class GameOutcome:
    """Terms and values as the child sends them."""

    answers: tuple[ComponentMove, ...] = ()
    rules: tuple[EnvironmentMove, ...] = ()
    names: tuple[str, ...] = ()
    start: Mapping[Term, Value] = field(default_factory=dict)
    run: tuple[Mapping[Term, Value], ...] = ()
    is_smallest: bool = False
    way: str = FIXPOINT


def realizable(specification: Specification, timeout: float = 60.0, jobs: int | None = None) -> Realizability:
    """The answer for a specification whose outputs are its `unknown`s, and whose guarantees are its properties; for
    the contract, if it is the body of a component."""
    began = time.monotonic()
    if all(i.extern for i in specification.inputs) and any(not i.name for i in specification.instances):
        specification = contract_of(specification).open

    def time_left() -> float:
        return max(1.0, began + timeout - time.monotonic())

    answer = _answer(specification, timeout, jobs)
    if specification.assumptions and answer.verdict != "unknown":
        environment = _answer(environment_of(specification), time_left(), jobs)
        answer = replace(answer, environment=replace(environment, run=_in_step(specification, environment.run)))
    if answer.verdict == "unrealizable":
        answer = replace(answer, together=_answer(joint(specification), time_left(), jobs))
    return answer


def _in_step(specification: Specification, run: Sequence[Mapping[Term, Value]]) -> tuple[Mapping[Term, Value], ...]:
    """A run of `environment_of`, whose outputs are those of the step before, with the outputs where they belong."""
    names = tuple(name for i in specification.inputs if not i.extern for name, _ in part_names(i.name, i.type))
    outputs = {v for step in run for v in step if v.payload in names}
    steps = []
    for now, after in zip(run, [*run[1:], dict[Term, Value]()], strict=False):
        steps.append({v: value for v, value in now.items() if v not in outputs})
        steps[-1].update({v: value for v, value in after.items() if v in outputs})
    return tuple(steps)


def _answer(specification: Specification, timeout: float, jobs: int | None) -> Realizability:
    """The answer for one game."""
    began = time.monotonic()

    def unknown(reason: str) -> Realizability:
        return Realizability(specification, "unknown", time.monotonic() - began, reason)

    try:
        game = game_of(specification)
    except NoGame as why:
        return unknown(str(why))
    scalar, reason = ScalarGame(game), ""
    with closing(_outcomes(scalar.problem, timeout * SEARCH)) as outcomes:
        for outcome in outcomes:
            if isinstance(outcome, str):
                reason = outcome
                continue
            settings = Settings(max(1.0, began + timeout - time.monotonic()), jobs or processors())
            won = bool(outcome.answers)
            judged = _judged_win(scalar, outcome, settings) if won else _judged_loss(scalar.problem, outcome, settings)
            if not isinstance(judged, str):
                return replace(judged, seconds=time.monotonic() - began)
            reason = judged
    return unknown(reason)


def _judged_win(scalar: ScalarGame, outcome: GameOutcome, settings: Settings) -> Realizability | str:
    """Realizable, if the implementation is proved; else why that is not known."""
    game = scalar.given
    spec = implementation(game, scalar.answers_back(outcome.answers), scalar.rules_back(outcome.rules))
    proof = prove(spec, settings) if spec.properties else None
    if proof is not None and any(result.verdict != "proved" for result in proof.results):
        return "an implementation was found, but not proved"
    return Realizability(game.specification, "realizable", 0.0, implementation=spec, proof=proof, way=outcome.way)


def _judged_loss(game: Game, outcome: GameOutcome, settings: Settings) -> Realizability | str:
    """Unrealizable, if the environment's strategy is proved; with a run, if that is one."""
    chosen = game.only(outcome.names)
    spec = counterstrategy(chosen, outcome.rules, outcome.start)
    proof = prove(spec, settings)
    if any(result.verdict != "proved" for result in proof.results):
        return "a strategy of the environment was found, but not proved"
    run = outcome.run if _is_run(chosen, outcome, settings) else ()
    return Realizability(
        game.specification,
        "unrealizable",
        0.0,
        strategy=spec,
        conflict=outcome.names,
        is_smallest=outcome.is_smallest,
        most_steps=len(outcome.rules),
        run=run,
        proof=proof,
    )


def _is_run(game: Game, outcome: GameOutcome, settings: Settings) -> bool:
    """If the steps are a run that meets the assumptions and keeps the guarantees up to the last step, at which no
    outputs keep them: a query of its own."""
    cells = game.specification.cells
    state = {c.var: outcome.start[c.var] if c.free else c.initial.payload for c in cells}
    for number, chosen in enumerate(outcome.run):
        values = {**state, **chosen}
        if not evaluate([game.assumption], values)[game.assumption]:
            return False
        if number == len(outcome.run) - 1:
            end = prove(dead_end(game, values), settings)
            return all(result.verdict == "proved" for result in end.results)
        if not evaluate([game.guarantee], values)[game.guarantee]:
            return False
        after = evaluate([c.next for c in cells], values)
        state = {c.var: after[c.next] for c in cells}
    return False


# The child's side, and its messages


def _outcomes(game: Game, seconds: float) -> Generator[GameOutcome | str, None, None]:
    """The outcomes that children find within the time: the last one of each, or why the first has none."""
    began = time.monotonic()
    solving = _GameSearch(lambda channel: _work(game, channel))
    searches, is_alone = [solving], True
    try:
        while searches:
            limit = HEAD_START if is_alone and not solving.found else seconds
            left = began + min(limit, seconds) - time.monotonic()
            ready, _, _ = select([s.child.channel.read for s in searches], [], [], max(0.0, left))
            for search in [s for s in searches if s.child.channel.read in ready]:
                if search.has_ended():
                    searches.remove(search)
                    search.child.end()
                    if search is solving or isinstance(search.found, GameOutcome):
                        yield search.found
            if is_alone and (not ready or (isinstance(solving.found, str) and solving not in searches)):
                is_alone = False
                searches.append(_GameSearch(lambda channel: _work_by_induction(game, channel)))
            elif not ready:
                break
        if solving in searches:
            yield solving.found or f"timed out after {seconds:.3g} s"
    finally:
        for search in searches:
            search.child.end()


class _GameSearch:
    """A child, and the last outcome that it has sent, or the reason why there is none."""

    def __init__(self, work: Callable[[Channel], None]) -> None:
        self.child = Child(work)
        self.found: GameOutcome | str = ""

    def has_ended(self) -> bool:
        """Take what it has sent. True if that was the last."""
        try:
            for record in self.child.channel.available():
                if record is None:
                    return True
                self.found = record if isinstance(record, str) else _outcome_of(record)
                if isinstance(record, str):
                    return True
        except (Ended, Forged, LookupError, TypeError, ValueError) as why:
            self.found = self.found or f"the search ended ({why})"
            return True
        return False


def _work_by_induction(game: Game, channel: Channel) -> None:
    from streamcheck.synthesis.induction import InductiveSynthesis
    from streamcheck.synthesis.solve import GivenUp

    search = InductiveSynthesis(game)
    try:
        won = search.solve()
    except GivenUp as why:
        channel.send(str(why))
        return
    channel.send(_plain(GameOutcome(won.answers, way=f"k-induction, k = {search.steps}")))
    channel.send(None)


def _work(game: Game, channel: Channel) -> None:
    from streamcheck.synthesis.solve import GivenUp, Synthesis, Won, conflict, losing_run

    synthesis = Synthesis(game)
    try:
        outcome = synthesis.solve()
    except GivenUp as why:
        channel.send(str(why))
        return
    if isinstance(outcome, Won):
        channel.send(_plain(GameOutcome(outcome.answers, outcome.rules)))
    else:
        for smaller, lost, is_smallest in conflict(game, outcome, synthesis.rounds):
            names = tuple(g.name for g in smaller.guarantees)
            run = tuple(_choices(smaller, step) for step in losing_run(smaller, lost))
            channel.send(_plain(GameOutcome((), lost.rules, names, lost.start, run, is_smallest)))
    channel.send(None)


def _choices(game: Game, step: Mapping[Term, Value]) -> dict[Term, Value]:
    return {v: value for v, value in step.items() if v in game.inputs or v in game.outputs}


def _plain(outcome: GameOutcome) -> dict[str, Any]:
    writer = TermWriter()

    def pairs(terms: Mapping[Term, Term]) -> list[list[int]]:
        return [[writer.term(a), writer.term(b)] for a, b in terms.items()]

    def values(given: Mapping[Term, Value]) -> list[list[int]]:
        return pairs({v: constant(v.type, value) for v, value in given.items()})

    return {
        "answers": [[writer.term(a.guard), pairs(a.outputs)] for a in outcome.answers],
        "rules": [[writer.term(r.states), pairs(r.inputs)] for r in outcome.rules],
        "names": list(outcome.names),
        "start": values(outcome.start),
        "run": [values(step) for step in outcome.run],
        "smallest": outcome.is_smallest,
        "way": outcome.way,
        "types": writer.types,
        "terms": writer.terms,
    }


def _outcome_of(record: Mapping[str, Any]) -> GameOutcome:
    terms = TermReader(record["types"], record["terms"]).terms

    def pairs(rows: Sequence[Sequence[int]]) -> dict[Term, Term]:
        return {terms[a]: terms[b] for a, b in rows}

    def values(rows: Sequence[Sequence[int]]) -> dict[Term, Value]:
        return {terms[a]: terms[b].payload for a, b in rows}

    return GameOutcome(
        tuple(ComponentMove(terms[guard], pairs(outputs)) for guard, outputs in record["answers"]),
        tuple(EnvironmentMove(terms[states], pairs(inputs)) for states, inputs in record["rules"]),
        tuple(record["names"]),
        values(record["start"]),
        tuple(values(step) for step in record["run"]),
        bool(record["smallest"]),
        str(record["way"]),
    )
