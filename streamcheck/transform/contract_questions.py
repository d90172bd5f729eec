"""Two more questions about a contract, as games of their own.

- Has the environment always inputs that meet the assumptions? The sides change places: `environment_of`. The
  environment chooses first in each step, and does not know the outputs of that step. So a step of the new game is the
  outputs of the step before, and then the inputs.
- Can assumptions and guarantees be kept at all? One side chooses inputs and outputs: `joint`. It has an answer if, and
  only if, some run keeps them for ever.
"""

from __future__ import annotations

from dataclasses import replace

from streamcheck.core.simplify import choice, conjunction, implication, instantiate
from streamcheck.core.term import FALSE, TRUE, Term, constant, variable
from streamcheck.core.types import BOOL, default
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Specification

BEGUN = "a step has been made"


def environment_of(given: Specification) -> Specification:
    """The specification whose outputs are the inputs of the given one, and whose guarantees its assumptions."""
    begun = variable(BEGUN, BOOL)
    before = {i.var: variable(f"{i.name} before", i.type) for i in given.inputs if i.extern}
    guarantees = conjunction(*(g.term for g in given.properties))
    roots = [guarantees, *(c.next for c in given.cells)]
    last = instantiate(roots, before)
    now = {c.var: choice(begun, last[c.next], c.var) for c in given.cells}
    assumed = instantiate([a.term for a in given.assumptions], now)
    cells = [Cell(BEGUN, FALSE, TRUE, given.where)]
    cells += [replace(c, next=now[c.var]) for c in given.cells]
    cells += [Cell(str(v.payload), constant(i.type, default(i.type)), i, given.where) for i, v in before.items()]
    kept = Claim("the guarantees have been kept", implication(begun, last[guarantees]), given.where)
    return replace(
        _bare(given),
        inputs=tuple(replace(i, extern=not i.extern) for i in given.inputs),
        cells=tuple(cells),
        properties=tuple(replace(a, term=assumed[a.term]) for a in given.assumptions),
        assumptions=() if kept.term is TRUE else (kept,),
    )


def joint(given: Specification) -> Specification:
    """The specification in which inputs are outputs too, as are the first values of cells that may begin with any."""
    begun = variable(BEGUN, BOOL)
    free = [c for c in given.cells if c.free]
    first: dict[Term, Term] = {c.var: choice(begun, c.var, variable(f"first {c.name}", c.var.type)) for c in free}
    assumptions = [replace(a, name=f"assumption {a.name}") for a in given.assumptions]
    claims = [*given.properties, *assumptions]
    new = instantiate([*(c.term for c in claims), *(c.next for c in given.cells)], first)
    cells = [replace(c, next=new[c.next], free=False) for c in given.cells]
    return replace(
        _bare(given),
        inputs=(
            *(replace(i, extern=False) for i in given.inputs),
            *(Input(f"first {c.name}", c.var.type, False, "", "", c.where) for c in free),
        ),
        cells=(Cell(BEGUN, FALSE, TRUE, given.where), *cells) if free else tuple(cells),
        properties=tuple(replace(c, term=new[c.term]) for c in claims),
        assumptions=(),
    )


def _bare(given: Specification) -> Specification:
    return replace(given, wires=(), triggers=(), observers=(), instances=(), components=(), fairness=(), warnings=())
