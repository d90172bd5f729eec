"""Claims about infinite runs as claims about steps.

A claim that `good` is true infinitely often is false of a run that meets all assumptions forever, in which each
fairness condition is true infinitely often and `good` only finitely often. `with_monitors` adds cells to a
specification, and claims, each of which helps to decide that:

    k rounds    [CS12] Without `good`, there are never more than k rounds: parts of the run in which every fairness
                condition is true at some step (a step, if there are no such conditions). If that holds at every step,
                then so does the claim of every infinite run: after the last `good` there would be ever more rounds.
    no lasso    [BAS02] A run saves its state at some step. Later it is never in that state again if every
                fairness condition has been true since, and `good` has not. A run that breaks this can go round
                forever, and breaks the claim. If the state has finitely many values, every run that breaks the claim
                comes back to a state so, and a proof of this is one of the claim. Of Int and Real it is none: a number
                may grow forever.

The monitors change nothing that the specification does: they are cells that nothing else reads, and one input `save`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamcheck.core.errors import SpecError
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable
from streamcheck.core.types import BOOL, machine, part_names
from streamcheck.problem.claim import Claim
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Cell, Input, Specification
from streamcheck.problem.verdict import Trace
from streamcheck.transform.fresh import fresh_name
from streamcheck.transform.part import part_for
from streamcheck.transform.product import same_value

COUNT = machine(8, signed=False)  # of rounds, up to the last value, at which it stays
BOUNDS = (0, 1, 2, 4, 8, 16, 32, 64, 128, 254)  # of the rounds, all below the last value
NO_LASSO = "no lasso"


def name_of_bound(k: int) -> str:
    return f"{k} rounds"


@dataclass(frozen=True, slots=True)
class Monitored:
    """The specification with its monitors. `save` is the name of the input; `is_finite` if its state has finitely many
    values."""

    specification: Specification
    save: str
    is_finite: bool


def with_monitors(specification: Specification, claim: Claim) -> Monitored:
    """The part of the specification that the claim depends on, with claims called `k rounds` and `no lasso`."""
    part = _part(specification, claim)
    fairness, good = [f.term for f in specification.fairness], claim.term
    taken = {str(v.payload) for v in part.variables()} | {a.name for a in part.assumptions}

    def fresh(name: str) -> str:
        taken.add(new := fresh_name(name, taken))
        return new

    rounds, claims = _rounds(fairness, good, fresh("rounds"), [fresh(f"met {i}") for i in range(len(fairness))])
    save = variable(fresh("save"), BOOL)
    saved = variable(fresh("saved"), BOOL)
    inside = term("or", saved, save)
    taking = term("and", save, term("not", saved))
    cells = [Cell(str(saved.payload), FALSE, inside, None, named=False)]
    back = saved
    for cell in part.cells:
        copy = variable(fresh(f"saved {cell.name}"), cell.var.type)
        cells.append(Cell(str(copy.payload), cell.initial, term("mux", taking, cell.var, copy), None, named=False))
        back = term("and", back, same_value(cell.var, copy))
    for i, condition in enumerate(fairness):
        since = _since(fresh(f"fair {i}"), inside, condition)
        cells.append(since)
        back = term("and", back, since.var)
    dry = _since(fresh("good since"), inside, good)
    cells.append(dry)
    claims.append(Claim(NO_LASSO, term("not", term("and", back, term("not", dry.var)))))
    monitored = replace(
        part,
        inputs=(*part.inputs, Input(str(save.payload), BOOL, False, "", "", None)),
        cells=(*part.cells, *rounds, *cells),
        properties=tuple(claims),
    )
    kinds = {t.kind for cell in part.cells for _, t in part_names(cell.name, cell.var.type)}
    return Monitored(monitored, str(save.payload), kinds.isdisjoint({"integer", "real"}))


def monitored_claim(problem: Problem, claim: Claim, name: str) -> tuple[Specification, Claim | None]:
    """The specification with the monitors of a claim about infinite runs, and that claim of it whose proof proves this
    one. SpecError if it would not."""
    if not isinstance(problem, Specification) or not claim.is_about_infinite_runs:
        raise SpecError(f"{claim.name} is not about infinite runs, so no proof about monitors proves it", claim.where)
    monitored = with_monitors(problem, claim)
    if name == NO_LASSO and not monitored.is_finite:
        raise SpecError(f"{claim.name}: that no run is a lasso proves nothing of a state with Int or Real", claim.where)
    return monitored.specification, next((p for p in monitored.specification.properties if p.name == name), None)


def _part(specification: Specification, claim: Claim) -> Specification:
    """The part that the claim, the assumptions and the fairness conditions depend on, without claims."""
    return part_for(specification, [claim.term, *(c.term for c in specification.fairness)])


def _rounds(fairness: Sequence[Term], good: Term, name: str, names: Sequence[str]) -> tuple[list[Cell], list[Claim]]:
    """The cells that count rounds since `good`, and the claims about their number."""
    count = variable(name, COUNT)
    met = [term("or", variable(n, BOOL), condition) for n, condition in zip(names, fairness, strict=True)]
    complete = TRUE
    for now in met:
        complete = term("and", complete, now)
    last = constant(COUNT, COUNT.high)
    more = term("mux", term("lt", count, last), term("add", count, constant(COUNT, 1)), last)
    after = term("mux", good, constant(COUNT, 0), term("mux", complete, more, count))
    again = term("or", good, complete)
    cells = [Cell(name, constant(COUNT, 0), after, None, named=False)]
    cells += [
        Cell(n, FALSE, term("and", term("not", again), now), None, named=False)
        for n, now in zip(names, met, strict=True)
    ]
    return cells, [Claim(name_of_bound(k), term("le", count, constant(COUNT, k))) for k in BOUNDS]


def _since(name: str, inside: Term, condition: Term) -> Cell:
    """The cell that is true if the condition has been since the state was saved, before this step."""
    so_far = term("or", variable(name, BOOL), condition)
    return Cell(name, FALSE, term("and", inside, so_far), None, named=False)


def lasso_of(monitored: Monitored, trace: Trace) -> Trace:
    """The run of the specification itself, whose steps from the saved state on are repeated forever."""
    save = monitored.save
    begin = next(i for i, row in enumerate(trace.inputs) if row.get(save) is True)
    rows = tuple({name: v for name, v in row.items() if name != save} for row in trace.inputs[:-1])
    return Trace(trace.constants, rows, loop=begin)
