"""Names of the user's in C: whatever a compiler or the library gives another meaning, in every role and both ABIs.
`pytest -s` prints how many names compile in each role."""

from __future__ import annotations

import re
import subprocess
from itertools import product

import pytest
from c_harness import WARNINGS, build, compare, have, run, unit_of, write
from random_specs import random_rows

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.core.c_names import KEYWORDS, c_name, is_identifier
from streamcheck.core.errors import SpecError
from streamcheck.core.location import Location
from streamcheck.core.term import constant, term, variable
from streamcheck.core.types import SCALARS, enum_of, struct_of
from streamcheck.problem.specification import Input, Named, Specification, Trigger
from streamcheck.validate.bisimulation import validate

HERE = Location("names.py", 1)
WORD = SCALARS["Word8"]
COMPILERS = [compiler for compiler in ("gcc", "clang") if have(compiler)]
HEADERS = (
    "assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdbool "
    "stddef stdint stdio stdlib stdnoreturn string time uchar wchar wctype"
).split()
CPP_KEYWORDS = (
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t class compl const "
    "constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or "
    "or_eq private protected public register reinterpret_cast return short signed sizeof static static_assert "
    "static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using "
    "virtual void volatile wchar_t while xor xor_eq restrict _Bool _Complex _Imaginary _Alignas _Atomic "
    "_Generic _Noreturn"
).split()
OWN = "state inputs step init observed none i main m_state m_inputs m_step m_init sc_i8 M_H STREAMCHECK_m_H t1 t2 cell"

pytestmark = pytest.mark.skipif(not COMPILERS, reason="no C compiler on this machine")


def output(command, text):
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=60).stdout


@pytest.fixture(scope="module")
def taken():
    """Every identifier that means something: macros that compilers predefine, macros and names of the library, and of
    the headers that the generated C includes with their extensions, keywords of C and C++."""
    everything = "".join(f"#include <{name}.h>\n" for name in HEADERS)
    names = {*KEYWORDS, *CPP_KEYWORDS}
    hosting = ("-fhosted", "-ffreestanding")
    for compiler, host, dialect, text in product(COMPILERS, hosting, ("c99", "gnu99"), ("", everything)):
        found = output([compiler, f"-std={dialect}", host, "-dM", "-E", "-xc", "-"], text)
        names.update(re.findall(r"^#define (\w+)", found, re.M))
    for compiler, dialect in product(COMPILERS, ("c99", "c11", "gnu99")):
        included = "#include <math.h>\n#include <string.h>\n" if dialect == "gnu99" else everything
        found = output([compiler, f"-std={dialect}", "-E", "-P", "-xc", "-"], included)
        names.update(re.findall(r"\b([A-Za-z_]\w*) *\(", found))
    assert len(names) > 1000 and {"INT_MAX", "linux", "strlen", "while", "class", "isnan"} <= names
    return names


def test_no_name_in_c_means_something_else(taken):
    for name in sorted(taken):
        chosen = c_name(name)
        assert is_identifier(chosen) and chosen not in taken and not re.search("^_|__", chosen), (name, chosen)
        assert c_name(chosen) == chosen  # none is renamed twice


@pytest.mark.parametrize("name", "up total probe temperature A Mode_ON x1 alarm shutoff nullable stress is_on".split())
def test_ordinary_names_are_kept(name):
    assert c_name(name) == name


def batches(names):
    """The names in groups whose names in C differ."""
    left = [n for n in sorted(names) if is_identifier(n)]
    while left:
        group = {c_name(n): n for n in reversed(left)}
        yield sorted(group.values())
        left = [n for n in left if group[c_name(n)] != n]


def specification(names, role, base="m"):
    """A specification in which every name has the role."""
    names = list(names)
    x = variable("given", WORD)
    loud = term("lt", x, constant(WORD, 5))
    inputs, triggers, observers, wires = [Input("given", WORD, True, "", "", HERE)], [], [], []
    match role:
        case "extern":
            inputs += [Input(n, WORD, True, "", "", HERE) for n in names]
            read = [(None, i.var) for i in inputs]
            triggers = [Trigger("fire", loud, tuple(read[k : k + 9]), HERE) for k in (0,)]
            observers = [Named(f"shown_{k}", i.var, HERE) for k, i in enumerate(inputs)]
        case "trigger":
            triggers = [Trigger(n, loud, ((None, x),), HERE) for n in names]
        case "parameter":
            triggers = [Trigger(f"fire_{k}", loud, ((n, x), (f"q{k}", x)), HERE) for k, n in enumerate(names)]
        case "observer":
            observers = [Named(n, x, HERE) for n in names]
        case "stream":
            values = [term("add", x, constant(WORD, k % 256)) for k in range(len(names))]
            distinct = [term("mul", v, term("add", v, constant(SCALARS["Word8"], 3))) for v in values[:256]]
            wires = [Named(n, v, HERE) for n, v in zip(names, distinct, strict=False)]
            triggers = [Trigger("fire", loud, tuple((None, v) for v in distinct[k : k + 1]), HERE) for k in (0,)]
            observers = [Named(f"shown_{k}", v, HERE) for k, v in enumerate(distinct)]
        case "struct" | "field" | "constant":
            for k, n in enumerate(names):
                type = struct_of(n if role == "struct" else f"Rec_{k}", ((n if role == "field" else "part", WORD),))
                if role == "constant":  # TYPE_MEMBER, from a name with an underscore in it
                    type = enum_of(n.split("_", 1)[0], ((n.split("_", 1)[1], k),))
                inputs.append(Input(f"in_{k}", type, True, "", "", HERE))
                observers.append(Named(f"shown_{k}", inputs[-1].var, HERE))
    return Specification(base, tuple(inputs), (), (), tuple(wires), tuple(triggers), tuple(observers), (), (), HERE)


def compile_all(folder, unit):
    folder.mkdir(exist_ok=True)
    for name, text in unit.files.items():
        (folder / name).write_text(text)
    for compiler, dialect in (("gcc", "-std=c99"), ("gcc", "-std=gnu99"), ("clang", "-std=gnu99")):
        if not have(compiler):
            continue
        warnings = [w for w in WARNINGS if w != "-std=c99"]
        run([compiler, dialect, *warnings, "-Wno-overlength-strings", "-fsyntax-only", f"{unit.base}.c"], folder)
    if have("g++"):
        (folder / "use.cpp").write_text(f'#include "{unit.base}.h"\n')
        run(["g++", "-fsyntax-only", "-Wall", "-Wextra", "use.cpp"], folder)


@pytest.mark.parametrize("copilot", [False, True], ids=["context", "copilot"])
@pytest.mark.parametrize("role", "extern trigger parameter observer stream struct field constant".split())
def test_every_name_compiles_in_every_role(role, copilot, taken, tmp_path):
    names = taken if role in ("struct", "constant") else {*taken, *OWN.split()}
    if role == "constant":
        names = {n for n in names if re.match(r"[A-Za-z]+_\w", n)}
    compiled = 0
    for k, group in enumerate(batches(names)):
        for part in [group[i : i + 250] for i in range(0, len(group), 250)]:
            unit = generate(specification(part, role), CodeOptions(copilot, observers=True)).code
            compile_all(tmp_path / f"{k}_{part[0]}", unit)
            compiled += len(part)
    print(f"{'copilot' if copilot else 'context':8} {role:10} {compiled} names")
    assert compiled > (200 if role == "constant" else 1000)


SPEC_NAMES = "int class string math INT linux _x __stdint errno signal m_state sc_x assert x_t time I E_H".split()


@pytest.mark.parametrize("copilot", [False, True], ids=["context", "copilot"])
@pytest.mark.parametrize("name", SPEC_NAMES)
def test_names_of_specs(name, copilot, tmp_path):
    unit = generate(specification(["x"], "extern", name), CodeOptions(copilot, observers=True)).code
    compile_all(tmp_path / "c", unit)
    assert f"{unit.base}.h" in unit.files and not {f"{header}.h" for header in HEADERS} & set(unit.files)
    assert validate(unit).is_proved


@pytest.mark.parametrize("copilot", [False, True], ids=["context", "copilot"])
def test_names_of_the_generated_code_are_proved_in_every_role(copilot):
    for name in "m_state m_inputs m_init m_step m_observers m_observed m_handlers uint8_t size_t".split():
        x = extern(name, Word8)
        spec = Spec("m")
        spec.trigger(f"t_{name}", x > 3, {name: x})
        spec.observer(name, stream(Word8, lambda c, x=x: [0] + +(c + x)))
        outcome = validate(unit_of(spec, copilot=copilot, observers=True))
        assert outcome.is_proved, (name, outcome.failures)


MEANT = "CHAR_BIT INT_MAX MB_LEN_MAX FLT_RADIX INFINITY NAN SIZE_MAX linux unix fmax isnan strlen class state inputs i"


@pytest.mark.parametrize("copilot", [False, True], ids=["context", "copilot"])
def test_renamed_streams_run_as_interpreted(copilot, tmp_path):
    spec = Spec("names")
    for name in MEANT.split():
        x = extern(name if not copilot or name != "state" else "state_of", Word8)
        spec.trigger(f"{name}_high" if copilot else name, x > 200, {name: x})
        spec.observer(name, x + 1)
    unit = unit_of(spec, copilot=copilot, observers=True)
    assert validate(unit).is_proved
    header = unit.files["names.h"]
    assert copilot or "the parameter `isnan` of isnan is called arg0 here" in header
    assert "the extern `CHAR_BIT` is called CHAR_BIT_sc here" in header and "CHAR_BIT_sc;" in header
    write(tmp_path / "c", unit)
    rows = random_rows(1, unit.specification, 200)
    for compiler in COMPILERS:
        compare(tmp_path / "c", build(tmp_path / "c", unit, compiler), unit, rows)


def test_two_names_that_become_one():
    spec = Spec("both")
    for name in ("while", "while_sc"):
        spec.trigger(name, extern("x", Word8) > 3)
    with pytest.raises(SpecError, match="would both be `while_sc`"):
        unit_of(spec)


def monitor(name, struct):
    point = extern("point", struct)
    spec = Spec(name)
    spec.trigger(f"far_{name}", point.x > 100, {"point": point})
    return unit_of(spec)


def test_monitors_that_share_a_struct_or_differ_in_a_capital(tmp_path):
    @struct
    class Point:
        x: Word8

    first = Point

    @struct
    class Point:
        x: Word16

    for name, shape in (("foo", first), ("Foo", first), ("wide", Point)):
        for file, text in monitor(name, shape).files.items():
            (tmp_path / ("capital_" + file if name == "Foo" else file)).write_text(text)
    main = "int main(void) { foo_state a; Foo_state b; (void)a; (void)b; }"
    (tmp_path / "both.c").write_text(f'#include "foo.h"\n#include "capital_Foo.h"\n{main}\n')
    run([COMPILERS[0], *WARNINGS, "-fsyntax-only", "both.c"], tmp_path)
    (tmp_path / "clash.c").write_text('#include "foo.h"\n#include "wide.h"\n')
    done = subprocess.run([COMPILERS[0], "-fsyntax-only", "clash.c"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode and "redefinition" in done.stderr


def test_names_of_state_do_not_change_with_lines(tmp_path):
    """The state of streams without a name is called after what they delay or who reads them."""
    text = "from streamcheck import *\n{}x = extern('x', Word8)\nspec = Spec('m')\n"
    text += "spec.trigger('t', stream(Word8, lambda s: [0] ++ (s ^ ([0] * 20 ++ x))) > 3)\n"
    files = []
    for blank in ("", "\n\n\n"):
        (tmp_path / "m.py").write_text(text.format(blank))
        from streamcheck.lang.flatten import flatten
        from streamcheck.lang.load import load

        files.append(generate(flatten(load(str(tmp_path / "m.py"))[0]), CodeOptions()).code.files)
    plain = [{n: re.sub(r"/\*.*?\*/", "", f, flags=re.S) for n, f in version.items()} for version in files]
    assert plain[0] == plain[1] and "t_state" in plain[0]["m.h"] and "x_before_at" in plain[0]["m.h"]
