"""What monitors are written with: signals, arithmetic, votes, windows, verdicts, patterns and machines, against
references over whole traces; and the examples in the docstrings."""

from __future__ import annotations

import enum
import itertools
import math
import pydoc
import random
import re
import statistics as reference
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from c_harness import build, compare, have, unit_of, write
from library_examples import diagram_of, values_of
from random_specs import random_rows

import streamcheck
from streamcheck import (
    Bool,
    Double,
    Float,
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
    case,
    drop,
    extern,
    implies,
    mux,
    pre,
    reset,
)
from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.lang.lib import (
    checked,
    ltl,
    ltl3,
    machines,
    mtl,
    regexp,
    saturating,
    signals,
    statistics,
    voting,
)
from streamcheck.lang.load import load
from streamcheck.lang.stream import Stream, append
from streamcheck.lang.types import Int
from streamcheck.validate.bisimulation import validate

P, Q, C, X = extern("p", Bool), extern("q", Bool), extern("c", Bool), extern("x", Word8)
Trace = list[bool]


def run(s: Stream, steps: int, **inputs: Any) -> list[Any]:
    spec = Spec("library")
    spec.observer("s", s)
    return [step.observers["s"] for step in spec.run(steps, inputs)]


def state_of(s: Stream) -> list[str]:
    spec = Spec("library")
    spec.observer("s", s)
    flat = flatten(spec)
    needed = flat.needed_by(flat.outputs())
    return sorted(str(cell.initial.type) for cell in flat.cells if cell.var in needed)


def verdicts_of(spec: Spec) -> dict[str, str]:
    """The verdict of each property, without the line in the names of implied ones."""
    return {re.sub(r"^\S+:\d+ ", "", r.name): r.verdict for r in spec.prove(timeout=60).results}


def traces(length: int) -> list[Trace]:
    return [list(t) for t in itertools.product([False, True], repeat=length)]


class Light(enum.Enum):
    RED = 0
    GREEN = 1
    YELLOW = 2


# The modules as users see them

MODULES = {
    name: getattr(streamcheck, name)
    for name in streamcheck.__all__
    if isinstance(getattr(streamcheck, name), ModuleType)
}
EXPORTED = [(name, export) for name, module in MODULES.items() for export in module.__all__]


@pytest.mark.parametrize("name", MODULES)
def test_help_shows_what_a_module_exports_and_nothing_else(name: str) -> None:
    text = pydoc.plain(pydoc.render_doc(MODULES[name]))
    listed = set(
        re.findall(
            r"^    (?:class )?(\w+)\(", text.partition("FUNCTIONS" if "FUNCTIONS" in text else "CLASSES")[2], re.M
        )
    )
    classes = set(re.findall(r"^    class (\w+)\(", text, re.M))
    assert listed | classes == set(MODULES[name].__all__)
    assert "__annotations__" not in text
    assert "low, high, p, q" in text or name != "mtl"


@pytest.mark.parametrize(("name", "export"), EXPORTED)
def test_the_diagram_in_each_docstring_is_what_a_run_shows(name: str, export: str) -> None:
    if export in ("Truth", "state_machine"):
        return  # a class; the example of `machines` stands in its head
    found = diagram_of(getattr(MODULES[name], export).__doc__)
    assert found is not None
    inputs, expression, values = found
    assert f"{name}.{export}(" in expression
    assert values_of(inputs, expression, len(values)) == values


@pytest.mark.parametrize("name", MODULES)
def test_the_example_at_the_head_of_each_module_runs(name: str) -> None:
    text = MODULES[name].__doc__
    assert text is not None
    lines = [line.strip().removeprefix(">>> ") for line in text.splitlines() if line.strip().startswith(">>> ")]
    expected = text.rstrip().splitlines()[-1].split()
    names = {n: getattr(streamcheck, n) for n in streamcheck.__all__}
    exec("\n".join(lines), names)
    shown = names[lines[-1].split(" = ")[0]]
    values = run(shown, len(expected))
    assert [str(v).lower() if isinstance(v, bool) else str(getattr(v, "name", v)) for v in values] == expected


def test_the_page_of_the_library_names_what_there_is() -> None:
    page = Path("docs/library.md").read_text()
    table = page.partition("| module | has |")[2].partition("```")[0]
    assert {name for name in MODULES if f"`{name}`" in table} == set(MODULES)
    for name, module in MODULES.items():
        used = set(re.findall(rf"(?<![\w.]){name}\.(\w+)", page))
        assert used <= set(module.__all__), name
    listed = set(re.findall(r"`(\w+)`", table)) - set(MODULES)
    exported = {export for _, export in EXPORTED}
    assert listed <= exported
    assert exported - listed <= {"Truth", "release", "until", "trigger", "period", "phase"} | {
        name for name in exported if name.startswith("matching_")
    }


# signals


def test_edges_and_memory_on_all_traces() -> None:
    for s in traces(6):
        before = [False, *s[:-1]]
        assert run(signals.rose(P), 6, p=s) == [now and not b for b, now in zip(before, s, strict=True)]
        assert run(signals.fell(P), 6, p=s) == [b and not now for b, now in zip(before, s, strict=True)]
        assert run(signals.toggle(P), 6, p=s) == [sum(s[: i + 1]) % 2 == 1 for i in range(6)]
        assert run(signals.toggle(P, True), 6, p=s) == [sum(s[: i + 1]) % 2 == 0 for i in range(6)]
        assert run(signals.held_for(3, P), 6, p=s) == [i >= 2 and all(s[i - 2 : i + 1]) for i in range(6)]
        ages = [next((k for k in range(i + 1) if s[i - k]), 4) for i in range(6)]
        assert run(signals.since_when(4, P), 6, p=s) == [min(k, 4) for k in ages]


def test_latch_and_hold_on_all_traces() -> None:
    for s, c in itertools.product(traces(5), repeat=2):
        latched, expected = False, []
        for now, clear in zip(s, c, strict=True):
            latched = not clear and (now or latched)
            expected.append(latched)
        assert run(signals.latch(P, C), 5, p=s, c=c) == expected
    x = [3, 1, 4, 1, 5]
    for s in traces(5):
        held = [next((x[j] for j in range(i, -1, -1) if s[j]), 9) for i in range(5)]
        assert run(signals.hold(9, X, P), 5, p=s, x=x) == held
    with pytest.raises(SpecError, match="True is a bool"):
        signals.hold(True, X, P)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("init", [False, True])
def test_debounce_on_all_traces(n: int, init: bool) -> None:
    """The output changes where the input has differed from it at the last n steps."""
    for s in traces(9):
        out, differs, expected = init, 0, []
        for now in s:
            differs = 0 if now == out else differs + 1
            if differs == n:
                out, differs = now, 0
            expected.append(out)
        assert run(signals.debounce(n, P, init), 9, p=s) == expected


def test_hysteresis_and_rate_limit() -> None:
    values = [random.Random(7).randrange(256) for _ in range(300)]
    state, expected = False, []
    for v in values:
        state = True if v > 160 else False if v < 90 else state
        expected.append(state)
    assert run(signals.hysteresis(90, 160, X), 300, x=values) == expected
    y = extern("y", Double)
    numbers = [1.0, math.nan, 9.0, math.nan, 1.0]
    assert run(signals.hysteresis(2.0, 8.0, y), 5, y=numbers) == [False, False, True, True, False]
    assert run(signals.rate_limit(0.0, 4.0, 1.0, y), 5, y=numbers) == [1.0, 1.0, 5.0, 5.0, 4.0]


@pytest.mark.parametrize("kind", [Word8, Int8])
@pytest.mark.parametrize(("up", "down"), [(1, 1), (0, 100), (100, 7), (127, 127)])
def test_rate_limit_never_wraps_around(kind: type[Stream], up: int, down: int) -> None:
    low, high = (0, 255) if kind is Word8 else (-128, 127)
    values = [random.Random(3).choice([low, low + 1, 0, high - 1, high, 50]) for _ in range(200)]
    now, expected = 0, []
    for v in values:
        now = min(v, now + up) if v > now else max(v, now - down)
        expected.append(now)
    assert run(signals.rate_limit(0, up, down, extern("x", kind)), 200, x=values) == expected


def test_state_of_signals() -> None:
    assert state_of(signals.rose(P)) == ["Bool"] == state_of(signals.latch(P, Q))
    assert state_of(signals.debounce(5, P)) == ["Bool", "Word8"]
    assert state_of(signals.since_when(300, P)) == ["Word16"]
    assert state_of(signals.rate_limit(0, 1, 1, X)) == ["Word8"]


def test_laws_of_signals_are_proved() -> None:
    spec = Spec("laws")
    calm = signals.debounce(3, P)
    spec.prop("changes are apart", implies(signals.fell(calm), ~mtl.eventually_prev(1, 2, signals.rose(calm))))
    limited = signals.rate_limit(0, 3, 5, X)
    spec.prop("limited", implies(limited > pre(0, limited), limited - pre(0, limited) <= 3))
    spec.prop(
        "latch is since with the other priority",
        implies(~C, signals.latch(P, C) == (P | pre(False, signals.latch(P, C)))),
    )
    spec.prop("toggles", signals.rose(signals.toggle(P)) | signals.fell(signals.toggle(P)) | ~P)
    assert set(verdicts_of(spec).values()) == {"proved"}


# saturating and checked

MACHINE: dict[type[Stream], tuple[int, int]] = {
    Word8: (0, 255), Int8: (-128, 127), Int16: (-(1 << 15), (1 << 15) - 1), Word16: (0, (1 << 16) - 1),
    Int32: (-(1 << 31), (1 << 31) - 1), Word32: (0, (1 << 32) - 1),
    Int64: (-(1 << 63), (1 << 63) - 1), Word64: (0, (1 << 64) - 1),
}  # fmt: skip


def corners(kind: type[Stream]) -> list[tuple[int, int]]:
    low, high = MACHINE[kind]
    root = math.isqrt(high)
    values = sorted(
        {
            low,
            low + 1,
            low // 2,
            0,
            1,
            2,
            3,
            root,
            root + 1,
            high // 2,
            high - 1,
            high,
            *([-1, -2, -root] if low else []),
        }
    )
    return list(itertools.product(values, repeat=2))


@pytest.mark.parametrize("kind", MACHINE, ids=str)
def test_saturating_and_checked_arithmetic_at_the_corners(kind: type[Stream]) -> None:
    low, high = MACHINE[kind]
    a, b, pairs = extern("a", kind), extern("b", kind), corners(kind)
    inputs = {"a": [p[0] for p in pairs], "b": [p[1] for p in pairs]}
    for name, exact in (("add", int.__add__), ("sub", int.__sub__), ("mul", int.__mul__)):
        expected = [max(low, min(high, exact(*pair))) for pair in pairs]
        assert run(getattr(saturating, name)(a, b), len(pairs), **inputs) == expected
        spec = Spec("checked")
        spec.observer("s", getattr(checked, name)(a, b))
        steps = list(spec.run(len(pairs), inputs))
        overflow = [any("no overflow" in name for name in step.broken) for step in steps]
        assert overflow == [not low <= exact(*pair) <= high for pair in pairs]
        wrapped = [(exact(*pair) - low) % (high - low + 1) + low for pair in pairs]
        assert [step.observers["s"] for step in steps] == wrapped


@pytest.mark.parametrize("kind", MACHINE, ids=str)
def test_products_with_constants_at_the_corners(kind: type[Stream]) -> None:
    low, high = MACHINE[kind]
    values = sorted({a for a, _ in corners(kind)} | {high // 3, high // 3 + 1, low // 3, low // 7})
    a = extern("a", kind)
    for factor in (0, 1, 2, 3, 7, high // 2, high, *([-1, -2, -7, low] if low else [])):
        exact = [v * factor for v in values]
        for product in (saturating.mul(a, factor), saturating.mul(factor, a)):
            assert run(product, len(values), a=values) == [max(low, min(high, v)) for v in exact]
        spec = Spec("checked")
        spec.observer("s", checked.mul(a, factor))
        overflow = [bool(step.broken) for step in spec.run(len(values), {"a": values})]
        assert overflow == [not low <= v <= high for v in exact]


@pytest.mark.parametrize("target", MACHINE, ids=str)
@pytest.mark.parametrize("source", [*MACHINE, Int], ids=str)
def test_saturating_and_checked_casts_at_the_corners(source: type[Stream], target: type[Stream]) -> None:
    low, high = MACHINE[target]
    least, most = MACHINE.get(source, (-(1 << 70), 1 << 70))
    values = [
        v
        for v in {least, -129, -128, -1, 0, 1, 127, 128, 255, 256, low, high, high + 1, low - 1, most}
        if least <= v <= most
    ]
    s = extern("given", source)
    assert run(saturating.cast(target, s), len(values), given=values) == [max(low, min(high, v)) for v in values]
    spec = Spec("checked")
    spec.observer("s", checked.cast(target, s))
    broken = [bool(step.broken) for step in spec.run(len(values), {"given": values})]
    assert broken == [not low <= v <= high for v in values]


def test_saturating_casts_of_floats() -> None:
    y = extern("y", Double)
    values = [math.nan, math.inf, -math.inf, 127.9, 128.0, -128.9, -129.0, 3.7, -3.7, 1e300]
    spec = Spec("floats")
    spec.observer("s", saturating.cast(Int8, y))
    steps = list(spec.run(len(values), {"y": values}))
    assert [step.observers["s"] for step in steps] == [0, 127, -128, 127, 127, -128, -128, 3, -3, 127]
    assert not any(step.broken for step in steps)
    assert run(saturating.cast(Word64, extern("f", Float)), 3, f=[-0.5, 1e30, 5.5]) == [0, 2**64 - 1, 5]


def test_checked_arithmetic_is_proved_or_shown() -> None:
    small = extern("small", Word8)
    spec = Spec("checked")
    spec.assume("small", small < 100)
    spec.observer("sum", checked.add(small, small))
    spec.observer("guarded", mux(small > 10, checked.sub(small, 10), 0))
    spec.observer("product", checked.mul(small, 3))
    spec.observer("saturated", saturating.cast(Word8, saturating.mul(small, 2)))
    found = [(re.sub(r"^\S+ ", "", r.name), r.verdict) for r in spec.prove(timeout=60).results]
    assert found == [("no overflow", "proved"), ("no overflow", "proved"), ("no overflow", "falsified")]
    with pytest.raises(SpecError, match=r"checked\.add: expected machine integers, found Double"):
        checked.add(extern("y", Double), 1.0)
    with pytest.raises(SpecError, match="expected a machine type"):
        saturating.cast(Bool, small)


# voting


@pytest.mark.parametrize("size", [1, 3, 5, 7])
def test_the_value_in_the_middle(size: int) -> None:
    ballots = list(itertools.product([0, 1, 2], repeat=size))[:: 1 if size < 7 else 7]
    votes = [extern(f"v{i}", Word8) for i in range(size)]
    inputs = {f"v{i}": [b[i] for b in ballots] for i in range(size)}
    assert run(voting.mid_value(votes), len(ballots), **inputs) == [sorted(b)[size // 2] for b in ballots]


def test_m_of_n_on_all_votes() -> None:
    votes = [extern(f"v{i}", Bool) for i in range(4)]
    ballots = list(itertools.product([False, True], repeat=4))
    inputs = {f"v{i}": [b[i] for b in ballots] for i in range(4)}
    for m in range(5):
        assert run(voting.m_of_n(m, votes), 16, **inputs) == [sum(b) >= m for b in ballots]
    with pytest.raises(SpecError, match="5 of 4 can never be true"):
        voting.m_of_n(5, votes)
    with pytest.raises(SpecError, match="expected an odd number of streams, found 2"):
        voting.mid_value([X, X])


# statistics


@pytest.mark.parametrize("n", [3, 4, 5, 12])
@pytest.mark.parametrize("kind", [Word8, Int8, Int32, Int, Real], ids=str)
def test_kept_sums_are_those_of_the_window(kind: type[Stream], n: int) -> None:
    low, high = MACHINE.get(kind, (-(1 << 70), 1 << 70))
    draw = random.Random(n)
    values: list[Any] = [draw.choice([low, high, 0, 1, draw.randint(low, high)]) for _ in range(40)]
    begin = values[: n - 1]
    window = append(begin, extern("v", kind))
    padded = [*begin, *values]

    def wrapped(total: int) -> int:
        return (total - low) % (high - low + 1) + low if kind in MACHINE else total

    windows = [padded[i : i + n] for i in range(40)]
    assert run(statistics.sum(n, window), 40, v=values) == [wrapped(sum(w)) for w in windows]
    means = [Fraction(sum(w), n) if kind is Real else math.floor(Fraction(sum(w), n)) for w in windows]
    assert run(statistics.mean(n, window), 40, v=values) == means


def test_state_of_windows() -> None:
    assert state_of(statistics.sum(3, append([0] * 2, X))) == ["Word8"] * 2
    assert state_of(statistics.sum(64, append([0] * 63, X))) == ["Word8"] * 64
    assert state_of(statistics.count(300, append([False] * 299, P))) == ["Bool"] * 299 + ["Word16"]
    assert state_of(statistics.mean(64, append([0] * 63, X))) == ["Word16"] + ["Word8"] * 63


def test_counts_and_kept_sums_restart_with_their_window() -> None:
    p = [True, True, False, True, True, True, False, True, True, True]
    c = [i in (4, 5) for i in range(10)]
    window = append([False] * 4, P)
    expected = [sum(([False] * 4 + p)[i : i + 5]) for i in range(10)]
    assert run(statistics.count(5, window), 10, p=p) == expected
    outside = reset(C, lambda: statistics.count(5, window))  # the window stands outside, so nothing restarts
    assert run(outside, 10, p=p) == expected
    inside = reset(C, lambda: statistics.count(5, append([False] * 4, P)))
    begins = [max(j for j in range(i + 1) if j == 0 or c[j]) for i in range(10)]
    assert run(inside, 10, p=p, c=c) == [sum(p[max(b, i - 4) : i + 1]) for i, b in enumerate(begins)]


def test_kept_sums_are_proved() -> None:
    spec = Spec("kept")
    w = append([0] * 7, X)
    spec.observer("sum", statistics.sum(8, w))
    spec.observer("mean", statistics.mean(8, w))
    spec.prop("bounded", statistics.count(6, append([False] * 5, P)) <= 6)
    found = verdicts_of(spec)
    assert set(found.values()) == {"proved"} and "the sum that is kept is that of the window" in found


def test_a_long_window_implies_nothing_that_takes_long_to_prove() -> None:
    spec = Spec("long")
    spec.observer("mean", statistics.mean(1000, append([0] * 999, X)))
    assert flatten(spec).properties == ()
    assert run(statistics.sum(200, append([1] * 199, Word16(1))), 2) == [200, 200]


def test_variance_and_rate() -> None:
    y = extern("y", Double)
    values = [1.0, 4.5, -2.25, 8.0, 8.0, 0.5]
    padded = [0.0, 0.0, *values]
    windows = [padded[i : i + 3] for i in range(6)]
    window = append([0.0, 0.0], y)
    assert run(statistics.rate(3, window), 6, y=values) == [(w[2] - w[0]) / 2 for w in windows]
    found = run(statistics.variance(3, window), 6, y=values)
    assert found == pytest.approx([reference.pvariance(w) for w in windows])
    exact = run(statistics.variance(3, append([0, 0], extern("r", Real))), 6, r=[Fraction(v) for v in values])
    assert exact == [reference.pvariance([Fraction(v) for v in w]) for w in windows]
    with pytest.raises(SpecError, match="expected Float, Double or Real, found Word8") as error:
        statistics.rate(3, append([0, 0], X))
    assert "cast(Double, s)" in str(error.value)


# the future


def test_delayed_formulas_on_all_traces() -> None:
    formula = lambda p, q: implies(p, ltl.eventually(2, q))
    late = ltl.late(2, formula, P, Q)
    for p, q in itertools.product(traces(5), repeat=2):
        expected = [True, True] + [not p[i] or any(q[i : i + 3]) for i in range(3)]
        assert run(late, 5, p=p, q=q) == expected
    assert state_of(late).count("Word8") == 1
    with pytest.raises(SpecError, match='extern "q"'):
        run(ltl.late(1, formula, P, Q), 3, p=[True] * 3, q=[True] * 3)


@pytest.mark.parametrize(("a", "b"), [(0, 0), (0, 2), (1, 2), (2, 2)])
def test_the_table_for_mltl_on_all_traces(a: int, b: int) -> None:
    """F, G, U and R of mission-time LTL, decided b steps later, as the table in docs/library.md writes them."""
    late = {
        "F": mtl.eventually_prev(0, b - a, Q),
        "G": mtl.always_been(0, b - a, Q),
        "U": ltl.late(b, lambda p, q: drop(a, ltl.until(b - a, p, q)), P, Q),
        "R": ltl.late(b, lambda p, q: drop(a, ltl.release(b - a, p, q)), P, Q),
    }
    spec = Spec("mltl")
    for name, s in late.items():
        spec.observer(name, s)
    for p, q in itertools.product(traces(5), repeat=2):
        for i, step in enumerate(list(spec.run(5, {"p": p, "q": q} if a < b else {"q": q}))[b:]):
            within = range(i + a, i + b + 1)
            assert step.observers == {
                "F": any(q[j] for j in within),
                "G": all(q[j] for j in within),
                "U": any(q[j] and all(p[i + a : j]) for j in within),
                "R": all(q[j] or any(p[i + a : j]) for j in within),
            }


def decided(low: int, high: int, p: Trace, q: Trace, *, until: bool) -> str:
    """The verdict by definition: that of all runs of high + 1 steps which begin so, if they agree."""
    rest = high + 1 - len(p)
    ends = itertools.product([False, True], repeat=max(rest, 0))
    found = set()
    for more_p, more_q in itertools.product(list(ends), repeat=2):
        ps, qs = [*p, *more_p], [*q, *more_q]
        if until:
            found.add(any(qs[j] and all(ps[:j]) for j in range(low, high + 1)))
        else:
            found.add(all(qs[j] or any(ps[:j]) for j in range(low, high + 1)))
    return "PENDING" if len(found) == 2 else str(found.pop()).upper()


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 2), (1, 2), (2, 2), (1, 3)])
def test_verdicts_on_all_traces(low: int, high: int) -> None:
    operators = {
        "until": ltl3.until(low, high, P, Q),
        "release": ltl3.release(low, high, P, Q),
        "eventually": ltl3.eventually(low, high, Q),
        "always": ltl3.always(low, high, Q),
    }
    spec = Spec("verdicts")
    for name, s in operators.items():
        spec.observer(name, s)
    for p, q in itertools.product(traces(4), repeat=2):
        for i, step in enumerate(spec.run(4, {"p": p, "q": q})):
            expected = {
                "until": decided(low, high, p[: i + 1], q[: i + 1], until=True),
                "release": decided(low, high, p[: i + 1], q[: i + 1], until=False),
                "eventually": over_one(low, high, q[: i + 1], any),
                "always": over_one(low, high, q[: i + 1], all),
            }
            assert {name: v.name for name, v in step.observers.items()} == expected, (p, q, i)


def over_one(low: int, high: int, s: Trace, quantifier: Callable[[list[bool]], bool]) -> str:
    ends = itertools.product([False, True], repeat=max(high + 1 - len(s), 0))
    found = {quantifier([*s, *end][low : high + 1]) for end in ends}
    return "PENDING" if len(found) == 2 else str(found.pop()).upper()


def test_a_call_of_the_library_with_too_few_arguments_shows_its_signature(tmp_path: Path) -> None:
    (tmp_path / "few.py").write_text('from streamcheck import *\nx = extern("x", Word8)\ny = statistics.sum(x)\n')
    with pytest.raises(SpecError, match=r"missing 1 required positional argument") as error:
        load(str(tmp_path / "few.py"))
    assert error.value.write == "statistics.sum(n, s)" and error.value.where is not None and error.value.where.line == 3


@pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")
def test_the_c_of_the_library_is_proved_and_does_what_the_interpreter_does(tmp_path: Path) -> None:
    y, n = extern("y", Int32), extern("n", Float)
    light = machines.state_machine(
        Light.RED, {Light.RED: [(P, Light.GREEN)], Light.GREEN: [(Q, Light.YELLOW)], Light.YELLOW: [(C, Light.RED)]}
    )
    spec = Spec("library_in_c")
    window, floats = append([0] * 7, X), append([0.0] * 4, n)
    shown = {
        "edges": [signals.rose(P), signals.fell(Q), signals.toggle(C), signals.latch(P, Q), signals.held_for(3, ~P)],
        "filters": [signals.debounce(2, Q), signals.hysteresis(50, 180, X), signals.since_when(9, P)],
        "limited": [signals.rate_limit(0, 9, 30, X), signals.hold(7, y, P), signals.rate_limit(0.0, 0.5, 2.0, n)],
        "past": [mtl.since(0, 5, P, Q), mtl.since(2, 3, P, Q), mtl.since(9, 30, P, ~Q), mtl.trigger(1, 2, P, Q)],
        "windows": [statistics.sum(8, window), statistics.mean(8, window), statistics.count(5, append([True] * 4, C))],
        "floats": [statistics.variance(5, floats), statistics.rate(3, floats), statistics.max(5, floats)],
        "votes": [voting.mid_value([X, X + 9, pre(0, X)]), voting.m_of_n(2, [P, Q, C])],
        "verdicts": [ltl3.until(1, 3, P, Q), reset(P, lambda: ltl3.always(0, 2, Q)), light],
        "pattern": [
            regexp.matches(".* p{2} (q | c)*", {"p": P, "q": Q, "c": C}),
            ltl.late(2, lambda p: ltl.always(2, p), P),
        ],
        "arithmetic": [saturating.add(y, y), saturating.sub(X, 99), saturating.mul(X, 3), saturating.mul(X, X)],
        "casts": [saturating.cast(Int8, y), saturating.cast(Word16, n), checked.add(X, 1), checked.cast(Int8, X)],
        "choice": [case([P, Q], [X, 3, X + 1])],
    }
    for name, values in shown.items():
        spec.trigger(name, True, values)
    unit = unit_of(spec)
    assert validate(unit).is_proved
    write(tmp_path, unit)
    compare(tmp_path, build(tmp_path, unit), unit, random_rows(7, unit.specification, 400))


def test_the_page_shows_what_its_example_implies(tmp_path: Path) -> None:
    page = Path("docs/library.md").read_text()
    (tmp_path / "tank.py").write_text(re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)[0])
    (spec,) = load(str(tmp_path / "tank.py"))
    shown = re.sub(r"\s+", " ", page)
    implied = [p.name for p in flatten(spec).properties if p.is_implied]
    assert len(implied) == 4 and sum(f"`{name}`" in shown for name in implied) == 3
