"""Evidence in files: saved by `prove --certificates`, re-checked by `check` from the spec alone."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from streamcheck.certify.replay import replay
from streamcheck.core.errors import SpecError
from streamcheck.problem.certificate_json import (
    Saved,
    certificate_from_plain,
    certificate_to_plain,
    trace_to_plain,
)
from streamcheck.problem.claim import Goal
from streamcheck.problem.result import Result, Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.run.checking import judged
from streamcheck.run.events import trace_from_plain
from streamcheck.run.problems import claim_named, models
from streamcheck.run.source import Reading, Target, read


def save(verdicts: Verdicts, file: str, directory: str) -> dict[str, str]:
    """One file for each decided property; the names of the files by property."""
    os.makedirs(directory, exist_ok=True)
    saved: dict[str, str] = {}
    for result in verdicts.results:
        if result.verdict != "unknown":
            path = os.path.join(directory, _file_name(file, verdicts.equations.name, result.name))
            with open(path, "w", encoding="utf-8") as out:
                json.dump(_saved(result, verdicts, os.path.relpath(file, directory)).to_plain(), out, indent=1)
                out.write("\n")
            saved[result.name] = path
    return saved


def _file_name(file: str, spec: str, prop: str) -> str:
    """Readable, and different for different properties."""
    stem = os.path.splitext(os.path.basename(file))[0]
    full = f"{stem}.{spec}.{prop}"
    readable = re.sub(r"[^\w.-]+", "_", full)
    mark = "" if readable == full else "." + hashlib.sha256(full.encode()).hexdigest()[:8]
    return f"{readable}{mark}.json"


def _saved(result: Result, verdicts: Verdicts, file: str) -> Saved:
    if result.certificate is not None:
        evidence = certificate_to_plain(result.certificate)
        claim = "proved"
    else:
        assert result.trace is not None
        evidence, claim = trace_to_plain(result.trace), "falsified"
    model = "integers" if result.model == "integers" and claim == "proved" else "bits"
    program = verdicts.equations.program
    how = program and {"integers": program.integers, "function": program.function, "blocks": program.large}
    return Saved(file, verdicts.equations.name, result.name, claim, model, evidence, how)  # type: ignore[arg-type]


def recheck(path: str) -> tuple[str, str | None]:
    """What a file claims, in words, and why it is wrong (None where it is right)."""
    saved = _read(path)
    file = os.path.join(os.path.dirname(path), saved.file)
    with _damage(path):
        target, reading = _how_read(saved, file)
    (equations,) = read(target, reading=reading)
    prop = next((p for p in equations.properties if p.name == saved.prop), None)
    if prop is None:
        raise SpecError(f'{file} has no property "{saved.prop}" any more')
    word: str = saved.claim
    if prop.goal is Goal.REACHABLE:
        word = "never" if saved.claim == "proved" else "reachable"
    return f"{saved.spec} {saved.prop} {word}", _refuted(saved, equations, path)


def _how_read(saved: Saved, file: str) -> tuple[Target, Reading]:
    if saved.program is None:
        return Target(file, saved.spec), Reading()
    how = saved.program
    return Target(file, how["function"]), Reading(how["integers"], bool(how["blocks"]))


def _refuted(saved: Saved, claims: Specification, path: str) -> str | None:
    modelled = next((m for m in models(claims) if m.model == saved.model), None)
    if modelled is None:
        return f"the spec has no model {saved.model!r}"
    if saved.claim == "proved":
        with _damage(path):
            certificate = certificate_from_plain(saved.evidence)
        rejected = judged(modelled.subject, saved.prop, certificate)
        return None if rejected is None else rejected.why
    with _damage(path):
        trace = trace_from_plain(saved.evidence, models(claims)[-1].system)
        shown = replay(claims, claim_named(claims, saved.prop), trace)
    return shown if isinstance(shown, str) else None


@contextmanager
def _damage(path: str) -> Iterator[None]:
    """Whatever reading the evidence stumbles over is the file's fault: the user's mistake, not ours."""
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
