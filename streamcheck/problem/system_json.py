"""Transition systems as plain values, for pipes to processes that were started before there was a system.

    {"name": …, "state": [[variable, initial or null, next], …], "inputs": [variable, …],
     "definitions": [[name, term], …], "assumptions": [claim, …], "properties": [claim, …], "types": […], "terms": […]}

A claim is `[name, term, where, goal, origin]`. The rows of `types` and `terms` are those of `core.wire`.
"""

from __future__ import annotations

from typing import Any

from streamcheck.core.garbage import without_collection
from streamcheck.core.wire import TermReader, TermWriter
from streamcheck.problem.claim import Claim, claim_from_plain, claim_to_plain
from streamcheck.problem.transition import Definition, State, TransitionSystem


@without_collection()
def system_to_plain(system: TransitionSystem) -> dict[str, Any]:
    w = TermWriter()

    def claims(those: tuple[Claim, ...]) -> list[list[Any]]:
        return [claim_to_plain(c, w) for c in those]

    row = {
        "name": system.name,
        "state": [[w.term(s.var), None if s.init is None else w.term(s.init), w.term(s.next)] for s in system.state],
        "inputs": [w.term(v) for v in system.inputs],
        "definitions": [[d.name, w.term(d.term)] for d in system.definitions],
        "assumptions": claims(system.assumptions),
        "properties": claims(system.properties),
    }
    return {**row, "types": w.types, "terms": w.terms}


@without_collection()
def system_from_plain(row: dict[str, Any]) -> TransitionSystem:
    terms = TermReader(row["types"], row["terms"]).terms

    def claims(rows: list[list[Any]]) -> tuple[Claim, ...]:
        return tuple(claim_from_plain(row, terms) for row in rows)

    return TransitionSystem(
        row["name"],
        tuple(State(terms[v], None if i is None else terms[i], terms[n]) for v, i, n in row["state"]),
        tuple(terms[v] for v in row["inputs"]),
        tuple(Definition(name, terms[t]) for name, t in row["definitions"]),
        claims(row["assumptions"]),
        claims(row["properties"]),
    )
