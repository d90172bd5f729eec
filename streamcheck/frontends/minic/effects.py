"""What evaluating an expression does beyond reading: nothing, a choice of unknown values, or more."""

from __future__ import annotations

from typing import Any

from streamcheck.frontends.minic.scopes import Function, Scope

READS, CHOOSES, ACTS = 0, 1, 2
CHOOSERS = ("__VERIFIER_nondet_", "nondet_")


def level(node: Any, scope: Scope) -> int:
    """READS, CHOOSES or ACTS. A branch that is taken only sometimes acts by choosing."""
    match node.__class__.__name__:
        case "Assignment":
            return ACTS
        case "UnaryOp" if node.op == "sizeof":
            return READS
        case "UnaryOp" if "++" in node.op or "--" in node.op:
            return ACTS
        case "FuncCall":
            inner = level(node.args, scope) if node.args else READS
            return max(inner, CHOOSES if chooses(node, scope) else ACTS)
        case "BinaryOp" if node.op in ("&&", "||"):
            return max(level(node.left, scope), ACTS if level(node.right, scope) else READS)
        case "TernaryOp":
            branches = max(level(node.iftrue, scope), level(node.iffalse, scope))
            return max(level(node.cond, scope), ACTS if branches else READS)
        case "ID":
            found = scope.find(node.name)
            return CHOOSES if getattr(getattr(found, "object", None), "volatile", False) else READS
        case "Typename":
            return READS
    return max((level(child, scope) for _, child in node.children()), default=READS)


def chooses(node: Any, scope: Scope) -> bool:
    """Whether a call does no more than give an unknown value."""
    name = getattr(node.name, "name", "")
    found = scope.find(name)
    return name.startswith(CHOOSERS) and not (isinstance(found, Function) and found.body is not None)


def mentions(node: Any, name: str) -> bool:
    if node.__class__.__name__ == "ID" and node.name == name:
        return True
    return any(mentions(child, name) for _, child in node.children())
