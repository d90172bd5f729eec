"""Engines side by side: alone, with an idea switched off, and together; solved, unique, median and total time.

    python tests/bench/engines.py [--seconds 5] [--sample 60] [--engine NAME]... [PATH]...

A path is a spec, a Lustre file, or a folder of them (the default: `specs`). Every run has a process and a limit of CPU
seconds of its own; reading the file is not counted. A solved problem is one whose properties are all decided, every
certificate accepted by the checker (its time is printed apart), every counterexample replayed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import resource
import statistics
import sys
import time
from pathlib import Path

from streamcheck.certify.check import Checker
from streamcheck.certify.replay import replay
from streamcheck.engines.protocol import Task
from streamcheck.problem.problem import claim_named
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.run.registry import build, options_from
from streamcheck.run.source import Target, read
from streamcheck.run.strategy import in_turns
from streamcheck.run.workers import Turns
from streamcheck.transform.views import views

INDUCTION = ("bmc", "k-induction")
ALONE = {
    "k-induction": INDUCTION,
    "completeness": ("bmc", "completeness"),
    "structural": ("structural",),
    "ic3": ("ic3",),
    "predicates": ("predicates",),
    "predicates-path": ("predicates-path",),
    "spacer": ("spacer",),
    "spacer-local": ("spacer-local",),
    "templates": ("templates",),
    "polynomial": ("polynomial",),
    "templates+ic3": ("templates", "ic3"),
    "no spacer": tuple(name for name in in_turns(program=False) if name != "spacer"),
    "together": in_turns(program=False),
}
WITHOUT = ("tighten", "split", "box", "widen", "forward")


def configurations(chosen):
    table = {name: (engines, {}) for name, engines in ALONE.items()}
    table |= {f"ic3 -{idea}": (("ic3",), {f"ic3.{idea}": False}) for idea in WITHOUT}
    table["k-induction -compression"] = (INDUCTION, {"k-induction.compression": False})
    return {name: row for name, row in table.items() if not chosen or name in chosen}


def problems(paths):
    for path in map(Path, paths):
        files = sorted(p for p in path.rglob("*") if p.suffix in (".py", ".lus")) if path.is_dir() else [path]
        yield from files


def attempt(equations, engines, options, seconds, answer):
    """Verdicts, CPU seconds, and the seconds that checking took, of one run in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(3 * seconds) + 10, int(3 * seconds) + 10))
    claims = equations
    view, checker = views(claims)[0], Checker(claims)
    began, found, checking = time.process_time(), {}, 0.0

    def tell(engine, event):
        nonlocal checking
        if not isinstance(event, Proved | Falsified) or event.prop in found:
            return
        asked = time.process_time()
        if isinstance(event, Proved):
            good = checker.check(event.prop, view.back(event.certificate)) is None
        else:
            good = not isinstance(replay(claims, claim_named(claims, event.prop), view.back(event.trace)), str)
        found[event.prop] = type(event).__name__.lower() if good else "REFUSED"
        checking += time.process_time() - asked

    turns = Turns(lambda: build(engines, options_from(options)), Task(view.system))
    while turns.running and len(found) < len(claims.properties):
        if time.process_time() - began - checking > seconds or turns.round(tell):
            break
    answer.send((found, time.process_time() - began - checking, checking))


def run(equations, engines, options, seconds):
    """The answer of `attempt` in a process of its own; none where it dies or takes too long."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=attempt, args=(equations, engines, options, seconds, send))
    child.start()
    send.close()
    try:
        answer = receive.recv() if receive.poll(2 * seconds + 5) else None
    except EOFError:
        answer = None
    child.kill()
    child.join()
    return answer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--engine", action="append", default=[])
    parser.add_argument("--save")
    parser.add_argument("paths", nargs="*", default=["specs"])
    given = parser.parse_args()
    files = list(problems(given.paths))
    if given.sample:
        files = sorted(random.Random(1).sample(files, min(given.sample, len(files))))
    table = configurations(given.engine)
    results = {name: {} for name in table}
    for number, file in enumerate(files):
        for equations in read(Target.parse(str(file))):
            if not equations.properties:
                continue
            key = f"{file.name}::{equations.name}"
            for name, (engines, options) in table.items():
                answer = run(equations, engines, options, given.seconds)
                if answer is None:
                    continue
                found, seconds, checking = answer
                assert "REFUSED" not in found.values(), (key, name, found)
                if len(found) == len(equations.properties):
                    results[name][key] = (found, seconds, checking)
        print(f"\r{number + 1} of {len(files)}", end="", file=sys.stderr, flush=True)
    report(results)
    if given.save:
        Path(given.save).write_text(json.dumps(results, indent=1))


def report(results):
    verdicts = {}
    for solved in results.values():
        for key, (found, _, _) in solved.items():
            assert verdicts.setdefault(key, found) == found, f"{key}: engines disagree"
    print(f"\n{len(verdicts)} problems solved by some engine\n")
    print(f"{'':26} {'solved':>6} {'unique':>6} {'median s':>9} {'total s':>8} {'checking s':>10}")
    alone = [name for name in results if name in ALONE and len(ALONE[name]) < 4 and "+" not in name]
    for name, solved in results.items():
        others = {key for other in alone if other != name for key in results[other]}
        unique = sum(key not in others for key in solved) if name in alone else ""
        times = [seconds for _, seconds, _ in solved.values()] or [0.0]
        checking = sum(c for _, _, c in solved.values())
        median = statistics.median(times)
        print(f"{name:26} {len(solved):6} {unique:>6} {median:9.3f} {sum(times):8.1f} {checking:10.2f}")


if __name__ == "__main__":
    main()
