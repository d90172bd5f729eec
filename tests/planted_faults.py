"""Faults planted in every part between a problem and its verdict, and the checks that refuse the false verdicts.

    python tests/planted_faults.py        prints the table

Each fault changes a part of the package in memory, then runs the whole tool on a problem on which the changed part
leads to a false verdict. The verdict must be refused: by the checker, by the replay, by the check of the flattener, or
by the proof of the C. A fault without effect proves nothing, so it counts as a failure of the table.
"""

from __future__ import annotations

import sys
from dataclasses import replace

from planted_components import calls, components
from planted_delays import delays
from planted_realizability import realizability
from planting import (
    INDUCTION,
    Fault,
    compiling,
    counter,
    element,
    endless,
    latches,
    late,
    long_choice,
    long_delay,
    machine_safe,
    machine_unsafe,
    monitor,
    narrowing,
    one_of_many,
    one_of_two,
    proving,
    proving_of_infinite_runs,
    specification,
    turning,
    turns,
    two_arguments,
    unsafe,
    wrapping,
)

from streamcheck import Bool, Int, Spec, Word8, Word16, cast, extern, implies, mux, stream
from streamcheck.codegen import chains, initial_state, pack, rewrite, step
from streamcheck.core import intervals, simplify
from streamcheck.core.operators import OPERATORS
from streamcheck.core.operators.table import c_type
from streamcheck.core.term import FALSE, TRUE, substitute
from streamcheck.core.types import EnumType, MachineType, default
from streamcheck.deliver import narrow
from streamcheck.engines import structural
from streamcheck.engines.cfa import predicate_reach
from streamcheck.engines.protocol import Progress
from streamcheck.invariants import houdini
from streamcheck.lang import flatten
from streamcheck.problem.claim import Goal
from streamcheck.problem.verdict import Certificate, EdgePath, Falsified, Proved, Trace
from streamcheck.run import liveness, workers
from streamcheck.run import prove as run
from streamcheck.transform import (
    automaton_integers,
    automaton_system,
    blocks,
    cells,
    integers,
    reduce,
    scalar_system,
    scalars,
    slicing,
    views,
)

# Transformations


def frozen_next(system):
    return replace(system, state=tuple(replace(s, next=s.var) for s in system.state))


def constants_of(system):
    return {s.var: s.init for s in system.state if s.init is not None}


def equals_of(system):
    first, *others = (s.var for s in system.state)
    return dict.fromkeys(others, first)


def never_to_an_error(edge):
    return replace(edge, guard=FALSE) if edge.target == "bad" else edge


def default_in_place_of_free(real):
    def abstract(graph, claim, kept):
        made = real(graph, claim, kept)
        images = {image: scalars.constant(image.type, default(image.type)) for image, _ in made.free.values()}
        roots = substitute([*made.system.roots()], images)
        system = replace(
            made.system,
            state=tuple(replace(s, next=roots[s.next]) for s in made.system.state),
            definitions=(),
            properties=tuple(replace(p, term=roots[p.term]) for p in made.system.properties),
        )
        return replace(made, system=system)

    return abstract


def without_assumptions(real):
    return lambda system: real(replace(system, assumptions=()))


def transformations():
    yield Fault(
        "integers", "no wrap-around",
        lambda p: p.set(integers, "_wrap", lambda raw, type: raw.term),
        proving(specification("p", wrapping), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "integers", "certificates keep their images over Int",
        over_int(lambda p: p.set(integers.MachineTerms, "certificate", lambda self, certificate: certificate)),
        proving(specification("p", turning), INDUCTION, "proved"),
    )  # fmt: skip
    yield Fault(
        "scalars", "an index always means the last element",
        lambda p: p.set(scalars, "_select_element", lambda node, elements, index: elements[-1]),
        proving(specification("p", element), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "scalar system", "a reachable property is claimed to hold always",
        lambda p: p.set(scalar_system, "always", lambda s: replace(
            s, properties=tuple(replace(c, goal=Goal.ALWAYS) for c in s.properties))),
        proving(specification("p", lambda: counter() < 0, exists=True), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "reduction", "every state variable keeps its first value",
        lambda p: p.set(reduce, "_constants", constants_of),
        proving(specification("p", lambda: counter() < 3), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "reduction", "state variables are equal that are not",
        lambda p: p.set(reduce, "_duplicates", lambda s: equals_of(s) if len(s.state) > 1 else {}),
        proving(specification("p", lambda: counter() == stream(Int, lambda n: [0] + +(n + 2))), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "reduction", "assumptions are dropped",
        lambda p: p.set(reduce, "_restrict_to_cone", without_assumptions(reduce._restrict_to_cone)),
        proving(specification("p", lambda: extern("x", Int) < 5, lambda: extern("x", Int) < 5), INDUCTION, "proved"),
    )  # fmt: skip
    yield Fault(
        "clusters", "the state of a part stands still",
        lambda p: p.set(workers, "clusters", lambda s: [frozen_next(s)]),
        proving(specification("p", lambda: counter() < 3), ("k-induction",), "falsified"),
    )  # fmt: skip
    yield Fault(
        "narrow parts", "the state of a part stands still",
        lambda p: p.set(workers, "narrow_parts", lambda s: [frozen_next(s)]),
        proving(specification("p", lambda: counter() < 3), ("templates",), "falsified"),
    )  # fmt: skip


def ways_back():
    """Transformations that leave evidence as it is, and a chain of them that is not gone back at all."""
    twins = specification("p", lambda: counter() == stream(Int, lambda n: [0] + +(n + 1)))
    wrapped = specification("p", turning)
    path = unsafe("q0 -> q1: x := 0", "q1 -> q2: skip", "q2 -> bad: x == 0")
    for part, owner, problem, names in (
        ("integers", integers.SystemIntegers, wrapped, INDUCTION),
        ("reduction", reduce.Reduction, twins, INDUCTION),
        ("large blocks", blocks.LargeBlocks, path, ("dfs-bmc",)),
        ("automaton over Int", automaton_integers.AutomatonIntegers, machine_safe, ("ic3",)),
        ("views", views.View, wrapped, INDUCTION),
    ):
        yield Fault(
            part, "there is no way back",
            over_int(lambda p, owner=owner: p.set(owner, "back", lambda self, evidence: evidence)),
            proving(problem, names, "another"),
        )  # fmt: skip


def interval_arithmetic():
    """It serves the model over Int, the ranges of narrowing and the generator of C."""
    wrong_sum = {**intervals.RULES, "add": lambda a, b: a}
    yield Fault(
        "intervals", "a sum is as long as its first operand",
        lambda p: p.set(intervals, "RULES", wrong_sum),
        proving(specification("p", wrapping), INDUCTION, "falsified"),
    )  # fmt: skip
    small = extern("small", Word8)
    yield Fault(
        "intervals", "a sum is as long as its first operand, in C",
        lambda p: p.set(intervals, "RULES", wrong_sum),
        compiling(monitor(lambda: mux(small < 9, Word8(1), Word8(2)) + 7 > 5)),
    )  # fmt: skip
    yield Fault(
        "narrowing", "every stream is said to stay below 10",
        lambda p: p.set(narrow.Search, "ranges", lambda self: dict.fromkeys(self.variables, (0, 9))),
        narrowing(monitor(lambda: stream(Int, lambda n: [0] + +mux(n < 99, n + 1, 0)) > 50)),
    )  # fmt: skip


def generator():
    """The generator of C beyond the operators: its rules for terms, and the state."""
    small = extern("small", Word8)

    def plant(owner, name, value):
        return lambda p: p.set(owner, name, value)

    for what, change, problem in (
        ("every comparison holds", plant(rewrite, "decide", lambda op, a, b: True), monitor(lambda: small < 9)),
        ("no state changes", plant(step.StepWriter, "_commits", lambda self, site: []), monitor(lambda: turns() == 3)),
        ("a delay line stands still", plant(step.StepWriter, "_ring_commit", no_commit), monitor(lambda: late() == 3)),
        ("the first argument is passed for all", plant(step.StepWriter, "call", first_argument), two_arguments()),
    ):
        yield Fault("generator", what, change, compiling(problem))
    weight = pack.PackedWord._weight
    for what, change, problem, options in (
        ("a delay begins with zeros", plant(initial_state, "_is_zero", lambda value: True), monitor(long_delay), {}),
        ("a long choice is its first value", plant(step, "chains_of", first_values), monitor(long_choice), {}),
        (
            "all packed bits are the lowest",
            plant(pack.PackedWord, "_weight", lambda word, bit, _: weight(word, bit, 0)),
            monitor(latches),
            {"pack": True},
        ),
    ):
        yield Fault("generator", what, change, compiling(problem, **options))


def first_values(*given):
    found = chains.chains_of(*given)
    return {node: replace(chain, values=chain.values[:1] * len(chain.values)) for node, chain in found.items()}


def no_commit(self, ring, site):
    return step.Commit(self.state_names[ring.name], (), frozenset())


CALL = step.StepWriter.call


def first_argument(self, trigger, site):
    return CALL(self, replace(trigger, args=tuple((name, trigger.args[0][1]) for name, _ in trigger.args)), site)


def transformations_of_automata():
    yield Fault(
        "slicing", "no edge leads to the error",
        lambda p: p.set(slicing, "simplify_edge", never_to_an_error),
        proving(unsafe("q0 -> q1: x := 0", "q1 -> bad: x == 0"), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "large blocks", "of two edges the second is forgotten",
        lambda p: p.set(blocks._Blocks, "_choice", lambda self, a, b: a),
        proving(unsafe("q0 -> q1: x := 0", "q0 -> q1: x := 1", "q1 -> bad: x == 1"), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "large blocks", "the way back forgets the last statement",
        lambda p: p.set(blocks, "statements_of", shorter(blocks.statements_of)),
        proving(unsafe("q0 -> q1: x := 0", "q1 -> q2: skip", "q2 -> bad: x == 0"), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "scalars of automata", "an index always means the last element",
        over_int(lambda p: p.set(scalars, "_select_element", lambda node, elements, index: elements[-1])),
        proving(one_of_two, INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "cells of arrays", "no two indexes are the same",
        lambda p: p.set(cells, "_are_equal", lambda a, b: FALSE),
        proving(one_of_many, INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "cells of arrays", "no index is a witness",
        lambda p: p.set(cells, "_range", lambda index, last: (FALSE, FALSE)),
        proving(one_of_many, INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "elements", "all candidates are inductive",
        lambda p: p.set(houdini.Houdini, "inductive", lambda self, candidates: list(candidates)),
        proving(one_of_many, ("elements",), "falsified"),
    )  # fmt: skip
    yield Fault(
        "automaton over Int", "no wrap-around",
        lambda p: p.set(integers, "_wrap", lambda raw, type: raw.term),
        proving(machine_unsafe, ("ic3",), "falsified"),
    )  # fmt: skip
    yield Fault(
        "automaton over Int", "every guard is taken to bound all values",
        lambda p: p.set(automaton_integers, "_bounds", lambda guard: constant_zero(guard)),
        proving(machine_unsafe, ("ic3",), "falsified"),
    )  # fmt: skip
    yield Fault(
        "automaton as a system", "no update happens",
        lambda p: p.set(automaton_system, "_next_value", lambda automaton, taken, v: v),
        proving(unsafe("q0 -> q1: x := 0", "q1 -> q2: x := x + 1", "q2 -> bad: x != x + 0", "q2 -> q3: x >= 0",
                       "q3 -> q2: x := 0 - 1", "q2 -> bad: x < 0"), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "structural abstraction", "what is dropped is zero, not free",
        lambda p: p.set(structural, "abstract", default_in_place_of_free(structural.abstract)),
        proving(specification("p", lambda: counter() < 3), ("structural",), "falsified"),
    )  # fmt: skip
    yield Fault(
        "predicate abstraction", "nothing but the entry is explored",
        lambda p: p.set(predicate_reach.PredicateReach, "_explore", explores_nothing),
        proving(unsafe("q0 -> q1: x := 0", "q1 -> bad: x == 0"), ("predicate-reach",), "falsified"),
    )  # fmt: skip


def explores_nothing(self, program, explored, attempt):
    explored.add(predicate_reach.Reached(program.entry, ()))
    return None
    yield


def constant_zero(guard):
    return {v: (0, 0) for v in integers.walk([guard]) if v.op == "var"}


def shorter(real):
    def statements_of(source, its_blocks, path):
        whole = real(source, its_blocks, path)
        return EdgePath(whole.initial, whole.edges[:-1])

    return statements_of


# Simplification


def simplification():
    x, b = extern("x", Int), extern("b", Bool)
    for name, change, claim in (
        ("choice", lambda c, a, b: a, lambda: mux(b, True, x == 3)),
        ("conjunction", lambda *terms: TRUE, lambda: (x > 3) & (x < 5)),
        ("disjunction", lambda *terms: TRUE, lambda: (x > 3) | (x < 1)),
        ("implication", lambda a, b: TRUE, lambda: implies(x > 3, x < 1)),
        ("_OPPOSITE", {**simplify._OPPOSITE, "gt": "lt"}, lambda: implies(~(x > 3), x != 3)),
    ):
        yield Fault(
            "simplify", f"wrong {name}",
            lambda p, name=name, change=change: p.set(simplify, name, change),
            proving(specification("p", claim), INDUCTION, "falsified"),
        )  # fmt: skip
    yield Fault(
        "simplify", "constants are folded to zero",
        lambda p: p.set(simplify, "meaning", lambda node: lambda *values: default(node.type)),
        proving(specification("p", lambda: ~(Word8(3) + Word8(4) == extern("y", Word8))), INDUCTION, "falsified"),
    )  # fmt: skip


# Operators: ten of them, each column

TEN = {
    "add": lambda a, b: a + b == 0,
    "sub": lambda a, b: a - b == 0,
    "mul": lambda a, b: a * b == 0,
    "neg": lambda a, b: -a == 0,
    "floordiv": lambda a, b: a // b == 0,
    "mod": lambda a, b: a % b == 0,
    "bitand": lambda a, b: (a & b) == 0,
    "shr": lambda a, b: (a >> b) == 0,
    "lt": lambda a, b: (b < a) ^ True,
    "cast": lambda a, b: cast(Word16, a) == 0,
}


def smt_zero(signature):
    match signature.result:
        case MachineType(width=w):
            return f"(_ bv0 {w})"
        case EnumType():
            return "(_ bv0 32)"
    return {"bool": "(not (= a a))", "integer": "0"}[signature.result.kind]


def operators():
    a, b = extern("a", Word8), extern("b", Word8)
    for name, claim in TEN.items():
        row = OPERATORS[name]
        yield Fault(
            name, "the Python column gives zero",
            lambda p, row=row: p.set(row, "python", lambda s: "False" if s.result.kind == "bool" else "0"),
            proving(specification("p", of_constants(claim, b), lambda: (a ^ b) >= 0), INDUCTION, "falsified"),
        )  # fmt: skip
        yield Fault(
            name, "the SMT column gives zero",
            lambda p, row=row: p.set(row, "smt", smt_zero),
            proving(specification("p", lambda claim=claim: claim(a, b), lambda: (a ^ b) >= 0), INDUCTION, "falsified"),
        )  # fmt: skip
        yield Fault(
            name, "the C column gives zero",
            lambda p, row=row: p.set(row, "c", lambda s: f"({c_type(s.result)})0"),
            compiling(trigger(claim, a, b)),
        )  # fmt: skip


def of_constants(claim, b):
    return lambda: claim(Word8(13), Word8(3)) | (b == b + 1)


def over_int(plant):
    """The change in runs without bit-vectors, which may be quicker than what the change is about."""

    def change(p):
        p.set(run, "views", lambda *args, **options: views.views(*args, **options)[:1])
        plant(p)

    return change


def trigger(claim, a, b):
    def made():
        spec = Spec("planted")
        spec.trigger("alarm", ~claim(a, b))
        return flatten.flatten(spec)

    return made


# Engines: the last step of each


def lying(real):
    """Proofs become counterexamples, counterexamples and depths become proofs."""

    def run(self, task, inbox):
        for event in real(self, task, inbox):
            match event:
                case Proved(prop):
                    yield Falsified(prop, Trace({}, ({},)))
                case Falsified(prop):
                    yield false_proof(task, prop)
                case Progress():
                    for p in task.system.properties:
                        yield false_proof(task, p.name)
                case _:
                    yield event

    return run


def inventing(real):
    """Counterexamples of one step, whatever the engine finds."""

    def run(self, task, inbox):
        for event in real(self, task, inbox):
            for claim in task.system.properties:
                yield Falsified(claim.name, Trace({}, ({},)))
            yield event

    return run


def false_proof(task, prop):
    claim = next(p for p in task.system.properties if p.name == prop)
    return Proved(prop, Certificate("inductive", 1, (claim.term,)))


def engines():
    from streamcheck.run.registry import ENGINES

    for name, row in ENGINES.items():
        engine = type(row.load(row.options))
        holds = unsafe("q0 -> q1: x := 0", "q1 -> q1: x := x + 1", "q1 -> bad: x == x + 1")
        if name == "pdr-bits":
            holds = specification("p", lambda: stream(Bool, lambda b: [True] + +b))
        yield Fault(
            name, "a counterexample is made up",
            lambda p, engine=engine: p.set(engine, "run", inventing(engine.run)),
            proving(holds, (name,), "proved"),
        )  # fmt: skip
        problem = unsafe("q0 -> q1: x := 0", "q1 -> q1: x := x + 1", "q1 -> bad: x == 3")
        if name in ("bit-bmc", "bit-induction"):
            problem = specification("p", lambda: stream(Word8, lambda n: [0] + +(n + 1)) != 3)
        if name == "pdr-bits":
            problem = specification("p", lambda: stream(Bool, lambda b: [True] + +~b))
        if name == "elements":
            problem = one_of_many
        yield Fault(
            name, "the last step lies",
            lambda p, engine=engine: p.set(engine, "run", lying(engine.run)),
            proving(problem, (name,), "falsified"),
        )  # fmt: skip


def infinite_runs():
    back = liveness.lasso_of
    saturated = endless(lambda: stream(Word8, lambda n: [0] + +mux(n == 2, 2, n + 1)) < 2)
    yield Fault(
        "infinite runs", "a lasso goes back to its first step",
        lambda p: p.set(liveness, "lasso_of", lambda monitored, trace: replace(back(monitored, trace), loop=0)),
        proving_of_infinite_runs(saturated),
    )  # fmt: skip
    yield Fault(
        "infinite runs", "every state is that of the beginning",
        lambda p: p.set(liveness, "lasso_of", lambda monitored, trace: Trace({}, ({},), loop=0)),
        proving_of_infinite_runs(saturated),
    )  # fmt: skip


def faults():
    yield from transformations()
    yield from transformations_of_automata()
    yield from ways_back()
    yield from interval_arithmetic()
    yield from generator()
    yield from simplification()
    yield from delays()
    yield from components()
    yield from calls()
    yield from infinite_runs()
    yield from realizability()
    yield from operators()
    yield from engines()


def main():
    rows = [(fault.part, fault.what, fault.outcome()) for fault in faults()]
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    for part, what, outcome in rows:
        print(f"{part:{widths[0]}}  {what:{widths[1]}}  {outcome}")
    number = sum(outcome.startswith("refused") for _, _, outcome in rows)
    print(f"{number} of {len(rows)} refused")
    return 0 if number == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
