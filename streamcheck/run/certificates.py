"""Evidence in files: saved by `prove --certificates`, re-checked by `check` from the spec alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from streamcheck.certify.check import Checker
from streamcheck.certify.replay import replay, replay_path
from streamcheck.certify.solvers import warm_up
from streamcheck.certify.well_formed import require_well_formed
from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.core.types import part_names, plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.certificate_json import (
    Saved,
    path_from_plain,
    path_to_plain,
    proof_from_plain,
    proof_to_plain,
    trace_from_plain,
    trace_to_plain,
)
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Inconsistent, Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import BlockCertificate, Certificate, EdgePath, Evidence, LocationInvariants, Trace
from streamcheck.run.limits import OutOfTime
from streamcheck.run.proofs import ProofFolder
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.run.source import SourceOptions, Target, one, read
from streamcheck.transform.bound import with_bound


def save(verdicts: Verdicts, file: str, directory: str) -> dict[str, str]:
    """One file for each decided property; the names of the files by property."""
    saved: dict[str, str] = {}
    with refuse_unwritable(directory):
        os.makedirs(directory, exist_ok=True)
        for prop, (name, text) in certificate_files(verdicts, file, directory).items():
            saved[prop] = os.path.join(directory, name)
            with open(saved[prop], "w", encoding="utf-8") as out:
                out.write(text)
    return saved


def certificate_files(verdicts: Verdicts, file: str, directory: str) -> dict[str, tuple[str, str]]:
    """For each decided property, the name of its file in the directory, and the text."""
    there = os.path.relpath(file, directory)
    return {
        result.name: (
            _file_name(file, verdicts.problem.name, result.name),
            json.dumps(_certificate_of(result, verdicts, there).to_plain(), indent=1) + "\n",
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
    program = {"integers": problem.integers, "function": problem.function} if isinstance(problem, Automaton) else None
    plain = _evidence_to_plain(result.evidence)
    claim: Literal["proved", "falsified"] = "proved" if result.proof is not None else "falsified"
    return Saved(file, problem.name, result.name, claim, plain, program, verdicts.bound)


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


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A claim in words, and the reason why its evidence is rejected (None if it holds), or not decided."""

    claim: str
    why: str | None
    undecided: bool = False
    proofs: str | None = None  # what was written of them

    @property
    def ok(self) -> bool:
        """True if the evidence holds."""
        return self.why is None


def recheck(path: str, seconds: float | None, proofs: ProofFolder | None = None) -> Rechecked:
    """The judgement on the claim of a file, which may take so long. It is made in a process of its own: a solver can be
    stopped in no other way. `proofs` gets the proofs of its conditions; if they are checked there, each has to be
    correct."""
    deadline = None if seconds is None else time.monotonic() + seconds
    saved = _read(path)
    file = os.path.join(os.path.dirname(path), saved.file)
    with _damage(path):
        target, reading = _how_read(saved, file)
    try:
        problem = one(read(target, seconds, reading), target)
    except OutOfTime as late:
        return Rechecked(f"{saved.spec} {saved.prop}", late.message, undecided=True)
    if saved.bound is not None and isinstance(problem, Specification):
        problem = with_bound(problem, saved.bound)
    prop = next((p for p in problem.properties if p.name == saved.prop), None)
    if prop is None:
        raise SpecError(f'{file} no longer has a property named "{saved.prop}"')
    word: str = saved.claim
    if prop.goal is Goal.REACHABLE:
        word = "never" if saved.claim == "proved" else "reachable"
    title = f"{problem.name} (mathematical integers)" if reading.integers == "math" else problem.name
    within = "" if saved.bound is None else f" in runs of at most {plural(saved.bound, 'step')}"
    left = None if deadline is None else deadline - time.monotonic()
    why, undecided, written = _judge(saved, problem, prop, path, left, proofs)
    return Rechecked(f"{title} {saved.prop} {word}{within}", why, undecided, written)


def _judge(
    saved: Saved, problem: Problem, prop: Claim, path: str, seconds: float | None, proofs: ProofFolder | None
) -> tuple[str | None, bool, str | None]:
    """The reason why the evidence is rejected, if it is, whether that leaves the claim open, and the proofs."""

    def work(send: Send) -> None:
        if saved.claim == "falsified":
            send([_refuted_run(saved, problem, prop, path), False, None])
            return
        with _damage(path):
            evidence = proof_from_plain(saved.evidence)
            require_well_formed(evidence, set())
        rejected = Checker(problem).check(prop.name, evidence)
        if rejected is not None:
            send([rejected.why, rejected.undecided, None])
        elif proofs is None or not isinstance(problem, Specification) or not isinstance(evidence, Certificate):
            send([None, False, None if proofs is None else "no proofs of programs"])
        else:
            words, correct = proofs.write(problem, prop, evidence, path)
            holds = proofs.checker is None or correct
            send([None if holds else words, not holds, words])

    warm_up()  # once, and not in the process of each certificate
    limit = None if seconds is None else max(0.0, seconds)
    with Sandbox(work, seconds=limit, doing=f"checking {path}") as child:
        try:
            why, undecided, written = child.receive()
        except OutOfTime as late:
            return late.message, True, None
    return why, undecided, written


def _how_read(saved: Saved, file: str) -> tuple[Target, SourceOptions]:
    if saved.program is None:
        return Target(file, saved.spec), SourceOptions()
    function, integers = saved.program["function"], saved.program["integers"]
    if integers not in ("c", "math") or not isinstance(function, str | None):
        raise ValueError("a program that was read in an unknown way")
    return Target(file, function), SourceOptions(integers)


def _refuted_run(saved: Saved, problem: Problem, prop: Claim, path: str) -> str | None:
    with _damage(path):
        match problem:
            case Specification():
                chosen = [*problem.choices(), *(c.var for c in problem.cells if c.free)]
                types = {name: t for v in chosen for name, t in part_names(str(v.payload), v.type)}
                shown: object = replay(problem, prop, trace_from_plain(saved.evidence, types))
            case Automaton():
                variables = [*problem.variables, *(c for e in problem.edges for c in e.choices)]
                types = {name: t for v in variables for name, t in part_names(str(v.payload), v.type)}
                shown = replay_path(problem, prop, path_from_plain(saved.evidence, types))
            case _:
                assert_never(problem)
    return shown.reason if isinstance(shown, Inconsistent) else shown if isinstance(shown, str) else None


@contextmanager
def _damage(path: str) -> Iterator[None]:
    """A context in which any failure to read the evidence is reported as an error of the file, not of streamcheck."""
    try:
        yield
    except Exception as why:
        raise SpecError(f"{path}: damaged ({type(why).__name__}: {why})") from None


def _read(path: str) -> Saved:
    try:
        with open(path, encoding="utf-8") as file:
            return Saved.from_plain(json.load(file), path)
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    except (ValueError, RecursionError) as why:
        raise SpecError(f"{path} is not JSON: {why}") from None
