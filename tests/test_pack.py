"""Bool state in bits (`--pack`): the C runs as interpreted and is proved, and a wrong bit is refused."""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest
from c_harness import build, compare, have, run, unit_of, write
from click.testing import CliRunner
from random_specs import random_equations, random_rows
from test_codegen import OPTIONS, SANITIZE

from streamcheck import *
from streamcheck.cli import compile as cli_compile
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.lang.flatten import flatten
from streamcheck.validate.bisimulation import validate

needs_gcc = pytest.mark.skipif(not have("gcc"), reason="no gcc on this machine")


def flags(delay=20, others=0):
    """Latches, a short delay and a long one; `others`: cells that take turns."""
    p, q, r = (extern(name, Bool) for name in "pqr")
    latched = stream(Bool, lambda c: [False] + +(c | p))
    on = stream(Bool, lambda c: [True] + +mux(p, q, c))
    late = [i % 3 == 0 for i in range(delay)] + +r
    spec = Spec("flags")
    spec.trigger("go", latched & ~on, [late, [True, False, True] + +q])
    spec.trigger("stop", late ^ on)
    last = q
    for i in range(others):
        last = stream(Bool, lambda c, last=last, i=i: [i % 2 == 0] + +(c ^ (last if i % 3 else last & p)))
    spec.observer("last", last)
    return spec


@needs_gcc
@pytest.mark.parametrize("copilot", [False, True])
@pytest.mark.parametrize(("delay", "others"), [(2, 0), (8, 3), (9, 14), (32, 1), (64, 0), (65, 2)])
def test_packed_state_runs_as_interpreted(delay, others, copilot, tmp_path):
    unit = unit_of(flags(delay, others), pack=True, observers=True, copilot=copilot)
    outcome = validate(unit)
    assert outcome.is_proved, outcome.failures
    write(tmp_path / "c", unit)
    rng = random.Random(delay)
    rows = [tuple(rng.random() < 0.4 for _ in unit.specification.inputs) for _ in range(300)]
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", SANITIZE), unit, rows)


@needs_gcc
@pytest.mark.parametrize("seed", range(400, 424))
def test_random_specs_packed(seed, tmp_path):
    equations = random_equations(seed)
    unit = generate(equations, replace(OPTIONS[seed % 4], pack=True)).code
    outcome = validate(unit)
    assert outcome.is_proved, outcome.failures
    write(tmp_path / "c", unit)
    compare(tmp_path / "c", build(tmp_path / "c", unit, "gcc", SANITIZE), unit, random_rows(seed, equations, 300))


@needs_gcc
def test_the_header_has_the_size_of_packed_state(tmp_path):
    sizes = []
    for pack in (False, True):
        made = generate(flatten(flags(20, 8)), CodeOptions(pack=pack))
        write(tmp_path / "c", made.code)
        text = f'#include "flags.h"\nchar fits[sizeof(flags_state) == {made.figures.state} ? 1 : -1];\n'
        (tmp_path / "c" / "size.c").write_text(text)
        run(["gcc", "-std=c99", "-c", "size.c"], tmp_path / "c")
        assert f"state: {made.figures.state} bytes" in made.code.files["flags.h"]
        sizes.append(made.figures.state)
    assert sizes == [26, 8]


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"& 1u\)", "& 2u)"),  # another bit is read
        (r"\? 1u : 0u", "? 2u : 0u"),  # another bit is written
        (r"\? 1u : 0u", "? 0u : 1u"),
        (r"<< 1u", "<< 2u"),
        (r"<< 1u", ">> 1u"),
        (r"<< 1u\) \|", "<< 1u) &"),
        (r"524288u", "262144u"),  # the oldest value but one
        (r"flags = (\d+)u;", "flags = 255u;"),
        (r"flags = \(uint8_t\)\(", "flags = (uint8_t)(state->flags | "),
        (r"\| \(\(uint8_t\)", "^ ((uint8_t)~"),
    ],
)
def test_a_wrong_bit_is_refused(pattern, replacement):
    unit = unit_of(flags(), pack=True)
    assert validate(unit).is_proved
    text = re.sub(pattern, replacement, unit.files["flags.c"], count=1)
    assert text != unit.files["flags.c"]
    assert not validate(replace(unit, files={**unit.files, "flags.c": text})).is_proved


def test_a_wrong_place_of_a_bit_is_refused():
    unit = unit_of(flags(), pack=True)
    (latched, first), (on, second) = [(n, p) for n, (p,) in unit.places.items() if p.variable == "flags"][:2]
    assert (first.bit, second.bit) == (0, 1)
    for wrong in (
        {latched: second, on: first},
        {latched: second},
        {latched: replace(first, bit=7)},
        {latched: replace(first, bit=8)},
        {latched: replace(first, bit=None)},
        {latched: replace(first, variable="r_before_bits")},
    ):
        places = unit.places | {name: (place,) for name, place in wrong.items()}
        assert not validate(replace(unit, places=places)).is_proved, wrong


def test_what_is_not_packed():
    values = [extern(f"v{i}", Bool) for i in range(6)]
    latches = [stream(Bool, lambda c, v=v: [False] + +(c | v)) for v in values]
    count = Word8(0)
    for latch in latches:
        count = count + mux(latch, Word8(1), 0)
    spec = Spec("loops")
    spec.trigger("many", count > 3, [count])
    spec.assume("given", ~(values[0] & values[1]))
    unit = unit_of(spec, pack=True, assumptions=True)
    header = unit.files["loops.h"]
    assert re.search(r"bool \w+\[6\];", header) and "bool assumptions_held;" in header and validate(unit).is_proved
    alone = Spec("alone")
    alone.trigger("t", stream(Bool, lambda c: [False] + +(c | values[0])))
    assert "uint8_t" not in unit_of(alone, pack=True).files["alone.h"]


def test_the_option(tmp_path):
    (tmp_path / "s.py").write_text(
        "from streamcheck import *\np = extern('p', Bool)\na = stream(Bool, lambda a: [False] ++ (a | p))\n"
        "b = stream(Bool, lambda b: [False] ++ (b ^ p))\nspec = Spec('s')\nspec.trigger('t', a & b)\n"
        "spec.prop('known', implies(pre(False, a), a))\n"
    )
    where = str(tmp_path / "out")
    done = CliRunner().invoke(
        cli_compile.command, [str(tmp_path / "s.py"), "-o", where, "--pack", "--with", "trace"], standalone_mode=False
    )
    assert done.return_value == 0, done.output
    header = (tmp_path / "out" / "s.h").read_text()
    assert "state: 1 byte;" in header and "uint8_t flags; /**< bits, from the lowest: a, b" in header
    assert '"flags"' not in (tmp_path / "out" / "s.trace.json").read_text()
