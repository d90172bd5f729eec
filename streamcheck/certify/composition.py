"""The judgement on a composition: which claims of the whole follow from what is proved of the parts.

A part P is embedded in the whole W by a map τ from P's variables to terms of W, such that

    each cell c of P is a cell of W:       τ(c) = d,  τ(next of c) = next of d,  the same initial value
    each assumption of P is given in W:    an assumption of W, a claim of W that an earlier part proves, or a hypothesis
    the variables of P have types of W:    so each type has values; over one without any, everything is proved

The τ-image of a run of W is then a run of P, as long as the hypotheses hold in it. So a property p of P that is proved
under P's assumptions proves the claim q of W

    if q is τ(p), and there are no hypotheses;
    if q is `held & A implies τ(p)`, where the hypotheses are among the conditions of A, and held is the cell
    [true] ++ (held & A): at the steps at which q says anything, they have held at all steps so far.

No step relies on a claim that is proved later, so no proof is circular: the guarantee of a component is proved for any
inputs that meet its assumptions, whoever gives them, and it is used only as this implication. That the assumptions do
hold at a call is a claim of its own. It may rely on the guarantee of the same callee at the same step, since that holds
only where the assumption does: held & A is part of it.

Terms are compared by identity: they are interned, and nothing is simplified.
"""

from __future__ import annotations

from collections.abc import Mapping

from streamcheck.certify.checker import SpecificationChecker
from streamcheck.certify.judge import Rejected
from streamcheck.certify.well_formed import IllFormed, require_well_formed
from streamcheck.core.term import TRUE, Term, substitute, variables, walk
from streamcheck.problem.composition import Composition, Embedding, ProofPart
from streamcheck.problem.specification import Specification


class Unfounded(Exception):
    """A part that does not prove what it is said to."""


def check_composition(whole: Specification, composition: Composition, claim: str) -> Rejected | None:
    """None if the composition proves the claim, its parts included."""
    for part in composition.parts:
        rejected = check_part(part)
        if rejected is not None:
            return rejected
    try:
        claims = proved_by(whole, composition)
    except Unfounded as why:
        return Rejected(str(why))
    return None if claim in claims else Rejected("no part proves it")


def check_part(part: ProofPart) -> Rejected | None:
    """None if every certificate proves its property of the part."""
    checker, known = SpecificationChecker(part.problem), set[Term]()
    claims = {p.name: p for p in part.problem.properties}
    for name, certificate in part.proofs.items():
        try:
            require_well_formed(certificate, known)
        except IllFormed as why:
            return Rejected(str(why))
        if name not in claims:
            return Rejected(f"part {part.problem.name} has no property {name}")
        rejected = checker.check(claims[name], certificate)
        if rejected is not None:
            return Rejected(f"part {part.problem.name}, {name}: {rejected.why}", rejected.undecided)
    return None


def proved_by(whole: Specification, composition: Composition) -> set[str]:
    """The claims of the whole that follow if each part proves its properties. Unfounded if something does not fit."""
    conclusions = Conclusions(whole)
    for part in composition.parts:
        for embedding in part.embeddings:
            conclusions.add(part, embedding)
    return conclusions.proved


class Conclusions:
    """The claims of a whole that the parts so far prove."""

    def __init__(self, whole: Specification) -> None:
        self.whole = whole
        self.proved: set[str] = set()
        self._claims = {p.name: p for p in whole.properties}
        self._cells = {c.var: c for c in whole.cells}
        self._declared = set(whole.variables())
        self._constants = {c.var for c in whole.constants}
        self._types = {t.type for t in walk([*whole.variables(), *whole.roots()])}
        self._known = {a.term for a in whole.assumptions}
        self._seen, self._strange = set[Term](), set[Term]()  # terms, and those with variables that are not declared

    def add(self, part: ProofPart, embedding: Embedding) -> None:
        """Add the claims of a part at one of its places. Unfounded if it does not prove one of them."""
        problem = part.problem
        image = self._images(problem, embedding)
        for cell in problem.cells:
            there = self._cells.get(image[cell.var])
            if there is None or cell.initial is not there.initial or (there.free and not cell.free):
                raise Unfounded(f"part {problem.name}: {cell.name} is no such cell of the whole")
            if image[cell.next] is not there.next:
                raise Unfounded(f"part {problem.name}: {cell.name} has another next value in the whole")
        hypotheses = {image[a.term] for a in problem.assumptions} - self._known
        properties = {p.name: p for p in problem.properties}
        for name, concluded in embedding.claims:
            if name not in part.proofs or name not in properties or concluded not in self._claims:
                raise Unfounded(f"part {problem.name} has no proof of {name}, or the whole no claim {concluded}")
            proved, due = image[properties[name].invariant], self._claims[concluded].invariant
            if proved is not (self._under(due, hypotheses) if hypotheses else due):
                raise Unfounded(f"part {problem.name}: {concluded} is another claim than {name}")
        names = {concluded for _, concluded in embedding.claims}
        self.proved |= names
        self._known |= {self._claims[name].invariant for name in names}

    def _images(self, problem: Specification, embedding: Embedding) -> Mapping[Term, Term]:
        """The images of all terms of the part."""
        images: dict[Term, Term] = {}
        for var in problem.variables():
            to = embedding.images.get(str(var.payload))
            if to is None or to.type is not var.type or not self._is_over_declared(to):
                raise Unfounded(f"part {problem.name}: {var.payload} stands for nothing in the whole")
            if var.type not in self._types:
                raise Unfounded(f"part {problem.name}: {var.payload} is {var.type}, no type of the whole")
            images[var] = to
        if not all(self._constants.issuperset(variables([images[c.var]])) for c in problem.constants):
            raise Unfounded(f"part {problem.name}: a constant stands for something that changes")
        terms = [*(c.next for c in problem.cells), *(a.term for a in problem.assumptions)]
        return substitute([*terms, *(p.invariant for p in problem.properties), *images], images)

    def _is_over_declared(self, term: Term) -> bool:
        """True if all variables of the term are the whole's. Images share most of their terms, so each is seen once."""
        for node in walk([term], self._seen):
            known = node in self._declared if node.op == "var" else all(a not in self._strange for a in node.args)
            if not known:
                self._strange.add(node)
        return term not in self._strange

    def _under(self, claim: Term, hypotheses: set[Term]) -> Term:
        """The right side of `held & A implies …`. Unfounded if the hypotheses are not in A, or held is not A so far."""
        if claim.op == "implies":
            premise, right = claim.args
            conditions = _conditions(premise)
            cells = [self._cells[c] for c in conditions if c in self._cells]
            so_far = any(c.next is premise and c.initial is TRUE and not c.free for c in cells)
            if so_far and hypotheses <= conditions:
                return right
        raise Unfounded("a claim does not have the hypotheses of its proof")


def _conditions(term: Term) -> set[Term]:
    """The condition, and those that it is a conjunction of."""
    found, stack = set[Term](), [term]
    while stack:
        node = stack.pop()
        found.add(node)
        if node.op == "and":
            stack.extend(node.args)
    return found
