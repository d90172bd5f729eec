"""Proofs among tests: `pytest specs/` proves each property, and `assert_proved` is for tests of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamcheck.api.commands import Commands
    from streamcheck.api.results import Results

__all__ = ["assert_proved"]


def assert_proved(spec: Commands, **options: Any) -> Results:
    """The results of `spec.prove(**options)`; AssertionError with the lines that the command prints if a property is
    not proved."""
    __tracebackhide__ = True
    results = spec.prove(**options)
    if not results.ok:
        raise AssertionError(f"not every property is proved\n{results}")
    return results
