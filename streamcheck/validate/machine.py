"""C functions run on symbolic memory.

Statements change the memory; both branches of an `if` are run on copies, which are merged by its condition; loops must
have bounds that are plain. Calls of functions that the file defines are followed; calls of others are handlers, and
are noted with the condition under which they happen, in order. What a handler could change, it does: inputs and what
it is given by a pointer that is not to something constant hold any value afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, variable
from streamcheck.core.types import BOOL, DOUBLE, FLOAT, ArrayType, MachineType, StructType, Type
from streamcheck.validate import arithmetic as c
from streamcheck.validate.declarations import Declarations
from streamcheck.validate.memory import Designation, Memory, PointerType, leaves, width
from streamcheck.validate.reader import Refused

Value: TypeAlias = Term | Designation  # of arrays and structs, and where pointers point, the designation
LOOPS = 100_000


@dataclass(frozen=True, slots=True)
class Demanded:
    """What must be true, else the C has no meaning."""

    path: Term
    claim: Term
    why: str


@dataclass(frozen=True, slots=True)
class HandlerCall:
    name: str
    when: Term
    args: tuple[tuple[Term, ...], ...]


@dataclass(slots=True)
class Frame:
    """A call being run: its variables, and what it has returned."""

    variables: dict[str, Designation] = field(default_factory=dict)
    pointers: set[str] = field(default_factory=set)  # those that stand for what they point to
    returned: Term = FALSE
    value: Value | None = None


class Machine:
    """`settle` may put an equal term for a value, `decide` a truth value for a condition that has only one."""

    def __init__(
        self,
        declared: Declarations,
        settle: Callable[[Term], Term] = lambda t: t,
        decide: Callable[[Term], Term] = lambda t: t,
    ) -> None:
        self.declared = declared
        self.settle = settle
        self.decide = decide
        self.memory = Memory()
        self.globals: dict[str, Designation] = {}
        self.frame = Frame()
        self.path = TRUE
        self.demands: list[Demanded] = []
        self.calls: list[HandlerCall] = []
        self.volatile: list[Designation] = []  # what a handler may have changed
        self.unknowns = 0

    # Running

    def call(self, name: str, args: list[Value]) -> Value | None:
        function = self.declared.functions[name]
        caller, self.frame = self.frame, Frame()
        try:
            parameters = self.declared.parameters(function.decl)
            if len(parameters) != len(args):
                raise Refused(f"{name} called with {len(args)} arguments")
            for (parameter, type), value in zip(parameters, args, strict=True):
                if isinstance(type, PointerType):
                    self.frame.pointers.add(parameter)
                self.frame.variables[parameter] = self._bound(type, value)
            self._statement(function.body)
            if self.declared.result(function.decl) is not None:  # 6.9.1: the end of one that returns a value
                self._demand(self.path, self.frame.returned, f"{name} returns a value")
            returned = self.frame.value
            return self.settle(returned) if isinstance(returned, Term) else returned
        finally:
            self.frame = caller

    def _bound(self, type: Type, value: Value) -> Designation:
        if isinstance(type, PointerType):
            if isinstance(value, Term):
                raise Refused("a number where a pointer belongs")
            return Designation(type.to, value.places, type.constant or value.constant)
        return self.memory.new(type, self._converted(value, type))

    def live(self) -> Term:
        return negation(self.frame.returned)

    def demand(self, claim: Term, why: str) -> None:
        self._demand(conjunction(self.path, self.live()), claim, why)

    def _demand(self, path: Term, claim: Term, why: str) -> None:
        if claim is not TRUE and path is not FALSE:
            self.demands.append(Demanded(path, claim, why))

    def unknown(self, type: Type) -> Term:
        self.unknowns += 1
        return variable(f"any value {self.unknowns}", type)

    # Statements (6.8)

    def _statement(self, node: Any) -> None:
        kind = type(node).__name__
        run = getattr(self, f"_run_{kind}", None)
        if run is None:
            if kind not in ("FuncCall", "Assignment", "UnaryOp", "Cast"):
                raise Refused(f"the statement {kind}")
            self._effect(node)
        else:
            run(node)

    def _run_Compound(self, node: Any) -> None:
        outer = dict(self.frame.variables)
        for item in node.block_items or ():
            self._statement(item)
        self.frame.variables = outer

    def _run_EmptyStatement(self, node: Any) -> None:
        pass

    def _run_Decl(self, node: Any) -> None:
        type, initial = self.declared.type_of(node.type), node.init
        if node.storage and (node.storage != ["static"] or "const" not in node.quals):
            raise Refused(f"the variable {node.name}, which outlives its block")
        values = [self.unknown(t) for t in leaves(type)] if initial is None else self.initial_values(type, initial)
        made = self.memory.new(type, [self.settle(v) for v in values])
        self.frame.variables[node.name] = Designation(type, made.places, "const" in (node.quals or ()))

    def initial_values(self, type: Type, node: Any) -> list[Term]:
        """The scalar parts of an initialiser (6.7.8); what a braced list leaves out is zero."""
        if node.__class__.__name__ != "InitList":
            return self._converted(self.value(node), type)
        if isinstance(type, ArrayType):
            kinds = [type.element] * type.length
        elif isinstance(type, StructType):
            kinds = [t for _, t in type.fields]
        else:
            raise Refused("braces around a scalar")
        if len(node.exprs) > len(kinds):
            raise Refused("more values than elements")
        parts = [part for t, e in zip(kinds, node.exprs, strict=False) for part in self.initial_values(t, e)]
        return parts + [_zero(t) for t in list(leaves(type))[len(parts) :]]

    def _run_If(self, node: Any) -> None:
        condition = self.decide(c.truth(self._number(node.cond)))
        self._branches(condition, node.iftrue, node.iffalse)

    def _branches(self, condition: Term, yes: Any, no: Any) -> None:
        if condition.is_const:
            chosen = yes if condition is TRUE else no
            if chosen is not None:
                self._statement(chosen)
            return
        before, path = dict(self.memory.parts), self.path
        returned, value = self.frame.returned, self.frame.value
        self.path = conjunction(path, condition)
        self._statement(yes)
        after, after_returned, after_value = self.memory.parts, self.frame.returned, self.frame.value
        self.memory.parts, self.frame.returned, self.frame.value = before, returned, value
        self.path = conjunction(path, negation(condition))
        if no is not None:
            self._statement(no)
        self.path = path
        for key, part in after.items():
            other = self.memory.parts.get(key, part)
            self.memory.parts[key] = part if part is other else c.either(condition, part, other)
        self.frame.value = _either_value(condition, after_value, self.frame.value)
        self.frame.returned = c.either(condition, after_returned, self.frame.returned)

    def _run_Return(self, node: Any) -> None:
        live = self.live()
        result = self.declared.result(self.declared.function_of(node))
        if (result is None) != (node.expr is None):
            raise Refused("a return that does not fit its function")
        if result is not None:
            value = self._converted(self.value(node.expr), result)[0]
            old = self.frame.value
            self.frame.value = value if not isinstance(old, Term) else c.either(live, value, old)
        self.frame.returned = TRUE

    def _run_For(self, node: Any) -> None:
        outer = dict(self.frame.variables)
        for declaration in node.init.decls if node.init.__class__.__name__ == "DeclList" else ():
            self._statement(declaration)
        for _ in range(LOOPS):
            condition = c.truth(self._number(node.cond))
            if not condition.is_const:
                raise Refused("a loop whose bound is not plain")
            if condition is FALSE:
                break
            self._statement(node.stmt)
            self._effect(node.next)
        else:
            raise Refused("a loop without an end")
        self.frame.variables = outer

    def _effect(self, node: Any) -> None:
        """An expression for what it does (6.8.3)."""
        kind = node.__class__.__name__
        if kind == "Assignment":
            if node.op != "=":
                raise Refused(f"the assignment {node.op}")
            to = self.designation(node.lvalue)
            values = [self.settle(v) for v in self._converted(self.value(node.rvalue), to.type)]
            self.memory.write(to, values, self.live())
        elif kind == "UnaryOp" and node.op == "p++":
            to = self.designation(node.expr)
            one = c.binary("+", self.memory.read(to)[0], constant(c.INT, 1), self.demand)
            self.memory.write(to, [c.converted(one, to.type, self.demand)], self.live())
        elif kind == "FuncCall":
            self._called(node)
        elif kind == "Cast" and self.declared.type_of(node.to_type.type) is None:
            if node.expr.__class__.__name__ == "FuncCall":
                self._called(node.expr)
            else:
                self.value(node.expr)
        else:
            raise Refused(f"{kind} as a statement")

    def _called(self, node: Any) -> Value | None:
        name = node.name.name
        args = list(node.args.exprs) if node.args is not None else []
        if name == "memcpy":
            self._copied(args)
            return None
        if name in self.declared.functions:
            return self.call(name, [self.value(a) for a in args])
        if name in self.declared.prototypes:
            self._handler(name, args)
            return None
        raise Refused(f"a call of {name}")

    def _copied(self, args: list[Any]) -> None:
        """memcpy (7.21.2.1) of whole objects of one type."""
        to, source = self._pointed(args[0]), self._pointed(args[1])
        size = args[2]
        if size.__class__.__name__ != "UnaryOp" or size.op != "sizeof" or to.type is not source.type:
            raise Refused("a memcpy that is not of one whole object to another of its type")
        pointer = size.expr.__class__.__name__ == "ID" and size.expr.name in self.frame.pointers
        if pointer or self.designation(size.expr).type is not to.type or to.places == source.places:
            raise Refused("a memcpy of another size, or onto itself")
        self.memory.write(to, [self.settle(v) for v in self.memory.read(source)], self.live())

    def _pointed(self, node: Any) -> Designation:
        value = self.value(node)
        if isinstance(value, Term):
            raise Refused("a number where a pointer belongs")
        return value

    def _handler(self, name: str, args: list[Any]) -> None:
        if self.memory.frozen:
            raise Refused(f"a call of {name} inside an expression")
        parameters = self.declared.parameters(self.declared.prototypes[name])
        if len(parameters) != len(args):
            raise Refused(f"{name} called with {len(args)} arguments")
        given: list[tuple[Term, ...]] = []
        written: list[Designation] = []
        for (_, type), arg in zip(parameters, args, strict=True):
            value = self.value(arg)
            if isinstance(type, PointerType):
                if isinstance(value, Term) or value.type is not type.to:
                    raise Refused(f"an argument of {name} that is not what its parameter points to")
                given.append(tuple(self.memory.read(value)))
                if not type.constant:
                    written.append(value)
            else:
                given.append(tuple(self.settle(v) for v in self._converted(value, type)))
        self.calls.append(HandlerCall(name, conjunction(self.path, self.live()), tuple(given)))
        for designation in [*written, *self.volatile]:
            if designation.constant and designation in written:
                raise Refused(f"{name} could write to something constant")
            anything = [self.unknown(t) for t in leaves(designation.type)]
            self.memory.write(Designation(designation.type, designation.places), anything, self.live())

    # Expressions (6.5)

    def value(self, node: Any) -> Value:
        kind = node.__class__.__name__
        evaluate = getattr(self, f"_value_{kind}", None)
        if evaluate is None:
            raise Refused(f"the expression {kind}")
        result: Value = evaluate(node)
        return result

    def _number(self, node: Any) -> Term:
        value = self.value(node)
        if not isinstance(value, Term):
            raise Refused("an array, a struct or a pointer where a number belongs")
        return value

    def _converted(self, value: Value, type: Type) -> list[Term]:
        if isinstance(value, Term):
            return [c.converted(value, type, self.demand)]
        if value.type is not type:
            raise Refused(f"{value.type} where {type} belongs")
        return self.memory.read(value)

    def designation(self, node: Any) -> Designation:
        kind = node.__class__.__name__
        if kind == "ID":
            found = self.frame.variables.get(node.name) or self.globals.get(node.name)
            if found is None:
                raise Refused(f"the name {node.name}")
            return found
        if kind == "StructRef":
            inner = self._pointed(node.name) if node.type == "->" else self.designation(node.name)
            return self.memory.member(inner, node.field.name)
        if kind == "ArrayRef":
            return self.memory.element(self.designation(node.name), self._number(node.subscript), self.demand)
        if kind == "UnaryOp" and node.op == "*":
            return self._pointed(node.expr)
        raise Refused(f"{kind} as something to designate")

    def _value_ID(self, node: Any) -> Value:
        if node.name in self.declared.constants and node.name not in {**self.globals, **self.frame.variables}:
            return self.declared.constants[node.name]
        return self._loaded(self.designation(node))

    def _loaded(self, what: Designation) -> Value:
        return what if isinstance(what.type, ArrayType | StructType) else self.memory.read(what)[0]

    def _value_StructRef(self, node: Any) -> Value:
        return self._loaded(self.designation(node))

    _value_ArrayRef = _value_StructRef

    def _value_Constant(self, node: Any) -> Value:
        return self.declared.literal(node)

    def _value_Cast(self, node: Any) -> Value:
        return c.converted(self._number(node.expr), self.declared.type_of(node.to_type.type), self.demand)

    def _value_UnaryOp(self, node: Any) -> Value:
        if node.op == "&":
            return self.designation(node.expr)
        if node.op == "*":
            return self._loaded(self.designation(node))
        return c.unary(node.op, self._number(node.expr), self.demand)

    def _value_BinaryOp(self, node: Any) -> Value:
        if node.op not in ("&&", "||"):
            return c.binary(node.op, self._number(node.left), self._number(node.right), self.demand)
        left = c.truth(self._number(node.left))
        right = self._under(left if node.op == "&&" else negation(left), node.right)
        both = conjunction if node.op == "&&" else disjunction
        return c.recast(both(left, c.truth(right)), c.INT)

    def _under(self, condition: Term, node: Any) -> Term:
        """What is evaluated only under a condition demands nothing elsewhere."""
        path, self.path = self.path, conjunction(self.path, condition)
        try:
            return self._number(node)
        finally:
            self.path = path

    def _value_TernaryOp(self, node: Any) -> Value:
        condition = c.truth(self._number(node.cond))
        yes = self._under(condition, node.iftrue)
        no = self._under(negation(condition), node.iffalse)
        yes, no = c.promoted(yes), c.promoted(no)
        type = c.common(yes, no)
        return c.either(condition, c.recast(yes, type), c.recast(no, type))

    def _value_FuncCall(self, node: Any) -> Value:
        name = node.name.name
        if name in ("UINT64_C", "INT64_C"):
            return c.recast(self._number(node.args.exprs[0]), c.ULONG if name[0] == "U" else c.LONG)
        if name in c.FUNCTIONS and name not in self.declared.functions:
            return c.library(name, [self._number(a) for a in node.args.exprs], self.demand)
        frozen, self.memory.frozen = self.memory.frozen, self.memory.count
        value = self._called(node)
        self.memory.frozen = frozen
        if value is None:
            raise Refused(f"the value of {name}, which returns none")
        return value


def _either_value(condition: Term, a: Value | None, b: Value | None) -> Value | None:
    if isinstance(a, Term) and isinstance(b, Term):
        return c.either(condition, a, b)
    return b if a is None else a


def _zero(type: Type) -> Term:
    if type is BOOL:
        return FALSE
    if type in (FLOAT, DOUBLE):
        return constant(type, 0.0)
    assert isinstance(type, MachineType)
    return constant(type, 0)


__all__ = ["Demanded", "HandlerCall", "Machine", "width"]
