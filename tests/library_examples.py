"""The timing diagrams in the docstrings of the library: rows of input values, then an expression and its values."""

from __future__ import annotations

import streamcheck
from streamcheck import Bool, Double, Spec, Stream, Word8, extern


def diagram_of(docstring: str) -> tuple[dict[str, list[str]], str, list[str]] | None:
    """The inputs, the expression and its values; None if the docstring has no diagram."""
    rows = [line.strip() for line in docstring.rstrip().rpartition("\n\n")[2].splitlines()]
    if not rows or not all("  " in row for row in rows):
        return None
    parts = [row.partition("  ") for row in rows]
    *inputs, (expression, _, values) = [(name, gap, rest.split()) for name, gap, rest in parts]
    return {name: given for name, _, given in inputs}, expression, values


def values_of(inputs: dict[str, list[str]], expression: str, steps: int) -> list[str]:
    """The values of the expression, as texts: 0 and 1 for Bool."""
    names = {name: getattr(streamcheck, name) for name in streamcheck.__all__}
    for name, row in inputs.items():
        numbers = [float(v) if "." in v else int(v) for v in row]
        if set(numbers) <= {0, 1}:
            names[name] = extern(name, Bool, [v == 1 for v in numbers])
        else:
            names[name] = extern(name, Double if any(isinstance(v, float) for v in numbers) else Word8, numbers)
    shown: Stream = eval(expression, names)
    spec = Spec("example")
    spec.observer("shown", shown)
    return [_text(step.observers["shown"]) for step in spec.run(steps)]


def _text(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(getattr(value, "name", value))
