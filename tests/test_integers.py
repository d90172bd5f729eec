"""The wrapping-integer model is exact: every operator at every machine type it can express, and whole systems."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operator_cases import cases, title, values

from streamcheck import Bool, Spec, Word8, Word32, extern, mux, stream
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import INT, MachineType, machine
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import Certificate
from streamcheck.run.prove import Settings, prove
from streamcheck.run.strategy import Schedule
from streamcheck.transform.integers import Inexpressible, Integers, MachineTerms, is_machine
from streamcheck.transform.views import views

MACHINE = [
    c
    for c in cases()
    if any(is_machine(t) for t in c[1])
    and c[0] not in ("array", "struct")
    and all(t.kind not in ("array", "struct") for t in c[1])
]


def images(applied, variables):
    """The operator's image with variables, and with one operand constant (shifts and masks need that)."""
    yield applied, {}
    for i, var in enumerate(variables):
        if isinstance(var.type, MachineType):
            for value in {0, 1, 3, 7, var.type.high, var.type.low, var.type.width, -1}:
                if var.type.low <= value <= var.type.high:
                    args = list(variables)
                    args[i] = constant(var.type, value)
                    yield term(applied.op, *args, payload=applied.payload), {var: value}


@pytest.mark.parametrize("case", MACHINE, ids=title)
def test_operator_is_exact(case):
    name, args, payload = case
    variables = [variable(f"x{i}", t) for i, t in enumerate(args)]
    applied = term(name, *variables, payload=payload)
    expressible = []
    for node, fixed in images(applied, variables):
        model = Integers()
        try:
            expressible.append((node, fixed, model.value(node), model))
        except Inexpressible:
            continue

    @settings(max_examples=20, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*map(values, args)))
    def check(operands):
        given_values = dict(zip(variables, operands, strict=True))
        for node, fixed, image, model in expressible:
            machine = {**given_values, **fixed}
            mathematical = {model.value(v): value for v, value in machine.items()}
            assert value_of(image, mathematical) == value_of(node, machine), (node, machine, image)

    if expressible:
        check()


def test_linear_arithmetic_is_all_expressible():
    for name in ("add", "sub", "mul", "neg", "bitnot", "lt", "eq", "mux", "floordiv", "mod", "quot", "rem", "abs"):
        for case in MACHINE:
            if case[0] == name and all(isinstance(t, MachineType) for t in case[1]):
                variables = [variable(f"x{i}", t) for i, t in enumerate(case[1])]
                Integers().value(term(name, *variables))


def test_chains_of_sums_wrap_once():
    w = machine(8, signed=False)
    x = variable("x", w)
    total = x
    for _ in range(3):
        total = term("add", total, x)
    image = Integers().value(total)
    assert value_of(image, {variable("x", INT): 100}) == 400 % 256
    muxes, node = 0, image
    while node.op == "mux":
        muxes, node = muxes + 1, node.args[2]
    assert muxes == 3  # 4x lies in 0 … 1020: none, one, two or three multiples of 256


# One operation without a form over Int moves what depends on it to bit-vectors, and nothing else.


def mixed():
    a, b, run = extern("a", Word32), extern("b", Word32), extern("run", Bool)
    count = stream(Word32, lambda n: [0] + +mux(run & (n < 1000), n + 1, mux(run, n, 0)))
    hashed = stream(Word32, lambda h: [1] + +((h ^ a) | 1))
    spec = Spec("mixed")
    spec.observer("hashed", hashed)
    spec.prop("odd", hashed % 2 == 1)
    spec.prop("count", count <= 1000)
    spec.prop("both", (count <= 1000) & (hashed != 0))
    spec.prop("equal", a == b)
    return spec


def test_what_depends_on_an_operation_without_an_integer_form_is_over_bits_alone():
    claims = flatten(mixed())
    over_int, bits = views(claims)
    assert (over_int.model, bits.model) == ("integers", "bits")
    assert [p.name for p in over_int.system.properties] == ["count", "equal"]
    assert {p.name for p in bits.system.properties} == {"odd", "count", "both", "equal"}
    lanes = Schedule([over_int, bits], 2).every
    first = {(lane.model, *sorted(lane.claims)) for lane in lanes if lane.after == 0}
    assert first == {("integers", "count", "equal"), ("bits", "both", "odd")}
    every = Schedule([over_int, bits], 1, deterministic=True).every
    assert {name for lane in every for name in lane.claims} == {"odd", "count", "both", "equal"}


@pytest.mark.parametrize("jobs", [1, 2])
def test_properties_of_both_parts_are_decided_each_in_its_model(jobs):
    answer = prove(flatten(mixed()), Settings(timeout=20, jobs=jobs))
    found = {r.name: (r.verdict, r.model) for r in answer.results}
    assert found["odd"] == found["both"] == ("proved", "bits")
    assert found["count"] == ("proved", "integers")
    assert found["equal"] == ("falsified", "integers")


def test_an_assumption_without_an_integer_form_moves_everything():
    spec = mixed()
    spec.assume("parity", (extern("a", Word32) ^ extern("b", Word32)) < 9)
    assert [view.model for view in views(flatten(spec))] == ["bits"]


def test_an_observer_without_an_integer_form_moves_nothing():
    spec, a = Spec("seen"), extern("a", Word8)
    spec.observer("gray", a ^ (a >> 1))
    spec.prop("less", a // 2 <= a)
    assert [view.model for view in views(flatten(spec))] == ["integers", "bits"]


def test_an_equality_of_two_types_is_an_invariant():
    """Over Int a Word8 may be equal to a Word16; neither can stand for the other, and the others may need it."""
    word, same_type, wide = (variable(n, machine(w, signed=False)) for n, w in (("a", 8), ("b", 8), ("c", 16)))
    a, b, c = (variable(name, INT) for name in "abc")
    terms = MachineTerms({a: word, b: same_type, c: wide})
    like, unlike = term("same", a, b), term("same", b, c)
    assert terms.certificate(Certificate("inductive", 1, (), equalities=(like,))).equalities == (
        term("same", word, same_type),
    )
    mixed = terms.certificate(Certificate("inductive", 1, (), equalities=(like, unlike)))
    first, second, third = (term("cast", v, payload=INT) for v in (word, same_type, wide))
    assert mixed.equalities == ()
    assert mixed.invariants == (term("same", first, second), term("same", second, third))
