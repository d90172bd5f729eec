"""Automata for tests: written as text, drawn at random, and searched state by state."""

from __future__ import annotations

import itertools
import random
import re

from streamcheck.core.evaluate import value_of
from streamcheck.core.term import TRUE, constant, term, variable
from streamcheck.core.types import BOOL, INT, ArrayType, array_of, machine
from streamcheck.problem.automaton import Automaton, Edge, Error

W2 = machine(2, signed=False)
S2 = machine(2, signed=True)


def automaton(entry, error, *lines, type=INT):
    """`"q -> r: x := x + 1"`, `": x < y"`, `": havoc x"`, `": skip"`; Python's operators, names are variables."""
    variables, edges = {}, []

    def expression(text):
        names = {n: Wrapped(variables.setdefault(n, variable(n, type))) for n in re.findall(r"[a-z]\w*", text)}
        result = eval(text, names)
        return result.term if isinstance(result, Wrapped) else constant(type, result)

    for number, line in enumerate(lines):
        source, target, statement = re.fullmatch(r"(\w+) -> (\w+): (.*)", line).groups()
        if statement == "skip":
            edges.append(Edge(source, target))
        elif statement.startswith("havoc "):
            v = variables.setdefault(statement[6:], variable(statement[6:], type))
            choice = variable(f"any {number}", type)
            edges.append(Edge(source, target, updates=((v, choice),), choices=(choice,), text=statement))
        elif ":=" in statement:
            name, text = statement.split(" := ")
            v = variables.setdefault(name, variable(name, type))
            edges.append(Edge(source, target, updates=((v, expression(text)),), text=statement))
        else:
            edges.append(Edge(source, target, guard=expression(statement), text=statement))
    locations = dict.fromkeys([entry, *(q for e in edges for q in (e.source, e.target)), error])
    errors = (Error(error, "safe", None),)
    return Automaton("p", tuple(variables.values()), tuple(locations), entry, errors, tuple(edges))


class Wrapped:
    """A term that Python's operators build terms from."""

    def __init__(self, term_):
        self.term = term_

    def _with(op):
        def apply(self, other):
            other = other.term if isinstance(other, Wrapped) else constant(self.term.type, other)
            return Wrapped(term(op, self.term, other))

        return apply

    __add__, __sub__, __mul__ = _with("add"), _with("sub"), _with("mul")
    __lt__, __le__, __gt__, __ge__ = _with("lt"), _with("le"), _with("gt"), _with("ge")
    __eq__, __ne__ = _with("eq"), _with("ne")


LOCK = automaton(
    "q1", "bad",
    "q1 -> q2: L := 0".lower(), "q2 -> bad: l != 0", "q2 -> q3: l == 0", "q3 -> q4: l := 1", "q4 -> q5: o := n",
    "q5 -> q6: skip", "q6 -> q7: l := 0", "q7 -> q8: n := n + 1", "q5 -> q8: skip", "q8 -> q2: n != o",
    "q8 -> end: n == o",
)  # fmt: skip

EXAMPLE_12 = automaton(  # of [Tegzes]
    "a", "f",
    "a -> b: x := 0", "b -> c: havoc y", "c -> d: y := x * y", "d -> b: x := x + 1", "d -> f: y > 20",
)  # fmt: skip


def random_automaton(rng: random.Random, locations=5, type=W2):
    """Over two small variables; guards of one location may overlap, and leave room for none."""
    x, y = variable("x", type), variable("y", type)
    names = [f"q{i}" for i in range(locations)]
    edges = []

    def operand():
        return rng.choice([x, y, constant(type, rng.randint(type.low, type.high))])

    def guard():
        if rng.random() < 0.3:
            return TRUE
        test = term(rng.choice(["eq", "ne", "lt", "le", "gt", "ge"]), rng.choice([x, y]), operand())
        return test if rng.random() < 0.7 else term(rng.choice(["and", "or"]), test, guard())

    for number in range(rng.randint(locations, 2 * locations)):
        source, target = rng.choice(names), rng.choice([*names, "bad"])
        choices, updates = [], []
        for v in (x, y):
            if rng.random() < 0.4:
                new = term(rng.choice(["add", "sub", "mul"]), operand(), operand())
                if rng.random() < 0.3:
                    new = variable(f"any {v.payload} {number}", type)
                    choices.append(new)
                updates.append((v, new))
        condition = guard()
        if rng.random() < 0.2:
            coin = variable(f"coin {number}", BOOL)
            choices.append(coin)
            condition = term("and", condition, coin)
        edges.append(Edge(source, target, condition, tuple(updates), tuple(choices), text=f"edge {number}"))
    places = (*names, "bad")
    return Automaton("random", (x, y), places, "q0", (Error("bad", "safe", None),), tuple(edges))


def random_moded_automaton(rng: random.Random, locations=5):
    """Over a number, and flags that are given constants, copies of each other, and now and then any value."""
    x, flags = variable("x", W2), [variable(f"m{n}", BOOL) for n in range(4)]
    names = [f"q{n}" for n in range(locations)]
    edges = [Edge("q0", "q1", TRUE, tuple((m, constant(BOOL, rng.random() < 0.5)) for m in flags), text="start")]
    for number in range(rng.randint(2 * locations, 3 * locations)):
        source, target = rng.choice(names[1:]), rng.choice([*names[1:], *names[1:], "bad"])
        guard, updates, choices = TRUE, {}, []
        for m in rng.sample(flags, rng.randint(0, 2)):
            guard = term("and", guard, rng.choice([m, term("not", m)]))
        if rng.random() < 0.4 or target == "bad":
            guard = term("and", guard, term(rng.choice(["eq", "lt"]), x, constant(W2, rng.randint(0, 3))))
        for m in rng.sample(flags, rng.randint(0, 2)):
            updates[m] = rng.choice([constant(BOOL, True), constant(BOOL, False), rng.choice(flags)])
            if rng.random() < 0.2:
                choices.append(variable(f"any {m.payload} {number}", BOOL))
                updates[m] = choices[-1]
        if rng.random() < 0.4:
            updates[x] = rng.choice([term("add", x, constant(W2, 1)), constant(W2, 0)])
        edges.append(Edge(source, target, guard, tuple(updates.items()), tuple(choices), text=f"edge {number}"))
    places = (*names, "bad")
    return Automaton("random", (x, *flags), places, "q0", (Error("bad", "safe", None),), tuple(edges))


def random_array_automaton(rng: random.Random, locations=4):
    """Over a number and arrays of three or of two by two elements, at any indexes: those outside mean the nearest."""
    i, k = variable("i", W2), variable("k", W2)
    a, b = (
        variable("a", array_of(W2, 3)),
        variable("b", rng.choice([array_of(BOOL, 2), array_of(array_of(BOOL, 2), 2)])),
    )
    names = [f"q{n}" for n in range(locations)]

    def index():
        return rng.choice([i, i, k, constant(W2, rng.randint(0, 3)), term("add", i, constant(W2, 1))])

    def read():
        element = term("index", b, index())
        element = element if element.type is BOOL else term("index", element, index())
        return rng.choice([term("index", a, index()), term("mux", element, constant(W2, 1), constant(W2, 2))])

    def operand():
        return rng.choice([i, k, read(), read(), constant(W2, rng.randint(0, 3))])

    def written():
        if rng.random() < 0.7:
            return a, term("update", a, index(), operand())
        new = term("eq", operand(), operand())
        if b.type.element is BOOL:
            return b, term("update", b, index(), new)
        at = index()
        return b, term("update", b, at, term("update", term("index", b, at), index(), new))

    edges = []
    for number in range(rng.randint(locations, 2 * locations)):
        source, target = rng.choice(names), rng.choice([*names, "bad"])
        guard = TRUE
        if rng.random() < 0.7 or target == "bad":
            guard = term(rng.choice(["eq", "ne", "lt", "le"]), operand(), operand())
        updates, choices = {}, []
        if rng.random() < 0.5:
            updates[i] = rng.choice([term("add", i, constant(W2, 1)), constant(W2, 0), read()])
        if rng.random() < 0.5:
            array, new = written()
            updates[array] = new
        elif rng.random() < 0.3:
            updates[a] = rng.choice([constant(a.type, (0, 0, 0)), constant(a.type, (0, 1, 0))])
        elif rng.random() < 0.2:
            choices.append(variable(f"any {number}", a.type))
            updates[a] = choices[0]
        edges.append(Edge(source, target, guard, tuple(updates.items()), tuple(choices), text=f"edge {number}"))
    used = (i, k, a, b)
    return Automaton("random", used, (*names, "bad"), "q0", (Error("bad", "safe", None),), tuple(edges))


def values(type):
    if isinstance(type, ArrayType):
        return list(itertools.product(values(type.element), repeat=type.length))
    return (False, True) if type is BOOL else range(type.low, type.high + 1)


def successors(cfa, location, state):
    """The configurations after one edge."""
    given = dict(zip(cfa.variables, state, strict=True))
    for edge in cfa.edges_from[location]:
        for chosen in itertools.product(*(values(c.type) for c in edge.choices)):
            known = {**given, **dict(zip(edge.choices, chosen, strict=True))}
            if value_of(edge.guard, known):
                after = {**given, **{v: value_of(t, known) for v, t in edge.updates}}
                yield edge, edge.target, tuple(after[v] for v in cfa.variables)


def reachable(cfa):
    """Every configuration that a run visits, with the length of the shortest run to it."""
    level = [(cfa.entry, s) for s in itertools.product(*(values(v.type) for v in cfa.variables))]
    found = dict.fromkeys(level, 0)
    depth = 0
    while level:
        depth += 1
        level = [after for q, s in level for _, *after in successors(cfa, q, s)]
        level = [c for c in dict.fromkeys(map(tuple, level)) if c not in found]
        found.update(dict.fromkeys(level, depth))
    return found


def shortest(cfa):
    """The length of the shortest run to the error; None where there is none."""
    return min((n for (q, _), n in reachable(cfa).items() if q in cfa.bad), default=None)
