"""The C of a spec on a page, beside the lines that it comes from."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from streamcheck.core.code_lines import lines_of
from streamcheck.report.page.document import Page, fold_out

NEAR = 3  # lines around those that the C comes from


@dataclass(frozen=True, slots=True)
class TracedCode:
    """The C of a spec: what is known of it, its files, and its trace, of which `statements` are lines with the streams
    that they compute, and `streams` have their places in the spec."""

    facts: Iterable[str]
    files: Mapping[str, str]
    trace: Mapping[str, Any]


def add_code(page: Page, code: TracedCode) -> None:
    lines = [f"<li>{html.escape(fact.strip())}</li>" for fact in code.facts]
    page.section("The C", [], ["<ul>", *lines, "</ul>", *_side_by_side(code), *_others(code)])


def _side_by_side(code: TracedCode) -> Iterator[str]:
    """The spec on the left, the C on the right; lines that belong together have each other's keys."""
    to_spec: dict[str, dict[str, None]] = {}
    to_c: dict[str, dict[str, None]] = {}
    files: dict[str, set[int]] = {}
    for statement in code.trace["statements"]:
        for name in statement["streams"]:
            place = code.trace["streams"][name]
            if place["line"] is None:
                continue
            files.setdefault(place["file"], set()).add(place["line"])
            numbers = list(files)
            spec_key, c_key = f"s{numbers.index(place['file'])}-{place['line']}", f"c-{statement['line']}"
            to_spec.setdefault(c_key, {})[spec_key] = None
            to_c.setdefault(spec_key, {})[c_key] = None
    main = next(iter(s["file"] for s in code.trace["statements"]), None)
    if main is None:
        return
    yield '<p class="legend">Point at a line, or go to it with Tab: the lines that belong to it are marked.</p>'
    yield '<p class="legend partners" aria-live="polite">&nbsp;</p>'
    yield '<div class="both"><div class="source" tabindex="0" role="region" aria-label="the spec">'
    for i, (file, needed) in enumerate(files.items()):
        lines = lines_of(file)
        near = {n for line in needed for n in range(line - NEAR, line + NEAR + 1)}
        shown = [n for n in range(1, len(lines) + 1) if n in near or len(lines) <= 400]
        yield from _lines(file, [(n, lines[n - 1].rstrip("\n")) for n in shown], f"s{i}", to_c)
    yield '</div><div class="source" tabindex="0" role="region" aria-label="the C">'
    yield from _lines(main, list(enumerate(code.files[main].splitlines(), 1)), "c", to_spec)
    yield "</div></div>"


def _lines(
    file: str, lines: Iterable[tuple[int, str]], prefix: str, partners: Mapping[str, Iterable[str]]
) -> Iterator[str]:
    yield f'<p>{html.escape(file)}</p><table role="presentation">'
    for number, text in lines:
        key = f"{prefix}-{number}"
        has = f' tabindex="0" data-with="{" ".join(partners[key])}"' if key in partners else ""
        yield f'<tr data-key="{key}"{has}><td>{number}</td><td>{html.escape(text)}</td></tr>'
    yield "</table>"


def _others(code: TracedCode) -> Iterator[str]:
    main = next(iter(s["file"] for s in code.trace["statements"]), None)
    for name, text in code.files.items():
        if name != main:
            yield from fold_out(name, [f"<pre>{html.escape(text)}</pre>"])
