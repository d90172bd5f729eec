"""The instances of a spec: their names, and the claims of their contracts.

A call in a spec or a component owes what the callee assumes, at every step; what the callee guarantees holds as long
as that was so at all steps up to now:

    voter.assume close        A
    voter.guarantee median    held & A  implies  G,   held = [True] ++ (held & A)

For the body of a component (`spec.main`), A is an assumption and G a property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, replace

from streamcheck.core.location import Location
from streamcheck.core.names import FreshNames
from streamcheck.core.types import BOOL
from streamcheck.lang.apply import apply
from streamcheck.lang.component import OUTPUT, ClauseNode, ComponentCall
from streamcheck.lang.node import Node, StreamDefinition
from streamcheck.lang.spec import Declaration, SpecBase
from streamcheck.lang.stream import Stream, make
from streamcheck.problem.claim import OfContract, Role

NUMBERED = "{} ({})"  # the second claim of a name


@dataclass(frozen=True, slots=True, eq=False)
class InstanceNodes:
    """An instance with its name. None for `assumes` and `held` if its contract assumes nothing."""

    name: str
    call: ComponentCall
    assumes: Node | None
    held: Node | None

    @property
    def prefix(self) -> str:
        return f"{self.name}." if self.name else ""


class BodySpec(SpecBase):
    """The body of a component, or a contract alone, as a spec: its inputs are externs."""

    def __init__(self, call: ComponentCall) -> None:
        self.name = call.title
        self.where = call.where
        self.namespace = {}
        self.triggers, self.properties, self.witnesses, self.assumptions = {}, {}, {}, {}
        self.recurring, self.fairness = {}, {}
        self.observers = {n: Declaration(n, node, node.where) for n, node in call.outputs.items()}
        self.main = call


def with_contracts(
    spec: SpecBase, closure: Callable[[SpecBase], Iterable[Node]]
) -> tuple[SpecBase, tuple[InstanceNodes, ...]]:
    """The spec with the claims of its instances' contracts, and the instances. `closure` gives the nodes of a
    spec, those that a node depends on before it."""
    also = copy(spec)
    also.properties, also.assumptions = dict(spec.properties), dict(spec.assumptions)
    names, claims = InstanceNames(), FreshNames([*spec.properties, *spec.witnesses])
    instances: dict[ComponentCall, InstanceNodes] = {}
    if spec.main is not None:
        names.known[spec.main] = ""
        instances[spec.main] = _declare_body(also, spec.main, claims)
    while True:
        calls = {n.payload[0]: None for n in closure(also) if n.op == "output" and n.payload[0] not in instances}
        if not calls:
            return also, tuple(instances.values())
        for call in sorted(calls, key=lambda c: (c.where.file, c.where.line)):
            instances[call] = _declare(also, call, names.name_of(call), claims)


class InstanceNames:
    """`voter`, `voter_2`, … in the order of the lines; inside of another instance behind its name."""

    def __init__(self) -> None:
        self.known: dict[ComponentCall, str] = {}
        self._fresh = FreshNames()

    def name_of(self, call: ComponentCall) -> str:
        if call not in self.known:
            around = "" if call.parent is None else self.name_of(call.parent)
            wish = f"{around}.{call.component.name}" if around else call.component.name
            self.known[call] = self._fresh.fresh(wish)
        return self.known[call]


def _declare(spec: SpecBase, call: ComponentCall, name: str, claims: FreshNames) -> InstanceNodes:
    """Add the claims of a call to those of the spec around it."""
    if not call.assumes:
        instance = InstanceNodes(name, call, None, None)
    else:
        assumed = _junction_of("and", [clause.node for clause in call.assumes.values()])
        instance = InstanceNodes(name, call, assumed, _so_far(assumed, call.where))
    for clause in call.assumes.values():
        _property(spec, claims.fresh(f"{name}.assume {clause.name}", NUMBERED), clause, "assumption", instance)
    for role, promise in _promises(call):
        node = promise.node
        if instance.held is not None and instance.assumes is not None:
            node = apply("implies", apply("and", instance.held, instance.assumes), node)
        _property(spec, claims.fresh(f"{name}.{promise.name}", NUMBERED), replace(promise, node=node), role, instance)
    return instance


def _so_far(condition: Node, where: Location) -> Node:
    """held = [True] ++ (held & condition)."""
    now = StreamDefinition("", BOOL, lambda: now.stream, where)
    now.stream = make(Node("ref", (), BOOL, now, where=where))
    held = Node("append", (now.stream._node,), BOOL, (True,), where=where)
    now.body = Node("and", (held, condition), BOOL, where=where)
    return held


def _declare_body(spec: SpecBase, call: ComponentCall, claims: FreshNames) -> InstanceNodes:
    instance = InstanceNodes("", call, None, None)
    for clause in call.assumes.values():
        spec.assumptions[f"assume {clause.name}"] = Declaration(f"assume {clause.name}", clause.node, clause.where)
    for role, promise in _promises(call):
        _property(spec, claims.fresh(promise.name, NUMBERED), promise, role, instance)
    return instance


def _promises(call: ComponentCall) -> Iterator[tuple[Role, ClauseNode]]:
    for clause in call.guarantees.values():
        yield "guarantee", replace(clause, name=f"guarantee {clause.name}")
    for mode in call.modes.values():
        yield "mode", ClauseNode(f"mode {mode.name}", apply("implies", mode.require, mode.ensure), mode.where)
    if call.modes:
        required = [mode.require for mode in call.modes.values()]
        first = next(iter(call.modes.values()))
        yield "modes", ClauseNode("some mode is active", _junction_of("or", required), first.where)


def _property(spec: SpecBase, name: str, clause: ClauseNode, role: Role, instance: InstanceNodes) -> None:
    spec.properties[name] = Declaration(name, clause.node, clause.where, origin=OfContract(role, instance.name))


def _junction_of(op: str, nodes: list[Node]) -> Node:
    result = nodes[0]
    for node in nodes[1:]:
        result = apply(op, result, node)
    return result


def labels_of(instance: InstanceNodes) -> Iterator[tuple[str, Node]]:
    """The names of the instance's streams: its function's variables, its outputs and its inputs."""
    for name, value in instance.call.locals.items():
        for suffix, stream in streams_in(value):
            yield f"{instance.prefix}{name}{suffix}", stream._node
    for name, node in (*instance.call.outputs.items(), *instance.call.inputs.items()):
        yield (instance.name or name) if name == OUTPUT else f"{instance.prefix}{name}", node
    if instance.held is not None:
        yield f"{instance.prefix}assumptions held", instance.held


def streams_in(value: object) -> Iterator[tuple[str, Stream]]:
    """The streams of a variable, with what comes behind its name: `.heat` of a NamedTuple, `_0` of a list."""
    if isinstance(value, Stream):
        yield "", value
    elif isinstance(value, list | tuple):
        fields = getattr(value, "_fields", None)
        suffixes = [f".{field}" for field in fields] if fields else [f"_{i}" for i in range(len(value))]
        yield from ((s, v) for s, v in zip(suffixes, value, strict=True) if isinstance(v, Stream))
