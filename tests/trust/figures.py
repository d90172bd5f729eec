"""Operators and runs: the interpreter against the evaluator."""

import itertools
import random

from operator_cases import cases
from random_specs import NOT_EXACT, random_equations, random_rows
from trust.evaluator import FLOATS, Evaluator, UnknownOperator, identical
from trust.figure import Figure
from trust.values import any_value

from streamcheck.core.meaning import meaning
from streamcheck.core.term import term, variable
from streamcheck.interpret.python_code import plan, stepper
from streamcheck.problem.specification import Input, Named, Specification
from streamcheck.problem.specification_json import to_plain


def as_evaluated(kind, value):
    """A value of the package as the evaluator has it."""
    if isinstance(value, tuple):
        parts = itertools.repeat(kind[1]) if kind[0] == "array" else kind[1:]
        return tuple(as_evaluated(k, v) for k, v in zip(parts, value, strict=False))
    if isinstance(value, str):
        return dict(kind[1])[value]
    return FLOATS[kind](value) if kind in FLOATS else value


def operators(count, seed):
    """Each operator at each type: the interpreter's meaning against the evaluator's, on random values."""
    figure, rng = Figure("operators at their types, interpreter against evaluator"), random.Random(seed)
    every = [case for case in cases() if case[0] not in NOT_EXACT]
    each = max(1, count // len(every))
    for name, types, payload in every:
        operands = [variable(f"v{i}", t) for i, t in enumerate(types)]
        node = term(name, *operands, payload=payload)
        inputs = tuple(Input(v.payload, v.type, True, "", "", None) for v in operands)
        shown = Specification("s", inputs, (), (), (), (), (Named("shown", node, None),), (), (), None)
        evaluator, python = Evaluator(to_plain(shown)), meaning(node)
        kinds = dict(zip((v.payload for v in operands), map(kind_in(evaluator), operands), strict=True))
        for _ in range(each):
            values = [any_value(rng, t) for t in types]
            given = {n: as_evaluated(k, v) for (n, k), v in zip(kinds.items(), values, strict=True)}
            try:
                own = evaluator.values(given)[-1]
            except UnknownOperator:
                figure.tried["without a meaning in the evaluator"] += each
                break
            figure.tried["values"] += 1
            result = as_evaluated(evaluator.kinds[-1], python(*values))
            if not identical(own, result):
                figure.wrong.append(f"{name} of {', '.join(map(str, types))} at {values}: {result!r}, not {own!r}")
                break
    return figure


def kind_in(evaluator):
    rows = {row[2]: i for i, row in enumerate(evaluator.equations["terms"]) if row[0] == "var"}
    return lambda v: evaluator.kinds[rows[v.payload]]


def runs(count, seed, steps=1_000):
    """Random specs, step by step: the interpreter against the evaluator."""
    figure = Figure(f"random specs over {steps:,} steps, interpreter against evaluator")
    for number in range(seed, seed + count):
        equations = random_equations(number)
        rows = random_rows(number, equations, steps)
        figure.tried["specs"] += 1
        if (wrong := first_difference(equations, rows)) is not None:
            figure.wrong.append(f"seed {number}: {wrong}")
    return figure


def first_difference(equations, rows):
    plain = to_plain(equations)
    evaluator, planned = Evaluator(plain), plan(equations)
    position = {i.name: at for at, i in enumerate(equations.inputs)}
    kind_of = {row[2]: evaluator.kinds[i] for i, row in enumerate(plain["terms"]) if row[0] == "var"}
    read = [name for name in position if name in kind_of]
    chosen = [tuple(row[position[v.payload]] for v in planned.inputs) for row in rows]
    known = evaluator.constants
    state = {c["name"]: known[c["initial"]] for c in plain["cells"]}
    for number, (row, step) in enumerate(zip(rows, stepper(planned)(chosen), strict=True)):
        given = {name: as_evaluated(kind_of[name], row[position[name]]) for name in read}
        found = evaluator.values({**state, **given})
        called = {t["name"]: t for t in plain["triggers"] if found[t["guard"]]}
        if set(called) != set(step.triggers):
            return f"step {number}: calls of {sorted(step.triggers)}, not {sorted(called)}"
        pairs = [(o["term"], step.observers[o["name"]], o["name"]) for o in plain["observers"]]
        for name, trigger in called.items():
            pairs += [(a, v, name) for (_, a), v in zip(trigger["args"], step.triggers[name], strict=True)]
        for place, value, name in pairs:
            if not identical(found[place], as_evaluated(evaluator.kinds[place], value)):
                return f"step {number}: {name} is {value!r}, not {found[place]!r}"
        state = {c["name"]: found[c["next"]] for c in plain["cells"]}
    return None
