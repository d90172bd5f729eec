"""The source text that Python is evaluating.

Some slips cannot be seen in values: `[0] ++ k + 1` and `([0] ++ k) + 1` call the same methods. For a suspicious value,
the running frame gives the exact position in the source, and the syntax tree gives the context. This works for all
code (the spec, a module it imports, a body evaluated late) and costs nothing for correct code. If the source is not
available, the functions return None and nothing is checked.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate, islice
from types import CodeType, FrameType, FunctionType

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location, user_frame

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


class SourceText:
    """A parsed file: nodes by their exact position, and each node's parent."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.encoded = text.encode()
        self.starts = list(accumulate((len(line) for line in self.encoded.splitlines(keepends=True)), initial=0))
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

    def text_of(self, node: ast.expr) -> str:
        """The operand as written, its own parentheses included."""
        text = self.segment(node)
        return f"({text})" if self.has_parentheses(node) else text

    def has_parentheses(self, child: ast.expr) -> bool:
        """True if `child` itself is in parentheses (those of a call do not count)."""
        parent = self.parent[child]
        if not isinstance(parent, ast.expr):
            return False
        siblings = _operands(parent)
        index = next((i for i, o in enumerate(siblings) if o is child), 0)
        start = self._offset(parent.lineno, parent.col_offset)
        if index:
            before = siblings[index - 1]
            start = self._offset(before.end_lineno or 0, before.end_col_offset or 0)
        between = self.encoded[start : self._offset(child.lineno, child.col_offset)].decode()
        return re.sub(r"#[^\n]*|\\\n", "", between).rstrip().endswith("(")

    def _offset(self, line: int, column: int) -> int:
        return self.starts[line - 1] + column


def _position(node: ast.expr | ast.stmt) -> tuple[int | None, ...]:
    return (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


@lru_cache(maxsize=16)
def _parse(text: str) -> SourceText | None:
    try:
        return SourceText(text)
    except (SyntaxError, ValueError):
        return None


def source_of(file: str) -> SourceText | None:
    text = "".join(linecache.getlines(file))
    return _parse(text) if text else None


@lru_cache(maxsize=16)
def loop_targets(source: SourceText) -> tuple[tuple[str, int], ...]:
    """The names that `for` loops at module level bind, with their lines."""
    loops = [
        node
        for statement in source.tree.body
        for node in ast.walk(statement)
        if isinstance(node, ast.For) and not _inside_function(source, node)
    ]
    names = (target for loop in loops for target in ast.walk(loop.target) if isinstance(target, ast.Name))
    return tuple((target.id, target.lineno) for target in names)


def bindings(statements: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """The names that these statements bind in their own scope, with their lines."""
    stack = list(statements)[::-1]
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
                continue
            case ast.Lambda():
                continue
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
            case ast.alias():
                yield (node.asname or node.name).split(".")[0], node.lineno
        stack.extend(reversed(list(ast.iter_child_nodes(node))))


def lines_of_calls(source: SourceText, name: str) -> list[int]:
    """The lines that call the function of this name."""
    calls = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call)]
    return sorted({c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == name})


def enclosing_loop(source: SourceText, line: int) -> list[ast.stmt]:
    """The body of the loop that defines the function at this line; empty if there is none."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and node.lineno == line:
            parent = source.parent.get(node)
            return parent.body if isinstance(parent, ast.For | ast.While) else []
    return []


def _inside_function(source: SourceText, node: ast.AST | None) -> bool:
    while node is not None and not isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
        node = source.parent.get(node)
    return node is not None


def position_in(code: CodeType, lasti: int) -> tuple[int | None, ...]:
    line, end_line, column, end_column = next(islice(code.co_positions(), lasti // 2, None), (None, None, None, None))
    return (line, column, end_line, end_column)


def expression_at(code: CodeType, lasti: int) -> tuple[SourceText, ast.AST] | None:
    """The innermost expression that the instruction belongs to."""
    source = source_of(code.co_filename)
    if source is None:
        return None
    nodes = source.at.get(position_in(code, lasti))
    return (source, nodes[-1]) if nodes else None


def current(frame: FrameType | None = None) -> tuple[SourceText, ast.AST] | None:
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
    """The intended spelling of an operator applied to an unparenthesised `[…] ++ x`."""
    here = current()
    if here is None:
        return None
    source, node = here
    operands = _operands(node)
    for i, operand in enumerate(operands):
        if is_append(operand) and not source.has_parentheses(operand):
            assert isinstance(operand, ast.BinOp) and isinstance(operand.right, ast.UnaryOp)
            listed, stream = source.segment(operand.left), source.segment(operand.right.operand)
            texts = [source.text_of(o) for o in operands]
            if i == 0:
                return f"{listed} ++ ({_rest(source, operand)})"
            texts[i] = f"({listed} ++ {stream})"
            return _rejoin(node, texts)
    return None


def marker_slip() -> str | None:
    """The intended spelling of `[0] ++ k * 2`, which Python parses as [0] + ((+k) * 2)."""
    here = current()
    if here is None:
        return None
    source, node = here
    outer = source.parent.get(node)
    while isinstance(outer, ast.BinOp) and not is_append_marker(outer):
        node, outer = outer, source.parent.get(outer)
    if isinstance(outer, ast.BinOp):
        return f"{source.segment(outer.left)} ++ ({_rest(source, outer)})"
    return None


def is_append_marker(node: ast.BinOp) -> bool:
    """True if the right side begins with the second plus of `++`."""
    right: ast.expr = node.right
    while isinstance(right, ast.BinOp):
        right = right.left
    return isinstance(node.op, ast.Add) and isinstance(right, ast.UnaryOp) and isinstance(right.op, ast.UAdd)


def _rest(source: SourceText, appended: ast.expr) -> str:
    """Everything to the right of `++`, up to the end of the unparenthesised operators."""
    assert isinstance(appended, ast.BinOp)
    whole: ast.expr = appended
    while isinstance(parent := source.parent.get(whole), ast.BinOp | ast.Compare) and not source.has_parentheses(whole):
        if _operands(parent)[0] is not whole:
            break
        whole = parent
    start = source._offset(appended.left.end_lineno or 0, appended.left.end_col_offset or 0)
    end = source._offset(whole.end_lineno or 0, whole.end_col_offset or 0)
    return " ".join(source.encoded[start:end].decode().lstrip(") ").lstrip("+ ").split())


def bitwise_slip() -> tuple[str, str, str] | None:
    """The & | ^ beside an unparenthesised comparison, how Python parses the line, and the intended spelling."""
    here = current()
    if here is None or not isinstance(here[1], ast.expr):
        return None
    source, node = here
    if isinstance(node, ast.BinOp) and isinstance(source.parent.get(node), ast.Compare):
        if source.has_parentheses(node):
            return None
        node = source.parent[node]
    if not isinstance(node, ast.Compare):
        return None
    operands = _operands(node)
    slips = [o for o in operands if _is_bitwise(o) and not source.has_parentheses(o)]
    if not slips:
        return None
    assert isinstance(slips[0], ast.BinOp)
    texts = [f"({source.segment(o)})" if o in slips else source.text_of(o) for o in operands]
    return SYMBOLS[type(slips[0].op)], _rejoin(node, texts), _split(source, node, slips)


def _split(source: SourceText, node: ast.Compare, slips: list[ast.expr]) -> str:
    """The intended spelling of `b | x > 3 | y < 5`: the comparisons between the bitwise operators in parentheses."""
    result, comparison, compared = "", "", False
    symbols = ["", *(f" {SYMBOLS[type(op)]} " for op in node.ops)]
    for symbol, operand in zip(symbols, _operands(node), strict=True):
        comparison, compared = comparison + symbol, compared or bool(symbol)
        pieces = _pieces(source, operand) if operand in slips else [("", source.text_of(operand))]
        for bitwise, text in pieces:
            if bitwise:
                result += (f"({comparison})" if compared else comparison) + f" {bitwise} "
                comparison, compared = "", False
            comparison += text
    return result + (f"({comparison})" if compared else comparison)


def _pieces(source: SourceText, operand: ast.expr) -> list[tuple[str, str]]:
    """The operands of unparenthesised & | ^, each with the operator before it."""
    if isinstance(operand, ast.BinOp) and _is_bitwise(operand):
        left = operand.left
        inner = _is_bitwise(left) and not source.has_parentheses(left)
        before = _pieces(source, left) if inner else [("", source.text_of(left))]
        return [*before, (SYMBOLS[type(operand.op)], source.text_of(operand.right))]
    return [("", source.text_of(operand))]


def is_chain() -> bool:
    """True in a comparison of more than two operands."""
    found = current()
    return found is not None and isinstance(found[1], ast.Compare) and len(found[1].ops) > 1


def chain_slip() -> str | None:
    """The intended spelling of `b == x > 5`, which Python parses as (b == x) and (x > 5)."""
    here = current()
    if here is None:
        return None
    source, node = here
    if not isinstance(node, ast.Compare) or len(node.ops) < 2:
        return None
    first, *rest = [source.text_of(o) for o in _operands(node)]
    symbols = [SYMBOLS[type(op)] for op in node.ops]
    inner = rest[0] + "".join(f" {s} {t}" for s, t in zip(symbols[1:], rest[1:], strict=True))
    return f"{first} {symbols[0]} ({inner})"


def _is_bitwise(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr | ast.BitXor)


def _operands(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.Compare():
            return [node.left, *node.comparators]
    return []


def _rejoin(node: ast.AST, texts: list[str]) -> str:
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
    """The construct that needed a bool from a stream, in the user's words, and what to write instead."""
    here = current()
    if here is not None:
        source, node = here
        if isinstance(node, ast.If | ast.While):
            node = node.test
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            return "`if` in a comprehension needs a bool", "mux(c, a, b) for each"
        climbing: ast.AST | None = node
        while climbing is not None and not isinstance(climbing, ast.stmt | ast.Lambda):
            slip = _asks_truth(source, climbing, source.parent.get(climbing))
            if slip is not None:
                return slip
            climbing = source.parent.get(climbing)
    return "Python needs a bool here", "mux(c, a, b) to choose, & | ~ to combine"


def _asks_truth(source: SourceText, node: ast.AST, parent: ast.AST | None) -> tuple[str, str] | None:
    s = source.segment
    match node:
        case ast.Compare(ops=[ast.In() | ast.NotIn(), *_]):
            return "`in` compares with `==` and needs a bool", "any_of(x == y for y in ys)"
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
            return f"`{name}` compares and needs a bool", REPLACEMENTS[name]
        case ast.Call(func=ast.Name(id="bool")):
            return "`bool(…)` decides while the spec loads", "the stream itself"
        case ast.BoolOp():
            symbol = "&" if isinstance(node.op, ast.And) else "|"
            word = "and" if symbol == "&" else "or"
            parts = [s(v) if isinstance(v, ATOMS) else f"({s(v)})" for v in node.values]
            return f"`{word}` needs a bool on its left", f" {symbol} ".join(parts)
        case ast.UnaryOp(op=ast.Not()):
            operand = s(node.operand)
            return "`not` needs a bool", f"~{operand}" if isinstance(node.operand, ATOMS) else f"~({operand})"
        case ast.IfExp():
            return "`if` needs a bool", f"mux({s(node.test)}, {s(node.body)}, {s(node.orelse)})"
    match parent:
        case ast.If() | ast.While() | ast.comprehension():
            word = "while" if isinstance(parent, ast.While) else "if"
            return f"`{word}` needs a bool", f"mux({s(node)}, then, otherwise)"
        case ast.Assert():
            return "`assert` needs a bool", f'spec.prop("name", {s(node)})'
    return None


NUMBERS = {  # a function of Python's that asks for a number, and what does the same for a stream
    "round": "floor({1} + 0.5)",
    "int": "unsafe_cast(Int32, {0}), or cast(T, {0}) to a type that holds every value",
    "float": "cast(Double, {0})",
    "range": "range(10): a loop has a fixed number of rounds, whatever {0} is",
    "isnan": "{1} != {1}",
    "isinf": "abs({0}) == float('inf')",
    "isfinite": "abs({0}) < float('inf')",
    "fabs": "abs({0})",
    "trunc": "unsafe_cast(Int32, {0})",
    "pow": "{1} ** 2",
}
MATH = frozenset("sqrt sin cos tan asin acos atan sinh cosh tanh exp log ceil floor".split())


def number_slip() -> str:
    """The replacement for a call or an index that needs a number from a stream."""
    found = current()
    match found[1] if found is not None else None:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name), args=[argument, *_]):
            assert found is not None
            shown = found[0].segment(argument)
            if name in MATH:
                return f"{name}({shown})"
            if name in NUMBERS:
                return NUMBERS[name].format(shown, shown if isinstance(argument, ATOMS) else f"({shown})")
        case ast.Subscript(value=value, slice=index):
            assert found is not None
            return f"Array(T, n)({found[0].segment(value)})[{found[0].segment(index)}]"
    return "cast(T, s), or a function of streams"


def function_error(function: FunctionType, where: Location) -> SpecError:
    """The error for a function in place of a stream."""
    name, code = function.__name__, function.__code__
    write = "its value, by a call" if code.co_argcount else f"@stream(T) above `def {name}`"
    if name == "<lambda>":
        return SpecError("a lambda is not a stream", where, write="stream(T, lambda …)")
    defined = Location(code.co_filename, code.co_firstlineno)
    message = f"`{name}` is a function, not a stream"
    return SpecError(message, where, also=(("it is defined here", defined),), write=write)


ATOMS = (ast.Name, ast.Call, ast.Attribute, ast.Subscript, ast.Constant)
