"""Periodic signals (Copilot.Library.Clocks): true every `period` steps, first at step `phase`.

>>> third = clocks.clk1(3, 1)
false  true  false  false  true  false
"""

from __future__ import annotations

from streamcheck.core.errors import SpecError
from streamcheck.core.location import here
from streamcheck.lang.build import mux
from streamcheck.lang.lib.parts import recur, whole_number, word_for
from streamcheck.lang.stream import Stream
from streamcheck.lang.types import Bool

__all__ = ["clk", "clk1", "period", "phase"]


def period(steps: int) -> int:
    """The number itself: `clk(period(3), phase(1))` reads as in Copilot, and means `clk(3, 1)`.

    clocks.clk1(clocks.period(2))   1 0 1 0 1 0
    """
    return whole_number(steps, 1, "the period of a clock")


def phase(step: int) -> int:
    """The number itself: `clk(period(3), phase(1))` reads as in Copilot, and means `clk(3, 1)`.

    clocks.clk1(2, clocks.phase(1))   0 1 0 1 0 1
    """
    return whole_number(step, 0, "the phase of a clock")


def clk(period: int, phase: int = 0) -> Stream:
    """True at the steps `phase`, `phase + period`, `phase + 2 * period` …, false at all others; `phase` is
    less than `period`. One Bool cell for each step of the period; `clk1` means the same.

        clocks.clk(3, 1)   0 1 0 0 1 0
    """
    _check(period, phase)
    return recur(Bool, [i == phase for i in range(period)], lambda again: again)


def clk1(period: int, phase: int = 0) -> Stream:
    """True at the steps `phase`, `phase + period`, `phase + 2 * period` …, false at all others; `phase` is
    less than `period`. One counter, the smallest word that holds `period - 1`; `clk` means the same.

        clocks.clk1(3)   1 0 0 1 0 0
    """
    _check(period, phase)
    last = period - 1
    position = recur(word_for(last), [last], lambda before: mux(before == last, 0, before + 1))
    return position == phase


def _check(period: int, phase: int) -> None:
    whole_number(period, 1, "the period of a clock")
    if whole_number(phase, 0, "the phase of a clock") >= period:
        message = f"a clock of period {period} has the phases 0 to {period - 1}, not {phase}"
        raise SpecError(message, here())
