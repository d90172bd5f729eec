"""Checks that the equations have the meaning of the streams, independently of the flattener.

A flattener's table gives a term τ(s, k) for the value that stream s will have k steps from now. It is right if it
obeys the meaning of streams, rule by rule (by coinduction over the steps, nothing else is needed):

    τ(op(a, …), k)            = op(τ(a, k), …)
    τ(drop(n, s), k)          = τ(s, k + n)
    τ([v0 … vn-1] ++ s, k)    = τ(s, k - n)                                        if k ≥ n
    τ([v0 … vn-1] ++ s, k)    = a cell that begins with vk; its next value is τ([v0 … vn-1] ++ s, k + 1)

In `reset(c, …)`, the elements of a delay are vk at each step at which c is true. Every term that the specification
keeps must be the term of the stream that the user declared. A difference is a bug in streamcheck, not in the spec.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamcheck.core.term import Term, constant, term, variable
from streamcheck.lang.elaborate import children
from streamcheck.lang.node import Node
from streamcheck.lang.spec import SpecBase
from streamcheck.problem.claim import Goal
from streamcheck.problem.specification import Cell, Specification

Table = Mapping[tuple[Node, int], Term]


class Unfaithful(Exception):
    """The equations do not have the meaning of the streams: an internal error."""


def check_flattening(spec: SpecBase, table: Table, specification: Specification) -> None:
    """Raise Unfaithful if a rule is broken."""
    cells = {c.var: c for c in specification.cells}
    declared = _variables_of(specification)
    chosen: dict[Term, Node] = {}
    if _names_of(spec) != _kept_names(specification):
        raise Unfaithful(f"{spec.where}: a declaration is missing, or one is new")
    for root, kept in _roots(spec, specification):
        if table.get((root, 0)) is not kept:
            raise Unfaithful(f"{root.where}: a declared stream has another term")
    reached = _reachable_nodes([root for root, _ in _roots(spec, specification)])
    for (node, shift), value in table.items():
        if node not in reached:
            continue
        if node.op == "append" and shift < len(node.payload):
            held = _cell_variable(node, shift, value, table)
            if held.op != "var" or declared.get(held, "append") != "append":
                raise Unfaithful(f"{node.where}: a delay is not a cell")
            _check_element(node, shift, value, table, cells)
        elif node.op == "extern":
            if shift or value is not variable(node.payload.name, node.type) or declared.get(value) != "extern":
                raise Unfaithful(f"{node.where}: an input has another term")
        elif node.op in ("unknown", "bound"):  # a variable of its own, which nothing determines
            of_its_own = value.op == "var" and declared.get(value, node.op) == node.op
            if not of_its_own or chosen.setdefault(value, node) is not node or (shift and node.op == "unknown"):
                raise Unfaithful(f"{node.where}: an unknown stream has another term")
        elif value is not _expected_term(node, shift, table):
            raise Unfaithful(f"{node.where}: a stream has another term")


def _variables_of(specification: Specification) -> dict[Term, str]:
    """The operation of the streams that each variable can stand for."""
    declared = {i.var: "extern" if i.extern else "unknown" for i in specification.inputs}
    declared |= {c.var: "bound" for c in specification.constants}
    return declared | {c.var: "append" for c in specification.cells}


def _names_of(spec: SpecBase) -> list[list[str]]:
    """The names of the triggers, observers, assumptions and claims that the user declared."""
    given = (spec.triggers, spec.observers, spec.assumptions, spec.fairness)
    return [[*table] for table in (*given, spec.properties, spec.witnesses, spec.recurring)]


def _kept_names(specification: Specification) -> list[list[str]]:
    """The same of the specification."""
    written = [c for c in specification.properties if not c.is_implied]
    goals = ([c.name for c in written if c.goal is goal] for goal in Goal)
    kept = (specification.triggers, specification.observers, specification.assumptions, specification.fairness)
    return [*([d.name for d in declarations] for declarations in kept), *goals]


def _roots(spec: SpecBase, specification: Specification) -> Iterator[tuple[Node, Term]]:
    """Every stream that the user declared, with its term in the specification."""
    for trigger in specification.triggers:
        declared = spec.triggers[trigger.name]
        yield declared.node, trigger.guard
        yield from ((node, arg) for (_, node), (_, arg) in zip(declared.args, trigger.args, strict=True))
    for observer in specification.observers:
        yield spec.observers[observer.name].node, observer.term
    for assumption in specification.assumptions:
        yield spec.assumptions[assumption.name].node, assumption.term
    for fair in specification.fairness:
        yield spec.fairness[fair.name].node, fair.term
    tables = {
        Goal.ALWAYS: spec.properties,
        Goal.REACHABLE: spec.witnesses,
        Goal.INFINITELY_OFTEN: spec.recurring,
    }
    for claim in specification.properties:
        if not claim.is_implied:
            yield tables[claim.goal][claim.name].node, claim.term


def _reachable_nodes(roots: list[Node]) -> set[Node]:
    seen: set[Node] = set()
    while roots:
        node = roots.pop()
        if node not in seen:
            seen.add(node)
            roots.extend(children(node))
    return seen


def _expected_term(node: Node, shift: int, table: Table) -> Term | None:
    """The term by the rules, from those of the streams that the node is made of."""
    match node.op:
        case "const":
            return constant(node.type, node.payload)
        case "drop":
            return table.get((node.args[0], shift + node.payload))
        case "append":
            return table.get((node.args[0], shift - len(node.payload)))
        case "ref":
            return table.get((node.payload.body, shift))
        case "require" | "output":
            return table.get((node.args[0], shift))
        case "forall" | "exists":
            return table.get((node.args[1], shift))
    operands = [table.get((a, shift)) for a in node.args]
    known = [t for t in operands if t is not None]
    return term(node.op, *known, payload=node.payload) if len(known) == len(operands) else None


def _check_element(node: Node, k: int, value: Term, table: Table, cells: Mapping[Term, Cell]) -> None:
    """Raise Unfaithful if `value` is not element k of a delay. Cells that the specification drops are never read."""
    cell = cells.get(_cell_variable(node, k, value, table))
    while cell is not None:
        last = k + 1 == len(node.payload)
        after = _delay_term(node.args[0], table) if last else table.get((node, k + 1))
        wrong = cell.next is not after if after is not None else last
        if wrong or cell.free or cell.initial is not constant(node.type, node.payload[k]):
            raise Unfaithful(f"{node.where}: a delay holds another value")
        if after is not None:
            return
        k += 1  # nothing else reads the next element, so the cell determines it
        cell = cells.get(_cell_variable(node, k, cell.next, table))
        if cell is None:
            raise Unfaithful(f"{node.where}: a delay holds no cell")


def _cell_variable(node: Node, k: int, value: Term, table: Table) -> Term:
    """The variable of the cell behind element k."""
    if node.restart is None:
        return value
    restart, first = table.get((node.restart, 0)), constant(node.type, node.payload[k])
    if value.op != "mux" or value.args[0] is not restart or value.args[1] is not first:
        raise Unfaithful(f"{node.where}: a delay is not restarted")
    return value.args[2]


def _delay_term(node: Node, table: Table) -> Term | None:
    """Equal delays of constants share their cells, so the table may lack the constant."""
    return constant(node.type, node.payload) if node.op == "const" else table.get((node, 0))
