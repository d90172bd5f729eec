"""Lustre problems in figures: verdict, engine, time and memory of each, through the real command, one at a time.

    python tests/bench/lustre.py FOLDER [--expected answers.json] [--sample 60 --seed 1] [--timeout 20]
                                 [--save results.json] [--check] [--profile] [--engine NAME]… [--without NAME]…
                                 [--tool NAME COMMAND PROVED FALSIFIED]…

`answers.json` maps paths below FOLDER to "proved", "falsified" or null. A problem is one file: falsified where one of
its properties is, proved where all are. Wall and CPU seconds are those of the command with everything it starts; memory
is that of its largest process. PAR-2 counts twice the limit for what is not decided, or wrong. `--without spacer` runs
every problem a second time with all engines but those whose names begin so, and prints both; these start all at once.
`--profile` shows where the time goes on the median problem and on the ten slowest.

A tool is a command with `{file}` (or `{chc}`, `{vmt}`: the problem as this project writes it) and `{timeout}` in it,
and two regular expressions: what its output says when it has proved the problem, and when it has falsified it.

    --tool spacer 'z3 fp.engine=spacer -T:{timeout} {chc}' '^sat' '^unsat'
    --tool kind2 'kind2 --color false --timeout {timeout} {file}' '<Success>' '<Failure>'
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import platform
import random
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import streamcheck
from streamcheck.run.strategy import in_turns

COMMAND = str(Path(sys.executable).parent / "streamcheck")
PROFILE = str(Path(__file__).with_name("profile.py"))
GRACE = 5.0  # seconds a command may go on after the limit before it is ended


def measured(command, limit):
    """Run a command: its output, status, wall and CPU seconds, and the MB of its largest process."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL, start_new_session=True)
        status, usage = _waited(process, began + limit + GRACE)
        wall = time.monotonic() - began
        out.seek(0)
        err.seek(0)
        figures = {"wall": round(wall, 3), "cpu": round(usage.ru_utime + usage.ru_stime, 3)}
        figures["memory"] = round(usage.ru_maxrss / 1024, 1)
        return out.read(), err.read(), status, figures


def _waited(process, deadline):
    """The status and resources of the command and all it waited for; past the deadline its group is ended."""
    pause, killed = 0.001, False
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage
        if time.monotonic() > deadline and not killed:
            killed = True
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.02, pause * 1.5)


def combined(verdicts):
    for verdict in ("falsified", "unknown"):
        if verdict in verdicts:
            return verdict
    return "proved" if verdicts else "unknown"


def ours(path, options, engines):
    """One problem by this project."""
    with tempfile.TemporaryDirectory() as directory:
        command = [COMMAND, "prove", str(path), "--no-cache", "--json", "--timeout", str(options.timeout)]
        command += [part for engine in engines for part in ("--engine", engine)]
        if options.check:
            command += ["--certificates", directory]
        out, err, status, row = measured(command, options.timeout)
        try:
            answers = json.loads(out)
        except ValueError:
            return {**row, "verdict": "error", "reason": f"status {status}: {err.strip()[-300:]}"}
        answers = answers if isinstance(answers, list) else [answers]
        results = [p for a in answers for p in a["properties"]]
        row["verdict"] = combined([p["verdict"] for p in results])
        row["engine"] = "+".join(sorted({p["engine"] for p in results if p.get("engine")}))
        row["reason"] = "; ".join(sorted({p["reason"] for p in results if p.get("reason")}))
        row["properties"] = {p["name"]: p["verdict"] for p in results}
        row["solving"] = max((a["seconds"] for a in answers), default=0.0)
        if options.check:
            row["checked"], row["rejected"] = checked(directory)
        return row


def checked(directory):
    """How many certificates hold, and what is said of those that do not."""
    files = sorted(str(p) for p in Path(directory).iterdir())
    if not files:
        return 0, []
    done = subprocess.run([COMMAND, "check", *files], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    rejected = [line for line in lines if not line.endswith(": holds")] + done.stderr.splitlines()
    return len(lines) - len(rejected), rejected


def theirs(path, tool, options):
    """One problem by another tool."""
    _, command, proved, falsified = tool
    with tempfile.TemporaryDirectory() as directory:
        given = {"file": str(path), "timeout": str(int(options.timeout))}
        for kind in ("chc", "vmt"):
            if f"{{{kind}}}" in command:
                written = Path(directory) / f"problem.{kind}"
                shown = subprocess.run([COMMAND, "show", str(path), "--as", kind], capture_output=True, text=True)
                written.write_text(shown.stdout)
                given[kind] = str(written)
        out, err, _, row = measured([part.format(**given) for part in shlex.split(command)], options.timeout)
        said = out + err
        row["verdict"] = "unknown"
        if re.search(falsified, said, re.MULTILINE):
            row["verdict"] = "falsified"
        elif re.search(proved, said, re.MULTILINE):
            row["verdict"] = "proved"
        return row


def judged(row, expected, limit):
    row["expected"] = expected
    row["wrong"] = row["verdict"] in ("proved", "falsified") and expected not in (None, row["verdict"])
    row["solved"] = row["verdict"] in ("proved", "falsified") and not row["wrong"] and row["wall"] <= limit + GRACE
    row["par2"] = row["wall"] if row["solved"] else 2 * limit
    return row


def totals(rows, limit):
    solved = [r for r in rows if r["solved"]]
    known = [r for r in rows if r["expected"]]

    def middle(key):
        return round(statistics.median(r[key] for r in solved), 3) if solved else None

    return {
        "problems": len(rows),
        "solved": len(solved),
        "proved": sum(r["verdict"] == "proved" for r in solved),
        "falsified": sum(r["verdict"] == "falsified" for r in solved),
        "wrong": sum(r["wrong"] for r in rows),
        "unknown": sum(r["verdict"] == "unknown" for r in rows),
        "errors": sum(r["verdict"] == "error" for r in rows),
        "with a known answer": len(known),
        "of these solved": sum(r["solved"] for r in known),
        "PAR-2": round(statistics.mean(r["par2"] for r in rows), 3) if rows else None,
        "median wall": middle("wall"),
        "median cpu": middle("cpu"),
        "median memory": middle("memory"),
        "largest memory": max((r["memory"] for r in rows), default=None),
    }


def configurations(options):
    """The engines to run by the name of the run; none named are all."""
    found = {"streamcheck": options.engine}
    if options.without:
        left = [e for e in options.engine or in_turns(program=False) if not e.startswith(tuple(options.without))]
        found[f"without {' and '.join(options.without)}"] = left
    return found


def profiled(root, rows, options):
    """Where the time goes, in CPU seconds one after another, by problem: the median one and the slowest."""
    solved = sorted((r for r in rows if r["solved"] and r.get("engine")), key=lambda r: r["wall"])
    chosen = [solved[(len(solved) - 1) // 2], *solved[:-11:-1]] if solved else []
    found = []
    for row in chosen:
        engine = row["engine"].split("+")[0]
        command = [sys.executable, PROFILE, str(root / row["file"]), engine, "--limit", str(options.timeout)]
        out, err, status, _ = measured(command, 2 * options.timeout)  # a single query may be longer than any limit
        phases = json.loads(out) if status == 0 else {"error": err.strip()[-200:] or "not done in time"}
        found.append({"file": row["file"], "engine": engine, "wall": row["wall"], "cpu": row["cpu"], "phases": phases})
        print(f"  {row['file']:56.56} {engine}, {row['wall']:.2f} s, CPU {row['cpu']:.2f} s")
        print("      " + ", ".join(f"{name} {value}" for name, value in phases.items()), flush=True)
    return found


def problems(options):
    """The files, as paths relative to the folder."""
    root = Path(options.folder)
    files = sorted(p.relative_to(root) for p in root.rglob("*.lus")) if root.is_dir() else [Path(root.name)]
    if options.only:
        files = [f for f in files if re.search(options.only, str(f))]
    if options.sample is not None and options.sample < len(files):
        files = sorted(random.Random(options.seed).sample(files, options.sample))
    return (root if root.is_dir() else root.parent), files


def line(name, row):
    answer = "WRONG" if row["wrong"] else row["verdict"]
    engine = row.get("engine") or row.get("reason", "")[:40]
    return f"{name:56.56} {answer:9} {row['wall']:7.2f} s {row['cpu']:7.2f} s {row['memory']:6.0f} MB  {engine}"


def summary(rows, limit):
    """Totals for each folder, and for all."""
    folders = sorted({r["file"].split("/")[0] for r in rows if "/" in r["file"]})
    found = {f: totals([r for r in rows if r["file"].startswith(f + "/")], limit) for f in folders}
    return {**found, "all": totals(rows, limit)}


def show(title, found):
    print(f"\n{title}")
    for folder, row in found.items():
        print(f"  {folder:18}" + ", ".join(f"{key} {value}" for key, value in row.items()))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--expected", metavar="JSON")
    parser.add_argument("--timeout", type=float, default=20.0)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", metavar="REGEX", help="only files whose path matches")
    parser.add_argument("--engine", action="append", default=[])
    parser.add_argument("--without", action="append", default=[], metavar="NAME")
    parser.add_argument("--profile", action="store_true", help="where the time goes on the median and the slowest ones")
    parser.add_argument("--save", metavar="JSON")
    parser.add_argument("--check", action="store_true", help="check each certificate again, from the file alone")
    parser.add_argument(
        "--tool", nargs=4, action="append", default=[], metavar=("NAME", "COMMAND", "PROVED", "FALSIFIED")
    )
    return parser.parse_args()


def main():
    options = arguments()
    expected = json.loads(Path(options.expected).read_text()) if options.expected else {}
    root, files = problems(options)
    compileall.compile_dir(Path(streamcheck.__file__).parent, quiet=1)  # as it is once installed
    runs = {name: [] for name in (*configurations(options), *(tool[0] for tool in options.tool))}
    for file in files:
        solvers = {name: (lambda path, e=e: ours(path, options, e)) for name, e in configurations(options).items()}
        solvers |= {t[0]: (lambda path, t=t: theirs(path, t, options)) for t in options.tool}
        for name, solve in solvers.items():
            row = judged(solve(root / file), expected.get(str(file)), options.timeout)
            runs[name].append({"file": str(file), **row})
            print(line(str(file), row) + (f"  [{name}]" if len(runs) > 1 else ""), flush=True)
            if row.get("rejected"):
                print(f"    rejected: {row['rejected']}", flush=True)
    found = {name: summary(rows, options.timeout) for name, rows in runs.items()}
    for name, one in found.items():
        show(name, one)
    if options.check:
        every = [r for name in configurations(options) for r in runs[name]]
        certificates = sum(r.get("checked", 0) for r in every)
        rejected = sum(len(r.get("rejected", [])) for r in every)
        print(f"\ncertificates: {certificates} hold, {rejected} do not")
    for name in runs:
        undecided = [f"{r['file']} ({r.get('reason') or r['verdict']})" for r in runs[name] if not r["solved"]]
        print(f"\nundecided [{name}]: {', '.join(undecided) or 'none'}")
    profile = []
    if options.profile:
        print("\nwhere the time goes: CPU seconds of each phase; the median problem, then the slowest")
        profile = profiled(root, runs["streamcheck"], options)
    if options.save:
        machine = {"machine": platform.machine(), "processors": len(os.sched_getaffinity(0)), "python": sys.version}
        settings = {key: value for key, value in vars(options).items() if key != "save"}
        Path(options.save).write_text(
            json.dumps({**machine, "options": settings, "totals": found, "profile": profile, "runs": runs}, indent=1)
        )
    wrong = any(r["wrong"] for rows in runs.values() for r in rows)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
