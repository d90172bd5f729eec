"""VMT-LIB to a specification.

A transition given as `x' = e` for each variable is already in functional form. Its other conjuncts become a condition
on the step just taken, which a cell holds, and a variable without a next value gets any value:
a transition relation is met by exactly the runs in which the cell stays true.

Annotations [VMT-LIB] mean something only at the top of a definition: the name of a next value, `:init`, `:trans`,
`:invar-property`. SMT-LIB wants a value after each; VMT-LIB writes `true` or a number there, some tools nothing, and
`false` says that the term is not one. Every other annotation is an error: a misspelt one would drop a part of the
system without a word. `:predicate`, a hint for other tools, is taken and not used.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variable, variables
from streamcheck.core.types import BOOL, Type, default
from streamcheck.frontends.operations import call_by_zero, image_of_call
from streamcheck.frontends.sexpr import LocatedSExpr, SExprFile, SList
from streamcheck.frontends.smt_terms import SmtMacro, SmtTermReader, sort
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, FunctionCall, Input, Specification

IGNORED = frozenset(("set-logic", "set-info", "set-option", "check-sat", "exit", "get-model"))
ANNOTATIONS = (":next", ":init", ":trans", ":invar-property", ":live-property", ":predicate")
FALSE_WORD = "false"


def read_vmt(path: str) -> Specification:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            source = SExprFile(file.read(), path)
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    return _VmtReader(source).specification(os.path.splitext(os.path.basename(path))[0])


@dataclass
class _VmtReader:
    source: SExprFile
    names: dict[str, Term] = field(default_factory=dict)
    declared: dict[Term, LocatedSExpr] = field(default_factory=dict)
    nexts: dict[Term, Term] = field(default_factory=dict)  # a state variable, and the one for its next value
    init: list[Term] = field(default_factory=list)
    trans: list[Term] = field(default_factory=list)
    properties: list[Claim] = field(default_factory=list)
    states: list[tuple[str, Term, LocatedSExpr]] = field(default_factory=list)  # what speaks of one state only
    indices: dict[str, str] = field(default_factory=dict)  # of properties, and their names
    unknowns: dict[tuple[str, Term, Term], Term] = field(default_factory=dict)
    calls: list[FunctionCall] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.reader = SmtTermReader(self.source, self.names, self._unknown)
        for form in self.source.forms:
            try:
                self._command(form)
            except (IndexError, TypeError, ValueError):
                raise self.source.error(form, "this is not well formed") from None

    def _unknown(self, op: str, a: Term, b: Term, type: Type) -> Term:
        key = (op, a, b)
        if key not in self.unknowns:
            self.unknowns[key] = variable(f"{op} by zero {len(self.unknowns) + 1}", type)
            self.calls.append(call_by_zero(op, a, b, self.unknowns[key]))
            self.warnings.append("a division by what may be zero gives any value")
        return self.unknowns[key]

    def _command(self, form: LocatedSExpr) -> None:
        match form:
            case ["declare-fun", name, [], of] | ["declare-const", name, of]:
                var = variable(self._new_name(form, name), sort(self.source, of))
                self.names[str(name)] = var
                self.declared[var] = form
            case ["define-fun", name, [], of, body]:
                self._definition(self._new_name(form, name), sort(self.source, of), body)
            case ["define-fun", name, [*parameters], of, body]:
                typed = [self._parameter(p) for p in parameters]
                self.reader.macros[self._new_name(form, name)] = SmtMacro(typed, sort(self.source, of), body)
            case ["assert", "true"]:  # the last line of what VMT-LIB's own tools write
                pass
            case ["assert", _]:
                message = "nothing is asserted in VMT-LIB but `true`; write define-fun with `:init` or `:trans`"
                raise self.source.error(form, message)
            case ["declare-sort" | "define-sort", *_]:
                raise self.source.error(form, "sorts of the file's own are not supported; use Int or (_ BitVec n)")
            case ["declare-fun", name, [*_], _]:
                raise self.source.error(form, f"{name} is an uninterpreted function, which is not supported")
            case [command, *_] if str(command) in IGNORED:
                pass
            case [command, *_]:
                raise self.source.error(form, f"`{command}` is not supported")
            case _:
                raise self.source.error(form, "this is not a command")

    def _parameter(self, form: LocatedSExpr) -> tuple[str, Type]:
        match form:
            case [name, of]:
                return str(name), sort(self.source, of)
        raise self.source.error(form, "a parameter is a name and a sort")

    def _new_name(self, form: LocatedSExpr, name: LocatedSExpr) -> str:
        if str(name) in self.names or str(name) in self.reader.macros:
            raise self.source.error(form, f"{name} is defined twice")
        return str(name)

    def _definition(self, name: str, type: Type, body: LocatedSExpr) -> None:
        notes: dict[str, LocatedSExpr | None] = {}
        if isinstance(body, SList) and body and body[0] == "!":
            notes = dict(self._annotations(body))
        value = self.reader.term(body[1] if isinstance(body, SList) and notes else body)
        if value.type is not type:
            raise self.source.error(body, f"{name} is declared {type}, and its value is {value.type}")
        self.names[name] = value
        if ":next" in notes:
            self._next(value, notes[":next"], body)
        if self._is_on(body, notes, ":init"):
            self.init.append(self._condition("the initial condition", value, body))
            self.states.append(("the initial condition", value, body))
        if self._is_on(body, notes, ":trans"):
            self.trans.append(self._condition("the transition relation", value, body))
        if ":invar-property" in notes:
            self._property(name, value, notes[":invar-property"], body)
        if ":live-property" in notes:
            raise self.source.error(body, "liveness is not supported")
        if ":predicate" in notes:
            self.warnings.append("`:predicate` is not used")

    def _condition(self, what: str, value: Term, body: LocatedSExpr) -> Term:
        if value.type is not BOOL:
            raise self.source.error(body, f"{what} is Bool, and this is {value.type}")
        return value

    def _property(self, name: str, value: Term, index: LocatedSExpr | None, body: LocatedSExpr) -> None:
        number = str(index)
        if number.isdecimal() and self.indices.setdefault(number, name) != name:
            raise self.source.error(body, f"the property {self.indices[number]} has the index {number} already")
        self.properties.append(Claim(name, self._condition("a property", value, body), self.source.where(body)))
        self.states.append(("a property", value, body))

    def _annotations(self, body: SList) -> Iterator[tuple[str, LocatedSExpr | None]]:
        """Each annotation with its value; one without a value is followed by another one or by nothing."""
        rest = list(body[2:])
        while rest:
            key = rest.pop(0)
            if str(key) not in ANNOTATIONS:
                close = get_close_matches(str(key), ANNOTATIONS, 1)
                hint = f"; do you mean `{close[0]}`?" if close else ""
                raise self.source.error(body, f"the annotation `{key}` is not known{hint}")
            has_value = bool(rest) and not str(rest[0]).startswith(":")
            yield str(key), rest.pop(0) if has_value else None

    def _is_on(self, body: LocatedSExpr, notes: dict[str, LocatedSExpr | None], key: str) -> bool:
        value = notes.get(key, FALSE_WORD)
        if value is not None and value not in ("true", FALSE_WORD):
            raise self.source.error(body, f"`{key}` is followed by true or false, not by {value}")
        return value != FALSE_WORD

    def _next(self, value: Term, name: LocatedSExpr | None, body: LocatedSExpr) -> None:
        after = self.names.get(str(name))
        if after is None or value not in self.declared or after not in self.declared:
            raise self.source.error(body, "`:next` names a declared variable, of a declared variable")
        if after.type is not value.type:
            raise self.source.error(body, f"{value.payload} is {value.type}, and its next value {after.type}")
        if value in self.nexts or after in self.nexts.values() or after in self.nexts or value in self.nexts.values():
            raise self.source.error(body, f"{value.payload} or {after.payload} is in another `:next` already")
        self.nexts[value] = after

    def _check_steps(self) -> None:
        """Initial condition and properties speak of one state, not of the next one."""
        afters = set(self.nexts.values())
        for what, value, body in self.states:
            wrong = next((v for v in variables([value]) if v in afters), None)
            if wrong is not None:
                raise self.source.error(body, f"{what} speaks of {wrong.payload}, a next value")
        if not self.init and not self.trans and self.nexts:
            raise SpecError(f"{self.source.file}: no term is annotated with `:init` or `:trans`")

    # Specification

    def specification(self, name: str) -> Specification:
        self._check_steps()
        initial, first_conditions = self._initial()
        defined, conditions = self._functional()
        cells = [self._cell(var, after, initial, defined) for var, after in self.nexts.items()]
        assumptions: list[Claim] = []
        taken = set(self.names)
        if first_conditions:
            first = variable(_fresh("first step", taken), BOOL)
            cells.append(Cell(first.payload, TRUE, FALSE, None, named=False))
            claim = term("implies", first, conjunction(*first_conditions))
            assumptions.append(Claim("the initial condition", claim))
        images = {after: defined.get(var, after) for var, after in self.nexts.items()}
        if conditions:
            replaced = substitute(conditions, images)
            met = conjunction(*(replaced[c] for c in conditions))
            valid = variable(_fresh("every step was a transition", taken), BOOL)
            cells.append(Cell(valid.payload, TRUE, conjunction(valid, met), None, named=False))
            assumptions.append(Claim("the transition relation", valid))
        chosen = [v for v in self.declared if v not in self.nexts and v not in self.nexts.values()]
        chosen += [after for var, after in self.nexts.items() if var not in defined]
        inputs = tuple(Input(v.payload, v.type, True, "", "", self.source.where(self.declared[v])) for v in chosen)
        unknown = tuple(Input(v.payload, v.type, False, "", "", None) for v in self.unknowns.values())
        warnings = tuple(dict.fromkeys(self.warnings))
        claims = tuple(self.properties), tuple(assumptions)
        try:
            head = name, (*inputs, *unknown), (), tuple(cells), (), (), ()
            return Specification(*head, *claims, None, warnings, self._calls(images))
        except ValueError as why:
            raise SpecError(f"{self.source.file}: {why}") from None

    def _calls(self, images: dict[Term, Term]) -> tuple[FunctionCall, ...]:
        """The divisions by zero, over the present state: `images` are the next values of its variables."""
        replaced = substitute([t for call in self.calls for t in call.terms()], images)
        return tuple(image_of_call(call, replaced) for call in self.calls)

    def _cell(self, var: Term, after: Term, initial: dict[Term, Term], defined: dict[Term, Term]) -> Cell:
        value = initial.get(var)
        start = value if value is not None else constant(var.type, default(var.type))
        where = self.source.where(self.declared[var])
        return Cell(var.payload, start, defined.get(var, after), where, free=value is None)

    def _initial(self) -> tuple[dict[Term, Term], list[Term]]:
        """Variables with a constant initial value, and the other conjuncts of the initial condition."""
        values: dict[Term, Term] = {}
        rest: list[Term] = []
        for part in _conjuncts(self.init):
            var, value = _equation(part, set(self.nexts))
            if var is not None and value is not None and value.is_const and var not in values:
                values[var] = value
            else:
                rest.append(part)
        return values, rest

    def _functional(self) -> tuple[dict[Term, Term], list[Term]]:
        """Variables whose next value is a term over the present, and the other conjuncts of the transition."""
        before = {after: var for var, after in self.nexts.items()}
        defined: dict[Term, Term] = {}
        rest: list[Term] = []
        for part in _conjuncts(self.trans):
            after, value = _equation(part, set(before))
            var = None if after is None else before[after]
            functional = value is not None and not any(v in before for v in variables([value]))
            if var is not None and value is not None and functional and var not in defined:
                defined[var] = value
            else:
                rest.append(part)
        return defined, rest


def _fresh(wish: str, taken: set[str]) -> str:
    while wish in taken:
        wish += "_"
    taken.add(wish)
    return wish


def _conjuncts(claims: Iterable[Term]) -> list[Term]:
    conjuncts: dict[Term, None] = {}
    seen: set[Term] = set()
    stack = list(claims)[::-1]
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node.op == "and":
            stack.extend(reversed(node.args))
        elif node is not TRUE:
            conjuncts[node] = None
    return list(conjuncts)


def _equation(part: Term, wanted: set[Term]) -> tuple[Term | None, Term | None]:
    """`x = value` for one of the wanted variables, however it is written."""
    if part in wanted:
        return part, TRUE
    if part.op == "not" and part.args[0] in wanted:
        return part.args[0], FALSE
    if part.op == "eq":
        a, b = part.args
        if a in wanted:
            return a, b
        if b in wanted:
            return b, a
    return None, None
