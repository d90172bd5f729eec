"""`--with rust`: the crate does what the C and the interpreter do, bit for bit, for every operator and type."""

from __future__ import annotations

import enum
import math
import random
import re
import struct as bytes_of

import pytest
from c_harness import build, compare, expected, have, run, write
from operator_cases import INTERNAL, cases
from random_specs import HERE, NOT_EXACT, random_equations, random_rows
from random_specs import value as random_value

from streamcheck import *
from streamcheck.codegen.rust import RustWriter, rust_crate
from streamcheck.codegen.rust_terms import rust_constant, rust_name, rust_type
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.errors import SpecError
from streamcheck.core.floats import f32
from streamcheck.core.operators import OPERATORS
from streamcheck.core.term import term, variable
from streamcheck.core.types import FLOAT, ArrayType, EnumType, FloatType, MachineType, StructType
from streamcheck.lang.flatten import flatten
from streamcheck.problem.specification import Input, Named, Specification

needs_rust = pytest.mark.skipif(not have("rustc"), reason="no rustc here")


def literal(type, value):
    match type:
        case ArrayType():
            return f"[{', '.join(literal(type.element, v) for v in value)}]"
        case StructType():
            fields = (f"{rust_name(n)}: {literal(t, v)}" for (n, t), v in zip(type.fields, value, strict=True))
            return f"{rust_type(type)} {{ {', '.join(fields)} }}"
        case EnumType():
            return rust_constant(type, value)
        case FloatType(width=width):
            form = "f32" if width == 32 else "f64"
            whole = int.from_bytes(bytes_of.pack("<f" if width == 32 else "<d", value), "little")
            return f"{form}::from_bits({whole:#x})"
    return rust_constant(type, value)


def shows(place, type):
    """Statements that print a value as `bits` does."""
    match type:
        case ArrayType():
            return "".join(shows(f"{place}[{i}]", type.element) for i in range(type.length))
        case StructType():
            return "".join(shows(f"{place}.{rust_name(n)}", t) for n, t in type.fields)
        case FloatType():
            return f'if {place}.is_nan() {{ print!(" nan"); }} else {{ hex(&{place}.to_le_bytes()); }}\n'
        case MachineType():
            return f"hex(&{place}.to_le_bytes());\n"
        case EnumType():
            return f"hex(&({place} as i32).to_le_bytes());\n"
    return f"hex(&[{place} as u8]);\n"


def driver(unit, writer, rows):
    specification = writer.low.specification
    every = [i for i in unit.code.specification.inputs if i.extern]
    lines = ['use monitor::*;\nfn hex(b: &[u8]) { print!(" "); for x in b { print!("{:02x}", x); } }\nstruct H;']
    lines.append(f"impl {writer.handlers} for H {{")
    for trigger in specification.triggers:
        lines.append(writer.signature(trigger) + " {")
        lines.append(f'print!("{trigger.name}");')
        names = re.findall(r", (\w+):", writer.signature(trigger))
        lines += [shows(name, a.type) for name, (_, a) in zip(names, trigger.args, strict=True)]
        lines.append("println!(); }")
    lines.append("}\n#[allow(unused_variables)]\nfn main() { let rows = [")
    names = {i.name for i in writer.low.externs}
    for row in rows:
        fields = (
            f"{rust_name(i.name)}: {literal(j.type, v)}"
            for i, v in zip(every, row, strict=True)
            if i.name in names
            for j in [next(j for j in writer.low.externs if j.name == i.name)]
        )
        lines.append(f"{writer.inputs} {{ {', '.join(fields)} }},")
    lines.append(
        f"];\nlet mut monitor = {writer.monitor}::new();\nfor row in rows.iter() {{ monitor.step(row, &mut H);"
    )
    for o in writer.low.observers:
        lines.append(f'print!("={o.name}");{shows(f"monitor.observed.{rust_name(o.name)}", o.term.type)}println!();')
    lines.append('println!("-"); } }')
    return "\n".join(lines)


def rust_output(folder, unit, rows):
    writer = RustWriter(unit.code)
    for name, text in rust_crate(unit.code, "0").items():
        (folder / name.replace("src/", "")).write_text(text)
    writer.text("0")
    (folder / "main.rs").write_text(driver(unit, writer, rows))
    flags = ["--edition", "2021", "-C", "debug-assertions=on", "-C", "overflow-checks=on"]
    run(["rustc", *flags, "-D", "warnings", "--crate-type", "rlib", "--crate-name", "monitor", "lib.rs"], folder)
    run(["rustc", *flags, "--extern", "monitor=libmonitor.rlib", "main.rs", "-o", "main"], folder)
    return run(["./main"], folder).splitlines()


@needs_rust
@pytest.mark.parametrize("seed", range(20))
def test_random_specs_step_by_step_like_the_c(tmp_path, seed):
    equations = random_equations(seed)
    unit = generate(equations, CodeOptions(observers=True))
    rows = random_rows(seed, equations, 60)
    assert rust_output(tmp_path, unit, rows) == expected(unit.code.specification, rows, observers=True)
    if have("gcc"):
        write(tmp_path / "c", unit.code)
        compare(tmp_path / "c", build(tmp_path / "c", unit.code), unit.code, rows)


def operator_specs():
    """Specs with an observer for each operator at each combination of types that a machine has."""
    shown = []
    for op, args, payload in cases():
        kinds = {t.kind for t in [*args, *([payload] if hasattr(payload, "kind") else [])]}
        if kinds & {"integer", "real"} or op in NOT_EXACT or op in INTERNAL:
            continue
        names = [re.sub(r"\W+", "_", f"x_{type}_{i}") for i, type in enumerate(args)]
        shown.append(term(op, *map(variable, names, args), payload=payload))
    for i in range(0, len(shown), 150):
        some = shown[i : i + 150]
        inputs = {v: Input(v.payload, v.type, True, "", "", HERE) for t in some for v in t.args}
        observers = tuple(Named(f"o{j}", t, HERE) for j, t in enumerate(some))
        yield Specification("ops", tuple(inputs.values()), (), (), (), (), observers, (), (), HERE)


OPERATOR_SPECS = list(operator_specs())


def test_every_operator_is_compared():
    seen = {o.term.op for spec in OPERATOR_SPECS for o in spec.observers}
    assert set(OPERATORS) - seen == {*NOT_EXACT, *INTERNAL}


@needs_rust
@pytest.mark.parametrize("number", range(len(OPERATOR_SPECS)))
def test_every_operator_at_every_type(tmp_path, number):
    spec = OPERATOR_SPECS[number]
    unit = generate(spec, CodeOptions(observers=True))
    rng = random.Random(number)
    rows = [tuple(random_value(rng, i.type) for i in spec.inputs) for _ in range(200)]
    assert rust_output(tmp_path, unit, rows) == expected(spec, rows, observers=True)


@needs_rust
@pytest.mark.parametrize("type", ["Float", "Double"])
def test_roots_and_whole_parts_are_exact(tmp_path, type):
    kind = FLOAT if type == "Float" else next(t for _, args, _ in cases() for t in args if str(t) == "Double")
    x = variable("x", kind)
    observers = tuple(Named(op, term(op, x), HERE) for op in ("sqrt", "floor", "ceil", "abs"))
    spec = Specification("ops", (Input("x", kind, True, "", "", HERE),), (), (), (), (), observers, (), (), HERE)
    rng = random.Random(7)
    rows = [(v,) for v in (0.0, -0.0, math.inf, -math.inf, math.nan, -0.5, 0.5, 4.0, 2.0, 1e-45, 5e-324, 8388607.5)]
    for _ in range(3000):
        value = math.ldexp(rng.random() + 1, rng.randint(-1074, 1023) if kind is not FLOAT else rng.randint(-149, 127))
        near = rng.choice(
            (value, -value, float(rng.randrange(2**27)) ** 2, rng.uniform(-9, 9) * 2 ** rng.randrange(60))
        )
        rows.append((near,))
    rows = [(f32(v) if kind is FLOAT else v,) for (v,) in rows]
    unit = generate(spec, CodeOptions(observers=True))
    assert rust_output(tmp_path, unit, rows) == expected(spec, rows, observers=True)


class Mode(enum.Enum):
    loop = 0
    IDLE = 1


@needs_rust
def test_names_that_rust_keeps_for_itself(tmp_path):
    self_, match, inputs = extern("self", Word8), extern("match", EnumOf(Mode)), extern("Inputs", Bool)
    fn = stream(Word8, lambda n: [0] + +(n + self_))
    spec = Spec("crate")
    spec.trigger("impl", inputs, {"mut": fn, "mode": match})
    spec.trigger("move", match == Mode.loop)
    spec.observer("type", fn)
    unit = generate(flatten(spec), CodeOptions(observers=True))
    rows = random_rows(1, unit.code.specification, 20)
    assert rust_output(tmp_path, unit, rows) == expected(unit.code.specification, rows, observers=True)


def test_a_function_of_the_last_bit_is_refused():
    spec = Spec("waves")
    spec.trigger("high", sin(extern("x", Float)) > 0.5)
    unit = generate(flatten(spec), CodeOptions())
    with pytest.raises(SpecError, match="no `sin`"):
        rust_crate(unit.code, "0")


@needs_rust
def test_assumptions_are_checked(tmp_path):
    level = extern("level", Word8)
    spec = Spec("tank")
    spec.trigger("high", level > 200)
    spec.assume("low", level < 250)
    unit = generate(flatten(spec), CodeOptions(assumptions=True))
    writer = RustWriter(unit.code)
    (tmp_path / "lib.rs").write_text(writer.text("0"))
    (tmp_path / "main.rs").write_text(
        "use monitor::*; struct H; impl Handlers for H { fn high(&mut self) {} }\n"
        "fn main() { let mut m = Tank::new(); for level in [3, 249, 250, 3] { m.step(&Inputs { level }, &mut H);\n"
        'print!("{} ", m.assumptions_hold()); } }\n'
    )
    run(["rustc", "--edition", "2021", "--crate-type", "rlib", "--crate-name", "monitor", "lib.rs"], tmp_path)
    run(["rustc", "--edition", "2021", "--extern", "monitor=libmonitor.rlib", "main.rs", "-o", "main"], tmp_path)
    assert run(["./main"], tmp_path) == "true true false false "


@pytest.mark.skipif(not have("cargo"), reason="no cargo here")
def test_cargo_builds_the_crate(tmp_path):
    unit = generate(random_equations(3), CodeOptions())
    for name, text in rust_crate(unit.code, "0").items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    run(["cargo", "build", "--offline", "--quiet"], tmp_path)


@needs_rust
def test_loops_windows_and_groups_of_the_c_are_the_same_equations(tmp_path):
    beats = [extern(f"beat{i}", Bool) for i in range(6)]
    level, cells = extern("level", Int16), extern("cells", Array(Int16, 20))
    spec = Spec("dogs")
    for i, beat in enumerate(beats):
        age = stream(Word8, lambda n, beat=beat: [0] + +mux(beat, 0, mux(n < 250, n + 1, n)))
        spec.trigger(f"late{i}", age > 3, age)
    spec.observer("top", statistics.max(100, [0] * 100 + +level))
    spec.observer("total", sum((cells[i] for i in range(1, 20)), cells[0]))
    unit = generate(flatten(spec), CodeOptions(observers=True))
    assert "for (" in unit.code.files["dogs.c"]
    rows = random_rows(5, unit.code.specification, 400)
    assert rust_output(tmp_path, unit, rows) == expected(unit.code.specification, rows, observers=True)
