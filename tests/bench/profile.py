"""Where the time goes on one problem: the phases one after another in one process, in CPU seconds, as JSON.

    python tests/bench/profile.py FILE ENGINE [--limit SECONDS]

The command has the same phases in several processes, side by side. ENGINE is the one that decides the problem: it runs
alone here, or beside those whose worker it shares in the command. `tests/bench/lustre.py --profile` shows these for the
median problem and the slowest ones.
"""

from __future__ import annotations

import argparse
import importlib
import json
import time


class Phases:
    """CPU seconds by name, each from where the last one ended."""

    def __init__(self):
        self.seconds = {"python": time.process_time()}
        self._last = time.process_time()

    def ended(self, name):
        now = time.process_time()
        self.seconds[name] = now - self._last
        self._last = now


def timed(owner, name, spent):
    """From now on, what this method takes is added to `spent`."""
    method = getattr(owner, name)

    def wrapper(*args, **options):
        began = time.process_time()
        try:
            return method(*args, **options)
        finally:
            spent.append(time.process_time() - began)

    setattr(owner, name, wrapper)


def decided(model, engine, limit, phases):
    """Runs the engine until it has decided the first property; what it says."""
    import z3

    from streamcheck.engines.protocol import Task
    from streamcheck.problem.verdict import Falsified, Proved
    from streamcheck.run.registry import build
    from streamcheck.run.strategy import FIRST
    from streamcheck.run.workers import Turns

    together = FIRST if engine in FIRST else (engine,)
    build(together)
    phases.ended("loading the engines")
    in_solver, said = [], []
    timed(z3.Solver, "check", in_solver)
    timed(z3.Fixedpoint, "query", in_solver)
    turns = Turns(lambda: build(together), Task(model.system), head_starts=True)
    deadline = time.process_time() + limit

    def tell(_, event):
        if isinstance(event, Proved | Falsified):
            said.append(event)

    while turns.running and not said and time.process_time() < deadline and not turns.round(tell):
        pass
    phases.ended("engine: python")
    phases.seconds["engine: solver"] = sum(in_solver)
    phases.seconds["engine: python"] -= sum(in_solver)
    return said


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("engine")
    parser.add_argument("--limit", type=float, default=20.0)
    options = parser.parse_args()
    phases = Phases()
    importlib.import_module("streamcheck.cli.prove")
    importlib.import_module("streamcheck.run.prove")
    from streamcheck.problem.problem import claim_named
    from streamcheck.run.source import Target, read
    from streamcheck.transform.views import views

    phases.ended("loading the command")
    (equations,) = read(Target(options.file, None))
    phases.ended("reading")
    claims = equations
    model = views(claims)[0]
    phases.ended("modelling")
    said = decided(model, options.engine, options.limit, phases)
    from streamcheck.certify.check import Checker
    from streamcheck.certify.replay import replay
    from streamcheck.certify.solvers import warm_up

    warm_up()
    phases.ended("loading the checker")
    for event in said[:1]:
        if hasattr(event, "certificate"):
            assert Checker(claims).check(event.prop, model.back(event.certificate)) is None
        else:
            assert not isinstance(replay(claims, claim_named(claims, event.prop), model.back(event.trace)), str)
        phases.ended("checking")
    print(json.dumps({name: round(seconds, 3) for name, seconds in phases.seconds.items()} | {"decided": bool(said)}))


if __name__ == "__main__":
    main()
