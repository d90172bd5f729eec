"""What is refused where nothing else would notice it, and forms that only unusual terms take."""

from __future__ import annotations

import pytest

from streamcheck.c.preprocess import preprocess
from streamcheck.certify.bitwise import Bitwise
from streamcheck.certify.runs import Runs
from streamcheck.certify.script import Script
from streamcheck.core.errors import SpecError
from streamcheck.core.evaluate import Evaluation
from streamcheck.core.term import FALSE, constant, term, variable
from streamcheck.core.types import BOOL, INT, StructType, machine
from streamcheck.interpret.log_text import LogText
from streamcheck.problem.automaton import Automaton, Error
from streamcheck.problem.certificate_shape import require_value
from streamcheck.problem.shapes import Damage
from streamcheck.problem.transition import State, TransitionSystem
from streamcheck.problem.verdict import Rounds, Trace
from streamcheck.smt.implicant import cube
from streamcheck.smt.unroll import Composed, at

WORD8 = machine(8, signed=False)
a, b, flag = variable("a", WORD8), variable("b", WORD8), variable("flag", BOOL)


def test_a_script_declares_only_functions_that_may_be_any():
    script = Script(Runs((), (a, b), (), ()), Bitwise())
    script.start(initial=False)
    script.require(script.symbol(term("eq", term("add", a, b), a), 0))
    assert "declare-fun" not in script.text()


def test_a_directive_that_is_none_is_refused():
    with pytest.raises(SpecError, match="unknown directive #frobnicate"):
        preprocess("a.c", {"a.c": "#frobnicate 3\nint x;\n"}.get, portable=False)
    assert "int x;" in preprocess("a.c", {"a.c": '# 3 "b.c"\nint x;\n'}.get, portable=False).text


def test_a_value_of_a_struct_has_its_fields():
    pair = StructType("Pair", (("on", BOOL), ("level", WORD8)))
    require_value(pair, [True, 255], ())
    for value in ([True], [True, 256], [1, 2], {"on": True, "level": 2}, None):
        with pytest.raises(Damage):
            require_value(pair, value, ("constant",))


def test_locations_of_an_automaton_have_names_of_their_own():
    errors = (Error("bad", "safe", None),)
    assert Automaton("p", (), ("q", "bad"), "q", errors, ()).locations == ("q", "bad")
    with pytest.raises(ValueError, match="its locations are not"):
        Automaton("p", (), ("q", "bad", "q"), "q", errors, ())


def test_a_step_follows_the_rounds_of_a_run():
    rounds = (Rounds(0, 2, 5, {}),)
    assert Trace({}, ({}, {}, {}), rounds).length == 13
    with pytest.raises(ValueError, match="not a part of it"):
        Trace({}, ({}, {}), rounds)


def test_a_constant_is_a_variable_of_the_first_state():
    system = TransitionSystem("s", (State(a, None, a), State(b, constant(WORD8, 3), a)), (), (), (), ())
    assert Composed(system).frames[0] == {a: at(a, 0), b: constant(WORD8, 3)}


def test_a_log_may_begin_with_a_carriage_return():
    pieces = iter([b"\rab\r\ncd", b""])
    assert list(LogText(lambda: next(pieces, b""))) == ["\r", "ab\r\n", "cd"]


@pytest.mark.parametrize("value", [False, True])
def test_what_is_cast_to_a_number_is_taken_at_its_value(value):
    x, y = variable("x", INT), variable("y", INT)
    given = term("le", x, term("add", y, term("cast", flag, payload=INT)))
    evaluation = Evaluation({x: 0, y: 4, flag: value})
    kept = cube([term("and", given, term("ge", x, constant(INT, 0)))], evaluation, {x: None})
    assert (flag if value else term("not", flag)) in kept
    assert FALSE not in kept
