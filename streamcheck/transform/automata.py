"""Automata as equations: the thesis' transition system of a control-flow automaton (section 3.3), in functional form.

    I = (at = entry)        T = ⋁ over edges (q, s, r):  at = q ∧ δ_s ∧ at' = r        P = (at ≠ error)

One cell says where the program is, and each variable is a cell that begins with any value. What an edge chooses, and
which of several open edges is taken, are inputs. Where no edge is open the program stands still, which reaches nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from streamcheck.core.simplify import choice, conjunction, negation, simplify
from streamcheck.core.term import Term, constant, variable, variables
from streamcheck.core.types import INT, default
from streamcheck.problem.automaton import HIDDEN, Automaton, Edge, Error, Program, conjuncts
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim
from streamcheck.problem.specification import Cell, Input, Specification
from streamcheck.transform.integers import Inexpressible, Integers
from streamcheck.transform.scalars import scalars


def program_equations(program: Program) -> Specification:
    cfa = program.blocks
    taken = {q: _taken(cfa, q) for q in cfa.locations}
    chosen = dict.fromkeys(v for e in cfa.edges for v in e.choices)
    inputs = [*chosen, *(v for q in cfa.locations for v in cfa.selectors(q))]
    cells = [Cell(cfa.place.payload, cfa.code(cfa.entry), _moved(cfa, taken), None)]
    for v in cfa.variables:
        cells.append(Cell(v.payload, constant(v.type, default(v.type)), _changed(cfa, taken, v), None, free=True))
    return Specification(
        cfa.name,
        tuple(Input(v.payload, v.type, False, "", "", None) for v in inputs),
        (),
        tuple(cells),
        (),
        (),
        (),
        tuple(_claim(cfa, e) for e in cfa.errors),
        (),
        None,
        program=program,
    )


def _claim(cfa: Automaton, error: Error) -> Claim:
    origin = IMPLIED if error.implied else WRITTEN
    return Claim(error.name, negation(cfa.at(error.location)), error.where, origin=origin)


def _taken(cfa: Automaton, location: str) -> list[Term]:
    """For each edge that leaves: whether it is taken, given that no earlier one is."""
    edges, selectors = cfa.leaving[location], cfa.selectors(location)
    chosen = [conjunction(s, e.guard) for s, e in zip(selectors, edges, strict=False)]
    return chosen + [e.guard for e in edges[len(chosen) :]]


def _moved(cfa: Automaton, taken: dict[str, list[Term]]) -> Term:
    result = cfa.place
    for q in reversed(cfa.locations):
        if taken[q]:
            targets = [cfa.code(e.target) for e in cfa.leaving[q]]
            result = choice(cfa.at(q), _first(taken[q], targets, cfa.place), result)
    return result


def _changed(cfa: Automaton, taken: dict[str, list[Term]], v: Term) -> Term:
    result = v
    for q in reversed(cfa.locations):
        news = [e.update.get(v, v) for e in cfa.leaving[q]]
        if any(new is not v for new in news):
            result = choice(cfa.at(q), _first(taken[q], news, v), result)
    return result


def _first(conditions: Sequence[Term], values: Sequence[Term], otherwise: Term) -> Term:
    """The value of the first condition that holds."""
    result = otherwise
    for i in reversed(range(len(values))):
        complete = i == len(values) - 1 and i and negation(conditions[i]) in conditions[:i]
        result = values[i] if complete else choice(conditions[i], values[i], result)
    return result


def scalar(cfa: Automaton) -> Automaton:
    """Arrays and structs taken apart."""
    parts = scalars(cfa.variables)
    edges = []
    for edge in cfa.edges:
        scalars(edge.choices, parts)
        scalars(edge.roots(), parts)
        updates = [pair for v, t in edge.updates for pair in zip(parts[v], parts[t], strict=True)]
        choices = tuple(part for c in edge.choices for part in parts[c])
        edges.append(replace(edge, guard=parts[edge.guard][0], updates=tuple(updates), choices=choices))
    return replace(cfa, variables=tuple(part for v in cfa.variables for part in parts[v]), edges=tuple(edges))


def in_integers(cfa: Automaton) -> Automaton:
    """The same automaton over Int, where `ranges_of` it holds. An update counts only where the guard does: what that
    says of the size of a sum may show that it does not wrap. Inexpressible where it has no such form."""
    m = Integers()
    edges = tuple(_edge_in_integers(e, m) for e in cfa.edges)
    return replace(cfa, variables=tuple(m.value(v) for v in cfa.variables), edges=edges)


def expressible(cfa: Automaton) -> Automaton:
    """The automaton with any value for what has no form over Int, and without such conditions: it has every run that
    the given one has, so what holds of its runs holds. Itself where all has a form."""
    edges = tuple(_expressible(e, i) for i, e in enumerate(cfa.edges))
    return cfa if all(a is b for a, b in zip(edges, cfa.edges, strict=True)) else replace(cfa, edges=edges)


def _expressible(edge: Edge, number: int) -> Edge:
    if _has_form(edge.roots()):
        return edge
    simple = simplify(edge.roots())
    guard = conjunction(*(part for part in conjuncts(simple[edge.guard]) if _has_form([part])))
    updates, choices = list[tuple[Term, Term]](), list(edge.choices)
    for i, (v, t) in enumerate(edge.updates):
        new = simple[t]
        if not _has_form([new]):
            new = variable(f"{HIDDEN}any {number}.{i}", v.type)
            choices.append(new)
        updates.append((v, new))
    return replace(edge, guard=guard, updates=tuple(updates), choices=tuple(choices))


def _has_form(terms: Iterable[Term]) -> bool:
    try:
        Integers().translate(terms)
    except Inexpressible:
        return False
    return True


def terms_in_integers(terms: Iterable[Term]) -> tuple[Term, ...]:
    m = Integers()
    return tuple(m.value(t) for t in terms)


def ranges_of(cfa: Automaton) -> Term:
    """That every variable and every choice is in the range of its type, said of the automaton over Int."""
    m = Integers()
    typed = [*cfa.variables, *dict.fromkeys(c for e in cfa.edges for c in e.choices)]
    m.translate(typed)
    return conjunction(*(r.term for v in typed for r in m.ranges(v)))


def guarded(cfa: Automaton, ranges: Term) -> Automaton:
    """The automaton with the ranges of what they read in the guards."""
    by_variable: dict[Term, list[Term]] = {}
    for part in conjuncts(ranges):
        for v in variables([part]):
            by_variable.setdefault(v, []).append(part)
    return replace(cfa, edges=tuple(_guarded(e, by_variable) for e in cfa.edges))


def _guarded(edge: Edge, ranges: Mapping[Term, list[Term]]) -> Edge:
    read = (r for v in variables(edge.roots()) for r in ranges.get(v, ()))
    return replace(edge, guard=conjunction(edge.guard, *read))


def _edge_in_integers(edge: Edge, m: Integers) -> Edge:
    m.translate((edge.guard, *edge.choices))
    choices = tuple(m.value(c) for c in edge.choices)
    guard = m.value(edge.guard)
    inside = Integers(_bounds(guard))
    inside.translate(edge.roots())
    updates = tuple((m.value(v), inside.value(t)) for v, t in edge.updates)
    return replace(edge, guard=guard, updates=updates, choices=choices)


def _bounds(guard: Term) -> dict[Term, tuple[float, float]]:
    """What the guard's conjuncts say of the size of Int terms."""
    found: dict[Term, tuple[float, float]] = {}
    for part in conjuncts(guard):
        if part.op not in ("lt", "le", "gt", "ge", "eq") or part.args[0].type is not INT:
            continue
        (a, b), op = part.args, part.op
        if a.is_const:
            a, b, op = b, a, {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}.get(op, op)
        if b.is_const:
            low, high = found.get(a, (-math.inf, math.inf))
            bound = int(b.payload)
            if op in ("gt", "ge", "eq"):
                low = max(low, bound + (op == "gt"))
            if op in ("lt", "le", "eq"):
                high = min(high, bound - (op == "lt"))
            found[a] = low, high
    return found
