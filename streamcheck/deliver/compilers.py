"""The generated files, compiled once if a C compiler is at hand: it accepts them, and the state is no larger than the
header says."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass

from streamcheck.codegen.unit import Unit

FLAGS = "-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -ffp-contract=off".split()
SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Compilation:
    """How the files were compiled: `messages` holds the compiler's warnings and errors."""

    command: str
    messages: tuple[str, ...]
    is_accepted: bool


def compiler() -> str | None:
    """The C compiler of this machine. None if there is none."""
    return next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)


def compile_once(unit: Unit, extras: Mapping[str, str]) -> Compilation | None:
    """The result of compiling the files. None if there is no compiler, or it does not answer."""
    name = compiler()
    if name is None:
        return None
    command = [name, *FLAGS]
    with tempfile.TemporaryDirectory() as folder:
        for file, text in {**extras, **unit.code.files}.items():
            if os.sep in file:
                continue
            with open(os.path.join(folder, file), "w", encoding="utf-8") as output:
                output.write(text)
        with open(os.path.join(folder, "sizes.c"), "w", encoding="utf-8") as output:
            output.write(_sizes(unit))
        sources = [
            f"{unit.code.base}.c",
            "sizes.c",
            *(file for file in extras if file.endswith(".c") and os.sep not in file),
        ]
        messages: list[str] = []
        is_accepted = True
        for source in sources:
            try:
                done = subprocess.run(
                    [*command, "-c", source, "-o", "ignored.o"],
                    cwd=folder,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                )
            except (OSError, subprocess.TimeoutExpired):
                return None
            messages += [line for line in done.stderr.splitlines() if "error" in line or "warning" in line]
            if done.returncode:
                is_accepted = False
                messages.append(f"{source}: exit status {done.returncode}")
    return Compilation(" ".join(command), tuple(messages), is_accepted)


def _sizes(unit: Unit) -> str:
    """C that does not compile if the state is larger than the header says. (It is smaller where types need less
    alignment.) The variables of the Copilot ABI are not visible to another file."""
    include = f'#include "{unit.code.base}.h"\n'
    if unit.code.copilot:
        return include
    wanted = unit.figures.state
    return f"{include}extern char size_of_state[(sizeof({unit.code.base}_state) <= {wanted}u) ? 1 : -1];\n"
