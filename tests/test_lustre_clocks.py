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
            inner = ("if", ("when", ("constant", True), slower[-1]), inner, inner)  # constants alone have no clock
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
        clock, kind = draw(st.sampled_from([*CLOCKS, D, D])), draw(st.sampled_from(["int", "int", "bool"]))
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
    """The output of `held`, by its definition; unknown from the first unknown condition on."""
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


@settings(max_examples=40, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


CLOCKED = "type mode = enum { Up, Down };\nnode part(c: bool; (x: int) when c) returns (z: int when c);\nlet z = x; tel"
VARIABLES = "s, t: int when c; n: int when not c; d: bool when c; k: int when Up(m); a: int^2 when c"


def clocked(body, **more):
    return node(body, **{"inputs": "x: int; b, c: bool; m: mode", "outputs": "y: int", "before": CLOCKED} | more)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("y = x when c;", "expected a flow on the base clock, found one on c"),
        ("y = x; s = x;", "s = …: expected a flow on c, found one on the base clock"),
        ("y = x + current(x);", "the operand of `current` is on the base clock"),
        ("y = current(1 -> 2);", "the operand of `current` is constant"),
        ("y = current(s + x); s = x when c;", "`+`: expected a flow on c, found one on the base clock"),
        ("y = current(if c then s else s); s = x when c;", "`if`: expected a flow on the base clock, found one on c"),
        ("y = current(s when b); s = x when c;", "what is sampled by b: expected a flow on the base clock"),
        ("y = current(x when b + x);", "`+`: expected a flow on b, found one on the base clock"),
        ("y = current(s); s = x when b;", "s = …: expected a flow on c, found one on b"),
        ("y = current(s); s = x when not c;", "expected a flow on c, found one on not c"),
        ("y = merge c (true -> s) (false -> x); s = x when c;", "the branch of `false`: expected a flow on not c"),
        ("y = merge c (true -> x) (false -> 0);", "the branch of `true`: expected a flow on c"),
        ("y = merge m (Up -> 1) (Down -> x when Up(m));", "the branch of `Down`: expected a flow on Down(m)"),
        ("y = current(part(c, x));", "x of part: expected a flow on c, found one on the base clock"),
        ("y = current(part(b, x when c));", "x of part: expected a flow on b, found one on c"),
        ("y = current(part(c or b, x when c));", "c is the clock of x of part: it needs a variable here"),
        ("y = current(part(true, x when c));", "c is the clock of x of part: it needs a variable here"),
        ("y = current((restart part every b)(c, x when c));", "part has variables on clocks: it cannot be"),
        ("y = current(x when m);", "the clock m is of type mode"),
        ("y = current(x when Up(c));", "Up is of type mode, the clock c of type Bool".replace("Bool", "bool")),
        ("y = current(x when Left(m));", "Left is not declared"),
        ("y = current(x when z);", "the clock z is not a variable of top"),
        ("y = current(x when true);", "expected a name"),
        ("y = when b then current(x when c) else 0;", "what is evaluated at some of the steps, or for each value, has"),
        ("y = match m with | Up: current(x when c) | Down: 0 end;", "or for each value, has `current` in it"),
        ("y = if (forall (i: int) i = current(x when c)) then 1 else 2;", "or for each value, has `current` in it"),
        ("y = x; a[i] = i;", "an equation for the elements of an array: expected a flow on the base clock"),
        ("y = x; assert x when c = 1 -> b;", "expected a flow on"),
    ],
)
def test_a_flow_on_another_clock_is_an_error_with_its_line(tmp_path, body, said):
    used = [name for name in ("s", "t", "n", "d", "k", "a") if re.search(rf"\b{name}(\[i\])? =", body)]
    local = "; ".join(f"{n}: {'int^2' if n == 'a' else 'bool' if n == 'd' else 'int'} when c" for n in used)
    with pytest.raises(SpecError, match=re.escape(said)) as caught:
        read(tmp_path, clocked(body, local=local))
    assert caught.value.where.line >= 4


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ("y: int; u: int when v; v: bool when u", "is on its own clock"),
        ("y: int; u: int when l", "cannot see l, the clock of u"),
    ],
)
def test_clocks_that_cannot_be_declared(tmp_path, declared, said):
    text = f"node top(x: int; c: bool) returns ({declared});\nvar l: bool;\nlet y = x; l = c; u = 1; v = 1 = 1; tel"
    text = text if "v:" in declared else text.replace("v = 1 = 1; ", "")
    with pytest.raises(SpecError, match=said):
        read(tmp_path, text)


def test_the_condition_of_a_type_is_about_the_clock_of_what_has_it(tmp_path):
    text = "node top(x: int; c: bool) returns (y: int);\nvar s: int | s > {} when c;\nlet s = 1; y = current s; tel"
    with pytest.raises(SpecError, match="expected a flow on c, found one on the base clock"):
        read(tmp_path, text.format("x"))
    assert verdicts(tmp_path, text.format("0")) == {"s is of its type": "proved"}
    assert verdicts(tmp_path, text.format("1")) == {"s is of its type": "falsified"}


def test_claims_and_assumptions_hold_at_the_steps_of_their_clock(tmp_path):
    body = "s = x when c; assert s > 0; y = current s;"
    claims = """
    check "assumed" s > 0;
    check "not assumed" x > 0;
    check "at all steps" y > 0;
    check "after the first" c => (y > 0 and (true -> (pre c => pre y > 0)));
    check reachable "reached" s = 3;
    check reachable "not reached" s = 0;
    check "guarded" s < 5 provided s < 5;
    """
    found = verdicts(tmp_path, clocked(body, local="s: int when c", claims=claims))
    assert found == {
        "assumed": "proved",
        "not assumed": "falsified",
        "at all steps": "falsified",
        "after the first": "proved",
        "reached": "proved",
        "not reached": "falsified",
        "guarded": "proved",
        "condition of guarded": "proved",
    }


def test_what_current_has_before_the_first_step_is_any_value_at_each_place(tmp_path):
    """Also after a restart, and of each `current` on its own."""
    before = "node kept(x: int; b: bool) returns (y: int); let y = current(x when b); tel"
    body = 'y = (restart kept every b)(x, c); s = x when c; check "same" current s = current s;'
    claims = 'check "kept" not b and not c => (y = 0 -> y = pre y); check "again" b and not c => (true -> y = pre y);'
    text = clocked(body, local="s: int when c", before=f"{CLOCKED}\n{before}", claims=claims)
    found = verdicts(tmp_path, text.replace("(y = 0 -> y = pre y)", "(true -> y = pre y)"))
    assert found == {"same": "falsified", "kept": "proved", "again": "falsified"}
    claim = 'check "each pre" c => (true -> current(pre s) = current(pre s));'  # at the first step of c
    found = verdicts(tmp_path, clocked("s = x when c; y = x;", local="s: int when c", claims=claim))
    assert found == {"each pre": "falsified"}


def test_a_clock_on_a_clock_ticks_only_with_it(tmp_path):
    body = "d = b when c; n = 0 -> pre n + 1; y = current(current n);"
    found = ran(tmp_path, clocked(body, outputs="y: int; d: bool when c; n: int when d"),
                x=[0] * 6, b=[True] * 6, c=[True, False, False, True, False, True], m=[0] * 6)  # fmt: skip
    assert [found["n"][i] for i in (0, 3, 5)] == [0, 1, 2]


def test_priorities_are_those_of_v6(tmp_path):
    body = "s = 1 -> x when c; t = -7 + x when c; u = 0 fby x + 1; y = current s;"
    text = clocked(body, local="", outputs="y, u: int; s, t: int when c")
    found = ran(tmp_path, text, x=[5, 6, 7], b=[True] * 3, c=[False, True, True], m=[0] * 3)
    assert found["s"][1:] == [1, 7] and found["t"][1:] == [-1, 0] and found["u"] == [1, 6, 7]


def test_at_most_one_and_none(tmp_path):
    body = "y = #(p, q, r); z = nor(p, q, r); w = #(p); v = nor(p) -> #(pre p, p);"
    values = [(i & 1 == 1, i & 2 == 2, i & 4 == 4) for i in range(8)]
    p, q, r = (list(one) for one in zip(*values, strict=True))
    found = ran(tmp_path, node(body, inputs="p, q, r: bool", outputs="y, z, w, v: bool"), p=p, q=q, r=r)
    assert found["y"] == [sum(v) <= 1 for v in values] and found["z"] == [not any(v) for v in values]
    assert found["w"] == [True] * 8 and found["v"] == [True] * 8


def test_a_clock_that_is_an_output_of_a_call_gives_its_clock_to_the_other_outputs(tmp_path):
    split = "node split(x: int) returns (e: bool; v: int when e); let e = x > 0; v = x when e; tel"
    body = '(b, v) = split(x); y = current v; check "positive" b => y > 0; check "always" y > 0;'
    text = node(body, inputs="x: int", outputs="y: int; b: bool; v: int when b", before=split)
    assert verdicts(tmp_path, text) == {"positive": "proved", "always": "falsified"}
    with pytest.raises(SpecError, match="e is the clock of v of split: it needs a variable here"):
        read(tmp_path, node("y = current(split(x));", before=split))


def test_files_of_kind_2_keep_their_meaning(tmp_path):
    """`fby` binds loosely there, and a call that is a whole branch takes steps with it, whatever its arguments."""
    before = "node sum(x: int) returns (n: int); let n = x + (0 -> pre n); tel"
    body = "y = merge c (true -> sum(x) when c) (false -> 0 when not c); z = 0 fby x + 1;"
    text = node(body, inputs="x: int; c: bool", outputs="y, z: int", before=before)
    found = ran(tmp_path, text, x=[1, 2, 3], c=[True, False, True])
    assert found == {"y": [1, 0, 4], "z": [0, 2, 3]}


@pytest.mark.parametrize("name", ["current", "nor"])
def test_operators_of_v6_are_no_names_in_its_files(tmp_path, name):
    """In other files they are: a node called nor would be read as the operator."""
    before = f"node {name}(p, q: bool) returns (y: bool); let y = p and q; tel"
    with pytest.raises(SpecError, match=f"{name} is an operator of Lustre V6"):
        read(tmp_path, node(f"y = {name}(p, q) and #(p, q);", inputs="p, q: bool", outputs="y: bool", before=before))
    text = node("y = p and q;", inputs=f"p, q, {name}: bool", outputs="y: bool", claims=f"check {name} or not {name};")
    assert list(verdicts(tmp_path, text).values()) == ["proved"]
