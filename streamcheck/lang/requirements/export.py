"""FRET's JSON export as specs, one for each component.

Inputs are externs, outputs `unknown`s, internal variables with an assignment are that expression. A requirement whose
name has `assumption` in it is one, as in FRET. What has no meaning here (a variable without a type, free text) is left
out, with a warning that names the requirement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.lang.build import extern, unknown
from streamcheck.lang.flatten import flatten
from streamcheck.lang.requirements.expressions import Streams
from streamcheck.lang.requirements.meaning import stream_of
from streamcheck.lang.requirements.sentence import Sentence, expression, read_sentence
from streamcheck.lang.requirements.words import Words
from streamcheck.lang.spec import SpecBase
from streamcheck.lang.stream import Stream
from streamcheck.lang.types import Bool, Int, Real
from streamcheck.problem.specification import Specification

T = TypeVar("T")

TYPES: dict[str, type[Stream]] = {
    "boolean": Bool,
    "integer": Int,
    "double": Real,
    "single": Real,
}
FIELDS = ("variable_name", "component_name", "idType", "dataType", "assignment", "modeRequirement", "description")


def read_export(path: str, data: Any) -> list[Specification]:
    """The specifications of an export. SpecError if it has no requirement with a meaning."""
    return Export(path, data).specifications()


class Export:
    def __init__(self, path: str, data: Any) -> None:
        try:
            rows = sorted(data["requirements"], key=lambda row: str(row.get("reqid", "")))
            self.variables = [v for v in data.get("variables", ()) if v.get("variable_name")]
            self.sentences = {str(row.get("reqid", "")): str(row["fulltext"]) for row in rows}
        except (AttributeError, KeyError, TypeError):
            raise SpecError(f"{path}: not an export of FRET: a requirement has no `fulltext`") from None
        for field in FIELDS:
            if any(not isinstance(v.get(field, ""), str | None) for v in self.variables):
                raise SpecError(f"{path}: not an export of FRET: the `{field}` of a variable is no text")
        self.left_out: list[str] = []
        self.path = path
        with open(path, encoding="utf-8") as file:
            self.lines = file.read().splitlines()

    def specifications(self) -> list[Specification]:
        sentences: dict[str, dict[str, Sentence]] = {}
        for name, text in self.sentences.items():
            sentence = self._try(name, partial(read_sentence, text))
            if sentence is not None:
                sentences.setdefault(sentence.component, {})[name] = sentence
        found = [self._specification(component, own) for component, own in sentences.items()]
        specifications = [specification for specification in found if specification.properties]
        if not specifications:
            raise SpecError(
                f"{self.path}: no requirement has a meaning", also=tuple((why, None) for why in self.left_out)
            )
        *others, last = specifications
        return [*others, replace(last, warnings=tuple(self.left_out))]

    def _specification(self, component: str, sentences: Mapping[str, Sentence]) -> Specification:
        names = self._names(component)
        spec = as_at(Location(self.path, 1), partial(SpecBase, component))
        spec.namespace = names
        for name, sentence in sentences.items():
            stream = self._try(name, partial(stream_of, sentence, names))
            if stream is not None:
                declare = spec.assume if "assumption" in name.lower() else spec.prop
                as_at(self._line(name), partial(declare, name, stream))
        return flatten(spec)

    def _try(self, name: str, work: Callable[[], T]) -> T | None:
        """The result of the work on the requirement of this name. None, with a warning, if it has no meaning."""
        try:
            return as_at(self._line(name), work)
        except SpecError as why:
            self.left_out.append(f"{name} is left out: {why.message}")
            return None

    def _line(self, name: str) -> Location:
        """The line of the requirement's sentence."""
        named = (i for i, line in enumerate(self.lines) if '"reqid"' in line and f'"{name}"' in line)
        start = next(named, 0)
        texts = (i for i, line in enumerate(self.lines[start:], start) if '"fulltext"' in line)
        return Location(self.path, next(texts, start) + 1)

    def _names(self, component: str) -> dict[str, object]:
        """The variables of a component, each defined one after those that its definition needs."""
        own = [v for v in self.variables if v.get("component_name") == component]
        names: dict[str, object] = {}
        for v in own:
            name, kind = v["variable_name"], TYPES.get(v.get("dataType", ""))
            if kind is not None and v.get("idType") == "Input":
                names[name] = as_at(Location(self.path, 1), partial(extern, name, kind, doc=_doc(v)))
            elif kind is not None and v.get("idType") == "Output":
                names[name] = as_at(Location(self.path, 1), partial(unknown, kind))
        texts = {v["variable_name"]: v.get("assignment") or v.get("modeRequirement") or "" for v in own}
        waiting = {name: text for name, text in texts.items() if text and name not in names}
        while ready := {name: value for name, text in waiting.items() if (value := _value_of(text, names)) is not None}:
            names |= ready
            waiting = {name: text for name, text in waiting.items() if name not in names}
        return names


def _value_of(text: str, names: Mapping[str, object]) -> object | None:
    """The value of an expression. None if it needs a name that has none yet, or has no meaning."""
    try:
        words = Words(text)
        found = expression(words)
        return Streams(names, None).value(found) if words.next.kind == "end" else None
    except SpecError:
        return None


def _doc(variable: Mapping[str, Any]) -> str:
    return " ".join(str(variable.get("description", "")).split())


def as_at(where: Location, work: Callable[[], T]) -> T:
    """The result of the work. All it makes has this line: a frame of code that stands there calls it."""
    made: dict[str, Any] = {"work": work}
    exec(compile("\n" * (where.line - 1) + "made = work()", where.file, "exec"), made)
    result: T = made["made"]
    return result
