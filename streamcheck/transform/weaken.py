"""Specifications with some of their elements free: a stream with any value at every step, an assumption dropped.

A property that a weakened specification still has needs none of what is free: its runs are a superset, and all the
other equations are as they were. (Inductive validity cores [GGW16, Def. 3]: the elements that are kept.)

An element is a wire (one term, whatever names it has), the cells of one delay, or an assumption. Delays without a name
are elements of their own, one in each instance of their line. Two streams of the same expression are one term, and one
element.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from streamcheck.core.term import Term, substitute, variable, variables
from streamcheck.problem.claim import Claim
from streamcheck.problem.needs import Element, ElementKind, Weakened
from streamcheck.problem.specification import Cell, Input, Named, Specification
from streamcheck.transform.fresh import fresh_name


def equations_alone(specification: Specification) -> Specification:
    """The specification without components and what it says of infinite runs: equations, and claims about steps."""
    return replace(specification.about_steps(), instances=(), components=())


def elements_of(specification: Specification) -> tuple[Element, ...]:
    """The elements: assumptions, then equations and delays, in the order of their lines."""
    streams = [*_wires(specification.wires), *_delays(specification.cells)]
    assumptions = [Element("assumption", a.name, a.where, (a.term,)) for a in specification.assumptions]
    return (*assumptions, *sorted(streams, key=_place))


def _place(element: Element) -> tuple[str, int]:
    return (element.where.file, element.where.line) if element.where else ("", 0)


def _wires(wires: Iterable[Named]) -> Iterator[Element]:
    names: dict[Term, list[Named]] = {}
    for wire in wires:
        names.setdefault(wire.term, []).append(wire)
    for t, same in names.items():
        if variables([t]):
            yield Element("equation", same[0].name, same[0].where, (t,), tuple(n.name for n in same[1:]))


def _delays(cells: Iterable[Cell]) -> Iterator[Element]:
    """The cells of one delay together: of `s`, if it is `[1, 2, 3] ++ x`, they are `s`, `s_1` and `s_2`. A line that
    several instances have is a delay in each; so is one that a loop repeats, also if each delays the one before."""
    cells = tuple(cells)
    by_var = {c.var: c for c in cells}
    groups = [_delay(head, by_var) for head in cells]
    inner = {c.name for group in groups for c in group[1:]}
    seen: set[str] = set()
    for group in sorted(groups, key=lambda group: group[0].name in inner):
        own = [c for c in group if c.name not in seen]
        seen |= {c.name for c in own}
        if own:
            kind: ElementKind = "equation" if own[0].named else "delay"
            yield Element(kind, own[0].name, own[0].where, tuple(c.var for c in own))


def _delay(head: Cell, by_var: Mapping[Term, Cell]) -> list[Cell]:
    """The cells that begin with this one, each the next value of the one before, and named by its place."""
    group = [head]
    while (n := by_var.get(group[-1].next)) and n.name == f"{head.name}_{len(group)}" and n.where == head.where:
        group.append(n)
    return group


def weaken(specification: Specification, prop: Claim, freed: Iterable[Element]) -> Weakened:
    """The specification in which these elements are free, and the property there. Only what the property and the
    assumptions depend on is left: no triggers, no observers, no other properties."""
    freed = list(freed)
    free = {t: e for e in freed for t in e.terms if e.kind != "assumption"}
    dropped = {e.name for e in freed if e.kind == "assumption"}
    assumptions = [a for a in specification.assumptions if a.name not in dropped]
    cells = [c for c in specification.cells if c.var not in free]
    inputs, replacement = _free_inputs(specification, free)
    roots = [prop.term, *(a.term for a in assumptions), *(c.next for c in cells)]
    roots += [w.term for w in specification.wires]
    image = substitute([*roots, *specification.call_terms(), *specification.variables()], replacement)
    claim = replace(prop, term=image[prop.term])
    whole = replace(
        specification,
        inputs=(*specification.inputs, *inputs),
        cells=tuple(replace(c, next=image[c.next]) for c in cells),
        wires=tuple(Named(w.name, image[w.term], w.where) for w in specification.wires if w.term not in free),
        triggers=(),
        observers=(),
        properties=(claim,),
        assumptions=tuple(replace(a, term=image[a.term]) for a in assumptions),
        calls=tuple(call.with_images(image) for call in specification.calls),
        warnings=(),
    )
    return Weakened(_needed_part(whole), claim, replacement)


def _free_inputs(specification: Specification, free: dict[Term, Element]) -> tuple[list[Input], dict[Term, Term]]:
    """An input for each free term, and what stands for the term: a cell becomes an input of the same name."""
    taken = {str(v.payload) for v in specification.variables()}
    inputs: list[Input] = []
    replacement: dict[Term, Term] = {}
    for t, element in free.items():
        name = str(t.payload) if t.op == "var" else fresh_name(element.name, taken)
        taken.add(name)
        inputs.append(Input(name, t.type, False, "", "", element.where))
        replacement[t] = variable(name, t.type)
    return inputs, replacement


def _needed_part(whole: Specification) -> Specification:
    """The part that the claims depend on, with its named streams."""
    roots = [c.term for c in (*whole.properties, *whole.assumptions)]
    needed = whole.needed_by(roots)
    calls = tuple(call for call in whole.calls if any(o in needed for o in call.outputs))
    needed = whole.needed_by([*roots, *(t for call in calls for t in call.terms())])
    return replace(
        whole,
        inputs=tuple(i for i in whole.inputs if i.var in needed),
        constants=tuple(c for c in whole.constants if c.var in needed),
        cells=tuple(c for c in whole.cells if c.var in needed),
        wires=tuple(w for w in whole.wires if w.term in needed and w.term.op not in ("var", "const")),
        calls=calls,
    )
