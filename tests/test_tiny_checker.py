"""The tiny checker: it shares no code, means the same by every operator, and gives the first checker's answers."""

from __future__ import annotations

import ast
import json
import random
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest
from base_lines import TINY
from operator_cases import cases as operator_cases
from planted_faults import faults
from random_specs import NOT_EXACT, value
from test_renderings import NAMES, signatures, values
from tiny import TINY_CHECKER as TINY_MODULE
from tiny import compared, in_process, judged_by_tiny

from streamcheck import Int, Spec, Word8, stream
from streamcheck.certify.evaluate import apply
from streamcheck.certify.logic import conjunction
from streamcheck.core.term import constant, term
from streamcheck.core.types import INT, ArrayType, StructType
from streamcheck.lang.flatten import flatten
from streamcheck.problem.certificate_json import certificate_to_plain
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Specification
from streamcheck.problem.specification_json import to_plain
from streamcheck.problem.verdict import Certificate

Z3 = Path(sys.executable).parent / "z3"
SPECS = Path(__file__).parent.parent / "specs"
MOST_LINES = 500


def test_it_is_small_and_shares_no_code():
    tree = ast.parse(TINY.read_text())
    modules = {a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names}
    modules |= {n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
    assert {m.partition(".")[0] for m in modules} <= sys.stdlib_module_names
    assert "import_module" not in TINY.read_text() and "exec(" not in TINY.read_text()
    assert len(TINY.read_text().splitlines()) <= MOST_LINES


def test_a_solver_that_is_not_there_is_told(tmp_path):
    """It ended in a traceback (2026-11-19, figure `docs`)."""
    command = [sys.executable, TINY, "equations.json", "certificate.json", "--solver", "/no/such/solver"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "the solver does not answer sat to (assert true)" in done.stderr


# The operators


def answers(claim):
    """The answers to a claim without variables in each rendering that has one."""
    plain = to_plain(Specification("s", (), (), (), (), (), (), (Claim("p", claim),), (), None))
    system, claims = TINY_MODULE.read_equations(plain)
    TINY_MODULE.require_types(system, claims.values())
    (_, goal), *_ = TINY_MODULE.obligations(claims["p"], [], [], "inductive", 1)
    for over_int in (False, True):
        text = TINY_MODULE.query(system, over_int, *goal)
        if "|" not in text:
            yield in_process([], text, 20.0)


def result_is(applied, expected):
    if isinstance(applied.type, ArrayType | StructType):
        return term("eq", applied, constant(applied.type, expected))
    return term("same", applied, constant(applied.type, expected))


@pytest.mark.parametrize("name", NAMES)
def test_operators_on_all_values_of_small_types(name):
    """As the first checker evaluates them; and each of these claims is false of other values."""
    for types, payload in signatures(name):
        claims = []
        rows = [()]
        for t in types:
            rows = [(*row, v) for row in rows for v in values(t)]
        for row in rows:
            given = [constant(t, v) for t, v in zip(types, row, strict=True)]
            applied = term(name, *given, payload=payload)
            claims.append(result_is(applied, apply(applied, list(row))))
        found = [*answers(conjunction(*claims))]
        if name in ("shl", "shr") and types[1] is INT:
            assert not found  # it has no means for that
            continue
        assert found and set(found) == {"unsat"}, (name, types, payload)
        assert set(answers(term("not", claims[-1]))) == {"sat"}


def test_operators_at_every_type_of_the_language():
    """Corners of wide integers and floats, arrays and structs, indices outside."""
    rng, count = random.Random(5), 0
    for name, types, payload in operator_cases():
        if name in NOT_EXACT or name == "float_of_bits" or any(t.kind in ("integer", "real") for t in types):
            continue  # unknown to solvers; in the test above
        claims = []
        for _ in range(3):
            row = [value(rng, t) for t in types]
            applied = term(name, *(constant(t, v) for t, v in zip(types, row, strict=True)), payload=payload)
            expected = apply(applied, row)
            if all(v == v for v in _flat(expected)):
                claims.append(result_is(applied, expected))
        if payload is not None and getattr(payload, "kind", "") in ("integer", "real") and types[0].kind == "float":
            continue  # of floats, in the test of renderings
        found = [*answers(conjunction(*claims))] if claims else ["unsat"]
        assert found and set(found) == {"unsat"}, (name, types, payload)
        count += 1
    assert count > 300


def _flat(v):
    return [x for part in v for x in _flat(part)] if isinstance(v, tuple) else [v]


# The answers


def problem():
    n = stream(Word8, lambda n: [0] + +(n + 1))
    m = stream(Int, lambda m: [0] + +(m + 2))
    spec = Spec("s")
    spec.observer("n", n)
    spec.prop("even", m % 2 == 0)
    spec.prop("small", m < 5)
    spec.prop("not nine", n != 9)
    return flatten(spec)


def proof(specification, prop, kind="inductive", k=1, **more):
    claim = next(p for p in specification.properties if p.name == prop)
    return certificate_to_plain(Certificate(kind, k, (claim.term,), **more))


@pytest.mark.parametrize(
    ("prop", "kind", "k", "answer"),
    [
        ("even", "inductive", 1, "proved"),
        ("even", "inductive", 4, "proved"),
        ("even", "compressed", 2, "proved"),
        ("small", "inductive", 1, "not proved"),
        ("small", "inductive", 3, "not proved"),
        ("small", "compressed", 2, "not proved"),
        ("small", "complete", 3, "not proved"),
        ("not nine", "ended", 3, "not proved"),
        ("not nine", "complete", 9, "not proved"),
    ],
)
def test_kinds_of_arguments(prop, kind, k, answer):
    specification = problem()
    assert judged_by_tiny(to_plain(specification), prop, proof(specification, prop, kind, k)) == answer


def test_a_run_that_comes_round_is_complete():
    n = stream(Word8, lambda n: [0] + +((n + 1) % 3))
    spec = Spec("s")
    spec.prop("below", n < 3)
    specification = flatten(spec)
    plain = to_plain(specification)
    row = proof(specification, "below", "complete", 3)
    assert judged_by_tiny(plain, "below", row) == "proved"
    assert judged_by_tiny(plain, "below", {**row, "k": 2}) == "not proved"


def damaged_rows():
    """Ways to damage a file that proves its property."""
    yield lambda e, c: c.update(format="streamcheck certificate 3")
    yield lambda e, c: c.update(k=0)
    yield lambda e, c: c.update(k=True)
    yield lambda e, c: c.update(hint="none")
    yield lambda e, c: c.pop("free")
    yield lambda e, c: c.update(kind="obvious")
    yield lambda e, c: c.update(claim="true")
    yield lambda e, c: c.update(property="another")
    yield lambda e, c: c.update(spec="another")
    yield lambda e, c: c.update(invariants=[-1])
    yield lambda e, c: c["terms"].append(["sum", 0, 0])
    yield lambda e, c: c["terms"].append(["not", 0, 0])
    yield lambda e, c: c["terms"].append(["var", 0, 3])
    yield lambda e, c: c["types"].append("Quaternion")
    yield lambda e, c: c["terms"][0].append(0)
    yield lambda e, c: e.update(format="streamcheck equations 2")
    yield lambda e, c: e.update(lemmas=[])
    yield lambda e, c: e["cells"][0].update(reset=0)
    yield lambda e, c: e["cells"].append(e["cells"][0])
    yield lambda e, c: e["properties"].append({**e["properties"][0], "term": e["properties"][1]["term"]})
    yield lambda e, c: e["properties"][0].update(goal="usually")


@pytest.mark.parametrize("number", range(len([*damaged_rows()])))
def test_what_is_not_as_the_format_says_is_damaged(number):
    specification = problem()
    equations = to_plain(specification)
    certificate = {"format": "streamcheck certificate 2", "file": "s.py", "spec": "s", "property": "even"}
    certificate |= {"claim": "proved", **proof(specification, "even")}
    assert TINY_MODULE.check(equations, certificate, [], 5.0)[0] == "proved"
    [*damaged_rows()][number](equations, certificate)
    with pytest.raises((LookupError, TypeError, ValueError)):
        TINY_MODULE.check(equations, certificate, [], 5.0)


def test_mutations_prove_nothing_false():
    """Certificates with a few numbers and words exchanged, for properties that do not hold."""
    rng, specification = random.Random(11), problem()
    equations, seen = to_plain(specification), set()
    for _ in range(150):
        row = json.loads(json.dumps(proof(specification, rng.choice(["even", "small", "not nine"]))))
        for _ in range(rng.randint(1, 3)):
            mutate(rng, row)
        answer = judged_by_tiny(equations, rng.choice(["small", "not nine"]), row)
        assert answer != "proved", row
        seen.add(answer)
    assert {"not proved", "damaged"} <= seen


def mutate(rng, row):
    match rng.randrange(4):
        case 0:
            row["kind"] = rng.choice(["inductive", "compressed", "complete", "ended"])
        case 1:
            row["k"] = rng.randint(1, 6)
        case 2:
            place = rng.choice([p for p in (row["terms"], row["invariants"]) if p])
            at = rng.randrange(len(place))
            if isinstance(place[at], list):
                inner = rng.randrange(len(place[at]))
                place[at][inner] = rng.choice([0, 1, 2, "le", "ge", "or", "same", "not", True])
            else:
                place[at] = rng.randrange(len(row["terms"]))
        case _:
            row["types"][rng.randrange(len(row["types"]))] = rng.choice(["Bool", "Int", "Word8", "Real"])


def test_both_checkers_answer_the_same_where_faults_are_planted():
    """Among the certificates are those that the faults make wrong."""
    pairs = [pair for fault in islice(faults(), 0, None, 9) for pair in compared(fault)]
    assert all(first == second or "undecided" in (first, second) for first, second in pairs), pairs
    assert ("not proved", "not proved") in pairs and sum("undecided" in pair for pair in pairs) <= len(pairs) // 5


# The command


def run_command(*arguments, solver=f"{Z3} -in"):
    command = [sys.executable, str(TINY), *map(str, arguments), "--solver", solver]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout + done.stderr


def saved(folder, spec):
    """The equations of a spec, and its certificates."""
    cli = [sys.executable, "-m", "streamcheck"]
    shown = subprocess.run([*cli, "show", spec, "--as", "json"], capture_output=True, text=True, check=True)
    folder.mkdir()
    (folder / "equations").write_text(shown.stdout)
    subprocess.run([*cli, "prove", spec, "--certificates", folder], capture_output=True, timeout=120)
    return folder / "equations", sorted(folder.glob("*.json"))


@pytest.mark.skipif(not Z3.exists(), reason="the z3 command is not installed")
def test_the_command(tmp_path):
    equations, certificates = saved(tmp_path / "one", SPECS / "engine_monitor.py")
    assert run_command(equations, *certificates) == (0, f"{certificates[0]}: proved\n")
    others, _ = saved(tmp_path / "two", SPECS / "engine_monitor_one_probe.py")
    status, shown = run_command(others, *certificates)  # another monitor, with the names of the first
    assert status in (2, 4) and "proved\n" not in shown.replace("not proved", "")
    status, shown = run_command(equations, *certificates, solver="echo unsat")
    assert status == 2 and "does not answer sat" in shown
    assert run_command(equations, equations)[0] == 2
    certificates[0].write_text("{")
    assert run_command(equations, *certificates)[0] == 2


@pytest.mark.skipif(not Z3.exists(), reason="the z3 command is not installed")
def test_a_certificate_that_moves_to_a_changed_spec(tmp_path):
    spec = tmp_path / "s.py"
    text = "from streamcheck import *\nn = stream(Int, lambda n: [0] ++ (n + 2))\nspec = Spec('s')\n"
    spec.write_text(text + "spec.prop('even', n % 2 == 0)\n")
    equations, (certificate,) = saved(tmp_path / "one", spec)
    assert run_command(equations, certificate)[0] == 0
    spec.write_text(text.replace("n + 2", "n + 3") + "spec.prop('even', n % 2 == 0)\n")
    changed, _ = saved(tmp_path / "two", spec)
    status, shown = run_command(changed, certificate)
    assert status == 4 and "step case does not hold" in shown


def test_what_it_leaves_out_is_not_read():
    for more in ({"bound": 5}, {"program": {}}, {"inputs": []}):
        assert judged_by_tiny(to_plain(problem()), "even", {**proof(problem(), "even"), **more}) == "not read"
