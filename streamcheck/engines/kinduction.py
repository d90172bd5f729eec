"""The step case of k-induction, all properties at once, with path compression.

[Laurent, "The k-induction algorithm"], after [SSS00]:

    P[x0] ∧ … ∧ P[xk-1] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] ⊨ P[xk]                                            (c.)

and "Path compression":  C_k[x0 … xk] = ⋀ xi ≠ xj ∧ ⋀_{i>0} ¬I[xi]  joins the left side.

Ingredients: `_joint` (which properties hold together), `_one_by_one` (the same in smaller queries), `_compress` (C_k,
lazily), `_await_base_case` (the base case (i.), which `bmc` proves in the same process and reports by `TrueUpTo`).

Several properties: those that are k-inductive together are found by taking the hypothesis of all, and dropping those
that some model breaks, until no model is left (the mutual induction rule of [Laurent, "Inductive properties"]). So
a further property never makes another unprovable: in the end only a set that stands on its own remains. What has been
shown stays a hypothesis for the rest, and joins the certificates of those that need it; if its base case turns out
false, what relied on it is withdrawn.

Path compression is lazy: a pair of states is made different only after a model has made them equal, and a state is
kept from being initial only after a model began anew there. These constraints stand under one literal; a core
without it is a plain k-inductive proof. They are tried at ever fewer depths (`_is_compared`).

Asserted in the solver, at depth k: T[x0, x1] … T[xk-1, xk]; A[x0] … A[xk]; the invariants that others proved, at every
step (under literals of their own if `names_lemmas`); under a literal h_p for each property p: p[x0] … p[xk-1]; under
the literal `compressed`: parts of C_k.

Limits: states are compared on the whole system at hand, so a counter that never repeats defeats compression even for
a property that does not depend on it.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import ClassVar, Literal, assert_never

from streamcheck.core.evaluate import evaluate, value_of
from streamcheck.core.floats import identity
from streamcheck.core.simplify import disjunction, negation
from streamcheck.core.term import Term, variable, variables
from streamcheck.core.types import BOOL, Value
from streamcheck.engines.cores import FEW, Cores, needed_at_depth
from streamcheck.engines.options import KInductionOptions
from streamcheck.engines.protocol import Event, Inbox, Invariants, Progress, Settled, Task, TrueUpTo, Waiting
from streamcheck.problem.claim import Claim
from streamcheck.problem.verdict import Certificate, Falsified, Proved, SolverFamily, Unknown
from streamcheck.smt.contract import AnySolver
from streamcheck.smt.solver import Solver
from streamcheck.smt.unroll import Chained, at

LOG = logging.getLogger(__name__)
COMPRESSED = variable("compressed", BOOL)
FOR_EVER = 1 << 62
FIRST_SHARE = 4  # a first query has this fraction of the patience: other properties wait for their turn (heuristic)
JOINT_SHARE = 0.2  # of the patience that a query about several properties gets (heuristic)
MANY = 32  # proofs, from where on some that do not need each other share a certificate (heuristic)
SHARED = 8  # properties in such a certificate (heuristic)
MAX_COMPRESSIONS = 100  # models per depth; beyond, the depth is given up and the next one tried (heuristic)


@dataclass(frozen=True, slots=True)
class Found:
    """Properties whose step case holds together, given others that this engine has shown before."""

    names: tuple[str, ...]
    relied: tuple[str, ...]
    certificate: Certificate


@dataclass(frozen=True, slots=True)
class LemmaSet:
    """Invariants that are k-inductive together."""

    k: int
    invariants: tuple[Term, ...]

    @classmethod
    def of(cls, proofs: Iterable[Certificate]) -> LemmaSet:
        """All invariants of these certificates."""
        each = {id(c): c for c in proofs}.values()
        return cls(max((c.k for c in each), default=1), tuple(dict.fromkeys(t for c in each for t in c.invariants)))


@dataclass(frozen=True, slots=True)
class _Attempt:
    """The properties of a step case at depth k, with C_k or without."""

    names: list[str]
    k: int
    compressed: bool


class KInduction:
    name: ClassVar[str] = "k-induction"
    prover: ClassVar[SolverFamily] = "z3"
    most_attempts: ClassVar[int] = 5  # at a depth, each with twice the patience of the one before (heuristic)
    names_lemmas: ClassVar[bool] = False  # certificates then have only the lemmas that were needed

    def __init__(self, options: KInductionOptions | None = None) -> None:
        self.options = options or KInductionOptions()

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        self.system = problem.system
        first = None if problem.patience is None else problem.patience // FIRST_SHARE
        self.steps, self.solver = Chained(self.system), self.new_solver(first)
        self.open: dict[str, Claim] = {p.name: p for p in self.system.properties}
        self.true_up_to: dict[str, int] = {}
        self.lemmas: dict[Term, Certificate] = {}  # invariants proved elsewhere, and their proofs
        self.waiting: list[Found] = []
        self.shown: dict[str, Claim] = {}  # whose step case this engine has shown: hypotheses for the rest
        self.supports: dict[str, tuple[str, ...]] = {}  # what stands together with each of these
        self.needed: dict[str, LemmaSet] = {}  # what their step cases used
        self._frame(0)
        for k in count(1):
            self._read(inbox, k)
            yield from self._await_base_case()
            if not self.open and not self.waiting:
                return
            if not self.open:
                yield Waiting()
            else:
                self._deepen(k)
                yield from self._at_depth(k)

    def _at_depth(self, k: int) -> Iterator[Event]:
        """The step case at this depth; again with twice the patience, a few times, if a query took too long."""
        for attempt in range(1, self.most_attempts + 1):
            timed_out = yield from self._joint(k)
            yield from self._await_base_case()
            yield Progress(k)
            if not timed_out or not self.open or attempt == self.most_attempts:
                return
            self.solver.more_patience()

    def new_solver(self, patience: int | None) -> AnySolver:
        return Solver(patience)

    # The frames

    def _frame(self, step: int) -> None:
        self.solver.add(*(self.steps.image(a.term, step) for a in self.system.assumptions))
        for lemma in self.lemmas:
            self._assert_lemma(lemma, step)

    def _assert_lemma(self, lemma: Term, step: int) -> None:
        image = self.steps.image(lemma, step)
        if self.names_lemmas:
            self.solver.add_under(_label(lemma), image)
        else:
            self.solver.add(image)

    def _deepen(self, k: int) -> None:
        """From the left side of (c.) at depth k - 1 to that at depth k."""
        for claim in self.system.properties:
            self.solver.add_under(_hypothesis(claim.name), self.steps.image(claim.term, k - 1))
        self.solver.add(*self.steps.equations(k - 1))
        self._frame(k)

    def _read(self, inbox: Inbox, k: int) -> None:
        for fact in inbox():
            match fact:
                case TrueUpTo(prop, depth):
                    self.true_up_to[prop] = max(depth, self.true_up_to.get(prop, -1))
                case Proved(prop, certificate):
                    self.open.pop(prop, None)
                    self.true_up_to[prop] = FOR_EVER
                    self._learn(certificate, k)
                case Invariants(certificate):
                    self._learn(certificate, k)
                case Falsified(prop):
                    self.open.pop(prop, None)
                    self._withdraw(prop)
                case Settled(prop):
                    self.open.pop(prop, None)
                case _:
                    assert_never(fact)

    def _learn(self, certificate: Certificate, k: int) -> None:
        known = set(self.steps.variables)  # an invariant over anything else is of no use here
        if certificate.kind != "inductive" or not known.issuperset(variables(certificate.invariants)):
            return  # part of it need not stand without the rest
        for invariant in certificate.invariants:
            if invariant not in self.lemmas:
                self.lemmas[invariant] = certificate
                for i in range(k):
                    self._assert_lemma(invariant, i)

    def _withdraw(self, false: str) -> None:
        """Take back what was shown together with a false property, or from it."""
        self.shown.pop(false, None)
        claims = {c.name: c for c in self.system.properties}
        for proof in [f for f in self.waiting if false in (*f.names, *f.relied)]:
            self.waiting.remove(proof)
            LOG.info("k-induction: withdraws %s; their proof used %s, which is false", "; ".join(proof.names), false)
            for name in proof.names:
                self.shown.pop(name, None)
                if name != false:
                    self.open[name] = claims[name]

    # The query

    def _joint(self, k: int) -> Generator[Event, None, bool]:
        """The largest set of open properties that is k-inductive together; then the same under C_k for the rest. Each
        property by itself if the option `together` is off. True if a query took too long."""
        for name, claim in self.shown.items():
            self.solver.add_under(_hypothesis(name), self.steps.image(claim.term, k))
        timed_out = False
        for compressed in (False, True) if self.options.compression and _is_compared(k) else (False,):
            groups = [list(self.open)] if self.options.together else [[name] for name in self.open]
            for names in groups:
                timed_out |= yield from self._attempt(_Attempt(names, k, compressed))
        return timed_out

    def _attempt(self, attempt: _Attempt) -> Generator[Event, None, bool]:
        """The largest subset whose step case holds. True if a query took too long."""
        together, k = {name: self.open[name] for name in attempt.names}, attempt.k
        goals = {name: self.steps.image(c.term, k) for name, c in together.items()}
        compressions = 0
        while together:
            # P[x0] ∧ … ∧ P[xk-1] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] (∧ C_k) ∧ (¬P_1[xk] ∨ …)
            broken = disjunction(*(negation(goals[name]) for name in together))
            share = 1.0 if len(together) == 1 else JOINT_SHARE
            assumed = self._assumptions(together, attempt)
            answer = self.solver.check(*assumed, broken, share=share)
            if answer is None and len(together) > 1:
                return (yield from self._one_by_one(goals, list(together), attempt))
            if answer is None:
                yield from (Unknown(name, self.solver.reason) for name in together)
                return True
            if answer is False:
                core = set(self.solver.core(assumed))
                needed = [n for n in self.shown if _hypothesis(n) in core]
                relied = dict.fromkeys(n for name in needed for n in self.supports[name])
                self._keep_inductive(list(together), k, relied, core)
                return False
            values = self.solver.model()
            if attempt.compressed and compressions < MAX_COMPRESSIONS and self._compress(k, values):
                compressions += 1
                continue
            for name in _violated_by(goals, together, values) or list(together):
                del together[name]
        return False

    def _one_by_one(self, goals: dict[str, Term], names: list[str], attempt: _Attempt) -> Generator[Event, None, bool]:
        """The same with a query for each property, under the hypothesis of all: what is too much together may be easy
        one by one. A property is asked about again only if its proof used one that is gone."""
        together, timed_out = dict.fromkeys(names), False
        used: dict[str, set[Term]] = {}
        while pending := [name for name in together if name not in used]:
            for name in pending:
                if name not in together:
                    continue
                # P[x0] ∧ … ∧ P[xk-1] ∧ T[x0, x1] ∧ … ∧ T[xk-1, xk] (∧ C_k) ∧ ¬P_i[xk]
                yield Progress(max(attempt.k - 1, 0))
                assumed = self._assumptions(together, attempt)
                answer = self.solver.check(*assumed, negation(goals[name]))
                if answer is False:
                    used[name] = set(self.solver.core(assumed))
                    continue
                if answer is None:
                    timed_out = True
                    yield Unknown(name, self.solver.reason)
                gone = [name] if answer is None else _violated_by(goals, together, self.solver.model()) or [name]
                for other in gone:
                    del together[other]
                lost = {_hypothesis(other) for other in gone}
                used = {n: core for n, core in used.items() if n in together and not core & lost}
        self._keep_supported(used, attempt)
        return timed_out

    def _keep_supported(self, used: Mapping[str, set[Term]], attempt: _Attempt) -> None:
        """Proofs of properties whose step cases hold together, each with what its own step case used, and so on: less
        than the hypothesis of all, and easier to check. Of many, those that need little share one, checked once."""
        needs = {name: [n for n in (*used, *self.shown) if _hypothesis(n) in core] for name, core in used.items()}
        groups: dict[frozenset[str], list[str]] = {}
        for name in used:
            groups.setdefault(self._support(name, needs), []).append(name)
        lots: list[tuple[set[str], list[str]]] = []
        most = SHARED if len(groups) > MANY and not attempt.compressed else 0
        for support, names in sorted(groups.items(), key=lambda group: len(group[0])):
            if lots and len(lots[-1][0] | support) <= most:
                lots[-1][0].update(support)
                lots[-1][1].extend(names)
            else:
                lots.append(({*support}, names))
        for together, names in lots:
            cores = set().union(*(used[name] for name in together if name in used))
            self._keep_inductive(names, attempt.k, [n for n in together if n not in names], cores)

    def _support(self, name: str, needs: Mapping[str, list[str]]) -> frozenset[str]:
        """The properties that stand together with this one: what it needs, what that needs, and so on."""
        found, pending = {name}, [name]
        while pending:
            one = pending.pop()
            new = [n for n in (needs[one] if one in needs else self.supports[one]) if n not in found]
            found.update(new)
            pending += new
        return frozenset(found)

    def _assumptions(self, together: Iterable[str], attempt: _Attempt) -> list[Term]:
        hypotheses = [_hypothesis(name) for name in (*together, *self.shown)]
        labels = list(map(_label, self.lemmas)) if self.names_lemmas else []
        return [*hypotheses, *labels, *([COMPRESSED] if attempt.compressed else [])]

    def _compress(self, k: int, values: dict[Term, Value]) -> bool:
        """Add a part of C_k that the model breaks. False if it breaks none."""
        states = [tuple(identity(values[at(v, i)]) for v in self.steps.states) for i in range(k + 1)]
        first: dict[object, int] = {}
        for j, state in enumerate(states):
            if state in first:
                self.solver.add_under(COMPRESSED, negation(self.steps.same_state(first[state], j)))
                return True
            first[state] = j
        for j in range(1, k + 1):
            if value_of(self.steps.is_initial(j), values) is True:
                self.solver.add_under(COMPRESSED, negation(self.steps.is_initial(j)))
                return True
        return False

    # The answer

    def _keep_inductive(self, names: list[str], k: int, relied: Iterable[str], used: set[Term]) -> None:
        """The step case holds for these together with those that it relied on, from the assumptions `used`; the proof
        is complete once the base case is known."""
        relied, compressed = tuple(relied), COMPRESSED in used
        claims = [c.term for c in self.system.properties if c.name in names or c.name in relied]
        goals = [c.term for c in self.system.properties if c.name in (*names, *relied) and c.name not in self.shown]
        needed = self._lemmas_for(goals, claims, k, used)
        all_needed = [needed, *(self.needed[name] for name in relied if name in self.needed)]
        depth = max([k, *(n.k for n in all_needed)])
        invariants = tuple(dict.fromkeys([*claims, *(t for n in all_needed for t in n.invariants)]))
        kind: Literal["compressed", "inductive"] = "compressed" if compressed else "inductive"
        LOG.info("k-induction: step case holds at k = %d (%s): %s", k, kind, "; ".join(names))
        certificate = Certificate(kind, depth, invariants, prover=self.prover)
        self.waiting.append(Found(tuple(names), tuple(relied), certificate))
        for name in names:
            claim = self.open.pop(name)
            if not compressed:  # a compressed proof is no hypothesis for a plain one
                self.shown[name] = claim
                self.supports[name] = (*names, *relied)
                self.needed[name] = needed

    def _lemmas_for(self, goals: list[Term], claims: list[Term], k: int, used: set[Term]) -> LemmaSet:
        """The lemmas that the step case of the goals needs, given the claims, with those that they need in turn."""
        lemmas = {t: c for t, c in self.lemmas.items() if not self.names_lemmas or _label(t) in used}
        whole = LemmaSet.of(lemmas.values())
        if len(whole.invariants) <= FEW or COMPRESSED in used:
            return whole
        patience = self.solver.patience
        own = [*lemmas]
        if not self.names_lemmas:
            own = needed_at_depth(self.steps, k, claims, goals, own, self.new_solver(patience))
        if len(own) >= len(whole.invariants):
            return whole
        deep = LemmaSet.of(lemmas[t] for t in own if lemmas[t].k > 1)
        simple = LemmaSet.of(c for c in lemmas.values() if c.k == 1)
        cores = Cores(self.steps, self.new_solver(patience))
        closed = cores.closure([t for t in own if lemmas[t].k == 1], simple.invariants, {})
        return LemmaSet(deep.k, (*deep.invariants, *closed))

    def _await_base_case(self) -> Iterator[Event]:
        """(i.): I[x0] ∧ T[x0, x1] ∧ … ⊨ P[xi] for i < k, from bounded model checking."""
        for proof in list(self.waiting):
            based = (*proof.names, *proof.relied)
            if all(self.true_up_to.get(name, -1) >= proof.certificate.k - 1 for name in based):
                self.waiting.remove(proof)
                self.true_up_to.update(dict.fromkeys(proof.names, FOR_EVER))
                yield from (Proved(name, proof.certificate) for name in proof.names)


def _is_compared(k: int) -> bool:
    """True for ever fewer depths: 1, 2, 3, 4, 6, 8, 12, 16, 24, … To compare the states of k steps is k times the work
    of a step, and what a depth proves a larger one proves too."""
    return k % (1 << max(0, k.bit_length() - 2)) == 0


def _violated_by(goals: Mapping[str, Term], names: Iterable[str], values: Mapping[Term, Value]) -> list[str]:
    results = evaluate([goals[name] for name in names], values)
    return [name for name in names if results[goals[name]] is not True]


def _hypothesis(name: str) -> Term:
    return variable(f"holds {name}", BOOL)


def _label(lemma: Term) -> Term:
    return variable(f"lemma {id(lemma)}", BOOL)
