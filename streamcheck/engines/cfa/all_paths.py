"""Refutations of sets of paths: every path of a length from the entry to the error, or one path.

[Tegzes, section 3.2.1, "refute all paths" and "refute specific path"]. A set of paths is a layer of edges for each
step; each edge of a layer begins where one of the layer before ends.

    is there a run?      one formula: of each layer the number of the edge that is taken, and the variables after it
    what is needed       a core of the parts of guards, each of an edge in its layer
    predicates           the atoms of the weakest interpolants ¬W_i, where W_i are the conditions before step i under
                         which the rest of a path is taken, as far as the core needs them [DHMNP17]. Of W_i only the
                         atoms are made: of the needed guards of layer i, and what atoms of W_i+1 are before its edges.
                         Each belongs to the location that its edge leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.simplify import choice, disjunction, implication, instantiate, simplify
from streamcheck.core.term import TRUE, Term, constant, substitute, term, variable, variables
from streamcheck.core.types import INT
from streamcheck.problem.automaton import Automaton, Edge
from streamcheck.smt.interpolate import atoms
from streamcheck.smt.solver import Solver

Layers: TypeAlias = Sequence[Sequence[Edge]]
Needed: TypeAlias = Mapping[tuple[int, Edge], Sequence[Term]]  # parts of the guard of an edge in a layer


def layers_of_length(program: Automaton, length: int) -> Layers:
    """The edges of every path of so many edges from the entry to the error."""
    reached = [{program.entry}]
    for _ in range(length):
        reached.append({edge.target for here in reached[-1] for edge in program.edges_from[here]})
    left, layers = set(program.bad), list[list[Edge]]()
    for here in reversed(reached[:-1]):
        layers.append([edge for edge in program.edges if edge.source in here and edge.target in left])
        left = {edge.source for edge in layers[-1]}
    return layers[::-1]


class PathFormula:
    """The runs along the paths of the layers."""

    def __init__(self, program: Automaton, layers: Layers, patience: int | None) -> None:
        self.layers = layers
        self.solver = Solver(patience, small_cores=all(len(layer) == 1 for layer in layers))
        self.answer: bool | None = None
        self.parts: dict[tuple[int, Edge], dict[Term, Term]] = {}  # each part of a guard, and what is asked of it
        now: dict[Term, Term] = {v: v for v in program.variables}
        for i, layer in enumerate(layers):
            self._connect(i)
            moved: dict[Term, Term] = {}
            for edge in layer:
                before = {**now, **{c: variable(f"{c.payload}@{i}", c.type) for c in edge.choices}}
                images = instantiate(edge.roots(), before)
                self._ask(i, edge, before)
                for v, new in edge.updates:
                    moved[v] = choice(self._takes(i, edge), images[new], moved.get(v, now[v]))
            for v, new in moved.items():
                now[v] = new if new.is_const else variable(f"{v.payload}@{i + 1}", v.type)
                if now[v] is not new:
                    self.solver.add(term("same", now[v], new))

    def _ask(self, i: int, edge: Edge, before: Mapping[Term, Term]) -> None:
        parts = conjuncts(edge.guard)
        images = instantiate(parts, before)
        self.parts[i, edge] = {part: implication(self._takes(i, edge), images[part]) for part in parts}

    def _takes(self, i: int, edge: Edge) -> Term:
        """Edge of layer i is the one taken."""
        layer = self.layers[i]
        if len(layer) == 1:
            return TRUE
        return term("eq", variable(f"edge@{i}", INT), constant(INT, layer.index(edge)))

    def _connect(self, i: int) -> None:
        """Some edge of the layer is taken, where that of the layer before ends."""
        layer = self.layers[i]
        self.solver.add(disjunction(*(self._takes(i, edge) for edge in layer)))
        for last in self.layers[i - 1] if i else ():
            following = [self._takes(i, edge) for edge in layer if edge.source == last.target]
            self.solver.add(implication(self._takes(i - 1, last), disjunction(*following)))

    def check(self) -> bool | None:
        """True if some path has a run; None if the solver gives up."""
        self.answer = self.solver.check(*self._questions())
        return self.answer

    def _questions(self) -> dict[Term, None]:
        return dict.fromkeys(asked for parts in self.parts.values() for asked in parts.values())

    def path(self) -> list[Edge]:
        """After True: the edges of the run."""
        model = self.solver.model()
        numbers = [model[variable(f"edge@{i}", INT)] if len(layer) > 1 else 0 for i, layer in enumerate(self.layers)]
        return [layer[int(number)] for layer, number in zip(self.layers, numbers, strict=True)]  # type: ignore[arg-type]

    def needed_parts(self) -> Needed:
        """After False: the parts of guards in the core."""
        core = set(self.solver.core(self._questions()))
        return {key: [p for p, asked in parts.items() if asked in core] for key, parts in self.parts.items()}


class Preconditions:
    """The atoms before an edge, by those after it; each is computed once."""

    def __init__(self) -> None:
        self._before: dict[tuple[Edge, Term], list[Term]] = {}

    def atoms(self, layers: Layers, needed: Needed) -> Iterator[Term]:
        """The atoms of what is needed before each layer."""
        after: dict[str, dict[Term, None]] = {}
        for i, layer in reversed(list(enumerate(layers))):
            here: dict[str, dict[Term, None]] = {}
            for edge in layer:
                own = atoms([part for part in needed[i, edge] if not part.is_const])
                moved = [b for a in after.get(edge.target, ()) for b in self._of(edge, a)]
                known = here.setdefault(edge.source, {})
                known |= dict.fromkeys(a for a in (*own, *moved) if set(edge.choices).isdisjoint(variables([a])))
            yield from (atom for found in here.values() for atom in found)
            after = here

    def _of(self, edge: Edge, atom: Term) -> list[Term]:
        if not any(v in edge.update for v in variables([atom])):
            return [atom]
        if (edge, atom) not in self._before:
            put = substitute([atom], edge.update)[atom]
            self._before[edge, atom] = atoms([simplify([put])[put]])
        return self._before[edge, atom]
