"""Expressions whose side effects are edges of the automaton, left to right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, assert_never

from streamcheck.c import effects, kinds, pointers, static
from streamcheck.c.arithmetic import EXACT_FUNCTIONS, CValue, Dialect, SideCondition
from streamcheck.c.declarations import Address, CResult, Pointee, PointerVariable, Updated
from streamcheck.c.expressions import Evaluator
from streamcheck.c.initial import PartPath, kind_at, scalar_values
from streamcheck.c.kinds import AnyKind, Array, Floating, Integer, Pointer, Struct
from streamcheck.c.lvalues import Lvalue, Object, leaves
from streamcheck.c.models import LP64, DataModel
from streamcheck.c.syntax import form, is_first_or_second
from streamcheck.core.errors import SpecError
from streamcheck.core.simplify import conjunction, disjunction, negation, simple_term
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, uniform, variable
from streamcheck.core.types import BOOL, ArrayType, FloatType, Type, default, machine
from streamcheck.frontends.minic.addresses import Addresses, MemoryPlan
from streamcheck.frontends.minic.endings import ORDER, FlowMark, UnorderedOperand
from streamcheck.frontends.minic.flow import Branch, Flow
from streamcheck.frontends.minic.library_calls import model_for, value_of_model
from streamcheck.frontends.minic.lifetimes import Lifetimes
from streamcheck.frontends.minic.order import Access, Accesses, Unordered, same_place
from streamcheck.frontends.minic.storage import Storage, Update
from streamcheck.frontends.minic.unions import representation, union_part, with_part

if TYPE_CHECKING:
    from streamcheck.frontends.minic.calls import Calls


class Expressions(Evaluator):
    def __init__(
        self, flow: Flow, *, mathematical: bool, model: DataModel = LP64, plan: MemoryPlan | None = None
    ) -> None:
        self.flow = flow
        super().__init__(flow.file, Dialect.MATHEMATICAL if mathematical else Dialect.COMPILED, model)
        self.storage = Storage(self.arithmetic)
        self.storage.moving = flow.moving
        self.accesses = Accesses()
        self.branches = 0  # of conditional expressions with effects that are being evaluated
        self.lifetimes = Lifetimes(flow, self.storage)
        self.memory_plan = MemoryPlan() if plan is None else plan
        self.numbers = Addresses(self, self.memory_plan)
        self.addresses = self.numbers
        self.storage.resolve, self.storage.bits_of = self.numbers.resolve, self.bits_of
        self.temporaries: set[Object] = set()  # the values of calls
        self.expected: tuple[Any, AnyKind] | None = None  # an operand, and what it will be a pointer to
        self.calls: Calls

    # Callbacks of the evaluator

    def oblige(self, condition: SideCondition, premise: Term, holds: Term) -> None:
        self.flow.oblige(condition, premise, holds, self.where)

    def read_scalar(self, lvalue: Lvalue) -> CValue | Address:
        assert isinstance(lvalue.kind, Integer | Floating | Pointer)
        self.note(lvalue, writes=False)
        value = self.unknown(lvalue.object.name, lvalue.kind) if lvalue.object.volatile else self.storage.read(lvalue)
        return Address(lvalue.kind, value) if isinstance(lvalue.kind, Pointer) else CValue(lvalue.kind, value)

    def require_alive(self, target: Lvalue) -> None:
        if target.object in self.lifetimes.dead:
            self.arithmetic.oblige(SideCondition.ALIVE, FALSE)

    def note_target(self, pointer: PointerVariable, target: Lvalue) -> None:
        if target.object in self.temporaries:
            raise SpecError(f"{pointer.name} points into a value that ends here; write a variable for it", self.where)
        self.lifetimes.bind(pointer, target.object)

    def assign(self, node: Any, *assignments: tuple[Lvalue, CResult]) -> None:
        """Make all assignments on one edge."""
        accesses, edges = self.accesses, len(self.flow.edges)
        for lvalue, _ in assignments if accesses.starts else ():
            resolved = self.numbers.resolve(lvalue) if self.numbers.has(lvalue) else ((TRUE, lvalue),)
            for holds, place in resolved:
                now = Access(place, True, accesses.depth, 0, edges, True, self.in_branches, holds)
                any(self._require_order(accesses.starts[-1], access, now) for access in accesses.pending_writes(place))
        self.store(node, self.text(node), *assignments)

    def store(self, node: Any, text: str, *assignments: tuple[Lvalue, CResult]) -> None:
        for lvalue, _ in assignments:
            self.refuse_constant(lvalue, node)
            self.numbers.require_still(lvalue)
        self.flow.step(self.where, text, *(u for to, new in assignments for u in self.updates(to, new, node)))
        for lvalue, _ in assignments:
            self.note(lvalue, writes=True)

    def refuse_constant(self, lvalue: Lvalue, node: Any) -> None:
        super().refuse_constant(lvalue, node)
        if self.numbers.has(lvalue):
            self.arithmetic.oblige(SideCondition.TARGET, negation(self.numbers.changes_constant(lvalue)))

    def updates(self, lvalue: Lvalue, new: CResult, node: Any) -> list[Update]:
        value = self.value_for(lvalue.kind, new, node)
        if isinstance(value, CValue | Address):
            return self.storage.updates([(lvalue, value.term)])
        pairs = zip(lvalue.scalars(), value.scalars(), strict=True)
        return self.storage.updates((to, self.storage.read(source)) for to, source in pairs)

    def value_assigned(self, lvalue: Lvalue) -> CResult:
        """The value just assigned, even if the variable is volatile."""
        if isinstance(lvalue.kind, Integer | Floating):
            return CValue(lvalue.kind, self.storage.read(lvalue))
        return Address(lvalue.kind, self.storage.read(lvalue)) if isinstance(lvalue.kind, Pointer) else lvalue

    def temporary(self, kind: Integer | Floating | Pointer) -> Lvalue:
        return self.storage.add(kind, "value", lambda *_: self.flow.temporary(self.type_of(kind), self.where))

    def type_of(self, kind: AnyKind) -> Type:
        return self.arithmetic.type_of(kind)

    def call(self, node: Any) -> CResult:
        if self._caller is None:
            return self.calls.call(node)
        arguments = [self.scalar(a) for a in node.args.exprs]  # in a model: of another model
        model = model_for(node.name.name, [a.kind for a in arguments], self.model)
        assert model is not None
        return value_of_model(model, model.name, arguments, node, self)

    def result_kind(self, node: Any) -> AnyKind:
        return self.calls.result_kind(node)

    def is_library_function(self, name: str) -> bool:
        """True if a term expresses the function, and the file does not declare it."""
        known = name in EXACT_FUNCTIONS or name.removesuffix("f") in EXACT_FUNCTIONS
        return known and not self.arithmetic.mathematical and self.scope.meaning(name) is None

    def unknown(self, name: str, kind: AnyKind) -> Term:
        """A variable for any value of the kind."""
        type = self.type_of(kind)
        return self.flow.choose(name, type, self.where, self.arithmetic.limits(kind, variable("?", type)))

    def bits_of(self, value: Term) -> Term:
        """The bits as which a float is stored. Those of a NaN are any that a NaN has."""
        assert isinstance(value.type, FloatType)
        word = machine(value.type.width, signed=False)
        limits = simple_term("same", term("float_of_bits", variable("?", word)), value)
        return representation(value) or self.flow.choose("bits of a float", word, self.where, limits)

    # Order

    def after(self, node: Any, first: CResult, following: Any) -> Callable[[], CResult]:
        """Returns `first`, the operand of `node`, once `following` has been evaluated."""
        if effects.level(following, self.scope) < effects.ACTS:
            return lambda: first
        terms, numbers = pointers.terms_of(first), self._numbers_in(first)
        held = self.flow.hold(
            terms, [i in numbers for i in range(len(terms))], self.where, f"value = {self.text(node)}"
        )

        def release() -> CResult:
            values = held.release()
            for i in numbers:
                if values[i] is not terms[i]:
                    self.storage.add_cell(values[i])
            return pointers.with_terms(first, values)

        return release

    def _numbers_in(self, operand: CResult) -> list[int]:
        """Which of the terms of an operand are pointers: they go with what they point to."""
        match operand:
            case Address():
                return [0]
            case Lvalue() if self.numbers.has(operand):
                return [0]
            case Pointee():
                return self._numbers_in(operand.lvalue)
            case Updated():
                count = len(pointers.terms_of(operand.lvalue))
                return [*self._numbers_in(operand.lvalue), *(count + i for i in self._numbers_in(operand.before))]
            case Lvalue() | CValue() | None:
                return []
        assert_never(operand)

    def in_order(
        self, node: Any, first: Callable[[], CResult], following: Any, second: Callable[[], CResult]
    ) -> tuple[CResult, CResult]:
        """The values of both operands, evaluated left to right. C leaves the order open: a claim if it matters."""
        start, beginning = self.begin(node, following), self.flow.endings.now()
        a = first()
        middle = self.accesses.mark()
        before = self.operand(start, (), node, beginning)
        kept = self.after(node, a, following)
        now = self.flow.endings.now()
        b = second()
        if isinstance(b, Lvalue) and isinstance(b.kind, Struct):
            self.note(b, writes=False)
        self.require_order(start, middle)
        self.operand(start, (before,), following, now)
        return kept(), b

    def operand(
        self, start: Unordered, before: Sequence[UnorderedOperand], node: Any, since: FlowMark
    ) -> UnorderedOperand:
        """An operand that has just been evaluated, after others. C leaves the order open: a claim if it matters."""
        operand = UnorderedOperand(node, since, self.flow.endings.now())
        if start.gate is not None and before:
            self.flow.endings.require_order(start.gate, before, operand, self.where)
        return operand

    def limit(self, what: str, reason: str, holds: Term) -> None:
        """The end of what is modelled, for runs in which a condition does not hold."""
        premise = conjunction(*self.premises)
        if holds is not TRUE and premise is not FALSE:
            self.flow.limit(what, reason, premise, holds, self.where)

    def begin(self, *operands: Any) -> Unordered:
        """The beginning of operands whose order C leaves open. If it matters, the model may end there."""
        acts = any(effects.level(operand, self.scope) == effects.ACTS for operand in operands)
        return Unordered(self.accesses.mark(), self.flow.gate() if acts else None, self.in_branches)

    @property
    def in_branches(self) -> int:
        return len(self.premises) + self.branches

    def note(self, lvalue: Lvalue, *, writes: bool, depth: int = 0) -> None:
        """Records an access. `depth`: 1 if a function of the library makes it."""
        edges, branches = len(self.flow.edges), self.in_branches
        if not self.numbers.has(lvalue):
            self.accesses.note(lvalue, edges, branches, writes=writes, depth=depth)
            return
        for holds, place in self.numbers.resolve(lvalue):
            self.accesses.note(place, edges, branches, writes=writes, depth=depth, holds=holds)

    def require_order(self, start: Unordered, middle: int) -> None:
        """Claims that what is accessed between the start and the middle, and after it, needs no order."""
        for a, b in self.accesses.conflicts(start.mark, middle):
            if self._require_order(start, a, b):
                return

    def _require_order(self, start: Unordered, a: Access, b: Access) -> bool:
        """Claims that two accesses are to different parts. True if they never are."""
        same = same_place(a.lvalue, b.lvalue, self.arithmetic)
        apart = negation(conjunction(a.holds, b.holds, same))
        if apart is TRUE:
            return False
        known = all(self.flow.is_current(i, x.edges) for x in (a, b) for i in (*x.lvalue.indices, x.holds))
        name = a.name if len(a.name) >= len(b.name) else b.name
        if known and a.depth == b.depth == self.accesses.depth:
            self.flow.warn(f"{name} is changed and used in no order that C defines; write two statements", self.where)
            if max(a.branches, b.branches) > start.branches:  # a run that does not take the branch goes on
                apart = disjunction(apart, self.flow.choose("another branch", BOOL, self.where))
            self.arithmetic.oblige(SideCondition.ORDER, apart)
            return apart is FALSE
        assert start.gate is not None
        reason = f"C leaves open whether {name} is changed before or after it is used; write two statements"
        self.flow.close(start.gate, ORDER, reason, self.where)
        return True

    def _Assignment(self, node: Any) -> CResult:
        self.accesses.starts.append(self.begin(node.lvalue, node.rvalue))
        value = super()._Assignment(node)
        self.accesses.starts.pop()
        return value

    def step(self, node: Any, *, keep: bool) -> CResult:
        self.accesses.starts.append(self.begin(node.expr))
        value = super().step(node, keep=keep)
        self.accesses.starts.pop()
        return value

    def refuse_two_changes(self, node: Any) -> None:
        """They are claims here."""

    # Effects

    def effect(self, node: Any, *, returned: bool = False) -> None:
        """An expression whose value is not used here. `returned`: it is the result of the function that is read."""
        where, shape = self.place_of(node), form(node)
        if shape == "Cast" and self.declarations.kind_of(node.to_type, self.scope) == kinds.VOID:
            self.effect(node.expr)
        elif shape == "UnaryOp" and node.op in ("p++", "p--", "++", "--"):
            with self.at(node):
                self.step(node, keep=False)
        elif shape == "ExprList":
            for part in node.exprs:
                self.effect(part)
        elif shape == "TernaryOp" and effects.level(node, self.scope) and not is_first_or_second(node):
            yes, no, join = (self.flow.place() for _ in range(3))
            self.condition(node.cond, yes, no)
            for place, part in ((yes, node.iftrue), (no, node.iffalse)):
                self.flow.at = place
                self.effect(part, returned=returned)
                self.flow.step(where, "skip", to=join)
        else:
            self.calls.unused = None if returned else node
            self.value(node)
            self.flow.settle(where, self.text(node))

    def condition(self, node: Any, yes: str, no: str) -> None:
        """Edges to one place if the condition holds, else to the other."""
        shape, where = form(node), self.place_of(node)
        if shape == "UnaryOp" and node.op == "!" and effects.level(node, self.scope) == effects.ACTS:
            self.condition(node.expr, no, yes)
        elif shape == "BinaryOp" and node.op in ("&&", "||") and effects.level(node.right, self.scope):
            middle, start = self.flow.place(), self.accesses.mark()
            self.condition(node.left, *((middle, no) if node.op == "&&" else (yes, middle)))
            self.accesses.settle(start)
            self.flow.at = middle
            self.branches += 1
            self.condition(node.right, yes, no)
            self.branches -= 1
        else:
            with self.at(node):
                holds = self.truth(node)
            text = self.text(node)
            opposite = text[1:] if shape == "UnaryOp" and node.op == "!" else f"!({text})"
            self.flow.branch([Branch(yes, holds, (), text), Branch(no, negation(holds), (), opposite)], where)

    def logical_expression(self, node: Any) -> CValue:
        """The value of `&&` or `||`, in a temporary variable if the right side has effects."""
        if not effects.level(node.right, self.scope):
            start = self.accesses.mark()
            both = super().logical_expression(node)
            self.accesses.settle(start)
            return both
        yes, no, join = (self.flow.place() for _ in range(3))
        result = self.flow.temporary(BOOL, self.where)
        text = self.text(node)
        self.condition(node, yes, no)
        for place, value in ((yes, TRUE), (no, FALSE)):
            self.flow.at = place
            self.flow.step(self.where, text if value is TRUE else f"!({text})", (result, value), to=join)
        return self.arithmetic.of_truth(result)

    def conditional_expression(self, node: Any) -> CValue | Address:
        """The value of `?:`, in a temporary variable if a branch has effects."""
        start = self.accesses.mark()
        if not any(effects.level(part, self.scope) for part in (node.iftrue, node.iffalse)):
            value = super().conditional_expression(node)
            self.accesses.settle(start)
            return value
        kind = static.kind_of(self, node)
        kind = Pointer(kind.element) if isinstance(kind, Array) else kind
        if not isinstance(kind, Integer | Floating | Pointer):
            raise self.error(f"{self.text(node)} is not a number; write if … else", node)
        yes, no, join = (self.flow.place() for _ in range(3))
        result = self.storage.read(self.temporary(kind))
        self.condition(node.cond, yes, no)
        self.accesses.settle(start)
        for place, part in ((yes, node.iftrue), (no, node.iffalse)):
            self.flow.at = place
            self.branches += 1
            if isinstance(kind, Pointer):
                new = self.numbers.of(self.value(part), node, kind).term
            else:
                new = self.arithmetic.convert(self.scalar(part), kind).term
            self.branches -= 1
            self.flow.step(self.where, f"value = {self.text(part)}", (result, new), to=join)
        return Address(kind, result) if isinstance(kind, Pointer) else CValue(kind, result)

    def first_or_second(self, node: Any) -> CValue:
        """The value of `a ?: b`, in a temporary variable if b has effects."""
        start = self.accesses.mark()
        if not effects.level(node.iffalse, self.scope):
            value = super().first_or_second(node)
            self.accesses.settle(start)
            return value
        first, second = (static.kind_of(self, part) for part in (node.cond, node.iffalse))
        if not isinstance(first, Integer | Floating) or not isinstance(second, Integer | Floating):
            raise self.error(f"{self.text(node)} is not a number; write if … else", node)
        kind = self.model.common(first, second)
        kept = self.temporary(first)
        self.flow.step(self.where, self.text(node.cond), *self.updates(kept, self.value(node.cond), node))
        self.accesses.settle(start)
        known = CValue(first, self.storage.read(kept))
        result = self.flow.temporary(self.type_of(kind), self.where)
        yes, no, join = (self.flow.place() for _ in range(3))
        holds = self.arithmetic.truth(known)
        text = self.text(node.cond)
        self.flow.branch([Branch(yes, holds, (), text), Branch(no, negation(holds), (), f"!({text})")], self.where)
        for place in (yes, no):
            self.flow.at = place
            self.branches += 1
            chosen = known if place is yes else self.scalar(node.iffalse)
            self.branches -= 1
            update = result, self.arithmetic.convert(chosen, kind).term
            self.flow.step(self.where, f"value = {self.text(node)}", update, to=join)
        return CValue(kind, result)

    def _Compound(self, node: Any) -> CResult:
        """({ … }), with the value of its last expression."""
        unused = self.calls.unused is node
        start = self.accesses.mark()
        self.accesses.depth += 1  # what it reads and writes is in an order of its own, as in a call
        value = self.calls.statements.in_expression(node, unused=unused)
        self.accesses.settle(start)
        self.accesses.depth -= 1
        return value

    def _ExprList(self, node: Any) -> CResult:
        start = self.accesses.mark()
        for part in node.exprs[:-1]:
            self.effect(part)
        self.accesses.settle(start)
        return self.value(node.exprs[-1])

    def _Cast(self, node: Any) -> CResult:
        kind = self.declarations.kind_of(node.to_type, self.scope)
        self.expect(node.expr, kind)
        return super()._Cast(node)

    def _target(self, node: Any) -> CResult:
        target = super()._target(node)
        if isinstance(target, Lvalue):
            self.expect(node.rvalue, target.kind)
        return target

    def expect(self, node: Any, kind: AnyKind) -> None:
        """The value of the node will be converted to the kind."""
        if isinstance(kind, Pointer) and form(node) == "FuncCall":
            self.expected = node, kind.target

    def _CompoundLiteral(self, node: Any) -> CResult:
        return self.read(self.calls.statements.compound_literal(node))

    def lvalue(self, node: Any) -> Lvalue | PointerVariable:
        if form(node) == "CompoundLiteral":
            with self.at(node):
                return self.calls.statements.compound_literal(node)
        return super().lvalue(node)

    def _Constant(self, node: Any) -> CResult:
        return self.calls.statements.literal(node) if node.type == "string" else super()._Constant(node)

    # Initialisers

    def initial_updates(self, lvalue: Lvalue, node: Any) -> list[Update]:
        """The updates of an initialiser. Without one, everything is zero."""
        if node is not None and form(node) != "InitList" and not isinstance(lvalue.kind, Array):
            self.expect(node, lvalue.kind)
            return self.updates(lvalue, self.value(node), node)
        values: dict[PartPath, Term] = {}
        for path, part in scalar_values(lvalue.kind, node, self).items() if node is not None else ():
            kind = kind_at(lvalue.kind, path)
            if isinstance(kind, Pointer):
                value = self.value_for(kind, self._unordered_value(part), part)
                assert isinstance(value, Address)
                values[path] = value.term
                continue
            number = self.arithmetic.number(self.model.INT, part) if isinstance(part, int) else self._number(part)
            values[path] = self.arithmetic.convert(number, kind).term
        parts = self.storage.parts[lvalue.object]
        return [
            (parts[fields], self._assemble(self.type_of(leaf), (), fields, lvalue.kind, values))
            for fields, leaf in leaves(lvalue.kind)
        ]

    def _number(self, node: Any) -> CValue:
        value = self._unordered_value(node)
        if not isinstance(value, CValue):
            raise self.error(f"{self.text(node)} is not a number", node)
        return value

    def _unordered_value(self, node: Any) -> CResult:
        if effects.level(node, self.scope) == effects.ACTS:
            raise self.error(f"{self.text(node)}: side effects in braces are not supported", node)
        return self.value(node)

    def _assemble(
        self, type: Type, at: PartPath, fields: tuple[str, ...], kind: AnyKind, values: dict[PartPath, Term]
    ) -> Term:
        """The value of a scalar field of every element, by path."""
        if isinstance(kind, Struct) and kind.union:
            return self._word(type, at, kind, values)
        if isinstance(kind, Struct):
            return self._assemble(type, (*at, fields[0]), fields[1:], kind.kind_of(fields[0]), values)
        if isinstance(kind, Array):
            assert isinstance(type, ArrayType)
            if not any(path[: len(at)] == at for path in values):
                return uniform(type, default(_scalar_of(type)))
            parts = (self._assemble(type.element, (*at, i), fields, kind.element, values) for i in range(kind.length))
            return term("array", *parts, payload=type)
        return values.get(at, constant(type, default(type)))

    def _word(self, type: Type, at: PartPath, kind: Struct, values: dict[PartPath, Term]) -> Term:
        """The bytes of a union with these parts, and else zeros."""
        word, made = constant(type, default(type)), Lvalue(Object("union", kind), kind)
        for path, value in values.items():
            if path[: len(at)] == at:
                inner = path[len(at) :]
                names = tuple(step for step in inner if isinstance(step, str))
                places = tuple(self.arithmetic.number(kinds.LONG, step).term for step in inner if isinstance(step, int))
                part = union_part(Lvalue(made.object, kind_at(kind, inner), names, places), self.model)
                assert part is not None
                word = with_part(word, part, value, self.model, self.bits_of)
        return word


def _scalar_of(type: Type) -> Type:
    while isinstance(type, ArrayType):
        type = type.element
    return type
