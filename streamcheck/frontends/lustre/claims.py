"""The properties and assumptions of a main node: those of every instance, under the path of the instance.

`counter[l12c5].n` is `n` of the call of `counter` at line 12, column 5.
"""

from __future__ import annotations

from streamcheck.core.simplify import apply, conjunction, disjunction
from streamcheck.core.term import TRUE, Term, constant, variable
from streamcheck.core.types import BOOL, INT
from streamcheck.frontends.lustre.any_values import Promise
from streamcheck.frontends.lustre.contracts import ContractClaim, contract_claims, contract_scope, while_ticking
from streamcheck.frontends.lustre.evaluator import NodeEvaluator
from streamcheck.frontends.lustre.scopes import LustreScope, Shape
from streamcheck.frontends.lustre.syntax import Contract, NodeText, PropertyText, Variable, name_expression
from streamcheck.frontends.operations import compare, logic
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim, Goal, OfContract, Origin
from streamcheck.problem.specification import ComponentInstance, Named


class ClaimNames:
    """Names for claims: the wish if it is free, else with a number."""

    def __init__(self) -> None:
        self._used: dict[str, int] = {}

    def fresh(self, wish: str) -> str:
        name = wish
        while name in self._used:
            self._used[wish] += 1
            name = f"{wish} ({self._used[wish]})"
        self._used[name] = 1
        return name


class Claims:
    def __init__(self, evaluator: NodeEvaluator, top: LustreScope, *, is_named: bool) -> None:
        self.is_named = is_named  # the user asked for the main node by its name
        self.evaluator = evaluator
        self.tokens = evaluator.tokens
        self.variables = evaluator.variables
        self.top = top
        self.properties: dict[str, Claim] = {}
        self.assumptions: list[Claim] = []
        self.promises: dict[str, frozenset[Term]] = {}  # assumptions that contracts of imported nodes make: the outputs
        self.components: list[ComponentInstance] = []
        self._names, self._assumption_names = ClaimNames(), ClaimNames()
        self._step_counters: dict[int, Term] = {}

    def assume(self, name: str, claim: Term, at: int, origin: Origin = WRITTEN) -> None:
        if claim is not TRUE:
            name = self._assumption_names.fresh(name)
            self.assumptions.append(Claim(name, claim, self.tokens.where(at), origin=origin))

    def assume_any(self, promise: Promise) -> None:
        """Assume the condition of a value that the file leaves open."""
        scope, at = promise.scope, promise.at
        name = f"{scope.path}any{self.tokens.place(at)} meets its condition"
        count = len(self.assumptions)
        self.assume(name, while_ticking(scope, promise.condition), at)
        self.promises |= dict.fromkeys((a.name for a in self.assumptions[count:]), frozenset([promise.value]))

    def _assume_promise(self, name: str, claim: Term, at: int, scope: LustreScope, node: NodeText) -> None:
        count = len(self.assumptions)
        self.assume(name, claim, at)
        if scope is not self.top:
            outputs = frozenset(scope.values[v.name] for v in node.outputs)
            self.promises |= dict.fromkeys((a.name for a in self.assumptions[count:]), outputs)

    def assume_range(self, shape: Shape, var: Term, scope: LustreScope, at: int) -> None:
        if shape.is_bounded:
            within = while_ticking(scope, self._within(shape, var, scope))
            self.assume(f"{var.payload} {shape.restriction}", within, at)

    def claim_range(self, name: str, scope: LustreScope, shape: Shape, at: int) -> str:
        value = self.evaluator.term(name_expression(name, at), scope)
        claim = while_ticking(scope, self._within(shape, value, scope))
        return self.add_claim(f"{scope.path}{name} {shape.restriction}", claim, at, origin=IMPLIED)

    def claim_ascription(self, shape: Shape, value: Term, scope: LustreScope, at: int) -> str:
        """`(e : type)` claims that e is of the type where it is evaluated. Returns the name of the claim."""
        claim = while_ticking(scope, self._within(shape, value, scope))
        place = self.tokens.place(at)
        wish = f"{scope.path}the value at {place[1:-1]} {shape.restriction}"
        return self.add_claim(wish, claim, at, origin=IMPLIED)

    def _within(self, shape: Shape, value: Term, scope: LustreScope) -> Term:
        return self.evaluator.declarations.within(shape, value, scope)

    def add_claim(
        self,
        name: str,
        claim: Term,
        at: int,
        goal: Goal = Goal.ALWAYS,
        origin: Origin = WRITTEN,
    ) -> str:
        """Add a property. Returns its name."""
        name = self._names.fresh(name)
        self.properties[name] = Claim(name, claim, self.tokens.where(at), goal, origin)
        return name

    def add_instance(self, scope: LustreScope) -> None:
        """The assertions, properties, subranges and contract of the instance's node."""
        node = scope.node
        assert node is not None
        if scope is self.top:
            for v in (v for v in node.inputs if not v.constant):
                self.assume_range(
                    scope.shapes[v.name], scope.values[v.name], self.evaluator.clock_scopes.on_clock(v, scope), v.at
                )
        for clause in node.asserts:
            on = self.evaluator.clock_scopes.on_clock(clause.value, scope)
            claim = while_ticking(on, self.evaluator.term(clause.value, scope, BOOL))
            self.assume(f"{scope.path}assert {self.tokens.source(clause.at, clause.last)}", claim, clause.at)
        for p in node.properties:
            self.add_property(p, scope)
        contract = self.contract_claims(scope, node)
        granted = conjunction(*(c.term for c in contract if c.role == "assume"), *self._input_ranges(scope, node))
        held = TRUE if scope is self.top else self._assumptions_held(scope, node, granted)
        self._add_subranges(scope, node, held)
        if node.contract is not None:
            self._add_contract(scope, node, contract, granted, held)

    def contract_claims(self, scope: LustreScope, node: NodeText) -> list[ContractClaim]:
        """The claims of the instance's contract, if it has one."""
        if node.contract is None:
            return []
        inner = contract_scope(self.evaluator, node.contract, scope)
        scope.modes, scope.imports = inner.modes, inner.imports
        claims = list(contract_claims(self.evaluator, node.contract, inner))
        self._add_ghost_ranges(inner, node.contract)
        return claims

    def _add_ghost_ranges(self, inner: LustreScope, contract: Contract) -> None:
        for ghost in contract.ghosts:
            if inner.shapes[ghost.name].is_bounded:
                self.claim_range(ghost.name, inner, inner.shapes[ghost.name], ghost.at)
        for name, scope in inner.imports.items():
            node = self.evaluator.file.contracts[name]
            assert node.contract is not None
            self._add_ghost_ranges(scope, node.contract)

    def _input_ranges(self, scope: LustreScope, node: NodeText) -> list[Term]:
        """The restrictions of inputs that an imported node relies on: without a body, nothing else is known of it."""
        if scope is self.top or not node.imported:
            return []
        shapes = {v.name: scope.shapes[v.name] for v in node.inputs}
        values = {v.name: self.evaluator.term(name_expression(v.name, v.at), scope) for v in node.inputs}
        return [self._within(shape, values[name], scope) for name, shape in shapes.items() if shape.is_bounded]

    def add_property(self, p: PropertyText, scope: LustreScope) -> None:
        """Add a property that the node has written."""
        name = scope.path + (p.name or self.tokens.source(p.at, p.last))
        claim = self.evaluator.term(p.value, scope, BOOL)
        scope = self.evaluator.clock_scopes.on_clock(p.value, scope)
        if p.provided is not None:
            guard = self.evaluator.term(p.provided, scope, BOOL)
            claim = logic("implies", guard, claim)
            self.add_claim(f"condition of {name}", conjunction(scope.context.tick, guard), p.at, Goal.REACHABLE)
        if not p.reachable:
            self.add_claim(name, while_ticking(scope, claim), p.at)
            return
        claim = conjunction(scope.context.tick, claim)
        bounds = [b for b in (p.first, p.within) if b is not None]
        if bounds:
            step = self._step(max(bounds) + 1)
            if p.first is not None:
                claim = conjunction(claim, compare("ge", step, constant(INT, p.first)))
            if p.within is not None:
                claim = conjunction(claim, compare("le", step, constant(INT, p.within)))
        self.add_claim(name, claim, p.at, Goal.REACHABLE)

    def _step(self, last: int) -> Term:
        """A counter of steps that stops at `last`."""
        if last not in self._step_counters:
            var = variable(self.variables.fresh("step"), INT)
            following = apply("min", apply("add", var, constant(INT, 1)), constant(INT, last))
            self.variables.cells.append((var, constant(INT, 0), following))
            self._step_counters[last] = var
        return self._step_counters[last]

    def _add_subranges(self, scope: LustreScope, node: NodeText, held: Term) -> None:
        inputs = [] if scope is self.top else node.inputs
        for v in (*inputs, *node.outputs, *node.locals):
            shape = scope.shapes[v.name]
            if not shape.is_bounded or not v.is_claimed:
                continue
            value = self.evaluator.term(name_expression(v.name, v.at), scope)
            on = self.evaluator.clock_scopes.on_clock(v, scope)
            claim = while_ticking(on, self._within(shape, value, on))
            is_open = value in self.variables.unknowns and v.name not in scope.definitions  # no equation defines it
            if is_open and not (self.is_named and scope is self.top):
                self.assume(f"{scope.path}{v.name} {shape.restriction}", logic("implies", held, claim), v.at)
            else:
                self.add_claim(f"{scope.path}{v.name} {shape.restriction}", claim, v.at, origin=IMPLIED)

    def _add_contract(
        self, scope: LustreScope, node: NodeText, claims: list[ContractClaim], granted: Term, held: Term
    ) -> None:
        modes = [c for c in claims if c.role == "reachable"]
        if modes and scope is self.top:
            active = disjunction(*(m.term for m in modes))
            self.add_claim("some mode is active", active, modes[0].at, origin=OfContract("modes", ""))
        for c in (c for c in claims if c.role == "assume"):
            if scope is self.top:
                self.assume(c.name, c.term, c.at)
            else:
                origin = OfContract("assumption", scope.path[:-1])
                self.add_claim(c.name, while_ticking(scope, c.term), c.at, origin=origin)
        for c in claims:
            if c.role == "assume" or (c.role == "reachable" and node.imported):
                continue
            if c.role == "reachable":
                self.add_claim(c.name, conjunction(scope.context.tick, c.term), c.at, Goal.REACHABLE)
                continue
            claim = logic("implies", held, while_ticking(scope, c.term))
            if node.imported and not (self.is_named and scope is self.top):
                self._assume_promise(c.name, claim, c.at, scope, node)
            else:
                self.add_claim(c.name, claim, c.at, origin=OfContract("guarantee", scope.path[:-1]))
        self._add_component(scope, node, granted, held, modes)

    def _add_component(
        self, scope: LustreScope, node: NodeText, granted: Term, held: Term, modes: list[ContractClaim]
    ) -> None:
        """Record the instance of a node with a contract."""

        def terms_of(variables: list[Variable]) -> tuple[Named, ...]:
            return tuple(Named(v.name, scope.values[v.name], self.tokens.where(v.at)) for v in variables)

        cell = next((v for v, _, after in self.variables.cells if after is held), TRUE) if held is not TRUE else TRUE
        required = tuple(Named(m.name.removeprefix(scope.path), m.term, self.tokens.where(m.at)) for m in modes)
        inputs, outputs, where = terms_of(node.inputs), terms_of(node.outputs), self.tokens.where(node.at)
        self.components.append(
            ComponentInstance(scope.path[:-1], node.name, where, inputs, outputs, granted, cell, required)
        )

    def _assumptions_held(self, scope: LustreScope, node: NodeText, claim: Term) -> Term:
        """The assumptions that a guarantee may use: those of every step of the instance up to the present one; of the
        present step alone if it is a function."""
        if claim is TRUE or node.kind == "function":
            return claim
        var = variable(self.variables.fresh(f"{scope.path}assumptions held"), BOOL)
        now = while_ticking(scope, claim)
        self.variables.cells.append((var, TRUE, conjunction(var, now)))
        return conjunction(var, now)
