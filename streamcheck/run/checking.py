"""The checker's process: it imports its solvers while the engines run, and answers requests one by one."""

from __future__ import annotations

from collections.abc import Mapping

from streamcheck.certify.checker import Rejected
from streamcheck.formats.certificate_json import certificate_from_plain
from streamcheck.run.child import Channel
from streamcheck.run.problems import Modelled
from streamcheck.system.verdict import Certificate


def serve(models: Mapping[str, Modelled], channel: Channel) -> None:
    from streamcheck.certify.solvers import warm_up

    warm_up()
    while True:
        request = channel.receive(None)
        certificate = certificate_from_plain(request["certificate"])
        rejected = judged(models[request["model"]], request["prop"], certificate)
        answer = {"id": request["id"], "accepted": rejected is None}
        if rejected is not None:
            answer |= {"why": rejected.why, "undecided": rejected.undecided}
        channel.send(answer)


def judged(model: Modelled, prop: str, certificate: Certificate) -> Rejected | None:
    """None where the certificate proves the property of the system, and of the program as it was written."""
    from streamcheck.certify.checker import check

    rejected = check(model.system, model.claim(prop), certificate)
    return rejected or _judged_at_locations(model, prop, certificate)


def _judged_at_locations(model: Modelled, prop: str, certificate: Certificate) -> Rejected | None:
    program = model.program
    if program is None:
        return None
    from streamcheck.certify.locations import check_locations, invariants_of
    from streamcheck.encode.program import in_integers, ranges_of, scalar

    invariants = invariants_of(program.blocks, certificate)
    if invariants is None:
        return None
    source = scalar(program.source)
    error = next(e.location for e in source.errors if e.name == prop)
    if model.model == "integers":
        return check_locations(in_integers(source), error, invariants, ranges_of(source))
    return check_locations(source, error, invariants)
