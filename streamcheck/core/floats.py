"""IEEE 754 arithmetic that Python's operators lack: binary32, division by zero, math.h.

Float (binary32) values are held as the Python floats equal to them. An operation is computed in binary64 and
rounded once more: for + - * / and sqrt that double rounding is harmless, because 53 >= 2 * 24 + 2
[Figueroa95]. From integers and fractions it is not, so those round to odd first [BM08].
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from ctypes import c_float
from fractions import Fraction
from typing import Any


def f32(x: float) -> float:
    """The nearest binary32, ties to even; infinity when out of range."""
    return c_float(x).value


def float_of_bits(bits: int, width: int) -> float:
    """The float whose representation the bits are."""
    return float(struct.unpack("<d" if width == 64 else "<f", bits.to_bytes(width // 8, "little"))[0])


def neighbours(x: float, width: int) -> tuple[float, float]:
    """The next binary32 or binary64 below and above. Nothing is below -infinity or above infinity but itself."""
    if width == 64:
        return math.nextafter(x, -math.inf), math.nextafter(x, math.inf)
    return -_next_binary32(-x), _next_binary32(x)


def _next_binary32(x: float) -> float:
    if x != x or x == math.inf:
        return x
    if x == 0.0:
        return 2.0**-149
    (code,) = struct.unpack("<i", struct.pack("<f", x))
    following: float = struct.unpack("<f", struct.pack("<i", code + (1 if x > 0.0 else -1)))[0]
    return following


def identical(a: Any, b: Any) -> bool:
    """True if two numbers are the same value; among floats, NaN is identical to NaN, and -0.0 is not 0.0."""
    if not isinstance(a, float) or not isinstance(b, float):
        return bool(a == b) and type(a) is type(b)
    return (a == b and math.copysign(1.0, a) == math.copysign(1.0, b)) or (a != a and b != b)


def identity(value: Any) -> Any:
    """A key that two values of one type share if and only if they are identical. It does not write numbers out, which
    takes the square of their length."""
    if isinstance(value, float):
        return "NaN" if value != value else struct.pack("<d", value)
    return tuple(map(identity, value)) if isinstance(value, tuple) else value


def fdiv(a: float, b: float) -> float:
    if b != 0.0:
        return a / b
    if a != a or b != b or a == 0.0:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1.0, b)


def to_f64(value: int | Fraction) -> float:
    """The nearest binary64 of an exact number (Python's int / int rounds once, correctly)."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def to_f32(value: int | Fraction) -> float:
    """The nearest binary32 of an exact number: to odd in binary64, then to nearest."""
    near = to_f64(value)
    if math.isinf(near) or Fraction(near) == value:
        return f32(near)
    significand = int(math.ldexp(math.frexp(near)[0], 53))
    if significand % 2 == 0:
        near = math.nextafter(near, math.inf if Fraction(near) < value else -math.inf)
    return f32(near)


def to_machine(x: float, low: int, high: int) -> int:
    """Truncation toward zero; a value out of range saturates, NaN becomes 0."""
    if x != x:
        return 0
    if x <= low:
        return low
    return high if x >= high else int(x)


def to_integer(x: float) -> int:
    return int(x) if math.isfinite(x) else 0


def to_real(x: float) -> Fraction:
    return Fraction(x) if math.isfinite(x) else Fraction(0)


def sqrt(x: float) -> float:
    return math.sqrt(x) if x >= 0.0 else (x if x == 0.0 else math.nan)


def ceil(x: float) -> float:
    return math.copysign(float(math.ceil(x)), x) if math.isfinite(x) else x


def floor(x: float) -> float:
    return math.copysign(float(math.floor(x)), x) if math.isfinite(x) else x


def log(x: float) -> float:
    if x == 0.0:
        return -math.inf
    return math.log(x) if x > 0.0 else math.nan


def power(x: float, y: float) -> float:
    """pow of C99, Annex F.9.4.4: math.pow follows it, but raises if C returns infinity or NaN."""
    try:
        return math.pow(x, y)
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf
    except ValueError:
        if x == 0.0:
            odd = y % 2 == 1
            return math.copysign(math.inf, x) if odd else math.inf
        return math.nan


def _total(f: Callable[[float], float]) -> Callable[[float], float]:
    def total(x: float) -> float:
        try:
            return f(x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.copysign(math.inf, x) if f is math.sinh else math.inf

    return total


sin, cos, tan = _total(math.sin), _total(math.cos), _total(math.tan)
asin, acos, atan = _total(math.asin), _total(math.acos), _total(math.atan)
sinh, cosh, tanh = _total(math.sinh), _total(math.cosh), _total(math.tanh)
exp = _total(math.exp)
atan2 = math.atan2
