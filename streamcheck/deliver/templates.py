"""Wrappers: files around the generated C, from folders of templates that users can replace by their own.

A template is text. `{{input.c_type}}` stands for a value of the interface (`codegen.interface`). A line whose first
character other than a space is `%` is a command:

    % for handler in handlers       the lines up to its `% end`, once for each; `handler.comma` is "," or, last, ""
    % if handler.parameters         the lines up to its `% end` or `% else`, if there are any; also `% if not …`
    % require form context table    refuses the spec, in words, if `form` is neither
    % each struct in structs        a file for each (first line only)

`NAME` in the path of a file stands for the monitor's name, `CAMEL` for the same as in `RateLimit`, `EACH` for that of
`% each`. A file called `GENERATED` stands for the generated files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location

PLACE = re.compile(r"\{\{([\w.]+)\}\}")
COMMAND = re.compile(r"\s*%(?!%) *(\w+) *(.*)$")


def names_of_wrappers() -> list[str]:
    """The wrappers that come with streamcheck."""
    return sorted(folder.name for folder in _home().iterdir() if folder.is_dir() and not folder.name.startswith("_"))


def _home() -> Traversable:
    return files("streamcheck.deliver") / "wrappers"


def wrap(wrapper: str, data: Mapping[str, Any], generated: Mapping[str, str]) -> dict[str, str]:
    """The files of a wrapper. `wrapper` is a name, or the path of a folder of templates."""
    folder: Traversable = _home() / wrapper
    if wrapper not in names_of_wrappers():
        folder = Path(wrapper)
        if not folder.is_dir():
            raise SpecError(
                f"there is no wrapper {wrapper}, and no folder of templates of this name",
                write=", ".join(names_of_wrappers()) + ", or the path of a folder",
            )
    made: dict[str, str] = {}
    for path, content in _templates(folder, ""):
        name = path.replace("NAME", str(data["name"])).replace("CAMEL", str(data["camel"]))
        if os.path.basename(path) == "GENERATED":
            made.update({os.path.join(os.path.dirname(name), file): text for file, text in generated.items()})
            continue
        for each, text in Template(path, content).files(data):
            file = name.replace("EACH", each)
            if file in made:
                raise SpecError(f"two files of the wrapper {wrapper} would be called {file}", write="other names")
            made[file] = text
    return made


def _templates(folder: Traversable, below: str) -> Iterator[tuple[str, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        path = os.path.join(below, entry.name)
        if entry.is_dir():
            yield from _templates(entry, path)
        else:
            try:
                yield path, entry.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as why:
                raise SpecError(f"the template {path} cannot be read: {why}") from None


class Template:
    """One file of a wrapper."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.lines = text.splitlines()

    def files(self, data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """The texts it gives, each with what stands for EACH."""
        first = COMMAND.match(self.lines[0]) if self.lines else None
        if first and first[1] == "each":
            variable, _, source = first[2].partition(" in ")
            for item in self._value(source, data, 1):
                yield str(item["camel"]), self._text({**data, variable: item}, 1)
        else:
            yield "", self._text(data, 0)

    def _text(self, data: Mapping[str, Any], start: int) -> str:
        written: list[str] = []
        end = self._block(start, data, written)
        if end < len(self.lines):
            raise self._error(f"an end of nothing: {self.lines[end].strip()}", end + 1)
        return "".join(f"{line}\n" for line in written)

    def _block(self, at: int, data: Mapping[str, Any], written: list[str] | None) -> int:
        """Write the lines up to the end of a block; the number of the line that ends it."""
        while at < len(self.lines):
            command = COMMAND.match(self.lines[at])
            match command and command[1]:
                case None:
                    if written is not None:
                        written.append(self._fill(self.lines[at], data, at + 1))
                    at += 1
                case "end" | "else":
                    return at
                case "for":
                    at = self._repeat(at, str(command and command[2]), data, written)
                case "if":
                    at = self._choose(at, str(command and command[2]), data, written)
                case "require":
                    if written is not None:
                        self._require(str(command and command[2]).split(), data)
                    at += 1
                case other:
                    raise self._error(
                        f"a template has no command `{other}`", at + 1, "for, if, else, end, require, each"
                    )
        return at

    def _repeat(self, at: int, words: str, data: Mapping[str, Any], written: list[str] | None) -> int:
        variable, separator, source = words.partition(" in ")
        if not separator:
            raise self._error(f"`for {words}` names no list", at + 1, "% for handler in handlers")
        items = list(self._value(source, data, at + 1)) if written is not None else []
        for i, item in enumerate(items):
            given = dict(item) | {"comma": "," if i < len(items) - 1 else ""}
            self._block(at + 1, {**data, variable: given}, written)
        return self._after(at, self._block(at + 1, data, None))

    def _choose(self, at: int, words: str, data: Mapping[str, Any], written: list[str] | None) -> int:
        path = words.removeprefix("not ")
        holds = written is not None and bool(self._value(path, data, at + 1)) != words.startswith("not ")
        end = self._block(at + 1, data, written if holds else None)
        if end < len(self.lines) and self._is(end, "else"):
            end = self._block(end + 1, data, written if not holds else None)
        return self._after(at, end)

    def _is(self, at: int, word: str) -> bool:
        command = COMMAND.match(self.lines[at])
        return command is not None and command[1] == word

    def _after(self, at: int, end: int) -> int:
        if end >= len(self.lines) or not self._is(end, "end"):
            raise self._error(f"no end for: {self.lines[at].strip()}", at + 1, "% end")
        return end + 1

    def _require(self, words: Sequence[str], data: Mapping[str, Any]) -> None:
        path, allowed = words[0], words[1:]
        value = str(data[path]).lower() if isinstance(data[path], bool) else str(data[path])
        if value not in allowed:
            folder = self.path.split(os.sep)[0]
            why, write = REQUIREMENTS.get(path, (f"needs {path} to be {' or '.join(allowed)}, not {value}", ""))
            raise SpecError(f"this wrapper ({folder}) {why}", write=write.format(allowed[0]))

    def _fill(self, line: str, data: Mapping[str, Any], number: int) -> str:
        return PLACE.sub(lambda m: str(self._value(m[1], data, number)), line.replace("%%", "%", 1))

    def _value(self, path: str, data: Mapping[str, Any], number: int) -> Any:
        value: Any = data
        for part in path.split("."):
            if not isinstance(value, Mapping) or part not in value:
                known = ", ".join(value) if isinstance(value, Mapping) else "nothing"
                raise self._error(f"there is no `{part}` in `{path}`: there is {known}", number)
            value = value[part]
        return value

    def _error(self, message: str, line: int, write: str = "") -> SpecError:
        return SpecError(message, Location(self.path, line), write=write)


REQUIREMENTS = {
    "abi": ("keeps the state in an object", "--abi {}"),
    "form": ("calls handlers in one form only", "--handlers {}"),
    "scalars": ("passes scalars only, and the spec has inputs or arguments that are arrays or structs", ""),
}
