"""Engines side by side: alone, with an idea switched off, and together; solved, unique, times and counts.

    python tests/bench/engines.py [--seconds 5] [--sample 60] [--engine NAME]... [--ablation] [PATH]...

A path is a spec, a Lustre file, a program, or a folder of them (the default: `specs`). `--ablation` has the rows of
programs: both refinements of predicate abstraction with and without blocks [Tegzes, tables 4.1 and 4.2], and what each
idea of the engines for programs saves. Counts are sums over what is solved. Every run has a process and a limit of CPU
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
from streamcheck.certify.replay import replay, replay_path
from streamcheck.engines.protocol import Progress, Task
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import claim_named
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.run.registry import build, options_from
from streamcheck.run.source import Target, read
from streamcheck.run.strategy import in_turns
from streamcheck.run.workers import Turns
from streamcheck.transform.views import views

sys.path.append(str(Path(__file__).parents[1]))
from counts import counting

COUNTS = ("frames", "queries", "lemmas", "predicates", "refinements")
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
WITHOUT = ("tighten", "split", "box", "widen", "inductive", "push", "propagate", "forward", "incremental")
LIFTED = ("cubes", "tighten", "split", "inductive", "turns", "propagate", "forward")
BITS = ("ternary", "tighten", "inductive", "push", "propagate", "forward")
NO_BLOCKS = " no blocks"  # ends the name of a row whose programs are taken statement by statement


def configurations(chosen, ablation):
    """The rows: names, engines, and their options."""
    if ablation:
        table = of_programs()
    else:
        table = {name: (engines, {}) for name, engines in ALONE.items()}
        table |= {f"ic3 -{idea}": (("ic3",), {f"ic3.{idea}": False}) for idea in WITHOUT}
        for way in ("exact", "ternary", "values"):
            table[f"ic3 {way}"] = (("ic3",), {"ic3.predecessors": way})
        table["k-induction -compression"] = (INDUCTION, {"k-induction.compression": False})
        table["structural induction"] = (("structural",), {"structural.proof": "induction"})
        table["predicates -generalize"] = (("predicates",), {"predicates.generalize": False})
        table |= {f"pdr-bits -{idea}": (("pdr-bits",), {f"pdr-bits.{idea}": False}) for idea in BITS}
    return {name: row for name, row in table.items() if not chosen or name in chosen}


def of_programs():
    table = {}
    for engine in ("predicates", "predicates-path"):
        for blocks in ("", NO_BLOCKS):
            table[f"{engine}{blocks}"] = ((engine,), {})
        for idea in ("generalize", "locations"):
            table[f"{engine} -{idea}{NO_BLOCKS}"] = ((engine,), {f"{engine}.{idea}": False})
    for idea in ("", *LIFTED):
        options = {f"lifted-pdr.{idea}": False} if idea else {}
        table[f"lifted-pdr{' -' * bool(idea)}{idea}{NO_BLOCKS}"] = (("lifted-pdr",), options)
    return table


def problems(paths):
    for path in map(Path, paths):
        files = (
            sorted(p for p in path.rglob("*") if p.suffix in (".py", ".lus", ".c", ".i")) if path.is_dir() else [path]
        )
        yield from files


def attempt(equations, engines, options, seconds, blocks, answer):
    """Verdicts, CPU seconds, the seconds that checking took, and counts, of one run in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(3 * seconds) + 10, int(3 * seconds) + 10))
    claims = equations
    view, checker = views(claims, blocks=blocks)[0], Checker(claims)
    began, found, checking = time.process_time(), {}, 0.0

    def tell(engine, event):
        nonlocal checking
        if isinstance(event, Progress):
            counts.frames = max(counts.frames, event.depth)
        if not isinstance(event, Proved | Falsified) or event.prop in found:
            return
        asked = time.process_time()
        if isinstance(event, Proved):
            good = checker.check(event.prop, view.back(event.certificate)) is None
        else:
            run = replay_path if isinstance(claims, Automaton) else replay
            good = not isinstance(run(claims, claim_named(claims, event.prop), view.back(event.trace)), str)
        found[event.prop] = type(event).__name__.lower() if good else "REFUSED"
        checking += time.process_time() - asked

    task = Task(view.system, program=view.automaton, predicates=view.predicates)
    with counting() as counts:
        turns = Turns(lambda: build(engines, options_from(options)), task)
        while turns.running and len(found) < len(claims.properties):
            if time.process_time() - began - checking > seconds or turns.round(tell):
                break
    answer.send((found, time.process_time() - began - checking, checking, counts.as_dict()))


def run(equations, engines, options, seconds, blocks):
    """The answer of `attempt` in a process of its own; none where it dies or takes too long."""
    context = multiprocessing.get_context("fork")
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=attempt, args=(equations, engines, options, seconds, blocks, send))
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
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--save")
    parser.add_argument("paths", nargs="*", default=["specs"])
    given = parser.parse_args()
    files = list(problems(given.paths))
    if given.sample:
        files = sorted(random.Random(1).sample(files, min(given.sample, len(files))))
    table = configurations(given.engine, given.ablation)
    results = {name: {} for name in table}
    for number, file in enumerate(files):
        for equations in read(Target.parse(str(file))):
            if not equations.properties:
                continue
            key = f"{file.name}::{equations.name}"
            for name, (engines, options) in table.items():
                answer = run(equations, engines, options, given.seconds, not name.endswith(NO_BLOCKS))
                if answer is None:
                    continue
                found, seconds, checking, counts = answer
                assert "REFUSED" not in found.values(), (key, name, found)
                if len(found) == len(equations.properties):
                    results[name][key] = (found, seconds, checking, counts)
        print(f"\r{number + 1} of {len(files)}", end="", file=sys.stderr, flush=True)
    report(results)
    if given.save:
        Path(given.save).write_text(json.dumps(results, indent=1))


def report(results):
    verdicts = {}
    for solved in results.values():
        for key, (found, *_) in solved.items():
            assert verdicts.setdefault(key, found) == found, f"{key}: engines disagree"
    print(f"\n{len(verdicts)} problems solved by some engine\n")
    head = "solved unique mean_s median_s most_s checking_s frames queries lemmas predicates refinements"
    print(f"{'':34}" + "".join(f"{name:>12}" for name in head.split()))
    alone = [name for name in results if name in ALONE and len(ALONE[name]) < 4 and "+" not in name]
    for name, solved in results.items():
        others = {key for other in alone if other != name for key in results[other]}
        unique = sum(key not in others for key in solved) if name in alone else ""
        times = [seconds for _, seconds, _, _ in solved.values()] or [0.0]
        checking = sum(c for _, _, c, _ in solved.values())
        spent = [statistics.mean(times), statistics.median(times), max(times), checking]
        sums = [sum(row[-1][what] for row in solved.values()) for what in COUNTS]
        cells = [len(solved), unique, *(f"{s:.2f}" for s in spent), *sums]
        print(f"{name:34}" + "".join(f"{cell:>12}" for cell in cells))


if __name__ == "__main__":
    main()
