"""Properties under a premise that has held so far: the premise becomes an assumption.

    env = so_far(c);  P: env ⟹ Q         becomes         assume env;  P: Q

A premise that is false at a step is false at all later ones, so what holds at every step of the runs on which it has
held so far, holds of every run if it is said under the premise. The runs that random inputs end at once go too, and
every invariant would be one under the premise.

The way back: each invariant J becomes env ⟹ J. A k-step run that ends with the premise has had it all the time.
Certificates that say how long runs are have none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from streamcheck.core.simplify import conjunction, implication, instantiate, negation
from streamcheck.core.term import TRUE, Term, variable
from streamcheck.problem.claim import Claim
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate


class Premise:
    """The system with the premise of all its properties as an assumption; the same system if there is none."""

    def __init__(self, system: TransitionSystem) -> None:
        self.premise = lasting_premise(system)
        self.problem = system if self.premise is TRUE else _under(system, self.premise)
        claims = zip(self.problem.properties, system.properties, strict=True)
        self._claims = {under.term: claim.term for under, claim in claims}

    def inductive(self, k: int, invariants: Iterable[Term]) -> Certificate:
        """The certificate, about the whole system, of invariants that are k-inductive under the premise."""
        of_all = (self._claims.get(i) or implication(self.premise, i) for i in invariants)
        return Certificate("inductive", k, tuple(of_all))


def lasting_premise(system: TransitionSystem) -> Term:
    """The condition that every property has among its premises, and that once false stays false."""
    if not system.properties:
        return TRUE
    first, *others = (dict.fromkeys(_premises(p.term)) for p in system.properties)
    return conjunction(*(c for c in first if all(c in other for other in others) and _stays_false(system, c)))


def _premises(claim: Term) -> Iterator[Term]:
    match claim.op:
        case "implies":
            yield from _members("and", claim.args[0])
            yield from _premises(claim.args[1])
        case "mux" if TRUE in claim.args[1:]:
            _, a, b = claim.args
            yield from _premises(b if a is TRUE else a)
        case "or":
            yield from (negation(part) for part in _members("or", claim) if part.op == "not")
        case "and":  # (c ⟹ Q) ∧ (c ⟹ R)
            first, *others = (dict.fromkeys(_premises(part)) for part in claim.args)
            yield from (c for c in first if all(c in other for other in others))


def _members(op: str, node: Term) -> Iterator[Term]:
    """The node, and what it is the conjunction (or disjunction) of."""
    pending = [node]
    while pending:
        part = pending.pop()
        yield part
        if part.op == op:
            pending += reversed(part.args)


def _stays_false(system: TransitionSystem, condition: Term) -> bool:
    """By its form at the next step: the condition itself, or that and more."""
    after = {s.var: s.next for s in system.state} | {v: variable(f"{v.payload}'", v.type) for v in system.inputs}
    return condition in _members("and", instantiate([condition], after)[condition])


def _under(system: TransitionSystem, premise: Term) -> TransitionSystem:
    known = dict.fromkeys(_members("and", premise), TRUE)
    roots = [*(s.next for s in system.state), *(p.term for p in system.properties)]
    image = instantiate(roots, known)
    assumption = Claim("premise", premise)
    return replace(
        system,
        state=tuple(replace(s, next=image[s.next]) for s in system.state),
        assumptions=(*system.assumptions, assumption),
        properties=tuple(replace(p, term=image[p.term]) for p in system.properties),
    )
