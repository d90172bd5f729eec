"""Quantifiers: `forall (i: T) p` and `exists (i: T) p`.

Over finitely many values they are expanded: of bool, an enum, a subrange with constant bounds, of arrays and records
of these, and of an int that a guard bounds (`0 <= i and i < 3 => …`). Otherwise a variable stands for the quantifier
until all claims are known; then it is removed exactly:

    ∀i. p  in a property, ∃i. p in a reachability query     a constant i, of which nothing is known (Skolem)
    ∃i. p  in an assumption                                 an input i, if p has no memory
    any other                                               elimination (`elimination`); if i is a key of sets or maps,
                                                            its meaning for the keys that are asked for (`containers`)

What none of these decides is refused with its line. A call in the operand is a call for every value that the type of
the variable has, so the claims of its contract are about every such value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from streamcheck.core.simplify import conjunction, disjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable, variables
from streamcheck.core.types import BOOL, INT, ArrayType, EnumType, MachineType, StructType, Type, default
from streamcheck.frontends.lustre.datatypes import constructors_of
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.scopes import LustreScope, Shape
from streamcheck.frontends.lustre.syntax import ExpressionText, TypeText, Variable
from streamcheck.frontends.lustre.walks import conditions, has_steps, subexpressions

MOST_VALUES = 4096  # of the variables of a quantifier together that are put for them, one by one
BOUNDS = {  # (is it a lower bound, what is added to it)
    "lt": ((False, -1),),
    "le": ((False, 0),),
    "gt": ((True, 1),),
    "ge": ((True, 0),),
    "eq": ((True, 0), (False, 0)),
}
MIRROR = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq"}


@dataclass(frozen=True, slots=True, eq=False)
class Quantified:
    """The meaning of a marker: `body` for all (or some) values of `bound`, read in `scope`. `own` are the variables
    that were made while the operand, and what its registers hold, was read: their values depend on `bound`. `at_value`
    is the operand for another value than `bound`, None if it has memory."""

    is_universal: bool
    bound: Term
    body: Term
    scope: LustreScope
    own: set[Term]
    at_value: Callable[[Term], Term] | None
    at: int
    label: str
    by_keys: Callable[[], Term] | None = None  # its meaning for the indices of arrays that are asked for


class Quantifiers:
    """`markers` are the variables that stand for quantifiers over infinitely many values. `constants` are the variables
    of these, with their tokens and labels."""

    def __init__(
        self, declarations: LustreDeclarations, callers: Mapping[LustreScope, LustreScope], *, unfold: bool
    ) -> None:
        self.declarations = declarations
        self.callers = callers  # of instances
        self.variables = declarations.variables
        self.tokens = declarations.tokens
        self.unfold = unfold
        self.markers: dict[Term, Quantified] = {}
        self.constants: list[tuple[Term, int, str]] = []
        self._values: dict[tuple[int, LustreScope], Term] = {}
        self._by_scope: dict[LustreScope, list[Quantified]] = {}

    def value(self, e: ExpressionText, scope: LustreScope) -> Term:
        key = (id(e), scope)
        if key not in self._values:
            bounds = self._bounds(e, scope) if self.unfold else {}
            roots = (e.args[0], *(c for v in e.value for _, c in conditions(v.type, self.declarations.file.types)))
            if bounds and any(s.op in ("call", "ascribe") for root in roots for s in subexpressions(root)):
                self._over(e, list(e.value), scope, TRUE, {}, copies=1)  # for what is claimed outside of the bounds
            self._values[key] = self._over(e, list(e.value), scope, TRUE, bounds, copies=1)
        return self._values[key]

    def _over(
        self,
        e: ExpressionText,
        left: list[Variable],
        scope: LustreScope,
        domain: Term,
        bounds: dict[str, range],
        copies: int,
    ) -> Term:
        """The quantifier over the variables that are left, the others have values in the scope. `domain` is the
        condition of their types, `copies` the number of values that they have together."""
        if not left:
            return self._operand(e, scope, domain)
        v, rest = left[0], left[1:]
        shape = self.declarations.shape(v.type, scope)
        values = self._finite_values(shape, bounds.get(v.name)) if self.unfold else None
        if values is None or copies * len(values) > MOST_VALUES:
            return self._symbolic(e, v, rest, shape, scope, domain, bounds, copies)
        parts = []
        for value in values:
            inner = self._inner(scope, v, shape, value)
            one = conjunction(domain, self.declarations.within(shape, value, inner))
            if one is not FALSE:
                parts.append(self._over(e, rest, inner, one, bounds, copies * len(values)))
        return conjunction(*parts) if e.op == "forall" else disjunction(*parts)

    def _operand(self, e: ExpressionText, scope: LustreScope, domain: Term) -> Term:
        body = e.args[0]
        if domain is not TRUE and any(s.op in ("call", "any") for s in subexpressions(body)):
            wish = f"{scope.path}{self.tokens.place(body.at)} first step"
            context = self.variables.context_on_clock(scope.context, domain, FALSE, wish)
            scope = LustreScope(scope.path, context, scope, scope.node)
        value = self.declarations.term(body, scope, BOOL)
        return disjunction(negation(domain), value) if e.op == "forall" else conjunction(domain, value)

    def new_constant(self, wish: str, type: Type, at: int, label: str) -> Term:
        """A constant of which nothing is known."""
        constant = variable(self.variables.fresh(wish), type)
        self.constants.append((constant, at, label))
        self.declarations.containers.rigid.add(constant)
        return constant

    def _inner(self, scope: LustreScope, v: Variable, shape: Shape, value: Term) -> LustreScope:
        inner = LustreScope(scope.path, scope.context, scope, scope.node, {v.name: value})
        inner.shapes[v.name] = shape
        return inner

    def _symbolic(
        self,
        e: ExpressionText,
        v: Variable,
        rest: list[Variable],
        shape: Shape,
        scope: LustreScope,
        domain: Term,
        bounds: dict[str, range],
        copies: int,
    ) -> Term:
        label = v.name.partition(" ")[0]
        bound = self.new_constant(f"{scope.path}{v.name}", shape.type, e.at, label)
        scopes: dict[Term, LustreScope] = {}
        values: dict[Term, Term] = {}

        def at_value(value: Term) -> Term:
            if value not in values:
                inner = scopes[value] = self._inner(scope, v, shape, value)
                within = conjunction(domain, self.declarations.within(shape, value, inner))
                values[value] = self._over(e, rest, inner, within, bounds, copies)
            return values[value]

        before = self.variables.count()
        body = at_value(bound)
        if body.is_const:
            return body
        own = self.variables.made_since(before)
        marker = variable(self.variables.fresh(f"{scope.path}{e.op}{self.tokens.place(e.at)}"), BOOL)
        named = self.declarations.file.types
        has_memory = has_steps(e.args[0]) or any(has_steps(c) for w in e.value for _, c in conditions(w.type, named))
        quantified = Quantified(
            e.op == "forall", bound, body, scopes[bound], own, None if has_memory else at_value, e.at, label
        )
        self.markers[marker] = quantified
        self._by_scope.setdefault(scopes[bound], []).append(quantified)
        return marker

    def over_indices(self, condition: Callable[[Term], Term], shown: str, by_keys: Callable[[], Term]) -> Term:
        """That the condition holds at every index of an array."""
        bound = self.new_constant(f"an index of {shown}", INT, 0, "index")
        before = self.variables.count()
        body = condition(bound)
        if body.is_const:
            return body
        own = self.variables.made_since(before)
        marker = variable(self.variables.fresh(shown), BOOL)
        scope = self.declarations.globals
        self.markers[marker] = Quantified(True, bound, body, scope, own, condition, 0, "index", by_keys)
        return marker

    def add_own(self, scope: LustreScope, before: tuple[int, int]) -> None:
        """Count what was made since then, while an expression of the scope was read, to the quantifiers around it."""
        around: LustreScope | None = scope
        index_scopes = self.declarations.containers.index_scopes
        while around is not None and (self._by_scope or index_scopes):
            made_for = list(self._by_scope.get(around, ()))
            if around in index_scopes:
                indices = set(variables(index_scopes[around]))
                made_for += (q for q in self.markers.values() if q.bound in indices or not q.own.isdisjoint(indices))
            for quantified in made_for:
                quantified.own.update(self.variables.made_since(before))
            around = self.callers.get(around, around.parent)

    # Finitely many values

    def _finite_values(self, shape: Shape, bounds: range | None) -> list[Term] | None:
        """The values of the type, and perhaps others that are not within it; None if they are too many. `bounds` are
        those outside of which the operand does not matter."""
        if shape.type is INT:
            low = None if shape.low is None or not shape.low.is_const else shape.low.payload
            high = None if shape.high is None or not shape.high.is_const else shape.high.payload
            if bounds is not None:
                low = bounds.start if low is None else max(low, bounds.start)
                high = bounds.stop - 1 if high is None else min(high, bounds.stop - 1)
            if low is None or high is None or high - low >= MOST_VALUES:
                return None
            return [constant(INT, i) for i in range(low, high + 1)]
        return list(_values_of(shape.type)) if _count(shape.type) <= MOST_VALUES else None

    def _bounds(self, e: ExpressionText, scope: LustreScope) -> dict[str, range]:
        """The constant bounds that the guards of the operand, and the types, give to the variables."""
        named = {
            v.name: variable(v.name, INT)
            for v in e.value
            if _base(v.type, self.declarations.file.types).kind in ("int", "subrange")
        }
        inner = LustreScope(scope.path, scope.context, scope, scope.node, dict(named))
        guards = [self.declarations.term(g, inner, BOOL) for g in _guards(e) if _has_only_numbers(g, named)]
        for v in e.value:
            if v.name in named and not any(has_steps(c) for _, c in conditions(v.type, self.declarations.file.types)):
                guards.append(self.declarations.within(self.declarations.shape(v.type, inner), named[v.name], inner))
        low: dict[Term, int] = {}
        high: dict[Term, int] = {}
        known = [bound for guard in guards for bound in _bounds_in(guard)]
        for _ in known:  # each round may find one more bound, from that of another variable
            for var, is_low, limit, more in known:
                limits = low if is_low else high
                value = limits.get(limit) if limit.op == "var" else limit.payload
                if value is not None:
                    at = limits.get(var, value + more)
                    limits[var] = max(value + more, at) if is_low else min(value + more, at)
        return {name: range(low[var], high[var] + 1) for name, var in named.items() if var in low and var in high}


def _base(text: TypeText, named: Mapping[str, TypeText]) -> TypeText:
    """The type without names and conditions."""
    seen: set[str] = set()
    while True:
        if text.kind == "refinement":
            text = text.value[1]
        elif text.kind == "name" and text.value in named and text.value not in seen:
            seen.add(text.value)
            text = named[text.value]
        else:
            return text


def _guards(e: ExpressionText) -> Iterator[ExpressionText]:
    """The conjuncts outside of which the operand is true (of `forall`) or false (of `exists`)."""
    body = e.args[0]
    if e.op == "forall":
        stack: list[ExpressionText] = []
        while body.op == "implies" or (body.op == "lazy" and body.value == "lazy implies"):
            stack.append(body.args[0])
            body = body.args[1]
    else:
        stack = [body]
    while stack:
        guard = stack.pop()
        if guard.op == "and" or (guard.op == "lazy" and guard.value == "lazy and"):
            stack += guard.args[:2]
        else:
            yield guard


def _has_only_numbers(guard: ExpressionText, named: dict[str, Term]) -> bool:
    """True if it is a comparison of quantified integers, names and numbers."""
    known = frozenset(("lt", "le", "gt", "ge", "eq", "add", "sub", "neg", "number", "name", "bound"))
    parts = list(subexpressions(guard))
    return all(p.op in known and (p.op != "bound" or p.value in named) for p in parts) and any(
        p.op == "bound" for p in parts
    )


def _bounds_in(guard: Term) -> Iterator[tuple[Term, bool, Term, int]]:
    """`(x, is it a lower bound, limit, number)` if the guard bounds the variable x by the limit, a constant or another
    variable, plus the number."""
    stack = [guard]
    while stack:
        part = stack.pop()
        if part.op == "and":
            stack += part.args
            continue
        if part.op not in MIRROR:
            continue
        left, right = part.args
        for a, b, op in ((left, right, part.op), (right, left, MIRROR[part.op])):
            if a.op == "var" and a.type is INT and b.op in ("var", "const"):
                for is_low, more in BOUNDS[op]:
                    yield a, is_low, b, more


def _count(type: Type) -> int:
    """The number of values, more than MOST_VALUES if they are too many."""
    match type:
        case EnumType():
            return len(type.members)
        case MachineType():
            return 1 << min(type.width, 32)
        case ArrayType():
            return _count(type.element) ** type.length if type.length <= 12 else MOST_VALUES + 1
        case StructType(form="union", fields=(_, *payloads)):
            contents = dict(payloads)
            return sum(_count(contents[c]) if c in contents else 1 for c in constructors_of(type))
        case StructType():
            total = 1
            for _, part in type.fields:
                total *= _count(part)
            return total
    return 2 if type is BOOL else MOST_VALUES + 1


def _values_of(type: Type) -> Iterator[Term]:
    match type:
        case EnumType():
            yield from (constant(type, code) for code in type.codes)
        case MachineType():
            yield from (constant(type, value) for value in range(type.low, type.high + 1))
        case ArrayType():
            for parts in product(*[list(_values_of(type.element))] * type.length):
                yield term("array", *parts, payload=type)
        case StructType(form="union", fields=((_, tag), *payloads)):
            for code, constructor in zip(tag.codes, constructors_of(type), strict=True):  # type: ignore[attr-defined]
                contents = [_values_of(t) if n == constructor else [constant(t, default(t))] for n, t in payloads]
                for parts in product(*map(list, contents)):
                    yield term("struct", constant(tag, code), *parts, payload=type)
        case StructType():
            for parts in product(*(list(_values_of(part)) for _, part in type.fields)):
                yield term("struct", *parts, payload=type)
        case _:
            yield FALSE
            yield TRUE
