"""Recursive functions and lemmas: which call each other, and the measures that they need."""

from __future__ import annotations

from collections.abc import Iterable

from streamcheck.frontends.lustre.syntax import LustreFile, NodeText
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.walks import subexpressions


def names_below(file: LustreFile, names: Iterable[str]) -> set[str]:
    """The nodes that these call, and that those call; without themselves if they do not come again."""
    found: set[str] = set()
    stack = [c for name in names for c in file.nodes[name].calls]
    while stack:
        name = stack.pop()
        if name in file.nodes and name not in found:
            found.add(name)
            stack += file.nodes[name].calls
    return found


def recursive_groups(file: LustreFile) -> dict[str, frozenset[str]]:
    """Of each function that needs itself, those that need it and that it needs."""
    below = {name: names_below(file, [name]) for name, node in file.nodes.items() if node.recursive}
    return {n: frozenset(m for m in below[n] if n in below.get(m, ())) for n in below if n in below[n]}


def check_recursion(file: LustreFile, tokens: Tokens) -> None:
    """Check that recursive functions have measures, over their inputs, of one length in each group."""
    for name, group in recursive_groups(file).items():
        node = file.nodes[name]
        if node.imported or node.contract is None or not node.contract.decreases:
            text = f"{name} is recursive and has no measure that decreases"
            raise tokens.error(node.at, text, write="con decreases n; noc")
        _check_measure(file, node, tokens)
        for other in group:
            contract = file.nodes[other].contract
            if contract is not None and contract.decreases and len(contract.decreases) != len(node.contract.decreases):
                text = f"{name} and {other} call each other, and their measures have different lengths"
                raise tokens.error(node.contract.decreases[0].at, text, write="the same number of values in each")


def _check_measure(file: LustreFile, node: NodeText, tokens: Tokens) -> None:
    assert node.contract is not None
    known = {v.name for v in node.inputs} | file.constants.keys()
    for value in node.contract.decreases:
        for e in subexpressions(value):
            if e.op == "name" and e.value not in known:
                text = f"the measure of {node.name} has {e.value} in it, which is no input"
                raise tokens.error(e.at, text, write="inputs and constants of the file only")
            if e.op in ("call", "any", "pre", "arrow"):
                raise tokens.error(e.at, f"the measure of {node.name} is no arithmetic of its inputs")
