"""Pointers that the program computes, as numbers (6.3.2.3, 6.5.3.2, 6.5.6, 6.5.8, 6.5.9).

Each object whose address is used has a base (`places`), each function too. `*p` is a choice among the places of p's
type: an lvalue of an object that stands for all of them, a *view*, with the number as its first index; `resolve` gives
the places. That there is one is a claim, `valid pointer`.

An object that ends takes all numbers of it with it: where a block is entered and where memory is freed, each pointer
variable that holds one gets a number without an object (`finish`). So no number is used twice at a time, and a block
or an allocation may have the same numbers again and again. Between the end of a block and the next entry its objects
are no places, as the program is read.

Which objects have numbers is known at the end of the reading: `MemoryPlan` outlives it, and the program is read until
the plan stays the same.

What is not exact ends the model: an access of an object as another type (its bytes, mostly), and the comparison of the
end of one object with the beginning of another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from streamcheck.c import kinds, pointers
from streamcheck.c.arithmetic import ADDRESS, COMPARISONS, CValue, SideCondition
from streamcheck.c.declarations import Address, CResult, Function, Pointee
from streamcheck.c.kinds import AnyKind, Array, FunctionType, Incomplete, Integer, Opaque, Pointer, Struct, Void
from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.c.static import code_of
from streamcheck.c.terms import recast
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction, disjunction, either, negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant, term
from streamcheck.core.types import ArrayType, machine
from streamcheck.frontends.minic.places import (
    DANGLING,
    FIRST_FUNCTION,
    FIRST_OBJECT,
    GAP,
    LAST,
    NULL,
    OUTSIDE,
    AddressRange,
    PartElement,
    TypedPart,
    decode,
    instance_of,
    is_inside,
    may_alias,
    number,
    places,
    unit_size,
)

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions

VIEW = 1 << 30  # the number of elements of a view: it has no storage
MOST_CELLS = 4096  # of pointers that an object that ends may leave behind
WIDE = machine(64, signed=True)


@dataclass(slots=True)
class MemoryPlan:
    """The objects and functions that have numbers, by key. `computed`: the pointer variables that are numbers. `ends`:
    pointers behind objects are computed.
    `outside`: there are pointers to objects of other files. `wanted`: the types as which untyped memory
    is used."""

    regions: dict[Any, AddressRange] = field(default_factory=dict)
    functions: dict[str, int] = field(default_factory=dict)
    computed: set[Any] = field(default_factory=set)
    wanted: list[AnyKind] = field(default_factory=list)
    ends: bool = False
    outside: bool = False
    next: int = FIRST_OBJECT
    version: int = 0

    def add(self, key: Any, region: AddressRange, *, aligned: int = GAP) -> AddressRange:
        region.base = -(-self.next // aligned) * aligned
        self.next = region.end + GAP
        self.regions[key] = region
        self.version += 1
        return region

    def compute(self, key: Any) -> None:
        """The pointer variable of this key is a number from now on."""
        self.computed.add(_of_function(key))
        self.version += 1

    def is_computed(self, key: Any) -> bool:
        return _of_function(key) in self.computed

    def want(self, kind: AnyKind) -> None:
        """Memory without a type is used as one of this kind."""
        if kind not in self.wanted and not isinstance(kind, Void | Incomplete | FunctionType | Opaque):
            self.wanted.append(kind)
            self.version += 1

    def mark(self, what: str) -> None:
        if not getattr(self, what):
            setattr(self, what, True)
            self.version += 1


class Addresses:
    def __init__(self, to: Expressions, plan: MemoryPlan) -> None:
        self.to = to
        self.plan = plan
        self.views: dict[AnyKind, Object] = {}
        self.kinds: dict[Object, AnyKind] = {}  # of views
        self.ending: list[tuple[int, Callable[[Term], Term]]] = []  # edges, and what ends there
        self.since: dict[Term, int] = {}  # by number, how many edges there were when it was found to be a place
        self.object_of: Callable[[Any, AddressRange], Object]  # makes the object that a region is
        self.flags_of: Callable[[Any, AddressRange], Term]  # which instances of an allocation are in use

    # Numbers

    def of(self, operand: CResult, node: Any, kind: Pointer | None = None) -> Address:
        """The number of a pointer."""
        if isinstance(operand, Lvalue) and isinstance(operand.kind, Array):
            operand = Pointee(operand, self.to.arithmetic.number(kinds.LONG, 0))
        if isinstance(operand, Pointee):
            operand = self._of_pointee(operand, node)
        if isinstance(operand, Address):
            if kind is not None and operand.kind.target == kinds.VOID:
                self.plan.want(self.to.declarations.complete(kind.target))
            return operand if kind is None else Address(kind, operand.term)
        if pointers.is_null(operand):
            return Address(kind or Pointer(kinds.VOID), number(NULL))
        text = "this value" if node is None else self.to.text(node)
        raise self._error(f"{text}: a number as a pointer is not supported", node)

    def _error(self, message: str, node: Any) -> SpecError:
        return SpecError(message, self.to.where) if node is None else self.to.error(message, node)

    def _of_pointee(self, pointee: Pointee, node: Any) -> Address:
        if not pointee.sure:
            what = f"a pointer that may point to {pointee.lvalue.object.name} or nowhere is copied"
            pointers.refuse(pointee.variable, what, self.to, node)
        self.to.require_alive(pointee.lvalue)
        lvalue = pointee.lvalue
        if pointee.offset is not None and isinstance(lvalue.kind, Array):
            at = self._number_of(lvalue.element(pointee.offset.term), node)
        else:
            at = self._number_of(lvalue, node)
        if pointee.offset is not None:
            length = lvalue.kind.length if isinstance(lvalue.kind, Array) else 1
            if not isinstance(lvalue.kind, Array):
                at = _further(at, pointee.offset.term, self.to.model.size_of(lvalue.kind))
            offset = pointee.offset.term
            if not offset.is_const or not 0 <= offset.payload < length:
                self.plan.mark("ends")
        target = kinds.VOID if pointee.bytes else pointee.kind
        return Address(Pointer(target, lvalue.is_constant), at)

    def _number_of(self, lvalue: Lvalue, node: Any) -> Term:
        """The number of the first byte."""
        fields, indices = list(lvalue.fields), list(lvalue.indices)
        if lvalue.object in self.kinds:
            at, kind = indices.pop(0), self.kinds[lvalue.object]
        else:
            at, kind = number(self.region_of(lvalue.object, node).base), lvalue.object.kind
        model = self.to.model
        while fields or indices:
            kind = self.to.declarations.complete(kind)
            if isinstance(kind, Struct):
                name = fields.pop(0)
                at = _further(at, number(next(d for n, _, d in model.offsets(kind) if n == name)), 1)
                kind = kind.kind_of(name)
            elif isinstance(kind, Array) and indices:
                kind = kind.element
                at = _further(at, indices.pop(0), model.size_of(kind))
            else:
                raise self._error("the address of a part of all elements is not supported", node)
        return at

    def region_of(self, made: Object, node: Any) -> AddressRange:
        key = self.to.storage.keys.get(made)
        if key is None or made in self.to.temporaries:
            raise self._error(f"the address of {made.name}, a value that ends here; write a variable for it", node)
        if key not in self.plan.regions:
            if made.volatile:
                raise self._error(f"{made.name} is volatile: pointers to it that are computed are not supported", node)
            if kinds.has_run_time_length(made.kind):
                raise self._error(f"{made.name} has a variable length: a pointer to it must not change", node)
            size = max(1, self.to.model.size_of(made.kind))
            automatic = made in self.to.lifetimes.automatic
            self.plan.add(key, AddressRange(made.name, made.kind, 0, size, automatic, 0, made.constant))
            if self.plan.next > LAST:
                raise self._error("the objects that pointers may point to are too large", node)
        return self.plan.regions[key]

    def of_function(self, name: str, node: Any) -> Address:
        function = self.to.scope.meaning(name)
        assert isinstance(function, Function)
        if function.body is None:
            message = f"{name} has no body here: pointers to functions of other files are not supported"
            raise self._error(message, node)
        if name not in self.plan.functions:
            self.plan.functions[name] = FIRST_FUNCTION * (1 + len(self.plan.functions))
            self.plan.version += 1
        return Address(Pointer(code_of(function)), number(self.plan.functions[name]))

    # Places

    def has(self, lvalue: Lvalue) -> bool:
        return lvalue.object in self.kinds

    def _live(self) -> Iterator[tuple[Any, AddressRange]]:
        """The objects that exist here, as the program is read."""
        open_objects = self.to.lifetimes.open_objects()
        for key, region in self.plan.regions.items():
            if not region.automatic or self.object_of(key, region) in open_objects:
                yield key, region

    def _dead(self) -> Iterator[AddressRange]:
        live = {key for key, _ in self._live()}
        yield from (region for key, region in self.plan.regions.items() if key not in live)

    def _matches(self, kind: AnyKind) -> Callable[[AnyKind], bool]:
        are_same = self.to.declarations.are_same
        if self.to.arithmetic.mathematical:  # the ranges of int and unsigned differ
            return lambda place: are_same(place, kind)
        return lambda place: may_alias(place, kind, are_same)

    def _places(self, kind: AnyKind) -> Iterator[tuple[Any, AddressRange, TypedPart]]:
        for key, region in self._live():
            for place in places(region, self._matches(kind), self.to.model):
                yield key, region, place

    def resolve(self, lvalue: Lvalue) -> Iterator[tuple[Term, Lvalue]]:
        """The lvalues that one of a view may be, each with its condition. At most one holds."""
        p, kind = lvalue.indices[0], self.kinds[lvalue.object]
        for key, region, place in self._places(kind):
            decoded = decode(p, region, place)
            if decoded.holds is not FALSE:
                indices = (*decoded.indices, *lvalue.indices[1:])
                inner = place.kind if not lvalue.fields and isinstance(place.kind, Integer) else lvalue.kind
                fields = (*place.fields, *lvalue.fields)
                yield decoded.holds, Lvalue(self.object_of(key, region), inner, fields, indices)

    def _view(self, kind: AnyKind, p: Term, *, constant: bool) -> Lvalue:
        if kind not in self.views:
            self.views[kind] = Object(f"*({kind} *)", Array(kind, VIEW))
            self.kinds[self.views[kind]] = kind
        self.since[p] = len(self.to.flow.edges)
        return Lvalue(self.views[kind], kind, (), (p,), constant)

    def _target(self, address: Address, node: Any) -> AnyKind:
        kind = self.to.declarations.complete(address.kind.target)
        if isinstance(kind, Incomplete | Opaque) or kind == kinds.VOID or isinstance(kind, FunctionType):
            what = kind.reason if isinstance(kind, Opaque) else f"a pointer to {kind} has no object"
            raise self._error(what if node is None else f"{self.to.text(node)}: {what}", node)
        return kind

    def place_at(self, address: Address, node: Any) -> Lvalue:
        if address.moved is not None:  # *(p + i) is p[i] (6.5.2.1)
            return self._element(replace(address, term=address.moved[0]), address.moved[1], node)
        kind, p = self._target(address, node), address.term
        self.limit_outside(p)
        found = [self._in_use(key, region, decode(p, region, place)) for key, region, place in self._places(kind)]
        self._require_place(kind, p, disjunction(*found))
        return self._view(kind, p, constant=address.kind.constant)

    def element_at(self, address: Address, by: CValue, node: Any) -> Lvalue:
        distance = self._distance(by)
        if distance.is_const and distance.payload == 0:
            return self.place_at(address, node)
        return self._element(address, distance, node)

    def _element(self, address: Address, distance: Term, node: Any) -> Lvalue:
        kind, p = self._target(address, node), address.term
        self.limit_outside(p)
        found = [_stays(d, distance, end=False) for d in self._elements_at(p, kind)]
        self._require_place(kind, p, disjunction(*found), distance)
        return self._view(kind, _further(p, distance, self.to.model.size_of(kind)), constant=address.kind.constant)

    def _elements_at(self, p: Term, kind: AnyKind) -> Iterator[PartElement]:
        """The elements that a number may be of, or the end of, by the index in the innermost array. One object is an
        array of one element (6.5.6). The end of a row is the beginning of the next one, too."""
        for key, region, place in self._places(kind):
            if place.is_element and len(place.steps) == 1:
                yield decode(p, region, place, end=True)
                continue
            first = decode(p, region, place)
            last = decode(simple_term("sub", p, number(self.to.model.size_of(place.kind))), region, place)
            length = first.length if place.is_element else 1
            index = first.indices[-1] if place.is_element else number(0)
            is_last = simple_term("eq", last.indices[-1], number(length - 1)) if place.is_element else TRUE
            yield PartElement(self._in_use(key, region, first), (index,), length)
            yield PartElement(conjunction(self._in_use(key, region, last), is_last), (number(length),), length)

    def _in_use(self, key: Any, region: AddressRange, at: PartElement) -> Term:
        """The number is an element's, and if it is one of an allocation, that is in use."""
        if not region.stride or at.holds is FALSE:
            return at.holds
        return conjunction(at.holds, simple_term("index", self.flags_of(key, region), at.indices[0]))

    def _require_place(self, kind: AnyKind, p: Term, valid: Term, by: Term | None = None) -> None:
        """The claim that a number, or the one so many elements further, is a place's. Where it is in an object of
        another type, the model ends."""
        inside = self._in_others(kind, p, by)
        self.to.arithmetic.oblige(SideCondition.TARGET, disjunction(valid, inside))
        reason = f"an object is accessed as {kind}, which is not its type"
        self.to.limit(f"access as {kind}", reason, disjunction(valid, negation(inside)))

    def _in_others(self, kind: AnyKind, p: Term, by: Term | None) -> Term:
        """The number is in an object that is not all of this type. If one moves from there: in it or at its end, and
        so is the element further on."""
        size, found = self.to.model.size_of(kind), []
        for region in (region for _, region in self._live() if not self._is_all(region, kind)):
            at = _bytes(p, region)
            if by is None or region.is_opaque or not size:
                found.append(is_inside(p, region, end=by is not None))
            else:
                index = simple_term("quot", at.indices[-1], number(size))
                found.append(_stays(PartElement(at.holds, (index,), at.length // size), by, end=True))
        return disjunction(*found)

    def _is_all(self, region: AddressRange, kind: AnyKind) -> bool:
        """All bytes of the object are in places of the kind."""
        inner = region.kind
        while isinstance(inner, Array) and not self._matches(kind)(inner):
            inner = inner.element
        return self._matches(kind)(inner)

    def require_still(self, lvalue: Lvalue) -> None:
        """The claim that memory has not been freed since the lvalue was found to be a place."""
        if self.has(lvalue) and any(edge >= self.since.get(lvalue.indices[0], 0) for edge, _ in self.ending):
            kind, p = self.kinds[lvalue.object], lvalue.indices[0]
            found = [self._in_use(key, region, decode(p, region, place)) for key, region, place in self._places(kind)]
            self.to.arithmetic.oblige(SideCondition.TARGET, disjunction(*found))

    def limit_outside(self, p: Term) -> None:
        """The end of what is modelled, for a pointer to an object of another file."""
        if self.plan.outside:
            reason = "the pointer may point to an object of another file"
            self.to.limit("use of a pointer from outside", reason, simple_term("ne", p, number(OUTSIDE)))

    def changes_constant(self, lvalue: Lvalue) -> Term:
        """The condition that a write to an lvalue of a view would change an object that is const."""
        return disjunction(*(holds for holds, place in self.resolve(lvalue) if place.is_constant))

    # Arithmetic

    def _distance(self, by: CValue) -> Term:
        if isinstance(by.kind, Integer) and by.kind.high > kinds.LONG.high:
            self.to.arithmetic.require_range(SideCondition.POINTER, by, 0, kinds.LONG.high)
        elif self.to.arithmetic.mathematical:
            self.to.arithmetic.require_range(SideCondition.POINTER, by, kinds.LONG.low, kinds.LONG.high)
        return recast(self.to.arithmetic.convert(by, kinds.LONG).term, WIDE)

    def move(self, address: Address, by: CValue, op: str) -> Address:
        distance = self._distance(by)
        if distance.is_const and distance.payload == 0:
            return address
        kind, p = self.to.declarations.complete(address.kind.target), address.term
        if isinstance(kind, FunctionType | Incomplete | Opaque):
            raise SpecError(f"arithmetic on a pointer to {kind} is not supported", self.to.where)
        self.plan.mark("ends")
        self.limit_outside(p)
        if op == "-":
            self.to.arithmetic.oblige(SideCondition.POINTER, simple_term("ne", distance, constant(WIDE, WIDE.low)))
            distance = simple_term("neg", distance)
        opaque = [is_inside(p, region) for _, region in self._live() if region.is_opaque]
        reason = "the size of this memory is not known when the program is read"
        self.to.limit("arithmetic on a pointer to memory", reason, negation(disjunction(*opaque)))
        stays = [_stays(d, distance, end=True) for d in self._elements_at(p, kind)]
        by_bytes = kind == kinds.VOID or (isinstance(kind, Integer) and kind.width == 8)
        if by_bytes:
            stays += [_stays(_bytes(p, region), distance, end=True) for _, region in self._live()]
        within, others = disjunction(*stays), self._in_others(kind, p, distance)
        self.to.arithmetic.oblige(SideCondition.POINTER, disjunction(within, others))
        reason = f"a pointer moves by {kind} in an object which is not of this type"
        self.to.limit(f"arithmetic on a pointer to {kind}", reason, disjunction(within, negation(others)))
        moved = None if by_bytes else (p, distance)
        return Address(address.kind, _further(p, distance, self.to.model.size_of(kind)), moved)

    def not_null(self, address: Address) -> Term:
        self._require_usable(address.term)
        self.limit_outside(address.term)
        return simple_term("ne", address.term, number(NULL))

    def _require_usable(self, p: Term) -> None:
        """The value of a pointer to an object that has ended is indeterminate (6.2.4)."""
        if not any(region.automatic or region.stride for region in self.plan.regions.values()):
            return
        dead = (is_inside(p, region, end=True) for region in self._dead())
        holds = conjunction(simple_term("ne", p, number(DANGLING)), *(negation(d) for d in dead))
        self.to.arithmetic.oblige(SideCondition.ALIVE, holds)

    def compare(self, op: str, a: Address, b: Address) -> CValue:
        to = self.to
        for side in (a, b):
            self._require_usable(side.term)
            self.limit_outside(side.term)
        if op in ("==", "!="):
            self._limit_ends(a.term, b.term)
            self._limit_literals(a.term, b.term)
            return to.arithmetic.of_truth(simple_term(COMPARISONS[op], a.term, b.term))
        if op not in ("-", "<", "<=", ">", ">="):
            raise SpecError(f"{op} is not defined for pointers", to.where)
        both = [
            conjunction(
                is_inside(a.term, region, end=True), is_inside(b.term, region, end=True), self._one(region, a, b)
            )
            for _, region in self._live()
        ]
        to.arithmetic.oblige(SideCondition.SAME, disjunction(*both))
        if op != "-":
            return to.arithmetic.of_truth(simple_term(COMPARISONS[op], a.term, b.term))
        size = to.model.size_of(to.declarations.complete(a.kind.target))
        wide = [recast(side.term, WIDE) for side in (a, b)]
        distance = simple_term("quot", simple_term("sub", *wide), constant(WIDE, size))
        return pointers.difference(recast(distance, to.type_of(kinds.LONG)), to)

    def _one(self, region: AddressRange, a: Address, b: Address) -> Term:
        """Two numbers in a region are of one instance."""
        if not region.stride:
            return TRUE
        (i, _), (j, _) = (instance_of(side.term, region) for side in (a, b))
        return simple_term("eq", i, j)

    def _limit_ends(self, a: Term, b: Term) -> None:
        """C leaves open if the end of an object is the beginning of another one (6.5.9)."""
        if not self.plan.ends or a is number(NULL) or b is number(NULL):
            return
        doubts = []
        for _, region in self._live():
            for x, y in ((a, b), (b, a)):
                is_end = simple_term("eq", x, number(region.end))
                own = is_inside(y, region, end=True)
                if region.stride:
                    (i, rest), (j, _) = (instance_of(side, region) for side in (x, y))
                    is_end = conjunction(is_inside(x, region, end=True), simple_term("eq", rest, unit_size(region)))
                    own = conjunction(own, simple_term("eq", i, j))
                other = conjunction(simple_term("ge", y, number(FIRST_OBJECT)), negation(own))
                doubts.append(conjunction(is_end, other))
        reason = "C leaves open if the end of an object is the beginning of another one"
        self.to.limit("comparison with the end of an object", reason, negation(disjunction(*doubts)))

    def _limit_literals(self, a: Term, b: Term) -> None:
        """C leaves open if two string literals are one array (6.4.5)."""
        literals = [region for _, region in self._live() if region.name.startswith('"')]
        both = [disjunction(*(is_inside(x, region, end=True) for region in literals)) for x in (a, b)]
        holds = disjunction(negation(conjunction(*both)), simple_term("eq", a, b))
        self.to.limit("comparison of string literals", "C leaves open if two string literals are one array", holds)

    # Ends of objects

    def end_at(self, edge: int, ends: Callable[[Term], Term]) -> None:
        """On this edge, the pointers whose numbers satisfy the condition lose their object."""
        self.ending.append((edge, ends))

    def without_own(self, owner: str, updates: list[tuple[Term, Term]]) -> list[tuple[Term, Term]]:
        """The first values of the parameters of a call. A pointer to a variable of the function is one to that of an
        earlier call, which has ended."""
        regions = [r for key, r in self.plan.regions.items() if r.automatic and key[0] == owner]
        ends, cells = _in_any(regions), {root for _, root in self.to.storage.cells}
        return [(v, _map(t, lambda p: either(ends(p), number(DANGLING), p)) if v in cells else t) for v, t in updates]

    def finish(self) -> None:
        """Gives the edges on which objects end the updates of pointers to them."""
        for edge, block in self.to.lifetimes.entries:
            made = [o for o in block.own if self.to.storage.keys.get(o) in self.plan.regions]
            regions = [self.plan.regions[self.to.storage.keys[o]] for o in made if not self._is_entered_once(o)]
            if regions:
                self._invalidate(edge, _in_any(regions), block.inner)
        for edge, ends in self.ending:
            self._invalidate(edge, ends, set())

    def _is_entered_once(self, made: Object) -> bool:
        entries = [edge for edge, block in self.to.lifetimes.entries if made in block.own]
        return len(entries) == 1 and entries[0] in self.to.lifetimes.straight

    def _invalidate(self, number_of_edge: int, ends: Callable[[Term], Term], inner: set[Object]) -> None:
        flow = self.to.flow
        edge = flow.edges[number_of_edge]
        updates = dict(edge.updates)
        count = 0
        for made, root in self.to.storage.cells:
            if made not in inner:
                count += _size(root.type)
                old = updates.get(root, root)
                updates[root] = _map(old, lambda p: either(ends(p), number(DANGLING), p))
        if count > MOST_CELLS:
            raise SpecError(f"more than {MOST_CELLS} pointers may outlive what they point to", edge.where)
        flow.edges[number_of_edge] = replace(edge, updates=tuple(updates.items()))


def _of_function(key: Any) -> Any:
    """The key of a variable, for all calls of its function that are active."""
    owner, name = key
    return owner.split("@")[0], name


def _in_any(regions: Sequence[AddressRange]) -> Callable[[Term], Term]:
    return lambda p: disjunction(*(is_inside(p, region, end=True) for region in regions))


def _size(type: Any) -> int:
    return type.length * _size(type.element) if isinstance(type, ArrayType) else 1


def _map(value: Term, change: Callable[[Term], Term]) -> Term:
    """The array, or arrays of arrays, with all elements changed."""
    if not isinstance(value.type, ArrayType):
        return change(value)
    parts = (simple_term("index", value, number(i)) for i in range(value.type.length))
    return term("array", *(_map(part, change) for part in parts), payload=value.type)


def _further(p: Term, by: Term, size: int) -> Term:
    distance = simple_term("mul", recast(by, ADDRESS), number(size)) if size != 1 else recast(by, ADDRESS)
    return simple_term("add", p, distance)


def _bytes(p: Term, region: AddressRange) -> PartElement:
    """The byte of an object, or its end."""
    if region.stride:
        index, rest = instance_of(p, region)
        holds = conjunction(is_inside(p, region, end=True), simple_term("le", rest, unit_size(region)))
        return PartElement(holds, (index, rest), int(unit_size(region).payload))
    return PartElement(is_inside(p, region, end=True), (simple_term("sub", p, number(region.base)),), region.size)


def _stays(at: PartElement, distance: Term, *, end: bool) -> Term:
    """An element of the array at hand, or its end, is this far from the element."""
    if at.holds is FALSE:
        return FALSE
    index = recast(at.indices[-1], WIDE)
    most = constant(WIDE, at.length if end else at.length - 1)
    low = simple_term("ge", distance, simple_term("neg", index))
    return conjunction(at.holds, low, simple_term("le", distance, simple_term("sub", most, index)))
