"""`prove TASK.yml`: the properties that a task file of the software verification competition names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import click

from streamcheck.core.errors import SpecError

if TYPE_CHECKING:
    from streamcheck.cli.prove import ProveOptions
    from streamcheck.problem.problem import Problem

TASKS = (".yml", ".yaml")
TRUE, FALSE, CONTRADICTED = 0, 1, 4  # exit statuses
Prove = Callable[[Sequence[tuple[str, "Problem"]], "ProveOptions"], int]


def prove_task(path: str, options: ProveOptions, prove: Prove) -> int:
    """Prove each property of the task in turn with `prove`. Returns the exit status: of the first that is not
    proved, or 4 if an answer is not the expected one."""
    from streamcheck.frontends.task import PROPERTIES, read_task
    from streamcheck.problem.automaton import Automaton
    from streamcheck.run.source import SourceOptions, Target, read

    task = read_task(path)
    wanted = [p for p in task.properties if p.name in PROPERTIES and p.expected is not None]
    others = [p.name for p in task.properties if p.name not in PROPERTIES and p.expected is not None]
    if not wanted:
        raise SpecError(f"{path} has no property that is supported: {', '.join(others) or 'it names none'}")
    for name in others:
        click.echo(f"note: the property {name} is not supported", err=True)
    reading = SourceOptions(options.integers, options.predicates, (), task.data_model, task.files[1:])
    (program,) = read(Target(task.files[0], None), options.timeout, reading)
    assert isinstance(program, Automaton)
    statuses = []
    for prop in wanted:
        claims = [e.name for e in program.errors if any(fnmatchcase(e.name, p) for p in PROPERTIES[prop.name])]
        claims += [e.name for e in program.errors if e.limit is not None]  # after which there may be more of them
        chosen = replace(options, props=tuple(claims))
        status = prove([(task.files[0], program)], chosen) if claims else TRUE
        answer = {TRUE: "true", FALSE: "false"}.get(status, "unknown")
        click.echo(f"{prop.name}: {answer}, expected {str(prop.expected).lower()}", err=True)
        statuses.append(CONTRADICTED if (status, prop.expected) in ((TRUE, False), (FALSE, True)) else status)
    return CONTRADICTED if CONTRADICTED in statuses else next((s for s in statuses if s != TRUE), TRUE)
