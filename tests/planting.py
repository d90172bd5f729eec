"""Faults to plant in the package while it runs, the outcomes of runs with them, and small problems to run on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from program_search import automaton

from streamcheck import Array, Bool, Int, Spec, Word8, extern, mux, stream
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core import meaning
from streamcheck.core.errors import SpecError
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import array_of, machine
from streamcheck.deliver import narrow
from streamcheck.lang import flatten
from streamcheck.lang.check_flattening import Unfaithful
from streamcheck.problem.automaton import Automaton, Edge, Error
from streamcheck.run.prove import Alarm, Nobody, Settings, prove
from streamcheck.smt import translate
from streamcheck.validate.bisimulation import validate

SECONDS = 20.0
INDUCTION = ("bmc", "k-induction")
WORD = machine(8, signed=False)


class Planted:
    """Changes that are undone at the end."""

    def __init__(self):
        self._undo = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for undo in reversed(self._undo):
            undo()
        forget()

    def set(self, owner, name, value):
        old = getattr(owner, name)
        set_attribute = object.__setattr__ if _is_frozen(owner) else setattr
        self._undo.append(lambda: set_attribute(owner, name, old))
        set_attribute(owner, name, value)
        forget()


def forget():
    """Clear the compiled forms of operators."""
    for module in (meaning, translate):
        for value in list(vars(module).values()):
            if getattr(value, "__module__", "") == module.__name__ and hasattr(value, "cache_clear"):
                value.cache_clear()


def _is_frozen(owner):
    return getattr(type(owner), "__dataclass_params__", None) is not None


@dataclass(frozen=True)
class Fault:
    """`plant` makes the change; `attempt` runs the tool and gives the outcome in words."""

    part: str
    what: str
    plant: Callable[[Planted], None]
    attempt: Callable[[], str]

    @property
    def title(self):
        return f"{self.part}: {self.what}"

    def outcome(self):
        """`refused by …` is what must come out; `accepted: …` and `no effect: …` are failures."""
        with Planted() as planted:
            self.plant(planted)
            return self.attempt()


def refused(by, why):
    return f"refused by {by}: {str(why)[:100]}"


class Refutation(Exception):
    """A claim of an engine was refuted."""


class StopsAtAlarms(Nobody):
    """Other engines would go on with the property, which a fault may leave undecided."""

    def watch(self, director):
        if director.alarms:
            raise Refutation(director.alarms[0])


def proving(problem, engines, truth):
    """Run engines on a problem whose only property has this truth."""

    def attempt():
        try:
            verdicts = prove(problem(), Settings(timeout=SECONDS, jobs=1, engines=engines), StopsAtAlarms())
        except Refutation as refusal:
            return refused("the replay" if "does not replay" in str(refusal) else "the checker", refusal)
        except Unfaithful as refusal:
            return refused("the check of the flattening", refusal)
        except Alarm as refusal:
            return refused("a contradiction", refusal)
        (result,) = verdicts.results
        if result.verdict not in (truth, "unknown"):
            return f"accepted: {result.verdict}, {result.engine}"
        if result.verdict == "unknown" and "could not be checked" in result.reason:
            return refused("the checker", result.reason)
        return f"no effect: {result.verdict}"

    return attempt


def proving_of_infinite_runs(problem):
    """Decide the only claim of a spec, which is about infinite runs."""

    def attempt():
        verdicts = prove(problem(), Settings(timeout=SECONDS, jobs=1))
        if any("does not replay" in alarm for alarm in verdicts.alarms):
            return refused("the replay", verdicts.alarms[0])
        return f"accepted: {verdicts.results[0].verdict}"

    return attempt


def endless(claim):
    """A spec whose claim about infinite runs is that this is true infinitely often."""

    def made():
        spec = Spec("planted")
        spec.infinitely_often("p", claim())
        return flatten.flatten(spec)

    return made


def compiling(problem, **options):
    """Generate C and prove it."""

    def attempt():
        failures = validate(generate(problem(), CodeOptions(**options)).code, SECONDS).failures
        return refused("the proof of the C", failures[0]) if failures else "accepted: the C was proved"

    return attempt


def narrowing(problem):
    """Prove ranges of Int streams."""

    def attempt():
        try:
            narrow.narrow(problem(), (), Settings(timeout=SECONDS, jobs=1))
        except SpecError as refusal:
            return refused("the checker", refusal.message)
        return "accepted: the ranges were proved"

    return attempt


# Problems


def specification(name, claim, assumed=None, exists=False):
    def made():
        spec = Spec("planted")
        if assumed is not None:
            spec.assume("assumed", assumed())
        (spec.exists if exists else spec.prop)(name, claim())
        return flatten.flatten(spec)

    return made


def monitor(guard, *args):
    def made():
        spec = Spec("planted")
        spec.trigger("alarm", guard(), list(args))
        return flatten.flatten(spec)

    return made


def wrapping():
    b = extern("b", Bool)
    return stream(Word8, lambda w: [1] + +mux(b, w + 1, w)) != 0


def turning():
    return stream(Word8, lambda w: [1] + +mux(w == 3, 1, w + 1)) < 4


def counter():
    return stream(Int, lambda n: [0] + +(n + 1))


def element():
    i = extern("i", Word8)
    return Array(Word8, 2)([1, 2])[i] == 2


def turns():
    return stream(Word8, lambda n: [0] + +mux(n < 9, n + 1, 0))


def late():
    return stream(Word8, lambda n: [1, 2, 3, 4, 5, 6, 7, 8, 9] + +n)


def long_delay():
    """It begins with sevens."""
    return ([7] * 20 + +extern("x", Word8)) == 3


def latches():
    p, q = extern("p", Bool), extern("q", Bool)
    a, b = stream(Bool, lambda held: [False] + +(held | p)), stream(Bool, lambda held: [False] + +(held | q))
    return a & ~b


def long_choice():
    k = extern("k", Word8)
    x, y, z = (extern(name, Word8) for name in "xyz")
    chosen = mux(k == 0, x + y, mux(k == 1, x * z, mux(k == 2, y & z, mux(k == 3, z - 1, x ^ y))))
    return ([0] + +chosen) == 3


def two_arguments():
    return monitor(lambda: extern("small", Word8) < 9, extern("small", Word8), extern("large", Word8))


def unsafe(*lines):
    return lambda: automaton("q0", "bad", *lines)


def machine_unsafe():
    """x is 0 after 85 turns, as 1 + 3 * 85 wraps around."""
    lines = ("q0 -> q1: x := 1", "q1 -> q2: x >= 1", "q2 -> q1: x := x + 3", "q1 -> bad: x == 0")
    return automaton("q0", "bad", *lines, type=WORD)


def one_of_two():
    """Any element of [1, 2] may be 1."""
    a, i = variable("a", array_of(WORD, 2)), variable("i", WORD)
    elements = constant(array_of(WORD, 2), (1, 2))
    is_one = term("eq", term("index", a, i), constant(WORD, 1))
    edges = (Edge("q0", "q1", updates=((a, elements),)), Edge("q1", "bad", guard=is_one))
    return Automaton("p", (a, i), ("q0", "q1", "bad"), "q0", (Error("bad", "safe", None),), edges)


def one_of_many():
    """An element of a long array is changed, and another index may be the same."""
    index = machine(16, signed=False)
    a, i, j = variable("a", array_of(WORD, 5000)), variable("i", index), variable("j", index)
    is_two = term("eq", term("index", a, j), constant(WORD, 2))
    edges = (
        Edge("q0", "q1"),
        Edge("q1", "q2", updates=((a, term("update", a, i, constant(WORD, 2))),)),
        Edge("q2", "bad", guard=is_two),
    )
    return Automaton("p", (a, i, j), ("q0", "q1", "q2", "bad"), "q0", (Error("bad", "safe", None),), edges)


def machine_safe():
    """x stays 1."""
    return automaton("q0", "bad", "q0 -> q1: x := 1", "q1 -> q1: x := x * x", "q1 -> bad: x == 4", type=WORD)
