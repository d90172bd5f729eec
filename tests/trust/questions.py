"""Questions about two specs, and about games: `equal` against a search through the states of both, `realizable` against
one through those of the game."""

import itertools
import json
import tempfile
from collections import deque
from pathlib import Path
from random import Random

from test_realizable import component_wins, random_game
from trust.certificates import exchange
from trust.command import command, last_line
from trust.decided import import_all
from trust.evaluator import Evaluator, identical
from trust.figure import Figure
from trust.small_specs import small_spec
from trust.states import MOST_STATES, TooMany

from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.run.realizable import realizable

SECONDS = 3


def questions(count, seed):
    """So many pairs of specs, and games, in turns."""
    figure = Figure("`equal` and `realizable` against searches")
    import_all()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(seed, seed + count):
            (compared, played)[number % 2](figure, number, Path(folder))
    return figure


def played(figure, number, folder):
    game = random_game(number)
    verdict, wins = realizable(game, SECONDS).verdict, component_wins(game)
    figure.tried[f"games {verdict}"] += 1
    if verdict not in ("unknown", "realizable" if wins else "unrealizable"):
        figure.wrong.append(f"seed {number}: {verdict}, but {'the component' if wins else 'the environment'} wins")


def compared(figure, number, folder):
    """A small spec and a changed one, whose outputs are what the properties say."""
    rng, (spec, values) = Random(number), small_spec(number)
    first = with_outputs(to_plain(flatten(spec)))
    second = first
    for _ in range(rng.choice((0, 5, 10, 20))):
        second = changed(rng, second)
    try:
        truth = first_differences(first, second, values)
    except TooMany:
        return
    for name, plain in (("a", first), ("b", second)):
        (folder / f"{name}.json").write_text(json.dumps({**plain, "name": name}))
    done = command("equal", folder / "a.json", folder / "b.json", "--json", "--timeout", SECONDS, "--jobs", 1)
    where = f"seed {number}, equal"
    if done.is_broken or done.status not in (0, 1, 3):
        figure.wrong.append(f"{where}: status {done.status}: {last_line(done.shown)}")
        return
    for row in json.loads(next(line for line in done.shown.splitlines() if line.startswith("{")))["properties"]:
        name, verdict = row["name"], row["verdict"]
        figure.tried[f"outputs {verdict}"] += 1
        differs = truth[name]
        if verdict != "unknown" and (verdict == "falsified") is not (differs is not None):
            figure.wrong.append(f"{where}: {name} is {verdict}, but they differ first at {differs}")
        elif verdict == "falsified" and row["counterexample"]["length"] < differs + 1:
            figure.wrong.append(f"{where}: {name}: a run that is too short")


def changed(rng, plain):
    """The spec with a term changed, if it is one then."""
    other = json.loads(json.dumps(plain))
    exchange(rng, other["terms"])
    try:
        from_plain(other)
    except SpecError:
        return plain
    return other


def with_outputs(plain):
    outputs = [{"name": p["name"], "term": p["term"], "at": None} for p in plain["properties"]]
    return {**plain, "observers": outputs, "properties": [], "assumptions": []}


def first_differences(first, second, values_of):
    """For each output the first step at which some run of both gives it two values, or None. Raises TooMany."""
    sides = [Evaluator(plain) for plain in (first, second)]
    cells = [plain["cells"] for plain in (first, second)]
    inputs = [i["name"] for i in first["inputs"]]
    every = [dict(zip(inputs, row, strict=True)) for row in itertools.product(*(values_of[i] for i in inputs))]
    outputs = [(o["name"], o["term"]) for o in first["observers"]]
    found = dict.fromkeys(name for name, _ in outputs)
    start = tuple(tuple(e.constants[c["initial"]] for c in own) for e, own in zip(sides, cells, strict=True))
    waiting, seen = deque([(start, 0)]), {start}
    while waiting:
        states, step = waiting.popleft()
        given = [named(own, state) for own, state in zip(cells, states, strict=True)]
        for row in every:
            a, b = (e.values({**state, **row}) for e, state in zip(sides, given, strict=True))
            for name, place in outputs:
                if found[name] is None and not identical(a[place], b[place]):
                    found[name] = step
            after = tuple(tuple(v[c["next"]] for c in own) for v, own in zip((a, b), cells, strict=True))
            if after not in seen:
                seen.add(after)
                waiting.append((after, step + 1))
        if len(seen) > MOST_STATES:
            raise TooMany
    return found


def named(cells, state):
    return {cell["name"]: value for cell, value in zip(cells, state, strict=True)}
