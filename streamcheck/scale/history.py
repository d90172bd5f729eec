"""Verdicts across nights, in SQLite: what is new, fixed, broken, slower, and what is decided at times only."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from streamcheck import __version__
from streamcheck.core.errors import SpecError

TABLES = """
create table if not exists runs (id integer primary key, began real not null, seconds real, version text not null);
create table if not exists verdicts (
    run integer not null references runs (id), file text not null, spec text not null, property text not null,
    source text not null, verdict text not null, seconds real not null, primary key (run, file, spec, property));
create index if not exists by_property on verdicts (file, spec, property, run);
"""
SLOWER, MUCH = 2.0, 1.0  # so many times as long, and more seconds, than the last time
DECIDED = ("proved", "falsified", "bounded")
NIGHTS = 30  # runs that are looked back on for flaky verdicts


@dataclass(frozen=True, slots=True)
class NightVerdict:
    """Of one property in one run. `source` is the digest of what it is about, and the engines that were
    chosen."""

    file: str
    spec: str
    claim: str
    source: str
    verdict: str
    seconds: float

    @property
    def name(self) -> str:
        return f"{self.file}::{self.spec}: {self.claim}"


@dataclass(frozen=True, slots=True)
class NightChange:
    """A property whose verdict is not as it was: `kind` is new, fixed, broken, slower or flaky."""

    kind: str
    verdict: NightVerdict
    before: str  # the earlier verdict; empty if there is none
    seconds: float  # that it took
    nights: int = 0  # of a flaky one, those about the same source, this one too
    decided: int = 0  # in how many of them


class History:
    def __init__(self, path: str) -> None:
        self._path = path
        try:
            self._base = sqlite3.connect(path)
            self._base.executescript(TABLES)
        except (sqlite3.Error, UnicodeDecodeError) as why:
            raise SpecError(f"{path} is no history of verdicts: {why}") from None

    def close(self) -> None:
        self._base.close()

    def add(self, verdicts: Iterable[NightVerdict], seconds: float) -> list[NightChange]:
        """Keep a run, whole or not at all. Returns what is not as it was the last time. SpecError if the file is
        damaged."""
        try:
            return self._add(list(verdicts), seconds)
        except (sqlite3.Error, UnicodeDecodeError, TypeError) as why:  # a value that is of another type
            raise SpecError(f"{self._path} is damaged: {why}") from None

    def _add(self, rows: Sequence[NightVerdict], seconds: float) -> list[NightChange]:
        changes = [change for verdict in rows for change in self._changes(verdict)]
        with self._base:
            now = time.time()
            cursor = self._base.execute("insert into runs (began, seconds, version) values (?, ?, ?)",
                                        (now - seconds, seconds, __version__))  # fmt: skip
            self._base.executemany(
                "insert or replace into verdicts values (?, ?, ?, ?, ?, ?, ?)",
                [(cursor.lastrowid, v.file, v.spec, v.claim, v.source, v.verdict, v.seconds) for v in rows],
            )
        return changes

    def _changes(self, now: NightVerdict) -> Iterator[NightChange]:
        earlier = self._base.execute(
            "select verdict, seconds, source from verdicts where file = ? and spec = ? and property = ? "
            "order by run desc limit ?",
            (now.file, now.spec, now.claim, NIGHTS),
        ).fetchall()
        if not earlier:
            yield NightChange("new", now, "", 0.0)
            return
        before, seconds, _ = earlier[0]
        if not isinstance(before, str) or not isinstance(seconds, int | float):
            raise TypeError(f"{now.name} has the verdict {before!r} and the time {seconds!r}")
        same = [now.verdict, *(verdict for verdict, _, source in earlier if source == now.source)]
        if any(verdict in DECIDED for verdict in same[1:]) and "unknown" in same:
            decided = sum(verdict in DECIDED for verdict in same)
            yield NightChange("flaky", now, before, seconds, len(same), decided)
        elif now.verdict == "proved" != before:
            yield NightChange("fixed", now, before, seconds)
        elif before == "proved" != now.verdict:
            yield NightChange("broken", now, before, seconds)
        took_longer = now.seconds > SLOWER * seconds and now.seconds > seconds + MUCH
        if took_longer and now.verdict == before and now.verdict in DECIDED:
            yield NightChange("slower", now, before, seconds)
