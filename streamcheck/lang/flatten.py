"""Specs to specifications: bodies evaluated, streams as equations (`lang.flattening`), and these checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import chain, count

from streamcheck.core.depth import room_for_users
from streamcheck.core.garbage import without_collection
from streamcheck.lang.check_flattening import check_flattening
from streamcheck.lang.component import ComponentCall, alone
from streamcheck.lang.elaborate import Elaborated, elaborate
from streamcheck.lang.flattening import Flattening
from streamcheck.lang.instances import BodySpec
from streamcheck.lang.spec import SpecBase
from streamcheck.problem.specification import Component, Specification


@without_collection()
def flatten(spec: SpecBase, *, bodies: bool = True) -> Specification:
    """The specification of a spec: bodies evaluated, delays as cells, only the cone of influence kept. `bodies`: with
    those of its components, each of which has what is inside of it once more."""
    return specification_of(elaborate(spec), bodies=bodies)


@room_for_users()
def specification_of(elaborated: Elaborated, *, bodies: bool = True) -> Specification:
    """The same of an elaborated spec."""
    calls = {i.call.kind: i.call for i in elaborated.instances if i.call is not elaborated.spec.main}
    names, components = _shown_names(calls.values()), []
    for kind, call in calls.items() if bodies else ():
        body = _flat(elaborate(BodySpec(alone(call.component, call.fixed))), names)
        components.append(Component(names[kind], replace(body, name=names[kind])))
    return replace(_flat(elaborated, names), components=tuple(components)) if components else _flat(elaborated, names)


def _flat(elaborated: Elaborated, names: Mapping[object, str]) -> Specification:
    flattening = Flattening(elaborated, names)
    specification = flattening.specification()
    check_flattening(elaborated.spec, flattening.terms, specification)
    return specification


def _shown_names(calls: Iterable[ComponentCall]) -> dict[object, str]:
    """A name for each component and its fixed arguments: with the line, if others have the same."""
    names: dict[object, str] = {}
    for call in calls:
        name = call.title
        if name in names.values():
            name = f"{name} of {call.component.where.short}"
        numbered = chain([name], (f"{name} ({i})" for i in count(2)))
        names[call.kind] = next(n for n in numbered if n not in names.values())
    return names
