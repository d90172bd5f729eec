"""Solvers that lie: from some query on, they have no answer, or the opposite one, once or always."""

from contextlib import contextmanager

from planting import Planted

from streamcheck.certify import judge
from streamcheck.core.types import default
from streamcheck.smt.bit_solver import BitSolver
from streamcheck.smt.solver import Solver

ENGINES = {"z3": Solver, "bitwuzla": BitSolver}
CHECKERS = ("bitwuzla", "cvc5")
WAYS = ("no answer", "once the opposite", "always the opposite")


class Guess(dict):
    """A model that nobody found."""

    def __missing__(self, var):
        return default(var.type)


def lying(real, first, way, lied):
    """`real` answers True, False or None; the query number `first` of this process, or all from there on, is a lie."""
    count = 0

    def check(self, *assumed, share=1.0):
        nonlocal count
        answer = real(self, *assumed, share=share)
        count += 1
        is_lie = count == first or (count > first and way == "always the opposite")
        lied[id(self)] = is_lie
        if not is_lie:
            return answer
        if way == "no answer":
            self.reason = "it was told to have none"
            return None
        return answer is False

    return check


@contextmanager
def lies_of_engines(family, first, way):
    """The engines' solvers of a family lie. A model or a core that such an answer has not is made up."""
    owner, lied = ENGINES[family], {}
    real = {name: getattr(owner, name) for name in ("check", "core", "values", "model")}
    with Planted() as planted:
        planted.set(owner, "check", lying(real["check"], first, way, lied))
        for name, made_up in (("core", list), ("values", lambda given: {v: default(v.type) for v in given})):
            planted.set(
                owner,
                name,
                lambda self, given, name=name, made_up=made_up: (
                    made_up(given) if lied.get(id(self)) else real[name](self, given)
                ),
            )
        planted.set(owner, "model", lambda self: Guess() if lied.get(id(self)) else real["model"](self))
        yield


@contextmanager
def lies_of_checkers(family, first, way):
    """A solver of the checker has no answer, or finds a proof wrong that is right. (If it finds a wrong proof right,
    nothing sees it.)"""
    real, count = getattr(judge, family), 0

    def answer(*given, **options):
        nonlocal count
        found = real(*given, **options)
        count += 1
        if count < first or (count > first and way != "always the opposite"):
            return found
        return None if way == "no answer" else False

    with Planted() as planted:
        planted.set(judge, family, answer)
        yield
