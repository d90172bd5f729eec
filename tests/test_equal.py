"""Two specs compared: what `equal` proves is true of runs of both, what it shows they do."""

from __future__ import annotations

import inspect
import json
import random
import shutil
from dataclasses import replace
from importlib import import_module

import pytest
from test_command import streamcheck
from test_python_api import ELSEWHERE, RENAMED, SHOWN_ONLY
from trust.small_specs import small_spec

import streamcheck as sc
from streamcheck import *
from streamcheck import SpecError
from streamcheck.certify import checker
from streamcheck.certify.check import Checker
from streamcheck.certify.lots import neighbourhoods
from streamcheck.core.term import FALSE
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import Certificate

REFACTORED = "specs/refactored.py"


def side(name, n, *, assume=None, go="go"):
    spec = Spec(name)
    spec.observer("n", n)
    spec.trigger("alarm", n > 3, [n])
    if assume is not None:
        spec.assume("given", assume)
    return spec


def counter(step=1, top=9, go="go"):
    on = extern(go, Bool)
    return stream(Word8, lambda n: [0] + +mux(on & (n < top), n + step, 0))


def turned(go="go"):
    on = extern(go, Bool)
    return stream(Word8, lambda n: [0] + +mux(~on | (n >= 9), 0, 1 + n))


def test_a_rewritten_monitor_is_equal_and_the_proof_is_checked_again(tmp_path):
    file = tmp_path / "refactored.py"
    shutil.copy(REFACTORED, file)
    done = streamcheck("equal", f"{file}::before", f"{file}::after", "--certificates", str(tmp_path / "saved"))
    assert done.returncode == 0, done.stdout + done.stderr
    saved = sorted(map(str, (tmp_path / "saved").glob("*.json")))
    assert len(saved) == 2 and streamcheck("check", *saved).returncode == 0
    file.write_text(file.read_text().replace("cool | (n == 0)", "cool"))  # `after` is `almost` now
    assert streamcheck("check", *saved).returncode in (3, 4)  # none holds


def test_a_difference_is_the_shortest_run_with_the_values_of_both():
    done = streamcheck("equal", f"{REFACTORED}::before", f"{REFACTORED}::almost", "--json")
    assert done.returncode == 1
    steps = {p["name"]: p["counterexample"]["steps"] for p in json.loads(done.stdout)["properties"]}["steps"]
    assert len(steps) == 7  # five hot steps, one more, and what it leads to
    assert [s["streams"]["steps (A)"] for s in steps] == [0, 1, 2, 3, 4, 5, 5]
    assert steps[-1]["streams"]["steps (B)"] == 6 and all(s["inputs"]["probe"] > 250 for s in steps[:-1])


def test_renames_patterns_and_what_does_not_fit():
    a, b = side("a", counter()), side("b", turned("run"))
    assert not sc.equal(a, b).ok  # `go` and `run` are two inputs
    assert any("inputs of one side only: go (A) and run (B)" in w for w in sc.equal(a, b).warnings)
    assert sc.equal(a, b, renames={"go": "run"}).ok
    assert [r.name for r in sc.equal(a, b, renames={"go": "run"}, outputs=["n*"])] == ["n"]
    more = side("more", turned())
    more.observer("m", turned() + 1)
    for first, second, options, message in (
        (a, b, {"renames": {"go": "walk"}}, "b has no input or output named 'walk'; it has run, alarm, n"),
        (a, b, {"outputs": ["x"]}, "no output is called 'x'"),
        (a, more, {}, r"outputs of one side only: observer 'm' \(B\)"),
        (a, more, {"refines": True}, r"outputs of one side only: observer 'm' \(B\)"),
        (a, side("int", cast(Int, counter())), {}, r"(observer|argument 0).*: Word8 in A, Int in B"),
        (Spec("none"), Spec("neither"), {}, "there is nothing to compare"),
    ):
        with pytest.raises(SpecError, match=message):
            sc.equal(first, second, **options)
    assert sc.equal(more, a, refines=True).ok  # what refines may do more
    wide = Spec("wide")
    wide.observer("n", mux(extern("go", Word8) == 1, Word8(1), 0))
    with pytest.raises(SpecError, match=r"input 'go': Bool in a .A., Word8 in wide .B."):
        sc.equal(a, wide)


def test_assumptions_decide_what_equal_and_refines_mean():
    go, calm = extern("go", Bool), extern("calm", Bool)
    every, some = side("every", counter()), side("some", turned(), assume=~go | ~calm)
    same = side("same", turned(), assume=~(go & calm))
    assert sc.equal(every, some, refines=True).ok  # asks for no more
    refused = sc.equal(some, every, refines=True)
    assert [r.name for r in refused.falsified] == ["given (A)"]
    assert [r.name for r in sc.equal(some, every).falsified] == ["given (A)"]
    assert [r.name for r in sc.equal(every, some).falsified] == ["given (B)"]
    assert sc.equal(some, same).ok
    never = side("never", counter(step=2), assume=~go)
    assert sc.equal(never, side("zero", counter(step=3), assume=~go)).ok  # equal as long as nothing goes
    assert {r.name for r in sc.equal(never, every).falsified} == {"given (A)"}


def test_floats_structs_and_calls():
    @struct
    class Pair:
        x: Float
        y: Array(Word8, 2)  # type: ignore

    f, on = extern("f", Float), extern("on", Bool)
    first, second = Spec("first"), Spec("second")
    first.observer("p", stream(Pair, lambda p: [{"x": 0.0, "y": [0, 0]}] + +Pair(x=f, y=p.y.set(0, p.y[1] + 1))))
    second.observer(
        "p", stream(Pair, lambda p: [{"x": 0.0, "y": [0, 0]}] + +Pair(x=mux(on, f, f), y=p.y.set(0, 1 + p.y[1])))
    )
    assert sc.equal(first, second).ok
    negative = Spec("negative")
    negative.observer("p", stream(Pair, lambda p: [{"x": -0.0, "y": [0, 0]}] + +Pair(x=f, y=p.y.set(0, p.y[1] + 1))))
    (bad,) = sc.equal(first, negative).falsified
    assert len(bad.counterexample) == 1  # 0.0 and -0.0 are two values


def test_lustre_beside_python(tmp_path):
    (tmp_path / "n.lus").write_text(
        "node count(go: bool) returns (n: int);\nlet\n  n = 0 -> if pre go then pre n + 1 else 0;\ntel\n"
    )
    go = extern("go", Bool)
    spec = Spec("count")
    spec.observer("n", stream(Int, lambda n: [0] + +mux(~go, 0, n + 1)))
    assert sc.equal(spec, str(tmp_path / "n.lus")).ok


def values_of_outputs(spec, inputs):
    run = spec.run(inputs=inputs, ignore_extra=True)
    return [dict(step.observers) for step in run]


@pytest.mark.parametrize("seed", range(8))
def test_verdicts_on_random_specs_agree_with_runs_of_both(seed):
    """Pairs of random specs with the same inputs, one of which may be a part of the other's outputs."""
    rng = random.Random(seed)
    specs = []
    for number in (seed, seed if rng.random() < 0.5 else seed + 1):
        made, values = small_spec(number)
        spec = Spec(f"side_{len(specs)}")
        for declared in list(made.properties.values())[:1]:
            spec.properties.clear()
            spec.observers["out"] = declared.__class__("out", declared.node, declared.where)
        specs.append((spec, values))
    if any("out" not in spec.observers for spec, _ in specs):
        pytest.skip("no property to compare")
    (a, of_a), (b, of_b) = specs
    names = {i.name: i for spec in (a, b) for i in flatten(spec).inputs}
    (out,) = sc.equal(a, b, timeout=10)
    if out.verdict == "falsified":
        run = out.counterexample
        given = [{name: row[name] for name in names} for row in run.steps]
        sides = [values_of_outputs(spec, given)[-1]["out"] for spec in (a, b)]
        assert sides[0] != sides[1]
    for _ in range(20):
        every = {**of_b, **of_a}
        rows = [{name: rng.choice(every[name]) for name in names} for _step in range(30)]
        sides = [values_of_outputs(spec, rows) for spec in (a, b)]
        assert out.verdict != "proved" or sides[0] == sides[1]


def test_a_long_chain_is_paired_cell_by_cell():
    go = extern("go", Bool)
    first, second, wrong = Spec("c"), Spec("d"), Spec("e")
    first.observer("n", chain(25, go))
    second.observer("n", chain(25, ~go, turned=True))
    wrong.observer("n", chain(25, go, turned=True))
    (result,) = sc.equal(first, second, engines=["equals"])
    assert result.proved and result.engine == "equals" and len(result.certificate.invariants) >= 50
    (result,) = sc.equal(first, wrong, engines=["equals"])
    assert result.verdict == "unknown"


def chain(length, flag, turned=False):
    before = extern("x", Word8)
    for _ in range(length):
        if turned:
            after = stream(Word8, lambda n, b=before, f=flag: [0] + +mux(f, b - n, b + n))
            flag = stream(Bool, lambda g, b=before, f=flag: [True] + +(f & ~(b > 9)))
        else:
            after = stream(Word8, lambda n, b=before, f=flag: [0] + +mux(f, n + b, b - n))
            flag = stream(Bool, lambda g, b=before, f=flag: [False] + +((b >= 10) | f))
        before = after
    return before


def test_no_neighbourhood_makes_a_false_invariant_hold(monkeypatch):
    """Whatever is proposed as near: the checker sees that it knows no more than the specification."""
    spec = Spec("s")
    cells = [stream(Word8, lambda n, i=i: [i] + +mux(n == 200, n, n + 1)) for i in range(40)]
    for i, cell in enumerate(cells):
        spec.prop(f"p{i}", cell < 100)
    specification = flatten(spec)
    certificate = Certificate("inductive", 1, tuple(p.term for p in specification.properties))
    assert Checker(specification).check("p0", certificate) is not None

    def frozen(real_runs, invariants):
        for part, facts, goal in neighbourhoods(real_runs, invariants):
            still = tuple(replace(r, next=r.var) for r in part.registers)
            yield replace(part, registers=still), facts, goal

    def forgetful(real_runs, invariants):
        yield from list(neighbourhoods(real_runs, invariants))[:0]

    def knowing(real_runs, invariants):
        for part, facts, goal in neighbourhoods(real_runs, invariants):
            yield replace(part, assumptions=(FALSE,)), facts, goal

    for lie in (frozen, forgetful, knowing):
        monkeypatch.setattr(checker, "neighbourhoods", lie)
        assert Checker(specification).check("p0", certificate) is not None, lie


@pytest.mark.parametrize("command", ["equal"])
def test_every_option_of_the_command_is_a_parameter(command):
    options = {p.name for p in import_module(f"streamcheck.cli.{command}").command.params if p.expose_value}
    wanted = {RENAMED.get(name, name) for name in options - {"a", "b"} - ELSEWHERE - SHOWN_ONLY}
    assert wanted <= set(inspect.signature(sc.equal).parameters)


WATCH = """
#include <stdbool.h>
#include <stdint.h>
typedef struct { uint8_t left; uint8_t last[2]; } watch_state;
typedef struct { uint8_t probe; } watch_inputs;
void shutoff(uint8_t probe);
void watch_init(watch_state *state) { state->left = 5; for (int i = 0; i < 2; i++) { state->last[i] = 0; } }
uint8_t watch_step(watch_state *state, const watch_inputs *in, bool stop)
{
    const uint8_t before = state->left;
    if (in->probe > 250 && before == 0) {
        shutoff(in->probe);
    }
    if (stop) {
        state->left = 5;
    } else if (in->probe > 250 && before > 0) {
        state->left = (uint8_t)(before - 1);
    }
    state->last[0] = state->last[1];
    state->last[1] = in->probe;
    return (uint8_t)(5 - before);
}
"""


def test_a_step_function_in_c(tmp_path):
    good, bad = tmp_path / "watch.c", tmp_path / "bad.c"
    good.write_text(WATCH)
    bad.write_text(WATCH.replace("before > 0", "before > 1"))
    before, options = f"{REFACTORED}::before", {"renames": {"steps": "result"}, "timeout": 30}
    saved = tmp_path / "saved"
    assert sc.equal(before, f"{good}::watch_step", **options, certificates=str(saved)).ok
    assert all(sc.check(str(path)).ok for path in saved.iterdir())
    results = sc.equal(before, str(bad), **options)  # the only function beside the initialisation
    assert {r.name for r in results.falsified} == {"shutoff", "steps"}
    good.write_text(bad.read_text())
    assert not any(sc.check(str(path)).ok for path in saved.iterdir())


def test_state_in_static_variables_and_undefined_operations(tmp_path):
    file = tmp_path / "sums.c"
    file.write_text(
        "#include <stdint.h>\nstatic int32_t total = 3;\nstatic uint8_t n;\n"
        "void step(int32_t x) { total = total + x; n = (uint8_t)(n + 1); }\n"
    )
    x = extern("x", Int32)
    spec = Spec("sums")
    spec.observer("n", stream(Word8, lambda n: [0] + +(n + 1)) + 1)
    results = sc.equal(spec, str(file), timeout=30)
    assert results["n"].proved and [r.name for r in results.falsified] == ["defined: no overflow, line 4, 0"]
    small = Spec("small")
    small.assume("small", x == 0)
    small.observer("n", stream(Word8, lambda n: [1] + +(n + 1)))
    small.observer("total", stream(Int32, lambda t: [3] + +(t + x)) + x)
    assert sc.equal(str(file), small, refines=True, timeout=30).ok


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("void a(void) {}\nvoid b(void) {}\n", "which function is a step"),
        ("#include <stdint.h>\nuint8_t n;\nvoid step(void) { n = 1; }\n", "n may be changed from outside"),
        ("typedef struct { int n; } s;\nvoid step(s *x) { x->n = 1; }\n", "nothing says how that begins"),
        ("typedef struct { int n; } s;\nvoid init(s *x) { }\nvoid step(s *x) { x->n = 1; }\n", "init leaves members"),
        ("int step(int x) { return x++; }\n", "side effect"),
        ("void f(int x);\nvoid step(int x) { f(x); f(x); }\n", "calls f at two places"),
    ],
)
def test_c_that_is_not_read(tmp_path, text, message):
    file = tmp_path / "step.c"
    file.write_text(text)
    spec = Spec("s")
    spec.observer("result", extern("x", Int32))
    with pytest.raises(SpecError, match=message):
        sc.equal(spec, str(file))


def test_generated_c_is_equal_to_another_spec(tmp_path):
    done = streamcheck("compile", f"{REFACTORED}::before", "-o", str(tmp_path), "--no-cache")
    assert done.returncode == 0, done.stderr
    c = f"{tmp_path / 'before.c'}::before_step"
    assert sc.equal(f"{REFACTORED}::after", c, outputs=["shutoff"], timeout=30).ok
    assert not sc.equal(f"{REFACTORED}::almost", c, outputs=["shutoff"], timeout=30).ok


def test_observers_of_generated_c_are_what_it_shows_and_not_its_state_of_that_name(tmp_path):
    text = 'from streamcheck import *\nx = extern("x", Word8)\nn = stream(Word8, lambda n: [0] ++ (n + x))\n'
    (tmp_path / "count.py").write_text(f'{text}spec = Spec("count")\nspec.observer("n", n)\n')
    done = streamcheck("compile", str(tmp_path / "count.py"), "--observers", "-o", str(tmp_path), "--no-cache")
    assert done.returncode == 0, done.stderr
    assert "uint8_t n;" in (tmp_path / "count.h").read_text()
    assert sc.equal(tmp_path / "count.py", str(tmp_path / "count.c"), timeout=30).ok
