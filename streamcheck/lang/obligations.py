"""Implied obligations: division by zero, index, shift and float cast, each under the conditions around it.

A node is reached under the conditions of the branches that lead to it: the side of a `mux`, the left of `implies`
and of a Boolean `&` or `|`, the guard of the trigger it is an argument of. Where several ways lead to it, any of
them. The obligation is that its own condition follows; what simplifies to true is plainly true and is no
obligation. Nodes are read at shifts, as flattening reads them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import count
from typing import TypeAlias

from streamcheck.core.simplify import apply, conjunction, disjunction, implication, negation, simplify
from streamcheck.core.term import TRUE, Term, constant
from streamcheck.core.types import ArrayType, FloatType, MachineType, Type
from streamcheck.lang.node import Node
from streamcheck.problem.claim import IMPLIED, Claim

Key: TypeAlias = tuple[Node, int]


@dataclass(slots=True)
class Reading:
    """What flattening read, from where: each key's needs, the keys in the order they were met, and the roots with
    the condition under which they matter."""

    needs: dict[Key, list[Key]] = field(default_factory=dict)
    order: list[Key] = field(default_factory=list)
    roots: list[tuple[Key, Term | None]] = field(default_factory=list)


KINDS = {
    "floordiv": "no division by zero",
    "mod": "no division by zero",
    "quot": "no division by zero",
    "rem": "no division by zero",
    "div": "no division by zero",
    "index": "index in range",
    "update": "index in range",
    "shl": "shift in range",
    "shr": "shift in range",
    "cast": "cast in range",
}


def obligations(reading: Reading, terms: Mapping[Key, Term], taken: Iterable[str]) -> tuple[Claim, ...]:
    """The implied properties; their names differ from each other and from those taken."""
    bearing = [key for key in reading.order if key[0].op in KINDS and _condition(terms[key]) is not TRUE]
    if not bearing:
        return ()
    reached = _reached(reading, terms, bearing)
    claims = {key: implication(reached[key], _condition(terms[key])) for key in bearing}
    simple = simplify(claims.values())
    found: dict[str, list[tuple[Node, Term]]] = defaultdict(list)
    for key, claim in claims.items():
        if simple[claim] is not TRUE and (key[0], simple[claim]) not in found[_name(key[0])]:
            found[_name(key[0])].append((key[0], simple[claim]))
    return tuple(_properties(found, set(taken)))


def _name(node: Node) -> str:
    return f"{node.where.short} {KINDS[node.op]}"


def _properties(found: Mapping[str, list[tuple[Node, Term]]], taken: set[str]) -> Iterator[Claim]:
    for name, claims in found.items():
        numbers = count(1)
        for node, claim in claims:
            names = (name if i == 1 else f"{name} ({i})" for i in numbers)
            yield Claim(next(n for n in names if n not in taken), claim, node.where, origin=IMPLIED)


def _reached(reading: Reading, terms: Mapping[Key, Term], bearing: Iterable[Key]) -> dict[Key, Term]:
    """Under what condition each key matters, for those that lead to an obligation."""
    above = _above(reading, bearing)
    ways: dict[Key, list[Term]] = defaultdict(list)
    for key, condition in reading.roots:
        ways[key].append(TRUE if condition is None else condition)
    reached: dict[Key, Term] = {}
    for key in _topological(reading, above):
        reached[key] = disjunction(*ways[key])
        for needed, condition in _conditions(key, reading.needs[key], terms):
            if needed in above:
                ways[needed].append(conjunction(reached[key], condition))
    return reached


def _above(reading: Reading, bearing: Iterable[Key]) -> set[Key]:
    users: dict[Key, list[Key]] = defaultdict(list)
    for key, needs in reading.needs.items():
        for needed in needs:
            users[needed].append(key)
    above: set[Key] = set()
    stack = list(bearing)
    while stack:
        key = stack.pop()
        if key not in above:
            above.add(key)
            stack.extend(users[key])
    return above


def _topological(reading: Reading, keys: set[Key]) -> list[Key]:
    """Users before what they need."""
    order: list[Key] = []
    done: set[Key] = set()
    for start in reading.order:
        stack = [(start, False)] if start in keys else []
        while stack:
            key, finished = stack.pop()
            if finished:
                order.append(key)
            elif key not in done:
                done.add(key)
                stack.append((key, True))
                stack.extend((k, False) for k in reading.needs[key] if k in keys and k not in done)
    return order[::-1]


def _conditions(key: Key, needs: list[Key], terms: Mapping[Key, Term]) -> Iterator[tuple[Key, Term]]:
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


# What each operator asks of its operands; what the types alone settle is TRUE.


def _condition(node: Term) -> Term:
    match node.op:
        case "floordiv" | "mod" | "quot" | "rem":
            return _nonzero(node.args[1])
        case "div":
            return _nonzero(node.args[1]) if node.type.kind == "real" else TRUE
        case "index" | "update":
            array = node.args[0].type
            assert isinstance(array, ArrayType)
            return _below(node.args[1], array.length)
        case "shl" | "shr":
            assert isinstance(node.type, MachineType)
            return _below(node.args[1], node.type.width)
        case "cast" if node.args[0].type.kind == "float":
            return _representable(node.args[0], node.type)
    return TRUE


def _nonzero(divisor: Term) -> Term:
    return apply("ne", divisor, constant(divisor.type, Fraction(0) if divisor.type.kind == "real" else 0))


def _below(index: Term, bound: int) -> Term:
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
    """`x strict outside` where the float type has that number, else `x weak inside`, which it has."""
    exact = float(outside)
    if abs(outside) <= 1 << x.type.significand:  # type: ignore[attr-defined]
        return apply(strict, x, constant(x.type, exact))
    return apply(weak or strict, x, constant(x.type, float(inside) if weak else exact))
