"""Cheaper terms of the same meaning, before they become C.

Beyond `core.simplify`, the rewriting decides comparisons by intervals and by masks, and pairs of comparisons of one
value with constants, turns remainders by powers of two into masks, and gives Boolean functions of few conditions their
shortest form (the library counts a vote of three Booleans, but it needs no counter). So no comparison is left of which
compilers warn that it has one answer. None of this has to be trusted: the generated C is proved against the original
specification. The rules are not in `core.simplify`, because the checker has to follow that with rules of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from itertools import product
from typing import TypeAlias

from streamcheck.core.intervals import Intervals, decide
from streamcheck.core.meaning import meaning
from streamcheck.core.operators import OPERATORS
from streamcheck.core.simplify import conjunction, disjunction, either, negation, simple, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant, fold, rebuild, term, walk
from streamcheck.core.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    ArrayType,
    EnumType,
    MachineType,
    StructType,
    Type,
    Value,
    machine,
)

MOST_CONDITIONS = 6
LARGE = 64  # operators; the size of a larger cone is not counted further

Table: TypeAlias = tuple[bool, ...]  # a function's values, for the last condition changing quickest


def rewrite(roots: Iterable[Term]) -> dict[Term, Term]:
    """The image of every node below the roots."""
    cheaper = _Cheaper()
    images = fold(roots, lambda node, args: cheaper.of(simple(rebuild(node, args))))
    short = _Conditions(cheaper).shorten(images.values())
    return {node: short[image] for node, image in images.items()}


class _Cheaper:
    """The rules for one operator, beyond those of `core.simplify`."""

    def __init__(self) -> None:
        self.intervals = Intervals()

    def of(self, node: Term) -> Term:
        if node.type.is_integer:
            low, high = self.intervals.of(node)
            if low == high:
                return constant(node.type, int(low))
        operand = _equal_operand(node)
        if operand is not None:
            return operand
        match node.op:
            case "eq" | "ne" if isinstance(node.args[0].type, ArrayType | StructType):
                return self._by_parts(node)
            case "eq" | "ne" if isinstance(node.args[0].type, EnumType) and node.args[0] is node.args[1]:
                return TRUE if node.op == "eq" else FALSE
            case op if op in OPERATORS and OPERATORS[op].is_comparison and node.args[0].type.is_integer:
                return self._comparison(node)
            case "min" | "max" | "abs" if node.type.is_integer:
                return self._extreme(node)
            case "mod" | "floordiv":
                return _by_power_of_two(node)
            case "and" | "or":
                return _decided_pair(node)
            case "div" if node.args[1] in (constant(FLOAT, -0.0), constant(DOUBLE, -0.0)):
                # The same for every dividend. clang 14 computes `x / -0.0f < c` wrongly for an x that was unsigned.
                return term("mul", node.args[0], constant(node.type, -math.inf))
            case "mux":
                condition, a, b = node.args
                if condition.op in ("not", "ne") and condition.args[0].type.kind != "float":
                    return either(negation(condition), b, a)
                return either(condition, a, b)
            case "index" if node.args[0].op == "array" and node.args[1].is_const:
                elements = node.args[0].args
                return elements[min(max(int(node.args[1].payload), 0), len(elements) - 1)]
            case "field" if node.args[0].op == "struct":
                return node.args[0].args[int(node.payload)]
        return node

    def _by_parts(self, node: Term) -> Term:
        """Equality of arrays and structs as equality of all their parts."""
        a, b = node.args
        pairs = [self.of(simple_term("eq", x, y)) for x, y in zip(self._parts(a), self._parts(b), strict=True)]
        return conjunction(*pairs) if node.op == "eq" else negation(conjunction(*pairs))

    def _parts(self, node: Term) -> list[Term]:
        match node.type:
            case ArrayType(length=n):
                positions = (constant(INDEX, i) for i in range(n))
                return [self.of(term("index", node, i)) for i in positions]
            case StructType(fields=fields):
                return [self.of(term("field", node, payload=i)) for i in range(len(fields))]
        return [node]

    def _extreme(self, node: Term) -> Term:
        """One of the operands, if the intervals decide which."""
        a, b = (node.args[0], constant(node.type, 0)) if node.op == "abs" else node.args
        first, second = (b, a) if node.op == "min" else (a, b)
        less = self._decide("lt", first, second)
        if less is None or (node.op == "abs" and less):
            return node
        return b if less else a

    def _comparison(self, node: Term) -> Term:
        holds = node.op == "ne" if _differ_in_a_bit(node) else self._decide(node.op, *node.args)
        return node if holds is None else TRUE if holds else FALSE

    def _decide(self, op: str, a: Term, b: Term) -> bool | None:
        if a is b:
            return op in ("eq", "le", "ge")
        return decide(op, self.intervals.of(a), self.intervals.of(b))


INDEX = machine(32, signed=False)


def _differ_in_a_bit(node: Term) -> bool:
    """True if the sides of an equality differ in a bit that one has, and that a mask takes from the other."""
    value, other = sorted(node.args, key=lambda a: a.is_const)
    if node.op not in ("eq", "ne") or value.op not in ("bitand", "bitor") or not other.is_const:
        return False
    masks = [int(a.payload) for a in value.args if a.is_const]
    wanted = int(other.payload)
    return any((wanted & ~m if value.op == "bitand" else m & ~wanted) != 0 for m in masks)


def _decided_pair(node: Term) -> Term:
    """A constant, if two comparisons of one value with constants are never both true, or one always is."""
    values = {_compared_with_constant(a) for a in node.args}
    (value,) = values if len(values) == 1 else (None,)
    if value is None:
        return node
    constants = [int(a.payload) for comparison in node.args for a in comparison.args if a.is_const]
    answers = set()
    for point in _points_of_change(value.type, constants):
        sides = (meaning(c)(*(a.payload if a.is_const else point for a in c.args)) for c in node.args)
        answers.add(meaning(node)(*sides))
    return node if len(answers) > 1 else TRUE if answers == {True} else FALSE


def _compared_with_constant(node: Term) -> Term | None:
    """The value that is compared with a constant."""
    if node.op not in OPERATORS or not OPERATORS[node.op].is_comparison:
        return None
    value, other = sorted(node.args, key=lambda a: a.is_const)
    finite = isinstance(value.type, EnumType | MachineType)
    return value if finite and other.is_const and not value.is_const else None


def _points_of_change(type: Type, constants: Iterable[int]) -> set[int]:
    """Values of a type for which comparisons with the constants have all the answers that they have together."""
    if isinstance(type, EnumType):
        return set(type.codes)
    assert isinstance(type, MachineType)
    return {x for c in constants for x in (c - 1, c, c + 1) if type.low <= x <= type.high}


def _equal_operand(node: Term) -> Term | None:
    """The operand that the result is equal to: of a conversion to the same type, or beside itself or 0."""
    match node.op, node.args:
        case "cast", [a] if a.type is node.type:
            return a
        case (("min" | "max" | "bitand" | "bitor"), [a, b]) if a is b:
            return a
        case (("add" | "sub"), [a, b]) if node.type.is_integer and b is constant(node.type, 0):
            return a
        case "add", [a, b] if node.type.is_integer and a is constant(node.type, 0):
            return b
    return None


def _by_power_of_two(node: Term) -> Term:
    """Floor division and its remainder by 2^n are a shift and a mask, for negative numbers too."""
    a, b = node.args
    if not isinstance(node.type, MachineType) or not b.is_const or b.payload < 1 or b.payload & (b.payload - 1):
        return node
    if node.op == "mod":
        return term("bitand", a, constant(node.type, b.payload - 1))
    if b.payload == 1:
        return a
    return node if node.type.signed else term("shr", a, constant(node.type, b.payload.bit_length() - 1))


class _Conditions:
    """Boolean nodes as functions of the conditions they depend on: Boolean variables, and comparisons of other things.

    A node's support is the conditions that determine its value; None if they are too many."""

    def __init__(self, cheaper: _Cheaper) -> None:
        self.cheaper = cheaper
        self.support: dict[Term, tuple[Term, ...] | None] = {}
        self.tables: dict[Term, tuple[Value, ...]] = {}
        self.known: dict[tuple[tuple[Term, ...], Table], Term] = {}
        self.built: dict[tuple[tuple[Term, ...], Table], Term] = {}  # for one term: splits in any order meet
        self.order: dict[Term, int] = {}
        self.studied: set[Term] = set()

    def shorten(self, roots: Iterable[Term]) -> dict[Term, Term]:
        images: dict[Term, Term] = {}
        for node in walk(roots):
            image = self.cheaper.of(simple(rebuild(node, [images[a] for a in node.args])))
            for new in walk([image], self.studied):
                self._study(new)
            images[node] = self._shortest(image)
            for new in walk([images[node]], self.studied):
                self._study(new)
        return images

    def _study(self, node: Term) -> None:
        self.order[node] = len(self.order)
        parts = [self.support[a] for a in node.args]
        union: set[Term] = set()
        for part in parts:
            union.update(part or ())
        finite = all(p is not None for p in parts) and node.op != "var" and len(union) <= MOST_CONDITIONS
        if finite and not isinstance(node.type, ArrayType | StructType):
            self.support[node] = tuple(sorted(union, key=self.order.__getitem__))
            self.tables[node] = self._values(node, self.support[node] or ())
        elif node.type is BOOL:
            self.support[node] = (node,)
            self.tables[node] = (False, True)
        else:
            self.support[node] = None

    def _values(self, node: Term, over: tuple[Term, ...]) -> tuple[Value, ...]:
        if node.is_const:
            return (node.payload,)
        apply = meaning(node)
        rows = []
        for row in product((False, True), repeat=len(over)):
            given = dict(zip(over, row, strict=True))
            rows.append(apply(*(self._at(a, given) for a in node.args)))
        return tuple(rows)

    def _at(self, node: Term, given: dict[Term, bool]) -> Value:
        position = 0
        for condition in self.support[node] or ():
            position = 2 * position + given[condition]
        return self.tables[node][position]

    def _shortest(self, node: Term) -> Term:
        support = self.support[node]
        if node.type is not BOOL or support is None or support == (node,):
            return node
        table = tuple(bool(v) for v in self.tables[node])
        conditions, table = _relevant(support, table)
        before = _size(node, set(conditions))
        self.built.clear()
        candidate = self._build(conditions, table)
        best = candidate if _size(candidate, set(conditions)) < before else node
        self.known.setdefault((conditions, table), best)
        return best

    def _build(self, conditions: tuple[Term, ...], table: Table) -> Term:
        conditions, table = _relevant(conditions, table)
        if not conditions:
            return TRUE if table[0] else FALSE
        if (conditions, table) in self.known:
            return self.known[(conditions, table)]
        opposite = tuple(not v for v in table)
        if (conditions, opposite) in self.known:
            return negation(self.known[(conditions, opposite)])
        if (conditions, table) not in self.built:
            split = [self._split(conditions, table, i) for i in range(len(conditions))]
            self.built[conditions, table] = min(split, key=lambda t: _size(t, set(conditions)))
        return self.built[conditions, table]

    def _split(self, conditions: tuple[Term, ...], table: Table, i: int) -> Term:
        """The function by cases of one condition."""
        rest = conditions[:i] + conditions[i + 1 :]
        stride = 1 << (len(conditions) - 1 - i)
        no = tuple(v for at, v in enumerate(table) if not at & stride)
        yes = tuple(v for at, v in enumerate(table) if at & stride)
        x, f, g, of = conditions[i], self._build(rest, no), self._build(rest, yes), self.cheaper.of
        if all(not a or b for a, b in zip(no, yes, strict=True)):  # monotone in x
            return of(disjunction(f, of(conjunction(x, g))))
        if all(a or not b for a, b in zip(no, yes, strict=True)):
            return of(disjunction(g, of(conjunction(negation(x), f))))
        if all(a != b for a, b in zip(no, yes, strict=True)):
            return negation(x) if g is FALSE and f is TRUE else term("xor", x, f)
        return term("mux", x, g, f)


@cache
def _relevant(conditions: tuple[Term, ...], table: Table) -> tuple[tuple[Term, ...], Table]:
    """The function without the conditions that it does not depend on."""
    for i in range(len(conditions)):
        stride = 1 << (len(conditions) - 1 - i)
        no = tuple(v for at, v in enumerate(table) if not at & stride)
        if no == tuple(v for at, v in enumerate(table) if at & stride):
            return _relevant(conditions[:i] + conditions[i + 1 :], no)
    return conditions, table


def _size(node: Term, conditions: set[Term]) -> int:
    """Operators between a node and the conditions; a choice counts as two."""
    seen: set[Term] = set()
    stack, size = [node], 0
    while stack and size < LARGE:
        t = stack.pop()
        if t in seen or t in conditions or not t.args:
            continue
        seen.add(t)
        size += 2 if t.op == "mux" else 1
        stack.extend(t.args)
    return size
