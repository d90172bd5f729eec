"""Realizability as a game [GKWBC15], and what decides it as specifications of their own.

At each step the environment chooses the inputs (externs), as the assumptions allow; then the component chooses the
outputs (`unknown`s), so that every guarantee (a property) holds. The rest, the cells, follows.

- The component has an answer to everything: `implementation`, the specification with a term for each output. Its proof
  is that of its properties; one more, the region of states that it stays in, makes them inductive.
- The environment wins: `counterstrategy`, the specification with a term for each input. The states in which it wins
  have ranks; its one property is that, as long as the guarantees have held, the assumptions hold and the rank falls.
  Ranks are positive, so no run keeps the guarantees for more steps than there are ranks.

Neither is believed for its own sake: both are proved like any other specification.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from streamcheck.core.simplify import choice, conjunction, disjunction, instantiate, negation
from streamcheck.core.term import TRUE, Term, constant, term, variable, variables
from streamcheck.core.types import BOOL, INT, EnumType, Type, Value
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import Cell, Input, Named, Specification

REGION = "the states stay in the region"
NEARER = "the environment comes nearer to its end"


class NoGame(Exception):
    """The question has no answer here; the message says why."""


@dataclass(frozen=True, slots=True)
class EnvironmentMove:
    """In these states, over cells, the environment wins with these inputs, over cells."""

    states: Term
    inputs: Mapping[Term, Term]


@dataclass(frozen=True, slots=True)
class ComponentMove:
    """If the guard, over cells and inputs, is true, these outputs keep the guarantees and lead to the region."""

    guard: Term
    outputs: Mapping[Term, Term]


@dataclass(frozen=True, slots=True)
class Game:
    specification: Specification
    inputs: tuple[Term, ...]
    outputs: tuple[Term, ...]
    guarantees: tuple[Claim, ...]

    @property
    def assumption(self) -> Term:
        return conjunction(*(a.term for a in self.specification.assumptions))

    @property
    def guarantee(self) -> Term:
        return conjunction(*(g.term for g in self.guarantees))

    @property
    def next(self) -> dict[Term, Term]:
        return {c.var: c.next for c in self.specification.cells}

    def only(self, names: Collection[str]) -> Game:
        """The same with these guarantees alone."""
        kept = tuple(g for g in self.guarantees if g.name in names)
        return replace(self, guarantees=kept, specification=replace(self.specification, properties=kept))


def game_of(specification: Specification) -> Game:
    """The game of a specification. NoGame if its outputs or guarantees are not of the kind that is decided here."""
    outputs = tuple(i.var for i in specification.inputs if not i.extern)
    inputs = tuple(i.var for i in specification.inputs if i.extern)
    guarantees = tuple(p for p in specification.properties if p.goal is Goal.ALWAYS)
    if not outputs and guarantees:
        raise NoGame("the spec has no outputs in use: streams that the component chooses are `unknown(T)`")
    endless = next((p for p in specification.properties if p.goal is Goal.INFINITELY_OFTEN), None)
    if endless is not None:
        raise NoGame(f'property "{endless.name}" is about infinite runs; only properties of single steps are supported')
    endless = next((p for p in specification.properties if p.is_about_infinite_runs), None)
    if endless is not None:
        raise NoGame(f'"{endless.name}" is about infinite runs, which are not supported here')
    if specification.calls:
        raise NoGame("functions without definitions are not supported here")
    if specification.constants:
        raise NoGame("forall is not supported here: its constant would be chosen before the outputs")
    for assumption in specification.assumptions:
        chosen = next((v for v in variables([assumption.term]) if v in outputs), None)
        if chosen is not None:
            raise NoGame(
                f'assumption "{assumption.name}" depends on the output `{chosen.payload}` at the same step; '
                "the environment cannot know it yet"
            )
    bare = replace(specification, properties=guarantees, instances=(), components=(), fairness=())
    return Game(bare, inputs, outputs, guarantees)


def members(variable: Term) -> Term:
    """The values of an enum's stream are its members."""
    if not isinstance(variable.type, EnumType):
        return TRUE
    return disjunction(*(term("eq", variable, constant(variable.type, code)) for code in variable.type.codes))


def region(rules: Sequence[EnvironmentMove]) -> Term:
    """The states of no rule."""
    return conjunction(*(negation(rule.states) for rule in rules))


def implementation(game: Game, answers: Sequence[ComponentMove], rules: Sequence[EnvironmentMove]) -> Specification:
    """The specification with these answers as its outputs; the first whose guard holds counts, else the last."""
    *others, last = answers
    chosen = dict(last.outputs)
    for answer in reversed(others):
        chosen = {o: choice(answer.guard, answer.outputs[o], chosen[o]) for o in game.outputs}
    specification = game.specification
    outputs = tuple(Named(str(o.payload), t, specification.where) for o, t in chosen.items())
    kept = tuple(i for i in specification.inputs if i.extern)
    claim = Claim(REGION, region(rules), specification.where)
    extra = () if claim.term is TRUE else (claim,)
    return _with_terms(replace(specification, properties=(*specification.properties, *extra)), chosen, kept, outputs)


def counterstrategy(game: Game, rules: Sequence[EnvironmentMove], start: Mapping[Term, Value]) -> Specification:
    """The specification with the environment's inputs, which the first rule for a state gives. `start` are the values
    that cells without a fixed one begin with."""
    specification = game.specification
    most = len(rules) + 1
    rank: Term = constant(INT, most)
    chosen = {i: _any(i.type) for i in game.inputs}
    for number, rule in reversed(list(enumerate(rules, 1))):
        rank = choice(rule.states, constant(INT, number), rank)
        chosen = {i: choice(rule.states, rule.inputs[i], chosen[i]) for i in game.inputs}
    kept, before = variable("guarantees kept", BOOL), variable("rank before", INT)
    nearer = conjunction(game.assumption, term("lt", rank, before))
    cells = tuple(
        replace(c, initial=constant(c.initial.type, start[c.var]), free=False) if c.free else c
        for c in specification.cells
    )
    cells += (
        Cell("guarantees kept", constant(BOOL, True), conjunction(kept, game.guarantee), specification.where),
        Cell("rank before", constant(INT, most), rank, specification.where),
    )
    claim = Claim(NEARER, disjunction(negation(kept), nearer), specification.where)
    free = tuple(i for i in specification.inputs if not i.extern)
    whole = replace(
        specification, cells=cells, properties=(claim,), assumptions=(), triggers=(), observers=(), wires=()
    )
    return _with_terms(whole, chosen, free, ())


def dead_end(game: Game, values: Mapping[Term, Value]) -> Specification:
    """One state and its inputs, as constants; the property is that no outputs keep the guarantees."""
    fixed: dict[Term, Term] = {v: constant(v.type, value) for v, value in values.items()}
    term_there = instantiate([game.guarantee], fixed)[game.guarantee]
    claim = Claim("no outputs are left", negation(term_there), game.specification.where)
    free = tuple(i for i in game.specification.inputs if not i.extern)
    return Specification(game.specification.name, free, (), (), (), (), (), (claim,), (), game.specification.where)


def _any(type: Type) -> Term:
    if isinstance(type, EnumType):
        return constant(type, type.codes[0])
    return constant(type, False if type is BOOL else 0)


def _with_terms(
    given: Specification, chosen: Mapping[Term, Term], inputs: tuple[Input, ...], outputs: tuple[Named, ...]
) -> Specification:
    """The specification with these terms for variables that are no inputs any more."""
    wires = [w.term for w in given.wires]
    new = instantiate([*given.roots(), *wires], chosen)
    return replace(
        given,
        inputs=inputs,
        cells=tuple(replace(c, next=new[c.next]) for c in given.cells),
        wires=(*outputs, *(replace(w, term=new[w.term]) for w in given.wires)),
        triggers=tuple(
            replace(t, guard=new[t.guard], args=tuple((n, new[a]) for n, a in t.args)) for t in given.triggers
        ),
        observers=tuple(replace(o, term=new[o.term]) for o in given.observers),
        properties=tuple(replace(p, term=new[p.term]) for p in given.properties),
        assumptions=tuple(replace(a, term=new[a.term]) for a in given.assumptions),
    )
