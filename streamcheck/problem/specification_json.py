"""Specifications as plain data, and back, for pipes and `show --as json`.

`terms` is a table in which each row names earlier rows; everything else names rows. Reading goes through the
constructors of terms and equations, which check what they are given.
"""

from __future__ import annotations

from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.garbage import without_collection
from streamcheck.core.term import Term
from streamcheck.core.wire import TermReader, TermWriter, location, location_row
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.components_json import (
    instances_from_rows,
    named_terms,
    origin_of,
    origin_row,
    parts_row,
    rows_of,
)
from streamcheck.problem.specification import (
    Cell,
    Component,
    Constant,
    FunctionCall,
    Input,
    Specification,
    Trigger,
)

FORMAT = "streamcheck equations 1"


@without_collection()
def to_plain(specification: Specification) -> dict[str, Any]:
    w = TermWriter()
    body = {
        "inputs": [
            {
                "name": i.name,
                "type": w.type(i.type),
                "extern": i.extern,
                "doc": i.doc,
                "unit": i.unit,
                "at": location_row(i.where),
            }
            for i in specification.inputs
        ],
        "constants": [
            {"name": c.name, "type": w.type(c.type), "at": location_row(c.where), "label": c.label}
            for c in specification.constants
        ],
        "cells": [
            {
                "name": c.name,
                "initial": w.term(c.initial),
                "next": w.term(c.next),
                "at": location_row(c.where),
                "free": c.free,
                "named": c.named,
            }
            for c in specification.cells
        ],
        "wires": rows_of(w, specification.wires),
        "triggers": [
            {
                "name": t.name,
                "guard": w.term(t.guard),
                "args": [[name, w.term(arg)] for name, arg in t.args],
                "at": location_row(t.where),
            }
            for t in specification.triggers
        ],
        "observers": rows_of(w, specification.observers),
        "properties": [_claim_row(p, w) for p in specification.properties],
        "assumptions": rows_of(w, specification.assumptions),
        "warnings": list(specification.warnings),
        "calls": [
            {
                "function": c.function,
                "tick": w.term(c.tick),
                "inputs": [w.term(t) for t in c.inputs],
                "outputs": [w.term(t) for t in c.outputs],
            }
            for c in specification.calls
        ],
        "unused": list(specification.unused),
        **({"fairness": rows_of(w, specification.fairness)} if specification.fairness else {}),
    }
    body |= parts_row(specification, w, to_plain)
    head = {"format": FORMAT, "name": specification.name, "at": location_row(specification.where)}
    return {**head, "types": w.types, "terms": w.terms, **body}


def _claim_row(p: Claim, w: TermWriter) -> dict[str, Any]:
    return {
        "name": p.name,
        "term": w.term(p.term),
        "goal": p.goal.value,
        "implied": p.is_implied,
        **origin_row(p.origin),
        "at": location_row(p.where),
    }


@without_collection()
def from_plain(data: Any, origin: str = "") -> Specification:
    """The specification of plain data. SpecError if the data is not as `to_plain` writes it."""
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise SpecError(f"{origin or 'this'} is not a `{FORMAT}` file", write="streamcheck show FILE --as json")
    try:
        return _read(data)
    except (SpecError, MemoryError):
        raise
    except Exception as why:  # a type rule, a value that does not belong to its type, a name that is no text, …
        raise SpecError(f"{origin or 'the specification'}: damaged ({why})") from why


def _read(data: dict[str, Any]) -> Specification:
    r = TermReader(data["types"], data["terms"])
    terms: list[Term] = r.terms

    return Specification(
        data["name"],
        tuple(
            Input(i["name"], r.types[i["type"]], i["extern"], i["doc"], i["unit"], location(i["at"]))
            for i in data["inputs"]
        ),
        tuple(
            Constant(c["name"], r.types[c["type"]], location(c["at"]), c.get("label", c["name"]))
            for c in data["constants"]
        ),
        tuple(
            Cell(
                c["name"],
                terms[c["initial"]],
                terms[c["next"]],
                location(c["at"]),
                free=c.get("free", False),
                named=c.get("named", True),
            )
            for c in data["cells"]
        ),
        named_terms(data["wires"], terms),
        tuple(
            Trigger(t["name"], terms[t["guard"]], tuple((n, terms[a]) for n, a in t["args"]), location(t["at"]))
            for t in data["triggers"]
        ),
        named_terms(data["observers"], terms),
        tuple(_claim(p, terms) for p in data["properties"]),
        tuple(Claim(a["name"], terms[a["term"]], location(a["at"])) for a in data["assumptions"]),
        location(data["at"]),
        tuple(data.get("warnings", ())),
        tuple(
            FunctionCall(
                c["function"],
                terms[c["tick"]],
                tuple(terms[t] for t in c["inputs"]),
                tuple(terms[t] for t in c["outputs"]),
            )
            for c in data.get("calls", ())
        ),
        tuple(data.get("unused", ())),
        instances_from_rows(data, terms),
        tuple(Component(c["name"], _read(c["body"])) for c in data.get("components", ())),
        tuple(Claim(f["name"], terms[f["term"]], location(f["at"])) for f in data.get("fairness", ())),
    )


def _claim(row: dict[str, Any], terms: list[Term]) -> Claim:
    return Claim(row["name"], terms[row["term"]], location(row["at"]), Goal(row["goal"]), origin_of(row))
