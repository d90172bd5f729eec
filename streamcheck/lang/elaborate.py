"""Evaluate all bodies that a spec reaches, each once; check quantifiers, drops and the declarations of externs.

The result is the closed graph of nodes that flattening turns into equations.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from streamcheck.core.depth import room_for_users
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.lang.define import force
from streamcheck.lang.instances import InstanceNodes, labels_of, streams_in, with_contracts
from streamcheck.lang.node import Extern, Node
from streamcheck.lang.spec import Declaration, SpecBase


@dataclass(frozen=True, slots=True)
class Elaborated:
    """A spec whose bodies have been evaluated. `labels` are the user's names for nodes, best first."""

    spec: SpecBase
    externs: tuple[Extern, ...]
    labels: dict[Node, str]
    instances: tuple[InstanceNodes, ...] = ()


@room_for_users()
def elaborate(spec: SpecBase) -> Elaborated:
    """The spec, with the claims of the components that it uses."""
    spec, instances = with_contracts(spec, _in_order)
    nodes = _closure(_roots(spec))
    _check_quantifiers(spec, nodes)
    _check_drops(nodes)
    return Elaborated(spec, _externs(spec, nodes), _labels(spec, nodes, instances), instances)


def _in_order(spec: SpecBase) -> Iterator[Node]:
    """The nodes that the spec depends on, those that a node needs before it."""
    seen: set[Node] = set()
    for root in _roots(spec):
        stack = [(root, False)]
        while stack:
            node, ready = stack.pop()
            if ready:
                yield node
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(children(node)) if child not in seen)


def children(node: Node) -> tuple[Node, ...]:
    """The operands of a node; of a reference, the body of the definition, which the first call evaluates."""
    if node.op == "ref":
        return (force(node.payload),)
    return node.args if node.restart is None or node.op != "append" else (*node.args, node.restart)


def _closure(roots: Iterable[Node], among: Container[Node] | None = None) -> list[Node]:
    """The nodes that these depend on, all of them or those among some: what is not is not passed either."""
    seen: dict[Node, None] = {}
    stack = list(roots)[::-1]
    while stack:
        node = stack.pop()
        if node not in seen and (among is None or node in among):
            seen[node] = None
            stack.extend(reversed(children(node)))
    return list(seen)


def _roots(spec: SpecBase) -> Iterator[Node]:
    if spec.main is not None:
        yield from spec.main.inputs.values()
    for declared in _declarations(spec):
        yield declared.node
        yield from (arg for _, arg in declared.args)


def _declarations(spec: SpecBase) -> Iterator[Declaration]:
    tables = (spec.triggers, spec.observers, spec.assumptions, spec.properties, spec.witnesses)
    for table in (*tables, spec.recurring, spec.fairness):
        yield from table.values()


def _externs(spec: SpecBase, nodes: Iterable[Node]) -> tuple[Extern, ...]:
    """The externs in the order in which the module names them, then in the order of the search."""
    externs: dict[str, Extern] = {}
    for node in nodes:
        if node.op == "extern":
            new: Extern = node.payload
            old = externs.setdefault(new.name, new)
            if old is not new:
                externs[new.name] = _merge(old, new)
    order = [extern.name for extern in _named_externs(spec)]
    return tuple(externs[name] for name in dict.fromkeys([*order, *externs]) if name in externs)


def _named_externs(spec: SpecBase) -> list[Extern]:
    """The externs that names of the spec's module refer to, in the order of these names."""
    named = [s._node for value in list(spec.namespace.values()) for _, s in streams_in(value)]
    return [node.payload for node in named if node.op == "extern"]


def unused_externs(elaborated: Elaborated) -> tuple[str, ...]:
    """The names of externs that the module declares and the spec does not use."""
    used = {extern.name for extern in elaborated.externs}
    return tuple(sorted({extern.name for extern in _named_externs(elaborated.spec)} - used))


def _merge(old: Extern, new: Extern) -> Extern:
    """One extern from two declarations. They must not contradict each other."""
    for what, a, b in (
        ("type", old.type, new.type),
        ("sample", old.samples, new.samples),
        ("doc", old.doc, new.doc),
        ("unit", old.unit, new.unit),
    ):
        if a is not b and a != b and (what == "type" or (a and b and old.where != new.where)):
            first, second = sorted((old, new), key=lambda e: (e.where.file, e.where.line))
            shown = [f" ({e.type})" if what == "type" else "" for e in (second, first)]
            raise SpecError(
                f'extern "{new.name}" is declared twice, with different {what}s{shown[0]}',
                second.where,
                also=((f"the first{shown[1]}", first.where),),
            )
    return Extern(old.name, old.type, old.samples or new.samples, old.doc or new.doc, old.unit or new.unit, old.where)


# Quantifiers: `forall` is sound only at positive positions (if its truth can only help the property).


QUANTIFIED = ("forall", "exists", "bound")


def _check_quantifiers(spec: SpecBase, nodes: Iterable[Node]) -> None:
    """`nodes`: all that the spec depends on. Only those that depend on a quantifier are looked at."""
    above = _users_of_quantifiers(nodes)
    if not above:
        return
    for claims, quantifier in ((spec.properties, "forall"), (spec.witnesses, "exists")):
        for declared in claims.values():
            _check_positions(declared.node, quantifier, above)
    others = (spec.triggers, spec.observers, spec.assumptions, spec.recurring, spec.fairness)
    for table in others:
        for declared in table.values():
            for node in _closure([declared.node, *(arg for _, arg in declared.args)], above):
                _refuse(node, declared.where)


def _users_of_quantifiers(nodes: Iterable[Node]) -> set[Node]:
    """The nodes that depend on a quantifier or its constant, and these."""
    users: dict[Node, list[Node]] = {}
    stack: list[Node] = []
    for node in nodes:
        for child in children(node):
            users.setdefault(child, []).append(node)
        if node.op in QUANTIFIED:
            stack.append(node)
    found: set[Node] = set()
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack.extend(users.get(node, ()))
    return found


def _refuse(node: Node, where: Location) -> None:
    if node.op == "forall":
        raise SpecError("forall is for properties only", node.where, also=(("it is used here", where),))
    if node.op == "exists":
        raise SpecError("exists is for spec.exists only", node.where, also=(("it is used here", where),))
    if node.op == "bound":
        raise SpecError("the constant of a forall is used outside it", node.where, also=(("here", where),))


def _check_positions(root: Node, quantifier: str, above: Container[Node]) -> None:
    positive: set[Node] = set()
    stack = [root]
    below: list[Node] = []
    while stack:
        node = stack.pop()
        if node in positive or node not in above:
            continue
        positive.add(node)
        match node.op:
            case "and" | "or" | "ref":
                stack.extend(children(node))
            case "implies":
                stack.append(node.args[1])
                below.append(node.args[0])
            case "forall" | "exists" if node.op == quantifier:
                stack.append(node.args[1])
            case _:
                below.extend([node] if node.op in ("forall", "exists") else children(node))
    bound = {node.args[0] for node in positive if node.op == quantifier}
    for node in _closure(below, above):
        if node.op in ("forall", "exists"):
            _refuse_quantifier(node, quantifier)
        if node.op == "bound" and node not in bound:
            raise SpecError(f"the constant of a {quantifier} is used outside it", node.where)


def _refuse_quantifier(node: Node, quantifier: str) -> None:
    if node.op != quantifier:
        place = "spec.exists" if node.op == "exists" else "prop"
        raise SpecError(f"{node.op} is for {place} only", node.where)
    raise SpecError(
        f"{quantifier} at this position would be negated, or take a new constant at each step",
        node.where,
        write=f"{quantifier} at the top, right of implies, or under & and |",
    )


def _check_drops(nodes: list[Node]) -> None:
    """Refuse a drop that looks ahead into a reset from outside: a future restart is not known yet."""
    if not any(node.op == "append" and node.restart is not None for node in nodes):
        return
    for drop in nodes:
        if drop.op == "drop":
            _check_drop(drop)


def _check_drop(drop: Node) -> None:
    stack, seen = [(drop.args[0], drop.payload)], set[tuple[Node, int]]()
    while stack:
        node, ahead = stack.pop()
        if (node, ahead) in seen:
            continue
        seen.add((node, ahead))
        if node.op == "append":
            if node.restart is not None and node.restart is not drop.restart:
                raise SpecError(
                    "drop looks ahead into a reset, but a future restart is not known yet",
                    drop.where,
                    also=(("restarted by the reset", node.where),),
                    write="drop inside the reset's function, or [0] ++ s outside instead",
                )
            if ahead > len(node.payload):
                stack.append((node.args[0], ahead - len(node.payload)))
        elif node.op == "drop":
            stack.append((node.args[0], ahead + node.payload))
        else:
            stack.extend((child, ahead) for child in children(node))


# Names for reports: definitions first, then the module's variables.


def _labels(spec: SpecBase, nodes: list[Node], instances: Iterable[InstanceNodes]) -> dict[Node, str]:
    labels: dict[Node, str] = {}
    reached = set(nodes)
    prefixes = {instance.call: instance.prefix for instance in instances}
    for node in nodes:
        if node.op == "ref" and node.payload.name:
            labels.setdefault(_target(node), prefixes.get(node.payload.call, "") + node.payload.name)
    for name, value in list(spec.namespace.items()):
        for suffix, stream in streams_in(value):
            node = _target(stream._node)
            if node in reached and node.op != "extern":
                labels.setdefault(node, name + suffix)
    for instance in instances:
        for name, node in labels_of(instance):
            target = _target(node)
            if target in reached and target.op != "extern":
                labels.setdefault(target, name)
    return labels


def _target(node: Node) -> Node:
    """The node at the end of a chain of definitions."""
    seen = set()
    while node.op == "ref" and node not in seen and node.payload.body is not None:
        seen.add(node)
        node = node.payload.body
    return node
