"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click


def how_code_is_read(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--int` and `--blocks`, of programs."""
    integers = click.option(
        "--int",
        "integers",
        type=click.Choice(["c", "math"]),
        default="c",
        show_default=True,
        help="Integers of programs: as C has them, or mathematical.",
    )
    blocks = click.option("--blocks/--no-blocks", default=True, help="Whether loop-free code of programs is one step.")
    return integers(blocks(command))
