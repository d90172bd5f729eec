"""Program automata to text, the form that `frontends.aut` reads; reading it again gives the same automaton."""

from __future__ import annotations

import re

from streamcheck.core.errors import SpecError
from streamcheck.core.euclidean import ZERO, quotient
from streamcheck.core.notation import AUT_RELATIONS, AUT_RESERVED
from streamcheck.core.term import TRUE, Term, term
from streamcheck.core.types import INT
from streamcheck.problem.automaton import Automaton, Edge, conjuncts

SYMBOLS = {op: symbol for symbol, op in AUT_RELATIONS.items()}


def write_aut(automaton: Automaton) -> str:
    """An automaton over Int with one error, in which every edge is one command; anything else is a SpecError."""
    if len(automaton.errors) != 1:
        raise SpecError(f"{automaton.name}: an .aut file has one claim, but this automaton has {len(automaton.errors)}")
    stray = next((v for v in automaton.variables if v.type is not INT), None)
    if stray is not None:
        raise SpecError(f"{stray.payload}: expected Int in an .aut file, found {stray.type}")
    names = _names([*automaton.locations])
    words = _names([str(v.payload) for v in automaton.variables])
    writing = _AutWriter({v: words[str(v.payload)] for v in automaton.variables})
    lines = [_names([automaton.name])[automaton.name], "{"]
    if automaton.variables:
        lines += [f"    var {', '.join(words.values())};", ""]
    lines += [f"    initial {names[automaton.entry]};", f"    final {names[automaton.errors[0].location]};"]
    for location in automaton.locations:
        if automaton.edges_from[location]:
            lines += ["", f"    from {names[location]}"]
            lines += [f"    | {writing.command(e)} --> {names[e.target]};" for e in automaton.edges_from[location]]
    return "\n".join([*lines, "}"]) + "\n"


def _names(wanted: list[str]) -> dict[str, str]:
    """Names as the grammar has them, each its own."""
    taken: set[str] = set()
    chosen: dict[str, str] = {}
    for name in wanted:
        plain = re.sub(r"[^A-Za-z0-9_']+", "_", name)
        if plain.isdigit() or plain in AUT_RESERVED:
            plain = f"q_{plain}"
        while plain in taken:
            plain += "'"
        taken.add(plain)
        chosen[name] = plain
    return chosen


class _AutWriter:
    def __init__(self, names: dict[Term, str]) -> None:
        self.names = names

    def command(self, edge: Edge) -> str:
        wrong = SpecError(f"{edge.text}: cannot be written as one command of an .aut file", edge.where)
        sides: list[Term] = []
        if edge.choices:
            (target, value), *more = edge.updates or [(None, None)]
            if more or target is None or value not in edge.choices or edge.guard is not TRUE:
                raise wrong
            return f"{self.names[target]} := *"
        if len(edge.updates) > 1:
            raise wrong
        try:
            if edge.updates:
                target, value = edge.updates[0]
                text = f"{self.names[target]} := {self.expression(value, sides)}"
                guards: list[Term] = []
            else:
                guards = [g for g in conjuncts(edge.guard) if g is not TRUE]
                text = "skip"
                if guards:
                    text = self.comparison(guards[-1], sides)
            rest = set(conjuncts(edge.guard)) - {*sides, *guards[-1:], TRUE}
        except KeyError:
            raise wrong from None
        if rest:
            raise wrong
        return text

    def comparison(self, guard: Term, sides: list[Term]) -> str:
        symbol = SYMBOLS[guard.op]
        return f"{self.expression(guard.args[0], sides)} {symbol} {self.expression(guard.args[1], sides)}"

    def expression(self, t: Term, sides: list[Term]) -> str:
        """Every operation in parentheses of its own; the conditions on its divisors are added to `sides`."""
        match t.op:
            case "var":
                return self.names[t]
            case "const":
                return str(t.payload)
            case "neg" if t.args[0].op == "floordiv" and t.args[0].args[1].is_const:
                a, b = t.args[0].args
                return f"({self.expression(a, sides)} / {-b.payload})"
            case "neg":
                return f"(- {self.expression(t.args[0], sides)})"
            case "add" | "sub" | "mul":
                symbol = {"add": "+", "sub": "-", "mul": "*"}[t.op]
                return f"({self.expression(t.args[0], sides)} {symbol} {self.expression(t.args[1], sides)})"
        a, b = self._division_operands(t)
        symbol = "%" if t.op == "mod" else "/"
        left, right = self.expression(a, sides), self.expression(b, sides)
        if not b.is_const:
            sides.append(term("ne", b, ZERO))
        return f"({left} {symbol} {right})"

    def _division_operands(self, t: Term) -> tuple[Term, Term]:
        """The operands of a division or remainder as `quotient` and `remainder` make it."""
        if t.op == "mod" and t.args[1].op == "abs":
            return t.args[0], t.args[1].args[0]
        if t.op in ("floordiv", "mod") and t.args[1].is_const and t.args[1].payload > 0:
            return t.args[0], t.args[1]
        if t.op == "mux" and t.args[1].op == "floordiv":
            a, b = t.args[1].args
            if t is quotient(a, b):
                return a, b
        raise KeyError(t.op)
