"""Every rule of `core.simplify` and of the checker's own folding, proved by a solver at every type that occurs.

Both are used on one side only (the checker does without `core.simplify`), but the validator of the C and the engines
build on the first, and every certificate on the second.
"""

from __future__ import annotations

import itertools

import pytest
from operator_cases import SIMPLE

from streamcheck.certify.bitwise import UNKNOWN
from streamcheck.certify.judge import is_contradictory
from streamcheck.certify.logic import replace_and_fold
from streamcheck.certify.runs import Runs
from streamcheck.core.evaluate import value_of
from streamcheck.core.operators import OPERATORS, TypeRule
from streamcheck.core.simplify import simplify
from streamcheck.core.term import FALSE, TRUE, constant, term, variable, variables
from streamcheck.core.types import BOOL, INT, EnumType, FloatType, MachineType, default, machine
from streamcheck.core.uncast import MIRRORED, without_casts

COMPOSITE = {"array", "struct", "index", "update", "field", "with_field", "cast"}
BY_NAME = UNKNOWN  # folded to the interpreter's value for constants, which solvers do not compute
KINDS = [t for t in SIMPLE if not isinstance(t, EnumType)]


def atoms(type):
    """Operands on which rules depend: variables, the same one twice, constants, negations, conjunctions."""
    x, y, z = (variable(name, type) for name in "xyz")
    if type is BOOL:
        return [x, y, TRUE, FALSE, term("not", x), term("and", x, y), term("or", x, z), term("not", term("and", x, y))]
    return [x, y, constant(type, default(type)), *extremes(type)]


def extremes(type):
    match type:
        case MachineType():
            return [constant(type, type.high), constant(type, type.low)]
        case FloatType():
            return [constant(type, 1.5), constant(type, -0.0)]
    return [constant(type, 3)]


def uses():
    for name, row in OPERATORS.items():
        if name in COMPOSITE | BY_NAME:
            continue
        for type in KINDS:
            for count in (1, 2, 3):
                types = (BOOL, type, type) if count == 3 else (type,) * count
                if count == ARITY.get(name, 2) and _fits(row, types):
                    yield name, types


UNARY = {name for name, row in OPERATORS.items() if row.shown in ("~a", "-a") or row.shown.endswith("(a)")}
ARITY = {"mux": 3} | dict.fromkeys(UNARY, 1)


def _fits(row, types):
    try:
        row.rule(types, None)
    except TypeRule:
        return False
    return True


def differences(name, types, simplified):
    """The applications that are simplified to something else, with what they become."""
    for operands in itertools.product(*map(atoms, types)):
        node = term(name, *operands)
        image = simplified(node)
        if image is not node:
            yield node, image


def is_valid(node, image):
    runs = Runs((), tuple(variables([node, image])), (), ())

    def query(script):
        script.start(initial=False)
        script.require(f"(not {script.symbol(term('same', node, image), 0)})")

    return is_contradictory(runs, query, 20.0)


RULES = {
    "simplify": lambda node: simplify([node])[node],
    "the checker's folding": lambda node: replace_and_fold([node], {})[node],
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("use", list(uses()), ids=lambda use: f"{use[0]}({', '.join(map(str, use[1]))})")
def test_what_a_rule_gives_is_equal(name, use):
    for node, image in differences(*use, RULES[name]):
        assert is_valid(node, image), (node.op, node.args, image)


def test_nested_conditions_follow_from_their_premises():
    """Rules that look further down: implications, opposite comparisons, choices of constants."""
    x, y, z, a, b = (variable(name, BOOL) for name in ("x", "y", "z", "a", "b"))
    w = variable("w", KINDS[5])
    less = term("lt", w, variable("v", w.type))
    count = 0
    parts = [x, term("not", x), term("and", x, y), term("or", x, y), less]
    parts.append(term("or", term("and", x, z), term("and", x, y)))
    for premise, goal in itertools.product(parts, [*parts, term("and", y, term("not", less)), TRUE, FALSE]):
        for op in ("implies", "and", "or", "xor", "eq", "same"):
            node = term(op, premise, goal)
            for rule in RULES.values():
                image = rule(node)
                count += image is not node
                assert is_valid(node, image), (op, premise, goal)
        node = term("mux", premise, goal, term("mux", a, b, goal))
        assert all(is_valid(node, rule(node)) for rule in RULES.values())
    assert count > 100


def test_comparisons_without_casts_mean_the_same():
    """On all values of small types, with constants inside and outside of them."""
    for width, signed in itertools.product((1, 2, 3), (False, True)):
        type = machine(width, signed=signed)
        x, y = (variable(name, type) for name in "xy")
        left, right = (term("cast", v, payload=INT) for v in (x, y))
        given = [term(op, left, right) for op in MIRRORED]
        for op, number in itertools.product(MIRRORED, range(-9, 10)):
            bound, rest = constant(INT, number), term("mod", left, constant(INT, number))
            given += [term(op, left, bound), term(op, bound, left), term(op, rest, constant(INT, 1))]
        images = without_casts(given)
        values = range(type.low, type.high + 1)
        for a, b in itertools.product(values, values):
            for t in given:
                assert value_of(t, {x: a, y: b}) == value_of(images[t], {x: a, y: b}), (t, images[t], a, b)


def test_casts_are_left_out_where_they_can_be():
    word = machine(8, signed=False)
    n = variable("n", word)
    wide, bound = term("cast", n, payload=INT), constant(INT, 20)
    assert without_casts([term("le", wide, bound)])[term("le", wide, bound)] is term("le", n, constant(word, 20))
    always = term("ge", wide, constant(INT, -1))
    assert without_casts([always])[always] is TRUE
