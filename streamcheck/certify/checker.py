"""Checks that a certificate proves a property of a specification. The conditions are derived from the specification.

With J the conjunction of the certificate's invariants, E that of its equalities, A the assumptions, P the property:

    implication   A[x0] ∧ J[x0] ∧ E[x0] ⊨ P[x0]
    equalities    I[x0] ∧ A[x0] ⊨ E[x0]   and   T[x0, x1] ∧ A[x0] ∧ A[x1] ∧ E[x0] ⊨ E[x1]

and then, in the specification with equals put for equals:

    base          I[x0] ∧ T[x0, x1] ∧ … ∧ A[x0] ∧ … ∧ A[xi] ⊨ J[xi]                         for i < k
    inductive     T[x0, x1] ∧ … ∧ T[xk-1, xk] ∧ A[x0] ∧ … ∧ A[xk] ∧ J[x0] ∧ … ∧ J[xk-1] ⊨ J[xk]
    compressed    the same with C_k[x0 … xk] on the left
    complete      I[x0] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ∧ A[x0] ∧ … ∧ A[xk] ∧ C_k[x0 … xk] is contradictory
    ended         the same without C_k[x0 … xk]

Some of J may be known: all invariants of an accepted certificate of plain induction, if J has all of them, and a k as
large. They are on the left, and nothing is asked about them again; J would be accepted without that one, too.
The base case suffices if every state is initial: I is true, so it shows A[x0] ⊨ J[x0] for all x0.
C_k: the states are pairwise different, and only the first is initial. States are compared on the variables that
J and A depend on, which the checker finds by itself: a run cut short by a repeated state must stay a run for them.

The certificate speaks of the user's variables in the user's types; arrays and structs by their parts (`a.0`, `p.x`).
Nothing that turned the specification into what engines see is used here, nor its simplification, nor the operator
table, nor their solver.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from streamcheck.certify.judge import LOT, Query, Rejected, judge
from streamcheck.certify.logic import replace_and_fold
from streamcheck.certify.lots import independent_lots, neighbourhoods
from streamcheck.certify.runs import Runs, SpecificationRuns, read_specification
from streamcheck.certify.script import Script, conjunction, disjunction
from streamcheck.core.term import Term, variable, variables
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate

MANY = 32  # invariants, of which each is looked at with what is near it
MOST_CERTIFICATES = 64  # whose invariants are remembered: properties proved together share one


@dataclass(frozen=True, slots=True)
class VerificationCondition:
    """One query of a certificate: `query` must be contradictory in these runs. It is where each of its parts is."""

    what: str
    runs: Runs
    query: Query
    parts: tuple[Query, ...] = ()
    lots: tuple[Query, ...] = ()  # of `LOT` parts each
    compares_states: bool = False  # on the variables that the checker finds to matter, which may be more than it takes


class SpecificationChecker:
    """Judges certificates about one specification."""

    def __init__(self, specification: Specification) -> None:
        self.reading: SpecificationRuns = read_specification(specification)
        self._invariants = lru_cache(MOST_CERTIFICATES)(
            partial(judge_invariants, self.reading, deque(maxlen=MOST_CERTIFICATES))
        )

    def check(self, claim: Claim, certificate: Certificate) -> Rejected | None:
        """None if every condition holds."""
        if claim.is_about_infinite_runs:
            return Rejected("it is about single steps, and the claim is about infinite runs")
        return check_term(self.reading, self.reading.invariant(claim), certificate, self._invariants)


def check_term(
    reading: SpecificationRuns,
    holds: Term,
    certificate: Certificate,
    judge_invariants: Callable[[Certificate], Rejected | None],
) -> Rejected | None:
    """None if the certificate proves that the term holds at every step."""
    runs, facts = reading.runs, (*certificate.invariants, *certificate.equalities)
    declared = {r.var for r in runs.registers} | set(runs.inputs)
    if any(v not in declared for v in variables(facts)):
        return Rejected("it speaks of variables the specification does not have")
    if not operands_of([holds]) <= operands_of(certificate.invariants):
        condition = implication_of(reading, holds, certificate)
        rejected = judge(condition.what, condition.runs, condition.query, certificate.prover)
        if rejected is not None:
            return rejected
    return judge_invariants(certificate)


def operands_of(terms: Iterable[Term]) -> set[Term]:
    """The terms, and instead of a conjunction its operands."""
    found, stack = set[Term](), list(terms)
    while stack:
        node = stack.pop()
        if node.op == "and":
            stack.extend(node.args)
        else:
            found.add(node)
    return found


def implication_of(reading: SpecificationRuns, holds: Term, certificate: Certificate) -> VerificationCondition:
    """The condition that the certificate's invariants imply the claim."""
    facts = (*certificate.invariants, *certificate.equalities)
    return VerificationCondition("implication", reading.runs.cone((holds, *facts)), _implication(facts, holds))


def judge_invariants(
    reading: SpecificationRuns, shown: deque[Certificate], certificate: Certificate
) -> Rejected | None:
    """None if J holds in every run, whatever the property: a certificate of plain induction is among the shown then."""
    if certificate.kind != "inductive" or certificate.equalities or certificate.free:
        return _check_all(reading, certificate, ())
    parts = (c.invariants for c in shown if c.k <= certificate.k and {*c.invariants} <= {*certificate.invariants})
    rejected = _check_plain(reading, certificate, {t for part in parts for t in part})
    shown.extend([certificate] if rejected is None else [])
    return rejected


def _check_plain(reading: SpecificationRuns, certificate: Certificate, shown: Collection[Term]) -> Rejected | None:
    lots = independent_lots(reading.runs.cone(certificate.invariants), certificate.invariants)
    if len(lots) > 1:
        parts = [replace(certificate, invariants=lot) for lot in lots]
        is_whole = {t for lot in lots for t in lot} >= {*certificate.invariants}
        if is_whole and all(_check_all(reading, part, shown) is None for part in parts):
            return None  # each lot is inductive, so all are, whatever the lots are
    is_long = certificate.k == 1 and len(certificate.invariants) > MANY
    if is_long and _check_near(reading, certificate, shown) is None:
        return None
    return _check_all(reading, certificate, shown)


def _check_near(reading: SpecificationRuns, certificate: Certificate, shown: Collection[Term]) -> Rejected | None:
    """None if each invariant follows, at the next step, from some of them, in runs that are less restricted."""
    runs, invariants = reading.runs.cone(certificate.invariants), {*certificate.invariants}
    left = invariants.difference(shown)
    rejected = judge("base case", runs, _base([t for t in certificate.invariants if t in left], 1), certificate.prover)
    for part, facts, goal in neighbourhoods(runs, certificate.invariants):
        if rejected is not None or not part.is_weaker_than(runs) or not invariants >= {goal, *facts}:
            return rejected or Rejected("what is near an invariant is not among what is known", undecided=True)
        if goal in left:
            query = _induction(replace(certificate, invariants=facts), 1, [goal])
            rejected = judge("step case", part, query, certificate.prover)
            left.discard(goal)
    return Rejected("an invariant was left out", undecided=True) if left and rejected is None else rejected


def _check_all(reading: SpecificationRuns, certificate: Certificate, shown: Collection[Term]) -> Rejected | None:
    for c in conditions_of(reading, certificate, shown):
        rejected = judge(c.what, c.runs, c.query, certificate.prover, c.parts, c.lots)
        if rejected is not None:
            return replace(rejected, undecided=rejected.undecided or c.compares_states)
    return None


def conditions_of(
    reading: SpecificationRuns, certificate: Certificate, shown: Collection[Term] = ()
) -> Iterator[VerificationCondition]:
    """The conditions that the certificate's invariants hold in every run."""
    runs = reading.runs
    if certificate.equalities:
        alone = Certificate("inductive", 1, certificate.equalities)
        for condition in _conditions(runs.cone(alone.invariants), alone):
            yield replace(condition, what=f"{condition.what} of the equalities")
    runs = runs.cone([*certificate.invariants, *certificate.equalities])  # a large specification is not gone through
    named = reading.named.values() if certificate.free else ()
    runs, images = _replace_equals(runs, [*named, *certificate.invariants], certificate.equalities)
    certificate = replace(certificate, invariants=tuple(images[t] for t in certificate.invariants))
    if certificate.free:
        dropped = {images[t] for name, t in reading.named.items() if name in certificate.free}
        runs, certificate = _free(runs, certificate, dropped)
    yield from _conditions(runs.cone(certificate.invariants), certificate, shown)


def _replace_equals(runs: Runs, others: Iterable[Term], equalities: tuple[Term, ...]) -> tuple[Runs, dict[Term, Term]]:
    """The runs with equals put for equals, folded, which are the same runs once the equalities are shown; and the
    images of other terms."""
    replacement = {e.args[0]: e.args[1] for e in equalities}
    for var, other in replacement.items():  # a = b, b = c: c
        met = {var}
        while other in replacement and other not in met:
            met.add(other)
            other = replacement[other]
        replacement[var] = other
    others = list(others)
    images = replace_and_fold([*_terms(runs), *others], replacement)
    registers = tuple(replace(r, next=images[r.next]) for r in runs.registers if r.var not in replacement)
    kept = _with_images(replace(runs, registers=registers), images)
    return kept, {t: images[t] for t in others}


def _free(runs: Runs, certificate: Certificate, free: set[Term]) -> tuple[Runs, Certificate]:
    """The same question of more runs: at every step, each of these terms has any value."""
    states = {r.var for r in runs.registers}
    fresh = {t: variable(f"free {i}", t.type) for i, t in enumerate(free - states)}
    images = replace_and_fold([*_terms(runs), *certificate.invariants], fresh)
    freed = _with_images(
        replace(
            runs,
            registers=tuple(replace(r, next=images[r.next]) for r in runs.registers if r.var not in free),
            inputs=(*runs.inputs, *(free & states), *fresh.values()),
        ),
        images,
    )
    return freed, replace(certificate, invariants=tuple(images[t] for t in certificate.invariants))


def _terms(runs: Runs) -> list[Term]:
    transition = [] if runs.transition is None else [runs.transition]
    return [*(r.next for r in runs.registers), *runs.assumptions, *transition]


def _with_images(runs: Runs, images: dict[Term, Term]) -> Runs:
    transition = None if runs.transition is None else images[runs.transition]
    return replace(runs, assumptions=tuple(images[a] for a in runs.assumptions), transition=transition)


# The conditions


def _conditions(runs: Runs, certificate: Certificate, shown: Collection[Term] = ()) -> Iterator[VerificationCondition]:
    k, goals = certificate.k, [t for t in certificate.invariants if t not in shown]
    if shown and not goals:
        return
    yield VerificationCondition("base case", runs, _base(goals, k), tuple(_base([t], k) for t in goals))
    if certificate.kind == "complete":
        yield VerificationCondition("completeness", runs, _complete(k), compares_states=True)
    elif certificate.kind == "ended":
        yield VerificationCondition("end of all runs", runs, partial(_follow, k=k, initial=True))
    elif any(r.initial is not None for r in runs.registers):
        compressed = certificate.kind == "compressed"
        parts = tuple(_induction(certificate, k, [t]) for t in goals)
        lots = tuple(_induction(certificate, k, goals[i : i + LOT]) for i in range(0, len(goals), LOT))
        whole = _induction(certificate, k, goals)
        yield VerificationCondition("step case", runs, whole, parts, lots, compares_states=compressed)


def _all(script: Script, terms: Sequence[Term], i: int) -> str:
    return conjunction(script.symbol(t, i) for t in terms)


def _base(invariants: Sequence[Term], k: int) -> Query:
    def query(script: Script) -> None:
        script.start(initial=True)
        so_far = "true"
        broken: list[str] = []
        for i in range(k):
            steps = script.step(i) if i else []
            so_far = script.name_for(conjunction([so_far, *steps, _all(script, script.runs.all_assumptions, i)]))
            broken.append(conjunction([so_far, f"(not {_all(script, invariants, i)})"]))
        script.require(disjunction(broken))

    return query


def _induction(certificate: Certificate, k: int, goals: Sequence[Term]) -> Query:
    def query(script: Script) -> None:
        _follow(script, k, initial=False)
        for i in range(k):
            script.require(_all(script, certificate.invariants, i))
        script.require(f"(not {_all(script, goals, k)})")
        if certificate.kind == "compressed":
            _compress(script, k)

    return query


def _complete(k: int) -> Query:
    def query(script: Script) -> None:
        _follow(script, k, initial=True)
        _compress(script, k)

    return query


def _follow(script: Script, k: int, *, initial: bool) -> None:
    """T[x0, x1] ∧ … ∧ T[xk-1, xk] ∧ A[x0] ∧ … ∧ A[xk], from an initial state or any."""
    script.start(initial=initial)
    for i in range(k + 1):
        if i:
            for formula in script.step(i):
                script.require(formula)
        script.require(_all(script, script.runs.all_assumptions, i))


def _compress(script: Script, k: int) -> None:
    """C_k[x0 … xk]."""
    registers = script.runs.registers
    for j in range(1, k + 1):
        for i in range(j):
            equal = conjunction(f"(= {script.symbol(r.var, i)} {script.symbol(r.var, j)})" for r in registers)
            script.require(f"(not {equal})")
        starts = [(script.symbol(r.var, j), script.symbol(r.initial, j)) for r in registers if r.initial is not None]
        initial = conjunction(f"(= {value} {first})" for value, first in starts)
        script.require(f"(not {initial})")


def _implication(facts: Sequence[Term], holds: Term) -> Query:
    def query(script: Script) -> None:
        script.start(initial=False)
        script.require(_all(script, script.runs.all_assumptions, 0))
        script.require(_all(script, facts, 0))
        script.require(f"(not {script.symbol(holds, 0)})")

    return query
