"""Arrays whose size has no value: proofs are for every size.

Such an array is a map from its indices (`containers`): it is never there as a whole, only what is asked of it.

    (v ^ n)[k]      v                    a = b      they agree at each index below n
    a[k]            for `a[i] = e`, e with k for i; and once for a constant i of which nothing is known: what e claims
    a[k]            an unknown for an input; equal indices get equal ones

Outside of the array each is any value. Where the definition of an element needs elements that are further and further
away (`a[i] = a[i-1] + 1` at k), it is followed for some of them; the next one may have any value. A proof holds for
every one, and a counterexample that needs it is none, which replay finds out. So it is with what e has in memory if k
changes from step to step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from streamcheck.core.simplify import conjunction
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variables
from streamcheck.core.types import INT, ArrayType, Type
from streamcheck.frontends.lustre.containers import name_of
from streamcheck.frontends.lustre.declarations import LustreDeclarations
from streamcheck.frontends.lustre.scopes import LazyElements, LustreScope
from streamcheck.frontends.lustre.syntax import ExpressionText
from streamcheck.frontends.lustre.walks import MEMORY, conditions, has_steps, subexpressions, types_in

FARTHEST = 4  # from an index with a variable in it (heuristic)
HIGHEST = 32  # of the indices that are numbers (heuristic)
MOST_INDICES = 60  # of one array (heuristic)
INNER = frozenset(("lazy", "merge", "match", "forall", "exists", "any"))  # with names, or steps, of their own


def is_open(declarations: LustreDeclarations, type: Type, count: int) -> bool:
    """True if one of the first `count` sizes of an array of arrays has no value."""
    containers = declarations.containers
    for _ in range(count):
        if containers.is_array(type):
            return True
        if not isinstance(type, ArrayType):
            return False
        type = type.element
    return False


def element_in_itself(
    owner: LustreScope, array: LazyElements, parts_behind: Callable[[ExpressionText], list[ExpressionText]]
) -> LazyElements | None:
    """The last of the definitions through which each element needs itself, at its own index and whatever holds.
    `parts_behind` are those of a call that its outputs depend on."""
    stack, seen = [array], set[str]()
    while stack:
        last = stack.pop()
        for name in _elements_needed(last, parts_behind):
            definition = owner.definitions.get(name)
            if name == array.name:
                return last
            if isinstance(definition, LazyElements) and name not in seen:
                seen.add(name)
                stack.append(definition)
    return None


def _elements_needed(
    array: LazyElements, parts_behind: Callable[[ExpressionText], list[ExpressionText]]
) -> Iterator[str]:
    """The arrays of which an element needs the one at its own index in each case."""
    stack = [array.value]
    while stack:
        e = stack.pop()
        if e.op == "index":
            indices: list[str] = []
            while e.op == "index":
                indices.insert(0, e.args[1].value if e.args[1].op == "name" else "")
                e = e.args[0]
            if e.op == "name" and tuple(indices) == array.indices:
                yield e.value
        elif e.op == "if":
            stack.append(e.args[0])
        elif e.op == "call":
            stack += parts_behind(e)
        elif e.op not in ("pre", *INNER):
            stack += e.args


class OpenArray:
    """The definition of an array's elements, in the scope of the array."""

    def __init__(self, declarations: LustreDeclarations, owner: LustreScope, array: LazyElements) -> None:
        self.declarations = declarations
        self.containers = declarations.containers
        self.owner = owner
        self.array = array
        self.has_steps = has_steps(array.value)
        self.has_memory = self.has_steps and self._has_memory(array.value)
        self._followed: set[tuple[Term, ...]] = set()
        self._open: set[tuple[Term, ...]] = set()

    def _has_memory(self, root: ExpressionText) -> bool:
        """True if an element has memory of its own, besides `pre` of what is the same for all indices."""
        for e in subexpressions(root):
            if e.op == "call" and (self._is_node(e) or e.value.clock is not None or e.value.restart is not None):
                return True
            if e.op in INNER and any(p.op in MEMORY for p in subexpressions(e)):
                return True
            if e.op == "pre" and any(p.op in ("call", "any") for p in subexpressions(e)):
                return True
            types = [e.value] if e.op == "ascribe" else types_in(e)
            conditions_here = (c for type in types for _, c in conditions(type, self.declarations.file.types))
            if any(p.op in MEMORY or self._is_node(p) for c in conditions_here for p in subexpressions(c)):
                return True
        return False

    def _is_node(self, e: ExpressionText) -> bool:
        called = self.declarations.file.nodes.get(e.value.node) if e.op == "call" else None
        return called is not None and called.kind == "node"

    @property
    def type(self) -> Type:
        return self.owner.shapes[self.array.name].type

    def part(self, type: Type, position: tuple[Term, ...] = (), inside: Term = TRUE) -> Term:
        """The part of the array at the first indices, which are inside of it if `inside` holds."""
        if len(position) == len(self.array.indices):
            return self._element(type, position, inside)
        if isinstance(type, ArrayType):
            parts = [self.part(type.element, (*position, constant(INT, i)), inside) for i in range(type.length)]
            return term("array", *parts, payload=type)

        def at_key(key: Term) -> Term:
            within = conjunction(inside, self.containers.is_index(type, key))
            return self.part(self.containers.element_of(type), (*position, key), within)

        return self.containers.array_of_elements(self._name(position), type, at_key, self.array.at)

    def read_any(self, new_constant: Callable[[str, Type, int, str], Term]) -> None:
        """Read the definition for any indices, which are constants."""
        stack = [self.owner.values[self.array.name]]
        for name in self.array.indices:
            key = new_constant(f"{self.owner.path}{name} of {self.array.name}", INT, self.array.at, name)
            stack = [part for array in stack for part in self._parts(array, key)]

    def _parts(self, array: Term, key: Term) -> list[Term]:
        if isinstance(array.type, ArrayType):
            return list(array.args)
        return [self.containers.at(array, key)]

    def _name(self, position: tuple[Term, ...]) -> str:
        return self.owner.path + self.array.name + "".join(f"[{name_of(k)}]" for k in position)

    def _element(self, type: Type, position: tuple[Term, ...], inside: Term) -> Term:
        if position in self._open or not self._is_followed(position):
            value = self.declarations.variables.unknown(self._name(position), type, self.array.at)
            self.containers.not_tracked(value, self._name(position), inside)
            self.containers.sources[value] = position
            return value
        self._followed.add(position)
        self._open.add(position)
        context = self.owner.context
        moves = self._moves(position)
        if moves:  # it takes a step at each index, this one or another
            context = replace(context, tick=conjunction(context.tick, inside))
        elif self.has_steps:
            wish = f"{self._name(position)} first step"
            context = self.declarations.variables.context_on_clock(context, inside, FALSE, wish)
        inner = LustreScope(self.owner.path, context, self.owner, self.owner.node)
        inner.values.update(zip(self.array.indices, position, strict=True))
        self.containers.index_scopes[inner] = position
        if moves:
            assert self.containers.delays is not None
            self.containers.delays.moving[inner] = self.array.indices
        value = self.declarations.term(self.array.value, inner)
        self._open.discard(position)
        if value.type is not type:
            text = f"an element of {self.array.name} is declared {type}, and this is {value.type}"
            raise self.declarations.tokens.error(self.array.at, text)
        return value

    def _is_followed(self, position: tuple[Term, ...]) -> bool:
        if len(self._followed) >= MOST_INDICES or any(_distance(k) > _most(k) for k in position):
            return False
        return not (self.has_memory and self._moves(position))

    def _moves(self, position: tuple[Term, ...]) -> bool:
        return any(self.containers.moves(v) for v in variables(position))


def _most(key: Term) -> int:
    return HIGHEST if key.is_const else FARTHEST


def _distance(key: Term) -> int:
    """How far the index is from 0, or from an index without a number added."""
    distance: int = 0
    while key.op in ("add", "sub") and (key.args[1].is_const or (key.op == "add" and key.args[0].is_const)):
        key, number = key.args if key.args[1].is_const else key.args[::-1]
        distance += number.payload if key.op == "add" else -number.payload
    return abs(int(key.payload) if key.is_const else distance)
