"""The mutants of a module: each has one small change of its syntax tree.

Not mutated: annotations, imports, documentation, `assert` (it narrows types), what `raise` raises (its words),
decorators (dataclasses, caches), calls of the log, and what the caller leaves out.
"""

import ast
import copy
import re
from collections import Counter
from typing import Any, NamedTuple

COMPARISONS = {ast.Lt: [ast.LtE], ast.LtE: [ast.Lt], ast.Gt: [ast.GtE], ast.GtE: [ast.Gt], ast.Eq: [ast.NotEq]}
COMPARISONS |= {ast.NotEq: [ast.Eq], ast.Is: [ast.IsNot], ast.IsNot: [ast.Is], ast.In: [ast.NotIn], ast.NotIn: [ast.In]}
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult, ast.Div: ast.Mult}
ARITHMETIC |= {ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift}
ARITHMETIC |= {ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd}
CALLS = {"any": "all", "all": "any", "min": "max", "max": "min"}
IDENTITIES = ("reversed", "sorted", "abs")  # calls that become their argument
NEUTRAL = {"str": ast.Constant(""), "int": ast.Constant(0), "bool": None, "None": None}
NEUTRAL |= {"tuple": ast.Tuple([], ast.Load()), "list": ast.List([], ast.Load()), "dict": ast.Dict([], [])}


def pairs(text):
    words = iter(text.split())
    return dict(zip(words, words, strict=True))


# Operators of terms, and words of SMT-LIB, Python and C in texts that are made of them: pairs "from to".
OPERATORS = pairs("""and or or and lt le le lt gt ge ge gt eq ne ne eq add sub sub add mul add shl shr shr shl
    min max max min floordiv quot quot floordiv mod rem rem mod same eq implies and""")
WORDS = pairs("""bvult bvule bvule bvult bvslt bvsle bvsle bvslt bvadd bvsub bvsub bvadd bvand bvor bvor bvand
    bvxor bvor bvmul bvadd bvshl bvlshr bvlshr bvashr bvashr bvlshr bvudiv bvurem bvurem bvudiv bvsdiv bvudiv
    bvsrem bvsmod zero_extend sign_extend sign_extend zero_extend div mod mod div and or or and < <= <= < > >= >= >
    + - - + == != && || || && fp.lt fp.leq fp.leq fp.lt fp.eq = RNE RTZ RTZ RNE 0 1 1 0 // *""")
WORD = re.compile(r"(?<![\w.!$#:])(?:[a-z_]+(?:\.[a-z]+)?|RNE|RTZ|[01]|<=|>=|==|&&|\|\||//|[<>+-])(?![\w.!$#:=>])")
SENTENCE = re.compile(r"[a-z]{3,},? [a-z]{2,} [a-z]{2,}")  # words of a message


class Mutant(NamedTuple):
    """`statement` is its line and column; None outside of functions, where importing is executing."""

    path: str
    scope: str
    line: int
    text: str
    change: str
    statement: tuple[int, int] | None
    place: tuple[Any, str, int | None]
    new: Any
    number: int  # in its module

    @property
    def key(self):
        return (self.path, self.scope, self.text, self.change)

    def __str__(self):
        return f"{self.path}:{self.line} in {self.scope}: {self.text}\n        {self.change}"


class Module:
    """A module, its mutants, and the places of statements in functions. Neither assignments to names that are
    `skipped` are mutated nor functions of these names."""

    def __init__(self, path, source, skipped=()):
        self.path, self.lines, self.skipped = path, source.splitlines(), skipped
        self.tree = ast.parse(source)
        self.met = Counter()
        self.mutants, self.places = [], places_of_statements(self.tree)
        for index, node in enumerate(self.tree.body):
            self._statement((self.tree, "body", index), node, "module", None, None)

    def tree_of(self, mutant):
        """The syntax tree with this change, until the next call."""
        return ast.fix_missing_locations(Changed(mutant.place, mutant.new).visit(copy.copy(self.tree)))

    # Statements

    def _statement(self, place, node, scope, at, returns):
        match node:
            case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Raise() | ast.Nonlocal() | ast.Pass():
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if self._is_skipped(
                name, node
            ):
                return
            case ast.FunctionDef():
                if node.name not in self.skipped:
                    self._function(node, scope, at)
                return
            case ast.ClassDef():
                self._body(node, "body", f"{scope}.{node.name}".removeprefix("module."), None, None)
                return
            case ast.Expr(value=ast.Constant()):
                return
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="LOG")))):
                return
        inside = (node.lineno, node.col_offset) if at is not None else None
        self._dropped(place, node, scope, inside)
        if isinstance(node, ast.Return):
            self._returned(place, node, scope, inside, returns)
        self._fields(node, scope, inside, returns)

    def _is_skipped(self, name, node):
        is_alias = isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
        return is_alias or name in self.skipped or name in ("__all__", "__slots__", "LOG")

    def _function(self, node, scope, at):
        name = f"{scope}.{node.name}".removeprefix("module.")
        for kind in ("defaults", "kw_defaults"):
            for index, default in enumerate(getattr(node.args, kind)):
                if default is not None:
                    self._expression((node.args, kind, index), default, name, at)
        self._body(node, "body", name, (0, 0), node.returns)

    def _body(self, node, field, scope, at, returns):
        for index, child in enumerate(getattr(node, field)):
            self._statement((node, field, index), child, scope, at, returns)

    def _fields(self, node, scope, at, returns):
        for field, value in ast.iter_fields(node):
            if field == "annotation":
                continue
            if field == "cases":
                for case in value:
                    self._case(node, case, scope, at, returns)
            elif field == "handlers":
                for handler in value:
                    self._body(handler, "body", scope, at, returns)
            elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                self._body(node, field, scope, at, returns)
            else:
                self._field(node, field, value, scope, at)

    def _dropped(self, place, node, scope, at):
        body = getattr(node, "body", [])
        match node:
            case ast.Expr() | ast.AugAssign() | ast.Continue() | ast.Break():
                self._add(place, node, ast.Pass(), scope, at)
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                self._add(place, node, ast.Pass(), scope, at)
            case ast.If(orelse=[]) if len(body) == 1 and isinstance(body[0], ast.Raise | ast.Continue | ast.Return):
                self._add(place, node, ast.Pass(), scope, at)

    def _returned(self, place, node, scope, at, returns):
        declared = ast.unparse(returns).strip("'\"") if returns is not None else ""
        name = "None" if "None" in declared.split(" | ") else declared.partition("[")[0]
        if node.value is None or isinstance(node.value, ast.Constant) or name not in NEUTRAL or declared == "None":
            return
        values = [ast.Constant(True), ast.Constant(False)] if name == "bool" else [NEUTRAL[name] or ast.Constant(None)]
        for value in values:
            self._add((node, "value", None), node.value, value, scope, at)

    def _case(self, node, case, scope, at, returns):
        first = case.body[0]
        inside = (first.lineno, first.col_offset) if at is not None else None
        if isinstance(case.pattern, ast.MatchOr):
            for one in case.pattern.patterns:
                others = [p for p in case.pattern.patterns if p is not one]
                less = ast.MatchOr(others) if len(others) > 1 else others[0]
                self._add((case, "pattern", None), case.pattern, less, scope, inside, f"without {ast.unparse(one)}")
        if case.guard is not None:
            self._expression((case, "guard", None), case.guard, scope, at)
            self._condition((case, "guard", None), case.guard, scope, at)
        self._body(case, "body", scope, at, returns)

    # Expressions

    def _field(self, node, field, value, scope, at):
        if isinstance(value, ast.AST):
            self._expression((node, field, None), value, scope, at)
        elif isinstance(value, list):
            for index, child in enumerate(value):
                if isinstance(child, ast.AST):
                    self._expression((node, field, index), child, scope, at)

    def _expression(self, place, node, scope, at):
        _, field, _ = place
        if field in ("test", "ifs"):
            self._condition(place, node, scope, at)
        for new in replacements(node):
            self._add(place, node, new, scope, at)
        if isinstance(node, ast.Lambda):
            self._expression((node, "body", None), node.body, scope, at)
            return
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            of_values = node.args[:1] if node.func.id in ("isinstance", "cast") else node.args
            for index, value in enumerate(of_values):
                self._expression((node, "args", index), value, scope, at)
            self._field(node, "keywords", node.keywords, scope, at)
            return
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "format_spec", "ctx"):
                self._field(node, name, value, scope, at)

    def _condition(self, place, node, scope, at):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return  # its operator is changed
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return
        self._add(place, node, ast.UnaryOp(ast.Not(), node), scope, at)
        if place[1] == "ifs":
            self._add(place, node, ast.Constant(True), scope, at)

    def _add(self, place, old, new, scope, at, change=None):
        for name in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            if hasattr(old, name):
                setattr(new, name, getattr(old, name))
        line = getattr(old, "lineno", place[0].lineno if hasattr(place[0], "lineno") else 1)
        change = change or f"{shown(old)} → {shown(new) if not isinstance(new, ast.Pass) else 'dropped'}"
        text, number = self.lines[line - 1].strip(), len(self.mutants)
        self.met[scope, text, change] += 1
        if (times := self.met[scope, text, change]) > 1:
            change += f" #{times}"
        self.mutants.append(Mutant(self.path, scope, line, text, change, at, place, new, number))


class Changed(ast.NodeTransformer):
    """Copies the nodes on the way to the place, so that the tree itself stays."""

    def __init__(self, place, new):
        self.place, self.new = place, new

    def visit(self, node):
        parent, field, index = self.place
        fresh = copy.copy(node)
        for name, value in ast.iter_fields(node):
            if isinstance(value, list):
                items = [self.visit(v) if isinstance(v, ast.AST) else v for v in value]
                if node is parent and name == field:
                    items[index] = self.new
                setattr(fresh, name, items)
            elif node is parent and name == field:
                setattr(fresh, name, self.new)
            elif isinstance(value, ast.AST):
                setattr(fresh, name, self.visit(value))
        return fresh


def places_of_statements(tree):
    """Where the statements of functions are."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = (n for f in functions for n in ast.walk(f) if isinstance(n, ast.stmt) and n is not f)
    return sorted({(node.lineno, node.col_offset) for node in inside})


def shown(node):
    text = node if isinstance(node, str) else ast.unparse(node)
    first, *rest = text.splitlines() or [""]
    return first + (" …" if rest else "")


def replacements(node):
    """What an expression becomes."""
    match node:
        case ast.Compare():
            for index, op in enumerate(node.ops):
                for other in COMPARISONS[type(op)]:
                    yield changed(node, ops=[*node.ops[:index], other(), *node.ops[index + 1 :]])
        case ast.BinOp() if type(node.op) in ARITHMETIC:
            yield changed(node, op=ARITHMETIC[type(node.op)]())
        case ast.BoolOp():
            yield changed(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
            for index in range(len(node.values)):
                others = node.values[:index] + node.values[index + 1 :]
                yield changed(node, values=others) if len(others) > 1 else copy.copy(others[0])
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert()):
            yield copy.copy(node.operand)
        case ast.IfExp():
            yield changed(node, body=node.orelse, orelse=node.body)
        case ast.Call():
            yield from of_call(node)
        case ast.Constant():
            yield from of_constant(node)


def of_call(node):
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in CALLS:
        yield changed(node, func=ast.copy_location(ast.Name(CALLS[name], ast.Load()), node.func))
    if name in IDENTITIES and len(node.args) == 1:
        yield copy.copy(node.args[0])
    first, second, *rest = [*node.args, None, None]
    is_plain = not isinstance(first, ast.Starred) and not isinstance(second, ast.Starred)
    if second is not None and is_plain and name not in ("isinstance", "getattr", "cast", "replace", "zip"):
        of_one_kind = isinstance(first, ast.Constant) == isinstance(second, ast.Constant)
        if of_one_kind and ast.dump(first) != ast.dump(second):
            yield changed(node, args=[second, first, *rest[:-2]])


def of_constant(node):
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
        if value > 0:
            yield ast.Constant(value - 1)
    elif isinstance(value, float):
        yield ast.Constant(value + 1.0)
    elif isinstance(value, str):
        if value in OPERATORS:
            yield ast.Constant(OPERATORS[value])
        elif not SENTENCE.search(value):
            for word in WORD.finditer(value):
                if (other := WORDS.get(word[0])) is not None and ("(" in value or " " in value.strip()):
                    yield ast.Constant(value[: word.start()] + other + value[word.end() :])


def changed(node, **fields):
    fresh = copy.copy(node)
    for name, value in fields.items():
        setattr(fresh, name, value)
    return fresh
