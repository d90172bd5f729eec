"""Metric temporal operators against their definitions: on timed traces, by steps, on all traces of a length."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_library import C, P, Q, Trace, cells, listed, observed, run, traces

from streamcheck import (
    Bool,
    Int,
    Int8,
    Int32,
    Int64,
    Spec,
    Word8,
    Word16,
    Word32,
    Word64,
    extern,
    pre,
    reset,
    stream,
)
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.core.python import PythonWriter
from streamcheck.lang.flatten import flatten
from streamcheck.lang.lib import mtl
from streamcheck.lang.load import load
from streamcheck.lang.stream import Stream, append
from streamcheck.problem.specification import Specification

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
