"""Operands in no order (6.5) of which one may end the run: `exit`, an assumption, a loop that may not end.

They are read from left to right. A claim in an operand further on is then met only by the runs that come out of those
before it, but C also allows it to be met first. So the end of the run is the end of what is modelled for that claim.

Nothing else is lost. Claims before the one that may end the run are met by every run, in any order by no more. If two
operands have claims and none ends the run, a run in which no claim fails completes both, in either order with the same
values (those that depend on it are `order`'s), and one in which the first fails is a violation that is reported. A call
of what is not modelled may also come first: it hides the claims of the operands before it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from streamcheck.c.syntax import text_of
from streamcheck.core.location import Location
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import variable
from streamcheck.core.types import BOOL

if TYPE_CHECKING:
    from streamcheck.frontends.minic.flow import Flow

ORDER = "dependence on the order of calls"


@dataclass(frozen=True, slots=True)
class FlowMark:
    """How many edges, and pending obligations, there were at some time."""

    edges: int
    checks: int


@dataclass(frozen=True, slots=True)
class UnorderedOperand:
    """An operand that has been evaluated between two times."""

    node: Any
    start: FlowMark
    end: FlowMark


class Endings:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.places: set[str] = set()  # where a run ends that the program ends
        self.edges: list[int] = []  # to these places
        self.loops: list[int] = []  # the edges to loops that may not end
        self.outside: set[str] = set()  # errors: calls that may do anything
        self.doubted: set[tuple[int, str]] = set()  # gates with an edge to the end of the model

    def place(self) -> str:
        """A place where the run ends."""
        made = self.flow.place()
        self.places.add(made)
        return made

    def now(self) -> FlowMark:
        return FlowMark(len(self.flow.edges), len(self.flow.checks))

    def require_order(
        self, gate: int, before: Sequence[UnorderedOperand], last: UnorderedOperand, where: Location
    ) -> None:
        """Claims that no operand before the last one ends a run in which a claim of the last one is met."""
        claims = self._claims(last)
        if not claims:
            return
        for operand in before:
            ends, loops = _between(self.edges, operand), _between(self.loops, operand)
            if not ends and not loops:
                continue
            reason = f"{text_of(operand.node)} may not return, and C leaves open whether {text_of(last.node)} is"
            reason += " evaluated first; write two statements"
            error = self.flow.error(f"no {ORDER}", where, implied=True)
            self.flow.ends.setdefault(error, (reason, set()))
            self._redirect(ends, error, claims)
            if loops:
                self._doubt(gate, error, claims)
        for error in claims & self.outside:
            edges = self.flow.edges[before[0].start.edges : last.start.edges]
            self.flow.ends[error][1].update(e.target for e in edges if e.target in self.flow.errors)

    def _claims(self, operand: UnorderedOperand) -> set[str]:
        """The errors of an operand that has just been evaluated."""
        edges = self.flow.edges[operand.start.edges :]
        pending = self.flow.checks if edges else self.flow.checks[operand.start.checks :]
        after: dict[str, list[str]] = {}
        for edge in edges:
            after.setdefault(edge.source, []).append(edge.target)
        reached: set[str] = set()
        waiting = [edges[0].source] if edges else []
        while waiting:  # not what comes after a return
            place = waiting.pop()
            if place not in reached:
                reached.add(place)
                waiting += [*after.get(place, ()), *self.flow.ends.get(place, ("", ()))[1]]
        return (reached & self.flow.errors.keys()) | {c.error for c in pending}

    def _redirect(self, ends: Sequence[int], error: str, claims: set[str]) -> None:
        """Makes edges to the end of the run ones to the end of the model, which hides the claims."""
        flow = self.flow
        for number in ends:
            if flow.edges[number].target in self.places:
                flow.edges[number] = replace(flow.edges[number], target=error)
            flow.ends[flow.edges[number].target][1].update(claims)

    def _doubt(self, gate: int, error: str, claims: set[str]) -> None:
        """Lets a run reach the end of the model, which hides the claims, instead of the operands."""
        flow, edge = self.flow, self.flow.edges[gate]
        flow.ends[error][1].update(claims)
        if edge.target == error or (gate, error) in self.doubted:
            return
        self.doubted.add((gate, error))
        choice = variable(flow.names.fresh("order", "{} ({})"), BOOL)
        choices = (*edge.choices, choice)
        flow.edges[gate] = replace(edge, guard=conjunction(edge.guard, negation(choice)), choices=choices)
        guard = conjunction(edge.guard, choice)
        flow.edges.append(
            replace(edge, target=error, guard=guard, choices=choices, text=ORDER, where=flow.errors[error].where)
        )


def _between(numbers: Sequence[int], operand: UnorderedOperand) -> Sequence[int]:
    return numbers[bisect_left(numbers, operand.start.edges) : bisect_left(numbers, operand.end.edges)]
