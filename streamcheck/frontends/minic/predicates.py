"""Conditions that a user writes about a program's variables, in C."""

from __future__ import annotations

from collections.abc import Sequence

from streamcheck.c import kinds
from streamcheck.c.arithmetic import CValue
from streamcheck.c.models import MODELS, DataModel
from streamcheck.c.syntax import parse
from streamcheck.core.errors import SpecError
from streamcheck.core.term import Term
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, MachineType, Type
from streamcheck.frontends.minic.expressions import Expressions
from streamcheck.frontends.minic.flow import Flow
from streamcheck.problem.automaton import Automaton


def read_predicates(program: Automaton, texts: Sequence[str], *, mathematical: bool) -> tuple[Term, ...]:
    """The conditions as terms over the program's variables, which have the names shown in counterexamples."""
    model = MODELS[program.data_model]
    flow = Flow("predicates", "predicate")
    to = Expressions(flow, mathematical=mathematical, model=model)
    for v in program.variables:
        kind = _kind(v.type, model)
        if kind is not None:
            to.scope.names[str(v.payload)] = CValue(kind, v)
    return tuple(_predicate(text, program, to) for text in texts)


def _predicate(text: str, program: Automaton, to: Expressions) -> Term:
    try:
        nodes = parse(f"int predicate(void) {{ return {text}; }}", "predicate")
        (function,) = nodes
        (returned,) = function.body.block_items
        value = to.scalar(returned.expr)
    except (SpecError, ValueError, AttributeError) as why:
        names = ", ".join(str(v.payload) for v in program.variables)
        reason = why.message if isinstance(why, SpecError) else "not an expression"
        raise SpecError(f"the predicate {text!r}: {reason}", also=((f"variables: {names}", None),)) from None
    return to.arithmetic.truth(value)


def _kind(type: Type, model: DataModel) -> kinds.Integer | kinds.Floating | None:
    if type is BOOL:
        return kinds.BOOLEAN
    if type is FLOAT or type is DOUBLE:
        return kinds.FLOAT if type is FLOAT else kinds.DOUBLE
    if isinstance(type, MachineType):
        signed = model.exact.get(type.width)
        return signed if signed is None or type.signed else model.unsigned_of[signed]
    return model.INT if type.kind == "integer" else None
