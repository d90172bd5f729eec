"""BTOR2 to specifications: the bit-vector part.

One bit is Bool here, and a bit-vector an unsigned machine integer. A state without `next` is an input, one without
`init` begins with any value. Each `bad` is a property, that it never holds; each `constraint` an assumption.
"""

from __future__ import annotations

import os
import re

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import apply, choice, conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable
from streamcheck.core.types import BOOL, MachineType, Type, default, machine
from streamcheck.frontends import bits
from streamcheck.frontends.operations import equal, logic
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Specification

COMPARISONS = {f"{sign}{op}{rest}": f"{sign}{op}{rest[-1]}" for sign in "us" for op in "lg" for rest in ("t", "te")}
BINARY = frozenset("add sub mul udiv urem sdiv srem smod sll srl sra rol ror".split())
BOOLEAN = {"and": "and", "or": "or", "xor": "xor", "implies": "implies"}
SHIFTS = {"sll": "shl", "srl": "lshr", "sra": "ashr"}
NEGATED = {"nand": "and", "nor": "or", "xnor": "xor"}


def read_btor2(path: str) -> Specification:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError as why:
        raise SpecError(f"{path}: {why.strerror}") from None
    reading = _Btor2Reader(path)
    for number, line in enumerate(lines, 1):
        words = line.split(";")[0].split()
        if words:
            reading.line(words, number)
    return reading.specification(os.path.splitext(os.path.basename(path))[0])


class _Btor2Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.sorts: dict[int, Type] = {}
        self.nodes: dict[int, Term] = {}
        self.wheres: dict[Term, Location] = {}
        self.states: dict[Term, tuple[Term | None, Term | None]] = {}  # initial and next values of the states
        self.inputs: list[Term] = []
        self.properties: list[Claim] = []
        self.assumptions: list[Claim] = []
        self._names: set[str] = set()
        self.here = Location(path, 1)

    def line(self, words: list[str], number: int) -> None:
        self.here = Location(self.path, number)
        try:
            self._line(words)
        except (IndexError, ValueError):
            raise SpecError("this line is not BTOR2", self.here) from None
        except KeyError as missing:
            raise SpecError(f"{missing} is not supported, or not defined before", self.here) from None
        except TypeRule as why:
            raise SpecError(str(why), self.here) from None

    def _line(self, words: list[str]) -> None:
        number, op = int(words[0]), words[1]
        match op:
            case "sort":
                if words[2] != "bitvec":
                    raise SpecError("only bit-vector sorts are supported", self.here)
                width = int(words[3])
                self.sorts[number] = BOOL if width == 1 else machine(width, signed=False)
            case "input" | "state":
                self._variable(number, op, self.sorts[int(words[2])], words[3] if len(words) > 3 else "")
            case "init" | "next":
                self._state(op, self._node(words[3]), self._node(words[4]))
            case "bad":
                name = self._name(words[3] if len(words) > 3 else f"bad {number}")
                self.properties.append(Claim(name, negation(self._truth(words[2])), self.here))
            case "constraint":
                self.assumptions.append(Claim(f"constraint {number}", self._truth(words[2]), self.here))
            case "output":
                pass
            case "fair" | "justice":
                raise SpecError("liveness is not supported", self.here)
            case _:
                self.nodes[number] = self._operation(op, self.sorts[int(words[2])], words[3:])

    def _name(self, wish: str) -> str:
        name, n = wish, 1
        while name in self._names:
            n += 1
            name = f"{wish}_{n}"
        self._names.add(name)
        return name

    def _variable(self, number: int, op: str, type: Type, name: str) -> None:
        var = variable(self._name(name or f"{op}_{number}"), type)
        self.nodes[number] = var
        self.wheres[var] = self.here
        if op == "input":
            self.inputs.append(var)
        else:
            self.states[var] = (None, None)

    def _node(self, word: str) -> Term:
        """A node by its number; a minus sign is `not`."""
        number = int(word)
        node = self.nodes[abs(number)]
        if number > 0:
            return node
        return negation(node) if node.type is BOOL else apply("bitnot", node)

    def _truth(self, word: str) -> Term:
        node = self._node(word)
        if node.type is not BOOL:
            raise SpecError("expected one bit", self.here)
        return node

    def _state(self, op: str, var: Term, value: Term) -> None:
        if var not in self.states or value.type is not var.type:
            raise SpecError(f"`{op}` is of a state, and of its sort", self.here)
        initial, after = self.states[var]
        self.states[var] = (value, after) if op == "init" else (initial, value)

    # Operations

    def _operation(self, op: str, type: Type, words: list[str]) -> Term:
        if op in ("const", "constd", "consth", "zero", "one", "ones"):
            return self._constant(op, type, words)
        if op in ("slice", "uext", "sext"):
            return self._resize(op, type, words)
        args = [self._node(w) for w in words[: 3 if op in ("ite", "write") else 2]]
        if op in ("eq", "neq"):
            return equal(args[0], args[1], negated=op == "neq")
        if op == "iff":
            return equal(args[0], args[1])
        if op == "ite":
            return choice(args[0], args[1], args[2])
        if op in BOOLEAN or op in NEGATED:
            return self._logic(op, args[0], args[1])
        if op == "concat":
            return self._as(type, bits.concat(_vector(args[0]), _vector(args[1])))
        if len(args) == 1 or op in ("not", "neg", "inc", "dec", "redand", "redor", "redxor"):
            return self._as(type, self._unary(op, _vector(args[0])))
        a, b = (_vector(x) for x in args)
        if op in COMPARISONS:
            return bits.binary(COMPARISONS[op], a, b)
        return self._as(type, self._binary(op, a, b))

    def _constant(self, op: str, type: Type, words: list[str]) -> Term:
        if op in ("zero", "one", "ones"):
            value = {"zero": 0, "one": 1, "ones": -1}[op]
        else:
            value = int(words[0], {"const": 2, "constd": 10, "consth": 16}[op])
        if type is BOOL:
            return TRUE if value % 2 else FALSE
        assert isinstance(type, MachineType)
        return bits.word(type.width, value)

    def _resize(self, op: str, type: Type, words: list[str]) -> Term:
        a = _vector(self._node(words[0]))
        if op == "slice":
            return self._as(type, bits.extract(a, int(words[1]), int(words[2])))
        by = int(words[1])
        return self._as(type, bits.zero_extend(a, by) if op == "uext" else bits.sign_extend(a, by))

    def _logic(self, op: str, a: Term, b: Term) -> Term:
        plain = NEGATED.get(op, op)
        if a.type is BOOL:
            result = logic(plain, a, b)
            return negation(result) if op in NEGATED else result
        return bits.binary(op, a, b)

    def _unary(self, op: str, a: Term) -> Term:
        ones = bits.word(bits.width(a), -1)
        match op:
            case "not":
                return apply("bitnot", a)
            case "neg":
                return apply("neg", a)
            case "inc" | "dec":
                return apply("add" if op == "inc" else "sub", a, bits.word(bits.width(a), 1))
            case "redand":
                return bits.bit(equal(a, ones))
            case "redor":
                return bits.bit(equal(a, bits.word(bits.width(a), 0), negated=True))
            case "redxor":
                result = bits.extract(a, 0, 0)
                for i in range(1, bits.width(a)):
                    result = bits.binary("xor", result, bits.extract(a, i, i))
                return result
        raise KeyError(op)

    def _binary(self, op: str, a: Term, b: Term) -> Term:
        if op in ("rol", "ror"):
            return _rotate(op, a, b)
        if op in BINARY:
            return bits.binary(SHIFTS.get(op, op), a, b)
        overflow = re.fullmatch(r"([us])(add|sub|mul|div)o", op)
        if overflow is None:
            raise KeyError(op)
        return bits.bit(_overflow(overflow[1], overflow[2], a, b))

    def _as(self, type: Type, value: Term) -> Term:
        """The value, which must have the type; one bit becomes Bool if needed."""
        if type is BOOL and value.type is not BOOL:
            value = equal(value, bits.word(1, 1))
        if value.type is not type:
            raise SpecError(f"expected {type}, found {value.type}", self.here)
        return value

    # Specification

    def specification(self, name: str) -> Specification:
        cells, chosen, assumptions = [], list(self.inputs), list(self.assumptions)
        at_first: list[Term] = []
        for var, (initial, after) in self.states.items():
            if (initial is not None and not initial.is_const) or (initial is not None and after is None):
                at_first.append(equal(var, initial))
            if after is None:
                chosen.append(var)
                continue
            fixed = initial if initial is not None and initial.is_const else None
            start = fixed if fixed is not None else constant(var.type, default(var.type))
            cells.append(Cell(var.payload, start, after, self.wheres[var], free=fixed is None))
        if at_first:
            first = variable(self._name("first step"), BOOL)
            cells.append(Cell(first.payload, TRUE, FALSE, None, named=False))
            assumptions.append(Claim("init", term("implies", first, conjunction(*at_first)), self.here))
        inputs = tuple(Input(v.payload, v.type, True, "", "", self.wheres[v]) for v in chosen)
        properties = tuple(self.properties)
        return Specification(name, inputs, (), tuple(cells), (), (), (), properties, tuple(assumptions), None)


def _vector(a: Term) -> Term:
    return bits.bit(a) if a.type is BOOL else a


def _rotate(op: str, a: Term, by: Term) -> Term:
    """A rotation by an amount that is not a literal: a choice among `width` rotations."""
    width = bits.width(a)
    result = a
    amount = bits.binary("urem", by, bits.word(width, width)) if width < 1 << width else by
    for i in range(1, width):
        result = choice(equal(amount, bits.word(width, i)), bits.rotate_left(a, i if op == "rol" else -i), result)
    return result


def _overflow(sign: str, op: str, a: Term, b: Term) -> Term:
    """True if the exact result differs from the wrapped one."""
    if op == "div":  # the lowest by -1
        width = bits.width(a)
        lowest = equal(a, bits.word(width, 1 << (width - 1)))
        return conjunction(lowest, equal(b, bits.word(width, -1))) if sign == "s" else FALSE
    wide = bits.width(a)
    extend = bits.zero_extend if sign == "u" else bits.sign_extend
    exact = bits.binary(op, extend(a, wide), extend(b, wide))
    return equal(exact, extend(bits.binary(op, a, b), wide), negated=True)
