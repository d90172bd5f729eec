"""`streamcheck doctor`."""

from __future__ import annotations

import json

import click

from streamcheck import __version__
from streamcheck.api.doctor import examine
from streamcheck.cli.output import emit

LACKS = 1


@click.command(name="doctor", short_help="Show what this machine has for streamcheck, and what is missing.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object and nothing else.")
def command(as_json: bool) -> int:
    """Look for the solvers, a C compiler, and what extras need; make a proof and a counterexample.

    What is missing is named, and how to get it. Exit status: 1 if proofs or runs lack something, 0 if only extras do.
    """
    parts = []
    if not as_json:
        emit([f"streamcheck {__version__}"])
    for part in examine():
        parts.append(part)
        if not as_json:
            emit(part.lines(), flush=True)
    if as_json:
        emit([json.dumps({"tool": "streamcheck", "version": __version__, "parts": [p.to_json() for p in parts]})])
    return LACKS if any(part.needed and part.finding != "ok" for part in parts) else 0
