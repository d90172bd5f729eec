"""The largest or smallest of the last n values in constant time on average, as C.

The array holds a block of n values at a time. The values of the block that is being filled are kept as they are, and
their extreme beside them. Once in n steps, when the block is full, each element becomes the extreme of itself and those
after it: so the element at the index is the extreme of what is left of the block before.
"""

from __future__ import annotations

from collections.abc import Iterator

from streamcheck.codegen import text
from streamcheck.codegen.lower import Extreme
from streamcheck.core.operators import c_type
from streamcheck.problem.places import Window


def window_functions(extreme: Extreme, window: Window, places: list[str], given: str, changed: str) -> Iterator[str]:
    """The functions that return the extreme and that replace the oldest value. `given` and `changed`: their parameters
    for the state."""
    type, index, count = c_type(extreme.ring.type), c_type(extreme.ring.index), len(extreme.ring.cells)
    array, at, recent = places
    less = "<" if extreme.operator == "max" else ">"
    best = "largest" if extreme.operator == "max" else "smallest"
    yield text.comment(f"the {best} of the last {count}")
    yield from (
        f"static {type} {window.best}({given})",
        "{",
        f"    const {type} oldest = {array}[{at}];",
        f"    return oldest {less} {recent} ? {recent} : oldest;",
        "}",
        "",
        text.comment(
            f"once in {count} calls {count - 1} rounds, else none: each element is made the {best} from it on"
        ),
        f"static void {window.push}({changed}{type} newest)",
        "{",
        f"    {array}[{at}] = newest;",
        f"    {recent} = {recent} {less} newest ? newest : {recent};",
        f"    if ({at} < {count - 1}u) {{",
        f"        {at} = ({index})({at} + 1u);",
        "    } else {",
        f"        {at} = 0u;",
        f"        {recent} = {text.initial_text(extreme.neutral)};",
        f"        for (uint32_t i = {count - 1}u; i > 0u; i--) {{",
        f"            {array}[i - 1u] = {array}[i - 1u] {less} {array}[i] ? {array}[i] : {array}[i - 1u];",
        "        }",
        "    }",
        "}",
        "",
    )
