"""The checker's process: it imports its solvers while the engines run, and answers requests one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from streamcheck.certify.checker import Rejected
from streamcheck.core.term import TRUE, Term
from streamcheck.core.wire import Reader, Writer
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.automaton_json import cfa_from_plain, cfa_to_plain
from streamcheck.problem.certificate_json import certificate_from_plain
from streamcheck.problem.system_json import system_from_plain, system_to_plain
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate
from streamcheck.run.child import Channel


@dataclass(frozen=True)
class Subject:
    """What certificates are about: a system in an integer model; the automaton it stands for, if it does, in the same
    model, and that automaton as the program was written, with C's own types."""

    model: str
    system: TransitionSystem
    blocks: Automaton | None = None
    source: Automaton | None = None

    def to_plain(self) -> dict[str, Any]:
        row: dict[str, Any] = {"model": self.model, "system": system_to_plain(self.system)}
        if self.blocks is not None and self.source is not None:
            w = Writer()
            row["blocks"], row["source"] = cfa_to_plain(self.blocks, w), cfa_to_plain(self.source, w)
            row |= {"types": w.types, "terms": w.terms}
        return row

    @staticmethod
    def from_plain(row: dict[str, Any]) -> Subject:
        system = system_from_plain(row["system"])
        if "blocks" not in row:
            return Subject(row["model"], system)
        reader = Reader(row["types"], row["terms"])
        return Subject(
            row["model"], system, cfa_from_plain(row["blocks"], reader), cfa_from_plain(row["source"], reader)
        )

    @cached_property
    def statements(self) -> tuple[Automaton, Term, bool]:
        """The source in the model, what the types of its variables say, and whether it has more runs than the program:
        what the blocks lack, as nothing depends on it, may have no form in the model."""
        from streamcheck.transform.automata import expressible, in_integers, ranges_of, scalar

        assert self.source is not None
        source = scalar(self.source)
        if self.model != "integers":
            return source, TRUE, False
        known = expressible(source)
        return in_integers(known), ranges_of(known), known is not source

    def invariants(self, certificate: Certificate) -> Mapping[str, Term] | None:
        """What the certificate says of each location; many properties may share it."""
        from streamcheck.certify.locations import invariants_of

        assert self.blocks is not None
        if certificate not in self._invariants:
            self._invariants.clear()
            self._invariants[certificate] = invariants_of(self.blocks, certificate)
        return self._invariants[certificate]

    @cached_property
    def _invariants(self) -> dict[Certificate, Mapping[str, Term] | None]:
        return {}

    @cached_property
    def covered(self) -> Rejected | None:
        """None where the blocks do all that the statements do."""
        from streamcheck.certify.locations import check_blocks

        assert self.blocks is not None
        source, typed, more = self.statements
        rejected = check_blocks(source, self.blocks, typed)
        return replace(rejected, undecided=True) if rejected is not None and more else rejected


def serve(known: Callable[[], Mapping[str, Subject]], channel: Channel) -> None:
    """What the certificates are about is asked for when the solvers are there."""
    from streamcheck.certify.solvers import warm_up

    warm_up()
    subjects = known()
    while True:
        request = channel.receive(None)
        certificate = certificate_from_plain(request["certificate"])
        rejected = judged(subjects[request["model"]], request["prop"], certificate)
        answer = {"id": request["id"], "accepted": rejected is None}
        if rejected is not None:
            answer |= {"why": rejected.why, "undecided": rejected.undecided}
        channel.send(answer)


def judged(subject: Subject, prop: str, certificate: Certificate) -> Rejected | None:
    """None where the certificate proves the property of the system, and of the program as it was written."""
    from streamcheck.certify.checker import check

    claim = next(c for c in subject.system.properties if c.name == prop)
    rejected = check(subject.system, claim, certificate)
    return rejected or _judged_at_locations(subject, prop, certificate)


def _judged_at_locations(subject: Subject, prop: str, certificate: Certificate) -> Rejected | None:
    if subject.blocks is None:
        return None
    from streamcheck.certify.locations import check_locations

    invariants = subject.invariants(certificate)
    if invariants is None:
        return subject.covered
    source, typed, more = subject.statements
    error = next(e.location for e in source.errors if e.name == prop)
    rejected = check_locations(source, error, invariants, typed)
    return replace(rejected, undecided=True) if rejected is not None and more else rejected
