"""Arrays defined element by element: `a[i] = …`, where an element may depend on those before it."""

from __future__ import annotations

from typing import Any

from streamcheck.core.term import Term, constant
from streamcheck.core.types import INT
from streamcheck.frontends.lustre.delays import Delays
from streamcheck.frontends.lustre.machine import APPLY, EVALUATE, Work
from streamcheck.frontends.lustre.scopes import Definition, Elements, Scope
from streamcheck.frontends.lustre.syntax import Expression


class Arrays(Delays):
    def _index(self, e: Expression, scope: Scope, work: Work, results: list[Any]) -> None:
        """One element of an array that is defined element by element may be known before the others are."""
        indices: list[Expression] = []
        base = e
        while base.op == "index":
            indices.insert(0, base.args[1])
            base = base.args[0]
        owner = scope.owner(base.value) if base.op == "name" else None
        found = None if owner is None else owner.definitions.get(base.value)
        if owner is None or not isinstance(found, Elements) or len(indices) != len(found.indices):
            work.append((APPLY, e, scope))
            work.append((EVALUATE, e.args[1], scope))
            work.append((EVALUATE, e.args[0], scope))
            return
        work.append((self._element, (e, owner, found), scope))
        for i in reversed(indices):
            work.append((EVALUATE, i, scope))

    def _element(self, which: Any, scope: Scope, work: Work, results: list[Any]) -> None:
        e, owner, found = which
        n = len(found.indices)
        indices = results[len(results) - n :]
        if not all(isinstance(i, Term) and i.is_const for i in indices):
            del results[len(results) - n :]
            work.append((APPLY, e, scope))
            work.append((EVALUATE, e.args[1], scope))
            work.append((EVALUATE, e.args[0], scope))
            return
        del results[len(results) - n :]
        position = tuple(i.payload for i in indices)
        name = f"{found.name}{''.join(f'[{i}]' for i in position)}"
        if name not in owner.values and name not in owner.definitions:
            self._check_position(e, found, position, self._shape_of(owner, found))
            self._define_element(owner, found, name, position)
        work.append((EVALUATE, self.name(name, e.at), owner))

    def _define_element(self, owner: Scope, found: Elements, name: str, position: tuple[int, ...]) -> None:
        inner = Scope(owner.path, owner.context, owner, owner.node)
        for index, value in zip(found.indices, position, strict=True):
            inner.values[index] = constant(INT, value)
        owner.definitions[name] = Definition((name,), found.value, inner, found.at)

    def _check_position(self, e: Expression, found: Elements, position: tuple[int, ...], lengths: list[int]) -> None:
        for i, length in zip(position, lengths, strict=True):
            if not 0 <= i < length:
                raise self.tokens.error(e.at, f"index {i} of {found.name}, which has {length} elements there")

    def _shape_of(self, owner: Scope, found: Elements) -> list[int]:
        """The lengths, outermost first."""
        return self.lengths(owner.shapes[found.name], len(found.indices), found.at)

    def whole_array(self, found: Elements, owner: Scope) -> Expression:
        """The array as a literal of its elements."""
        lengths = self._shape_of(owner, found)

        def build(position: tuple[int, ...]) -> Expression:
            if len(position) == len(lengths):
                name = f"{found.name}{''.join(f'[{i}]' for i in position)}"
                if name not in owner.values and name not in owner.definitions:
                    self._define_element(owner, found, name, position)
                return self.name(name, found.at)
            n = lengths[len(position)]
            return Expression("array", tuple(build((*position, i)) for i in range(n)), None, found.at)

        return build(())
