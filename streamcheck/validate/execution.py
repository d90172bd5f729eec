"""C functions executed on symbolic memory.

Statements change the memory. Both branches of an `if` are executed on copies, which are merged by its condition. The
bounds of loops must be constants. Calls of functions that the file defines are followed. Calls of others are handlers:
they are recorded in order, each with the condition under which it happens. A handler changes whatever it could: inputs
and objects that it gets by a pointer that is not to const hold any value afterwards.

The state may have pointers: to the user's object, which handlers get, and to a table of handlers. Each always points to
one object, which nothing reads. An initialisation sets them (`links`), and then they stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from streamcheck.c import initial, kinds, pointers
from streamcheck.c.arithmetic import CValue, Dialect, SideCondition
from streamcheck.c.declarations import (
    Address,
    CResult,
    Function,
    NameScope,
    Pointee,
    PointerVariable,
    Typedef,
    refuse_volatile,
)
from streamcheck.c.expressions import Evaluator
from streamcheck.c.kinds import AnyKind, Array, Floating, Integer, Opaque, Pointer, Struct
from streamcheck.c.lvalues import Lvalue, Object
from streamcheck.c.syntax import called_name, form, where_of
from streamcheck.c.terms import number, recast
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction, either, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable, variables
from streamcheck.core.types import MachineType, Type
from streamcheck.validate.dense import DenseMembers, dense_members, member_at
from streamcheck.validate.memory import Memory, scalars_of
from streamcheck.validate.memory_functions import MEMORY_FUNCTIONS
from streamcheck.validate.ring_walk import WORD, RingWalk, count_of, index_after, ring_walk
from streamcheck.validate.rounds import FEWEST, CountedLoop, LoopRounds, NotAlike, RoundMemory


@dataclass(frozen=True, slots=True)
class Demanded:
    """A condition that must hold on a path, else the C is undefined."""

    path: Term
    claim: Term
    why: str


@dataclass(frozen=True, slots=True)
class HandlerCall:
    name: str
    when: Term
    args: tuple[tuple[Term, ...], ...]


@dataclass(slots=True)
class CallFrame:
    """A call that is being executed, the condition that it happens, and what it has returned."""

    function: Function | None = None
    entered: Term = TRUE
    returned: Term = FALSE
    value: CValue | None = None


class Execution(Evaluator):
    """`settle` may replace a value by an equal term, `decide` a condition by its only truth value."""

    def __init__(
        self,
        nodes: list[Any],
        file: str,
        settle: Callable[[Term], Term] | None = None,
        decide: Callable[[Term], Term] | None = None,
    ) -> None:
        super().__init__(file, Dialect.PORTABLE)
        self.settle = settle or (lambda x: x)
        self.decide = decide or (lambda x: x)
        self.memory = Memory()
        self.frame = CallFrame()
        self.path = TRUE
        self.demands: list[Demanded] = []
        self.calls: list[HandlerCall] = []
        self.changing: list[Lvalue] = []  # inputs: any handler may change them
        self.links: dict[tuple[Object, str], Pointee] = {}  # what the pointers among the members of an object point to
        self.linking: Object | None = None  # the object whose pointers may be set
        self.user: Object | None = None  # what handlers get as `void *`
        self.table: Object | None = None  # a struct of pointers to handlers
        self.proves: Callable[[Term], bool] = lambda claim: claim is TRUE
        self.unknowns = 0
        self.acting: Any = None  # the assignment that is a statement of its own
        self.functions: dict[str, Function] = {}
        self.executed: set[str] = set()  # functions
        self.longest_loop = 0  # rounds
        self.checks_unreachable = True
        self.proved: dict[str, Callable[[Execution, list[CResult]], CValue | None]] = {}  # functions not to execute
        self.ring_lengths: dict[Term, int] = {}  # by the variable of the index
        self.objects: list[Any] = []  # declarations of objects at file scope
        self.dense: list[tuple[AnyKind, AnyKind, DenseMembers]] = []  # structs, kinds of members, checks
        self.standard = self.scope
        self.globals = self.scope = NameScope(self.standard)
        for node in nodes:
            self._declare(node)

    # Declarations at file scope (6.9)

    def _declare(self, node: Any) -> None:
        with self.at(node):
            shape = form(node)
            if shape == "Typedef":
                self._refuse_known(node)
                dense = dense_members(node)
                if dense is not None and "offsetof" not in self.globals.names:
                    struct, kind = (self.declarations.kind_of(t, self.scope) for t in (dense.struct, dense.kind))
                    self.dense.append((struct, kind, dense))
                    self.globals.names[node.name] = Typedef(kind)
                    return
                self.globals.names[node.name] = Typedef(self.declarations.kind_of(node, self.scope))
            elif shape == "FuncDef":
                self._declare_function(node.decl, node.body)
            elif shape == "Decl" and form(node.type) == "FuncDecl":
                self._declare_function(node, None)
            elif shape == "Decl" and node.name is None:
                self.declarations.kind_of(node, self.scope)
            elif shape == "Decl":
                self._refuse_known(node)
                refuse_volatile(node)
                self.objects.append(node)
            else:
                raise self.error(f"{shape} at file scope is not supported", node)

    def _refuse_known(self, node: Any) -> None:
        objects = [o.name for o in self.objects if "extern" not in o.storage]
        if self.globals.meaning(node.name) is not None or node.name in objects:
            raise self.error(f"{node.name} is declared twice", node)

    def _declare_function(self, decl: Any, body: Any) -> None:
        if decl.type.args is None:
            raise self.error(f"{decl.name} has no prototype", decl)
        function = self.declarations.signature(decl, body, self.scope)
        known = self.functions.get(decl.name)
        if (decl.funcspec and not function.static) or decl.storage not in ([], ["static"]):
            raise self.error(f"{decl.name} is {' '.join([*decl.funcspec, *decl.storage])}", decl)
        if known is not None and known.static != function.static:
            raise self.error(f"{decl.name} is static in one declaration only", decl)
        if known is not None and (known.result, [k for _, k in known.parameters]) != (
            function.result,
            [k for _, k in function.parameters],
        ):
            raise self.error(f"{decl.name} is declared with different types", decl)
        if known is not None and known.body is not None:
            if body is not None:
                raise self.error(f"{decl.name} is defined twice", decl)
            return
        self.functions[decl.name] = self.globals.names[decl.name] = function

    # What the evaluator asks for

    def oblige(self, condition: SideCondition, premise: Term, holds: Term) -> None:
        self._demand(conjunction(self.path, self.live(), premise), holds, condition)

    def _demand(self, path: Term, claim: Term, condition: SideCondition) -> None:
        if claim is not TRUE and path is not FALSE:
            self.demands.append(Demanded(path, claim, f"{condition.claim}, line {self.where.line}"))

    def read_scalar(self, lvalue: Lvalue) -> CValue:
        assert isinstance(lvalue.kind, Integer | Floating)
        return CValue(lvalue.kind, self.parts_of(lvalue)[0])

    def parts_of(self, operand: CValue | Address | Lvalue) -> list[Term]:
        """The scalars of a value. All must be determinate (6.2.6.1)."""
        if not isinstance(operand, Lvalue):
            return [operand.term]
        self._oblige(SideCondition.DETERMINATE, negation(self.memory.has_no_value(operand)))
        return self.memory.read(operand)

    def read(self, lvalue: Lvalue) -> CResult:
        if not isinstance(lvalue.kind, Pointer):
            return super().read(lvalue)
        link = self.links.get((lvalue.object, lvalue.fields[-1])) if len(lvalue.fields) == 1 else None
        if link is None:
            raise SpecError("a pointer whose target is not known", self.where)
        return replace(link, lvalue=replace(link.lvalue, constant=lvalue.kind.constant))

    def _link(self, lvalue: Lvalue, new: CResult, node: Any) -> None:
        """A member that is a pointer is set, once and on every path."""
        assert isinstance(lvalue.kind, Pointer)
        pointee, key = pointers.pointee_of(new, self, node), (lvalue.object, lvalue.fields[-1])
        if lvalue.object is not self.linking or lvalue.is_constant or len(lvalue.fields) != 1 or lvalue.indices:
            raise self.error(f"{self.text(node)}: a pointer that may not change", node)
        if self.path is not TRUE or self.live() is not TRUE or key in self.links:
            raise self.error(f"{self.text(node)}: a pointer that is not set once", node)
        if pointee.kind != lvalue.kind.target or (pointee.lvalue.constant and not lvalue.kind.constant):
            raise self.error(f"{self.text(node)}: the two sides have different types", node)
        self.links[key] = replace(pointee, lvalue=replace(pointee.lvalue, constant=False))

    def refuse_pointers(self, lvalue: Lvalue, node: Any) -> None:
        """A struct with pointers is not changed as a whole: what they point to is not among its values."""
        if isinstance(lvalue.kind, Struct) and any(isinstance(kind, Pointer) for _, kind in lvalue.kind.fields):
            raise self.error(f"{self.text(node)}: a struct with pointers", node)

    def assign(self, node: Any, *assignments: tuple[Lvalue, CResult]) -> None:
        if node is not self.acting:
            raise self.error(f"{self.text(node)}: a side effect in an expression", node)
        for lvalue, new in assignments:
            if isinstance(lvalue.kind, Pointer):
                self._link(lvalue, new, node)
                continue
            self.refuse_pointers(lvalue, node)
            self.refuse_constant(lvalue, node)
            values = self.parts_of(self.value_for(lvalue.kind, new, node))
            self.memory.write(lvalue, [self.settle(v) for v in values], self.live())

    def element(self, array: Lvalue, index: CValue) -> Lvalue:
        if self.memory.is_ring(array):
            return array.element(index.term)  # its slot is below the length
        return super().element(array, index)

    def value_assigned(self, lvalue: Lvalue) -> CResult:
        return None

    def temporary(self, kind: Integer | Floating | Pointer) -> Lvalue:
        raise SpecError("a side effect in an expression", self.where)

    def result_kind(self, node: Any) -> AnyKind:
        return self._function(node).result

    def call(self, node: Any) -> CResult:
        """A call whose value is used: of a function that changes only objects of its own."""
        frozen, self.memory.frozen = self.memory.frozen, len(self.memory.numbers)
        try:
            value = self._call(node)
        finally:
            self.memory.frozen = frozen
        if value is None:
            raise self.error(f"{self.text(node)} has no value", node)
        return value

    # State of the execution

    def live(self) -> Term:
        """The condition that the function was called and has not returned yet."""
        return conjunction(self.frame.entered, negation(self.frame.returned))

    def unknown(self, type: Type) -> Term:
        self.unknowns += 1
        return variable(f"any value {self.unknowns}", type)

    def unknowns_of(self, kind: AnyKind) -> list[Term]:
        return [self.unknown(t) for t in self.types_of(kind)]

    def types_of(self, kind: AnyKind) -> list[Type]:
        return [self.arithmetic.type_of(k) for _, k in scalars_of(kind)]

    # Calls (6.5.2.2)

    def run(self, name: str, arguments: list[CResult]) -> CValue | None:
        """Executes a function of the file."""
        function = self.functions.get(name)
        if function is None or function.body is None or function.static:
            raise SpecError(f"{name} is not defined for other files")
        return self.execute(function, arguments, function.body)

    def _function(self, node: Any) -> Function:
        if form(node.name) == "StructRef":
            return self._table_entry(node.name)
        meaning = self.scope.meaning(called_name(node))
        if not isinstance(meaning, Function):
            raise self.error(f"{self.text(node)}: a call of something unknown", node)
        return meaning

    def _table_entry(self, node: Any) -> Function:
        """A handler of the table."""
        entry = self.lvalue(node)
        if not isinstance(entry, Lvalue) or entry.object is not self.table or not isinstance(entry.kind, Opaque):
            raise self.error(f"{self.text(node)}: a call of something unknown", node)
        if entry.kind.signature is None or len(entry.fields) != 1 or entry.indices:
            raise self.error(f"{self.text(node)} is not a handler", node)
        result, parameters = entry.kind.signature
        return Function(entry.fields[0], result, parameters, None, where_of(node))

    def _call(self, node: Any) -> CValue | None:
        arguments = list(node.args.exprs) if node.args is not None else []
        name = called_name(node)
        if name in MEMORY_FUNCTIONS and self.scope.meaning(name) is None:
            MEMORY_FUNCTIONS[name](self, node, arguments)
            return None
        function = self._function(node)
        if function.name in self.proved:
            if isinstance(self.memory, RoundMemory):
                raise NotAlike  # it notes that it is called
            return self.proved[function.name](self, [self.value(a) for a in arguments])
        if function.body is not None:
            return self.execute(function, [self.value(a) for a in arguments], node)
        self._call_handler(function, arguments, node)
        return None

    def execute(self, function: Function, arguments: list[CResult], node: Any) -> CValue | None:
        if len(function.parameters) != len(arguments):
            raise self.error(f"{function.name} called with {len(arguments)} arguments", node)
        self.executed.add(function.name)
        before = self.frame, self.scope, self.premises
        entered = conjunction(self.live(), *self.premises)
        scope = NameScope(self.globals)
        for (name, kind), value in zip(function.parameters, arguments, strict=True):
            scope.names[name] = self._parameter(name, kind, value, node)
        self.frame, self.scope, self.premises = CallFrame(function, entered), scope, []
        try:
            self._statements(function.body.block_items or [])  # in the scope of the parameters (6.2.1)
            if function.result != kinds.VOID:  # 6.9.1
                self._demand(conjunction(self.path, entered), self.frame.returned, SideCondition.RETURN)
            value = self.frame.value
            return None if value is None else CValue(value.kind, self.settle(value.term))
        finally:
            self.frame, self.scope, self.premises = before

    def _parameter(self, name: str, kind: AnyKind, value: CResult, node: Any) -> Lvalue | PointerVariable:
        if isinstance(kind, Pointer):
            pointer = PointerVariable(name, kind, self._moving_pointer)
            pointers.bind(pointer, value, name, self, node)
            return pointer
        return self.memory.add(kind, name, self.parts_of(self.value_for(kind, value, node)))

    def _moving_pointer(self) -> Lvalue:
        raise SpecError("a pointer to an element that is not known", self.where)

    def _UnaryOp(self, node: Any) -> CResult:
        if node.op == "*" and form(node.expr) == "Cast" and form(node.expr.expr) == "BinaryOp":
            return self.read(member_at(self, node.expr))
        return super()._UnaryOp(node)

    def require_alive(self, target: Lvalue) -> None:
        """Nobody knows where the user's pointer points, not even if it is null: it is passed on and no more."""
        if self.user is not None and target.object is self.user:
            raise SpecError("the user's pointer is only passed on", self.where)

    def whole(self, value: CResult, node: Any) -> Lvalue:
        """The object that a pointer points to: an array as a whole."""
        if isinstance(value, Lvalue) and isinstance(value.kind, Array):
            return value
        return pointers.dereference(value, self, node)

    def _call_handler(self, function: Function, arguments: list[Any], node: Any) -> None:
        if self.memory.frozen:
            raise self.error(f"a call of {function.name} inside an expression", node)
        if function.static or function.result != kinds.VOID:
            raise self.error(f"{function.name} is not a handler", node)
        if len(function.parameters) != len(arguments):
            raise self.error(f"{function.name} called with {len(arguments)} arguments", node)
        if self.user is not None and not arguments:
            raise self.error(f"{function.name} does not get the user's pointer", node)
        given: list[tuple[Term, ...]] = []
        written: list[Lvalue] = []
        for i, ((_, kind), argument) in enumerate(zip(function.parameters, arguments, strict=True)):
            value = self.value(argument)
            if i == 0 and self.user is not None:
                if not isinstance(value, Pointee) or value != Pointee(Lvalue(self.user, kinds.VOID)):
                    raise self.error(f"{self.text(argument)} is not what {function.name} gets first", argument)
            elif isinstance(kind, Pointer):
                if pointers.pointee_of(value, self, argument).kind != kind.target:
                    raise self.error(f"{self.text(argument)}: {function.name} takes a {kind}", argument)
                lvalue = self.whole(value, argument)
                given.append(tuple(self.parts_of(lvalue)))
                if not kind.constant:
                    self.refuse_constant(lvalue, argument)
                    written.append(lvalue)
            elif isinstance(value, CValue):
                given.append((self.settle(self.arithmetic.convert(value, kind).term),))
            else:
                raise self.error(f"{self.text(argument)} is not a number", argument)
        self.calls.append(HandlerCall(function.name, conjunction(self.path, self.live()), tuple(given)))
        for lvalue in [*written, *self.changing]:
            self.memory.write(lvalue, self.unknowns_of(lvalue.kind), self.live())

    # Statements (6.8)

    def statement(self, node: Any) -> None:
        execute = getattr(self, f"_execute_{form(node)}", None)
        with self.at(node):
            if execute is not None:
                execute(node)
            else:
                self._effect(node)

    def _execute_Compound(self, node: Any) -> None:
        outer, self.scope = self.scope, NameScope(self.scope)
        self._statements(node.block_items or [])
        self.scope = outer

    def _statements(self, items: list[Any]) -> None:
        at = 0
        while at < len(items):
            walk = ring_walk(*items[at : at + 2]) if len(items) > at + 1 else None
            if walk is not None and not self.scalar(walk.at).term.is_const:
                with self.at(items[at]):
                    self._walk_ring(walk)
                at += 2
            else:
                self.statement(items[at])
                at += 1

    def _walk_ring(self, walk: RingWalk) -> None:
        """Two loops as one over the distances from the index of a ring."""
        start, length = self.scalar(walk.at).term, self.constant(walk.length)
        index = next((var for var in variables([start]) if self.ring_lengths.get(var) == length), None)
        kind = self.declarations.kind_of(walk.counter, self.scope)
        is_word = isinstance(start.type, MachineType) and start.type.width <= 32
        if index is None or variables([start]) != [index] or kind != kinds.UINT or not is_word:
            raise self.error("a loop whose bound is not a constant", walk.body)
        self._demand(conjunction(self.path, self.live()), term("eq", recast(start, WORD), index), SideCondition.INDEX)
        places = [index_after(index, distance, length) for distance in range(length)]
        count = CountedLoop(
            walk.counter, places, lambda k: term("le", k, constant(WORD, length - 1)), walk.body, walk.at
        )
        if length >= FEWEST and LoopRounds(self, count).are_done():
            return
        outer = self.scope
        for counted in places:
            self.scope = NameScope(outer)
            counter = self.scope.names[walk.counter.name] = self.memory.add(kind, walk.counter.name, [counted])
            self.statement(walk.body)
            if self.memory.read(counter) != [counted] or self.scalar(walk.at).term is not start:
                raise self.error("a loop that changes its counter or its bound", walk.body)
        self.scope = outer

    def _execute_EmptyStatement(self, node: Any) -> None:
        pass

    def _execute_Decl(self, node: Any) -> None:
        if node.storage and (node.storage != ["static"] or "const" not in node.quals):
            raise self.error(f"{node.name} outlives its block", node)
        refuse_volatile(node)
        if node.name in self.scope.names:
            raise self.error(f"{node.name} is declared twice", node)
        kind = initial.kind_of(node, self)
        values = self.unknowns_of(kind) if node.init is None else self._values_of(kind, node.init)
        made = self.memory.add(kind, node.name, [self.settle(v) for v in values], constant="const" in node.quals)
        if node.init is None:
            self.memory.indeterminate |= {(made.object, i): TRUE for i in range(len(values))}
        self.scope.names[node.name] = made

    def _values_of(self, kind: AnyKind, node: Any) -> list[Term]:
        """The scalars of the initialiser of a variable of a block. One that is a call as a whole is nothing else of the
        statement, so the function may change objects."""
        if form(node) != "FuncCall" or isinstance(kind, Array):
            return self.initial_values(kind, node)
        name = called_name(node)
        if not isinstance(self.scope.meaning(name), Function) or self.is_library_function(name):
            return self.initial_values(kind, node)
        value = self._call(node)
        if value is None:
            raise self.error(f"{self.text(node)} has no value", node)
        return self.parts_of(self.value_for(kind, value, node))

    def initial_values(self, kind: AnyKind, node: Any) -> list[Term]:
        """The scalars of an initialiser (6.7.8). What a list in braces leaves out is zero."""
        if form(node) != "InitList" and not isinstance(kind, Array):
            return self.parts_of(self.value_for(kind, self.value(node), node))
        values = initial.scalar_values(kind, node, self)
        parts = []
        for path, inner in scalars_of(kind):
            if path in values:
                parts.append(self.arithmetic.convert(self.scalar(values[path]), inner).term)
            else:
                parts.append(number(self.arithmetic.type_of(inner), 0))
        return parts

    def _execute_If(self, node: Any) -> None:
        condition = self.decide(self.truth(node.cond))
        if condition.is_const:
            chosen, other = (node.iftrue, node.iffalse) if condition is TRUE else (node.iffalse, node.iftrue)
            if chosen is not None:
                self.statement(chosen)
            if other is not None:
                self._check_unreachable(other)
            return
        memory, frame, path = self.memory, self.frame, self.path
        before = dict(memory.parts), dict(memory.indeterminate), frame.returned, frame.value
        self.path = conjunction(path, condition)
        self.statement(node.iftrue)
        parts, indeterminate, returned, value = memory.parts, memory.indeterminate, frame.returned, frame.value
        memory.parts, memory.indeterminate, frame.returned, frame.value = before
        self.path = conjunction(path, negation(condition))
        if node.iffalse is not None:
            self.statement(node.iffalse)
        self.path = path
        memory.merge(condition, parts, indeterminate)
        frame.returned = either(condition, returned, frame.returned)
        frame.value = _either_value(condition, value, frame.value)

    def _check_unreachable(self, node: Any) -> None:
        """Execute a statement that is never reached, for its errors only: a compiler reads it too."""
        if not self.checks_unreachable:
            return
        memory, frame, path, settle, calls = self.memory, self.frame, self.path, self.settle, len(self.calls)
        before = dict(memory.parts), dict(memory.indeterminate), frame.returned, frame.value
        self.path, self.settle = FALSE, lambda x: x
        self.statement(node)
        memory.parts, memory.indeterminate, frame.returned, frame.value = before
        self.path, self.settle = path, settle
        del self.calls[calls:]

    def _execute_Return(self, node: Any) -> None:
        frame, live = self.frame, self.live()
        assert frame.function is not None
        if (frame.function.result == kinds.VOID) != (node.expr is None):
            raise self.error("a return that does not fit its function", node)
        if node.expr is not None:
            value = self.arithmetic.convert(self.scalar(node.expr), frame.function.result)
            frame.value = _either_value(live, value, frame.value)
        frame.returned = TRUE

    def _execute_For(self, node: Any) -> None:
        rounds = self._counted_loop(node)
        if rounds is not None and LoopRounds(self, rounds).are_done():
            return
        outer, self.scope = self.scope, NameScope(self.scope)
        if form(node.init) != "DeclList" or node.cond is None or node.next is None:
            raise self.error("a loop of this form is not supported", node)
        for declaration in node.init.decls:
            self.statement(declaration)
        for _ in range(self.longest_loop + 1):
            condition = self.truth(node.cond)
            if not condition.is_const:
                raise self.error("a loop whose bound is not a constant", node)
            if condition is FALSE:
                break
            self.statement(node.stmt)
            self._effect(node.next)
        else:
            raise self.error(f"a loop of more than {self.longest_loop} rounds", node)
        self.scope = outer

    def _counted_loop(self, node: Any) -> CountedLoop | None:
        """The rounds of `for (uint32_t i = first; i < last; i++)`, if there are enough of them."""
        counted = count_of(node)
        if counted is None or any(form(limit) != "Constant" for limit in (counted[0].init, counted[1])):
            return None
        counter, bound, body = counted
        first, last = self.constant(counter.init), self.constant(bound)
        if (
            not FEWEST <= last - first <= self.longest_loop
            or self.declarations.kind_of(counter, self.scope) != kinds.UINT
        ):
            return None
        numbers = [constant(WORD, i) for i in range(first, last)]
        return CountedLoop(counter, numbers, lambda i: term("le", i, numbers[-1]), body, bound)

    def _effect(self, node: Any) -> None:
        """An expression statement (6.8.3)."""
        before, self.acting = self.acting, node
        match form(node):
            case "Assignment":
                self.value(node)
            case "UnaryOp" if node.op in ("p++", "p--", "++", "--"):
                self.step(node, keep=False)
            case "FuncCall":
                self._call(node)
            case "Cast" if self.declarations.kind_of(node.to_type, self.scope) == kinds.VOID:
                if form(node.expr) == "FuncCall":
                    self._call(node.expr)
                else:
                    self.value(node.expr)
            case shape:
                raise self.error(f"a statement of this form ({shape}) is not supported", node)
        self.acting = before


def _either_value(condition: Term, a: CValue | None, b: CValue | None) -> CValue | None:
    if a is None or b is None:
        return b if a is None else a
    return CValue(a.kind, either(condition, a.term, b.term))
