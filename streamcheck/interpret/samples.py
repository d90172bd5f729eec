"""The inputs of a run: lists, iterators or functions of the step, checked value by value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count, islice
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


def feed(name: str, type: Type, samples: Any, where: Location | None) -> Iterator[Value]:
    """The values of one input. OutOfSamples names the input and the step if there are no more."""
    check = checker(type)
    step = -1
    for step, value in enumerate(_raw(name, samples, where)):
        try:
            yield check(value)
        except Misfit as why:
            raise SpecError(f'the sample of extern "{name}" at step {step}: {why}', where) from None
    raise OutOfSamples(f'extern "{name}" has no sample for step {step + 1}', where)


def _raw(name: str, samples: Any, where: Location | None) -> Iterator[Any]:
    if callable(samples):
        return map(samples, count())
    if isinstance(samples, Iterable):
        return iter(samples)
    raise SpecError(
        f'the samples of extern "{name}" are {samples!r}', where, write="a list, an iterator or a function of the step"
    )


def rows(
    inputs: Iterable[tuple[str, Type, Location | None]], samples: Mapping[str, Any], steps: int | None
) -> Iterator[tuple[Value, ...]]:
    """The rows of a run: one value for each input, in order."""
    feeds = []
    for name, type, where in inputs:
        if samples.get(name) is None:
            raise SpecError(
                f'input "{name}" has no samples',
                where,
                write=f'extern("{name}", {type}, samples=[…]), or give its values to the run',
            )
        feeds.append(feed(name, type, samples[name], where))
    if not feeds:
        return islice(iter(lambda: (), None), steps)
    return islice(zip(*feeds, strict=False), steps)
