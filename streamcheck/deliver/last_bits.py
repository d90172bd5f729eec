"""How this machine's functions of math.h round, measured: no standard promises their last bit.

Each function is called with inputs drawn at random, half of them evenly and half evenly by their exponents. Its value
is compared with the exact one, computed to 80 decimal digits and rounded once, and with the value that runs and
counterexamples have.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import math
import platform
import random
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from types import MappingProxyType

from streamcheck.core import floats
from streamcheck.core.errors import SpecError
from streamcheck.core.floats import f32, identical, to_f32

INPUTS = 10_000  # of each function
DIGITS = 80
PI = Decimal(
    "3.141592653589793238462643383279502884197169399375105820974944"
    "5923078164062862089986280348253421170679821480865132823066470938"
)
WIDEST = {"asin": 1.0, "acos": 1.0, "sinh": 80.0, "cosh": 80.0, "tanh": 8.0, "exp": 80.0, "log": 1e30}  # else 1000
POSITIVE = ("log", "pow")  # no value of these for a first operand below zero is looked at


@dataclass(frozen=True, slots=True)
class LastBits:
    """A function, measured: of so many inputs, those whose value is not the exact one rounded, the largest error in
    units of the last place, and those whose value is not the interpreter's."""

    function: str
    inputs: int
    rounded_wrongly: int
    worst: int
    unlike_runs: int

    def line(self) -> str:
        share = f"{100 * self.rounded_wrongly / self.inputs:.2f} %"
        off = f", by {self.worst} in the last place at most" if self.rounded_wrongly else ""
        return (
            f"{self.function}: {share} of {self.inputs} inputs not rounded correctly{off}; "
            f"{100 * self.unlike_runs / self.inputs:.2f} % not as in runs of the spec"
        )


def machine_measured() -> str:
    """The library and the machine that a measurement is about."""
    library = " ".join(platform.libc_ver()).strip() or platform.system()
    return f"measured with {library} on {platform.machine()}"


def measure_last_bits(functions: Sequence[str], inputs: int = INPUTS) -> list[LastBits]:
    """For functions of math.h, `sinf` as `sin`."""
    return [_measure(name, inputs) for name in functions]


def _measure(name: str, inputs: int) -> LastBits:
    is_float = name not in EXACT
    operation = name.removesuffix("f") if is_float else name
    called = _library_function(name, is_float, 2 if operation in ("atan2", "pow") else 1)
    interpreted = floats.power if operation == "pow" else getattr(floats, operation)
    wrong = unlike = worst = 0
    for arguments in _arguments(operation, is_float, inputs):
        value = called(*arguments)
        with localcontext(Context(prec=DIGITS)):
            exact = _nearest(EXACT[operation](*map(Decimal, arguments)), is_float)
        in_runs = f32(interpreted(*arguments)) if is_float else interpreted(*arguments)
        unlike += not identical(value, in_runs)
        if value != exact:
            wrong += 1
            worst = max(worst, abs(_ordinal(value, is_float) - _ordinal(exact, is_float)))
    return LastBits(name, inputs, wrong, worst, unlike)


def _library_function(name: str, is_float: bool, operands: int) -> Callable[..., float]:
    try:
        function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    except (OSError, AttributeError) as why:
        raise SpecError(f"{name} of math.h cannot be measured here: {why}") from None
    kind = ctypes.c_float if is_float else ctypes.c_double
    function.restype, function.argtypes = kind, [kind] * operands
    return function  # type: ignore[no-any-return]


def _arguments(operation: str, is_float: bool, inputs: int) -> Iterator[tuple[float, ...]]:
    rng = random.Random(operation)
    widest = WIDEST.get(operation, 1000.0)

    def number(*, positive: bool) -> float:
        size = rng.uniform(0, widest) if rng.random() < 0.5 else widest * 2.0 ** -rng.uniform(0, 20)
        value = size if positive or rng.random() < 0.5 else -size
        return f32(value) if is_float else value

    for _ in range(inputs):
        first = number(positive=operation in POSITIVE)
        if operation == "pow":
            second = rng.uniform(-8, 8)
            yield first, f32(second) if is_float else second
        elif operation == "atan2":
            yield first, number(positive=False)
        else:
            yield (first,)


def _nearest(value: Decimal, is_float: bool) -> float:
    return to_f32(Fraction(value)) if is_float else float(value)


def _ordinal(value: float, is_float: bool) -> int:
    """The number of floats from zero to this one."""
    size = int.from_bytes(struct.pack(">f" if is_float else ">d", abs(value)))
    return size if math.copysign(1.0, value) > 0 else -size


def _series(first: Decimal, factor: Callable[[int], Decimal]) -> Decimal:
    """first + first · factor(1) + first · factor(1) · factor(2) + …, as far as it matters."""
    total, part, n = first, first, 1
    while part and part.adjusted() > total.adjusted() - DIGITS:
        part *= factor(n)
        total += part
        n += 1
    return total


def _sine_and_cosine(x: Decimal) -> tuple[Decimal, Decimal]:
    turns = (x / (PI / 2)).to_integral_value()
    rest = x - turns * (PI / 2)
    square = rest * rest
    sine = _series(rest, lambda n: -square / (2 * n * (2 * n + 1)))
    cosine = _series(Decimal(1), lambda n: -square / (2 * n * (2 * n - 1)))
    quarter = int(turns) % 4
    return [(sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine)][quarter]


def _sin(x: Decimal) -> Decimal:
    return _sine_and_cosine(x)[0]


def _cos(x: Decimal) -> Decimal:
    return _sine_and_cosine(x)[1]


def _tan(x: Decimal) -> Decimal:
    sine, cosine = _sine_and_cosine(x)
    return sine / cosine


def _atan(x: Decimal) -> Decimal:
    halved = 0
    while abs(x) > Decimal("0.1"):  # atan x = 2 atan(x / (1 + sqrt(1 + x²)))
        x /= 1 + (1 + x * x).sqrt()
        halved += 1
    square = x * x
    total, power, n = x, x, 1
    while power and power.adjusted() > total.adjusted() - DIGITS:
        power *= -square
        total += power / (2 * n + 1)
        n += 1
    return total * (1 << halved)


def _asin(x: Decimal) -> Decimal:
    return (PI / 2).copy_sign(x) if abs(x) == 1 else _atan(x / (1 - x * x).sqrt())


def _acos(x: Decimal) -> Decimal:
    return PI if x == -1 else 2 * _atan(((1 - x) / (1 + x)).sqrt())


def _atan2(y: Decimal, x: Decimal) -> Decimal:
    if x == 0:
        return (PI / 2).copy_sign(y)
    return _atan(y / x) + (PI.copy_sign(y) if x < 0 else 0)


def _sinh(x: Decimal) -> Decimal:
    return (x.exp() - (-x).exp()) / 2


def _cosh(x: Decimal) -> Decimal:
    return (x.exp() + (-x).exp()) / 2


def _tanh(x: Decimal) -> Decimal:
    return ((2 * x).exp() - 1) / ((2 * x).exp() + 1)


def _pow(x: Decimal, y: Decimal) -> Decimal:
    return (y * x.ln()).exp()


EXACT: Mapping[str, Callable[..., Decimal]] = MappingProxyType(
    {
        "sin": _sin,
        "cos": _cos,
        "tan": _tan,
        "asin": _asin,
        "acos": _acos,
        "atan": _atan,
        "atan2": _atan2,
        "sinh": _sinh,
        "cosh": _cosh,
        "tanh": _tanh,
        "exp": Decimal.exp,
        "log": Decimal.ln,
        "pow": _pow,
    }
)
