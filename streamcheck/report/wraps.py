"""The operations of a run that wrap around: often why a property fails that looks as if it could not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from streamcheck.core.term import Term
from streamcheck.core.types import MachineType
from streamcheck.problem.claim import Claim
from streamcheck.problem.result import Replay
from streamcheck.problem.specification import Specification
from streamcheck.report.equations import term_text

MOST = 2  # that are shown
EXACT: Mapping[str, Callable[..., int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
}


def wrap_lines(specification: Specification, claim: Claim, run: Replay) -> Iterator[str]:
    """A line for each operation that the violation depends on and that has another result than a number without
    bounds would have: the first of each, the latest step first."""
    nodes = [n for n in specification.needed_by([claim.term]) & run.causes if n.op in EXACT]
    rows = [(step, term_text(specification, n), n) for n in nodes for step in _wraps(n, run)]
    shown: set[Term] = set()
    for step, text, node in sorted(rows, key=lambda row: (-row[0], row[1])):
        if node not in shown and len(shown) < MOST:
            shown.add(node)
            values = run.steps[step]
            exact = EXACT[node.op](*(values[a] for a in node.args))
            when = f"    wraps around at step {run.numbers[step]}"
            yield f"{when}: {text} is {exact}, of which {node.type} holds {values[node]}"


def _wraps(node: Term, run: Replay) -> Iterator[int]:
    """The steps at which the operation wraps around."""
    if isinstance(node.type, MachineType):
        for step, values in enumerate(run.steps):
            if EXACT[node.op](*(values[a] for a in node.args)) != values[node]:
                yield step
