"""The transition system (Q, I, T) of [Laurent], with T in functional form.

A state assigns the state variables, an input the input variables. Initial states: every state variable with an
initial value has it (one without may start anywhere). A step reads state and input and gives every state variable
its next value. Runs that count satisfy every assumption at every step so far, the present one included; a property
must hold at every step of every such run. All variables are scalars.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from streamcheck.core.term import Term, variables, walk
from streamcheck.core.types import Type
from streamcheck.problem.claim import Claim


@dataclass(frozen=True, slots=True)
class State:
    """A state variable; `init` is None if it may start with any value of its type."""

    var: Term
    init: Term | None
    next: Term


@dataclass(frozen=True, slots=True)
class Definition:
    """A name of the user's for a term."""

    name: str
    term: Term


@dataclass(frozen=True)
class TransitionSystem:
    name: str
    state: tuple[State, ...]
    inputs: tuple[Term, ...]
    definitions: tuple[Definition, ...]
    assumptions: tuple[Claim, ...]
    properties: tuple[Claim, ...]

    def __post_init__(self) -> None:
        declared = {s.var for s in self.state} | set(self.inputs)
        if len(declared) != len(self.state) + len(self.inputs):
            raise ValueError(f"{self.name}: a variable is declared twice")
        stray = [v.payload for v in variables(self.roots()) if v not in declared]
        if stray:
            raise ValueError(f"{self.name}: undeclared variables {', '.join(map(str, stray))}")
        for s in self.state:
            if s.next.type is not s.var.type or (s.init is not None and s.init.type is not s.var.type):
                raise ValueError(f"{self.name}: {s.var.payload} changes its type")

    @cached_property
    def variable_types(self) -> Mapping[str, Type]:
        return {str(v.payload): v.type for v in (*self.inputs, *(s.var for s in self.state))}

    @cached_property
    def has_floats(self) -> bool:
        return any(node.type.kind == "float" for node in walk(self.roots()))

    def roots(self) -> Iterator[Term]:
        for s in self.state:
            yield s.next
            if s.init is not None:
                yield s.init
        yield from (d.term for d in self.definitions)
        yield from (c.term for c in (*self.assumptions, *self.properties))
