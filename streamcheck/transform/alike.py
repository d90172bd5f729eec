"""Systems that differ in the names of their variables alone: instances of one component.

What an engine finds for one of them holds for all, if the variables are put in each other's place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from streamcheck.core.term import Term, substitute, walk
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate


@dataclass(frozen=True, slots=True)
class Copy:
    """Another system like the first: its properties by those of the first, and its variables."""

    properties: Mapping[str, str]
    variables: Mapping[Term, Term]

    def certificate(self, certificate: Certificate) -> Certificate:
        """The certificate of the first system, about this one."""
        images = substitute((*certificate.invariants, *certificate.equalities), self.variables)
        return replace(
            certificate,
            invariants=tuple(images[t] for t in certificate.invariants),
            equalities=tuple(images[t] for t in certificate.equalities),
        )


def alike(systems: Iterable[TransitionSystem]) -> list[tuple[TransitionSystem, list[Copy]]]:
    """The first of each kind, and the others like it."""
    kinds: dict[object, tuple[TransitionSystem, list[Term], list[Copy]]] = {}
    for system in systems:
        form, variables = _form(system)
        if form not in kinds:
            kinds[form] = (system, variables, [])
            continue
        first, known, copies = kinds[form]
        names = zip(first.properties, system.properties, strict=True)
        copies.append(Copy({a.name: b.name for a, b in names}, dict(zip(known, variables, strict=True))))
    return [(first, copies) for first, _, copies in kinds.values()]


def _form(system: TransitionSystem) -> tuple[object, list[Term]]:
    """All of the system but the names of its variables, and these in the order of their first use."""
    state = {s.var: s for s in system.state}
    numbers: dict[Term, int] = {}
    done: set[Term] = set()
    rows: list[object] = [len(system.properties), len(system.state), len(system.inputs)]
    variables: list[Term] = []

    def write(roots: Sequence[Term]) -> None:
        for node in walk(roots, done):
            numbers[node] = len(numbers)
            payload = (node in state) if node.op == "var" else node.payload
            rows.append((node.op, node.type, type(payload), payload, *(numbers[a] for a in node.args)))
            variables.extend([node] if node.op == "var" else [])
        rows.append(tuple(numbers[root] for root in roots))

    write([claim.term for claim in (*system.properties, *system.assumptions)])
    for var in variables:  # which grows
        if var in state:
            cell = state[var]
            write([cell.next] if cell.init is None else [cell.next, cell.init])
    return tuple(rows), variables
