"""The checker's process: it imports its solvers while the engines run, and answers requests one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from streamcheck.formats.certificate_json import certificate_from_plain
from streamcheck.run.child import Channel
from streamcheck.system.transition import TransitionSystem


def serve(known: Callable[[], Mapping[str, TransitionSystem]], channel: Channel) -> None:
    """The systems by their models are asked for when the solvers are there."""
    from streamcheck.certify.checker import check
    from streamcheck.certify.solvers import warm_up

    warm_up()
    systems = known()
    while True:
        request = channel.receive(None)
        system = systems[request["model"]]
        claim = next(c for c in system.properties if c.name == request["prop"])
        rejected = check(system, claim, certificate_from_plain(request["certificate"]))
        answer = {"id": request["id"], "accepted": rejected is None}
        if rejected is not None:
            answer |= {"why": rejected.why, "undecided": rejected.undecided}
        channel.send(answer)
