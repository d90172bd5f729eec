"""Calls of functions of the standard library that have models: expressions (`c.library`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamcheck.c import kinds, library
from streamcheck.c.arithmetic import CValue, SideCondition
from streamcheck.c.declarations import CResult, Function, NameScope
from streamcheck.c.kinds import AnyKind, Floating
from streamcheck.c.library import LibraryModel
from streamcheck.c.models import DataModel
from streamcheck.c.syntax import has_name
from streamcheck.c.terms import comparison
from streamcheck.core.types import plural

if TYPE_CHECKING:
    from streamcheck.frontends.minic.expressions import Expressions

LARGEST_CHARACTER = 255


def model_for(name: str, arguments: Sequence[AnyKind], data_model: DataModel) -> LibraryModel | None:
    """The model of a function, by the kinds of the arguments if it is a generic macro. None if there is none."""
    plain = library.model_name(name)
    if plain is None:
        return None
    floating = [kind for kind in arguments if isinstance(kind, Floating)]
    return library.model(plain, data_model, single=bool(floating) and all(kind == kinds.FLOAT for kind in arguments))


def has_signature(function: Function, model: LibraryModel) -> bool:
    """The file declares the function as the library does. Without parameters it leaves them open."""
    if function.result != model.result:
        return False
    given = [kind for _, kind in function.parameters]
    return not given or given == [kind for _, kind in model.parameters]


def value_of_model(model: LibraryModel, name: str, arguments: Sequence[CResult], node: Any, to: Expressions) -> CValue:
    """The value of a call: the model's expression, with its parameters bound to the arguments."""
    values = [value for value in arguments if isinstance(value, CValue)]
    if len(values) != len(arguments) or len(values) != len(model.parameters):
        count = plural(len(model.parameters), "number")
        raise to.error(f"{to.text(node)}: {name} takes {count}", node)
    names: dict[str, Any] = {}
    for (parameter, kind), value in zip(model.parameters, values, strict=True):
        names[parameter] = to.arithmetic.convert(value, kind)
    if model.is_character:
        character = names[model.parameters[0][0]]
        to.arithmetic.require_range(SideCondition.ARGUMENT, character, -1, LARGEST_CHARACTER)
    if model.needs_sign:
        number = names[model.parameters[0][0]].term
        to.limit("sign of a NaN", "the sign of a NaN is not modelled", comparison("eq", number, number))
    if has_name(model.value, library.ANY):
        names[library.ANY] = CValue(to.model.INT, to.unknown(name, to.model.INT))
    with to.within_model(node, NameScope(to.standard, names)):
        return to.arithmetic.convert(to.scalar(model.value), model.result)
