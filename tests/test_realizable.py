"""Realizability: against a search of all states, against lies, and by what the command prints."""

from __future__ import annotations

import enum
import json
import os
import random
import subprocess
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path

import jsonschema
import pytest

from streamcheck import *
from streamcheck.api.files import load
from streamcheck.cli.realizable import command
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import evaluate
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import BOOL
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Specification
from streamcheck.run import realizable as asking
from streamcheck.run.realizable import realizable
from streamcheck.synthesis import solve
from streamcheck.synthesis.solve import Lost, Synthesis, Won
from streamcheck.transform import realization
from streamcheck.transform.realization import game_of

COMMAND = Path(sys.executable).parent / "streamcheck"
BOOLS = (False, True)


class Light(enum.Enum):
    RED = 0
    GREEN = 1
    YELLOW = 2


def balance(slack: int) -> Spec:
    """A level that has to stay near 0; the output follows the input by so much at most."""
    x, o = extern("x", Int), unknown(Int)
    level = stream(Int, lambda before: [0] + +(before + o))
    spec = Spec("balance")
    spec.assume("bounded", (x >= 0) & (x <= 5))
    spec.prop("above", o >= x - slack)
    spec.prop("below", o <= x)
    spec.prop("level", (level <= 10) & (level >= -10))
    return spec


def lights(most: int) -> Spec:
    """A light that turns green within some steps, and never directly after red."""
    go, light = extern("go", Bool), unknown(EnumOf(Light))
    spec = Spec("lights")
    names = {"go": go, "light": light, "green": Light.GREEN}
    spec.prop("soon", requirement(f"whenever go the light shall within {most} ticks satisfy light = green", names))
    spec.prop("slow", ~((light == Light.GREEN) & (pre(Light.RED, light) == Light.RED)))
    return spec


def copies(type_: type[Stream]) -> Spec:
    """An output above the input: impossible at the type's end, if it has one."""
    x, o = extern("x", type_), unknown(type_)
    spec = Spec("copies")
    spec.prop("above", o > x)
    return spec


def between() -> Spec:
    a, b, o = extern("a", Real), extern("b", Real), unknown(Real)
    spec = Spec("between")
    spec.assume("apart", a < b)
    spec.prop("inside", (a < o) & (o < b))
    return spec


def contradictory() -> Spec:
    """Four guarantees, of which two cannot be kept together, from the third step on."""
    x, o = extern("x", Word8), unknown(Word8)
    n = stream(Word8, lambda before: [0] + +mux(before < 9, before + 1, before))
    spec = Spec("contradictory")
    spec.prop("small", implies(n >= 2, o < 10))
    spec.prop("even", o % 2 == 0)
    spec.prop("follows", implies(x > 20, o >= 15))
    spec.prop("free", implies(o == 200, x >= 100))
    return spec


# Against a search of all states.


def random_term(chance: random.Random, variables: list, depth: int):
    if depth == 0 or chance.random() < 0.15:
        return chance.choice(variables)
    op = chance.choice(("and", "or", "xor", "not", "mux", "implies"))
    parts = [random_term(chance, variables, depth - 1) for _ in range({"not": 1, "mux": 3}.get(op, 2))]
    return term(op, *parts)


def random_game(seed: int) -> Specification:
    chance = random.Random(seed)
    inputs = [variable(f"i{n}", BOOL) for n in range(2)]
    outputs = [variable(f"o{n}", BOOL) for n in range(2)]
    cells = [variable(f"c{n}", BOOL) for n in range(3)]
    everything = [*inputs, *outputs, *cells]
    claims = [Claim(f"p{n}", random_term(chance, everything, 3)) for n in range(chance.choice((1, 2, 3)))]
    return Specification(
        "game",
        (*(Input(str(v.payload), BOOL, v in inputs, "", "", None) for v in (*inputs, *outputs)),),
        (),
        tuple(
            Cell(str(c.payload), chance.choice((TRUE, FALSE)), random_term(chance, everything, 2), None, free=n == 2)
            for n, c in enumerate(cells)
        ),
        (),
        (),
        (),
        tuple(claims),
        (Claim("a", random_term(chance, [*inputs, *cells], 2)),),
        None,
    )


def component_wins(s: Specification) -> bool:
    """The greatest set of states in which each input has an answer, state by state."""
    cells = [c.var for c in s.cells]
    inputs, outputs = ([i.var for i in s.inputs if i.extern is kind] for kind in (True, False))
    roots = [*(p.term for p in s.properties), *(a.term for a in s.assumptions), *(c.next for c in s.cells)]
    moves: dict = {}
    for state in product(BOOLS, repeat=len(cells)):
        moves[state] = []
        for given in product(BOOLS, repeat=len(inputs)):
            answers, meets = [], True
            for answer in product(BOOLS, repeat=len(outputs)):
                values = dict(zip([*cells, *inputs, *outputs], [*state, *given, *answer], strict=True))
                at = evaluate(roots, values)
                meets = all(at[a.term] for a in s.assumptions)
                if all(at[p.term] for p in s.properties):
                    answers.append(tuple(at[c.next] for c in s.cells))
            if meets:
                moves[state].append(answers)
    region = set(moves)
    while True:
        kept = {s for s in region if all(any(after in region for after in answers) for answers in moves[s])}
        if kept == region:
            break
        region = kept
    starts = product(*(BOOLS if c.free else (c.initial.payload,) for c in s.cells))
    return all(start in region for start in starts)


def test_random_games_are_won_by_whom_a_search_says():
    words = []
    for seed in range(80):
        specification = random_game(seed)
        outcome = Synthesis(game_of(specification)).solve()
        assert isinstance(outcome, Won) == component_wins(specification), seed
        words.append(type(outcome))
    assert min(words.count(Won), words.count(Lost)) > 15


@pytest.mark.parametrize("seed", [3, 4, 5, 6])
def test_answers_are_proved(seed):
    specification = random_game(seed)
    answer = realizable(specification, 30)
    assert answer.verdict == ("realizable" if component_wins(specification) else "unrealizable")
    assert answer.proof is not None and all(result.verdict == "proved" for result in answer.proof.results)


# Against what is known of games.


@pytest.mark.parametrize(
    ("spec", "verdict"),
    [
        (balance(5), "realizable"),
        (balance(4), "unrealizable"),
        (lights(2), "realizable"),
        (lights(1), "realizable"),
        (copies(Int), "realizable"),
        (copies(Real), "realizable"),
        (copies(Word8), "unrealizable"),
        (copies(Int16), "unrealizable"),
        (between(), "realizable"),
        (contradictory(), "unrealizable"),
    ],
    ids=lambda x: x if isinstance(x, str) else x.name,
)
def test_the_answer_is_the_known_one(spec, verdict, tmp_path):
    result = spec.realizable(timeout=60, output=str(tmp_path / "made.py"))
    assert result.verdict == verdict, str(result)
    if verdict == "realizable":
        made = load(tmp_path / "made.py")
        assert set(spec.properties) <= set(made.properties)
        assert all(v.verdict == "proved" for v in made.prove(timeout=60))
    else:
        assert not (tmp_path / "made.py").exists()
        with pytest.raises(SpecError, match="it has no implementation"):
            result.implementation


def test_a_smallest_conflict_is_shown_with_a_run():
    result = contradictory().realizable(timeout=60)
    assert result.conflict == ("follows", "small") or result.conflict == ("small", "follows")
    assert result.answer.is_smallest
    *earlier, last = result.steps
    assert len(earlier) == 2 and last["x"] > 20 and "o" not in str(sorted(last))
    assert "at step 2, no outputs keep the guarantees (proved)" in str(result)


def test_it_is_smallest():
    spec = contradictory()
    problem = spec._problem()
    for left_out in ("small", "follows"):
        fewer = replace(problem, properties=tuple(p for p in problem.properties if p.name != left_out))
        assert realizable(fewer, 60).verdict == "realizable"


# What cannot be answered.


def test_questions_without_an_answer_say_why():
    x, o = extern("x", Int), unknown(Int)
    early, none, every, endless = (Spec(name) for name in ("early", "none", "every", "endless"))
    endless.infinitely_often("live", o > x)
    endless.prop("p", o > 0)
    early.assume("knows", x > o)
    early.prop("p", o > 0)
    none.prop("p", x > 0)
    every.prop("p", forall(Int, lambda v: implies(v == x, o > v)))
    for spec, reason in (
        (early, 'assumption "knows" depends on the output'),
        (none, "the spec has no outputs"),
        (every, "forall is not supported"),
        (endless, 'property "live" is about infinite runs'),
    ):
        result = spec.realizable(timeout=5)
        assert result.verdict == "unknown" and reason in str(result)


def test_a_game_that_does_not_end_is_unknown():
    x, y, o = extern("x", Int), extern("y", Int), unknown(Int)
    spec = Spec("product")
    spec.prop("p", o * o + o * x * y != 7 * pre(1, o) * x + y * y)
    spec.prop("q", pre(0, o) * o * o <= x * x * y - y)
    result = spec.realizable(timeout=2)
    assert result.verdict in ("unknown", "unrealizable")
    assert result.verdict == "unrealizable" or result.answer.reason


# Lies of the search are refused.


def test_an_answer_that_breaks_a_guarantee_is_not_believed(monkeypatch):
    def lying(self):
        won = real(self)
        sixes = {o: constant(o.type, 6) for o in self.game.outputs}
        return Won(tuple(replace(a, outputs=sixes) for a in won.answers), won.rules)

    real = Synthesis.solve
    monkeypatch.setattr(Synthesis, "solve", lying)
    result = balance(5).realizable(timeout=20)
    assert result.verdict == "unknown" and "not proved" in str(result)


def test_a_region_that_is_too_large_is_not_believed(monkeypatch):
    monkeypatch.setattr(realization, "region", lambda rules: TRUE)
    monkeypatch.setattr(Synthesis, "_needed_answers", last_answer(Synthesis._needed_answers))
    result = balance(5).realizable(timeout=10)
    assert result.verdict == "unknown"


def last_answer(real):
    return lambda self: real(self)[-1:]


def test_a_strategy_that_does_not_win_is_not_believed(monkeypatch):
    everywhere = Lost((realization.EnvironmentMove(TRUE, {}),), {})
    monkeypatch.setattr(Synthesis, "solve", lambda self: lost_for(self, everywhere))
    monkeypatch.setattr(solve, "losing_run", lambda game, lost: [])
    result = balance(5).realizable(timeout=20)
    assert result.verdict == "unknown" and "not proved" in str(result)


def lost_for(synthesis, lost):
    zeros = {i: constant(i.type, 0) for i in synthesis.game.inputs}
    return Lost(tuple(replace(rule, inputs=zeros) for rule in lost.rules), {})


def test_a_run_that_is_none_is_not_shown(monkeypatch):
    real = asking._outcome_of

    def changed(record):
        found = real(record)
        return replace(found, run=tuple({v: constant(v.type, 0).payload for v in step} for step in found.run))

    monkeypatch.setattr(asking, "_outcome_of", changed)
    result = contradictory().realizable(timeout=30)
    assert result.verdict == "unrealizable" and result.steps == []


# The command.


def test_the_command_prints_what_python_does(tmp_path):
    (tmp_path / "two.py").write_text("""\
from streamcheck import *
x = extern("x", Word8)
o = unknown(Word8)
follows = Spec("follows")
follows.prop("same", o == x)
above = Spec("above")
above.prop("above", o > x)
""")
    run = [COMMAND, "realizable", "two.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "follows" and lines[1].startswith("  realizable    1 guarantee") and lines[2] == "      o = x"
    assert lines[4].startswith("  unrealizable  above cannot be kept")
    both = json.loads(subprocess.run([*run, "--json"], cwd=tmp_path, capture_output=True, text=True).stdout)
    jsonschema.validate(both, json.loads(Path("docs/realizable.schema.json").read_text()))
    assert [row["verdict"] for row in both] == ["realizable", "unrealizable"]
    assert both[0]["outputs"] == {"o": "x"} and both[1]["run"] == [{"x": 255}]
    done = subprocess.run([*run, "-o", "made.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "two.py::follows" in done.stderr
    one = [COMMAND, "realizable", "two.py::follows", "-o", "made.py"]
    assert subprocess.run(one, cwd=tmp_path, capture_output=True, text=True).returncode == 0
    assert "def o(): return x" in (tmp_path / "made.py").read_text()


def test_options_are_those_of_python():
    options = {p.name for p in command.params if p.expose_value} - {"file", "as_json", "verbose"}
    assert options == {"timeout", "jobs", "output"}


# Lustre.


def lustre(tmp_path, text):
    path = tmp_path / "model.lus"
    path.write_text(text)
    return path


CONTRACT = """
(*@contract
  assume "bounded" x >= 0 and x <= 100;
  guarantee "near" y >= x and y <= x + 20;
  guarantee "slow" true -> y - pre y <= {};
  mode fine (require ok; ensure not alarm;);
  mode bad (require not ok; ensure alarm;);
*)
"""


@pytest.mark.parametrize(("pace", "verdict"), [(100, "realizable"), (10, "unrealizable")])
def test_an_imported_node_is_asked_about_by_its_name(pace, verdict, tmp_path):
    head = "node imported voter(x: int; ok: bool) returns (y: int; alarm: bool);"
    path = lustre(tmp_path, head + CONTRACT.format(pace))
    result = load(f"{path}::voter").realizable(timeout=60)
    assert result.verdict == verdict, str(result)
    if verdict == "unrealizable":
        assert sorted(result.conflict) == ["guarantee near", "guarantee slow"] and len(result.steps) == 2
    assert "guarantee slow" not in load(path).properties  # as a main node that nobody asked for, it has none


@pytest.mark.parametrize(("claim", "verdict"), [("y > x and y <= x + 1", "realizable"), ("y * y = x", "unrealizable")])
def test_an_imported_function_without_state_has_an_answer(claim, verdict, tmp_path):
    path = lustre(tmp_path, f"function imported f(x: int) returns (y: int); con guarantee {claim}; noc")
    result = load(f"{path}::f").realizable(timeout=30)
    assert result.verdict == verdict, str(result)


def test_jkinds_realizable_names_the_inputs(tmp_path):
    text = """
    node main(x, y, z: int) returns (ok: bool);
    var n: int;
    let
      n = 0 -> 1 + pre n;
      assert n < 3 => x < y - 1;
      ok = x < z and z < y;
      --%PROPERTY ok;
      --%REALIZABLE x, y;
    tel
    """
    path = lustre(tmp_path, text)
    result = load(path).realizable(timeout=60)
    assert result.verdict == "unrealizable" and len(result.steps) == 4 and set(result.steps[-1]) == {"x", "y"}
    always = load(lustre(tmp_path, text.replace("n < 3 =>", "true =>"))).realizable(timeout=60)
    assert always.verdict == "realizable"
    with pytest.raises(SpecError, match="w is no input of main"):
        load(lustre(tmp_path, text.replace("REALIZABLE x, y", "REALIZABLE x, w")))


# JKind's own examples, if its repository is there: JKIND=FOLDER, a clone or a bare repository. Two that its file calls
# unknown have an answer here.

JKIND = os.environ.get("JKIND", "")
EXAMPLES = {
    "counter": "unrealizable",
    "min_max": "unrealizable",
    "mode_logic": "unrealizable",
    "poster1": "unrealizable",
    "poster2": "unrealizable",
    "poster3": "unrealizable",
    "realizability": "unrealizable",
    "realize": "unrealizable",
    "reduce": "unrealizable",
    "requires_lemma": "realizable",
    "unknown_real1": "realizable",
    "unknown_real2": "realizable",
    "compound": "unrealizable",
}


@pytest.mark.skipif(not JKIND, reason="JKIND: the folder of its repository is not given")
@pytest.mark.parametrize("name", EXAMPLES)
def test_jkinds_examples(name, tmp_path):
    show = ["git", "-C", JKIND, "show", f"HEAD:testing/realizability/{name}.lus"]
    path = lustre(tmp_path, subprocess.run(show, capture_output=True, text=True, check=True).stdout)
    result = load(path).realizable(timeout=60)
    assert result.verdict == EXAMPLES[name], str(result)


def test_a_contract_alone_is_asked_about(tmp_path):
    path = tmp_path / "voting.py"
    path.write_text("""\
from streamcheck import *

@contract
def voting(a: Int, b: Int, *, v: Int, alarm: Bool) -> None:
    assume("bounded", (a >= 0) & (a <= 100) & (b >= 0) & (b <= 100))
    guarantee("between", (v >= minimum(a, b)) & (v <= maximum(a, b)))
    contract_mode("apart", require=abs(a - b) > 10, ensure=alarm)
    contract_mode("near", require=abs(a - b) <= 10, ensure=~alarm)
""")
    result = load(f"{path}::voting").realizable(timeout=60, output=str(tmp_path / "voter.py"))
    assert result.verdict == "realizable", str(result)
    made = load(tmp_path / "voter.py")
    assert made.properties == load(f"{path}::voting").properties
    assert all(v.verdict == "proved" for v in made.prove(timeout=60))
    path.write_text(path.read_text().replace("<= 10, ensure=~alarm", "> 20, ensure=~alarm"))
    worse = load(f"{path}::voting").realizable(timeout=60)
    assert worse.verdict == "unrealizable" and set(worse.conflict) <= {"mode apart", "mode near", "some mode is active"}


def test_of_a_component_its_contract_is_asked_about(tmp_path):
    """Not the body, which breaks it."""
    path = tmp_path / "parts.py"
    path.write_text("""\
from streamcheck import *

@component
def shift(x: Word8, hold: Bool) -> Word8:
    assume("small", x < 100)
    out = stream(Word8, lambda o: mux(hold, [0] ++ o, x + 3))
    guarantee("holds", implies(hold, out == pre(0, out)))
    guarantee("close", implies(~hold, (out >= x) & (out <= x + 2)))
    return out
""")
    result = load(f"{path}::shift").realizable(timeout=60, output=str(tmp_path / "made.py"))
    assert result.verdict == "realizable", str(result)
    assert all(v.verdict == "proved" for v in load(tmp_path / "made.py").prove(timeout=60))
    assert any(v.verdict == "falsified" for v in load(f"{path}::shift").prove(timeout=60))
