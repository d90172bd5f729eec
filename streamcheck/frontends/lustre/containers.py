"""Sets and maps over any keys: what is asked of them, instead of what they are.

A set or map is a variable that stands for the operation that made it; nothing else is ever known of that variable.
`k in s` and `m[k]` are followed through the operations down to the sets and maps that no operation made, the leaves:

    k in {a, b}         k = a or k = b                  m[a := v][k]     if k = a then v else m[k]
    k in s + t          k in s or k in t                (m - s)[k]       m[k], as in Kind 2

What is asked of a leaf is an unknown; equal keys get equal answers. `k in pre s` is `pre (k in s)` for a key k that
never changes, and so is `pre k in pre s`. For another key the answer is any: a proof holds for every one, and a
counterexample that needs it is none, which replay finds out (`not_tracked`).

Equality is decided for sets that are made of literals. Otherwise it is an unknown e: if e is false, the sides differ at
some key, a variable for each equation; if e is true, they agree at each key that is asked for. That is exact where the
leaves may be anything at each step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import choice, conjunction, disjunction, negation, simplify
from streamcheck.core.term import FALSE, TRUE, Term, constant, substitute, term, variable, variables, walk
from streamcheck.core.types import BOOL, INT, ArrayType, StructType, Type, struct_of
from streamcheck.frontends import operations
from streamcheck.frontends.lustre.scopes import Delay, LustreScope, Shape
from streamcheck.frontends.lustre.type_arguments import applied_name
from streamcheck.frontends.lustre.variables import Variables
from streamcheck.frontends.operations import has_function, logic, struct_part
from streamcheck.problem.claim import IMPLIED
from streamcheck.problem.specification import FunctionCall

if TYPE_CHECKING:
    from streamcheck.frontends.lustre.claims import Claims
    from streamcheck.frontends.lustre.delays import Delays

FreeConstants: TypeAlias = "list[tuple[Term, LustreScope, Shape, int]]"
Question: TypeAlias = Literal["in", "at", "outside"]  # is the key in it, what is at the key, and at those that are not
MOST_COMPARED = 4000  # keys of one set or map, two at a time, if quantifiers ask for them
MOST_ROUNDS = 3  # of keys that come from the equality of values in maps of maps


@dataclass(frozen=True, slots=True)
class Made:
    """The operation that made a set or map, with its operands."""

    op: str  # "empty", "put", "+", "*", "-", "fill"
    operands: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class AtAllKeys:
    """`answer` is true if the condition holds at every key: that matters at those that are asked of what has the type
    `asked`, of keys, or of arrays whose size has no value. A quantifier of the file is not asked for the keys
    at which two sets or maps differ: each may have more of these in it."""

    answer: Term
    asked: Type
    condition: Callable[[Term], Term]
    shown: str
    is_quantifier: bool


class Containers:
    def __init__(self, variables: Variables, globals: LustreScope, free_constants: FreeConstants) -> None:
        self.variables = variables
        self.globals = globals
        self.free_constants = free_constants
        self.delays: Delays | None = None
        self.types: dict[Type, tuple[Type, Type | None]] = {}  # key and value; None for a set
        self.sizes: dict[Type, Term] = {}  # of arrays whose size has no value
        self.made: dict[Term, Made] = {}
        self.definitions: dict[Term, Callable[[Term], Term]] = {}  # of the elements of arrays
        self.rigid: set[Term] = set()  # variables that never change, besides constants
        self.restricted: set[Term] = set()  # unknowns that may not be anything at each step: results of functions
        self.sources: dict[Term, tuple[Term, ...]] = {}  # of what stands for sets and answers: the sets and keys in it
        self.pending: list[tuple[Delay, Delay, Term, Term, Question]] = []
        self._terms: dict[tuple[Made, Type], Term] = {}
        self._arrays: dict[tuple[Type, Term], Type] = {}
        self._answers: dict[tuple[Question, Term, Term], Term] = {}
        self._asked: dict[tuple[Question, Term], list[tuple[Term, Term]]] = {}  # of leaves: keys and answers
        self._agreeing: set[Term] = set()  # answers of which equal keys have equal ones, or that are not kept
        self._universal: list[AtAllKeys] = []
        self._witnesses: set[Term] = set()  # the keys at which a condition fails, if it does, that is no quantifier
        self._is_quantified = False  # quantifiers are among these
        self._known: dict[object, Term] = {}  # the answers to questions about all keys of sets and maps
        self._known_arrays: dict[object, Term] = {}  # the quantifiers about their elements
        self.quantify: Callable[[Callable[[Term], Term], str, Callable[[], Term]], Term] | None = None
        self.index_scopes: dict[LustreScope, tuple[Term, ...]] = {}  # in which elements are defined: the indices
        self._keys: dict[Type, dict[Term, None]] = {}  # by their types, and by those of arrays that are asked
        self._implied: list[Term] = []
        self._done: set[tuple[Term, Term]] = set()
        self._compared: set[tuple[tuple[Term, Term], tuple[Term, Term]]] = set()

    # Types

    def type(self, kind: str, key: Type, value: Type | None) -> Type:
        if has_function(key) or _has_arrays(key):
            raise TypeRule(f"{key} has sets, maps or arrays in it: it is no type of keys")
        parts = [Shape(key)] if value is None else [Shape(key), Shape(value)]
        type = struct_of(applied_name(kind, parts), (("id", INT),), "function")
        self.types[type] = (key, value)
        return type

    def is_container(self, type: Type) -> bool:
        return type in self.types

    # Arrays

    def array(self, element: Type, size: Term) -> Type:
        """The type of an array whose size has no value: a map from the indices below it."""
        if (element, size) not in self._arrays:
            name = re.sub(r"\W", "_", f"array of {element} by {name_of(size)}")
            if any(isinstance(known, StructType) and known.name == name for known in self.sizes):
                name += f"_{len(self.sizes)}"
            type = self._arrays[element, size] = struct_of(name, (("id", INT),), "function")
            self.types[type], self.sizes[type] = (INT, element), size
        return self._arrays[element, size]

    def is_array(self, type: Type) -> bool:
        return type in self.sizes

    def element_of(self, array: Type) -> Type:
        element = self.types[array][1]
        assert element is not None
        return element

    def fill(self, value: Term, size: Term) -> Term:
        """`value ^ size`."""
        return self._make(Made("fill", (value,)), self.array(value.type, size))

    def array_of_elements(self, name: str, type: Type, element: Callable[[Term], Term], at: int) -> Term:
        """An array with these elements."""
        var = self.variables.unknown(name, type, at)
        self.definitions[var] = element
        self.restricted.add(var)
        return var

    def is_index(self, array: Type, key: Term) -> Term:
        return conjunction(
            operations.compare("le", constant(INT, 0), key), operations.compare("lt", key, self.sizes[array])
        )

    def _element(self, array: Term, key: Term, inside: Callable[[], Term]) -> Term:
        """The element of an array that something defines: outside of it, any value."""
        is_inside = self.is_index(array.type, key)
        outside = self.variables.unknown(f"{name_of(array)}[{name_of(key)}]", self.element_of(array.type), 0)
        self.sources[outside] = (key,)
        self._agreeing.add(outside)
        self._asked.setdefault(("outside", array), []).append((key, outside))
        if is_inside is FALSE:
            return outside
        assert self.delays is not None
        before, registers = self.variables.count(), len(self.delays.by_var)
        value = choice(is_inside, inside(), outside)
        if len(self.delays.by_var) > registers or not self.variables.made_since(before) <= self._agreeing:
            self._asked.setdefault(("at", array), []).append((key, value))
        return value

    # Operations

    def empty(self, type: Type) -> Term:
        return self._make(Made("empty"), type)

    def put(self, container: Term, key: Term, value: Term | None) -> Term:
        due, held = self.types[container.type]
        self._require(key, due, "a key")
        if value is not None and held is not None:
            self._require(value, held, "a value")
        if (value is None) != (held is None):
            raise TypeRule("a map has values, write m[key := value]" if held else "a set has no values")
        self._ask(container.type, key)
        return self._make(Made("put", (container, key) if value is None else (container, key, value)), container.type)

    def combine(self, op: str, a: Term, b: Term) -> Term:
        """`a + b`, `a * b` of sets; `a - b` of sets, or of a map and a set of its keys."""
        key, value = self.types[a.type]
        if value is not None and op != "-":
            raise TypeRule(f"`{op}` is an operation of sets")
        if self.types.get(b.type) != (key, None):
            raise TypeRule(f"expected a set of {key}, found {b.type}")
        return self._make(Made(op, (a, b)), a.type)

    def _make(self, made: Made, type: Type) -> Term:
        cached = self._terms.get((made, type)) if made.operands else None
        if cached is None:
            words = {"empty": "nothing", "put": "insertion", "+": "union", "*": "intersection", "-": "difference",
                     "fill": "array"}  # fmt: skip
            cached = self.variables.unknown(words[made.op], type, 0)
            self.made[cached] = made
            self.sources[cached] = made.operands
            if made.operands:
                self._terms[made, type] = cached
            if made.op == "fill":
                self.restricted.add(cached)
        return cached

    def _require(self, value: Term, due: Type, what: str) -> None:
        if value.type is not due:
            raise TypeRule(f"{what}: expected {due}, found {value.type}")

    # Questions

    def has(self, container: Term, key: Term) -> Term:
        """True if the key is in it."""
        due, _ = self.types[container.type]
        self._require(key, due, "a key")
        self._ask(container.type, key)
        return self._answer("in", container, key)

    def at(self, map: Term, key: Term) -> Term:
        """The value at the key; any if it has none."""
        due, value = self.types[map.type]
        if value is None:
            raise TypeRule("a set has no values at its elements: use `in`")
        self._require(key, due, "a key")
        self._ask(map.type, key)
        return self._answer("at", map, key)

    def _ask(self, type: Type, key: Term) -> None:
        """Say what holds at all keys of sets, maps, or arrays of the type at this one too."""
        for asked in (key.type, type) if self.is_array(type) else (key.type,):
            self._keys.setdefault(asked, {})[key] = None

    def _answer(self, question: Question, container: Term, key: Term) -> Term:
        if question == "in" and self.is_array(container.type):
            return self.is_index(container.type, key)
        known = self._answers.get((question, container, key))
        if known is None:
            made = self.made.get(container)
            if made is not None:
                known = self._from_operation(question, container, made, key)
            elif container in self.definitions:
                known = self._element(container, key, partial(self.definitions[container], key))
            elif (inner := without_choice_inside(container)) is not container:
                known = self._answer(question, inner, key)
            elif container.op == "mux":
                condition, a, b = container.args
                known = choice(condition, self._answer(question, a, key), self._answer(question, b, key))
            else:
                known = self._of_leaf(question, container, key)
            self._answers[question, container, key] = known
        return known

    def _from_operation(self, question: Question, container: Term, made: Made, key: Term) -> Term:
        if question == "in":
            return self._is_in(made, key)
        match made.op, made.operands:
            case "put", (before, own, value):
                if not self.is_array(container.type):
                    return self._after_put(before, own, value, key)
                return self._element(container, key, partial(self._after_put, before, own, value, key))
            case "-", (before, _):
                return self._answer("at", before, key)
            case "fill", (value,):
                return self._element(container, key, lambda: value)
        return self._of_leaf("at", container, key)  # of an empty map

    def _after_put(self, before: Term, own: Term, value: Term, key: Term) -> Term:
        same = self.equal(key, own)
        return value if same is TRUE else choice(same, value, self._answer("at", before, key))

    def _is_in(self, made: Made, key: Term) -> Term:
        match made.op, made.operands:
            case "empty", _:
                return FALSE
            case "put", (before, own, *_):
                same = self.equal(key, own)
                return TRUE if same is TRUE else disjunction(same, self._answer("in", before, key))
            case "+", (a, b):
                in_b = self._answer("in", b, key)  # what is added, mostly: nothing need be asked of the other then
                return TRUE if in_b is TRUE else disjunction(self._answer("in", a, key), in_b)
            case "*", (a, b):
                return conjunction(self._answer("in", a, key), self._answer("in", b, key))
        a, b = made.operands
        return conjunction(self._answer("in", a, key), negation(self._answer("in", b, key)))

    # Leaves

    def _of_leaf(self, question: Question, leaf: Term, key: Term) -> Term:
        _, held = self.types[leaf.type]
        type = BOOL if question == "in" else held
        assert type is not None
        shown = f"{name_of(key)} in {name_of(leaf)}" if question == "in" else f"{name_of(leaf)}[{name_of(key)}]"
        answer = self._leaf_variable(question, leaf, key, type, shown)
        self._asked.setdefault((question, leaf), []).append((key, answer))
        self.sources[answer] = (leaf, key)
        self._agreeing.add(answer)
        return answer

    def _leaf_variable(self, question: Question, leaf: Term, key: Term, type: Type, shown: str) -> Term:
        roots = [leaf] if leaf in self.made else list(variables([leaf]))
        moving = [v for v in variables([key]) if self.moves(v)]
        assert self.delays is not None
        if len(roots) == 1:
            delay = self.delays.by_var.get(roots[0])
            if delay is not None and all(self._moves_with(delay, v) for v in moving):
                own = self.delays.beside(delay, shown, type)
                self.pending.append((own, delay, leaf, key, question))
                return own.var
            if self._is_constant(roots[0]) and not moving:
                var = variable(self.variables.fresh(shown), type)
                self.free_constants.append((var, self.globals, Shape(type), 0))
                return var
        answer = self.variables.unknown(shown, type, 0)
        if not all(map(self._is_any_at_each_step, roots)) or any(
            t.op == "index" and not t.args[1].is_const for t in walk([leaf])
        ):
            self.not_tracked(answer, shown)
        return answer

    def _moves_with(self, delay: Delay, var: Term) -> bool:
        """True if the variable is a register that takes steps with this one."""
        assert self.delays is not None
        own = self.delays.by_var.get(var)
        return own is not None and own.context is delay.context

    def moves(self, var: Term) -> bool:
        """True if the variable may change from step to step."""
        return var not in self.rigid and not self._is_constant(var)

    def _is_constant(self, var: Term) -> bool:
        return any(var is known for known, *_ in self.free_constants)

    def _is_any_at_each_step(self, root: Term) -> bool:
        return root in self.variables.unknowns and root not in self.restricted

    def not_tracked(self, answer: Term, shown: str, when: Term = TRUE) -> None:
        """Let no counterexample depend on the answer where `when` holds: two calls of one function that never agree."""
        self._agreeing.add(answer)
        for other in (FALSE, TRUE):
            self.variables.calls.append(FunctionCall(f"`{shown}` (which is not kept)", when, (), (answer, other)))

    def follow_registers(self, define: Callable[[Delay, Term], None]) -> bool:
        """Define the registers that hold answers, from what the registers of sets and maps hold. True if some were."""
        pending, self.pending = self.pending, []
        for own, delay, leaf, key, question in pending:
            values = {v: self._next_of(v) for v in (delay.var, *variables([key]))}
            if all(values.values()):
                replaced = substitute([leaf, key], {v: t for v, t in values.items() if t is not None})
                simple = simplify(replaced.values())
                define(own, self._answer(question, simple[replaced[leaf]], simple[replaced[key]]))
            else:
                self.pending.append((own, delay, leaf, key, question))
        return len(self.pending) < len(pending)

    def _next_of(self, var: Term) -> Term | None:
        """The next value of a register, None if it is not known yet; the variable itself if it is no register."""
        assert self.delays is not None
        delay = self.delays.by_var.get(var)
        return var if delay is None else delay.value

    # Equality

    def equal(self, a: Term, b: Term) -> Term:
        """Equality of values of one type, which may have sets and maps in it."""
        if a.type is not b.type:
            raise TypeRule(f"{a.type} and {b.type} are different types")
        if a is b or not has_function(a.type):
            return operations.equal(a, b)
        if self.is_container(a.type):
            return self._same(a, b)
        match a.type:
            case ArrayType(length=length):
                indices = (constant(INT, i) for i in range(length))
                return conjunction(*(self.equal(term("index", a, i), term("index", b, i)) for i in indices))
            case StructType(form="union", fields=(_, *payloads)):
                same = [operations.equal(struct_part(a, 0), struct_part(b, 0))]
                for i, (name, _) in enumerate(payloads, 1):
                    has_payload = operations.has_member(struct_part(a, 0), name)
                    same.append(logic("implies", has_payload, self.equal(struct_part(a, i), struct_part(b, i))))
                return conjunction(*same)
            case StructType(fields=fields):
                return conjunction(*(self.equal(struct_part(a, i), struct_part(b, i)) for i in range(len(fields))))
        raise AssertionError(a.type)

    def _same(self, a: Term, b: Term) -> Term:
        elements, others = self._elements(a), self._elements(b)
        if elements is not None and others is not None:
            at_each = (disjunction(negation(c), negation(self._differ(a, b, k))) for c, k in (*elements, *others))
            return conjunction(*at_each)
        shown = f"{name_of(a)} = {name_of(b)}"
        return self._for_each(frozenset((a, b)), shown, lambda key: negation(self._differ(a, b, key)), a, b)

    def all_meet(self, container: Term, condition: Callable[[Term, Term | None], Term]) -> Term:
        """True if each key, with its value, meets the condition."""

        def at_key(key: Term) -> Term:
            value = None if self.types[container.type][1] is None else self._answer("at", container, key)
            return disjunction(negation(self._answer("in", container, key)), condition(key, value))

        elements = self._elements(container)
        if elements is not None:
            return conjunction(*(disjunction(negation(c), at_key(key)) for c, key in elements))
        return self._for_each(object(), f"all of {name_of(container)}", at_key, container)

    def holds_at_all_keys(self, key: Type, condition: Callable[[Term], Term], shown: str) -> Term:
        """True if the condition holds at every key. No counterexample may depend on it: the sets and maps may have no
        values for which it holds at the keys that nobody asks for."""
        self._is_quantified = True
        answer = self._at_all(key, key, condition, shown, is_quantifier=True)
        self.not_tracked(answer, shown)
        return answer

    def is_key(self, bound: Term) -> bool:
        """True if a key that was asked for has this variable in it."""
        return any(bound in variables([key]) for keys in self._keys.values() for key in keys)

    def is_settled(self) -> bool:
        return not (self._implied or self._open())

    def _for_each(self, what: object, shown: str, condition: Callable[[Term], Term], *containers: Term) -> Term:
        """True if the condition holds at every key. Of arrays, that is a quantifier."""
        if not self.is_array(containers[0].type):
            return self._for_all_keys(what, shown, condition, *containers)
        if what not in self._known_arrays:
            assert self.quantify is not None

            def at_index(index: Term) -> Term:
                self._ask(containers[0].type, index)
                return condition(index)

            at_once = partial(self._for_all_keys, what, shown, condition, *containers)
            self._known_arrays[what] = self.quantify(at_index, shown, at_once)
        return self._known_arrays[what]

    def _for_all_keys(self, what: object, shown: str, condition: Callable[[Term], Term], *containers: Term) -> Term:
        """A variable that is true if the condition holds at every key."""
        if what not in self._known:
            type = containers[0].type
            key = self.types[type][0]
            answer = self._at_all(key, type if self.is_array(type) else key, condition, shown, is_quantifier=False)
            self._known[what] = answer
            self.sources[answer] += containers
            if not all(self._is_any_at_each_step(leaf) for leaf in self._leaves(*containers)):
                self.not_tracked(answer, shown, answer)  # if it is false, it is so at a key
        return self._known[what]

    def _at_all(
        self, key: Type, asked: Type, condition: Callable[[Term], Term], shown: str, *, is_quantifier: bool
    ) -> Term:
        answer = self.variables.unknown(shown, BOOL, 0)
        self._universal.append(AtAllKeys(answer, asked, condition, shown, is_quantifier))
        witness = self.variables.unknown(f"a key of {shown}", key, 0)
        if not is_quantifier:
            self._witnesses.add(witness)
        for type in dict.fromkeys((key, asked)):
            self._keys.setdefault(type, {})[witness] = None
        at_witness = condition(witness)
        self.sources[witness] = self.sources[answer] = (at_witness,)
        self._implied.append(disjunction(answer, negation(at_witness)))
        return answer

    def _differ(self, a: Term, b: Term, key: Term) -> Term:
        """True if the key is in one of them alone, or has different values."""
        own, other = self._answer("in", a, key), self._answer("in", b, key)
        differ = operations.equal(own, other, negated=True)
        if self.types[a.type][1] is None:
            return differ
        values = self.equal(self._answer("at", a, key), self._answer("at", b, key))
        return disjunction(differ, conjunction(own, negation(values)))

    def _elements(self, container: Term) -> list[tuple[Term, Term]] | None:
        """The keys that may be in it, each with a condition without which it is not; None if they are not known."""
        made = self.made.get(container)
        inner = without_choice_inside(container) if made is None else container
        if inner is not container:
            return self._elements(inner)
        if made is None and container.op == "mux":
            condition, a, b = container.args
            sides = self._elements(a), self._elements(b)
            if sides[0] is None or sides[1] is None:
                return None
            own = [(conjunction(condition, c), k) for c, k in sides[0]]
            return own + [(conjunction(negation(condition), c), k) for c, k in sides[1]]
        match made:
            case Made("empty"):
                return []
            case Made("put", (before, key, *_)):
                rest = self._elements(before)
                return None if rest is None else [*rest, (TRUE, key)]
            case Made("+", (a, b)):
                sides = self._elements(a), self._elements(b)
                return None if sides[0] is None or sides[1] is None else sides[0] + sides[1]
            case Made("*" | "-", (a, _)):
                return self._elements(a)
        return None

    def _leaves(self, *containers: Term) -> Iterator[Term]:
        """The variables that no operation made, below these."""
        stack = list(containers)
        while stack:
            container = stack.pop()
            for var in variables([container]):
                if var in self.made and self.made[var].op != "fill":
                    stack += (o for o in self.made[var].operands if has_function(o.type))
                elif has_function(var.type):
                    yield var

    # Assumptions

    def assume(self, claims: Claims, at: int, define: Callable[[Delay, Term], None]) -> None:
        """Assume what is known of the answers: equal keys have equal ones, and what holds at all keys holds at those
        that are asked for. `define` sets what a register holds."""
        for _ in range(MOST_ROUNDS):
            while self.follow_registers(define):
                pass
            if self._is_quantified and len(self._compared) + len(self._done) + len(self._open()) > MOST_COMPARED:
                text = "the quantifiers over the keys of sets and maps ask for too many keys"
                raise claims.tokens.error(at, text, write="properties without some of them")
            if not self._imply():
                break
        while self.follow_registers(define):
            pass
        for claim in {claim.answer: claim for claim, _ in self._open()}.values():
            self.not_tracked(claim.answer, claim.shown)
        implied, self._implied = self._implied, []
        for one in implied:
            claims.assume("sets and maps", one, at, origin=IMPLIED)

    def _imply(self) -> bool:
        """Add what follows for the keys and answers that are new. True if there are some."""
        new = self._open()
        for claim, key in new:
            self._done.add((claim.answer, key))
            self._implied.append(logic("implies", claim.answer, claim.condition(key)))
        pairs = [
            pair
            for asked in self._asked.values()
            for j, own in enumerate(asked)
            for pair in ((own, other) for other in asked[:j])
            if pair not in self._compared
        ]
        for (key, answer), (other, its) in pairs:
            self._compared.add(((key, answer), (other, its)))
            self._implied.append(logic("implies", operations.equal(key, other), self.equal(answer, its)))
        return bool(new or pairs)

    def _open(self) -> list[tuple[AtAllKeys, Term]]:
        """Each claim about all keys, with each key for which it was not said yet."""
        return [
            (claim, key)
            for claim in self._universal
            for key in self._keys.get(claim.asked, ())
            if (claim.answer, key) not in self._done and not (claim.is_quantifier and key in self._witnesses)
        ]


def without_choice_inside(container: Term) -> Term:
    """The same value with fields and elements taken inside of choices."""
    if container.op in ("field", "index") and container.args[0].op == "mux":
        condition, a, b = container.args[0].args
        rest = container.args[1:]
        return choice(condition, *(_part(container, x, rest) for x in (a, b)))
    if container.op == "field" and container.args[0].op == "struct":
        return struct_part(container.args[0], container.payload)
    if container.op == "index" and container.args[0].op == "array":
        index, parts = container.args[1], container.args[0].args
        result = parts[-1]
        for i in range(len(parts) - 2, -1, -1):
            result = choice(operations.equal(index, constant(index.type, i)), parts[i], result)
        return result
    if container.op == "index" and container.args[0].op == "update":
        array, index, value = container.args[0].args
        same = operations.equal(index, container.args[1])
        return choice(same, value, term("index", array, container.args[1]))
    if container.op in ("field", "index"):
        inner = without_choice_inside(container.args[0])
        if inner is not container.args[0]:
            return _part(container, inner, container.args[1:])
    return container


def _part(container: Term, value: Term, rest: tuple[Term, ...]) -> Term:
    return struct_part(value, container.payload) if container.op == "field" else term("index", value, *rest)


def _has_arrays(type: Type) -> bool:
    match type:
        case ArrayType():
            return True
        case StructType(fields=fields):
            return any(_has_arrays(t) for _, t in fields)
    return False


def name_of(value: Term) -> str:
    """Its name in that of an unknown: a variable, a number, or their sum."""
    if value.op in ("add", "sub") and len(names := [name_of(a) for a in value.args]) == 2 and "…" not in names:
        return f"{names[0]} {'+' if value.op == 'add' else '-'} {names[1]}"
    return str(value.payload) if value.op == "var" or value.is_const else "…"
