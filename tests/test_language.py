"""The contract of the language, feature by feature, through the interpreter."""

from __future__ import annotations

import enum
import math
from fractions import Fraction

import pytest

from streamcheck import *
from streamcheck import SpecError


def values(stream, steps=6, **inputs):
    """The first values of a stream."""
    spec = Spec("s")
    spec.observer("o", stream)
    return [step.observers["o"] for step in spec.run(steps, inputs=inputs)]


def test_fib_mentions_itself_and_its_future():
    @stream(Word64)
    def fib():
        return [1, 1] + +(fib + drop(1, fib))

    assert values(fib, 10) == [1, 1, 2, 3, 5, 8, 13, 21, 34, 55]


def test_mutual_recursion_forward():
    @stream(Word64)
    def evens():
        return [0] + +(1 + odds)

    odds = 1 + evens
    assert values(evens) == [0, 2, 4, 6, 8, 10] and values(odds) == [1, 3, 5, 7, 9, 11]


def test_a_parameter_receives_the_stream_itself_and_defaults_stay():
    reset_at = extern("r", Bool, samples=lambda step: step == 3)
    counter = stream(Int, lambda n: [0] + +mux(reset_at, 0, n + 1))
    assert values(counter) == [0, 1, 2, 3, 0, 1]
    scaled = [stream(Int, lambda n, i=i: [i] + +(n + i)) for i in range(1, 4)]
    assert [values(s, 3) for s in scaled] == [[1, 2, 3], [2, 4, 6], [3, 6, 9]]


def test_drop_goes_through_expressions_and_lists():
    y = [1, 2, 3] + +Word8(10)
    z = [7, 8] + +y
    assert values(drop(2, y)) == [3, 10, 10, 10, 10, 10]
    assert values(drop(1, y + z)) == [2 + 8, 3 + 1, 10 + 2, 10 + 3, 20, 20]
    assert values(drop(1, drop(1, y))) == values(drop(2, y)) and values(drop(0, y)) == values(y)


def test_drop_of_a_recursive_stream_far_ahead():
    n = stream(Word8, lambda n: [5] + +(n + 1))
    assert values(drop(4, n), 3) == [9, 10, 11]


def test_a_macro_called_twice_makes_two_streams():
    def counter(by):
        @stream(Int)
        def n():
            return [0] + +(n + by)

        return n

    assert values(counter(2) + counter(3), 4) == [0, 5, 10, 15]


@pytest.mark.parametrize(
    ("type", "start", "after"),
    [(Word8, 250, 4), (Int8, 122, -124), (Word16, 65530, 4), (Int32, 2**31 - 6, -(2**31) + 4), (Int, 250, 260)],
)
def test_machine_integers_wrap_and_int_does_not(type, start, after):
    n = stream(type, lambda n: [start] + +(n + 1))
    assert values(n, 11)[10] == after


def test_copilots_disagreements_have_one_answer_here():
    # Measured on Copilot: its C and its interpreter differ on each of these.
    w, i = Word8(1), Int32(-7)
    assert values(i % 3, 1) == [2] and values(rem(i, 3), 1) == [-1]
    assert values(i // 3, 1) == [-3] and values(quot(i, 3), 1) == [-2]
    assert values((w - 5) > 100, 1) == [True] and values(~Word8(0) > 100, 1) == [True]
    assert values(Word8(200) + 200 < 200, 1) == [True]
    assert values((Word8(200) * 2) // 4 == 36, 1) == [True]
    assert values((Word8(200) << 1) >> 1, 1) == [72]
    assert values(Word32(5) << 200, 1) == [0] and values(i << 1, 1) == [-14]
    assert values(Int32(2**31 - 1) + 1, 1) == [-(2**31)] and values(abs(Int32(-(2**31))), 1) == [-(2**31)]
    assert values(Int64(-(2**63)), 1) == [-(2**63)]
    a = Array(Word8, 3)([1, 2, 3])
    assert values(a[Word8(200)], 1) == [3] and values(a[Int8(-5)], 1) == [1]


def test_undefined_operations_have_the_values_the_contract_says():
    x = extern("x", Int16, samples=[-7, 7])
    zero = Int16(0)
    assert values(x // zero, 2) == [0, 0] and values(x % zero, 2) == [-7, 7]
    assert values(quot(x, zero), 2) == [0, 0] and values(rem(x, zero), 2) == [-7, 7]
    assert values(x >> Word8(99), 2) == [-1, 0] and values(x << Word8(16), 2) == [0, 0]
    assert values(Real(1) / Real(0), 1) == [0]


def test_literals_take_the_type_of_the_other_side():
    f, r = extern("f", Float, samples=[0.5]), extern("r", Real, samples=[Fraction(1, 3)])
    assert values(f + 0.1, 1) == [float.fromhex("0x1.333334p-1")]
    assert values(r + 0.1, 1) == [Fraction(13, 30)] and values(2 * r, 1) == [Fraction(2, 3)]
    assert values(mux(f > 0, 1, Word8(2)), 1) == [1]


def test_floats_are_ieee():
    inf, nan = math.inf, math.nan
    d = extern("d", Double, samples=[0.0, -0.0, 1.0, -1.0, inf, nan])
    quotient = values(1.0 / d)
    assert quotient[:5] == [inf, -inf, 1.0, -1.0, 0.0] and math.isnan(quotient[5])
    assert values(d == d) == [True] * 5 + [False] and values(d != d) == [False] * 5 + [True]
    assert [math.copysign(1, v) for v in values(-d)][:2] == [-1.0, 1.0]
    assert values(sqrt(Double(-1.0)) == 0.0, 1) == [False]
    assert values(log(Double(0.0)), 1) == [-inf] and values(exp(Double(1000.0)), 1) == [inf]
    assert values(Double(2.0) ** 0.5, 1) == [2**0.5] and values(Double(-0.0) ** -1.0, 1) == [-inf]
    assert values(ceil(Double(-0.5)), 1) == [0.0] and values(floor(Float(2.5)), 1) == [2.0]
    big = Float(3.4028234663852886e38)
    assert values(big * 2.0, 1) == [inf] and values(atan2(Double(1.0), 1.0), 1) == [math.pi / 4]


def test_no_double_rounding_into_float():
    # 2^60 + 2^36 + 1 lies just above the middle of two Floats; through Double it would land in the middle.
    n = 2**60 + 2**36 + 1
    assert values(unsafe_cast(Float, Int64(n)), 1) == [float(2**60 + 2**37)]


def test_powers_with_a_literal_exponent_multiply():
    w = Word8(3)
    assert values(w**0, 1) == [1] and values(w**5, 1) == [243] and values(w**6, 1) == [729 % 256]
    assert values(Real(0.5) ** 3, 1) == [Fraction(1, 8)]


def test_casts():
    w = Word8(200)
    assert values(cast(Int16, w), 1) == [200] and values(unsafe_cast(Int8, w), 1) == [-56]
    assert values(cast(Float, w), 1) == [200.0] and values(cast(Word8, Bool(True)), 1) == [1]
    assert values(unsafe_cast(Word8, Double(-3.9)), 1) == [0] and values(unsafe_cast(Int8, Double(1e9)), 1) == [127]
    assert values(unsafe_cast(Int8, Double(math.nan)), 1) == [0] and values(unsafe_cast(Int8, Float(-3.9)), 1) == [-3]
    assert values(unsafe_cast(Word8, Int(-1)), 1) == [255] and values(cast(Real, Int(2)) / 4, 1) == [Fraction(1, 2)]
    assert values(unsafe_cast(Bool, w), 1) == [True] and values(cast(Int, w) * 2, 1) == [400]


def test_boolean_operators():
    b = extern("b", Bool, samples=[False, False, True, True])
    c = extern("c", Bool, samples=[False, True, False, True])
    assert values(b & c, 4) == [False, False, False, True] and values(b | c, 4) == [False, True, True, True]
    assert values(b ^ c, 4) == [False, True, True, False] and values(~b, 4) == [True, True, False, False]
    assert values(implies(b, c), 4) == [True, True, False, True]
    assert values(b & True, 4) == values(b, 4) and values(all_of([]), 1) == [True] and values(any_of([]), 1) == [False]
    assert values(count_of(Word8, [b, c, True]), 4) == [1, 2, 2, 3]
    assert values(all_of(x for x in (b, c)), 4) == values(b & c, 4)


def test_minimum_maximum_abs():
    x = extern("x", Int8, samples=[-128, -3, 0, 5])
    assert values(minimum(x, 0), 4) == [-128, -3, 0, 0] and values(maximum(x, 0, 3), 4) == [3, 3, 3, 5]
    assert values(abs(x), 4) == [-128, 3, 0, 5]


def test_lustre_words():
    x = extern("x", Int8, samples=lambda step: step)
    assert values(pre(9, x), 3) == [9, 0, 1] and values(then(x + 100, x), 3) == [100, 1, 2]
    assert values(first, 3) == [True, False, False] and values(pre(0, Int(5)), 2) == [0, 5]


def test_reset_begins_anew():
    c = extern("c", Bool, samples=lambda step: step in (3, 4))
    x = extern("x", Int, samples=lambda step: step)
    outside = stream(Int, lambda n: [0] + +(n + 1))

    def piece():
        inside = stream(Int, lambda n: [0] + +(n + 1))
        return inside, then(100, inside), pre(-1, x), outside, drop(1, [7, 8] + +x)

    inside, started, delayed, untouched, dropped = reset(c, piece)
    assert values(inside, 7) == [0, 1, 2, 0, 0, 1, 2]
    assert values(started, 7) == [100, 1, 2, 100, 100, 1, 2]
    assert values(delayed, 7) == [-1, 0, 1, -1, -1, 4, 5]
    assert values(untouched, 7) == [0, 1, 2, 3, 4, 5, 6]
    assert values(dropped, 7) == [8, 0, 1, 8, 8, 4, 5]
    assert values(reset(c, lambda: first), 7) == [True, False, False, True, True, False, False]


def test_nested_resets_combine():
    c = extern("c", Bool, samples=lambda step: step == 2)
    d = extern("d", Bool, samples=lambda step: step == 4)
    n = reset(c, lambda: reset(d, lambda: stream(Int, lambda n: [0] + +(n + 1))))
    assert values(n, 7) == [0, 1, 0, 1, 0, 1, 2]


@struct
class Point:
    x: Int16
    y: Float


class Mode(enum.Enum):
    IDLE = "idle"
    RUN = "run"


def test_arrays():
    i = extern("i", Word8, samples=[0, 1, 2])
    a = Array(Int8, 3)([unsafe_cast(Int8, i), 5, -1])
    assert values(a, 2) == [(0, 5, -1), (1, 5, -1)] and values(a[i], 3) == [0, 5, -1]
    assert values(a.set(i, 9), 3) == [(9, 5, -1), (1, 9, -1), (2, 5, 9)]
    assert len(a) == 3 and [values(e, 1)[0] for e in a] == [0, 5, -1]
    p, *rest = a
    assert values(p, 1) == [0] and len(rest) == 2
    assert values(a == [0, 5, -1], 2) == [True, False]
    assert values([[1, 2]] + +Array(Word8, 2)([3, 4]), 2) == [(1, 2), (3, 4)]
    nested = Array(Array(Bool, 2), 2)([[True, False], [i == 0, True]])
    assert values(nested[1][0], 2) == [True, False]


def test_structs():
    x = extern("x", Int16, samples=[3, 4])
    p = Point(x=x, y=0.5)
    assert [(v.x, v.y) for v in values(p, 2)] == [(3, 0.5), (4, 0.5)]
    assert values(p.x + 1, 2) == [4, 5] and values(p.set(x=9, y=1).y, 1) == [1.0]
    assert values(p == Point(x=3, y=0.5), 2) == [True, False]
    assert values(([Point(x=0, y=0)] + +p).x, 2) == [0, 3] and values(([{"x": 7, "y": 0}] + +p).x, 2) == [7, 3]
    assert values(p == Point(x=x, y=math.nan), 1) == [False]


def test_enums():
    m = extern("m", EnumOf(Mode), samples=[Mode.IDLE, Mode.RUN, "RUN"])
    assert values(m, 3) == [Mode.IDLE, Mode.RUN, Mode.RUN] and values(m == Mode.RUN, 3) == [False, True, True]
    assert values(mux(m == Mode.RUN, Mode.IDLE, Mode.RUN), 2) == [Mode.RUN, Mode.IDLE]
    assert values([Mode.RUN] + +m, 2) == [Mode.RUN, Mode.IDLE]


def test_types_are_classes():
    x = extern("x", Word8)
    assert isinstance(Word8, type) and isinstance(x, Word8) and not isinstance(x, Int8) and isinstance(x, Stream)
    assert Array(Word8, 2) is Array(Word8, 2) and EnumOf(Mode) is EnumOf(Mode)


def test_bodies_are_evaluated_once_and_late():
    calls = []

    @stream(Int)
    def s():
        calls.append(1)
        return [0] + +(s + 1)

    assert calls == []
    values(s + s)
    values(s)
    assert calls == [1]


def test_triggers_and_named_arguments():
    x = extern("x", Word8, samples=[1, 2, 3])
    spec = Spec("s")
    spec.trigger("odd", x % 2 == 1, args=(x))
    spec.trigger("pair", x > 1, [x, x + 1])
    spec.trigger("named", True, {"value": x})
    steps = list(spec.run(3))
    assert [s.triggers for s in steps] == [
        {"odd": (1,), "named": (1,)},
        {"pair": (2, 3), "named": (2,)},
        {"odd": (3,), "pair": (3, 4), "named": (3,)},
    ]


def test_properties_and_assumptions_that_fail_are_named():
    x = extern("x", Word8, samples=[1, 2, 3])
    spec = Spec("s")
    spec.prop("small", x < 3)
    spec.assume("not_two", x != 2)
    spec.prop("open", forall(Word8, lambda v: v == x))
    assert [(s.broken, s.unmet) for s in spec.run(3)] == [((), ()), ((), ("not_two",)), (("small",), ())]


def test_samples_of_every_shape_and_inputs_before_samples():
    by_list, by_iterator = extern("l", Int, samples=[1, 2]), extern("i", Int, samples=iter([3, 4]))
    by_function = extern("f", Int, samples=lambda step: step * 10)
    assert values(by_list + by_iterator + by_function, 2) == [4, 16]
    assert values(by_list, 2, l=[7, 8]) == [7, 8]
    with pytest.raises(SpecError, match='extern "l" has no sample for step 2'):
        values(by_list, 3)
    with pytest.raises(SpecError, match='the sample of extern "w" at step 1: 256 does not fit Word8'):
        values(extern("w", Word8, samples=[0, 256]), 2)
    with pytest.raises(SpecError, match='input "n" has no samples'):
        values(extern("n", Word8), 1)
    with pytest.raises(SpecError, match='no input named "zz"'):
        values(by_list, 1, zz=[1])


def test_one_extern_declared_twice_the_same_way_is_one_input():
    twice = extern("x", Word8, samples=[4]) + extern("x", Word8, doc="again")
    assert values(twice, 1) == [8]


def test_unary_plus_as_formatters_write_it():
    x = extern("x", Word8, samples=[1, 2])
    assert values([0] + +x, 2) == [0, 1]


def test_parenthesised_forms_of_the_traps_are_fine():
    b, c = extern("b", Bool, samples=[True]), extern("c", Bool, samples=[False])
    w = extern("w", Word8, samples=[7])
    assert values((b & c) == c, 1) == [True] and values(b & (c == b), 1) == [False]
    assert values(w & 3 == 3, 1) == [True]  # on words Python's reading is the right one
    assert values(([0] + +w) + 1, 1) == [1] and values([0] + +(w + 1), 1) == [0] and values(1 + ([0] + +w), 1) == [1]
    assert values(([False] + +b) | c, 1) == [False]
    assert values(([False] + +b) == c, 1) == [True]
