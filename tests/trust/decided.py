"""Small random specs against all their states: each engine alone, and the command.

Engines run here, without processes: what an engine claims counts, whether or not the checker would accept it.
"""

from importlib import import_module
from pkgutil import walk_packages

from trust.apart import answers
from trust.figure import Figure
from trust.small_specs import small_spec
from trust.states import TooMany, first_violations

from streamcheck.engines.protocol import Task
from streamcheck.lang.flatten import flatten
from streamcheck.problem.claim import Goal
from streamcheck.problem.specification_json import to_plain
from streamcheck.problem.verdict import Falsified, Proved
from streamcheck.run.registry import ENGINES, build, options_from
from streamcheck.run.workers import Turns
from streamcheck.transform.views import views

IN_A_PROCESS = 20  # specs
PROCESS_SECONDS = 900.0
SECONDS = 1.5  # of the command
ROUNDS, PATIENCE, WORK = 15, 100_000, 200_000  # of an engine, of a query, of all queries of an engine (z3's units)
ALONE = [name for name, row in ENGINES.items() if row.spec is not None]
IN_WORKERS = ("engines", "invariants", "smt", "transform", "certify")
SOLVERS = ("z3", "cvc5", "bitwuzla")


def states(count, seed):
    """So many specs."""
    figure = Figure("small random specs, the command and each engine alone against all states")
    import_all()
    batches = [range(at, min(at + IN_A_PROCESS, seed + count)) for at in range(seed, seed + count, IN_A_PROCESS)]
    for batch, found in zip(batches, answers(together, batches, PROCESS_SECONDS), strict=True):
        if isinstance(found, str):
            figure.wrong.append(f"seeds {batch[0]} to {batch[-1]}: {found}")
        else:
            figure.tried.update(found[0])
            figure.wrong += found[1]
    return figure


def together(numbers):
    """What was tried of the specs with these numbers, and what is wrong."""
    figure = Figure("")
    for number in numbers:
        spec, values = small_spec(number)
        problem = flatten(spec)
        try:
            first = first_violations(to_plain(problem), values)
        except TooMany:
            figure.tried["specs with too many states"] += 1
            continue
        figure.tried["specs"] += 1
        by_an_engine(figure, number, problem, first)
        by_the_command(figure, number, spec, first)
    return dict(figure.tried), figure.wrong


def by_an_engine(figure, number, problem, first):
    """Engines take turns with the specs, each over one of the integer models. One whose facts the engine cannot do
    without runs beside it."""
    engine = ALONE[number % len(ALONE)]
    engines = tuple(dict.fromkeys(filter(None, (ENGINES[engine].spec.beside, engine))))
    models = views(problem)
    view, found, work = models[number // len(ALONE) % len(models)], {}, work_counter()
    turns = Turns(lambda: build(engines, options_from({})), Task(view.system, PATIENCE))
    before = work()
    for _ in range(ROUNDS):
        is_over = turns.round(lambda _, event: found.setdefault(event.prop, event) if is_answer(event) else None)
        if is_over or not turns.running or len(found) == len(problem.properties) or work() - before > WORK:
            break
    for name, event in found.items():
        figure.tried[f"answers by {engine}"] += 1
        truth, where = first[name], f"seed {number}, {engine} over {view.model}: {name}"
        if isinstance(event, Proved) is not (truth is None):
            figure.wrong.append(f"{where}: {event}, but {truth}")
        elif isinstance(event, Falsified) and view.back(event.trace).length < truth + 1:
            figure.wrong.append(f"{where}: the run is too short")


def is_answer(event):
    return isinstance(event, Proved | Falsified)


def by_the_command(figure, number, spec, first):
    for result in spec.prove(timeout=SECONDS, jobs=1):
        figure.tried["answers by the command"] += result.verdict != "unknown"
        if (wrong := disagreement(result, first[result.name])) is not None:
            figure.wrong.append(f"seed {number}, the command: {result.name}: {wrong}")


def work_counter():
    return import_module("streamcheck.smt.work").work_done


def import_all():
    """What workers and checkers import, so that their forks need not, each anew."""
    for name in SOLVERS:
        import_module(name)
    for room in IN_WORKERS:
        for found in walk_packages(import_module(f"streamcheck.{room}").__path__, f"streamcheck.{room}."):
            import_module(found.name)


def disagreement(result, first):
    """`first`: the step at which some run first breaks the property, or meets it if it is an existence."""
    is_existence = result.prop.goal is Goal.REACHABLE
    if result.verdict == "unknown":
        if first is not None and result.depth is not None and result.depth >= first:
            return f"nothing up to step {result.depth}, but there is at step {first}"
        return None
    if (result.verdict == ("proved" if is_existence else "falsified")) != (first is not None):
        return f"{result.verdict}, but {'a' if first is not None else 'no'} run decides otherwise"
    if first is not None and not is_existence and len(result.counterexample) < first + 1:
        return f"a run of {len(result.counterexample)} steps, but the shortest has {first + 1}"
    return None
