"""Terms as C expressions, if C can express them: invariants for readers and for witnesses."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.term import Term, term
from streamcheck.core.types import BOOL, INT, MachineType

NAME = re.compile(r"[\w.]+(\[\d+\])*")
LONGEST = 400  # characters of one condition: a text repeats shared terms
BINARY = {"add": "+", "sub": "-", "mul": "*", "quot": "/", "rem": "%", "bitand": "&", "bitor": "|", "bitxor": "^"}
COMPARED = {"eq": "==", "ne": "!=", "same": "==", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
OPPOSITE = {"eq": "ne", "ne": "eq", "same": "ne"}  # as C compares what C can express here: no floats
SUMS, PRODUCTS = ("add", "sub"), ("mul", "quot", "rem")


class NotInC(Exception):
    """The term has no C expression, or only a very long one."""


def conditions(invariant: Term, *, wide: bool = False) -> Iterator[str]:
    """The conjuncts that C can express; without the others it is still an invariant. `wide`: sums of mathematical
    integers are computed in `long long`, for readers that evaluate them as C does."""
    for part in conjuncts(invariant):
        try:
            yield _Text(wide).of(part)
        except NotInC:
            continue


def variable_text(name: str) -> str:
    """The variable's name in C: `a[3]` for `a.3`."""
    return re.sub(r"\.(\d+)", r"[\1]", name)


class _Text:
    def __init__(self, wide: bool) -> None:
        self.wide = wide

    def of(self, node: Term, *, inside: bool = False) -> str:
        text = self._text(node)
        if len(text) > LONGEST:
            raise NotInC
        is_single = text.startswith(("!", "~")) or NAME.fullmatch(text) is not None
        return f"({text})" if inside and (node.args or text.startswith("-")) and not is_single else text

    def _text(self, node: Term) -> str:
        if node.op == "var":
            return variable_text(str(node.payload))
        if node.op == "cast" and node.type is INT and node.args[0].op == "var":
            source = node.args[0].type
            if self.wide and isinstance(source, MachineType) and source.width > 64:
                raise NotInC  # it may not fit
            name = self.of(node.args[0])  # an invariant found over mathematical integers contains cast(Int, x)
            return f"(long long){name}" if self.wide else name
        if node.is_const:
            return _number(node)
        if node.op in ("and", "or"):
            joined = {"and": " && ", "or": " || "}[node.op]
            return joined.join(self.of(a, inside=a.op != node.op) for a in node.args)
        if not self.wide:
            node = _by_remainder(node)
        if node.op == "not" and node.args[0].op in OPPOSITE:
            node = term(OPPOSITE[node.args[0].op], *node.args[0].args)
        node = _without_zero(node)
        parts = [self.of(a, inside=not _binds_tighter(a, node, i)) for i, a in enumerate(node.args)]
        if node.op in BINARY and not (node.op in ("quot", "rem") and node.args[0].type.kind == "integer" and self.wide):
            return f"{parts[0]} {BINARY[node.op]} {parts[1]}"
        if node.op in COMPARED:
            return f"{parts[0]} {COMPARED[node.op]} {parts[1]}"
        other = OTHERS.get(node.op)
        if other is None:
            raise NotInC
        return other(*parts)


def _by_remainder(node: Term) -> Term:
    """`x % 3 == 0` by C's remainder, which is 0 for the same numbers as ours."""
    if node.op not in ("eq", "ne") or node.args[0].op != "mod" or not all(a.is_const for a in node.args[1:]):
        return node
    divided, divisor = node.args[0].args
    if node.args[1].payload != 0 or not divisor.is_const or divisor.payload == 0:
        return node
    return term(node.op, term("rem", divided, divisor), node.args[1])


def _without_zero(node: Term) -> Term:
    """`a - b >= 0` as `a >= b`; numbers that wrap around may be compared for equality only."""
    if node.op in COMPARED and node.args[0].op == "sub" and node.args[1].is_const and node.args[1].payload == 0:
        kind = node.args[0].type.kind
        if kind == "integer" or (node.op in OPPOSITE and kind != "float"):
            return term(node.op, *node.args[0].args)
    return node


def _binds_tighter(inner: Term, outer: Term, place: int) -> bool:
    """True if the operand needs no parentheses, as every reader of C knows."""
    if outer.op in COMPARED:
        return inner.is_const or inner.op in SUMS or inner.op in PRODUCTS
    if outer.op in SUMS:
        return inner.op in PRODUCTS or (inner.op in SUMS and place == 0)
    return False


def _number(node: Term) -> str:
    if node.type is BOOL:
        return str(int(node.payload))
    if node.type.kind not in ("integer", "signed", "unsigned"):
        raise NotInC
    if not -(1 << 63) < node.payload < 1 << 64:
        raise NotInC  # a literal of C has at most 64 bits
    suffix = "U" if isinstance(node.type, MachineType) and not node.type.signed else ""
    return f"{node.payload}{suffix}"


OTHERS: dict[str, Callable[..., str]] = {
    "not": lambda a: f"!{a if a.startswith('(') or a.isidentifier() else f'({a})'}",
    "implies": lambda a, b: f"!({a}) || {b}",
    "mux": lambda c, a, b: f"{c} ? {a} : {b}",
    "neg": lambda a: f"-{a}",
    "bitnot": lambda a: f"~{a}",
    "mod": lambda a, b: f"({a} % {b} + {b}) % {b}",
}
