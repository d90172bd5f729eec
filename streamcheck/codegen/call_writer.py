"""Calls of the functions of components, as statements of a step.

    const uint8_t torque = limiter_step(&state->limiter_2, speed, 40u);

A call changes the state of its instance, so it is made once on every path: at the beginning of the step, after those
whose results it needs. What it returns is in local variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamcheck.codegen import text
from streamcheck.codegen.expression import PRIMARY, CExpression
from streamcheck.codegen.figures import Figures
from streamcheck.codegen.sharing import SharedCall
from streamcheck.core.c_names import member_name
from streamcheck.core.operators import c_type
from streamcheck.core.term import Term
from streamcheck.core.types import StructType

if TYPE_CHECKING:
    from streamcheck.codegen.step import StepWriter


@dataclass(frozen=True, slots=True)
class CFunction:
    """The function of a component in C. `state` is None if it has none; `results` is the struct of its outputs, None if
    it returns its one output. `initial`: the initialiser of its state."""

    name: str
    init: str
    state: StructType | None
    results: StructType | None
    initial: str
    figures: Figures


@dataclass(slots=True)
class CallWriter:
    step: StepWriter
    functions: Mapping[str, CFunction]
    members: dict[str, str] = field(default_factory=dict)  # in the state, by the instance
    caller: dict[Term, SharedCall] = field(default_factory=dict)  # by the result

    def __post_init__(self) -> None:
        for call in self.step.lowered.calls:
            self.caller |= dict.fromkeys(call.results, call)
            if self.functions[call.component].state is not None:
                self.members[call.instance] = self.step.names.fresh_state(call.instance)

    @property
    def site(self) -> int:
        """That of loops."""
        return 2 * len(self.step.lowered.triggers) + 2

    def write_all(self) -> None:
        for call in self.step.lowered.calls:
            if call.results[0] not in self.step.texts:
                self.write(call)

    def write(self, call: SharedCall) -> None:
        step, function = self.step, self.functions[call.component]
        args = [f"&{step.state(self.members[call.instance])}"] if function.state is not None else []
        for i, arg in enumerate(call.args):
            args.append(step.argument(call.instance, i, arg, step.body, self.site))
        if step.body.noted != call.where:
            step.body.noted = call.where
            step.body.lines.append(text.comment(text.source(call.where)))
        if function.results is None:
            self._keep(call, f"{function.name}({', '.join(args)})")
            return
        name = step.names.fresh(f"{call.instance}_out")
        step.locals.append(function.results)
        step.body.lines.append(f"{text.declaration(function.results, name)};")
        step.body.lines.append(f"{function.name}({', '.join([*args, f'&{name}'])});")
        for result, (member, type) in zip(call.results, function.results.fields, strict=True):
            step.texts[result] = CExpression(f"{name}.{member_name(member)}", PRIMARY, c_type(type))

    def _keep(self, call: SharedCall, called: str) -> None:
        """The one result in a local variable."""
        step, (result,) = self.step, call.results
        named = step.lowered.names.get(result)
        own = named is None or named.name == call.instance  # which the member of the state is called
        name = step.names.fresh(f"{call.instance}_out" if own or named is None else named.name)
        if named is not None:
            step.named_locals[name] = named.name
        step.locals.append(result.type)
        step.body.lines.append(f"const {text.declaration(result.type, name)} = {called};")
        step.texts[result] = CExpression(name, PRIMARY, c_type(result.type))
