"""`-v` and `--log`: levels, order, where the lines go, and that there are none otherwise."""

from __future__ import annotations

import json
import logging
import os
import re
import signal

from test_command import streamcheck
from test_prove import LATE, counter_equations, spec_file

from streamcheck.run.child import Child
from streamcheck.run.prove import Settings, prove
from streamcheck.run.registry import ENGINES, EngineEntry
from streamcheck.run.timeline import Timeline

__all__ = ["spec_file"]

LINE = re.compile(r"^ *(\d+\.\d{4})  (\S+) +(\d*) +(\S.*)$")


def lines_of(text):
    """(seconds, module, worker, message) of each line."""
    matches = [LINE.match(line) for line in text.splitlines()]
    assert all(matches), text
    return [(float(m[1]), m[2], m[3], m[4]) for m in matches]


def test_nothing_by_default():
    done = streamcheck("prove", "specs/growing_sum.py")
    assert done.stderr == ""


def test_verbose_says_what_engines_and_workers_do():
    done = streamcheck("prove", "specs/growing_sum.py", "-v", "--json")
    assert json.loads(done.stdout)["spec"] == "growing_sum"
    rows = lines_of(done.stderr)
    messages = {module: [m for _, mod, _, m in rows if mod == module] for _, module, _, _ in rows}
    assert any(m.startswith("worker 1 starts: bmc+k-induction+completeness") for m in messages["run.director"])
    assert {"worker 1 ends", "y_positive: proved by k-induction"} <= {*messages["run.director"]}
    assert messages["run.director"].count("worker 1 ends") == 1
    (spent,) = [m for m in messages["run.director"] if m.startswith("processor time: supervisor ")]
    times = {who: float(seconds) for who, seconds in re.findall(r"(\w+(?: \d+)?) (\d+\.\d\d) s", spent)}
    share = float(re.search(r"; share of the supervisor: (\d+) %$", spent)[1])
    assert times.keys() >= {"supervisor", "results", "checkers", "worker 1"}
    assert abs(share - 100 * times["supervisor"] / sum(times.values())) < 15  # of a few hundredths of a second
    assert "bmc: depth 0" in messages["engines.bmc"]
    assert any(m.startswith("k-induction: proved with k = 1") for m in messages["engines.kinduction"])
    assert "smt.solver" not in messages


def test_very_verbose_adds_queries_with_their_time():
    rows = lines_of(streamcheck("prove", "specs/growing_sum.py", "-vv").stderr)
    queries = [m for _, module, worker, m in rows if module == "smt.solver" and worker]
    assert queries and all(re.fullmatch(r"(sat|unsat|unknown) in \d+\.\d ms, \d+ assumptions?", q) for q in queries)


def test_very_verbose_adds_the_lemmas_of_ic3_in_the_notation_of_specs():
    rows = lines_of(streamcheck("prove", "specs/growing_sum.py", "--engine", "ic3", "-vv").stderr)
    lemmas = [m for _, module, _, m in rows if module == "engines.ic3.frames" and m.startswith("lemma ")]
    assert any(re.fullmatch(r"lemma of (every frame|frame \d+): .*\by\b.*", m) for m in lemmas), lemmas
    assert any(module == "run.workers" and m == "turn of ic3" for _, module, _, m in rows)


def test_check_logs_the_conditions_of_the_proof(tmp_path):
    streamcheck("prove", "specs/growing_sum.py", "--certificates", tmp_path)
    (proof, *_) = sorted(tmp_path.iterdir())
    done = streamcheck("check", proof, "-v")
    assert done.returncode == 0 and " holds\n" in done.stdout
    assert any("base case" in message for _, _, _, message in lines_of(done.stderr))
    queries = lines_of(streamcheck("check", proof, "-vv").stderr)
    assert len(queries) > len(lines_of(done.stderr))


def test_lines_of_all_workers_are_in_order(spec_file):
    rows = lines_of(streamcheck("prove", spec_file(LATE), "-vv", "--timeout", "3", "--jobs", "4").stderr)
    assert len({worker for _, _, worker, _ in rows}) > 3 and len(rows) > 50
    times = [seconds for seconds, _, _, _ in rows]
    assert times == sorted(times)


def test_the_log_goes_to_a_file(tmp_path):
    done = streamcheck("prove", "specs/growing_sum.py", "--log", tmp_path / "run.log")
    assert done.stderr == "" and done.returncode == 0
    rows = lines_of((tmp_path / "run.log").read_text())
    assert "bmc: depth 0" in [m for _, _, _, m in rows]
    done = streamcheck("prove", "specs/growing_sum.py", "-vv", "--log", tmp_path / "run.log")
    assert done.stderr == (tmp_path / "run.log").read_text() and "smt.solver" in done.stderr
    done = streamcheck("prove", "specs/growing_sum.py", "--log", tmp_path / "none" / "run.log")
    assert done.returncode == 2 and "No such file or directory" in done.stderr


def test_compile_logs_too(tmp_path):
    done = streamcheck("compile", "specs/engine_monitor.py", "-o", tmp_path, "-v")
    assert done.returncode == 0 and "run.director" in done.stderr


class Talks:
    """Logs, and is killed."""

    name = "liar"

    def run(self, problem, inbox):
        for i in range(300):
            logging.getLogger("streamcheck.engines.liar").info("line %d", i)
        os.kill(os.getpid(), signal.SIGKILL)
        yield


def test_a_killed_worker_loses_nothing_that_it_has_sent(monkeypatch, caplog):
    monkeypatch.setitem(ENGINES, "liar", EngineEntry("liar", "talks", "talking", lambda _: Talks()))
    with caplog.at_level(logging.INFO, "streamcheck"):
        answer = prove(counter_equations(), Settings(engines=["liar"], timeout=20))
    assert "its worker died" in answer.results[0].reasons["liar"]
    for worker in {r.worker for r in caplog.records if r.name == "streamcheck.engines.liar"}:
        lines = [r.getMessage() for r in caplog.records if getattr(r, "worker", "") == worker]
        assert lines == [f"line {i}" for i in range(300)]


def test_a_worker_that_is_ended_loses_nothing_that_it_has_sent(spec_file):
    """The last lines of workers that run until the time-out, among them what they did just before."""
    rows = lines_of(streamcheck("prove", spec_file(LATE), "-v", "--timeout", "3", "--engine", "bmc").stderr)
    last = max(seconds for seconds, module, _, _ in rows if module == "engines.bmc")
    assert last > rows[-1][0] - 1.0


def test_records_are_ordered_by_time_and_held_back_until_none_can_come_before(caplog):
    timeline = Timeline(logging.getLogger("streamcheck.run.director"))
    with caplog.at_level(logging.INFO, "streamcheck"):
        timeline.add([("streamcheck.a", 20, 5.0, "late"), ("streamcheck.a", 20, 1.0, "first")], "1")
        timeline.add([("streamcheck.b", 20, 3.0, "second"), ("streamcheck.b", 10, 2.0, "too detailed")], "2")
        timeline.release(4.0)
        assert [r.getMessage() for r in caplog.records] == ["first", "second"]
        timeline.release(float("inf"))
    assert [(r.getMessage(), r.worker) for r in caplog.records][-1] == ("late", "1")


def test_messages_are_formatted_only_if_somebody_listens():
    class Touchy:
        def __str__(self):
            raise AssertionError

    def work(channel):
        logging.getLogger("streamcheck.x").info("%s", Touchy())
        channel.send("done")

    child = Child(work)
    assert child.channel.receive(10.0) == "done" and child.channel.logged == []
    child.end()
