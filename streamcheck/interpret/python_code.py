"""A specification as a Python generator, at most one statement per node: the interpreter's inner loop.

The text of each operator is the Python column of the operator table, the same that `core.evaluate` uses one node
at a time; a test compares the two.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Iterable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

from streamcheck.core.evaluate import value_of
from streamcheck.core.python import PythonWriter
from streamcheck.core.term import Term, walk
from streamcheck.core.types import Value
from streamcheck.interpret.present import presenter
from streamcheck.interpret.step import Step
from streamcheck.problem.claim import Goal
from streamcheck.problem.specification import Cell, Input, Specification

RunState: TypeAlias = tuple[Value, ...]  # of the cells of a plan


@dataclass(slots=True)
class Plan:
    """The part of a specification that a run computes: the cells and inputs that the shown terms need."""

    specification: Specification
    properties: list[tuple[str, Term]]  # those that a run can decide
    assumptions: list[tuple[str, Term]]
    cells: list[Cell]
    inputs: list[Term]


def plan(specification: Specification) -> Plan:
    """The plan for triggers, observers, and the claims whose values follow from the externs. A constant without a value
    is an input, as anything that may have any value."""
    undecided = undecided_terms(specification)
    constants = (Input(c.name, c.type, False, "", "", c.where) for c in specification.constants)
    specification = replace(specification, inputs=(*specification.inputs, *constants), constants=())
    always = [p for p in specification.properties if p.goal is Goal.ALWAYS]
    properties = [(p.name, p.term) for p in always if p.term not in undecided]
    assumptions = [(a.name, a.term) for a in specification.assumptions if a.term not in undecided]
    needed = specification.needed_by([*specification.outputs(), *(claim for _, claim in properties + assumptions)])
    cells = [c for c in specification.cells if c.var in needed]
    return Plan(specification, properties, assumptions, cells, [i.var for i in specification.inputs if i.var in needed])


def undecided_terms(specification: Specification) -> set[Term]:
    """Every term whose value may depend on more than the externs."""
    open_ended = [v.var for v in specification.constants] + [i.var for i in specification.inputs if not i.extern]
    open_ended += [c.var for c in specification.cells if c.free]
    return _dependents(open_ended, specification)


def _dependents(variables: list[Term], specification: Specification) -> set[Term]:
    """Every term whose value may depend on these variables, at this step or later."""
    if not variables:
        return set()
    users: dict[Term, list[Term]] = defaultdict(list)
    for node in walk(specification.roots()):
        for a in node.args:
            users[a].append(node)
    for cell in specification.cells:
        users[cell.next].append(cell.var)
    influenced: set[Term] = set()
    stack = variables
    while stack:
        node = stack.pop()
        if node not in influenced:
            influenced.add(node)
            stack.extend(users[node])
    return influenced


class Stepper(Protocol):
    """Turns rows of input values into steps; what it returns is the state after the last, the cells of the plan."""

    def __call__(self, rows: Iterable[tuple[Value, ...]], state: RunState = ...) -> Generator[Step, None, RunState]: ...


def stepper(planned: Plan) -> Stepper:
    """The generator function of a plan. A run begins with the initial values of the cells, or in a given state."""
    specification = planned.specification
    roots = [c.next for c in planned.cells] + [claim for _, claim in planned.properties + planned.assumptions]
    roots += specification.outputs()
    writer = PythonWriter(roots, {"Step": Step})
    for i, cell in enumerate(planned.cells):
        writer.name(cell.var, f"c{i}")
    for i, var in enumerate(planned.inputs):
        writer.name(var, f"i{i}")
    body = _body(planned, writer)
    initial = writer.constant(initial_state(planned))
    row = "".join(f"i{i}, " for i in range(len(planned.inputs)))
    cells = "".join(f"c{i}, " for i in range(len(planned.cells)))
    lines = [
        f"def steps(rows, state={initial}):",
        f"    ({cells}) = state",
        "    step = 0",
        f"    for ({row}) in rows:",
    ]
    lines += ["        " + line for line in body]
    lines.append(f"    return ({cells})")
    exec(compile("\n".join(lines), "<equations>", "exec"), writer.namespace)
    result: Stepper = writer.namespace["steps"]
    return result


def initial_state(planned: Plan) -> RunState:
    return tuple(value_of(cell.initial, {}) for cell in planned.cells)


def _body(planned: Plan, writer: PythonWriter) -> list[str]:
    """The statements of one step: the shown values, the next values, then the assignment of all cells."""
    specification = planned.specification
    lines = writer.lines
    observers = [f"{o.name!r}: {_value_shown(o.term, writer)}" for o in specification.observers]
    guards = [writer.expression(t.guard) for t in specification.triggers]
    args = [[_value_shown(arg, writer) for _, arg in t.args] for t in specification.triggers]
    lines.append("fired = {}")
    for trigger, guard, shown in zip(specification.triggers, guards, args, strict=True):
        lines.append(f"if {guard}: fired[{trigger.name!r}] = ({''.join(a + ', ' for a in shown)})")
    for names, claims in (("broken", planned.properties), ("unmet", planned.assumptions)):
        lines.append(f"{names} = ()")
        for name, claim in claims:
            condition = writer.expression(claim)  # which may append to `lines`
            lines.append(f"if not {condition}: {names} += ({name!r},)")
    lines.append(f"yield Step(step, fired, {{{', '.join(observers)}}}, broken, unmet)")
    nexts = [writer.expression(c.next) for c in planned.cells]
    if nexts:
        lines.append(f"{', '.join(f'c{i}' for i in range(len(nexts)))} = {', '.join(nexts)}")
    lines.append("step += 1")
    return lines


def _value_shown(term: Term, writer: PythonWriter) -> str:
    convert = presenter(term.type)
    text = writer.expression(term)
    return text if convert is None else f"{writer.constant(convert)}({text})"
