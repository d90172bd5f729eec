"""Automata written as text, families of them, and what explicit search says of small ones."""

from __future__ import annotations

import ast
import itertools

from hypothesis import strategies as st

from streamcheck.core.evaluate import evaluate
from streamcheck.core.simplify import conjunction, negation
from streamcheck.core.term import FALSE, TRUE, constant, term, variable
from streamcheck.core.types import BOOL, INT
from streamcheck.problem.automaton import Automaton, Edge, Error

BINARY = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Mod: "mod"}
COMPARED = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}


def automaton(text, entry="l0", error="lE", types=None, number=INT, name="automaton"):
    """One edge a line: `l0 -> l1: [guard] x := t; y := u; havoc z`, the updates at once. Names are numbers unless
    `types` says else."""
    types, known, edges = types or {}, {}, []

    def var(given):
        return known.setdefault(given, variable(given, types.get(given, number)))

    for line in filter(None, map(str.strip, text.splitlines())):
        places, _, statement = line.partition(":")
        source, target = (p.strip() for p in places.split("->"))
        edges.append(_edge(source, target, statement.strip(), var, number, len(edges)))
    locations = dict.fromkeys([entry, *(place for e in edges for place in (e.source, e.target)), error])
    return Automaton(name, tuple(known.values()), tuple(locations), entry, (Error(error, "safe", None),), tuple(edges))


def _edge(source, target, statement, var, number, index):
    guard, updates, choices = TRUE, [], []
    if statement.startswith("["):
        inner, _, rest = statement[1:].partition("]")
        guard = expression(inner, var, number)
    else:
        rest = statement
    for part in filter(None, map(str.strip, rest.split(";"))):
        if part.startswith("havoc "):
            changed = var(part.removeprefix("havoc ").strip())
            choices.append(variable(f"any {changed.payload} {index}", changed.type))
            updates.append((changed, choices[-1]))
        else:
            left, _, right = part.partition(":=")
            updates.append((var(left.strip()), expression(right, var, number)))
    return Edge(source, target, guard, tuple(updates), tuple(choices), statement or "skip")


def expression(text, var, number=INT):
    """A term from Python's notation."""

    def build(node):
        match node:
            case ast.Constant(value=bool(value)):
                return TRUE if value else FALSE
            case ast.Constant(value=value):
                return constant(number, value)
            case ast.Name(id=name):
                return var(name)
            case ast.UnaryOp(op=ast.Not(), operand=a):
                return negation(build(a))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value)):
                return constant(number, -value)
            case ast.BinOp(left=a, op=op, right=b):
                return term(BINARY[type(op)], build(a), build(b))
            case ast.Compare(left=a, ops=[op], comparators=[b]):
                return term(COMPARED[type(op)], build(a), build(b))
            case ast.BoolOp(op=op, values=values):
                parts = [build(v) for v in values]
                result = parts[0]
                for part in parts[1:]:
                    result = term("and" if isinstance(op, ast.And) else "or", result, part)
                return result
            case ast.IfExp(test=c, body=a, orelse=b):
                return term("mux", build(c), build(a), build(b))
        raise AssertionError(ast.dump(node))

    return build(ast.parse(text.strip(), mode="eval").body)


def locks(n, number=INT, broken=False):
    """Take each of n locks that its condition says, give them back; an error where one that is given back is not held.
    `broken`: the last one is not taken."""
    lines, place = [], 0

    def go(statement, target=None):
        nonlocal place
        lines.append(f"u{place} -> {target or f'u{place + 1}'}: {statement}")
        place += target is None

    for i in range(n):
        go(f"havoc p{i}")
    lines.append(f"u{place} -> head:")
    lines.append("head -> u1000: havoc cond")
    lines.append("u1000 -> out: [cond == 0]")
    lines.append("u1000 -> u1001: [cond != 0]")
    place = 1001
    for i in range(n):
        go(f"k{i} := 0")
    for i in range(n):
        here = place
        go(f"[p{i} == 0]", f"u{here + 2}")
        go(f"[p{i} != 0]")
        go(f"k{i} := {0 if broken and i == n - 1 else 1}")
    for i in range(n):
        here = place
        go(f"[p{i} == 0]", f"u{here + 3}")
        go(f"[p{i} != 0]")
        go(f"[k{i} != 1]", "lE")
        go(f"[k{i} == 1]")
        go(f"k{i} := 0")
    lines.append(f"u{place} -> head:")
    return automaton("\n".join(lines), entry="u0", number=number, name=f"locks {n}")


def locks_in_blocks(n, number=INT, broken=False):
    """The same as an entry, a loop head and an error, each edge a large block."""
    ps = [variable(f"p{i}", number) for i in range(n)]
    ks = [variable(f"k{i}", number) for i in range(n)]
    zero, one = constant(number, 0), constant(number, 1)
    now = dict.fromkeys(ks, zero)
    for i, (p, k) in enumerate(zip(ps, ks, strict=True)):
        taken = zero if broken and i == n - 1 else one
        now[k] = term("mux", term("ne", p, zero), taken, now[k])
    reached, wrong = TRUE, FALSE
    for p, k in zip(ps, ks, strict=True):
        held, asked = term("eq", now[k], one), term("ne", p, zero)
        bad = conjunction(reached, asked, negation(held))
        wrong = bad if wrong is FALSE else term("or", wrong, bad)
        reached = conjunction(reached, term("or", negation(asked), held))
        now[k] = term("mux", asked, zero, now[k])
    cond = variable("any cond", number)
    going = term("ne", cond, zero)
    first = tuple(variable(f"any p{i}", number) for i in range(n))
    edges = (
        Edge("entry", "head", TRUE, tuple(zip(ps, first, strict=True)), first, "conditions"),
        Edge("head", "head", conjunction(going, reached), tuple(now.items()), (cond,), "round"),
        Edge("head", "lE", wrong, (), (), "wrong"),
    )
    places = ("entry", "head", "lE")
    return Automaton(f"locks {n}", (*ps, *ks), places, "entry", (Error("lE", "safe", None),), edges)


# Small automata, and what explicit search says of them

SMALL = 4  # numbers are below


def configurations(program):
    """{(location, values): the edges of a shortest way there}, from the definition of a run alone. Every edge that
    chooses says that what it chooses is small; only Bools are not set before they are read."""
    free = [(False, True) if v.type is BOOL else (0,) for v in program.variables]
    found = {(program.entry, values): () for values in itertools.product(*free)}
    waiting = list(found)
    for at in waiting:  # grows
        for edge in program.edges_from[at[0]]:
            for values in moves(program, edge, at[1]):
                after = (edge.target, values)
                if after not in found:
                    found[after] = (*found[at], edge)
                    waiting.append(after)
    return found


def moves(program, edge, values):
    """The values after the edge, for all that it may choose."""
    now = dict(zip(program.variables, values, strict=True))
    for chosen in itertools.product(*((False, True) if c.type is BOOL else range(SMALL) for c in edge.choices)):
        results = evaluate(edge.roots(), {**now, **dict(zip(edge.choices, chosen, strict=True))})
        if results[edge.guard]:
            yield tuple(results[edge.update[v]] if v in edge.update else now[v] for v in program.variables)


@st.composite
def programs(draw, number=INT):
    """Up to five locations and an error, up to three variables, random guards and updates."""
    bools = [variable(f"b{i}", BOOL) for i in range(draw(st.integers(0, 2)))]
    numbers = [variable(f"n{i}", number) for i in range(draw(st.integers(0 if bools else 1, 2)))]
    places = [f"l{i}" for i in range(draw(st.integers(2, 5)))]
    edges = [_first(draw, places, bools, numbers)]
    for index in range(draw(st.integers(2, 9))):
        source = draw(st.sampled_from(places[1:] if numbers else places))
        target = draw(st.sampled_from([*places[1:], "lE", "lE"] if numbers else [*places, "lE"]))
        edges.append(_random_edge(draw, source, target, bools, numbers, index))
    if draw(st.booleans()):
        edges = draw(st.permutations(edges))
    places = (*places, "lE")
    return Automaton("random", (*bools, *numbers), places, "l0", (Error("lE", "safe", None),), tuple(edges))


def _first(draw, places, bools, numbers):
    updates = [(v, constant(BOOL, draw(st.booleans()))) for v in bools if draw(st.booleans())]
    updates += [(v, constant(v.type, draw(st.integers(0, SMALL - 1)))) for v in numbers]
    return Edge("l0", draw(st.sampled_from(places[1:])), TRUE, tuple(updates), (), "begin")


def _random_edge(draw, source, target, bools, numbers, index):
    chosen = [variable(f"any {v.payload} {index}", v.type) for v in (*bools, *numbers) if draw(st.integers(0, 3)) == 0]
    conditions, amounts = [*bools, *(c for c in chosen if c.type is BOOL)], [*numbers]
    amounts += [c for c in chosen if c.type is not BOOL]
    if numbers:
        kind = numbers[0].type
        amounts.append(constant(kind, draw(st.integers(0, SMALL - 1))))
        for _ in range(draw(st.integers(1, 3))):
            a, b = draw(st.sampled_from(amounts)), draw(st.sampled_from(amounts))
            made = term(draw(st.sampled_from(["add", "mul", "sub"])), a, b)
            amounts.append(term("mod", made, constant(kind, SMALL)))
            conditions.append(term(draw(st.sampled_from(["eq", "ne", "lt", "le"])), draw(st.sampled_from(amounts)), b))
            amounts.append(term("mux", draw(st.sampled_from(conditions)), amounts[-1], a))
    for _ in range(draw(st.integers(0, 3))):
        a, b = draw(st.sampled_from(conditions)), draw(st.sampled_from(conditions))
        conditions.append(term(draw(st.sampled_from(["and", "or", "xor", "implies"])), a, negation(b)))
    guard = conjunction(*(_small(c) for c in chosen if c.type is not BOOL))
    if draw(st.booleans()) or target == "lE":
        guard = conjunction(guard, draw(st.sampled_from(conditions)))
    updates = []
    for v in (*bools, *numbers):
        own = [c for c in chosen if c.payload == f"any {v.payload} {index}"]
        if own or draw(st.booleans()):
            updates.append((v, own[0] if own else draw(st.sampled_from(conditions if v.type is BOOL else amounts))))
    return Edge(source, target, guard, tuple(updates), tuple(chosen), f"edge {index}")


def _small(number):
    least = term("ge", number, constant(number.type, 0))
    return conjunction(least, term("lt", number, constant(number.type, SMALL)))
