"""The effects of evaluating an expression: it only reads, also chooses unknown values, or has side effects."""

from __future__ import annotations

from typing import Any

from streamcheck.c.declarations import Function, NameScope
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import form

READS, CHOOSES, ACTS = 0, 1, 2
CHOOSERS = ("__VERIFIER_nondet_", "nondet_")


def level(node: Any, scope: NameScope) -> int:
    """READS, CHOOSES or ACTS. A choice in a branch counts as a side effect: it is made only sometimes."""
    match form(node):
        case "Assignment":
            return ACTS
        case "UnaryOp" if node.op == "sizeof":
            return READS
        case "UnaryOp" if "++" in node.op or "--" in node.op:
            return ACTS
        case "FuncCall":
            inner = level(node.args, scope) if node.args else READS
            return max(inner, CHOOSES if is_choice(node, scope) else ACTS)
        case "BinaryOp" if node.op in ("&&", "||"):
            return max(level(node.left, scope), ACTS if level(node.right, scope) else READS)
        case "TernaryOp":
            branches = max(level(node.iftrue, scope), level(node.iffalse, scope))
            return max(level(node.cond, scope), ACTS if branches else READS)
        case "ID":
            meaning = scope.meaning(node.name)
            return CHOOSES if isinstance(meaning, Lvalue) and meaning.object.volatile else READS
        case "Typename":
            return READS
    return max((level(child, scope) for _, child in node.children()), default=READS)


def is_choice(node: Any, scope: NameScope) -> bool:
    """The call only gives an unknown value."""
    name = getattr(node.name, "name", "")
    meaning = scope.meaning(name)
    return name.startswith(CHOOSERS) and not (isinstance(meaning, Function) and meaning.body is not None)
