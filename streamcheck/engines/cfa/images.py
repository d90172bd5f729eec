"""Images of sets of states under an edge: exact, and in terms of predicates.

[TUM], with φ a set of states and ρ an edge (its guard, x' = t for each update, x' = x for the rest):

    (1)  post(φ, ρ)  = ∃V'': φ[V''/V] ∧ ρ[V''/V][V/V']       `post`
    (9)  α(φ)        = ⋀{p ∈ Preds | φ ⊨ p}                   `alpha`
    (7)  post#(φ, ρ) = α(post(φ, ρ))                          `CartesianAbstraction.post_sharp`

post# is computed without post: post(φ, ρ) ⊨ p if φ ∧ guard ⊨ p[updates], which needs no quantifier. A state of the
abstraction is a tuple of predicates and means their conjunction; there is none for `false`.

What makes it fast: each edge keeps a solver with its guard; a predicate that the edge does not change needs no query;
one model rules out every predicate that is false in it, and one query asks for any that is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeAlias

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, disjunction, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, substitute, term, variable, variables
from streamcheck.problem.automaton import Edge
from streamcheck.smt.implicant import cube
from streamcheck.smt.solver import Solver

MOST_CUBES = 64  # longer disjunctions do not help (heuristic)

PATIENCE = 1_000_000  # if it takes longer, a predicate counts as not entailed, an edge as open (heuristic)

AbstractState: TypeAlias = tuple[Term, ...]  # in the order of the predicates


class NoFormula(Exception):
    """A set of states that no formula describes, or only a very long one."""


def post(given: Term, edge: Edge) -> Term:
    """(1). Only what the edge changes needs a name for its old value."""
    if not edge.updates and not edge.choices:
        return conjunction(given, edge.guard)
    old = {v: variable(f"old:{v.payload}", v.type) for v, _ in edge.updates}
    before = substitute([given, *edge.roots()], old)
    moved = [term("same", v, before[new]) for v, new in edge.updates]
    return project_by_models([*old.values(), *edge.choices], conjunction(before[given], before[edge.guard], *moved))


def project_by_models(gone: Collection[Term], given: Term) -> Term:
    """∃ gone. given, exactly: a disjunction of cubes without these variables. Each comes from a model that satisfies
    none of those before it, until there is no other model."""
    solver, cubes = Solver(), list[Term]()
    solver.add(given)
    while (answer := solver.check()) is not False:
        evaluation = Evaluation(solver.model()) if answer else None
        if len(cubes) == MOST_CUBES or evaluation is None or evaluation.of(given) is not True:
            raise NoFormula
        cubes.append(conjunction(*cube([given], evaluation, gone)))
        solver.add(negation(cubes[-1]))
    return disjunction(*cubes)


def alpha(given: Term, predicates: Iterable[Term]) -> Term:
    """(9)."""
    solver = Solver()
    solver.add(given)
    return conjunction(*entailed_predicates(solver, {p: p for p in predicates}))


def entailed_predicates(solver: Solver, goals: Mapping[Term, Term]) -> list[Term]:
    """The predicates whose goals follow from what the solver has. Those that it cannot decide count as not entailed."""
    left = dict(goals)
    while left:
        solver.push()
        solver.add_any(*map(negation, left.values()))  # φ ∧ ⋁ ¬p
        answer = solver.check()
        model = Evaluation(solver.model()) if answer else None
        solver.pop()
        if answer is False:
            return list(left)
        false = [p for p, goal in left.items() if model and model.of(goal) is False]
        if not false:
            return [p for p, goal in left.items() if len(left) > 1 and entailed_predicates(solver, {p: goal})]
        for p in false:
            del left[p]
    return []


class CartesianAbstraction:
    """post# of edges, with a cache for each."""

    def __init__(self, patience: int | None = None) -> None:
        self.patience = min(patience or PATIENCE, PATIENCE)
        self._edges: dict[int, _Image] = {}

    def post_sharp(self, state: AbstractState, edge: Edge, predicates: Collection[Term]) -> AbstractState | None:
        """(7). None if no state of this abstract state takes the edge."""
        image = self._edges.get(id(edge))
        if image is None:
            image = self._edges[id(edge)] = _Image(edge, self.patience)
        return image.of(state, predicates)


class _Image:
    """One edge, with its answers so far: is it open in an abstract state, and which predicates follow."""

    def __init__(self, edge: Edge, patience: int) -> None:
        self.edge = edge
        self.solver: Solver | None = None
        self.patience = patience
        self.goals: dict[Term, Term] = {}
        self.open: dict[AbstractState, bool] = {}
        self.known: dict[AbstractState, dict[Term, bool]] = {}

    def of(self, state: AbstractState, predicates: Collection[Term]) -> AbstractState | None:
        if self.open.get(state) is False:
            return None
        known = self.known.setdefault(state, {})
        asked = [p for p in predicates if p not in known]
        if asked or state not in self.open:
            self._ask(state, asked, known)
        return tuple(p for p in predicates if known[p]) if self.open[state] else None

    def _ask(self, state: AbstractState, asked: list[Term], known: dict[Term, bool]) -> None:
        goals = {p: self.goal(p) for p in asked}
        for p, goal in goals.items():
            known[p] = goal is TRUE or (goal is p and p in state)
        left = {p: goal for p, goal in goals.items() if not known[p] and goal is not FALSE}
        if not left and (self.edge.guard is TRUE or state in self.open):
            self.open[state] = True  # a state has runs
            return
        solver = self._solver()
        solver.push()
        solver.add(*state)
        if state not in self.open:
            self.open[state] = solver.check() is not False  # φ ∧ guard
        if self.open[state]:
            known |= dict.fromkeys(entailed_predicates(solver, left), True)
        solver.pop()

    def goal(self, predicate: Term) -> Term:
        """p[updates]: p holds after the edge."""
        if predicate not in self.goals:
            image = substitute([predicate], self.edge.update)[predicate]
            self.goals[predicate] = simplify([image])[image] if image is not predicate else predicate
        return self.goals[predicate]

    def _solver(self) -> Solver:
        if self.solver is None:
            self.solver = Solver(self.patience)
            self.solver.add(self.edge.guard)
        return self.solver


def is_over(given: Term, known: Iterable[Term]) -> bool:
    """True if the term has only these variables."""
    return set(known).issuperset(variables([given]))
