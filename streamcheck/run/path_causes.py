"""Why a path of a program gets to an error: the statements that it depends on, from the error back.

A statement is one of them if it writes what a later one reads: the value that the variable has then. Conditions are, as
the path would be another one without them; of an operand that does not matter to a value (`a && b` if `a` is false),
nothing is followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from streamcheck.certify.replay import reasons_of
from streamcheck.core.evaluate import evaluate
from streamcheck.core.term import Term, variables
from streamcheck.core.types import Value
from streamcheck.problem.automaton import Edge, Repeated
from streamcheck.problem.result import PathCause, PathReplay


def path_causes(path: PathReplay) -> tuple[list[PathCause], dict[Term, Value]]:
    """The statements, the last first, each source line once; and the first values that matter."""
    search = _Slice()
    befores = [path.first, *(step.values for step in path.statements)]
    for step, before in zip(reversed(path.statements), reversed(befores[:-1]), strict=True):
        if isinstance(step, Repeated):
            search.follow_rounds(step)
        else:
            search.follow_statement(step.edge, before, step.values)
    return list(search.causes.values()), {v: value for v, value in path.first.items() if v in search.wanted}


class _Slice:
    """The causes so far, and the variables whose values they read and that nothing has written yet."""

    def __init__(self) -> None:
        self.causes: dict[tuple[object, str], PathCause] = {}
        self.wanted: set[Term] = set()

    def follow_statement(self, edge: Edge, before: Mapping[Term, Value], after: Mapping[Term, Value]) -> None:
        if not edge.updates:
            read = _reads([edge.guard], before)
            if read:
                self._add(edge, {v: before[v] for v in sorted(read, key=_name) if v in before})
                self.wanted |= read
            return
        reads = {v: _reads([edge.update[v]], before) for v in edge.update if v in self.wanted}
        written = [v for v, read in reads.items() if v not in read or before.get(v) != after.get(v)]
        if written:
            self._add(edge, {v: after[v] for v in written if v in after})
            self.wanted.difference_update(written)
            self.wanted.update(*(reads[v] for v in written))

    def follow_rounds(self, rounds: Repeated) -> None:
        """Rounds of a loop, whose values are not known one by one."""
        for _ in rounds.edges:  # as long as one may lead to another
            for edge in reversed(rounds.edges):
                if not edge.updates:
                    self.wanted |= set(variables([edge.guard]))
                for v in self.wanted.intersection(edge.update):
                    self.wanted |= set(variables([edge.update[v]]))
        for edge in reversed(rounds.edges):
            if (not edge.updates and variables([edge.guard])) or self.wanted.intersection(edge.update):
                known = {v: rounds.values[v] for v in edge.update if v in self.wanted and v in rounds.values}
                self._add(edge, known, rounds.times - 1 if known else rounds.times)

    def _add(self, edge: Edge, values: Mapping[Term, Value], more: int = 0) -> None:
        key = (edge.where, edge.text)
        cause = self.causes.get(key)
        if cause is None:
            self.causes[key] = PathCause(edge, values, more=more)
        else:
            cause.earlier.append(values)
            cause.more += more


def _name(v: Term) -> str:
    return str(v.payload)


def _reads(roots: Iterable[Term], values: Mapping[Term, Value]) -> set[Term]:
    """The variables that the values of these terms depend on; of a choice, nothing is known."""
    roots = list(roots)
    found = set(variables(roots))
    if not found <= values.keys():
        return found
    known = evaluate(roots, values)
    stack, seen = roots, set[Term]()
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack = [*stack, *reasons_of(node, known)]
    return {node for node in seen if node.op == "var"}
