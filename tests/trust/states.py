"""All states of a small spec, one after the other, by the evaluator: at which step some run first breaks a property."""

import itertools

from trust.evaluator import Evaluator

MOST_STATES = 3_000


class TooMany(Exception):
    """The spec has more states than are looked at."""


def first_violations(equations, values_of):
    """For each property the first step at which some run breaks it (or, of an existence, meets it), or None.
    `values_of` has all values of an input, by its name. Raises TooMany."""
    evaluator = Evaluator(equations)
    known = evaluator.constants
    cells = equations["cells"]
    names = [c["name"] for c in cells]
    found = dict.fromkeys(p["name"] for p in equations["properties"])
    inputs = [i["name"] for i in equations["inputs"]]
    every = [dict(zip(inputs, row, strict=True)) for row in itertools.product(*(values_of[i] for i in inputs))]
    frontier = [tuple(known[c["initial"]] for c in cells)]
    seen, step = {frontier[0]}, 0
    while frontier:
        following = []
        for state in frontier:
            given = dict(zip(names, state, strict=True))
            for row in every:
                values = evaluator.values({**given, **row})
                if not all(values[a["term"]] for a in equations["assumptions"]):
                    continue
                for p in equations["properties"]:
                    if found[p["name"]] is None and values[p["term"]] is (p["goal"] == "reachable"):
                        found[p["name"]] = step
                after = tuple(values[c["next"]] for c in cells)
                if after not in seen:
                    seen.add(after)
                    following.append(after)
        if len(seen) > MOST_STATES:
            raise TooMany
        frontier, step = following, step + 1
    return found
