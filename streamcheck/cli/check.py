"""`streamcheck check CERTIFICATE…`: evidence re-checked from the spec alone."""

from __future__ import annotations

import time

import click

from streamcheck.cli.options import SECONDS, log_options
from streamcheck.cli.output import emit
from streamcheck.run.certificates import recheck

REJECTED, UNDECIDED = 4, 3


@click.command(name="check", short_help="Re-check a proof or a counterexample.")
@click.argument("certificates", metavar="CERTIFICATE...", nargs=-1, required=True)
@click.option("--timeout", type=SECONDS, help="Seconds for all of them; else as long as it takes.")
@log_options
def command(certificates: tuple[str, ...], timeout: float | None, verbose: int) -> int:
    """Re-check proofs and counterexamples that `prove --certificates DIR` saved.

    The spec is loaded again and the proof conditions are derived from it; a solver that no engine used checks them. A
    counterexample is replayed. Exit status 0: all hold; 4: one is rejected; 3: one is not decided, and none rejected;
    2: a file is damaged.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    statuses = []
    for path in certificates:
        checked = recheck(path, None if deadline is None else max(0.0, deadline - time.monotonic()))
        word = "not decided" if checked.undecided else "rejected"
        emit([f"{checked.claim}: {'holds' if checked.why is None else f'{word}: {checked.why}'}"])
        statuses.append(0 if checked.why is None else UNDECIDED if checked.undecided else REJECTED)
    return max(statuses)
