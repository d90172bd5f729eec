"""Names and texts of a spec end no comment, string, symbol or element in what is written, and command no terminal."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from streamcheck.api.reports import proof_page
from streamcheck.api.stages import stage_text
from streamcheck.core.errors import SpecError
from streamcheck.core.printable import command_in, visible
from streamcheck.problem.specification_json import from_plain
from streamcheck.report.graph_svg import graph_svg
from streamcheck.report.outputs.github import github_text
from streamcheck.report.outputs.junit import junit_text
from streamcheck.report.outputs.proved_file import ProvedFile
from streamcheck.report.outputs.sarif import sarif_text
from streamcheck.report.timeline import run_timeline
from streamcheck.run.prove import Settings, prove

COMMAND = Path(sys.executable).parent / "streamcheck"
SPEC = """
from streamcheck import *
import enum
class E(enum.Enum):
    MEMBER = 0
    OTHER = 1
x = extern("x", Word8, samples=[1, 2, 3], doc="DOC", unit="UNIT")
e = extern("e", EnumOf(E), samples=[E.MEMBER] * 3)
n = stream(Word8, lambda n: [0] ++ mux(x > 3, n + 1, 0))
spec = Spec("s")
spec.assume("ASSUMED", x < 255)
spec.trigger("trig", n > 2, {"arg": x})
spec.prop("HOLDS", implies(e == E.MEMBER, n <= 255))
spec.prop("FAILS", n < 2)
"""
TEXTS = [
    "*/ evil(); /*", "// evil", "evil\\", "evil??/", "??/", "a|evil|b", '"; evil "', "'; evil '",
    '"><script>evil()</script>',
    "</td><script>evil()</script>", "&lt;evil", "$end $scope module evil $end", "%s%n evil", "}} evil {{", ") evil (",
    "$(evil)", "`evil`", "evil; drop", "--% evil", "\\N evil", "--> evil <!--", "]]> evil", "#{evil}", "{0} evil",
]  # fmt: skip
COMMANDS = ["\x1b]0;evil\x07", "\x9b31mevil", "evil\n#define x evil", "a\revil", "\u202eevil", "\u2028evil"]
COMMANDS += ["\x00evil", "\x7fevil"]
OF_RUNNERS = ["::stop-commands::evil", " ::error file=a::evil", "a ##[error]evil"]  # of GitHub's workflows
PLACES = ("DOC", "UNIT", "ASSUMED", "HOLDS", "FAILS")
PLAIN = "plain"


@pytest.fixture(scope="module")
def equations(tmp_path_factory):
    folder = tmp_path_factory.mktemp("injection")
    (folder / "s.py").write_text(SPEC)
    shown = subprocess.run(
        [COMMAND, "show", "s.py", "--as", "json"], capture_output=True, text=True, cwd=folder, check=True
    )
    return shown.stdout


def with_text(equations, text, places=PLACES):
    for place in places:
        equations = equations.replace(json.dumps(place), json.dumps(place.lower() + " " + text))
    return json.loads(equations)


def without_strings(text):
    return re.sub(r'"(?:\\.|[^"\\])*"', '""', text)


def test_commands_and_texts_are_told_apart():
    assert all(command_in(text) is None and visible(text) == text for text in TEXTS)
    assert all(command_in(text) and command_in(visible(text), "\n") is None for text in COMMANDS)
    assert visible("a\n\tb\x1b[2J") == "a\n\tb\\x1b[2J"


@pytest.mark.parametrize("text", OF_RUNNERS)
def test_a_name_commands_no_runner(equations, text):
    """The command's own lines began with such names (2026-11-20)."""
    for place in ("HOLDS", "x", "s"):
        with pytest.raises(SpecError, match=r"is a command, not text: (: :|# # \[)") as refusal:
            from_plain(json.loads(equations.replace(json.dumps(place), json.dumps(text))))
        assert command_in(str(refusal.value), "\n") is None


def test_a_name_is_no_template_and_no_link_in_sarif(equations):
    """Messages of SARIF can have placeholders and links (2026-11-20: a name could be one)."""
    problem = from_plain(with_text(equations, "{0} [here](https://evil.example) [1, 2]", ["FAILS"]))
    proved = [ProvedFile(prove(problem, Settings(timeout=10.0, jobs=1)), "s.py", {})]
    text = json.loads(sarif_text(proved))["runs"][0]["results"][0]["message"]["text"]
    assert text.startswith("fails {{0}} \\[here](https://evil.example) [1, 2] falsified")


@pytest.mark.parametrize("text", COMMANDS)
@pytest.mark.parametrize("place", [*PLACES, "x", "trig", "arg", "s", "MEMBER", "n"])
def test_a_name_that_is_a_command_is_refused(equations, place, text):
    damaged = json.loads(json.dumps(json.loads(equations)).replace(json.dumps(place), json.dumps(place + text)))
    if place == "DOC" and text.startswith("evil\n"):
        assert from_plain(damaged)  # a text may have lines
        return
    with pytest.raises(SpecError, match="is a command, not text: U\\+") as refusal:
        from_plain(damaged)
    assert command_in(str(refusal.value), "\n") is None


def test_a_spec_in_python_is_refused_with_its_line(tmp_path):
    (tmp_path / "s.py").write_text(SPEC.replace('"HOLDS"', '"\\x1b]0;evil\\x07"'))
    done = subprocess.run([COMMAND, "prove", "s.py"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 2 and "\x1b" not in done.stderr
    assert "s.py:13" in done.stderr and "U+001B" in done.stderr


@pytest.mark.parametrize("text", TEXTS)
def test_exports_say_the_same_with_any_name(equations, text):
    """Besides comments and quoted names, the text is that of a plain name."""
    problem, plain = (from_plain(with_text(equations, t, PLACES[2:])) for t in (text, PLAIN))
    for stage in ("vmt", "chc", "smt2", "lustre", "graph"):
        shapes = [shape_of(stage, stage_text(p, stage, blocks=True, steps=3)) for p in (problem, plain)]
        assert shapes[0] == shapes[1], stage


def shape_of(stage, text):
    """The tokens outside of comments, strings and quoted symbols; identifiers made of names as one."""
    if stage == "graph":
        return re.findall(r'"(?:\\.|[^"\\])*"|[^\s"]+', text).__len__(), without_strings(text)
    quoted = r'"[^"]*"|\|[^|\\]*\|' + ("|--[^\n]*" if stage == "lustre" else "|;[^\n]*")
    bare = re.sub(quoted, lambda found: "NAME" if found[0][0] in '"|' else "", text)
    return re.sub(r"(assumed|holds|fails)[^\s()|,;=]*", "NAME", bare)


@pytest.mark.parametrize("text", TEXTS)
def test_traces_say_the_same_with_any_name(equations, text, tmp_path):
    outcomes = []
    for t in (text, PLAIN):
        folder = tmp_path / str(len(outcomes))
        folder.mkdir()
        (folder / "s.json").write_text(json.dumps(with_text(equations, t)))
        traces = [word for shape in ("html", "vcd", "csv", "json") for word in ("--trace", shape, "t")]
        command = [COMMAND, "prove", "s.json", "--no-cache", "--quiet", *traces]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        assert done.returncode == 1, done.stderr
        (page,), (dump,), (rows,) = ((folder / "t").glob(f"*.{s}") for s in ("html", "vcd", "csv"))
        words = re.findall(r"\$\w+", dump.read_text())
        outcomes.append((tags(page.read_text()), words, len(rows.read_text().split("\n"))))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("text", [text for text in TEXTS if re.search("[<>&\"']", text)])
def test_notebooks_and_pages_show_the_same_with_any_name(equations, text):
    outcomes = []
    for t in (text, PLAIN):
        problem = from_plain(with_text(equations, t))
        verdicts = prove(problem, Settings(timeout=10.0, jobs=1))
        (failed,) = (r for r in verdicts.results if r.verdict == "falsified")
        proved = [ProvedFile(verdicts, f"{t}.py", {})]
        shown = [run_timeline(problem, failed.prop, failed.run), graph_svg(problem)]
        shown += [proof_page(proved).text(), junit_text(proved)]
        commands = [line.partition(" ")[0] for line in github_text(proved).splitlines()]
        outcomes.append([*(tags(page) for page in shown), commands])
    assert outcomes[0] == outcomes[1] and all(outcomes[0])


def test_files_that_are_named_by_a_spec_stay_in_their_folder(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    names = {
        'Spec("s")': 'Spec("""../up\\"\\"\\"; evil(); \\"\\"\\"x""")',
        '"HOLDS"': '"../../holds"',
        '"FAILS"': '"/../fails\'\\"\\"\\" evil"',
    }
    text = SPEC
    for name, other in names.items():
        text = text.replace(name, other)
    (tmp_path / "a" / "b" / "s.py").write_text(text)
    before = {p for p in tmp_path.rglob("*") if "out" not in p.parts}
    traces = [word for shape in ("html", "vcd", "csv", "json") for word in ("--trace", shape, "out")]
    command = [COMMAND, "prove", "s.py", "--no-cache", "--certificates", "out", *traces]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path / "a" / "b", check=False)
    assert done.returncode == 1, done.stderr
    suite = [COMMAND, "tests", "s.py", "-o", "out"]
    assert subprocess.run(suite, capture_output=True, cwd=tmp_path / "a" / "b", check=False).returncode in (0, 3)
    written = {p for p in tmp_path.rglob("*") if "__pycache__" not in p.parts} - before
    assert len(written) > 5 and all(tmp_path / "a" / "b" / "out" in (p, *p.parents) for p in written)
    (tests,) = (tmp_path / "a" / "b" / "out").glob("*.py")
    nodes = list(ast.walk(ast.parse(tests.read_text())))
    assert len(nodes) > 30 and not any(isinstance(node, ast.Name) and node.id == "evil" for node in nodes)


def tags(page):
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.append((tag, [name for name, _ in attributes]))
    parser.feed(page)
    return found


@pytest.mark.parametrize("text", TEXTS)
def test_the_c_is_the_same_with_any_text(equations, text, tmp_path):
    outcomes = []
    for t in (text, PLAIN):
        folder = tmp_path / str(len(outcomes))
        folder.mkdir()
        (folder / "s.json").write_text(json.dumps(with_text(equations, t)))
        command = [COMMAND, "compile", "s.json", "-o", "c", "--unproven", "--assumptions", "--no-cache"]
        done = subprocess.run([*command, "--with", "rust"], capture_output=True, text=True, cwd=folder, check=False)
        assert done.returncode == 0, done.stderr
        for file in ("s.c", "s.h"):
            gcc = ["gcc", "-std=c99", "-trigraphs", "-Wall", "-Wcomment", "-Wtrigraphs", "-E", "-P", f"c/{file}"]
            read = subprocess.run(gcc, capture_output=True, text=True, cwd=folder, check=False)
            assert read.returncode == 0 and not read.stderr, read.stderr
            outcomes.append(without_strings(read.stdout))
        outcomes.append("".join(rust_without_comments(path) for path in sorted((folder / "c" / "rust").rglob("*.rs"))))
    assert outcomes[:3] == outcomes[3:]


def rust_without_comments(path):
    return re.sub(r"//[^\n]*", "", without_strings(path.read_text()))


def test_values_of_a_log_command_no_terminal(tmp_path):
    """A column of the data that is shown as it is; a pipe gets it unchanged."""
    (tmp_path / "s.py").write_text(SPEC)
    (tmp_path / "log.csv").write_text("x,e,note\n1,MEMBER,\x1b]0;evil\x07\n")
    command = [COMMAND, "run", "s.py", "--input", "log.csv", "--keep", "note"]
    main, other = pty.openpty()
    done = subprocess.Popen(command, stdout=other, cwd=tmp_path)
    os.close(other)
    shown = b""
    while True:
        try:
            shown += os.read(main, 65536)
        except OSError:
            break
    os.close(main)
    assert done.wait() == 0 and b"\x07" not in shown and b"\\x1b]0;evil" in shown
    assert "\x07" in subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True).stdout


HOSTILE_MODULES = ("z3", "cvc5", "bitwuzla", "click", "json", "sitecustomize", "usercustomize", "streamcheck", "typing")


def test_files_of_the_working_folder_are_not_imported(tmp_path):
    """By the command; and by `python -P -m streamcheck`, as far as Python allows."""
    for name in HOSTILE_MODULES:
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'evil')!r}, 'w').write({name!r})\n")
    (tmp_path / "streamcheck").mkdir()
    (tmp_path / "streamcheck" / "__init__.py").write_text(f"open({str(tmp_path / 'evil')!r}, 'w')\n")
    for library in ("libz3.so", "libcvc5.so.1", "libbitwuzla.so"):
        (tmp_path / library).write_bytes(b"no library")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "s.py").write_text(SPEC)
    safe = [sys.executable, "-P", "-m", "streamcheck"] if sys.version_info >= (3, 11) else [COMMAND]
    for command in ([COMMAND], safe):
        done = subprocess.run(
            [*command, "prove", "specs/s.py", "--no-cache"], capture_output=True, text=True, cwd=tmp_path, check=False
        )
        assert done.returncode == 1 and "HOLDS" in done.stdout, done.stderr
        assert not (tmp_path / "evil").exists(), (tmp_path / "evil").read_text()
