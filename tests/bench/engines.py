"""Engines side by side: alone, with an idea switched off, and together; solved, unique, times and counts.

    python tests/bench/engines.py [--seconds 5] [--sample 60] [--engine NAME]... [--ablation] [PATH]...

A path is a spec, a Lustre file, a program, or a folder of them (the default: `specs`). `--ablation` has a row for every
other value of each option of the engines (those named, or all that run on specs; on programs, if the first file is
one): what each idea saves. Programs have each row with blocks and without, among them both refinements of predicate
abstraction [Tegzes, tables 4.1 and 4.2]. Counts are sums over what is solved. Every run has a process and a limit of
CPU seconds of its own; reading the file is not counted. A solved problem is one whose properties are all decided, every
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
from streamcheck.engines.settings import Choice, Number, Switch, options_of, setting_text
from streamcheck.problem.automaton import Automaton
from streamcheck.problem.problem import claim_named
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.run.registry import ENGINES, build, options_from
from streamcheck.run.source import Target, read
from streamcheck.run.strategy import in_turns
from streamcheck.run.workers import Turns
from streamcheck.transform.views import views

sys.path.append(str(Path(__file__).parents[1]))
from counts import counting

KINDS = (".py", ".lus", ".c", ".i", ".aut")
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
NO_BLOCKS = " no blocks"  # ends the name of a row whose programs are taken statement by statement
BESIDE = {
    "k-induction": INDUCTION,
    "completeness": ALONE["completeness"],
    "bit-induction": ("bit-bmc", "bit-induction"),
    "templates": ("templates", "ic3"),  # engines that find lemmas for others
    "polynomial": ("polynomial", "ic3"),
}
VARIANTS = ("bit-bmc", "bit-induction", "spacer-local", "predicates-path")  # of engines with the same options
NO_IDEAS = ("seed", "steps")  # numbers that are no idea to leave out


def configurations(chosen, ablation, *, program):
    """The rows: names, engines, and their options."""
    if not ablation:
        table = {name: (engines, {}) for name, engines in ALONE.items()}
        return {name: row for name, row in table.items() if not chosen or name in chosen}
    names = [name for name, row in ENGINES.items() if (row.program if program else row.spec) or name in ALONE]
    table = {}
    for name in chosen or names:
        table |= of_options(name)
        if program:
            table |= {f"{row}{NO_BLOCKS}": how for row, how in of_options(name).items()}
    return table


def of_options(name):
    """The engine as it is, and with every other value of each of its options: a row for each idea. An engine with other
    defaults of the same options has one row."""
    table = {name: (BESIDE.get(name, (name,)), {})}
    for option in () if name in VARIANTS else options_of(ENGINES[name].options):
        for value in other_values(option):
            title = f"-{option.name}" if value is False else f"{option.name}={setting_text(value)}"
            table[f"{name} {title}"] = (table[name][0], {f"{name}.{option.name}": value})
    return table


def other_values(option):
    match option.kind:
        case Switch():
            return [not option.default]
        case Choice(values):
            return [value for value in values if value != option.default]
        case Number(least):
            return [] if option.name in NO_IDEAS else [least]


def problems(paths):
    for path in map(Path, paths):
        yield from sorted(p for p in path.rglob("*") if p.suffix in KINDS) if path.is_dir() else [path]


def attempt(equations, engines, options, seconds, blocks, answer):
    """Verdicts, CPU seconds, the seconds that checking took, and counts, of one run in this process."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(3 * seconds) + 10, int(3 * seconds) + 10))
    claims = equations
    bits = all(ENGINES[name].family == "bitwuzla" for name in engines)
    view, checker = views(claims, blocks=blocks)[-1 if bits else 0], Checker(claims)
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
    program = bool(files) and files[0].suffix in (".c", ".i", ".aut")
    table = configurations(given.engine, given.ablation, program=program)
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
