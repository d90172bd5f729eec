"""Why a run breaks a property: the named values that made it false, from the property back to the inputs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from streamcheck.certify.replay import reasons_of
from streamcheck.core.term import Term
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Cause, Replay
from streamcheck.problem.specification import Specification


def causes(specification: Specification, claim: Claim, run: Replay) -> Iterator[Cause]:
    """The property first, then what its value depends on, and so on, each once, the nearest first."""
    cells = {c.var: c for c in specification.cells}
    wheres = {i.var: i.where for i in specification.inputs}
    wheres |= {c.var: c.where for c in specification.constants}
    labels = {i.var: i.name for i in specification.inputs} | dict(specification.labels)
    names = {n.term: n for n in (*specification.observers, *specification.wires)}
    numbers = run.numbers
    waiting = deque([(claim.term, len(run.steps) - 1)])
    seen = set(waiting)
    while waiting:
        node, i = waiting.popleft()
        value = run.steps[i][node]
        cell = cells.get(node)
        if node is claim.term:
            yield Cause(numbers[i], claim.name, value, node, node, False, claim.where)
        elif cell is not None:
            definition = cell.next if i else cell.initial
            yield Cause(numbers[i], cell.name, value, node, definition, i > 0, cell.where)
        elif node in wheres:
            yield Cause(numbers[i], labels[node], value, node, None, False, wheres[node])
        else:
            yield Cause(numbers[i], names[node].name, value, node, node, False, names[node].where)
        for after in _named_below(
            node, i, cells.keys() | wheres.keys() | names.keys(), run, cell.next if cell else None
        ):
            if after not in seen:
                seen.add(after)
                waiting.append(after)


def _named_below(node: Term, i: int, named: set[Term], run: Replay, after: Term | None) -> Iterator[tuple[Term, int]]:
    """The nearest terms with names that the value depends on, and their steps."""
    if after is not None and (i == 0 or not run.follows(i)):
        return
    begin, step = (node, i) if after is None else (after, i - 1)
    stack = [begin] if after is not None else list(reversed(reasons_of(node, run.steps[step])))
    seen: set[Term] = set()
    while stack:
        term = stack.pop()
        if term in seen or term.is_const:
            continue
        seen.add(term)
        if term in named:
            yield term, step
        else:
            stack.extend(reversed(reasons_of(term, run.steps[step])))
