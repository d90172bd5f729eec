"""Faults planted in every part between a problem and its verdict, and the checks that refuse the false verdicts.

    python tests/planted_faults.py        prints the table

Each fault changes a part of the package in memory, then runs the whole tool on a problem on which the changed part
leads to a false verdict. The verdict must be refused: by the checker, by the replay, by the check of the flattener, or
by the proof of the C. A fault without effect proves nothing, so it counts as a failure of the table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from program_search import automaton

from streamcheck import Array, Bool, Int, Spec, Word8, Word16, cast, drop, extern, implies, mux, stream, unknown
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core import evaluate, simplify
from streamcheck.core.operators import OPERATORS
from streamcheck.core.operators.table import c_type
from streamcheck.core.term import FALSE, TRUE, substitute
from streamcheck.core.types import EnumType, MachineType, default, machine
from streamcheck.engines import structural
from streamcheck.engines.cfa import predicate_reach
from streamcheck.engines.protocol import Progress
from streamcheck.lang import flatten
from streamcheck.lang.check_flattening import Unfaithful
from streamcheck.problem.claim import Goal
from streamcheck.problem.verdict import Certificate, EdgePath, Falsified, Proved, Trace
from streamcheck.run import workers
from streamcheck.run.prove import Alarm, Settings, prove
from streamcheck.smt import translate
from streamcheck.transform import (
    automaton_integers,
    automaton_system,
    blocks,
    integers,
    reduce,
    scalar_system,
    scalars,
    slicing,
)
from streamcheck.validate.bisimulation import validate

SECONDS = 20.0
INDUCTION = ("bmc", "k-induction")


class Planted:
    """Changes that are undone at the end."""

    def __init__(self):
        self._undo = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for undo in reversed(self._undo):
            undo()
        forget()

    def set(self, owner, name, value):
        old = getattr(owner, name)
        set_attribute = object.__setattr__ if _is_frozen(owner) else setattr
        self._undo.append(lambda: set_attribute(owner, name, old))
        set_attribute(owner, name, value)
        forget()


def forget():
    """Clear the compiled forms of operators."""
    for module in (evaluate, translate):
        for value in list(vars(module).values()):
            if getattr(value, "__module__", "") == module.__name__ and hasattr(value, "cache_clear"):
                value.cache_clear()


def _is_frozen(owner):
    return getattr(type(owner), "__dataclass_params__", None) is not None


@dataclass(frozen=True)
class Fault:
    """`plant` makes the change; `attempt` runs the tool and gives the outcome in words."""

    part: str
    what: str
    plant: Callable[[Planted], None]
    attempt: Callable[[], str]

    @property
    def title(self):
        return f"{self.part}: {self.what}"

    def outcome(self):
        """`refused: …` is what must come out; `accepted: …` and `no effect: …` are failures."""
        with Planted() as planted:
            self.plant(planted)
            return self.attempt()


def proving(problem, engines, truth):
    """Run engines on a problem whose only property has this truth."""

    def attempt():
        try:
            (result,) = prove(problem(), Settings(timeout=SECONDS, jobs=1, engines=engines)).results
        except (Alarm, Unfaithful) as refusal:
            return f"refused: {str(refusal)[:100]}"
        if result.verdict == "unknown" and "could not be checked" in result.reason:
            return f"refused: {result.reason[:100]}"
        if result.verdict == truth or result.verdict == "unknown":
            return f"no effect: {result.verdict}"
        return f"accepted: {result.verdict}, {result.engine}"

    return attempt


def compiling(problem):
    """Generate C and prove it."""

    def attempt():
        failures = validate(generate(problem(), CodeOptions()).code, SECONDS).failures
        return f"refused: {failures[0][:100]}" if failures else "accepted: the C was proved"

    return attempt


# Problems


def specification(name, claim, assumed=None, exists=False):
    def made():
        spec = Spec("planted")
        if assumed is not None:
            spec.assume("assumed", assumed())
        (spec.exists if exists else spec.prop)(name, claim())
        return flatten.flatten(spec)

    return made


def wrapping():
    b = extern("b", Bool)
    return stream(Word8, lambda w: [1] + +mux(b, w + 1, w)) != 0


def turning():
    return stream(Word8, lambda w: [1] + +mux(w == 3, 1, w + 1)) < 4


def counter():
    return stream(Int, lambda n: [0] + +(n + 1))


def element():
    i = extern("i", Word8)
    return Array(Word8, 2)([1, 2])[i] == 2


def unsafe(*lines):
    return lambda: automaton("q0", "bad", *lines)


def machine_unsafe():
    """x is 0 after 85 turns, as 1 + 3 * 85 wraps around."""
    lines = ("q0 -> q1: x := 1", "q1 -> q2: x >= 1", "q2 -> q1: x := x + 3", "q1 -> bad: x == 0")
    return automaton("q0", "bad", *lines, type=machine(8, signed=False))


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
        lambda p: p.set(integers.MachineTerms, "certificate", lambda self, certificate: certificate),
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


# Simplification, the flattener's delays


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


def delays():
    def two():
        x = extern("x", Int)
        return stream(Int, lambda s: [1, 2] + +x)

    for what, name, change in (
        ("elements in the wrong order", "_term", elements_reversed),
        ("next values one too far", "_define_cells", shifted),
        ("wrong first values", "_define_cells", all_zero),
        ("drop drops one too few", "_needs", drop_less),
        ("delays are constants", "_term", constant_delay),
        ("delays are inputs", "_term", undelayed),
    ):
        yield Fault(
            "flattener", what,
            lambda p, name=name, change=change: p.set(
                flatten.Flattening, name, change(getattr(flatten.Flattening, name))
            ),
            proving(specification("p", lambda: (two() == 1) & (drop(1, two()) == 2)), INDUCTION, "falsified"),
        )  # fmt: skip
    yield Fault(
        "flattener", "an unknown stream is an input",
        lambda p: p.set(flatten.Flattening, "_unknown", named_as_input(flatten.Flattening._unknown)),
        proving(specification("p", lambda: unknown(Int) == extern("x", Int)), INDUCTION, "falsified"),
    )  # fmt: skip
    yield Fault(
        "flattener", "state begins with any value",
        lambda p: p.set(flatten.Flattening, "_define_cells", beginning_anywhere(flatten.Flattening._define_cells)),
        proving(specification("p", lambda: counter() >= 0), INDUCTION, "proved"),
    )  # fmt: skip


def constant_delay(real):
    def term_of(self, key, args):
        node, shift = key
        if node.op == "append" and shift < len(node.payload):
            return scalars.constant(node.type, node.payload[shift])
        return real(self, key, args)

    return term_of


def undelayed(real):
    def term_of(self, key, args):
        node, _ = key
        return scalars.variable("x", node.type) if node.op == "append" else real(self, key, args)

    return term_of


def named_as_input(real):
    return lambda self, node: replace(real(self, node), name="x")


def beginning_anywhere(real):
    def define(self, node):
        real(self, node)
        self.cells |= {var: replace(self.cells[var], free=True) for var in self.delays[node]}

    return define


def elements_reversed(real):
    def term_of(self, key, args):
        node, shift = key
        if node.op == "append" and shift < len(node.payload):
            return real(self, (node, len(node.payload) - 1 - shift), args)
        return real(self, key, args)

    return term_of


def shifted(real):
    def define(self, node):
        real(self, node)
        held = self.delays[node]
        self.cells[held[0]] = replace(self.cells[held[0]], next=self.cells[held[-1]].next)

    return define


def all_zero(real):
    def define(self, node):
        real(self, node)
        for var in self.delays[node]:
            cell = self.cells[var]
            self.cells[var] = replace(cell, initial=scalars.constant(cell.initial.type, default(cell.initial.type)))

    return define


def drop_less(real):
    def needs(self, key):
        node, shift = key
        if node.op == "drop":
            return [(node.args[0], shift + node.payload - 1)]
        return real(self, key)

    return needs


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


def false_proof(task, prop):
    claim = next(p for p in task.system.properties if p.name == prop)
    return Proved(prop, Certificate("inductive", 1, (claim.term,)))


def engines():
    from streamcheck.run.registry import ENGINES

    for name, row in ENGINES.items():
        engine = type(row.load(row.options))
        problem = unsafe("q0 -> q1: x := 0", "q1 -> q1: x := x + 1", "q1 -> bad: x == 3")
        if name in ("bit-bmc", "bit-induction"):
            problem = specification("p", lambda: stream(Word8, lambda n: [0] ++ (n + 1)) != 3)
        if name == "pdr-bits":
            problem = specification("p", lambda: stream(Bool, lambda b: [True] + +~b))
        yield Fault(
            name, "the last step lies",
            lambda p, engine=engine: p.set(engine, "run", lying(engine.run)),
            proving(problem, (name,), "falsified"),
        )  # fmt: skip


def faults():
    yield from transformations()
    yield from transformations_of_automata()
    yield from simplification()
    yield from delays()
    yield from operators()
    yield from engines()


def main():
    rows = [(fault.part, fault.what, fault.outcome()) for fault in faults()]
    widths = [max(len(row[i]) for row in rows) for i in (0, 1)]
    for part, what, outcome in rows:
        print(f"{part:{widths[0]}}  {what:{widths[1]}}  {outcome}")
    refused = sum(outcome.startswith("refused") for _, _, outcome in rows)
    print(f"{refused} of {len(rows)} refused")
    return 0 if refused == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
