"""The memory in which the proof of the C executes it: places of scalars, reads and writes, against a list of values."""

from __future__ import annotations

import itertools

import pytest

from streamcheck.c.kinds import UCHAR, UINT, Array, Struct
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import BOOL, machine
from streamcheck.validate.memory import Memory, RingSlots, scalars_of

WORD, BYTE = machine(32, signed=False), machine(8, signed=False)
PAIR = Struct("pair", (("x", UCHAR), ("y", Array(UCHAR, 2))))
KIND = Struct("whole", (("a", UCHAR), ("m", Array(UCHAR, 3)), ("pairs", Array(PAIR, 2)), ("z", UCHAR)))
PATHS = [  # of the scalars, in order
    ("a",), *(("m", i) for i in range(3)),
    *(("pairs", i, *rest) for i in range(2) for rest in (("x",), ("y", 0), ("y", 1))), ("z",),
]  # fmt: skip
N, J, P = variable("i", WORD), variable("j", BYTE), variable("p", BOOL)


def whole(kind=KIND, count=11, **more):
    memory = Memory()
    first = memory.add(UCHAR, "before", [constant(BYTE, 99)])
    place = memory.add(kind, "object", [variable(f"v{i}", BYTE) for i in range(count)], **more)
    return memory, place, first


def at(place, path):
    for step in path:
        index = constant(WORD, step) if isinstance(step, int) else step
        place = place.field(step, place.kind.field(step)) if isinstance(step, str) else place.element(index)
    return place


def test_the_scalars_of_an_object():
    assert [path for path, _ in scalars_of(KIND)] == PATHS and {kind for _, kind in scalars_of(KIND)} == {UCHAR}
    memory, place, first = whole()
    for i, path in enumerate(PATHS):
        assert memory.read(at(place, path)) == [variable(f"v{i}", BYTE)]
        assert memory.span(at(place, path)) == ((place.object, i), UCHAR)
    assert memory.read(place) == [variable(f"v{i}", BYTE) for i in range(11)] and memory.width(KIND) == 11
    assert memory.read(at(place, ("pairs", 1))) == [variable(f"v{i}", BYTE) for i in (7, 8, 9)]
    assert memory.at((place.object, 4), PAIR) == [variable(f"v{i}", BYTE) for i in (4, 5, 6)]
    assert memory.numbers[first.object] == 1 and memory.numbers[place.object] == 2
    with pytest.raises(SpecError, match="an object of 4000000 values; the proof takes at most"):
        [*scalars_of(Array(Array(UCHAR, 2000), 2000))]


INDICES = [("m", N), ("m", J), ("pairs", N, "x"), ("pairs", N, "y", J), ("pairs", J, "y", 1)]


@pytest.mark.parametrize("path", INDICES)
def test_reads_and_writes_at_an_index(path):
    for live in (TRUE, P):
        memory, place, _ = whole()
        new, read = constant(BYTE, 200), memory.read(at(place, path))
        memory.write(at(place, path), [new], live)
        for i, j, p in itertools.product(range(2), range(2), (False, True)):
            values = {variable(f"v{n}", BYTE): 10 + n for n in range(11)} | {N: i, J: j, P: p}
            known = tuple(i if step is N else j if step is J else step for step in path)
            number = PATHS.index(known)
            assert [value_of(t, values) for t in read] == [10 + number]
            after = [value_of(t, values) for t in memory.read(place)]
            is_written = live is TRUE or p
            assert after == [200 if n == number and is_written else 10 + n for n in range(11)]
        assert memory.parts[(memory_first(memory), 0)] is constant(BYTE, 99)


def memory_first(memory):
    return next(iter(memory.numbers))


def test_an_index_of_a_bounded_choice():
    """`x < n ? x : n` is x where it is below n."""
    memory, place, _ = whole()
    last = constant(BYTE, 2)
    bounded = term("mux", term("lt", J, last), J, last)
    wide = term("mux", term("lt", J, last), term("cast", J, payload=WORD), constant(WORD, 2))
    wrong = term("mux", term("lt", J, constant(BYTE, 3)), J, last)
    for index in (bounded, wide, wrong):
        (read,) = memory.read(at(place, ("m", index)))
        for j in (0, 1, 2, 3, 200):
            values = {variable(f"v{n}", BYTE): 10 + n for n in range(11)} | {J: j}
            assert value_of(read, values) == 11 + min(j, 2), (index, j)


def test_members_after_one_of_a_struct():
    """`(&p->x)[k]`: so many scalars further, inside of the object."""
    memory, place, _ = whole()
    for k in range(4):
        (read,) = memory.read(replace_indices(at(place, ("z",)), constant(WORD, 0)))
        assert read is variable("v10", BYTE)
        (read,) = memory.read(replace_indices(at(place, ("a",)), constant(WORD, k)))
        assert read is variable(f"v{k}", BYTE)
    with pytest.raises(SpecError, match="an index that is not of these members of one type"):
        memory.read(replace_indices(at(place, ("z",)), constant(WORD, 1)))
    with pytest.raises(SpecError, match="a field of all the elements of an array"):
        memory.read(replace_indices(at(place, ("a",)), N))


def replace_indices(place, *indices):
    return type(place)(place.object, place.kind, place.fields, indices)


def test_what_may_not_be_touched():
    memory, place, first = whole()
    memory.frozen = 1
    memory.write(at(place, ("a",)), [constant(BYTE, 1)], TRUE)
    with pytest.raises(SpecError, match="an expression with a side effect"):
        memory.write(first, [constant(BYTE, 1)], TRUE)
    memory.frozen, memory.hidden = 0, {(place.object, 2)}
    memory.write(first, [constant(BYTE, 1)], TRUE)
    assert memory.read(first) == [constant(BYTE, 1)] and memory.read(at(place, ("m", 0))) == [variable("v1", BYTE)]
    for path in (("m", 1), ("m",), (), ("m", N)):
        with pytest.raises(SpecError, match="a window is touched other than by its functions"):
            memory.read(at(place, path))
        with pytest.raises(SpecError, match="a window is touched other than by its functions"):
            memory.write(at(place, path), [constant(BYTE, 1)], TRUE)


def test_rings():
    """An index of a ring is a place in time; the ring is read one by one."""
    memory, place, _ = whole()
    ring = RingSlots(KIND.field("m"), lambda index: (index.payload + 1) % 3)
    memory.rings[(place.object, 1)] = ring
    ring_place = at(place, ("m",))
    assert (
        memory.is_ring(ring_place) and not memory.is_ring(at(place, ("m", 0))) and not memory.is_ring(at(place, ("a",)))
    )
    assert [memory.read(at(ring_place, (i,)))[0].payload for i in range(3)] == ["v2", "v3", "v1"]
    assert memory.read(at(place, ("a",))) == [variable("v0", BYTE)]
    assert memory.read(at(place, ("pairs",))) == [variable(f"v{i}", BYTE) for i in range(4, 10)]
    for path in (("m",), ()):
        with pytest.raises(SpecError, match="a ring as a whole"):
            memory.read(at(place, path))


def test_places_that_overlap():
    memory, place, first = whole()
    parts = [at(place, path) for path in [(), ("a",), ("m",), ("m", 1), ("pairs", 0), ("pairs", 1, "y"), ("z",)]]
    spans = [range(11), range(1), range(1, 4), range(2, 3), range(4, 7), range(8, 10), range(10, 11)]
    for (a, x), (b, y) in itertools.product(zip(parts, spans, strict=True), repeat=2):
        assert memory.may_overlap(a, b) == bool({*x} & {*y})
        assert not memory.may_overlap(a, first) and not memory.may_overlap(first, b)
    assert memory.may_overlap(at(place, ("m", N)), at(place, ("m", 1)))
    assert not memory.may_overlap(at(place, ("m", N)), at(place, ("z",)))


def test_indeterminate_values_and_two_ways():
    memory, place, _ = whole()
    assert memory.has_no_value(place) is FALSE
    memory.indeterminate[(place.object, 2)] = P
    assert memory.has_no_value(at(place, ("m", 1))) is P and memory.has_no_value(at(place, ("m", 0))) is FALSE
    assert memory.has_no_value(place) is P
    found = memory.has_no_value(at(place, ("m", N)))
    assert [value_of(found, {N: i, P: p}) for i in range(3) for p in (False, True)] == [
        False,
        False,
        False,
        True,
        False,
        False,
    ]
    one, other = dict(memory.parts), dict(memory.parts)
    one[(place.object, 0)], other[(place.object, 0)] = constant(BYTE, 1), constant(BYTE, 2)
    memory.parts = other
    memory.merge(P, one, {})
    assert [value_of(memory.read(at(place, ("a",)))[0], {P: p}) for p in (False, True)] == [2, 1]
    assert [value_of(memory.has_no_value(at(place, ("m", 1))), {P: p}) for p in (False, True)] == [False, False]
    assert memory.read(at(place, ("z",))) == [variable("v10", BYTE)] and UINT != UCHAR
