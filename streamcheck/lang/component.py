"""Components: functions of streams whose inputs and outputs have types, and their contracts.

A call evaluates the function: the streams of the instance are those of the caller, and there is one semantics. A call
leaves a record besides: the streams of its inputs and outputs, the clauses of its contract, and the names of its local
streams. `elaborate` finds the calls that a spec reaches by the `output` nodes around what they return.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, cast

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, here
from streamcheck.core.types import BOOL, Type
from streamcheck.lang.define import line_of
from streamcheck.lang.node import Extern, Node, call_context, current_call
from streamcheck.lang.stream import make, node_of
from streamcheck.lang.types import core_type

OUTPUT = "out"  # the name of an output that stands alone


@dataclass(frozen=True, slots=True)
class ClauseNode:
    name: str
    node: Node
    where: Location


@dataclass(frozen=True, slots=True)
class ModeNode:
    name: str
    require: Node
    ensure: Node
    where: Location


@dataclass(slots=True, eq=False)
class ComponentCall:
    """An instance of a component. `parent` is the instance in whose function the call stands."""

    component: ComponentBase | ContractBase
    fixed: tuple[tuple[str, Any], ...]  # the arguments that are no streams
    parent: ComponentCall | None
    where: Location
    inputs: dict[str, Node]
    outputs: dict[str, Node] = field(default_factory=dict)
    assumes: dict[str, ClauseNode] = field(default_factory=dict)
    guarantees: dict[str, ClauseNode] = field(default_factory=dict)
    modes: dict[str, ModeNode] = field(default_factory=dict)
    locals: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> tuple[ComponentBase | ContractBase, tuple[tuple[str, Any], ...]]:
        """The same for calls that have the same body."""
        return self.component, self.fixed

    @property
    def title(self) -> str:
        """The component with its arguments that are no streams: `delay(3)`."""
        values = ", ".join(repr(value) for _, value in self.fixed)
        return f"{self.component.name}({values})" if values else self.component.name


class ContractBase:
    """Assumptions, guarantees and modes of inputs and outputs, which components implement."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.name = function.__name__
        self.where = line_of(function.__code__)
        self.inputs: dict[str, Type] = {}
        self.outputs: dict[str, Type] = {}
        for parameter in _signature(function, "@contract").parameters.values():
            type = _stream_type(parameter, f"@contract {self.name}: `{parameter.name}`")
            if type is None or parameter.default is not parameter.empty:
                text = f"@contract {self.name}: `{parameter.name}` is no stream"
                raise SpecError(text, self.where, write=f"{parameter.name}: Word8, or another type of streams")
            named = parameter.kind is parameter.KEYWORD_ONLY
            (self.outputs if named else self.inputs)[parameter.name] = type
        if not self.outputs:
            text = f"@contract {self.name} has no outputs"
            raise SpecError(
                text, self.where, write=f"def {self.name}(a: Word8, *, {OUTPUT}: Word8): outputs after the *"
            )

    def __repr__(self) -> str:
        return f"<contract {self.name}>"

    def apply_to(self, call: ComponentCall) -> None:
        """Add the clauses to the instance."""
        given = {n: make(node) for n, node in (*call.inputs.items(), *self._outputs_of(call).items())}
        with call_context(call):
            _evaluate(self.function, [given[n] for n in self.inputs], {n: given[n] for n in self.outputs}, call.locals)

    def _outputs_of(self, call: ComponentCall) -> dict[str, Node]:
        if len(self.outputs) == 1 and len(call.outputs) == 1:
            return dict(zip(self.outputs, call.outputs.values(), strict=True))
        return call.outputs

    def check_fit(self, component: ComponentBase) -> None:
        """SpecError if the component has other inputs or outputs."""
        alone = len(self.outputs) == 1 and len(component.outputs) == 1
        own = list(self.outputs.values()) if alone else self.outputs
        other = list(component.outputs.values()) if alone else component.outputs
        for what, mine, its in (("inputs", self.inputs, component.inputs), ("outputs", own, other)):
            if mine != its:
                shown = f"{what} {_types_text(its)}, the contract {_types_text(mine)}"
                raise SpecError(
                    f"@component {component.name} implements {self.name} and has the {shown}",
                    component.where,
                    also=(("the contract", self.where),),
                )


class ComponentBase:
    """A function of streams, and the contracts that it implements."""

    def __init__(self, function: Callable[..., Any], contracts: Sequence[ContractBase] = ()) -> None:
        self.function = function
        self.name = function.__name__
        self.where = line_of(function.__code__)
        self.contracts = tuple(contracts)
        self.signature = _signature(function, "@component")
        self.inputs: dict[str, Type] = {}
        for parameter in self.signature.parameters.values():
            type = _stream_type(parameter, f"@component {self.name}: `{parameter.name}`")
            if type is not None:
                self.inputs[parameter.name] = type
        self.returned = self.signature.return_annotation
        self.outputs = self._declared_outputs()
        for contract in self.contracts:
            contract.check_fit(self)

    def __repr__(self) -> str:
        return f"<component {self.name}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as why:
            raise SpecError(f"{self.name}: {why}", here(), also=(("the component", self.where),)) from None
        bound.apply_defaults()
        given = {name: self._input(name, value) for name, value in bound.arguments.items() if name in self.inputs}
        fixed = tuple((name, value) for name, value in bound.arguments.items() if name not in self.inputs)
        return self.instantiate(ComponentCall(self, fixed, current_call.get(), here(), given))

    def instantiate(self, call: ComponentCall) -> Any:
        """The outputs of the call, as the function's caller has them."""
        try:
            hash(call.fixed)
        except TypeError:
            text = f"{self.name}: an argument that is no stream has to be a number, a string or the like"
            raise SpecError(text, call.where) from None
        around = call.parent
        while around is not None:
            if around.kind == call.kind:
                raise SpecError(f"component {call.title} calls itself, without end", call.where)
            around = around.parent
        streams = {name: make(node) for name, node in call.inputs.items()}
        arguments = [streams.get(n, dict(call.fixed).get(n)) for n in self.signature.parameters]
        with call_context(call):
            result = _evaluate(self.function, arguments, {}, call.locals)
        call.outputs = self._outputs_of(result)
        for contract in self.contracts:
            contract.apply_to(call)
        made = {
            n: make(Node("output", (node,), node.type, (call, n), where=call.where)) for n, node in call.outputs.items()
        }
        return made[OUTPUT] if self._is_alone else self.returned(**made)

    def _input(self, name: str, value: object) -> Node:
        node = node_of(value, self.inputs[name])
        if node.type is not self.inputs[name]:
            text = f"{self.name}: the input `{name}` is {self.inputs[name]}, and {node.type} is given"
            raise SpecError(text, here(), also=(("the component", self.where),))
        return node

    # Outputs

    @property
    def _is_alone(self) -> bool:
        return isinstance(getattr(self.returned, "core", None), Type)

    def _declared_outputs(self) -> dict[str, Type]:
        if self._is_alone:
            return {OUTPUT: self.returned.core}
        fields = getattr(self.returned, "_fields", None)
        if isinstance(self.returned, type) and issubclass(self.returned, tuple) and fields:
            hints = typing.get_type_hints(self.returned)
            return {name: core_type(hints[name], f"@component {self.name}: the output `{name}`") for name in fields}
        text = f"@component {self.name}: expected the type of its output, or a NamedTuple of types"
        raise SpecError(text, self.where, write=f"def {self.name}(…) -> Word8, or -> Out with class Out(NamedTuple)")

    def _outputs_of(self, result: object) -> dict[str, Node]:
        if result is None:
            raise SpecError(f"component {self.name} returns nothing", self.where, write="return …")
        if self._is_alone:
            values = {OUTPUT: result}
        elif isinstance(result, self.returned):
            values = dict(zip(self.outputs, cast("tuple[object, ...]", result), strict=True))
        else:
            text = f"component {self.name} returns {type(result).__name__}, not {self.returned.__name__}"
            raise SpecError(text, self.where, write=f"return {self.returned.__name__}(…)")
        nodes = {}
        for name, type_ in self.outputs.items():
            node = node_of(values[name], type_)
            if node.type is not type_:
                text = f"component {self.name}: the output `{name}` is declared {type_}, and it is {node.type}"
                raise SpecError(text, self.where, also=(("the output", node.where),))
            nodes[name] = node
        return nodes


def _signature(function: Callable[..., Any], what: str) -> inspect.Signature:
    try:
        signature = inspect.signature(function, eval_str=True)
    except NameError as why:
        raise SpecError(f"{what} {function.__name__}: {why}", line_of(function.__code__)) from None
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            text = f"{what} {function.__name__}: `{parameter.name}` stands for many parameters"
            raise SpecError(text, line_of(function.__code__), write="one parameter for each input, or an Array")
    return signature


def _stream_type(parameter: inspect.Parameter, what: str) -> Type | None:
    """The type of an input; None if it is no stream. SpecError if it has no type."""
    if parameter.annotation is parameter.empty:
        raise SpecError(f"{what} has no type", here(), write=f"{parameter.name}: Word8, or another type of streams")
    core = getattr(parameter.annotation, "core", None)
    return core if isinstance(core, Type) else None


def _types_text(types: object) -> str:
    if isinstance(types, dict):
        return ", ".join(f"{name}: {type}" for name, type in types.items()) or "none"
    return ", ".join(map(str, cast("list[Type]", types)))


def _evaluate(function: Callable[..., Any], args: Sequence[Any], named: dict[str, Any], names: dict[str, Any]) -> Any:
    """The result of the function. `names` gets its local variables, which name streams in reports."""
    code, before = function.__code__, sys.getprofile()

    def on_return(frame: FrameType, event: str, argument: Any) -> None:
        if event == "return" and frame.f_code is code:
            names.update(frame.f_locals)

    sys.setprofile(on_return)
    try:
        return function(*args, **named)
    finally:
        sys.setprofile(before)


# Clauses


def assume(name: str, stream: Any) -> None:
    """The component's callers keep `stream` true at every step."""
    call = _call_for("assume")
    _add("assumption", call, call.assumes, ClauseNode(_text(name, "assume"), _bool("assume", stream), here()))


def guarantee(name: str, stream: Any) -> None:
    """The component keeps `stream` true at every step, as long as its assumptions have been true."""
    call = _call_for("guarantee")
    _add("guarantee", call, call.guarantees, ClauseNode(_text(name, "guarantee"), _bool("guarantee", stream), here()))


def contract_mode(name: str, *, require: Any, ensure: Any) -> None:
    """At each step at which `require` is true, `ensure` is. If a contract has modes, one of them is active at every
    step."""
    call = _call_for("contract_mode")
    made = ModeNode(_text(name, "contract_mode"), _bool("require", require), _bool("ensure", ensure), here())
    _add("mode", call, call.modes, made)


def _call_for(what: str) -> ComponentCall:
    call: ComponentCall | None = current_call.get()
    if call is None:
        text = f"`{what}` stands in the function of a component or a contract"
        write = "spec.assume(name, s)" if what == "assume" else "spec.prop(name, s)"
        raise SpecError(text, here(), write=f"{write}, for a spec")
    return call


def _text(name: object, what: str) -> str:
    if isinstance(name, str) and name:
        return name
    raise SpecError(f"{what}: the name comes first, then the stream; found {name!r}", here())


def _bool(what: str, stream: object) -> Node:
    if isinstance(stream, bool):
        text = f"{what}: expected a Bool stream, found Python's {stream}: Python evaluated something while loading"
        raise SpecError(text, here(), write=f"Bool({stream}), if a constant is meant")
    node = node_of(stream, BOOL)
    if node.type is not BOOL:
        raise SpecError(f"{what}: expected a Bool stream, found {node.type}", here())
    return node


def _add(kind: str, call: ComponentCall, table: dict[str, Any], clause: Any) -> None:
    if clause.name in table:
        also = (("the first", table[clause.name].where),)
        raise SpecError(f'{call.component.name}: a second {kind} named "{clause.name}"', clause.where, also=also)
    table[clause.name] = clause


# Components by themselves


def alone(kind: ComponentBase | ContractBase, fixed: tuple[tuple[str, Any], ...] = ()) -> ComponentCall:
    """A call whose inputs may be any: of a contract, its outputs too."""
    inputs = {
        n: Node("extern", (), t, Extern(n, t, None, "", "", kind.where), where=kind.where)
        for n, t in kind.inputs.items()
    }
    call = ComponentCall(kind, fixed, None, kind.where, inputs)
    if isinstance(kind, ComponentBase):
        kind.instantiate(call)
    else:
        call.outputs = {n: Node("unknown", (), t, where=kind.where) for n, t in kind.outputs.items()}
        kind.apply_to(call)
    return call


def fixed_defaults(kind: ComponentBase | ContractBase) -> tuple[tuple[str, Any], ...] | None:
    """The defaults of the parameters that are no streams; None if one has no default."""
    if isinstance(kind, ContractBase):
        return ()
    fixed = [p for p in kind.signature.parameters.values() if p.name not in kind.inputs]
    given = tuple((p.name, p.default) for p in fixed)
    return None if any(p.default is p.empty for p in fixed) else given
