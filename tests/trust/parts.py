"""Evidence of newer kinds, forged: proofs by parts, and evidence about infinite runs. `check` accepts none whose claim
is false, whatever else is wrong with it.

The truth is what searches through all states find. Pieces are damaged anywhere; besides, parts are made up: with claims
of the whole in the place of their own, with these as assumptions, at other places, in another order.
"""

import copy
import json
import tempfile
from pathlib import Path
from random import Random

from test_liveness import breaks, small_system
from trust.certificates import WORDS, exchange, is_json, moved
from trust.command import command, last_line
from trust.damage import damaged, text_damaged
from trust.decided import import_all
from trust.figure import Figure
from trust.states import TooMany, first_violations

from streamcheck import *
from streamcheck.core.errors import SpecError
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.run.compositional import prove_by_parts
from streamcheck.run.evidence_files import certificate_files
from streamcheck.run.prove import Settings, prove

OF_EACH = 50
SETTINGS = Settings(timeout=4.0, jobs=1)


def forged(count, seed):
    """So many pieces of evidence, of proofs by parts and of infinite runs in turns."""
    figure, number = Figure("evidence of parts and of infinite runs forged, by `check`"), seed
    import_all()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "forged.json"
        while sum(figure.tried.values()) < count:
            rng = Random(number)
            case = (of_parts, of_infinite_runs)[number % 2](number)
            if case is not None:
                plain, rows, truth = case
                (Path(folder) / "spec.json").write_text(json.dumps(plain))
                for _ in range(min(OF_EACH, count - sum(figure.tried.values())) if rows else 0):
                    judge(figure, number, rng, plain, rng.choice(rows), truth, path)
            number += 1
    return figure


def of_parts(number):
    """A spec as plain data, evidence about it, and the truth: by name, if the claim holds."""
    spec = instances(number)
    problem = flatten(spec)
    plain = to_plain(problem)
    try:
        first = first_violations(plain, {"a": (False, True), "b": (False, True)})
    except TooMany:
        return None
    rows = [row for row in rows_of(prove_by_parts(problem, SETTINGS)) if "composition" in row]
    return plain, rows, {name: step is None for name, step in first.items()}


def of_infinite_runs(number):
    problem = flatten(small_system(number))
    truth = {p.name: not breaks(problem, p) for p in problem.properties}
    return to_plain(problem), rows_of(prove(problem, SETTINGS)), truth


def rows_of(found):
    return [json.loads(text) for _, text in certificate_files(found, "spec.json", ".").values()]


def instances(number):
    """Instances of a component with a contract, of which some claims are false."""
    rng = Random(number)
    top, least, most = rng.randint(1, 4), rng.randint(0, 1), rng.randint(3, 9)

    @component
    def counted(go: Bool, step: Word8) -> Word8:
        assume("small step", step <= top)
        n = stream(Word8, lambda n: [least] + +mux(go & (n + step <= most), n + step, least))
        guarantee("bounded", n <= most)
        guarantee("not at its end", n != most - 1)
        return n

    a, b = extern("a", Bool), extern("b", Bool)
    x = counted(a, mux(b, Word8(1), Word8(rng.randint(1, top))))
    y = counted(x > rng.randint(0, most), minimum(x, rng.randint(1, top + 1)))
    spec = Spec(f"parts_{number}")
    spec.prop("sum", x + y <= 2 * most - rng.randint(0, 1))
    spec.prop("each", (x <= most) & (y <= most))
    spec.prop("apart", x + rng.randint(0, most) >= y)
    spec.prop("gap", implies(a & ~b, y != rng.randint(0, most)))
    if rng.random() < 0.3:
        spec.assume("not both", ~(a & b))
    return spec


def judge(figure, number, rng, plain, row, truth, path):
    file, changed = "spec.json", None
    if rng.random() < 0.25 and "composition" in row and (changed := changed_whole(rng, plain)) is not None:
        file, truth = "changed.json", changed[1]
        path.with_name(file).write_text(json.dumps(changed[0]))
    row = {**moved(rng, row, truth), "file": file}
    way = rng.choice(WAYS if "composition" in row else GENERAL)
    try:
        text = way(rng, row)
    except (IndexError, KeyError, ValueError):  # there is nothing of that kind to change
        text = json.dumps(row)
    path.write_text(text)
    done = command("check", path, "--timeout", 3)
    kind = "of parts" if "composition" in row else "of infinite runs"
    figure.tried[f"{kind}: {WORDS.get(done.status, 'broken')}"] += 1
    where = f"seed {number}, {way.__name__}"
    if done.is_broken or done.status not in WORDS or (done.status != 2 and not is_json(text)):
        figure.wrong.append(f"{where}: status {done.status}: {last_line(done.shown)}")
    elif done.status == 0:
        saved = json.loads(text)
        if saved["file"] == file and truth.get(saved["property"]) != (saved["claim"] == "proved"):
            figure.wrong.append(f"{where}: {saved['property']} {saved['claim']}: {last_line(done.shown)}")


def changed_whole(rng, plain):
    """The spec with an operator or a constant changed, and the truth of it; None if it has none."""
    plain = copy.deepcopy(plain)
    exchange(rng, plain["terms"])
    try:
        from_plain(plain)
        first = first_violations(plain, {"a": (False, True), "b": (False, True)})
    except (SpecError, TooMany, ValueError, IndexError, TypeError, KeyError):
        return None
    return plain, {name: step is None for name, step in first.items()}


# Ways to forge: evidence as plain data to the text of a file


def unchanged(rng, row):
    return json.dumps(row)


def with_damaged_parts(rng, row):
    return json.dumps(damaged(rng, row, rng.randint(1, 3)))


def with_damaged_text(rng, row):
    return text_damaged(rng, json.dumps(row), rng.randint(1, 3))


def about_other_monitors(rng, row):
    return json.dumps({**row, "infinite": rng.choice(("no lasso", "0 rounds", "1 rounds", "254 rounds", "x"))})


def with_another_loop(rng, row):
    steps = row["inputs"] = [dict(step) for step in row["inputs"]]
    for _ in range(rng.randint(0, 2)):
        step = rng.choice(steps)
        name = rng.choice(list(step))
        step[name] = not step[name]
    if rng.random() < 0.3:
        steps.pop(rng.randrange(len(steps)))
    return json.dumps({**row, "loop": rng.randrange(len(steps) + 1)})


def turned_round(rng, row):
    return json.dumps({**row, "claim": "falsified" if row["claim"] == "proved" else "proved"})


def parts_of(row):
    return row["composition"]["parts"]


def with_parts_in_another_order(rng, row):
    parts = parts_of(row)
    rng.shuffle(parts)
    if rng.random() < 0.5:
        parts.pop()
    return json.dumps(row)


def with_another_conclusion(rng, row):
    """A part proves what it does not say: mostly the claim that is asked for."""
    embedding = rng.choice(rng.choice(parts_of(row))["embeddings"])
    name = rng.choice([n for part in parts_of(row) for n in part["proofs"]])
    embedding["claims"].append([name, row["property"]])
    return json.dumps(row)


def with_other_equations(rng, row):
    """Another term in a part, or a claim of it that is another of its terms."""
    part = rng.choice(parts_of(row))
    problem = part["problem"]
    for _ in range(rng.randint(1, 3)):
        match rng.randrange(4):
            case 0:
                exchange(rng, problem["terms"])
            case 1:
                claim = rng.choice(problem["properties"])
                claim["term"] = rng.randrange(len(problem["terms"]))
            case 2:
                cell = rng.choice(problem["cells"])
                cell[rng.choice(("initial", "next"))] = rng.randrange(len(problem["terms"]))
            case _:
                problem["cells"].pop(rng.randrange(len(problem["cells"])))
    return json.dumps(row)


def with_an_assumption(rng, row):
    """Of a part: its own claim, another of its terms, or `false`."""
    problem = rng.choice(parts_of(row))["problem"]
    claim = copy.deepcopy(rng.choice([*problem["properties"], *problem["assumptions"]]))
    if rng.random() < 0.3:
        problem["types"].append("Bool")
        problem["terms"].append(["const", len(problem["types"]) - 1, False])
        claim["term"] = len(problem["terms"]) - 1
    problem["assumptions"].append({**claim, "name": "more"})
    return json.dumps(row)


def at_another_place(rng, row):
    """The variables of a part stand for other terms of the whole."""
    part = rng.choice(parts_of(row))
    for embedding in part["embeddings"]:
        for name in embedding["images"]:
            if rng.random() < 0.4:
                embedding["images"][name] = rng.randrange(len(part["terms"]))
    if rng.random() < 0.4:
        exchange(rng, part["terms"])
    return json.dumps(row)


def with_the_whole_as_a_part(rng, row):
    """A part with the equations of another, whose embedding it keeps."""
    first, second = rng.choice(parts_of(row)), rng.choice(parts_of(row))
    key = rng.choice(("problem", "proofs", "embeddings"))
    first[key] = copy.deepcopy(second[key])
    return json.dumps(row)


def with_another_proof(rng, row):
    part = rng.choice(parts_of(row))
    proof = part["proofs"][rng.choice(list(part["proofs"]))]
    match rng.randrange(4):
        case 0:
            proof["kind"] = rng.choice(("inductive", "compressed", "complete", "ended"))
        case 1:
            proof["k"] = rng.randint(1, 5)
        case 2:
            proof["invariants"] = proof["invariants"][:-1]
        case _:
            exchange(rng, proof["terms"])
    return json.dumps(row)


GENERAL = (unchanged, with_damaged_parts, with_damaged_text, turned_round, about_other_monitors, with_another_loop)
WAYS = (
    unchanged,
    with_damaged_parts,
    with_damaged_text,
    turned_round,
    with_parts_in_another_order,
    with_another_conclusion,
    with_another_conclusion,
    with_other_equations,
    with_other_equations,
    with_an_assumption,
    with_an_assumption,
    at_another_place,
    at_another_place,
    with_the_whole_as_a_part,
    with_another_proof,
)
