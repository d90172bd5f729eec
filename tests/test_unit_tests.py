"""`--with test`: the unit test in C replays the samples, counterexamples and witnesses; it finds C that is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from c_harness import WARNINGS, have, run
from random_specs import random_equations

from streamcheck import *
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.deliver.replays import random_run, replay_data
from streamcheck.deliver.templates import wrap
from streamcheck.lang.flatten import flatten

COMMAND = str(Path(sys.executable).parent / "streamcheck")
pytestmark = pytest.mark.skipif(not have("gcc"), reason="no gcc here")
ENGINE = """\
from streamcheck import *
probe = extern("probe", Word8, samples=[240, 250, 255, 251, 90])
cooler = extern("cooler", Bool, samples=[False, True, False, True, False])
heat = extern("heat", Float, samples=[0.5, float("nan"), 0.7, float("inf"), 1e-40])
hot = probe > 250
since_hot = stream(Word8, lambda n: [0] ++ mux(hot, n + 1, 0))
spec = Spec("engine")
spec.trigger("shutoff", hot & ~cooler, {"probe": probe, "heat": heat * 3.0})
spec.observer("since_hot", since_hot)
spec.prop("never_long", since_hot < 3)
spec.exists("warm", since_hot > 1)
"""


def compiled(folder, *options):
    (folder / "engine.py").write_text(ENGINE)
    command = [COMMAND, "compile", "engine.py", "-o", "out", "--with", "test", "--unproven", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "compiled with no warnings" in done.stdout
    return folder / "out"


@pytest.mark.parametrize(
    "options", [(), ("--observers",), ("--handlers", "table"), ("--handlers", "context", "--prefix", "a_")], ids=str
)
def test_samples_counterexamples_and_witnesses_are_replayed(tmp_path, options):
    out = compiled(tmp_path, *options)
    name = "a_engine" if "--prefix" in options else "engine"
    text = (out / f"{name}_test.c").read_text()
    for about in ("samples", "counterexample to never_long", "witness of warm"):
        assert f'sc_replay("{about}"' in text
    line = re.search(r"Build and run: cc (.*) && ", text)[1]
    run(["gcc", *WARNINGS, *line.split()], out)
    steps = 5 + 4 + 3
    assert run(["./a.out"], out) == f"{name}: as interpreted (runs: 3, steps: {steps})\n"


def test_variables_of_the_file_have_one_run_for_each_start(tmp_path):
    out = compiled(tmp_path, "--abi", "copilot", "--observers")
    run(["gcc", *WARNINGS, "engine_test.c", "engine.c", "-o", "test", "-lm"], out)
    for number in ("0", "1", "2"):
        assert "as interpreted" in run(["./test", number], out)


@pytest.mark.parametrize(("old", "new"), [("> 250u", ">= 250u"), ("* 3.0f", "* 3.0000005f"), ("+ 1u", "+ 2u")])
def test_wrong_c_is_found(tmp_path, old, new):
    out = compiled(tmp_path, "--observers")
    text = (out / "engine.c").read_text()
    assert old in text
    (out / "engine.c").write_text(text.replace(old, new))
    run(["gcc", "-std=c99", "engine_test.c", "engine.c", "-o", "test", "-lm"], out)
    done = subprocess.run(["./test"], cwd=out, capture_output=True, text=True)
    assert done.returncode == 1 and "WRONG" in done.stdout and "the interpreter has" in done.stdout


@pytest.mark.parametrize("seed", range(10))
def test_random_specs(tmp_path, seed):
    equations = random_equations(seed)
    unit = generate(equations, CodeOptions(observers=True))
    names = [given["name"] for given in unit.interface["inputs"]]
    data = unit.interface | replay_data(unit.code, [random_run(equations)], names)
    files = {**unit.code.files, **wrap("test", data, {})}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    run(["gcc", *WARNINGS, f"{unit.code.base}_test.c", f"{unit.code.base}.c", "-o", "test", "-lm"], tmp_path)
    assert "as interpreted (runs: 1, steps: 20)" in run(["./test"], tmp_path)


def test_a_spec_without_samples_has_random_inputs(tmp_path):
    (tmp_path / "engine.py").write_text(re.sub(r", samples=\[.*\]", "", ENGINE))
    command = [COMMAND, "compile", "engine.py", "-o", "out", "--with", "test", "--unproven"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert 'sc_replay("random inputs"' in (tmp_path / "out" / "engine_test.c").read_text()


@pytest.mark.parametrize("word", "state inputs count about steps value digits table row main user sc_row".split())
def test_names_of_the_user_meet_none_of_the_test_or_the_example(tmp_path, word):
    for i, form in enumerate(({}, {"handlers": "table"}, {"copilot": True})):
        for role in ("extern", "trigger", "observer", "parameter"):
            x = extern(word if role == "extern" else "x", Word8)
            spec = Spec("mon")
            spec.trigger(word if role == "trigger" else "go", x > 3, {word if role == "parameter" else "arg": x})
            spec.observer(word if role == "observer" else "shown", x)
            unit = generate(flatten(spec), CodeOptions(observers=True, **form))
            names = [given["name"] for given in unit.interface["inputs"]]
            data = unit.interface | replay_data(unit.code, [random_run(unit.code.specification)], names)
            folder = tmp_path / f"{i}{role}"
            folder.mkdir()
            for name, text in {**unit.code.files, **wrap("test", data, {}), **wrap("example", data, {})}.items():
                (folder / name).write_text(text)
            run(["gcc", *WARNINGS, "-fsyntax-only", "main.c", "mon_test.c"], folder)
