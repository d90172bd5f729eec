"""A Bool cell that changes exactly if a handler may be called: one test for both.

outside = [False] ++ mux(outside, ~within, beyond)         if (outside ? within : beyond) {
enter, if ~outside & beyond                                    outside = !outside;
leave, if outside & within                                     … enter or leave …
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamcheck.core.simplify import choice, instantiate, negation
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.core.types import BOOL
from streamcheck.problem.specification import Cell, Trigger


@dataclass(frozen=True, slots=True)
class Toggle:
    """The cell that changes, and the condition under which it does; no handler is called if it does not."""

    name: str
    condition: Term


def toggle_of(
    cells: tuple[Cell, ...], triggers: tuple[Trigger, ...]
) -> tuple[Toggle, tuple[Cell, ...], tuple[Trigger, ...]] | None:
    """A toggle, with the cells and triggers as they are where its condition holds. None if there is none."""
    for cell in cells if triggers else ():
        if cell.var.type is not BOOL or cell.next is cell.var:
            continue
        stays, becomes = (_with_value(cell.next, cell.var, value) for value in (TRUE, FALSE))
        condition = choice(cell.var, negation(stays), becomes)
        guards = [_guard(t.guard, cell.var, negation(stays), becomes) for t in triggers]
        if condition.op != "mux" or any(g is None for g in guards):
            continue
        inside = tuple(replace(t, guard=g) for t, g in zip(triggers, guards, strict=True) if g is not None)
        others = tuple(replace(c, next=negation(c.var)) if c is cell else c for c in cells)
        return Toggle(cell.name, condition), others, inside
    return None


def _with_value(node: Term, var: Term, value: Term) -> Term:
    return instantiate([node], {var: value})[node]


def _guard(guard: Term, var: Term, if_true: Term, if_false: Term) -> Term | None:
    """The guard where the toggle's condition holds. None if it does not imply that."""
    now, later = _with_value(guard, var, TRUE), _with_value(guard, var, FALSE)
    if now is if_true and later is if_false:
        return TRUE
    if now is if_true and later is FALSE:
        return var
    return negation(var) if now is FALSE and later is if_false else None
