"""Problems are well formed or refused, their texts hold no commands, and JSON brings back what was written."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.printable import command_in, visible
from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import BOOL, DOUBLE, INT, REAL, array_of, enum_of, machine, struct_of
from streamcheck.problem.claim import IMPLIED, WRITTEN, Claim, Goal, RangeOf, VacuityTest
from streamcheck.problem.result import Verdicts
from streamcheck.problem.specification import Cell, Constant, FunctionCall, Input, Named, Specification, Trigger
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.problem.system_json import system_from_plain, system_to_plain
from streamcheck.problem.transition import Definition, State, TransitionSystem
from streamcheck.transform.bound import with_bound

WORD, X, N, B = machine(8, signed=False), variable("x", INT), variable("n", INT), variable("b", BOOL)
ONE, HERE = constant(INT, 1), Location("spec.py", 7)
SYSTEM = TransitionSystem(
    "s", (State(N, ONE, term("add", N, X)), State(B, None, term("not", B))), (X,),
    (Definition("twice", term("add", X, X)),), (Claim("met", term("lt", X, N), HERE),),
    (
        Claim("p", B, None, Goal.REACHABLE), Claim("q", term("le", N, X), HERE, Goal.ALWAYS, IMPLIED),
        Claim("r", B, None, origin=RangeOf(X)), Claim("s", B, None, origin=VacuityTest("p", 3)),
        Claim("t", B, None, origin=VacuityTest(None, 9)),
    ),
)  # fmt: skip


def test_systems_come_back():
    assert system_from_plain(json.loads(json.dumps(system_to_plain(SYSTEM)))) == SYSTEM
    assert system_to_plain(SYSTEM)["state"][1][1] is None
    assert SYSTEM.variable_types == {"n": INT, "b": BOOL, "x": INT} and not SYSTEM.has_floats
    d = variable("d", DOUBLE)
    assert replace(SYSTEM, inputs=(X, d), definitions=(Definition("d", d),)).has_floats
    row = system_to_plain(SYSTEM)
    row["properties"][0][4] = "guessed"
    with pytest.raises(ValueError, match="no claim has the origin 'guessed'"):
        system_from_plain(row)


def test_systems_that_are_none():
    for wrong, words in (
        ({"inputs": (X, N)}, "a variable is declared twice"),
        ({"inputs": ()}, "undeclared variables x"),
        ({"state": SYSTEM.state[:1]}, "undeclared variables b"),
        ({"state": (State(N, ONE, TRUE), SYSTEM.state[1])}, "n changes its type"),
        ({"state": (State(N, TRUE, N), SYSTEM.state[1])}, "n changes its type"),
    ):
        with pytest.raises(ValueError, match=words):
            replace(SYSTEM, **wrong)
    assert [*SYSTEM.roots()][:3] == [term("add", N, X), ONE, term("not", B)]


def test_claims():
    written, exists = Claim("p", B), Claim("p", B, goal=Goal.REACHABLE)
    assert written.invariant is B and exists.invariant is term("not", B)
    kinds = [(c.is_implied, c.is_range, c.is_vacuity_test) for c in SYSTEM.properties]
    assert kinds == [
        (False,) * 3,
        (True, False, False),
        (False, True, False),
        (False, False, True),
        (False, False, True),
    ]
    with pytest.raises(ValueError, match="p is not Bool"):
        Claim("p", X)


COLOUR = enum_of("Colour", (("red", 0), ("blue", 4)))
PAIR = struct_of("Pair", (("first", WORD), ("colours", array_of(COLOUR, 2))))
SPECIFICATION = Specification(
    "whole", (Input("x", INT, True, "a\nb", "m", HERE), Input("pair", PAIR, False, "", "", None)),
    (Constant("k", INT, HERE, "label"),),
    (Cell("n", ONE, term("add", N, X), HERE), Cell("b", TRUE, B, None, free=True, named=False)),
    (Named("wire", term("add", N, X), HERE),), (Trigger("called", B, (("arg", X), (None, N)), HERE),),
    (Named("seen", N, HERE),), (Claim("p", B, HERE), Claim("q", TRUE, HERE, Goal.REACHABLE)), (Claim("a", B, HERE),),
    HERE, ("a warning",), (FunctionCall("f", B, (N,), (X,)),), ("spare",),
)  # fmt: skip


def test_specifications_come_back():
    assert from_plain(json.loads(json.dumps(to_plain(SPECIFICATION)))) == SPECIFICATION


ESC = "\x1b"


@pytest.mark.parametrize(
    "changed",
    [
        {"name": ESC},
        {"cells": (Cell("n", ONE, N, Location(ESC, 1)), SPECIFICATION.cells[1])},
        {"cells": (*SPECIFICATION.cells, Cell(ESC, ONE, N, None))},
        {"wires": (Named(ESC, N, None),)},
        {"observers": (Named(ESC, N, None),)},
        {"properties": (Claim(ESC, B),)},
        {"assumptions": (Claim(ESC, B),)},
        {"inputs": (*SPECIFICATION.inputs, Input("u", INT, True, "", "\n", None))},
        {"inputs": (*SPECIFICATION.inputs, Input("u", INT, True, ESC, "", None))},
        {"inputs": (*SPECIFICATION.inputs, Input(ESC, INT, True, "", "", None))},
        {"triggers": (Trigger(ESC, B, (), None),)},
        {"triggers": (Trigger("t", B, ((None, N), (ESC, N)), None),)},
        {"constants": (Constant("k", INT, None, ESC),)},
        {"calls": (FunctionCall(ESC, B, (N,), (X,)),)},
        {"warnings": (ESC,)},
        {"unused": (ESC,)},
        *(
            {"constants": (Constant("k", type, None, "k"),)}
            for type in (
                enum_of(ESC, (("red", 0),)),
                array_of(enum_of("Colour", (("red", 0), (ESC, 4))), 2),
                struct_of(ESC, (("first", WORD),)),
                struct_of("Pair", (("first", WORD), (ESC, WORD))),
                array_of(struct_of("Pair", (("first", array_of(enum_of(ESC, (("a", 0),)), 3)),)), 2),
            )
        ),
    ],
)
def test_no_text_has_a_command(changed):
    with pytest.raises(SpecError, match="has a character that is a command, not text: U\\+00"):
        replace(SPECIFICATION, **changed)


def test_characters_that_are_commands():
    for code in (0, 9, 10, 13, 27, 31, 127, 133, 159, 0x2028, 0x2029, 0x202A, 0x202E, 0x2066, 0x2069, 0xD800, 0xDFFF):
        assert command_in(f"a{chr(code)}") == f"U+{code:04X}"
    for code in (32, 126, 160, 0xE4, 0x2027, 0x202F, 0x2065, 0x206A, 0xE000):
        assert command_in(chr(code)) is None
    assert command_in("a\n\t", "\n\t") is None and command_in("a\n\x07", "\n") == "U+0007"
    assert visible("a\n\tb\x1b\u2028") == "a\n\tb\\x1b\\u2028"


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"inputs": (*SPECIFICATION.inputs, Input("n", INT, True, "", "", None))}, "two variables of one name"),
        ({"inputs": (*SPECIFICATION.inputs, Input("n", WORD, True, "", "", None))}, "two variables of one name"),
        ({"properties": (Claim("p", B), Claim("p", TRUE))}, "two claims of one name"),
        ({"assumptions": (Claim("a", B), Claim("a", TRUE))}, "two claims of one name"),
        ({"cells": SPECIFICATION.cells[:1]}, "undeclared variables b"),
        ({"calls": (FunctionCall("f", B, (N,), (variable("y", INT),)),)}, "undeclared variables y"),
        ({"cells": (Cell("n", ONE, constant(REAL, 1), None), SPECIFICATION.cells[1])}, "cell n is not"),
        ({"cells": (Cell("n", X, N, None), SPECIFICATION.cells[1])}, "cell n is not"),
    ],
)
def test_specifications_that_are_none(changed, words):
    with pytest.raises(ValueError, match=words):
        replace(SPECIFICATION, **changed)


def test_a_part_has_no_name_of_a_variable():
    named = Input("pair.first", INT, True, "", "", None)
    with pytest.raises(SpecError, match=r"`pair\.first` is the name of a variable and of a part of another"):
        replace(SPECIFICATION, inputs=(*SPECIFICATION.inputs, named))


def test_the_status_of_alarms_and_of_what_was_stopped():
    verdicts = Verdicts(SPECIFICATION, [], 0.0, [], machine=False)
    for alarms, stopped, status in (([], 0, 0), (["x"], 0, 4), ([], 130, 130), (["x"], 143, 4)):
        assert replace(verdicts, alarms=alarms, stopped=stopped).status == status


@pytest.mark.parametrize("steps", [1, 127, 128, 40_000, 1 << 40])
def test_the_counter_of_a_bound(steps):
    """Steps 0 to K - 1 meet the bound, and the counter never wraps around."""
    bits = Specification("s", (), (), (Cell("b", TRUE, B, None),), (), (), (), (), (Claim("the bound", B),), None)
    for given in (bits, SPECIFICATION):
        bounded = with_bound(given, steps)
        (*_, clock), (*_, ends) = bounded.cells, bounded.assumptions
        assert (clock.var.type is INT) == (given is SPECIFICATION)
        assert clock.var.type is INT or steps < clock.var.type.high // 2 + 1
        assert ends.term is term("lt", clock.var, constant(clock.var.type, steps))
        assert clock.next.op == "min" and clock.initial is constant(clock.var.type, 0) and not clock.named
        assert len({a.name for a in bounded.assumptions}) == len(bounded.assumptions) == 2
    assert with_bound(bits, 127).cells[-1].var.type is WORD and with_bound(bits, 128).cells[-1].var.type.width == 16
    assert with_bound(with_bound(bits, 3), 4).cells[-1].name != with_bound(bits, 3).cells[-1].name
    assert ends.origin is WRITTEN
