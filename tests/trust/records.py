"""What the command keeps and exchanges beside its files of evidence, damaged and forged: the journal and the history of
suites, the answers of workers elsewhere, the messages to the language server. Verdicts are right or `unknown`, nothing
ends in a traceback, nothing hangs."""

import contextlib
import json
import os
import select
import sqlite3
import subprocess
import tempfile
import time
from concurrent.futures import Future
from importlib.util import find_spec
from pathlib import Path
from random import Random

from trust.command import command, last_line
from trust.damage import damaged, text_damaged
from trust.decided import import_all
from trust.faults import truth
from trust.figure import Figure
from trust.processes import COMMAND, NO_CACHE
from trust.small_specs import small_spec
from trust.states import TooMany, first_violations

from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import to_plain
from streamcheck.run.prove import Alarm, Settings, prove
from streamcheck.scale.broker import Broker
from streamcheck.scale.crew import with_crew
from streamcheck.scale.journal import _digest
from streamcheck.scale.pools import ExecutorPool
from streamcheck.scale.units import Damaged, open_sealed, seal

SECONDS = 2.0  # of a proof by workers that lie
LONGEST = 30.0  # of a session with the server
IN_A_SESSION = 25  # messages
SPEC = """from streamcheck import *
n = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, 0))
spec = Spec("easy")
spec.prop("small", n < 10)
spec.prop("wrong", n < 5)
"""
VERDICTS = {"small": "proved", "wrong": "falsified"}
STATEMENTS = (
    "update verdicts set seconds = 'x'",
    "update verdicts set verdict = x'00ff'",
    "update verdicts set seconds = -1e999, verdict = ''",
    "drop table runs; create table runs (x)",
    "drop table verdicts; create table verdicts (run, file)",
    "alter table verdicts add column more",
    "create trigger t before insert on verdicts begin select raise(abort, 'no'); end",
)


def records(count, seed):
    figure = Figure("journals, histories, answers of workers and messages to the server, damaged and forged")
    import_all()
    ways = [way for way in WAYS if way is not messages or find_spec("pygls") is not None]
    with tempfile.TemporaryDirectory() as folder, in_folder(Path(folder)):
        kept = a_suite(Path(folder))
        for number in range(seed, seed + count):
            way = ways[number % len(ways)]
            figure.tried[way.__name__.replace("_", " ")] += 1
            way(figure, number, Path(folder), kept)
    return figure


@contextlib.contextmanager
def in_folder(folder):
    """The working folder, with the cache."""
    here, asked = Path.cwd(), os.environ.pop(NO_CACHE, None)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        if asked is not None:
            os.environ[NO_CACHE] = asked


def a_suite(folder):
    """The journal and the history of a suite that came to its end."""
    (folder / "specs").mkdir()
    (folder / "specs" / "e.py").write_text(SPEC)
    command("prove", "specs", "--suite", "--quiet")
    return (folder / JOURNAL).read_bytes(), (folder / HISTORY).read_bytes()


JOURNAL, HISTORY = ".streamcheck/suite.jsonl", ".streamcheck/history.sqlite"


def journal_damaged(figure, number, folder, kept):
    text = text_damaged(Random(number), kept[0].decode(), Random(number).randint(1, 2))
    again(figure, f"seed {number}, a damaged journal", folder, (text.encode(errors="surrogatepass"), kept[1]))


def journal_forged(figure, number, folder, kept):
    """Rows that are damaged, with the digests that they should have. What they say counts."""
    rows = [json.loads(line)["row"] for line in kept[0].splitlines()]
    text, last = "", ""
    for row in damaged(Random(number), rows, Random(number).randint(1, 3)):
        last = _digest(last, row)
        text += json.dumps({"digest": last, "row": row}) + "\n"
    journal = text.encode(errors="surrogatepass")
    again(figure, f"seed {number}, a forged journal", folder, (journal, kept[1]), is_forged=True)


def history_damaged(figure, number, folder, kept):
    rng, data = Random(number), bytearray(kept[1])
    if rng.random() < 0.4:
        (folder / HISTORY).write_bytes(data)
        with contextlib.closing(sqlite3.connect(folder / HISTORY)) as base:
            base.executescript(rng.choice(STATEMENTS))
        data = bytearray((folder / HISTORY).read_bytes())
    for _ in range(rng.choice((0, 1, 3, 20))):
        data[rng.randrange(min(len(data), rng.choice((100, 10**6))))] = rng.randrange(256)
    if rng.random() < 0.2:
        del data[rng.randrange(len(data)) :]
    again(figure, f"seed {number}, a damaged history", folder, (kept[0], bytes(data)))


def again(figure, where, folder, files, *, is_forged=False):
    """Go on with the suite."""
    for name, data in zip((JOURNAL, HISTORY), files, strict=True):
        (folder / name).write_bytes(data)
    done = command("prove", "specs", "--suite", "--resume", "--json", "--timeout", "5")
    if done.is_broken or done.status not in ((0, 1, 2, 3, 4) if is_forged else (1, 2)):
        figure.wrong.append(f"{where}: status {done.status}: {last_line(done.shown)}")
    elif done.status == 1 and not is_forged and (found := verdicts_in(done.shown)) != VERDICTS:
        figure.wrong.append(f"{where}: {found}")


def verdicts_in(shown):
    row = json.loads(next(line for line in shown.splitlines() if line.startswith("{")))
    return {p["name"]: p["verdict"] for spec in row["specs"] for p in spec["properties"]}


# Workers elsewhere


class Lying:
    """An executor whose answers are damaged from some number on, and have the right digest."""

    def __init__(self, rng):
        self.rng, self.count, self.first = rng, 0, rng.choice((1, 1, 2, 5))

    def submit(self, function, *given):
        self.count += 1
        future = Future()
        try:
            data = function(*given)
            future.set_result(self._changed(data) if self.count >= self.first else data)
        except Exception as error:
            future.set_exception(error)
        return future

    def _changed(self, data):
        if self.rng.random() < 0.1:
            return data[: self.rng.randrange(len(data))]
        row = open_sealed(data)
        rows = [part for part in row["rows"] if "proved" in part or "falsified" in part]
        if rows and self.rng.random() < 0.6:  # what is claimed, of another property, or turned round
            chosen = self.rng.choice(rows)
            chosen["prop"] = f"p{self.rng.randrange(4)}"
            return seal({**row, "rows": damaged(self.rng, row["rows"], self.rng.choice((0, 0, 1, 2)))})
        return seal(damaged(self.rng, row, self.rng.randint(1, 3)))


def answers_of_workers(figure, number, folder, kept):
    spec, values = small_spec(number)
    problem = flatten(spec)
    try:
        expected = first_violations(to_plain(problem), values)
    except TooMany:
        return
    broker = Broker(ExecutorPool(Lying(Random(number))))
    broker.note = lambda text: None
    try:
        found = prove(problem, with_crew(Settings(SECONDS), broker, "small")).results
    except (Alarm, Damaged):
        figure.tried["alarms"] += 1
        return
    except Exception as error:
        figure.wrong.append(f"seed {number}, answers of workers: {error!r}")
        return
    finally:
        broker.close()
    for result in found:
        figure.tried[result.verdict] += 1
        if result.verdict not in ("unknown", truth(problem, result.name, expected[result.name])):
            figure.wrong.append(f"seed {number}, answers of workers: {result.name} is {result.verdict}")


# The language server


def messages(figure, number, folder, kept):
    """A session in which most messages are damaged: it answers the good one after them, and ends as it should."""
    rng, uri = Random(number), (folder / "specs" / "e.py").as_uri()
    good = good_messages(uri)
    begin = {"processId": None, "rootUri": folder.as_uri(), "capabilities": {}}
    sent = [of_server(id=-1, method="initialize", params=begin), of_server(method="initialized", params={})]
    for _ in range(IN_A_SESSION):
        message = rng.choice(good)
        if rng.random() < 0.15:
            sent.append(framed(text_damaged(rng, json.dumps(message), 2).encode(errors="surrogatepass")))
        else:
            sent.append(of_server(**damaged(rng, message, rng.choice((0, 1, 1, 2)))))
    sent.append(of_server(id=-2, method="textDocument/codeLens", params={"textDocument": {"uri": uri}}))
    sent.append(of_server(id=-3, method="shutdown"))
    where = f"seed {number}, messages to the server"
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen([COMMAND, "lsp"], stdin=-1, stdout=-1, stderr=errors, cwd=folder)
        try:
            answered = answers_to(process, b"".join(sent), b'"id":-3')
            process.stdin.write(of_server(method="exit"))
            process.stdin.close()
            status = process.wait(LONGEST)
        except (OSError, subprocess.TimeoutExpired) as why:
            answered, status = b"", repr(why)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
            process.stdin.close()
    if status != 0 or b'"id":-2' not in answered:
        figure.wrong.append(f"{where}: status {status}, {answered[-200:]}")


def good_messages(uri):
    file, place = {"uri": uri}, {"line": 1, "character": 0}
    change = {"range": {"start": place, "end": {"line": 1, "character": 1}}, "text": "m"}
    execute = {"method": "workspace/executeCommand"}
    return [
        {
            "method": "textDocument/didOpen",
            "params": {"textDocument": {**file, "languageId": "python", "version": 1, "text": SPEC}},
        },
        {
            "method": "textDocument/didChange",
            "params": {"textDocument": {**file, "version": 2}, "contentChanges": [{"text": SPEC}, change]},
        },
        {"method": "textDocument/didSave", "params": {"textDocument": file}},
        {"method": "textDocument/didClose", "params": {"textDocument": file}},
        {"id": 1, "method": "textDocument/hover", "params": {"textDocument": file, "position": place}},
        {"id": 2, "method": "textDocument/definition", "params": {"textDocument": file, "position": place}},
        {"id": 3, "method": "textDocument/codeLens", "params": {"textDocument": file}},
        {"id": 4, "method": "textDocument/inlayHint", "params": {"textDocument": file, "range": change["range"]}},
        {"id": 5, **execute, "params": {"command": "streamcheck.prove", "arguments": [uri, "easy", "small"]}},
        {"id": 6, **execute, "params": {"command": "streamcheck.explain", "arguments": [uri, "easy", "small"]}},
        {"id": 7, **execute, "params": {"command": "streamcheck.showTrace", "arguments": [uri, "easy", "wrong"]}},
        {"method": "$/cancelRequest", "params": {"id": 3}},
        {"id": 8, "result": None},
    ]


def of_server(**message):
    return framed(json.dumps({"jsonrpc": "2.0", **message}).encode(errors="surrogatepass"))


def framed(data):
    return b"Content-Length: %d\r\n\r\n" % len(data) + data


def answers_to(process, data, last):
    """What it writes until it has answered the last request."""
    process.stdin.write(data)
    process.stdin.flush()
    found, until = b"", time.monotonic() + LONGEST
    while last not in found.replace(b" ", b""):
        left = until - time.monotonic()
        if left < 0 or not select.select([process.stdout], [], [], left)[0]:
            break
        block = os.read(process.stdout.fileno(), 1 << 16)
        if not block:
            break
        found += block
    return found.replace(b" ", b"")


WAYS = (journal_damaged, journal_forged, history_damaged, answers_of_workers, messages)
