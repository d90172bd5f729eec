"""A specification that begins anywhere: its violations show why a property does not follow from the steps before.

    every cell may begin with any value; the lemmas hold at every step
    P held at k steps ⇒ P        with a chain of k cells for the left side

A run that breaks the last line is a counterexample to k-induction. Perhaps no run of the specification itself gets to
its first state: whoever shows it says so.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from streamcheck.core.names import FreshNames
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, Term, term, variable
from streamcheck.core.types import BOOL
from streamcheck.problem.claim import IMPLIED, Claim
from streamcheck.problem.specification import Cell, Specification


def with_any_start(specification: Specification, names: Iterable[str], k: int, lemmas: Iterable[Term]) -> Specification:
    """The specification with only these properties, each as the claim that it follows from k steps."""
    wanted = set(names)
    cells = FreshNames(str(v.payload) for v in specification.variables())
    known = FreshNames(a.name for a in specification.assumptions)
    steps: list[Claim] = []
    chains: list[Cell] = []
    for claim in specification.properties:
        if claim.name not in wanted:
            continue
        held: Term | None = None
        for _ in range(k):
            after = claim.invariant if held is None else conjunction(held, claim.invariant)
            name = cells.fresh("held")
            held = variable(name, BOOL)
            chains.append(Cell(name, FALSE, after, None, named=False))
        assert held is not None
        steps.append(Claim(claim.name, term("implies", held, claim.invariant), claim.where, origin=IMPLIED))
    facts = [Claim(known.fresh("lemma"), lemma) for lemma in lemmas]
    return replace(
        specification,
        cells=(*(replace(c, free=True) for c in specification.cells), *chains),
        properties=tuple(steps),
        assumptions=(*specification.assumptions, *facts),
    )
