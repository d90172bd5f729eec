"""The library against references written over whole traces, with no streams in them."""

from __future__ import annotations

import enum
import itertools
import math
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcheck import (
    Array,
    Bool,
    Double,
    EnumOf,
    Float,
    Int,
    Int16,
    Int32,
    Int64,
    Real,
    Spec,
    Word8,
    Word32,
    Word64,
    extern,
    pre,
    reset,
    stream,
    struct,
)
from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.lang.lib import clocks, ltl, mtl, ptltl, statistics, voting
from streamcheck.lang.stream import Stream, append
from streamcheck.problem.specification import Specification

P, Q, C = extern("p", Bool), extern("q", Bool), extern("c", Bool)
Trace = list[bool]


def spec_of(s: Stream) -> Spec:
    spec = Spec("library")
    spec.observer("s", s)
    return spec


def run(s: Stream, steps: int, **inputs: Any) -> list[Any]:
    return [step.observers["s"] for step in spec_of(s).run(steps, inputs)]


def equations(s: Stream) -> Specification:
    return flatten(spec_of(s))


def cells(s: Stream) -> list[str]:
    """The types of the cells that the C keeps; those that only implied properties need are left out."""
    flat = equations(s)
    needed = flat.needed_by(flat.outputs())
    return sorted(str(cell.initial.type) for cell in flat.cells if cell.var in needed)


def listed(kind: type[Stream], values: list[Any]) -> Stream:
    """A stream known far ahead: these values, then nobody looks."""
    return append(list(values), kind(values[-1]))


def traces(length: int, signals: int = 1) -> list[tuple[Trace, ...]]:
    one = [list(t) for t in itertools.product([False, True], repeat=length)]
    return list(itertools.product(one, repeat=signals))


def observed(spec: Spec, steps: int, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    return [step.observers for step in spec.run(steps, inputs)]


# voting


def winner(votes: list[Any]) -> list[Any]:
    return [v for v, n in Counter(votes).items() if 2 * n > len(votes)]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_votes_of_three_values_all_lists(size: int) -> None:
    ballots = list(itertools.product([0, 1, 2], repeat=size))
    probes = [extern(f"x{i}", Word8) for i in range(size)]
    inputs = {f"x{i}": [b[i] for b in ballots] for i in range(size)}
    maj = run(voting.majority(probes), len(ballots), **inputs)
    for value in (0, 1, 2):
        has = run(voting.has_majority(value, probes), len(ballots), **inputs)
        assert has == [winner(list(b)) == [value] for b in ballots]
    for m, ballot in zip(maj, ballots, strict=True):
        assert m in ballot
        assert not winner(list(ballot)) or [m] == winner(list(ballot))


# Each list makes a count of 8 bits wrap, in the first pass, in the second, or in twice the second.
LONG = {
    "130 equal": [1] * 130,
    "300 equal": [1] * 300,
    "256 and one": [1] * 256 + [2],
    "255 and one": [1] * 255 + [2],
    "just more than half of 257": [2] * 128 + [1] * 129,
    "just half of 256": [1] * 128 + [2] * 128,
    "interleaved 511": [1, 2] * 255 + [1],
    "none of 300": [1, 2, 3] * 100,
}


@pytest.mark.parametrize("votes", LONG.values(), ids=LONG)
def test_long_votes_do_not_wrap(votes: list[int]) -> None:
    probes = [extern(f"x{i}", Word8) for i in range(len(votes))]
    inputs = {f"x{i}": [v, 0] for i, v in enumerate(votes)}
    maj = voting.majority(probes)
    assert run(voting.has_majority(maj, probes), 2, **inputs) == [bool(winner(votes)), True]
    for value in (1, 2):
        assert run(voting.has_majority(value, probes), 1, **inputs) == [winner(votes) == [value]]
    if winner(votes):
        assert run(maj, 2, **inputs) == [*winner(votes), 0]


def test_votes_are_linear_in_size() -> None:
    def size(n: int) -> int:
        probes = [extern(f"x{i}", Word32) for i in range(n)]
        maj, spec = voting.majority(probes), Spec("votes")
        spec.trigger("vote", voting.has_majority(maj, probes), maj)
        return flatten(spec).size

    assert size(40) - size(30) == size(30) - size(20) <= 12 * 10


class Mode(enum.Enum):
    IDLE = "idle"
    CLIMB = "climb"


@struct
class Point:
    x: Int32
    y: Int32


def test_votes_of_any_type() -> None:
    modes = [extern(f"m{i}", EnumOf(Mode), [m]) for i, m in enumerate([Mode.CLIMB, Mode.IDLE, Mode.CLIMB])]
    assert run(voting.majority(modes), 1) == [Mode.CLIMB]
    assert run(voting.has_majority(Mode.IDLE, modes), 1) == [False]
    points = [Point(x=i, y=2) for i in (1, 3, 3)]
    assert run(voting.majority(points), 1) == [(3, 2)]
    assert run(voting.has_majority(points[1], points), 1) == [True]
    arrays = [Array(Word8, 2)([i, 7]) for i in (4, 4, 5)]
    assert run(voting.majority(arrays), 1) == [(4, 7)]
    assert run(voting.majority(extern("a", Array(Word8, 3), [[6, 9, 9]])), 1) == [9]
    assert run(voting.has_majority(9, extern("a", Array(Word8, 3), [[6, 9, 9]])), 1) == [True]
    assert run(voting.majority([2.5, Double(2.5), 1.0]), 1) == [2.5]
    assert run(voting.majority([True, P]), 2, p=[False, True]) == [True, True]


# ptltl


def since(p: Trace, q: Trace, i: int) -> bool:
    return any(q[j] and all(p[j + 1 : i + 1]) for j in range(i + 1))


def test_since_on_all_traces_of_five_steps() -> None:
    s = ptltl.since(P, Q)
    wrong = [(p, q) for p, q in traces(5, 2) if run(s, 5, p=p, q=q) != [since(p, q, i) for i in range(5)]]
    assert len(traces(5, 2)) == 1024
    assert wrong == []


def test_past_operators_on_all_traces() -> None:
    for (s,) in traces(6):
        assert run(ptltl.previous(Q), 6, q=s) == [False, *s[:-1]]
        assert run(ptltl.always_been(Q), 6, q=s) == [all(s[: i + 1]) for i in range(6)]
        assert run(ptltl.eventually_prev(Q), 6, q=s) == [any(s[: i + 1]) for i in range(6)]


def test_past_operators_keep_one_cell() -> None:
    for s in (ptltl.previous(Q), ptltl.always_been(Q), ptltl.eventually_prev(Q), ptltl.since(P, Q)):
        assert cells(s) == ["Bool"]


def test_reset_restarts_library_streams() -> None:
    restarted = reset(C, lambda: ptltl.since(P, Q))
    c = [False, False, True, False, True]
    assert run(restarted, 5, p=[True] * 5, q=[True, False, False, False, True], c=c) == [
        True,
        True,
        False,
        False,
        True,
    ]


def test_library_streams_may_stand_in_loops() -> None:
    @stream(Bool)
    def alarm() -> Any:
        return ptltl.since(~pre(False, alarm), Q)

    assert run(alarm, 5, q=[True, False, True, False, False]) == [True, False, True, False, False]

    @stream(Bool)
    def instant() -> Any:
        return ptltl.since(instant, Q)

    with pytest.raises(SpecError, match="own present value"):
        run(instant, 1, q=[True])


# ltl


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_future_operators_on_all_traces(n: int) -> None:
    length = 4 + n
    for p, q in traces(length, 2)[:: 1 + 7 * n]:
        spec = Spec("ltl")
        ps, qs = listed(Bool, p), listed(Bool, q)
        spec.observer("always", ltl.always(n, qs))
        spec.observer("eventually", ltl.eventually(n, qs))
        spec.observer("until", ltl.until(n, ps, qs))
        spec.observer("release", ltl.release(n, ps, qs))
        spec.observer("next", ltl.next(qs))
        for i, seen in enumerate(observed(spec, 4, {})):
            ahead = range(i, i + n + 1)
            assert seen == {
                "always": all(q[j] for j in ahead),
                "eventually": any(q[j] for j in ahead),
                "until": any(q[j] and all(p[i:j]) for j in ahead),
                "release": all(q[j] or any(p[i:j]) for j in ahead),
                "next": (q + q[-1:])[i + 1],
            }


def test_future_of_delayed_inputs() -> None:
    q = [True, True, True, False, True, True, True]
    delayed = append([True, True], Q)
    assert run(ltl.always(2, delayed), 7, q=q) == [all(q[max(i - 2, 0) : i + 1]) for i in range(7)]
    with pytest.raises(SpecError, match='extern "q"'):
        run(ltl.always(3, delayed), 7, q=q)


# clocks


@pytest.mark.parametrize("clock", [clocks.clk, clocks.clk1])
def test_clocks(clock: Callable[..., Stream]) -> None:
    for period in (1, 2, 3, 7, 8):
        for phase in range(period):
            expected = [i % period == phase for i in range(3 * period + 2)]
            assert run(clock(period, phase), len(expected)) == expected
    for period in (255, 256, 257, 300):
        for phase in (0, period - 1):
            expected = [i % period == phase for i in range(2 * period + 2)]
            assert run(clock(period, phase), len(expected)) == expected
    assert run(clock(clocks.period(3), clocks.phase(1)), 4) == [False, True, False, False]
    assert run(reset(C, lambda: clock(3, 1)), 6, c=[False, False, False, True, True, False]) == [
        False,
        True,
        False,
        False,
        False,
        True,
    ]


def test_state_of_clocks() -> None:
    assert cells(clocks.clk(3)) == ["Bool"] * 3
    assert cells(clocks.clk1(256)) == ["Word8"]
    assert cells(clocks.clk1(257)) == ["Word16"]


# statistics

NUMBERS: dict[str, tuple[type[Stream], int, int]] = {
    "Word8": (Word8, 0, 255),
    "Int16": (Int16, -(1 << 15), (1 << 15) - 1),
    "Int32": (Int32, -(1 << 31), (1 << 31) - 1),
    "Word32": (Word32, 0, (1 << 32) - 1),
    "Word64": (Word64, 0, (1 << 64) - 1),
    "Int64": (Int64, -(1 << 63), (1 << 63) - 1),
    "Int": (Int, -(1 << 80), 1 << 80),
}


@st.composite
def samples(draw: st.DrawFn) -> Any:
    kind, low, high = NUMBERS[draw(st.sampled_from(list(NUMBERS)))]
    edge = st.sampled_from([low, low + 1, high - 1, high])
    values = draw(st.lists(st.one_of(edge, st.integers(low, high)), min_size=6, max_size=9))
    return kind, low, high, values, draw(st.integers(1, 5))


@settings(max_examples=200, deadline=None)
@given(samples())
def test_statistics_of_integers(case: Any) -> None:
    kind, low, high, values, n = case
    s = listed(kind, values)
    windows = [values[i : i + n] for i in range(len(values) - n + 1)]

    def wrapped(total: int) -> int:
        return total if kind is Int else (total - low) % (high - low + 1) + low

    assert run(statistics.max(n, s), len(windows)) == [max(w) for w in windows]
    assert run(statistics.min(n, s), len(windows)) == [min(w) for w in windows]
    assert run(statistics.sum(n, s), len(windows)) == [wrapped(sum(w)) for w in windows]
    assert run(statistics.mean(n, s), len(windows)) == [math.floor(Fraction(sum(w), n)) for w in windows]
    now = statistics.mean_now([extern(f"x{i}", kind) for i in range(n)])
    inputs = {f"x{i}": [v] for i, v in enumerate(values[:n])}
    assert run(now, 1, **inputs) == [math.floor(Fraction(sum(values[:n]), n))]


def test_statistics_of_many_bytes() -> None:
    """300 values: their number does not fit the type, and the sum neither."""
    s = listed(Word8, [255] * 299 + [0] * 2)
    assert run(statistics.mean(300, s), 2) == [299 * 255 // 300, 298 * 255 // 300]
    assert run(statistics.sum(300, s), 1) == [299 * 255 % 256]


def test_statistics_of_fractions() -> None:
    assert run(statistics.mean(3, listed(Double, [0.1, 0.2, 0.4])), 1) == [(0.1 + 0.2 + 0.4) / 3]
    assert run(statistics.mean(2, listed(Float, [3.0e38, 3.0e38])), 1) == [math.inf]
    assert run(statistics.mean(3, listed(Real, [1, 1, 0])), 1) == [Fraction(2, 3)]
    assert run(statistics.mean_now([extern("x", Double, [1.0]), 2.0]), 1) == [1.5]
    assert run(statistics.max(2, listed(Double, [-0.5, -1.5])), 1) == [-0.5]


def test_statistics_of_the_last_values_of_an_input() -> None:
    x = extern("x", Word8, [1, 5, 3, 2])
    assert run(statistics.max(3, append([0, 0], x)), 4) == [1, 5, 5, 5]
    assert run(statistics.mean(3, append([0, 0], x)), 4) == [0, 2, 3, 3]


def test_the_library_leaves_nothing_to_prove() -> None:
    clock, x = extern("t", Word8), extern("x", Int64)
    spec = Spec("obligations")
    spec.observer("mean", statistics.mean_now([x, x + 1, 7]))
    spec.observer("since", mtl.since(3, 9, clock, 2, P, Q))
    spec.observer("vote", voting.has_majority(3, [x, x, x]))
    spec.observer("clock", clocks.clk1(3, 1))
    assert flatten(spec).properties == ()


# mistakes

W, T = extern("w", Word8), extern("t", Word8)
STREAM: Any = T
FRACTION: Any = 1.5
MISTAKES: list[tuple[Callable[[], Any], str]] = [
    (lambda: voting.majority([]), "majority of an empty list"),
    (lambda: voting.has_majority(P, []), "has_majority of an empty list"),
    (lambda: voting.majority(P), "takes a list of streams, not one Bool"),
    (lambda: voting.majority([P, W]), "different types, Bool and Word8"),
    (lambda: voting.has_majority(P, [W, W]), "different types, Bool and Word8"),
    (lambda: voting.has_majority(300, [W, W]), "300 does not fit Word8"),
    (lambda: voting.majority([True, False]), "no stream tells its type"),
    (lambda: ptltl.since(W, P), r"since\(p, q\): p: expected Bool, found Word8"),
    (lambda: ptltl.since(P, W), r"since\(p, q\): q: expected Bool, found Word8"),
    (lambda: ptltl.previous(1), r"previous\(s\): s: expected a Bool stream, found 1"),
    (lambda: ptltl.always_been(W), "s: expected Bool, found Word8"),
    (lambda: mtl.since(0, 5, 3, 1, P, Q), "the clock: expected a stream of integers, found 3"),
    (lambda: mtl.since(0, 5, extern("d", Double), 1, P, Q), "integers, found a stream of Double"),
    (lambda: mtl.since(4, 3, P, Q), "no step is at least 4 and at most 3 steps away"),
    (lambda: mtl.since(4, 3, T, 1, Q), "mtl.since: 5 arguments"),
    (lambda: mtl.always_been(4, P, high=3), "mtl.always_been: 3 arguments"),
    (lambda: mtl.since(4, 3, T, 1, P, Q), "no time is at least 4 and at most 3"),
    (lambda: mtl.since(-1, 3, T, 1, P, Q), "low: expected an integer of at least 0, found -1"),
    (lambda: mtl.since(0, 3, T, 0, P, Q), "distance: expected an integer of at least 1, found 0"),
    (lambda: mtl.since(0, 256, T, 1, P, Q), "256 does not fit Word8"),
    (lambda: mtl.since(0, 2**64 - 1, extern("v", Word64), 1, P, Q), "no word holds"),
    (lambda: mtl.trigger(0, STREAM, T, 1, P, Q), "high is a whole number, .* this is a stream of Word8"),
    (lambda: mtl.until(0, 3, T, 1, W, Q), r"mtl.until: p: expected Bool, found Word8"),
    (lambda: mtl.always(0, 3, T, FRACTION, Q), "distance: expected an integer of at least 1, found 1.5"),
    (lambda: ltl.always(-1, P), "n: expected an integer of at least 0, found -1"),
    (lambda: ltl.until(True, P, Q), "n: expected an integer of at least 0, found True"),
    (lambda: ltl.next(W), "s: expected Bool, found Word8"),
    (lambda: clocks.clk(0, 0), "the period of a clock: expected an integer of at least 1, found 0"),
    (lambda: clocks.clk1(3, 3), "period 3 has the phases 0 to 2, not 3"),
    (lambda: clocks.clk(3, -1), "the phase of a clock: expected an integer of at least 0, found -1"),
    (lambda: clocks.period(0), "at least 1"),
    (lambda: statistics.sum(0, W), "n: expected an integer of at least 1, found 0"),
    (lambda: statistics.sum(1, P), "sum.*: expected a stream of numbers, found a stream of Bool"),
    (lambda: statistics.mean_now([]), "mean_now of an empty list"),
    (lambda: statistics.mean_now([P, Q]), "mean_now is for numbers"),
    (lambda: statistics.max(2, 5), "no stream tells its type"),
]


@pytest.mark.parametrize(("mistake", "message"), MISTAKES)
def test_mistakes_are_told_at_the_users_line(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(SpecError, match=message) as error:
        mistake()
    assert error.value.where is not None
    assert error.value.where.file == __file__
    assert error.value.where.line == mistake.__code__.co_firstlineno


def test_streams_carry_the_users_line_also_when_made_late() -> None:
    @stream(Bool)
    def late() -> Any:
        return mtl.since(2, 9, T, 1, P, ptltl.since(P, Q))

    lines = {cell.where.line for cell in equations(late).cells if cell.where}
    assert lines == {late._node.payload.function.__code__.co_firstlineno + 2}
