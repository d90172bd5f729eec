"""Invariants as text to paste into the spec: properties in Python, over names that the file has.

A stream that the file has no name for is written out: `pre(0, x)` for a delay, else a definition before the properties.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace

from streamcheck.core.location import Location
from streamcheck.core.printer import Printer, as_notation
from streamcheck.core.simplify import conjunction, disjunction, simplify
from streamcheck.core.term import Term, fold, rebuild, variable, variables
from streamcheck.core.term import term as build
from streamcheck.core.types import ArrayType, EnumType, Type
from streamcheck.core.uncast import without_casts
from streamcheck.problem.specification import Cell, Specification
from streamcheck.report.equations import in_users_operators, is_first, labels_in, term_text

LONGEST = 60  # characters of a delay that is written out inside a property


@dataclass(frozen=True, slots=True)
class FileNames:
    """The names that a Python file binds at its top level, with the lines of the last statement that does."""

    lines: Mapping[str, tuple[int, int]]
    lists: Set[str]
    functions: Set[str]

    @staticmethod
    def of(source: str) -> FileNames:
        found: dict[str, tuple[int, int]] = {}
        lists: set[str] = set()
        functions: set[str] = set()
        for statement in _statements(ast.parse(source).body):
            first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
            for name in _bound(statement):
                found[name] = first, statement.end_lineno or first
                if isinstance(getattr(statement, "value", None), ast.List | ast.ListComp):
                    lists.add(name)
                if isinstance(statement, ast.FunctionDef):
                    functions.add(name)
        return FileNames(found, lists, functions)

    def text(self, name: str, where: Location | None) -> str | None:
        """The name in the file of the stream that reports call so, made at that line: by a statement that binds the
        name, or by a function that it calls. None if it has none."""
        stem, _, number = name.rpartition("_")
        bound, text = (stem, f"{stem}[{number}]") if stem in self.lists and number.isdecimal() else (name, name)
        if bound not in self.lines or where is None:
            return None
        first, last = self.lines[bound]
        own = first <= where.line <= last or (first == last and where.line not in self._taken_by_others(bound))
        return text if own else None

    def _taken_by_others(self, name: str) -> set[int]:
        return {a for other, (a, b) in self.lines.items() if other != name and a == b}

    def at(self, where: Location | None, otherwise: str) -> str:
        """The name that a statement of this line binds; a function binds others while it runs."""
        lines = [(name, ab) for name, ab in self.lines.items() if name not in self.functions]
        return next((name for name, (a, b) in lines if where and a <= where.line <= b), otherwise)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the file is read, those in branches and loops too."""
    for statement in body:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.ClassDef):
            for part in ("body", "orelse", "finalbody"):
                yield from _statements(getattr(statement, part, []))


def _bound(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.FunctionDef(name=name):
            yield name
        case ast.Assign(targets=targets):
            for target in targets:
                yield from (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


@dataclass(slots=True)
class Pasting:
    """Terms of a specification as Python text. `definitions` are the lines that the text needs before it."""

    specification: Specification
    file: FileNames
    taken: set[str]
    definitions: list[str] = field(default_factory=list)
    _names: dict[Term, str] = field(default_factory=dict)
    _cells: dict[Term, Cell] = field(default_factory=dict)  # those without names
    _streams: dict[str, str] = field(default_factory=dict)  # names of those that were defined, by definition

    def __post_init__(self) -> None:
        specification, file = self.specification, self.file
        simple = simplify([*(c.next for c in specification.cells), *(w.term for w in specification.wires)])
        for wire in specification.wires:
            if simple[wire.term].args and (name := file.text(wire.name, wire.where)):
                self._names[simple[wire.term]] = name
        for given in specification.inputs:
            declared = f'extern("{given.name}", {type_text(given.type)})'
            self._names[given.var] = file.text(given.name, given.where) or declared
        for cell in specification.cells:
            if cell.named and (name := file.text(cell.name, cell.where)):
                self._names[cell.var] = name
            else:
                self._cells[cell.var] = replace(cell, next=simple[cell.next])

    def text(self, condition: Term) -> str:
        """The condition. A constant that it shares with its claim becomes one of its own."""
        condition = without_casts([condition])[condition]
        condition = fold([condition], in_users_operators)[condition]
        labels = {v: str(v.payload) for v in self.specification.labels} | labels_in(self.specification, [condition])
        self._names |= labels
        text = self._use(fold([condition], _without_same)[condition])
        for var in variables([condition]):
            if var in labels:
                text = f"forall({type_text(var.type)}, lambda {labels[var]}: {text})"
        return text

    def _use(self, term: Term) -> str:
        """The term's text, after the definitions that it needs."""
        pending = [var for var in variables([*self._below(term)]) if var in self._cells and var not in self._names]
        for var in pending:
            if var not in self._names:
                self._name_cell(self._cells[var])
        while True:
            printer = TypedPrinter({t: name for t, name in self._names.items() if t is not term or not t.args}, [term])
            part = next((node for _, node, _ in printer.extra if node is not term), None)
            if part is None:
                return as_python(printer.definition(term) if term.args else printer.use(term))
            text = self._use(part)
            self._names[part] = self._fresh("part")
            self.definitions.append(f"{self._names[part]} = {text}")

    def _below(self, term: Term) -> Iterator[Term]:
        """The nodes that the text of a term shows: not those below a name."""
        stack, seen = [term], set()
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            if node.op == "var":
                yield node
            elif node is term or node not in self._names:
                stack.extend(node.args)

    def _name_cell(self, cell: Cell) -> None:
        """A text for a stream that the file has no name for."""
        if is_first(cell):
            self._names[cell.var] = "first"
            return
        initial = as_python(Printer({}, [cell.initial]).definition(cell.initial))
        if not self._is_recursive(cell):
            after = self._use(cell.next)
            text = f"pre({initial}, {f'{type_text(cell.next.type)}({after})' if cell.next.is_const else after})"
            if len(text) <= LONGEST:
                self._names[cell.var] = text
                return
            self._names[cell.var] = name = self._fresh(cell.name)
            self.definitions.append(f"{name} = {text}")
            return
        self._names[cell.var] = name = self._fresh(cell.name)
        text = f"[{initial}] ++ ({self._use(cell.next)})"
        same = self._streams.setdefault(re.sub(rf"\b{name}\b", "…", text), name)
        if same == name:
            self.definitions += [f"@stream({type_text(cell.initial.type)})", f"def {name}(): return {text}"]
        self._names[cell.var] = same

    def _is_recursive(self, cell: Cell) -> bool:
        """True if the cell depends on itself through streams without names."""
        stack, seen = [cell.next], set()
        while stack:
            for var in self._below(stack.pop()):
                if var is cell.var:
                    return True
                if var in self._cells and var not in self._names and var not in seen:
                    seen.add(var)
                    stack.append(self._cells[var].next)
        return False

    def _fresh(self, wish: str) -> str:
        stem = name = re.sub(r"\W+", "_", wish)
        number = 1
        while name in self.file.lines or name in self.taken:
            number += 1
            name = f"{stem}_{number}"
        self.taken.add(name)
        return name


class TypedPrinter(Printer):
    """Constants have their type where no stream beside them has it: `mux(c, Word8(1), 2)`. So have arrays."""

    def _text(self, node: Term) -> str:
        if node.op == "array":
            return f"{type_text(node.type)}({super()._text(node)})"
        first = {"mux": 1, "shl": 0, "shr": 0}.get(node.op)
        if first is None or not node.args[first].is_const or (node.op == "mux" and not node.args[2].is_const):
            return super()._text(node)
        given = node.args[first]
        typed = variable(f"{type_text(given.type)}({as_notation(given.type, given.payload)})", given.type)
        self.texts[typed] = super()._text(typed)
        return super()._text(rebuild(node, [typed if i == first else a for i, a in enumerate(node.args)]))


def _without_same(node: Term, args: list[Term]) -> Term:
    """Identity of floats, which specs cannot write, by ==: but for the sign of zero."""
    if node.op != "same":
        return rebuild(node, args)
    both_nan = conjunction(*(build("ne", a, a) for a in args if not a.is_const))
    constants = [a.payload for a in args if a.is_const]
    if constants:
        return both_nan if any(c != c for c in constants) else build("eq", *args)
    return disjunction(build("eq", *args), both_nan)


def type_text(type: Type) -> str:
    """The type as it is written in a spec."""
    match type:
        case EnumType():
            return f"EnumOf({type})"
        case ArrayType():
            return f"Array({type_text(type.element)}, {type.length})"
    return str(type)


def python_text(specification: Specification, term: Term) -> str:
    """The term by itself as Python reads it, with the specification's names."""
    return as_python(term_text(specification, term))


def as_python(text: str) -> str:
    """The user's notation as Python reads it."""
    return re.sub(r"\b(true|false)\b", lambda m: m[0].capitalize(), text)
