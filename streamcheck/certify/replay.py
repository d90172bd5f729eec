"""Replay: a counterexample counts if it is a run, by the checker's own meaning of the operators, that breaks the claim.

    trace of a specification   every assumption is true at every step, the property is false at the last, and functions
                               without a definition have equal outputs for equal inputs
    path of an automaton       from the entry, edges in a row whose guards are true, to the error's location

Many rounds of a loop, or of the same inputs, are computed at once (`rounds`).

For a trace, the values that matter are computed too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from streamcheck.certify.automata import scalar_automaton
from streamcheck.certify.evaluate import evaluate, evaluate_nodes, is_member
from streamcheck.certify.large_arrays import has_large_arrays, replay_whole
from streamcheck.certify.long_runs import NotRepeated, after_rounds
from streamcheck.certify.rounds import KnownValues, TakenEdge, follow, repeat
from streamcheck.core.floats import identical
from streamcheck.core.huge import is_huge, is_unbounded
from streamcheck.core.term import Term, variables, walk
from streamcheck.core.types import Misfit, Type, Value, assemble, belongs, default, part_names, scalar_parts
from streamcheck.problem.automaton import Automaton, Edge, Executed, Repeated
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.result import Inconsistent, PathReplay, Replay
from streamcheck.problem.specification import Cell, FunctionCall, Specification
from streamcheck.problem.verdict import EdgePath, Rounds, Trace


def replay(specification: Specification, claim: Claim, trace: Trace) -> Replay | Inconsistent | str:
    """The run behind a trace that breaks the claim, or the reason why it does not."""
    if claim.is_about_infinite_runs:
        from streamcheck.certify.lasso import replay_lasso

        return replay_lasso(specification, claim, trace)
    steps = follow_steps(specification, claim, trace)
    if isinstance(steps, str | Inconsistent):
        return steps
    match claim.goal:
        case Goal.ALWAYS if steps[-1].get(claim.term) is True:
            return "the property is true at the last step"
        case Goal.REACHABLE if steps[-1].get(claim.term) is False:
            return "the last step does not reach it"
    if claim.term not in steps[-1]:
        return Inconsistent("what it depends on is not known after many rounds")
    matters, causes = _matters(specification, claim.term, steps, {part.begin: part.end for part in trace.rounds})
    return inconsistency(specification, steps, matters) or Replay(steps, matters, causes, _numbers(trace))


def follow_steps(
    specification: Specification, claim: Claim, trace: Trace
) -> list[dict[Term, Value]] | Inconsistent | str:
    """The values at each step of a run that meets the assumptions, or the reason why the trace is none."""
    types = _types_of_choices(specification)
    for i, given in enumerate((trace.constants, *trace.inputs)):
        stray = _ill_typed(types, given)
        if stray:
            return f"the value of {stray} is not a value of its type" + (f" at step {i - 1}" if i else "")
    if trace.loop is not None:
        return "it goes on forever, and the claim is about single steps"
    try:
        steps = list(run_of(specification, trace, [claim]))
    except NotRepeated as why:
        return Inconsistent(str(why))
    if not steps:
        return "it has no steps"
    if not steps[-1].keys() >= {a.term for a in specification.assumptions}:
        return Inconsistent("what it depends on is not known after many rounds")
    declared, numbers = list(specification.variables()), _numbers(trace)
    for i, values in zip(numbers, steps, strict=True):
        for assumption in specification.assumptions:
            if values[assumption.term] is not True:
                return f"assumption {assumption.name} is false at step {i}"
        for var in declared:
            if var in values and not is_member(var.type, values[var]):
                return f"{var.payload} is not a member of its enum at step {i}"
    return steps


def _numbers(trace: Trace) -> list[int]:
    """The numbers of the steps that are given."""
    missing = {part.end: part.times * (part.end - part.begin) for part in trace.rounds}
    return [i + sum(count for end, count in missing.items() if end <= i) for i in range(len(trace.inputs))]


def inconsistency(
    specification: Specification, steps: Sequence[Mapping[Term, Value]], matters: Sequence[set[str]]
) -> Inconsistent | None:
    """The first call with other outputs than an earlier one with the same inputs. Outputs that do not matter may be
    changed to what the function gives."""
    known: dict[tuple[str, tuple[Value, ...]], tuple[tuple[Value, ...], int]] = {}
    for i, values in enumerate(steps):
        for call in specification.calls:
            if values[call.tick] is not True or not any(o.payload in matters[i] for o in call.outputs):
                continue
            given = call.function, tuple(values[t] for t in call.inputs)
            results = tuple(values[t] for t in call.outputs)
            outputs, step = known.setdefault(given, (results, i))
            if outputs != results:
                when = f"at step {i}" if step == i else f"at steps {step} and {i}"
                return Inconsistent(f"it gives {call.function} two values for the same inputs, {when}")
    return None


def _types_of_choices(specification: Specification) -> dict[str, Type]:
    """The types of the scalars that a trace may give values to, by name."""
    chosen = [*specification.choices(), *(c.var for c in specification.cells if c.free)]
    return {name: t for v in chosen for name, t in part_names(v.payload, v.type)}


def _ill_typed(types: Mapping[str, Type], given: Mapping[str, Value]) -> str:
    """The name of a value that does not belong to its type, or nothing."""
    for name, value in given.items():
        if name not in types or not _belongs(types[name], value):
            return name
    return ""


def run_of(
    specification: Specification, trace: Trace, wanted: Sequence[Claim] | None = None
) -> Iterator[dict[Term, Value]]:
    """The value of every term at each step that is given; of claims, those of all or of these. Scalars that are not
    given have a default value of their type. After rounds, values that are not known are left out; so are numbers
    beyond reason, and what comes of them, if no claim `wanted` depends on them. NotRepeated if rounds are not known to
    be possible."""
    fixed = {c.var: _given_value(c.var, trace.constants) for c in specification.constants}
    first = evaluate([c.initial for c in specification.cells], {})
    state = {c.var: _first(c, first[c.initial], trace.constants) for c in specification.cells}
    roots = [*specification.variables(), *specification.roots(wanted), *specification.call_terms()]
    roots += (w.term for w in specification.wires)
    nodes = list(walk(roots))
    inputs, nexts = [i.var for i in specification.inputs], [(c.var, c.next) for c in specification.cells]
    rows = [{v: _given_value(v, given) for v in inputs} for given in trace.inputs]
    ends = {part.end: part for part in trace.rounds}
    needed = specification.needed_by(c.term for c in (*(wanted or ()), *specification.assumptions))
    idle = [(var, after) for var, after in nexts if wanted and var not in needed and is_unbounded(var.type)]
    for i, row in enumerate(rows):
        if i in ends:
            state = after_rounds(specification, {**fixed, **state}, rows[ends[i].begin : i], ends[i].times)
        values = evaluate_nodes(nodes, {**fixed, **state, **row})
        yield values
        state = {var: values[after] for var, after in nexts if after in values}
        for var, after in [(var, after) for var, after in idle if after in values and is_huge(values[after])]:
            idle.remove((var, after))
            nexts.remove((var, after))
            del state[var]


def _first(cell: Cell, initial: Value, given: Mapping[str, Value]) -> Value:
    if not cell.free:
        return initial
    names = part_names(cell.name, cell.initial.type)
    parts = (given.get(name, part) for (name, _), part in zip(names, scalar_parts(initial), strict=True))
    return assemble(cell.initial.type, parts)


def _given_value(var: Term, scalars: Mapping[str, Value]) -> Value:
    parts = (scalars.get(part, default(t)) for part, t in part_names(var.payload, var.type))
    return assemble(var.type, parts)


def _matters(
    specification: Specification, claim: Term, steps: Sequence[Mapping[Term, Value]], rounds: Mapping[int, int]
) -> tuple[list[set[str]], set[Term]]:
    """The names of the choices that matter at each step, and all terms that do at some step. `rounds`: the ends of
    those that begin at a step.

    Backward from the violation and the assumptions, through what each value came from: a false `&` needs one
    false side, a `mux` its condition and the side it chose. The output of a call matters with its inputs."""
    calls: dict[Term, list[FunctionCall]] = {}
    for call in specification.calls:
        for output in call.outputs:
            calls.setdefault(output, []).append(call)
    cells = {c.var: c.next for c in specification.cells}
    chosen = set(specification.choices())
    free = {c.var for c in specification.cells if c.free}
    matters: list[set[str]] = [set() for _ in steps]
    last = len(steps) - 1
    stack = [(claim, last)] + [(a.term, i) for a in specification.assumptions for i in range(last + 1)]
    seen: set[tuple[Term, int]] = set()
    while stack:
        node, i = stack.pop()
        if (node, i) in seen:
            continue
        seen.add((node, i))
        if node in chosen:
            matters[i].add(node.payload)
            if node in calls:
                ticking = [call for call in calls[node] if steps[i][call.tick] is True]
                stack.extend((t, i) for call in ticking for t in (call.tick, *call.inputs))
        elif node in cells:
            if i in rounds:
                stack.append((cells[node], rounds[i] - 1))
            if i:
                stack.append((cells[node], i - 1))
            elif node in free:
                matters[0].add(node.payload)
        else:
            stack.extend((a, i) for a in reasons_of(node, steps[i]))
    return matters, {node for node, _ in seen}


def reasons_of(node: Term, values: Mapping[Term, Value]) -> Sequence[Term]:
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


def replay_path(automaton: Automaton, claim: Claim, path: EdgePath) -> PathReplay | Inconsistent | str:
    """The statements of a path to the claim's error, with the values after each; or the reason why it is none."""
    if has_large_arrays(automaton):
        target = next(e.location for e in automaton.errors if e.name == claim.name)
        return replay_whole(automaton, target, path)
    return replay_over_scalars(scalar_automaton(automaton), claim, path)


def replay_over_scalars(source: Automaton, claim: Claim, path: EdgePath) -> PathReplay | Inconsistent | str:
    """The same for an automaton that `scalar_automaton` has taken apart."""
    target = next(e.location for e in source.errors if e.name == claim.name)
    values: KnownValues = {v: path.initial.get(str(v.payload), default(v.type)) for v in source.variables}
    stray = _stray(values)
    if stray:
        return f"the first value of {stray} is not a value of its type"
    here, executed, steps = source.entry, list[Executed | Repeated](), list[TakenEdge]()
    repeated = {part.end: part for part in path.rounds}
    for i, (number, given) in enumerate(path.edges, 1):
        edge = source.edges[number]
        chosen = {c: given.get(str(c.payload), default(c.type)) for c in edge.choices}
        if edge.source != here:
            return f"{edge.text} does not begin at {here}"
        if _stray(chosen):
            return f"the value that {edge.text} chooses for {_stray(chosen)} is not a value of its type"
        steps.append((edge, chosen))
        after = follow(steps[-1], values)
        if isinstance(after, str):
            return Inconsistent(after) if len(values) < len(source.variables) else after
        values = after
        executed.append(Executed(edge, values))
        here = edge.target
        if i in repeated:
            part = repeated[i]
            after = _repeat(steps[part.begin :], part, values)
            if isinstance(after, str):
                return Inconsistent(after)
            values = after
            executed.append(Repeated(tuple(edge for edge, _ in steps[part.begin :]), part.times, values))
    if here != target:
        return f"it ends at {here}"
    return PathReplay(executed, _first_values(source, path, executed))


def _repeat(steps: Sequence[TakenEdge], part: Rounds, values: KnownValues) -> KnownValues | str:
    """The values after the rounds, or the reason why they are not known to be possible."""
    if steps[0][0].source != steps[-1][0].target:
        return f"{steps[0][0].text} does not begin where its rounds end"
    after = repeat(steps, values, part.times)
    if not isinstance(after, str):
        for v, value in after.items():
            if not identical(part.after.get(str(v.payload), value), value):
                return f"{v.payload} is {value} after {part.times} rounds, not {part.after[str(v.payload)]}"
    return after


def _first_values(source: Automaton, path: EdgePath, executed: Sequence[Executed | Repeated]) -> dict[Term, Value]:
    """The first values that the conditions along the path depend on, directly or through updates."""
    needed: set[Term] = set()
    for step in reversed(executed):
        if isinstance(step, Executed):
            needed = _needed_before([step.edge], needed)
            continue
        known: set[Term] | None = None
        while known != needed:
            known, needed = needed, needed | _needed_before(step.edges, needed)
    given = (v for v in source.variables if v in needed and v.payload in path.initial)
    return {v: path.initial[str(v.payload)] for v in given}


def _needed_before(edges: Sequence[Edge], needed: set[Term]) -> set[Term]:
    """The values that the edges' conditions, and these values after them, depend on."""
    for edge in reversed(edges):
        update = edge.update
        read = variables([edge.guard, *(update[v] for v in needed if v in update)])
        needed = {v for v in needed if v not in update} | set(read)
    return needed


def _stray(values: Mapping[Term, Value]) -> str:
    """The name of a variable whose value does not belong to its type, or nothing."""
    return next((str(v.payload) for v, value in values.items() if not _belongs(v.type, value)), "")


def _belongs(type: Type, value: Value) -> bool:
    try:
        return identical(belongs(type, value), value)
    except Misfit:
        return False
