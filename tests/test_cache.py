"""Verdicts that are kept: what is used again, and that no file in the cache can make a verdict."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from streamcheck.problem.automaton import Automaton, Edge, Error
from streamcheck.problem.certificate_json import certificate_to_plain
from streamcheck.problem.fingerprints import Fingerprints
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.problem.verdict import Certificate
from streamcheck.run import cache as caching
from streamcheck.run.cache import Cache
from streamcheck.run.prove import Settings, prove
from streamcheck.run.source import Target, read

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """
from streamcheck import *
b = extern("b", Bool)
n = stream(Word8, lambda n: [0] ++ mux(b & (n < 100), n + 1, n))
m = [0] ++ n
t = stream(Word8, lambda t: [0] ++ ((t + 1) % 5))
spec = Spec("kept")
spec.prop("small", n <= 100)
spec.prop("behind", m <= n)
spec.prop("cycle", t < 5)
spec.prop("never_three", n < 3)
spec.prop("reached", implies(n == 100, t < 9))
"""
VERDICTS = {
    "small": "proved", "behind": "proved", "cycle": "proved", "never_three": "falsified", "reached": "proved"
}  # fmt: skip


def specification(tmp_path, text=SPEC, name="kept.py"):
    path = tmp_path / name
    path.write_text(text)
    (found,) = read(Target(str(path), None))
    return found


def verdicts(problem, folder, **options):
    done = prove(problem, Settings(timeout=20, cache=Cache(str(folder)), **options))
    assert not done.alarms
    return done


def words(done):
    return {r.name: r.verdict for r in done.results}


def kept(done):
    return {r.name for r in done.results if r.kept}


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with the evidence for the spec."""
    folder = tmp_path_factory.mktemp("filled")
    done = verdicts(specification(folder), folder / "cache")
    assert words(done) == VERDICTS and not kept(done)
    return folder / "cache"


@pytest.fixture
def folder(filled, tmp_path):
    return Path(shutil.copytree(filled, tmp_path / "cache"))


def claim_file(folder, problem, name):
    claim = next(p for p in problem.properties if p.name == name)
    return folder / f"claim-{Fingerprints(problem).of_claim(claim)}.json"


# What is kept


def test_all_is_kept_and_the_runs_are_the_shortest(folder, tmp_path):
    done = verdicts(specification(tmp_path), folder)
    assert words(done) == VERDICTS and kept(done) == set(VERDICTS)
    never = next(r for r in done.results if r.name == "never_three")
    assert never.shortest and never.k == 3 and never.run.steps[-1]


@pytest.mark.parametrize(
    ("old", "new", "lost"),
    [
        ("spec = Spec", "\n\n# a comment\nspec = Spec", set()),
        ("m = [0] ++ n", "other = [7] ++ ([5] ++ n)\nm = [0] ++ n\nspec0 = other", set()),
        ("t < 5)", "t < 6)", {"cycle"}),
        ("n <= 100", "n <= 200", {"small"}),
        ("% 5", "% 7", {"cycle", "reached"}),
        ('"b", Bool', '"b2", Bool', {"small", "behind", "never_three", "reached"}),
        ('"cycle"', '"circle"', set()),
        ("n < 3)", "n < 4)", {"never_three"}),
    ],
)
def test_an_edit_loses_what_it_touches(folder, tmp_path, old, new, lost):
    assert old in SPEC
    done = verdicts(specification(tmp_path, SPEC.replace(old, new), "other.py"), folder)
    names = {p.name for p in done.problem.properties}
    assert names - kept(done) == lost
    expected = dict.fromkeys(names, "proved") | {"never_three": "falsified"}
    expected |= {"cycle": "falsified"} if new == "% 7" else {}
    assert words(done) == expected


def test_an_assumption_is_part_of_every_claim(folder, tmp_path):
    done = verdicts(specification(tmp_path, SPEC + 'spec.assume("never", ~b)\n'), folder)
    assert not kept(done) and words(done)["never_three"] == "proved"


def test_a_kept_proof_helps_another(tmp_path):
    """The second claim is 1-inductive with the first only."""
    text = """
from streamcheck import *
b = extern("b", Bool)
x = stream(Int, lambda x: [0] ++ mux(b, x + 2, x))
y = stream(Int, lambda y: [0] ++ mux(b, y + 1, y))
spec = Spec("help")
spec.prop("lemma", x == 2 * y)
spec.prop("goal", implies(y > 5, x > 10))
"""
    first = verdicts(specification(tmp_path, text), tmp_path / "cache")
    assert set(words(first).values()) == {"proved"}
    edited = specification(tmp_path, text.replace("y > 5, x > 10", "y > 6, x > 12"))
    second = verdicts(edited, tmp_path / "cache")
    assert kept(second) == {"lemma"} and set(words(second).values()) == {"proved"}
    goal = next(r for r in second.results if r.name == "goal")
    lemma = next(p for p in edited.properties if p.name == "lemma")
    assert goal.engine == "k-induction" and lemma.term in goal.evidence.invariants


CHOSEN = {"engines": ["bmc"]}, {"deterministic": True}, {"options": {"ic3.tighten": False}}


@pytest.mark.parametrize("options", CHOSEN, ids=str)
def test_engines_that_are_asked_for_answer_themselves(folder, tmp_path, options):
    before = sorted((f.name, f.stat().st_mtime_ns) for f in folder.iterdir())
    assert not kept(verdicts(specification(tmp_path), folder, props=["never_three"], **options))
    assert sorted((f.name, f.stat().st_mtime_ns) for f in folder.iterdir()) == before


def test_bounded_verdicts_are_kept_apart(folder, tmp_path):
    problem = specification(tmp_path)
    first = verdicts(problem, folder, bound=3)
    second = verdicts(problem, folder, bound=3)
    assert not kept(first) and kept(second) == set(VERDICTS) and words(second)["never_three"] == "bounded"


def test_programs_and_lustre_are_kept(tmp_path):
    program = tmp_path / "count.c"
    text = """extern int any(void);
int main(void) { int x = 0; int n = any(); while (x < 5) { x = x + 1; } assert(x == 5); assert(n != 7); return 0; }
"""
    program.write_text("#include <assert.h>\n" + text)
    lustre = tmp_path / "count.lus"
    equations = "let n = 0 -> pre n + 1; ok = n >= 0; --%PROPERTY ok;"
    lustre.write_text(f"node main() returns (ok: bool);\nvar n: int;\n{equations}\ntel")
    for path, shifted in ((program, "#include <assert.h>\n\n/* later */\n" + text), (lustre, None)):
        first = verdicts(read(Target(str(path), None))[0], tmp_path / "cache")
        if shifted:
            path.write_text(shifted)
        second = verdicts(read(Target(str(path), None))[0], tmp_path / "cache")
        assert "unknown" not in words(first).values() and list(words(first).values()) == list(words(second).values())
        assert len(kept(second)) == len(second.results)


def test_warnings_stay(tmp_path):
    text = SPEC.replace("implies(n == 100,", "implies(n == 101,") + 'spec.assume("odd", (n < 50) | b)\n'
    problem = specification(tmp_path, text)
    first = verdicts(problem, tmp_path / "cache")
    second = verdicts(problem, tmp_path / "cache")
    assert kept(second) == set(VERDICTS) and first.warnings == second.warnings and len(first.warnings) == 1
    for file in (tmp_path / "cache").glob("claim-*"):
        row = json.loads(file.read_text())
        if "proof" in row and file != claim_file(tmp_path / "cache", problem, "small"):
            file.unlink()
    assert verdicts(problem, tmp_path / "cache").warnings == first.warnings


def test_fingerprints_know_equations_and_nothing_else(tmp_path):
    one = specification(tmp_path, SPEC)
    two = specification(tmp_path, "z = 1\n" + SPEC.replace('"behind"', '"after"'), "two.py")
    ones, twos = ({p.name: Fingerprints(s).of_claim(p) for p in s.properties} for s in (one, two))
    assert sorted(ones.values()) == sorted(twos.values()) and len(set(ones.values())) == 5
    again = from_plain(to_plain(one))
    assert {p.name: Fingerprints(again).of_claim(p) for p in again.properties} == ones


def test_fingerprints_tell_cells_that_need_each_other_apart(tmp_path):
    text = """
from streamcheck import *
a = stream(Word8, lambda a: [{0}] ++ b_of(a))
def b_of(a): return [{1}] ++ (a + {2})
spec = Spec("s")
spec.prop("p", a < 10)
"""
    prints = set()
    for numbers in ((0, 1, 2), (1, 0, 2), (0, 1, 3), (0, 2, 2)):
        problem = specification(tmp_path, text.format(*numbers))
        prints.add(Fingerprints(problem).of_claim(problem.properties[0]))
    assert len(prints) == 4


def test_locations_of_a_program_go_by_their_places():
    def program(first, value):
        from streamcheck.core.term import constant, term, variable
        from streamcheck.core.types import INT

        x = variable("x", INT)
        edges = [
            Edge(first, "loop", updates=((x, constant(INT, value)),)),
            Edge("loop", "error", guard=term("lt", x, constant(INT, 0))),
        ]
        return Automaton("a", (x,), (first, "loop", "error"), first, (Error("error", "never", None),), tuple(edges))

    prints = [Fingerprints(p).of_claim(p.properties[0]) for p in (program("l1", 1), program("l2", 1), program("l1", 2))]
    assert prints[0] == prints[1] != prints[2]


# What cannot be made to lie


def test_the_proof_of_another_claim_proves_nothing(folder, tmp_path):
    problem = specification(tmp_path)
    proof, false = (claim_file(folder, problem, name) for name in ("small", "never_three"))
    false.write_text(proof.read_text())
    done = verdicts(problem, folder)
    assert words(done) == VERDICTS and "never_three" not in kept(done)


def test_a_forged_proof_proves_nothing(folder, tmp_path):
    problem = specification(tmp_path)
    claim = next(p for p in problem.properties if p.name == "never_three")
    itself = (claim.term,)
    for kind, invariants in (("inductive", itself), ("inductive", ()), ("complete", itself), ("ended", ())):
        digest = Cache(str(folder)).add_proof(certificate_to_plain(Certificate(kind, 2, invariants)))
        row = json.loads(claim_file(folder, problem, "small").read_text()) | {"proof": digest}
        claim_file(folder, problem, "never_three").write_text(json.dumps(row))
        done = verdicts(problem, folder)
        assert words(done) == VERDICTS and "never_three" not in kept(done)


def test_a_forged_run_breaks_nothing(folder, tmp_path):
    problem = specification(tmp_path)
    row = json.loads(claim_file(folder, problem, "never_three").read_text())
    claim_file(folder, problem, "small").write_text(json.dumps(row))
    done = verdicts(problem, folder)
    assert words(done) == VERDICTS and "small" not in kept(done)


def test_a_longer_run_is_not_called_the_shortest(folder, tmp_path):
    problem = specification(tmp_path)
    file = claim_file(folder, problem, "never_three")
    row = json.loads(file.read_text())
    first, *rest = row["run"]["inputs"]
    waits = [dict.fromkeys(first, False)] * 2
    row["run"]["inputs"] = [*waits, first, *rest]
    file.write_text(json.dumps(row))
    never = next(r for r in verdicts(problem, folder).results if r.name == "never_three")
    assert never.verdict == "falsified" and (never.k == 3 or not never.shortest)


def damaged(text, way, rng):
    match way:
        case "empty":
            return b""
        case "cut":
            return text[: len(text) // 2]
        case "noise":
            return bytes(rng.randrange(256) for _ in range(300))
        case "flipped":
            at = rng.randrange(len(text))
            return text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]
        case "other JSON":
            return b"[1, {}, null]"
        case "deep":
            return b"[" * 100_000
    raise AssertionError(way)


@pytest.mark.parametrize("way", ["empty", "cut", "noise", "flipped", "other JSON", "deep"])
def test_damaged_files_are_as_good_as_none(folder, tmp_path, way):
    rng = random.Random(7)
    for file in folder.glob("*.json"):
        file.write_bytes(damaged(file.read_bytes(), way, rng))
    done = verdicts(specification(tmp_path), folder)
    assert words(done) == VERDICTS and (way == "flipped" or not kept(done))
    assert kept(verdicts(specification(tmp_path), folder)) == set(VERDICTS)  # repaired


def test_a_damaged_proof_is_written_again(folder, tmp_path):
    before = {path.name: path.read_text() for path in folder.glob("proof-*.json")}
    for name in before:
        (folder / name).write_text("{")
    verdicts(specification(tmp_path), folder)
    assert before and any((folder / name).read_text() == text for name, text in before.items())


def test_files_that_were_swapped(folder, tmp_path):
    rng = random.Random(3)
    for pattern in ("claim-*", "proof-*"):
        files = sorted(folder.glob(pattern))
        texts = [f.read_bytes() for f in files]
        rng.shuffle(texts)
        for file, text in zip(files, texts, strict=True):
            file.write_bytes(text)
    assert words(verdicts(specification(tmp_path), folder)) == VERDICTS


def test_a_name_of_a_certificate_is_no_path(folder, tmp_path):
    problem = specification(tmp_path)
    file = claim_file(folder, problem, "small")
    row = json.loads(file.read_text())
    (tmp_path / "outside.json").write_text((folder / f"proof-{row['proof']}.json").read_text())
    file.write_text(json.dumps(row | {"proof": "x/../../outside"}))
    assert "small" not in kept(verdicts(problem, folder))


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    problem = specification(tmp_path)
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        done = verdicts(problem, folder)
        assert words(done) == VERDICTS and not kept(done)


def test_two_processes_at_once(tmp_path):
    (tmp_path / "kept.py").write_text(SPEC)
    environment = {k: v for k, v in os.environ.items() if k != "STREAMCHECK_NO_CACHE"}
    command = [COMMAND, "prove", "kept.py", "--json"]
    for _ in range(2):
        both = [subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE) for _ in range(2)]
        for one in both:
            out, _ = one.communicate()
            assert {p["name"]: p["verdict"] for p in json.loads(out)["properties"]} == VERDICTS
    assert all(p["kept"] for p in json.loads(out)["properties"])
    assert not list((tmp_path / ".streamcheck").glob("*.part"))
    out = subprocess.run([*command, "--no-cache"], cwd=tmp_path, env=environment, capture_output=True).stdout
    assert not any("kept" in p for p in json.loads(out)["properties"])


def test_what_was_not_used_for_longest_goes_first(tmp_path, monkeypatch):
    monkeypatch.setattr(caching, "MOST_BYTES", 1000)
    store = Cache(str(tmp_path / "cache"))
    for i in range(10):
        store.add_claim(f"c{i}", {"text": "x" * 150})
        os.utime(tmp_path / "cache" / f"claim-c{i}.json", (i, i))
    assert store.claim("c0") is not None  # used now
    store.trim()
    left = {f.name for f in (tmp_path / "cache").glob("*.json")}
    assert "claim-c0.json" in left and "claim-c9.json" in left and "claim-c1.json" not in left
    assert sum((tmp_path / "cache" / name).stat().st_size for name in left) <= 1000
