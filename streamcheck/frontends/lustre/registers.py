"""Registers, after everything is read: which first values matter, and which registers are equal.

A register without a first value (`pre e` alone) may begin with any. Usually this is a don't care, because
the register is read only on the right of a `->`. It gets the first value of an equal register if there is one. A
register whose first value can be seen stays free, with a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from streamcheck.core.simplify import choice, simplify
from streamcheck.core.term import FALSE, Term, cone, constant, substitute, variable
from streamcheck.core.types import default
from streamcheck.frontends.lustre.delays import next_of
from streamcheck.frontends.lustre.scopes import Delay
from streamcheck.frontends.lustre.variables import Variables
from streamcheck.problem.specification import Cell

MOST_WAYS = 8  # to one term that are distinguished; with more, no condition is assumed (heuristic)


class Registers:
    """The cells of a main node. `image` maps each term to what it has become; `seen` are the terms that matter."""

    def __init__(self, variables: Variables, delays: Iterable[Delay], roots: Iterable[Term]) -> None:
        self.roots = list(roots)
        self.flags = variables.cells
        self.delays = [d for d in delays if d.value is not None]
        self.by_var = {d.var: d for d in self.delays}
        self.seen_first = self._seen_first()
        self.image: Mapping[Term, Term] = {}
        cells = {var: Cell(str(var.payload), initial, after, None, named=False) for var, initial, after in self.flags}
        cells |= {d.var: self._cell(d) for d in self.delays}
        self.cells = self._with_first_values(cells)
        self._free_after_restarts(variables)
        self._merge_equal()

    def _cell(self, delay: Delay) -> Cell:
        initial = delay.initial
        if initial is None:
            initial = constant(delay.var.type, default(delay.var.type))
        assert delay.next is not None
        return Cell(
            str(delay.var.payload),
            initial,
            delay.next,
            delay.where,
            free=delay.var in self.seen_first and delay.context.reset is FALSE,
            named=False,
        )

    def _seen_first(self) -> set[Term]:
        """The registers whose undefined first value can be seen: reached from the roots, through other registers, by
        a way on which their context's first step is not ruled out."""
        flags = {d.context.first for d in self.delays}
        nexts = {var: [after] for var, _, after in self.flags}
        for d in self.delays:
            assert d.value is not None
            nexts[d.var] = [d.value, d.context.tick, d.context.hard]
        known: dict[Term, list[frozenset[Term]]] = {}
        visible: set[Term] = set()
        stack: list[tuple[Term, frozenset[Term]]] = [(r, frozenset()) for r in self.roots]
        while stack:
            node, later = stack.pop()
            earlier = known.setdefault(node, [])
            if any(e <= later for e in earlier):
                continue
            first_visit = not earlier
            if len(earlier) >= MOST_WAYS:
                later = frozenset()
            earlier.append(later)
            if node.op == "var":
                delay = self.by_var.get(node)
                undefined = delay is not None and delay.initial is None
                if undefined and self.by_var[node].context.first not in later:
                    visible.add(node)
                if first_visit:
                    stack.extend((after, frozenset()) for after in nexts.get(node, ()))
            elif node.op == "mux" and node.args[0] in flags:
                stack.append((node.args[1], later))
                stack.append((node.args[2], later | {node.args[0]}))
            else:
                stack.extend((a, later) for a in node.args)
        return visible

    def _with_first_values(self, cells: dict[Term, Cell]) -> dict[Term, Cell]:
        """The cells; a don't-care first value is that of an equal register, or the one that makes the cell constant."""
        given: dict[Term, Term] = {}
        for d in self.delays:
            if d.initial is not None and d.next is not None:
                given.setdefault(d.next, d.initial)
        for d in self.delays:
            cell = cells[d.var]
            if d.initial is not None or d.var in self.seen_first:
                continue
            initial = cell.next if cell.next.is_const else given.get(cell.next)
            if initial is not None:
                cells[d.var] = replace(cell, initial=initial)
        return cells

    def _free_after_restarts(self, variables: Variables) -> None:
        """Give each restarted register any value whenever its context begins: a separate unknown. While the context
        takes no step, a restart inside of it has no effect, and the register keeps what it has."""
        restarted = [d for d in self.delays if d.var in self.seen_first and d.context.reset is not FALSE]
        if restarted:
            kept = {d.var: variable(variables.fresh(f"{d.var.payload} kept"), d.var.type) for d in restarted}
            for d in restarted:
                assert d.value is not None
                self.cells[d.var] = replace(self.cells[d.var], next=next_of(d, d.value, kept[d.var]))
            any_value = {
                d.var: choice(d.context.first, variables.unknown(f"{d.var.payload} at first", d.var.type, d.at), d.var)
                for d in restarted
            }
            self._replace(any_value)
            self._replace({k: var for var, k in kept.items()})

    def _merge_equal(self) -> None:
        """Merge registers with equal first and next values; replace those that never change by their first values."""
        self._restrict_to_cone()
        while True:
            replacement: dict[Term, Term] = {}
            leaders: dict[object, Term] = {}
            for var, cell in self.cells.items():
                if cell.free:
                    continue
                if cell.next is cell.initial or cell.next is var:
                    replacement[var] = cell.initial
                else:
                    leader = leaders.setdefault((cell.initial, cell.next), var)
                    if leader is not var:
                        replacement[var] = leader
            if not replacement:
                return
            self.cells = {var: cell for var, cell in self.cells.items() if var not in replacement}
            self._replace(replacement)
            self._restrict_to_cone()

    def _replace(self, replacement: dict[Term, Term]) -> None:
        before = [*self.roots, *(c.next for c in self.cells.values())]
        replaced = substitute(before, replacement)
        simple = simplify(replaced.values())
        after = {t: simple[r] for t, r in replaced.items()}
        self.image = {t: after.get(i, i) for t, i in self.image.items()} | {
            t: i for t, i in after.items() if t not in self.image
        }
        self.roots = [after[t] for t in self.roots]
        self.cells = {var: replace(c, next=after[c.next]) for var, c in self.cells.items()}

    def _restrict_to_cone(self) -> None:
        self.seen = cone(self.roots, {var: cell.next for var, cell in self.cells.items()})
        self.cells = {var: cell for var, cell in self.cells.items() if var in self.seen}
