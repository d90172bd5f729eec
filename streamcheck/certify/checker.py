"""Whether a certificate proves a property of a system: its conditions, derived here from the system alone.

With J the conjunction of the certificate's invariants, A the assumptions, P the property:

    implication   A[x0] ∧ J[x0] ⊨ P[x0]
    base          I[x0] ∧ T[x0, x1] ∧ … ∧ A[x0] ∧ … ∧ A[xi] ⊨ J[xi]                         for i < k
    inductive     T[x0, x1] ∧ … ∧ T[xk-1, xk] ∧ A[x0] ∧ … ∧ A[xk] ∧ J[x0] ∧ … ∧ J[xk-1] ⊨ J[xk]
    compressed    the same with C_k[x0 … xk] on the left
    complete      I[x0] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ∧ A[x0] ∧ … ∧ A[xk] ∧ C_k[x0 … xk] is contradictory

C_k: the states are pairwise different, and only the first is initial. States are compared on the variables that
J and A depend on, which the checker finds by itself: a run cut short by a repeated state must stay a run for them.

No engine is imported, and the solver is another one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from streamcheck.certify.smtlib import Script, conjunction, disjunction
from streamcheck.certify.solvers import unsatisfiable
from streamcheck.core.term import Term, variables, walk
from streamcheck.system.transition import Claim, TransitionSystem
from streamcheck.system.verdict import Certificate


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a certificate is no proof; `undecided` where the solver could not tell."""

    why: str
    undecided: bool = False


def check(system: TransitionSystem, claim: Claim, certificate: Certificate) -> Rejected | None:
    """None where every condition holds."""
    declared = {s.var for s in system.state} | set(system.inputs)
    if any(v not in declared for v in variables(certificate.invariants)):
        return Rejected("it speaks of variables the system does not have")
    system = _cone(system, (claim.term, *certificate.invariants))
    for what, script in _conditions(system, claim, certificate):
        try:
            answer = unsatisfiable(script)
        except Exception as error:  # a text the solver cannot read decides nothing
            return Rejected(f"{what}: {error}", undecided=True)
        if answer is not True:
            return Rejected(f"{what} does not hold" if answer is False else f"{what}: undecided", answer is None)
    return None


def _cone(system: TransitionSystem, roots: tuple[Term, ...]) -> TransitionSystem:
    """The part of the system that the roots and the assumptions depend on."""
    nexts = {s.var: s.next for s in system.state}
    seen: set[Term] = set()
    pending = [*roots, *(a.term for a in system.assumptions)]
    while pending:
        pending = [nexts[t] for t in walk(pending, seen) if t in nexts]
    return replace(
        system,
        state=tuple(s for s in system.state if s.var in seen),
        inputs=tuple(v for v in system.inputs if v in seen),
        definitions=(),
        properties=(),
    )


def _conditions(system: TransitionSystem, claim: Claim, certificate: Certificate) -> Iterator[tuple[str, Script]]:
    k = certificate.k
    yield "base case", _base(system, certificate.invariants, k)
    if certificate.kind == "complete":
        yield "completeness", _complete(system, k)
    else:
        yield "step case", _induction(system, certificate, k)
    if claim.term not in certificate.invariants:
        yield "implication", _implication(system, certificate.invariants, claim)


def _assumed(script: Script, i: int) -> str:
    return conjunction(script.symbol(a.term, i) for a in script.system.assumptions)


def _all(script: Script, invariants: tuple[Term, ...], i: int) -> str:
    return conjunction(script.symbol(t, i) for t in invariants)


def _base(system: TransitionSystem, invariants: tuple[Term, ...], k: int) -> Script:
    script = Script(system)
    script.start(initial=True)
    so_far: list[str] = []
    broken: list[str] = []
    for i in range(k):
        if i:
            script.step(i)
        so_far.append(_assumed(script, i))
        broken.append(conjunction([*so_far, f"(not {_all(script, invariants, i)})"]))
    script.asserted(disjunction(broken))
    return script


def _induction(system: TransitionSystem, certificate: Certificate, k: int) -> Script:
    script = Script(system)
    script.start(initial=False)
    for i in range(k + 1):
        if i:
            script.step(i)
        script.asserted(_assumed(script, i))
        if i < k:
            script.asserted(_all(script, certificate.invariants, i))
    script.asserted(f"(not {_all(script, certificate.invariants, k)})")
    if certificate.kind == "compressed":
        _compress(script, k)
    return script


def _complete(system: TransitionSystem, k: int) -> Script:
    script = Script(system)
    script.start(initial=True)
    for i in range(k + 1):
        if i:
            script.step(i)
        script.asserted(_assumed(script, i))
    _compress(script, k)
    return script


def _compress(script: Script, k: int) -> None:
    """C_k[x0 … xk]."""
    states = script.system.state
    for j in range(1, k + 1):
        for i in range(j):
            equal = conjunction(f"(= {script.symbol(s.var, i)} {script.symbol(s.var, j)})" for s in states)
            script.asserted(f"(not {equal})")
        begun = [(s.var, s.init) for s in states if s.init is not None]
        initial = conjunction(f"(= {script.symbol(v, j)} {script.symbol(init, j)})" for v, init in begun)
        script.asserted(f"(not {initial})")


def _implication(system: TransitionSystem, invariants: tuple[Term, ...], claim: Claim) -> Script:
    script = Script(system)
    script.start(initial=False)
    script.asserted(_assumed(script, 0))
    script.asserted(_all(script, invariants, 0))
    script.asserted(f"(not {script.symbol(claim.term, 0)})")
    return script
