"""Refutations of infeasible paths of a program, as predicates for the locations on them.

    is there a run?            the path's formula from its beginning (`feasibility`)
    the part that matters      the shortest infeasible suffix of the path, and of its guards a core: a reason that does
                               not depend on the beginning also holds if the loop has been entered more often
    interpolants from cores    W_i, the needed guards over the values before edge i, is unsatisfiable at the beginning;
                               R_0 = true, and R_i+1 the facts of earlier statements that still hold, if they are
                               enough, else the fewest of the parts of ¬W_i+1 that follow from R_i and edge i
                               (strongest and weakest conditions with cores [DHMNP17]). One or two small
                               queries an edge.
    interpolants from clauses  `smt.interpolate`, over the variables that the needed guards depend on
    if there are none          the variables that are constant along the path

A path is cut off at the last guard that is needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias, TypeVar

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.simplify import conjunction, negation, simplify
from streamcheck.core.term import TRUE, Term, substitute, term, variable, variables
from streamcheck.engines.cfa.base import SymbolicPath
from streamcheck.engines.cfa.images import NoFormula, project_by_models
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.smt.interpolate import GuardedStep, Steps, along
from streamcheck.smt.solver import Solver

GuardParts: TypeAlias = dict[tuple[int, Term], Term]  # parts of guards, by the edge's number, over earlier values
Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Feasible:
    """The path has a run."""


@dataclass(frozen=True, slots=True)
class UndecidedPath:
    reason: str


@dataclass(frozen=True, slots=True)
class Spurious:
    """These edges have no run; `needed` are the parts of their guards that show it."""

    edges: Sequence[Edge]
    needed: Sequence[Sequence[Term]]
    frames: Sequence[dict[Term, Term]]  # the variables before each edge, over the values at the path's beginning
    patience: int | None

    def refinements(self) -> Iterator[Sequence[Term]]:
        """Sequence interpolants, over the values before each edge: the last edge cannot be taken. One way of finding
        them after another."""
        yield self._from_cores() or ()
        yield self._from_clauses() or ()
        yield self._constants()

    def _from_cores(self) -> list[Term] | None:
        before = list(_preconditions(self.edges, self.needed))[::-1]
        facts = self._facts()
        held: list[Sequence[Term]] = [()]
        for i, (here, onward) in enumerate(pairwise(before)):
            parts = self._core([], {f: f for f in facts[i + 1]}, onward.values())
            if parts is None:
                parts = self._fewest(i, held[-1], here, onward)
            if parts is None:
                return None
            held.append(parts)
        for i in reversed(range(1, len(held) - 1)):  # a fact that is needed later is needed on the way
            held[i] = [*held[i], *(f for f in held[i + 1] if f in facts[i] and f not in held[i])]
        return [conjunction(*parts) for parts in held]

    def _facts(self) -> list[list[Term]]:
        """Before each edge: the needed guards and the equations of assignments, as long as their variables stay."""
        facts: list[list[Term]] = [[]]
        for edge, guard in zip(self.edges, self.needed, strict=True):
            changed = {*edge.update, *edge.choices}
            equations = [term("same", v, new) for v, new in edge.updates if changed.isdisjoint(variables([new]))]
            kept = [f for f in (*facts[-1], *guard) if changed.isdisjoint(variables([f]))]
            facts.append(list(dict.fromkeys([*kept, *equations])))
        return facts

    def _fewest(self, i: int, held: Sequence[Term], here: GuardParts, onward: GuardParts) -> list[Term] | None:
        """Parts of ¬W_i+1 that follow from R_i and edge i."""
        images = {key: t for key, t in here.items() if key in onward}
        own = [t for (k, _), t in here.items() if k == i]
        core = self._core([*held, *own], images, ())  # R_i ∧ guard_i ∧ W_i+1[next_i]
        if core is None:
            return None
        kept = conjunction(*(onward[key] for key in core))
        chosen = [v for v in variables([kept]) if v not in self.frames[0]]
        try:
            return [negation(project_by_models(chosen, kept) if chosen else kept)]
        except NoFormula:
            return None

    def _core(self, held: Iterable[Term], parts: Mapping[Key, Term], wrong: Iterable[Term]) -> list[Key] | None:
        """The parts that contradict the rest; None if they do not."""
        solver = Solver(self.patience, small_cores=True)
        solver.add(*held, *wrong)
        if solver.check(*parts.values()) is not False:
            return None
        core = set(solver.core(parts.values()))
        return [key for key, t in parts.items() if t in core]

    def _from_clauses(self) -> list[Term] | None:
        live = self._live()
        guards = [conjunction(*parts) for parts in self.needed]
        steps = [
            GuardedStep(guard, {v: edge.update.get(v, v) for v in after})
            for edge, guard, after in zip(self.edges, guards, live[1:], strict=False)
        ]
        return along(Steps(live, TRUE, steps, guards[-1]))

    def _live(self) -> list[list[Term]]:
        """Before each edge: the variables that what is needed depends on."""
        live: list[list[Term]] = []
        after: list[Term] = []
        for edge, guard in zip(reversed(self.edges), reversed(self.needed), strict=True):
            read = variables([*guard, *(edge.update.get(v, v) for v in after)])
            after = [v for v in read if v not in edge.choices]
            live.append(after)
        return live[::-1]

    def _constants(self) -> list[Term]:
        return [
            conjunction(*(term("eq", v, frame[v]) for v in live if frame[v].is_const))
            for frame, live in zip(self.frames, self._live(), strict=True)
        ]


def feasibility(program: Automaton, path: Sequence[Edge], patience: int | None) -> Feasible | Spurious | UndecidedPath:
    """Feasible if the path has a run, Spurious if not, UndecidedPath if the solver gives up."""
    followed, solver = SymbolicPath(program), Solver(patience)
    for edge in path:
        solver.add(followed.follow(edge))
    answer = solver.check()
    if answer is None:
        return UndecidedPath(solver.reason)
    return Feasible() if answer else _spurious(path, followed.frames, patience)


def _spurious(
    path: Sequence[Edge], frames: Sequence[dict[Term, Term]], patience: int | None
) -> Spurious | UndecidedPath:
    """The shortest infeasible suffix of the path."""
    solver = Solver(patience, small_cores=True)
    for begin, condition in zip(
        reversed(range(len(path))), _preconditions(path, [conjuncts(e.guard) for e in path]), strict=True
    ):
        # W_begin
        if solver.check(*condition.values()) is False:
            core = set(solver.core(condition.values()))
            kept = [[part for (k, part), t in condition.items() if k == i and t in core] for i in range(len(path))]
            end = max(i for i, parts in enumerate(kept) if parts) + 1
            return Spurious(path[begin:end], kept[begin:end], frames[begin:end], patience)
    return UndecidedPath(solver.reason)


def _preconditions(path: Sequence[Edge], parts: Sequence[Sequence[Term]]) -> Iterator[GuardParts]:
    """W_i before each edge, the last one first: the parts of its guard and of all later ones."""
    condition: GuardParts = {}
    for i, edge in reversed(list(enumerate(path))):
        chosen = {c: variable(f"{c.payload}@{i}", c.type) for c in edge.choices}
        news = substitute([new for _, new in edge.updates], chosen)
        moved = substitute(condition.values(), {v: news[new] for v, new in edge.updates})
        own = substitute(parts[i], chosen)
        images = {key: moved[t] for key, t in condition.items()} | {(i, part): own[part] for part in parts[i]}
        simple = simplify(images.values())
        condition = {key: simple[t] for key, t in images.items()}
        yield condition
