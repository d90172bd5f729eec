"""Loops that are entered at one location.

If all are, every order of the locations in which each comes after those that lead there, but for loops, has the same
edges that go back: a path comes round as often in all of them. And in large blocks as often as in the statements.
"""

from __future__ import annotations

from streamcheck.problem.automaton import Automaton


def locations_in_order(program: Automaton) -> list[str]:
    """The locations, each after those that lead there, but for loops: depth first, and back."""
    order: list[str] = []
    done: set[str] = set()
    stack = [(program.entry, False)]
    while stack:
        location, finished = stack.pop()
        if finished:
            order.append(location)
        elif location not in done:
            done.add(location)
            stack.append((location, True))
            stack.extend((e.target, False) for e in program.edges_from[location] if e.target not in program.bad)
    return order[::-1]


def is_reducible(program: Automaton) -> bool:
    """True if every loop is entered at one location: locations without a loop at themselves that one location alone
    leads to are merged with that, until one is left [HU72, T1 and T2]."""
    following = {q: {e.target for e in program.edges_from[q]} - {q} - program.bad for q in locations_in_order(program)}
    leading: dict[str, set[str]] = {q: set() for q in following}
    for q, targets in following.items():
        for target in targets:
            leading[target].add(q)
    waiting = [q for q in following if len(leading[q]) == 1 and q != program.entry]
    while waiting:
        q = waiting.pop()
        if q not in following or len(leading[q]) != 1:
            continue
        (before,) = leading[q]
        for target in following.pop(q):
            leading[target].discard(q)
            if target != before:
                leading[target].add(before)
                following[before].add(target)
            if len(leading[target]) == 1 and target != program.entry:
                waiting.append(target)
        following[before].discard(q)
    return len(following) == 1
