"""Flattening [Laurent, "Giving Copilot a small-step operational semantics"]: nodes to equations.

A node is read at a shift: `at(s, k)` is the term, over this step's cells and inputs, for the value that `s` will
have k steps from now.

    at(op(a, b), k)          = op(at(a, k), at(b, k))
    at(drop(n, s), k)        = at(s, k + n)
    at([v0 … vn-1] ++ s, k)  = the cell that holds element k, when k < n;   at(s, k - n) otherwise
    at(extern, 0)            = the input;   at(extern, k) for k > 0: not known yet, an error

Cell i of `[v0 … vn-1] ++ s` starts as vi and takes over cell i+1; the last takes at(s, 0). Inside `reset(c, …)` the
present elements are mux(c, vi, cell i). A stream is causal if no cycle returns to the same node at the same or
a later step: the search for `at` finds such a cycle on its own path.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.term import TRUE, Term, constant, term, variable, walk
from streamcheck.core.types import plural
from streamcheck.lang.elaborate import Elaborated, children, unused_externs
from streamcheck.lang.instances import InstanceNodes
from streamcheck.lang.node import Node
from streamcheck.lang.obligations import Dependencies, NodeAt, obligations
from streamcheck.lang.spec import Declaration
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import (
    Cell,
    ComponentInstance,
    Constant,
    Input,
    Named,
    Specification,
    Trigger,
)


class Flattening:
    def __init__(self, elaborated: Elaborated, shown: Mapping[object, str] | None = None) -> None:
        self.spec = elaborated.spec
        self.instances = elaborated.instances
        self.shown = shown or {}  # the names of components, if several have one name
        self.externs = elaborated.externs
        self.unused = unused_externs(elaborated)
        self.labels = elaborated.labels
        self.names = VariableNames(e.name for e in elaborated.externs)
        self.terms: dict[NodeAt, Term] = {}
        self.dependencies = Dependencies()
        self.inputs: dict[Node, Input] = {}
        self.constants: dict[Node, Constant] = {}
        self.delays: dict[Node, list[Term]] = {}  # the cells of an append, as variables
        self._delay_of: dict[object, list[Term]] = {}  # the same, by the contents of the delay
        self.pending: deque[Node] = deque()  # appends whose cells have no next value yet
        self.cells: dict[Term, Cell] = {}

    def specification(self) -> Specification:
        spec = self.spec
        triggers = tuple(self._trigger(t) for t in spec.triggers.values())
        observers = tuple(Named(d.name, self._root(d.node), d.where) for d in spec.observers.values())
        assumptions = tuple(Claim(d.name, self._root(d.node), d.where) for d in spec.assumptions.values())
        properties = [Claim(d.name, self._root(d.node), d.where, origin=d.origin) for d in spec.properties.values()]
        properties += [Claim(d.name, self._root(d.node), d.where, Goal.REACHABLE) for d in spec.witnesses.values()]
        properties += [
            Claim(d.name, self._root(d.node), d.where, Goal.INFINITELY_OFTEN) for d in spec.recurring.values()
        ]
        fairness = tuple(Claim(d.name, self._root(d.node), d.where) for d in spec.fairness.values())
        self._define_pending()
        reached = {node for node, _ in self.terms}  # an input that its component ignores is not among them
        for instance in self.instances:
            for node in (*instance.call.inputs.values(), *instance.call.outputs.values()):
                if node in reached:
                    self.at(node, 0)
        self._define_pending()
        implied = obligations(self.dependencies, self.terms, [p.name for p in properties])
        whole = Specification(
            spec.name,
            tuple(self._all_inputs()),
            tuple(self.constants.values()),
            tuple(self.cells.values()),
            (),
            triggers,
            observers,
            (*properties, *implied),
            assumptions,
            spec.where,
            unused=self.unused,
            fairness=fairness,
        )
        claims = [c.term for c in (*whole.properties, *whole.assumptions, *whole.fairness)]
        needed = whole.needed_by([*whole.outputs(), *claims])
        return replace(
            whole,
            inputs=tuple(i for i in whole.inputs if i.var in needed or i.extern),
            constants=tuple(c for c in whole.constants if c.var in needed),
            cells=tuple(c for c in whole.cells if c.var in needed),
            wires=self._wires(needed),
            instances=tuple(self._instance(instance, needed) for instance in self.instances),
        )

    # Nodes at shifts

    def _instance(self, instance: InstanceNodes, needed: set[Term]) -> ComponentInstance:
        """The instance's terms that the spec depends on."""

        def those_needed(nodes: Mapping[str, Node]) -> tuple[Named, ...]:
            terms = ((name, self.terms.get((node, 0)), node.where) for name, node in nodes.items())
            return tuple(Named(name, t, where) for name, t, where in terms if t is not None and t in needed)

        def condition(node: Node | None) -> Term:
            found = TRUE if node is None else self.terms.get((node, 0), TRUE)
            return found if found in needed else TRUE

        call, assumes, held = instance.call, condition(instance.assumes), condition(instance.held)
        modes = those_needed({mode.name: mode.require for mode in call.modes.values()})
        name = self.shown.get(call.kind, call.title)
        return ComponentInstance(
            instance.name, name, call.where, those_needed(call.inputs), those_needed(call.outputs), assumes, held, modes
        )

    def _root(self, node: Node, condition: Term | None = None) -> Term:
        self.dependencies.roots.append(((node, 0), condition))
        return self.at(node, 0)

    def _trigger(self, declared: Declaration) -> Trigger:
        guard = self._root(declared.node)
        args = tuple((name, self._root(arg, guard)) for name, arg in declared.args)
        return Trigger(declared.name, guard, args, declared.where)

    def at(self, node: Node, shift: int) -> Term:
        """The term for the node's value `shift` steps from now, by a depth-first walk with its own stack."""
        terms, needs = self.terms, self.dependencies.needs
        on_path: dict[Node, list[int]] = {}
        path: list[NodeAt] = []
        stack = [((node, shift), False)]
        while stack:
            key, ready = stack.pop()
            if ready:  # all its needs are done
                terms[key] = self._term(key, [terms[k] for k in needs[key]])
                on_path[path.pop()[0]].pop()
            elif key not in terms:
                if any(earlier <= key[1] for earlier in on_path.get(key[0], ())):
                    raise _causality_error(path, key)
                if key[1] and key[0].op in ("extern", "unknown"):
                    raise _lookahead_error(path, key)
                needs[key] = self._needs(key)
                self.dependencies.order.append(key)
                path.append(key)
                on_path.setdefault(key[0], []).append(key[1])
                stack.append((key, True))
                stack.extend((k, False) for k in reversed(needs[key]) if k not in terms)
        return terms[(node, shift)]

    def _needs(self, key: NodeAt) -> list[NodeAt]:
        """The keys whose values the value at this key is computed from in the same step."""
        node, shift = key
        match node.op:
            case "drop":
                return [(node.args[0], shift + node.payload)]
            case "ref":
                return [(children(node)[0], shift)]
            case "append":
                length = len(node.payload)
                if shift >= length:
                    return [(node.args[0], shift - length)]
                return [] if node.restart is None else [(node.restart, 0)]
            case "forall" | "exists":
                return [(node.args[1], shift)]
        return [(a, shift) for a in node.args]

    def _term(self, key: NodeAt, args: list[Term]) -> Term:
        node, shift = key
        match node.op:
            case "const":
                return constant(node.type, node.payload)
            case "extern":
                return variable(node.payload.name, node.type)
            case "unknown":
                return self._unknown(node).var
            case "bound":
                return self._constant(node).var
            case "drop" | "ref" | "forall" | "exists" | "require" | "output":
                return args[0]
            case "append":
                if shift >= len(node.payload):
                    return args[0]
                held = self._delay(node)[shift]
                if node.restart is None:
                    return held
                return term("mux", args[0], constant(node.type, node.payload[shift]), held)
        return term(node.op, *args, payload=node.payload)

    # Variables

    def _unknown(self, node: Node) -> Input:
        if node not in self.inputs:
            name = self.names.fresh(self.labels.get(node, f"unknown_{node.where.line}"))
            self.inputs[node] = Input(name, node.type, False, "", "", node.where)
        return self.inputs[node]

    def _constant(self, node: Node) -> Constant:
        if node not in self.constants:
            self.constants[node] = Constant(self.names.fresh(node.payload), node.type, node.where, node.payload)
        return self.constants[node]

    def _all_inputs(self) -> Iterable[Input]:
        for e in self.externs:
            yield Input(e.name, e.type, True, e.doc, e.unit, e.where)
        yield from self.inputs.values()

    def _delay(self, node: Node) -> list[Term]:
        """The cells of an append; equal appends share them."""
        if node not in self.delays:
            delayed = node.args[0]
            source = constant(delayed.type, delayed.payload) if delayed.op == "const" else delayed
            made_of = (tuple(constant(node.type, v) for v in node.payload), source, node.restart)
            if made_of not in self._delay_of:
                self._delay_of[made_of] = self._new_cells(node)
                self.pending.append(node)
            self.delays[node] = self._delay_of[made_of]
        return self.delays[node]

    def _new_cells(self, node: Node) -> list[Term]:
        label = self.labels.get(node)
        if label is None:
            label = f"cell_{node.where.line}"
        elif node.restart is not None:  # the name belongs to the stream, whose value the reset may replace
            label += "_held"
        names = self.names.fresh_group(label, len(node.payload))
        return [variable(name, node.type) for name in names]

    def _define_pending(self) -> None:
        while self.pending:
            self._define_cells(self.pending.popleft())

    def _define_cells(self, node: Node) -> None:
        held = self.delays[node]
        present = held
        if node.restart is not None:
            restart = self._root(node.restart)
            values = [constant(node.type, v) for v in node.payload]
            present = [term("mux", restart, v, h) for v, h in zip(values, held, strict=True)]
        nexts = [*present[1:], self._root(node.args[0])]
        for var, value, after in zip(held, node.payload, nexts, strict=True):
            initial = constant(node.type, value)
            self.cells[var] = Cell(var.payload, initial, after, node.where, named=node in self.labels)

    def _wires(self, needed: set[Term]) -> tuple[Named, ...]:
        """The user's names for terms, in dependency order; variables have names of their own."""
        named: dict[Term, Named] = {}
        for node, label in self.labels.items():
            labelled = self.terms.get((node, 0))
            if labelled is None or labelled not in needed or labelled.op in ("var", "const") or labelled in named:
                continue
            named[labelled] = Named(self.names.fresh(label), labelled, node.where)
        return tuple(named[t] for t in walk(named) if t in named)


class VariableNames:
    """Different names for different variables: the wish if it is free, else the wish with a number."""

    def __init__(self, taken: Iterable[str]) -> None:
        self.taken = set(taken)
        self.attempts: dict[str, int] = {}

    def fresh(self, wish: str) -> str:
        return self.fresh_group(wish, 1)[0]

    def fresh_group(self, wish: str, count: int) -> list[str]:
        """`fib`, `fib_1`, … for the elements of one delay."""
        while True:
            attempt = self.attempts[wish] = self.attempts.get(wish, 0) + 1
            base = wish if attempt == 1 else f"{wish}_{attempt}"
            names = [base, *(f"{base}_{i}" for i in range(1, count))]
            if self.taken.isdisjoint(names):
                self.taken.update(names)
                return names


def _lookahead_error(path: list[NodeAt], key: NodeAt) -> SpecError:
    node, shift = key
    name = f'extern "{node.payload.name}"' if node.op == "extern" else "an unknown"
    steps = "1 step" if shift == 1 else f"{shift} steps"
    dropped = next(above for above, _ in reversed(path) if above.op == "drop")
    return SpecError(
        f"this needs {name} {steps} ahead; an input is known at the present step only",
        dropped.where,
        also=((f"the {'extern' if node.op == 'extern' else 'unknown'}", node.where),),
        write="[0] ++ s in place of the input: drop works on delayed streams",
    )


def _causality_error(path: list[NodeAt], again: NodeAt) -> SpecError:
    """The error for a causality cycle, which lists the definitions on it: only definitions can close a cycle."""
    start = next(i for i, (node, shift) in enumerate(path) if node is again[0] and shift <= again[1])
    loop = [node for node, _ in path[start:]]
    lists = [node for node in loop if node.op == "append"]
    missing = 1 + again[1] - path[start][1]
    first = next(i for i, node in enumerate(loop) if node.op == "ref")
    loop = [*loop[first:], *loop[: first + 1]]
    steps: list[tuple[str, Location]] = []
    source = loop[0]
    for before, node in pairwise(loop):
        if node.op == "ref":
            steps.append((f"{_shown_name(source)} needs {_shown_name(node)}", before.where))
            source = node
    message = f"{_shown_name(loop[0])} depends on its own present value, or on a later one"
    write = "[0] ++ s somewhere in the cycle: each round must look at least one step back"
    if lists:
        count = len(lists[-1].payload)
        steps.append((f"the list before ++ has {plural(count, 'value')}", lists[-1].where))
        ahead = plural(missing, "step")
        write = f"{plural(count + missing, 'value')} before ++: the cycle looks {ahead} too far ahead"
    return SpecError(message, loop[0].where, also=tuple(steps), write=write)


def _shown_name(ref: Node) -> str:
    return f"`{ref.payload.name}`" if ref.payload.name else "this stream"
