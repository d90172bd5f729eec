"""Memory from `malloc`, `calloc`, `realloc` and `alloca`, and `free` (7.20.3).

Each call has instances of an object, as many as the program may have at a time from it: one if no run gets there twice,
else `MOST`. The first one that is free is taken; a run that needs more ends what is modelled. An instance that is freed
takes the pointers to it with it (`addresses`), so it may be taken again.

Its type is that of the pointer that the result is converted to, else the one as which memory without a type is used.
`malloc` and `calloc` may give the null pointer, `alloca` may not. Of an allocation whose size is not known as the
program is read, or is large, only the pointer is modelled: an access ends the model.

`realloc` is an allocation whose first values are the elements of the old instance, and then, if it has not failed, the
end of that one. Memory of another type ends the model, and so does the size 0: C leaves open what happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from streamcheck.c import kinds
from streamcheck.c.arithmetic import CValue, SideCondition
from streamcheck.c.declarations import Address, CResult
from streamcheck.c.kinds import AnyKind, Array, FunctionType, Incomplete, Opaque, Pointer
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.terms import comparison
from streamcheck.core.simplify import conjunction, disjunction, either, negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, uniform
from streamcheck.core.types import BOOL, ArrayType, default, plural
from streamcheck.frontends.minic.places import (
    GAP,
    NULL,
    OPAQUE,
    AddressRange,
    bytes_of_units,
    instance_of,
    is_inside,
    number,
)

if TYPE_CHECKING:
    from streamcheck.frontends.minic.calls import Calls

MOST = 8  # instances of one call (heuristic)
LARGEST = 4096  # numbers in an allocation
PARAMETERS = {"malloc": 1, "calloc": 2, "realloc": 2, "alloca": 1, "free": 1}
FirstValues = Callable[[Lvalue], Iterable[tuple[Lvalue, Term]]]  # of the parts of an instance


class Heap:
    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.to = calls.expressions
        self.on_stack: list[list[Any]] = [[]]  # by active call, the keys of what ends with it

    def call(self, name: str, arguments: list[Any], node: Any) -> CResult:
        to = self.to
        if name not in PARAMETERS:
            raise to.error(f"{name} is not supported; write malloc", node)
        if len(arguments) != PARAMETERS[name]:
            raise to.error(f"{name} takes {plural(PARAMETERS[name], 'argument')}, found {len(arguments)}", node)
        values = self.calls.evaluate(arguments)
        if name in ("free", "realloc"):
            p = to.numbers.of(values[0], node).term
            self._require_start(p)
            if name == "realloc":
                return self._reallocate(p, values[1], node)
            self._end_instance(p, node)
            return None
        zero = name == "calloc"
        return self._allocate(name, self._size(values), node, lambda made: self._first_values(made, zero=zero))

    def _size(self, values: list[CResult]) -> int | None:
        """The number of bytes. None if it is not known on this path, or is no size."""
        size = 1
        for value in values:
            value = self.to.arithmetic.convert(value, self.to.model.size) if isinstance(value, CValue) else value
            known = self.to.flow.constant_of(value.term) if isinstance(value, CValue) else None
            if known is None or not known.is_const:
                return None
            size *= int(known.payload)
        return size if 0 < size <= self.to.model.size.high else None

    def _allocate(self, name: str, size: int | None, node: Any, first_values: FirstValues) -> Address:
        to, flow = self.to, self.to.flow
        key = ("", ("heap", *self.calls.path, id(node)))
        region = self._region(key, self._kind(size, node), on_stack=name == "alloca")
        made, live = to.numbers.object_of(key, region), self.flags_of(key, region)
        free = [negation(simple_term("index", live, number(i))) for i in range(_count(region))]
        reason = f"more than {len(free)} allocations of one call at a time are not modelled"
        if not self.calls.statements.is_straight:
            to.limit(f"further allocation by {name}", reason, disjunction(*free))
        at: Term = number(len(free) - 1)
        for i in range(len(free) - 2, -1, -1):
            at = either(free[i], number(i), at)
        if name == "alloca":
            self.on_stack[-1].append(key)
        fails = flow.choose(f"{name} fails", BOOL, to.where) if name != "alloca" else FALSE
        assert isinstance(region.kind, Array)
        instance = Lvalue(made, region.kind.element, (), (at,))
        contents = list(first_values(instance))
        result = to.temporary(Pointer(kinds.VOID))
        start = simple_term("add", number(region.base), simple_term("mul", at, number(region.stride)))
        to.flow.step(
            to.where,
            to.text(node),
            *to.storage.updates([*contents, (result, either(fails, number(NULL), start))]),
            (live, simple_term("update", live, at, either(fails, FALSE, TRUE))),
        )
        target = to.expected[1] if to.expected is not None and self._is_typed(node) else kinds.VOID
        return Address(Pointer(target), to.storage.read(result))

    def _first_values(self, made: Lvalue, *, zero: bool = False) -> list[tuple[Lvalue, Term]]:
        return [(part, self._first_value(part.kind, zero=zero)) for part in made.scalars()]

    def _first_value(self, kind: AnyKind, *, zero: bool) -> Term:
        type = self.to.type_of(kind)
        if not zero:
            return self.to.unknown("memory", kind)
        inner = type
        while isinstance(inner, ArrayType):
            inner = inner.element
        return uniform(type, default(inner)) if isinstance(type, ArrayType) else constant(type, default(type))

    # realloc

    def _reallocate(self, old: Term, wanted: CResult, node: Any) -> Address:
        to = self.to
        if not isinstance(wanted, CValue):
            raise to.error(f"{to.text(node)}: the size is not a number", node)
        size = to.arithmetic.convert(wanted, to.model.size)
        reason = "C leaves open what realloc does if the size is 0"
        to.limit("realloc to nothing", reason, comparison("ne", size.term, constant(size.term.type, 0)))
        known, held = self._size([size]), to.temporary(Pointer(kinds.VOID))
        to.flow.step(to.where, to.text(node), *to.storage.updates([(held, old)]))
        p = to.storage.read(held)
        made = self._allocate("realloc", known, node, lambda instance: self._old_values(p, instance))
        self._end_instance(p, node, simple_term("ne", made.term, number(NULL)))
        return made

    def _old_values(self, p: Term, made: Lvalue) -> list[tuple[Lvalue, Term]]:
        """The elements of the instance that a number is of, as far as they are in the new one."""
        values = self._first_values(made)
        for key, region in self._freeable():
            assert isinstance(region.kind, Array)
            is_start, unit = self._is_start(p, key, region), region.kind.element
            if is_start is FALSE or made.kind == OPAQUE:
                continue
            if unit == OPAQUE or _element_and_count(unit)[0] != _element_and_count(made.kind)[0]:
                reason = "memory is reallocated as another type, or its size is not known as the program is read"
                self.to.limit("realloc of other memory", reason, negation(is_start))
                continue
            before = Lvalue(self.to.numbers.object_of(key, region), unit, (), (instance_of(p, region)[0],))
            counts = [_element_and_count(kind)[1] for kind in (unit, made.kind)]
            olds = [self.to.storage.read(part) for part in before.scalars()]
            values = [
                (part, either(is_start, _with_prefix(old, value, *counts), value))
                for (part, value), old in zip(values, olds, strict=True)
            ]
        return values

    # Types

    def _is_typed(self, node: Any) -> bool:
        wanted = self.to.expected
        return wanted is not None and wanted[0] is node and wanted[1] != kinds.VOID

    def _kind(self, size: int | None, node: Any) -> AnyKind:
        """The object of so many bytes that an instance is."""
        to = self.to
        if size is None:
            return OPAQUE
        kind: AnyKind = kinds.UCHAR
        if self._is_typed(node):
            assert to.expected is not None
            kind = to.declarations.complete(to.expected[1])
        else:
            fitting = [k for k in to.memory_plan.wanted if size % to.model.size_of(k) == 0]
            exact = [k for k in fitting if to.model.size_of(k) == size]
            if len(exact or fitting) > 1:
                names = " and as ".join(map(str, exact or fitting))
                raise to.error(f"{to.text(node)}: memory without a type is used as {names}; cast the result", node)
            kind = (exact or fitting or [kind])[0]
        if isinstance(kind, Incomplete | FunctionType | Opaque):
            raise to.error(f"{to.text(node)}: an object of type {kind} is not supported", node)
        each = to.model.size_of(kind)
        if size < each:
            kind, each = kinds.UCHAR, 1
        count = size // each
        if count * kinds.number_of_scalars(kind) > LARGEST:
            return OPAQUE
        return kind if count == 1 else Array(kind, count)

    def _region(self, key: Any, unit: AnyKind, *, on_stack: bool) -> AddressRange:
        plan, model = self.to.memory_plan, self.to.model
        once = self.calls.statements.is_straight
        most = max(1, min(MOST, LARGEST // max(1, kinds.number_of_scalars(unit))))
        kind = Array(unit, 1 if once else most)
        known = plan.regions.get(key)
        if known is not None and known.kind == kind:
            return known
        size = GAP if unit == OPAQUE else model.size_of(unit)
        stride = bytes_of_units(size)
        name = f"memory, {self.to.flow.line(self.to.where)}"
        made = AddressRange(name, kind, 0, (kind.length - 1) * stride + size, stride=stride, on_stack=on_stack)
        return plan.add(key, made, aligned=stride)

    def flags_of(self, key: Any, region: AddressRange) -> Term:
        """Which instances are allocated."""
        statements, flag = self.calls.statements, ("", (*key[1], "live"))
        new = flag not in statements.known
        kind = Array(kinds.BOOLEAN, _count(region))
        place = statements.variable(f"{region.name} in use", kind, flag)
        if new:
            statements.start.append(self.to.storage.update(place, uniform(self.to.type_of(kind), False)))
        return self.to.storage.read(place)

    # The end of memory

    def _freeable(self) -> list[tuple[Any, AddressRange]]:
        return [(key, region) for key, region in self.to.memory_plan.regions.items() if region.is_freed]

    def _require_start(self, p: Term) -> None:
        """The claim that a number is null, or that of an instance which is in use."""
        self.to.numbers.limit_outside(p)
        starts = [self._is_start(p, key, region) for key, region in self._freeable()]
        self.to.arithmetic.oblige(SideCondition.FREE, disjunction(comparison("eq", p, number(NULL)), *starts))

    def _end_instance(self, p: Term, node: Any, holds: Term = TRUE) -> None:
        """The end of the instance that a number is of, if a condition holds."""
        found = self._freeable()
        starts = [conjunction(holds, self._is_start(p, key, region)) for key, region in found]
        updates = []
        for (key, region), is_start in zip(found, starts, strict=True):
            live, (at, _) = self.flags_of(key, region), instance_of(p, region)
            kept = simple_term("index", live, at)
            updates.append((live, simple_term("update", live, at, conjunction(kept, negation(is_start)))))
        for (key, region), is_start in zip(found, starts, strict=True):
            self._note_end(key, region, instance_of(p, region)[0], is_start)
        ranges = [region for _, region in found]
        self._end(node, updates, lambda c: conjunction(holds, disjunction(*(_are_of_one(p, c, r) for r in ranges))))

    def _is_start(self, p: Term, key: Any, region: AddressRange) -> Term:
        """The number is that of an instance which is in use."""
        at, rest = instance_of(p, region)
        live = simple_term("index", self.flags_of(key, region), at)
        return conjunction(is_inside(p, region), simple_term("eq", rest, number(0)), live)

    def _note_end(self, key: Any, region: AddressRange, at: Term, holds: Term) -> None:
        """The end of an instance is in no order with its use in another operand."""
        assert isinstance(region.kind, Array)
        to, whole = self.to, Lvalue(self.to.numbers.object_of(key, region), region.kind.element, (), (at,))
        if holds is not FALSE:
            to.accesses.note(whole, len(to.flow.edges), to.in_branches, writes=True, depth=1, holds=holds)

    def _end(self, node: Any, updates: list[tuple[Term, Term]], ends: Any) -> None:
        flow = self.to.flow
        before = len(flow.edges)
        flow.step(self.to.where, self.to.text(node), *updates)
        if len(flow.edges) > before and flow.edges[-1].target == flow.at:
            self.to.numbers.end_at(len(flow.edges) - 1, ends)

    def leave(self, node: Any) -> None:
        """The end of a call: what `alloca` gave ends."""
        keys = self.on_stack.pop()
        ranges = [(key, self.to.memory_plan.regions[key]) for key in keys]
        if ranges:
            updates = [(live, uniform(live.type, False)) for key, r in ranges for live in [self.flags_of(key, r)]]
            self._end(node, updates, lambda c: disjunction(*(is_inside(c, r, end=True) for _, r in ranges)))


def _element_and_count(kind: AnyKind) -> tuple[AnyKind, int | None]:
    """The elements of an array and their number, None if it is a single object."""
    return (kind.element, kind.length) if isinstance(kind, Array) else (kind, None)


def _with_prefix(old: Term, new: Term, before: int | None, after: int | None) -> Term:
    """The new value with as much of the old one as there is in both."""
    kept = [old] if before is None else [simple_term("index", old, number(i)) for i in range(before)]
    if after is None:
        return kept[0]
    fresh = [simple_term("index", new, number(i)) for i in range(len(kept), after)]
    return term("array", *kept[:after], *fresh, payload=new.type)


def _count(region: AddressRange) -> int:
    assert isinstance(region.kind, Array)
    return region.kind.length


def _are_of_one(p: Term, c: Term, region: AddressRange) -> Term:
    """Both numbers are of one instance."""
    (i, _), (j, _) = (instance_of(x, region) for x in (p, c))
    return conjunction(is_inside(p, region), is_inside(c, region, end=True), simple_term("eq", i, j))
