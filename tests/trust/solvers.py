"""Each operator at each type, by each solver and in each rendering, against the evaluator: corners favoured.

Each query says of random operands that the operator gives another value than the evaluator's, which each solver has to
refute: of one value, or of many of one operator if many are tried. Operands are variables, so that nothing is computed
before the solver is asked.
"""

from collections import Counter
from functools import reduce
from random import Random
from typing import NamedTuple

from operator_cases import cases
from trust.apart import answers
from trust.evaluator import Evaluator, UnknownOperator
from trust.figure import Figure
from trust.figures import as_evaluated, kind_in
from trust.values import any_value

from streamcheck.certify.bitwise import Bitwise, Unrenderable, WideBitwise, unknown_function
from streamcheck.certify.remainders import Remainders
from streamcheck.certify.runs import Runs
from streamcheck.certify.script import Script
from streamcheck.certify.solvers import bitwuzla, cvc5
from streamcheck.core.term import Term, constant, term, variable, variables
from streamcheck.core.types import ArrayType, StructType
from streamcheck.problem.specification import Input, Named, Specification
from streamcheck.problem.specification_json import to_plain
from streamcheck.smt.bit_solver import BitSolver, is_expressible
from streamcheck.smt.solver import Solver

PATIENCE = 10_000_000
AT_ONCE = 50  # values of an operator in one query
HEAVY = ("sqrt", "div")  # of floats; a tenth of the values, since solvers write out a circuit for each
IN_A_PROCESS = 40  # queries
PROCESS_SECONDS = 600.0
SECONDS = 10.0


def solvers(count, seed):
    """So many values of operators, by each solver."""
    figure, rng = Figure("operators at their types, by each solver and rendering"), Random(seed)
    every = [case for case in cases() if is_known(*case)]
    at_once = max(1, min(AT_ONCE, count // len(every)))
    turns = count // at_once
    chosen = [every[i % len(every)] for i in range(turns)] if turns > len(every) else rng.sample(every, turns)
    work = lambda turn: judged(Random(f"{seed} {turn}"), chosen[turn], at_once)
    for begin in range(0, turns, IN_A_PROCESS):  # solvers keep the terms that they have seen
        turns_of_process = range(begin, min(turns, begin + IN_A_PROCESS))
        for turn, found in zip(turns_of_process, answers(work, turns_of_process, PROCESS_SECONDS), strict=True):
            if isinstance(found, str):
                figure.wrong.append(f"{chosen[turn]}: {found}")
                continue
            figure.tried.update(found[0])
            figure.wrong += found[1]
    return figure


def judged(rng, case, count):
    """What was tried of so many values of an operator, and what is wrong."""
    tried, wrong = Counter(), []
    count = max(1, count // 10) if case[0] in HEAVY and case[1][0].kind == "float" else count
    values = [wrong_value(rng, number, *case) for number in range(count)]
    if None in values:
        return Counter({"without a meaning in the evaluator": count}), []
    for solver, answer in answers_of_solvers(values):
        note(tried, wrong, case, values, solver, answer)
    return tried, wrong


def note(tried, wrong, case, values, solver, answer):
    if answer is not False and len(values) > 1:  # which of them?
        for value in values:
            for other, alone in answers_of_solvers([value]):
                if other == solver:
                    note(tried, wrong, case, [value], solver, alone)
        return
    tried[f"values by {solver}" if answer is not None else f"values that {solver} left open"] += len(values)
    if answer is True:
        name, types, payload = case
        wrong.append(f"{solver}: {name} of {', '.join(map(str, types))}, {payload}: {wrong_among(values)}")


def is_known(name, types, payload):
    """True if solvers have a meaning for it: parts of arrays and structs are terms of their own."""
    if any(isinstance(t, ArrayType | StructType) for t in (*types, payload)):
        return False
    return unknown_function(term(name, *(variable(f"v{i}", t) for i, t in enumerate(types)), payload=payload)) is None


class WrongValue(NamedTuple):
    given: list  # what each operand is
    wrong: Term  # that the operator has another value than the evaluator's


def wrong_value(rng, number, name, types, payload):
    """Of some operands, which are variables of this number; None if the evaluator has no meaning for them."""
    operands = [variable(f"v{number}_{i}", t) for i, t in enumerate(types)]
    node = term(name, *operands, payload=payload)
    values = [any_value(rng, t) for t in types]
    try:
        expected = evaluated(node, operands, values)
    except UnknownOperator:
        return None
    given = [same(v, constant(v.type, value)) for v, value in zip(operands, values, strict=True)]
    return WrongValue(given, term("not", same(node, constant(node.type, expected))))


def wrong_among(values):
    """That one of them is wrong. What the operands are is required outside of the choice, so that a solver puts the
    values in their places at first."""
    return reduce(lambda a, b: term("or", a, b), [value.wrong for value in values])


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


def answers_of_solvers(values):
    """The answer of each solver that the values have a form for: True if it finds one of them to be wrong."""
    given, wrong = [row for value in values for row in value.given], wrong_among(values)
    condition = reduce(lambda a, b: term("and", a, b), [*given, wrong])
    solver = Solver(PATIENCE)
    solver.add(condition)
    yield "z3", solver.check()
    if is_expressible([condition]):
        bits = BitSolver(PATIENCE)
        bits.add(*given, wrong)
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
