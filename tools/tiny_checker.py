"""A second checker of proofs, to be read in an hour. It shares no code with streamcheck, and it searches for nothing.

    streamcheck show engine.py --as json > engine.json
    streamcheck prove engine.py --certificates saved
    python tools/tiny_checker.py engine.json saved/*.json --solver 'cvc5 --quiet'

It reads equations and certificates, makes each proof obligation anew (`obligations`, from where to read on), writes it
for a solver (`query`), and asks that: any program that reads SMT-LIB on its standard input. `Script` gives operators
their meaning. For each certificate it answers, and the exit status is that of the worst answer,

    proved        the property holds in every run                                          0
    undecided     the solver had no answer in its time                                     3
    not proved    an obligation does not hold: the certificate proves nothing              4
    not read      no proof of a specification, or one that this file has no means for      2
    damaged       not what the format says, or not about these equations                   2

A specification is a transition system. A state x has a value for each register: a cell, with a first value and an
equation for the next, or a constant, which never changes. Inputs are chosen anew at every step. Write

    I[x]      the registers have their first values     A[x]   the assumptions hold
    T[x, y]   y has the next values of x                P[x]   the property holds

A run is x0 x1 x2 … with I[x0], every T[xi, xi+1] and every A[xi]. A certificate gives J, the conjunction of its
invariants, E, that of its equalities, a number k and a kind of argument. P holds in every run if J and E do, and
A[x] ∧ J[x] ∧ E[x] ⊨ P[x]. E holds in every run by induction. J holds in every run by an argument that may use E:

    inductive    the first k states are in J; after any k states in J, so is the next
    compressed   the same, but the k + 1 states differ and only the first may be initial. If a run left J, cut out what
                 lies between equal states and before the last initial one: the rest is a run that leaves J as well
    complete     the first k states are in J; no run has k + 1 states that differ, only the first of them initial
    ended        the first k states are in J; no run has k + 1 states
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import struct
import subprocess
import sys
from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, pairwise
from typing import Any, NamedTuple

# A term: its operator; its type, of constants, variables, casts, arrays and structs; the value of "const", the name of
# "var" or the number of a field; its operands, which are rows of the same table before it. Row 0 of a table is false.
Row = tuple[str, Any, Any, list[int]]
Register = tuple[Any, int | None, int | None]  # its type, first row (None: any value), next row (None: no change)

class NotRead(Exception):
    """Something that this checker has no means for."""

class System(NamedTuple):
    table: list[Row]
    inputs: dict[str, Any]  # their types
    registers: dict[str, Register]
    assumptions: list[int]

def obligations(P: int, J: list[int], E: list[int], kind: str, k: int) -> Iterator[tuple[str, Any]]:
    """The name of each, and what `query` is to write: goals, known, given, first, last, initial, compressed."""
    yield "implication", ([P], [*J, *E], [], 0, 0, False, False)
    if E:
        yield "base case of the equalities", (E, [], [], 0, 0, True, False)
        yield "step case of the equalities", (E, [], E, 1, 1, False, False)
    yield "base case", (J, E, J, 0, k - 1, True, False)
    if kind in ("inductive", "compressed"):
        yield "step case", (J, E, J, k, k, False, kind == "compressed")
    else:
        yield "no further state", ([0], E, J, k, k, True, kind == "complete")  # row 0 is false

def query(
    system: System, over_int: bool, goals: list[int], known: list[int], given: list[int],
    first: int, last: int, initial: bool, compressed: bool,
) -> str:
    """For some i from `first` to `last` there are x0 … xi with T[xj, xj+1], with A and `known` in each, `given` in each
    but xi, and a false goal in xi. If `initial`, I[x0]; if `compressed`, no two are equal, and I[xj] for no j > 0.
    A state is that of the registers that all these terms depend on. An obligation is that there are no such states."""
    script, table, so_far = Script(over_int), system.table, "true"
    rows = cone(table, system.registers, [*system.assumptions, *known, *given, *goals])
    names = {name for op, _, name, _ in (table[n] for n in rows) if op == "var"}
    registers = {name: register for name, register in system.registers.items() if name in names}
    firsts = {name: script.values(table, cone(table, {}, [row]), {})[row]
              for name, (_, row, _) in registers.items() if row is not None}
    state = {name: script.any_value(type, name not in firsts) for name, (type, _, _) in registers.items()}
    state |= firsts if initial else {}
    states, broken = list[dict[str, Typed]](), list[str]()
    for i in range(last + 1):
        inputs = {name: script.any_value(type, True) for name, type in system.inputs.items() if name in names}
        values = script.values(table, rows, state | inputs)
        so_far = script.all_of(so_far, values, [*system.assumptions, *known])
        if i >= first:
            broken.append(f"(and {so_far} (not {script.all_of('true', values, goals)}))")
        so_far = script.all_of(so_far, values, given)
        states.append(state)
        state = {name: state[name] if after is None else values[after] for name, (_, _, after) in registers.items()}
    for one, other in [*combinations(states, 2), *((state, firsts) for state in states[1:])] if compressed else ():
        same = " ".join(equal("=", type, one[name][1], value) for name, (type, value) in other.items())
        script.lines.append(f"(assert (not (and true true {same})))")
    has_numbers = any(re.search(r"\b(Int|Real)\b", line) for line in script.lines)
    logic = f"(set-logic {'ALL' if has_numbers else 'QF_UFBVFP'})"
    return "\n".join([logic, *script.lines, f"(assert (or false {' '.join(broken)}))", "(check-sat)", ""])

# The meaning of the operators on a and b. O and I are zero and one of the type.
ANY = {"same": "(= a b)"}
LOGIC = ANY | {"not": "(not a)", "and": "(and a b)", "or": "(or a b)", "xor": "(xor a b)", "implies": "(=> a b)"}
UNSIGNED = ANY | {
    "add": "(bvadd a b)", "sub": "(bvsub a b)", "mul": "(bvmul a b)", "neg": "(bvneg a)", "abs": "a",
    "bitand": "(bvand a b)", "bitor": "(bvor a b)", "bitxor": "(bvxor a b)", "bitnot": "(bvnot a)",
    "lt": "(bvult a b)", "le": "(bvule a b)", "gt": "(bvugt a b)", "ge": "(bvuge a b)",
    "min": "(ite (bvult b a) b a)", "max": "(ite (bvult a b) b a)", "rem": "(bvurem a b)", "mod": "(bvurem a b)",
    "quot": "(ite (= b O) O (bvudiv a b))", "floordiv": "(ite (= b O) O (bvudiv a b))",
    "shl": "(bvshl a b)", "shr": "(bvlshr a b)"}
SIGNED = UNSIGNED | {
    "lt": "(bvslt a b)", "le": "(bvsle a b)", "gt": "(bvsgt a b)", "ge": "(bvsge a b)", "rem": "(bvsrem a b)",
    "min": "(ite (bvslt b a) b a)", "max": "(ite (bvslt a b) b a)", "abs": "(ite (bvslt a O) (bvneg a) a)",
    "quot": "(ite (= b O) O (bvsdiv a b))", "mod": "(bvsmod a b)", "shr": "(bvashr a b)",
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
FUNCTIONS = "sin cos tan asin acos atan sinh cosh tanh exp log atan2 pow".split()  # may be any in a proof
FLOAT = ANY | {
    "add": "(fp.add RNE a b)", "sub": "(fp.sub RNE a b)", "mul": "(fp.mul RNE a b)", "div": "(fp.div RNE a b)",
    "sqrt": "(fp.sqrt RNE a)", "ceil": "(fp.roundToIntegral RTP a)", "floor": "(fp.roundToIntegral RTN a)",
    "neg": "(fp.neg a)", "abs": "(fp.abs a)", "min": "(ite (fp.lt b a) b a)", "max": "(ite (fp.lt a b) b a)",
    "lt": "(fp.lt a b)", "le": "(fp.leq a b)", "gt": "(fp.gt a b)", "ge": "(fp.geq a b)",
    **dict.fromkeys(FUNCTIONS, "a"), "atan2": "a b", "pow": "a b"}
TABLES = {"Bool": LOGIC, "Int": INT, "Real": REAL, "float": FLOAT}
TESTS = "same lt le gt ge".split()  # their results are Bool
BOOL: Any = ("Bool",)  # other types: ("Int",) ("Real",) ("float", width) ("bits", width, signed)
CODE: Any = ("bits", 32, True)  # (*CODE, name, codes) is an enum: its values are the codes
SIZES = {32: "8 24", 64: "11 53"}
Typed = tuple[Any, Any]  # a type, and a formula, or a list of those of the parts of an array or struct

class Script:
    """Definitions in SMT-LIB. Machine integers are bit-vectors, or whole numbers with a remainder at every operation:
    a solver may decide one and not the other. `|…|` stands for what has no form."""

    def __init__(self, over_int: bool) -> None:
        self.over_int, self.lines, self.names = over_int, list[str](), dict[str, str]()

    def name(self, type: Any, formula: str) -> str:
        """A name for a formula. Equal ones have one, so the text is as large as the graph of the terms."""
        if formula not in self.names:
            self.names[formula] = f"t{len(self.lines)}"
            self.lines.append(f"(define-fun {self.names[formula]} () {self.sort(type)} {formula})")
        return self.names[formula]

    def all_of(self, so_far: str, values: dict[int, Typed], rows: list[int]) -> str:
        return self.name(BOOL, f"(and true {so_far} {' '.join(values[n][1] for n in rows)})")

    def any_value(self, type: Any, is_member: bool) -> Typed:
        """Of an enum a member, or any code."""
        if type[0] in ("array", "struct"):
            return type, [self.any_value(t, is_member)[1] for _, t in type[1:]]
        name = f"x{len(self.lines)}"
        self.lines.append(f"(declare-const {name} {self.sort(type)})")
        if self.over_int and type[0] == "bits":
            low, high = (self.literal(type, numbers(type)[i]) for i in (0, -1))
            self.lines.append(f"(assert (and (<= {low} {name}) (<= {name} {high})))")
        if is_member and len(type) > 3:
            is_code = (f"(= {name} {self.literal(type, code)})" for code in type[4])
            self.lines.append(f"(assert (or false false {' '.join(is_code)}))")
        return type, name

    def sort(self, type: Any) -> str:
        if type[0] == "float":
            return f"(_ FloatingPoint {SIZES[type[1]]})"
        return str(type[0]) if type[0] != "bits" else "Int" if self.over_int else f"(_ BitVec {type[1]})"

    def literal(self, type: Any, value: Any) -> str:
        match type[0]:
            case "Bool":
                return "true" if value else "false"
            case "float":
                return f"((_ to_fp {SIZES[type[1]]}) #x{struct.pack('>f' if type[1] == 32 else '>d', value).hex()})"
            case "bits" if not self.over_int:
                return f"(_ bv{value % 2 ** type[1]} {type[1]})"
            case "bits":  # one bit with a sign has no number 1, and means -1
                value = numbers(type)[0] + (value - numbers(type)[0]) % 2 ** type[1]
        size = f"(/ {abs(value.numerator)}.0 {value.denominator}.0)" if type[0] == "Real" else f"{abs(value)}"
        return f"(- {size})" if value < 0 else size

    def values(self, table: list[Row], rows: Iterable[int], state: dict[str, Typed]) -> dict[int, Typed]:
        """Those of some rows in a state; each comes after its operands."""
        values = dict[int, Typed]()
        for n in rows:
            op, type, payload, operands = table[n]
            if op == "const":
                values[n] = type, self.name(type, self.literal(type, payload))
            elif op == "var":
                values[n] = find(state, payload)
                demand(values[n][0] == type, f"the variable {payload!r} of another type")
            else:
                types, parts = [values[i][0] for i in operands], [values[i][1] for i in operands]
                values[n] = self.apply(op, types, parts, target=type, at=payload)
        return values

    def apply(self, op: str, types: list[Any], parts: list[Any], target: Any = None, at: Any = None) -> Typed:
        match op, types:
            case ("array" | "struct"), _ if target[0] == op and types == [t for _, t in target[1:]]:
                return target, parts
            case "field", [("struct", *inner)]:
                return find(inner, at)[1], parts[0][at]
            case "with_field", [("struct", *inner), new] if find(inner, at)[1] == new:
                return types[0], [*parts[0][:at], parts[1], *parts[0][at + 1 :]]
            case "index", [("array", (_, element), *_), ("bits", _, _) | ("Int",) as by]:
                chosen = parts[0][0]
                for bound, part in zip(self.bounds(by, parts[1], len(parts[0])), parts[0], strict=False):
                    chosen = self.choose(element, bound, part, chosen)
                return element, chosen
            case "update", [("array", (_, element), *_), ("bits", _, _) | ("Int",) as by, new] if new == element:
                hits = (f"(and {low} (not {high}))" for low, high in pairwise(self.bounds(by, parts[1], len(parts[0]))))
                return types[0], [self.choose(new, hit, parts[2], old) for hit, old in zip(hits, parts[0], strict=True)]
            case "mux", [("Bool",), a, b] if a == b:
                return a, self.choose(a, *parts)
            case ("eq" | "ne"), [a, b] if a == b:
                is_equal = equal("fp.eq", a, *parts)
                return BOOL, self.name(BOOL, is_equal if op == "eq" else f"(not {is_equal})")
            case "cast", [old] if {old[0], target[0]} <= {"bits", *TABLES} and len(target) <= 3:
                return target, self.name(target, self.cast(old, target, *parts))
            case ("shl" | "shr"), [("bits", _, _) as type, ("bits", _, _) | ("Int",) as by]:
                return type, self.name(type, self.shift(table_of(type)[op], type, by, *parts))
        form = table_of(types[0]).get(op, "") if types else ""
        arity = len({*re.findall(r"\b[ab]\b", form)})
        demand(form and op not in ("shl", "shr") and types == types[:1] * arity, f"{op!r} on {types}")
        result, wraps = BOOL if op in TESTS else types[0], types[0][0] == "bits" and self.over_int
        form = INT.get(op, f"|{op} on whole numbers|") if wraps else form
        text = self.any_function(op, types, result, parts) if op in FUNCTIONS else self.filled(form, types[0], parts)
        return result, self.name(result, wrapped(text, result) if wraps and op not in TESTS else text)

    def filled(self, form: str, type: Any, parts: list[str]) -> str:
        meant = {"O": self.literal(type, 0), "I": self.literal(type, 1), **dict(zip("ab", parts, strict=False))}
        return re.sub(r"\b[abOI]\b", lambda found: meant[found[0]], form)

    def shift(self, form: str, type: Any, by: Any, a: str, amount: str) -> str:
        """In as many bits as both have: an amount outside of the type's bits shifts all of them out."""
        if self.over_int or by[0] == "Int":
            return "|a shift on or by whole numbers|"
        width = max(type[1], by[1])
        parts = [resized(a, type[1], width, type[2]), resized(amount, by[1], width, by[2])]
        return resized(self.filled(form, type, parts), width, type[1], False)

    def any_function(self, op: str, types: list[Any], result: Any, parts: list[str]) -> str:
        name = f"{types[0][0]}_{op}_{result[1]}"
        if name not in self.names:
            self.names[name] = name
            self.lines.append(f"(declare-fun {name} ({' '.join(map(self.sort, types))}) {self.sort(result)})")
        return f"({name} {' '.join(parts)})"

    def cast(self, old: Any, new: Any, a: str) -> str:
        match old[0], new[0]:
            case _ if old == new:
                return a
            case _, "Bool":
                return f"(not {equal('fp.eq', old, a, self.literal(old, 0))})"
            case "Bool", _:
                return f"(ite {a} {self.literal(new, 1)} {self.literal(new, 0)})"
            case "Int" | "Real", "float":
                return self.any_function("cast", [old], new, [a])
            case "float", "float":
                return f"((_ to_fp {SIZES[new[1]]}) RNE {a})"
            case "bits", "float" if not self.over_int:
                return f"((_ to_fp{'' if old[2] else '_unsigned'} {SIZES[new[1]]}) RNE {a})"
            case "float", "bits" if not self.over_int and new[1] <= 64:  # the nearest of the type, 0 for NaN
                low, high = numbers(new)[0], numbers(new)[-1]
                text = f"((_ fp.to_{'s' if new[2] else 'u'}bv {new[1]}) RTZ {a})"
                text = f"(ite (fp.geq {a} {self.literal(old, float(high + 1))}) {self.literal(new, high)} {text})"
                text = f"(ite (fp.leq {a} {self.literal(old, float(low))}) {self.literal(new, low)} {text})"
                return f"(ite (fp.isNaN {a}) {self.literal(new, 0)} {text})"
            case "bits", "bits" if not self.over_int:
                return resized(a, old[1], new[1], old[2])
            case ("bits", other) | (other, "bits") if other == "float" or not self.over_int:
                return f"|a conversion from {old[0]} to {new[0]}|"
            case "float", _:
                a = f"(ite (or (fp.isNaN {a}) (fp.isInfinite {a})) 0.0 (fp.to_real {a}))"
            case _, "Real":
                return f"(to_real {a})"
        if old[0] in ("float", "Real") and new[0] != "Real":
            a = f"(ite (< {a} 0.0) (- (to_int (- {a}))) (to_int {a}))"
        return wrapped(a, new) if new[0] == "bits" else a

    def choose(self, type: Any, condition: str, ours: Any, others: Any) -> Any:
        if type[0] in ("array", "struct"):
            return [self.choose(t, condition, a, b) for (_, t), a, b in zip(type[1:], ours, others, strict=True)]
        return ours if ours == others else self.name(type, f"(ite {condition} {ours} {others})")

    def bounds(self, type: Any, index: str, n: int) -> list[str]:
        """That the element of n which is meant is at least number 0, 1, … n. An index outside means the nearest one."""
        literals = [self.literal(type, i) for i in range(1, n) if type[0] == "Int" or i in numbers(type)]
        within = [self.apply("le", [type, type], [literal, index])[1] for literal in literals]
        return ["true", *within, *["false"] * (n - len(within))]

def table_of(type: Any) -> dict[str, str]:
    if type[0] == "bits":
        return ANY if len(type) > 3 else SIGNED if type[2] else UNSIGNED
    return TABLES.get(type[0], {})

def numbers(type: Any) -> range:
    half = 2 ** (type[1] - 1)
    return range(-half, half) if type[2] else range(2 * half)

def wrapped(a: str, type: Any) -> str:
    """The number of the type that is congruent to an exact one."""
    low, size = numbers(type)[0], 2 ** type[1]
    return f"(- (mod (+ {a} {-low}) {size}) {-low})" if low else f"(mod {a} {size})"

def resized(a: str, old: int, new: int, sign: bool) -> str:
    if old >= new:
        return a if old == new else f"((_ extract {new - 1} 0) {a})"
    return f"((_ {'sign' if sign else 'zero'}_extend {new - old}) {a})"

def equal(fp: str, type: Any, a: Any, b: Any) -> str:
    if type[0] in ("array", "struct"):
        return f"(and true true {' '.join(equal(fp, t, x, y) for (_, t), x, y in zip(type[1:], a, b, strict=True))})"
    return f"({fp if type[0] == 'float' else '='} {a} {b})"

def cone(table: list[Row], registers: dict[str, Register], roots: Iterable[int]) -> list[int]:
    """The rows that these depend on, now or at earlier steps, in order."""
    found, pending = set[int](), [*roots]
    while pending:
        if (n := pending.pop()) not in found:
            found.add(n)
            op, _, name, operands = table[n]
            pending += operands
            if op == "var" and name in registers:
                pending += [row for row in registers[name][1:] if row is not None]
    return sorted(found)

# The files

def demand(condition: object, what: str) -> None:
    if not condition:
        raise ValueError(what)

def find(table: Any, key: Any) -> Any:
    """An entry of a table by its name, or of a list by its number."""
    fits = type(key) is int and 0 <= key < len(table) if isinstance(table, list) else key in table
    demand(fits, f"there is no {key!r}")
    return table[key]

def fields(row: Any, required: str, optional: str = "") -> Any:
    """The row, which has these fields and no others."""
    wrong = ({*required.split()} - {*row}) | ({*row} - {*required.split(), *optional.split()})
    demand(isinstance(row, dict) and not wrong, f"fields that are unknown or missing: {', '.join(sorted(wrong))}")
    return row

def read_type(row: Any, types: list[Any]) -> Any:
    match row:
        case {"array": element, "length": int(n), **rest} if n > 0 and not rest:
            return ("array", *[(str(i), find(types, element)) for i in range(n)])
        case {"struct": str(), "fields": parts, **rest} if not rest:
            return ("struct", *((str(name), find(types, t)) for name, t in parts))
        case {"enum": str(name), "members": members, **rest} if not rest:
            return (*CODE, name, tuple(read_value(CODE, code) for _, code in members))
        case str() if number := re.fullmatch(r"(Int|Word)([1-9]\d{0,3})", row):
            return ("bits", int(number[2]), number[1] == "Int")
    others = {"Bool": BOOL, "Int": ("Int",), "Real": ("Real",), "Float": ("float", 32), "Double": ("float", 64)}
    return find(others, row)

def read_value(type: Any, value: Any) -> Any:
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    match type[0], value:
        case ("Bool", bool()) | ("Int", int()) if is_integer == (type != BOOL):
            return value
        case "Real", str() if re.fullmatch(r"-?\d{1,900}(/[1-9]\d{0,900})?", value):
            return Fraction(value)
        case "float", "NaN" | "Infinity" | "-Infinity":
            return float(value)
        case "float", float() if type[1] == 64 or struct.unpack(">f", struct.pack(">f", value)) == (value,):
            return value
        case "bits", _ if is_integer and value in (type[4] if len(type) > 3 else numbers(type)):
            return value
    raise ValueError(f"{value!r} is not of type {type[0]}")

def read_terms(data: Any, table: list[Row]) -> tuple[list[Any], list[int]]:
    """The types; the rows of the terms, which come behind those of the table."""
    types, rows = list[Any](), list[int]()
    for row in data["types"]:
        types.append(read_type(row, types))
    for op, *rest in data["terms"]:
        type = find(types, rest.pop(0)) if op in ("const", "var", "cast", "array", "struct") else None
        payload = rest.pop(0) if op in ("const", "var", "field", "with_field") else None
        demand(op not in ("const", "var") or not rest, f"{op} with operands")
        operands = [find(rows, i) for i in rest]
        rows.append(len(table))
        table.append((op, type, read_value(type, payload) if op == "const" else payload, operands))
    return types, rows

def read_equations(data: Any) -> tuple[System, dict[str, int]]:
    """The system, and for each property the term that has to hold always."""
    required = "format name at types terms inputs constants cells wires triggers observers properties assumptions"
    fields(data, f"{required} warnings", "calls unused instances components")
    demand(data["format"] == "streamcheck equations 1", "another format")
    table, claims = list[Row]([("const", BOOL, False, [])]), dict[str, int]()
    types, rows = read_terms(data, table)
    inputs = {i["name"]: find(types, fields(i, "name type extern doc unit at")["type"]) for i in data["inputs"]}
    constants = {c["name"]: find(types, fields(c, "name type at", "label")["type"]) for c in data["constants"]}
    registers: dict[str, Register] = {name: (type, None, None) for name, type in constants.items()}
    for row in data["cells"]:
        first = find(rows, fields(row, "name initial next at free named")["initial"])
        type, _ = Script(over_int=False).values(table, cone(table, {}, [first]), {})[first]  # it has no variables
        registers[row["name"]] = type, find({False: first, True: None}, row["free"]), find(rows, row["next"])
    demand(len(inputs | registers) == sum(len(data[key]) for key in ("inputs", "constants", "cells")), "a name twice")
    assumptions = [find(rows, fields(row, "name term at")["term"]) for row in data["assumptions"]]
    for row in data["properties"]:
        claims[row["name"]] = find(rows, fields(row, "name term goal implied at", "vacuity contract")["term"])
        if find({"always": False, "reachable": True}, row["goal"]):
            table.append(("not", None, None, [claims[row["name"]]]))
            claims[row["name"]] = len(table) - 1
    demand(len(claims) == len(data["properties"]), "two properties of one name")
    return System(table, inputs, registers, assumptions), claims

def read_proof(data: Any, table: list[Row]) -> tuple[list[int], list[int], str, int]:
    fields(data, "format file spec property claim kind k invariants equalities free prover types terms")
    demand(data["format"] == "streamcheck certificate 2" and data["claim"] == "proved", "another format")
    demand(data["kind"] in ("inductive", "compressed", "complete", "ended"), f"the kind {data['kind']!r}")
    demand(type(data["k"]) is int and 1 <= data["k"] <= 10_000, f"k is {data['k']!r}")
    _, rows = read_terms(data, table)
    return *([find(rows, i) for i in data[key]] for key in ("invariants", "equalities")), data["kind"], data["k"]

def require_types(system: System, conditions: Iterable[int]) -> None:
    """Operands have the types that operators need, registers keep theirs, conditions are Bool."""
    types, script = {name: row[0] for name, row in system.registers.items()} | system.inputs, Script(over_int=False)
    state = {name: script.any_value(type, False) for name, type in types.items()}
    values = script.values(system.table, range(len(system.table)), state)
    demand(all(after is None or values[after][0] == type for type, _, after in system.registers.values()), "a register")
    demand(all(values[n][0] == BOOL for n in [*system.assumptions, *conditions]), "a condition that is not Bool")

def answer_of(solver: list[str], text: str, seconds: float) -> str:
    """`unsat`, `sat`, or `unknown` for all else that a solver may do."""
    try:
        done = subprocess.run(solver, input=text, capture_output=True, text=True, timeout=seconds)
    except (subprocess.TimeoutExpired, OSError):  # OSError: it cannot be started
        return "unknown"
    answer = done.stdout.strip()
    return answer if done.returncode == 0 and answer in ("unsat", "sat") else "unknown"

def judge(system: System, goals: list[int], about: Any, solver: list[str], seconds: float) -> str:
    """The first answer to a query in one of its renderings, after a few seconds for each."""
    texts = [query(system, over_int, goals, *about) for over_int in (False, True)]
    readable = [text for text in texts if "|" not in text]
    if not readable:
        raise NotRead(texts[0].split("|")[1])
    answers = (answer_of(solver, text, limit) for limit in (min(3.0, seconds), seconds) for text in readable)
    return next((answer for answer in answers if answer != "unknown"), "unknown")

def check(equations: Any, certificate: Any, solver: list[str], seconds: float) -> tuple[str, str]:
    """The answer to a certificate, and the obligation that stands in its way."""
    if {"program", "bound", "inputs", "edges"} & {*certificate}:
        raise NotRead("a counterexample, the proof of a program, or a proof about runs of limited length")
    rows = equations if isinstance(equations, list) else [equations]
    named = [row for row in rows if row["name"] == certificate["spec"]]
    demand(len(named) == 1, f"there are no equations of {certificate['spec']!r}")
    system, claims = read_equations(named[0])
    J, E, kind, k = read_proof(certificate, system.table)
    require_types(system, [*claims.values(), *J, *E])
    for name, (goals, *about) in obligations(find(claims, certificate["property"]), J, E, kind, k):
        answer = judge(system, goals, about, solver, min(6.0, seconds) if len(goals) > 1 else seconds)
        if answer == "unknown" and len(goals) > 1:
            answer = min(judge(system, [goal], about, solver, seconds) for goal in goals)  # sat, unknown, unsat
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
