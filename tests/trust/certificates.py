"""Certificates that are forged, damaged, or moved to another property or a changed spec: `check` accepts none whose
claim is false, whatever else is wrong with it. The truth is what the search through all states finds."""

import copy
import json
import tempfile
from pathlib import Path
from random import Random

from trust.command import command, last_line
from trust.damage import damaged, text_damaged
from trust.figure import Figure
from trust.programs import small_program
from trust.small_specs import small_spec
from trust.states import TooMany, first_violations

from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.run.evidence_files import certificate_files
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target, read

OF_EACH = 50  # certificates of each spec
SECONDS = 2  # of `check`
PROOF_SECONDS = 3.0
WORDS = {0: "held", 2: "damaged", 3: "not decided", 4: "rejected"}
ALIKE = (
    ("and", "or", "xor", "implies", "eq", "ne"),
    ("eq", "ne", "lt", "le", "gt", "ge", "same"),
    ("add", "sub", "mul", "min", "max", "floordiv", "mod", "quot", "rem"),
)
KINDS = ("inductive", "compressed", "complete", "ended")


class Case:
    """A problem as a file, certificates about it, and the truth: by name, if the property holds in all runs."""

    def __init__(self, file, rows, truth, values=None):
        self.file, self.rows, self.truth, self.values = file, rows, truth, values


def certificates(count, seed):
    """Certificates of small specs and programs."""
    figure = Figure("certificates forged, damaged or moved, by `check`")
    number = seed
    with tempfile.TemporaryDirectory() as folder:
        while sum(figure.tried.values()) < count:
            rng = Random(number)
            case = (program_case if number % 5 == 0 else spec_case)(number, Path(folder))
            if case is not None:
                for _ in range(min(OF_EACH, count - sum(figure.tried.values()))):
                    judge(figure, number, rng, case, Path(folder) / "forged.json")
            number += 1
    return figure


def spec_case(number, folder):
    spec, values = small_spec(number)
    plain = to_plain(flatten(spec))
    try:
        truth = first_violations(plain, values)
    except TooMany:
        return None
    (folder / "spec.json").write_text(json.dumps(plain))
    holds = {name: first is None for name, first in truth.items()}
    return Case(folder / "spec.json", rows_of(flatten(spec), folder / "spec.json"), holds, values)


def program_case(number, folder):
    text, holds = small_program(number)
    path = folder / "program.c"
    path.write_text(text)
    (problem,) = read(Target(str(path), None))
    return Case(path, rows_of(problem, path), dict.fromkeys((p.name for p in problem.properties), holds))


def rows_of(problem, path):
    found = prove(problem, Settings(timeout=PROOF_SECONDS, jobs=1))
    return [json.loads(text) for _, text in certificate_files(found, str(path), str(path.parent)).values()]


def judge(figure, number, rng, case, path):
    if not case.rows:
        return
    row, truth = rng.choice(case.rows), case.truth
    changed = None
    if case.values is not None and rng.random() < 0.3 and (changed := changed_spec(rng, case)) is not None:
        plain, truth = changed
        path.with_name("changed.json").write_text(json.dumps(plain))
        row = {**row, "file": "changed.json"}
    row = moved(rng, row, truth)
    way = rng.choice(WAYS if changed is None else (unchanged, unchanged, *WAYS))
    text = way(rng, row)
    path.write_text(text)
    done = command("check", path, "--timeout", SECONDS)
    figure.tried[WORDS.get(done.status, "broken")] += 1
    where = f"seed {number}, {way.__name__}"
    if done.is_broken or done.status not in WORDS:
        figure.wrong.append(f"{where}: {last_line(done.shown)}")
    elif done.status != 2 and not is_json(text):
        figure.wrong.append(f"{where}: status {done.status} of a file that is not JSON")
    elif done.status == 0:
        saved = json.loads(text)
        if saved["file"] == row["file"] and truth.get(saved["property"]) != (saved["claim"] == "proved"):
            figure.wrong.append(f"{where}: {saved['property']} {saved['claim']}: {last_line(done.shown)}")


def is_json(text):
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def moved(rng, row, truth):
    """The same about another property, mostly one of which the claim is false."""
    false = [name for name, holds in truth.items() if holds != (row["claim"] == "proved")]
    names = false if false and rng.random() < 0.8 else list(truth)
    return {**copy.deepcopy(row), "property": rng.choice(names) if rng.random() < 0.7 else row["property"]}


def changed_spec(rng, case):
    """The spec with a constant or an operator changed, and the truth of it; None if it has none."""
    plain = json.loads(case.file.read_text())
    for _ in range(rng.randint(1, 2)):
        exchange(rng, plain["terms"])
    try:
        from_plain(plain)
        return plain, {name: first is None for name, first in first_violations(plain, case.values).items()}
    except (SpecError, TooMany):
        return None


def exchange(rng, terms):
    """Another operator, another constant or another operand in one of the rows."""
    if not terms:
        return
    row = rng.choice(terms)
    alike = [group for group in ALIKE if row[0] in group]
    if alike and rng.random() < 0.5:
        row[0] = rng.choice(rng.choice(alike))
    elif row[0] == "const" and isinstance(row[2], bool):
        row[2] = not row[2]
    elif row[0] == "const" and isinstance(row[2], int):
        row[2] += rng.choice((-1, 1))
    elif row[0] not in ("const", "var"):
        place = rng.randrange(1, len(row))
        row[place] = rng.randrange(max(1, terms.index(row)))


# Ways to forge: a certificate as plain data to the text of a file


def unchanged(rng, row):
    return json.dumps(row)


def with_other_terms(rng, row):
    for _ in range(rng.randint(1, 4)):
        exchange(rng, row.get("terms", []))
    if row.get("invariants") and rng.random() < 0.5:
        row["invariants"][rng.randrange(len(row["invariants"]))] = rng.randrange(len(row["terms"]))
    return json.dumps(row)


def with_another_argument(rng, row):
    inner = row.get("certificate", row)
    inner["kind"], inner["k"] = rng.choice(KINDS), rng.randint(1, 6)
    if rng.random() < 0.3:
        inner["free"] = [r[2] for r in row.get("terms", []) if r[0] == "var"][: rng.randint(0, 3)]
    return json.dumps(row)


def with_less(rng, row):
    """Without some of its invariants, equalities or locations."""
    inner = row.get("certificate", row)
    for key in ("invariants", "equalities", "locations"):
        if inner.get(key) and rng.random() < 0.7:
            inner[key].pop(rng.randrange(len(inner[key])))
    return json.dumps(row)


def with_a_contradiction(rng, row):
    """With the invariant `false`, or an equality of a variable and any constant."""
    terms, types = row.get("terms", []), row.get("types", [])
    variables = [i for i, r in enumerate(terms) if r[0] == "var"]
    if rng.random() < 0.5 or not variables:
        types.append("Bool")
        terms.append(["const", len(types) - 1, False])
        for key in ("invariants", "locations"):
            if key in row:
                row[key].append(len(terms) - 1 if key == "invariants" else [rng.choice(row[key])[0], len(terms) - 1])
    else:
        chosen = rng.choice(variables)
        terms.append(["const", terms[chosen][1], rng.choice((0, 1, False, True))])
        terms.append(["same", chosen, len(terms) - 1])
        row.setdefault("equalities", []).append(len(terms) - 1)
    return json.dumps(row)


def turned_round(rng, row):
    """The opposite claim."""
    return json.dumps({**row, "claim": "falsified" if row["claim"] == "proved" else "proved"})


def with_damaged_parts(rng, row):
    return json.dumps(damaged(rng, row, rng.randint(1, 3)))


def with_damaged_text(rng, row):
    return text_damaged(rng, json.dumps(row), rng.randint(1, 3))


def cut_short(rng, row):
    text = json.dumps(row)
    return text[: rng.randrange(len(text))]


WAYS = (
    with_other_terms,
    with_other_terms,
    with_another_argument,
    with_another_argument,
    with_less,
    with_a_contradiction,
    turned_round,
    with_damaged_parts,
    with_damaged_text,
    cut_short,
)
