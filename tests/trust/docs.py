"""What README, docs and docstrings show as commands and code: counted, and each run by the test that owns it.

A block of code belongs to the first row of `OWNERS` that fits its page, its kind, and the words that it begins with.
The tests are run; what nothing runs is counted with its reason.
"""

import ast
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from fnmatch import fnmatch
from pathlib import Path
from random import Random
from typing import NamedTuple
from xml.etree import ElementTree

from library_examples import diagram_of
from trust.figure import Figure

ROOT = Path(__file__).parents[2]
README, RECIPES, LIBRARY = "test_readme.py", "test_recipes.py", "test_monitor_library.py"


class Owner(NamedTuple):
    page: str  # a pattern
    kind: str
    begins: str  # of the block
    tests: str = ""  # separated by spaces, as pytest names them; `{page}` is the page's name
    why_not: str = ""  # if no test runs it


class Item(NamedTuple):
    page: str
    kind: str
    text: str

    @property
    def number(self):
        """Of the commands in it; 1 if it is code."""
        commands = self.text.splitlines() if self.kind in ("shell", "sh") else re.findall(r"^\$ ", self.text, re.M)
        return max(1, len(commands))

    @property
    def title(self):
        return f"{self.page}: {self.text.splitlines()[0].strip()}"


SHOWN = f"{README}::test_the_commands_shown_work[{{page}}]"
PYTHON = f"{README}::test_the_python_shown_runs[{{page}}]"
FOLLOWED = " ".join(
    f"{RECIPES}::test_{name}"
    for name in ("an_operator", "an_engine", "a_library_stream", "an_output_format", "an_input_format")
)
NEEDS = "test_needs.py::test_the_page_shows_what_is_printed"
SESSIONS, EQUAL = "test_shown_sessions.py", "test_the_step_function_shown_equals_the_spec"
NOT_COMPARED = "no test compares it"
OWNERS = (
    Owner("README.md", "sh", "", why_not="they make an environment; `.ci/run` does, and runs the second"),
    Owner("README.md", "console", "$", f"{README}::test_the_first_spec_prints_what_is_shown"),
    Owner("language.md", "console", "error", f"{README}::test_the_error_shown_is_the_error_given"),
    Owner("first.md", "*", "", "test_pages.py::test_a_page_can_be_followed[first.md]"),
    Owner("coming.md", "*", "", "test_pages.py::test_a_page_can_be_followed[coming.md]"),
    Owner("cookbook.md", "python", "", "test_pages.py::test_the_answers_of_the_cookbook_are_right"),
    Owner("reference.md", "", "", "test_docs.py::test_the_generated_pages_are_up_to_date"),
    Owner("install.md", "", "", why_not="they need a network, or another program"),
    Owner("editors.md", "", "", why_not="they need a network, or another program"),
    Owner("CONTRIBUTING.md", "", "", why_not="the tests and the linters themselves: `.ci/run`"),
    Owner("architecture.md", "", " .py", why_not="a drawing"),
    Owner("architecture.md", "*", "", FOLLOWED),
    Owner("*", "shell", "", SHOWN),
    Owner("*", "python", "", PYTHON),
    Owner("command.md", "py", "", "test_results.py::test_the_example_of_the_documentation_runs"),
    Owner("command.md", "json", "", f"{README}::test_the_json_shown_is_the_json_printed"),
    Owner("command.md", "", "streamcheck prove FILE", f"{README}::test_the_options_shown_are_those_there_are"),
    Owner("command.md", "", "  falsified  the deadline", f"{README}::test_a_far_violation_is_shown_as_the_page_has_it"),
    Owner("command.md", "", "$ streamcheck watch", "test_watch.py::test_the_session_of_the_documentation"),
    Owner("command.md", "", "$ streamcheck equal specs/refactored.py::before watch.c", f"{SESSIONS}::{EQUAL}"),
    Owner("command.md", "", "", why_not="parts of reports, whose specs are not shown"),
    Owner("c.md", "c", "/*", f"{README}::test_the_c_shown_is_the_c_generated"),
    Owner("c.md", "c", "for", f"{README}::test_the_loop_shown_is_the_loop_generated"),
    Owner("c.md", "c", "struct", f"{README}::test_the_components_shown_are_those_generated"),
    Owner("c.md", "c", "const uint8_t first", f"{README}::test_the_components_shown_are_those_generated"),
    Owner("integration.md", "c", "struct", f"{README}::test_the_user_of_a_table_compiles"),
    Owner("integration.md", "c", "if", f"{README}::test_the_user_of_assumptions_compiles"),
    Owner("programs.md", "c", "", f"{README}::test_the_loop_of_a_program_is_decided"),
    Owner("programs.md", "console", "", f"{README}::test_the_programs_session_prints_what_is_shown"),
    Owner("programs.md", "aut", "", f"{README}::test_the_automaton_shown_is_read"),
    Owner("gallery.md", "", "step", "test_gallery.py::test_the_pictures_are_what_a_run_prints"),
    Owner("lustre.md", "console", "", f"{README}::test_the_lustre_session_prints_what_is_shown"),
    Owner("lustre.md", "lustre", "", "test_lustre_meaning.py"),
    Owner("terminal.md", "*", "", "test_live.py::test_a_recorded_terminal_keeps_verdicts_and_one_region"),
    Owner("trust.md", "", "$ streamcheck show", f"{README}::test_the_tiny_checker_prints_what_is_shown"),
    Owner("trust.md", "", "$ streamcheck check", "test_proofs.py::test_ethos_finds_the_proofs_correct"),
    Owner("questions.md", "console", "$ streamcheck why sensors.py --all", NEEDS),
    Owner("questions.md", "console", "$ streamcheck cuts", NEEDS),
    Owner("questions.md", "console", "$ streamcheck why sensors.py\n", f"{SESSIONS}::test_a_core_has_the_form_shown"),
    Owner("questions.md", "", "engine: ", f"{SESSIONS}::test_the_lines_shown_are_printed"),
    Owner("questions.md", "*", "", why_not=NOT_COMPARED),
    Owner("growth.md", "*", "", why_not="it measures for many minutes, beside another program"),
    Owner("scale.md", "py", "", "test_units.py::test_the_executor_of_the_page"),
    Owner("scale.md", "", "streamcheck prove specs/", why_not="they take hours; `tests/test_suite.py` has small ones"),
    Owner("scale.md", "", "pip", why_not="they need other machines; `tests/test_dask.py` has processes instead"),
    Owner("components.md", "sh", "", why_not="it measures for many minutes, beside another program"),
    Owner("components.md", "", "", why_not=NOT_COMPARED),
    Owner("configuration.md", "toml", "", "test_configuration.py::test_the_file_that_the_page_shows_is_read"),
    Owner("configuration.md", "", "$", f"{SESSIONS}::test_values_have_the_origins_shown"),
    Owner("configuration.md", "", "error", f"{SESSIONS}::test_an_error_names_the_origin_shown"),
    Owner("liveness.md", "", "", f"{SESSIONS}::test_the_claims_about_infinite_runs_have_the_verdicts_shown"),
    Owner("requirements.md", "", "", why_not=NOT_COMPARED),
    Owner("reports.md", "py", "", "test_testing.py::test_a_property_may_be_expected_to_fail"),
    Owner("reports.md", "sh", "", "test_testing.py::test_names_choose"),
    Owner("tutorial.md", "console", "", "test_tutorial.py::test_a_command_prints_what_is_shown"),
    Owner("requirements.md", "sh", "", why_not="its file is another tool's"),
    Owner("command.md", "c", "", f"{SESSIONS}::{EQUAL}"),
    Owner("streamcheck/*", "example", "", f"{LIBRARY}::test_the_example_at_the_head_of_each_module_runs"),
    Owner("streamcheck/*", "diagram", "", f"{LIBRARY}::test_the_diagram_in_each_docstring_is_what_a_run_shows"),
)


def docs(count, seed):
    """So many tests, or all, and what they run."""
    figure = Figure("commands and code in README, docs and docstrings")
    by_tests = defaultdict(list)
    items = [*blocks(), *docstrings()]
    for item in items:
        owner = next((o for o in OWNERS if fits(o, item)), None)
        if owner is None:
            figure.wrong.append(f"nothing runs {item.title}")
        elif owner.why_not:
            figure.tried[f"not run, since {owner.why_not}"] += item.number
        else:
            by_tests[owner.tests.replace("{page}", item.page)].append(item)
    figure.wrong += [f"nothing is like {o}" for o in OWNERS if not any(fits(o, item) for item in items)]
    chosen = Random(seed).sample(sorted(by_tests), min(count, len(by_tests)))
    outcomes = outcomes_of({test for tests in chosen for test in tests.split()})
    for tests in chosen:
        found = {outcomes.get(test, "not found") for test in tests.split()}
        for item in by_tests[tests]:
            if found == {"passed"}:
                what = "commands" if item.kind in ("shell", "console", "") else "pieces of code"
                figure.tried[f"{what} run"] += item.number
            elif found <= {"passed", "skipped"}:
                figure.tried[f"not run, since its test is skipped here ({item.title})"] += item.number
            else:
                figure.wrong.append(f"{item.title}: {tests}: {', '.join(found)}")
    return figure


def fits(owner, item):
    return fnmatch(item.page, owner.page) and fnmatch(item.kind, owner.kind) and item.text.startswith(owner.begins)


def blocks():
    """The code blocks of the pages."""
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        for kind, text in re.findall(r"^```(\S*)\n(.*?)^```$", path.read_text(), re.M | re.S):
            yield Item(path.name, kind, text)


def docstrings():
    """The examples in docstrings of the package, and the diagrams in those of the library."""
    for path in sorted((ROOT / "streamcheck").rglob("*.py")):
        page = str(path.relative_to(ROOT))
        for node in ast.walk(ast.parse(path.read_text())):
            text = ast.get_docstring(node) if isinstance(node, DOCUMENTED) else None
            if text and ">>> " in text:
                yield Item(page, "example", text)
            elif text and isinstance(node, ast.FunctionDef) and "lang/lib/" in page and diagram_of(text):
                yield Item(page, "diagram", text)


def outcomes_of(tests):
    """`passed`, `failure`, `error` or `skipped` by test. The worst one, if a test has several cases."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider"]
    with tempfile.NamedTemporaryFile(suffix=".xml") as file:
        given = [*command, f"--junit-xml={file.name}", *(f"tests/{test}" for test in sorted(tests))]
        subprocess.run(given, cwd=ROOT, capture_output=True)
        cases = ElementTree.parse(file.name).getroot().iter("testcase")
    outcomes = {}
    for case in cases:
        name = f"{case.get('classname').removeprefix('tests.')}.py::{case.get('name')}"
        words = [child.tag for child in case if child.tag in ORDER] or ["passed"]
        for test in tests:
            if name == test or name.startswith((f"{test}[", f"{test}::")):
                outcomes[test] = max(outcomes.get(test, ""), *words, key=ORDER.index)
    return outcomes


ORDER = ("", "passed", "skipped", "failure", "error")
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef
