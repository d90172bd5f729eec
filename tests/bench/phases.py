"""What one problem costs, phase by phase, in one process: a line `[name, CPU seconds, megabytes]` as each phase ends.

    python tests/bench/phases.py FILE [--compile] [--limit SECONDS]

The command has the same phases in several processes. The spec's process runs the user's Python (`loading`), evaluates
bodies (`elaborating`), makes equations (`flattening`, with the bodies of components if there will be C, and `its
check`) and writes them (`to JSON`); this one reads them (`receiving`, `from JSON`), makes the system that engines see
(`encoding`), writes the table and the JSON of the results, each property taken as proved (`report`), asks the first
engines until one has said something of a property (`first answer`; none after a quarter of the limit), and with
`--compile` makes the C and `its proof`. A program begins with `loading` by its front end. At the limit the process
ends; the megabytes are those that a phase adds at its peak.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import math
import resource
import time
from contextlib import suppress


def resident():
    """The megabytes of this process now, and at most so far."""
    with open("/proc/self/status", encoding="ascii") as file:
        rows = dict(line.split(":", 1) for line in file)
    return tuple(int(rows[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))


def show(row):
    print(json.dumps(row), flush=True)


def phase(name, work, told=show):
    """The result of this phase, whose costs are printed."""
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the peak is counted anew
    (before, _), began = resident(), time.process_time()
    result = work()
    seconds, megabytes = time.process_time() - began, resident()[1] - before
    told([name, round(seconds, 4), round(max(0.0, megabytes), 2)])
    return result


def spec_of(path, *, bodies):
    """The specification of a spec in Python, made in a process of its own and sent from there."""
    from streamcheck.problem.specification_json import from_plain
    from streamcheck.run.child import Child

    child = Child(lambda channel: send_specification(path, channel, bodies=bodies))
    try:
        while isinstance(record := child.channel.receive(None), list):
            show(record)
        text = record["text"]
        data = phase("receiving", lambda: json.loads(text))
        return phase("from JSON", lambda: from_plain(data))
    finally:
        child.end()


def send_specification(path, channel, *, bodies):
    from streamcheck.core.garbage import without_collection
    from streamcheck.lang.check_flattening import check_flattening
    from streamcheck.lang.elaborate import elaborate
    from streamcheck.lang.flatten import flatten
    from streamcheck.lang.flattening import Flattening
    from streamcheck.lang.load import in_user_terms, load
    from streamcheck.problem.specification_json import to_plain

    def flat():
        if elaborated.instances:
            return None, flatten(spec, bodies=bodies)
        flattening = Flattening(elaborated)
        return flattening, flattening.specification()

    with in_user_terms():
        (spec,) = phase("loading", lambda: load(path, None), channel.send)
    with in_user_terms(), without_collection():  # as `flatten` does it
        elaborated = phase("elaborating", lambda: elaborate(spec), channel.send)
        flattening, specification = phase("flattening", flat, channel.send)
        if flattening is not None:
            phase("its check", lambda: check_flattening(spec, flattening.terms, specification), channel.send)
    channel.send({"text": phase("to JSON", lambda: json.dumps(to_plain(specification)), channel.send)})


class Said(Exception):
    """An engine has said something of a property."""


def first_answer(view, limit):
    """True if the first engines say something of a property."""
    from streamcheck.engines.protocol import Task, TrueUpTo
    from streamcheck.problem.verdict import Falsified, Proved
    from streamcheck.run.registry import build
    from streamcheck.run.strategy import FIRST
    from streamcheck.run.workers import Turns

    turns = Turns(lambda: build(FIRST), Task(view.system), head_starts=True)
    deadline = time.process_time() + limit

    def tell(_, event):
        if isinstance(event, Proved | Falsified | TrueUpTo):
            raise Said

    with suppress(Said):
        while turns.running and time.process_time() < deadline and not turns.round(tell):
            pass
        return False
    return True


def report(problem):
    from streamcheck.problem.result import Result, Verdicts
    from streamcheck.report.verdicts import Report
    from streamcheck.report.verdicts_json import verdicts_json

    rest = ("proved", "k-induction", "bits", 1.0, None, None, None, 1, "inductive", False)
    results = [Result(p, *rest) for p in problem.properties]
    verdicts = Verdicts(problem, results, 1.0, [], True)
    written = Report(problem, True, None)
    lines = [written.title(), *(line for result in results for line in written.result(result))]
    return lines, json.dumps(verdicts_json(verdicts, "file", {}))


def compile_it(specification):
    from streamcheck.codegen.unit import CodeOptions, generate
    from streamcheck.validate.bisimulation import validate

    unit = phase("C", lambda: generate(specification, CodeOptions(observers=True)))
    outcome = phase("its proof", lambda: validate(unit.code))
    assert outcome.is_proved, outcome.failures


def measure(path, limit, *, compiles):
    from streamcheck.cli import OBJECTS

    gc.set_threshold(OBJECTS)  # as the command does
    for module in ("cli.prove", "run.prove", "lang.load", "engines.kinduction", "validate.bisimulation"):
        importlib.import_module(f"streamcheck.{module}")
    from streamcheck.run.registry import build
    from streamcheck.run.source import Target, read
    from streamcheck.run.strategy import FIRST, work_counter
    from streamcheck.transform.vacuity import with_vacuity_tests
    from streamcheck.transform.views import views

    build(FIRST)
    work_counter()()
    resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(time.process_time() + limit),) * 2)
    is_spec = path.endswith(".py")
    problem = spec_of(path, bodies=compiles) if is_spec else phase("loading", lambda: read(Target(path, None))[0])
    models = phase("encoding", lambda: views(with_vacuity_tests(problem) if is_spec else problem))
    phase("report", lambda: report(problem))
    told = []
    if phase("first answer", lambda: first_answer(models[0], limit / 4), told.append):
        show(*told)
    if compiles:
        compile_it(problem)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds for all phases")
    options = parser.parse_args()
    measure(options.file, options.limit, compiles=options.compile)


if __name__ == "__main__":
    main()
