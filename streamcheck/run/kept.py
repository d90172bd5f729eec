"""Evidence that is kept for the next run: made from decisions, and made into offers that are judged like an engine's.

A proof is kept as the engine found it, about the system of its view: mapped back it goes to the checker, and once that
has accepted it, engines may build on it. A run is replayed. What does not fit any more is dropped without a word; an
engine then begins anew.

Variables go by their fingerprints (`problem.fingerprints`), so that edits elsewhere change nothing. An invariant about
variables that are gone is left out: the checker judges what is left.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

from streamcheck import __version__
from streamcheck.core.term import Term, substitute, variable, variables
from streamcheck.core.types import part_names
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.certificate_json import (
    certificate_from_plain,
    certificate_to_plain,
    trace_from_plain,
    trace_to_plain,
)
from streamcheck.problem.claim import Claim, VacuityTest
from streamcheck.problem.fingerprints import Fingerprints
from streamcheck.problem.problem import Problem, claim_named
from streamcheck.problem.result import Inconsistent, PathReplay, Replay
from streamcheck.problem.specification import Specification
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import (
    Certificate,
    EdgePath,
    Evidence,
    Falsified,
    ProofEvidence,
    Proved,
    Trace,
    Unmappable,
)
from streamcheck.run.cache import Cache
from streamcheck.run.checks import Proof
from streamcheck.run.decision import Decision
from streamcheck.run.registry import ENGINES
from streamcheck.transform.part import part_for
from streamcheck.transform.views import View

FORMAT = "streamcheck kept 1"
LATE = 0.1  # seconds of processor time for saving after the end
LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Offers:
    """Proofs that nobody has checked yet, and violations that have been replayed."""

    proofs: Sequence[Proof] = ()
    runs: Sequence[Decision] = ()

    def __bool__(self) -> bool:
        return bool(self.proofs or self.runs)


class Keeper:
    """The evidence that a cache has for the claims of a problem."""

    def __init__(self, cache: Cache, problem: Problem, models: Sequence[View], *, blocks: bool) -> None:
        self.cache = cache
        self.problem = problem
        self.models = {view.model: view for view in models}
        prints = Fingerprints(problem)
        self._keys = {c.name: f"{prints.of_claim(c)}{'' if blocks else '-statements'}" for c in problem.properties}
        self._names = Renaming(problem, prints.names)
        self._back: dict[tuple[str, str], tuple[Certificate, ProofEvidence]] = {}  # by view and digest

    def offers(self) -> Offers:
        proofs: list[Proof] = []
        runs: list[Decision] = []
        for claim in self.problem.properties:
            row = self.cache.claim(self._keys[claim.name])
            if row is None:
                continue
            try:
                offer = self._offer(claim, row)
            except Exception as why:  # anything may be in a file
                LOG.info("what was kept for %s is damaged: %s", claim.name, why)
                continue
            if isinstance(offer, Proof):
                proofs.append(offer)
            elif offer is not None:
                runs.append(offer)
        LOG.info("kept from earlier runs: %d proofs, %d violations", len(proofs), len(runs))
        return Offers(proofs, runs)

    def save(self, decisions: Iterable[Decision], end: float = math.inf) -> None:
        """Keep the evidence that is new, and remember which violations are known to be the shortest. After `end`, of
        the monotonic clock, there is little time left for that."""
        new, began = 0, time.process_time()
        for decision in decisions:
            if time.monotonic() >= end and time.process_time() - began >= LATE:
                LOG.info("not everything was kept: the time is over")
                break
            if decision.verdict == "falsified" and decision.shortest:
                self.cache.shortest.add(self._keys[decision.name])
            if decision.found is None or decision.kept:
                continue
            row: dict[str, Any] = {
                "format": FORMAT,
                "version": __version__,
                "engine": decision.engine,
                "model": decision.model,
            }
            match decision.found, decision.evidence:
                case Proved(_, certificate), _:
                    row["proof"] = self.cache.add_proof(certificate_to_plain(self._names.to_kept(certificate)))
                case (Falsified(), Trace() as run) | (Falsified(_, Trace() as run), _):
                    row["run"] = trace_to_plain(self._names.kept_trace(run))
                case _:  # a path through a program: it is found anew
                    continue
            self.cache.add_claim(self._keys[decision.name], row)
            new += 1
        if new:
            self.cache.trim()

    def _offer(self, claim: Claim, row: Mapping[str, Any]) -> Proof | Decision | None:
        if (row["format"], row["version"]) != (FORMAT, __version__) or row["engine"] not in ENGINES:
            return None
        view = self.models[row["model"]]
        if "proof" in row:
            certificate, evidence = self._certificate(view, row["proof"])
            return Proof(view, row["engine"], Proved(claim.name, certificate), evidence)
        return self._run(view, claim, row)

    def _certificate(self, view: View, digest: str) -> tuple[Certificate, ProofEvidence]:
        found = self._back.get((view.model, digest))
        if found is None:
            certificate = self._names.from_kept(certificate_from_plain(self.cache.proof(digest)))
            evidence = view.proof_of(certificate)
            assert not isinstance(evidence, str)
            found = self._back[view.model, digest] = certificate, evidence
        return found

    def _run(self, view: View, claim: Claim, row: Mapping[str, Any]) -> Decision | None:
        given = self._names.plain_trace(row["run"])
        match self.problem:
            case Specification():
                chosen = [*self.problem.choices(), *(c.var for c in self.problem.cells if c.free)]
                types = {name: t for v in chosen for name, t in part_names(str(v.payload), v.type)}
                trace = trace_from_plain(given, types)
                evidence: Evidence = trace
                shown = replay_of(self.problem, claim, trace)
            case Automaton():
                trace = trace_from_plain(given, view.system.variable_types)
                evidence, shown = replay_in(self.problem, view, Falsified(claim.name, trace))
            case _:
                assert_never(self.problem)
        if not isinstance(shown, Replay | PathReplay):
            LOG.info("the violation that was kept for %s is none: %s", claim.name, shown)
            return None
        found = Decision(claim.name, "falsified", row["engine"], view.model, evidence=evidence, replay=shown, kept=True)
        found.k = trace.length - 1
        found.shortest = found.k == 0 or claim.is_vacuity_test or self._keys[claim.name] in self.cache.shortest
        return found


class Renaming:
    """Between the names of a problem and those under which evidence is kept."""

    def __init__(self, problem: Problem, names: Mapping[str, str]) -> None:
        self._to_kept = dict(names)
        self._from_kept = {mark: name for name, mark in names.items()}
        if isinstance(problem, Automaton):  # inputs that choose an edge at a location
            for i, place in enumerate(problem.locations):
                self._to_kept[f"@{place}"], self._from_kept[f"@#{i}"] = f"@#{i}", f"@{place}"

    def to_kept(self, certificate: Certificate) -> Certificate:
        return _rename(certificate, self._to_kept)

    def from_kept(self, kept: Certificate) -> Certificate:
        """The certificate, without invariants about variables that are gone."""
        certificate = _rename(kept, self._from_kept)
        invariants, equalities = map(_without_strangers, (certificate.invariants, certificate.equalities))
        free = tuple(name for name in certificate.free if not name.startswith("#"))
        return replace(certificate, invariants=invariants, equalities=equalities, free=free)

    def kept_trace(self, trace: Trace) -> Trace:
        return Trace(
            {_name(name, self._to_kept): value for name, value in trace.constants.items()},
            tuple({_name(name, self._to_kept): value for name, value in step.items()} for step in trace.inputs),
            trace.rounds,
        )

    def plain_trace(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The trace as JSON, with the problem's names."""

        def read(values: Mapping[str, Any]) -> dict[str, Any]:
            return {_name(name, self._from_kept): value for name, value in values.items()}

        return {**row, "constants": read(row["constants"]), "inputs": [read(step) for step in row["inputs"]]}


def _name(name: str, names: Mapping[str, str]) -> str:
    if name in names:
        return names[name]
    head, at, place = name.rpartition("@")
    return f"{head}{names.get(at + place, at + place)}" if at else name


def _rename(certificate: Certificate, names: Mapping[str, str]) -> Certificate:
    terms = [*certificate.invariants, *certificate.equalities]
    new = {v: variable(_name(str(v.payload), names), v.type) for v in variables(terms)}
    image = substitute(terms, new)
    return replace(
        certificate,
        invariants=tuple(image[t] for t in certificate.invariants),
        equalities=tuple(image[t] for t in certificate.equalities),
        free=tuple(_name(name, names) for name in certificate.free),
    )


def _without_strangers(terms: Sequence[Term]) -> tuple[Term, ...]:
    return tuple(t for t in terms if not any(str(v.payload).startswith("#") for v in variables([t])))


def is_about(system: TransitionSystem, certificate: Certificate) -> bool:
    """True if the system has all variables of the certificate, which an earlier one may have been about."""
    declared = {*system.inputs, *(s.var for s in system.state)}
    return declared.issuperset(variables([*certificate.invariants, *certificate.equalities]))


NOT_OF_THE_ARRAYS = "it reads other values of arrays than the program has there"


def replay_in(
    problem: Problem, view: View, falsified: Falsified
) -> tuple[Evidence, Replay | PathReplay | Inconsistent | str]:
    """The violation as one of the problem itself, and its replay or the reason why there is none."""
    try:
        evidence = view.back(falsified.trace)
    except Unmappable as why:
        return falsified.trace, Inconsistent(NOT_OF_THE_ARRAYS) if view.approximates else str(why)
    assert isinstance(evidence, Trace | EdgePath)
    shown = replay_of(problem, claim_named(problem, falsified.prop), evidence)
    return evidence, Inconsistent(NOT_OF_THE_ARRAYS) if isinstance(shown, str) and view.approximates else shown


def _without(run: Trace, gone: Iterable[Term]) -> Trace:
    """The run without values of these variables."""
    names = {name for v in gone for name, _ in part_names(str(v.payload), v.type)}
    constants, *inputs = (
        {name: value for name, value in given.items() if name not in names} for given in (run.constants, *run.inputs)
    )
    return replace(run, constants=constants, inputs=tuple(inputs))


def replay_of(problem: Problem, claim: Claim, run: Trace | EdgePath) -> Replay | PathReplay | Inconsistent | str:
    from streamcheck.certify.replay import replay, replay_path

    match problem, run:
        case Specification() as specification, Trace():
            if isinstance(claim.origin, VacuityTest) and claim.origin.of is not None:  # nobody looks at its run
                part = part_for(specification, [claim.term])
                return replay(part, claim, _without(run, {*specification.variables()} - {*part.variables()}))
            return replay(specification, claim, run)
        case Automaton() as automaton, EdgePath():
            return replay_path(automaton, claim, run)
        case _:
            raise AssertionError(run)
