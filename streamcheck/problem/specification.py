"""A spec, flattened: cells that hold one value from one step to the next, and terms over them and the inputs.

    cell = [initial] ++ next

is the only temporal form left. All terms are over `var`s that this record declares: inputs (externs, and
`unknown`s, which are no inputs of the C), constants (the unknowns of forall and exists, the same at every step)
and cells. Wires name terms the user named; they are not variables, so terms stay shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, count

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.term import Term, cone, variable, variables, walk
from streamcheck.core.types import Type, part_names
from streamcheck.problem.claim import Claim
from streamcheck.problem.names import require_printable_names


@dataclass(frozen=True, slots=True)
class Input:
    name: str
    type: Type
    extern: bool  # else an `unknown`
    doc: str
    unit: str
    where: Location | None

    @property
    def var(self) -> Term:
        return variable(self.name, self.type)


@dataclass(frozen=True, slots=True)
class Constant:
    """The unknown of a forall or exists: any value of its type, the same at every step. `label` is the name that its
    parameter has in the spec, which others may have too."""

    name: str
    type: Type
    where: Location | None
    label: str

    @property
    def var(self) -> Term:
        return variable(self.name, self.type)


@dataclass(frozen=True, slots=True)
class Cell:
    """`name = [initial] ++ next`. A `free` cell may begin with any value of its type, of which `initial` is one: the
    one that runs show and compiled code has. The name is the user's if the cell is `named`; counterexamples leave
    out the others."""

    name: str
    initial: Term
    next: Term
    where: Location | None
    free: bool = False
    named: bool = True

    @property
    def var(self) -> Term:
        return variable(self.name, self.initial.type)


@dataclass(frozen=True, slots=True)
class Named:
    """A wire or an observer: a term with the user's name."""

    name: str
    term: Term
    where: Location | None


@dataclass(frozen=True, slots=True)
class Trigger:
    name: str
    guard: Term
    args: tuple[tuple[str | None, Term], ...]
    where: Location | None

    def terms(self) -> Iterator[Term]:
        """The guard and the arguments."""
        yield self.guard
        yield from (arg for _, arg in self.args)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """A call of a function without a definition, evaluated at the steps at which `tick` is true. Its outputs are
    inputs of the specification; at all steps, and in all calls, equal inputs of a function have equal outputs.

    No finite number of cells holds that, so engines do not know it. A proof does without it; a counterexample that
    breaks it is none."""

    function: str
    tick: Term
    inputs: tuple[Term, ...]
    outputs: tuple[Term, ...]

    def terms(self) -> Iterator[Term]:
        yield self.tick
        yield from self.inputs
        yield from self.outputs

    def with_images(self, image: Mapping[Term, Term]) -> FunctionCall:
        """The same call, with these images of its terms."""
        inputs, outputs = (tuple(image[t] for t in terms) for terms in (self.inputs, self.outputs))
        return FunctionCall(self.function, image[self.tick], inputs, outputs)


@dataclass(frozen=True, slots=True)
class ComponentInstance:
    """A component where it is used: its inputs and outputs as terms of the specification, those that matter. Its name
    begins with those of the instances around it; "" is the component that the specification is the body of.

    `assumes` is what its contract assumes at this step, and `held` is true if that was so at all steps before: a cell,
    or TRUE if nothing is assumed. `modes` have the terms that they require. The claims of its contract are properties
    of the specification, of which `origin` has the instance's name.
    """

    name: str
    component: str
    where: Location | None
    inputs: tuple[Named, ...]
    outputs: tuple[Named, ...]
    assumes: Term
    held: Term
    modes: tuple[Named, ...] = ()

    def terms(self) -> Iterator[Term]:
        yield from (n.term for n in (*self.inputs, *self.outputs, *self.modes))
        yield self.assumes
        yield self.held


@dataclass(frozen=True, slots=True)
class Component:
    """A component by itself: its body as a specification, whose inputs may be any, whose assumptions are those of its
    contract and whose properties are what the contract promises. Of a contract alone, the outputs are unknowns."""

    name: str
    body: Specification


@dataclass(frozen=True)
class Specification:
    name: str
    inputs: tuple[Input, ...]
    constants: tuple[Constant, ...]
    cells: tuple[Cell, ...]
    wires: tuple[Named, ...]  # in dependency order
    triggers: tuple[Trigger, ...]
    observers: tuple[Named, ...]
    properties: tuple[Claim, ...]
    assumptions: tuple[Claim, ...]
    where: Location | None
    warnings: tuple[str, ...] = ()  # of the reader, for the user
    calls: tuple[FunctionCall, ...] = ()
    unused: tuple[str, ...] = ()  # externs that the file declares and the spec does not use
    instances: tuple[ComponentInstance, ...] = ()  # those inside of others too; of a part of a spec, of the whole
    components: tuple[Component, ...] = ()  # of the instances; the bodies have none of their own
    fairness: tuple[Claim, ...] = ()  # infinite runs count if each is true infinitely often

    def __post_init__(self) -> None:
        require_printable_names(self)
        declared = set(self.variables())
        names = [v.payload for v in self.variables()]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.name}: two variables of one name")
        parts = [name for v in declared for name, _ in part_names(str(v.payload), v.type)]
        if len(set(parts)) != len(parts):
            name = next(name for name in sorted(parts) if parts.count(name) > 1)
            raise SpecError(f"`{name}` is the name of a variable and of a part of another", self.where)
        for claims in (self.properties, self.assumptions, self.fairness):
            if len({c.name for c in claims}) != len(claims):
                raise ValueError(f"{self.name}: two claims of one name")
        stray = [v.payload for v in variables([*self.roots(), *self.call_terms()]) if v not in declared]
        if stray:
            raise ValueError(f"{self.name}: undeclared variables {', '.join(map(str, stray))}")
        for cell in self.cells:
            if cell.initial.type is not cell.next.type or variables([cell.initial]):
                raise ValueError(f"{self.name}: cell {cell.name} is not [constant] ++ {cell.initial.type}")

    def about_steps(self) -> Specification:
        """The specification without what it says of infinite runs."""
        claims = tuple(p for p in self.properties if not p.is_about_infinite_runs)
        return replace(self, properties=claims, fairness=())

    def variables(self) -> Iterator[Term]:
        yield from self.choices()
        yield from (c.var for c in self.cells)

    def choices(self) -> Iterator[Term]:
        """The variables that a run chooses: inputs and constants."""
        yield from (i.var for i in self.inputs)
        yield from (c.var for c in self.constants)

    def outputs(self, *, observers: bool = True) -> Iterator[Term]:
        """The terms that a run shows: the triggers' guards and arguments, and the observers."""
        for trigger in self.triggers:
            yield from trigger.terms()
        if observers:
            yield from (o.term for o in self.observers)

    def needed_by(self, roots: Iterable[Term]) -> set[Term]:
        """The cone of influence of the roots: every term below them, through cells."""
        return cone(roots, {c.var: c.next for c in self.cells})

    def roots(self, claims: Iterable[Claim] | None = None) -> Iterator[Term]:
        """Every term of the record, of all claims or of these. Wires lie below all of them."""
        yield from self.outputs()
        yield from (a.term for a in self.assumptions)
        yield from (p.term for p in (self.properties if claims is None else claims))
        yield from (f.term for f in self.fairness)
        for cell in self.cells:
            yield cell.initial
            yield cell.next

    def call_terms(self) -> Iterator[Term]:
        """The terms of the calls, which only replay reads."""
        for call in self.calls:
            yield from call.terms()

    @cached_property
    def labels(self) -> Mapping[Term, str]:
        """The names of the constants for people: their labels, with a number if something else has that name, or
        another constant of the same claim."""
        own = {c.var: c.label for c in self.constants}
        names = {str(v.payload) for v in self.variables() if v not in own}
        names |= {n.name for n in (*self.wires, *self.observers)} | {p.name for p in self.properties}
        cones = [self.needed_by([p.term]) for p in self.properties] if own else []
        found: dict[Term, str] = {}
        for var, label in own.items():
            beside = {name for other, name in found.items() if any(var in c and other in c for c in cones)}
            numbered = chain([label], (f"{label}_{i}" for i in count(2)))
            found[var] = next(name for name in numbered if name not in names and name not in beside)
        return found

    @cached_property
    def size(self) -> int:
        """The number of different nodes of all terms together."""
        return sum(1 for _ in walk(self.roots()))
