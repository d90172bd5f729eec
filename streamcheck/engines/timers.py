"""Timers: state variables of which some branch of the next value is the variable itself plus or minus a constant.

    mux(running & (left > 0), left - 1, …)        down from where it is set: the higher it is, the longer the run
    mux(on, mux(on_for < limit, on_for + 1, …))   up to a limit: the higher that one is, if it is no constant

The strategy looks for them too (`run.features`): no solver is loaded here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from streamcheck.core.term import Term, constant, fold, term, walk
from streamcheck.problem.transition import TransitionSystem

MOST_TIMERS = 8
MOST_GOALS = 2  # of a timer
MOST_OFFSETS = 8  # constants that are added to a variable
MOST_VARIABLES = 16  # that a number may be
LARGEST_OFFSET = 1 << 16


@dataclass(frozen=True, slots=True)
class Timer:
    """A state variable that changes by an amount in some steps."""

    var: Term
    amount: int
    changes: Term  # true in these steps
    goals: tuple[Term, ...]  # numbers such that the timer runs the longer, the higher they are


def timers_of(system: TransitionSystem) -> list[Timer]:
    """The timers that change by the least amounts, those that count down first."""
    if system.has_floats:
        return []
    nexts = [s.next for s in system.state if s.var.type.is_integer]
    offsets = fold(nexts, _offsets)
    limits = _limits(system)
    found = [
        Timer(s.var, amount, term("same", s.next, _plus(s.var, amount)), goals)
        for s in system.state
        if s.var.type.is_integer
        for amount in offsets[s.next].get(s.var, ())
        if 0 < abs(amount) <= LARGEST_OFFSET
        for goals in [(s.var,) if amount < 0 else tuple(limits.get(s.var, ()))[:MOST_GOALS]]
    ]
    return sorted(found, key=lambda t: (abs(t.amount), t.amount))[:MOST_TIMERS]


def _offsets(node: Term, below: list[dict[Term, frozenset[int]]]) -> dict[Term, frozenset[int]]:
    """The variables that a number is, on some branch, but for a constant that is added."""
    if not node.type.is_integer:
        return {}
    match node.op:
        case "var":
            return {node: frozenset((0,))}
        case "mux" | "min" | "max" | "cast":
            return reduce(_union, below[1:] if node.op == "mux" else below)
        case "add" | "sub" if node.args[1].is_const:
            amount = node.args[1].payload if node.op == "add" else -node.args[1].payload
            return {v: frozenset(n + amount for n in ns) for v, ns in below[0].items()}
        case "add" if node.args[0].is_const:
            return {v: frozenset(n + node.args[0].payload for n in ns) for v, ns in below[1].items()}
    return {}


def _union(a: dict[Term, frozenset[int]], b: dict[Term, frozenset[int]]) -> dict[Term, frozenset[int]]:
    both = {v: a.get(v, frozenset()) | b.get(v, frozenset()) for v in {**a, **b}}
    if len(both) > MOST_VARIABLES:
        return {}
    return {v: frozenset(sorted(ns, key=abs)[:MOST_OFFSETS]) for v, ns in both.items()}


def _limits(system: TransitionSystem) -> dict[Term, dict[Term, None]]:
    """The numbers that a variable, or a sum with a constant, is compared with, if they may change."""
    found: dict[Term, dict[Term, None]] = {}
    compared = [n for n in walk(system.roots()) if n.op in ("lt", "le", "gt", "ge", "eq", "ne", "same")]
    offsets = fold([a for n in compared for a in n.args], _offsets)
    for node in compared:
        for number, limit in (node.args, node.args[::-1]):
            if limit.type.is_integer and not limit.is_const:
                for var in offsets[number]:
                    if var is not limit and var not in offsets[limit]:
                        found.setdefault(var, {})[limit] = None
    return found


def _plus(var: Term, amount: int) -> Term:
    return term("add" if amount > 0 else "sub", var, constant(var.type, abs(amount)))
