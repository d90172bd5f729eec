"""`streamcheck check CERTIFICATE…`: evidence re-checked from the spec alone."""

from __future__ import annotations

import click

from streamcheck.cli.options import log_options
from streamcheck.cli.output import emit
from streamcheck.run.certificates import recheck

REJECTED = 4


@click.command(name="check", short_help="Re-check a proof or a counterexample.")
@click.argument("certificates", metavar="CERTIFICATE...", nargs=-1, required=True)
@log_options
def command(certificates: tuple[str, ...], verbose: int) -> int:
    """Re-check proofs and counterexamples that `prove --certificates DIR` saved.

    The spec is loaded again and the proof conditions are derived from it; a solver that no engine used checks them. A
    counterexample is replayed. Exit status 0: all hold; 4: one is rejected.
    """
    status = 0
    for path in certificates:
        claim, why = recheck(path)
        status = status if why is None else REJECTED
        word = "holds" if why is None else f"rejected: {why}"
        emit([f"{claim}: {word}"])
    return status
