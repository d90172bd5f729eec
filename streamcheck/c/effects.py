"""The effects of evaluating an expression: it only reads, also chooses unknown values, or has side effects."""

from __future__ import annotations

from typing import Any

from streamcheck.c import library
from streamcheck.c.declarations import Function, NameScope
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import form

READS, CHOOSES, ACTS = 0, 1, 2
READERS = ("strlen", "strnlen", "strcmp", "strncmp", "memcmp")  # of string.h
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
            return max(inner, _level_of_call(node, scope))
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


def _level_of_call(node: Any, scope: NameScope) -> int:
    if is_choice(node, scope):
        return CHOOSES
    name = getattr(node.name, "name", "")
    found = library.model_name(name)
    if found is None or is_defined(name, scope):
        return READS if name in READERS and not is_defined(name, scope) else ACTS
    single = found + "f" if found in library.GENERIC else found
    return CHOOSES if library.model(single).chooses else READS


def is_choice(node: Any, scope: NameScope) -> bool:
    """The call only gives an unknown value."""
    name = getattr(node.name, "name", "")
    return name.startswith(CHOOSERS) and not is_defined(name, scope)


def is_defined(name: str, scope: NameScope) -> bool:
    """The file gives the name a meaning of its own: a function with a body, or no function at all."""
    meaning = scope.meaning(name)
    return meaning is not None and not (isinstance(meaning, Function) and meaning.body is None)
