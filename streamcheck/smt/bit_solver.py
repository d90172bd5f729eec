"""A bitwuzla solver over our own terms, with the contract `smt.contract`: for floats and machine integers.

z3 loses its best procedures for floats when it is asked again and again under assumptions; bitwuzla does not. It has no
Int and Real: such a term raises `NoNumbers`.

bitwuzla does not count its work, but asks again and again if it shall stop: `patience` limits how often, in roughly
the units of z3's work.

Every node becomes a definition of the solver's parser, named by a number.
"""

from __future__ import annotations

import logging
import math
import struct
import time
from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

import bitwuzla  # type: ignore[import-not-found]

from streamcheck.core.evaluate import unknown_function
from streamcheck.core.smtlib import application, literal, sort
from streamcheck.core.term import Term, walk
from streamcheck.core.types import EnumType, FloatType, MachineType, Value, default, plural
from streamcheck.smt.work import add_work

LOG = logging.getLogger(__name__)
WORK_PER_QUESTION = 100  # of z3, roughly: from 8,000 to 90,000 questions a second
NUMBERS = ("integer", "real")


class NoNumbers(Exception):
    """The term speaks of Int or Real."""


def is_expressible(roots: Iterable[Term]) -> bool:
    """True if bitwuzla has all sorts of these terms."""
    return not any(node.type.kind in NUMBERS for node in walk(roots))


class WorkLimit:
    """When a solver stops. It refers to no solver, since bitwuzla never frees one that its own terminator refers to."""

    def __init__(self) -> None:
        self.questions = count()
        self.most = math.inf

    def is_late(self) -> bool:
        return next(self.questions) >= self.most


class BitSolver:
    def __init__(self, patience: int | None = None) -> None:
        options = bitwuzla.Options()
        options.set(bitwuzla.Option.PRODUCE_MODELS, True)
        options.set(bitwuzla.Option.PRODUCE_UNSAT_ASSUMPTIONS, True)
        self.patience = patience
        self.reason = ""
        self._parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
        self._parser.parse("(set-logic QF_UFBVFP)", True, False)
        self._solver = self._parser.bitwuzla()
        self._limit = WorkLimit()
        self._solver.configure_terminator(self._limit.is_late)
        self._names: dict[Term, str] = {}
        self._terms: dict[Term, Any] = {}
        self._written: set[Term] = set()
        self._functions: set[str] = set()

    def __del__(self) -> None:
        """Free the terms, then what they belong to. As part of a cycle they would be freed in any order, and bitwuzla
        crashes if a term is freed after its solver."""
        self.__dict__.get("_terms", {}).clear()
        for name in ("_solver", "_parser"):
            self.__dict__.pop(name, None)

    def more_patience(self) -> None:
        """Twice the patience from now on."""
        if self.patience is not None:
            self.patience *= 2

    def add(self, *terms: Term) -> None:
        for t in terms:
            self._solver.assert_formula(self._term(t))

    def add_under(self, label: Term, t: Term) -> None:
        """`label → t`: the term counts in checks that assume the label."""
        self._solver.assert_formula(self._parse_term(f"(=> {self._name(label)} {self._name(t)})"))

    def check(self, *assumed: Term, share: float = 1.0) -> bool | None:
        """Satisfiability of what was added, and of these terms, with this share of the patience."""
        literals = [self._term(t) for t in assumed]
        began = time.process_time()
        self._limit.questions = count()
        if self.patience is not None:
            self._limit.most = share * self.patience / WORK_PER_QUESTION
        answer = {"sat": True, "unsat": False}.get(str(self._solver.check_sat(*literals)))
        add_work((next(self._limit.questions) + 1) * WORK_PER_QUESTION)
        if LOG.isEnabledFor(logging.DEBUG):
            spent = 1000 * (time.process_time() - began)
            LOG.debug("%s in %.1f ms, %s", answer, spent, plural(len(literals), "assumption"))
        if answer is None:
            self.reason = "a query took too long"
        return answer

    @property
    def size(self) -> int:
        return len(self._terms)

    def core(self, candidates: Iterable[Term]) -> list[Term]:
        """The unsatisfiable core: the assumed terms that the last answer needed."""
        needed = {t.id() for t in self._solver.get_unsat_assumptions()}
        return [t for t in candidates if self._term(t).id() in needed]

    def model(self) -> BitModel:
        """The last model, read before anything else is asserted."""
        return BitModel(self._value)

    def values(self, variables: Iterable[Term]) -> dict[Term, Value]:
        """The last model's values; a default for variables that it leaves open."""
        return {v: self._value(v) for v in variables}

    def _value(self, var: Term) -> Value:
        if var not in self._written:
            return default(var.type)
        value = self._solver.get_value(self._term(var))
        match var.type:
            case FloatType() as type:
                return _float(type, value)
            case MachineType(signed=signed, width=width):
                bits = int(value.value(2), 2)
                return bits - (1 << width) if signed and bits >> (width - 1) else bits
            case EnumType():
                bits = int(value.value(2), 2)
                return bits - (1 << 32) if bits >> 31 else bits
        return bool(value.value())

    # Terms

    def _term(self, t: Term) -> Any:
        if t not in self._terms:
            self._terms[t] = self._parse_term(self._name(t))
        return self._terms[t]

    def _parse_term(self, text: str) -> Any:
        return self._parser.parse_term(text)

    def _name(self, root: Term) -> str:
        lines = [line for node in walk([root], self._written) for line in self._lines(node)]
        if lines:
            self._parser.parse("\n".join(lines), True, False)
        return self._names[root]

    def _lines(self, node: Term) -> Iterable[str]:
        if node.type.kind in NUMBERS:
            raise NoNumbers
        if node.op == "const":
            self._names[node] = literal(node.type, node.payload)
            return
        name = self._names[node] = f"n{len(self._names)}"
        if node.op == "var":
            yield f"(declare-const {name} {sort(node.type)})"
            return
        unknown = unknown_function(node)
        if unknown and unknown not in self._functions:
            self._functions.add(unknown)
            yield f"(declare-fun {unknown} ({' '.join(sort(a.type) for a in node.args)}) {sort(node.type)})"
        text = application(node, [self._names[a] for a in node.args])
        yield f"(define-fun {name} () {sort(node.type)} {text})"


class BitModel(dict[Term, Value]):
    """A model's values, each read when it is first asked for."""

    def __init__(self, read: Callable[[Term], Value]) -> None:
        super().__init__()
        self._read = read

    def __missing__(self, var: Term) -> Value:
        value = self[var] = self._read(var)
        return value


def _float(type: FloatType, value: Any) -> float:
    if value.is_fp_value_nan():
        return float("nan")
    bits = int("".join(value.value(2)), 2)
    layout = "f" if type.width == 32 else "d"
    unpacked: float = struct.unpack(f">{layout}", bits.to_bytes(type.width // 8, "big"))[0]
    return unpacked
