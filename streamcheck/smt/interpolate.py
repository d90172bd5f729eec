"""Sequence interpolants: why no run follows a path, as a formula over the state after each step.

z3's own interfaces have none. Recursion-free Horn clauses given to Spacer do: with R_i for the states after i steps,

    I ∧ Λ_0 → R_0        R_i ∧ A ∧ T ∧ Λ_i+1' → R_i+1'        R_n ∧ A ∧ ¬P → broken

and no derivation of `broken`, the R_i that Spacer names are an interpolant of the path. Λ_i is what the path says of
step i (nothing where all paths of the length are to be refuted).

Each interpolant is looked at before it is used: it speaks of the state alone, the initial states satisfy the first,
each step leads from one to the next, and the last excludes the violation.
"""

from __future__ import annotations

from collections.abc import Sequence

import z3

from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, substitute, term, variables, walk
from streamcheck.smt.horn import silenced
from streamcheck.smt.linear import to_term
from streamcheck.smt.rows import Exact, NotLinear, compare, is_comparison
from streamcheck.smt.solver import Solver
from streamcheck.smt.terms import Terms, Untranslatable, unsigned
from streamcheck.smt.translate import Translator, sort
from streamcheck.system.transition import TransitionSystem

WORK = 5_000_000  # a longer search is rarely worth it: there is another way to refine (heuristic)


def interpolants(system: TransitionSystem, path: Sequence[Sequence[Term]], wrong: Term) -> list[Term] | None:
    """Checked interpolants R_0 … R_n for the path (what it says of each state, n + 1 times); None where none came."""
    try:
        found = _ask(system, path, wrong)
    except (z3.Z3Exception, Untranslatable):
        return None
    return found if found and _holds(system, path, wrong, found) else None


def _ask(system: TransitionSystem, path: Sequence[Sequence[Term]], wrong: Term) -> list[Term] | None:
    translator = Translator()
    express = translator.expression
    state = [s.var for s in system.state]
    xs = [express(v) for v in state]
    afters = [z3.Const(f"{v.payload}'", sort(v.type)) for v in state]
    relations = [z3.Function(f"R{i}", *(sort(v.type) for v in state), z3.BoolSort()) for i in range(len(path))]
    broken = z3.Function("broken", z3.BoolSort())
    point = z3.Fixedpoint()
    point.set(engine="spacer")
    point.set("rlimit", WORK)
    for inlining in ("xform.inline_eager", "xform.inline_linear", "xform.slice"):
        point.set(inlining, False)
    point.register_relation(*relations, broken)
    point.declare_var(*xs, *afters, *(express(v) for v in system.inputs))
    assumed = express(conjunction(*(a.term for a in system.assumptions)))
    moved = [after == express(s.next) for s, after in zip(system.state, afters, strict=True)]
    point.rule(relations[0](*xs), [express(conjunction(_initial(system), *path[0]))])
    images = substitute([t for said in path for t in said], {s.var: s.next for s in system.state})
    for i, said in enumerate(path[1:]):
        onward = express(conjunction(*(images[t] for t in said)))
        point.rule(relations[i + 1](*afters), [relations[i](*xs), assumed, onward, *moved])
    point.rule(broken(), [relations[-1](*xs), assumed, express(wrong)])
    with silenced():
        if point.query(broken()) != z3.unsat:
            return None
    back = Terms({express(v).get_id(): unsigned(v) for v in state})
    return [back.term(z3.substitute_vars(point.get_cover_delta(-1, r), *xs)) for r in relations]


def _initial(system: TransitionSystem) -> Term:
    return conjunction(*(term("same", s.var, s.init) for s in system.state if s.init is not None))


def _holds(system: TransitionSystem, path: Sequence[Sequence[Term]], wrong: Term, found: list[Term]) -> bool:
    """The implications and the vocabulary."""
    nexts = {s.var: s.next for s in system.state}
    if any(v not in nexts for v in variables(found)):
        return False
    assumed = [a.term for a in system.assumptions]
    images = substitute([*found, *(t for said in path for t in said)], nexts)
    # I ∧ Λ_0 ∧ ¬R_0
    queries = [[_initial(system), *path[0], negation(found[0])]]
    for i, said in enumerate(path[1:]):  # R_i ∧ A ∧ Λ_i+1' ∧ ¬R_i+1'
        queries.append([found[i], *assumed, *(images[t] for t in said), negation(images[found[i + 1]])])
    queries.append([found[-1], *assumed, wrong])  # R_n ∧ A ∧ ¬P
    return all(_contradictory(query) for query in queries)


def _contradictory(query: list[Term]) -> bool:
    solver = Solver(WORK)
    solver.add(*query)
    return solver.check() is False


def atoms(given: Sequence[Term]) -> list[Term]:
    """The atomic conditions in formulas, comparisons of sums in normal form, each once whatever its sign."""
    found: dict[Term, None] = {}
    for node in walk(given):
        of_bools = bool(node.args) and node.args[0].type.kind == "bool"
        if node.type.kind == "bool" and not of_bools and not node.is_const:
            atom = _normal(node)
            if not atom.is_const:
                found[atom] = None
    return list(found)


def _normal(node: Term) -> Term:
    """The condition or its opposite, the one that says <=, < or ==, or is no negation."""
    if is_comparison(node):
        try:
            rows = Exact()
            said = compare(node.op, *(rows.row(a) for a in node.args))
        except NotLinear:
            return node
        if rows.fresh:
            return node
        both = to_term(said), to_term(said.opposite())
        return next((atom for atom in both if atom.op in ("le", "lt", "eq")), both[0])
    return negation(node) if node.op in ("ne", "not") else node
