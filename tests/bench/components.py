"""A chain, a tree and a ring of n components: proofs by parts beside proofs of the whole.

    python tests/bench/components.py [--sizes 10 100 1000] [--shapes chain tree ring] [--timeout 60]
                                     [--kind2 PATH [--z3 PATH]] [--keep FOLDER] [--csv FILE] [--svg FILE]

Each model is one Lustre file, which all tools read. Times are processor seconds of the tool and its processes; `-`
means that not everything was proved in the time limit. `--csv` writes the same numbers, `--svg` a plot of each shape.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "streamcheck")
CELL = """\
node cell(a: int; b: int) returns (y: int);
(*@contract
  assume "inputs in range" a >= 0 and a <= 100 and b >= 0 and b <= 100;
  guarantee "in range" y >= 0 and y <= 100;
*)
var before, least: int;
let
  before = 0 -> pre y;
  least = if a < b then a else b;
  y = if least > before then before + 1 else least;
tel
"""


def chain(n):
    yield "y0 = if x < 0 or x > 100 then 0 else x;"
    yield "w0 = if w < 0 or w > 100 then 0 else w;"
    yield from (f"y{i} = cell(y{i - 1}, w0);" for i in range(1, n + 1))


def ring(n):
    yield from (f"y0 = if x < 0 or x > 100 then 0 else (0 -> pre y{n});", *list(chain(n))[1:])


def tree(n):
    """Inputs at the leaves; n components, number n at the root."""
    waiting = []
    for i in range(n + 1):
        yield f"y{i + n + 1} = if x + {i} < 0 or x + {i} > 100 then 0 else x + {i};"
        waiting.append(i + n + 1)
    for i in range(1, n + 1):
        a, b, *waiting = waiting
        yield f"y{i} = cell(y{a}, y{b});"
        waiting.append(i)
    yield "y0 = w;"


SHAPES = {"chain": chain, "ring": ring, "tree": tree}


def model(shape, n):
    equations = list(SHAPES[shape](n))
    names = sorted({e.partition(" ")[0] for e in equations} - {f"y{n}"})
    body = "\n  ".join(equations)
    head = f"node top(x, w: int) returns (y{n}: int);\nvar {', '.join(names)}: int;"
    return f'{CELL}{head}\nlet\n  {body}\n  --%PROPERTY "last" y{n} <= 100;\n  --%MAIN;\ntel\n'


def processor_seconds(command, timeout):
    """The processor time of the command and its processes, and its output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=3 * timeout + 60)
        out = done.stdout
    except subprocess.TimeoutExpired:
        out = ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out


def streamcheck(file, timeout, *options):
    command = [COMMAND, "prove", str(file), "--no-cache", "--json", "--timeout", str(timeout), *options]
    seconds, out = processor_seconds(command, timeout)
    try:
        verdicts = {p["verdict"] for p in json.loads(out)["properties"]}
    except (ValueError, KeyError):
        verdicts = set()
    return seconds if verdicts == {"proved"} else None


def kind2(file, timeout, options, *more):
    z3 = ["--z3_bin", options.z3] if options.z3 else []
    command = [options.kind2, "-json", "--timeout_wall", str(timeout), *z3, *more, str(file)]
    seconds, out = processor_seconds(command, timeout)
    try:
        rows = [row for row in json.loads(out) if row.get("objectType") == "property"]
    except ValueError:
        rows = []
    last = {row["name"]: row["answer"]["value"] for row in rows}
    return seconds if last and set(last.values()) == {"valid"} else None


WIDE, HIGH, EDGE = 320, 240, 40  # of one plot, and the space around it
COLOURS = ("#1b6ca8", "#c0392b", "#2e8b57", "#8e5ea2")


def plots(shapes, columns, rows):
    """The times over n as SVG, both on logarithmic scales: a plot for each shape, a line for each column."""
    times = [t for row in rows for t in row[2:] if t]
    sizes = [row[1] for row in rows]
    x, y = scale(sizes, WIDE), scale(times, HIGH)
    parts = []
    for at, shape in enumerate(shapes):
        parts.append(f'<g transform="translate({EDGE + at * (WIDE + 2 * EDGE)} {EDGE})">')
        parts.append(f'<text x="0" y="-8">{shape}: processor seconds over n</text>')
        parts.append(f'<rect width="{WIDE}" height="{HIGH}" fill="none" stroke="#999"/>')
        parts += [f'<text x="{x(n):.0f}" y="{HIGH + 14}">{n}</text>' for n in dict.fromkeys(sizes)]
        for t in powers_of_ten(times):
            parts.append(f'<text x="-4" y="{HIGH - y(t):.0f}" text-anchor="end">{t:g}</text>')
        for number, name in enumerate(columns):
            points = [(x(row[1]), HIGH - y(row[2 + number])) for row in rows if row[0] == shape and row[2 + number]]
            line, colour = " ".join(f"{a:.1f},{b:.1f}" for a, b in points), COLOURS[number % len(COLOURS)]
            parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"/>')
            parts.append(f'<text x="6" y="{14 + 13 * number}" fill="{colour}">{name}</text>')
        parts.append("</g>")
    size = f'width="{len(shapes) * (WIDE + 2 * EDGE)}" height="{HIGH + 2 * EDGE}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    return "".join([head, *parts, "</svg>\n"])


def scale(values, length):
    """The position of a value on a logarithmic axis."""
    low, high = (math.log(limit(values, default=1)) for limit in (min, max))
    return lambda value: length * (math.log(value) - low) / ((high - low) or 1)


def powers_of_ten(values):
    exponents = [math.log10(v) for v in values] or [0]
    return [10.0**e for e in range(math.ceil(min(exponents)), math.floor(max(exponents)) + 1)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--shapes", nargs="+", default=list(SHAPES), choices=SHAPES)
    parser.add_argument("--timeout", type=float, default=60)
    parser.add_argument("--kind2", help="Kind 2's binary")
    parser.add_argument("--z3", help="the z3 that Kind 2 uses")
    parser.add_argument("--keep", help="a folder for the models")
    parser.add_argument("--csv", help="a file for the numbers")
    parser.add_argument("--svg", help="a file for the plots")
    options = parser.parse_args()
    folder = Path(options.keep or tempfile.mkdtemp())
    os.makedirs(folder, exist_ok=True)
    columns = ["by parts", "whole"] + (["Kind 2 by parts", "Kind 2"] if options.kind2 else [])
    print(f"{'shape':8}{'n':>6}" + "".join(f"{name:>18}" for name in columns), flush=True)
    rows = []
    for shape in options.shapes:
        for n in options.sizes:
            file = folder / f"{shape}{n}.lus"
            file.write_text(model(shape, n))
            times = [streamcheck(file, options.timeout, "--compositional"), streamcheck(file, options.timeout)]
            if options.kind2:
                modular = ("--modular", "true", "--compositional", "true")
                times += [kind2(file, options.timeout, options, *modular), kind2(file, options.timeout, options)]
            shown = ("-" if t is None else f"{t:.1f} s" for t in times)
            print(f"{shape:8}{n:6}" + "".join(f"{t:>18}" for t in shown), flush=True)
            rows.append((shape, n, *(t and round(t, 2) for t in times)))
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([("shape", "n", *columns), *rows])
    if options.svg:
        Path(options.svg).write_text(plots(options.shapes, columns, rows))


if __name__ == "__main__":
    main()
