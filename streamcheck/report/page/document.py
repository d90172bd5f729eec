"""The page: its parts as HTML, the data that its script draws, and the style, in one file without network."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from streamcheck import __version__
from streamcheck.core.errors import refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.report.page.signals import RunTimeline
from streamcheck.report.page.sources import Sources

FOLDER = os.path.dirname(__file__)
LEGEND = (
    "A Boolean is a wave, a number a step plot, any other value a band; hatched: any value will do; "
    "red: the step at which the property is false."
)


@dataclass(slots=True)
class Page:
    """A page that grows part by part."""

    title: str
    sources: Sources = field(default_factory=Sources)
    _parts: list[str] = field(default_factory=list)
    _timelines: list[Any] = field(default_factory=list)

    def add(self, lines: Iterable[str]) -> None:
        """Add these lines of HTML."""
        self._parts += lines

    def section(self, title: str, facts: Iterable[str], lines: Iterable[str]) -> None:
        """Add a part with a title and a line of facts."""
        about = " · ".join(map(html.escape, facts))
        self.add([f"<section><h2>{html.escape(title)}</h2>", *([f'<p class="facts">{about}</p>'] if about else [])])
        self.add(lines)
        self.add(["</section>"])

    def timeline(self, timeline: RunTimeline) -> str:
        """The element in which the script draws this timeline."""
        self._timelines.append(timeline.to_plain(self.sources))
        number = len(self._timelines) - 1
        return f'<div class="timeline" data-timeline="{number}"><noscript>{NO_SCRIPT}</noscript></div>'

    def text(self) -> str:
        data = {"timelines": self._timelines, "sources": self.sources.to_plain()}
        return "\n".join(
            [
                "<!doctype html>",
                '<html lang="en"><head><meta charset="utf-8">',
                '<meta name="viewport" content="width=device-width, initial-scale=1">',
                f"<title>{html.escape(self.title)}</title>",
                f"<style>\n{_file('page.css')}</style></head>",
                '<body><a class="skip" href="#main">Skip to the results</a>',
                f"<header><h1>{html.escape(self.title)}</h1><p>streamcheck {__version__}</p></header>",
                '<main id="main">',
                *self._parts,
                "</main>",
                f'<script type="application/json" id="data">{script_json(data)}</script>',
                f"<script>\n{_file('page.js')}</script>",
                "</body></html>",
                "",
            ]
        )

    def write(self, path: str) -> None:
        with refuse_unwritable(path):
            write_whole({path: self.text()})


NO_SCRIPT = "The timeline needs JavaScript; the table below has the same values."


def script_json(data: Any) -> str:
    """JSON that cannot end the element that it is in."""
    text = json.dumps(data, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fold_out(title: str, lines: Iterable[str], *, is_open: bool = False, kind: str = "") -> list[str]:
    """An element that shows these lines if it is open."""
    about = f' class="{kind}"' * bool(kind) + " open" * is_open
    return [f"<details{about}><summary>{html.escape(title)}</summary>", *lines, "</details>"]


def _file(name: str) -> str:
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return file.read()
