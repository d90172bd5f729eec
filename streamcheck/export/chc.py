"""A system as constrained Horn clauses, for Spacer, Golem, Eldarica: satisfiable if every property holds.

    I(x)                                     → Reached(x)
    Reached(x) ∧ A(x, i) ∧ x' = T(x, i)      → Reached(x')
    Reached(x) ∧ A(x, i) ∧ ¬P(x, i)          → false          for each property

Of a `reachable` property, satisfiable means that no run gets there.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.smtlib import literal, sort, symbols
from streamcheck.core.term import Term
from streamcheck.export.smt_text import Texts, conjunction_text, one_line
from streamcheck.problem.transition import TransitionSystem


def write_chc(system: TransitionSystem) -> str:
    return "\n".join(_lines(system)) + "\n"


def _lines(system: TransitionSystem) -> Iterator[str]:
    state = [s.var for s in system.state]
    both = [v.payload for v in (*state, *system.inputs)] + [f"{v.payload}'" for v in state]
    chosen = symbols([f"reached by {one_line(system.name)}", *both])
    reached = next(iter(chosen.values()))
    names = {v: chosen[v.payload] for v in (*state, *system.inputs)}
    after = {v: chosen[f"{v.payload}'"] for v in state}
    yield "(set-logic HORN)"
    yield f"(declare-fun {reached} ({' '.join(sort(v.type) for v in state)}) Bool)"
    assumed = [a.term for a in system.assumptions]
    texts = Texts([*assumed, *(s.next for s in system.state)], names.__getitem__)
    if texts.functions:
        yield from texts.functions.values()
    begun = [(v, s.init) for v, s in zip(state, system.state, strict=True) if s.init is not None]
    first = conjunction_text([f"(= {names[v]} {literal(v.type, init.payload)})" for v, init in begun])
    here = _application(reached, [names[v] for v in state])
    yield _clause([(names[v], v) for v in state], first, here)
    moved = [f"(= {after[s.var]} {texts[s.next]})" for s in system.state]
    body = texts.let(conjunction_text([here, *(texts[a] for a in assumed), *moved]))
    variables = [(name, v) for v, name in names.items()]
    yield _clause([*variables, *((after[v], v) for v in state)], body, _application(reached, [after[v] for v in state]))
    for claim in system.properties:
        texts = Texts([*assumed, claim.term], names.__getitem__)
        body = texts.let(conjunction_text([here, *(texts[a] for a in assumed), texts.violation(claim)]))
        yield f"; {one_line(claim.name)}"
        yield _clause(variables, body, "false")
    yield "(check-sat)"


def _application(predicate: str, args: list[str]) -> str:
    return f"({predicate} {' '.join(args)})" if args else predicate


def _clause(variables: list[tuple[str, Term]], body: str, head: str) -> str:
    bound = " ".join(f"({name} {sort(v.type)})" for name, v in variables)
    implication = f"(=> {body} {head})"
    return f"(assert (forall ({bound}) {implication}))" if bound else f"(assert {implication})"
