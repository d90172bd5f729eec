"""Machine integers as mathematical ones, exactly: the same system over Int, with every wrap-around spelled out.

Addition, subtraction and multiplication commute with taking remainders modulo 2^w. So each machine term has a *raw*
Int term, congruent to its value, and bounds on it; sums of sums stay linear and are brought into range once, when
a comparison, a division or a cell needs the value itself. The bounds limit how many multiples of 2^w may have to go:
few become a choice, many become `mod`.

    x + 1 of a Word8          raw x + 1 in 1 … 256         mux(x + 1 > 255, x + 1 - 256, x + 1)

Variables get their ranges as assumptions, which every run of the machine system satisfies. Bit operations that have
no such form, and conversions between machine integers and floats, are `Inexpressible`: bit-vectors then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import assert_never

from streamcheck.core.intervals import (
    UNBOUNDED,
    Interval,
    exact_interval,
    intersection,
    interval_of_type,
    within,
    wraps,
)
from streamcheck.core.simplify import apply, choice, conjunction, fold_constants
from streamcheck.core.term import Term, constant, rebuild, substitute, term, variable, walk
from streamcheck.core.types import INT, EnumType, MachineType, Type, Value
from streamcheck.problem.claim import Claim, Compared, Implied, OfContract, Origin, RangeOf, VacuityTest, Written
from streamcheck.problem.transition import Definition, State, TransitionSystem
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Evidence, LocationInvariants, Trace

FEW_WRAPS = 4


class Inexpressible(Exception):
    """An operation on machine integers that has no linear form over Int."""


@dataclass(frozen=True, slots=True)
class Raw:
    """An Int term congruent to a machine term modulo 2^w, and its interval."""

    term: Term
    interval: Interval


def is_machine(type: Type) -> bool:
    return isinstance(type, MachineType | EnumType)


def has_machine_integers(system: TransitionSystem) -> bool:
    return any(is_machine(node.type) for node in walk(system.roots()))


class MachineTerms:
    """Terms over Int images of machine integers, said about the machine integers: x as `cast(Int, x)`."""

    def __init__(self, machine: Mapping[Term, Term], claims: Mapping[Term, Term] | None = None) -> None:
        self.machine = {image: var for image, var in machine.items() if image is not var}
        self.claims = claims or {}  # claims by their images: an invariant that is a claim stays one
        self._casts = {image: term("cast", var, payload=INT) for image, var in self.machine.items()}

    def images(self, terms: Iterable[Term]) -> dict[Term, Term]:
        return substitute(terms, self._casts)

    def certificate(self, certificate: Certificate) -> Certificate:
        images = self.images((*certificate.invariants, *certificate.equalities))
        own = self.claims if certificate.kind == "inductive" else {}
        invariants = tuple(own.get(t, images[t]) for t in certificate.invariants)
        if all(self._is_equality(*e.args) for e in certificate.equalities):
            equalities = tuple(self._equality(*e.args) for e in certificate.equalities)
        else:  # of a Word8 and a Word16: neither can stand for the other, and the others may need it
            invariants += tuple(images[e] for e in certificate.equalities)
            equalities = ()
        return replace(certificate, invariants=invariants, equalities=equalities)

    def _is_equality(self, image: Term, other: Term) -> bool:
        """True if the other is a constant, or a variable of the same type."""
        return other.is_const or self.machine.get(image, image).type is self.machine.get(other, other).type

    def _equality(self, image: Term, other: Term) -> Term:
        var = self.machine.get(image, image)
        if other.is_const:
            return term("same", var, constant(var.type, other.payload))
        return term("same", var, self.machine.get(other, other))


class SystemIntegers:
    """The system over Int. Inexpressible if an operation has no such form."""

    def __init__(self, system: TransitionSystem) -> None:
        self.problem: TransitionSystem = to_integers(system)
        variables = [*(s.var for s in system.state), *system.inputs]
        images = [*(s.var for s in self.problem.state), *self.problem.inputs]
        claims = zip(self.problem.properties, system.properties, strict=True)
        own = {image.term: claim.term for image, claim in claims}
        self._machine = MachineTerms(dict(zip(images, variables, strict=True)), own)

    def back(self, evidence: Evidence) -> Evidence:
        """A certificate about the machine integers; traces have the same values."""
        match evidence:
            case Certificate():
                return self._machine.certificate(evidence)
            case LocationInvariants() | BlockCertificate() | Trace() | EdgePath():
                return evidence
        assert_never(evidence)


def to_integers(system: TransitionSystem) -> TransitionSystem:
    """The system over Int. Inexpressible if it has no such form."""
    m = Integers()
    m.translate(system.roots())
    m.translate([s.var for s in system.state] + list(system.inputs))
    ranges = [r for v in (*system.inputs, *(s.var for s in system.state)) for r in m.ranges(v)]
    claims = [replace(c, term=m.value(c.term)) for c in system.properties]
    return TransitionSystem(
        system.name,
        tuple(
            State(m.value(s.var), None if s.init is None else m.value(s.init), m.value(s.next)) for s in system.state
        ),
        tuple(m.value(v) for v in system.inputs),
        tuple(Definition(d.name, m.value(d.term)) for d in system.definitions),
        (*(_claim_in_integers(a, m) for a in system.assumptions), *ranges),
        tuple(claims),
    )


def expressible_claims(system: TransitionSystem) -> frozenset[str]:
    """The properties that depend on no operation without a form over Int: none if an assumption depends on one."""
    translated, lost = Integers(), set[Term]()
    readers: defaultdict[Term, set[Term]] = defaultdict(set)  # what is computed from a term, at this step or the next
    for s in system.state:
        readers[s.next].add(s.var)
    for node in walk(system.roots()):
        for a in node.args:
            readers[a].add(node)
        if not (lost.isdisjoint(node.args) and translated.has_form(node)):
            lost.add(node)
    pending = list(lost)
    while pending:
        new = readers[pending.pop()] - lost
        lost |= new
        pending += new
    if any(a.term in lost for a in system.assumptions if not a.is_range):
        return frozenset()
    return frozenset(p.name for p in system.properties if p.term not in lost)


def _claim_in_integers(claim: Claim, m: Integers) -> Claim:
    return replace(claim, term=m.value(claim.term), origin=_origin_in_integers(claim.origin, m))


def _origin_in_integers(origin: Origin, m: Integers) -> Origin:
    match origin:
        case RangeOf(variable):
            return RangeOf(m.value(variable))
        case Written() | Implied() | VacuityTest() | OfContract() | Compared():
            return origin
    assert_never(origin)


class Integers:
    """The translation of terms. `plain` holds the others' images, `raws` those of machine integers. `known` are bounds
    that Int terms have whenever the translated terms count."""

    def __init__(self, known: Mapping[Term, Interval] | None = None) -> None:
        self.known = known or {}
        self.raws: dict[Term, Raw] = {}
        self.plain: dict[Term, Term] = {}
        self._in_type: dict[Term, Term] = {}
        self._done: set[Term] = set()

    def translate(self, roots: Iterable[Term]) -> None:
        for node in walk(roots, self._done):
            if is_machine(node.type):
                self.raws[node] = self._raw(node)
            else:
                self.plain[node] = self._plain(node)

    def has_form(self, node: Term) -> bool:
        """True if the node can be translated, given that its arguments can."""
        try:
            self.translate([node])
        except Inexpressible:
            return False
        return True

    def value(self, node: Term) -> Term:
        """The image of a node: for a machine integer, its value in range."""
        self.translate([node])
        if node in self.plain:
            return self.plain[node]
        if node not in self._in_type:
            self._in_type[node] = _wrap(self._with_bounds(self.raws[node]), node.type)
        return self._in_type[node]

    def _with_bounds(self, raw: Raw) -> Raw:
        return Raw(raw.term, intersection(raw.interval, self.known.get(raw.term, UNBOUNDED)))

    def ranges(self, var: Term) -> Iterator[Claim]:
        if isinstance(var.type, MachineType):
            image = self.value(var)
            low, high = _int(var.type.low), _int(var.type.high)
            holds = conjunction(term("le", low, image), term("le", image, high))
            yield Claim(f"{var.payload} is a {var.type}", holds, origin=RangeOf(image))

    def _plain(self, node: Term) -> Term:
        if not node.args:
            return node
        if node.op == "cast" and is_machine(node.args[0].type):
            return self._cast_out(node)
        if node.op == "float_of_bits":
            raise Inexpressible("the bits of a float")
        return fold_constants(rebuild(node, [self.value(a) for a in node.args]))

    def _cast_out(self, node: Term) -> Term:
        value = self.value(node.args[0])
        match node.type.kind:
            case "integer":
                return value
            case "bool":
                return apply("ne", value, _int(0))
            case "real":
                return apply("cast", value, payload=node.type)
        raise Inexpressible(f"{node.args[0].type} to {node.type}")

    def _raw(self, node: Term) -> Raw:
        kind = node.type
        if node.op == "const":
            return _number(node.payload)
        if node.op == "var":
            return self._with_bounds(Raw(variable(node.payload, INT), interval_of_type(kind)))
        if node.op == "mux":
            return self._choice(node)
        assert isinstance(kind, MachineType), node
        match node.op:
            case "add" | "sub":
                return _sum(node.op, *(self.raws[a] for a in node.args))
            case "neg":
                return _sum("sub", _number(0), self.raws[node.args[0]])
            case "bitnot":  # ~a = -a - 1, modulo 2^w
                return _sum("sub", _number(-1), self.raws[node.args[0]])
            case "mul":
                return self._product(node)
            case "shl":
                amount = _literal(node.args[1])
                factor = 1 << amount if amount < kind.width else 0
                return _scale(self.raws[node.args[0]], factor)
            case "cast":
                return self._cast_in(node.args[0], kind)
        return self._by_value(node, kind)

    def _choice(self, node: Term) -> Raw:
        a, b = self.raws[node.args[1]], self.raws[node.args[2]]
        return Raw(choice(self.plain[node.args[0]], a.term, b.term), exact_interval("mux", a.interval, b.interval))

    def _product(self, node: Term) -> Raw:
        a, b = (self.raws[x] for x in node.args)
        for x, y in ((a, b), (b, a)):
            if x.term.is_const:
                return _scale(y, x.term.payload)
        a, b = (self._in_range(x) for x in node.args)
        return _application("mul", a, b)

    def _cast_in(self, source: Term, target: MachineType) -> Raw:
        match source.type.kind:
            case "bool":
                return Raw(choice(self.plain[source], _int(1), _int(0)), interval_of_type(source.type))
            case "integer":
                return Raw(self.plain[source], UNBOUNDED)
            case "unsigned" | "signed" if source.type.width >= target.width:  # type: ignore[attr-defined]
                return self.raws[source]  # congruent modulo the larger power, hence modulo the smaller
            case "unsigned" | "signed" | "enum":
                return self._in_range(source)
        raise Inexpressible(f"{source.type} to {target}")

    def _in_range(self, node: Term) -> Raw:
        raw = self.raws[node]
        return Raw(self.value(node), within(raw.interval, node.type)) if isinstance(node.type, MachineType) else raw

    def _by_value(self, node: Term, kind: MachineType) -> Raw:
        """Operations that look at the values of their operands."""
        match node.op:
            case "min" | "max" | "abs" | "mod" | "rem" | "floordiv" | "quot":
                return _application(node.op, *map(self._in_range, node.args))
            case "shr":
                amount = min(_literal(node.args[1]), kind.width)
                return _application("floordiv", self._in_range(node.args[0]), _number(1 << amount))
            case "bitand":
                return self._mask(node)
        raise Inexpressible(f"{node.op} on {kind}")

    def _mask(self, node: Term) -> Raw:
        """`x & (2^n - 1)`: the low bits are a remainder."""
        for mask, other in (node.args, node.args[::-1]):
            if mask.is_const and mask.payload >= 0 and (mask.payload & (mask.payload + 1)) == 0:
                return _application("mod", self.raws[other], _number(mask.payload + 1))
        raise Inexpressible("& with a word that is not a mask of low bits")


def _int(value: Value) -> Term:
    return constant(INT, value)


def _number(value: int) -> Raw:
    return Raw(_int(value), (value, value))


def _application(op: str, *operands: Raw) -> Raw:
    return Raw(apply(op, *(a.term for a in operands)), exact_interval(op, *(a.interval for a in operands)))


def _literal(amount: Term) -> int:
    if not amount.is_const:
        raise Inexpressible("a shift by what is not a literal")
    value: int = amount.payload
    return value if value >= 0 else 1 << 16  # a negative amount shifts everything out


def _sum(op: str, a: Raw, b: Raw) -> Raw:
    return Raw(_add(op, a.term, b.term), exact_interval(op, a.interval, b.interval))


def _add(op: str, a: Term, b: Term) -> Term:
    if b.is_const and b.payload == 0:
        return a
    if op == "add" and a.is_const and a.payload == 0:
        return b
    return apply(op, a, b)


def _scale(a: Raw, factor: int) -> Raw:
    if factor == 0:
        return _number(0)
    return a if factor == 1 else _application("mul", _number(factor), a)


def _wrap(raw: Raw, type: Type) -> Term:
    """The value in range that is congruent to the raw term."""
    if not isinstance(type, MachineType):
        return raw.term
    modulus = 1 << type.width
    times = wraps(raw.interval, type)
    if times is None or times[1] - times[0] >= FEW_WRAPS:
        return _remainder(raw.term, type.low, modulus)
    first, last = times
    result = _add("sub", raw.term, _int(last * modulus))
    for count in range(last - 1, first - 1, -1):
        fits = apply("le", raw.term, _int(type.high + count * modulus))
        result = choice(fits, _add("sub", raw.term, _int(count * modulus)), result)
    return result


def _remainder(raw: Term, low: int, modulus: int) -> Term:
    inside = apply("mod", _add("sub", raw, _int(low)), _int(modulus))
    return _add("add", inside, _int(low))
