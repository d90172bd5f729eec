"""Simplification that is right whatever the variables are: constants, neutral elements, repeated operands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import copysign
from typing import Any

from streamcheck.core.meaning import meaning
from streamcheck.core.term import FALSE, TRUE, Term, constant, fold, rebuild, term
from streamcheck.core.types import BOOL


def negation(a: Term) -> Term:
    if a.is_const:
        return FALSE if a is TRUE else TRUE
    if a.op == "not":
        return a.args[0]
    opposite = _OPPOSITE.get(a.op)
    if opposite is None or (a.op not in ("eq", "ne") and a.args[0].type.kind == "float"):
        return term("not", a)  # NaN is neither < nor >=
    return term(opposite, *a.args)


_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}


def conjunction(*terms: Term) -> Term:
    return _junction("and", TRUE, terms)


def disjunction(*terms: Term) -> Term:
    return _junction("or", FALSE, terms)


def _junction(op: str, neutral: Term, terms: Iterable[Term]) -> Term:
    absorbing = negation(neutral)
    kept: dict[Term, None] = {}
    for t in terms:
        if t is absorbing or negation(t) in kept:
            return absorbing
        if t is not neutral:
            kept[t] = None
    result = neutral
    for t in kept:
        result = t if result is neutral else term(op, result, t)
    return result


def implication(a: Term, b: Term) -> Term:
    if a is TRUE:
        return b
    if a is FALSE:
        return TRUE
    b = conjunction(*(goal for goal in reversed(_parts("and", b)) if not _follows(a, goal)))
    if b is TRUE:
        return TRUE
    return negation(a) if b is FALSE else term("implies", a, b)


def _follows(a: Term, goal: Term) -> bool:
    """True if the goal is among the conjuncts of `a`, or of each of its disjuncts."""
    return all(goal in _parts("and", way) for way in _parts("or", a))


def _parts(op: str, a: Term) -> list[Term]:
    """The operands of nested `op`s, each once, the last first; of very many, the ones inside stay together."""
    parts: dict[Term, None] = {}
    seen: set[Term] = set()
    stack = [a]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == op and len(seen) < MANY:
            stack.extend(node.args)
        else:
            parts[node] = None
    return list(parts)


MANY = 100  # operands looked at when a conclusion is sought among premises (heuristic: the nearest matter)


def choice(condition: Term, a: Term, b: Term) -> Term:
    if condition.is_const:
        return a if condition is TRUE else b
    if a is b:
        return a
    if a is TRUE and b is FALSE:
        return condition
    return term("mux", condition, a, b)


def either(condition: Term, a: Term, b: Term) -> Term:
    """`a` if the condition holds, else `b`; of Booleans, a constant makes it a conjunction or a disjunction."""
    if a is b:
        return a
    if a is FALSE:
        return conjunction(negation(condition), b)
    if b is FALSE:
        return conjunction(condition, a)
    if a is TRUE:
        return disjunction(condition, b)
    if b is TRUE:
        return disjunction(negation(condition), a)
    return choice(condition, a, b)


def fold_constants(node: Term) -> Term:
    """The value of the node as a constant if its operands are constants, else the node itself."""
    return _value(node, node.args) if node.args and all(a.is_const for a in node.args) else node


def apply(op: str, *args: Term, payload: Any = None) -> Term:
    """The application of an operator, as `term` makes it, with constants folded."""
    return fold_constants(term(op, *args, payload=payload))


def _value(node: Term, args: Iterable[Term]) -> Term:
    return constant(node.type, meaning(node)(*[a.payload for a in args]))


def simple(node: Term) -> Term:
    """The node, simplified: its operands are simple already."""
    return _simplify_node(node, list(node.args))


def simple_term(op: str, *args: Term, payload: Any = None) -> Term:
    """The application of an operator to simple operands, simplified: that to constants is a constant."""
    return simple(term(op, *args, payload=payload))


def simplify(roots: Iterable[Term]) -> dict[Term, Term]:
    """Every node below the roots, simplified."""
    return fold(roots, _simplify_node)


def instantiate(roots: Iterable[Term], replacement: Mapping[Term, Term]) -> dict[Term, Term]:
    """Every node below the roots with the replacements made in it, simplified. Replacements must be simplified
    already and are not walked: they may be much larger than the roots."""
    return fold(roots, lambda node, args: replacement.get(node) or _simplify_node(node, args))


def _simplify_node(node: Term, args: list[Term]) -> Term:
    match node.op:
        case "const" | "var" | "array" | "struct":
            return rebuild(node, args)
        case "not":
            return negation(args[0])
        case "and":
            return conjunction(*args)
        case "or":
            return disjunction(*args)
        case "implies":
            return implication(args[0], args[1])
        case "mux":
            return choice(args[0], args[1], args[2])
    if all(a.is_const for a in args):
        return _value(node, args)
    if node.op in ("eq", "le", "ge") and args[0] is args[1] and args[0].type.kind not in _MAY_HOLD_NAN:
        return TRUE
    if node.op == "add" and node.type.kind == "float":  # x + -0.0 is x, whatever x is
        kept = [a for a in args if not _is_minus_zero(a)]
        return kept[0] if len(kept) == 1 else rebuild(node, args)
    if node.op == "same" and args[0] is args[1]:
        return TRUE
    if node.op in ("eq", "same") and node.args[0].type is BOOL and any(a.is_const for a in args):
        literal, other = sorted(args, key=lambda a: not a.is_const)
        return other if literal is TRUE else negation(other)
    return rebuild(node, args)


def _is_minus_zero(node: Term) -> bool:
    return node.is_const and node.payload == 0 and copysign(1.0, node.payload) < 0


_MAY_HOLD_NAN = ("float", "array", "struct")
