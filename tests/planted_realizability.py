"""Faults planted in the search for an implementation, or for the environment's strategy."""

from __future__ import annotations

from planting import Fault, refused

from streamcheck import Array, Int, Spec, Word8, extern, pre, stream, unknown
from streamcheck.core.term import TRUE
from streamcheck.lang.flatten import flatten
from streamcheck.run.realizable import realizable
from streamcheck.synthesis import induction, solve
from streamcheck.transform import scalar_game

BY_INDUCTION = induction.InductiveSynthesis


def balance(slack):
    """A level that has to stay near 0: realizable if the output may be 5 less than the input."""
    x, o = extern("x", Int), unknown(Int)
    level = stream(Int, lambda before: [0] + +(before + o))
    spec = Spec("planted")
    spec.assume("bounded", (x >= 0) & (x <= 5))
    spec.prop("above", o >= x - slack)
    spec.prop("below", o <= x)
    spec.prop("level", (level <= 10) & (level >= -10))
    return spec


def growing():
    """No output stays above all before it for ever, and each step has one."""
    o = unknown(Word8)
    spec = Spec("planted")
    spec.prop("grows", o > pre(0, o))
    spec.prop("follows", o >= extern("x", Word8))
    return spec


def sorted_pair():
    a, o = extern("a", Array(Word8, 2)), unknown(Array(Word8, 2))
    spec = Spec("planted")
    spec.prop("sorted", o[0] <= o[1])
    spec.prop("first", (o[0] == a[0]) | (o[0] == a[1]))
    spec.prop("second", (o[1] == a[0]) | (o[1] == a[1]))
    spec.prop("both", (o[0] ^ o[1]) == (a[0] ^ a[1]))
    return spec


def realizability():
    for what, owner, name, change, spec, truth in (
        ("every input has an answer", solve.Synthesis, "_open_point", no_point, balance(4), "unrealizable"),
        ("the induction's base holds", BY_INDUCTION, "_is_covered", always_covered, growing(), "unrealizable"),
        ("a rule has all states", solve.Synthesis, "_wide_rule", everywhere, balance(5), "realizable"),
        ("the last part comes first", scalar_game, "_whole_of", backwards, sorted_pair(), "realizable"),
    ):
        yield Fault("realizability", what, planter(owner, name, change), asking(spec, truth))


def planter(owner, name, change):
    def plant(p):
        if owner is BY_INDUCTION:  # that it is the way
            p.set(solve.Synthesis, "_open_point", given_up(solve.Synthesis._open_point))
        p.set(owner, name, change(getattr(owner, name)))

    return plant


def asking(spec, truth):
    def attempt():
        answer = realizable(flatten(spec), 20.0, 1)
        if answer.verdict == "unknown" and "not proved" in answer.reason:
            return refused("the checker", answer.reason)
        return f"{'no effect' if answer.verdict == truth else 'accepted'}: {answer.verdict} {answer.reason}"

    return attempt


def no_point(original):
    return lambda self: None


def given_up(original):
    def changed(self):
        if isinstance(self, BY_INDUCTION):
            return original(self)
        raise solve.GivenUp("not asked")

    return changed


def always_covered(original):
    def changed(self, path):
        return original(self, path) or self.steps > 0

    return changed


def everywhere(original):
    def changed(self, inputs, literals):
        kept, rule = original(self, inputs, literals)
        return kept, solve.EnvironmentMove(TRUE, rule.inputs)

    return changed


def backwards(original):
    def changed(type, parts):
        return original(type, iter(list(parts)[::-1]) if type.kind == "array" else parts)

    return changed
