"""Proofs of claims about terms, for all values.

Most values of the C are the equations' own terms once conversions are simplified. Each of the others is compared with
the equations' terms under random valuations and replaced by one that has the same values. At the end each such pair is
proved equal on its own, with variables for the subterms that both sides share. This justifies the replacements. If a
pair cannot be proved, the execution is repeated without it.
"""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import chain, islice
from typing import TypeVar

from streamcheck.certify.judge import is_contradictory_within
from streamcheck.certify.runs import Runs
from streamcheck.certify.script import Script, disjunction
from streamcheck.core.floats import f32
from streamcheck.core.meaning import meaning
from streamcheck.core.simplify import implication
from streamcheck.core.term import TRUE, Term, constant, rebuild, substitute, term, variable, variables, walk
from streamcheck.core.types import EnumType, FloatType, MachineType, Type, Value

VALUATIONS = 64
VARIED = 4  # valuations that must differ from the rest, else the fingerprint is too weak
TOGETHER = 24  # claims asked at once
HARD = ("mul", "div", "floordiv", "mod", "quot", "rem", "sqrt")
MOST_CANDIDATES = 4  # terms of the equations that a value of the C may be compared with
MOST_TWINS = 8  # terms of one claim that seem equal; of many, most only seem so
# Budgets in the work of the solver, so that the answer does not depend on how busy the machine is.
WORK = 1_000_000  # for one question: about a minute of a processor
QUICK = 20_000  # for a question that may also stay open

Asked = TypeVar("Asked")


def equal(a: Term, b: Term) -> Term:
    """The same value: NaN equals itself, -0.0 differs from 0.0."""
    return TRUE if a is b else term("same", a, b)


@dataclass(frozen=True, slots=True)
class ProofGoal:
    """A claim, and its name if it is not proved."""

    what: str
    claim: Term


class RandomValues:
    """The values of terms under the same random valuations. `below`: bounds of variables (ring indices)."""

    def __init__(self, below: dict[Term, int]) -> None:
        self.random = random.Random(1)
        self.below = below
        self.known: dict[Term, tuple[Value, ...]] = {}
        self._seen: set[Term] = set()  # the same terms

    def of(self, root: Term) -> tuple[Value, ...]:
        self.add([root])
        return self.known[root]

    def add(self, roots: Iterable[Term]) -> None:
        for node in walk(roots, self._seen):
            self.known[node] = self._value(node)

    def _value(self, node: Term) -> tuple[Value, ...]:
        if node.is_const:
            return (node.payload,) * VALUATIONS
        if node.op == "var":
            return tuple(self._random_value(node) for _ in range(VALUATIONS))
        apply = meaning(node)
        return tuple(map(apply, *(self.known[a] for a in node.args)))

    def _random_value(self, var: Term) -> Value:
        if var in self.below:
            return self.random.randrange(self.below[var])
        return any_value(self.random, var.type)


def any_value(rng: random.Random, type: Type) -> Value:
    """A random value, often a small or extreme one."""
    match type:
        case MachineType():
            kind = rng.randrange(4)
            if kind == 0:
                return max(type.low, min(type.high, rng.randrange(-4, 16)))
            if kind == 1:
                return rng.choice((type.low, type.high, type.low + 1, type.high - 1))
            return rng.randint(type.low, type.high)
        case EnumType():
            return rng.choice(type.codes)
        case FloatType():
            if rng.randrange(2):
                value = rng.choice((0.0, -0.0, 1.0, -1.0, 0.5, 255.0, 1e10, float("inf"), float("nan"), 300.25))
            else:
                value = rng.uniform(-1000, 1000) if rng.randrange(2) else struct.unpack("<d", rng.randbytes(8))[0]
            return f32(value) if type.width == 32 else value
    return rng.random() < 0.5


def fingerprint(type: Type, values: Sequence[Value]) -> tuple[object, ...]:
    if isinstance(type, FloatType):
        return (type, *(v.hex() if v == v else "nan" for v in values))  # type: ignore[union-attr]
    return (type, *values)


class Equals:
    """Replaces terms of the C by equal terms of the equations. `pairs`: the replacements, still to be proved."""

    def __init__(self, terms: Iterable[Term], values: RandomValues, refused: set[tuple[Term, Term]]) -> None:
        self.values = values
        self.refused = refused
        self.in_order = list(dict.fromkeys(terms))
        self.terms = set(self.in_order)
        self.pairs: dict[Term, Term] = {}
        self._by_fingerprint: dict[tuple[object, ...], list[Term]] = {}

    @property
    def by_fingerprint(self) -> dict[tuple[object, ...], list[Term]]:
        """Made when it is first needed: often all values of the C are terms of the equations."""
        if not self._by_fingerprint:
            self.values.add(self.in_order)
            for node in self.in_order:
                self._by_fingerprint.setdefault(fingerprint(node.type, self.values.known[node]), []).append(node)
        return self._by_fingerprint

    def wrong_pairs(self, prover: Prover) -> set[tuple[Term, Term]]:
        """The replacements that are not proved."""
        doubtful = _not_valid(list(self.pairs.items()), lambda pair: pair_claim(*pair, self.terms), prover)
        doubtful = _not_valid(doubtful, lambda pair: equal(*pair), prover)
        return {*_not_valid(doubtful, lambda pair: self.without_twins(equal(*pair), prover), prover)}

    def without_twins(self, claim: Term, prover: Prover) -> Term | None:
        """The claim with one term in place of all those of the equations that are proved to have its value; None if
        there are none, or too many. The C may compute with any of them, and what is hard (a division) is then a
        division of the same."""
        alike: dict[tuple[object, ...], list[Term]] = {}
        if not any(node.op in HARD for node in walk([claim])):
            return None
        for node in walk([claim]):
            if node in self.terms and not node.is_const:
                alike.setdefault(fingerprint(node.type, self.values.of(node)), []).append(node)
        pairs = [(other, first) for first, *others in alike.values() for other in others]
        if len(pairs) > MOST_TWINS:
            return None
        proved = prover.valid([equal(*pair) for pair in pairs], QUICK)
        same = dict(pair for pair, holds in zip(pairs, proved, strict=True) if holds)
        return cut(substitute([claim], same)[claim], self.terms) if same else None

    def settle(self, term: Term) -> Term:
        """The equations' term that seems equal to this value of the C, or else the value itself."""
        if term.is_const or term in self.terms:
            return term
        if term in self.pairs:
            return self.pairs[term]
        rests_on = _nearest(term, self.terms)
        if all(t.is_const for t in rests_on):
            return term  # it depends on nothing that the equations know
        values = fingerprint(term.type, self.values.of(term))
        varied = Counter(values[1:]).most_common(1)[0][1] <= VALUATIONS - VARIED
        for candidate in self._candidates(values, rests_on):
            if (term, candidate) not in self.refused and (varied or _is_over(candidate, rests_on)):
                self.pairs[term] = candidate
                return candidate
        return term

    def _candidates(self, values: tuple[object, ...], rests_on: set[Term]) -> Iterator[Term]:
        """Terms of these values, at most a few: of several that are always alike, the one computed from the same terms
        is the one the C means. Found by what they are computed from, for thousands may be alike."""
        alike = self.by_fingerprint.get(values, ())
        using = (t for operand in rests_on for t in self.computed_from.get(operand, ()) if _is_over(t, rests_on))
        found = sorted((t for t in using if t in self._places), key=self._places.__getitem__)
        over = [t for t in found if fingerprint(t.type, self.values.of(t)) == values]
        first = dict.fromkeys(t for t in over if t not in rests_on)
        others = (t for t in alike if t not in first and t not in rests_on)
        last = (t for t in (*over, *rests_on) if t in rests_on and t in self._places)
        same = (t for t in last if fingerprint(t.type, self.values.of(t)) == values)
        return islice(chain(first, others, dict.fromkeys(same)), MOST_CANDIDATES)

    @cached_property
    def _places(self) -> dict[Term, int]:
        return {t: i for i, t in enumerate(self.in_order)}

    @cached_property
    def computed_from(self) -> dict[Term, list[Term]]:
        """The terms by one of their operands, that which the fewest others have."""
        uses = Counter(a for t in self.in_order for a in t.args)
        found: dict[Term, list[Term]] = {}
        for t in self.in_order:
            operands = [a for a in t.args if not a.is_const]
            if operands:
                found.setdefault(min(operands, key=uses.__getitem__), []).append(t)
        return found


def _is_over(term: Term, operands: set[Term]) -> bool:
    """The term is one operator on these operands and constants."""
    return bool(term.args) and all(a.is_const or a in operands for a in term.args)


def cut(claim: Term, terms: set[Term]) -> Term:
    """The claim with variables for the equations' terms it is built on."""
    images: dict[Term, Term] = {}
    stack = [claim]
    while stack:
        node = stack[-1]
        if node in images:
            stack.pop()
        elif node in terms and not node.is_const:
            images[stack.pop()] = variable(f"any {len(images)}", node.type)
        else:
            waiting = [a for a in node.args if a not in images]
            if waiting:
                stack.extend(waiting)
            else:
                images[stack.pop()] = rebuild(node, [images[a] for a in node.args])
    return images[claim]


def pair_claim(term: Term, taken: Term, terms: set[Term]) -> Term:
    """The claim that a pair is equal, with variables for the terms that the C's side is built on."""
    rests_on = {n for n in _nearest(term, terms) if not n.is_const and n is not taken}
    return cut(equal(term, taken), rests_on)


def _nearest(root: Term, terms: set[Term]) -> set[Term]:
    nearest: set[Term] = set()
    seen: set[Term] = set()
    stack = [root]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in terms:
            nearest.add(node)
        else:
            stack.extend(node.args)
    return nearest


class Prover:
    """Decides claims, many at once. `limits` are assumed: bounds of ring indices, members of enums."""

    def __init__(self, limits: Term, work: int = WORK) -> None:
        self.limits = limits
        self.work = work
        self.asked = 0

    def valid(self, claims: Sequence[Term], work: int | None = None) -> list[bool]:
        """For each claim, True if it is proved for all values."""
        answers: dict[Term, bool] = {}
        work = min(work or self.work, self.work)
        open_claims = [c for c in dict.fromkeys(claims) if c is not TRUE]
        for i in range(0, len(open_claims), TOGETHER):
            some = open_claims[i : i + TOGETHER]
            if self._all(some, work):
                answers.update(dict.fromkeys(some, True))
            elif len(some) == 1:
                answers[some[0]] = False
            else:
                answers.update((c, self._all([c], work)) for c in some)
        return [c is TRUE or answers[c] for c in claims]

    def _all(self, claims: list[Term], work: int) -> bool:
        self.asked += 1
        claims = [implication(self.limits, c) for c in claims]
        inputs = tuple(variables(claims))

        def query(script: Script) -> None:
            script.start(initial=False)
            script.require(disjunction(f"(not {script.symbol(c, 0)})" for c in claims))

        return is_contradictory_within(Runs((), inputs, (), ()), query, work) is True


def unproved_goals(goals: list[ProofGoal], equals: Equals, prover: Prover) -> list[str]:
    """The names of goals that are not proved; of some if there are many."""
    doubtful = _not_valid([g for g in goals if g.claim is not TRUE], lambda g: cut(g.claim, equals.terms), prover)
    doubtful = _not_valid(doubtful, lambda g: equals.without_twins(g.claim, prover), prover)
    for i in range(0, len(doubtful), TOGETHER):
        some = doubtful[i : i + TOGETHER]
        again = prover.valid([g.claim for g in some])
        if not all(again):  # one is enough to refuse the C
            return list(dict.fromkeys(g.what for g, holds in zip(some, again, strict=True) if not holds))
    return []


def _not_valid(given: list[Asked], claim: Callable[[Asked], Term | None], prover: Prover) -> list[Asked]:
    """Those whose claims stay open after a quick question; all that have none."""
    claims = [claim(g) for g in given]
    answers = iter(prover.valid([c for c in claims if c is not None], QUICK))
    return [g for g, c in zip(given, claims, strict=True) if c is None or not next(answers)]


def member(value: Term, enum: Type) -> Term:
    """The claim that a value, an enum's or a number, is one of the enum's values."""
    assert isinstance(enum, EnumType)
    claims = [term("eq", value, constant(value.type, code)) for code in enum.codes]
    return reduce(lambda a, b: term("or", a, b), claims)
