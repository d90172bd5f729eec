"""A path of large blocks as a path of statements, found by running the program.

The path of the blocks has the values that were chosen, and the locations of the blocks that the program was at. Between
two of these the statements are executed one by one until the second is reached with the values that it has there.
Rounds that the path repeats are executed once; whether all of them follow the same statements is for the replay to find
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from streamcheck.core.evaluate import Evaluation
from streamcheck.core.floats import identical
from streamcheck.core.term import Term
from streamcheck.core.types import ArrayType, Value, default
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.problem.verdict import EdgePath, Rounds, Unmappable

MOST_STATEMENTS = 100_000  # of one block: beyond, something is wrong

Executions = list[tuple[Edge, dict[str, Value], Mapping[Term, Value]]]  # edge, choices, values after


def statements_of(source: Automaton, blocks: Automaton, path: EdgePath) -> EdgePath:
    """The path of statements behind a path of the blocks. Unmappable if there is none."""
    numbers = {id(e): i for i, e in enumerate(source.edges)}
    values: Mapping[Term, Value] = {v: given_value(v, path.initial) for v in source.variables}
    edges: list[tuple[int, dict[str, Value]]] = []
    begins = [0]  # of each block, among the statements
    rounds: list[Rounds] = []
    repeated = {part.end: part for part in path.rounds}
    for i, (number, given) in enumerate(path.edges, 1):
        block = blocks.edges[number]
        evaluation = Evaluation({**values, **{c: given_value(c, given) for c in block.choices}})
        wanted = {v: evaluation.of(block.update.get(v, v)) for v in blocks.variables}
        executed = _execute(source, set(blocks.locations), block, values, given, wanted)
        if executed is None:
            raise Unmappable(f"no statements lead from {block.source} to {block.target}")
        edges += [(numbers[id(edge)], chosen) for edge, chosen, _ in executed]
        values = executed[-1][2] if executed else values
        begins.append(len(edges))
        if i in repeated:
            part = repeated[i]
            rounds.append(replace(part, begin=begins[part.begin], end=len(edges)))
            values = {v: part.after.get(str(v.payload), value) for v, value in values.items()}
    return EdgePath(path.initial, tuple(edges), tuple(rounds))


def _execute(
    source: Automaton,
    stops: set[str],
    block: Edge,
    values: Mapping[Term, Value],
    given: Mapping[str, Value],
    wanted: Mapping[Term, Value],
) -> Executions | None:
    """Depth-first search through the statements that are open, which is one way unless the program itself chooses.
    Loops that do not lead to the target are no part of the blocks, and would be followed for ever."""
    executed: Executions = []
    leading = _leading_to(source, stops, block.target)
    pending: list[tuple[int, Edge]] = [(0, e) for e in reversed(source.edges_from[block.source])]
    for _ in range(MOST_STATEMENTS):
        if not pending:
            return None
        depth, edge = pending.pop()
        del executed[depth:]
        now = executed[-1][2] if executed else values
        chosen = {c: given_value(c, given) for c in edge.choices}
        evaluation = Evaluation({**now, **chosen})
        if evaluation.of(edge.guard) is not True:
            continue
        after = {**now, **{v: evaluation.of(t) for v, t in edge.updates}}
        executed.append((edge, dict(part for c in edge.choices for part in _parts_given(c, given)), after))
        if edge.target == block.target and (block.target in source.bad or _are_identical(after, wanted)):
            return executed
        if edge.target in leading:
            pending.extend((depth + 1, e) for e in reversed(source.edges_from[edge.target]))
    return None


def given_value(var: Term, given: Mapping[str, Value]) -> Value:
    """The value of a variable, an array by those of its elements that are given. Others have a default value."""
    if not isinstance(var.type, ArrayType):
        return given.get(str(var.payload), default(var.type))
    whole = default(var.type)
    for name, value in _parts_given(var, given):
        whole = _with_part(whole, [int(i) for i in name.removeprefix(f"{var.payload}.").split(".")], value)
    return whole


def _parts_given(var: Term, given: Mapping[str, Value]) -> list[tuple[str, Value]]:
    name = str(var.payload)
    if not isinstance(var.type, ArrayType):
        return [(name, given.get(name, default(var.type)))]
    return [(part, value) for part, value in given.items() if part.startswith(f"{name}.")]


def _with_part(whole: Value, at: Sequence[int], value: Value) -> Value:
    if not at:
        return value
    assert isinstance(whole, tuple)
    return (*whole[: at[0]], _with_part(whole[at[0]], at[1:], value), *whole[at[0] + 1 :])


def _are_identical(values: Mapping[Term, Value], wanted: Mapping[Term, Value]) -> bool:
    """True if the variables have the wanted values. NaN is one."""
    return all(identical(values[v], wanted[v]) for v in wanted)


def _leading_to(source: Automaton, stops: set[str], target: str) -> set[str]:
    """The locations from which the target is reached without coming through a stop."""
    leading, stack = set[str](), [target]
    while stack:
        for edge in source.edges_to[stack.pop()]:
            if edge.source not in leading and edge.source not in stops:
                leading.add(edge.source)
                stack.append(edge.source)
    return leading
