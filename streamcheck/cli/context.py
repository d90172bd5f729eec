"""Where the values of options come from: the command line, else the environment, else `pyproject.toml`, else the
default.

An option `--no-cache` of `prove` is STREAMCHECK_PROVE_NO_CACHE, or STREAMCHECK_NO_CACHE for all commands. An option
that may be repeated has its values between spaces.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

import click
from click.core import ParameterSource

from streamcheck.cli.configuration import OPTIONS, Configuration, ConfiguredValue, configuration_here, require_kind

COMMAND = "streamcheck.command"
CONFIGURATION = "streamcheck.configuration"
SHOWS = "show_config"
PREFIX = "STREAMCHECK_"
WRITES = ("FILE", "DIR", "COMMAND", "ADDRESS")  # of a metavar: what the configuration may not set


class CommandContext(click.Context):
    """The context of a command, which looks for values in the configuration too."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        self.meta[COMMAND] = self

    @property
    def configuration(self) -> Configuration:
        if CONFIGURATION not in self.meta:
            self.meta[CONFIGURATION] = configuration_here()
        found: Configuration = self.meta[CONFIGURATION]
        return found

    def lookup_default(self, name: str, call: bool = True) -> Any:
        param = next((p for p in self.command.params if p.name == name), None)
        if isinstance(param, click.Argument) and name == "files":
            return self.configuration.targets() or None
        if not isinstance(param, click.Option):
            return None
        found = self.configured_value(param)
        return None if found is None else _value(param, found)

    def configured_value(self, param: click.Option) -> ConfiguredValue | None:
        key = key_of(param)
        if key not in OPTIONS:
            return None
        return self.configuration.value_for(str(self.command.name), key, self.target())

    def target(self) -> str | None:
        """The spec that the command is about. None if it is about several, or none."""
        files = self.params.get("files", ()) or (self.params.get("file"),)
        return files[0] if len(files) == 1 and isinstance(files[0], str) else None  # it may be missing

    def given_elsewhere(self, param: click.Parameter) -> bool:
        """True if the command line or the environment has the value."""
        source = self.get_parameter_source(str(param.name))
        return source in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)

    def settings_of_spec(self, target: str) -> dict[str, Any]:
        """The configured values for this spec alone, by the name of the parameter."""
        own = self.configuration.of_spec(target)
        return {
            str(param.name): param.process_value(self, _value(param, own[key_of(param)]))
            for param in self.command.params
            if isinstance(param, click.Option) and key_of(param) in own and not self.given_elsewhere(param)
        }

    def source_of(self, param: click.Parameter) -> str:
        """`command line`, `STREAMCHECK_TIMEOUT`, `pyproject.toml:3` or `default`."""
        source = self.get_parameter_source(str(param.name))
        if source is ParameterSource.ENVIRONMENT and isinstance(param.envvar, list):
            return next(str(name) for name in param.envvar if os.environ.get(name))
        if source is ParameterSource.DEFAULT_MAP:
            found = self.configured_value(param) if isinstance(param, click.Option) else None
            return "pyproject.toml" if found is None else found.place
        return "command line" if source is ParameterSource.COMMANDLINE else "default"

    def require_whole_values(self) -> None:
        """Refuse a variable with a part of a value, as `STREAMCHECK_OUTPUT=junit`, which click leaves out."""
        for param in self.command.params:
            is_there = self.get_parameter_source(str(param.name)) is ParameterSource.ENVIRONMENT
            if param.nargs > 1 and is_there and len(os.environ[self.source_of(param)].split()) % param.nargs:
                raise click.BadParameter(f"each takes {param.nargs} words", ctx=self, param=param)

    def invoke(self, *given: Any, **named: Any) -> Any:
        self.require_whole_values()
        if self.meta.get(SHOWS):
            return self._show()
        return super().invoke(*given, **named)

    def _show(self) -> int:
        from streamcheck.cli.output import emit

        rows = [row for param in self.command.params if param.name != SHOWS for row in self._row(param)]
        wide = [max(len(row[i]) for row in rows) for i in (0, 1)]
        emit(f"{name:{wide[0]}}  {value:{wide[1]}}  {source}" for name, value, source in rows)
        for name in unknown_variables(self.command):
            click.echo(f"note: {name} is set, but no option has this name", err=True)
        return 0

    def _row(self, param: click.Parameter) -> Iterator[tuple[str, str, str]]:
        source = self.source_of(param)
        if isinstance(param, click.Option) and not param.expose_value and source == "default":
            return
        text = _text(self.params.get(str(param.name)))
        name = param.opts[0] if not isinstance(param, click.Option) else f"--{key_of(param)}"
        yield name, text or "–", source


def _text(value: Any) -> str:
    """A value as the command line has it."""
    match value:
        case None:
            return ""
        case bool():
            return str(value).lower()
        case dict():
            return " ".join(f"{key}={part}" for key, part in value.items())
        case tuple():
            return " ".join(map(_text, value))
        case _:
            return str(value)


def prepare(command: click.Command) -> click.Command:
    """The command, whose options have values from the environment and the configuration too."""
    if command.context_class is CommandContext:
        return command
    command.context_class = CommandContext
    for param in command.params:
        if isinstance(param, click.Argument):
            param.is_eager = True  # what is said of a spec counts for its options
        else:
            param.envvar = variables(str(command.name), param)
        _complete(param)
    command.params.append(
        click.Option(
            ["--show-config"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_show_settings,
            help="Show the values of all options, and where they come from.",
        )
    )
    return command


def variables(command: str, param: click.Parameter) -> list[str]:
    """The environment variables of an option, the one of this command first."""
    name = key_of(param).replace("-", "_").upper()
    return [f"{PREFIX}{command.upper()}_{name}", f"{PREFIX}{name}"]


def unknown_variables(command: click.Command) -> list[str]:
    """The environment variables that look like those of options, and are none of this command nor of another."""
    from streamcheck.cli import COMMANDS, cli

    strange = {name for name in os.environ if name.startswith(PREFIX)}
    strange -= {name for param in command.params for name in variables(str(command.name), param)}
    for name in COMMANDS if strange else ():
        other = cli.get_command(click.Context(cli), name)
        strange -= {v for param in (other.params if other else ()) for v in variables(name, param)}
    return sorted(strange)


def key_of(param: click.Parameter) -> str:
    """The option's longest name, without dashes."""
    return max(param.opts, key=len).lstrip("-")


def _show_settings(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        context.meta[SHOWS] = True
        for param in context.command.params:
            if param.required:
                param.required = False
                context.call_on_close(partial(setattr, param, "required", True))


def _value(param: click.Option, found: ConfiguredValue) -> Any:
    return require_kind(found, is_flag=param.is_flag, multiple=param.multiple)


def notes_of(message: str, context: click.Context | None) -> Iterable[str]:
    """For a mistake: where values come from that it names, if that is not the command line."""
    if not isinstance(context, CommandContext):
        return
    for param in context.command.params:
        source = context.source_of(param)
        if source in ("command line", "default"):
            continue
        value = context.params.get(str(param.name))
        words = value if isinstance(value, tuple | dict) else [value]
        is_named = f"--{key_of(param)}" in message or any(str(word) in message for word in words if word is not None)
        is_cause = param.expose_value and str(param.name) not in context.params  # it was being read
        if (is_named or is_cause) and source not in message:
            yield f"--{key_of(param)} comes from {source}"


class CompletedFile(click.types.StringParamType):
    """A text that a shell completes as the name of a file."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


class CompletedEngine(click.types.StringParamType):
    """A text that a shell completes as the name of an engine."""

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        from click.shell_completion import CompletionItem

        from streamcheck.run.registry import ENGINES

        return [CompletionItem(name) for name in ENGINES if name.startswith(incomplete)]


def _complete(param: click.Parameter) -> None:
    if not isinstance(param.type, click.types.StringParamType):
        return
    metavar = param.metavar or ""
    if key_of(param) == "engine" or "ENGINE]" in metavar:
        param.type = CompletedEngine()
    elif any(word in metavar for word in ("FILE", "DIR", "DATA", "CERTIFICATE", "[::SPEC]")):
        param.type = CompletedFile()
