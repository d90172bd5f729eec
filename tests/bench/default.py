"""The default command against its best engine: what it loses, problem by problem.

    python tests/bench/default.py [--seconds 10] [--sample N --seed 1] [--engine NAME]…
                                    [--slower-than 0.7] [--save FILE] [PATH]…

A path is a problem, or a folder of them (the default: `specs`). Each is run by the command as users run it, and then
with one engine at a time (and those whose facts it needs), all with the same limit. The best engine is the one that
decides most, and of these the one with the least processor time; `best` is its time, `ratio` the default's over it. A
property that some engine decides and the default does not is lost. The goal is 2·best + 0.3 s of processor time on
average, and 4·best + 0.3 s for each problem: those beyond are marked, and listed once more at the end with the time of
each engine that decides as much. Wall seconds are compared in the same way; they mean little if the machine is busy.
If the default decides everything, an engine has no longer than the default took, since slower ones are not the best;
with `--slower-than`, problems that it decides within so many seconds of processor time are not given to single engines.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from pathlib import Path
from types import SimpleNamespace

from lustre import measured

from streamcheck.core.errors import SpecError
from streamcheck.problem.automaton import Automaton
from streamcheck.run.registry import ENGINES
from streamcheck.run.source import Target, read

COMMAND = str(Path(sys.executable).parent / "streamcheck")
KINDS = {".py", ".lus", ".c", ".i", ".aut", ".vmt", ".btor2"}
ROW = "{:44} {:>5} {:>5} {:>7} {:>7} {:>6} {:>7} {:>7}  {:24} {}"
START = 0.3  # seconds of processor time that every run may have more
STARTING = 1.0  # seconds by the clock that an engine has at least


def problems(paths):
    for path in map(Path, paths):
        yield from sorted(p for p in path.rglob("*") if p.suffix in KINDS) if path.is_dir() else [path]


def engines_for(path):
    """The engines of the portfolio that fit the problem, bounded model checking beside k-induction."""
    program = any(isinstance(p, Automaton) for p in read(Target.parse(str(path)), 20))
    rows = [e for e in ENGINES.values() if (e.program if program else e.spec) is not None]
    return [("bmc", e.name) if e.name == "k-induction" else (e.name,) for e in rows]


def decided(path, seconds, engines=()):
    """The verdicts by property, and the processor and wall seconds."""
    chosen = [word for name in engines for word in ("--engine", name)]
    command = [COMMAND, "prove", str(path), "--no-cache", "--json", "--timeout", str(seconds), *chosen]
    out, err, status, figures = measured(command, seconds)
    if status not in (0, 1, 3):
        return SimpleNamespace(verdicts={}, count=-1, error=f"status {status}: {err.strip()[-200:]}", **figures)
    answers = json.loads(out)
    rows = [p for a in (answers if isinstance(answers, list) else [answers]) for p in a["properties"]]
    verdicts = {p["name"]: p["verdict"] for p in rows if p["verdict"] != "unknown"}
    return SimpleNamespace(verdicts=verdicts, count=len(rows), error="", **figures)


def compared(path, options):
    """One row: the default, the best engine, the ratio of their processor times, and what the default lost."""
    default = decided(path, options.seconds)
    is_done = len(default.verdicts) == default.count
    row = {"path": str(path), "decided": len(default.verdicts), "cpu": default.cpu, "wall": default.wall}
    if is_done and default.cpu <= options.slower_than:
        return row | {"best_decided": 0, "contradicted": [], "lost": [], "error": ""}
    names = [(name,) for name in options.engine] or engines_for(path)
    seconds = options.seconds
    if is_done:
        seconds = min(seconds, max(STARTING, default.cpu, 1.5 * default.wall))
    alone = {"+".join(engines): decided(path, seconds, engines) for engines in names}
    known = {name: verdict for run in alone.values() for name, verdict in run.verdicts.items()}
    wrong = [n for run in alone.values() for n, v in run.verdicts.items() if default.verdicts.get(n, v) != v]
    best = min(alone, key=lambda e: (-len(alone[e].verdicts), alone[e].cpu))
    row |= {"best": best, "best_decided": len(alone[best].verdicts), "best_cpu": alone[best].cpu}
    row["alone"] = {name: {"decided": len(run.verdicts), "cpu": run.cpu} for name, run in alone.items()}
    row |= {"best_wall": alone[best].wall, "lost": sorted(known.keys() - default.verdicts.keys())}
    return row | {"contradicted": wrong, "error": default.error}


def is_beyond(row):
    return row["best_decided"] > 0 and row["cpu"] > 4 * row["best_cpu"] + START


def shown(row):
    if "best" not in row:
        times = f"{row['cpu']:.2f}", "", "", f"{row['wall']:.2f}"
        return ROW.format(row["path"][-44:], row["decided"], "", *times, "", "", "")
    remarks = [f"lost: {', '.join(row['lost'])}"] * bool(row["lost"])
    remarks += [f"CONTRADICTED: {', '.join(row['contradicted'])}"] * bool(row["contradicted"])
    remarks += ["beyond 4"] * is_beyond(row)
    times = (f"{row['cpu']:.2f}", f"{row['best_cpu']:.2f}", f"{row['cpu'] / row['best_cpu']:.2f}")
    times += f"{row['wall']:.2f}", f"{row['best_wall']:.2f}"
    counts = row["decided"], row["best_decided"]
    return ROW.format(row["path"][-44:], *counts, *times, row["best"], "; ".join([*remarks, row["error"]]))


def summed(rows):
    """What holds over all problems that some engine decided."""
    fast = [r for r in rows if "best" not in r]
    if fast:
        yield f"{len(fast)} problems in {sum(r['cpu'] for r in fast):.1f} CPU s, which single engines were not given"
    some = [r for r in rows if r["best_decided"]]
    if not some:
        return
    ratios = sorted(r["cpu"] / r["best_cpu"] for r in some)
    allowance = sum(2 * r["best_cpu"] + START for r in some)
    yield f"{len(some)} problems, {sum(r['decided'] for r in some)} properties decided by default"
    yield f"by the best engine of each {sum(r['best_decided'] for r in some)}, lost {sum(len(r['lost']) for r in some)}"
    yield f"CPU s: default {sum(r['cpu'] for r in some):.1f}, best {sum(r['best_cpu'] for r in some):.1f}"
    yield f"average goal (2·best + {START}): {allowance:.1f}; ratio: median {statistics.median(ratios):.2f}"
    walls = sorted(r["wall"] / r["best_wall"] for r in some)
    yield f"wall s: default {sum(r['wall'] for r in some):.1f}, best {sum(r['best_wall'] for r in some):.1f}; "
    yield f"ratio: median {statistics.median(walls):.2f}, worst {walls[-1]:.2f}"
    beyond = [r for r in some if is_beyond(r)]
    yield f"worst ratio {ratios[-1]:.2f}; problems beyond 4·best + {START}: {len(beyond)}"
    for row in beyond:
        same = {e: run["cpu"] for e, run in row["alone"].items() if run["decided"] == row["best_decided"]}
        engines = ", ".join(f"{e} {cpu:.2f}" for e, cpu in sorted(same.items(), key=lambda pair: pair[1]))
        yield f"  {row['path']}: default {row['cpu']:.2f}; {engines}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*", default=["specs"])
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", action="append", default=[])
    parser.add_argument("--slower-than", type=float, default=0.0)
    parser.add_argument("--save")
    options = parser.parse_args()
    chosen = list(problems(options.paths))
    if options.sample and options.sample < len(chosen):
        chosen = sorted(random.Random(options.seed).sample(chosen, options.sample))
    print(ROW.format("problem", "done", "best", "CPU s", "best", "ratio", "wall s", "best", "best engine", ""))
    rows = []
    for path in chosen:
        try:
            rows.append(compared(path, options))
        except SpecError as why:
            print(f"{str(path)[-44:]:44} not read: {why.message}")
            continue
        print(shown(rows[-1]), flush=True)
        if options.save:
            Path(options.save).write_text(json.dumps(rows, indent=1))
    print("\n".join(summed(rows)))


if __name__ == "__main__":
    main()
