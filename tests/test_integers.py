"""The wrapping-integer model is exact: every operator at every machine type it can express, and whole systems."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operator_cases import cases, title, values

from streamcheck.core.evaluate import value_of
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import INT, MachineType, machine
from streamcheck.transform.integers import Inexpressible, Integers, is_machine

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
