"""The inputs of a run: lists, iterators or functions of the step, checked value by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.types import MachineType, Misfit, Type, Value, belongs


class OutOfSamples(SpecError):
    """An input has no value for a step."""


def checker(type: Type) -> Callable[[Any], Value]:
    """`belongs` for this type, fast for values that need no conversion."""
    if isinstance(type, MachineType):
        low, high = type.low, type.high

        def machine(value: Any) -> Value:
            return value if value.__class__ is int and low <= value <= high else belongs(type, value)

        return machine
    return lambda value: belongs(type, value)


def feed(name: str, type: Type, values: Any, where: Location | None) -> Iterator[Value]:
    """The samples of one extern. OutOfSamples names it and the step if there are no more."""
    extern = f'extern "{name}"'
    raw = _raw(f"the samples of {extern}", values, where)
    return _values(type, raw, f"the sample of {extern}", f"{extern} has no sample", where)


def given_values(name: str, type: Type, values: Any) -> Iterator[Value]:
    """The same of values that are given to a run in place of samples."""
    what = f"inputs[{name!r}]"
    return _values(type, _raw(what, values, None), what, f"{what} has no value", None)


def _raw(what: str, values: Any, where: Location | None) -> Iterator[Any]:
    if callable(values):
        return map(values, count())
    if isinstance(values, Iterable):
        return iter(values)
    write = "a list, an iterator or a function of the step"
    raise SpecError(f"{what}: expected a value for each step, found {values!r}", where, write=write)


def _values(type: Type, values: Iterator[Any], what: str, end: str, where: Location | None) -> Iterator[Value]:
    check = checker(type)
    step = -1
    for step, value in enumerate(values):
        try:
            yield check(value)
        except Misfit as why:
            raise SpecError(f"{what} at step {step}: {why}", where) from None
    raise OutOfSamples(f"{end} for step {step + 1}", where)


def rows(
    inputs: Iterable[tuple[str, Type, Location | None]], samples: Mapping[str, Any]
) -> Iterator[tuple[Value, ...]]:
    """The rows of a run: one value for each input, in order. Without inputs they have no end."""
    feeds = []
    for name, type, where in inputs:
        if samples.get(name) is None:
            raise SpecError(
                f'input "{name}" has no samples',
                where,
                write=f'extern("{name}", {type}, samples=[…]), or give its values to the run',
            )
        feeds.append(feed(name, type, samples[name], where))
    return zip(*feeds, strict=False) if feeds else iter(lambda: (), None)
