"""The pytest plugin, which is installed with the package: each property of a spec in a folder `specs` is a test.

The properties of a spec that are chosen are proved together, when the first of them is asked for; each has its own
verdict. Under pytest-xdist each worker proves those that it is given, one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from streamcheck.api.files import LoadedSpec
    from streamcheck.api.results import PropertyResult

FILES = ["specs/*.py", "*/specs/*.py"]
TIMEOUT = "60"
IS_SPEC = re.compile(rb"\bstreamcheck\b[\s\S]*\bSpec\(")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("streamcheck", "proofs of monitors")
    group.addoption("--prove-timeout", type=float, metavar="SECONDS", help="Seconds for the proofs of each spec.")
    parser.addini("streamcheck_files", "Files whose properties are tests: patterns of paths.", "args", FILES)
    parser.addini("streamcheck_timeout", "Seconds for the proofs of each spec.", default=TIMEOUT)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> SpecFile | None:
    """The file as one of specs, if it is."""
    root = parent.config.rootpath
    path = (file_path.relative_to(root) if file_path.is_relative_to(root) else file_path).as_posix()
    if not any(fnmatchcase(path, pattern) for pattern in parent.config.getini("streamcheck_files")):
        return None
    if file_path.suffix == ".py" and not IS_SPEC.search(file_path.read_bytes()):
        return None
    file: SpecFile = SpecFile.from_parent(parent, path=file_path)
    return file


class SpecFile(pytest.File):
    """A file of specs."""

    def collect(self) -> Iterator[SpecTests]:
        from streamcheck.api.files import load_all
        from streamcheck.core.errors import SpecError

        try:
            specs = load_all(str(self.path))
        except SpecError as mistake:
            raise self.CollectError(str(mistake)) from None
        for spec in specs:
            yield SpecTests.from_parent(self, name=spec.name, spec=spec)


class SpecTests(pytest.Collector):
    """The properties of a spec."""

    def __init__(self, *, spec: LoadedSpec, **given: Any) -> None:
        super().__init__(**given)
        self.spec = spec
        self.results: dict[str, PropertyResult] = {}

    def collect(self) -> Iterator[PropertyTest]:
        for name in self.spec.properties:
            yield PropertyTest.from_parent(self, name=name)

    def result_of(self, asked: PropertyTest) -> PropertyResult:
        """The result of this property; those of the others that are chosen are kept."""
        if asked.name not in self.results:
            names = [asked.name]
            if not hasattr(self.config, "workerinput"):  # else another process may have the others
                names = [item.name for item in self.session.items if item.parent is self]
            seconds = self.config.getoption("--prove-timeout")
            seconds = float(self.config.getini("streamcheck_timeout")) if seconds is None else seconds
            self.results |= {result.name: result for result in self.spec.prove(props=names, timeout=seconds)}
        return self.results[asked.name]


class NotProved(Exception):
    """A property without a proof."""

    def __init__(self, result: PropertyResult) -> None:
        super().__init__(result.name)
        self.result = result


class PropertyTest(pytest.Item):
    """A property, which passes if it is proved."""

    parent: SpecTests

    def runtest(self) -> None:
        result = self.parent.result_of(self)
        if not result.ok:
            raise NotProved(result)

    def repr_failure(self, excinfo: Any, style: Any = None) -> Any:
        if not isinstance(excinfo.value, NotProved):
            return super().repr_failure(excinfo, style)
        result = excinfo.value.result
        where = result.prop.where
        line = "" if where is None else f"{where}: {where.text}\n"
        return f"{line}{result}"

    def reportinfo(self) -> tuple[Path, int | None, str]:
        claims = self.parent.spec.problem.properties
        where = next((claim.where for claim in claims if claim.name == self.name), None)
        return self.path, None if where is None else where.line - 1, f"{self.parent.name}::{self.name}"
