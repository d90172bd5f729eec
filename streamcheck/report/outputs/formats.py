"""The formats of `prove --output FORMAT FILE`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from streamcheck.core.errors import refuse_unwritable
from streamcheck.core.files import write_whole
from streamcheck.report.outputs.github import github_text
from streamcheck.report.outputs.junit import junit_text
from streamcheck.report.outputs.proved_file import ProvedFile
from streamcheck.report.outputs.sarif import sarif_text
from streamcheck.report.verdicts_json import verdicts_json

STANDARD_OUTPUT = "-"


def json_text_of(proved: Sequence[ProvedFile]) -> str:
    """The object of one spec, or a list of them."""
    rows = [verdicts_json(one.verdicts, one.file, dict(one.saved)) for one in proved]
    return json.dumps(rows[0] if len(rows) == 1 else rows) + "\n"


FORMATS: Mapping[str, Callable[[Sequence[ProvedFile]], str]] = {
    "json": json_text_of,
    "junit": junit_text,
    "sarif": sarif_text,
    "github": github_text,
}


def write_reports(proved: Sequence[ProvedFile], wanted: Sequence[tuple[str, str]]) -> str:
    """Write the results in each of these formats to its file. Returns the text of those for standard output."""
    shown = [(path, FORMATS[shape](proved)) for shape, path in wanted]
    texts = {path: text for path, text in shown if path != STANDARD_OUTPUT}
    with refuse_unwritable(", ".join(texts)):
        write_whole(texts)
    return "".join(text for path, text in shown if path == STANDARD_OUTPUT)
