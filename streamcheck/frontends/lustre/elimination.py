"""Elimination of a quantifier over `int` or `real`: ∃x. φ as a term without x, or None.

[Cooper72] for literals in which x has the factor 1 or -1, so that no moduli are needed, and over the reals the virtual
points of Loos and Weispfenning (1993):

    ∃x. φ  ⟺  φ[-∞]  ∨  ⋁_{t ∈ T} φ[t] ∨ φ[t + δ]

T has the term t of every comparison of x with t, and δ is 1 over `int` and infinitely small over `real`. A point more
than needed does no harm: φ[t] implies ∃x. φ. So no polarity is looked at. If φ is a conjunction with x = t, for a t of
any type, the only point is t.
"""

from __future__ import annotations

from fractions import Fraction

from streamcheck.core.simplify import apply, conjunction, disjunction, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, walk
from streamcheck.core.types import BOOL, INT, REAL

COMPARISONS = frozenset(("lt", "le", "gt", "ge", "eq", "ne"))
CONNECTIVES = frozenset(("and", "or", "not", "implies", "mux", "eq", "ne", "xor"))
MIRROR = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
AT_MINUS_INFINITY = {"lt": TRUE, "le": TRUE, "gt": FALSE, "ge": FALSE, "eq": FALSE, "ne": TRUE}
JUST_ABOVE = {"lt": "lt", "le": "lt", "gt": "ge", "ge": "ge"}  # t + ε < s is t < s, t + ε > s is t >= s
MOST_POINTS = 64


def some_value(x: Term, body: Term) -> Term | None:
    """True if the body is true for some value of x. None if this cannot be said without x."""
    point = _equal_to(x, body)
    if point is not None:
        return _with(body, {x: point})
    if x.type is not INT and x.type is not REAL:
        return None
    atoms = _atoms(x, body)
    if atoms is None:
        return None
    points = list(dict.fromkeys(bound for _, bound in atoms.values()))
    if len(points) > MOST_POINTS:
        return None
    ways = [_with(body, {atom: AT_MINUS_INFINITY[op] for atom, (op, _) in atoms.items()})]
    for point in points:
        ways.append(_with(body, {x: point}))
        if x.type is INT:
            ways.append(_with(body, {x: apply("add", point, constant(INT, 1))}))
        else:
            ways.append(_with(body, {atom: _just_above(op, point, bound) for atom, (op, bound) in atoms.items()}))
    return disjunction(*ways)


def _with(body: Term, replacement: dict[Term, Term]) -> Term:
    replaced = substitute([body], replacement)[body]
    return simplify([replaced])[replaced]


def _just_above(op: str, point: Term, bound: Term) -> Term:
    if op in ("eq", "ne"):
        return FALSE if op == "eq" else TRUE
    return apply(JUST_ABOVE[op], point, bound)


def _equal_to(x: Term, body: Term) -> Term | None:
    """A term without x to which x is equal if the body is true."""
    stack = [body]
    while stack:
        part = stack.pop()
        if part.op == "and":
            stack += part.args
        elif part.op == "eq":
            for one, other in (part.args, part.args[::-1]):
                if one is x and x not in set(walk([other])):
                    return other
        elif part is x or (part.op == "not" and part.args[0] is x):
            return TRUE if part is x else FALSE
    return None


def _atoms(x: Term, body: Term) -> dict[Term, tuple[str, Term]] | None:
    """The comparisons with x, each as (operator, term) of x `operator` term. None if x is anywhere else."""
    below = set(_above(x, body))
    atoms: dict[Term, tuple[str, Term]] = {}
    stack, seen = [body], set[Term]()
    while stack:
        node = stack.pop()
        if node in seen or node not in below:
            continue
        seen.add(node)
        if node.op in COMPARISONS and node.args[0].type is x.type:
            bound = _bound_of(x, node, below)
            if bound is None:
                return None
            atoms[node] = bound
        elif node.op in CONNECTIVES and node.type is BOOL and all(a.type is BOOL for a in node.args):
            stack += node.args
        else:
            return None
    return atoms


def _above(x: Term, body: Term) -> list[Term]:
    """The terms of the body that have x in them."""
    found: dict[Term, None] = {}
    for node in walk([body]):
        if node is x or any(a in found for a in node.args):
            found[node] = None
    return list(found)


def _bound_of(x: Term, atom: Term, below: set[Term]) -> tuple[str, Term] | None:
    """The comparison solved for x."""
    sides = [_linear(x, side, below) for side in atom.args]
    if sides[0] is None or sides[1] is None:
        return None
    (a, left), (b, right) = sides[0], sides[1]
    factor = a - b
    rest = apply("sub", right, left)  # factor * x `op` rest
    if factor == 0 or (x.type is INT and abs(factor) != 1):
        return None
    if factor < 0:
        op, rest, factor = MIRROR[atom.op], apply("neg", rest), -factor
    else:
        op = atom.op
    if factor != 1:
        rest = apply("mul", rest, constant(REAL, 1 / factor))
    return op, rest


def _linear(x: Term, side: Term, below: set[Term]) -> tuple[Fraction, Term] | None:
    """(f, t) with side = f * x + t. Sums are few operations deep at most where a person writes a quantifier."""
    zero = constant(x.type, 0)
    if side not in below:
        return Fraction(0), side
    if side is x:
        return Fraction(1), zero
    if side.op == "neg":
        part = _linear(x, side.args[0], below)
        return None if part is None else (-part[0], apply("neg", part[1]))
    if side.op in ("add", "sub"):
        first, second = (_linear(x, a, below) for a in side.args)
        if first is None or second is None:
            return None
        sign = 1 if side.op == "add" else -1
        return first[0] + sign * second[0], apply(side.op, first[1], second[1])
    if side.op == "mul":
        for by, other in (side.args, side.args[::-1]):
            if by.is_const:
                part = _linear(x, other, below)
                return None if part is None else (part[0] * Fraction(by.payload), apply("mul", part[1], by))
    return None


def some_value_or_all(x: Term, body: Term, *, is_universal: bool) -> Term | None:
    """True if the body is true for some value of x, or for all."""
    if not is_universal:
        return some_value(x, body)
    counter = some_value(x, _negation(body))
    return None if counter is None else negation(counter)


def _negation(body: Term) -> Term:
    """The negation, pushed in as far as conjunctions, so that equations are found."""
    if body.op == "or":
        return conjunction(*(_negation(a) for a in body.args))
    if body.op == "implies":
        return conjunction(body.args[0], _negation(body.args[1]))
    return negation(body)
