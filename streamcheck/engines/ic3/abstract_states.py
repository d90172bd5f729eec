"""Abstract states: what a model says of the predicates, and how much of it an obligation needs.

[Tegzes, section 4.3]: from a model comes a literal for every predicate, and a literal is left out if every state of the
rest has a successor in the obligation's cube, seen syntactically. Here:

    the literals of the exact predecessor     `smt.implicant.cube`: enough for a step into the cube, from the model
    those that the predicates express         the literals of ŝ that imply them stay, and no others
    those that they do not                    the states of ŝ have such a step only if they agree with the model in more
                                              than these show: all literals of ŝ stay that share variables with one,
                                              directly or through other predicates and assumptions

So every abstract state in what is left has an abstract step into the cube: with a state of its own for the variables
that only expressed literals have, and the model's values for the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.evaluate import Evaluation
from streamcheck.core.simplify import negation
from streamcheck.core.term import Term, variables
from streamcheck.core.types import Value
from streamcheck.engines.ic3.cubes import Cube, Facts, strongest
from streamcheck.engines.ic3.frames import Frames
from streamcheck.engines.ic3.obligations import Obligation
from streamcheck.engines.ic3.space import Transition
from streamcheck.engines.ic3.system import require_true
from streamcheck.smt.implicant import cube as implicant


class AbstractPredecessors:
    """ŝ: the predicates of the place as they are in the model; the literals of the exact predecessor are kept as
    context. `facts` are true of every state: they need no literals. `chosen` are what a transition chooses anew."""

    def __init__(
        self,
        predicates: Mapping[str, Mapping[Term, None]],
        facts: Iterable[Term],
        chosen: Callable[[Transition], Iterable[Term]],
        *,
        generalize: bool,
    ) -> None:
        self.predicates = predicates
        self.facts = frozenset(facts)
        self.chosen = chosen
        self.generalize = generalize
        self._read: dict[Term, frozenset[Term]] = {}

    def guess(self, one: Obligation, along: Transition, frames: Frames) -> Obligation | None:
        return None

    def before(self, one: Obligation, along: Transition, model: Mapping[Term, Value]) -> Obligation:
        roots, evaluation = along.roots(one.cube), Evaluation(model)
        require_true(roots, evaluation)
        parts = [part for root in roots for part in conjuncts(root) if part not in self.facts]
        exact = tuple(implicant(parts, evaluation, dict.fromkeys(self.chosen(along))))
        abstract = tuple(p if evaluation.of(p) is True else negation(p) for p in self.predicates[along.source])
        kept = self._needed_literals(abstract, exact) if self.generalize else abstract
        return one.predecessor(along, kept, context=exact)

    def _needed_literals(self, abstract: Cube, exact: Cube) -> Cube:
        """The literals of ŝ without which some states of it might have no step into the cube."""
        values = {literal.args[0]: literal for literal in abstract if _gives_value(literal)}
        known = Facts(abstract)
        needed: dict[Term, None] = {}
        unexpressed: set[Term] = set()
        for literal in exact:
            reason = self._reason(literal, known, values)
            if reason is None:
                unexpressed |= self._variables(literal)
            else:
                needed |= dict.fromkeys(reason)
        near = self._near(unexpressed, abstract)
        kept = [p for p in abstract if p in needed or not near.isdisjoint(self._variables(p))]
        given = set(values.values())
        return strongest(p for p in kept if p in given or not values.keys() >= self._variables(p))

    def _reason(self, literal: Term, known: Facts, values: Mapping[Term, Term]) -> Cube | None:
        """Literals of ŝ that imply the literal; None if there are none to be seen."""
        read = self._variables(literal)
        if values.keys() >= read:
            return tuple(values[v] for v in read)
        if literal in known.literals:
            return (literal,)
        return (known.source(literal),) if known.imply(literal) else None

    def _near(self, begun: Set[Term], abstract: Cube) -> Set[Term]:
        """These variables and all that predicates and assumptions connect with them."""
        if not begun:
            return begun
        groups = [self._variables(t) for t in (*abstract, *self.facts)]
        reached, more = set(begun), True
        while more:
            touched = [group for group in groups if not group.isdisjoint(reached)]
            more = any(not group <= reached for group in touched)
            reached.update(*touched)
        return reached

    def _variables(self, given: Term) -> frozenset[Term]:
        if given not in self._read:
            self._read[given] = frozenset(variables([given]))
        return self._read[given]


def _gives_value(literal: Term) -> bool:
    return literal.op == "eq" and literal.args[0].op == "var" and literal.args[1].is_const
