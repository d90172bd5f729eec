"""Files of evidence and what a check of them found, on a page."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from streamcheck.report.page.document import Page
from streamcheck.report.page.sources import hash_of

COLUMNS = ("verdict", "claim", "why", "file", "SHA-256")
CLASSES = {"not decided": "undecided"}


def checked_page(rows: Sequence[Mapping[str, Any]]) -> Page:
    """`rows` are those of `check --json`."""
    page = Page("Checked evidence")
    verdicts = [row["verdict"] for row in rows]
    counts = [f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts)]
    page.section("Claims", counts, _table(rows))
    return page


def _table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield '<table class="verdicts"><thead><tr>'
    yield "".join(f'<th scope="col">{title}</th>' for title in COLUMNS) + "</tr></thead><tbody>"
    for row in rows:
        word = row["verdict"]
        cells = [f'<td class="{CLASSES.get(word, word)}">{word}</td>']
        texts = [row["claim"] or "", row["why"] or row.get("proofs") or "", row["file"]]
        cells += [f"<td>{html.escape(text)}</td>" for text in texts]
        yield f"<tr>{''.join(cells)}<td><code>{hash_of(row['file']) or ''}</code></td></tr>"
    yield "</tbody></table>"
