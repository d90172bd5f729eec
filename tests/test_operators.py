"""One semantics: the Python column of the operator table against the SMT and the C column, every operator at every
type, on random and corner values."""

from __future__ import annotations

import ctypes
import math
import shutil
import subprocess
from itertools import product

import pytest
import z3
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from operator_cases import cases, title, values

from streamcheck.certify.evaluate import evaluate
from streamcheck.core.evaluate import value_of
from streamcheck.core.floats import identical
from streamcheck.core.operators import OPERATORS, Signature, c_function, c_type, fill, needed_functions
from streamcheck.core.operators.c_helpers import called_functions
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import DOUBLE, FLOAT, INT, FloatType, belongs, machine
from streamcheck.smt.translate import Translator, literal
from streamcheck.transform.scalars import scalars

CASES = list(cases())
UNKNOWN = {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "atan2", "pow"}
EXAMPLES = 25


def solver_knows(case):
    name, args, payload = case
    return name not in UNKNOWN and not (
        name == "cast" and args[0].kind in ("integer", "real") and isinstance(payload, FloatType)
    )


def test_the_checker_rounds_numbers_beyond_every_float_to_infinity():
    for type, number in product((FLOAT, DOUBLE), (2**1024, -(2**2000))):
        x = variable("x", INT)
        cast = term("cast", x, payload=type)
        assert evaluate([cast], {x: number})[cast] == math.copysign(math.inf, number > 0 or -1)


def agrees(z3_value, type, value):
    """Whether a z3 term, all of constants, has this value."""
    same = z3.fpIsNaN(z3_value) if value != value else z3_value == literal(type, value)
    return z3.is_true(z3.simplify(same))


@pytest.mark.parametrize("case", [c for c in CASES if solver_knows(c)], ids=title)
def test_python_and_z3_agree(case):
    name, args, payload = case
    variables = [variable(f"x{i}", t) for i, t in enumerate(args)]
    applied = term(name, *variables, payload=payload)

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*map(values, args)))
    def check(operands):
        result = value_of(applied, dict(zip(variables, operands, strict=True)))
        assert belongs(applied.type, result) is not None  # of its own type
        constants = [constant(t, v) for t, v in zip(args, operands, strict=True)]
        parts = scalars([term(name, *constants, payload=payload)])[term(name, *constants, payload=payload)]
        wanted = scalars([constant(applied.type, result)])[constant(applied.type, result)]
        z3_of = Translator().expression
        for part, want in zip(parts, wanted, strict=True):
            assert agrees(z3_of(part), part.type, want.payload), (operands, result, z3_of(part))

    check()


COMPILED = [
    c
    for c in CASES
    if OPERATORS[c[0]].c is not None
    and all(t.kind in ("bool", "unsigned", "signed", "float", "enum") for t in c[1])
    and (c[2] is None or c[2].kind in ("bool", "unsigned", "signed", "float"))
    and c[0] not in UNKNOWN
]


def c_source():
    bodies, helpers = [], {}
    for i, (name, args, payload) in enumerate(COMPILED):
        result = OPERATORS[name].rule(args, payload)
        form = OPERATORS[name].c_form(Signature(args, result, payload))
        for h in called_functions(form):
            for dependency in [*needed_functions(h), h]:
                helpers[dependency] = c_function(dependency)
        parameters = ", ".join(f"{c_type(t)} {letter}" for t, letter in zip(args, "abc", strict=False))
        text = fill(form, {"a": "a", "b": "b", "c": "c"})
        bodies.append(f"{c_type(result)} f{i}({parameters})\n{{\n    return {text};\n}}\n")
    head = "#include <math.h>\n#include <stdbool.h>\n#include <stdint.h>\n"
    declared = [body.split("\n")[0] + ";\n" for body in bodies]
    return head + "".join(helpers.values()) + "".join(declared) + "".join(bodies)


FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-Wno-float-equal"]


@pytest.fixture(scope="module", params=["-O0", "-O3"])
def library(request, tmp_path_factory):
    if shutil.which("gcc") is None:
        pytest.skip("no gcc on this machine")
    folder = tmp_path_factory.mktemp("operators")
    (folder / "operators.c").write_text(c_source())
    made = folder / "operators.so"
    trap = ["-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
    command = ["gcc", *FLAGS, *trap, request.param, "-shared", "-fPIC", "operators.c", "-o", str(made), "-lm"]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(made))


def c_kind(type):
    if isinstance(type, FloatType):
        return ctypes.c_float if type.width == 32 else ctypes.c_double
    if type.kind == "bool":
        return ctypes.c_bool
    return getattr(ctypes, "c_" + c_type(type)[:-2])


def check_compiled(case, function):
    name, args, payload = case
    variables = [variable(f"x{j}", t) for j, t in enumerate(args)]
    applied = term(name, *variables, payload=payload)
    function.argtypes = [c_kind(t) for t in args]
    function.restype = c_kind(applied.type)

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*map(values, args)))
    def check(operands):
        wanted = value_of(applied, dict(zip(variables, operands, strict=True)))
        got = function(*operands)
        assert repr(got) == repr(wanted), (title(case), operands)

    check()


def test_python_and_c_agree(library):
    assert len(COMPILED) > 300
    for i, case in enumerate(COMPILED):
        check_compiled(case, getattr(library, f"f{i}"))


@pytest.mark.parametrize("case", CASES, ids=title)
def test_the_checker_and_the_table_agree(case):
    """The checker's own meaning of each operator against the Python column."""
    name, args, payload = case
    variables = [variable(f"x{i}", t) for i, t in enumerate(args)]
    applied = term(name, *variables, payload=payload)

    @settings(max_examples=3 * EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(*map(values, args)))
    def check(operands):
        given = dict(zip(variables, operands, strict=True))
        assert is_identical(evaluate([applied], given)[applied], value_of(applied, given)), operands

    check()


def is_identical(a, b):
    if isinstance(a, tuple):
        return all(map(is_identical, a, b))
    return identical(a, b)


def test_c_functions_come_from_rows_only():
    """A C form may call what a row defines; an unknown name is an error, never a division."""
    assert "sc_mod_u8" in c_function("sc_mod_u8")
    for unknown in ("sc_reverse_u8", "sc_add_i32", "sc_sc_mod_u8", "sc_"):
        with pytest.raises(KeyError, match="no row of the operator table"):
            c_function(unknown)


def test_mirrored_comparisons_compare_alike():
    for row in OPERATORS.values():
        assert not row.mirrored or OPERATORS[row.mirrored].mirrored == row.name
    x, y = variable("x", machine(8, signed=True)), variable("y", machine(8, signed=True))
    for row in (r for r in OPERATORS.values() if r.is_comparison):
        for a, b in product((-1, 0, 1), repeat=2):
            given = {x: a, y: b}
            assert value_of(term(row.name, x, y), given) == value_of(term(row.mirrored, y, x), given)


@pytest.mark.parametrize("name", [name for name, row in OPERATORS.items() if row.is_comparison])
def test_a_comparison_with_its_operands_exchanged(name):
    corners = {INT: (-1, 0, 1), DOUBLE: (-1.0, -0.0, 0.0, 1.0, math.nan, math.inf)}
    pairs = [(constant(t, a), constant(t, b)) for t, some in corners.items() for a, b in product(some, some)]
    for a, b in pairs:
        assert value_of(term(name, a, b), {}) is value_of(term(OPERATORS[name].mirrored, b, a), {})
