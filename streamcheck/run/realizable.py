"""Is there a component that keeps all guarantees, whatever the environment does?

A child process plays the game (`synthesis`) and sends what it finds. Its answer is believed only after a proof, by the
ordinary engines and their checker: of the implementation, or of the environment's strategy (`transform.realization`).
A run that is shown is computed here, step by step, and at its end it is proved that no outputs are left.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from streamcheck.core.evaluate import evaluate
from streamcheck.core.term import Term, constant
from streamcheck.core.types import Value
from streamcheck.core.wire import TermReader, TermWriter
from streamcheck.problem.realizability import Realizability
from streamcheck.problem.specification import Specification
from streamcheck.run.child import Channel, Child, Ended, Forged, TooLate
from streamcheck.run.prove import Settings, prove
from streamcheck.run.strategy import processors
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

SEARCH = 0.7  # the share of the time for the game; the rest is for the proof of its outcome


@dataclass(frozen=True, slots=True)
class GameOutcome:
    """Terms and values as the child sends them."""

    answers: tuple[ComponentMove, ...] = ()
    rules: tuple[EnvironmentMove, ...] = ()
    names: tuple[str, ...] = ()
    start: Mapping[Term, Value] = field(default_factory=dict)
    run: tuple[Mapping[Term, Value], ...] = ()
    is_smallest: bool = False


def realizable(specification: Specification, timeout: float = 60.0, jobs: int | None = None) -> Realizability:
    """The answer for a specification whose outputs are its `unknown`s, and whose guarantees are its properties."""
    began = time.monotonic()

    def unknown(reason: str) -> Realizability:
        return Realizability(specification, "unknown", time.monotonic() - began, reason)

    try:
        game = game_of(specification)
    except NoGame as why:
        return unknown(str(why))
    outcome = _play(game, timeout * SEARCH)
    if isinstance(outcome, str):
        return unknown(outcome)
    settings = Settings(max(1.0, began + timeout - time.monotonic()), jobs or processors())
    judged = _judged_win(game, outcome, settings) if outcome.answers else _judged_loss(game, outcome, settings)
    return unknown(judged) if isinstance(judged, str) else replace(judged, seconds=time.monotonic() - began)


def _judged_win(game: Game, outcome: GameOutcome, settings: Settings) -> Realizability | str:
    """Realizable, if the implementation is proved; else why that is not known."""
    spec = implementation(game, outcome.answers, outcome.rules)
    proof = prove(spec, settings)
    if any(result.verdict != "proved" for result in proof.results):
        return "an implementation was found, but not proved"
    return Realizability(game.specification, "realizable", 0.0, implementation=spec, proof=proof)


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


def _play(game: Game, seconds: float) -> GameOutcome | str:
    """The last outcome that the child sends within the time, or why there is none."""
    deadline = time.monotonic() + seconds
    found: GameOutcome | str = f"timed out after {seconds:.3g} s"
    child = Child(lambda channel: _work(game, channel))
    try:
        while True:
            record = child.channel.receive(max(0.0, deadline - time.monotonic()))
            if isinstance(record, str):
                return record
            if record is None:
                return found
            found = _outcome_of(record)
    except TooLate:
        return found
    except (Ended, Forged, LookupError, TypeError, ValueError) as why:
        return found if isinstance(found, GameOutcome) else f"the search ended ({why})"
    finally:
        child.end()


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
    )
