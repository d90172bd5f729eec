"""The C of streamcheck beside Copilot's and beside what a C programmer writes, on Copilot's own monitors.

    python tests/bench/monitors.py [../shared/bench/monitors]

Every version is compiled with `gcc -O2 -std=c99`, linked with the same unchanged harness, and run in this session.
Instructions per step are callgrind's, the harness's included, from the difference of two runs; state is the size of the
file-scope variables that `step()` keeps; stack is gcc's figure for it. Prints one row for each monitor and what falls
short of the targets; exits with 1 where something does.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from streamcheck import (
    Bool,
    Int64,
    Spec,
    Word32,
    extern,
    ltl,  # noqa: F401
    mtl,
    ptltl,
    stream,
    voting,
)
from streamcheck.codegen.unit import CodeOptions, generate
from streamcheck.lang.flatten import flatten
from streamcheck.run.source import Target, read
from streamcheck.validate.bisimulation import validate

MONITORS = ["Fib", "Counter", "Heater", "Vote3", "Engine", "Mixed"]
FILES = {"Fib": "fibonacci"}
SHORT, LONG = 2_000, 12_000


@dataclass
class Measured:
    instructions: float
    state: int
    stack: int
    code: int  # bytes of C
    nanoseconds: float


def dag(depth):
    x = extern("x", Word32)
    for _ in range(depth):
        x = x * x + 1
    spec = Spec("m")
    spec.trigger("t", True, x)
    return spec


def accumulators(count):
    x = extern("x", Word32)
    total = Word32(0)
    for i in reversed(range(1, count + 1)):
        total = stream(Word32, lambda s, i=i: [i] + +(s + x)) + total
    spec = Spec("m")
    spec.trigger("t", True, total)
    return spec


def since(high):
    clock = stream(Int64, lambda t: [0] + +(t + 1))
    spec = Spec("m")
    spec.trigger("t", mtl.since(0, high, clock, 1, extern("p", Bool), extern("q", Bool)))
    return spec


def majority(count):
    votes = [extern(f"p{i}", Word32) for i in range(count)]
    most = voting.majority(votes)
    spec = Spec("m")
    spec.trigger("t", voting.has_majority(most, votes), most)
    return spec


def delay(count):
    late = [0] * count + +extern("x", Word32)
    spec = Spec("m")
    spec.trigger("t", late > 5, late)
    return spec


def past(count):
    x = extern("x", Word32)
    guard = Bool(True)
    for i in reversed(range(1, count + 1)):
        guard = ptltl.always_been(x > i) & guard
    spec = Spec("m")
    spec.trigger("t", guard)
    return spec


# name, spec, the harness's macros; Copilot's C is in scale_NAME where it is not too large to keep
SCALE = [
    ("dag_8", lambda: dag(8), ["-DTARGS=uint32_t a", "-DTBODY=acc+=a"]),
    ("dag_16", lambda: dag(16), ["-DTARGS=uint32_t a", "-DTBODY=acc+=a"]),
    ("streams_100", lambda: accumulators(100), ["-DTARGS=uint32_t a", "-DTBODY=acc+=a"]),
    ("mtlsince_10", lambda: since(10), ["-DTARGS=void", "-DTBODY=", "-DBOOLS"]),
    ("mtlsince_100", lambda: since(100), ["-DTARGS=void", "-DTBODY=", "-DBOOLS"]),
    ("mtlsince_300", lambda: since(300), ["-DTARGS=void", "-DTBODY=", "-DBOOLS"]),
    ("majority_9", lambda: majority(9), ["-DTARGS=uint32_t a", "-DTBODY=acc+=a", "VOTES=9"]),
    ("delay_1000", lambda: delay(1000), ["-DTARGS=uint32_t a", "-DTBODY=acc+=a"]),
    ("ptltl_100", lambda: past(100), ["-DTARGS=void", "-DTBODY="]),
]


def run(command, folder):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def generated(equations, folder):
    folder.mkdir()
    code = generate(equations, CodeOptions(copilot=True)).code
    outcome = validate(code)
    if not outcome.is_proved:
        raise SystemExit(f"{equations.name}: {outcome.failures}")
    for name, text in code.files.items():
        (folder / name).write_text(text)
    return folder / f"{equations.name}.c"


def measured(source, harness, folder, include, macros=()):
    """One version of a monitor: its C file, the harness, and where the headers are."""
    votes = [m for m in macros if m.startswith("VOTES=")]
    macros = [m for m in macros if not m.startswith("VOTES=")]
    headers = [f"-I{d}" for d in include]
    run(["gcc", "-O2", "-std=c99", "-fstack-usage", *headers, "-c", source, "-o", "step.o"], folder)
    text = (harness).read_text()
    if votes:
        text = with_votes(text, int(votes[0].split("=")[1]))
    (folder / "bench_main.c").write_text(text)
    run(["gcc", "-O2", "-std=gnu99", "-w", *headers, *macros, "bench_main.c", "step.o", "-o", "bench", "-lm"], folder)
    counts = [instructions(folder, n) for n in (SHORT, LONG)]
    timed = min(nanoseconds(folder) for _ in range(3))
    return Measured(
        (counts[1] - counts[0]) / (LONG - SHORT), state_bytes(folder), stack_bytes(folder), source.stat().st_size, timed
    )


def with_votes(text, count):
    """The harness of the votes: more than one input."""
    names = [f"p{i}" for i in range(count)]
    declared = "uint32_t " + ",".join(names) + ";\n"
    sets = ",".join(f"{n}=(uint32_t)((i>>{k})&1)" for k, n in enumerate(names))
    return text.replace("uint32_t x,XS;\n#define SETX x=(uint32_t)i", f"{declared}#define SETX {sets}")


def instructions(folder, steps):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=callgrind", "./bench", steps]
    return int(re.search(r"Collected : (\d+)", run(command, folder))[1])


def nanoseconds(folder):
    return float(re.search(r"([\d.]+) ns/step", run(["./bench", 5_000_000], folder))[1])


def state_bytes(folder):
    """The variables of the object file: what is initialised, and what begins as zero."""
    total = 0
    for line in run(["nm", "-S", "step.o"], folder).splitlines():
        parts = line.split()
        if len(parts) == 4 and parts[2] in "bdBD" and not parts[3].endswith("_cpy"):
            total += int(parts[1], 16)
    return total


def stack_bytes(folder):
    for line in (folder / "step.su").read_text().splitlines():
        place, size, _ = line.split("\t")
        if place.endswith(":step"):
            return int(size)
    raise SystemExit("no stack figure for step")


def compare(name, equations, shared, kind, harness, macros, short):
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        ours = generated(equations, folder / "ours")
        theirs = shared / kind / f"{equations.name}.c"
        rows = {"ours": measured(ours, harness, folder / "ours", [folder / "ours", shared], macros)}
        for label, source in (("Copilot", theirs), ("hand", shared / kind / "hand.c")):
            if source.is_file():
                other = folder / label
                other.mkdir()
                rows[label] = measured(source, harness, other, [shared / kind, shared], macros)
    show(name, rows)
    short += misses(name, rows)


def show(name, rows):
    for label, m in rows.items():
        ratio = m.nanoseconds / rows["Copilot"].nanoseconds if "Copilot" in rows else float("nan")
        title = name if label == "ours" else ""
        print(f"{title:13} {label:8} {m.instructions:8.1f} {m.state:6d} {m.stack:6d} {m.code:8d} {ratio:6.2f}")


HALF = ("Engine", "Mixed")


def misses(name, rows):
    ours, found = rows["ours"], []
    if "Copilot" in rows and ours.instructions > rows["Copilot"].instructions:
        found.append(f"{name}: more instructions than Copilot's")
    if name in HALF and ours.instructions > rows["Copilot"].instructions / 2:
        found.append(f"{name}: more than half of Copilot's instructions")
    if "hand" in rows and ours.instructions > 1.1 * rows["hand"].instructions:
        found.append(f"{name}: more than 1.1 times the instructions of the hand-written C")
    if "hand" in rows and ours.state > rows["hand"].state:
        found.append(f"{name}: more state than the hand-written C")
    if name == "dag_16" and ours.code > 3_000:
        found.append("dag_16: more than 3 kB of C")
    if name == "streams_100" and ours.instructions > 300:
        found.append("streams_100: more than 300 instructions")
    return found


def main():
    shared = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/bench/monitors").resolve()
    specs = Path(__file__).parents[2] / "specs" / "monitors"
    short = []
    print(
        f"{'monitor':13} {'':8} {'instr.':>8} {'state':>6} {'stack':>6} {'C bytes':>8} {'ns':>6}  (ns: over Copilot's)"
    )
    for name in MONITORS:
        (equations,) = read(Target.parse(str(specs / f"{FILES.get(name, name.lower())}.py")))
        compare(name, equations, shared, name, shared / name / "harness.c", [], short)
    for name, spec, macros in SCALE:
        compare(name, flatten(spec()), shared, f"scale_{name}", shared / "scale.c", macros, short)
    print("\n".join(["short of the targets:", *short] if short else ["every target met"]))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
