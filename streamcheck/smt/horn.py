"""A transition system as Horn clauses, given to z3's Spacer.

    I[x] → R(x)        R(x) ∧ A[x, in] ∧ x' = T[x, in] → R(x')        R(x) ∧ A[x, in] ∧ ¬P[x, in] → broken

An answer is not trusted: a relation is a candidate invariant, a derivation gives states that a run may
follow. The transformations that inline and slice clauses are off: with them the relation Spacer names is not an
invariant.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import z3  # type: ignore[import-untyped]

from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import Term, term
from streamcheck.core.types import Value
from streamcheck.problem.transition import TransitionSystem
from streamcheck.smt.solver import read
from streamcheck.smt.terms import Terms, solver_variable
from streamcheck.smt.translate import Translator, sort

LOG = logging.getLogger(__name__)


@contextmanager
def silence() -> Iterator[None]:
    """Redirects standard error: spacer may write there before it ends its process, which the supervisor reports."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@dataclass(frozen=True, slots=True)
class Relation:
    """The invariant that the solver returns."""

    invariant: Term


@dataclass(frozen=True, slots=True)
class Derivation:
    """States that lead from an initial one to a violation."""

    states: tuple[dict[Term, Value], ...]


class Horn:
    def __init__(self, system: TransitionSystem, broken: Term, *, general: bool, backwards: bool, seed: int) -> None:
        self.system = system
        self.vars = [s.var for s in system.state]
        if backwards:
            self.vars.reverse()
        self.translator = Translator()
        self.relation = z3.Function("R", *(sort(v.type) for v in self.vars), z3.BoolSort())
        self.broken = z3.Function("broken", z3.BoolSort())
        self.point = z3.Fixedpoint()
        self.point.set(engine="spacer")
        self.point.set("spacer.global", general)
        self.point.set("spacer.random_seed", seed)
        for inlining in ("xform.inline_eager", "xform.inline_linear", "xform.slice"):
            self.point.set(inlining, False)
        self._rules(broken)

    def _rules(self, broken: Term) -> None:
        express = self.translator.expression
        xs = [express(v) for v in self.vars]
        nexts = {s.var: s.next for s in self.system.state}
        afters = [z3.Const(f"{v.payload}'", sort(v.type)) for v in self.vars]
        assumed = express(conjunction(*(a.term for a in self.system.assumptions)))
        begun = express(conjunction(*(term("same", s.var, s.init) for s in self.system.state if s.init is not None)))
        moved = [after == express(nexts[v]) for v, after in zip(self.vars, afters, strict=True)]
        self.point.register_relation(self.relation, self.broken)
        self.point.declare_var(*xs, *afters, *(express(v) for v in self.system.inputs))
        self.point.rule(self.relation(*xs), [begun])
        self.point.rule(self.relation(*afters), [self.relation(*xs), assumed, *moved])
        self.point.rule(self.broken(), [self.relation(*xs), assumed, express(negation(broken))])

    def ask(self, work: int) -> Relation | Derivation | None:
        """The answer, None if the budget did not suffice. `Untranslatable` if the relation has no term."""
        self.point.set("rlimit", work)
        began = time.perf_counter()
        try:
            with silence():
                answer = self.point.query(self.broken())
        except z3.Z3Exception:  # the limit
            answer = z3.unknown
        LOG.debug("%s in %.1f ms", answer, 1000 * (time.perf_counter() - began))
        if answer == z3.unsat:
            return Relation(self._invariant())
        return Derivation(tuple(self._states())) if answer == z3.sat else None

    @property
    def levels(self) -> int:
        """The depth that the last query reached."""
        return int(self.point.get_num_levels(self.relation))

    def _invariant(self) -> Term:
        cover = self.point.get_cover_delta(-1, self.relation)
        held = z3.substitute_vars(cover, *(self.translator.expression(v) for v in self.vars))
        leaves = {self.translator.expression(v).get_id(): solver_variable(v) for v in self.vars}
        return Terms(leaves).term(held)

    def _states(self) -> list[dict[Term, Value]]:
        """The ground facts of the derivation, premises first."""
        states: dict[int, dict[Term, Value]] = {}
        seen: set[int] = set()
        stack = [(self.point.get_answer(), False)]
        while stack:
            node, children_done = stack.pop()
            if children_done:
                if z3.is_app(node) and node.decl() == self.relation and all(map(_is_value, node.children())):
                    given = zip(self.vars, node.children(), strict=True)
                    states.setdefault(node.get_id(), {v: read(v.type, a) for v, a in given})
            elif node.get_id() not in seen and z3.is_app(node):
                seen.add(node.get_id())
                stack.append((node, True))
                stack.extend((a, False) for a in reversed(node.children()))
        return list(states.values())


def _is_value(node: z3.ExprRef) -> bool:
    return bool(
        z3.is_int_value(node)
        or z3.is_rational_value(node)
        or z3.is_bv_value(node)
        or z3.is_true(node)
        or z3.is_false(node)
        or (z3.is_app_of(node, z3.Z3_OP_UMINUS) and _is_value(node.arg(0)))
    )
