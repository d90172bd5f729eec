"""Counterexamples and witnesses that are forged: `check` accepts those, and only those, that the evaluator follows to
a violation."""

import json
import tempfile
from pathlib import Path
from random import Random

from trust.certificates import WORDS, changed_spec, spec_case
from trust.command import command, last_line
from trust.damage import VALUES
from trust.evaluator import Evaluator
from trust.figure import Figure

OF_EACH = 50
MOST_STEPS = 12


def traces(count, seed):
    figure = Figure("counterexamples forged, by `check`")
    number = seed
    with tempfile.TemporaryDirectory() as folder:
        while sum(figure.tried.values()) < count:
            case, rng = spec_case(number, Path(folder)), Random(number)
            for _ in range(min(OF_EACH, count - sum(figure.tried.values())) if case is not None else 0):
                judge(figure, number, rng, case, Path(folder))
            number += 1
    return figure


def judge(figure, number, rng, case, folder):
    plain, file = json.loads(case.file.read_text()), case.file.name
    if rng.random() < 0.3 and (changed := changed_spec(rng, case)) is not None:
        plain, file = changed[0], "changed.json"
        (folder / file).write_text(json.dumps(plain))
    real = [row for row in case.rows if row["claim"] == "falsified"]
    prop = rng.choice([p["name"] for p in plain["properties"]])
    row = {"format": "streamcheck certificate 2", "file": file, "spec": plain["name"], "property": prop}
    row |= {"claim": "falsified", "constants": {}, "inputs": []}
    if real and rng.random() < 0.7:
        chosen = rng.choice(real)
        row |= {"property": chosen["property"] if rng.random() < 0.7 else prop}
        row |= {"inputs": altered(rng, json.loads(json.dumps(chosen["inputs"])), case.values)}
    else:
        row["inputs"] = [drawn(rng, case.values) for _ in range(rng.randint(0, MOST_STEPS))]
    (folder / "forged.json").write_text(json.dumps(row))
    done = command("check", folder / "forged.json")
    figure.tried[WORDS.get(done.status, "broken")] += 1
    if done.is_broken or done.status not in WORDS:
        figure.wrong.append(f"seed {number}: {last_line(done.shown)}")
        return
    violates = is_violation(plain, row, case.values)
    if violates is not (done.status == 0):
        figure.wrong.append(f"seed {number}: {row['inputs']}: {violates}, but status {done.status}")


def drawn(rng, values):
    return {name: rng.choice(every) for name, every in values.items() if rng.random() < 0.9}


def altered(rng, steps, values):
    for _ in range(rng.randint(0, 3)):
        at = rng.randrange(len(steps) + 1)
        match rng.randrange(5):
            case 0:
                steps.insert(at, drawn(rng, values))
            case 1 if steps:
                steps.pop(min(at, len(steps) - 1))
            case 2 if steps:
                steps[min(at, len(steps) - 1)][rng.choice(list(values))] = rng.choice(VALUES)
            case 3:
                steps = steps[:at]
            case _ if steps:
                steps[min(at, len(steps) - 1)] |= drawn(rng, values)
    return steps


def is_violation(plain, row, values):
    """True if the run breaks the property (or meets it, if it is an existence) at its last step, with every assumption
    true in all its steps. Inputs without a value have the first of theirs; values of what is no input do not count."""
    evaluator, found = Evaluator(plain), None
    known = evaluator.constants
    state = {c["name"]: known[c["initial"]] for c in plain["cells"]}
    values = {i["name"]: values[i["name"]] for i in plain["inputs"]}
    for step in row["inputs"]:
        given = {name: step.get(name, every[0]) for name, every in values.items()}
        if any(type(v) is not type(values[name][0]) or v not in values[name] for name, v in given.items()):
            return False
        found = evaluator.values({**state, **given})
        if not all(found[a["term"]] for a in plain["assumptions"]):
            return False
        state = {c["name"]: found[c["next"]] for c in plain["cells"]}
    prop = next(p for p in plain["properties"] if p["name"] == row["property"])
    return found is not None and found[prop["term"]] is (prop["goal"] == "reachable")
