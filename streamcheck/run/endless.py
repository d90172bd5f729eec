"""Does some run meet the assumptions forever? If none does, proofs say nothing of the steps after the last run's end.

A run goes on forever if

    it comes back to a state: what happened since can happen again. Found by running the specification with inputs
    from a simple rule, or by bounded model checking with a copy of some state [BAS02], and replayed;
    from a state that it reaches, inputs from a rule meet the assumptions at every step: a proof by the engines, of the
    specification without inputs and assumptions, accepted by the checker;
    the assumptions are about the inputs of one step alone, and one step meets them.

The rules: the values of the last step, or default values, forever; numbers that grow at every step; and the value that
an assumption `x == t` gives. What none of this shows is a doubt, unless a proof shows that every run ends.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from streamcheck.certify.replay import run_of
from streamcheck.core.evaluate import value_of
from streamcheck.core.huge import is_huge
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, Term, constant, substitute, term, variable, variables
from streamcheck.core.types import BOOL, MachineType, Type, Value, belongs, default, plural
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Cell, Input, Specification
from streamcheck.problem.verdict import Trace
from streamcheck.run.decision import Decision
from streamcheck.run.director import Director
from streamcheck.run.registry import options_from
from streamcheck.run.stop import Stopped
from streamcheck.transform.fresh import fresh_name
from streamcheck.transform.product import same_value
from streamcheck.transform.vacuity import clock_before
from streamcheck.transform.views import views

SECONDS = 4.0  # for the solvers
MOST_STEPS = 300  # of a run by a rule
MOST_PROOFS = 3  # of rules that no run refutes
MOST_GROWING = 8  # inputs, each of which may be the one that grows
NO_LASSO, ENDS = "no run comes back to a state", "every run ends"


@dataclass(frozen=True, slots=True)
class InputRule:
    """The inputs of each step, as terms over the cells and those that the rule adds."""

    values: Mapping[Term, Term]
    cells: tuple[Cell, ...] = ()


@dataclass(slots=True)
class EndlessRun:
    """The search for a run of the specification that goes on forever. `known` is one that meets the assumptions."""

    specification: Specification
    known: Replay | None
    seconds: float
    jobs: int
    deterministic: bool
    longest: int = 0  # steps, of the runs that were found
    stopped: Stopped | None = None
    _began: float = field(default_factory=time.monotonic)

    def doubt(self) -> str | None:
        """A warning, if no such run is found."""
        part = _assumed_part(self.specification)
        self.longest = begun = len(self.known.steps) if self.known else 0
        if not part.cells:
            return None
        lasting = []
        for closed in _specifications_by_rule(part, self.known) if not part.calls else ():
            met = _steps_met(closed)
            if met is None:
                return None
            self.longest = max(self.longest, begun + met.steps)
            if not met.ended:
                lasting.append(closed)
        if any(self._is_proved(closed, *(p.name for p in closed.properties)) for closed in lasting[:MOST_PROOFS]):
            return None
        if self.longest and not lasting and self._is_proved(_with_end(part, self.longest + 1), ENDS):
            steps = plural(self.longest + 1, "step")
            return f"no run meets the assumptions for {steps}: later steps were not checked"
        if self._is_refuted(_with_lasso(part), NO_LASSO) or self.stopped:
            return None
        return (
            f"no run is known to meet the assumptions forever (one of {plural(self.longest, 'step')} was found): "
            "a proof may say nothing of later steps"
        )

    def _is_refuted(self, specification: Specification, name: str) -> bool:
        return self._decisions(specification, 0.5, ("bmc",))[name].verdict == "falsified"

    def _is_proved(self, specification: Specification, *names: str) -> bool:
        decisions = self._decisions(specification, 0.4)
        return all(decisions[name].verdict == "proved" for name in names)

    def _decisions(
        self, specification: Specification, share: float, engines: Sequence[str] = ()
    ) -> dict[str, Decision]:
        """The decisions of a run that takes at most this share of the time that is left."""
        left = max(0.0, self._began + self.seconds - time.monotonic())
        director = Director(
            specification,
            views(specification),
            0.0 if self.stopped else share * left,
            self.jobs,
            engines,
            deterministic=self.deterministic,
            options=options_from({}),
        )
        decisions = director.run()
        self.stopped = self.stopped or director.stopped
        return decisions


def _assumed_part(specification: Specification) -> Specification:
    """The cells and inputs that the assumptions depend on."""
    cone = specification.needed_by([a.term for a in specification.assumptions])
    calls = tuple(c for c in specification.calls if cone.intersection(c.outputs))
    cone |= specification.needed_by([t for call in calls for t in call.terms()])
    return replace(
        specification,
        inputs=tuple(i for i in specification.inputs if i.var in cone),
        constants=tuple(c for c in specification.constants if c.var in cone),
        cells=tuple(c for c in specification.cells if c.var in cone),
        wires=(),
        triggers=(),
        observers=(),
        properties=(),
        calls=calls,
    )


# Rules


def _specifications_by_rule(part: Specification, known: Replay | None) -> Iterator[Specification]:
    """For each rule the specification without inputs, from the state after the known run (else from the first): the
    assumptions are its properties."""
    last = known.steps[-1] if known else None
    state = {c.var: last[c.next] if last else value_of(c.initial, {}) for c in part.cells}
    values = {v: last[v] if last else default(v.type) for v in part.choices()}
    fixed = {c.var: constant(c.type, values[c.var]) for c in part.constants}
    for rule in _rules(part, values, known):
        changed = {**fixed, **rule.values}
        roots = [*(c.next for c in part.cells), *(a.term for a in part.assumptions)]
        by_rule = substitute(roots, changed)
        added = [replace(c, next=substitute([c.next], changed)[c.next]) for c in rule.cells]
        yield replace(
            part,
            inputs=(),
            constants=(),
            cells=(
                *(
                    replace(c, initial=constant(c.var.type, state[c.var]), next=by_rule[c.next], free=False)
                    for c in part.cells
                ),
                *added,
            ),
            properties=tuple(replace(a, term=by_rule[a.term]) for a in part.assumptions),
            assumptions=(),
        )


def _rules(part: Specification, values: Mapping[Term, Value], known: Replay | None) -> Iterator[InputRule]:
    inputs = [i.var for i in part.inputs]
    same = {v: constant(v.type, values[v]) for v in inputs}
    yield InputRule(same)
    yield InputRule({v: constant(v.type, default(v.type)) for v in inputs})
    given = {v: substitute([t], same)[t] for v, t in _equations(part)}
    if given:
        yield InputRule(same | given)
    numbers = [v for v in inputs if v.type.is_number][:MOST_GROWING]
    groups = [numbers, *([v] for v in numbers)] if len(numbers) > 1 else [numbers]
    for steps in (_differences(numbers, known), dict.fromkeys(numbers, 1)):
        for growing in groups:
            if any(steps.get(v) for v in growing):
                yield _growing_rule(part, same, {v: steps[v] for v in growing if steps.get(v)})


def _differences(numbers: Iterable[Term], known: Replay | None) -> dict[Term, int]:
    """By how much each of these integers grew at the last step."""
    if known is None or len(known.steps) < 2:
        return {}
    before, last = known.steps[-2:]
    return {v: _difference(v.type, last[v], before[v]) for v in numbers if v.type.is_integer}


def _difference(type: Type, a: Value, b: Value) -> int:
    assert isinstance(a, int) and isinstance(b, int)
    return type.wrap(a - b) if isinstance(type, MachineType) else a - b


def _growing_rule(part: Specification, same: Mapping[Term, Term], steps: Mapping[Term, int]) -> InputRule:
    """Each of these grows by so much at every step."""
    taken = {str(v.payload) for v in part.variables()}
    cells, values = list[Cell](), dict(same)
    for v, step in steps.items():
        name = fresh_name(f"the last {v.payload}", taken)
        taken.add(name)
        values[v] = term("add", variable(name, v.type), constant(v.type, belongs(v.type, step)))
        cells.append(Cell(name, same[v], values[v], None, named=False))
    return InputRule(values, tuple(cells))


def _equations(part: Specification) -> Iterator[tuple[Term, Term]]:
    """The inputs that an assumption equates with a term without them."""
    inputs = {i.var for i in part.inputs}
    stack = [a.term for a in part.assumptions]
    while stack:
        node = stack.pop()
        if node.op == "and":
            stack.extend(node.args)
        elif node.op in ("eq", "same"):
            for a, b in (node.args, reversed(node.args)):
                if a in inputs and a not in variables([b]):
                    yield a, b


class _Met(NamedTuple):
    """The steps of a run at which all properties are true, and if one is false then."""

    steps: int
    ended: bool


def _steps_met(closed: Specification) -> _Met | None:
    """The steps of the one run before a property is false, as far as it is computed: at most `MOST_STEPS`, and until a
    number is huge. None if none ever is, as the run comes back to a state."""
    seen: set[str] = set()
    for step, values in enumerate(run_of(closed, Trace({}, ({},) * MOST_STEPS))):
        state = repr([values[c.var] for c in closed.cells])  # which tells 0.0 from -0.0, and NaN is NaN
        if state in seen:
            return None
        seen.add(state)
        if not all(values[p.term] for p in closed.properties):
            return _Met(step, ended=True)
        if any(is_huge(values[c.var]) for c in closed.cells):
            return _Met(step, ended=False)
    return _Met(MOST_STEPS, ended=False)


# Claims


def _with_end(part: Specification, steps: int) -> Specification:
    """The specification with the claim that no run has so many steps."""
    cell, before_last = clock_before(part, steps)
    return replace(part, cells=(*part.cells, cell), properties=(Claim(ENDS, before_last),))


def _with_lasso(part: Specification) -> Specification:
    """The specification with a copy of the state of some step, and a claim that no later state is equal to it."""
    taken = {str(v.payload) for v in part.variables()}

    def fresh(name: str) -> str:
        taken.add(new := fresh_name(name, taken))
        return new

    save = variable(fresh("save"), BOOL)
    saved = variable(fresh("saved"), BOOL)
    cells = [Cell(str(saved.payload), FALSE, term("or", saved, save), None, named=False)]
    equal = []
    takes = term("and", save, term("not", saved))
    for cell in part.cells:
        copy = variable(fresh(f"saved {cell.name}"), cell.var.type)
        following = term("mux", takes, cell.var, copy)
        cells.append(Cell(str(copy.payload), cell.initial, following, None, named=False))
        equal.append(same_value(cell.var, copy))
    return replace(
        part,
        inputs=(*part.inputs, Input(str(save.payload), BOOL, True, "", "", None)),
        cells=(*part.cells, *cells),
        properties=(Claim(NO_LASSO, term("not", conjunction(saved, *equal))),),
    )
