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
from streamcheck.core.term import FALSE, TRUE, Term, substitute, term, walk
from streamcheck.core.types import BOOL
from streamcheck.problem.claim import IMPLIED, Claim, Goal
from streamcheck.problem.specification import Specification

LONGEST = 60  # characters of a condition in a name
LOGIC = ("and", "or", "not", "implies", "eq", "ne", "same", "mux")  # of Bool operands


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
    fires = (_goal(f"trigger {t.name} fires", t.guard, t.where) for t in specification.triggers)
    for goal in chain(fires, _branches(specification)):
        if goal.term is not TRUE and goal.term not in found:
            name = next(n for n in _names_like(goal.name) if n not in taken)
            taken.add(name)
            found[goal.term] = replace(goal, name=name)
    return tuple(found.values())


def without_assumption(specification: Specification, name: str) -> Specification:
    """The goal that this assumption restricts the runs: one that meets the others breaks it."""
    (assumption,) = (a for a in specification.assumptions if a.name == name)
    goal = _goal(restriction_name(name), negation(assumption.term), assumption.where)
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


def _goal(name: str, term: Term, where: Location | None) -> Claim:
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
    names = _names(specification, simple)
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
                text = _side_text(simple[test], names, is_first=side is test)
                around = "" if condition is TRUE else "… & "
                prefix = f"{one.owner} if" if node.op == "mux" else f"{one.owner}: premise"
                yield _goal(f"{prefix} {around}{text}", simplify([whole])[whole], one.where)


def _names(specification: Specification, simple: Mapping[Term, Term]) -> dict[Term, str]:
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


def _side_text(test: Term, names: Mapping[Term, str], *, is_first: bool) -> str:
    """The condition of a branch in the user's notation, cut if it is long."""
    if not is_first and test in names:
        return f"~{names[test]}"
    side = test if is_first else negation(test)
    text = Printer(names, [side]).use(side)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _names_like(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name} ({i})" for i in count(2))


def decision_goals(specification: Specification) -> tuple[Claim, ...]:
    """MC/DC [HVCR01]: for each condition of a decision with several, two goals: it is true, or false, and the decision
    would be another if it alone were. Decisions are Bool streams, guards, conditions of `mux` and properties; their
    conditions are what no logical operator makes, or what has a name."""
    simple = simplify(specification.roots())
    names = _names(specification, simple)
    boundaries = {w.term for w in specification.wires}
    found: dict[Term, Claim] = {}
    taken: set[str] = set()
    for owner, decision, around in _decisions(specification, boundaries):
        atoms = _atoms(decision, boundaries - {decision})
        for atom in atoms if len(atoms) > 1 else ():
            if simple[atom].is_const:
                continue
            as_true, as_false = (substitute([decision], {atom: value})[decision] for value in (TRUE, FALSE))
            decides = term("ne", as_true, as_false)
            for is_true, value in ((True, atom), (False, negation(atom))):
                whole = conjunction(around, value, decides)
                goal = simplify([whole])[whole]
                text = _side_text(simple[atom], names, is_first=is_true)
                wish = f"{owner.owner}: {text} decides"
                if goal not in found:
                    name = next(n for n in _names_like(wish) if n not in taken)
                    taken.add(name)
                    found[goal] = _goal(name, goal, owner.where)
    return tuple(found.values())


def _decisions(specification: Specification, boundaries: Set[Term]) -> Iterator[tuple[OwnedTerm, Term, Term]]:
    """The decisions, each with the condition under which it is asked."""
    seen: set[Term] = set()
    for one in definitions_of(specification):
        whole = [(one.term, TRUE)] if one.term.type is BOOL else []
        reached = reach_conditions(one.term, boundaries - {one.term})
        tests = [(node.args[0], condition) for node, condition in reached.items() if node.op == "mux"]
        for decision, around in [*whole, *tests]:
            if decision not in seen:
                seen.add(decision)
                yield one, decision, around


def _atoms(decision: Term, boundaries: Set[Term]) -> list[Term]:
    """The conditions of a decision, each once."""
    found: dict[Term, None] = {}
    stack = [decision]
    while stack:
        node = stack.pop()
        is_logical = node.op in LOGIC and node.args and all(a.type is BOOL for a in node.args)
        if is_logical and node not in boundaries:
            stack.extend(reversed(node.args))
        elif not node.is_const:
            found[node] = None
    return list(found)
