"""Unit tests in C for the generated monitor, on the runs of a suite or on counterexamples and witnesses."""

from __future__ import annotations

from collections.abc import Sequence

from streamcheck import __version__
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.deliver.replays import TestRun, replay_data
from streamcheck.deliver.templates import wrap
from streamcheck.problem.specification import Specification
from streamcheck.problem.test_suite import ExternRow


def c_test(specification: Specification, runs: Sequence[Sequence[ExternRow]]) -> dict[str, str]:
    """The file, for the C that `compile` writes without options. SpecError if the spec has no such C."""
    names = {i.var: i.name for i in specification.inputs}
    named = [
        TestRun(f"run {i}", tuple({names[v]: value for v, value in row.items()} for row in rows))
        for i, rows in enumerate(runs, 1)
    ]
    return c_test_of_runs(specification, named)


def c_test_of_runs(specification: Specification, runs: Sequence[TestRun]) -> dict[str, str]:
    """The same, for runs with names."""
    if not specification.triggers:
        raise SpecError(f"{specification.name} has no trigger, so its C would do nothing")
    unit = generate(specification, CodeOptions())
    headers = [{"name": name} for name in unit.code.files if name.endswith(".h")]
    data = {**unit.interface, "version": __version__, "headers": headers}
    data |= replay_data(unit.code, runs, [given["name"] for given in unit.interface["inputs"]])
    return wrap("test", data, unit.code.files)
