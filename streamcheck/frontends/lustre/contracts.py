"""Contracts: what they assume, guarantee and demand in each mode, as claims about an instance.

Of the main node, assumptions hold in every run that counts, and guarantees are properties. Of a node that is called,
assumptions are properties of the caller; guarantees and modes are properties too, for what is called is unfolded.
An imported node has no body: there they are what is known of it, as long as its assumptions have held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from streamcheck.core.simplify import conjunction, disjunction
from streamcheck.core.term import TRUE, Term, term
from streamcheck.core.types import BOOL
from streamcheck.frontends.lustre.operators import logic
from streamcheck.frontends.lustre.scopes import Definition, Scope
from streamcheck.frontends.lustre.syntax import Clause, Contract, Import, Mode

if TYPE_CHECKING:
    from streamcheck.frontends.lustre.unfold import Unfolding


@dataclass(frozen=True, slots=True)
class Item:
    """One claim of a contract; `name` begins with the path of its instance."""

    role: Literal["assume", "guarantee"]
    name: str
    term: Term
    at: int


def contract_scope(unfolding: Unfolding, contract: Contract, scope: Scope) -> Scope:
    """The ghosts and modes of a contract, in a scope of their own inside the node's."""
    inner = Scope(scope.path, scope.context, scope, scope.node)
    unfolding.declare_constants(inner, contract.constants)
    for ghost in contract.ghosts:
        inner.shapes[ghost.name] = unfolding.shape(ghost.type, inner)
    for equation in contract.equations:
        unfolding.add_equation(inner, equation, {g.name for g in contract.ghosts})
    for mode in contract.modes:
        inner.modes[mode.name] = mode
    for imported in contract.imports:
        inner.imports[imported.contract] = _imported(unfolding, imported, inner)
    return inner


def _imported(unfolding: Unfolding, imported: Import, scope: Scope) -> Scope:
    node = unfolding.program.contracts.get(imported.contract)
    if node is None or node.contract is None:
        raise unfolding.tokens.error(imported.at, f"there is no contract {imported.contract}")
    if len(imported.inputs) != len(node.inputs) or len(imported.outputs) != len(node.outputs):
        text = f"contract {node.name} has {len(node.inputs)} inputs and {len(node.outputs)} outputs"
        raise unfolding.tokens.error(imported.at, text)
    path = unfolding.fresh(f"{scope.path}{node.name}{unfolding.place(imported.at)}")
    outer = Scope(f"{path}.", scope.context, unfolding.globals, node)
    for v, value in zip(node.inputs, imported.inputs, strict=True):
        outer.definitions[v.name] = Definition((v.name,), value, scope, imported.at)
    for v, name in zip(node.outputs, imported.outputs, strict=True):
        outer.definitions[v.name] = Definition((v.name,), unfolding.name(name, imported.at), scope, imported.at)
    for v in (*node.inputs, *node.outputs):
        outer.shapes[v.name] = unfolding.shape(v.type, outer)
    return contract_scope(unfolding, node.contract, outer)


def items(unfolding: Unfolding, contract: Contract, inner: Scope) -> Iterator[Item]:
    """The claims of a contract and of what it imports."""
    for clause in contract.assumes:
        yield _item(unfolding, "assume", clause, inner)
    for clause in contract.guarantees:
        yield _item(unfolding, "guarantee", clause, inner)
    required = [required_by(unfolding, mode, inner) for mode in contract.modes]
    for mode, active in zip(contract.modes, required, strict=True):
        for clause in mode.ensures:
            ensured = unfolding.term(clause.value, inner, BOOL)
            name = _name(unfolding, clause, f"{inner.path}{mode.name}: ensure")
            yield Item("guarantee", name, logic("implies", active, ensured), clause.at)
    if contract.modes:
        yield Item("guarantee", f"{inner.path}some mode is active", disjunction(*required), contract.modes[0].at)
    for imported in contract.imports:
        node = unfolding.program.contracts[imported.contract]
        assert node.contract is not None
        yield from items(unfolding, node.contract, inner.imports[imported.contract])


def _item(unfolding: Unfolding, role: Literal["assume", "guarantee"], clause: Clause, inner: Scope) -> Item:
    name = _name(unfolding, clause, f"{inner.path}{role}")
    return Item(role, name, unfolding.term(clause.value, inner, BOOL), clause.at)


def _name(unfolding: Unfolding, clause: Clause, prefix: str) -> str:
    return f"{prefix} {clause.name or unfolding.tokens.source(clause.at, clause.last)}"


def required_by(unfolding: Unfolding, mode: Mode, inner: Scope) -> Term:
    return conjunction(*(unfolding.term(clause.value, inner, BOOL) for clause in mode.requires))


def mode_reference(unfolding: Unfolding, path: str, at: int, scope: Scope) -> Term:
    """`::contract::mode`: that its requirements hold."""
    *contracts, name = path.split("::")
    found: Scope | None = scope
    while found is not None and not (found.modes or found.imports):
        found = found.parent
    for contract in contracts:
        found = None if found is None else found.imports.get(contract)
    if found is None or name not in found.modes:
        raise unfolding.tokens.error(at, f"there is no mode ::{path} here")
    return required_by(unfolding, found.modes[name], found)


def when_ticking(scope: Scope, claim: Term) -> Term:
    tick = scope.context.tick
    return claim if tick is TRUE else term("implies", tick, claim)
