"""A counterexample as a path through the program as it was written, found by running it.

The trace of the transition system says which values were chosen, and at which locations of the large blocks the
program was. Between two of these the statements are executed one by one, in the reference semantics, until the second
is reached with the values that it has there: where no statements do that, the trace is no run of the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.term import Term
from streamcheck.core.types import Value, default
from streamcheck.problem.automaton import Automaton, Edge, Executed
from streamcheck.problem.verdict import Trace

MOST_STATEMENTS = 100_000  # of one block: beyond, something is wrong


def path_of(
    source: Automaton, blocks: Automaton, trace: Trace, steps: Sequence[Mapping[Term, Value]]
) -> list[Executed] | str:
    """The statements behind a run of the blocks; why there are none, otherwise. `source` has scalar variables."""
    names = {int(blocks.code(q).payload): q for q in blocks.locations}
    first, last = (names[int(s[blocks.place])] for s in (steps[0], steps[-1]))  # type: ignore[arg-type]
    if first != source.entry or last not in source.bad:
        return f"it leads from {first} to {last}"
    values: Mapping[Term, Value] = {v: _first(v, trace) for v in source.variables}
    path: list[Executed] = []
    for i, (before, after) in enumerate(pairwise(steps)):
        here, there = (names[int(s[blocks.place])] for s in (before, after))  # type: ignore[arg-type]
        wanted = {v: after[v] for v in blocks.variables}
        found = _execute(source, set(blocks.locations), here, there, values, trace.inputs[i], wanted)
        if found is not None:
            path += found
            values = path[-1].values if path else values
        elif here != there or any(values[v] != wanted[v] for v in wanted):
            return f"no statements lead from {here} to {there}"
    return path


def _first(v: Term, trace: Trace) -> Value:
    return trace.constants.get(v.payload, default(v.type))


def _execute(
    source: Automaton,
    stops: set[str],
    here: str,
    there: str,
    values: Mapping[Term, Value],
    chosen: Mapping[str, Value],
    wanted: Mapping[Term, Value],
) -> list[Executed] | None:
    """Depth-first through the statements that are open, which is one way except where the program itself chooses.
    Loops that lead nowhere are no part of the blocks, and would be followed for ever."""
    path: list[Executed] = []
    leading = _leading_to(source, stops, there)
    pending: list[tuple[int, Edge]] = [(0, e) for e in reversed(source.leaving[here])]
    for _ in range(MOST_STATEMENTS):
        if not pending:
            return None
        depth, edge = pending.pop()
        del path[depth:]
        now = path[-1].values if path else values
        given = {c: chosen.get(c.payload, default(c.type)) for c in edge.choices}
        evaluation = Evaluation({**now, **given})
        if evaluation.of(edge.guard) is not True:
            continue
        after = {**now, **{v: evaluation.of(t) for v, t in edge.updates}}
        path.append(Executed(edge, after))
        if edge.target == there and (there in source.bad or all(after[v] == wanted[v] for v in wanted)):
            return path
        if edge.target in leading:
            pending.extend((depth + 1, e) for e in reversed(source.leaving[edge.target]))
    return None


def _leading_to(source: Automaton, stops: set[str], there: str) -> set[str]:
    """The locations from which it is reached without coming through a stop."""
    found, stack = set[str](), [there]
    while stack:
        for edge in source.entering[stack.pop()]:
            if edge.source not in found and edge.source not in stops:
                found.add(edge.source)
                stack.append(edge.source)
    return found
