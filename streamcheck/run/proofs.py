"""Proofs in a folder: for each condition of a certificate its formula and its proof, and an index of them.

DIR/engine.engine.ok.1.smt2       a formula that is contradictory if the condition holds
DIR/engine.engine.ok.1.cpc        the proof that it is, in the Cooperating Proof Calculus
DIR/engine.engine.ok.json         {"certificate": …, "property": …, "obligations":
                                   [{"obligation": "base case", "formula": file, "proof": file or null,
                                     "format": "CPC", "checked": the answer of a checker of proofs, or null}, …]}
"""

from __future__ import annotations

import json
import logging
import os
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from streamcheck.certify.proofs import ProofText, proofs_of
from streamcheck.certify.solvers import cvc5_proof
from streamcheck.core.errors import SpecError
from streamcheck.core.files import write_whole
from streamcheck.core.types import plural
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.folders import make_folders
from streamcheck.run.sandbox import Sandbox, Send

LOG = logging.getLogger(__name__)
SECONDS = 60.0  # for the proof of each condition in two renderings, and for checking it
WRITING = 10.0  # more, for a proof that is found
CORRECT = "correct"


@dataclass(frozen=True, slots=True)
class ProofFolder:
    """The folder for proofs, and the command that checks one of them, if there is one: {formula} and {proof} in it
    stand for the files, which come last if it has neither."""

    path: str
    checker: str | None = None

    @staticmethod
    def at(path: str | None, checker: str | None) -> ProofFolder | None:
        """The folder, which is made. None if there is no path."""
        if path is None:
            if checker is not None:
                raise SpecError("--proof-checker is for the proofs that --proofs DIR writes")
            return None
        if checker is not None:
            command_of(checker)
        make_folders([path])
        return ProofFolder(path, checker)

    def write(
        self, specification: Specification, claim: Claim, certificate: Certificate, file: str
    ) -> tuple[str, bool]:
        """Write the proofs of a certificate. Returns what was written in words, and whether each was found correct."""
        stem = os.path.splitext(os.path.basename(file))[0]
        texts = proofs_of(specification, claim, certificate, _proof_in_time)
        rows = [self._write(f"{stem}.{number}", text) for number, text in enumerate(texts, 1)]
        index = {"certificate": os.path.relpath(file, self.path), "property": claim.name, "obligations": rows}
        write_whole({os.path.join(self.path, f"{stem}.json"): json.dumps(index, indent=1) + "\n"})
        return self._words(rows), all(row["checked"] == CORRECT for row in rows)

    def _write(self, name: str, text: ProofText) -> dict[str, Any]:
        formula, proof = f"{name}.smt2", None if text.proof is None else f"{name}.cpc"
        for file, content in ((formula, text.formula), (proof, text.proof)):
            if file is not None:
                write_whole({os.path.join(self.path, file): content or ""})
        checked = None if proof is None or self.checker is None else self._check(formula, proof)
        return {
            "obligation": text.condition,
            "formula": formula,
            "proof": proof,
            "format": "CPC",
            "checked": checked,
        }

    def _check(self, formula: str, proof: str) -> str:
        words = command_of(self.checker or "")
        files = {"{formula}": os.path.join(self.path, formula), "{proof}": os.path.join(self.path, proof)}
        for mark, file in files.items():
            words = [word.replace(mark, file) for word in words]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return f"timed out after {SECONDS:.0f} s"
        except OSError as why:
            raise SpecError(f"{words[0]}: {why.strerror}") from None
        lines = (done.stdout + done.stderr).split("\n")
        return lines[0].strip() if done.returncode == 0 else f"status {done.returncode}: {lines[0].strip()}"

    def _words(self, rows: Iterable[dict[str, Any]]) -> str:
        rows = list(rows)
        found = sum(row["proof"] is not None for row in rows)
        words = f"{found} of {plural(len(rows), 'proof')} written"
        return words if self.checker is None else f"{words}, {sum(r['checked'] == CORRECT for r in rows)} correct"


def _proof_in_time(formula: str) -> str | None:
    """The proof by a process of its own: cvc5 keeps to its limit while it searches, not while it writes a proof."""

    def work(send: Send) -> None:
        send(cvc5_proof(formula, SECONDS / 2))

    try:
        with Sandbox(work, seconds=SECONDS / 2 + WRITING, doing="proving") as child:
            proof: str | None = child.receive()
            return proof
    except SpecError as why:  # out of time, or of memory
        LOG.info("%s", why)
        return None


def command_of(text: str) -> list[str]:
    """The words of a command, with the marks for its files."""
    words = shlex.split(text)
    if not words:
        raise SpecError("--proof-checker needs a command, as in 'ethos --include=Cpc.eo --reference={formula} {proof}'")
    return words if any("{proof}" in word for word in words) else [*words, "{proof}"]
