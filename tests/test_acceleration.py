"""Loops of a million rounds: computed rounds against executed ones, violations that are far away, and false claims."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from program_search import automaton
from test_programs import decide

from streamcheck.certify.evaluate import evaluate
from streamcheck.certify.replay import replay_path
from streamcheck.certify.rounds import DEGREE, over, repeat
from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import BOOL, INT, machine
from streamcheck.engines.cfa.acceleration import Acceleration
from streamcheck.engines.protocol import Progress, Task
from streamcheck.frontends.minic.read import read_c
from streamcheck.problem.automaton import Edge
from streamcheck.problem.problem import claim_named
from streamcheck.problem.result import Inconsistent
from streamcheck.problem.verdict import EdgePath, Falsified, Rounds
from streamcheck.transform.views import views

COMMAND = str(Path(sys.executable).parent / "streamcheck")
UNBOUNDED = ("add", "sub", "min", "max", "mul", "floordiv", "mod", "quot", "rem")
ARITHMETIC = (*UNBOUNDED, "bitand", "bitor", "shl", "shr")
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")


# Series of values against values one by one


class RandomTerms:
    def __init__(self, rng, type):
        self.rng, self.type = rng, type
        self.numbers = [variable(n, type) for n in "xyzw"]
        self.flag = variable("b", BOOL)

    def number(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            return rng.choice([*self.numbers, constant(self.type, rng.randrange(0, 7))])
        if rng.random() < 0.15:
            return term("mux", self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1))
        if rng.random() < 0.1 and self.type is not INT:
            narrow = term("cast", self.number(depth - 1), payload=machine(8, signed=True))
            return term("cast", narrow, payload=self.type)
        op = rng.choice([*UNBOUNDED[:2] * 4, *(UNBOUNDED if self.type is INT else ARITHMETIC)])
        by_number = op not in UNBOUNDED[:5] or (op == "mul" and self.type is INT)  # squares of squares are too long
        other = constant(self.type, rng.choice([1, 2, 3, 4, 8, 15])) if by_number else self.number(depth - 1)
        return term(op, self.number(depth - 1), other)

    def condition(self, depth=1):
        rng = self.rng
        if rng.random() < 0.2:
            return rng.choice([self.flag, term("not", self.flag)])
        if depth and rng.random() < 0.3:
            op = rng.choice(["and", "or", "implies", "xor"])
            return term(op, self.condition(depth - 1), self.condition(depth - 1))
        return term(rng.choice(COMPARISONS), self.number(depth), self.number(depth))

    def edge(self):
        chosen = self.rng.sample(self.numbers, self.rng.randrange(1, 3))
        step = [(v, term("add", v, self.number(1)) if self.rng.random() < 0.7 else self.number()) for v in chosen]
        guard = self.condition() if self.rng.random() < 0.4 else TRUE
        if self.rng.random() < 0.1:
            step.append((self.flag, self.condition()))
        return Edge("q", "q", guard, tuple(step))


def executed(steps, values, times):
    """The values after the rounds, one by one. None if a condition is false on the way."""
    for _ in range(times):
        for edge, chosen in steps:
            results = evaluate(edge.roots(), {**values, **chosen})
            if results[edge.guard] is not True:
                return None
            values = {**values, **{v: results[t] for v, t in edge.updates}}
    return values


@pytest.mark.parametrize("type", [INT, *(machine(w, signed=s) for w in (8, 16, 32) for s in (True, False))], ids=str)
def test_rounds_at_once_are_rounds_one_by_one(type):
    whole, known, refused = 0, 0, 0
    for seed in range(400):
        rng = random.Random(seed)
        terms = RandomTerms(rng, type)
        steps = [(terms.edge(), {}) for _ in range(rng.randrange(1, 4))]
        values = {v: rng.randrange(0, 6) for v in terms.numbers} | {terms.flag: rng.random() < 0.5}
        times = rng.choice([7, 20, 60, 100])
        truth, claimed = executed(steps, values, times), repeat(steps, values, times)
        if isinstance(claimed, str):
            refused += truth is not None
            continue
        assert truth is not None, seed
        assert claimed.items() <= truth.items(), seed
        whole += len(claimed) == len(truth)
        known += 1
    assert whole > 40 and known > whole and refused < 120, (whole, known, refused)


def test_what_is_known_of_terms_is_true_in_every_round():
    decided = 0
    for seed in range(3_000):
        rng = random.Random(seed)
        type = rng.choice([INT, machine(8, signed=True), machine(8, signed=False), machine(16, signed=True)])
        terms, times = RandomTerms(rng, type), rng.choice([1, 2, 9, 30])
        series = {v: tuple(rng.randrange(-3 if k else 0, 4) for k in range(rng.randrange(1, 4))) for v in terms.numbers}
        low, high = (-(10**9), 10**9) if type is INT else (type.low, type.high)
        values = [{v: at(form, i) for v, form in series.items()} for i in range(times)]
        if not all(low <= value <= high for row in values for value in row.values()):
            continue
        node = terms.condition() if seed % 2 else terms.number()
        result = over([node], {**series, terms.flag: (True,)}, times)[node]
        if result is not None:
            decided += 1
            truth = [evaluate([node], {**row, terms.flag: True})[node] for row in values]
            assert [at(result, i) for i in range(times)] == truth, seed
    assert decided > 800


def at(form, i):
    total, binomial = form[0], 1
    for k, factor in enumerate(form[1:]):
        binomial = binomial * (i - k) // (k + 1)
        total += factor * binomial
    return total


def test_a_counter_that_wraps_around_on_the_way_is_not_known():
    byte = machine(8, signed=False)
    x, y = variable("x", byte), variable("y", INT)
    step = Edge("q", "q", updates=((x, term("add", x, constant(byte, 3))), (y, term("add", y, constant(INT, 1)))))
    assert repeat([(step, {})], {x: 0, y: 0}, 85) == {x: 255, y: 85}
    assert repeat([(step, {})], {x: 0, y: 0}, 86) == {y: 86}
    below = Edge("q", "q", guard=term("lt", x, constant(byte, 250)), updates=step.updates)
    assert isinstance(repeat([(below, {})], {x: 0, y: 0}, 85), str)
    assert repeat([(below, {})], {x: 0, y: 0}, 84) == {x: 252, y: 84}


def test_sums_of_sums_have_a_degree():
    xs = [variable(f"x{i}", INT) for i in range(DEGREE + 2)]
    updates = [(xs[0], term("add", xs[0], constant(INT, 1)))]
    updates += [(b, term("add", b, a)) for a, b in pairwise(xs)]
    found = repeat([(Edge("q", "q", updates=tuple(updates)), {})], dict.fromkeys(xs, 0), 1_000_000)
    n = 1_000_000
    assert found[xs[1]] == n * (n - 1) // 2 and found[xs[2]] == n * (n - 1) * (n - 2) // 6
    assert set(found) == set(xs[:DEGREE])


# The engine

FAR = {
    "steps of two": ("unsigned x = 0; while (x < 0x0fffffff) x += 2; __VERIFIER_assert(x % 2);", True),
    "steps of two, right": ("unsigned x = 0; while (x < 0x0fffffff) x += 2; __VERIFIER_assert(!(x % 2));", False),
    "down": ("int x = 2000000; while (x > 0) x -= 3; __VERIFIER_assert(x != -1);", True),
    "phases": (
        "unsigned x = 0, y = 0; while (x < 1000000) { if (x < 500000) y++; else y--; x++; } __VERIFIER_assert(y != 0);",
        True,
    ),
    "a sum": (
        "unsigned long s = 0, i; for (i = 0; i < 3000000; i++) s += i; __VERIFIER_assert(s != 4499998500000);",
        True,
    ),
    "a sum, right": (
        "unsigned long s = 0, i; for (i = 0; i < 3000000; i++) s += i; __VERIFIER_assert(s == 4499998500000);",
        False,
    ),
    "nested": (
        "unsigned x = 0, y; while (x < 0x0fffffff) { y = 0; while (y < 10) y++; x++; } __VERIFIER_assert(!(x % 2));",
        True,
    ),
    "an input": (
        "int n = __VERIFIER_nondet_int(), i = 0, s = 0; while (i < n) { i++; s += 3; } "
        "__VERIFIER_assert(s != 6000000);",
        True,
    ),
    "an input in the loop": (
        "int i = 0, s = 0; while (i < 1000000) { if (__VERIFIER_nondet_int()) s += 2; i++; } "
        "__VERIFIER_assert(s != 1234568);",
        True,
    ),
    "in turns": (
        "unsigned x = 0, y = 0; while (x < 1000000) { if (x % 2) y += 3; x++; } __VERIFIER_assert(y != 1500000);",
        True,
    ),
    "overflow": ("int x = 1; while (x != 0) x += 2; __VERIFIER_assert(0);", False),
    "around": ("unsigned x = 1; while (x) x++; __VERIFIER_assert(x);", True),
    "two loops": (
        "unsigned x = 0, y = 0; while (x < 70000) x++; while (y < x) y += 7; __VERIFIER_assert(y != 70000);",
        True,
    ),
    "not computed": (
        "unsigned h = 1, i; for (i = 0; i < 5000000; i++) h = h * 31 + i; __VERIFIER_assert(i != 5000000);",
        True,
    ),
}


def prove(folder, text, *args):
    path = folder / "p.c"
    path.write_text(f"int main(void) {{ {text} }}\n")
    command = [COMMAND, "prove", str(path), "--json", "--prop", "assert*", *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode in (0, 1, 3), done.stderr
    (found,) = json.loads(done.stdout)["properties"]
    return found


@pytest.mark.parametrize("name", FAR)
def test_violations_after_many_rounds(tmp_path, name):
    text, broken = FAR[name]
    found = prove(tmp_path, text, "--engine", "acceleration", "--timeout", "60" if broken else "4")
    assert found["verdict"] == ("falsified" if broken else "unknown"), found
    if broken:
        assert found["counterexample"]["length"] > 10_000
        assert len(found["counterexample"]["path"]) < 2_000


def test_the_rounds_are_shown_saved_and_checked_again(tmp_path):
    text, _ = FAR["phases"]
    saved = tmp_path / "saved"
    found = prove(tmp_path, text, "--engine", "acceleration", "--certificates", str(saved))
    rounds = [row for row in found["counterexample"]["path"] if row["statement"] == "rounds"]
    assert [row["times"] for row in rounds] == [499_999, 499_999]
    assert rounds[0]["values"] == {"x": 500_000, "y": 500_000} and rounds[1]["values"] == {"x": 1_000_000, "y": 0}
    command = [COMMAND, "prove", str(tmp_path / "p.c"), "--engine", "acceleration", "--prop", "assert*"]
    shown = subprocess.run(command, capture_output=True, text=True)
    assert "499,999 more times the same" in shown.stdout
    (file,) = saved.iterdir()
    checked = [COMMAND, "check", str(file)]
    assert subprocess.run(checked, capture_output=True).returncode == 0
    data = json.loads(file.read_text())
    for number, by in ((0, 1), (0, -1), (1, 1), (1, -400_000)):
        changed = json.loads(json.dumps(data))
        changed["rounds"][number][2] += by
        file.write_text(json.dumps(changed))
        assert subprocess.run(checked, capture_output=True).returncode == 4
    data["rounds"][0][3]["y"] += 1
    file.write_text(json.dumps(data))
    assert subprocess.run(checked, capture_output=True).returncode == 4


def test_rounds_have_to_be_a_loop_of_the_program(tmp_path):
    text = "unsigned x = 0; while (x < 90) x++; __VERIFIER_assert(x != 90);"
    (tmp_path / "p.c").write_text(f"int main(void) {{ {text} }}\n")
    program, _ = read_c(str(tmp_path / "p.c"), "c")
    claim = claim_named(program, program.properties[0].name)
    (model, *_) = views(program)
    events = Acceleration().run(Task(model.system, program=model.automaton), list)
    path = model.back(next(e.trace for e in events if isinstance(e, Falsified)))
    assert not isinstance(replay_path(program, claim, path), str | Inconsistent)
    (rounds,) = path.rounds
    for begin, end in ((rounds.begin - 1, rounds.end), (rounds.begin, rounds.end - 1)):
        moved = EdgePath(path.initial, path.edges, (Rounds(begin, end, rounds.times, {}),))
        assert isinstance(replay_path(program, claim, moved), str | Inconsistent)
    for wrong in ([(2, 2, 1)], [(0, 1, 0)], [(1, 3, 1), (2, 4, 1)], [(0, 99, 1)]):
        with pytest.raises(ValueError, match="rounds"):
            EdgePath(path.initial, path.edges, tuple(Rounds(*r, {}) for r in wrong))


@pytest.mark.parametrize("seed", range(16))
def test_random_loops_end_as_they_do_when_executed(tmp_path, seed):
    """A claim about the values in the end that is false, and one that is true."""
    rng = random.Random(seed)
    limit, turn = rng.randrange(20, 400), rng.randrange(0, 300)
    a, b, c = (rng.randrange(-3, 5) for _ in range(3))
    d = b + 1  # if both branches did the same, rounds of the large block would follow different statements
    grows = rng.randrange(1, 4)
    x, y, z = 0, 5, 0
    while x < limit:
        if x < turn:
            y, z = y + a, z + b
        else:
            y, z = y + c, z + d
        x += grows
    text = (
        f"int x = 0, y = 5, z = 0; while (x < {limit}) {{ if (x < {turn}) {{ y += {a}; z += {b}; }} "
        f"else {{ y += {c}; z += {d}; }} x += {grows}; }} "
    )
    found = {}
    for name, claim in (("false", f"y != {y} || z != {z}"), ("true", f"y == {y} && z == {z} && x == {x}")):
        path = tmp_path / f"{name}.c"
        path.write_text(f"int main(void) {{ {text} __VERIFIER_assert({claim}); }}\n")
        program, _ = read_c(str(path), "math")
        found[name] = decide_claim(program)
    assert isinstance(found["false"], Falsified) and found["true"] is None


def decide_claim(program):
    (claim,) = (p for p in program.properties if p.name.startswith("assert"))
    (model, *_) = views(program)
    events = Acceleration().run(Task(model.system, 20_000_000, program=model.automaton), list)
    for event in events:
        if isinstance(event, Progress) and event.depth > 5:
            return None
        if isinstance(event, Falsified) and event.prop == claim.name:
            assert not isinstance(replay_path(program, claim, model.back(event.trace)), str | Inconsistent)
            return event
    return None


def test_loops_at_two_places_that_never_meet_have_no_closed_form_together():
    cfa = automaton("a", "bad", "a -> b: x := 0", "b -> b: x := x * 2", "b -> bad: x > 5")
    (model, *_) = views(cfa)
    assert decide(cfa, ("acceleration",), model) is None
