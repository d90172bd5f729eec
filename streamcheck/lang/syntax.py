"""What the user wrote at the point where Python is now.

Some slips cannot be seen in values: `[0] ++ k + 1` and `([0] ++ k) + 1` call the same methods. When such a value
is suspicious, the running frame tells its exact position in the source, and the syntax tree tells the rest. It
works wherever the code is (the spec, a module it imports, a body evaluated late) and costs nothing elsewhere.
Where the source is not to be had, the answer is None and nothing is checked.
"""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType

from streamcheck.core.location import user_frame

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.MatMult: "@",
    ast.Is: "is",
    ast.IsNot: "is not",
}


class Source:
    """A parsed file: nodes by their exact position, and each node's parent."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tree = ast.parse(text)
        self.parent: dict[ast.AST, ast.AST] = {}
        self.at: dict[tuple[int | None, ...], list[ast.AST]] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parent[child] = node
            if isinstance(node, ast.expr | ast.stmt):
                self.at.setdefault(_position(node), []).append(node)

    def segment(self, node: ast.AST) -> str:
        text = ast.get_source_segment(self.text, node) or ""
        return " ".join(text.split())

    def parenthesised(self, child: ast.expr) -> bool:
        """Whether `child` has parentheses of its own (those of a call do not come here)."""
        parent = self.parent[child]
        assert isinstance(parent, ast.expr)
        if _position(parent)[:2] == _position(child)[:2]:
            return False
        lines = self.text.splitlines()
        before = lines[child.lineno - 1].encode()[: child.col_offset].decode().rstrip()
        if not before and child.lineno > parent.lineno:
            before = lines[child.lineno - 2].rstrip()
        return before.endswith("(")


def _position(node: ast.expr | ast.stmt) -> tuple[int | None, ...]:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


@lru_cache(maxsize=16)
def _parsed(text: str) -> Source | None:
    try:
        return Source(text)
    except (SyntaxError, ValueError):
        return None


def source_of(file: str) -> Source | None:
    text = "".join(linecache.getlines(file))
    return _parsed(text) if text else None


def position_in(code: CodeType, lasti: int) -> tuple[int | None, ...]:
    line, end_line, column, end_column = next(islice(code.co_positions(), lasti // 2, None), (None, None, None, None))
    return (line, column, end_line, end_column)


def expression_at(code: CodeType, lasti: int) -> tuple[Source, ast.AST] | None:
    """The innermost expression that the instruction belongs to."""
    source = source_of(code.co_filename)
    if source is None:
        return None
    found = source.at.get(position_in(code, lasti))
    return (source, found[-1]) if found else None


def current(frame: FrameType | None = None) -> tuple[Source, ast.AST] | None:
    frame = frame or user_frame()
    return expression_at(frame.f_code, frame.f_lasti)


def is_append(node: ast.AST) -> bool:
    """`x ++ y` as Python parses it: x + (+y)."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Add)
        and isinstance(node.right, ast.UnaryOp)
        and isinstance(node.right.op, ast.UAdd)
    )


def append_slip() -> str | None:
    """For an operator applied to an unparenthesised `[…] ++ x`: the spelling that was meant."""
    here = current()
    if here is None:
        return None
    source, node = here
    operands = _operands(node)
    for i, operand in enumerate(operands):
        if is_append(operand) and not source.parenthesised(operand):
            assert isinstance(operand, ast.BinOp) and isinstance(operand.right, ast.UnaryOp)
            listed, stream = source.segment(operand.left), source.segment(operand.right.operand)
            texts = [source.segment(o) for o in operands]
            if i == 0:
                texts[0] = stream
                return f"{listed} ++ ({_joined(node, texts)})"
            texts[i] = f"({listed} ++ {stream})"
            return _joined(node, texts)
    return None


def marker_slip() -> str | None:
    """For `[0] ++ k * 2`, which Python reads as [0] + ((+k) * 2): the spelling that was meant."""
    here = current()
    if here is None:
        return None
    source, node = here
    outer = source.parent.get(node)
    if isinstance(node, ast.BinOp) and isinstance(outer, ast.BinOp):
        return f"{source.segment(outer.left)} ++ ({source.segment(node).lstrip('+ ')})"
    return None


def bitwise_slip() -> tuple[str, str, str] | None:
    """For a comparison with an unparenthesised & | ^ beside it: that operator, how Python reads the line, and
    how it was meant."""
    here = current()
    if here is None or not isinstance(here[1], ast.expr):
        return None
    source, node = here
    if isinstance(node, ast.BinOp) and isinstance(source.parent.get(node), ast.Compare):
        if source.parenthesised(node):
            return None
        node = source.parent[node]
    if not isinstance(node, ast.Compare):
        return None
    operands = _operands(node)
    for i, operand in enumerate(operands):
        if _is_bitwise(operand) and not source.parenthesised(operand):
            assert isinstance(operand, ast.BinOp)
            symbol = SYMBOLS[type(operand.op)]
            texts = [source.segment(o) for o in operands]
            left, right = source.segment(operand.left), source.segment(operand.right)
            read = _joined(node, [f"({t})" if j == i else t for j, t in enumerate(texts)])
            if i == 0:
                meant = f"{left} {symbol} ({_joined(node, [right, *texts[1:]])})"
            else:
                meant = f"({_joined(node, [*texts[:i], left])}) {symbol} {right}"
            return symbol, read, meant
    return None


def _is_bitwise(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)


def _operands(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.Compare():
            return [node.left, *node.comparators]
    return []


def _joined(node: ast.AST, texts: list[str]) -> str:
    if isinstance(node, ast.BinOp):
        return f"{texts[0]} {SYMBOLS[type(node.op)]} {texts[1]}"
    assert isinstance(node, ast.Compare)
    text = texts[0]
    for op, right in zip(node.ops, texts[1:], strict=False):
        text += f" {SYMBOLS[type(op)]} {right}"
    return text


REPLACEMENTS = {
    "min": "minimum(a, b)",
    "max": "maximum(a, b)",
    "any": "any_of(xs)",
    "all": "all_of(xs)",
    "filter": "mux(c, a, b)",
    "sorted": "minimum(a, b) and maximum(a, b)",
}


def truth_slip() -> tuple[str, str]:
    """What asked a stream for its truth, in the user's words, and what to write instead."""
    here = current()
    if here is not None:
        source, node = here
        if isinstance(node, ast.If | ast.While):
            node = node.test
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return "`if` in a comprehension needs one truth", "mux(c, a, b) for each"
        climbing: ast.AST | None = node
        while climbing is not None and not isinstance(climbing, ast.stmt | ast.Lambda):
            found = _asks_truth(source, climbing, source.parent.get(climbing))
            if found is not None:
                return found
            climbing = source.parent.get(climbing)
    return "Python asks for its truth here", "mux(c, a, b) to choose, & | ~ to combine"


def _asks_truth(source: Source, node: ast.AST, parent: ast.AST | None) -> tuple[str, str] | None:
    s = source.segment
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn(), *_]):
            return "`in` compares with `==` and needs the answer now", "any_of(x == y for y in ys)"
        case ast.Compare(ops=[_, _, *_]):
            slip = bitwise_slip()
            if slip is not None:
                return f"`{slip[0]}` binds tighter than a comparison, which makes this a chain", slip[2]
            operands = _operands(node)
            links = [
                f"({s(a)} {SYMBOLS[type(op)]} {s(b)})"
                for a, op, b in zip(operands, node.ops, operands[1:], strict=False)
            ]
            return "a chained comparison is an `and` in Python", " & ".join(links)
        case ast.Call(func=ast.Name(id=name)) if name in REPLACEMENTS:
            return f"`{name}` compares and needs the answer now", REPLACEMENTS[name]
        case ast.Call(func=ast.Name(id="bool")):
            return "`bool` asks for one truth", "the stream itself"
        case ast.BoolOp():
            symbol = "&" if isinstance(node.op, ast.And) else "|"
            word = "and" if symbol == "&" else "or"
            parts = [s(v) if isinstance(v, _ATOMS) else f"({s(v)})" for v in node.values]
            return f"`{word}` asks for the truth of its left side", f" {symbol} ".join(parts)
        case ast.UnaryOp(op=ast.Not()):
            operand = s(node.operand)
            return "`not` asks for one truth", f"~{operand}" if isinstance(node.operand, _ATOMS) else f"~({operand})"
        case ast.IfExp():
            return "`if` needs one truth", f"mux({s(node.test)}, {s(node.body)}, {s(node.orelse)})"
    match parent:
        case ast.If() | ast.While() | ast.comprehension():
            word = "while" if isinstance(parent, ast.While) else "if"
            return f"`{word}` needs one truth", f"mux({s(node)}, a, b)"
        case ast.Assert():
            return "`assert` needs one truth", f'spec.prop("name", {s(node)})'
    return None


_ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant)
