"""Terms as text in the user's notation.

Every named term is written by its name; an unnamed node with several uses gets a name, so the text is as large as the
graph, not as its unfolding.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import cast

from streamcheck.core.operators import OPERATORS, fill
from streamcheck.core.term import Term, walk
from streamcheck.core.types import ArrayType, EnumType, StructType, Type, Value, float_text, widens

COMPARISONS, SUMS = ("eq", "ne", "lt", "le", "gt", "ge"), ("add", "sub")
PRODUCTS = ("mul", "floordiv", "mod")
MAX_DEPTH = 40  # a deeper expression is split by a name


class Printer:
    """Expressions over named terms. `names` grows if a shared or deep node needs a name."""

    def __init__(self, names: Mapping[Term, str], roots: Iterable[Term]) -> None:
        roots = list(roots)
        self.names = dict(names)
        self.extra: list[tuple[str, Term, str]] = []
        uses: Counter[Term] = Counter(roots)
        nodes = list(walk(roots))
        for node in nodes:
            uses.update(node.args)
        self.texts: dict[Term, str] = {}
        depth: dict[Term, int] = {}
        for node in nodes:
            self.texts[node] = self._text(node)
            depth[node] = 1 + max((depth[a] for a in node.args), default=0)
            shared = uses[node] > 1 and depth[node] > 2  # one operator over names is as short as a name
            if node.args and (node in self.names or shared or depth[node] > MAX_DEPTH):
                depth[node] = 0
                if node not in self.names:
                    self.names[node] = name = f"_{len(self.extra) + 1}"
                    self.extra.append((name, node, self.texts[node]))

    def _operand(self, node: Term) -> str:
        if node in self.names:
            return self.names[node]
        text = self.texts[node]
        return f"({text})" if needs_parentheses(node) else text

    def use(self, node: Term) -> str:
        """The node inside an expression: its name if it has one."""
        return self.names.get(node) or self.texts[node]

    def definition(self, node: Term) -> str:
        return self.texts[node]

    def _text(self, node: Term) -> str:
        match node.op:
            case "const":
                return as_notation(node.type, node.payload)
            case "var":
                return str(node.payload)
            case "array" if len(node.args) < node.type.length:  # type: ignore[attr-defined]
                return f"[{self.use(node.args[0])}, …]"
            case "array":
                return f"[{', '.join(self.use(a) for a in node.args)}]"
            case "struct":
                fields = zip(node.type.fields, node.args, strict=True)  # type: ignore[attr-defined]
                return f"{node.type}({', '.join(f'{n}={self.use(a)}' for (n, _), a in fields)})"
            case "field":
                name, _ = node.args[0].type.fields[node.payload]  # type: ignore[attr-defined]
                return f"{self._operand(node.args[0])}.{name}"
            case "with_field":
                name, _ = node.type.fields[node.payload]  # type: ignore[attr-defined]
                return f"{self._operand(node.args[0])}.set({name}={self.use(node.args[1])})"
            case "cast":
                name = "cast" if widens(node.args[0].type, node.type) else "unsafe_cast"
                return f"{name}({node.type}, {self.use(node.args[0])})"
        shown = OPERATORS[node.op].shown
        bare = _bare_operands(shown)
        texts = [
            self._operand(a) if name in bare and not binds_tighter(a, node, name == "a") else self.use(a)
            for name, a in zip("abc", node.args, strict=False)
        ]
        return fill(shown, dict(zip("abc", texts, strict=False)))


@cache
def _bare_operands(shown: str) -> frozenset[str]:
    """The operands of an operator's form that stand outside of its brackets."""
    return frozenset(re.findall(r"\b[abc]\b", re.split(r"[(\[]", shown)[0]))


def binds_tighter(inner: Term, outer: Term, is_first: bool) -> bool:
    """True if the operand needs no parentheses in a place where others do: as in Python, and as every reader knows."""
    if outer.op in COMPARISONS:
        return inner.op in (*SUMS, *PRODUCTS)
    if outer.op in SUMS:
        return inner.op in PRODUCTS or (is_first and inner.op in SUMS)
    return is_first and inner.op == outer.op and outer.op in ("and", "or", "mul")


def needs_parentheses(node: Term) -> bool:
    """True if the term as an operand is put in parentheses."""
    if node.op == "const":
        return "/" in as_notation(node.type, node.payload)
    return " " in OPERATORS[node.op].shown.split("(")[0] if node.args else False


def as_notation(type: Type, value: Value) -> str:
    """A constant as the user writes it: `Mode.RUN`, `Pos(lat=0.5, ok=true)`."""
    match type:
        case ArrayType():
            elements = cast("tuple[Value, ...]", value)
            return f"[{', '.join(as_notation(type.element, v) for v in elements)}]"
        case StructType():
            parts = zip(type.fields, cast("tuple[Value, ...]", value), strict=True)
            return f"{type}({', '.join(f'{n}={as_notation(t, v)}' for (n, t), v in parts)})"
        case EnumType():
            return f"{type}.{type.member(cast(int, value))}"
    if type.kind == "bool":
        return "true" if value else "false"
    return float_text(cast(float, value)) if type.kind == "float" else str(value)


def one_line(given: Term) -> str:
    """A term by itself: `x <= 10 | ~on`. Definitions of what it uses several times follow it."""
    printer = Printer({}, [given])
    text = printer.definition(given)
    extra = [f"{name} = {text}" for name, node, text in printer.extra if node is not given]
    return f"{text} with {', '.join(extra)}" if extra else text
