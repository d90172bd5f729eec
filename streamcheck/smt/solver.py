"""A z3 solver over our own terms.

It keeps the contract `smt.contract`. `patience` is z3's own count of its work (some ten million units are a second):
with a clock, the answer would depend on what else the machine is doing. Over bit-vectors and floats z3 counts less for
the same time, by a factor of 5 to 15, so a unit of theirs has a price. At products of Ints or Reals it may count hardly
anything for minutes: such a query has a limit in processor time too (`smt.watch`).

A model is read at once, before anything else is asserted: z3 would read the changed assertions into it.

Logs each query with its time, at level DEBUG.
"""

from __future__ import annotations

import logging
import struct
import time
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import z3  # type: ignore[import-untyped]

from streamcheck.core.floats import f32
from streamcheck.core.term import Term
from streamcheck.core.types import FloatType, MachineType, Type, Value, default, plural
from streamcheck.smt.translate import FUNCTIONS, Translator
from streamcheck.smt.watch import limit_processor_time

TOO_LONG = "a query took too long"
NO_PROCEDURE = "the solver has no decision procedure for this arithmetic"
LOG = logging.getLogger(__name__)
IMPLIES = FUNCTIONS["=>"]
BITS_PRICE = 4  # of a unit of work on machine integers and floats (heuristic)
SECONDS_PER_UNIT = 1.2e-6  # of processor time, at products: twelve times what a unit takes elsewhere (heuristic)


class Solver:
    def __init__(self, patience: int | None = None, *, small_cores: bool = False) -> None:
        self.z3 = z3.Solver()
        self.patience = patience
        if small_cores:
            self.z3.set("core.minimize", True)
        self.translator = Translator()
        self.reason = ""
        self._indicators: dict[Term, z3.BoolRef] = {}

    def more_patience(self) -> None:
        """Twice the patience from now on."""
        if self.patience is not None:
            self.patience *= 2

    def add(self, *terms: Term) -> None:
        for t in terms:
            self.z3.add(self.translator.expression(t))

    def add_any(self, *terms: Term) -> None:
        """Assert the disjunction without making it a term."""
        self.z3.add(z3.Or(*map(self.translator.expression, terms)))

    def add_under(self, label: Term, t: Term) -> None:
        """`label → t`: the term counts in checks that assume the label."""
        self.z3.add(IMPLIES(self.translator.expression(label), self.translator.expression(t)))

    def push(self) -> None:
        self.z3.push()

    def pop(self) -> None:
        self.z3.pop()

    def check(self, *assumed: Term, share: float = 1.0) -> bool | None:
        """Satisfiability of what was added, and of these terms (Bool variables or any Bool terms). `share` is that of
        the patience which this query has."""
        literals = [self.indicator(t) for t in assumed]
        began = time.perf_counter()
        if self.patience is None:
            answer = self.z3.check(*literals)
        else:
            units = int(share * self.patience)
            self.z3.set("rlimit", units // (BITS_PRICE if self.translator.has_bits else 1))
            if self.translator.has_products:
                with limit_processor_time(self.z3, SECONDS_PER_UNIT * units):
                    answer = self.z3.check(*literals)
            else:
                answer = self.z3.check(*literals)
        if LOG.isEnabledFor(logging.DEBUG):
            seconds = time.perf_counter() - began
            LOG.debug("%s in %.1f ms, %s", answer, 1000 * seconds, plural(len(literals), "assumption"))
        if answer == z3.unknown:
            why = str(self.z3.reason_unknown())
            limited = any(word in why for word in ("canceled", "interrupted", "timeout", "resource limit"))
            self.reason = TOO_LONG if limited else NO_PROCEDURE if "incomplete" in why else why or "the solver gave up"
            return None
        return bool(answer == z3.sat)

    def indicator(self, t: Term) -> z3.BoolRef:
        """A literal that stands for the term when assumed."""
        if t.op == "var":
            return self.translator.expression(t)
        if t not in self._indicators:
            literal = z3.FreshBool("assume")
            self.z3.add(IMPLIES(literal, self.translator.expression(t)))
            self._indicators[t] = literal
        return self._indicators[t]

    @property
    def size(self) -> int:
        """The number of terms that have been assumed."""
        return len(self._indicators)

    def core(self, candidates: Iterable[Term]) -> list[Term]:
        """The unsatisfiable core: the assumed terms that the last answer needed."""
        needed = {literal.get_id() for literal in self.z3.unsat_core()}
        return [t for t in candidates if self.indicator(t).get_id() in needed]

    def values(self, variables: Iterable[Term]) -> dict[Term, Value]:
        """The last model's values; a default for variables that it leaves open."""
        model = self.model()
        return {v: model[v] for v in variables}

    def model(self) -> Model:
        return Model(self.z3.model(), self.translator)


class Model(dict[Term, Value]):
    """A model's values, each read when it is first asked for. It stays as it was when more is asserted."""

    def __init__(self, model: z3.ModelRef, translator: Translator) -> None:
        super().__init__()
        self._model, self._translator = model, translator

    def __missing__(self, var: Term) -> Value:
        value = self[var] = read(var.type, self._model.eval(self._translator.expression(var)))
        return value


def read(type: Type, value: Any) -> Value:
    """A z3 value as ours."""
    if type.kind == "bool":
        return bool(z3.Z3_get_bool_value(value.ctx_ref(), value.as_ast()) == z3.Z3_L_TRUE)
    match type:
        case MachineType(signed=True) if z3.is_bv_value(value):
            return int(value.as_signed_long())
        case FloatType() if z3.is_fp_value(value):
            return _float(type, value)
    if z3.is_bv_value(value):
        return int(value.as_signed_long()) if type.kind == "enum" else int(value.as_long())
    if z3.is_int_value(value):
        return int(value.as_long())
    if z3.is_rational_value(value):
        return Fraction(value.numerator_as_long(), value.denominator_as_long())
    if z3.is_algebraic_value(value):  # no Real of ours: an approximation, which the replay will judge
        approximate: Value = read(type, value.approx(20))
        return approximate
    return default(type)


def _float(type: FloatType, value: Any) -> float:
    if value.isNaN():
        return float("nan")
    if value.isInf():
        return float("-inf") if value.isNegative() else float("inf")
    if value.isZero():
        return -0.0 if value.isNegative() else 0.0
    bits = z3.simplify(z3.fpToIEEEBV(value)).as_long()
    layout = "f" if type.width == 32 else "d"
    unpacked: float = struct.unpack(f">{layout}", bits.to_bytes(type.width // 8, "big"))[0]
    return f32(unpacked) if type.width == 32 else unpacked
