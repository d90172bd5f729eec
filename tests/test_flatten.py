"""Flattening: cells, wires, causality, obligations; the texts of each stage; JSON there and back."""

from __future__ import annotations

import json

import pytest

from streamcheck import *
from streamcheck import SpecError
from streamcheck.core.evaluate import value_of
from streamcheck.export.graph import show_graph
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification_json import from_plain, to_plain
from streamcheck.report.equations import show_equations
from streamcheck.report.system import show_system
from streamcheck.transform.scalar_system import to_system


def flattened(**observers):
    spec = Spec("s")
    for name, stream in observers.items():
        spec.observer(name, stream)
    return flatten(spec)


def named(name, body, type=Int):
    body.__name__ = name
    return stream(type, body)


def test_a_wire_that_nothing_needs_is_not_shown():
    x = extern("x", Word8)
    plain = to_plain(flattened(o=x + 1))
    plain["wires"].append({"name": "stray", "term": len(plain["terms"]), "at": None})
    plain["terms"].append(["mul", 0, 0])
    assert "stray" not in show_equations(from_plain(plain))


def test_the_slides_flattening_of_fib():
    @stream(Word64)
    def fib():
        return [1, 1] + +(fib + drop(1, fib))

    assert (
        show_equations(flattened(fib=fib))
        == """\
spec s
  cells
    fib   : Word64 = [1] ++ fib_1
    fib_1 : Word64 = [1] ++ (fib + fib_1)
  observer fib = fib
"""
    )


def test_wires_in_dependency_order_with_the_users_names():
    x = extern("x", Word8, doc="a probe")
    total = named("total", lambda: high + 1, Word8)
    high = named("high", lambda: x // 2, Word8)
    text = show_equations(flattened(o=total, p=high * total))
    assert (
        text
        == """\
spec s
  inputs
    x : Word8
  wires
    high  : Word8 = x // 2
    total : Word8 = high + 1
  observer o = total
  observer p = high * total
"""
    )


def test_system_text():
    b = extern("b", Bool)
    p = stream(Int, lambda p: [0] + +mux(b, p + 1, p))
    spec = Spec("s")
    spec.prop("positive", p >= 0)
    spec.assume("often", b)
    assert (
        show_system(to_system(flatten(spec))).replace(names(spec), "p")
        == """\
system s
  input   b : Bool
  state   p : Int := 0
  next    p' = mux(b, p + 1, p)
  assume  often: b
  prop    positive: p >= 0
"""
    )


def names(spec):
    return flatten(spec).cells[0].name


def test_unneeded_cells_do_not_exist():
    y = [1, 2, 3] + +Word8(10)
    assert [c.name for c in flattened(o=drop(2, y)).cells] == [flattened(o=drop(2, y)).cells[0].name]
    assert len(flattened(o=drop(1, y)).cells) == 2 and len(flattened(o=drop(3, y)).cells) == 0


def test_equal_delays_are_one_cell():
    x = extern("x", Word8)
    assert len(flattened(a=pre(0, x), b=pre(0, x), c=pre(1, x)).cells) == 2
    assert len(flattened(a=then(1, x), b=then(2, x)).cells) == 1


def test_a_delay_line():
    line = [0] * 1000 + +extern("x", Int32)
    equations = flattened(o=line)
    assert len(equations.cells) == 1000 and equations.cells[-1].next.payload == "x"


# Causality


def loop_message(stream):
    with pytest.raises(SpecError) as caught:
        flattened(o=stream)
    return caught.value


def test_a_loop_is_shown_whole():
    a = named("a", lambda: b + 1)
    b = named("b", lambda: mux(extern("c", Bool), c, 0))
    c = named("c", lambda: a * 2)
    error = loop_message(a)
    assert [text for text, _ in error.also] == ["`a` needs `b`", "`b` needs `c`", "`c` needs `a`"]


def test_loops_through_drop():
    f = named("f", lambda: [1] + +drop(2, f))
    assert "depends on its own present value, or on a later one" in loop_message(f).message
    g = named("g", lambda: [1, 2] + +drop(2, g))
    assert loop_message(g).also
    h = named("h", lambda: h)
    assert [text for text, _ in loop_message(h).also] == ["`h` needs `h`"]


def test_loops_that_look_back_far_enough_are_none():
    f = named("f", lambda: [1, 2, 3] + +drop(2, f))
    spec = Spec("s")
    spec.observer("f", f)
    assert [s.observers["f"] for s in spec.run(5)] == [1, 2, 3, 3, 3]


def test_both_branches_of_a_mux_count_for_causality():
    c = extern("c", Bool)
    a = named("a", lambda: mux(c, b, 0))
    b = named("b", lambda: mux(c, 1, a))
    assert loop_message(a)


# Obligations


def implied(spec):
    return {p.name.split(" ", 1)[1]: p for p in flatten(spec).properties if p.is_implied}


def obligations_of(stream, **more):
    spec = Spec("s")
    spec.observer("o", stream)
    return implied(spec)


def holds(prop, **values):
    from streamcheck.core.term import variables

    return value_of(prop.term, {v: values[v.payload] for v in variables([prop.term])})


def test_obligations_exist_where_needed():
    x, i = extern("x", Word8), extern("i", Int8)
    a = extern("a", Array(Word8, 3))
    f = extern("f", Float)
    prop = obligations_of(10 // x)["no division by zero"]
    assert holds(prop, x=1) and not holds(prop, x=0) and prop.is_implied and prop.where.text.startswith("prop =")
    assert prop.name.startswith("test_flatten.py:")
    prop = obligations_of(a[i])["index in range"]
    assert [holds(prop, i=v) for v in (-1, 0, 2, 3)] == [False, True, True, False]
    prop = obligations_of(x << i)["shift in range"]
    assert [holds(prop, i=v) for v in (-1, 0, 7, 8)] == [False, True, True, False]
    prop = obligations_of(unsafe_cast(Int8, f))["cast in range"]
    edges = {-129.0: False, -128.99: True, 127.99: True, 128.0: False, float("nan"): False, float("inf"): False}
    assert {v: holds(prop, f=v) for v in edges if v == v} == {v: e for v, e in edges.items() if v == v}
    assert not holds(prop, f=float("nan"))


@pytest.mark.parametrize(
    "safe",
    [
        lambda x, b, a, f: x // 3,
        lambda x, b, a, f: mux(x != 0, 10 // x, 0),
        lambda x, b, a, f: mux(x == 0, 0, 10 % x),
        lambda x, b, a, f: implies(x != 0, 10 // x > 1),
        lambda x, b, a, f: (x != 0) & (10 // x > 1),
        lambda x, b, a, f: (x == 0) | (10 // x > 1),
        lambda x, b, a, f: mux(b, mux(x != 0, quot(1, x), 2), 3),
        lambda x, b, a, f: a[2] + a[x] if len(a) == 256 else a[2],
        lambda x, b, a, f: x << 7,
        lambda x, b, a, f: f / 0.0,
        lambda x, b, a, f: unsafe_cast(Float, x),
        lambda x, b, a, f: mux(x < 3, a[x], 0),
    ],
)
def test_obligations_are_absent_where_plainly_true(safe):
    x, b, f = extern("x", Word8), extern("b", Bool), extern("f", Double)
    assert obligations_of(safe(x, b, extern("a", Array(Word8, 3)), f)) == {}


def test_an_obligation_under_another_condition_stays():
    x, b = extern("x", Word8), extern("b", Bool)
    prop = obligations_of(mux(b, 10 // x, 0))["no division by zero"]
    assert holds(prop, b=False, x=0) and not holds(prop, b=True, x=0)
    prop = obligations_of(mux(x != 0, 1, 10 // x))["no division by zero"]
    assert not holds(prop, x=0)


def test_a_shared_division_matters_where_any_way_reaches_it():
    x, b, c = extern("x", Word8), extern("b", Bool), extern("c", Bool)
    d = 10 // x
    spec = Spec("s")
    spec.observer("p", mux(b, d, 0))
    spec.observer("q", mux(c, d, 1))
    (prop,) = implied(spec).values()
    assert holds(prop, b=False, c=False, x=0)
    assert not holds(prop, b=True, c=False, x=0) and not holds(prop, b=False, c=True, x=0)


def test_the_same_division_on_two_lines_keeps_both_lines():
    x = extern("x", Word8)
    spec = Spec("s")
    spec.observer("guarded", mux(x != 0, 10 // x, 0))
    spec.observer("bare", 10 // x)
    (prop,) = implied(spec).values()
    assert "bare" in prop.where.text


def test_trigger_arguments_are_under_the_guard():
    x = extern("x", Word8)
    spec = Spec("s")
    spec.trigger("t", x != 0, 10 // x)
    assert implied(spec) == {}
    spec.trigger("u", x > 1, 10 // (x - 1))
    assert list(implied(spec)) == ["no division by zero"]


def test_obligations_inside_cells_and_late_bodies():
    x = extern("x", Int)
    n = named("n", lambda: [1] + +(n // x))
    assert list(obligations_of(n)) == ["no division by zero"]
    two = 1 // x + 2 % x  # two on one line
    assert len(obligations_of(two)) == 2


# Stages and files


def everything():
    """A spec that uses every kind of type and declaration."""

    @struct
    class Pos:
        lat: Float
        ok: Bool

    x, pos = extern("x", Word8, doc="a probe", unit="m"), extern("pos", Pos)
    a, r = extern("a", Array(Int16, 2)), extern("r", Real)
    keep = stream(Pos, lambda keep: [{"lat": 1.5, "ok": True}] + +mux(pos.ok, pos, keep.set(lat=0)))
    spec = Spec("everything")
    spec.trigger("go", keep.ok & (a[x] > 3), {"where": keep, "a": a.set(x, -1)})
    spec.observer("nan", Double(float("nan")))
    spec.observer("third", r / 3 + Real(1) / 3)
    spec.prop("p", forall(Int8, lambda v: implies(cast(Int16, v) == a[0], unsafe_cast(Word8, v) != x)))
    spec.exists("e", exists(Word8, lambda v: v == x + unknown(Word8)))
    spec.assume("fair", x < 200)
    return spec


def test_json_there_and_back():
    equations = flatten(everything())
    text = json.dumps(to_plain(equations))
    again = from_plain(json.loads(text))
    assert json.dumps(to_plain(again)) == text and show_equations(again) == show_equations(equations)
    assert again.properties == equations.properties and again.cells == equations.cells


@pytest.mark.parametrize("damage", ["terms", "types", "cells", "properties", "format"])
def test_damaged_json_is_refused(damage):
    data = to_plain(flatten(everything()))
    if damage == "terms":
        data["terms"][-1] = ["no such operator", 0]
    elif damage == "properties":
        data["properties"][0]["term"] = next(i for i, row in enumerate(data["terms"]) if row[0] == "add")
    else:
        data[damage] = data[damage][:-1]
    with pytest.raises(SpecError):
        from_plain(data)


def test_the_system_is_scalar_and_means_the_same():
    equations = flatten(everything())
    system = to_system(equations)
    kinds = {v.type.kind for v in (*system.inputs, *(s.var for s in system.state))}
    assert not kinds & {"array", "struct"} and [p.name for p in system.properties][:2] == ["p", "e"]
    assert {s.var.payload for s in system.state if s.init is None} == {"v", "v_2"}


def test_instances_are_boxes_in_the_graph():
    @component
    def inner(x: Word8) -> Word8:
        return stream(Word8, lambda n: [0] + +(n + x))

    @component
    def outer(x: Word8) -> Word8:
        total = inner(x) + 1
        return total * 2

    spec = Spec("boxes")
    spec.observer("seen", outer(extern("x", Word8)) + inner(Word8(3)))
    lines = [line.strip() for line in show_graph(flatten(spec)).splitlines()]
    opened = [line for line in lines if line.startswith("subgraph")]
    assert [line.partition(" {")[0] for line in opened] == [
        'subgraph "cluster outer"',
        'subgraph "cluster outer.inner"',
        'subgraph "cluster inner"',
    ]
    first, last = lines.index(opened[0]), lines.index(opened[2])
    assert '"outer.total";' in lines[first:last]
    assert sum(line.endswith("{") or "{ label" in line for line in lines) == sum(line == "}" for line in lines)


def test_graph_has_the_slides_edges(tmp_path):
    from streamcheck.run.source import Target, read

    (equations,) = read(Target.parse("specs/structural_abstraction.py"))
    lines = show_graph(equations).splitlines()
    assert '  "b" -> "d";' in lines and '  "e" -> "g" [style=dashed];' in lines and '  "k" -> "j";' in lines
    assert '  "a" -> "b";' in lines and '  "a" -> "c";' in lines and '  "c" -> "f";' in lines


# Size


def test_a_term_that_doubles_200_times_stays_200_nodes_everywhere():
    x = extern("x", Word32, samples=lambda step: step)
    y = x
    for _ in range(200):
        y = y + y
    equations = flattened(y=y)
    assert equations.size == 201
    assert len(show_equations(equations)) < 20_000 and len(json.dumps(to_plain(equations))) < 20_000
    assert len(show_system(to_system(equations))) < 20_000
    spec = Spec("s")
    spec.observer("y", y)
    assert [s.observers["y"] for s in spec.run(3)] == [0, 0, 0]


def test_a_chain_100_000_operations_deep():
    x = extern("x", Word32, samples=lambda step: step)
    y = x
    for i in range(100_000):
        y = y + i if i % 2 else y ^ i
    equations = flattened(y=y)
    assert equations.size > 100_000
    assert from_plain(to_plain(equations)).observers == equations.observers
    assert show_equations(equations) and to_system(equations)
    spec = Spec("s")
    spec.observer("y", y)
    assert len(list(spec.run(3))) == 3
