"""Evidence saved in files, for `check`."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass, replace
from typing import Any, Literal, assert_never

from streamcheck.core.errors import refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.certificate_json import Saved, path_to_plain, proof_to_plain, trace_to_plain
from streamcheck.problem.composition_json import composition_to_plain
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Evidence, LocationInvariants, Trace
from streamcheck.transform.liveness import NO_LASSO, name_of_bound
from streamcheck.transform.product import Comparison


@dataclass(frozen=True, slots=True)
class ComparedFiles:
    """The names of two specifications that are compared, the file of the second, and the question."""

    names: tuple[str, str]
    file: str
    comparison: Comparison

    def to_plain(self, directory: str) -> dict[str, Any]:
        asked = self.comparison
        return {
            "file": os.path.relpath(self.file, directory),
            "spec": self.names[1],
            "outputs": list(asked.outputs),
            "renames": [list(row) for row in asked.renames],
            "refines": asked.refines,
        }


def save(verdicts: Verdicts, file: str, directory: str, compared: ComparedFiles | None = None) -> dict[str, str]:
    """One file for each decided property; the names of the files by property."""
    files = certificate_files(verdicts, file, directory, compared)
    with refuse_unwritable(directory):
        os.makedirs(directory, exist_ok=True)
        write_whole({os.path.join(directory, name): text for name, text in files.values()})
    return {prop: os.path.join(directory, name) for prop, (name, _) in files.items()}


def certificate_files(
    verdicts: Verdicts, file: str, directory: str, compared: ComparedFiles | None = None
) -> dict[str, tuple[str, str]]:
    """For each decided property, the name of its file in the directory, and the text."""
    there = os.path.relpath(file, directory)
    name = verdicts.problem.name if compared is None else compared.names[0]
    other = None if compared is None else compared.to_plain(directory)
    return {
        result.name: (
            _file_name(file, verdicts.problem.name, result.name),
            json.dumps(
                replace(_certificate_of(result, verdicts, there), spec=name, compared=other).to_plain(), indent=1
            )
            + "\n",
        )
        for result in verdicts.results
        if result.verdict != "unknown"
    }


def _file_name(file: str, spec: str, prop: str) -> str:
    """Readable, and different for different properties."""
    stem = os.path.splitext(os.path.basename(file))[0]
    full = f"{stem}.{spec}.{prop}"
    readable = re.sub(r"[^\w.-]+", "_", full)
    mark = "" if readable == full else "." + hashlib.sha256(full.encode()).hexdigest()[:8]
    return f"{readable}{mark}.json"


def _certificate_of(result: Result, verdicts: Verdicts, file: str) -> Saved:
    problem = verdicts.problem
    program = _how_read(problem) if isinstance(problem, Automaton) else None
    plain = _evidence_to_plain(result.evidence)
    claim: Literal["proved", "falsified"] = "proved" if result.proof is not None else "falsified"
    if result.composition is not None:
        plain = {"composition": composition_to_plain(result.composition)}
    infinite = None
    if claim == "proved" and result.prop.is_about_infinite_runs:
        infinite = NO_LASSO if result.k is None else name_of_bound(result.k)
    return Saved(file, problem.name, result.name, claim, plain, program, verdicts.bound, infinite=infinite)


def _how_read(problem: Automaton) -> dict[str, Any]:
    """How the program was read: the certificate is checked against the same reading."""
    made: dict[str, Any] = {"integers": problem.integers, "function": problem.function}
    if problem.data_model != "LP64":
        made["data_model"] = problem.data_model
    return made | ({"linked": list(problem.linked)} if problem.linked else {})


def _evidence_to_plain(evidence: Evidence | None) -> dict[str, Any]:
    match evidence:
        case Trace():
            return trace_to_plain(evidence)
        case EdgePath():
            return path_to_plain(evidence)
        case Certificate() | LocationInvariants() | BlockCertificate():
            return proof_to_plain(evidence)
        case None:
            raise ValueError("a verdict without evidence")
    assert_never(evidence)
