"""Certificates of transition systems checked as those of specifications are, and short forms of transformations."""

from __future__ import annotations

from collections import deque
from functools import partial

from streamcheck.certify.checker import check_term, judge_invariants
from streamcheck.certify.runs import Register, Runs, SpecificationRuns
from streamcheck.transform.blocks import LargeBlocks
from streamcheck.transform.slicing import Slicing


def reading_of(system):
    registers = tuple(Register(s.var, s.init, s.next) for s in system.state)
    members = tuple(a.term for a in system.assumptions if a.is_range)
    assumed = tuple(a.term for a in system.assumptions if not a.is_range)
    named = {s.var.payload: s.var for s in system.state} | {d.name: d.term for d in system.definitions}
    return SpecificationRuns(Runs(registers, system.inputs, assumed, members), named, {})


def check(system, claim, certificate):
    """None if the certificate proves the claim of the transition system, else the rejection."""
    reading = reading_of(system)
    return check_term(reading, claim.term, certificate, partial(judge_invariants, reading, deque()))


def sliced(automaton):
    return Slicing(automaton).problem


def large_blocks(automaton):
    return LargeBlocks(automaton).problem
