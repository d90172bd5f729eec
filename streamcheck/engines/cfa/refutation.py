"""Why no run follows a path of a program, as predicates for the locations on it.

    what the path needs       the conjuncts of its guards that contradict each other (a core)
    what matters on the way   the variables that these depend on
    interpolants              over these variables only (`smt.interpolate`)
    where none come           what the needed guards say of the values before: weakest preconditions, their atoms

A path is cut off at the last guard that is needed: what comes after says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamcheck.core.simplify import conjunction, simplify
from streamcheck.core.term import TRUE, Term, substitute, variables
from streamcheck.engines.cfa.base import Path
from streamcheck.smt.interpolate import Step, Steps, along, atoms
from streamcheck.smt.solver import Solver
from streamcheck.system.cfa import Cfa, Edge, conjuncts


@dataclass(frozen=True, slots=True)
class Feasible:
    """Some run follows the path."""


@dataclass(frozen=True, slots=True)
class Undecided:
    reason: str


@dataclass(frozen=True, slots=True)
class Spurious:
    """No run follows these edges; `needed` are the parts of their guards that show it."""

    edges: Sequence[Edge]
    needed: Sequence[Term]
    live: Sequence[Sequence[Term]]  # before each edge: the variables that what is needed depends on

    def interpolants(self) -> list[Term] | None:
        """What holds before each edge, so that the last cannot be taken."""
        steps = [
            Step(guard, {v: edge.update.get(v, v) for v in after})
            for edge, guard, after in zip(self.edges, self.needed, self.live[1:], strict=False)
        ]
        return along(Steps(self.live, TRUE, steps, self.needed[-1]))

    def preconditions(self) -> list[Term]:
        """Before each edge: what leads from there to the end, choices included."""
        found = [self.needed[-1]]
        for edge, guard in zip(reversed(self.edges[:-1]), reversed(self.needed[:-1]), strict=True):
            onward = substitute([found[-1]], edge.update)[found[-1]]
            found.append(conjunction(guard, simplify([onward])[onward]))
        return found[::-1]


def judged(program: Cfa, path: Sequence[Edge], patience: int | None) -> Feasible | Spurious | Undecided:
    """Whether a run follows the path."""
    followed, solver = Path(program), Solver(patience, small_cores=True)
    parts: list[dict[Term, Term]] = []  # of each guard, by what they say of the values at the beginning
    for edge in path:
        followed.follow(edge)
        roots = conjuncts(edge.guard)
        images = substitute(roots, {**followed.frames[-2], **followed.chosen[-1]})
        simple = simplify(images.values())
        parts.append({simple[images[r]]: r for r in roots})
    assumed = [image for part in parts for image in part if image is not TRUE]
    answer = solver.check(*assumed)
    if answer is None:
        return Undecided(solver.reason)
    return Feasible() if answer else _spurious(path, parts, set(solver.core(assumed)))


def _spurious(path: Sequence[Edge], parts: Sequence[dict[Term, Term]], core: set[Term]) -> Spurious:
    needed = [conjunction(*(said for image, said in part.items() if image in core)) for part in parts]
    while needed[-1] is TRUE:
        needed.pop()
    edges = path[: len(needed)]
    live: list[list[Term]] = []
    after: list[Term] = []
    for edge, guard in zip(reversed(edges), reversed(needed), strict=True):
        read = variables([guard, *(edge.update.get(v, v) for v in after)])
        after = [v for v in read if v not in edge.choices]
        live.append(after)
    return Spurious(edges, needed, live[::-1])


def state_atoms(given: Sequence[Term], program: Cfa) -> list[Term]:
    """The atoms that speak of variables alone, not of choices."""
    known = set(program.variables)
    return [atom for atom in atoms(given) if known.issuperset(variables([atom]))]
