"""Replaying a counterexample in the reference semantics, and finding which of its values matter.

A trace is believed when every assumption is true at every step, and the property is false at the last.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamcheck.core.floats import identical
from streamcheck.core.term import Term
from streamcheck.core.types import EnumType, Misfit, Value, belongs, part_names, scalar_parts
from streamcheck.interpret.simulate import simulate
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Trace


def replay(equations: Specification, claim: Claim, trace: Trace) -> Replay | str:
    """The run behind a trace that breaks the claim, or why it does not."""
    for i, given in enumerate((trace.constants, *trace.inputs)):
        stray = _ill_typed(equations, given)
        if stray:
            return f"the value of {stray} is none of its type" + (f" at step {i - 1}" if i else "")
    steps = list(simulate(equations, trace.constants, trace.inputs))
    if not steps:
        return "it has no steps"
    for i, values in enumerate(steps):
        for assumption in equations.assumptions:
            if values[assumption.term] is not True:
                return f"assumption {assumption.name} is false at step {i}"
        for var in equations.variables():
            if not _is_member(var.type, values[var]):
                return f"{var.payload} is no member of its enum at step {i}"
    match claim.goal:
        case Goal.ALWAYS if steps[-1][claim.term] is not False:
            return "the property is true at the last step"
        case Goal.REACHABLE if steps[-1][claim.term] is not True:
            return "the last step does not reach it"
    return Replay(steps, _matters(equations, claim.term, steps))


def _ill_typed(equations: Specification, given: Mapping[str, Value]) -> str:
    """The name of a value that does not belong to its type, or nothing."""
    chosen = [*equations.chosen(), *(c.var for c in equations.cells if c.free)]
    types = {name: t for v in chosen for name, t in part_names(v.payload, v.type)}
    for name, value in given.items():
        try:
            same = name in types and identical(belongs(types[name], value), value)
        except Misfit:
            same = False
        if not same:
            return name
    return ""


def _is_member(type: object, value: Value) -> bool:
    if isinstance(type, EnumType):
        return value in type.codes
    if isinstance(value, tuple):
        parts = [t for _, t in part_names("", type)]  # type: ignore[arg-type]
        return all(_is_member(t, v) for t, v in zip(parts, scalar_parts(value), strict=True))
    return True


def _matters(equations: Specification, claim: Term, steps: Sequence[Mapping[Term, Value]]) -> list[set[str]]:
    """Backward from the violation and the assumptions, through what each value came from: a false `&` needs one
    false side, a `mux` its condition and the side it chose."""
    cells = {c.var: c.next for c in equations.cells}
    chosen = set(equations.chosen())
    free = {c.var for c in equations.cells if c.free}
    matters: list[set[str]] = [set() for _ in steps]
    last = len(steps) - 1
    stack = [(claim, last)] + [(a.term, i) for a in equations.assumptions for i in range(last + 1)]
    seen: set[tuple[Term, int]] = set()
    while stack:
        node, i = stack.pop()
        if (node, i) in seen:
            continue
        seen.add((node, i))
        if node in chosen:
            matters[i].add(node.payload)
        elif node in cells:
            if i:
                stack.append((cells[node], i - 1))
            elif node in free:
                matters[0].add(node.payload)
        else:
            stack.extend((a, i) for a in _reasons(node, steps[i]))
    return matters


def _reasons(node: Term, values: Mapping[Term, Value]) -> Sequence[Term]:
    """The operands that make the node's value what it is."""
    a = node.args
    match node.op:
        case "and" if values[node] is False:
            return [a[0]] if values[a[0]] is False else [a[1]]
        case "or" if values[node] is True:
            return [a[0]] if values[a[0]] is True else [a[1]]
        case "implies" if values[node] is True:
            return [a[0]] if values[a[0]] is False else [a[1]]
        case "mux":
            return [a[0], a[1] if values[a[0]] is True else a[2]]
    return a
