"""Decides if a condition holds: a query in several renderings, each for a solver that the engines do not use.

    WideBitwise   bitwuzla, bit by bit; cvc5, translating all bits at once, if the proof comes from bitwuzla
    Remainders    cvc5, over Int, with a remainder at every operation
    Bitwise       cvc5, machine integers as bit-vectors beside Int and Real
    Bitwise       cvc5, its own translation of bit-vectors to integers (`solve-bv-as-int`)

All are equivalent, so the first answer counts. Bits decide most conditions within milliseconds, but sums of wide
integers hardly ever; remainders are the other way round. So each has a short time at first, then longer ones. What is
decided is logged at level INFO, each query at level DEBUG.

Queries of floats, or of Bools alone, go to bitwuzla and cvc5 in turns, each with more of its own work every time; if
the proof comes from one of them, to the other alone, which takes turns with itself: its SAT solver chooses its literals
in two ways.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import takewhile
from typing import Literal, TypeAlias, assert_never

from streamcheck.certify.bitwise import Bitwise, Unrenderable, WideBitwise
from streamcheck.certify.remainders import Remainders
from streamcheck.certify.runs import Runs
from streamcheck.certify.script import Script
from streamcheck.certify.solvers import bitwuzla, cvc5, cvc5_on_bits
from streamcheck.problem.verdict import CHECKERS, SolverFamily

LOG = logging.getLogger(__name__)
Query: TypeAlias = Callable[[Script], None]  # asserts what must be contradictory
Queries: TypeAlias = Sequence[Query]
Way: TypeAlias = Literal["bits", "remainders", "bits as integers", "bits beside Int"]
ATTEMPTS: tuple[tuple[Way, float], ...] = (  # seconds
    ("bits", 0.5),
    ("remainders", 1.0),
    ("bits", 3.0),
    ("bits as integers", 0.5),
    ("remainders", 10.0),
    ("bits", 10.0),
    ("bits as integers", 5.0),
    ("bits beside Int", 2.0),
    ("remainders", 300.0),
    ("bits", 60.0),
    ("bits as integers", 60.0),
    ("bits beside Int", 60.0),
)
QUICK = 1.0  # seconds
LOT = 16  # parts of a condition that are asked about together, before each alone
AS_INTEGERS = {"solve-bv-as-int": "sum"}
SAT_DECIDES = {"decision": "internal"}  # the SAT solver's own choice of literals, not that by the query's structure
TANGENT_PLANES = {"nl-ext-tplanes": "true"}  # another refinement of products of variables
FloatWay: TypeAlias = Literal["bitwuzla", "cvc5", "cvc5, its SAT solver's literals"]
AT_FLOATS: tuple[tuple[FloatWay, float], ...] = (
    ("bitwuzla", 1.0),
    ("cvc5", 4.0),
    ("bitwuzla", 10.0),
    ("cvc5, its SAT solver's literals", 10.0),
    ("cvc5", 60.0),
    ("bitwuzla", 60.0),
    ("cvc5, its SAT solver's literals", 60.0),
    ("bitwuzla", 300.0),
    ("cvc5", 300.0),
)
WORK_PER_SECOND = {"bitwuzla": 40_000, "cvc5": 2_500_000}  # in what each solver counts, at floats
RATE = 250_000  # the work of cvc5 in a second at other queries, of what it counts
SLOWEST = 8.0  # times that a query may take longer by the clock: not all of cvc5's work counts
AT_NUMBERS: tuple[tuple[Mapping[str, str], float], ...] = (
    ({}, 0.25),
    (SAT_DECIDES, 1.0),
    ({}, 3.0),
    (SAT_DECIDES, 6.0),
    (TANGENT_PLANES, 30.0),
    ({}, 300.0),
)


@dataclass(frozen=True, slots=True)
class Rejected:
    """The reason why a certificate is no proof; `undecided` if no solver had an answer."""

    why: str
    undecided: bool = False


Objection: TypeAlias = Rejected | None


def judge(
    what: str, runs: Runs, query: Query, prover: SolverFamily, parts: Queries = (), lots: Queries = ()
) -> Objection:
    """None if the query is contradictory. The solver that the proof came from is not asked. `parts` are queries that
    are contradictory together where the query is: asked if no quick attempt at all of it has an answer. A lot, if there
    are some, is contradictory where the next `LOT` parts are: these are asked one by one if it is not, quickly."""
    attempts = _attempts(runs, query, prover)
    if len(parts) < 2:
        return _first_answer(what, attempts)[0]
    rejected, _ = _first_answer(what, takewhile(lambda attempt: attempt.is_quick, attempts))
    if rejected is None or not rejected.undecided:
        return rejected
    last: Attempt | None = None  # that decided the part before
    done = 0  # parts that a lot has decided
    for number, part in enumerate(parts, 1):
        if len(lots) > 1 and number % LOT == 1:
            quick = takewhile(lambda attempt: attempt.is_quick, _attempts(runs, lots[number // LOT], prover))
            if _first_answer(f"{what}, parts {number} to {number + LOT - 1},", quick)[0] is None:
                done = number + LOT - 1
        if number > done:
            ways = _with_first(_attempts(runs, part, prover), last)
            rejected, last = _first_answer(f"{what}, part {number} of {len(parts)},", ways)
            if rejected is not None:
                return rejected
    return None


def _with_first(attempts: Iterable[Attempt], last: Attempt | None) -> list[Attempt]:
    """The attempts in their order, but first the one that is like the last: not all of its solver, whose longest one
    would have minutes before another solver is asked."""
    return sorted(attempts, key=lambda attempt: last is None or not attempt.is_like(last))


def _first_answer(what: str, attempts: Iterable[Attempt]) -> tuple[Rejected | None, Attempt | None]:
    """None if the first answer is that the query is contradictory, and the attempt whose answer it is."""
    errors: list[str] = []
    began = time.perf_counter()
    for attempt in attempts:
        try:
            answer = attempt.answer()
        except Exception as error:  # a text that the solver cannot parse decides nothing
            LOG.debug("%s: %s", attempt.solver, error)
            errors.append(str(error))
            continue
        if answer is not None:
            outcome = "holds" if answer else "does not hold"
            LOG.info("%s %s: %s, %.1f ms", what, outcome, attempt.solver, 1000 * (time.perf_counter() - began))
            return None if answer else Rejected(f"{what} does not hold"), attempt
    return Rejected(f"{what}: {errors[0] if errors else 'undecided'}", undecided=True), None


def is_contradictory(runs: Runs, query: Query, seconds: float | None) -> bool | None:
    """One attempt, with machine integers as bit-vectors. None if the solver times out or gives up."""
    return _plain(script_of(runs, Bitwise(), query), seconds).answer()


def is_contradictory_within(runs: Runs, query: Query, work: int) -> bool | None:
    """The same, with a limit on the solver's work instead of its time. None if the query has Int or Real."""
    script = script_of(runs, Bitwise(), query)
    return None if script.has_numbers else Attempt("bitwuzla", partial(bitwuzla, script.text(), None, work)).answer()


@dataclass(frozen=True, slots=True)
class Attempt:
    """A query to one solver. `solver` is its name and the rendering of the query."""

    solver: str
    ask: Callable[[], bool | None]
    seconds: float | None = None  # at most

    @property
    def is_quick(self) -> bool:
        return self.seconds is not None and self.seconds <= QUICK

    def is_like(self, other: Attempt) -> bool:
        """True if it is the same attempt, maybe at another query."""
        return (self.solver, self.seconds) == (other.solver, other.seconds)

    def answer(self) -> bool | None:
        """True if the query is contradictory. None if the solver has no answer."""
        began = time.perf_counter()
        answer = self.ask()
        if LOG.isEnabledFor(logging.DEBUG):
            word = {True: "unsat", False: "sat", None: "unknown"}[answer]
            LOG.debug("%s in %.1f ms, %s", word, 1000 * (time.perf_counter() - began), self.solver)
        return answer


def _attempts(runs: Runs, query: Query, prover: SolverFamily) -> Iterator[Attempt]:
    """Solver calls, in order."""
    plain = _expressible(runs, Bitwise, query)
    if plain is None:
        return
    if not plain.has_numbers and (plain.has_floats or not plain.has_machine_integers):
        yield from _attempts_at_floats(plain, prover)
        return
    if not plain.has_machine_integers:
        yield from _attempts_at_numbers(plain)
        return
    render = lru_cache(None)(partial(_expressible, runs, query=query))  # as soon as a solver is asked
    for way, seconds in ATTEMPTS:
        match way:
            case "bits":
                wide = render(WideBitwise)
                if wide is not None and "bitwuzla" in CHECKERS[prover]:
                    yield Attempt(f"bitwuzla, {way}", partial(bitwuzla, wide.text(), seconds), seconds)
                elif wide is not None and wide.is_of_bits:
                    yield _by_work(f"cvc5, {way}", partial(cvc5_on_bits, wide.text()), seconds)
            case "remainders":
                over_int = render(Remainders)
                if over_int is not None:
                    yield _by_work(f"cvc5, {way}", partial(cvc5, over_int.text(), options={}), seconds)
            case "bits as integers":
                yield _by_work(f"cvc5, {way}", partial(cvc5, plain.text(), options=AS_INTEGERS), seconds)
            case "bits beside Int":
                yield _by_work(f"cvc5, {way}", partial(cvc5, plain.text(), options={}), seconds)
            case _:
                assert_never(way)


def _attempts_at_numbers(plain: Script) -> Iterator[Attempt]:
    """Each choice of literals is ten times faster than the other on some queries, so they take turns. Products of
    variables can keep cvc5 busy for ever, and then often fall to another way of refining them."""
    for options, seconds in AT_NUMBERS:
        name = ", ".join(["cvc5", *(f"{option}={value}" for option, value in options.items())])
        yield _by_work(name, partial(cvc5, plain.text(), options=options), seconds)


def _by_work(name: str, ask: Callable[..., bool | None], seconds: float) -> Attempt:
    """An attempt of cvc5 with the work of so many seconds on a processor of its own."""
    return Attempt(name, partial(ask, seconds=SLOWEST * seconds, work=int(RATE * seconds)), seconds)


def _attempts_at_floats(plain: Script, prover: SolverFamily) -> Iterator[Attempt]:
    """Floats, beside bits, or Bools alone: bitwuzla is mostly the fastest."""
    text = plain.text()
    for way, seconds in AT_FLOATS:
        solver = way.partition(",")[0]
        work = int(seconds * WORK_PER_SECOND[solver])
        if solver not in CHECKERS[prover]:
            continue
        match way:
            case "bitwuzla":
                yield Attempt(way, partial(bitwuzla, text, None, work), seconds)
            case "cvc5":
                yield Attempt(way, partial(cvc5, text, None, {}, work), seconds)
            case "cvc5, its SAT solver's literals":
                yield Attempt(way, partial(cvc5, text, None, SAT_DECIDES, work), seconds)
            case _:
                assert_never(way)


def script_of(runs: Runs, rendering: Bitwise, query: Query) -> Script:
    """The query as text. Unrenderable if a term has no form in the rendering."""
    script = Script(runs, rendering)
    query(script)
    return script


def _expressible(runs: Runs, rendering: Callable[[], Bitwise], query: Query) -> Script | None:
    try:
        return script_of(runs, rendering(), query)
    except Unrenderable:
        return None


def _plain(script: Script, seconds: float | None) -> Attempt:
    if script.has_numbers:
        return Attempt("cvc5", partial(cvc5, script.text(), seconds, {}))
    return Attempt("bitwuzla", partial(bitwuzla, script.text(), seconds))
