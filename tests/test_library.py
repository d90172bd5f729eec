"""The library against references written over whole traces, with no streams in them."""

from __future__ import annotations

import enum
import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, cast

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
    Int8,
    Int16,
    Int32,
    Int64,
    Real,
    Spec,
    Word8,
    Word16,
    Word32,
    Word64,
    extern,
    pre,
    reset,
    stream,
    struct,
)
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.python import PythonWriter
from streamcheck.lang.flatten import flatten
from streamcheck.lang.lib import clocks, ltl, mtl, ptltl, statistics, voting
from streamcheck.lang.load import load
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


# mtl


def metric_since(low: int, high: int, t: list[int], p: Trace, q: Trace, i: int) -> bool:
    return any(q[j] and low <= t[i] - t[j] <= high and all(p[j + 1 : i + 1]) for j in range(i + 1))


def metric_until(low: int, high: int, t: list[int], p: Trace, q: Trace, i: int) -> bool:
    return any(q[j] and low <= t[j] - t[i] <= high and all(p[i:j]) for j in range(i, len(t)))


def metric_past(low: int, high: int, t: list[int], p: Trace, q: Trace, i: int) -> dict[str, bool]:
    within = [j for j in range(i + 1) if low <= t[i] - t[j] <= high]
    return {
        "since": metric_since(low, high, t, p, q, i),
        "trigger": all(q[j] or any(p[j + 1 : i + 1]) for j in within),
        "matching_since": any(q[j] and all(p[j : i + 1]) for j in within),
        "matching_trigger": all(q[j] or any(p[j : i + 1]) for j in within),
        "eventually_prev": any(q[j] for j in within),
        "always_been": all(q[j] for j in within),
    }


def metric_future(low: int, high: int, t: list[int], p: Trace, q: Trace, i: int) -> dict[str, bool]:
    within = [j for j in range(i, len(t)) if low <= t[j] - t[i] <= high]
    return {
        "until": metric_until(low, high, t, p, q, i),
        "release": all(q[j] or any(p[i:j]) for j in within),
        "matching_until": any(q[j] and all(p[i : j + 1]) for j in within),
        "matching_release": all(q[j] or any(p[i : j + 1]) for j in within),
        "eventually": any(q[j] for j in within),
        "always": all(q[j] for j in within),
    }


def metric(name: str, low: int, high: int, clock: Stream, distance: int, p: Stream, q: Stream) -> Stream:
    operator: Callable[..., Stream] = getattr(mtl, name)
    both = "always" not in name and "eventually" not in name
    return operator(low, high, clock, distance, *([p, q] if both else [q]))


def observed(spec: Spec, steps: int, inputs: dict[str, Any]) -> list[dict[str, Any]]:
    return [step.observers for step in spec.run(steps, inputs)]


PAST = list(metric_past(0, 0, [0], [True], [True], 0))
FUTURE = list(metric_future(0, 0, [0], [True], [True], 0))
CLOCKS: dict[str, tuple[type[Stream], int, int]] = {
    "Word8": (Word8, 0, 255),
    "Int8": (Int8, -128, 127),
    "Word16": (Word16, 0, (1 << 16) - 1),
    "Int32": (Int32, -(1 << 31), (1 << 31) - 1),
    "Word64": (Word64, 0, (1 << 64) - 1),
    "Int64": (Int64, -(1 << 63), (1 << 63) - 1),
    "Int": (Int, -(1 << 70), 1 << 70),
}


@st.composite
def timed(draw: st.DrawFn, standing: bool = False) -> Any:
    """A clock type, bounds, a distance that is kept, times (from anywhere in their type), and two signals."""
    kind, least, most = CLOCKS[draw(st.sampled_from(list(CLOCKS)))]
    low = draw(st.integers(0, 20))
    high = low + draw(st.one_of(st.integers(0, 4), st.integers(0, 20)))
    distance = 1 if standing else draw(st.sampled_from([1, 1, 2, 3, 7]))
    growth = st.one_of(st.integers(0, 2), st.integers(0, 9), st.sampled_from([14, 60, 255 - distance]))
    steps = draw(st.lists(growth, max_size=24))
    times = list(itertools.accumulate(steps, lambda t, d: t + d + (0 if standing else distance), initial=0))
    times = [t for t in times if t <= most - least]
    room = most - least - times[-1]
    begin = least + draw(st.one_of(st.sampled_from([0, room]), st.integers(0, room)))
    if draw(st.booleans()) and least < 0:
        begin = max(least, min(least + room, -draw(st.integers(0, 20))))
    signal = st.lists(st.booleans(), min_size=len(times), max_size=len(times))
    return kind, low, high, distance, [begin + t for t in times], draw(signal), draw(signal)


def check_past(kind: type[Stream], low: int, high: int, distance: int, t: list[int], p: Trace, q: Trace) -> None:
    spec = Spec("past")
    for name in PAST:
        spec.observer(name, metric(name, low, high, extern("t", kind), distance, P, Q))
    seen = observed(spec, len(t), {"t": t, "p": p, "q": q})
    assert seen == [metric_past(low, high, t, p, q, i) for i in range(len(t))]


@settings(max_examples=250, deadline=None)
@given(timed())
def test_metric_past(case: Any) -> None:
    check_past(*case)


@settings(max_examples=60, deadline=None)
@given(timed(standing=True))
def test_metric_past_on_clocks_that_stand_still(case: Any) -> None:
    check_past(*case)


@settings(max_examples=120, deadline=None)
@given(timed())
def test_metric_future(case: Any) -> None:
    kind, low, high, distance, t, p, q = case
    clock, ps, qs = listed(kind, t), listed(Bool, p), listed(Bool, q)
    spec = Spec("future")
    for name in FUTURE:
        spec.observer(name, metric(name, low, high, clock, distance, ps, qs))
    steps = len(t) - high // distance
    seen = observed(spec, max(steps, 0), {})
    assert seen == [metric_future(low, high, t, p, q, i) for i in range(steps)]


@pytest.mark.parametrize("distance", [1, 2, 3, 5])
def test_metric_since_on_all_traces(distance: int) -> None:
    """All traces of six steps on the densest clock for the distance, one after the other under `reset`."""
    bounds = [(low, high) for high in range(12) for low in range(high + 1)][:: distance + 2]
    t = [distance * i for i in range(6)]
    spec = Spec("all")
    for low, high in bounds:
        clock = extern("t", Word8)
        piece = lambda a=low, b=high, clock=clock: mtl.since(a, b, clock, distance, P, Q)
        spec.observer(f"{low},{high}", reset(C, piece))
    pairs = traces(6, 2)[::3]
    inputs = {
        "t": t * len(pairs),
        "p": [v for p, _ in pairs for v in p],
        "q": [v for _, q in pairs for v in q],
        "c": ([True] + [False] * 5) * len(pairs),
    }
    seen = observed(spec, 6 * len(pairs), inputs)
    for low, high in bounds:
        expected = [metric_since(low, high, t, p, q, i) for p, q in pairs for i in range(6)]
        assert [s[f"{low},{high}"] for s in seen] == expected, (low, high)


@pytest.mark.parametrize("name", ["Word8", "Int8"])
def test_metric_past_on_a_clock_that_wraps_around(name: str) -> None:
    kind, least, _ = CLOCKS[name]
    t = [7 * i + i % 3 for i in range(200)]
    p = [i % 11 != 0 for i in range(200)]
    q = [i % 17 in (0, 1, 9) for i in range(200)]
    wrapped = [(v + 250) % 256 + least for v in t]
    s = mtl.since(10, 100, extern("t", kind), 5, P, Q)
    assert run(s, 200, t=wrapped, p=p, q=q) == [metric_since(10, 100, t, p, q, i) for i in range(200)]
    far = mtl.eventually_prev(0, 20, extern("t", kind), 5, Q)
    once = [i == 0 for i in range(200)]
    assert run(far, 200, t=wrapped, q=once) == [v <= 20 for v in t]  # and not again, 256 later


def test_metric_bounds_as_wide_as_the_clock() -> None:
    t, q = [0, 1, 254, 255], [True, False, False, False]
    clock = extern("t", Word8)
    assert run(mtl.eventually_prev(0, 255, clock, 1, Q), 4, t=t, q=q) == [True] * 4
    assert run(mtl.eventually_prev(255, 255, clock, 1, Q), 4, t=t, q=q) == [False, False, False, True]
    assert run(mtl.eventually_prev(0, 254, clock, 1, Q), 4, t=t, q=q) == [True, True, True, False]
    unbroken = mtl.since(0, 255, clock, 1, P, Q)
    assert run(unbroken, 4, t=t, q=q, p=[True, True, False, True]) == [True, True, False, False]
    near = mtl.eventually_prev(0, 127, extern("u", Int8), 1, Q)
    assert run(near, 4, u=[-128, -1, 0, 127], q=q) == [True, True, False, False]


def test_metric_state_is_small() -> None:
    clock = extern("t", Int64)
    assert cells(mtl.since(0, 300, clock, 1, P, Q)) == ["Int64", "Word16"]
    assert cells(mtl.eventually_prev(0, 100, clock, 1, Q)) == ["Int64", "Word8"]
    assert cells(mtl.since(1, 100, clock, 1, P, Q)) == ["Int64", "Word8", "Word8"]
    assert cells(mtl.since(50, 100, clock, 1, P, Q)) == ["Int64"] + ["Word8"] * 4
    assert cells(mtl.since(100, 100, clock, 60, P, Q)) == ["Int64"] + ["Word8"] * 2
    both = mtl.since(0, 10, clock, 1, P, Q) & mtl.always_been(0, 20, clock, 1, P)
    assert cells(both) == ["Int64", "Word8", "Word8"]  # one cell of the clock for both


def test_metric_state_by_steps() -> None:
    assert cells(mtl.since(0, 0, P, Q)) == []
    assert cells(mtl.since(0, 300, P, Q)) == ["Word16"]
    assert cells(mtl.always_been(0, 254, Q)) == ["Word8"]
    assert cells(mtl.eventually_prev(2, 3, Q)) == ["Bool", "Bool", "Word8"]
    assert cells(mtl.eventually_prev(3, 3, Q)) == ["Bool"] * 3
    assert cells(mtl.since(1, 100, P, Q)) == ["Bool", "Word8"]
    assert cells(mtl.since(2, 100, P, Q)) == ["Bool"] * 2 + ["Word8"] * 2
    assert cells(mtl.eventually_prev(9, 9, Q)) == ["Bool"] * 9
    assert cells(mtl.since(50, 100, P, Q)) == ["Word8"] * 4
    assert cells(mtl.since(100, 1000, P, Q)) == ["Word16"] * 4
    assert cells(mtl.since(3, 3, P, Q)) == ["Bool"] * 3 + ["Word8"]


# By steps: every operator, with bounds of each shape, on all traces of two signals and eight steps.
BOUNDS = [(0, 0), (0, 3), (0, 9), (1, 1), (1, 6), (2, 2), (2, 5), (3, 4), (5, 5), (4, 40)]


def tree_of_runs(specification: Specification, depth: int) -> Iterator[tuple[Trace, Trace, dict[str, bool]]]:
    """The observers at the last step of each run of up to so many steps: runs share their beginnings."""
    evaluate = evaluator(specification)
    stack: list[tuple[Trace, Trace, Any]] = [([], [], None)]
    while stack:
        p, q, state = stack.pop()
        for now in itertools.product([False, True], repeat=2):
            seen, after = evaluate(state, *now)
            yield [*p, now[0]], [*q, now[1]], seen
            if len(p) + 1 < depth:
                stack.append(([*p, now[0]], [*q, now[1]], after))


def evaluator(specification: Specification) -> Callable[..., tuple[dict[str, bool], Any]]:
    """One step as a function: the observers and the next state, from a state (None: the first) and the inputs. The
    writer of the interpreter makes the expressions."""
    cells = specification.cells
    roots = [c.next for c in cells] + [o.term for o in specification.observers]
    writer = PythonWriter(roots, {})
    names = [f"c{i}" for i in range(len(cells))]
    for name, cell in zip(names, cells, strict=True):
        writer.name(cell.var, name)
    for signal in specification.inputs:
        writer.name(signal.var, str(signal.var.payload))
    observed = [f"{o.name!r}: {writer.expression(o.term)}" for o in specification.observers]
    nexts = [writer.expression(c.next) for c in cells]
    body = [f"{', '.join(names)}, = state or {tuple(value_of(c.initial, {}) for c in cells)!r}", *writer.lines]
    body.append(f"return {{{', '.join(observed)}}}, ({', '.join(nexts)},)")
    scope = writer.namespace
    exec("def step(state, p, q):\n" + "".join(f"    {line}\n" for line in body), scope)
    result: Callable[..., tuple[dict[str, bool], Any]] = scope["step"]
    return result


def test_metric_past_by_steps_on_all_traces_of_eight_steps() -> None:
    spec = Spec("past")
    for low, high in BOUNDS:
        for name in PAST:
            both = "always" not in name and "eventually" not in name
            operator: Callable[..., Stream] = getattr(mtl, name)
            spec.observer(f"{name} {low} {high}", operator(low, high, *([P, Q] if both else [Q])))
    count = 0
    for p, q, seen in tree_of_runs(flatten(spec), 8):
        count += 1
        expected = textbook(tuple(p), tuple(q))
        assert seen == expected, (p, q)
    assert count == sum(4**n for n in range(1, 9))


def textbook(p: tuple[bool, ...], q: tuple[bool, ...]) -> dict[str, bool]:
    """All past operators at the last step, from their definitions; the parts that bounds share are found once."""
    i = len(p) - 1
    since = [q[j] and all(p[j + 1 :]) for j in range(i + 1)]
    trigger = [q[j] or any(p[j + 1 :]) for j in range(i + 1)]
    matching_since = [q[j] and all(p[j:]) for j in range(i + 1)]
    matching_trigger = [q[j] or any(p[j:]) for j in range(i + 1)]
    values = {}
    for low, high in BOUNDS:
        within = slice(max(0, i - high), max(0, i - low + 1))
        decisions = (
            any(since[within]), all(trigger[within]), any(matching_since[within]), all(matching_trigger[within]),
            any(q[within]), all(q[within]),
        )  # fmt: skip
        values.update({f"{name} {low} {high}": value for name, value in zip(PAST, decisions, strict=True)})
    return values


def test_metric_future_of_computed_clocks() -> None:
    @stream(Word16)
    def ticks() -> Any:
        return pre(0, ticks + 2)

    s = mtl.eventually(2, 5, ticks, 2, listed(Bool, [True, False, False, True, False, False, False]))
    assert run(s, 5) == [False, True, True, False, False]
    with pytest.raises(SpecError, match='extern "q"'):
        run(mtl.always(0, 4, ticks, 2, Q), 2, q=[True, True])


def verdicts_of(spec: Spec) -> dict[str, str]:
    return {r.name.partition(" ")[2] or r.name: r.verdict for r in spec.prove(timeout=30).results}


def test_a_clock_that_does_not_keep_its_distance_is_shown() -> None:
    """The two answers differ on a clock that grows by 1: the distance is a claim, and a false one is falsified."""
    ticks = stream(Word32, lambda t: pre(0, t + 1))
    spec = Spec("kept")
    spec.observer("wrong", mtl.eventually_prev(2, 3, ticks, 10, Q))
    assert verdicts_of(spec) == {"clock grows by at least 10": "falsified"}
    tens = stream(Word32, lambda t: pre(0, t + 10))
    spec = Spec("kept")
    spec.observer("right", mtl.eventually_prev(2, 3, tens, 10, Q))
    assert verdicts_of(spec) == {"clock grows by at least 10": "proved"}
    spec = Spec("free")
    spec.observer("any distance", mtl.eventually_prev(0, 30, ticks, 10, Q) | mtl.since(1, 30, ticks, 10, P, Q))
    assert verdicts_of(spec) == {}  # the answer does not depend on the distance


def test_a_clock_must_keep_its_distance_only_where_the_answer_counts() -> None:
    spec = Spec("guarded")
    t = extern("t", Int)
    spec.observer("s", P & mtl.since(0, 5, t, 1, P, Q))
    ((name, verdict),) = verdicts_of(spec).items()
    assert (name, verdict) == ("clock never decreases", "falsified")
    ahead = stream(Word16, lambda t: pre(0, t + 2))
    spec = Spec("future")
    spec.observer("s", mtl.always(0, 6, ahead, 3, append([True] * 4, Q)))
    assert verdicts_of(spec) == {"clock grows by at least 3": "falsified"}


def test_the_laws_of_the_operators_are_proved() -> None:
    (spec,) = load("specs/temporal_laws.py")
    assert set(verdicts_of(cast(Spec, spec)).values()) == {"proved"}


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
