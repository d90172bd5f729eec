"""MC/DC: each condition of a decision decides it, once true and once false."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import replace

from streamcheck.core.simplify import conjunction, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, substitute, term
from streamcheck.core.types import BOOL
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.transform.coverage_goals import (
    OwnedTerm,
    definitions_of,
    names_in,
    names_like,
    reach_conditions,
    side_text,
    unwritten_goal,
)

LOGIC = ("and", "or", "not", "implies", "eq", "ne", "same", "mux")  # of Bool operands


def decision_goals(specification: Specification) -> tuple[Claim, ...]:
    """MC/DC [HVCR01]: for each condition of a decision with several, two goals: it is true, or false, and the decision
    would be another if it alone were. Decisions are Bool streams, guards and conditions of `mux` that outputs depend on
    (all, if there are none); their conditions are what no logical operator makes, or what has a name. Claims are no
    decisions: a true one has no run that makes it false."""
    simple = simplify(specification.roots())
    names = names_in(specification, simple)
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
                text = side_text(simple[atom], names, is_first=is_true)
                wish = f"{owner.owner}: {text} decides"
                if goal not in found:
                    name = next(n for n in names_like(wish) if n not in taken)
                    taken.add(name)
                    found[goal] = unwritten_goal(name, goal, owner.where)
    return tuple(found.values())


def _decisions(specification: Specification, boundaries: Set[Term]) -> Iterator[tuple[OwnedTerm, Term, Term]]:
    """The decisions, each with the condition under which it is asked."""
    outputs = list(specification.outputs())
    needed = specification.needed_by(outputs or specification.roots())
    computed = replace(
        specification,
        wires=tuple(w for w in specification.wires if w.term in needed),
        cells=tuple(c for c in specification.cells if c.var in needed),
        assumptions=(),
        properties=(),
    )
    seen: set[Term] = set()
    for one in definitions_of(computed):
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
