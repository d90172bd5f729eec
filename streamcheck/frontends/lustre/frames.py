"""Frame blocks: `frame (x, y) x = 0; let … tel`, where what nothing defines keeps its value.

A frame stands for equations. `last x` is a variable of its own, `last x = first x -> pre x`, in which `first x` is the
initial value that the frame gives, evaluated once; without one it is `pre x`. It has a value at every step, also where
a branch of a `when` block reads it. A variable that a branch, or the body, does not define is `last x` there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from streamcheck.frontends.lustre.blocks import BlockParser
from streamcheck.frontends.lustre.cursor import Cursor
from streamcheck.frontends.lustre.expressions import ExpressionParser
from streamcheck.frontends.lustre.syntax import Equation, ExpressionText, NodeText, Variable, name_expression


class FrameParser:
    def __init__(
        self, cursor: Cursor, expressions: ExpressionParser, blocks: BlockParser, equation: Callable[[], Equation]
    ) -> None:
        self.cursor = cursor
        self.expressions = expressions
        self.blocks = blocks
        self.equation = equation

    def add(self, node: NodeText) -> None:
        """Add the equations and variables of the frame that begins here to the node."""
        self.cursor.expect("frame")
        self.cursor.expect("(")
        at = self.cursor.at
        framed = self.cursor.names()
        self.cursor.expect(")")
        starts: list[Equation] = []
        while not self.cursor.take("let"):
            starts.append(self._start())
        lasts = self.expressions.lasts = dict.fromkeys(framed, at)
        self.blocks.framed = frozenset(framed)
        body: list[Equation] = []
        while not self.cursor.take("tel"):
            body += self.blocks.equations() if self.blocks.begins() else [self.equation()]
        self.cursor.take(";")
        self.expressions.lasts, self.blocks.framed = None, frozenset()
        self._require_framed(framed, (*starts, *body))
        defined = {name for equation in body for name in equation.names}
        body += (Equation((x,), (), name_expression(last(x), at), at) for x in framed if x not in defined)
        node.equations += body
        self._add_starts(node, starts)
        begun = {name for equation in starts for name in equation.names}
        for name, where in lasts.items():
            self._add_last(node, name, where, is_begun=name in begun)

    def _start(self) -> Equation:
        """An initial value. That of an array, `x[i] = …`, speaks of its own elements: those of `first x`."""
        if self.cursor.after == "[":
            self.expressions.aliases = {self.cursor.word: first(self.cursor.word)}
        equation = self.equation()
        self.expressions.aliases = {}
        return equation

    def _require_framed(self, framed: list[str], equations: tuple[Equation, ...]) -> None:
        for equation in equations:
            for name in equation.names:
                if name not in framed:
                    text = f"{name} is defined in the frame, and is not in its list of variables"
                    raise self.cursor.error(equation.at, text, write=f"frame ({', '.join(framed)}, {name})")

    def _add_starts(self, node: NodeText, starts: list[Equation]) -> None:
        for equation in starts:
            for name in equation.names:
                node.locals.append(replace(self._variable(node, name, equation.at), name=first(name)))
            node.equations.append(replace(equation, names=tuple(map(first, equation.names))))

    def _add_last(self, node: NodeText, name: str, at: int, *, is_begun: bool) -> None:
        node.locals.append(replace(self._variable(node, name, at), name=last(name)))
        value = before = ExpressionText("pre", (name_expression(name, at),), None, at)
        if is_begun:
            value = ExpressionText("arrow", (name_expression(first(name), at), before), None, at)
        else:
            self.expressions.unguarded.add(id(before))
        node.equations.append(Equation((last(name),), (), value, at))

    def _variable(self, node: NodeText, name: str, at: int) -> Variable:
        """A variable of the same type, about which nothing is claimed."""
        for v in (*node.outputs, *node.locals):
            if v.name == name:
                return replace(v, at=at, is_claimed=False)
        raise self.cursor.error(at, f"{name} is not an output or local variable here")


def first(name: str) -> str:
    return f"first {name}"


def last(name: str) -> str:
    return f"last {name}"
