"""The effects of evaluating an expression: it only reads, also chooses unknown values, or has side effects."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamcheck.c import library
from streamcheck.c.declarations import Function, NameScope
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import called_name, form

READS, CHOOSES, ACTS = 0, 1, 2
READERS = ("strlen", "strnlen", "strcmp", "strncmp", "memcmp")  # of string.h
CHOOSERS = ("__VERIFIER_nondet_", "nondet_")


def level(node: Any, scope: NameScope) -> int:
    """READS, CHOOSES or ACTS. A choice in a branch counts as a side effect: it is made only sometimes."""
    known = scope.levels.get(node)
    if known is None:
        known = scope.levels[node] = _level(node, scope)
    return known


def _level(node: Any, scope: NameScope) -> int:
    match form(node):
        case "Assignment" | "Compound" | "CompoundLiteral":
            return ACTS
        case "UnaryOp" if node.op in ("sizeof", "_Alignof"):
            return READS
        case "UnaryOp" if "++" in node.op or "--" in node.op:
            return ACTS
        case "FuncCall" if called_name(node) == "offsetof":
            return READS
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
    return max([level(child, scope) for _, child in node.children()], default=READS)


def _level_of_call(node: Any, scope: NameScope) -> int:
    if is_choice(node, scope):
        return CHOOSES
    name = called_name(node)
    model = library.model_name(name)
    if model is None or is_defined(name, scope):
        return READS if name in READERS and not is_defined(name, scope) else ACTS
    single = model + "f" if model in library.GENERIC else model
    return CHOOSES if library.model(single).chooses else READS


def names_changed(node: Any) -> Iterator[str]:
    """The variables that an expression assigns to and whose assignment no sequence point ends before its value is used
    (6.5): not those of arguments of calls, of conditions, and left of a comma."""
    match form(node):
        case "FuncCall" | "Typename":
            return
        case "UnaryOp" if node.op in ("sizeof", "_Alignof"):
            return
        case "Assignment" if form(node.lvalue) == "ID":
            yield node.lvalue.name
        case "UnaryOp" if node.op in ("p++", "p--", "++", "--") and form(node.expr) == "ID":
            yield node.expr.name
    children = [child for _, child in node.children()]
    if form(node) in ("ExprList", "TernaryOp") or (form(node) == "BinaryOp" and node.op in ("&&", "||")):
        children = children[-1:] if form(node) == "ExprList" else children[1:]
    for child in children:
        yield from names_changed(child)


def is_choice(node: Any, scope: NameScope) -> bool:
    """The call only gives an unknown value."""
    name = called_name(node)
    return name.startswith(CHOOSERS) and not is_defined(name, scope)


def is_defined(name: str, scope: NameScope) -> bool:
    """The file gives the name a meaning of its own: a function with a body, or no function at all."""
    meaning = scope.meaning(name)
    return meaning is not None and not (isinstance(meaning, Function) and meaning.body is None)
