"""Implied obligations: division by zero, index, shift and float cast, and what the library requires, each under the
conditions around it.

A node is reached under the conditions of the branches that lead to it: the side of a `mux`, the left of `implies`
and of a Boolean `&` or `|`, the guard of the trigger it is an argument of. If several paths lead to it, any of them.
The obligation is that the path condition implies the operator's own condition; one that simplifies to true is left
out. A `require` node has its condition as its second argument. Nodes are taken at shifts, as in flattening.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import TypeAlias, assert_never

from streamcheck.core.operators import OPERATORS
from streamcheck.core.simplify import apply, conjunction, disjunction, implication, negation, simplify
from streamcheck.core.term import TRUE, Term, constant
from streamcheck.core.types import ArrayType, FloatType, MachineType, Type
from streamcheck.lang.node import Node
from streamcheck.problem.claim import IMPLIED, Claim, Goal

NodeAt: TypeAlias = tuple[Node, int]


@dataclass(slots=True)
class Dependencies:
    """The dependencies that flattening found: the needs of each key, the keys in the order of the search, and the roots
    with the condition under which they matter (None: always)."""

    needs: dict[NodeAt, list[NodeAt]] = field(default_factory=dict)
    order: list[NodeAt] = field(default_factory=list)
    roots: list[tuple[NodeAt, Term | None]] = field(default_factory=list)


def obligations(dependencies: Dependencies, terms: Mapping[NodeAt, Term], taken: Iterable[str]) -> tuple[Claim, ...]:
    """The implied properties; their names differ from each other and from those taken."""
    conditions = {key: _condition_at(key, terms) for key in dependencies.order if _requirement(key[0])}
    bearing = [key for key, condition in conditions.items() if condition is not TRUE]
    if not bearing:
        return ()
    reached = _reach_conditions(dependencies, terms, bearing)
    claims = {key: _claim_where(_goal(key[0]), reached[key], conditions[key]) for key in bearing}
    simple = simplify(claims.values())
    named: dict[str, dict[tuple[Node, Term], None]] = defaultdict(dict)
    for key, claim in claims.items():
        if simple[claim] is not TRUE:
            named[_name(key[0])][key[0], simple[claim]] = None
    return tuple(_properties(named, set(taken)))


def _name(node: Node) -> str:
    return f"{node.where.short} {_requirement(node)}"


def _requirement(node: Node) -> str:
    if node.op == "require":
        return str(node.payload.name)
    row = OPERATORS.get(node.op)
    return "" if row is None else row.requires


def _goal(node: Node) -> Goal:
    return node.payload.goal if node.op == "require" else Goal.ALWAYS


def _claim_where(goal: Goal, reached: Term, condition: Term) -> Term:
    """The condition, where it matters."""
    match goal:
        case Goal.ALWAYS:
            return implication(reached, condition)
        case Goal.REACHABLE:
            return conjunction(reached, condition)
        case Goal.INFINITELY_OFTEN:
            raise ValueError("no operation implies a claim about infinite runs")
    assert_never(goal)


def _properties(named: Mapping[str, Iterable[tuple[Node, Term]]], taken: set[str]) -> Iterator[Claim]:
    for name, claims in named.items():
        numbers = count(1)
        for node, claim in claims:
            names = (name if i == 1 else f"{name} ({i})" for i in numbers)
            yield Claim(next(n for n in names if n not in taken), claim, node.where, _goal(node), IMPLIED)


def _reach_conditions(
    dependencies: Dependencies, terms: Mapping[NodeAt, Term], bearing: Iterable[NodeAt]
) -> dict[NodeAt, Term]:
    """The condition under which each key matters, for the keys that lead to an obligation."""
    above = _above(dependencies, bearing)
    ways: dict[NodeAt, list[Term]] = defaultdict(list)
    for key, condition in dependencies.roots:
        ways[key].append(TRUE if condition is None else condition)
    reached: dict[NodeAt, Term] = {}
    for key in _topological(dependencies, above):
        reached[key] = disjunction(*ways[key])
        for needed, condition in _conditions(key, dependencies.needs[key], terms):
            if needed in above:
                ways[needed].append(conjunction(reached[key], condition))
    return reached


def _above(dependencies: Dependencies, bearing: Iterable[NodeAt]) -> set[NodeAt]:
    users: dict[NodeAt, list[NodeAt]] = defaultdict(list)
    for key, needs in dependencies.needs.items():
        for needed in needs:
            users[needed].append(key)
    above: set[NodeAt] = set()
    stack = list(bearing)
    while stack:
        key = stack.pop()
        if key not in above:
            above.add(key)
            stack.extend(users[key])
    return above


def _topological(dependencies: Dependencies, keys: set[NodeAt]) -> list[NodeAt]:
    """Users before their needs."""
    order: list[NodeAt] = []
    done: set[NodeAt] = set()
    for start in dependencies.order:
        stack = [(start, False)] if start in keys else []
        while stack:
            key, finished = stack.pop()
            if finished:
                order.append(key)
            elif key not in done:
                done.add(key)
                stack.append((key, True))
                stack.extend((k, False) for k in dependencies.needs[key] if k in keys and k not in done)
    return order[::-1]


def _conditions(key: NodeAt, needs: list[NodeAt], terms: Mapping[NodeAt, Term]) -> Iterator[tuple[NodeAt, Term]]:
    match key[0].op:
        case "mux":
            test, then, otherwise = needs
            yield test, TRUE
            yield then, terms[test]
            yield otherwise, negation(terms[test])
        case "and" | "implies":
            yield needs[0], TRUE
            yield needs[1], terms[needs[0]]
        case "or":
            yield needs[0], TRUE
            yield needs[1], negation(terms[needs[0]])
        case _:
            yield from ((needed, TRUE) for needed in needs)


def _condition_at(key: NodeAt, terms: Mapping[NodeAt, Term]) -> Term:
    node, shift = key
    return terms[(node.args[1], shift)] if node.op == "require" else _condition(terms[key])


# The condition of each requirement in the operator table; TRUE if the types alone satisfy it.


def _condition(node: Term) -> Term:
    row = OPERATORS.get(node.op)
    match "" if row is None else row.requires:
        case "no division by zero":
            return TRUE if node.type.kind == "float" else _nonzero(node.args[1])
        case "index in range":
            array = node.args[0].type
            assert isinstance(array, ArrayType)
            return _in_bounds(node.args[1], array.length)
        case "shift in range":
            assert isinstance(node.type, MachineType)
            return _in_bounds(node.args[1], node.type.width)
        case "cast in range":
            return _representable(node.args[0], node.type) if node.args[0].type.kind == "float" else TRUE
        case "":
            return TRUE
        case unknown:
            raise ValueError(f"the operator {node.op} requires {unknown!r}, which has no condition here")


def _nonzero(divisor: Term) -> Term:
    return apply("ne", divisor, constant(divisor.type, Fraction(0) if divisor.type.kind == "real" else 0))


def _in_bounds(index: Term, bound: int) -> Term:
    type = index.type
    low = high = TRUE
    if type.kind != "unsigned":
        low = apply("ge", index, constant(type, 0))
    if not isinstance(type, MachineType) or type.high >= bound:
        high = apply("lt", index, constant(type, bound))
    return conjunction(low, high)


def _representable(x: Term, target: Type) -> Term:
    """The truncated value is one of the target's; comparisons with NaN are false."""
    assert isinstance(x.type, FloatType)
    if isinstance(target, MachineType):
        low, high = _edge(x, target.low - 1, "gt", target.low, "ge"), _edge(x, target.high + 1, "lt", 0, "")
        return conjunction(low, high)
    if target.kind in ("integer", "real"):
        return conjunction(
            apply("gt", x, constant(x.type, -math.inf)),
            apply("lt", x, constant(x.type, math.inf)),
        )
    return TRUE


def _edge(x: Term, outside: int, strict: str, inside: int, weak: str) -> Term:
    """`x strict outside` if the float type has that number, else `x weak inside`, which it has."""
    exact = float(outside)
    if abs(outside) <= 1 << x.type.significand:  # type: ignore[attr-defined]
        return apply(strict, x, constant(x.type, exact))
    return apply(weak or strict, x, constant(x.type, float(inside) if weak else exact))
