"""The cost of a step, the same for every step and every input, computed from the C's terms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from streamcheck.codegen import text
from streamcheck.codegen.lower import Lowered
from streamcheck.core.term import Term, walk
from streamcheck.core.types import Type, plural


@dataclass(frozen=True, slots=True)
class Figures:
    state: int  # bytes: sizeof, on machines that align every type to its size
    locals: int  # bytes
    operations: int
    longest: int  # operations one after the other

    def lines(self) -> Iterator[str]:
        yield f"state: {plural(self.state, 'byte')}; no heap, no recursion, no loop in a step"
        yield f"stack of a step: at most {plural(self.locals, 'byte')} of local variables"
        yield f"a step: at most {self.operations} operations, the longest chain {self.longest}, and the handlers' time"


def figures(low: Lowered, locals: Sequence[Type], state: int) -> Figures:
    depth: dict[Term, int] = {}
    for node in walk(low.roots()):
        depth[node] = int(bool(node.args)) + max((depth[a] for a in node.args), default=0)
    operations = sum(1 for node in depth if node.args)
    stack = sum(-(-text.size(t) // 8) * 8 for t in locals)
    return Figures(state, stack, operations, max(depth.values(), default=0))
