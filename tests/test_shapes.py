"""The shapes of plain data: what fits, and the place and the words of what does not; labels and shared premises."""

from __future__ import annotations

import re

import pytest

from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import BOOL, INT
from streamcheck.problem import shapes
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Constant, Named, Specification
from streamcheck.problem.transition import State, TransitionSystem
from streamcheck.transform.premise import Premise, lasting_premise

RECORD = shapes.record({"a": shapes.whole(1), "b": shapes.list_of(shapes.maybe(shapes.text))}, optional=("b",))
FITTING = [
    (shapes.text, ["", "x", "\n"]),
    (shapes.name, ["x", "ä b"]),
    (shapes.truth, [True, False]),
    (shapes.whole(1), [1, 10**30]),
    (shapes.whole(0, 3), [0, 3]),
    (shapes.number_of("a term", 2), [0, 1]),
    (shapes.one_of("x", "y"), ["x", "y"]),
    (shapes.maybe(shapes.text), [None, "x"]),
    (shapes.list_of(shapes.truth), [[], [True, False]]),
    (shapes.row_of(shapes.text, shapes.truth), [["x", True]]),
    (shapes.map_of(shapes.truth), [{}, {"x": True}]),
    (RECORD, [{"a": 1}, {"a": 2, "b": ["x", None], "c": 3}]),
]
DAMAGED = [
    (shapes.text, 5, "expected a text, found 5"),
    (shapes.name, "a\x1b", "expected a text without control characters"),
    (shapes.name, 5, "expected a text without control characters, found 5"),
    (shapes.truth, 1, "expected true or false, found 1"),
    (shapes.whole(1), 0, "expected a whole number from 1 on, found 0"),
    (shapes.whole(1), True, "expected a whole number from 1 on, found true"),
    (shapes.whole(0), 1.0, "expected a whole number from 0 on, found 1.0"),
    (shapes.whole(0, 3), 4, "expected a whole number from 0 to 3, found 4"),
    (shapes.number_of("a term", 2), 2, "expected the number of a term from 0 to 1, found 2"),
    (shapes.number_of("a term", 2), -1, "expected the number of a term from 0 to 1, found -1"),
    (shapes.number_of("a term", 0), 0, "expected the number of a term, of which there are none, found 0"),
    (shapes.one_of("x", "y"), "z", 'expected "x" or "y", found "z"'),
    (shapes.one_of("x", "y"), ["x"], 'expected "x" or "y", found ["x"]'),
    (shapes.list_of(shapes.truth), {}, "expected a list, found {}"),
    (shapes.list_of(shapes.truth), [True, 0], "at [1]: expected true or false, found 0"),
    (shapes.row_of(shapes.text), [], "expected a list of 1 values, found []"),
    (shapes.row_of(shapes.text), ["x", "y"], "expected a list of 1 values"),
    (shapes.row_of(shapes.text, shapes.truth), ["x", 1], "at [1]: expected true or false, found 1"),
    (shapes.map_of(shapes.truth), [], "expected a dictionary, found []"),
    (shapes.map_of(shapes.truth), {"x y": 0}, "at ['x y']: expected true or false, found 0"),
    (RECORD, {"b": []}, "it has no `a`"),
    (RECORD, {"a": 1, "b": ["x", 2]}, "at b[1]: expected a text, found 2"),
    (shapes.text, 1 << 240, "expected a text, found a number of 241 bits"),
    (shapes.text, [0] * 61, "expected a text, found a list of 61"),
    (shapes.text, dict.fromkeys(map(str, range(61))), "expected a text, found a dictionary of 61"),
    (shapes.truth, "x" * 99, 'found "' + "x" * 59 + "…"),
]


def test_what_fits():
    for shape, values in FITTING:
        for value in values:
            assert shape(value, ()) is None


@pytest.mark.parametrize(("shape", "value", "message"), DAMAGED, ids=[row[2] for row in DAMAGED])
def test_what_does_not_fit(shape, value, message):
    with pytest.raises(shapes.Damage, match=re.escape(message)):
        shape(value, ())
    with pytest.raises(shapes.Damage, match=r"at whole\[3\]"):
        shape(value, ("whole", 3))


B, N, K, M = variable("b", BOOL), variable("n", INT), variable("k'", INT), variable("m'", INT)


def test_labels_of_constants():
    """Two constants of one claim differ, and none is called like something else."""

    def labels(first, second, together, **names):
        x = Constant("k'", INT, None, first), Constant("m'", INT, None, second)
        less = [term("lt", K, N), term("lt", M, N)]
        claims = [Claim("c", term("and", *less))] if together else [Claim(f"c{i}", t) for i, t in enumerate(less)]
        cell = Cell("n", constant(INT, 0), N, None)
        shown = tuple(Named(name, N, None) for name in names)
        made = Specification("s", (), x, (cell,), (), (), shown, tuple(claims), (), None)
        return [made.labels[K], made.labels[M]]

    assert labels("i", "j", True) == ["i", "j"] and labels("i", "i", True) == ["i", "i_2"]
    assert labels("i", "i", False) == ["i", "i"] and labels("n", "n", True) == ["n_2", "n_3"]
    assert labels("i", "c0", False) == ["i", "c0_2"] and labels("i", "j", True, i=1, i_2=1) == ["i_3", "j"]


P, Q, R, S = (variable(name, BOOL) for name in "pqrs")


def test_the_premise_that_all_properties_share():
    """It is one of each property, in whatever form, and stays false once it is."""
    lasting = [State(P, TRUE, term("and", P, Q)), State(R, TRUE, R), State(S, TRUE, term("or", S, Q))]
    forms = {
        term("implies", P, Q): P,
        term("implies", term("and", P, R), Q): term("and", P, R),
        term("implies", term("or", P, R), Q): TRUE,  # is not of that form at the next step
        term("implies", R, term("implies", P, Q)): term("and", R, P),
        term("or", term("not", P), Q): P,
        term("mux", P, Q, TRUE): TRUE,  # a premise is not read off a condition
        term("mux", Q, TRUE, term("implies", P, S)): P,
        term("mux", Q, term("implies", P, S), TRUE): P,
        term("implies", S, Q): TRUE,  # may become true again
        Q: TRUE,
    }
    for claim, expected in forms.items():
        system = TransitionSystem("s", tuple(lasting), (Q,), (), (), (Claim("c", claim),))
        found = lasting_premise(system)
        assert {*conjuncts(found)} == {*conjuncts(expected)}, claim
        assert (Premise(system).problem is system) == (expected is TRUE)
    both = (Claim("c", term("implies", P, Q)), Claim("d", term("implies", term("and", R, P), S)))
    system = TransitionSystem("s", tuple(lasting), (Q,), (), (), both)
    under = Premise(system)
    assert under.premise is P and [c.term for c in under.problem.properties] == [Q, term("implies", R, S)]
    assert [c.term for c in under.problem.assumptions] == [P]
    assert under.inductive(2, [Q, S]).invariants == (both[0].term, term("implies", P, S))
    joined = Claim("c", term("implies", term("and", P, R), term("or", S, term("and", R, Q))))
    (claim,) = Premise(TransitionSystem("s", tuple(lasting), (Q,), (), (), (joined,))).problem.properties
    assert claim.term is term("or", S, Q)  # each part of the premise is known
    assert lasting_premise(TransitionSystem("s", tuple(lasting), (Q,), (), (), ())) is TRUE


def conjuncts(node):
    return [x for a in node.args for x in conjuncts(a)] if node.op == "and" else [] if node is TRUE else [node]
