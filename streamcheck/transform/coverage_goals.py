"""Goals that some run should reach: branches, premises, triggers. They are claims, which engines reach or refute.

A `mux` is asked for both branches, an `implies` for its premise; of a nested one, under the conditions around it in the
same definition. Several ways to one node are a disjunction. A condition that is constant once written out, as macros
leave them, has no goals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import chain, count

from streamcheck.core.location import Location
from streamcheck.core.printer import Printer
from streamcheck.core.simplify import conjunction, disjunction, negation, simplify
from streamcheck.core.term import TRUE, Term, walk
from streamcheck.problem.claim import IMPLIED, Claim, Goal
from streamcheck.problem.specification import Specification

LONGEST = 60  # characters of a condition in a name


@dataclass(frozen=True, slots=True)
class OwnedTerm:
    """A term that the user wrote in one place, with its name for people."""

    owner: str
    where: Location | None
    term: Term


def with_goals(specification: Specification) -> Specification:
    """The specification with its goals as properties that should be reachable."""
    return replace(specification, properties=(*specification.properties, *goals_of(specification)))


def goals_of(specification: Specification) -> tuple[Claim, ...]:
    """The goals, each once; their names are those of no property."""
    taken = {p.name for p in specification.properties}
    found: dict[Term, Claim] = {}
    fires = (unwritten_goal(f"trigger {t.name} fires", t.guard, t.where) for t in specification.triggers)
    for goal in chain(fires, _modes(specification), _branches(specification)):
        if goal.term is not TRUE and goal.term not in found:
            name = next(n for n in names_like(goal.name) if n not in taken)
            taken.add(name)
            found[goal.term] = replace(goal, name=name)
    return tuple(found.values())


def _modes(specification: Specification) -> Iterator[Claim]:
    """Each mode of each instance's contract is active at some step at which its assumptions have held. (Modes of Lustre
    are asked about in any case.)"""
    asked = {p.name for p in specification.properties if p.goal is Goal.REACHABLE}
    for instance in specification.instances:
        path = f"{instance.name}." if instance.name else ""
        for mode in instance.modes:
            if f"{path}{mode.name}" not in asked:
                active = conjunction(instance.held, instance.assumes, mode.term)
                yield unwritten_goal(f"{path}mode {mode.name} is active", active, mode.where)


def without_assumption(specification: Specification, name: str) -> Specification:
    """The goal that this assumption restricts the runs: one that meets the others breaks it."""
    (assumption,) = (a for a in specification.assumptions if a.name == name)
    goal = unwritten_goal(restriction_name(name), negation(assumption.term), assumption.where)
    others = tuple(a for a in specification.assumptions if a is not assumption)
    return replace(specification, assumptions=others, properties=(goal,))


def restriction_name(assumption: str) -> str:
    """The name of the goal that an assumption restricts the runs."""
    return f"assumption {assumption} restricts"


def with_goal(specification: Specification, name: str) -> Specification:
    """The specification with the goal of this name as its property, if there is such a goal and no property has the
    name; else as it is."""
    if any(p.name == name for p in specification.properties):
        return specification
    for assumption in specification.assumptions:
        if restriction_name(assumption.name) == name:
            return without_assumption(specification, assumption.name)
    goals = tuple(goal for goal in goals_of(specification) if goal.name == name)
    return replace(specification, properties=(*specification.properties, *goals))


def unwritten_goal(name: str, term: Term, where: Location | None) -> Claim:
    """A goal that the user did not write."""
    return Claim(name, term, where, Goal.REACHABLE, IMPLIED)


def definitions_of(specification: Specification) -> Iterator[OwnedTerm]:
    """The definitions: streams with names, delays, triggers, observers and claims that the user wrote."""
    for wire in specification.wires:
        yield OwnedTerm(wire.name, wire.where, wire.term)
    for cell in specification.cells:
        owner = cell.name if cell.named or cell.where is None else f"‹line {cell.where.line}›"
        yield OwnedTerm(owner, cell.where, cell.next)
    for trigger in specification.triggers:
        for t in trigger.terms():
            yield OwnedTerm(f"trigger {trigger.name}", trigger.where, t)
    for observer in specification.observers:
        yield OwnedTerm(observer.name, observer.where, observer.term)
    for claim in (*specification.assumptions, *specification.properties):
        if not claim.is_implied:
            yield OwnedTerm(claim.name, claim.where, claim.term)


def _branches(specification: Specification) -> Iterator[Claim]:
    named = {w.term for w in specification.wires}
    simple = simplify(specification.roots())
    names = names_in(specification, simple)
    seen: set[Term] = set()
    for one in definitions_of(specification):
        if one.term in seen:
            continue
        seen.add(one.term)
        for node, condition in reach_conditions(one.term, named - {one.term}).items():
            if node.op not in ("mux", "implies") or simple[node.args[0]].is_const:
                continue
            test = node.args[0]
            for side in (test, negation(test)) if node.op == "mux" else (test,):
                whole = conjunction(condition, side)
                text = side_text(simple[test], names, is_first=side is test)
                around = "" if condition is TRUE else "… & "
                prefix = f"{one.owner} if" if node.op == "mux" else f"{one.owner}: premise"
                yield unwritten_goal(f"{prefix} {around}{text}", simplify([whole])[whole], one.where)


def names_in(specification: Specification, simple: Mapping[Term, Term]) -> dict[Term, str]:
    """The names of streams in conditions, which are simplified; delays without a name by their line."""
    names: dict[Term, str] = {}
    for wire in specification.wires:
        if not simple[wire.term].is_const:
            names.setdefault(simple[wire.term], wire.name)
    for cell in specification.cells:
        if not cell.named and cell.where is not None:
            names[cell.var] = f"‹line {cell.where.line}›"
    return names


def reach_conditions(root: Term, boundaries: Set[Term]) -> Mapping[Term, Term]:
    """Each node of the definition, the root first, with the condition under which its value is used there."""
    nodes = list(walk([root], set(boundaries)))
    ways: dict[Term, list[Term]] = {root: [TRUE]}
    reached: dict[Term, Term] = {}
    for node in reversed(nodes):
        if node not in ways:
            continue
        reached[node] = condition = disjunction(*ways[node])
        for i, arg in enumerate(node.args):
            edge = TRUE
            if i and node.op in ("mux", "implies"):
                edge = node.args[0] if i == 1 else negation(node.args[0])
            if arg not in boundaries:
                ways.setdefault(arg, []).append(conjunction(condition, edge))
    return reached


def side_text(test: Term, names: Mapping[Term, str], *, is_first: bool) -> str:
    """The condition of a branch in the user's notation, cut if it is long."""
    if not is_first and test in names:
        return f"~{names[test]}"
    side = test if is_first else negation(test)
    text = Printer(names, [side]).use(side)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def names_like(name: str) -> Iterator[str]:
    """The name, then the name with numbers."""
    yield name
    yield from (f"{name} ({i})" for i in count(2))
