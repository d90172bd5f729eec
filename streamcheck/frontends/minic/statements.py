"""Statements of C as places and edges, as in [Penelle, figures 3.1 to 3.5]."""

from __future__ import annotations

from typing import Any

from streamcheck.c import effects, initial, kinds, pointers, static
from streamcheck.c.arithmetic import SideCondition
from streamcheck.c.declarations import CResult, Function, NameScope, PointerVariable, Typedef
from streamcheck.c.kinds import AnyKind, Array, FunctionType, Integer, Opaque, Pointer, Struct
from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.c.syntax import form, has_name, where_of
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import FALSE, Term, constant, uniform, variables
from streamcheck.frontends.minic import variable_length
from streamcheck.frontends.minic.calls import Calls
from streamcheck.frontends.minic.counting import CountingLoop
from streamcheck.frontends.minic.expressions import Expressions
from streamcheck.frontends.minic.flow import Branch, UnknownValue
from streamcheck.frontends.minic.inlining import Inlining, JumpEnd, Visible
from streamcheck.frontends.minic.places import OUTSIDE, AddressRange
from streamcheck.frontends.minic.storage import Update
from streamcheck.frontends.minic.switches import cases_of, guard_of, refuse_repeated
from streamcheck.frontends.minic.targets import assigns, has_labels, leaves
from streamcheck.frontends.minic.variable_length import MOST_SCALARS

MOST_DIMENSIONS = 100
OUTERMOST = 3  # scopes around the body of the function that is read: what C defines, globals, parameters, itself


class Statements:
    def __init__(self, expressions: Expressions, calls: Calls) -> None:
        self.expressions = expressions
        self.calls = calls
        self.flow = expressions.flow
        self.globals = NameScope(expressions.scope)
        self.known: dict[tuple[str, Any], Lvalue] = {}
        self.declared: set[tuple[str, Any]] = set()  # those whose declaration has been read
        self.fresh = True  # the run begins when the program does, not at any time
        self.start: list[Update] = self.flow.start  # what variables hold when the run begins
        self.unknown: list[UnknownValue] = []
        self.frames: list[Inlining] = []
        self.nested = 0  # statements in expressions around this place
        self.item: Any = None  # the innermost statement that is read
        self.items: set[int] = set()  # the declarations, expressions and returns that are read, by id, of a block's own
        self.variable_length: set[Object] = set()
        self.lengths: dict[tuple[str, int, int], Term] = {}  # of those arrays, by owner, declaration and dimension
        self.lasting: set[int] = set()  # static variables of functions
        self.shared: list[str] = []  # variables that other files can name
        self.handles: list[str] = []  # those of them, and of the parameters, that may point to others

    # Variables

    def variable(self, name: str, kind: AnyKind, key: tuple[str, Any], **qualifiers: bool) -> Lvalue:
        """The variable of a declaration. There is only one even if its function is inlined many times, because no two
        calls of it are active at once."""
        if key not in self.known:
            self._refuse_large(name, kind)
            shown = f"{key[0]}.{name}" if key[0] else name
            try:
                self.known[key] = self.expressions.storage.add(kind, shown, self.term, key=key, **qualifiers)
            except RecursionError:
                raise SpecError(f"{name} has no type", self.expressions.where) from None
        if key not in self.declared:
            self.declared.add(key)
            is_plain = not (kinds.has_unions(kind) or self.expressions.storage.has_pointers(self.known[key]))
            if not key[0] and name.isidentifier() and is_plain:
                parts = self.expressions.storage.roots(self.known[key])
                self.flow.declare(name, parts, self.expressions.where, inner=self._depth() > OUTERMOST)
        accesses = self.expressions.accesses
        accesses.levels[self.known[key].object] = accesses.depth
        return self.known[key]

    def literal(self, node: Any) -> Lvalue:
        """The array that a string literal is (6.4.5)."""
        to, key, codes = self.expressions, ("", ("literal", id(node))), tuple(initial.string(node, self.expressions))
        kind = Array(to.model.CHAR, len(codes))
        if key not in self.known:
            self.known[key] = to.storage.add(kind, node.value, self.term, key=key, constant=True)
        if key not in self.declared:
            self.declared.add(key)
            self.start.append(to.storage.update(self.known[key], constant(to.type_of(kind), codes)))
        return self.known[key]

    def object_of(self, key: tuple[str, Any], region: AddressRange) -> Object:
        """The object that a region is, even if its declaration comes further on."""
        if key not in self.known:
            add = self.expressions.storage.add
            self.known[key] = add(region.kind, region.name, self.term, key=key, constant=region.constant)
        if region.stride and self.known[key].object.kind != region.kind:  # changed by this reading: another one follows
            raise SpecError(f"{region.name} has another type than before", self.expressions.where)
        return self.known[key].object

    def _refuse_large(self, name: str, kind: AnyKind) -> None:
        if kinds.dimensions(kind) > MOST_DIMENSIONS:
            message = f"{name} has more than {MOST_DIMENSIONS} dimensions; declare fewer"
            raise SpecError(message, self.expressions.where)
        if kinds.number_of_scalars(kind) > MOST_SCALARS:
            message = f"{name} holds more than {MOST_SCALARS} numbers: {kind}; declare a smaller array"
            raise SpecError(message, self.expressions.where)

    def _depth(self) -> int:
        scope, depth = self.expressions.scope, 0
        while scope.outer is not None:
            scope, depth = scope.outer, depth + 1
        return depth

    def term(self, name: str, kind: AnyKind) -> Term:
        return self.flow.variable(name, self.expressions.type_of(kind))

    def begin(self, place: Lvalue, node: Any) -> None:
        """Sets the first value of a variable with static storage: its initialiser, or any value."""
        to = self.expressions
        if place.object.volatile:
            return
        if self.fresh or place.object.constant:
            self.start += self._constant_start(place, node)
            return
        pointer_parts = [p for p in place.scalars() if isinstance(kinds.element_of(p.kind), Pointer)]
        if pointer_parts:
            to.memory_plan.mark("outside")
            self.start += [to.storage.update(p, uniform(to.type_of(p.kind), OUTSIDE)) for p in pointer_parts]
        if not self._may_be_any(place):
            for part in place.scalars():
                if part in pointer_parts:
                    continue
                value = to.unknown(str(to.storage.roots(part)[0].payload), part.kind)
                self.start.append(to.storage.update(part, value))
                self.unknown.append(self.flow.choices.pop())

    def _constant_start(self, place: Lvalue, node: Any) -> list[Update]:
        """The first values of an object with static storage: constants (6.7.8), zero if none is given."""
        to = self.expressions
        if node is not None and effects.level(node, to.scope):
            raise to.error(f"{to.text(node)} is not constant", node)
        updates = to.initial_updates(place, node)
        if variables(value for _, value in updates):
            raise to.error(f"{to.text(node)} is not constant", node)
        return updates

    def pointer(self, name: str, kind: Pointer, key: tuple[str, Any], body: Any, *, sure: bool) -> PointerVariable:
        """A pointer. If the function assigns to it, it gets a variable for its offset."""

        home = self.expressions.lifetimes.blocks[-1:]

        def offset_variable() -> Lvalue:
            made = self.variable(name, kinds.LONG, key)
            self.flow.moving.update(self.expressions.storage.roots(made))
            for block in home:
                block.inner.add(made.object)
            return made

        offset = offset_variable() if body is None or not sure or assigns(body, name) else None
        return PointerVariable(name, kind, offset_variable, None, offset, sure, key)

    def is_computed(self, kind: Pointer, key: tuple[str, Any]) -> bool:
        """The pointer is a number."""
        target = kind.target
        return isinstance(target, FunctionType) or self.expressions.memory_plan.is_computed(key)

    # Functions

    def run(
        self, function: Function, result: Lvalue | PointerVariable | None, leave: str, *, wanted: bool = False
    ) -> None:
        """The body of a function, from the current place to `leave`. `wanted`: its result is used."""
        frame = Inlining(function, result, leave, outermost=not self.frames, wanted_result=wanted)
        frame.jumps = has_labels(function.body)
        self.frames.append(frame)
        frame.begins = self.flow.at, len(self.flow.edges)
        self.statement(function.body)
        for name, node in frame.wanted.items():
            if name not in frame.placed:
                raise self.expressions.error(f"label {name} is not declared", node)
        self._lose_result(frame)
        self.flow.jump(leave)
        self.frames.pop()

    def _lose_result(self, frame: Inlining) -> None:
        """The function returns without a value (of main, that is 0)."""
        result = frame.result.offset if isinstance(frame.result, PointerVariable) else frame.result
        if frame.wanted_result and frame.result is not None and self.flow.leads_here(*frame.begins):
            self.expressions.arithmetic.oblige(SideCondition.RETURN, FALSE)
        if result is not None and frame.function.name != "main":
            self._unknown_value(result, f"{frame.function.name}.return")

    @property
    def is_straight(self) -> bool:
        """No run gets to the present place twice."""
        return all(frame.straight for frame in self.frames)

    @property
    def is_dead(self) -> bool:
        """No run gets to the present place."""
        return self.flow.at not in self.flow.live and not any(frame.jumps for frame in self.frames)

    @property
    def frame(self) -> Inlining:
        return self.frames[-1]

    # Statements, by pycparser's names

    def statement(self, node: Any) -> None:
        if node is None:
            return
        if len(self.frames) <= 1 and not self.nested:
            self.expressions.accesses.forget()
        method = getattr(self, f"_{form(node)}", None)
        outer, self.item = self.item, node
        with self.expressions.at(node):
            if method is not None:
                method(node)
            else:
                self.expressions.effect(node)
        self.item = outer

    def _Compound(self, node: Any) -> None:
        outer = self.expressions.scope
        self.expressions.scope = NameScope(outer)
        self.expressions.lifetimes.enter(once=self.is_straight)
        self._expect_variables(node)
        for part in node.block_items or ():
            if form(part) in ("Decl", "Return") or not hasattr(self, f"_{form(part)}"):
                self.items.add(id(part))
            self.statement(part)
        self.expressions.lifetimes.leave()
        self.expressions.scope = outer

    def compound_literal(self, node: Any) -> Lvalue:
        """The variable of a block that a compound literal is (6.5.2.5). Other statements are blocks of their own."""
        to, kind = self.expressions, static.kind_of(self.expressions, node)
        if id(self.item) not in self.items or self.frame.jumps:
            raise to.error("a compound literal is supported in the statements of a block only; write a variable", node)
        if isinstance(kind, Pointer | Opaque) or kinds.has_run_time_length(kind):
            raise to.error(f"a compound literal of type {kind} is not supported; write a variable", node)
        quals = (*(node.type.quals or ()), *(getattr(node.type.type, "quals", None) or ()))
        place = self.variable("literal", kind, self._key(node), volatile="volatile" in quals, constant="const" in quals)
        to.lifetimes.declare(place.object)
        self.flow.step(to.where, to.text(node), *to.initial_updates(place, node.init))
        return place

    def _expect_variables(self, node: Any) -> None:
        """The variables of the block exist from its beginning on (6.2.4): a jump back may use a pointer to them."""
        regions = self.expressions.memory_plan.regions
        for part in node.block_items or ():
            key = self._key(part) if form(part) == "Decl" else None
            if key is not None and key in regions and regions[key].automatic:
                self.expressions.lifetimes.expect(self.object_of(key, regions[key]))

    def in_expression(self, node: Any, *, unused: bool) -> CResult:
        """The statements of ({ … }), and the value of the last one if it is an expression."""
        to, outer = self.expressions, self.expressions.scope
        if leaves(node):
            raise to.error("a jump into or out of statements in an expression is not supported", node)
        to.scope = NameScope(outer)
        to.lifetimes.enter()
        self.nested += 1
        *before, last = node.block_items or (None,)
        for part in before:
            self.statement(part)
        value: CResult = None
        if unused or last is None or hasattr(self, f"_{form(last)}"):
            self.statement(last)
        else:
            value = to.value(last)
        if isinstance(value, Lvalue) and isinstance(value.kind, Struct):
            value = self.calls.copy(value, last)
        self.nested -= 1
        to.lifetimes.leave()
        to.scope = outer
        return value

    def _EmptyStatement(self, node: Any) -> None:
        pass

    def _StaticAssert(self, node: Any) -> None:
        if not self.expressions.constant(node.cond):
            raise self.expressions.error(f"{self.expressions.text(node.cond)} does not hold", node)

    def _Pragma(self, node: Any) -> None:
        pass

    def _If(self, node: Any) -> None:
        yes, no, join = (self.flow.place() for _ in range(3))
        self.expressions.condition(node.cond, yes, no)
        self.flow.at = yes
        self.statement(node.iftrue)
        self.flow.step(None, "skip", to=join)
        self.flow.at = no
        self.statement(node.iffalse)
        self.flow.step(None, "skip", to=join)

    def _While(self, node: Any) -> None:
        head, body, after = (self.flow.place() for _ in range(3))
        self._begin(head, node)
        self.expressions.condition(node.cond, body, after)
        self.flow.at = body
        self._loop_body(node.stmt, after, head)
        self.flow.step(None, "skip", to=head)
        self.flow.at = after

    def _DoWhile(self, node: Any) -> None:
        head, test, after = (self.flow.place() for _ in range(3))
        self._begin(head, node)
        self._loop_body(node.stmt, after, test)
        self.flow.step(None, "skip", to=test)
        self.expressions.condition(node.cond, head, after)
        self.flow.at = after

    def _For(self, node: Any) -> None:
        outer = self.expressions.scope
        self.expressions.scope = NameScope(outer)
        self.expressions.lifetimes.enter()
        self.statement(node.init)
        head, body, last, after = (self.flow.place() for _ in range(4))
        self._begin(head, node)
        if node.cond is None:
            self.flow.step(None, "skip", to=body)
        else:
            self.expressions.condition(node.cond, body, after)
        self.flow.at = body
        self._loop_body(node.stmt, after, last)
        self.flow.step(None, "skip", to=last)
        if node.next is not None:
            with self.expressions.at(node.next):
                self.expressions.effect(node.next)
        self.flow.step(None, "skip", to=head)
        self.flow.at = after
        self.expressions.lifetimes.leave()
        self.expressions.scope = outer

    def _begin(self, head: str, node: Any) -> None:
        if not CountingLoop(node, self.frame.function.body, self._is_local, self.expressions).ends:
            self.flow.endings.loops.append(len(self.flow.edges))
        self.flow.step(None, "skip", to=head)
        self.flow.loops.add(head)
        self.frame.straight = False

    @property
    def has_static(self) -> bool:
        """A variable with static storage is not constant."""
        names = self.globals.names.values()
        return bool(self.lasting) or any(
            isinstance(m, PointerVariable) or (isinstance(m, Lvalue) and not m.object.constant) for m in names
        )

    def _is_local(self, name: str) -> bool:
        """The name is that of a variable without static storage."""
        place = self.expressions.scope.meaning(name)
        is_static = place is self.globals.names.get(name)
        return isinstance(place, Lvalue) and not is_static and id(place.object) not in self.lasting

    def _loop_body(self, body: Any, after: str, again: str) -> None:
        self.frame.breaks.append(after)
        self.frame.continues.append(again)
        self.statement(body)
        self.frame.breaks.pop()
        self.frame.continues.pop()

    def _Break(self, node: Any) -> None:
        self._leave(self.frame.breaks, node)

    def _Continue(self, node: Any) -> None:
        self._leave(self.frame.continues, node)

    def _leave(self, targets: list[str], node: Any) -> None:
        if not targets:
            raise self.expressions.error(f"{self.expressions.text(node)} is not in a loop", node)
        self.flow.jump(targets[-1])

    def _Return(self, node: Any) -> None:
        frame, to = self.frame, self.expressions
        if node.expr is None:
            self._lose_result(frame)
        elif frame.result is None:
            to.effect(node.expr, returned=frame.function.result != kinds.VOID)
        elif isinstance(frame.result, PointerVariable):
            to.assign(node, *pointers.bind(frame.result, to.value(node.expr), to.text(node), to, node))
        else:
            to.expect(node.expr, frame.result.kind)
            to.store(node, to.text(node).rstrip(";"), (frame.result, to.value(node.expr)))
        self.flow.jump(frame.leave)

    def _Label(self, node: Any) -> None:
        place = self._label(node.name)
        if node.name in self.frame.placed:
            raise self.expressions.error(f"label {node.name} is declared twice", node)
        self.flow.step(None, "skip", to=place)
        here = self._position()
        for jump, start in self.frame.waiting.pop(node.name, ()):
            self.flow.at = jump
            self._forget_passed(here, start, node)
            self.flow.step(None, "skip", to=place)
        self.frame.placed[node.name] = here
        self.frame.straight = False
        self.statement(node.stmt)

    def _Goto(self, node: Any) -> None:
        place, frame = self._label(node.name), self.frame
        frame.wanted[node.name] = node
        if node.name in frame.placed:
            self.flow.loops.add(place)
            self.flow.endings.loops.append(len(self.flow.edges))
            self._forget_passed(frame.placed[node.name], self._position(), node)
        else:
            place = self.flow.place()
            frame.waiting.setdefault(node.name, []).append((place, self._position()))
        self.flow.jump(place)

    def _position(self) -> JumpEnd:
        """This place, with the variables of the function being inlined that have no static storage."""
        visible: Visible = {}
        scope: NameScope | None = self.expressions.scope
        while scope is not None and scope is not self.globals:
            for name, meaning in scope.names.items():
                if isinstance(meaning, Lvalue) and id(meaning.object) not in self.lasting:
                    visible[id(meaning.object)] = name, meaning
                elif isinstance(meaning, PointerVariable):
                    visible[id(meaning)] = name, meaning
            scope = scope.outer
        return JumpEnd(visible, tuple(self.expressions.lifetimes.blocks))

    def _forget_passed(self, there: JumpEnd, here: JumpEnd, node: Any) -> None:
        """Give any value to the variables whose declarations a jump skips, and to pointers to them."""
        for block in there.blocks:
            if block not in here.blocks:
                self.expressions.lifetimes.reenter(block)
        for key, (name, variable) in there.visible.items():
            if key in here.visible:
                continue
            if isinstance(variable, PointerVariable):
                raise self.expressions.error(f"a jump skips the declaration of the pointer {name}", node)
            if variable.object in self.variable_length:
                raise self.expressions.error(f"a jump skips the declaration of {name}, of variable length", node)
            self._unknown_value(variable, name)

    def _label(self, name: str) -> str:
        return self.frame.labels.setdefault(name, self.flow.place())

    def _Switch(self, node: Any) -> None:
        to, where = self.expressions, where_of(node)
        value = to.arithmetic.promote(to.scalar(node.cond))
        if not isinstance(value.kind, Integer):
            raise to.error(f"{to.text(node.cond)} is not an integer", node)
        refuse_repeated(list(cases_of(node.stmt)), value.kind, to)
        after, text = self.flow.place(), to.text(node.cond)
        places: dict[int, str] = {}
        options: list[Branch] = []
        default = after
        for case in cases_of(node.stmt):
            places[id(case)] = self.flow.place()
            if form(case) == "Default":
                default = places[id(case)]
                continue
            guard = guard_of(case, value, to)
            options.append(Branch(places[id(case)], guard, (), f"{text} == {to.text(case.expr)}"))
        others = conjunction(*(negation(o.guard) for o in options))
        options.append(Branch(default, others, (), f"{text}: default"))
        self.flow.branch(options, where)
        self.flow.at = self.flow.place()
        self.frame.cases.append((places, self._position()))
        self.frame.breaks.append(after)
        self.statement(node.stmt)
        self.frame.breaks.pop()
        self.frame.cases.pop()
        self.flow.step(None, "skip", to=after)

    def _Case(self, node: Any) -> None:
        entry = next(((places[id(node)], start) for places, start in self.frame.cases if id(node) in places), None)
        if entry is None:
            raise self.expressions.error("a case outside of a switch", node)
        before, (place, start) = self.flow.at, entry
        self.flow.at = place
        self._forget_passed(self._position(), start, node)
        entered, self.flow.at = self.flow.at, before
        self.flow.step(None, "skip", to=entered)
        for part in node.stmts or ():
            self.statement(part)

    _Default = _Case

    # Declarations

    def _DeclList(self, node: Any) -> None:
        for part in node.decls:
            self.statement(part)

    def _Typedef(self, node: Any) -> None:
        kind = self.expressions.declarations.typedef_kind(node, self.expressions.scope)
        self.expressions.scope.names[node.name] = Typedef(kind)

    def _Decl(self, node: Any) -> None:
        to = self.expressions
        if form(node.type) == "FuncDecl":
            if to.scope.meaning(node.name) is None:
                to.scope.names[node.name] = to.declarations.signature(node, None, to.scope)
            return
        if node.name is None:
            to.declarations.kind_of(node, to.scope)
            return
        if "extern" in node.storage:
            to.scope.names[node.name] = self.globals.names[node.name]
            return
        if node.name in to.scope.names:
            raise to.error(f"{node.name} is declared twice in one block; write another name", node)
        if variable_length.has_variable_length(node, to) and "static" not in node.storage:
            self._array_of_variable_length(node)
            return
        kind = initial.kind_of(node, to)
        if isinstance(kind, Opaque):
            to.scope.names[node.name] = kind
            return
        if isinstance(kind, Pointer) and not self.is_computed(kind, self._key(node)):
            self._pointer(node, kind)
            return
        outermost = self.frame.outermost
        key = self._key(node)
        new = key not in self.declared
        qualifiers = {"volatile": "volatile" in node.quals, "constant": "const" in node.quals}
        if isinstance(kind, Pointer):  # the qualifiers are those of what it points to
            own = getattr(node.type, "quals", None) or ()
            qualifiers = {"volatile": "volatile" in own, "constant": "const" in own}
        place = self.variable(node.name, kind, key, **qualifiers)
        to.scope.names[node.name] = place
        if "static" in node.storage:
            self.lasting.add(id(place.object))
            to.accesses.levels[place.object] = 0
            if new:
                self.begin(place, node.init)
            return
        to.lifetimes.declare(place.object)
        if node.init is not None:
            if has_name(node.init, node.name):  # int x = x;
                self._unknown_value(place, node.name)
            self.flow.step(to.where, f"{to.text(node)}", *to.initial_updates(place, node.init))
        elif not (outermost and self.frame.straight and new and self._may_be_any(place)):
            self._unknown_value(place, node.name)

    def _key(self, node: Any) -> tuple[str, Any]:
        """The key of a variable of a block."""
        owner = "" if self.frame.outermost else self.calls.owner
        if "static" in getattr(
            node, "storage", ()
        ):  # one for all calls, also if the function that is read calls itself
            owner = "" if self.frame.function is self.frames[0].function else self.frame.function.name
        return owner, id(node)

    def _array_of_variable_length(self, node: Any) -> None:
        to, owner = self.expressions, "" if self.frame.outermost else self.calls.owner

        def length(number: int) -> Term:
            key = owner, id(node), number
            if key not in self.lengths:
                name = f"length of {node.name}" if number == 0 else f"length {number + 1} of {node.name}"
                self.lengths[key] = self.term(f"{owner}.{name}" if owner else name, kinds.LONG)
            return self.lengths[key]

        kind = variable_length.kind_of(node, to, length)
        qualifiers = {"volatile": "volatile" in node.quals, "constant": "const" in node.quals}
        place = self.variable(node.name, kind, (owner, (id(node), kind)), **qualifiers)
        to.scope.names[node.name] = place
        self.variable_length.add(place.object)
        to.lifetimes.declare(place.object)
        self._unknown_value(place, node.name)

    def _may_be_any(self, place: Lvalue) -> bool:
        """A variable of this type may hold every value of its term. The beginning of the run has chosen one then."""
        to = self.expressions
        return all(to.arithmetic.limits(p.kind, to.storage.read(p)).is_const for p in place.scalars())

    def _unknown_value(self, place: Lvalue, name: str) -> None:
        to = self.expressions
        updates = [to.storage.update(scalar, to.unknown(name, scalar.kind)) for scalar in place.scalars()]
        self.flow.step(self.expressions.where, f"{name} = any value", *updates)

    def _pointer(self, node: Any, kind: Pointer) -> None:
        to = self.expressions
        frame = self.frame
        if "restrict" in (getattr(node.type, "quals", None) or ()):
            raise to.error(f"{node.name}: restrict is supported on parameters only", node)
        key = self._key(node)
        if "static" in node.storage:
            raise pointers.ComputedPointer(to.error("a static pointer in a function is not supported", node), key)
        to.scope.names[node.name] = PointerVariable(node.name, kind, lambda: Lvalue(Object("", kind), kind), key=key)
        if node.init is not None:
            to.expect(node.init, kind)
        first = None if node.init is None else to.value(node.init)
        if pointers.is_null(first):
            first = None  # the null pointer: it points nowhere yet
        pointer = self.pointer(node.name, kind, key, frame.function.body, sure=first is not None)
        to.scope.names[node.name] = pointer
        if first is not None:
            to.assign(node, *pointers.bind(pointer, first, to.text(node), to, node))
        else:
            assert pointer.offset is not None
            self._unknown_value(pointer.offset, node.name)
