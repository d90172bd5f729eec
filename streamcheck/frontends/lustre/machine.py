"""Expressions to terms, by a machine with a stack of its own: definitions chain tens of thousands deep.

Names are read on demand, so that a loop shows itself as a name met while it is being read. What an operation does with
its operands is in `apply`; the operations that decide themselves what is read, and when, are in `special`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from streamcheck.core.errors import SpecError
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import choice, disjunction
from streamcheck.core.term import FALSE, TRUE, Term, variable
from streamcheck.core.types import BOOL, Type
from streamcheck.frontends.lustre.apply import applied
from streamcheck.frontends.lustre.scopes import PENDING, Context, Definition, Elements, Scope, Value
from streamcheck.frontends.lustre.shapes import Shapes
from streamcheck.frontends.lustre.syntax import Expression, Program
from streamcheck.frontends.lustre.tokens import Tokens

Work: TypeAlias = list[tuple[Any, Any, Scope]]  # what is still to do, the last first: (action, on what, where)
EVALUATE, APPLY = 0, 1


class Machine(Shapes):
    special: ClassVar[Mapping[str, Callable[..., None]]] = {}

    def __init__(self, program: Program, tokens: Tokens) -> None:
        super().__init__(program, tokens)
        self.cells: list[tuple[Term, Term, Term]] = []  # (variable, initial, next) of the flags of contexts
        self.reading: list[tuple[Scope, str, int]] = []
        self.unknowns: dict[Term, int] = {}  # variables of which nobody says anything, and where they stand
        self.warnings: dict[str, None] = {}
        self._free: dict[object, Term] = {}
        self._outputs: dict[tuple[int, int], Expression] = {}
        self.outermost = self.context(TRUE, FALSE, FALSE, "first step")

    def whole_array(self, found: Elements, owner: Scope) -> Expression:
        raise NotImplementedError

    # Names and variables

    def unknown(self, wish: str, type: Type, at: int) -> Term:
        var = variable(self.fresh(wish), type)
        self.unknowns[var] = at
        return var

    def name(self, name: str, at: int) -> Expression:
        return Expression("name", (), name, at)

    def mode(self, path: str, at: int, scope: Scope) -> Term:
        raise NotImplementedError

    def place(self, at: int) -> str:
        return f"[l{self.tokens.line(at)}c{self.tokens.column(at)}]"

    def anything(self, e: Expression, scope: Scope) -> Callable[[str, Term, Term, Type], Term]:
        """What an operation gives where nobody says: one unknown for each operation and its operands."""

        def make(op: str, a: Term, b: Term, type: Type) -> Term:
            key = (op, a, b)
            if key not in self._free:
                what = "an index that may be out of range" if op == "index" else "a division by what may be zero"
                self.warn(e.at, f"{what} gives any value")
                self._free[key] = self.unknown(f"{scope.path}{op}{self.place(e.at)}", type, e.at)
            return self._free[key]

        return make

    def warn(self, at: int, text: str) -> None:
        self.warnings[f"{self.tokens.where(at).short}: {text}"] = None

    def context(self, tick: Term, reset: Term, hard: Term, wish: str) -> Context:
        flag = variable(self.fresh(wish), BOOL)
        self.cells.append((flag, TRUE, choice(tick, FALSE, choice(hard, TRUE, flag))))
        return Context(disjunction(reset, flag), tick, reset, hard)

    # The machine

    def evaluate(self, root: Expression, scope: Scope) -> Value:
        results: list[Any] = []
        work: Work = [(EVALUATE, root, scope)]
        while work:
            action, e, scope = work.pop()
            if action == EVALUATE:
                special = self.special.get(e.op)
                if special is None:
                    work.append((APPLY, e, scope))
                    for a in reversed(e.args):
                        work.append((EVALUATE, a, scope))
                else:
                    special(self, e, scope, work, results)
            elif action == APPLY:
                n = len(e.args)
                args = results[len(results) - n :]
                del results[len(results) - n :]
                results.append(self._applied(e, args, scope))
            else:
                action(e, scope, work, results)
        return results[0]  # type: ignore[no-any-return]

    def _applied(self, e: Expression, args: list[Value], scope: Scope) -> Value:
        try:
            return applied(self, e, args, scope)
        except TypeRule as why:
            raise self.tokens.error(e.at, f"{self.tokens.shown(e.at)}: {why}") from None

    def term(self, e: Expression, scope: Scope, type: Type | None = None) -> Term:
        value = self.evaluate(e, scope)
        if isinstance(value, tuple):
            raise self.tokens.error(e.at, f"one value is due, and this is {len(value)}")
        if type is not None and value.type is not type:
            raise self.tokens.error(e.at, f"{type} is due, and this is {value.type}")
        return value

    # Names

    def _name(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        name = e.value
        owner: Scope | None = scope
        while owner is not None:
            known = owner.values.get(name)
            if known is not None:
                if known is PENDING:
                    raise self._loop(owner, name)
                results.append(known)
                return
            found = owner.definitions.get(name)
            if found is not None:
                self._read(e, scope, owner, found, work)
                return
            owner = owner.parent
        raise self.tokens.error(e.at, f"there is no {name} here")

    def _read(self, e: Expression, scope: Scope, owner: Scope, found: Definition | Elements, work: Work) -> None:
        """Read the definition, keep what it gives, and look again."""
        self.reading.append((owner, e.value, found.at))
        work.append((EVALUATE, e, scope))
        if isinstance(found, Elements):
            owner.values[e.value] = PENDING
            whole = self.whole_array(found, owner)
            work.append((self._store, Definition((e.value,), whole, owner, found.at), owner))
            work.append((EVALUATE, whole, owner))
            return
        value = found.value
        if len(found.names) > 1 and value.op == "call":  # each output on its own: one may depend on another
            position = found.names.index(e.value)
            owner.values[e.value] = PENDING
            work.append((self._store, Definition((e.value,), value, owner, found.at), owner))
            work.append((EVALUATE, self._output(value, position), found.scope))
            return
        for name in found.names:
            owner.values[name] = PENDING
        work.append((self._store, found, owner))
        work.append((EVALUATE, value, found.scope))

    def _output(self, call: Expression, position: int) -> Expression:
        key = (id(call), position)
        if key not in self._outputs:
            self._outputs[key] = Expression("output", (call,), position, call.at)
        return self._outputs[key]

    def _store(self, found: Definition, owner: Scope, work: Work, results: list[Any]) -> None:
        value = results.pop()
        self.reading.pop()
        values = value if isinstance(value, tuple) else (value,)
        if found.part is not None:
            values = (values[found.part],)
        if len(values) != len(found.names):
            raise self.tokens.error(found.at, f"{len(found.names)} values are due, and this gives {len(values)}")
        for name, one in zip(found.names, values, strict=True):
            shape = owner.shapes.get(name)
            if shape is not None and shape.type is not one.type:
                text = f"{name} is declared {shape.type}, and this is {one.type}"
                raise self.tokens.error(found.at, text)
            owner.values[name] = one

    def _loop(self, owner: Scope, name: str) -> SpecError:
        start = next(i for i, (s, n, _) in enumerate(self.reading) if s is owner and n == name)
        loop = self.reading[start:]
        also = tuple((f"{s.path}{n} is read here", self.tokens.where(at)) for s, n, at in loop[1:12])
        text = f"{owner.path}{name} depends on its own present value"
        return SpecError(text, self.tokens.where(loop[0][2]), also=also, write="pre, where the value before is meant")

    # Choices: where the condition is a constant, the other branch is not read

    def _if(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        work.append((self._branch, e, scope))
        work.append((EVALUATE, e.args[0], scope))

    def _branch(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        condition = results[-1]
        if isinstance(condition, Term) and condition.is_const and condition.type is BOOL:
            results.pop()
            work.append((EVALUATE, e.args[1 if condition is TRUE else 2], scope))
            return
        work.append((APPLY, e, scope))
        work.append((EVALUATE, e.args[2], scope))
        work.append((EVALUATE, e.args[1], scope))
