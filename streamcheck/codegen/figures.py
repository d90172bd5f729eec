"""The cost of a step, the same for every step and every input, computed from the C's terms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from streamcheck.codegen import text
from streamcheck.codegen.lower import Lowered
from streamcheck.core.c_names import MATH
from streamcheck.core.term import Term, walk
from streamcheck.core.types import ArrayType, FloatType, StructType, Type, plural
from streamcheck.problem.fingerprints import components


@dataclass(frozen=True, slots=True)
class Figures:
    state: int  # bytes: sizeof, on machines that align every type to its size
    locals: int  # bytes
    operations: int
    longest: int  # operations one after the other
    rounds: int  # of all loops of a step together
    seldom: int  # rounds of the step in which all windows are full at once
    kinds: Mapping[str, int]  # of the operations

    def lines(self) -> Iterator[str]:
        loops = f"loops of {plural(self.rounds, 'round')} in all, always" if self.rounds else "no loop in a step"
        if self.seldom:
            loops = f"loops of {self.rounds} rounds in all, and of at most {self.seldom} more when windows are full"
        yield f"state: {plural(self.state, 'byte')}; no heap, no recursion, {loops}"
        yield f"stack of a step: at most {plural(self.locals, 'byte')} of local variables"
        yield f"a step: at most {self.operations} operations, the longest chain {self.longest}, and the handlers' time"
        if set(self.kinds) - {SIMPLE}:
            yield f"the operations: {', '.join(f'{count} {kind}' for kind, count in self.kinds.items())}"


def figures(low: Lowered, locals: Sequence[Type], state: int, inside: Mapping[str, Figures]) -> Figures:
    """The cost of a step. `inside`: of the functions that it calls."""
    depth, called = _depths(low, inside), [inside[call.component] for call in low.calls]
    rounds: dict[Term, int] = {}  # of a node that each round computes
    loops = list(low.loops())
    for loop in loops:
        once = set(walk([*(f.initial for f in loop.folds), *loop.invariants]))
        for node in walk([*(f.after for f in loop.folds), *(c.after for c in loop.changes)], once):
            rounds.setdefault(node, loop.rounds)
    lengths = [len(extreme.ring.cells) for extreme in low.extremes.values()]
    kinds: Counter[str] = Counter()
    for node in depth:
        if node.args:
            kinds[_kind(node)] += rounds.get(node, 1)
    kinds[SIMPLE] += sum(6 + 4 * n for n in lengths)
    for cost in called:
        kinds.update(cost.kinds)
    return Figures(
        state,
        sum(-(-text.size(t) // 8) * 8 for t in locals) + max((cost.locals for cost in called), default=0),
        kinds.total(),
        max(depth.values(), default=0),
        sum(loop.rounds for loop in loops) + sum(cost.rounds for cost in called),
        sum(lengths) - len(lengths),
        {kind: kinds[kind] for kind in KINDS if kinds[kind]},
    )


SIMPLE, PRODUCTS, DIVISIONS = "simple", "by multiplication", "by division"
FLOATS, CALLS, PARTS = "on floats", "by math.h", "on arrays and structs"
KINDS = (SIMPLE, PRODUCTS, DIVISIONS, FLOATS, CALLS, PARTS)


def _kind(node: Term) -> str:
    types = [node.type, *(a.type for a in node.args)]
    if node.op in MATH.split():
        return CALLS
    if any(isinstance(t, ArrayType | StructType) for t in types):
        return PARTS
    if any(isinstance(t, FloatType) for t in types):
        return FLOATS
    return PRODUCTS if node.op == "mul" else DIVISIONS if node.op in ("floordiv", "mod", "quot", "rem") else SIMPLE


def _depths(low: Lowered, inside: Mapping[str, Figures]) -> dict[Term, int]:
    """The longest chain of operations up to each node."""
    folds = {loop.result: loop for loop in low.loops() if loop.result is not None}
    caller = {result: call for call in low.calls for result in call.results}
    needs = {result: tuple(loop.needs()) for result, loop in folds.items()}
    needs |= {result: call.args for result, call in caller.items()}
    depth: dict[Term, int] = {}
    roots = [*low.all_roots(), *(t for loop in low.loops() for t in loop.needs())]
    for (node,) in components(roots, lambda node: needs.get(node, node.args)):
        before = max((depth[a] for a in needs.get(node, node.args)), default=0)
        if node in folds:
            before = folds[node].rounds * max(depth[f.after] for f in folds[node].folds)
        elif node in caller:
            before += inside[caller[node].component].longest
        depth[node] = before + bool(node.args)
    return depth
