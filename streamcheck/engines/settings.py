"""Options of engines as users see them: names, values and what is written for them.

The type of a field gives its values: `bool` is switched on and off, `int` is a whole number with a least value,
`Literal[…]` a choice. `--set ENGINE.OPTION=VALUE` and `spec.prove(options={"ENGINE.OPTION": VALUE})` set them, and
`streamcheck engines` lists them; an underscore in a field's name is written as a hyphen there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, fields, replace
from typing import Any, Literal, TypeAlias, TypeVar, assert_never, get_args, get_origin, get_type_hints

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import mean_or_choose
from streamcheck.engines.options import Options

Setting: TypeAlias = bool | int | str
AnyOptions = TypeVar("AnyOptions", bound=Options)


@dataclass(frozen=True, slots=True)
class Switch:
    """on or off"""


@dataclass(frozen=True, slots=True)
class Number:
    least: int


@dataclass(frozen=True, slots=True)
class Choice:
    values: tuple[str, ...]


OptionKind: TypeAlias = Switch | Number | Choice


@dataclass(frozen=True, slots=True)
class Option:
    """One field of an engine's options, as users see it."""

    name: str
    kind: OptionKind
    default: Setting
    summary: str

    @property
    def values(self) -> str:
        """The values that it may have, in words."""
        match self.kind:
            case Switch():
                return "on or off (True or False)"
            case Number(least):
                return f"a whole number, at least {least}"
            case Choice(values):
                return " or ".join(values)
            case kind:
                assert_never(kind)

    def parse(self, given: Setting) -> Setting:
        """The value of the field that a user's value stands for. ValueError if there is none."""
        match self.kind:
            case Switch():
                if isinstance(given, bool):
                    return given
                if given in ("on", "off"):
                    return given == "on"
            case Number(least):
                number = None if isinstance(given, bool) else _whole(given)
                if number is not None and number >= least:
                    return number
            case Choice(values):
                if given in values:
                    return given
            case kind:
                assert_never(kind)
        raise ValueError(f"must be {self.values}, found {setting_text(given)}")


def _whole(given: Setting) -> int | None:
    try:
        return int(given)
    except ValueError:
        return None


def setting_text(value: Setting) -> str:
    """A value as `--set` takes it."""
    return {True: "on", False: "off"}[value] if isinstance(value, bool) else str(value)


def options_of(options: Options) -> list[Option]:
    """Every option, with the value it has here as its default."""
    hints = get_type_hints(type(options))
    return [
        Option(f.name.replace("_", "-"), _kind(hints[f.name], f), getattr(options, f.name), f.metadata["summary"])
        for f in fields(options)
    ]


def _kind(hint: Any, of: Field[Any]) -> OptionKind:
    if hint is bool:
        return Switch()
    if get_origin(hint) is Literal:
        return Choice(get_args(hint))
    assert hint is int, f"{of.name}: an option is a bool, an int or a Literal"
    return Number(of.metadata["least"])


def with_settings(options: AnyOptions, engine: str, settings: Mapping[str, Setting]) -> AnyOptions:
    """The options with these values in place of the defaults. SpecError if a name or a value is wrong."""
    known = {option.name: option for option in options_of(options)}
    values: dict[str, Setting] = {}
    for name, given in settings.items():
        if name not in known:
            others = mean_or_choose(name, known, "its options are")
            raise SpecError(f"{engine} has " + (f"no option {name!r}{others}" if known else "no options"))
        try:
            values[name.replace("-", "_")] = known[name].parse(given)
        except ValueError as why:
            raise SpecError(f"{engine}.{name} {why}") from None
    return replace(options, **values)
