"""A toggle as C: the change of its cell and the calls that go with it."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from streamcheck.codegen import text
from streamcheck.codegen.toggles import Toggle
from streamcheck.core.simplify import negation
from streamcheck.core.term import TRUE
from streamcheck.core.types import BOOL
from streamcheck.problem.specification import Cell

if TYPE_CHECKING:
    from streamcheck.codegen.step import StepWriter


def if_toggled(step: StepWriter, toggle: Toggle, lines: list[str], site: int) -> list[str]:
    """Statements under a condition that is not kept: compilers branch on its parts."""
    for part in toggle.condition.args:
        step.expression(part, step.body, site)
    return [f"if ({step.application(toggle.condition).text}) {{", *text.indent(lines), "}"]


def by_cases(step: StepWriter, toggle: Toggle, cell: Cell, site: int) -> list[str]:
    """The change and the calls by the value of the toggle's cell. Empty if the order of calls forbids that, or if
    compilers choose between the two conditions without a branch.

        if (!outside) {
            if (beyond) {
                outside = true; enter();
            }
        } else if (within) {
            outside = false; leave();
        }
    """
    triggers = step.lowered.triggers
    values = [True if t.guard is cell.var else False if t.guard is negation(cell.var) else None for t in triggers]
    is_simple = not any(part.op in ("and", "or", "mux") for part in toggle.condition.args[1:])
    if is_simple or None in values or sum(a is not b for a, b in pairwise(values)) > 1:
        return []
    name = step.state_names[cell.name]
    lines: list[str] = []
    for value in (values[0], not values[0]):
        test = step.expression(toggle.condition.args[1 if value else 2], step.body, site).text
        changed = step.store_commit(step.state(name), name, cell.var, text.literal(BOOL, not value)).lines
        numbered = [(i, t) for i, (t, when) in enumerate(zip(triggers, values, strict=True)) if when is value]
        calls = [line for i, t in numbered for line in step.call(replace(t, guard=TRUE), 2 * i)]
        case = [f"if ({test}) {{", *text.indent([*changed, *calls]), "}"]
        if lines:
            return [*lines, f"}} else {case[0]}", *case[1:]]
        now = step.expression(cell.var if value else negation(cell.var), step.body, site).text
        lines = [f"if ({now}) {{", *text.indent(case)]
    return lines
