"""The checker's process: it imports its solvers while the engines run, and answers requests one by one."""

from __future__ import annotations

from collections.abc import Mapping

from streamcheck.formats.certificate_json import certificate_from_plain
from streamcheck.run.child import Channel
from streamcheck.run.problems import Modelled


def serve(models: Mapping[str, Modelled], channel: Channel) -> None:
    from streamcheck.certify.checker import check
    from streamcheck.certify.solvers import warm_up

    warm_up()
    while True:
        request = channel.receive(None)
        model = models[request["model"]]
        rejected = check(model.system, model.claim(request["prop"]), certificate_from_plain(request["certificate"]))
        answer = {"id": request["id"], "accepted": rejected is None}
        if rejected is not None:
            answer |= {"why": rejected.why, "undecided": rejected.undecided}
        channel.send(answer)
