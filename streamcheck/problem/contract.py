"""Contracts by themselves: what a component assumes and promises, over its inputs and outputs alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from streamcheck.core.errors import SpecError
from streamcheck.core.names import FreshNames
from streamcheck.core.term import Term, cone, substitute
from streamcheck.problem.claim import Claim, OfContract
from streamcheck.problem.specification import Cell, Input, Specification


@dataclass(frozen=True, slots=True)
class ContractMode:
    """At each step at which `require` is true, `ensure` is."""

    name: str
    require: Term
    ensure: Term


@dataclass(frozen=True, slots=True)
class OpenContract:
    """A contract as an open specification: its `inputs` are externs, its outputs unknowns, its cells ghosts. A step may
    have any outputs that keep the `guarantees` (what modes ensure, and that one is active, are among them), as long as
    the `assumptions` have held at every step so far, this one included."""

    open: Specification
    modes: tuple[ContractMode, ...]

    @property
    def name(self) -> str:
        return self.open.name

    @property
    def inputs(self) -> tuple[Input, ...]:
        return tuple(i for i in self.open.inputs if i.extern)

    @property
    def outputs(self) -> tuple[Input, ...]:
        return tuple(i for i in self.open.inputs if not i.extern)

    @property
    def ghosts(self) -> tuple[Cell, ...]:
        return self.open.cells

    @property
    def assumptions(self) -> tuple[Claim, ...]:
        return self.open.assumptions

    @property
    def guarantees(self) -> tuple[Claim, ...]:
        return self.open.properties


def contract_of(body: Specification) -> OpenContract:
    """The contract of the body of a component. What its clauses say of other streams of the body than the outputs
    remains, as ghosts; an output that is a constant, or an input passed on, is none of the contract's."""
    own = next((i for i in body.instances if not i.name), None)
    if own is None:
        raise SpecError(f"{body.name} is no component: it has no contract", body.where)
    claims = tuple(p for p in body.properties if isinstance(p.origin, OfContract) and not p.origin.instance)
    names = FreshNames(str(v.payload) for v in body.variables())
    cut: dict[Term, Input] = {}
    for o in own.outputs:
        if o.term.op != "const" and o.term not in set(body.choices()) and o.term not in cut:
            cut[o.term] = Input(names.fresh(o.name), o.term.type, False, "", "", o.where)
    images = {t: i.var for t, i in cut.items()}
    ensured = {p.name: p.term for p in claims}
    modes = [(m.name, m.term, ensured[f"mode {m.name}"].args[1]) for m in own.modes if f"mode {m.name}" in ensured]
    replaced = substitute([t for _, *terms in modes for t in terms], images)
    return OpenContract(
        _open(body, claims, images, tuple(cut.values())),
        tuple(ContractMode(name, replaced[require], replaced[ensure]) for name, require, ensure in modes),
    )


def _open(
    body: Specification, claims: tuple[Claim, ...], images: Mapping[Term, Term], outputs: tuple[Input, ...]
) -> Specification:
    """The clauses with variables in place of the outputs, and the ghosts that they depend on."""
    image = substitute([*(c.term for c in (*claims, *body.assumptions)), *(c.next for c in body.cells)], images)
    claims = tuple(replace(c, term=image[c.term]) for c in claims)
    assumptions = tuple(replace(a, term=image[a.term]) for a in body.assumptions)
    needed = cone([c.term for c in (*claims, *assumptions)], {c.var: image[c.next] for c in body.cells})
    cells = tuple(replace(c, next=image[c.next]) for c in body.cells if c.var in needed)
    return Specification(
        body.name,
        (*(i for i in body.inputs if i.extern or i.var in needed), *outputs),
        tuple(c for c in body.constants if c.var in needed),
        cells,
        (),
        (),
        (),
        claims,
        assumptions,
        body.where,
    )
