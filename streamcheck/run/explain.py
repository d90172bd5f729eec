"""Why properties have no verdict, and what is known of them: an explanation for each, made when the engines have ended.

The run on which a property does not follow from the steps before is found by bounded model checking of the
specification that begins anywhere, and replayed. Lemmas are those of the engines that the checker accepts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variables, walk
from streamcheck.core.types import Value
from streamcheck.core.uncast import without_casts
from streamcheck.engines.protocol import Invariants
from streamcheck.problem.claim import IMPLIED, Claim
from streamcheck.problem.result import Explanation, Replay, Result
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate, Proved, Unmappable
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.run.simplest import MOST_WORK
from streamcheck.run.small_conditions import without_implied
from streamcheck.transform.fresh import fresh_name
from streamcheck.transform.induction import with_any_start
from streamcheck.transform.scalars import wholes

if TYPE_CHECKING:
    from streamcheck.run.director import Director
    from streamcheck.run.failing_states import FailingStates
    from streamcheck.run.prove import Settings

MOST_STEPS = 3  # of the run on which a property fails
MOST_LEMMAS = 8  # that are told of a property
MOST_COMPARED = 20  # of which none may follow from the others
MOST_CANDIDATES = 4  # the same
SHORTEST_PROOF = 0.1  # seconds
LARGEST_LEMMA = 25  # nodes
ENGINES = ("bmc", "bit-bmc")
MANY = 4  # runs have less time each to be made simple
LITTLE_TIME = 0.1  # seconds in which nothing can be expected to be found
NO_TIME = "no state has been looked for from which it fails: there was no time"
NOT_FOUND = "no state has been found from which it fails in {seconds:.1f} s: the solver needs more time"
NO_STATE = "there is no state from which it fails after one step, so what is open is how runs begin"


@dataclass(slots=True)
class Explainer:
    """Explains the unknown results of one run."""

    specification: Specification
    settings: Settings
    seconds: float
    certificates: Sequence[Certificate]  # that engines found, not checked
    candidates: Sequence[Term] = ()  # that held in random runs
    depth: int = 1  # of the induction that failed
    beside: FailingStates | None = None  # what has been found while the engines worked
    stopped: int = 0  # the exit status that a signal asks for, if one came
    began: float = field(default_factory=time.monotonic)
    seconds_looked: float = 0.0  # for states from which properties fail

    def explain(self, results: list[Result]) -> list[Result]:
        """The results with explanations. A property with a proof has nothing to be explained: the proof was not checked
        in time."""
        unknown = [r.name for r in results if r.unknown is not None and not r.unknown.provers]
        if not unknown:
            return results
        asked = set(unknown)
        lemmas = self._checked_lemmas()
        proved = [r.prop.invariant for r in results if r.verdict == "proved" and r.proof is not None]
        begun = self._runs_beside(unknown)
        failures = {name: run for name, run in begun.items() if all(_holds_in([run], t) for t in [*lemmas, *proved])}
        failures |= self._failures(unknown, [*lemmas, *proved], failures.keys())
        unreachable = self._unreachable(failures, [*lemmas, *proved])
        unreachable |= begun.keys() - failures.keys()  # a lemma excludes the state
        failures = begun | failures
        runs = [r.run for r in results if r.run is not None]
        plausible = [c for c in self.candidates if c not in lemmas and c not in proved and _holds_in(runs, c)]
        return [
            replace(r, explanation=self._of(r, failures.get(r.name), lemmas, plausible, r.name in unreachable))
            if r.name in asked
            else r
            for r in results
        ]

    def _left(self) -> float:
        return max(0.0, self.began + self.seconds - time.monotonic())

    def _of(
        self, result: Result, failure: Replay | None, lemmas: list[Term], plausible: list[Term], unreachable: bool
    ) -> Explanation:
        cone = self.specification.needed_by([result.prop.term]) if lemmas or plausible else set()
        about, maybe = (
            [t for t in terms if t is not result.prop.invariant and cone.issuperset(variables([t]))]
            for terms in (lemmas, plausible)
        )
        not_before = 0
        if failure is not None:
            maybe = [t for t in maybe if not _holds_at(failure.steps[0], t)]
            if result.depth is not None:  # from that state it takes so many steps to break the property
                not_before = max(0, result.depth - len(failure.steps) + 2)
        missing = "" if failure is not None else self._why_missing(result.name)
        known, guessed = tuple(about[:MOST_LEMMAS]), tuple(maybe[:MOST_CANDIDATES])
        return Explanation(failure, known, guessed, unreachable, not_before, missing)

    def _why_missing(self, name: str) -> str:
        """The reason why there is no state from which the property fails."""
        if self.beside is not None and name in self.beside.steady:
            return NO_STATE
        seconds = self.seconds_looked + (0.0 if self.beside is None else self.beside.seconds_spent)
        return NOT_FOUND.format(seconds=seconds) if seconds >= LITTLE_TIME else NO_TIME

    # Lemmas

    def _checked_lemmas(self) -> list[Term]:
        """The invariants of certificates that the checker accepts, as far as the time goes; small ones first."""
        declared = _variables_and_parts(self.specification)  # not the clock of the tests for vacuity
        found = dict.fromkeys(c for c in self.certificates if declared.issuperset(variables(c.invariants)))
        claims = {p.invariant for p in self.specification.properties}
        smallest = sorted(found, key=lambda c: sum(1 for _ in walk(c.invariants)))
        if not smallest or self.seconds <= 0:
            return []
        specification, names = _with_claims(self.specification, smallest)
        sound: list[Term] = []
        with Sandbox(_judge(specification, names, smallest), seconds=self.seconds / 2, doing="checking") as child:
            try:
                for certificate in smallest:
                    if child.receive():
                        sound += certificate.invariants
            except SpecError:  # the time is over
                pass
        lemmas = sorted(_worth_telling(_of_wholes(self.specification, sound), claims), key=_size)
        return [*without_implied(lemmas[:MOST_COMPARED]), *lemmas[MOST_COMPARED:]]

    # The step that fails

    def _runs_beside(self, names: list[str]) -> dict[str, Replay]:
        """By property, the run that was found while the engines worked, with simple values."""
        if self.beside is None:
            return {}
        work = MOST_WORK // (1 + len(names) // MANY) if self.seconds > 0 else 0
        runs = {name: self.beside.run_of(name, work) for name in names}
        return {name: run for name, run in runs.items() if run is not None}

    def _failures(self, names: list[str], lemmas: list[Term], done: Collection[str]) -> dict[str, Replay]:
        """By property, a run from any state on which it holds until the last step; a longer one if there is time. Those
        of one step are known of the properties that are `done`."""
        found: dict[str, Replay] = {}
        for k in dict.fromkeys((1, min(MOST_STEPS, max(1, self.depth)))):
            asked = [name for name in names if k > 1 or name not in done]
            seconds = self._left()
            if not asked or seconds <= 0:
                continue
            anywhere = with_any_start(self.specification, asked, k, lemmas)
            settings = replace(
                self.settings, timeout=seconds, engines=ENGINES, props=(), options={}, bound=k + 1, explain=0.0
            )
            began = time.monotonic()
            found |= {r.name: r.run for r in self._prove(anywhere, settings) if r.run is not None}
            self.seconds_looked += time.monotonic() - began
        return found

    def _prove(self, specification: Specification, settings: Settings) -> list[Result]:
        """The results of a proof of its own; none after a signal."""
        from streamcheck.run.prove import prove

        if self.stopped:
            return []
        verdicts = prove(specification, settings)
        self.stopped = verdicts.stopped
        return verdicts.results

    def _unreachable(self, failures: Mapping[str, Replay], lemmas: list[Term]) -> set[str]:
        """The properties for which it is proved, in half of the time that is left, that no run reaches the first state
        of the failing run. Values that do not matter there are left open."""
        seconds = self._left() / 2
        if not failures or seconds < SHORTEST_PROOF:
            return set()
        claims = []
        for name, run in failures.items():
            cells = [c.var for c in self.specification.cells if c.name in run.matters[0]]
            parts = [part for var in cells for part in wholes([var]).values() or [var]]
            state = (term("same", p, constant(p.type, value_of(p, run.steps[0]))) for p in parts)
            claims.append(Claim(name, negation(conjunction(*state)), origin=IMPLIED))
        known = {a.name for a in self.specification.assumptions}
        facts = [Claim(fresh_name(f"lemma {i}", known), lemma) for i, lemma in enumerate(lemmas)]
        asked = replace(
            self.specification,
            properties=tuple(claims),
            assumptions=(*self.specification.assumptions, *facts),
        )
        settings = replace(self.settings, timeout=seconds, engines=(), props=(), options={}, explain=0.0, cache=None)
        return {r.name for r in self._prove(asked, settings) if r.verdict == "proved"}


def found_certificates(director: Director) -> Iterator[Certificate]:
    """The engines' inductive certificates for the problem itself, whether checked or not."""
    for model in director.models:
        for fact in director.facts.get(model.model, []):
            if isinstance(fact, Proved | Invariants) and fact.certificate.kind == "inductive":
                with suppress(Unmappable):
                    evidence = model.back(fact.certificate)
                    if isinstance(evidence, Certificate):
                        yield evidence


def found_candidates(director: Director) -> list[Term]:
    """The conditions that held in random runs, about the problem itself, small ones first."""
    assert isinstance(director.problem, Specification)
    declared = _variables_and_parts(director.problem)
    found: dict[Term, None] = {}
    for model, candidates in director.candidates:
        with suppress(Unmappable):
            evidence = model.back(candidates)
            if isinstance(evidence, Certificate):
                found |= dict.fromkeys(t for t in evidence.invariants if declared.issuperset(variables([t])))
    strongest: dict[tuple[object, ...], Term] = {}
    for t in sorted(
        _worth_telling(_of_wholes(director.problem, found), set()), key=_bound
    ):  # of the bounds of one term the tightest
        is_bound = t.op in ("le", "ge") and t.args[1].is_const
        strongest.setdefault((t.op, t.args[0]) if is_bound else (t,), t)
    return sorted(strongest.values(), key=_size)


def _variables_and_parts(specification: Specification) -> set[Term]:
    """The variables, and their scalar parts, of which certificates speak."""
    return {*specification.variables(), *wholes(specification.variables())}


def _of_wholes(specification: Specification, terms: Iterable[Term]) -> list[Term]:
    """The terms with elements and fields in the place of scalar parts."""
    terms = list(terms)
    image = substitute(terms, wholes(specification.variables()))
    return [image[t] for t in terms]


def _bound(t: Term) -> float:
    """A key that is less for tighter bounds."""
    if t.op in ("le", "ge") and t.args[1].is_const and t.args[1].type.is_number:
        return float(t.args[1].payload) * (1 if t.op == "le" else -1)
    return 0.0


def _holds_in(runs: Iterable[Replay], condition: Term) -> bool:
    return all(_holds_at(values, condition) for run in runs for values in run.steps)


def _holds_at(values: Mapping[Term, Value], condition: Term) -> bool:
    return value_of(condition, values) is True


def induction_depth(director: Director) -> int:
    """The largest k for which k-induction has been tried."""
    return max((w.depths.get("k-induction", 0) for w in director.workers), default=0)


def _with_claims(
    specification: Specification, certificates: Iterable[Certificate]
) -> tuple[Specification, list[list[str]]]:
    """The specification with the invariants of each certificate as claims, and their names."""
    taken = {p.name for p in specification.properties}
    claims: list[Claim] = []
    names: list[list[str]] = []
    for certificate in certificates:
        names.append([])
        for invariant in _of_wholes(specification, certificate.invariants):
            name = fresh_name(f"lemma {len(claims)}", taken)
            taken.add(name)
            claims.append(Claim(name, invariant))
            names[-1].append(name)
    return replace(specification, properties=(*specification.properties, *claims)), names


def _judge(
    specification: Specification, names: list[list[str]], certificates: Sequence[Certificate]
) -> Callable[[Send], None]:
    def work(send: Send) -> None:
        from streamcheck.certify.check import Checker

        checker = Checker(specification)
        for certificate, claims in zip(certificates, names, strict=True):
            send(all(checker.check(name, certificate) is None for name in claims))

    return work


def _worth_telling(terms: Iterable[Term], claims: set[Term]) -> Iterator[Term]:
    """Each once, and none that is plain from the types, or a claim of the user's."""
    for t in dict.fromkeys(without_casts(terms).values()):
        if t not in (TRUE, FALSE) and t not in claims and _size(t) <= LARGEST_LEMMA:
            yield t


def _size(t: Term) -> int:
    return sum(1 for _ in walk([t]))
