"""Why a property has no verdict: a proof that was being checked, and states that were looked for, or were not."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import z3

from streamcheck import *
from streamcheck.core.simplify import conjunction, implication
from streamcheck.core.term import constant, term
from streamcheck.core.types import MachineType
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import Certificate, Proved
from streamcheck.report.verdicts import report
from streamcheck.report.verdicts_json import verdicts_json
from streamcheck.run.explain import NO_TIME, NOT_FOUND, Explainer
from streamcheck.run.prove import Settings, prove
from streamcheck.run.registry import ENGINES, EngineEntry
from streamcheck.run.undecided import FINISHED, UNCHECKED, Undecided
from streamcheck.smt.solver import NO_PROCEDURE, TOO_LONG, Solver

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """\
from streamcheck import *
n = extern("n", Word32)
x = stream(Word32, lambda x: [1] ++ ((x * x + n % 5) % 1000003))
spec = Spec("hard")
spec.prop("never", x != 77777)
"""
PRIME = 2**62 - 57


class HasAHardProof:
    """An invariant that no solver shows in a second: the prime is no product of two words."""

    name = "prover"

    def run(self, problem, inbox):
        a, b = problem.system.inputs[:2]
        if isinstance(a.type, MachineType):
            wide = [term("cast", v, payload=Word64.core) for v in (a, b)]
            proper = conjunction(*(term("gt", v, constant(v.type, 1)) for v in wide))
            prime = implication(proper, term("ne", term("mul", *wide), constant(Word64.core, PRIME)))
            for p in problem.system.properties:
                yield Proved(p.name, Certificate("inductive", 1, (p.term, prime)))


def words():
    a, b = extern("a", Word32), extern("b", Word32)
    n = stream(Word8, lambda n: [0] + +mux((a > b) & (n < 9), n + 1, n))
    spec = Spec("words")
    spec.prop("low", n <= 9)
    return flatten(spec)


@pytest.fixture
def hard_proof(monkeypatch):
    monkeypatch.setitem(ENGINES, "prover", EngineEntry("prover", "proves", "proving", lambda _: HasAHardProof()))


def test_a_proof_that_was_being_checked_is_the_reason(hard_proof):
    verdicts = prove(words(), Settings(engines=["prover"], timeout=2.0, explain=0.5))
    (low,) = verdicts.results
    assert low.unknown.provers == ("prover (bits)",) and low.unknown.reasons["prover (bits)"] == UNCHECKED
    text = "\n".join(report(verdicts))
    assert "timed out after 2 s; prover (bits) has a proof, which was not checked in time" in text
    assert "    to try: more time (--timeout)" in text and FINISHED + ": prover (bits)" not in text
    assert "from which it fails" not in text and f"{UNCHECKED}:" not in text
    (row,) = verdicts_json(verdicts, "words.py", {})["properties"]
    assert row["reasons"]["prover (bits)"] == UNCHECKED and "prover (bits)" not in row["running"]


def test_reasons_of_several_proofs_and_of_an_interruption():
    undecided = Undecided()
    undecided.add_reason(["p"], "k-induction", FINISHED)
    undecided.add_reason(["p"], "delays", FINISHED)
    unknown = undecided.verdict("p", ["ic3", "bmc"], "interrupted", ["k-induction", "ic3", "k-induction"])
    assert unknown.reason == "interrupted; k-induction and ic3 have proofs, which were not checked in time"
    assert unknown.running == ("bmc",)
    assert unknown.reasons == {"k-induction": UNCHECKED, "ic3": UNCHECKED, "delays": FINISHED}
    assert undecided.verdict("p", ["ic3"], "interrupted").reason == "interrupted"


def hard():
    logistic = stream(Double, lambda v: [0.3] + +(3.99 * v * (1.0 - v)))
    spec = Spec("hard")
    spec.prop("never", logistic < 0.99751)
    return flatten(spec)


@pytest.mark.parametrize("seconds", [0.0, 1.0])
def test_a_missing_state_says_how_long_it_was_looked_for(seconds):
    equations = hard()
    unknown, *_ = prove(equations, Settings(timeout=0.0)).results
    settings = Settings(timeout=0.0, engines=("bmc",))
    (explained,) = Explainer(equations, settings, seconds, []).explain([unknown])
    missing = explained.explanation.missing
    if not seconds:
        assert missing == NO_TIME
    else:
        spent = re.fullmatch(re.escape(NOT_FOUND).replace(r"\{seconds:\.1f\}", r"(\d\.\d)"), missing)
        assert spent and 0.5 < float(spent[1]) < 3.0, missing


def test_an_interruption_says_what_was_not_looked_for(tmp_path):
    path = tmp_path / "hard.py"
    path.write_text(SPEC)
    prove = subprocess.Popen([COMMAND, "prove", path, "--no-cache"], stdout=subprocess.PIPE, text=True)
    time.sleep(1.5)
    prove.send_signal(signal.SIGINT)
    out, _ = prove.communicate(timeout=20)
    assert prove.returncode == 130 and "  unknown    never  interrupted" in out
    assert f"    {NO_TIME}\n" in out and "the solver needs more time" not in out


@pytest.mark.parametrize(
    ("why", "reason"),
    [
        ("(incomplete (theory arithmetic))", NO_PROCEDURE),
        ("max. resource limit exceeded", TOO_LONG),
        ("canceled", TOO_LONG),
        ("smt tactic failed", "smt tactic failed"),
        ("", "the solver gave up"),
    ],
)
def test_a_solver_that_gives_up_says_so_in_words(why, reason):
    class GivesUp:
        def check(self, *literals):
            return z3.unknown

        def reason_unknown(self):
            return why

    solver = Solver()
    solver.z3 = GivesUp()
    assert solver.check() is None and solver.reason == reason
