"""A system's k-step queries as one SMT-LIB script, for any solver.

First the runs from the initial states: each property has a query for each step that is satisfiable if some run
violates it there. Then, from any states, the induction step for k: unsatisfiable if it proves the property, if the
queries of the first k steps are. An `echo` before each query names it.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.smtlib import literal, quote, sort
from streamcheck.core.term import Term
from streamcheck.export.smt_text import Texts, one_line
from streamcheck.problem.transition import TransitionSystem


def write_smt2(system: TransitionSystem, steps: int) -> str:
    """The queries of steps 0 to `steps`, and the induction step with k = `steps` (at least 1)."""
    lines = [f"; the runs of {one_line(system.name)} to step {steps}, and induction", "(set-logic ALL)"]
    script = _Script(system)
    lines += script.functions()
    lines += ["(push 1)", *script.runs(steps), "(pop 1)"]
    lines += ["(push 1)", *script.induction(max(1, steps)), "(pop 1)"]
    return "\n".join(lines) + "\n"


class _Script:
    def __init__(self, system: TransitionSystem) -> None:
        self.system = system
        self.roots = [s.next for s in system.state]
        self.roots += [c.term for c in (*system.assumptions, *system.properties)]

    def functions(self) -> list[str]:
        return list(Texts(self.roots, lambda v: _at(v, 0)).functions.values())

    def runs(self, steps: int) -> Iterator[str]:
        yield from self._start(initial=True)
        for i in range(steps + 1):
            texts = self._texts(i)
            yield from self._definitions(texts, i)
            for claim in self.system.properties:
                yield from _query(f"{claim.name}, step {i}", texts.violation(claim))
            if i < steps:
                yield from self._step(texts, i)

    def induction(self, k: int) -> Iterator[str]:
        yield from self._start(initial=False)
        held: list[list[str]] = []
        for i in range(k + 1):
            texts = self._texts(i)
            yield from self._definitions(texts, i)
            held.append([texts.invariant(claim) for claim in self.system.properties])
            if i < k:
                yield from self._step(texts, i)
        for n, claim in enumerate(self.system.properties):
            assumed = " ".join(row[n] for row in held[:-1])
            yield from _query(f"{claim.name}, induction step, k = {k}", f"(and {assumed} (not {held[-1][n]}))")

    def _texts(self, i: int) -> Texts:
        return Texts(self.roots, lambda v: _at(v, i), f"t!{i}!")

    def _start(self, *, initial: bool) -> Iterator[str]:
        for s in self.system.state:
            if initial and s.init is not None:
                text = literal(s.init.type, s.init.payload)
                yield f"(define-fun {_at(s.var, 0)} () {sort(s.var.type)} {text})"
            else:
                yield f"(declare-const {_at(s.var, 0)} {sort(s.var.type)})"

    def _definitions(self, texts: Texts, i: int) -> Iterator[str]:
        yield from (f"(declare-const {_at(v, i)} {sort(v.type)})" for v in self.system.inputs)
        yield from (f"(define-fun {n.name} () {sort(n.node.type)} {n.text})" for n in texts.named)
        yield from (f"(assert {texts[a.term]})" for a in self.system.assumptions)

    def _step(self, texts: Texts, i: int) -> Iterator[str]:
        for s in self.system.state:
            yield f"(define-fun {_at(s.var, i + 1)} () {sort(s.var.type)} {texts[s.next]})"


def _at(var: Term, step: int) -> str:
    return quote(f"{var.payload}@{step}".replace("|", "?").replace("\\", "?"))


def _query(title: str, formula: str) -> Iterator[str]:
    name = one_line(title).replace('"', "'")
    yield from ("(push 1)", f'(echo "{name}")', f"(assert {formula})", "(check-sat)", "(pop 1)")
