"""The checker's renderings of operators for solvers against its own meaning in Python, on all values of small types.

The conditions of one certificate may be judged in different renderings, so one that differs could prove anything.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from streamcheck.certify.bitwise import UNKNOWN, Bitwise, Unrenderable, WideBitwise
from streamcheck.certify.evaluate import apply
from streamcheck.certify.logic import replace_and_fold
from streamcheck.certify.remainders import Remainders
from streamcheck.certify.runs import Runs
from streamcheck.certify.script import Script
from streamcheck.certify.solvers import bitwuzla, cvc5
from streamcheck.core.operators import OPERATORS
from streamcheck.core.operators.table import TypeRule
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import BOOL, INT, REAL, EnumType, MachineType, enum_of, machine

ENUM = enum_of("E", (("A", -3), ("B", 0), ("C", 7)))
MACHINE = [machine(w, signed=s) for w in (1, 2, 3) for s in (False, True)]
TYPES = [BOOL, *MACHINE, INT, REAL, ENUM]
NAMES = [name for name, row in OPERATORS.items() if row.smt is not None and name not in UNKNOWN]
SECONDS = 60.0


def values(type):
    match type:
        case MachineType():
            return range(type.low, type.high + 1)
        case EnumType():
            return type.codes
    return {BOOL: (False, True), INT: (-9, -4, -1, 0, 1, 3, 8), REAL: [*map(Fraction, ("-7/3", "0", "1/2", "4"))]}[type]


def signatures(name):
    """Operand types that the operator has, and its payload."""
    for types in product(TYPES, repeat=OPERATORS[name].arity):
        for payload in TYPES if name == "cast" else [None]:
            try:
                term(name, *(variable(f"x{i}", t) for i, t in enumerate(types)), payload=payload)
            except TypeRule:
                continue
            yield types, payload


def conditions(name):
    """For all operands, the condition that the result differs from the one in Python."""
    for types, payload in signatures(name):
        for operands in product(*map(values, types)):
            given = [constant(t, v) for t, v in zip(types, operands, strict=True)]
            applied = term(name, *given, payload=payload)
            yield term("not", term("same", applied, constant(applied.type, apply(applied, list(operands)))))


def any_of(formulas):
    while len(formulas) > 1:
        pairs = zip(formulas[::2], formulas[1::2], strict=False)
        formulas = [*(term("or", a, b) for a, b in pairs), *formulas[len(formulas) // 2 * 2 :]]
    return formulas[0]


@pytest.mark.parametrize("rendering", [Bitwise, WideBitwise, Remainders])
@pytest.mark.parametrize("name", NAMES)
def test_a_rendering_has_the_meaning_of_the_operator(name, rendering):
    wrong = [formula for formula in conditions(name) if is_rendered(formula, rendering)]
    if wrong:
        script = script_of(any_of(wrong), rendering)
        text = script.text()
        assert (cvc5(text, SECONDS, {}) if script.has_numbers else bitwuzla(text, SECONDS)) is True


def is_rendered(formula, rendering):
    try:
        script_of(formula, rendering)
    except Unrenderable:
        return False
    return True


def script_of(formula, rendering):
    script = Script(Runs((), (), (), ()), rendering())
    script.start(initial=False)
    script.require(script.symbol(formula, 0))
    return script


@pytest.mark.parametrize("name", NAMES)
def test_folding_has_the_meaning_of_the_operator(name):
    for types, payload in signatures(name):
        for operands in product(*map(values, types)):
            given = [constant(t, v) for t, v in zip(types, operands, strict=True)]
            applied = term(name, *given, payload=payload)
            assert replace_and_fold([applied], {})[applied] is constant(applied.type, apply(applied, list(operands)))
