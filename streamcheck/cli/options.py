"""Options that several commands have."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from streamcheck.core.errors import SpecError
from streamcheck.run.registry import options_from

if TYPE_CHECKING:
    from streamcheck.run.source import Target

SANDBOX = "streamcheck.sandbox"


class Seconds(click.FloatRange):
    """A number of seconds, at least 0."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(min=0, max=1e9)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            is_number = not math.isnan(float(value))
        except ValueError:
            is_number = False
        if not is_number:
            unit = re.fullmatch(r"([0-9.]+) *(s|sec|secs|seconds?)", str(value).strip())
            self.fail(f"{value!r} is not a number of seconds" + (f": write {unit[1]}" if unit else ""), param, ctx)
        return super().convert(value, param, ctx)


SECONDS = Seconds()
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "": 1.0}


class WallTime(click.types.FloatParamType):
    """Seconds, or a number with s, m or h; more than none."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)\s*([smh]?)", str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no time: write 90s, 30m or 8h", param, ctx)
        seconds = float(found[1]) * UNITS[found[2]]
        if not seconds:
            self.fail("no time at all", param, ctx)
        return seconds


def suite_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--suite`, `--deadline`, `--resume` and `--history`."""
    suite = click.option(
        "--suite", is_flag=True, help="Prove the specs of files, folders and patterns in one pool, the easy ones first."
    )
    deadline = click.option(
        "--deadline", type=WallTime(), metavar="TIME", help="End the suite after this time, as in 90s, 30m or 8h."
    )
    resume = click.option(
        "--resume", is_flag=True, help="Go on with the suite that ended early: keep the verdicts of its journal."
    )
    return suite(deadline(resume(command)))


def engine_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--set ENGINE.OPTION=VALUE`, as a mapping from "engine.option" to values."""
    option = click.option(
        "--set",
        "settings",
        multiple=True,
        metavar="ENGINE.OPTION=VALUE",
        callback=_settings,
        help="Set an option of an engine (repeatable); `streamcheck engines` lists them.",
    )
    return option(command)


def _settings(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    settings = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise SpecError(f"--set {text}: write ENGINE.OPTION=VALUE, as in ic3.tighten=off")
        settings[name] = value
    options_from(settings)  # mistakes are reported before anything starts
    return settings


def proof_options(timeout: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--prop`, `--timeout` (with this help), `--jobs` and `--no-cache`."""
    props = click.option(
        "--prop", "props", multiple=True, metavar="NAME", help="Only this property; * matches anything (repeatable)."
    )
    limits = time_options(timeout)
    return lambda command: props(limits(cache_option(command)))


def time_options(timeout: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--timeout` (with this help) and `--jobs`."""
    seconds = click.option("--timeout", type=SECONDS, default=60.0, show_default=True, help=timeout)
    jobs = click.option("--jobs", type=click.IntRange(min=1), help="Processors to plan for; else as many as there are.")
    return lambda command: seconds(jobs(command))


def color_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--color`, as auto, always or never."""
    option = click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        show_default=True,
        help="Colour verdicts: `auto` on terminals, unless NO_COLOR is set.",
    )
    return option(command)


def trace_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--full`, `--rows` and `--steps` (the first and the last): the part of a run that is shown."""
    full = click.option("--full", is_flag=True, help="Show all rows and all steps of a run.")
    rows = click.option(
        "--rows", multiple=True, metavar="NAME", help="Show only these rows; * matches anything (repeatable)."
    )
    steps = click.option("--steps", metavar="A-B", callback=_interval, help="Show only these steps of a run.")
    return full(rows(steps(command)))


def _interval(_: click.Context, __: click.Parameter, text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    first, _dash, last = text.partition("-")
    if not first.isdecimal() or not (last or first).isdecimal():
        raise SpecError(f"--steps {text}: write A-B, as in 0-20")
    if int(first) > int(last or first):
        raise SpecError(f"--steps {text}: the first step is behind the last", write=f"{last}-{first}")
    return int(first), int(last or first)


def cache_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--no-cache`."""
    option = click.option(
        "--no-cache",
        is_flag=True,
        help="Neither use nor keep evidence of verdicts in .streamcheck.",
    )
    return option(command)


def sandbox_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--sandbox`, which `target_of` obeys."""
    option = click.option(
        "--sandbox",
        is_flag=True,
        expose_value=False,
        callback=_note_sandbox,
        help="Let the spec's Python read its folder and its libraries, and do nothing else (Linux).",
    )
    return option(command)


def _note_sandbox(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    context.meta[SANDBOX] = is_wanted


def command_began() -> float:
    """When the command began, by `time.monotonic`; now if it is called from Python."""
    began = click.get_current_context().obj
    return began if isinstance(began, float) else time.monotonic()


def is_sandboxed() -> bool:
    """True if the command has `--sandbox`."""
    return bool(click.get_current_context().meta.get(SANDBOX, False))


def target_of(file: str) -> Target:
    """The spec that the command names."""
    from streamcheck.run.source import Target

    return Target.parse(file, confined=is_sandboxed())


def require_other_files(read: Iterable[str], written: Iterable[str | None]) -> None:
    """Refuse results that would be written over a file of the user, or over each other."""
    import os

    taken = {os.path.realpath(path) for path in read}
    for path in written:
        if path is None or (os.path.exists(path) and not os.path.isfile(path)):
            continue  # as /dev/null
        if os.path.realpath(path) in taken:
            raise SpecError(f"{path}: this file is read, or has other results; give another one")
        taken.add(os.path.realpath(path))


def log_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`-v` and `--log`. They take effect while the command line is read, before any process starts."""
    verbose = click.option(
        "-v",
        "--verbose",
        count=True,
        callback=_log_to_terminal,
        help="Log what engines and workers do on standard error; -vv adds solver queries, with times, and IC3 lemmas.",
    )
    file = click.option(
        "--log",
        metavar="FILE",
        expose_value=False,
        callback=_log_to_file,
        help="Write the log to a file.",
    )
    return verbose(file(command))


def _log_to_terminal(_: click.Context, __: click.Parameter, count: int) -> int:
    if count:
        from streamcheck.cli.logs import to_terminal

        to_terminal(queries=count > 1)
    return count


def _log_to_file(_: click.Context, __: click.Parameter, path: str | None) -> None:
    if path is not None:
        from streamcheck.cli.logs import to_file

        to_file(path)


DATA_MODELS = ("LP64", "ILP32", "LLP64", "cortex-m", "avr")  # of `c.models`, which starts slowly


def program_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--int`, `--data-model` and `--blocks`, of programs."""
    integers = click.option(
        "--int",
        "integers",
        type=click.Choice(["c", "math"]),
        default="c",
        show_default=True,
        help="Integers of programs: as C has them, or mathematical.",
    )
    model = click.option(
        "--data-model",
        type=click.Choice(DATA_MODELS),
        default="LP64",
        show_default=True,
        help="Sizes and signs of C's types: of 64-bit Linux, 32-bit Linux, 64-bit Windows, or of a target.",
    )
    blocks = click.option("--blocks/--no-blocks", default=True, help="Take loop-free code of programs as one step.")
    return integers(model(blocks(command)))


def search_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--engine`, `--deterministic` and `--memory`."""
    engines = click.option(
        "--engine",
        "engines",
        multiple=True,
        metavar="NAME",
        help="Only this engine, and those it needs (repeatable); `streamcheck engines` lists them.",
    )
    deterministic = click.option("--deterministic", is_flag=True, help="The same answers every time, in one worker.")
    memory = click.option(
        "--memory",
        type=click.IntRange(min=1),
        metavar="MB",
        help="Memory limit for loading, and for all workers together, in MB.",
    )
    return engines(deterministic(memory(command)))


def evidence_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--certificates`, `--json`, `--json-lines`, `--quiet`, `--trace`, `--html`, `--plot` and `--output`."""
    saved = click.option(
        "--certificates", metavar="DIR", help="Save the evidence for each verdict, for `streamcheck check`."
    )
    as_json = click.option(
        "--json", "as_json", is_flag=True, help="One JSON object (a list with several specs) and nothing else."
    )
    events = click.option(
        "--json-lines", "as_events", is_flag=True, help="JSON events as they happen, one on each line."
    )
    quiet = click.option("--quiet", is_flag=True, help="A line for each property, no counterexamples.")
    traces = click.option(
        "--trace",
        "traces",
        multiple=True,
        type=(click.Choice(["csv", "json", "vcd", "html"]), str),
        metavar="FORMAT DIR",
        help="Write each counterexample and witness to a file: csv, json, vcd or html (repeatable).",
    )
    page = click.option("--html", metavar="FILE", help="Write the results as a page with timelines of the runs.")
    reports = click.option(
        "--output",
        "reports",
        multiple=True,
        type=(click.Choice(["json", "junit", "sarif", "github"]), str),
        metavar="FORMAT FILE",
        help="Write the results to a file too: json, junit, sarif or github; - is standard output (repeatable).",
    )
    return saved(as_json(events(quiet(traces(page(plot_option("runs")(reports(command))))))))


def plot_option(of: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`--plot FILE`, refused at once if it cannot be."""
    return click.option(
        "--plot",
        metavar="FILE",
        callback=_plot_file,
        help=f"Draw the {of} to a file, .svg or .png (needs matplotlib).",
    )


def _plot_file(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    if path is not None:
        from streamcheck.report.plot import require_plots

        require_plots(path)
    return path
