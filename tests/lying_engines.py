"""Engines that lie, die or stay silent: the supervisor must not believe, crash or hang."""

from __future__ import annotations

import os
import time

from streamcheck.core.term import variable
from streamcheck.core.types import BOOL
from streamcheck.engines.protocol import TrueUpTo
from streamcheck.problem.verdict import Certificate, Falsified, Proved, Trace


class ProvesAnything:
    name = "liar"

    def run(self, problem, inbox):
        for p in problem.system.properties:
            yield Proved(p.name, Certificate("inductive", 1, (p.term,)))


class FalsifiesAnything:
    name = "liar"

    def run(self, problem, inbox):
        for p in problem.system.properties:
            yield Falsified(p.name, Trace({}, ({},)))


class SpeaksNonsense:
    name = "liar"

    def run(self, problem, inbox):
        for p in problem.system.properties:
            yield Proved(p.name, Certificate("inductive", 1, (variable("nobody declared this", BOOL),)))


class Dies:
    name = "liar"

    def run(self, problem, inbox):
        yield TrueUpTo("nothing", 0)
        os.kill(os.getpid(), 11)


class Hangs:
    name = "liar"

    def run(self, problem, inbox):
        while True:
            time.sleep(60)
        yield


class Eats:
    name = "liar"

    def run(self, problem, inbox):
        hoard = []
        while True:
            hoard.append(bytearray(10_000_000))
        yield
