"""Small parts of a specification in which instances have been cut out: each claim with what is near it.

A claim is about the outputs of some instances. Near it are what these guarantee and, as far as it is proved before,
what they assume; what that is about does not matter here, so it is an input, true at every step. In a chain or a tree
of a thousand components every claim has such a part, of a few lines, and most parts are the same except for names: one
proof stands at all places.

    inputs, constants, cells    those that the claim and the facts near it are about, as x0, x1, …; what is assumed
    assumptions                 the facts: guarantees of the instances near by, what these assume, what the
                                specification assumes
    properties                  the claim; and that the assumptions of the instances have held so far, which proofs need

A part knows less than the specification, so what is proved of it is true there. A claim may need more than is near it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, substitute, variable, variables, walk
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim, Goal, OfContract, Written
from streamcheck.problem.specification import Cell, ComponentInstance, Constant, Input, Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.transform.cut import Cutting

MOST_NODES = 2000  # of a part: a larger one is not small
CLAIM, SO_FAR = "claim", "so far"  # its properties
PREFIX = "part"  # of names, where parts stand side by side


@dataclass(frozen=True, slots=True)
class NearPlace:
    """A claim of the specification, the terms that the variables of a part stand for there, and the claims that the
    part takes as proved."""

    claim: str
    images: Mapping[Term, Term]
    needs: tuple[str, ...]


def near_parts(cutting: Cutting, instances: Mapping[str, ComponentInstance]) -> list[tuple[Specification, NearPlace]]:
    """Parts with their places, in an order in which each needs claims of earlier ones only. Parts that differ by names
    alone are equal. A claim that needs itself, through others, has none."""
    near = {place.claim: (problem, place) for problem, place in _all_near(cutting, instances)}
    return [near[claim] for claim in _without_circles({c: place.needs for c, (_, place) in near.items()})]


def _without_circles(needs: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Each behind those that it needs."""
    users: dict[str, list[str]] = defaultdict(list)
    for name, others in needs.items():
        for other in others:
            users[other].append(name)
    left = {name: len(others) for name, others in needs.items()}
    ready = [name for name, count in left.items() if not count]
    while ready:
        following: list[str] = []
        for name in ready:
            yield name
            for user in users[name]:
                left[user] -= 1
                if not left[user]:
                    following.append(user)
        ready = following


def _all_near(
    cutting: Cutting, instances: Mapping[str, ComponentInstance]
) -> Iterator[tuple[Specification, NearPlace]]:
    origins = {p.name: p.origin for p in cutting.specification.properties}
    owed: dict[str, list[Claim]] = defaultdict(list)
    for claim in (*cutting.properties, *(c for claims in cutting.lemmas.values() for c in claims)):
        origin = origins.get(claim.name)
        if isinstance(origin, OfContract) and origin.role == "assumption":
            owed[origin.instance].append(claim)
    maker = _PartMaker(cutting)
    due = {claim.name for claim in cutting.properties}
    for claim in cutting.properties:
        if claim.name == cutting.joint or claim.goal is not Goal.ALWAYS:
            continue
        names = maker.instances_of(claim.term)
        held = [instances[n].held for n in names if instances[n].held.op == "var"]
        assumed = [c for n in names for c in owed[n] if c.name != claim.name]
        promised = [c for n in names for c in cutting.lemmas.get(n, ()) if c not in owed[n]]
        made = maker.part(claim, promised, assumed, held)
        if made is not None:
            problem, images = made
            yield problem, NearPlace(claim.name, images, tuple(c.name for c in assumed if c.name in due))


class _PartMaker:
    """Makes parts of one specification."""

    def __init__(self, cutting: Cutting) -> None:
        specification = cutting.specification
        self.cutting = cutting
        self.cells = {c.var: c for c in specification.cells}
        self.constants = {c.var for c in specification.constants}
        self.claims = {p.name: p.term for p in specification.properties}
        self.assumptions: dict[Term, list[tuple[set[Term], Claim]]] = defaultdict(list)  # by one of its variables
        for claim in cutting.assumptions:
            of = variables([claim.term])
            for var in of[:1]:
                self.assumptions[var].append((set(of), claim))

    def instances_of(self, term: Term) -> list[str]:
        """The instances of which the term has outputs, now or from earlier steps."""
        found = self._cone([term], ()) or []
        return list(dict.fromkeys(name for v in found for name in self.cutting.owners.get(v, ())))

    def part(
        self, claim: Claim, promised: list[Claim], assumed: list[Claim], held: list[Term]
    ) -> tuple[Specification, dict[Term, Term]] | None:
        """The part with these facts, and what its variables stand for; None if it is large."""
        inside = {c.term for c in assumed if c.term is not claim.term}
        of = self._cone([claim.term, *held, *(c.term for c in promised)], inside)
        if of is None:
            return None
        there, nexts = set(of), self.cutting.nexts
        own = [c for v in of for needed, c in self.assumptions.get(v, ()) if needed <= there]
        whole = {v: self.cutting.outputs.get(v, v) for v in of}
        whole |= {c.term: self.claims[c.name] for c in assumed if c.term in inside}
        names = {t: variable(f"x{n}", t.type) for n, t in enumerate(whole)}
        cells = [self.cells[v] for v in of if v in self.cells]
        facts = [*promised, *assumed, *own]
        image = substitute([claim.term, *held, *(c.term for c in facts), *(nexts[c.var] for c in cells)], names)
        written = WRITTEN if isinstance(claim.origin, Written) else IMPLIED
        properties = [Claim(CLAIM, image[claim.term], origin=written)]
        if held:
            properties.append(Claim(SO_FAR, conjunction(*(image[t] for t in held)), origin=IMPLIED))
        problem = Specification(
            self.cutting.specification.name,
            tuple(_input(names[t]) for t in names if t not in self.cells and t not in self.constants),
            tuple(Constant(_name(names[v]), v.type, None, _name(names[v])) for v in of if v in self.constants),
            tuple(Cell(_name(names[c.var]), c.initial, image[nexts[c.var]], None, c.free, False) for c in cells),
            (),
            (),
            (),
            tuple(properties),
            tuple(Claim(f"fact {n}", image[c.term]) for n, c in enumerate(facts, 1)),
            None,
        )
        return problem, {names[t]: there for t, there in whole.items()}

    def _cone(self, roots: Iterable[Term], inside: Collection[Term]) -> list[Term] | None:
        """The variables that the terms depend on, but not those of the terms inside, in an order that names do not
        matter to; None if it is much."""
        done, found, pending = set(inside), list[Term](), list(roots)
        while pending:
            following: list[Term] = []
            for node in walk(pending, done):
                if node.op == "var":
                    found.append(node)
                if node in self.cutting.nexts:
                    following.append(self.cutting.nexts[node])
            if len(done) > MOST_NODES:
                return None
            pending = following
        return found


def _input(var: Term) -> Input:
    return Input(_name(var), var.type, False, "", "", None)


def _name(var: Term) -> str:
    return str(var.payload)


def side_by_side(parts: Mapping[str, Specification]) -> Specification:
    """All of these as one specification, in which they have nothing in common. Each has its claim by this name."""
    images = [_with_prefix(part, f"{PREFIX} {n}: ", name) for n, (name, part) in enumerate(parts.items())]
    return replace(
        images[0],
        inputs=tuple(i for part in images for i in part.inputs),
        constants=tuple(c for part in images for c in part.constants),
        cells=tuple(c for part in images for c in part.cells),
        properties=tuple(p for part in images for p in part.properties),
        assumptions=tuple(a for part in images for a in part.assumptions),
    )


def _with_prefix(part: Specification, prefix: str, name: str) -> Specification:
    image = substitute(part.roots(), {v: variable(f"{prefix}{v.payload}", v.type) for v in part.variables()})

    def with_names(claims: Iterable[Claim]) -> tuple[Claim, ...]:
        names = (name if c.name == CLAIM else f"{prefix}{c.name}" for c in claims)
        return tuple(replace(c, name=n, term=image[c.term]) for n, c in zip(names, claims, strict=True))

    return replace(
        part,
        inputs=tuple(replace(i, name=f"{prefix}{i.name}") for i in part.inputs),
        constants=tuple(replace(c, name=f"{prefix}{c.name}") for c in part.constants),
        cells=tuple(replace(c, name=f"{prefix}{c.name}", next=image[c.next]) for c in part.cells),
        properties=with_names(part.properties),
        assumptions=with_names(part.assumptions),
    )


def without_prefix(certificate: Certificate, number: int) -> Certificate:
    """The certificate about all parts, as far as it is about this one."""
    prefix = f"{PREFIX} {number}: "
    facts = [*certificate.invariants, *certificate.equalities]
    own = {t: variables([t]) for t in facts}
    own = {t: of for t, of in own.items() if all(str(v.payload).startswith(prefix) for v in of)}
    names = {v: variable(str(v.payload).removeprefix(prefix), v.type) for of in own.values() for v in of}
    image = substitute(own, names)
    invariants, equalities = (
        tuple(image[t] for t in terms if t in own) for terms in (certificate.invariants, certificate.equalities)
    )
    free = tuple(name.removeprefix(prefix) for name in certificate.free if name.startswith(prefix))
    return replace(certificate, invariants=invariants, equalities=equalities, free=free)
