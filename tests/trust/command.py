"""The command in this process: its status and what it shows, or the traceback of an error that it does not expect."""

import importlib
import sys
import traceback
from typing import NamedTuple

import click
from click.testing import CliRunner

from streamcheck.core.errors import SpecError
from streamcheck.run.stop import Stopped

sys.set_int_max_str_digits(0)  # as the command has it


class Done(NamedTuple):
    status: int | None  # None after an error that the command does not expect
    shown: str

    @property
    def is_broken(self):
        """True if a user would see a traceback."""
        return self.status is None or "Traceback (most" in self.shown or "internal error" in self.shown


def command(name, *arguments):
    module = importlib.import_module(f"streamcheck.cli.{name}")
    done = CliRunner().invoke(module.command, [*map(str, arguments)], standalone_mode=False)
    match done.exception:
        case None:
            return Done(done.return_value if isinstance(done.return_value, int) else 0, done.output)
        case SpecError() | click.ClickException():
            return Done(2, f"{done.output}error: {done.exception}")
        case Stopped() as stopped:
            return Done(stopped.status, done.output)
    return Done(None, done.output + "".join(traceback.format_exception(done.exception)))


def last_line(shown):
    return (shown.strip().splitlines() or [""])[-1][:300]
