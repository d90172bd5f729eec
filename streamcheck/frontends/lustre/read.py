"""Lustre files to equations: the main node's inputs, every register of every instance, the claims.

The main nodes are those marked `--%MAIN`, else those that no other calls; `FILE::node` names any.
Claims of instances carry their paths: `counter[l12c5].n` is `n` of the call of `counter` at line 12, column 5.
"""

from __future__ import annotations

import gc
from dataclasses import replace

from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import TRUE, Term, constant, variable, walk
from streamcheck.core.types import BOOL, INT
from streamcheck.frontends.lustre import contracts
from streamcheck.frontends.lustre.operators import compare, folded, logic
from streamcheck.frontends.lustre.parser import parse
from streamcheck.frontends.lustre.registers import Registers
from streamcheck.frontends.lustre.scopes import Scope, Shape
from streamcheck.frontends.lustre.shapes import within
from streamcheck.frontends.lustre.syntax import NodeText, Program, PropertyText
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.unfold import Unfolding
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim, Goal
from streamcheck.problem.specification import Constant, Input, Named, Specification


def read_lustre(path: str, node: str | None = None) -> list[Specification]:
    """The equations of the main nodes, or of the named one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    collecting = gc.isenabled()
    gc.disable()  # nothing here is garbage: half the time of a large file would go into finding that out
    try:
        return _read(text, path, node)
    finally:
        if collecting:
            gc.enable()


def _read(text: str, path: str, node: str | None) -> list[Specification]:
    program, tokens = parse(text, path)
    if node is not None and node not in program.nodes:
        raise SpecError(f"{path} has no node {node}, it has {', '.join(program.nodes) or 'none'}")
    mains = [program.nodes[node]] if node is not None else main_nodes(program)
    if not mains:
        raise SpecError(f"{path} has no node")
    return [Reading(program, tokens, main).equations() for main in mains]


def main_nodes(program: Program) -> list[NodeText]:
    marked = [n for n in program.nodes.values() if n.main]
    if marked:
        return marked
    called = {c for n in program.nodes.values() for c in n.calls if c != n.name}
    top = [n for n in program.nodes.values() if n.name not in called and not n.imported]
    claiming = [n for n in top if n.properties or n.contract]
    return claiming or top[-1:]


class Reading(Unfolding):
    """One main node on its way to equations."""

    def __init__(self, program: Program, tokens: Tokens, main: NodeText) -> None:
        super().__init__(program, tokens)
        self.main = main
        self.top = Scope("", self.outermost, self.globals, main)
        self.inputs: list[Input] = []
        self.properties: dict[str, Claim] = {}
        self.assumptions: list[Claim] = []
        self._clocks: dict[int, Term] = {}

    def equations(self) -> Specification:
        self._inputs()
        self.populate(self.top, self.main)
        self.finish(self.claims)
        for var, shape, at in self.free_constants:
            self._within_by_itself(shape, var, str(var.payload), at)
        observers = tuple(
            Named(v.name, self.top.values[v.name], self.tokens.where(v.at))  # type: ignore[arg-type]
            for v in self.main.outputs
        )
        return self._assembled(observers)

    def _inputs(self) -> None:
        for v in self.main.inputs:
            shape = self.shape(v.type, self.top)
            name = self.fresh(v.name)
            self.inputs.append(Input(name, shape.type, True, "", "", self.tokens.where(v.at)))
            self.top.values[v.name] = variable(name, shape.type)
            self._within_by_itself(shape, variable(name, shape.type), name, v.at)

    def _within_by_itself(self, shape: Shape, var: Term, name: str, at: int) -> None:
        if shape.bounded:
            self._assume(f"{name} is in its range", within(shape, var), at)

    # Claims

    def _assume(self, name: str, claim: Term, at: int) -> None:
        if claim is not TRUE:
            self.assumptions.append(Claim(name, claim, self.tokens.where(at)))

    def _property(
        self,
        name: str,
        claim: Term,
        at: int,
        goal: Goal = Goal.ALWAYS,
        *,
        implied: bool = False,
    ) -> None:
        wish, number = name, 2
        while name in self.properties:
            name, number = f"{wish} ({number})", number + 1
        self.properties[name] = Claim(name, claim, self.tokens.where(at), goal, IMPLIED if implied else WRITTEN)

    def claims(self, scope: Scope) -> None:
        """What the instance's node asserts, claims and promises."""
        node = scope.node
        assert node is not None
        for clause in node.asserts:
            claim = contracts.when_ticking(scope, self.term(clause.value, scope, BOOL))
            self._assume(f"{scope.path}assert {self.tokens.source(clause.at, clause.last)}", claim, clause.at)
        for p in node.properties:
            self._declared_property(p, scope)
        self._subranges(scope, node)
        if node.contract is not None:
            self._contract(scope, node)

    def _declared_property(self, p: PropertyText, scope: Scope) -> None:
        name = scope.path + (p.name or self.tokens.source(p.at, p.last))
        claim = self.term(p.value, scope, BOOL)
        if p.provided is not None:
            claim = logic("implies", self.term(p.provided, scope, BOOL), claim)
        if not p.reachable:
            self._property(name, contracts.when_ticking(scope, claim), p.at)
            return
        claim = conjunction(scope.context.tick, claim)
        bounds = [b for b in (p.first, p.within) if b is not None]
        if bounds:
            step = self._step(max(bounds) + 1)
            if p.first is not None:
                claim = conjunction(claim, compare("ge", step, constant(INT, p.first)))
            if p.within is not None:
                claim = conjunction(claim, compare("le", step, constant(INT, p.within)))
        self._property(name, claim, p.at, Goal.REACHABLE)

    def _step(self, last: int) -> Term:
        """The number of the step, which stops growing there."""
        if last not in self._clocks:
            var = variable(self.fresh("step"), INT)
            bound = constant(INT, last)
            self.cells.append((var, constant(INT, 0), folded("min", folded("add", var, constant(INT, 1)), bound)))
            self._clocks[last] = var
        return self._clocks[last]

    def _subranges(self, scope: Scope, node: NodeText) -> None:
        inputs = [] if scope is self.top else node.inputs
        for v in (*inputs, *node.outputs, *node.locals):
            shape = scope.shapes[v.name]
            if not shape.bounded:
                continue
            value = self.term(self.name(v.name, v.at), scope)
            claim = contracts.when_ticking(scope, within(shape, value))
            if value in self.unknowns:
                self._assume(f"{scope.path}{v.name} is in its range", claim, v.at)
            else:
                self._property(f"{scope.path}{v.name} is in its range", claim, v.at, implied=True)

    def _contract(self, scope: Scope, node: NodeText) -> None:
        assert node.contract is not None
        inner = contracts.contract_scope(self, node.contract, scope)
        scope.modes, scope.imports = inner.modes, inner.imports
        found = list(contracts.items(self, node.contract, inner))
        assumed = [item for item in found if item.role == "assume"]
        for item in assumed:
            if scope is self.top:
                self._assume(item.name, item.term, item.at)
            else:
                self._property(item.name, contracts.when_ticking(scope, item.term), item.at)
        if scope is not self.top and not node.imported:
            self.warn(node.at, f"the contract of {node.name} is checked, and its body is used: proofs are not modular")
        held = self._held_so_far(scope, conjunction(*(i.term for i in assumed))) if node.imported else TRUE
        for item in found:
            if item.role == "assume":
                continue
            claim = contracts.when_ticking(scope, item.term)
            if node.imported:
                self._assume(item.name, logic("implies", held, claim), item.at)
            else:
                self._property(item.name, claim, item.at)

    def _held_so_far(self, scope: Scope, claim: Term) -> Term:
        """That the claim has been true at every step of the instance, the present one included."""
        if claim is TRUE:
            return TRUE
        var = variable(self.fresh(f"{scope.path}assumptions held"), BOOL)
        now = contracts.when_ticking(scope, claim)
        self.cells.append((var, TRUE, conjunction(var, now)))
        return conjunction(var, now)

    def mode(self, path: str, at: int, scope: Scope) -> Term:
        return contracts.mode_reference(self, path, at, scope)

    # Putting together

    def _assembled(self, observers: tuple[Named, ...]) -> Specification:
        roots = [o.term for o in observers]
        roots += [c.term for c in (*self.assumptions, *self.properties.values())]
        registers = Registers(self, roots)
        for d in registers.delays:
            if d.var in registers.seen_first:
                text = f"{d.shown} has no value at the first step: it may have any"
                self.warnings[f"{d.where.short}: {text}"] = None
                self._first_in_range(d.shape, d.var)
        image, seen = registers.image, registers.seen

        def now(claim: Claim) -> Claim:
            return replace(claim, term=image.get(claim.term, claim.term))

        constants = tuple(
            Constant(str(var.payload), var.type, self.tokens.where(at))
            for var, _, at in self.free_constants
            if var in seen
        )
        unknown = [
            Input(str(v.payload), v.type, False, "", "", self.tokens.where(at))
            for v, at in self.unknowns.items()
            if v in seen
        ]
        return Specification(
            self.main.name,
            (*self.inputs, *unknown),
            constants,
            tuple(registers.cells.values()),
            self._wires(registers),
            (),
            tuple(replace(o, term=image.get(o.term, o.term)) for o in observers),
            tuple(map(now, self.properties.values())),
            tuple(map(now, self.assumptions)),
            self.tokens.where(self.main.at),
            tuple(self.warnings),
        )

    def _first_in_range(self, shape: Shape | None, var: Term) -> None:
        if shape is not None and shape.bounded:
            claim = logic("implies", self.outermost.first, within(shape, var))
            self.assumptions.append(Claim(f"{var.payload} is in its range", claim, self.tokens.where(self.main.at)))

    def _wires(self, registers: Registers) -> tuple[Named, ...]:
        """The user's names for terms, in dependency order; variables have names of their own. In the main node a term
        may have several."""
        named: dict[Term, list[Named]] = {}
        for scope in self.scopes:
            assert scope.node is not None
            for v in (*scope.node.outputs, *scope.node.locals):
                value = scope.values.get(v.name)
                if not isinstance(value, Term):
                    continue
                value = registers.image.get(value, value)
                if value.op in ("var", "const") or value not in registers.seen:
                    continue
                names = named.setdefault(value, [])
                if scope is self.top or not names:
                    names.append(Named(scope.path + v.name, value, self.tokens.where(v.at)))
        return tuple(name for t in walk(named) for name in named.get(t, ()))
