"""Automata as plain values, for pipes.

    {"name": …, "variables": [term, …], "locations": [name, …], "entry": name,
     "errors": [[location, name, where, implied, null or [reason, [hidden claim, …]]], …],
     "edges": [[source, target, guard, [[variable, new], …], [choice, …], text, where], …],
     "lines": {location: where}, "loops": [location, …]}

Terms are numbers of rows of the caller's writer and reader.
"""

from __future__ import annotations

from typing import Any

from streamcheck.core.wire import TermReader, TermWriter, location, location_row
from streamcheck.problem.automaton import Automaton, Edge, Error, Limit


def automaton_to_plain(automaton: Automaton, w: TermWriter) -> dict[str, Any]:
    return {
        "name": automaton.name,
        "variables": [w.term(v) for v in automaton.variables],
        "locations": list(automaton.locations),
        "entry": automaton.entry,
        "errors": [
            [e.location, e.name, location_row(e.where), e.implied, e.limit and [e.limit.reason, list(e.limit.hidden)]]
            for e in automaton.errors
        ],
        "edges": [
            [
                e.source,
                e.target,
                w.term(e.guard),
                [[w.term(v), w.term(t)] for v, t in e.updates],
                [w.term(c) for c in e.choices],
                e.text,
                location_row(e.where),
            ]
            for e in automaton.edges
        ],
        "lines": {name: location_row(where) for name, where in automaton.lines.items()},
        "loops": sorted(automaton.loops),
    }


def automaton_from_plain(row: dict[str, Any], reader: TermReader) -> Automaton:
    terms = reader.terms
    edges = (
        Edge(
            source,
            target,
            terms[guard],
            tuple((terms[v], terms[t]) for v, t in updates),
            tuple(terms[c] for c in choices),
            text,
            location(where),
        )
        for source, target, guard, updates, choices, text, where in row["edges"]
    )
    lines = {name: where for name, found in row["lines"].items() if (where := location(found)) is not None}
    return Automaton(
        row["name"],
        tuple(terms[v] for v in row["variables"]),
        tuple(row["locations"]),
        row["entry"],
        tuple(
            Error(place, name, location(where), implied, limit and Limit(limit[0], tuple(limit[1])))
            for place, name, where, implied, limit in row["errors"]
        ),
        tuple(edges),
        lines,
        frozenset(row["loops"]),
    )
