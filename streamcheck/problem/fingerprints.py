"""Fingerprints: digests of claims, and names of variables, that depend on nothing but equations.

Two claims with the same fingerprint ask the same question, whatever the names of files, the lines, and the names of
delays, and whatever else the problem holds. So evidence that is kept under a fingerprint serves the claim after edits
elsewhere. Nothing is believed because of a fingerprint: whoever finds evidence by one has it checked.

    input                   its name and type (an unknown: its place among those of its type)
    choice of a program     its place among them
    cell                    its first and next value. Cells that need each other are digested together: each is known
                            inside by its place among them
    other terms             the operator and the digests of its operands
    claim of a specification    its term, its goal, all assumptions and all calls
    claim of a program          the whole program, without names of locations, and the place of its error
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any, assert_never

from streamcheck.core.term import Term, plain, walk
from streamcheck.core.types import ArrayType, EnumType, StructType, Type, part_names
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.claim import Claim
from streamcheck.problem.problem import Problem
from streamcheck.problem.specification import Cell, Specification

MOST_NAMED = 4096  # scalars of one variable


class Fingerprints:
    """The fingerprints of one problem. `names` has another name for every scalar of a variable, `#` and a digest."""

    def __init__(self, problem: Problem) -> None:
        self._context: tuple[str, ...]
        self._digests: dict[Term, str] = {}
        self.names: dict[str, str] = {}
        match problem:
            case Specification():
                _digest_specification(problem, self._digests)
                assumed = sorted(self._digests[a.term] for a in problem.assumptions)
                calls = sorted(_digest(c.function, *(self._digests[t] for t in c.terms())) for c in problem.calls)
                fair = sorted(self._digests[f.term] for f in problem.fairness)
                self._context = "specification", _digest(*assumed), _digest(*calls), *fair
                self.names = _names(problem, self._digests)
            case Automaton():
                choices = list(dict.fromkeys(c for e in problem.edges for c in e.choices))
                self._digests |= {c: _digest("choice", str(i), _type_text(c.type)) for i, c in enumerate(choices)}
                self._context = "program", _digest_of_automaton(problem, self._digests)
                for i, choice in enumerate(choices):
                    self.names |= _part_names(choice, f"#choice {i}")
            case _:
                assert_never(problem)
        self._places = {name: i for i, name in enumerate(problem.locations)} if isinstance(problem, Automaton) else {}
        self._errors = {e.name: e.location for e in problem.errors} if isinstance(problem, Automaton) else {}

    def of_claim(self, claim: Claim) -> str:
        term = str(self._places[self._errors[claim.name]]) if self._errors else self._digests[claim.term]
        return _digest(*self._context, claim.goal.value, term)


def _digest(*parts: str) -> str:
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


@lru_cache(1000)
def _type_text(type: Type) -> str:
    match type:
        case ArrayType():
            return f"{type.length} of {_type_text(type.element)}"
        case StructType():
            return f"{type.name}({', '.join(f'{name}: {_type_text(t)}' for name, t in type.fields)})"
        case EnumType():
            return f"{type.name}{type.members}"
    return str(type)


def _node_digest(node: Term, args: Iterable[str]) -> str:
    payload: Any = node.payload
    text = "" if isinstance(payload, Type) else repr(plain(payload))
    return _digest(node.op, _type_text(node.type), text, *args)


def _digest_specification(specification: Specification, digests: dict[Term, str]) -> None:
    """Add the digest of every term of the specification."""
    counts = Counter[str]()
    leaves = [("extern" if i.extern else "unknown", i.var) for i in specification.inputs]
    leaves += [("constant", c.var) for c in specification.constants]
    for kind, var in leaves:
        kind_and_type = f"{kind} {_type_text(var.type)}"
        counts[kind_and_type] += 1
        which = str(var.payload) if kind == "extern" else str(counts[kind_and_type])
        digests[var] = _digest(kind_and_type, which)
    cells = {c.var: (i, c) for i, c in enumerate(specification.cells)}
    done = set(digests)

    def needs_of(node: Term) -> Sequence[Term]:
        return (cells[node][1].initial, cells[node][1].next) if node in cells else node.args

    roots = [*specification.variables(), *specification.roots(), *specification.call_terms()]
    for part in components(roots, needs_of):
        together = [cell for _, cell in sorted((cells[n] for n in part if n in cells), key=lambda row: row[0])]
        if together:
            _digest_cells(together, digests, done)
        elif part[0] not in digests:
            digests[part[0]] = _node_digest(part[0], [digests[a] for a in part[0].args])
        done.update(part)


def _digest_cells(cells: Sequence[Cell], digests: dict[Term, str], done: set[Term]) -> None:
    """Add the digests of cells that need each other, and of the terms between them."""
    inner = {cell.var: f"cell {i}" for i, cell in enumerate(cells)}
    between = [node for node in walk([c.next for c in cells], done) if node not in inner]
    for node in between:
        inner[node] = _node_digest(node, [inner.get(a) or digests[a] for a in node.args])
    rows = [_digest(digests[c.initial], inner.get(c.next) or digests[c.next], c.name if c.free else "") for c in cells]
    whole = _digest(*rows)
    for i, cell in enumerate(cells):
        digests[cell.var] = _digest("cell", whole, str(i))
    for node in between:
        digests[node] = _node_digest(node, [digests[a] for a in node.args])


def _names(specification: Specification, digests: dict[Term, str]) -> dict[str, str]:
    """By the name of each scalar its name by digest; equal cells are told apart by their order."""
    names: dict[str, str] = {}
    equals = Counter[str]()
    for var in specification.variables():
        digest = digests[var]
        equals[digest] += 1
        names |= _part_names(var, f"#{digest}" + (f"-{equals[digest]}" if equals[digest] > 1 else ""))
    return names


def _part_names(var: Term, other: str) -> dict[str, str]:
    """The other name of the variable, by scalars. Those of an array that is too large for variables are not named."""
    name = str(var.payload)
    parts = islice(part_names(name, var.type), MOST_NAMED + 1)
    names = {part: other + part.removeprefix(name) for part, _ in parts}
    return names if len(names) <= MOST_NAMED else {}


def _digest_of_automaton(automaton: Automaton, digests: dict[Term, str]) -> str:
    places = {name: str(i) for i, name in enumerate(automaton.locations)}

    def of(root: Term) -> str:
        for node in walk([root], done):
            digests[node] = _node_digest(node, [digests[a] for a in node.args])
        return digests[root]

    done = set(digests)
    edges = [
        _digest(
            places[e.source],
            places[e.target],
            of(e.guard),
            *(of(t) for update in e.updates for t in update),
            "choices",
            *(of(c) for c in e.choices),
        )
        for e in automaton.edges
    ]
    return _digest(places[automaton.entry], automaton.integers, *map(of, automaton.variables), "edges", *edges)


def components(roots: Iterable[Term], needs_of: Callable[[Term], Sequence[Term]]) -> Iterator[list[Term]]:
    """The strongly connected components of what the roots need, each after those that it needs (Tarjan's algorithm)."""
    index: dict[Term, int] = {}
    low: dict[Term, int] = {}
    open_nodes: dict[Term, None] = {}  # in the order in which they were found
    for root in roots:
        work: list[tuple[Term, Iterator[Term]]] = []
        _enter(root, index, low, open_nodes, work, needs_of)
        while work:
            node, rest = work[-1]
            child = next(rest, None)
            if child is not None:
                if child in open_nodes:
                    low[node] = min(low[node], index[child])
                _enter(child, index, low, open_nodes, work, needs_of)
                continue
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == index[node]:
                part: list[Term] = []
                while not part or part[-1] is not node:
                    part.append(open_nodes.popitem()[0])
                yield part


def _enter(
    node: Term,
    index: dict[Term, int],
    low: dict[Term, int],
    open_nodes: dict[Term, None],
    work: list[tuple[Term, Iterator[Term]]],
    needs_of: Callable[[Term], Sequence[Term]],
) -> None:
    if node not in index:
        index[node] = low[node] = len(index)
        open_nodes[node] = None
        work.append((node, iter(needs_of(node))))
