"""Runs as pictures, SVG or PNG, drawn by matplotlib: a Boolean is a wave, a number a step plot, any other value a band,
a trigger a dot; hatched: any value will do; red: the step at which the property is false."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec
from itertools import groupby
from typing import Any

from streamcheck.core.errors import SpecError, refuse_unwritable
from streamcheck.problem.result import Verdicts
from streamcheck.problem.specification import Specification
from streamcheck.report.page.signals import RunTimeline, Signal, path_timeline, run_timeline_of

SUFFIXES = (".svg", ".png")
MOST_ROWS = 80  # of a run
LOW, HIGH = 0.15, 0.85  # of a row
WAVE, FILL, NUMBER, BAND, EVENT, BAD, FREE = "#2f6f4f", "#d3ecdd", "#0b5cad", "#dde8f4", "#b65b00", "#fde3e0", "#9aa4ae"
LETTER, SMALL = 0.085, 0.065  # inches of a letter: in names, in values


def require_plots(path: str) -> None:
    """SpecError if no plot can be written to this file, for its name or because matplotlib is missing."""
    if not path.endswith(SUFFIXES):
        raise SpecError(f"{path}: a plot is a file of SVG or PNG", write=f"{os.path.splitext(path)[0]}.svg")
    if find_spec("matplotlib") is None:
        raise SpecError("plots need matplotlib, which is not installed", write="pip install 'streamcheck[plot]'")


def runs_to_plot(verdicts: Sequence[Verdicts]) -> Iterator[RunTimeline]:
    """The counterexamples and witnesses, with the rows that matter."""
    for each in verdicts:
        for result in each.results:
            if isinstance(each.problem, Specification) and result.run is not None:
                yield run_timeline_of(each.problem, result.prop, result.run)
            elif result.path is not None:
                yield path_timeline(result.prop, result.path)


def write_plot(timelines: Sequence[RunTimeline], path: str) -> None:
    """Draw the runs, one below the other."""
    require_plots(path)
    import matplotlib
    from matplotlib.figure import Figure

    rows = [[s for s in t.signals if s.matters or s.claim][:MOST_ROWS] for t in timelines]
    heights = [len(row) + 2.5 for row in rows]
    longest = max((len(t.numbers) for t in timelines), default=1)
    names = max((len(s.name) for row in rows for s in row), default=1) * LETTER
    figure = Figure((names + min(14.0, max(5.0, 0.45 * longest)), 0.32 * sum(heights)), layout="constrained")
    parts = figure.subplots(len(timelines), squeeze=False, height_ratios=heights)[:, 0]
    for axes, timeline, signals in zip(parts, timelines, rows, strict=True):
        _draw(axes, timeline, signals)
    same: Any = {"svg.hashsalt": "streamcheck", "svg.fonttype": "none"}  # the same file for the same runs
    with refuse_unwritable(path), matplotlib.rc_context(same):
        figure.savefig(path, dpi=150, metadata={"Date": None} if path.endswith(".svg") else None)


def _draw(axes: Any, timeline: RunTimeline, signals: Sequence[Signal]) -> None:
    count = len(timeline.numbers)
    margin = max((len(s.name) for s in signals), default=1) * LETTER
    wide = (axes.figure.get_size_inches()[0] - margin) / max(1, count) / SMALL  # letters that a step has room for
    for row, signal in enumerate(signals):
        _row(axes, signal, row, wide)
    if timeline.bad is not None:
        axes.axvspan(timeline.bad, timeline.bad + 1, color=BAD, zorder=0)
    if timeline.loop is not None:
        axes.axvline(list(timeline.numbers).index(timeline.loop), color=EVENT, linestyle="--")
    hidden = sum(s.matters or s.claim for s in timeline.signals) - len(signals)
    about = f"{timeline.title}; {hidden} rows more are left out" if hidden > 0 else timeline.title
    axes.set_title("; ".join(part for part in (about, timeline.note) if part), loc="left", fontsize=10)
    axes.set_xlim(0, max(1, count))
    axes.set_ylim(len(signals), 0)
    every = max(1, -(-count // 25))
    axes.set_xticks([i + 0.5 for i in range(0, count, every)], [str(n) for n in timeline.numbers[::every]], fontsize=8)
    axes.set_yticks([i + 0.5 for i in range(len(signals))], [s.name for s in signals], fontsize=8)
    axes.set_xlabel(timeline.step, fontsize=8)
    axes.tick_params(length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)


def _row(axes: Any, signal: Signal, row: int, wide: float) -> None:
    """One row, from `row` (its top) to `row + 1`."""
    level = _levels(signal)
    begin = 0
    xs: list[float] = []
    ys: list[float] = []
    for text, same in groupby(signal.texts):
        end = begin + sum(1 for _ in same)
        if text and signal.kind == "event":
            axes.plot([i + 0.5 for i in range(begin, end)], [row + 0.5] * (end - begin), ".", color=EVENT)
        elif text:
            if signal.kind == "text" or (signal.kind == "bool" and text == "true"):
                fill = BAND if signal.kind == "text" else FILL
                edge = "#5d6873" if signal.kind == "text" else "none"
                axes.broken_barh(
                    [(begin, end - begin)], (row + LOW, HIGH - LOW), facecolor=fill, edgecolor=edge, lw=0.7
                )
            if signal.kind != "text":
                xs += [begin, end]
                ys += [row + level[text]] * 2
            if signal.kind in ("text", "number") and len(text) + 1 <= wide * (end - begin):
                above = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
                box = above if signal.kind == "number" else None
                axes.text((begin + end) / 2, row + 0.5, text, ha="center", va="center", fontsize=7, bbox=box)
        begin = end
    axes.plot(xs, ys, color=NUMBER if signal.kind == "number" else WAVE, lw=1.2)
    for step in signal.free:
        axes.broken_barh([(step, 1)], (row + LOW, HIGH - LOW), facecolor="none", edgecolor=FREE, hatch="////", lw=0)


def _levels(signal: Signal) -> dict[str, float]:
    """The height of each value within the row; small numbers are low."""
    if signal.kind == "bool":
        return {"true": LOW, "false": HIGH}
    if signal.kind != "number":
        return {}
    values = {text: float(Fraction(text)) if "/" in text else float(text) for text in set(signal.texts) if text}
    finite = [v for v in values.values() if abs(v) < float("inf")]
    least, most = min(finite, default=0.0), max(finite, default=0.0)
    middle = (LOW + HIGH) / 2

    def level(value: float) -> float:
        if value != value or most == least:
            return middle
        return HIGH - (HIGH - LOW) * (min(max(value, least), most) - least) / (most - least)

    return {text: level(value) for text, value in values.items()}
