"""Specifications and systems as text in the user's notation, with the user's names.

Every named term is written once as an equation and then used by name; an unnamed node with several uses gets a name,
so the text is as large as the graph, not as its unfolding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from streamcheck.core.operators import OPERATORS, fill
from streamcheck.core.term import Term, walk
from streamcheck.problem.claim import Goal
from streamcheck.problem.specification import Specification
from streamcheck.report.values import as_notation

MAX_DEPTH = 40  # a deeper expression is split by a name


class Printer:
    """Expressions over named terms. `names` grows if a shared or deep node needs a name."""

    def __init__(self, names: Mapping[Term, str], roots: Iterable[Term]) -> None:
        roots = list(roots)
        self.names = dict(names)
        self.extra: list[tuple[str, Term, str]] = []
        uses: Counter[Term] = Counter(roots)
        nodes = list(walk(roots))
        for node in nodes:
            uses.update(node.args)
        self.texts: dict[Term, str] = {}
        depth: dict[Term, int] = {}
        for node in nodes:
            self.texts[node] = self._text(node)
            depth[node] = 1 + max((depth[a] for a in node.args), default=0)
            shared = uses[node] > 1 and depth[node] > 2  # one operator over names is as short as a name
            if node.args and (node in self.names or shared or depth[node] > MAX_DEPTH):
                depth[node] = 0
                if node not in self.names:
                    self.names[node] = name = f"_{len(self.extra) + 1}"
                    self.extra.append((name, node, self.texts[node]))

    def _operand(self, node: Term) -> str:
        if node in self.names:
            return self.names[node]
        text = self.texts[node]
        return f"({text})" if _needs_parentheses(node) else text

    def use(self, node: Term) -> str:
        """The node inside an expression: its name if it has one."""
        return self.names.get(node) or self.texts[node]

    def definition(self, node: Term) -> str:
        return self.texts[node]

    def _text(self, node: Term) -> str:
        match node.op:
            case "const":
                return as_notation(node.type, node.payload)
            case "var":
                return str(node.payload)
            case "array":
                return f"[{', '.join(self.use(a) for a in node.args)}]"
            case "struct":
                fields = zip(node.type.fields, node.args, strict=True)  # type: ignore[attr-defined]
                return f"{node.type}({', '.join(f'{n}={self.use(a)}' for (n, _), a in fields)})"
            case "field":
                name, _ = node.args[0].type.fields[node.payload]  # type: ignore[attr-defined]
                return f"{self._operand(node.args[0])}.{name}"
            case "with_field":
                name, _ = node.type.fields[node.payload]  # type: ignore[attr-defined]
                return f"{self._operand(node.args[0])}.set({name}={self.use(node.args[1])})"
            case "cast":
                return f"cast({node.type}, {self.use(node.args[0])})"
        shown = OPERATORS[node.op].shown
        inside_call = shown.endswith(")") and not shown.startswith("a")
        texts = [self.use(a) if inside_call else self._operand(a) for a in node.args]
        return fill(shown, dict(zip("abc", texts, strict=False)))


def _needs_parentheses(node: Term) -> bool:
    if node.op == "const":
        return "/" in as_notation(node.type, node.payload)
    return " " in OPERATORS[node.op].shown.split("(")[0] if node.args else False


def show_equations(specification: Specification) -> str:
    return "\n".join(_equation_lines(specification)) + "\n"


def _equation_lines(specification: Specification) -> Iterator[str]:
    names = {w.term: w.name for w in specification.wires}
    printer = Printer(names, specification.roots())
    use = printer.use
    yield f"spec {specification.name}"
    yield from _section(
        "inputs",
        [(i.name, str(i.type), "" if i.extern else "unknown") for i in specification.inputs]
        + [(c.name, str(c.type), "constant") for c in specification.constants],
    )
    yield from _section(
        "cells",
        [
            (
                c.name,
                str(c.initial.type),
                f"[{'any' if c.free else printer.definition(c.initial)}] ++ {_delay_text(printer, c.next)}",
            )
            for c in specification.cells
        ],
    )
    order = {node: i for i, node in enumerate(printer.texts)}
    wires = [(order[w.term], w.name, w.term, printer.definition(w.term)) for w in specification.wires]
    wires += [(order[node], name, node, text) for name, node, text in printer.extra]
    yield from _section("wires", [(name, str(node.type), text) for _, name, node, text in sorted(wires, key=_position)])
    for trigger in specification.triggers:
        args = ", ".join(use(arg) if name is None else f"{name}={use(arg)}" for name, arg in trigger.args)
        yield f"  trigger {trigger.name}({args}) when {use(trigger.guard)}"
    for kind, items in (("observer", specification.observers), ("assume", specification.assumptions)):
        yield from (f"  {kind} {item.name} = {use(item.term)}" for item in items)
    for p in specification.properties:
        kind = "implied" if p.is_implied else "prop" if p.goal is Goal.ALWAYS else "exists"
        yield f"  {kind} {p.name} = {use(p.term)}"


def _position(row: tuple[int, str, Term, str]) -> int:
    return row[0]


def _delay_text(printer: Printer, after: Term) -> str:
    text = printer.use(after)
    return f"({text})" if after not in printer.names and _needs_parentheses(after) else text


def _section(title: str, rows: list[tuple[str, str, str]]) -> Iterator[str]:
    if not rows:
        return
    yield f"  {title}"
    wide = min(max(len(name) for name, _, _ in rows), 24)
    wide_type = min(max(len(type) for _, type, _ in rows), 16)
    for name, type, text in rows:
        if text and title == "inputs":
            yield f"    {name:{wide}} : {type:{wide_type}}  {text}"
        else:
            yield f"    {name:{wide}} : {type:{wide_type}} = {text}" if text else f"    {name:{wide}} : {type}"
