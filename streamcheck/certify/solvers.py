"""The checker's solvers: bitwuzla for bit-vectors and floats, cvc5 for the rest. Neither is the engines'."""

from __future__ import annotations

import importlib
from typing import Any

from streamcheck.certify.smtlib import Script

NUMBERS = {"integer", "real"}


def warm_up() -> None:
    """Load the solvers before they are asked."""
    for name in ("bitwuzla", "cvc5"):
        _module(name)


def _module(name: str) -> Any:
    """A solver's package, loaded when it is first asked (neither has types)."""
    return importlib.import_module(name)


def unsatisfiable(script: Script, seconds: float | None = None) -> bool | None:
    """Whether the script's assertions contradict each other; None where the solver does not know (in that time)."""
    if script.kinds & NUMBERS:
        return _cvc5(script.text(), seconds)
    return _bitwuzla(script.text(), seconds)


def _cvc5(text: str, seconds: float | None) -> bool | None:
    cvc5 = _module("cvc5")
    solver = cvc5.Solver(cvc5.TermManager())
    if seconds is not None:
        solver.setOption("tlimit-per", str(int(1000 * seconds)))
    parser = cvc5.InputParser(solver)
    parser.setStringInput(cvc5.InputLanguage.SMT_LIB_2_6, text, "certificate")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        error = command.invoke(solver, symbols)
        if "error" in error:
            raise ValueError(error)
    return _answer(str(solver.checkSat()))


def _bitwuzla(text: str, seconds: float | None) -> bool | None:
    bitwuzla = _module("bitwuzla")
    options = bitwuzla.Options()
    if seconds is not None:
        options.set(bitwuzla.Option.TIME_LIMIT_PER, int(1000 * seconds))
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(text.replace("(set-logic ALL)", "(set-logic QF_BVFP)"), True, False)
    return _answer(str(parser.bitwuzla().check_sat()))


def _answer(text: str) -> bool | None:
    if "unsat" in text.lower():
        return True
    return False if "sat" in text.lower() else None
