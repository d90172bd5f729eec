"""Calls. Functions of the file are inlined, those of verifiers and of the standard library are interpreted, and
unknown ones return any value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from streamcheck.c import effects, kinds, library, pointers, static
from streamcheck.c.arithmetic import CValue, SideCondition
from streamcheck.c.declarations import Address, CResult, Function, NameScope, Pointee, PointerVariable
from streamcheck.c.extensions import PlainC
from streamcheck.c.kinds import AnyKind, Floating, Integer, Opaque, Pointer, Struct
from streamcheck.c.lvalues import Lvalue
from streamcheck.c.syntax import called_name, form
from streamcheck.c.terms import comparison
from streamcheck.core.location import Location
from streamcheck.core.simplify import conjunction, disjunction, either, negation
from streamcheck.core.term import FALSE, TRUE, Term
from streamcheck.core.types import BOOL, plural
from streamcheck.frontends.minic.callbacks import Callbacks
from streamcheck.frontends.minic.endings import UnorderedOperand
from streamcheck.frontends.minic.expressions import Expressions
from streamcheck.frontends.minic.flow import AutomatonTooLarge
from streamcheck.frontends.minic.heap import Heap
from streamcheck.frontends.minic.library_calls import has_signature, model_for, value_of_model
from streamcheck.frontends.minic.memory import MemoryCalls
from streamcheck.frontends.minic.pointed_calls import PointedCalls
from streamcheck.frontends.minic.prototypes import Prototypes
from streamcheck.frontends.minic.restrict import names_reached, names_used, require_restrict
from streamcheck.frontends.minic.storage import Update
from streamcheck.frontends.minic.targets import assigns

if TYPE_CHECKING:
    from streamcheck.frontends.minic.statements import Statements

ASSERTIONS = ("assert", "__VERIFIER_assert")
ERRORS = {"__VERIFIER_error": "error", "reach_error": "reach_error", "__assert_fail": "error"}
ASSUMPTIONS = ("__VERIFIER_assume", "assume", "assume_abort_if_not")
ENDS = ("abort", "exit", "_exit", "_Exit", "quick_exit", "__builtin_trap", "__builtin_abort", "__builtin_exit")
PRINTS = ("printf", "puts", "fprintf", "putchar", "perror", "fputs", "fputc", "putc", "fflush")
SEEDS = {"srand": "rand", "srandom": "random"}  # what begins the numbers of which function
FORMATS = r"%[-+ #0]*[\d*]*(?:\.[\d*]*)?(?:hh|ll|[hlLqjzt])?(.)"
MOST_CALLS, MOST_EDGES = 400, 4_000  # of a function with constants: calls within each other, and edges (heuristic)
STREAMS = ("stdin", "stdout", "stderr")
RESULTS = {  # the types that nondet functions give that the file does not declare
    "bool": "_Bool",
    "schar": "signed char",
    "uchar": "unsigned char",
    "ushort": "unsigned short",
    "uint": "unsigned int",
    "ulong": "unsigned long",
    "longlong": "long long",
    "ulonglong": "unsigned long long",
}


class Calls:
    def __init__(self, expressions: Expressions, source: PlainC) -> None:
        self.expressions = expressions
        self.source = source
        self.callbacks = Callbacks()
        self.statements: Statements
        self.active: list[str] = []  # functions
        self.open_calls: list[str] = []  # those of them whose arguments are not constant
        self.depth = 1  # how often a function may be active at once
        self.follows_constants = True  # calls with constants are read until they end
        self.exceeded: str | None = None  # a function that calls itself more deeply
        self.final = expressions.flow.endings.place()
        self.results: dict[str, Lvalue | PointerVariable | None] = {}
        self.asserted: Location | None = None  # the line of the outermost assertion that is being executed
        self.memory = MemoryCalls(expressions)
        self.pointed_calls = PointedCalls(self)
        self.heap = Heap(self)
        expressions.numbers.flags_of = self.heap.flags_of
        self.path: list[int] = []  # the calls that are being read
        self.used: set[str] = set()  # the names in the file
        self.seeds: dict[str, Term] = {}
        self.remembered: dict[tuple[str, bool], list[Term]] = {}  # the last calls of functions of their arguments
        self.unused: Any = None  # the last expression whose value is not used
        self.prototypes = Prototypes()
        self.recursive: dict[str, bool] = {}

    def _function(self, node: Any) -> tuple[str, Function | None]:
        function = self.expressions.scope.meaning(node.name.name)
        if isinstance(function, Opaque):
            raise self.expressions.error(f"{node.name.name}: {function.reason}", node)
        if function is not None and not isinstance(function, Function):
            raise self.expressions.error(f"{node.name.name} is not a function", node)
        return node.name.name, function

    def _is_through_pointer(self, node: Any) -> bool:
        """The called function is the value of an expression."""
        if form(node.name) != "ID":
            return True
        meaning = self.expressions.scope.meaning(node.name.name)
        return isinstance(meaning, Lvalue | PointerVariable) and isinstance(meaning.kind, Pointer)

    def result_kind(self, node: Any) -> AnyKind:
        if self._is_through_pointer(node):
            return self.pointed_calls.code_of(node).result
        name, function = self._function(node)
        if function is not None:
            return function.result
        if name in (*ASSERTIONS, *ERRORS, *ASSUMPTIONS, *ENDS, *SEEDS):
            return kinds.VOID
        for prefix in effects.CHOOSERS:
            if name.startswith(prefix):
                return self._chosen_kind(name.removeprefix(prefix))
        if library.plain_name(name) in (*library.HEAP, "free"):
            return kinds.VOID if library.plain_name(name) == "free" else Pointer(kinds.VOID)
        memory = self.memory.result_kind(name)
        if memory is not None:
            return memory
        generic = library.model_name(name) in library.GENERIC
        arguments = node.args.exprs if node.args and generic else []
        model = model_for(name, [static.kind_of(self.expressions, a) for a in arguments], self.expressions.model)
        return self.expressions.model.INT if model is None else model.result

    def _chosen_kind(self, name: str) -> AnyKind:
        """The kind of the values of `nondet_…`, by what its name has after that."""
        model = self.expressions.model
        fixed = re.fullmatch(r"([us])(8|16|32|64)", name)
        if fixed is not None:
            return model.typedefs[f"{'u' if fixed[1] == 'u' else ''}int{fixed[2]}_t"]
        if name == "size_t":
            return model.size
        words = RESULTS.get(name, name.replace("_", " ") if name != "_Bool" else name)
        kind = model.bases.get(" ".join(sorted(words.split())))
        return kind if isinstance(kind, Integer | Floating) else model.INT

    def call(self, node: Any) -> CResult:
        to, flow = self.expressions, self.expressions.flow
        if self._is_through_pointer(node):
            return self.pointed_calls.call(node)
        name, function = self._function(node)
        arguments = list(node.args.exprs) if node.args else []
        if function is not None and function.body is not None and not (name in ERRORS and _only_fails(function.body)):
            return self._inline(function, arguments, node)
        if name in (*ASSERTIONS, *ASSUMPTIONS) and function is not None:
            self._refuse_loss(function, arguments, node)
        if name in ASSERTIONS and len(arguments) == 1:
            self._condition(arguments[0], node, self._error("assert"))
        elif name in ERRORS:
            flow.jump(self._error(ERRORS[name]), to.where, f"{name}()")
        elif name in ASSUMPTIONS and len(arguments) == 1:
            self._condition(arguments[0], node, None)
        elif name in ENDS or name in self.source.endless:
            for argument in arguments:
                to.effect(argument)
            flow.jump(self.final, to.where, to.text(node))
        else:
            return self._outer(name, function, arguments, node)
        return None

    def _refuse_loss(self, function: Function, arguments: list[Any], node: Any) -> None:
        """Error if an argument may become 0 as a parameter of this function without a body: 0.5 as an int."""
        for (_, wanted), argument in zip(function.parameters, arguments, strict=False):
            given = static.kind_of(self.expressions, argument)
            lossy = isinstance(given, Floating) or (isinstance(given, Integer) and given.width > _width(wanted))
            if isinstance(wanted, Integer) and wanted != kinds.BOOLEAN and lossy:
                to = self.expressions
                raise to.error(f"{to.text(node)}: {given} loses its value as {wanted}; write a comparison", node)

    def _error(self, kind: str) -> str:
        """The error location of a failure here: of the outermost assertion that is being executed, if there is one."""
        to = self.expressions
        if self.asserted is not None:
            return to.flow.error("assert", self.asserted, implied=False)
        return to.flow.error(kind, to.where, implied=False)

    def _condition(self, argument: Any, node: Any, error: str | None) -> None:
        """The run continues if the condition holds. If not, it goes to `error`, or ends."""
        flow = self.expressions.flow
        yes = flow.place()
        self.expressions.condition(argument, yes, flow.endings.place() if error is None else error)
        flow.at = yes

    # Functions of other files

    def _outer(self, name: str, function: Function | None, arguments: list[Any], node: Any) -> CResult:
        """A function without a body: one of the standard library, or of another file."""
        to = self.expressions
        if name in ("asm", "__asm__", "__asm"):
            raise to.error("assembler is not supported", node)
        if name == "__builtin_unreachable":
            to.oblige(SideCondition.REACHED, TRUE, FALSE)
            to.flow.settle(to.where, to.text(node))
            return None
        if self.memory.has(name) and (function is None or function.result == self.memory.result_kind(name)):
            return self.memory.call(name, arguments, node)
        if library.plain_name(name) in (*library.HEAP, "free"):
            return self.heap.call(library.plain_name(name), arguments, node)
        if name in SEEDS.values():
            self._number(name)
        if library.model_name(name) is not None:
            values = self.evaluate([a for a in arguments if not _is_text(a)])
            model = model_for(name, [v.kind for v in values if isinstance(v, CValue)], self.expressions.model)
            if model is not None and (function is None or has_signature(function, model)):
                return value_of_model(model, name, values, node, to)
            return self._leave_model(name, function, f"{name} is not declared as in the standard library", node)
        shown = [a for a in arguments if not _is_text(a) and getattr(a, "name", None) not in STREAMS]
        values = self.evaluate(shown)
        plain = library.plain_name(name)
        if plain in PRINTS and not _may_write(plain, arguments):
            return self._print(plain, values, node)
        if plain in SEEDS:
            self._begin_numbers(plain, node)
            return None
        reason = self._reason(name, plain, function, values)
        result = self._unknown(name, node) if reason is None else self._leave_model(name, function, reason, node)
        if name in self.source.pure and function is not None and reason is None and isinstance(result, CValue):
            if node is self.unused:
                return result
            return self._same_again(function, values, result, node)
        if plain not in library.NOT_MODELLED and not self._calls_nothing(name):
            self._doubt_callbacks(name, leaves=reason is not None)
        return result

    def _print(self, name: str, values: list[CResult], node: Any) -> CValue:
        """The result of a function that prints. That of printf is the number of characters, which is not modelled."""
        to = self.expressions
        if name in ("printf", "fprintf") and node is not self.unused:
            to.limit(f"call of {name}", f"the number of characters that {name} writes is not modelled", FALSE)
        result = CValue(self.expressions.model.INT, to.unknown(name, self.expressions.model.INT))
        if name not in ("puts", "fputs", "putchar", "fputc", "putc", "fflush"):
            return result
        minus, zero = (to.arithmetic.number(self.expressions.model.INT, n) for n in (-1, 0))
        success: Term = result.term
        if name == "fflush":
            success = zero.term
        elif name in ("putchar", "fputc", "putc") and len(values) == 1 and isinstance(values[0], CValue):
            success = to.arithmetic.convert(
                to.arithmetic.convert(values[0], kinds.UCHAR), self.expressions.model.INT
            ).term
        return CValue(self.expressions.model.INT, either(comparison("lt", result.term, zero.term), minus.term, success))

    def _seed_variable(self, name: str) -> Term:
        """The variable for the fact that the numbers of this function have been begun by a seed."""
        if name not in self.seeds:
            self.seeds[name] = self.expressions.flow.variable(f"seed of {name}", BOOL)
            self.statements.start.append((self.seeds[name], FALSE))
        return self.seeds[name]

    def _number(self, name: str) -> None:
        """The end of what is modelled, for a number before the seed: it may be one of those after it."""
        if any(seed in self.used for seed, numbers in SEEDS.items() if numbers == name):
            reason = f"{name} gives a function of the seed, which is set further on"
            self.expressions.limit(f"call of {name}", reason, self._seed_variable(name))

    def _begin_numbers(self, name: str, node: Any) -> None:
        """The end of what is modelled, for a second seed: it may be the first, and so may the numbers."""
        to, seeded = self.expressions, self._seed_variable(SEEDS[name])
        to.limit(f"call of {name}", f"{SEEDS[name]} gives a function of the seed, which is set twice", negation(seeded))
        to.flow.step(to.where, to.text(node), (seeded, TRUE))

    def _same_again(self, function: Function, values: list[CResult], new: CValue, node: Any) -> CValue:
        """The result of a `pure` or `const` function. That of a const one with the same arguments is the same; where a
        second call may give the same for another reason, the model ends."""
        to, name = self.expressions, function.name
        pairs = zip(values, (kind for _, kind in function.parameters), strict=False)
        given = [to.arithmetic.convert(v, k).term for v, k in pairs if isinstance(v, CValue) and isinstance(k, Integer)]
        known = name in self.source.constant and len(given) == len(values) == len(function.parameters)
        given = given if known else []
        if (name, known) not in self.remembered:
            wanted = [("is called", BOOL), ("result", new.term.type), *(("argument", t.type) for t in given)]
            self.remembered[name, known] = [to.flow.variable(f"{name} {what}", type) for what, type in wanted]
            self.statements.start.append((self.remembered[name, known][0], FALSE))
        called, result, *before = self.remembered[name, known]
        same = conjunction(*(comparison("eq", a, b) for a, b in zip(before, given, strict=True))) if known else FALSE
        reason = f"{name} is declared pure or const, and what a second call of it gives is not modelled"
        to.limit(f"call of {name}", reason, disjunction(negation(called), same))
        value = either(called, result, new.term)
        to.flow.step(to.where, to.text(node), (called, TRUE), (result, value), *zip(before, given, strict=True))
        return CValue(new.kind, result)

    def _calls_nothing(self, name: str) -> bool:
        return name in self.source.pure or name.startswith(("__VERIFIER_", *effects.CHOOSERS))

    def _doubt_callbacks(self, name: str, *, leaves: bool) -> None:
        """Leaves open what may fail in functions that the call may call back, in any state."""
        to, claims = self.expressions, self.callbacks.claims()
        if not claims:
            return
        back, failing = next(iter(claims.items()))
        what = "" if failing is None else f" ({min(failing)})"
        reason = f"{name} has no body and may call back {back}, which may fail{what}"
        open_claims = {to.flow.entry if found is None else c for found in claims.values() for c in found or [""]}
        to.flow.doubt(f"call of {name}", reason, to.where, open_claims, aside=not leaves)

    def _reason(self, name: str, plain: str, function: Function | None, values: list[CResult]) -> str | None:
        """Why a call may do more than return a value. None if it cannot."""
        if plain in PRINTS:
            return f"{name} may write to an object, by %n"
        if plain in library.NOT_MODELLED:
            return f"{name} is a function of the standard library without an exact model"
        if function is None and not name.startswith(effects.CHOOSERS):
            return f"{name} is not declared"
        if name in self.source.pure:
            return None
        if any(isinstance(v, Pointee | Lvalue | Address) and not pointers.is_null(v) for v in values):
            return f"{name} has no body and is passed an object of this file"
        if name.startswith(effects.CHOOSERS):
            return None
        handles = self.statements.handles
        if handles:
            return f"{name} has no body and may change {handles[0]} or what it points to"
        shared = [n for n in self.statements.shared if isinstance(self.statements.globals.names.get(n), Lvalue)]
        if shared:
            return f"{name} has no body and may change {shared[0]}"
        change = self.callbacks.change()
        if change is None or self._calls_nothing(name):
            return None
        back, changed = change
        return f"{name} has no body and may call back {back}, which may change {changed}"

    def _leave_model(
        self,
        name: str,
        function: Function | None,
        reason: str,
        node: Any,
        *,
        acts: bool = True,
        unread: Collection[str] = (),
    ) -> CResult:
        """The run leaves the model. The code after the call is read with any result. `acts`: the call may change what
        the operands beside it read. `unread`: the functions of the file that it may get to."""
        to = self.expressions
        kind = self.result_kind(node)
        acts &= library.plain_name(name) not in library.INEXACT
        end = to.flow.leave_model(f"call of {name}", reason, to.where, to.text(node), acts=acts)
        if unread:
            to.flow.unread.setdefault(end, set()).update(unread)
        if kind == kinds.VOID:
            return None
        if isinstance(kind, Pointer):
            return to.numbers.of(to.arithmetic.number(kinds.LONG, 0), node, kind)
        if isinstance(kind, Integer | Floating):
            return CValue(kind, to.unknown(f"{name}()", kind))
        return to.storage.add(kind, f"value, {to.flow.line(to.where)}", self.statements.term)

    def _unknown(self, name: str, node: Any) -> CResult:
        to = self.expressions
        kind = self.result_kind(node)
        known = name.startswith(effects.CHOOSERS)
        if not known:
            result = "" if kind == kinds.VOID else "return any value and to "
            to.flow.warn(f"{name} has no body: it is assumed to {result}change nothing", to.where)
        if kind == kinds.VOID:
            return None
        if not isinstance(kind, Integer | Floating):
            raise to.error(f"{name} has no body and returns {kind}: the result is unknown", node)
        return CValue(kind, to.unknown("nondet()" if known else f"{name}()", kind))

    # Functions of the file

    def _inline(self, function: Function, arguments: list[Any], node: Any) -> CResult:
        to = self.expressions
        if len(arguments) != len(function.parameters):
            count = len(function.parameters)
            raise to.error(f"{function.name} takes {plural(count, 'argument')}, found {len(arguments)}", node)
        if not self.prototypes.reaches(function.name, self.active[-1] if self.active else ""):
            self._require_promoted(function, arguments, node)
        return self.inline(function, self.evaluate(arguments), arguments, node)

    def inline(self, function: Function, values: list[CResult], arguments: list[Any], node: Any) -> CResult:
        """A call of a function with these arguments, which have been evaluated."""
        to, flow, wanted = self.expressions, self.expressions.flow, node is not self.unused
        if function.name in self.active:
            self.recursive[function.name] = True  # it may have called itself through a pointer
        fixed = self._fixed_parameters(function, values)
        if self._is_recursive(function) and self._is_too_deep(function, fixed):
            return self._leave_recursion(function, values, node)
        caller, outer, where = to.scope, flow.function, to.where
        self.active.append(function.name)
        self.path.append(id(node))
        self.heap.on_stack.append([])
        self.open_calls.append(function.name if not fixed else "")
        owner = self.owner
        to.scope = NameScope(self.statements.globals)
        updates: list[Update] = []
        lifetime = to.lifetimes.open()
        require_restrict(function, values, self)
        start = to.accesses.mark()
        to.accesses.depth += 1  # of the parameters, too: each call has its own
        for (name, kind), value, argument in zip(function.parameters, values, arguments, strict=True):
            if name in fixed:
                to.scope.names[name] = fixed[name]
            else:
                updates += self._bind(function, name, kind, value, argument)
        leave = flow.place()
        flow.step(where, to.text(node), *to.numbers.without_own(self.owner, updates))
        to.lifetimes.reenter(lifetime)
        flow.function = function.name
        outermost = function.name in ASSERTIONS and self.asserted is None
        self.asserted = where if outermost else self.asserted
        self._body(function, leave, wanted=wanted)
        self.asserted = None if outermost else self.asserted
        self.path.pop()
        self.heap.leave(node)
        to.accesses.settle(start)
        to.accesses.depth -= 1
        to.lifetimes.leave()
        flow.function, to.scope, to.where = outer, caller, where
        self.active.pop()
        self.open_calls.pop()
        result = self.results.get(owner)
        if isinstance(result, PointerVariable):
            return pointers.value_of(result, to, node)
        return None if result is None else to.read(result)

    def _require_promoted(self, function: Function, arguments: list[Any], node: Any) -> None:
        """Error if an argument has another type than its parameter: a call without a prototype converts nothing."""
        to = self.expressions
        for (name, wanted), argument in zip(function.parameters, arguments, strict=True):
            given = static.kind_of(to, argument)
            kept = self.expressions.model.promote(given) if isinstance(given, Integer) else given
            if (self.expressions.model.DOUBLE if kept == kinds.FLOAT else kept) != wanted and isinstance(
                wanted, Integer | Floating
            ):
                passed = "" if kept == given else f" (passed as {kept})"
                reason = f"{name} is {wanted}, not {given}{passed}, and {function.name} has no prototype here"
                raise to.error(f"{to.text(node)}: {reason}; declare its parameters before", node)

    def evaluate(self, arguments: list[Any]) -> list[CResult]:
        """The values, left to right. C leaves the order open: a claim if it matters. A sequence point follows."""
        to = self.expressions
        kept: list[Any] = []
        before: list[UnorderedOperand] = []
        start = to.begin(*arguments)
        for i, argument in enumerate(arguments):
            middle, now = to.accesses.mark(), to.flow.endings.now()
            later = [a for a in arguments[i + 1 :] if effects.level(a, to.scope) == effects.ACTS]
            value = to.value(argument)
            if isinstance(value, Lvalue) and isinstance(value.kind, Struct):
                to.note(value, writes=False)
                value = self.copy(value, argument) if later else value
            to.require_order(start, middle)
            before.append(to.operand(start, before, argument, now))
            kept.append(to.after(argument, value, later[0]) if later else lambda value=value: value)
        values: list[CResult] = []
        for first in reversed(kept):
            values.append(first())
        to.accesses.settle(start.mark)
        return values[::-1]

    def copy(self, struct: Lvalue, node: Any) -> Lvalue:
        to = self.expressions
        copy = to.storage.add(struct.kind, f"value, {to.flow.line(to.where)}", self.statements.term)
        to.store(node, f"value = {to.text(node)}", (copy, struct))
        return copy

    @property
    def owner(self) -> str:
        """The owner of the variables of the call that is being read: each call of a function that is active has its
        own."""
        name = self.active[-1]
        depth = self.active.count(name)
        return name if depth == 1 else f"{name}@{depth}"

    def _is_too_deep(self, function: Function, fixed: Mapping[str, CValue]) -> bool:
        """The call is not read. Calls with constants mostly end by themselves, and have a limit of their own. Where no
        run gets to, one call is read: its claims are known then."""
        if self.statements.is_dead:
            return function.name in self.active
        if not fixed or not self.follows_constants:
            return (self.open_calls if self.follows_constants else self.active).count(function.name) >= self.depth
        if len(self.expressions.flow.edges) > MOST_EDGES:
            self.exceeded = function.name
            raise AutomatonTooLarge(f"{function.name} calls itself too often", self.expressions.where)
        return self.active.count(function.name) >= MOST_CALLS

    def _leave_recursion(self, function: Function, values: list[CResult], node: Any) -> CResult:
        """A call that no run gets to, or the end of what is modelled: the function calls itself too deeply."""
        to = self.expressions
        if isinstance(function.result, Pointer) and self.statements.is_dead:
            return to.arithmetic.number(kinds.LONG, 0)
        if not self.statements.is_dead:
            self.exceeded = function.name
        acts = any(not isinstance(v, CValue) for v in values) or self.statements.has_static
        reason = f"{function.name} calls itself, and calls are read {self.depth} deep"
        unread = {function.name} | names_reached(function, self)
        return self._leave_model(function.name, function, reason, node, acts=acts, unread=unread)

    def _bind(self, function: Function, name: str, kind: AnyKind, value: CResult, argument: Any) -> Iterator[Update]:
        to = self.expressions
        if isinstance(kind, Pointer) and not self.statements.is_computed(kind, (self.owner, name)):
            pointer = self.statements.pointer(name, kind, (self.owner, name), function.body, sure=True)
            to.scope.names[name] = pointer
            for offset, new in pointers.bind(pointer, value, name, to, argument):
                yield from to.updates(offset, new, argument)
            return
        place = self.statements.variable(name, kind, (self.owner, name), constant=name in function.constant)
        to.lifetimes.declare(place.object)
        to.scope.names[name] = place
        yield from to.updates(place, value, argument)

    def _fixed_parameters(self, function: Function, values: Sequence[CResult]) -> dict[str, CValue]:
        """The parameters of a function that calls itself that are constants in this call, and are not assigned to."""
        found: dict[str, CValue] = {}
        to = self.expressions
        for (name, kind), value in zip(function.parameters, values, strict=True):
            if isinstance(kind, Integer) and isinstance(value, CValue) and self._is_recursive(function):
                known = to.flow.constant_of(to.arithmetic.convert(value, kind).term)
                if known.is_const and not assigns(function.body, name):
                    found[name] = CValue(kind, known)
        return found

    def _is_recursive(self, function: Function) -> bool:
        if function.name not in self.recursive:
            self.recursive[function.name] = function.name in names_used(function, self)
        return self.recursive[function.name]

    def _body(self, function: Function, leave: str, *, wanted: bool) -> None:
        to, flow = self.expressions, self.expressions.flow
        result: Lvalue | PointerVariable | None = None
        if isinstance(function.result, Pointer) and not self.statements.is_computed(
            function.result, (self.owner, "return")
        ):
            result = self.statements.pointer("return", function.result, (self.owner, "return"), None, sure=True)
        elif function.result != kinds.VOID:
            result = self.statements.variable("return", function.result, (self.owner, "return"))
            to.temporaries.add(result.object)
        self.results[self.owner] = result
        self.statements.run(function, result, leave, wanted=wanted)
        flow.at = leave


def _is_text(node: Any) -> bool:
    return form(node) == "Constant" and node.type == "string"


def _may_write(name: str, arguments: list[Any]) -> bool:
    """The format has `%n`, or is not known."""
    place = {"printf": 0, "fprintf": 1}.get(name)
    if place is None or place >= len(arguments):
        return False
    return not _is_text(arguments[place]) or "n" in re.findall(FORMATS, arguments[place].value)


def _width(kind: AnyKind) -> int:
    return kind.width if isinstance(kind, Integer) else 0


def _only_fails(body: Any) -> bool:
    """The body does nothing but report and end: its calls are those of the library that do, and nothing is assigned."""
    if form(body) == "Assignment" or (form(body) == "UnaryOp" and body.op in ("p++", "p--", "++", "--")):
        return False
    if form(body) == "FuncCall" and called_name(body) not in (*ASSERTIONS, *ERRORS, *ENDS, *PRINTS):
        return False
    return all(_only_fails(child) for _, child in body.children())
