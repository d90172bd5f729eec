"""Machine types for Int streams, by proof.

The search looks for a range of every Int cell and input that no run leaves: bounds are the constants of the spec and
the limits of the machine types, tried from the tightest outwards until all together are inductive. The ranges are then
proved like any property, certificate and second solver included. Ranges of the other terms follow by interval
arithmetic, and every operator is computed in the smallest type that holds its operands and its result: nothing wraps
around, so the values are the same.

An Int extern has a range only if an assumption gives it one; a Real has no exact machine type at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from streamcheck.certify.judge import is_contradictory
from streamcheck.certify.runs import read_specification
from streamcheck.certify.script import Script
from streamcheck.codegen.lower import is_mathematical, mathematical_streams
from streamcheck.core.errors import SpecError
from streamcheck.core.intervals import Intervals, is_bounded
from streamcheck.core.location import Location
from streamcheck.core.operators import c_type
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, constant, rebuild, term, variable, walk
from streamcheck.core.types import INT, MachineType, Type, machine
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Named, Specification
from streamcheck.run.prove import Alarm, Settings, prove

Range = tuple[int, int]
SECONDS = 2.0  # for one question of the search
LIMITS = [machine(w, signed=s) for w in (8, 16, 32, 64) for s in (False, True)]


def narrow(specification: Specification, lemmas: Sequence[Term], settings: Settings) -> tuple[Specification, list[str]]:
    """The specification over machine types, and remarks on the proved ranges. `lemmas` hold at every step."""
    needed = specification.needed_by(specification.outputs())
    if not any(is_mathematical(n.type) for n in needed):
        return specification, []
    _refuse_what_stays(specification, needed)
    variables = [v for v in specification.variables() if v in needed and v.type is INT]
    ranges = Search(specification, variables, lemmas).ranges()
    _prove(specification, ranges, settings)
    kept = replace(specification, properties=(), assumptions=())
    return Narrowing(kept, needed, Intervals(ranges)).specification(), _range_remarks(ranges)


def _refuse_what_stays(specification: Specification, needed: set[Term]) -> None:
    others = [n for n in needed if is_mathematical(n.type) and n.type is not INT]
    if others:
        what, type, where = mathematical_streams(specification, others)[0]
        kind = "a Real, which no machine type holds exactly" if type.kind == "real" else f"{type}, with Int inside"
        raise SpecError(f"{what} is {kind}", where, write="Float or Double; machine types inside arrays and structs")


def _prove(specification: Specification, ranges: dict[Term, Range], settings: Settings) -> None:
    """Prove and check the ranges like any property. SpecError if one is not proved."""
    claims = tuple(
        Claim(f"{var.payload} in {low} to {high}", _inside(var, low, high), _where(specification, var))
        for var, (low, high) in ranges.items()
    )
    verdicts = prove(replace(specification, properties=(*specification.properties, *claims)), settings)
    if verdicts.alarms:
        raise Alarm("; ".join(verdicts.alarms))
    for result in verdicts.results[len(specification.properties) :]:
        if result.verdict != "proved":
            raise SpecError(f"{result.name} could not be proved ({result.reason or result.verdict})", result.prop.where)


def _where(specification: Specification, var: Term) -> Location | None:
    declared: list[Input | Cell] = [*specification.inputs, *specification.cells]
    return next((d.where for d in declared if d.var is var), None)


def _inside(var: Term, low: int, high: int) -> Term:
    return conjunction(term("ge", var, constant(INT, low)), term("le", var, constant(INT, high)))


def _range_remarks(ranges: dict[Term, Range]) -> list[str]:
    return [
        f"proved to stay in {low} … {high}: {var.payload}, an Int, so it is {c_type(smallest(low, high))} here"
        for var, (low, high) in ranges.items()
    ]


def smallest(low: int, high: int) -> MachineType:
    """The smallest machine type for a range, unsigned if both fit."""
    for type in LIMITS:
        if type.low <= low and high <= type.high:
            return type
    raise OverflowError


class Search:
    """Bounds that are inductive together: each bound is loosened until the step preserves it."""

    def __init__(self, specification: Specification, variables: list[Term], lemmas: Sequence[Term]) -> None:
        self.specification = specification
        self.variables = variables
        self.lemmas = conjunction(*lemmas, *(a.term for a in specification.assumptions))
        self.cells = {c.var: c for c in specification.cells}
        bare = replace(specification, triggers=(), observers=(), properties=(), wires=())
        self.runs = read_specification(bare).runs
        constants = {n.payload for n in walk(specification.roots()) if n.is_const and n.type is INT}
        near = {c + d for c in constants for d in (-1, 0, 1)}
        near |= {limit for t in LIMITS for limit in (t.low, t.high)}
        self.steps = sorted(near)
        self.at: dict[Term, list[int]] = {}

    def ranges(self) -> dict[Term, Range]:
        for var in self.variables:
            start = self.cells[var].initial.payload if var in self.cells else 0
            above = [i for i, s in enumerate(self.steps) if s >= start]
            below = [i for i, s in enumerate(self.steps) if s <= start]
            self.at[var] = [max(below), min(above)]
        changed = True
        while changed:
            changed = False
            for var in self.variables:
                for side in (0, 1):
                    while not self._is_kept(var, side):
                        self._loosen(var, side)
                        changed = True
        return {var: (self.steps[low], self.steps[high]) for var, (low, high) in self.at.items()}

    def _loosen(self, var: Term, side: int) -> None:
        self.at[var][side] += (-1, 1)[side]
        if not 0 <= self.at[var][side] < len(self.steps):
            name = f"`{var.payload}`"
            extern = var not in self.cells
            raise SpecError(
                f"no range of 64 bits was found for {name}, an Int",
                _where(self.specification, var),
                write=f'spec.assume("range", ({var.payload} >= 0) & ({var.payload} < 1000))'
                if extern
                else "a machine type, or a bound in its definition: minimum(n + 1, 1000)",
            )

    def _bound(self, var: Term, side: int, of: Term) -> Term:
        return term(("ge", "le")[side], of, constant(INT, self.steps[self.at[var][side]]))

    def _is_kept(self, var: Term, side: int) -> bool:
        """True if all bounds so far ∧ lemmas ⊨ this bound one step later (of an input: now)."""
        after = self.cells[var].next if var in self.cells else var
        others = [
            self._bound(v, s, v) for v in self.variables for s in (0, 1) if v in self.cells or (v, s) != (var, side)
        ]
        if var not in self.cells:
            others = []
        given = conjunction(self.lemmas, *others)

        def query(script: Script) -> None:
            script.start(initial=False)
            script.require(script.symbol(given, 0))
            script.require(f"(not {script.symbol(self._bound(var, side, after), 0)})")

        return is_contradictory(self.runs, query, SECONDS) is True


@dataclass(slots=True)
class Narrowing:
    """The same equations over machine types, node by node."""

    source: Specification
    needed: set[Term]
    intervals: Intervals  # from those of the Int variables

    def specification(self) -> Specification:
        specification = self.source
        cells = [c for c in specification.cells if c.var in self.needed]
        roots = [*specification.outputs(), *(c.next for c in cells), *(c.var for c in cells)]
        roots += [i.var for i in specification.inputs if i.var in self.needed]
        images: dict[Term, Term] = {}
        for node in walk(roots):
            images[node] = self._image(node, images)
        return replace(
            specification,
            inputs=tuple(replace(i, type=images[i.var].type) for i in specification.inputs if i.var in images),
            constants=(),
            cells=tuple(self._cell(c, images) for c in cells),
            wires=tuple(Named(w.name, images[w.term], w.where) for w in specification.wires if w.term in images),
            triggers=tuple(
                replace(t, guard=images[t.guard], args=tuple((n, images[a]) for n, a in t.args))
                for t in specification.triggers
            ),
            observers=tuple(replace(o, term=images[o.term]) for o in specification.observers),
        )

    def _cell(self, cell: Cell, images: dict[Term, Term]) -> Cell:
        type = images[cell.var].type
        return replace(cell, initial=self._initial(type, cell.initial), next=self._cast(type, images[cell.next]))

    def _initial(self, type: Type, initial: Term) -> Term:
        return constant(type, initial.payload) if initial.type is INT else initial

    def _cast(self, type: Type, node: Term) -> Term:
        if node.type is type:
            return node
        if node.is_const:
            return constant(type, node.payload)
        return term("cast", node, payload=type)

    def _image(self, node: Term, images: dict[Term, Term]) -> Term:
        if node.type is INT:
            low, high = self._range(node)
            try:
                own = smallest(low, high)
            except OverflowError:
                raise SpecError(
                    f"an Int between {low} and {high} does not fit any machine type", self.source.where
                ) from None
            if node.op == "var":
                return variable(node.payload, own)
            if node.is_const:
                return constant(own, node.payload)
        elif not any(a.type is INT for a in node.args):
            return rebuild(node, [images[a] for a in node.args])
        return self._operation(node, images)

    def _operation(self, node: Term, images: dict[Term, Term]) -> Term:
        if node.op == "cast" and node.type is not INT:
            return term("cast", images[node.args[0]], payload=node.type)
        if node.op == "cast":
            return self._cast(smallest(*self._range(node)), images[node.args[0]])
        if node.op in ("shl", "shr", "index", "update") and node.type is not INT:
            return term(node.op, *(images[a] for a in node.args), payload=node.payload)
        spans = [self._range(a) for a in node.args if a.type is INT]
        spans += [self._range(node)] if node.type is INT else []
        if node.op == "neg" or node.op == "abs":
            spans.append((min(s[0] for s in spans), max(0, *(s[1] for s in spans))))
        wide = smallest(min(s[0] for s in spans), max(s[1] for s in spans))
        args = [self._cast(wide, images[a]) if a.type is INT else images[a] for a in node.args]
        made = term(node.op, *args, payload=node.payload)
        return self._cast(smallest(*self._range(node)), made) if node.type is INT else made

    def _range(self, node: Term) -> Range:
        interval = self.intervals.of(node)
        if is_bounded(interval):
            return int(interval[0]), int(interval[1])
        if node.op == "cast":
            raise SpecError("an Int made from a float has no range", write="unsafe_cast(Int32, s)")
        raise SpecError(f"the Int result of `{node.op}` cannot be narrowed", self.source.where, write="a machine type")
