"""Expressions to terms, with an explicit stack: definitions chain tens of thousands deep.

Names are read on demand, so a causality cycle is found when a name is needed while it is being read. Most operations
are strict: their operands are read first, then `apply` computes the value. For the others, `_start` lists the methods
that read operands as needed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from streamcheck.core.errors import SpecError
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.core.types import BOOL, INT, ArrayType, StructType, Type
from streamcheck.frontends.lustre import elements
from streamcheck.frontends.lustre.any_values import AnyValues
from streamcheck.frontends.lustre.apply import apply_operation, updated_record
from streamcheck.frontends.lustre.checks import dependence_of
from streamcheck.frontends.lustre.clock_scopes import ClockScopes
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.delays import Delays, define, is_constant
from streamcheck.frontends.lustre.dependence import Dependence
from streamcheck.frontends.lustre.instances import Instances
from streamcheck.frontends.lustre.matches import Matches
from streamcheck.frontends.lustre.open_arrays import OpenArray, element_in_itself, is_open
from streamcheck.frontends.lustre.quantifiers import Quantifiers
from streamcheck.frontends.lustre.scopes import (
    BEING_READ,
    LazyDefinition,
    LazyElements,
    LustreScope,
    Run,
    Shape,
    TermOrTuple,
)
from streamcheck.frontends.lustre.syntax import Activation, ExpressionText, LustreFile, Mode, name_expression
from streamcheck.frontends.lustre.tokens import Tokens
from streamcheck.frontends.lustre.variables import Variables
from streamcheck.frontends.lustre.walks import has_steps
from streamcheck.frontends.operations import equal, has_function

NAMED_PARTS = frozenset(("record", "tuple"))  # the forms of structs whose parts are updated by name or number


class NodeEvaluator:
    """Evaluates the expressions of one main node and of everything that it calls. Without `unfold`, it evaluates all
    that a node has written: both branches of each choice, and each array definition once for all indices."""

    def __init__(self, file: LustreFile, tokens: Tokens, *, unfold: bool = True) -> None:
        self.file = file
        self.unfold = unfold
        self._finished = 0  # instances
        self.tokens = tokens
        self.variables = Variables(tokens)
        self.declarations = LustreDeclarations(file, self.variables, self.term)
        self.delays = Delays(self.declarations)
        self.declarations.containers.delays = self.delays
        self.instances = Instances(self.declarations, unfold=unfold)
        self.matches = Matches(self.declarations, self._start)
        self.quantifiers = Quantifiers(self.declarations, self.instances.callers, unfold=unfold)
        self.declarations.containers.quantify = self.quantifiers.over_indices
        self._reading: list[tuple[LustreScope, str, int]] = []  # the names whose definitions are being read
        self._outputs: dict[tuple[int, int], ExpressionText] = {}
        self.any_values = AnyValues(self.declarations)
        self._dependence: Dependence | None = None
        self._open_arrays: list[OpenArray] = []  # of which no element has been read yet
        self._branch_scopes: dict[tuple[int, int, LustreScope], LustreScope] = {}
        self.clock_scopes = ClockScopes(self.declarations)
        self.declarations.declare_globals()
        self.outermost = self.variables.context(TRUE, FALSE, FALSE, "first step")

    def evaluate(self, root: ExpressionText, scope: LustreScope) -> TermOrTuple:
        run = Run()
        run.later(self._start, root, scope)
        while run.work:
            action, e, scope = run.work.pop()
            action(e, scope, run)
        return run.results[0]

    def term(self, e: ExpressionText, scope: LustreScope, type: Type | None = None) -> Term:
        """The value of an expression that must have one value, of the given type if there is one."""
        value = self.evaluate(e, scope)
        if isinstance(value, tuple):
            raise self.tokens.error(e.at, f"expected one value, found {len(value)}")
        if type is not None and value.type is not type:
            raise self.tokens.error(e.at, f"expected {type}, found {value.type}")
        return value

    def finish(self, add_claims: Callable[[LustreScope], None]) -> None:
        """Read every equation of every instance, and the next value of every register."""
        while (
            self._finished < len(self.instances.scopes)
            or self.delays.pending
            or self.any_values.pending
            or self._open_arrays
        ):
            while self._open_arrays:
                array = self._open_arrays.pop()
                array.read_any(self.quantifiers.new_constant)
            while self.any_values.pending:
                e, scope = self.any_values.pending.pop()
                before = self.variables.count()
                self.any_values.read_condition(e, scope)
                self._add_own(scope, before)
            self._read_registers()
            if self._finished < len(self.instances.scopes):
                scope = self.instances.scopes[self._finished]
                self._finished += 1
                before = self.variables.count()
                for name in list(scope.definitions):
                    if name not in scope.values:
                        self.evaluate(name_expression(name, scope.definitions[name].at), scope)
                add_claims(scope)
                self._add_own(scope, before)

    def _read_registers(self) -> None:
        while self.delays.pending or self.declarations.containers.follow_registers(define):
            if self.delays.pending:
                delays, held, scope = self.delays.pending.pop()
                before = self.variables.count()
                value = self.evaluate(held, scope)
                for delay, one in zip(delays, value if isinstance(value, tuple) else (value,), strict=True):
                    define(delay, one)
                self._add_own(scope, before)

    def _add_own(self, scope: LustreScope, before: tuple[int, int]) -> None:
        self.quantifiers.add_own(scope, before)

    # Strict operations

    def _start(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        if self.file.is_v6:
            scope = self.clock_scopes.on_clock(e, scope)
        match e.op:
            case "name" | "bound":
                self._name(e, scope, run)
            case "forall" | "exists":
                run.results.append(self.quantifiers.value(e, scope))
            case "if":
                run.later(self._branch, e, scope)
                run.later(self._start, e.args[0], scope)
            case "lazy":
                run.later(self._lazy_branches, e, scope)
                run.later(self._start, e.args[0], scope)
            case "update":
                run.later(self._update, e, scope)
                run.later(self._start, e.args[0], scope)
            case "arrow":
                self._arrow(e, scope, run)
            case "pre":
                run.results.append(self.delays.present(e, scope))
            case "index":
                self._index(e, scope, run)
            case "match":
                run.later(self.matches.cases, e, scope)
                run.later(self._start, e.args[0], scope)
            case "merge" if self.file.is_v6:
                self._apply_to(e.args, e, scope, run)
            case "merge":
                run.later(self._merge_branches, e, scope)
                run.later(self._start, e.args[0], scope)
            case "when" if self.file.is_v6:
                self._start(e.args[0], scope, run)
            case "current":
                run.later(self._current, e, scope)
                run.later(self._start, e.args[0], scope)
            case "when":
                text = "`when` is supported as a branch of a merge only"
                raise self.tokens.error(e.at, text, write="merge(c; a when c; b when not c)")
            case "call":
                self._call(e, scope, run)
            case "output":
                self._output_alone(e, scope, run)
            case "any":
                run.results.append(self.any_values.value(e, scope))
            case "mode":
                run.results.append(self._mode(e.value, e.at, scope))
            case _:
                self._apply_to(e.args, e, scope, run)

    def _apply_to(self, unread: tuple[ExpressionText, ...], e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """Read the operands that are not read yet, the last ones of `e`, then apply its operation."""
        run.later(self._apply, e, scope)
        for a in reversed(unread):
            run.later(self._start, a, scope)

    def _apply(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        try:
            run.results.append(apply_operation(e, run.take(len(e.args)), scope, self.declarations))
        except TypeRule as why:
            raise self.tokens.error(e.at, f"{self.tokens.token_text(e.at)}: {why}") from None

    # Names

    def _name(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        name = e.value
        owner: LustreScope | None = scope
        while owner is not None:
            known = owner.values.get(name)
            if known is not None:
                if known is BEING_READ:
                    raise self._cycle(owner, name)
                run.results.append(known)
                return
            definition = owner.definitions.get(name)
            if definition is not None:
                self._read(e, scope, owner, definition, run)
                return
            owner = owner.parent
        raise self.tokens.error(e.at, f"{name} is not declared")

    def _read(
        self,
        e: ExpressionText,
        scope: LustreScope,
        owner: LustreScope,
        definition: LazyDefinition | LazyElements,
        run: Run,
    ) -> None:
        """Read the definition, store its value, and look the name up again."""
        name = e.value
        self._reading.append((owner, name, definition.at))
        run.later(self._start, e, scope)
        if isinstance(definition, LazyElements) and not self.unfold:
            self._read_any_element(definition, owner, run)
            return
        if isinstance(definition, LazyElements):
            if is_open(self.declarations, owner.shapes[name].type, len(definition.indices)):
                if (last := element_in_itself(owner, definition, self._parts_behind)) is not None:
                    text = f"each element of {owner.path}{name} depends on its own present value"
                    also = ((f"the one of {owner.path}{last.name} is read here", self.tokens.where(last.at)),)
                    write = "`pre`, if the previous value is meant, or another index"
                    raise SpecError(text, self.tokens.where(definition.at), also=also, write=write)
                array = OpenArray(self.declarations, owner, definition)
                owner.values[name] = array.part(array.type)
                self._open_arrays.append(array)
                self._reading.pop()
                return
            owner.values[name] = BEING_READ
            whole = elements.whole_array(self.declarations, owner, definition)
            definition = LazyDefinition((name,), whole, owner, definition.at)
        elif len(definition.names) > 1 and definition.value.op == "call":
            # each output on its own: one may depend on another
            one = self._output(definition.value, definition.names.index(name))
            definition = LazyDefinition((name,), one, definition.scope, definition.at)
        for defined in definition.names:
            owner.values[defined] = BEING_READ
        run.later(partial(self._store, definition), e, owner)
        run.later(self._start, definition.value, definition.scope)

    def _output(self, call: ExpressionText, position: int) -> ExpressionText:
        """One output of a call, the same expression each time."""
        key = (id(call), position)
        if key not in self._outputs:
            self._outputs[key] = ExpressionText("output", (call,), position, call.at)
        return self._outputs[key]

    def _store(self, definition: LazyDefinition, e: ExpressionText, owner: LustreScope, run: Run) -> None:
        value = run.results.pop()
        self._reading.pop()
        values = value if isinstance(value, tuple) else (value,)
        if definition.part is not None:
            values = (values[definition.part],)
        names = definition.names
        if len(values) != len(names):
            due = f"{len(names)} value{'s' if len(names) > 1 else ''}"
            raise self.tokens.error(definition.at, f"expected {due}, found {len(values)}")
        for name, one in zip(names, values, strict=True):
            shape = owner.shapes.get(name)
            if shape is not None and shape.type is not one.type:
                text = f"{name}: expected {shape.type}, found {one.type}"
                raise self.tokens.error(definition.at, text)
            owner.values[name] = one

    def _parts_behind(self, call: ExpressionText) -> list[ExpressionText]:
        """The parts of a call that its outputs depend on at the present step."""
        if self._dependence is None:
            self._dependence = dependence_of(self.file, self.tokens)
        return self._dependence.parts_behind(call, None)

    def _cycle(self, owner: LustreScope, name: str) -> SpecError:
        start = next(i for i, (s, n, _) in enumerate(self._reading) if s is owner and n == name)
        cycle = self._reading[start:]
        also = tuple((f"{s.path}{n} is read here", self.tokens.where(at)) for s, n, at in cycle[1:12])
        text = f"{owner.path}{name} depends on its own present value"
        return SpecError(text, self.tokens.where(cycle[0][2]), also=also, write="pre, if the previous value is meant")

    # Choices and delays

    def _branch(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """Read both branches, or only the chosen one if the condition is a constant."""
        condition = run.results[-1]
        if isinstance(condition, Term) and condition.is_const and condition.type is BOOL and self.unfold:
            run.results.pop()
            run.later(self._start, e.args[1 if condition is TRUE else 2], scope)
        else:
            self._apply_to(e.args[1:], e, scope, run)

    def _lazy_branches(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """`when c then a else b`, c has been read: calls and registers in a branch take steps with the branch."""
        condition = run.results[-1]
        if not isinstance(condition, Term) or condition.type is not BOOL or condition.is_const:
            self._branch(e, scope, run)
            return
        run.later(self._apply, e, scope)
        run.later(self._start, e.args[2], self._branch_scope(e, 2, scope, negation(condition)))
        run.later(self._start, e.args[1], self._branch_scope(e, 1, scope, condition))

    def _branch_scope(self, e: ExpressionText, i: int, scope: LustreScope, clock: Term) -> LustreScope:
        """The scope of a branch that takes steps while `clock` holds."""
        if not has_steps(e.args[i]):
            return scope
        key = (id(e), i, scope)
        if key not in self._branch_scopes:
            wish = f"{scope.path}{self.tokens.place(e.args[i].at)} first step"
            context = self.variables.context_on_clock(scope.context, clock, FALSE, wish)
            self._branch_scopes[key] = LustreScope(scope.path, context, scope, scope.node)
        return self._branch_scopes[key]

    def _arrow(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        if e.args[1].op == "pre":
            run.later(self._arrow_pre, e, scope)
            run.later(self._start, e.args[0], scope)
        else:
            self._apply_to(e.args, e, scope, run)

    def _arrow_pre(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """`a -> pre b`, a has been read: a constant is the initial value of the register."""
        initial = run.results[-1]
        parts = initial if isinstance(initial, tuple) else (initial,)
        if all(is_constant(p) for p in parts):
            run.results[-1] = self.delays.present(e.args[1], scope, parts)
        else:
            self._apply_to(e.args[1:], e, scope, run)

    # Elements of arrays

    def _read_any_element(self, array: LazyElements, owner: LustreScope, run: Run) -> None:
        """Read the definition for unknown indices, to check its type; the array is an unknown."""
        shape = owner.shapes[array.name]
        owner.values[array.name] = self.variables.unknown(array.name, shape.type, array.at)
        inner = LustreScope(owner.path, owner.context, owner, owner.node)
        for index in array.indices:
            inner.values[index] = self.variables.unknown(index, INT, array.at)
        run.later(partial(self._check_element, array, shape), array.value, inner)
        run.later(self._start, array.value, inner)

    def _check_element(
        self, array: LazyElements, shape: Shape, e: ExpressionText, scope: LustreScope, run: Run
    ) -> None:
        self._reading.pop()
        value, element = run.results.pop(), shape.type
        for _ in array.indices:
            if self.declarations.containers.is_array(element):
                element = self.declarations.containers.element_of(element)
            else:
                assert isinstance(element, ArrayType)
                element = element.element
        if isinstance(value, tuple) or value.type is not element:
            actual = "several values" if isinstance(value, tuple) else value.type
            raise self.tokens.error(e.at, f"an element of {array.name} is declared {element}, and this is {actual}")

    def _index(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """One element of an array that is defined element by element may be known before the others are."""
        indexed = elements.lazy_array_of(self.declarations, e, scope) if self.unfold else None
        if indexed is None:
            self._apply_to(e.args, e, scope, run)
            return
        owner, array, indices = indexed
        run.later(partial(self._element, owner, array), e, scope)
        for i in reversed(indices):
            run.later(self._start, i, scope)

    def _element(
        self, owner: LustreScope, array: LazyElements, e: ExpressionText, scope: LustreScope, run: Run
    ) -> None:
        indices = run.take(len(array.indices))
        position = tuple(i.payload for i in indices if isinstance(i, Term) and i.is_const)
        if len(position) != len(indices):
            self._apply_to(e.args, e, scope, run)
            return
        name = elements.element(self.declarations, owner, array, position, e.at)
        run.later(self._start, name_expression(name, e.at), owner)

    def _update(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """`a[i := v]`, a has been read. The indices of a record are its fields."""
        updated = run.results[-1]
        if (
            isinstance(updated, tuple)
            or not isinstance(updated.type, StructType)
            or updated.type.form not in NAMED_PARTS
        ):
            self._apply_to(e.args[1:], e, scope, run)
            return
        run.later(self._updated_record, e, scope)
        for value in reversed(e.args[2::2]):
            run.later(self._start, value, scope)

    def _updated_record(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        record, *values = run.take(1 + len(e.args) // 2)
        is_tuple = isinstance(record, Term) and isinstance(record.type, StructType) and record.type.form == "tuple"
        fields = [f"item{i.value}" if is_tuple else i.value for i in e.args[1::2]]
        try:
            run.results.append(updated_record(record, dict(zip(fields, values, strict=True))))
        except TypeRule as why:
            raise self.tokens.error(e.at, str(why)) from None

    # Clocks

    def _current(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """`current x`, x has been read."""
        value = run.results.pop()
        values = value if isinstance(value, tuple) else (value,)
        if any(has_function(v.type) for v in values):
            text = "`current` of sets, maps, or arrays whose size has no value is not supported"
            raise self.tokens.error(e.at, text, write="merge")
        chosen = self.clock_scopes.condition(self.file.held[id(e)], scope)
        run.results.append(self.delays.held_since(e, scope, chosen, values))

    # Merges

    def _merge_branches(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        """The clock has been read. A branch may be on the clock that chooses it: its other values do not matter. A
        call that is a whole branch takes steps with the branch."""
        clock = run.results[-1]
        run.later(self._apply, e, scope)
        for i in reversed(range(1, len(e.args))):
            branch, chosen = e.args[i], self._branch_condition(e, i, clock)
            sampled = branch.args[0] if branch.op == "when" else branch
            is_call = sampled.op == "call"
            if is_call and sampled.value.clock is not None and sampled.value.defaults is None:
                run.later(partial(self._check_clock, e, i, chosen), sampled, scope)
                run.later(self._all_outputs, sampled, scope)
                self._prepare(sampled, scope, run)
                continue
            if branch.op == "when":
                run.later(partial(self._check_clock, e, i, chosen), branch, scope)
            if is_call and sampled.value.clock is None and sampled.value.restart is None and chosen is not None:
                run.later(self._all_outputs, sampled, scope)
                if not self.instances.has(sampled, scope):
                    self.instances.create(sampled, scope, chosen, FALSE)
            elif sampled.op == "any" and chosen is not None:
                run.later(self._start, sampled, self._branch_scope(e, i, scope, chosen))
            else:
                run.later(self._start, sampled, scope)

    def _branch_condition(self, merge: ExpressionText, i: int, clock: TermOrTuple) -> Term | None:
        """True if the clock chooses the i-th branch. None is reported when the branches are put together."""
        member = merge.value[i - 1]
        if isinstance(clock, tuple):
            return None
        if member in ("true", "false") and clock.type is BOOL:
            return clock if member == "true" else negation(clock)
        value = self._member(member, merge.at)
        return equal(clock, value) if value.type is clock.type else None

    def _check_clock(
        self, merge: ExpressionText, i: int, chosen: Term | None, branch: ExpressionText, scope: LustreScope, run: Run
    ) -> None:
        """The i-th branch has just been read."""
        if chosen is None:
            return
        member = merge.value[i - 1]
        if branch.op == "call":
            own = self.instances.of_call(branch, scope).clock
        else:
            own = self._clock(branch.args[1], scope)
        if own is not chosen:
            text = f"this branch of the merge is on another clock than that of `{member}`"
            raise self.tokens.error(branch.at, text)

    def _clock(self, e: ExpressionText, scope: LustreScope) -> Term:
        """`c`, `not c`, or `member(c)` of an enum."""
        if e.op == "call" and e.value.node in self.declarations.globals.values and len(e.args) == 1:
            member = self._member(e.value.node, e.at)
            return equal(self.term(e.args[0], scope, member.type), member)
        return self.term(e, scope, BOOL)

    def _member(self, name: str, at: int) -> Term:
        return self.term(name_expression(name, at), self.declarations.globals)

    # Calls

    def _call(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        self._check_default(e)
        run.later(self._all_outputs, e, scope)
        self._prepare(e, scope, run)

    def _output_alone(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        call = e.args[0]
        scope = self.clock_scopes.on_clock(call, scope)
        self._check_default(call)
        run.later(self._one_output, e, scope)
        self._prepare(call, scope, run)

    def _check_default(self, call: ExpressionText) -> None:
        if call.value.clock is not None and call.value.defaults is None:
            text = "`activate` without `initial default` is supported as a branch of a merge only"
            raise self.tokens.error(call.at, text, write=f"(activate {call.value.node} every c initial default 0)(…)")

    def _prepare(self, call: ExpressionText, scope: LustreScope, run: Run) -> None:
        """Make sure that the instance exists: its clock and restart are read first."""
        if self.instances.has(call, scope):
            return
        activation: Activation = call.value
        run.later(self._create, call, scope)
        for condition in (activation.restart, activation.clock):
            if condition is not None:
                run.later(self._start, condition, scope)

    def _create(self, call: ExpressionText, scope: LustreScope, run: Run) -> None:
        activation: Activation = call.value
        restart = FALSE if activation.restart is None else run.results.pop()
        clock = TRUE if activation.clock is None else run.results.pop()
        if isinstance(clock, tuple) or isinstance(restart, tuple) or any(t.type is not BOOL for t in (clock, restart)):
            raise self.tokens.error(call.at, "a clock or restart condition must be bool")
        if not self.instances.has(call, scope):  # reading the clock may have made it
            self.instances.create(call, scope, clock, restart)

    def _all_outputs(self, call: ExpressionText, scope: LustreScope, run: Run) -> None:
        child = self.instances.of_call(call, scope)
        assert child.node is not None
        n = len(child.node.outputs)
        if n != 1:
            run.later(partial(_gather, n), call, scope)
        for i in reversed(range(n)):
            self._read_output(call, i, scope, child, run)

    def _one_output(self, e: ExpressionText, scope: LustreScope, run: Run) -> None:
        call = e.args[0]
        child = self.instances.of_call(call, scope)
        assert child.node is not None
        if e.value >= len(child.node.outputs):
            raise self.tokens.error(e.at, f"{child.node.name} has {len(child.node.outputs)} outputs")
        self._read_output(call, e.value, scope, child, run)

    def _read_output(self, call: ExpressionText, i: int, scope: LustreScope, child: LustreScope, run: Run) -> None:
        assert child.node is not None
        outputs, defaults = child.node.outputs, call.value.defaults
        if defaults is not None and child.clock is not TRUE:
            if len(defaults) != len(outputs):
                text = f"{child.node.name} has {len(outputs)} outputs, and {len(defaults)} defaults are given"
                raise self.tokens.error(call.at, text)
            run.later(partial(self._hold, i, child), call, scope)
            run.later(self._start, defaults[i], scope)
        run.later(self._start, name_expression(outputs[i].name, call.at), child)

    def _hold(self, i: int, child: LustreScope, call: ExpressionText, scope: LustreScope, run: Run) -> None:
        """The output and its default have been read: outside the clock, the output keeps its value."""
        start, output = run.results.pop(), run.results.pop()
        if isinstance(start, tuple) or isinstance(output, tuple) or start.type is not output.type:
            shown = "one value" if isinstance(output, tuple) else output.type
            raise self.tokens.error(call.at, f"the default of output {i + 1} is not {shown}")
        run.results.append(self.delays.held_output(scope, child, i, start, output, call.at))

    # Modes

    def requirement(self, mode: Mode, scope: LustreScope) -> Term:
        """The conjunction of the mode's requirements."""
        return conjunction(*(self.term(clause.value, scope, BOOL) for clause in mode.requires))

    def _mode(self, path: str, at: int, scope: LustreScope) -> Term:
        """`::contract::mode` is true if the mode's requirements hold."""
        *contracts, name = path.split("::")
        owner: LustreScope | None = scope
        while owner is not None and not (owner.modes or owner.imports):
            owner = owner.parent
        for contract in contracts:
            owner = None if owner is None else owner.imports.get(contract)
        if owner is None or name not in owner.modes:
            raise self.tokens.error(at, f"mode ::{path} is not declared")
        return self.requirement(owner.modes[name], owner)


def _gather(n: int, call: ExpressionText, scope: LustreScope, run: Run) -> None:
    outputs = tuple(value for value in run.take(n) if isinstance(value, Term))
    assert len(outputs) == n
    run.results.append(outputs)
