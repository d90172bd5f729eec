"""Proofs after every save, from Python."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence

from streamcheck.api.arguments import Count, Duration, PathText, check_arguments
from streamcheck.api.files import load_all
from streamcheck.api.results import Results
from streamcheck.api.wording import speak_python
from streamcheck.core.errors import SpecError
from streamcheck.run.cache import FOLDER
from streamcheck.run.folders import make_folders
from streamcheck.run.saves import Saves
from streamcheck.run.source import Target

EVERY = 0.05  # seconds between looks at the files


@check_arguments
def watch(
    path: PathText,
    *,
    timeout: Duration = 60.0,
    jobs: Count | None = None,
    props: Sequence[str] = (),
    cache: PathText | None = FOLDER,
) -> Iterator[Results | SpecError]:
    """Prove the specs of a file, and again whenever it is saved, or a file beside it that it imports: without end, the
    results of one spec after the other, or the mistake in the file. The options are as of `prove`."""
    make_folders([] if cache is None else [os.fspath(cache)])
    return _news(path, timeout, jobs, props, cache)


def _news(
    path: PathText, timeout: float, jobs: int | None, props: Sequence[str], cache: PathText | None
) -> Iterator[Results | SpecError]:
    while True:
        saves = Saves(Target.parse(os.fspath(path)).path)
        try:
            for spec in load_all(path):
                yield spec.prove(timeout=timeout, jobs=jobs, props=props, cache=cache)
        except SpecError as mistake:
            speak_python(mistake)
            yield mistake
        while not saves.are_outdated:
            time.sleep(EVERY)
