"""Flattening (slides, "Giving Copilot a small-step operational semantics"): nodes to equations.

A node is read at a shift: `at(s, k)` is the term, over this step's cells and inputs, for the value that `s` will
have k steps from now.

    at(op(a, b), k)          = op(at(a, k), at(b, k))
    at(drop(n, s), k)        = at(s, k + n)
    at([v0 … vn-1] ++ s, k)  = the cell that holds element k, when k < n;   at(s, k - n) otherwise
    at(extern, 0)            = the input;   at(extern, k) for k > 0: nobody knows it yet, an error

Cell i of `[v0 … vn-1] ++ s` starts as vi and takes over cell i+1; the last takes at(s, 0). Inside `reset(c, …)` the
present elements are mux(c, vi, cell i). A stream is causal when no loop comes back to the same node at the same or
a later moment: the search for `at` meets such a loop on its own path and shows it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.term import Term, cone, constant, term, variable, walk
from streamcheck.lang.elaborate import Elaborated, children, elaborate
from streamcheck.lang.node import Node
from streamcheck.lang.obligations import Reading, obligations
from streamcheck.lang.spec import Declared, SpecBase
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import Cell, Constant, Input, Named, Specification, Trigger

Key: TypeAlias = tuple[Node, int]


def equations_of(spec: SpecBase) -> Specification:
    """What every command begins with: evaluate, flatten, keep what matters."""
    return Flattening(elaborate(spec)).equations()


class Flattening:
    def __init__(self, elaborated: Elaborated) -> None:
        self.spec = elaborated.spec
        self.externs = elaborated.externs
        self.labels = elaborated.labels
        self.names = Names(e.name for e in elaborated.externs)
        self.terms: dict[Key, Term] = {}
        self.reading = Reading()
        self.inputs: dict[Node, Input] = {}
        self.constants: dict[Node, Constant] = {}
        self.delays: dict[Node, list[Term]] = {}  # an append's cells, as variables
        self._delay_of: dict[object, list[Term]] = {}  # the same, by what the delay is made of
        self.pending: deque[Node] = deque()  # appends whose cells have no next value yet
        self.cells: dict[Term, Cell] = {}

    def equations(self) -> Specification:
        spec = self.spec
        triggers = tuple(self._trigger(t) for t in spec.triggers.values())
        observers = tuple(Named(d.name, self._root(d.node), d.where) for d in spec.observers.values())
        assumptions = tuple(Claim(d.name, self._root(d.node), d.where) for d in spec.assumptions.values())
        properties = [Claim(d.name, self._root(d.node), d.where) for d in spec.properties.values()]
        properties += [Claim(d.name, self._root(d.node), d.where, Goal.REACHABLE) for d in spec.witnesses.values()]
        while self.pending:
            self._define_cells(self.pending.popleft())
        implied = obligations(self.reading, self.terms, [p.name for p in properties])
        needed = self._needed(
            [t.guard for t in triggers]
            + [arg for t in triggers for _, arg in t.args]
            + [o.term for o in observers]
            + [c.term for c in (*assumptions, *properties, *implied)]
        )
        return Specification(
            spec.name,
            tuple(i for i in self._all_inputs() if i.var in needed or i.extern),
            tuple(c for c in self.constants.values() if c.var in needed),
            tuple(c for c in self.cells.values() if c.var in needed),
            self._wires(needed),
            triggers,
            observers,
            (*properties, *implied),
            assumptions,
            spec.where,
        )

    # Reading nodes at shifts

    def _root(self, node: Node, condition: Term | None = None) -> Term:
        self.reading.roots.append(((node, 0), condition))
        return self.at(node, 0)

    def _trigger(self, declared: Declared) -> Trigger:
        guard = self._root(declared.node)
        args = tuple((name, self._root(arg, guard)) for name, arg in declared.args)
        return Trigger(declared.name, guard, args, declared.where)

    def at(self, node: Node, shift: int) -> Term:
        """The term for the node's value `shift` steps from now, by a depth-first walk with its own stack."""
        terms, needs = self.terms, self.reading.needs
        on_path: dict[Node, list[int]] = {}
        path: list[Key] = []
        stack = [((node, shift), False)]
        while stack:
            key, ready = stack.pop()
            if ready:  # all it needs is there
                terms[key] = self._term(key, [terms[k] for k in needs[key]])
                on_path[path.pop()[0]].pop()
            elif key not in terms:
                if any(earlier <= key[1] for earlier in on_path.get(key[0], ())):
                    raise _loop(path, key)
                if key[1] and key[0].op in ("extern", "unknown"):
                    raise _too_early(path, key)
                needs[key] = self._needs(key)
                self.reading.order.append(key)
                path.append(key)
                on_path.setdefault(key[0], []).append(key[1])
                stack.append((key, True))
                stack.extend((k, False) for k in reversed(needs[key]) if k not in terms)
        return terms[(node, shift)]

    def _needs(self, key: Key) -> list[Key]:
        """What the value at this key is computed from at once."""
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

    def _term(self, key: Key, args: list[Term]) -> Term:
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
            case "drop" | "ref" | "forall" | "exists":
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
            self.constants[node] = Constant(self.names.fresh(node.payload), node.type, node.where)
        return self.constants[node]

    def _all_inputs(self) -> Iterable[Input]:
        for e in self.externs:
            yield Input(e.name, e.type, True, e.doc, e.unit, e.where)
        yield from self.inputs.values()

    def _delay(self, node: Node) -> list[Term]:
        """The cells of an append; those of an equal one, where there is one."""
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
        elif node.restart is not None:  # the name belongs to the stream, which the reset may override
            label += "_held"
        names = self.names.fresh_group(label, len(node.payload))
        return [variable(name, node.type) for name in names]

    def _define_cells(self, node: Node) -> None:
        held = self.delays[node]
        present = held
        if node.restart is not None:
            restart = self._root(node.restart)
            values = [constant(node.type, v) for v in node.payload]
            present = [term("mux", restart, v, h) for v, h in zip(values, held, strict=True)]
        nexts = [*present[1:], self._root(node.args[0])]
        for var, value, after in zip(held, node.payload, nexts, strict=True):
            self.cells[var] = Cell(var.payload, constant(node.type, value), after, node.where)

    def _needed(self, roots: list[Term]) -> set[Term]:
        """The cone of influence of the roots."""
        return cone(roots, {var: cell.next for var, cell in self.cells.items()})

    def _wires(self, needed: set[Term]) -> tuple[Named, ...]:
        """The user's names for terms, in dependency order; variables have names of their own."""
        named: dict[Term, Named] = {}
        for node, label in self.labels.items():
            labelled = self.terms.get((node, 0))
            if labelled is None or labelled not in needed or labelled.op in ("var", "const") or labelled in named:
                continue
            named[labelled] = Named(self.names.fresh(label), labelled, node.where)
        return tuple(named[t] for t in walk(named) if t in named)


class Names:
    """Different names for different variables: the wish where it is free, else with a number."""

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


def _too_early(path: list[Key], key: Key) -> SpecError:
    node, shift = key
    name = f'extern "{node.payload.name}"' if node.op == "extern" else "an unknown"
    steps = "1 step" if shift == 1 else f"{shift} steps"
    dropped = next(above for above, _ in reversed(path) if above.op == "drop")
    return SpecError(
        f"this needs {name} {steps} ahead, and an input is known at the present step only",
        dropped.where,
        also=((f"the {'extern' if node.op == 'extern' else 'unknown'}", node.where),),
        write="[0] ++ s in place of the input: what looks ahead works on delayed streams",
    )


def _loop(path: list[Key], again: Key) -> SpecError:
    """The whole loop, by the definitions it goes through: only they can close one."""
    start = next(i for i, (node, shift) in enumerate(path) if node is again[0] and shift <= again[1])
    loop = [node for node, _ in path[start:]]
    first = next(i for i, node in enumerate(loop) if node.op == "ref")
    loop = [*loop[first:], *loop[: first + 1]]
    steps: list[tuple[str, Location]] = []
    source = loop[0]
    for before, node in pairwise(loop):
        if node.op == "ref":
            steps.append((f"{_called(source)} needs {_called(node)}", before.where))
            source = node
    return SpecError(
        f"{_called(loop[0])} depends on its own present value, or on a later one",
        loop[0].where,
        also=tuple(steps),
        write="[0] ++ s somewhere in the loop: each turn must look at least one step back",
    )


def _called(ref: Node) -> str:
    return f"`{ref.payload.name}`" if ref.payload.name else "this stream"
