"""VMT-LIB to a specification.

A transition given as `x' = e` for each variable is already in functional form. Its other conjuncts become a condition
on the step just taken, which a cell holds, and a variable without a next value gets any value:
a transition relation is met by exactly the runs in which the cell stays true.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variable, variables
from streamcheck.core.types import BOOL, Type, default
from streamcheck.frontends.sexpr import LocatedSExpr, SExprFile, SList
from streamcheck.frontends.smt_terms import SmtTermReader, sort
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Specification

IGNORED = frozenset(("set-logic", "set-info", "set-option", "check-sat", "exit", "get-model"))


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
    unknowns: dict[tuple[str, Term, Term], Term] = field(default_factory=dict)
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
            self.warnings.append("a division by what may be zero gives any value")
        return self.unknowns[key]

    def _command(self, form: LocatedSExpr) -> None:
        match form:
            case ["declare-fun", name, [], of] | ["declare-const", name, of]:
                var = variable(str(name), sort(self.source, of))
                self.names[str(name)] = var
                self.declared[var] = form
            case ["define-fun", name, [], _, body]:
                self._definition(str(name), body)
            case ["define-fun", name, [*parameters], _, body]:
                self.reader.macros[str(name)] = ([str(p[0]) for p in parameters], body)
            case [command, *_] if str(command) in IGNORED:
                pass
            case [command, *_]:
                raise self.source.error(form, f"`{command}` is not supported")
            case _:
                raise self.source.error(form, "this is not a command")

    def _definition(self, name: str, body: LocatedSExpr) -> None:
        value = self.reader.term(body)
        self.names[name] = value
        if not isinstance(body, SList) or not body or body[0] != "!":
            return
        notes = {str(key): (body[i + 1] if i + 1 < len(body) else None) for i, key in enumerate(body) if i > 1}
        if ":next" in notes:
            after = notes[":next"]
            assert after is not None
            found = self.names.get(str(after))
            if found is None or value.op != "var" or found.op != "var":
                raise self.source.error(body, "`:next` names a declared variable, of a declared variable")
            self.nexts[value] = found
        if ":init" in notes:
            self.init.append(value)
        if ":trans" in notes:
            self.trans.append(value)
        if ":invar-property" in notes:
            self.properties.append(Claim(name, value, self.source.where(body)))
        if ":live-property" in notes:
            raise self.source.error(body, "liveness is not supported")

    # Specification

    def specification(self, name: str) -> Specification:
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
        if conditions:
            images = {after: defined.get(var, after) for var, after in self.nexts.items()}
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
            return Specification(name, (*inputs, *unknown), (), tuple(cells), (), (), (), *claims, None, warnings)
        except ValueError as why:
            raise SpecError(f"{self.source.file}: {why}") from None

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
    found: dict[Term, None] = {}
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
            found[node] = None
    return list(found)


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
