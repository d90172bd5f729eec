"""Program automata as text, the `.aut` form of gsutre/spa (`export.aut` writes it).

    lock                                # from a hash to the end of the line is a comment
    {
        var x, y;
        initial q_0;
        final q_bad;

        from q_0
        | x := 2 * y --> q_1;           # an assignment
        | x <= y / 3 --> q_bad;         # a guard: ==, <, >, <=, >=, and here also !=, &&, || and !
        | skip --> q_0;
        | x := * --> q_0;               # any value; `havoc x` is the same
    }

Variables are mathematical integers that begin with any values; the claim is that no run comes to the final location
(its outgoing edges are don't cares and are dropped). A final location that no edge leads to,
and an initial location that no edge leads from, is a mistake, not a proof.
The tool's own grammar has + - * /; [Penelle, section 3.1] adds %. It leaves the division of negative numbers
to z3, which follows SMT-LIB: t / u is the integer for which t - u * (t / u), which is t % u, is at least 0 and less
than the absolute value of u. A command with a division is possible only if no divisor is zero (section 3.3); a
divisor that may be zero is warned of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches

from streamcheck.core.errors import SpecError
from streamcheck.core.euclidean import ZERO, quotient, remainder
from streamcheck.core.location import Location
from streamcheck.core.notation import AUT_RELATIONS, AUT_RESERVED
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable
from streamcheck.core.types import BOOL, INT, Type
from streamcheck.core.unsaved import read_text
from streamcheck.problem.automaton import Automaton, Edge, Error

MISTAKEN = {"=": "write == to compare and := to assign", "<>": "write !=", "//": "a comment begins with #"}
TOKEN = re.compile(
    r"\s+|#[^\n]*|-->|:=|[<>=!]=|(?P<mistaken><>|=|//)|&&|\|\||[-+*/%<>|!;,(){}]|[A-Za-z0-9_']+|(?P<wrong>.)"
)
BINDS = {"||": 1, "&&": 2, **dict.fromkeys(AUT_RELATIONS, 4), "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
PREFIX = {"!": 3, "-": 7}  # a minus sign binds tighter than any operation, a negation looser than comparisons
OPEN = 0  # the strength of an open bracket
NAME = re.compile(r"[A-Za-z0-9_']+")


def read_aut(path: str) -> Automaton:
    try:
        text = read_text(path, "utf-8-sig")  # some editors begin files with a mark
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    return _AutReader(path, text).automaton()


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    where: Location


@dataclass(frozen=True, slots=True)
class _Pending:
    """An operator that waits for its right operand, or an open bracket."""

    token: _Token
    strength: int
    sides: int  # the side conditions before it
    is_prefix: bool = False


class _AutReader:
    """Parses the tokens by recursive descent. Declarations may come in any order, so they are checked at the end."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.tokens = list(_tokens(path, text))
        self.at = 0
        self.end = Location(path, max(1, text.rstrip().count("\n") + 1))
        self.variables: dict[str, Location] = {}
        self.used: dict[str, Location] = {}
        self.initial: _Token | None = None
        self.final: _Token | None = None
        self.locations: dict[str, Location] = {}
        self.edges: list[Edge] = []
        self.sides: list[Term] = []  # the divisors of the command being read are not zero
        self.warnings: list[str] = []

    # Tokens

    @property
    def next(self) -> str:
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    @property
    def where(self) -> Location:
        return self.tokens[self.at].where if self.at < len(self.tokens) else self.end

    def wrong(self, wanted: str) -> SpecError:
        return SpecError(f"expected {wanted}, found {self.next or 'the end of the file'}", self.where)

    def take(self, wanted: str) -> _Token:
        if self.next != wanted:
            raise self.wrong(wanted)
        self.at += 1
        return self.tokens[self.at - 1]

    def name(self, what: str) -> _Token:
        if not NAME.fullmatch(self.next) or self.next in AUT_RESERVED or self.next.isdecimal():
            raise self.wrong(what)
        self.at += 1
        return self.tokens[self.at - 1]

    # Declarations

    def automaton(self) -> Automaton:
        name = self.name("the automaton's name")
        self.take("{")
        while self.next != "}":
            self._declaration()
        self.take("}")
        if self.next:
            raise SpecError(f"unexpected {self.next} after the end of the automaton", self.where)
        if self.initial is None or self.final is None:
            raise SpecError(f"no `{'final' if self.initial else 'initial'}` location", self.end)
        for variable_name, where in self.used.items():
            if variable_name not in self.variables:
                raise SpecError(f"the variable {variable_name} is not declared", where)
        return self._automaton(name.text, self.initial, self.final)

    def _declaration(self) -> None:
        match self.next:
            case "var":
                self._variables()
            case "initial":
                self.at += 1
                self.initial = self._only(self.initial)
            case "final":
                self.at += 1
                self.final = self._only(self.final)
            case "from":
                self._from()
            case _:
                raise self.wrong("var, initial, final, from or }")

    def _variables(self) -> None:
        while True:
            self.at += 1
            name = self.name("a variable")
            if name.text in self.variables:
                raise SpecError(
                    f"{name.text} is declared twice", name.where, also=(("before", self.variables[name.text]),)
                )
            self.variables[name.text] = name.where
            if self.next != ",":
                break
        self.take(";")

    def _only(self, before: _Token | None) -> _Token:
        name = self.name("a location")
        if before is not None:
            raise SpecError("a second location of this kind", name.where, also=(("before", before.where),))
        self.take(";")
        return name

    def _from(self) -> None:
        self.at += 1
        source = self.name("a location")
        self.locations[source.text] = source.where
        while self.next == "|":
            where = self.take("|").where
            self.sides = []
            first = self.at
            guard, updates, choices = self._command()
            text = _command_text(t.text for t in self.tokens[first : self.at])
            self.take("-->")
            target = self.name("a location")
            self.take(";")
            self._warn_of_zero(where)
            guard = conjunction(*self.sides, guard)
            self.edges.append(Edge(source.text, target.text, guard, updates, choices, text, where))

    def _warn_of_zero(self, where: Location) -> None:
        if FALSE in self.sides:
            self.warnings.append(f"line {where.line} divides by zero, so no run takes it")
        elif self.sides:
            self.warnings.append(f"line {where.line}: a run takes it only if it does not divide by zero")

    # Commands

    def _command(self) -> tuple[Term, tuple[tuple[Term, Term], ...], tuple[Term, ...]]:
        """Guard, updates and choices."""
        after = self.tokens[self.at + 1].text if self.at + 1 < len(self.tokens) else ""
        if self.next == "skip":
            self.at += 1
            return TRUE, (), ()
        if self.next == "havoc":
            self.at += 1
            return self._any_value(self._variable())
        if after != ":=":
            return self._expression(BOOL), (), ()
        target = self._variable()
        self.take(":=")
        if self.next == "*":
            self.at += 1
            return self._any_value(target)
        return TRUE, ((target, self._expression(INT)),), ()

    def _any_value(self, target: Term) -> tuple[Term, tuple[tuple[Term, Term], ...], tuple[Term, ...]]:
        chosen = variable(f"any {target.payload} {len(self.edges)}", INT)
        return TRUE, ((target, chosen),), (chosen,)

    def _variable(self) -> Term:
        name = self.name("a variable")
        self.used.setdefault(name.text, name.where)
        return variable(name.text, INT)

    def _expression(self, wanted: Type) -> Term:
        """Operator precedence with stacks of its own, so that no nesting is too deep."""
        operands: list[Term] = []
        pending: list[_Pending] = []
        while True:
            while self.next in PREFIX or self.next == "(":
                strength = OPEN if self.next == "(" else PREFIX[self.next]
                pending.append(_Pending(self.take(self.next), strength, len(self.sides), is_prefix=True))
            operands.append(self._operand())
            while self.next == ")":
                self._reduce(operands, pending, OPEN + 1)
                if not pending:
                    raise SpecError(") closes nothing", self.where)
                pending.pop()
                self.at += 1
            if self.next not in BINDS:
                break
            self._reduce(operands, pending, BINDS[self.next])
            pending.append(_Pending(self.take(self.next), BINDS[self.tokens[self.at - 1].text], len(self.sides)))
        self._reduce(operands, pending, OPEN + 1)
        if pending:
            raise self.wrong(")")
        if operands[0].type is not wanted:
            raise self.wrong("a comparison") if wanted is BOOL else SpecError("expected a number", self.where)
        return operands[0]

    def _operand(self) -> Term:
        if self.next.isdecimal():
            self.at += 1
            return constant(INT, int(self.tokens[self.at - 1].text))
        return self._variable()

    def _reduce(self, operands: list[Term], pending: list[_Pending], strength: int) -> None:
        """Apply the pending operators that bind at least so tightly."""
        while pending and pending[-1].strength >= strength:
            operator = pending.pop()
            right = operands.pop()
            try:
                if operator.is_prefix:
                    operands.append(_negative(right) if operator.token.text == "-" else term("not", right))
                else:
                    operands.append(self._apply_operator(operator, operands.pop(), right))
            except TypeRule:
                kind = "conditions" if operator.token.text in ("&&", "||", "!") else "numbers"
                raise SpecError(f"`{operator.token.text}` is for {kind}", operator.token.where) from None

    def _apply_operator(self, operator: _Pending, left: Term, right: Term) -> Term:
        match operator.token.text:
            case "+" | "-" | "*" as op:
                return term({"+": "add", "-": "sub", "*": "mul"}[op], left, right)
            case "/" | "%" as op:
                term("add", left, right)  # both are numbers
                if not right.is_const:
                    self.sides.insert(operator.sides, term("ne", right, ZERO))
                elif right is ZERO:
                    self.sides.append(FALSE)
                return quotient(left, right) if op == "/" else remainder(left, right)
            case "&&" | "||" as op:
                return term("and" if op == "&&" else "or", left, right)
            case relation:
                term("add", left, right)
                return term(AUT_RELATIONS[relation], left, right)

    # The automaton

    def _automaton(self, name: str, initial: _Token, final: _Token) -> Automaton:
        targets = {e.target for e in self.edges}
        if final.text not in {initial.text, *targets}:
            raise SpecError(
                f"no edge leads to the final location {final.text}{_hint(final.text, targets)}", final.where
            )
        sources = {e.source for e in self.edges}
        if initial.text not in {final.text, *sources}:
            raise SpecError(
                f"no edge leads from the initial location {initial.text}{_hint(initial.text, sources)}", initial.where
            )
        edges = [e for e in self.edges if e.source != final.text]
        stray = [q for q in self.locations if q not in {initial.text, *targets}]
        warnings = [f"no edge leads to the location {q}{_hint(q, targets)}" for q in stray]
        places = dict.fromkeys([initial.text, *self.locations, *(e.target for e in self.edges), final.text])
        return Automaton(
            name,
            tuple(variable(v, INT) for v in self.variables),
            tuple(places),
            initial.text,
            (Error(final.text, final.text, final.where),),
            tuple(edges),
            lines={**self.locations, final.text: final.where},
            loops=_loops(initial.text, edges),
            warnings=(*warnings, *self.warnings),
        )


def _hint(name: str, others: Iterable[str]) -> str:
    close = get_close_matches(name, others, 1)
    return f"; do you mean {close[0]}?" if close else ""


def _tokens(path: str, text: str) -> Iterator[_Token]:
    line = 1
    for match in TOKEN.finditer(text):
        if match["wrong"]:
            raise SpecError(f"{match[0]} is unexpected here", Location(path, line))
        if match["mistaken"]:
            raise SpecError(f"{match[0]} is unexpected here: {MISTAKEN[match[0]]}", Location(path, line))
        if match[0][0] not in "# \t\r\n":
            yield _Token(match[0], Location(path, line))
        line += match[0].count("\n")


def _negative(a: Term) -> Term:
    return constant(INT, -a.payload) if a.is_const and a.type is INT else term("neg", a)


def _command_text(words: Iterator[str]) -> str:
    text = " ".join(words)
    return text.replace("( ", "(").replace(" )", ")")


def _loops(entry: str, edges: list[Edge]) -> frozenset[str]:
    """The locations that an edge leads back to while the depth-first search is still in them."""
    after: dict[str, list[str]] = {}
    for edge in edges:
        after.setdefault(edge.source, []).append(edge.target)
    heads: set[str] = set()
    done: set[str] = set()
    stack = [(entry, iter(after.get(entry, ())))]
    within = {entry}
    while stack:
        place, targets = stack[-1]
        target = next(targets, None)
        if target is None:
            stack.pop()
            within.discard(place)
            done.add(place)
        elif target in within:
            heads.add(target)
        elif target not in done:
            within.add(target)
            stack.append((target, iter(after.get(target, ()))))
    return frozenset(heads)
