"""Compositions as plain data, and back: {"parts": [{"problem": …, "proofs": {name: …}, "embeddings": […]}, …]}."""

from __future__ import annotations

from typing import Any

from streamcheck.core.wire import TermReader, TermWriter
from streamcheck.problem.certificate_json import certificate_from_plain, certificate_to_plain
from streamcheck.problem.composition import Composition, Embedding, ProofPart
from streamcheck.problem.specification_json import from_plain, to_plain


def composition_to_plain(composition: Composition) -> dict[str, Any]:
    return {"parts": [_part_to_plain(part) for part in composition.parts]}


def composition_from_plain(data: dict[str, Any]) -> Composition:
    """The composition. ValueError if the data is not as `composition_to_plain` writes it."""
    try:
        return Composition(tuple(_part_from_plain(row) for row in data["parts"]))
    except MemoryError:
        raise
    except Exception as why:  # a type rule, a list that is none, a field that is missing, …
        raise ValueError(f"no composition ({why})") from why


def _part_to_plain(part: ProofPart) -> dict[str, Any]:
    w = TermWriter()
    embeddings = [
        {"images": {name: w.term(t) for name, t in e.images.items()}, "claims": [list(pair) for pair in e.claims]}
        for e in part.embeddings
    ]
    proofs = {name: certificate_to_plain(certificate) for name, certificate in part.proofs.items()}
    problem = to_plain(part.problem)
    return {"problem": problem, "proofs": proofs, "embeddings": embeddings, "types": w.types, "terms": w.terms}


def _part_from_plain(row: dict[str, Any]) -> ProofPart:
    terms = TermReader(row["types"], row["terms"]).terms
    embeddings = tuple(
        Embedding({name: terms[i] for name, i in e["images"].items()}, tuple((p, q) for p, q in e["claims"]))
        for e in row["embeddings"]
    )
    proofs = {name: certificate_from_plain(c) for name, c in row["proofs"].items()}
    return ProofPart(from_plain(row["problem"]), proofs, embeddings)
