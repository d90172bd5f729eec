"""Claims that a call leaves open which is not read, because its function calls itself too deeply.

The code after the call is that of the callers. But a run that goes on in the function may also meet every claim of it
and of what it calls, in states in which no call that is read meets them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from streamcheck.c.syntax import where_of
from streamcheck.core.location import Location
from streamcheck.frontends.minic.callbacks import nodes_in

if TYPE_CHECKING:
    from streamcheck.c.declarations import Function
    from streamcheck.frontends.minic.flow import Flow


def hide_deeper_claims(flow: Flow, functions: Iterable[Function]) -> None:
    """Lets each call that is not read hide the claims in the functions that it may get to."""
    if not flow.unread:
        return
    owners: dict[Location, set[str]] = {}  # a line may belong to several
    for function in functions:
        lines = {where_of(node) for node in nodes_in(function.body)} if function.body is not None else set()
        for where in lines | {function.where}:
            owners.setdefault(where, set()).add(function.name)
    for end, names in flow.unread.items():
        for error in flow.errors.values():
            own = owners.get(error.where) if error.where is not None else None
            if own is None or not names.isdisjoint(own):
                flow.ends[end][1].add(error.name)
