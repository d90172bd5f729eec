"""Specification to a Python generator, one statement or less per node: the interpreter's inner loop.

The text of each operator is the Python column of the operator table, the same that `core.evaluate` uses one node
at a time; a test compares the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from streamcheck.core.evaluate import value_of
from streamcheck.core.python import Writer
from streamcheck.core.term import Term, cone, walk
from streamcheck.core.types import Value
from streamcheck.interpret.present import presenter
from streamcheck.interpret.step import Step
from streamcheck.problem.claim import Goal
from streamcheck.problem.specification import Cell, Specification


@dataclass(slots=True)
class Plan:
    """What is computed: the cells and inputs that the shown terms need."""

    equations: Specification
    claims: list[tuple[str, Term]]  # properties and assumptions that a run can decide
    cells: list[Cell]
    inputs: list[Term]


def plan(equations: Specification) -> Plan:
    """Triggers, observers, and the claims whose values follow from the externs."""
    shown = [t.guard for t in equations.triggers] + [n.term for n in equations.observers]
    shown += [arg for t in equations.triggers for _, arg in t.args]
    open_ended = [v.var for v in equations.constants] + [i.var for i in equations.inputs if not i.extern]
    open_ended += [c.var for c in equations.cells if c.free]
    undecided = _influenced(open_ended, equations)
    claims = [(f"assumption {a.name}", a.term) for a in equations.assumptions]
    claims += [(p.name, p.term) for p in equations.properties if p.goal is Goal.ALWAYS]
    claims = [(name, term) for name, term in claims if term not in undecided]
    reached, cells = _reached(shown + [term for _, term in claims], equations)
    return Plan(equations, claims, cells, [i.var for i in equations.inputs if i.var in reached])


def _reached(roots: list[Term], equations: Specification) -> tuple[set[Term], list[Cell]]:
    seen = cone(roots, {c.var: c.next for c in equations.cells})
    return seen, [c for c in equations.cells if c.var in seen]


def _influenced(variables: list[Term], equations: Specification) -> set[Term]:
    """Every term whose value may depend on these variables, at this step or later."""
    if not variables:
        return set()
    users: dict[Term, list[Term]] = defaultdict(list)
    for node in walk(equations.roots()):
        for a in node.args:
            users[a].append(node)
    for cell in equations.cells:
        users[cell.next].append(cell.var)
    influenced: set[Term] = set()
    stack = variables
    while stack:
        node = stack.pop()
        if node not in influenced:
            influenced.add(node)
            stack.extend(users[node])
    return influenced


def stepper(planned: Plan) -> Callable[[Iterable[tuple[Value, ...]]], Iterator[Step]]:
    """The generator function that turns rows of input values into steps."""
    equations = planned.equations
    roots = [c.next for c in planned.cells] + [t for _, t in planned.claims]
    roots += [n.term for n in equations.observers] + [t.guard for t in equations.triggers]
    roots += [arg for t in equations.triggers for _, arg in t.args]
    writer = Writer(roots, {"Step": Step})
    for i, cell in enumerate(planned.cells):
        writer.name(cell.var, f"c{i}")
    for i, var in enumerate(planned.inputs):
        writer.name(var, f"i{i}")
    body = _body(planned, writer)
    initial = [f"c{i} = {writer.constant(_initial(cell))}" for i, cell in enumerate(planned.cells)]
    row = "".join(f"i{i}, " for i in range(len(planned.inputs)))
    lines = ["def steps(rows):", *("    " + line for line in initial), "    step = 0", f"    for ({row}) in rows:"]
    lines += ["        " + line for line in body]
    exec(compile("\n".join(lines), "<equations>", "exec"), writer.namespace)
    result: Callable[[Iterable[tuple[Value, ...]]], Iterator[Step]] = writer.namespace["steps"]
    return result


def _initial(cell: Cell) -> Value:
    return value_of(cell.initial, {})


def _body(planned: Plan, writer: Writer) -> list[str]:
    """One step: what is shown, then the next values, then all cells at once."""
    equations = planned.equations
    lines = writer.lines
    observers = [f"{o.name!r}: {_shown(o.term, writer)}" for o in equations.observers]
    guards = [writer.expression(t.guard) for t in equations.triggers]
    args = [[_shown(arg, writer) for _, arg in t.args] for t in equations.triggers]
    lines.append("fired = {}")
    for trigger, guard, shown in zip(equations.triggers, guards, args, strict=True):
        lines.append(f"if {guard}: fired[{trigger.name!r}] = ({''.join(a + ', ' for a in shown)})")
    claims = [(name, writer.expression(t)) for name, t in planned.claims]
    lines.append("broken = ()")
    lines += [f"if not {text}: broken += ({name!r},)" for name, text in claims]
    lines.append(f"yield Step(step, fired, {{{', '.join(observers)}}}, broken)")
    nexts = [writer.expression(c.next) for c in planned.cells]
    if nexts:
        lines.append(f"{', '.join(f'c{i}' for i in range(len(nexts)))} = {', '.join(nexts)}")
    lines.append("step += 1")
    return lines


def _shown(term: Term, writer: Writer) -> str:
    convert = presenter(term.type)
    text = writer.expression(term)
    return text if convert is None else f"{writer.constant(convert)}({text})"
