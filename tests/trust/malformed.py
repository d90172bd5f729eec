"""Files of every kind that the command reads, damaged: it ends in time, and never with a traceback.

The changes are drawn (parts removed, doubled, moved, exchanged with other files of the kind, words put in). With the
package atheris installed, `--long` also lets what they reach in the readers guide them (`trust.guided`).
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from random import Random

from trust.apart import answers
from trust.certificates import is_json
from trust.command import command, last_line
from trust.damage import damaged, text_damaged
from trust.figure import Figure
from trust.seeds import ROOT, SEEDS, seeds
from trust.small_specs import small_spec

from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain

SECONDS = 20.0  # a file that takes longer hangs
BATCH = 200
LOG_SPEC = """
from streamcheck import *
from enum import Enum
E = EnumOf(Enum("E", "LOW HIGH"))
n, b, f, e = extern("n", Word8), extern("b", Bool), extern("f", Float), extern("e", E)
a = extern("a", Array(Int16, 2))
spec = Spec("log")
spec.observer("sum", stream(Word8, lambda s: [0] ++ (s + n)))
spec.trigger("t", b & (f > 1.0), [a[0], e])
"""
READERS = {
    "c": ("show", "--as", "graph"),
    "aut": ("show", "--as", "graph"),
    "csv": ("run", "log.json", "--input"),
    "jsonl": ("run", "log.json", "--input"),
    "certificate": ("check", "--timeout", "2"),
    "yml": ("prove", "--timeout", "1", "--jobs", "1"),
    "linked": ("prove", "--timeout", "1", "--jobs", "1", "--link", "first.c"),
}
ENDINGS = {"certificate": "json", "fret": "json", "linked": "c"}  # of names, if they are not the kind's own
PROGRAM = """
static int n = 1; int twice(int x); extern int shared; int r; struct p { int n; };
int main(void) { r = twice(n) + shared; assert(r > 7); return 0; }
"""
GUIDED = ("lus", "c", "aut", "vmt", "btor2", "json", "csv", "jsonl")
MANY = 20_000  # from here on half of the files are guided
OFTEN = ("lus", "c", "aut", "vmt", "btor2", "json", "csv", "jsonl", "certificate")  # `py` starts processes
SELDOM = ("yml", "linked")  # they are proved too


def malformed(count, seed):
    figure = Figure("damaged files of each kind, read by the command")
    rng = Random(seed)
    guided = count >= MANY and find_spec("atheris") is not None
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for kind, share in shares(count).items():
            drawn = share // 2 if guided and kind in GUIDED else share
            items = [*inputs(kind, drawn, rng)]
            for begin in range(0, len(items), BATCH):
                batch = items[begin : begin + BATCH]
                for item, answer in zip(batch, answers(reader(kind, Path(folder)), batch, SECONDS), strict=True):
                    note(figure, kind, item, answer)
            if share > drawn:
                under_guidance(figure, kind, share - drawn, seed)
        figure.tried["of the cache"] += count // 1000 + 3
        for number in range(seed, seed + count // 1000 + 3):
            damaged_cache(figure, number, Path(folder))
    return figure


def under_guidance(figure, kind, count, seed):
    command = [sys.executable, "-m", "tests.trust.guided", kind, str(count), str(seed)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    number, found = done.stdout.splitlines()[-2:] if done.returncode == 0 else ("0", "[]")
    if done.returncode:
        figure.wrong.append(f"{kind}, guided: it ended with {done.returncode}: {done.stderr[-300:]}")
    figure.tried[f"of {kind}, guided"] += int(number)
    figure.wrong += [f"{kind}: {answer[-300:]}: {text!r}" for text, answer in json.loads(found)]


def shares(count):
    return {k: count // 10 if k in OFTEN else count // (1000 if k in SELDOM else 100) + 1 for k in SEEDS}


def prepare(folder):
    (folder / "log.py").write_text(LOG_SPEC)
    (folder / "log.json").write_text(command("show", folder / "log.py", "--as", "json").shown)
    (folder / "first.c").write_text(PROGRAM)
    (folder / "task.c").write_text(PROGRAM.replace("twice(n)", "n"))
    (folder / "spec.json").write_text(json.dumps(to_plain(flatten(small_spec(1)[0]))))


def inputs(kind, count, rng):
    """Damaged texts of a kind."""
    texts = seeds(kind)
    words = words_of(texts)
    for _ in range(count):
        yield changed(rng, kind, rng.choice(texts), texts, words)


def words_of(texts):
    return [word for text in texts for word in re.findall(r"\w+|[^\w\s]+|\s+", text)]


def changed(rng, kind, text, texts, words):
    """A text of a kind, damaged. `texts` are others of the kind."""
    if kind in ("json", "certificate", "fret") and rng.random() < 0.8 and is_json(text):
        return json.dumps(damaged(rng, json.loads(text), rng.randint(1, 3)))
    if rng.random() < 0.2:
        other = rng.choice(texts)
        return text[: rng.randrange(len(text) + 1)] + other[rng.randrange(len(other) + 1) :]
    return text_damaged(rng, text, rng.choice((1, 1, 2, 3, 6)), words)


def reader(kind, folder):
    name, *options = READERS.get(kind, ("show",))
    path = folder / f"damaged.{ENDINGS.get(kind, kind)}"
    options = [str(folder / o) if o in ("log.json", "first.c") else o for o in options]

    def read(text):
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        done = command(name, *options, path)
        return done.status, last_line(done.shown) if done.is_broken else ""

    return read


def is_good(kind, answer):
    """True if the file was read, or refused with status 2; of certificates and programs there are other answers. (A
    task has 4 if it expects another verdict.)"""
    statuses = {"certificate": (0, 2, 3, 4), "yml": (0, 1, 2, 3, 4), "linked": (0, 1, 2, 3)}.get(kind, (0, 2))
    return not isinstance(answer, str) and answer[0] in statuses and not answer[1]


def note(figure, kind, text, answer):
    figure.tried[f"of {kind}"] += 1
    if not is_good(kind, answer):
        figure.wrong.append(f"{kind}: {str(answer)[-300:]}: {text!r}")


def damaged_cache(figure, number, folder):
    """Evidence of an earlier run, damaged: the verdicts stay."""
    rng, cache = Random(number), folder / ".streamcheck"
    asked = {key: os.environ.pop(key, None) for key in ("STREAMCHECK_NO_CACHE",)}
    here = Path.cwd()
    os.chdir(folder)
    try:
        expected = verdicts(folder)
        for path in sorted(cache.glob("*.json")):
            row = path.read_text()
            if rng.random() < 0.5 and is_json(row):
                path.write_text(json.dumps(damaged(rng, json.loads(row), rng.randint(1, 3))))
            elif rng.random() < 0.5:
                path.write_text(text_damaged(rng, row, 2))
        if (found := verdicts(folder)) != expected:
            figure.wrong.append(f"cache, seed {number}: {found}, not {expected}")
    finally:
        os.chdir(here)
        os.environ.update({key: value for key, value in asked.items() if value is not None})


def verdicts(folder):
    done = command("prove", folder / "spec.json", "--json", "--timeout", 10)
    if done.is_broken or done.status not in (0, 1):
        return done.status, last_line(done.shown)
    return {row["name"]: row["verdict"] for row in json.loads(done.shown)["properties"]}
