"""The files that `--html` and `--output` write: results as a page, and for other programs."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from streamcheck.api.explanation import Explaining
from streamcheck.problem.result import Result
from streamcheck.report.outputs.proved_file import ProvedFile
from streamcheck.report.page.document import Page
from streamcheck.report.page.proof import add_proof

if TYPE_CHECKING:
    from streamcheck.deliver.deliver import CompileResult

MOST_EXPLAINED = 200  # results of a spec
LONGEST = 2.0  # seconds for making proofs small, all of them together


def proof_page(proved: Sequence[ProvedFile]) -> Page:
    """The results for some specs."""
    page = Page(", ".join(dict.fromkeys(os.path.basename(p.file) or p.verdicts.problem.name for p in proved)))
    deadline = time.monotonic() + LONGEST
    for number, one in enumerate(proved):
        add_proof(page, one, _explain(one, deadline), number)
    return page


def code_page(results: Sequence[CompileResult], file: str) -> Page:
    """The verdicts on specs, each with its C, if there is one."""
    from streamcheck.deliver.trace import trace
    from streamcheck.report.page.code import TracedCode, add_code

    page = Page(os.path.basename(file))
    deadline = time.monotonic() + LONGEST
    for number, result in enumerate(results):
        one = ProvedFile(result.verdicts, file, {})
        add_proof(page, one, _explain(one, deadline), number)
        if result.unit is not None:
            files = result.unit.code.files
            traced = trace(result.unit, result.verdicts, result.outcome, files, {})
            add_code(page, TracedCode(result.summary(), files, traced))
    return page


def _explain(one: ProvedFile, deadline: float) -> Callable[[Result], Iterator[str]]:
    results = one.verdicts.results
    explained = {r.name for r in [r for r in results if not r.prop.is_implied][:MOST_EXPLAINED]}
    taken: set[str] = set()

    def lines(result: Result) -> Iterator[str]:
        if result.name in explained:
            seconds = max(0.0, deadline - time.monotonic())
            yield from Explaining(one.verdicts.problem, seconds, results, taken=taken, searches=False).lines(result)

    return lines


def write_results(proved: Sequence[ProvedFile], html: str | None, reports: Sequence[tuple[str, str]]) -> str:
    """Write the page, and the results in these formats. Returns the text for standard output."""
    if html is not None:
        proof_page(proved).write(html)
    if not reports:
        return ""
    from streamcheck.report.outputs.formats import write_reports

    return write_reports(proved, reports)
