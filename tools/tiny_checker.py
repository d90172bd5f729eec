"""A second checker of proofs, to be read in an hour. It shares no code with streamcheck, and it searches for nothing.

    streamcheck show engine.py --as json > engine.json
    streamcheck prove engine.py --certificates saved
    python tools/tiny_checker.py engine.json saved/*.json --solver 'cvc5 --quiet'

It reads equations and certificates, makes each proof obligation anew, and asks a solver: any program that reads SMT-LIB
on its standard input. For each certificate it answers, and the exit status is that of the worst answer,

    proved        the property holds in every run                                          0
    undecided     the solver had no answer in its time                                     3
    not proved    an obligation does not hold: the certificate proves nothing              4
    not read      no proof of a specification, or one that this file has no means for      2
    damaged       not what the format says, or not about these equations                   2

A specification is a transition system. A state x has a value for each register: a cell, with a first value and an
equation for the next, or a constant, which never changes. Inputs are chosen anew at every step. Write

    I[x]      the registers have their first values     A[x]   the assumptions hold, and enums have members as values
    T[x, y]   y has the next values of x                P[x]   the property holds

A run is x0 x1 x2 … with I[x0], every T[xi, xi+1] and every A[xi]. A certificate gives J, the conjunction of its
invariants, E, that of its equalities, a number k and a kind of argument. P holds in every run if J and E do, and
A[x] ∧ J[x] ∧ E[x] ⊨ P[x]. E holds in every run by induction. J holds in every run by an argument that may use E:

    inductive    the first k states are in J; after any k states in J, so is the next
    compressed   the same, but the k + 1 states differ and only the first may be initial. If a run left J, cut out what
                 lies between equal states and before the last initial one: the rest is a run that leaves J as well
    complete     the first k states are in J; no run has k + 1 states that differ, only the first of them initial
    ended        the first k states are in J; no run has k + 1 states

Read on from `obligations`. `Script` makes the text of an obligation, `Rendering` gives the operators their meaning.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple


class Damaged(Exception):
    """A file is not what the format says."""

class NotRead(Exception):
    """Something that this checker has no means for."""

class System(NamedTuple):
    registers: dict[Term, tuple[Term | None, Term]]  # each variable's first value (None: any) and its next one
    inputs: list[Term]
    assumptions: list[Term]

class Proof(NamedTuple):
    kind: str
    k: int
    invariants: list[Term]
    equalities: list[Term]

Ask = Callable[["Script"], None]

def obligations(system: System, holds: Term, proof: Proof) -> Iterator[tuple[str, list[Term], Ask, Sequence[Ask]]]:
    """Each has a name, what it is about, formulas that must contradict each other, and parts that make up the whole."""
    A, J, E, k, kind = system.assumptions, proof.invariants, proof.equalities, proof.k, proof.kind

    def rows(script: Script, last: int, known: list[Term], *, initial: bool) -> None:
        """T[x0, x1] ∧ … ∧ T[xlast-1, xlast] ∧ A[x0] ∧ … ∧ A[xlast], and what is known of every state."""
        for i in range(last + 1):
            script.state(i, initial)
            script.require(script.all_of([*A, *known], i))

    def implication(script: Script) -> None:
        """A[x0] ∧ J[x0] ∧ E[x0] ∧ ¬P[x0]."""
        rows(script, 0, [*J, *E], initial=False)
        script.require(f"(not {script.all_of([holds], 0)})")

    def base(script: Script, goals: list[Term], known: list[Term], k: int) -> None:
        """I[x0] ∧ T[x0, x1] ∧ … ∧ A[x0] ∧ … ∧ A[xi] ∧ ¬goals[xi] for some i < k."""
        so_far, broken = "true", []
        for i in range(k):
            script.state(i, initial=True)
            so_far = script.name_for(f"(and {so_far} {script.all_of([*A, *known], i)})")
            broken.append(f"(and {so_far} (not {script.all_of(goals, i)}))")
        script.require(f"(or false {' '.join(broken)})")

    def step(script: Script, given: list[Term], goals: list[Term], known: list[Term], k: int) -> None:
        """T[x0, x1] ∧ … ∧ A[x0] ∧ … ∧ A[xk] ∧ given[x0] ∧ … ∧ given[xk-1] ∧ ¬goals[xk]."""
        rows(script, k, known, initial=False)
        for i in range(k):
            script.require(script.all_of(given, i))
        script.require(f"(not {script.all_of(goals, k)})")
        if kind == "compressed" and given is J:
            script.require_compressed(k)

    def no_row(script: Script) -> None:
        """I[x0] ∧ T[x0, x1] ∧ … ∧ A[x0] ∧ … ∧ A[xk]."""
        rows(script, k, E, initial=True)
        if kind == "complete":
            script.require_compressed(k)

    yield "implication", [*J, *E, holds], implication, []
    if E:
        yield "base case of the equalities", E, partial(base, goals=E, known=[], k=1), []
        yield "step case of the equalities", E, partial(step, given=E, goals=E, known=[], k=1), []
    whole, *parts = (partial(base, goals=goals, known=E, k=k) for goals in (J, *([j] for j in J)))
    yield "base case", [*J, *E], whole, parts
    if kind in ("inductive", "compressed"):
        whole, *parts = (partial(step, given=J, goals=goals, known=E, k=k) for goals in (J, *([j] for j in J)))
        yield "step case", [*J, *E], whole, parts
    else:
        yield "no further state", [*J, *E], no_row, []

class Script:
    """The text of an obligation. Each term at each step is one definition, so the text is as large as their graph."""

    def __init__(self, system: System, rendering: Rendering) -> None:
        self.system, self.rendering, self.lines = system, rendering, list[str]()
        self.names: dict[tuple[Term, int], str] = {}
        self.functions: set[str] = set()

    def text(self) -> str:
        has_numbers = any(re.search(r"\b(Int|Real)\b", line) for line in self.lines)
        return "\n".join([f"(set-logic {'ALL' if has_numbers else 'QF_UFBVFP'})", *self.lines, "(check-sat)", ""])

    def require(self, formula: str) -> None:
        self.lines.append(f"(assert {formula})")

    def name_for(self, formula: str) -> str:
        self.lines.append(f"(define-fun f{len(self.lines)} () Bool {formula})")
        return f"f{len(self.lines) - 1}"

    def state(self, i: int, initial: bool) -> None:
        """I[x0] if it shall be initial, or any x0; T[xi-1, xi] as definitions of xi; the inputs of step i."""
        for var, (first, after) in self.system.registers.items():
            if i or (initial and first is not None):
                self.define(var, i, self.write(after, i - 1) if i or first is None else self.write(first, 0))
            else:
                self.declare(var, i)
        for var in self.system.inputs:
            self.declare(var, i)

    def declare(self, var: Term, i: int) -> None:
        self.names[var, i] = name = f"t{len(self.names)}"
        self.lines.append(f"(declare-const {name} {self.rendering.sort(var.type)})")
        if self.rendering.over_int and is_machine(var.type):
            low, high = (self.rendering.literal(("Int",), n) for n in limits(var.type))
            self.require(f"(and (<= {low} {name}) (<= {name} {high}))")

    def define(self, term: Term, i: int, body: str) -> None:
        self.names[term, i] = name = f"t{len(self.names)}"
        self.lines.append(f"(define-fun {name} () {self.rendering.sort(term.type)} {body})")

    def write(self, root: Term, i: int) -> str:
        """The name of a term at a step; what it is made of is defined before it."""
        for term in below([root], lambda t: (t, i) in self.names):
            demand(term.op != "var", f"nothing declares the variable {term.payload!r}")
            function = unknown_function(term)
            if function and function not in self.functions:
                self.functions.add(function)
                sorts = " ".join(self.rendering.sort(a.type) for a in term.args)
                self.lines.append(f"(declare-fun {function} ({sorts}) {self.rendering.sort(term.type)})")
            self.define(term, i, self.rendering.text(term, [self.names[a, i] for a in term.args]))
        return self.names[root, i]

    def all_of(self, terms: list[Term], i: int) -> str:
        return f"(and true true {' '.join(self.write(t, i) for t in terms)})"

    def require_compressed(self, k: int) -> None:
        """All of x0 … xk differ, and none but x0 is initial."""
        registers = self.system.registers
        for i, j in combinations(range(k + 1), 2):
            same = (f"(= {self.names[v, i]} {self.names[v, j]})" for v in registers)
            self.require(f"(not (and true true {' '.join(same)}))")
        for j in range(1, k + 1):
            firsts = [(v, first) for v, (first, _) in registers.items() if first is not None]
            at_first = (f"(= {self.names[v, j]} {self.write(first, j)})" for v, first in firsts)
            self.require(f"(not (and true true {' '.join(at_first)}))")

# The meaning of the operators on a, b, c. O and I are zero and one of the type, M is its width less one.
ANY = {"same": "(= a b)", "eq": "(= a b)", "ne": "(not (= a b))", "mux": "(ite a b c)"}
LOGIC = ANY | {"not": "(not a)", "and": "(and a b)", "or": "(or a b)", "xor": "(xor a b)", "implies": "(=> a b)"}
UNSIGNED = ANY | {
    "add": "(bvadd a b)", "sub": "(bvsub a b)", "mul": "(bvmul a b)", "neg": "(bvneg a)", "abs": "a",
    "bitand": "(bvand a b)", "bitor": "(bvor a b)", "bitxor": "(bvxor a b)", "bitnot": "(bvnot a)",
    "lt": "(bvult a b)", "le": "(bvule a b)", "gt": "(bvugt a b)", "ge": "(bvuge a b)",
    "min": "(ite (bvult b a) b a)", "max": "(ite (bvult a b) b a)", "rem": "(bvurem a b)", "mod": "(bvurem a b)",
    "quot": "(ite (= b O) O (bvudiv a b))", "floordiv": "(ite (= b O) O (bvudiv a b))",
    "shl": "(ite fits (bvshl a b) O)", "shr": "(ite fits (bvlshr a b) O)"}
SIGNED = UNSIGNED | {
    "lt": "(bvslt a b)", "le": "(bvsle a b)", "gt": "(bvsgt a b)", "ge": "(bvsge a b)", "rem": "(bvsrem a b)",
    "min": "(ite (bvslt b a) b a)", "max": "(ite (bvslt a b) b a)", "abs": "(ite (bvslt a O) (bvneg a) a)",
    "quot": "(ite (= b O) O (bvsdiv a b))", "mod": "(bvsmod a b)", "shr": "(ite fits (bvashr a b) (bvashr a M))",
    "floordiv": "(ite (= b O) O (ite (and (xor (bvslt a O) (bvslt b O)) (distinct (bvsrem a b) O)) "
                "(bvsub (bvsdiv a b) I) (bvsdiv a b)))"}
REAL = ANY | {
    "add": "(+ a b)", "sub": "(- a b)", "mul": "(* a b)", "neg": "(- a)", "abs": "(ite (< a O) (- a) a)",
    "lt": "(< a b)", "le": "(<= a b)", "gt": "(> a b)", "ge": "(>= a b)", "div": "(ite (= b O) O (/ a b))",
    "min": "(ite (< b a) b a)", "max": "(ite (< a b) b a)"}
INT = {op: text for op, text in REAL.items() if op != "div"} | {  # `div` and `mod` leave a remainder of at least 0
    "floordiv": "(ite (= b O) O (ite (> b O) (div a b) (div (- a) (- b))))",
    "mod": "(ite (= b O) a (ite (> b O) (mod a b) (- (mod (- a) (- b)))))",
    "quot": "(ite (= b O) O (ite (>= a O) (div a b) (- (div (- a) b))))",
    "rem": "(ite (= b O) a (ite (>= a O) (mod a b) (- (mod (- a) b))))"}
FLOAT = ANY | {
    "add": "(fp.add RNE a b)", "sub": "(fp.sub RNE a b)", "mul": "(fp.mul RNE a b)", "div": "(fp.div RNE a b)",
    "sqrt": "(fp.sqrt RNE a)", "ceil": "(fp.roundToIntegral RTP a)", "floor": "(fp.roundToIntegral RTN a)",
    "neg": "(fp.neg a)", "abs": "(fp.abs a)", "min": "(ite (fp.lt b a) b a)", "max": "(ite (fp.lt a b) b a)",
    "lt": "(fp.lt a b)", "le": "(fp.leq a b)", "gt": "(fp.gt a b)", "ge": "(fp.geq a b)",
    "eq": "(fp.eq a b)", "ne": "(not (fp.eq a b))",
    **{name: f"({name}_WIDTH a)" for name in "sin cos tan asin acos atan sinh cosh tanh exp log".split()},
    **{name: f"({name}_WIDTH a b)" for name in ("atan2", "pow")}}
TABLES = {"Bool": LOGIC, "enum": ANY, "Int": INT, "Real": REAL, "float": FLOAT}
TESTS = "eq ne same lt le gt ge".split()  # their results are Bool

def table_of(type: Any) -> dict[str, str]:
    return TABLES[type[0]] if type[0] != "bits" else SIGNED if is_signed(type) else UNSIGNED

def unknown_function(term: Term) -> str:
    """The name of a function that may be any function in a proof; nothing for other operators."""
    rounds = term.op == "cast" and term.type[0] == "float" and term.args[0].type[0] in ("Int", "Real")
    is_unknown = rounds or "_WIDTH" in FLOAT.get(term.op, "")
    return f"{term.args[0].type[0]}_{term.op}_{term.type[1]}" if is_unknown else ""

class Rendering(NamedTuple):
    """Machine integers are bit-vectors, or whole numbers with a remainder at every operation. Either will do, but a
    solver may decide one and not the other. Enums are their codes, machine integers of 32 bits."""

    over_int: bool

    def sort(self, type: Any) -> str:
        if type[0] == "float":
            return f"(_ FloatingPoint {FLOAT_SIZES[type[1]]})"
        return str(type[0]) if not is_machine(type) else "Int" if self.over_int else f"(_ BitVec {width_of(type)})"

    def literal(self, type: Any, value: Any) -> str:
        match type[0]:
            case "Bool":
                return "true" if value else "false"
            case "float" if value != value:
                return f"(_ NaN {FLOAT_SIZES[type[1]]})"
            case "float":
                code = "".join(f"{byte:08b}" for byte in struct.pack(">f" if type[1] == 32 else ">d", value))
                end = 9 if type[1] == 32 else 12
                return f"(fp #b{code[0]} #b{code[1:end]} #b{code[end:]})"
            case "bits" | "enum" if not self.over_int:
                return f"(_ bv{value % 2 ** width_of(type)} {width_of(type)})"
            case "bits" | "enum":  # one bit with a sign has no number 1, and means -1
                value = limits(type)[0] + (value - limits(type)[0]) % 2 ** width_of(type)
        size = f"(/ {abs(value.numerator)}.0 {value.denominator}.0)" if type[0] == "Real" else f"{abs(value)}"
        return f"(- {size})" if value < 0 else size

    def text(self, term: Term, operands: list[str]) -> str:
        if term.op == "const":
            return self.literal(term.type, term.payload)
        if unknown_function(term):
            return f"({unknown_function(term)} {' '.join(operands)})"
        if term.op == "cast":
            return self.cast(term, operands[0])
        type, meant = term.args[-1 if term.op == "mux" else 0].type, dict(zip("abc", operands, strict=False))
        if type[0] in ("bits", "Int", "Real"):
            meant |= {name: self.literal(type, (type[0] == "Real" and Fraction(n)) or n) for n, name in enumerate("OI")}
        wraps = type[0] == "bits" and self.over_int
        if type[0] == "bits" and not self.over_int:
            meant["M"] = self.literal(type, width_of(type) - 1)
            if term.op in ("shl", "shr"):
                meant["fits"], meant["b"] = self.amount(width_of(type), term.args[1].type, meant["b"])
        table = INT if wraps else table_of(type)
        if term.op not in table:
            raise NotRead(f"{term.op} on whole numbers")
        text = re.sub(r"\b(a|b|c|O|I|M|fits)\b", lambda found: meant[found[0]], table[term.op])
        return wrapped(text, type) if wraps and term.op not in ("mux", *TESTS) else text

    def amount(self, w: int, by: Any, b: str) -> tuple[str, str]:
        """The condition that a shift is by at least 0 and less than the width; the amount in so many bits."""
        if by[0] != "bits":
            raise NotRead("a shift by a whole number")
        fits = f"(bvult {b} {self.literal(by, w)})" if w < 2 ** by[1] else "true"
        fits = f"(and {fits} (bvsge {b} {self.literal(by, 0)}))" if by[2] else fits
        return fits, resized(b, by[1], w, False)

    def cast(self, term: Term, a: str) -> str:
        old, new = term.args[0].type, term.type
        machines = [is_machine(old), is_machine(new)]
        if old == new:
            return a
        if new[0] == "Bool":
            return f"(not (fp.isZero {a}))" if old[0] == "float" else f"(not (= {a} {self.literal(old, Fraction(0))}))"
        if old[0] == "Bool":
            return f"(ite {a} {self.literal(new, 1)} {self.literal(new, 0)})"
        if machines in ([True, False], [False, True]) and self.over_int is ("float" in (old[0], new[0])):
            raise NotRead(f"a conversion from {old[0]} to {new[0]}")  # the other rendering has the means
        if new[0] == "float":
            is_plain = old[0] == "float" or is_signed(old)
            return f"((_ to_fp{'' if is_plain else '_unsigned'} {FLOAT_SIZES[new[1]]}) RNE {a})"
        if old[0] == "float" and machines[1]:
            return self.float_to_machine(old, new, a)
        if old[0] == "float":
            a = f"(ite (or (fp.isNaN {a}) (fp.isInfinite {a})) 0.0 (fp.to_real {a}))"
            return a if new[0] == "Real" else truncated(a)
        if all(machines) and not self.over_int:
            return resized(a, width_of(old), width_of(new), is_signed(old))
        if new[0] == "Real":
            return f"(to_real {a})"
        whole = truncated(a) if old[0] == "Real" else a
        return wrapped(whole, new) if machines[1] else whole

    def float_to_machine(self, old: Any, new: Any, a: str) -> str:
        """The truncated number, or the nearest of the type; 0 for NaN."""
        if new[1] > 64:
            raise NotRead("a float as a number of more than 64 bits")
        low, high = limits(new)
        text = f"((_ fp.to_{'s' if new[2] else 'u'}bv {new[1]}) RTZ {a})"
        text = f"(ite (fp.geq {a} {self.literal(old, float(high + 1))}) {self.literal(new, high)} {text})"
        text = f"(ite (fp.leq {a} {self.literal(old, float(low))}) {self.literal(new, low)} {text})"
        return f"(ite (fp.isNaN {a}) {self.literal(new, 0)} {text})"

FLOAT_SIZES = {32: "8 24", 64: "11 53"}

def truncated(a: str) -> str:
    return f"(ite (< {a} 0.0) (- (to_int (- {a}))) (to_int {a}))"

def wrapped(a: str, type: Any) -> str:
    """The number of the type that is congruent to an exact one."""
    low, size = limits(type)[0], 2 ** width_of(type)
    return f"(- (mod (+ {a} {-low}) {size}) {-low})" if low else f"(mod {a} {size})"

def resized(a: str, old: int, new: int, sign: bool) -> str:
    if old >= new:
        return a if old == new else f"((_ extract {new - 1} 0) {a})"
    return f"((_ {'sign' if sign else 'zero'}_extend {new - old}) {a})"

def is_machine(type: Any) -> bool:
    return type[0] in ("bits", "enum")

def is_signed(type: Any) -> bool:
    return type[0] == "enum" or bool(type[2])

def width_of(type: Any) -> int:
    return 32 if type[0] == "enum" else int(type[1])

def limits(type: Any) -> tuple[int, int]:
    half = 2 ** (width_of(type) - 1)
    return (-half, half - 1) if is_signed(type) else (0, 2 * half - 1)

# Terms are interned: equal ones are one object. Arrays and structs are taken apart as they are read.

class Term:
    """The payload of "const" is its value, that of "var" its name."""

    def __init__(self, op: str, type: Any, args: tuple[Term, ...], payload: Any) -> None:
        self.op, self.type, self.args, self.payload = op, type, args, payload

KNOWN: dict[Any, Term] = {}
BOOL: Any = ("Bool",)  # others: ("bits", width, signed) ("enum", name, codes) ("Int",) ("Real",) ("float", width)
Row = tuple[Any, list[Term]]  # a type, and the scalars that a value of it is made of

def term(op: str, type: Any, *args: Term, payload: Any = None) -> Term:
    key = op, type, args, payload.hex() if isinstance(payload, float) else payload
    return KNOWN.setdefault(key, Term(op, type, args, payload))

def join(op: str, terms: Iterable[Term]) -> Term:
    result = term("const", BOOL, payload=op == "and")
    for t in terms:
        result = term(op, BOOL, result, t)
    return result

def below(roots: Iterable[Term], known: Callable[[Term], bool] = lambda _: False) -> Iterator[Term]:
    """The roots and what they are made of, operands first, without what is known. Terms are deep: no recursion."""
    stack, done = [(t, False) for t in roots], set[Term]()
    while stack:
        t, ready = stack.pop()
        if ready and t not in done:
            done.add(t)
            yield t
        elif not (ready or t in done or known(t)):
            stack += [(t, True), *((a, False) for a in t.args)]

def demand(condition: bool, what: str) -> None:
    if not condition:
        raise Damaged(what)

def find(table: Any, key: Any) -> Any:
    """An entry of a table by its name, or of a list by its number."""
    fits = type(key) is int and 0 <= key < len(table) if isinstance(table, list) else key in table
    demand(fits, f"{key!r} stands for nothing")
    return table[key]

def fields(row: Any, required: str, optional: str = "") -> Any:
    """The row, which has these fields and no others."""
    wrong = ({*required.split()} - {*row}) | ({*row} - {*required.split(), *optional.split()})
    demand(isinstance(row, dict) and not wrong, f"fields that are unknown or missing: {', '.join(sorted(wrong))}")
    return row

SCALARS = {"Bool": BOOL, "Int": ("Int",), "Real": ("Real",), "Float": ("float", 32), "Double": ("float", 64)}

def read_type(row: Any, types: list[Any]) -> Any:
    match row:
        case {"array": element, "length": int(n), **rest} if n > 0 and not rest:
            return ("array", *[(str(i), find(types, element)) for i in range(n)])
        case {"struct": str(), "fields": parts, **rest} if not rest:
            return ("struct", *((str(name), find(types, t)) for name, t in parts))
        case {"enum": str(name), "members": members, **rest} if not rest:
            return ("enum", name, tuple(read_value(("bits", 32, True), code) for _, code in members))
        case str() if number := re.fullmatch(r"(Int|Word)([1-9]\d{0,3})", row):
            return ("bits", int(number[2]), number[1] == "Int")
    return find(SCALARS, row)

def scalars_of(name: Any, type: Any) -> list[Term]:
    """The scalar variables of a variable: `a.0`, `a.1` of an array, `p.x` of a struct."""
    if type[0] not in ("array", "struct"):
        demand(isinstance(name, str), f"a variable of the name {name!r}")
        return [term("var", type, payload=name)]
    return [v for part, t in type[1:] for v in scalars_of(f"{name}.{part}", t)]

def read_value(type: Any, value: Any) -> Any:
    match type[0]:
        case "Bool":
            fits = isinstance(value, bool)
        case "Real":
            fits = isinstance(value, str) and re.fullmatch(r"-?\d{1,900}(/[1-9]\d{0,900})?", value) is not None
            value = Fraction(value) if fits else None
        case "float":
            value = float(value) if value in ("NaN", "Infinity", "-Infinity") else value
            fits = isinstance(value, float)
            if fits and type[1] == 32 and abs(value) < float("inf"):
                fits = struct.unpack(">f", struct.pack(">f", value)) == (value,)
        case _:
            fits = isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 4096
            fits = fits and (type[0] == "Int" or limits(type)[0] <= value <= limits(type)[1])
            fits = fits and (type[0] != "enum" or value in type[2])
    demand(fits, f"{value!r} is not of type {type[0]}")
    return value

def read_tables(data: Any) -> tuple[list[Any], list[Row]]:
    types, table = list[Any](), list[Row]()
    for row in data["types"]:
        types.append(read_type(row, types))
    for op, *rest in data["terms"]:
        target = find(types, rest.pop(0)) if op in ("const", "var", "cast", "array", "struct") else None
        payload = rest.pop(0) if op in ("const", "var", "field", "with_field") else None
        demand(op not in ("const", "var") or not rest, f"{op} with operands")
        if op == "const":
            table.append((target, [term(op, target, payload=read_value(target, payload))]))
        elif op == "var":
            table.append((target, scalars_of(payload, target)))
        else:
            table.append(apply(op, target, payload, [find(table, i) for i in rest]))
    return types, table

def apply(op: str, target: Any, at: Any, rows: list[Row]) -> Row:
    types, parts = [type for type, _ in rows], [part for _, part in rows]
    match op, types:
        case ("array" | "struct"), _ if target[0] == op and types == [t for _, t in target[1:]]:
            return target, [p for part in parts for p in part]
        case ("field", [("struct", *inner)]) | ("with_field", [("struct", *inner), _]):
            field, sizes = find(inner, at)[1], [len(scalars_of("", t)) for _, t in inner]
            begin, end = sum(sizes[:at]), sum(sizes[: at + 1])
            demand(op == "field" or types[1] == field, "a field of another type")
            if op == "field":
                return field, parts[0][begin:end]
            return types[0], parts[0][:begin] + parts[1] + parts[0][end:]
        case ("index" | "update"), [("array", *inner), ("bits" | "Int", *_), *new] if len(new) == (op == "update"):
            n, size = len(inner), len(parts[0]) // len(inner)
            elements = [parts[0][i * size : (i + 1) * size] for i in range(n)]
            hits = [is_nearest(parts[1][0], i, n) for i in range(n)]
            if op == "update":
                demand(new[0] == inner[0][1], "an element of another type")
                return types[0], [p for i in range(n) for p in choose(hits[i], parts[2], elements[i])]
            chosen = elements[0]
            for i in range(1, n):
                chosen = choose(hits[i], elements[i], chosen)
            return inner[0][1], chosen
        case "mux", [("Bool",), a, b] if a == b:
            return a, choose(parts[0][0], parts[1], parts[2])
        case ("eq" | "ne"), [("array" | "struct", *_) as a, b] if a == b:
            equal = join("and", (term("eq", BOOL, x, y) for x, y in zip(*parts, strict=True)))
            return BOOL, [equal if op == "eq" else term("not", BOOL, equal)]
        case "cast", [old] if {old[0], target[0]} <= {"Bool", "bits", "Int", "Real", "float", "enum"}:
            demand(target[0] != "enum", "a conversion to an enum")
            return target, [term(op, target, *parts[0])]
        case ("shl" | "shr"), [("bits", *_) as type, by] if by[0] in ("bits", "Int"):
            return type, [term(op, type, parts[0][0], parts[1][0])]
    form = table_of(types[0]).get(op, "") if types and types[0][0] not in ("array", "struct") else ""
    operands = len({*re.findall(r"\b[ab]\b", form)})
    fits = form and op not in ("mux", "shl", "shr") and types == types[:1] * operands
    demand(bool(fits), f"{op!r} on {types}")
    type = BOOL if op in TESTS else types[0]
    return type, [term(op, type, *(p for (p,) in parts))]

def choose(condition: Term, ours: list[Term], others: list[Term]) -> list[Term]:
    return [a if a is b else term("mux", a.type, condition, a, b) for a, b in zip(ours, others, strict=True)]

def is_nearest(index: Term, i: int, n: int) -> Term:
    """The condition that element i of n is meant: an index outside means the nearest element."""
    if index.type[0] == "bits" and i > limits(index.type)[1]:
        return join("or", [])
    at = term("const", index.type, payload=i)
    low, high = [term("le", BOOL, at, index)] * (i > 0), [term("le", BOOL, index, at)] * (i < n - 1)
    return join("and", low + high)

def scalar(table: list[Row], number: Any) -> Term:
    row: Row = find(table, number)
    demand(row[0] == BOOL, "a condition that is not Bool")
    return row[1][0]

HEAD = "format name at types terms inputs constants cells wires triggers observers properties assumptions warnings"

def read_equations(data: Any) -> tuple[System, dict[str, Term]]:
    """The system, and for each property the term that has to hold always."""
    fields(data, HEAD, "calls unused instances components")
    demand(data["format"] == "streamcheck equations 1", "another format")
    types, table = read_tables(data)
    inputs = [fields(row, "name type extern doc unit at") for row in data["inputs"]]
    constants = [fields(row, "name type at", "label") for row in data["constants"]]
    chosen, fixed = (
        [v for row in rows for v in scalars_of(row["name"], find(types, row["type"]))] for rows in (inputs, constants)
    )
    variables = chosen + fixed
    registers: dict[Term, tuple[Term | None, Term]] = {v: (None, v) for v in fixed}
    for row in data["cells"]:
        fields(row, "name initial next at free named")
        (type, firsts), (other, nexts) = find(table, row["initial"]), find(table, row["next"])
        demand(type == other and row["free"] in (True, False) and all(t.op != "var" for t in below(firsts)), "a cell")
        cell = scalars_of(row["name"], type)
        for v, first, after in zip(cell, firsts, nexts, strict=True):
            registers[v] = None if row["free"] else first, after
        variables += cell
    demand(len({v.payload for v in variables}) == len(variables), "two variables of one name")
    assumptions = [scalar(table, fields(row, "name term at")["term"]) for row in data["assumptions"]]
    for v in variables:
        if v.type[0] == "enum" and (v not in registers or registers[v][0] is None):
            codes = (term("const", v.type, payload=code) for code in v.type[2])
            assumptions.append(join("or", (term("eq", BOOL, v, code) for code in codes)))
    claims = dict[str, Term]()
    for row in data["properties"]:
        holds = scalar(table, fields(row, "name term goal implied at", "vacuity contract")["term"])
        claims[row["name"]] = find({"always": holds, "reachable": term("not", BOOL, holds)}, row["goal"])
    demand(len(claims) == len(data["properties"]), "two properties of one name")
    return System(registers, chosen, assumptions), claims

def read_proof(data: Any) -> Proof:
    fields(data, "format file spec property claim kind k invariants equalities free prover types terms")
    demand(data["format"] == "streamcheck certificate 2" and data["claim"] == "proved", "another format")
    demand(data["kind"] in ("inductive", "compressed", "complete", "ended"), f"the kind {data['kind']!r}")
    demand(type(data["k"]) is int and 1 <= data["k"] <= 10_000, f"k is {data['k']!r}")
    demand(all(isinstance(name, str) for name in data["free"]), "free")  # what the proof does without: not needed here
    _, table = read_tables(data)
    J, E = ([scalar(table, i) for i in data[key]] for key in ("invariants", "equalities"))
    return Proof(data["kind"], data["k"], J, E)

def cone(system: System, roots: list[Term]) -> System:
    """The registers and inputs that the roots and the assumptions depend on, now or at earlier steps."""
    needed, pending = set[Term](), [*roots, *system.assumptions]
    while found := list(below(pending, needed.__contains__)):
        needed.update(found)
        pending = [system.registers[t][1] for t in found if t in system.registers]
    registers = {v: row for v, row in system.registers.items() if v in needed}
    return System(registers, [v for v in system.inputs if v in needed], system.assumptions)

def answer_of(solver: list[str], text: str, seconds: float) -> str:
    """`unsat`, `sat`, or `unknown` for all else that a solver may do."""
    try:
        done = subprocess.run(solver, input=text, capture_output=True, text=True, timeout=seconds)
    except (subprocess.TimeoutExpired, OSError):  # OSError: it cannot be started
        return "unknown"
    answer = done.stdout.strip()
    return answer if done.returncode == 0 and answer in ("unsat", "sat") else "unknown"

def judge(system: System, about: list[Term], ask: Ask, solver: list[str], seconds: float) -> str:
    """The first answer to an obligation in either rendering, after a few seconds for each."""
    scripts, reasons = list[Script](), list[str]()
    for over_int in (False, True):
        script = Script(cone(system, about), Rendering(over_int))
        try:
            ask(script)
            scripts.append(script)
        except NotRead as reason:
            reasons.append(str(reason))
    if not scripts:
        raise NotRead("; ".join(reasons))
    for limit in (min(3.0, seconds), seconds):
        for script in scripts:
            answer = answer_of(solver, script.text(), limit)
            if answer != "unknown":
                return answer
    return "unknown"

def check(equations: Any, certificate: Any, solver: list[str], seconds: float) -> tuple[str, str]:
    """The answer to a certificate, and the obligation that stands in its way."""
    if {"program", "bound", "inputs", "edges"} & {*certificate}:
        raise NotRead("a counterexample, the proof of a program, or a proof about runs of limited length")
    proof, rows = read_proof(certificate), equations if isinstance(equations, list) else [equations]
    named = [row for row in rows if row["name"] == certificate["spec"]]
    demand(len(named) == 1, f"there are no equations of {certificate['spec']!r}")
    system, claims = read_equations(named[0])
    for name, about, ask, parts in obligations(system, find(claims, certificate["property"]), proof):
        answer = judge(system, about, ask, solver, min(6.0, seconds) if len(parts) > 1 else seconds)
        if answer == "unknown" and len(parts) > 1:  # all of them one by one
            answers = [judge(system, about, part, solver, seconds) for part in parts]
            answer = next((a for a in answers if a != "unsat"), "unsat")
        if answer != "unsat":
            return ("not proved", f"{name} does not hold") if answer == "sat" else ("undecided", name)
    return "proved", ""

def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("equations", help="what `streamcheck show FILE --as json` printed")
    parser.add_argument("certificates", nargs="+", help="what `streamcheck prove FILE --certificates DIR` saved")
    parser.add_argument("--solver", required=True, type=shlex.split, help="a command that reads SMT-LIB on its input")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds for each query")
    given = parser.parse_args()
    for formula, right in (("true", "sat"), ("false", "unsat")):
        if answer_of(given.solver, f"(set-logic QF_UFBVFP)\n(assert {formula})\n(check-sat)\n", 9.0) != right:
            parser.error(f"the solver does not answer {right} to (assert {formula})")
    status = 0
    for path in given.certificates:
        try:
            with open(given.equations, encoding="utf-8") as one, open(path, encoding="utf-8") as other:
                answer, why = check(json.load(one), json.load(other), given.solver, given.timeout)
        except NotRead as reason:
            answer, why = "not read", str(reason)
        except Exception as reason:
            answer, why = "damaged", f"{type(reason).__name__}: {reason}"
        print(f"{path}: {answer}{f' ({why})' if why else ''}")
        status = max(status, {"proved": 0, "undecided": 3, "not proved": 4}.get(answer, 2))
    return status

if __name__ == "__main__":
    sys.exit(main())
