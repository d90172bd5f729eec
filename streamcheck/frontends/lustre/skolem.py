"""Claims without quantifiers: each marker that stands for a quantifier (`quantifiers`) is removed, exactly.

A property φ(∀i. p) in which the quantifier occurs positively is true if and only if φ(p) is true for every i, because
φ is monotone in it: i becomes a constant of the specification. That holds at all steps together, so the constant may
stay the same for ever, and `pre` in p means what it says. In an assumption, ∃i. p may have another i at every step: i
becomes an input. The other quantifiers are eliminated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from enum import Enum

from streamcheck.core.simplify import choice, conjunction, disjunction, negation, simplify
from streamcheck.core.term import Term, substitute, variables, walk, walk_cone
from streamcheck.core.types import BOOL
from streamcheck.frontends.lustre.claims import Claims
from streamcheck.frontends.lustre.delays import Delays
from streamcheck.frontends.lustre.elimination import some_value_or_all
from streamcheck.frontends.lustre.quantifiers import Quantified, Quantifiers
from streamcheck.frontends.lustre.scopes import Context
from streamcheck.problem.claim import Claim, Goal

INSTEAD = "a finite type or bounds (0 <= i and i < 8 => …), or the quantifier alone as the property"


class Demand(Enum):
    """The question about a formula, which decides what its quantifiers may become."""

    PROVE = "prove"
    REACH = "reach"
    ASSUME = "assume"
    OTHER = "other"


class Skolem:
    """`constants` are those that stand for quantified variables, with their tokens and labels."""

    def __init__(self, quantifiers: Quantifiers, delays: Delays) -> None:
        self.quantifiers = quantifiers
        self.tokens = quantifiers.tokens
        self.known = quantifiers.variables
        self.delays = delays
        self._eliminated: dict[Term, Term | None] = {}
        self._marked: set[Term] = set()  # the terms that have markers in them

    def constants(self, seen: set[Term]) -> list[tuple[Term, int, str]]:
        """The constants that matter: also those that only sets and maps were asked about."""
        return [(bound, at, label) for bound, at, label in self.quantifiers.constants if bound in seen]

    def resolve(self, claims: Claims) -> None:
        """Remove the quantifiers from the claims and from the registers."""
        if not self.quantifiers.markers:
            return
        for name, claim in list(claims.properties.items()):
            demand = Demand.REACH if claim.goal is Goal.REACHABLE else Demand.PROVE
            claims.properties[name] = self._without(claim, demand)
        claims.assumptions = [self._without(a, Demand.ASSUME) for a in claims.assumptions]
        self._resolve_registers()

    def _without(self, claim: Claim, demand: Demand) -> Claim:
        return replace(claim, term=self.without_quantifiers(claim.term, demand))

    def without_quantifiers(self, root: Term, demand: Demand = Demand.OTHER) -> Term:
        self._mark([root])
        return self._at(root, demand, positive=True) if root in self._marked else root

    def has_quantifiers(self, terms: Iterable[Term]) -> bool:
        return any(t in self.quantifiers.markers for t in walk(terms))

    def _resolve_registers(self) -> None:
        """The quantifiers in what registers hold, in the conditions under which they do, and in calls. Their meaning
        may need more cells and calls."""
        while self._resolve_some():
            pass

    def _resolve_some(self) -> bool:
        """False if there is none."""
        markers = self.quantifiers.markers
        delays = [d for d in self.delays if d.value is not None and d.next is not None]
        contexts = list(dict.fromkeys(d.context for d in delays))
        terms = [t for d in delays for t in (d.value, d.next) if t is not None]
        cells, calls = list(self.known.cells), list(self.known.calls)
        terms += [t for cell in cells for t in cell[1:]]
        terms += [t for c in contexts for t in _parts_of(c)]
        terms += [t for call in calls for t in call.terms()]
        found = [t for t in walk(terms) if t in markers]
        if not found:
            return False
        replacement = {marker: self._eliminate(marker) for marker in found}
        replaced = substitute(terms, replacement)
        image = {t: simple for t, r in replaced.items() for simple in [simplify([r])[r]]}
        resolved = {c: Context(*(image[t] for t in _parts_of(c))) for c in contexts}
        for d in delays:
            assert d.value is not None and d.next is not None
            d.value, d.next = image[d.value], image[d.next]
            d.context = resolved[d.context]
        self.known.cells[: len(cells)] = [(var, image[initial], image[after]) for var, initial, after in cells]
        self.known.calls[: len(calls)] = [call.with_images(image) for call in calls]
        return True

    def _mark(self, roots: Iterable[Term]) -> None:
        for node in walk(roots):
            if node in self.quantifiers.markers or any(a in self._marked for a in node.args):
                self._marked.add(node)

    # Formulas. Terms without markers stay as they are, so what is nested here is what a person has nested.

    def _at(self, node: Term, demand: Demand, *, positive: bool) -> Term:
        if node not in self._marked:
            return node
        if node in self.quantifiers.markers:
            return self._quantifier(node, demand, positive=positive)
        match node.op:
            case "and" | "or":
                join = conjunction if node.op == "and" else disjunction
                return join(*(self._at(p, demand, positive=positive) for p in _parts(node)))
            case "not":
                return negation(self._at(node.args[0], demand, positive=not positive))
            case "implies":
                condition = self._at(node.args[0], demand, positive=not positive)
                return disjunction(negation(condition), self._at(node.args[1], demand, positive=positive))
            case "mux" if node.type is BOOL and node.args[0] not in self._marked:
                a, b = (self._at(p, demand, positive=positive) for p in node.args[1:])
                return choice(node.args[0], a, b)
        return self._of_any_polarity(node)

    def _of_any_polarity(self, root: Term) -> Term:
        below = [t for t in walk([root]) if t in self.quantifiers.markers]
        replaced = substitute([root], {marker: self._eliminate(marker) for marker in below})[root]
        return simplify([replaced])[replaced]

    def _quantifier(self, marker: Term, demand: Demand, *, positive: bool) -> Term:
        q = self.quantifiers.markers[marker]
        holds_for_all = q.is_universal == positive
        if (demand is Demand.PROVE and holds_for_all) or (demand is Demand.REACH and not holds_for_all):
            self._mark([q.body])
            return self._at(q.body, demand, positive=positive)
        if demand is Demand.ASSUME and not holds_for_all and not self._depends(q, self.without_quantifiers(q.body)):
            body = self.without_quantifiers(q.body)
            witness = self.known.unknown(q.label, q.bound.type, q.at)
            return substitute([body], {q.bound: witness})[body]
        return self._eliminate(marker)

    def _eliminate(self, marker: Term) -> Term:
        q = self.quantifiers.markers[marker]
        if marker not in self._eliminated:
            body = self.without_quantifiers(q.body)
            is_open = self._depends(q, body)
            self._eliminated[marker] = (
                None if is_open else some_value_or_all(q.bound, body, is_universal=q.is_universal)
            )
            if self._eliminated[marker] is None and q.at_value is not None:
                self._eliminated[marker] = self._by_keys(q, q.at_value)
        result = self._eliminated[marker]
        if result is None:
            word = "forall" if q.is_universal else "exists"
            text = f"`{word}` over infinitely many values of {q.label} cannot be decided here"
            raise self.tokens.error(q.at, text, write=INSTEAD)
        return result

    def _by_keys(self, q: Quantified, at_value: Callable[[Term], Term]) -> Term | None:
        """The meaning of the quantifier for the keys of sets and maps that are asked for. None if it is about none."""
        containers = self.quantifiers.declarations.containers
        if q.by_keys is not None:
            return q.by_keys()
        if not containers.is_key(q.bound):
            return None
        shown = f"{'forall' if q.is_universal else 'exists'} {q.label}"
        before = self.known.count()

        def condition(key: Term) -> Term:
            return at_value(key) if q.is_universal else negation(at_value(key))

        answer = containers.holds_at_all_keys(q.bound.type, condition, shown)
        self.quantifiers.add_own(q.scope, before)
        return answer if q.is_universal else negation(answer)

    def _depends(self, q: Quantified, body: Term) -> bool:
        """True if a variable of the operand depends on the quantified one: a register, an unknown made for it, or what
        stands for a set or an answer about one."""
        sources = self.sources()
        behind = walk_cone((s for v in variables([body]) for s in sources.get(v, ())), sources)
        return not q.own.isdisjoint(variables([body])) or any(t is q.bound or t in q.own for t in behind)

    def sources(self) -> dict[Term, tuple[Term, ...]]:
        """The terms that the value of each variable comes from: now, or at the step before."""
        sources = dict(self.quantifiers.declarations.containers.sources)
        nexts = [(d.var, d.next) for d in self.delays if d.next is not None]
        for var, after in (*nexts, *((var, after) for var, _, after in self.known.cells)):
            sources[var] = (*sources.get(var, ()), after)
        return sources | {marker: (q.body,) for marker, q in self.quantifiers.markers.items()}


def _parts_of(context: Context) -> tuple[Term, Term, Term, Term]:
    return context.first, context.tick, context.reset, context.hard


def _parts(node: Term) -> list[Term]:
    """The operands of nested junctions of one kind, in order."""
    parts: list[Term] = []
    stack = [node]
    while stack:
        part = stack.pop()
        if part.op == node.op:
            stack += reversed(part.args)
        else:
            parts.append(part)
    return parts
