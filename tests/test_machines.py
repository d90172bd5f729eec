"""Patterns, state machines and cases of the library against references on all short traces."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest
from test_monitor_library import C, Light, P, Q, Trace, X, run, state_of, traces, verdicts_of

from streamcheck import (
    Spec,
    case,
    reset,
)
from streamcheck.core.errors import SpecError
from streamcheck.lang.lib import (
    ltl,
    ltl3,
    machines,
    regexp,
    signals,
)

# regexp

PATTERNS = [
    "p",
    "p q",
    "p | q",
    "p* q",
    "(p q)+",
    "p? q",
    ". . p",
    ".* p q",
    "p{2} q",
    "(p | q q){1,3}",
    "((p q)* | p+)? q",
    "(p | q){0,2} q?",
    "p{2,3} (q?){1,2}",
    "(p? q?)*",
]


def language(pattern: str, p: Trace, q: Trace) -> bool:
    """By Python's own expressions: each step becomes a letter for every subset of the names that hold."""
    letters = {(False, False): "n", (True, False): "p", (False, True): "q", (True, True): "b"}
    text = "".join(letters[pair] for pair in zip(p, q, strict=True))
    python = pattern.replace("p", "[pb]").replace("q", "[qb]").replace(" ", "")
    return re.fullmatch(python, text) is not None


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns_on_all_traces(pattern: str) -> None:
    s = regexp.matches(pattern, {n: {"p": P, "q": Q}[n] for n in "pq" if n in pattern})
    inputs = [n for n in "pq" if n in pattern]
    for p, q in itertools.product(traces(5), repeat=2):
        given = {n: {"p": p, "q": q}[n] for n in inputs}
        assert run(s, 5, **given) == [language(pattern, p[: i + 1], q[: i + 1]) for i in range(5)], (p, q)


def test_patterns_restart_and_keep_a_cell_for_each_name() -> None:
    s = reset(C, lambda: regexp.matches("p p", {"p": P}))
    assert run(s, 6, p=[True] * 6, c=[False, False, True, False, False, True]) == [
        False,
        True,
        False,
        True,
        False,
        False,
    ]
    assert state_of(regexp.matches("p{3} q", {"p": P, "q": Q})) == ["Bool"] * 4


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("p (q", r"expected `\)`, it ends"),
        ("p )", r"expected the end, found '\)'"),
        ("* p", r"expected a name, `\.` or `\(`, found '\* p'"),
        ("p{3,2}", "repeats nothing"),
        ("p r", "the pattern has the name r; the streams are p, q"),
        ("p", "no q in the pattern"),
        ("p & q", "expected a name"),
        ("p{99999} q", "more than 10000 positions"),
    ],
)
def test_mistakes_in_patterns(pattern: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        regexp.matches(pattern, {"p": P, "q": Q})


# machines


def test_a_machine_takes_the_first_transition_that_holds() -> None:
    light = machines.state_machine(
        Light.RED,
        {
            Light.RED: [(P, Light.GREEN), (Q, Light.YELLOW)],
            Light.GREEN: [(Q, Light.YELLOW)],
            Light.YELLOW: [(P, Light.RED)],
        },
        ordered=True,
    )
    table = {Light.RED: (Light.GREEN, Light.YELLOW), Light.GREEN: (None, Light.YELLOW), Light.YELLOW: (Light.RED, None)}
    for p, q in itertools.product(traces(4), repeat=2):
        state, expected = Light.RED, []
        for a, b in zip(p, q, strict=True):
            by_p, by_q = table[state]
            state = by_p if a and by_p else by_q if b and by_q else state
            expected.append(state)
        assert run(light, 4, p=p, q=q) == expected
    assert state_of(light) == ["Light"]


def test_clashing_missing_and_unreachable_transitions_are_shown() -> None:
    never = X > 200
    light = machines.state_machine(
        Light.RED,
        {
            Light.RED: [(P, Light.GREEN), (Q, Light.RED)],
            Light.GREEN: [(P & never, Light.YELLOW), (~P, Light.RED)],
            Light.YELLOW: [(~P, Light.RED)],
        },
        complete=True,
    )
    spec = Spec("light")
    spec.assume("small", X < 100)
    spec.observer("light", light)
    assert verdicts_of(spec) == {
        "one transition at a time from RED": "falsified",
        "a transition from RED": "falsified",
        "one transition at a time from GREEN": "proved",
        "a transition from GREEN": "falsified",
        "GREEN is reached": "proved",
        "a transition from YELLOW": "proved",
        "YELLOW is reached": "falsified",
    }


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({Light.RED: [(P, Light.GREEN)], Light.GREEN: []}, "no transitions from Light.YELLOW"),
        (
            {Light.RED: [(P, Light.GREEN)], Light.GREEN: [], Light.YELLOW: []},
            "no transitions lead from Light.RED to Light.YELLOW",
        ),
        (
            {Light.RED: [(X, Light.GREEN)], Light.GREEN: [], Light.YELLOW: []},
            "from Light.RED to Light.GREEN: expected Bool",
        ),
        ({Light.RED: [P], Light.GREEN: [], Light.YELLOW: []}, r"expected pairs \(condition, next state\)"),
        ({Light.RED: [(P, 3)], Light.GREEN: [], Light.YELLOW: []}, "expected the next state, found 3"),
        ({Light.RED: [], Light.GREEN: [], Light.YELLOW: [], 3: []}, "3 is not a member of Light"),
    ],
)
def test_mistakes_in_tables(table: Any, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        machines.state_machine(Light.RED, table)


# case


def test_case_takes_the_value_of_the_first_condition() -> None:
    s = case([P, Q], [1, X, 2])
    for p, q in itertools.product([False, True], repeat=2):
        assert run(s, 1, p=[p], q=[q], x=[9]) == [1 if p else 9 if q else 2]
    with pytest.raises(SpecError, match="case: 2 conditions and 2 values"):
        case([P, Q], [1, X])


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: signals.debounce(P, 3), r"debounce\(n, s\): s: expected a Bool stream, found 3"),
        (lambda: signals.hysteresis(1, 2, 3), "expected a stream of numbers, found 3"),
        (lambda: signals.rate_limit(0, X, 1, X), "up: expected a number of at least 0, found <stream of Word8"),
        (lambda: ltl.late(2, P), r"write: ltl.late\(2, lambda s: ltl.eventually\(2, s\), s\)"),
        (lambda: ltl.late(2, lambda p, q: p & q, P), r"1 stream for a formula of \(p, q\)"),
        (lambda: regexp.matches("p", [P]), "expected a dict of streams"),
        (lambda: machines.state_machine(Light.RED, [P]), "expected a dict of transitions"),
        (lambda: machines.state_machine(Light.RED, dict.fromkeys(Light, (P, Light.RED))), "expected a list of pairs"),
        (lambda: case(P, [X, X]), "expected a list of conditions and a list of values"),
        (lambda: ltl3.eventually(3, 2, P), "no step is at least 3 and at most 2"),
    ],
)
def test_slips_are_named_at_the_users_line(mistake: Callable[[], Any], message: str) -> None:
    with pytest.raises(SpecError, match=message) as error:
        mistake()
    assert error.value.where is not None and error.value.where.line == mistake.__code__.co_firstlineno
