"""One checker judges certificates about several abstractions of a program, each about its own."""

from __future__ import annotations

from dataclasses import replace

from automata import automaton

from streamcheck.certify.locations import AutomatonChecker
from streamcheck.core.term import FALSE, constant, term
from streamcheck.problem.automaton import Edge
from streamcheck.problem.verdict import BlockCertificate, Certificate

SAFE = automaton("l0 -> l1: x := 0\n l1 -> lE: [x == 1]")
STOPPED = replace(SAFE, edges=(Edge("l0", "lE", FALSE),), locations=("l0", "lE"))
CLOSED = Certificate("inductive", 1, (term("eq", STOPPED.place, STOPPED.code("l0")),))


def is_at(location):
    return term("eq", SAFE.place, SAFE.code(location))


def test_each_certificate_is_about_its_own_blocks():
    (x,) = SAFE.variables
    zero = term("implies", is_at("l1"), term("eq", x, constant(x.type, 0)))
    proof = Certificate("inductive", 1, (term("and", term("not", is_at("lE")), zero),))
    checker, short = AutomatonChecker(SAFE), BlockCertificate(STOPPED, CLOSED)
    right, wrong = BlockCertificate(SAFE, proof), BlockCertificate(SAFE, CLOSED)
    for evidence, is_accepted in ((short, True), (wrong, False), (right, True), (short, True), (wrong, False)):
        assert (checker.check("safe", evidence) is None) == is_accepted
