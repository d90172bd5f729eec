"""Questions about statements: if they assign to a variable, and if jumps lead into them."""

from __future__ import annotations

from typing import Any

from streamcheck.c.syntax import form


def assigns(node: Any, name: str) -> bool:
    """True if the statement assigns to a variable of this name."""
    shape = form(node)
    if shape == "Assignment" and getattr(node.lvalue, "name", None) == name:
        return True
    if shape == "UnaryOp" and node.op in ("p++", "p--", "++", "--", "&") and getattr(node.expr, "name", None) == name:
        return True
    return any(assigns(child, name) for _, child in node.children())


def leaves(node: Any, inside: tuple[str, ...] = ()) -> bool:
    """A jump may lead out of the statement, or into it."""
    shape = form(node)
    if shape in ("Return", "Goto", "Label"):
        return True
    if shape in ("Break", "Continue", "Case", "Default"):
        return shape not in inside or any(leaves(child, inside) for _, child in node.children())
    if shape in ("While", "DoWhile", "For"):
        inside = (*inside, "Break", "Continue")
    elif shape == "Switch":
        inside = (*inside, "Break", "Case", "Default")
    return any(leaves(child, inside) for _, child in node.children())


def has_labels(node: Any) -> bool:
    """The statement has labels, or cases, to which code jumps that may come later."""
    return form(node) in ("Label", "Case", "Default") or any(has_labels(child) for _, child in node.children())
