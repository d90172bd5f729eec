"""Nothing is lost in silence: specs that the command cannot see, assumptions that end every run, and `--strict`."""

from __future__ import annotations

import json
import subprocess

import pytest
from finite import W8, Explicit, systems
from hypothesis import given, settings
from hypothesis import strategies as st
from test_command import COMMAND

from streamcheck.core.term import term
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Specification
from streamcheck.problem.transition import TransitionSystem
from streamcheck.run.endless import EndlessRun

PREAMBLE = """\
from streamcheck import *
x, t = extern("x", Word8), extern("t", Int)
b = extern("b", Bool)
spec = Spec("s")
"""


def prove(tmp_path, text, *options, preamble=PREAMBLE, name="spec.py"):
    """The exit status, the warnings and the standard error."""
    path = tmp_path / name
    path.write_text(preamble + text)
    done = subprocess.run(
        [COMMAND, "prove", name, "--json", "--timeout", "20", *options], capture_output=True, text=True, cwd=tmp_path
    )
    answer = json.loads(done.stdout) if done.stdout else []
    rows = answer if isinstance(answer, list) else [answer]
    return done.returncode, [w for row in rows for w in row["warnings"]], done.stderr


# Specs


LEFT_OUT = "is left out: no name at top level refers to it"


def test_a_spec_whose_name_is_bound_again_is_named(tmp_path):
    text = 'spec.prop("p", b)\nspec = Spec("later")\nspec.prop("q", b | ~b)\n'
    assert prove(tmp_path, text)[:2] == (0, [f'spec "s" (spec.py:4, 1 property) {LEFT_OUT}'])
    assert prove(tmp_path, text, "--strict")[0] == 2


def test_a_spec_made_in_a_function_is_named(tmp_path):
    text = 'def main():\n    inner = Spec("inner")\n    inner.prop("p", b)\n    inner.prop("q", b)\nmain()\n'
    assert prove(tmp_path, text)[:2] == (0, [f'spec "inner" (spec.py:6, 2 properties) {LEFT_OUT}'])
    status, _, error = prove(tmp_path, text.replace('spec = Spec("s")', ""), preamble=PREAMBLE.replace("spec =", "#"))
    assert status == 2 and f'spec "inner" (spec.py:6, 2 properties) {LEFT_OUT}' in error
    (tmp_path / "spec.py").write_text(PREAMBLE + text)
    done = subprocess.run([COMMAND, "prove", "spec.py::inner"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2 and 'spec "inner" (spec.py:6' in done.stderr


def test_specs_in_lists_and_dictionaries_are_proved(tmp_path):
    text = (
        "def made(name):\n    s = Spec(name)\n    s.prop('p', b | ~b)\n    return s\n"
        "some = [made('a'), (made('b'), made('c'))]\nnamed = {'d': made('d'), 'again': some}\nnamed['self'] = named\n"
    )
    (tmp_path / "spec.py").write_text(PREAMBLE + text)
    done = subprocess.run([COMMAND, "prove", "spec.py", "--json"], capture_output=True, text=True, cwd=tmp_path)
    assert [row["spec"] for row in json.loads(done.stdout)] == ["s", "a", "b", "c", "d"]
    assert [row["warnings"] for row in json.loads(done.stdout)] == [[]] * 5


def test_an_imported_modules_own_specs_and_empty_ones_are_no_loss(tmp_path):
    (tmp_path / "parts.py").write_text('from streamcheck import *\ny = extern("y", Bool)\nown = Spec("own")\n'
                                       'own.prop("p", y)\nmore = [Spec("more")]\nmore[0].prop("q", y)\n')  # fmt: skip
    text = 'import parts\nspec.prop("p", parts.y | ~parts.y)\nspec, kept = Spec("empty"), spec\nspec = Spec("e")\n'
    assert prove(tmp_path, text)[:2] == (0, [])


def test_code_that_does_not_run_is_named(tmp_path):
    text = 'from streamcheck import *\nif __name__ == "__main__":\n    s = Spec("a")\n'
    status, _, error = prove(tmp_path, text, preamble="")
    assert status == 2 and "`Spec(…)` in line 3, which did not run" in error


# --strict


VACUOUS = 'spec.prop("p", implies((x > 5) & (x < 3), b))\n'
DEEP = 'n = stream(Word32, lambda n: [0] ++ mux(x > 3, n + 1, n))\nspec.prop("p", implies(n > 100000, n > 3))\n'


@pytest.mark.parametrize(
    ("text", "warning"),
    [
        (VACUOUS, "p is true only because the left side of its `implies` never is"),
        ('spec.assume("a", x < 0)\nspec.prop("p", b)\n', "no run meets the assumptions, so the proofs are vacuous"),
        ('spec.observer("x", x)\n', "the spec has no property of its own"),
        (DEEP, "it is not known if the left side of the `implies` of p is ever true"),
    ],
)
def test_warnings_are_errors(tmp_path, text, warning):
    status, warnings, _ = prove(tmp_path, text, "--strict", "--timeout", "2")
    assert (status, warnings) == (2, [warning])
    assert prove(tmp_path, text, "--timeout", "2")[0] == 0


def test_strict_has_nothing_to_say_of_a_sound_spec(tmp_path):
    text = 'spec.assume("a", x > 3)\nspec.prop("p", implies(x < 6, x != 9))\n'
    assert prove(tmp_path, text, "--strict")[:2] == (0, [])


def test_what_is_false_goes_before_what_is_doubtful(tmp_path):
    assert prove(tmp_path, VACUOUS + 'spec.prop("q", b)\n', "--strict")[0] == 1


# Assumptions that end every run


LATE = 'n = stream(Word8, lambda n: [0] ++ mux(n < 200, n + 1, n))\nspec.assume("n", n < 100)\n'
ENDLESS = {
    "inputs alone": 'spec.assume("a", x > 3)',
    "a limited rate": 'spec.assume("a", abs(cast(Int16, x) - cast(Int16, pre(0, x))) <= 5)',
    "a clock of whole numbers": 'spec.assume("a", t > pre(-1, t))',
    "a clock that wraps around": 'c = extern("c", Word32)\nspec.assume("a", first | (c - pre(0, c) == 10))',
    "an equation": 'c = extern("c", Word32)\nspec.assume("a", c == pre(0, c) + 1)',
    "turns": 'spec.assume("a", b != pre(True, b))',
    "a way through modes": 'spec.assume("a", (x == pre(0, x)) | (pre(0, x) == 3) & (x == 7) | (x == 3))',
    "a period": 'n = stream(Word8, lambda n: [0] ++ ((n + 1) % 7))\nspec.assume("a", b == (n == 3))',
    "an array, and no rule": "n = stream(Array(Word8, 2), lambda n: [[0, 1]] ++ n.set(0, n[1]).set(1, (n[0] + 1) % 5))"
    '\nc = extern("c", Word8)\nspec.assume("a", (c ^ (c >> 3)) == n[0] * 7)',
    "so many and no more": 'n = stream(Word32, lambda n: mux(b, ([0] ++ n) + 1, [0] ++ n))\nspec.assume("a", n <= 3)',
}


def test_an_assumption_that_ends_every_run_late_is_named(tmp_path):
    text = LATE + 'spec.prop("p", n < 150)\n'
    told = ["no run meets the assumptions for 101 steps: later steps were not checked"]
    assert prove(tmp_path, text)[:2] == (0, told)
    assert prove(tmp_path, text, "--strict")[:2] == (2, told)
    assert prove(tmp_path, text, "--bound", "20")[1] == []


def test_a_run_that_nobody_can_show_to_go_on_is_doubted(tmp_path):
    text = 'c = extern("c", Word32)\nspec.assume("a", c > pre(0, c))\nspec.prop("p", implies(b, b))\n'
    status, (warning,), _ = prove(tmp_path, text)
    assert status == 0 and warning.startswith("no run is known to meet the assumptions forever (one of 3")


@pytest.mark.parametrize("assumption", ENDLESS.values(), ids=ENDLESS)
def test_assumptions_that_a_run_meets_forever_are_not_doubted(tmp_path, assumption):
    assert prove(tmp_path, assumption + '\nspec.prop("p", implies(b, b))\n')[:2] == (0, [])


def runs_forever(system):
    """By explicit search: the states from which every step can be followed by another."""
    graph, states, stack = Explicit(system), {}, [Explicit(system).initial]
    while stack:
        state = stack.pop()
        if state not in states:
            states[state] = {after for _, after in graph.moves(state)}
            stack += states[state]
    while ends := [s for s, nexts in states.items() if not nexts]:
        for end in ends:
            del states[end]
        states = {s: nexts & states.keys() for s, nexts in states.items()}
    return graph.initial in states


@settings(max_examples=25, deadline=None)
@given(systems(W8), st.data())
def test_what_is_shown_and_what_is_refuted_is_so(system, data):
    """No doubt where no run goes on, and no run that ends where one goes on: against explicit search."""
    numbers = [s.var for s in system.state]
    ending = Claim("ending", term("not", data.draw(st.sampled_from([p.term for p in system.properties]))))
    system = TransitionSystem(
        system.name, system.state, system.inputs, (), (*system.assumptions, ending), system.properties
    )
    specification = Specification(
        "random",
        tuple(Input(v.payload, v.type, True, "", "", None) for v in system.inputs),
        (),
        tuple(Cell(s.var.payload, s.init, s.next, None) for s in system.state),
        (),
        (),
        (),
        (),
        system.assumptions,
        None,
    )
    used = specification.needed_by([a.term for a in specification.assumptions])
    if not used.intersection(numbers):
        return  # one step says it all, which a vacuity test asks for
    doubt = EndlessRun(specification, None, 1.0, 1, False).doubt()
    if doubt is None:
        assert runs_forever(system)
    elif doubt.startswith("no run meets"):
        assert not runs_forever(system)
