"""Recursive functions: each is unfolded a few times at each call, and proved by induction over its measure.

Let f be a function with the assumption A, the guarantee G and the measure m. For one instance with any inputs x (the
general one), every call f(y) in its body is claimed to decrease:

    D:  0 <= m(x) and m(y) < m(x)            (lexicographically, if there are several measures)

and G(y) is used if D, and A(y), hold for it and for the calls around it. So there is no least x at which D, A of a
call, or G fails, if these claims are proved. At the calls from elsewhere, G is used if A holds. Equal inputs give equal
outputs, under the same conditions. Calls that are unfolded no further have any outputs.

Nothing of this is an assumption of the specification, as a function that is no function (`f(n) = 1 + f(n)`) would leave
it without runs. A property p becomes

    (what is known of the calls up to now => p) and (the claims of the general instances hold)

so it is proved only with all of them. A counterexample in which p itself holds, or for which an output of a call that
is not unfolded matters, is none: it has an unknown that calls of a function disagree on, so replay rejects it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, variable
from streamcheck.core.types import BOOL
from streamcheck.frontends.lustre.claims import Claims
from streamcheck.frontends.lustre.contracts import ContractClaim
from streamcheck.frontends.lustre.evaluator import NodeEvaluator
from streamcheck.frontends.lustre.recursion_rules import names_below
from streamcheck.frontends.lustre.scopes import LustreScope
from streamcheck.frontends.lustre.syntax import ExpressionText, NodeText, name_expression
from streamcheck.frontends.lustre.type_arguments import abstract_arguments
from streamcheck.frontends.operations import WHOLE_NUMBERS, compare, logic
from streamcheck.problem.claim import Claim, Goal
from streamcheck.problem.specification import FunctionCall

MOST_COMPARED = 200  # calls of which equal inputs are known to give equal outputs (heuristic)


@dataclass(slots=True)
class RecursiveCall:
    """An instance of a recursive function: `caller` is the one of the same group in whose body it lies, `root` the
    general instance around it, None if there is none."""

    scope: LustreScope
    node: NodeText
    caller: RecursiveCall | None
    root: LustreScope | None
    assumed: Term = TRUE  # A
    promised: Term = TRUE  # G
    measure: tuple[Term, ...] = ()
    decreases: Term = TRUE  # D

    @property
    def is_general(self) -> bool:
        return self.scope is self.root

    @property
    def justification(self) -> Term:
        """True if it is evaluated, and it and the calls around it decrease and are within their assumptions."""
        around = TRUE if self.caller is None or self.caller.is_general else self.caller.justification
        return conjunction(self.scope.context.tick, around, self.decreases, self.assumed)


class Recursion:
    """The recursive functions that a main node needs. It has its claims after the evaluator is finished."""

    def __init__(self, evaluator: NodeEvaluator, claims: Claims) -> None:
        self.evaluator = evaluator
        self.claims = claims
        self.variables = evaluator.variables
        self.tokens = evaluator.tokens
        self.instances = evaluator.instances
        self.equal = evaluator.declarations.containers.equal
        self.general: dict[str, LustreScope] = {}
        self.calls: dict[LustreScope, RecursiveCall] = {}
        self.homes: dict[str, LustreScope | None] = {}  # of the properties: the general instance in which they lie
        self.beside: set[str] = set()  # properties that no proof rests on

    def add_general_instances(self, main: NodeText, top: LustreScope) -> None:
        """One instance with any inputs of each recursive function and lemma that the main node needs."""
        file = self.evaluator.file
        needed = names_below(file, [main.name]) | {main.name}
        for name in file.nodes:
            node = file.nodes[name]
            if name not in needed or not node.recursive:
                continue
            if node is main:
                self.general[name] = top
                continue
            path = self.variables.fresh(name)
            scope = LustreScope(f"{path}.", self.evaluator.outermost, self.evaluator.declarations.globals, node)
            scope.types = abstract_arguments(node.parameters)
            for v in node.inputs:
                shape = self.evaluator.declarations.shape(v.type, scope)
                scope.values[v.name] = self.variables.unknown(f"{path}.{v.name}", shape.type, v.at)
            self.instances.populate(scope, node)
            self.general[name] = scope

    def add_instance(self, scope: LustreScope) -> None:
        """Add the claims of an instance, or what is known of it if it is one of a recursive function."""
        before = set(self.claims.properties)
        node = scope.node
        assert node is not None
        if node.recursive and scope is not self.claims.top:
            self._call(scope)
            if self.calls[scope].is_general:
                for p in node.properties:
                    self.claims.add_property(p, scope)
        else:
            self.claims.add_instance(scope)
            if node.recursive:
                self._call(scope)
        home = self._home(scope)
        self.homes |= {name: home for name in self.claims.properties if name not in before}

    def add_claim(self, name: str, scope: LustreScope) -> None:
        """Note in which general instance the claim lies that the scope has made."""
        self.homes[name] = self._home(scope)

    def is_proved_in(self, scope: LustreScope) -> bool:
        """True if what the scope claims is proved there. The general instance proves it for other calls of a recursive
        function."""
        instance = next(self.instances.around(scope))
        call = self.calls.get(instance)
        return call is None or call.is_general or instance is self.claims.top

    def _home(self, scope: LustreScope) -> LustreScope | None:
        general = set(self.general.values())
        return next((s for s in self.instances.around(scope) if s in general), None)

    def _call(self, scope: LustreScope) -> RecursiveCall:
        """The call that the instance is; those around it first."""
        if scope in self.calls:
            return self.calls[scope]
        node = scope.node
        assert node is not None
        around = list(self.instances.around(scope))
        group = self.instances.groups.get(node.name, frozenset())
        outer = next((s for s in around[1:] if s.node is not None and s.node.name in group), None)
        call = RecursiveCall(scope, node, None if outer is None else self._call(outer), self._home(scope))
        self.calls[scope] = call
        contract = self.claims.contract_claims(scope, node)
        call.assumed = conjunction(*(c.term for c in contract if c.role == "assume"), *self._ranges(call, inputs=True))
        call.promised = conjunction(*(c.term for c in contract if c.role == "guarantee"))
        call.promised = conjunction(call.promised, *self._ranges(call, inputs=False))
        if node.contract is not None:
            call.measure = tuple(self._measure(m, scope) for m in node.contract.decreases)
        if call.caller is not None:
            call.decreases = self._decrease(call.caller, call)
        if call.is_general:
            self._add_goals(call, contract)
        return call

    def _measure(self, e: ExpressionText, scope: LustreScope) -> Term:
        value = self.evaluator.term(e, scope)
        if value.type.kind not in WHOLE_NUMBERS:
            raise self.tokens.error(e.at, f"a measure is an integer, not {value.type}")
        return value

    def _ranges(self, call: RecursiveCall, *, inputs: bool) -> Iterator[Term]:
        for v in call.node.inputs if inputs else call.node.outputs:
            shape = call.scope.shapes[v.name]
            if shape.is_bounded:
                value = self.evaluator.term(name_expression(v.name, v.at), call.scope)
                yield self.evaluator.declarations.within(shape, value, call.scope)

    def _decrease(self, outer: RecursiveCall, inner: RecursiveCall) -> Term:
        smaller, same, equal = FALSE, TRUE, self.equal
        for a, b in zip(outer.measure, inner.measure, strict=True):
            bounded = compare("ge", a, constant(a.type, 0))
            smaller = disjunction(smaller, conjunction(same, bounded, compare("lt", b, a)))
            same = conjunction(same, bounded, equal(a, b))
        return smaller

    # Claims

    def _add_goals(self, call: RecursiveCall, contract: list[ContractClaim]) -> None:
        """The guarantees of a general instance."""
        if call.scope is self.claims.top:
            return  # they are there
        for c in contract:
            if c.role == "guarantee":
                self.claims.add_claim(c.name, c.term, c.at)
        for v in call.node.outputs:
            shape = call.scope.shapes[v.name]
            if shape.is_bounded:
                self.claims.claim_range(v.name, call.scope, shape, v.at)

    def finish(self) -> None:
        """Put what is known of the calls into the properties."""
        if not self.general:
            return
        self._add_calls_in_general_instances()
        self._add_calls_from_elsewhere()
        known = {home: self._facts(home) for home in (None, *self.general.values())}
        known[None] = self._up_to_now(known[None])
        goals: dict[str, Term] = {}
        for name, claim in list(self.claims.properties.items()):
            home = self.homes[name]
            root = None if home is None else self.calls[home]
            condition = known[home] if root is None else conjunction(known[home], root.assumed)
            if claim.goal is Goal.REACHABLE:
                if home is not None and home is not self.claims.top:
                    del self.claims.properties[name]  # it is about any inputs: no question of the file
                    continue
                term = conjunction(condition, claim.term)
            else:
                term = logic("implies", condition, claim.term)
            self.claims.properties[name] = replace(claim, term=term)
            if home is not None and claim.goal is not Goal.REACHABLE and name not in self.beside:
                goals[name] = term
        for name, claim in self.claims.properties.items():
            others = conjunction(*(g for other, g in goals.items() if other != name))
            self.claims.properties[name] = self._with_goals(claim, others)
        self._reject_open_outputs()

    def _add_calls_in_general_instances(self) -> None:
        """That each call in a general instance decreases, and is within the assumption."""
        for call in list(self.calls.values()):
            if call.caller is None or not call.caller.is_general:
                continue
            tick, path, at = call.scope.context.tick, call.scope.path, self.instances.places[call.scope]
            for what, term in (("decreases", call.decreases), ("is within its assumption", call.assumed)):
                claim = logic("implies", tick, term)
                if claim is not TRUE:
                    name = self.claims.add_claim(f"{path[:-1]} {what}", claim, at)
                    self.homes[name] = call.root

    def _add_calls_from_elsewhere(self) -> None:
        """That each call of another function or node is within the assumption: if not, nothing is known of it."""
        for call in list(self.calls.values()):
            if call.caller is not None or call.is_general or call.scope is self.claims.top:
                continue
            claim = logic("implies", call.scope.context.tick, call.assumed)
            if claim is not TRUE:
                what = f"{call.scope.path[:-1]} is within its assumption"
                name = self.claims.add_claim(what, claim, self.instances.places[call.scope])
                self.homes[name] = call.root
                self.beside.add(name)

    def _facts(self, home: LustreScope | None) -> Term:
        """The facts about the calls in a general instance, or about those elsewhere."""
        calls = [c for c in self.calls.values() if c.root is home and not c.is_general]
        facts = [logic("implies", c.justification, c.promised) for c in calls]
        equal = self.equal
        compared = [c for c in calls if not all(value.is_const for value in self._values(c)[0])]
        for a, b in combinations(compared, 2) if len(compared) <= MOST_COMPARED else ():
            if a.node is b.node:
                inputs, outputs = zip(self._values(a), self._values(b), strict=True)
                same = conjunction(a.justification, b.justification, *map(equal, *inputs))
                facts.append(logic("implies", same, conjunction(*map(equal, *outputs))))
        return conjunction(*facts)

    def _values(self, call: RecursiveCall) -> tuple[list[Term], list[Term]]:
        def values(variables: list[str]) -> list[Term]:
            return [self.evaluator.term(name_expression(name, call.node.at), call.scope) for name in variables]

        return values([v.name for v in call.node.inputs]), values([v.name for v in call.node.outputs])

    def _up_to_now(self, known: Term) -> Term:
        if known is TRUE:
            return known
        var = variable(self.variables.fresh("calls so far"), BOOL)
        self.variables.cells.append((var, TRUE, conjunction(var, known)))
        return conjunction(var, known)

    def _with_goals(self, claim: Claim, goals: Term) -> Claim:
        """The claim together with what its proof rests on."""
        if goals is TRUE:
            return claim
        escape = self.variables.unknown(
            "an unproved contract", BOOL, self.claims.top.node.at if self.claims.top.node else 0
        )
        self._disagree("a contract that is not proved", TRUE, (escape,))
        if claim.goal is Goal.REACHABLE:
            return replace(claim, term=disjunction(claim.term, conjunction(negation(goals), escape)))
        return replace(claim, term=conjunction(claim.term, disjunction(goals, escape)))

    def _reject_open_outputs(self) -> None:
        for scope in self.instances.open_calls:
            node = scope.node
            assert node is not None
            outputs = tuple(scope.values[v.name] for v in node.outputs)
            if outputs:
                self._disagree(f"a call of {node.name} that is not unfolded", scope.context.tick, outputs)

    def _disagree(self, function: str, tick: Term, outputs: tuple[Term, ...]) -> None:
        """Calls that break the rule of functions in each run in which these outputs matter."""
        self.variables.calls += (FunctionCall(function, tick, (), (*outputs, truth)) for truth in (TRUE, FALSE))
