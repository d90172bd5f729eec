"""Program automata to text, the form that `frontends.aut` reads.

An edge that is one command becomes one, and reading it again gives the same edge. Any other becomes a path through
locations of its own: choices, the guard, the updates one after another. What the language cannot say in an expression
is said by paths: a `mux` and a division that truncates have one path for each case, a Bool is a number that is not 0.
All claims become one: that no run comes to the final location.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from streamcheck.core.conjuncts import conjuncts
from streamcheck.core.errors import SpecError
from streamcheck.core.euclidean import ZERO, quotient
from streamcheck.core.names import FreshNames
from streamcheck.core.notation import AUT_RELATIONS, AUT_RESERVED
from streamcheck.core.simplify import negation
from streamcheck.core.term import FALSE, TRUE, Term, fold, rebuild, term, variable, variables, walk
from streamcheck.core.types import BOOL, INT
from streamcheck.problem.automaton import Automaton, Edge

SYMBOLS = {op: symbol for symbol, op in AUT_RELATIONS.items()}
TRUNCATING = {"quot": "/", "rem": "%"}
MOST_CASES = 256  # of one guard or update


def write_aut(automaton: Automaton) -> str:
    """An automaton over Int and Bool as text; what the form cannot express is a SpecError."""
    if not automaton.errors:
        raise SpecError(f"{automaton.name}: an .aut file has a claim, but this automaton has none")
    stray = next((v for v in automaton.variables if v.type not in (INT, BOOL)), None)
    if stray is not None:
        raise SpecError(f"{stray.payload}: expected Int in an .aut file, found {stray.type}")
    writing = _AutWriter(automaton)
    body = list(writing.body())
    lines = [_plain(automaton.name), "{"]
    if writing.words:
        lines += [f"    var {', '.join(writing.words.values())};", ""]
    lines += [f"    initial {writing.places[automaton.entry]};", f"    final {writing.final};"]
    return "\n".join([*lines, *body, "}"]) + "\n"


def _plain(name: str) -> str:
    """The name as the grammar has it."""
    plain = re.sub(r"[^A-Za-z0-9_']+", "_", name)
    return f"q_{plain}" if plain.isdigit() or plain in AUT_RESERVED else plain


@dataclass(frozen=True, slots=True)
class _Case:
    """An edge without choices between terms. `signs`: if the dividends of truncating divisions are negative."""

    conditions: tuple[Term, ...]
    updates: tuple[tuple[Term, Term], ...]
    signs: dict[Term, bool] = field(default_factory=dict)


class _AutWriter:
    """Text for edges. `words` are the written names of variables, `places` those of locations."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self._names, self._places = FreshNames(), FreshNames()
        self.words = {v: self._names.fresh(_plain(str(v.payload)), "{}'{}") for v in automaton.variables}
        errors = [e.location for e in automaton.errors]
        self.final = self._places.fresh(_plain(errors[0]))
        self.places = dict.fromkeys(errors, self.final)
        for location in automaton.locations:
            if location not in self.places:
                self.places[location] = self._places.fresh(_plain(location), "{}'{}")

    def body(self) -> Iterator[str]:
        """The edges, by their sources."""
        reached = self.places[self.automaton.entry] == self.final
        for location in self.automaton.locations:
            steps = [step for edge in self.automaton.edges_from[location] for step in self._steps(edge)]
            reached = reached or any(target == self.final for _, _, target in steps)
            sources = dict.fromkeys(source for source, _, _ in steps)
            for source in sources:
                yield ""
                yield f"    from {source}"
                yield from (f"    | {command} --> {target};" for s, command, target in steps if s == source)
        if not reached:  # a final location without an edge would be a mistake
            yield from ("", f"    from {self.places[self.automaton.entry]}", f"    | 0 != 0 --> {self.final};")

    def _steps(self, edge: Edge) -> Iterator[tuple[str, str, str]]:
        """Source, command and target of each step of the paths that the edge becomes."""
        here = self.places[edge.source]
        try:
            stages = self._stages(edge)
        except KeyError:  # an operation that the form does not have, or too many cases
            raise SpecError(f"{edge.text}: cannot be written in an .aut file", edge.where) from None
        for i, stage in enumerate(stages):
            there = self.places[edge.target] if i == len(stages) - 1 else self._place(edge)
            for commands in stage:
                at = here
                for command in commands[:-1]:
                    between = self._place(edge)
                    yield at, command, between
                    at = between
                yield at, commands[-1], there
            here = there

    def _place(self, edge: Edge) -> str:
        return self._places.fresh(f"{self.places[edge.source]}'", "{}{}")

    def _stages(self, edge: Edge) -> list[list[list[str]]]:
        """The choices, the guard, the updates: for each stage its paths, which lead to the next one."""
        guard = tuple(conjuncts(edge.guard))
        if len(edge.updates) == 1 and edge.updates[0][1] in edge.choices and not guard:
            return [[[f"{self.words[edge.updates[0][0]]} := *"]]]
        used = {*variables(edge.roots())}
        for choice in edge.choices:
            if choice not in self.words:
                self.words[choice] = self._names.fresh(_plain(str(choice.payload)), "{}'{}")
        choices = [[[f"{self.words[c]} := *"]] for c in edge.choices if c in used]
        sides: list[Term] = []
        updates = [self._update(v, t, guard, sides) for v, t in self._in_order(edge.updates)]
        if len(updates) == 1 and not choices and {*guard} <= {*sides}:
            return updates
        guards = [[self._guard(case, guard)] for case in _cases(_Case(guard, ()))] if guard else []
        return [*choices, *([guards] if guards else []), *updates] or [[["skip"]]]

    def _update(self, v: Term, t: Term, guard: tuple[Term, ...], sides: list[Term]) -> list[list[str]]:
        """The paths of an assignment, under a guard that holds; `sides` gets what a single one says of its divisors."""
        paths = []
        cases = _cases(_Case((), ((v, t),)))
        for case in cases:
            own: list[Term] = []
            command = f"{self.words[v]} := {self._value(case.updates[0][1], case, own)}"
            _require_conditions(own, (*guard, *case.conditions))
            paths.append([self._guard(case, guard), command] if case.conditions else [command])
            sides += own if len(cases) == 1 else []
        return paths

    def _guard(self, case: _Case, known: tuple[Term, ...]) -> str:
        """The conditions of the case, except those that a division in another one implies."""
        implied: list[Term] = []
        texts = [(c, self._condition(c, case, implied)) for c in case.conditions]
        _require_conditions(implied, (*case.conditions, *known))
        return " && ".join(text for c, text in texts if c not in implied)

    def _in_order(self, updates: Sequence[tuple[Term, Term]]) -> list[tuple[Term, Term]]:
        """Assignments one after another that do what the updates do at once."""
        read = [{*variables([t])} for _, t in updates]
        if all(v not in later for i, (v, _) in enumerate(updates) for later in read[i + 1 :]):
            return list(updates)
        before = []
        for v, t in updates:
            new = variable(self._names.fresh(f"{self.words[v]}'", "{}{}"), v.type)
            self.words[new] = str(new.payload)
            before.append((new, t))
        return before + [(v, new) for (v, _), (new, _) in zip(updates, before, strict=True)]

    # Terms

    def _value(self, t: Term, case: _Case, sides: list[Term]) -> str:
        """The right side of an assignment; a Bool is 1 or 0, or what another one is."""
        if t.type is BOOL and t.is_const:
            return "1" if t is TRUE else "0"
        return self._expression(t, case, sides)

    def _condition(self, t: Term, case: _Case, sides: list[Term]) -> str:
        match t.op:
            case "const":
                return "0 == 0" if t is TRUE else "0 != 0"
            case "var":
                return f"{self.words[t]} != 0"
            case "not":
                return f"!({self._condition(t.args[0], case, sides)})"
            case "and" | "or":
                symbol = "&&" if t.op == "and" else "||"
                return "(" + f" {symbol} ".join(self._condition(a, case, sides) for a in t.args) + ")"
            case "implies":
                return f"(!({self._condition(t.args[0], case, sides)}) || {self._condition(t.args[1], case, sides)})"
            case "eq" | "ne" if t.args[0].type is BOOL:
                a, b = (self._condition(x, case, sides) for x in t.args)
                return (
                    f"(({a} && {b}) || (!({a}) && !({b})))" if t.op == "eq" else f"(({a} && !({b})) || (!({a}) && {b}))"
                )
        left, right = (self._expression(x, case, sides) for x in t.args)
        return f"{left} {SYMBOLS[t.op]} {right}"

    def _expression(self, t: Term, case: _Case, sides: list[Term]) -> str:
        """Every operation in parentheses of its own; the conditions on its divisors are added to `sides`."""
        match t.op:
            case "var":
                return self.words[t]
            case "const":
                return str(t.payload)
            case "neg" if t.args[0].op == "floordiv" and t.args[0].args[1].is_const:
                a, b = t.args[0].args
                return f"({self._expression(a, case, sides)} / {-b.payload})"
            case "neg":
                return f"(- {self._expression(t.args[0], case, sides)})"
            case "add" | "sub" | "mul":
                symbol = {"add": "+", "sub": "-", "mul": "*"}[t.op]
                return (
                    f"({self._expression(t.args[0], case, sides)} {symbol} {self._expression(t.args[1], case, sides)})"
                )
        a, b = _division_operands(t)
        left, right = self._expression(a, case, sides), self._expression(b, case, sides)
        if not b.is_const or b.payload == 0:
            sides.append(term("ne", b, ZERO))
        if t.op in TRUNCATING:
            symbol = TRUNCATING[t.op]
            return f"(- ((- {left}) {symbol} {right}))" if case.signs[t] else f"({left} {symbol} {right})"
        return f"({left} {'%' if t.op == 'mod' else '/'} {right})"


def _division_operands(t: Term) -> tuple[Term, Term]:
    """The operands of a division or remainder that truncates, or as `quotient` and `remainder` make it."""
    if t.op in TRUNCATING:
        return t.args[0], t.args[1]
    if t.op == "mod" and t.args[1].op == "abs":
        return t.args[0], t.args[1].args[0]
    if t.op in ("floordiv", "mod") and t.args[1].is_const and t.args[1].payload > 0:
        return t.args[0], t.args[1]
    if _is_quotient(t):
        a, b = t.args[1].args
        return a, b
    raise KeyError(t.op)


def _is_quotient(t: Term) -> bool:
    return t.op == "mux" and t.args[1].op == "floordiv" and t is quotient(*t.args[1].args)


def _cases(case: _Case) -> list[_Case]:
    """One for each way to choose between the terms of the case."""
    todo, done = [case], list[_Case]()
    while todo:
        last = todo.pop()
        split = _split(last)
        if split is None:
            done.append(last)
        else:
            todo += reversed(split)
        if len(todo) + len(done) > MOST_CASES:
            raise KeyError("too many cases")
    return done


def _require_conditions(sides: Iterable[Term], known: Iterable[Term]) -> None:
    """A division without a condition on its divisor cannot be written: the form has one."""
    if not {*sides} <= {*known}:
        raise KeyError("a division that may be by zero")


def _split(case: _Case) -> list[_Case] | None:
    """The case as two cases, or None if it needs no more. Inner terms come first."""
    terms = [*case.conditions, *(t for _, t in case.updates)]
    for node in walk(terms):
        if node.op == "mux" and not _is_quotient(node):
            return [_with_choice(case, terms, node.args[0], truth=truth) for truth in (True, False)]
        if node.op in TRUNCATING and node not in case.signs:
            negative = term("lt", node.args[0], ZERO)
            return [
                _Case((*case.conditions, c), case.updates, {**case.signs, node: c is negative})
                for c in (negation(negative), negative)
            ]
    for i, (v, t) in enumerate(case.updates):
        if t.type is BOOL and not t.is_const and t.op != "var":
            before, after = case.updates[:i], case.updates[i + 1 :]
            return [
                _Case((*case.conditions, c), (*before, (v, b), *after), case.signs)
                for c, b in ((t, TRUE), (negation(t), FALSE))
            ]
    return None


def _with_choice(case: _Case, terms: list[Term], condition: Term, *, truth: bool) -> _Case:
    """The case in which the condition has that truth: every choice by it is made."""

    def step(node: Term, args: list[Term]) -> Term:
        if node.op == "mux" and node.args[0] is condition and not _is_quotient(node):
            return args[1 if truth else 2]
        return rebuild(node, args)

    image = fold(terms, step)
    conditions = (*(image[c] for c in case.conditions), condition if truth else negation(condition))
    return _Case(conditions, tuple((v, image[t]) for v, t in case.updates), case.signs)
