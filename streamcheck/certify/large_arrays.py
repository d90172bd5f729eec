"""Paths of a program whose arrays are too large to give each element a variable: its arrays are values as a whole.

What is shown of a path are the elements that it changes, and those that are given.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from streamcheck.certify.evaluate import evaluate
from streamcheck.core.floats import identical
from streamcheck.core.term import Term, constant, variable
from streamcheck.core.types import ArrayType, Misfit, Type, Value, belongs, default
from streamcheck.problem.automaton import Automaton, Edge, Executed
from streamcheck.problem.result import Inconsistent, PathReplay
from streamcheck.problem.verdict import EdgePath

MOST_ELEMENTS = 4096
MOST_STATEMENTS = 400  # each copies the arrays that it changes


def has_large_arrays(automaton: Automaton) -> bool:
    """True if there are too many elements."""
    return sum(_size(v.type) for v in automaton.variables) > MOST_ELEMENTS


def _size(type: Type) -> int:
    return type.length * _size(type.element) if isinstance(type, ArrayType) else 1


def replay_whole(automaton: Automaton, target: str, path: EdgePath) -> PathReplay | Inconsistent | str:
    """The statements of a path to this location, or the reason why it is none."""
    if path.rounds or len(path.edges) > MOST_STATEMENTS:
        return Inconsistent("it has too many statements for arrays of this size")
    here, executed = automaton.entry, list[Executed]()
    try:
        values = {v: _value(v.payload, v.type, path.initial) for v in automaton.variables}
        shown = dict(_scalars(automaton.variables, path.initial))
        first = dict(shown)
        for number, given in path.edges:
            edge = automaton.edges[number]
            if edge.source != here:
                return f"{edge.text} does not begin at {here}"
            chosen = {c: _value(c.payload, c.type, given) for c in edge.choices}
            results = evaluate([*edge.roots()], {**values, **chosen})
            if results[edge.guard] is not True:
                return f"the condition of {edge.text} is false"
            changed = dict(_changes(edge, values, results))
            shown = {**shown, **{v: value for v, (_, value) in changed.items()}}
            values.update({v: results[t] for v, t in edge.updates})
            executed.append(Executed(replace(edge, updates=tuple((v, t) for v, (t, _) in changed.items())), shown))
            here = edge.target
    except Misfit as why:
        return str(why)
    return PathReplay([*executed], first) if here == target else f"it ends at {here}"


def _value(name: object, type: Type, given: Mapping[str, Value]) -> Value:
    """The value of a variable, an array by the elements that are given. Misfit if one is not of its type."""
    if isinstance(type, ArrayType):
        whole, inner = default(type), f"{name}."
        own = sorted({part.removeprefix(inner).split(".")[0] for part in given if part.startswith(inner)})
        if not own:
            return whole
        assert isinstance(whole, tuple)
        elements = list(whole)
        for i in own:
            if not i.isdecimal() or int(i) >= type.length:
                raise Misfit(f"{name} has no element {i}")
            elements[int(i)] = _value(f"{name}.{i}", type.element, given)
        return tuple(elements)
    value = given.get(str(name), default(type))
    if not identical(belongs(type, value), value):
        raise Misfit(f"the value of {name} is not a value of its type")
    return value


def _scalars(variables: Iterable[Term], given: Mapping[str, Value]) -> Iterator[tuple[Term, Value]]:
    """The scalars that are given, and the elements."""
    types = {str(v.payload): v.type for v in variables}
    for name, value in given.items():
        parts = name.split(".")
        of = next((".".join(parts[:n]) for n in range(len(parts), 0, -1) if ".".join(parts[:n]) in types), None)
        if of is not None:
            type = types[of]
            while isinstance(type, ArrayType):
                type = type.element
            yield variable(name, type), value


def _changes(
    edge: Edge, values: Mapping[Term, Value], results: Mapping[Term, Value]
) -> Iterator[tuple[Term, tuple[Term, Value]]]:
    """The scalars that an edge changes, with their new terms, and the elements, with their new values."""
    for v, t in edge.updates:
        if not isinstance(v.type, ArrayType):
            yield v, (t, results[t])
            continue
        changed = _parts(str(v.payload), v.type, results[t], values[v])
        few = [row for row, _ in zip(changed, range(MOST_SHOWN), strict=False)]
        yield from ((variable(name, type), (constant(type, value), value)) for name, type, value in few)


MOST_SHOWN = 16  # elements that one statement changes


def _parts(name: str, type: Type, new: Value, old: Value | None) -> Iterator[tuple[str, Type, Value]]:
    """The scalars of a value, without those that are as they were."""
    if new is old:
        return
    if isinstance(type, ArrayType):
        assert isinstance(new, tuple) and (old is None or isinstance(old, tuple))
        for i, element in enumerate(new):
            yield from _parts(f"{name}.{i}", type.element, element, None if old is None else old[i])
    elif old is None or not identical(new, old):
        yield name, type, new
