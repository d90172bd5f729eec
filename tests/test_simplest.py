"""Counterexamples with the simplest values: replayed, never longer, the same every time."""

from __future__ import annotations

import enum
import math
import random
from dataclasses import replace
from fractions import Fraction

import pytest
from random_specs import random_equations, random_rows

from streamcheck import *
from streamcheck.certify import replay as replay_module
from streamcheck.certify.automata import scalar_automaton
from streamcheck.certify.replay import replay, replay_path
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, INT, REAL, enum_of, machine, part_names, scalar_parts
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import PathReplay, Replay
from streamcheck.problem.verdict import Trace
from streamcheck.run import simplest_path as simplest_path_module
from streamcheck.run.prove import Settings, prove
from streamcheck.run.simpler_values import complexity, reduce_value
from streamcheck.run.simplest import Machine, simplest_run
from streamcheck.run.simplest_path import simplest_path
from streamcheck.run.source import Target, read


@struct
class Position:
    x: Double
    y: Int32


class Gear(enum.Enum):
    PARK = 4
    DRIVE = 0
    REVERSE = 2


def simplest(spec, rows, *, shorten=True, constants=None, name=None, work=10**7):
    """The inputs of the simplest run beside these, and the values of its claim."""
    specification = flatten(spec)
    claim = specification.properties[0] if name is None else next(p for p in specification.properties if p.name == name)
    run = replay(specification, claim, Trace(constants or {}, tuple(rows)))
    assert isinstance(run, Replay), run
    trace, replayed = simplest_run(specification, claim, run, shorten=shorten, work=work)
    assert isinstance(replay(specification, claim, trace), Replay)
    assert len(replayed.steps) == trace.length
    return trace


def spec_of(claim, **assumed):
    spec = Spec("engine")
    spec.prop("p", claim)
    for label, condition in assumed.items():
        spec.assume(label, condition)
    return spec


def test_floats():
    x = extern("x", Double)
    assert simplest(spec_of(x < 2.5), [{"x": 2.3158417847464555e77}]).inputs == ({"x": 3.0},)
    assert simplest(spec_of(x < 1234.0), [{"x": math.inf}]).inputs == ({"x": 1234.0},)
    assert simplest(spec_of(x < 1e308), [{"x": 1.7e308}]).inputs == ({"x": 1e308},)  # near the largest float
    assert simplest(spec_of(x == x), [{"x": math.nan}]).inputs[0]["x"] != 0.0
    assert simplest(spec_of(x * x < 1e300), [{"x": 7.458340731200207e155}]).inputs == ({"x": 2e150},)
    assert simplest(spec_of((x < 31.4) | (x > 31.5)), [{"x": 31.41592653589793}]).inputs == ({"x": 31.4},)
    small = extern("x", Float)
    assert simplest(spec_of(small * small < 30.0), [{"x": 2.0**120}]).inputs == ({"x": 6.0},)


def test_words_and_integers():
    n, m = extern("n", Word64), extern("m", Int8)
    assert simplest(spec_of(n < 12345), [{"n": 2**63 + 12347}]).inputs == ({"n": 12345},)
    assert simplest(spec_of((n < 777) | (n > 10**9)), [{"n": 123456}]).inputs == ({"n": 777},)
    assert simplest(spec_of(m > -100), [{"m": -128}]).inputs == ({"m": -100},)
    i, r = extern("i", Int), extern("r", Real)
    assert simplest(spec_of(i * i < 5000), [{"i": -(10**30)}]).inputs == ({"i": 71},)
    assert simplest(spec_of(r * 3 < 1), [{"r": Fraction(355, 113)}]).inputs == ({"r": Fraction(1)},)


def test_structs_arrays_and_enums():
    at, cells, gear = extern("at", Position), extern("cells", Array(Word8, 3)), extern("gear", EnumOf(Gear))
    claim = implies((at.x > 0.25) & (gear != Gear.DRIVE), cells[1] < 40)
    given = {"at.x": 1.7e9, "at.y": 55, "cells.0": 3, "cells.1": 255, "cells.2": 9, "gear": 2}
    trace = simplest(spec_of(claim), [given])
    assert trace.inputs[0] == {"at.x": 1.0, "at.y": 0, "cells.0": 0, "cells.1": 40, "cells.2": 0, "gear": 4}


def test_an_input_changes_as_little_as_it_can():
    go, level = extern("go", Bool), extern("level", Int16)
    held = stream(Word8, lambda n: [0] + +mux(go & (level > 3), n + 1, n))
    rows = [{"go": i % 3 != 0, "level": 100 * i} for i in range(9)]
    trace = simplest(spec_of(held < 3), rows, shorten=False)
    assert len({row["level"] for row in trace.inputs}) == 1 and trace.inputs[0]["level"] == 4
    assert [row["go"] for row in trace.inputs] == [True] * trace.length
    both = (go != pre(False, go)) | (pre(True, go) == go)
    assert all(row["go"] for row in simplest(spec_of((held < 2) | ~both), rows).inputs)


def test_inputs_that_depend_on_each_other_become_constant_together():
    a, b = extern("a", Int8), extern("b", Int8)
    n = stream(Word8, lambda n: [0] + +(n + 1))
    spec = spec_of((n < 3) | (a > 100), linked=a == b * 2)
    rows = [{"a": 2 * i, "b": i} for i in (5, -7, 20, 9)]
    assert simplest(spec, rows, shorten=False).inputs == ({"a": 0, "b": 0},) * 4


def test_a_late_violation_becomes_short():
    go = extern("go", Bool)
    n = stream(Word8, lambda n: [0] + +mux(go, n + 1, 0))
    spec = spec_of(n < 4)
    rng = random.Random(3)
    rows = [{"go": rng.random() < 0.5} for _ in range(300)]
    for i in range(290, 300):
        rows[i] = {"go": True}
    first = next(k for k in range(5, 300) if all(rows[i]["go"] for i in range(k - 4, k)))
    trace = simplest(spec, rows[: first + 1])
    assert trace.length == 5 and all(row["go"] for row in trace.inputs)


def test_a_violation_of_random_runs_becomes_short():
    go, x = extern("go", Bool), extern("x", Double)
    n = stream(Word8, lambda n: [0] + +mux(go & (x > 0.3), n + 1, n))
    (result,) = prove(flatten(spec_of(n < 12)), Settings(timeout=20, engines=("simulation",))).results
    assert result.verdict == "falsified" and result.k == 12
    assert all(row == {"go": True, "x": 1.0} for row in result.evidence.inputs)


def test_values_that_have_to_be_equal_stay_equal():
    a, b = extern("a", Double), extern("b", Double)
    spec = spec_of(a < 3.0, same=a == b)
    assert simplest(spec, [{"a": 8.5e38, "b": 8.5e38}]).inputs == ({"a": 3.0, "b": 3.0},)


def test_constants_and_witnesses():
    x = extern("x", Int32)
    spec = Spec("engine")
    spec.prop("all", forall(Int32, lambda v: x < v + 7))
    spec.exists("some", (x > 40) & (pre(0, x) > 12))
    name = next(c.name for c in flatten(spec).constants)
    trace = simplest(spec, [{"x": 987654}], constants={name: -9999}, name="all")
    assert (trace.constants, trace.inputs) == ({name: 0}, ({"x": 7},))
    trace = simplest(spec, [{"x": 99}, {"x": 123456}], name="some")
    assert trace.inputs == ({"x": 41}, {"x": 41})


def test_a_simpler_run_that_is_none_is_not_believed(monkeypatch):
    n = stream(Word8, lambda n: [0] + +(n + 1))
    specification = flatten(spec_of(n < 3))
    claim = specification.properties[0]
    run = replay(specification, claim, Trace({}, ({},) * 4))
    assert isinstance(run, Replay)
    monkeypatch.setattr(Machine, "code", lambda machine: lambda *values: (False, 0))
    assert simplest_run(specification, claim, run, shorten=True) is None


PROGRAM = """
extern int __VERIFIER_nondet_int(void);
extern double __VERIFIER_nondet_double(void);
void reach_error(void);
int main(void) {
  int x = __VERIFIER_nondet_int();
  double d = __VERIFIER_nondet_double();
  int y = __VERIFIER_nondet_int();
  if (y > x && d > 2.5 && x > 10) reach_error();
  return 0;
}
"""


def test_values_of_a_program(tmp_path):
    path = tmp_path / "values.c"
    path.write_text(PROGRAM)
    (automaton,) = read(Target.parse(str(path)))
    (error,) = (p for p in automaton.properties if p.name.startswith("reach_error"))
    (result,) = (r for r in prove(automaton, Settings(timeout=20)).results if r.name == error.name)
    given = [value for _, choices in result.evidence.edges for value in choices.values()]
    assert sorted(map(repr, given)) == ["11", "12", "3.0"]
    ugly = replace(
        result.evidence,
        edges=tuple((n, {k: UGLY[v] for k, v in choices.items()}) for n, choices in result.evidence.edges),
    )
    assert isinstance(replay_path(automaton, error, ugly), PathReplay)
    simple, replayed = simplest_path(automaton, error, ugly)
    assert simple == result.evidence and isinstance(replayed, PathReplay)
    assert simplest_path(automaton, error, ugly, work=0) is None


def test_a_program_is_taken_apart_once_for_all_attempts(tmp_path, monkeypatch):
    path = tmp_path / "values.c"
    path.write_text(PROGRAM)
    (automaton,) = read(Target.parse(str(path)))
    (error,) = (p for p in automaton.properties if p.name.startswith("reach_error"))
    (result,) = (r for r in prove(automaton, Settings(timeout=20)).results if r.name == error.name)
    ugly = replace(
        result.evidence,
        edges=tuple((n, {k: UGLY[v] for k, v in choices.items()}) for n, choices in result.evidence.edges),
    )
    counts = {"apart": 0, "attempts": 0}

    def counted(name, function):
        def call(*args):
            counts[name] += 1
            return function(*args)

        return call

    for module in (simplest_path_module, replay_module):
        monkeypatch.setattr(module, "scalar_automaton", counted("apart", scalar_automaton))
    attempt = counted("attempts", simplest_path_module.replay_over_scalars)
    monkeypatch.setattr(simplest_path_module, "replay_over_scalars", attempt)
    simple, _ = simplest_path(automaton, error, ugly)
    assert simple == result.evidence and counts["apart"] == 1 < 10 < counts["attempts"]


UGLY = {11: 2_000_000_011, 12: 2_147_483_647, 3.0: 2.3158417847464555e77}


def test_little_work_changes_nothing_for_the_worse():
    x = extern("x", Int32)
    n = stream(Int32, lambda n: [0] + +(n + x))
    rows = [{"x": 10_007} for _ in range(50)]
    for work in (0, 500, 2000, 20_000):
        trace = simplest(spec_of(n < 490_000), rows, work=work, shorten=False)
        assert trace.length <= 50 and all(0 <= row["x"] <= 490_000 for row in trace.inputs)


@pytest.mark.parametrize("seed", range(30))
def test_simple_runs_of_random_specs_replay_and_are_the_same_every_time(seed):
    specification = random_equations(seed)
    guards = [Claim(t.name, t.guard) for t in specification.triggers]
    if seed % 3 == 0 and len(guards) > 1:
        specification = replace(specification, assumptions=(Claim("given", guards.pop().term),))
    for claim in guards:
        for number in range(4):
            rows = tuple(scalar_rows(specification, random_rows(number, specification, 6)))
            runs = (replay(specification, claim, Trace({}, rows[:k])) for k in range(1, 7))
            run = next((r for r in runs if isinstance(r, Replay)), None)
            if run is None:
                continue
            first = simplest_run(specification, claim, run, shorten=True)
            assert first is not None and first[0].length <= len(run.steps)
            assert isinstance(replay(specification, claim, first[0]), Replay)
            assert repr(first[0]) == repr(simplest_run(specification, claim, run, shorten=True)[0])
            again = simplest_run(specification, claim, first[1], shorten=True)
            assert again[0].length <= first[0].length


def scalar_rows(specification, rows):
    parts = [name for i in specification.inputs for name, _ in part_names(i.name, i.type)]
    for row in rows:
        yield dict(zip(parts, scalar_parts(row), strict=True))


def test_the_order_of_values():
    word, mode = machine(8, signed=False), enum_of("M", (("A", 9), ("B", 1)))
    rising = {
        BOOL: [False, True],
        word: [0, 1, 2, 250],
        INT: [0, 1, -1, 2, -2],
        mode: [9, 1],
        DOUBLE: [0.0, 1.0, -1.0, 0.25, 123.25, 1e77, 2.3158417847464555e77, math.inf, -math.inf, math.nan],
        REAL: [Fraction(0), Fraction(3), Fraction(1, 2), Fraction(355, 113)],
    }
    for type, values in rising.items():
        keys = [complexity(type, v) for v in values]
        assert keys == sorted(keys) and len(set(keys)) == len(keys)


def test_a_value_is_never_replaced_by_one_that_is_not_simpler():
    for type, value in ((FLOAT, 3.0), (INT, -7), (machine(8, signed=True), -128), (REAL, Fraction(2, 3))):
        tried = []
        assert not reduce_value(type, value, [5], lambda v, tried=tried: tried.append(v))
        assert tried and all(complexity(type, v) < complexity(type, value) for v in tried)


def test_few_values_are_tried_in_place_of_a_number_that_is_not_finite():
    for value in (math.nan, math.inf, -1.7e308, 5e-324):
        tried = []
        assert not reduce_value(DOUBLE, value, (), lambda v, tried=tried: tried.append(v))
        assert len(tried) < 200
