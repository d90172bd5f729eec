"""The parts of a machine that streamcheck uses: solvers, a compiler, extras; what is missing, and how to get it."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Literal, TypeAlias

Health: TypeAlias = Literal["ok", "missing", "wrong"]
SECONDS = 20.0
SOLVERS = {"z3-solver": "z3", "cvc5": "cvc5", "bitwuzla": "bitwuzla"}
LIBRARIES = {"click": "click", "sympy": "sympy", "pycparser": "pycparser", "pyvcd": "vcd", "rich": "rich"}
EXTRAS = {
    "pandas": ("pandas", "results and logs as DataFrames", "pandas"),
    "pyarrow": ("pyarrow", "Parquet files as logs", "parquet"),
    "matplotlib": ("matplotlib", "`--plot`", "plot"),
    "distributed": ("distributed", "`prove --on`: workers of Dask", "scale"),
    "pygls": ("pygls", "`lsp`: the language server", "lsp"),
    "hypothesis": ("hypothesis", "`runs_of` in tests", "test"),
    "pytest": ("pytest", "properties as tests", "test"),
}
TOOLS = {
    "cmake": ("--version", "projects made by `init`, `compile --with cmake`"),
    "cargo": ("--version", "`compile --with rust`"),
    "dot": ("-V", "pictures of `show --as graph` (Graphviz)"),
}


@dataclass(frozen=True, slots=True)
class CheckedTool:
    """A part of the machine: what was found, what it is for, and how to get it if it is missing. Proofs and runs need
    those that are `needed`."""

    name: str
    finding: Health
    text: str
    get: str = ""
    needed: bool = False

    def to_json(self) -> dict[str, str | bool]:
        return {
            "name": self.name,
            "finding": self.finding,
            "text": self.text,
            "get": self.get,
            "needed": self.needed,
        }

    def lines(self) -> Iterator[str]:
        yield f"  {self.finding:7}  {self.name:<18}  {self.text}"
        if self.get:
            yield f"{'':31}{self.get}"


def examine() -> Iterator[CheckedTool]:
    """Each part, as it is examined; at last a proof and its check, which use the solvers."""
    yield CheckedTool("Python", "ok", f"{platform.python_version()}, {platform.system()} {platform.machine()}")
    yield _processes()
    yield from (_package(name, module, needed=True) for name, module in (SOLVERS | LIBRARIES).items())
    yield _compiler()
    for name, (module, purpose, extra) in EXTRAS.items():
        yield _package(name, module, purpose, f"pip install 'streamcheck[{extra}]'")
    yield from (_tool(name, option, purpose) for name, (option, purpose) in TOOLS.items())
    yield _proof()


def _processes() -> CheckedTool:
    name = "processes"
    if not hasattr(os, "fork") or find_spec("resource") is None:
        return CheckedTool(name, "missing", "this system has no `fork`", "on Windows, use WSL", needed=True)
    return CheckedTool(name, "ok", f"{os.cpu_count()} processors", needed=True)


def _package(name: str, module: str, purpose: str = "", get: str = "", *, needed: bool = False) -> CheckedTool:
    about = f" ({purpose})" if purpose else ""
    try:
        number = version(name)
    except PackageNotFoundError:
        return CheckedTool(name, "missing", f"not installed{about}", get or f"pip install {name}", needed)
    if find_spec(module) is None:
        return CheckedTool(name, "wrong", f"{number}, but it has no module {module}", f"pip install -I {name}", needed)
    return CheckedTool(name, "ok", f"{number}{about}", needed=needed)


def _compiler() -> CheckedTool:
    """The C compiler, which has to make a program that runs."""
    from tempfile import TemporaryDirectory

    from streamcheck.deliver.compilers import compiler

    name, purpose = "C compiler", "`run --native`, and a first compilation of generated C"
    command = compiler()
    if command is None:
        get = "apt install gcc, dnf install gcc, or xcode-select --install"
        return CheckedTool(name, "missing", f"none of cc, gcc, clang ({purpose})", get)
    with TemporaryDirectory() as folder:
        source, program = os.path.join(folder, "t.c"), os.path.join(folder, "t")
        with open(source, "w", encoding="utf-8") as file:
            file.write("#include <math.h>\nint main(int n, char **v) { (void)v; return sin((double)n) > 2.0; }\n")
        made = _answer([command, "-std=c99", source, "-o", program, "-lm"])
        if made is None or _answer([program]) is None:
            get = "apt install libc6-dev, or the headers of your system"
            return CheckedTool(name, "wrong", f"{command} makes no program that runs", get)
    return CheckedTool(name, "ok", f"{_first_line(command, '--version')} ({purpose})")


def _tool(name: str, option: str, purpose: str) -> CheckedTool:
    if shutil.which(name) is None:
        return CheckedTool(name, "missing", f"not installed ({purpose})", "with the packages of your system")
    return CheckedTool(name, "ok", f"{_first_line(name, option)} ({purpose})")


def _first_line(command: str, option: str) -> str:
    return ((_answer([command, option]) or "").splitlines() or ["?"])[0]


def _answer(command: list[str]) -> str | None:
    """The text that it prints. None if it fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout or done.stderr if done.returncode == 0 else None


def _proof() -> CheckedTool:
    """One proof with its check, and one counterexample with its replay."""
    from streamcheck.core.errors import SpecError
    from streamcheck.core.term import constant, term, variable
    from streamcheck.core.types import SCALARS
    from streamcheck.problem.claim import Claim
    from streamcheck.problem.specification import Cell, Specification
    from streamcheck.run.prove import Alarm, Settings, prove

    word = SCALARS["Word8"]
    n, one, last = variable("n", word), constant(word, 1), constant(word, 5)
    again = term("mux", term("lt", n, last), term("add", n, one), constant(word, 0))
    claims = tuple(Claim(name, term("le", n, constant(word, most)), None) for name, most in (("true", 5), ("false", 4)))
    cell = Cell("n", constant(word, 0), again, None)
    counter = Specification("doctor", (), (), (cell,), (), (), (), claims, (), None)
    try:
        verdicts = [r.verdict for r in prove(counter, Settings(SECONDS, 1)).results]
    except (Alarm, SpecError, OSError, ImportError) as why:
        return CheckedTool("a proof", "wrong", str(why), needed=True)
    if verdicts != ["proved", "falsified"]:
        return CheckedTool(
            "a proof", "wrong", f"expected proved and falsified, found {', '.join(verdicts)}", needed=True
        )
    return CheckedTool("a proof", "ok", "proved and checked; a counterexample found and replayed", needed=True)
