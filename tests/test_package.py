"""The package: a wheel that works where it is installed, its metadata, and what else other tools start."""

from __future__ import annotations

import email
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

import streamcheck

PROJECT = tomllib.loads(Path("pyproject.toml").read_text())["project"]
PARTS = ("pyproject.toml", "README.md", "LICENSE", "bin", "streamcheck")
NOT_UNIX = """\
import os, sys, _signal
{missing}
{then}
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel, built in a copy without network: by the setuptools that is here."""
    if int(version("setuptools").partition(".")[0]) < 77:
        pytest.skip("building a wheel without network needs setuptools 77 here: pip install '.[test]'")
    folder = tmp_path_factory.mktemp("wheel")
    for name in PARTS:
        copy = shutil.copytree if Path(name).is_dir() else shutil.copy
        copy(name, folder / name)
    options = ["--no-deps", "--no-build-isolation", "--quiet", "-w", folder]
    subprocess.run([sys.executable, "-m", "pip", "wheel", *options, folder], check=True, timeout=600)
    (found,) = folder.glob("*.whl")
    return found


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (email.message_from_bytes(archive.read(n)) for n in names if n.endswith("METADATA"))
    tracked = {str(p) for p in Path("streamcheck").rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    packed = {name for name in names if ".dist-info/" not in name and ".data/" not in name}
    assert packed == tracked
    assert [n for n in names if ".data/" in n] == [f"streamcheck-{streamcheck.__version__}.data/scripts/streamcheck"]
    assert metadata["License-Expression"] == "MIT" and metadata["Author"] == "streamcheck developers"
    assert metadata["Requires-Python"] == ">=3.11"
    assert {name.lower() for name in metadata.get_all("Provides-Extra")} == set(PROJECT["optional-dependencies"])


def test_the_installed_wheel_proves(wheel, tmp_path):
    """In an environment of its own, which has the dependencies of this one, away from the source."""
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    (library,) = (place / "lib").glob("python*/site-packages")
    outer = Path(pytest.__file__).parent.parent
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(pip, check=True, timeout=600)
    (library / "dependencies.pth").write_text(f"{outer}\n")
    shutil.copy("specs/engine_monitor.py", tmp_path)
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [place / "bin" / "streamcheck", "prove", "engine_monitor.py", "--html", "page.html"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and "proved     majority_is_right" in done.stdout, done.stderr
    assert "<script" in (tmp_path / "page.html").read_text()
    code = "import streamcheck, streamcheck.cli; print(streamcheck.__file__)"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.startswith(str(library)), done.stderr


def test_the_metadata_is_complete():
    assert PROJECT["license"] == "MIT" and PROJECT["authors"] == [{"name": "streamcheck developers"}]
    assert "MIT License" in Path("LICENSE").read_text()
    newest = re.search(r"^## (\S+?),? ", Path("CHANGELOG.md").read_text(), re.M)[1]
    assert newest == streamcheck.__version__
    install = Path("docs/install.md").read_text()
    for extra, packages in PROJECT["optional-dependencies"].items():
        assert f"| `{extra}` |" in install, f"docs/install.md says nothing of [{extra}]"
        base = {re.split(r"[<>=\[]", name)[0] for name in PROJECT["dependencies"]}
        assert base.isdisjoint(re.split(r"[<>=\[]", name)[0] for name in packages)


MISSING = {
    "os.fork": "del os.fork",
    "resource": "sys.modules['resource'] = None",
    "os.fork and resource": "del os.fork, _signal.pthread_sigmask; sys.modules['resource'] = None",  # Windows
}


@pytest.mark.parametrize("missing", MISSING)
def test_a_system_without_fork_gets_a_clear_message(missing):
    expected = f"streamcheck needs {missing}, which Python has on Linux and macOS only; on Windows"
    script = "sys.argv[1:] = ['--help']; import runpy; runpy.run_path('bin/streamcheck', run_name='__main__')"
    code = NOT_UNIX.format(missing=MISSING[missing], then=script)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith(f"error: {expected}") and "WSL" in done.stderr
    code = NOT_UNIX.format(missing=MISSING[missing], then="from streamcheck import *")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"ImportError: {expected}" in done.stderr.splitlines()[-1]


def test_the_action_proves_and_annotates(tmp_path):
    """Its last step, as GitHub's runners execute it."""
    text = Path("action.yml").read_text()
    (script,) = re.findall(r"      run: \|\n((?:        .*\n)+)", text)
    (tmp_path / "specs" / "deep").mkdir(parents=True)
    shutil.copy("specs/engine_monitor.py", tmp_path / "specs" / "deep")
    (tmp_path / "specs" / "wrong.py").write_text(
        "from streamcheck import *\nx = extern('x', Word8)\nspec = Spec('wrong')\nspec.prop('small', x < 9)\n"
    )
    scripts = Path(sys.executable).parent
    given = {"FILES": "specs/**/*.py", "ARGUMENTS": "--timeout 100", "SARIF": "found.sarif"}
    assert set(re.findall(r"^        ([A-Z]+): \$\{\{", text, re.M)) == set(given)
    environment = os.environ | given | {"PATH": f"{scripts}:{os.environ['PATH']}"}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(shell, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 1 and "::error file=specs/wrong.py,line=4" in done.stdout, done.stdout + done.stderr
    assert "proved     majority_is_right" in done.stdout
    assert '"falsified"' in (tmp_path / "found.sarif").read_text()


def test_the_hook_is_a_command_of_the_package(tmp_path):
    text = Path(".pre-commit-hooks.yaml").read_text()
    entry = re.search(r"entry: streamcheck (.*)", text)[1]
    pattern = re.compile(re.search(r"files: (.*)", text)[1])
    assert pattern.search("specs/fib.py") and pattern.search("a/specs/x.lus") and not pattern.search("tests/x.py")
    command = [sys.executable, "-m", "streamcheck", *entry.split(), "specs/fib.py", "specs/bit_counter.py"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
