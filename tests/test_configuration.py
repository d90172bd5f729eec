"""Values of options from the environment and `pyproject.toml`, and what shells complete."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

from streamcheck.cli import COMMANDS, cli
from streamcheck.cli.configuration import OPTIONS, SPECS, TARGETS
from streamcheck.cli.context import WRITES, key_of, variables
from streamcheck.run.registry import ENGINES

COMMAND = str(Path(sys.executable).parent / "streamcheck")
SPEC = """from streamcheck import *

x = extern("x", Word8)
n = stream(Word8, lambda n: [0] ++ mux(n < 9, n + 1, 0))
spec = Spec("counter")
spec.observer("n", n)
spec.prop("small", n < 10)
spec.prop("below_nine", n < 9)
"""
PROJECT = """[project]
name = "monitors"

[tool.streamcheck]
targets = ["specs/*.py"]
timeout = 30
engine = ["bmc", "k-induction"]
strict = true

[tool.streamcheck.show]
as = "system"

[tool.streamcheck.specs."specs/b*"]
bound = 3
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "specs" / "below").mkdir(parents=True)
    (tmp_path / "specs" / "a.py").write_text(SPEC)
    (tmp_path / "specs" / "b.py").write_text(SPEC)
    (tmp_path / "pyproject.toml").write_text(PROJECT)
    return tmp_path


PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("STREAMCHECK_")}


def run(folder, *words, **environment):
    return subprocess.run([COMMAND, *words], cwd=folder, capture_output=True, text=True, env=PLAIN | environment)


def shown(done):
    """The values of --show-config, and where they come from."""
    rows = [re.split(r"  +", line) for line in done.stdout.splitlines()]
    return {name: (value, source) for name, value, source in rows}


def options():
    """The options of all commands, each with the command's name."""
    context = click.Context(cli)
    for name in COMMANDS:
        for param in cli.get_command(context, name).params:
            if isinstance(param, click.Option) and param.name != "show_config":
                yield name, param


def test_the_configuration_knows_every_option_that_writes_nothing():
    names = {key_of(p) for _, p in options() if not any(word in (p.metavar or "") for word in WRITES)}
    assert names == OPTIONS
    writing = {key_of(p) for _, p in options()} - names
    assert {"html", "output", "log", "certificates", "trace", "witness", "proofs", "proof-checker", "o"} <= writing
    assert not {*COMMANDS, TARGETS, SPECS} & OPTIONS


def test_every_option_is_an_environment_variable():
    for command, param in options():
        own, common = variables(command, param)
        assert param.envvar == [own, common]
        assert own == f"STREAMCHECK_{command.upper()}_{common.removeprefix('STREAMCHECK_')}"


def test_the_command_line_comes_first_then_the_environment_then_the_file(folder):
    plain = shown(run(folder, "prove", "specs/a.py", "--show-config"))
    assert plain["--timeout"] == ("30.0", "pyproject.toml:6") and plain["--jobs"] == ("–", "default")
    assert plain["--engine"] == ("bmc k-induction", "pyproject.toml:7") and plain["--strict"][0] == "true"
    words = ["prove", "specs/a.py", "--show-config", "--timeout", "5"]
    given = {"STREAMCHECK_TIMEOUT": "7", "STREAMCHECK_ENGINE": "ic3 bmc", "STREAMCHECK_STRICT": "0"}
    both = shown(run(folder, *words, **given))
    assert both["--timeout"] == ("5.0", "command line")
    assert both["--engine"] == ("ic3 bmc", "STREAMCHECK_ENGINE") and both["--strict"] == ("false", "STREAMCHECK_STRICT")
    words += ["--set", "ic3.tighten=off", "--output", "junit", "r.xml"]
    more = shown(run(folder, *words))
    assert more["--set"][0] == "ic3.tighten=off" and more["--output"] == ("junit r.xml", "command line")
    own = shown(run(folder, *words[:3], STREAMCHECK_TIMEOUT="7", STREAMCHECK_PROVE_TIMEOUT="8"))
    assert own["--timeout"] == ("8.0", "STREAMCHECK_PROVE_TIMEOUT")


def test_the_file_is_found_above_and_commands_and_specs_have_tables(folder):
    below = folder / "specs" / "below"
    assert shown(run(below, "show", "../a.py", "--show-config"))["--as"][0] == "system"
    assert shown(run(below, "prove", "../b.py", "--show-config"))["--bound"][0] == "3"
    assert "system counter" in run(below, "show", "../a.py").stdout
    (below / "pyproject.toml").write_text("[project]\nname = 'another'\n")  # without a table of this program
    assert shown(run(below, "show", "../a.py", "--show-config"))["--as"][0] == "system"


def test_targets_are_proved_each_with_its_own_settings(folder):
    done = run(folder, "prove", "--json", "--no-cache")
    a, b = json.loads(done.stdout)
    assert [a["file"], b["file"]] == ["specs/a.py", "specs/b.py"] and done.returncode == 1
    assert {p["name"]: p["verdict"] for p in a["properties"]} == {"small": "proved", "below_nine": "falsified"}
    assert {p["name"]: p["verdict"] for p in b["properties"]} == {"small": "bounded", "below_nine": "bounded"}
    (folder / "pyproject.toml").write_text('[tool.streamcheck]\ntargets = ["nothing/*.py"]\n')
    lost = run(folder, "prove")
    assert lost.returncode == 2 and "pyproject.toml:2: targets: there is no such file" in lost.stderr


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("timout = 3", "'timout' is no setting. Did you mean: 'timeout'?"),
        ("timeout = true", "timeout: expected a number or a text"),
        ("strict = 'yes'", "strict: expected true or false"),
        ("engine = 'bmc'", "engine: expected a list of texts"),
        ("html = 'page.html'", "'html' is no setting"),
        ("proof-checker = 'rm'", "'proof-checker' is no setting"),
        ("prove = 5", "tool.streamcheck.prove: expected a table"),
        ("specs = ['a.py']", "tool.streamcheck.specs: expected a table"),
    ],
)
def test_a_wrong_setting_is_named_with_its_line(folder, line, message):
    (folder / "pyproject.toml").write_text(f"[project]\n\n[tool.streamcheck]\njobs = 1\n{line}\n")
    done = run(folder, "prove", "specs/a.py")
    assert done.returncode == 2 and f"pyproject.toml:5: {message}" in done.stderr and "Traceback" not in done.stderr


def test_a_setting_without_the_name_of_a_spec_is_named_with_its_line(folder):
    (folder / "pyproject.toml").write_text("[tool.streamcheck.specs]\ntimeout = 3\n")
    done = run(folder, "prove", "specs/a.py")
    assert done.returncode == 2 and "pyproject.toml:2: tool.streamcheck.specs.timeout: expected a table" in done.stderr


def test_a_wrong_value_is_named_with_its_origin(folder):
    wrong = run(folder, "prove", "specs/a.py", STREAMCHECK_TIMEOUT="2 minutes")
    assert wrong.returncode == 2 and "'2 minutes' is not a number of seconds" in wrong.stderr
    assert "  --timeout comes from STREAMCHECK_TIMEOUT\n" in wrong.stderr
    (folder / "pyproject.toml").write_text('[tool.streamcheck.prove]\nengine = ["bcm"]\nset = ["ic3.tigten=off"]\n')
    for words, line in ((["--engine", "bcm"], None), ([], 3)):
        done = run(folder, "prove", "specs/a.py", *words)
        assert done.returncode == 2 and f"--set comes from pyproject.toml:{line or 3}" in done.stderr
    (folder / "pyproject.toml").write_text('[tool.streamcheck.prove]\nengine = ["bcm"]\n')
    done = run(folder, "prove", "specs/a.py")
    assert "unknown engine 'bcm'. Did you mean: 'bmc'?\n  --engine comes from pyproject.toml:2\n" in done.stderr
    assert "comes from" not in run(folder, "prove", "specs/a.py", "--engine", "bcm").stderr


def test_a_variable_that_is_no_option_is_noted(folder):
    done = run(folder, "prove", "--show-config", STREAMCHECK_TIMOUT="3", STREAMCHECK_JOBS="1")
    assert "STREAMCHECK_TIMOUT is set, but no option has this name" in done.stderr and "JOBS" not in done.stderr


def test_a_variable_with_a_part_of_a_value_is_refused(folder):
    for text in ("junit", "junit a.xml sarif"):
        done = run(folder, "prove", "specs/a.py", STREAMCHECK_OUTPUT=text)
        assert done.returncode == 2 and "Invalid value for '--output': each takes 2 words" in done.stderr
        assert "--output comes from STREAMCHECK_OUTPUT" in done.stderr and not (folder / "a.xml").exists()


def test_the_file_that_the_page_shows_is_read(folder):
    (text,) = re.findall(r"^```toml\n(.*?)^```", Path("docs/configuration.md").read_text(), re.M | re.S)
    (folder / "pyproject.toml").write_text(text)
    (folder / "specs" / "slow.py").write_text(SPEC)
    assert shown(run(folder, "prove", "specs/slow.py", "--show-config"))["--timeout"] == ("300.0", "pyproject.toml:10")
    assert shown(run(folder, "compile", "specs/a.py", "--show-config"))["--handlers"][0] == "table"


def test_what_is_not_toml_is_refused(folder):
    (folder / "pyproject.toml").write_text("[tool.streamcheck]\ntimeout = = 3\n")
    done = run(folder, "prove", "specs/a.py")
    assert done.returncode == 2 and re.search(r"error: pyproject.toml: .*line 2", done.stderr)


def test_a_mistyped_command_or_a_file_alone_is_helped(folder):
    assert "no command 'prov'. Did you mean: 'prove'?" in run(folder, "prov", "x").stderr
    assert "Did you mean: 'prove specs/a.py'?" in run(folder, "specs/a.py").stderr
    assert "Did you mean" in run(folder, "prove", "specs/a.py", "--timout", "3").stderr


# Completion


def completed(folder, *words):
    """What bash would offer for the last of these words."""
    given = {"_STREAMCHECK_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["streamcheck", *words])}
    done = run(folder, **given, COMP_CWORD=str(len(words)))
    assert done.returncode == 0 and not done.stderr
    return done.stdout.splitlines()


def test_shells_complete_commands_options_choices_engines_and_files(folder):
    assert completed(folder, "pro") == ["plain,prove"]
    assert {"plain,--timeout", "plain,--trace"} <= set(completed(folder, "prove", "--t"))
    assert completed(folder, "compile", "--handlers", "ta") == ["plain,table"]
    assert completed(folder, "prove", "--engine", "k-") == ["plain,k-induction"]
    assert set(completed(folder, "engines", "p")) == {f"plain,{name}" for name in ENGINES if name.startswith("p")}
    assert completed(folder, "prove", "spe") == ["file,spe"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_scripts_of_completion_are_what_the_page_says(folder, shell):
    page = Path("docs/configuration.md").read_text()
    assert f"_STREAMCHECK_COMPLETE={shell}_source streamcheck" in page
    script = run(folder, _STREAMCHECK_COMPLETE=f"{shell}_source")
    assert script.returncode == 0 and f"_STREAMCHECK_COMPLETE={shell}_complete" in script.stdout
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script.stdout, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr
    if shell == "bash":
        ask = 'COMP_WORDS=(streamcheck rea); COMP_CWORD=1; _streamcheck_completion streamcheck; echo "${COMPREPLY[@]}"'
        words = ["bash", "--norc", "-c", f"{script.stdout}\n{ask}"]
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, "PATH": path})
        assert done.stdout.strip() == "realizable"
