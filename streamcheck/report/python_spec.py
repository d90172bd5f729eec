"""A specification as a spec in Python: every input, cell and output with its name, shared terms as `part_1`, …"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator

from streamcheck.core.errors import SpecError
from streamcheck.core.printer import as_notation
from streamcheck.core.term import Term, walk
from streamcheck.core.types import ArrayType, EnumType, StructType, Type
from streamcheck.problem.claim import Goal, OfContract, Written
from streamcheck.problem.specification import Specification
from streamcheck.report.paste import TypedPrinter, as_python, type_text

RESERVED = ("spec", "enum", "first")


def write_python(specification: Specification, names: Iterable[str] = ()) -> str:
    """The text of a file. `names` are those of wires that are streams of their own, such as outputs. SpecError if the
    specification has something that no text of this kind has."""
    return "\n".join(_Writer(specification, frozenset(names)).lines()) + "\n"


class _Writer:
    def __init__(self, specification: Specification, wires: frozenset[str]) -> None:
        self.specification = specification
        self.taken = set(RESERVED)
        self.wires = [w for w in specification.wires if w.name in wires]
        declared = [d.name for d in specification.inputs]
        declared += [d.name for d in specification.cells] + [d.name for d in self.wires]
        self.identifiers = {name: self._identifier(name) for name in declared}
        self.names: dict[Term, str] = {i.var: self.identifiers[i.name] for i in specification.inputs}
        self.names |= {c.var: self.identifiers[c.name] for c in specification.cells}
        self.parts: list[str] = []
        if specification.constants or specification.calls or any(c.free for c in specification.cells):
            raise SpecError(f"{specification.name}: forall, calls and free cells have no text here")

    def _identifier(self, wish: str) -> str:
        stem = re.sub(r"\W+", "_", wish, flags=re.ASCII).strip("_") or "stream"
        stem = f"s_{stem}" if stem[0].isdigit() or keyword.iskeyword(stem) else stem
        name, number = stem, 1
        while name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self.taken.add(name)
        return name

    def lines(self) -> Iterator[str]:
        s = self.specification
        yield from self._head()
        for given in s.inputs:
            doc = f", doc={given.doc!r}" if given.doc else ""
            yield f"{self.identifiers[given.name]} = extern({given.name!r}, {type_text(given.type)}{doc})"
        for wire in self.wires:
            yield from self._stream(wire.name, wire.term, "")
        self.names |= {w.term: self.identifiers[w.name] for w in self.wires if w.term.args}
        for cell in s.cells:
            initial = as_notation(cell.initial.type, cell.initial.payload)
            yield from self._stream(cell.name, cell.next, f"[{as_python(initial)}] ++ ")
        claims = [
            *((f"spec.assume({a.name!r}, ", a.term) for a in s.assumptions),
            *((f"spec.observer({o.name!r}, ", o.term) for o in s.observers),
            *((_call(p.goal, p.name), p.term) for p in s.properties if isinstance(p.origin, Written | OfContract)),
        ]
        declared = [f"{call}{self._text(term)})" for call, term in claims]
        declared += [f"spec.observer({w.name!r}, {self.identifiers[w.name]})" for w in self.wires]
        yield from self.parts
        yield ""
        yield f"spec = Spec({s.name!r})"
        yield from dict.fromkeys(declared)

    def _head(self) -> Iterator[str]:
        yield f'"""An implementation of {self.specification.name}, made by `streamcheck realizable`."""'
        yield ""
        enums = sorted({t for t in self._types() if isinstance(t, EnumType)}, key=str)
        if enums:
            yield "import enum"
            yield ""
        yield "from streamcheck import *"
        yield ""
        for type_ in enums:
            yield f"class {type_}(enum.Enum):"
            yield from (f"    {name} = {code}" for name, code in type_.members)
            yield ""
        for struct in self._types():
            if isinstance(struct, StructType):
                yield "@struct"
                yield f"class {type_text(struct)}:"
                yield from (f"    {name}: {type_text(field)}" for name, field in struct.fields)
                yield ""

    def _types(self) -> dict[Type, None]:
        """The types in use, parts before wholes."""
        found: dict[Type, None] = {}
        s = self.specification
        for node in walk([*s.variables(), *(w.term for w in self.wires), *s.roots()]):
            _add_parts(node.type, found)
        return found

    def _stream(self, name: str, term: Term, before: str) -> Iterator[str]:
        text = self._text(term)
        yield f"@stream({type_text(term.type)})"
        yield f"def {self.identifiers[name]}(): return " + (f"{before}({text})" if before else text)

    def _text(self, term: Term) -> str:
        """The term's text; shared terms become parts, which stand after the streams."""
        if term in self.names:
            return self.names[term]
        if term.is_const:
            return f"{type_text(term.type)}({as_python(as_notation(term.type, term.payload))})"
        while True:
            printer = TypedPrinter(self.names, [term])
            part = next((node for _, node, _ in printer.extra if node is not term), None)
            if part is None:
                return as_python(printer.definition(term))
            text = self._text(part)
            self.names[part] = self._identifier("part")
            self.parts.append(f"{self.names[part]} = {text}")


def _add_parts(type: Type, found: dict[Type, None]) -> None:
    match type:
        case ArrayType():
            _add_parts(type.element, found)
        case StructType():
            for _, field in type.fields:
                _add_parts(field, found)
    found[type] = None


def _call(goal: Goal, name: str) -> str:
    return f"spec.{'prop' if goal is Goal.ALWAYS else 'exists'}({name!r}, "
