"""A system as VMT-LIB, for ic3ia, Pono, nuXmv: SMT-LIB definitions with annotations.

Assumptions go into the transition and, for the present step, into the properties: `A → P` is violated if P is violated
in a run that has met every assumption so far. A `reachable` property is written as the invariant that it never holds,
under the name `never …`.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.core.smtlib import literal, sort, symbols
from streamcheck.core.term import Term
from streamcheck.export.smt_text import Texts, conjunction_text
from streamcheck.problem.claim import Goal
from streamcheck.problem.transition import TransitionSystem


def write_vmt(system: TransitionSystem) -> str:
    return "\n".join(_lines(system)) + "\n"


def _lines(system: TransitionSystem) -> Iterator[str]:
    names, after, claimed = _names(system)
    assumed = [a.term for a in system.assumptions]
    claims = [c.term for c in system.properties]
    texts = Texts([*assumed, *claims, *(s.next for s in system.state)], names.__getitem__)
    for v, name in names.items():
        yield f"(declare-fun {name} () {sort(v.type)})"
    for n, s in enumerate(system.state):
        yield f"(declare-fun {after[s.var]} () {sort(s.var.type)})"
        yield f"(define-fun sv!{n} () {sort(s.var.type)} (! {names[s.var]} :next {after[s.var]}))"
    yield from texts.functions.values()
    yield from (f"(define-fun {n.name} () {sort(n.node.type)} {n.text})" for n in texts.named)
    begun = [f"(= {names[s.var]} {literal(s.var.type, s.init.payload)})" for s in system.state if s.init is not None]
    yield f"(define-fun init! () Bool (! {conjunction_text(begun)} :init true))"
    moved = [f"(= {after[s.var]} {texts[s.next]})" for s in system.state]
    condition = conjunction_text([texts[a] for a in assumed])
    trans = conjunction_text([*moved, *([condition] if assumed else [])])
    yield f"(define-fun trans! () Bool (! {trans} :trans true))"
    for i, (claim, name) in enumerate(zip(system.properties, claimed, strict=True)):
        text = f"(=> {condition} {texts.invariant(claim)})" if assumed else texts.invariant(claim)
        yield f"(define-fun {name} () Bool (! {text} :invar-property {i}))"


def _names(system: TransitionSystem) -> tuple[dict[Term, str], dict[Term, str], list[str]]:
    """Symbols for the variables, for the state's next values, and for the properties."""
    state = [s.var for s in system.state]
    taken = [v.payload for v in (*state, *system.inputs)] + [f"{v.payload}'" for v in state]
    claimed: list[str] = []
    for claim in system.properties:
        name = f"never {claim.name}" if claim.goal is Goal.REACHABLE else claim.name
        while name in taken or name in claimed:
            name += " (property)"
        claimed.append(name)
    chosen = symbols([*taken, *claimed])
    names = {v: chosen[v.payload] for v in (*state, *system.inputs)}
    return names, {v: chosen[f"{v.payload}'"] for v in state}, [chosen[name] for name in claimed]
