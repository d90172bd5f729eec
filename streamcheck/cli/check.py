"""`streamcheck check CERTIFICATE…`: evidence re-checked from the spec alone."""

from __future__ import annotations

import json
import time
from typing import Any

import click

from streamcheck.cli.options import (
    SECONDS,
    command_began,
    is_sandboxed,
    log_options,
    require_other_files,
    sandbox_option,
)
from streamcheck.cli.output import emit
from streamcheck.core.errors import SpecError
from streamcheck.core.printable import visible
from streamcheck.run.certificates import Rechecked, recheck
from streamcheck.run.proofs import ProofFolder
from streamcheck.run.stop import Stopped
from streamcheck.run.whole_proofs import recheck_whole

WORST_FIRST = {"rejected": 4, "damaged": 2, "not decided": 3, "holds": 0}  # the exit statuses


@click.command(name="check", short_help="Re-check a proof or a counterexample.")
@click.argument("certificates", metavar="CERTIFICATE...", nargs=-1, required=True)
@click.option("--timeout", type=SECONDS, help="Seconds for all of them; else as long as it takes.")
@click.option("--proofs", metavar="DIR", help="Write cvc5's proof of each condition, beside the condition as SMT-LIB.")
@click.option(
    "--proof-checker",
    metavar="COMMAND",
    help="Check each of --proofs by a command with {formula} and {proof}; it has to answer `correct`.",
)
@click.option("--whole", is_flag=True, help="Judge a proof by parts as one proof of the whole spec, too.")
@click.option("--json", "as_json", is_flag=True, help="One JSON list, an object for each file, and nothing else.")
@click.option("--html", metavar="FILE", help="Write the results as a page.")
@sandbox_option
@log_options
def command(
    certificates: tuple[str, ...],
    timeout: float | None,
    proofs: str | None,
    proof_checker: str | None,
    whole: bool,
    as_json: bool,
    html: str | None,
    verbose: int,
) -> int:
    """Re-check proofs and counterexamples that `prove --certificates DIR` saved.

    The spec is loaded again and the proof conditions are derived from it; a solver that no engine used checks them. A
    counterexample is replayed. Every file is read, whatever the others are. Exit status 0: all hold; 4: one is
    rejected; 2: a file is damaged, and none rejected; 3: one is not decided, and the others hold.
    """
    require_other_files(certificates, [html])
    deadline = None if timeout is None else command_began() + timeout
    folder = ProofFolder.at(proofs, proof_checker)
    rows: list[dict[str, Any]] = []
    judge = recheck_whole if whole else recheck
    try:
        for path in certificates:
            try:
                left = None if deadline is None else max(0.0, deadline - time.monotonic())
                checked = judge(path, left, folder, confined=is_sandboxed())
            except SpecError as damage:
                rows.append(_row_without(path, "damaged", str(damage)))
                if not as_json:
                    click.echo(f"error: {visible(str(damage))}", err=True)
            else:
                rows.append(_row(path, checked))
                if not as_json:
                    emit([str(checked)])
    except Stopped as stopped:
        if not as_json:
            raise
        rows += [_row_without(path, "not decided", stopped.word) for path in certificates[len(rows) :]]
        emit([json.dumps(rows)])
        return stopped.status
    if as_json:
        emit([json.dumps(rows)])
    if html is not None:
        from streamcheck.report.page.checked import checked_page

        checked_page(rows).write(html)
    return next(status for verdict, status in WORST_FIRST.items() if any(row["verdict"] == verdict for row in rows))


def _row(path: str, checked: Rechecked) -> dict[str, Any]:
    written = {} if checked.proofs is None else {"proofs": checked.proofs}
    return {"file": path, "claim": checked.claim, "verdict": checked.verdict, "why": checked.why, **written}


def _row_without(path: str, verdict: str, why: str) -> dict[str, Any]:
    return {"file": path, "claim": None, "verdict": verdict, "why": why}
