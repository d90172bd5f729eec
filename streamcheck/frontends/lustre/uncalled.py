"""The types and causality of what no main node reaches: constants, types, contracts and nodes that nothing calls.

Each node is evaluated once, by itself: its inputs are unknowns, and so are the outputs of the nodes that it calls.
"""

from __future__ import annotations

from collections.abc import Iterable

from streamcheck.frontends.lustre.claims import Claims
from streamcheck.frontends.lustre.evaluator import NodeEvaluator
from streamcheck.frontends.lustre.scopes import LustreScope
from streamcheck.frontends.lustre.syntax import LustreFile, NodeText, name_expression
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.type_arguments import abstract_arguments


def check_uncalled(file: LustreFile, tokens: Tokens, mains: Iterable[NodeText]) -> None:
    """Evaluate each declaration that the main nodes do not reach, for its errors."""
    evaluator = NodeEvaluator(file, tokens, unfold=False)
    globals = evaluator.declarations.globals
    for name, text in file.types.items():
        arguments = tuple(abstract_arguments(file.parameters.get(name, ())).values())
        shape = evaluator.declarations.named_shape(name, text.at, arguments)
        if shape.is_refined:
            evaluator.declarations.within(shape, evaluator.variables.unknown(name, shape.type, text.at), globals)
    for name, definition in list(globals.definitions.items()):
        evaluator.term(name_expression(name, definition.at), globals)
    reached = _names_below(file, mains)
    for node in (*file.contracts.values(), *file.nodes.values()):
        # Arrays may have the size of a constant input, which is known in a call only.
        if (node.kind, node.name) not in reached and not any(v.constant for v in node.inputs):
            _check_node(evaluator, node)


def _names_below(file: LustreFile, mains: Iterable[NodeText]) -> set[tuple[str, str]]:
    """The kinds and names of the nodes and contracts that the main nodes call and import."""
    reached: set[tuple[str, str]] = set()
    stack = list(mains)
    while stack:
        node = stack.pop()
        if (node.kind, node.name) in reached:
            continue
        reached.add((node.kind, node.name))
        stack += (file.nodes[name] for name in node.calls if name in file.nodes)
        if node.contract is not None:
            stack += (file.contracts[i.contract] for i in node.contract.imports if i.contract in file.contracts)
    return reached


def _check_node(evaluator: NodeEvaluator, node: NodeText) -> None:
    scope = LustreScope("", evaluator.outermost, evaluator.declarations.globals, node)
    scope.types = abstract_arguments(node.parameters)
    for v in node.inputs:
        shape = evaluator.declarations.shape(v.type, scope)
        scope.values[v.name] = evaluator.variables.unknown(v.name, shape.type, v.at)
    evaluator.instances.populate(scope, node)
    claims = Claims(evaluator, scope, is_named=False)

    def add_claims(instance: LustreScope) -> None:
        if instance is scope:
            claims.add_instance(instance)

    evaluator.finish(add_claims)
