"""State variables that are equal in every run, or opposite: those of two specifications that do the same.

Decides: that outputs are the same if each state variable of one side that matters has an equal one on the other side.

Paper: [Eijk00]. Variables with the same values in random runs are one class (a Bool and its negation too). In each
class the first stands for all:

    for each m of a class with the first l:   A[x0] ∧ x0 with every variable's first ⊨ next(m) = next(l)

A model that refutes this divides the classes by the values that it gives to the next state, and the questions are asked
again. What remains is inductive: no class depends on chance any more. Each question is about one pair, and the state
variables in it are few, so a thousand pairs take a thousand small queries; most pairs need none, as both sides are the
same term.

Limits: a variable that is a function of several others; equality that only assumptions about the past give. What is
equal after more than one step only is left to induction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from streamcheck.core.simplify import negation, simplify
from streamcheck.core.term import TRUE, Term, substitute, term, variables
from streamcheck.core.types import BOOL, Type, Value, default, float_text
from streamcheck.engines.facts import decided_properties
from streamcheck.engines.protocol import Event, Inbox, Invariants, Progress, Task
from streamcheck.engines.random_runs import Simulator
from streamcheck.problem.transition import TransitionSystem
from streamcheck.problem.verdict import Certificate, Proved
from streamcheck.smt.solver import Solver

RUNS, LONGEST = 12, 48  # the random runs, and their steps
VALUES = 100  # of each type, that random states are made of
BATCH = 12  # random states after which the classes are divided, until that makes no difference
MOST_ROUNDS = 200


class EqualPairs:
    name: ClassVar[str] = "equals"

    def run(self, problem: Task, inbox: Inbox) -> Iterator[Event]:
        system = problem.system
        if any(s.init is not None and not s.init.is_const for s in system.state):
            return
        classes = EqualState(system, problem.patience)
        yield Progress(0)
        for number in range(MOST_ROUNDS):
            if classes.refine():
                break
            yield Progress(number + 1)
        else:
            return
        equalities = classes.equalities()
        if not equalities:
            return
        yield Invariants(Certificate("inductive", 1, equalities))
        decided = set(decided_properties(inbox()))
        asked = [p for p in system.properties if p.name not in decided and not p.is_vacuity_test]
        shown = [p for p in asked if classes.imply(p.term)]
        yield Progress(number + 2)
        certificate = Certificate("inductive", 1, (*equalities, *dict.fromkeys(p.term for p in shown)))
        yield from (Proved(p.name, certificate) for p in shown)  # one proof for all, which is checked once


class EqualState:
    """Classes of state variables. A variable is opposite if it is the negation of what its class is equal to: those
    Bools that are true in the first state that was met."""

    def __init__(self, system: TransitionSystem, patience: int | None) -> None:
        self.system = system
        self.patience = patience
        self.nexts = {s.var: s.next for s in system.state}
        self.ranges = {v: a.term for a in system.assumptions if a.is_range for v in variables([a.term])}
        self.assumed = [a.term for a in system.assumptions if not a.is_range]
        self.proved: set[tuple[Term, Term]] = set()
        members = [s.var for s in system.state if s.init is not None]
        self.runs = ShortRuns(system)
        columns = self.runs.columns()
        self.opposite = {v for v in members if v.type is BOOL and columns[v][0] is True}
        self.classes = self._parts_of([members], columns)

    def _parts_of(self, classes: Iterable[list[Term]], columns: Mapping[Term, Sequence[Value]]) -> list[list[Term]]:
        """The classes of more than one variable, divided by type and values."""
        found: dict[object, list[Term]] = {}
        for number, members in enumerate(classes):
            for v in members:
                values = tuple((v in self.opposite) != x if v.type is BOOL else _key(x) for x in columns[v])
                found.setdefault((number, v.type, values), []).append(v)
        return [members for members in found.values() if len(members) > 1]

    def _like_first(self, var: Term, node: Term, first: Term) -> Term:
        """The term, which is about the first of a class, as it is for another one of it."""
        return negation(node) if (var in self.opposite) != (first in self.opposite) else node

    @property
    def firsts(self) -> dict[Term, Term]:
        """For each variable that is not the first of its class the term over that one which it equals."""
        return {v: self._like_first(v, c[0], c[0]) for c in self.classes for v in c[1:]}

    def equalities(self) -> tuple[Term, ...]:
        return tuple(term("same", v, node) for v, node in self.firsts.items())

    def refine(self) -> bool:
        """True if the next values of each class are equal; else the classes have been divided. A model of a class stays
        one after others have been divided, as it meets more equalities than it has to; proofs are asked for again."""
        self._divide_at_random()
        nexts = self._over_firsts([self.nexts[v] for members in self.classes for v in members])
        asked = [(v, members[0]) for members in self.classes for v in members[1:]]
        is_stable = True
        for v, first in asked:
            pair = nexts[self.nexts[v]], self._like_first(v, nexts[self.nexts[first]], first)
            if pair[0] is pair[1] or pair in self.proved or not self._are_together(v, first):
                continue
            solver = self._solver(pair)
            # A[x0] ∧ one ≠ other
            answer = solver.check(negation(term("same", *pair)))
            if answer is False:
                self.proved.add(pair)
                continue
            is_stable = False
            if answer:
                some, every = variables(pair), [*self.nexts, *self.system.inputs]
                if not self._divide_after([solver.values(some)]):  # an assumption about other variables
                    self._divide_after([solver.values(every)])
            if self._are_together(v, first):  # no answer, or a model that our values do not express
                self.classes = [[m for m in members if m is not v] for members in self.classes]
        self.classes = [members for members in self.classes if len(members) > 1]
        return is_stable

    def _divide_at_random(self) -> None:
        """Divide the classes by what follows random states in which they are equal: far cheaper than a solver."""
        while self._divide_after([{}] * BATCH):
            pass

    def _divide_after(self, given: Sequence[Mapping[Term, Value]]) -> bool:
        """Divide the classes by the values after states, random but for these values, that meet the equalities. True if
        that made a difference."""
        before = len(self.classes), sum(map(len, self.classes))
        rows = [row for values in given if (row := self.runs.after_state_with(values, self.firsts)) is not None]
        self.classes = self._parts_of(
            self.classes, {s.var: [row[i] for row in rows] for i, s in enumerate(self.system.state)}
        )
        return before != (len(self.classes), sum(map(len, self.classes)))

    def _are_together(self, one: Term, other: Term) -> bool:
        return any(one in members and other in members for members in self.classes if other is members[0])

    def imply(self, claim: Term) -> bool:
        """True if the claim holds in every state in which the equalities do."""
        image = self._over_firsts([claim])[claim]
        return image is TRUE or self._solver([image]).check(negation(image)) is False

    def _over_firsts(self, roots: list[Term]) -> dict[Term, Term]:
        images = substitute(roots, self.firsts)
        simple = simplify(images[r] for r in roots)
        return {r: simple[images[r]] for r in roots}

    def _solver(self, about: Sequence[Term]) -> Solver:
        solver = Solver(self.patience)
        solver.add(*self.assumed)
        solver.add(*(self.ranges[v] for v in variables([*about, *self.assumed]) if v in self.ranges))
        return solver


class ShortRuns(Simulator):
    """A few random runs, by state variable."""

    def columns(self) -> dict[Term, list[Value]]:
        rows = [state for _ in range(RUNS) for state in self._run(LONGEST)]
        rows = rows or [tuple(default(s.var.type) if s.init is None else s.init.payload for s in self.system.state)]
        return {s.var: [row[i] for row in rows] for i, s in enumerate(self.system.state)}

    @cached_property
    def pools(self) -> dict[Type, list[Value]]:
        """Some values of each type."""
        kinds = {s.var.type: s.var for s in self.system.state}
        return {type: [self._value(var) for _ in range(VALUES)] for type, var in kinds.items()}

    def after_state_with(self, given: Mapping[Term, Value], equal: Mapping[Term, Term]) -> tuple[Value, ...] | None:
        """The state after a random one with these values, in which each of some variables equals a term; None if the
        assumptions do not hold there."""
        any_of = self.random.choice
        state = {s.var: given[s.var] if s.var in given else any_of(self.pools[s.var.type]) for s in self.system.state}
        for v, node in equal.items():
            state[v] = state[node] if node in state else not state[node.args[0]]
        inputs = (given[v] if v in given else self._value(v) for v in self.system.inputs)
        return self.step(*state.values(), *inputs)


def _key(value: Value) -> object:
    """Equal keys for values that are the same, bit by bit."""
    return float_text(value) if isinstance(value, float) else value
