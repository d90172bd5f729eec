"""Sequence interpolants of an infeasible path: a formula over the state after each step.

z3's own interfaces have none. Recursion-free Horn clauses given to Spacer do: with R_i for the states after i steps,

    B → R_0        R_i ∧ G_i+1 → R_i+1[next_i+1]        R_n ∧ W → broken

and no derivation of `broken`, the R_i that Spacer names are an interpolant of the path. For a transition system B is I
and the condition of the path on the first state, G_i is A and its condition on state i, W is A ∧ ¬P; for a path of an
automaton G_i is the guard of an edge, next_i its updates, and W the guard of the last edge.

Each interpolant is looked at before it is used: it is over the state alone, the beginning satisfies the first, each
step leads from one to the next, and the last excludes the violation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import z3  # type: ignore[import-untyped]

from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, substitute, term, variables, walk
from streamcheck.problem.transition import TransitionSystem
from streamcheck.smt.horn import silence
from streamcheck.smt.linear import to_term
from streamcheck.smt.rows import Exact, NotLinear, compare, is_comparison
from streamcheck.smt.solver import Solver
from streamcheck.smt.terms import Terms, Untranslatable, solver_variable
from streamcheck.smt.translate import Translator, sort

WORK = 5_000_000  # a longer search is rarely worth it: there is another way to refine (heuristic)


@dataclass(frozen=True, slots=True)
class GuardedStep:
    """If the guard holds, variables become `nexts`. Both are over the state before and the inputs of the step."""

    guard: Term
    nexts: Mapping[Term, Term]


@dataclass(frozen=True, slots=True)
class Steps:
    """n steps and what is wrong after them; `states[i]` are the variables that R_i may contain, each given by the
    step before."""

    states: Sequence[Sequence[Term]]
    begun: Term
    steps: Sequence[GuardedStep]
    wrong: Term

    def roots(self) -> list[Term]:
        return [self.begun, self.wrong, *(t for s in self.steps for t in (s.guard, *s.nexts.values()))]


def interpolants(system: TransitionSystem, path: Sequence[Sequence[Term]], wrong: Term) -> list[Term] | None:
    """Checked interpolants R_0 … R_n for the path, given by its n + 1 sets of states. None if there are none."""
    nexts = {s.var: s.next for s in system.state}
    assumed = [a.term for a in system.assumptions]
    images = substitute([t for states in path for t in states], nexts)
    steps = [GuardedStep(conjunction(*assumed, *(images[t] for t in states)), nexts) for states in path[1:]]
    begun = conjunction(*(term("same", s.var, s.init) for s in system.state if s.init is not None), *path[0])
    return along(Steps([list(nexts)] * len(path), begun, steps, conjunction(*assumed, wrong)))


def along(given: Steps) -> list[Term] | None:
    """Checked interpolants R_0 … R_n. None if there are none."""
    try:
        answer = _ask(given)
    except (z3.Z3Exception, Untranslatable):
        return None
    return answer if answer and _holds(given, answer) else None


def _ask(given: Steps) -> list[Term] | None:
    translator = Translator()
    express = translator.expression
    everything = dict.fromkeys([*(v for vs in given.states for v in vs), *variables(given.roots())])
    after = {v: z3.Const(f"{v.payload}'", sort(v.type)) for v in everything}
    before = {v: express(v) for v in everything}
    relations = [z3.Function(f"R{i}", *(sort(v.type) for v in vs), z3.BoolSort()) for i, vs in enumerate(given.states)]
    broken = z3.Function("broken", z3.BoolSort())
    point = z3.Fixedpoint()
    point.set(engine="spacer")
    point.set("rlimit", WORK)
    for inlining in ("xform.inline_eager", "xform.inline_linear", "xform.slice"):
        point.set(inlining, False)
    point.register_relation(*relations, broken)
    point.declare_var(*before.values(), *after.values())
    held = [r(*(before[v] for v in vs)) for r, vs in zip(relations, given.states, strict=True)]
    point.rule(held[0], [express(given.begun)])
    for i, step in enumerate(given.steps):
        vs = given.states[i + 1]
        moved = [after[v] == express(step.nexts[v]) for v in vs]
        point.rule(relations[i + 1](*(after[v] for v in vs)), [held[i], express(step.guard), *moved])
    point.rule(broken(), [held[-1], express(given.wrong)])
    with silence():
        if point.query(broken()) != z3.unsat:
            return None
    back = Terms({before[v].get_id(): solver_variable(v) for v in everything})
    covers = [point.get_cover_delta(-1, r) for r in relations]
    return [
        back.term(z3.substitute_vars(cover, *(before[v] for v in vs)))
        for cover, vs in zip(covers, given.states, strict=True)
    ]


def _holds(given: Steps, formulas: list[Term]) -> bool:
    """The implications and the vocabulary."""
    if any(v not in vs for r, vs in zip(formulas, given.states, strict=True) for v in variables([r])):
        return False
    queries = [[given.begun, negation(formulas[0])]]  # B ∧ ¬R_0
    for step, r, following in zip(given.steps, formulas, formulas[1:], strict=False):  # R_i ∧ G_i+1 ∧ ¬R_i+1[next_i+1]
        queries.append([r, step.guard, negation(substitute([following], step.nexts)[following])])
    queries.append([formulas[-1], given.wrong])  # R_n ∧ W
    return all(_contradictory(query) for query in queries)


def _contradictory(query: list[Term]) -> bool:
    solver = Solver(WORK)
    solver.add(*query)
    return solver.check() is False


def atoms(given: Sequence[Term]) -> list[Term]:
    """The atomic conditions in formulas, comparisons of sums in normal form, each once whatever its sign."""
    literals: dict[Term, None] = {}
    for node in walk(given):
        of_bools = bool(node.args) and node.args[0].type.kind == "bool"
        if node.type.kind == "bool" and not of_bools and not node.is_const:
            atom = _normal(node)
            if not atom.is_const:
                literals[atom] = None
    return list(literals)


def _normal(node: Term) -> Term:
    """The condition or its opposite: the one with <=, < or ==, or the one that is no negation."""
    if is_comparison(node):
        try:
            rows = Exact()
            comparison = compare(node.op, *(rows.row(a) for a in node.args))
        except NotLinear:
            return node
        if rows.fresh:
            return node
        both = to_term(comparison), to_term(comparison.opposite())
        return next((atom for atom in both if atom.op in ("le", "lt", "eq")), both[0])
    return negation(node) if node.op in ("ne", "not") else node
