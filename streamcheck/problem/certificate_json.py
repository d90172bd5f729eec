"""Certificates and counterexamples as files, written by `prove --certificates DIR` and read by `check FILE`.

    {"format": "streamcheck certificate 2", "file": "engine.py", "spec": "engine", "property": "ok",
     "claim": "proved", "kind": "inductive", "k": 2,
     "invariants": [row of terms, …], "equalities": [row, …], "free": [name, …], "prover": "z3",
     "types": […], "terms": […]}

    {…, "claim": "falsified", "constants": {"v": 3}, "inputs": [{"x": 1}, {"x": 2}], "rounds": [[begin, end, times], …]}

`file` is relative to the certificate. The fields of a proof are those of `verdict.Certificate`, its variables those of
the specification, in their own types. The rows of `types` and `terms` are those of `core.wire`.

{…, "loop": 1}: the steps from step 1 on are repeated forever. {…, "infinite": "8 rounds"}: the proof is of this claim
of the specification with monitors (`transform.liveness`).

{…, "bound": 20} is about runs of at most 20 steps.

{…, "compared": {"file": "other.py", "spec": "engine", "outputs": ["n*"], "renames": [["n", "count"]],
"refines": false}} is about the product of the spec and this other one (`transform.product`).

For a program, {"integers": "c", "function": null} is how it was read,
with "data_model" and "linked" if they were given, and the evidence is one of

    {…, "claim": "proved", "locations": [[location, row], …], "any": [row, …], "types": […], "terms": […]}
    {…, "claim": "proved", "blocks": automaton, "certificate": {…}, "types": […], "terms": […]}
    {…, "claim": "falsified", "initial": {"x": 1}, "edges": [[number, {choice: value}], …],
     "rounds": [[begin, end, times, {"x": 5}], …]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, assert_never

from streamcheck.core.errors import SpecError
from streamcheck.core.term import plain
from streamcheck.core.types import Type, Value
from streamcheck.core.wire import TermReader, TermWriter, from_plain
from streamcheck.problem.automaton_json import automaton_from_plain, automaton_to_plain
from streamcheck.problem.certificate_shape import HEAD
from streamcheck.problem.verdict import (
    BlockCertificate,
    Certificate,
    EdgePath,
    LocationInvariants,
    ProofEvidence,
    Rounds,
    Trace,
)

FORMAT = "streamcheck certificate 2"


def certificate_to_plain(certificate: Certificate) -> dict[str, Any]:
    w = TermWriter()
    row = {
        "kind": certificate.kind,
        "k": certificate.k,
        "invariants": [w.term(t) for t in certificate.invariants],
        "equalities": [w.term(t) for t in certificate.equalities],
        "free": list(certificate.free),
        "prover": certificate.prover,
    }
    return {**row, "types": w.types, "terms": w.terms}


def certificate_from_plain(data: dict[str, Any]) -> Certificate:
    terms = TermReader(data["types"], data["terms"]).terms
    invariants, equalities = (tuple(terms[i] for i in data[key]) for key in ("invariants", "equalities"))
    return Certificate(data["kind"], data["k"], invariants, tuple(data["free"]), equalities, data.get("prover", "z3"))


def trace_to_plain(trace: Trace) -> dict[str, Any]:
    return {
        "constants": {name: plain(value) for name, value in trace.constants.items()},
        "inputs": [{name: plain(value) for name, value in step.items()} for step in trace.inputs],
        **({"rounds": [[part.begin, part.end, part.times] for part in trace.rounds]} if trace.rounds else {}),
        **({} if trace.loop is None else {"loop": trace.loop}),
    }


def trace_from_plain(row: dict[str, Any], types: Mapping[str, Type]) -> Trace:
    """The trace; `types` are those of the variables by name. Values of unknown variables are left out."""

    def read(values: dict[str, Any]) -> dict[str, Any]:
        return {name: from_plain(types[name], value) for name, value in values.items() if name in types}

    rounds = tuple(Rounds(begin, end, times) for begin, end, times in row.get("rounds", ()))
    return Trace(read(row["constants"]), tuple(read(step) for step in row["inputs"]), rounds, row.get("loop"))


def proof_to_plain(evidence: ProofEvidence) -> dict[str, Any]:
    match evidence:
        case Certificate():
            return certificate_to_plain(evidence)
        case LocationInvariants(at, chosen, rounds):
            w = TermWriter()
            rows = [[location, w.term(invariant)] for location, invariant in at]
            whole: dict[str, Any] = {"any": [w.term(v) for v in chosen]} if chosen else {}
            whole |= {"rounds": rounds} if rounds > 1 else {}
            return {"locations": rows, **whole, "types": w.types, "terms": w.terms}
        case BlockCertificate(blocks, certificate):
            w = TermWriter()
            row = automaton_to_plain(blocks, w)
            return {"blocks": row, "types": w.types, "terms": w.terms, "certificate": certificate_to_plain(certificate)}
    assert_never(evidence)


def proof_from_plain(data: dict[str, Any]) -> ProofEvidence:
    if "locations" in data:
        terms = TermReader(data["types"], data["terms"]).terms
        chosen = tuple(terms[i] for i in data.get("any", ()))
        rows = tuple((location, terms[i]) for location, i in data["locations"])
        return LocationInvariants(rows, chosen, data.get("rounds", 1))
    if "blocks" in data:
        blocks = automaton_from_plain(data["blocks"], TermReader(data["types"], data["terms"]))
        return BlockCertificate(blocks, certificate_from_plain(data["certificate"]))
    return certificate_from_plain(data)


def path_to_plain(path: EdgePath) -> dict[str, Any]:
    def write(values: Mapping[str, Value]) -> dict[str, Any]:
        return {name: plain(value) for name, value in values.items()}

    edges = [[number, write(chosen)] for number, chosen in path.edges]
    rounds = [[part.begin, part.end, part.times, write(part.after)] for part in path.rounds]
    return {"initial": write(path.initial), "edges": edges} | ({"rounds": rounds} if rounds else {})


def path_from_plain(row: dict[str, Any], types: Mapping[str, Type]) -> EdgePath:
    def read(values: dict[str, Any]) -> dict[str, Any]:
        return {name: from_plain(types[name], value) for name, value in values.items() if name in types}

    edges = tuple((number, read(chosen)) for number, chosen in row["edges"])
    rounds = (Rounds(begin, end, times, read(after)) for begin, end, times, after in row.get("rounds", ()))
    return EdgePath(read(row["initial"]), edges, tuple(rounds))


@dataclass(frozen=True, slots=True)
class Saved:
    """One file: the property, the claim about it, and the evidence as plain data."""

    file: str
    spec: str
    prop: str
    claim: Literal["proved", "falsified"]
    evidence: dict[str, Any]
    program: dict[str, Any] | None = None  # how a program was read
    bound: int | None = None  # of the runs, in steps
    compared: dict[str, Any] | None = None  # the specification that it is compared with, and how
    infinite: str | None = None  # what is proved of the specification with monitors

    def to_plain(self) -> dict[str, Any]:
        head: dict[str, Any] = {"format": FORMAT, "file": self.file, "spec": self.spec, "property": self.prop}
        if self.program is not None:
            head["program"] = self.program
        if self.bound is not None:
            head["bound"] = self.bound
        if self.compared is not None:
            head["compared"] = self.compared
        if self.infinite is not None:
            head["infinite"] = self.infinite
        return {**head, "claim": self.claim, **self.evidence}

    @staticmethod
    def from_plain(data: Any, origin: str) -> Saved:
        """The file's data. SpecError if it is no certificate, Damage if it is a damaged one."""
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise SpecError(f"{origin} is not a `{FORMAT}` file", write="streamcheck prove FILE --certificates DIR")
        HEAD(data, ())
        file, spec, prop, claim = data["file"], data["spec"], data["property"], data["claim"]
        return Saved(
            file,
            spec,
            prop,
            claim,
            data,
            data.get("program"),
            data.get("bound"),
            data.get("compared"),
            data.get("infinite"),
        )
