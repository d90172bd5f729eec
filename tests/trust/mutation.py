"""Mutants of the modules that proofs rest on, each run against the fast tests that reach the changed statement.

A mutant is drawn by the seed, in turns from each room. It is killed if a test fails, or does not end in many times its
usual time. Those of `equivalent_mutants.json` are not run: each is listed there with its class and the reason.

    equivalent   no input makes a difference
    wording      only the words of a message, or a name that is shown, differ
    speed        only time or memory differ, or what an engine tries first
"""

import base64
import functools
import hashlib
import json
import marshal
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

import pytest
from trust.figure import Figure
from trust.mutants import Module

ROOT = Path(__file__).parents[2]
LISTED = Path(__file__).with_name("equivalent_mutants.json")
CLASSES = ("equivalent", "wording", "speed")
ROOMS = {
    "certify": ["certify"],
    "core": ["core"],
    "interpret": ["interpret"],
    "c": ["c"],
    "validate": ["validate"],
    "encode": ["transform", "problem"],
    "smt": ["smt"],
}
SMALL = {"certify": ["certify/logic.py"], "core": ["core/simplify.py", "core/term.py"]}  # with few mutants
WORDING = ("core/errors.py", "core/likeness.py", "core/location.py", "core/option_words.py")  # not mutated
# Limits, beyond which something is left open or tried another way, and orders of attempts.
SPEED = """ATTEMPTS AT_FLOATS AT_NUMBERS DEEPEST DEPTH FEWEST FEW_WRAPS LARGE_MODULUS LARGEST LARGEST_SHIFT LONGEST
    LONGEST_LINE LONGEST_MESSAGE LONGEST_TEXT MANY MAX_DEPTH MOST_BITS MOST_CERTIFICATES MOST_EDGES MOST_EITHERS
    MOST_LEAVES MOST_LENGTH MOST_MODULUS MOST_PARTS MOST_ROUNDS MOST_ROWS MOST_SCALARS MOST_STATEMENTS MOST_STEPS
    MOST_TWINS QUICK RATE REPEATS SAFE SIZE SLOWEST STACK TOGETHER VALUATIONS VARIED WORK WORK_PER_QUESTION
    WORK_PER_SECOND""".split()
FEW_TESTS = ["folding", "simplify", "terms"]
MORE_TESTS = """data series literals problem_parts smt_values c_corners numbers c_arithmetic memory_of_c shapes
    blocks_in_turns cache forged interpret renderings c macros intervals validate programs on_bits elimination integers
    types formats flatten btor2 aut checks guards float_corners pack loops rounds choices c_lines c_names c_limits
    bound assumptions delays chain proofs wrong_c ic3 bit_pdr lifted_pdr predicates native invariants sharing
    acceleration engines minic minic_calls minic_meaning c_library lustre reasons prove_corners simplest results
    tiny_checker language library codegen operators long_runs explain features failing_states compile mutants
    liveness realizable realizability_ways needs components compositional equal reachability counterexamples outputs
    check_command explain_programs found_by_mutants cells modes near_parts narrow timers c_models c_recursion c_unions
    c_lengths c_statement_expressions component_c linking huge log minic_endings handlers files"""
TESTS = [*FEW_TESTS, *MORE_TESTS.split()]
SLOWEST = 6.0  # seconds of a test that is used
FIRST, MOST = 2.0, 25.0  # seconds of the tests that a mutant meets at first, and in all
NO_TESTS = int(pytest.ExitCode.NO_TESTS_COLLECTED)
ENOUGH = 0.9  # of the mutants that are not listed are killed


def mutation(count, seed):
    figure = Figure("mutants of the modules that proofs rest on")
    is_small = count < 4 * len(ROOMS)
    modules = {room: modules_of(folders) for room, folders in (SMALL if is_small else ROOMS).items()}
    listed, survivors = classes(), defaultdict(list)
    with Host() as host:
        reaching = Reaching(host, FEW_TESTS if is_small else TESTS)
        for room, mutant in drawn(modules, count, seed):
            ending = class_of(mutant, listed) or reaching.ending(mutant)[0]
            figure.tried[f"{room}: {ending}"] += 1
            if ending == "survived":
                survivors[room].append(str(mutant))
    for room, lines in survivors.items():
        judged = sum(figure.tried[f"{room}: {ending}"] for ending in ("killed", "out of time", "survived"))
        if len(lines) > max(2, (1 - ENOUGH) * judged):
            figure.wrong += lines
        else:
            figure.notes += lines
    figure.tried = Counter(dict(sorted(figure.tried.items())))
    return figure


def modules_of(names):
    """The modules of a room, with their mutants."""
    paths = [p for name in names for p in sorted((ROOT / "streamcheck" / name).rglob("*.py"))] or [
        ROOT / "streamcheck" / name for name in names
    ]
    return [module_at(str(p.relative_to(ROOT))) for p in paths if not str(p).endswith(WORDING)]


def words_of(text):
    return {*re.findall("[a-z0-9]{2,}", text.lower())}


def file_of(test):
    return test.partition("::")[0]


@functools.cache
def module_at(path):
    return Module(path, (ROOT / path).read_text(), SPEED)


def drawn(modules, count, seed):
    """Pairs of a room and a mutant, the rooms in turns."""
    rng = Random(seed)
    rooms = {room: [mutant for module in parts for mutant in module.mutants] for room, parts in modules.items()}
    for mutants in rooms.values():
        rng.shuffle(mutants)
    for number in range(count):
        room = list(rooms)[number % len(rooms)]
        if number // len(rooms) < len(rooms[room]):
            yield room, rooms[room][number // len(rooms)]


def rows_of_list():
    return json.loads(LISTED.read_text())


def classes():
    """The class of each mutant that is listed."""
    return {(row["module"], row["in"], row["line"], row["change"]): row["class"] for row in rows_of_list()}


def code_of(mutant):
    """The code of its module, for the host."""
    path = str(ROOT / mutant.path)
    code = compile(module_at(mutant.path).tree_of(mutant), path, "exec")
    return base64.b64encode(marshal.dumps({path: code})).decode()


def digest_of(files, before):
    texts = [before, *((ROOT / path).read_text() for path in files)]
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def class_of(mutant, listed):
    """None if it has to be run."""
    return "equivalent" if mutant.text.startswith("assert_never(") else listed.get(mutant.key)  # mypy proves these


class Host:
    """The process whose forks run tests (`mutation_host`)."""

    def __enter__(self):
        command = [sys.executable, Path(__file__).with_name("mutation_host.py")]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def __call__(self, **job):
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


class Reaching:
    """Which tests reach which statements. What the files of tests reach is kept in the folder for temporary files."""

    def __init__(self, host, names):
        self.host = host
        self.modules = sorted({m.path for room in ROOMS.values() for m in modules_of(room)})
        self.digest = digest_of(self.modules, "")  # what is kept depends on these
        self.seconds, self.at = {}, defaultdict(list)  # of a test; the tests at a statement, or in a module
        self.imported = set()  # statements of functions that importing executes
        numbers = self._places()
        for name in names:
            for row in self._rows(f"tests/test_{name}.py"):
                self.imported.update(numbers[number] for number in row.get("imported", ()))
                if row.get("outcome") == "passed":
                    self.seconds[row["test"]] = row["seconds"]
                    for place in {at for number in row["reached"] for at in (numbers[number], numbers[number][0])}:
                        self.at[place].append(row["test"])

    def _places(self):
        """Of each statement, by its number."""
        return [(path, place) for path in self.modules for place in module_at(path).places]

    def _rows(self, file):
        digest = digest_of([file], self.digest)[:24]
        kept = Path(tempfile.gettempdir()) / f"streamcheck-reached-{Path(file).stem}-{digest}.json"
        if not kept.exists():
            kept.write_text(json.dumps(self.host(files=[file], modules=self.modules, slow=SLOWEST, patience=120)))
        return json.loads(kept.read_text())

    def tests(self, mutant):
        """Those that reach it, in order: the fastest of each file first. What importing executes is reached by all that
        reach the module: first those whose names have a word of the line, such as an operator."""
        place = (mutant.path, mutant.statement)
        is_imported = mutant.statement is None or place in self.imported
        names = self.at[mutant.path if is_imported else place]
        words = words_of(mutant.text) if is_imported else set()
        files = defaultdict(list)
        for name in sorted(names, key=lambda name: (words.isdisjoint(words_of(name)), self.seconds[name])):
            files[file_of(name)].append(name)
        turns = [(turn, self.seconds[name], name) for tests in files.values() for turn, name in enumerate(tests)]
        return [name for *_, name in sorted(turns, key=lambda row: (words.isdisjoint(words_of(row[2])), row))]

    def ending(self, mutant):
        """How the mutant ends, and the test that kills it."""
        tests = self.tests(mutant)
        few = self._within([name for name in tests if file_of(name) in {*map(file_of, tests[:3])}], FIRST)
        rest = self._within([name for name in tests if name not in few], MOST - FIRST)
        for chosen in filter(None, (few, rest)):
            ending, killer = self._run(mutant, chosen)
            if ending != "survived":  # not by chance: tests may depend on the machine's load
                ending, killer = self._run(mutant, [killer] if killer in self.seconds else chosen)
            if ending != "survived":
                return ending, killer
        return "survived", ""

    def _run(self, mutant, tests):
        seconds = sum(map(self.seconds.__getitem__, tests))
        rows = self.host(
            mutant=code_of(mutant), tests=tests, files=sorted({file_of(name) for name in tests}),
            seconds=10 + 5 * seconds, patience=90 + 20 * seconds,
        )  # fmt: skip
        if failed := [row["test"] for row in rows if row.get("outcome") == "failed"]:
            return "killed", failed[0]
        if not rows or "status" not in rows[-1]:
            return "out of time", ""
        if rows[-1]["status"] not in (0, NO_TESTS):  # the names of tests may depend on what they test
            return "killed", ""
        return "survived", ""

    def _within(self, tests, seconds):
        total, chosen = 0.0, []
        for name in tests:
            total += self.seconds[name] + 0.01
            if chosen and total > seconds:
                break
            chosen.append(name)
        return chosen
