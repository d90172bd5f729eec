"""Loops unwound to their end: the engine, and what the checker makes of its certificates."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from dataclasses import replace
from functools import partial, reduce
from itertools import product
from pathlib import Path

import pytest
from program_search import S2, W2, automaton, random_automaton
from test_programs import decide, shortest

from streamcheck.certify.check import Checker
from streamcheck.certify.locations import check_locations
from streamcheck.certify.well_formed import MOST_STEPS
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, INT
from streamcheck.engines.cfa.unwinding import MOST_ROUNDS
from streamcheck.problem.automaton import Edge
from streamcheck.problem.certificate_json import proof_from_plain, proof_to_plain
from streamcheck.problem.certificate_shape import require_proof_shape
from streamcheck.problem.shapes import Damage
from streamcheck.problem.verdict import Certificate, Falsified, LocationInvariants, Proved, Unmappable
from streamcheck.transform.reducible import is_reducible
from streamcheck.transform.views import views

COMMAND = str(Path(sys.executable).parent / "streamcheck")
READ = "extern unsigned char byte(void);\nextern int number(void);\n"
SORT = """
unsigned char a[4];
for (int i = 0; i < 4; i++) a[i] = byte();
for (int i = 0; i < LAST; i++)
    for (int j = 0; j < 3 - i; j++)
        if (a[j] > a[j + 1]) { unsigned char t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
for (int i = 0; i < 3; i++) __VERIFIER_assert(a[i] <= a[i + 1]);"""


def prove(folder, text, *args):
    path = folder / "p.c"
    path.write_text(f"{READ}int main(void) {{ {text} }}\n")
    command = [COMMAND, "prove", str(path), "--json", "--prop", "assert*", "--engine", "unwinding", *args]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode in (0, 1, 3), done.stderr
    return [p["verdict"] for p in json.loads(done.stdout)["properties"]]


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        pytest.param(SORT.replace("LAST", "3"), "proved", id="sorted"),
        pytest.param(SORT.replace("LAST", "2"), "falsified", id="a round too few"),
        pytest.param(
            "unsigned n = byte() % 5, s = 0; for (int i = 0; i < n; i++) s += byte(); __VERIFIER_assert(s <= 1020);",
            "proved",
            id="a bound that only the solver sees",
        ),
        pytest.param(
            "int x = number(), y; for (int i = 0; i < 2; i++) { y = x; x = number(); } __VERIFIER_assert(x == y);",
            "falsified",
            id="each round reads anew",
        ),
        pytest.param(
            "unsigned h = 7; for (int i = 0; i < 4; i++) h = h * 31u + byte(); __VERIFIER_assert(h != 6541112u);",
            "falsified",
            id="a hash",
        ),
    ],
)
def test_loops_with_an_end(tmp_path, text, verdict):
    assert prove(tmp_path, text, "--timeout", "60") == [verdict]


def test_the_saved_proof_is_checked_again_and_is_one_of_this_program(tmp_path):
    sorts = SORT.replace("LAST", "3")
    assert prove(tmp_path, sorts, "--timeout", "60", "--certificates", str(tmp_path / "saved")) == ["proved"]
    (file,) = (tmp_path / "saved").iterdir()
    check = [COMMAND, "check", str(file)]
    assert subprocess.run(check, capture_output=True).returncode == 0
    evidence = json.loads(file.read_text())
    (tmp_path / "saved" / file.name).write_text(json.dumps(evidence).replace('"rounds": ', '"rounds": 1, "was": '))
    assert subprocess.run(check, capture_output=True).returncode == 4
    file.write_text(json.dumps(evidence))
    (tmp_path / "p.c").write_text((tmp_path / "p.c").read_text().replace("i < 3; i++)\n", "i < 2; i++)\n"))
    assert subprocess.run(check, capture_output=True).returncode not in (0, 2)


COUNTER = automaton("a", "bad", "a -> b: x := 0", "b -> b: x := x + 1", "b -> c: x == 3", "c -> bad: x != 3", type=W2)
THREE = automaton("a", "bad", "a -> b: x := 0", "b -> d: x < 3", "d -> b: x := x + 1", "b -> bad: x > 3")


@pytest.mark.parametrize(("rounds", "holds"), [(1, False), (3, False), (4, True), (5, True), (10_000, True)])
def test_the_rounds_have_to_suffice(rounds, holds):
    """The fourth begins with x = 3, and does not go on."""
    found = Checker(THREE).check("safe", LocationInvariants((), rounds=rounds))
    assert (found is None) == holds, found


def test_a_loop_without_an_end_has_no_such_proof():
    assert shortest(COUNTER) is None
    assert Checker(COUNTER).check("safe", LocationInvariants((), rounds=6)) is not None


def test_copies_of_choices_have_names_that_the_program_does_not_use():
    """The second value that is read may differ from all variables with names like those of copies."""
    lines = ["a -> b: f := 0", "b -> c: havoc x", "c -> d: f == 0", "d -> b: f := 1", "c -> bad: f == 1"]
    program = automaton("a", "bad", *lines)
    x = variable("x", INT)
    named = tuple(variable(f"any 1 {n}", INT) for n in range(8))
    differs = reduce(partial(term, "and"), (term("ne", x, v) for v in named))
    edges = (*program.edges[:-1], replace(program.edges[-1], guard=term("and", program.edges[-1].guard, differs)))
    program = replace(program, variables=(*program.variables, *named), edges=edges)
    for rounds in range(1, 7):
        assert Checker(program).check("safe", LocationInvariants((), rounds=rounds)) is not None
    never = replace(edges[-1], guard=term("and", edges[-1].guard, term("ne", x, x)))
    safe = replace(program, edges=(*edges[:-1], never))
    assert Checker(safe).check("safe", LocationInvariants((), rounds=2)) is None


@pytest.mark.parametrize("seed", range(150))
def test_no_number_of_rounds_proves_what_is_false(seed):
    rng = random.Random(seed)
    cfa = random_automaton(rng, locations=rng.randint(3, 6), type=rng.choice([W2, S2]))
    truth = shortest(cfa)
    accepted = [n for n in (1, 2, 3, 6, 12) if check_locations(cfa, "bad", {}, n) is None]
    assert not (accepted and truth is not None)
    assert accepted in [[], [1, 2, 3, 6, 12][5 - len(accepted) :]]  # more rounds prove no less


def test_programs_that_end_are_decided():
    """A third number counts edges, of which no run takes more than six."""
    decided = 0
    fuel, one = variable("fuel", INT), constant(INT, 1)
    left, less = term("lt", fuel, constant(INT, 6)), (fuel, term("add", fuel, one))
    for seed in range(40):
        cfa = random_automaton(random.Random(1000 + seed), locations=4)
        edges = [replace(e, guard=term("and", e.guard, left), updates=(*e.updates, less)) for e in cfa.edges]
        start = Edge("start", cfa.entry, updates=((fuel, constant(INT, 0)),))
        places = ("start", *cfa.locations)
        cfa = replace(cfa, variables=(*cfa.variables, fuel), locations=places, entry="start", edges=(start, *edges))
        verdict = decide(cfa, ("unwinding",), views(cfa, blocks=seed % 2 == 0)[0])
        if verdict is not None:
            decided += 1
            assert isinstance(verdict, Falsified) == (breaks(cfa)), (seed, verdict)
    assert decided > 20


def breaks(cfa):
    """Whether a run reaches the error, from all values of the small variables."""
    *small, fuel = cfa.variables
    zero = {v: range(v.type.low, v.type.high + 1) for v in small}
    states = {(cfa.entry, *values, 0) for values in product(*zero.values())}
    waiting = list(states)
    while waiting:
        here, *values = waiting.pop()
        for edge in cfa.edges_from[here]:
            ranges = [range(c.type.low, c.type.high + 1) if c.type is not BOOL else (False, True) for c in edge.choices]
            for chosen in product(*ranges):
                now = dict(zip((*small, fuel, *edge.choices), (*values, *chosen), strict=True))
                if value_of(edge.guard, now) is True:
                    if edge.target == "bad":
                        return True
                    after = edge.target, *(value_of(edge.update.get(v, v), now) for v in (*small, fuel))
                    if after not in states:
                        states.add(after)
                        waiting.append(after)
    return False


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (("a -> b: skip", "b -> c: skip", "c -> b: skip", "c -> bad: skip"), True),
        (("a -> b: skip", "b -> a: skip", "b -> b: skip", "b -> bad: skip"), True),
        (("a -> b: skip", "a -> c: skip", "b -> c: skip", "c -> b: skip", "c -> bad: skip"), False),
        (("a -> b: skip", "b -> c: skip", "c -> b: skip", "c -> d: skip", "d -> a: skip", "d -> bad: skip"), True),
    ],
)
def test_loops_with_one_entry(lines, expected):
    assert is_reducible(automaton("a", "bad", *lines)) == expected


INNER = ["a -> b: i := 0", "b -> e: i >= 4", "e -> bad: i > 4", "b -> c: i < 4", "c -> f: j := 0"]
INNER += ["h -> x: k := k + 1", "x -> y: j := j + 1", "y -> h: j < 3", "y -> z: j >= 3", "z -> b: i := i + 1"]


def test_rounds_of_blocks_are_not_those_of_statements_that_enter_a_loop_elsewhere():
    """No run gets from m to x, which the blocks see; in the checker's order x comes first, and each y -> h after it
    begins a round, so that it counts more of them."""
    cfa = automaton("a", "bad", *INNER, "f -> h: n >= 2", "f -> m: n < 2", "m -> h: n < 2", "m -> x: n >= 2")
    (model,) = views(cfa)
    assert is_reducible(model.automaton) and not is_reducible(cfa)
    with pytest.raises(Unmappable, match="other entries"):
        decide(cfa, ("unwinding",), model)
    cfa = automaton("a", "bad", *INNER, "f -> h: skip")
    assert isinstance(decide(cfa, ("unwinding",), views(cfa)[0]), Proved)


@pytest.mark.parametrize(
    "lines",
    [
        ("b -> c: x == 5", "c -> d: y := 0", "d -> bad: y > 3"),
        ("b -> c: x == 5", "c -> d: y := 0", "d -> bad: y > 3", "start -> bad: y != y"),
        ("b -> c: x == 5", "c -> d: y := 0", "d -> bad: y > 3", "start -> e: z == 7", "e -> bad: z > 7"),
    ],
)
def test_loops_to_an_error_that_blocks_exclude(lines):
    """No edge of the blocks leads from this loop to the error, but statements do, which the checker follows."""
    cfa = automaton("start", "bad", "start -> a: skip", "a -> b: x := 0", "b -> b: x := x + 1", *lines)
    left = term("lt", variable("x", INT), constant(INT, 5))
    edges = [replace(e, guard=left) if e.source == e.target else e for e in cfa.edges]
    cfa = replace(cfa, edges=tuple(edges))
    for model in views(cfa):
        assert isinstance(decide(cfa, ("unwinding",), model), Proved)


def test_the_engine_has_no_more_rounds_than_the_checker_reads():
    assert MOST_ROUNDS + 1 <= MOST_STEPS  # a proof says one more than the engine followed


def test_a_certificate_of_rounds_as_a_file():
    proof = LocationInvariants((), rounds=7)
    plain = json.loads(json.dumps(proof_to_plain(proof)))
    require_proof_shape(plain)
    assert proof_from_plain(plain) == proof and plain["rounds"] == 7
    assert "rounds" not in proof_to_plain(LocationInvariants(()))
    for damaged in (0, -1, "7", 1.5, True):
        with pytest.raises(Damage, match="rounds"):
            require_proof_shape(plain | {"rounds": damaged})


@pytest.mark.parametrize("rounds", [0, -3, 10_001, True])
def test_no_rounds_and_too_many_are_not_read(rounds):
    found = Checker(THREE).check("safe", LocationInvariants((), rounds=rounds))
    assert found is not None and "number of rounds" in found.why


def test_rounds_say_nothing_of_equations():
    found = Checker(THREE).check("safe", Certificate("unwound", 4, ()))
    assert found is not None and "not about one" in found.why
