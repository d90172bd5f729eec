"""`check --proofs`: cvc5's proofs of a certificate's conditions, and a checker of proofs that decides about them.

Ethos, the checker of cvc5's format, is used if it is there: ETHOS is its command, such as
`ethos --include=…/Cpc.eo --reference={formula} --reference-define-fun --require-proof-of-false {proof}`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from streamcheck.certify.solvers import cvc5, cvc5_proof
from streamcheck.run import proofs

COMMAND = Path(sys.executable).parent / "streamcheck"
ETHOS = os.environ.get("ETHOS", "")
SPEC = """
from streamcheck import *
a, b = extern("a", Word8), extern("b", Word8)
n = stream(Int, lambda n: [0] ++ (n + 2))
m = stream(Word8, lambda m: [0] ++ mux(m < 9, m + 1, 0))
r = stream(Real, lambda r: [0] ++ (r / 2 + 1))
spec = Spec("s")
spec.prop("even", n % 2 == 0)
spec.prop("below", m < 10)
spec.prop("real", r < 2)
spec.prop("bits", (a & b) <= (a | b))
spec.prop("false", m < 3)
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proofs")
    (folder / "s.py").write_text(SPEC)
    prove = [COMMAND, "prove", folder / "s.py", "--certificates", folder / "saved"]
    subprocess.run(prove, capture_output=True, check=False, cwd=folder)
    return folder / "saved"


def check(folder, *arguments):
    done = subprocess.run(
        [COMMAND, "check", *arguments], capture_output=True, text=True, cwd=folder, check=False, timeout=120
    )
    return done.returncode, done.stdout + done.stderr


def obligations(folder):
    return {path.name: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}


def test_each_condition_has_its_formula_and_its_proof(saved, tmp_path):
    files = sorted(saved.glob("*.json"))
    status, shown = check(saved, *files, "--proofs", tmp_path / "out")
    assert status == 0 and "s even proved: holds (3 of 3 proofs written)\n" in shown
    assert "s false falsified: holds\n" in shown  # a run needs no proof
    indices = obligations(tmp_path / "out")
    assert {row["property"] for row in indices.values()} == {"even", "below", "real", "bits"}
    for index in indices.values():
        assert (tmp_path / "out" / index["certificate"]).exists()
        for row in index["obligations"]:
            formula = (tmp_path / "out" / row["formula"]).read_text()
            assert cvc5(formula.replace("(check-sat)", ""), 20.0, {}) is True
            assert "(_ bv" not in formula and row["format"] == "CPC" and row["checked"] is None
            proof = (tmp_path / "out" / row["proof"]).read_text()
            assert "(assume " in proof and "(step " in proof and " false " in proof.rstrip().splitlines()[-1]


def test_a_formula_with_a_model_has_no_proof():
    assert cvc5_proof("(set-logic ALL)\n(declare-const x Int)\n(assert (< x 3))\n", 5.0) is None


def test_a_proof_that_takes_for_ever_is_given_up(monkeypatch):
    monkeypatch.setattr(proofs, "SECONDS", 0.2)
    monkeypatch.setattr(proofs, "WRITING", 0.2)
    monkeypatch.setattr(proofs, "cvc5_proof", lambda formula, seconds: time.sleep(60))
    assert proofs._proof_in_time("(set-logic ALL)\n") is None


@pytest.mark.parametrize(
    ("answer", "status", "words"),
    [
        ("print('correct')", 0, "holds (3 of 3 proofs written, 3 correct)"),
        ("print('incomplete')", 3, "not decided: 3 of 3 proofs written, 0 correct"),
        ("print('correct'); sys.exit(1)", 3, "not decided: 3 of 3 proofs written, 0 correct"),
    ],
)
def test_the_answer_of_the_checker_of_proofs_counts(saved, tmp_path, answer, status, words):
    checker = tmp_path / "checker.py"
    checker.write_text(f"import sys\nfile = open(sys.argv[1]).read() + open(sys.argv[2]).read()\n{answer}\n")
    command = f"{sys.executable} {checker} {{proof}} {{formula}}"
    given = ["--proofs", tmp_path / "out", "--proof-checker", command]
    found, shown = check(saved, saved / "s.s.even.json", *given)
    assert found == status and words in shown


def test_a_proof_checker_that_is_not_there(saved, tmp_path):
    status, shown = check(saved, saved / "s.s.even.json", "--proof-checker", "nothing")
    assert status == 2 and "--proofs DIR" in shown
    given = ["--proofs", tmp_path / "out", "--proof-checker", "/no/such/checker"]
    status, shown = check(saved, saved / "s.s.even.json", *given)
    assert status == 2 and "/no/such/checker: No such file or directory" in shown


@pytest.mark.skipif(not ETHOS, reason="ETHOS, the command of the checker of cvc5's proofs, is not set")
def test_ethos_finds_the_proofs_correct(saved, tmp_path):
    files = [saved / f"s.s.{prop}.json" for prop in ("even", "below", "real")]
    status, shown = check(saved, *files, "--proofs", tmp_path / "out", "--proof-checker", ETHOS)
    assert status == 0, shown
    for index in obligations(tmp_path / "out").values():
        assert {row["checked"] for row in index["obligations"]} == {"correct"}
        proof = tmp_path / "out" / index["obligations"][-1]["proof"]
        proof.write_text("".join(line for line in proof.read_text().splitlines(True) if not line.startswith("(step")))
        formula = proof.with_suffix(".smt2")
        words = [w.replace("{proof}", str(proof)).replace("{formula}", str(formula)) for w in ETHOS.split()]
        assert subprocess.run(words, capture_output=True, check=False).returncode != 0
