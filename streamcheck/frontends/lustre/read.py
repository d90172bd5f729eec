"""Lustre files to specifications: the main node's inputs, every register of every instance, the claims.

The main nodes are those marked `--%MAIN`, else those that no other calls; `FILE::node` names any. The
guarantees of an imported node that is named so are properties of its outputs, which are unknowns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from streamcheck.core.errors import SpecError
from streamcheck.core.garbage import without_collection
from streamcheck.core.simplify import implication
from streamcheck.core.term import TRUE, Term, cone, variable, walk, walk_cone
from streamcheck.core.unsaved import read_text
from streamcheck.frontends.lustre.checks import check_dependence, check_file
from streamcheck.frontends.lustre.claims import Claims
from streamcheck.frontends.lustre.clocks import check_clocks
from streamcheck.frontends.lustre.delays import define
from streamcheck.frontends.lustre.evaluator import NodeEvaluator
from streamcheck.frontends.lustre.functions import assume_congruence
from streamcheck.frontends.lustre.parser import parse
from streamcheck.frontends.lustre.recursion import Recursion
from streamcheck.frontends.lustre.recursion_rules import recursive_groups
from streamcheck.frontends.lustre.registers import Registers
from streamcheck.frontends.lustre.scopes import LustreScope, Shape
from streamcheck.frontends.lustre.skolem import Skolem
from streamcheck.frontends.lustre.syntax import LustreFile, NodeText, Variable
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.type_arguments import abstract_arguments
from streamcheck.frontends.lustre.uncalled import check_uncalled
from streamcheck.frontends.operations import has_function, image_of_call
from streamcheck.problem.claim import IMPLIED, Claim
from streamcheck.problem.specification import (
    Component,
    ComponentInstance,
    Constant,
    FunctionCall,
    Input,
    Named,
    Specification,
)

MOST_ROUNDS = 6  # of quantifiers in what quantifiers mean for keys


def read_lustre(path: str, node: str | None = None) -> list[Specification]:
    """The specifications of the main nodes, or of the named one."""
    try:
        text = read_text(path)
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    with without_collection():
        return _read(text, path, node)


def _read(text: str, path: str, node: str | None) -> list[Specification]:
    file, tokens = parse(text, path)
    check_file(file, tokens)
    if file.is_v6:
        check_clocks(file, tokens)
    if node is not None and node not in file.nodes:
        raise SpecError(f"{path} has no node named {node}, it has {', '.join(file.nodes) or 'none'}")
    mains = [file.nodes[node]] if node is not None else main_nodes(file)
    if not mains:
        raise SpecError(f"{path} has no nodes")
    specifications = [
        with_components(file, tokens, MainNode(file, tokens, main, is_named=node is not None).specification())
        for main in mains
    ]
    check_dependence(file, tokens)
    check_uncalled(file, tokens, mains)
    return specifications


def main_nodes(file: LustreFile) -> list[NodeText]:
    marked = [n for n in file.nodes.values() if n.main]
    if marked:
        return marked
    groups = recursive_groups(file)
    alone: frozenset[str] = frozenset()
    called = {
        name
        for n in file.nodes.values()
        for c in n.calls
        if c != n.name and c not in groups.get(n.name, alone)
        for name in (c, *groups.get(c, alone))
    }
    top = [n for n in file.nodes.values() if n.name not in called and not n.imported]
    claiming = [n for n in top if n.properties or n.contract]
    return claiming or top[-1:] or list(file.nodes.values())[-1:]


def _variable_outputs(call: FunctionCall) -> list[Term]:
    return [t for t in call.outputs if not t.is_const]


def with_components(file: LustreFile, tokens: Tokens, specification: Specification) -> Specification:
    """The specification with the bodies of the nodes that it calls, those with contracts."""
    bodies: dict[str, Specification] = {}
    names = [i.component for i in specification.instances if i.name]
    while names:
        name = names.pop()
        node = file.nodes[name]
        if name not in bodies and not node.imported:
            bodies[name] = MainNode(file, tokens, node, is_named=False).specification()
            names += [i.component for i in bodies[name].instances if i.name]
    return replace(specification, components=tuple(Component(name, body) for name, body in bodies.items()))


class MainNode:
    """One main node on its way to a specification."""

    def __init__(self, file: LustreFile, tokens: Tokens, main: NodeText, *, is_named: bool) -> None:
        self.main = main
        self.tokens = tokens
        self.evaluator = NodeEvaluator(file, tokens)
        self.variables = self.evaluator.variables
        self.declarations = self.evaluator.declarations
        self.top = LustreScope("", self.evaluator.outermost, self.declarations.globals, main)
        self.top.types = abstract_arguments(main.parameters)
        self.claims = Claims(self.evaluator, self.top, is_named=is_named)
        self.skolem = Skolem(self.evaluator.quantifiers, self.evaluator.delays)

    def specification(self) -> Specification:
        inputs = self._inputs()
        self.evaluator.instances.populate(self.top, self.main)
        recursion = Recursion(self.evaluator, self.claims)
        recursion.add_general_instances(self.main, self.top)
        self.evaluator.finish(recursion.add_instance)
        self._claim_types(recursion)
        for promise in self.evaluator.any_values.promises:
            self.claims.assume_any(promise)
        assume_congruence(self.evaluator, self.claims)
        recursion.finish()
        self._drop_promises()
        observers = self._resolve_quantifiers(recursion)
        registers = self._registers(observers)
        # What a component assumes is a term of its instance: with a quantifier in it, its body is used instead.
        components = [i for i in self.claims.components if not self.skolem.has_quantifiers((i.assumes, i.held))]

        def now(claim: Claim) -> Claim:
            return replace(claim, term=registers.image.get(claim.term, claim.term))

        return Specification(
            self.main.name,
            (*inputs, *self._unknowns(registers.seen)),
            self._constants(registers.seen),
            tuple(registers.cells.values()),
            self._wires(registers),
            (),
            tuple(replace(o, term=registers.image.get(o.term, o.term)) for o in observers),
            tuple(map(now, self.claims.properties.values())),
            tuple(map(now, self.claims.assumptions)),
            self.tokens.where(self.main.at),
            tuple(self.variables.warnings),
            self._calls(registers),
            instances=tuple(self._instance(i, registers) for i in components),
        )

    def _claim_types(self, recursion: Recursion) -> None:
        """Claim, or assume, of values what their types say. A call in the condition of a type is an instance, which is
        read before what all instances have in common is known."""
        for delay, shape, scope in self.evaluator.delays.ranged:  # JKind: the first value, any, is in range too
            within = implication(delay.context.first, self.declarations.within(shape, delay.var, scope))
            self.claims.assume(f"{delay.var.payload} is in its range at first", within, delay.at, origin=IMPLIED)
        claimed = 0
        while claimed < len(self.declarations.ascriptions):
            (_, scope), (shape, value, at) = list(self.declarations.ascriptions.items())[claimed]
            claimed += 1
            if recursion.is_proved_in(scope):
                recursion.add_claim(self.claims.claim_ascription(shape, value, scope, at), scope)
                self.evaluator.finish(recursion.add_instance)
        for var, scope, shape, at in list(self.declarations.free_constants):
            self.claims.assume_range(shape, var, scope, at)
        for name, scope, shape, at in self.declarations.ranged_constants:
            if recursion.is_proved_in(scope):
                recursion.add_claim(self.claims.claim_range(name, scope, shape, at), scope)
        self.evaluator.finish(recursion.add_instance)

    def _resolve_quantifiers(self, recursion: Recursion) -> list[Named]:
        """Remove the quantifiers, and assume what is known of sets and maps. Returns the observers. What a quantifier
        means for the keys that are asked for may have quantifiers in it, and ask for more."""
        containers = self.declarations.containers
        shown = [v for v in self.main.outputs if not has_function(self.top.values[v.name].type)]
        known = self._open_calls()
        for _ in range(MOST_ROUNDS):
            containers.assume(self.claims, self.main.at, define)
            self.evaluator.finish(recursion.add_instance)  # the registers in the conditions of types
            if self._open_calls() != known:
                text = "the type of what sets and maps hold calls a function without a definition, or one that is"
                text += " recursive, or has `any` or `choose` in it"
                raise self.tokens.error(self.main.at, text, write="an assumption or a guarantee")
            self.skolem.resolve(self.claims)
            terms = [self.skolem.without_quantifiers(self.top.values[v.name]) for v in shown]
            if containers.is_settled() or not self.skolem.quantifiers.markers:
                return [Named(v.name, t, self.tokens.where(v.at)) for v, t in zip(shown, terms, strict=True)]
        text = "quantifiers over the keys of sets and maps are too deep in each other"
        raise self.tokens.error(self.main.at, text, write="properties without some of them")

    def _open_calls(self) -> tuple[int, ...]:
        """The numbers of those values of which more is known than their equations say."""
        instances, any_values = self.evaluator.instances, self.evaluator.any_values
        calls = sum(map(len, instances.functions.values())) + sum(map(len, any_values.calls.values()))
        return calls, len(any_values.promises), len(instances.open_calls)

    def _instance(self, instance: ComponentInstance, registers: Registers) -> ComponentInstance:
        """The instance with its terms as they have become, those that matter."""

        def those_seen(terms: Iterable[Named]) -> tuple[Named, ...]:
            images = (replace(n, term=registers.image.get(n.term, n.term)) for n in terms)
            return tuple(n for n in images if n.term in registers.seen)

        held, assumes = (registers.image.get(t, t) for t in (instance.held, instance.assumes))
        return replace(
            instance,
            inputs=those_seen(instance.inputs),
            outputs=those_seen(instance.outputs),
            modes=those_seen(instance.modes),
            assumes=assumes if assumes in registers.seen else TRUE,
            held=held if held in registers.seen else TRUE,
        )

    def _inputs(self) -> list[Input]:
        inputs: list[Input] = []
        for v in self.main.inputs:
            shape = self.declarations.shape(v.type, self.top)
            if v.constant or has_function(shape.type):
                self.top.values[v.name] = self._hidden_input(v, shape)
                continue
            name = self.variables.fresh(v.name)
            is_extern = self.main.chosen is None or v.name in self.main.chosen
            inputs.append(Input(name, shape.type, is_extern, "", "", self.tokens.where(v.at)))
            self.top.values[v.name] = variable(name, shape.type)
        return inputs

    def _hidden_input(self, v: Variable, shape: Shape) -> Term:
        """A constant input is a constant of the specification; of sets and maps, what is asked is an input."""
        if not v.constant:
            return self.variables.unknown(v.name, shape.type, v.at)
        var = variable(self.variables.fresh(v.name), shape.type)
        self.declarations.free_constants.append((var, self.top, shape, v.at))
        return var

    def _registers(self, observers: Iterable[Named]) -> Registers:
        claims = self.claims
        roots = [o.term for o in observers]
        roots += [c.term for c in (*claims.assumptions, *claims.properties.values())]
        roots += self._call_terms(roots)
        registers = Registers(self.variables, self.evaluator.delays, roots)
        for d in registers.delays:
            if d.var in registers.seen_first:
                self.variables.warn(d.at, f"{d.shown} has no value at the first step: it may have any")
        return registers

    def _drop_promises(self) -> None:
        """Keep what an imported node promises only if a property or another assumption depends on its outputs: Kind 2
        slices the other calls away, with what their contracts say of their inputs."""
        claims, sources = self.claims, self.skolem.sources()
        waiting = [a for a in claims.assumptions if a.name in claims.promises]
        roots = [p.term for p in claims.properties.values()]
        roots += [a.term for a in claims.assumptions if a.name not in claims.promises]
        while waiting and claims.properties:
            needed = set(walk_cone(roots, sources))
            more = [a for a in waiting if not needed.isdisjoint(claims.promises[a.name])]
            if not more:
                claims.assumptions = [a for a in claims.assumptions if a not in waiting]
                return
            roots += [a.term for a in more]
            waiting = [a for a in waiting if a not in more]

    def _nexts(self) -> dict[Term, Term]:
        nexts = {d.var: d.next for d in self.evaluator.delays if d.next is not None}
        return nexts | {var: after for var, _, after in self.variables.cells}

    def _call_terms(self, roots: Iterable[Term]) -> list[Term]:
        """The terms of the calls whose outputs matter."""
        needed = cone(roots, self._nexts())
        return [t for call in self.variables.calls if needed.issuperset(_variable_outputs(call)) for t in call.terms()]

    def _calls(self, registers: Registers) -> tuple[FunctionCall, ...]:
        calls = (image_of_call(call, registers.image) for call in self.variables.calls)
        return tuple(call for call in calls if registers.seen.issuperset(_variable_outputs(call)))

    def _constants(self, seen: set[Term]) -> tuple[Constant, ...]:
        free = self.declarations.free_constants
        chosen = ((str(v.payload), v.type, at) for v, _, _, at in free if v in seen)
        constants = [Constant(name, type, self.tokens.where(at), label=name) for name, type, at in chosen]
        for var, at, label in self.skolem.constants(seen):
            constants.append(Constant(str(var.payload), var.type, self.tokens.where(at), label))
        return tuple(constants)

    def _unknowns(self, seen: set[Term]) -> list[Input]:
        unknowns = self.variables.unknowns.items()
        return [Input(str(v.payload), v.type, False, "", "", self.tokens.where(at)) for v, at in unknowns if v in seen]

    def _wires(self, registers: Registers) -> tuple[Named, ...]:
        """The user's names for terms, in dependency order; variables have names of their own. In the main node a term
        may have several."""
        named: dict[Term, list[Named]] = {}
        for scope in self.evaluator.instances.scopes:
            assert scope.node is not None
            for v in (*scope.node.outputs, *scope.node.locals):
                value = scope.values.get(v.name)
                if value is None:
                    continue
                value = registers.image.get(value, value)
                if value.op in ("var", "const") or value not in registers.seen:
                    continue
                names = named.setdefault(value, [])
                if scope is self.top or not names:
                    names.append(Named(scope.path + v.name, value, self.tokens.where(v.at)))
        return tuple(name for t in walk(named) for name in named.get(t, ()))
