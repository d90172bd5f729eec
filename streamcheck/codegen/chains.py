"""Long choices as `if` statements, of which only the arm that is taken does its work.

    mux(m == OFF, …, mux(m == IDLE, …, mux(m == ON, …, m)))        if (m == OFF) {
                                                                       next = …;
                                                                   } else if (m == IDLE) {
                                                                       …

What only one arm needs is computed in it. What several arms need, if it is one operator, is repeated in each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from streamcheck.codegen import text
from streamcheck.codegen.block import Block
from streamcheck.codegen.expression import PRIMARY, CExpression
from streamcheck.core.operators import c_type
from streamcheck.core.term import Term, walk

if TYPE_CHECKING:
    from streamcheck.codegen.step import StepWriter

FEWEST = 3  # conditions; a shorter choice is an expression
SMALL = 12  # operands of a choice that is an expression however many conditions it has


@dataclass(frozen=True, slots=True)
class Chain:
    """The conditions, the value under each, and that under none; for each value the nodes that only it needs."""

    conditions: tuple[Term, ...]
    values: tuple[Term, ...]
    own: tuple[frozenset[Term], ...]


def chains_of(roots: Iterable[Term], uses: Mapping[Term, int], named: Collection[Term]) -> dict[Term, Chain]:
    """The long choices, by the term that each is."""
    chains: dict[Term, Chain] = {}
    inner: set[Term] = set()
    for node in reversed(list(walk(roots))):
        if node.op != "mux" or node in inner or text.is_composite(node.type):
            continue
        conditions, values, rest = [node.args[0]], [node.args[1]], node.args[2]
        while rest.op == "mux" and uses[rest] == 1 and rest not in named:
            inner.add(rest)
            conditions.append(rest.args[0])
            values.append(rest.args[1])
            rest = rest.args[2]
        if len(conditions) >= FEWEST and _operands(node) > SMALL:
            values.append(rest)
            chains[node] = Chain(tuple(conditions), tuple(values), tuple(_own(v, uses) for v in values))
    return chains


def _operands(root: Term) -> int:
    """The leaves of the term as a tree, counted as far as it matters."""
    waiting, leaves = [root], 0
    while waiting and leaves <= SMALL:
        node = waiting.pop()
        leaves += not node.args
        waiting += node.args
    return leaves


def _own(value: Term, uses: Mapping[Term, int]) -> frozenset[Term]:
    """The nodes below a value that nothing else uses."""
    return frozenset(node for node, count in _uses_below(value, uses).items() if count == uses[node])


def _uses_below(value: Term, uses: Mapping[Term, int]) -> Counter[Term]:
    """The uses of each node by the value and by what only the value uses."""
    inside: Counter[Term] = Counter([value])
    for node in reversed(list(walk([value]))):
        if inside[node] == uses[node]:
            inside.update(node.args)
    return inside


def small_shared_nodes(chains: Iterable[Chain], uses: Mapping[Term, int]) -> set[Term]:
    """Small nodes that several values of a chain use, each once, and nothing else."""
    small: set[Term] = set()
    for chain in chains:
        together: Counter[Term] = Counter()
        several: set[Term] = set()
        for value in chain.values:
            below = _uses_below(value, uses)
            several |= {node for node, count in below.items() if count > 1}
            together.update(below)
        small |= {
            node
            for node, count in together.items()
            if count == uses[node] > 1 and node not in several and node.args and not any(a.args for a in node.args)
        }
    return small


@dataclass(slots=True)
class ChainWriter:
    """Writes chains. `scopes`: the blocks of the arms that are being written, with the nodes at home in each."""

    step: StepWriter
    chains: dict[Term, Chain]
    scopes: list[tuple[frozenset[Term], Block]] = field(default_factory=list)

    def unwritten(self, root: Term, written: set[Term]) -> Iterator[Term]:
        """The nodes below a root that have no text yet, arguments first; of a chain not what is below it."""
        if not self.chains:
            yield from walk([root], written)
            return
        stack = [root]
        while stack:
            node = stack[-1]
            pending = [] if node in self.chains else [a for a in node.args if a not in written]
            if node in written:
                stack.pop()
            elif pending:
                stack.extend(reversed(pending))
            else:
                written.add(stack.pop())
                yield node

    def home(self, node: Term) -> Block | None:
        """The arm that a node belongs to, if any."""
        return next((block for own, block in reversed(self.scopes) if node in own), None)

    def write(self, node: Term, block: Block, given: Block, site: int) -> None:
        """The statements of a chain in `block`. `given`: where its conditions' own local variables go."""
        step, chain = self.step, self.chains[node]
        conditions = [step.expression(c, given, site).text for c in chain.conditions]
        arms = [Block() for _ in chain.values]
        values = []
        for value, own, arm in zip(chain.values, chain.own, arms, strict=True):
            self.scopes.append((own, arm))
            values.append(step.expression(value, given, site))
            self.scopes.pop()
        name = step.declare_local(node, block)
        for arm, written in zip(arms, values, strict=True):
            arm.lines.append(f"{name} = {step.convert(written, node.type).text};")
        heads = [f"if ({conditions[0]}) {{", *(f"}} else if ({c}) {{" for c in conditions[1:]), "} else {"]
        for head, arm in zip(heads, arms, strict=True):
            block.lines += [head, *text.indent(arm.lines)]
        block.lines.append("}")
        step.texts[node] = CExpression(name, PRIMARY, c_type(node.type))
