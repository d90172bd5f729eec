"""Who wins the game of a specification: the component or its environment [KFGGBGW18].

    W    the region: all states but those of the rules so far, in each of which the environment wins
    K    the outputs keep the guarantees, and the next state is in W
    t_j  the answers so far: outputs as terms over the state and the inputs

Each round asks, without quantifiers,

    W ∧ A ∧ ⋀_j ¬K[o := t_j]

for a state and inputs to which no answer so far will do. If there are none, W and the answers win for the component.
Else, with the state and the inputs fixed: if some outputs will do, they become a new answer, as terms that have their
values there; if none will, the environment wins there, and a new rule has its inputs, as terms, and as many states
as the core of the same query allows. If the first state is among them, the environment wins the game.

Departs from the paper: answers and rules are found by terms that are read off the conditions first, for all types.
Projection of quantifiers comes second, on Int, Real, Bool and enums: test points as answers (`smt.witness`), and rules
by Cooper's elimination of the outputs (`smt.rows`). So finitely many answers do for each region if all is linear.

The solver has asserted, of the first query: A, members of enums, W, ¬K[o := t_j]. Limitations: not complete on Int and
Real; a rule excludes few states if no comparison of the conditions separates them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from streamcheck.core.evaluate import Evaluation, evaluate
from streamcheck.core.simplify import conjunction, disjunction, instantiate, negation
from streamcheck.core.term import TRUE, Term, constant, term, variables
from streamcheck.core.types import EnumType, Value
from streamcheck.smt.cooper import TooLarge
from streamcheck.smt.implicant import cube
from streamcheck.smt.rows import NotLinear, eliminate_quantifiers
from streamcheck.smt.solver import Solver
from streamcheck.smt.witness import witness
from streamcheck.synthesis.candidates import atoms, bounds_of, candidates
from streamcheck.transform.realization import ComponentMove, EnvironmentMove, Game, members

PATIENCE = 50_000_000  # of the solver for one query: some tens of seconds
POINTS, SUBSTITUTED = 3, 12  # bounds of an output that are put for it; conditions with bounds in them
CASES = 64  # values of enums among the outputs that are tried in an elimination
RELATIONS = 8  # terms over the state that are compared with each other, to describe the states of a rule


class GivenUp(Exception):
    """No answer; the message says why."""


@dataclass(frozen=True, slots=True)
class Won:
    """The component wins: its answers, in order, and the rules of the states that it must not enter."""

    answers: tuple[ComponentMove, ...]
    rules: tuple[EnvironmentMove, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """The environment wins by these rules, from these values of cells that have no fixed first one."""

    rules: tuple[EnvironmentMove, ...]
    start: Mapping[Term, Value]


@dataclass(slots=True)
class Synthesis:
    game: Game
    most_rounds: int | None = None
    patience: int = 30  # rounds before outputs are eliminated: often there is an end without (heuristic)
    rules: list[EnvironmentMove] = field(default_factory=list)
    answers: list[Mapping[Term, Term]] = field(default_factory=list)
    rounds: int = 0
    _eliminated: dict[Term, Term | None] = field(default_factory=dict)

    def solve(self) -> Won | Lost:
        """GivenUp if the solver has no answer, or after `most_rounds`."""
        while (point := self._open_point()) is not None:
            self.rounds += 1
            if self.most_rounds is not None and self.rounds > self.most_rounds:
                raise GivenUp(f"no answer after {self.most_rounds} rounds")
            answer = self._answer(point)
            if answer is not None:
                self.answers.append(answer)
                continue
            rule = self._rule(point)
            self.rules.append(rule)
            start = self._start_in(rule)
            if start is not None:
                return Lost(tuple(self.rules), start)
        return Won(self._needed_answers(), tuple(self.rules))

    @property
    def _cells(self) -> list[Term]:
        return [c.var for c in self.game.specification.cells]

    def _premise(self) -> list[Term]:
        """W"""
        return [negation(rule.states) for rule in self.rules]

    def _keeps(self) -> Term:
        """K"""
        states = [rule.states for rule in self.rules]
        after = instantiate(states, self.game.next)
        return conjunction(self.game.guarantee, *(negation(after[s]) for s in states))

    def _solver(self, *conditions: Term) -> Solver:
        solver = Solver(PATIENCE)
        solver.add(*(members(v) for v in [*self._cells, *self.game.inputs, *self.game.outputs]), *conditions)
        return solver

    def _check(self, solver: Solver, *assumed: Term) -> bool:
        answer = solver.check(*assumed)
        if answer is None:
            raise GivenUp(solver.reason)
        return answer

    def _query_of(self, answers: Sequence[Mapping[Term, Term]]) -> Solver:
        """A solver with W ∧ A ∧ ⋀_j ¬K[o := t_j]."""
        keeps = self._keeps()
        covered = [instantiate([keeps], answer)[keeps] for answer in answers]
        return self._solver(self.game.assumption, *self._premise(), *map(negation, covered))

    def _open_point(self) -> dict[Term, Value] | None:
        solver = self._query_of(self.answers)
        if not self._check(solver):
            return None
        return solver.values([*self._cells, *self.game.inputs])

    # Answers

    def _answer(self, point: Mapping[Term, Value]) -> dict[Term, Term] | None:
        """Outputs as terms that will do at the point. None if none will."""
        keeps, fixed = self._keeps(), _constants(point)
        there = instantiate([keeps], fixed)[keeps]
        solver = self._solver(there)
        if not self._check(solver):
            return None
        values, chosen = {**point, **solver.values(self.game.outputs)}, dict[Term, Term]()
        by_bounds = witness(keeps, values, self.game.outputs)
        for output in self.game.outputs:
            known = {v: value for v, value in values.items() if v in point or v in chosen}
            fitting = self._fitting_term(output, candidates(output, [keeps], known), known, solver)
            if fitting is None and by_bounds is not None:
                return by_bounds
            candidate, values[output] = fitting or self._value_left(output, solver)
            solver.add(self._equal(output, values[output]))
            chosen[output] = instantiate([candidate], chosen)[candidate]
        return chosen

    def _fitting_term(
        self, output: Term, terms: Sequence[Term], values: Mapping[Term, Value], solver: Solver
    ) -> tuple[Term, Value] | None:
        """The first term whose value at the point will do, and that value."""
        for candidate in terms:
            value = evaluate([candidate], values)[candidate]
            if self._check(solver, self._equal(output, value)):
                return candidate, value
        return None

    def _value_left(self, output: Term, solver: Solver) -> tuple[Term, Value]:
        self._check(solver)
        value = solver.values([output])[output]
        return constant(output.type, value), value

    def _equal(self, variable: Term, value: Value) -> Term:
        return term("same" if variable.type.kind == "float" else "eq", variable, constant(variable.type, value))

    def _needed_answers(self) -> tuple[ComponentMove, ...]:
        """The answers without which some states and inputs have none."""
        needed = list(self.answers) or [self._any_answer()]
        for answer in self.answers[:-1]:
            fewer = [a for a in needed if a is not answer]
            if fewer and self._are_enough(fewer):
                needed = fewer
        keeps = self._keeps()
        return tuple(ComponentMove(instantiate([keeps], a)[keeps], a) for a in needed)

    def _are_enough(self, answers: Sequence[Mapping[Term, Term]]) -> bool:
        return self._query_of(answers).check() is False

    def _any_answer(self) -> Mapping[Term, Term]:
        """For a game in which the environment has no inputs at all."""
        return {o: candidates(o, (), ())[0] for o in self.game.outputs}

    # Rules

    def _rule(self, point: Mapping[Term, Value]) -> EnvironmentMove:
        """Inputs, and the states in which they win. Of inputs as terms and as constants, those that win in more. After
        some rounds the elimination of the outputs instead, if these describe a number by its value: there may be no
        end."""
        state = {c: point[c] for c in self._cells}
        found = []
        for inputs in (self._inputs(point), {i: constant(i.type, point[i]) for i in self.game.inputs}):
            roots = [self._keeps(), self.game.assumption]
            new = instantiate(roots, inputs)
            literals = list(self._literals(state, [new[root] for root in roots]))
            found.append(self._wide_rule(inputs, literals))
        by_values, rule = min(found, key=lambda pair: len(pair[0]))
        if self.rounds > self.patience and any(_is_value_of_number(literal, point) for literal in by_values):
            rule = self._eliminated_rule(point) or rule
        return rule

    def _eliminated_rule(self, point: Mapping[Term, Value]) -> EnvironmentMove | None:
        """The rule that quantifier elimination gives: A ∧ ¬∃o. K at the point, inputs as terms, states as its literals.
        None if it is too large, or not linear."""
        escape = self._without_quantifier(self._keeps())
        if escape is None:
            return None
        wins = conjunction(self.game.assumption, negation(escape))
        inputs = witness(wins, point, self.game.inputs)
        if inputs is None:
            return None
        put = instantiate([wins], inputs)[wins]
        return self._wide_rule(inputs, cube([put], Evaluation(point), ()))[1]

    def _without_quantifier(self, keeps: Term) -> Term | None:
        """∃o. K"""
        if keeps not in self._eliminated:
            self._eliminated = {keeps: _exists(self.game.outputs, keeps)}
        return self._eliminated[keeps]

    def _inputs(self, point: Mapping[Term, Value]) -> dict[Term, Term]:
        """Inputs as terms over the cells that win at the point."""
        keeps, assumed = self._keeps(), self.game.assumption
        values, chosen = dict(point), dict[Term, Term]()
        state = {c: point[c] for c in self._cells}
        for i in self.game.inputs:
            chosen[i] = constant(i.type, point[i])
            for candidate in candidates(i, [keeps, assumed], state):
                if not variables([candidate]):
                    continue
                wish = {**values, i: evaluate([candidate], state)[candidate]}
                if self._wins_at(wish, keeps):
                    values, chosen[i] = wish, candidate
                    break
        return chosen

    def _wins_at(self, point: Mapping[Term, Value], keeps: Term) -> bool:
        """If the environment wins at the point: it meets the assumptions, and no outputs will do."""
        if not evaluate([self.game.assumption], point)[self.game.assumption]:
            return False
        there = instantiate([keeps], _constants(point))[keeps]
        return not self._check(self._solver(there))

    def _wide_rule(self, inputs: Mapping[Term, Term], literals: Sequence[Term]) -> tuple[list[Term], EnvironmentMove]:
        """The rule with these inputs for as many states as the literals allow, and those of them that it needs."""
        keeps, assumed = self._keeps(), self.game.assumption
        new = instantiate([keeps, assumed], inputs)
        # The environment does not win: ¬A ∨ K
        solver = self._solver(disjunction(negation(new[assumed]), new[keeps]))
        if self._check(solver, *literals):
            raise GivenUp("a state in which the environment wins was not described by its literals")
        kept = solver.core(literals)
        for literal in list(kept):
            fewer = [k for k in kept if k is not literal]
            if not self._check(solver, *fewer):
                core = set(solver.core(fewer))
                kept = [k for k in fewer if k in core]
        return kept, EnvironmentMove(conjunction(*kept), inputs)

    def _literals(self, state: Mapping[Term, Value], conditions: list[Term]) -> Iterator[Term]:
        """Conditions that are true in the state: values last to be dropped, comparisons of the conditions first."""
        known = set(state)
        for cell, value in state.items():
            same = constant(cell.type, value)
            if cell.type.is_number and cell.type.kind != "float":
                yield term("le", cell, same)
                yield term("ge", cell, same)
            elif cell.type.kind == "bool":
                yield cell if value else negation(cell)
            else:
                yield term("same" if cell.type.kind == "float" else "eq", cell, same)
        comparisons = [a for a in atoms(self._without_outputs(conditions)) if known.issuperset(variables([a]))]
        for output in self.game.outputs:
            bounds = [b for b in candidates(output, conditions, known) if output.type.is_number]
            comparisons += [term("lt", a, b) for a, b in combinations(bounds[:RELATIONS], 2)]
        truths = evaluate(comparisons, state)
        for comparison in dict.fromkeys(comparisons):
            if not comparison.is_const:
                yield comparison if truths[comparison] else negation(comparison)

    def _without_outputs(self, conditions: Iterable[Term]) -> list[Term]:
        """The conditions, and what becomes of them with bounds of the outputs in place of the outputs: the test points
        of quantifier elimination, as far as a few go."""
        cells, found = set(self._cells), list(conditions)
        pending = [tuple(found)]
        for output in self.game.outputs:
            known = cells | (set(self.game.outputs) - {output})
            pending = [
                tuple(instantiate(given, {output: bound})[t] for t in given)
                for given in pending
                for bound in bounds_of(output, given, known)[:POINTS]
            ][:SUBSTITUTED] or pending
            found += [t for given in pending for t in given]
        return found

    def _start_in(self, rule: EnvironmentMove) -> dict[Term, Value] | None:
        """Values of the cells that are free to begin with any, if the first state is one of the rule. None if not."""
        cells = self.game.specification.cells
        fixed = {c.var: c.initial for c in cells if not c.free}
        first = instantiate([rule.states], fixed)[rule.states]
        free = [c.var for c in cells if c.free]
        if not free:
            return {} if first is TRUE else None
        solver = self._solver(first)
        return solver.values(free) if self._check(solver) else None


def _is_value_of_number(literal: Term, point: Mapping[Term, Value]) -> bool:
    """If the literal compares a cell of Int or Real with its value at the point."""
    match literal.args:
        case (cell, value) if literal.op in ("le", "ge") and cell.op == "var" and value.is_const:
            return cell.type.kind in ("integer", "real") and value.payload == point[cell]
    return False


def _exists(outputs: Sequence[Term], keeps: Term) -> Term | None:
    """∃ outputs. keeps, without the quantifier. None if it is too large, or not linear."""
    members_of = [o for o in outputs if isinstance(o.type, EnumType)]
    if any(o.type.kind not in ("bool", "integer", "real") for o in outputs if o not in members_of):
        return None
    cases = [keeps]
    for o in members_of:
        assert isinstance(o.type, EnumType)
        cases = [instantiate([c], {o: constant(o.type, code)})[c] for c in cases for code in o.type.codes]
        if len(cases) > CASES:
            return None
    left = [o for o in outputs if o not in members_of]
    try:
        return disjunction(*(eliminate_quantifiers(left, case) for case in cases))
    except (NotLinear, TooLarge):
        return None


def _constants(point: Mapping[Term, Value]) -> dict[Term, Term]:
    return {v: constant(v.type, value) for v, value in point.items()}


def relevant(game: Game, lost: Lost) -> tuple[Game, Lost]:
    """The game with the guarantees, and the rules, that the cores of the rules' conditions need."""
    terms = {g.name: g.term for g in game.guarantees}
    entered = instantiate([r.states for r in lost.rules], game.next)
    names, rules = set[str](), set[int]([len(lost.rules) - 1])
    for number in range(len(lost.rules) - 1, -1, -1):
        if number not in rules:
            continue
        rule = lost.rules[number]
        escapes = {n: negation(entered[r.states]) for n, r in enumerate(lost.rules[:number])}
        new = instantiate([*terms.values(), *escapes.values()], rule.inputs)
        solver = Solver(PATIENCE, small_cores=True)
        solver.add(*map(members, game.outputs), rule.states)
        if solver.check(*(new[t] for t in [*terms.values(), *escapes.values()])) is not False:
            return game, lost
        core = set(solver.core(new[t] for t in [*terms.values(), *escapes.values()]))
        names |= {name for name, t in terms.items() if new[t] in core}
        rules |= {n for n, t in escapes.items() if new[t] in core}
    return game.only(sorted(names)), Lost(tuple(lost.rules[n] for n in sorted(rules)), lost.start)


def conflict(game: Game, lost: Lost, rounds: int) -> Iterator[tuple[Game, Lost, bool]]:
    """Ever fewer guarantees that cannot be kept together, with rules that show it. The last one is complete (True) if
    no guarantee of it can be left out."""
    game, lost = relevant(game, lost)
    yield game, lost, False
    smallest = True
    for name in [g.name for g in game.guarantees]:
        fewer = game.only([g.name for g in game.guarantees if g.name != name])
        if not fewer.guarantees:
            continue
        try:
            outcome = Synthesis(fewer, 20 + 4 * rounds).solve()
        except GivenUp:
            smallest = False
            continue
        if isinstance(outcome, Lost):
            game, lost = relevant(fewer, outcome)
            yield game, lost, False
    yield game, lost, smallest


def losing_run(game: Game, lost: Lost) -> list[dict[Term, Value]]:
    """A run in which the environment plays its rules and the component keeps the guarantees while it can: the values of
    each step; those of the last one are without outputs, since none keep them."""
    cells = game.specification.cells
    state = {c.var: lost.start.get(c.var, c.initial.payload) for c in cells}
    run: list[dict[Term, Value]] = []
    while len(run) <= len(lost.rules):
        rule = next(r for r in lost.rules if evaluate([r.states], state)[r.states])
        inputs = {i: evaluate([t], state)[t] for i, t in rule.inputs.items()}
        run.append({**state, **inputs})
        solver = Solver(PATIENCE)
        solver.add(*map(members, game.outputs))
        solver.add(instantiate([game.guarantee], _constants(run[-1]))[game.guarantee])
        if not solver.check():
            break
        run[-1] |= solver.values(game.outputs)
        after = evaluate([c.next for c in cells], run[-1])
        state = {c.var: after[c.next] for c in cells}
    return run
