"""Programs' arrays by a few of their cells: against explicit search, on real loops, and certificates that lie."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from program_search import W2, random_array_automaton, shortest, values
from test_programs import decide

from streamcheck.certify.cells import instances
from streamcheck.certify.check import Checker
from streamcheck.certify.locations import _judge
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import BOOL, DOUBLE, INT, REAL, array_of, enum_of, machine
from streamcheck.engines.protocol import Task
from streamcheck.frontends.minic.read import read_c
from streamcheck.invariants.passed import PassedElements
from streamcheck.problem.certificate_json import proof_from_plain, proof_to_plain
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.run.kept import replay_in
from streamcheck.run.registry import build
from streamcheck.run.source import Target, read
from streamcheck.run.workers import Turns
from streamcheck.transform.views import views

__all__ = ["PassedElements"]


def over_cells(cfa, **options):
    found = [model for model in views(cfa, **options) if model.model == "cells"]
    return found[0] if found else None


def first_verdict(model, engines, rounds=15):
    found = []

    def tell(_, event):
        if isinstance(event, Proved | Falsified):
            found.append(event)

    turns = Turns(lambda: build(engines), Task(model.system, program=model.automaton))
    for _ in range(rounds):
        if found or turns.round(tell) or not turns.running:
            break
    return found[0] if found else None


@pytest.mark.parametrize("engines", [("elements",), ("ic3",), ("bmc",)], ids="+".join)
def test_proofs_over_cells_are_right_and_violations_replay_or_count_for_nothing(engines):
    proved = falsified = spurious = 0
    for seed in range({"bmc": 30, "ic3": 50, "elements": 150}[engines[0]]):
        cfa = random_array_automaton(random.Random(seed))
        model = over_cells(cfa, blocks=seed % 3 != 0)
        if model is None or (verdict := first_verdict(model, engines)) is None:
            continue
        if isinstance(verdict, Proved):
            assert shortest(cfa) is None, seed
            assert Checker(cfa).check("safe", model.back(verdict.certificate)) is None, seed
            proved += 1
            continue
        _, shown = replay_in(cfa, model, verdict)
        if hasattr(shown, "statements"):
            assert shortest(cfa) is not None
            falsified += 1
        else:
            spurious += 1
    assert proved >= (0 if engines == ("bmc",) else 2), (proved, falsified, spurious)
    assert falsified > spurious or engines == ("elements",)


def test_an_array_that_is_read_in_many_places_is_not_taken_apart(tmp_path):
    """Each element is a case of its own in each of these places."""

    def models(reads):
        places = " ".join(f"s ^= a[i + {j}];" for j in range(reads))
        path = tmp_path / f"sum{reads}.c"
        path.write_text(
            "extern unsigned __VERIFIER_nondet_uint(void);\nextern void reach_error(void);\nunsigned a[2000];\n"
            "int main(void) {\n  unsigned s = 0, i = __VERIFIER_nondet_uint();\n"
            "  for (int k = 0; k < 2000; k++) a[k] = __VERIFIER_nondet_uint();\n"
            f"  if (i > 1900) return 0;\n  {places}\n  if (s > 9000) reach_error();\n  return 0;\n}}\n"
        )
        return {model.model for model in views(read(Target.parse(str(path)))[0])}

    assert models(60) == {"cells"}
    assert {"cells", "bits"} <= models(1)


def test_engines_over_arrays_taken_apart_agree_with_explicit_search():
    for seed in range(12):
        cfa = random_array_automaton(random.Random(seed))
        for model in views(cfa):
            if model.model != "cells":
                verdict = decide(cfa, ("bmc", "k-induction"), model)
                assert verdict is None or isinstance(verdict, Falsified) == (shortest(cfa) is not None)


def random_condition(rng, a, b, i):
    def index():
        return rng.choice([i, constant(W2, rng.randint(0, 3)), term("index", a, i)])

    def array(depth):
        if depth == 0:
            return rng.choice([a, a, constant(a.type, (1, 0, 1))])
        if rng.random() < 0.3:
            return term("mux", condition(0), array(depth - 1), array(depth - 1))
        return term("update", array(depth - 1), index(), value(depth - 1))

    def value(depth):
        kind = rng.randrange(4)
        if kind == 0:
            return index()
        if kind == 1:
            row = rng.choice([b, term("update", b, index(), term("index", b, index()))])
            return term("mux", term("index", term("index", row, index()), index()), constant(W2, 1), constant(W2, 3))
        return term("index", array(depth), index())

    def condition(depth):
        return term(rng.choice(["eq", "ne", "lt"]), value(depth), value(depth))

    return [condition(2) for _ in range(rng.randint(1, 4))]


@pytest.mark.parametrize("seed", range(60))
def test_the_checker_reads_arrays_as_they_are(seed):
    """A condition has a solution over elements exactly if it has one over arrays."""
    rng = random.Random(seed)
    a, b, i = variable("a", array_of(W2, 3)), variable("b", array_of(array_of(BOOL, 2), 2)), variable("i", W2)
    parts = random_condition(rng, a, b, i)
    whole = TRUE
    for part in parts:
        whole = term("and", whole, part)
    solvable = any(
        value_of(whole, {a: x, b: y, i: n}) for x in values(a.type) for y in values(b.type) for n in values(W2)
    )
    assert (_judge(instances(TRUE, (), whole), "a test") is not None) == solvable


FILLED = """
int a[1000], b[1000];
int main(void) {
    int i;
    for (i = 0; i < 1000; i++) a[i] = 7;
    for (i = 0; i < 1000; i++) b[i] = a[i] + i;
    for (i = 0; i < 1000; i++) assert(b[i] == 7 + i);
}
"""
MAXIMUM = """
int a[1000];
int main(void) {
    int i, most = 0;
    for (i = 0; i < 1000; i++) a[i] = nondet_int();
    for (i = 0; i < 1000; i++) if (a[i] > most) most = a[i];
    for (i = 0; i < 1000; i++) assert(a[i] <= most);
}
"""
TEXT = """
int main(void) {
    char s[1000];
    unsigned i;
    int n = nondet_int();
    if (n < 0 || n > 999) return 0;
    for (i = 0; i < n; i++) { char c = nondet_int(); if (c < 'a' || c > 'z') c = 'a'; s[i] = c; }
    s[n] = 0;
    for (i = 0; s[i] != 0; i++) assert(s[i] >= 'a' && s[i] <= 'z');
}
"""
MATRIX = """
int m[100][100];
int main(void) {
    int i, j;
    for (i = 0; i < 100; i++) for (j = 0; j < 100; j++) m[i][j] = i + j;
    for (i = 0; i < 100; i++) for (j = 0; j < 100; j++) assert(m[i][j] >= i);
}
"""


def proofs_of(tmp_path, text, engine="elements"):
    path = tmp_path / "p.c"
    path.write_text("extern int nondet_int(void);\nextern void assert(int);\n" + text)
    program, _ = read_c(str(path), "c")
    (model,) = [m for m in views(program) if m.model == "cells"]
    found = {}
    turns = Turns(lambda: build([engine]), Task(model.system, program=model.automaton))
    for _ in range(20):
        if turns.round(
            lambda _, e: found.update({e.prop: model.back(e.certificate)}) if isinstance(e, Proved) else None
        ):
            break
    return program, found


@pytest.mark.parametrize("text", [FILLED, MAXIMUM, TEXT, MATRIX], ids=["filled", "max", "text", "matrix"])
def test_loops_over_arrays_are_proved_for_every_element(tmp_path, text):
    program, found = proofs_of(tmp_path, text)
    (name,) = [p.name for p in program.properties if p.name.startswith("assert")]
    assert found[name].any
    again = proof_from_plain(proof_to_plain(found[name]))
    assert again == found[name]
    assert Checker(program).check(name, again) is None


COUNTED = """
int main(void) {
    int i, n = nondet_int();
    int a[100];
    if (n <= 0 || n > 100) return 0;
    for (i = 0; i < n; i++) a[i] = i;
    for (i = 0; i < n; i++) assert(a[i] == i);
}
"""


def test_a_proof_contains_what_other_engines_have_shown(tmp_path):
    """2026-11-20: invariants of ic3 were assumed, and the certificate was without them."""
    path = tmp_path / "p.c"
    path.write_text("extern int nondet_int(void);\nextern void assert(int);\n" + COUNTED)
    program, _ = read_c(str(path), "c")
    (model,) = [m for m in views(program) if m.model == "cells"]
    proofs = []
    turns = Turns(lambda: build(["elements", "ic3"]), Task(model.system, program=model.automaton))
    for _ in range(60):
        if turns.round(lambda name, e: proofs.append((name, e)) if isinstance(e, Proved) else None):
            break
    assert any(name == "elements" for name, _ in proofs)
    for name, proof in proofs:
        assert Checker(program).check(proof.prop, model.back(proof.certificate)) is None, name


@pytest.mark.parametrize(
    ("old", "new"),
    [("a[i] = 7", "a[i] = i < 999 ? 7 : 8"), ("i < 1000; i++) a", "i < 999; i++) a"), ("b[i] == 7", "b[i] == 8")],
)
def test_a_proof_of_another_program_is_refused(tmp_path, old, new):
    _, found = proofs_of(tmp_path, FILLED)
    assert old in FILLED
    other, _ = proofs_of(tmp_path, FILLED.replace(old, new))
    (name,) = [n for n in found if n.startswith("assert")]
    assert Checker(other).check(name, found[name]) is not None


def test_certificates_that_lie_are_refused(tmp_path):
    program, found = proofs_of(tmp_path, FILLED)
    (name,) = [n for n in found if n.startswith("assert")]
    proof = found[name]
    check = Checker(program).check
    for i, (place, _) in enumerate(proof.at):
        nothing_there = (*proof.at[:i], (place, FALSE), *proof.at[i + 1 :])
        assert check(name, replace(proof, at=nothing_there)) is not None
    (k,) = proof.any
    taken = next(v for v in program.variables if str(v.payload).endswith("i"))
    assert check(name, replace(proof, any=())) is not None  # k is nobody's then
    assert check(name, replace(proof, any=(k, taken))) is not None  # a variable of the program has one value only
    assert check(name, replace(proof, any=(k, variable("takes:0@start", BOOL)))) is not None


def test_what_a_certificate_chooses_are_values_of_indexes(tmp_path):
    """A zero is a value of each of their types, and indexes of two types are never compared."""
    program, found = proofs_of(tmp_path, FILLED)
    (name,) = [n for n in found if n.startswith("assert")]
    proof = found[name]
    array = next(v for v in program.variables if v.type.kind == "array")
    check = Checker(program).check
    for type in (enum_of("E", (("A", 3), ("B", 4))), array.type, DOUBLE, REAL):
        wrong = variable("e", type)
        assert check(name, replace(proof, any=(*proof.any, wrong))) is not None
    k, i = variable("k", INT), variable("k1'", machine(64, signed=True))
    mixed = term("eq", term("index", array, k), term("index", array, i))
    rejected = check(name, replace(proof, at=tuple((q, mixed) for q, _ in proof.at), any=(k, i)))
    assert rejected is not None and "two types" in rejected.why
