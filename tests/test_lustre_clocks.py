"""The clocks of Lustre V6: random programs against a second reading, what is proved, and what is refused.

In the second reading a flow is a list with a value for each step of the main node: ABSENT outside of its clock, None
where nobody defines it. None spreads, and is not compared.
"""

from __future__ import annotations

import operator
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lustre_runs import node, ran, read, verdicts

from streamcheck import SpecError

STEPS = 8
ABSENT = object()
OPERATIONS = {
    "int": {"+": operator.add, "-": operator.sub},
    "bool": {"and": lambda a, b: a and b, "xor": operator.ne},
}
BASE = ()
C, NOT_C, D = (("c", True),), (("c", False),), (("c", True), ("d", True))
UP, DOWN = (("m", "Up"),), (("m", "Down"),)
CLOCKS = {BASE: [C, NOT_C, UP, DOWN], C: [D], NOT_C: [], D: [], UP: [], DOWN: []}  # and the slower ones
MERGES = {BASE: [("c", (True, False)), ("m", ("Up", "Down"))], C: [("d", (True, False))]}
HELPER = """
type mode = enum { Up, Down };
node held(x: int; b: bool) returns (y: int);
var h: int when b;
let
  h = (x when b) + (0 -> pre h);
  y = (current h) + (0 -> pre x);
tel
"""


@st.composite
def expressions(draw, clock, kind, names, depth=3):
    """(what, …) on that clock; `names` are (name, clock, kind) of what is defined already."""

    def sub(clock=clock, kind=kind):
        return draw(expressions(clock, kind, names, depth - 1))

    choices = ["name", "name", "constant"]
    if depth:
        choices += ["arrow", "pre", "fby", "operation", "if"]
        choices += ["current"] * 3 if CLOCKS[clock] else []
        choices += ["when"] * 3 if clock else []
        choices += ["merge"] * 2 if clock in MERGES else []
        choices += ["call", "restart"] if kind == "int" else []
    what = draw(st.sampled_from(choices))
    match what:
        case "when":
            return ("when", sub(clock[:-1]), clock[-1])
        case "current":
            slower = draw(st.sampled_from(CLOCKS[clock]))
            inner = sub(slower)
            if inner[0] == "constant":  # which has no clock
                inner = ("when", inner, slower[-1])
            return ("current", inner, slower[-1])
        case "merge":
            name, members = draw(st.sampled_from(MERGES[clock]))
            return ("merge", name, {m: sub((*clock, (name, m))) if (*clock, (name, m)) in CLOCKS else sub_of_merge(
                draw, (*clock, (name, m)), kind, names) for m in members})  # fmt: skip
        case "call" | "restart":
            return (what, sub(kind="int"), sub(kind="bool"), sub(kind="bool"))
        case "operation":
            return ("operation", draw(st.sampled_from(sorted(OPERATIONS[kind]))), sub(), sub(), kind)
        case "if":
            return ("if", sub(kind="bool"), sub(), sub())
        case "arrow" | "fby":
            return (what, sub(), sub())
        case "pre":
            return ("pre", sub())
    fitting = [n for n, c, k in names if c == clock and k == kind]
    if what == "name" and fitting:
        return ("name", draw(st.sampled_from(fitting)))
    return ("constant", draw(st.booleans()) if kind == "bool" else draw(st.integers(0, 3)))


def sub_of_merge(draw, clock, kind, names):
    """A branch on a clock that is in no table: a sample."""
    return ("when", draw(expressions(clock[:-1], kind, names, 1)), clock[-1])


@st.composite
def programs(draw):
    """The definitions: (name, clock, kind, expression)."""
    names = [("x", BASE, "int"), ("p", BASE, "bool"), ("c", BASE, "bool"), ("d", C, "bool")]
    definitions = []
    for i in range(draw(st.integers(2, 5))):
        clock, kind = draw(st.sampled_from(list(CLOCKS))), draw(st.sampled_from(["int", "int", "bool"]))
        e = draw(expressions(clock, kind, names))
        definitions.append((f"y{i}", clock, kind, e))
        names.append((f"y{i}", clock, kind))
    return definitions


def condition(name, value):
    return f"{value}({name})" if isinstance(value, str) else name if value else f"not {name}"


def written(e):
    match e:
        case ("name", name):
            return name
        case ("constant", value):
            return str(value).lower()
        case ("when", a, sample):
            return f"({written(a)} when {condition(*sample)})"
        case ("current", a, _):
            return f"(current {written(a)})"
        case ("merge", name, branches):
            return f"(merge {name} " + " ".join(f"({str(m).lower() if m in (True, False) else m} -> {written(a)})" for m, a in branches.items()) + ")"  # fmt: skip  # noqa: E501
        case ("call", x, b, _):
            return f"held({written(x)}, {written(b)})"
        case ("restart", x, b, r):
            return f"(restart held every {written(r)})({written(x)}, {written(b)})"
        case ("operation", op, a, b, _):
            return f"({written(a)} {op} {written(b)})"
        case ("if", *parts):
            return "(if {} then {} else {})".format(*map(written, parts))
        case ("arrow", a, b):
            return f"({written(a)} -> {written(b)})"
        case ("fby", a, b):
            return f"({written(a)} fby {written(b)})"
        case ("pre", a):
            return f"(pre {written(a)})"
    raise AssertionError(e)


def declared(name, clock, kind):
    return f"{name}: {kind}" + (f" when {condition(*clock[-1])}" if clock else "")


def program(definitions):
    outputs = ["d: bool when c", *(declared(*one[:3]) for one in definitions)]
    body = "\n".join(f"  {name} = {written(e)};" for name, _, _, e in definitions)
    return f"""{HELPER}
node top(x: int; p, c: bool; m: mode) returns ({"; ".join(outputs)});
let
  d = not (p when c);
{body}
  --%MAIN;
tel
"""


# The second reading


def strict(function, *operands):
    return [ABSENT if ABSENT in v else None if None in v else function(*v) for v in zip(*operands, strict=True)]


def before(flow, first):
    result, last = [], first
    for value in flow:
        result.append(ABSENT if value is ABSENT else last(value) if callable(last) else last)
        last = value if value is not ABSENT else last
    return result


def sampled(flow, clock, value):
    return [v if k is not ABSENT and k == value else ABSENT for v, k in zip(flow, clock, strict=True)]


def latest(flow, clock):
    result, last = [], None
    for value, k in zip(flow, clock, strict=True):
        last = value if value is not ABSENT else last
        result.append(ABSENT if k is ABSENT else last)
    return result


def held(x, b):
    """The helper's output, by its definition; unknown from the first unknown condition on."""
    result, total, seen, last = [], 0, None, 0
    lost = False
    for value, condition in zip(x, b, strict=True):
        if value is ABSENT:
            result.append(ABSENT)
            continue
        lost = lost or condition is None
        if condition:
            total = None if total is None or value is None else total + value
            seen = total
        result.append(None if lost or seen is None or last is None else seen + last)
        last = value
    return result


def restarted(x, b, r):
    result = [ABSENT if v is ABSENT else None for v in x]
    begun = 0
    for end in [*(i for i, v in enumerate(r) if v is True), len(x)]:
        result[begun:end] = held(x[begun:end], b[begun:end])
        begun = end
    unknown = next((i for i, v in enumerate(r) if v is None), len(r))
    return [v if v is ABSENT or i < unknown else None for i, v in enumerate(result)]


def ticks(clock, env):
    present = [True] * STEPS
    for name, value in clock:
        present = [v is not ABSENT and here and v == value for v, here in zip(env[name], present, strict=True)]
    return present


def flow(e, clock, env):
    def sub(a, on=clock):
        return flow(a, on, env)

    match e:
        case ("name", name):
            return env[name]
        case ("constant", value):
            return [value if here else ABSENT for here in ticks(clock, env)]
        case ("when", a, sample):
            return sampled(sub(a, clock[:-1]), env[sample[0]], sample[1])
        case ("current", a, sample):
            return latest(sub(a, (*clock, sample)), env[sample[0]])
        case ("merge", name, branches):
            flows = {m: sub(a, (*clock, (name, m))) for m, a in branches.items()}
            return [ABSENT if k is ABSENT else flows[k][i] for i, k in enumerate(env[name])]
        case ("call", x, b, _):
            return held(sub(x), sub(b))
        case ("restart", x, b, r):
            return restarted(sub(x), sub(b), sub(r))
        case ("operation", op, a, b, kind):
            return strict(OPERATIONS[kind][op], sub(a), sub(b))
        case ("if", c, a, b):
            truth = zip(sub(c), sub(a), sub(b), strict=True)
            return [v[0] if v[0] in (ABSENT, None) else v[1] if v[0] else v[2] for v in truth]
        case ("arrow", a, b):
            first = next((i for i, here in enumerate(ticks(clock, env)) if here), STEPS)
            return [v if i <= first else w for i, (v, w) in enumerate(zip(sub(a), sub(b), strict=True))]
        case ("fby", a, b):
            return flow(("arrow", a, ("pre", b)), clock, env)
        case ("pre", a):
            return before(sub(a), None)
    raise AssertionError(e)


@settings(max_examples=120, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(definitions=programs(), data=st.data())
def test_random_programs_mean_what_the_second_reading_says(tmp_path, definitions, data):
    def drawn(values):
        return data.draw(st.lists(values, min_size=STEPS, max_size=STEPS))

    inputs = {"x": drawn(st.integers(-3, 3)), "p": drawn(st.booleans()), "c": drawn(st.booleans())}
    inputs["m"] = drawn(st.integers(0, 1))
    env = inputs | {"m": [("Up", "Down")[i] for i in inputs["m"]]}
    env["d"] = [not p if c else ABSENT for p, c in zip(inputs["p"], inputs["c"], strict=True)]
    found = ran(tmp_path, program(definitions), **inputs)
    for name, clock, _, e in definitions:
        env[name] = flow(e, clock, env)
        for i, value in enumerate(env[name]):
            if value is not ABSENT and value is not None:
                assert found[name][i] == value, f"{name} at step {i} of\n{program(definitions)}"
