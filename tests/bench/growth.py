"""How the cost of a problem grows with its size, phase by phase, with the exponent of each.

    python tests/bench/growth.py [--families properties delays …] [--sizes 10 100 1000 …] [--limit SECONDS]
                                 [--kind2 PATH [--z3 PATH]] [--journal FILE] [--csv FILE] [--svg FILE [--before CSV]]
                                 [--keep FOLDER]

The families are in `growing.py`; each goes up to the size that is of interest there. `phases.py` runs each problem in
one process: its phases are loading (the user's Python, bodies evaluated), flattening (with its check), sending (JSON
from the spec's process and back into terms), encoding (to the system that engines see), report, C, its proof, and the
first answer of an engine. `prove` is the command as users run it. All times are CPU seconds, but those of `Kind 2`: its
own clock at its last answer, for the same problem as `show --as lustre` writes it. `peak MB` is the memory of the
command's largest process. What takes longer than the limit is `-`, and is not tried at larger sizes.

With a journal, what has been measured is not measured again: each figure is in it before the next is begun, so a run of
hours may be ended and begun anew, or be several runs of a few families each. A figure counts for the same problem and
limit.

A row ends with two exponents: of the least-squares line through its points on logarithmic scales, and of its last two
points alone. A point below 0.05 s is left out of both: it is mostly start. `bends` marks a last exponent above 1.15.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

from components import COLOURS, HIGH, WIDE, powers_of_ten, scale
from growing import FAMILIES
from lustre import COMMAND, measured

PHASES = str(Path(__file__).with_name("phases.py"))
GROUPS = {
    "loading": ("loading", "elaborating"),
    "flattening": ("its check", "flattening"),
    "sending": ("to JSON", "receiving", "from JSON"),
    "encoding": ("encoding",),
    "report": ("report",),
    "C": ("C",),
    "its proof": ("its proof",),
    "first answer": ("first answer",),
}
COLUMNS = (*GROUPS, "prove", "Kind 2")
LEAST, BENDS = 0.05, 1.15
BUSY = 1.5  # seconds of the clock for each of the limit: the machine may have other work


def phases(path, family, limit):
    """The CPU seconds of each group of phases that ended."""
    command = [sys.executable, PHASES, str(path), "--limit", str(limit), *(["--compile"] if family.compiles else [])]
    out, _, _, _ = measured(command, 6 * limit)  # it ends by itself after so many seconds of its own
    seconds = {}
    for line in out.splitlines():
        with suppress(ValueError):  # it may have ended within one
            name, cost, _ = json.loads(line)
            seconds[name] = cost
    whole = slice(0, 1) if family.ending == ".c" else slice(-1, None)  # a program is loaded in one phase
    ended = {group: parts for group, parts in GROUPS.items() if parts[whole][0] in seconds}
    return {group: sum(seconds.get(part, 0.0) for part in parts) for group, parts in ended.items()}


def command_cost(path, options):
    """The CPU seconds and the megabytes of the command; nothing if some property stays open."""
    wall = BUSY * options.limit
    command = [COMMAND, "prove", str(path), "--no-cache", "--json", "--timeout", str(wall)]
    out, _, _, figures = measured(command, wall)
    try:
        verdicts = {p["verdict"] for p in json.loads(out)["properties"]}
    except (ValueError, KeyError):
        verdicts = {"unknown"}
    return {} if "unknown" in verdicts else {"prove": figures["cpu"], "peak MB": figures["memory"]}


def kind2_cost(path, options):
    """The seconds by its own clock at which Kind 2 gave its last answer (it may go on for long after that); nothing if
    it does not decide every property."""
    done = subprocess.run([COMMAND, "show", str(path), "--as", "lustre"], capture_output=True, text=True)
    if done.returncode:
        return {}
    lustre = path.with_suffix(".lus")
    lustre.write_text(done.stdout)
    z3 = ["--z3_bin", options.z3] if options.z3 else []
    command = [options.kind2, "-json", "--timeout_wall", str(options.limit), *z3, str(lustre)]
    out, _, _, _ = measured(command, 2 * options.limit)  # it may end long after its time
    try:
        rows = [row for row in json.loads(out) if row.get("objectType") == "property"]
    except ValueError:
        rows = []
    asked = lustre.read_text().count("--%PROPERTY")
    answers = [row for row in rows if row["answer"]["value"] in ("valid", "falsifiable")]
    decided = {row["name"]: row["runtime"]["value"] for row in answers}
    return {"Kind 2": max(decided.values())} if asked and len(decided) == asked else {}


class Journal:
    """Figures by family, n and part, each in a line of the file once it is known."""

    def __init__(self, path):
        self.path, self.rows = path, {}
        if path and Path(path).exists():
            for line in Path(path).read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):  # the last one may be cut
                    *key, costs = json.loads(line)
                    self.rows[tuple(key)] = costs

    def costs(self, key, work):
        """{column: cost} of this key, from the journal or from `work`."""
        if key not in self.rows:
            self.rows[key] = work()
            if self.path:
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write("\n" + json.dumps([*key, self.rows[key]]))  # after a line that was cut, too
        return self.rows[key]


def measure(family, sizes, options, folder, journal):
    """{column: {n: cost}}, with the column `peak MB`."""
    costs = {column: {} for column in (*COLUMNS, "peak MB")}
    parts = {
        "loading": lambda path: phases(path, family, options.limit),
        "prove": lambda path: command_cost(path, options),
    }
    if options.kind2 and family.ending == ".py":
        parts["Kind 2"] = lambda path: kind2_cost(path, options)
    for n in sizes:
        path, text = folder / f"{family.name}_{n}{family.ending}", family.text(n)
        path.write_text(text)
        digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        for part, cost in parts.items():
            before = [m for m in sizes if m < n]
            if before and before[-1] not in costs[part]:
                continue
            key = (family.name, n, part, digest, options.limit)
            for column, figure in journal.costs(key, partial(cost, path)).items():
                costs[column][n] = figure
    return {column: points for column, points in costs.items() if points}


def exponent(points):
    """The slope of the least-squares line through the points on logarithmic scales; None of fewer than two."""
    places = [(math.log(n), math.log(cost)) for n, cost in points.items()]
    if len(places) < 2:
        return None
    x, y = (sum(values) / len(places) for values in zip(*places, strict=True))
    return sum((a - x) * (b - y) for a, b in places) / sum((a - x) ** 2 for a, _ in places)


def exponents(points):
    """Of all points that count, and of the last two of them."""
    counted = {n: cost for n, cost in points.items() if cost >= LEAST}
    last = dict(list(counted.items())[-2:])
    return exponent(counted), exponent(last)


def show(family, sizes, costs):
    print(f"\n{family.name:14}" + "".join(f"{n:>10,}" for n in sizes) + f"{'exponent':>10}{'the last':>10}")
    for column, points in costs.items():
        cells = "".join(f"{points[n]:10.2f}" if n in points else f"{'-':>10}" for n in sizes)
        slopes = exponents(points)
        shown = "".join(f"{'' if slope is None else f'{slope:.2f}':>10}" for slope in slopes)
        bends = "  bends" if column != "peak MB" and slopes[1] is not None and slopes[1] > BENDS else ""
        print(f"{column:14}{cells}{shown}{bends}", flush=True)


ROW, SPACE = 3, 60  # plots beside each other; the space around each
MORE_COLOURS = (*COLOURS, "#d4a017", "#555555", "#17a2a2", "#e07b39", "#000000", "#b03a8c")


def plots(figures, before):
    """The times over n as SVG, both on logarithmic scales: a plot for each family, a line for each column, a cross
    for each figure from before."""
    parts = []
    for at, (name, costs) in enumerate(figures.items()):
        left, top = SPACE + at % ROW * (WIDE + SPACE), SPACE + at // ROW * (HIGH + SPACE)
        parts.append(f'<g transform="translate({left} {top})">')
        shown = {column: points for column, points in costs.items() if column != "peak MB"}
        parts += plot(name, shown, before.get(name, {}))
        parts.append("</g>")
    parts += [
        f'<text x="{SPACE + i * 100}" y="18" fill="{colour}">{column}</text>'
        for i, (column, colour) in enumerate(zip(COLUMNS, MORE_COLOURS, strict=True))
    ]
    rows = math.ceil(len(figures) / ROW)
    size = f'width="{max(ROW * (WIDE + SPACE) + SPACE, 1060)}" height="{rows * (HIGH + SPACE) + SPACE}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
    return "".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *parts, "</svg>\n"])


def plot(name, costs, before):
    sizes = sorted({n for points in costs.values() for n in points})
    both = [*costs.values(), *before.values()]
    times = [max(0.01, cost) for points in both for cost in points.values()]
    x, y = scale(sizes, WIDE), scale([*times, 0.01], HIGH)
    yield f'<text x="0" y="-8">{name}: CPU seconds over n</text>'
    yield f'<rect width="{WIDE}" height="{HIGH}" fill="none" stroke="#999"/>'
    yield from (f'<text x="{x(n):.0f}" y="{HIGH + 14}" text-anchor="middle">{n:,}</text>' for n in sizes)
    yield from (f'<text x="-4" y="{HIGH - y(t):.0f}" text-anchor="end">{t:g}</text>' for t in powers_of_ten(times))
    for column, colour in zip(COLUMNS, MORE_COLOURS, strict=True):
        points = costs.get(column, {})
        line = " ".join(f"{x(n):.1f},{HIGH - y(max(0.01, cost)):.1f}" for n, cost in points.items())
        yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
        for n, cost in before.get(column, {}).items():
            cross = f"M{x(n) - 4:.1f} {HIGH - y(cost) - 4:.1f}l8 8m0 -8l-8 8"
            yield f'<path d="{cross}" fill="none" stroke="{colour}" stroke-width="1.5"/>'


def figures_of(path):
    """{family: {column: {n: cost}}} of a file that `--csv` wrote."""
    figures = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            points = figures.setdefault(row["family"], {}).setdefault(row["column"], {})
            points[int(row["n"])] = float(row["cost"])
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES), choices=FAMILIES)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10, 100, 1_000, 10_000, 100_000])
    parser.add_argument("--limit", type=float, default=60.0, help="CPU seconds of the phases, and of each command")
    parser.add_argument("--kind2", help="Kind 2's binary")
    parser.add_argument("--z3", help="the z3 that Kind 2 uses")
    parser.add_argument("--keep", help="a folder for the problems")
    parser.add_argument("--journal", help="a file of what has been measured, and will not be again")
    parser.add_argument("--before", help="a file of numbers from before, for the plots")
    parser.add_argument("--csv", help="a file for the numbers")
    parser.add_argument("--svg", help="a file for the plots")
    options = parser.parse_args()
    folder = Path(options.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    figures, journal = {}, Journal(options.journal)
    for name in options.families:
        sizes = sorted(n for n in options.sizes if n <= FAMILIES[name].most)
        figures[name] = measure(FAMILIES[name], sizes, options, folder, journal)
        show(FAMILIES[name], sizes, figures[name])
    if options.csv:
        rows = [(f, c, n, cost) for f, costs in figures.items() for c, p in costs.items() for n, cost in p.items()]
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows([("family", "column", "n", "cost"), *rows])
    if options.svg:
        Path(options.svg).write_text(plots(figures, figures_of(options.before) if options.before else {}))


if __name__ == "__main__":
    main()
