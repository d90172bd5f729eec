"""Claims with their origins, instances and components as plain data, and back: parts of a specification's JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, assert_never

from streamcheck.core.term import Term
from streamcheck.core.wire import TermWriter, location, location_row
from streamcheck.problem.claim import (
    COMPARED,
    IMPLIED,
    WRITTEN,
    Claim,
    Compared,
    Implied,
    OfContract,
    Origin,
    RangeOf,
    VacuityTest,
    Written,
)
from streamcheck.problem.specification import ComponentInstance, Named, Specification


def rows_of(w: TermWriter, items: Iterable[Named | Claim]) -> list[Any]:
    return [{"name": n.name, "term": w.term(n.term), "at": location_row(n.where)} for n in items]


def parts_row(specification: Specification, w: TermWriter, to_plain: Callable[[Specification], Any]) -> dict[str, Any]:
    """The instances and components, if there are any."""
    instances = [
        {
            "name": i.name,
            "component": i.component,
            "at": location_row(i.where),
            "inputs": rows_of(w, i.inputs),
            "outputs": rows_of(w, i.outputs),
            "assumes": w.term(i.assumes),
            "held": w.term(i.held),
            "modes": rows_of(w, i.modes),
        }
        for i in specification.instances
    ]
    components = [{"name": c.name, "body": to_plain(c.body)} for c in specification.components]
    return ({"instances": instances} if instances else {}) | ({"components": components} if components else {})


def origin_row(origin: Origin) -> dict[str, Any]:
    match origin:
        case VacuityTest(of, steps):
            return {"vacuity": [of, steps]}
        case OfContract(role, instance):
            return {"contract": [role, instance]}
        case Compared():
            return {"compared": True}
        case Written() | Implied() | RangeOf():
            return {}
    assert_never(origin)


def origin_of(row: dict[str, Any]) -> Origin:
    if "vacuity" in row:
        return VacuityTest(*row["vacuity"])
    if "contract" in row:
        return OfContract(*row["contract"])
    if row.get("compared", False):
        return COMPARED
    return IMPLIED if row["implied"] else WRITTEN


def named_terms(rows: list[Any], terms: list[Term]) -> tuple[Named, ...]:
    return tuple(Named(n["name"], terms[n["term"]], location(n["at"])) for n in rows)


def instances_from_rows(data: dict[str, Any], terms: list[Term]) -> tuple[ComponentInstance, ...]:
    return tuple(_instance(row, terms) for row in data.get("instances", ()))


def _instance(row: dict[str, Any], terms: list[Term]) -> ComponentInstance:
    inputs, outputs, modes = (named_terms(row[key], terms) for key in ("inputs", "outputs", "modes"))
    assumes, held = terms[row["assumes"]], terms[row["held"]]
    return ComponentInstance(row["name"], row["component"], location(row["at"]), inputs, outputs, assumes, held, modes)
