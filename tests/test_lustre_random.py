"""Random Lustre programs against a second reading of the language, written from its definition.

A stream is a function of the step. An instance under a clock sees the steps at which the clock is true, one that is
restarted those since it was; what nobody defines is None, spreads, and is not compared.
"""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lustre_runs import ran

STEPS = 7
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: a == b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "=>": lambda a, b: not a or b,
    "xor": lambda a, b: a != b,
}
CALLS = ["call", "condact", "restart", "activate"]
NUMBERS, RELATIONS, LOGIC = ("+", "-", "*"), ("<", "="), ("and", "or", "=>", "xor")


SUM = ("arrow", ("name", "x"), ("pre", ("operation", "+", ("name", "z"), ("constant", 1))))

# Programs: a node is its name, its outputs' definitions in order, and the kinds of its two inputs


@st.composite
def expressions(draw, kind, names, later, nodes, depth=3):
    """(what, …) of that kind; `names` are defined at the same step, `later` under `pre` only."""

    def sub(kind, *, more=()):
        return draw(expressions(kind, names + list(more), later, nodes, depth - 1))

    choices = ["name", "constant"]
    if depth:
        choices += ["if", "arrow", "arrow", "pre", "operation", "operation"]
        choices += CALLS if nodes and kind == "int" else []
    if depth == 3 and nodes and kind == "int":
        choices = CALLS  # the definition of an output: what is called is seen
    what = draw(st.sampled_from(choices))
    if what in CALLS:
        node = draw(st.sampled_from(nodes))
        args = (sub("int"), sub("bool"))
        clocks = [draw(st.sampled_from(["b", "c"])) for _ in range(2)]
        return (what, node, args, *clocks, sub("int"))
    if what == "if":
        return ("if", sub("bool"), sub(kind), sub(kind))
    if what == "arrow":
        return ("arrow", sub(kind), sub(kind))
    if what == "pre":
        return ("pre", draw(expressions(kind, names + later, later, nodes, depth - 1)))
    if what == "operation":
        if kind == "int":
            return ("operation", draw(st.sampled_from(NUMBERS)), sub("int"), sub("int"))
        if draw(st.booleans()):
            return ("operation", draw(st.sampled_from(RELATIONS)), sub("int"), sub("int"))
        return ("operation", draw(st.sampled_from(LOGIC)), sub("bool"), sub("bool"))
    fitting = [n for n, k in names if k == kind]
    if what == "name" and fitting:
        return ("name", draw(st.sampled_from(fitting)))
    return ("constant", draw(st.booleans()) if kind == "bool" else draw(st.integers(-2, 3)))


@st.composite
def programs(draw):
    nodes = []
    for i in range(draw(st.integers(2, 3))):
        inputs = [("x", "int"), ("b", "bool"), ("c", "bool")]
        variables = [("y", "int"), ("p", "bool"), ("z", "int")]
        definitions, before = {}, list(inputs)
        for j, (name, kind) in enumerate(variables):
            definitions[name] = draw(expressions(kind, before, variables[j:], list(nodes)))
            before.append((name, kind))
        if not nodes:  # what the others call has a memory
            definitions["z"] = ("operation", "+", definitions["z"], SUM)
        nodes.append((f"n{i}", definitions))
    return nodes


def written(e):
    match e:
        case ("name", name):
            return name
        case ("constant", value):
            return str(value).lower() if value >= 0 else f"({value})"
        case ("if", *parts):
            return "(if {} then {} else {})".format(*map(written, parts))
        case ("arrow", a, b):
            return f"({written(a)} -> {written(b)})"
        case ("pre", a):
            return f"(pre {written(a)})"
        case ("operation", op, a, b):
            return f"({written(a)} {op} {written(b)})"
        case (what, (node, _), args, clock, restart, default):
            given = f"({', '.join(map(written, args))}, {restart})"
            return {
                "call": f"{node}{given}",
                "condact": f"condact({clock}, {node}{given}, {written(default)})",
                "restart": f"(restart {node} every {restart}){given}",
                "activate": f"(activate (restart {node} every {restart}) every {clock} initial default "
                f"{written(default)}){given}",
            }[what]
    raise AssertionError(e)


def program(nodes):
    text = []
    for i, (name, definitions) in enumerate(nodes):
        last = i == len(nodes) - 1
        outputs = "y: int; p: bool; z: int" if last else "z: int"
        local = "" if last else "var y: int; p: bool;"
        body = "\n".join(f"  {v} = {written(e)};" for v, e in definitions.items())
        mark = "--%MAIN;\n" if last else ""
        text.append(f"node {name}(x: int; b, c: bool) returns ({outputs});\n{local}\nlet\n{body}\n{mark}tel\n")
    return "".join(text)


# The second reading


class Instance:
    """`inputs` are functions of the instance's own step."""

    def __init__(self, node, inputs):
        self.definitions = node[1]
        self.inputs = inputs
        self.known = {}
        self.children = {}

    def at(self, name, i):
        if name in self.inputs:
            return self.inputs[name](i)
        if (name, i) not in self.known:
            self.known[name, i] = self.value(self.definitions[name], i)
        return self.known[name, i]

    def value(self, e, i):
        match e:
            case ("name", name):
                return self.at(name, i)
            case ("constant", value):
                return value
            case ("if", condition, a, b):
                truth = self.value(condition, i)
                return None if truth is None else self.value(a if truth else b, i)
            case ("arrow", a, b):
                return self.value(b if i else a, i)
            case ("pre", a):
                return self.value(a, i - 1) if i else None
            case ("operation", op, a, b):
                left, right = self.value(a, i), self.value(b, i)
                return None if left is None or right is None else OPERATIONS[op](left, right)
        return self.called(e, i)

    def called(self, e, i):
        what, _, _, clock, restart, default = e
        ticks = list(range(i + 1))
        used = [clock] * (what in ("condact", "activate")) + [restart] * (what in ("restart", "activate"))
        if any(self.at(name, j) is None for name in used for j in ticks):
            return None
        if what in ("condact", "activate"):
            ticks = [j for j in ticks if self.at(clock, j)]
            if not ticks:
                return self.value(default, 0)
        begun = 0
        if what in ("restart", "activate"):
            begun = max([k for k, j in enumerate(ticks) if self.at(restart, j)], default=0)
        return self.child(e, begun, ticks).at("z", len(ticks) - 1 - begun)

    def child(self, e, begun, ticks):
        key = (id(e), begun)
        if key not in self.children:
            seen = []
            x, b = e[2]
            inputs = {
                "x": lambda k: self.value(x, seen[begun + k]),
                "b": lambda k: self.value(b, seen[begun + k]),
                "c": lambda k: self.at(e[4], seen[begun + k]),
            }
            self.children[key] = Instance(e[1], inputs), seen
        child, seen = self.children[key]
        seen[:] = ticks if len(ticks) > len(seen) else seen
        return child


@settings(max_examples=250, deadline=None, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(nodes=programs(), data=st.data())
def test_random_programs_mean_what_the_definition_says(tmp_path, nodes, data):
    bits = st.lists(st.booleans(), min_size=STEPS, max_size=STEPS)
    given = {"x": data.draw(st.lists(st.integers(-3, 3), min_size=STEPS, max_size=STEPS))}
    given |= {"b": data.draw(bits), "c": data.draw(bits)}
    expected = Instance(nodes[-1], {name: (lambda i, v=v: v[i]) for name, v in given.items()})
    found = ran(tmp_path, program(nodes), **given)
    for name in ("y", "p", "z"):
        for i in range(STEPS):
            value = expected.at(name, i)
            assert value is None or found[name][i] == value, f"{name} at step {i} of\n{program(nodes)}"
