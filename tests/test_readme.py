"""What the README and the pages of docs/ show is what happens: every code block of theirs is run or compared."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from planted_faults import faults

ROOT = Path.cwd()
PAGES = {path.name: path.read_text() for path in (Path("README.md"), *sorted(Path("docs").glob("*.md")))}
PAGES["CONTRIBUTING.md"] = Path("CONTRIBUTING.md").read_text()
SCRIPTS = Path(sys.executable).parent
COMMAND = str(SCRIPTS / "streamcheck")
# The kinds of code blocks. Blocks without a kind are drawings, the command's options, an example of its output, and the
# development tools in CONTRIBUTING.md. Those of architecture.md are followed by test_recipes.py,
# those in Lustre by test_lustre_meaning.py.
KINDS = {"py", "", "sh", "shell", "console", "python", "json", "c", "aut", "lustre", "toml"}
FOLLOWED = {"architecture.md", "first.md", "coming.md", "cookbook.md"}  # by test_recipes.py and test_pages.py
FLIGHT = "probe,cooler\n251,true\n252,false\n9,true\n"


def blocks(language, page="README.md"):
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGES[page], re.S | re.M)


@pytest.fixture
def folder(tmp_path):
    """A folder with the README's spec, data for it, and the project's specs."""
    (tmp_path / "engine.py").write_text(blocks("python")[0])
    (tmp_path / "flight.csv").write_text(FLIGHT)
    shutil.copytree("specs", tmp_path / "specs")
    return tmp_path


@pytest.mark.parametrize("page", sorted(set(PAGES) - {"architecture.md"}))
def test_every_block_is_of_a_kind_that_is_tested(page):
    fences = re.findall(r"^```(\S*)$", PAGES[page], re.M)
    assert not set(fences[::2]) - KINDS and not any(fences[1::2])


def test_the_readme_is_short():
    assert PAGES["README.md"].count("\n") <= 200


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    base = Path("docs") if (Path("docs") / page).exists() else Path()
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", PAGES[page]):
        assert target.startswith("https://") or (base / target).exists(), target
    for path in re.findall(r"(?<!New file )`((?:streamcheck|tests|specs|docs)/[\w/]+(?:\.\w+)?/?)`", PAGES[page]):
        assert Path(path).exists(), path


@pytest.mark.parametrize("page", sorted(set(PAGES) - {"architecture.md"}))
def test_the_commands_shown_work(page, folder):
    """Whatever a block of commands prints, no command is wrong."""
    environment = {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    for line in "".join(blocks("shell", page)).splitlines():
        if shutil.which(line.split()[0]) is None and not line.startswith("streamcheck"):
            continue
        where = ROOT if line.startswith("python tests/") else folder
        done = subprocess.run(line, shell=True, cwd=where, env=environment, capture_output=True, text=True)
        assert done.returncode in (0, 1), f"{line}\n{done.stderr}"


@pytest.mark.parametrize("page", sorted(set(PAGES) - FOLLOWED))
def test_the_python_shown_runs(page, tmp_path):
    for number, text in enumerate(blocks("python", page)):
        (tmp_path / f"shown{number}.py").write_text(text)
        for subcommand in ("show", "run"):
            if subcommand == "run" and "samples" not in text:
                continue
            arguments = [COMMAND, subcommand, f"shown{number}.py"]
            done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr


def test_the_first_spec_prints_what_is_shown(folder):
    sessions = re.findall(r"^\$ streamcheck (.*)\n((?:(?!\$ ).*\n)*)", blocks("console")[0], re.M)
    assert [command for command, _ in sessions] == ["prove engine.py", "run engine.py"]
    for command, shown in sessions:
        done = subprocess.run([COMMAND, *command.split()], cwd=folder, capture_output=True, text=True)
        printed = done.stdout + done.stderr
        assert list(map(certain, printed.splitlines())) == list(map(certain, shown.splitlines()))


def certain(line):
    """What does not depend on the machine or the solver's choice: no seconds, no inputs it chose freely."""
    line = re.sub(r"\d+\.\d\d s", "… s", line)
    name = line.split()[:1]
    return name if name in (["probe"], ["cooler"]) and "(" in line else line.split()


def test_the_error_shown_is_the_error_given(tmp_path):
    (tmp_path / "engine.py").write_text("""\
from streamcheck import *

n = extern("n", Int)
spec = Spec("s")
spec.observer("n", n)

k = [0] ++ n + 1
""")
    done = subprocess.run([COMMAND, "show", "engine.py"], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == blocks("console", "language.md")[0]


def test_the_lustre_session_prints_what_is_shown(tmp_path):
    (session,) = blocks("console", "lustre.md")
    program, shown = session.removeprefix("$ cat counter.lus\n").split("$ streamcheck prove counter.lus\n")
    (tmp_path / "counter.lus").write_text(program)
    done = subprocess.run([COMMAND, "prove", "counter.lus"], cwd=tmp_path, capture_output=True, text=True)
    assert list(map(certain, done.stdout.splitlines())) == list(map(certain, shown.splitlines()))


def test_the_programs_session_prints_what_is_shown():
    (session,) = blocks("console", "programs.md")
    sessions = re.findall(r"^\$ streamcheck (.*)\n((?:(?!\$ ).*\n)*)", session, re.M)
    assert len(sessions) == 2
    chosen_freely = re.compile(r"[ab] = -?\d+|, path compression")
    for command, shown in sessions:
        done = subprocess.run([COMMAND, *command.split()], capture_output=True, text=True)
        printed, expected = (
            [chosen_freely.sub("", " ".join(certain(row))) for row in text.splitlines()]
            for text in (done.stdout, shown)
        )
        assert printed == expected


def test_the_automaton_shown_is_read(tmp_path):
    (text,) = blocks("aut", "programs.md")
    (tmp_path / "lock.aut").write_text(text)
    done = subprocess.run([COMMAND, "prove", "lock.aut"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "mathematical integers" in done.stdout and "falsified  bad" in done.stdout


def test_the_c_shown_is_the_c_generated(folder):
    options = ["--observers", "--unproven", "--no-validate", "-o", "out"]
    subprocess.run([COMMAND, "compile", "engine.py", *options], cwd=folder, capture_output=True, check=True)
    written = [line.removeprefix("    ") for line in (folder / "out" / "engine.c").read_text().splitlines()]
    assert "\n".join(written).count(blocks("c", "c.md")[0]) == 1


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_user_of_a_table_compiles(folder):
    command = [COMMAND, "compile", "engine.py", "--unproven", "--handlers", "table", "-o", "out"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    declared = '#include "engine.h"\nstruct pump;\nvoid stop_pump(int number, uint8_t probe);\n'
    declared += "void begin(engine_state *state, struct pump *pump);\n"
    (folder / "out" / "user.c").write_text(declared + blocks("c", "integration.md")[0])
    flags = "-std=c99 -pedantic -Wall -Wextra -Werror -c user.c -o user.o".split()
    subprocess.run(["cc", *flags], cwd=folder / "out", check=True)


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
def test_the_user_of_assumptions_compiles(folder):
    _, spec = blocks("python", "integration.md")
    (folder / "tank.py").write_text(spec)
    options = ["--assumptions", "--unproven", "-o", "out"]
    subprocess.run([COMMAND, "compile", "tank.py", *options], cwd=folder, capture_output=True, check=True)
    (shown,) = (text for text in blocks("c", "integration.md") if text.startswith("if"))
    user = f'#include "tank.h"\nint main(void) {{ static tank_state state; tank_init(&state);\n{shown} return 0; }}\n'
    (folder / "out" / "user.c").write_text(user)
    flags = "-std=c99 -pedantic -Wall -Wextra -Werror -c user.c -o user.o".split()
    subprocess.run(["cc", *flags], cwd=folder / "out", check=True)


def test_the_loop_shown_is_the_loop_generated(folder):
    (folder / "watchdogs.py").write_text(blocks("python", "c.md")[0])
    command = [COMMAND, "compile", "watchdogs.py", "--no-validate", "-o", "out"]
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    written = [line.removeprefix("    ") for line in (folder / "out" / "watchdogs.c").read_text().splitlines()]
    assert "\n".join(written).count(blocks("c", "c.md")[1]) == 1


def test_the_components_shown_are_those_generated():
    from streamcheck import load
    from streamcheck.codegen.unit import CodeOptions, generate

    code = generate(load("specs/components/redundant_sensors.py").problem, CodeOptions()).code
    whole = (re.sub(r"/\*.*?\*/", "", text, flags=re.S) for text in code.files.values())
    written = {line.strip() for text in whole for line in text.splitlines()}
    for block in blocks("c", "c.md")[2:4]:
        missing = [line for line in block.splitlines() if line.strip() and line.strip() not in written]
        assert missing == [] and len(block.splitlines()) >= 3


def test_the_loop_of_a_program_is_decided(tmp_path):
    *_, shown = blocks("c", "programs.md")
    (tmp_path / "half.c").write_text(f"void assert(int);\nint main(void)\n{{\n{shown}}}\n")
    done = subprocess.run([COMMAND, "prove", "half.c"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1 and "falsified" in done.stdout and "acceleration" in done.stdout, done.stdout


def test_the_sort_of_a_program_is_proved(tmp_path):
    _, shown, _ = blocks("c", "programs.md")
    (tmp_path / "sort.c").write_text(f"void assert(int);\n{shown}")
    command = [COMMAND, "prove", "sort.c", "--engine", "unwinding", "--prop", "assert*", "--timeout", "100"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and "loops unwound" in done.stdout, done.stdout


def test_a_far_violation_is_shown_as_the_page_has_it():
    (shown,) = (text for text in blocks("", "command.md") if "the deadline is ahead" in text)
    done = subprocess.run([COMMAND, "prove", "specs/uptime.py"], capture_output=True, text=True)
    printed, expected = ([certain(row) for row in text.splitlines()] for text in (done.stdout, shown))
    start = printed.index(expected[0])
    assert printed[start : start + len(expected)] == expected


def test_the_tiny_checker_prints_what_is_shown(folder):
    """The solver's name is that of a program; here it is the package's own, as a program."""
    (text,) = (text for text in blocks("", "trust.md") if "tiny_checker" in text)
    solver = f"'{sys.executable} {ROOT / 'tests' / 'solver_process.py'} cvc5'"
    environment = {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    sessions = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M)
    shutil.copytree(ROOT / "tools", folder / "tools")
    spec = (folder / "engine.py").read_text().replace("since_hot < 3", "since_hot <= 255")
    (folder / "engine.py").write_text(spec)
    for command, shown in sessions:
        line = command.replace("python ", f"{sys.executable} ").replace("--solver cvc5", f"--solver {solver}")
        done = subprocess.run(line, shell=True, cwd=folder, env=environment, capture_output=True, text=True)
        assert "prove " in command or done.stdout == shown, done.stdout + done.stderr
    assert len(sessions) == 3


def test_the_json_shown_is_the_json_printed(folder):
    (shown,) = map(json.loads, blocks("json", "command.md"))
    done = subprocess.run([COMMAND, "prove", "engine.py", "--json"], cwd=folder, capture_output=True, text=True)
    assert shape(json.loads(done.stdout)) == shape(shown)


def shape(value):
    """The keys, and the words that do not depend on the machine. Of the steps of a run, the first."""
    match value:
        case dict():
            return {key: shape(v) for key, v in value.items()}
        case list():
            return [shape(v) for v in (value[:1] if value and "inputs" in value[0] else value)]
        case str():
            return value
    return value is None


def test_the_options_shown_are_those_there_are():
    usage = blocks("", "command.md")[0]
    parts = re.split(r"^streamcheck (\w+)", usage, flags=re.M)[1:]
    shown = dict(zip(parts[::2], parts[1::2], strict=True))
    listed = set(re.findall(r"^  (\w+) ", help_of().partition("Commands:")[2], re.M))
    assert set(shown) == listed
    for subcommand, text in shown.items():
        there = set(re.findall(r"^  (?:-\w, )?(-[-\w]+)(?: / (--[-\w]+))?", help_of(subcommand), re.M))
        names = {name for pair in there for name in pair if name} - {"--help", "--show-config", "--blocks"}
        spelled = {name.replace("-vv", "--verbose") for name in re.findall(r"(?<=[\[ ])--?[a-z][-\w]*", text)} - {"-v"}
        assert spelled == names, subcommand


def help_of(*subcommand):
    return subprocess.run([COMMAND, *subcommand, "--help"], capture_output=True, text=True, check=True).stdout


def test_two_setup_blocks_of_one_line_each():
    setups = blocks("sh")
    assert len(setups) == 2 and all(block.count("\n") == 1 for block in setups)
    assert "specs/engine_monitor.py" in setups[0] and "pytest" in setups[1]


def test_every_public_name_is_documented():
    import streamcheck

    text = PAGES["README.md"] + PAGES["language.md"] + PAGES["command.md"]
    missing = [name for name in streamcheck.__all__ if not re.search(rf"\b{name}\b", text)]
    implied = {"Stream", "Int16", "Int32", "Word16", "Word32", "sin", "cos", "tan", "asin", "acos", "atan"}
    implied |= {"sinh", "cosh", "tanh", "exp"}  # between `sqrt` and `log`
    assert set(missing) <= implied


def test_the_table_of_planted_faults_is_complete():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", PAGES["trust.md"].partition("## Planted")[2], re.M)
    shown = [f"{part}: {what}" for part, what, _ in rows[1:]]
    assert shown == [fault.title for fault in faults()]
