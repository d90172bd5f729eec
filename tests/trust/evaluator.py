"""An evaluator of equations that uses nothing of the package: the semantics of docs/language.md in Python's integers,
numpy's floats and fractions.

It reads what `streamcheck show --as json` writes. Values: Bool as bool; machine integers, Int and members of enums as
int; floats as numpy's `float32` and `float64`; Real as Fraction; arrays and structs as tuples.
"""

import functools
import math
import operator
import re
from fractions import Fraction

import numpy as np

PAYLOAD_FIRST = ("cast", "array", "struct", "field", "with_field")  # what is no term comes first in their rows
FLOATS = {"Float": np.float32, "Double": np.float64}
np.seterr(all="ignore")


class UnknownOperator(Exception):
    """The evaluator has no meaning for this."""


@functools.cache
def bounds(kind):
    """The least and the greatest value of a machine integer; None for other types."""
    found = re.fullmatch(r"(Int|Word)([1-9]\d*)", kind) if isinstance(kind, str) else None
    if found is None:
        return None
    width = int(found[2])
    return (-(1 << width - 1), (1 << width - 1) - 1) if found[1] == "Int" else (0, (1 << width) - 1)


def wrapped(kind, value):
    """An exact integer as the type holds it."""
    ends = bounds(kind)
    return value if ends is None else (value - ends[0]) % (ends[1] - ends[0] + 1) + ends[0]


class Evaluator:
    def __init__(self, equations):
        self.types = [self.type_of(row, equations["types"]) for row in equations["types"]]
        self.equations = equations
        self.kinds = []  # of terms
        self.constants = []  # the values of the terms without variables, by their numbers; None for the others
        self.variables, self.others = [], []  # numbers with names; numbers with functions and the numbers of operands
        for number, row in enumerate(equations["terms"]):
            self.kinds.append(self.kind_of(row))
            self.constants.append(self.constant_at(number, row))

    def type_of(self, row, rows):
        """The name of a scalar; ("enum", members with codes); ("array", element, length); ("struct", fields' types)."""
        if isinstance(row, str):
            return row
        if "array" in row:
            return ("array", self.type_of(rows[row["array"]], rows), row["length"])
        if "struct" in row:
            return ("struct", *(self.type_of(rows[t], rows) for _, t in row["fields"]))
        return ("enum", tuple((name, code) for name, code in row["members"]))

    def kind_of(self, row):
        name, *args = row
        kinds = self.kinds
        if name in ("const", "var", "cast", "array", "struct"):
            return self.types[args[0]]
        if name in ("not", "and", "or", "xor", "implies", "eq", "ne", "same", "lt", "le", "gt", "ge"):
            return "Bool"
        if name == "field":
            return kinds[args[1]][1 + args[0]]
        if name == "with_field":
            return kinds[args[1]]
        if name == "index":
            return kinds[args[0]][1]
        if name == "mux":
            return kinds[args[1]]
        return kinds[args[0]]

    def values(self, given):
        """The values of all terms, by their numbers; `given` has those of the variables by name."""
        found = self.constants.copy()
        for number, name in self.variables:
            found[number] = given[name]
        for number, function, operands in self.others:
            found[number] = function(*[found[a] for a in operands])
        return found

    def constant_at(self, number, row):
        """The value of a term without variables. None for others: what they need is noted."""
        name, *args = row
        if name == "const":
            return constant(self.kinds[number], args[1])
        if name == "var":
            self.variables.append((number, args[1]))
            return None
        operands = args[1:] if name in PAYLOAD_FIRST else args
        function = self.function_of(name, args[0], self.kinds[operands[0]], self.kinds[number])
        values = [self.constants[a] for a in operands]
        if function is not None and all(value is not None for value in values):
            return function(*values)
        self.others.append((number, function or unknown(f"{name} of {self.kinds[operands[0]]}"), operands))
        return None

    def function_of(self, name, payload, operand, kind):
        """What the operator does with the values of its operands; None if it has no meaning here. `operand` is the type
        of its first operand, `kind` its own."""
        match name:
            case "field":
                return operator.itemgetter(payload)
            case "with_field":
                return lambda whole, part: (*whole[:payload], part, *whole[payload + 1 :])
            case "cast":
                return functools.partial(cast, operand, kind)
            case "array" | "struct":
                return lambda *parts: parts
            case "index":
                return lambda array, at: array[min(max(at, 0), len(array) - 1)]
            case "update":
                return updated
        return meaning(name, operand, kind)


def updated(array, at, value):
    at = min(max(at, 0), len(array) - 1)
    return (*array[:at], value, *array[at + 1 :])


def unknown(what):
    def refuse(*_):
        raise UnknownOperator(what)

    return refuse


def constant(kind, value):
    if kind in FLOATS:
        return FLOATS[kind](float(value))
    if kind == "Real":
        return Fraction(value)
    if isinstance(kind, tuple) and kind[0] == "array":
        return tuple(constant(kind[1], v) for v in value)
    if isinstance(kind, tuple) and kind[0] == "struct":
        return tuple(constant(k, v) for k, v in zip(kind[1:], value, strict=True))
    return value


def identical(a, b):
    """The same value: NaN is itself, and -0.0 is not 0.0."""
    if isinstance(a, tuple) or isinstance(b, tuple):
        return isinstance(b, tuple) and isinstance(a, tuple) and all(map(identical, a, b))
    if isinstance(a, np.floating):
        return (a != a and b != b) or (a == b and np.signbit(a) == np.signbit(b))
    return a == b


def equal(a, b):
    """As IEEE 754 has it, part by part: NaN equals nothing. (Python's tuples compare what is one object as equal.)"""
    return all(map(equal, a, b)) if isinstance(a, tuple) else bool(a == b)


LOGIC = {
    "not": lambda a: not a,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": operator.ne,
    "implies": lambda a, b: not a or b,
    "same": identical,
    "eq": equal,
    "ne": lambda a, b: not equal(a, b),
    "lt": lambda a, b: bool(a < b),
    "le": lambda a, b: bool(a <= b),
    "gt": lambda a, b: bool(a > b),
    "ge": lambda a, b: bool(a >= b),
    "mux": lambda a, b, c: b if a else c,
}


def quotient(a, b):
    """Towards zero, as C's."""
    return 0 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@functools.cache
def width_of(kind):
    low, high = bounds(kind)
    return (high - low + 1).bit_length() - 1


def shifted_right(width, a, b):
    return (-1 if a < 0 else 0) if not 0 <= b < width else a >> b


WHOLE = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "abs": abs,
    "min": min,
    "max": max,
    "floordiv": lambda a, b: 0 if b == 0 else a // b,
    "mod": lambda a, b: a if b == 0 else a % b,
    "quot": quotient,
    "rem": lambda a, b: a if b == 0 else a - b * quotient(a, b),
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "bitnot": operator.invert,
}
EXACT = {"add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg, "abs": abs}
EXACT |= {"min": min, "max": max, "div": lambda a, b: Fraction(0) if b == 0 else a / b}


def smaller(a, b):
    """Of a and b the smaller one; a if they compare as equal or not at all."""
    return b if b < a else a


def greater(a, b):
    return b if b > a else a


ROUNDED = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "abs": np.abs,
    "min": smaller,
    "max": greater,
    "sqrt": np.sqrt,
    "ceil": np.ceil,
    "floor": np.floor,
}


def meaning(name, operand, kind):
    """The function of an operator at a type; None if it has no meaning here."""
    if name in LOGIC:
        return LOGIC[name]
    if kind in FLOATS and name in ROUNDED:
        exact, typed = ROUNDED[name], FLOATS[kind]
        return lambda *values: typed(exact(*values))
    if kind == "Real" and name in EXACT:
        return lambda *values: Fraction(EXACT[name](*values))
    if name in ("shl", "shr") and bounds(operand):
        width = width_of(operand)
        if name == "shr":
            return lambda a, b: shifted_right(width, a, b)
        return lambda a, b: wrapped(kind, a << b) if 0 <= b < width else 0
    if name not in WHOLE or kind in FLOATS:
        return None
    function, ends = WHOLE[name], bounds(kind)
    if ends is None:
        return function
    low, size = ends[0], ends[1] - ends[0] + 1
    return lambda *values: (function(*values) - low) % size + low


def rounded(kind, exact):
    """The float nearest to a fraction, even if halfway."""
    if kind == "Double":
        try:
            return np.float64(exact.numerator / exact.denominator)
        except OverflowError:
            return np.float64(math.copysign(math.inf, exact))
    # Of the three floats around, the one that is nearest; numpy's conversion of a double would round twice.
    middle = np.float32(rounded("Double", exact))
    around = [np.nextafter(middle, np.float32(-np.inf)), middle, np.nextafter(middle, np.float32(np.inf))]
    limit = Fraction(2) ** 128

    def distance(candidate):
        size = limit * (1 if candidate > 0 else -1) if np.isinf(candidate) else Fraction(float(candidate))
        return abs(size - exact), int(candidate.view(np.uint32)) & 1

    return min(around, key=distance)


def cast(source, target, value):
    ends = bounds(target)
    if isinstance(source, tuple):
        source = "Int"
    if target == "Bool":
        return bool(value != 0)
    if target in FLOATS:
        if source in FLOATS:
            return FLOATS[target](value)
        return rounded(target, Fraction(value) if source == "Real" else Fraction(int(value)))
    if source in FLOATS:
        value = float(value)
        if target == "Real":
            return Fraction(value) if math.isfinite(value) else Fraction(0)
        if math.isnan(value):
            return 0
        if ends is None:
            return int(value) if math.isfinite(value) else 0
        return min(max(value, ends[0]), ends[1]) if math.isinf(value) else min(max(int(value), ends[0]), ends[1])
    if target == "Real":
        return Fraction(value)
    return wrapped(target, int(value))
