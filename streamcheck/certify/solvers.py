"""The checker's solvers: bitwuzla for bit-vectors and floats, cvc5 for the rest. The engines have z3, and bitwuzla too,
which then does not check its own proofs."""

from __future__ import annotations

import importlib
import time
from collections.abc import Mapping
from itertools import count
from typing import Any


def warm_up() -> None:
    """Load the solvers before they are asked."""
    for name in ("bitwuzla", "cvc5"):
        _module(name)


def _module(name: str) -> Any:
    """A solver's package, loaded when it is first asked (neither has types)."""
    return importlib.import_module(name)


def cvc5(text: str, seconds: float | None, options: Mapping[str, str], work: int | None = None) -> bool | None:
    """True if the script's assertions contradict each other; None if the solver has no answer. `work` limits what the
    solver itself counts as work: the answer does not depend on the machine or its load. `seconds` are on the clock."""
    limits = {} if seconds is None else {"tlimit-per": str(int(1000 * seconds))}
    if work is not None:
        limits["rlimit-per"] = str(work)
    return _answer(str(_cvc5_on(text, {**limits, **options}).checkSat()))


def cvc5_proof(text: str, seconds: float) -> str | None:
    """A proof that the script's assertions contradict each other, in cvc5's own format, the Cooperating Proof Calculus.
    None if the solver has no answer, or another one."""
    options = {"produce-proofs": "true", "proof-granularity": "dsl-rewrite", "tlimit-per": str(int(1000 * seconds))}
    solver = _cvc5_on(text, options)
    if not solver.checkSat().isUnsat():
        return None
    proof: bytes = solver.proofToString(solver.getProof()[0], _module("cvc5").ProofFormat.CPC)
    return proof.decode().strip().removeprefix("(").removesuffix(")")


def _cvc5_on(text: str, options: Mapping[str, str]) -> Any:
    """A solver that has read the script."""
    package = _module("cvc5")
    solver = package.Solver(package.TermManager())
    for option, value in options.items():
        solver.setOption(option, value)
    parser = package.InputParser(solver)
    parser.setStringInput(package.InputLanguage.SMT_LIB_2_6, text, "certificate")
    symbols = parser.getSymbolManager()
    while not (command := parser.nextCommand()).isNull():
        error = command.invoke(solver, symbols)
        if "error" in error:
            raise ValueError(error)
    return solver


def bitwuzla(text: str, seconds: float | None, work: int | None = None) -> bool | None:
    """The same of a script without Int and Real. `work` limits the number of times that the solver asks if it shall
    stop, `seconds` this process's time on a processor."""
    package = _module("bitwuzla")
    parser = package.Parser(package.TermManager(), package.Options())
    parser.parse(text.replace("(set-logic ALL)", "(set-logic QF_BVFP)"), True, False)
    solver = parser.bitwuzla()
    if work is not None:
        asked = count()
        solver.configure_terminator(lambda: next(asked) >= work)
    elif seconds is not None:
        end = time.process_time() + seconds
        solver.configure_terminator(lambda: time.process_time() >= end)
    return _answer(str(solver.check_sat()))


def cvc5_on_bits(text: str, seconds: float | None, work: int | None = None) -> bool | None:
    """`cvc5` on a script of bit-vectors alone, all of which it translates to its SAT solver at once."""
    return cvc5(text.replace("(set-logic ALL)", "(set-logic QF_BV)"), seconds, {"bitblast": "eager"}, work)


def _answer(text: str) -> bool | None:
    return {"unsat": True, "sat": False}.get(text)
