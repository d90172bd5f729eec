"""The command. Each subcommand is a module of this room, imported when it is called."""

from __future__ import annotations

import contextlib
import errno
import gc
import importlib
import os
import sys
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

import click

from streamcheck import __version__
from streamcheck.core.errors import SpecError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

COMMANDS = {
    "prove": "Prove a spec's properties, or show counterexamples.",
    "watch": "Prove a spec again whenever it is saved.",
    "run": "Interpret a spec: a table of its triggers and observers.",
    "explain": "Explain a verdict: the invariant, the causes of a violation, or what is known.",
    "why": "Show what a proved property needs: equations, assumptions, inputs.",
    "cuts": "Show which equations or assumptions break a property when they fail.",
    "tests": "Write tests that cover each branch and condition, as CSV, for pytest and in C.",
    "mutants": "Show small changes of a spec that its properties do not notice.",
    "realizable": "Decide if some component keeps all properties, and make one.",
    "compile": "Compile a spec to C99 and prove the C equal to it.",
    "show": "Print a stage of a spec, or export it to another tool's language.",
    "check": "Re-check a proof or a counterexample.",
    "equal": "Prove that two specs have the same outputs.",
    "engines": "List the engines and their options.",
    "init": "Make a project: a spec, tests, CI, CMake.",
    "doctor": "Show what this machine has for streamcheck, and what is missing.",
    "lsp": "Serve editors: errors and verdicts as you type.",
}

NO_DISK = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EIO)  # the errors of a file that cannot get longer
MISTAKE = 2  # the command or the spec is wrong
INTERNAL = 4
INTERRUPTED = 130

OBJECTS = 100_000  # new objects between garbage collections, which find nothing and take a tenth of a short run


class Lazy(click.Group):
    """Subcommands by name, imported only when needed: start-up time is part of every answer."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        from streamcheck.cli.context import prepare

        command: click.Command = importlib.import_module(f"streamcheck.cli.{name}").command
        return prepare(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            from streamcheck.core.likeness import closest, did_you_mean

            is_file = os.path.exists(name.partition("::")[0])
            ctx.fail(f"no command {name!r}{did_you_mean(f'prove {name}' if is_file else closest(name, COMMANDS))}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (SpecError, click.ClickException) as mistake:
            from streamcheck.cli.context import COMMAND, notes_of

            message = mistake.format_message() if isinstance(mistake, click.ClickException) else str(mistake)
            for note in notes_of(message, ctx.meta.get(COMMAND)):
                mistake.add_note(note)
            raise

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        names = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Stream monitors written in Python: run, show, prove and compile them."""


def main(began: float) -> NoReturn:
    """Run the command, which began then, and exit with its status; nothing else of the package exits."""
    from streamcheck.cli.output import ReaderGone
    from streamcheck.run.stop import Stopped, raise_on_signals

    raise_on_signals()
    gc.set_threshold(OBJECTS)
    sys.set_int_max_str_digits(0)  # Int is unbounded, and so is the number of its digits
    try:
        status = cli.main(standalone_mode=False, obj=began)
        _leave(status if isinstance(status, int) else 0)
    except SpecError as error:
        _fail(_with_notes(str(error), error), MISTAKE)
    except click.exceptions.Abort:
        _fail("interrupted", INTERRUPTED)
    except Stopped as stopped:
        _fail(stopped.word, stopped.status)
    except click.ClickException as error:
        error.show()
        if notes := _with_notes("", error):
            click.echo(notes, err=True)
        _leave(MISTAKE)
    except ReaderGone:
        _leave(0)
    except Exception as error:
        from streamcheck.run.memory import tells_no_room

        if isinstance(error, OSError) and error.errno in NO_DISK and error.filename is None:
            _drop_output()
            _fail(f"standard output: {error.strerror}", MISTAKE)
        if tells_no_room(error):
            _fail("out of memory", MISTAKE)
        traceback.print_exc()
        _fail(
            "internal error in streamcheck (not in your spec); please report it with the lines above",
            INTERNAL,
        )


def _with_notes(message: str, error: Exception) -> str:
    """The message, and where values come from."""
    return "\n".join([*([message] if message else []), *(f"  {note}" for note in getattr(error, "__notes__", ()))])


def _fail(message: str, status: int) -> NoReturn:
    from streamcheck.core.printable import visible

    print(f"error: {visible(message)}", file=sys.stderr)
    _leave(status)


def _leave(status: int) -> NoReturn:
    """Exit immediately: all processes have ended, and freeing the terms one by one would only take time."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            _drop_output()
        except OSError as why:
            status = MISTAKE  # the output is incomplete
            _drop_output()
            with contextlib.suppress(OSError):
                print(f"error: standard output: {why.strerror}", file=sys.stderr)
    os._exit(status)


def _drop_output() -> None:
    """For what is still buffered."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
