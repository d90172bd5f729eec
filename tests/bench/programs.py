"""C programs in figures: engines by families, through the real command, one problem at a time.

    python tests/bench/programs.py FOLDER [--timeout 20] [--only REGEX] [--save results.json] [--plots DIR]
                                   [--strategy NAME=OPTIONS]…

FOLDER holds families of programs, and `expected.json` with "proved" or "falsified" for each. A strategy is a name and
the options of `prove`; without any it is the command as it is.

    --strategy all= --strategy paths='--engine predicates' --strategy path='--engine predicates-path'

What counts is what the program itself asserts. Where it does something undefined first (an index out of bounds, say), C
does not say whether the assertion fails: that is counted by itself. Two strategies are compared as [Tegzes] does:
mean, median, least and most, over all, safe and unsafe ones; with `--plots`, a histogram, a scatter plot, and for the
locks the growth with their number, as SVG.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import shlex
import statistics
from pathlib import Path

from lustre import COMMAND, measured


def verdict_of(answer):
    """(verdict, engine) of what is asserted."""
    asserted = [p for p in answer["properties"] if not p.get("implied")]
    said = {p["verdict"] for p in asserted}
    engines = "+".join(sorted({p["engine"] for p in asserted if p.get("engine")}))
    if "falsified" in said:
        return "falsified", engines
    if any(p["verdict"] == "falsified" for p in answer["properties"] if p.get("implied")):
        return ("undefined" if said == {"proved"} else "unknown"), engines
    return ("proved" if said == {"proved"} else "unknown"), engines


def ours(path, options, limit):
    command = [COMMAND, "prove", str(path), "--no-cache", "--json", "--timeout", str(limit), *shlex.split(options)]
    out, err, status, row = measured(command, limit)
    try:
        answer = json.loads(out)
    except ValueError:
        return {**row, "verdict": "error", "reason": f"status {status}: {err.strip()[:160]}"}
    row["verdict"], row["engine"] = verdict_of(answer)
    row["defined"] = all(p["verdict"] == "proved" for p in answer["properties"] if p.get("implied"))
    row["reason"] = "; ".join(sorted({p["reason"] for p in answer["properties"] if p.get("reason")}))
    return row


def solved(row):
    return row["verdict"] == row["expected"] or (row["verdict"] == "undefined" and row["expected"] == "proved")


def wrong(row):
    """A proof holds up to the first undefined operation: it is wrong where there is none."""
    if row["verdict"] == "proved":
        return row["expected"] == "falsified" and row["defined"]
    return row["verdict"] == "falsified" and row["expected"] == "proved"


def figures(rows):
    times = [r["wall"] for r in rows if solved(r)]
    if not times:
        return f"solved 0 of {len(rows)}"
    return (
        f"solved {len(times)} of {len(rows)}, wrong {sum(map(wrong, rows))}, mean {statistics.mean(times):.2f} s, "
        f"median {statistics.median(times):.2f} s, least {min(times):.2f} s, most {max(times):.2f} s"
    )


def table(results):
    """Solved by family, a column for each strategy."""
    names = list(results)
    families = sorted({r["file"].split("/")[0] for rows in results.values() for r in rows})
    print(f"\n{'family':18}" + "".join(f"{name:>20}" for name in names))
    for family in [*families, ""]:
        cells = []
        for name in names:
            rows = [r for r in results[name] if family in ("", r["file"].split("/")[0])]
            good = [r["wall"] for r in rows if solved(r)]
            time = f" {statistics.mean(good):5.2f} s" if good else ""
            cells.append(f"{len(good)}/{len(rows)}{time}")
        print(f"{family or 'all':18}" + "".join(f"{cell:>20}" for cell in cells))


def compared(results):
    for name, rows in results.items():
        print(f"\n{name}")
        print(f"  all     {figures(rows)}")
        for kind, answer in (("safe", "proved"), ("unsafe", "falsified")):
            print(f"  {kind:7} {figures([r for r in rows if r['expected'] == answer])}")


# Plots


class Plot:
    """A drawing of 480 by 320, as SVG."""

    def __init__(self, title, x_label, y_label):
        self.parts = [f'<text x="240" y="16" text-anchor="middle" font-weight="bold">{title}</text>']
        self.parts.append(f'<text x="260" y="314" text-anchor="middle">{x_label}</text>')
        self.parts.append(f'<text x="12" y="160" text-anchor="middle" transform="rotate(-90 12 160)">{y_label}</text>')
        self.parts.append('<path d="M50 30 V280 H460" fill="none" stroke="black"/>')

    def ticks(self, xs, ys):
        for at, text in xs:
            self.parts.append(f'<text x="{50 + 410 * at:.0f}" y="295" text-anchor="middle">{text}</text>')
        for at, text in ys:
            self.parts.append(f'<text x="46" y="{284 - 250 * at:.0f}" text-anchor="end">{text}</text>')

    def dot(self, x, y, color="steelblue"):
        self.parts.append(f'<circle cx="{50 + 410 * x:.1f}" cy="{280 - 250 * y:.1f}" r="3.5" fill="{color}"/>')

    def bar(self, x, width, height, color):
        top = 280 - 250 * height
        size = f'width="{410 * width:.1f}" height="{250 * height:.1f}"'
        self.parts.append(f'<rect x="{50 + 410 * x:.1f}" y="{top:.1f}" {size} fill="{color}"/>')

    def line(self, points, color):
        path = " ".join(f"{50 + 410 * x:.1f},{280 - 250 * y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>')

    def label(self, text, color, row):
        self.parts.append(f'<text x="70" y="{44 + 14 * row}" fill="{color}">{text}</text>')

    def save(self, path):
        size = 'width="480" height="320" font-family="sans-serif" font-size="11"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<rect width="480" height="320" fill="white"/>'
        path.write_text("\n".join([head, *self.parts, "</svg>"]) + "\n")


COLORS = ("steelblue", "darkorange", "seagreen", "firebrick", "purple", "gray")
EDGES = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, math.inf)


def histogram(results, directory):
    plot = Plot("how long solved programs take", "seconds, at most", "programs")
    counts = {}
    for name, rows in results.items():
        times = [r["wall"] for r in rows if solved(r)]
        counts[name] = [sum(low < t <= high for t in times) for low, high in zip((0, *EDGES), EDGES, strict=False)]
    most = max(map(max, counts.values())) or 1
    width = 1 / len(EDGES)
    for row, (name, bars) in enumerate(counts.items()):
        plot.label(name, COLORS[row], row)
        for i, count in enumerate(bars):
            share = 0.8 * width / len(counts)
            plot.bar(i * width + 0.1 * width + row * share, share, count / most, COLORS[row])
    names = ["more" if math.isinf(e) else str(e) for e in EDGES]
    plot.ticks([((i + 0.5) * width, name) for i, name in enumerate(names)], [(0, "0"), (1, str(most))])
    plot.save(directory / "histogram.svg")


def scatter(results, directory, limit):
    first, second = list(results)[:2]
    plot = Plot("each program under both", f"{first}, seconds", f"{second}, seconds")
    low, high = math.log(0.1), math.log(limit)

    def place(row):
        return (math.log(min(max(row["wall"], 0.1), limit) if solved(row) else limit) - low) / (high - low)

    for a, b in zip(results[first], results[second], strict=True):
        plot.dot(place(a), place(b), "steelblue" if a["expected"] == "proved" else "firebrick")
    marks = [((math.log(t) - low) / (high - low), str(t)) for t in (0.1, 1, 10) if t <= limit]
    plot.line([(0, 0), (1, 1)], "lightgray")
    plot.label("safe", "steelblue", 0)
    plot.label("unsafe", "firebrick", 1)
    plot.ticks(marks, marks)
    plot.save(directory / "scatter.svg")


def growth(results, directory):
    plot = Plot("locks", "number of locks", "seconds")
    lines = {}
    for name, rows in results.items():
        good = [(re.search(r"locks_(\d+)_true", r["file"]), r["wall"]) for r in rows if solved(r)]
        lines[name] = sorted((int(found[1]), wall) for found, wall in good if found)
    most = max((wall for found in lines.values() for _, wall in found), default=1.0)
    for row, (name, found) in enumerate(lines.items()):
        plot.label(name, COLORS[row], row)
        plot.line([((n - 5) / 10, wall / most) for n, wall in found], COLORS[row])
    plot.ticks([((n - 5) / 10, str(n)) for n in range(5, 16, 2)], [(0, "0"), (1, f"{most:.2f}")])
    plot.save(directory / "growth.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--timeout", type=float, default=20.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--plots", type=Path)
    parser.add_argument("--strategy", action="append", default=[], metavar="NAME=OPTIONS")
    options = parser.parse_args()
    expected = json.loads((options.folder / "expected.json").read_text())
    files = sorted(f for f in expected if re.search(options.only, f))
    strategies = dict(s.split("=", 1) for s in options.strategy) or {"all": ""}
    results = {name: [] for name in strategies}
    for file in files:
        for name, chosen in strategies.items():
            row = {"file": file, "expected": expected[file], **ours(options.folder / file, chosen, options.timeout)}
            results[name].append(row)
            mark = "WRONG" if wrong(row) else "" if solved(row) else row["reason"][:70]
            told = f"{row['verdict']:9} {row['wall']:6.2f} s  {row.get('engine', '')} {mark}"
            print(f"{file:48.48} {name:16.16} {told}", flush=True)
    table(results)
    compared(results)
    if options.save:
        options.save.write_text(json.dumps(results, indent=1) + "\n")
    if options.plots:
        options.plots.mkdir(parents=True, exist_ok=True)
        histogram(results, options.plots)
        growth(results, options.plots)
        if len(results) > 1:
            scatter(results, options.plots, options.timeout)


if __name__ == "__main__":
    main()
