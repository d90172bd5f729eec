"""Components and contracts: instances, their names and claims, contracts by themselves, mistakes."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from streamcheck import (
    Bool,
    Spec,
    SpecError,
    Word8,
    assume,
    component,
    contract,
    contract_mode,
    extern,
    guarantee,
    maximum,
    minimum,
    mux,
    stream,
)
from streamcheck.certify.replay import run_of
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import OfContract
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.problem.verdict import Trace


@contract
def between(a: Word8, b: Word8, *, out: Word8) -> None:
    """An output between the inputs, as long as the first is small."""
    last = [0] + +out
    assume("small", a < 100)
    guarantee("not above", out <= maximum(a, b))
    contract_mode("rising", require=out > last, ensure=out > 0)
    contract_mode("falling", require=out <= last, ensure=last >= out)


@component(implements=between)
def lower(a: Word8, b: Word8) -> Word8:
    least = minimum(a, b)
    guarantee("first", least <= a)
    return least


class Level(NamedTuple):
    count: Word8
    high: Bool


@component
def level(on: Bool, limit: int) -> Level:
    count = stream(Word8, lambda n: [0] + +mux(on & (n < limit), n + 1, 0))
    guarantee("limited", count <= limit)
    return Level(count, count == limit)


@component
def two(x: Word8, on: Bool) -> Word8:
    assume("small", x < 50)
    near = lower(x, level(on, 7).count)
    guarantee("low", near < 50)
    return near


def specification():
    x, on = extern("x", Word8), extern("on", Bool)
    spec = Spec("top")
    spec.prop("low", two(x % 50, on) < 50)
    spec.prop("high", lower(x, level(on, 9).count) <= 9)
    return flatten(spec)


def test_instances_have_names_terms_and_claims():
    whole = specification()
    kinds = {i.name: i.component for i in whole.instances}
    expected = {"two": "two", "two.lower": "lower", "two.level": "level(7)", "lower": "lower", "level": "level(9)"}
    assert kinds == expected
    assert {c.name for c in whole.components} == set(kinds.values())
    contractual = {p.name: p.origin for p in whole.properties if isinstance(p.origin, OfContract)}
    assert contractual["two.assume small"] == OfContract("assumption", "two")
    assert contractual["two.lower.guarantee not above"] == OfContract("guarantee", "two.lower")
    assert contractual["lower.mode rising"] == OfContract("mode", "lower")
    assert contractual["lower.some mode is active"].role == "modes"
    names = {c.name for c in whole.cells} | {w.name for w in whole.wires}
    assert {"two.level.count", "level.count", "lower.least", "two.lower.least"} <= names
    limited = next(p for p in whole.properties if p.name == "two.level.guarantee limited")
    assert limited.term.op == "le", "no assumptions, no premise"


def test_fields_of_a_named_tuple_have_their_names():
    on = extern("on", Bool)
    spec = Spec("top")
    spec.namespace = {"both": Level(minimum(Word8(3), 4), on & ([False] + +on))}
    spec.prop("seen", ~spec.namespace["both"].high | on)
    assert "both.high" in {w.name for w in flatten(spec).wires}


def test_a_guarantee_holds_as_long_as_all_assumptions_have():
    whole = specification()
    inputs = [{"x": x, "on": True} for x in (5, 120, 5)]
    (instance,) = [i for i in whole.instances if i.name == "lower"]
    steps = list(run_of(whole, Trace({}, tuple(inputs))))
    assert [s[instance.held] for s in steps] == [True, True, False]
    assert [s[instance.assumes] for s in steps] == [True, False, True]


def test_specifications_with_components_survive_json():
    whole = specification()
    again = from_plain(to_plain(whole))
    assert again == whole
    assert [i.name for i in again.instances] == [i.name for i in whole.instances]


def test_a_component_by_itself_has_free_inputs_and_its_contract_as_claims():
    body = next(c.body for c in specification().components if c.name == "lower")
    assert [(i.name, i.extern) for i in body.inputs] == [("a", True), ("b", True)]
    assert [a.name for a in body.assumptions] == ["assume small"]
    promised = ["guarantee first", "guarantee not above", "mode rising", "mode falling", "some mode is active"]
    assert [p.name for p in body.properties] == promised


@pytest.mark.parametrize("kind", [between, lower])
def test_a_contract_is_about_inputs_and_outputs_alone(kind):
    of = kind.contract
    assert [i.name for i in of.inputs] == ["a", "b"]
    assert [o.name for o in of.outputs] == ["out"]
    assert [m.name for m in of.modes] == ["rising", "falling"]
    (ghost,) = of.ghosts
    assert ghost.next is of.outputs[0].var, "the last output, whatever it was"
    assert "guarantee not above" in [g.name for g in of.guarantees]


def test_python_proves_components_that_a_spec_uses():
    x, on = extern("x", Word8), extern("on", Bool)
    spec = Spec("top")
    spec.prop("low", two(x, on) < 50)
    results = {r.name: r.verdict for r in spec.prove(timeout=20)}
    assert results["two.assume small"] == "falsified"
    assert results["two.guarantee low"] == "proved"
    assert results["two.lower.guarantee not above"] == "proved"


def test_a_component_is_proved_like_a_spec():
    assert {r.name: r.verdict for r in lower.prove(timeout=20)}["guarantee not above"] == "proved"
    assert "inputs" in lower.show()
    assert [dict(step.observers) for step in lower.run(inputs=[{"a": 3, "b": 9}])] == [{"out": 3}]


@component
def second(x: Word8, y: Word8) -> Word8:
    return y


def test_what_an_ignored_input_needs_is_no_part_of_the_spec():
    ignored, used = extern("ignored", Word8), extern("used", Word8)
    spec = Spec("second")
    spec.prop("same", second([0] + +(10 // ignored), used) == used)
    problem = flatten(spec)
    assert [i.name for i in problem.inputs] == ["used"] and not problem.cells
    (instance,) = problem.instances
    assert [n.name for n in instance.inputs] == ["y"] and [p.name for p in problem.properties] == ["same"]


def test_mistakes_have_the_users_line():
    def untyped(a, b: Word8) -> Word8:
        return b

    def unreturned(a: Word8) -> Word8: ...

    def other(a: Word8, *, out: Bool) -> None:
        guarantee("on", out)

    def fine(a: Word8) -> Word8:
        return a

    def wide(a: Word8) -> Bool:
        return a

    x = extern("x", Word8)
    for text, act in (
        ("`a` has no type", lambda: component(untyped)),
        ("returns nothing", lambda: component(unreturned)(x)),
        ("implements other", lambda: component(implements=contract(other))(fine)),
        ("declared Bool", lambda: component(wide)(x)),
        ("the input `a` is Word8", lambda: component(fine)(extern("flag", Bool))),
        ("stands in the function of a component", lambda: guarantee("x", x > 1)),
        ("stands in the function of a component", lambda: assume("x", x > 1)),
        ("expected a contract", lambda: component(implements=fine)(fine)),
        ("has no outputs", lambda: contract(fine)),
        ("has to be a number", lambda: level(x > 1, [1])),
        ("missing a required argument", lambda: level(x > 1)),
    ):
        with pytest.raises(SpecError, match=text):
            act()


def test_a_component_that_calls_itself_is_refused():
    @component
    def endless(x: Word8) -> Word8:
        return endless(x)

    @component
    def counted(x: Word8, n: int) -> Word8:
        return counted(x, n - 1) if n else x

    x = extern("x", Word8)
    assert counted(x, 3) is not None, "other arguments are another component"
    with pytest.raises(SpecError, match="component endless calls itself"):
        endless(x)


def test_a_component_adds_nothing_to_a_spec():
    spec = Spec("s")

    @component
    def watched(x: Word8) -> Word8:
        spec.prop("small", x < 9)
        return x

    with pytest.raises(SpecError, match="a property in the function of watched") as error:
        watched(extern("x", Word8))
    assert error.value.write == "guarantee(name, s)"
