"""Each operator at each type, by each solver and in each rendering, against the evaluator: corners favoured.

Each query says of random operands that the operator gives another value than the evaluator's, which each solver has to
refute. Operands are variables, so that nothing is computed before the solver is asked.
"""

from functools import reduce
from random import Random

from operator_cases import cases
from trust.evaluator import Evaluator, UnknownOperator
from trust.figure import Figure
from trust.figures import as_evaluated, kind_in
from trust.values import any_value

from streamcheck.certify.bitwise import Bitwise, Unrenderable, WideBitwise, unknown_function
from streamcheck.certify.remainders import Remainders
from streamcheck.certify.runs import Runs
from streamcheck.certify.script import Script
from streamcheck.certify.solvers import bitwuzla, cvc5
from streamcheck.core.term import constant, term, variable, variables
from streamcheck.core.types import ArrayType, StructType
from streamcheck.problem.specification import Input, Named, Specification
from streamcheck.problem.specification_json import to_plain
from streamcheck.smt.bit_solver import BitSolver, is_expressible
from streamcheck.smt.solver import Solver

PATIENCE = 10_000_000
SECONDS = 10.0


def solvers(count, seed):
    """So many values of operators, by each solver."""
    figure, rng = Figure("operators at their types, by each solver and rendering"), Random(seed)
    every = [case for case in cases() if is_known(*case)]
    chosen = [every[i % len(every)] for i in range(count)] if count > len(every) else rng.sample(every, count)
    for name, types, payload in chosen:
        condition = wrong_value(rng, name, types, payload)
        if condition is None:
            figure.tried["without a meaning in the evaluator"] += 1
            continue
        for solver, answer in answers(condition):
            figure.tried[f"values by {solver}" if answer is not None else f"values that {solver} left open"] += 1
            if answer is True:
                figure.wrong.append(f"{solver}: {name} of {', '.join(map(str, types))}, {payload}: {condition}")
    return figure


def is_known(name, types, payload):
    """True if solvers have a meaning for it: parts of arrays and structs are terms of their own."""
    if any(isinstance(t, ArrayType | StructType) for t in (*types, payload)):
        return False
    return unknown_function(term(name, *(variable(f"v{i}", t) for i, t in enumerate(types)), payload=payload)) is None


def wrong_value(rng, name, types, payload):
    """That the operator gives another value than the evaluator's, of some operands; None if that has none."""
    operands = [variable(f"v{i}", t) for i, t in enumerate(types)]
    node = term(name, *operands, payload=payload)
    values = [any_value(rng, t) for t in types]
    try:
        expected = evaluated(node, operands, values)
    except UnknownOperator:
        return None
    given = [same(v, constant(v.type, value)) for v, value in zip(operands, values, strict=True)]
    wrong = term("not", same(node, constant(node.type, expected)))
    return reduce(lambda a, b: term("and", a, b), [*given, wrong])


def same(a, b):
    return term("same", a, b)


def evaluated(node, operands, values):
    inputs = tuple(Input(v.payload, v.type, True, "", "", None) for v in operands)
    shown = Specification("s", inputs, (), (), (), (), (Named("shown", node, None),), (), (), None)
    evaluator = Evaluator(to_plain(shown))
    kind = kind_in(evaluator)
    given = {v.payload: as_evaluated(kind(v), value) for v, value in zip(operands, values, strict=True)}
    found = evaluator.values(given)[-1]
    return found.item() if hasattr(found, "item") else found


def answers(condition):
    """The answer of each solver that the condition has a form for: True if it calls it satisfiable."""
    solver = Solver(PATIENCE)
    solver.add(condition)
    yield "z3", solver.check()
    if is_expressible([condition]):
        bits = BitSolver(PATIENCE)
        bits.add(condition)
        yield "bitwuzla", bits.check()
    for rendering in (Bitwise, WideBitwise, Remainders):
        script = Script(Runs((), tuple(variables([condition])), (), ()), rendering())
        try:
            script.start(initial=False)
            script.require(script.symbol(condition, 0))
        except Unrenderable:
            continue
        text, name = script.text(), rendering.__name__
        yield f"cvc5, {name}", opposite(cvc5(text, SECONDS, {}))
        if not script.has_numbers:
            yield f"bitwuzla, {name}", opposite(bitwuzla(text, SECONDS))


def opposite(answer):
    return None if answer is None else not answer
