"""Terms put together and folded, for the checker alone: `core.simplify`, which the engines' side uses, is not trusted.

Folding is by Boolean constants, and by the checker's own meaning of operators on constants. Each rule is proved by a
solver in the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction

from streamcheck.certify.evaluate import apply
from streamcheck.core.term import FALSE, TRUE, Term, constant, fold, rebuild, term
from streamcheck.core.types import BOOL, ArrayType, EnumType, StructType


def negation(a: Term) -> Term:
    if a is TRUE or a is FALSE:
        return FALSE if a is TRUE else TRUE
    return a.args[0] if a.op == "not" else term("not", a)


def conjunction(*terms: Term) -> Term:
    kept = dict.fromkeys(t for t in terms if t is not TRUE)
    if FALSE in kept or any(negation(t) in kept for t in kept):
        return FALSE
    return _join("and", list(kept)) if kept else TRUE


def disjunction(*terms: Term) -> Term:
    kept = dict.fromkeys(t for t in terms if t is not FALSE)
    if TRUE in kept or any(negation(t) in kept for t in kept):
        return TRUE
    return _join("or", list(kept)) if kept else FALSE


def _join(op: str, terms: list[Term]) -> Term:
    result = terms[0]
    for t in terms[1:]:
        result = term(op, result, t)
    return result


def implication(a: Term, b: Term) -> Term:
    """Conjuncts of the conclusion that are conjuncts of the premise go."""
    given = set(_conjuncts(a))
    return disjunction(negation(a), conjunction(*(goal for goal in _conjuncts(b) if goal not in given)))


def _conjuncts(a: Term) -> list[Term]:
    parts: dict[Term, None] = {}
    stack = [a]
    while stack:
        node = stack.pop()
        if node.op == "and" and len(parts) < MOST_PARTS:
            stack.extend(reversed(node.args))
        else:
            parts[node] = None
    return list(parts)


def choice(condition: Term, a: Term, b: Term) -> Term:
    if condition is TRUE or a is b:
        return a
    if a is TRUE and b is FALSE:
        return condition
    return b if condition is FALSE else term("mux", condition, a, b)


def equality(a: Term, b: Term) -> Term:
    """Identity of scalars: NaN is itself."""
    return TRUE if a is b else term("same", a, b)


def replace_and_fold(roots: Iterable[Term], replacement: Mapping[Term, Term]) -> dict[Term, Term]:
    """Every node below the roots with the replacements made in it, folded."""
    return fold(roots, lambda node, args: replacement.get(node) or fold_node(node, args))


def fold_node(node: Term, args: list[Term]) -> Term:
    """The node's operation on these operands."""
    match node.op:
        case "not":
            return negation(args[0])
        case "and":
            return conjunction(*args)
        case "or":
            return disjunction(*args)
        case "implies":
            return implication(args[0], args[1])
        case "mux":
            return choice(*args)
        case "same" | "eq" | "le" | "ge" if args[0] is args[1] and args[0].type.kind not in _MAY_HOLD_NAN:
            return TRUE
    if node.op in ("same", "eq") and args[0].type is BOOL and (TRUE in args or FALSE in args):
        literal, other = args if args[0] in (TRUE, FALSE) else reversed(args)
        return other if literal is TRUE else negation(other)
    if (
        args
        and all(a.is_const and is_small(a.payload) for a in args)
        and not isinstance(node.type, ArrayType | StructType | EnumType)
    ):
        return constant(node.type, apply(node, [a.payload for a in args]))
    return rebuild(node, args)


def is_small(value: object) -> bool:
    """True unless it is a number of very many digits."""
    match value:
        case int():
            return value.bit_length() <= MOST_BITS
        case Fraction():
            return is_small(value.numerator) and is_small(value.denominator)
    return True


MOST_PARTS = 100  # conjuncts that are looked at
MOST_BITS = 4096  # of a number that is computed with
_MAY_HOLD_NAN = ("float", "array", "struct")
