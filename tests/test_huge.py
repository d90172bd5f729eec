"""Numbers that double their digits at every step: nothing waits for them that does not depend on them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from streamcheck.certify.replay import replay
from streamcheck.core.huge import HUGE, is_huge, is_unbounded
from streamcheck.core.types import BOOL, INT, REAL, MachineType
from streamcheck.problem.problem import claim_named
from streamcheck.problem.result import Replay
from streamcheck.problem.verdict import Trace
from streamcheck.run import endless
from streamcheck.run.source import Target, read

TEXT = """
from streamcheck import *
x = extern("x", Int)
y = stream(Int, lambda y: [2] ++ (y*y + 1))
again = stream(Int, lambda again: [0] ++ mux(y > 100, 0, again))
n = stream(Int, lambda n: [0] ++ (n + 1))
spec = Spec("s")
spec.assume("below", x < {bound})
spec.prop("short", n != 15)
spec.prop("small", y < 2**5000)
"""


@pytest.fixture
def specification(tmp_path):
    def made(bound):
        path = tmp_path / "problem.py"
        path.write_text(TEXT.format(bound=bound))
        (found,) = read(Target.parse(str(path)))
        return found

    return made


def run(specification, prop, steps):
    return replay(specification, claim_named(specification, prop), Trace({}, ({"x": 0},) * steps))


def values_by_name(specification, shown):
    cells = {c.var: c.name for c in specification.cells}
    return [{name: step[var] for var, name in cells.items() if var in step} for step in shown.steps]


def test_what_a_violation_does_not_depend_on_is_left_out_once_it_is_huge(specification):
    spec = specification("3")
    shown = run(spec, "short", 16)
    assert isinstance(shown, Replay)
    steps = values_by_name(spec, shown)
    assert steps[5]["y"] == (((26**2 + 1) ** 2 + 1) ** 2 + 1)
    assert "y" not in steps[-1] and steps[-1]["n"] == 15
    assert "again" not in steps[-1]  # what comes of it
    lost = [i for i, step in enumerate(steps) if "y" not in step]
    assert lost == list(range(lost[0], 16)) and lost[0] > 8


def test_what_a_violation_depends_on_is_computed_however_large(specification):
    spec = specification("3")
    shown = run(spec, "small", 14)
    assert isinstance(shown, Replay) and values_by_name(spec, shown)[-1]["y"].bit_length() > 2 * HUGE


def test_what_an_assumption_depends_on_is_computed_however_large(specification):
    spec = specification("y")
    shown = run(spec, "short", 16)
    assert isinstance(shown, Replay) and values_by_name(spec, shown)[-1]["y"].bit_length() > 2 * HUGE


def test_runs_that_meet_the_assumptions_end_at_huge_numbers(specification, monkeypatch):
    monkeypatch.setattr(endless, "MOST_STEPS", 16)
    found = endless.EndlessRun(specification("y"), None, 0.0, 1, deterministic=False)
    assert found.doubt() is not None and 8 < found.longest < 16


def test_huge():
    assert is_unbounded(INT) and is_unbounded(REAL)
    assert not is_unbounded(MachineType(8, signed=False)) and not is_unbounded(BOOL)
    assert is_huge(2**HUGE) and is_huge((1, (2, -(2**HUGE)))) and is_huge(Fraction(1, 2**HUGE))
    assert not any(map(is_huge, (2**HUGE - 1, True, 1e308, (1, 2), Fraction(1, 3))))
