"""Preimages: the states before an edge from which it leads into a cube.

The weakest precondition of `t` is `guard ∧ t[updates]`. If all its parts are literals it is a cube, and looking at it
answers many questions without the solver; else it has a disjunctive normal form, of which a model names a cube. The
choices of an edge are projected away: exactly (`formula`), or as far as a model shows (`cube`). From every state of
the result the edge can lead to a state of `t`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import conjunction, negation, simplify
from streamcheck.core.term import FALSE, Term, substitute, variables, walk
from streamcheck.core.types import Value
from streamcheck.engines.ic3.cubes import Cube, Facts
from streamcheck.engines.ic3.space import FOR_EVER, Exclusion, NoState, Transition
from streamcheck.problem.automaton import Edge
from streamcheck.smt.box import Kept
from streamcheck.smt.cooper import TooLarge
from streamcheck.smt.implicant import cube as implicant
from streamcheck.smt.linear import to_term
from streamcheck.smt.rows import NotLinear, compare, eliminate_quantifiers, is_comparison

BRANCHING = ("and", "or", "xor", "implies", "mux", "min", "max", "abs")
MOST_ELIMINATED = 2  # choices projected exactly (heuristic: a formula may grow with every one)


class Literals:
    """Normal forms of literals, each made once."""

    def __init__(self) -> None:
        self._forms: dict[Term, Term | None] = {}

    def form(self, node: Term) -> Term | None:
        """The literal as models' cubes have it; None if the term is no literal."""
        if node not in self._forms:
            self._forms[node] = _form(node)
        return self._forms[node]

    def throughout(self, given: Term) -> Term:
        """The formula with its comparisons in normal form."""
        forms = {node: self.form(node) or node for node in walk([given]) if is_comparison(node)}
        put = substitute([given], forms)[given]
        return simplify([put])[put]


def _form(node: Term) -> Term | None:
    if node.is_const:
        return node
    if any(inner.op in BRANCHING for inner in walk([node])):
        return None
    if is_comparison(node):
        try:
            rows = Kept()
            return to_term(compare(node.op, *(rows.row(a) for a in node.args)))
        except NotLinear:
            return node
    atom = node.args[0] if node.op == "not" else node
    return None if atom.args and atom.args[0].type.kind == "bool" and atom.op != "cast" else node


class EdgeTransition(Transition):
    """An edge, with the preconditions of what is asked about."""

    def __init__(self, edge: Edge, literals: Literals, cost: int) -> None:
        self.edge = edge
        self.literals = literals
        self._chosen = frozenset(edge.choices)
        parts = [*conjuncts(simplify([edge.guard])[edge.guard])]
        super().__init__(edge.source, edge.target, conjunction(*parts), edge.update, cost)
        forms = [self._without_choices(literals.form(part)) for part in parts]
        self.assumed: Cube = tuple(form for form in forms if form is not None)
        self.is_plain = all(form is not None for form in forms)  # the guard is a cube
        self.facts = Facts(self.assumed)

    def _without_choices(self, form: Term | None) -> Term | None:
        if form is None or (self._chosen and not self._chosen.isdisjoint(variables([form]))):
            return None
        return form

    def _image(self, literal: Term) -> Term:
        image = super()._image(literal) if self.update else literal
        return image if image is literal else self.literals.form(image) or image

    def literal(self, given: Term) -> Term | None:
        """The image, if it is a literal over the variables."""
        image = self.image(given)
        return self._without_choices(self.literals.form(image))

    def plain(self, cube: Cube) -> Cube | None:
        """The precondition, if all its parts are literals."""
        if not self.is_plain:
            return None
        images = [self.literal(c) for c in cube]
        known = [image for image in images if image is not None]
        return (*self.assumed, *known) if len(known) == len(cube) else None

    def formula(self, cube: Cube) -> Term | None:
        """∃ choices. guard ∧ t[updates]; None if that is too large."""
        whole = conjunction(*self.roots(cube))
        chosen = [v for v in variables([whole]) if v in self._chosen]
        if len(chosen) > MOST_ELIMINATED or any(v.type.kind not in ("bool", "integer", "real") for v in chosen):
            return None
        if chosen:
            try:
                whole = eliminate_quantifiers(chosen, whole)
            except (NotLinear, TooLarge):
                return None
        return self.literals.throughout(whole)

    def cube(self, cube: Cube, values: Mapping[Term, Value]) -> Cube:
        """The part of the precondition's disjunctive normal form that the model is in."""
        roots, evaluation = self.roots(cube), Evaluation(values)
        if not all(evaluation.of(root) is True for root in roots):
            raise NoState
        return tuple(implicant(roots, evaluation, self._order()))

    def _order(self) -> Mapping[Term, None]:
        return dict.fromkeys(self.edge.choices)

    def syntactic_exclusion(self, cube: Cube, lemmas: Sequence[tuple[Cube, int]]) -> Exclusion | None:
        """The edge assumes the opposite of a literal; or a lemma of the source excludes the cube's preimage."""
        excluded = self._unreachable_literals(cube)
        if excluded is not None:
            return Exclusion(excluded, FOR_EVER)
        if not lemmas:
            return None
        images = {c: self.literal(c) for c in cube}
        facts = Facts([*self.assumed, *(i for i in images.values() if i is not None)])
        for excluding, level in lemmas:
            if facts.imply_all(excluding):
                missing = [c for c in excluding if not self.facts.imply(c)]
                return Exclusion(_reasons(missing, images), level)
        return None

    def _unreachable_literals(self, cube: Cube) -> Cube | None:
        """Literals that the edge cannot lead to, seen syntactically: an image is false, or the guard assumes its
        opposite."""
        if self.guard is FALSE or FALSE in self.assumed:
            return ()
        for c in cube if self.assumed or self.update else ():
            image = self.image(c)
            if image is FALSE or (self.assumed and self.facts.imply(negation(image))):
                return (c,)
        return None

    def new_conditions(self, cube: Cube) -> list[Term]:
        """The conditions before the edge that the cube does not already contain. From a state of the cube that the
        updates keep, a step leads into the cube if these are true."""
        return [self.guard, *(image for c in cube if (image := self.image(c)) is not c)]


def _reasons(missing: Sequence[Term], images: Mapping[Term, Term | None]) -> Cube:
    """Literals whose images imply what is missing: one for each part, or all of them if only together they do."""
    reasons: dict[Term, None] = {}
    by_image = {image: c for c, image in images.items()}
    for wanted in missing:
        single = [by_image[wanted]] if wanted in by_image else _sources_of(wanted, images)
        together = [c for c, image in images.items() if image is not None]
        reasons |= dict.fromkeys(single[:1] or together)
    return tuple(reasons)


def _sources_of(wanted: Term, images: Mapping[Term, Term | None]) -> list[Term]:
    return [c for c, image in images.items() if image is not None and Facts((image,)).imply(wanted)]


def choices_for(edge: Edge, values: Mapping[Term, Value]) -> dict[Term, Value]:
    """The choices with which the edge leads to `values`, if variables take choices unchanged."""
    return {new: values[v] for v, new in edge.updates if new in edge.choices}
