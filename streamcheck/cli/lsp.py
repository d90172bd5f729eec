"""`streamcheck lsp`: the language server, which editors start."""

from __future__ import annotations

import click

from streamcheck.cli.options import time_options
from streamcheck.core.errors import SpecError


@click.command(name="lsp", short_help="Serve editors: errors and verdicts as you type.")
@time_options("Seconds for the proofs of each spec.")
def command(timeout: float, jobs: int | None) -> int:
    """The language server, over standard input and output. Editors start it; needs the extra streamcheck[lsp].

    Specs in Python and Lustre, C programs and automata: mistakes while you type; verdicts when a file is opened or
    saved; the commands prove, explain and show trace above each property; types, costs and invariants of streams below
    the cursor, and their definitions.
    """
    try:
        from streamcheck.lsp.server import serve
    except ModuleNotFoundError as why:
        if why.name is None or why.name.partition(".")[0] not in ("pygls", "lsprotocol"):
            raise
        raise SpecError(
            "the language server needs pygls, which is not installed", write="pip install 'streamcheck[lsp]'"
        ) from None
    return serve(timeout, jobs)
