"""Terms as Python text: one expression for each root, and statements for nodes that are used more than once.

A node used once is written into its user's expression, up to a depth that Python's parser accepts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from streamcheck.core.operators import HELPERS, OPERATORS, fill
from streamcheck.core.term import Term, walk
from streamcheck.core.types import Value

MAX_DEPTH = 24


class PythonWriter:
    """Expressions and statements for the terms below the roots. `texts` has the name or expression of each
    term written so far, `lines` the statements, which run in `namespace`."""

    def __init__(self, roots: Iterable[Term], namespace: Mapping[str, Any]) -> None:
        roots = list(roots)
        self.namespace: dict[str, Any] = {**HELPERS, **namespace}
        self.uses: Counter[Term] = Counter(roots)
        for node in walk(roots):
            self.uses.update(node.args)
        self.texts: dict[Term, str] = {}
        self.depths: dict[Term, int] = {}
        self.lines: list[str] = []
        self.written: set[Term] = set()

    def name(self, term: Term, name: str) -> None:
        self.texts[term], self.depths[term] = name, 0

    def expression(self, root: Term) -> str:
        for node in walk([root], self.written):
            if node not in self.texts:
                self._write(node)
        return self.texts[root]

    def _write(self, node: Term) -> None:
        if node.op == "const":
            self.name(node, self._literal(node.payload))
            return
        if node.op in ("array", "struct"):
            text, repeated = f"({', '.join(self.texts[a] for a in node.args)},)", set()
            if node.op == "array" and len(node.args) < node.type.length:  # type: ignore[attr-defined]
                text = f"{text} * {node.type.length}"  # type: ignore[attr-defined]
        else:
            form = OPERATORS[node.op].python_form(node.signature)
            counts = Counter(re.findall(r"\b[abc]\b", form))
            repeated = {a for a, letter in zip(node.args, "abc", strict=False) if counts[letter] > 1}
            for a in repeated:
                self._store(a)
            text = f"({fill(form, dict(zip('abc', (self.texts[a] for a in node.args), strict=False)))})"
        depth = 1 + max((self.depths[a] for a in node.args), default=0)
        self.texts[node], self.depths[node] = text, depth
        if self.uses[node] > 1 or depth >= MAX_DEPTH:
            self._store(node)

    def _store(self, node: Term) -> None:
        if self.depths[node]:
            name = f"t{len(self.lines)}"
            self.lines.append(f"{name} = {self.texts[node]}")
            self.name(node, name)

    def _literal(self, value: Value) -> str:
        if isinstance(value, Fraction) or (isinstance(value, float) and not math.isfinite(value)):
            return self.constant(value)
        return f"({value!r})" if isinstance(value, int | float) and str(value).startswith("-") else repr(value)

    def constant(self, value: object) -> str:
        name = f"k{len(self.namespace)}"
        self.namespace[name] = value
        return name
