"""Evidence in files: saved by `prove --certificates`, re-checked by `check` from the spec alone."""

from __future__ import annotations

import json
import os
import re

from streamcheck.certify.checker import check
from streamcheck.certify.replay import replay
from streamcheck.core.errors import SpecError
from streamcheck.formats.certificate_json import (
    Saved,
    certificate_from_plain,
    certificate_to_plain,
    trace_to_plain,
)
from streamcheck.run.events import trace_from_plain
from streamcheck.run.problems import claim_term, claims_of, models
from streamcheck.run.prove import Result, Verdicts
from streamcheck.run.source import Target, read


def save(verdicts: Verdicts, file: str, directory: str) -> dict[str, str]:
    """One file for each decided property; the names of the files by property."""
    os.makedirs(directory, exist_ok=True)
    saved: dict[str, str] = {}
    for result in verdicts.results:
        if result.verdict != "unknown":
            stem = re.sub(r"[^\w.-]+", "_", f"{verdicts.equations.name}.{result.name}")
            path = os.path.join(directory, f"{stem}.json")
            with open(path, "w", encoding="utf-8") as out:
                json.dump(_saved(result, verdicts, os.path.relpath(file, directory)).to_plain(), out, indent=1)
                out.write("\n")
            saved[result.name] = path
    return saved


def _saved(result: Result, verdicts: Verdicts, file: str) -> Saved:
    if result.certificate is not None:
        evidence = certificate_to_plain(result.certificate)
        claim = "proved"
    else:
        assert result.trace is not None
        evidence, claim = trace_to_plain(result.trace), "falsified"
    model = "integers" if result.model == "integers" and claim == "proved" else "bits"
    return Saved(file, verdicts.equations.name, result.name, claim, model, evidence)  # type: ignore[arg-type]


def recheck(path: str) -> tuple[Saved, str | None]:
    """What a file claims, and why it is wrong (None where it is right)."""
    saved = _read(path)
    file = os.path.join(os.path.dirname(path), saved.file)
    (equations,) = read(Target(file, saved.spec))
    if saved.prop not in [p.name for p in equations.properties]:
        raise SpecError(f'{file} has no property "{saved.prop}" any more')
    claims = claims_of(equations, vacuity=False)
    modelled = next((m for m in models(claims) if m.model == saved.model), None)
    if modelled is None:
        return saved, f"the spec has no model {saved.model!r}"
    try:
        if saved.claim == "proved":
            rejected = check(modelled.system, modelled.claim(saved.prop), certificate_from_plain(saved.evidence))
            return saved, None if rejected is None else rejected.why
        trace = trace_from_plain(saved.evidence, models(claims)[-1].system)
    except (KeyError, IndexError, TypeError, ValueError, AssertionError) as why:
        raise SpecError(f"{path}: damaged ({why})") from None
    shown = replay(claims, claim_term(claims, saved.prop), trace)
    return saved, shown if isinstance(shown, str) else None


def _read(path: str) -> Saved:
    try:
        with open(path, encoding="utf-8") as file:
            return Saved.from_plain(json.load(file), path)
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    except ValueError as why:
        raise SpecError(f"{path} is not JSON: {why}") from None
