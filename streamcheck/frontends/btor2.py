"""BTOR2 to specifications [NPWB18].

One bit is Bool here, a bit-vector an unsigned machine integer, an array one element for each index. A state without
`next` is an input, one without `init` begins with any value. Each `bad` is a property, that it never holds; each
`constraint` an assumption. Any line may end with a symbol, which may look like a number, so operands are counted.
"""

from __future__ import annotations

import os
import re

from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.operators import TypeRule
from streamcheck.core.simplify import apply, choice, conjunction, negation
from streamcheck.core.term import FALSE, TRUE, Term, constant, term, variable
from streamcheck.core.types import BOOL, ArrayType, MachineType, Type, default, plural
from streamcheck.frontends import bits
from streamcheck.frontends.operations import equal, logic, require_same_type
from streamcheck.problem.claim import Claim
from streamcheck.problem.specification import Cell, Input, Specification

LARGEST_ARRAY = 4096  # elements: each is a variable of its own
NULLARY = frozenset(("zero", "one", "ones"))
UNARY = frozenset("not neg inc dec redand redor redxor".split())
TERNARY = frozenset(("ite", "write"))
NUMBERS = {"const": 1, "constd": 1, "consth": 1, "slice": 3, "uext": 2, "sext": 2}  # words after the sort
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
        self.defined: dict[int, int] = {}  # numbers, and the lines where
        self.here = Location(path, 1)

    def line(self, words: list[str], number: int) -> None:
        self.here = Location(self.path, number)
        try:
            self._line(words)
        except (IndexError, ValueError):
            raise SpecError("this is not a BTOR2 line", self.here) from None
        except KeyError as missing:
            raise SpecError(f"unknown operation {missing}", self.here) from None
        except TypeRule as why:
            raise SpecError(str(why), self.here) from None

    def _line(self, words: list[str]) -> None:
        number, op = int(words[0]), words[1]
        if number <= 0 or number in self.defined:
            before = "is not positive" if number <= 0 else f"is already defined at line {self.defined[number]}"
            raise SpecError(f"the number {number} {before}", self.here)
        self.defined[number] = self.here.line
        match op:
            case "sort":
                self.sorts[number] = self._sort(words[2:])
            case "input" | "state":
                self._variable(number, op, self._sort_named(words[2]), self._symbol(words, 3))
            case "init" | "next":
                self._symbol(words, 5)
                self._state(op, self._sort_named(words[2]), self._node(words[3]), self._node(words[4]))
            case "bad":
                name = self._name(self._symbol(words, 3) or f"bad {number}")
                self.properties.append(Claim(name, negation(self._truth(words[2])), self.here))
            case "constraint":
                self._symbol(words, 3)
                self.assumptions.append(Claim(f"constraint {number}", self._truth(words[2]), self.here))
            case "output":
                self._node(words[2])
            case "fair" | "justice":
                raise SpecError("liveness is not supported", self.here)
            case _:
                type, operands = self._sort_named(words[2]), words[3 : 3 + _operands(op)]
                self._symbol(words, 3 + _operands(op))
                self.nodes[number] = self._as(type, self._operation(op, type, operands))

    def _symbol(self, words: list[str], place: int) -> str:
        """The symbol that may end the line, or nothing."""
        if len(words) < place:
            expected = f"{plural(place - 2, 'number')} after `{words[1]}`"
            raise SpecError(f"expected {expected}, found {len(words) - 2}", self.here)
        if len(words) > place + 1:
            raise SpecError(f"expected the end of the line, found {words[place + 1]}", self.here)
        return words[place] if len(words) > place else ""

    def _sort(self, words: list[str]) -> Type:
        match words:
            case ["bitvec", width, *rest] if len(rest) < 2:
                return BOOL if int(width) == 1 else bits.word_type(int(width))
            case ["array", index, element, *rest] if len(rest) < 2:
                return self._array(self._sort_named(index), self._sort_named(element))
        raise SpecError("a sort is `bitvec WIDTH` or `array SORT SORT`", self.here)

    def _array(self, index: Type, element: Type) -> Type:
        if isinstance(index, ArrayType) or isinstance(element, ArrayType):
            raise SpecError("arrays of arrays are not supported", self.here)
        width = 1 if index is BOOL else index.width if isinstance(index, MachineType) else 0
        if 1 << width > LARGEST_ARRAY:
            message = f"arrays of more than {LARGEST_ARRAY} elements are not supported, and this has 2^{width}"
            raise SpecError(message, self.here)
        return ArrayType(element, 1 << width)

    def _sort_named(self, word: str) -> Type:
        if int(word) not in self.sorts:
            raise SpecError(f"{word} is not the number of a sort", self.here)
        return self.sorts[int(word)]

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
        if abs(number) not in self.nodes:
            raise SpecError(f"{abs(number)} is not the number of a value defined above", self.here)
        node = self.nodes[abs(number)]
        if number > 0:
            return node
        return negation(node) if node.type is BOOL else apply("bitnot", node)

    def _truth(self, word: str) -> Term:
        node = self._node(word)
        if node.type is not BOOL:
            raise SpecError("expected one bit", self.here)
        return node

    def _state(self, op: str, type: Type, var: Term, value: Term) -> None:
        if var not in self.states:
            raise SpecError(f"`{op}` is for states only", self.here)
        if isinstance(var.type, ArrayType) and value.type is var.type.element:
            value = apply("array", *[value] * var.type.length, payload=var.type)  # `init` of all elements
        if value.type is not var.type or type is not var.type:
            raise SpecError(f"the state is {var.type}, the value {value.type}, and the line says {type}", self.here)
        initial, after = self.states[var]
        if (initial if op == "init" else after) is not None:
            raise SpecError(f"this state already has `{op}`", self.here)
        self.states[var] = (value, after) if op == "init" else (initial, value)

    # Operations

    def _operation(self, op: str, type: Type, words: list[str]) -> Term:
        if (op in NUMBERS and op.startswith("const")) or op in NULLARY:
            return self._constant(op, type, words)
        if op in NUMBERS:
            return self._resize(op, words)
        args = [self._node(w) for w in words]
        match op:
            case "eq" | "neq" | "iff":
                return equal(args[0], args[1], negated=op == "neq")
            case "ite":
                logic("and", args[0], TRUE)
                require_same_type(args[1], args[2])
                return choice(args[0], args[1], args[2])
            case "read":
                return term("index", args[0], _vector(args[1]))
            case "write":
                return term("update", args[0], _vector(args[1]), args[2])
            case "concat":
                return bits.concat(_vector(args[0]), _vector(args[1]))
        if any(isinstance(a.type, ArrayType) for a in args):
            raise SpecError(f"`{op}` is not defined for arrays", self.here)
        if op in BOOLEAN or op in NEGATED:
            return self._logic(op, args[0], args[1])
        if op in UNARY:
            return self._unary(op, _vector(args[0]))
        a, b = (_vector(x) for x in args)
        return bits.binary(COMPARISONS[op], a, b) if op in COMPARISONS else self._binary(op, a, b)

    def _constant(self, op: str, type: Type, words: list[str]) -> Term:
        if op in ("zero", "one", "ones"):
            value = {"zero": 0, "one": 1, "ones": -1}[op]
        else:
            value = int(words[0], {"const": 2, "constd": 10, "consth": 16}[op])
        if not isinstance(type, MachineType) and type is not BOOL:
            raise SpecError(f"a constant is a bit-vector, not {type}", self.here)
        width = type.width if isinstance(type, MachineType) else 1
        if op == "const" and len(words[0]) < width:
            wanted = f"`const` has a digit for each of {plural(width, 'bit')}"
            raise SpecError(f"{wanted}, and {words[0]} has {len(words[0])}", self.here)
        if not -(1 << width) <= 2 * value < 2 << width:
            raise SpecError(f"{words[0]} has more than {plural(width, 'bit')}", self.here)
        return bits.word(width, value)

    def _resize(self, op: str, words: list[str]) -> Term:
        a = _vector(self._node(words[0]))
        if op == "slice":
            high, low = int(words[1]), int(words[2])
            if not 0 <= low <= high < bits.width(a):
                raise SpecError(f"bits {high} to {low} of {plural(bits.width(a), 'bit')}", self.here)
            return bits.extract(a, high, low)
        by = int(words[1])
        return bits.zero_extend(a, by) if op == "uext" else bits.sign_extend(a, by)

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


def _operands(op: str) -> int:
    """The words between sort and symbol."""
    if op in NUMBERS:
        return NUMBERS[op]
    return 0 if op in NULLARY else 1 if op in UNARY else 3 if op in TERNARY else 2


def _vector(a: Term) -> Term:
    if isinstance(a.type, ArrayType):
        raise TypeRule(f"expected a bit-vector, found {a.type}")
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
