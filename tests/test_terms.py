"""Helpers on terms: the cone of influence, folding of constants, Euclidean division."""

from itertools import product

from streamcheck.core.euclidean import quotient, remainder
from streamcheck.core.evaluate import value_of
from streamcheck.core.printer import one_line
from streamcheck.core.simplify import apply, fold_constants
from streamcheck.core.term import TRUE, cone, constant, term, variable, walk_cone
from streamcheck.core.types import BOOL, INT, array_of, machine

X, Y, Z, W = (variable(name, INT) for name in "xyzw")


def test_the_cone_goes_through_next_values():
    total = term("add", X, Y)
    next_of = {X: term("neg", Z), Z: X, W: Y}
    assert cone([total], next_of) == {total, X, Y, Z, next_of[X]}
    assert cone([W], next_of) == {W, Y}
    assert cone([], next_of) == set()


def test_the_walk_of_a_cone_is_in_order_and_meets_each_node_once():
    total = term("add", X, Y)
    negative = term("neg", Z)
    assert list(walk_cone([total, X], {X: (negative,), Z: (total,)})) == [X, Y, total, Z, negative]
    assert list(walk_cone([X], {X: (Y, negative)})) == [X, Y, Z, negative]


def test_constants_fold():
    two, three = constant(INT, 2), constant(INT, 3)
    assert apply("add", two, three) is constant(INT, 5)
    assert apply("lt", two, three) is TRUE
    assert apply("add", two, X) is term("add", two, X)
    byte = machine(8, signed=False)
    assert apply("cast", constant(INT, 259), payload=byte) is constant(byte, 3)
    assert fold_constants(X) is X and fold_constants(two) is two
    pair = term("array", two, three, payload=array_of(INT, 2))
    assert fold_constants(pair) is pair
    assert apply("not", constant(BOOL, False)) is TRUE


def test_euclidean_division_has_a_remainder_that_is_not_negative():
    for a, b in product(range(-7, 8), range(-4, 5)):
        if b == 0:
            continue
        for divisor in (Y, constant(INT, b)):
            values = {X: a, Y: b}
            q, r = value_of(quotient(X, divisor), values), value_of(remainder(X, divisor), values)
            assert a == b * q + r and 0 <= r < abs(b)
        assert quotient(constant(INT, a), constant(INT, b)).is_const


def test_operands_of_functions_have_no_parentheses_of_their_own():
    both, pair = term("add", X, Y), variable("a", array_of(INT, 2))
    for op, args, text in (
        ("abs", [both], "abs(x + y)"),
        ("min", [both, X], "minimum(x + y, x)"),
        ("mul", [both, X], "(x + y) * x"),
        ("index", [pair, cast_to_word(both)], "a[unsafe_cast(Word8, x + y)]"),
        ("update", [pair, cast_to_word(X), both], "a.set(unsafe_cast(Word8, x), x + y)"),
    ):
        assert one_line(term(op, *args)) == text


def cast_to_word(number):
    return term("cast", number, payload=machine(8, signed=False))
