"""Faults planted in the flattener: its delays, requirements, resets and unknown streams."""

from __future__ import annotations

from dataclasses import replace

from planting import INDUCTION, Fault, counter, proving, specification

from streamcheck import Bool, Int, drop, extern, reset, stream, unknown
from streamcheck.core.term import FALSE, substitute
from streamcheck.core.types import default
from streamcheck.lang.flattening import Flattening
from streamcheck.lang.lib.parts import require
from streamcheck.transform import scalars


def delays():
    def two():
        x = extern("x", Int)
        return stream(Int, lambda s: [1, 2] + +x)

    for what, name, change in (
        ("elements in the wrong order", "_term", elements_reversed),
        ("next values one too far", "_define_cells", shifted),
        ("wrong first values", "_define_cells", all_zero),
        ("drop drops one too few", "_needs", drop_less),
        ("delays are constants", "_term", constant_delay),
        ("delays are inputs", "_term", undelayed),
    ):
        yield Fault(
            "flattener", what,
            lambda p, name=name, change=change: p.set(Flattening, name, change(getattr(Flattening, name))),
            proving(specification("p", lambda: (two() == 1) & (drop(1, two()) == 2)), INDUCTION, "falsified"),
        )  # fmt: skip
    yield Fault(
        "flattener", "a requirement stands for its value",
        lambda p: p.set(Flattening, "_term", condition_as_value(Flattening._term)),
        proving(specification("p", lambda: require(extern("b", Bool), Bool(True), "c")), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "flattener", "an unknown stream is an input",
        lambda p: p.set(Flattening, "_unknown", named_as_input(Flattening._unknown)),
        proving(specification("p", lambda: unknown(Int) == extern("x", Int)), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "flattener", "a reset changes nothing",
        lambda p: p.set(Flattening, "_define_cells", never_restarted(Flattening._define_cells)),
        proving(specification("p", restarted), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "flattener", "state begins with any value",
        lambda p: p.set(Flattening, "_define_cells", beginning_anywhere(Flattening._define_cells)),
        proving(specification("p", lambda: counter() >= 0), INDUCTION, "proved"),
    )  # fmt: skip


def condition_as_value(original):
    def term_of(self, key, args):
        return args[1] if key[0].op == "require" else original(self, key, args)

    return term_of


def restarted():
    """A run of two steps, the second of which starts again, counts to 1 only."""
    again = stream(Bool, lambda b: [False] + +Bool(True))
    return reset(again, lambda: stream(Int, lambda n: [0] + +(n + 1))) != 0


def never_restarted(real):
    def define(self, node):
        real(self, node)
        if node.restart is not None:
            for var in self.delays[node]:
                images = substitute([self.cells[var].next], {self._root(node.restart): FALSE})
                self.cells[var] = replace(self.cells[var], next=images[self.cells[var].next])

    return define


def constant_delay(real):
    def term_of(self, key, args):
        node, shift = key
        if node.op == "append" and shift < len(node.payload):
            return scalars.constant(node.type, node.payload[shift])
        return real(self, key, args)

    return term_of


def undelayed(real):
    def term_of(self, key, args):
        node, _ = key
        return scalars.variable("x", node.type) if node.op == "append" else real(self, key, args)

    return term_of


def named_as_input(real):
    return lambda self, node: replace(real(self, node), name="x")


def beginning_anywhere(real):
    def define(self, node):
        real(self, node)
        self.cells |= {var: replace(self.cells[var], free=True) for var in self.delays[node]}

    return define


def elements_reversed(real):
    def term_of(self, key, args):
        node, shift = key
        if node.op == "append" and shift < len(node.payload):
            return real(self, (node, len(node.payload) - 1 - shift), args)
        return real(self, key, args)

    return term_of


def shifted(real):
    def define(self, node):
        real(self, node)
        held = self.delays[node]
        self.cells[held[0]] = replace(self.cells[held[0]], next=self.cells[held[-1]].next)

    return define


def all_zero(real):
    def define(self, node):
        real(self, node)
        for var in self.delays[node]:
            cell = self.cells[var]
            self.cells[var] = replace(cell, initial=scalars.constant(cell.initial.type, default(cell.initial.type)))

    return define


def drop_less(real):
    def needs(self, key):
        node, shift = key
        if node.op == "drop":
            return [(node.args[0], shift + node.payload - 1)]
        return real(self, key)

    return needs
