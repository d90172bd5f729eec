"""Whether a certificate proves a property of a system: its conditions, derived here from the system alone.

With J the conjunction of the certificate's invariants, E that of its equalities, A the assumptions, P the property:

    implication   A[x0] ∧ J[x0] ∧ E[x0] ⊨ P[x0]
    equalities    I[x0] ∧ A[x0] ⊨ E[x0]   and   T[x0, x1] ∧ A[x0] ∧ A[x1] ∧ E[x0] ⊨ E[x1]

and then, in the system with equals put for equals:

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
from functools import lru_cache

from streamcheck.certify.smtlib import Script, conjunction, disjunction
from streamcheck.certify.solvers import unsatisfiable
from streamcheck.core.simplify import simplify
from streamcheck.core.term import Term, substitute, variable, variables, walk
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate


@dataclass(frozen=True, slots=True)
class Rejected:
    """Why a certificate is no proof; `undecided` where the solver could not tell."""

    why: str
    undecided: bool = False


def check(system: TransitionSystem, claim: Claim, certificate: Certificate) -> Rejected | None:
    """None where every condition holds."""
    facts = (*certificate.invariants, *certificate.equalities)
    declared = {s.var for s in system.state} | set(system.inputs)
    if any(v not in declared for v in variables(facts)):
        return Rejected("it speaks of variables the system does not have")
    if claim.term not in certificate.invariants:
        script = _implication(_cone(system, (claim.term, *facts)), facts, claim)
        rejected = _judged("implication", script)
        if rejected is not None:
            return rejected
    return check_invariants(system, certificate)


@lru_cache(maxsize=64)  # properties proved together share a certificate
def check_invariants(system: TransitionSystem, certificate: Certificate) -> Rejected | None:
    """None where J holds in every run, whatever property that is for."""
    for what, script in _all_conditions(system, certificate):
        rejected = _judged(what, script)
        if rejected is not None:
            return rejected
    return None


def _judged(what: str, script: Script) -> Rejected | None:
    try:
        answer = unsatisfiable(script)
    except Exception as error:  # a text the solver cannot read decides nothing
        return Rejected(f"{what}: {error}", undecided=True)
    if answer is True:
        return None
    return Rejected(f"{what} does not hold" if answer is False else f"{what}: undecided", answer is None)


def _all_conditions(system: TransitionSystem, certificate: Certificate) -> Iterator[tuple[str, Script]]:
    if certificate.equalities:
        alone = Certificate("inductive", 1, certificate.equalities)
        for what, script in _conditions(_cone(system, alone.invariants), alone):
            yield f"{what} of the equalities", script
    system = _replaced(system, certificate.equalities)
    if certificate.free:
        named = {d.name: d.term for d in system.definitions} | {s.var.payload: s.var for s in system.state}
        system, certificate = _freed(system, certificate, {named[n] for n in certificate.free if n in named})
    yield from _conditions(_cone(system, certificate.invariants), certificate)


def _replaced(system: TransitionSystem, equalities: tuple[Term, ...]) -> TransitionSystem:
    """The system with equals put for equals, simplified: the same runs, once the equalities are shown."""
    replacement = {e.args[0]: e.args[1] for e in equalities}
    for var, other in replacement.items():  # a = b, b = c: c
        met = {var}
        while other in replacement and other not in met:
            met.add(other)
            other = replacement[other]
        replacement[var] = other
    images = substitute([*system.roots()], replacement)
    simple = simplify(images.values())
    return replace(
        system,
        state=tuple(replace(s, next=simple[images[s.next]]) for s in system.state if s.var not in replacement),
        definitions=tuple(replace(d, term=simple[images[d.term]]) for d in system.definitions),
        assumptions=tuple(replace(a, term=simple[images[a.term]]) for a in system.assumptions),
        properties=(),
    )


def _freed(system: TransitionSystem, certificate: Certificate, free: set[Term]) -> tuple[TransitionSystem, Certificate]:
    """The same question of a system with more runs: at every step, each of these terms has any value."""
    states = {s.var for s in system.state}
    fresh = {t: variable(f"free {i}", t.type) for i, t in enumerate(free - states)}
    images = substitute([*system.roots(), *certificate.invariants], fresh)
    freed = replace(
        system,
        state=tuple(replace(s, next=images[s.next]) for s in system.state if s.var not in free),
        inputs=(*system.inputs, *(free & states), *fresh.values()),
        definitions=(),
        assumptions=tuple(replace(a, term=images[a.term]) for a in system.assumptions),
        properties=(),
    )
    return freed, replace(certificate, invariants=tuple(images[t] for t in certificate.invariants))


def _cone(system: TransitionSystem, roots: tuple[Term, ...]) -> TransitionSystem:
    """The part of the system that the roots and the assumptions depend on."""
    nexts = {s.var: s.next for s in system.state}
    seen: set[Term] = set()
    pending = [*roots, *(a.term for a in system.assumptions if not a.is_range)]
    while pending:
        pending = [nexts[t] for t in walk(pending, seen) if t in nexts]
    # A range that comes with a type, not from the user, matters where its variable does.
    seen_ranges = [a for a in system.assumptions if not a.is_range or seen.issuperset(variables([a.term]))]
    return replace(
        system,
        state=tuple(s for s in system.state if s.var in seen),
        inputs=tuple(v for v in system.inputs if v in seen),
        definitions=(),
        assumptions=tuple(seen_ranges),
        properties=(),
    )


def _conditions(system: TransitionSystem, certificate: Certificate) -> Iterator[tuple[str, Script]]:
    k = certificate.k
    yield "base case", _base(system, certificate.invariants, k)
    if certificate.kind == "complete":
        yield "completeness", _complete(system, k)
    else:
        yield "step case", _induction(system, certificate, k)


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
