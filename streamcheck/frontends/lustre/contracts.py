"""Contracts: their assumptions, guarantees and modes, as claims about an instance.

For the main node, assumptions restrict the runs, and guarantees are properties. For a node that is called,
assumptions are properties of the caller; guarantees and modes are properties too, because calls are unfolded. Each
mode must be active at some step.
An imported node has no body: its guarantees are assumed for as long as its assumptions have held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from streamcheck.core.term import TRUE, Term, term
from streamcheck.core.types import BOOL
from streamcheck.frontends.lustre.evaluator import NodeEvaluator
from streamcheck.frontends.lustre.scopes import LazyDefinition, LustreScope
from streamcheck.frontends.lustre.syntax import Clause, Contract, Import, name_expression
from streamcheck.frontends.operations import logic


@dataclass(frozen=True, slots=True)
class ContractClaim:
    """One claim of a contract; `name` begins with the path of its instance."""

    role: Literal["assume", "guarantee", "reachable"]
    name: str
    term: Term
    at: int


def contract_scope(evaluator: NodeEvaluator, contract: Contract, scope: LustreScope) -> LustreScope:
    """The ghosts and modes of a contract, in a scope of their own inside the node's."""
    inner = LustreScope(scope.path, scope.context, scope, scope.node)
    evaluator.declarations.declare_constants(inner, contract.constants)
    for ghost in contract.ghosts:
        inner.shapes[ghost.name] = evaluator.declarations.shape(ghost.type, inner)
    for equation in contract.equations:
        evaluator.instances.add_equation(inner, equation)
    for mode in contract.modes:
        inner.modes[mode.name] = mode
    for imported in contract.imports:
        inner.imports[imported.contract] = _import_scope(evaluator, imported, inner)
    return inner


def _import_scope(evaluator: NodeEvaluator, imported: Import, scope: LustreScope) -> LustreScope:
    node = evaluator.file.contracts.get(imported.contract)
    if node is None or node.contract is None:
        raise evaluator.tokens.error(imported.at, f"contract {imported.contract} is not declared")
    if len(imported.inputs) != len(node.inputs) or len(imported.outputs) != len(node.outputs):
        text = f"contract {node.name} has {len(node.inputs)} inputs and {len(node.outputs)} outputs"
        raise evaluator.tokens.error(imported.at, text)
    path = evaluator.variables.fresh(f"{scope.path}{node.name}{evaluator.tokens.place(imported.at)}")
    outer = LustreScope(f"{path}.", scope.context, evaluator.declarations.globals, node)
    outer.types = evaluator.declarations.type_arguments(node, imported.types, imported.inputs, scope, imported.at)
    for v, value in zip(node.inputs, imported.inputs, strict=True):
        outer.definitions[v.name] = LazyDefinition((v.name,), value, scope, imported.at)
    for v, name in zip(node.outputs, imported.outputs, strict=True):
        outer.definitions[v.name] = LazyDefinition((v.name,), name_expression(name, imported.at), scope, imported.at)
    for v in (*node.inputs, *node.outputs):
        outer.shapes[v.name] = evaluator.declarations.shape(v.type, outer)
    return contract_scope(evaluator, node.contract, outer)


def contract_claims(evaluator: NodeEvaluator, contract: Contract, inner: LustreScope) -> Iterator[ContractClaim]:
    """The claims of a contract and of the contracts it imports."""
    for clause in contract.assumes:
        yield _claim(evaluator, "assume", clause, inner)
    for clause in contract.guarantees:
        yield _claim(evaluator, "guarantee", clause, inner)
    requirements = [evaluator.requirement(mode, inner) for mode in contract.modes]
    for mode, active in zip(contract.modes, requirements, strict=True):
        yield ContractClaim("reachable", f"{inner.path}{mode.name}: reachable", active, mode.at)
        for clause in mode.ensures:
            ensured = evaluator.term(clause.value, inner, BOOL)
            name = _name(evaluator, clause, f"{inner.path}{mode.name}: ensure")
            yield ContractClaim("guarantee", name, logic("implies", active, ensured), clause.at)
    for name in [*inner.definitions]:  # ghosts that no clause reads are checked too
        evaluator.term(name_expression(name, inner.definitions[name].at), inner)
    for imported in contract.imports:
        node = evaluator.file.contracts[imported.contract]
        assert node.contract is not None
        yield from contract_claims(evaluator, node.contract, inner.imports[imported.contract])


def _claim(
    evaluator: NodeEvaluator, role: Literal["assume", "guarantee"], clause: Clause, inner: LustreScope
) -> ContractClaim:
    name = _name(evaluator, clause, f"{inner.path}{role}")
    return ContractClaim(role, name, evaluator.term(clause.value, inner, BOOL), clause.at)


def _name(evaluator: NodeEvaluator, clause: Clause, prefix: str) -> str:
    return f"{prefix} {clause.name or evaluator.tokens.source(clause.at, clause.last)}"


def while_ticking(scope: LustreScope, claim: Term) -> Term:
    tick = scope.context.tick
    return claim if tick is TRUE else term("implies", tick, claim)
