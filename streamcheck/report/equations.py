"""Specifications and systems as text in the user's notation, with the user's names.

Every named term is written once as an equation and then used by name; an unnamed node with several uses gets a name,
so the text is as large as the graph, not as its unfolding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streamcheck.core.printer import Printer, needs_parentheses
from streamcheck.core.term import FALSE, TRUE, Term, fold, rebuild, variables
from streamcheck.core.term import term as build
from streamcheck.core.types import has_floats
from streamcheck.core.uncast import without_casts
from streamcheck.problem.claim import Goal
from streamcheck.problem.specification import Cell, Specification

NUMBERED = "cell_"  # names with a line, which say nothing
QUOTES = "‹›"  # around the line of a stream without a name
GOALS = {Goal.ALWAYS: "prop", Goal.REACHABLE: "exists", Goal.INFINITELY_OFTEN: "infinitely often"}
MOST_DELAYS = 3  # of a stream without a name that is written as a delay
LONGEST_DELAY = 40  # characters


def show_equations(specification: Specification) -> str:
    return "\n".join(_equation_lines(specification)) + "\n"


def term_text(specification: Specification, term: Term) -> str:
    """A term by itself in the user's notation, with the user's names."""
    term = without_casts([term])[term]
    term = fold([term], in_users_operators)[term]
    names = {w.term: w.name for w in specification.wires}
    streams = labels_in(specification, [term]) | _texts_without_names(specification, term, names)
    names.pop(term, None)  # what is shown is its definition
    printer = Printer(names | streams, [term])
    extra = [f"{name} = {text}" for name, node, text in printer.extra if node is not term]
    text = printer.use(term) if term.op == "var" else printer.definition(term)
    return text + (f" with {', '.join(extra)}" if extra else "")


def labels_in(specification: Specification, terms: Iterable[Term]) -> dict[Term, str]:
    """The names of the constants in the terms for people, if they are different."""
    found = {v: specification.labels[v] for v in variables(terms) if v in specification.labels}
    return found if len(set(found.values())) == len(found) else {}


def _texts_without_names(specification: Specification, term: Term, names: dict[Term, str]) -> dict[Term, str]:
    """Texts for streams in the term that the user has not named: `pre(0, x)` if one only delays another, else the line
    that makes it, as in `‹line 9›`."""
    unnamed = {c.var: c for c in specification.cells if not c.named and (c.name.startswith(NUMBERED) or is_first(c))}
    found: dict[Term, str] = {}
    for var in variables([term]):
        text = _delay(var, unnamed, names)
        if text is not None:
            found[var] = text
        elif var in unnamed:
            found[var] = _line_text(specification, unnamed[var])
    return found


def _line_text(specification: Specification, cell: Cell) -> str:
    """The line that makes the stream: `‹line 9, 2›` is the second stream that line 9 makes."""
    if cell.where is None:
        return cell.name
    own = specification.where is not None and specification.where.file == cell.where.file
    place = f"line {cell.where.line}" if own else cell.where.short
    number = cell.name.removeprefix(f"{NUMBERED}{cell.where.line}").lstrip("_")
    text = f"{place}, {number}" if number else place
    return text.join(QUOTES)


def _delay(var: Term, unnamed: dict[Term, Cell], names: dict[Term, str]) -> str | None:
    """A short text for the delay, if it does not depend on itself through other delays."""
    initials: list[str] = []
    while var in unnamed:
        cell = unnamed[var]
        if is_first(cell):
            names = names | {var: "first"}
            break
        if len(initials) == MOST_DELAYS:
            return None
        initials.append(Printer({}, [cell.initial]).definition(cell.initial))
        var = cell.next
    if var not in names and (not initials or any(v in unnamed for v in variables([var]))):
        return None
    printer = Printer(names, [var])
    text = printer.use(var)
    for initial in reversed(initials):
        text = f"pre({initial}, {text})"
    return text if len(text) <= LONGEST_DELAY and not [n for _, n, _ in printer.extra if n is not var] else None


def is_first(cell: Cell) -> bool:
    """True if the cell is true at the first step and false later: `first` in specs."""
    return cell.initial is TRUE and cell.next is FALSE


def in_users_operators(node: Term, args: list[Term]) -> Term:
    """Where there is no NaN, `same` is ==."""
    if node.op == "same" and not has_floats(args[0].type):
        return build("eq", *args)
    return rebuild(node, args)


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
    used = [w for w in specification.wires if w.term in order]
    wires = [(order[w.term], w.name, w.term, printer.definition(w.term)) for w in used]
    wires += [(order[node], name, node, text) for name, node, text in printer.extra]
    yield from _section("wires", [(name, str(node.type), text) for _, name, node, text in sorted(wires, key=_position)])
    for trigger in specification.triggers:
        args = ", ".join(use(arg) if name is None else f"{name}={use(arg)}" for name, arg in trigger.args)
        yield f"  trigger {trigger.name}({args}) when {use(trigger.guard)}"
    lists = (
        ("observer", specification.observers),
        ("assume", specification.assumptions),
        ("fair", specification.fairness),
    )
    for kind, items in lists:
        yield from (f"  {kind} {item.name} = {use(item.term)}" for item in items)
    for p in specification.properties:
        kind = "implied" if p.is_implied else GOALS[p.goal]
        yield f"  {kind} {p.name} = {use(p.term)}"


def _position(row: tuple[int, str, Term, str]) -> int:
    return row[0]


def _delay_text(printer: Printer, after: Term) -> str:
    text = printer.use(after)
    return f"({text})" if after not in printer.names and needs_parentheses(after) else text


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
