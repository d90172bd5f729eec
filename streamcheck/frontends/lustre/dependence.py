"""Which names an expression depends on at the present step, and circles among the equations of a node.

A call depends on the inputs that the called node's outputs depend on; an imported node's on all. This finds circles
through calls of imported nodes, and in nodes that no main node reaches; the evaluator finds the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from streamcheck.core.errors import SpecError
from streamcheck.frontends.lustre.datatypes import bound_names
from streamcheck.frontends.lustre.syntax import ClockText, Equation, ExpressionText, LustreFile, NodeText
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.walks import activation_parts


class Dependence:
    """`inputs_of[node]` has the positions of the inputs that each output depends on at the present step. Nodes are
    added callees first."""

    def __init__(self, file: LustreFile, tokens: Tokens) -> None:
        self.file = file
        self.tokens = tokens
        self.inputs_of: dict[str, list[frozenset[int]]] = {}

    def add(self, node: NodeText) -> None:
        """Check the node's equations for circles, and remember what its outputs depend on."""
        if node.contract is not None:
            self.names_behind(node.contract.equations, ())
        bits = {v.name: 1 << i for i, v in enumerate(node.inputs)}
        if node.imported:
            everything = frozenset(range(len(node.inputs)))
            self.inputs_of[node.name] = [everything] * len(node.outputs)
        elif node.kind != "contract":
            behind = self.names_behind(node.equations, [v.name for v in node.outputs], bits)
            self.inputs_of[node.name] = [
                frozenset(i for i in range(len(node.inputs)) if behind.get(v.name, 0) >> i & 1) for v in node.outputs
            ]

    def names_behind(
        self, equations: Iterable[Equation], wanted: Iterable[str], bits: dict[str, int] | None = None
    ) -> dict[str, int]:
        """For each defined name, the union of the bits of the names that it depends on."""
        bits = bits or {}
        edges = {name: (equation, set(self._direct(equation, k)))
                 for equation in equations for k, name in enumerate(equation.names)}  # fmt: skip
        behind: dict[str, int] = dict(bits)
        for root in (*edges, *wanted):
            path: list[str] = []
            stack = [(root, True)]
            while stack:
                name, enter = stack.pop()
                if not enter:
                    path.pop()
                    union = 0
                    for needed in edges[name][1]:
                        union |= behind.get(needed, 0)
                    behind[name] = union
                elif name in edges and name not in behind:
                    if name in path:
                        raise self._circle(path[path.index(name) :], {n: q.at for n, (q, _) in edges.items()})
                    path.append(name)
                    stack.append((name, False))
                    stack += ((n, True) for n in edges[name][1])
        return behind

    def _circle(self, names: list[str], at: dict[str, int]) -> SpecError:
        also = tuple((f"{n} is read here", self.tokens.where(at[n])) for n in names[1:12])
        where = self.tokens.where(at[names[0]])
        text = f"{names[0]} depends on its own present value"
        return SpecError(text, where, also=also, write="pre, if the previous value is meant")

    def _direct(self, equation: Equation, k: int) -> Iterator[str]:
        """The names that the k-th name of an equation reads."""
        value = equation.value
        if equation.indices:
            return iter(())  # an element may depend on others of its array
        if value.op == "tuple" and len(value.args) == len(equation.names):
            return self.names_in(value.args[k])
        if value.op == "call" and len(equation.names) > 1:
            return (name for part in self.parts_behind(value, k) for name in self.names_in(part))
        return self.names_in(value)

    def names_in(self, root: ExpressionText) -> Iterator[str]:
        """The names whose present values the expression reads itself."""
        stack = [root]
        while stack:
            e = stack.pop()
            if e.op == "name":
                yield e.value
            elif e.op == "call":
                stack += self.parts_behind(e, None)
            elif e.op == "when":
                stack.append(e.args[0])
                if isinstance(e.value, ClockText):
                    yield e.value.name
            elif e.op == "match":
                stack.append(e.args[0])
                for pattern, value in zip(e.value, e.args[1:], strict=True):
                    bound = set(bound_names(pattern, self.file.constructors))
                    yield from (name for name in self.names_in(value) if name not in bound)
            elif e.op != "pre":
                stack += e.args

    def parts_behind(self, call: ExpressionText, k: int | None) -> list[ExpressionText]:
        """The arguments, clocks and defaults that the k-th output (or any) of the call depends on."""
        parts = activation_parts(call.value)
        inputs = self.inputs_of.get(call.value.node)
        node = self.file.nodes.get(call.value.node)
        if inputs is None or node is None or len(call.args) != len(node.inputs):
            return [*call.args, *parts]
        chosen = inputs if k is None else inputs[k : k + 1]
        return [call.args[i] for i in sorted(frozenset().union(*chosen))] + parts
