"""The interpreter against the evaluator, one node at a time; linear time and constant memory."""

from __future__ import annotations

import tracemalloc

from hypothesis import given, settings
from hypothesis import strategies as st
from operator_cases import cases, values

from streamcheck import *
from streamcheck.core.evaluate import value_of
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import default
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.problem.specification import Cell, Input, Named, Specification

CASES = list(cases())


@st.composite
def equations(draw):
    """Random equations: a few inputs and cells of several types, terms grown by operators whose types fit."""
    types = draw(st.lists(st.sampled_from([c[1][0] for c in CASES[::7]]), min_size=2, max_size=4))
    inputs = [Input(f"i{n}", t, True, "", "", None) for n, t in enumerate(types)]
    cell_vars = [variable(f"c{n}", t) for n, t in enumerate(types)]
    pool = [i.var for i in inputs] + cell_vars
    for _ in range(draw(st.integers(1, 25))):
        by_type = {}
        for t in pool:
            by_type.setdefault(t.type, []).append(t)
        fitting = [c for c in CASES if all(a in by_type for a in c[1])]
        name, args, payload = draw(st.sampled_from(fitting))
        pool.append(term(name, *(draw(st.sampled_from(by_type[a])) for a in args), payload=payload))
    cells = []
    for v in cell_vars:
        after = draw(st.sampled_from([t for t in pool if t.type is v.type]))
        cells.append(Cell(v.payload, constant(v.type, draw(values(v.type))), after, None))
    observers = tuple(Named(f"o{n}", t, None) for n, t in enumerate(pool))
    return Specification("random", tuple(inputs), (), tuple(cells), (), (), observers, (), (), None)


def by_the_book(equations, rows):
    """The semantics read off the definition: evaluate every term under this step's values, then move the cells."""
    state = {c.var: value_of(c.initial, {}) for c in equations.cells}
    for row in rows:
        now = {**state, **dict(zip((i.var for i in equations.inputs), row, strict=True))}
        yield {o.name: value_of(o.term, now) for o in equations.observers}
        state = {c.var: value_of(c.next, now) for c in equations.cells}


@settings(max_examples=150, deadline=None, database=None)
@given(st.data())
def test_the_compiled_loop_equals_the_evaluator(data):
    drawn = data.draw(equations())
    rows = data.draw(st.lists(st.tuples(*(values(i.type) for i in drawn.inputs)), min_size=1, max_size=4))
    planned = plan(drawn)
    positions = [i.var for i in drawn.inputs]
    read = [tuple(row[positions.index(v)] for v in planned.inputs) for row in rows]
    raw = [s.observers for s in stepper(planned)(read)]
    from streamcheck.interpret.present import presenter

    expected = [
        {o.name: (presenter(o.term.type) or (lambda v: v))(wanted[o.name]) for o in drawn.observers}
        for wanted in by_the_book(drawn, rows)
    ]
    assert repr(raw) == repr(expected)  # repr: NaN equals NaN, -0.0 differs from 0.0


def test_memory_does_not_grow_with_the_steps():
    fib = stream(Word64, lambda fib: [1, 1] + +(fib + drop(1, fib)))
    line = [0] * 50 + +fib
    spec = Spec("s")
    spec.observer("line", line)

    def peak(steps):
        tracemalloc.start()
        for _ in spec.run(steps):
            pass
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(10)  # compile once: caches fill
    assert peak(20_000) < peak(200) + 20_000


def test_every_type_has_a_default_value():
    for _, args, _ in CASES:
        for t in args:
            assert constant(t, default(t)).type is t
