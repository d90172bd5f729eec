"""Programs with a location for each combination of modes: against explicit search, and on threads of a scheduler."""

from __future__ import annotations

import random

import pytest
from program_search import random_moded_automaton, shortest
from test_cells import first_verdict
from test_programs import decide

from streamcheck.certify.automata import scalar_automaton
from streamcheck.certify.check import Checker
from streamcheck.engines.protocol import Task
from streamcheck.frontends.minic.read import read_c
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.run.registry import build
from streamcheck.run.workers import Turns
from streamcheck.transform import modes as unfolding
from streamcheck.transform.modes import modes_of
from streamcheck.transform.views import views


def in_modes(cfa):
    return next((model for model in views(cfa) if model.model == "modes"), None)


@pytest.mark.parametrize("engines", [("lifted-pdr",), ("dfs-bmc",)], ids="+".join)
def test_engines_over_modes_agree_with_explicit_search(engines):
    proved = falsified = 0
    for seed in range(25):
        cfa = random_moded_automaton(random.Random(seed))
        model = in_modes(cfa)
        if model is None or (verdict := decide(cfa, engines, model, rounds=20)) is None:
            continue
        assert isinstance(verdict, Falsified) == (shortest(cfa) is not None), seed
        proved, falsified = proved + isinstance(verdict, Proved), falsified + isinstance(verdict, Falsified)
    assert falsified >= 1 and (proved >= 3 or engines == ("dfs-bmc",)), (proved, falsified)


THREADS = """
extern void assert(int);
extern int nondet_int(void);
int turn = 0, a_at = 0, b_at = 0, a_ready = 1, b_ready = 0, token, copy;
void a(void) {
    if (a_at == 0) {
        token = nondet_int();
        if (token > 1000) token = 0;
        copy = token;
        a_at = 1;
        b_ready = 1;
        a_ready = 0;
    } else {
        assert(token == copy + 1);
        a_at = 0;
    }
}
void b(void) {
    if (b_at == 0) b_at = 1;
    token = token + 1;
    a_ready = 1;
    b_ready = 0;
}
int main(void) {
    while (1) {
        if (a_ready && nondet_int()) a();
        if (b_ready && nondet_int()) b();
    }
}
"""


def test_threads_of_a_scheduler_are_proved_state_by_state(tmp_path):
    path = tmp_path / "threads.c"
    path.write_text(THREADS)
    program, _ = read_c(str(path), "c")
    model = in_modes(program)
    assert {str(v.payload) for v in modes_of(program)} >= {"a_at", "b_at", "a_ready", "b_ready"}
    assert len(model.automaton.locations) > len(views(program)[0].automaton.locations)
    found = {}

    def tell(_, event):
        if isinstance(event, Proved):
            found[event.prop] = model.back(event.certificate)

    turns = Turns(lambda: build(["lifted-pdr"]), Task(model.system, program=model.automaton))
    for _ in range(200):
        if turns.round(tell) or not turns.running:
            break
    (claim,) = [p.name for p in program.properties if p.name.startswith("assert")]
    assert Checker(program).check(claim, found[claim]) is None


def test_a_wrong_unfolding_proves_nothing(monkeypatch):
    """Without the edges to the error, engines prove what is false, and the checker refuses it."""
    follow = unfolding._Unfolding._follow

    def forgets(self, edge, number, here, target, guard, updates):
        if edge.target not in self.automaton.bad:
            follow(self, edge, number, here, target, guard, updates)

    refused = 0
    for seed in range(40):
        cfa = random_moded_automaton(random.Random(seed))
        if shortest(cfa) is None:
            continue
        with monkeypatch.context() as planted:
            planted.setattr(unfolding._Unfolding, "_follow", forgets)
            model = in_modes(cfa)
        verdict = None if model is None else first_verdict(model, ("lifted-pdr",))
        if isinstance(verdict, Proved):
            assert Checker(cfa).check("safe", model.back(verdict.certificate)) is not None
            refused += 1
    assert refused > 0


def test_too_many_combinations_are_left_alone(monkeypatch):
    cfa = next(c for c in map(random_moded_automaton, map(random.Random, range(9))) if in_modes(c) is not None)
    monkeypatch.setattr(unfolding, "MOST_PLACES", 3)
    assert in_modes(cfa) is None


def test_choices_of_a_thousand_elements_are_read(tmp_path):
    file = tmp_path / "a.c"
    file.write_text("int a[1000], r; int main(void) { int i = nondet_int(); if (i >= 0 && i < 1000) r = a[i]; }")
    scalar = scalar_automaton(read_c(str(file), "c")[0])
    assert modes_of(scalar)
