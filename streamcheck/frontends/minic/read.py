"""C to control-flow automata: one file, one function, everything it calls inlined."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, assert_never

from streamcheck.c import initial, kinds, pointers
from streamcheck.c.arithmetic import ADDRESS
from streamcheck.c.declarations import Function, NameScope, Pointee, PointerVariable
from streamcheck.c.extensions import PlainC
from streamcheck.c.kinds import (
    AnyKind,
    Array,
    Floating,
    FunctionType,
    Incomplete,
    Integer,
    Opaque,
    Pointer,
    Struct,
    Void,
    are_different,
)
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.models import MODELS, DataModel
from streamcheck.c.pointers import ComputedPointer
from streamcheck.c.preprocess import preprocess
from streamcheck.c.syntax import TOO_DEEP, form, parse, where_of
from streamcheck.c.terms import comparison
from streamcheck.core.depth import deep_recursion
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.simplify import conjunction
from streamcheck.core.term import Term, constant, variable
from streamcheck.frontends.minic.addresses import MemoryPlan
from streamcheck.frontends.minic.bare import bare_statements
from streamcheck.frontends.minic.callbacks import CallbackEffect, Callbacks, nodes_in, offered_functions
from streamcheck.frontends.minic.calls import ASSERTIONS, ASSUMPTIONS, ERRORS, STREAMS, Calls
from streamcheck.frontends.minic.expressions import Expressions
from streamcheck.frontends.minic.flow import AutomatonTooLarge, Flow
from streamcheck.frontends.minic.linking import with_files
from streamcheck.frontends.minic.places import OUTSIDE
from streamcheck.frontends.minic.prototypes import prototypes_of
from streamcheck.frontends.minic.recursion import hide_deeper_claims
from streamcheck.frontends.minic.statements import Statements
from streamcheck.problem.automaton import Automaton

FIRST_DEPTH = 2  # of functions that call themselves
DEEPEST = 19
LARGEST_RECURSION = 3_000  # edges, above which calls are not read deeper (heuristic)


def read_c(
    path: str,
    integers: Literal["c", "math"],
    function: str | None = None,
    data_model: str = "LP64",
    linked: Sequence[str] = (),
) -> tuple[Automaton, tuple[str, ...]]:
    """The automaton of a function of the file, and warnings (functions without a body).

    Without `function` it is `main`, or the only function there is. Global variables hold their initial values when
    `main` begins, and any values when another function does, which may be called at any time; so do its parameters.
    """
    with deep_recursion():  # a long chain of else-ifs is nested statements, a long sum nested expressions
        model = MODELS[data_model]
        source = preprocess(path, model=model)
        nodes = _declarations_of(source.text, path)
        if linked:
            source, nodes = with_files(path, linked, model, source, nodes)
        return _with_calls(path, CSource(source, nodes, model, integers == "math"), function)


@dataclass(frozen=True, slots=True)
class CSource:
    """The text of a program, as declarations, and how it is read."""

    text: PlainC
    nodes: list[Any]
    model: DataModel
    mathematical: bool


def _with_calls(path: str, source: CSource, function: str | None) -> tuple[Automaton, tuple[str, ...]]:
    """The automaton and warnings. Functions that call themselves are read deeper and deeper, until no call is left
    out or the automaton is large."""
    depth, found, constants, plan = FIRST_DEPTH, None, True, MemoryPlan()
    while True:
        unit = _TranslationUnit(Flow(os.path.splitext(os.path.basename(path))[0], path), source, plan)
        unit.calls.depth, unit.calls.follows_constants = depth, constants
        if found is not None:
            unit.flow.largest = LARGEST_RECURSION
        version = plan.version
        try:
            read = unit.read(source.nodes, function)
            if plan.version != version:
                continue
            found = read
        except ComputedPointer as pointer:
            if plan.is_computed(pointer.key):
                raise
            plan.compute(pointer.key)
            continue
        except RecursionError:
            raise SpecError(TOO_DEEP, unit.expressions.where) from None
        except AutomatonTooLarge:
            if found is not None:
                return found
            if not constants or not unit.calls.exceeded:
                raise
            constants, plan = False, MemoryPlan(computed=plan.computed, wanted=plan.wanted)
            continue
        except SpecError:
            if plan.version == version:
                raise
            continue
        if unit.calls.exceeded is None or depth >= DEEPEST:
            return found
        depth += max(1, depth // 2)


def _declarations_of(text: str, path: str) -> list[Any]:
    """The declarations of the file; of a file of bare statements, those of one with a function around them. The
    reading that comes further has the message."""
    try:
        return parse(text, path)
    except SpecError as error:
        try:
            return bare_statements(text, path)
        except SpecError as other:
            raise max(error, other, key=lambda e: e.where.line if e.where else 0) from None


class _TranslationUnit:
    def __init__(self, flow: Flow, source: CSource, plan: MemoryPlan) -> None:
        self.flow = flow
        self.source = source
        self.expressions = Expressions(flow, mathematical=source.mathematical, model=source.model, plan=plan)
        self.expressions.declarations.realigned = source.text.realigned
        self.calls = Calls(self.expressions, source.text)
        self.statements = Statements(self.expressions, self.calls)
        self.expressions.calls = self.calls
        self.calls.statements = self.statements
        self.expressions.numbers.object_of = self.statements.object_of
        self.expressions.scope = self.statements.globals
        self.file = flow.file
        self.declared: dict[str, tuple[AnyKind, Any]] = {}  # the first declarations of variables
        self.mentioned: set[str] = set()  # the names in expressions
        self.globals: dict[str, Any] = {}  # by name, the declaration that gives the first value

    def read(self, nodes: list[Any], wanted: str | None) -> tuple[Automaton, tuple[str, ...]]:
        self._declare_all(nodes)
        function = self._entry_function(wanted)
        offered = [n for n in offered_functions(nodes) if n not in (*ASSERTIONS, *ASSUMPTIONS, *ERRORS)]
        proved = "" if function.name == "main" else function.name
        self.calls.callbacks = Callbacks(offered, lambda name: self._effect(nodes, name), proved)
        return self._run(function)

    def _run(self, function: Function) -> tuple[Automaton, tuple[str, ...]]:
        self.statements.fresh = function.name == "main"
        self._initialise()
        self._enter(function)
        self._begin()
        hide_deeper_claims(self.flow, [f for f in self.statements.globals.names.values() if isinstance(f, Function)])
        return self.flow.automaton(), tuple(self.flow.warnings)

    # Functions that are called back

    def _effect(self, nodes: list[Any], name: str) -> CallbackEffect:
        """The effect of a function of the file if it is called in any state, with any arguments."""
        plan = MemoryPlan()
        while True:
            unit, version = _TranslationUnit(Flow(self.flow.name, self.file), self.source, plan), plan.version
            try:
                unit._declare_all(nodes)
                function = unit._entry_function(name)
                automaton, _ = unit._run(function)
            except ComputedPointer as pointer:
                if plan.is_computed(pointer.key):
                    return CallbackEffect(None, "something")
                plan.compute(pointer.key)
            except SpecError:
                if plan.version == version:
                    return CallbackEffect(None, "something")
            if plan.version == version:
                break
        if any(e.limit is not None for e in automaton.errors):
            return CallbackEffect(None, "something")
        return CallbackEffect(frozenset(e.name for e in automaton.errors), unit._change_by(function))

    def _change_by(self, function: Function) -> str | None:
        """A variable with static storage that the function has changed, or of which it gives the address."""
        if isinstance(function.result, Pointer):
            return "what it returns a pointer to"
        statements, lasting = self.statements, dict[Term, str]()
        for name, meaning in statements.globals.names.items():
            place = meaning.offset if isinstance(meaning, PointerVariable) else meaning
            if isinstance(place, Lvalue):
                lasting |= dict.fromkeys(self.expressions.storage.roots(place), name)
        for made, parts in self.expressions.storage.parts.items():
            if id(made) in statements.lasting:
                lasting |= dict.fromkeys(parts.values(), made.name.rsplit(".", 1)[-1])
        changed = (root for edge in self.flow.edges[1:] for root, _ in edge.updates)
        return next((lasting[root] for root in changed if root in lasting), None)

    # Declarations of the file

    def _declare_all(self, nodes: list[Any]) -> None:
        inner = [n for node in nodes for n in nodes_in(node)]
        self.mentioned = {n.name for n in inner if form(n) == "ID"}
        self.calls.prototypes, self.calls.used = prototypes_of(nodes), self.mentioned
        for node in nodes:
            self._declare(node)
        for node in inner:  # `extern` in a block
            if form(node) == "Decl" and "extern" in node.storage and form(node.type) != "FuncDecl":
                self._declare_in_block(node)

    def _declare_in_block(self, node: Any) -> None:
        names = self.statements.globals.names
        if node.name is not None and node.name not in names:
            try:
                self._global(node)
            except SpecError as why:  # refused where it is used
                names[node.name] = Opaque(node.name, why.message)

    def _declare(self, node: Any) -> None:
        shape = form(node)
        if shape == "FuncDef":
            self._function(node.decl, node.body, node.param_decls)
        elif shape == "Typedef":
            self.statements.statement(node)
        elif shape == "Decl" and form(node.type) == "FuncDecl":
            self._function(node, None, None)
        elif shape == "Decl" and node.name is not None:
            self._global(node)
        elif shape == "Decl":
            self.expressions.declarations.kind_of(node, self.expressions.scope)
        elif shape == "StaticAssert":
            self.statements.statement(node)
        elif shape != "Pragma":
            raise SpecError(f"{shape} is not supported here", where_of(node))

    def _function(self, decl: Any, body: Any, old_style: Any) -> None:
        where, scope = where_of(decl), self.statements.globals
        if form(decl.type) != "FuncDecl":
            raise SpecError(f"{decl.name} has a body and no parameters", where, write=f"{decl.name}(void) {{ … }}")
        if old_style:
            reason = "parameters declared after the parentheses are not supported; write them between the parentheses"
            scope.names[decl.name] = Opaque(decl.name, reason)
            return
        known = scope.names.get(decl.name)
        try:
            function = self.expressions.declarations.signature(decl, body, scope)
        except SpecError as why:  # refused where it is called
            if body is not None:
                scope.names[decl.name] = Opaque(decl.name, why.message)
            return
        if isinstance(known, Function) and known.body is not None and body is not None:
            raise SpecError(f"{decl.name} is defined twice", where, also=(("before", known.where),))
        if isinstance(known, Function) and known.where.file != where.file and _have_other_types(known, function):
            raise SpecError(f"{decl.name} is declared with other types", where, also=(("before", known.where),))
        if body is not None or not isinstance(known, Function) or known.body is None:
            scope.names[decl.name] = function

    def _global(self, node: Any) -> None:
        to, scope = self.expressions, self.statements.globals
        with to.at(node):
            kind = initial.kind_of(node, to) if node.init is not None or "extern" not in node.storage else None
            if kind is None:
                kind = to.declarations.kind_of(node, scope)
            self._refuse_conflict(node, kind)
            known_here = node.init is not None or node.name in self.mentioned
            if "static" not in node.storage and _holds_pointers(kind) and known_here and node.name not in STREAMS:
                self.statements.handles.append(node.name)
            if isinstance(kind, Opaque):
                scope.names[node.name] = kind
                return
            if isinstance(kind, Pointer) and not self.statements.is_computed(kind, ("", node.name)):
                if "restrict" in (getattr(node.type, "quals", None) or ()):
                    raise to.error(f"{node.name}: restrict is supported on parameters only", node)
                scope.names[node.name] = self.statements.pointer(node.name, kind, ("", node.name), None, sure=False)
                if form(node.type) == "ArrayDecl":  # an array whose length is not known here
                    pointer = scope.names[node.name]
                    assert isinstance(pointer, PointerVariable)
                    pointer.key = None
                self.globals[node.name] = node
                return
            own = (getattr(node.type, "quals", None) or ()) if isinstance(kind, Pointer) else node.quals
            qualifiers = {"volatile": "volatile" in own, "constant": "const" in own}
            if "static" not in node.storage and not qualifiers["constant"]:
                self.statements.shared.append(node.name)
            scope.names[node.name] = self.statements.variable(node.name, kind, ("", node.name), **qualifiers)
            if node.init is not None or "extern" not in node.storage:
                before = self.globals.get(node.name)
                if before is None or before.init is None:
                    self.globals[node.name] = node

    def _refuse_conflict(self, node: Any, kind: AnyKind) -> None:
        """Error if the file declares a variable with different types, or gives it two values (6.7, 6.9)."""
        known = self.declared.setdefault(node.name, (kind, node))
        before = self.globals.get(node.name)
        if node.init is not None and before is not None and before.init is not None:
            what = "is given a value twice"
        elif are_different(known[0], kind):
            what = f"is declared as {known[0]} and as {kind}"
        else:
            return
        raise SpecError(f"{node.name} {what}", where_of(node), also=(("before", where_of(known[1])),))

    # The function that is run

    def _entry_function(self, wanted: str | None) -> Function:
        functions = {name: f for name, f in self.statements.globals.names.items() if isinstance(f, Function)}
        bodies = {name: f for name, f in functions.items() if f.body is not None and name not in (*ASSERTIONS, *ERRORS)}
        own = f"{self.flow.name}::{wanted}"  # a static function, of whose name another file has one, too (`linking`)
        if own in bodies:
            return bodies[own]
        if wanted is not None:
            if wanted not in bodies:
                raise SpecError(f"{self.file} has no function named {wanted}, it has {', '.join(bodies)}")
            return bodies[wanted]
        if "main" in bodies:
            return bodies["main"]
        offered = [f for f in bodies.values() if not f.static] or list(bodies.values())
        if len(offered) == 1:
            return offered[0]
        if not offered:
            raise SpecError(f"{self.file} has no functions")
        names = ", ".join(f.name for f in offered)
        raise SpecError(f"which function? {names}", Location(self.file, 1), write=f"{self.file}::{offered[0].name}")

    def _initialise(self) -> None:
        for name, node in self.globals.items():
            variable = self.statements.globals.names[name]
            with self.expressions.at(node):
                if isinstance(variable, Lvalue):
                    self.statements.begin(variable, node.init)
                elif isinstance(variable, PointerVariable) and node.init is not None:
                    self._initialise_pointer(variable, node)
        self.flow.checks.clear()
        self.flow.step(None, "skip")

    def _initialise_pointer(self, pointer: PointerVariable, node: Any) -> None:
        to = self.expressions
        value = to.value(node.init)
        if not pointers.is_null(value):  # else the null pointer: it points nowhere yet
            for offset, new in pointers.bind(pointer, value, to.text(node), to, node):
                self.statements.start += to.updates(offset, new, node)

    def _enter(self, function: Function) -> None:
        to, statements = self.expressions, self.statements
        to.where = function.where
        to.scope = NameScope(to.scope)
        for name, kind in function.parameters:
            key = ("", (function.name, name))
            if isinstance(kind, Pointer) and statements.is_computed(kind, key):
                self._enter_pointer(function, name, kind, key)
                continue
            if isinstance(kind, Pointer):
                to.scope.names[name] = pointer = statements.pointer(name, kind, key, function.body, sure=True)
                if function.name != "main" and kind.target != kinds.VOID:
                    pointer.target = Pointee(
                        statements.variable(f"*{name}", kind.target, ("", (function.name, name, "*")))
                    )
                    statements.begin(pointer.target.lvalue, None)
                    self.statements.handles.append(name)
                    self.flow.warn(f"{name} is assumed to point to a variable of its own", function.where)
                continue
            constant = name in function.constant
            to.scope.names[name] = place = statements.variable(name, kind, key, constant=constant)
            statements.fresh = False
            statements.begin(place, None)
            statements.fresh = function.name == "main"
            if function.name == "main" and kind == to.model.INT and len(function.parameters) > 1:
                self._begin_count(place)
        self.calls.active.append(function.name)
        statements.run(function, None, self.calls.final)

    def _enter_pointer(self, function: Function, name: str, kind: Pointer, key: tuple[str, Any]) -> None:
        """A parameter that is a number: it points to a variable of its own, or to one of another file."""
        to, statements = self.expressions, self.statements
        to.scope.names[name] = place = statements.variable(name, kind, key)
        target = to.declarations.complete(kind.target)
        if function.name == "main" or isinstance(target, Void | Incomplete | FunctionType | Opaque):
            to.memory_plan.mark("outside")
            statements.start.append(to.storage.update(place, constant(ADDRESS, OUTSIDE)))
            return
        own = statements.variable(f"*{name}", target, ("", (function.name, name, "*")))
        statements.begin(own, None)
        statements.handles.append(name)
        self.flow.warn(f"{name} is assumed to point to a variable of its own", function.where)
        statements.start.append(to.storage.update(place, to.numbers.of(Pointee(own), None).term))

    def _begin_count(self, place: Lvalue) -> None:
        """The number of arguments of `main` is not negative (5.1.2.2.1)."""
        to, type = self.expressions, self.expressions.type_of(place.kind)
        zero = to.arithmetic.number(to.model.INT, 0).term
        limits = comparison("ge", variable("?", type), zero)
        value = self.flow.choose(place.object.name, type, to.where, limits)
        self.statements.start.append(to.storage.update(place, value))
        self.statements.unknown.append(self.flow.choices.pop())

    def _begin(self) -> None:
        """Add the first edge, after all variables with static storage have been declared."""
        self.expressions.lifetimes.finish()
        self.expressions.numbers.finish()
        start, unknown = self.statements.start, self.statements.unknown
        text = ", ".join(f"{v.payload} = {_name_of(t)}" for v, t in start)
        self.flow.edges[0] = replace(
            self.flow.edges[0],
            guard=conjunction(*(c.limits for c in unknown)),
            updates=tuple(start),
            choices=tuple(c.term for c in unknown),
            text=text or "skip",
            where=next((where_of(n) for n in self.globals.values()), None) if start else None,
        )


def _have_other_types(one: Function, other: Function) -> bool:
    """One of them is defined, and a call of it by the other declaration is not one of it (6.5.2.2)."""
    if one.body is None and other.body is None:
        return False
    pairs = [(one.result, other.result)]
    if len(one.parameters) == len(other.parameters):
        pairs += zip((kind for _, kind in one.parameters), (kind for _, kind in other.parameters), strict=True)
    return any(are_different(a, b) for a, b in pairs)


def _holds_pointers(kind: AnyKind) -> bool:
    """An object of this kind may have the address of another one."""
    match kind:
        case Array():
            return _holds_pointers(kind.element)
        case Struct():
            return any(_holds_pointers(inner) for _, inner in kind.fields)
        case Pointer() | Opaque():
            return True
        case Integer() | Floating() | Void() | FunctionType() | Incomplete():
            return False
    assert_never(kind)


def _name_of(value: Term) -> str:
    if not value.is_const:
        return "any value" if value.op == "var" else "…"
    return str(int(value.payload)) if isinstance(value.payload, bool) else str(value.payload)
