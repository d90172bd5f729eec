"""Saved proofs by parts, checked as one proof of the whole: `check --whole`.

The parts make a certificate of the whole, which is checked as any other, from a file of its own.
"""

from __future__ import annotations

import json
import os
import tempfile
import time

from streamcheck.problem.certificate_json import proof_to_plain
from streamcheck.problem.composition_json import composition_from_plain
from streamcheck.problem.specification import Specification
from streamcheck.run.certificates import Rechecked, recheck
from streamcheck.run.damage import refuse_damage
from streamcheck.run.proofs import ProofFolder
from streamcheck.run.source import Target, one, read
from streamcheck.transform.whole_proof import NotInductive, whole_proof


def recheck_whole(
    path: str, seconds: float | None, proofs: ProofFolder | None = None, *, confined: bool = False
) -> Rechecked:
    """The judgement on a file. Of a proof by parts, first by its parts, then as one certificate of the whole."""
    deadline = None if seconds is None else time.monotonic() + seconds
    with refuse_damage(path), open(path, encoding="utf-8") as file:
        saved = json.load(file)
    if not isinstance(saved, dict) or "composition" not in saved:
        return recheck(path, seconds, proofs, confined=confined)
    checked = recheck(path, seconds, confined=confined)
    if not checked.ok:
        return checked
    source = os.path.abspath(os.path.join(os.path.dirname(path), saved["file"]))
    target = Target(source, saved["spec"], confined)
    problem = one(read(target, seconds), target)
    assert isinstance(problem, Specification)  # programs have no proofs by parts
    try:
        certificate = whole_proof(problem, composition_from_plain(saved["composition"]))
    except NotInductive:
        why = "its parts prove it; one of them is not proved by induction, so they make no proof of the whole"
        return Rechecked(checked.claim, why, undecided=True)
    del saved["composition"]
    with tempfile.TemporaryDirectory() as folder:
        alone = os.path.join(folder, os.path.basename(path))
        with open(alone, "w", encoding="utf-8") as file:
            json.dump({**saved, **proof_to_plain(certificate), "file": source}, file)
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        return recheck(alone, left, proofs, confined=confined)
