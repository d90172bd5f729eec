"""Faults planted in each step between a spec and its verdict, in each engine, and in the answers of each solver: no
false verdict comes through."""

from collections import Counter
from random import Random

from planted_faults import faults as planted_faults
from trust.figure import Figure
from trust.lies import CHECKERS, ENGINES, WAYS, lies_of_checkers, lies_of_engines
from trust.small_specs import small_spec
from trust.states import TooMany, first_violations

from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain
from streamcheck.run.prove import Alarm, Settings, prove
from streamcheck.run.registry import ENGINES as REGISTRY

SECONDS = 3.0
ALONE = [name for name, row in REGISTRY.items() if row.spec is not None]


def faults(count, seed):
    figure, rng = Figure("planted faults, each refused; and solvers that lie to engines and checker"), Random(seed)
    every = list(planted_faults())
    for fault in rng.sample(every, min(count, len(every))):
        outcome = fault.outcome()
        figure.tried["faults " + outcome.partition(":")[0]] += 1
        if not outcome.startswith("refused"):
            figure.wrong.append(f"{fault.title}: {outcome}")
    for number in range(seed, seed + count):
        lie(figure, number)
    return figure


def lie(figure, number):
    """A small spec by one engine, or by the command, while a solver lies."""
    rng = Random(number)
    spec, values = small_spec(number)
    problem = flatten(spec)
    try:
        expected = first_violations(to_plain(problem), values)
    except TooMany:
        return
    engine = rng.choice((None, *ALONE))
    first, way = rng.choice((1, 1, 2, 3, rng.randint(1, 40))), rng.choice(WAYS)
    if rng.random() < 0.7:
        family = rng.choice(list(ENGINES))
        who, lies = f"{family} of engines", lies_of_engines(family, first, way)
    else:
        family = rng.choice(CHECKERS)
        who, lies = f"{family} of the checker", lies_of_checkers(family, first, way)
    with lies:
        found, alarms = verdicts(problem, engine)
    figure.tried[f"runs with lies of {who}"] += 1
    figure.tried["alarms"] += alarms
    figure.tried.update(Counter(word for word in found.values()))
    for name, word in found.items():
        if word != "unknown" and word != truth(problem, name, expected[name]):
            figure.wrong.append(f"seed {number}: {name} is {word}; {engine or 'the command'}, {who}, {way} at {first}")


def verdicts(problem, engine):
    """The verdicts by property, and the number of alarms."""
    settings = Settings(timeout=SECONDS, jobs=1, engines=(engine,) if engine else ())
    try:
        done = prove(problem, settings)
    except Alarm:
        return {}, 1
    return {r.name: r.verdict for r in done.results}, len(done.alarms)


def truth(problem, name, first):
    claim = next(p for p in problem.properties if p.name == name)
    return "proved" if (claim.goal.value == "reachable") is (first is not None) else "falsified"
