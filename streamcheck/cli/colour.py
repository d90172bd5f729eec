"""Colours of verdicts: on a terminal, unless `NO_COLOR` is set; `--color` overrides both."""

from __future__ import annotations

import os
import sys

import click

from streamcheck.report.verdicts import Paint, plain

COLOURS = {"proved": "green", "bounded": "green", "falsified": "red", "unknown": "yellow"}


def painter(choice: str) -> Paint:
    """A function that paints a text in the colour of a verdict; `choice` is auto, always or never."""
    dull = bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
    wanted = choice == "always" or (choice == "auto" and sys.stdout.isatty() and not dull)
    return _paint if wanted else plain


def _paint(text: str, verdict: str) -> str:
    return click.style(text, fg=COLOURS[verdict], bold=verdict == "falsified")
