"""Terms as SMT-LIB text no larger than their graph: what is used twice, or lies deep, is named once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from streamcheck.core.evaluate import unknown_function
from streamcheck.core.smtlib import application, literal, sort
from streamcheck.core.term import Term, walk
from streamcheck.problem.claim import Claim, Goal

DEEPEST = 30  # operations inside each other, before one of them gets a name


@dataclass(frozen=True, slots=True)
class NamedText:
    """A named subterm and its text. `level` is the depth of the names it uses."""

    name: str
    node: Term
    text: str
    level: int


class Texts:
    """The texts of the terms below the roots. `leaf` writes a variable; `named` are the names, in dependency order."""

    def __init__(self, roots: Iterable[Term], leaf: Callable[[Term], str], prefix: str = "t!") -> None:
        roots = list(roots)
        self.named: list[NamedText] = []
        self.functions: dict[str, str] = {}  # uninterpreted functions, with their declarations
        self._texts: dict[Term, str] = {}
        depths: dict[Term, int] = {}
        levels: dict[Term, int] = {}
        nodes = list(walk(roots))
        uses = Counter(roots)
        for node in nodes:
            uses.update(node.args)
        for node in nodes:
            text = self._text(node, leaf)
            depth = 1 + max((depths[a] for a in node.args), default=0)
            level = max((levels[a] for a in node.args), default=0)
            if node.args and (uses[node] > 1 or depth > DEEPEST):
                name = f"{prefix}{len(self.named)}"
                self.named.append(NamedText(name, node, text, level))
                text, depth, level = name, 0, level + 1
            self._texts[node], depths[node], levels[node] = text, depth, level

    def _text(self, node: Term, leaf: Callable[[Term], str]) -> str:
        if node.op == "const":
            return literal(node.type, node.payload)
        if node.op == "var":
            return leaf(node)
        unknown = unknown_function(node)
        if unknown:
            arguments = " ".join(sort(a.type) for a in node.args)
            self.functions[unknown] = f"(declare-fun {unknown} ({arguments}) {sort(node.type)})"
        return application(node, (self._texts[a] for a in node.args))

    def __getitem__(self, node: Term) -> str:
        return self._texts[node]

    def invariant(self, claim: Claim) -> str:
        """The text of the invariant that the property stands for: its negation if it is `reachable`."""
        return f"(not {self[claim.term]})" if claim.goal is Goal.REACHABLE else self[claim.term]

    def violation(self, claim: Claim) -> str:
        return self[claim.term] if claim.goal is Goal.REACHABLE else f"(not {self[claim.term]})"

    def let(self, body: str) -> str:
        """The body inside bindings of all names, each level in one `let`."""
        levels: dict[int, list[NamedText]] = {}
        for named in self.named:
            levels.setdefault(named.level, []).append(named)
        opened = ["(let (" + " ".join(f"({n.name} {n.text})" for n in levels[i]) + ")" for i in sorted(levels)]
        return "\n".join([*opened, body]) + ")" * len(opened)


def conjunction_text(texts: Iterable[str]) -> str:
    operands = list(texts)
    if len(operands) > 1:
        return f"(and {' '.join(operands)})"
    return operands[0] if operands else "true"


def one_line(text: str) -> str:
    return " ".join(text.split())
