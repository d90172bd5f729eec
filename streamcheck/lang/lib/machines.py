"""State machines from a table.

>>> import enum
>>> Lamp = enum.Enum("Lamp", ["OFF", "ON"])
>>> up, down = extern("up", Bool, [False, True, False, False]), extern("down", Bool, [False, False, True, False])
>>> lamp = machines.state_machine(Lamp.OFF, {Lamp.OFF: [(up, Lamp.ON)], Lamp.ON: [(down, Lamp.OFF)]})
OFF  ON  OFF  OFF
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from itertools import combinations

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.lang.build import any_of, case, implies
from streamcheck.lang.lib.parts import bool_stream, recur, require
from streamcheck.lang.stream import Operand, Stream, append
from streamcheck.lang.types import EnumOf
from streamcheck.problem.claim import Goal

__all__ = ["state_machine"]

Transitions = Sequence[tuple[Operand, enum.Enum]]


def state_machine(
    initial: enum.Enum,
    table: Mapping[enum.Enum, Transitions],
    *,
    ordered: bool = False,
    complete: bool = False,
    reached: bool = True,
) -> Stream:
    """The state after this step's transition, from `initial` before the first step. For each state the table lists
    transitions (condition, next state); the first whose condition holds is taken, and if there is none the state stays.
    (Copilot's `stateMachine` goes to a bad state then.)

    Implied properties, for each state:

        one transition at a time from STATE   no two conditions with different next states hold, unless `ordered`
        a transition from STATE               a condition holds, if `complete`
        STATE is reached                      in some run, unless `reached` is False

    A state without an entry, or one that no transitions lead to, is an error.
    """
    members = _members(initial, table)
    rows = {state: _row(state, table[state], members) for state in members}
    _check_graph(initial, rows)
    kind = EnumOf(type(initial))
    state = recur(kind, [initial], lambda before: _next(before, rows))
    before = append([initial], state)
    for member in members:
        at = before == member
        targets = list(_by_target(rows[member]).values())
        if not ordered and len(targets) > 1:
            clash = any_of([a & b for a, b in combinations(targets, 2)])
            state = require(state, implies(at, ~clash), f"one transition at a time from {member.name}")
        if complete:
            state = require(
                state, implies(at, any_of([c for c, _ in rows[member]])), f"a transition from {member.name}"
            )
        if reached and member is not initial:
            state = require(state, state == member, f"{member.name} is reached", Goal.REACHABLE)
    return state


def _next(before: Stream, rows: Mapping[enum.Enum, Sequence[tuple[Stream, enum.Enum]]]) -> Stream:
    conditions: list[Operand] = []
    values: list[Operand] = []
    for member, row in rows.items():
        if row:
            conditions.append(before == member)
            values.append(case([c for c, _ in row], [*(t for _, t in row), before]))
    return case(conditions, [*values, before])


def _members(initial: enum.Enum, table: Mapping[enum.Enum, Transitions]) -> list[enum.Enum]:
    if not isinstance(initial, enum.Enum):
        raise SpecError(f"state_machine: the initial state: expected a member of an enum, found {initial!r}", here())
    if not isinstance(table, Mapping):
        write = f"{{{initial}: [(condition, next_state), …], …}}"
        raise SpecError(f"state_machine: expected a dict of transitions, found {table!r}", here(), write=write)
    members = list(type(initial))
    for member in members:
        if member not in table:
            raise SpecError(
                f"state_machine: no transitions from {member}", here(), write=f"{member}: [], if it is final"
            )
    for key in table:
        if key not in members:
            raise SpecError(f"state_machine: {key!r} is not a member of {type(initial).__name__}", here())
    return members


def _row(state: enum.Enum, row: Transitions, members: list[enum.Enum]) -> list[tuple[Stream, enum.Enum]]:
    transitions = []
    if isinstance(row, tuple) and len(row) == 2 and isinstance(row[0], Stream):
        raise SpecError(
            f"state_machine: from {state}: expected a list of pairs", here(), write="[(condition, next_state)]"
        )
    for entry in row:
        if not isinstance(entry, tuple) or len(entry) != 2:
            message = f"state_machine: from {state}: expected pairs (condition, next state), found {entry!r}"
            raise SpecError(message, here())
        condition, target = entry
        if target not in members:
            raise SpecError(f"state_machine: from {state}: expected the next state, found {target!r}", here())
        transitions.append((bool_stream(condition, f"state_machine: from {state} to {target}"), target))
    return transitions


def _by_target(row: Sequence[tuple[Stream, enum.Enum]]) -> dict[enum.Enum, Stream]:
    """The condition for each next state."""
    conditions: dict[enum.Enum, Stream] = {}
    for condition, target in row:
        conditions[target] = conditions[target] | condition if target in conditions else condition
    return conditions


def _check_graph(initial: enum.Enum, rows: Mapping[enum.Enum, Sequence[tuple[Stream, enum.Enum]]]) -> None:
    seen, stack = {initial}, [initial]
    while stack:
        for _, target in rows[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    for state in rows:
        if state not in seen:
            raise SpecError(f"state_machine: no transitions lead from {initial} to {state}", here())
