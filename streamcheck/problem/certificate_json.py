"""Certificates and counterexamples as files: what `prove --certificates DIR` writes and `check FILE` reads.

    {"format": "streamcheck certificate 1", "file": "engine.py", "spec": "engine", "property": "ok",
     "claim": "proved", "model": "integers", "kind": "inductive", "k": 2,
     "invariants": [row of terms, …], "equalities": [row, …], "free": [name, …], "types": […], "terms": […]}

    {…, "claim": "falsified", "constants": {"v": 3}, "inputs": [{"x": 1}, {"x": 2}]}

`file` is relative to the certificate. A program's also say how it was read: "program": {"integers": "c", "function":
null, "blocks": true}. `model` says over which variables the invariants speak: the machine's ("bits") or the wrapping
integers that stand for them ("integers"). The fields of a proof are those of `system.verdict.Certificate`. The rows
of `types` and `terms` are those of `core.wire`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from streamcheck.core.errors import SpecError
from streamcheck.core.term import plain
from streamcheck.core.wire import Reader, Writer
from streamcheck.problem.verdict import Certificate, Trace

FORMAT = "streamcheck certificate 1"
Model = Literal["bits", "integers"]


def certificate_to_plain(certificate: Certificate) -> dict[str, Any]:
    w = Writer()
    row = {
        "kind": certificate.kind,
        "k": certificate.k,
        "invariants": [w.term(t) for t in certificate.invariants],
        "equalities": [w.term(t) for t in certificate.equalities],
        "free": list(certificate.free),
    }
    return {**row, "types": w.types, "terms": w.terms}


def certificate_from_plain(data: dict[str, Any]) -> Certificate:
    terms = Reader(data["types"], data["terms"]).terms
    invariants, equalities = (tuple(terms[i] for i in data[key]) for key in ("invariants", "equalities"))
    return Certificate(data["kind"], data["k"], invariants, tuple(data["free"]), equalities)


def trace_to_plain(trace: Trace) -> dict[str, Any]:
    return {
        "constants": {name: plain(value) for name, value in trace.constants.items()},
        "inputs": [{name: plain(value) for name, value in step.items()} for step in trace.inputs],
    }


@dataclass(frozen=True, slots=True)
class Saved:
    """One file: what it claims of which property, and the evidence as plain data."""

    file: str
    spec: str
    prop: str
    claim: Literal["proved", "falsified"]
    model: Model
    evidence: dict[str, Any]
    program: dict[str, Any] | None = None  # how a program was read

    def to_plain(self) -> dict[str, Any]:
        head: dict[str, Any] = {"format": FORMAT, "file": self.file, "spec": self.spec, "property": self.prop}
        if self.program is not None:
            head["program"] = self.program
        return {**head, "claim": self.claim, "model": self.model, **self.evidence}

    @staticmethod
    def from_plain(data: Any, origin: str) -> Saved:
        keys = ("file", "spec", "property", "claim", "model")
        fits = isinstance(data, dict) and data.get("format") == FORMAT
        fits = fits and all(isinstance(data.get(key), str) for key in keys)
        if not fits or data["claim"] not in ("proved", "falsified"):
            raise SpecError(f"{origin} is not a `{FORMAT}` file", write="streamcheck prove FILE --certificates DIR")
        return Saved(
            data["file"], data["spec"], data["property"], data["claim"], data["model"], data, data.get("program")
        )
