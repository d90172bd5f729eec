"""Definitions of the `sc_…` functions that the C column of the table calls: strict C99, without undefined or
implementation-defined behaviour, with the values of the Python column.

`t` names a machine type: `u8`, `i64` … A row names its function's definition (`c_function`); conversions have theirs
for all rows.
"""

from __future__ import annotations

import re


def called_functions(expression: str) -> list[str]:
    """The `sc_…` functions that an expression or a definition calls."""
    return list(dict.fromkeys(re.findall(r"\bsc_\w+", expression)))


def _c(t: str) -> tuple[str, str, int]:
    """C type, the unsigned type it is computed in, and width."""
    w = int(t[1:])
    return f"{'u' if t[0] == 'u' else ''}int{w}_t", "uint64_t" if w == 64 else "uint32_t", w


def _function(result: str, name: str, parameters: str, *body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    return f"static inline {result} {name}({parameters})\n{{\n{lines}}}\n"


def _unsigned_max(t: str) -> str:
    w = int(t[1:])
    return "UINT64_MAX" if w == 64 else f"0x{(1 << w) - 1:x}u"


def signed_from_bits(t: str) -> str:
    """The signed value of the low bits: no conversion is out of range, because that is implementation-defined."""
    c, wide, w = _c(t)
    low = f"x & {_unsigned_max(t)}" if w < 32 else "x"
    return _function(
        c,
        f"sc_{t}",
        f"{wide} x",
        f"const {wide} low = {low};",
        f"return (low <= ({wide})INT{w}_MAX) ? ({c})low : ({c})(-({c})({_unsigned_max(t)} - low) - 1);",
    )


def division(op: str, t: str) -> str:
    c, wide, _ = _c(t)
    zero = {"floordiv": "0", "quot": "0"}.get(op, "a")
    symbol = "/" if op in ("floordiv", "quot") else "%"
    lines = [f"if (b == 0{'u' if t[0] == 'u' else ''}) {{", f"    return {zero};", "}"]
    if t[0] == "u":
        return _function(c, f"sc_{op}_{t}", f"{c} a, {c} b", *lines, f"return ({c})(a {symbol} b);")
    if symbol == "/":
        lines += ["if (b == -1) {", f"    return sc_{t}(({wide})0 - ({wide})a);", "}"]
    else:
        lines += ["if (b == -1) {", "    return 0;", "}"]
    if op in ("quot", "rem"):
        lines.append(f"return ({c})(a {symbol} b);")
    elif op == "floordiv":
        lines.append(f"return ({c})((a / b) - ((((a % b) != 0) && ((a < 0) != (b < 0))) ? 1 : 0));")
    else:
        lines.append(f"return ({c})((a % b) + ((((a % b) != 0) && ((a < 0) != (b < 0))) ? b : 0));")
    return _function(c, f"sc_{op}_{t}", f"{c} a, {c} b", *lines)


def shift(op: str, t: str) -> str:
    c, wide, w = _c(t)
    parameters = f"{c} a, uint64_t n"
    if op == "shl":
        moved = f"({wide})a << n"
        value = f"({c})({moved})" if t[0] == "u" else f"sc_{t}({moved})"
        return _function(c, f"sc_shl_{t}", parameters, f"if (n < {w}u) {{", f"    return {value};", "}", "return 0;")
    if t[0] == "u":
        value = f"({c})(a >> n)"
        return _function(c, f"sc_shr_{t}", parameters, f"if (n < {w}u) {{", f"    return {value};", "}", "return 0;")
    return _function(
        c,
        f"sc_shr_{t}",
        parameters,
        f"const uint64_t m = (n < {w}u) ? n : {w - 1}u;",
        "if (a < 0) {",
        f"    return ({c})(-({c})(({wide})(-(a + 1)) >> m) - 1);",
        "}",
        f"return ({c})(({wide})a >> m);",
    )


def integer_of_float(t: str, f: int) -> str:
    c, _, w = _c(t)
    suffix, scalar = ("f", "float") if f == 32 else ("", "double")
    high = float(1 << (w if t[0] == "u" else w - 1))
    low = 0.0 if t[0] == "u" else -high
    prefix = "U" if t[0] == "u" else ""
    minimum = f"({c})0" if t[0] == "u" else f"INT{w}_MIN"
    return _function(
        c,
        f"sc_{t}_of_f{f}",
        f"{scalar} x",
        f"if (!(x > {low!r}{suffix})) {{",
        f"    return (x <= {low!r}{suffix}) ? {minimum} : ({c})0;",
        "}",
        f"return (x < {high!r}{suffix}) ? ({c})x : {prefix}INT{w}_MAX;",
    )
