"""What terms fold to, exactly: by `core.simplify` and the checker's `certify.logic`. Solvers prove that they may."""

from __future__ import annotations

import functools
from fractions import Fraction

import pytest

from streamcheck.certify import logic
from streamcheck.core import simplify
from streamcheck.core.printer import one_line
from streamcheck.core.term import FALSE, TRUE, constant, fold, rebuild, substitute, term, variable, walk
from streamcheck.core.types import BOOL, DOUBLE, INT, REAL, EnumType, array_of, machine

P, Q, R, S = (variable(name, BOOL) for name in "pqrs")
X, Y, D, E = variable("x", INT), variable("y", INT), variable("d", DOUBLE), variable("e", DOUBLE)
A, B = (variable(name, array_of(DOUBLE, 2)) for name in "ab")
NOT_P, BOTH, ONE_OF = term("not", P), term("and", P, Q), term("or", P, Q)
ZERO, THREE = constant(INT, 0), constant(INT, 3)
BOTH_MODULES = pytest.mark.parametrize("module", [logic, simplify], ids=["checker", "core"])


def folded(module, node):
    return logic.replace_and_fold([node], {})[node] if module is logic else simplify.simplify([node])[node]


JUNCTIONS = {  # of terms: their conjunction; with and for or, and true for false, their disjunction
    (): "true",
    ("p",): "p",
    ("p", "q"): "p q",
    ("p", "true", "q", "p"): "p q",
    ("q", "p", "r"): "q p r",
    ("true", "true"): "true",
    ("p", "false", "q"): "false",
    ("p", "q", "not p"): "false",
    ("not p", "q", "p"): "false",
    ("not p", "not q"): "not p,not q",
}


def terms_of(text, neutral, absorbing):
    known = {"p": P, "q": Q, "r": R, "not p": NOT_P, "not q": term("not", Q), "true": neutral, "false": absorbing}
    return [known[name] for name in (text.split(",") if "," in text or text in known else text.split())]


@BOTH_MODULES
@pytest.mark.parametrize("given", JUNCTIONS)
def test_junctions(module, given):
    for op, make, neutral, absorbing in (
        ("and", module.conjunction, TRUE, FALSE),
        ("or", module.disjunction, FALSE, TRUE),
    ):
        operands = [terms_of(name, neutral, absorbing)[0] for name in given]
        expected, *more = terms_of(JUNCTIONS[given], neutral, absorbing)
        for operand in more:
            expected = term(op, expected, operand)
        assert make(*operands) is expected
        if len(operands) == 2:
            assert folded(module, term(op, *operands)) is expected


@BOTH_MODULES
def test_negations(module):
    assert module.negation(TRUE) is FALSE and module.negation(FALSE) is TRUE
    assert module.negation(P) is NOT_P and module.negation(NOT_P) is P
    assert module.negation(BOTH) is term("not", BOTH) and folded(module, term("not", NOT_P)) is P


def test_negations_of_comparisons():
    opposite = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "le": "gt", "gt": "le"}
    for op, other in opposite.items():
        assert simplify.negation(term(op, X, Y)) is term(other, X, Y)
        of_floats = term(op, D, E)
        expected = term(other, D, E) if op in ("eq", "ne") else term("not", of_floats)
        assert simplify.negation(of_floats) is expected


@BOTH_MODULES
def test_implications(module):
    imply = module.implication
    for a, b, expected in (
        (TRUE, P, P), (FALSE, P, TRUE), (P, TRUE, TRUE), (P, FALSE, NOT_P), (P, P, TRUE), (BOTH, P, TRUE),
        (BOTH, Q, TRUE), (term("and", BOTH, R), term("and", R, P), TRUE),
    ):  # fmt: skip
        assert imply(a, b) is expected and folded(module, term("implies", a, b)) is expected
    rest = term("and", R, S)
    if module is logic:
        assert imply(P, Q) is term("or", NOT_P, Q) and imply(P, BOTH) is term("or", NOT_P, Q)
        assert imply(BOTH, term("and", rest, P)) is term("or", term("not", BOTH), rest)
    else:
        assert imply(P, Q) is term("implies", P, Q) and imply(P, BOTH) is term("implies", P, Q)
        assert imply(BOTH, term("and", rest, P)) is term("implies", BOTH, rest)
        either = term("or", BOTH, term("and", R, P))
        assert imply(either, P) is TRUE and imply(either, Q) is term("implies", either, Q)
    many = [variable(f"v{i}", BOOL) for i in range(300)]  # the nearest are looked at
    nested = functools.reduce(lambda a, b: term("and", a, b), many)
    if module is logic:
        nested = functools.reduce(lambda a, b: term("and", b, a), reversed(many))
    near, far = (many[0], many[-1]) if module is logic else (many[-1], many[0])
    assert imply(nested, near) is TRUE and imply(nested, far) is not TRUE


@BOTH_MODULES
def test_choices(module):
    for a, b, c, expected in (
        (TRUE, X, Y, X), (FALSE, X, Y, Y), (P, X, X, X), (P, TRUE, FALSE, P), (P, X, Y, term("mux", P, X, Y)),
        (P, FALSE, TRUE, term("mux", P, FALSE, TRUE)), (P, TRUE, Q, term("mux", P, TRUE, Q)),
        (P, Q, FALSE, term("mux", P, Q, FALSE)),
    ):  # fmt: skip
        assert module.choice(a, b, c) is expected and folded(module, term("mux", a, b, c)) is expected


def test_either():
    either = simplify.either
    assert either(P, X, X) is X and either(P, X, Y) is term("mux", P, X, Y) and either(TRUE, X, Y) is X
    assert either(P, FALSE, Q) is term("and", NOT_P, Q) and either(P, Q, FALSE) is term("and", P, Q)
    assert either(P, TRUE, Q) is term("or", P, Q) and either(P, Q, TRUE) is term("or", NOT_P, Q)
    assert either(P, TRUE, FALSE) is P and either(P, FALSE, TRUE) is NOT_P


@BOTH_MODULES
def test_comparisons_with_itself(module):
    for op in ("same", "eq", "le", "ge", "ne", "lt", "gt"):
        assert folded(module, term(op, X, Y)) is term(op, X, Y)
        itself = folded(module, term(op, X, X))
        assert itself is (TRUE if op in ("same", "eq", "le", "ge") else term(op, X, X))
        if op != "same":
            assert folded(module, term(op, D, D)) is term(op, D, D)  # NaN is not itself
    assert folded(module, term("eq", A, A)) is term("eq", A, A)
    assert folded(module, term("same", D, D)) is (TRUE if module is simplify else term("same", D, D))
    assert logic.equality(D, D) is TRUE and logic.equality(D, E) is term("same", D, E)


@BOTH_MODULES
def test_comparisons_of_bools(module):
    for op in ("eq", "same"):
        for literal, other in ((TRUE, P), (FALSE, NOT_P)):
            assert folded(module, term(op, P, literal)) is other is folded(module, term(op, literal, P))
        assert folded(module, term(op, P, Q)) is term(op, P, Q)
        assert folded(module, term(op, X, ZERO)) is term(op, X, ZERO)
    assert folded(module, term("xor", P, TRUE)) is term("xor", P, TRUE)
    assert folded(module, term("ne", P, TRUE)) is term("ne", P, TRUE)


@BOTH_MODULES
def test_constants(module):
    word = machine(8, signed=False)
    top, one = constant(word, 255), constant(word, 1)
    assert folded(module, term("add", top, one)) is constant(word, 0)
    assert folded(module, term("lt", ZERO, THREE)) is TRUE and folded(module, term("neg", THREE)) is constant(INT, -3)
    assert folded(module, term("add", X, THREE)) is term("add", X, THREE)
    assert folded(module, term("add", X, term("sub", THREE, THREE))) is term("add", X, ZERO)
    assert folded(module, X) is X and folded(module, THREE) is THREE
    pair = term("array", ZERO, THREE, payload=array_of(INT, 2))
    assert folded(module, pair) is pair and folded(module, term("array", X, X, payload=pair.type)).args == (X, X)


def test_numbers_of_very_many_digits_are_not_computed_with():
    most = (1 << logic.MOST_BITS) - 1
    assert (
        logic.is_small(most)
        and not logic.is_small(most + 1)
        and logic.is_small(-most)
        and not logic.is_small(-most - 1)
    )
    assert logic.is_small(Fraction(most, most - 1)) and logic.is_small(1.0) and logic.is_small(True)
    assert not logic.is_small(Fraction(most + 1, 3)) and not logic.is_small(Fraction(3, most + 1))
    for value, is_folded in ((most, True), (most + 1, False)):
        node = term("sub", constant(INT, value), THREE)
        assert logic.replace_and_fold([node], {})[node] is (constant(INT, value - 3) if is_folded else node)
    node = term("sub", constant(REAL, Fraction(1, most + 1)), constant(REAL, Fraction(1)))
    assert logic.replace_and_fold([node], {})[node] is node


def test_codes_of_enums_are_not_computed():
    colour = EnumType("Colour", (("red", 0), ("blue", 4)))
    red, blue = constant(colour, 0), constant(colour, 4)
    assert logic.replace_and_fold([node := term("eq", red, blue)], {})[node] is FALSE
    choice = term("mux", P, red, blue)
    assert logic.replace_and_fold([choice], {P: FALSE})[choice] is blue


def test_sums_of_floats():
    minus, plus, half = constant(DOUBLE, -0.0), constant(DOUBLE, 0.0), constant(DOUBLE, 0.5)
    for node, expected in (
        (term("add", D, minus), D), (term("add", minus, D), D), (term("add", minus, minus), minus),
        (term("add", D, plus), None), (term("add", D, E), None), (term("add", half, D), None),
        (term("sub", D, minus), None), (term("mul", D, minus), None), (term("add", D, constant(DOUBLE, -1.0)), None),
    ):  # fmt: skip
        assert simplify.simplify([node])[node] is (node if expected is None else expected)


def test_replacements():
    node = term("and", term("lt", X, THREE), term("or", P, Q))
    assert logic.replace_and_fold([node], {X: ZERO, P: FALSE})[node] is Q
    assert simplify.instantiate([node], {X: ZERO, P: FALSE})[node] is Q
    assert logic.replace_and_fold([node], {node.args[1]: TRUE})[node] is term("lt", X, THREE)
    assert substitute([node], {X: Y, Y: X})[node] is term("and", term("lt", Y, THREE), term("or", P, Q))
    assert simplify.simple_term("add", THREE, THREE) is constant(INT, 6)
    assert simplify.simple(node) is node and simplify.apply("add", X, THREE) is term("add", X, THREE)


def test_walks():
    total = term("add", term("mul", X, Y), X)
    assert [*walk([total, Y])] == [X, Y, total.args[0], total]
    done = {X}
    assert [*walk([total], done)] == [Y, total.args[0], total] and done == {X, Y, total, total.args[0]}
    assert fold([total], lambda node, args: 1 + sum(args))[total] == 5
    assert rebuild(total, [X, X]) is term("add", X, X) and rebuild(total, total.args) is total
    assert rebuild(cast := term("cast", X, payload=REAL), [Y]) is term("cast", Y, payload=REAL) and cast.type is REAL


def test_texts_have_the_parentheses_that_they_need():
    z = variable("z", INT)
    product, total, rest = term("mul", X, Y), term("add", X, Y), term("mod", X, Y)
    for node, text in (
        (term("add", product, z), "x * y + z"),
        (term("sub", z, product), "z - x * y"),
        (term("mul", total, z), "(x + y) * z"),
        (term("add", rest, z), "x % y + z"),
        (term("mul", z, rest), "z * (x % y)"),
        (term("lt", total, product), "x + y < x * y"),
        (term("add", total, z), "x + y + z"),
        (term("sub", z, total), "z - (x + y)"),
        (term("mul", product, z), "x * y * z"),
        (term("and", BOTH, R), "p & q & r"),
        (term("and", R, BOTH), "r & (p & q)"),
        (term("or", BOTH, R), "(p & q) | r"),
    ):
        assert one_line(node) == text
