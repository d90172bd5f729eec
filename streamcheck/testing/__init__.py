"""Proofs among tests: `pytest specs/` proves each property; the functions here are for tests of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from streamcheck.api.arguments import PathText
    from streamcheck.api.commands import Commands
    from streamcheck.api.results import Results
    from streamcheck.api.runs import RunInputs

__all__ = ["assert_on_run", "assert_proved", "assert_same", "runs_of"]


def assert_proved(spec: Commands, **options: Any) -> Results:
    """The results of `spec.prove(**options)`; AssertionError with the lines that the command prints if a property is
    not proved."""
    __tracebackhide__ = True
    results = spec.prove(**options)
    if not results.ok:
        raise AssertionError(f"not every property is proved\n{results}")
    return results


def assert_on_run(spec: Commands, prop: str, inputs: RunInputs) -> None:
    """AssertionError with the run if this property is false at some step of the run with these inputs (what
    `spec.run(inputs=…)` takes), or, of a `spec.exists`, true at none. Steps count until an assumption is false."""
    __tracebackhide__ = True
    from streamcheck.api.run_tests import mistake_on_run

    mistake = mistake_on_run(spec, prop, inputs)
    if mistake:
        raise AssertionError(mistake)


def assert_same(spec: Commands, c_directory: PathText, timeout: float = 60.0) -> Results:
    """The proof that the C in this directory, which `compile` wrote, calls the handlers that the spec calls, with the
    same arguments; AssertionError with the run on which it does not, or the reason why it is not known."""
    __tracebackhide__ = True
    from streamcheck.api.equality import same_as_c

    results = same_as_c(spec, c_directory, timeout)
    if not results.ok:
        raise AssertionError(f"the C is not proved to be the same\n{results}")
    return results


def runs_of(spec: Commands, *, max_steps: int = 20) -> SearchStrategy[list[dict[str, Any]]]:
    """A strategy of hypothesis, which draws runs that meet the assumptions: of at most so many steps, each a dictionary
    of inputs, which `spec.run(inputs=…)` takes. Where drawn values break an assumption, a solver looks for the nearest
    that meet it; if none are found, the run ends before."""
    from streamcheck.testing.strategies import assumed_runs

    return assumed_runs(spec, max_steps)
