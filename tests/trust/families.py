"""Proofs of small specs, each judged by one solver of the checker alone: none rejects what the command has proved."""

from collections import Counter

from planting import Planted
from trust.apart import answers
from trust.decided import import_all
from trust.figure import Figure
from trust.small_specs import small_spec

from streamcheck.certify import judge
from streamcheck.certify.check import Checker
from streamcheck.lang.flatten import flatten
from streamcheck.problem.verdict import CHECKERS, Certificate
from streamcheck.run.prove import Settings, prove

SECONDS = 60.0  # of a spec, with all its judgements
FAMILIES = ("bitwuzla", "cvc5")


def families(count, seed):
    """So many specs."""
    figure = Figure("proofs of small specs, each judged by one family of solvers alone")
    import_all()
    numbers = range(seed, seed + count)
    for number, found in zip(numbers, answers(judgements, numbers, SECONDS), strict=True):
        if found == "hung":
            figure.tried[f"specs that take more than {SECONDS:.0f} s"] += 1
        elif isinstance(found, str):
            figure.wrong.append(f"seed {number}: {found[-300:]}")
        else:
            figure.tried.update(found[0])
            figure.wrong += found[1]
    return figure


def judgements(number):
    """What was tried of the spec with this number, and what is wrong."""
    problem, tried, wrong = flatten(small_spec(number)[0]), Counter(), []
    for result in prove(problem, Settings(timeout=2.0, jobs=1)).results:
        evidence = result.evidence
        if not isinstance(evidence, Certificate):
            continue
        tried["proofs"] += 1
        for family in FAMILIES:
            if family not in CHECKERS[evidence.prover]:
                continue
            rejected = judged_by(family, problem, result.name, evidence)
            if rejected is None:
                tried[f"accepted by {family} alone"] += 1
            elif rejected.undecided:
                tried[f"left open by {family} alone"] += 1
            else:
                wrong.append(f"seed {number}, {family}: {result.name}: {rejected.why}")
    return dict(tried), wrong


def judged_by(family, problem, name, certificate):
    """The objection of one solver, if the others have no answer."""
    with Planted() as planted:
        for other in FAMILIES:
            if other != family:
                planted.set(judge, other, lambda *_, **__: None)
        return Checker(problem).check(name, certificate)
