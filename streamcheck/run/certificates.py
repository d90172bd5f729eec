"""Evidence in files, which `prove --certificates` saved, re-checked from the spec alone."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from streamcheck.certify.check import Checker
from streamcheck.certify.composition import check_composition
from streamcheck.certify.replay import replay, replay_path
from streamcheck.certify.solvers import warm_up
from streamcheck.certify.well_formed import require_well_formed
from streamcheck.core.errors import SpecError
from streamcheck.core.types import part_names, plural
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.certificate_json import Saved, path_from_plain, proof_from_plain, trace_from_plain
from streamcheck.problem.certificate_shape import require_path_shape, require_proof_shape, require_trace_shape
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.composition_json import composition_from_plain
from streamcheck.problem.problem import Problem
from streamcheck.problem.result import Inconsistent
from streamcheck.problem.specification import Specification
from streamcheck.problem.verdict import Certificate
from streamcheck.run.damage import refuse_damage, refuse_spec
from streamcheck.run.limits import OutOfTime
from streamcheck.run.proofs import ProofFolder
from streamcheck.run.sandbox import Sandbox, Send
from streamcheck.run.sides import read_sides
from streamcheck.run.source import SourceOptions, Target, one, read
from streamcheck.transform.bound import with_bound
from streamcheck.transform.coverage_goals import with_goal
from streamcheck.transform.liveness import monitored_claim
from streamcheck.transform.product import Comparison, product


@dataclass(frozen=True, slots=True, repr=False)
class Rechecked:
    """A claim in words, and the reason why its evidence is rejected (None if it holds), or not decided. `str` is what
    `streamcheck check` prints."""

    claim: str
    why: str | None
    undecided: bool = False
    proofs: str | None = None  # what was written of them

    @property
    def ok(self) -> bool:
        """True if the evidence holds."""
        return self.why is None

    @property
    def verdict(self) -> Literal["holds", "rejected", "not decided"]:
        return "holds" if self.ok else "not decided" if self.undecided else "rejected"

    def __str__(self) -> str:
        proofs = f" ({self.proofs})" if self.proofs is not None else ""
        return f"{self.claim}: {self.verdict}{proofs if self.why is None else ': ' + self.why}"

    def __repr__(self) -> str:
        return f"<{self.claim}: {self.verdict}>"


def recheck(
    path: str, seconds: float | None, proofs: ProofFolder | None = None, *, confined: bool = False
) -> Rechecked:
    """The judgement on the claim of a file, which may take so long. It is made in a process of its own: a solver can be
    stopped in no other way. `proofs` gets the proofs of its conditions; if they are checked there, each has to be
    correct."""
    deadline = None if seconds is None else time.monotonic() + seconds
    saved = _read(path)
    file = os.path.join(os.path.dirname(path), saved.file)
    target, reading = _how_read(saved, file, confined=confined)
    try:
        if saved.compared is None:
            problem = one(read(target, seconds, reading), target)
        else:
            problem = _compared_problem(target, saved.compared, os.path.dirname(path), seconds)
    except OutOfTime as late:
        return Rechecked(f"{saved.spec} {saved.prop}", late.message, undecided=True)
    if isinstance(problem, Specification):
        problem = with_goal(problem if saved.bound is None else with_bound(problem, saved.bound), saved.prop)
    prop = next((p for p in problem.properties if p.name == saved.prop), None)
    if prop is not None and saved.infinite is not None:
        if saved.claim != "proved" or saved.bound is not None:
            raise SpecError(f"{path}: only a proof for all steps can be about a specification with monitors")
        problem, prop = monitored_claim(problem, prop, saved.infinite)
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


def _compared_problem(first: Target, given: dict[str, Any], folder: str, seconds: float | None) -> Specification:
    """The product of two specifications."""
    second = Target(os.path.join(folder, given["file"]), given["spec"], first.confined)
    renames = tuple((mine, its) for mine, its in given["renames"])
    sides = read_sides(first, second, renames, seconds)
    return product(*sides, Comparison(tuple(given["outputs"]), renames, given["refines"]))


def _checked_composition(
    saved: Saved, problem: Problem, prop: Claim, path: str, proofs: ProofFolder | None
) -> list[str | bool | None]:
    if not isinstance(problem, Specification):
        return ["it is a proof by parts, which programs do not have", False, None]
    with refuse_damage(path):
        composition = composition_from_plain(saved.evidence["composition"])
    rejected = check_composition(problem, composition, prop.name)
    if rejected is not None:
        return [rejected.why, rejected.undecided, None]
    return [None, False, None if proofs is None else "no proofs of proofs by parts"]


def _judge(
    saved: Saved, problem: Problem, prop: Claim, path: str, seconds: float | None, proofs: ProofFolder | None
) -> tuple[str | None, bool, str | None]:
    """The reason why the evidence is rejected, if it is, whether that leaves the claim open, and the proofs."""

    def work(send: Send) -> None:
        if saved.claim == "falsified":
            send([_refuted_run(saved, problem, prop, path), False, None])
            return
        if "composition" in saved.evidence:
            send(_checked_composition(saved, problem, prop, path, proofs))
            return
        with refuse_damage(path):
            require_proof_shape(saved.evidence)
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


def _how_read(saved: Saved, file: str, *, confined: bool) -> tuple[Target, SourceOptions]:
    if saved.program is None:
        return Target(file, saved.spec, confined), SourceOptions()
    given, folder = saved.program, os.path.dirname(file)
    linked = tuple(os.path.join(folder, name) for name in given.get("linked", ()))
    reading = SourceOptions(given["integers"], data_model=given.get("data_model", "LP64"), linked=linked)
    return Target(file, given["function"]), reading


def _refuted_run(saved: Saved, problem: Problem, prop: Claim, path: str) -> str | None:
    with refuse_damage(path):
        match problem:
            case Specification():
                chosen = [*problem.choices(), *(c.var for c in problem.cells if c.free)]
                types = {name: t for v in chosen for name, t in part_names(str(v.payload), v.type)}
                require_trace_shape(saved.evidence, types)
                shown: object = replay(problem, prop, trace_from_plain(saved.evidence, types))
            case Automaton():
                variables = [*problem.variables, *(c for e in problem.edges for c in e.choices)]
                types = {name: t for v in variables for name, t in part_names(str(v.payload), v.type)}
                require_path_shape(saved.evidence, types, len(problem.edges))
                shown = replay_path(problem, prop, path_from_plain(saved.evidence, types))
            case _:
                assert_never(problem)
    return shown.reason if isinstance(shown, Inconsistent) else shown if isinstance(shown, str) else None


def _read(path: str) -> Saved:
    refuse_spec(path)
    with refuse_damage(path), open(path, encoding="utf-8") as file:
        return Saved.from_plain(json.load(file), path)
