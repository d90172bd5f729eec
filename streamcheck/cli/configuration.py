"""Settings in `pyproject.toml`: `[tool.streamcheck]`, a table for a command, and one for each spec.

    [tool.streamcheck]
    targets = ["specs/*.py"]             # what `prove` without files proves
    timeout = 30

    [tool.streamcheck.compile]
    handlers = "table"

    [tool.streamcheck.specs."specs/slow.py::*"]
    timeout = 300

The file is the nearest one with such a table, from the working directory upwards. A name is that of an option. Options
that write files, run a command or connect to another machine are not for it: otherwise `--sandbox` would be worth
nothing in a foreign folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.likeness import closest, did_you_mean
from streamcheck.core.location import Location

FILE = "pyproject.toml"
TABLE = ("tool", "streamcheck")
MARK = b"tool.streamcheck"
TARGETS, SPECS = "targets", "specs"
# The options of all commands that the configuration may set.
OPTIONS = frozenset(
    "abi all as assumptions blocks bound color compositional data-model deadline deterministic engine eval "
    "fail format full handlers ignore-extra input int jobs json json-lines keep link measure-math memory "
    "minimal most name narrow native no-cache no-validate observers only optimize outputs over pack predicate "
    "prefix prop quiet reachable refines rename resume rows sandbox set steps strict strict-math suite timeout "
    "unproven verbose violations whole with".split()
)


@dataclass(frozen=True, slots=True)
class ConfiguredValue:
    """A value, and the keys of the tables that lead to it."""

    value: Any
    file: str
    keys: tuple[str, ...]

    @property
    def where(self) -> Location:
        return Location(self.file, line_of(self.file, self.keys))

    @property
    def place(self) -> str:
        """`pyproject.toml:3`."""
        return str(self.where)


@dataclass(frozen=True, slots=True)
class Configuration:
    """The table of the project; empty if there is none."""

    file: str
    table: Mapping[str, Any]

    def value_for(self, command: str, option: str, target: str | None) -> ConfiguredValue | None:
        """The value of this option of this command for `FILE[::SPEC]`: that of the spec, else of the command, else of
        all."""
        own = None if target is None else self.of_spec(target).get(option)
        if own is not None:
            return own
        for keys in ((command,), ()):
            table = self.table
            for key in keys:
                table = table.get(key, {})
            if option in table:
                return ConfiguredValue(table[option], self.file, (*TABLE, *keys, option))
        return None

    def of_spec(self, target: str) -> dict[str, ConfiguredValue]:
        """The values for `FILE[::SPEC]` alone, by option; of patterns that fit, the last one counts."""
        found: dict[str, ConfiguredValue] = {}
        for pattern, table in self.table.get(SPECS, {}).items():
            if self._fits(target, pattern):
                found |= {
                    key: ConfiguredValue(value, self.file, (*TABLE, SPECS, pattern, key))
                    for key, value in table.items()
                }
        return found

    def _fits(self, target: str, pattern: str) -> bool:
        from fnmatch import fnmatchcase

        file, _, spec = target.partition("::")
        wanted_file, has_spec, wanted_spec = pattern.partition("::")
        path = os.path.relpath(file, os.path.dirname(self.file)).replace(os.sep, "/")
        return fnmatchcase(path, wanted_file) and (not has_spec or fnmatchcase(spec, wanted_spec))

    def targets(self) -> list[str]:
        """The files that the project names, in order; those of a pattern by name."""
        patterns = self.table.get(TARGETS)
        if patterns is None:
            return []
        from glob import glob

        where = ConfiguredValue(patterns, self.file, (*TABLE, TARGETS)).where
        if not _is_list_of_texts(patterns):
            raise SpecError("targets: expected a list of patterns of files", where)
        files = [f for p in patterns for f in sorted(glob(os.path.join(os.path.dirname(self.file), p), recursive=True))]
        if not files:
            raise SpecError("targets: there is no such file", where)
        return list(dict.fromkeys(map(os.path.relpath, files)))


def configuration_here() -> Configuration:
    """That of the working directory."""
    folder = os.getcwd()
    while True:
        path = os.path.join(folder, FILE)
        found = _read(path) if os.path.isfile(path) else None
        if found is not None:
            return found
        above = os.path.dirname(folder)
        if above == folder:
            return Configuration("", {})
        folder = above


def _read(path: str) -> Configuration | None:
    """The file's settings. None if it has no table of this program."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    if MARK not in text:
        return None  # without loading the parser
    import tomllib

    try:
        table = tomllib.loads(text.decode()).get("tool", {}).get("streamcheck")
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as why:
        raise SpecError(f"{os.path.relpath(path)}: {why}") from None
    if table is None:
        return None
    for keys in _not_tables(table):
        name = ".".join((*TABLE, *keys))
        raise SpecError(f"{name}: expected a table", Location(path, line_of(path, (*TABLE, *keys))))
    for keys in _strange(table):
        raise SpecError(_strange_words(keys), Location(path, line_of(path, (*TABLE, *keys))))
    return Configuration(path, table)


def _not_tables(table: Any) -> Iterator[tuple[str, ...]]:
    """The keys of what ought to be a table: the settings of all, of a command, of a spec."""
    from streamcheck.cli import COMMANDS

    if not isinstance(table, Mapping):
        yield ()
        return
    yield from ((key,) for key in table if key in {*COMMANDS, SPECS} and not isinstance(table[key], Mapping))
    specs = table.get(SPECS)
    if isinstance(specs, Mapping):
        yield from ((SPECS, pattern) for pattern, own in specs.items() if not isinstance(own, Mapping))


def _strange(table: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The keys that are no setting."""
    from streamcheck.cli import COMMANDS

    for key, value in table.items():
        if key in COMMANDS or key == SPECS:
            tables = {(key,): value} if key in COMMANDS else {(key, p): t for p, t in value.items()}
            for keys, inner in tables.items():
                yield from ((*keys, option) for option in inner if option not in OPTIONS)
        elif key not in OPTIONS and key != TARGETS:
            yield (key,)


def _strange_words(keys: tuple[str, ...]) -> str:
    from streamcheck.cli import COMMANDS

    *above, key = keys
    names = OPTIONS if above else {*OPTIONS, *COMMANDS, TARGETS, SPECS}
    return f"{key!r} is no setting{did_you_mean(closest(key, names))}"


def line_of(file: str, keys: tuple[str, ...]) -> int:
    """The line at which the table of all but the last key sets the last one; else 1."""
    import re
    import tomllib

    *wanted, last = keys
    table: list[str] = []
    with open(file, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("["):
                try:
                    table = _keys_of(tomllib.loads(line))
                except tomllib.TOMLDecodeError:
                    continue  # a line of a list
                if table == [*wanted, last]:
                    return number
            elif table == wanted and re.match(rf"""\s*["']?{re.escape(last)}["']?\s*[=.]""", line):
                return number
    return 1


def _keys_of(header: Any) -> list[str]:
    keys = []
    while isinstance(header, dict) and header:
        ((key, header),) = header.items()
        keys.append(key)
    return keys


def _is_list_of_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def require_kind(found: ConfiguredValue, *, is_flag: bool, multiple: bool) -> Any:
    """The value as the command line has it: true or false, a list of texts, or a text."""
    value, name = found.value, found.keys[-1]
    if is_flag and not isinstance(value, bool):
        raise SpecError(f"{name}: expected true or false", found.where)
    if multiple and not _is_list_of_texts(value):
        raise SpecError(f"{name}: expected a list of texts", found.where, write=f'{name} = ["{value}"]')
    if not (is_flag or multiple) and (isinstance(value, bool) or not isinstance(value, str | int | float)):
        raise SpecError(f"{name}: expected a number or a text", found.where)
    return value if is_flag or multiple else str(value)
