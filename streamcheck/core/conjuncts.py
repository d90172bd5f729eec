"""The conjuncts of conditions, and what they show about two conditions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, TRUE, Term


def exclusive(guards: Sequence[Term]) -> bool:
    """True if any two of the guards contradict each other syntactically: a conjunct of one negates one of the other."""
    parts = [frozenset(conjuncts(g)) for g in guards if g is not FALSE]
    denied = [_contradictions(known) for known in parts]
    return all(
        _contradicts(denied[i], parts[j]) or _contradicts(denied[j], parts[i])
        for i, j in combinations(range(len(parts)), 2)
    )


def _contradictions(parts: Iterable[Term]) -> dict[Term, list[list[Term]]]:
    """The conditions that together contradict the parts, indexed by the first of them."""
    contradictions: dict[Term, list[list[Term]]] = {}
    for part in parts:
        first, *rest = conjuncts(negation(part)) or [TRUE]
        contradictions.setdefault(first, []).append(rest)
    return contradictions


def _contradicts(denied: Mapping[Term, list[list[Term]]], parts: frozenset[Term]) -> bool:
    return any(parts.issuperset(rest) for first in parts.intersection(denied) for rest in denied[first])


def decider(a: Term, b: Term) -> Term | None:
    """A condition that guard `a` implies and guard `b` excludes. None if their conjuncts show none."""
    for ours, theirs, swapped in ((conjuncts(a), conjuncts(b), False), (conjuncts(b), conjuncts(a), True)):
        known = set(ours)
        for part in theirs:
            opposite = negation(part)
            if known.issuperset(conjuncts(opposite)):
                return part if swapped else opposite
    return None


def conjuncts(a: Term) -> list[Term]:
    """The operands of nested conjunctions (and of negated disjunctions), in order; none of what is always true."""
    parts: dict[Term, None] = {}
    stack = [a]
    while stack:
        node = stack.pop()
        inner = node.args[0] if node.op == "not" else node
        if node.op == "and":
            stack.extend(reversed(node.args))
        elif inner is not node and inner.op == "or":
            stack.extend(negation(a) for a in reversed(inner.args))
        elif node is not TRUE:
            parts[node] = None
    return list(parts)


def disjuncts(a: Term) -> list[Term]:
    """The operands of nested disjunctions; none of what is never true."""
    return [negation(part) for part in conjuncts(negation(a))]
